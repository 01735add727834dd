/*
 * What one polar decomposition costs, and how good it is: the library's kernel for each instruction set, and scalar
 * FOAM and the Jacobi iteration of Müller et al. 2005 (cold, and warm-started as in a running simulation).
 *
 * Each run decomposes a set of matrices that fits into the second-level cache. Two sets, the second a step of the
 * simulation later than the first, are used in turn, so that a warm start finds matrices that have moved. The library
 * gets the previous rotations of the same kind; they decide nothing but ambiguous cases.
 */
#include "base/os.h"
#include "matrices.h"
#include "plain_polar.h"
#include "runner.h"
#include "world/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16
#define BLOCKS 128
#define MATRICES (BLOCKS * LANES)
#define MAX_METHODS (LM_ISA_COUNT + 3)
#define SAMPLE_NANOSECONDS 500000u

typedef enum method_kind { METHOD_LIMBER, METHOD_FOAM, METHOD_JACOBI_COLD, METHOD_JACOBI_WARM } method_kind;

typedef struct polar_method {
    method_kind kind;
    lm_isa isa;
    const lmi_kernels *kernels;
    uint32_t repeats; /* runs in a sample */
    bench_samples samples;
    double orthogonality_error, trace_deficit;
} polar_method;

/* Matrices of one kind, one after the other and in lanes, at two moments; and room for the results. */
typedef struct matrix_set {
    float single[2][MATRICES][9];
    _Alignas(64) float lanes[2][BLOCKS][9][LANES];
    _Alignas(64) float lane_result[BLOCKS][9][LANES];
    float result[MATRICES][9];
    float axes[MATRICES][9]; /* eigenvectors of the last run, for warm starts */
} matrix_set;

static void set_identity(float M[9])
{
    for (int i = 0; i < 9; i++) M[i] = i % 4 == 0 ? 1.0f : 0.0f;
}

static void draw_set(matrix_set *set, matrix_kind kind)
{
    uint64_t seed = 2005 + (uint64_t)kind;
    for (uint32_t i = 0; i < MATRICES; i++) {
        matrix_draw(kind, &seed, set->single[0][i]);
        /* Exactly mirrored ones have to stay so. */
        if (kind == MATRIX_MIRRORED)
            memcpy(set->single[1][i], set->single[0][i], sizeof set->single[1][i]);
        else
            matrix_move(&seed, set->single[0][i], set->single[1][i]);
        for (int moment = 0; moment < 2; moment++)
            for (int e = 0; e < 9; e++) set->lanes[moment][i / LANES][e][i % LANES] = set->single[moment][i][e];
    }
}

