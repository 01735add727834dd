/*
 * Skins and ray picks: vertices that follow, normals that point outward, and the nearest hit against brute force.
 */
#include "cluster/embed.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

/* A closed box around the origin, counter-clockwise from outside. */
static const uint32_t box_triangles[12][3] = {
    {0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5},
};

static void box_vertices(lm_vec3 vertices[8], double x, double y, double z)
{
    for (int k = 0; k < 8; k++) vertices[k] = to_float(ref_v(k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z));
}

static void set_box_skin(lm_world *world, lm_body_id body, double x, double y, double z)
{
    lm_vec3 vertices[8];
    box_vertices(vertices, x, y, z);
    lm_skin_def def = lm_skin_def_default();
    def.vertices = vertices;
    def.vertex_count = 8;
    def.triangles = &box_triangles[0][0];
    def.triangle_count = 12;
    assert_ok(lm_body_set_skin(world, body, &def));
}

static void vertices_on_particles_follow_them(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {(uint64_t)(5 + kind)};
        sample s = sample_make((sample_kind)kind, &random);
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &s.def);
        uint32_t triangle[3] = {0, 1, 2};
        lm_skin_def def = lm_skin_def_default();
        def.vertices = s.points;
        def.vertex_count = s.count;
        def.triangles = triangle;
        def.triangle_count = 1;
        assert_ok(lm_body_set_skin(world, body, &def));
        randomise_state(world, body, &random, 0.1, 1.0);
        assert_ok(lm_world_step(world, FRAME));
        lm_vec3 *skin = calloc(s.count, sizeof *skin);
        lm_dvec3 base = {0.1, -0.2, 0.3};
        assert_ok(lm_body_get_skin(world, body, base, skin, NULL));
        body_state state = state_read(world, body, base);
        for (uint32_t i = 0; i < s.count; i++)
            assert_near(ref_length(ref_sub(to_double(skin[i]), state.x[i])), 0.0, 1e-5 * s.size);
        free(skin);
        state_free(&state);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* x -> A x + t on the particles moves every vertex by the same map: between particles, outside them, far from them. */
static void vertices_reproduce_affine_motions(void **context)
{
    (void)context;
    static const sample_kind kinds[] = {SAMPLE_BOX, SAMPLE_BLOB, SAMPLE_CELL, SAMPLE_GRID, SAMPLE_ROD, SAMPLE_LISTS};
    enum { VERTICES = 60 };
    for (int k = 0; k < 6; k++) {
        random_state random = {(uint64_t)(50 + k)};
        sample s = sample_make(kinds[k], &random);
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &s.def);
        lm_vec3 vertices[VERTICES], skin[VERTICES];
        uint32_t triangles[3] = {0, 1, 2};
        for (int i = 0; i < VERTICES; i++) vertices[i] = to_float(random_in_cube(&random, 0.7 * s.size));
        lm_skin_def def = lm_skin_def_default();
        def.vertices = vertices;
        def.vertex_count = VERTICES;
        def.triangles = triangles;
        def.triangle_count = 1;
        assert_ok(lm_body_set_skin(world, body, &def));
        for (int trial = 0; trial < 5; trial++) {
            ref_mat a = random_rotation(&random);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) a.at[i][j] += random_range(&random, -0.5, 0.5);
            ref_vec t = random_in_cube(&random, 2.0);
            lm_vec3 *x = calloc(s.count, sizeof *x);
            for (uint32_t i = 0; i < s.count; i++) x[i] = to_float(ref_add(t, ref_mat_vec(a, to_double(s.points[i]))));
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
            assert_ok(lm_body_get_skin(world, body, to_dvec3(t), skin, NULL));
            for (int i = 0; i < VERTICES; i++) {
                ref_vec expected = ref_mat_vec(a, to_double(vertices[i]));
                double off = ref_length(ref_sub(to_double(skin[i]), expected));
                if (off > 2e-4 * s.size) print_error("%s, vertex %d\n", sample_name(kinds[k]), i);
                assert_at_most(off, 2e-4 * s.size);
            }
            free(x);
        }
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* Whatever a point depends on is nearer to it than everything it does not depend on. */
static void points_depend_on_the_nearest_particles(void **context)
{
    (void)context;
    lmi_memory memory;
    lmi_memory_init(&memory, &(lm_allocator){0});
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {(uint64_t)(60 + kind)};
        sample s = sample_make((sample_kind)kind, &random);
        lmi_embedder embedder;
        assert_true(lmi_embedder_make(&embedder, &memory, s.points, s.count));
        for (int trial = 0; trial < 200; trial++) {
            lm_vec3 point = to_float(random_in_cube(&random, 0.6 * s.size));
            uint32_t particles[LMI_EMBED_MOST];
            float weights[LMI_EMBED_MOST];
            uint32_t count = lmi_embed_point(&embedder, point, particles, weights);
            double farthest = 0.0, sum = 0.0, nearest_other = INFINITY;
            for (uint32_t k = 0; k < count; k++) sum += (double)weights[k];
            for (uint32_t i = 0; i < s.count; i++) {
                double away = ref_length(ref_sub(to_double(s.points[i]), to_double(point)));
                bool used = false;
                for (uint32_t k = 0; k < count; k++) used = used || particles[k] == i;
                if (used)
                    farthest = fmax(farthest, away);
                else
                    nearest_other = fmin(nearest_other, away);
            }
            assert_at_most(farthest, nearest_other + 1e-6 * s.size);
            assert_near(sum, 1.0, 1e-5);
        }
        lmi_embedder_free(&embedder);
        sample_free(&s);
    }
    assert_int_equal(memory.used, 0);
}

