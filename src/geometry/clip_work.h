/*
 * What the files of clip.c share: a surface and a sheet on their way to what they become (geometry/clip.h).
 *
 *   clip_meet.c    nodes and segments, where triangles and facets meet      clip_divide.c  what triangles become
 *   clip_faces.c   the part of the sheet that is inside                     clip_fill.c    triangles from polygons
 */
#ifndef LMI_CLIP_WORK_H
#define LMI_CLIP_WORK_H

#include "base/triples.h"
#include "geometry/clip.h"

/* A triangle and a facet that meet. */
typedef struct lmi_clip_meeting {
    uint32_t triangle, facet; /* the triangle by its place among those that are hit */
    uint32_t from, to;
    bool done[2]; /* traced along, and back */
} lmi_clip_meeting;

/* Kinds of what is known by two numbers. */
enum { EDGE_NODE, SIDE_NODE, FROM_HERE, TO_HERE, FROM_FACET, BORDER_AT, BORDER_AT_NEAR };

/* Nodes along the edges of the surface or of the sheet, from the lower end on. */
typedef struct lmi_clip_along {
    uint32_t edge, node;
    double share;
} lmi_clip_along;

typedef struct lmi_clipper {
    lmi_clip *c;
    lmi_memory *memory;
    const lmi_clip_surface *s;
    const lmi_sheet *sheet;
    lm_dvec3 *points; /* drawn in by a hair */
    uint32_t *near;   /* triangles that are near the sheet */
    uint32_t near_count, near_room;
    uint32_t *pairs; /* near triangle, facet */
    uint32_t pair_count, pair_room;
    uint32_t (*edges)[3]; /* [near] */
    uint32_t edge_count;
    lmi_clip_meeting *segments;
    uint32_t segment_count, segment_room;
    lmi_clip_along *on_edges, *on_sides;
    uint32_t on_edge_count, on_edge_room, on_side_count, on_side_room;
    lmi_triples table;
    uint8_t *inside; /* [points of the sheet] 0: not known, 1: outside, 2: inside */
    uint32_t *inner; /* [points of the sheet] its node, and one */
    uint32_t *stack; /* [points of the sheet] */
    lmi_outline outline;
} lmi_clipper;

/* Coordinates in the plane of a triangle or facet, from which its corners are counter-clockwise. */
typedef struct lmi_clip_flat {
    lm_dvec3 from, u, v;
} lmi_clip_flat;

/* The border of a triangle: corners, and nodes as 3 + node, counter-clockwise. */
typedef struct lmi_clip_border {
    uint32_t *items;
    bool *done; /* [items] the way from here to the next */
    uint32_t count, room, done_room;
} lmi_clip_border;

/* Segments by triangle or facet. */
typedef struct lmi_clip_by {
    uint32_t key, segment;
} lmi_clip_by;

static inline bool lmi_clipper_put(lmi_clipper *k, uint32_t a, uint32_t b, uint32_t kind, uint32_t value)
{
    return lmi_triples_put(&k->table, k->memory, a, b, kind, value);
}

static inline uint32_t lmi_clipper_get(const lmi_clipper *k, uint32_t a, uint32_t b, uint32_t kind)
{
    return lmi_triples_get(&k->table, a, b, kind);
}

/* clip_meet.c. All return false when out of memory. */
bool lmi_clip_meet(lmi_clipper *k);
double lmi_clip_beyond(const lmi_clipper *k, const uint32_t *triangle,
                       uint32_t point); /* outside of a triangle's plane: above 0 */
lm_dvec3 lmi_clip_normal(const lmi_clipper *k, uint32_t facet);
bool lmi_clip_add_node(lmi_clipper *k, const lmi_clip_node *node, uint32_t *index);
uint32_t lmi_clip_first_along(const lmi_clip_along *list, uint32_t count, uint32_t edge);

/* clip_divide.c */
bool lmi_clip_divide(lmi_clipper *k);
lmi_clip_flat lmi_clip_plane(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c);
bool lmi_clip_walk(lmi_clipper *k, bool near, uint32_t index, lmi_clip_border *b);
bool lmi_clip_outline(lmi_clipper *k, const lmi_clip_flat *p, uint32_t node, uint32_t name);
int lmi_clip_compare_by(const void *a, const void *b);

/* clip_faces.c */
bool lmi_clip_find_faces(lmi_clipper *k);

#endif
