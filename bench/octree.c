/*
 * What a step of an octree costs.
 *
 *   hand     661 particles in cells of several sizes (the size of Steinemann et al. 2008, figure 1), on every instruction set;
 *            and the lattice that resolves the same fingers, with regions of the same width in metres
 *   growing  the same hand with smaller and smaller cells, up to 100,000 particles
 *   longer   a rod of always the same cells that gets longer, up to 100,000 particles: regions are alike, so that the time for each
 *            particle should not grow
 *   regular  a box of cells of one size, by the sums of octrees and by those of lattices
 *   stroke, refine, spread    what it costs to change one (octree_change.c)
 */
#include "base/os.h"
#include "limber/shapes.h"
#include "octree_change.h"

#include <stdio.h>

#define HAND_SPACING 0.0122f /* 35,000 particles as a lattice */
#define HAND_WIDTH 0.08f

typedef struct octree_case {
    const char *name, *method;
    lm_shape_mesh *mesh;
    float spacing, width;
    uint32_t levels, particles; /* of an octree; 0 particles: everything as fine as it can be */
    bool lattice;
    uint32_t lattice_width; /* steps; 0: `width` metres */
} octree_case;

static bool add_body(lm_world *world, const octree_case *c)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    if (c->lattice) {
        def.lattice.vertices = c->mesh->vertices;
        def.lattice.vertex_count = c->mesh->vertex_count;
        def.lattice.triangles = c->mesh->triangles;
        def.lattice.triangle_count = c->mesh->triangle_count;
        def.lattice.spacing = c->spacing;
        def.lattice.width = c->lattice_width ? c->lattice_width : 1;
        def.lattice.width_metres = c->lattice_width ? 0.0f : c->width;
    } else {
        def.octree.vertices = c->mesh->vertices;
        def.octree.vertex_count = c->mesh->vertex_count;
        def.octree.triangles = c->mesh->triangles;
        def.octree.triangle_count = c->mesh->triangle_count;
        def.octree.spacing = c->spacing;
        def.octree.levels = c->levels;
        def.octree.particles = c->particles;
        def.octree.detail = 200.0f;
        def.octree.width = c->width;
    }
    def.material.mode = LM_MODE_RIGID;
    def.spin = (lm_vec3){1.0f, 2.0f, 3.0f};
    def.contact_points = LM_CONTACT_PARTICLES; /* nothing is touched: there is no need to find points on the mesh */
    lm_body_id body;
    return lm_body_create(world, &def, &body) == LM_OK;
}

/* Steps a world in `rounds` turns of about equal time, and adds its row. */
static int measure(const bench_options *options, bench_report *report, const octree_case *c, lm_isa isa,
                   uint32_t threads, uint32_t rounds)
{
    lm_world_def def = lm_world_def_default();
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    def.workers = threads;
    def.isa = isa;
    lm_world *world = NULL;
    bench_progress(c->name);
    bool ready =
        lm_world_create(&def, &world) == LM_OK && add_body(world, c) && lm_world_step(world, 1.0 / 60.0) == LM_OK;
    if (!ready) {
        lm_world_destroy(world);
        return bench_fail("an octree could not be measured: out of memory");
    }
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    uint32_t steps = options->quick ? 1 : 1 + 100000 / stats.particles;
    bench_samples samples = {0};
    for (uint32_t round = 0; round < (options->quick ? 1 : rounds); round++) {
        uint64_t before = lmi_os_nanoseconds();
        for (uint32_t n = 0; n < steps; n++) lm_world_step(world, 1.0 / 60.0);
        bench_samples_add(&samples, (double)(lmi_os_nanoseconds() - before) / steps / stats.particles);
    }
    bench_row row = {.bench = "octree",
                     .name = c->name,
                     .variant = "limber",
                     .stage = "step",
                     .particles = stats.particles,
                     .threads = threads,
                     .isa = lm_isa_name(isa),
                     .mode = "rigid",
                     .method = c->method};
    bench_report_add(report, row, &samples);
    bench_samples_free(&samples);
    lm_world_destroy(world);
    return 0;
}

