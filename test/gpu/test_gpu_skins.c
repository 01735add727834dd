/*
 * Skins on an OpenCL device, of every way of sampling a body: vertices and normals are the CPU's; only what is asked for comes
 * back; picks, sums and single bodies without the rest of the world; a device that fails at skins, or altogether.
 */
#include "test/gpu/skinned.h"

#include "gpu/look.h"
#include "gpu/skins.h"

#include <pthread.h>

static lm_world *device_world(lm_body_id ids[BODIES], lines *log)
{
    lm_world *world = world_on("gpu", 2, log);
    fill_skinned(world, ids);
    for (int n = 0; n < 3; n++) assert_ok(lm_world_step(world, FRAME));
    assert_true(lmi_gpu_goes_on(world, FRAME / 2));
    return world;
}

static double size_of(const lm_world *world, lm_body_id id) { return lmi_body_at(world, id.slot - 1)->rest_size; }

/* ---- vertices and normals ---- */

/* The same particles give the same surface on the device and here, and host and device, each by itself, agree. */
static void skins_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_body_id ids[BODIES];
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    fill_skinned(host, ids);
    for (int snapshot = 0; snapshot < 2; snapshot++) {
        copy_world(device, host);
        for (int step = 1; step <= 3; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_ok(lm_world_step(host, FRAME));
            skin_taken made[BODIES], here, other;
            for (int n = 0; n < BARE; n++) {
                const lm_dvec3 base = {17.0 * n, 0.3, -0.2};
                assert_true(device->gpu->newer);
                take_skin(device, ids[n], base, &made[n]);
            }
            assert_true(device->gpu->newer); /* no state came back for it */
            lm_world_hash(device);
            assert_false(device->gpu->newer);
            for (int n = 0; n < BARE; n++) {
                const lm_dvec3 base = {17.0 * n, 0.3, -0.2};
                take_skin(device, ids[n], base, &here);
                take_skin(host, ids[n], base, &other);
                double normals[2] = {0.0, 0.0}, size = size_of(host, ids[n]);
                double same = apart(&made[n], &here, &normals[0]) / size;
                double near = apart(&made[n], &other, &normals[1]) / size;
                if (getenv("LIMBER_TEST_VERBOSE"))
                    print_message("%d step %d: %g %g, host %g %g\n", n, step, same, normals[0], near, normals[1]);
                /* Coordinates of a kilometre have 1e-4 of a metre; the host adds maps of leaves in single precision. */
                assert_at_most(same, n == TWIN ? 1e-4 : 1e-6);
                assert_at_most(normals[0], n == TREE || n == TREE_TOO ? 1e-5 : 1e-6);
                assert_at_most(near, n == TWIN ? 1e-3 : step * AGREEMENT);
                assert_at_most(normals[1], n == STRIP ? 1e-3 : step * 10.0 * AGREEMENT);
            }
        }
        for (int n = 0; n < 5; n++) assert_ok(lm_world_step(host, FRAME));
    }
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Bodies of one shape have one table, and another world gives the same bits. */
static void skins_are_the_same(void **state)
{
    (void)state;
    if (!has_device()) skip();
    skin_taken made[2][BODIES];
    for (int k = 0; k < 2; k++) {
        lines log = {0};
        lm_body_id ids[BODIES];
        lm_world *world = device_world(ids, &log);
        for (int n = 0; n < BARE; n++) { /* in another order */
            int m = k ? BARE - 1 - n : n;
            take_skin(world, ids[m], lm_dvec3_zero(), &made[k][m]);
        }
        assert_int_equal(world->gpu->skins->count, BARE);
        assert_int_equal(world->gpu->skins->shape_count, BARE - 1); /* CELLS and TWIN have one */
        assert_int_equal(log.count, 0);
        lm_world_destroy(world);
    }
    assert_memory_equal(made[0], made[1], BARE * sizeof made[0][0]);
}

