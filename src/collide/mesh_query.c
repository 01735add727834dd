/*
 * Queries of a mesh. Each walks the tree from the root with a stack of its own; what is nearer is visited first.
 */
#include "base/compiler.h"
#include "collide/mesh.h"

#define STACK 64 /* the tree is at most 23 deep */

/* A search for the face that is best by some measure. */
typedef struct search {
    double from[3], way[3]; /* a point, or the way from a to b */
    lm_dvec3 a, b;
    bool front; /* of faces that the way meets from behind, none */
    double best;
    bool found;
    lmi_mesh_hit *hit;
} search;

/* --- the nearest point --- */

static double square_to_node(const search *s, LMI_FAR const lmi_mesh_node *node)
{
    double square = 0.0;
    for (int a = 0; a < 3; a++) {
        double d = lmi_max(lmi_max(node->lower[a] - s->from[a], s->from[a] - node->upper[a]), 0.0);
        square += d * d;
    }
    return square;
}

static void look_nearest(search *s, const lmi_mesh *m, uint32_t face)
{
    lmi_triangle t = lmi_mesh_face(m, face);
    lm_dvec3 near = lmi_triangle_nearest(&t, s->a), d = dvec_sub(s->a, near);
    double square = dvec_dot(d, d);
    if (square < s->best) {
        s->best = square;
        s->found = true;
        *s->hit = (lmi_mesh_hit){near, 0.0, face};
    }
}

/* --- the first face on a way --- */

/* The share of the way at which it enters a box, or 2 when it misses it. */
static double entry(const search *s, LMI_FAR const lmi_mesh_node *node)
{
    const double *a = s->from, *way = s->way;
    double near = 0.0, far = 1.0;
    for (int i = 0; i < 3; i++) {
        double size = 1e-9 * (fabs((double)node->lower[i]) + fabs((double)node->upper[i])) + 1e-12;
        double low = node->lower[i] - size - a[i], high = node->upper[i] + size - a[i];
        if (way[i] == 0.0) {
            if (low > 0.0 || high < 0.0) {
                return 2.0;
            }
            continue;
        }
        low /= way[i];
        high /= way[i];
        near = lmi_max(near, lmi_min(low, high));
        far = lmi_min(far, lmi_max(low, high));
    }
    return near <= far ? near : 2.0;
}

static void look_crossed(search *s, const lmi_mesh *m, uint32_t face)
{
    lmi_triangle t = lmi_mesh_face(m, face);
    lm_dvec3 way = dvec_sub(s->b, s->a);
    double share;
    if (lmi_triangle_crossed(&t, s->a, s->b, &share) && share < s->best &&
        !(s->front && dvec_dot(lmi_triangle_normal(&t), way) > 0.0)) {
        s->best = share;
        s->found = true;
        *s->hit = (lmi_mesh_hit){dvec_add(s->a, dvec_scale(way, share)), share, face};
    }
}

/* --- both --- */

/* A bound of what the faces of a node can be; what a face is. (A device calls no functions by their address.) */
static inline double bound(const search *s, LMI_FAR const lmi_mesh_node *node, bool crossing)
{
    return crossing ? entry(s, node) : square_to_node(s, node);
}

static inline void look(search *s, const lmi_mesh *m, uint32_t face, bool crossing)
{
    if (crossing) {
        look_crossed(s, m, face);
    } else {
        look_nearest(s, m, face);
    }
}

static LMI_ALWAYS_INLINE void search_tree(search *s, const lmi_mesh *m, bool crossing)
{
    uint32_t stack[STACK], count = 0;
    stack[count++] = 0;
    while (count) {
        uint32_t index = stack[--count];
        LMI_FAR const lmi_mesh_node *node = &m->nodes[index];
        if (bound(s, node, crossing) >= s->best) {
            continue;
        }
        for (uint32_t f = node->first; f < node->first + node->count; f++) {
            look(s, m, f, crossing);
        }
        if (node->count == 0) {
            bool left = bound(s, node + 1, crossing) <= bound(s, &m->nodes[node->first], crossing);
            stack[count++] = left ? node->first : index + 1;
            stack[count++] = left ? index + 1 : node->first;
        }
    }
}

bool lmi_mesh_nearest(const lmi_mesh *m, lm_dvec3 p, double most, lmi_mesh_hit *hit)
{
    search s = {.from = {p.x, p.y, p.z}, .a = p, .best = most < 1e150 ? most * most : INFINITY, .hit = hit};
    search_tree(&s, m, false);
    if (s.found) {
        hit->distance = sqrt(s.best);
    }
    return s.found;
}

bool lmi_mesh_crossed(const lmi_mesh *m, lm_dvec3 a, lm_dvec3 b, bool front, lmi_mesh_hit *hit)
{
    search s = {.from = {a.x, a.y, a.z},
                .way = {b.x - a.x, b.y - a.y, b.z - a.z},
                .a = a,
                .b = b,
                .front = front,
                .best = 1.0 + 1e-12,
                .hit = hit};
    search_tree(&s, m, true);
    return s.found;
}

/* --- inside --- */

/* Whether the edge from p to q crosses the line from (u, v) to the right. An edge that two faces share gives both the same
 * answer, so that a line never slips through between them. */
static bool edge_crosses(const double p[2], const double q[2], double u, double v)
{
    if ((p[1] > v) == (q[1] > v)) {
        return false;
    }
    bool turned = q[1] < p[1] || (q[1] == p[1] && q[0] < p[0]);
    const double *low = turned ? q : p, *high = turned ? p : q;
    return (high[0] - low[0]) * (v - low[1]) > (u - low[0]) * (high[1] - low[1]);
}

