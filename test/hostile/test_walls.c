/*
 * Walls that nothing passes: bodies of every sampling that reach meshes and height maps as fast as a world allows, bodies that
 * fly about in a room, and thin sheets that sweep through bodies at rest.
 *
 *     test_walls           some trials of each
 *     test_walls 1200      that many trials of each
 *     test_walls 100 99    trial 99 alone
 */
#include "test/support/things.h"

#include <stdio.h>
#include <stdlib.h>

static int trials = 36, first_trial;

/* ---- walls ---- */

typedef enum wall_kind { SHEET, PLATE, MAP, WALLS } wall_kind;

static const char *const wall_names[WALLS] = {"sheet", "plate", "height map"};

/* A wall that faces along its Y axis, `half` metres to each side. */
static lm_collider_def wall_def(wall_kind kind, float half)
{
    static lm_vec3 corners[8];
    static float heights[9];
    static const uint32_t faces[36] = {4, 7, 6, 4, 6, 5, 0, 1, 2, 0, 2, 3, 0, 4, 5, 0, 5, 1,
                                       1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 4, 3, 4, 0};
    for (int n = 0; n < 8; n++)
        corners[n] =
            (lm_vec3){n % 4 == 1 || n % 4 == 2 ? half : -half, n < 4 ? -0.02f : 0.0f, n % 4 >= 2 ? half : -half};
    lm_collider_def def = lm_collider_def_default();
    def.shape = kind == MAP ? LM_SHAPE_HEIGHTS : LM_SHAPE_MESH;
    def.heights = (lm_heights){heights, {3, 3}, half};
    def.mesh = (lm_collider_mesh){corners, 8, faces, kind == PLATE ? 12 : 2, kind == PLATE, false};
    return def;
}

/* ---- measuring ---- */

/* Where a wall is, and how it lies. */
typedef struct frame {
    lm_dvec3 at;
    ref_mat axes;
} frame;

