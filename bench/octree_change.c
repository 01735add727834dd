/*
 * What it costs to change an octree.
 *
 *   stroke   three strokes of a blade through the liver of the scene liver-cut, a frame of each at a time, with and without a skin
 *   refine   a hand of 661 particles gets about 352 more by a brush (the change of Steinemann et al. 2008, table 1), and loses them
 *   spread   all of the hand wants other cells at once, by the eye: steps that do a share of it each, and all of it at once
 *
 * Times are nanoseconds for one change (or step), not for each particle; `particles` are those that there are after it.
 */
#include "octree_change.h"
#include "base/os.h"
#include "limber/shapes.h"

#include <math.h>

#define HAND_SPACING 0.0122f
#define HAND_WIDTH 0.08f
#define MORE 352.0 /* particles, of the change that is measured */

typedef struct change_case {
    lm_world *world;
    lm_body_id body;
    lm_shape_mesh mesh;
} change_case;

static bool make_case(change_case *c, const char *shape, float spacing, uint32_t levels, uint32_t particles,
                      float width, bool skin)
{
    lm_shape_def how = lm_shape_def_default();
    lm_world_def def = lm_world_def_default();
    *c = (change_case){0};
    how.name = shape;
    how.size = lm_shape_natural_size(shape);
    how.detail = 64;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    def.workers = 1;
    def.substeps = 2; /* on the best instruction set there is */
    if (lm_shape_make_mesh(&how, &c->mesh) != LM_OK || lm_world_create(&def, &c->world) != LM_OK) return false;
    lm_body_def body = lm_body_def_default();
    body.material.hertz = 8.0f;
    body.octree.vertices = c->mesh.vertices;
    body.octree.vertex_count = c->mesh.vertex_count;
    body.octree.triangles = c->mesh.triangles;
    body.octree.triangle_count = c->mesh.triangle_count;
    body.octree.spacing = spacing;
    body.octree.levels = levels;
    body.octree.particles = particles;
    body.octree.width = width;
    body.material.mode = LM_MODE_RIGID;
    body.contact_points = skin ? LM_CONTACT_AUTO : LM_CONTACT_PARTICLES;
    if (lm_body_create(c->world, &body, &c->body) != LM_OK) return false;
    lm_skin_def given = lm_skin_def_default();
    given.vertices = c->mesh.vertices;
    given.vertex_count = c->mesh.vertex_count;
    given.triangles = c->mesh.triangles;
    given.triangle_count = c->mesh.triangle_count;
    return !skin || lm_body_set_skin(c->world, c->body, &given) == LM_OK;
}

static void free_case(change_case *c)
{
    lm_world_destroy(c->world);
    lm_shape_mesh_free(&c->mesh);
}

static uint32_t particles_of(const change_case *c)
{
    lm_body_info info;
    return lm_body_get_info(c->world, c->body, &info) == LM_OK ? info.particles : 0;
}

/* A row of the samples, and one of the slowest. */
static void add_rows(bench_report *report, const char *name, const char *stage, const char *slowest, uint32_t particles,
                     bool skin, bench_samples *samples)
{
    lm_isa isas[LM_ISA_COUNT];
    const char *isa = lm_isa_name(isas[bench_isas(report->options, isas) - 1]); /* the best one there is */
    bench_row row = {.bench = "octree",
                     .name = name,
                     .variant = "limber",
                     .stage = stage,
                     .particles = particles,
                     .threads = 1,
                     .isa = isa,
                     .method = skin ? "with skin" : "without skin"};
    bench_samples worst = {0};
    double most = 0.0;
    for (uint32_t n = 0; n < samples->count; n++) most = fmax(most, samples->values[n]);
    bench_samples_add(&worst, most);
    bench_report_add(report, row, samples);
    row.stage = slowest;
    bench_report_add(report, row, &worst);
    bench_samples_free(&worst);
}

/* --- strokes --- */

/* One frame of a stroke across the liver; 0 where it cut nothing, below 0 when it failed. */
static double stroke(change_case *c, double x, double from, double to)
{
    lm_dvec3 a[2] = {{x, from, -0.6}, {x, from, 0.6}}, b[2] = {{x, to, -0.6}, {x, to, 0.6}};
    lm_cut_info info;
    uint64_t before = lmi_os_nanoseconds();
    if (lm_body_cut_sweep(c->world, c->body, a, b, 2, &info) != LM_OK) return -1.0;
    double taken = (double)(lmi_os_nanoseconds() - before);
    return info.links ? taken : 0.0;
}

