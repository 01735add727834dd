/*
 * Sleep: bodies at rest stop exactly, together with what they touch, cost nothing, and wake for whatever could move them;
 * the same everywhere and through snapshots, and without memory nothing is lost.
 */
#include "limber/shapes.h"
#include "test/support/things.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

static lm_world *make_sleepy(double gravity, lm_isa isa, uint32_t workers)
{
    lm_world *world = make_world_with(gravity, isa, workers);
    lm_sleep sleep = lm_world_get_sleep(world);
    assert_false(sleep.enabled);
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    assert_true(lm_world_get_sleep(world).enabled);
    return world;
}

static lm_collider_id add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

static thing_def calm(sampling kind, uint32_t mask)
{
    thing_def def = thing_default(kind);
    def.material.hertz = 20.0f;
    def.material.damping_ratio = 0.7f;
    def.mask = mask;
    return def;
}

static lm_body_id put(lm_world *world, thing_def def, double x, double y, double z)
{
    def.pose.position = (lm_dvec3){x, y, z};
    return thing_make(world, &def);
}

static uint32_t asleep_in(const lm_world *world)
{
    lm_stats stats;
    lm_world_get_stats(world, &stats);
    return stats.asleep;
}

/* Steps until `count` bodies sleep; returns how long that took, in seconds. */
static double until_asleep(lm_world *world, uint32_t count, double most)
{
    double start = lm_world_get_time(world);
    while (asleep_in(world) < count && lm_world_get_time(world) < start + most) steps(world, 1);
    return lm_world_get_time(world) - start;
}

/* Every sampling, alone: asleep within seconds, then exactly still and in no batch. */
static void resting_bodies_sleep(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++)
        for (uint32_t mask = 0; mask < 2; mask++) {
            lm_world *world = make_sleepy(-9.81, LM_ISA_BEST, 1);
            add_floor(world);
            lm_body_id body = put(world, calm(kind, mask), 0, 0.7, 0);
            assert_true(lm_body_is_awake(world, body));
            steps(world, 30); /* longer than it takes to sleep, but it has just fallen */
            assert_true(lm_body_is_awake(world, body));
            double took = until_asleep(world, 1, 5.0);
            if (asleep_in(world) != 1) print_message("%s, mask %u: awake\n", sampling_names[kind], mask);
            assert_int_equal(asleep_in(world), 1);
            assert_false(lm_body_is_awake(world, body));
            uint64_t hash = lm_world_hash(world);
            lm_stats before, after;
            lm_world_get_stats(world, &before);
            steps(world, 60);
            assert_true(lm_world_hash(world) == hash);
            lm_world_get_stats(world, &after);
            assert_true(memcmp(&before.outside_impulse, &after.outside_impulse, sizeof before.outside_impulse) == 0);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_true(info.asleep);
            assert_true(info.max_speed == 0.0f && info.kinetic_energy == 0.0f);
            for (uint32_t n = 0; n < world->batch_count; n++) assert_int_equal(world->batches[n].body_count, 0);
            assert_at_most(took, 4.5);
            /* And it is itself again when it wakes. */
            assert_ok(lm_body_wake(world, body));
            assert_true(lm_body_is_awake(world, body));
            steps(world, 5);
            lm_body_info later;
            assert_ok(lm_body_get_info(world, body, &later));
            assert_near(later.centre.y, info.centre.y, 0.01);
            assert_at_most(later.max_speed, 0.2);
            lm_world_destroy(world);
        }
}

/* A soft car stands on four wheels: few points bear all of its weight, and share particles with many that bear nothing. They come to rest as
 * the car does, so that it sleeps. */
static void what_stands_on_wheels_sleeps(void **context)
{
    (void)context;
    lm_shape_mesh mesh;
    lm_shape_def car = lm_shape_def_default();
    car.name = "car";
    assert_ok(lm_shape_make_mesh(&car, &mesh));
    lm_world *world = make_sleepy(-9.81, LM_ISA_BEST, 2);
    assert_ok(lm_world_set_substeps(world, 4));
    add_floor(world);
    lm_body_def def = lm_body_def_default();
    def.lattice = (lm_lattice){.vertices = mesh.vertices,
                               .vertex_count = mesh.vertex_count,
                               .triangles = mesh.triangles,
                               .triangle_count = mesh.triangle_count,
                               .particles = 1000,
                               .width = 2};
    def.pose.position.y = 0.6;
    assert_true(lm_material_preset("jelly", &def.material, &def.density));
    lm_body_id body;
    assert_ok(lm_body_create(world, &def, &body));
    lm_shape_mesh_free(&mesh);
    assert_at_most(until_asleep(world, 1, 8.0), 6.0);
    lm_world_destroy(world);
}

