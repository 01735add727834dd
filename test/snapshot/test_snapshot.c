/*
 * Snapshots: whatever happened to the bytes on their way, the answer is a result and an unchanged world.
 */
#include "snapshot/snapshot.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

typedef struct saved {
    lm_world *world;
    lm_body_id body;
    uint8_t *bytes;
    size_t size;
    uint64_t hash;
} saved;

/* A small world with one of everything. */
static int set_up(void **context)
{
    saved *f = calloc(1, sizeof *f);
    random_state random = {4};
    f->world = make_world(-9.81);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    mover_def.velocity = (lm_vec3){0.1f, 0, 0};
    assert_ok(lm_mover_create(f->world, &mover_def, &mover));
    lm_collider_def collider_def = lm_collider_def_default();
    lm_collider_id collider;
    collider_def.mover = mover;
    assert_ok(lm_collider_create(f->world, &collider_def, &collider));
    sample s = sample_make(SAMPLE_LISTS, &random);
    s.def.pose.position = (lm_dvec3){0, 0.5, 0};
    make_body(f->world, &s.def);
    sample_free(&s);
    s = sample_make(SAMPLE_CELL, &random);
    s.def.pose.position = (lm_dvec3){0, 0.2, 0};
    f->body = make_body(f->world, &s.def);
    uint32_t triangle[3] = {0, 1, 2}, held = 3;
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = s.points;
    skin.vertex_count = 4;
    skin.triangles = triangle;
    skin.triangle_count = 1;
    assert_ok(lm_body_set_skin(f->world, f->body, &skin));
    sample_free(&s);
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = f->body;
    pin.particles = &held;
    pin.particle_count = 1;
    pin.mover = mover;
    assert_ok(lm_pin_create(f->world, &pin, &pin_id));
    lm_drag_def drag = lm_drag_def_default();
    lm_drag_id drag_id;
    drag.body = f->body;
    drag.radius = 0.12f;
    assert_ok(lm_drag_create(f->world, &drag, &drag_id));
    lm_field_def field = lm_field_def_default();
    lm_field_id field_id;
    assert_ok(lm_field_create(f->world, &field, &field_id));
    for (int k = 0; k < 10; k++) assert_ok(lm_world_step(f->world, FRAME));
    assert_ok(lm_body_add_particle_force(f->world, f->body, 1, (lm_vec3){1, 2, 3}));
    lm_pose target = lm_pose_identity();
    target.position.y = 0.05;
    assert_ok(lm_mover_move_to(f->world, mover, target));

    f->size = lm_world_save_size(f->world);
    f->bytes = malloc(f->size);
    assert_ok(lm_world_save(f->world, f->bytes, f->size));
    f->hash = lm_world_hash(f->world);
    *context = f;
    return 0;
}

static int tear_down(void **context)
{
    saved *f = *context;
    lm_world_destroy(f->world);
    free(f->bytes);
    free(f);
    return 0;
}

static void assert_refused(saved *f, const void *bytes, size_t size, const char *what, size_t where)
{
    lm_result result = lm_world_load(f->world, bytes, size);
    if (result != LM_ERROR_FORMAT && result != LM_ERROR_VERSION)
        fail_msg("%s at %zu of %zu gave \"%s\"", what, where, f->size, lm_result_text(result));
}

static void buffers_of_every_size(void **context)
{
    saved *f = *context;
    uint8_t *buffer = malloc(f->size + 64);
    memset(buffer, 0xee, f->size + 64);
    for (size_t capacity = 0; capacity < f->size; capacity += 1 + capacity / 8)
        assert_result(lm_world_save(f->world, buffer, capacity), LM_ERROR_CAPACITY);
    assert_result(lm_world_save(f->world, buffer, f->size - 1), LM_ERROR_CAPACITY);
    for (size_t k = 0; k < f->size; k++) assert_int_equal(buffer[k], 0xee); /* nothing was written */
    assert_ok(lm_world_save(f->world, buffer, f->size + 64));
    assert_memory_equal(buffer, f->bytes, f->size);
    for (size_t k = f->size; k < f->size + 64; k++) assert_int_equal(buffer[k], 0xee);
    free(buffer);
}

