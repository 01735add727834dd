/*
 * The geometry of meshes and height maps, against brute force and formulas: nearest points, crossings, inside and outside,
 * boxes, and how points are put out of walls.
 */
#include "collide/solid.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

/* ---- meshes to ask ---- */

typedef struct soup {
    lm_vec3 vertices[4000];
    uint32_t triangles[3 * 4000];
    uint32_t vertex_count, triangle_count;
} soup;

static lmi_memory memory;

static int set_up(void **context)
{
    (void)context;
    lmi_memory_init(&memory, &(lm_allocator){0});
    return 0;
}

/* Everything was given back. */
static int tear_down(void **context)
{
    (void)context;
    return memory.used == 0 ? 0 : -1;
}

static lm_vec3 random_vec(random_state *random, double half) { return to_float(random_in_cube(random, half)); }
static lm_dvec3 random_dvec(random_state *random, double half) { return to_dvec3(random_in_cube(random, half)); }

static lm_dvec3 random_between(random_state *random, ref_vec low, ref_vec high)
{
    return to_dvec3(random_in_box(random, low, high));
}

/* Triangles anywhere: long ones, small ones, some without area. */
static void make_soup(soup *s, uint32_t count, random_state *random)
{
    s->vertex_count = 3 * count;
    s->triangle_count = count;
    for (uint32_t n = 0; n < count; n++) {
        double size = random_below(random, 8) == 0 ? 2.0 : 0.2;
        lm_vec3 middle = random_vec(random, 1.0);
        for (uint32_t k = 0; k < 3; k++) {
            lm_vec3 d = random_vec(random, size);
            s->vertices[3 * n + k] = (lm_vec3){middle.x + d.x, middle.y + d.y, middle.z + d.z};
            s->triangles[3 * n + k] = 3 * n + k;
        }
        if (random_below(random, 16) == 0) s->vertices[3 * n + 2] = s->vertices[3 * n];
    }
}

static void add_quad(soup *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t corners[6] = {a, b, c, a, c, d};
    memcpy(s->triangles + (size_t)3 * s->triangle_count, corners, sizeof corners);
    s->triangle_count += 2;
}

/* A closed box that faces outward. */
static void add_box(soup *s, lm_vec3 low, lm_vec3 high)
{
    uint32_t v = s->vertex_count;
    for (int k = 0; k < 8; k++)
        s->vertices[s->vertex_count++] =
            (lm_vec3){k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z};
    add_quad(s, v + 0, v + 4, v + 6, v + 2);
    add_quad(s, v + 1, v + 3, v + 7, v + 5);
    add_quad(s, v + 0, v + 1, v + 5, v + 4);
    add_quad(s, v + 2, v + 6, v + 7, v + 3);
    add_quad(s, v + 0, v + 2, v + 3, v + 1);
    add_quad(s, v + 4, v + 5, v + 7, v + 6);
}

/* A ball from rings of a grid; closed. */
static void add_ball(soup *s, uint32_t rings, uint32_t sectors, double radius)
{
    uint32_t first = s->vertex_count;
    for (uint32_t r = 0; r <= rings; r++)
        for (uint32_t k = 0; k < sectors; k++) {
            double a = 3.14159265358979 * r / rings, b = 6.28318530717959 * k / sectors;
            s->vertices[s->vertex_count++] = (lm_vec3){(float)(radius * sin(a) * cos(b)), (float)(radius * cos(a)),
                                                       (float)(radius * sin(a) * sin(b))};
        }
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t k = 0; k < sectors; k++) {
            uint32_t next = (k + 1) % sectors;
            add_quad(s, first + r * sectors + k, first + r * sectors + next, first + (r + 1) * sectors + next,
                     first + (r + 1) * sectors + k);
        }
}

static lmi_mesh *make_mesh(const soup *s, bool solid)
{
    assert_null(lmi_mesh_fault(s->vertices, s->vertex_count, s->triangles, s->triangle_count));
    lmi_mesh *mesh = lmi_mesh_make(&memory, s->vertices, s->vertex_count, s->triangles, s->triangle_count, solid);
    assert_non_null(mesh);
    return mesh;
}

