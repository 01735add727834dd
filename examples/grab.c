/*
 * Grab and throw: what a mouse does to a body.
 *
 * Learn: a ray finds a body and the particle under the pointer; a drag is a spring from there to a point that you move; letting go throws.
 *
 *     cc grab.c $(pkg-config --cflags --libs limber-shapes) -o grab
 */
#include <limber/limber.h>
#include <limber/shapes.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
    lm_world *world;
    lm_collider_id floor;
    lm_body_id duck;
    lm_shape_mesh mesh;
    lm_shape_def shape = lm_shape_def_default();
    shape.name = "duck";
    shape.size = lm_shape_natural_size("duck");
    shape.detail = 12;
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return 1;

    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    lm_body_def body_def = lm_body_def_default();
    lm_skin_def skin = lm_skin_def_default();
    world_def.substeps = 2;
    body_def.lattice.vertices = skin.vertices = mesh.vertices;
    body_def.lattice.vertex_count = skin.vertex_count = mesh.vertex_count;
    body_def.lattice.triangles = skin.triangles = mesh.triangles;
    body_def.lattice.triangle_count = skin.triangle_count = mesh.triangle_count;
    body_def.lattice.particles = 500;
    body_def.lattice.width = 3;
    body_def.pose.position.y = 0.6;
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    lm_collider_create(world, &floor_def, &floor);
    lm_body_create(world, &body_def, &duck);
    lm_body_set_skin(world, duck, &skin); /* rays meet the skin */
    lm_shape_mesh_free(&mesh);
    for (int frame = 0; frame < 120; frame++) lm_world_step(world, 1.0 / 60.0);

    /* The pointer: a ray from the camera. */
    lm_body_info info;
    lm_body_get_info(world, duck, &info);
    lm_dvec3 eye = {0.0, 1.0, 4.0};
    lm_vec3 towards = {(float)(info.centre.x - eye.x), (float)(info.centre.y - eye.y), (float)(info.centre.z - eye.z)};
    lm_ray ray = lm_ray_default(eye, towards);
    ray.collider_groups = 0; /* bodies only */
    lm_ray_hit hit;
    if (!lm_world_cast_ray(world, &ray, &hit)) return 1;
    printf("the ray meets the duck after %.2f m\n", (double)hit.distance);

    /* Grab what it met, and carry it up and to the right for half a second. */
    lm_drag_def drag_def = lm_drag_def_default();
    lm_drag_id drag;
    drag_def.body = hit.body;
    drag_def.particle = hit.particle;
    drag_def.radius = 0.2f; /* the hand takes hold of what is near, not of a single particle */
    drag_def.target = hit.point;
    drag_def.hertz = 4.0f;
    lm_drag_create(world, &drag_def, &drag);
    for (int frame = 1; frame <= 30; frame++) {
        lm_dvec3 hand = {hit.point.x + 0.05 * frame, hit.point.y + 0.03 * frame, hit.point.z};
        lm_drag_set_target(world, drag, hand);
        lm_world_step(world, 1.0 / 60.0);
    }

    /* Let go: it flies on with the velocity that it has. */
    lm_drag_destroy(world, drag);
    lm_body_get_info(world, duck, &info);
    printf("thrown at %.1f m/s\n", hypot((double)info.velocity.x, (double)info.velocity.y));
    double from = info.centre.x;
    for (int frame = 0; frame < 180; frame++) lm_world_step(world, 1.0 / 60.0);
    lm_body_get_info(world, duck, &info);
    printf("it lands %.1f m farther\n", info.centre.x - from);
    lm_world_destroy(world);
    return 0;
}