static void normals_are_unit_and_outward(void **context)
{
    (void)context;
    random_state random = {71};
    lm_world *world = make_world(0.0);
    for (int trial = 0; trial < 10; trial++) {
        sample s = sample_make(SAMPLE_BOX, &random);
        s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
        s.def.pose.position = to_dvec3(random_in_cube(&random, 5.0));
        lm_body_id body = make_body(world, &s.def);
        set_box_skin(world, body, 0.2, 0.15, 0.15);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_int_equal(info.skin_vertices, 8);
        assert_int_equal(info.skin_triangles, 12);
        lm_vec3 positions[8], normals[8];
        assert_ok(lm_body_get_skin(world, body, info.centre, positions, normals));
        for (int k = 0; k < 8; k++) {
            ref_vec n = to_double(normals[k]);
            assert_near(ref_length(n), 1.0, 1e-5);
            assert_true(ref_dot(n, ref_normalise(to_double(positions[k]))) > 0.5);
        }
        lm_vec3 alone[8];
        assert_ok(lm_body_get_skin(world, body, info.centre, NULL, alone));
        /* Without positions to round, the last bits differ. */
        for (int k = 0; k < 8; k++)
            assert_near(ref_length(ref_sub(to_double(alone[k]), to_double(normals[k]))), 0.0, 1e-5);
        sample_free(&s);
    }
    lm_world_destroy(world);
}

/* Area-weighted: where a large and a small face meet, the large one counts more. A vertex of no triangle has none. */
static void normals_weigh_by_area(void **context)
{
    (void)context;
    random_state random = {72};
    sample s = sample_make(SAMPLE_BOX, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    /* Two triangles share vertex 0: one in the XZ plane facing +Y with area 0.02, one in the XY plane facing +Z, 0.01. */
    lm_vec3 vertices[5] = {{0, 0, 0}, {0, 0, 0.2f}, {0.2f, 0, 0}, {0, 0.1f, 0}, {0.1f, 0.1f, 0.1f}};
    uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    lm_skin_def def = lm_skin_def_default();
    def.vertices = vertices;
    def.vertex_count = 5;
    def.triangles = triangles;
    def.triangle_count = 2;
    assert_ok(lm_body_set_skin(world, body, &def));
    lm_vec3 normals[5];
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), NULL, normals));
    ref_vec expected = ref_normalise(ref_v(0, 0.02, 0.01));
    assert_near(ref_length(ref_sub(to_double(normals[0]), expected)), 0.0, 1e-4);
    assert_near(ref_length(ref_sub(to_double(normals[1]), ref_v(0, 1, 0))), 0.0, 1e-4);
    assert_near(ref_length(ref_sub(to_double(normals[3]), ref_v(0, 0, 1))), 0.0, 1e-4);
    assert_near(ref_length(to_double(normals[4])), 0.0, 0.0);
    uint32_t back[6];
    assert_ok(lm_body_get_skin_triangles(world, body, back));
    assert_memory_equal(back, triangles, sizeof triangles);
    lm_world_destroy(world);
    sample_free(&s);
}