/* ---- brute force ---- */

/* The nearest point of a triangle, by trying: its plane, its edges. */
static double distance_by_hand(const lmi_triangle *t, lm_dvec3 p)
{
    lm_dvec3 n = lmi_triangle_normal(t);
    double least = INFINITY;
    bool over = true;
    for (int k = 0; k < 3; k++) {
        lm_dvec3 a = t->corner[k], edge = dvec_sub(t->corner[(k + 1) % 3], a), to = dvec_sub(p, a);
        double along = dvec_dot(to, edge) / fmax(dvec_dot(edge, edge), 1e-300);
        along = fmin(fmax(along, 0.0), 1.0);
        least = fmin(least, dvec_length(dvec_sub(to, dvec_scale(edge, along))));
        over = over && dvec_dot(dvec_cross(edge, to), n) >= 0.0;
    }
    if (over && dvec_length(n) > 0.0)
        least = fmin(least, fabs(dvec_dot(dvec_sub(p, t->corner[0]), n)) / dvec_length(n));
    return least;
}

static double nearest_by_hand(const lmi_mesh *mesh, lm_dvec3 p)
{
    double least = INFINITY;
    for (uint32_t n = 0; n < mesh->face_count; n++) {
        lmi_triangle t = lmi_mesh_face(mesh, n);
        least = fmin(least, distance_by_hand(&t, p));
    }
    return least;
}

static void nearest_points_are_those_of_brute_force(void **context)
{
    (void)context;
    static soup s;
    random_state random = {11};
    for (int round = 0; round < 12; round++) {
        make_soup(&s, 1 + random_below(&random, 300), &random);
        lmi_mesh *mesh = make_mesh(&s, false);
        for (int k = 0; k < 200; k++) {
            lm_dvec3 p = random_dvec(&random, 3.0);
            double expected = nearest_by_hand(mesh, p);
            lmi_mesh_hit hit;
            assert_true(lmi_mesh_nearest(mesh, p, INFINITY, &hit));
            assert_near(hit.distance, expected, 1e-9);
            assert_near(dvec_length(dvec_sub(hit.point, p)), hit.distance, 1e-9);
            assert_false(lmi_mesh_nearest(mesh, p, expected * (1.0 - 1e-6), &hit));
            assert_true(lmi_mesh_nearest(mesh, p, expected * (1.0 + 1e-6) + 1e-9, &hit));
            bool inside;
            assert_at_most(lmi_mesh_clear(mesh, p, &inside), expected + 1e-9); /* never more than there is */
            assert_false(inside);
        }
        lmi_mesh_free(&memory, mesh);
    }
}

static void crossings_are_those_of_brute_force(void **context)
{
    (void)context;
    static soup s;
    random_state random = {12};
    int crossed = 0;
    for (int round = 0; round < 12; round++) {
        make_soup(&s, 1 + random_below(&random, 200), &random);
        lmi_mesh *mesh = make_mesh(&s, false);
        for (int k = 0; k < 300; k++) {
            lm_dvec3 a = random_dvec(&random, 2.0), b = random_dvec(&random, 2.0);
            bool front = k % 2;
            double least = INFINITY;
            for (uint32_t n = 0; n < mesh->face_count; n++) {
                lmi_triangle t = lmi_mesh_face(mesh, n);
                double share;
                if (lmi_triangle_crossed(&t, a, b, &share) &&
                    !(front && dvec_dot(lmi_triangle_normal(&t), dvec_sub(b, a)) > 0.0))
                    least = fmin(least, share);
            }
            lmi_mesh_hit hit;
            assert_int_equal(lmi_mesh_crossed(mesh, a, b, front, &hit), least < INFINITY);
            if (least == INFINITY) continue;
            crossed++;
            assert_near(hit.distance, least, 1e-12);
            assert_at_most(nearest_by_hand(mesh, hit.point), 1e-8); /* it is on the surface */
        }
        lmi_mesh_free(&memory, mesh);
    }
    assert_true(crossed > 500);
}