static void truncated_at_every_length(void **context)
{
    saved *f = *context;
    for (size_t size = 0; size < f->size; size++) {
        uint8_t *part = malloc(size + 1); /* its own block, so that a sanitizer sees any read past the end */
        memcpy(part, f->bytes, size);
        assert_refused(f, part, size, "truncation", size);
        free(part);
    }
    assert_true(lm_world_hash(f->world) == f->hash);
    assert_ok(lm_world_load(f->world, f->bytes, f->size));
    assert_true(lm_world_hash(f->world) == f->hash);
}

static void every_byte_damaged(void **context)
{
    saved *f = *context;
    random_state random = {6};
    for (size_t k = 0; k < f->size; k++)
        for (int attempt = 0; attempt < 2; attempt++) {
            uint8_t flip =
                attempt == 0 ? (uint8_t)(1u << random_below(&random, 8)) : (uint8_t)(1u + random_below(&random, 255));
            f->bytes[k] ^= flip;
            assert_refused(f, f->bytes, f->size, "damage", k);
            f->bytes[k] ^= flip;
        }
    assert_true(lm_world_hash(f->world) == f->hash);
}

/* Two bytes exchanged, a block of zeros, a block moved: the checksum must see them all. */
static void bytes_moved_about(void **context)
{
    saved *f = *context;
    random_state random = {7};
    uint8_t *copy = malloc(f->size);
    for (int trial = 0; trial < 500; trial++) {
        memcpy(copy, f->bytes, f->size);
        size_t a = random_below(&random, (uint32_t)f->size - 16), b = random_below(&random, (uint32_t)f->size - 16);
        size_t length = 1 + random_below(&random, 16);
        if (trial % 2)
            memset(copy + a, 0, length);
        else
            memmove(copy + a, f->bytes + b, length);
        if (memcmp(copy, f->bytes, f->size) == 0) continue;
        assert_refused(f, copy, f->size, "a moved block", a);
    }
    free(copy);
}

/* A snapshot of another version, whole and with a right checksum. */
static void another_version_is_refused(void **context)
{
    saved *f = *context;
    for (unsigned version = 0; version < 4; version++) {
        f->bytes[8] = (uint8_t)version;
        lm_result expected = version == LMI_SNAPSHOT_VERSION ? LM_OK : LM_ERROR_VERSION;
        assert_result(lm_world_load(f->world, f->bytes, f->size), expected);
        assert_true(lm_world_hash(f->world) == f->hash);
    }
}

/* Damage behind a checksum that fits it, as of a file that was made by hand: refused, or a world that can be stepped. */
static void damage_that_the_checksum_cannot_see(void **context)
{
    saved *f = *context;
    random_state random = {16};
    uint8_t *copy = malloc(f->size);
    uint32_t refused = 0;
    lm_world *world = make_world(0.0);
    for (size_t k = LMI_SNAPSHOT_HEADER; k < f->size; k++) {
        memcpy(copy, f->bytes, f->size);
        copy[k] ^= (uint8_t)(1u << random_below(&random, 8));
        lmi_snapshot_seal(copy, f->size);
        uint64_t before = lm_world_hash(world);
        lm_result result = lm_world_load(world, copy, f->size);
        if (result != LM_OK) {
            assert_result(result, LM_ERROR_FORMAT);
            assert_true(lm_world_hash(world) == before);
            refused++;
            continue;
        }
        assert_ok(lm_world_set_substeps(world, 1));
        assert_ok(lm_world_step(world, FRAME));
        lm_totals totals;
        lm_world_get_totals(world, &totals);
        if (!totals.finite) fail_msg("byte %zu of %zu damaged: accepted, and not finite after a step", k, f->size);
    }
    assert_true(refused > 0);
    lm_world_destroy(world);
    free(copy);
}

