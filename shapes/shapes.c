/*
 * The list of procedural shapes, the checks of their arguments, and the memory of what they make. The shapes themselves
 * are one file each; fill.c puts points inside them.
 */
#include "limber/shapes.h"

#include "kind.h"
#include "model.h"
#include "trig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these, products of coordinates would leave the range in which float32 keeps triangles from degenerating. */
#define SMALLEST_EXTENT 1e-6f
#define LARGEST_EXTENT 1e6f

static const shape_kind *const kinds[] = {
    &lmi_shape_kind_box,     &lmi_shape_kind_sphere, &lmi_shape_kind_cylinder, &lmi_shape_kind_torus,
    &lmi_shape_kind_penguin, &lmi_shape_kind_duck,   &lmi_shape_kind_statue,   &lmi_shape_kind_hand,
    &lmi_shape_kind_liver,   &lmi_shape_kind_flower, &lmi_shape_kind_teddy,    &lmi_shape_kind_car,
    &lmi_shape_kind_infant,  &lmi_shape_kind_head,
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

const shape_kind *lmi_shape_kind_find(const char *name)
{
    for (size_t i = 0; name && i < KIND_COUNT; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

const char *lm_shape_name(uint32_t index) { return index < KIND_COUNT ? kinds[index]->name : NULL; }

const char *lm_shape_description(const char *name)
{
    const shape_kind *kind = lmi_shape_kind_find(name);
    return kind ? kind->description : NULL;
}

lm_vec3 lm_shape_natural_size(const char *name)
{
    const shape_kind *kind = lmi_shape_kind_find(name);
    return kind ? kind->natural_size : (lm_vec3){1.0f, 1.0f, 1.0f};
}

lm_shape_def lm_shape_def_default(void)
{
    return (lm_shape_def){.name = "box", .size = {1.0f, 1.0f, 1.0f}, .detail = 4};
}

shape_frame lmi_shape_frame_make(const lm_shape_def *def)
{
    shape_frame frame = {.extent = {def->size.x, def->size.y, def->size.z}};
    double longest = frame.extent[0];
    if (frame.extent[1] > longest) longest = frame.extent[1];
    if (frame.extent[2] > longest) longest = frame.extent[2];
    frame.edge = longest / def->detail;
    return frame;
}

uint32_t lmi_shape_segments(const shape_frame *frame, double length, uint32_t least)
{
    double segments = length / frame->edge + 0.5;
    if (segments > (double)LM_MAX_PARTICLES) return LM_MAX_PARTICLES; /* refused later: a vertex for each at least */
    uint32_t whole = (uint32_t)segments;
    return whole < least ? least : whole;
}

double lmi_shape_circumference(double a, double b)
{
    /* Ramanujan's first approximation (1914). */
    return SHAPE_PI * (3.0 * (a + b) - sqrt((3.0 * a + b) * (a + 3.0 * b)));
}

static bool extent_is_valid(float extent)
{
    return extent >= SMALLEST_EXTENT && extent <= LARGEST_EXTENT; /* false for NaN */
}

bool lmi_shape_def_is_valid(const lm_shape_def *def)
{
    return extent_is_valid(def->size.x) && extent_is_valid(def->size.y) && extent_is_valid(def->size.z) &&
           def->detail >= 1;
}

lm_result lm_shape_make_mesh(const lm_shape_def *def, lm_shape_mesh *mesh)
{
    *mesh = (lm_shape_mesh){0};
    const shape_kind *kind = lmi_shape_kind_find(def->name);
    if (!kind || !lmi_shape_def_is_valid(def)) return LM_ERROR_ARGUMENT;
    if (kind->model) return lmi_shape_model_mesh(kind->model, def, mesh);

    shape_frame frame = lmi_shape_frame_make(def);
    shape_counts counts = kind->count(&frame);
    if (counts.vertices > (double)LM_MAX_PARTICLES) return LM_ERROR_LIMIT;

    mesh->vertices = malloc((size_t)counts.vertices * sizeof *mesh->vertices);
    mesh->colours = malloc((size_t)counts.vertices * sizeof *mesh->colours);
    mesh->triangles = malloc((size_t)counts.triangles * 3u * sizeof *mesh->triangles);
    if (!mesh->vertices || !mesh->colours || !mesh->triangles) {
        lm_shape_mesh_free(mesh);
        return LM_ERROR_MEMORY;
    }
    kind->build(&frame, mesh);
    lm_shape_colour colour = paint_narrow(paint(kind->colour));
    for (uint32_t i = 0; i < mesh->vertex_count; i++) mesh->colours[i] = colour;
    return LM_OK;
}

const lm_shape_group *lm_shape_find_group(const lm_shape_mesh *mesh, const char *name)
{
    for (uint32_t i = 0; i < mesh->group_count; i++)
        if (strcmp(mesh->groups[i].name, name) == 0) return &mesh->groups[i];
    return NULL;
}

void lm_shape_mesh_free(lm_shape_mesh *mesh)
{
    if (!mesh) return;
    for (uint32_t i = 0; i < mesh->group_count; i++) free(mesh->groups[i].weights);
    free(mesh->vertices);
    free(mesh->colours);
    free(mesh->triangles);
    free(mesh->groups);
    free(mesh->bones);
    *mesh = (lm_shape_mesh){0};
}

void lm_shape_cloud_free(lm_shape_cloud *cloud)
{
    if (!cloud) return;
    free(cloud->points);
    *cloud = (lm_shape_cloud){0};
}
