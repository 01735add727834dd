/*
 * Where a surface and a sheet meet (geometry/clip.h).
 */
#include "geometry/clip.h"
#include "base/triples.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_SHEET_NONE

/* A triangle and a facet that meet. */
typedef struct meeting {
    uint32_t triangle, facet; /* the triangle by its place among those that are hit */
    uint32_t from, to;
    bool done[2]; /* traced along, and back */
} meeting;

/* An edge of triangles that are near the sheet: pairs of triangles, or one. */
typedef struct half {
    uint32_t low, high, triangle, side;
    bool up;
} half;

/* Kinds of what is known by two numbers. */
enum { EDGE_NODE, SIDE_NODE, FROM_HERE, TO_HERE, FROM_FACET, BORDER_AT, BORDER_AT_NEAR };

/* Nodes along the edges of the surface or of the sheet, from the lower end on. */
typedef struct along {
    uint32_t edge, node;
    double share;
} along;

typedef struct clipper {
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
    meeting *segments;
    uint32_t segment_count, segment_room;
    along *on_edges, *on_sides;
    uint32_t on_edge_count, on_edge_room, on_side_count, on_side_room;
    lmi_triples table;
    uint8_t *inside; /* [points of the sheet] 0: not known, 1: outside, 2: inside */
    uint32_t *inner; /* [points of the sheet] its node, and one */
    uint32_t *stack; /* [points of the sheet] */
    lmi_outline outline;
} clipper;

static bool reserve(lmi_memory *memory, void *list, uint32_t *room, uint32_t needed, size_t size)
{
    void *array;
    memcpy(&array, list, sizeof array);
    bool ok = lmi_reserve(memory, &array, room, needed, size);
    memcpy(list, &array, sizeof array);
    return ok;
}

static bool put(clipper *k, uint32_t a, uint32_t b, uint32_t kind, uint32_t value)
{
    return lmi_triples_put(&k->table, k->memory, a, b, kind, value);
}

static uint32_t get(const clipper *k, uint32_t a, uint32_t b, uint32_t kind)
{
    return lmi_triples_get(&k->table, a, b, kind);
}

/* --- signs --- */

static double volume(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c, lm_dvec3 d)
{
    return dvec_dot(dvec_cross(dvec_sub(b, a), dvec_sub(c, a)), dvec_sub(d, a));
}

/* In front of a facet, or outside of a triangle's plane. */
static double beyond_facet(const clipper *k, uint32_t facet, uint32_t point)
{
    const uint32_t *f = k->sheet->facets[facet];
    const lm_dvec3 *p = k->sheet->points;
    return volume(p[f[0]], p[f[1]], p[f[2]], k->points[point]);
}

static double beyond_triangle(const clipper *k, const uint32_t *t, uint32_t point)
{
    const lm_dvec3 *p = k->points;
    return volume(p[t[0]], p[t[1]], p[t[2]], k->sheet->points[point]);
}

/* On which side two lines pass each other, always from the same points in the same order. */
static bool passes(const clipper *k, uint32_t p, uint32_t q, uint32_t a, uint32_t b)
{
    const lm_dvec3 *x = k->points, *y = k->sheet->points;
    bool sign = volume(x[p < q ? p : q], x[p < q ? q : p], y[a < b ? a : b], y[a < b ? b : a]) > 0.0;
    return sign ^ (p > q) ^ (a > b);
}

/* --- nodes --- */

static lm_dvec3 normal_of(const clipper *k, uint32_t facet) { return k->sheet->patches[k->sheet->patch[facet]].normal; }

static bool add_node(clipper *k, const lmi_clip_node *node, uint32_t *index)
{
    lmi_clip *c = k->c;
    *index = c->node_count;
    bool ok = reserve(k->memory, (void *)&c->nodes, &c->node_room, c->node_count + 1, sizeof *c->nodes);
    if (ok) {
        c->nodes[c->node_count++] = *node;
    }
    return ok;
}

static bool add_along(clipper *k, along **list, uint32_t *count, uint32_t *room, along item)
{
    bool ok = reserve(k->memory, (void *)list, room, *count + 1, sizeof item);
    if (ok) {
        (*list)[(*count)++] = item;
    }
    return ok;
}

