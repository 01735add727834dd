/*
 * Bodies that answer colliders as a whole with their bare particles, on an OpenCL device: stiff ones and fast ones fall on planes,
 * boxes, balls and hills, and lie there. From each of several states a step there agrees with one on the CPU, which has no part in it.
 */
#include "gpu/stand.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define BODIES 4
#define SIDE 9

typedef struct stand_case {
    const char *name;
    float alpha, damping; /* 0: soft */
    float down;           /* m/s */
    uint32_t substeps;
    bool events; /* somebody wants to know who touches what */
} stand_case;

static const stand_case cases[] = {
    {"stiff", 1.0f, 60.0f, 1.0f, 1, true},
    {"half as stiff", 0.97f, 30.0f, 1.0f, 1, false},
    {"fast", 0.0f, 0.0f, 12.0f, 1, false},
    {"stiff and fast, two substeps", 1.0f, 120.0f, 20.0f, 2, true},
};

static void add_collider(lm_world *world, lm_collider_def def, double x, double y, uint32_t group)
{
    lm_collider_id id;
    def.pose.position = (lm_dvec3){x, y, 0.1};
    def.group = group;
    def.friction = 0.5f;
    def.restitution = 0.3f;
    assert_ok(lm_collider_create(world, &def, &id));
}

/* A body over each, and rules for some. */
static void add_colliders(lm_world *world)
{
    static float heights[SIDE * SIDE];
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_BOX;
    def.half_extents = (lm_vec3){0.5f, 0.3f, 0.6f};
    add_collider(world, def, 0.0, -0.3, 1);
    def.shape = LM_SHAPE_SPHERE;
    def.radius = 0.6f;
    add_collider(world, def, 4.1, -0.6, 2);
    add_collider(world, def, 4.6, -0.5, 2);
    for (uint32_t n = 0; n < SIDE * SIDE; n++) heights[n] = 0.05f * (float)((n * 7) % 4) - 0.1f;
    def.shape = LM_SHAPE_HEIGHTS;
    def.heights = (lm_heights){heights, {SIDE, SIDE}, 0.4f};
    add_collider(world, def, 8.0, 0.0, 1);
    def.shape = LM_SHAPE_PLANE;
    add_collider(world, def, 0.0, -0.6, 1);
    assert_ok(lm_world_set_contact_rule(world, 2, 1, 0.9f, 0.1f));
}

static lm_body_id add_octree(lm_world *world, double x)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){-0.35f, -0.2f, -0.2f}, (lm_vec3){0.35f, 0.25f, 0.2f});
    lm_body_def def = boxes_octree(&b, 0.05f, 2, 0.15f);
    def.octree.detail = 6.0f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){x, 0.3, 0.0};
    def.spin = (lm_vec3){1.0f, 0.5f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

/* All of it comes down, and turns a little. */
static void drop_body(lm_world *world, lm_body_id id, float down)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *v = x + info.particles;
    assert_ok(lm_body_get_positions(world, id, info.centre, x));
    for (uint32_t n = 0; n < info.particles; n++)
        v[n] = (lm_vec3){0.2f - 0.5f * x[n].y, 0.5f * x[n].x - down, 0.1f + 0.3f * x[n].y};
    assert_ok(lm_body_set_state(world, id, info.centre, x, v));
    free(x);
}

static void fill(lm_world *world, const stand_case *c, lm_body_id ids[BODIES])
{
    ids[0] = add_lattice(world, 5, -0.3, 0.05);
    ids[1] = add_clusters(world, SAMPLE_GRID, 4.3, 0.5);
    ids[2] = add_lattice(world, 4, 7.8, 0.15);
    ids[3] = add_octree(world, 12.0);
    add_colliders(world);
    for (int n = 0; n < BODIES; n++) {
        lm_material material = lm_material_default();
        material.restitution = 0.2f;
        material.hertz = 5.0f;
        if (c->alpha > 0.0f) {
            material.stiffness = LM_STIFFNESS_ALPHA;
            material.alpha = c->alpha;
            material.damping = c->damping;
        }
        assert_ok(lm_body_set_material(world, ids[n], &material));
        drop_body(world, ids[n], c->down);
    }
}

/* The same events, about as strong. Returns how many were pressed. */
static uint32_t compare_wall_events(lm_world *host, lm_world *device)
{
    lm_contact_event here[32], there[32];
    uint32_t count = lm_world_get_contact_events(host, here, 32), pressed = 0;
    assert_int_equal(lm_world_get_contact_events(device, there, 32), count);
    for (uint32_t n = 0; n < count; n++) {
        assert_int_equal(here[n].phase, there[n].phase);
        assert_int_equal(here[n].body.slot, there[n].body.slot);
        assert_int_equal(here[n].collider.slot, there[n].collider.slot);
        assert_near(there[n].pressed, here[n].pressed, 1e-3 + 1e-3 * here[n].pressed);
        assert_near(there[n].impulse.y, here[n].impulse.y, 1e-3 + 1e-3 * here[n].pressed);
        assert_near(there[n].approach, here[n].approach, 1e-3);
        assert_near(there[n].point.x, here[n].point.x, 1e-2);
        pressed += here[n].pressed > 0.0f;
    }
    return pressed;
}

static void check_case(const stand_case *c)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, c->substeps, &quiet), *device = world_on("gpu", c->substeps, &log);
    lm_body_id ids[BODIES];
    fill(host, c, ids);
    double worst = 0.0;
    uint32_t whole = 0, unlike = 0, left = 0, pressed = 0;
    assert_ok(lm_world_set_contact_events(host, c->events));
    for (int snapshot = 0; snapshot < 8; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 2; step++) { /* the second goes on with what the device has */
            assert_ok(lm_world_step(device, FRAME));
            left += !lmi_gpu_goes_on(device, FRAME / c->substeps);
            whole += device->gpu->stands && device->gpu->standing->total > 0;
            assert_ok(lm_world_step(host, FRAME));
            pressed += compare_wall_events(host, device);
            double off = 0.0;
            for (int n = 0; n < BODIES; n++) off = fmax(off, difference(host, device, ids[n]) / step);
            if (getenv("LIMBER_TEST_VERBOSE")) print_message("%s %d.%d: %g\n", c->name, snapshot, step, off);
            worst = fmax(worst, off);
        }
        lm_stats stats[2];
        lm_world_get_stats(host, &stats[0]);
        lm_world_get_stats(device, &stats[1]);
        unlike += stats[0].contacts != stats[1].contacts;
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (getenv("LIMBER_TEST_VERBOSE") || worst > AGREEMENT || left)
        print_message("%s: %g, %u steps as a whole, %u states with other contacts, %u left\n%s", c->name, worst, whole,
                      unlike, left, log.all);
    assert_true(!c->events || pressed > 8);
    assert_at_most(worst, 2.0 * AGREEMENT);          /* the host adds up in another order than the device */
    assert_true(whole > (c->alpha > 0.0f ? 4 : 0));  /* fast ones are no longer so when they have met something */
    assert_true(unlike <= 1);                        /* rounding decides about a particle now and then */
    assert_int_equal(left, c->alpha > 0.0f ? 0 : 1); /* a fast one is found out once */
    assert_int_equal(log.count, left);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void bodies_stand(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) check_case(&cases[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_stand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
