/*
 * State alone, for rollback: a world that is brought back goes on to the last bit as it did; another structure, and whatever else
 * happened to the bytes, is refused and changes nothing.
 *
 *   test_state          60 frames of rolling back
 *   test_state long     1,000
 */
#include "test/support/busy.h"
#include "test/support/things.h"

#include "snapshot/snapshot.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_long;

typedef struct buffer {
    uint8_t *bytes;
    size_t size, capacity;
} buffer;

static void save_state(const lm_world *world, buffer *b)
{
    size_t wanted = lm_world_state_size(world);
    if (wanted > b->capacity) {
        b->bytes = realloc(b->bytes, wanted);
        b->capacity = wanted;
    }
    assert_ok(lm_world_save_state(world, b->bytes, b->capacity, &b->size));
    assert_true(b->size <= wanted);
}

static void save_all(const lm_world *world, buffer *b)
{
    b->size = lm_world_save_size(world);
    b->bytes = realloc(b->bytes, b->size);
    b->capacity = b->size;
    assert_ok(lm_world_save(world, b->bytes, b->size));
}

/* --- a pile of everything, with events, sleep, materials that change, and what breaks or is cut --- */

enum { KINDS = SAMPLINGS, DELAY = 8 };

typedef struct pile {
    lm_world *world;
    lm_body_id bodies[KINDS], brittle, calm;
    lm_mover_id mover;
    lm_collider_id ball;
} pile;

static lm_body_id make_one(lm_world *world, int kind, double y, bool stiff)
{
    thing_def def = thing_default((sampling)kind);
    def.size = (lm_vec3){0.5f, 0.4f, 0.4f};
    def.pose.position = (lm_dvec3){0.05 * kind, y, 0.0};
    def.material = stiff ? stiff_material(0.5, 0.1) : soft_material(0.5, 0.1);
    def.mask = 1;
    return thing_make(world, &def);
}

static pile pile_make(uint32_t workers, lm_isa isa)
{
    pile p;
    p.world = make_world_with(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(p.world, 2));
    assert_ok(lm_world_set_contact_events(p.world, true));
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.speed = 0.2f;
    sleep.seconds = 0.2f;
    assert_ok(lm_world_set_sleep(p.world, &sleep));
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id ground;
    assert_ok(lm_collider_create(p.world, &def, &ground));
    lm_mover_def mover = lm_mover_def_default();
    mover.pose.position = (lm_dvec3){-1.5, 0.3, 0};
    assert_ok(lm_mover_create(p.world, &mover, &p.mover));
    def.shape = LM_SHAPE_SPHERE, def.radius = 0.3f, def.mover = p.mover;
    assert_ok(lm_collider_create(p.world, &def, &p.ball));
    for (int n = 0; n < KINDS; n++) p.bodies[n] = make_one(p.world, n, 0.25 + 0.45 * n, n % 2);
    p.brittle = make_one(p.world, FINE, 4.0, false);
    p.calm = make_one(p.world, TETS, 0.21, true);
    assert_ok(lm_body_set_pose(p.world, p.calm, (lm_pose){{8, 0.2, 0}, {0, 0, 0, 1}}, false));
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 0.6f;
    assert_ok(lm_body_set_fracture(p.world, p.brittle, &fracture));
    lm_material plastic;
    assert_ok(lm_body_get_material(p.world, p.bodies[LATTICE], &plastic));
    plastic.yield = 0.03f, plastic.creep = 10.0f;
    assert_ok(lm_body_set_material(p.world, p.bodies[LATTICE], &plastic));
    lm_drag_def drag = lm_drag_def_default();
    lm_drag_id drag_id;
    drag.body = p.bodies[TETS], drag.max_force = 5.0f;
    assert_ok(lm_drag_create(p.world, &drag, &drag_id));
    uint32_t particle = 4;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = p.bodies[OCTREE], pin.particles = &particle, pin.particle_count = 1, pin.mover = p.mover;
    assert_ok(lm_pin_create(p.world, &pin, &pin_id));
    return p;
}

