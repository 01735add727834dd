/*
 * Bodies for heaps: lattices, octrees and clusters that answer pushes as a whole, in part, or not at all.
 */
#ifndef LIMBER_TEST_HEAP_H
#define LIMBER_TEST_HEAP_H

#include "test/support/boxes.h"
#include "test/support/support.h"

#include <string.h>

/* How stiff a body is: the share of a push that it answers as a whole (rigidity in contact/push.c). */
typedef enum share { NONE, HALF, ALL, ANY } share;

static inline void set_material(lm_material *m, share of)
{
    m->stiffness = LM_STIFFNESS_ALPHA;
    m->alpha = of == ALL ? 1.0f : of == HALF ? 0.97f : 0.6f;
    m->damping = of == NONE ? 1.0f : 1000.0f;
    m->mode = LM_MODE_RIGID;
    m->friction = 0.7f;
    m->restitution = 0.2f;
}

static inline lm_body_id add(lm_world *world, lm_body_def *def, lm_dvec3 at, share of, uint32_t mask)
{
    set_material(&def->material, of);
    def->group = 1;
    def->mask = mask;
    def->pose.position = at;
    def->spin = (lm_vec3){0.3f, 0.1f, -0.2f};
    lm_body_id id;
    assert_ok(lm_body_create(world, def, &id));
    return id;
}

static inline lm_body_id add_brick(lm_world *world, lm_dvec3 at, share of)
{
    uint8_t filled[4 * 4 * 4];
    memset(filled, 1, sizeof filled);
    filled[0] = filled[5] = 0;
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 4;
    def.lattice.spacing = 0.2f;
    def.lattice.width = 1;
    def.mass = 2.0f;
    return add(world, &def, at, of, 1);
}

static inline lm_body_id add_octree(lm_world *world, lm_dvec3 at, share of, uint32_t mask)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){-0.4f, -0.4f, -0.4f}, (lm_vec3){0.4f, 0.4f, 0.4f});
    lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.2f);
    def.mass = 2.0f;
    return add(world, &def, at, of, mask);
}

static inline lm_body_id add_points(lm_world *world, lm_dvec3 at, share of, uint64_t seed)
{
    random_state random = {seed};
    sample s = sample_make(seed % 2 ? SAMPLE_GRID : SAMPLE_BOX, &random);
    lm_body_id id = add(world, &s.def, at, of, 1);
    sample_free(&s);
    return id;
}

#endif
