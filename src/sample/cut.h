/*
 * A surface around a lattice, made ready to be cut between its particles.
 *
 * Each particle has a box: everything that is nearer to it than to others along each axis, a cell's size around it. The planes
 * between boxes are half-way between the planes of corners. The surface is divided along all of these planes once, so that
 * every triangle is in the box of one particle and neighbours share the vertices of their border. When a link breaks, the face
 * between the boxes of its two ends opens: triangles on either side take vertices of their own, and the part of the face that
 * is inside the surface closes both sides. That part is bounded by the edges that triangles have on the face, and by the
 * border of the face.
 *
 * Coordinates are along the lattice's axes, in spacings from corner (0, 0, 0): planes are at whole numbers and a half, exactly.
 * Vertices at the same place, as meshes with hard edges have them, are known as one (`weld`).
 */
#ifndef LMI_CUT_H
#define LMI_CUT_H

#include "sample/lattice.h"

typedef struct lmi_cut_vertex {
    double at[3];
    uint32_t weld;   /* the first vertex at this place */
    uint32_t cell;   /* lowest corner of the cell it is in, or of the nearest one */
    uint32_t given;  /* vertex of the surface as it was given, or LMI_LATTICE_NONE */
    uint32_t source; /* that, or the nearest one along the edge that was divided */
    uint8_t planes;  /* bit a: it is on a plane across axis a */
} lmi_cut_vertex;

typedef struct lmi_cut_triangle {
    uint32_t corner[3];
    uint32_t owner; /* the particle in whose box it is */
} lmi_cut_triangle;

/* An edge of a triangle on the face between two boxes, seen from the lower one, by welded vertices. */
typedef struct lmi_cut_edge {
    uint32_t particle, axis; /* of the link across the face */
    uint32_t from, to;
} lmi_cut_edge;

typedef struct lmi_cut {
    lmi_cut_vertex *vertices;
    uint32_t (*riders)[8]; /* corners of the cell that a vertex is in, and their weights */
    float (*weights)[8];
    lmi_cut_triangle *triangles;
    lmi_cut_edge *edges; /* sorted by particle, axis, from, to */
    uint32_t *crossings; /* vertices where the surface crosses a line along x between boxes, sorted by line, then x */
    uint32_t vertex_count, vertex_capacity;
    uint32_t triangle_count, triangle_capacity;
    uint32_t edge_count, edge_capacity;
    uint32_t crossing_count, crossing_capacity;
    bool outward; /* triangles are counter-clockwise from outside: only then there is an inside */
} lmi_cut;

/* Null when out of memory or too large. */
lmi_cut *lmi_cut_make(lmi_memory *memory, const lmi_lattice *lattice, const lm_vec3 *vertices, uint32_t vertex_count,
                      const uint32_t *triangles, uint32_t triangle_count);
void lmi_cut_free(lmi_memory *memory, lmi_cut *cut);

/* Vertices of faces: those of the cut, or LMI_CUT_NODE + the lowest corner of the cell in whose middle a face has a corner. */
#define LMI_CUT_NODE 0x80000000u

/* Where a vertex of a face is, and on which planes. */
uint8_t lmi_cut_place(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t vertex, double at[3]);

/* The inside of the face across a link, as triangles that are counter-clockwise from the far end of the link. */
typedef struct lmi_cut_face {
    uint32_t (*triangles)[3];
    uint32_t count, capacity;
    struct lmi_cut_room *room; /* to find faces in, from the first on */
} lmi_cut_face;

void lmi_cut_face_free(lmi_memory *memory, lmi_cut_face *face);

/* False when out of memory. Where the surface is not closed, the face may be empty. */
bool lmi_cut_find_face(lmi_memory *memory, const lmi_cut *cut, const lmi_lattice *lattice, lmi_lattice_link link,
                       lmi_cut_face *face);

/* The corners of a cell, and what they weigh at a place, in it or beyond it. */
void lmi_cut_ride(const lmi_lattice *lattice, uint32_t cell, const double at[3], uint32_t riders[8], float weights[8]);

/* Whether the middle of a cell is inside the surface. */
bool lmi_cut_is_inside(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t cell);

#endif