/* A particle's place in the caller's order, twice: refused, whichever of them it is. */
static void one_particle_twice(void **context)
{
    (void)context;
    enum { COUNT = 5 };
    lm_vec3 points[COUNT] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.points = points;
    def.point_count = COUNT;
    make_body(world, &def);
    size_t size = lm_world_save_size(world);
    uint8_t *bytes = malloc(size), *copy = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    /* One slot with its generation, of which sampling and size (two values of 1 byte, four of 4), how it is made (two of 4, two of 1, five
     * of 8); then position, mass and order of each particle, 20 bytes. */
    const size_t first = LMI_SNAPSHOT_HEADER + 2 * 4 + 2 + 4 * 4 + 2 * 4 + 2 + 6 * 8 + 16;
    for (size_t n = 0; n < COUNT; n++) assert_int_equal(bytes[first + 20 * n], n);
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b < COUNT; b++) {
            memcpy(copy, bytes, size);
            copy[first + 20 * a] = (uint8_t)b;
            lmi_snapshot_seal(copy, size);
            assert_result(lm_world_load(world, copy, size), a == b ? LM_OK : LM_ERROR_FORMAT);
        }
    free(bytes);
    free(copy);
    lm_world_destroy(world);
}

/* The radius of a body of balls is structure, for they are made of it, and state: it cannot be one here and another there. */
static void one_radius_of_balls(void **context)
{
    (void)context;
    const float radius = 0.12345f, another = 0.2f;
    lm_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.points = points, def.point_count = 4, def.self_contact = true, def.contact_radius = radius;
    make_body(world, &def);
    size_t size = lm_world_save_size(world), at[8], found = 0;
    uint8_t *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    for (size_t k = 0; k + 4 <= size && found < 8; k++)
        if (memcmp(bytes + k, &radius, 4) == 0) at[found++] = k;
    assert_int_equal(found, 2);
    for (int changed = 1; changed < 4; changed++) {
        for (int n = 0; n < 2; n++) memcpy(bytes + at[n], changed >> n & 1 ? &another : &radius, 4);
        lmi_snapshot_seal(bytes, size);
        const lm_result expected = changed == 3 ? LM_OK : LM_ERROR_FORMAT;
        assert_result(lm_world_load(other, bytes, size), expected);
        assert_result(lm_world_load(world, bytes, size), expected);
        assert_true(lm_world_hash(world) == lm_world_hash(other) || changed < 3);
    }
    free(bytes);
    lm_world_destroy(world), lm_world_destroy(other);
}

/* What a collider's shape does not use may be anything, and its snapshot loads all the same. */
static void unused_fields_do_not_matter(void **context)
{
    (void)context;
    for (int shape = 0; shape < LM_SHAPE_COUNT; shape++) {
        lm_world *world = make_world(0.0);
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = (lm_shape)shape;
        give_arrays(&def);
        if (shape != LM_SHAPE_HEIGHTS) def.heights.counts[0] = 0;
        if (shape != LM_SHAPE_MESH) def.mesh.vertex_count = 0;
        if (shape != LM_SHAPE_SPHERE && shape != LM_SHAPE_CAPSULE) def.radius = (float)NAN;
        if (shape != LM_SHAPE_CAPSULE) def.half_length = -1.0f;
        if (shape != LM_SHAPE_BOX) def.half_extents = (lm_vec3){0, -1, (float)INFINITY};
        assert_ok(lm_collider_create(world, &def, &id));
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        assert_ok(lm_world_load(world, bytes, size));
        free(bytes);
        lm_world_destroy(world);
    }
}

static void nonsense(void **context)
{
    saved *f = *context;
    random_state random = {8};
    uint8_t noise[4096] = {0};
    assert_refused(f, noise, 0, "nothing", 0);
    for (int trial = 0; trial < 200; trial++) {
        for (size_t k = 0; k < sizeof noise; k++) noise[k] = (uint8_t)random_bits(&random);
        assert_refused(f, noise, 1 + random_below(&random, sizeof noise), "noise", 0);
    }
    assert_ok(lm_world_step(f->world, FRAME));
}

