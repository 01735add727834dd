/*
 * Solving contacts: points of bodies against walls or against points of other bodies, all at once.
 *
 * A contact asks two things of its two sides, a and b (a wall is a side that nothing moves):
 *
 *   positions    the depth left must not be above 0
 *   velocities   u_n >= bounce: they part at least as fast as restitution says (0 where they rest)
 *                |J_t| <= friction J_n, and as much of it as it takes to stop them sliding (Coulomb)
 *
 * Each contact in turn is given what it lacks, several times over the whole list, and what it has been given so far is
 * kept, so that it can be given back where the neighbours have done more than enough (projected Gauss-Seidel): the total
 * of a contact never pulls, and flat faces do not hop. Friction takes back the way too: what is given to the tangential
 * velocity moves the particles by h times that. Putting things out of each other, on the other hand, gives no velocity:
 * overlaps do not become energy.
 *
 * Deterministic because the order is that of the list.
 */
#ifndef LMI_SOLVE_H
#define LMI_SOLVE_H

#include "step/push.h"

typedef struct lmi_contact {
    lmi_push *a, *b; /* b is null for a wall */
    lmi_grip grip_a, grip_b;
    lm_dvec3 normal;    /* from b to a, unit */
    lm_dvec3 apart;     /* position of a less position of b when the depth was measured, each from its body's origin */
    lm_dvec3 surface;   /* velocity of the wall */
    double depth;       /* metres */
    double friction;    /* Coulomb's coefficient */
    double bounce;      /* speed at which they part, m/s */
    double plain, deep; /* mobility of both sides: without direction, and along the normal */
    double shifted;     /* given so far: position, relative mass times metres of side a */
    double pressed;     /* impulse along the normal */
    lm_dvec3 braked;    /* impulse of friction */
} lmi_contact;

/* Approach speeds below this do not bounce, m/s. */
#define LMI_BOUNCE_SPEED 0.5

/* Fills plain, deep and bounce (from the restitution) of a contact whose other fields are set. */
void lmi_contact_begin(lmi_contact *contact, double restitution);

/* Solves a list, at most `sweeps` times through, until nothing changes any more; h is the substep. */
void lmi_contacts_solve(lmi_contact *contacts, uint32_t count, uint32_t sweeps, double h);

#endif