/* How often a line from p along an axis passes through the face: 1 from inside to outside, -1 the other way, or 0. */
static int pass(LMI_FAR const float *f, const double p[3], int axis)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3, crossings = 0;
    double corner[3][2];
    for (int k = 0; k < 3; k++) {
        corner[k][0] = f[3 * k + u];
        corner[k][1] = f[3 * k + v];
    }
    for (int k = 0; k < 3; k++) {
        crossings += edge_crosses(corner[k], corner[(k + 1) % 3], p[u], p[v]);
    }
    if (crossings != 1) {
        return 0;
    }
    lmi_triangle t = {{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}, {f[6], f[7], f[8]}}};
    lm_dvec3 normal = lmi_triangle_normal(&t);
    const double n[3] = {normal.x, normal.y, normal.z};
    double side = n[0] * (f[0] - p[0]) + n[1] * (f[1] - p[1]) + n[2] * (f[2] - p[2]); /* along n to the plane */
    if (n[axis] == 0.0 || side / n[axis] <= 0.0) {
        return 0;
    }
    return n[axis] > 0.0 ? 1 : -1;
}

static int winding(const lmi_mesh *m, const double p[3], int axis)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3, sum = 0;
    uint32_t stack[STACK], count = 0;
    stack[count++] = 0;
    while (count) {
        uint32_t index = stack[--count];
        LMI_FAR const lmi_mesh_node *node = &m->nodes[index];
        if (node->lower[u] > p[u] || node->upper[u] < p[u] || node->lower[v] > p[v] || node->upper[v] < p[v] ||
            node->upper[axis] < p[axis]) {
            continue;
        }
        for (uint32_t f = node->first; f < node->first + node->count; f++) {
            sum += pass(m->faces[f], p, axis);
        }
        if (node->count == 0) {
            stack[count++] = node->first;
            stack[count++] = index + 1;
        }
    }
    return sum;
}

/* Two of three axes: a hole in the surface misleads the one that looks through it. */
bool lmi_mesh_wound(const lmi_mesh *m, lm_dvec3 p)
{
    const double at[3] = {p.x, p.y, p.z};
    int votes = (winding(m, at, 0) > 0) + (winding(m, at, 1) > 0);
    return votes == 2 || (votes == 1 && winding(m, at, 2) > 0);
}

/* --- cells --- */

/* The cell of a point, or false outside the grid. */
static bool find_cell(const lmi_mesh *m, lm_dvec3 p, size_t *cell)
{
    const double at[3] = {(p.x - m->first.x) / m->cell, (p.y - m->first.y) / m->cell, (p.z - m->first.z) / m->cell};
    for (int a = 0; a < 3; a++) {
        if (!(at[a] >= 0.0 && at[a] < m->size[a])) {
            return false;
        }
    }
    *cell = ((size_t)at[2] * m->size[1] + (size_t)at[1]) * m->size[0] + (size_t)at[0];
    return true;
}

double lmi_mesh_clear(const lmi_mesh *m, lm_dvec3 p, bool *inside)
{
    size_t cell;
    *inside = false;
    if (!find_cell(m, p, &cell)) {
        double x = lmi_max(lmi_max(m->lower.x - p.x, p.x - m->upper.x), 0.0);
        double y = lmi_max(lmi_max(m->lower.y - p.y, p.y - m->upper.y), 0.0);
        double z = lmi_max(lmi_max(m->lower.z - p.z, p.z - m->upper.z), 0.0);
        return sqrt(x * x + y * y + z * z);
    }
    int8_t state = m->cells[cell];
    *inside = state < 0;
    return state == 0 ? 0.0 : ((state < 0 ? -state : state) - 1) * m->cell;
}

bool lmi_mesh_inside(const lmi_mesh *m, lm_dvec3 p)
{
    size_t cell;
    if (m->solid && !m->cells) {
        return lmi_mesh_wound(m, p); /* it deforms */
    }
    if (!m->solid || !find_cell(m, p, &cell)) {
        return false;
    }
    return m->cells[cell] ? m->cells[cell] < 0 : lmi_mesh_wound(m, p);
}

/* --- boxes --- */

bool lmi_mesh_touches_box(const lmi_mesh *m, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half)
{
    double middle[3] = {centre.x, centre.y, centre.z}, reach[3];
    for (int i = 0; i < 3; i++) {
        reach[i] = fabs(axes->m[i][0]) * half.x + fabs(axes->m[i][1]) * half.y + fabs(axes->m[i][2]) * half.z;
    }
    uint32_t stack[STACK], count = 0;
    stack[count++] = 0;
    while (count) {
        uint32_t index = stack[--count];
        LMI_FAR const lmi_mesh_node *node = &m->nodes[index];
        bool misses = false;
        for (int i = 0; i < 3; i++) {
            misses = misses || node->lower[i] > middle[i] + reach[i] || node->upper[i] < middle[i] - reach[i];
        }
        if (misses) {
            continue;
        }
        for (uint32_t f = node->first; f < node->first + node->count; f++) {
            lmi_triangle t = lmi_mesh_face(m, f);
            for (int k = 0; k < 3; k++) {
                t.corner[k] = dmat_apply_transposed(axes, dvec_sub(t.corner[k], centre));
            }
            if (lmi_triangle_touches_box(&t, half)) {
                return true;
            }
        }
        if (node->count == 0) {
            stack[count++] = node->first;
            stack[count++] = index + 1;
        }
    }
    return false;
}