/* The players' input of a frame: depends on its number only. */
static void pile_input(pile *p, uint32_t frame)
{
    lm_world *world = p->world;
    if (frame % 4 == 0)
        assert_ok(lm_body_add_force(world, p->bodies[frame % KINDS], (lm_vec3){3.0f, (float)(frame % 40), 0}));
    if (frame % 40 == 30)
        assert_ok(lm_body_add_impulse(world, p->calm, (lm_vec3){0.3f, 1.0f, 0}, (lm_dvec3){8, 0.2, 0}));
    if (frame % 7 == 3) {
        lm_material m;
        assert_ok(lm_body_get_material(world, p->bodies[CLUSTERS], &m));
        m.friction = 0.01f * (float)(frame % 50);
        m.hertz = 5.0f + (float)(frame % 5);
        assert_ok(lm_body_set_material(world, p->bodies[CLUSTERS], &m));
    }
    if (frame % 16 == 5) {
        lm_pose pose = {{-1.5 + 0.05 * (frame % 32), 0.3, 0}, {0, 0, 0, 1}};
        assert_ok(lm_mover_move_to(world, p->mover, pose));
    }
    if (frame % 31 == 7) assert_ok(lm_world_set_gravity(world, (lm_vec3){0, frame % 2 ? -9.81f : -8.0f, 0}));
    if (frame % 23 == 9) assert_ok(lm_collider_set_enabled(world, p->ball, frame % 2));
    if (frame % 37 == 11) assert_ok(lm_body_set_enabled(world, p->bodies[SKINNED], frame % 2));
    if (frame % 29 == 13) {
        lm_body_filter filter = {1, frame % 2, UINT32_MAX, false};
        assert_ok(lm_body_set_filter(world, p->bodies[LATTICE], &filter));
    }
    if (frame == 20) {
        const lm_dvec3 v[3] = {{0.08, -5, -5}, {0.08, 15, -5}, {0.08, 0, 15}};
        const uint32_t t[3] = {0, 1, 2};
        lm_blade blade = lm_blade_default();
        blade.vertices = v, blade.vertex_count = 3, blade.triangles = t, blade.triangle_count = 1;
        assert_ok(lm_body_cut(world, p->bodies[CLUSTERS], &blade, NULL));
    }
    if (frame == 34) {
        lm_body_id copy;
        assert_ok(lm_body_clone(world, p->bodies[FINE], &copy));
        assert_ok(lm_body_set_pose(world, copy, (lm_pose){{0.3, 5, 0}, {0, 0, 0, 1}}, false));
    }
}

static void pile_step(pile *p, uint32_t frame)
{
    pile_input(p, frame);
    assert_ok(lm_world_step(p->world, FRAME));
}

/* In every frame the world goes back DELAY frames and comes here again, by state where that is possible. */
static void rolling_back_changes_nothing(void **context)
{
    (void)context;
    const uint32_t frames = is_long ? 1000 : 60;
    pile plain = pile_make(1, LM_ISA_BEST), rolled = pile_make(is_long ? 2 : 1, LM_ISA_BEST);
    buffer states[DELAY + 1] = {0}, whole[DELAY + 1] = {0};
    uint32_t by_state = 0, by_snapshot = 0, slept = 0, structures = 0;
    uint64_t structure = 0;
    for (uint32_t frame = 0; frame < frames; frame++) {
        save_state(rolled.world, &states[frame % (DELAY + 1)]);
        save_all(rolled.world, &whole[frame % (DELAY + 1)]);
        structures += structure != lm_world_structure(rolled.world);
        structure = lm_world_structure(rolled.world);
        pile_step(&plain, frame);
        pile_step(&rolled, frame);
        assert_true(lm_world_hash(plain.world) == lm_world_hash(rolled.world));
        if (frame < DELAY) continue;
        uint32_t from = frame - DELAY + 1;
        buffer *state = &states[from % (DELAY + 1)];
        lm_result result = lm_world_load_state(rolled.world, state->bytes, state->size);
        if (result == LM_ERROR_ARGUMENT) {
            by_snapshot++;
            assert_ok(lm_world_load(rolled.world, whole[from % (DELAY + 1)].bytes, whole[from % (DELAY + 1)].size));
        } else {
            assert_ok(result);
            by_state++;
        }
        for (uint32_t again = from; again <= frame; again++) pile_step(&rolled, again);
        if (lm_world_hash(plain.world) != lm_world_hash(rolled.world)) fail_msg("other bits in frame %u", frame);
        assert_true(lm_world_structure(rolled.world) == lm_world_structure(plain.world));
        lm_stats stats;
        lm_world_get_stats(rolled.world, &stats);
        slept += stats.asleep > 0;
    }
    print_message("%u by state, %u by snapshot, %u structures, %u frames with sleepers\n", by_state, by_snapshot,
                  structures, slept);
    assert_true(by_state >= 10 && by_snapshot >= DELAY && structures > 2);
    assert_true(slept > (is_long ? 100u : 10u));
    for (int n = 0; n <= DELAY; n++) free(states[n].bytes), free(whole[n].bytes);
    lm_world_destroy(plain.world);
    lm_world_destroy(rolled.world);
}