/* A stack sleeps as one: not before its last has come to rest, and one of them wakes all, but not a stranger. */
static void islands_sleep_together(void **context)
{
    (void)context;
    lm_world *world = make_sleepy(-9.81, LM_ISA_BEST, 1);
    assert_ok(lm_world_set_contact_events(world, true));
    add_floor(world);
    lm_body_id stack[3], stranger = put(world, calm(LATTICE, 1), 5, 0.5, 0);
    for (int k = 0; k < 3; k++) stack[k] = put(world, calm(LATTICE, 1), 0, 0.5 + 1.001 * k, 0);
    until_asleep(world, 4, 5.0);
    assert_int_equal(asleep_in(world), 4);
    /* Who sleeps still touches what it touched. */
    steps(world, 3);
    lm_contact_event events[16];
    uint32_t count = lm_world_get_contact_events(world, events, 16);
    assert_int_equal(count, 4);
    for (uint32_t n = 0; n < count; n++) {
        assert_int_equal(events[n].phase, LM_CONTACT_PERSISTS);
        assert_near(events[n].pressed, 0.0, 0.0);
    }
    assert_ok(lm_body_wake(world, stack[2]));
    for (int k = 0; k < 3; k++) assert_true(lm_body_is_awake(world, stack[k]));
    assert_false(lm_body_is_awake(world, stranger));
    until_asleep(world, 4, 5.0);
    assert_int_equal(asleep_in(world), 4);
    /* One that may not sleep keeps those awake that it touches. */
    assert_ok(lm_body_set_may_sleep(world, stack[1], false));
    for (int k = 0; k < 3; k++) assert_true(lm_body_is_awake(world, stack[k]));
    steps(world, 120);
    for (int k = 0; k < 3; k++) assert_true(lm_body_is_awake(world, stack[k]));
    assert_false(lm_body_is_awake(world, stranger));
    assert_ok(lm_body_set_may_sleep(world, stack[1], true));
    until_asleep(world, 4, 5.0);
    assert_int_equal(asleep_in(world), 4);
    /* What stood on a body that is gone falls. */
    assert_ok(lm_body_destroy(world, stack[0]));
    assert_true(lm_body_is_awake(world, stack[1]) && lm_body_is_awake(world, stack[2]));
    steps(world, 30);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, stack[1], &info));
    assert_at_most(info.centre.y, 0.8);
    lm_world_destroy(world);
}

/* A body that is hit in its sleep takes what it is given: momentum is kept, and it moves on. */
static void a_hit_wakes_and_keeps_momentum(void **context)
{
    (void)context;
    for (sampling kind = 0; kind < SAMPLINGS; kind++) {
        lm_world *world = make_sleepy(0.0, LM_ISA_BEST, 1);
        lm_body_id still = put(world, calm(kind, 1), 0, 0, 0);
        until_asleep(world, 1, 1.0);
        assert_false(lm_body_is_awake(world, still));
        thing_def def = calm(kind, 1);
        def.shape = "sphere";
        def.velocity = (lm_vec3){4, 0.3f, 0};
        lm_body_id ball = put(world, def, -1.4, 0, 0.1);
        lm_totals before, after;
        lm_world_get_totals(world, &before);
        bool woke = false;
        for (int k = 0; k < 30; k++) {
            steps(world, 1);
            woke = woke || lm_body_is_awake(world, still);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, still, &info));
            assert_true(woke || info.max_speed == 0.0f); /* not before it is hit */
        }
        assert_true(woke);
        lm_world_get_totals(world, &after);
        lm_body_info hit;
        assert_ok(lm_body_get_info(world, still, &hit));
        assert_true(hit.velocity.x > 1.0f);
        double off = ref_length(ref_v(after.momentum.x - before.momentum.x, after.momentum.y - before.momentum.y,
                                      after.momentum.z - before.momentum.z));
        assert_at_most(off / before.momentum_scale, 1e-4);
        assert_true(lm_body_is_awake(world, ball));
        lm_world_destroy(world);
    }
}

/* --- what wakes --- */

typedef struct nap {
    lm_world *world;
    lm_body_id body;
    lm_collider_id floor;
    lm_mover_id mover;
} nap;

