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
        assert_int_equal(part.info.pieces, pieces);
        assert_int_equal(part.open, 0);
        assert_near((double)part.info.density, (double)whole.info.density, 1e-4 * (double)whole.info.density);
        if (k > 0) {
            assert_int_equal(told[k - 1].made.slot, made[k].slot);
            assert_int_equal(told[k - 1].body.slot, made[0].slot);
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

/* --- pieces move as they would have moved as parts of one body --- */

static void pieces_move_on(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        random_state random[2] = {{42}, {42}};
        lm_world *world[2];
        lm_body_id body[2], made[MOST];
        for (int w = 0; w < 2; w++) {
            world[w] = make_world(-9.81);
            body[w] = add_box(world[w], kind, (lm_dvec3){0, 2, 0}, 0);
            excite(world[w], body[w], &random[w], 0.02, 0.3, 2.0);
            cut_at_random(world[w], body[w], &random[w], 2, 1);
            steps(world[w], 2);
        }
        const record whole = record_of(world[0], body[0]);
        lm_piece_info infos[MOST];
        uint32_t count, groups[MOST];
        assert_true(whole.info.pieces > 1 && whole.info.pieces <= MOST);
        assert_ok(lm_body_get_piece_infos(world[1], body[1], infos));
        for (uint32_t n = 0; n < whole.info.pieces; n++) { /* two bodies, of every second piece */
            groups[n] = infos[n].together % 2;
        }
        assert_ok(lm_body_split(world[1], body[1], groups, made, MOST, &count));
        assert_int_equal(count, 1);
        steps(world[0], 20);
        steps(world[1], 20);
        record after = record_of(world[0], body[0]), stays = record_of(world[1], body[1]);
        record left = record_of(world[1], made[0]);
        uint32_t at[2] = {0, 0};
        double worst = 0.0;
        for (uint32_t n = 0; n < whole.info.particles; n++) {
            const uint32_t g = groups[whole.piece[n]];
            const lm_vec3 now = (g ? left : stays).x[at[g]++];
            worst = fmax(worst, ref_length(ref_sub(to_double(now), to_double(after.x[n]))));
        }
        print_message("%s: %.3g m apart after 20 frames\n", kind_name(kind), worst);
        assert_at_most(worst, 2e-5);
        record_free(&after);
        record_free(&stays);
        record_free(&left);
        record_free((record *)&whole);
        lm_world_destroy(world[0]);
        lm_world_destroy(world[1]);
    }
}

/* --- what holds a body, and what it is besides --- */

static uint32_t halved(lm_world *world, lm_body_id body, lm_piece_info *infos)
{
    assert_ok(lm_body_slice(world, body, body_centre(world, body), (lm_vec3){1, 0.1f, 0.05f}, 1, 0.0f, NULL));
    const uint32_t pieces = info_of(world, body).pieces;
    assert_true(pieces >= 2 && pieces <= MOST);
    assert_ok(lm_body_get_piece_infos(world, body, infos));
    return pieces;
}

/* The first particle of a piece, and the n-th of it. */
static uint32_t particle_of(const record *r, uint32_t piece, uint32_t nth)
{
    for (uint32_t n = 0; n < r->info.particles; n++) {
        if (r->piece[n] == piece && nth-- == 0) {
            return n;
        }
    }
    fail();
    return 0;
}

/* What a particle of the first body is among those of its piece. */
static uint32_t rank_of(const record *r, uint32_t particle)
{
    uint32_t rank = 0;
    for (uint32_t n = 0; n < particle; n++) {
        rank += r->piece[n] == r->piece[particle];
    }
    return rank;
}