/* Saved from one world, loaded into another of the same structure, which was made on its own and steps otherwise. */
static void state_goes_from_world_to_world(void **context)
{
    (void)context;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        pile a = pile_make(1, LM_ISA_BEST), b = pile_make(3, (lm_isa)isa);
        buffer state = {0}, again = {0};
        for (uint32_t frame = 0; frame < 18; frame++) pile_step(&a, frame);
        pile_step(&b, 0);
        save_state(a.world, &state);
        assert_ok(lm_world_load_state(b.world, state.bytes, state.size));
        save_state(b.world, &again);
        assert_true(again.size == state.size);
        assert_memory_equal(again.bytes, state.bytes, state.size);
        for (uint32_t frame = 18; frame < 26; frame++) {
            pile_step(&a, frame);
            pile_step(&b, frame);
            assert_true(lm_world_hash(a.world) == lm_world_hash(b.world));
        }
        free(state.bytes), free(again.bytes);
        lm_world_destroy(a.world), lm_world_destroy(b.world);
    }
}

/* The world of the golden hash, whose events depend on the frame only. */
static void the_busy_world_rolls_back(void **context)
{
    (void)context;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    busy b = busy_make(&def), plain = busy_make(&def);
    buffer state = {0};
    uint32_t loaded = 0;
    for (uint32_t frame = 0; frame < 40; frame++) {
        busy_step(&plain, frame);
        save_state(b.world, &state);
        busy_step(&b, frame);
        lm_result result = lm_world_load_state(b.world, state.bytes, state.size);
        if (result == LM_OK) {
            busy_step(&b, frame);
            loaded++;
        }
        assert_true(lm_world_hash(b.world) == lm_world_hash(plain.world));
    }
    assert_true(loaded > 20);
    free(state.bytes);
    busy_free(&b), busy_free(&plain);
}

/* Examples with a mix of their own, a skeleton, detail: what only some bodies have. */
static void rarer_state_rolls_back(void **context)
{
    (void)context;
    for (int variant = 0; variant < 5; variant++) {
        lm_world *world = make_world(-9.81);
        lm_collider_def ground = lm_collider_def_default();
        lm_collider_id collider;
        assert_ok(lm_collider_create(world, &ground, &collider));
        lm_body_id body = make_one(world, variant == 4 ? OCTREE : variant % 2 ? FINE : TETS, 0.5, false);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        if (variant < 4) {
            lm_vec3 *pose = malloc(info.particles * sizeof *pose);
            assert_ok(lm_body_get_rest_positions(world, body, pose));
            for (uint32_t n = 0; n < info.particles; n++) pose[n].y *= 0.6f;
            lm_examples_def def = lm_examples_def_default();
            def.poses = pose, def.count = 1, def.particles = info.particles;
            def.scope = variant < 2 ? LM_EXAMPLES_BODY : LM_EXAMPLES_REGIONS;
            assert_ok(lm_body_set_examples(world, body, &def));
            free(pose);
            lm_bone bone = lm_bone_default();
            bone.radius = 0.05f, bone.fade = 0.1f;
            lm_skeleton_def rig = lm_skeleton_def_default();
            lm_skeleton_id skeleton;
            rig.body = body, rig.bones = &bone, rig.bone_count = 1;
            rig.pose.position = (lm_dvec3){0.1, 0.5, 0};
            assert_ok(lm_skeleton_create(world, &rig, &skeleton));
        } else {
            lm_detail detail = lm_detail_default();
            detail.touch_size = 0.1f, detail.touch_radius = 0.2f;
            assert_ok(lm_body_set_detail(world, body, &detail));
        }
        buffer state = {0}, whole = {0};
        uint32_t loaded = 0;
        for (int frame = 0; frame < 30; frame++) {
            steps(world, 1);
            save_state(world, &state);
            save_all(world, &whole);
            steps(world, 3);
            uint64_t hash = lm_world_hash(world);
            lm_result result = lm_world_load_state(world, state.bytes, state.size);
            if (result != LM_OK) {
                assert_int_equal(result, LM_ERROR_ARGUMENT); /* its cells have changed */
                assert_int_equal(variant, 4);
                continue;
            }
            loaded++;
            steps(world, 3);
            if (lm_world_hash(world) != hash) fail_msg("variant %d, frame %d: other bits", variant, frame);
            assert_ok(lm_world_load(world, whole.bytes, whole.size));
            steps(world, 3);
            if (lm_world_hash(world) != hash) fail_msg("variant %d, frame %d: a snapshot differs", variant, frame);
        }
        assert_true(loaded >= 5);
        free(state.bytes), free(whole.bytes);
        lm_world_destroy(world);
    }
}

