/*
 * Contact events: what began, persists and ended, with what it came to; their order, their limits, and that they do not
 * depend on threads, instruction sets or a snapshot in between.
 */
#include "test/support/things.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 256

typedef struct events {
    lm_contact_event list[MOST_EVENTS];
    uint32_t count;
} events;

static events events_of(const lm_world *world)
{
    events e;
    e.count = lm_world_get_contact_events(world, e.list, MOST_EVENTS);
    assert_at_most(e.count, MOST_EVENTS);
    return e;
}

static lm_world *make_listening_world(double gravity, lm_isa isa, uint32_t workers)
{
    lm_world *world = make_world_with(gravity, isa, workers);
    assert_false(lm_world_get_contact_events_on(world));
    assert_ok(lm_world_set_contact_events(world, true));
    assert_true(lm_world_get_contact_events_on(world));
    return world;
}

static lm_collider_id add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

static lm_body_id put(lm_world *world, sampling kind, const char *shape, uint32_t mask, double x, double y, double z)
{
    thing_def def = thing_default(kind);
    def.shape = shape;
    def.mask = mask;
    def.material.hertz = 20.0f; /* it does not hop */
    def.material.damping_ratio = 0.7f;
    def.pose.position = (lm_dvec3){x, y, z};
    return thing_make(world, &def);
}

static ref_vec velocity_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return to_double(info.velocity);
}

/* Moves a body as it is. */
static void lift(lm_world *world, lm_body_id body, double by)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *positions = malloc(info.particles * sizeof *positions);
    lm_dvec3 base = info.centre;
    assert_ok(lm_body_get_positions(world, body, base, positions));
    base.y += by;
    assert_ok(lm_body_set_state(world, body, base, positions, NULL));
    free(positions);
}

/* A box falls, lies, and is taken away: one beginning, no gap, one end; and the impulses are all that it got. */
static void falling_on_a_floor(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (uint32_t mask = 0; mask < 2; mask++) {
            lm_world *world = make_listening_world(-9.81, LM_ISA_BEST, 1);
            lm_collider_id floor = add_floor(world);
            lm_body_id body = put(world, kind, "box", mask, 0, 1.5, 0);
            uint32_t began = 0, began_at = 0;
            double given = 0.0;
            ref_vec before = velocity_of(world, body);
            for (uint32_t step = 0; step < 120; step++) {
                assert_ok(lm_world_step(world, FRAME));
                events e = events_of(world);
                assert_at_most(e.count, 1);
                if (e.count == 0) {
                    assert_int_equal(began, 0);
                    continue;
                }
                const lm_contact_event *event = &e.list[0];
                assert_int_equal(event->phase, began ? LM_CONTACT_PERSISTS : LM_CONTACT_BEGAN);
                assert_true(event->body.slot == body.slot && event->body.generation == body.generation);
                assert_true(event->collider.slot == floor.slot && event->collider.generation == floor.generation);
                assert_int_equal(event->other.slot, 0);
                if (!began) {
                    began_at = step;
                    /* From 1 m: 4.43 m/s, less or more by what a step adds. */
                    assert_near(event->approach, 4.43, 0.35);
                }
                began++;
                given += (double)event->impulse.y;
                assert_near(event->normal.y, 1.0, 1e-3);
                assert_near(event->point.y, 0.0, 0.06);
                assert_near(event->point.x, 0.0, step < 119 ? 0.56 : 0.3);
                assert_at_most((double)event->impulse.y, (double)event->pressed * 1.001 + 1e-6);
            }
            assert_near(began_at, 27, 1);
            assert_int_equal(began, 120 - began_at);
            ref_vec after = velocity_of(world, body);
            assert_near(given, 2.0 * (after.y - before.y + 9.81 * 2.0), 0.02);
            lift(world, body, 1.0);
            assert_ok(lm_world_step(world, FRAME));
            events e = events_of(world);
            assert_int_equal(e.count, 1);
            assert_int_equal(e.list[0].phase, LM_CONTACT_ENDED);
            assert_true(e.list[0].body.slot == body.slot && e.list[0].collider.slot == floor.slot);
            assert_near(e.list[0].impulse.y, 0.0, 0.0);
            assert_near(e.list[0].point.y, 0.0, 0.06);
            assert_ok(lm_world_step(world, FRAME));
            assert_int_equal(events_of(world).count, 0);
            lm_world_destroy(world);
        }
}

