/*
 * Pins, drags and bones on an OpenCL device, with and without colliders: from each of several states a step there agrees with
 * one on the CPU, so do the forces of drags and what was given to all bodies; two runs are the same to the last bit.
 */
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define BODIES 4
#define DRAGS 3

typedef struct held_case {
    const char *name;
    bool pins, drags, bones, walls;
    bool surface; /* the octree touches with points on its surface, and there is a plane alone */
    uint32_t substeps;
} held_case;

static const held_case cases[] = {
    {"pins", true, false, false, false, false, 1},
    {"pins among walls", true, false, false, true, false, 2},
    {"drags", false, true, false, false, false, 2},
    {"drags among walls", false, true, false, true, false, 1},
    {"bones", false, false, true, false, false, 1},
    {"bones among walls", false, false, true, true, false, 2},
    {"everything among walls", true, true, true, true, false, 1},
    {"everything, and a surface on a plane", true, true, true, true, true, 1},
};

/* What is moved in every step. */
typedef struct held_world {
    lm_body_id body[BODIES];
    lm_mover_id mover;
    lm_drag_id drag[DRAGS];
    lm_skeleton_id skeleton;
} held_world;

static lm_body_id add_octree(lm_world *world, double x, bool surface)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.15f);
    def.material.hertz = 4.0f;
    def.contact_points = surface ? LM_CONTACT_AUTO : LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){x, 0.5, 0.0};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

static void add_pin(lm_world *world, lm_body_id body, const uint32_t *particles, uint32_t count, lm_mover_id mover)
{
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id id;
    def.body = body;
    def.particles = particles;
    def.particle_count = count;
    def.mover = mover;
    assert_ok(lm_pin_create(world, &def, &id));
}

static lm_drag_id add_drag(lm_world *world, lm_body_id body, uint32_t particle, float radius, lm_dvec3 target)
{
    lm_drag_def def = lm_drag_def_default();
    lm_drag_id id;
    def.body = body;
    def.particle = particle;
    def.radius = radius;
    def.target = target;
    def.hertz = radius > 0.0f ? 2.0f : 0.4f;
    def.max_force = radius > 0.0f ? 15.0f : 1e9f; /* some reach it */
    assert_ok(lm_drag_create(world, &def, &id));
    return id;
}

/* Two bones in the lattice: what is near them is held, the rest is drawn, and some particles hang on both. */
static lm_skeleton_id add_bones(lm_world *world, lm_body_id body)
{
    lm_bone bones[2] = {lm_bone_default(), lm_bone_default()};
    lm_skeleton_def def = lm_skeleton_def_default();
    lm_skeleton_id id;
    for (int n = 0; n < 2; n++) {
        bones[n].rest.position = (lm_dvec3){n ? 0.4 : 0.1, 0.25, 0.25};
        bones[n].tail = (lm_vec3){0.0f, 0.1f, 0.0f};
        bones[n].radius = 0.12f;
        bones[n].fade = 0.25f;
    }
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    def.pose.position = (lm_dvec3){0.0, 0.4, 0.0};
    assert_ok(lm_skeleton_create(world, &def, &id));
    return id;
}

static void add_walls(lm_world *world, bool plane_alone)
{
    static const float heights[9] = {0.0f, 0.3f, 0.1f, 0.2f, 0.35f, 0.25f, 0.1f, 0.3f, 0.2f};
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.pose.position.y = 0.3;
    assert_ok(lm_collider_create(world, &def, &id));
    if (plane_alone) return;
    def.shape = LM_SHAPE_HEIGHTS;
    def.pose.position = (lm_dvec3){0.3, 0.2, 0.2};
    def.heights = (lm_heights){heights, {3, 3}, 0.7f};
    assert_ok(lm_collider_create(world, &def, &id));
}

static held_world fill(lm_world *world, const held_case *c)
{
    held_world w = {0};
    w.body[0] = add_lattice(world, 5, 0.0, 0.4);
    w.body[1] = add_clusters(world, SAMPLE_GRID, 20.0, 0.4);
    w.body[2] = add_octree(world, 10.0, c->surface);
    w.body[3] = add_lattice(world, 9, 30.0, 0.4);
    if (c->pins) {
        lm_mover_def def = lm_mover_def_default();
        def.pose.position = (lm_dvec3){20.0, 0.5, 0.0};
        def.velocity = (lm_vec3){0.2f, 0.1f, 0.0f};
        def.spin = (lm_vec3){0.0f, 1.0f, 0.5f};
        assert_ok(lm_mover_create(world, &def, &w.mover));
        add_pin(world, w.body[0], (const uint32_t[]){0, 5, 130, 131}, 4, (lm_mover_id){0, 0});
        add_pin(world, w.body[0], (const uint32_t[]){215}, 1, (lm_mover_id){0, 0});
        add_pin(world, w.body[1], (const uint32_t[]){3, 4, 11}, 3, w.mover);
        def.pose.position.x = 10.3;
        lm_mover_id other;
        assert_ok(lm_mover_create(world, &def, &other));
        add_pin(world, w.body[2], (const uint32_t[]){0, 1}, 2, other);
    }
    if (c->drags) {
        w.drag[0] = add_drag(world, w.body[0], 7, 0.25f, (lm_dvec3){1.0, 1.5, 0.5});
        w.drag[1] = add_drag(world, w.body[0], 9, 0.3f, (lm_dvec3){-0.5, 0.2, 0.5}); /* they share particles */
        w.drag[2] = add_drag(world, w.body[1], 2, 0.0f, (lm_dvec3){20.5, 1.0, 0.0});
    }
    if (c->bones) w.skeleton = add_bones(world, w.body[0]);
    if (c->walls) add_walls(world, c->surface);
    for (int n = 0; n < BODIES; n++) shake(world, w.body[n], 0.005, (uint64_t)n + 3);
    return w;
}

