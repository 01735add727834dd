/*
 * What programs that deform or draw surfaces themselves rely on: riders and region transforms give the same surface as
 * lm_body_get_skin, shape hashes tell bodies apart, colliders can be listed and read back.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 90 };

/* A skin of random vertices in and around the body. */
static void set_skin(lm_world *world, lm_body_id body, const sample *s, lm_skin_kind kind, random_state *random)
{
    lm_vec3 vertices[VERTICES];
    uint32_t triangles[VERTICES];
    for (uint32_t n = 0; n < VERTICES; n++) {
        vertices[n] = to_float(random_in_cube(random, 0.6 * s->size));
        triangles[n] = n;
    }
    vertices[7] = s->points[0]; /* one on a particle */
    lm_skin_def def = lm_skin_def_default();
    def.kind = kind;
    def.vertices = vertices;
    def.vertex_count = VERTICES;
    def.triangles = triangles;
    def.triangle_count = VERTICES / 3;
    assert_ok(lm_body_set_skin(world, body, &def));
}

static ref_vec carry(const lm_region_transform *t, lm_vec3 rest)
{
    ref_vec d = ref_sub(to_double(rest), to_double(t->centre));
    double f[9] = {d.x, d.y, d.z, d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.y * d.z, d.z * d.x}, out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = 0.0;
        for (int j = 0; j < 3; j++) out[i] += (double)t->linear[3 * i + j] * f[j];
        for (int j = 0; j < 6; j++) out[i] += (double)t->quadratic[6 * i + j] * f[3 + j];
    }
    return ref_add(to_double(t->constant), ref_v(out[0], out[1], out[2]));
}

/* The largest distance of a vertex put together from its riders to where lm_body_get_skin has it. */
static double disagreement(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_dvec3 base = info.centre;
    uint32_t offsets[VERTICES + 1];
    assert_ok(lm_body_get_skin_riders(world, body, offsets, NULL, NULL));
    uint32_t count = offsets[VERTICES];
    uint32_t *riders = calloc(count, sizeof *riders);
    float *weights = calloc(count, sizeof *weights);
    lm_vec3 *x = calloc(info.particles, sizeof *x), rest[VERTICES], skin[VERTICES];
    lm_region_transform *transforms = calloc(info.regions + 1, sizeof *transforms);
    assert_ok(lm_body_get_skin_riders(world, body, NULL, riders, weights));
    assert_ok(lm_body_get_positions(world, body, base, x));
    assert_ok(lm_body_get_region_transforms(world, body, base, transforms));
    assert_ok(lm_body_get_skin_rest(world, body, rest));
    assert_ok(lm_body_get_skin(world, body, base, skin, NULL));
    double worst = 0.0;
    for (uint32_t n = 0; n < VERTICES; n++) {
        ref_vec sum = ref_v(0.0, 0.0, 0.0);
        double total = 0.0;
        for (uint32_t k = offsets[n]; k < offsets[n + 1]; k++) {
            ref_vec at = riders[k] >= LM_RIDER_REGION ? carry(&transforms[riders[k] - LM_RIDER_REGION], rest[n])
                                                      : to_double(x[riders[k]]);
            sum = ref_add(sum, ref_scale((double)weights[k], at));
            total += (double)weights[k];
        }
        assert_near(total, 1.0, 1e-5);
        worst = fmax(worst, ref_length(ref_sub(sum, to_double(skin[n]))));
    }
    free(riders);
    free(weights);
    free(x);
    free(transforms);
    return worst;
}

static void riders_give_the_skin(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            for (int on = 0; on < LM_SKIN_KIND_COUNT; on++) {
                random_state random = {(uint64_t)(100 * kind + 10 * mode + on + 1)};
                sample s = sample_make((sample_kind)kind, &random);
                s.def.material.mode = (lm_mode)mode;
                lm_world *world = make_world(-9.81);
                lm_body_id body = make_body(world, &s.def);
                set_skin(world, body, &s, (lm_skin_kind)on, &random);
                assert_at_most(disagreement(world, body), 1e-5 * s.size);
                randomise_state(world, body, &random, 0.15 * s.size, 1.0);
                assert_at_most(disagreement(world, body), 2e-5 * s.size);
                for (int frame = 0; frame < 5; frame++) assert_ok(lm_world_step(world, FRAME));
                assert_at_most(disagreement(world, body), 2e-5 * s.size);
                lm_world_destroy(world);
                sample_free(&s);
            }
        }
    }
}

