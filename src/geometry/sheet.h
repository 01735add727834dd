/*
 * A blade made ready to clip a surface: small facets that share their corners.
 *
 * Triangles of the blade that share an edge are turned the same way, and divided until they are about as large as the cells of the
 * body, near the body; what is far from it stays coarse. Whether an edge is divided depends on the edge alone, so that facets on
 * both sides of it agree. A hair is added along the border, so that strokes that begin where others ended leave no bridge; and
 * everything is moved by a hair, so that no corner of a surface lies on a facet exactly: which hair depends on `seed`.
 */
#ifndef LMI_SHEET_H
#define LMI_SHEET_H

#include "geometry/blade.h"

#define LMI_SHEET_NONE UINT32_MAX

/* An edge of facets, its lower corner first. One between two facets is inner; others, and those where more than two meet or two
 * that are turned against each other, are the border of one facet. */
typedef struct lmi_sheet_edge {
    uint32_t low, high;
    bool inner;
} lmi_sheet_edge;

/* A triangle of the blade as it was given: coordinates on the blade are at + ((p - from) . u, (p - from) . v), in metres, and go
 * on across edges without a crease. */
typedef struct lmi_sheet_patch {
    lm_dvec3 corner[3];
    uint32_t point[3]; /* corners at the same place are one */
    lm_dvec3 from, u, v, normal;
    double at[2];
    uint32_t smooth; /* the same where edges without a crease lead */
} lmi_sheet_patch;

typedef struct lmi_sheet {
    lm_dvec3 *points;
    bool *border; /* [points] of the sheet */
    uint32_t point_count, point_room;
    uint32_t (*facets)[3];
    uint32_t (*sides)[3]; /* edges from corner n to the next */
    uint32_t *patch;      /* [facets] */
    uint32_t facet_count, facet_room;
    lmi_sheet_edge *edges;
    uint32_t edge_count, edge_room;
    lmi_sheet_patch *patches;
    uint32_t patch_count, patch_room;
    lmi_blade tree; /* of the facets */
    lmi_box box;
} lmi_sheet;

/* Where an earlier cut ended inside: an edge, and from it the way back between its two faces. */
typedef struct lmi_sheet_tip {
    lm_dvec3 from, to, back;
} lmi_sheet_tip;

typedef struct lmi_sheet_tips {
    lmi_sheet_tip *items;
    uint32_t count, room;
} lmi_sheet_tips;

/* `near`: around the body; `grain`: how long edges may be there; `tips` (or null): the border begins between the faces
 * of cuts that ended near it. Returns false when out of memory; to be freed then, too. A blade
 * whose triangles have no area makes a sheet without facets. */
bool lmi_sheet_make(lmi_sheet *sheet, lmi_memory *memory, const lmi_blade_triangle *triangles, uint32_t count,
                    const lmi_box *near, double grain, const lmi_sheet_tips *tips, uint32_t seed);
void lmi_sheet_free(lmi_sheet *sheet, lmi_memory *memory);

/* Metres on the blade of a place on a facet. */
void lmi_sheet_coordinates(const lmi_sheet *sheet, uint32_t facet, lm_dvec3 place, float to[2]);

/* A number from -1 to 1 that looks like chance. */
double lmi_sheet_noise(uint64_t a, uint64_t b);

#endif
