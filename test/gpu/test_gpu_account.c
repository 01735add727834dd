/*
 * Who touches whom on an OpenCL device: contact events of bodies that meet each other and colliders agree with the CPU's, and bodies that
 * lie on each other fall asleep and wake when those of the CPU do, while the device does their contacts.
 */
#include "gpu/account.h"
#include "test/gpu/device.h"
#include "test/gpu/ground.h"
#include "test/support/boxes.h"

#define BODIES 12

typedef enum kind { CLUSTERS, LATTICES, OCTREES, MIXED } kind;

/* A body, and where its middle is. */
static void set_def(lm_body_def *def, lm_dvec3 at, lm_vec3 velocity)
{
    def->material.hertz = 16.0f;
    def->material.damping_ratio = 0.3f;
    def->material.restitution = 0.2f;
    def->material.friction = 0.6f;
    def->mask = def->group = 1;
    def->penalty = 20.0f;
    def->pose.position = at;
    def->velocity = velocity;
}

static lm_body_id add_block(lm_world *world, kind of, lm_dvec3 at, lm_vec3 velocity)
{
    lm_body_id id;
    if (of == CLUSTERS) {
        random_state random = {5};
        sample s = sample_make(SAMPLE_BOX, &random);
        set_def(&s.def, at, velocity);
        id = make_body(world, &s.def);
        sample_free(&s);
        return id;
    }
    uint8_t filled[4 * 4 * 4];
    boxes b = {0};
    memset(filled, 1, sizeof filled);
    boxes_add(&b, (lm_vec3){-0.4f, -0.4f, -0.4f}, (lm_vec3){0.4f, 0.4f, 0.4f});
    lm_body_def def = of == OCTREES ? boxes_octree(&b, 0.1f, 2, 0.2f) : lm_body_def_default();
    if (of == LATTICES) {
        def.lattice.cells = filled;
        def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 4;
        def.lattice.spacing = 0.2f;
        def.lattice.width = 1;
        at = (lm_dvec3){at.x - 0.4, at.y - 0.4, at.z - 0.4};
    }
    def.mass = 2.0f;
    set_def(&def, at, velocity);
    assert_ok(lm_body_create(world, &def, &id));
    return id;
}

static void lay_floor(lm_world *world)
{
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.shape = LM_SHAPE_PLANE;
    floor.pose.position = (lm_dvec3){0.0, -0.5, 0.0};
    assert_ok(lm_collider_create(world, &floor, &id));
    lm_collider_def ball = lm_collider_def_default();
    ball.shape = LM_SHAPE_SPHERE;
    ball.radius = 0.5f;
    ball.pose.position = (lm_dvec3){-0.6, -0.2, 0.1};
    assert_ok(lm_collider_create(world, &ball, &id));
}

/* Hills, after more colliders than a word has bits. */
static void lay_hills(lm_world *world)
{
    for (int n = 0; n < 70; n++) {
        lm_collider_def ball = lm_collider_def_default();
        lm_collider_id id;
        ball.shape = LM_SHAPE_SPHERE;
        ball.radius = 0.4f;
        ball.pose.position = (lm_dvec3){n < 68 ? 40.0 + n : n - 68.5, -0.6, 0.3};
        assert_ok(lm_collider_create(world, &ball, &id));
    }
    add_ground(world, GROUND_HEIGHTS, 0.5, 3.0f, (lm_mover_id){0, 0});
}

/* Rows of blocks, two high, that come down on each other and on what lies below. */
static void fill(lm_world *world, kind of, double apart, lm_body_id ids[BODIES])
{
    random_state random = {3};
    for (uint32_t n = 0; n < BODIES; n++) {
        ref_vec off = random_in_cube(&random, 0.05), v = random_in_cube(&random, 0.3);
        lm_dvec3 at = {apart * (n % 3) + off.x, apart * (n / 6) + 0.1, apart * (n / 3 % 2) + off.z};
        ids[n] = add_block(world, of == MIXED ? (kind)(n % 3) : of, at,
                           (lm_vec3){(float)v.x, (float)(v.y - 0.5), (float)v.z});
    }
}

/* From several states on the way two steps of the device tell of the same as those of the host. */
static void events_agree_for(kind of, lm_contact_method method, bool stiff, bool rough, double tolerance)
{
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[BODIES];
    uint32_t pairs = 0, walls = 0;
    double worst = 0.0;
    device->gpu->limits.levels = 10000; /* fast bodies are the device's as well, however many hang together */
    assert_ok(lm_world_set_contact_events(host, true));
    assert_ok(lm_world_set_contact_method(host, method));
    /* What is deep inside of balls has no one way out. */
    fill(host, of, method == LM_CONTACT_METHOD_SOLVED ? 0.79 : of == MIXED ? 0.5 : 0.37, ids);
    for (int n = 0; stiff && n < BODIES; n++) {
        lm_material material = lm_material_default();
        material.stiffness = LM_STIFFNESS_ALPHA;
        material.alpha = n % 2 ? 0.97f : 1.0f;
        material.damping = n % 2 ? 60.0f : 240.0f;
        assert_ok(lm_body_set_material(host, ids[n], &material));
    }
    if (method == LM_CONTACT_METHOD_SOLVED || of == MIXED)
        (rough ? lay_hills : lay_floor)(host);
    else
        assert_ok(lm_world_set_gravity(host, (lm_vec3){0.0f, -0.3f, 0.0f})); /* else they would be fast soon */
    for (int snapshot = 0; snapshot < 6; snapshot++) {
        copy_world(device, host);
        for (int step = 0; step < 2; step++) {
            assert_ok(lm_world_step(device, FRAME));
            assert_true(lmi_gpu_goes_on(device, FRAME / 2)); /* all of it was the device's */
            assert_ok(lm_world_step(host, FRAME));
            worst = fmax(worst, compare_events(host, device, &pairs, &walls));
        }
        for (int n = 0; n < 4; n++) assert_ok(lm_world_step(host, FRAME));
    }
    if (worst > tolerance || log.count || getenv("LIMBER_TEST_VERBOSE"))
        print_message("kind %d: worst %g, %u pairs, %u walls\n%s", of, worst, pairs, walls, log.all);
    assert_int_equal(log.count, 0);
    assert_true(pairs > 4);
    assert_true(walls > 8 || method != LM_CONTACT_METHOD_SOLVED);
    assert_at_most(worst, tolerance);
    lm_world_destroy(host);
    lm_world_destroy(device);
}