/* Where an edge of the surface goes through a facet. */
static bool edge_node(clipper *k, uint32_t near, uint32_t side, uint32_t facet, uint32_t *index)
{
    const uint32_t triangle = k->near[near], *t = k->s->triangles[triangle], edge = k->edges[near][side];
    *index = get(k, edge, facet, EDGE_NODE);
    if (*index != NONE) {
        return true;
    }
    uint32_t p = t[side], q = t[(side + 1) % 3], low = p < q ? p : q, high = p < q ? q : p;
    double a = beyond_facet(k, facet, low), b = beyond_facet(k, facet, high), share = a / (a - b);
    lm_dvec3 from = k->points[low], to = k->points[high];
    lmi_clip_node node = {.at = dvec_add(from, dvec_scale(dvec_sub(to, from), share)),
                          .triangle = triangle,
                          .low = low,
                          .high = high,
                          .share = {1.0 - share, share, 0.0},
                          .normal = normal_of(k, facet),
                          .point = NONE};
    return add_node(k, &node, index) && put(k, edge, facet, EDGE_NODE, *index) &&
           add_along(k, &k->on_edges, &k->on_edge_count, &k->on_edge_room, (along){edge, *index, share});
}

/* Where an edge of the sheet goes through a triangle. */
static bool side_node(clipper *k, uint32_t near, uint32_t facet, uint32_t side, uint32_t *index)
{
    const uint32_t triangle = k->near[near], *t = k->s->triangles[triangle], edge = k->sheet->sides[facet][side];
    *index = get(k, edge, near, SIDE_NODE);
    if (*index != NONE) {
        return true;
    }
    const lmi_sheet_edge *e = &k->sheet->edges[edge];
    double a = beyond_triangle(k, t, e->low), b = beyond_triangle(k, t, e->high), share = a / (a - b);
    lm_dvec3 from = k->sheet->points[e->low], to = k->sheet->points[e->high];
    lm_dvec3 at = dvec_add(from, dvec_scale(dvec_sub(to, from), share));
    lmi_clip_node node = {.at = at,
                          .triangle = triangle,
                          .low = NONE,
                          .high = NONE,
                          .point = NONE,
                          .single = !e->inner,
                          .normal = normal_of(k, facet)};
    const lm_dvec3 *p = k->points;
    lm_dvec3 normal = dvec_cross(dvec_sub(p[t[1]], p[t[0]]), dvec_sub(p[t[2]], p[t[0]]));
    double all = dvec_dot(normal, normal), sum = 0.0;
    for (int i = 0; i < 3; i++) {
        lm_dvec3 across = dvec_cross(dvec_sub(p[t[(i + 2) % 3]], p[t[(i + 1) % 3]]), dvec_sub(at, p[t[(i + 1) % 3]]));
        node.share[i] = lmi_max(all > 0.0 ? dvec_dot(across, normal) / all : 1.0, 0.0);
        sum += node.share[i];
    }
    for (int i = 0; i < 3; i++) {
        node.share[i] /= sum;
    }
    return add_node(k, &node, index) && put(k, edge, near, SIDE_NODE, *index) &&
           add_along(k, &k->on_sides, &k->on_side_count, &k->on_side_room, (along){edge, *index, share});
}

/* --- segments --- */

