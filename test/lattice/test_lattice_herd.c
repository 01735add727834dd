/*
 * Herds: lattices that are alike are stepped side by side. Each must move, to the bit, as it does alone in a world, whatever
 * its neighbours are and however they come, go and change.
 */
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "test/lattice/lattice_cells.h"
#include "world/world.h"

#define MOST 40

typedef struct pair_of_worlds {
    lm_world *together;    /* all bodies */
    lm_world *alone[MOST]; /* one each; null: the body is gone */
    lm_body_id in_herd[MOST], in_own[MOST];
    uint32_t count;
} pair_of_worlds;

static lm_world *world_with(lm_isa isa, uint32_t threads)
{
    lm_world_def def = lm_world_def_default();
    def.isa = isa;
    def.workers = threads;
    def.gravity = (lm_vec3){0.3f, -9.81f, 0.0f};
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static void add_body(pair_of_worlds *p, lm_isa isa, const lm_body_def *def, uint64_t seed)
{
    uint32_t n = p->count++;
    p->alone[n] = world_with(isa, 1);
    p->in_herd[n] = make_body(p->together, def);
    p->in_own[n] = make_body(p->alone[n], def);
    random_state one = {seed}, other = {seed};
    randomise_state(p->together, p->in_herd[n], &one, 0.06, 2.0);
    randomise_state(p->alone[n], p->in_own[n], &other, 0.06, 2.0);
}

static void step_worlds(pair_of_worlds *p, int steps)
{
    for (int step = 0; step < steps; step++) {
        assert_ok(lm_world_step(p->together, FRAME));
        for (uint32_t n = 0; n < p->count; n++)
            if (p->alone[n]) assert_ok(lm_world_step(p->alone[n], FRAME));
    }
}

static void remove_body(pair_of_worlds *p, uint32_t n)
{
    assert_ok(lm_body_destroy(p->together, p->in_herd[n]));
    lm_world_destroy(p->alone[n]);
    p->alone[n] = NULL;
}

static void assert_same(const pair_of_worlds *p)
{
    for (uint32_t n = 0; n < p->count; n++) {
        if (!p->alone[n]) continue;
        body_state a = state_read(p->together, p->in_herd[n], lm_dvec3_zero());
        body_state b = state_read(p->alone[n], p->in_own[n], lm_dvec3_zero());
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.x, b.x, a.count * sizeof *a.x);
        assert_memory_equal(a.v, b.v, a.count * sizeof *a.v);
        state_free(&a);
        state_free(&b);
    }
}

/* Bodies of the world that were moved in herds in its last substep. */
static uint32_t herded(const lm_world *world)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_lattice_body *lattice = lmi_body_at(world, n)->lattice;
        count += lattice && lattice->herded;
    }
    return count;
}

static void worlds_free(pair_of_worlds *p)
{
    lm_world_destroy(p->together);
    for (uint32_t n = 0; n < p->count; n++)
        if (p->alone[n]) lm_world_destroy(p->alone[n]);
}

/* Two kinds of bodies mixed, as many as fill lanes and some more. */
static void check_mixture(lm_isa isa, cells_kind kind, uint32_t width, lm_mode mode, bool regional)
{
    lattice_cells c = lattice_cells_make(kind, 6, 5, 2), other = lattice_cells_make(CELLS_BOX, 3, 3, 3);
    pair_of_worlds p = {.together = world_with(isa, 2)};
    lm_body_def def = lattice_def(&c, width), small = lattice_def(&other, 1);
    def.material.mode = mode;
    def.material.damping_kind = regional ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
    for (uint32_t n = 0; n < 27; n++) {
        def.material.damping_ratio = n % 3 == 0 ? (regional ? 0.1f : 0.0f) : 0.2f;
        def.material.hertz = 3.0f + 0.1f * (float)n;
        def.lattice.spacing = n % 2 ? (float)CELL : 0.2f;
        def.mass = 1.0f + 0.37f * (float)n; /* the ratios stay the same */
        def.pose.position = (lm_dvec3){3.0 * n, 0.0, 1.0};
        add_body(&p, isa, n % 5 == 4 ? &small : &def, 100 + n);
    }
    step_worlds(&p, 6);
    assert_same(&p);
    if (kind != CELLS_PARTS) assert_int_equal(herded(p.together) > 16, 1);
    worlds_free(&p);
    free(c.is);
    free(other.is);
}

static void bodies_move_as_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < CELLS_COUNT; kind++)
        for (uint32_t width = 1; width <= 4; width++)
            for (int regional = 0; regional < 2; regional++)
                check_mixture(LM_ISA_BEST, (cells_kind)kind, width, width % 2 ? LM_MODE_RIGID : LM_MODE_LINEAR,
                              regional);
}

static void on_every_instruction_set(void **state)
{
    (void)state;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (int regional = 0; lm_isa_supported((lm_isa)isa) && regional < 2; regional++)
            check_mixture((lm_isa)isa, CELLS_COMB, 2, LM_MODE_RIGID, regional);
}

/* Of bodies that fill all lanes but for one of them: that one, where there are four lanes. Where there are more, so many of them are
 * not left over; where there is one, none is. */
