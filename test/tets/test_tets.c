/*
 * Bodies of tetrahedra: their regions, masses and tetrahedra; our own from a surface; surfaces that ride on them; what is
 * refused; snapshots; the same bits on every instruction set.
 */
#include "limber/shapes.h"
#include "test/support/support.h"
#include "tets/embed_tets.h"
#include "tets/tets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double six_volumes(const lm_vec3 *points, const uint32_t *tet)
{
    ref_vec p[4];
    for (int k = 0; k < 4; k++) p[k] = to_double(points[tet[k]]);
    return ref_dot(ref_sub(p[1], p[0]), ref_cross(ref_sub(p[2], p[0]), ref_sub(p[3], p[0])));
}

/* What a body says of itself. */
typedef struct tets_told {
    lm_body_info info;
    lm_vec3 *rest;
    float *mass;
    uint32_t *tets, *offsets, *members;
} tets_told;

static tets_told told_of(const lm_world *world, lm_body_id body)
{
    tets_told t;
    assert_ok(lm_body_get_info(world, body, &t.info));
    t.rest = calloc(t.info.particles, sizeof *t.rest);
    t.mass = calloc(t.info.particles, sizeof *t.mass);
    t.tets = calloc(4 * (size_t)t.info.tets, sizeof *t.tets);
    t.offsets = calloc(t.info.regions + 1, sizeof *t.offsets);
    t.members = calloc(t.info.memberships, sizeof *t.members);
    assert_ok(lm_body_get_rest_positions(world, body, t.rest));
    assert_ok(lm_body_get_masses(world, body, t.mass));
    assert_ok(lm_body_get_tets(world, body, t.tets));
    assert_ok(lm_body_get_regions(world, body, t.offsets, t.members));
    return t;
}

static void told_free(tets_told *t)
{
    free(t->rest);
    free(t->mass);
    free(t->tets);
    free(t->offsets);
    free(t->members);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What a body is
 */

static void check_rings(const tets_told *t)
{
    assert_int_equal(t->info.regions, t->info.particles);
    bool *near = calloc(t->info.particles, sizeof *near);
    for (uint32_t n = 0; n < t->info.particles; n++) {
        memset(near, 0, t->info.particles * sizeof *near);
        uint32_t count = 0;
        for (uint32_t k = 0; k < t->info.tets; k++) {
            const uint32_t *tet = t->tets + 4 * (size_t)k;
            bool mine = tet[0] == n || tet[1] == n || tet[2] == n || tet[3] == n;
            for (int i = 0; mine && i < 4; i++) {
                count += !near[tet[i]];
                near[tet[i]] = true;
            }
        }
        assert_int_equal(t->offsets[n + 1] - t->offsets[n], count);
        for (uint32_t k = t->offsets[n]; k < t->offsets[n + 1]; k++) assert_true(near[t->members[k]]);
    }
    free(near);
}

static void regions_are_one_rings(void **context)
{
    (void)context;
    random_state random = {1};
    sample s = sample_make(SAMPLE_TETS, &random);
    s.def.mass = 3.0f;
    lm_world *world = make_world(0.0);
    tets_told t = told_of(world, make_body(world, &s.def));
    assert_int_equal(t.info.particles, s.count);
    assert_memory_equal(t.rest, s.points, s.count * sizeof *s.points);
    assert_memory_equal(t.tets, s.tets, 4 * (size_t)t.info.tets * sizeof *t.tets);
    check_rings(&t);

    double *volume = calloc(s.count, sizeof *volume), whole = 0.0;
    for (uint32_t n = 0; n < t.info.tets; n++) {
        double six = six_volumes(t.rest, t.tets + 4 * (size_t)n);
        whole += six;
        for (int i = 0; i < 4; i++) volume[t.tets[4 * n + (uint32_t)i]] += 0.25 * six;
    }
    for (uint32_t n = 0; n < s.count; n++) assert_near(t.mass[n], 3.0 * volume[n] / whole, 1e-7);
    free(volume);
    told_free(&t);

    s.def.tets.mass = LM_TETS_MASS_EQUAL;
    t = told_of(world, make_body(world, &s.def));
    for (uint32_t n = 0; n < s.count; n++) assert_near(t.mass[n], 3.0 / s.count, 1e-8);
    told_free(&t);

    float *masses = calloc(s.count, sizeof *masses);
    for (uint32_t n = 0; n < s.count; n++) masses[n] = 1.0f + (float)n;
    s.def.masses = masses;
    t = told_of(world, make_body(world, &s.def));
    for (uint32_t n = 0; n < s.count; n++) assert_near(t.mass[n], 1.0 + n, 0.0);
    told_free(&t);
    free(masses);
    lm_world_destroy(world);
    sample_free(&s);
}

/* A mesh that is the other way round as a whole is the same body to the last bit. */
static void an_inverted_mesh_is_turned(void **context)
{
    (void)context;
    random_state random = {2};
    sample s = sample_make(SAMPLE_TETS, &random);
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_body(world, &s.def);
        tets_told t = told_of(world, body);
        for (uint32_t n = 0; n < t.info.tets; n++) assert_true(six_volumes(t.rest, t.tets + 4 * (size_t)n) > 0.0);
        told_free(&t);
        for (int frame = 0; frame < 5; frame++) assert_ok(lm_world_step(world, FRAME));
        hash[k] = lm_world_hash(world);
        lm_world_destroy(world);
        for (uint32_t n = 0; n < s.def.tets.tet_count; n++) {
            uint32_t *tet = s.tets + 4 * (size_t)n, swap = tet[2];
            tet[2] = tet[3], tet[3] = swap;
        }
    }
    assert_true(hash[0] == hash[1]);
    sample_free(&s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Our own tetrahedra
 */

static lm_body_def surface_def(const lm_shape_mesh *mesh, float spacing, uint32_t particles)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.tets.vertices = mesh->vertices;
    def.tets.vertex_count = mesh->vertex_count;
    def.tets.triangles = mesh->triangles;
    def.tets.triangle_count = mesh->triangle_count;
    def.tets.spacing = spacing;
    def.tets.particles = particles;
    return def;
}

static lm_shape_mesh make_shape(const char *name, float x, float y, float z)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = (lm_vec3){x, y, z};
    lm_shape_mesh mesh;
    assert_ok(lm_shape_make_mesh(&def, &mesh));
    return mesh;
}

