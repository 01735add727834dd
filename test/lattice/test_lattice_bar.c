/*
 * Stiffness and width of lattices in metres: a clamped bar keeps its sag and its frequency when its spacing changes, and is
 * the bar of the books.
 *
 *   test_lattice_bar          three bars, the finest spacing of one
 *   test_lattice_bar long     the finest spacing of all
 */
#include "test/lattice/lattice_cells.h"
#include "test/reference/reference.h"

#include <math.h>

static bool is_long = false;

typedef struct bar {
    double size[3], spacing, width_metres;
    uint32_t width; /* with width_metres 0 */
    lm_mode mode;
    double hertz, gravity, slow; /* slow: about the frequency that it has */
} bar;

typedef struct bent {
    double sag, hertz;
    lm_body_info info;
} bent;

static lm_body_id make_bar(lm_world *world, const bar *b, uint32_t *tip)
{
    lm_vec3 vertices[8];
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    lattice_use_box(&def, b->size, vertices);
    def.lattice.spacing = (float)b->spacing;
    def.lattice.width = b->width ? b->width : 1;
    def.lattice.width_metres = (float)b->width_metres;
    def.material.mode = b->mode;
    def.material.hertz = (float)b->hertz;
    def.material.damping_ratio = 0.0f;
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.particles,
                     (uint32_t)((lround(b->size[0] / b->spacing) + 1) * (lround(b->size[1] / b->spacing) + 1) *
                                (lround(b->size[2] / b->spacing) + 1)));
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    uint32_t *held = calloc(info.particles, sizeof *held), count = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if ((double)rest[n].x < 1e-3 * b->spacing) held[count++] = n;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body;
    pin.particles = held;
    pin.particle_count = count;
    assert_ok(lm_pin_create(world, &pin, &id));
    *tip = info.particles - 1;
    free(rest);
    free(held);
    return body;
}

static double height_of(const lm_world *world, lm_body_id body, uint32_t particle)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    double y = state.x[particle].y;
    state_free(&state);
    return y;
}

/* Lets the bar sink in thick air until it rests, then takes gravity and air away and listens. */
static bent bend(const bar *b)
{
    const double rate = 480.0;
    lm_world *world = make_world(-b->gravity);
    uint32_t tip;
    lm_body_id body = make_bar(world, b, &tip);
    double start = height_of(world, body, tip), before = 0.0, first = -1.0, last = -1.0, crossings = -1.0;
    lm_field_def air = lm_field_def_default();
    lm_field_id field;
    air.kind = LM_FIELD_WIND;
    air.strength = (float)(12.0 * b->slow);
    assert_ok(lm_field_create(world, &air, &field));
    int steps = (int)(1.5 * rate / b->slow);
    for (int n = 0; n < steps; n++) {
        if (n == steps * 9 / 10) before = start - height_of(world, body, tip);
        assert_ok(lm_world_step(world, 1.0 / rate));
    }
    bent result = {.sag = start - height_of(world, body, tip)};
    assert_near(result.sag, before, 0.01 * result.sag); /* it rests */
    assert_ok(lm_field_destroy(world, field));
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    double e = -result.sag;
    for (int n = 1; n < (int)(1.7 * rate / b->slow); n++) {
        assert_ok(lm_world_step(world, 1.0 / rate));
        double now = height_of(world, body, tip) - start;
        if ((now < 0.0) != (e < 0.0)) {
            last = n - 1 + e / (e - now);
            first = first < 0.0 ? last : first;
            crossings += 1.0;
        }
        e = now;
    }
    assert_true(crossings >= 2.0);
    result.hertz = 0.5 * crossings / (last - first) * rate;
    result.info = info_of(world, body);
    lm_world_destroy(world);
    return result;
}

/* The same material at spacings of 1, 1/2 and 1/3 of a quarter of the bar's thickness; the last, which takes longest, of one
 * bar only in a short run. */
