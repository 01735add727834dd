/*
 * Queries of a height map. All of them walk the levels with one function and differ in what they skip and what they do with a
 * triangle.
 */
#include "base/compiler.h"
#include "collide/heights.h"

#define STACK 64 /* three more nodes wait for each level descended */

/* The two triangles of a cell: `upper` false, the one with (i + 1, k); true, the one with (i, k + 1). Both face up. */
static lmi_triangle cell_triangle(const lmi_heights *m, uint32_t i, uint32_t k, bool upper)
{
    lm_dvec3 a = lmi_heights_sample(m, i, k), c = lmi_heights_sample(m, i + 1, k + 1);
    if (upper) {
        return (lmi_triangle){{a, lmi_heights_sample(m, i, k + 1), c}};
    }
    return (lmi_triangle){{a, c, lmi_heights_sample(m, i + 1, k)}};
}

bool lmi_heights_at(const lmi_heights *m, double x, double z, double *height)
{
    double u = x / m->spacing + 0.5 * (m->n[0] - 1.0), v = z / m->spacing + 0.5 * (m->n[1] - 1.0);
    if (!(u >= 0.0 && v >= 0.0 && u <= m->n[0] - 1.0 && v <= m->n[1] - 1.0)) {
        return false;
    }
    uint32_t i = (uint32_t)lmi_min(u, m->n[0] - 2.0), k = (uint32_t)lmi_min(v, m->n[1] - 2.0);
    LMI_FAR const float *h = m->heights + (size_t)k * m->n[0] + i;
    double du = u - i, dv = v - k, a = h[0], c = h[m->n[0] + 1];
    /* From (i, k) along one side of the cell, then along the other. */
    *height = du >= dv ? a + du * (h[1] - a) + dv * (c - h[1]) : a + dv * (h[m->n[0]] - a) + du * (c - h[m->n[0]]);
    return true;
}

/* --- walking the levels --- */

typedef struct box {
    lm_dvec3 lower, upper;
} box;

/* What is looked for: the nearest point, the first crossing, or any touch of a box. */
typedef enum quest { QUEST_NEAREST, QUEST_CROSSING, QUEST_BOX } quest;

typedef struct visit {
    lm_dvec3 a, b; /* a point, or a segment; or centre and half extents of a box */
    const dmat3 *axes;
    double best; /* square of a distance, or share of the way */
    bool found;
    lmi_heights_hit *hit;
} visit;

static box node_box(const lmi_heights *m, uint32_t level, uint32_t i, uint32_t k)
{
    lmi_heights_span span = m->spans[m->start[level] + (size_t)k * m->side[level][0] + i];
    double x = -0.5 * (m->n[0] - 1.0), z = -0.5 * (m->n[1] - 1.0), size = (double)(1u << level);
    double right = lmi_min((i + 1.0) * size, m->n[0] - 1.0), far = lmi_min((k + 1.0) * size, m->n[1] - 1.0);
    return (box){dvec((x + i * size) * m->spacing, span.low, (z + k * size) * m->spacing),
                 dvec((x + right) * m->spacing, span.high, (z + far) * m->spacing)};
}

/* The cells along an axis that a span may touch, a hair more; the first to the last. */
static void cell_span(const lmi_heights *m, int axis, double low, double high, uint32_t span[2])
{
    double middle = 0.5 * (m->n[axis] - 1.0), most = m->n[axis] - 2.0;
    span[0] = (uint32_t)lmi_min(lmi_max(low / m->spacing + middle - 1e-6, 0.0), most);
    span[1] = (uint32_t)lmi_min(lmi_max(high / m->spacing + middle + 1e-6, 0.0), most);
}

static lm_dvec3 unit_normal(const lmi_triangle *t)
{
    lm_dvec3 n = lmi_triangle_normal(t);
    return dvec_scale(n, 1.0 / dvec_length(n));
}

/* --- the nearest point --- */

static bool nearest_skips(const visit *w, const box *b)
{
    double x = lmi_max(lmi_max(b->lower.x - w->a.x, w->a.x - b->upper.x), 0.0);
    double y = lmi_max(lmi_max(b->lower.y - w->a.y, w->a.y - b->upper.y), 0.0);
    double z = lmi_max(lmi_max(b->lower.z - w->a.z, w->a.z - b->upper.z), 0.0);
    return x * x + y * y + z * z >= w->best;
}

static bool nearest_meets(visit *w, const lmi_triangle *t)
{
    lm_dvec3 near = lmi_triangle_nearest(t, w->a), d = dvec_sub(w->a, near);
    if (dvec_dot(d, d) < w->best) {
        w->best = dvec_dot(d, d);
        w->found = true;
        *w->hit = (lmi_heights_hit){near, unit_normal(t), 0.0};
    }
    return false;
}

/* --- crossings --- */

static bool crossing_skips(const visit *w, const box *b)
{
    const double low[3] = {b->lower.x, b->lower.y, b->lower.z}, high[3] = {b->upper.x, b->upper.y, b->upper.z};
    const double a[3] = {w->a.x, w->a.y, w->a.z}, way[3] = {w->b.x - a[0], w->b.y - a[1], w->b.z - a[2]};
    double near = 0.0, far = w->best;
    for (int i = 0; i < 3; i++) {
        double size = 1e-9 * (fabs(low[i]) + fabs(high[i])) + 1e-12, from = low[i] - size - a[i],
               to = high[i] + size - a[i];
        if (way[i] == 0.0) {
            if (from > 0.0 || to < 0.0) {
                return true;
            }
            continue;
        }
        near = lmi_max(near, lmi_min(from / way[i], to / way[i]));
        far = lmi_min(far, lmi_max(from / way[i], to / way[i]));
    }
    return near > far;
}