static void wake_force(nap *n) { assert_ok(lm_body_add_force(n->world, n->body, (lm_vec3){0, 1, 0})); }
static void wake_particle_force(nap *n)
{
    assert_ok(lm_body_add_particle_force(n->world, n->body, 0, (lm_vec3){0, 1, 0}));
}
static void wake_impulse(nap *n)
{
    assert_ok(lm_body_add_impulse(n->world, n->body, (lm_vec3){0, 1, 0}, lm_dvec3_zero()));
}
static void wake_particle_impulse(nap *n)
{
    assert_ok(lm_body_add_particle_impulse(n->world, n->body, 0, (lm_vec3){0, 1, 0}));
}
static void wake_gravity(nap *n) { assert_ok(lm_world_set_gravity(n->world, (lm_vec3){1, -9, 0})); }
static void wake_field(nap *n)
{
    lm_field_def def = lm_field_def_default();
    lm_field_id field;
    def.kind = LM_FIELD_WIND;
    assert_ok(lm_field_create(n->world, &def, &field));
}
static void wake_pin(nap *n)
{
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    uint32_t particle = 0;
    def.body = n->body;
    def.particles = &particle;
    def.particle_count = 1;
    assert_ok(lm_pin_create(n->world, &def, &pin));
}
static void wake_drag(nap *n)
{
    lm_drag_def def = lm_drag_def_default();
    lm_drag_id drag;
    def.body = n->body;
    assert_ok(lm_drag_create(n->world, &def, &drag));
}
static void wake_material(nap *n)
{
    lm_material material;
    assert_ok(lm_body_get_material(n->world, n->body, &material));
    material.mode = LM_MODE_RIGID;
    assert_ok(lm_body_set_material(n->world, n->body, &material));
}
static void wake_stiffness(nap *n)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(n->world, n->body, &info));
    float *shares = calloc(info.regions, sizeof *shares);
    for (uint32_t k = 0; k < info.regions; k++) shares[k] = 0.5f;
    assert_ok(lm_body_set_region_stiffness(n->world, n->body, shares));
    free(shares);
}
static void wake_plastic(nap *n) { assert_ok(lm_body_reset_plastic(n->world, n->body)); }
static void wake_state(nap *n)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(n->world, n->body, &info));
    lm_vec3 *positions = malloc(info.particles * sizeof *positions);
    assert_ok(lm_body_get_positions(n->world, n->body, info.centre, positions));
    assert_ok(lm_body_set_state(n->world, n->body, info.centre, positions, NULL));
    free(positions);
}
static void wake_floor(nap *n) { assert_ok(lm_collider_destroy(n->world, n->floor)); }
static void wake_new_collider(nap *n)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id collider;
    def.shape = LM_SHAPE_SPHERE;
    def.radius = 0.2f;
    assert_ok(lm_collider_create(n->world, &def, &collider));
}
static void wake_rule(nap *n) { assert_ok(lm_world_set_contact_rule(n->world, 1, 1, 0.1f, 0.1f)); }
static void wake_off(nap *n)
{
    lm_sleep sleep = lm_sleep_default();
    assert_ok(lm_world_set_sleep(n->world, &sleep));
}
static void wake_examples(nap *n)
{
    lm_body_info info;
    lm_vec3 poses[4096];
    assert_ok(lm_body_get_info(n->world, n->body, &info));
    assert_true(info.particles <= 4096);
    assert_ok(lm_body_get_rest_positions(n->world, n->body, poses));
    for (uint32_t k = 0; k < info.particles; k++) poses[k].x += 0.3f * poses[k].y;
    lm_examples_def def = lm_examples_def_default();
    def.poses = poses;
    def.count = 1;
    def.particles = info.particles;
    assert_ok(lm_body_set_examples(n->world, n->body, &def));
}
static void wake_forbid(nap *n) { assert_ok(lm_body_set_may_sleep(n->world, n->body, false)); }
static void wake_mover(nap *n)
{
    assert_ok(lm_mover_set_velocity(n->world, n->mover, (lm_vec3){0.1f, 0, 0}, (lm_vec3){0, 0, 0}));
    steps(n->world, 1);
}
static void wake_mover_target(nap *n)
{
    lm_pose pose = lm_pose_identity();
    pose.rotation = quaternion(ref_v(0, 0.01, 0));
    assert_ok(lm_mover_move_to(n->world, n->mover, pose));
    steps(n->world, 1);
}

