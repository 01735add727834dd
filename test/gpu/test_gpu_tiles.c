/*
 * Tiles of lattices on an OpenCL device (gpu/layout_tiles.c): however a body is divided into them it agrees with the CPU to 1e-5 of
 * its size after a step, and what was in the device's memory before does not matter.
 */
#include "test/gpu/device.h"
#include "world/access.h"

#define LONG_CELLS 44

/* A staircase with steps of four cells: it fills a fifth of its box, and some blocks of it only at one end. With gaps one in
 * seven cells is missing, so that regions near them are irregular. */
static lm_body_id add_stairs(lm_world *world, uint32_t width, bool gaps)
{
    const uint32_t counts[3] = {LONG_CELLS, LONG_CELLS / 2, 9};
    random_state random = {3};
    uint8_t *cells = malloc((size_t)counts[0] * counts[1] * counts[2]);
    for (uint32_t n = 0; n < counts[0] * counts[1] * counts[2]; n++) {
        uint32_t x = n % counts[0], y = n / counts[0] % counts[1], start = y / 4 * 8;
        cells[n] = x >= start && x < start + 10 && !(gaps && random_below(&random, 7) == 0);
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, counts, sizeof counts);
    def.lattice.spacing = 0.1f;
    def.lattice.width = width;
    def.material.hertz = 4.0f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    free(cells);
    return id;
}

/* A frame one cell thick, the rest of whose box is empty: its tiles are smaller than the list of what they measure. */
static lm_body_id add_frame(lm_world *world)
{
    const uint32_t counts[3] = {40, 1, 40};
    uint8_t cells[40 * 40];
    for (uint32_t n = 0; n < sizeof cells; n++) {
        uint32_t x = n % 40, z = n / 40;
        cells[n] = x < 4 || x >= 36 || z < 4 || z >= 36;
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, counts, sizeof counts);
    def.lattice.spacing = 0.1f;
    def.lattice.width = 1;
    def.material.hertz = 4.0f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){0.0, 0.4, 0.0};
    def.velocity = (lm_vec3){0.3f, -1.5f, 0.2f};
    def.spin = (lm_vec3){0.3f, 1.0f, -0.2f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

/* It falls, turns and meets a floor: bounds and inertia are among what its tiles measure. */
static void thin_frame(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 1, &quiet), *device = world_on("gpu", 1, &log);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id floor_id;
    assert_ok(lm_collider_create(host, &floor, &floor_id));
    lm_body_id id = add_frame(host);
    for (int n = 0; n < 20; n++) {
        copy_world(device, host);
        for (int k = 0; k < 2; k++) {
            assert_ok(lm_world_step(host, FRAME));
            assert_ok(lm_world_step(device, FRAME));
        }
        assert_true(device->gpu->holds);
        lm_body_info here, there;
        assert_ok(lm_body_get_info(host, id, &here));
        assert_ok(lm_body_get_info(device, id, &there));
        assert_at_most(difference(host, device, id), 2 * AGREEMENT);
        lmi_world_read(device);
        const lmi_body *body = lmi_body_at(device, 0);
        assert_true(body->upper.x - body->lower.x > 3.0f); /* as the kernel measured them */
    }
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* A long bar that is held at one end: nothing takes out what all its particles get in common, and it bends easily. */
static lm_body_id add_held_bar(lm_world *world)
{
    const uint32_t counts[3] = {80, 4, 4};
    uint8_t cells[80 * 4 * 4];
    memset(cells, 1, sizeof cells);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, counts, sizeof counts);
    def.lattice.spacing = 0.1f;
    def.lattice.width = 1;
    def.material.hertz = 200.0f;
    def.material.damping_ratio = 0.002f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.rotation = (lm_quat){0.2f, 0.4f, 0.4f, 0.8f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    uint32_t *ends = malloc(info.particles * sizeof *ends);
    assert_ok(lm_body_get_rest_positions(world, id, rest));
    lm_pin_def pin = lm_pin_def_default();
    float least = rest[0].x;
    for (uint32_t n = 0; n < info.particles; n++) least = fminf(least, rest[n].x);
    for (uint32_t n = 0; n < info.particles; n++)
        if (rest[n].x < least + 0.15f) ends[pin.particle_count++] = n;
    pin.body = id;
    pin.particles = ends;
    lm_pin_id held;
    assert_ok(lm_pin_create(world, &pin, &held));
    free(rest);
    free(ends);
    return id;
}

/* The largest distance between particles that should be in the same place, as a share of the body's size. */
static double distance(lm_world *a, lm_world *b, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(a, id, &info));
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *y = x + info.particles;
    assert_ok(lm_body_get_positions(a, id, info.centre, x));
    assert_ok(lm_body_get_positions(b, id, info.centre, y));
    double worst = 0.0, size = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) {
        double dx = x[n].x - y[n].x, dy = x[n].y - y[n].y, dz = x[n].z - y[n].z;
        worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz));
        size = fmax(size, sqrt((double)x[n].x * x[n].x + (double)x[n].y * x[n].y + (double)x[n].z * x[n].z));
    }
    free(x);
    return worst / size;
}

/* Three steps, each from where the host is. */
static void check(lm_world *host, lm_world *device, lm_body_id id)
{
    for (uint64_t n = 0; n < 3; n++) {
        shake(host, id, 0.02, n + 1);
        copy_world(device, host);
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        assert_true(device->gpu->holds);
        assert_at_most(difference(host, device, id), AGREEMENT);
    }
}

static void any_tiles(void **state)
{
    (void)state;
    if (!has_device()) skip();
    static const lmi_gpu_limits limits[] = {
        {.planes = 0},
        {.tile_x = 16, .tile_y = 8, .planes = 5, .move_planes = 7},
        {.tile_x = 32, .tile_y = 4, .planes = 40},
    };
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++) {
        lines log = {0};
        lm_world *host = world_on(NULL, 1, &log), *device = world_on(NULL, 1, &log);
        lmi_gpu_open(device, "gpu", &limits[n]);
        check(host, device, add_stairs(host, 1, true));
        assert_int_equal(log.count, 0);
        lm_world_destroy(host);
        lm_world_destroy(device);
    }
}

/* A solid body leaves its regions in the memory that a body with empty lanes gets next. */
static void used_memory(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *host = world_on(NULL, 1, &log), *device = world_on("gpu", 1, &log);
    lm_body_id solid = add_lattice(device, 26, 0.0, 0.0);
    shake(device, solid, 0.02, 9);
    assert_ok(lm_world_step(device, FRAME));
    assert_true(device->gpu->holds);
    size_t had = device->gpu->regions.size;
    check(host, device, add_stairs(host, 1, false));
    assert_true(device->gpu->regions.size == had && had > 0);
    assert_int_equal(log.count, 0);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

/* Twenty substeps without gravity, of a body that has been turned about: rounding that all particles have in common would move
 * it, and add up. */
static void held_body(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world *host = world_on(NULL, 20, &log), *device = world_on("gpu", 20, &log);
    lm_body_id id = add_held_bar(host);
    for (int n = 0; n < 3; n++) {
        copy_world(device, host);
        assert_ok(lm_world_step(host, FRAME));
        assert_ok(lm_world_step(device, FRAME));
        assert_true(device->gpu->holds);
        assert_at_most(distance(host, device, id), 2e-6);
    }
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_tiles), cmocka_unit_test(used_memory),
                                       cmocka_unit_test(thin_frame), cmocka_unit_test(held_body)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