/* A new material, a new skin, a body less and one more: what the device knows of skins follows. */
static void skins_follow_changes(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    skin_taken made, here;
    for (int change = 0; change < 5; change++) {
        take_skin(world, ids[CLOUD], lm_dvec3_zero(), &made);
        if (change == 0) set_mode(world, ids[REGIONS], LM_MODE_LINEAR);
        if (change == 1) add_skin(world, ids[CELLS], LM_SKIN_PARTICLES, 0.4);
        if (change == 2) add_skin(world, ids[CLOUD], LM_SKIN_REGIONS, 0.6);
        if (change == 3) assert_ok(lm_body_destroy(world, ids[TWIN]));
        if (change == 4) {
            ids[TWIN] = add_lattice(world, 4, 33.0, 1.0);
            add_skin(world, ids[TWIN], LM_SKIN_PARTICLES, 0.5);
        }
        for (int n = 0; n < 2; n++) {
            assert_ok(lm_world_step(world, FRAME));
            assert_true(world->gpu->newer);
            skin_taken all[BODIES];
            for (int b = 0; b < BARE; b++)
                if (b != TWIN || change != 3) take_skin(world, ids[b], lm_dvec3_zero(), &all[b]);
            assert_true(world->gpu->newer);
            lm_world_hash(world);
            for (int b = 0; b < BARE; b++) {
                if (b == TWIN && change == 3) continue;
                double normals = 0.0;
                take_skin(world, ids[b], lm_dvec3_zero(), &here);
                assert_at_most(apart(&all[b], &here, &normals), b == TWIN ? 2e-4 : 2e-5);
                assert_at_most(normals, b == TREE || b == TREE_TOO ? 1e-5 : 1e-6);
            }
        }
    }
    assert_int_equal(log.count, 0);
    lm_world_destroy(world);
}

/* ---- what comes back ---- */

#define SKIN_BYTES (BALL_VERTICES * sizeof(lm_vec3))
#define ORIGIN_BYTES (3 * sizeof(double))

static void only_skins_come_back(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    lmi_gpu *gpu = world->gpu;
    skin_taken made;
    uint64_t before = gpu->read_bytes;
    assert_ok(lm_body_get_skin(world, ids[TETS], lm_dvec3_zero(), made.positions, NULL));
    assert_int_equal(gpu->read_bytes - before, SKIN_BYTES + ORIGIN_BYTES);
    assert_ok(lm_body_get_skin(world, ids[TETS], lm_dvec3_zero(), made.positions, NULL)); /* it is here already */
    assert_int_equal(gpu->read_bytes - before, SKIN_BYTES + ORIGIN_BYTES);
    assert_ok(lm_body_get_skin(world, ids[TETS], lm_dvec3_zero(), NULL, made.normals));
    assert_int_equal(gpu->read_bytes - before, 2 * SKIN_BYTES + ORIGIN_BYTES);
    assert_ok(lm_world_step(world, FRAME));
    before = gpu->read_bytes;
    for (int n = 0; n < BARE; n++) take_skin(world, ids[n], lm_dvec3_zero(), &made);
    assert_int_equal(gpu->read_bytes - before, BARE * (2 * SKIN_BYTES + ORIGIN_BYTES)); /* each once */
    assert_true(gpu->newer);
    /* What does not depend on the state brings nothing back. */
    uint32_t triangles[3 * BALL_TRIANGLES];
    lm_material material;
    before = gpu->read_bytes;
    assert_ok(lm_body_get_skin_triangles(world, ids[CELLS], triangles));
    assert_ok(lm_body_get_skin_rest(world, ids[CELLS], made.positions));
    assert_ok(lm_body_get_material(world, ids[CELLS], &material));
    assert_int_equal(gpu->read_bytes, before);
    lm_world_destroy(world);
}