/* Two free bodies meet: the impulse is what one of them got and the other lost. */
static void bodies_tell_what_they_gave(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_listening_world(0.0, LM_ISA_BEST, 1);
        thing_def def = thing_default(kind);
        def.mask = 1;
        def.shape = "sphere";
        def.velocity = (lm_vec3){-3, 0, 0};
        def.pose.position = (lm_dvec3){0.8, 0.1, 0};
        lm_body_id right = thing_make(world, &def); /* the lower slot */
        def.velocity = (lm_vec3){1, 0, 0};
        def.pose.position = (lm_dvec3){-0.8, 0, 0};
        def.mass = 3.0f;
        lm_body_id left = thing_make(world, &def);
        ref_vec given = ref_v(0, 0, 0);
        double fastest = 0.0;
        uint32_t began = 0, ended = 0;
        for (int step = 0; step < 90; step++) {
            assert_ok(lm_world_step(world, FRAME));
            events e = events_of(world);
            assert_at_most(e.count, 1);
            for (uint32_t n = 0; n < e.count; n++) {
                const lm_contact_event *event = &e.list[n];
                assert_true(event->body.slot == right.slot && event->other.slot == left.slot);
                assert_int_equal(event->collider.slot, 0);
                given = ref_add(given, to_double(event->impulse));
                began += event->phase == LM_CONTACT_BEGAN;
                ended += event->phase == LM_CONTACT_ENDED;
                if (event->phase == LM_CONTACT_BEGAN) {
                    assert_near(event->normal.x, 1.0, 0.3);
                    fastest = fastest > 0.0 ? fastest : (double)event->approach;
                }
            }
        }
        assert_true(began >= 1 && began == ended);
        assert_near(fastest, 4.0, 1.0);
        ref_vec change = ref_sub(velocity_of(world, right), ref_v(-3, 0, 0));
        assert_true(given.x > 2.0);
        assert_at_most(ref_length(ref_sub(given, ref_scale(2.0, change))), 2e-3);
        change = ref_sub(velocity_of(world, left), ref_v(1, 0, 0));
        assert_at_most(ref_length(ref_add(given, ref_scale(3.0, change))), 3e-3);
        lm_world_destroy(world);
    }
}

/* A clamp of cells whose jaws are pressed into each other. */
static void a_body_touches_itself(void **context)
{
    (void)context;
    lm_world *world = make_listening_world(0.0, LM_ISA_BEST, 1);
    uint8_t cells[8 * 7];
    for (uint32_t n = 0; n < 8 * 7; n++) cells[n] = n % 8 < 2 || n / 8 < 2 || n / 8 > 4;
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = 8, def.lattice.counts[1] = 7, def.lattice.counts[2] = 1;
    def.lattice.spacing = 0.1f;
    def.self_contact = true;
    lm_body_id body = make_body(world, &def);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if (rest[n].y > 0.35f) rest[n].y -= 0.35f * fminf(1.0f, fmaxf(0.0f, (rest[n].x - 0.2f) / 0.2f));
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), rest, NULL));
    free(rest);
    assert_ok(lm_world_step(world, FRAME));
    events e = events_of(world);
    assert_int_equal(e.count, 1);
    assert_int_equal(e.list[0].phase, LM_CONTACT_BEGAN);
    assert_true(e.list[0].body.slot == body.slot && e.list[0].other.slot == body.slot);
    assert_near(e.list[0].impulse.y, 0.0, 0.0);
    lm_world_destroy(world);
}

