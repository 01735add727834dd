/*
 * The narrow phase: where two bodies touch each other, and where a body touches itself.
 *
 * Each touch point of one body near the other is taken into that body's rest shape, where its mould says how deep it is and
 * which way is out (touch/bulk.h). A point that moves further in a substep than bodies are thick is looked for along its way.
 *
 * Nothing is written but the list of contacts, so that pairs may be processed side by side.
 */
#ifndef LMI_MEET_H
#define LMI_MEET_H

#include "contact/contact.h"
#include "contact/pairs.h"

/* How many contacts two bodies can have at most. */
uint32_t lmi_most_meetings(const lmi_step *step, const lmi_entry *a, const lmi_entry *b);

/* Adds the contacts of two bodies; true where they meet. */
bool lmi_meet(const lmi_step *step, const lmi_entry *const entries[2], lmi_push *const pushes[2],
              lmi_contact_list *list);

/* Whether a body may be in itself at all: only then it is worth looking. */
bool lmi_may_meet_itself(const lmi_push *push);

/* Adds the contacts of the touch points in blocks [first, end) of a body with the body itself; true where there are any. */
bool lmi_meet_itself(const lmi_step *step, const lmi_entry *entry, lmi_push *push, uint32_t first, uint32_t end,
                     lmi_contact_list *list);

#endif