/* The segment of a triangle and a facet, if they meet. */
static bool meet(clipper *k, uint32_t near, uint32_t facet)
{
    const uint32_t *t = k->s->triangles[k->near[near]], *f = k->sheet->facets[facet];
    bool front[3], outside[3], pass[3][3];
    meeting segment = {near, facet, NONE, NONE, {false, false}};
    uint32_t found = 0;
    bool ok = true;
    for (uint32_t i = 0; i < 3; i++) {
        front[i] = beyond_facet(k, facet, t[i]) > 0.0;
        outside[i] = beyond_triangle(k, t, f[i]) > 0.0;
    }
    if ((front[0] == front[1] && front[1] == front[2]) || (outside[0] == outside[1] && outside[1] == outside[2])) {
        return true;
    }
    for (uint32_t i = 0; i < 9; i++) {
        pass[i / 3][i % 3] = passes(k, t[i / 3], t[(i / 3 + 1) % 3], f[i % 3], f[(i % 3 + 1) % 3]);
    }
    for (uint32_t i = 0; i < 3 && ok; i++) {
        uint32_t next = (i + 1) % 3, node;
        if (front[i] != front[next] && pass[i][0] == pass[i][1] && pass[i][1] == pass[i][2]) {
            ok = edge_node(k, near, i, facet, &node);
            *(front[i] ? &segment.from : &segment.to) = node;
            found++;
        }
        if (ok && outside[i] != outside[next] && pass[0][i] == pass[1][i] && pass[1][i] == pass[2][i]) {
            ok = side_node(k, near, facet, i, &node);
            *(outside[i] ? &segment.to : &segment.from) = node;
            found++;
        }
    }
    if (!ok || found == 0) {
        return ok;
    }
    if (found != 2 || segment.from == NONE || segment.to == NONE) {
        k->c->undecided = true;
        return true;
    }
    uint32_t index = k->segment_count;
    ok = reserve(k->memory, (void *)&k->segments, &k->segment_room, index + 1, sizeof segment);
    if (ok) {
        k->segments[k->segment_count++] = segment;
        bool taken = get(k, near, segment.from, FROM_HERE) != NONE || get(k, near, segment.to, TO_HERE) != NONE ||
                     get(k, facet, segment.from, FROM_FACET) != NONE;
        k->c->undecided |= taken;
        ok = put(k, near, segment.from, FROM_HERE, index) && put(k, near, segment.to, TO_HERE, index) &&
             put(k, facet, segment.from, FROM_FACET, index);
    }
    return ok;
}

/* --- what is near --- */

static bool find_near(clipper *k)
{
    const lm_dvec3 *p = k->points;
    bool ok = true;
    for (uint32_t n = 0; ok && n < k->s->count; n++) {
        const uint32_t *t = k->s->triangles[k->s->which[n]];
        lm_dvec3 a = p[t[0]], b = p[t[1]], c = p[t[2]];
        lmi_box box = {
            dvec(lmi_min(a.x, lmi_min(b.x, c.x)), lmi_min(a.y, lmi_min(b.y, c.y)), lmi_min(a.z, lmi_min(b.z, c.z))),
            dvec(lmi_max(a.x, lmi_max(b.x, c.x)), lmi_max(a.y, lmi_max(b.y, c.y)), lmi_max(a.z, lmi_max(b.z, c.z)))};
        const lmi_box *s = &k->sheet->box;
        if (box.low.x > s->high.x || box.low.y > s->high.y || box.low.z > s->high.z || box.high.x < s->low.x ||
            box.high.y < s->low.y || box.high.z < s->low.z || t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) {
            continue;
        }
        uint32_t found = lmi_blade_find(&k->sheet->tree, &box);
        if (found == 0) {
            continue;
        }
        ok = reserve(k->memory, (void *)&k->near, &k->near_room, k->near_count + 1, sizeof *k->near) &&
             reserve(k->memory, (void *)&k->pairs, &k->pair_room, k->pair_count + 2 * found, sizeof *k->pairs);
        for (uint32_t i = 0; ok && i < found; i++) {
            k->pairs[k->pair_count++] = k->near_count;
            k->pairs[k->pair_count++] = k->sheet->tree.found[i];
        }
        if (ok) {
            k->near[k->near_count++] = k->s->which[n];
        }
    }
    return ok;
}

static int compare_halves(const void *a, const void *b)
{
    const half *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    if (x->triangle != y->triangle) {
        return x->triangle < y->triangle ? -1 : 1;
    }
    return (int)x->side - (int)y->side;
}

/* Edges of near triangles: those of opposite ways in pairs. */
static bool find_edges(clipper *k)
{
    const uint32_t count = 3 * k->near_count;
    half *halves = lmi_allocate(k->memory, count, sizeof *halves);
    k->edges = lmi_allocate(k->memory, k->near_count, sizeof *k->edges);
    bool ok = halves && k->edges;
    for (uint32_t n = 0; ok && n < count; n++) {
        const uint32_t *t = k->s->triangles[k->near[n / 3]];
        uint32_t a = t[n % 3], b = t[(n % 3 + 1) % 3];
        halves[n] = (half){a < b ? a : b, a < b ? b : a, n / 3, n % 3, a < b};
    }
    if (ok) {
        qsort(halves, count, sizeof *halves, compare_halves);
    }
    for (uint32_t n = 0, end; ok && n < count; n = end) {
        for (end = n + 1; end < count && halves[end].low == halves[n].low && halves[end].high == halves[n].high;) {
            end++;
        }
        for (int way = 0; way < 2; way++) { /* the m-th of one way belongs to the m-th of the other */
            uint32_t edge = k->edge_count;
            for (uint32_t m = n; m < end; m++) {
                if (halves[m].up == (way == 1)) {
                    k->edges[halves[m].triangle][halves[m].side] = edge++;
                }
            }
        }
        k->edge_count += end - n;
    }
    lmi_release(k->memory, halves, count, sizeof *halves);
    return ok;
}

