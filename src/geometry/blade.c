#include "geometry/blade.h"

#include <math.h>

/* Of a triangle's size, by which it is larger. */
#define HAIR 1e-9

/* False for a triangle without an area, which cuts nothing. */
static bool prepare(const lmi_blade_triangle *t, lmi_blade_plane *p)
{
    const lm_dvec3 *c = t->corner;
    p->a = c[0];
    p->normal = dvec_cross(dvec_sub(c[1], c[0]), dvec_sub(c[2], c[0]));
    double longest = 0.0, shortest = INFINITY, area = dvec_length(p->normal);
    for (int i = 0; i < 3; i++) {
        double side = dvec_length(dvec_sub(c[(i + 1) % 3], c[i]));
        longest = fmax(longest, side);
        shortest = fmin(shortest, side);
    }
    if (!(area > 1e-12 * longest * longest)) {
        return false; /* it has no area, and cuts nothing */
    }
    double first = p->normal.x != 0.0 ? p->normal.x : p->normal.y != 0.0 ? p->normal.y : p->normal.z;
    for (int i = 0; i < 3; i++) {
        p->edge[i] = c[i];
        p->in[i] = dvec_cross(p->normal, dvec_sub(c[(i + 1) % 3], c[i]));
    }
    p->normal = dvec_scale(p->normal, (first < 0.0 ? -1.0 : 1.0) / area);
    p->hair = HAIR * area * longest;
    p->low = dvec(fmin(c[0].x, fmin(c[1].x, c[2].x)), fmin(c[0].y, fmin(c[1].y, c[2].y)),
                  fmin(c[0].z, fmin(c[1].z, c[2].z)));
    p->high = dvec(fmax(c[0].x, fmax(c[1].x, c[2].x)), fmax(c[0].y, fmax(c[1].y, c[2].y)),
                   fmax(c[0].z, fmax(c[1].z, c[2].z)));
    double over = HAIR * longest / shortest; /* how far beyond its sides a hair reaches */
    p->low = dvec_sub(p->low, dvec(over, over, over));
    p->high = dvec_add(p->high, dvec(over, over, over));
    return true;
}

bool lmi_blade_has_area(const lmi_blade_triangle *triangle)
{
    lmi_blade_plane plane;
    return prepare(triangle, &plane);
}

double lmi_blade_crossing(const lmi_blade_plane *p, lm_dvec3 from, lm_dvec3 to)
{
    double a = dvec_dot(p->normal, dvec_sub(from, p->a)), b = dvec_dot(p->normal, dvec_sub(to, p->a));
    if ((a >= 0.0) == (b >= 0.0)) {
        return -1.0;
    }
    double share = a / (a - b);
    lm_dvec3 at = dvec_add(from, dvec_scale(dvec_sub(to, from), share));
    for (int i = 0; i < 3; i++) {
        if (dvec_dot(p->in[i], dvec_sub(at, p->edge[i])) < -p->hair) {
            return -1.0;
        }
    }
    return share;
}

/* --- triangles that are near --- */

/* A node of the tree and its triangles. */
typedef struct place {
    uint32_t node, first, last;
} place;

static place half_of(place at, uint32_t second)
{
    uint32_t middle = at.first + (at.last - at.first) / 2;
    return second ? (place){2 * at.node + 1, middle, at.last} : (place){2 * at.node, at.first, middle};
}

static bool is_leaf(place at) { return at.last - at.first <= LMI_NEAREST_LEAF; }

static bool touch(const lmi_box *a, lm_dvec3 low, lm_dvec3 high)
{
    return !(low.x > a->high.x || low.y > a->high.y || low.z > a->high.z || high.x < a->low.x || high.y < a->low.y ||
             high.z < a->low.z);
}

static lmi_box join(lmi_box a, lm_dvec3 low, lm_dvec3 high)
{
    return (lmi_box){dvec(lmi_min(a.low.x, low.x), lmi_min(a.low.y, low.y), lmi_min(a.low.z, low.z)),
                     dvec(lmi_max(a.high.x, high.x), lmi_max(a.high.y, high.y), lmi_max(a.high.z, high.z))};
}

static void make_boxes(lmi_blade *b, place at)
{
    const lmi_blade_plane *first = &b->planes[b->middles.index[at.first]];
    lmi_box box = {first->low, first->high};
    if (is_leaf(at)) {
        for (uint32_t n = at.first + 1; n < at.last; n++) {
            const lmi_blade_plane *p = &b->planes[b->middles.index[n]];
            box = join(box, p->low, p->high);
        }
    } else {
        make_boxes(b, half_of(at, 0));
        make_boxes(b, half_of(at, 1));
        const lmi_box *half = &b->boxes[2 * at.node];
        box = join(half[0], half[1].low, half[1].high);
    }
    b->boxes[at.node] = box;
}