/* --- what is refused --- */

static int lines;
static char last_line[256];
static void take_line(lm_result result, const char *line, void *user)
{
    (void)result, (void)user;
    lines++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static lm_world *logging_world(void)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.log.write = take_line;
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

/* State and snapshot. */
typedef struct both {
    buffer state, whole;
} both;

static void keep(const lm_world *world, both *kept)
{
    save_state(world, &kept->state);
    save_all(world, &kept->whole);
}

static void assert_saves(const lm_world *world, const buffer *expected, const char *what)
{
    buffer now = {0};
    save_all(world, &now);
    if (now.size != expected->size || memcmp(now.bytes, expected->bytes, now.size) != 0) fail_msg("%s: differs", what);
    free(now.bytes);
}

/* The state is refused and changes nothing; the snapshot is not, and brings the structure back. */
static void refuse_now(lm_world *world, const both *kept, const char *what)
{
    const buffer *state = &kept->state;
    buffer before = {0};
    save_all(world, &before);
    lines = 0;
    if (lm_world_load_state(world, state->bytes, state->size) != LM_ERROR_ARGUMENT) fail_msg("%s: not refused", what);
    assert_int_equal(lines, 1);
    assert_non_null(strstr(last_line, "structure"));
    assert_saves(world, &before, what);
    assert_ok(lm_world_load(world, kept->whole.bytes, kept->whole.size));
    assert_saves(world, &kept->whole, what);
    assert_ok(lm_world_load(world, before.bytes, before.size));
    assert_saves(world, &before, what);
    free(before.bytes);
}

static void another_structure_is_refused(void **context)
{
    (void)context;
    lm_world *world = logging_world();
    lm_body_id body = make_one(world, FINE, 1.0, false), other;
    both kept = {0};
    keep(world, &kept);
    uint64_t structure = lm_world_structure(world);
    other = make_one(world, CLUSTERS, 2.0, false);
    refuse_now(world, &kept, "another body");
    assert_true(lm_world_structure(world) != structure);
    assert_ok(lm_body_destroy(world, other));
    refuse_now(world, &kept, "a slot that was used"); /* its generation is part of ids */
    keep(world, &kept);
    assert_ok(lm_body_set_mass(world, body, 3.0f));
    refuse_now(world, &kept, "masses");
    assert_ok(lm_body_set_mass(world, body, 2.0f));
    keep(world, &kept);
    uint32_t particle = 0;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body, pin.particles = &particle, pin.particle_count = 1;
    assert_ok(lm_pin_create(world, &pin, &id));
    refuse_now(world, &kept, "a pin");
    keep(world, &kept);
    lm_material m;
    assert_ok(lm_body_get_material(world, body, &m));
    m.mode = m.mode == LM_MODE_RIGID ? LM_MODE_LINEAR : LM_MODE_RIGID;
    assert_ok(lm_body_set_material(world, body, &m));
    refuse_now(world, &kept, "a mode");
    keep(world, &kept);
    lm_fracture_def fracture = lm_fracture_def_default();
    assert_ok(lm_body_set_fracture(world, body, &fracture));
    refuse_now(world, &kept, "fracture");
    keep(world, &kept);
    uint32_t broken;
    assert_ok(lm_body_break(world, body, (lm_vec3){0, 0, 0}, 0.2f, &broken));
    assert_true(broken > 0);
    refuse_now(world, &kept, "a break");
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.shape = LM_SHAPE_HEIGHTS;
    give_arrays(&def);
    assert_ok(lm_collider_create(world, &def, &collider));
    keep(world, &kept);
    float heights[12] = {0};
    def.heights.heights = heights;
    assert_ok(lm_collider_set_def(world, collider, &def));
    refuse_now(world, &kept, "another height map");
    free(kept.state.bytes), free(kept.whole.bytes);
    lm_world_destroy(world);
}

static uint64_t checksum_of(const uint8_t *bytes, size_t size);

/* A velocity of every body that is found by its bits becomes none, too large, or not finite, and the checksum fits: nothing is loaded. */
static void particles_that_are_no_numbers_are_refused(void **context)
{
    (void)context;
    static const float mark = 3.140625f, wrong[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int kind = 0; kind < KINDS; kind++) {
        lm_world *world = make_world(0.0);
        thing_def def = thing_default((sampling)kind);
        lm_body_id body = thing_make(world, &def);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *positions = malloc(info.particles * sizeof *positions);
        lm_vec3 *velocities = calloc(info.particles, sizeof *velocities);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), positions));
        velocities[info.particles / 2].y = mark;
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), positions, velocities));
        buffer state = {0}, before = {0}, after = {0};
        save_state(world, &state);
        steps(world, 1);
        save_all(world, &before);
        uint32_t found = 0;
        for (size_t at = 44; at + sizeof mark <= state.size; at++) {
            for (int n = 0; memcmp(state.bytes + at, &mark, sizeof mark) == 0 && n < 4; n++) {
                found++;
                memcpy(state.bytes + at, &wrong[n], sizeof mark);
                uint64_t sum = checksum_of(state.bytes + 44, state.size - 44);
                for (int k = 0; k < 8; k++) state.bytes[20 + k] = (uint8_t)(sum >> (8 * k));
                assert_result(lm_world_load_state(world, state.bytes, state.size), LM_ERROR_FORMAT);
                memcpy(state.bytes + at, &mark, sizeof mark);
                save_all(world, &after);
                assert_true(after.size == before.size);
                assert_memory_equal(before.bytes, after.bytes, before.size);
            }
        }
        assert_int_equal(found, 4);
        free(positions), free(velocities), free(state.bytes), free(before.bytes), free(after.bytes);
        lm_world_destroy(world);
    }
}

