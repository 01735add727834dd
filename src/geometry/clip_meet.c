/*
 * Where a surface and a sheet meet (geometry/clip.h).
 */
#include "geometry/clip_work.h"

#include <stdlib.h>

#define NONE LMI_SHEET_NONE

/* An edge of triangles that are near the sheet: pairs of triangles, or one. */
typedef struct half {
    uint32_t low, high, triangle, side;
    bool up;
} half;

/* --- signs --- */

static double volume(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c, lm_dvec3 d)
{
    return dvec_dot(dvec_cross(dvec_sub(b, a), dvec_sub(c, a)), dvec_sub(d, a));
}

/* In front of a facet, or outside of a triangle's plane. */
static double beyond_facet(const lmi_clipper *k, uint32_t facet, uint32_t point)
{
    const uint32_t *f = k->sheet->facets[facet];
    const lm_dvec3 *p = k->sheet->points;
    return volume(p[f[0]], p[f[1]], p[f[2]], k->points[point]);
}

double lmi_clip_beyond(const lmi_clipper *k, const uint32_t *t, uint32_t point)
{
    const lm_dvec3 *p = k->points;
    return volume(p[t[0]], p[t[1]], p[t[2]], k->sheet->points[point]);
}

/* On which side two lines pass each other, always from the same points in the same order. */
static bool passes(const lmi_clipper *k, uint32_t p, uint32_t q, uint32_t a, uint32_t b)
{
    const lm_dvec3 *x = k->points, *y = k->sheet->points;
    bool sign = volume(x[p < q ? p : q], x[p < q ? q : p], y[a < b ? a : b], y[a < b ? b : a]) > 0.0;
    return sign ^ (p > q) ^ (a > b);
}

/* --- nodes --- */

lm_dvec3 lmi_clip_normal(const lmi_clipper *k, uint32_t facet)
{
    return k->sheet->patches[k->sheet->patch[facet]].normal;
}

bool lmi_clip_add_node(lmi_clipper *k, const lmi_clip_node *node, uint32_t *index)
{
    lmi_clip *c = k->c;
    *index = c->node_count;
    bool ok = lmi_grow(k->memory, &c->nodes, &c->node_room, c->node_count + 1, sizeof *c->nodes);
    if (ok) {
        c->nodes[c->node_count++] = *node;
    }
    return ok;
}

static bool add_along(lmi_clipper *k, lmi_clip_along **list, uint32_t *count, uint32_t *room, lmi_clip_along item)
{
    bool ok = lmi_grow(k->memory, list, room, *count + 1, sizeof item);
    if (ok) {
        (*list)[(*count)++] = item;
    }
    return ok;
}

/* Where an edge of the surface goes through a facet. */
static bool edge_node(lmi_clipper *k, uint32_t near, uint32_t side, uint32_t facet, uint32_t *index)
{
    const uint32_t triangle = k->near[near], *t = k->s->triangles[triangle], edge = k->edges[near][side];
    *index = lmi_clipper_get(k, edge, facet, EDGE_NODE);
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
                          .normal = lmi_clip_normal(k, facet),
                          .point = NONE};
    return lmi_clip_add_node(k, &node, index) && lmi_clipper_put(k, edge, facet, EDGE_NODE, *index) &&
           add_along(k, &k->on_edges, &k->on_edge_count, &k->on_edge_room, (lmi_clip_along){edge, *index, share});
}

/* Where an edge of the sheet goes through a triangle. */
static bool side_node(lmi_clipper *k, uint32_t near, uint32_t facet, uint32_t side, uint32_t *index)
{
    const uint32_t triangle = k->near[near], *t = k->s->triangles[triangle], edge = k->sheet->sides[facet][side];
    *index = lmi_clipper_get(k, edge, near, SIDE_NODE);
    if (*index != NONE) {
        return true;
    }
    const lmi_sheet_edge *e = &k->sheet->edges[edge];
    double a = lmi_clip_beyond(k, t, e->low), b = lmi_clip_beyond(k, t, e->high), share = a / (a - b);
    lm_dvec3 from = k->sheet->points[e->low], to = k->sheet->points[e->high];
    lm_dvec3 at = dvec_add(from, dvec_scale(dvec_sub(to, from), share));
    lmi_clip_node node = {.at = at,
                          .triangle = triangle,
                          .low = NONE,
                          .high = NONE,
                          .point = NONE,
                          .single = !e->inner,
                          .normal = lmi_clip_normal(k, facet)};
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
    return lmi_clip_add_node(k, &node, index) && lmi_clipper_put(k, edge, near, SIDE_NODE, *index) &&
           add_along(k, &k->on_sides, &k->on_side_count, &k->on_side_room, (lmi_clip_along){edge, *index, share});
}

/* --- segments --- */

/* The segment of a triangle and a facet, if they meet. */
static bool meet(lmi_clipper *k, uint32_t near, uint32_t facet)
{
    const uint32_t *t = k->s->triangles[k->near[near]], *f = k->sheet->facets[facet];
    bool front[3], outside[3], pass[3][3];
    lmi_clip_meeting segment = {near, facet, NONE, NONE, {false, false}};
    uint32_t found = 0;
    bool ok = true;
    for (uint32_t i = 0; i < 3; i++) {
        front[i] = beyond_facet(k, facet, t[i]) > 0.0;
        outside[i] = lmi_clip_beyond(k, t, f[i]) > 0.0;
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
    ok = lmi_grow(k->memory, &k->segments, &k->segment_room, index + 1, sizeof segment);
    if (ok) {
        k->segments[k->segment_count++] = segment;
        bool taken = lmi_clipper_get(k, near, segment.from, FROM_HERE) != NONE ||
                     lmi_clipper_get(k, near, segment.to, TO_HERE) != NONE ||
                     lmi_clipper_get(k, facet, segment.from, FROM_FACET) != NONE;
        k->c->undecided |= taken;
        ok = lmi_clipper_put(k, near, segment.from, FROM_HERE, index) &&
             lmi_clipper_put(k, near, segment.to, TO_HERE, index) &&
             lmi_clipper_put(k, facet, segment.from, FROM_FACET, index);
    }
    return ok;
}

/* --- what is near --- */

static bool find_near(lmi_clipper *k)
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
        ok = lmi_grow(k->memory, &k->near, &k->near_room, k->near_count + 1, sizeof *k->near) &&
             lmi_grow(k->memory, &k->pairs, &k->pair_room, k->pair_count + 2 * found, sizeof *k->pairs);
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
static bool find_edges(lmi_clipper *k)
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
    const lmi_clip_along *x = a, *y = b;
    if (x->edge != y->edge) {
        return x->edge < y->edge ? -1 : 1;
    }
    if (x->share != y->share) {
        return x->share < y->share ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

uint32_t lmi_clip_first_along(const lmi_clip_along *list, uint32_t count, uint32_t edge)
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
bool lmi_clip_meet(lmi_clipper *k)
{
    bool ok = find_near(k) && find_edges(k);
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
