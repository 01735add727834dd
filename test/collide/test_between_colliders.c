/*
 * Bodies between several colliders at once: the same bits on every instruction set, whatever the number of workers. Wedges,
 * corners, planes that close, bodies in solid meshes, everything that moves, for every sampling; then random scenes of up to
 * six colliders.
 *
 *     test_between_colliders          some of it, few frames
 *     test_between_colliders 200      all of it and 200 random scenes, 120 frames, every instruction set with 1, 2 and 5 workers
 */
#include "limber/shapes.h"
#include "test/support/things.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 120, MOST_MOVERS = 6 };

static bool is_long;
static uint32_t frames = 18, random_scenes = 6;

/* ---- scenes ---- */

typedef struct scene {
    lm_world *world;
    lm_mover_id movers[MOST_MOVERS];
    lm_vec3 velocity[MOST_MOVERS], spin[MOST_MOVERS];
    uint32_t mover_count;
} scene;

/* A cube of two metres, closed and facing outward; its upper face alone as a sheet. */
static lm_collider_mesh cube_mesh(bool solid)
{
    static const lm_vec3 corners[8] = {{-1, -1, -1}, {1, -1, -1}, {1, -1, 1}, {-1, -1, 1},
                                       {-1, 1, -1},  {1, 1, -1},  {1, 1, 1},  {-1, 1, 1}};
    static const uint32_t faces[36] = {4, 7, 6, 4, 6, 5, 0, 1, 2, 0, 2, 3, 0, 4, 5, 0, 5, 1,
                                       1, 5, 6, 1, 6, 2, 2, 6, 7, 2, 7, 3, 3, 7, 4, 3, 4, 0};
    return (lm_collider_mesh){corners, 8, faces, solid ? 12 : 2, solid, false};
}

static lm_collider_def shape_def_of(lm_shape shape, bool solid)
{
    static float heights[81];
    lm_collider_def def = lm_collider_def_default();
    for (int n = 0; n < 81; n++) heights[n] = 0.05f * (float)((n * 7 + n / 9 * 5) % 8) - 0.2f;
    def.shape = shape;
    def.half_extents = (lm_vec3){1.5f, 0.4f, 1.5f};
    def.radius = 0.4f;
    def.half_length = 0.8f;
    def.heights = (lm_heights){heights, {9, 9}, 0.4f};
    def.mesh = cube_mesh(solid);
    return def;
}

/* A collider that stands still or, with a speed, rides on a mover. */
static void add_collider(scene *s, lm_shape shape, bool solid, lm_dvec3 at, ref_vec turn, lm_vec3 velocity,
                         lm_vec3 spin)
{
    lm_collider_def def = shape_def_of(shape, solid);
    lm_collider_id collider;
    bool moves = velocity.x != 0.0f || velocity.y != 0.0f || velocity.z != 0.0f || spin.y != 0.0f;
    def.pose.rotation = quaternion(turn);
    if (moves) {
        lm_mover_def mover = lm_mover_def_default();
        mover.pose.position = at;
        mover.velocity = velocity;
        mover.spin = spin;
        assert_true(s->mover_count < MOST_MOVERS);
        s->velocity[s->mover_count] = velocity;
        s->spin[s->mover_count] = spin;
        assert_ok(lm_mover_create(s->world, &mover, &def.mover));
        s->movers[s->mover_count++] = def.mover;
    } else {
        def.pose.position = at;
    }
    assert_ok(lm_collider_create(s->world, &def, &collider));
}

static void add_still(scene *s, lm_shape shape, lm_dvec3 at, ref_vec turn)
{
    add_collider(s, shape, false, at, turn, (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0});
}

typedef enum arrangement {
    WEDGE,      /* two planes, and a third that presses down */
    CORNER,     /* three planes, and a fourth that comes along */
    CLOSING,    /* two planes that close to 2 cm */
    PAD,        /* a pad of 1 x 0.1 x 1 m between them */
    IN_SOLID,   /* a solid mesh that a body starts in */
    ON_MESH,    /* a sheet below, a plane above that comes down */
    BOXES,      /* two boxes that close over a floor */
    CAPSULES,   /* two capsules that turn and press on it */
    HEIGHTS,    /* a height map, a plane above that comes down */
    TWO_SOLIDS, /* a height map, a solid mesh and a sheet that come down */
    ARRANGEMENTS
} arrangement;

static const char *const arrangement_names[ARRANGEMENTS] = {
    "wedge", "corner", "closing planes", "pad", "in solid", "on mesh", "boxes", "capsules", "heights", "two solids"};

