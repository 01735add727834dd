/*
 * Clipping a surface by a sheet (geometry/clip.h).
 */
#include "geometry/clip_work.h"

#include <string.h>

#define NONE LMI_SHEET_NONE

/* Normals of the triangles around a point, and their areas: the sums. */
typedef struct facing {
    lm_dvec3 normal;
    double area;
} facing;

/* Adds up those of earlier cuts, or of the others. */
static void add_normals(const lmi_clip_surface *s, bool inner, facing *sums)
{
    for (uint32_t n = 0; n < s->count; n++) {
        const uint32_t *t = s->triangles[s->which[n]];
        if (inner != (s->inner && s->inner[s->which[n]])) {
            continue;
        }
        lm_dvec3 a = s->points[t[0]];
        lm_dvec3 area = dvec_cross(dvec_sub(s->points[t[1]], a), dvec_sub(s->points[t[2]], a));
        double size = dvec_length(area);
        for (int i = 0; i < 3; i++) {
            sums[t[i]].normal = dvec_add(sums[t[i]].normal, area);
            sums[t[i]].area += size;
        }
    }
}

/* Points of the surface, a hair inwards: against the mean normals around them. The end of a cut, where these are opposite, stays. */
static bool draw_in(lmi_clipper *k)
{
    const lmi_clip_surface *s = k->s;
    facing *sums = lmi_allocate(k->memory, s->point_count, sizeof *sums);
    k->points = lmi_allocate(k->memory, s->point_count, sizeof *k->points);
    bool ok = sums && k->points;
    if (ok) {
        memcpy(k->points, s->points, s->point_count * sizeof *k->points);
    }
    for (int inner = 0; ok && inner < 2; inner++) {
        const double far = inner ? s->drawn : 0.01 * s->drawn;
        memset(sums, 0, s->point_count * sizeof *sums);
        add_normals(s, inner, sums);
        for (uint32_t n = 0; n < s->point_count; n++) {
            if (sums[n].area > 0.0) {
                k->points[n] = dvec_sub(k->points[n], dvec_scale(sums[n].normal, far / sums[n].area));
            }
        }
    }
    lmi_release(k->memory, sums, s->point_count, sizeof *sums);
    return ok;
}
/* Where nodes of the surface are on it as it was given. */
static void place_nodes(lmi_clipper *k)
{
    const lm_dvec3 *p = k->s->points;
    for (uint32_t n = 0; n < k->c->node_count; n++) {
        lmi_clip_node *node = &k->c->nodes[n];
        const uint32_t *t = node->triangle != NONE ? k->s->triangles[node->triangle] : NULL;
        if (t && node->low != NONE) {
            node->at = dvec_add(dvec_scale(p[node->low], node->share[0]), dvec_scale(p[node->high], node->share[1]));
        } else if (t) {
            node->at = dvec_add(dvec_scale(p[t[0]], node->share[0]),
                                dvec_add(dvec_scale(p[t[1]], node->share[1]), dvec_scale(p[t[2]], node->share[2])));
        }
    }
}

bool lmi_clip_make(lmi_clip *c, lmi_memory *memory, const lmi_clip_surface *surface, const lmi_sheet *sheet)
{
    lmi_clipper k = {.c = c, .memory = memory, .s = surface, .sheet = sheet};
    memset(c, 0, sizeof *c);
    c->undecided = sheet->tree.count != sheet->facet_count;
    bool ok = c->undecided || sheet->facet_count == 0 || (draw_in(&k) && lmi_clip_meet(&k));
    if (ok && !c->undecided && sheet->facet_count) {
        ok = lmi_clip_divide(&k) && (c->undecided || lmi_clip_find_faces(&k));
        place_nodes(&k);
    }
    lmi_outline_free(&k.outline, memory);
    lmi_release(memory, k.points, surface->point_count, sizeof *k.points);
    lmi_release(memory, k.near, k.near_room, sizeof *k.near);
    lmi_release(memory, k.pairs, k.pair_room, sizeof *k.pairs);
    lmi_release(memory, k.edges, k.near_count, sizeof *k.edges);
    lmi_release(memory, k.segments, k.segment_room, sizeof *k.segments);
    lmi_release(memory, k.on_edges, k.on_edge_room, sizeof *k.on_edges);
    lmi_release(memory, k.on_sides, k.on_side_room, sizeof *k.on_sides);
    lmi_triples_free(&k.table, memory);
    return ok;
}

void lmi_clip_free(lmi_clip *c, lmi_memory *memory)
{
    lmi_release(memory, c->nodes, c->node_room, sizeof *c->nodes);
    lmi_release(memory, c->hit, c->hit_room, sizeof *c->hit);
    lmi_release(memory, c->pieces, c->piece_room, sizeof *c->pieces);
    lmi_release(memory, c->faces, c->face_room, sizeof *c->faces);
    memset(c, 0, sizeof *c);
}