/* Ids of the time of saving are valid again; those given out since are not. */
static void ids_return_with_the_snapshot(void **context)
{
    saved *f = *context;
    random_state random = {9};
    sample s = sample_make(SAMPLE_CELL, &random);
    lm_body_id later = make_body(f->world, &s.def);
    assert_ok(lm_body_destroy(f->world, f->body));
    lm_body_id in_its_place = make_body(f->world, &s.def);
    sample_free(&s);
    assert_ok(lm_world_load(f->world, f->bytes, f->size));
    assert_true(lm_body_is_valid(f->world, f->body));
    assert_false(lm_body_is_valid(f->world, later));
    assert_false(lm_body_is_valid(f->world, in_its_place));
    lm_body_info info;
    assert_ok(lm_body_get_info(f->world, f->body, &info));
    assert_int_equal(info.skin_vertices, 4);
    assert_int_equal(lm_world_get_bodies(f->world, NULL, 0), 2);
}

/* What every getter says is the same before saving and after loading into a fresh world. */
static void everything_comes_back(void **context)
{
    saved *f = *context;
    lm_world *other = make_world(1.0);
    assert_ok(lm_world_load(other, f->bytes, f->size));
    assert_near(lm_world_get_gravity(other).y, -9.81, 1e-6);
    assert_true(lm_world_get_time(other) == lm_world_get_time(f->world));
    assert_int_equal(lm_world_get_substeps(other), lm_world_get_substeps(f->world));
    lm_body_id ids[2][2];
    assert_int_equal(lm_world_get_bodies(other, ids[0], 2), 2);
    assert_int_equal(lm_world_get_bodies(f->world, ids[1], 2), 2);
    assert_memory_equal(ids[0], ids[1], sizeof ids[0]);
    for (int k = 0; k < 2; k++) {
        lm_material a, b;
        assert_ok(lm_body_get_material(other, ids[0][k], &a));
        assert_ok(lm_body_get_material(f->world, ids[0][k], &b));
        assert_memory_equal(&a, &b, sizeof a);
        body_state x = state_read(other, ids[0][k], lm_dvec3_zero()),
                   y = state_read(f->world, ids[0][k], lm_dvec3_zero());
        assert_memory_equal(x.x, y.x, x.count * sizeof *x.x);
        assert_memory_equal(x.v, y.v, x.count * sizeof *x.v);
        assert_memory_equal(x.mass, y.mass, x.count * sizeof *x.mass);
        state_free(&x);
        state_free(&y);
    }
    lm_vec3 skin[2][4], normals[2][4];
    assert_ok(lm_body_get_skin(other, f->body, lm_dvec3_zero(), skin[0], normals[0]));
    assert_ok(lm_body_get_skin(f->world, f->body, lm_dvec3_zero(), skin[1], normals[1]));
    assert_memory_equal(skin[0], skin[1], sizeof skin[0]);
    assert_memory_equal(normals[0], normals[1], sizeof normals[0]);
    for (int k = 0; k < 20; k++) {
        assert_ok(lm_world_step(other, FRAME));
        assert_ok(lm_world_step(f->world, FRAME));
        assert_true(lm_world_hash(other) == lm_world_hash(f->world));
    }
    lm_world_destroy(other);
}

int main(void)
{
#define WITH_SNAPSHOT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SNAPSHOT(buffers_of_every_size),
        WITH_SNAPSHOT(truncated_at_every_length),
        WITH_SNAPSHOT(every_byte_damaged),
        WITH_SNAPSHOT(bytes_moved_about),
        WITH_SNAPSHOT(another_version_is_refused),
        cmocka_unit_test(one_radius_of_balls),
        WITH_SNAPSHOT(damage_that_the_checksum_cannot_see),
        cmocka_unit_test(one_particle_twice),
        cmocka_unit_test(unused_fields_do_not_matter),
        WITH_SNAPSHOT(nonsense),
        WITH_SNAPSHOT(ids_return_with_the_snapshot),
        WITH_SNAPSHOT(everything_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
