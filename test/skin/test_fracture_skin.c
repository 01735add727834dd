/*
 * Skins that open: after random breaks on random lattices the surface is, array by array, the one that is made from the broken
 * links at once; no triangle is of two pieces; and the shading of the old surface stays as it was.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS 6.283185307179586

typedef struct surface {
    lm_vec3 *vertices;
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;
} surface;

static surface new_surface(uint32_t vertices, uint32_t triangles)
{
    return (surface){calloc(vertices, sizeof(lm_vec3)), calloc(3 * (size_t)triangles, sizeof(uint32_t)), 0, 0};
}

static void free_surface(surface *s)
{
    free(s->vertices);
    free(s->triangles);
}

static void add_triangle(surface *s, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *to = s->triangles + 3 * s->triangle_count++;
    to[0] = a, to[1] = b, to[2] = c;
}

/* A ball about a point, of n rings of m vertices and two poles. */
static surface make_ball(ref_vec centre, double radius, uint32_t n, uint32_t m)
{
    surface s = new_surface(n * m + 2, 2 * n * m);
    s.vertices[s.vertex_count++] = to_float(ref_v(centre.x, centre.y + radius, centre.z));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            double u = 0.5 * RADIANS * (i + 1) / (n + 1), v = RADIANS * j / m, r = radius * sin(u);
            s.vertices[s.vertex_count++] =
                to_float(ref_v(centre.x + r * cos(v), centre.y + radius * cos(u), centre.z + r * sin(v)));
        }
    s.vertices[s.vertex_count++] = to_float(ref_v(centre.x, centre.y - radius, centre.z));
    for (uint32_t j = 0; j < m; j++) {
        uint32_t k = (j + 1) % m, last = s.vertex_count - 1;
        add_triangle(&s, 0, 1 + k, 1 + j);
        add_triangle(&s, last, last - m + j, last - m + k);
        for (uint32_t i = 0; i + 1 < n; i++) {
            uint32_t a = 1 + i * m + j, b = 1 + i * m + k;
            add_triangle(&s, a, b, a + m);
            add_triangle(&s, b, b + m, a + m);
        }
    }
    return s;
}

/* A box whose sides share no vertices, as meshes with hard edges are written; and one vertex that no triangle has. */
static surface make_crate(ref_vec low, ref_vec high)
{
    surface s = new_surface(25, 12);
    for (int axis = 0; axis < 3; axis++)
        for (int up = 0; up < 2; up++) {
            for (int k = 0; k < 4; k++) {
                double at[3], from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
                at[axis] = up ? to[axis] : from[axis];
                at[(axis + 1) % 3] = k & 1 ? to[(axis + 1) % 3] : from[(axis + 1) % 3];
                at[(axis + 2) % 3] = k & 2 ? to[(axis + 2) % 3] : from[(axis + 2) % 3];
                s.vertices[s.vertex_count++] = to_float(ref_v(at[0], at[1], at[2]));
            }
            uint32_t a = s.vertex_count - 4;
            add_triangle(&s, a, up ? a + 1 : a + 2, up ? a + 2 : a + 1);
            add_triangle(&s, a + 3, up ? a + 2 : a + 1, up ? a + 1 : a + 2);
        }
    s.vertices[s.vertex_count++] = to_float(high);
    return s;
}

static lm_world *new_world(void)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static void let_break(lm_world *world, lm_body_id body, const surface *s)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = s->vertices;
    skin.vertex_count = s->vertex_count;
    skin.triangles = s->triangles;
    skin.triangle_count = s->triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    lm_fracture_def def = lm_fracture_def_default();
    assert_ok(lm_body_set_fracture(world, body, &def));
}

/* A lattice inside a surface. */
static lm_body_id fill_surface(lm_world *world, const surface *s, float spacing)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    lm_body_id body;
    def.lattice.vertices = s->vertices;
    def.lattice.vertex_count = s->vertex_count;
    def.lattice.triangles = s->triangles;
    def.lattice.triangle_count = s->triangle_count;
    def.lattice.spacing = spacing;
    assert_ok(lm_body_create(world, &def, &body));
    let_break(world, body, s);
    return body;
}