/* ---- picking ---- */

typedef struct pick_scene {
    lm_world *world;
    lm_body_id bodies[4];
    bool skinned[4];
    double radius; /* of the particles of the unskinned */
} pick_scene;

static pick_scene make_pick_scene(random_state *random)
{
    pick_scene scene = {.world = make_world(0.0), .radius = 0.04};
    for (int k = 0; k < 4; k++) {
        sample s = sample_make(k % 2 ? SAMPLE_BLOB : SAMPLE_BOX, random);
        s.def.contact_radius = (float)scene.radius;
        s.def.pose.position = (lm_dvec3){0.7 * (k - 1.5), random_range(random, -0.3, 0.3), 0.2 * k};
        s.def.pose.rotation = quaternion(random_in_cube(random, 3.0));
        scene.bodies[k] = make_body(scene.world, &s.def);
        scene.skinned[k] = k < 2;
        if (scene.skinned[k]) set_box_skin(scene.world, scene.bodies[k], 0.25, 0.2, 0.2);
        randomise_state(scene.world, scene.bodies[k], random, 0.02, 1.0);
        sample_free(&s);
    }
    return scene;
}

/* Distance along the unit ray to a triangle, or infinity. */
static double ray_triangle(ref_vec o, ref_vec d, ref_vec a, ref_vec b, ref_vec c)
{
    ref_vec n = ref_cross(ref_sub(b, a), ref_sub(c, a));
    double along = ref_dot(n, d);
    if (along == 0.0) return INFINITY;
    double t = ref_dot(n, ref_sub(a, o)) / along;
    ref_vec p = ref_add_scaled(o, t, d);
    double u = ref_dot(n, ref_cross(ref_sub(b, a), ref_sub(p, a)));
    double v = ref_dot(n, ref_cross(ref_sub(c, b), ref_sub(p, b)));
    double w = ref_dot(n, ref_cross(ref_sub(a, c), ref_sub(p, c)));
    return t >= 0.0 && u >= 0.0 && v >= 0.0 && w >= 0.0 ? t : INFINITY;
}

static double ray_sphere(ref_vec o, ref_vec d, ref_vec centre, double radius)
{
    ref_vec to = ref_sub(centre, o);
    double along = ref_dot(to, d), miss = ref_dot(to, to) - along * along, half = radius * radius - miss;
    if (half < 0.0 || along - sqrt(half) < 0.0) return INFINITY;
    return along - sqrt(half);
}

static double brute_force(const pick_scene *scene, ref_vec o, ref_vec d, int *body)
{
    double nearest = INFINITY;
    for (int k = 0; k < 4; k++) {
        double t = INFINITY;
        if (scene->skinned[k]) {
            lm_vec3 skin[8];
            assert_ok(lm_body_get_skin(scene->world, scene->bodies[k], lm_dvec3_zero(), skin, NULL));
            for (int f = 0; f < 12; f++)
                t = fmin(t, ray_triangle(o, d, to_double(skin[box_triangles[f][0]]),
                                         to_double(skin[box_triangles[f][1]]), to_double(skin[box_triangles[f][2]])));
        } else {
            body_state state = state_read(scene->world, scene->bodies[k], lm_dvec3_zero());
            for (uint32_t i = 0; i < state.count; i++) t = fmin(t, ray_sphere(o, d, state.x[i], scene->radius));
            state_free(&state);
        }
        if (t < nearest) {
            nearest = t;
            *body = k;
        }
    }
    return nearest;
}

