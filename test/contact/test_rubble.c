/*
 * Bodies that break, where they touch: pieces each other, other bodies, and those other bodies them.
 */
#include "test/support/things.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box of a lattice that breaks only when asked to. */
static lm_body_id put_brittle(lm_world *world, lm_vec3 size, lm_dvec3 at, lm_vec3 velocity)
{
    thing_def def = thing_default(FINE);
    def.size = size;
    def.pose.position = at;
    def.velocity = velocity;
    def.material = stiff_material(0.5, 0.0);
    def.mask = 1;
    lm_body_id body = thing_make(world, &def);
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 1e3f;
    assert_ok(lm_body_set_fracture(world, body, &fracture));
    return body;
}

static lm_body_id put_plain(lm_world *world, sampling kind, lm_vec3 size, lm_dvec3 at)
{
    thing_def def = thing_default(kind);
    def.size = size;
    def.pose.position = at;
    def.material = stiff_material(0.5, 0.0);
    def.mask = 1;
    return thing_make(world, &def);
}

static void add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_PLANE;
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &def, &id));
}

static void run(lm_world *world, uint32_t frames)
{
    for (uint32_t n = 0; n < frames; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* Breaks a body where its rest shape is near a level, all across: balls side by side. */
static void break_at(lm_world *world, lm_body_id body, float y)
{
    for (float x = -0.6f; x <= 0.61f; x += 0.1f)
        for (float z = -0.6f; z <= 0.61f; z += 0.1f)
            assert_ok(lm_body_break(world, body, (lm_vec3){x, y, z}, 0.1f, NULL));
}

/* The mean height now of the particles that are above, or below, a level at rest. */
static double height_of(const lm_world *world, lm_body_id body, float level, bool above)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *now = calloc(info.particles, sizeof *now);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    double sum = 0.0, count = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) {
        assert_true(isfinite(now[n].x + now[n].y + now[n].z));
        if ((rest[n].y > level) == above) sum += now[n].y, count += 1.0;
    }
    free(now);
    free(rest);
    assert_true(count > 0.0);
    return sum / count;
}

/* A pillar that is broken in the middle: the upper part stays on the lower one. Without contacts between pieces (no mask) it
 * falls through it. */
static void pieces_lie_on_each_other(void **context)
{
    (void)context;
    double fallen[2];
    for (int touching = 0; touching < 2; touching++) {
        lm_world *world = make_world_with(-9.81, LM_ISA_BEST, 1);
        add_floor(world);
        thing_def def = thing_default(FINE);
        def.size = (lm_vec3){1, 1, 1};
        def.pose.position = (lm_dvec3){0, 0.52, 0};
        def.material = stiff_material(0.5, 0.0);
        def.mask = touching ? 1 : 0;
        lm_body_id body = thing_make(world, &def);
        lm_fracture_def fracture = lm_fracture_def_default();
        fracture.limit = 1e3f;
        assert_ok(lm_body_set_fracture(world, body, &fracture));
        run(world, 30);
        double before = height_of(world, body, 0.3f, true) - height_of(world, body, -0.3f, false);
        break_at(world, body, 0.0f);
        assert_true(info_of(world, body).pieces > 1);
        run(world, 240);
        fallen[touching] = before - (height_of(world, body, 0.3f, true) - height_of(world, body, -0.3f, false));
        lm_world_destroy(world);
    }
    assert_true(fallen[0] > 0.3); /* the test sees a fall */
    assert_true(fallen[1] < 0.2); /* crumbs between the parts settle a little */
}

/* One that can break on one that can, and on each kind of those that cannot; and those on it. */
static void rubble_carries_and_is_carried(void **context)
{
    (void)context;
    for (int kind = -1; kind < SAMPLINGS; kind++) {
        for (int below = 0; below < (kind < 0 ? 1 : 2); below++) {
            lm_world *world = make_world_with(-9.81, LM_ISA_BEST, 1);
            add_floor(world);
            const lm_vec3 large = {1, 1, 1}, small = {0.6f, 0.4f, 0.6f}, still = {0, 0, 0};
            lm_dvec3 low = {0, 0.55, 0}, high = {0.03, 1.35, 0.02};
            lm_body_id brittle = put_brittle(world, below ? large : small, below ? low : high, still);
            lm_body_id other = kind < 0 ? put_brittle(world, large, low, still)
                                        : put_plain(world, (sampling)kind, below ? small : large, below ? high : low);
            run(world, 180);
            double top = info_of(world, below ? other : brittle).centre.y;
            double bottom = info_of(world, below ? brittle : other).centre.y;
            if (!(top - bottom > 0.55 && top - bottom < 1.0))
                fail_msg("kind %d, %s: %g above %g", kind, below ? "on it" : "it on", top, bottom);
            lm_world_destroy(world);
        }
    }
}

