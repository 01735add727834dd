/*
 * Meshes whose vertices move: against the same motion by a mover, against a plain search through time, at speeds at which a sheet passes
 * a body within a substep; what rides on them, what they wake, what snapshots hold, what is refused.
 */
#include "collide/mesh_motion.h"
#include "limber/shapes.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 13, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

static lm_vec3 flat[VERTICES];
static uint32_t corners[3 * TRIANGLES];

/* A sheet of 4 x 4 m at y = 0 that faces up. */
static lm_collider_def sheet_def(bool deforms)
{
    uint32_t *to = corners;
    for (uint32_t n = 0; n < VERTICES; n++)
        flat[n] =
            (lm_vec3){4.0f * (float)(n % SIDE) / (SIDE - 1) - 2.0f, 0.0f, 4.0f * (float)(n / SIDE) / (SIDE - 1) - 2.0f};
    for (uint32_t n = 0; n < (SIDE - 1) * (SIDE - 1); n++) {
        uint32_t a = n / (SIDE - 1) * SIDE + n % (SIDE - 1);
        const uint32_t quad[6] = {a, a + SIDE, a + SIDE + 1, a, a + SIDE + 1, a + 1};
        memcpy(to, quad, sizeof quad);
        to += 6;
    }
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_MESH;
    def.mesh = (lm_collider_mesh){flat, VERTICES, corners, TRIANGLES, false, deforms};
    return def;
}

static lm_collider_id make_sheet(lm_world *world)
{
    lm_collider_def def = sheet_def(true);
    lm_collider_id id;
    def.friction = 1.0f;
    assert_ok(lm_collider_create(world, &def, &id));
    return id;
}

/* The sheet, moved and turned about the vertical and along a wave. */
static void place(ref_vec by, double angle, double wave, double phase, lm_vec3 *out)
{
    for (uint32_t n = 0; n < VERTICES; n++) {
        double x = flat[n].x, z = flat[n].z;
        out[n] = to_float(ref_v(by.x + cos(angle) * x + sin(angle) * z, by.y + wave * sin(1.5 * x + phase),
                                by.z - sin(angle) * x + cos(angle) * z));
    }
}

static lm_body_id make_box(lm_world *world, double y)
{
    random_state random = {3};
    sample s = sample_make(SAMPLE_BOX, &random);
    s.def.material.damping_ratio = 0.5f;
    s.def.material.friction = 1.0f;
    s.def.pose.position = (lm_dvec3){0.1, y, -0.1};
    lm_body_id body = make_body(world, &s.def);
    sample_free(&s);
    return body;
}

/* Vertices that move as a rigid whole do what a mover does. */
static void moves_as_a_mover_does(void **context)
{
    (void)context;
    lm_vec3 centre[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int way = 0; way < 2; way++) {
        lm_world *world = make_world(-9.81);
        assert_ok(lm_world_set_substeps(world, 4));
        lm_mover_def mover_def = lm_mover_def_default();
        lm_mover_id mover;
        assert_ok(lm_mover_create(world, &mover_def, &mover));
        lm_collider_def def = sheet_def(way == 1);
        lm_collider_id id;
        def.friction = 1.0f;
        def.mover = way == 0 ? mover : (lm_mover_id){0, 0};
        assert_ok(lm_collider_create(world, &def, &id));
        lm_body_id body = make_box(world, 0.45);
        for (int frame = 1; frame <= 90; frame++) {
            double t = frame / 60.0, angle = 0.3 * t * t;
            ref_vec by = ref_v(0.4 * t * t, 0.3 * t, 0.2 * t);
            lm_vec3 to[VERTICES];
            place(by, angle, 0.0, 0.0, to);
            lm_pose pose = {to_dvec3(by), quaternion(ref_v(0, angle, 0))};
            assert_ok(way == 0 ? lm_mover_move_to(world, mover, pose)
                               : lm_collider_move_vertices(world, id, to, VERTICES));
            steps(world, 1);
        }
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        centre[way] = (lm_vec3){(float)info.centre.x, (float)info.centre.y, (float)info.centre.z};
        assert_near(info.velocity.y, 0.3, 0.02);
        lm_world_destroy(world);
    }
    assert_near(centre[1].x, centre[0].x, 0.01);
    assert_near(centre[1].y, centre[0].y, 0.002);
    assert_near(centre[1].z, centre[0].z, 0.01);
    assert_true(centre[0].x > 0.6f); /* it was carried along */
}

