/*
 * Lattices that blades cut: the surface stays closed and keeps its volume, faces lie on the blade, what was not met stays as it was, each
 * side follows its own particles; strokes, two cuts in one cell, cuts along a plane of the grid, blades that end inside, slivers, open
 * meshes; mass, momentum and spin; saving and loading; failing allocations; the same everywhere.
 */
#include "base/vec.h"
#include "test/support/skins.h"

#include <stdlib.h>
#include <string.h>

#define RADIUS 0.5
#define RINGS 24u
#define STEPS 36u

/* A ball around the origin. */
static lm_body_id make_ball(lm_world *world, float spacing, bool open)
{
    const uint32_t count = 2 + (RINGS - 1) * STEPS;
    lm_vec3 *vertices = malloc(count * sizeof *vertices);
    uint32_t *triangles = malloc(6 * count * sizeof *triangles), filled = 0;
    vertices[0] = (lm_vec3){0.0f, (float)RADIUS, 0.0f};
    vertices[1] = (lm_vec3){0.0f, (float)-RADIUS, 0.0f};
    for (uint32_t n = 0; n < (RINGS - 1) * STEPS; n++) {
        double a = 3.14159265358979 * (n / STEPS + 1) / RINGS, b = 6.28318530717959 * (n % STEPS) / STEPS;
        vertices[2 + n] =
            (lm_vec3){(float)(RADIUS * sin(a) * cos(b)), (float)(RADIUS * cos(a)), (float)(-RADIUS * sin(a) * sin(b))};
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        uint32_t next = (n + 1) % STEPS, last = 2 + (RINGS - 2) * STEPS;
        const uint32_t caps[6] = {0, 2 + n, 2 + next, 1, last + next, last + n};
        memcpy(triangles + filled, caps, sizeof caps);
        filled += open ? 3 : 6;
        for (uint32_t ring = 0; ring + 2 < RINGS; ring++) {
            uint32_t p = 2 + ring * STEPS + n, q = 2 + ring * STEPS + next;
            const uint32_t quad[6] = {p, p + STEPS, q + STEPS, p, q + STEPS, q};
            memcpy(triangles + filled, quad, sizeof quad);
            filled += 6;
        }
    }
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    lm_skin_def skin = lm_skin_def_default();
    lm_body_id body;
    def.lattice.vertices = skin.vertices = vertices;
    def.lattice.vertex_count = skin.vertex_count = count;
    def.lattice.triangles = skin.triangles = triangles;
    def.lattice.triangle_count = skin.triangle_count = filled / 3;
    def.lattice.spacing = spacing;
    def.lattice.width = 2;
    def.mass = 3.0f;
    def.material.hertz = 12.0f;
    assert_ok(lm_body_create(world, &def, &body));
    assert_ok(lm_body_set_skin(world, body, &skin));
    free(vertices), free(triangles);
    return body;
}

static lm_world *new_world(uint32_t workers, lm_isa isa)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = workers;
    def.isa = isa;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* Arrays of a skin. */
typedef struct skin {
    lm_vec3 *at, *rest, *normals;
    uint32_t *sources, *triangles, *materials;
    float *uvs;
    uint32_t vertices, count;
} skin;

static skin read_skin(const lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    skin s = {.vertices = info.skin_vertices, .count = info.skin_triangles};
    s.at = malloc(s.vertices * sizeof *s.at);
    s.rest = malloc(s.vertices * sizeof *s.rest);
    s.normals = malloc(s.vertices * sizeof *s.normals);
    s.sources = malloc(s.vertices * sizeof *s.sources);
    s.materials = malloc(s.vertices * sizeof *s.materials);
    s.uvs = malloc(2 * (size_t)s.vertices * sizeof *s.uvs);
    s.triangles = malloc(3 * (size_t)s.count * sizeof *s.triangles);
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), s.at, s.normals));
    assert_ok(lm_body_get_skin_rest(world, body, s.rest));
    assert_ok(lm_body_get_skin_sources(world, body, s.sources));
    assert_ok(lm_body_get_skin_cuts(world, body, s.uvs, s.materials));
    assert_ok(lm_body_get_skin_triangles(world, body, s.triangles));
    return s;
}

static void free_skin(skin *s)
{
    free(s->at), free(s->rest), free(s->normals), free(s->sources), free(s->materials), free(s->uvs),
        free(s->triangles);
}

static double distance_of(lm_vec3 a, lm_vec3 b) { return dvec_length(dvec_sub(dvec_from(a), dvec_from(b))); }

