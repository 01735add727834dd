/*
 * Cut and break: a blade goes through an octree, and a brittle lattice falls on the floor.
 *
 * Learn: lm_body_cut_sweep follows a knife from frame to frame; lm_body_get_pieces tells what goes with what; lm_body_set_fracture makes a
 * lattice brittle, and lm_world_get_breaks tells what broke.
 *
 *     cc cut.c $(pkg-config --cflags --libs limber-shapes) -o cut
 */
#include <limber/limber.h>
#include <limber/shapes.h>
#include <stdio.h>

/* The blade: an edge of two points at a height, long enough for the body. */
static void place_edge(double height, lm_dvec3 edge[2])
{
    edge[0] = (lm_dvec3){0.0, height, -2.0};
    edge[1] = (lm_dvec3){0.0, height, 2.0};
}

int main(void)
{
    lm_world *world;
    lm_collider_id floor;
    lm_body_id liver, vase;
    lm_shape_mesh mesh;
    lm_shape_def shape = lm_shape_def_default();
    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    world_def.substeps = 2;
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    lm_collider_create(world, &floor_def, &floor);

    /* What is cut: an octree, whose cells are divided where the blade ends inside them. */
    shape.name = "liver";
    shape.size = lm_shape_natural_size("liver");
    shape.detail = 16;
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return 1;
    lm_body_def liver_def = lm_body_def_default();
    lm_skin_def skin = lm_skin_def_default();
    liver_def.octree.vertices = skin.vertices = mesh.vertices;
    liver_def.octree.vertex_count = skin.vertex_count = mesh.vertex_count;
    liver_def.octree.triangles = skin.triangles = mesh.triangles;
    liver_def.octree.triangle_count = skin.triangle_count = mesh.triangle_count;
    liver_def.octree.spacing = 1.0f / 32.0f;
    liver_def.octree.levels = 2;
    liver_def.self_contact = true; /* the two sides of a cut do not pass through each other */
    liver_def.pose.position.y = 0.5;
    if (lm_body_create(world, &liver_def, &liver) != LM_OK) return 1;
    lm_body_set_skin(world, liver, &skin);
    lm_body_prepare_cut(world, liver); /* so that the first cut costs no more than others */
    lm_shape_mesh_free(&mesh);

    /* The knife goes down through it in twenty frames; each call begins where the last one ended. */
    lm_cut_info cut = {0};
    lm_dvec3 from[2], to[2];
    uint32_t links = 0;
    place_edge(1.5, from);
    for (int frame = 1; frame <= 20; frame++) {
        place_edge(1.5 - 0.1 * frame, to);
        if (lm_body_cut_sweep(world, liver, from, to, 2, &cut) != LM_OK) return 1;
        links += cut.links;
        from[0] = to[0];
        from[1] = to[1];
        lm_world_step(world, 1.0 / 60.0);
    }
    printf("the knife cut %u links; the liver is in %u parts\n", links, cut.parts);

    /* What breaks: a lattice with a limit of strain. */
    shape.name = "torus";
    shape.size = lm_shape_natural_size("torus");
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return 1;
    lm_body_def vase_def = lm_body_def_default();
    vase_def.lattice.vertices = mesh.vertices;
    vase_def.lattice.vertex_count = mesh.vertex_count;
    vase_def.lattice.triangles = mesh.triangles;
    vase_def.lattice.triangle_count = mesh.triangle_count;
    vase_def.lattice.particles = 1500;
    vase_def.material.hertz = 20.0f;
    vase_def.pose.position = (lm_dvec3){4.0, 3.0, 0.0};
    vase_def.pose.rotation = (lm_quat){0.7071f, 0.0f, 0.0f, 0.7071f}; /* it falls on its edge */
    if (lm_body_create(world, &vase_def, &vase) != LM_OK) return 1;
    lm_shape_mesh_free(&mesh);
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.limit = 0.05f;
    fracture.variation = 0.5f;
    lm_body_set_fracture(world, vase, &fracture);
    uint32_t broken = 0;
    for (int frame = 0; frame < 90; frame++) {
        lm_world_step(world, 1.0 / 60.0);
        broken += lm_world_get_breaks(world, NULL, 0); /* events of this step: where there was a sound to play */
    }
    lm_body_info info;
    lm_body_get_info(world, vase, &info);
    printf("%u links of the ring broke; it is in %u pieces\n", broken, info.pieces);
    lm_world_destroy(world);
    return cut.parts >= 2 && info.pieces >= 2 ? 0 : 1;
}
