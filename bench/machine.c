/*
 * Each rate is taken as the best of many short runs: what disturbs a run only makes it slower.
 */
#include "machine.h"

#include "base/compiler.h"
#include "base/os.h"
#include "base/tasks.h"
#include "runner.h"

#include <stdlib.h>
#include <string.h>
#if LMI_HAS_TARGETS
#include <immintrin.h>
#endif

#define LOOPS 200000                    /* of the chains below: long beside the waking of threads */
#define CHAINS 10                       /* independent multiply-adds: two units times a latency of four to five */
#define COPY_BYTES ((size_t)128u << 20) /* that are copied for one sample, whatever the size of the array */

/* ------------------------------------------------------------------------------------------------------------------
 * Arithmetic: x = x a + b in ten chains
 */

typedef void arithmetic_loop(float *numbers);

/* One loop of chains over a vector type. Contraction is off everywhere, so multiply-adds are fused by name only. */
#define DEFINE_ARITHMETIC(name, target, vector, load, multiply_add, store)                                             \
    target static void name(float *numbers)                                                                            \
    {                                                                                                                  \
        const int lanes = sizeof(vector) / sizeof(float);                                                              \
        vector a = load(numbers), b = load(numbers + lanes);                                                           \
        vector x0 = a, x1 = b, x2 = a, x3 = b, x4 = a, x5 = b, x6 = a, x7 = b, x8 = a, x9 = b;                         \
        for (int i = 0; i < LOOPS; i++) {                                                                              \
            x0 = multiply_add(x0, a, b);                                                                               \
            x1 = multiply_add(x1, a, b);                                                                               \
            x2 = multiply_add(x2, a, b);                                                                               \
            x3 = multiply_add(x3, a, b);                                                                               \
            x4 = multiply_add(x4, a, b);                                                                               \
            x5 = multiply_add(x5, a, b);                                                                               \
            x6 = multiply_add(x6, a, b);                                                                               \
            x7 = multiply_add(x7, a, b);                                                                               \
            x8 = multiply_add(x8, a, b);                                                                               \
            x9 = multiply_add(x9, a, b);                                                                               \
        }                                                                                                              \
        vector sum = multiply_add(x0, x1, x2);                                                                         \
        sum = multiply_add(sum, x3, x4);                                                                               \
        sum = multiply_add(sum, x5, x6);                                                                               \
        sum = multiply_add(sum, x7, x8);                                                                               \
        store(numbers + 2 * lanes, multiply_add(sum, x9, x9));                                                         \
    }

static float scalar_load(const float *from) { return *from; }
static void scalar_store(float *to, float value) { *to = value; }
static float scalar_multiply_add(float x, float a, float b) { return x * a + b; }

DEFINE_ARITHMETIC(arithmetic_scalar, , float, scalar_load, scalar_multiply_add, scalar_store)

#if LMI_HAS_TARGETS
static __m128 sse2_multiply_add(__m128 x, __m128 a, __m128 b) { return _mm_add_ps(_mm_mul_ps(x, a), b); }

DEFINE_ARITHMETIC(arithmetic_sse2, , __m128, _mm_loadu_ps, sse2_multiply_add, _mm_storeu_ps)
DEFINE_ARITHMETIC(arithmetic_avx2, LMI_TARGET("avx2,fma"), __m256, _mm256_loadu_ps, _mm256_fmadd_ps, _mm256_storeu_ps)
DEFINE_ARITHMETIC(arithmetic_avx512, LMI_TARGET("avx512f"), __m512, _mm512_loadu_ps, _mm512_fmadd_ps, _mm512_storeu_ps)
#endif

