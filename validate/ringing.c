/*
 * Free bars that ring after a kick in the shape of a mode: waves along a rod, twisting, bending. No damping, no gravity.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>

typedef struct kind_case {
    sampling kind;
    uint32_t width;
} kind_case;

static const kind_case kinds[] = {{LATTICE, 1}, {LATTICE, 2}, {LATTICE, 4}, {OCTREE, 1}, {OCTREE, 2}, {TETS, 1}};
#define KIND_COUNT 6

static specimen rod(const kind_case *k, uint32_t thick, uint32_t along, double poisson)
{
    specimen s = {.kind = k->kind,
                  .spacing = 0.02,
                  .thick = thick,
                  .along = along,
                  .width = k->width,
                  .poisson = poisson,
                  .substep = 1.0 / 240.0};
    s.speed = specimen_speed(&s);
    return s;
}

/* Kicks by a strain of about 0.2 %. */
static bool measure(report *r, specimen s, specimen_shape *shape, double scale,
                    double (*expect)(const specimen *s, double scale), double *ratio)
{
    trial t;
    double hertz = 0.0;
    bool ok = trial_open_reachable(r, &s, NULL, &t) && trial_ring(r, &s, &t, shape, scale, expect(&s, scale), &hertz);
    *ratio = hertz / expect(&s, scale);
    trial_close(&t);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Waves along a rod: mode `number` has the wavelength 2 L / number
 */

static lm_vec3 wave_shape(const specimen *s, const trial *t, lm_vec3 rest, double number)
{
    (void)t;
    double q = number * SPECIMEN_PI / (s->along * s->spacing);
    return (lm_vec3){0.0f, (float)(0.002 * s->speed * cos(q * (double)rest.y)), 0.0f};
}

/* With Rayleigh's correction for what moves across. */
static double wave_hertz(const specimen *s, double number)
{
    double l = s->along * s->spacing, a = s->thick * s->spacing, q = number * SPECIMEN_PI / l;
    return number * s->speed / (2.0 * l) / sqrt(1.0 + s->poisson * s->poisson * q * q * a * a / 6.0);
}

bool study_wave(report *r)
{
    report_study(r, "wave", "Speed of a wave in a rod",
                 "A free rod of 4 x 48 cells rings along itself in its first modes. The speed of the wave should be "
                 "sqrt(E / rho), less what Rayleigh's\n"
                 "correction takes for the motion across (nu 0.3). Waves only a few times as long as a region is wide "
                 "are off: the region averages over them.\n"
                 "The limit is for waves of at least 12 times the width of a region (2 w + 1 cells).");
    report_plot p = {.plot = {.title = "Speed of waves along a rod, nu 0.3",
                              .x_label = "wavelength in cells",
                              .y_label = "speed / theory",
                              .x_log = true,
                              .y_low = 0.7,
                              .y_high = 1.2,
                              .band_low = 0.95,
                              .band_high = 1.05}};
    report_columns(r, "sampling|width|wavelength in cells|speed / theory");
    for (int k = 0; k < KIND_COUNT; k++) {
        uint32_t series = report_series(&p, true, false, "%s, width %u", sampling_name(kinds[k].kind), kinds[k].width);
        for (uint32_t mode = 1; mode <= 16; mode = mode < 4 ? mode + 1 : mode + mode / 2) {
            double ratio;
            specimen s = rod(&kinds[k], 4, 48, 0.3);
            if (r->options->quick && (mode > 1 || k == 2 || k == 4)) {
                continue;
            }
            if (!measure(r, s, wave_shape, mode, wave_hertz, &ratio)) {
                return false;
            }
            report_row(r, "%s|%u|%.3g|%.3f", sampling_name(s.kind), s.width, 96.0 / mode, ratio);
            if (96.0 / mode >= 12.0 * (2.0 * s.width + 1.0)) {
                report_check(r, "speed", ratio, "%s, width %u, wavelength of %.3g cells", sampling_name(s.kind),
                             s.width, 96.0 / mode);
            }
            report_point(&p, series, 96.0 / mode, ratio > 0.0 ? ratio : NAN);
        }
    }
    report_end_plot(r, &p, "wave");
    report_end_table(r);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Twist
 */

static lm_vec3 twist_shape(const specimen *s, const trial *t, lm_vec3 rest, double number)
{
    (void)t;
    double l = s->along * s->spacing, a = s->thick * s->spacing,
           spin = 0.004 * s->speed / a * cos(number * SPECIMEN_PI * (double)rest.y / l);
    return (lm_vec3){(float)(spin * ((double)rest.z - 0.5 * a)), 0.0f, (float)(-spin * ((double)rest.x - 0.5 * a))};
}

/* Of a square section the torsion constant is 0.1406 a⁴ and the polar moment a⁴/6. */
static double twist_hertz(const specimen *s, double number)
{
    double l = s->along * s->spacing;
    return number * s->speed * sqrt(0.1406 * 6.0 / (2.0 * (1.0 + s->poisson))) / (2.0 * l);
}

bool study_torsion(report *r)
{
    report_study(r, "torsion", "Twist of a bar",
                 "A free bar four times as long as thick rings by twisting, in its first mode: the frequency should be "
                 "sqrt(G J / (rho I)) / (2 L), with the\n"
                 "torsion constant J = 0.1406 a⁴ of a square section and its polar moment I = a⁴/6. Stiffness goes "
                 "with the square of the figure.");
    report_plot p = {.plot = {.title = "Frequency of twisting",
                              .x_label = "thickness in cells",
                              .y_label = "frequency / theory",
                              .band_low = 0.95,
                              .band_high = 1.05}};
    report_columns(r, "sampling|width|nu|thickness|frequency / theory|GJ / theory");
    for (int k = 0; k < KIND_COUNT + 1; k++) {
        const kind_case *which = &kinds[k % KIND_COUNT];
        double poisson = k < KIND_COUNT ? 0.3 : 0.0;
        uint32_t series =
            report_series(&p, true, false, "%s, w %u, nu %g", which->kind == TETS ? "tets" : sampling_name(which->kind),
                          which->width, poisson);
        for (uint32_t thick = 2; thick <= 12; thick += thick < 4 ? 1 : thick < 8 ? 2 : 4) {
            double ratio;
            specimen s = rod(which, thick, 4 * thick, poisson);
            if (r->options->quick && (thick != 6 || k == 2 || k == 4)) {
                continue;
            }
            if (!measure(r, s, twist_shape, 1.0, twist_hertz, &ratio)) {
                return false;
            }
            report_row(r, "%s|%u|%g|%u|%.3f|%.3f", sampling_name(s.kind), s.width, poisson, thick, ratio,
                       ratio * ratio);
            if (thick >= 4 * s.width) {
                report_check(r, "frequency", ratio, "%s, width %u, nu %g, thickness %u", sampling_name(s.kind), s.width,
                             poisson, thick);
            }
            report_point(&p, series, thick, ratio > 0.0 ? ratio : NAN);
        }
    }
    report_end_plot(r, &p, "torsion");
    report_end_table(r);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Bending of a free beam
 */

static const double roots[] = {4.730040745, 7.853204624, 10.99560784}; /* of cosh b cos b = 1 */

static lm_vec3 bend_shape(const specimen *s, const trial *t, lm_vec3 rest, double number)
{
    (void)t;
    double l = s->along * s->spacing, b = roots[(int)number - 1], y = b * (double)rest.y / l, a = s->thick * s->spacing;
    double sigma = (cosh(b) - cos(b)) / (sinh(b) - sin(b)), scale = 0.001 * s->speed;
    double value = cosh(y) + cos(y) - sigma * (sinh(y) + sin(y));
    double slope = b / l * (sinh(y) - sin(y) - sigma * (cosh(y) + cos(y)));
    return (lm_vec3){(float)(scale * value), (float)(-scale * slope * ((double)rest.x - 0.5 * a)), 0.0f};
}

/* Euler's, with shear and rotation of the section taken into account to first order. */
static double bend_hertz(const specimen *s, double number)
{
    double l = s->along * s->spacing, a = s->thick * s->spacing, b = roots[(int)number - 1] / l;
    double kappa = 10.0 * (1.0 + s->poisson) / (12.0 + 11.0 * s->poisson);
    double rounder = 1.0 + b * b * a * a / 12.0 * (1.0 + 2.0 * (1.0 + s->poisson) / kappa);
    return b * b * s->speed * a / sqrt(12.0) / (2.0 * SPECIMEN_PI) / sqrt(rounder);
}

bool study_beam(report *r)
{
    report_study(r, "beam", "Frequencies of a free beam",
                 "A free beam twelve times as long as thick rings in its first three modes of bending, at Euler's "
                 "frequencies with shear and the turning of\n"
                 "sections taken into account to first order (3 % in the first mode, 15 % in the third). No pin holds "
                 "it: what a cantilever has besides is\n"
                 "the doing of its pins.");
    report_plot p = {.plot = {.title = "Bending of a free beam, 6 cells thick",
                              .x_label = "mode",
                              .y_label = "frequency / theory",
                              .band_low = 0.95,
                              .band_high = 1.05}};
    report_columns(r, "sampling|width|thickness|nu|mode|frequency / theory|EI / theory");
    for (int k = 0; k < KIND_COUNT + 1; k++) {
        const kind_case *which = &kinds[k % KIND_COUNT];
        double poisson = k < KIND_COUNT ? 0.3 : 0.0;
        uint32_t thick = r->options->quick ? 4 : 6,
                 series =
                     report_series(&p, true, false, "%s, w %u, nu %g",
                                   which->kind == TETS ? "tets" : sampling_name(which->kind), which->width, poisson);
        for (int mode = 1; mode <= 3; mode++) {
            double ratio;
            specimen s = rod(which, thick, 12 * thick, poisson);
            if (r->options->quick && (mode != 1 || k != 0)) {
                continue;
            }
            if (!measure(r, s, bend_shape, mode, bend_hertz, &ratio)) {
                return false;
            }
            report_row(r, "%s|%u|%u|%g|%d|%.3f|%.3f", sampling_name(s.kind), s.width, thick, poisson, mode, ratio,
                       ratio * ratio);
            if (thick >= 3 * s.width) {
                report_check(r, "frequency", ratio, "%s, width %u, nu %g, mode %d", sampling_name(s.kind), s.width,
                             poisson, mode);
            }
            report_point(&p, series, mode, ratio > 0.0 ? ratio : NAN);
        }
    }
    report_end_plot(r, &p, "beam");
    report_end_table(r);
    return true;
}
