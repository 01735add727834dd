/*
 * The part of a sheet that is inside (geometry/clip.h).
 */
#include "geometry/clip_work.h"

#include <stdlib.h>

#define NONE LMI_SHEET_NONE

/* --- what is inside --- */

/* Crossings of the surface in a direction that is nobody's. */
static bool is_inside(const lmi_clipper *k, lm_dvec3 at)
{
    const lm_dvec3 way = {0.4472831, 0.7231567, 0.5262913}, *p = k->points;
    int sum = 0;
    for (uint32_t n = 0; n < k->s->count; n++) {
        const uint32_t *t = k->s->triangles[k->s->which[n]];
        lm_dvec3 a = dvec_sub(p[t[0]], at), b = dvec_sub(p[t[1]], at), c = dvec_sub(p[t[2]], at);
        double x = dvec_dot(way, dvec_cross(a, b)), y = dvec_dot(way, dvec_cross(b, c)),
               z = dvec_dot(way, dvec_cross(c, a));
        bool up = x > 0.0;
        if (up != (y > 0.0) || up != (z > 0.0)) {
            continue;
        }
        double ahead = dvec_dot(dvec_cross(dvec_sub(b, a), dvec_sub(c, a)), a);
        sum += (ahead > 0.0) == up ? (up ? 1 : -1) : 0;
    }
    return sum > 0;
}

static void settle(lmi_clipper *k, uint32_t point, bool inside)
{
    uint8_t as = inside ? 2 : 1;
    k->c->open |= k->inside[point] != 0 && k->inside[point] != as;
    k->inside[point] = as;
}

/* Ends of edges that cross the surface know on which side they are; others are where their neighbours are. */
static bool find_inside(lmi_clipper *k)
{
    const lmi_sheet *s = k->sheet;
    uint32_t *first = lmi_allocate(k->memory, (size_t)s->point_count + 1, sizeof *first);
    uint32_t *others = lmi_allocate(k->memory, (size_t)2 * s->edge_count, sizeof *others);
    bool ok = first && others;
    for (uint32_t n = 0, end; ok && n < k->on_side_count; n = end) {
        const lmi_sheet_edge *e = &s->edges[k->on_sides[n].edge];
        for (end = n; end < k->on_side_count && k->on_sides[end].edge == k->on_sides[n].edge;) {
            end++;
        }
        const uint32_t *a = k->s->triangles[k->c->nodes[k->on_sides[n].node].triangle];
        const uint32_t *b = k->s->triangles[k->c->nodes[k->on_sides[end - 1].node].triangle];
        settle(k, e->low, !(lmi_clip_beyond(k, a, e->low) > 0.0));
        settle(k, e->high, !(lmi_clip_beyond(k, b, e->high) > 0.0));
    }
    for (uint32_t n = 0; ok && n < s->edge_count; n++) {
        uint32_t at = lmi_clip_first_along(k->on_sides, k->on_side_count, n);
        bool crossed = at < k->on_side_count && k->on_sides[at].edge == n;
        first[s->edges[n].low] += !crossed;
        first[s->edges[n].high] += !crossed;
        others[2 * n] = crossed;
    }
    uint32_t sum = 0;
    uint32_t *list = ok ? lmi_allocate(k->memory, (size_t)2 * s->edge_count, sizeof *list) : NULL;
    ok = ok && list;
    for (uint32_t n = 0; ok && n <= s->point_count; n++) {
        uint32_t count = first[n];
        first[n] = sum;
        sum += count;
    }
    for (uint32_t n = 0; ok && n < s->edge_count; n++) {
        if (!others[2 * n]) {
            list[first[s->edges[n].low]++] = s->edges[n].high;
            list[first[s->edges[n].high]++] = s->edges[n].low;
        }
    }
    uint32_t depth = 0;
    for (uint32_t n = 0; ok && n < s->point_count; n++) {
        if (k->inside[n]) {
            k->stack[depth++] = n;
        }
    }
    for (uint32_t n = 0; ok && n <= s->point_count; n++) {
        while (depth) {
            uint32_t point = k->stack[--depth];
            for (uint32_t m = point ? first[point - 1] : 0; m < first[point]; m++) {
                bool fresh = !k->inside[list[m]];
                settle(k, list[m], k->inside[point] == 2);
                if (fresh) {
                    k->stack[depth++] = list[m];
                }
            }
        }
        if (n < s->point_count && !k->inside[n]) {
            settle(k, n, is_inside(k, s->points[n]));
            k->stack[depth++] = n;
        }
    }
    lmi_release(k->memory, list, (size_t)2 * s->edge_count, sizeof *list);
    lmi_release(k->memory, first, (size_t)s->point_count + 1, sizeof *first);
    lmi_release(k->memory, others, (size_t)2 * s->edge_count, sizeof *others);
    return ok;
}

/* --- faces --- */

/* The node of a point of the sheet that is inside. */
static bool inner_node(lmi_clipper *k, uint32_t facet, uint32_t point, uint32_t *index)
{
    if (k->inner[point]) {
        *index = k->inner[point] - 1;
        return true;
    }
    lmi_clip_node node = {.at = k->sheet->points[point],
                          .triangle = NONE,
                          .low = NONE,
                          .high = NONE,
                          .point = point,
                          .normal = lmi_clip_normal(k, facet),
                          .single = k->sheet->border[point]};
    bool ok = lmi_clip_add_node(k, &node, index);
    k->inner[point] = ok ? *index + 1 : 0;
    return ok;
}