/* Ten kilometres from the origin, where single precision knows no millimetres. */
static void riders_give_the_skin_far_away(void **context)
{
    (void)context;
    for (int on = 0; on < LM_SKIN_KIND_COUNT; on++) {
        random_state random = {(uint64_t)(40 + on)};
        sample s = sample_make(SAMPLE_GRID, &random);
        s.def.pose.position = (lm_dvec3){1e4, -2e4, 3e4};
        s.def.spin = (lm_vec3){3.0f, 20.0f, 5.0f};
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_body(world, &s.def);
        set_skin(world, body, &s, (lm_skin_kind)on, &random);
        for (int frame = 0; frame < 10; frame++) {
            assert_at_most(disagreement(world, body), 1e-5 * s.size);
            assert_ok(lm_world_step(world, FRAME));
        }
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* x -> A x + t: every region's transform is that map, whether the body has a skin that rides on regions or none. */
static void transforms_reproduce_affine_motions(void **context)
{
    (void)context;
    random_state random = {5};
    sample s = sample_make(SAMPLE_GRID, &random);
    lm_world *world = make_world(0.0);
    for (int skinned = 0; skinned < 2; skinned++) {
        lm_body_id body = make_body(world, &s.def);
        if (skinned) set_skin(world, body, &s, LM_SKIN_REGIONS, &random);
        ref_mat a = random_rotation(&random);
        for (int i = 0; i < 9; i++) a.at[i / 3][i % 3] += random_range(&random, -0.4, 0.4);
        ref_vec t = random_in_cube(&random, 2.0);
        lm_vec3 *x = calloc(s.count, sizeof *x);
        for (uint32_t n = 0; n < s.count; n++) x[n] = to_float(ref_add(t, ref_mat_vec(a, to_double(s.points[n]))));
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        assert_true(info.regions > 1);
        lm_region_transform *transforms = calloc(info.regions, sizeof *transforms);
        assert_ok(lm_body_get_region_transforms(world, body, to_dvec3(t), transforms));
        for (uint32_t r = 0; r < info.regions; r++) {
            for (int i = 0; i < 9; i++) assert_near(transforms[r].linear[i], a.at[i / 3][i % 3], 1e-4);
            for (int i = 0; i < 18; i++) assert_near(transforms[r].quadratic[i], 0.0, 1e-3);
            ref_vec expected = ref_mat_vec(a, to_double(transforms[r].centre));
            assert_at_most(ref_length(ref_sub(to_double(transforms[r].constant), expected)), 1e-5);
        }
        free(transforms);
        free(x);
    }
    lm_world_destroy(world);
    sample_free(&s);
}

/* A pin changes what the particles weigh in fits, and so the frames of regions; the surface must not jump. */
static void surfaces_stay_when_pins_come_and_go(void **context)
{
    (void)context;
    random_state random = {6};
    sample s = sample_make(SAMPLE_GRID, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def);
    set_skin(world, body, &s, LM_SKIN_REGIONS, &random);
    lm_vec3 before[VERTICES], after[VERTICES];
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), before, NULL));
    uint32_t particles[3] = {0, 1, 2};
    lm_pin_def def = lm_pin_def_default();
    def.body = body;
    def.particles = particles;
    def.particle_count = 3;
    lm_pin_id pin;
    assert_ok(lm_pin_create(world, &def, &pin));
    for (int gone = 0; gone < 2; gone++) {
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), after, NULL));
        for (uint32_t n = 0; n < VERTICES; n++)
            assert_at_most(ref_length(ref_sub(to_double(after[n]), to_double(before[n]))), 1e-4 * s.size);
        assert_ok(gone ? LM_OK : lm_pin_destroy(world, pin));
    }
    lm_world_destroy(world);
    sample_free(&s);
}

