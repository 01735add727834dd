/*
 * Bodies as wholes: where they are, teleports, velocities, sockets and copies, for every sampling.
 */
#include "test/support/things.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lm_quat turn(double x, double y, double z, double angle)
{
    double s = sin(0.5 * angle) / sqrt(x * x + y * y + z * z);
    return (lm_quat){(float)(x * s), (float)(y * s), (float)(z * s), (float)cos(0.5 * angle)};
}

/* q p q^-1. */
static lm_dvec3 turned(lm_quat q, lm_dvec3 p)
{
    lm_dvec3 u = {q.x, q.y, q.z};
    lm_dvec3 t = {2 * (u.y * p.z - u.z * p.y), 2 * (u.z * p.x - u.x * p.z), 2 * (u.x * p.y - u.y * p.x)};
    return (lm_dvec3){p.x + q.w * t.x + (u.y * t.z - u.z * t.y), p.y + q.w * t.y + (u.z * t.x - u.x * t.z),
                      p.z + q.w * t.z + (u.x * t.y - u.y * t.x)};
}

static double apart(lm_dvec3 a, lm_dvec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* The angle between two rotations. */
static double between(lm_quat a, lm_quat b)
{
    double w = fabs((double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z + (double)a.w * b.w);
    return 2.0 * acos(w > 1.0 ? 1.0 : w);
}

static void assert_pose(const lm_world *world, lm_body_id body, lm_pose expected, const char *name)
{
    lm_pose pose;
    assert_ok(lm_body_get_pose(world, body, &pose));
    if (apart(pose.position, expected.position) > 2e-6 || between(pose.rotation, expected.rotation) > 2e-3)
        fail_msg("%s: off by %g m and %g rad", name, apart(pose.position, expected.position),
                 between(pose.rotation, expected.rotation));
    assert_true(pose.rotation.w >= 0.0f);
}

static const lm_pose somewhere = {{0.3, 2.0, -0.7}, {0.18257419f, 0.36514837f, 0.54772256f, 0.73029674f}};

static lm_body_id make_thing(lm_world *world, int kind, lm_pose pose)
{
    thing_def def = thing_default((sampling)kind);
    def.size = (lm_vec3){1.0f, 0.7f, 0.5f};
    def.pose = pose;
    def.mass = 2.0f;
    return thing_make(world, &def);
}

static void a_new_body_has_the_pose_of_its_definition(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_thing(world, kind, somewhere);
        assert_pose(world, body, somewhere, sampling_names[kind]);
        lm_world_destroy(world);
    }
}

static void what_has_no_direction_is_not_turned(void **context)
{
    (void)context;
    const lm_vec3 line[5] = {{-2, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    for (uint32_t count = 1; count <= 5; count += 4) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.points = line;
        def.point_count = count;
        def.pose.position = (lm_dvec3){1, 2, 3};
        lm_body_id body = make_body(world, &def);
        assert_pose(world, body, def.pose, "line");
        lm_pose quarter = {{1, 2, 3}, turn(0, 0, 1, 1.5707963267948966)}, pose;
        assert_ok(lm_body_set_pose(world, body, quarter, true));
        assert_ok(lm_body_get_pose(world, body, &pose));
        /* Of all turns that lead x to y the smallest is the one about z; a point is not turned at all. */
        assert_at_most(between(pose.rotation, count == 1 ? lm_pose_identity().rotation : quarter.rotation), 1e-3);
        lm_world_destroy(world);
    }
}

static void teleports_arrive(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        for (int keep = 0; keep < 2; keep++) {
            lm_world *world = make_world(0.0);
            lm_body_id body = make_thing(world, kind, lm_pose_identity());
            random_state random = {7};
            excite(world, body, &random, 0.05, 0.3, 1.0);
            double before = deformation(world, body);
            lm_body_info was, is;
            assert_ok(lm_body_get_info(world, body, &was));
            assert_ok(lm_body_set_pose(world, body, somewhere, keep));
            assert_ok(lm_body_get_info(world, body, &is));
            assert_pose(world, body, somewhere, sampling_names[kind]);
            if (keep) {
                assert_near(deformation(world, body), before, 1e-4);
                assert_near(is.kinetic_energy, was.kinetic_energy, 1e-4 * was.kinetic_energy);
            } else {
                assert_at_most(deformation(world, body), 1e-5);
            }
            double v = sqrt(was.velocity.x * was.velocity.x + was.velocity.y * was.velocity.y +
                            was.velocity.z * was.velocity.z);
            double u =
                sqrt(is.velocity.x * is.velocity.x + is.velocity.y * is.velocity.y + is.velocity.z * is.velocity.z);
            assert_near(u, v, 1e-4);
            assert_reloads(world, 5);
            lm_world_destroy(world);
        }
    }
}

/* A body that was moved while it rings goes on ringing as one that was not. */
static void a_teleport_keeps_the_motion(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *a = make_world(0.0), *b = make_world(0.0);
        lm_body_id first = make_thing(a, kind, lm_pose_identity()), second = make_thing(b, kind, lm_pose_identity());
        random_state random = {9}, same = {9};
        excite(a, first, &random, 0.05, 0.3, 1.0);
        excite(b, second, &same, 0.05, 0.3, 1.0);
        steps(a, 10), steps(b, 10);
        lm_pose at, to = {{5, -3, 2}, turn(1, 2, -1, 2.0)};
        assert_ok(lm_body_get_pose(b, second, &at));
        assert_ok(lm_body_set_pose(b, second, to, true));
        steps(a, 30), steps(b, 30);
        lm_body_info info;
        assert_ok(lm_body_get_info(a, first, &info));
        lm_vec3 *x = malloc(info.particles * sizeof *x), *y = malloc(info.particles * sizeof *y);
        assert_ok(lm_body_get_positions(a, first, lm_dvec3_zero(), x));
        assert_ok(lm_body_get_positions(b, second, lm_dvec3_zero(), y));
        lm_quat back = {-at.rotation.x, -at.rotation.y, -at.rotation.z, at.rotation.w};
        double worst = 0.0;
        for (uint32_t n = 0; n < info.particles; n++) {
            lm_dvec3 own = {x[n].x - at.position.x, x[n].y - at.position.y, x[n].z - at.position.z};
            lm_dvec3 p = turned(to.rotation, turned(back, own));
            p = (lm_dvec3){p.x + to.position.x, p.y + to.position.y, p.z + to.position.z};
            worst = fmax(worst, apart(p, (lm_dvec3){y[n].x, y[n].y, y[n].z}));
        }
        if (worst > 2e-4) fail_msg("%s: %g m off after half a second", sampling_names[kind], worst);
        free(x), free(y);
        lm_world_destroy(a), lm_world_destroy(b);
    }
}