/* Through a plane of many triangles, at its corners and edges too: exactly where the formula says. */
static void nothing_slips_between_triangles(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    for (uint32_t i = 0; i < 81; i++)
        s.vertices[s.vertex_count++] = (lm_vec3){0.3f * (float)(i % 9), 0.0f, 0.3f * (float)(i / 9)};
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t v = i / 8 * 9 + i % 8;
        add_quad(&s, v, v + 9, v + 10, v + 1);
    }
    lmi_mesh *mesh = make_mesh(&s, false);
    random_state random = {13};
    for (int k = 0; k < 20000; k++) {
        /* Aimed at corners, at edges, and anywhere. */
        uint32_t column = random_below(&random, 7), row = random_below(&random, 7);
        lm_vec3 corner = s.vertices[10 + column + 9 * row];
        lm_dvec3 aim = dvec_from(corner);
        if (k % 3 == 1) aim.x += 0.3 * random_range(&random, 0.0, 1.0) * 0.999;
        if (k % 3 == 2) aim = random_between(&random, ref_v(0.01, 0, 0.01), ref_v(2.39, 0, 2.39));
        lm_dvec3 a = dvec_add(aim, random_between(&random, ref_v(-1, 0.01, -1), ref_v(1, 1, 1)));
        lm_dvec3 b = dvec_add(aim, dvec_scale(dvec_sub(aim, a), random_range(&random, 0.01, 1.0)));
        lmi_mesh_hit hit;
        assert_true(lmi_mesh_crossed(mesh, a, b, false, &hit));
        assert_near(hit.distance, a.y / (a.y - b.y), 1e-9);
    }
    lmi_mesh_free(&memory, mesh);
}

static void solids_know_their_inside(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    add_box(&s, (lm_vec3){-1, -1, -1}, (lm_vec3){1, 1, 1});
    add_box(&s, (lm_vec3){0.5f, 0.5f, 0.5f}, (lm_vec3){2, 2, 2});             /* overlapping */
    add_box(&s, (lm_vec3){-0.2f, 3.0f, -0.2f}, (lm_vec3){0.2f, 3.01f, 0.2f}); /* thin, apart */
    lmi_mesh *mesh = make_mesh(&s, true);
    random_state random = {14};
    int inside = 0;
    for (int k = 0; k < 20000; k++) {
        lm_dvec3 p = random_dvec(&random, 3.2);
        if (k % 4 == 0) p = random_between(&random, ref_v(-0.3, 2.99, -0.3), ref_v(0.3, 3.02, 0.3));
        if (k % 5 == 0) p.x = p.y; /* over the diagonals of faces */
        bool in = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) < 1.0 ||
                  (p.x > 0.5 && p.x < 2 && p.y > 0.5 && p.y < 2 && p.z > 0.5 && p.z < 2) ||
                  (fabs(p.x) < (double)0.2f && p.y > 3.0 && p.y < (double)3.01f && fabs(p.z) < (double)0.2f);
        inside += in;
        assert_int_equal(lmi_mesh_inside(mesh, p), in);
        bool deep;
        lmi_mesh_clear(mesh, p, &deep);
        assert_true(!deep || in);
    }
    assert_true(inside > 1000);
    lmi_mesh_free(&memory, mesh);
    mesh = make_mesh(&s, false);
    assert_false(lmi_mesh_inside(mesh, dvec(0, 0, 0)));
    lmi_mesh_free(&memory, mesh);
}

