/*
 * Bodies against each other and, together with that, against colliders.
 */
#ifndef LMI_MUTUAL_H
#define LMI_MUTUAL_H

#include "step/solve.h"

/* Memory for the bodies there are; false when there is none, then nothing has changed. */
bool lmi_mutual_reserve(lm_world *world);
void lmi_mutual_free(lm_world *world);

/* The contacts of all bodies that touch other bodies: with colliders, with each other, with themselves. Then their pins. */
void lmi_mutual_contacts(const lmi_step *step);

#endif
