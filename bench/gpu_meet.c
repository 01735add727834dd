/*
 * limber bench gpu, contacts: bodies that keep each other out, all of them touching their neighbours on all sides.
 *
 *   cube-map contacts   by the force of depth cube maps, found and applied on the device; the time of a step, of the same step of
 *                       bodies that do not see each other, and of each kernel
 *   solved contacts     by the engine's own solver, on the device as well: a step, and each kernel; against the CPU
 */
#include "base/os.h"
#include "gpu/gpu.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME (1.0 / 60.0)
#define POINTS 100

typedef struct pack_case {
    const char *name;
    uint32_t bodies;
    bool meets;
    lm_contact_method method;
} pack_case;

static void tell_line(lm_result result, const char *line, void *user)
{
    (void)result;
    (void)user;
    fprintf(stderr, "limber: bench: %s\n", line);
}

/* Boxes of 100 points in a cubic pack, a centimetre into each other. */
static lm_world *make_pack(const bench_options *options, const char *device, const pack_case *c)
{
    lm_vec3 points[POINTS];
    lm_world_def def = lm_world_def_default();
    def.workers = options->threads;
    def.isa = options->isa;
    def.device = device;
    def.log.write = tell_line;
    lm_world *world = NULL;
    if (lm_world_create(&def, &world) != LM_OK) return NULL;
    bool ok = lm_world_set_contact_method(world, c->method) == LM_OK &&
              lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}) == LM_OK;
    for (uint32_t n = 0; n < POINTS; n++)
        points[n] = (lm_vec3){0.1f * (float)(n % 5), 0.1f * (float)(n / 5 % 5), 0.1f * (float)(n / 25)};
    uint32_t side = 1;
    while (side * side * side < c->bodies) side++;
    for (uint32_t n = 0; ok && n < c->bodies; n++) {
        lm_body_def body = lm_body_def_default();
        lm_body_id id;
        body.points = points;
        body.point_count = POINTS;
        body.clusters.counts[0] = body.clusters.counts[1] = body.clusters.counts[2] = 2;
        body.material.mode = LM_MODE_QUADRATIC;
        body.material.hertz = 6.0f;
        body.mass = 1.0f;
        body.penalty = 0.02f; /* N/m, of particles of 10 g: so soft that the pack stays together while it is measured */
        body.mask = c->meets ? 1 : 0;
        body.pose.position = (lm_dvec3){0.39 * (n % side), 0.39 * (n / side % side), 0.29 * (n / side / side)};
        ok = lm_body_create(world, &body, &id) == LM_OK;
    }
    if (!ok) {
        lm_world_destroy(world);
        world = NULL;
    }
    return world;
}

static bool take_steps(lm_world *world, uint32_t count, uint32_t particles, bench_samples *samples)
{
    for (uint32_t n = 0; n < count; n++) {
        uint64_t before = lmi_os_nanoseconds();
        if (lm_world_step(world, FRAME) != LM_OK) return false;
        lmi_gpu_finish(world);
        if (samples) bench_samples_add(samples, (double)(lmi_os_nanoseconds() - before) / particles);
    }
    return true;
}

static bench_row row_of(const bench_options *options, const pack_case *c, const char *variant, const char *stage,
                        bool device)
{
    return (bench_row){.bench = "gpu",
                       .name = c->name,
                       .variant = variant,
                       .stage = stage,
                       .particles = c->bodies * POINTS,
                       .bodies = c->bodies,
                       .threads = device ? 0 : options->threads,
                       .isa = device ? "opencl" : lm_isa_name(options->isa),
                       .mode = "quadratic",
                       .clusters = 8};
}

/* The kernels of some more steps, each by itself. */
static bool time_kernels(const bench_options *options, lm_world *world, const pack_case *c, uint32_t steps,
                         bench_report *report)
{
    lmi_gpu *gpu = world->gpu;
    const uint32_t count = gpu->kernel_count; /* all that a step of this world needs were built in the steps before */
    bench_samples *samples = calloc(count, sizeof *samples);
    bool ok = samples && lmi_gpu_time_kernels(gpu, true);
    for (uint32_t n = 0; ok && n < steps; n++) {
        for (uint32_t k = 0; k < count; k++) gpu->kernels[k].nanoseconds = 0;
        ok = take_steps(world, 1, c->bodies * POINTS, NULL);
        for (uint32_t k = 0; k < count; k++)
            if (gpu->kernels[k].nanoseconds)
                bench_samples_add(&samples[k], (double)gpu->kernels[k].nanoseconds / (c->bodies * POINTS));
    }
    ok = lmi_gpu_time_kernels(gpu, false) && ok;
    for (uint32_t k = 0; samples && k < count; k++) {
        if (samples[k].count)
            bench_report_add(report, row_of(options, c, "device", gpu->kernels[k].name, true), &samples[k]);
        bench_samples_free(&samples[k]);
    }
    free(samples);
    return ok;
}

/* Bodies were at rest, and nothing but others can have moved them. */
static bool has_touched(lm_world *world)
{
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    return totals.finite && totals.max_speed > 1e-3;
}

static int run_case(const bench_options *options, const pack_case *c, const char *device, const char *variant,
                    bool kernels, bench_report *report)
{
    bench_progress(c->name);
    uint32_t steps = options->quick ? 5 : 50;
    lm_world *world = make_pack(options, device, c);
    bench_samples samples = {NULL, 0, 0, false};
    bool ok = world && take_steps(world, 5, c->bodies * POINTS, NULL) &&
              take_steps(world, steps, c->bodies * POINTS, &samples);
    if (ok && c->meets && !has_touched(world)) ok = false;
    if (ok) bench_report_add(report, row_of(options, c, variant, "step", device != NULL), &samples);
    if (ok && kernels) ok = time_kernels(options, world, c, steps / 2 + 1, report);
    bench_samples_free(&samples);
    lm_world_destroy(world);
    bench_report_write(report);
    return ok ? 0 : bench_fail("gpu: bodies that meet could not be made or stepped");
}

int bench_gpu_meet(const bench_options *options, bench_report *report)
{
    uint32_t bodies = options->quick ? 64 : 4000;
    bool all = bodies == 4000;
    const pack_case maps = {all ? "cube-map contacts of 4,000 bodies" : "cube-map contacts", bodies, true,
                            LM_CONTACT_METHOD_CUBE_MAP};
    const pack_case apart = {all ? "4,000 bodies without contacts" : "without contacts", bodies, false,
                             LM_CONTACT_METHOD_CUBE_MAP};
    const pack_case solved = {all ? "solved contacts of 4,000 bodies" : "solved contacts", bodies, true,
                              LM_CONTACT_METHOD_SOLVED};
    int status = run_case(options, &maps, options->device, "device", true, report);
    status = status ? status : run_case(options, &apart, options->device, "device", false, report);
    status = status ? status : run_case(options, &maps, NULL, "limber", false, report);
    status = status ? status : run_case(options, &solved, options->device, "device", true, report);
    return status ? status : run_case(options, &solved, NULL, "limber", false, report);
}
