/*
 * Pieces that become bodies of their own, and pieces that are dropped: after random cuts and breaks of every sampling nothing is lost and
 * nothing is moved, surfaces are closed, and what comes of it is stepped, saved, loaded, cut again and split again as any other body.
 */
#include "limber/shapes.h"
#include "test/support/skins.h"
#include "test/support/things.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A lattice that breaks by strain, besides those of thing_def. */
enum { BROKEN = SAMPLINGS, KINDS };

static const char *kind_name(int kind) { return kind == BROKEN ? "broken lattice" : sampling_names[kind]; }

enum { MOST = 64 };

static lm_body_id add_box(lm_world *world, int kind, lm_dvec3 at, uint32_t mask)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    thing_def def = thing_default(kind == BROKEN ? FINE : (sampling)kind);
    def.shape = how.name = "box";
    def.size = how.size = (lm_vec3){1.0f, 0.5f, 0.5f};
    how.detail = 6;
    def.mask = mask;
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
    if (kind == BROKEN) {
        lm_fracture_def breaks = lm_fracture_def_default();
        breaks.limit = 10.0f;
        assert_ok(lm_body_set_fracture(world, body, &breaks));
    }
    return body;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* Planes through all of it, and blades that end inside. */
static void cut_at_random(lm_world *world, lm_body_id body, random_state *random, int planes, int ends)
{
    for (int n = 0; n < planes + ends; n++) {
        const lm_dvec3 centre = body_centre(world, body);
        const ref_vec off = random_in_cube(random, 0.2), normal = random_unit(random);
        const double turn = random_range(random, 0.0, 3.0), half = n < planes ? 3.0 : random_range(random, 0.1, 0.25);
        cut_square(world, body, (ref_vec){centre.x + off.x, centre.y + off.y, centre.z + off.z}, normal, half, turn);
    }
}

/* --- what a body is, to be compared with what its pieces are --- */

typedef struct record {
    lm_body_info info;
    lm_vec3 *x, *v;
    float *mass, *stiffness;
    uint32_t *piece;
    double volume, at_rest; /* of the skin */
    uint32_t open;
} record;

static double rest_volume(const lm_world *world, lm_body_id body, const lm_body_info *info)
{
    lm_vec3 *at = calloc(info->skin_vertices, sizeof *at);
    uint32_t *corners = calloc((size_t)info->skin_triangles * 3, sizeof *corners);
    double volume = 0.0;
    assert_ok(lm_body_get_skin_rest(world, body, at));
    assert_ok(lm_body_get_skin_triangles(world, body, corners));
    for (uint32_t n = 0; n < info->skin_triangles; n++) {
        const uint32_t *c = corners + (size_t)n * 3;
        volume += ref_dot(to_double(at[c[0]]), ref_cross(to_double(at[c[1]]), to_double(at[c[2]]))) / 6.0;
    }
    free(at);
    free(corners);
    return volume;
}

static record record_of(const lm_world *world, lm_body_id body)
{
    record r = {.info = info_of(world, body)};
    r.x = calloc(r.info.particles, sizeof *r.x);
    r.v = calloc(r.info.particles, sizeof *r.v);
    r.mass = calloc(r.info.particles, sizeof *r.mass);
    r.piece = calloc(r.info.particles, sizeof *r.piece);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), r.x));
    assert_ok(lm_body_get_velocities(world, body, r.v));
    assert_ok(lm_body_get_masses(world, body, r.mass));
    assert_ok(lm_body_get_pieces(world, body, r.piece));
    if (r.info.skin_vertices) {
        r.open = skin_open_edges(world, body, &r.volume);
        r.at_rest = rest_volume(world, body, &r.info);
    }
    return r;
}

static void record_free(record *r)
{
    free(r->x);
    free(r->v);
    free(r->mass);
    free(r->piece);
}

/* Particles of a body are those of some pieces of another, in their order, to the bit. */
static void check_particles(const record *whole, const record *part, const uint8_t *pieces)
{
    uint32_t at = 0;
    for (uint32_t n = 0; n < whole->info.particles; n++) {
        if (pieces[whole->piece[n]]) {
            assert_true(at < part->info.particles);
            assert_memory_equal(&part->x[at], &whole->x[n], sizeof *part->x);
            assert_memory_equal(&part->v[at], &whole->v[n], sizeof *part->v);
            assert_memory_equal(&part->mass[at], &whole->mass[n], sizeof *part->mass);
            at++;
        }
    }
    assert_int_equal(at, part->info.particles);
}

/* --- splitting --- */

static motion total(const lm_world *world, const lm_body_id *bodies, uint32_t count)
{
    motion sum = {.finite = true};
    for (uint32_t k = 0; k < count; k++) {
        const motion m = motion_read(world, bodies[k], lm_dvec3_zero());
        const ref_vec turned = ref_cross(m.centre, m.momentum);
        sum.mass += m.mass;
        sum.momentum = ref_add(sum.momentum, m.momentum);
        sum.angular = ref_add(sum.angular, ref_add(m.angular, turned));
        sum.finite = sum.finite && m.finite;
    }
    return sum;
}