/* Random cells, some of which are missing: surfaces around them are partly outside of all cells. */
static lm_body_id fill_randomly(lm_world *world, random_state *random, const surface *s)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    lm_body_id body;
    uint8_t cells[9 * 8 * 7];
    for (size_t n = 0; n < sizeof cells; n++) cells[n] = n == 0 || random_below(random, 5) > 0;
    def.lattice.cells = cells;
    def.lattice.counts[0] = 9, def.lattice.counts[1] = 8, def.lattice.counts[2] = 7;
    def.lattice.spacing = 0.1f;
    def.lattice.first = (lm_vec3){-0.45f, -0.4f, -0.35f};
    assert_ok(lm_body_create(world, &def, &body));
    let_break(world, body, s);
    return body;
}

/* ---- a skin in arrays ---- */

typedef struct arrays {
    lm_body_info info;
    lm_vec3 *rest, *at, *normals;
    uint32_t *triangles, *sources, *riders;
    float *weights;
} arrays;

static arrays read_skin(const lm_world *world, lm_body_id body)
{
    arrays a;
    assert_ok(lm_body_get_info(world, body, &a.info));
    const size_t vertices = a.info.skin_vertices, triangles = a.info.skin_triangles;
    uint32_t *offsets = calloc(vertices + 1, sizeof *offsets);
    a.rest = calloc(vertices, sizeof *a.rest);
    a.at = calloc(vertices, sizeof *a.at);
    a.normals = calloc(vertices, sizeof *a.normals);
    a.triangles = calloc(3 * triangles, sizeof *a.triangles);
    a.sources = calloc(vertices, sizeof *a.sources);
    a.riders = calloc(8 * vertices, sizeof *a.riders);
    a.weights = calloc(8 * vertices, sizeof *a.weights);
    assert_ok(lm_body_get_skin_rest(world, body, a.rest));
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), a.at, a.normals));
    assert_ok(lm_body_get_skin_triangles(world, body, a.triangles));
    assert_ok(lm_body_get_skin_sources(world, body, a.sources));
    assert_ok(lm_body_get_skin_riders(world, body, offsets, a.riders, a.weights));
    for (uint32_t n = 0; n <= vertices; n++) assert_int_equal(offsets[n], 8 * n);
    for (size_t n = 0; n < 3 * triangles; n++) assert_true(a.triangles[n] < vertices);
    free(offsets);
    return a;
}

static void free_arrays(arrays *a)
{
    free(a->rest), free(a->at), free(a->normals), free(a->triangles), free(a->sources), free(a->riders),
        free(a->weights);
}

static void assert_same(const arrays *a, const arrays *b)
{
    const size_t vertices = a->info.skin_vertices, triangles = a->info.skin_triangles;
    assert_int_equal(vertices, b->info.skin_vertices);
    assert_int_equal(triangles, b->info.skin_triangles);
    assert_true(a->info.shape_hash == b->info.shape_hash);
    assert_memory_equal(a->triangles, b->triangles, 3 * triangles * sizeof *a->triangles);
    assert_memory_equal(a->sources, b->sources, vertices * sizeof *a->sources);
    assert_memory_equal(a->rest, b->rest, vertices * sizeof *a->rest);
    assert_memory_equal(a->riders, b->riders, 8 * vertices * sizeof *a->riders);
    assert_memory_equal(a->weights, b->weights, 8 * vertices * sizeof *a->weights);
    assert_memory_equal(a->at, b->at, vertices * sizeof *a->at);
    assert_memory_equal(a->normals, b->normals, vertices * sizeof *a->normals);
}

/* The world as a snapshot makes it: from the surface as it was given, and the broken links all at once. */
static lm_world *made_anew(const lm_world *world)
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    lm_world *other = new_world();
    assert_ok(lm_world_load(other, bytes, size));
    free(bytes);
    return other;
}

/* ---- tests ---- */