static void a_ball_of_triangles_is_nearly_a_ball(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    add_ball(&s, 24, 40, 1.0);
    lmi_solid solid = {.mesh = make_mesh(&s, true)};
    random_state random = {15};
    for (int k = 0; k < 3000; k++) {
        lm_dvec3 p = random_dvec(&random, 1.6), n;
        double radius = dvec_length(p), distance;
        assert_true(lmi_solid_distance(&solid, p, 10.0, &distance, &n));
        assert_near(distance, radius - 1.0, 0.012); /* the facets are that much inside the ball */
        assert_near(dvec_length(n), 1.0, 1e-9);
        if (radius > 0.2) assert_true(dvec_dot(n, p) > 0.9 * radius);
    }
    lmi_solid_free(&memory, &solid);
}

static void boxes_touch_what_they_touch(void **context)
{
    (void)context;
    static soup s;
    random_state random = {16};
    int touched = 0;
    for (int round = 0; round < 8; round++) {
        make_soup(&s, 20, &random);
        lmi_mesh *mesh = make_mesh(&s, false);
        for (int k = 0; k < 200; k++) {
            lm_dvec3 centre = random_dvec(&random, 2.0);
            lm_dvec3 half = random_between(&random, ref_v(0.01, 0.01, 0.01), ref_v(0.5, 0.5, 0.5));
            ref_mat turn = random_rotation(&random);
            dmat3 axes;
            for (int i = 0; i < 9; i++) axes.m[i / 3][i % 3] = turn.at[i / 3][i % 3];
            bool touches = lmi_mesh_touches_box(mesh, centre, &axes, half);
            /* A grid of points on each face of the soup: inside the box is a touch for sure. */
            bool sure = false;
            for (uint32_t f = 0; f < mesh->face_count && !sure; f++) {
                lmi_triangle t = lmi_mesh_face(mesh, f);
                for (int a = 0; a <= 24 && !sure; a++)
                    for (int b = 0; a + b <= 24 && !sure; b++) {
                        lm_dvec3 p = dvec_add(
                            dvec_scale(t.corner[0], a / 24.0),
                            dvec_add(dvec_scale(t.corner[1], b / 24.0), dvec_scale(t.corner[2], (24 - a - b) / 24.0)));
                        lm_dvec3 q = dmat_apply_transposed(&axes, dvec_sub(p, centre));
                        sure = fabs(q.x) <= half.x && fabs(q.y) <= half.y && fabs(q.z) <= half.z;
                    }
            }
            assert_true(touches || !sure);
            touched += touches;
            /* Farther away than the box is large: no touch for sure. */
            if (nearest_by_hand(mesh, centre) > dvec_length(half)) assert_false(touches);
        }
        lmi_mesh_free(&memory, mesh);
    }
    assert_true(touched > 50);
}

/* ---- height maps ---- */

static lmi_heights *make_heights(uint32_t nx, uint32_t nz, double spacing, random_state *random, double rough)
{
    float *h = malloc((size_t)nx * nz * sizeof *h);
    assert_non_null(h);
    for (size_t i = 0; i < (size_t)nx * nz; i++) h[i] = (float)random_range(random, -rough, rough);
    const uint32_t n[2] = {nx, nz};
    assert_null(lmi_heights_fault(h, n, spacing));
    lmi_heights *map = lmi_heights_make(&memory, h, n, spacing);
    assert_non_null(map);
    free(h);
    return map;
}

static lmi_triangle map_triangle(const lmi_heights *m, uint32_t i, uint32_t k, int upper)
{
    lm_dvec3 a = lmi_heights_sample(m, i, k), c = lmi_heights_sample(m, i + 1, k + 1);
    return upper ? (lmi_triangle){{a, lmi_heights_sample(m, i, k + 1), c}}
                 : (lmi_triangle){{a, c, lmi_heights_sample(m, i + 1, k)}};
}