static int compare_faces(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(uint32_t)); }

/* Each face belongs to one tetrahedron or two, and two only in opposite directions: neighbours are divided alike. Returns how
 * many belong to one. */
static uint32_t check_faces(const tets_told *t)
{
    static const int corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    uint32_t(*faces)[3] = calloc(4 * (size_t)t->info.tets, sizeof *faces), outside = 0;
    for (uint32_t n = 0; n < 4 * t->info.tets; n++) {
        for (int i = 0; i < 3; i++) faces[n][i] = t->tets[n / 4 * 4 + (uint32_t)corner[n % 4][i]];
        for (int i = 1; i < 3; i++)
            for (int j = i; j > 0 && faces[n][j] < faces[n][j - 1]; j--) {
                uint32_t swap = faces[n][j];
                faces[n][j] = faces[n][j - 1], faces[n][j - 1] = swap;
            }
    }
    qsort(faces, 4 * (size_t)t->info.tets, sizeof *faces, compare_faces);
    for (uint32_t first = 0, last; first < 4 * t->info.tets; first = last) {
        for (last = first + 1; last < 4 * t->info.tets && compare_faces(faces[first], faces[last]) == 0;) last++;
        assert_true(last - first <= 2);
        outside += last - first == 1;
    }
    free(faces);
    return outside;
}

