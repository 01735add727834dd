/*
 * Bodies against height maps and meshes: where they come to rest, how they slide and bounce, what moving ones do to them,
 * that nothing passes through, that results do not depend on threads and instruction sets, and that snapshots hold them.
 */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ground of these tests: flat, as a height map, a sheet, or a solid plate ---- */

typedef enum ground { GROUND_HEIGHTS, GROUND_SHEET, GROUND_PLATE, GROUND_COUNT } ground;

enum { SIDE = 17 };

/* `half` metres to each side; the top is at y = 0. Quads of a sheet are cut into many triangles, as a real one is. */
static lm_collider_def ground_def(ground kind, float half)
{
    static float heights[SIDE * SIDE];
    static lm_vec3 vertices[2 * SIDE * SIDE];
    static uint32_t triangles[12 * SIDE * SIDE];
    static const uint32_t sides[2][6] = {{0, 1, 3, 0, 3, 2}, {0, 3, 1, 0, 2, 3}};
    lm_collider_def def = lm_collider_def_default();
    memset(heights, 0, sizeof heights);
    def.shape = kind == GROUND_HEIGHTS ? LM_SHAPE_HEIGHTS : LM_SHAPE_MESH;
    def.heights = (lm_heights){heights, {SIDE, SIDE}, 2.0f * half / (SIDE - 1)};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * SIDE * SIDE; i++)
        vertices[i] = (lm_vec3){half * (2.0f * (float)(i % SIDE) / (SIDE - 1) - 1.0f), i < SIDE * SIDE ? 0.0f : -0.01f,
                                half * (2.0f * (float)(i / SIDE % SIDE) / (SIDE - 1) - 1.0f)};
    for (uint32_t layer = 0; layer < (kind == GROUND_PLATE ? 2u : 1u); layer++)
        for (uint32_t c = 0; c < (SIDE - 1) * (SIDE - 1); c++) {
            uint32_t v = layer * SIDE * SIDE + c / (SIDE - 1) * SIDE + c % (SIDE - 1);
            const uint32_t corner[4] = {v, v + SIDE, v + 1, v + SIDE + 1};
            for (int k = 0; k < 6; k++) triangles[count++] = corner[sides[layer][k]];
        }
    for (uint32_t e = 0; kind == GROUND_PLATE && e < 4 * (SIDE - 1); e++) { /* the rim */
        uint32_t k = e % (SIDE - 1), edge = e / (SIDE - 1), last = SIDE - 1;
        const uint32_t from[4] = {k, last + k * SIDE, last * SIDE + last - k, (last - k) * SIDE};
        const uint32_t to[4] = {k + 1, last + (k + 1) * SIDE, last * SIDE + last - k - 1, (last - k - 1) * SIDE};
        uint32_t a = from[edge], b = to[edge], c = a + SIDE * SIDE, d = b + SIDE * SIDE;
        const uint32_t corner[6] = {a, b, d, a, d, c};
        for (int i = 0; i < 6; i++) triangles[count++] = corner[i];
    }
    def.mesh = (lm_collider_mesh){
        vertices, kind == GROUND_PLATE ? 2 * SIDE * SIDE : SIDE * SIDE, triangles, count / 3, kind == GROUND_PLATE,
        false};
    return def;
}

static void bodies_rest_on_every_ground(void **context)
{
    (void)context;
    for (int kind = 0; kind < GROUND_COUNT; kind++)
        for (int thick = 0; thick < 2; thick++) {
            random_state random = {1};
            sample s = sample_make(SAMPLE_BOX, &random);
            lm_world *world = make_world(-9.81);
            lm_collider_def def = ground_def((ground)kind, 2.0f);
            lm_collider_id collider;
            assert_ok(lm_collider_create(world, &def, &collider));
            s.def.material.damping_ratio = 0.3f;
            s.def.contact_radius = thick ? 0.05f : 0.0f;
            s.def.pose.position = (lm_dvec3){0.13, 0.4, -0.21};
            lm_body_id body = make_body(world, &s.def);
            steps(world, 600);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_near(info.lower.y, thick ? 0.05 : 0.0, 3e-4);
            assert_at_most(info.max_speed, 0.02);
            lm_stats stats;
            lm_world_get_stats(world, &stats);
            assert_int_equal(stats.contacts, 12);
            lm_world_destroy(world);
            sample_free(&s);
        }
}

