/*
 * What physics forbids to change, for lattices: momentum, spin, energy's bound, and the choice of the time step. The same
 * for clusters is in test_momentum.c.
 *
 * Everything is measured from the particles in double precision, never taken from the library's own statistics.
 *
 *   test_lattice_momentum          follows the energy for 20,000 steps
 *   test_lattice_momentum long     for 100,000
 */
#include "test/reference/reference.h"
#include "test/support/ringing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925
#define SPACING 0.1

typedef enum shape { SHAPE_SOLID, SHAPE_SHELL, SHAPE_COMB, SHAPE_PARTS, SHAPE_COUNT } shape;

static const char *const shape_names[] = {"solid", "shell", "comb", "two parts"};

static int energy_steps = 20000;

static bool in_shape(shape kind, const uint32_t n[3], uint32_t x, uint32_t y, uint32_t z)
{
    switch (kind) {
    case SHAPE_SHELL: return x == 0 || y == 0 || z == 0 || x + 1 == n[0] || y + 1 == n[1] || z + 1 == n[2];
    case SHAPE_COMB: return y % 2 == 0 || x < 2;
    case SHAPE_PARTS: return x < 3 || x > 4;
    default: return true;
    }
}

/* A lattice body of nx x ny x nz cells of a decimetre; the definition points into *cells. */
static lm_body_def lattice_of(shape kind, uint32_t nx, uint32_t ny, uint32_t nz, uint32_t width, uint8_t **cells)
{
    const uint32_t n[3] = {nx, ny, nz};
    *cells = calloc((size_t)nx * ny * nz, 1);
    for (uint32_t i = 0; i < nx * ny * nz; i++) (*cells)[i] = in_shape(kind, n, i % nx, i / nx % ny, i / nx / ny);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = *cells;
    memcpy(def.lattice.counts, n, sizeof n);
    def.lattice.spacing = (float)SPACING;
    def.lattice.first =
        (lm_vec3){(float)(-0.5 * SPACING * nx), (float)(-0.5 * SPACING * ny), (float)(-0.5 * SPACING * nz)};
    def.lattice.width = width;
    def.mass = 2.0f;
    return def;
}

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int run = 0; run < SHAPE_COUNT * 3 * 2 * 2; run++) {
        shape kind = (shape)(run % SHAPE_COUNT);
        uint32_t width = 1 + (uint32_t)(run / SHAPE_COUNT % 3);
        lm_mode mode = run / SHAPE_COUNT / 3 % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        bool damped = run / SHAPE_COUNT / 6 != 0, shares = run % 5 == 0;
        random_state random = {(uint64_t)(900 + run)};
        uint8_t *cells;
        lm_body_def def = lattice_of(kind, 9, 6, 5, width, &cells);
        def.material.mode = mode;
        def.material.hertz = 5.0f;
        def.material.beta = 0.8f;
        def.material.damping_ratio = damped ? 0.2f : 0.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        if (shares) { /* a soft end and a hard one */
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            float *values = calloc(info.particles, sizeof *values);
            for (uint32_t i = 0; i < info.particles; i++) values[i] = 0.2f + 0.8f * (float)i / (float)info.particles;
            assert_ok(lm_body_set_particle_stiffness(world, body, values));
            free(values);
        }
        /* Parts that are not connected fly apart when the whole spins. */
        excite(world, body, &random, 0.02, 0.3, kind == SHAPE_PARTS ? 0.3 : 3.0);
        motion start = motion_read(world, body, body_centre(world, body));
        double linear = 0.0, angular = 0.0;
        for (int step = 1; step <= 1000; step++) {
            assert_ok(lm_world_step(world, FRAME));
            if (step % 100 != 0) continue;
            motion now = motion_read(world, body, body_centre(world, body));
            assert_true(now.finite);
            linear = fmax(linear, ref_length(ref_sub(now.momentum, start.momentum)) / start.momentum_scale);
            angular = fmax(angular, ref_length(ref_sub(now.angular, start.angular)) / ref_length(start.angular));
        }
        if (!(linear < 1e-4) || !(angular < 1e-4))
            print_error("%s, width %u, mode %d, %s: momentum drifts by %.3g, spin by %.3g\n", shape_names[kind], width,
                        (int)mode, damped ? "damped" : "free", linear, angular);
        worst_linear = fmax(worst_linear, linear);
        worst_angular = fmax(worst_angular, angular);
        lm_world_destroy(world);
        free(cells);
    }
    print_message("momentum drifts by at most %.3g, spin by %.3g\n", worst_linear, worst_angular);
    assert_at_most(worst_linear, 1e-4);
    assert_at_most(worst_angular, 1e-4);
}