static void a_box_is_divided_exactly(void **context)
{
    (void)context;
    lm_shape_mesh mesh = make_shape("box", 0.6f, 0.4f, 0.8f);
    lm_body_def def = surface_def(&mesh, 0.1f, 0);
    lm_world *world = make_world(0.0);
    tets_told t = told_of(world, make_body(world, &def));
    assert_int_equal(t.info.particles, 7 * 5 * 9);
    assert_int_equal(t.info.tets, 5 * 6 * 4 * 8);
    double six = 0.0;
    for (uint32_t n = 0; n < t.info.tets; n++) { /* a third of the cell in its middle, a sixth at four corners */
        double mine = six_volumes(t.rest, t.tets + 4 * (size_t)n);
        assert_near(mine, n % 5 ? 1e-3 : 2e-3, 1e-6);
        six += mine;
    }
    assert_near(six / 6.0, 0.6 * 0.4 * 0.8, 1e-6);
    assert_int_equal(check_faces(&t), 2 * 2 * (6 * 4 + 4 * 8 + 6 * 8));
    check_rings(&t);
    /* Inside, rings of 18 and of 6 others take turns. Particles go along x first, then y, then z. */
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t inner = (4 * 5 + 2) * 7 + 2 + turn;
        assert_int_equal(t.offsets[inner + 1] - t.offsets[inner], turn ? 7 : 19);
    }
    assert_true(t.rest[1].x > t.rest[0].x && t.rest[7].y > t.rest[0].y && t.rest[35].z > t.rest[0].z);
    told_free(&t);
    lm_world_destroy(world);
    lm_shape_mesh_free(&mesh);
}

static void any_surface_is_enclosed(void **context)
{
    (void)context;
    static const char *const names[] = {"duck", "torus", "teddy"};
    for (int k = 0; k < 3; k++) {
        lm_shape_mesh mesh = make_shape(names[k], 1.0f, 1.0f, 1.0f);
        lm_body_def def = surface_def(&mesh, 0.0f, 600);
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        tets_told t = told_of(world, body);
        assert_in_range(t.info.particles, 450, 750);
        check_faces(&t);
        check_rings(&t);
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = mesh.vertices;
        skin.vertex_count = mesh.vertex_count;
        skin.triangles = mesh.triangles;
        skin.triangle_count = mesh.triangle_count;
        assert_ok(lm_body_set_skin(world, body, &skin));
        float *weights = calloc(4 * (size_t)mesh.vertex_count, sizeof *weights);
        assert_ok(lm_body_get_skin_riders(world, body, NULL, NULL, weights));
        for (size_t n = 0; n < 4 * (size_t)mesh.vertex_count; n++) assert_true(weights[n] >= -1e-3f); /* all inside */
        free(weights);
        told_free(&t);
        lm_world_destroy(world);
        lm_shape_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Surfaces
 */

/* Thirty triangles anywhere in and around the body, each with vertices of its own: their normals at rest are known. */
typedef struct loose_skin {
    lm_vec3 vertices[90];
    uint32_t triangles[90];
    ref_vec normals[90];
} loose_skin;

static loose_skin make_skin(random_state *random, double half)
{
    loose_skin s;
    for (uint32_t t = 0; t < 30; t++) {
        ref_vec p[3];
        for (uint32_t k = 0; k < 3; k++) {
            s.vertices[3 * t + k] = to_float(random_in_cube(random, half));
            s.triangles[3 * t + k] = 3 * t + k;
            p[k] = to_double(s.vertices[3 * t + k]);
        }
        ref_vec n = ref_cross(ref_sub(p[1], p[0]), ref_sub(p[2], p[0]));
        for (uint32_t k = 0; k < 3; k++) s.normals[3 * t + k] = ref_scale(1.0 / ref_length(n), n);
    }
    return s;
}

static lm_body_id add_skinned(lm_world *world, const sample *s, const loose_skin *from)
{
    lm_body_id body = make_body(world, &s->def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = from->vertices;
    skin.vertex_count = 90;
    skin.triangles = from->triangles;
    skin.triangle_count = 30;
    assert_ok(lm_body_set_skin(world, body, &skin));
    return body;
}

/* Vertices inside and far outside follow affine motions exactly, and normals turn with the cofactors. */
static void affine_motions_are_exact(void **context)
{
    (void)context;
    random_state random = {7};
    for (int trial = 0; trial < 40; trial++) {
        sample s = sample_make(SAMPLE_TETS, &random);
        loose_skin skin = make_skin(&random, trial % 2 ? 0.2 : 0.6);
        lm_world *world = make_world(0.0);
        lm_body_id body = add_skinned(world, &s, &skin);
        ref_mat a = random_rotation(&random);
        ref_vec shift = random_in_cube(&random, 2.0);
        for (int i = 0; i < 9; i++) a.at[i / 3][i % 3] += random_range(&random, -0.3, 0.3);
        lm_vec3 *at = calloc(s.count, sizeof *at), x[90], n[90];
        for (uint32_t i = 0; i < s.count; i++) at[i] = to_float(ref_add(ref_mat_vec(a, to_double(s.points[i])), shift));
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, NULL));
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), x, n));
        for (int i = 0; i < 90; i++) {
            ref_vec wanted = ref_add(ref_mat_vec(a, to_double(skin.vertices[i])), shift);
            assert_at_most(ref_length(ref_sub(to_double(x[i]), wanted)), 2e-5);
            ref_vec cx = ref_column(a, 0), cy = ref_column(a, 1), cz = ref_column(a, 2), m = skin.normals[i];
            ref_vec turned = ref_add(ref_add(ref_scale(m.x, ref_cross(cy, cz)), ref_scale(m.y, ref_cross(cz, cx))),
                                     ref_scale(m.z, ref_cross(cx, cy)));
            turned = ref_scale(1.0 / ref_length(turned), turned);
            assert_at_most(ref_length(ref_sub(to_double(n[i]), turned)), 1e-3);
        }
        free(at);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