static frame frame_of(const lm_world *world, lm_collider_id collider)
{
    lm_pose pose;
    assert_ok(lm_collider_get_pose(world, collider, &pose));
    lm_quat q = pose.rotation;
    return (frame){pose.position, ref_rotation_of_quaternion((double)q.x, (double)q.y, (double)q.z, (double)q.w)};
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* How far a body's centre is in front of a wall. */
static double front(const lm_world *world, lm_body_id body, const frame *wall)
{
    lm_dvec3 c = info_of(world, body).centre;
    return ref_dot(ref_v(c.x - wall->at.x, c.y - wall->at.y, c.z - wall->at.z), ref_column(wall->axes, 1));
}

/* The share of what touches that is more than `depth` behind a wall. */
static double share_behind(const lm_world *world, lm_body_id body, const frame *wall, double depth)
{
    uint32_t count = info_of(world, body).contact_points, behind = 0;
    lm_vec3 *points = malloc(count * sizeof *points);
    assert_ok(lm_body_get_contact_points(world, body, wall->at, points));
    for (uint32_t n = 0; n < count; n++) behind += ref_dot(to_double(points[n]), ref_column(wall->axes, 1)) < -depth;
    free(points);
    return (double)behind / count;
}

/* About the distance between particles of a thing of one metre. */
static const double spacings[SAMPLINGS] = {0.17, 0.17, 0.3, 0.15, 0.23, 0.2};

static thing_def random_thing(random_state *random, int trial, double bounce)
{
    thing_def def = thing_default((sampling)(trial % SAMPLINGS));
    def.shape = random_below(random, 2) ? "sphere" : "box";
    def.material = random_below(random, 2) ? stiff_material(0.5, bounce) : soft_material(0.5, bounce);
    def.mask = random_below(random, 2);
    def.pose.rotation = quaternion(random_in_cube(random, 1.0));
    return def;
}

static double random_power(random_state *random, double low, double high)
{
    return exp(random_range(random, log(low), log(high)));
}

/* ---- bodies that come fast ---- */

/* Small walls lie across the way; along large ones they also slide. */
static void fast_bodies_stay_in_front(void **context)
{
    (void)context;
    random_state random = {21};
    int failed = 0;
    for (int trial = 0; trial < trials; trial++) {
        wall_kind kind = (wall_kind)(trial / SAMPLINGS % WALLS);
        bool small = random_below(&random, 2);
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, trial / 2 % 2 ? 4 : 1));
        lm_collider_def collider_def = wall_def(kind, small ? 20.0f : 1e6f);
        lm_collider_id collider;
        collider_def.pose.position = to_dvec3(random_in_cube(&random, 1e4));
        collider_def.pose.rotation = quaternion(random_in_cube(&random, 2.0));
        assert_ok(lm_collider_create(world, &collider_def, &collider));
        frame wall = frame_of(world, collider);
        thing_def def = random_thing(&random, trial, random_below(&random, 2) ? 0.3 : 0.0);
        double way = random_power(&random, 1.0, 1000.0), speed = random_power(&random, 1e3, 1e6);
        double aside = small ? 0.0 : 0.4 * speed;
        ref_vec velocity = random_in_box(&random, ref_v(-aside, -speed, -aside), ref_v(aside, -speed, aside));
        ref_vec at = ref_mat_vec(wall.axes, ref_v(0, 1.0 + way, 0));
        def.velocity = to_float(ref_scale(0.9, ref_mat_vec(wall.axes, velocity)));
        def.spin = to_float(random_in_cube(&random, random_below(&random, 2) ? 100.0 : 0.0));
        def.pose.position = (lm_dvec3){wall.at.x + at.x, wall.at.y + at.y, wall.at.z + at.z};
        if (trial < first_trial) {
            lm_world_destroy(world);
            continue;
        }
        lm_body_id body = thing_make(world, &def);
        for (int n = 0; n < 60; n++) assert_ok(lm_world_step(world, FRAME));
        double before = front(world, body, &wall), behind = share_behind(world, body, &wall, spacings[def.kind]);
        if (!(before > 0.0) || behind > 0.0) {
            print_error("trial %d: %s %s at %.3g m/s, %s %s from %.3g m: centre %.3g m, %.0f %% behind\n", trial,
                        sampling_names[def.kind], def.shape, speed, small ? "small" : "large", wall_names[kind], way,
                        before, 100.0 * behind);
            failed++;
        }
        lm_world_destroy(world);
    }
    assert_int_equal(failed, 0);
}

/* ---- bodies in a room ---- */

/* Six walls that bounce. */
static void nothing_leaves_a_room(void **context)
{
    (void)context;
    random_state random = {23};
    int failed = 0;
    for (int trial = 0; trial < trials; trial++) {
        lm_collider_def def = wall_def(trial / SAMPLINGS % 2 ? PLATE : SHEET, 3.0f);
        def.restitution = (float)random_range(&random, 0.0, 1.0);
        thing_def thing = random_thing(&random, trial, 0.5);
        double speed = random_power(&random, 1e2, 1e6);
        thing.velocity = to_float(random_in_cube(&random, speed));
        if (trial < first_trial) continue;
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_set_substeps(world, trial / 2 % 2 ? 4 : 1));
        frame walls[6];
        for (int n = 0; n < 6; n++) {
            static const ref_vec turns[6] = {{0, 0, 0},           {3.141592654, 0, 0},
                                             {0, 0, 1.570796327}, {0, 0, -1.570796327},
                                             {1.570796327, 0, 0}, {-1.570796327, 0, 0}};
            lm_collider_id collider;
            def.pose.rotation = quaternion(turns[n]);
            ref_vec normal = ref_column(ref_rotation(turns[n]), 1);
            def.pose.position = to_dvec3(ref_scale(-2.0, normal));
            assert_ok(lm_collider_create(world, &def, &collider));
            walls[n] = frame_of(world, collider);
        }
        lm_body_id body = thing_make(world, &thing);
        for (int n = 0; n < 90; n++) assert_ok(lm_world_step(world, FRAME));
        double behind = 0.0;
        for (int k = 0; k < 6; k++) {
            behind = fmax(behind, share_behind(world, body, &walls[k], spacings[thing.kind]));
            behind = front(world, body, &walls[k]) > 0.0 ? behind : 1.0;
        }
        if (behind > 0.0) {
            print_error("trial %d: %s %s at up to %.3g m/s in a room of %s: %.0f %% out\n", trial,
                        sampling_names[thing.kind], thing.shape, speed, trial / SAMPLINGS % 2 ? "plates" : "sheets",
                        100.0 * behind);
            failed++;
        }
        lm_world_destroy(world);
    }
    assert_int_equal(failed, 0);
}

