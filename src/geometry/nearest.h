/*
 * The points nearest to a place, of equally near ones those with lower indices first: what comparing all points would find, to the bit.
 */
#ifndef LMI_NEAREST_H
#define LMI_NEAREST_H

#include "base/memory.h"
#include "base/vec.h"

#define LMI_NEAREST_LEAF 8u /* points in a node that is not divided, at most */

typedef struct lmi_nearest_node {
    lm_dvec3 low, high; /* box around its points */
    uint32_t least;     /* the lowest index among them */
} lmi_nearest_node;

/* Points in a binary tree of boxes. Node 1 has all points, and nodes 2 n and 2 n + 1 have the halves of what node n has. */
typedef struct lmi_nearest {
    lmi_memory *memory;
    lm_dvec3 *points; /* [count] in the order of the tree */
    uint32_t *index;  /* [count] what each of them was when the tree was made */
    lmi_nearest_node *nodes;
    uint32_t count, levels;
} lmi_nearest;

typedef struct lmi_neighbour {
    double square; /* distance */
    uint32_t index;
} lmi_neighbour;

/* Room for points, at least one, which the caller writes to `points` before lmi_nearest_build: as often as they change. False when out of
 * memory; to be freed then, too. */
bool lmi_nearest_make(lmi_nearest *near, lmi_memory *memory, uint32_t count);
void lmi_nearest_build(lmi_nearest *near);
void lmi_nearest_free(lmi_nearest *near);

/* The same from floats, built. */
bool lmi_nearest_make_from(lmi_nearest *near, lmi_memory *memory, const lm_vec3 *points, uint32_t count);

/* The `most` points nearest to a place, nearest first, without the point with index `except` (UINT32_MAX: all). `known` is 0; or 1 where
 * `most` is, and found[0] has a point that is likely to be near. Returns how many there are. */
uint32_t lmi_nearest_find(const lmi_nearest *near, lm_dvec3 place, uint32_t most, uint32_t except, lmi_neighbour *found,
                          uint32_t known);

/* The point nearest to a place. `last`: what was found before; neighbours have near points, so it is a good first guess. `points`: as
 * they were given. */
uint32_t lmi_nearest_after(const lmi_nearest *near, const lm_vec3 *points, lm_dvec3 place, uint32_t last);

/* The values of the vertices nearest to some points. False when out of memory. */
bool lmi_nearest_values(lmi_memory *memory, const lm_vec3 *vertices, const float *of_vertices, uint32_t vertex_count,
                        const lm_dvec3 *points, uint32_t point_count, float *values);

/* How long a list with a value for each node is. */
static inline uint32_t lmi_nearest_nodes(const lmi_nearest *near) { return 2u << near->levels; }

/* The square of the distance from a box, no more than that of any point in it: rounding keeps the order of numbers. */
static inline double lmi_nearest_gap(const lmi_nearest_node *node, lm_dvec3 p)
{
    lm_dvec3 gap = dvec(lmi_max(lmi_max(node->low.x - p.x, p.x - node->high.x), 0.0),
                        lmi_max(lmi_max(node->low.y - p.y, p.y - node->high.y), 0.0),
                        lmi_max(lmi_max(node->low.z - p.z, p.z - node->high.z), 0.0));
    return dvec_dot(gap, gap);
}

#endif
