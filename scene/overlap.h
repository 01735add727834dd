/* How deep bodies are inside each other, as a picture would show it. */
#ifndef LIMBER_SCENE_OVERLAP_H
#define LIMBER_SCENE_OVERLAP_H

#include "scene/internal.h"

/* The depth of the deepest vertex of the body's surface inside the surface of another body of the scene, in metres; 0 when
 * there is none, and for bodies without a surface. */
lm_result lmi_overlap_of(const lm_scene *s, const lm_world *world, const made_body *body, double *depth);

#endif
