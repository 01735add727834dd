/*
 * The list of benchmarks.
 */
#include "bench.h"

#include "base/os.h"
#include "runner.h"
#include "support/system.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *description;
    int (*run)(const bench_options *options, bench_report *report);
} benches[] = {
    {"clusters", "the step of overlapping clusters: the scene crowd, and one body of 100 to 10,000 points",
     bench_clusters},
    {"contacts", "bodies that touch each other and themselves: a packed crowd of 10 to 4,000, statue, penguins",
     bench_contacts},
    {"lattice", "the step of lattices: solid and sparse shapes, widths, and the plain program", bench_lattice},
    {"examples", "what example poses add to a step: the sizes of the paper's table 1", bench_examples},
    {"fracture", "breaking: one link of statue, and statue in more than 1,000 pieces", bench_fracture},
    {"octree", "the step of octrees: an adaptive hand beside its lattice, up to 100,000 particles, regular cells",
     bench_octree},
    {"skeleton", "soft flesh on moving bones: the scene infant", bench_skeleton},
    {"snapshot", "saving and loading, whole and state alone, and copies of bodies", bench_snapshot},
    {"calls", "what a host waits for: making, preparing, copying, cutting and storing bodies of 3,000 particles",
     bench_calls},
    {"polar", "one polar decomposition: speed and accuracy, inversions included", bench_polar},
#if LIMBER_HAS_OPENCL
    {"gpu", "steps on an OpenCL device: large boxes, a statue, crowds, and from which size on it is the faster one",
     bench_gpu},
#endif
};

#define BENCH_COUNT (sizeof benches / sizeof benches[0])

const char *bench_name(uint32_t index) { return index < BENCH_COUNT ? benches[index].name : NULL; }

const char *bench_description(const char *name)
{
    for (size_t i = 0; i < BENCH_COUNT; i++)
        if (strcmp(benches[i].name, name) == 0) return benches[i].description;
    return NULL;
}

int bench_fail(const char *message)
{
    fprintf(stderr, "limber: bench: %s\n", message);
    return 1;
}

uint32_t bench_isas(const bench_options *options, lm_isa *isas)
{
    uint32_t count = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        if (lm_isa_supported((lm_isa)isa) && (options->isa == LM_ISA_BEST || options->isa == (lm_isa)isa))
            isas[count++] = (lm_isa)isa;
    return count;
}

void bench_progress(const char *what)
{
    if (!lmi_system_is_terminal(stderr)) return;
    if (what)
        fprintf(stderr, "\r\033[K%s", what);
    else
        fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

/* "has scalar, sse2, avx2" */
static int fail_isa(lm_isa isa)
{
    char message[200];
    const char *name = lm_isa_name(isa);
    int length =
        snprintf(message, sizeof message, "this machine lacks the instruction set \"%s\"; it has", name ? name : "?");
    for (int other = LM_ISA_SCALAR; other < LM_ISA_COUNT; other++)
        if (lm_isa_supported((lm_isa)other) && length > 0 && (size_t)length < sizeof message)
            length += snprintf(message + length, sizeof message - (size_t)length, " %s", lm_isa_name((lm_isa)other));
    return bench_fail(message);
}

static int fail_unknown(const char *name)
{
    char message[200];
    int length = snprintf(message, sizeof message, "no benchmark is called \"%.60s\" (expected ", name);
    for (size_t i = 0; i < BENCH_COUNT; i++)
        length += snprintf(message + length, sizeof message - (size_t)length, "%s, ", benches[i].name);
    snprintf(message + length, sizeof message - (size_t)length, "or all)");
    return bench_fail(message);
}

int bench_run(const char *name, const bench_options *options)
{
    bench_options used = options ? *options : (bench_options){.isa = LM_ISA_BEST};
    uint32_t cores = lmi_os_cores();
    if (used.threads == 0) used.threads = cores < 2 ? cores : 2;
    if (used.threads > LM_MAX_WORKERS) used.threads = LM_MAX_WORKERS;
    if (used.isa != LM_ISA_BEST && !lm_isa_supported(used.isa)) return fail_isa(used.isa);

    bool all = strcmp(name, "all") == 0, found = false;
    for (size_t i = 0; i < BENCH_COUNT; i++) {
        if (!all && strcmp(benches[i].name, name) != 0) continue;
        found = true;
        if (all && strcmp(benches[i].name, "gpu") == 0 && lm_device_list(NULL, 0) == 0)
            continue; /* nothing to measure */
        bench_report report = {.options = &used};
        int status = benches[i].run(&used, &report);
        if (!bench_report_finish(&report)) return bench_fail("the results could not be written");
        if (status != 0) return status;
    }
    if (found) return 0;
    return fail_unknown(name);
}
