/*
 * Octrees on an OpenCL device: rigid, linear and plastic ones, with examples, damped as a whole and region by region, several with
 * trees of different heights in one world, beside clusters and lattices; and after their regions have become others, while their
 * detail changes, and when they and bodies of clusters are cut into parts.
 */
#include "octree/octree_body.h"
#include "test/gpu/device.h"
#include "test/support/boxes.h"

#define BODIES 5

typedef struct octree_case {
    const char *name;
    lm_mode mode;
    lm_damping damping;
    float yield;
    uint32_t damping_every, poses;
    lm_example_scope scope;
} octree_case;

static const octree_case cases[] = {
    {"rigid", LM_MODE_RIGID, LM_DAMPING_GLOBAL, 0.0f, 1, 0, LM_EXAMPLES_BODY},
    {"linear, damped every other substep", LM_MODE_LINEAR, LM_DAMPING_GLOBAL, 0.0f, 2, 0, LM_EXAMPLES_BODY},
    {"plastic", LM_MODE_RIGID, LM_DAMPING_GLOBAL, 0.02f, 1, 0, LM_EXAMPLES_BODY},
    {"damped region by region", LM_MODE_RIGID, LM_DAMPING_REGIONAL, 0.0f, 1, 0, LM_EXAMPLES_BODY},
    {"examples of groups, linear", LM_MODE_LINEAR, LM_DAMPING_GLOBAL, 0.0f, 1, 3, LM_EXAMPLES_GROUPS},
    {"examples of regions, plastic, damped region by region", LM_MODE_RIGID, LM_DAMPING_REGIONAL, 0.02f, 1, 2,
     LM_EXAMPLES_REGIONS},
};

static lm_body_id add_octree(lm_world *world, const octree_case *c, float spacing, uint32_t levels, float width,
                             double x)
{
    boxes b = {0};
    boxes_add(&b, (lm_vec3){0.0f, 0.0f, 0.0f}, (lm_vec3){0.7f, 0.45f, 0.35f});
    lm_body_def def = boxes_octree(&b, spacing, levels, width);
    def.octree.detail = 6.0f;
    def.material.mode = c->mode;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.2f;
    def.material.damping_kind = c->damping;
    def.material.damping_every = c->damping_every;
    def.material.yield = c->yield;
    def.pose.position = (lm_dvec3){x, 0.5, 0.0};
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    if (c->poses) give_examples(world, id, c->poses, c->scope, false);
    shake(world, id, 0.02, levels);
    return id;
}

static void fill(lm_world *world, const octree_case *c, lm_body_id ids[BODIES])
{
    ids[0] = add_octree(world, c, 0.1f, 2, 0.15f, 0.0);
    ids[1] = add_clusters(world, SAMPLE_GRID, 20.0, 0.4);
    ids[2] = add_octree(world, c, 0.05f, 3, 0.3f, 10.0);
    ids[3] = add_lattice(world, 4, 30.0, 0.4);
    ids[4] = add_octree(world, c, 0.12f, 0, 0.18f, 40.0);
}

static void octrees_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
        lm_body_id ids[BODIES];
        fill(host, &cases[k], ids);
        double worst = 0.0;
        const lmi_octree_lanes *lanes = &lmi_body_at(host, ids[2].slot - 1)->octree->lanes;
        if (getenv("LIMBER_TEST_VERBOSE"))
            print_message("%u heights, %u rows of nodes, %u blocks\n", lanes->heights, lanes->node_rows,
                          lanes->region_blocks);
        assert_true(lanes->heights > 1 && lanes->node_rows > 0); /* there are nodes to be summed */
        for (int snapshot = 0; snapshot < 3; snapshot++) {
            copy_world(device, host);
            for (int step = 1; step <= 3; step++) { /* the later ones go on with what the device has */
                assert_ok(lm_world_step(device, FRAME));
                assert_true(lmi_gpu_goes_on(device, FRAME));
                assert_ok(lm_world_step(host, FRAME));
                for (int n = 0; n < BODIES; n++) worst = fmax(worst, difference(host, device, ids[n]) / step);
            }
            for (int n = 0; n < 3; n++) assert_ok(lm_world_step(host, FRAME));
        }
        if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
            print_message("%s: %g\n%s", cases[k].name, worst, log.all);
        assert_int_equal(log.count, 0);
        assert_at_most(worst, AGREEMENT);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* Two steps, from where the host is. */
