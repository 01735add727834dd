/*
 * Slices and stamps, and blades that spare pieces, through bodies of every sampling: how many pieces there are, that each lies between
 * its planes, that the skin stays closed and keeps its volume, and what is refused.
 */
#include "limber/shapes.h"
#include "test/support/skins.h"
#include "test/support/things.h"

#include <math.h>
#include <stdlib.h>

static const sampling kinds[] = {SKINNED, FINE, TETS, OCTREE};
#define KINDS (sizeof kinds / sizeof *kinds)

/* A box of 1 x 0.5 x 0.5 m that turns, around a place; with a skin, so that it can be seen what is cut. */
static lm_body_id add_box(lm_world *world, sampling kind, lm_dvec3 at)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    thing_def def = thing_default(kind);
    def.shape = how.name = "box";
    def.size = how.size = (lm_vec3){1.0f, 0.5f, 0.5f};
    how.detail = 6;
    def.mask = 0;
    def.pose.position = at;
    def.velocity = (lm_vec3){0.3f, 0.1f, -0.2f};
    def.spin = (lm_vec3){0.5f, 1.0f, 0.2f};
    lm_body_id body = thing_make(world, &def);
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = mesh.vertices;
    skin.vertex_count = mesh.vertex_count;
    skin.triangles = mesh.triangles;
    skin.triangle_count = mesh.triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    lm_shape_mesh_free(&mesh);
    return body;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* How many planes that slices were cut along lie between particles of one piece, at most. */
static void check_between(const lm_world *world, lm_body_id body, lm_dvec3 from, double distance, double slack)
{
    const lm_body_info info = info_of(world, body);
    lm_vec3 *at = calloc(info.particles, sizeof *at);
    uint32_t *piece = calloc(info.particles, sizeof *piece);
    double *low = calloc(info.pieces, sizeof *low), *high = calloc(info.pieces, sizeof *high);
    assert_ok(lm_body_get_positions(world, body, from, at));
    assert_ok(lm_body_get_pieces(world, body, piece));
    for (uint32_t n = 0; n < info.pieces; n++) {
        low[n] = INFINITY;
        high[n] = -INFINITY;
    }
    for (uint32_t n = 0; n < info.particles; n++) {
        low[piece[n]] = fmin(low[piece[n]], (double)at[n].x);
        high[piece[n]] = fmax(high[piece[n]], (double)at[n].x);
    }
    for (uint32_t n = 0; n < info.pieces; n++) {
        assert_true(high[n] - low[n] <= distance + slack);
    }
    free(at);
    free(piece);
    free(low);
    free(high);
}

/* The same far away, where single precision would have steps of 6 cm. */
static void slices_of_every_kind(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2 * KINDS; k++) {
        const lm_dvec3 at = {k % 2 ? 1.0e6 : 0.0, 0.0, 0.0};
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kinds[k / 2], at);
        const lm_body_info before = info_of(world, body);
        lm_cut_info cut;
        double volume, after;
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_ok(lm_body_slice(world, body, (lm_dvec3){at.x - 0.21, 3.0, 5.0}, (lm_vec3){1e-3f, 0.0f, 0.0f}, 2, 0.42f,
                                &cut));
        const lm_body_info info = info_of(world, body);
        assert_int_equal(cut.parts, 3);
        assert_int_equal(info.pieces, 3);
        assert_int_equal(skin_open_edges(world, body, &after), 0);
        assert_near(after, volume, 5e-3 * volume);
        assert_near((double)info.mass, (double)before.mass, 1e-6 * (double)before.mass);
        assert_near((double)info.angular_momentum.y, (double)before.angular_momentum.y, 1e-4);
        check_between(world, body, at, 0.42, kinds[k / 2] == FINE ? 0.2 : 0.12);
        lm_world_destroy(world);
    }
}

/* A cut of one half leaves the other as it is. */
static void blades_spare_pieces(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kinds[k], (lm_dvec3){0.0, 0.0, 0.0});
        lm_cut_info cut;
        double volume;
        assert_ok(lm_body_slice(world, body, (lm_dvec3){0.01, 0.0, 0.0}, (lm_vec3){1.0f, 0.0f, 0.0f}, 1, 0.0f, &cut));
        assert_int_equal(cut.parts, 2);
        const lm_dvec3 vertices[4] = {{-2, 0.013, -2}, {2, 0.013, -2}, {-2, 0.013, 2}, {2, 0.013, 2}};
        static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
        static const uint8_t none[2] = {0, 0}, second[2] = {0, 1};
        lm_blade blade = lm_blade_default();
        blade.vertices = vertices;
        blade.vertex_count = 4;
        blade.triangles = triangles;
        blade.triangle_count = 2;
        blade.pieces = none;
        blade.piece_count = 1;
        const uint64_t hash = lm_world_hash(world);
        assert_int_equal(lm_body_cut(world, body, &blade, &cut), LM_ERROR_ARGUMENT);
        blade.piece_count = 2;
        assert_ok(lm_body_cut(world, body, &blade, &cut));
        assert_int_equal(cut.links, 0);
        assert_true(lm_world_hash(world) == hash);
        blade.pieces = second;
        assert_ok(lm_body_cut(world, body, &blade, &cut));
        assert_int_equal(cut.parts, 3);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        /* What was spared is one piece still, on both sides of the blade. */
        const lm_body_info info = info_of(world, body);
        lm_vec3 *at = calloc(info.particles, sizeof *at);
        uint32_t *piece = calloc(info.particles, sizeof *piece);
        bool above[3] = {false, false, false}, below[3] = {false, false, false};
        assert_ok(lm_body_get_positions(world, body, (lm_dvec3){0.0, 0.013, 0.0}, at));
        assert_ok(lm_body_get_pieces(world, body, piece));
        for (uint32_t n = 0; n < info.particles; n++) {
            above[piece[n]] = above[piece[n]] || at[n].y > 0.13f;
            below[piece[n]] = below[piece[n]] || at[n].y < -0.13f;
        }
        int both = 0;
        for (int n = 0; n < 3; n++) {
            both += above[n] && below[n];
        }
        assert_int_equal(both, 1);
        free(at);
        free(piece);
        lm_world_destroy(world);
    }
}

