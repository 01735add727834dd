/*
 * Tiles of lattices on an OpenCL device (gpu/layout_tiles.c): however a body is divided into them it agrees with the CPU to 1e-5 of
 * its size after a step, and what was in the device's memory before does not matter.
 */
#include "test/gpu/device.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_tiles), cmocka_unit_test(used_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
