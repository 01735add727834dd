/*
 * Octrees that are cut while everything goes wrong: a hundred cuts, mangled states, blades that are none, meshes that are broken.
 */
#include "limber/shapes.h"
#include "octree/octree_body.h"
#include "test/support/boxes.h"
#include "test/support/skins.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool longer = false; /* more of the same */

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

typedef struct mesh {
    const lm_vec3 *vertices;
    const uint32_t *triangles;
    uint32_t vertex_count, triangle_count;
} mesh;

static lm_body_id add_mesh(lm_world *world, const mesh *m, float spacing, uint32_t levels, bool self)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.octree.vertices = m->vertices, def.octree.vertex_count = m->vertex_count;
    def.octree.triangles = m->triangles, def.octree.triangle_count = m->triangle_count;
    def.octree.spacing = spacing;
    def.octree.levels = levels;
    def.octree.width = spacing * (float)(1u << levels);
    def.mass = 2.0f;
    def.self_contact = self;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = m->vertices, skin.vertex_count = m->vertex_count;
    skin.triangles = m->triangles, skin.triangle_count = m->triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    return body;
}

static lm_body_id add_shape(lm_world *world, const char *name, float spacing, uint32_t levels, bool self)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh made;
    how.name = name;
    how.detail = 8;
    assert_ok(lm_shape_make_mesh(&how, &made));
    mesh m = {made.vertices, made.triangles, made.vertex_count, made.triangle_count};
    lm_body_id body = add_mesh(world, &m, spacing, levels, self);
    lm_shape_mesh_free(&made);
    return body;
}

/* A parallelogram around a point. */
static lm_cut_info cut_at(lm_world *world, lm_body_id body, ref_vec at, ref_vec u, ref_vec v)
{
    lm_dvec3 from[2], to[2];
    for (int k = 0; k < 2; k++) {
        ref_vec p = ref_add(at, ref_scale(k ? 1.0 : -1.0, u)), low = ref_sub(p, v), high = ref_add(p, v);
        from[k] = (lm_dvec3){low.x, low.y, low.z};
        to[k] = (lm_dvec3){high.x, high.y, high.z};
    }
    lm_cut_info info;
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &info));
    return info;
}

static lm_cut_info cut_randomly(lm_world *world, lm_body_id body, random_state *random, double wide, double half)
{
    ref_vec at = random_in_cube(random, wide), u = random_in_cube(random, half), v = random_in_cube(random, half);
    return cut_at(world, body, at, u, v);
}

/* Each piece is sent its own way, and goes it. */
static void assert_parts_fly(lm_world *world, lm_body_id body, random_state *random)
{
    lm_body_info info = info_of(world, body);
    uint32_t *pieces = malloc(info.particles * sizeof *pieces);
    lm_vec3 *at = malloc(info.particles * sizeof *at), *v = malloc(info.particles * sizeof *v),
            *of = malloc(info.pieces * sizeof *of), *now = malloc(info.particles * sizeof *now);
    assert_ok(lm_body_get_pieces(world, body, pieces));
    assert_ok(lm_body_get_rest_positions(world, body, at));
    for (uint32_t n = 0; n < info.pieces; n++) {
        ref_vec way = random_in_cube(random, 2.0);
        of[n] = (lm_vec3){(float)way.x, (float)way.y, (float)way.z};
    }
    for (uint32_t n = 0; n < info.particles; n++) v[n] = of[pieces[n]];
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, v));
    steps(world, 30);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    for (uint32_t n = 0; n < info.particles; n++) {
        assert_near(now[n].x - at[n].x, 0.5 * v[n].x, 4e-3);
        assert_near(now[n].y - at[n].y, 0.5 * v[n].y, 4e-3);
        assert_near(now[n].z - at[n].z, 0.5 * v[n].z, 4e-3);
    }
    free(pieces), free(at), free(v), free(of), free(now);
}

/* After each of a hundred cuts the surface is closed and as large as it was; and what is severed comes apart. */
static void a_hundred_cuts(void **context)
{
    (void)context;
    static const char *names[] = {"sphere", "torus", "cylinder", "box"};
    random_state random = {400};
    for (int k = 0; k < (longer ? 4 : 1); k++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add_shape(world, names[k], 0.08f, 2, false);
        double whole, volume, worst = 0.0;
        assert_int_equal(skin_open_edges(world, body, &whole), 0);
        for (int n = 0; n < 100; n++) {
            cut_randomly(world, body, &random, 0.5, 0.45);
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            worst = fmax(worst, fabs(volume - whole) / whole);
        }
        lm_body_info info = info_of(world, body);
        print_message("%s after a hundred cuts: %u pieces, %u particles, volume within %.2g\n", names[k], info.pieces,
                      info.particles, worst);
        assert_at_most(worst, 0.01);
        assert_true(info.pieces > 20);
        assert_parts_fly(world, body, &random);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        lm_world_destroy(world);
    }
}

