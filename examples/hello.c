/*
 * Hello: a soft cube falls on a floor.
 *
 * Learn: a world, a collider and a body, each made from a definition with defaults; steps of a fixed length; and reading what became of it.
 */
#include <limber/limber.h>
#include <stdio.h>

int main(void)
{
    const lm_vec3 cube[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    lm_world *world;
    lm_collider_id floor;
    lm_body_id body;
    lm_body_info info = {0};

    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default(); /* a plane through the origin that faces up */
    lm_body_def body_def = lm_body_def_default();
    body_def.points = cube; /* any cloud of points will do */
    body_def.point_count = 8;
    body_def.pose.position.y = 2.0;
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    lm_collider_create(world, &floor_def, &floor);
    lm_body_create(world, &body_def, &body);
    for (int frame = 0; frame < 300; frame++) lm_world_step(world, 1.0 / 60.0);
    lm_body_get_info(world, body, &info);

    printf("after five seconds its centre is %.2f m above the floor\n", info.centre.y);
    lm_world_destroy(world);
    return 0;
}
