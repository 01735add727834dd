/*
 * Clipping a surface by a sheet (geometry/sheet.h): where they meet, what triangles of the surface become, and the part of the
 * sheet that is inside.
 *
 * The two meet in segments, one for each triangle and facet that meet. A segment ends where an edge of the surface goes through a
 * facet, or where an edge of the sheet goes through a triangle: these are the nodes. Who is on which side of whom is decided by
 * the signs of volumes that everybody computes from the same points in the same order, so that all that follows is a matter of
 * signs and not of distances: segments join into chains, chains divide triangles and facets into polygons, and polygons into
 * triangles. No point lies on a plane, because the sheet was moved by a hair; should signs disagree nevertheless, the caller
 * tries another hair.
 *
 * A segment goes from `from` to `to` such that, seen from outside of the surface, what is on the front of the facet (from where its
 * corners are counter-clockwise) is on its left; and seen from the front of the facet, the inside of the surface is on its left.
 *
 * Each node belongs to both sides of the sheet and is to become two points, but for those on the border of the sheet. Side 0 is
 * in front of the facets.
 */
#ifndef LMI_CLIP_H
#define LMI_CLIP_H

#include "geometry/sheet.h"

/* A surface: triangles that share points. Edges where not exactly two triangles meet are taken in pairs, as many as there are. */
typedef struct lmi_clip_surface {
    const lm_dvec3 *points;
    const uint32_t (*triangles)[3];
    const uint32_t *which; /* [count] the triangles that are clipped */
    uint32_t count;
    uint32_t point_count;
    const bool *inner; /* [triangles] of an earlier cut; null: none is */
    double
        drawn; /* metres by which the surface is drawn in where it was cut, and a hundredth of that elsewhere: both sides of a cut
                        * that is closed are in the same place, and a sheet that goes on from its end is to begin between them */
} lmi_clip_surface;

typedef struct lmi_clip_node {
    lm_dvec3 at;
    uint32_t triangle; /* that it is on, or at the edge of; LMI_SHEET_NONE: it is a point of the sheet, inside */
    uint32_t low,
        high; /* points of the surface that it is between, at `share` of the way; LMI_SHEET_NONE: inside the triangle */
    double share[3]; /* of the corners of the triangle; of an edge: share[0] is of `low`, share[1] of `high` */
    lm_dvec3 normal; /* of a facet that it is on, unit */
    uint32_t point;  /* of the sheet; LMI_SHEET_NONE: none */
    bool single;     /* it stays one point */
} lmi_clip_node;

/* Corners of what a triangle becomes: 0 to 2 are its own, others 3 + 2 * node + side. */
typedef struct lmi_clip_piece {
    uint32_t triangle, corner[3];
} lmi_clip_piece;

/* Part of a facet that is inside: three nodes, counter-clockwise from the front. */
typedef struct lmi_clip_face {
    uint32_t facet, node[3];
} lmi_clip_face;

typedef struct lmi_clip {
    lmi_clip_node *nodes;
    uint32_t node_count, node_room;
    uint32_t *hit; /* triangles that became pieces, in their order */
    uint32_t hit_count, hit_room;
    lmi_clip_piece *pieces;
    uint32_t piece_count, piece_room;
    lmi_clip_face *faces;
    uint32_t face_count, face_room;
    bool open;      /* the surface has no inside: there are no faces */
    bool undecided; /* signs disagreed: it is to be tried again with another sheet, and nothing else here counts */
} lmi_clip;

/* False when out of memory. To be freed in any case. */
bool lmi_clip_make(lmi_clip *clip, lmi_memory *memory, const lmi_clip_surface *surface, const lmi_sheet *sheet);
void lmi_clip_free(lmi_clip *clip, lmi_memory *memory);

/* Where earlier cuts ended inside of a surface: edges at which two of their faces meet that are turned against each other. False when out
 * of memory; to be freed in any case. */
bool lmi_clip_tips(lmi_sheet_tips *tips, lmi_memory *memory, const lmi_clip_surface *surface, const lmi_box *near);
void lmi_sheet_tips_free(lmi_sheet_tips *tips, lmi_memory *memory);

/* --- between clip.c and clip_fill.c --- */

/* Polygons in a plane, to be divided into triangles: outlines counter-clockwise, holes clockwise, slits in between. */
typedef struct lmi_outline {
    double (*at)[2];
    uint32_t *name;  /* what the caller calls a point */
    uint32_t *first; /* of each cycle, and the end of the last */
    uint32_t count, cycles;
    uint32_t at_room, name_room, first_room;
    /* Room for the triangles, three names each, and for the work. */
    uint32_t *triangles;
    uint32_t triangle_count, triangle_room;
    double *ear;
    uint32_t ear_room;
    uint32_t *ring;
    uint32_t ring_room;
} lmi_outline;

void lmi_outline_clear(lmi_outline *outline);
bool lmi_outline_begin(lmi_outline *outline, lmi_memory *memory); /* a cycle; the last one ends */
bool lmi_outline_add(lmi_outline *outline, lmi_memory *memory, const double at[2], uint32_t name);
bool lmi_outline_fill(lmi_outline *outline, lmi_memory *memory); /* false when out of memory */
void lmi_outline_free(lmi_outline *outline, lmi_memory *memory);

#endif
