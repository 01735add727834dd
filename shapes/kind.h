/*
 * What each procedural shape provides: how large its mesh is, the mesh, and how deep a point lies inside. Private to
 * shapes/.
 *
 * All shapes read `detail` alike: edges are about (longest extent / detail) long, so that one detail gives triangles of
 * one size on every shape of the same extent.
 */
#ifndef LIMBER_SHAPES_KIND_H
#define LIMBER_SHAPES_KIND_H

#include "limber/shapes.h"

/* The arguments in double precision, once, so that every shape computes with the same values. */
typedef struct shape_frame {
    double extent[3]; /* metres */
    double edge;      /* the edge length aimed at, metres */
} shape_frame;

/* Vertices and triangles, as doubles: an absurd detail must not wrap around before it is refused. */
typedef struct shape_counts {
    double vertices;
    double triangles;
} shape_counts;

typedef struct shape_kind {
    const char *name;
    const char *description;
    lm_vec3 natural_size;
    uint32_t colour; /* 0xrrggbb; a model that paints itself needs none */
    shape_counts (*count)(const shape_frame *frame);

    /* Writes exactly as many vertices and triangles as `count` says. */
    void (*build)(const shape_frame *frame, lm_shape_mesh *mesh);

    /* The surface is made of a curved and a flat part; null where a shape lacks one. `curved` is 0 on the curved part and
     * rises to 1 in the middle, each unit being at least curved_scale metres long (exactly that for round shapes).
     * `flat` is the distance to the flat part in metres. Both are positive inside. */
    double (*curved)(const shape_frame *frame, double x, double y, double z);
    double (*curved_scale)(const shape_frame *frame);
    double (*flat)(const shape_frame *frame, double x, double y, double z);

    /* Or, in place of all five: a model made from a signed distance (model.h). */
    const struct shape_model *model;
} shape_kind;

extern const shape_kind lmi_shape_kind_box;
extern const shape_kind lmi_shape_kind_sphere;
extern const shape_kind lmi_shape_kind_cylinder;
extern const shape_kind lmi_shape_kind_torus;
extern const shape_kind lmi_shape_kind_duck;
extern const shape_kind lmi_shape_kind_head;
extern const shape_kind lmi_shape_kind_penguin;
extern const shape_kind lmi_shape_kind_statue;
extern const shape_kind lmi_shape_kind_hand;
extern const shape_kind lmi_shape_kind_liver;
extern const shape_kind lmi_shape_kind_flower;
extern const shape_kind lmi_shape_kind_teddy;
extern const shape_kind lmi_shape_kind_car;
extern const shape_kind lmi_shape_kind_infant;

/* Null for an unknown name. */
const shape_kind *lmi_shape_kind_find(const char *name);

/* Whether extents and detail are in range; says nothing of the name. */
bool lmi_shape_def_is_valid(const lm_shape_def *def);

shape_frame lmi_shape_frame_make(const lm_shape_def *def);

/* The number of edges into which `length` is divided; at least `least`. */
uint32_t lmi_shape_segments(const shape_frame *frame, double length, uint32_t least);

/* The circumference of an ellipse with half axes a and b, within half a percent: segments are counted with it. */
double lmi_shape_circumference(double a, double b);

static inline double shape_smaller(double a, double b) { return a < b ? a : b; }

static inline double shape_absolute(double a) { return a < 0.0 ? -a : a; }

/* Appends to a mesh under construction; the counts are the next free places. */
static inline void shape_add_vertex(lm_shape_mesh *mesh, double x, double y, double z)
{
    mesh->vertices[mesh->vertex_count++] = (lm_vec3){(float)x, (float)y, (float)z};
}

static inline void shape_add_triangle(lm_shape_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *triangle = mesh->triangles + 3u * (size_t)mesh->triangle_count++;
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

/* Two triangles for the quad a b c d; `flip` chooses the diagonal bd in place of ac. */
static inline void shape_add_quad(lm_shape_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, uint32_t d, bool flip)
{
    if (flip) {
        shape_add_triangle(mesh, a, b, d);
        shape_add_triangle(mesh, b, c, d);
    } else {
        shape_add_triangle(mesh, a, b, c);
        shape_add_triangle(mesh, a, c, d);
    }
}

#endif