static bool measure_strokes(const bench_options *options, bench_report *report, bool skin)
{
    static const double across[3] = {0.12, -0.14, 0.03}, depth[3] = {0.0, 0.0, -0.8};
    static const int frames[3] = {24, 24, 3};
    bench_samples samples = {0};
    uint32_t particles = 0;
    bool ok = true;
    bench_progress("stroke");
    for (int round = 0; ok && round < (options->quick ? 1 : 5); round++) {
        change_case c;
        ok = make_case(&c, "liver", 0.02f, 3, 500, 0.12f, skin);
        for (int cut = 0; ok && cut < (options->quick ? 1 : 3); cut++) {
            for (int n = 0; ok && n < frames[cut]; n++) {
                double way = (0.6 - depth[cut]) / frames[cut];
                double taken = stroke(&c, across[cut], 0.6 - way * n, 0.6 - way * (n + 1));
                ok = taken >= 0.0 && lm_world_step(c.world, 1.0 / 60.0) == LM_OK;
                if (taken > 0.0) bench_samples_add(&samples, taken);
            }
        }
        particles = ok ? particles_of(&c) : 0;
        free_case(&c);
    }
    if (ok) add_rows(report, "stroke", "stroke", "slowest stroke", particles, skin, &samples);
    bench_samples_free(&samples);
    return ok;
}

/* --- a brush --- */

/* The radius with which a brush at a place adds about MORE particles. */
static bool find_radius(float *radius)
{
    float low = 0.0f, high = 2.0f;
    bool ok = true;
    for (int n = 0; ok && n < 12; n++) {
        change_case c;
        ok = make_case(&c, "hand", HAND_SPACING, 4, 661, HAND_WIDTH, false);
        uint32_t before = ok ? particles_of(&c) : 0;
        *radius = 0.5f * (low + high);
        ok = ok && lm_body_refine(c.world, c.body, lm_dvec3_zero(), *radius, 2.0f * HAND_SPACING, NULL) == LM_OK;
        *(ok && (double)particles_of(&c) - before > MORE ? &high : &low) = *radius;
        free_case(&c);
    }
    return ok;
}

static bool measure_brush(const bench_options *options, bench_report *report, float radius, bool skin)
{
    bench_samples more = {0}, fewer = {0};
    uint32_t particles[2] = {0, 0};
    bool ok = true;
    bench_progress("refine");
    for (int round = 0; ok && round < (options->quick ? 1 : 9); round++) {
        change_case c;
        ok = make_case(&c, "hand", HAND_SPACING, 4, 661, HAND_WIDTH, skin) &&
             lm_world_step(c.world, 1.0 / 60.0) == LM_OK;
        for (int way = 0; ok && way < 2; way++) {
            float size = (way ? 16.0f : 2.0f) * HAND_SPACING;
            uint64_t before = lmi_os_nanoseconds();
            ok = lm_body_refine(c.world, c.body, lm_dvec3_zero(), radius, size, NULL) == LM_OK;
            bench_samples_add(way ? &fewer : &more, (double)(lmi_os_nanoseconds() - before));
            particles[way] = particles_of(&c);
            ok = ok && lm_world_step(c.world, 1.0 / 60.0) == LM_OK;
        }
        free_case(&c);
    }
    if (ok) {
        add_rows(report, "refine", "divide", "slowest divide", particles[0], skin, &more);
        add_rows(report, "refine", "join", "slowest join", particles[1], skin, &fewer);
    }
    bench_samples_free(&more);
    bench_samples_free(&fewer);
    return ok;
}

/* --- a drastic change --- */

/* All of a hand wants cells of half the size or less; `per_step` of them get them in a step. */
static bool measure_spread(const bench_options *options, bench_report *report, uint32_t per_step, const char *name)
{
    bench_samples steps = {0};
    change_case c;
    bench_progress("spread");
    bool ok = make_case(&c, "hand", HAND_SPACING, 4, 661, HAND_WIDTH, false);
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.02f;
    detail.per_step = per_step;
    detail.budget = 6000;
    lm_dvec3 eye = {0.0, 0.0, 2.0};
    ok = ok && lm_body_set_detail(c.world, c.body, &detail) == LM_OK && lm_world_set_eye(c.world, &eye) == LM_OK;
    for (int n = 0; ok && n < (options->quick ? 2 : 60); n++) {
        uint64_t before = lmi_os_nanoseconds();
        ok = lm_world_step(c.world, 1.0 / 60.0) == LM_OK;
        bench_samples_add(&steps, (double)(lmi_os_nanoseconds() - before));
    }
    if (ok) add_rows(report, name, "step", "slowest step", particles_of(&c), false, &steps);
    bench_samples_free(&steps);
    free_case(&c);
    return ok;
}

int bench_octree_changes(const bench_options *options, bench_report *report)
{
    float radius = 0.3f;
    bool ok = options->quick || find_radius(&radius);
    for (int skin = 0; ok && skin < 2; skin++) {
        ok = measure_strokes(options, report, skin) && measure_brush(options, report, radius, skin);
        bench_report_write(report);
    }
    ok = ok && measure_spread(options, report, 64, "spread, 64 cells a step") &&
         measure_spread(options, report, 1000000, "spread, all at once");
    bench_report_write(report);
    return ok ? 0 : bench_fail("an octree could not be changed: out of memory");
}