static void height_maps_agree_with_their_triangles(void **context)
{
    (void)context;
    random_state random = {17};
    int crossed = 0;
    for (int round = 0; round < 10; round++) {
        uint32_t nx = 2 + random_below(&random, 20), nz = 2 + random_below(&random, 20);
        lmi_heights *map = make_heights(nx, nz, 0.25, &random, 0.5);
        for (int k = 0; k < 150; k++) {
            lm_dvec3 a = random_dvec(&random, 3.0), b = random_dvec(&random, 3.0);
            double least = INFINITY, first = INFINITY, straight = INFINITY;
            for (uint32_t c = 0; c < 2 * (nx - 1) * (nz - 1); c++) {
                lmi_triangle t = map_triangle(map, c / 2 % (nx - 1), c / 2 / (nx - 1), c % 2);
                double share;
                least = fmin(least, distance_by_hand(&t, a));
                assert_true(lmi_triangle_normal(&t).y > 0.0);
                if (lmi_triangle_crossed(&t, a, b, &share) && dvec_dot(lmi_triangle_normal(&t), dvec_sub(b, a)) < 0.0)
                    first = fmin(first, share);
                if (lmi_triangle_crossed(&t, dvec(a.x, 10, a.z), dvec(a.x, -10, a.z), &share))
                    straight = 10 - 20 * share;
            }
            lmi_heights_hit hit;
            assert_true(lmi_heights_nearest(map, a, INFINITY, &hit));
            assert_near(hit.distance, least, 1e-9);
            assert_int_equal(lmi_heights_crossed(map, a, b, &hit), first < INFINITY);
            if (first < INFINITY) {
                assert_near(hit.distance, first, 1e-12);
                crossed++;
            }
            double height;
            assert_int_equal(lmi_heights_at(map, a.x, a.z, &height), straight < INFINITY);
            if (straight < INFINITY) assert_near(height, straight, 1e-8);
        }
        lmi_heights_free(&memory, map);
    }
    assert_true(crossed > 100);
}

/* ---- depths ---- */

/* Whatever way a point comes, it does not end up behind a wall that it was in front of. */
static void fast_points_stay_in_front_of_walls(void **context)
{
    (void)context;
    static soup s;
    random_state random = {18};
    for (int kind = 0; kind < 3; kind++) {
        memset(&s, 0, sizeof s);
        if (kind == 0) add_box(&s, (lm_vec3){-5, -0.001f, -5}, (lm_vec3){5, 0.001f, 5}); /* two millimetres */
        if (kind == 1) {                                                                 /* a sheet */
            for (int k = 0; k < 4; k++)
                s.vertices[s.vertex_count++] = (lm_vec3){k & 1 ? 5.0f : -5.0f, 0, k & 2 ? 5.0f : -5.0f};
            add_quad(&s, 0, 1, 3, 2);
        }
        if (kind == 2) { /* a trough of two sheets */
            for (int k = 0; k < 6; k++)
                s.vertices[s.vertex_count++] =
                    (lm_vec3){(float)(k / 2 - 1) * 5.0f, k / 2 == 1 ? -2.0f : 3.0f, k & 1 ? 5.0f : -5.0f};
            add_quad(&s, 0, 1, 3, 2);
            add_quad(&s, 2, 3, 5, 4);
        }
        lmi_solid solid = {.mesh = make_mesh(&s, kind == 0)};
        for (int k = 0; k < 5000; k++) {
            lm_dvec3 from = random_between(&random, ref_v(-2, kind == 2 ? 0.3 : 0.002, -2), ref_v(2, 2, 2));
            lm_dvec3 way = random_between(&random, ref_v(-2, -8, -2), ref_v(2, 1, 2)), n;
            double margin = k % 2 ? 0.05 : 0.0;
            lm_dvec3 p = dvec_add(from, way);
            double depth = lmi_solid_depth(&solid, p, way, margin, &n);
            if (depth > 0.0) p = dvec_add(p, dvec_scale(n, depth));
            double floor = kind == 2 ? fabs(p.x) - 2.0 : 0.0; /* of the trough: y = |x| - 2 */
            assert_true(p.y > floor);
            if (kind < 2 && depth > 0.0 && dvec_add(from, way).y < -0.1) {
                assert_near(dvec_length(n), 1.0, 1e-9);
                assert_near(n.y, 1.0, 1e-9);
                assert_near(p.y, (kind ? 0.0 : 0.001) + margin + solid.mesh->skin, 1e-7);
            }
        }
        lmi_solid_free(&memory, &solid);
    }
}

