/*
 * match/: the arithmetic that every sampling shares: rest constants of regions, fits, rotations, plastic flow,
 * examples; and the stages that move particles.
 *
 * reads   positions, velocities, moments of regions and their rest constants
 * writes  transforms, rotations and lasting deformations of regions; velocities and positions
 * uses    base; in sources also world lattice octree cut contact
 *
 *   region.h     rest constants of a region           pack.h       the lane layout of a batch
 *   predict.c    outside forces, motion as a whole    integrate.c  pulls particles to goals, and moves them
 *   fit.c        moments to transforms                polar.c      the nearest rotation           volume.h  the nearest matrix of a volume
 *   plastic.h    plastic flow                         carrier.h    where a region carries what rides on it
 *   examples.h   poses that a body likes to deform into (example_rest.c, example_lanes.h, examples_solve.c, project.h)
 */
#ifndef LMI_MATCH_H
#define LMI_MATCH_H

#include "base/vec.h"

/* A body's motion as a whole in this substep, from its matched particles (those in a region). */
typedef struct lmi_motion {
    lm_vec3 centre;    /* relative to the body's origin */
    lm_vec3 velocity;  /* of the centre */
    lm_vec3 spin;      /* radians a second */
    double mass;       /* relative, as in v[].w */
    double inertia[6]; /* xx yy zz xy yz zx about the centre, relative mass */
} lmi_motion;

#endif
