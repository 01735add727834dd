/*
 * Height maps: a grid of heights over the XZ plane of its own frame, solid below, with nothing beyond its borders.
 *
 * Sample (i, k) of n[0] x n[1] stands at x = (i - (n[0] - 1) / 2) spacing, z = (k - (n[1] - 1) / 2) spacing. Four samples
 * make a cell, whose diagonal from (i, k) to (i + 1, k + 1) divides it into two triangles.
 *
 * Levels. Level 0 holds the lowest and the highest of each cell, each level above that of 2 x 2 below: queries descend from
 * the top, and skip what is too far away. Beside the heights this takes 11 bytes a sample.
 */
#ifndef LMI_HEIGHTS_H
#define LMI_HEIGHTS_H

#include "base/memory.h"
#include "geometry/triangle.h"

#define LMI_HEIGHTS_MAX_SIDE 16384u
#define LMI_HEIGHTS_MAX_SAMPLES (1u << 26)
#define LMI_HEIGHTS_LEVELS 15

typedef struct lmi_heights_span {
    float low, high;
} lmi_heights_span;

typedef struct lmi_heights {
    uint32_t n[2];
    double spacing;         /* metres */
    LMI_FAR float *heights; /* x first */
    uint32_t level_count;
    uint32_t side[LMI_HEIGHTS_LEVELS][2]; /* nodes along x and z on each level */
    size_t start[LMI_HEIGHTS_LEVELS + 1]; /* where a level begins */
    LMI_FAR lmi_heights_span *spans;
    double skin; /* metres that points are kept off the surface, so that rounding does not change their side */
} lmi_heights;

typedef struct lmi_heights_hit {
    lm_dvec3 point;
    lm_dvec3 normal; /* of the triangle, up, a unit vector */
    double distance; /* nearest: metres; crossing: share of the way */
} lmi_heights_hit;

#ifndef __OPENCL_VERSION__
/* What is wrong with a map, or null. */
const char *lmi_heights_fault(const float *heights, const uint32_t n[2], double spacing);

/* Copies the heights, which must be sound. Null when out of memory. */
lmi_heights *lmi_heights_make(lmi_memory *memory, const float *heights, const uint32_t n[2], double spacing);
void lmi_heights_free(lmi_memory *memory, lmi_heights *map);
#endif

/* Position of a sample. */
static inline lm_dvec3 lmi_heights_sample(const lmi_heights *map, uint32_t i, uint32_t k)
{
    return dvec((i - 0.5 * (map->n[0] - 1.0)) * map->spacing, map->heights[(size_t)k * map->n[0] + i],
                (k - 0.5 * (map->n[1] - 1.0)) * map->spacing);
}

/* Lowest and highest. */
static inline lmi_heights_span lmi_heights_bounds(const lmi_heights *map)
{
    return map->spans[map->start[map->level_count - 1]];
}

/* ---- queries, in the map's own frame ---- */

/* The height of the surface over (x, z); false beyond the borders. */
bool lmi_heights_at(const lmi_heights *map, double x, double z, double *height);

/* The nearest point of the surface that is nearer than `most`. */
bool lmi_heights_nearest(const lmi_heights *map, lm_dvec3 p, double most, lmi_heights_hit *hit);

/* Where a segment from a to b first passes from above to below the surface. */
bool lmi_heights_crossed(const lmi_heights *map, lm_dvec3 a, lm_dvec3 b, lmi_heights_hit *hit);

/* Whether a box (a frame and half extents along its axes) touches the surface. */
bool lmi_heights_touches_box(const lmi_heights *map, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half);

#endif