/* The loop of an instruction set and its lanes. */
static arithmetic_loop *arithmetic_of(lm_isa isa, uint32_t *lanes)
{
    *lanes = 1;
#if LMI_HAS_TARGETS
    if (isa == LM_ISA_SSE2) return *lanes = 4, arithmetic_sse2;
    if (isa == LM_ISA_AVX2 && LMI_CPU_HAS("fma")) return *lanes = 8, arithmetic_avx2;
    if (isa == LM_ISA_AVX512) return *lanes = 16, arithmetic_avx512;
#endif
    return isa == LM_ISA_SCALAR ? arithmetic_scalar : NULL;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Copies, and running either on several threads at a time
 */

/* What a thread has to itself. */
typedef struct machine_room {
    char *from, *to;
    float numbers[64]; /* of the chains: two vectors in, one out */
} machine_room;

typedef struct machine_job {
    machine_room *rooms;
    arithmetic_loop *arithmetic; /* or null: copy */
    size_t size;                 /* of the arrays */
} machine_job;

static void run_job(void *context, uint32_t index)
{
    machine_job *job = context;
    machine_room *room = &job->rooms[index];
    if (job->arithmetic) {
        job->arithmetic(room->numbers);
        return;
    }
    for (size_t copied = 0; copied < COPY_BYTES; copied += job->size) {
        memcpy(room->to, room->from, job->size);
        LMI_KEEP(room->to); /* or all copies but the last would be left out */
    }
}

typedef struct machine {
    lmi_memory memory;
    lmi_workers *workers;
    machine_room *rooms;
    uint32_t threads;
} machine;

static void machine_free(machine *m)
{
    for (uint32_t i = 0; m->rooms && i < m->threads; i++) {
        free(m->rooms[i].from);
        free(m->rooms[i].to);
    }
    free(m->rooms);
    if (m->workers) lmi_workers_destroy(m->workers, &m->memory);
}

static bool machine_make(machine *m, uint32_t threads)
{
    *m = (machine){.threads = threads};
    lmi_memory_init(&m->memory, &(lm_allocator){0});
    m->workers = lmi_workers_create(&m->memory, threads, &(lm_tasks){0});
    m->rooms = calloc(threads, sizeof *m->rooms);
    bool ok = m->workers && m->rooms;
    for (uint32_t i = 0; ok && i < threads; i++) {
        machine_room *room = &m->rooms[i];
        for (int k = 0; k < 64; k++) room->numbers[k] = k < 32 ? 0.999f : 0.001f;
        room->from = malloc(COPY_BYTES);
        room->to = malloc(COPY_BYTES);
        ok = room->from && room->to;
        if (!ok) break;
        memset(room->from, 1, COPY_BYTES); /* pages of zeros would all be one page of the machine's memory */
        memset(room->to, 2, COPY_BYTES);
    }
    if (!ok) machine_free(m);
    return ok;
}

static double time_job(machine *m, machine_job job)
{
    job.rooms = m->rooms;
    uint64_t start = lmi_os_nanoseconds();
    lmi_workers_run(m->workers, run_job, &job, m->threads);
    return (double)(lmi_os_nanoseconds() - start);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rows
 */

/* A rate: `units` of work are done in the samples' unit of time. */
static void add_rate(bench_report *report, bench_row row, bench_samples *samples, double units, const char *unit)
{
    row.variant = "machine";
    row.name = "machine";
    row.particles = 1;
    row.rate = units / bench_samples_fastest(samples);
    row.rate_unit = unit;
    bench_report_add(report, row, samples);
    bench_report_write(report);
    bench_samples_free(samples);
}

static void measure_arithmetic(machine *m, const bench_options *options, const char *bench, bench_report *report)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas), rounds = options->quick ? 2 : 100;
    for (uint32_t i = 0; i < isa_count; i++) {
        uint32_t lanes;
        arithmetic_loop *loop = arithmetic_of(isas[i], &lanes);
        if (!loop) continue;
        bench_samples samples = {0};
        double sixteens = (double)m->threads * LOOPS * CHAINS * lanes / 16.0;
        for (uint32_t round = 0; round < rounds; round++)
            bench_samples_add(&samples, time_job(m, (machine_job){.arithmetic = loop}) / sixteens);
        bench_row row = {.bench = bench, .stage = "multiply-add", .threads = m->threads, .isa = lm_isa_name(isas[i])};
        add_rate(report, row, &samples, 32.0, "GFLOP/s");
    }
}

static void measure_copies(machine *m, const bench_options *options, const char *bench, bench_report *report)
{
    static const struct {
        const char *name;
        size_t size;
    } arrays[] = {{"copy-l2", 256u << 10}, {"copy-l3", 4u << 20}, {"copy-memory", COPY_BYTES}};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        bench_samples samples = {0};
        double lines = (double)m->threads * (double)COPY_BYTES / 64.0;
        for (uint32_t round = 0; round < (options->quick ? 1 : 10); round++)
            bench_samples_add(&samples, time_job(m, (machine_job){.size = arrays[k].size}) / lines);
        bench_row row = {.bench = bench, .stage = arrays[k].name, .threads = m->threads, .isa = "best"};
        add_rate(report, row, &samples, 64.0, "GB/s");
    }
}

int bench_machine(const bench_options *options, const char *bench, bench_report *report)
{
    bench_progress("the machine");
    for (uint32_t threads = 1; threads <= options->threads; threads *= 2) {
        machine m;
        if (!machine_make(&m, threads)) return bench_fail("out of memory");
        measure_arithmetic(&m, options, bench, report);
        measure_copies(&m, options, bench, report);
        machine_free(&m);
    }
    return 0;
}