/* A point that has got inside goes out at the nearest face; on a thin plate at the one it came from. */
static void points_inside_go_out(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    add_box(&s, (lm_vec3){-1, -1, -1}, (lm_vec3){1, 1, 1});
    lmi_solid solid = {.mesh = make_mesh(&s, true)};
    lm_dvec3 n;
    double depth = lmi_solid_depth(&solid, dvec(0.2, 0.7, 0.1), dvec(0, 0, 0), 0.0, &n);
    assert_near(depth, 0.3, 1e-4);
    assert_near(n.y, 1.0, 1e-9);
    depth = lmi_solid_depth(&solid, dvec(-0.9, 0.2, 0.1), dvec(0, 0, 0), 0.1, &n);
    assert_near(depth, 0.2, 1e-4);
    assert_near(n.x, -1.0, 1e-9);
    assert_at_most(lmi_solid_depth(&solid, dvec(1.2, 0, 0), dvec(0.1, 0, 0), 0.1, &n), 0.0);
    /* From just below the top right through the bottom. */
    depth = lmi_solid_depth(&solid, dvec(0, -3.0, 0), dvec(0, -3.99, 0), 0.0, &n);
    assert_near(n.y, 1.0, 1e-9);
    assert_near(depth, 4.0, 1e-3);
    lmi_solid_free(&memory, &solid);
}

static void height_maps_hold_what_falls_on_them(void **context)
{
    (void)context;
    random_state random = {19};
    lmi_solid solid = {.heights = make_heights(40, 30, 0.25, &random, 0.3)};
    for (int k = 0; k < 5000; k++) {
        lm_dvec3 from = random_between(&random, ref_v(-4, 0.4, -3), ref_v(4, 2, 3));
        lm_dvec3 way = random_between(&random, ref_v(-1, -6, -1), ref_v(1, 0, 1)), n;
        lm_dvec3 p = dvec_add(from, way);
        double depth = lmi_solid_depth(&solid, p, way, 0.0, &n), height;
        if (depth > 0.0) p = dvec_add(p, dvec_scale(n, depth));
        if (lmi_heights_at(solid.heights, p.x, p.z, &height)) assert_true(p.y > height - 1e-9);
    }
    /* Straight through from below: it was inside, and is put out. */
    lm_dvec3 n, p = dvec(0.1, -0.5, 0.1);
    double depth = lmi_solid_depth(&solid, p, dvec(0, 0, 0), 0.0, &n), distance;
    assert_true(depth > 0.1);
    p = dvec_add(p, dvec_scale(n, depth));
    assert_true(lmi_solid_distance(&solid, p, 1.0, &distance, &n));
    assert_true(distance > 0.0 &&
                distance <= solid.heights->skin + 1e-7); /* two faces meet there: less than the skin */
    /* Beyond the borders there is nothing. */
    assert_at_most(lmi_solid_depth(&solid, dvec(20, -1, 0), dvec(0, -2, 0), 0.1, &n), 0.0);
    lmi_solid_free(&memory, &solid);
}

/* ---- what is refused, and memory ---- */

static void wrong_arrays_are_refused(void **context)
{
    (void)context;
    const lm_vec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {NAN, 0, 0}};
    const uint32_t good[3] = {0, 1, 2}, beyond[3] = {0, 1, 3}, flat[3] = {0, 1, 1};
    assert_null(lmi_mesh_fault(v, 3, good, 1));
    assert_non_null(lmi_mesh_fault(v, 3, beyond, 1));
    assert_non_null(lmi_mesh_fault(v, 4, good, 1));
    assert_non_null(lmi_mesh_fault(v, 3, flat, 1));
    assert_non_null(lmi_mesh_fault(v, 3, good, 0));
    assert_non_null(lmi_mesh_fault(NULL, 3, good, 1));
    float h[4] = {0, 1, 2, 3};
    const uint32_t two[2] = {2, 2}, one[2] = {1, 4}, huge[2] = {16384, 16384};
    assert_null(lmi_heights_fault(h, two, 1.0));
    assert_non_null(lmi_heights_fault(h, one, 1.0));
    assert_non_null(lmi_heights_fault(h, huge, 1.0));
    assert_non_null(lmi_heights_fault(h, two, 0.0));
    assert_non_null(lmi_heights_fault(h, two, NAN));
    h[2] = NAN;
    assert_non_null(lmi_heights_fault(h, two, 1.0));
    h[2] = INFINITY;
    assert_non_null(lmi_heights_fault(h, two, 1.0));
}

