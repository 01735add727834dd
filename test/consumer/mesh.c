/* What a user of the libraries beside the core writes first: a body from a file, a model, and a built-in scene. */
#include <limber/mesh.h>
#include <limber/scene.h>
#include <limber/shapes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    lm_shape_mesh model;
    lm_scene_error wrong;
    lm_body_info info = {0};
    lm_world *world = NULL;
    lm_body_id body;
    lm_world_def world_def = lm_world_def_default();
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    lm_skin_def skin = lm_skin_def_default();
    lm_shape_def shape = lm_shape_def_default();
    if (argc != 2) return 2;
    if (!lm_mesh_read(argv[1], NULL, &mesh, &error)) return puts(error.text), 1;
    lm_mesh_use(&mesh, LM_MESH_LATTICE, 100, &def, &skin);
    lm_result result = lm_world_create(&world_def, &world);
    if (result == LM_OK) result = lm_body_create(world, &def, &body);
    if (result == LM_OK) result = lm_body_set_skin(world, body, &skin);
    if (result == LM_OK) result = lm_world_step(world, 1.0 / 60.0);
    if (result == LM_OK) result = lm_body_get_info(world, body, &info);
    lm_world_destroy(world);
    lm_mesh_free(&mesh);
    shape.name = "duck";
    if (result == LM_OK) result = lm_shape_make_mesh(&shape, &model);
    if (result == LM_OK) lm_shape_mesh_free(&model);
    lm_scene *scene = lm_scene_open("modes", NULL, 0, &wrong);
    printf("%s; %u particles, %u vertices; the scene runs %u frames\n", lm_result_text(result), info.particles,
           info.skin_vertices, scene ? lm_scene_frames(scene) : 0);
    bool fine = result == LM_OK && info.particles >= 50 && info.skin_vertices == 8 && scene;
    lm_scene_close(scene);
    return fine ? 0 : 1;
}