/* Coulomb's cone on a slope, and how high a particle bounces: as on a plane. */
static void slopes_and_bounces_are_those_of_planes(void **context)
{
    (void)context;
    for (int kind = 0; kind < GROUND_COUNT; kind++)
        for (int k = 0; k < 4; k++) {
            double mu = 0.4, angle = 0.15 + 0.15 * k;
            lm_world *world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, 4));
            lm_collider_def def = ground_def((ground)kind, 20.0f);
            lm_collider_id collider;
            def.pose.rotation = quaternion(ref_v(0, 0, angle));
            def.friction = (float)mu;
            assert_ok(lm_collider_create(world, &def, &collider));
            lm_material material = lm_material_default();
            material.friction = (float)mu;
            lm_body_id body =
                make_particle(world, ref_v(0.1, 0.1 * tan(angle) + 1e-3, 0.2), ref_v(0, 0, 0), &material, 0.0);
            steps(world, 60);
            ref_vec x, v;
            read_particle(world, body, &x, &v);
            double expected = fmax(0.0, 9.81 * (sin(angle) - mu * cos(angle)));
            assert_near(ref_length(v), expected, 0.03 * expected + 0.07);
            lm_world_destroy(world);

            world = make_world(-9.81);
            assert_ok(lm_world_set_substeps(world, 16));
            double bounce = 0.25 * (k + 1), top = 0.0;
            def = ground_def((ground)kind, 2.0f);
            def.restitution = (float)bounce;
            assert_ok(lm_collider_create(world, &def, &collider));
            body = make_particle(world, ref_v(0.3, 1.0, 0.4), ref_v(0, 0, 0), NULL, 0.0);
            bool risen = false;
            for (int frame = 0; frame < 60; frame++) {
                steps(world, 1);
                read_particle(world, body, &x, &v);
                risen = risen || v.y > 0.0;
                if (risen) top = fmax(top, x.y);
            }
            assert_near(top, bounce * bounce, 0.04);
            lm_world_destroy(world);
        }
}

/* A closed room of thin walls; particles of up to 100 m/s in it never get out, whatever the walls are. */
static void nothing_gets_out_of_a_room(void **context)
{
    (void)context;
    enum { COUNT = 60 };
    random_state random = {5};
    for (int solid = 0; solid < 2; solid++) {
        lm_world *world = make_world(-9.81);
        for (int wall = 0; wall < 6; wall++) {
            lm_collider_def def = ground_def(solid ? GROUND_PLATE : GROUND_SHEET, 1.2f);
            lm_collider_id collider;
            double quarter = 1.5707963267948966;
            const ref_vec turns[6] = {ref_v(0, 0, 0),       ref_v(0, 0, 2 * quarter), ref_v(0, 0, -quarter),
                                      ref_v(0, 0, quarter), ref_v(quarter, 0, 0),     ref_v(-quarter, 0, 0)};
            const lm_dvec3 places[6] = {{0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 1}};
            def.pose = (lm_pose){places[wall], quaternion(turns[wall])};
            def.restitution = 0.9f;
            def.friction = 0.0f;
            assert_ok(lm_collider_create(world, &def, &collider));
        }
        lm_body_id bodies[COUNT];
        for (int k = 0; k < COUNT; k++) {
            ref_vec x = random_in_cube(&random, 0.8), v = random_in_cube(&random, 57.0);
            bodies[k] = make_particle(world, x, v, NULL, 0.0);
        }
        for (int frame = 0; frame < 200; frame++) {
            steps(world, 1);
            for (int k = 0; k < COUNT; k++) {
                ref_vec x, v;
                read_particle(world, bodies[k], &x, &v);
                assert_at_most(fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))), 1.001);
            }
        }
        lm_world_destroy(world);
    }
}