/* A sheet that comes up, or down, past a body that stands in the air, within a substep: the body goes with it. */
static void nothing_gets_through_a_fast_sheet(void **context)
{
    (void)context;
    const double speeds[] = {3.0, 30.0, 100.0, 400.0};
    for (int k = 0; k < 4; k++)
        for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
            for (int down = 0; down < 2; down++)
                for (uint32_t substeps = 1; substeps <= 4; substeps += 3) {
                    random_state random = {7};
                    sample s = sample_make((sample_kind)kind, &random);
                    lm_world *world = make_world(0.0);
                    assert_ok(lm_world_set_substeps(world, substeps));
                    lm_collider_id id = make_sheet(world);
                    double side = down ? -1.0 : 1.0, way = speeds[k] / 60.0;
                    s.def.pose.position = (lm_dvec3){0.05, side * (0.3 + s.size), 0.1};
                    lm_body_id body = make_body(world, &s.def);
                    lm_vec3 to[VERTICES];
                    double at = 0.0;
                    for (int frame = 0; frame < 12; frame++) {
                        at += side * way;
                        place(ref_v(0, at, 0), 0.0, 0.0, 0.0, to);
                        assert_ok(lm_collider_move_vertices(world, id, to, VERTICES));
                        steps(world, 1);
                    }
                    body_state state = state_read(world, body, (lm_dvec3){0, at, 0});
                    for (uint32_t n = 0; n < state.count; n++) assert_at_most(-side * state.x[n].y, 1e-3 * s.size);
                    state_free(&state);
                    lm_world_destroy(world);
                    sample_free(&s);
                }
}

/* Points in a wavy sheet that changes into another one, stretched and moved, at once: none changes sides. Where the sheet is a graph over
 * x and z before and after, the sides are plain to see. */
static double height_of(const lmi_mesh *mesh, bool before, ref_vec p)
{
    for (uint32_t n = 0; n < mesh->face_count; n++) {
        const float *f = before ? mesh->motion->before[n] : mesh->faces[n];
        ref_vec a = ref_v(f[0], f[1], f[2]), b = ref_v(f[3], f[4], f[5]), c = ref_v(f[6], f[7], f[8]);
        double area = (b.z - a.z) * (c.x - a.x) - (b.x - a.x) * (c.z - a.z);
        double u = ((p.z - a.z) * (c.x - a.x) - (p.x - a.x) * (c.z - a.z)) / area;
        double v = ((b.z - a.z) * (p.x - a.x) - (b.x - a.x) * (p.z - a.z)) / area;
        if (u >= -1e-12 && v >= -1e-12 && u + v <= 1.0 + 1e-12) return a.y + u * (b.y - a.y) + v * (c.y - a.y);
    }
    return NAN;
}

static void points_keep_their_side(void **context)
{
    (void)context;
    random_state random = {11};
    uint32_t carried = 0, checked = 0;
    for (int round = 0; round < 60; round++) {
        lmi_memory memory;
        lmi_memory_init(&memory, &(lm_allocator){0});
        lm_vec3 from[VERTICES], to[VERTICES];
        sheet_def(true);
        place(ref_v(0, 0, 0), 0.0, random_range(&random, 0.0, 0.6), random_range(&random, 0.0, 6.0), from);
        place(
            ref_v(random_range(&random, -0.2, 0.2), random_range(&random, -1.0, 1.0), random_range(&random, -0.2, 0.2)),
            random_range(&random, -0.3, 0.3), random_range(&random, 0.0, 0.6), random_range(&random, 0.0, 6.0), to);
        for (uint32_t n = 0; n < VERTICES; n++) to[n].y += (float)random_range(&random, -0.2, 0.2);
        lmi_mesh *mesh = lmi_mesh_make_deforming(&memory, from, VERTICES, corners, TRIANGLES, false);
        assert_non_null(mesh);
        lmi_mesh_move_to(mesh, to);
        lmi_mesh_advance(mesh, 1.0 / 60.0, 0, 1);
        for (int k = 0; k < 400; k++) {
            ref_vec p = random_in_box(&random, ref_v(-1.2, -1.5, -1.2), ref_v(1.2, 1.5, 1.2));
            double was = p.y - height_of(mesh, true, p);
            if (fabs(was) < 1e-3) continue;
            lm_dvec3 end = lmi_mesh_carry(mesh, to_dvec3(p), 0.0);
            ref_vec q = ref_v(end.x, end.y, end.z);
            double is = q.y - height_of(mesh, false, q);
            carried += q.x != p.x || q.y != p.y || q.z != p.z;
            checked++;
            assert_true(was * is > 0.0);
        }
        lmi_mesh_free(&memory, mesh);
        assert_int_equal(memory.used, 0);
    }
    print_message("%u of %u points were pushed\n", (unsigned)carried, (unsigned)checked);
    assert_true(checked > 15000 && carried > 2000); /* enough for this to mean something */
}