static double distance_to_segment(ref_vec p, ref_vec a, ref_vec b)
{
    ref_vec ab = ref_sub(b, a);
    double t = ref_dot(ref_sub(p, a), ab) / ref_dot(ab, ab);
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return ref_length(ref_sub(p, ref_add(a, ref_scale(t, ab))));
}

/* From first principles: inside, else the nearest of faces and edges. */
static double distance_to_tet(ref_vec p, const ref_vec c[4], bool *inside)
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double least = 1e300;
    *inside = true;
    for (int f = 0; f < 4; f++) {
        ref_vec a = c[face[f][0]], b = c[face[f][1]], d = c[face[f][2]];
        ref_vec n = ref_cross(ref_sub(b, a), ref_sub(d, a));
        double above = ref_dot(ref_sub(p, a), n) / ref_length(n);
        *inside = *inside && above <= 0.0;
        ref_vec foot = ref_sub(p, ref_scale(above / ref_length(n), n));
        bool over = ref_dot(ref_cross(ref_sub(b, a), ref_sub(foot, a)), n) >= 0.0 &&
                    ref_dot(ref_cross(ref_sub(d, b), ref_sub(foot, b)), n) >= 0.0 &&
                    ref_dot(ref_cross(ref_sub(a, d), ref_sub(foot, d)), n) >= 0.0;
        if (over) least = fmin(least, fabs(above));
        least = fmin(least, fmin(distance_to_segment(p, a, b),
                                 fmin(distance_to_segment(p, b, d), distance_to_segment(p, d, a))));
    }
    return *inside ? 0.0 : least;
}

/* The tetrahedron that is found is one that holds the point, or no other is nearer. */
static void the_nearest_tetrahedron_is_found(void **context)
{
    (void)context;
    random_state random = {8};
    lmi_memory memory;
    lmi_memory_init(&memory, &(lm_allocator){NULL, NULL, NULL});
    for (int trial = 0; trial < 10; trial++) {
        sample s = sample_make(SAMPLE_TETS, &random);
        lmi_tet_finder finder;
        uint32_t count = trial == 0 ? 1 : trial == 1 ? 5 : s.def.tets.tet_count;
        assert_true(lmi_tet_finder_make(&finder, &memory, s.points, s.tets, count));
        for (int k = 0; k < 200; k++) {
            lm_vec3 point = to_float(random_in_cube(&random, 0.35));
            if (k % 5 == 0) point = s.points[random_below(&random, s.count)]; /* on a corner */
            uint32_t riders[4];
            float weights[4];
            lmi_embed_tets(&finder, point, riders, weights);
            double least = 1e300, mine = 1e300, largest = 0.0;
            for (uint32_t n = 0; n < count; n++) {
                ref_vec c[4];
                bool inside;
                for (uint32_t i = 0; i < 4; i++) c[i] = to_double(s.points[s.tets[4 * (size_t)n + i]]);
                double d = distance_to_tet(to_double(point), c, &inside);
                least = fmin(least, d);
                if (memcmp(riders, s.tets + 4 * (size_t)n, sizeof riders) == 0) mine = d;
            }
            ref_vec sum = ref_v(0.0, 0.0, 0.0);
            for (int i = 0; i < 4; i++) {
                sum = ref_add(sum, ref_scale((double)weights[i], to_double(s.points[riders[i]])));
                largest = fmax(largest, fabs((double)weights[i]));
            }
            assert_at_most(ref_length(ref_sub(sum, to_double(point))), 2e-6);
            if (largest < 15.0) assert_at_most(mine, least + 1e-9);
        }
        lmi_tet_finder_free(&finder, &memory);
        sample_free(&s);
    }
    assert_int_equal(memory.used, 0);
}

