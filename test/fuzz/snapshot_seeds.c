/*
 * Writes snapshots of small worlds as seeds for fuzz_snapshot, in the format of the day:
 *
 *     snapshot_seeds DIRECTORY
 *
 * The fuzz target puts a header in front of its input, so the seeds come without one.
 */
#include "limber/limber.h"
#include "out/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

static void check(lm_result result)
{
    if (result != LM_OK) {
        fprintf(stderr, "snapshot_seeds: %s\n", lm_result_text(result));
        exit(1);
    }
}

static lm_body_id add_body(lm_world *world, lm_mode mode, float yield)
{
    static const lm_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    lm_body_def def = lm_body_def_default();
    def.points = points;
    def.point_count = sizeof points / sizeof *points;
    def.clusters.counts[0] = 2;
    def.material.mode = mode;
    def.material.yield = yield;
    def.pose.position.y = 0.5;
    lm_body_id body;
    check(lm_body_create(world, &def, &body));
    return body;
}

/* A comb: some of its regions are irregular, and its blocks have empty lanes. */
static lm_body_id add_lattice(lm_world *world, lm_mode mode, uint32_t width)
{
    static const uint8_t cells[] = {1, 0, 1, 0, 1, 1, 1, 1, 1, 1};
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = 5, def.lattice.counts[1] = 2, def.lattice.counts[2] = 1;
    def.lattice.spacing = 0.25f;
    def.lattice.width = width;
    def.material.mode = mode;
    lm_body_id body;
    check(lm_body_create(world, &def, &body));
    return body;
}

static lm_body_id add_tets(lm_world *world)
{
    static const lm_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    static const uint32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    lm_body_def def = lm_body_def_default();
    def.tets.vertices = points;
    def.tets.vertex_count = 5;
    def.tets.tets = tets;
    def.tets.tet_count = 2;
    lm_body_id body;
    check(lm_body_create(world, &def, &body));
    return body;
}

static void add_skin(lm_world *world, lm_body_id body, lm_skin_kind kind)
{
    static const lm_vec3 vertices[] = {{0, 0, 0}, {0.5f, 0.2f, 0}, {0, 0.6f, 0.3f}};
    static const uint32_t triangles[] = {0, 1, 2};
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = kind;
    skin.vertices = vertices;
    skin.vertex_count = 3;
    skin.triangles = triangles;
    skin.triangle_count = 1;
    check(lm_body_set_skin(world, body, &skin));
}

static void add_surroundings(lm_world *world, lm_body_id body)
{
    static const float heights[6] = {0.0f, 0.1f, 0.2f, 0.1f, 0.0f, 0.3f};
    static const lm_vec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const uint32_t triangle[3] = {0, 1, 2};
    lm_mover_def mover = lm_mover_def_default();
    mover.spin.y = 1.0f;
    lm_mover_id mover_id;
    check(lm_mover_create(world, &mover, &mover_id));
    for (int shape = 0; shape < LM_SHAPE_COUNT; shape++) {
        lm_collider_def collider = lm_collider_def_default();
        lm_collider_id id;
        collider.shape = (lm_shape)shape;
        collider.heights = (lm_heights){heights, {3, 2}, 0.5f};
        collider.mesh = (lm_collider_mesh){corners, 3, triangle, 1, false};
        collider.mover = shape % 2 ? mover_id : collider.mover;
        check(lm_collider_create(world, &collider, &id));
    }
    for (int kind = 0; kind < LM_FIELD_KIND_COUNT; kind++) {
        lm_field_def field = lm_field_def_default();
        lm_field_id id;
        field.kind = (lm_field_kind)kind;
        check(lm_field_create(world, &field, &id));
    }
    static const uint32_t held[] = {0, 3};
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = body;
    pin.particles = held;
    pin.particle_count = 2;
    pin.mover = mover_id;
    check(lm_pin_create(world, &pin, &pin_id));
    lm_drag_def drag = lm_drag_def_default();
    lm_drag_id drag_id;
    drag.body = body;
    drag.particle = 1;
    drag.radius = 1.0f;
    check(lm_drag_create(world, &drag, &drag_id));
    check(lm_body_add_particle_force(world, body, 2, (lm_vec3){1, 2, 3}));
    check(lm_body_add_force(world, body, (lm_vec3){3, 2, 1}));
}

/* Two bones, on their way to somewhere. */
static void add_skeleton(lm_world *world, lm_body_id body)
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

static void write_seed(const lm_world *world, const char *directory, const char *name)
{
    size_t size = lm_world_save_size(world);
    unsigned char *bytes = malloc(size);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = bytes ? fopen(path, "wb") : NULL;
    if (!file) {
        perror(path);
        exit(1);
    }
    check(lm_world_save(world, bytes, size));
    bool ok = fwrite(bytes + LMI_SNAPSHOT_HEADER, 1, size - LMI_SNAPSHOT_HEADER, file) == size - LMI_SNAPSHOT_HEADER;
    if (fclose(file) != 0 || !ok) {
        perror(path);
        exit(1);
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: snapshot_seeds DIRECTORY\n");
        return 2;
    }
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world;
    check(lm_world_create(&def, &world));
    write_seed(world, argv[1], "seed-empty");
    add_skin(world, add_body(world, LM_MODE_LINEAR, 0.0f), LM_SKIN_PARTICLES);
    write_seed(world, argv[1], "seed-body");
    lm_body_id plastic = add_body(world, LM_MODE_QUADRATIC, 0.01f);
    add_skin(world, plastic, LM_SKIN_REGIONS);
    static const float shares[] = {0.5f, 1.0f};
    check(lm_body_set_region_stiffness(world, plastic, shares));
    write_seed(world, argv[1], "seed-plastic");
    check(lm_world_step(world, 1.0 / 60.0));
    write_seed(world, argv[1], "seed-stepped");
    add_surroundings(world, plastic);
    write_seed(world, argv[1], "seed-everything");
    lm_world_destroy(world);
    check(lm_world_create(&def, &world));
    lm_body_id lattice = add_lattice(world, LM_MODE_RIGID, 1);
    write_seed(world, argv[1], "seed-lattice");
    add_skin(world, lattice, LM_SKIN_PARTICLES);
    add_skin(world, add_lattice(world, LM_MODE_LINEAR, 3), LM_SKIN_PARTICLES);
    check(lm_world_step(world, 1.0 / 60.0));
    write_seed(world, argv[1], "seed-lattices");
    add_skin(world, add_tets(world), LM_SKIN_PARTICLES);
    add_skin(world, add_tets(world), LM_SKIN_REGIONS);
    write_seed(world, argv[1], "seed-tets");
    add_skeleton(world, add_body(world, LM_MODE_LINEAR, 0.0f));
    add_skeleton(world, lattice);
    write_seed(world, argv[1], "seed-skeletons");
    add_surroundings(world, lattice);
    add_body(world, LM_MODE_LINEAR, 0.0f);
    write_seed(world, argv[1], "seed-lattices-everything");
    lm_world_destroy(world);
    return 0;
}
