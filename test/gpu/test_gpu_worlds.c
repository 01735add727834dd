/*
 * Worlds on an OpenCL device that have more in them than bodies and colliders: wind, point fields, forces of one step, bodies
 * that sleep, skins that ride on regions; and a device that is lost in the middle of it.
 */
#include "test/gpu/device.h"

#define BODIES 2

static void fill(lm_world *world, lm_body_id ids[BODIES])
{
    ids[0] = add_lattice(world, 5, 0.0, 0.4);
    ids[1] = add_clusters(world, SAMPLE_GRID, 20.0, 0.4);
}

static double worst_of(lm_world *host, lm_world *device, const lm_body_id ids[BODIES])
{
    double worst = 0.0;
    for (int n = 0; n < BODIES; n++) worst = fmax(worst, difference(host, device, ids[n]));
    return worst;
}

static void push(lm_world *world, const lm_body_id ids[BODIES])
{
    assert_ok(lm_body_add_force(world, ids[0], (lm_vec3){20.0f, 30.0f, -10.0f}));
    assert_ok(lm_body_add_force(world, ids[1], (lm_vec3){0.0f, 5.0f, 1.0f}));
    assert_ok(lm_body_add_particle_force(world, ids[0], 3, (lm_vec3){0.0f, 2.0f, 1.0f}));
    assert_ok(lm_body_add_particle_force(world, ids[0], 3, (lm_vec3){1.0f, 0.0f, 0.0f}));
    assert_ok(lm_body_add_particle_force(world, ids[1], 7, (lm_vec3){0.5f, 1.0f, 0.0f}));
}

static void add_fields(lm_world *world)
{
    lm_field_id id;
    lm_field_def def = lm_field_def_default();
    def.kind = LM_FIELD_WIND;
    def.vector = (lm_vec3){3.0f, 0.0f, 1.0f};
    def.strength = 0.8f;
    assert_ok(lm_field_create(world, &def, &id));
    def.kind = LM_FIELD_POINT;
    def.position = (lm_dvec3){1.0, 2.0, 0.3};
    def.strength = 6.0f;
    def.radius = 30.0f;
    assert_ok(lm_field_create(world, &def, &id));
    def.kind = LM_FIELD_UNIFORM;
    def.vector = (lm_vec3){0.0f, 2.0f, 0.0f};
    assert_ok(lm_field_create(world, &def, &id));
}

/* Wind, a point that pulls, and forces that last one step, in two substeps: positions, velocities and what was given. */
static void forces_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[BODIES];
    fill(host, ids);
    add_fields(host);
    shake(host, ids[0], 0.02, 5);
    double worst = 0.0;
    for (int snapshot = 0; snapshot < 4; snapshot++) {
        copy_world(device, host);
        lm_stats before[2], after[2];
        lm_world_get_stats(host, &before[0]);
        lm_world_get_stats(device, &before[1]);
        for (int step = 1; step <= 3; step++) {
            if (step != 2) {
                push(host, ids);
                push(device, ids);
            }
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2));
            assert_ok(lm_world_step(host, FRAME));
            worst = fmax(worst, worst_of(host, device, ids) / step);
        }
        lm_world_get_stats(host, &after[0]);
        lm_world_get_stats(device, &after[1]);
        assert_near(after[1].outside_impulse.x - before[1].outside_impulse.x,
                    after[0].outside_impulse.x - before[0].outside_impulse.x, 1e-4);
        assert_near(after[1].outside_impulse.y - before[1].outside_impulse.y,
                    after[0].outside_impulse.y - before[0].outside_impulse.y, 1e-4);
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    assert_int_equal(log.count, 0);
    assert_at_most(worst, AGREEMENT);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* A substep that the host has to take over does not get its forces twice. */
static void forces_of_torn_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(host, ids);
    add_fields(host);
    shake(host, ids[0], 20.0, 4);
    copy_world(device, host);
    push(host, ids);
    push(device, ids);
    assert_ok(lm_world_step(device, FRAME));
    assert_ok(lm_world_step(host, FRAME));
    assert_true(lm_world_hash(host) == lm_world_hash(device)); /* the CPU stepped both, from the same state */
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "bodies stretched to many times their size: the CPU does"));
    for (int n = 0; n < 3; n++) assert_ok(lm_world_step(device, FRAME));
    assert_int_equal(log.count, 1); /* said once */
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Nor does a body beside the torn one flow twice: the device has begun to match it when the host is told. */
static void flow_beside_torn_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(host, ids);
    lm_material material = lm_material_default();
    material.yield = 0.02f;
    material.creep = 5.0f;
    assert_ok(lm_body_set_material(host, ids[1], &material));
    shake(host, ids[0], 20.0, 4);
    shake(host, ids[1], 0.2, 6);
    copy_world(device, host);
    assert_ok(lm_world_step(device, FRAME));
    assert_ok(lm_world_step(host, FRAME));
    assert_true(lm_world_hash(host) == lm_world_hash(device));
    assert_int_equal(log.count, 1);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void lay_floor(lm_world *world)
{
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id collider;
    floor.shape = LM_SHAPE_PLANE;
    floor.friction = 1.0f;
    assert_ok(lm_collider_create(world, &floor, &collider));
}