static double step_both(lm_world *host, lm_world *device, const lm_body_id *ids, int count)
{
    double worst = 0.0;
    for (int step = 1; step <= 2; step++) {
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        assert_true(lmi_gpu_goes_on(device, FRAME));
        for (int n = 0; n < count; n++) worst = fmax(worst, difference(host, device, ids[n]) / step);
    }
    return worst;
}

/* A grid of points that many clusters share, low enough to meet the floor. */
static lm_body_id add_grid(lm_world *world, double x)
{
    enum { SIDE = 14 };
    static lm_vec3 points[SIDE * SIDE * SIDE];
    for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
        points[n] =
            (lm_vec3){0.05f * (float)(n % SIDE), 0.05f * (float)(n / SIDE % SIDE), 0.05f * (float)(n / (SIDE * SIDE))};
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = SIDE * SIDE * SIDE;
    def.clusters.counts[0] = def.clusters.counts[1] = def.clusters.counts[2] = 4;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.1f;
    def.pose.position = (lm_dvec3){x, 0.02, 0.0};
    def.velocity = (lm_vec3){0.2f, -1.0f, 0.1f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    shake(world, id, 0.01, 3);
    return id;
}

/* Bodies that many work-groups move, one of them pinned, beside one that a single work-group does. */
static void large_ones_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[4] = {add_octree(host, &cases[0], 0.016f, 2, 0.11f, 0.0), add_grid(host, 20.0),
                         add_clusters(host, SAMPLE_GRID, 40.0, 0.4),
                         add_octree(host, &cases[3], 0.016f, 2, 0.11f, 60.0)};
    for (int n = 0; n < 4; n++) {
        assert_true((lmi_body_at(host, ids[n].slot - 1)->padded_count > LMI_GPU_LARGE) == (n != 2));
    }
    const uint32_t corners[2] = {0, 7};
    lm_pin_def pin = lm_pin_def_default();
    pin.body = ids[3];
    pin.particles = corners;
    pin.particle_count = 2;
    lm_pin_id pinned;
    assert_ok(lm_pin_create(host, &pin, &pinned));
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id floor_id;
    assert_ok(lm_collider_create(host, &floor, &floor_id));
    double worst = 0.0;
    for (int snapshot = 0; snapshot < 3; snapshot++) {
        copy_world(device, host);
        worst = fmax(worst, step_both(host, device, ids, 4));
        lm_body_info info[2];
        for (int n = 0; n < 4; n++) {
            assert_ok(lm_body_get_info(host, ids[n], &info[0]));
            assert_ok(lm_body_get_info(device, ids[n], &info[1]));
            assert_int_equal(info[0].contacts, info[1].contacts);
            assert_true(n != 1 || info[0].contacts > 0);
        }
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE")) print_message("large: %g\n%s", worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Wider regions: the device has other lists in the next step. */
static void octrees_change(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(host, &cases[0], ids);
    copy_world(device, host);
    assert_ok(lm_world_step(host, FRAME));
    assert_ok(lm_world_step(device, FRAME));
    lm_body_info info;
    assert_ok(lm_body_get_info(host, ids[2], &info));
    float *widths = malloc(info.particles * sizeof *widths);
    for (uint32_t n = 0; n < info.particles; n++) widths[n] = 0.2f;
    assert_ok(lm_body_set_widths(host, ids[2], widths));
    assert_ok(lm_body_set_widths(device, ids[2], widths));
    free(widths);
    assert_ok(lm_world_step(host, FRAME));
    assert_ok(lm_world_step(device, FRAME));
    assert_true(lmi_gpu_goes_on(device, FRAME));
    for (int n = 0; n < BODIES; n++) assert_at_most(difference(host, device, ids[n]), 2.0 * AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* A square in the plane x = `x` through all that is there. */
static uint32_t cut_at(lm_world *world, lm_body_id id, double x)
{
    const lm_dvec3 corners[4] = {{x, -9.0, -9.0}, {x, 9.0, -9.0}, {x, 9.0, 9.0}, {x, -9.0, 9.0}};
    const uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    lm_blade blade = lm_blade_default();
    blade.vertices = corners;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    lm_cut_info info;
    assert_ok(lm_body_cut(world, id, &blade, &info));
    return info.parts;
}

/* An octree, clusters and tetrahedra, cut where they are on the device: each part is damped by itself. */
static void parts_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[4];
    ids[0] = add_octree(host, &cases[0], 0.1f, 2, 0.15f, 0.0);
    ids[1] = add_clusters(host, SAMPLE_GRID, 20.0, 0.4);
    ids[2] = add_clusters(host, SAMPLE_TETS, 40.0, 0.4);
    ids[3] = add_octree(host, &cases[3], 0.1f, 2, 0.15f, 60.0);
    for (int n = 1; n < 3; n++) {
        lm_material material;
        assert_ok(lm_body_get_material(host, ids[n], &material));
        material.damping_ratio = 0.3f;
        assert_ok(lm_body_set_material(host, ids[n], &material));
        shake(host, ids[n], 0.05, 9);
    }
    copy_world(device, host);
    double worst = step_both(host, device, ids, 4);
    for (int n = 0; n < 4; n++) {
        lm_body_info info;
        assert_ok(lm_body_get_info(host, ids[n], &info));
        uint32_t parts = cut_at(host, ids[n], info.centre.x + 0.01);
        assert_true(parts > 1);
        assert_int_equal(cut_at(device, ids[n], info.centre.x + 0.01), parts);
    }
    worst = fmax(worst, step_both(host, device, ids, 4));
    for (int snapshot = 0; snapshot < 3; snapshot++) {
        for (int n = 0; n < 4; n++) shake(host, ids[n], 0.02, (uint64_t)snapshot);
        copy_world(device, host);
        worst = fmax(worst, step_both(host, device, ids, 4));
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE")) print_message("parts: %g\n%s", worst, log.all);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* An eye comes nearer: cells are joined, then divided again, while the device steps. */
static void detail_agrees(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *worlds[2] = {world_on(NULL, 1, &quiet), world_on("gpu", 1, &log)};
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.1f;
    detail.hold = 0.02f;
    lm_body_id id = add_octree(worlds[0], &cases[0], 0.05f, 3, 0.3f, 0.0);
    assert_ok(lm_body_set_detail(worlds[0], id, &detail));
    copy_world(worlds[1], worlds[0]);
    uint32_t few = UINT32_MAX, many = 0;
    double worst = 0.0;
    for (int n = 0; n < 12; n++) {
        uint32_t count[2];
        const lm_dvec3 eye = {0.0, 0.5, 6.0 - 0.5 * n};
        for (int w = 0; w < 2; w++) {
            assert_ok(lm_world_set_eye(worlds[w], &eye));
            assert_ok(lm_world_step(worlds[w], FRAME));
            count[w] = lmi_body_at(worlds[w], id.slot - 1)->particle_count; /* and nobody asks for the state */
        }
        assert_true(lmi_gpu_goes_on(worlds[1], FRAME));
        assert_int_equal(count[0], count[1]);
        few = count[0] < few ? count[0] : few;
        many = count[0] > many ? count[0] : many;
        if (n % 4 == 3) worst = fmax(worst, difference(worlds[0], worlds[1], id) / (n + 1));
    }
    if (worst > AGREEMENT || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("detail, %u to %u: %g\n%s", few, many, worst, log.all);
    assert_true(many > few + 50);
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(worlds[0]);
    lm_world_destroy(worlds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octrees_agree), cmocka_unit_test(large_ones_agree), cmocka_unit_test(octrees_change),
        cmocka_unit_test(parts_agree),   cmocka_unit_test(detail_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