static void rays_hit_what_is_nearest(void **context)
{
    (void)context;
    random_state random = {81};
    pick_scene scene = make_pick_scene(&random);
    int hits = 0, misses = 0, edges = 0;
    for (int trial = 0; trial < 1500; trial++) {
        ref_vec o = ref_scale(3.0, ref_normalise(random_in_cube(&random, 1.0)));
        ref_vec aim = random_in_cube(&random, 1.2);
        ref_vec d = ref_normalise(ref_sub(aim, o));
        lm_vec3 direction = to_float(ref_scale(random_range(&random, 0.1, 10.0), d));
        d = ref_normalise(to_double(direction));
        int expected_body = -1;
        double expected = brute_force(&scene, o, d, &expected_body);
        lm_ray_hit hit;
        memset(&hit, 0xab, sizeof hit);
        lm_ray_hit untouched = hit;
        bool found = lm_world_cast_ray(scene.world, &(lm_ray){to_dvec3(o), direction, 100.0f, UINT32_MAX, 0}, &hit);
        if (found != isfinite(expected) || (found && fabs((double)hit.distance - expected) > 1e-4)) {
            edges++; /* grazing an edge, single precision may decide otherwise */
            continue;
        }
        if (!found) {
            assert_memory_equal(&hit, &untouched, sizeof hit);
            misses++;
            continue;
        }
        hits++;
        assert_int_equal(hit.body.slot, scene.bodies[expected_body].slot);
        ref_vec p = ref_v(hit.point.x, hit.point.y, hit.point.z);
        assert_near(ref_length(ref_sub(p, ref_add_scaled(o, expected, d))), 0.0, 2e-4);
        assert_near(ref_length(to_double(hit.normal)), 1.0, 1e-4);
        assert_true(ref_dot(to_double(hit.normal), d) <= 1e-4);
        body_state state = state_read(scene.world, hit.body, lm_dvec3_zero());
        double nearest = INFINITY;
        for (uint32_t i = 0; i < state.count; i++) nearest = fmin(nearest, ref_length(ref_sub(state.x[i], p)));
        assert_near(ref_length(ref_sub(state.x[hit.particle], p)), nearest, 1e-4);
        state_free(&state);
        /* Just too short a ray does not reach. */
        assert_false(lm_world_cast_ray(
            scene.world, &(lm_ray){to_dvec3(o), direction, (float)(expected - 0.01), UINT32_MAX, 0}, &hit));
    }
    print_message("%d hits, %d misses, %d on an edge\n", hits, misses, edges);
    assert_true(hits > 100);
    assert_true(misses > 100);
    assert_true(edges <= 3);
    lm_world_destroy(scene.world);
}

static void nonsense_rays_hit_nothing(void **context)
{
    (void)context;
    random_state random = {82};
    pick_scene scene = make_pick_scene(&random);
    lm_ray_hit hit;
    lm_dvec3 origin = {0, 0, 5};
    assert_false(lm_world_cast_ray(scene.world, &(lm_ray){origin, {0, 0, 0}, 100.0f, UINT32_MAX, 0}, &hit));
    assert_false(lm_world_cast_ray(scene.world, &(lm_ray){origin, {(float)NAN, 0, -1}, 100.0f, UINT32_MAX, 0}, &hit));
    assert_false(lm_world_cast_ray(scene.world, &(lm_ray){origin, {0, 0, -1}, (float)NAN, UINT32_MAX, 0}, &hit));
    assert_false(lm_world_cast_ray(scene.world, &(lm_ray){origin, {0, 0, -1}, -1.0f, UINT32_MAX, 0}, &hit));
    assert_false(lm_world_cast_ray(scene.world, &(lm_ray){{NAN, 0, 0}, {0, 0, -1}, 100.0f, UINT32_MAX, 0}, &hit));
    lm_world_destroy(scene.world);
    lm_world *empty = make_world(0.0);
    assert_false(lm_world_cast_ray(empty, &(lm_ray){origin, {0, 0, -1}, 100.0f, UINT32_MAX, 0}, &hit));
    lm_world_destroy(empty);
}

