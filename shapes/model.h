/*
 * Models made from a signed distance (field.h), and the two steps that turn one into triangles. Private to shapes/.
 */
#ifndef LIMBER_SHAPES_MODEL_H
#define LIMBER_SHAPES_MODEL_H

#include "field.h"
#include "limber/shapes.h"
#include "paint.h"

/* A named part: how much a point of the surface belongs to it, 0 to 1. */
typedef struct model_group {
    const char *name;
    double (*weight)(field_point p);
} model_group;

typedef struct model_bone {
    const char *name;
    uint32_t parent; /* an earlier bone, or LM_SHAPE_NO_BONE */
    field_point head, tail;
} model_bone;

typedef struct shape_model {
    /* Negative inside. Coordinates and unit of length are the model's own. */
    double (*field)(field_point p);
    /* The colour of a point of the surface. Borders between colours are best blurred over `blur`, which is about an edge
     * of the mesh, so that they do not show its triangles (paint.h). */
    field_colour (*colour)(field_point p, double blur);
    const model_group *groups;
    uint32_t group_count;
    const model_bone *bones;
    uint32_t bone_count;
    field_point lower, upper; /* the box that just holds it */
    uint32_t coarsest;        /* a detail below this is taken as this: fewer triangles would not hold the shape */
} shape_model;

/* A triangle mesh on its way to becoming even. */
typedef struct draft_mesh {
    field_point *points;
    uint32_t *triangles;
    size_t point_count, point_capacity;
    size_t triangle_count, triangle_capacity;
} draft_mesh;

void lmi_draft_free(draft_mesh *draft);

/* surface.c: the surface on a grid of cubes of size `cell`: closed, every edge between exactly two triangles, every
 * vertex with one fan of them. LM_ERROR_LIMIT when the grid would be too large. */
lm_result lmi_shape_extract(const shape_model *model, double cell, draft_mesh *draft);

/* relax.c: even triangles, all vertices on the surface. Moves vertices and exchanges diagonals; the counts stay. */
lm_result lmi_shape_relax(const shape_model *model, double cell, draft_mesh *draft);

/* model.c: the mesh at the size and detail asked for. */
lm_result lmi_shape_model_mesh(const shape_model *model, const lm_shape_def *def, lm_shape_mesh *mesh);

/* The field at a point of the shape as `def` sizes it, in units of the model's length; negative inside. */
double lmi_shape_model_field(const shape_model *model, const double extent[3], double x, double y, double z);

/* The least number of metres in a unit of the model's length, over the axes. */
double lmi_shape_model_scale(const shape_model *model, const double extent[3]);

#endif
