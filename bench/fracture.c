/*
 * What breaking costs, with the statue of 57,600 particles, without a surface and with one.
 *
 *   link     one link breaks, again and again in other places: the call of lm_body_break, with all that is made again
 *   shatter  the statue, of 12,000 particles and of 57,600, flies apart into more than 1,000 pieces within 40 frames: the
 *            slowest frame
 *
 * A row's rate is in milliseconds: the median of all links, and the slowest frame of the best run. Its other times are these
 * for each particle. Always on one thread.
 */
#include "runner.h"

#include "base/os.h"
#include "limber/shapes.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES = 57600, FEWER_PARTICLES = 12000, QUICK_PARTICLES = 2000, DETAIL = 120, QUICK_DETAIL = 24 };

/* One statue that is to be broken. */
typedef struct broken_statue {
    lm_world *world;
    lm_isa isa;
    lm_body_id body;
    uint32_t particles;
    lm_vec3 *rest;
    double spacing;
} broken_statue;

static void statue_free(broken_statue *s)
{
    lm_world_destroy(s->world);
    free(s->rest);
    *s = (broken_statue){0};
}

static lm_result add_skin(broken_statue *s, const lm_shape_mesh *mesh)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = mesh->vertices;
    skin.vertex_count = mesh->vertex_count;
    skin.triangles = mesh->triangles;
    skin.triangle_count = mesh->triangle_count;
    return lm_body_set_skin(s->world, s->body, &skin);
}

static lm_result add_body(broken_statue *s, const lm_shape_mesh *mesh, uint32_t particles)
{
    lm_body_def def = lm_body_def_default();
    def.lattice.vertices = mesh->vertices;
    def.lattice.vertex_count = mesh->vertex_count;
    def.lattice.triangles = mesh->triangles;
    def.lattice.triangle_count = mesh->triangle_count;
    def.lattice.particles = particles;
    def.lattice.width = 1;
    def.mass = 100.0f;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 80.0f;
    def.material.damping_ratio = 0.05f;
    return lm_body_create(s->world, &def, &s->body);
}

static bool statue_make(broken_statue *s, const bench_options *options, uint32_t particles,
                        const lm_fracture_def *fracture, bool skinned)
{
    lm_world_def def = lm_world_def_default();
    lm_shape_def shape = lm_shape_def_default();
    lm_shape_mesh mesh;
    lm_isa isas[LM_ISA_COUNT];
    *s = (broken_statue){.isa = isas[bench_isas(options, isas) - 1]}; /* the widest */
    def.isa = s->isa;
    def.workers = 1;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    shape.name = "statue";
    shape.size = lm_shape_natural_size("statue");
    shape.detail = options->quick ? QUICK_DETAIL : DETAIL;
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return false;
    bool ok = lm_world_create(&def, &s->world) == LM_OK &&
              add_body(s, &mesh, options->quick ? QUICK_PARTICLES : particles) == LM_OK &&
              (!skinned || add_skin(s, &mesh) == LM_OK) && lm_body_set_fracture(s->world, s->body, fracture) == LM_OK;
    lm_shape_mesh_free(&mesh);
    lm_body_info info;
    ok = ok && lm_body_get_info(s->world, s->body, &info) == LM_OK;
    s->rest = ok ? malloc(info.particles * sizeof *s->rest) : NULL;
    s->particles = ok ? info.particles : 0;
    s->spacing = ok ? info.spacing : 0.0;
    return s->rest && lm_body_get_rest_positions(s->world, s->body, s->rest) == LM_OK;
}

/* --- links --- */

/* Breaks the link of a particle along an axis, where there is one that can break. */
static bool break_link(broken_statue *s, uint32_t particle, uint32_t axis, bench_samples *samples)
{
    lm_vec3 at = s->rest[particle];
    float half = (float)(0.5 * s->spacing);
    uint32_t broken = 0;
    at.x += axis == 0 ? half : 0.0f;
    at.y += axis == 1 ? half : 0.0f;
    at.z += axis == 2 ? half : 0.0f;
    uint64_t before = lmi_os_nanoseconds();
    bool ok = lm_body_break(s->world, s->body, at, 0.1f * half, &broken) == LM_OK;
    if (ok && broken == 1) bench_samples_add(samples, (double)(lmi_os_nanoseconds() - before) / s->particles);
    return ok;
}

static bool break_links(broken_statue *s, uint32_t wanted, bench_samples *samples)
{
    bool ok = true;
    for (uint32_t n = 1; ok && samples->count < wanted && n < 100 * wanted; n++)
        ok = break_link(s, (uint32_t)((uint64_t)n * 2654435761u % s->particles), n % 3, samples);
    return ok && samples->count == wanted;
}

