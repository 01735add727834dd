/*
 * What triangles become that a sheet goes through (geometry/clip.h).
 */
#include "geometry/clip_work.h"

#include <stdlib.h>

#define NONE LMI_SHEET_NONE

lmi_clip_flat lmi_clip_plane(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c)
{
    lm_dvec3 normal = dvec_cross(dvec_sub(b, a), dvec_sub(c, a)), axis = dvec_sub(b, a);
    double length = dvec_length(normal), long_side = dvec_length(axis);
    axis = dvec_scale(axis, long_side > 0.0 ? 1.0 / long_side : 0.0);
    normal = dvec_scale(normal, length > 0.0 ? 1.0 / length : 0.0);
    return (lmi_clip_flat){a, axis, dvec_cross(normal, axis)};
}

static void flatten(const lmi_clip_flat *p, lm_dvec3 at, double to[2])
{
    lm_dvec3 from = dvec_sub(at, p->from);
    to[0] = dvec_dot(from, p->u);
    to[1] = dvec_dot(from, p->v);
}

static bool add_border(lmi_clipper *k, lmi_clip_border *b, uint32_t item)
{
    bool ok = lmi_grow(k->memory, &b->items, &b->room, b->count + 1, sizeof *b->items) &&
              lmi_grow(k->memory, &b->done, &b->done_room, b->count + 1, sizeof *b->done);
    if (ok) {
        b->done[b->count] = false;
        b->items[b->count++] = item;
    }
    return ok;
}

/* `near`: of a triangle; else of a facet. Nodes of edges are in the order from their lower end on. */
bool lmi_clip_walk(lmi_clipper *k, bool near, uint32_t index, lmi_clip_border *b)
{
    const uint32_t *corner = near ? k->s->triangles[k->near[index]] : k->sheet->facets[index];
    const lmi_clip_along *list = near ? k->on_edges : k->on_sides;
    const uint32_t all = near ? k->on_edge_count : k->on_side_count;
    bool ok = true;
    b->count = 0;
    for (uint32_t side = 0; side < 3 && ok; side++) {
        const uint32_t edge = near ? k->edges[index][side] : k->sheet->sides[index][side];
        uint32_t first = lmi_clip_first_along(list, all, edge), end = first;
        while (end < all && list[end].edge == edge) {
            end++;
        }
        ok = add_border(k, b, side);
        bool up = corner[side] < corner[(side + 1) % 3];
        for (uint32_t n = first; n < end && ok; n++) {
            uint32_t node = list[up ? n : end - 1 - (n - first)].node;
            ok = add_border(k, b, 3 + node) &&
                 lmi_clipper_put(k, index, node, near ? BORDER_AT_NEAR : BORDER_AT, b->count - 1);
        }
    }
    return ok;
}

static bool outline_corner(lmi_clipper *k, const lmi_clip_flat *p, const uint32_t *corners, uint32_t corner)
{
    double at[2];
    flatten(p, k->points[corners[corner]], at);
    return lmi_outline_add(&k->outline, k->memory, at, corner);
}

bool lmi_clip_outline(lmi_clipper *k, const lmi_clip_flat *p, uint32_t node, uint32_t name)
{
    double at[2];
    flatten(p, k->c->nodes[node].at, at);
    return lmi_outline_add(&k->outline, k->memory, at, name);
}

/* Where a cycle goes on: along the border from an item, or along a segment, or back. */
typedef struct step {
    bool on_border, back;
    uint32_t at;
} step;

static step after_border(const lmi_clipper *k, uint32_t near, const lmi_clip_border *b, uint32_t at)
{
    uint32_t item = b->items[at];
    if (item < 3) {
        return (step){true, false, at};
    }
    uint32_t segment = lmi_clipper_get(k, near, item - 3, FROM_HERE);
    return segment != NONE ? (step){false, false, segment}
                           : (step){false, true, lmi_clipper_get(k, near, item - 3, TO_HERE)};
}

static step after_segment(const lmi_clipper *k, uint32_t near, step now)
{
    const lmi_clip_meeting *s = &k->segments[now.at];
    uint32_t node = now.back ? s->from : s->to;
    if (k->c->nodes[node].low != NONE) { /* on an edge: along the border */
        return (step){true, false, lmi_clipper_get(k, near, node, BORDER_AT_NEAR)};
    }
    uint32_t next = lmi_clipper_get(k, near, node, now.back ? TO_HERE : FROM_HERE);
    return next != NONE && next != now.at ? (step){false, now.back, next} : (step){false, !now.back, now.at};
}

