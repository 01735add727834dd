/*
 * query/: queries: what a ray meets, what a ball or a box touches.
 *
 * reads   bodies, their skins, colliders
 * writes  nothing but the caller's results
 * uses    nothing; in sources also gpu skin world
 *
 *   query.c  rays and overlaps       pick.c  bodies on a ray
 */
#ifndef LIMBER_QUERY_H
#define LIMBER_QUERY_H

#include "limber/limber.h"

/* Whether a ray that meets `groups` meets something in `group`, which may be in none. */
static inline bool ray_meets(uint32_t groups, uint32_t group) { return groups == UINT32_MAX || (groups & group); }

/* The nearest body on the ray, nearer than `most` metres along its direction, which is given again as a unit vector. */
bool lmi_pick_body(const lm_world *world, const lm_ray *cast, lm_dvec3 direction, double most, lm_ray_hit *hit);

#endif