static void add_colliders(scene *s, arrangement how)
{
    const ref_vec straight = ref_v(0, 0, 0), over = ref_v(3.14159265358979, 0, 0);
    const lm_vec3 still = {0, 0, 0}, turning = {0.0f, 0.7f, 0.0f};
    double seconds = frames / 120.0; /* half of all frames */
    float down = (float)(-1.03 / seconds), together = (float)(0.6 / seconds);
    switch (how) {
    case WEDGE:
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, -0.2, 0}, ref_v(0, 0, 0.9));
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, -0.2, 0}, ref_v(0, 0, -0.8));
        add_collider(s, LM_SHAPE_PLANE, false, (lm_dvec3){0, 1.35, 0}, over, (lm_vec3){0, down, 0}, still);
        break;
    case CORNER:
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0, 0}, straight);
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){-0.6, 0, 0}, ref_v(0, 0, -1.4));
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0, -0.6}, ref_v(1.5, 0, 0));
        add_collider(s, LM_SHAPE_PLANE, false, (lm_dvec3){0.9, 1, 0.9}, ref_v(0, 0, 2.3),
                     (lm_vec3){0.5f * down, 0.4f * down, 0}, still);
        break;
    case CLOSING:
    case PAD:
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0, 0}, straight);
        add_collider(s, LM_SHAPE_PLANE, false, (lm_dvec3){0, how == PAD ? 0.14 : 1.05, 0}, over,
                     (lm_vec3){0, (float)((how == PAD ? -0.12 : -1.03) / seconds), 0}, still);
        break;
    case IN_SOLID:
        add_collider(s, LM_SHAPE_MESH, true, (lm_dvec3){0.3, 0.1, 0.2}, ref_v(0.2, 0.3, 0.1), still, still);
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0, 0}, straight);
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0.9, 0}, over);
        break;
    case ON_MESH:
        add_collider(s, LM_SHAPE_PLANE, false, (lm_dvec3){0, 1.05, 0}, over, (lm_vec3){0, down, 0}, still);
        add_still(s, LM_SHAPE_MESH, (lm_dvec3){0, -1, 0}, straight);
        break;
    case BOXES:
        add_still(s, LM_SHAPE_PLANE, (lm_dvec3){0, 0, 0}, straight);
        add_collider(s, LM_SHAPE_BOX, false, (lm_dvec3){-1.1, 0.5, 0}, ref_v(0, 0, 1.5), (lm_vec3){together, 0, 0},
                     still);
        add_collider(s, LM_SHAPE_BOX, false, (lm_dvec3){1.1, 0.5, 0}, ref_v(0, 0, 1.6), (lm_vec3){-together, 0, 0},
                     still);
        break;
    case CAPSULES:
        add_still(s, LM_SHAPE_BOX, (lm_dvec3){0, -0.4, 0}, straight);
        add_collider(s, LM_SHAPE_CAPSULE, false, (lm_dvec3){-0.3, 1.45, 0}, ref_v(1.5, 0, 0), (lm_vec3){0, down, 0},
                     turning);
        add_collider(s, LM_SHAPE_CAPSULE, false, (lm_dvec3){0.35, 1.45, 0.1}, ref_v(1.5, 0, 0.2), (lm_vec3){0, down, 0},
                     turning);
        add_still(s, LM_SHAPE_SPHERE, (lm_dvec3){0.5, 0.2, 0.5}, straight);
        break;
    case HEIGHTS:
        add_still(s, LM_SHAPE_HEIGHTS, (lm_dvec3){0, 0, 0}, straight);
        add_collider(s, LM_SHAPE_PLANE, false, (lm_dvec3){0, 1.15, 0}, over, (lm_vec3){0.5f, down, 0}, still);
        break;
    default:
        add_still(s, LM_SHAPE_HEIGHTS, (lm_dvec3){0, 0, 0}, straight);
        add_collider(s, LM_SHAPE_MESH, true, (lm_dvec3){0.9, 1.7, 0}, ref_v(0.3, 0.2, 0.4), (lm_vec3){0, down, 0},
                     turning);
        add_collider(s, LM_SHAPE_MESH, false, (lm_dvec3){-0.8, 0.1, 0}, ref_v(0.1, 0, 0.2),
                     (lm_vec3){0, 0.4f * down, 0}, still);
        break;
    }
}

