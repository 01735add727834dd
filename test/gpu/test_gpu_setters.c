/*
 * What is set while a device steps the world: after each change a step there agrees with one on the CPU, and so does what is read.
 */
#include "test/gpu/device.h"
#include "test/support/things.h"

#define BODIES 4
static const int kinds[BODIES] = {CLUSTERS, LATTICE, OCTREE, TETS};

typedef struct setting {
    lm_body_id body[BODIES];
    lm_collider_id ground, ball;
    lm_mover_id mover;
    lm_pin_id pin;
    lm_drag_id drag;
    lm_skeleton_id skeleton;
} setting;

static setting fill(lm_world *world)
{
    setting s;
    lm_collider_def def = lm_collider_def_default();
    assert_ok(lm_collider_create(world, &def, &s.ground));
    lm_mover_def mover = lm_mover_def_default();
    mover.pose.position.y = 0.3;
    assert_ok(lm_mover_create(world, &mover, &s.mover));
    def.shape = LM_SHAPE_SPHERE;
    def.radius = 0.2f;
    def.mover = s.mover;
    assert_ok(lm_collider_create(world, &def, &s.ball));
    for (int n = 0; n < BODIES; n++) {
        thing_def thing = thing_default((sampling)kinds[n]);
        thing.pose.position = (lm_dvec3){2.0 * n, 0.6, 0.0};
        s.body[n] = thing_make(world, &thing);
    }
    const uint32_t held = 1;
    lm_pin_def pin = lm_pin_def_default();
    pin.body = s.body[3], pin.particles = &held, pin.particle_count = 1, pin.mover = s.mover;
    assert_ok(lm_pin_create(world, &pin, &s.pin));
    lm_drag_def drag = lm_drag_def_default();
    drag.body = s.body[1], drag.target = (lm_dvec3){2.0, 1.5, 0.0};
    assert_ok(lm_drag_create(world, &drag, &s.drag));
    lm_bone bone = lm_bone_default();
    lm_attachment attach = {0, 0, 0.5f};
    lm_skeleton_def skeleton = lm_skeleton_def_default();
    skeleton.body = s.body[1], skeleton.bones = &bone, skeleton.bone_count = 1;
    skeleton.attachments = &attach, skeleton.attachment_count = 1;
    skeleton.pose.position = (lm_dvec3){2.0, 0.6, 0.0};
    assert_ok(lm_skeleton_create(world, &skeleton, &s.skeleton));
    return s;
}

/* The n-th change; null: there are no more. */
static const char *change(lm_world *world, const setting *s, int n)
{
    lm_body_id body = s->body[n % BODIES], copy;
    lm_drag_def drag;
    lm_dvec3 target = {6.2, 0.9, 0.1};
    lm_pose pose = {{2.0 * (n % BODIES), 1.0, 0.3}, {0.1f, 0.2f, 0.0f, 1.0f}};
    switch (n / BODIES) {
    case 0: return assert_ok(lm_body_set_mass(world, body, 5.0f)), "mass";
    case 1: return assert_ok(lm_body_set_pose(world, body, pose, true)), "pose, kept";
    case 2: return assert_ok(lm_body_set_velocity(world, body, (lm_vec3){1, 2, 0}, (lm_vec3){0, 1, 0})), "velocity";
    case 3: return assert_ok(lm_body_set_pose(world, body, pose, false)), "pose, cleared";
    case 4: return assert_ok(lm_body_set_contact_radius(world, body, 0.05f)), "contact radius";
    case 5: return assert_ok(lm_body_set_filter(world, body, &(lm_body_filter){2, 0, 0, false})), "filter";
    case 6: return assert_ok(lm_body_set_filter(world, body, &(lm_body_filter){1, 0, 1, false})), "filter back";
    case 7: return assert_ok(lm_body_set_enabled(world, body, false)), "disabled";
    case 8: return assert_ok(lm_body_set_enabled(world, body, true)), "enabled";
    case 9: return assert_ok(lm_body_clone(world, body, &copy)), "clone";
    default: break;
    }
    switch (n - 10 * BODIES) {
    case 0: return assert_ok(lm_collider_set_friction(world, s->ground, 0.1f, 0.0f)), "friction";
    case 1: return assert_ok(lm_collider_set_pose(world, s->ground, (lm_pose){{0, 0.1, 0}, {0, 0, 0, 1}})), "ground";
    case 2: return assert_ok(lm_collider_set_enabled(world, s->ground, false)), "no ground";
    case 3: return assert_ok(lm_collider_set_enabled(world, s->ground, true)), "ground again";
    case 4: return assert_ok(lm_collider_set_filter(world, s->ground, 1, 4)), "ground for nobody";
    case 5: return assert_ok(lm_mover_set_pose(world, s->mover, (lm_pose){{0.3, 0.6, 0}, {0, 0, 0, 1}})), "mover";
    case 6: return assert_ok(lm_pin_set_targets(world, s->pin, &target)), "pin";
    case 7:
        assert_ok(lm_drag_get_def(world, s->drag, &drag));
        drag.hertz = 5.0f, drag.radius = 0.4f, drag.particle = 3;
        return assert_ok(lm_drag_set_def(world, s->drag, &drag)), "drag";
    case 8: return assert_ok(lm_skeleton_set_spring(world, s->skeleton, 30.0f, 1.0f)), "spring of a skeleton";
    default: return NULL;
    }
}