/* All that the corners of a triangle ride on is of one piece. */
static void assert_one_piece_each(const lm_world *world, lm_body_id body, const arrays *a)
{
    uint32_t *pieces = calloc(a->info.particles, sizeof *pieces);
    assert_ok(lm_body_get_pieces(world, body, pieces));
    for (uint32_t t = 0; t < a->info.skin_triangles; t++)
        for (uint32_t k = 1; k < 24; k++) {
            uint32_t first = a->riders[8 * (size_t)a->triangles[3 * t]];
            uint32_t rider = a->riders[8 * (size_t)a->triangles[3 * t + k / 8] + k % 8];
            assert_int_equal(pieces[rider], pieces[first]);
        }
    free(pieces);
}

/* Balls of links break here and there, now and then a large one; each time the skin is compared with one made anew. */
static void break_randomly(lm_world *world, lm_body_id body, random_state *random, bool fitted)
{
    uint32_t compared = 0;
    for (int round = 0; round < 12; round++) {
        uint32_t broken;
        lm_vec3 at = to_float(
            ref_v(random_range(random, -0.5, 0.5), random_range(random, -0.5, 0.5), random_range(random, -0.5, 0.5)));
        double radius = round == 11 ? 10.0 : round % 4 == 3 ? 0.3 : 0.06;
        assert_ok(lm_body_break(world, body, at, (float)radius, &broken));
        if (broken == 0) continue;
        lm_world *other = made_anew(world);
        arrays mine = read_skin(world, body), anew = read_skin(other, body);
        assert_same(&mine, &anew);
        if (fitted) assert_one_piece_each(world, body, &mine);
        free_arrays(&mine), free_arrays(&anew);
        lm_world_destroy(other);
        compared++;
    }
    assert_true(compared > 3);
}

static void opened_here_and_there_is_opened_at_once(void **state)
{
    (void)state;
    random_state random = {5};
    for (int n = 0; n < 12; n++) {
        lm_world *world = new_world();
        const bool fitted = n % 4 < 2;
        surface s = n % 2 ? make_crate(ref_v(-0.45, -0.4, -0.35), ref_v(0.45, 0.4, 0.35))
                          : make_ball(ref_v(0.01, 0.0, 0.02), n % 4 ? 0.5 : 0.44, 15, 23);
        lm_body_id body = fitted ? fill_surface(world, &s, (float)random_range(&random, 0.07, 0.13))
                                 : fill_randomly(world, &random, &s);
        break_randomly(world, body, &random, fitted);
        free_surface(&s);
        lm_world_destroy(world);
    }
}

static double degrees_between(lm_vec3 a, ref_vec b)
{
    double dot = a.x * b.x + a.y * b.y + a.z * b.z, length = sqrt(b.x * b.x + b.y * b.y + b.z * b.z);
    return acos(fmin(dot / length, 1.0)) * 360.0 / RADIANS;
}

/* How far normals of a ball's surface, inner faces aside, are from its radius at most, degrees. */
static double worst_normal(const arrays *a, uint32_t *count)
{
    double worst = 0.0;
    *count = 0;
    for (uint32_t n = 0; n < a->info.skin_vertices; n++) {
        if (a->sources[n] == LM_SKIN_INNER) continue;
        worst = fmax(worst, degrees_between(a->normals[n], ref_v(a->rest[n].x, a->rest[n].y, a->rest[n].z)));
        (*count)++;
    }
    return worst;
}

/* A coarse ball, whose triangles are turned against each other by twenty degrees, shades as smoothly after it broke as before.
 * Inner faces are flat. */