/* One body, sums and picks without the rest of the world; the same as with it. */
static void looks(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    lmi_gpu *gpu = world->gpu;
    const uint64_t all = gpu->particles * 32;
    lm_vec3 x[2][512];
    lm_body_info info[2];
    lm_totals totals[2];
    lm_stats stats[2];
    lm_ray_hit hit[2][BODIES];
    lm_dvec3 centre[BODIES];
    memset(hit, 0, sizeof hit);
    for (int n = 0; n < BODIES; n++) {
        lm_world_hash(world);
        assert_ok(lm_body_get_info(world, ids[n], &info[0]));
        centre[n] = info[0].centre;
        centre[n].x += 0.03;
    }
    assert_ok(lm_body_get_positions(world, ids[BARE], lm_dvec3_zero(), x[0])); /* a particle, for it has no skin */
    centre[BARE] = (lm_dvec3){x[0][0].x, x[0][0].y, x[0][0].z};
    assert_ok(lm_world_step(world, FRAME / 100.0));
    for (int k = 0; k < 2; k++) { /* without the state, and with it */
        uint64_t before = gpu->read_bytes;
        assert_int_equal(gpu->newer, k == 0);
        assert_ok(lm_body_get_info(world, ids[TREE], &info[k]));
        assert_true(info[k].particles <= 512);
        assert_ok(lm_body_get_positions(world, ids[TREE], lm_dvec3_zero(), x[k]));
        lm_world_get_totals(world, &totals[k]);
        lm_world_get_stats(world, &stats[k]);
        assert_true(k || (gpu->read_bytes > before && gpu->read_bytes - before < all / 3));
        assert_int_equal(gpu->newer, k == 0);
        lm_world_hash(world);
    }
    for (int n = 0; n < 2 * BODIES; n++) {
        const lm_dvec3 at = centre[n / 2], from = {at.x, at.y + 3.0, at.z - 2.0};
        lm_ray_hit *to = &hit[n % 2][n / 2];
        if (n % 2 == 0) assert_ok(lm_world_step(world, 1e-7));
        if (n % 2 == 1) lm_world_hash(world);
        uint64_t before = gpu->read_bytes;
        assert_true(lm_world_cast_ray(world, &(lm_ray){from, {0.0f, -3.0f, 2.0f}, 100.0f, UINT32_MAX, 0}, to));
        assert_int_equal(to->body.slot, ids[n / 2].slot);
        assert_int_equal(gpu->newer, n % 2 == 0);
        assert_true(n % 2 || (gpu->read_bytes > before && gpu->read_bytes - before < all / 3));
    }
    assert_int_equal(info[0].contacts, info[1].contacts);
    assert_near(info[0].centre.x, info[1].centre.x, 1e-7);
    assert_near(info[0].centre.z, info[1].centre.z, 1e-7);
    assert_near(info[0].velocity.y, info[1].velocity.y, 1e-6);
    assert_near(info[0].spin.x, info[1].spin.x, 1e-5);
    assert_near(info[0].spin.y, info[1].spin.y, 1e-5);
    assert_near(info[0].angular_momentum.z, info[1].angular_momentum.z, 1e-6);
    assert_near(info[0].kinetic_energy, info[1].kinetic_energy, 1e-6 * info[1].kinetic_energy);
    assert_near(info[0].max_speed, info[1].max_speed, 1e-6);
    assert_near(info[0].lower.x, info[1].lower.x, 1e-12);
    assert_near(info[0].upper.y, info[1].upper.y, 1e-12);
    assert_memory_equal(x[0], x[1], info[0].particles * sizeof *x[0]);
    assert_near(totals[0].kinetic_energy, totals[1].kinetic_energy, 1e-6 * totals[1].kinetic_energy);
    assert_near(totals[0].momentum.y, totals[1].momentum.y, 1e-6 * totals[1].momentum_scale);
    assert_near(totals[0].momentum_scale, totals[1].momentum_scale, 1e-6 * totals[1].momentum_scale);
    assert_near(totals[0].max_speed, totals[1].max_speed, 1e-6 * totals[1].max_speed);
    assert_true(totals[0].finite && totals[1].finite);
    assert_near(stats[0].outside_impulse.y, stats[1].outside_impulse.y, 1e-6 * fabs(stats[1].outside_impulse.y));
    assert_int_equal(stats[0].contacts, stats[1].contacts);
    for (int n = 0; n < BODIES; n++) {
        assert_near(hit[0][n].distance, hit[1][n].distance, 1e-5);
        assert_int_equal(hit[0][n].particle, hit[1][n].particle);
    }
    assert_int_equal(log.count, 0);
    lm_world_destroy(world);
}

/* Whoever asks for body after body gets everything at once. */
static void many_looks_bring_all(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    static lm_vec3 x[4096];
    for (int n = 0; n < LMI_GPU_LOOKS; n++) {
        assert_ok(lm_body_get_velocities(world, ids[n], x));
        assert_true(world->gpu->newer);
    }
    assert_ok(lm_body_get_velocities(world, ids[BARE], x));
    assert_false(world->gpu->newer);
    lm_world_destroy(world);
}

/* Several threads that ask at once get what one of them gets. */
typedef struct asker {
    const lm_world *world;
    const lm_body_id *ids;
    int first;
    skin_taken made[BARE];
    lm_body_info info[BARE];
    lm_result result;
} asker;

static void *ask_all(void *from)
{
    asker *a = from;
    for (int k = 0; k < BARE; k++) {
        int n = (a->first + k) % BARE;
        skin_taken *to = &a->made[n];
        lm_result result = lm_body_get_skin(a->world, a->ids[n], lm_dvec3_zero(), to->positions, to->normals);
        result = result ? result : lm_body_get_info(a->world, a->ids[n], &a->info[n]);
        a->result = result ? result : a->result;
    }
    return NULL;
}