/* A soft ball on a wave that runs along a sheet stays on it, and is lifted and lowered. */
static void a_soft_ball_rides_a_wave(void **context)
{
    (void)context;
    lm_shape_def ball = lm_shape_def_default();
    ball.name = "sphere";
    ball.size = (lm_vec3){0.6f, 0.6f, 0.6f};
    lm_shape_mesh mesh;
    assert_ok(lm_shape_make_mesh(&ball, &mesh));
    lm_world *world = make_world(-9.81);
    assert_ok(lm_world_set_substeps(world, 4));
    lm_collider_id id = make_sheet(world);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.vertices = mesh.vertices;
    def.lattice.vertex_count = mesh.vertex_count;
    def.lattice.triangles = mesh.triangles;
    def.lattice.triangle_count = mesh.triangle_count;
    def.lattice.particles = 200;
    def.pose.position = (lm_dvec3){0.0, 0.4, 0.0};
    def.material.hertz = 10.0f;
    lm_body_id body = make_body(world, &def);
    double low = INFINITY, high = -INFINITY;
    for (int frame = 0; frame < 300; frame++) {
        lm_vec3 to[VERTICES];
        double t = frame / 60.0, rise = fmin(t, 1.0);
        place(ref_v(0, 0, 0), 0.0, 0.25 * rise, 2.0 * t, to);
        assert_ok(lm_collider_move_vertices(world, id, to, VERTICES));
        steps(world, 1);
        lm_dvec3 centre = body_centre(world, body);
        double ground = 0.25 * rise * sin(1.5 * centre.x + 2.0 * t);
        if (frame > 120 && fabs(centre.x) < 1.6) {
            low = fmin(low, centre.y);
            high = fmax(high, centre.y);
            assert_true(centre.y - ground > 0.15 && centre.y - ground < 0.6);
        }
    }
    assert_true(high - low > 0.2);
    lm_world_destroy(world);
    lm_shape_mesh_free(&mesh);
}

/* A closed box that grows puts out what is in its way. */
static void a_solid_that_grows_pushes(void **context)
{
    (void)context;
    static const uint32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                       2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    lm_vec3 cube[8], to[8];
    for (int n = 0; n < 8; n++) cube[n] = (lm_vec3){n & 1 ? 0.2f : -0.2f, n & 2 ? 0.2f : -0.2f, n & 4 ? 0.2f : -0.2f};
    lm_world *world = make_world(0.0);
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.shape = LM_SHAPE_MESH;
    def.mesh = (lm_collider_mesh){cube, 8, faces, 12, true, true};
    assert_ok(lm_collider_create(world, &def, &id));
    lm_body_id bodies[6];
    for (int n = 0; n < 6; n++) {
        double at = n % 2 ? 0.5 : -0.5;
        bodies[n] = make_particle(world, ref_v(n / 2 == 0 ? at : 0.03, n / 2 == 1 ? at : 0.05, n / 2 == 2 ? at : -0.04),
                                  ref_v(0, 0, 0), NULL, 0.0);
    }
    for (int frame = 1; frame <= 30; frame++) {
        for (int n = 0; n < 8; n++) {
            float size = 1.0f + 0.15f * (float)frame;
            to[n] = (lm_vec3){cube[n].x * size, cube[n].y * size, cube[n].z * size};
        }
        assert_ok(lm_collider_move_vertices(world, id, to, 8));
        steps(world, 1);
    }
    for (int n = 0; n < 6; n++) {
        ref_vec x, v;
        read_particle(world, bodies[n], &x, &v);
        assert_true(fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) >= 1.1 - 1e-3); /* 0.2 * 5.5 */
        assert_near(ref_length(v), 0.2 * 0.15 * 60.0, 0.2);                     /* as fast as the face */
    }
    lm_world_destroy(world);
}