static void velocities_are_what_was_set(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_thing(world, kind, somewhere);
        random_state random = {3};
        excite(world, body, &random, 0.03, 0.5, 2.0);
        assert_ok(lm_body_set_velocity(world, body, (lm_vec3){1, -2, 3}, (lm_vec3){0.5f, 0.25f, -1}));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_near(info.velocity.x, 1, 1e-5), assert_near(info.velocity.y, -2, 1e-5);
        assert_near(info.velocity.z, 3, 1e-5), assert_near(info.spin.x, 0.5, 1e-5);
        assert_near(info.spin.y, 0.25, 1e-5), assert_near(info.spin.z, -1, 1e-5);
        assert_reloads(world, 3);
        lm_world_destroy(world);
    }
}

/* --- sockets --- */

static void sockets_follow_rigid_motion(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_thing(world, kind, somewhere);
        lm_socket_state state;
        /* On the surface, inside, and far above. */
        const lm_dvec3 places[3] = {{0.5, 0.35, 0.25}, {0.1, 0.05, 0.0}, {0.0, 1.5, 0.0}};
        assert_ok(lm_body_set_velocity(world, body, (lm_vec3){1, 0, 0}, (lm_vec3){0, 0, 2}));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        for (int n = 0; n < 3; n++) {
            lm_socket socket;
            lm_pose rest = {places[n], turn(0, 1, 0, 0.4)};
            assert_ok(lm_socket_make(world, body, rest, &socket));
            assert_ok(lm_socket_read(world, body, &socket, &state));
            lm_dvec3 p = turned(somewhere.rotation, places[n]);
            lm_dvec3 expected = {somewhere.position.x + p.x, somewhere.position.y + p.y, somewhere.position.z + p.z};
            assert_at_most(apart(state.pose.position, expected), 2e-5);
            lm_dvec3 axis = turned(state.pose.rotation, (lm_dvec3){1, 0, 0});
            lm_dvec3 wanted = turned(somewhere.rotation, turned(rest.rotation, (lm_dvec3){1, 0, 0}));
            assert_at_most(apart(axis, wanted), 2e-4);
            assert_near(state.spin.z, 2, 1e-3);
            double x = expected.x - info.centre.x, y = expected.y - info.centre.y;
            assert_near(state.velocity.x, 1 - 2 * y, 2e-3);
            assert_near(state.velocity.y, 2 * x, 2e-3);
        }
        lm_world_destroy(world);
    }
}