static void holds_go_along(void **state)
{
    (void)state;
    for (int kind = 0; kind < BROKEN; kind++) { /* which is as a fine lattice */
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kind, (lm_dvec3){0, 0, 0}, 0);
        lm_piece_info infos[MOST];
        const uint32_t pieces = halved(world, body, infos);
        record r = record_of(world, body);
        uint32_t groups[MOST] = {0}, away = infos[pieces - 1].together, count;
        for (uint32_t n = 0; n < pieces; n++) {
            groups[n] = infos[n].together == away;
        }
        const uint32_t own = particle_of(&r, away, 2), other = particle_of(&r, 0, 3), third = particle_of(&r, 0, 5);
        const uint32_t both[2] = {own, other}, one[1] = {third};
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id shared, stays;
        pin.body = body;
        pin.particles = both;
        pin.particle_count = 2;
        assert_ok(lm_pin_create(world, &pin, &shared));
        pin.particles = one;
        pin.particle_count = 1;
        assert_ok(lm_pin_create(world, &pin, &stays));
        lm_drag_def drag = lm_drag_def_default();
        lm_drag_id pulls;
        drag.body = body;
        drag.particle = own;
        drag.radius = 0.1f;
        drag.target = (lm_dvec3){0.2, 0.3, 0.0};
        assert_ok(lm_drag_create(world, &drag, &pulls));
        assert_ok(lm_body_add_particle_force(world, body, own, (lm_vec3){0, 1, 0}));
        assert_ok(lm_body_add_particle_force(world, body, other, (lm_vec3){0, 2, 0}));
        assert_ok(lm_body_add_force(world, body, (lm_vec3){0, 0, 1}));
        assert_ok(lm_body_set_user_data(world, body, 77));
        lm_body_id made[1];
        assert_ok(lm_body_split(world, body, groups, made, 1, &count));
        lm_pin_info info;
        uint32_t held[2];
        lm_dvec3 targets[2];
        assert_ok(lm_pin_get_info(world, shared, &info));
        assert_int_equal(info.body.slot, made[0].slot);
        assert_int_equal(info.particles, 1);
        assert_ok(lm_pin_get_targets(world, shared, held, targets));
        assert_int_equal(held[0], rank_of(&r, own));
        assert_ok(lm_pin_get_info(world, stays, &info));
        assert_int_equal(info.body.slot, body.slot);
        assert_ok(lm_drag_get_def(world, pulls, &drag));
        assert_int_equal(drag.body.slot, made[0].slot);
        assert_int_equal(drag.particle, rank_of(&r, own));
        assert_int_equal(info_of(world, made[0]).user_data, 77);
        assert_reloads(world, 3);
        steps(world, 5);
        assert_ok(lm_body_destroy(world, made[0]));
        assert_int_equal(lm_pin_get_info(world, shared, &info), LM_ERROR_ID);
        assert_ok(lm_pin_get_info(world, stays, &info));
        steps(world, 5);
        record_free(&r);
        lm_world_destroy(world);
    }
}

/* Joints go with the piece that they are on; one that is on several keeps them together. */
static void joints_go_along(void **state)
{
    (void)state;
    static const int kinds[] = {FINE, TETS};
    for (int k = 0; k < 2; k++) {
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kinds[k], (lm_dvec3){0, 0, 0}, 0);
        lm_piece_info infos[MOST];
        lm_body_id made[MOST];
        uint32_t count;
        halved(world, body, infos);
        lm_joint_def def = lm_joint_def_default();
        lm_joint_id small, wide;
        def.a.body = body;
        def.a.anchor = (lm_dvec3){-0.45, 0, 0};
        def.a.radius = 0.15f;
        def.b.anchor = def.a.anchor;
        assert_ok(lm_joint_create(world, &def, &small));
        def.a.anchor = def.b.anchor = (lm_dvec3){0, 0, 0};
        def.a.radius = 0.4f;
        assert_ok(lm_joint_create(world, &def, &wide));
        const uint64_t hash = lm_world_hash(world);
        assert_result(lm_body_split(world, body, NULL, made, MOST, &count), LM_ERROR_ARGUMENT);
        assert_true(lm_world_hash(world) == hash);
        assert_ok(lm_joint_destroy(world, wide));
        assert_ok(lm_body_split(world, body, NULL, made, MOST, &count));
        assert_true(count >= 1);
        steps(world, 10);
        assert_reloads(world, 3);
        for (uint32_t n = 0; n < count; n++) {
            assert_ok(lm_body_destroy(world, made[n]));
        }
        assert_ok(lm_body_destroy(world, body));
        lm_joint_id ids[4];
        assert_int_equal(lm_world_get_joints(world, ids, 4), 0);
        lm_world_destroy(world);
    }
}

/* --- what is dropped --- */

