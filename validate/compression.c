/*
 * A cube on a floor without friction, under its own weight: it is pressed evenly at each height, and nothing holds it back across. Between
 * rest heights a and b it gets shorter by (rho g / E) (H (b - a) - (b² - a²) / 2).
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>

/* The load is rho g H / E: twice the share of its height by which the cube sinks, says linear theory. */
static void press(specimen *s)
{
    double height = s->along * s->spacing;
    s->gravity = (lm_vec3){0.0f, (float)(-s->load * s->speed * s->speed / height), 0.0f};
    s->air = 1.2 * 0.5 * SPECIMEN_PI * s->speed / height;
}

static bool add_floor(report *r, trial *t)
{
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.friction = 0.0f;
    return lm_collider_create(t->world, &floor, &id) == LM_OK || report_fail(r, "no floor could be made");
}

/* How much nearer the uppermost and the lowest particles are to each other, over what theory says. */
static double find_sag(const specimen *s, const trial *t, double *share)
{
    double middle[2] = {0.0, 0.0}, mass[2] = {0.0, 0.0}, height = s->along * s->spacing, a = t->lowest, b = t->highest;
    for (uint32_t n = 0; n < t->count; n++) {
        int end = (double)t->rest[n].y > b - 1e-3 * s->spacing   ? 1
                  : (double)t->rest[n].y < a + 1e-3 * s->spacing ? 0
                                                                 : -1;
        if (end >= 0) {
            middle[end] += (double)t->mass[n] * (double)t->now[n].y;
            mass[end] += (double)t->mass[n];
        }
    }
    double shorter = b - a - (middle[1] / mass[1] - middle[0] / mass[0]);
    double theory = s->load / height * (height * (b - a) - 0.5 * (b * b - a * a));
    *share = shorter / (b - a);
    return shorter / theory;
}

static bool measure(report *r, specimen s, double *ratio, double *share)
{
    trial t;
    bool ok = trial_open_reachable(r, &s, press, &t) && add_floor(r, &t) &&
              trial_run(r, &s, &t, 2.5 * 4.0 * s.along * s.spacing / s.speed);
    *ratio = ok ? find_sag(&s, &t, share) : 0.0;
    trial_close(&t);
    return ok;
}

/* The same load on cubes of more and more cells: what is wrong near the surface counts less and less. */
static bool over_thickness(report *r)
{
    report_columns(r, "sampling|width|nu|cells a side|sag / theory");
    for (int kind = LATTICE; kind < SAMPLING_COUNT; kind++) {
        for (uint32_t cells = 4; cells <= 16; cells *= 2) {
            double ratio, share;
            specimen s = {.kind = (sampling)kind,
                          .spacing = 0.02,
                          .thick = cells,
                          .along = cells,
                          .width = 1,
                          .poisson = 0.3,
                          .damping_ratio = 0.1,
                          .substep = 1.0 / 240.0,
                          .load = 0.05};
            s.speed = specimen_speed(&s);
            if (!measure(r, s, &ratio, &share)) {
                return false;
            }
            report_row(r, "%s|%u|%g|%u|%.3f", sampling_name(s.kind), s.width, s.poisson, cells, ratio);
        }
    }
    report_end_table(r);
    return true;
}

bool study_compression(report *r)
{
    static const double loads[] = {0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2};
    static const struct {
        sampling kind;
        uint32_t width;
        double poisson;
    } cases[] = {{LATTICE, 1, 0.0}, {LATTICE, 1, 0.3}, {LATTICE, 2, 0.3}, {OCTREE, 1, 0.3}, {TETS, 1, 0.3}};
    report_study(r, "compression", "Compression of a cube",
                 "A cube of 6 cells a side stands on a floor without friction. Linear theory says that it gets shorter "
                 "by rho g H / (2 E) of its height.\n"
                 "Regions that the floor and the free sides cut off are softer across them, within their width: the "
                 "second table shows how this goes away\n"
                 "with more cells. Linear theory itself holds for small loads; at a load rho g H = E it has the lowest "
                 "layer squeezed to nothing.");
    report_plot p = {.plot = {.title = "A cube under its own weight",
                              .x_label = "load, rho g H / E",
                              .y_label = "share of its height by which it sinks"}};
    report_columns(r, "sampling|width|nu|load|sag|sag / theory");
    for (int c = 0; c < 5; c++) {
        uint32_t series = report_series(&p, true, false, "%s, w %u, nu %g",
                                        cases[c].kind == TETS ? "tets" : sampling_name(cases[c].kind), cases[c].width,
                                        cases[c].poisson);
        for (size_t n = 0; n < sizeof loads / sizeof loads[0]; n++) {
            double ratio, share;
            specimen s = {.kind = cases[c].kind,
                          .spacing = 0.02,
                          .thick = 6,
                          .along = 6,
                          .width = cases[c].width,
                          .poisson = cases[c].poisson,
                          .damping_ratio = 0.1,
                          .substep = 1.0 / 240.0};
            s.speed = specimen_speed(&s);
            s.load = loads[n];
            if (r->options->quick && (n != 1 || c == 0)) {
                continue;
            }
            if (!measure(r, s, &ratio, &share)) {
                return false;
            }
            report_row(r, "%s|%u|%g|%g|%.4f|%.3f", sampling_name(s.kind), s.width, s.poisson, s.load, share, ratio);
            if (s.load <= 0.1) {
                report_check(r, "sag", ratio, "%s, width %u, nu %g, load %g", sampling_name(s.kind), s.width, s.poisson,
                             s.load);
            }
            report_point(&p, series, s.load, share);
        }
    }
    report_end_table(r);
    uint32_t theory = report_series(&p, true, true, "linear theory");
    report_point(&p, theory, 0.0, 0.0);
    report_point(&p, theory, 1.2, 0.6);
    report_end_plot(r, &p, "compression");
    return r->options->quick || over_thickness(r);
}