static scene make_arrangement(arrangement how, sampling kind, lm_isa isa, uint32_t workers)
{
    scene s = {.world = make_world_with(-9.81, isa, workers)};
    assert_ok(lm_world_set_substeps(s.world, 1 + (uint32_t)kind % 2));
    add_colliders(&s, how);
    thing_def def = thing_default(kind);
    def.shape = how == PAD || ((int)how + (int)kind) % 2 ? "box" : "sphere";
    def.size = how == PAD ? (lm_vec3){1.0f, 0.1f, 1.0f} : (lm_vec3){1, 1, 1};
    def.material = (int)how % 3 == 2 ? stiff_material(0.5, 0.2) : soft_material(0.5, 0.2);
    def.pose.position = (lm_dvec3){0.0, how == PAD ? 0.07 : 0.52, 0.0};
    def.pose.rotation = quaternion(ref_v(0, 0.3, 0));
    thing_make(s.world, &def);
    return s;
}

/* A soft pad with more points on its surface than contacts are solved together, flattened by a plane. */
static scene make_fine_pad(lm_isa isa, uint32_t workers)
{
    scene s = {.world = make_world_with(-9.81, isa, workers)};
    add_colliders(&s, PAD);
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    how.name = "box";
    how.size = (lm_vec3){1.0f, 0.1f, 1.0f};
    how.detail = 6;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_body_def def = lm_body_def_default();
    def.lattice.vertices = mesh.vertices;
    def.lattice.vertex_count = mesh.vertex_count;
    def.lattice.triangles = mesh.triangles;
    def.lattice.triangle_count = mesh.triangle_count;
    def.lattice.spacing = 0.05f;
    def.lattice.width = 2;
    def.material = soft_material(0.5, 0.0);
    def.material.hertz = 2.0f;
    def.pose.position.y = 0.06;
    make_body(s.world, &def);
    lm_shape_mesh_free(&mesh);
    return s;
}

/* Scenes beside the arrangements. */
enum { RANDOM = ARRANGEMENTS, FINE_PAD };

static lm_vec3 lmi_random_vector(random_state *random, double half) { return to_float(random_in_cube(random, half)); }

static scene make_random(uint64_t seed, lm_isa isa, uint32_t workers)
{
    random_state random = {seed * 7919 + 1};
    scene s = {.world = make_world_with(-9.81, isa, workers)};
    uint32_t colliders = 1 + random_below(&random, 6), bodies = 1 + random_below(&random, 3);
    bool meet = random_below(&random, 2);
    assert_ok(lm_world_set_substeps(s.world, 1 + random_below(&random, 3)));
    for (uint32_t n = 0; n < colliders; n++) {
        lm_shape shape = n == 0 ? LM_SHAPE_PLANE : (lm_shape)random_below(&random, LM_SHAPE_COUNT);
        bool solid = random_below(&random, 2), moves = random_below(&random, 2);
        ref_vec at = random_in_box(&random, ref_v(-0.8, -0.4, -0.8), ref_v(0.8, 0.9, 0.8));
        ref_vec turn = random_in_cube(&random, n == 0 ? 0.3 : 1.5);
        lm_vec3 velocity = lmi_random_vector(&random, 2.0), spin = lmi_random_vector(&random, 2.0);
        if (!moves) velocity = spin = (lm_vec3){0, 0, 0};
        add_collider(&s, shape, solid, to_dvec3(at), turn, velocity, spin);
    }
    for (uint32_t n = 0; n < bodies; n++) {
        thing_def def = thing_default((sampling)random_below(&random, SAMPLINGS));
        def.shape = random_below(&random, 2) ? "box" : "sphere";
        def.size = to_float(random_in_box(&random, ref_v(0.3, 0.3, 0.3), ref_v(1.2, 1.2, 1.2)));
        def.pose.position = to_dvec3(random_in_box(&random, ref_v(-0.6, 0.0, -0.6), ref_v(0.6, 1.2, 0.6)));
        def.pose.rotation = quaternion(random_in_cube(&random, 2.0));
        def.velocity = lmi_random_vector(&random, 5.0);
        double friction = random_range(&random, 0.0, 1.0), bounce = random_range(&random, 0.0, 0.8);
        def.material = random_below(&random, 3) ? soft_material(friction, bounce) : stiff_material(friction, bounce);
        def.mask = meet;
        thing_make(s.world, &def);
    }
    return s;
}

/* ---- comparing ---- */