static void start_cold(matrix_set *set)
{
    for (uint32_t i = 0; i < MATRICES; i++) {
        set_identity(set->axes[i]);
        for (int e = 0; e < 9; e++) set->lane_result[i / LANES][e][i % LANES] = e % 4 == 0 ? 1.0f : 0.0f;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Running
 */

static void run(const polar_method *method, matrix_set *set, int moment)
{
    switch (method->kind) {
    case METHOD_LIMBER:
        method->kernels->polar(&set->lanes[moment][0][0][0], NULL, &set->lane_result[0][0][0], BLOCKS);
        break;
    case METHOD_FOAM:
        for (uint32_t i = 0; i < MATRICES; i++) plain_polar_foam(set->single[moment][i], set->result[i]);
        break;
    case METHOD_JACOBI_COLD:
        for (uint32_t i = 0; i < MATRICES; i++) {
            float axes[9];
            set_identity(axes);
            plain_polar_jacobi(set->single[moment][i], axes, set->result[i]);
        }
        break;
    case METHOD_JACOBI_WARM:
        for (uint32_t i = 0; i < MATRICES; i++)
            plain_polar_jacobi(set->single[moment][i], set->axes[i], set->result[i]);
        break;
    }
}

/* The worst errors over the set, after a run on `moment`. */
static void judge(polar_method *method, const matrix_set *set, int moment)
{
    for (uint32_t i = 0; i < MATRICES; i++) {
        float R[9];
        for (int e = 0; e < 9; e++)
            R[e] = method->kind == METHOD_LIMBER ? set->lane_result[i / LANES][e][i % LANES] : set->result[i][e];
        double error = matrix_orthogonality_error(R), deficit = matrix_trace_deficit(set->single[moment][i], R);
        if (!(error <= method->orthogonality_error)) method->orthogonality_error = error;
        if (!(deficit <= method->trace_deficit)) method->trace_deficit = deficit;
    }
}

/* Runs of a method that make a sample: short enough that other programs seldom interrupt it, long enough for the clock,
 * an even number so that both moments count alike. */
static uint32_t choose_repeats(const polar_method *method, matrix_set *set)
{
    run(method, set, 0);
    uint64_t start = lmi_os_nanoseconds();
    run(method, set, 1);
    uint64_t taken = lmi_os_nanoseconds() - start;
    uint64_t repeats = SAMPLE_NANOSECONDS / (taken + 1) / 2 * 2;
    return repeats < 2 ? 2 : repeats > 100 ? 100 : (uint32_t)repeats;
}

static void measure(polar_method *methods, uint32_t count, matrix_set *set, uint32_t rounds)
{
    for (uint32_t i = 0; i < count; i++) {
        start_cold(set);
        for (int moment = 0; moment < 2; moment++) {
            run(&methods[i], set, moment);
            judge(&methods[i], set, moment);
        }
        methods[i].repeats = choose_repeats(&methods[i], set);
    }
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < count; i++) {
            polar_method *method = &methods[i];
            start_cold(set);
            run(method, set, 0); /* brings the data into the caches; the warm start gets its state */
            uint64_t start = lmi_os_nanoseconds();
            for (uint32_t r = 0; r < method->repeats; r++) run(method, set, (r + 1) % 2);
            double taken = (double)(lmi_os_nanoseconds() - start);
            bench_samples_add(&method->samples, taken / ((double)method->repeats * MATRICES));
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Reporting
 */

static uint32_t list_methods(const bench_options *options, polar_method *methods)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t count = 0, isa_count = bench_isas(options, isas);
    for (uint32_t i = 0; i < isa_count; i++) {
        const lmi_kernels *kernels = lmi_kernels_get(isas[i]);
        if (kernels) methods[count++] = (polar_method){.kind = METHOD_LIMBER, .isa = isas[i], .kernels = kernels};
    }
    for (int kind = METHOD_FOAM; kind <= METHOD_JACOBI_WARM; kind++)
        methods[count++] = (polar_method){.kind = (method_kind)kind, .isa = LM_ISA_SCALAR};
    return count;
}

static void add_rows(bench_report *report, polar_method *methods, uint32_t count, matrix_kind kind)
{
    static const char *const names[] = {"lanes", "foam", "jacobi-cold", "jacobi-warm"};
    for (uint32_t i = 0; i < count; i++) {
        polar_method *method = &methods[i];
        bench_row row = {.bench = "polar",
                         .name = matrix_kind_name(kind),
                         .variant = method->kind == METHOD_LIMBER ? "limber" : "plain",
                         .stage = "polar",
                         .particles = MATRICES,
                         .threads = 1,
                         .isa = lm_isa_name(method->isa),
                         .method = names[method->kind],
                         .has_accuracy = true,
                         .orthogonality_error = method->orthogonality_error,
                         .trace_deficit = method->trace_deficit};
        bench_report_add(report, row, &method->samples);
    }
}

int bench_polar(const bench_options *options, bench_report *report)
{
    matrix_set *set = lmi_os_allocate((sizeof *set + 63) / 64 * 64, 64);
    if (!set) return bench_fail("out of memory");
    for (int kind = 0; kind < MATRIX_KIND_COUNT; kind++) {
        bench_progress(matrix_kind_name((matrix_kind)kind));
        polar_method methods[MAX_METHODS];
        uint32_t count = list_methods(options, methods);
        draw_set(set, (matrix_kind)kind);
        measure(methods, count, set, options->quick ? 2 : 100);
        add_rows(report, methods, count, (matrix_kind)kind);
        bench_report_write(report);
        for (uint32_t i = 0; i < count; i++) bench_samples_free(&methods[i].samples);
    }
    lmi_os_release(set);
    return 0;
}