static uint64_t shape_hash(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info.shape_hash;
}

static void shape_hashes_tell_shapes_apart(void **context)
{
    (void)context;
    random_state random = {7};
    sample s = sample_make(SAMPLE_GRID, &random);
    lm_world *world = make_world(-9.81), *other = make_world(0.0);
    lm_body_id body = make_body(world, &s.def), twin = make_body(other, &s.def);
    uint64_t bare = shape_hash(world, body);
    assert_true(shape_hash(other, twin) == bare);
    random_state same = random;
    set_skin(world, body, &s, LM_SKIN_PARTICLES, &random);
    set_skin(other, twin, &s, LM_SKIN_PARTICLES, &same);
    uint64_t skinned = shape_hash(world, body);
    assert_true(skinned != bare);
    assert_true(shape_hash(other, twin) == skinned);

    /* Neither moving nor saving and loading changes it; another skin, other regions and other points do. */
    randomise_state(world, body, &random, 0.1, 1.0);
    for (int frame = 0; frame < 3; frame++) assert_ok(lm_world_step(world, FRAME));
    assert_true(shape_hash(world, body) == skinned);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    free(bytes);
    assert_true(shape_hash(other, body) == skinned);
    set_skin(world, body, &s, LM_SKIN_PARTICLES, &random);
    assert_true(shape_hash(world, body) != skinned);
    s.points[0].x += 1e-3f;
    assert_true(shape_hash(world, make_body(world, &s.def)) != bare);
    s.points[0].x -= 1e-3f;
    s.def.clusters.counts[0] = 3;
    assert_true(shape_hash(world, make_body(world, &s.def)) != bare);
    lm_world_destroy(world);
    lm_world_destroy(other);
    sample_free(&s);
}