static int compare_along(const void *a, const void *b)
{
    const along *x = a, *y = b;
    if (x->edge != y->edge) {
        return x->edge < y->edge ? -1 : 1;
    }
    if (x->share != y->share) {
        return x->share < y->share ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t first_along(const along *list, uint32_t count, uint32_t edge)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle].edge < edge) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* --- pieces of triangles --- */

/* Coordinates in the plane of a triangle or facet, from which its corners are counter-clockwise. */
typedef struct flat {
    lm_dvec3 from, u, v;
} flat;

static flat plane_of(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c)
{
    lm_dvec3 normal = dvec_cross(dvec_sub(b, a), dvec_sub(c, a)), axis = dvec_sub(b, a);
    double length = dvec_length(normal), long_side = dvec_length(axis);
    axis = dvec_scale(axis, long_side > 0.0 ? 1.0 / long_side : 0.0);
    normal = dvec_scale(normal, length > 0.0 ? 1.0 / length : 0.0);
    return (flat){a, axis, dvec_cross(normal, axis)};
}

static void flatten(const flat *p, lm_dvec3 at, double to[2])
{
    lm_dvec3 from = dvec_sub(at, p->from);
    to[0] = dvec_dot(from, p->u);
    to[1] = dvec_dot(from, p->v);
}

/* The border of a triangle: corners, and nodes as 3 + node, counter-clockwise. */
typedef struct border {
    uint32_t *items;
    bool *done; /* [items] the way from here to the next */
    uint32_t count, room, done_room;
} border;

static bool add_border(clipper *k, border *b, uint32_t item)
{
    bool ok = reserve(k->memory, (void *)&b->items, &b->room, b->count + 1, sizeof *b->items) &&
              reserve(k->memory, (void *)&b->done, &b->done_room, b->count + 1, sizeof *b->done);
    if (ok) {
        b->done[b->count] = false;
        b->items[b->count++] = item;
    }
    return ok;
}

/* `near`: of a triangle; else of a facet. Nodes of edges are in the order from their lower end on. */
static bool walk_border(clipper *k, bool near, uint32_t index, border *b)
{
    const uint32_t *corner = near ? k->s->triangles[k->near[index]] : k->sheet->facets[index];
    const along *list = near ? k->on_edges : k->on_sides;
    const uint32_t all = near ? k->on_edge_count : k->on_side_count;
    bool ok = true;
    b->count = 0;
    for (uint32_t side = 0; side < 3 && ok; side++) {
        const uint32_t edge = near ? k->edges[index][side] : k->sheet->sides[index][side];
        uint32_t first = first_along(list, all, edge), end = first;
        while (end < all && list[end].edge == edge) {
            end++;
        }
        ok = add_border(k, b, side);
        bool up = corner[side] < corner[(side + 1) % 3];
        for (uint32_t n = first; n < end && ok; n++) {
            uint32_t node = list[up ? n : end - 1 - (n - first)].node;
            ok = add_border(k, b, 3 + node) && put(k, index, node, near ? BORDER_AT_NEAR : BORDER_AT, b->count - 1);
        }
    }
    return ok;
}

static bool outline_corner(clipper *k, const flat *p, const uint32_t *corners, uint32_t corner)
{
    double at[2];
    flatten(p, k->points[corners[corner]], at);
    return lmi_outline_add(&k->outline, k->memory, at, corner);
}

static bool outline_node(clipper *k, const flat *p, uint32_t node, uint32_t name)
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

static step after_border(const clipper *k, uint32_t near, const border *b, uint32_t at)
{
    uint32_t item = b->items[at];
    if (item < 3) {
        return (step){true, false, at};
    }
    uint32_t segment = get(k, near, item - 3, FROM_HERE);
    return segment != NONE ? (step){false, false, segment} : (step){false, true, get(k, near, item - 3, TO_HERE)};
}