static void dust_is_accounted_for(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        random_state random = {7};
        lm_world *world = make_world(0.0);
        const lm_body_id body = add_box(world, kind, (lm_dvec3){0, 2, 0}, 0);
        cut_at_random(world, body, &random, 3, 0);
        steps(world, 2);
        const motion before = total(world, &body, 1);
        const lm_body_info info = info_of(world, body);
        lm_piece_info infos[MOST];
        lm_dropped dropped;
        lm_split told[4];
        assert_ok(lm_body_get_piece_infos(world, body, infos));
        lm_piece_limits limits = lm_piece_limits_default();
        assert_ok(lm_body_drop_pieces(world, body, &limits, &dropped));
        assert_int_equal(dropped.pieces, 0);
        limits.least_mass = 0.3f;
        assert_ok(lm_body_drop_pieces(world, body, &limits, &dropped));
        const motion after = total(world, &body, 1);
        assert_near(after.mass + dropped.mass, before.mass, 1e-9);
        assert_near(after.momentum.x + dropped.momentum.x, before.momentum.x, 1e-6);
        assert_near(after.angular.z + dropped.angular_momentum.z, before.angular.z, 1e-6);
        assert_int_equal(info_of(world, body).particles + dropped.particles, info.particles);
        const double volume = (double)info.mass / (double)info.density;
        const lm_body_info left = info_of(world, body);
        assert_near((double)left.mass / (double)left.density + dropped.volume, volume, 1e-5 * volume);
        if (dropped.pieces) {
            assert_int_equal(lm_world_get_splits(world, told, 4), 1);
            assert_int_equal(told[0].made.slot, 0);
            assert_near((double)told[0].mass, dropped.mass, 1e-6);
        }
        limits = lm_piece_limits_default();
        limits.most = 1;
        assert_ok(lm_body_drop_pieces(world, body, &limits, NULL));
        lm_body_id bodies[4];
        assert_int_equal(lm_world_get_bodies(world, bodies, 4), 1);
        assert_ok(lm_body_get_piece_infos(world, body, infos));
        for (uint32_t n = 0; n < info_of(world, body).pieces; n++) {
            assert_int_equal(infos[n].together, 0);
        }
        limits.least_volume = 1e9f; /* something stays */
        assert_ok(lm_body_drop_pieces(world, body, &limits, &dropped));
        assert_int_equal(dropped.pieces, 0);
        limits.least_mass = NAN;
        assert_result(lm_body_drop_pieces(world, body, &limits, &dropped), LM_ERROR_ARGUMENT);
        limits.cookie = 0;
        assert_result(lm_body_drop_pieces(world, body, &limits, &dropped), LM_ERROR_ARGUMENT);
        steps(world, 5);
        lm_world_destroy(world);
    }
}

/* --- bodies that come of it are bodies as any other --- */

static void pieces_are_cut_again(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        random_state random = {31 + (uint64_t)kind};
        lm_world *world = make_world(-9.81);
        lm_collider_def ground = lm_collider_def_default();
        lm_collider_id plane;
        assert_ok(lm_collider_create(world, &ground, &plane));
        lm_body_id bodies[4 * MOST] = {add_box(world, kind, (lm_dvec3){0, 0.6, 0}, UINT32_MAX)}, copy;
        uint32_t all = 1, count;
        double volume = record_of(world, bodies[0]).at_rest, mass = (double)info_of(world, bodies[0]).mass;
        for (int round = 0; round < 3; round++) {
            for (uint32_t n = 0, before = all; n < before; n++) {
                if (info_of(world, bodies[n]).particles >= 16) {
                    cut_at_random(world, bodies[n], &random, 1, round == 1);
                    assert_ok(lm_body_split(world, bodies[n], NULL, bodies + all, MOST, &count));
                    all += count;
                }
            }
            steps(world, 5);
            assert_reloads(world, 3);
        }
        double sum = 0.0, masses = 0.0;
        for (uint32_t n = 0; n < all; n++) {
            record r = record_of(world, bodies[n]);
            assert_true(motion_read(world, bodies[n], lm_dvec3_zero()).finite);
            if (kind == LATTICE || kind == FINE) { /* others: hairlines where an old face meets a new one */
                assert_int_equal(r.open, 0);
            }
            assert_at_most(r.open, 12 + 0.05 * r.info.skin_triangles);
            sum += r.at_rest;
            masses += (double)r.info.mass;
            uint32_t *sources = calloc(r.info.skin_vertices, sizeof *sources), inner = 0;
            if (r.info.skin_vertices) {
                assert_ok(lm_body_get_skin_sources(world, bodies[n], sources));
            }
            for (uint32_t k = 0; k < r.info.skin_vertices; k++) {
                inner += sources[k] == LM_SKIN_INNER;
                assert_true(sources[k] == LM_SKIN_INNER || sources[k] < 100000);
            }
            assert_true(!r.info.skin_vertices || inner > 0);
            free(sources);
            record_free(&r);
        }
        print_message("%s: %u bodies, volume %.6g of %.6g\n", kind_name(kind), all, sum, volume);
        assert_near(sum, volume, 5e-3 * volume);
        assert_near(masses, mass, 1e-5 * mass);
        assert_ok(lm_body_clone(world, bodies[all - 1], &copy));
        assert_int_equal(info_of(world, copy).skin_triangles, info_of(world, bodies[all - 1]).skin_triangles);
        steps(world, 5);
        lm_world_destroy(world);
    }
}

