/*
 * Cells for lattices in tests, and bodies made of them.
 */
#ifndef LIMBER_TEST_LATTICE_CELLS_H
#define LIMBER_TEST_LATTICE_CELLS_H

#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define CELL 0.25 /* metres */

typedef struct lattice_cells {
    uint8_t *is;
    uint32_t n[3];
} lattice_cells;

/* CELLS_PARTS: two boxes side by side along x, with a gap between their corners; where rows are short both are in one block. */
typedef enum cells_kind { CELLS_BOX, CELLS_COMB, CELLS_SHEET, CELLS_PARTS, CELLS_COUNT } cells_kind;

static inline lattice_cells lattice_cells_make(cells_kind kind, uint32_t x, uint32_t y, uint32_t z)
{
    lattice_cells c = {calloc((size_t)x * y * z, 1), {x, y, z}};
    for (uint32_t n = 0; n < x * y * z; n++) {
        uint32_t i = n % x, j = n / x % y, k = n / x / y;
        c.is[n] = kind == CELLS_BOX || (kind == CELLS_COMB && (j % 2 == 0 || i < 2)) ||
                  (kind == CELLS_SHEET && k == 0) || (kind == CELLS_PARTS && i != x / 2);
    }
    return c;
}

static inline lm_body_def lattice_def(const lattice_cells *c, uint32_t width)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = c->is;
    memcpy(def.lattice.counts, c->n, sizeof c->n);
    def.lattice.spacing = (float)CELL;
    def.lattice.width = width;
    def.mass = 3.0f;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 4.0f;
    return def;
}

/* A box from the origin on, as a mesh; the definition points into `vertices`. */
static inline void lattice_use_box(lm_body_def *def, const double size[3], lm_vec3 vertices[8])
{
    static const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                           2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int n = 0; n < 8; n++)
        vertices[n] = to_float(ref_v(n & 1 ? size[0] : 0.0, n & 2 ? size[1] : 0.0, n & 4 ? size[2] : 0.0));
    def->lattice.vertices = vertices;
    def->lattice.vertex_count = 8;
    def->lattice.triangles = triangles;
    def->lattice.triangle_count = 12;
    const lm_material *m = &def->material;
    if (m->stiffness == LM_STIFFNESS_GIVEN && !(m->young > 0.0f) && !(m->sag > 0.0f) && !(m->hertz > 0.0f))
        def->material.hertz = 8.0f; /* a mesh of which nothing is said sags */
}

static inline lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

#endif