/* The state that no body should be in: positions and velocities at random, or all particles in one place. */
static void mangle(lm_world *world, lm_body_id body, random_state *random, int round)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *at = malloc(info.particles * sizeof *at), *v = malloc(info.particles * sizeof *v);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    double far = round % 4 == 0 ? 0.05 : round % 4 == 1 ? 1.0 : 0.0, fast = round % 4 == 2 ? 1e4 : 10.0;
    for (uint32_t k = 0; k < info.particles; k++) {
        ref_vec by = random_in_cube(random, far), push = random_in_cube(random, fast);
        at[k] = (lm_vec3){at[k].x + (float)by.x, at[k].y + (float)by.y, at[k].z + (float)by.z};
        if (round % 8 == 7) at[k] = (lm_vec3){0.0f, 0.0f, 0.0f};
        v[k] = (lm_vec3){(float)push.x, (float)push.y, (float)push.z};
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, v));
    free(at), free(v);
}

#define FLOOR -0.6
#define SPACING 0.1f

/* A body of some hundred pieces on a floor, mangled and cut again and again: everything stays finite and closed. */
static lm_world *make_mangled(uint64_t seed, const char *shape, uint32_t substeps, int rounds, lm_body_id *body,
                              lm_collider_id *floor)
{
    random_state random = {seed};
    lm_world *world = make_world(-9.81);
    lm_collider_def def = lm_collider_def_default();
    def.pose.position.y = FLOOR;
    assert_ok(lm_collider_create(world, &def, floor));
    assert_ok(lm_world_set_substeps(world, substeps));
    *body = add_shape(world, shape, SPACING, 2, true);
    double volume;
    for (int n = 0; n < rounds; n++) {
        mangle(world, *body, &random, n);
        cut_randomly(world, *body, &random, 0.3, 0.8);
        assert_int_equal(skin_open_edges(world, *body, &volume), 0);
        steps(world, 3);
        cut_randomly(world, *body, &random, 0.3, 0.8);
        steps(world, 3);
        lm_body_info info = info_of(world, *body);
        assert_true(isfinite(info.centre.x) && isfinite(info.velocity.y) && isfinite(info.lower.z));
    }
    return world;
}

/* It comes to rest. No particle, which lies in the middle of its cell, is below the floor by more than 2.5 voxels, in pieces of any
 * size. */
static void mangle_and_drop(uint64_t seed, const char *shape, uint32_t substeps, int rounds)
{
    lm_body_id body;
    lm_collider_id floor;
    lm_world *world = make_mangled(seed, shape, substeps, rounds, &body, &floor);
    steps(world, 240);
    lm_body_info info = info_of(world, body);
    print_message("%s, seed %u: %u particles in %u pieces, the lowest %.3f m below the floor\n", shape, (unsigned)seed,
                  info.particles, info.pieces, FLOOR - info.lower.y);
    assert_true(isfinite(info.centre.y));
    assert_at_most(FLOOR - info.lower.y, 2.5 * SPACING);
    lm_world_destroy(world);
}

/* Boxes 401, 403, 407 and 408 sank through the floor or hung through it: by pieces of seven and four particles, nearly in a plane,
 * whose touch points rode on them with weights of 15 and -14; and by pieces of two and three whose only point was at one end. */
static void mangled_and_cut(void **context)
{
    (void)context;
    static const char *names[] = {"box", "sphere", "torus", "cylinder"};
    mangle_and_drop(401, "box", 1, 16);
    mangle_and_drop(408, "box", 1, 16);
    mangle_and_drop(420, "torus", 8, 16);
    for (uint32_t k = 0; k < (longer ? 16 : 0); k++) mangle_and_drop(403 + k, names[k / 4], 1u << k % 4, 16);
    if (longer) mangle_and_drop(401, "box", 1, 160);
}

/* How far particles are from rest two seconds after a body was cut at random, without weight. */
static double moved_by_cuts(const char *shape, uint64_t seed, int cuts, double half, uint32_t *pieces)
{
    random_state random = {seed};
    lm_world *world = make_world(0.0);
    lm_body_id body = add_shape(world, shape, SPACING, 2, true);
    for (int n = 0; n < cuts; n++) cut_randomly(world, body, &random, 0.4, half);
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), *at = malloc(info.particles * sizeof *at);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    steps(world, 120);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    double worst = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) {
        ref_vec off = ref_sub(to_double(at[n]), to_double(rest[n]));
        worst = fmax(worst, sqrt(ref_dot(off, off)));
    }
    free(rest), free(at);
    lm_world_destroy(world);
    *pieces = info.pieces;
    return worst;
}

/* Both sides of a cut are where the blade went, so nothing should move, and what is connected hardly does: 0.010 m (0.006 m where its points
 * rode on the nearest cells, whatever their size). Discs on the two sides of a thin piece were taken for the sides of a cut and
 * pushed it for ever: 0.023 m where there is one piece, 0.6 to 0.86 m where there are several. */