/* A bar that is bent: its ends turn against each other. The velocity is how fast the place moves. */
static void sockets_follow_bending(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    thing_def def = thing_default(FINE);
    def.size = (lm_vec3){2, 0.4f, 0.4f};
    def.material.hertz = 3.0f;
    lm_body_id body = thing_make(world, &def);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    uint32_t *held = malloc(info.particles * sizeof *held), count = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if (rest[n].x < -0.7f) held[count++] = n;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = body, pin.particles = held, pin.particle_count = count;
    assert_ok(lm_pin_create(world, &pin, &pin_id));
    lm_socket tip;
    lm_pose at = {{1.0, 0.2, 0.0}, lm_pose_identity().rotation};
    assert_ok(lm_socket_make(world, body, at, &tip));
    lm_socket_state before, now, after;
    steps(world, 8);
    assert_ok(lm_socket_read(world, body, &tip, &before));
    assert_ok(lm_world_step(world, 1e-3));
    assert_ok(lm_socket_read(world, body, &tip, &now));
    assert_ok(lm_world_step(world, 1e-3));
    assert_ok(lm_socket_read(world, body, &tip, &after));
    double speed = (after.pose.position.y - before.pose.position.y) / 2e-3;
    assert_true(speed < -0.1);
    assert_near(now.velocity.y, speed, 0.05 * fabs(speed));
    lm_dvec3 x = turned(now.pose.rotation, (lm_dvec3){1, 0, 0});
    assert_true(x.y < -0.02); /* it points down */
    free(rest), free(held);
    lm_world_destroy(world);
}

static void cut_through(lm_world *world, lm_body_id body)
{
    const lm_dvec3 v[4] = {{0.02, -5, -5}, {0.02, 5, -5}, {0.02, 5, 5}, {0.02, -5, 5}};
    const uint32_t t[6] = {0, 1, 2, 0, 2, 3};
    lm_blade blade = lm_blade_default();
    lm_cut_info info;
    blade.vertices = v, blade.vertex_count = 4, blade.triangles = t, blade.triangle_count = 2;
    assert_ok(lm_body_cut(world, body, &blade, &info));
    assert_true(info.parts == 2);
}

/* After a cut a socket follows the piece that it is in. */
static void sockets_follow_their_piece(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = make_thing(world, kind, lm_pose_identity());
        lm_socket left, right;
        lm_socket_state a, b;
        lm_pose at = {{-0.4, 0.1, 0.05}, lm_pose_identity().rotation};
        assert_ok(lm_socket_make(world, body, at, &left));
        at.position.x = 0.4;
        assert_ok(lm_socket_make(world, body, at, &right));
        cut_through(world, body);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        uint32_t *pieces = malloc(info.particles * sizeof *pieces);
        lm_vec3 *x = malloc(info.particles * sizeof *x);
        assert_ok(lm_body_get_pieces(world, body, pieces));
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
        assert_ok(lm_socket_read(world, body, &right, &b));
        uint32_t moved = pieces[right.particles[0]];
        for (uint32_t n = 0; n < info.particles; n++) x[n].x += pieces[n] == moved ? 3.0f : 0.0f;
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        assert_ok(lm_socket_read(world, body, &left, &a));
        assert_ok(lm_socket_read(world, body, &right, &b));
        if (fabs(a.pose.position.x + 0.4) > 1e-4 || fabs(b.pose.position.x - 3.4) > 1e-4)
            fail_msg("%s: %g and %g", sampling_names[kind], a.pose.position.x, b.pose.position.x);
        free(pieces), free(x);
        lm_world_destroy(world);
    }
}

/* --- copies --- */