static void changes_reach_the_device(void **context)
{
    (void)context;
    if (!has_device()) return;
    lines log = {0}, quiet = {0};
    lm_world *gpu = world_on("gpu", 2, &log), *cpu = world_on(NULL, 2, &quiet);
    setting s = fill(gpu);
    const char *name = "";
    for (int n = 0; name; n++) {
        steps(gpu, 2); /* the device has the state */
        copy_world(cpu, gpu);
        name = change(gpu, &s, n);
        change(cpu, &s, n);
        assert_ok(lm_world_step(gpu, FRAME));
        assert_ok(lm_world_step(cpu, FRAME));
        for (int b = 0; name && b < BODIES; b++) {
            lm_pose there, here;
            assert_ok(lm_body_get_pose(gpu, s.body[b], &there)); /* before all of the state has come back */
            assert_ok(lm_body_get_pose(cpu, s.body[b], &here));
            lm_socket socket;
            lm_socket_state seen, expected;
            assert_ok(lm_socket_make(gpu, s.body[b], (lm_pose){{0.5, 0.5, 0.5}, {0, 0, 0, 1}}, &socket));
            assert_ok(lm_socket_read(gpu, s.body[b], &socket, &seen));
            assert_ok(lm_socket_read(cpu, s.body[b], &socket, &expected));
            assert_near(there.position.y, here.position.y, 2e-4);
            assert_near(there.rotation.x, here.rotation.x, 2e-4);
            assert_near(seen.pose.position.y, expected.pose.position.y, 2e-4);
            assert_near(seen.velocity.y, expected.velocity.y, 2e-2);
            double off = difference(gpu, cpu, s.body[b]);
            if (off > 4.0 * AGREEMENT) fail_msg("%s: body %d is off by %g", name, b, off);
        }
    }
    lm_world_destroy(gpu);
    lm_world_destroy(cpu);
}

/* State that was brought back goes to the device: what it does from there is what it did. */
static void state_reaches_the_device(void **context)
{
    (void)context;
    if (!has_device()) return;
    lines log = {0};
    lm_world *gpu = world_on("gpu", 2, &log);
    fill(gpu);
    size_t capacity = lm_world_state_size(gpu) + 65536, size;
    void *state = malloc(capacity);
    for (int n = 0; n < 6; n++) {
        steps(gpu, 3);
        assert_ok(lm_world_save_state(gpu, state, capacity, &size));
        uint64_t before = lm_world_hash(gpu);
        assert_ok(lm_world_load_state(gpu, state, size)); /* both times from the same beginning */
        steps(gpu, 4);
        uint64_t first = lm_world_hash(gpu);
        assert_ok(lm_world_load_state(gpu, state, size));
        assert_true(lm_world_hash(gpu) == before);
        steps(gpu, 4);
        assert_true(lm_world_hash(gpu) == first);
    }
    free(state);
    lm_world_destroy(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_reach_the_device),
                                       cmocka_unit_test(state_reaches_the_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