/* ---- skins on regions ---- */

/* A skin of vertices with a triangle for form's sake. */
static void set_vertices(lm_world *world, lm_body_id body, lm_skin_kind kind, const lm_vec3 *vertices, uint32_t count)
{
    uint32_t triangle[3] = {0, 1 % count, 2 % count};
    lm_skin_def def = lm_skin_def_default();
    def.kind = kind;
    def.vertices = vertices;
    def.vertex_count = count;
    def.triangles = triangle;
    def.triangle_count = 1;
    assert_ok(lm_body_set_skin(world, body, &def));
}

static void put_affine(lm_world *world, lm_body_id body, const lm_vec3 *points, uint32_t count, ref_mat a, ref_vec t)
{
    lm_vec3 *x = calloc(count, sizeof *x);
    for (uint32_t i = 0; i < count; i++) x[i] = to_float(ref_add(t, ref_mat_vec(a, to_double(points[i]))));
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    free(x);
}

/* Rigid motions of every body, affine ones of those whose regions are solid: exact, in every mode. */
static void region_skins_reproduce_motions(void **context)
{
    (void)context;
    enum { VERTICES = 40 };
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(60 + kind)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            lm_vec3 vertices[VERTICES], skin[VERTICES];
            for (int i = 0; i < VERTICES; i++) vertices[i] = to_float(random_in_cube(&random, 0.6 * s.size));
            set_vertices(world, body, LM_SKIN_REGIONS, vertices, VERTICES);
            bool flat = kind == SAMPLE_SHEET || kind == SAMPLE_STRIP;
            for (int trial = 0; trial < 6; trial++) {
                ref_mat a = random_rotation(&random);
                if (trial >= 3 && flat) break;
                for (int k = 0; k < 9 && trial >= 3; k++) a.at[k / 3][k % 3] += random_range(&random, -0.3, 0.3);
                ref_vec t = random_in_cube(&random, 2.0);
                put_affine(world, body, s.points, s.count, a, t);
                assert_ok(lm_body_get_skin(world, body, to_dvec3(t), skin, NULL));
                for (int i = 0; i < VERTICES; i++) {
                    ref_vec expected = ref_mat_vec(a, to_double(vertices[i]));
                    double off = ref_length(ref_sub(to_double(skin[i]), expected));
                    if (off > 2e-4 * s.size)
                        print_error("%s, mode %d, trial %d, vertex %d\n", sample_name((sample_kind)kind), mode, trial,
                                    i);
                    assert_at_most(off, 2e-4 * s.size);
                }
            }
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* A map that bends and twists, p in sizes of the body. */
static ref_vec bend(ref_vec p)
{
    return ref_v(p.x + 0.3 * p.x * p.y - 0.1 * p.z * p.z, p.y - 0.2 * p.x * p.x + 0.1 * p.y * p.z,
                 p.z + 0.25 * p.z * p.x);
}

/* In quadratic mode a region carries its surface along a quadratic map exactly, whatever region the vertex rides on. */
static void region_skins_reproduce_bends(void **context)
{
    (void)context;
    enum { VERTICES = 40 };
    random_state random = {77};
    sample s = sample_make(SAMPLE_GRID, &random);
    s.def.material.mode = LM_MODE_QUADRATIC;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    lm_vec3 vertices[VERTICES], skin[VERTICES], *x = calloc(s.count, sizeof *x);
    for (int i = 0; i < VERTICES; i++) vertices[i] = to_float(random_in_cube(&random, 0.5 * s.size));
    set_vertices(world, body, LM_SKIN_REGIONS, vertices, VERTICES);
    for (uint32_t i = 0; i < s.count; i++)
        x[i] = to_float(ref_scale(s.size, bend(ref_scale(1.0 / s.size, to_double(s.points[i])))));
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), skin, NULL));
    for (int i = 0; i < VERTICES; i++) {
        ref_vec expected = ref_scale(s.size, bend(ref_scale(1.0 / s.size, to_double(vertices[i]))));
        assert_near(ref_length(ref_sub(to_double(skin[i]), expected)), 0.0, 1e-4 * s.size);
    }
    free(x);
    lm_world_destroy(world);
    sample_free(&s);
}