/* ---- sheets that come ---- */

/* Trials that failed once: the way of a sheet that turns was taken to be straight. */
static bool failed_once(int trial) { return trial == 732 || trial == 961; }

/* Along x, or turning about a far axis, into a body that floats or sleeps on a floor. */
static void sheets_sweep_bodies_along(void **context)
{
    (void)context;
    random_state random = {22};
    int failed = 0;
    for (int trial = 0; trial < (trials > 962 ? trials : 962); trial++) {
        wall_kind kind = (wall_kind)(trial / SAMPLINGS % 2);
        bool rests = random_below(&random, 2), turns = random_below(&random, 3) == 0;
        lm_world *world = make_world(rests ? -9.81 : 0.0);
        assert_ok(lm_world_set_substeps(world, trial / 2 % 2 ? 4 : 1));
        lm_sleep sleep = lm_sleep_default();
        sleep.enabled = true;
        assert_ok(lm_world_set_sleep(world, &sleep));
        lm_collider_def floor = lm_collider_def_default(), def = wall_def(kind, turns || rests ? 40.0f : 1e6f);
        lm_collider_id collider;
        floor.pose.position.y = -0.51;
        if (rests) assert_ok(lm_collider_create(world, &floor, &collider));
        thing_def thing = random_thing(&random, trial, 0.0);
        if (rests) thing.pose.rotation = (lm_quat){0, 0, 0, 1};
        double speed = random_power(&random, 0.3, turns ? 100.0 : 1e6), most = 0.0, behind = 0.0;
        if ((trial >= trials && !failed_once(trial)) || trial < first_trial) {
            lm_world_destroy(world);
            continue;
        }
        lm_body_id body = thing_make(world, &thing);
        for (int n = 0; n < (rests ? 120 : 0); n++) assert_ok(lm_world_step(world, FRAME));
        lm_mover_def mover = lm_mover_def_default();
        mover.pose.position = turns ? (lm_dvec3){-1.0, 0.0, -10.0} : (lm_dvec3){-1.0, 0.0, 0.0};
        mover.velocity.x = turns ? 0.0f : (float)speed;
        mover.spin.y = turns ? (float)(speed / 10.0) : 0.0f;
        def.pose.rotation = quaternion(ref_v(0, 0, -1.5707963267948966)); /* it faces along +x */
        assert_ok(lm_mover_create(world, &mover, &def.mover));
        assert_ok(lm_collider_create(world, &def, &collider));
        int frames = turns ? (int)fmin(60.0 * 10.0 / speed, 240.0) : (int)fmin(60.0 * 8.0 / speed, 240.0) + 30;
        for (int n = 0; n < frames; n++) {
            assert_ok(lm_world_step(world, FRAME));
            frame wall = frame_of(world, collider);
            behind = share_behind(world, body, &wall, spacings[thing.kind]);
            most = behind > most ? behind : most;
        }
        if (behind > 0.0 || most > 0.35) {
            print_error("trial %d: %s %s%s, %s that %s at %.3g m/s: %.0f %% behind at the end, %.0f %% at worst\n",
                        trial, sampling_names[thing.kind], thing.shape, rests ? " at rest" : "", wall_names[kind],
                        turns ? "turns" : "comes", speed, 100.0 * behind, 100.0 * most);
            failed++;
        }
        lm_world_destroy(world);
    }
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) trials = (int)strtol(argv[1], NULL, 10);
    if (argc > 2) first_trial = (int)strtol(argv[2], NULL, 10);
    if (argc > 3) cmocka_set_test_filter(argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_bodies_stay_in_front),
        cmocka_unit_test(nothing_leaves_a_room),
        cmocka_unit_test(sheets_sweep_bodies_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
