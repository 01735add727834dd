/*
 * limber bench gpu: steps on an OpenCL device.
 *
 * What the device copies in a second comes first: a step cannot be faster than the bytes that it has to move. Then large
 * bodies and crowds, each with the time of its kernels; then bodies of growing size on the device and on the CPU, which show
 * from which size on the device is the faster one. Times are those of the host, from before a step until the device has
 * nothing left to do. Kernels are timed by the device's own clock, in steps of their own, because waiting for each of them
 * costs some microseconds.
 */
#include "gpu/gpu.h"
#include "base/os.h"
#include "gpu_cases.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME (1.0 / 60.0)

/* Why a device does not step. */
static void tell_line(lm_result result, const char *line, void *user)
{
    (void)result;
    (void)user;
    fprintf(stderr, "limber: bench: %s\n", line);
}

static void open_device(lm_world *world, const bench_options *options)
{
    const lmi_gpu_limits limits = {
        .tile_x = options->tile_x, .tile_y = options->tile_y, .planes = options->planes, .options = options->options};
    lmi_gpu_open(world, options->device, &limits);
}

/* On the device, or else on the CPU. */
static lm_world *make_world(const bench_options *options, const char *device)
{
    lm_world_def def = lm_world_def_default();
    def.workers = device ? 1 : options->threads;
    def.isa = options->isa;
    def.log.write = tell_line;
    lm_world *world = NULL;
    if (lm_world_create(&def, &world) != LM_OK) return NULL;
    if (device) open_device(world, options);
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

static bench_row row_of(const crowd *c, const char *variant, const char *stage, uint32_t particles, uint32_t threads,
                        const char *isa)
{
    return (bench_row){.bench = "gpu",
                       .name = c->name,
                       .variant = variant,
                       .stage = stage,
                       .particles = particles,
                       .threads = threads,
                       .isa = isa,
                       .mode = c->mode,
                       .clusters = c->clusters,
                       .width = c->width};
}

/* The kernels of some more steps, each by itself. */
static bool time_kernels(lm_world *world, const crowd *c, uint32_t particles, uint32_t steps, bench_report *report)
{
    lmi_gpu *gpu = world->gpu;
    const uint32_t count = gpu->kernel_count; /* all that a step of this world needs were built in the steps before */
    bench_samples *samples = calloc(count, sizeof *samples);
    bool ok = samples && lmi_gpu_time_kernels(gpu, true);
    for (uint32_t n = 0; ok && n < steps; n++) {
        for (uint32_t k = 0; k < count; k++) gpu->kernels[k].nanoseconds = 0;
        ok = take_steps(world, 1, particles, NULL);
        for (uint32_t k = 0; k < count; k++)
            if (gpu->kernels[k].nanoseconds)
                bench_samples_add(&samples[k], (double)gpu->kernels[k].nanoseconds / particles);
    }
    ok = lmi_gpu_time_kernels(gpu, false) && ok;
    for (uint32_t k = 0; samples && k < count; k++) {
        if (samples[k].count)
            bench_report_add(report, row_of(c, "device", gpu->kernels[k].name, particles, 0, "opencl"), &samples[k]);
        bench_samples_free(&samples[k]);
    }
    free(samples);
    return ok;
}

/* A crowd on the device; `bandwidth` in bytes a nanosecond, or 0: only the step. */
static int run_device(const bench_options *options, const crowd *c, double bandwidth, uint32_t steps,
                      bench_report *report)
{
    lm_world *world = make_world(options, options->device);
    uint32_t particles = 0;
    bench_samples samples = {NULL, 0, 0, false};
    bool ok = world && crowd_fill(world, c, &particles) && take_steps(world, 5, particles, NULL);
    if (ok && !lmi_gpu_goes_on(world, FRAME)) {
        lm_world_destroy(world);
        fprintf(stderr, "limber: bench: gpu: %s: left out, the device cannot hold or step it\n", c->name);
        return 0;
    }
    ok = ok && take_steps(world, steps, particles, &samples);
    if (ok) {
        bench_row row = row_of(c, "device", "step", particles, 0, "opencl");
        if (bandwidth > 0.0) {
            row.rate = 100.0 * c->bytes / (bandwidth * bench_samples_median(&samples));
            row.rate_unit = "% of copy bandwidth";
        }
        bench_report_add(report, row, &samples);
        if (bandwidth > 0.0) ok = time_kernels(world, c, particles, steps / 2 + 1, report);
    }
    bench_samples_free(&samples);
    lm_world_destroy(world);
    return ok ? 0 : bench_fail("gpu: a world could not be made or stepped");
}

/* Copies on the device, bytes read and written a nanosecond; 0: no device. */
static double copy_bandwidth(const bench_options *options, bench_report *report)
{
    lm_world *world = make_world(options, options->device);
    lmi_gpu *gpu = world ? world->gpu : NULL;
    lmi_gpu_buffer from = {.memory = NULL}, to = {.memory = NULL};
    double best = 0.0;
    size_t size = options->quick ? (size_t)16 << 20 : (size_t)512 << 20;
    bench_samples samples = {NULL, 0, 0, false};
    if (gpu && lmi_gpu_reserve(gpu, &from, size) && lmi_gpu_reserve(gpu, &to, size)) {
        for (int n = 0; n < 12; n++) {
            gpu->cl.clFinish(gpu->queue);
            uint64_t before = lmi_os_nanoseconds();
            gpu->cl.clEnqueueCopyBuffer(gpu->queue, from.memory, to.memory, 0, 0, size, 0, NULL, NULL);
            gpu->cl.clFinish(gpu->queue);
            double each = (double)(lmi_os_nanoseconds() - before);
            if (n >= 2) bench_samples_add(&samples, each * 64.0 / (double)size);
        }
        best = 2.0 * 64.0 / bench_samples_median(&samples);
        bench_row row = {.bench = "gpu",
                         .name = "copy",
                         .variant = "machine",
                         .stage = gpu->name,
                         .particles = (uint32_t)(size / 64),
                         .isa = "opencl",
                         .rate = best,
                         .rate_unit = "GB/s"};
        bench_report_add(report, row, &samples);
        bench_report_write(report);
        lmi_gpu_free(gpu, &from);
        lmi_gpu_free(gpu, &to);
    }
    bench_samples_free(&samples);
    lm_world_destroy(world);
    return best;
}

/* ---- cases ---- */

static bool box_cells(uint32_t corners, lattice_cells *cells)
{
    *cells = (lattice_cells){.spacing = 0.01f, .counts = {corners - 1, corners - 1, corners - 1}};
    size_t count = (size_t)(corners - 1) * (corners - 1) * (corners - 1);
    cells->cells = malloc(count);
    if (cells->cells) memset(cells->cells, 1, count);
    return cells->cells != NULL;
}

static int run_boxes(const bench_options *options, double bandwidth, bench_report *report)
{
    uint32_t corners = options->size ? options->size : options->quick ? 32 : 256;
    lattice_cells cells;
    int status = 0;
    if (!box_cells(corners, &cells)) return bench_fail("out of memory");
    for (uint32_t width = 1; status == 0 && width <= 2; width++) {
        crowd c = crowd_of_lattices("box", &cells, 1, width);
        bench_progress("box");
        status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
        bench_report_write(report);
    }
    lattice_cells_free(&cells);
    return status;
}

static int run_model(const bench_options *options, double bandwidth, lattice_shape shape, const char *name,
                     uint32_t particles, uint32_t bodies, uint32_t width, bench_report *report)
{
    lattice_cells cells;
    bench_progress(name);
    if (!lattice_cells_make_of(shape, particles, &cells)) return bench_fail("out of memory");
    crowd c = crowd_of_lattices(name, &cells, bodies, width);
    int status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
    bench_report_write(report);
    lattice_cells_free(&cells);
    return status;
}

/* Lattices that take the long way: lasting deformation, damping region by region. */
static int run_kinds(const bench_options *options, double bandwidth, bench_report *report)
{
    static const char *const names[] = {"box", "plastic box", "regionally damped box"};
    lattice_cells cells;
    int status = 0;
    if (!box_cells(options->quick ? 16 : 128, &cells)) return bench_fail("out of memory");
    for (int n = 0; status == 0 && n < 3; n++) {
        crowd c = crowd_of_lattices(names[n], &cells, 1, 1);
        if (n == 1) c.def.material.yield = 0.05f;
        if (n == 2) c.def.material.damping_kind = LM_DAMPING_REGIONAL;
        bench_progress(c.name);
        status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
        bench_report_write(report);
    }
    lattice_cells_free(&cells);
    return status;
}

/* Penguins that lie on the ground with their particles, or hang from pins. */
static int run_ground(const bench_options *options, double bandwidth, bench_report *report)
{
    static const struct {
        const char *name;
        crowd_ground ground;
        bool pinned;
    } cases[] = {{"on a plane", CROWD_PLANE, false},
                 {"on a height map", CROWD_HEIGHTS, false},
                 {"on a mesh", CROWD_MESH, false},
                 {"pinned", CROWD_NO_GROUND, true}};
    lattice_cells cells;
    int status = 0;
    if (!lattice_cells_make_of(LATTICE_PENGUIN, 150, &cells)) return bench_fail("out of memory");
    for (size_t n = 0; status == 0 && n < sizeof cases / sizeof *cases; n++) {
        crowd c = crowd_of_lattices(cases[n].name, &cells, options->quick ? 50 : 10000, 2);
        c.ground = cases[n].ground;
        c.drop = 0.5f * cells.spacing * (float)cells.counts[1];
        c.pinned = cases[n].pinned;
        c.def.material.hertz = 4.0f;
        bench_progress(c.name);
        status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
        bench_report_write(report);
    }
    lattice_cells_free(&cells);
    return status;
}

static int run_clusters(const bench_options *options, double bandwidth, bench_report *report)
{
    lm_vec3 points[100];
    crowd c = crowd_of_clusters("clusters", options->quick ? 50 : 10000, points);
    bench_progress("clusters");
    int status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
    bench_report_write(report);
    return status;
}

/* The same bodies on the CPU, then on the device: some take long to make. */
static int run_both(const bench_options *options, const crowd *c, bench_report *report)
{
    lm_world *world = make_world(options, NULL);
    uint32_t particles = 0, steps = options->quick ? 3 : 30;
    bench_samples host = {NULL, 0, 0, false}, device = {NULL, 0, 0, false};
    bench_progress(c->name);
    bool ok = world && crowd_fill(world, c, &particles) && take_steps(world, 3, particles, NULL) &&
              take_steps(world, options->quick ? 3 : 10, particles, &host);
    if (ok) open_device(world, options);
    ok = ok && take_steps(world, 5, particles, NULL) && take_steps(world, steps, particles, &device);
    if (ok) {
        const char *isa = lm_isa_name(lm_world_get_isa(world));
        bench_report_add(report, row_of(c, "limber", "step", particles, options->threads, isa), &host);
        if (lmi_gpu_goes_on(world, FRAME))
            bench_report_add(report, row_of(c, "device", "step", particles, 0, "opencl"), &device);
        else
            fprintf(stderr, "limber: bench: gpu: %s: the device cannot hold or step it\n", c->name);
        bench_report_write(report);
    }
    bench_samples_free(&host);
    bench_samples_free(&device);
    lm_world_destroy(world);
    return ok ? 0 : bench_fail("gpu: a world could not be made or stepped");
}

static bool make_hand(lm_shape_mesh *hand)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = "hand";
    def.size = lm_shape_natural_size("hand");
    def.detail = 24;
    return lm_shape_make_mesh(&def, hand) == LM_OK;
}

