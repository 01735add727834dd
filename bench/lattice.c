/*
 * What a step of a lattice costs.
 *
 *   box, sphere, statue, shell, penguin   widths 1, 2, 3, 5, 8; one thread and several; without damping and with it; by
 *            stage. The box has the plain program beside it, and at width 1 every instruction set
 *   comb     the same widths: about 30 % of the regions are irregular at width 1 (the rows say how many really are)
 *   million  a solid box of 1,000,000 particles: its bytes a particle count too
 *   sums     figure 4 of Rivers and James 2007: the sums alone against the width, naive, bar by plate by cube, and running;
 *            and the library's own
 *   machine  what the processor can do in the same run (machine.c)
 */
#include "lattice_contest.h"
#include "machine.h"
#include "runner.h"

#include <stdio.h>

static const uint32_t widths[] = {1, 2, 3, 5, 8};

#define WIDTH_COUNT (sizeof widths / sizeof widths[0])

/* How many turns, and steps in a turn. */
typedef struct lattice_effort {
    uint32_t rounds, steps;
} lattice_effort;

static lattice_effort effort_of(const bench_options *options, lattice_effort usual)
{
    return options->quick ? (lattice_effort){1, 1} : usual;
}

static void say(const char *name, uint32_t width)
{
    char text[80];
    snprintf(text, sizeof text, "lattice: %s, w = %u", name, width);
    bench_progress(text);
}

/* One shape with one width: threads and damping, and for a box the plain program and the instruction sets. */
static int run_case(const bench_options *options, bench_report *report, const lattice_cells *cells, uint32_t width,
                    bool box, lattice_effort usual)
{
    static lattice_contest contest;
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    bool made = !box || lattice_contest_add_plain(&contest, cells, width);
    say(cells->name, width);
    for (uint32_t i = box && width == 1 ? 0 : isa_count - 1; made && i < isa_count; i++)
        for (uint32_t threads = 1; made && threads <= options->threads; threads *= 2)
            made = lattice_contest_add_world(&contest, cells, width, isas[i], threads, i == isa_count - 1);
    lattice_effort effort = effort_of(options, usual);
    return lattice_contest_run(&contest, made, effort.rounds, effort.steps, report);
}

/* One shape with the first so many widths. */
static int run_shape(const bench_options *options, bench_report *report, lattice_shape shape, uint32_t width_count,
                     lattice_effort usual)
{
    lattice_cells cells;
    if (!lattice_cells_make(shape, options->quick, &cells)) return bench_fail("out of memory");
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < (options->quick && width_count > 2 ? 2 : width_count); i++)
        status = run_case(options, report, &cells, widths[i], shape == LATTICE_BOX, usual);
    lattice_cells_free(&cells);
    return status;
}

static int run_sums(const bench_options *options, bench_report *report)
{
    static lattice_contest contest;
    lm_isa isas[LM_ISA_COUNT];
    lm_isa best = isas[bench_isas(options, isas) - 1];
    lattice_cells box;
    if (!lattice_cells_make(LATTICE_BOX, options->quick, &box)) return bench_fail("out of memory");
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < (options->quick ? 2 : WIDTH_COUNT); i++) {
        say("sums", widths[i]);
        bool made = lattice_contest_add_sums(&contest, &box, widths[i], best);
        status = lattice_contest_run(&contest, made, options->quick ? 1 : 3, 1, report);
    }
    lattice_cells_free(&box);
    return status;
}

int bench_lattice(const bench_options *options, bench_report *report)
{
    static const struct {
        lattice_shape shape;
        uint32_t widths;
        lattice_effort effort;
    } cases[] = {
        {LATTICE_BOX, WIDTH_COUNT, {12, 5}},
        {LATTICE_SPHERE, WIDTH_COUNT, {12, 5}},
        {LATTICE_STATUE, WIDTH_COUNT, {12, 5}},
        {LATTICE_SHELL, WIDTH_COUNT, {12, 5}},
        {LATTICE_PENGUIN, WIDTH_COUNT, {12, 5}},
        {LATTICE_COMB, WIDTH_COUNT, {12, 5}},
        {LATTICE_MILLION, 1, {4, 3}},
    };
    int status = bench_machine(options, "lattice", report);
    for (size_t i = 0; status == 0 && i < sizeof cases / sizeof cases[0]; i++)
        status = run_shape(options, report, cases[i].shape, cases[i].widths, cases[i].effort);
    if (status == 0) status = run_sums(options, report);
    return status;
}