/* A closed blade takes its own volume out. */
static void stamps_of_every_kind(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kinds[k], (lm_dvec3){0.0, 0.0, 0.0});
        lm_shape_def how = lm_shape_def_default();
        lm_shape_mesh mesh;
        lm_cut_info cut;
        double volume, after;
        how.name = "cylinder";
        how.size = (lm_vec3){0.4f, 2.0f, 0.4f};
        how.detail = 40;
        assert_ok(lm_shape_make_mesh(&how, &mesh));
        lm_dvec3 *vertices = calloc(mesh.vertex_count, sizeof *vertices);
        for (uint32_t n = 0; n < mesh.vertex_count; n++) {
            vertices[n] = (lm_dvec3){mesh.vertices[n].x + 0.11, mesh.vertices[n].y, mesh.vertices[n].z + 0.007};
        }
        lm_blade blade = lm_blade_default();
        blade.vertices = vertices;
        blade.vertex_count = mesh.vertex_count;
        blade.triangles = mesh.triangles;
        blade.triangle_count = mesh.triangle_count;
        skin_open_edges(world, body, &volume);
        assert_ok(lm_body_cut(world, body, &blade, &cut));
        assert_int_equal(cut.parts, 2);
        assert_int_equal(skin_open_edges(world, body, &after), 0);
        assert_near(after, volume, 5e-3 * volume);
        free(vertices);
        lm_shape_mesh_free(&mesh);
        lm_world_destroy(world);
    }
}

static void refuses_nonsense(void **state)
{
    (void)state;
    lm_world *world = make_world(0.0);
    const lm_body_id body = add_box(world, FINE, (lm_dvec3){0.0, 0.0, 0.0});
    const lm_dvec3 at = {0.0, 0.0, 0.0};
    const lm_vec3 up = {0.0f, 1.0f, 0.0f};
    const uint64_t hash = lm_world_hash(world);
    lm_cut_info cut;
    assert_int_equal(lm_body_slice(world, body, (lm_dvec3){NAN, 0, 0}, up, 1, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, (lm_dvec3){1e300, 0, 0}, up, 1, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, (lm_vec3){0, 0, 0}, 1, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, (lm_vec3){0, INFINITY, 0}, 1, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, up, 0, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, up, LM_MAX_SLICES + 1, 0.1f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, up, 2, 0.0f, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, body, at, up, 2, NAN, &cut), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_slice(world, (lm_body_id){0, 0}, at, up, 1, 0.1f, &cut), LM_ERROR_ID);
    assert_ok(lm_body_slice(world, body, (lm_dvec3){0, 50, 0}, up, 3, 1e9f, &cut)); /* beside it */
    assert_int_equal(cut.links, 0);
    assert_true(lm_world_hash(world) == hash);
    assert_ok(lm_body_slice(world, body, (lm_dvec3){0, -0.2, 0}, (lm_vec3){0, 1e-30f, 0}, LM_MAX_SLICES, 1e-3f, NULL));
    assert_int_equal(info_of(world, body).pieces, 2); /* four particles high: two chips */
    assert_ok(lm_world_step(world, 1.0 / 60.0));
    lm_world_destroy(world);
}

/* Lattices that were cut and then mangled, so that no cell is where its points are: points still ride on something. */
static void mangled_bodies_are_cut(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_state random = {seed};
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, FINE, (lm_dvec3){0.0, 0.0, 0.0});
        assert_ok(lm_body_slice(world, body, (lm_dvec3){-0.2, 0, 0}, (lm_vec3){1, 0.2f, 0.1f}, 2, 0.3f, NULL));
        lm_body_info info = info_of(world, body);
        lm_vec3 *at = calloc(info.particles, sizeof *at);
        assert_ok(lm_body_get_positions(world, body, (lm_dvec3){0, 0, 0}, at));
        for (uint32_t n = 0; n < info.particles; n++) {
            const ref_vec off = random_in_cube(&random, 0.4);
            at[n] = (lm_vec3){at[n].x + (float)off.x, at[n].y + (float)off.y, at[n].z + (float)off.z};
        }
        assert_ok(lm_body_set_state(world, body, (lm_dvec3){0, 0, 0}, at, NULL));
        for (int n = 0; n < 3; n++) {
            assert_ok(
                lm_body_slice(world, body, (lm_dvec3){0.05 * n, 0.03, 0}, (lm_vec3){0.3f, 1, (float)n}, 2, 0.2f, NULL));
            assert_ok(lm_world_step(world, 1.0 / 60.0));
        }
        info = info_of(world, body);
        lm_vec3 *skin = calloc(info.skin_vertices, sizeof *skin);
        assert_ok(lm_body_get_skin(world, body, (lm_dvec3){0, 0, 0}, skin, NULL));
        for (uint32_t n = 0; n < info.skin_vertices; n++) {
            assert_true(fabs((double)skin[n].x) < 10.0 && fabs((double)skin[n].y) < 10.0 &&
                        fabs((double)skin[n].z) < 10.0);
        }
        free(skin);
        free(at);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_every_kind),   cmocka_unit_test(blades_spare_pieces),
        cmocka_unit_test(stamps_of_every_kind),   cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(mangled_bodies_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
