/*
 * Blades: triangles that cut.
 *
 * A point that lies exactly on a triangle counts as above it; which side is above depends on the plane and not on how the
 * triangle is turned, so that triangles side by side agree. Triangles include their borders, and a hair more: a blade has no
 * gaps between its triangles.
 */
#ifndef LMI_BLADE_H
#define LMI_BLADE_H

#include "base/vec.h"

typedef struct lmi_blade_triangle {
    lm_dvec3 corner[3];
} lmi_blade_triangle;

/* A triangle made ready. */
typedef struct lmi_blade_plane {
    lm_dvec3 a, normal;      /* with the length of twice the area */
    lm_dvec3 edge[3], in[3]; /* corners, and directions into the triangle across the edges behind them */
    lm_dvec3 low, high;
    double hair;
} lmi_blade_plane;

/* False for a triangle without an area, which cuts nothing. */
bool lmi_blade_prepare(const lmi_blade_triangle *triangle, lmi_blade_plane *plane);

/* Where on the way from one point to another the triangle is, 0 to 1; below 0: nowhere. */
double lmi_blade_crossing(const lmi_blade_plane *plane, lm_dvec3 from, lm_dvec3 to);

#endif
