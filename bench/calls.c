/*
 * What the calls cost that a host waits for, of bodies of some 3,000 particles with a skin of 1,050 vertices: a duck as one region, as 64
 * clusters, as a lattice and as an octree.
 *
 *   create         lm_body_create, alone in its world         company      the same of a second body: the solids of both are made
 *   skin           lm_body_set_skin                           clone        lm_body_clone
 *   prepare        lm_body_prepare with skin, solid and cut, on whichever thread
 *   hand over      lm_body_create_prepared into a world that has such a body already
 *   prepare cut    lm_body_prepare_cut                        first cut, next cut   lm_body_cut_sweep of a prepared body
 *   pose, masses, filter, material                            setters
 *   save, load, save state, load state                        of the world with the two bodies
 *   step           lm_world_step, for comparison
 *
 * A row's rate is milliseconds of processor time of the fastest of several, so that other programs count little. Always on one thread.
 */
#include "runner.h"

#include "limber/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ONE, CLUSTERS, LATTICE, OCTREE, KINDS };

enum {
    CREATE,
    COMPANY,
    SKIN,
    CLONE,
    PREPARE,
    HAND_OVER,
    READY,
    FIRST_CUT,
    NEXT_CUT,
    POSE,
    MASSES,
    FILTER,
    MATERIAL,
    SAVE,
    LOAD,
    SAVE_STATE,
    LOAD_STATE,
    STEP,
    CALLS
};

static const char *const kind_names[KINDS] = {"one region", "clusters", "lattice", "octree"};
static const char *const call_names[CALLS] = {
    "create", "company", "skin",   "clone",    "prepare", "hand over", "prepare cut", "first cut",  "next cut",
    "pose",   "masses",  "filter", "material", "save",    "load",      "save state",  "load state", "step"};

typedef struct subject {
    lm_world_def world_def;
    lm_shape_mesh mesh;
    lm_shape_cloud cloud;
    uint32_t wanted;
    lm_world *world;
    clock_t since;
    bench_samples samples[CALLS];
    uint32_t particles;
} subject;

static void begin(subject *s) { s->since = clock(); }

static bool end(subject *s, int call, lm_result result)
{
    bench_samples_add(&s->samples[call], 1e9 / CLOCKS_PER_SEC * (double)(clock() - s->since) / s->wanted);
    return result == LM_OK;
}

static lm_body_def def_of(const subject *s, int kind)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 10.0f;
    if (kind == ONE || kind == CLUSTERS) {
        def.points = s->cloud.points;
        def.point_count = s->cloud.point_count;
        for (int a = 0; a < 3; a++) def.clusters.counts[a] = kind == ONE ? 1 : 4;
    } else if (kind == LATTICE) {
        def.lattice.vertices = s->mesh.vertices;
        def.lattice.vertex_count = s->mesh.vertex_count;
        def.lattice.triangles = s->mesh.triangles;
        def.lattice.triangle_count = s->mesh.triangle_count;
        def.lattice.particles = s->wanted;
        def.lattice.width = 2;
    } else {
        def.octree.vertices = s->mesh.vertices;
        def.octree.vertex_count = s->mesh.vertex_count;
        def.octree.triangles = s->mesh.triangles;
        def.octree.triangle_count = s->mesh.triangle_count;
        def.octree.particles = s->wanted;
    }
    return def;
}

static lm_skin_def skin_of(const subject *s)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = s->mesh.vertices;
    skin.vertex_count = s->mesh.vertex_count;
    skin.triangles = s->mesh.triangles;
    skin.triangle_count = s->mesh.triangle_count;
    return skin;
}

static lm_result cut(lm_world *world, lm_body_id body, double height)
{
    const lm_dvec3 from[2] = {{-2, height, -2}, {-2, height, 2}}, to[2] = {{2, height, -2}, {2, height, 2}};
    return lm_body_cut_sweep(world, body, from, to, 2, NULL);
}

static bool set_all(subject *s, lm_body_id body)
{
    lm_pose pose = lm_pose_identity();
    lm_material material;
    lm_body_filter filter;
    lm_body_info info;
    if (lm_body_get_info(s->world, body, &info) != LM_OK || lm_body_get_material(s->world, body, &material) != LM_OK ||
        lm_body_get_filter(s->world, body, &filter) != LM_OK)
        return false;
    float *masses = malloc(info.particles * sizeof *masses);
    bool ok = masses && lm_body_get_masses(s->world, body, masses) == LM_OK;
    s->particles = info.particles;
    begin(s);
    ok = ok && end(s, MASSES, lm_body_set_masses(s->world, body, masses));
    begin(s);
    ok = ok && end(s, POSE, lm_body_set_pose(s->world, body, pose, false));
    begin(s);
    ok = ok && end(s, FILTER, lm_body_set_filter(s->world, body, &filter));
    material.hertz = 12.0f;
    begin(s);
    ok = ok && end(s, MATERIAL, lm_body_set_material(s->world, body, &material));
    free(masses);
    return ok;
}