/* The vertices are a rigid copy of how they were, to `tolerance` metres. */
static void assert_rigid_copy(const lm_vec3 *rest, const lm_vec3 *now, uint32_t count, double tolerance)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            double before = ref_length(ref_sub(to_double(rest[i]), to_double(rest[j])));
            double after = ref_length(ref_sub(to_double(now[i]), to_double(now[j])));
            assert_near(after, before, tolerance);
        }
}

/* A surface around a sheet, a string, two particles and one particle goes round with them, as thick as it was. */
static void region_skins_keep_their_thickness(void **context)
{
    (void)context;
    static const uint32_t counts[4][3] = {{4, 1, 5}, {9, 1, 1}, {2, 1, 1}, {1, 1, 1}};
    for (int shape = 0; shape < 4; shape++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            const uint32_t *n = counts[shape];
            lm_vec3 *points = grid_points(n[0], n[1], n[2], 0.1), vertices[48], skin[48];
            for (int i = 0; i < 48; i++) { /* a box of vertices, 0.05 outside */
                ref_vec half = ref_v(0.05 * n[0], 0.05, 0.05 * n[2]), at = ref_v(0, 0, 0);
                random_state random = {(uint64_t)i};
                at = random_in_cube(&random, 1.0);
                double side = i & 8 ? 1.0 : -1.0;
                if (i % 3 == 0) at.x = side;
                if (i % 3 == 1) at.y = side;
                if (i % 3 == 2) at.z = side;
                vertices[i] = to_float(ref_v(half.x * at.x, half.y * at.y, half.z * at.z));
            }
            lm_body_def def = lm_body_def_default();
            def.mask = 0;
            def.points = points;
            def.point_count = n[0] * n[1] * n[2];
            def.material.mode = (lm_mode)mode;
            def.spin = (lm_vec3){0.3f, 0.5f, 1.0f};
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &def);
            set_vertices(world, body, LM_SKIN_REGIONS, vertices, 48);
            double turned = 0.0;
            for (int step = 0; step < 240; step++) {
                assert_ok(lm_world_step(world, FRAME));
                assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), skin, NULL));
                /* The spin alone stretches the body by a thousandth. */
                if (step % 20 == 0) assert_rigid_copy(vertices, skin, 48, 2e-3);
                turned = fmax(turned, ref_length(ref_sub(to_double(skin[0]), to_double(vertices[0]))));
            }
            if (shape < 3) assert_true(turned > 0.05);
            lm_world_destroy(world);
            free(points);
        }
}