static step after_segment(const clipper *k, uint32_t near, step now)
{
    const meeting *s = &k->segments[now.at];
    uint32_t node = now.back ? s->from : s->to;
    if (k->c->nodes[node].low != NONE) { /* on an edge: along the border */
        return (step){true, false, get(k, near, node, BORDER_AT_NEAR)};
    }
    uint32_t next = get(k, near, node, now.back ? TO_HERE : FROM_HERE);
    return next != NONE && next != now.at ? (step){false, now.back, next} : (step){false, !now.back, now.at};
}

/* One cycle of polygons of a triangle, from a step on. */
static bool trace(clipper *k, uint32_t near, const flat *p, border *b, step now)
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
            const meeting *s = &k->segments[now.at];
            uint32_t from = now.back ? s->to : s->from, to = now.back ? s->from : s->to;
            ok = outline_node(k, p, from, 3 + 2 * from + (now.back && !k->c->nodes[from].single));
            step next = after_segment(k, near, now);
            if (next.on_border) {
                ok = ok && outline_node(k, p, to, 3 + 2 * to + now.back);
                if (next.at == NONE) {
                    k->c->undecided = true;
                    return ok;
                }
            }
            now = next;
        }
    }
}

static bool add_pieces(clipper *k, uint32_t triangle)
{
    lmi_clip *c = k->c;
    const lmi_outline *o = &k->outline;
    bool ok = reserve(k->memory, (void *)&c->hit, &c->hit_room, c->hit_count + 1, sizeof *c->hit) &&
              reserve(k->memory, (void *)&c->pieces, &c->piece_room, c->piece_count + o->triangle_count / 3,
                      sizeof *c->pieces);
    if (ok) {
        c->hit[c->hit_count++] = triangle;
        for (uint32_t n = 0; n < o->triangle_count; n += 3) {
            c->pieces[c->piece_count++] =
                (lmi_clip_piece){triangle, {o->triangles[n], o->triangles[n + 1], o->triangles[n + 2]}};
        }
    }
    return ok;
}

