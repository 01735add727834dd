/* What a user of the library writes first: a world, a body of eight points, a second of falling. */
#include <limber/limber.h>
#include <stdio.h>

int main(void)
{
    const lm_vec3 cube[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    lm_world_def world_def = lm_world_def_default();
    lm_body_def body_def = lm_body_def_default();
    body_def.mask = 0;
    body_def.points = cube;
    body_def.point_count = 8;
    lm_world *world = NULL;
    lm_body_id body;
    lm_body_info info = {0};
    lm_result result = lm_world_create(&world_def, &world);
    if (result == LM_OK) result = lm_body_create(world, &body_def, &body);
    for (int frame = 0; frame < 60 && result == LM_OK; frame++) result = lm_world_step(world, 1.0 / 60.0);
    if (result == LM_OK) result = lm_body_get_info(world, body, &info);
    lm_world_destroy(world);
    printf("limber %s: %s; after a second the cube is at %.2f m\n", lm_version(), lm_result_text(result),
           info.centre.y);
    return result == LM_OK && info.centre.y < -4.0 && info.centre.y > -5.0 ? 0 : 1;
}
