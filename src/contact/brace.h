/*
 * Bodies that are crushed brace themselves: what they touch stops them as a whole.
 *
 * A soft contact gives its impulse to the particles that hold it, and what stops those stops the body only as far as its regions
 * transmit it. A body that is soft or thin is crushed meanwhile, and what is crushed is no solid any more that others could touch.
 * So between a crushed body and each thing that it touches there is one contact of rigid bodies besides, in the mean of the contacts
 * and along the mean of their normals, that takes away as much of the approach of the two as it is crushed (contact/windows.h):
 *
 *     u_n >= (1 - crush) min(u_n before, 0),    J >= 0
 *
 * Its impulses act on all particles, before soft contacts are solved, which then see what is left. They keep momentum and spin and only
 * take energy. Bodies that answer as a whole anyway (stiff contacts) need none, and what is pinned, asleep or in pieces has none.
 */
#ifndef LMI_BRACE_H
#define LMI_BRACE_H

#include "contact/contact.h"

struct lmi_solver;

/* One run of contacts, and two bodies or a body and a wall. */
typedef struct lmi_brace {
    uint32_t run;
    bool any;              /* there are contacts */
    lm_dvec3 normal, wall; /* unit, from b to a; velocity of a wall */
    lm_dvec3 arm_a, arm_b; /* from the centres */
    lm_dvec3 point;        /* from the origin of a */
    double share, least;   /* how much of the approach is taken; the speed that may be left, m/s, 0 or below */
    double deep, impulse;  /* 1/kg; N s */
} lmi_brace;

/* Before contacts are solved that were taken: impulses on bodies as a whole, to all of their particles. */
void lmi_brace_bodies(struct lmi_solver *solver);

#endif
