/* How deep bodies are inside each other, as a picture would show it. */
#ifndef LIMBER_SCENE_OVERLAP_H
#define LIMBER_SCENE_OVERLAP_H

#include "scene/internal.h"

/* The depth of the deepest vertex of the body's surface inside the surface of another body of the scene, in metres; 0 when
 * there is none, and for bodies without a surface. */
lm_result lmi_overlap_of(const lm_scene *s, const lm_world *world, const made_body *body, double *depth);

/* Whether one of some vertices of either surface is deeper than `depth` inside the other's. *triangles is how many may be looked at for
 * it, and what is left of them afterwards: when they are used up the answer is no, as it is for bodies without a surface. */
bool lmi_overlap_is_deeper(const lm_world *world, lm_body_id a, lm_body_id b, double depth, uint64_t *triangles);

#endif
