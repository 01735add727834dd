/*
 * From a model and a definition to a mesh: extraction at the right resolution in the model's own coordinates, relaxation,
 * then the size asked for.
 */
#include "model.h"

#include <stdlib.h>

/* Extraction makes about 1.5 vertices for each square of a cell's side, and triangles with edges e hold 1.15 vertices for
 * each square of e: edges end up 0.88 cells long. */
#define CELL_OF_EDGE 1.14

static field_point extents_of(const shape_model *model) { return field_less(model->upper, model->lower); }

static double longest_of(const shape_model *model)
{
    field_point extent = extents_of(model);
    return field_larger(extent.x, field_larger(extent.y, extent.z));
}

void lmi_draft_free(draft_mesh *draft)
{
    free(draft->points);
    free(draft->triangles);
    *draft = (draft_mesh){0};
}

double lmi_shape_model_field(const shape_model *model, const double extent[3], double x, double y, double z)
{
    field_point own = extents_of(model);
    return model->field(field_at(0.5 * (model->lower.x + model->upper.x) + x * own.x / extent[0],
                                 0.5 * (model->lower.y + model->upper.y) + y * own.y / extent[1],
                                 0.5 * (model->lower.z + model->upper.z) + z * own.z / extent[2]));
}

double lmi_shape_model_scale(const shape_model *model, const double extent[3])
{
    field_point own = extents_of(model);
    return field_smaller(extent[0] / own.x, field_smaller(extent[1] / own.y, extent[2] / own.z));
}

/* From the model's own coordinates to the shape's: centred, and at the size asked for. */
static lm_vec3 sized(const shape_model *model, const lm_shape_def *def, field_point p)
{
    field_point own = extents_of(model);
    return (lm_vec3){(float)((p.x - 0.5 * (model->lower.x + model->upper.x)) / own.x * def->size.x),
                     (float)((p.y - 0.5 * (model->lower.y + model->upper.y)) / own.y * def->size.y),
                     (float)((p.z - 0.5 * (model->lower.z + model->upper.z)) / own.z * def->size.z)};
}

static lm_result finish_surface(const shape_model *model, const lm_shape_def *def, double blur, const draft_mesh *draft,
                                lm_shape_mesh *mesh)
{
    if (draft->point_count > LM_MAX_PARTICLES) return LM_ERROR_LIMIT;
    mesh->vertices = malloc(draft->point_count * sizeof *mesh->vertices);
    mesh->colours = malloc(draft->point_count * sizeof *mesh->colours);
    mesh->triangles = malloc(3 * draft->triangle_count * sizeof *mesh->triangles);
    if (!mesh->vertices || !mesh->colours || !mesh->triangles) return LM_ERROR_MEMORY;
    for (size_t i = 0; i < draft->point_count; i++) {
        mesh->vertices[i] = sized(model, def, draft->points[i]);
        mesh->colours[i] = paint_narrow(model->colour(draft->points[i], blur));
    }
    for (size_t i = 0; i < 3 * draft->triangle_count; i++) mesh->triangles[i] = draft->triangles[i];
    mesh->vertex_count = (uint32_t)draft->point_count;
    mesh->triangle_count = (uint32_t)draft->triangle_count;
    return LM_OK;
}

static lm_result finish_groups(const shape_model *model, const draft_mesh *draft, lm_shape_mesh *mesh)
{
    if (model->group_count == 0) return LM_OK;
    mesh->groups = calloc(model->group_count, sizeof *mesh->groups);
    if (!mesh->groups) return LM_ERROR_MEMORY;
    for (uint32_t g = 0; g < model->group_count; g++) {
        float *weights = malloc(draft->point_count * sizeof *weights);
        if (!weights) return LM_ERROR_MEMORY;
        for (size_t i = 0; i < draft->point_count; i++)
            weights[i] = (float)field_clamp(model->groups[g].weight(draft->points[i]));
        mesh->groups[g] = (lm_shape_group){model->groups[g].name, weights};
        mesh->group_count = g + 1;
    }
    return LM_OK;
}

static lm_result finish_bones(const shape_model *model, const lm_shape_def *def, lm_shape_mesh *mesh)
{
    if (model->bone_count == 0) return LM_OK;
    mesh->bones = malloc(model->bone_count * sizeof *mesh->bones);
    if (!mesh->bones) return LM_ERROR_MEMORY;
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const model_bone *bone = &model->bones[b];
        mesh->bones[b] =
            (lm_shape_bone){bone->name, bone->parent, sized(model, def, bone->head), sized(model, def, bone->tail)};
    }
    mesh->bone_count = model->bone_count;
    return LM_OK;
}

lm_result lmi_shape_model_mesh(const shape_model *model, const lm_shape_def *def, lm_shape_mesh *mesh)
{
    uint32_t detail = def->detail < model->coarsest ? model->coarsest : def->detail;
    double cell = CELL_OF_EDGE * longest_of(model) / detail;
    draft_mesh draft = {0};
    lm_result result = lmi_shape_extract(model, cell, &draft);
    if (result == LM_OK) result = lmi_shape_relax(model, cell, &draft);
    if (result == LM_OK) result = finish_surface(model, def, cell, &draft, mesh);
    if (result == LM_OK) result = finish_groups(model, &draft, mesh);
    if (result == LM_OK) result = finish_bones(model, def, mesh);
    if (result != LM_OK) lm_shape_mesh_free(mesh);
    lmi_draft_free(&draft);
    return result;
}