/* What a program would do before a step: none of it is a change that the device has to be told of. */
static void guide(lm_world *world, const held_world *w, const held_case *c, int frame)
{
    double t = 0.1 * frame;
    if (c->drags) assert_ok(lm_drag_set_target(world, w->drag[0], (lm_dvec3){1.0, 1.5 + 0.2 * sin(t), 0.5}));
    if (c->bones) {
        lm_pose poses[2] = {{{0.1, 0.65 + 0.05 * sin(t), 0.25}, {0.0f, 0.0f, 0.0f, 1.0f}},
                            {{0.4, 0.65, 0.25 + 0.05 * sin(t)}, quaternion(ref_v(0.2 * sin(t), 0.0, 0.1))}};
        assert_ok(lm_skeleton_move_to(world, w->skeleton, poses));
    }
}

static void check_forces(lm_world *host, lm_world *device, const held_world *w)
{
    for (int n = 0; n < DRAGS; n++) {
        lm_vec3 here, there;
        assert_ok(lm_drag_get_force(host, w->drag[n], &here));
        assert_ok(lm_drag_get_force(device, w->drag[n], &there));
        double size = sqrt((double)here.x * here.x + (double)here.y * here.y + (double)here.z * here.z);
        assert_true(size > 0.01);
        assert_near(there.x, here.x, 1e-3 * size);
        assert_near(there.y, here.y, 1e-3 * size);
        assert_near(there.z, here.z, 1e-3 * size);
    }
}

static void check_case(const held_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, c->substeps, &quiet), *device = world_on("gpu", c->substeps, &log);
    held_world w = fill(host, c);
    double worst = 0.0;
    int frame = 0;
    for (int snapshot = 0; snapshot < 4; snapshot++) {
        copy_world(device, host);
        lm_stats before[2], after[2];
        lm_world_get_stats(host, &before[0]);
        lm_world_get_stats(device, &before[1]);
        for (int step = 1; step <= 3; step++) { /* the later ones go on with what the device has */
            guide(host, &w, c, frame);
            guide(device, &w, c, frame++);
            assert_ok(lm_world_step(device, FRAME));
            if (log.count) print_message("%s: %s\n", c->name, log.all);
            assert_true(lmi_gpu_goes_on(device, FRAME / c->substeps)); /* it was the device, and nobody else */
            assert_ok(lm_world_step(host, FRAME));
            for (int n = 0; n < BODIES; n++) worst = fmax(worst, difference(host, device, w.body[n]) / step);
        }
        if (c->drags) check_forces(host, device, &w);
        lm_world_get_stats(host, &after[0]);
        lm_world_get_stats(device, &after[1]);
        double given = after[0].outside_impulse.y - before[0].outside_impulse.y;
        assert_near(after[1].outside_impulse.y - before[1].outside_impulse.y, given, 1e-3 + 1e-4 * fabs(given));
        for (int n = 0; n < 4; n++) {
            guide(host, &w, c, frame++);
            assert_ok(lm_world_step(host, FRAME));
        }
    }
    if (getenv("LIMBER_TEST_VERBOSE") || worst > AGREEMENT || log.count)
        print_message("%s: %g\n%s", c->name, worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void what_is_held_agrees(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) check_case(&cases[n]);
}

static uint64_t run(const held_case *c)
{
    lines log = {0};
    lm_world *world = world_on("gpu", c->substeps, &log);
    held_world w = fill(world, c);
    for (int n = 0; n < 60; n++) {
        guide(world, &w, c, n);
        assert_ok(lm_world_step(world, FRAME));
    }
    assert_int_equal(log.count, 0);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void runs_are_the_same(void **state)
{
    (void)state;
    if (!has_device()) skip();
    const held_case *c = &cases[6];
    assert_true(run(c) == run(c));
}

/* Pins that rode on a mover stay where they are when it is taken away, on the device too. */
static void movers_go(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    held_world w = fill(host, &cases[0]);
    fill(device, &cases[0]);
    for (int n = 0; n < 6; n++) {
        if (n == 3) {
            assert_ok(lm_mover_destroy(host, w.mover));
            assert_ok(lm_mover_destroy(device, w.mover));
        }
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
    }
    for (int n = 0; n < BODIES; n++) assert_at_most(difference(host, device, w.body[n]), 6 * AGREEMENT);
    assert_true(device->gpu->holds);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_agrees),
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(movers_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
