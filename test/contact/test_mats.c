/*
 * Thin bodies hold others: a ball falls on a mat that is pinned at two of its edges, or flies into one that is free. It must end on
 * the side it came from; before cells were as fine as bodies are thick, and points remembered which way they came in, it fell through.
 *
 * With an argument (`all`) over thicknesses, stiffnesses, masses, drops and substeps, as a table of what holds: a mat that its own
 * weight or the ball stretches to several times its length does not.
 */
#include "limber/shapes.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { LATTICE, OCTREE, TETS, CLUSTERS, KINDS } kind;
static const char *const kind_names[KINDS] = {"lattice", "octree", "tets", "clusters"};

#define RADIUS 0.3

typedef struct trial {
    kind k;
    double hertz, thick, mass, drop;
    double fly; /* m/s: no gravity, and the mat is free */
    uint32_t substeps;
} trial;

static lm_shape_mesh make_shape(const char *name, lm_vec3 size, float detail)
{
    lm_shape_mesh mesh;
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = size;
    def.detail = detail;
    assert_ok(lm_shape_make_mesh(&def, &mesh));
    return mesh;
}

static lm_body_id add(lm_world *world, const trial *t, const lm_shape_mesh *m, uint32_t particles, double mass,
                      double y, double speed)
{
    lm_body_def def = lm_body_def_default();
    def.mass = (float)mass;
    def.mask = 1;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = (float)t->hertz;
    def.material.damping_ratio = 0.5f;
    def.pose.position.y = y;
    def.velocity.y = (float)-speed;
    if (t->k == LATTICE) {
        def.lattice.vertices = m->vertices, def.lattice.vertex_count = m->vertex_count;
        def.lattice.triangles = m->triangles, def.lattice.triangle_count = m->triangle_count;
        def.lattice.particles = particles;
    } else if (t->k == OCTREE) {
        def.octree.vertices = m->vertices, def.octree.vertex_count = m->vertex_count;
        def.octree.triangles = m->triangles, def.octree.triangle_count = m->triangle_count;
    } else if (t->k == TETS) {
        def.tets.vertices = m->vertices, def.tets.vertex_count = m->vertex_count;
        def.tets.triangles = m->triangles, def.tets.triangle_count = m->triangle_count;
        def.tets.particles = particles;
    } else {
        def.points = m->vertices;
        def.point_count = m->vertex_count;
        def.clusters.kind = LM_CLUSTERS_KMEANS;
        def.clusters.count = particles > 500 ? 60 : 1;
    }
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = m->vertices, skin.vertex_count = m->vertex_count;
    skin.triangles = m->triangles, skin.triangle_count = m->triangle_count;
    assert_ok(lm_body_set_skin(world, id, &skin));
    return id;
}

/* At two edges. */
static void pin(lm_world *world, lm_body_id mat)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, mat, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    uint32_t *held = malloc(info.particles * sizeof *held), count = 0;
    assert_ok(lm_body_get_rest_positions(world, mat, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if (fabsf(rest[n].x) > 0.94f) held[count++] = n;
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id id;
    def.body = mat;
    def.particles = held;
    def.particle_count = count;
    assert_ok(lm_pin_create(world, &def, &id));
    free(rest);
    free(held);
}

/* How far above the lowest place of the mat (where it is free: above its middle) the ball's centre is in the end, metres. */
static double run(const trial *t, int frames)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.substeps = t->substeps;
    def.workers = 1;
    if (t->fly > 0.0) def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    assert_ok(lm_world_create(&def, &world));
    lm_shape_mesh ball = make_shape("sphere", (lm_vec3){2 * RADIUS, 2 * RADIUS, 2 * RADIUS}, 8);
    lm_shape_mesh slab = make_shape("box", (lm_vec3){2.0f, (float)t->thick, 2.0f}, 16);
    lm_body_id mat = add(world, t, &slab, 2000, 4.0, 0.0, 0.0);
    lm_body_id id = add(world, t, &ball, 300, t->mass, 0.5 * t->thick + RADIUS + t->drop, t->fly);
    if (t->fly <= 0.0) pin(world, mat);
    for (int n = 0; n < frames; n++) assert_ok(lm_world_step(world, FRAME));
    lm_body_info one, other;
    assert_ok(lm_body_get_info(world, id, &one));
    assert_ok(lm_body_get_info(world, mat, &other));
    lm_world_destroy(world);
    lm_shape_mesh_free(&ball);
    lm_shape_mesh_free(&slab);
    return one.centre.y - (t->fly > 0.0 ? other.centre.y : other.lower.y);
}

static void mats_hold(void **context)
{
    (void)context;
    static const trial trials[] = {
        {LATTICE, 8, 0.15, 1.0, 1.0, 0.0, 2},   {LATTICE, 8, 0.15, 1.0, 0.2, 4.0, 2},
        {LATTICE, 40, 0.05, 0.2, 3.0, 0.0, 2},  {OCTREE, 12, 0.15, 1.0, 1.0, 0.0, 2},
        {OCTREE, 8, 0.15, 1.0, 0.2, 4.0, 2},    {TETS, 40, 0.15, 4.0, 1.0, 0.0, 2},
        {TETS, 8, 0.15, 1.0, 0.2, 4.0, 2},      {CLUSTERS, 12, 0.05, 0.2, 1.0, 0.0, 2},
        {CLUSTERS, 12, 0.15, 4.0, 1.0, 0.0, 2}, {CLUSTERS, 8, 0.15, 1.0, 0.2, 4.0, 1},
    };
    for (size_t n = 0; n < sizeof trials / sizeof *trials; n++) {
        const trial *t = &trials[n];
        double above = run(t, 150);
        print_message("%s of %g m at %g Hz, %g kg, %s: %.2f m above\n", kind_names[t->k], t->thick, t->hertz, t->mass,
                      t->fly > 0.0 ? "flies" : "falls", above);
        assert_true(above > 0.0);
    }
}

static void print_all(void)
{
    static const double hertz[] = {4, 8, 12, 20, 40}, thick[] = {0.05, 0.15, 0.3}, mass[] = {0.2, 1, 4, 20},
                        drop[] = {0.2, 3};
    for (kind k = 0; k < KINDS; k++)
        for (size_t d = 0; d < 3; d++)
            for (size_t m = 0; m < 4; m++) {
                print_message("%-9s %.2f m %4g kg:", kind_names[k], thick[d], mass[m]);
                for (size_t h = 0; h < 5; h++)
                    for (size_t f = 0; f < 2; f++) {
                        const trial t = {k, hertz[h], thick[d], mass[m], drop[f], 0.0, 2};
                        print_message(" %g Hz %g m %s", hertz[h], drop[f], run(&t, 300) > 0.0 ? "holds" : "-----");
                    }
                print_message("\n");
            }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        print_all();
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(mats_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