static void check_split(int kind, uint64_t seed, int planes, int ends)
{
    random_state random = {seed * 977 + (uint64_t)kind};
    lm_world *world = make_world(-9.81);
    lm_body_id made[MOST] = {add_box(world, kind, (lm_dvec3){0, 2, 0}, seed % 2 ? UINT32_MAX : 0)};
    if (kind == BROKEN) {
        for (int n = 0; n < 2 + planes; n++) {
            const ref_vec at = random_in_box(&random, (ref_vec){-0.5, -0.2, -0.2}, (ref_vec){0.5, 0.2, 0.2});
            assert_ok(lm_body_break(world, made[0], to_float(at), n % 2 ? 0.22f : 0.3f, NULL));
        }
    }
    cut_at_random(world, made[0], &random, planes, ends);
    steps(world, 3);
    record whole = record_of(world, made[0]);
    const motion before = total(world, made, 1);
    lm_piece_info infos[MOST];
    uint32_t count;
    assert_true(whole.info.pieces <= MOST);
    assert_ok(lm_body_get_piece_infos(world, made[0], infos));
    assert_ok(lm_body_split(world, made[0], NULL, made + 1, MOST - 1, &count));
    const motion after = total(world, made, count + 1);
    assert_near(after.mass, before.mass, 1e-12);
    assert_at_most(ref_length(ref_sub(after.momentum, before.momentum)), 1e-9);
    assert_at_most(ref_length(ref_sub(after.angular, before.angular)), 1e-9);
    /* The lowest of those that go together, in the order of the bodies: the heaviest of them stays. */
    uint32_t leads[MOST], bodies = 0, stays = 0;
    double masses[MOST] = {0};
    for (uint32_t n = 0; n < whole.info.pieces; n++) {
        masses[infos[n].together] += (double)infos[n].mass;
        assert_true(infos[n].together <= n);
    }
    for (uint32_t n = 1; n < whole.info.pieces; n++) {
        stays = masses[n] > masses[stays] * (1.0 + 1e-9) ? n : stays;
    }
    leads[bodies++] = stays;
    for (uint32_t n = 0; n < whole.info.pieces; n++) {
        if (infos[n].together == n && n != stays) {
            leads[bodies++] = n;
        }
    }
    assert_int_equal(count, bodies - 1);
    lm_split told[MOST];
    assert_int_equal(lm_world_get_splits(world, told, MOST), count);
    double volume = 0.0, at_rest = 0.0;
    for (uint32_t k = 0; k <= count; k++) {
        uint8_t mine[MOST] = {0};
        uint32_t pieces = 0;
        record part = record_of(world, made[k]);
        for (uint32_t n = 0; n < whole.info.pieces; n++) {
            mine[n] = infos[n].together == leads[k];
            pieces += mine[n];
        }
        check_particles(&whole, &part, mine);
        assert_int_equal(part.info.pieces, kind == CLUSTERS || kind == SKINNED || kind == TETS ? 1 : pieces);
        assert_int_equal(part.open, 0);
        assert_near((double)part.info.density, (double)whole.info.density, 1e-4 * (double)whole.info.density);
        if (k > 0) {
            assert_int_equal(told[k - 1].to.slot, made[k].slot);
            assert_int_equal(told[k - 1].from.slot, made[0].slot);
            assert_int_equal(told[k - 1].particles, part.info.particles);
        }
        volume += part.volume;
        at_rest += part.at_rest;
        record_free(&part);
    }
    /* Where a skin opens between links, its lips ride on other cells of their chip afterwards. */
    assert_near(volume, whole.volume, (kind == BROKEN ? 5e-3 : 1e-5) * whole.volume);
    assert_near(at_rest, whole.at_rest, 1e-5 * whole.at_rest);
    assert_reloads(world, 5);
    for (int n = 0; n < 30; n++) {
        assert_ok(lm_world_step(world, FRAME));
    }
    assert_int_equal(lm_world_get_splits(world, told, MOST), 0);
    for (uint32_t k = 0; k <= count; k++) {
        record part = record_of(world, made[k]);
        const motion m = motion_read(world, made[k], lm_dvec3_zero());
        assert_true(m.finite);
        record_free(&part);
    }
    record_free(&whole);
    lm_world_destroy(world);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    const uint64_t seeds = test_is_long() ? 170 : 4;
    for (int kind = 0; kind < KINDS; kind++) {
        print_message("%s\n", kind_name(kind));
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            check_split(kind, seed, 1 + (int)(seed % 3), 0);
            check_split(kind, seed, 1 + (int)(seed % 3), 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
