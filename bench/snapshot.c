/*
 * What saving, loading and copying cost.
 *
 *   box      one lattice of 97,336 particles on the ground
 *   crowd    100 lattices of 1,000 particles each, in a heap
 *   tets     one body of tetrahedra, some 20,000 particles with a region each
 *   penguin  a lattice of some 1,500 particles with its skin: made, and cloned
 *
 * Stages are "save state" and "load state" (lm_world_save_state, lm_world_load_state), "save" and "load" (whole snapshots), "create" and
 * "clone". A row's rate is milliseconds, of the fastest of several; rows of "state" and "snapshot" say how many bytes a particle takes.
 * Always on one thread.
 */
#include "runner.h"

#include "base/os.h"
#include "limber/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stored {
    lm_world *world;
    lm_isa isa;
    uint32_t particles;
    unsigned char *state, *whole;
    size_t state_size, state_capacity, whole_size;
} stored;

static bool world_make(stored *s, const bench_options *options)
{
    lm_world_def def = lm_world_def_default();
    lm_isa isas[LM_ISA_COUNT];
    *s = (stored){.isa = isas[bench_isas(options, isas) - 1]};
    def.isa = s->isa;
    def.workers = 1;
    lm_collider_def ground = lm_collider_def_default();
    lm_collider_id collider;
    return lm_world_create(&def, &s->world) == LM_OK && lm_collider_create(s->world, &ground, &collider) == LM_OK;
}

static void stored_free(stored *s)
{
    lm_world_destroy(s->world);
    free(s->state);
    free(s->whole);
    *s = (stored){0};
}

/* --- what is saved --- */

static bool add_cube(stored *s, uint32_t cells, float side, lm_dvec3 at)
{
    size_t count = (size_t)cells * cells * cells;
    uint8_t *filled = malloc(count);
    if (!filled) return false;
    memset(filled, 1, count);
    lm_body_def def = lm_body_def_default();
    lm_body_id body;
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = cells;
    def.lattice.spacing = side / (float)cells;
    def.pose.position = at;
    def.material.hertz = 30.0f;
    def.lattice.width = 3;
    def.mask = 1;
    bool ok = lm_body_create(s->world, &def, &body) == LM_OK;
    free(filled);
    return ok;
}

static bool make_box(stored *s, const bench_options *options)
{
    return add_cube(s, options->quick ? 9 : 45, 1.0f, (lm_dvec3){0.0, 0.01, 0.0});
}

static bool make_crowd(stored *s, const bench_options *options)
{
    const uint32_t cells = options->quick ? 3 : 9, side = options->quick ? 2 : 5;
    bool ok = true;
    for (uint32_t n = 0; ok && n < 4 * side * side; n++)
        ok = add_cube(s, cells, 0.4f,
                      (lm_dvec3){0.42 * (n % side), 0.01 + 0.42 * (n / (side * side)), 0.42 * (n / side % side)});
    return ok;
}

static bool make_tets(stored *s, const bench_options *options)
{
    lm_shape_def shape = lm_shape_def_default();
    lm_shape_mesh mesh;
    shape.name = "box";
    shape.size = (lm_vec3){1.0f, 1.0f, 1.0f};
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return false;
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    lm_body_id body;
    def.tets.vertices = mesh.vertices;
    def.tets.vertex_count = mesh.vertex_count;
    def.tets.triangles = mesh.triangles;
    def.tets.triangle_count = mesh.triangle_count;
    def.tets.particles = options->quick ? 500 : 20000;
    def.pose.position.y = 0.6;
    bool ok = lm_body_create(s->world, &def, &body) == LM_OK;
    lm_shape_mesh_free(&mesh);
    return ok;
}

/* --- how long it takes --- */

typedef bool task(stored *s);

static bool save_state(stored *s)
{
    return lm_world_save_state(s->world, s->state, s->state_capacity, &s->state_size) == LM_OK;
}

static bool load_state(stored *s) { return lm_world_load_state(s->world, s->state, s->state_size) == LM_OK; }
static bool save_whole(stored *s) { return lm_world_save(s->world, s->whole, s->whole_size) == LM_OK; }
static bool load_whole(stored *s) { return lm_world_load(s->world, s->whole, s->whole_size) == LM_OK; }

static void add_row(bench_report *report, const stored *s, const char *name, const char *stage, double rate,
                    const char *unit, bench_samples *samples)
{
    bench_row row = {.bench = "snapshot",
                     .name = name,
                     .variant = "limber",
                     .stage = stage,
                     .particles = s->particles,
                     .threads = 1,
                     .isa = lm_isa_name(s->isa),
                     .rate_unit = unit,
                     .rate = rate};
    bench_report_add(report, row, samples);
}

