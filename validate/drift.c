/*
 * A free block that rings and spins without damping, for 100,000 steps: what should stay the same, does it?
 *
 * Kinetic energy, less that of the body's motion as a whole, goes up and down with the ringing; its mean over a thousand steps should
 * stay. Momentum is compared with the sum of m |v|, angular momentum with what it was.
 */
#include "validate/specimen.h"
#include "validate/studies.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW 1000

typedef struct drift {
    double energy;   /* the last window's mean over the first one's */
    double momentum; /* the largest change, over the sum of m |v| at the start */
    double turning;  /* the largest change of angular momentum, over what it was */
} drift;

/* Spins about an axis of its own, and each particle moves by itself as well. */
static bool start(report *r, trial *t, double speed)
{
    lm_vec3 *v = calloc(t->count + 1u, sizeof *v);
    uint32_t random = 1;
    lm_result result = v != NULL ? LM_OK : LM_ERROR_MEMORY;
    for (uint32_t n = 0; result == LM_OK && n < t->count; n++) {
        float noise[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            noise[k] = (float)(0.03 * speed * ((double)(random >> 8) / 8388608.0 - 1.0));
        }
        double x = (double)t->rest[n].x - 0.06, y = (double)t->rest[n].y - 0.06, z = (double)t->rest[n].z - 0.06,
               w = 0.5 * speed;
        v[n] = (lm_vec3){(float)(w * (z - 0.5 * y)) + noise[0] + 0.1f, (float)(w * 0.5 * x) + noise[1],
                         (float)(-w * x) + noise[2]};
    }
    result = result ? result : lm_body_set_state(t->world, t->body, lm_dvec3_zero(), t->rest, v);
    free(v);
    return result == LM_OK || report_fail(r, "a body could not be set: %s", lm_result_text(result));
}

static double distance(lm_dvec3 a, lm_dvec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* Kinetic energy without that of the body's motion as a whole. */
static double ringing(const lm_body_info *info)
{
    lm_vec3 v = info->velocity, w = info->spin, l = info->angular_momentum;
    double moving = (double)info->mass * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
    double spinning = (double)w.x * l.x + (double)w.y * l.y + (double)w.z * l.z;
    return (double)info->kinetic_energy - 0.5 * (moving + spinning);
}

static lm_dvec3 widen(lm_vec3 v) { return (lm_dvec3){v.x, v.y, v.z}; }

static bool measure(report *r, const specimen *s, uint32_t steps, report_plot *p, uint32_t series, drift *out)
{
    trial t;
    lm_totals first, now;
    double sum = 0.0, first_mean = 0.0;
    bool ok = trial_open(r, s, &t) && start(r, &t, s->speed) && lm_body_get_info(t.world, t.body, &t.info) == LM_OK;
    lm_dvec3 turning = widen(t.info.angular_momentum);
    *out = (drift){0.0, 0.0, 0.0};
    if (ok) {
        lm_world_get_totals(t.world, &first);
    }
    for (uint32_t n = 1; ok && n <= steps; n++) {
        ok = lm_world_step(t.world, s->substep) == LM_OK || report_fail(r, "a step failed");
        ok = ok && lm_body_get_info(t.world, t.body, &t.info) == LM_OK;
        sum += ringing(&t.info);
        if (n % WINDOW == 0) {
            first_mean = first_mean > 0.0 ? first_mean : sum / WINDOW;
            out->energy = sum / WINDOW / first_mean;
            lm_world_get_totals(t.world, &now);
            out->momentum = fmax(out->momentum, distance(now.momentum, first.momentum) / first.momentum_scale);
            lm_dvec3 turned = widen(t.info.angular_momentum);
            out->turning = fmax(out->turning, distance(turned, turning) / distance(turning, lm_dvec3_zero()));
            sum = 0.0;
            if (n % (steps / 25) < WINDOW) {
                report_point(p, series, n, out->energy);
            }
        }
    }
    trial_close(&t);
    return ok;
}

bool study_drift(report *r)
{
    static const struct {
        sampling kind;
        uint32_t width;
        double poisson;
    } cases[] = {{LATTICE, 1, 0.0}, {LATTICE, 1, 0.3}, {LATTICE, 2, 0.3}, {OCTREE, 1, 0.3}, {TETS, 1, 0.3}};
    const uint32_t steps = r->options->quick ? 4000 : 100000;
    report_study(r, "drift", "Energy and momentum over 100,000 steps",
                 "A free block of 6 cells a side rings and spins without damping. The kinetic energy (mean over 1,000 "
                 "steps) should stay; momentum is told\n"
                 "as its largest change over the sum of m |v|, angular momentum as its largest change over what it was "
                 "at the start.");
    report_plot p = {.plot = {.title = "Kinetic energy of ringing without damping",
                              .x_label = "steps",
                              .y_label = "mean over 1,000 steps / that of the first 1,000",
                              .y_low = 0.0,
                              .y_high = 1.4}};
    report_columns(r, "sampling|width|nu|energy at the end|momentum|angular momentum");
    for (int c = 0; c < 5; c++) {
        specimen s = {.kind = cases[c].kind,
                      .spacing = 0.02,
                      .thick = 6,
                      .along = 6,
                      .width = cases[c].width,
                      .poisson = cases[c].poisson,
                      .substep = 1.0 / 240.0};
        s.speed = specimen_speed(&s);
        drift d;
        if (r->options->quick && c != 1) {
            continue;
        }
        uint32_t series = report_series(&p, true, false, "%s, w %u, nu %g",
                                        s.kind == TETS ? "tets" : sampling_name(s.kind), s.width, s.poisson);
        if (!measure(r, &s, steps, &p, series, &d)) {
            return false;
        }
        report_row(r, "%s|%u|%g|%.3f|%.1e|%.1e", sampling_name(s.kind), s.width, s.poisson, d.energy, d.momentum,
                   d.turning);
        report_check(r, "energy", d.energy, "%s, width %u, nu %g", sampling_name(s.kind), s.width, s.poisson);
        report_check(r, "momentum", d.momentum, "%s, width %u, nu %g", sampling_name(s.kind), s.width, s.poisson);
        report_check(r, "angular momentum", d.turning, "%s, width %u, nu %g", sampling_name(s.kind), s.width,
                     s.poisson);
    }
    report_end_plot(r, &p, "drift");
    report_end_table(r);
    return true;
}
