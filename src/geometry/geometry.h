/*
 * geometry/: triangles, and what follows from a soup of them: voxels, signed distances, nearest points, blades.
 *
 * reads   vertices and triangles of callers
 * writes  cells, distances and indices for callers
 * uses    base
 *
 *   voxel.h     cells that a mesh touches and encloses       distance.h  signed distances on a grid
 *   nearest.h   the points nearest to a place                triangle.h  one triangle
 *   blade.h     triangles that cut                           sheet.h     blades made ready to clip
 *   clip.h      surfaces that sheets go through
 */
#ifndef LMI_GEOMETRY_H
#define LMI_GEOMETRY_H

#include "base/vec.h"

/* A mesh in the rest pose. */
typedef struct lmi_touch_mesh {
    const lm_vec3 *vertices;
    const uint32_t *triangles; /* three indices each */
    uint32_t vertex_count, triangle_count;
} lmi_touch_mesh;

#endif
