/*
 * What the worlds of snapshots.h are put together from: small bodies of every sampling, skins, a floor, bones, cuts. Whatever fails ends
 * the program.
 */
#ifndef LIMBER_TEST_SNAPSHOT_PARTS_H
#define LIMBER_TEST_SNAPSHOT_PARTS_H

#include "limber/limber.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME (1.0 / 60.0)
#define check(call) check_result(call, __LINE__)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline void check_result(lm_result result, int line)
{
    if (result != LM_OK) {
        fprintf(stderr, "snapshots.c:%d: %s\n", line, lm_result_text(result));
        exit(1);
    }
}

static inline void step(lm_world *world, int count)
{
    for (int n = 0; n < count; n++) check(lm_world_step(world, FRAME));
}

/* ---- bodies ---- */

static const lm_vec3 cube_vertices[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                         {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const uint32_t cube_triangles[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                            2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
static const lm_vec3 cloud[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};

static inline lm_body_id make(lm_world *world, const lm_body_def *def)
{
    lm_body_id body;
    check(lm_body_create(world, def, &body));
    return body;
}

static inline lm_body_def cloud_def(lm_mode mode, float yield)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.points = cloud;
    def.point_count = COUNT_OF(cloud);
    def.clusters.counts[0] = 2;
    def.material.mode = mode;
    def.material.yield = yield;
    def.pose.position.y = 0.5;
    return def;
}

/* A comb: some of its regions are irregular, and its blocks have empty lanes. */
static inline lm_body_def comb_def(lm_mode mode, uint32_t width)
{
    static const uint8_t cells[] = {1, 0, 1, 0, 1, 1, 1, 1, 1, 1};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.cells = cells;
    def.lattice.counts[0] = 5, def.lattice.counts[1] = 2, def.lattice.counts[2] = 1;
    def.lattice.spacing = 0.25f;
    def.lattice.width = width;
    def.material.mode = mode;
    return def;
}

/* The cube as a lattice of 4 x 2 x 2 cells and its chips. */
static inline lm_body_def bar_def(void)
{
    static const uint8_t cells[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.cells = cells;
    def.lattice.counts[0] = 4, def.lattice.counts[1] = 2, def.lattice.counts[2] = 2;
    def.lattice.spacing = 0.25f;
    def.lattice.width = 1;
    return def;
}

static inline lm_body_def tets_def(void)
{
    static const lm_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    static const uint32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.tets.vertices = points;
    def.tets.vertex_count = 5;
    def.tets.tets = tets;
    def.tets.tet_count = 2;
    return def;
}

/* The cube as 4 x 4 x 4 voxels in cells of up to `1 << levels`. */
static inline lm_body_def octree_def(uint32_t levels)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.octree.vertices = cube_vertices;
    def.octree.vertex_count = 8;
    def.octree.triangles = cube_triangles;
    def.octree.triangle_count = 12;
    def.octree.spacing = 0.25f;
    def.octree.levels = levels;
    return def;
}

static inline lm_body_def box_def(void)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.points = cube_vertices;
    def.point_count = 8;
    return def;
}

static inline void give_skin(lm_world *world, lm_body_id body, lm_skin_kind kind, const lm_vec3 *vertices,
                             uint32_t count, const uint32_t *triangles, uint32_t triangle_count)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = kind;
    skin.vertices = vertices;
    skin.vertex_count = count;
    skin.triangles = triangles;
    skin.triangle_count = triangle_count;
    check(lm_body_set_skin(world, body, &skin));
}

static inline void give_face(lm_world *world, lm_body_id body, lm_skin_kind kind)
{
    static const lm_vec3 vertices[] = {{0, 0, 0}, {0.5f, 0.2f, 0}, {0, 0.6f, 0.3f}};
    static const uint32_t triangle[] = {0, 1, 2};
    give_skin(world, body, kind, vertices, 3, triangle, 1);
}

static inline void give_cube(lm_world *world, lm_body_id body, lm_skin_kind kind)
{
    give_skin(world, body, kind, cube_vertices, 8, cube_triangles, 12);
}

static inline void add_floor(lm_world *world)
{
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    check(lm_collider_create(world, &floor, &id));
}

/* Two bones, on their way to somewhere. */
static inline void add_skeleton(lm_world *world, lm_body_id body)
{
    lm_bone bones[2] = {lm_bone_default(), lm_bone_default()};
    bones[0].radius = 0.5f;
    bones[1].rest.position.x = 1.0;
    bones[1].radius = 0.1f;
    bones[1].fade = 1.0f;
    lm_skeleton_def def = lm_skeleton_def_default();
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    lm_skeleton_id id;
    check(lm_skeleton_create(world, &def, &id));
    lm_pose poses[2] = {lm_pose_identity(), lm_pose_identity()};
    poses[1].position.x = 1.5;
    check(lm_skeleton_move_to(world, id, poses));
}

/* Cuts with the part of the plane x = `x` (slanted a little) that is below z = `z`. */
static inline void cut(lm_world *world, lm_body_id body, double x, double z)
{
    const lm_dvec3 vertices[4] = {{x, -9, -9}, {x + 0.07, 9, -9}, {x, -9, z}, {x + 0.07, 9, z}};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    lm_blade blade = lm_blade_default();
    lm_cut_info info;
    blade.vertices = vertices;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    check(lm_body_cut(world, body, &blade, &info));
    if (info.links == 0) {
        fprintf(stderr, "snapshots.c: a blade that cuts nothing\n");
        exit(1);
    }
}

/* ---- worlds of snapshot_joints.c ---- */

void snapshot_make_joints(lm_world *world);
void snapshot_make_chain(lm_world *world);
void snapshot_make_slit(lm_world *world);

#endif
