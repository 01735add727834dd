/*
 * What a step of a lattice costs.
 *
 *   box      solid, 57,600 particles: every instruction set, one thread and several, widths 1, 2, 3, 5, 8, without damping
 *            and with it; by stage; and the plain program
 *   sphere, shell, comb   the same widths on the best instruction set: cells that do not fill their box, and fingers with
 *            gaps of one cell, where about 30 % of the regions are irregular
 *   crumbs   150 boxes of 150 particles, the size of a penguin
 *   million  a solid box of 1,000,000 particles
 *   sums     figure 4 of Rivers and James 2007: the plain program with naive, bar-plate-cube and fast sums against the width
 *   machine  what the processor can do in the same run: float32 multiply and add (particles: operations of 16 lanes), and
 *            copying 64 bytes within a cache and through memory; nanoseconds for each
 */
#include "base/os.h"
#include "plain_lattice.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / 60.0)
#define MAX_CONTESTANTS 64

enum { ROW_STEP = LM_STAGE_COUNT, ROW_COUNT };

/* A world of one kind of lattice, or the plain box. */
typedef struct lattice_contestant {
    const char *name;
    lm_world *world;
    plain_lattice *plain;
    plain_sums sums;
    const char *method;
    lm_isa isa;
    uint32_t threads, width, particles;
    bool damping;
    bench_samples rows[ROW_COUNT];
} lattice_contestant;

typedef struct lattice_contest {
    lattice_contestant list[MAX_CONTESTANTS];
    uint32_t count;
} lattice_contest;

/* ---- cells ---- */

typedef enum lattice_shape { BOX, SPHERE, SHELL, COMB } lattice_shape;

static uint8_t *make_cells(lattice_shape shape, const uint32_t n[3])
{
    uint8_t *cells = calloc((size_t)n[0] * n[1] * n[2], 1);
    for (uint32_t i = 0; cells && i < n[0] * n[1] * n[2]; i++) {
        uint32_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double r = 0.0;
        for (int a = 0; a < 3; a++) {
            double d = 2.0 * (at[a] + 0.5) / n[a] - 1.0;
            r += d * d;
        }
        cells[i] = shape == BOX || (shape == SPHERE && r <= 1.0) || (shape == SHELL && r <= 1.0 && r > 0.87) ||
                   (shape == COMB && (at[2] % 6 != 3 || at[0] < 4));
    }
    return cells;
}

static lm_world *make_world(lattice_shape shape, const uint32_t n[3], uint32_t bodies, uint32_t width, lm_isa isa,
                            uint32_t threads, bool damping)
{
    lm_world_def world_def = lm_world_def_default();
    lm_world *world = NULL;
    world_def.isa = isa;
    world_def.workers = threads;
    uint8_t *cells = make_cells(shape, n);
    if (!cells || lm_world_create(&world_def, &world) != LM_OK) {
        free(cells);
        return NULL;
    }
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, n, sizeof def.lattice.counts);
    def.lattice.spacing = 0.05f;
    def.lattice.width = width;
    def.material.mode = LM_MODE_RIGID;
    def.material.damping_ratio = damping ? 0.1f : 0.0f;
    def.spin.y = 0.5f;
    for (uint32_t i = 0; i < bodies; i++) {
        lm_body_id id;
        def.pose.position.x = 10.0 * i;
        if (lm_body_create(world, &def, &id) != LM_OK) {
            lm_world_destroy(world);
            world = NULL;
            break;
        }
    }
    free(cells);
    return world;
}

/* ---- contestants ---- */

static bool add_world(lattice_contest *contest, const char *name, lattice_shape shape, uint32_t x, uint32_t y,
                      uint32_t z, uint32_t bodies, uint32_t width, lm_isa isa, uint32_t threads, bool damping)
{
    const uint32_t n[3] = {x, y, z};
    lattice_contestant c = {.name = name, .isa = isa, .threads = threads, .width = width, .damping = damping};
    c.world = make_world(shape, n, bodies, width, isa, threads, damping);
    if (!c.world || contest->count == MAX_CONTESTANTS) return false;
    lm_stats stats;
    lm_world_get_stats(c.world, &stats);
    c.particles = stats.particles;
    c.isa = lm_world_get_isa(c.world);
    contest->list[contest->count++] = c;
    return true;
}

