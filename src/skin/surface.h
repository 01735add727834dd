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
#ifndef LMI_SURFACE_H
#define LMI_SURFACE_H

#include "lattice/lattice.h"

typedef struct lmi_cut_vertex {
    double at[3];
    uint32_t weld;   /* the first vertex at this place */
    uint32_t cell;   /* lowest corner of the cell it is in, or of the nearest one */
    uint32_t given;  /* vertex of the surface as it was given, or LMI_LATTICE_NONE */
    uint32_t source; /* that, or the nearest one along the edge that was divided */
    lm_vec3 normal;  /* body frame: that of the surface as it was given, between its vertices too */
    uint8_t planes;  /* bit a: it is on a plane across axis a */
    bool outside;    /* of all cells */
} lmi_cut_vertex;

typedef struct lmi_cut_triangle {
    uint32_t corner[3];
    uint32_t owner; /* the particle in whose box it is */
    uint32_t given; /* the triangle of the surface as it was given that it is a piece of */
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
    /* What is where (surface_index.c): vertices by place, from first_near[place] on, and corners of triangles by vertex, from
     * first_corner[vertex] on, in the order of the triangles. */
    uint32_t *first_near, *near;
    uint32_t *first_corner, *corners; /* 3 * triangle + corner */
    uint32_t place_count, near_count;
    uint32_t vertex_count, vertex_capacity;
    uint32_t triangle_count, triangle_capacity;
    uint32_t edge_count, edge_capacity;
    uint32_t crossing_count, crossing_capacity;
    bool outward; /* triangles are counter-clockwise from outside: only then there is an inside */
} lmi_cut;

/* A surface as it was given. */
typedef struct lmi_cut_surface {
    const lm_vec3 *vertices, *normals;
    uint32_t vertex_count;
    const uint32_t *triangles;
    uint32_t triangle_count;
} lmi_cut_surface;

/* Null when out of memory or too large. */
lmi_cut *lmi_cut_make(lmi_memory *memory, const lmi_lattice *lattice, const lmi_cut_surface *surface);
void lmi_cut_free(lmi_memory *memory, lmi_cut *cut);

/* Vertices of faces: those of the cut, or LMI_CUT_NODE + the lowest corner of the cell in whose middle a face has a corner. */
#define LMI_CUT_NODE 0x80000000u

/* Where a vertex of a face is, and on which planes. */
uint8_t lmi_cut_place(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t vertex, double at[3]);

/* When a link breaks, the vertices that may change are those near the lowest corners of the four cells that it is an edge of. A
 * vertex is near the lowest corner of its cell; one outside of all cells also near the lower ends of links between boxes around
 * it. Places are of the lattice, LMI_LATTICE_NONE is none. */
void lmi_cut_link_places(const lmi_lattice *lattice, lmi_lattice_link link, uint32_t places[4]);

/* Fills the lists of what is where. False when out of memory. */
bool lmi_cut_index(lmi_memory *memory, const lmi_lattice *lattice, lmi_cut *cut);
void lmi_cut_index_free(lmi_memory *memory, lmi_cut *cut);

/* The boxes around a vertex: two along each axis that has a plane there; bit a of a box's number is set for the upper one. */
typedef struct lmi_cut_around {
    double at[3];
    uint32_t particle[8]; /* of each box, or LMI_LATTICE_NONE */
    uint8_t group[8];     /* the lowest box that unbroken links between these boxes join with it */
} lmi_cut_around;

/* The group of triangles that belong to a particle without a box here. */
#define LMI_CUT_ALONE 8

/* Without the groups, which need not be known where nothing is broken. */
void lmi_cut_find_boxes(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t vertex, lmi_cut_around *around);
void lmi_cut_look_around(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t vertex, lmi_cut_around *around);
uint8_t lmi_cut_group_of(const lmi_cut_around *around, uint32_t particle); /* or LMI_CUT_ALONE */

/* Whether a vertex is in a cell with broken links, or between boxes whose link is broken: there each group has its own. */
bool lmi_cut_is_torn(const lmi_cut *cut, const lmi_lattice *lattice, uint32_t vertex);

/* What the vertex of a group rides on there: the cell of the nearest chip (fracture/chips.h) of the group, continued
 * beyond it. Of LMI_CUT_ALONE that of `owner`. */
void lmi_cut_ride_chip(const lmi_lattice *lattice, const uint32_t *chips, const lmi_cut_around *around, uint8_t group,
                       uint32_t owner, uint32_t riders[8], float weights[8]);

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