static void assert_same_bits(const lm_world *world, lm_body_id a, lm_body_id b, const char *name)
{
    lm_body_info info, other;
    assert_ok(lm_body_get_info(world, a, &info));
    assert_ok(lm_body_get_info(world, b, &other));
    assert_int_equal(info.particles, other.particles);
    assert_int_equal(info.regions, other.regions);
    assert_true(info.shape_hash == other.shape_hash && info.pieces == other.pieces);
    lm_vec3 *x = malloc(info.particles * sizeof *x), *y = malloc(info.particles * sizeof *y);
    assert_ok(lm_body_get_positions(world, a, info.centre, x));
    assert_ok(lm_body_get_positions(world, b, info.centre, y));
    if (memcmp(x, y, info.particles * sizeof *x) != 0) fail_msg("%s: the copy is elsewhere", name);
    assert_ok(lm_body_get_velocities(world, a, x));
    assert_ok(lm_body_get_velocities(world, b, y));
    if (memcmp(x, y, info.particles * sizeof *x) != 0) fail_msg("%s: the copy has other velocities", name);
    if (info.skin_vertices) {
        lm_vec3 *s = malloc(info.skin_vertices * sizeof *s), *t = malloc(info.skin_vertices * sizeof *t);
        assert_int_equal(info.skin_vertices, other.skin_vertices);
        assert_ok(lm_body_get_skin(world, a, info.centre, s, NULL));
        assert_ok(lm_body_get_skin(world, b, info.centre, t, NULL));
        assert_memory_equal(s, t, info.skin_vertices * sizeof *s);
        free(s), free(t);
    }
    free(x), free(y);
}

enum { PLAIN, PACKED, PLASTIC, SOFT, EXAMPLES, BREAKABLE, CUT, PINNED, VARIANTS };
static const char *const variants[VARIANTS] = {"plain",    "packed",    "plastic", "soft",
                                               "examples", "breakable", "cut",     "pinned"};

static void give_examples(lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *pose = malloc(info.particles * sizeof *pose);
    assert_ok(lm_body_get_rest_positions(world, body, pose));
    for (uint32_t n = 0; n < info.particles; n++) pose[n].x *= 1.3f;
    lm_examples_def def = lm_examples_def_default();
    def.poses = pose, def.count = 1, def.particles = info.particles;
    assert_ok(lm_body_set_examples(world, body, &def));
    free(pose);
}

/* What a body can be when it is copied; false where it cannot. */
static bool vary(lm_world *world, lm_body_id body, int kind, int variant)
{
    lm_material material;
    assert_ok(lm_body_get_material(world, body, &material));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    if (variant == PACKED) steps(world, 5);
    if (variant == PLASTIC) {
        material.yield = 0.02f, material.creep = 20.0f;
        assert_ok(lm_body_set_material(world, body, &material));
        steps(world, 40);
    }
    if (variant == SOFT) {
        float *shares = malloc(info.regions * sizeof *shares);
        for (uint32_t n = 0; n < info.regions; n++) shares[n] = n % 2 ? 0.5f : 1.0f;
        assert_ok(lm_body_set_region_stiffness(world, body, shares));
        free(shares);
    }
    if (variant == EXAMPLES) give_examples(world, body), steps(world, 3);
    if (variant == BREAKABLE) {
        if (kind != LATTICE && kind != FINE) return false;
        lm_fracture_def def = lm_fracture_def_default();
        assert_ok(lm_body_set_fracture(world, body, &def));
        uint32_t broken;
        assert_ok(lm_body_break(world, body, (lm_vec3){0.5f, 0.3f, 0.2f}, 0.4f, &broken));
        steps(world, 2);
    }
    if (variant == CUT) cut_through(world, body), steps(world, 2);
    return true;
}

static lm_pin_id pin_one(lm_world *world, lm_body_id body)
{
    uint32_t particle = 0;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body, pin.particles = &particle, pin.particle_count = 1;
    assert_ok(lm_pin_create(world, &pin, &id));
    return id;
}

/* Copies do what the original does, to the last bit: in flight, and on the ground. */
static void copies_are_the_same(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        for (int variant = 0; variant < VARIANTS; variant++) {
            lm_world *world = make_world(-9.81);
            lm_collider_def ground = lm_collider_def_default();
            lm_collider_id collider;
            assert_ok(lm_collider_create(world, &ground, &collider));
            lm_pose pose = {{0, 0.5, 0}, lm_pose_identity().rotation};
            lm_body_id body = make_thing(world, kind, pose), copy;
            if (vary(world, body, kind, variant)) {
                char name[64];
                snprintf(name, sizeof name, "%s, %s", sampling_names[kind], variants[variant]);
                if (variant == PINNED) { /* the copy is not */
                    lm_pin_id pin = pin_one(world, body);
                    assert_ok(lm_body_clone(world, body, &copy));
                    assert_ok(lm_pin_destroy(world, pin));
                } else {
                    assert_ok(lm_body_clone(world, body, &copy));
                }
                assert_same_bits(world, body, copy, name);
                /* What touched is forgotten: begin alike. */
                lm_pose at;
                assert_ok(lm_body_get_pose(world, body, &at));
                assert_ok(lm_body_set_pose(world, body, at, true));
                assert_ok(lm_body_set_pose(world, copy, at, true));
                for (int n = 0; n < 6; n++) {
                    steps(world, 5);
                    assert_same_bits(world, body, copy, name);
                }
                assert_reloads(world, 3);
                assert_ok(lm_body_destroy(world, body)); /* nothing of it is needed */
                steps(world, 3);
            }
            lm_world_destroy(world);
        }
    }
}