static bool crossing_meets(visit *w, const lmi_triangle *t)
{
    double share;
    lm_dvec3 way = dvec_sub(w->b, w->a);
    if (lmi_triangle_crossed(t, w->a, w->b, &share) && share < w->best && dvec_dot(lmi_triangle_normal(t), way) < 0.0) {
        w->best = share;
        w->found = true;
        *w->hit = (lmi_heights_hit){dvec_add(w->a, dvec_scale(way, share)), unit_normal(t), share};
    }
    return false;
}

/* --- boxes --- */

static bool box_skips(const visit *w, const box *b)
{
    const double low[3] = {b->lower.x, b->lower.y, b->lower.z}, high[3] = {b->upper.x, b->upper.y, b->upper.z};
    const double centre[3] = {w->a.x, w->a.y, w->a.z};
    for (int i = 0; i < 3; i++) {
        double reach =
            fabs(w->axes->m[i][0]) * w->b.x + fabs(w->axes->m[i][1]) * w->b.y + fabs(w->axes->m[i][2]) * w->b.z;
        if (low[i] > centre[i] + reach || high[i] < centre[i] - reach) {
            return true;
        }
    }
    return false;
}

static bool box_meets(visit *w, const lmi_triangle *t)
{
    lmi_triangle moved;
    for (int k = 0; k < 3; k++) {
        moved.corner[k] = dmat_apply_transposed(w->axes, dvec_sub(t->corner[k], w->a));
    }
    w->found = lmi_triangle_touches_box(&moved, w->b);
    return w->found;
}

/* --- all of them --- */

/* (A device calls no functions by their address.) */
static inline bool skips(const visit *w, const box *b, quest kind)
{
    return kind == QUEST_NEAREST    ? nearest_skips(w, b)
           : kind == QUEST_CROSSING ? crossing_skips(w, b)
                                    : box_skips(w, b);
}

/* True ends the walk. */
static inline bool meets(visit *w, const lmi_triangle *t, quest kind)
{
    return kind == QUEST_NEAREST    ? nearest_meets(w, t)
           : kind == QUEST_CROSSING ? crossing_meets(w, t)
                                    : box_meets(w, t);
}

/* The walk over all nodes that may have something within x and z of `around`: it begins on the lowest level where these are
 * at most two along each axis. */
static LMI_ALWAYS_INLINE void walk_levels(const lmi_heights *m, const box *around, visit *w, quest kind)
{
    struct {
        uint32_t level, i, k;
    } stack[STACK];
    uint32_t count = 0, start = 0, across[2], along[2];
    cell_span(m, 0, around->lower.x, around->upper.x, across);
    cell_span(m, 1, around->lower.z, around->upper.z, along);
    while ((across[1] >> start) - (across[0] >> start) > 1 || (along[1] >> start) - (along[0] >> start) > 1) {
        start++;
    }
    for (uint32_t k = along[0] >> start; k <= along[1] >> start; k++) {
        for (uint32_t i = across[0] >> start; i <= across[1] >> start; i++) {
            stack[count].level = start;
            stack[count].i = i;
            stack[count++].k = k;
        }
    }
    while (count) {
        count--;
        uint32_t level = stack[count].level, i = stack[count].i, k = stack[count].k;
        box b = node_box(m, level, i, k);
        if (skips(w, &b, kind)) {
            continue;
        }
        for (int upper = 0; level == 0 && upper < 2; upper++) {
            lmi_triangle t = cell_triangle(m, i, k, upper);
            if (meets(w, &t, kind)) {
                return;
            }
        }
        for (uint32_t c = 0; level > 0 && c < 4; c++) {
            uint32_t x = 2 * i + c % 2, z = 2 * k + c / 2;
            if (x < m->side[level - 1][0] && z < m->side[level - 1][1]) {
                stack[count].level = level - 1;
                stack[count].i = x;
                stack[count].k = z;
                count++;
            }
        }
    }
}

bool lmi_heights_nearest(const lmi_heights *m, lm_dvec3 p, double most, lmi_heights_hit *hit)
{
    visit w = {.a = p, .hit = hit};
    w.best = most < 1e150 ? most * most : INFINITY;
    box around = {dvec(p.x - most, 0.0, p.z - most), dvec(p.x + most, 0.0, p.z + most)};
    walk_levels(m, &around, &w, QUEST_NEAREST);
    if (w.found) {
        hit->distance = sqrt(w.best);
    }
    return w.found;
}

bool lmi_heights_crossed(const lmi_heights *m, lm_dvec3 a, lm_dvec3 b, lmi_heights_hit *hit)
{
    visit w = {.a = a, .b = b, .best = 1.0 + 1e-12, .hit = hit};
    box around = {dvec(lmi_min(a.x, b.x), 0.0, lmi_min(a.z, b.z)), dvec(lmi_max(a.x, b.x), 0.0, lmi_max(a.z, b.z))};
    walk_levels(m, &around, &w, QUEST_CROSSING);
    return w.found;
}

bool lmi_heights_touches_box(const lmi_heights *m, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half)
{
    visit w = {.a = centre, .b = half, .axes = axes};
    double reach = dvec_length(half);
    box around = {dvec(centre.x - reach, 0.0, centre.z - reach), dvec(centre.x + reach, 0.0, centre.z + reach)};
    walk_levels(m, &around, &w, QUEST_BOX);
    return w.found;
}