static uint32_t allocations_left;

static void *scarce_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    if (allocations_left == 0) return NULL;
    allocations_left--;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void scarce_release(void *pointer, size_t size, void *user)
{
    (void)size;
    (void)user;
    free(pointer);
}

static void running_out_of_memory_loses_nothing(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    add_ball(&s, 8, 12, 1.0);
    float h[12] = {0};
    const uint32_t n[2] = {4, 3};
    lmi_memory scarce;
    lmi_memory_init(&scarce, &(lm_allocator){scarce_allocate, scarce_release, NULL});
    uint32_t failures = 0;
    for (uint32_t allowed = 0;; allowed++) {
        allocations_left = allowed;
        lmi_mesh *mesh = lmi_mesh_make(&scarce, s.vertices, s.vertex_count, s.triangles, s.triangle_count, true);
        bool made = mesh != NULL;
        lmi_mesh_free(&scarce, mesh);
        assert_int_equal(scarce.used, 0);
        if (made) break;
        failures++;
    }
    assert_true(failures >= 8);
    for (allocations_left = 0; allocations_left < 3; allocations_left++) {
        uint32_t allowed = allocations_left;
        assert_null(lmi_heights_make(&scarce, h, n, 1.0));
        assert_int_equal(scarce.used, 0);
        allocations_left = allowed;
    }
}

/* Bounded whatever the mesh is: one triangle a kilometre long and a crumb. */
static void odd_meshes_have_few_cells(void **context)
{
    (void)context;
    static soup s;
    memset(&s, 0, sizeof s);
    const lm_vec3 v[6] = {{0, 0, 0}, {1000, 0, 0}, {0, 0, 1e-3f}, {5, 5, 5}, {5.001f, 5, 5}, {5, 5.001f, 5}};
    memcpy(s.vertices, v, sizeof v);
    s.vertex_count = 6;
    s.triangle_count = 2;
    for (uint32_t k = 0; k < 6; k++) s.triangles[k] = k;
    lmi_mesh *mesh = make_mesh(&s, false);
    assert_true((size_t)mesh->size[0] * mesh->size[1] * mesh->size[2] <= LMI_MESH_MAX_CELLS);
    lmi_mesh_hit hit;
    assert_true(lmi_mesh_nearest(mesh, dvec(500, 1, 0), 2.0, &hit));
    assert_near(hit.distance, 1.0, 1e-9);
    lmi_mesh_free(&memory, mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_are_those_of_brute_force),
        cmocka_unit_test(crossings_are_those_of_brute_force),
        cmocka_unit_test(nothing_slips_between_triangles),
        cmocka_unit_test(solids_know_their_inside),
        cmocka_unit_test(a_ball_of_triangles_is_nearly_a_ball),
        cmocka_unit_test(boxes_touch_what_they_touch),
        cmocka_unit_test(height_maps_agree_with_their_triangles),
        cmocka_unit_test(fast_points_stay_in_front_of_walls),
        cmocka_unit_test(points_inside_go_out),
        cmocka_unit_test(height_maps_hold_what_falls_on_them),
        cmocka_unit_test(wrong_arrays_are_refused),
        cmocka_unit_test(running_out_of_memory_loses_nothing),
        cmocka_unit_test(odd_meshes_have_few_cells),
    };
    return cmocka_run_group_tests_name("collide", tests, set_up, tear_down);
}
