/*
 * Worlds of snapshots.h with joints, with crates (movers with mass), and with a lattice that blades have cut along themselves.
 */
#include "test/support/snapshot_parts.h"

#include "skin/slit.h"
#include "world/world.h"

#include <math.h>

static lm_joint_id join(lm_world *world, lm_joint_kind kind, lm_body_id body, lm_joint_end other)
{
    lm_joint_def def = lm_joint_def_default();
    lm_joint_id joint;
    lm_body_info info;
    def.kind = kind;
    if (body.slot) {
        check(lm_body_get_info(world, body, &info));
        def.b.body = body;
        def.b.anchor = info.centre;
    }
    def.a = other;
    def.axis = (lm_vec3){1, 1, 0};
    check(lm_joint_create(world, &def, &joint));
    return joint;
}

static lm_mover_id add_crate(lm_world *world, lm_dvec3 at)
{
    lm_mover_def def = lm_mover_def_default();
    lm_collider_def box = lm_collider_def_default();
    lm_mover_id mover;
    lm_collider_id id;
    def.pose.position = at;
    def.mass = 2.0f;
    check(lm_mover_create(world, &def, &mover));
    box.shape = LM_SHAPE_BOX;
    box.mover = mover;
    box.half_extents = (lm_vec3){0.5f, 0.5f, 0.5f};
    check(lm_collider_create(world, &box, &id));
    return mover;
}

/* Joints of every kind, on bodies of four samplings, crates, a mover, a bone and the world; one is a spring, one has broken. Patches
 * overlap: joints are swept. */
void snapshot_make_joints(lm_world *world)
{
    lm_body_def cloud_body = cloud_def(LM_MODE_LINEAR, 0.0f), lattice = bar_def(), tets = tets_def();
    lm_body_def octree = octree_def(1);
    static const uint32_t corner[] = {0, 1, 2, 3};
    add_floor(world);
    lattice.pose.position = (lm_dvec3){1.5, 0.6, 0.0};
    tets.pose.position = (lm_dvec3){3.0, 0.6, 0.0};
    octree.pose.position = (lm_dvec3){4.5, 0.6, 0.0};
    lm_body_id a = make(world, &cloud_body), b = make(world, &lattice), c = make(world, &tets);
    lm_body_id d = make(world, &octree);
    lm_mover_id told = {0, 0}, crate = add_crate(world, (lm_dvec3){1.5, 0.5, 2.0});
    lm_mover_id other = add_crate(world, (lm_dvec3){1.5, 1.5, 2.0});
    lm_mover_def def = lm_mover_def_default();
    def.velocity.y = 0.1f;
    check(lm_mover_create(world, &def, &told));
    add_skeleton(world, a);
    lm_skeleton_id bones;
    check(lm_body_get_skeleton(world, a, &bones));
    lm_joint_id spring = join(world, LM_JOINT_GLUE, b, (lm_joint_end){.body = c, .anchor = {2.6, 0.8, 0.2}});
    check(lm_joint_set_spring(world, spring, 5.0f, 0.5f));
    join(world, LM_JOINT_BALL, b, (lm_joint_end){.mover = crate, .anchor = {1.5, 0.6, 1.4}});
    join(world, LM_JOINT_HINGE, c, (lm_joint_end){.skeleton = bones, .bone = 1, .anchor = {1.5, 0.5, 0.5}});
    check(lm_skeleton_set_mover(world, bones, 0, other)); /* crates carry particles */
    lm_pin_def held = lm_pin_def_default();
    lm_pin_id pin;
    held.body = c;
    held.particles = corner;
    held.particle_count = 2;
    held.mover = crate;
    check(lm_pin_create(world, &held, &pin));
    join(world, LM_JOINT_DISTANCE, d, (lm_joint_end){.anchor = {4.5, 3.0, 0.0}});
    join(world, LM_JOINT_SLIDER, d, (lm_joint_end){.mover = told});
    join(world, LM_JOINT_HINGE, (lm_body_id){0, 0}, (lm_joint_end){.mover = other});
    lm_joint_id weak = join(
        world, LM_JOINT_GLUE, b,
        (lm_joint_end){.body = d, .anchor = {3.0, 1.0, 0.0}, .particles = corner, .particle_count = COUNT_OF(corner)});
    check(lm_joint_set_strength(world, weak, 1e-6f, 1e-6f));
    step(world, 3);
    lm_joint_info info;
    check(lm_joint_get_info(world, weak, &info));
    if (!info.broken) {
        fprintf(stderr, "snapshots.c: a joint that should break holds\n");
        exit(1);
    }
}

/* A chain of bodies that are held as a whole, which is solved directly; crates that touch, and lean on it; all of it nearly asleep. */
void snapshot_make_chain(lm_world *world)
{
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.seconds = 0.5f;
    check(lm_world_set_sleep(world, &sleep));
    add_floor(world);
    lm_joint_end hook = {.anchor = {0.5, 4.0, 0.5}, .radius = INFINITY};
    for (int n = 0; n < 3; n++) {
        lm_body_def def = box_def();
        def.mask = 1;
        def.pose.position.y = 2.8 - 1.4 * n;
        lm_body_id link = make(world, &def);
        hook.anchor.y = def.pose.position.y + 1.2;
        lm_joint_def joint = lm_joint_def_default();
        lm_joint_id id;
        joint.kind = n % 2 ? LM_JOINT_BALL : LM_JOINT_HINGE;
        joint.a = hook;
        joint.b = (lm_joint_end){.body = link, .anchor = hook.anchor, .radius = INFINITY};
        check(lm_joint_create(world, &joint, &id));
        hook.body = link;
    }
    add_crate(world, (lm_dvec3){1.5, 0.5, 0.5});
    add_crate(world, (lm_dvec3){1.6, 1.49, 0.5});
    step(world, 6);
}

/* Two blades that meet in a lattice, of which one ends inside: its skin is clipped along both, and nothing broke before. */
void snapshot_make_slit(lm_world *world)
{
    lm_body_def def = bar_def();
    def.material.mode = LM_MODE_LINEAR;
    lm_body_id body = make(world, &def);
    give_cube(world, body, LM_SKIN_PARTICLES);
    const lm_dvec3 across[4] = {{-9, -9, 0.3}, {9, -9, 0.33}, {-9, 0.3, 0.3}, {9, 0.3, 0.33}};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    lm_blade blade = lm_blade_default();
    blade.vertices = across;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    cut(world, body, 0.38, 9.0);
    check(lm_body_cut(world, body, &blade, NULL));
    if (!lmi_body_at(world, 0)->slit || lmi_body_at(world, 0)->slit->cuts != 2) {
        fprintf(stderr, "snapshots.c: a lattice that is not cut along its blades\n");
        exit(1);
    }
    add_floor(world);
    step(world, 1);
}