static void edits_wake(void **context)
{
    (void)context;
    void (*const edits[])(nap *) = {wake_force,    wake_particle_force, wake_impulse,      wake_particle_impulse,
                                    wake_gravity,  wake_field,          wake_pin,          wake_drag,
                                    wake_material, wake_stiffness,      wake_plastic,      wake_state,
                                    wake_floor,    wake_new_collider,   wake_rule,         wake_off,
                                    wake_forbid,   wake_mover,          wake_mover_target, wake_examples};
    for (int kind = CLUSTERS; kind <= LATTICE; kind += 2)
        for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
            nap n = {.world = make_sleepy(-9.81, LM_ISA_BEST, 1)};
            lm_mover_def mover = lm_mover_def_default();
            assert_ok(lm_mover_create(n.world, &mover, &n.mover));
            lm_collider_def def = lm_collider_def_default();
            def.mover = n.mover; /* which stands still */
            assert_ok(lm_collider_create(n.world, &def, &n.floor));
            n.body = put(n.world, calm((sampling)kind, 0), 0, 0.5, 0);
            until_asleep(n.world, 1, 5.0);
            assert_false(lm_body_is_awake(n.world, n.body));
            edits[k](&n);
            if (!lm_body_is_awake(n.world, n.body)) fail_msg("edit %zu did not wake it", k);
            steps(n.world, 3); /* in a batch again, whatever was done to it */
            lm_totals totals;
            lm_world_get_totals(n.world, &totals);
            assert_true(totals.finite);
            lm_world_destroy(n.world);
        }
}

/* Things far away, or of another group, wake nobody; a moving one that comes does, before it is there. */
static void only_what_is_near_wakes(void **context)
{
    (void)context;
    lm_world *world = make_sleepy(-9.81, LM_ISA_BEST, 1);
    add_floor(world);
    lm_body_id body = put(world, calm(LATTICE, 0), 0, 0.5, 0);
    lm_mover_def mover_def = lm_mover_def_default();
    lm_mover_id mover;
    lm_collider_id collider;
    mover_def.pose.position = (lm_dvec3){5, 0.5, 0};
    mover_def.velocity = (lm_vec3){-1, 0, 0};
    assert_ok(lm_mover_create(world, &mover_def, &mover));
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_SPHERE;
    def.mover = mover;
    def.radius = 0.5f;
    assert_ok(lm_collider_create(world, &def, &collider));
    def.group = 2; /* a ghost that spins in its midst */
    def.mask = 2;
    def.mover = (lm_mover_id){0, 0};
    assert_ok(lm_collider_create(world, &def, &collider));
    until_asleep(world, 1, 2.0);
    assert_false(lm_body_is_awake(world, body));
    while (!lm_body_is_awake(world, body) && lm_world_get_time(world) < 6.0) steps(world, 1);
    assert_near(lm_world_get_time(world), 3.7, 0.4); /* 5 m less both halves, at 1 m/s, and a margin early */
    steps(world, 60);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_at_most(info.centre.x, -0.4);
    lm_world_destroy(world);
}

/* --- the same everywhere --- */

static lm_world *make_heap(lm_isa isa, uint32_t workers)
{
    lm_world *world = make_sleepy(-9.81, isa, workers);
    lm_sleep sleep = {true, 0.15f, 0.1f}; /* early, so that bodies sleep and are woken again and again */
    assert_ok(lm_world_set_sleep(world, &sleep));
    add_floor(world);
    for (int k = 0; k < 10; k++) {
        thing_def def = calm((sampling)(k % SAMPLINGS), k % 5 != 4);
        def.shape = k & 1 ? "sphere" : "box";
        def.size = (lm_vec3){0.6f, 0.6f, 0.6f};
        put(world, def, 0.5 * (k % 4) - 0.8, 0.31 + 0.75 * (k / 2), 0.4 * (k % 3));
    }
    return world;
}