/* A cut through a ball that stays closed: nothing else changes, and faces are the blade's. */
static void faces_are_the_blade(void **state)
{
    (void)state;
    random_state random = {7};
    for (int n = 0; n < 20; n++) {
        const double spacing = 0.1;
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_body_id body = make_ball(world, (float)spacing, false);
        skin before = read_skin(world, body);
        ref_vec normal = random_unit(&random), at = random_in_cube(&random, 0.2);
        if (n == 0) normal = ref_v(1, 0, 0), at = ref_v(0, 0, 0); /* along a plane of the grid, or of its middles */
        if (n == 1) normal = ref_v(1, 0, 0), at = ref_v(0.05, 0, 0);
        double whole, volume;
        assert_int_equal(skin_open_edges(world, body, &whole), 0);
        lm_cut_info cut = cut_square(world, body, at, normal, 1.5, 0.3);
        assert_int_equal(cut.parts, 2);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_at_most(fabs(volume / whole - 1.0), 1e-5);
        skin after = read_skin(world, body);
        uint32_t faces = 0;
        for (uint32_t v = 0; v < before.vertices; v++) {
            assert_at_most(distance_of(before.at[v], after.at[v]), 2e-6);
            assert_at_most(distance_of(before.normals[v], after.normals[v]), 2e-6);
            assert_int_equal(after.sources[v], v);
        }
        for (uint32_t v = before.vertices; v < after.vertices; v++) {
            ref_vec p = ref_v(after.rest[v].x, after.rest[v].y, after.rest[v].z);
            assert_at_most(fabs(ref_dot(ref_sub(p, at), normal)), 0.02 * spacing);
            ref_vec facing = ref_v(after.normals[v].x, after.normals[v].y, after.normals[v].z);
            if (after.sources[v] == LM_SKIN_INNER) {
                assert_at_most(1.0 - fabs(ref_dot(facing, normal)), 1e-4);
                faces++;
            } else { /* on the ball, about, and facing as it did */
                assert_at_most(1.0 - ref_dot(facing, p) / ref_length(p), 0.01);
            }
        }
        assert_true(faces > 100);
        for (uint32_t t = 0; t < 3 * after.count; t++) { /* metres on the blade */
            uint32_t a = after.triangles[t], b = after.triangles[t / 3 * 3 + (t % 3 + 1) % 3];
            if (after.sources[a] != LM_SKIN_INNER) continue;
            double u = after.uvs[2 * a] - after.uvs[2 * b], v = after.uvs[2 * a + 1] - after.uvs[2 * b + 1];
            assert_at_most(fabs(sqrt(u * u + v * v) - distance_of(after.rest[a], after.rest[b])), 1e-3 * spacing);
        }
        free_skin(&before), free_skin(&after);
        lm_world_destroy(world);
    }
}

/* The lengths of edges while pieces fly apart: no triangle spans a gap. */
static double worst_stretch(const lm_world *world, lm_body_id body)
{
    skin s = read_skin(world, body);
    double worst = 0.0;
    for (uint32_t t = 0; t < 3 * s.count; t++) {
        uint32_t a = s.triangles[t], b = s.triangles[t / 3 * 3 + (t % 3 + 1) % 3];
        double rest = distance_of(s.rest[a], s.rest[b]);
        worst = fmax(worst, distance_of(s.at[a], s.at[b]) - rest);
    }
    free_skin(&s);
    return worst;
}

/* Each piece away from the others, as it is. */
static void push_apart(lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    uint32_t *pieces = malloc(info.particles * sizeof *pieces);
    lm_vec3 *at = malloc(info.particles * sizeof *at);
    assert_ok(lm_body_get_pieces(world, body, pieces));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    for (uint32_t n = 0; n < info.particles; n++) at[n].x += 2.0f * (float)pieces[n];
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, NULL));
    free(pieces), free(at);
}

/* Many cuts, crossing, some of them ending inside; then the pieces fly apart. */
static void cuts_cross(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_tries(12, 2); seed++) {
        random_state random = {seed};
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_body_id body = make_ball(world, 0.07f, false);
        double whole, volume;
        skin_open_edges(world, body, &whole);
        lm_body_info before = info_of(world, body);
        for (int n = 0; n < 6; n++) {
            ref_vec normal = random_unit(&random), at = random_in_cube(&random, 0.25);
            cut_square(world, body, at, normal, n % 3 == 2 ? 0.3 : 2.0, random_range(&random, 0.0, 3.0));
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            assert_at_most(fabs(volume / whole - 1.0), 1e-4);
        }
        lm_body_info after = info_of(world, body);
        assert_true(after.mass == before.mass && after.pieces >= 4);
        push_apart(world, body);
        assert_at_most(worst_stretch(world, body), 0.02);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_at_most(fabs(volume / whole - 1.0), 0.05);
        lm_world_destroy(world);
    }
}