static bool store(subject *s)
{
    size_t size = lm_world_save_size(s->world), state_size = lm_world_state_size(s->world), used;
    void *bytes = malloc(size), *state = malloc(state_size);
    bool ok = bytes && state;
    begin(s);
    ok = ok && end(s, SAVE, lm_world_save(s->world, bytes, size));
    begin(s);
    ok = ok && end(s, SAVE_STATE, lm_world_save_state(s->world, state, state_size, &used));
    begin(s);
    ok = ok && end(s, LOAD_STATE, lm_world_load_state(s->world, state, used));
    begin(s);
    ok = ok && end(s, LOAD, lm_world_load(s->world, bytes, size));
    free(bytes);
    free(state);
    return ok;
}

/* Two bodies of a kind, made in one way and in the other, and what is done with them. */
static bool go_through(subject *s, int kind)
{
    const lm_body_def def = def_of(s, kind);
    const lm_skin_def skin = skin_of(s);
    lm_prepare_def how = lm_prepare_def_default();
    lm_prepared *prepared = NULL;
    lm_body_id first, second, third;
    how.body = &def;
    how.skin = &skin;
    how.cut = true;
    if (lm_world_create(&s->world_def, &s->world) != LM_OK) return false;
    begin(s);
    bool ok = end(s, CREATE, lm_body_create(s->world, &def, &first));
    begin(s);
    ok = ok && end(s, SKIN, lm_body_set_skin(s->world, first, &skin));
    begin(s);
    ok = ok && end(s, READY, lm_body_prepare_cut(s->world, first));
    begin(s);
    ok = ok && end(s, COMPANY, lm_body_create(s->world, &def, &second));
    begin(s);
    ok = ok && end(s, CLONE, lm_body_clone(s->world, second, &third));
    ok = ok && lm_body_destroy(s->world, third) == LM_OK && lm_body_destroy(s->world, second) == LM_OK;
    begin(s);
    ok = ok && end(s, PREPARE, lm_body_prepare(&s->world_def, &how, &prepared));
    begin(s);
    ok = ok && end(s, HAND_OVER, lm_body_create_prepared(s->world, prepared, &second));
    if (!ok) lm_prepared_destroy(prepared);
    for (int n = 0; ok && n < 3; n++) {
        begin(s);
        ok = end(s, STEP, lm_world_step(s->world, 1.0 / 60.0));
    }
    ok = ok && set_all(s, first) && store(s);
    ok = ok && lm_body_set_pose(s->world, second, lm_pose_identity(), false) == LM_OK;
    begin(s);
    ok = ok && end(s, FIRST_CUT, cut(s->world, second, 0.03));
    begin(s);
    ok = ok && end(s, NEXT_CUT, cut(s->world, second, 0.2));
    lm_world_destroy(s->world);
    return ok;
}

static void report_kind(subject *s, int kind, bench_report *report)
{
    for (int call = 0; call < CALLS; call++) {
        bench_row row = {.bench = "calls",
                         .name = kind_names[kind],
                         .variant = "limber",
                         .stage = call_names[call],
                         .particles = s->particles,
                         .threads = 1,
                         .isa = lm_isa_name(s->world_def.isa),
                         .rate = bench_samples_fastest(&s->samples[call]) * s->wanted * 1e-6,
                         .rate_unit = "ms"};
        bench_report_add(report, row, &s->samples[call]);
        bench_samples_free(&s->samples[call]);
        s->samples[call] = (bench_samples){0};
    }
    bench_report_write(report);
}

int bench_calls(const bench_options *options, bench_report *report)
{
    lm_shape_def shape = lm_shape_def_default();
    lm_isa isas[LM_ISA_COUNT];
    subject s = {.world_def = lm_world_def_default(), .wanted = options->quick ? 400 : 3000};
    s.world_def.isa = isas[bench_isas(options, isas) - 1];
    s.world_def.workers = 1;
    s.world_def.gravity = (lm_vec3){0, 0, 0};
    shape.name = "duck";
    shape.detail = options->quick ? 8 : 24;
    if (lm_shape_make_mesh(&shape, &s.mesh) != LM_OK) return bench_fail("out of memory");
    bool ok = lm_shape_make_cloud(&shape, &s.mesh, s.wanted, &s.cloud) == LM_OK;
    for (int kind = 0; ok && kind < KINDS; kind++) {
        bench_progress(kind_names[kind]);
        for (uint32_t n = 0; ok && n < (options->quick ? 1u : 3u); n++) ok = go_through(&s, kind);
        report_kind(&s, kind, report);
    }
    lm_shape_cloud_free(&s.cloud);
    lm_shape_mesh_free(&s.mesh);
    return ok ? 0 : bench_fail("a call has failed");
}