static void shading_stays_smooth(void **state)
{
    (void)state;
    lm_world *world = new_world();
    surface s = make_ball(ref_v(0.0, 0.0, 0.0), 0.5, 9, 18);
    lm_body_id body = fill_surface(world, &s, 0.06f);
    uint32_t vertices, smooth, inner = 0;
    arrays whole = read_skin(world, body);
    const double worst = worst_normal(&whole, &vertices);
    assert_ok(lm_body_break(world, body, (lm_vec3){0.3f, 0.2f, 0.0f}, 0.3f, NULL));
    arrays a = read_skin(world, body);
    assert_at_most(worst, 3.5);
    assert_at_most(worst_normal(&a, &smooth), worst + 0.01);
    for (uint32_t n = 0; n < vertices; n++) { /* where it was given they are the same, but for what they ride on */
        lm_vec3 now = a.normals[n], before = whole.normals[n];
        assert_at_most(fabs(now.x - before.x) + fabs(now.y - before.y) + fabs(now.z - before.z), 1e-5);
    }
    for (uint32_t n = 0; n < a.info.skin_vertices; n++) {
        const lm_vec3 normal = a.normals[n];
        if (a.sources[n] != LM_SKIN_INNER) continue;
        assert_near(fabs(normal.x) + fabs(normal.y) + fabs(normal.z), 1.0, 1e-5);
        inner++;
    }
    assert_true(inner > 50 && smooth > 5 * vertices);
    for (uint32_t t = 0; t < a.info.skin_triangles; t++) { /* and face the way that their triangles do */
        const uint32_t *c = a.triangles + 3 * (size_t)t;
        ref_vec p = ref_v(a.rest[c[0]].x, a.rest[c[0]].y, a.rest[c[0]].z);
        ref_vec u = ref_sub(ref_v(a.rest[c[1]].x, a.rest[c[1]].y, a.rest[c[1]].z), p);
        ref_vec v = ref_sub(ref_v(a.rest[c[2]].x, a.rest[c[2]].y, a.rest[c[2]].z), p);
        ref_vec cross = ref_cross(u, v);
        double size = sqrt(cross.x * cross.x + cross.y * cross.y + cross.z * cross.z);
        if (size < 1e-5) continue; /* a sliver has no direction in single precision */
        for (int i = 0; i < 3; i++) {
            lm_vec3 normal = a.normals[c[i]];
            assert_true((cross.x * normal.x + cross.y * normal.y + cross.z * normal.z) / size > 0.9);
        }
    }
    free_arrays(&a), free_arrays(&whole);
    free_surface(&s);
    lm_world_destroy(world);
}

/* Sides of a crate keep their edges hard: normals of a side are its own, cut or not. */
static void hard_edges_stay_hard(void **state)
{
    (void)state;
    lm_world *world = new_world();
    surface s = make_crate(ref_v(-0.45, -0.4, -0.35), ref_v(0.45, 0.4, 0.35));
    lm_body_id body = fill_surface(world, &s, 0.1f);
    assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 10.0f, NULL));
    arrays a = read_skin(world, body);
    for (uint32_t n = 0; n < 3 * a.info.skin_triangles; n++) {
        lm_vec3 normal = a.normals[a.triangles[n]];
        assert_near(fabs(normal.x) + fabs(normal.y) + fabs(normal.z), 1.0, 1e-5);
    }
    free_arrays(&a);
    free_surface(&s);
    lm_world_destroy(world);
}

/* A skin that is set after links have broken is open from the start, as one that was there when they broke. */
static void a_skin_can_come_later(void **state)
{
    (void)state;
    surface s = make_ball(ref_v(0.0, 0.0, 0.0), 0.44, 12, 17);
    arrays a[2];
    for (int later = 0; later < 2; later++) {
        lm_world *world = new_world();
        lm_body_id body = fill_surface(world, &s, 0.1f);
        assert_ok(lm_body_break(world, body, (lm_vec3){0.2f, 0.1f, 0.0f}, 0.25f, NULL));
        if (later) let_break(world, body, &s);
        assert_ok(lm_body_break(world, body, (lm_vec3){-0.2f, 0.1f, 0.1f}, 0.2f, NULL));
        a[later] = read_skin(world, body);
        lm_world_destroy(world);
    }
    assert_same(&a[0], &a[1]);
    free_arrays(&a[0]), free_arrays(&a[1]);
    free_surface(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_here_and_there_is_opened_at_once),
        cmocka_unit_test(shading_stays_smooth),
        cmocka_unit_test(hard_edges_stay_hard),
        cmocka_unit_test(a_skin_can_come_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