/* Bodies come to rest, are hit by those that fall later, and sleep: the same over widths, workers and a snapshot. */
static void the_same_everywhere(void **context)
{
    (void)context;
    uint64_t half = 0, hash = 0;
    void *bytes = NULL;
    size_t size = 0;
    uint32_t naps = 0, most = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        lm_world *world = make_heap((lm_isa)isa, 1 + (uint32_t)isa % 3);
        uint32_t last = 0;
        for (int k = 0; k < 90; k++) {
            steps(world, 1);
            naps += asleep_in(world) < last; /* somebody woke */
            last = asleep_in(world);
            most = last > most ? last : most;
        }
        uint64_t now = lm_world_hash(world);
        if (!bytes) {
            half = now;
            size = lm_world_save_size(world);
            bytes = malloc(size);
            assert_ok(lm_world_save(world, bytes, size));
        }
        assert_true(now == half);
        steps(world, 90);
        now = lm_world_hash(world);
        hash = hash ? hash : now;
        assert_true(now == hash);
        lm_world_destroy(world);
    }
    assert_true(naps > 0 && most > 1);
    lm_world *loaded = make_world_with(0.0, LM_ISA_BEST, 3);
    assert_ok(lm_world_load(loaded, bytes, size));
    assert_true(lm_world_get_sleep(loaded).enabled);
    assert_true(lm_world_hash(loaded) == half);
    steps(loaded, 90);
    assert_true(lm_world_hash(loaded) == hash);
    lm_world_destroy(loaded);
    free(bytes);
}

/* --- without memory --- */

typedef struct miser {
    int refuse; /* 1: the next request is refused; 0: none */
} miser;

static void *miser_allocate(size_t size, size_t alignment, void *user)
{
    miser *m = user;
    if (m->refuse > 0 && --m->refuse == 0) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void miser_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* A step; every request for memory in it is refused once. Returns how many were. */
static int starved_step(lm_world *world, miser *m)
{
    for (int refuse = 1;; refuse++) {
        uint64_t before = lm_world_hash(world);
        m->refuse = refuse;
        lm_result result = lm_world_step(world, FRAME);
        if (result == LM_OK) {
            m->refuse = 0;
            return refuse - 1;
        }
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_true(lm_world_hash(world) == before);
    }
}

/* Two boxes fall asleep and are woken. */
static uint64_t nap_with(lm_contact_method method, bool starve, int *failures)
{
    miser m = {0};
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){miser_allocate, miser_release, &m};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    assert_ok(lm_world_set_sleep(world, &sleep));
    assert_ok(lm_world_set_contact_method(world, method));
    add_floor(world);
    lm_body_id body = put(world, calm(SKINNED, 1), 0, 0.5, 0);
    put(world, calm(LATTICE, 1), 0, 1.5, 0);
    for (int k = 0; k < 240; k++) {
        if (k == 180) assert_ok(lm_body_wake(world, body));
        if (starve)
            *failures += starved_step(world, &m);
        else
            assert_ok(lm_world_step(world, FRAME));
        assert_true(method != LM_CONTACT_METHOD_SOLVED || k != 179 || asleep_in(world) == 2);
    }
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

/* Falling asleep, waking and cube maps take memory in the step after; without it the step fails, and later goes on as if
 * nothing had happened. */
static void without_memory_nothing_is_lost(void **context)
{
    (void)context;
    int failures = 0;
    assert_true(nap_with(LM_CONTACT_METHOD_SOLVED, false, &failures) ==
                nap_with(LM_CONTACT_METHOD_SOLVED, true, &failures));
    assert_true(failures > 10);
    assert_true(nap_with(LM_CONTACT_METHOD_CUBE_MAP, false, &failures) ==
                nap_with(LM_CONTACT_METHOD_CUBE_MAP, true, &failures));
}

static void bad_settings_are_refused(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    const lm_sleep bad[] = {{true, 0.0f, 1.0f},  {true, -1.0f, 1.0f}, {true, NAN, 1.0f}, {true, INFINITY, 1.0f},
                            {true, 0.1f, -1.0f}, {true, 0.1f, NAN},   {true, 0.1f, 2e6f}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_result(lm_world_set_sleep(world, &bad[k]), LM_ERROR_ARGUMENT);
    assert_false(lm_world_get_sleep(world).enabled);
    lm_body_id none = {0, 0};
    assert_false(lm_body_is_awake(world, none));
    assert_result(lm_body_wake(world, none), LM_ERROR_ID);
    assert_result(lm_body_set_may_sleep(world, none, false), LM_ERROR_ID);
    lm_world_destroy(world);
}

/* With the argument "threads" only what runs with several workers. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resting_bodies_sleep),
        cmocka_unit_test(islands_sleep_together),
        cmocka_unit_test(what_stands_on_wheels_sleeps),
        cmocka_unit_test(a_hit_wakes_and_keeps_momentum),
        cmocka_unit_test(edits_wake),
        cmocka_unit_test(only_what_is_near_wakes),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(without_memory_nothing_is_lost),
        cmocka_unit_test(bad_settings_are_refused),
    };
    if (argc > 1 && strcmp(argv[1], "threads") == 0) cmocka_set_test_filter("the_same_everywhere");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