/* A string of seven short regions bent to half a circle carries a tube. Mixing rotations makes it a little thinner. */
static void a_tube_around_a_bent_string_stays_a_tube(void **context)
{
    (void)context;
    enum { N = 22, RINGS = 60, SIDES = 6 };
    double length = 0.1 * (N - 1), radius = length / 3.141592653589793, thick = 0.05;
    lm_vec3 *points = grid_points(N, 1, 1, 0.1), x[N], vertices[RINGS * SIDES], skin[RINGS * SIDES];
    for (int i = 0; i < RINGS * SIDES; i++) {
        double angle = 6.283185307179586 * (i % SIDES) / SIDES, along = length * ((i / SIDES + 0.5) / RINGS - 0.5);
        vertices[i] = to_float(ref_v(along, thick * cos(angle), thick * sin(angle)));
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = N;
    def.clusters.counts[0] = 7;
    def.clusters.overlap = 0.5f;
    def.material.hertz = 0.0f;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    set_vertices(world, body, LM_SKIN_REGIONS, vertices, RINGS * SIDES);
    for (int step = 1; step <= 60; step++) { /* bends little by little, as rotations follow step by step */
        double bend = step / 60.0;
        for (int i = 0; i < N; i++) {
            double angle = bend * (double)points[i].x / radius, r = radius / bend;
            x[i] = to_float(ref_v(r * sin(angle), r * (1.0 - cos(angle)), 0.0));
        }
        lm_vec3 still[N] = {{0, 0, 0}};
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, still));
        assert_ok(lm_world_step(world, FRAME));
    }
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), skin, NULL));
    for (int i = 0; i < RINGS * SIDES; i++) {
        int opposite = i / SIDES * SIDES + (i + SIDES / 2) % SIDES;
        assert_near(ref_length(ref_sub(to_double(skin[i]), to_double(skin[opposite]))), 2.0 * thick, 0.2 * thick);
    }
    lm_world_destroy(world);
    free(points);
}

/* Along a line through a deformed body, past the borders of its regions and beyond its ends, neighbouring vertices stay
 * neighbours: a jump would be many times the distance between them. */
static void the_blend_of_regions_has_no_jumps(void **context)
{
    (void)context;
    enum { VERTICES = 4000 };
    static const sample_kind kinds[] = {SAMPLE_GRID, SAMPLE_STRIP, SAMPLE_ROD, SAMPLE_LISTS};
    lm_vec3 *vertices = calloc(VERTICES, sizeof *vertices), *skin = calloc(VERTICES, sizeof *skin);
    for (int k = 0; k < 4; k++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int many = 0; many < 2; many++) {
                random_state random = {(uint64_t)(70 + k)};
                sample s = sample_make(kinds[k], &random);
                s.def.material.mode = (lm_mode)mode;
                s.def.material.hertz = 0.0f;
                if (many && s.def.clusters.kind == LM_CLUSTERS_COUNTS) s.def.clusters.counts[0] = 8;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                ref_vec from = ref_v(-0.8 * s.size, 0.013, 0.017), to = ref_v(0.8 * s.size, 0.031, -0.011);
                double spacing = ref_length(ref_sub(to, from)) / (VERTICES - 1);
                for (int i = 0; i < VERTICES; i++) {
                    double t = (double)i / (VERTICES - 1);
                    vertices[i] = to_float(ref_add_scaled(from, t, ref_sub(to, from)));
                }
                set_vertices(world, body, LM_SKIN_REGIONS, vertices, VERTICES);
                randomise_state(world, body, &random, 0.03, 0.0);
                assert_ok(lm_world_step(world, 1e-4));
                assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), skin, NULL));
                double widest = 0.0;
                for (int i = 1; i < VERTICES; i++)
                    widest = fmax(widest, ref_length(ref_sub(to_double(skin[i]), to_double(skin[i - 1]))) / spacing);
                if (widest > 6.0) print_error("%s, mode %d, many %d\n", sample_name(kinds[k]), mode, many);
                assert_at_most(widest, 6.0);
                lm_world_destroy(world);
                sample_free(&s);
            }
    free(vertices);
    free(skin);
}