/* A marble that is smaller than the gaps between particles does not fall between them, nor in between pieces. */
static void a_marble_stays_outside(void **context)
{
    (void)context;
    for (int broken = 0; broken < 2; broken++) {
        lm_world *world = make_world_with(-9.81, LM_ISA_BEST, 1);
        add_floor(world);
        lm_body_id box = put_brittle(world, (lm_vec3){1, 1, 1}, (lm_dvec3){0, 0.55, 0}, (lm_vec3){0, 0, 0});
        thing_def def = thing_default(SKINNED);
        def.shape = "sphere";
        def.size = (lm_vec3){0.06f, 0.06f, 0.06f};
        def.mass = 0.02f;
        def.material = stiff_material(0.9, 0.0);
        def.mask = 1;
        def.pose.position = (lm_dvec3){0.06, 1.25, 0.05};
        lm_body_id marble = thing_make(world, &def);
        if (broken) break_at(world, box, -0.1f);
        run(world, 90);
        lm_body_info info = info_of(world, marble);
        bool beside = fabs(info.centre.x) > 0.5 || fabs(info.centre.z) > 0.5; /* it may roll off */
        if (!beside && info.centre.y < 0.85) fail_msg("broken %d: the marble is at %g", broken, info.centre.y);
        lm_world_destroy(world);
    }
}

/* Two bodies that fly into each other and break there, and others that they fly into. */
static lm_world *make_crash(lm_isa isa, uint32_t workers, lm_body_id ids[2])
{
    lm_world *world = make_world_with(0.0, isa, workers);
    ids[0] = put_brittle(world, (lm_vec3){1, 1, 1}, (lm_dvec3){-0.8, 0.1, 0}, (lm_vec3){3, 0, 0});
    ids[1] = put_brittle(world, (lm_vec3){0.8f, 0.8f, 0.8f}, (lm_dvec3){0.8, -0.2, 0.1}, (lm_vec3){-4, 0, 0});
    return world;
}

static void momentum_is_kept(void **context)
{
    (void)context;
    lm_body_id ids[2];
    lm_world *world = make_crash(LM_ISA_BEST, 1, ids);
    lm_totals before, after;
    lm_world_get_totals(world, &before);
    for (uint32_t n = 0; n < 60; n++) {
        if (n == 8) break_at(world, ids[0], 0.1f);
        if (n == 10) break_at(world, ids[1], -0.1f);
        run(world, 1);
    }
    lm_world_get_totals(world, &after);
    double scale = 2.0 * 3.0; /* kg m/s of one of them */
    assert_near(after.momentum.x, before.momentum.x, 1e-4 * scale);
    assert_near(after.momentum.y, before.momentum.y, 1e-4 * scale);
    assert_near(after.momentum.z, before.momentum.z, 1e-4 * scale);
    assert_true(after.kinetic_energy < before.kinetic_energy);
    /* They met: neither went through the other. */
    assert_true(info_of(world, ids[0]).centre.x < info_of(world, ids[1]).centre.x);
    lm_world_destroy(world);
}

/* On all threads and instruction sets, and through a snapshot that is taken while they are in pieces. */
static void the_same_everywhere(void **context)
{
    (void)context;
    uint64_t hash = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        lm_body_id ids[2];
        lm_world *world = make_crash((lm_isa)isa, isa == LM_ISA_SCALAR ? 1 : 3, ids);
        for (int k = 0; k < 4; k++)
            put_plain(world, (sampling)k, (lm_vec3){0.5f, 0.5f, 0.5f}, (lm_dvec3){-0.9 + 0.6 * k, 0.9, 0.1 * k});
        for (uint32_t n = 0; n < 40; n++) {
            if (n == 8) break_at(world, ids[0], 0.1f);
            if (n == 20 && isa % 2) {
                size_t size = lm_world_save_size(world);
                void *bytes = malloc(size);
                assert_ok(lm_world_save(world, bytes, size));
                lm_world_destroy(world);
                world = make_world_with(0.0, (lm_isa)isa, 2);
                assert_ok(lm_world_load(world, bytes, size));
                free(bytes);
            }
            run(world, 1);
        }
        hash = hash ? hash : lm_world_hash(world);
        assert_true(lm_world_hash(world) == hash);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_lie_on_each_other), cmocka_unit_test(rubble_carries_and_is_carried),
        cmocka_unit_test(a_marble_stays_outside),   cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