/* `length`: of a rod along x, 0.4 m thick; 0: as large as it is. */
static bool make_mesh(const char *name, uint32_t detail, float length, lm_shape_mesh *mesh)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = lm_shape_natural_size(name);
    def.size = length > 0.0f ? (lm_vec3){length, 0.4f, 0.4f} : def.size;
    def.detail = detail;
    return lm_shape_make_mesh(&def, mesh) == LM_OK;
}

static int run_hand(const bench_options *options, bench_report *report, lm_shape_mesh *hand)
{
    lm_isa isas[LM_ISA_COUNT];
    uint32_t isa_count = bench_isas(options, isas);
    octree_case adaptive = {"hand", "octree", hand, HAND_SPACING, HAND_WIDTH, 4, 661, false, 0};
    octree_case lattice = {"hand", "lattice", hand, HAND_SPACING, HAND_WIDTH, 0, 0, true, 0};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < isa_count; i++)
        status = measure(options, report, &adaptive, isas[i], 1, 60);
    if (status == 0 && !options->quick) status = measure(options, report, &lattice, isas[isa_count - 1], 1, 8);
    bench_report_write(report);
    return status;
}

static int run_growing(const bench_options *options, bench_report *report, lm_shape_mesh *hand)
{
    static const uint32_t particles[] = {661, 3000, 10000, 30000, 100000};
    static const float spacings[] = {0.0122f, 0.008f, 0.0053f, 0.0037f, 0.0025f};
    lm_isa isas[LM_ISA_COUNT];
    lm_isa best = isas[bench_isas(options, isas) - 1];
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < (options->quick ? 1 : 5); i++) {
        octree_case c = {"growing", "octree", hand, spacings[i], 6.5f * spacings[i], 4, particles[i], false, 0};
        for (uint32_t threads = 1; status == 0 && threads <= options->threads; threads *= 2)
            status = measure(options, report, &c, best, threads, 10);
        bench_report_write(report);
    }
    return status;
}

static int run_longer(const bench_options *options, bench_report *report)
{
    static const float lengths[] = {4.0f, 18.0f, 60.0f, 180.0f, 600.0f};
    lm_isa isas[LM_ISA_COUNT];
    lm_isa best = isas[bench_isas(options, isas) - 1];
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < (options->quick ? 1 : 5); i++) {
        lm_shape_mesh rod;
        if (!make_mesh("box", 4, lengths[i], &rod)) return bench_fail("out of memory");
        octree_case c = {"longer", "octree", &rod, 0.1f, 0.3f, 2, 0, false, 0};
        status = measure(options, report, &c, best, 1, 10);
        lm_shape_mesh_free(&rod);
        bench_report_write(report);
    }
    return status;
}

static int run_regular(const bench_options *options, bench_report *report, lm_shape_mesh *box)
{
    lm_isa isas[LM_ISA_COUNT];
    lm_isa best = isas[bench_isas(options, isas) - 1];
    float spacing = options->quick ? 0.2f : 1.0f / 30.0f;
    octree_case cases[] = {{"regular", "octree", box, spacing, spacing, 2, 0, false, 0},
                           {"regular", "lattice", box, spacing, 0.0f, 0, 0, true, 1},
                           {"regular wide", "octree", box, spacing, 4.0f * spacing, 3, 0, false, 0},
                           {"regular wide", "lattice", box, spacing, 0.0f, 0, 0, true, 4}};
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < 4; i++) status = measure(options, report, &cases[i], best, 1, 10);
    bench_report_write(report);
    return status;
}

int bench_octree(const bench_options *options, bench_report *report)
{
    lm_shape_mesh hand, box;
    if (!make_mesh("hand", 64, 0.0f, &hand)) return bench_fail("out of memory");
    int status = run_hand(options, report, &hand);
    if (status == 0) status = run_growing(options, report, &hand);
    lm_shape_mesh_free(&hand);
    if (status == 0) status = run_longer(options, report);
    if (status == 0 && !make_mesh("box", 4, 0.0f, &box)) return bench_fail("out of memory");
    if (status == 0) {
        status = run_regular(options, report, &box);
        lm_shape_mesh_free(&box);
    }
    return status ? status : bench_octree_changes(options, report);
}
