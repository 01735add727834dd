/*
 * Convex bodies (geometry/convex.h).
 */
#include "geometry/convex.h"
#include "base/triples.h"

#include <string.h>

#define NONE UINT32_MAX

static bool add_point(lmi_convex *c, lmi_memory *memory, lm_dvec3 at)
{
    bool ok = lmi_grow(memory, &c->points, &c->point_room, c->point_count + 1, sizeof *c->points);
    if (ok) {
        c->points[c->point_count++] = at;
    }
    return ok;
}

static bool add_corner(lmi_convex *c, lmi_memory *memory, uint32_t point)
{
    bool ok = lmi_grow(memory, &c->loops, &c->loop_room, c->loop_count + 1, sizeof *c->loops);
    if (ok) {
        c->loops[c->loop_count++] = point;
    }
    return ok;
}

/* Ends the face whose corners were added last; one of fewer than three corners is none. */
static bool end_face(lmi_convex *c, lmi_memory *memory, uint32_t plane)
{
    if (!lmi_grow(memory, &c->first, &c->first_room, c->face_count + 2, sizeof *c->first) ||
        !lmi_grow(memory, &c->plane, &c->plane_room, c->face_count + 1, sizeof *c->plane)) {
        return false;
    }
    const uint32_t begin = c->face_count ? c->first[c->face_count] : 0;
    if (c->loop_count - begin < 3) {
        c->loop_count = begin;
        return true;
    }
    c->first[c->face_count] = begin;
    c->plane[c->face_count++] = plane;
    c->first[c->face_count] = c->loop_count;
    return true;
}

bool lmi_convex_box(lmi_convex *c, lmi_memory *memory, const lmi_box *box)
{
    static const uint32_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    memset(c, 0, sizeof *c);
    bool ok = true;
    for (uint32_t n = 0; ok && n < 8; n++) {
        ok = add_point(
            c, memory,
            dvec(n & 1 ? box->high.x : box->low.x, n & 2 ? box->high.y : box->low.y, n & 4 ? box->high.z : box->low.z));
    }
    for (uint32_t f = 0; ok && f < 6; f++) {
        for (uint32_t k = 0; ok && k < 4; k++) {
            ok = add_corner(c, memory, faces[f][k]);
        }
        ok = ok && end_face(c, memory, LMI_CONVEX_BOX);
    }
    return ok;
}

void lmi_convex_free(lmi_convex *c, lmi_memory *memory)
{
    lmi_release(memory, c->points, c->point_room, sizeof *c->points);
    lmi_release(memory, c->loops, c->loop_room, sizeof *c->loops);
    lmi_release(memory, c->first, c->first_room, sizeof *c->first);
    lmi_release(memory, c->plane, c->plane_room, sizeof *c->plane);
    memset(c, 0, sizeof *c);
}

/* A cut on its way: what is made of `from`. */
typedef struct cutting {
    lmi_memory *memory;
    const lmi_convex *from;
    lmi_convex to;
    double *height;      /* [points] above the plane */
    uint32_t *kept;      /* [points] their number in `to` */
    lmi_triples crossed; /* edges, the lower end first: the point where the plane crosses them */
    uint32_t *next;      /* [points of `to`] along the new face */
    uint32_t next_room, start;
} cutting;

static bool keep(cutting *c, uint32_t point)
{
    if (c->kept[point] == NONE) {
        c->kept[point] = c->to.point_count;
        if (!add_point(&c->to, c->memory, c->from->points[point])) {
            return false;
        }
    }
    return add_corner(&c->to, c->memory, c->kept[point]);
}

/* Where the plane crosses an edge: the same point for both faces beside it. */
static bool cross(cutting *c, uint32_t a, uint32_t b, uint32_t *point)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    *point = lmi_triples_get(&c->crossed, low, high, 0);
    if (*point == NONE) {
        const double share = c->height[low] / (c->height[low] - c->height[high]);
        const lm_dvec3 from = c->from->points[low], to = c->from->points[high];
        *point = c->to.point_count;
        if (!add_point(&c->to, c->memory, dvec_add(from, dvec_scale(dvec_sub(to, from), share))) ||
            !lmi_triples_put(&c->crossed, c->memory, low, high, 0, *point)) {
            return false;
        }
    }
    return add_corner(&c->to, c->memory, *point);
}

/* What is left of a face. Where it leaves the inside and where it comes in again are an edge of the new face, the other way round. */
static bool cut_face(cutting *c, uint32_t face)
{
    const uint32_t first = c->from->first[face], last = c->from->first[face + 1];
    uint32_t out = NONE, in = NONE;
    for (uint32_t n = first; n < last; n++) {
        const uint32_t a = c->from->loops[n], b = c->from->loops[n + 1 < last ? n + 1 : first];
        const bool inside = c->height[a] < 0.0, then = c->height[b] < 0.0;
        if ((inside && !keep(c, a)) || (inside != then && !cross(c, a, b, inside ? &out : &in))) {
            return false;
        }
    }
    if (out != NONE && in != NONE) {
        const uint32_t old = c->next_room, count = c->to.point_count;
        if (!lmi_grow(c->memory, &c->next, &c->next_room, count, sizeof *c->next)) {
            return false;
        }
        for (uint32_t n = old; n < c->next_room; n++) {
            c->next[n] = NONE;
        }
        c->next[in] = out;
        c->start = in;
    }
    return end_face(&c->to, c->memory, c->from->plane[face]);
}

static bool close_cut(cutting *c, uint32_t plane)
{
    uint32_t at = c->start;
    for (uint32_t n = 0; at != NONE && n < c->to.point_count; n++) {
        if (!add_corner(&c->to, c->memory, at)) {
            return false;
        }
        at = at < c->next_room ? c->next[at] : NONE;
        if (at == c->start) {
            break;
        }
    }
    return end_face(&c->to, c->memory, plane);
}

bool lmi_convex_cut(lmi_convex *convex, lmi_memory *memory, lm_dvec3 normal, double offset, uint32_t plane)
{
    const uint32_t count = convex->point_count;
    cutting c = {.memory = memory,
                 .from = convex,
                 .height = lmi_allocate(memory, count, sizeof *c.height),
                 .kept = lmi_allocate(memory, count, sizeof *c.kept),
                 .start = NONE};
    bool ok = c.height && c.kept;
    bool above = false;
    for (uint32_t n = 0; ok && n < count; n++) {
        c.height[n] = dvec_dot(normal, convex->points[n]) - offset;
        c.kept[n] = NONE;
        above = above || !(c.height[n] < 0.0);
    }
    for (uint32_t f = 0; ok && above && f < convex->face_count; f++) {
        ok = cut_face(&c, f);
    }
    ok = ok && (!above || close_cut(&c, plane));
    lmi_release(memory, c.height, count, sizeof *c.height);
    lmi_release(memory, c.kept, count, sizeof *c.kept);
    lmi_triples_free(&c.crossed, memory);
    lmi_release(memory, c.next, c.next_room, sizeof *c.next);
    if (ok && above) {
        lmi_convex_free(convex, memory);
        *convex = c.to;
    } else {
        lmi_convex_free(&c.to, memory);
    }
    return ok;
}