/* Every byte wrong, with and without a checksum that fits; truncated; buffers of every size. */
static void damage_changes_nothing(void **context)
{
    (void)context;
    pile p = pile_make(1, LM_ISA_BEST);
    for (uint32_t frame = 0; frame < 12; frame++) pile_step(&p, frame);
    buffer state = {0}, before = {0}, after = {0};
    save_state(p.world, &state);
    pile_step(&p, 12);
    save_all(p.world, &before);
    random_state random = {21};
    uint8_t *damaged = malloc(state.size);
    for (int n = 0; n < (is_long ? 2000 : 200); n++) {
        memcpy(damaged, state.bytes, state.size);
        /* The first half among what is small and has more that can be wrong. */
        size_t at = n % 2 ? random_below(&random, (uint32_t)state.size) : random_below(&random, 6000);
        uint8_t value = (uint8_t)random_bits(&random);
        bool sealed = n % 4 >= 2;
        damaged[at] = value;
        if (sealed && at >= 44) {
            uint64_t sum = checksum_of(damaged + 44, state.size - 44);
            for (int k = 0; k < 8; k++) damaged[20 + k] = (uint8_t)(sum >> (8 * k));
        }
        lm_result result = lm_world_load_state(p.world, damaged, state.size);
        if (result == LM_OK) { /* a value that may be */
            assert_true(sealed || memcmp(damaged, state.bytes, state.size) == 0);
            assert_ok(lm_world_step(p.world, FRAME));
            lm_totals totals;
            lm_world_get_totals(p.world, &totals);
            assert_true(totals.finite);
            assert_ok(lm_world_load(p.world, before.bytes, before.size));
            continue;
        }
        save_all(p.world, &after);
        assert_true(after.size == before.size);
        assert_memory_equal(before.bytes, after.bytes, before.size);
    }
    for (size_t size = 0; size < state.size; size += 1 + size / 8)
        assert_true(lm_world_load_state(p.world, state.bytes, size) != LM_OK);
    uint8_t *room = malloc(state.size);
    size_t written;
    for (size_t capacity = 0; capacity < state.size; capacity += 1 + capacity / 8)
        assert_result(lm_world_save_state(p.world, room, capacity, &written), LM_ERROR_CAPACITY);
    save_all(p.world, &after);
    assert_memory_equal(before.bytes, after.bytes, before.size);
    free(damaged), free(room), free(state.bytes), free(before.bytes), free(after.bytes);
    lm_world_destroy(p.world);
}

