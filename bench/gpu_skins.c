/*
 * limber bench gpu, skins: surfaces of crowds that a device steps.
 *
 *   step    a step, until the device has nothing left to do
 *   make    vertices and normals of all bodies, on the device
 *   read    all of them through lm_body_get_skin, body by body, after they were made
 *   fetch   the particles brought back instead, which is what the CPU would make skins from
 *
 * and "make" of the variant "limber": lm_body_get_skin of all bodies in a world that the CPU steps, by one thread. Times are for a
 * vertex; the rate is milliseconds for all of them.
 */
#include "base/os.h"
#include "gpu/skins.h"
#include "lattice_cells.h"
#include "runner.h"
#include "world/access.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / 60.0)

typedef struct skin_case {
    const char *name;
    lm_body_def def;
    lm_skin_kind kind;
    uint32_t bodies, rows; /* of the ball that is its skin, twice as many columns */
} skin_case;

static void tell_line(lm_result result, const char *line, void *user)
{
    (void)result;
    (void)user;
    fprintf(stderr, "limber: bench: %s\n", line);
}

/* A ball around the rest positions. */
static bool add_skin(lm_world *world, lm_body_id id, const skin_case *c)
{
    uint32_t columns = 2 * c->rows, count = c->rows * columns, corners = 0;
    lm_body_info info;
    if (lm_body_get_info(world, id, &info) != LM_OK) return false;
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), *vertices = malloc(count * sizeof *vertices);
    uint32_t *triangles = malloc(6 * (size_t)count * sizeof *triangles);
    bool ok = rest && vertices && triangles && lm_body_get_rest_positions(world, id, rest) == LM_OK;
    lm_vec3 low = ok ? rest[0] : (lm_vec3){0}, high = low;
    for (uint32_t n = 1; ok && n < info.particles; n++) {
        low = (lm_vec3){fminf(low.x, rest[n].x), fminf(low.y, rest[n].y), fminf(low.z, rest[n].z)};
        high = (lm_vec3){fmaxf(high.x, rest[n].x), fmaxf(high.y, rest[n].y), fmaxf(high.z, rest[n].z)};
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        double up = 3.14159 * (n / columns + 0.5) / c->rows, turn = 6.28319 * (n % columns) / columns;
        vertices[n] = (lm_vec3){(float)(0.5 * (low.x + high.x) + 0.5 * (high.x - low.x) * sin(up) * cos(turn)),
                                (float)(0.5 * (low.y + high.y) + 0.5 * (high.y - low.y) * cos(up)),
                                (float)(0.5 * (low.z + high.z) + 0.5 * (high.z - low.z) * sin(up) * sin(turn))};
        uint32_t next = n % columns == columns - 1 ? n + 1 - columns : n + 1;
        const uint32_t six[6] = {n, next, n + columns, next, next + columns, n + columns};
        for (int k = 0; n / columns + 1 < c->rows && k < 6; k++) triangles[corners++] = six[k];
    }
    lm_skin_def def = lm_skin_def_default();
    def.kind = c->kind;
    def.vertices = vertices;
    def.vertex_count = count;
    def.triangles = triangles;
    def.triangle_count = corners / 3;
    ok = ok && lm_body_set_skin(world, id, &def) == LM_OK;
    free(rest);
    free(vertices);
    free(triangles);
    return ok;
}

static lm_world *make_world(const bench_options *options, const skin_case *c, const char *device, lm_body_id *ids)
{
    lm_world_def def = lm_world_def_default();
    def.workers = device ? 1 : options->threads;
    def.device = device;
    def.log.write = tell_line;
    lm_world *world = NULL;
    bool ok = lm_world_create(&def, &world) == LM_OK;
    for (uint32_t n = 0; ok && n < c->bodies; n++) {
        lm_body_def body = c->def;
        body.pose.position = (lm_dvec3){3.0 * (n % 100), 3.0 * (n / 100), 0.0};
        body.spin = (lm_vec3){0.1f, 0.2f, 0.1f};
        ok = lm_body_create(world, &body, &ids[n]) == LM_OK && add_skin(world, ids[n], c);
    }
    if (!ok) {
        lm_world_destroy(world);
        world = NULL;
    }
    return world;
}

static bool get_all(const lm_world *world, const lm_body_id *ids, uint32_t bodies, lm_vec3 *x, lm_vec3 *n)
{
    bool ok = true;
    for (uint32_t k = 0; ok && k < bodies; k++) {
        ok = lm_body_get_skin(world, ids[k], lm_dvec3_zero(), x, n) == LM_OK;
    }
    return ok;
}

/* Nanoseconds since `since`, for each of so many; and `since` is now. */
static void lap(bench_samples *samples, uint64_t *since, uint32_t vertices)
{
    uint64_t now = lmi_os_nanoseconds();
    bench_samples_add(samples, (double)(now - *since) / vertices);
    *since = now;
}

enum { STEP, MAKE, READ, FETCH, LAPS };

