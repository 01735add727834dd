/*
 * Bars that hang under their own weight: the strain at a height y above the free end is rho g y / E along the bar and -nu times that
 * across it. Both are fitted over the middle half.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>

typedef struct found {
    double modulus; /* over the one that was asked */
    double poisson;
    bool limited;
} found;

/* The slope of displacement along an axis over rest position along it, and the mean height, in the middle half. */
static double find_slope(const trial *t, int axis, double length, double *height)
{
    double n = 0, sx = 0, su = 0, sxx = 0, sxu = 0, sy = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        double rest[3] = {t->rest[i].x, t->rest[i].y, t->rest[i].z}, now[3] = {t->now[i].x, t->now[i].y, t->now[i].z};
        if (fabs(rest[1] - 0.5 * length) > 0.2501 * length) {
            continue;
        }
        double at = rest[axis], u = now[axis] - at, m = t->mass[i];
        n += m, sx += m * at, su += m * u, sxx += m * at * at, sxu += m * at * u, sy += m * rest[1];
    }
    *height = sy / n;
    return (n * sxu - sx * su) / (n * sxx - sx * sx);
}

/* Gravity for a strain of 1 % in the middle, and air that stops the slowest stretching soon. */
static void pull(specimen *s)
{
    double length = s->along * s->spacing;
    s->gravity = (lm_vec3){0.0f, (float)(-0.02 * s->speed * s->speed / length), 0.0f};
    s->air = 1.6 * 0.5 * SPECIMEN_PI * s->speed / length;
}

static bool measure(report *r, specimen s, found *f)
{
    double length = s.along * s.spacing, height, unused;
    pull(&s);
    trial t;
    bool ok = trial_open(r, &s, &t) && trial_run(r, &s, &t, (1.6 + 7.0 * s.damping_ratio) * 4.0 * length / s.speed);
    if (ok) {
        double along = find_slope(&t, 1, length, &height);
        double across = 0.5 * (find_slope(&t, 0, length, &unused) + find_slope(&t, 2, length, &unused));
        f->modulus = -(double)s.gravity.y * height / along / (s.speed * s.speed);
        f->poisson = -across / along;
        f->limited = t.info.stiffness_limited;
    }
    trial_close(&t);
    return ok;
}

/* 6 cells of 2 cm thick, 24 long. */
static specimen bar(sampling kind, uint32_t width, double poisson)
{
    return (specimen){.kind = kind,
                      .spacing = 0.02,
                      .thick = 6,
                      .along = 24,
                      .width = width,
                      .poisson = poisson,
                      .damping_ratio = 0.1,
                      .speed = 0.8,
                      .substep = 1.0 / 240.0,
                      .pinned = true};
}

static bool add_case(report *r, const specimen *s, found *f)
{
    if (!measure(r, *s, f)) {
        return false;
    }
    report_row(r, "%s|%u|%u|%.0f|%g|%g|%.3f|%.3f|%s", sampling_name(s->kind), s->thick, s->kind == TETS ? 1 : s->width,
               1.0 / (60.0 * s->substep), s->damping_ratio, s->poisson, f->modulus, f->poisson,
               f->limited ? "limited" : "");
    if (!f->limited && s->thick >= 4) { /* two cells are thinner than any region */
        report_check(r, "E", f->modulus, "%s, thickness %u, width %u, %.0f substeps, damping %g, nu %g",
                     sampling_name(s->kind), s->thick, s->width, 1.0 / (60.0 * s->substep), s->damping_ratio,
                     s->poisson);
    }
    return true;
}

#define COLUMNS "sampling|thickness|width|substeps of 1/60 s|damping ratio|nu asked|E / asked|nu|"

static bool over_widths(report *r)
{
    report_columns(r, COLUMNS);
    for (int kind = LATTICE; kind < SAMPLING_COUNT; kind++) {
        for (uint32_t width = 1; width <= (kind == TETS ? 1 : 4); width++) {
            for (int p = 0; p < 2; p++) {
                specimen s = bar((sampling)kind, width, p ? 0.3 : 0.0);
                found f;
                if (r->options->quick && (width == 3 || width == 4 || p == 0)) {
                    continue;
                }
                if (!add_case(r, &s, &f)) {
                    return false;
                }
            }
        }
    }
    report_end_table(r);
    return true;
}