static bool add_plain(lattice_contest *contest, const char *name, uint32_t x, uint32_t y, uint32_t z, uint32_t width,
                      plain_sums sums, const char *method)
{
    lattice_contestant c = {
        .name = name, .sums = sums, .method = method, .threads = 1, .width = width, .isa = LM_ISA_SCALAR};
    c.plain = plain_lattice_make(x + 1, y + 1, z + 1, 0.05f, width);
    if (!c.plain || contest->count == MAX_CONTESTANTS) return false;
    c.particles = (x + 1) * (y + 1) * (z + 1);
    contest->list[contest->count++] = c;
    return true;
}

static void contest_free(lattice_contest *contest)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        lm_world_destroy(contest->list[i].world);
        plain_lattice_free(contest->list[i].plain);
        for (int row = 0; row < ROW_COUNT; row++) bench_samples_free(&contest->list[i].rows[row]);
    }
    contest->count = 0;
}

/* ---- measuring ---- */

static bool take_step(lattice_contestant *c, bool count)
{
    double unit = 1.0 / c->particles;
    if (c->plain) {
        uint64_t start = lmi_os_nanoseconds();
        plain_lattice_step(c->plain, c->sums, (float)FRAME, 0.5f, -9.81f);
        if (count) bench_samples_add(&c->rows[ROW_STEP], unit * (double)(lmi_os_nanoseconds() - start));
        return true;
    }
    if (lm_world_step(c->world, FRAME) != LM_OK) return false;
    lm_stats stats;
    lm_world_get_stats(c->world, &stats);
    for (int stage = 0; count && stage < LM_STAGE_COUNT; stage++)
        bench_samples_add(&c->rows[stage], 1e9 * unit * stats.stage_seconds[stage]);
    if (count) bench_samples_add(&c->rows[ROW_STEP], 1e9 * unit * stats.step_seconds);
    return true;
}

static bool measure(lattice_contest *contest, uint32_t rounds, uint32_t steps)
{
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < contest->count; i++)
            for (uint32_t step = 0; step <= steps; step++) /* the first brings the data back into the caches */
                if (!take_step(&contest->list[i], step > 0)) return false;
    return true;
}

static void report_contest(lattice_contest *contest, bench_report *report)
{
    for (uint32_t i = 0; i < contest->count; i++) {
        lattice_contestant *c = &contest->list[i];
        for (int row = 0; row < ROW_COUNT; row++) {
            bool has = row == ROW_STEP ||
                       (!c->plain && (row == LM_STAGE_PREDICT || row == LM_STAGE_SWEEP || row == LM_STAGE_CONTACT));
            if (!has) continue;
            bench_row r = {.bench = "lattice",
                           .name = c->name,
                           .variant = c->plain ? "plain" : "limber",
                           .stage = row == ROW_STEP ? "step" : lm_stage_name((lm_stage)row),
                           .particles = c->particles,
                           .threads = c->threads,
                           .isa = lm_isa_name(c->isa),
                           .method = c->method,
                           .width = c->width,
                           .damping = c->damping ? "global" : "none"};
            bench_report_add(report, r, &c->rows[row]);
        }
    }
}

/* Contestants take turns, then their rows are reported. */
static int run_contest(lattice_contest *contest, bool made, uint32_t rounds, uint32_t steps, const char *what,
                       bench_report *report)
{
    bench_progress(what);
    bool ok = made && measure(contest, rounds, steps);
    if (ok) report_contest(contest, report);
    contest_free(contest);
    return ok ? 0 : bench_fail("out of memory");
}

/* ---- the machine ---- */

#define RATE_CHAINS 24

/* Multiplies and adds of independent numbers: what one thread of plain vector code can do. */
static double arithmetic(float *chains, uint32_t rounds)
{
    typedef float lanes __attribute__((vector_size(64)));
    lanes a[RATE_CHAINS];
    memcpy(a, chains, sizeof a);
    uint64_t start = lmi_os_nanoseconds();
    for (uint32_t i = 0; i < rounds; i++)
        for (int k = 0; k < RATE_CHAINS; k++) a[k] = a[k] * 0.999f + 0.001f;
    uint64_t end = lmi_os_nanoseconds();
    memcpy(chains, a, sizeof a);
    return (double)(end - start) / ((double)rounds * RATE_CHAINS * 2.0);
}