/* The same of snapshots, which are loaded into the world as it stands while the structure is the same. */
static void damaged_snapshots_change_nothing(void **context)
{
    (void)context;
    pile p = pile_make(1, LM_ISA_BEST);
    for (uint32_t frame = 0; frame < 12; frame++) pile_step(&p, frame);
    buffer whole = {0}, before = {0};
    save_all(p.world, &whole);
    size_t state = lm_world_state_size(p.world); /* at most, and last */
    assert_true(state < whole.size);
    pile_step(&p, 12);
    save_all(p.world, &before);
    random_state random = {22};
    uint8_t *damaged = malloc(whole.size);
    uint32_t accepted = 0, refused = 0;
    for (int n = 0; n < (is_long ? 4000 : 120); n++) {
        memcpy(damaged, whole.bytes, whole.size);
        size_t first = n % 8 ? whole.size - state : LMI_SNAPSHOT_HEADER; /* mostly of state */
        damaged[first + random_below(&random, (uint32_t)(n % 2 ? 8000 : whole.size - first))] =
            (uint8_t)random_bits(&random);
        lmi_snapshot_seal(damaged, whole.size);
        if (lm_world_load(p.world, damaged, whole.size) == LM_OK) { /* a value that may be */
            assert_ok(lm_world_step(p.world, FRAME));
            lm_totals totals;
            lm_world_get_totals(p.world, &totals);
            assert_true(totals.finite);
            assert_ok(lm_world_load(p.world, before.bytes, before.size));
            accepted++;
        } else {
            refused++;
        }
        assert_saves(p.world, &before, "after a damaged snapshot");
    }
    assert_true(accepted > 10 && refused > 10);
    free(damaged), free(whole.bytes), free(before.bytes);
    lm_world_destroy(p.world);
}

/* Bodies stay where they are in memory, which says that none was made again, and go on to the last bit as they did. */
static void snapshots_keep_the_bodies_of_their_structure(void **context)
{
    (void)context;
    pile a = pile_make(1, LM_ISA_BEST), plain = pile_make(1, LM_ISA_BEST);
    buffer whole = {0};
    uint32_t by_state = 0, made = 0;
    for (uint32_t frame = 0; frame < 60; frame++) {
        const uint64_t structure = lm_world_structure(a.world);
        save_all(a.world, &whole);
        pile_step(&plain, frame);
        for (uint32_t k = 0; k < 3; k++) pile_step(&a, frame + k);
        const float *mass = lmi_body_at(a.world, 0)->mass;
        const bool same = structure == lm_world_structure(a.world);
        assert_ok(lm_world_load(a.world, whole.bytes, whole.size));
        assert_true(same == (lmi_body_at(a.world, 0)->mass == mass));
        by_state += same, made += !same;
        assert_saves(a.world, &whole, "a snapshot that was loaded");
        pile_step(&a, frame);
        if (lm_world_hash(plain.world) != lm_world_hash(a.world)) fail_msg("other bits in frame %u", frame);
    }
    print_message("%u of one structure, %u of another\n", by_state, made);
    assert_true(by_state > 10 && made > 2);
    free(whole.bytes);
    lm_world_destroy(a.world), lm_world_destroy(plain.world);
}