/* Blades of one size along the axes, some through the middle: their edges cross each other in the same places. */
static void blades_of_one_size(void **state)
{
    (void)state;
    for (int each = 1; each <= 3; each += 2) {
        const double spacing = 0.08, gap = 0.31;
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_body_id body = make_ball(world, (float)spacing, false);
        double whole, volume;
        assert_int_equal(skin_open_edges(world, body, &whole), 0);
        for (int n = 0; n < 3 * each; n++) {
            const double off = gap * (n / 3 - each / 2);
            const ref_vec normal = ref_v(n % 3 == 0, n % 3 == 1, n % 3 == 2);
            cut_square(world, body, ref_scale(off, normal), normal, 2.0, 0.0);
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            assert_at_most(fabs(volume / whole - 1.0), 1e-5);
        }
        skin s = read_skin(world, body);
        for (uint32_t v = 0; v < s.vertices; v++) { /* no face is a step from cell to cell */
            const double at[3] = {(double)s.rest[v].x, (double)s.rest[v].y, (double)s.rest[v].z};
            double least = spacing;
            for (int n = 0; n < 3 * each; n++) least = fmin(least, fabs(at[n % 3] - gap * (n / 3 - each / 2)));
            if (s.sources[v] == LM_SKIN_INNER) assert_at_most(least, 0.02 * spacing);
        }
        assert_int_equal(info_of(world, body).pieces, each == 1 ? 8 : 64);
        free_skin(&s);
        lm_world_destroy(world);
    }
}

/* A blade that is moved frame by frame, while the body moves: what it has passed is apart. */
static void strokes_meet(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_id body = make_ball(world, 0.08f, false);
    double volume;
    assert_ok(lm_body_set_velocity(world, body, (lm_vec3){0.02f, 0.05f, 0.0f}, (lm_vec3){0.0f, 0.0f, 0.05f}));
    for (int n = 0; n < 24; n++) {
        const double x = -0.7 + 1.5 * n / 24, next = -0.7 + 1.5 * (n + 1) / 24;
        const lm_dvec3 from[2] = {{x, 0.1, -1.0}, {x, 0.02, 1.0}}, to[2] = {{next, 0.1, -1.0}, {next, 0.02, 1.0}};
        assert_ok(lm_body_cut_sweep(world, body, from, to, 2, NULL));
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_ok(lm_world_step(world, 1.0 / 60.0));
    }
    assert_int_equal(info_of(world, body).pieces, 2);
    push_apart(world, body);
    assert_at_most(worst_stretch(world, body), 0.06);
    lm_world_destroy(world);
}

/* Cuts while the pieces fall and bounce: each in another shape of the body. */
static void cuts_in_motion(void **state)
{
    (void)state;
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    assert_ok(lm_world_create(&def, &world));
    lm_collider_def ground = lm_collider_def_default();
    lm_collider_id floor_id;
    ground.shape = LM_SHAPE_PLANE;
    assert_ok(lm_collider_create(world, &ground, &floor_id));
    lm_body_id body = make_ball(world, 0.07f, false);
    double whole, volume;
    const lm_pose pose = {{0.0, 0.7, 0.0}, {0.0f, 0.0f, 0.0f, 1.0f}};
    assert_ok(lm_body_set_pose(world, body, pose, true));
    skin_open_edges(world, body, &whole);
    for (int n = 0; n < 3; n++) {
        for (int k = 0; k < 20; k++) assert_ok(lm_world_step(world, 1.0 / 60.0));
        lm_body_info info = info_of(world, body);
        ref_vec at = ref_v(info.centre.x, info.centre.y, info.centre.z);
        cut_square(world, body, at,
                   n == 0   ? ref_v(0.96, 0.28, 0)
                   : n == 1 ? ref_v(0, 0.28, 0.96)
                            : ref_v(0.28, 0.96, 0),
                   3.0, 0.2);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
    }
    assert_true(info_of(world, body).pieces >= 6);
    push_apart(world, body);
    assert_at_most(worst_stretch(world, body), 0.1);
    lm_world_destroy(world);
}