/* Two halves, one on the other: they touch each other as other bodies do. */
static void pieces_rest_on_each_other(void **state)
{
    (void)state;
    static const int kinds[] = {FINE, TETS, OCTREE, BROKEN};
    for (int k = 0; k < 4; k++) {
        lm_world *world = make_world(-9.81);
        lm_collider_def ground = lm_collider_def_default();
        lm_collider_id plane;
        lm_body_id made[MOST];
        uint32_t count;
        assert_ok(lm_collider_create(world, &ground, &plane));
        const lm_body_id body = add_box(world, kinds[k], (lm_dvec3){0, 0.26, 0}, UINT32_MAX);
        const lm_vec3 still = {0, 0, 0}, normal = {0.05f, 1, 0.02f};
        assert_ok(lm_body_set_velocity(world, body, still, still));
        assert_ok(lm_body_slice(world, body, (lm_dvec3){0, 0.26, 0}, normal, 1, 0.0f, NULL));
        assert_ok(lm_body_split(world, body, NULL, made, MOST, &count));
        assert_int_equal(count, 1);
        steps(world, 120);
        const double a = info_of(world, body).centre.y, b = info_of(world, made[0]).centre.y;
        assert_at_most(0.18, fabs(a - b));
        assert_at_most(0.04, fmin(a, b));
        assert_reloads(world, 3);
        lm_world_destroy(world);
    }
}

/* --- the same on all threads and instruction sets --- */

static void one_hash(void **state)
{
    (void)state;
    uint64_t expected = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            if (!lm_isa_supported((lm_isa)isa)) {
                continue;
            }
            lm_world *world = make_world_with(-9.81, (lm_isa)isa, workers);
            random_state random = {5};
            for (int kind = 0; kind < KINDS; kind++) {
                lm_body_id made[MOST];
                uint32_t count;
                const lm_body_id body = add_box(world, kind, (lm_dvec3){0, 1.0 * kind, 0}, UINT32_MAX);
                cut_at_random(world, body, &random, 2, 1);
                assert_ok(lm_world_step(world, FRAME));
                assert_ok(lm_body_split(world, body, NULL, made, MOST, &count));
            }
            steps(world, 10);
            const uint64_t hash = lm_world_hash(world);
            expected = expected ? expected : hash;
            if (hash != expected) {
                fail_msg("%s, %u workers: another hash", lm_isa_name((lm_isa)isa), workers);
            }
            lm_world_destroy(world);
        }
    }
}

/* --- memory that fails --- */

typedef struct heap {
    uint64_t requests, refuse;
    bool after; /* all from there on */
} heap;

