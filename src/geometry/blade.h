/*
 * Blades: triangles that cut.
 *
 * A point that lies exactly on a triangle counts as above it; which side is above depends on the plane and not on how the
 * triangle is turned, so that triangles side by side agree. Triangles include their borders, and a hair more: a blade has no
 * gaps between its triangles.
 */
#ifndef LMI_BLADE_H
#define LMI_BLADE_H

#include "geometry/nearest.h"

typedef struct lmi_blade_triangle {
    lm_dvec3 corner[3];
} lmi_blade_triangle;

/* What cuts, and what of a body. */
typedef struct lmi_stroke {
    const lmi_blade_triangle *triangles; /* from the body's origin */
    uint32_t count;
    const uint8_t *pieces; /* of the body: 0 is spared. Null: all are cut */
} lmi_stroke;

static inline bool lmi_stroke_cuts(const lmi_stroke *stroke, uint32_t piece)
{
    return !stroke->pieces || stroke->pieces[piece];
}

/* A triangle made ready. */
typedef struct lmi_blade_plane {
    lm_dvec3 a, normal;      /* with the length of twice the area */
    lm_dvec3 edge[3], in[3]; /* corners, and directions into the triangle across the edges behind them */
    lm_dvec3 low, high;
    double hair;
} lmi_blade_plane;

/* A box along the axes. */
typedef struct lmi_box {
    lm_dvec3 low, high;
} lmi_box;

/* All triangles of a blade that have an area, in the order they were given, and a tree of boxes around them. */
typedef struct lmi_blade {
    lmi_blade_plane *planes;
    uint32_t *found;     /* [count] what lmi_blade_find found last */
    lmi_box *boxes;      /* [nodes of the tree] around the triangles of a node */
    lmi_nearest middles; /* of the planes */
    uint32_t count, room;
} lmi_blade;

/* Whether a triangle has one; others cut nothing. */
bool lmi_blade_has_area(const lmi_blade_triangle *triangle);

/* False when out of memory; to be freed then, too. */
bool lmi_blade_make(lmi_blade *blade, lmi_memory *memory, const lmi_blade_triangle *triangles, uint32_t count);
void lmi_blade_free(lmi_blade *blade, lmi_memory *memory);

/* The triangles whose boxes touch a box, ascending, to blade->found. Returns how many. */
uint32_t lmi_blade_find(const lmi_blade *blade, const lmi_box *box);

/* Whether there is any. */
bool lmi_blade_is_near(const lmi_blade *blade, const lmi_box *box);

/* Where on the way from one point to another a triangle is, 0 to 1; below 0: nowhere. */
double lmi_blade_crossing(const lmi_blade_plane *plane, lm_dvec3 from, lm_dvec3 to);

/* Whether any triangle is on the way from one point to another. */
bool lmi_blade_crossed(const lmi_blade *blade, lm_dvec3 from, lm_dvec3 to);

#endif
