/*
 * Materials: three ways to say what a body is made of.
 *
 * Learn: a body from a mesh, presets by name, stiffness in pascals, the one number for people who do not know pascals (`sag`), and how to
 * find out whether the substeps reach what was asked for.
 *
 *     cc materials.c $(pkg-config --cflags --libs limber-shapes) -o materials
 */
#include <limber/limber.h>
#include <limber/shapes.h>
#include <stdio.h>

static void write_log(lm_result result, const char *line, void *user)
{
    (void)result;
    (void)user;
    fprintf(stderr, "limber: %s\n", line);
}

/* A cube of 20 cm, made of 8 x 8 x 8 cells, in the air above the floor. */
static lm_body_id add_cube(lm_world *world, const lm_shape_mesh *mesh, const lm_material *material, float density,
                           double x)
{
    lm_body_def def = lm_body_def_default();
    lm_body_id body = {0};
    def.lattice.vertices = mesh->vertices;
    def.lattice.vertex_count = mesh->vertex_count;
    def.lattice.triangles = mesh->triangles;
    def.lattice.triangle_count = mesh->triangle_count;
    def.lattice.spacing = 0.2f / 8.0f;
    def.lattice.width = 2;
    def.material = *material;
    def.density = density;
    def.pose.position = (lm_dvec3){x, 0.25, 0.0};
    lm_body_create(world, &def, &body);
    return body;
}

int main(void)
{
    enum { CUBES = 3 };
    static const char *const names[CUBES] = {"jelly, by name", "200 kPa", "sinks by 3 %"};
    lm_world *world;
    lm_collider_id floor;
    lm_body_id cubes[CUBES];
    lm_shape_mesh mesh;
    lm_shape_def shape = lm_shape_def_default();
    shape.name = "box";
    shape.size = (lm_vec3){0.2f, 0.2f, 0.2f};
    if (lm_shape_make_mesh(&shape, &mesh) != LM_OK) return 1;

    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    world_def.substeps = 8;
    world_def.log.write = write_log; /* one line where a stiffness is out of reach */
    if (lm_world_create(&world_def, &world) != LM_OK) return 1;
    lm_collider_create(world, &floor_def, &floor);

    float density = 0.0f;
    lm_material jelly, stiff = lm_material_default(), sinks = lm_material_default();
    lm_material_preset("jelly", &jelly, &density);
    cubes[0] = add_cube(world, &mesh, &jelly, density, -0.5);
    stiff.young = 2e5f; /* pascals */
    stiff.poisson = 0.3f;
    cubes[1] = add_cube(world, &mesh, &stiff, 1000.0f, 0.0);
    sinks.sag = 0.03f; /* the share of its height by which it sinks under its own weight */
    cubes[2] = add_cube(world, &mesh, &sinks, 1000.0f, 0.5);
    lm_shape_mesh_free(&mesh); /* whatever a definition points to was copied */

    for (int frame = 0; frame < 240; frame++) lm_world_step(world, 1.0 / 60.0);
    for (int i = 0; i < CUBES; i++) {
        lm_body_info info;
        lm_body_get_info(world, cubes[i], &info);
        printf("%-14s  young %7.0f Pa, reached %7.0f Pa, height %.3f of 0.200 m\n", names[i], (double)info.young,
               (double)info.reached_young, info.upper.y - info.lower.y);
    }
    lm_world_destroy(world);
    return 0;
}
