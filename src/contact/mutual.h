/*
 * Bodies against each other and, together with that, against colliders.
 */
#ifndef LMI_MUTUAL_H
#define LMI_MUTUAL_H

#include "contact/contact.h"

/* Memory for the bodies there are; false when there is none, then nothing has changed. */
bool lmi_mutual_reserve(lm_world *world);
void lmi_mutual_free(lm_world *world);

/* Memory for as many pieces of bodies as are about to be. */
bool lmi_mutual_reserve_parts(lm_world *world, uint32_t parts);

/* Before bodies that were made since the last step are stepped: one line in the log, when some were put into each other. */
void lmi_mutual_tell(lm_world *world);

/* The contacts of all bodies that touch other bodies: with colliders, with each other, with themselves. Then their pins. */
void lmi_mutual_contacts(const lmi_step *step);

#endif