static bool divide_triangle(clipper *k, uint32_t near, const uint32_t *segments, uint32_t count, border *b)
{
    const uint32_t *t = k->s->triangles[k->near[near]];
    const lm_dvec3 *p = k->points;
    const flat plane = plane_of(p[t[0]], p[t[1]], p[t[2]]);
    lmi_outline_clear(&k->outline);
    bool ok = walk_border(k, true, near, b);
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

typedef struct by {
    uint32_t key, segment;
} by;

static int compare_by(const void *a, const void *b)
{
    const by *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static bool divide_triangles(clipper *k)
{
    by *list = lmi_allocate(k->memory, k->segment_count, sizeof *list);
    uint32_t *segments = lmi_allocate(k->memory, k->segment_count, sizeof *segments);
    border b = {0};
    bool ok = list && segments;
    for (uint32_t n = 0; ok && n < k->segment_count; n++) {
        list[n] = (by){k->segments[n].triangle, n};
    }
    if (ok) {
        qsort(list, k->segment_count, sizeof *list, compare_by);
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

/* --- what is inside --- */

/* Crossings of the surface in a direction that is nobody's. */
static bool is_inside(const clipper *k, lm_dvec3 at)
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

static void settle(clipper *k, uint32_t point, bool inside)
{
    uint8_t as = inside ? 2 : 1;
    k->c->open |= k->inside[point] != 0 && k->inside[point] != as;
    k->inside[point] = as;
}

/* Ends of edges that cross the surface know on which side they are; others are where their neighbours are. */
static bool find_inside(clipper *k)
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
        settle(k, e->low, !(beyond_triangle(k, a, e->low) > 0.0));
        settle(k, e->high, !(beyond_triangle(k, b, e->high) > 0.0));
    }
    for (uint32_t n = 0; ok && n < s->edge_count; n++) {
        uint32_t at = first_along(k->on_sides, k->on_side_count, n);
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
static bool inner_node(clipper *k, uint32_t facet, uint32_t point, uint32_t *index)
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
                          .normal = normal_of(k, facet),
                          .single = k->sheet->border[point]};
    bool ok = add_node(k, &node, index);
    k->inner[point] = ok ? *index + 1 : 0;
    return ok;
}

/* One cycle of a facet, with the inside on the left, from a segment on. */
static bool trace_facet(clipper *k, uint32_t facet, const flat *p, const border *b, uint32_t start)
{
    const uint32_t *f = k->sheet->facets[facet];
    uint32_t at = start;
    bool ok = lmi_outline_begin(&k->outline, k->memory);
    while (ok && at != NONE && !k->segments[at].done[0]) {
        meeting *s = &k->segments[at];
        s->done[0] = true;
        ok = outline_node(k, p, s->from, s->from);
        if (k->c->nodes[s->to].low != NONE) {
            at = get(k, facet, s->to, FROM_FACET);
            continue;
        }
        ok = ok && outline_node(k, p, s->to, s->to);
        uint32_t item = get(k, facet, s->to, BORDER_AT);
        if (item == NONE) {
            break;
        }
        for (item = (item + 1) % b->count; ok && b->items[item] < 3; item = (item + 1) % b->count) {
            uint32_t node;
            ok = inner_node(k, facet, f[b->items[item]], &node) && outline_node(k, p, node, node);
        }
        at = get(k, facet, b->items[item] - 3, FROM_FACET);
    }
    k->c->open |= at != start;
    return ok;
}

static bool add_faces(clipper *k, uint32_t facet)
{
    lmi_clip *c = k->c;
    const lmi_outline *o = &k->outline;
    bool ok =
        reserve(k->memory, (void *)&c->faces, &c->face_room, c->face_count + o->triangle_count / 3, sizeof *c->faces);
    for (uint32_t n = 0; ok && n < o->triangle_count; n += 3) {
        c->faces[c->face_count++] = (lmi_clip_face){facet, {o->triangles[n], o->triangles[n + 1], o->triangles[n + 2]}};
    }
    return ok;
}

static bool fill_facet(clipper *k, uint32_t facet, const by *list, uint32_t count, border *b)
{
    const uint32_t *f = k->sheet->facets[facet];
    const lm_dvec3 *p = k->sheet->points;
    const flat plane = plane_of(p[f[0]], p[f[1]], p[f[2]]);
    lmi_outline_clear(&k->outline);
    bool ok = walk_border(k, false, facet, b);
    for (uint32_t n = 0; ok && n < count; n++) {
        if (!k->segments[list[n].segment].done[0]) {
            ok = trace_facet(k, facet, &plane, b, list[n].segment);
        }
    }
    if (ok && b->count == 3 && k->inside[f[0]] == 2) {
        ok = lmi_outline_begin(&k->outline, k->memory);
        for (uint32_t n = 0; n < 3 && ok; n++) {
            uint32_t node;
            ok = inner_node(k, facet, f[n], &node) && outline_node(k, &plane, node, node);
        }
    }
    return ok && lmi_outline_fill(&k->outline, k->memory) && add_faces(k, facet);
}

static bool fill_facets(clipper *k)
{
    by *list = lmi_allocate(k->memory, k->segment_count, sizeof *list);
    border b = {0};
    bool ok = list != NULL;
    for (uint32_t n = 0; ok && n < k->segment_count; n++) {
        list[n] = (by){k->segments[n].facet, n};
        k->segments[n].done[0] = k->segments[n].done[1] = false;
    }
    if (ok) {
        qsort(list, k->segment_count, sizeof *list, compare_by);
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

/* --- the whole --- */

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
static bool draw_in(clipper *k)
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

static bool find_segments(clipper *k)
{
    bool ok = draw_in(k) && find_near(k) && find_edges(k);
    for (uint32_t n = 0; ok && !k->c->undecided && n < k->pair_count; n += 2) {
        ok = meet(k, k->pairs[n], k->pairs[n + 1]);
    }
    if (ok && k->on_edge_count) {
        qsort(k->on_edges, k->on_edge_count, sizeof *k->on_edges, compare_along);
    }
    if (ok && k->on_side_count) {
        qsort(k->on_sides, k->on_side_count, sizeof *k->on_sides, compare_along);
    }
    return ok;
}

static bool find_faces(clipper *k)
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

/* Where nodes of the surface are on it as it was given. */
static void place_nodes(clipper *k)
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
    clipper k = {.c = c, .memory = memory, .s = surface, .sheet = sheet};
    memset(c, 0, sizeof *c);
    c->undecided = sheet->tree.count != sheet->facet_count;
    bool ok = c->undecided || sheet->facet_count == 0 || find_segments(&k);
    if (ok && !c->undecided && sheet->facet_count) {
        ok = divide_triangles(&k) && (c->undecided || find_faces(&k));
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