/* Of a flat tetrahedron and a round one a little farther away the round one is extrapolated; with the flat one alone, that. */
static void flat_tetrahedra_do_not_magnify(void **context)
{
    (void)context;
    const lm_vec3 points[] = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},     {0.3f, 0.3f, 1e-4f},
                              {0, 0, -0.5f}, {1, 0, -0.5f}, {0, 1, -0.5f}, {0.3f, 0.3f, -1.5f}};
    const uint32_t tets[] = {0, 1, 2, 3, 4, 6, 5, 7};
    lmi_memory memory;
    lmi_memory_init(&memory, &(lm_allocator){NULL, NULL, NULL});
    for (uint32_t count = 1; count <= 2; count++) {
        lmi_tet_finder finder;
        uint32_t riders[4];
        float weights[4];
        assert_true(lmi_tet_finder_make(&finder, &memory, points, tets, count));
        lmi_embed_tets(&finder, (lm_vec3){0.3f, 0.3f, 0.2f}, riders, weights);
        assert_int_equal(riders[0], count == 1 ? 0 : 4);
        if (count == 2)
            for (int i = 0; i < 4; i++) assert_at_most(fabs((double)weights[i]), 16.0);
        lmi_tet_finder_free(&finder, &memory);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is refused
 */

typedef struct last_line {
    char text[256];
} last_line;

static void remember(lm_result result, const char *line, void *user)
{
    (void)result;
    snprintf(((last_line *)user)->text, sizeof(last_line), "%s", line);
}

typedef void change_function(lm_body_def *def, lm_vec3 *points, uint32_t *tets);

static void index_beyond(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)d, (void)p, t[4 * 7 + 2] = 60; }
static void not_finite(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)d, (void)t, p[9].y = NAN; }
static void no_volume(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)d, (void)p, t[4 * 5] = t[4 * 5 + 1]; }
static void unused(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.tet_count = 90; }
static void no_tets(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.tet_count = 0; }
static void both(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)t, d->points = p, d->point_count = 60; }
static void neither(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.tets = NULL; }
static void spaced(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.spacing = 0.1f; }
static void no_vertices(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.vertices = NULL; }
static void bad_mass(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->mass = -1.0f; }
static void bad_kind(lm_body_def *d, lm_vec3 *p, uint32_t *t) { (void)p, (void)t, d->tets.mass = LM_TETS_MASS_COUNT; }
static void surface_without_area(lm_body_def *d, lm_vec3 *p, uint32_t *t)
{
    (void)p;
    d->tets.tets = NULL, d->tets.triangles = t, d->tets.triangle_count = 0, d->tets.spacing = 0.1f;
}
static void turned(lm_body_def *d, lm_vec3 *p, uint32_t *t)
{
    (void)d, (void)p;
    uint32_t swap = t[4 * 3];
    t[4 * 3] = t[4 * 3 + 1], t[4 * 3 + 1] = swap;
}