static bool measure(stored *s, const char *name, const char *stage, task *run, uint32_t rounds, bench_report *report)
{
    bench_samples samples = {0};
    bool ok = true;
    for (uint32_t n = 0; ok && n < rounds; n++) {
        uint64_t before = lmi_os_nanoseconds();
        ok = run(s);
        bench_samples_add(&samples, (double)(lmi_os_nanoseconds() - before) / s->particles);
    }
    double fastest = ok ? bench_samples_fastest(&samples) * s->particles * 1e-6 : 0.0;
    if (ok) add_row(report, s, name, stage, fastest, "ms", &samples);
    bench_samples_free(&samples);
    return ok;
}

static bool measure_world(stored *s, const char *name, const bench_options *options, bench_report *report)
{
    const uint32_t many = options->quick ? 2 : 100, few = options->quick ? 1 : 3;
    for (int frame = 0; frame < 30; frame++)
        if (lm_world_step(s->world, 1.0 / 60.0) != LM_OK) return false;
    lm_stats stats;
    lm_world_get_stats(s->world, &stats);
    s->particles = stats.particles;
    s->state_capacity = lm_world_state_size(s->world);
    s->whole_size = lm_world_save_size(s->world);
    s->state = malloc(s->state_capacity);
    s->whole = malloc(s->whole_size);
    bench_samples none = {0};
    if (!s->state || !s->whole || !measure(s, name, "save state", save_state, many, report) ||
        !measure(s, name, "load state", load_state, many, report) ||
        !measure(s, name, "save", save_whole, few, report) || !measure(s, name, "load", load_whole, few, report))
        return false;
    add_row(report, s, name, "state", (double)s->state_size / s->particles, "bytes a particle", &none);
    add_row(report, s, name, "snapshot", (double)s->whole_size / s->particles, "bytes a particle", &none);
    return true;
}

/* --- copies --- */

static bool create_penguin(stored *s, const lm_shape_mesh *mesh, uint32_t particles, lm_body_id *body)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    lm_skin_def skin = lm_skin_def_default();
    def.lattice.vertices = skin.vertices = mesh->vertices;
    def.lattice.vertex_count = skin.vertex_count = mesh->vertex_count;
    def.lattice.triangles = skin.triangles = mesh->triangles;
    def.lattice.triangle_count = skin.triangle_count = mesh->triangle_count;
    def.lattice.particles = particles;
    def.mask = 1;
    return lm_body_create(s->world, &def, body) == LM_OK && lm_body_set_skin(s->world, *body, &skin) == LM_OK;
}

static bool measure_copies(stored *s, const bench_options *options, bench_report *report)
{
    lm_shape_def shape = lm_shape_def_default();
    lm_shape_mesh mesh;
    shape.name = "penguin";
    shape.size = lm_shape_natural_size("penguin");
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return false;
    bench_samples samples[2] = {{0}, {0}};
    lm_body_id first, other;
    bool ok = create_penguin(s, &mesh, options->quick ? 200 : 1500, &first);
    lm_body_info info;
    ok = ok && lm_body_get_info(s->world, first, &info) == LM_OK && lm_world_step(s->world, 1.0 / 60.0) == LM_OK;
    s->particles = ok ? info.particles : 0;
    for (uint32_t n = 0; ok && n < (options->quick ? 4u : 200u); n++) {
        uint64_t before = lmi_os_nanoseconds();
        ok = n % 2 ? lm_body_clone(s->world, first, &other) == LM_OK
                   : create_penguin(s, &mesh, options->quick ? 200 : 1500, &other);
        bench_samples_add(&samples[n % 2], (double)(lmi_os_nanoseconds() - before) / s->particles);
        ok = ok && lm_body_destroy(s->world, other) == LM_OK;
    }
    for (int n = 0; ok && n < 2; n++)
        add_row(report, s, "penguin", n ? "clone" : "create", bench_samples_median(&samples[n]) * s->particles * 1e-3,
                "us", &samples[n]);
    bench_samples_free(&samples[0]);
    bench_samples_free(&samples[1]);
    lm_shape_mesh_free(&mesh);
    return ok;
}

int bench_snapshot(const bench_options *options, bench_report *report)
{
    static const char *const names[] = {"box", "crowd", "tets"};
    static bool (*const make[])(stored *, const bench_options *) = {make_box, make_crowd, make_tets};
    stored s;
    bool ok = true;
    for (int n = 0; ok && n < 3; n++) {
        bench_progress(names[n]);
        ok = world_make(&s, options) && make[n](&s, options) && measure_world(&s, names[n], options, report);
        stored_free(&s);
        bench_report_write(report);
    }
    bench_progress("penguin");
    ok = ok && world_make(&s, options) && measure_copies(&s, options, report);
    stored_free(&s);
    return ok ? 0 : bench_fail("a world could not be made, saved or loaded");
}
