/*
 * Uneven ground for tests: height maps, sheets and solid plates.
 */
#ifndef LIMBER_TEST_GROUND_H
#define LIMBER_TEST_GROUND_H

#include "test/support/support.h"

enum { GROUND_SIDE = 9 };

/* Hills around the origin, as a height map or as a sheet; or a solid plate of them, 0.2 m thick. */
typedef enum ground { GROUND_HEIGHTS, GROUND_SHEET, GROUND_PLATE } ground;

static inline float height_of(uint32_t i, uint32_t k) { return 0.08f * (float)((i * 7 + k * 5) % 4) - 0.1f; }

static inline lm_collider_def ground_def(ground kind, float half)
{
    static float heights[GROUND_SIDE * GROUND_SIDE];
    static lm_vec3 vertices[2 * GROUND_SIDE * GROUND_SIDE];
    static uint32_t triangles[12 * GROUND_SIDE * GROUND_SIDE];
    static const uint32_t sides[2][6] = {{0, 1, 3, 0, 3, 2}, {0, 3, 1, 0, 2, 3}};
    lm_collider_def def = lm_collider_def_default();
    def.shape = kind == GROUND_HEIGHTS ? LM_SHAPE_HEIGHTS : LM_SHAPE_MESH;
    def.heights = (lm_heights){heights, {GROUND_SIDE, GROUND_SIDE}, 2.0f * half / (GROUND_SIDE - 1)};
    uint32_t count = 0, last = GROUND_SIDE - 1, layers = kind == GROUND_PLATE ? 2 : 1;
    for (uint32_t n = 0; n < 2 * GROUND_SIDE * GROUND_SIDE; n++) {
        uint32_t i = n % GROUND_SIDE, k = n / GROUND_SIDE % GROUND_SIDE;
        heights[n % (GROUND_SIDE * GROUND_SIDE)] = height_of(i, k);
        vertices[n] = (lm_vec3){half * (2.0f * (float)i / last - 1.0f),
                                height_of(i, k) - (n < GROUND_SIDE * GROUND_SIDE ? 0.0f : 0.2f),
                                half * (2.0f * (float)k / last - 1.0f)};
    }
    for (uint32_t layer = 0; layer < layers; layer++)
        for (uint32_t c = 0; c < last * last; c++) {
            uint32_t v = layer * GROUND_SIDE * GROUND_SIDE + c / last * GROUND_SIDE + c % last;
            const uint32_t corner[4] = {v, v + GROUND_SIDE, v + 1, v + GROUND_SIDE + 1};
            for (int k = 0; k < 6; k++) triangles[count++] = corner[sides[layer][k]];
        }
    for (uint32_t e = 0; kind == GROUND_PLATE && e < 4 * last; e++) { /* the rim */
        uint32_t k = e % last, edge = e / last;
        const uint32_t from[4] = {k, last + k * GROUND_SIDE, last * GROUND_SIDE + last - k, (last - k) * GROUND_SIDE};
        const uint32_t to[4] = {k + 1, last + (k + 1) * GROUND_SIDE, last * GROUND_SIDE + last - k - 1,
                                (last - k - 1) * GROUND_SIDE};
        uint32_t a = from[edge], b = to[edge], c = a + GROUND_SIDE * GROUND_SIDE, d = b + GROUND_SIDE * GROUND_SIDE;
        const uint32_t corner[6] = {a, b, d, a, d, c};
        for (int i = 0; i < 6; i++) triangles[count++] = corner[i];
    }
    def.mesh = (lm_collider_mesh){
        vertices, layers * GROUND_SIDE * GROUND_SIDE, triangles, count / 3, kind == GROUND_PLATE, false};
    return def;
}

static inline void add_ground(lm_world *world, ground kind, double x, float half, lm_mover_id mover)
{
    lm_collider_def def = ground_def(kind, half);
    lm_collider_id id;
    def.pose.position = (lm_dvec3){x, 0.0, 0.0};
    def.mover = mover;
    def.friction = 0.4f;
    def.restitution = 0.3f;
    assert_ok(lm_collider_create(world, &def, &id));
}

#endif