static void keeps_momentum(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_id body = make_ball(world, 0.08f, false);
    assert_ok(lm_body_set_velocity(world, body, (lm_vec3){1.0f, 2.0f, -0.5f}, (lm_vec3){0.5f, -2.0f, 3.0f}));
    for (int n = 0; n < 10; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    lm_body_info before = info_of(world, body);
    cut_square(world, body, ref_v(0.2, 0.3, -0.1), ref_v(0.6, 0.8, 0.0), 2.0, 0.0);
    lm_body_info after = info_of(world, body);
    assert_int_equal(after.pieces, 2);
    assert_true(after.mass == before.mass);
    assert_at_most(distance_of(after.velocity, before.velocity), 1e-5);
    assert_at_most(distance_of(after.spin, before.spin), 1e-5);
    lm_world_destroy(world);
}

/* One scene of cuts; the hash after it. With `reload` the world is saved and loaded between the cuts. */
static uint64_t run_cuts(uint32_t workers, lm_isa isa, bool reload)
{
    lm_world *world = new_world(workers, isa);
    lm_body_id body = make_ball(world, 0.08f, false);
    uint64_t hash = 0;
    for (int n = 0; n < 4; n++) {
        cut_square(world, body, ref_v(0.03 * n, 0.0, 0.1 * n), n % 2 ? ref_v(0.6, 0.0, 0.8) : ref_v(0.0, 0.8, 0.6), 1.0,
                   0.1);
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        hash = hash * 31 + lm_world_hash(world) + info_of(world, body).shape_hash;
        if (reload) {
            size_t size = lm_world_save_size(world);
            void *bytes = malloc(size);
            assert_ok(lm_world_save(world, bytes, size));
            uint64_t shape = info_of(world, body).shape_hash;
            lm_world_destroy(world);
            world = new_world(workers, isa);
            assert_ok(lm_world_load(world, bytes, size));
            assert_true(info_of(world, body).shape_hash == shape);
            free(bytes);
        }
    }
    lm_world_destroy(world);
    return hash;
}

static void same_everywhere(void **state)
{
    (void)state;
    uint64_t hash = run_cuts(1, LM_ISA_BEST, false);
    assert_true(hash == run_cuts(3, LM_ISA_BEST, false));
    assert_true(hash == run_cuts(1, LM_ISA_SCALAR, false));
    assert_true(hash == run_cuts(1, LM_ISA_BEST, true));
}

/* A skin without an inside opens, and has no faces. */
static void open_meshes_open(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_id body = make_ball(world, 0.1f, true);
    double volume;
    uint32_t open = skin_open_edges(world, body, &volume);
    assert_true(open > 0);
    cut_square(world, body, ref_v(0.02, 0.0, 0.0), ref_v(1.0, 0.0, 0.0), 2.0, 0.0);
    skin s = read_skin(world, body);
    for (uint32_t n = 0; n < s.vertices; n++) assert_true(s.sources[n] != LM_SKIN_INNER);
    free_skin(&s);
    assert_int_equal(info_of(world, body).pieces, 2);
    lm_world_destroy(world);
}

/* What is given limits after a cut opens between links, as what breaks does; another skin too. */
static void other_ways_follow(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_id body = make_ball(world, 0.1f, false);
    double volume;
    uint32_t broken;
    lm_fracture_def def = lm_fracture_def_default();
    cut_square(world, body, ref_v(0.0, 0.1, 0.0), ref_v(0.0, 1.0, 0.0), 2.0, 0.0);
    assert_ok(lm_body_set_fracture(world, body, &def));
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 0.2f, &broken));
    assert_true(broken > 0);
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    lm_world_destroy(world);
}

typedef struct budget {
    uint64_t left;
} budget;

static void *budget_allocate(size_t size, size_t alignment, void *user)
{
    budget *b = user;
    if (b->left == 0) return NULL;
    b->left--;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void budget_release(void *pointer, size_t size, void *user)
{
    (void)size, (void)user;
    free(pointer);
}

static void failed_cuts_cut_nothing(void **state)
{
    (void)state;
    budget b = {UINT64_MAX};
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    def.allocator = (lm_allocator){budget_allocate, budget_release, &b};
    assert_ok(lm_world_create(&def, &world));
    lm_body_id body = make_ball(world, 0.12f, false);
    const lm_dvec3 from[2] = {{-1.0, 0.05, -1.0}, {-1.0, 0.05, 1.0}}, to[2] = {{1.0, 0.1, -1.0}, {1.0, 0.1, 1.0}};
    uint64_t failures = 0;
    for (uint64_t allowed = 0;; allowed++, failures++) {
        lm_body_info before = info_of(world, body);
        b.left = allowed;
        lm_result result = lm_body_cut_sweep(world, body, from, to, 2, NULL);
        b.left = UINT64_MAX;
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        lm_body_info after = info_of(world, body);
        assert_true(after.shape_hash == before.shape_hash && after.skin_vertices == before.skin_vertices &&
                    after.pieces == 1);
    }
    assert_true(failures > 50);
    assert_int_equal(info_of(world, body).pieces, 2);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_the_blade), cmocka_unit_test(cuts_cross),
        cmocka_unit_test(blades_of_one_size),  cmocka_unit_test(strokes_meet),
        cmocka_unit_test(cuts_in_motion),      cmocka_unit_test(keeps_momentum),
        cmocka_unit_test(same_everywhere),     cmocka_unit_test(open_meshes_open),
        cmocka_unit_test(other_ways_follow),   cmocka_unit_test(failed_cuts_cut_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