/* A ball that flies at the first body. */
static void come_near(lm_world *world)
{
    lm_mover_def mover = lm_mover_def_default();
    lm_collider_def ball = lm_collider_def_default();
    lm_collider_id id;
    mover.pose.position = (lm_dvec3){-4.0, 0.4, 0.2};
    mover.velocity = (lm_vec3){4.0f, 0.0f, 0.0f};
    assert_ok(lm_mover_create(world, &mover, &ball.mover));
    ball.shape = LM_SHAPE_SPHERE;
    ball.radius = 0.2f;
    assert_ok(lm_collider_create(world, &ball, &id));
}

/* Bodies come to rest on the floor, sleep, and are woken by one that falls on them, on the device as on the CPU. */
static void bodies_sleep(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *world = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(world, ids);
    lay_floor(world);
    lm_body_info info[BODIES];
    int slept = -1;
    for (int n = 0; n < 900 && slept < 0; n++) {
        assert_ok(lm_world_step(world, FRAME));
        for (int k = 0; k < BODIES; k++) assert_ok(lm_body_get_info(world, ids[k], &info[k]));
        slept = info[0].asleep && info[1].asleep ? n : -1;
    }
    assert_true(slept > 20);
    assert_ok(lm_world_step(world, FRAME)); /* nobody is awake: nothing to do, and nothing to say */
    assert_int_equal(log.count, 0);
    assert_ok(lm_body_add_force(world, ids[1], (lm_vec3){0.0f, 400.0f, 0.0f}));
    assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_body_get_info(world, ids[0], &info[0]));
    assert_ok(lm_body_get_info(world, ids[1], &info[1]));
    assert_true(info[0].asleep);
    assert_false(info[1].asleep);
    assert_true(info[1].velocity.y > 0.5f);
    assert_true(world->gpu->holds); /* it was the device, with one of two bodies */
    assert_ok(lm_world_step(world, FRAME));
    uint64_t before = world->gpu->read_bytes;
    lm_vec3 *x = malloc(info[0].particles * sizeof *x);
    assert_ok(lm_body_get_info(world, ids[0], &info[0]));
    assert_ok(lm_body_get_positions(world, ids[0], info[0].centre, x));
    free(x);
    assert_int_equal(world->gpu->read_bytes, before); /* who sleeps is known here */
    int woken = -1;
    come_near(world);
    for (int n = 0; n < 90 && woken < 0; n++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_body_get_info(world, ids[0], &info[0]));
        woken = info[0].asleep ? -1 : n;
    }
    assert_true(woken > 5);
    assert_int_equal(log.count, 0);
    lm_world_destroy(world);
}

/* Nobody asks for anything: the device tells how fast bodies are, and they fall asleep when those of the CPU do. */
static void sleep_begins_as_on_the_cpu(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t slept[2] = {0, 0};
    for (int device = 0; device < 2; device++) {
        lines log = {0};
        lm_world *world = world_on(device ? "gpu" : NULL, 1, &log);
        lm_body_id ids[BODIES];
        fill(world, ids);
        lay_floor(world);
        uint32_t alone = 0;
        while (slept[device] < 900 && !(lmi_body_at(world, 0)->asleep && lmi_body_at(world, 1)->asleep)) {
            assert_ok(lm_world_step(world, FRAME));
            alone += device && atomic_load(&world->gpu->newer);
            slept[device]++;
        }
        assert_true(!device || alone > slept[1] / 2); /* nothing came back but speeds */
        assert_int_equal(log.count, 0);
        lm_world_destroy(world);
    }
    assert_true(slept[0] > 20 && slept[0] < 900);
    assert_near(slept[1], slept[0], 0.1 * slept[0]);
}

