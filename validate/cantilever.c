/*
 * A bar that is pinned at one end and bends under its own weight, pulled sideways by gravity. Beam theory (Timoshenko's), at the distance x
 * from the pins:
 *
 *     w(x) = q x² (6 L² - 4 L x + x²) / (24 E I) + q (L x - x²/2) / (kappa G A)        kappa = 10 (1 + nu) / (12 + 11 nu)
 *
 * with q = rho g A, I = a⁴/12. The pins are where the particles nearest the end are: of an octree half a cell inside.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>

/* Gravity for a tip that sinks by 1 % of the length, and air that stops the slowest bending soon. */
static void pull(specimen *s)
{
    double a = s->thick * s->spacing, l = s->along * s->spacing, c = s->speed;
    s->gravity = (lm_vec3){(float)(0.01 * 8.0 * c * c * a * a / (12.0 * l * l * l)), 0.0f, 0.0f};
    s->air = 1.6 * 3.516 * c * a / (sqrt(12.0) * l * l);
}

static double theory(const specimen *s, double length, double x)
{
    double a = s->thick * s->spacing, c2 = s->speed * s->speed, g = (double)s->gravity.x;
    double kappa = 10.0 * (1.0 + s->poisson) / (12.0 + 11.0 * s->poisson), shear = kappa / (2.0 * (1.0 + s->poisson));
    double bend = g * x * x * (6.0 * length * length - 4.0 * length * x + x * x) / (24.0 * c2 * a * a / 12.0);
    return bend + g * (length * x - 0.5 * x * x) / (shear * c2);
}

/* How far the particles at the free end went, over what theory says. */
static double find_tip(const specimen *s, const trial *t)
{
    double way = 0.0, mass = 0.0;
    for (uint32_t n = 0; n < t->count; n++) {
        if ((double)t->rest[n].y < t->lowest + 1e-3 * s->spacing) {
            way += (double)t->mass[n] * (double)(t->now[n].x - t->rest[n].x);
            mass += (double)t->mass[n];
        }
    }
    return way / mass / theory(s, t->highest, t->highest - t->lowest);
}

static bool measure(report *r, specimen s, double *tip)
{
    double a = s.thick * s.spacing, l = s.along * s.spacing;
    trial t;
    bool ok = trial_open_reachable(r, &s, pull, &t) &&
              trial_run(r, &s, &t, 1.3 * 2.0 * SPECIMEN_PI * sqrt(12.0) * l * l / (3.516 * s.speed * a));
    *tip = ok ? find_tip(&s, &t) : 0.0;
    trial_close(&t);
    return ok;
}

static specimen beam(sampling kind, uint32_t thick, uint32_t slenderness, uint32_t width, double poisson)
{
    specimen s = {.kind = kind,
                  .spacing = 0.02,
                  .thick = thick,
                  .along = thick * slenderness,
                  .width = width,
                  .poisson = poisson,
                  .damping_ratio = 0.0,
                  .substep = 1.0 / 240.0,
                  .pinned = true};
    s.speed = specimen_speed(&s);
    return s;
}

#define COLUMNS "sampling|thickness|length / thickness|width|nu|tip / theory"

static bool add_case(report *r, const specimen *s, double *tip)
{
    if (!measure(r, *s, tip)) {
        return false;
    }
    report_row(r, "%s%s|%u|%u|%u|%g|%.3f", sampling_name(s->kind), s->two_sizes ? ", two sizes" : "", s->thick,
               s->along / s->thick, s->width, s->poisson, *tip);
    if (s->thick > 2 * s->width) { /* else it is thinner than its regions */
        report_check(r, "tip", *tip, "%s, thickness %u, slenderness %u, width %u, nu %g", sampling_name(s->kind),
                     s->thick, s->along / s->thick, s->width, s->poisson);
    }
    return true;
}

typedef struct kind_case {
    sampling kind;
    uint32_t width;
} kind_case;

static const kind_case kinds[] = {{LATTICE, 1}, {LATTICE, 2}, {OCTREE, 1}, {TETS, 1}};