/* A world with a copy is the same as one in which both were made. */
static void copies_touch_each_other(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        uint64_t hashes[2];
        for (int cloned = 0; cloned < 2; cloned++) {
            lm_world *world = make_world(-9.81);
            lm_collider_def ground = lm_collider_def_default();
            lm_collider_id collider;
            assert_ok(lm_collider_create(world, &ground, &collider));
            thing_def def = thing_default((sampling)kind);
            def.size = (lm_vec3){0.5f, 0.5f, 0.5f};
            def.mask = 1;
            def.pose.position.y = 0.3;
            lm_body_id body = thing_make(world, &def), copy;
            def.pose.position.y = 1.0;
            if (cloned) {
                assert_ok(lm_body_clone(world, body, &copy));
                assert_ok(lm_body_set_pose(world, copy, def.pose, false));
            } else {
                copy = thing_make(world, &def);
            }
            steps(world, 40);
            hashes[cloned] = lm_world_hash(world);
            lm_world_destroy(world);
        }
        if (hashes[0] != hashes[1]) fail_msg("%s: a copy does something else", sampling_names[kind]);
    }
}

static size_t memory_of(const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    return stats.memory;
}

/* All ways to change what copies have in common. */
static void change(lm_world *world, lm_body_id body, int way, float *values, uint32_t count)
{
    const lm_dvec3 from[2] = {{-9, 0.52, -9}, {-9, 0.52, 9}}, to[2] = {{9, 0.52, -9}, {9, 0.52, 9}};
    lm_cut_info info;
    if (way == 0) {
        for (uint32_t n = 0; n < count; n++) values[n] = 0.3f + (n % 3) * 0.1f;
        assert_ok(lm_body_set_widths(world, body, values));
    } else if (way == 1) {
        for (uint32_t n = 0; n < count; n++) values[n] = 0.01f + (n % 5) * 0.01f;
        assert_ok(lm_body_set_masses(world, body, values));
    } else if (way == 2) {
        assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &info));
        assert_true(info.links > 0);
    } else {
        assert_ok(lm_body_destroy(world, body));
    }
}

/* An octree and its copies have their cells and sums in common until one of them changes; the others do not notice. */
static void copies_share_until_they_change(void **context)
{
    (void)context;
    for (int way = 0; way < 4; way++) {
        uint64_t hashes[2];
        for (int shared = 0; shared < 2; shared++) {
            lm_world *world = make_world(-9.81);
            lm_pose pose = {{0, 0.5, 0}, lm_pose_identity().rotation};
            size_t before = memory_of(world), one, two;
            lm_body_id body = make_thing(world, OCTREE, pose), copies[2];
            lm_body_info info;
            one = memory_of(world) - before;
            for (int n = 0; n < 2; n++) {
                before = memory_of(world);
                if (shared) {
                    assert_ok(lm_body_clone(world, body, &copies[n]));
                } else {
                    copies[n] = make_thing(world, OCTREE, pose);
                }
                two = memory_of(world) - before;
                assert_true(!shared || 5 * two < 4 * one);
            }
            assert_ok(lm_body_get_info(world, body, &info));
            float *values = calloc(2 * (size_t)info.particles, sizeof *values);
            assert_ok(lm_body_get_widths(world, body, values + info.particles));
            change(world, copies[0], way, values, info.particles);
            assert_ok(lm_body_get_widths(world, body, values));
            assert_memory_equal(values, values + info.particles, info.particles * sizeof *values);
            steps(world, 10);
            assert_same_bits(world, body, copies[1], "the other copy");
            change(world, body, (way + 1) % 4, values, info.particles);
            steps(world, 10);
            hashes[shared] = lm_world_hash(world);
            lm_world_destroy(world);
            free(values);
        }
        assert_true(hashes[0] == hashes[1]);
    }
}

/* --- wrong values --- */