static void broken_meshes_are_refused(void **context)
{
    (void)context;
    static const struct {
        change_function *change;
        const char *words;
    } cases[] = {
        {index_beyond, "tetrahedron 7 has vertex 60, but there are 60"},
        {not_finite, "vertex 9 is not finite"},
        {no_volume, "tetrahedron 5 ("},
        {turned, "tetrahedron 3 ("},
        {unused, "is in no tetrahedron"},
        {no_tets, "tets need vertices and tetrahedra"},
        {both, "not several of them"},
        {neither, "tets need tetrahedra, or the triangles of a surface"},
        {spaced, "are for a surface"},
        {no_vertices, "tets need vertices"},
        {bad_mass, "mass must be above 0"},
        {bad_kind, "tets.mass is not one of lm_tets_mass"},
        {surface_without_area, "the mesh has no triangles"},
    };
    last_line line;
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.log = (lm_log){remember, &line};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        random_state random = {3};
        sample s = sample_make(SAMPLE_TETS, &random);
        cases[n].change(&s.def, s.points, s.tets);
        lm_body_id body = {7, 7};
        line.text[0] = '\0';
        assert_result(lm_body_create(world, &s.def, &body), LM_ERROR_ARGUMENT);
        if (!strstr(line.text, cases[n].words)) fail_msg("\"%s\" does not say \"%s\"", line.text, cases[n].words);
        assert_int_equal(body.slot, 0);
        sample_free(&s);
    }
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    assert_int_equal(stats.bodies, 0);
    lm_world_destroy(world);
}

/* ------------------------------------------------------------------------------------------------------------------
 * State
 */

/* Falls on a floor; the surface and the hash at the end. */
static uint64_t fall(lm_isa isa, uint32_t workers, lm_vec3 *x, lm_vec3 *n, bool reload)
{
    random_state random = {9};
    sample s = sample_make(SAMPLE_TETS, &random);
    loose_skin skin = make_skin(&random, 0.3);
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &floor, &collider));
    s.def.pose.position.y = 0.5;
    s.def.spin = (lm_vec3){3.0f, 1.0f, 2.0f};
    lm_body_id body = add_skinned(world, &s, &skin);
    for (int frame = 0; frame < 40; frame++) {
        assert_ok(lm_world_step(world, FRAME));
        if (reload && frame == 20) {
            size_t size = lm_world_save_size(world);
            void *bytes = malloc(size);
            assert_ok(lm_world_save(world, bytes, size));
            lm_world_destroy(world);
            world = make_world_with(0.0, isa, workers);
            assert_ok(lm_world_load(world, bytes, size));
            free(bytes);
        }
    }
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), x, n));
    tets_told t = told_of(world, body);
    assert_memory_equal(t.tets, s.tets, 4 * (size_t)t.info.tets * sizeof *t.tets);
    told_free(&t);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    sample_free(&s);
    return hash;
}

static void the_same_everywhere(void **context)
{
    (void)context;
    lm_vec3 x[90], n[90], x2[90], n2[90];
    uint64_t hash = fall(LM_ISA_SCALAR, 1, x, n, false);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (uint32_t workers = 1; workers <= 2; workers++) {
            if (!lm_isa_supported((lm_isa)isa)) continue;
            for (int reload = 0; reload < 2; reload++) {
                assert_true(fall((lm_isa)isa, workers, x2, n2, reload) == hash);
                assert_memory_equal(x, x2, sizeof x);
                assert_memory_equal(n, n2, sizeof n);
            }
        }
}

/* The regions of other clusters with the same lists, and the same masses, are the same body to the last bit. */
static void equals_clusters_with_the_same_rings(void **context)
{
    (void)context;
    random_state random = {10};
    sample s = sample_make(SAMPLE_TETS, &random);
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_body(world, &s.def);
        tets_told t = told_of(world, body);
        if (k == 1) {
            lm_body_def def = lm_body_def_default();
            def.mask = 0;
            def.material.hertz = 8.0f;
            def.points = t.rest;
            def.point_count = t.info.particles;
            def.masses = t.mass;
            def.clusters.kind = LM_CLUSTERS_LISTS;
            def.clusters.offsets = t.offsets;
            def.clusters.members = t.members;
            def.clusters.list_count = t.info.regions;
            lm_world_destroy(world);
            world = make_world(-9.81);
            body = make_body(world, &def);
        }
        random_state same = {11};
        randomise_state(world, body, &same, 0.02, 1.0);
        for (int frame = 0; frame < 30; frame++) assert_ok(lm_world_step(world, FRAME));
        hash[k] = lm_world_hash(world);
        told_free(&t);
        lm_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
    sample_free(&s);
}