static uint32_t left_over(void)
{
    bool more = lm_isa_supported(LM_ISA_AVX2) || lm_isa_supported(LM_ISA_AVX512);
    bool four = lm_isa_supported(LM_ISA_SSE2) || lm_isa_supported(LM_ISA_NEON) || lm_isa_supported(LM_ISA_SIMD128);
    return four && !more;
}

/* Bodies go, come, are pinned, let go, made plastic and damped by regions: the others do not notice. */
static void herds_may_change(void **state)
{
    (void)state;
    lattice_cells c = lattice_cells_make(CELLS_COMB, 6, 3, 3);
    pair_of_worlds p = {.together = world_with(LM_ISA_BEST, 1)};
    lm_body_def def = lattice_def(&c, 1);
    for (uint32_t n = 0; n < 24; n++) add_body(&p, LM_ISA_BEST, &def, n);
    step_worlds(&p, 2);
    assert_int_equal(herded(p.together), 24);
    assert_same(&p);

    uint32_t particles[2] = {0, 5};
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id held, held_alone;
    pin.particles = particles;
    pin.particle_count = 2;
    pin.body = p.in_herd[3];
    assert_ok(lm_pin_create(p.together, &pin, &held));
    pin.body = p.in_own[3];
    assert_ok(lm_pin_create(p.alone[3], &pin, &held_alone));
    step_worlds(&p, 2);
    assert_int_equal(herded(p.together), 23);
    assert_same(&p);
    remove_body(&p, 0);
    remove_body(&p, 11);
    step_worlds(&p, 2);
    assert_int_equal(herded(p.together), 21 - left_over());
    assert_same(&p);

    assert_ok(lm_pin_destroy(p.together, held));
    assert_ok(lm_pin_destroy(p.alone[3], held_alone));
    add_body(&p, LM_ISA_BEST, &def, 77);
    step_worlds(&p, 2);
    assert_in_range(herded(p.together), 16, 23); /* the last may be left over */
    assert_same(&p);

    lm_material material = def.material;
    material.yield = 0.1f;
    assert_ok(lm_body_set_material(p.together, p.in_herd[5], &material));
    assert_ok(lm_body_set_material(p.alone[5], p.in_own[5], &material));
    material = def.material;
    material.damping_kind = LM_DAMPING_REGIONAL;
    material.damping_ratio = 0.3f;
    assert_ok(lm_body_set_material(p.together, p.in_herd[6], &material));
    assert_ok(lm_body_set_material(p.alone[6], p.in_own[6], &material));
    step_worlds(&p, 3);
    assert_in_range(herded(p.together), 16, 22); /* at most all but the one that flows */
    assert_same(&p);
    worlds_free(&p);
    free(c.is);
}

/* Bodies that flow are alike too, but move alone; those that lose what is not the motion of their regions move together. */
static void some_materials_move_alone(void **state)
{
    (void)state;
    lattice_cells c = lattice_cells_make(CELLS_BOX, 4, 2, 2);
    for (int regional = 0; regional < 2; regional++) {
        pair_of_worlds p = {.together = world_with(LM_ISA_BEST, 1)};
        lm_body_def def = lattice_def(&c, 1);
        def.material.damping_kind = regional ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
        def.material.damping_ratio = 0.2f;
        def.material.yield = regional ? 0.0f : 0.05f;
        for (uint32_t n = 0; n < 16; n++) add_body(&p, LM_ISA_BEST, &def, n);
        step_worlds(&p, 3);
        assert_int_equal(herded(p.together), regional ? 16 : 0);
        assert_same(&p);
        worlds_free(&p);
    }
    free(c.is);
}

/* Velocities of negative zero, and a body exactly at rest: zeros are where leaving out an addition could show. */
static void zeros_are_the_same(void **state)
{
    (void)state;
    lattice_cells c = lattice_cells_make(CELLS_BOX, 4, 2, 2);
    pair_of_worlds p = {.together = world_with(LM_ISA_BEST, 1)};
    lm_body_def def = lattice_def(&c, 1);
    for (uint32_t n = 0; n < 8; n++) {
        uint32_t k = p.count++;
        p.alone[k] = world_with(LM_ISA_BEST, 1);
        def.velocity = n % 2 ? (lm_vec3){-0.0f, -0.0f, -0.0f} : (lm_vec3){0.0f, -0.0f, 1.0f};
        p.in_herd[k] = make_body(p.together, &def);
        p.in_own[k] = make_body(p.alone[k], &def);
        assert_ok(lm_world_set_gravity(p.alone[k], (lm_vec3){0.0f, 0.0f, 0.0f}));
    }
    assert_ok(lm_world_set_gravity(p.together, (lm_vec3){0.0f, 0.0f, 0.0f}));
    step_worlds(&p, 3);
    assert_int_equal(herded(p.together), 8);
    assert_same(&p);
    worlds_free(&p);
    free(c.is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_move_as_alone), cmocka_unit_test(on_every_instruction_set),
        cmocka_unit_test(herds_may_change),     cmocka_unit_test(some_materials_move_alone),
        cmocka_unit_test(zeros_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