static lm_world *busy_world(lm_isa isa, uint32_t workers, lm_collider_id *id)
{
    lm_world *world = make_world_with(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(world, 3));
    *id = make_sheet(world);
    for (int n = 0; n < 3; n++) make_box(world, 0.6 + 0.9 * n);
    return world;
}

static void play(lm_world *world, lm_collider_id id, int from, int to)
{
    for (int frame = from; frame < to; frame++) {
        lm_vec3 at[VERTICES];
        place(ref_v(0.002 * frame, 0, 0), 0.0, 0.002 * frame, 0.05 * frame, at);
        assert_ok(lm_collider_move_vertices(world, id, at, VERTICES));
        steps(world, 1);
    }
}

/* The same bits on all threads and instruction sets, after a snapshot (with a target that is still to come), and after going back. */
static void results_are_the_same_everywhere(void **context)
{
    (void)context;
    lm_collider_id id;
    lm_world *world = busy_world(LM_ISA_BEST, 1, &id);
    play(world, id, 0, 60);
    lm_vec3 next[VERTICES];
    place(ref_v(0.3, 0.1, 0), 0.0, 0.1, 3.0, next);
    assert_ok(lm_collider_move_vertices(world, id, next, VERTICES));
    size_t size = lm_world_save_size(world), room = lm_world_state_size(world), used;
    void *snapshot = malloc(size), *state = malloc(room);
    assert_ok(lm_world_save(world, snapshot, size));
    assert_ok(lm_world_save_state(world, state, room, &used));
    steps(world, 1);
    play(world, id, 61, 120);
    uint64_t hash = lm_world_hash(world);
    for (int way = 0; way < 2; way++) {
        assert_ok(way == 0 ? lm_world_load_state(world, state, used) : lm_world_load(world, snapshot, size));
        lm_collider_def def;
        assert_ok(lm_collider_get_def(world, id, &def));
        assert_true(def.mesh.deforms && memcmp(def.mesh.vertices, next, sizeof next) != 0);
        steps(world, 1);
        assert_ok(lm_collider_get_def(world, id, &def));
        assert_memory_equal(def.mesh.vertices, next, sizeof next);
        play(world, id, 61, 120);
        assert_true(lm_world_hash(world) == hash);
    }
    free(snapshot);
    free(state);
    lm_world_destroy(world);
    uint64_t plain = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (uint32_t workers = 1; workers <= 3 && lm_isa_supported((lm_isa)isa); workers += 2) {
            world = busy_world((lm_isa)isa, workers, &id);
            play(world, id, 0, 90);
            plain = plain ? plain : lm_world_hash(world);
            assert_true(lm_world_hash(world) == plain);
            lm_world_destroy(world);
        }
}

static void what_comes_near_wakes(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    lm_collider_id id = make_sheet(world);
    lm_body_id body = make_box(world, 0.42);
    lm_body_info info;
    steps(world, 400);
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(info.asleep);
    lm_vec3 to[VERTICES];
    place(ref_v(0, 0, 0), 0.0, 0.0, 0.0, to);
    assert_ok(lm_collider_move_vertices(world, id, to, VERTICES)); /* to where they are: it sleeps on */
    steps(world, 1);
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(info.asleep);
    place(ref_v(0, 0.3, 0), 0.0, 0.0, 0.0, to);
    double y = info.centre.y;
    assert_ok(lm_collider_move_vertices(world, id, to, VERTICES));
    steps(world, 1);
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(!info.asleep && info.centre.y > y + 0.1);
    steps(world, 600);
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(info.asleep);
    place(ref_v(0, -0.5, 0), 0.0, 0.0, 0.0, to); /* away, at once: it falls */
    assert_ok(lm_collider_set_vertices(world, id, to, VERTICES));
    steps(world, 20);
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(!info.asleep && info.velocity.y < -0.5);
    lm_world_destroy(world);
}