static void threads_ask(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    static asker askers[4];
    pthread_t threads[4];
    for (int round = 0; round < 3; round++) {
        assert_ok(lm_world_step(world, FRAME));
        for (int n = 0; n < 4; n++) {
            askers[n] = (asker){.world = world, .ids = ids, .first = 2 * n};
            assert_int_equal(pthread_create(&threads[n], NULL, ask_all, &askers[n]), 0);
        }
        for (int n = 0; n < 4; n++) assert_int_equal(pthread_join(threads[n], NULL), 0);
        for (int n = 0; n < 4; n++) {
            assert_ok(askers[n].result);
            assert_memory_equal(askers[n].made, askers[0].made, sizeof askers[0].made);
            assert_memory_equal(askers[n].info, askers[0].info, sizeof askers[0].info);
        }
    }
    assert_int_equal(log.count, 0);
    lm_world_destroy(world);
}

/* ---- failures ---- */

/* Whichever operation is the first to fail while skins are asked for: one line, and a surface that belongs to a state. */
static void check_loss(uint32_t operations, uint32_t *lost)
{
    lines log = {0}, quiet = {0};
    lm_world *world = world_on(NULL, 1, &log), *host = world_on(NULL, 1, &quiet);
    const lmi_gpu_limits limits = {.operations = operations};
    lmi_gpu_open(world, "gpu", &limits);
    lm_body_id ids[BODIES];
    fill_skinned(world, ids);
    fill_skinned(host, ids);
    skin_taken made[BODIES], other;
    for (uint32_t n = 0; n < 3; n++) {
        assert_ok(lm_world_step(world, FRAME));
        for (int b = 0; b < BARE; b++) take_skin(world, ids[b], lm_dvec3_zero(), &made[b]);
    }
    bool before;
    do { /* until it is lost between two of these, or not at all */
        before = world->gpu->lost;
        for (int b = 0; b < BARE; b++) take_skin(world, ids[b], lm_dvec3_zero(), &made[b]);
    } while (world->gpu->lost != before);
    *lost += world->gpu->lost;
    assert_int_equal(log.count, world->gpu->lost ? 1 : 0);
    /* These are those of the host after some of the steps, all of them after as many. */
    double best = 1.0;
    for (int n = 0; n <= 3; n++) {
        double worst = 0.0, normals = 0.0;
        for (int b = 0; b < BARE; b++) {
            if (b == TWIN) continue;
            take_skin(host, ids[b], lm_dvec3_zero(), &other);
            worst = fmax(worst, apart(&made[b], &other, &normals));
        }
        best = fmin(best, worst);
        assert_ok(lm_world_step(host, FRAME));
    }
    assert_at_most(best, 1e-4);
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    assert_ok(lm_world_step(world, FRAME));
    lm_world_destroy(world);
    lm_world_destroy(host);
}

static void lost_devices(void **state)
{
    (void)state;
    if (!has_device()) skip();
    uint32_t lost = 0;
    for (uint32_t operations = 60; operations < 260; operations += 13) check_loss(operations, &lost);
    assert_true(lost > 8);
}

/* No memory for skins: the CPU makes them, one line says so, and the device steps on. */
static void no_memory_for_skins(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = device_world(ids, &log);
    world->gpu->limits.memory = world->gpu->used + 1000;
    skin_taken made, here;
    take_skin(world, ids[REGIONS], lm_dvec3_zero(), &made);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "skins: out of device memory; the CPU makes them"));
    assert_false(world->gpu->lost);
    take_skin(world, ids[REGIONS], lm_dvec3_zero(), &here);
    assert_memory_equal(&made, &here, sizeof made);
    assert_ok(lm_world_step(world, FRAME));
    assert_true(world->gpu->newer); /* it was the device */
    take_skin(world, ids[REGIONS], lm_dvec3_zero(), &here);
    assert_int_equal(log.count, 1);
    double normals = 0.0;
    assert_true(apart(&made, &here, &normals) > 1e-4);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_agree),
        cmocka_unit_test(skins_are_the_same),
        cmocka_unit_test(skins_follow_changes),
        cmocka_unit_test(only_skins_come_back),
        cmocka_unit_test(looks),
        cmocka_unit_test(many_looks_bring_all),
        cmocka_unit_test(threads_ask),
        cmocka_unit_test(lost_devices),
        cmocka_unit_test(no_memory_for_skins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