static int lines;
static void count_line(lm_result result, const char *line, void *user)
{
    (void)user;
    assert_true(result != LM_OK && strlen(line) > 10);
    lines++;
}

#define REFUSED(call, result)                                                                                          \
    do {                                                                                                               \
        lines = 0;                                                                                                     \
        assert_result(call, result);                                                                                   \
        assert_int_equal(lines, 1);                                                                                    \
    } while (0)

static void wrong_values_change_nothing(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.log.write = count_line;
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    lm_body_id body = make_thing(world, FINE, somewhere), none = {0, 0}, copy = {3, 3};
    uint64_t hash = lm_world_hash(world);
    lm_pose pose = lm_pose_identity(), bad = pose, zero = pose;
    lm_socket socket;
    lm_socket_state state;
    bad.position.y = NAN;
    zero.rotation.w = 0.0f;
    REFUSED(lm_body_get_pose(world, none, &pose), LM_ERROR_ID);
    REFUSED(lm_body_set_pose(world, none, pose, true), LM_ERROR_ID);
    REFUSED(lm_body_set_pose(world, body, bad, true), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_set_pose(world, body, zero, false), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_set_velocity(world, none, (lm_vec3){0}, (lm_vec3){0}), LM_ERROR_ID);
    REFUSED(lm_body_set_velocity(world, body, (lm_vec3){0, INFINITY, 0}, (lm_vec3){0}), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_set_velocity(world, body, (lm_vec3){0}, (lm_vec3){0, 0, 2e6f}), LM_ERROR_ARGUMENT);
    REFUSED(lm_socket_make(world, none, pose, &socket), LM_ERROR_ID);
    REFUSED(lm_socket_make(world, body, bad, &socket), LM_ERROR_ARGUMENT);
    REFUSED(lm_socket_make(world, body, zero, &socket), LM_ERROR_ARGUMENT);
    assert_ok(lm_socket_make(world, body, pose, &socket));
    REFUSED(lm_socket_read(world, none, &socket, &state), LM_ERROR_ID);
    /* Damaged ones are made again. */
    lm_socket damaged = socket;
    damaged.count = 99;
    damaged.particles[0] = UINT32_MAX;
    assert_ok(lm_socket_read(world, body, &damaged, &state));
    assert_memory_equal(&damaged, &socket, sizeof socket);
    damaged.rest.position.x = NAN;
    REFUSED(lm_socket_read(world, body, &damaged, &state), LM_ERROR_ARGUMENT);
    REFUSED(lm_body_clone(world, none, &copy), LM_ERROR_ID);
    assert_int_equal(copy.slot, 0);
    assert_true(lm_world_hash(world) == hash);
    lm_world_destroy(world);
}

/* A quarter of a turn about z takes the velocity along, whether the shape is kept or not. */
static void a_new_pose_turns_the_velocity(void **context)
{
    (void)context;
    for (int keep = 0; keep < 2; keep++) {
        lm_world *world = make_world(0.0);
        lm_vec3 *points = grid_points(3, 3, 3, 0.2);
        lm_body_def def = lm_body_def_default();
        def.points = points;
        def.point_count = 27;
        lm_body_id body = make_body(world, &def);
        free(points);
        assert_ok(lm_body_set_velocity(world, body, (lm_vec3){1, 0, 0}, (lm_vec3){0, 0, 0}));
        const lm_pose pose = {{3, 0, 0}, {0, 0, (float)sqrt(0.5), (float)sqrt(0.5)}};
        assert_ok(lm_body_set_pose(world, body, pose, keep));
        motion m = motion_read(world, body, lm_dvec3_zero());
        assert_near(m.momentum.x / m.mass, 0.0, 1e-6);
        assert_near(m.momentum.y / m.mass, 1.0, 1e-6);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pose_turns_the_velocity),
        cmocka_unit_test(a_new_body_has_the_pose_of_its_definition),
        cmocka_unit_test(what_has_no_direction_is_not_turned),
        cmocka_unit_test(teleports_arrive),
        cmocka_unit_test(a_teleport_keeps_the_motion),
        cmocka_unit_test(velocities_are_what_was_set),
        cmocka_unit_test(sockets_follow_rigid_motion),
        cmocka_unit_test(sockets_follow_bending),
        cmocka_unit_test(sockets_follow_their_piece),
        cmocka_unit_test(copies_are_the_same),
        cmocka_unit_test(copies_touch_each_other),
        cmocka_unit_test(copies_share_until_they_change),
        cmocka_unit_test(wrong_values_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