/* --- pieces --- */

/* Everything flies away from the middle, the faster the farther out. */
static bool blow_up(broken_statue *s)
{
    const float rate = 120.0f; /* 1/s */
    lm_vec3 *x = malloc(s->particles * sizeof *x), *v = malloc(s->particles * sizeof *v);
    bool ok = x && v && lm_body_get_positions(s->world, s->body, lm_dvec3_zero(), x) == LM_OK;
    for (uint32_t n = 0; ok && n < s->particles; n++) v[n] = (lm_vec3){rate * x[n].x, rate * x[n].y, rate * x[n].z};
    ok = ok && lm_body_set_state(s->world, s->body, lm_dvec3_zero(), x, v) == LM_OK;
    free(x);
    free(v);
    return ok;
}

/* The slowest frame of the explosion, nanoseconds; 0 when it failed. */
static double slowest_frame(broken_statue *s, uint32_t frames, uint32_t *pieces)
{
    double slowest = 0.0;
    if (!blow_up(s) || lm_world_step(s->world, 1e-9) != LM_OK) return 0.0; /* the first step lays the body out */
    for (uint32_t frame = 0; frame < frames; frame++) {
        uint64_t before = lmi_os_nanoseconds();
        if (lm_world_step(s->world, 1.0 / 60.0) != LM_OK) return 0.0;
        double took = (double)(lmi_os_nanoseconds() - before);
        slowest = took > slowest ? took : slowest;
    }
    lm_body_info info;
    if (lm_body_get_info(s->world, s->body, &info) != LM_OK) return 0.0;
    *pieces = info.pieces;
    return slowest;
}

/* --- rows --- */

/* `nanoseconds` for each particle are shown as milliseconds. */
static void add_row(bench_report *report, const char *name, const broken_statue *s, bool skinned, double nanoseconds,
                    bench_samples *samples)
{
    bench_row row = {.bench = "fracture",
                     .name = name,
                     .variant = "limber",
                     .stage = "break",
                     .mode = skinned ? "with a surface" : "without a surface",
                     .particles = s->particles,
                     .threads = 1,
                     .isa = lm_isa_name(s->isa),
                     .width = 1,
                     .rate_unit = "ms",
                     .rate = nanoseconds * s->particles * 1e-6};
    bench_report_add(report, row, samples);
}

static bool measure_links(const bench_options *options, bench_report *report, bool skinned)
{
    broken_statue s;
    bench_samples samples = {0};
    lm_fracture_def fracture = lm_fracture_def_default();
    bench_progress("fracture: links");
    bool ok =
        statue_make(&s, options, PARTICLES, &fracture, skinned) && break_links(&s, options->quick ? 4 : 300, &samples);
    if (ok) add_row(report, "link", &s, skinned, bench_samples_median(&samples), &samples);
    bench_samples_free(&samples);
    statue_free(&s);
    return ok;
}

static bool measure_shattering(const bench_options *options, bench_report *report, uint32_t particles, bool skinned)
{
    const uint32_t rounds = options->quick ? 1 : 5, enough = options->quick ? 10 : 1000;
    bench_samples samples = {0};
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 0.05f;
    fracture.grain = options->quick ? 0.1f : 0.04f;
    fracture.grain_strength = 0.1f;
    bool ok = true;
    for (uint32_t round = 0; ok && round < rounds; round++) {
        broken_statue s;
        uint32_t pieces = 0;
        bench_progress("fracture: pieces");
        double slowest = statue_make(&s, options, particles, &fracture, skinned) ? slowest_frame(&s, 40, &pieces) : 0.0;
        ok = slowest > 0.0 && pieces > enough;
        if (ok) bench_samples_add(&samples, slowest / s.particles);
        if (ok && round + 1 == rounds)
            add_row(report, "shatter", &s, skinned, bench_samples_fastest(&samples), &samples);
        statue_free(&s);
    }
    bench_samples_free(&samples);
    return ok;
}

int bench_fracture(const bench_options *options, bench_report *report)
{
    for (int skinned = 0; skinned < 2; skinned++) {
        if (!measure_links(options, report, skinned)) return bench_fail("no link of the statue could be broken");
        bench_report_write(report);
    }
    for (int n = 0; n < (options->quick ? 2 : 4); n++) {
        if (!measure_shattering(options, report, n / 2 ? PARTICLES : FEWER_PARTICLES, n % 2))
            return bench_fail("the statue did not fall into pieces");
        bench_report_write(report);
    }
    return 0;
}