bool lmi_blade_make(lmi_blade *b, lmi_memory *memory, const lmi_blade_triangle *triangles, uint32_t count)
{
    *b = (lmi_blade){.room = count};
    b->planes = lmi_allocate(memory, count, sizeof *b->planes);
    b->found = lmi_allocate(memory, count, sizeof *b->found);
    for (uint32_t n = 0; b->planes && n < count; n++) {
        b->count += prepare(&triangles[n], &b->planes[b->count]);
    }
    bool ok = b->planes && b->found;
    if (!ok || b->count == 0) {
        return ok;
    }
    ok = lmi_nearest_make(&b->middles, memory, b->count);
    b->boxes = lmi_allocate(memory, lmi_nearest_nodes(&b->middles), sizeof *b->boxes);
    ok = ok && b->boxes;
    for (uint32_t n = 0; ok && n < b->count; n++) {
        b->middles.points[n] = dvec_scale(dvec_add(b->planes[n].low, b->planes[n].high), 0.5);
    }
    if (ok) {
        lmi_nearest_build(&b->middles);
        make_boxes(b, (place){1, 0, b->count});
    }
    return ok;
}

void lmi_blade_free(lmi_blade *b, lmi_memory *memory)
{
    if (b->boxes) {
        lmi_release(memory, b->boxes, lmi_nearest_nodes(&b->middles), sizeof *b->boxes);
    }
    if (b->middles.memory) {
        lmi_nearest_free(&b->middles);
    }
    lmi_release(memory, b->planes, b->room, sizeof *b->planes);
    lmi_release(memory, b->found, b->room, sizeof *b->found);
    *b = (lmi_blade){0};
}

/* Returns how many are found, with the `found` before. */
static uint32_t collect(const lmi_blade *b, place at, const lmi_box *box, uint32_t found)
{
    if (!touch(box, b->boxes[at.node].low, b->boxes[at.node].high)) {
        return found;
    }
    if (!is_leaf(at)) {
        found = collect(b, half_of(at, 0), box, found);
        return collect(b, half_of(at, 1), box, found);
    }
    for (uint32_t n = at.first; n < at.last; n++) {
        const lmi_blade_plane *p = &b->planes[b->middles.index[n]];
        if (touch(box, p->low, p->high)) {
            b->found[found++] = b->middles.index[n];
        }
    }
    b->middles.memory->work += at.last - at.first;
    return found;
}

static void sort(uint32_t *list, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11)) {
        for (uint32_t n = gap; n < count; n++) {
            uint32_t one = list[n], at = n;
            for (; at >= gap && list[at - gap] > one; at -= gap) {
                list[at] = list[at - gap];
            }
            list[at] = one;
        }
    }
}

uint32_t lmi_blade_find(const lmi_blade *b, const lmi_box *box)
{
    uint32_t count = b->count > 0 ? collect(b, (place){1, 0, b->count}, box, 0) : 0;
    sort(b->found, count);
    return count;
}

/* From one point to another, and the box around that. */
typedef struct stretch {
    lm_dvec3 from, to;
    lmi_box box;
} stretch;

/* Whether a way passes a box by: both lie apart along a direction across the way and an axis. A hair's breadth counts as near. */
static bool passes_by(const stretch *way, const lmi_box *box)
{
    lm_dvec3 half = dvec_scale(dvec_sub(box->high, box->low), 0.5), d = dvec_sub(way->to, way->from);
    lm_dvec3 off = dvec_sub(way->from, dvec_add(box->low, half));
    const double far = fabs(off.x) + fabs(off.y) + fabs(off.z), hair = 1e-9 * (far + half.x + half.y + half.z);
    lm_dvec3 apart = dvec_cross(d, off), size = dvec(fabs(d.x), fabs(d.y), fabs(d.z));
    return fabs(apart.x) > size.y * (half.z + hair) + size.z * (half.y + hair) ||
           fabs(apart.y) > size.z * (half.x + hair) + size.x * (half.z + hair) ||
           fabs(apart.z) > size.x * (half.y + hair) + size.y * (half.x + hair);
}

/* Whether a triangle of a node touches the box or, where there is a way, crosses it. */
static bool any(const lmi_blade *b, place at, const lmi_box *box, const stretch *way)
{
    const lmi_box *around = &b->boxes[at.node];
    if (!touch(box, around->low, around->high) || (way && passes_by(way, around))) {
        return false;
    }
    if (!is_leaf(at)) {
        return any(b, half_of(at, 0), box, way) || any(b, half_of(at, 1), box, way);
    }
    bool is = false;
    for (uint32_t n = at.first; n < at.last && !is; n++) {
        const lmi_blade_plane *p = &b->planes[b->middles.index[n]];
        is = touch(box, p->low, p->high) && (!way || lmi_blade_crossing(p, way->from, way->to) >= 0.0);
    }
    b->middles.memory->work += at.last - at.first;
    return is;
}

bool lmi_blade_is_near(const lmi_blade *b, const lmi_box *box)
{
    return b->count > 0 && any(b, (place){1, 0, b->count}, box, NULL);
}

bool lmi_blade_crossed(const lmi_blade *b, lm_dvec3 from, lm_dvec3 to)
{
    const stretch way = {from,
                         to,
                         {dvec(lmi_min(from.x, to.x), lmi_min(from.y, to.y), lmi_min(from.z, to.z)),
                          dvec(lmi_max(from.x, to.x), lmi_max(from.y, to.y), lmi_max(from.z, to.z))}};
    return b->count > 0 && any(b, (place){1, 0, b->count}, &way.box, &way);
}