/* From the rest shape there is kinetic energy only, and never more; see test_momentum.c for the factor. */
static void energy_stays_bounded(void **context)
{
    (void)context;
    static const struct {
        shape kind;
        uint32_t n[3], width;
    } bodies[] = {{SHAPE_SOLID, {2, 2, 2}, 1}, {SHAPE_SOLID, {7, 2, 2}, 2}, {SHAPE_COMB, {5, 3, 2}, 1}};
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < 2; mode++)
            for (int stiff = 0; stiff < 2; stiff++) {
                random_state random = {(uint64_t)(70 + k * 10 + mode)};
                uint8_t *cells;
                const uint32_t *n = bodies[k].n;
                lm_body_def def = lattice_of(bodies[k].kind, n[0], n[1], n[2], bodies[k].width, &cells);
                def.material.mode = mode ? LM_MODE_LINEAR : LM_MODE_RIGID;
                def.material.hertz = stiff ? 1000.0f : 6.0f;
                def.material.damping_ratio = 0.0f;
                def.material.beta = 0.8f;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &def);
                excite(world, body, &random, 0.0, 0.2, 3.0);
                double start = motion_read(world, body, lm_dvec3_zero()).kinetic, largest = 0.0;
                for (int step = 0; step < energy_steps; step++) {
                    assert_ok(lm_world_step(world, FRAME));
                    if (step % 100 != 0) continue;
                    lm_body_info info;
                    assert_ok(lm_body_get_info(world, body, &info));
                    if (!((double)info.kinetic_energy <= largest)) largest = (double)info.kinetic_energy;
                }
                if (!(largest <= 3.0 * start))
                    print_error("body %d, mode %d, %s: %.3g times the energy of the start\n", k, mode,
                                stiff ? "stiff" : "soft", largest / start);
                assert_at_most(largest, 3.0 * start);
                lm_world_destroy(world);
                free(cells);
            }
}

/* ---- frequency and decay ---- */

/* Stretches a bar the way its slowest stretch does, and listens to how much of that there is; its ends are free. */
static ringing listen(uint32_t width, double hertz, double damping_ratio, double h, double seconds)
{
    enum { CELLS = 10 };
    uint8_t *cells;
    lm_body_def def = lattice_of(SHAPE_SOLID, CELLS, 2, 2, width, &cells);
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = (float)hertz;
    def.material.damping_ratio = (float)damping_ratio;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    body_state rest = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(rest.count, sizeof *x);
    uint32_t steps = (uint32_t)(seconds / h) + 4;
    double *e = calloc(steps, sizeof *e), norm = 0.0;
    for (uint32_t i = 0; i < rest.count; i++) {
        double wave = sin(0.5 * TWO_PI * rest.x[i].x / (CELLS * SPACING));
        x[i] = to_float(ref_add(rest.x[i], ref_v(0.005 * wave, 0.0, 0.0)));
        norm += rest.mass[i] * wave * wave;
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    for (uint32_t n = 0; n < steps; n++) {
        assert_ok(lm_world_step(world, h));
        body_state now = state_read(world, body, lm_dvec3_zero());
        for (uint32_t i = 0; i < rest.count; i++)
            e[n] +=
                rest.mass[i] * sin(0.5 * TWO_PI * rest.x[i].x / (CELLS * SPACING)) * (now.x[i].x - rest.x[i].x) / norm;
        state_free(&now);
    }
    ringing result = ringing_of(world, body, e, steps, h);
    free(e);
    free(x);
    free(cells);
    state_free(&rest);
    lm_world_destroy(world);
    return result;
}

static void frequency_and_decay_do_not_depend_on_the_step(void **context)
{
    (void)context;
    static const double rates[] = {30.0, 45.0, 60.0, 120.0, 240.0, 480.0};
    for (uint32_t width = 1; width <= 3; width++)
        for (int damped = 0; damped < 2; damped++) {
            double hertz = 4.0, ratio = damped ? 0.03 : 0.0, decay = ratio * TWO_PI * hertz;
            double seconds = damped ? 3.0 / decay : 12.0;
            ringing fine = listen(width, hertz, ratio, 1.0 / 1920.0, seconds);
            /* c = 2 pi hertz spacing sqrt(w (w + 1) / 3), as the header says, and half a wave along the bar; less for
             * regions that are cut off at its ends. */
            double c = TWO_PI * hertz * SPACING * sqrt(width * (width + 1) / 3.0);
            double ideal = 0.5 * c / (10 * SPACING);
            print_message("width %u, damping ratio %g: %.4g Hz (rod %.4g), decay %.3g 1/s\n", width, ratio, fine.hertz,
                          ideal, fine.decay);
            assert_near(fine.hertz, ideal, 0.15 * ideal);
            for (int r = 0; r < 6; r++) {
                ringing heard = listen(width, hertz, ratio, 1.0 / rates[r], seconds);
                assert_false(heard.limited);
                assert_near(heard.hertz, fine.hertz, 0.05 * fine.hertz);
                assert_near(heard.decay, decay, 0.1 * decay + 0.01);
            }
        }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "long") == 0) energy_steps = 100000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(energy_stays_bounded),
        cmocka_unit_test(frequency_and_decay_do_not_depend_on_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
