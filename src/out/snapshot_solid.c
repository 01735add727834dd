/*
 * Height maps and meshes in snapshots: the arrays as they were given. Trees, levels and cells are made again.
 */
#include "out/archive.h"
#include "out/hash.h"

/* Room for an array while it is read; the collider makes its own copy. */
static void *take_room(archive *a, lm_world *world, size_t count, size_t size)
{
    void *room = ok(a) ? lmi_allocate(&world->memory, count, size) : NULL;
    a->out_of_memory = a->out_of_memory || (ok(a) && !room);
    return room;
}

static void visit_heights(archive *a, lm_world *world, lmi_solid *solid)
{
    lmi_heights *map = solid->heights;
    uint32_t n[2] = {map ? map->n[0] : 0, map ? map->n[1] : 0};
    double spacing = map ? map->spacing : 0.0;
    visit_u32(a, &n[0]);
    visit_u32(a, &n[1]);
    visit_double(a, &spacing);
    size_t count = (size_t)n[0] * n[1];
    if (a->mode == LOAD) { /* before any memory is asked for */
        refuse_if(a, n[0] > LMI_HEIGHTS_MAX_SIDE || n[1] > LMI_HEIGHTS_MAX_SIDE || !ok(a) ||
                         count > (a->size - a->at) / 4);
    }
    float *heights = a->mode == LOAD ? take_room(a, world, count, sizeof *heights) : map->heights;
    for (size_t i = 0; i < count && ok(a); i++) {
        visit_float(a, &heights[i]);
    }
    if (a->mode == LOAD) {
        refuse_if(a, ok(a) && lmi_heights_fault(heights, n, spacing));
        if (ok(a)) {
            solid->heights = lmi_heights_make(&world->memory, heights, n, spacing);
            a->out_of_memory = !solid->heights;
        }
        lmi_release(&world->memory, heights, count, sizeof *heights);
    }
}

static void visit_mesh(archive *a, lm_world *world, lmi_solid *solid)
{
    lmi_mesh *mesh = solid->mesh;
    uint32_t vertex_count = mesh ? mesh->vertex_count : 0, triangle_count = mesh ? mesh->triangle_count : 0;
    bool is_solid = mesh && mesh->solid;
    visit_bool(a, &is_solid);
    visit_count(a, &vertex_count, 12);
    visit_count(a, &triangle_count, 12);
    size_t corners = (size_t)triangle_count * 3;
    lm_vec3 *vertices = a->mode == LOAD ? take_room(a, world, vertex_count, sizeof *vertices) : mesh->vertices;
    uint32_t *triangles = a->mode == LOAD ? take_room(a, world, corners, sizeof *triangles) : mesh->triangles;
    for (uint32_t n = 0; n < vertex_count && ok(a); n++) {
        visit_vec3(a, &vertices[n]);
    }
    for (size_t n = 0; n < corners && ok(a); n++) {
        visit_u32(a, &triangles[n]);
    }
    if (a->mode == LOAD) {
        refuse_if(a, ok(a) && lmi_mesh_fault(vertices, vertex_count, triangles, triangle_count));
        if (ok(a)) {
            solid->mesh = lmi_mesh_make(&world->memory, vertices, vertex_count, triangles, triangle_count, is_solid);
            a->out_of_memory = !solid->mesh;
        }
        lmi_release(&world->memory, vertices, vertex_count, sizeof *vertices);
        lmi_release(&world->memory, triangles, corners, sizeof *triangles);
    }
}

void lmi_visit_solid(archive *a, lm_world *world, lmi_collider *c)
{
    if (!ok(a)) {
        return;
    }
    if (c->shape == LM_SHAPE_HEIGHTS) {
        visit_heights(a, world, &c->solid);
    } else if (c->shape == LM_SHAPE_MESH) {
        visit_mesh(a, world, &c->solid);
    }
    if (a->mode == LOAD && ok(a)) {
        c->solid_hash = lmi_hash_solid(&c->solid);
    }
}