/* A plate on twelve bumps is known to touch eight of them, those of the lowest slots. */
static void more_than_there_is_room_for(void **context)
{
    (void)context;
    lm_world *world = make_listening_world(-9.81, LM_ISA_BEST, 1);
    for (int k = 0; k < 12; k++) {
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id id;
        def.shape = LM_SHAPE_SPHERE;
        def.radius = 0.2f;
        def.pose.position = (lm_dvec3){0.6 * (k % 4) - 0.9, -0.2, 0.6 * (k / 4) - 0.6};
        assert_ok(lm_collider_create(world, &def, &id));
    }
    thing_def def = thing_default(FINE);
    def.size = (lm_vec3){2.4f, 0.4f, 2.0f};
    def.pose.position = (lm_dvec3){0, 0.22, 0};
    thing_make(world, &def);
    for (int step = 0; step < 60; step++) assert_ok(lm_world_step(world, FRAME));
    events e = events_of(world);
    assert_int_equal(e.count, LM_MAX_TOUCHED_COLLIDERS);
    for (uint32_t n = 0; n < e.count; n++) assert_int_equal(e.list[n].collider.slot, n + 1);
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    assert_true(stats.contacts_left_out >= 4);
    /* A small buffer gets the first ones, and the number of all. */
    lm_contact_event few[3];
    assert_int_equal(lm_world_get_contact_events(world, few, 3), LM_MAX_TOUCHED_COLLIDERS);
    assert_int_equal(few[2].collider.slot, 3);
    assert_int_equal(lm_world_get_contact_events(world, NULL, 0), LM_MAX_TOUCHED_COLLIDERS);
    lm_world_destroy(world);
}

/* A body that falls along a wall, nearer to it than it falls in a step, does not touch it. */
static void near_is_not_touching(void **context)
{
    (void)context;
    for (sampling kind = SKINNED; kind < SAMPLINGS; kind++) {
        lm_world *world = make_listening_world(-9.81, LM_ISA_BEST, 1);
        lm_collider_def def = lm_collider_def_default();
        lm_collider_id wall;
        def.pose.rotation = quaternion(ref_v(0, 0, -acos(0.0))); /* faces along x */
        assert_ok(lm_collider_create(world, &def, &wall));
        put(world, kind, "box", 0, 0.502, 0, 0);
        for (int step = 0; step < 30; step++) {
            assert_ok(lm_world_step(world, FRAME));
            assert_int_equal(events_of(world).count, 0);
        }
        lm_world_destroy(world);
    }
}

/* What is destroyed has ended, under the id it had; a new one in its slot begins. */
static void what_is_gone_has_ended(void **context)
{
    (void)context;
    lm_world *world = make_listening_world(-9.81, LM_ISA_BEST, 1);
    lm_collider_id floor = add_floor(world);
    lm_body_id body = put(world, LATTICE, "box", 0, 0, 0.5, 0);
    for (int step = 0; step < 30; step++) assert_ok(lm_world_step(world, FRAME));
    assert_int_equal(events_of(world).list[0].phase, LM_CONTACT_PERSISTS);
    assert_ok(lm_collider_destroy(world, floor));
    lm_collider_id other = add_floor(world);
    assert_int_equal(other.slot, floor.slot);
    assert_ok(lm_world_step(world, FRAME));
    events e = events_of(world);
    assert_int_equal(e.count, 2);
    assert_int_equal(e.list[0].phase, LM_CONTACT_ENDED);
    assert_int_equal(e.list[0].collider.generation, floor.generation);
    assert_int_equal(e.list[1].phase, LM_CONTACT_BEGAN);
    assert_int_equal(e.list[1].collider.generation, other.generation);
    assert_ok(lm_body_destroy(world, body));
    assert_ok(lm_world_step(world, FRAME));
    e = events_of(world);
    assert_int_equal(e.count, 1);
    assert_int_equal(e.list[0].phase, LM_CONTACT_ENDED);
    assert_true(e.list[0].body.slot == body.slot && e.list[0].body.generation == body.generation);
    /* Switched off, nobody is told; switched on again it begins anew. */
    body = put(world, LATTICE, "box", 0, 0, 0.5, 0);
    for (int step = 0; step < 30; step++) assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_world_set_contact_events(world, false));
    assert_int_equal(events_of(world).count, 0);
    assert_ok(lm_world_step(world, FRAME));
    assert_int_equal(events_of(world).count, 0);
    assert_ok(lm_world_set_contact_events(world, true));
    assert_ok(lm_world_step(world, FRAME));
    assert_int_equal(events_of(world).list[0].phase, LM_CONTACT_BEGAN);
    lm_world_destroy(world);
}