static void region_skins_have_normals_and_survive_snapshots(void **context)
{
    (void)context;
    random_state random = {73};
    lm_world *world = make_world(-9.81), *other = make_world(0.0);
    sample s = sample_make(SAMPLE_GRID, &random);
    s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
    s.def.pose.position = to_dvec3(random_in_cube(&random, 5.0));
    lm_body_id body = make_body(world, &s.def);
    lm_vec3 vertices[8], positions[8], normals[8], loaded[8], loaded_normals[8];
    box_vertices(vertices, 0.4, 0.3, 0.3);
    lm_skin_def def = lm_skin_def_default();
    assert_int_equal(def.kind, LM_SKIN_PARTICLES);
    def.kind = LM_SKIN_REGIONS;
    def.vertices = vertices;
    def.vertex_count = 8;
    def.triangles = &box_triangles[0][0];
    def.triangle_count = 12;
    assert_ok(lm_body_set_skin(world, body, &def));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_int_equal(info.skin_vertices, 8);
    assert_ok(lm_body_get_skin(world, body, info.centre, positions, normals));
    for (int k = 0; k < 8; k++) {
        assert_near(ref_length(to_double(normals[k])), 1.0, 1e-5);
        assert_true(ref_dot(to_double(normals[k]), ref_normalise(to_double(positions[k]))) > 0.5);
    }

    randomise_state(world, body, &random, 0.03, 1.0);
    for (int step = 0; step < 20; step++) assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), positions, normals));
    size_t size = lm_world_save_size(world);
    void *buffer = malloc(size);
    assert_ok(lm_world_save(world, buffer, size));
    assert_ok(lm_world_load(other, buffer, size));
    assert_ok(lm_body_get_skin(other, body, lm_dvec3_zero(), loaded, loaded_normals));
    assert_memory_equal(loaded, positions, sizeof loaded);
    assert_memory_equal(loaded_normals, normals, sizeof loaded);
    for (int step = 0; step < 20; step++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
    }
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), positions, normals));
    assert_ok(lm_body_get_skin(other, body, lm_dvec3_zero(), loaded, loaded_normals));
    assert_memory_equal(loaded, positions, sizeof loaded);

    /* A ray through the middle hits the skin where it is now. */
    lm_ray_hit hit;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_dvec3 above = {info.centre.x, info.centre.y + 5.0, info.centre.z};
    assert_true(lm_world_cast_ray(world, &(lm_ray){above, {0, -1, 0}, 100.0f, UINT32_MAX, 0}, &hit));
    double nearest = INFINITY;
    ref_vec o = ref_v(above.x, above.y, above.z);
    for (int f = 0; f < 12; f++)
        nearest = fmin(nearest, ray_triangle(o, ref_v(0, -1, 0), to_double(positions[box_triangles[f][0]]),
                                             to_double(positions[box_triangles[f][1]]),
                                             to_double(positions[box_triangles[f][2]])));
    assert_near(hit.distance, nearest, 1e-4);

    /* A kind that is none is refused; a body without regions falls back on its particles. */
    def.kind = LM_SKIN_KIND_COUNT;
    assert_result(lm_body_set_skin(world, body, &def), LM_ERROR_ARGUMENT);
    lm_body_def free_def = lm_body_def_default();
    free_def.mask = 0;
    free_def.points = s.points;
    free_def.point_count = s.count;
    free_def.clusters.kind = LM_CLUSTERS_LISTS;
    lm_body_id loose = make_body(world, &free_def);
    set_vertices(world, loose, LM_SKIN_REGIONS, vertices, 8);
    assert_ok(lm_body_get_skin(world, loose, lm_dvec3_zero(), positions, NULL));
    for (int k = 0; k < 8; k++)
        assert_near(ref_length(ref_sub(to_double(positions[k]), to_double(vertices[k]))), 0.0, 1e-4);
    free(buffer);
    lm_world_destroy(world);
    lm_world_destroy(other);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_on_particles_follow_them),
        cmocka_unit_test(vertices_reproduce_affine_motions),
        cmocka_unit_test(points_depend_on_the_nearest_particles),
        cmocka_unit_test(normals_are_unit_and_outward),
        cmocka_unit_test(normals_weigh_by_area),
        cmocka_unit_test(rays_hit_what_is_nearest),
        cmocka_unit_test(nonsense_rays_hit_nothing),
        cmocka_unit_test(region_skins_reproduce_motions),
        cmocka_unit_test(region_skins_reproduce_bends),
        cmocka_unit_test(region_skins_keep_their_thickness),
        cmocka_unit_test(the_blend_of_regions_has_no_jumps),
        cmocka_unit_test(a_tube_around_a_bent_string_stays_a_tube),
        cmocka_unit_test(region_skins_have_normals_and_survive_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
