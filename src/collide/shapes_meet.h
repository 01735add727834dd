/*
 * Where two colliders touch: a few points, each with a normal and a depth, and a name that it keeps while the shapes slide along each
 * other.
 *
 * Reads two shapes as they are in a substep. Spheres, capsules and boxes touch planes and each other exactly (shapes_meet.c; boxes:
 * shapes_boxes.c). They touch height maps and meshes with points of theirs: the middle or the ends of what is round, and of boxes the
 * corners and the middles of edges and faces; a peak between these goes unnoticed.
 */
#ifndef LMI_SHAPES_MEET_H
#define LMI_SHAPES_MEET_H

#include "collide/collide.h"

/* A place where a touches b. */
typedef struct lmi_spot {
    lm_dvec3 place;  /* in the world */
    lm_dvec3 normal; /* from b to a, unit */
    double depth;    /* below 0: still apart */
    uint32_t feature;
} lmi_spot;

#define LMI_MOST_SPOTS 32u

/* Spots that are deeper than -reach; returns how many. a is a sphere, a capsule or a box, b any shape; h: seconds of the substep, of
 * which the last way is known: what comes upon a mesh or a height map is stopped on the side it came from. */
uint32_t lmi_shapes_meet(const lmi_surface *a, const lmi_surface *b, double reach, double h,
                         lmi_spot spots[LMI_MOST_SPOTS]);

/* The same of two boxes. */
uint32_t lmi_boxes_meet(const lmi_surface *a, const lmi_surface *b, double reach, lmi_spot spots[LMI_MOST_SPOTS]);

/* Whether shapes of this kind are pushed by other colliders. */
static inline bool lmi_shape_is_plain(lm_shape shape)
{
    return shape == LM_SHAPE_SPHERE || shape == LM_SHAPE_CAPSULE || shape == LM_SHAPE_BOX;
}

#endif