static double copying(char *to, const char *from, size_t size, uint32_t rounds)
{
    uint64_t start = lmi_os_nanoseconds();
    for (uint32_t i = 0; i < rounds; i++) {
        memcpy(to, from, size);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    return (double)(lmi_os_nanoseconds() - start) / ((double)rounds * (double)size / 64.0);
}

static int measure_machine(const bench_options *options, bench_report *report)
{
    const size_t sizes[3] = {256u << 10, 4u << 20, 64u << 20};
    static const char *const names[3] = {"copy-256k", "copy-4m", "copy-64m"};
    float *chains = calloc(RATE_CHAINS * 16, sizeof *chains);
    char *from = calloc(1, sizes[2]), *to = calloc(1, sizes[2]);
    bench_samples rates[4] = {{0}};
    bool ok = chains && from && to;
    for (int n = 0; ok && n < (options->quick ? 2 : 20); n++) {
        bench_samples_add(&rates[3], arithmetic(chains, 20000));
        for (int k = 0; k < 3; k++)
            bench_samples_add(&rates[k], copying(to, from, sizes[k], (uint32_t)((64u << 20) / sizes[k])));
    }
    for (int k = 0; ok && k < 4; k++) {
        bench_row r = {.bench = "lattice",
                       .name = "machine",
                       .variant = "machine",
                       .stage = k < 3 ? names[k] : "multiply-add",
                       .particles = 1,
                       .threads = 1,
                       .isa = "best"};
        bench_report_add(report, r, &rates[k]);
    }
    for (int k = 0; k < 4; k++) bench_samples_free(&rates[k]);
    free(chains);
    free(from);
    free(to);
    return ok ? 0 : bench_fail("out of memory");
}

/* ---- the list ---- */

int bench_lattice(const bench_options *options, bench_report *report)
{
    static const uint32_t widths[] = {1, 2, 3, 5, 8};
    static lattice_contest contest;
    uint32_t rounds = options->quick ? 1 : 8, steps = options->quick ? 1 : 6;
    uint32_t x = options->quick ? 15 : 47, y = options->quick ? 9 : 39, z = options->quick ? 7 : 29;
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    lm_isa best = options->isa;
    int status = measure_machine(options, report);
    if (status != 0) return status;

    bool made = add_plain(&contest, "box", x, y, z, 1, PLAIN_FAST, NULL);
    for (uint32_t i = 0; made && i < isa_count; i++)
        made = add_world(&contest, "box", BOX, x, y, z, 1, 1, isas[i], 1, false);
    for (uint32_t threads = 2; made && threads <= options->threads; threads *= 2)
        made = add_world(&contest, "box", BOX, x, y, z, 1, 1, best, threads, false);
    made = made && add_world(&contest, "box", BOX, x, y, z, 1, 1, best, 1, true);
    status = run_contest(&contest, made, rounds, steps, "lattice: box", report);

    made = true;
    for (uint32_t i = 1; status == 0 && made && i < sizeof widths / sizeof *widths; i++)
        made = add_world(&contest, "box", BOX, x, y, z, 1, widths[i], best, 1, false);
    if (status == 0) status = run_contest(&contest, made, rounds, steps, "lattice: widths", report);

    uint32_t r = options->quick ? 12 : 48;
    made = add_world(&contest, "sphere", SPHERE, r, r, r, 1, 1, best, 1, false) &&
           add_world(&contest, "shell", SHELL, r, r, r, 1, 1, best, 1, false) &&
           add_world(&contest, "comb", COMB, x, y, z, 1, 1, best, 1, false) &&
           add_world(&contest, "comb", COMB, x, y, z, 1, 2, best, 1, false) &&
           add_world(&contest, "crumbs", BOX, 5, 4, 4, options->quick ? 4 : 150, 2, best, 1, false);
    if (status == 0) status = run_contest(&contest, made, rounds, steps, "lattice: shapes", report);

    made = options->quick || add_world(&contest, "million", BOX, 99, 99, 99, 1, 1, best, 1, false);
    if (status == 0) status = run_contest(&contest, made, 2, 3, "lattice: million", report);

    static const char *const methods[] = {"naive", "bar-plate-cube", "fast"};
    made = true;
    for (uint32_t i = 0; i < (options->quick ? 1 : 5); i++)
        for (int how = PLAIN_NAIVE; made && how <= PLAIN_FAST; how++)
            made = add_plain(&contest, "sums", 15, 15, 15, widths[i], (plain_sums)how, methods[how]);
    if (status == 0) status = run_contest(&contest, made, 1, 1, "lattice: sums", report);
    return status;
}