static bool over_substeps(report *r)
{
    static const double ratios[] = {0.0, 0.1, 1.0};
    report_plot p = {.plot = {.title = "Young's modulus of a hanging bar, nu 0.3",
                              .x_label = "substeps of 1/60 s",
                              .y_label = "E / asked",
                              .x_log = true,
                              .y_low = 0.8,
                              .y_high = 1.2,
                              .band_low = 0.95,
                              .band_high = 1.05}};
    report_columns(r, COLUMNS);
    for (int kind = LATTICE; kind < SAMPLING_COUNT; kind++) {
        for (int z = 0; z < 3; z++) {
            if (kind != LATTICE && z == 1) {
                continue; /* enough is seen of these at both ends */
            }
            uint32_t series = report_series(&p, true, false, "%s, damping %g",
                                            kind == TETS ? "tets" : sampling_name((sampling)kind), ratios[z]);
            for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
                specimen s = bar((sampling)kind, 2, 0.3);
                s.substep = 1.0 / (60.0 * substeps);
                s.damping_ratio = ratios[z];
                found f;
                if (kind != LATTICE && (substeps == 2 || substeps == 8)) {
                    continue;
                }
                if (r->options->quick &&
                    (kind != LATTICE || z == 1 || substeps == 2 || substeps == 8 || (substeps > 4 && z == 2))) {
                    continue;
                }
                if (!add_case(r, &s, &f)) {
                    return false;
                }
                report_point(&p, series, substeps, f.limited ? NAN : f.modulus);
            }
        }
    }
    report_end_plot(r, &p, "hanging");
    report_end_table(r);
    return true;
}

static bool over_spacings(report *r)
{
    report_plot p = {.plot = {.title = "Young's modulus over resolution, nu 0.3",
                              .x_label = "cells across the bar",
                              .y_label = "E / asked",
                              .y_low = 0.8,
                              .y_high = 1.2,
                              .band_low = 0.95,
                              .band_high = 1.05}};
    static const struct {
        sampling kind;
        uint32_t width;
    } cases[] = {{LATTICE, 1}, {LATTICE, 2}, {LATTICE, 3}, {OCTREE, 1}, {OCTREE, 2}, {TETS, 1}};
    report_columns(r, COLUMNS);
    for (int c = 0; c < 6; c++) {
        uint32_t series = report_series(&p, true, false, "%s, width %u", sampling_name(cases[c].kind), cases[c].width);
        for (uint32_t thick = 2; thick <= (cases[c].kind == LATTICE ? 10 : 8); thick += 2) {
            specimen s = bar(cases[c].kind, cases[c].width, 0.3);
            s.thick = thick;
            s.along = 4 * thick;
            found f;
            if (!add_case(r, &s, &f)) {
                return false;
            }
            report_point(&p, series, thick, f.modulus);
        }
    }
    report_end_plot(r, &p, "resolution");
    return true;
}

bool study_hanging(report *r)
{
    report_study(r, "hanging", "Hanging bar: Young's modulus",
                 "A bar hangs from its pinned upper end. Its strain at a height y above the free end should be rho g y "
                 "/ E along it, and -nu times\n"
                 "that across it. Gravity is chosen for a strain of 1 % in the middle, and both are fitted over the "
                 "middle half, away from the pins.\n"
                 "Bars of two cells are thinner than their regions: they are shown, and have no limit.");
    bool ok = over_widths(r);
    ok = ok && over_substeps(r);
    return ok && (r->options->quick || over_spacings(r));
}

bool study_poisson(report *r)
{
    static const struct {
        sampling kind;
        uint32_t width;
    } cases[] = {{LATTICE, 1}, {LATTICE, 2}, {LATTICE, 4}, {OCTREE, 1}, {OCTREE, 2}, {TETS, 1}};
    static const double asked[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.45};
    report_study(r, "poisson", "Poisson's ratio",
                 "The same bar: how much thinner it gets where it is stretched. Regions of width 4 are wider than this "
                 "bar of 6 cells is thick.");
    report_plot p = {.plot = {.title = "Poisson's ratio of a hanging bar, 6 cells thick",
                              .x_label = "asked",
                              .y_label = "measured"}};
    report_columns(r, "sampling|width|nu asked|nu|E / asked|");
    for (int c = 0; c < 6; c++) {
        uint32_t series = report_series(&p, true, false, "%s, width %u", sampling_name(cases[c].kind), cases[c].width);
        for (int n = 0; n < 6; n++) {
            specimen s = bar(cases[c].kind, cases[c].width, asked[n]);
            found f;
            if (r->options->quick && (n != 2 || c % 3 == 2)) {
                continue;
            }
            if (!measure(r, s, &f)) {
                return false;
            }
            report_row(r, "%s|%u|%g|%.3f|%.3f|%s", sampling_name(s.kind), s.width, asked[n], f.poisson, f.modulus,
                       f.limited ? "limited" : "");
            if (!f.limited && asked[n] <= 0.3) {
                report_check(r, s.width > 2 ? "nu - asked, wide" : "nu - asked", f.poisson - asked[n],
                             "%s, width %u, nu %g", sampling_name(s.kind), s.width, asked[n]);
            }
            report_point(&p, series, asked[n], f.limited ? NAN : f.poisson);
        }
    }
    uint32_t same = report_series(&p, true, true, "as asked");
    report_point(&p, same, 0.0, 0.0);
    report_point(&p, same, 0.45, 0.45);
    report_end_plot(r, &p, "poisson");
    report_end_table(r);
    return true;
}
