/*
 * Meshes of boxes, for bodies that are made of a surface.
 */
#ifndef LIMBER_TEST_BOXES_H
#define LIMBER_TEST_BOXES_H

#include "limber/limber.h"

#define BOXES_MOST 32

typedef struct boxes {
    lm_vec3 vertices[8 * BOXES_MOST];
    uint32_t triangles[36 * BOXES_MOST];
    uint32_t count;
} boxes;

/* Twelve triangles that look outward. */
static inline void boxes_add(boxes *b, lm_vec3 low, lm_vec3 high)
{
    static const uint32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    uint32_t first = 8 * b->count;
    for (uint32_t n = 0; n < 8; n++)
        b->vertices[first + n] = (lm_vec3){n & 1 ? high.x : low.x, n & 2 ? high.y : low.y, n & 4 ? high.z : low.z};
    for (uint32_t n = 0; n < 36; n++) b->triangles[36 * b->count + n] = first + faces[n];
    b->count++;
}

/* The definition of an octree of them. */
static inline lm_body_def boxes_octree(const boxes *b, float spacing, uint32_t levels, float width)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.octree.vertices = b->vertices;
    def.octree.vertex_count = 8 * b->count;
    def.octree.triangles = b->triangles;
    def.octree.triangle_count = 12 * b->count;
    def.octree.spacing = spacing;
    def.octree.levels = levels;
    def.octree.width = width;
    return def;
}

#endif