static lm_world *make_heap(lm_isa isa, uint32_t workers)
{
    lm_world *world = make_listening_world(-9.81, isa, workers);
    assert_ok(lm_world_set_substeps(world, 2));
    add_floor(world);
    for (int k = 0; k < 8; k++) {
        thing_def def = thing_default((sampling)(k % SAMPLINGS));
        def.shape = k & 1 ? "sphere" : "box";
        def.size = (lm_vec3){0.6f, 0.6f, 0.6f};
        def.mask = k == 5 ? 0 : 1;
        def.pose.position = (lm_dvec3){0.1 * k - 0.4, 0.5 + 0.4 * k, 0.07 * (k % 3)};
        thing_make(world, &def);
    }
    return world;
}

/* All numbers of all events, as they come. */
static uint64_t add_events(uint64_t sum, const lm_world *world)
{
    events e = events_of(world);
    for (uint32_t n = 0; n < e.count; n++) {
        const lm_contact_event *v = &e.list[n];
        float values[9] = {(float)v->point.x, (float)v->point.y, (float)v->point.z, v->normal.x, v->normal.y,
                           v->impulse.x,      v->impulse.y,      v->pressed,        v->approach};
        uint32_t words[13] = {(uint32_t)v->phase, v->body.slot, v->other.slot, v->collider.slot};
        memcpy(words + 4, values, sizeof values);
        for (int k = 0; k < 13; k++) sum = (sum ^ words[k]) * 1099511628211u;
    }
    return sum;
}

static void the_same_events_everywhere(void **context)
{
    (void)context;
    lm_world *world = make_heap(LM_ISA_SCALAR, 1);
    uint64_t first = 1, second = 1;
    for (int step = 0; step < 40; step++) {
        assert_ok(lm_world_step(world, FRAME));
        first = add_events(first, world);
        events e = events_of(world);
        for (uint32_t n = 1; n < e.count; n++) { /* by the slot of the body, colliders before bodies */
            const lm_contact_event *a = &e.list[n - 1], *b = &e.list[n];
            assert_true(a->body.slot <= b->body.slot);
            if (a->body.slot == b->body.slot)
                assert_true(a->other.slot ? b->other.slot > a->other.slot
                                          : b->other.slot || b->collider.slot > a->collider.slot);
        }
    }
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    for (int step = 0; step < 20; step++) {
        assert_ok(lm_world_step(world, FRAME));
        second = add_events(second, world);
    }
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        world = make_heap((lm_isa)isa, 1 + (uint32_t)isa % 3);
        uint64_t sum = 1;
        for (int step = 0; step < 40; step++) {
            assert_ok(lm_world_step(world, FRAME));
            sum = add_events(sum, world);
        }
        assert_true(sum == first);
        lm_world_destroy(world);
    }
    lm_world *loaded = make_world_with(0.0, LM_ISA_BEST, 2);
    assert_ok(lm_world_load(loaded, bytes, size));
    assert_int_equal(events_of(loaded).count, 0);
    uint64_t sum = 1;
    for (int step = 0; step < 20; step++) {
        assert_ok(lm_world_step(loaded, FRAME));
        sum = add_events(sum, loaded);
    }
    assert_true(sum == second);
    assert_true(lm_world_hash(loaded) == hash);
    free(bytes);
    lm_world_destroy(loaded);
    /* Listening changes nothing of the motion. */
    world = make_heap(LM_ISA_BEST, 2);
    assert_ok(lm_world_set_contact_events(world, false));
    for (int step = 0; step < 60; step++) assert_ok(lm_world_step(world, FRAME));
    assert_true(lm_world_hash(world) == hash);
    lm_world_destroy(world);
}

/* With the argument "threads" only what runs with several workers. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falling_on_a_floor),         cmocka_unit_test(bodies_tell_what_they_gave),
        cmocka_unit_test(a_body_touches_itself),      cmocka_unit_test(more_than_there_is_room_for),
        cmocka_unit_test(near_is_not_touching),       cmocka_unit_test(what_is_gone_has_ended),
        cmocka_unit_test(the_same_events_everywhere),
    };
    if (argc > 1 && strcmp(argv[1], "threads") == 0) cmocka_set_test_filter("the_same_events_everywhere");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
