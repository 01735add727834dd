/*
 * What a triangle mesh contains, and what is wrong with it.
 */
#ifndef LIMBER_IO_MESH_REPORT_H
#define LIMBER_IO_MESH_REPORT_H

#include "limber/limber.h"

typedef struct mesh_report {
    uint32_t vertices, triangles;
    uint32_t parts;               /* sets of triangles joined by vertices */
    uint32_t unused_vertices;     /* in no triangle */
    uint32_t coincident_vertices; /* at the very place of another: seams that were not welded */
    uint32_t degenerate_faces;    /* two corners are one vertex, or the three lie on a line */
    uint32_t duplicate_faces;     /* the same three vertices as another, either way round */
    uint32_t open_edges;          /* in one triangle only */
    uint32_t nonmanifold_edges;   /* in three triangles or more */
    uint32_t flipped_edges;       /* in two triangles that turn opposite ways */
    lm_vec3 lower, upper;         /* bounding box of all vertices; zero without vertices */
    double area;                  /* square metres */
    double volume;                /* cubic metres, negative when inside out; 0 unless closed */
    bool closed;                  /* no open, non-manifold or flipped edges, and at least one triangle */
} mesh_report;

/* Triangles whose corners are not three different vertices count as degenerate and have no edges. LM_ERROR_ARGUMENT for
 * an index out of range or a position that is not finite, LM_ERROR_LIMIT for more than 2^31 vertices, LM_ERROR_MEMORY. */
lm_result lmi_mesh_report_make(const lm_vec3 *positions, uint32_t vertex_count, const uint32_t *triangles,
                               uint32_t triangle_count, mesh_report *report);

#endif
