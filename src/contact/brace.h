/*
 * Bodies that are crushed, or come deep into each other, brace themselves: what they touch stops them as a whole.
 *
 * A soft contact gives its impulse to the particles that hold it, and what stops those stops the body only as far as its regions
 * transmit it. A body that is soft or thin is crushed meanwhile, and what is crushed is no solid any more that others could touch.
 * So between a crushed body and each thing that it touches there is one contact of rigid bodies besides, in the mean of the contacts
 * and along the mean of their normals, that takes away as much of the approach of the two as it is crushed (contact/windows.h):
 *
 *     u_n >= (1 - crush) min(u_n before, 0),    J >= 0
 *
 * A body need not be crushed to fail: one that is nearly as stiff as the substep allows brings its surface back into the other in every substep,
 * and what the few particles there give each other stops it only after many. So two bodies also brace themselves where their soft contacts
 * have let them into each other, by the share `deep` of contact/braced.h. That leaves an approach of 2 g h, or of a quarter of a cell in a substep: what rests or
 * comes slowly is held by soft contacts, which squash it, and not by a brace, which does not.
 *
 * Impulses of braces act on all particles, before soft contacts are solved, which then see what is left. They keep momentum and spin and only
 * take energy. How they are found, all at once, is in contact/braced.h. Bodies that answer as a whole anyway (stiff contacts) need none, and what
 * is pinned, in joints, asleep, was cut or can break has none.
 */
#ifndef LMI_BRACE_H
#define LMI_BRACE_H

#include "contact/braced.h"
#include "contact/contact.h"

struct lmi_solver;

/* One of the two bodies of a brace. */
typedef struct lmi_brace_side {
    lm_dvec3 lever, turned; /* r x n; and the spin for an impulse of 1 */
} lmi_brace_side;

/* One run of contacts, and two bodies or a body and a wall. */
typedef struct lmi_brace {
    uint32_t run;
    bool any;          /* there are contacts */
    float crush, deep; /* shares of the approach that are taken */
    lm_dvec3 normal;   /* unit, from b to a */
    lm_dvec3 point;    /* from the origin of a */
    lmi_brace_side side[2];
    double comes, least;   /* m/s along the normal: as it was, and what may be left */
    double step;           /* 1/D */
    double impulse, ahead; /* N s: so far, and a little further */
    uint32_t onward;       /* passes in which it went on the same way */
} lmi_brace;

/* A body that is in braces. */
typedef struct lmi_braced {
    lmi_push *push;
    uint32_t first, count, own; /* of its list of braces; and those of which it is side a */
    lm_dvec3 velocity, spin;    /* that they give it */
} lmi_braced;

/* Before contacts are solved that were taken: impulses on bodies as a whole, to all of their particles. */
void lmi_brace_bodies(struct lmi_solver *solver);

#endif