/* Movers go on for half of the frames, stand still, and go back in the last quarter. */
static void record(scene *s, uint64_t hashes[MOST_FRAMES], uint32_t *contacts)
{
    const lm_vec3 still = {0, 0, 0};
    *contacts = 0;
    for (uint32_t frame = 0; frame < frames; frame++) {
        for (uint32_t n = 0; n < s->mover_count; n++) {
            lm_vec3 u = s->velocity[n], w = s->spin[n], back = {-u.x, -u.y, -u.z};
            bool stops = frame == frames / 2, returns = frame == frames * 3 / 4;
            if (stops || returns) {
                assert_ok(lm_mover_set_velocity(s->world, s->movers[n], stops ? still : back, stops ? still : w));
            }
        }
        lm_stats stats;
        assert_ok(lm_world_step(s->world, FRAME));
        lm_world_get_stats(s->world, &stats);
        hashes[frame] = lm_world_hash(s->world);
        *contacts = stats.contacts > *contacts ? stats.contacts : *contacts;
    }
    lm_totals totals;
    lm_world_get_totals(s->world, &totals);
    assert_true(totals.finite);
    lm_world_destroy(s->world);
}

static scene make_scene(int how, sampling kind, uint64_t seed, lm_isa isa, uint32_t workers)
{
    return how < ARRANGEMENTS ? make_arrangement((arrangement)how, kind, isa, workers)
           : how == FINE_PAD  ? make_fine_pad(isa, workers)
                              : make_random(seed, isa, workers);
}

/* How many instruction sets and counts of workers give something else than scalar code on one worker does. */
static uint32_t differences(int how, sampling kind, uint64_t seed, uint32_t *contacts)
{
    static const uint32_t workers[3] = {1, 2, 5};
    uint64_t expected[MOST_FRAMES], hashes[MOST_FRAMES];
    uint32_t differ = 0, ignored;
    scene first = make_scene(how, kind, seed, LM_ISA_SCALAR, 1);
    record(&first, expected, contacts);
    for (int n = 0; n < 3 * LM_ISA_COUNT; n++) {
        lm_isa isa = (lm_isa)(n / 3);
        if (isa == LM_ISA_BEST || !lm_isa_supported(isa) || n == 3 * LM_ISA_SCALAR) continue;
        if (!is_long && (uint32_t)n % 3 != ((uint32_t)isa + kind) % 3) continue; /* one count of workers each */
        if (!is_long && isa == LM_ISA_SCALAR) continue;
        scene other = make_scene(how, kind, seed, isa, workers[n % 3]);
        record(&other, hashes, &ignored);
        uint32_t frame = 0;
        while (frame < frames && hashes[frame] == expected[frame]) frame++;
        if (frame == frames) continue;
        print_error("%s, %s, seed %u: %s with %u workers differs from frame %u on\n",
                    how < ARRANGEMENTS ? arrangement_names[how]
                    : how == FINE_PAD  ? "fine pad"
                                       : "random",
                    how < ARRANGEMENTS ? sampling_names[kind] : "any", (unsigned)seed, lm_isa_name(isa), workers[n % 3],
                    frame);
        differ++;
    }
    return differ;
}

static void arrangements_are_the_same_everywhere(void **context)
{
    (void)context;
    uint32_t differ = 0;
    for (int how = 0; how < ARRANGEMENTS; how++)
        for (int kind = is_long ? 0 : how % 2; kind < SAMPLINGS; kind += is_long ? 1 : 2) {
            uint32_t contacts;
            differ += differences(how, (sampling)kind, 0, &contacts);
            assert_true(contacts > 0);
        }
    assert_int_equal(differ, 0);
}

static void more_contacts_than_are_solved_together(void **context)
{
    (void)context;
    uint32_t contacts;
    assert_int_equal(differences(FINE_PAD, LATTICE, 0, &contacts), 0);
    assert_true(contacts > 0);
}

static void random_scenes_are_the_same_everywhere(void **context)
{
    (void)context;
    uint32_t differ = 0, touching = 0;
    for (uint32_t seed = 0; seed < random_scenes; seed++) {
        uint32_t contacts;
        differ += differences(RANDOM, CLUSTERS, seed, &contacts);
        touching += contacts > 0;
    }
    assert_int_equal(differ, 0);
    assert_true(touching * 10 >= random_scenes * 9); /* nearly all of them are about something */
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        is_long = true;
        random_scenes = (uint32_t)strtoul(argv[1], NULL, 10);
        frames = MOST_FRAMES;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrangements_are_the_same_everywhere),
        cmocka_unit_test(more_contacts_than_are_solved_together),
        cmocka_unit_test(random_scenes_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