/* Soft bodies thrown at a thin wall stay in front of it. */
static void thrown_bodies_stay_in_front_of_walls(void **context)
{
    (void)context;
    random_state random = {6};
    for (int trial = 0; trial < 40; trial++) {
        sample s = sample_make((sample_kind)(trial % SAMPLE_KIND_COUNT), &random);
        lm_world *world = make_world(0.0);
        lm_collider_def def = ground_def(trial % 2 ? GROUND_PLATE : GROUND_SHEET, 20.0f);
        lm_collider_id collider;
        assert_ok(lm_collider_create(world, &def, &collider));
        s.def.pose.position = (lm_dvec3){0.1, 2.0 + s.size, 0.2};
        s.def.velocity = to_float(random_in_box(&random, ref_v(-20, -100, 0), ref_v(20, -5, 0)));
        s.def.spin = to_float(random_in_cube(&random, 10.0));
        lm_body_id body = make_body(world, &s.def);
        for (int frame = 0; frame < 120; frame++) {
            steps(world, 1);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_true(info.lower.y > -0.01); /* the end of a substep */
        }
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* A paddle that turns and a lift that rises carry what is on them. */
static void moving_solids_push(void **context)
{
    (void)context;
    for (int kind = 0; kind < GROUND_COUNT; kind++) {
        lm_world *world = make_world(-9.81);
        lm_mover_def mover_def = lm_mover_def_default();
        lm_mover_id mover;
        mover_def.velocity = (lm_vec3){0.5f, 1.0f, 0.0f};
        assert_ok(lm_mover_create(world, &mover_def, &mover));
        lm_collider_def def = ground_def((ground)kind, 2.0f);
        lm_collider_id collider;
        def.mover = mover;
        def.friction = 2.0f;
        assert_ok(lm_collider_create(world, &def, &collider));
        lm_material material = lm_material_default();
        material.friction = 2.0f;
        lm_body_id body = make_particle(world, ref_v(0.1, 0.01, 0.1), ref_v(0, 0, 0), &material, 0.0);
        steps(world, 120);
        ref_vec x, v;
        read_particle(world, body, &x, &v);
        assert_near(x.y, 2.0, 0.01);
        assert_near(v.y, 1.0, 0.01);
        assert_near(v.x, 0.5, 0.01);

        /* Turned about X at a fast rate it must not sweep past what lies on it. */
        lm_world_destroy(world);
        world = make_world(0.0);
        mover_def = lm_mover_def_default();
        mover_def.spin = (lm_vec3){3.0f, 0.0f, 0.0f}; /* z above goes down, z below comes up */
        assert_ok(lm_mover_create(world, &mover_def, &mover));
        def.mover = mover;
        assert_ok(lm_collider_create(world, &def, &collider));
        body = make_particle(world, ref_v(0.1, 0.02, -1.0), ref_v(0, 0, 0), &material, 0.0);
        steps(world, 10);
        lm_pose pose;
        assert_ok(lm_collider_get_pose(world, collider, &pose));
        read_particle(world, body, &x, &v);
        assert_true(x.y > 0.2);
        double angle = 3.0 * 10 * FRAME; /* the normal is (0, cos, sin) */
        assert_true(x.y * cos(angle) + x.z * sin(angle) > -1e-3);
        lm_world_destroy(world);
    }
}

/* ---- the same everywhere ---- */

static uint64_t run_busy(lm_isa isa, uint32_t workers, void **bytes, size_t *size)
{
    random_state random = {7};
    lm_world *world = make_world_with(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(world, 2));
    for (int kind = 0; kind < GROUND_COUNT; kind++) {
        lm_collider_def def = ground_def((ground)kind, 3.0f);
        lm_collider_id collider;
        def.pose.position = (lm_dvec3){0.0, -0.3 * kind, 0.0};
        def.pose.rotation = quaternion(ref_v(0.2, 0.3 * kind, 0.1));
        assert_ok(lm_collider_create(world, &def, &collider));
    }
    for (int k = 0; k < SAMPLE_KIND_COUNT; k++) {
        sample s = sample_make((sample_kind)k, &random);
        s.def.pose.position = to_dvec3(ref_add(random_in_cube(&random, 1.5), ref_v(0, 2, 0)));
        s.def.contact_radius = k % 2 ? 0.02f : 0.0f;
        make_body(world, &s.def);
        sample_free(&s);
    }
    steps(world, 60);
    if (bytes) {
        *size = lm_world_save_size(world);
        *bytes = malloc(*size);
        assert_ok(lm_world_save(world, *bytes, *size));
    }
    steps(world, 30);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void results_are_the_same_everywhere(void **context)
{
    (void)context;
    uint64_t hash = run_busy(LM_ISA_SCALAR, 1, NULL, NULL);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (uint32_t workers = 1; workers <= 3; workers += 2)
            if (lm_isa_supported((lm_isa)isa)) assert_true(run_busy((lm_isa)isa, workers, NULL, NULL) == hash);
}

static void snapshots_hold_solids(void **context)
{
    (void)context;
    void *bytes;
    size_t size;
    uint64_t hash = run_busy(LM_ISA_BEST, 1, &bytes, &size);
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_load(world, bytes, size));
    assert_int_equal(lm_world_save_size(world), size);
    steps(world, 30);
    assert_true(lm_world_hash(world) == hash);
    lm_world_destroy(world);
    free(bytes);
}

/* ---- memory ---- */

typedef struct budget {
    uint64_t left;
    size_t live;
    uint64_t requests;
} budget;

static void *budget_allocate(size_t size, size_t alignment, void *user)
{
    budget *b = user;
    b->requests++;
    if (b->left == 0) return NULL;
    b->left--;
    b->live += size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void budget_release(void *memory, size_t size, void *user)
{
    budget *b = user;
    b->live -= size;
    free(memory);
}

static void failed_allocations_lose_nothing(void **context)
{
    (void)context;
    budget b = {.left = UINT64_MAX};
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){budget_allocate, budget_release, &b};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    lm_collider_id collider;
    size_t size = 0;
    for (int kind = 0; kind < GROUND_COUNT; kind++) {
        lm_collider_def def = ground_def((ground)kind, 1.0f);
        for (uint64_t allowed = 0;; allowed++) {
            b.left = allowed;
            lm_result result = lm_collider_create(world, &def, &collider);
            if (result == LM_OK) break;
            assert_int_equal(result, LM_ERROR_MEMORY);
            assert_int_equal(collider.slot, 0);
        }
        b.left = UINT64_MAX;
    }
    size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    for (uint64_t allowed = 0;; allowed++) {
        size_t before = b.live;
        b.left = allowed;
        lm_result result = lm_world_load(world, bytes, size);
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_int_equal(b.live, before);
    }
    b.left = UINT64_MAX;
    make_particle(world, ref_v(0, 1, 0), ref_v(0, 0, 0), NULL, 0.0);
    steps(world, 2);
    uint64_t requests = b.requests;
    steps(world, 60);
    assert_int_equal(b.requests, requests); /* a step takes none */
    lm_world_destroy(world);
    assert_int_equal(b.live, 0);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_rest_on_every_ground), cmocka_unit_test(slopes_and_bounces_are_those_of_planes),
        cmocka_unit_test(nothing_gets_out_of_a_room),  cmocka_unit_test(thrown_bodies_stay_in_front_of_walls),
        cmocka_unit_test(moving_solids_push),          cmocka_unit_test(results_are_the_same_everywhere),
        cmocka_unit_test(snapshots_hold_solids),       cmocka_unit_test(failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests_name("solids", tests, NULL, NULL);
}