/* Hands of growing detail, as in the bench "octree"; larger ones, and many, take minutes to make. */
static const struct hand_size {
    uint32_t particles;
    float spacing;
} hand_sizes[] = {{661, 0.0122f}, {3000, 0.008f}, {10000, 0.0053f}, {30000, 0.0037f}};

static int run_octrees(const bench_options *options, double bandwidth, bench_report *report)
{
    lm_shape_mesh hand = {.vertex_count = 0};
    int status = 0;
    if (!make_hand(&hand)) return bench_fail("out of memory");
    const struct hand_size *large = &hand_sizes[options->quick ? 0 : 3], *small = &hand_sizes[0];
    const crowd cases[] = {
        crowd_of_octrees("octree", &hand, large->particles, large->spacing, 1),
        crowd_of_octrees("octrees", &hand, small->particles, small->spacing, options->quick ? 4 : 50)};
    for (size_t n = 0; status == 0 && n < sizeof cases / sizeof *cases; n++) {
        bench_progress(cases[n].name);
        status = run_device(options, &cases[n], bandwidth, options->quick ? 5 : 50, report);
        bench_report_write(report);
    }
    lm_shape_mesh_free(&hand);
    return status;
}

/* Bodies of tetrahedra as large as the smallest of the bench "examples", with and without examples. */
static int run_examples(const bench_options *options, double bandwidth, bench_report *report)
{
    tets_block block = {.point_count = 0};
    int status = tets_block_make(&block, 5, 5, 9) ? 0 : bench_fail("out of memory");
    for (int n = 0; status == 0 && n < 3; n++) {
        static const char *const names[] = {"tetrahedra", "examples of bodies", "examples of regions"};
        crowd c = crowd_of_tets(names[n], &block, options->quick ? 4 : 1000, n > 0, n > 1);
        bench_progress(c.name);
        status = run_device(options, &c, bandwidth, options->quick ? 5 : 50, report);
        bench_report_write(report);
    }
    tets_block_free(&block);
    return status;
}

