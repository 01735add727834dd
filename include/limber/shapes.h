/*
 * Procedural models: closed triangle meshes, and point clouds that fill them.
 *
 * A shape is made in its own frame, centred on the origin, Y up, metres. The same arguments give the same bits on every
 * machine. Memory of the results comes from malloc and is freed with lm_shape_mesh_free / lm_shape_cloud_free.
 */
#ifndef LIMBER_SHAPES_H
#define LIMBER_SHAPES_H

#include "limber/limber.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As a screen shows it (sRGB). */
typedef struct lm_shape_colour {
    uint8_t r, g, b; /* nothing beside them: an array of these is one of bytes */
} lm_shape_colour;

/* A named part of a model: how much each vertex belongs to it, 0 to 1. */
typedef struct lm_shape_group {
    const char *name; /* static */
    float *weights;   /* one for each vertex */
} lm_shape_group;

/* A bone of a model that has a skeleton. The group of the same name says which vertices it carries. */
typedef struct lm_shape_bone {
    const char *name;   /* static */
    uint32_t parent;    /* an earlier bone, or LM_SHAPE_NO_BONE */
    lm_vec3 head, tail; /* where it begins (the joint) and ends, in the frame of the mesh */
} lm_shape_bone;

#define LM_SHAPE_NO_BONE UINT32_MAX

typedef struct lm_shape_mesh {
    lm_vec3 *vertices;
    lm_shape_colour *colours; /* one for each vertex */
    uint32_t vertex_count;
    uint32_t *triangles; /* three indices each, counter-clockwise from outside */
    uint32_t triangle_count;
    lm_shape_group *groups; /* null when there are none */
    uint32_t group_count;
    lm_shape_bone *bones; /* null when there are none */
    uint32_t bone_count;
} lm_shape_mesh;

/* Particles for a body: the mesh's vertices first, in their order, then points inside. */
typedef struct lm_shape_cloud {
    lm_vec3 *points;
    uint32_t point_count;
    uint32_t surface_count; /* points below this index are the mesh's vertices */
} lm_shape_cloud;

typedef struct lm_shape_def {
    const char *name; /* one of lm_shape_name */
    lm_vec3 size;     /* extents along the axes, metres, 1e-6 to 1e6; default 1 each */
    uint32_t detail;  /* edges are about (longest extent / detail) long; at least 1; default 4 */
} lm_shape_def;

/* Names and one-line descriptions, in a fixed order; null at the end. */
const char *lm_shape_name(uint32_t index);
const char *lm_shape_description(const char *name);

/* The proportions that look like the name (a torus is flatter than a box), the longest extent being 1; 1 each for an
 * unknown name. */
lm_vec3 lm_shape_natural_size(const char *name);

lm_shape_def lm_shape_def_default(void);

/* LM_ERROR_ARGUMENT for an unknown name or a value out of range, LM_ERROR_LIMIT for a detail that would make more than
 * LM_MAX_PARTICLES vertices, LM_ERROR_MEMORY. */
lm_result lm_shape_make_mesh(const lm_shape_def *def, lm_shape_mesh *mesh);

/* The vertices of `mesh` (made from the same definition) plus evenly spread inner points. `points` is the exact number
 * of points wanted; 0 gives inner points at about the spacing of the surface. LM_ERROR_ARGUMENT when `points` is below
 * the mesh's vertex count, LM_ERROR_LIMIT above LM_MAX_PARTICLES. */
lm_result lm_shape_make_cloud(const lm_shape_def *def, const lm_shape_mesh *mesh, uint32_t points,
                              lm_shape_cloud *cloud);

/* The group of this name, or null. */
const lm_shape_group *lm_shape_find_group(const lm_shape_mesh *mesh, const char *name);

void lm_shape_mesh_free(lm_shape_mesh *mesh);
void lm_shape_cloud_free(lm_shape_cloud *cloud);

#ifdef __cplusplus
}
#endif

#endif