static void a_bar_keeps_its_sag_and_frequency(void **context)
{
    (void)context;
    static const bar bars[] = {
        {{1.0, 0.2, 0.2}, 0.05, 0.1, 0, LM_MODE_RIGID, 40.0, 0.5, 0.6},
        {{1.0, 0.2, 0.2}, 0.05, 0.05, 0, LM_MODE_LINEAR, 60.0, 0.3, 0.33},
        {{0.8, 0.2, 0.4}, 0.05, 0.1, 0, LM_MODE_LINEAR, 40.0, 0.8, 0.9},
    };
    for (int k = 0; k < 3; k++) {
        bent at[3];
        int count = is_long || k == 0 ? 3 : 2;
        for (int n = 0; n < count; n++) {
            bar b = bars[k];
            b.spacing /= n + 1;
            at[n] = bend(&b);
            print_message("bar %d, spacing %.4f, width %u: sag %.4f, %.4f Hz\n", k, b.spacing, at[n].info.width,
                          at[n].sag, at[n].hertz);
            assert_false(at[n].info.stiffness_limited);
            assert_near(at[n].info.reached_hertz, b.hertz, 0.01 * b.hertz);
            assert_near(at[n].info.spacing, b.spacing, 1e-6);
            assert_int_equal(at[n].info.width, (uint32_t)lround(b.width_metres / b.spacing));
        }
        for (int n = 0; n < count; n++) {
            assert_near(at[n].sag / at[(n + 1) % count].sag, 1.0, 0.15);
            assert_near(at[n].hertz / at[(n + 1) % count].hertz, 1.0, 0.15);
        }
        /* And it is the bar of the books (Euler and Bernoulli) with c as the header says. The pinned end holds its regions,
         * which makes the bar shorter by their width, and a region resists being bent itself. */
        const bar *b = &bars[k];
        double c = 6.283185307179586 * b->hertz * b->width_metres / sqrt(3.0), length = b->size[0] - b->width_metres;
        double softer = b->mode == LM_MODE_LINEAR ? sqrt(2.0 / 3.0) : 1.0; /* uniaxial strain, beta 0.5 */
        double ideal = 0.5596 * c * softer * b->size[1] / sqrt(12.0) / (length * length);
        double thin = b->width_metres / b->size[1];
        ideal *= sqrt(1.0 + 0.8 * thin * thin);
        print_message("bar %d: of the books %.4f Hz\n", k, ideal);
        assert_near(at[count - 1].hertz / ideal, 1.0, 0.12);
    }
}

/* With the width in steps a finer lattice is another material: that is what width_metres is for. */
static void a_width_in_steps_is_another_material(void **context)
{
    (void)context;
    bar b = {{1.0, 0.2, 0.2}, 0.05, 0.0, 2, LM_MODE_RIGID, 40.0, 0.1, 0.8};
    bent coarse = bend(&b);
    b.spacing /= 2.0, b.slow = 0.3;
    bent fine = bend(&b);
    assert_true(fine.hertz < 0.6 * coarse.hertz);
    assert_true(fine.sag > 2.0 * coarse.sag);
}

/* Wider than eight steps, the pull has to do it, and it ends at alpha = 1: that is reported. */
static void what_cannot_be_reached_is_reported(void **context)
{
    (void)context;
    bar b = {{0.4, 0.2, 0.2}, 0.05, 0.05, 0, LM_MODE_RIGID, 8.0, 1.0, 1.0};
    for (int n = 0; n < 3; n++) {
        lm_world *world = make_world(0.0);
        uint32_t tip;
        b.width_metres = n == 0 ? 0.05 : n == 1 ? 0.5 : 50.0;
        lm_body_id body = make_bar(world, &b, &tip);
        assert_ok(lm_world_step(world, FRAME));
        lm_body_info info = info_of(world, body);
        assert_int_equal(info.width, n == 0 ? 1 : 8);
        /* 8 Hz of an ideal region are 5.7 and 9.4 Hz of these; alpha 1 is 60/(2 pi) Hz. */
        assert_true(info.stiffness_limited == (n == 2));
        if (n < 2) assert_near(info.reached_hertz, 8.0, 0.01);
        if (n == 2) assert_near(info.reached_hertz, 9.5493 * 0.05 * sqrt(72.0) / 50.0, 1e-3);
        lm_world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_keeps_its_sag_and_frequency),
        cmocka_unit_test(a_width_in_steps_is_another_material),
        cmocka_unit_test(what_cannot_be_reached_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
