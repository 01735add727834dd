/*
 * Where a body comes to rest does not depend on the step nor on the damping: a hanging bar of the material "so many hertz" has
 * Young's modulus rho omega² <x²> at every substep and damping ratio, on every sampling.
 */
#include "test/gpu/device.h"
#include "test/support/hanging.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925

static bool is_long = false;

static hanging_bar bar_of(bar_kind kind, uint32_t width, double hertz)
{
    hanging_bar b = {.kind = kind, .spacing = 0.02, .cells = {6, 24, 6}, .width = width, .substeps = 1};
    double square = b.spacing * b.spacing * width * (width + 1) / 3.0; /* <x²> of a cube of particles */
    b.material = lm_material_default();
    b.material.mode = LM_MODE_RIGID;
    b.material.stiffness = LM_STIFFNESS_HERTZ;
    b.material.hertz = (float)hertz;
    b.speed = TWO_PI * hertz * sqrt(square);
    return b;
}

static void rest_does_not_depend_on_the_step(void **context)
{
    (void)context;
    static const double ratios[] = {0.0, 0.15, 1.0};
    static const uint32_t substeps[] = {1, 4, 16};
    for (int kind = BAR_LATTICE; kind <= BAR_TETS; kind++) {
        double first = 0.0;
        for (int z = 0; z < 3; z++)
            for (int n = 0; n < (is_long ? 3 : 2); n++) {
                hanging_bar b = bar_of((bar_kind)kind, 2, 5.0);
                b.material.damping_ratio = (float)ratios[z];
                b.substeps = substeps[n];
                double omega = TWO_PI * (double)b.material.hertz, slow = TWO_PI * b.speed / (4.0 * 24 * b.spacing);
                b.wait = ratios[z] > 0.5 ? 12.0 * omega / (slow * slow) : 0.0;
                hanging_result r = hanging_measure(&b);
                double share = r.modulus / (b.speed * b.speed);
                print_message("kind %d, ratio %.2f, %2u substeps: E %.3f of rho omega² <x²>, nu %.3f\n", kind,
                              ratios[z], substeps[n], share, r.poisson);
                assert_false(r.info.stiffness_limited);
                if (first == 0.0) first = share;
                assert_near(share, first, 0.02 * first);
                if (kind == BAR_LATTICE) assert_near(share, 1.0, 0.03);
            }
    }
}

/* The same bars on a device rest where they do here. */
static void it_is_the_same_on_a_device(void **context)
{
    (void)context;
    if (!has_device()) return;
    for (int kind = BAR_LATTICE; kind <= BAR_TETS; kind++) {
        hanging_bar b = bar_of((bar_kind)kind, 2, 5.0);
        b.material.damping_ratio = 0.15f;
        double here = hanging_measure(&b).modulus / (b.speed * b.speed);
        for (b.substeps = 1; b.substeps <= 4; b.substeps += 3) {
            b.device = "gpu";
            hanging_result r = hanging_measure(&b);
            double share = r.modulus / (b.speed * b.speed);
            print_message("kind %d, %u substeps, on a device: E %.4f of rho omega² <x²>, here %.4f\n", kind, b.substeps,
                          share, here);
            assert_near(share, here, 0.02 * here);
        }
    }
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(rest_does_not_depend_on_the_step),
                                       cmocka_unit_test(it_is_the_same_on_a_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