/* Pressed flat, to a line or a point, mirrored, mixed up: never a number that is none, and the rest shape comes back. */
static void mangled_bodies_come_back(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int how = 0; how < 6; how++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                random_state random = {100 * seed + (uint64_t)how};
                sample s = sample_make(SAMPLE_TETS, &random);
                s.def.material.mode = (lm_mode)mode;
                s.def.material.stiffness = LM_STIFFNESS_ALPHA;
                s.def.material.alpha = 1.0f;
                s.def.material.damping = 6.0f;
                s.def.material.beta = 0.3f;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                lm_vec3 *at = calloc(s.count, sizeof *at);
                for (uint32_t i = 0; i < s.count; i++) {
                    ref_vec p = to_double(s.points[i]);
                    ref_vec anywhere = random_in_cube(&random, 0.3), near = random_in_cube(&random, 0.1);
                    const ref_vec states[] = {ref_v(p.x, 0.0, p.z),
                                              ref_v(p.x, 0.0, 0.0),
                                              ref_v(0.0, 0.0, 0.0),
                                              ref_v(-p.x, p.y, p.z),
                                              anywhere,
                                              ref_add(p, near)};
                    at[i] = to_float(states[how]);
                }
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, NULL));
                for (int frame = 0; frame < 1500; frame++) assert_ok(lm_world_step(world, FRAME));
                lm_totals totals;
                lm_world_get_totals(world, &totals);
                assert_true(totals.finite);
                assert_at_most(deformation(world, body), 1e-4 * s.size);
                free(at);
                lm_world_destroy(world);
                sample_free(&s);
            }
}

/* A beam that hangs on one end sinks, and does not turn aside. */
static void a_beam_bends_straight_down(void **context)
{
    (void)context;
    lm_shape_mesh mesh = make_shape("box", 0.8f, 0.2f, 0.2f);
    lm_body_def def = surface_def(&mesh, 0.1f, 0);
    def.material.mode = LM_MODE_RIGID;
    def.material.stiffness = LM_STIFFNESS_ALPHA;
    def.material.alpha = 1.0f;
    def.material.damping = 3.0f;
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 8));
    lm_body_id body = make_body(world, &def);
    uint32_t held[9];
    for (uint32_t n = 0; n < 9; n++) held[n] = 9 * n; /* nine along x */
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body;
    pin.particles = held;
    pin.particle_count = 9;
    assert_ok(lm_pin_create(world, &pin, &id));
    for (int frame = 0; frame < 600; frame++) assert_ok(lm_world_step(world, FRAME));
    tets_told t = told_of(world, body);
    body_state now = state_read(world, body, lm_dvec3_zero());
    ref_vec moved = ref_v(0.0, 0.0, 0.0);
    for (uint32_t n = 8; n < 81; n += 9) moved = ref_add(moved, ref_sub(now.x[n], to_double(t.rest[n])));
    assert_true(moved.y < -9 * 0.01);
    assert_at_most(fabs(moved.z), 1e-3 * fabs(moved.y));
    state_free(&now);
    told_free(&t);
    lm_world_destroy(world);
    lm_shape_mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_one_rings),
        cmocka_unit_test(an_inverted_mesh_is_turned),
        cmocka_unit_test(a_box_is_divided_exactly),
        cmocka_unit_test(any_surface_is_enclosed),
        cmocka_unit_test(affine_motions_are_exact),
        cmocka_unit_test(the_nearest_tetrahedron_is_found),
        cmocka_unit_test(flat_tetrahedra_do_not_magnify),
        cmocka_unit_test(broken_meshes_are_refused),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(equals_clusters_with_the_same_rings),
        cmocka_unit_test(mangled_bodies_come_back),
        cmocka_unit_test(a_beam_bends_straight_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