static void cut_and_left_alone(void **context)
{
    (void)context;
    static const struct {
        const char *shape;
        uint64_t seed;
        int cuts;
        double half, most;
    } cases[] = {{"box", 500, 12, 0.2, 0.015},
                 {"box", 504, 24, 0.3, 0.1},
                 {"cylinder", 503, 24, 0.3, 0.1},
                 {"cylinder", 507, 2, 0.8, 0.1}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        uint32_t pieces;
        double moved = moved_by_cuts(cases[n].shape, cases[n].seed, cases[n].cuts, cases[n].half, &pieces);
        print_message("%s, %d cuts, %u pieces: moved by %.2g m\n", cases[n].shape, cases[n].cuts, pieces, moved);
        assert_at_most(moved, cases[n].most);
    }
}

/* Blades along faces, edges and corners, along the surface, of no length, and thinner than a hair. */
static void odd_blades(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add_shape(world, "box", 0.1f, 3, true);
    double whole, volume;
    assert_int_equal(skin_open_edges(world, body, &whole), 0);
    const ref_vec x = ref_v(1, 0, 0), y = ref_v(0, 1, 0), z = ref_v(0, 0, 1);
    const struct {
        ref_vec at, u, v;
    } blades[] = {{ref_v(0, 0.5, 0), x, z},                         /* along the top */
                  {ref_v(0, 0.499, 0), x, z},                       /* and just below it */
                  {ref_v(0.5, 0.5, 0), ref_v(0.2, -0.2, 0), z},     /* an edge of the box, in the blade */
                  {ref_v(0.5, 0, 0), y, z},                         /* a side */
                  {ref_v(0.05, 0.05, 0.05), ref_v(1, 1, 0), z},     /* through middles of cells, and along diagonals */
                  {ref_v(0, 0, 0), ref_v(1, 1, 0), ref_v(0, 1, 1)}, /* through corners */
                  {ref_v(0, 0.1, 0), x, ref_v(0, 0, 1e-13)},        /* thinner than a hair */
                  {ref_v(0, 0.1, 0), ref_v(0, 0, 0), z},            /* no length */
                  {ref_v(0.1, 0.2, 0), ref_v(0.001, 0, 0), ref_v(0, 0, 0.001)}, /* inside one cell */
                  {ref_v(0, 1e6, 0), ref_v(1e6, 0, 0), ref_v(0, 0, 1e6)},
                  {ref_v(0, 0.3, 0), ref_v(1e6, 0, 0), ref_v(0, 0, 1e6)}};
    for (size_t n = 0; n < sizeof blades / sizeof *blades; n++) {
        cut_at(world, body, blades[n].at, blades[n].u, blades[n].v);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_near(volume, whole, 0.006 * whole);
        steps(world, 1);
    }
    assert_true(info_of(world, body).pieces >= 4);
    lm_world_destroy(world);
}

/* Meshes with a hole, through themselves, twice over, inside out, without a volume: cut, and still there. */
static void broken_meshes(void **context)
{
    (void)context;
    random_state random = {402};
    for (int kind = 0; kind < 5; kind++) {
        boxes b = {.count = 0};
        boxes_add(&b, (lm_vec3){-0.5f, -0.4f, -0.4f}, (lm_vec3){0.3f, 0.4f, 0.4f});
        boxes_add(&b, (lm_vec3){-0.2f, -0.3f, -0.3f}, (lm_vec3){0.6f, 0.3f, 0.3f}); /* through the first */
        uint32_t triangles[3 * 48], count = 24;
        memcpy(triangles, b.triangles, 3 * count * sizeof *triangles);
        if (kind == 1) count -= 2; /* a face is missing */
        if (kind == 2) {           /* twice over */
            memcpy(triangles + 3 * count, triangles, 3 * count * sizeof *triangles);
            count *= 2;
        }
        for (uint32_t n = 0; kind == 3 && n < count; n++) { /* inside out */
            uint32_t one = triangles[3 * n];
            triangles[3 * n] = triangles[3 * n + 1];
            triangles[3 * n + 1] = one;
        }
        for (uint32_t n = 0; kind == 4 && n < 6; n++) triangles[3 * n + 1] = triangles[3 * n]; /* without an area */
        mesh m = {b.vertices, triangles, 16, count};
        lm_world *world = make_world(-1.0);
        lm_body_id body = add_mesh(world, &m, 0.1f, 2, true);
        uint32_t links = 0;
        for (int n = 0; n < 12; n++) {
            links += cut_randomly(world, body, &random, 0.4, 0.7).links;
            steps(world, 2);
        }
        lm_body_info info = info_of(world, body);
        assert_true(links > 50 && isfinite(info.centre.x));
        assert_true(info.skin_vertices < 60000 && info.particles <= 1000);
        lm_world_destroy(world);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    longer = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_cuts), cmocka_unit_test(mangled_and_cut), cmocka_unit_test(cut_and_left_alone),
        cmocka_unit_test(odd_blades),     cmocka_unit_test(broken_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