/* One cycle of polygons of a triangle, from a step on. */
static bool trace(lmi_clipper *k, uint32_t near, const lmi_clip_flat *p, lmi_clip_border *b, step now)
{
    const uint32_t *t = k->s->triangles[k->near[near]];
    bool ok = lmi_outline_begin(&k->outline, k->memory);
    for (;;) {
        bool *done = now.on_border ? &b->done[now.at] : &k->segments[now.at].done[now.back];
        if (!ok || *done) {
            return ok;
        }
        *done = true;
        if (now.on_border) {
            uint32_t item = b->items[now.at], next = (now.at + 1) % b->count;
            if (item < 3) {
                ok = outline_corner(k, p, t, item);
            }
            now = after_border(k, near, b, next);
            if (!now.on_border && now.at != NONE) { /* the node that the segment begins with is added by it */
                continue;
            }
            if (!now.on_border) {
                k->c->undecided = true;
                return ok;
            }
        } else {
            const lmi_clip_meeting *s = &k->segments[now.at];
            uint32_t from = now.back ? s->to : s->from, to = now.back ? s->from : s->to;
            ok = lmi_clip_outline(k, p, from, 3 + 2 * from + (now.back && !k->c->nodes[from].single));
            step next = after_segment(k, near, now);
            if (next.on_border) {
                ok = ok && lmi_clip_outline(k, p, to, 3 + 2 * to + now.back);
                if (next.at == NONE) {
                    k->c->undecided = true;
                    return ok;
                }
            }
            now = next;
        }
    }
}

static bool add_pieces(lmi_clipper *k, uint32_t triangle)
{
    lmi_clip *c = k->c;
    const lmi_outline *o = &k->outline;
    bool ok =
        lmi_grow(k->memory, &c->hit, &c->hit_room, c->hit_count + 1, sizeof *c->hit) &&
        lmi_grow(k->memory, &c->pieces, &c->piece_room, c->piece_count + o->triangle_count / 3, sizeof *c->pieces);
    if (ok) {
        c->hit[c->hit_count++] = triangle;
        for (uint32_t n = 0; n < o->triangle_count; n += 3) {
            c->pieces[c->piece_count++] =
                (lmi_clip_piece){triangle, {o->triangles[n], o->triangles[n + 1], o->triangles[n + 2]}};
        }
    }
    return ok;
}

static bool divide_triangle(lmi_clipper *k, uint32_t near, const uint32_t *segments, uint32_t count, lmi_clip_border *b)
{
    const uint32_t *t = k->s->triangles[k->near[near]];
    const lm_dvec3 *p = k->points;
    const lmi_clip_flat plane = lmi_clip_plane(p[t[0]], p[t[1]], p[t[2]]);
    lmi_outline_clear(&k->outline);
    bool ok = lmi_clip_walk(k, true, near, b);
    for (uint32_t n = 0; ok && n < b->count; n++) {
        if (!b->done[n]) {
            ok = trace(k, near, &plane, b, (step){true, false, n});
        }
    }
    for (uint32_t n = 0; ok && n < 2 * count; n++) {
        if (!k->segments[segments[n / 2]].done[n % 2]) {
            ok = trace(k, near, &plane, b, (step){false, n % 2, segments[n / 2]});
        }
    }
    return ok && (k->c->undecided || (lmi_outline_fill(&k->outline, k->memory) && add_pieces(k, k->near[near])));
}

int lmi_clip_compare_by(const void *a, const void *b)
{
    const lmi_clip_by *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

bool lmi_clip_divide(lmi_clipper *k)
{
    lmi_clip_by *list = lmi_allocate(k->memory, k->segment_count, sizeof *list);
    uint32_t *segments = lmi_allocate(k->memory, k->segment_count, sizeof *segments);
    lmi_clip_border b = {0};
    bool ok = list && segments;
    for (uint32_t n = 0; ok && n < k->segment_count; n++) {
        list[n] = (lmi_clip_by){k->segments[n].triangle, n};
    }
    if (ok) {
        qsort(list, k->segment_count, sizeof *list, lmi_clip_compare_by);
    }
    for (uint32_t n = 0, end; ok && !k->c->undecided && n < k->segment_count; n = end) {
        for (end = n; end < k->segment_count && list[end].key == list[n].key; end++) {
            segments[end - n] = list[end].segment;
        }
        ok = divide_triangle(k, list[n].key, segments, end - n, &b);
    }
    lmi_release(k->memory, b.items, b.room, sizeof *b.items);
    lmi_release(k->memory, b.done, b.done_room, sizeof *b.done);
    lmi_release(k->memory, list, k->segment_count, sizeof *list);
    lmi_release(k->memory, segments, k->segment_count, sizeof *segments);
    return ok;
}