/* Stiff and damped bodies that answer the floor as a whole are the device's, from the fall until they lie there. */
static void stiff_bodies(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_body_id ids[BODIES];
    fill(host, ids);
    lm_material material = lm_material_default();
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 1.0f;
    material.damping = 60.0f;
    for (int n = 0; n < BODIES; n++) assert_ok(lm_body_set_material(host, ids[n], &material));
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id collider;
    floor.shape = LM_SHAPE_PLANE;
    assert_ok(lm_collider_create(host, &floor, &collider));
    copy_world(device, host);
    uint32_t mine = 0;
    for (int n = 0; n < 60; n++) {
        assert_ok(lm_world_step(device, FRAME));
        mine += lmi_gpu_goes_on(device, FRAME);
        assert_ok(lm_world_step(host, FRAME));
        if (n == 0) assert_at_most(worst_of(host, device, ids), AGREEMENT);
    }
    assert_int_equal(mine, 60);
    assert_int_equal(log.count, 0);
    assert_at_most(worst_of(host, device, ids), 0.02); /* they lie on the floor, here and there */
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* ---- a lost device ---- */

/* Whichever operation is the first to fail: one line, and the CPU goes on from a state that both have seen. */
static void check_loss(uint32_t operations, bool ask, uint32_t *lost)
{
    lines log = {0}, quiet = {0};
    lm_world *world = world_on(NULL, 2, &log), *host = world_on(NULL, 2, &quiet);
    const lmi_gpu_limits limits = {.operations = operations};
    lmi_gpu_open(world, "gpu", &limits);
    lm_body_id ids[BODIES];
    fill(world, ids);
    fill(host, ids);
    uint32_t steps = 6;
    for (uint32_t n = 0; n < steps; n++) {
        assert_ok(lm_world_step(world, FRAME));
        if (ask) lm_world_hash(world);
    }
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    *lost += world->gpu->lost;
    assert_int_equal(log.count, world->gpu->lost ? 1 : 0);
    if (world->gpu->lost) {
        assert_non_null(strstr(log.last, "it was lost"));
        assert_non_null(strstr(log.last, "the CPU steps this world"));
    }
    /* A host that is asked after every step loses nothing but the substep; one that is not goes on from the start. */
    uint32_t substeps = 0;
    const char *words = strstr(log.all, ", and ");
    if (words) assert_int_equal(sscanf(words, ", and %u substeps", &substeps), 1);
    assert_true(!ask || substeps <= 2);
    double worst = 1.0;
    for (uint32_t n = 0; n <= steps; n++) { /* the state is that of the host after some of the steps */
        worst = fmin(worst, worst_of(host, world, ids));
        assert_ok(lm_world_step(host, FRAME));
    }
    assert_at_most(worst, substeps % 2 ? 1.0 : steps * AGREEMENT);
    lm_world_destroy(world);
    lm_world_destroy(host);
}

static void lost_devices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 1; operations < 150; operations += operations < 70 ? 5 : 16)
        check_loss(operations, operations % 2, &lost);
    assert_true(lost > 12);
}

/* Goals of clusters, which stay on the device until somebody asks, with and without a part of the substep for the host. */
static void goals_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (int shared = 0; shared < 2; shared++) {
        lines log = {0}, quiet = {0};
        lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
        lm_body_id ids[BODIES];
        fill(host, ids);
        lm_body_id more = {0};
        for (int n = 0; n == 0 || lmi_body_at(host, more.slot - 1)->batch == 0; n++)
            more = add_clusters(host, SAMPLE_GRID, -20.0 - 5.0 * n, 0.4); /* until one is in the second batch */
        copy_world(device, host);
        lm_body_info info;
        assert_ok(lm_body_get_info(host, more, &info));
        lm_vec3 *goals = malloc(2 * info.particles * sizeof *goals), *others = goals + info.particles;
        assert_int_equal(lm_body_get_goals(device, more, info.centre, others), LM_ERROR_ARGUMENT);
        for (int n = 0; n < 5; n++) {
            shake(host, more, 0.05, 3 + (uint64_t)n);
            copy_world(device, host);
            device->gpu->wary = shared ? 2 : 0; /* the host does the contacts, if any */
            assert_ok(lm_world_step(host, FRAME));
            assert_ok(lm_world_step(device, FRAME));
            assert_true(device->gpu->holds);
            assert_true(device->gpu->shares == (shared != 0));
            assert_ok(lm_body_get_info(host, more, &info));
            assert_ok(lm_body_get_goals(host, more, info.centre, goals));
            assert_ok(lm_body_get_goals(device, more, info.centre, others));
            double size = info.upper.x - info.lower.x;
            for (uint32_t k = 0; k < info.particles; k++) {
                assert_at_most(fabsf(goals[k].x - others[k].x), AGREEMENT * size);
                assert_at_most(fabsf(goals[k].y - others[k].y), AGREEMENT * size);
                assert_at_most(fabsf(goals[k].z - others[k].z), AGREEMENT * size);
            }
        }
        free(goals);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_agree),
        cmocka_unit_test(forces_of_torn_bodies),
        cmocka_unit_test(flow_beside_torn_bodies),
        cmocka_unit_test(bodies_sleep),
        cmocka_unit_test(sleep_begins_as_on_the_cpu),
        cmocka_unit_test(stiff_bodies),
        cmocka_unit_test(lost_devices),
        cmocka_unit_test(goals_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