/* One cycle of a facet, with the inside on the left, from a segment on. */
static bool trace_facet(lmi_clipper *k, uint32_t facet, const lmi_clip_flat *p, const lmi_clip_border *b,
                        uint32_t start)
{
    const uint32_t *f = k->sheet->facets[facet];
    uint32_t at = start;
    bool ok = lmi_outline_begin(&k->outline, k->memory);
    while (ok && at != NONE && !k->segments[at].done[0]) {
        lmi_clip_meeting *s = &k->segments[at];
        s->done[0] = true;
        ok = lmi_clip_outline(k, p, s->from, s->from);
        if (k->c->nodes[s->to].low != NONE) {
            at = lmi_clipper_get(k, facet, s->to, FROM_FACET);
            continue;
        }
        ok = ok && lmi_clip_outline(k, p, s->to, s->to);
        uint32_t item = lmi_clipper_get(k, facet, s->to, BORDER_AT);
        if (item == NONE) {
            break;
        }
        for (item = (item + 1) % b->count; ok && b->items[item] < 3; item = (item + 1) % b->count) {
            uint32_t node;
            ok = inner_node(k, facet, f[b->items[item]], &node) && lmi_clip_outline(k, p, node, node);
        }
        at = lmi_clipper_get(k, facet, b->items[item] - 3, FROM_FACET);
    }
    k->c->open |= at != start;
    return ok;
}

static bool add_faces(lmi_clipper *k, uint32_t facet)
{
    lmi_clip *c = k->c;
    const lmi_outline *o = &k->outline;
    bool ok = lmi_grow(k->memory, &c->faces, &c->face_room, c->face_count + o->triangle_count / 3, sizeof *c->faces);
    for (uint32_t n = 0; ok && n < o->triangle_count; n += 3) {
        c->faces[c->face_count++] = (lmi_clip_face){facet, {o->triangles[n], o->triangles[n + 1], o->triangles[n + 2]}};
    }
    return ok;
}

static bool fill_facet(lmi_clipper *k, uint32_t facet, const lmi_clip_by *list, uint32_t count, lmi_clip_border *b)
{
    const uint32_t *f = k->sheet->facets[facet];
    const lm_dvec3 *p = k->sheet->points;
    const lmi_clip_flat plane = lmi_clip_plane(p[f[0]], p[f[1]], p[f[2]]);
    lmi_outline_clear(&k->outline);
    bool ok = lmi_clip_walk(k, false, facet, b);
    for (uint32_t n = 0; ok && n < count; n++) {
        if (!k->segments[list[n].segment].done[0]) {
            ok = trace_facet(k, facet, &plane, b, list[n].segment);
        }
    }
    if (ok && b->count == 3 && k->inside[f[0]] == 2) {
        ok = lmi_outline_begin(&k->outline, k->memory);
        for (uint32_t n = 0; n < 3 && ok; n++) {
            uint32_t node;
            ok = inner_node(k, facet, f[n], &node) && lmi_clip_outline(k, &plane, node, node);
        }
    }
    return ok && lmi_outline_fill(&k->outline, k->memory) && add_faces(k, facet);
}

static bool fill_facets(lmi_clipper *k)
{
    lmi_clip_by *list = lmi_allocate(k->memory, k->segment_count, sizeof *list);
    lmi_clip_border b = {0};
    bool ok = list != NULL;
    for (uint32_t n = 0; ok && n < k->segment_count; n++) {
        list[n] = (lmi_clip_by){k->segments[n].facet, n};
        k->segments[n].done[0] = k->segments[n].done[1] = false;
    }
    if (ok) {
        qsort(list, k->segment_count, sizeof *list, lmi_clip_compare_by);
    }
    for (uint32_t facet = 0, n = 0; ok && !k->c->open && facet < k->sheet->facet_count; facet++) {
        uint32_t end = n;
        while (end < k->segment_count && list[end].key == facet) {
            end++;
        }
        if (end > n || k->inside[k->sheet->facets[facet][0]] == 2) {
            ok = fill_facet(k, facet, list + n, end - n, &b);
        }
        n = end;
    }
    lmi_release(k->memory, b.items, b.room, sizeof *b.items);
    lmi_release(k->memory, b.done, b.done_room, sizeof *b.done);
    lmi_release(k->memory, list, k->segment_count, sizeof *list);
    return ok;
}

bool lmi_clip_find_faces(lmi_clipper *k)
{
    const size_t points = k->sheet->point_count;
    k->inside = lmi_allocate(k->memory, points, sizeof *k->inside);
    k->inner = lmi_allocate(k->memory, points, sizeof *k->inner);
    k->stack = lmi_allocate(k->memory, points, sizeof *k->stack);
    bool ok = k->inside && k->inner && k->stack && find_inside(k);
    ok = ok && (k->c->open || fill_facets(k));
    k->c->face_count = k->c->open ? 0 : k->c->face_count;
    lmi_release(k->memory, k->inside, points, sizeof *k->inside);
    lmi_release(k->memory, k->inner, points, sizeof *k->inner);
    lmi_release(k->memory, k->stack, points, sizeof *k->stack);
    return ok;
}