/* As out/hash.h has it. */
#include "base/hash.h"
static uint64_t checksum_of(const uint8_t *bytes, size_t size) { return lmi_hash_array(LMI_HASH_SEED, bytes, size); }

static int64_t granted = -1; /* requests that are; below 0: all */

static void *miser_allocate(size_t size, size_t alignment, void *user)
{
    *(bool *)user = *(bool *)user || granted == 0;
    if (granted == 0) return NULL;
    granted -= granted > 0;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void miser_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* Forces and events that there is no room for any more; state, or a snapshot of the same structure. */
static void any_allocation_may_fail(void **context)
{
    const bool whole = *context != NULL;
    bool refused = false;
    lm_world_def def = lm_world_def_default();
    def.allocator = (lm_allocator){miser_allocate, miser_release, &refused};
    def.workers = 1;
    lm_world *a, *b;
    assert_ok(lm_world_create(&def, &a));
    assert_ok(lm_world_create(&def, &b));
    lm_body_id body = make_one(a, FINE, 0.3, false);
    make_one(b, FINE, 0.3, false);
    lm_collider_def ground = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(a, &ground, &collider));
    assert_ok(lm_collider_create(b, &ground, &collider));
    assert_ok(lm_world_set_contact_events(a, true));
    steps(a, 20);
    for (int n = 0; n < 30; n++) assert_ok(lm_body_add_force(a, body, (lm_vec3){1, 0, 0}));
    buffer state = {0}, before = {0}, after = {0};
    (whole ? save_all : save_state)(a, &state);
    save_all(b, &before);
    const float *mass = lmi_body_at(b, 0)->mass;
    for (int64_t n = 0;; n++) {
        refused = false;
        granted = n;
        lm_result result = (whole ? lm_world_load : lm_world_load_state)(b, state.bytes, state.size);
        granted = -1;
        if (!refused) {
            assert_ok(result);
            assert_true(n > 2);
            break;
        }
        assert_result(result, LM_ERROR_MEMORY);
        save_all(b, &after);
        assert_true(after.size == before.size);
        assert_memory_equal(after.bytes, before.bytes, before.size);
    }
    assert_true(lmi_body_at(b, 0)->mass == mass);
    steps(a, 3), steps(b, 3);
    assert_true(lm_world_hash(a) == lm_world_hash(b));
    free(state.bytes), free(before.bytes), free(after.bytes);
    lm_world_destroy(a), lm_world_destroy(b);
}

static void what_it_takes_is_little(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_collider_def ground = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &ground, &collider));
    uint8_t *cells = malloc(16 * 16 * 16);
    memset(cells, 1, 16 * 16 * 16);
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 16;
    def.lattice.spacing = 0.1f;
    def.mask = 1;
    make_body(world, &def);
    steps(world, 20);
    buffer state = {0};
    save_state(world, &state);
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    assert_true(stats.contacts > 100);
    assert_at_most((double)state.size / stats.particles, 60.0);
    free(state.bytes), free(cells);
    lm_world_destroy(world);
}

int main(int argc, char **argv)
{
    is_long = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolling_back_changes_nothing),
        cmocka_unit_test(state_goes_from_world_to_world),
        cmocka_unit_test(the_busy_world_rolls_back),
        cmocka_unit_test(rarer_state_rolls_back),
        cmocka_unit_test(another_structure_is_refused),
        cmocka_unit_test(particles_that_are_no_numbers_are_refused),
        cmocka_unit_test(damage_changes_nothing),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(what_it_takes_is_little),
        cmocka_unit_test(damaged_snapshots_change_nothing),
        cmocka_unit_test(snapshots_keep_the_bodies_of_their_structure),
        cmocka_unit_test_prestate(any_allocation_may_fail, &is_long),
    };
    const struct CMUnitTest longer[] = {cmocka_unit_test(rolling_back_changes_nothing),
                                        cmocka_unit_test(damage_changes_nothing),
                                        cmocka_unit_test(damaged_snapshots_change_nothing)};
    return is_long ? cmocka_run_group_tests(longer, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