static const uint32_t crowd_sizes[] = {10, 100, 1000, 10000};

static int cross_lattices(const bench_options *options, bench_report *report)
{
    static const uint32_t sizes[] = {8, 16, 32, 64, 128};
    int status = 0;
    for (size_t n = 0; status == 0 && n < (options->quick ? 2 : 5); n++) {
        lattice_cells cells;
        if (!box_cells(sizes[n], &cells)) return bench_fail("out of memory");
        crowd c = crowd_of_lattices("crossover box", &cells, 1, 1);
        status = run_both(options, &c, report);
        lattice_cells_free(&cells);
    }
    for (size_t n = 0; status == 0 && n < (options->quick ? 1 : 4); n++) {
        lattice_cells cells;
        if (!lattice_cells_make_of(LATTICE_PENGUIN, 150, &cells)) return bench_fail("out of memory");
        crowd c = crowd_of_lattices("crossover penguins", &cells, crowd_sizes[n], 2);
        status = run_both(options, &c, report);
        lattice_cells_free(&cells);
    }
    return status;
}

/* Clusters, and tetrahedra without examples and with. */
static int cross_clusters(const bench_options *options, bench_report *report)
{
    int status = 0;
    for (size_t n = 0; status == 0 && n < (options->quick ? 1 : 4); n++) {
        lm_vec3 points[100];
        crowd c = crowd_of_clusters("crossover clusters", crowd_sizes[n], points);
        status = run_both(options, &c, report);
    }
    tets_block block = {.point_count = 0};
    status = status ? status : tets_block_make(&block, 5, 5, 9) ? 0 : bench_fail("out of memory");
    for (int kind = 0; status == 0 && kind < 2; kind++)
        for (size_t n = 0; status == 0 && n < (options->quick ? 1 : 3); n++) {
            crowd c = crowd_of_tets(kind ? "crossover examples" : "crossover tetrahedra", &block, crowd_sizes[n],
                                    kind == 1, false);
            status = run_both(options, &c, report);
        }
    tets_block_free(&block);
    return status;
}

