/*
 * Signed distances from a soup of triangles on a grid of nodes.
 */
#ifndef LMI_DISTANCE_H
#define LMI_DISTANCE_H

#include "base/memory.h"
#include "base/vec.h"
#include "geometry/geometry.h"

/* A grid of n[0] x n[1] x n[2] nodes `cell` metres apart, x first. */
typedef struct lmi_nodes {
    lm_dvec3 first;
    double cell;
    uint32_t n[3];
    float *distance;
} lmi_nodes;

/* Exact near the surface and, further away, distances to the point of the surface that a neighbour found nearest. Nodes
 * that cannot be reached from the border of the grid without crossing a triangle are inside: below 0. A surface that
 * encloses nothing gets a thickness of half a cell to either side. False when out of memory. */
bool lmi_distance_mesh(lmi_memory *memory, const lmi_touch_mesh *mesh, lmi_nodes *nodes);

/* Distances from the union of balls around points; gaps between them that cannot be reached from outside are inside. False
 * when out of memory. */
bool lmi_distance_balls(lmi_memory *memory, const lm_vec3 *points, uint32_t count, double radius, lmi_nodes *nodes);

#endif
