/*
 * The papers' penalty force between bodies, kept for comparison.
 *
 *   f = k depth n       k: a constant for each object, N/m; of a pair the larger counts, but of those that bodies have by
 *                       themselves the smaller: a heavy body's is many times what the particles of a light one can bear
 *
 * on the point that is inside, and the opposite on the place where it is: momentum is kept. It knows neither friction nor
 * restitution, lets bodies sink into each other by their weight over k, and is explicit: k h² above the mass of what it
 * pushes makes it jump.
 */
#ifndef LMI_PENALTY_H
#define LMI_PENALTY_H

#include "contact/contact.h"

/* The constant of a body, or (below 0) one that is stable for its particles at this substep. */
static inline double lmi_penalty_of(const lmi_body *body, double h)
{
    return body->penalty > 0.0f ? body->penalty : -0.25 * body->mean_mass / (h * h);
}

/* Of two bodies: the larger of those that were given; where none was, what is stable for both. kernels/prelude.cl has it too. */
static inline double lmi_penalty_pair(double a, double b)
{
    return a < 0.0 && b < 0.0 ? -lmi_max(a, b) : lmi_max(a, b);
}

/* Pushes the sides of a contact apart for a substep of h seconds. */
void lmi_penalty_push(lm_world *world, const lmi_contact_def *contact, double stiffness, double h);

/* Makes the depth cube maps that the world's method asks for and does not have; false when out of memory. */
bool lmi_penalty_reserve(lm_world *world);

#endif