/* One octree of growing size, then more and more small ones. */
static int cross_octrees(const bench_options *options, bench_report *report)
{
    static const uint32_t crowds[] = {10, 50};
    lm_shape_mesh hand = {.vertex_count = 0};
    int status = make_hand(&hand) ? 0 : bench_fail("out of memory");
    for (size_t n = 0; status == 0 && n < (options->quick ? 1 : 4); n++) {
        crowd c = crowd_of_octrees("crossover octree", &hand, hand_sizes[n].particles, hand_sizes[n].spacing, 1);
        status = run_both(options, &c, report);
    }
    for (size_t n = 0; status == 0 && n < (options->quick ? 1 : 2); n++) {
        crowd c =
            crowd_of_octrees("crossover octrees", &hand, hand_sizes[0].particles, hand_sizes[0].spacing, crowds[n]);
        status = run_both(options, &c, report);
    }
    lm_shape_mesh_free(&hand);
    return status;
}

static int run_crossover(const bench_options *options, bench_report *report)
{
    int status = cross_lattices(options, report);
    status = status ? status : cross_clusters(options, report);
    return status ? status : cross_octrees(options, report);
}

static bool wanted(const bench_options *options, const char *name)
{
    return !options->only || strcmp(options->only, name) == 0;
}

static bool is_case(const char *name)
{
    static const char *const all[] = {"box",   "statue", "penguins", "clusters", "octrees",  "examples",
                                      "kinds", "ground", "contacts", "skins",    "crossover"};
    bool found = false;
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) found = found || strcmp(all[n], name) == 0;
    return found;
}

int bench_gpu(const bench_options *options, bench_report *report)
{
    bench_options used = *options;
    if (used.only && !is_case(used.only))
        return bench_fail("gpu: there is no such case (limber bench --help lists them after --only)");
    used.device = used.device ? used.device : "gpu";
    double bandwidth = copy_bandwidth(&used, report);
    if (!(bandwidth > 0.0))
        return bench_fail("gpu: there is no OpenCL device that can be used (limber devices lists them)");
    int status = 0;
    if (wanted(&used, "box")) status = run_boxes(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "statue"))
        status = run_model(&used, bandwidth, LATTICE_STATUE, "statue", used.quick ? 5000 : 2000000, 1, 1, report);
    if (status == 0 && wanted(&used, "penguins"))
        status = run_model(&used, bandwidth, LATTICE_PENGUIN, "penguins", 150, used.quick ? 50 : 10000, 2, report);
    if (status == 0 && wanted(&used, "clusters")) status = run_clusters(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "octrees")) status = run_octrees(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "examples")) status = run_examples(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "kinds")) status = run_kinds(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "ground")) status = run_ground(&used, bandwidth, report);
    if (status == 0 && wanted(&used, "contacts")) status = bench_gpu_meet(&used, report);
    if (status == 0 && wanted(&used, "skins")) status = bench_gpu_skins(&used, report);
    if (status == 0 && wanted(&used, "crossover")) status = run_crossover(&used, report);
    bench_progress(NULL);
    return status;
}