static bool run_device(lm_world *world, const skin_case *c, const lm_body_id *ids, uint32_t steps, lm_vec3 *x,
                       lm_vec3 *n, bench_samples samples[LAPS])
{
    lmi_gpu *gpu = world->gpu;
    uint32_t vertices = c->bodies * c->rows * c->rows * 2;
    bool ok = gpu != NULL;
    for (uint32_t k = 0; ok && k < steps + 3; k++) {
        if (k == 3) { /* the first few lay out and warm up */
            for (int s = 0; s < LAPS; s++) bench_samples_free(&samples[s]);
        }
        uint64_t since = lmi_os_nanoseconds();
        ok = lm_world_step(world, FRAME) == LM_OK;
        lmi_gpu_finish(world);
        lap(&samples[STEP], &since, vertices);
        ok = ok && gpu->holds && lmi_gpu_skins_ready(world, gpu, true);
        lmi_gpu_finish(world);
        lap(&samples[MAKE], &since, vertices);
        ok = ok && get_all(world, ids, c->bodies, x, n) && gpu->newer;
        lap(&samples[READ], &since, vertices);
        lmi_world_read(world);
        lap(&samples[FETCH], &since, vertices);
    }
    return ok && !gpu->lost;
}

static bool run_host(lm_world *world, const skin_case *c, const lm_body_id *ids, uint32_t steps, lm_vec3 *x, lm_vec3 *n,
                     bench_samples samples[LAPS])
{
    uint32_t vertices = c->bodies * c->rows * c->rows * 2;
    bool ok = true;
    for (uint32_t k = 0; ok && k < steps; k++) {
        uint64_t since = lmi_os_nanoseconds();
        ok = lm_world_step(world, FRAME) == LM_OK;
        lap(&samples[STEP], &since, vertices);
        ok = ok && get_all(world, ids, c->bodies, x, n);
        lap(&samples[MAKE], &since, vertices);
    }
    return ok;
}

static int run_case(const bench_options *options, const skin_case *c, const char *device, bench_report *report)
{
    static const char *const stages[LAPS] = {"step", "make", "read", "fetch"};
    uint32_t each = c->rows * c->rows * 2, vertices = c->bodies * each, steps = options->quick ? 3 : 20;
    bench_progress(c->name);
    lm_body_id *ids = malloc(c->bodies * sizeof *ids);
    lm_vec3 *x = malloc(2 * (size_t)each * sizeof *x);
    lm_world *world = ids && x ? make_world(options, c, device, ids) : NULL;
    bench_samples samples[LAPS] = {{NULL, 0, 0, false}};
    bool ok = world && (device ? run_device(world, c, ids, steps, x, x + each, samples)
                               : run_host(world, c, ids, options->quick ? 2 : 5, x, x + each, samples));
    for (int n = 0; n < LAPS; n++) {
        if (ok && samples[n].count) {
            bench_row row = {.bench = "gpu",
                             .name = c->name,
                             .variant = device ? "device" : "limber",
                             .stage = stages[n],
                             .particles = vertices,
                             .bodies = c->bodies,
                             .threads = device      ? 0
                                        : n == MAKE ? 1
                                                    : options->threads,
                             .isa = device ? "opencl" : lm_isa_name(lm_world_get_isa(world)),
                             .rate = 1e-6 * vertices * bench_samples_median(&samples[n]),
                             .rate_unit = "ms"};
            bench_report_add(report, row, &samples[n]);
        }
        bench_samples_free(&samples[n]);
    }
    lm_world_destroy(world);
    free(ids);
    free(x);
    bench_report_write(report);
    return ok ? 0 : bench_fail("gpu: a world with skins could not be made or stepped");
}

int bench_gpu_skins(const bench_options *options, bench_report *report)
{
    lattice_cells cells;
    lm_vec3 points[100];
    if (!lattice_cells_make_of(LATTICE_PENGUIN, 150, &cells)) return bench_fail("out of memory");
    skin_case penguins = {"skins of penguins", lm_body_def_default(), LM_SKIN_PARTICLES, options->quick ? 20 : 10000,
                          22};
    penguins.def.lattice.cells = cells.cells;
    memcpy(penguins.def.lattice.counts, cells.counts, sizeof cells.counts);
    penguins.def.lattice.spacing = cells.spacing;
    penguins.def.lattice.width = 2;
    penguins.def.contact_points = LM_CONTACT_PARTICLES;
    skin_case clusters = {"skins of clusters", lm_body_def_default(), LM_SKIN_REGIONS, options->quick ? 20 : 10000, 12};
    for (uint32_t n = 0; n < 100; n++)
        points[n] = (lm_vec3){0.1f * (float)(n % 5), 0.1f * (float)(n / 5 % 5), 0.1f * (float)(n / 25)};
    clusters.def.points = points;
    clusters.def.point_count = 100;
    clusters.def.clusters.counts[0] = clusters.def.clusters.counts[1] = clusters.def.clusters.counts[2] = 2;
    clusters.def.material.mode = LM_MODE_QUADRATIC;
    clusters.def.contact_points = LM_CONTACT_PARTICLES;
    int status = 0;
    const skin_case *const all[] = {&penguins, &clusters};
    for (int n = 0; status == 0 && n < 4; n++) {
        status = run_case(options, all[n / 2], n % 2 ? NULL : options->device, report);
    }
    lattice_cells_free(&cells);
    return status;
}