static bool over_slenderness(report *r)
{
    static const uint32_t slender[] = {4, 6, 8, 12, 16};
    report_plot p = {.plot = {.title = "Tip of a cantilever 6 cells thick, nu 0.3",
                              .x_label = "length / thickness",
                              .y_label = "deflection / beam theory",
                              .band_low = 0.9,
                              .band_high = 1.1}};
    report_columns(r, COLUMNS);
    for (int k = 0; k < 4; k++) {
        uint32_t series = report_series(&p, true, false, "%s, width %u", sampling_name(kinds[k].kind), kinds[k].width);
        for (int n = 0; n < 5; n++) {
            if ((kinds[k].kind != LATTICE && n > 2) || n == 1) {
                continue; /* slow: the slowest bending takes as long as the square of the slenderness; 6 is in the next table */
            }
            double tip;
            specimen s = beam(kinds[k].kind, 6, slender[n], kinds[k].width, 0.3);
            if (!add_case(r, &s, &tip)) {
                return false;
            }
            report_point(&p, series, slender[n], tip);
        }
    }
    report_end_plot(r, &p, "cantilever-slenderness");
    return true;
}

static bool over_thickness(report *r)
{
    static const uint32_t thick[] = {2, 3, 4, 6, 8, 12};
    report_plot p = {.plot = {.title = "Tip of a cantilever 6 times as long as thick, nu 0.3",
                              .x_label = "thickness in cells",
                              .y_label = "deflection / beam theory",
                              .band_low = 0.9,
                              .band_high = 1.1}};
    report_columns(r, COLUMNS);
    for (int k = 0; k < 4; k++) {
        uint32_t series = report_series(&p, true, false, "%s, width %u", sampling_name(kinds[k].kind), kinds[k].width);
        for (int n = 0; n < 6; n++) {
            if ((kinds[k].kind != LATTICE && n > 4) || (r->options->quick && (n != 2 || k == 1))) {
                continue;
            }
            double tip;
            specimen s = beam(kinds[k].kind, thick[n], 6, kinds[k].width, 0.3);
            if (!add_case(r, &s, &tip)) {
                return false;
            }
            report_point(&p, series, thick[n], tip);
        }
    }
    report_end_plot(r, &p, "cantilever-thickness");
    report_end_table(r);
    return true;
}

static bool over_widths(report *r)
{
    report_plot p = {.plot = {.title = "Tip of a cantilever of 6 x 36 cells",
                              .x_label = "width of regions in cells",
                              .y_label = "deflection / beam theory",
                              .band_low = 0.9,
                              .band_high = 1.1}};
    report_columns(r, COLUMNS);
    for (int kind = LATTICE; kind <= OCTREE; kind++) {
        for (int n = 0; n < 2; n++) {
            uint32_t series = report_series(&p, true, false, "%s, nu %g", sampling_name((sampling)kind), n ? 0.3 : 0.0);
            for (uint32_t width = 1; width <= 4; width++) {
                double tip;
                specimen s = beam((sampling)kind, 6, 6, width, n ? 0.3 : 0.0);
                if (!add_case(r, &s, &tip)) {
                    return false;
                }
                report_point(&p, series, width, tip);
            }
        }
    }
    report_end_plot(r, &p, "cantilever-width");
    return true;
}

/* Octrees of width 2 with even cells, and with cells of half the size in the outer half. */
static bool of_two_sizes(report *r)
{
    double tips[2];
    report_columns(r, COLUMNS);
    for (int n = 0; n < 2; n++) {
        specimen s = beam(OCTREE, 6, 6, 2, 0.3);
        s.two_sizes = n == 1;
        if (!add_case(r, &s, &tips[n])) {
            return false;
        }
    }
    report_end_table(r);
    report_check(r, "tip, two sizes / one", tips[1] / tips[0], "octree, thickness 6, width 2, nu 0.3");
    return true;
}

bool study_cantilever(report *r)
{
    report_study(r, "cantilever", "Cantilever",
                 "A bar is pinned at one end, by its outermost layer of particles, and sinks under its own weight, by "
                 "1 % of its length. Beam theory is\n"
                 "Timoshenko's, with shear. It does not apply to bars thinner than a region (thickness below twice the "
                 "width): those are shown, and have no limit.");
    bool ok = over_thickness(r);
    return ok && (r->options->quick || (over_slenderness(r) && over_widths(r) && of_two_sizes(r)));
}