/* Faces that lose their area and get it back, all of the sheet folded through itself: finite, and nothing breaks. */
static void meshes_may_collapse(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_id id = make_sheet(world);
    lm_body_id body = make_box(world, 0.42);
    lm_vec3 to[VERTICES];
    for (int frame = 0; frame < 120; frame++) {
        double share = cos(frame * 0.1);
        for (uint32_t n = 0; n < VERTICES; n++) {
            to[n] = flat[n];
            to[n].x *= (float)(frame % 40 < 20 ? share : 1.0);
            to[n].z *= frame % 40 == 10 ? 0.0f : 1.0f;
        }
        if (frame % 40 == 12) memset(to, 0, sizeof to); /* a single point */
        assert_ok(frame % 7 ? lm_collider_move_vertices(world, id, to, VERTICES)
                            : lm_collider_set_vertices(world, id, to, VERTICES));
        steps(world, 1);
        lm_dvec3 centre = body_centre(world, body);
        assert_true(isfinite(centre.x) && isfinite(centre.y) && isfinite(centre.z));
    }
    lm_ray_hit hit;
    lm_body_destroy(world, body);
    assert_ok(lm_collider_set_vertices(world, id, flat, VERTICES));
    assert_true(
        lm_world_cast_ray(world, &(lm_ray){{0.3, 5.0, 0.3}, {0.0f, -1.0f, 0.0f}, 10.0f, UINT32_MAX, UINT32_MAX}, &hit));
    assert_near(hit.distance, 5.0, 1e-5);
    lm_world_destroy(world);
}

static void wrong_calls_change_nothing(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_def plane = lm_collider_def_default(), stiff = sheet_def(false);
    lm_collider_id id = make_sheet(world), floor, rigid, none = {0, 0};
    assert_ok(lm_collider_create(world, &plane, &floor));
    assert_ok(lm_collider_create(world, &stiff, &rigid));
    lm_vec3 to[VERTICES];
    memcpy(to, flat, sizeof to);
    typedef lm_result (*call)(lm_world *, lm_collider_id, const lm_vec3 *, uint32_t);
    const call calls[2] = {lm_collider_move_vertices, lm_collider_set_vertices};
    for (int n = 0; n < 2; n++) {
        assert_result(calls[n](world, none, to, VERTICES), LM_ERROR_ID);
        assert_result(calls[n](world, floor, to, VERTICES), LM_ERROR_ARGUMENT);
        assert_result(calls[n](world, rigid, to, VERTICES), LM_ERROR_ARGUMENT);
        assert_result(calls[n](world, id, to, VERTICES - 1), LM_ERROR_ARGUMENT);
        assert_result(calls[n](world, id, NULL, VERTICES), LM_ERROR_ARGUMENT);
        to[5].y = n ? NAN : 2.0f * LM_MAX_COORDINATE;
        assert_result(calls[n](world, id, to, VERTICES), LM_ERROR_ARGUMENT);
        to[5].y = 0.0f;
    }
    steps(world, 1);
    lm_collider_def def;
    assert_ok(lm_collider_get_def(world, id, &def));
    assert_memory_equal(def.mesh.vertices, flat, sizeof flat);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_as_a_mover_does),
        cmocka_unit_test(points_keep_their_side),
        cmocka_unit_test(nothing_gets_through_a_fast_sheet),
        cmocka_unit_test(a_soft_ball_rides_a_wave),
        cmocka_unit_test(a_solid_that_grows_pushes),
        cmocka_unit_test(results_are_the_same_everywhere),
        cmocka_unit_test(what_comes_near_wakes),
        cmocka_unit_test(meshes_may_collapse),
        cmocka_unit_test(wrong_calls_change_nothing),
    };
    return cmocka_run_group_tests_name("deforming", tests, NULL, NULL);
}