static void colliders_are_listed_and_read_back(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_collider_id ids[LM_SHAPE_COUNT], listed[LM_SHAPE_COUNT + 1];
    assert_int_equal(lm_world_get_colliders(world, NULL, 0), 0);
    lm_mover_def mover_def = lm_mover_def_default();
    mover_def.pose.position.x = 2.0;
    mover_def.pose.rotation = quaternion(ref_v(0.0, 0.0, 0.5));
    lm_mover_id mover;
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    for (int shape = 0; shape < LM_SHAPE_COUNT; shape++) {
        lm_collider_def def = lm_collider_def_default();
        def.shape = (lm_shape)shape;
        def.radius = 0.25f;
        def.half_length = 0.75f;
        def.half_extents = (lm_vec3){0.1f, 0.2f, 0.3f};
        give_arrays(&def);
        def.pose.position = (lm_dvec3){1.0, 2.0, 3.0 + shape};
        def.pose.rotation = quaternion(ref_v(0.3, 0.4, 0.5));
        def.friction = 0.9f;
        def.restitution = 0.4f;
        def.mover = shape == LM_SHAPE_BOX ? mover : (lm_mover_id){0, 0};
        assert_ok(lm_collider_create(world, &def, &ids[shape]));
        lm_collider_def back;
        assert_ok(lm_collider_get_def(world, ids[shape], &back));
        lm_collider_def standard = lm_collider_def_default();
        bool round = shape == LM_SHAPE_SPHERE || shape == LM_SHAPE_CAPSULE;
        assert_int_equal(back.shape, shape);
        assert_near(back.radius, round ? def.radius : standard.radius, 0.0);
        assert_near(back.half_length, shape == LM_SHAPE_CAPSULE ? def.half_length : standard.half_length, 0.0);
        assert_near(back.half_extents.z, shape == LM_SHAPE_BOX ? def.half_extents.z : standard.half_extents.z, 0.0);
        assert_int_equal(back.heights.counts[0], shape == LM_SHAPE_HEIGHTS ? 4 : 0);
        assert_int_equal(back.mesh.triangle_count, shape == LM_SHAPE_MESH ? 4 : 0);
        if (shape == LM_SHAPE_HEIGHTS)
            assert_memory_equal(back.heights.heights, def.heights.heights, 12 * sizeof(float));
        if (shape == LM_SHAPE_MESH) assert_memory_equal(back.mesh.triangles, def.mesh.triangles, 12 * sizeof(uint32_t));
        assert_near(back.pose.position.z, def.pose.position.z, 0.0);
        assert_near(
            fabs((double)(back.pose.rotation.x * def.pose.rotation.x + back.pose.rotation.y * def.pose.rotation.y +
                          back.pose.rotation.z * def.pose.rotation.z + back.pose.rotation.w * def.pose.rotation.w)),
            1.0, 1e-6);
        assert_int_equal(back.mover.slot, def.mover.slot);
        assert_int_equal(back.mover.generation, def.mover.generation);
        assert_near(back.friction, def.friction, 0.0);
        assert_near(back.restitution, def.restitution, 0.0);
        lm_collider_id copy; /* what is read back makes another one */
        assert_ok(lm_collider_create(world, &back, &copy));
        assert_ok(lm_collider_destroy(world, copy));
    }
    assert_int_equal(lm_world_get_colliders(world, listed, LM_SHAPE_COUNT + 1), LM_SHAPE_COUNT);
    assert_memory_equal(listed, ids, sizeof ids);
    assert_ok(lm_collider_destroy(world, ids[1]));
    assert_int_equal(lm_world_get_colliders(world, listed, 1), LM_SHAPE_COUNT - 1);
    assert_int_equal(listed[0].slot, ids[0].slot);

    /* Without its mover a collider stays where it was, and its definition says where that is. */
    assert_ok(lm_mover_destroy(world, mover));
    lm_collider_def back;
    lm_pose pose;
    assert_ok(lm_collider_get_def(world, ids[LM_SHAPE_BOX], &back));
    assert_ok(lm_collider_get_pose(world, ids[LM_SHAPE_BOX], &pose));
    assert_int_equal(back.mover.slot, 0);
    assert_near(back.pose.position.x, pose.position.x, 0.0);
    assert_true(fabs(pose.position.x - 1.0) > 0.1);
    assert_result(lm_collider_get_def(world, ids[1], &back), LM_ERROR_ID);
    lm_world_destroy(world);
}

static void bodies_without_a_skin_are_refused(void **context)
{
    (void)context;
    random_state random = {8};
    sample s = sample_make(SAMPLE_BOX, &random);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &s.def), none = {0, 0};
    uint32_t offsets[1];
    lm_vec3 vertices[1];
    lm_region_transform transform;
    assert_result(lm_body_get_skin_rest(world, body, vertices), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_skin_rest_normals(world, body, vertices), LM_ERROR_ARGUMENT);
    assert_result(lm_body_get_skin_riders(world, body, offsets, NULL, NULL), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_get_region_transforms(world, body, lm_dvec3_zero(), &transform));
    assert_result(lm_body_get_skin_rest(world, none, vertices), LM_ERROR_ID);
    assert_result(lm_body_get_skin_rest_normals(world, none, vertices), LM_ERROR_ID);
    assert_result(lm_body_get_skin_riders(world, none, offsets, NULL, NULL), LM_ERROR_ID);
    assert_result(lm_body_get_region_transforms(world, none, lm_dvec3_zero(), &transform), LM_ERROR_ID);
    lm_world_destroy(world);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(riders_give_the_skin),
        cmocka_unit_test(riders_give_the_skin_far_away),
        cmocka_unit_test(transforms_reproduce_affine_motions),
        cmocka_unit_test(surfaces_stay_when_pins_come_and_go),
        cmocka_unit_test(shape_hashes_tell_shapes_apart),
        cmocka_unit_test(colliders_are_listed_and_read_back),
        cmocka_unit_test(bodies_without_a_skin_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