static void *heap_allocate(size_t size, size_t alignment, void *user)
{
    heap *h = user;
    h->requests++;
    if (h->refuse && (h->after ? h->requests >= h->refuse : h->requests == h->refuse)) {
        return NULL;
    }
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void heap_release(void *memory, size_t size, void *user)
{
    (void)size;
    (void)user;
    free(memory);
}

static void *saved(const lm_world *world, size_t *size)
{
    *size = lm_world_save_size(world);
    void *bytes = malloc(*size);
    assert_ok(lm_world_save(world, bytes, *size));
    return bytes;
}

static void failures_lose_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        heap h = {0};
        lm_world_def def = lm_world_def_default();
        def.workers = 1;
        def.allocator = (lm_allocator){heap_allocate, heap_release, &h};
        lm_world *world;
        assert_ok(lm_world_create(&def, &world));
        random_state random = {3};
        lm_body_id made[MOST];
        const lm_body_id body = add_box(world, kind, (lm_dvec3){0, 2, 0}, UINT32_MAX);
        cut_at_random(world, body, &random, 1, 1);
        steps(world, 2);
        record whole = record_of(world, body);
        const uint32_t held[2] = {0, whole.info.particles - 1};
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id id;
        pin.body = body;
        pin.particles = held;
        pin.particle_count = 2;
        assert_ok(lm_pin_create(world, &pin, &id));
        size_t size;
        uint32_t count, tries = 0;
        void *before = saved(world, &size);
        lm_result result = LM_ERROR_MEMORY;
        for (uint64_t n = 1; result != LM_OK; n++) {
            for (int after = 1; after >= 0 && result != LM_OK; after--) {
                h = (heap){.refuse = n, .after = after};
                result = lm_body_split(world, body, NULL, made, MOST, &count);
                const uint64_t requests = h.requests;
                h = (heap){0};
                tries++;
                if (result != LM_OK) {
                    size_t again;
                    void *now = saved(world, &again);
                    assert_int_equal(result, LM_ERROR_MEMORY);
                    assert_int_equal(again, size);
                    assert_memory_equal(now, before, size);
                    free(now);
                } else {
                    assert_true(requests < n);
                }
            }
        }
        print_message("%s: %u tries\n", kind_name(kind), tries);
        assert_true(count >= 1);
        steps(world, 3);
        assert_reloads(world, 2);
        free(before);
        record_free(&whole);
        lm_world_destroy(world);
    }
}

/* --- what is refused --- */

static void refuses_nonsense(void **state)
{
    (void)state;
    lm_world *world = make_world(0.0);
    const lm_body_id body = add_box(world, TETS, (lm_dvec3){0, 0, 0}, 0);
    lm_body_id made[MOST];
    uint32_t count = 9, groups[MOST] = {0};
    lm_piece_info infos[MOST];
    assert_ok(lm_body_split(world, body, NULL, made, 0, &count)); /* one piece: nothing to do */
    assert_int_equal(count, 0);
    const uint32_t pieces = halved(world, body, infos);
    assert_int_equal(pieces, 2);
    const uint64_t hash = lm_world_hash(world);
    assert_result(lm_body_split(world, body, NULL, made, 0, &count), LM_ERROR_CAPACITY);
    assert_int_equal(count, 1);
    groups[0] = groups[1] = 1;
    assert_result(lm_body_split(world, body, groups, made, MOST, &count), LM_ERROR_ARGUMENT);
    groups[0] = 0, groups[1] = 2;
    assert_result(lm_body_split(world, body, groups, made, MOST, &count), LM_ERROR_ARGUMENT);
    groups[1] = UINT32_MAX;
    assert_result(lm_body_split(world, body, groups, made, MOST, &count), LM_ERROR_ARGUMENT);
    assert_result(lm_body_split(world, (lm_body_id){0, 0}, NULL, made, MOST, &count), LM_ERROR_ID);
    groups[1] = 0;
    assert_ok(lm_body_split(world, body, groups, made, MOST, &count));
    assert_int_equal(count, 0);
    assert_true(lm_world_hash(world) == hash);
    assert_ok(lm_body_set_enabled(world, body, false));
    assert_ok(lm_body_split(world, body, NULL, made, MOST, &count));
    assert_false(info_of(world, made[0]).enabled);
    steps(world, 2);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(pieces_move_on),
        cmocka_unit_test(holds_go_along),
        cmocka_unit_test(joints_go_along),
        cmocka_unit_test(dust_is_accounted_for),
        cmocka_unit_test(pieces_are_cut_again),
        cmocka_unit_test(pieces_rest_on_each_other),
        cmocka_unit_test(one_hash),
        cmocka_unit_test(failures_lose_nothing),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