static void events_of_cube_maps_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    events_agree_for(CLUSTERS, LM_CONTACT_METHOD_CUBE_MAP, false, false, 1e-3);
    events_agree_for(MIXED, LM_CONTACT_METHOD_CUBE_MAP, false, false, 1e-3); /* among colliders, and with lattices */
    events_agree_for(MIXED, LM_CONTACT_METHOD_PENALTY, false, false, 1e-3);
}

static void events_of_solved_contacts_agree(void **state)
{
    (void)state;
    if (!has_device()) skip();
    for (kind of = CLUSTERS; of <= MIXED; of++) events_agree_for(of, LM_CONTACT_METHOD_SOLVED, false, false, 2e-4);
    events_agree_for(MIXED, LM_CONTACT_METHOD_SOLVED, true, false, 2e-3); /* one contact after the other */
    events_agree_for(MIXED, LM_CONTACT_METHOD_SOLVED, false, true, 2e-4);
}

/* Who sleeps, as bits. */
static uint32_t sleepers(lm_world *world, const lm_body_id *ids, uint32_t count)
{
    uint32_t bits = 0;
    for (uint32_t n = 0; n < count; n++) bits |= (uint32_t)!lm_body_is_awake(world, ids[n]) << n;
    return bits;
}

static void let_sleep(lm_world *world)
{
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.speed = 0.3f;
    sleep.seconds = 0.15f;
    assert_ok(lm_world_set_sleep(world, &sleep));
}

/* Two piles, of two blocks each, and one block by itself, which lies still from the beginning. The blocks of a pile come to rest one
 * after the other, and sleep together. Each step of the device begins with the state of the host, so that one step decides. */
static void piles_sleep_as_on_the_cpu(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0}, quiet = {0};
    lm_world *host = world_on(NULL, 2, &quiet), *device = world_on("gpu", 2, &log);
    lm_body_id ids[6];
    const lm_vec3 still = {0.0f, 0.0f, 0.0f};
    lm_material material = lm_material_default();
    material.hertz = 10.0f;
    material.damping_ratio = 0.5f;
    let_sleep(host);
    lay_floor(host);
    for (uint32_t n = 0; n < 4; n++)
        ids[n] = add_block(host, OCTREES, (lm_dvec3){2.0 + 3.0 * (n / 2), -0.09 + 0.82 * (n % 2), 0.0}, still);
    ids[4] = add_block(host, LATTICES, (lm_dvec3){10.0, -0.1, 0.0}, still);
    for (uint32_t n = 0; n < 5; n++) assert_ok(lm_body_set_material(host, ids[n], &material));
    uint32_t both = 0, alone = 0, steps = 0, asleep = 0;
    device->gpu->limits.levels = 10000;
    for (; steps < 240 && asleep != 31; steps++) {
        copy_world(device, host);
        assert_ok(lm_world_step(device, FRAME));
        alone += device->gpu->holds || asleep == 31;
        assert_ok(lm_world_step(host, FRAME));
        asleep = sleepers(host, ids, 5);
        assert_int_equal(sleepers(device, ids, 5), asleep);
        assert_int_equal(asleep & 1, asleep >> 1 & 1);
        assert_int_equal(asleep >> 2 & 1, asleep >> 3 & 1);
        both += asleep != 0 && asleep != 31;
    }
    if (getenv("LIMBER_TEST_VERBOSE"))
        print_message("%u steps, %u of the device, %u with sleepers\n", steps, alone, both);
    assert_true(asleep == 31 && both > 3);
    assert_true(alone + 6 > steps);
    assert_int_equal(log.count, 0);

    /* One that comes down on a pile wakes all of it, and nobody else; the CPU does what is near sleepers. */
    ids[5] = add_block(host, LATTICES, (lm_dvec3){2.1, 1.7, 0.1}, (lm_vec3){0.0f, -2.0f, 0.0f});
    copy_world(device, host);
    uint32_t woken = 0;
    for (int n = 0; n < 40; n++) {
        assert_ok(lm_world_step(device, FRAME));
        assert_ok(lm_world_step(host, FRAME));
        asleep = sleepers(host, ids, 6);
        assert_int_equal(sleepers(device, ids, 6), asleep);
        woken = woken ? woken : (asleep & 31) != 31 ? asleep : 0;
    }
    assert_int_equal(woken, 28);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "come near sleeping ones"));
    lm_world_destroy(host);
    lm_world_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_of_solved_contacts_agree),
                                       cmocka_unit_test(events_of_cube_maps_agree),
                                       cmocka_unit_test(piles_sleep_as_on_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
