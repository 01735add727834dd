/*
 * Meshes that deform. A step moves the vertices in straight lines; each substep has the faces, boxes and bounds on its part of the way.
 *
 * What a face does to a point that stands still: the four are in one plane where
 *
 *   f(t) = (c0(t) - p) . ((c1(t) - p) x (c2(t) - p)) = 0
 *
 * a cubic of t, the share of the substep (X. Provot, Collision and self-collision handling in cloth model dedicated to design garments,
 * 1997). Its sign says on which side the point is. The first root at which the plane meets the point within the triangle counts; from
 * there on the point goes with the face, on the side on which it was. So it keeps its side whatever the speed. Roots are found between
 * the turning points of the cubic by bisection, with the four basic operations and square roots alone: the same bits everywhere.
 */
#include "collide/mesh_motion.h"

#include <string.h>

#define STACK 64    /* the tree is at most 23 deep */
#define HALVINGS 60 /* of an interval around a root */
#define HAIR 1e-7   /* barycentric: how much a triangle grows */
#define TRIES 4     /* faces that push a point in one substep, one after the other */

/* --- arrays --- */

bool lmi_mesh_motion_make(lmi_memory *memory, lmi_mesh *m)
{
    lmi_mesh_motion *motion = lmi_allocate(memory, 1, sizeof *motion);
    m->motion = motion;
    if (!motion) {
        return false;
    }
    motion->order = lmi_allocate(memory, m->triangle_count, sizeof *motion->order);
    motion->before = lmi_allocate(memory, m->triangle_count, sizeof *motion->before);
    motion->now = lmi_allocate(memory, m->vertex_count, sizeof *motion->now);
    motion->start = lmi_allocate(memory, m->vertex_count, sizeof *motion->start);
    motion->target = lmi_allocate(memory, m->vertex_count, sizeof *motion->target);
    return motion->order && motion->before && motion->now && motion->start && motion->target;
}

void lmi_mesh_motion_free(lmi_memory *memory, lmi_mesh *m)
{
    lmi_mesh_motion *motion = m->motion;
    if (!motion) {
        return;
    }
    lmi_release(memory, motion->order, m->triangle_count, sizeof *motion->order);
    lmi_release(memory, motion->before, m->triangle_count, sizeof *motion->before);
    lmi_release(memory, motion->now, m->vertex_count, sizeof *motion->now);
    lmi_release(memory, motion->start, m->vertex_count, sizeof *motion->start);
    lmi_release(memory, motion->target, m->vertex_count, sizeof *motion->target);
    lmi_release(memory, motion, 1, sizeof *motion);
    m->motion = NULL;
}

const char *lmi_mesh_motion_fault(const lmi_mesh *m, const lm_vec3 *vertices, uint32_t count)
{
    if (!m || !m->motion) {
        return "it is not a mesh that deforms (lm_collider_mesh)";
    }
    if (count != m->vertex_count || !vertices) {
        return "there are not as many positions as the mesh has vertices";
    }
    for (uint32_t n = 0; n < count; n++) {
        const lm_vec3 v = vertices[n];
        if (!(fabsf(v.x) <= LM_MAX_COORDINATE && fabsf(v.y) <= LM_MAX_COORDINATE && fabsf(v.z) <= LM_MAX_COORDINATE)) {
            return "a position is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    return NULL;
}

/* --- where it is --- */

static void place_faces(lmi_mesh *m)
{
    const lmi_mesh_motion *motion = m->motion;
    for (uint32_t n = 0; n < m->face_count; n++) {
        const uint32_t *corners = m->triangles + (size_t)motion->order[n] * 3;
        for (uint32_t k = 0; k < 3; k++) {
            lm_vec3 v = motion->now[corners[k]];
            m->faces[n][3 * k] = v.x;
            m->faces[n][3 * k + 1] = v.y;
            m->faces[n][3 * k + 2] = v.z;
        }
    }
}

static void bound_leaf(const lmi_mesh *m, lmi_mesh_node *node)
{
    for (uint32_t a = 0; a < 3; a++) {
        node->lower[a] = INFINITY;
        node->upper[a] = -INFINITY;
        for (uint32_t k = 0; k < 3 * node->count; k++) {
            uint32_t face = node->first + k / 3, at = 3 * (k % 3) + a;
            float here = m->faces[face][at], was = m->motion->before[face][at];
            node->lower[a] = lmi_minf(node->lower[a], lmi_minf(here, was));
            node->upper[a] = lmi_maxf(node->upper[a], lmi_maxf(here, was));
        }
    }
}

/* Boxes around faces on their way, and the bounds of all. Children come after their parents. */
static void refit(lmi_mesh *m)
{
    for (uint32_t n = m->node_count; n-- > 0;) {
        lmi_mesh_node *node = &m->nodes[n];
        if (node->count) {
            bound_leaf(m, node);
            continue;
        }
        const lmi_mesh_node *left = &m->nodes[n + 1], *right = &m->nodes[node->first];
        for (int a = 0; a < 3; a++) {
            node->lower[a] = lmi_minf(left->lower[a], right->lower[a]);
            node->upper[a] = lmi_maxf(left->upper[a], right->upper[a]);
        }
    }
    const lmi_mesh_node *root = &m->nodes[0];
    m->lower = dvec(root->lower[0], root->lower[1], root->lower[2]);
    m->upper = dvec(root->upper[0], root->upper[1], root->upper[2]);
}

/* The faces stand still. */
static void settle(lmi_mesh *m)
{
    m->motion->moves = false;
    memcpy(m->motion->before, m->faces, m->face_count * sizeof *m->faces);
    refit(m);
}

void lmi_mesh_set_to(lmi_mesh *m, const lm_vec3 *vertices)
{
    lmi_mesh_motion *motion = m->motion;
    memcpy(motion->now, vertices, m->vertex_count * sizeof *vertices);
    lmi_mesh_rest(m, false);
}

static void aim(lmi_mesh *m, const lm_vec3 *vertices)
{
    lmi_mesh_motion *motion = m->motion;
    motion->has_target = memcmp(motion->now, vertices, m->vertex_count * sizeof *vertices) != 0;
    motion->t_lower = dvec(INFINITY, INFINITY, INFINITY);
    motion->t_upper = dvec(-INFINITY, -INFINITY, -INFINITY);
    for (uint32_t n = 0; n < m->vertex_count; n++) {
        lm_dvec3 v = dvec_from(vertices[n]), low = motion->t_lower, high = motion->t_upper;
        motion->t_lower = dvec(lmi_min(low.x, v.x), lmi_min(low.y, v.y), lmi_min(low.z, v.z));
        motion->t_upper = dvec(lmi_max(high.x, v.x), lmi_max(high.y, v.y), lmi_max(high.z, v.z));
    }
}

void lmi_mesh_move_to(lmi_mesh *m, const lm_vec3 *vertices)
{
    memcpy(m->motion->target, vertices, m->vertex_count * sizeof *vertices);
    aim(m, vertices);
}

void lmi_mesh_rest(lmi_mesh *m, bool has_target)
{
    m->motion->has_target = false;
    place_faces(m);
    settle(m);
    if (has_target) {
        aim(m, m->motion->target);
    }
}

static float between(float from, float to, double share)
{
    return (float)((double)from + ((double)to - (double)from) * share);
}

void lmi_mesh_advance(lmi_mesh *m, double h, uint32_t substep, uint32_t substeps)
{
    lmi_mesh_motion *motion = m->motion;
    if (!motion->has_target) {
        return;
    }
    if (substep == 0) {
        memcpy(motion->start, motion->now, m->vertex_count * sizeof *motion->now);
    }
    double share = (substep + 1.0) / substeps;
    for (uint32_t n = 0; n < m->vertex_count; n++) {
        lm_vec3 from = motion->start[n], to = motion->target[n];
        motion->now[n] =
            (lm_vec3){between(from.x, to.x, share), between(from.y, to.y, share), between(from.z, to.z, share)};
    }
    memcpy(motion->before, m->faces, m->face_count * sizeof *m->faces);
    motion->moves = true;
    motion->seconds = h;
    place_faces(m);
    refit(m);
}

void lmi_mesh_arrive(lmi_mesh *m)
{
    if (m->motion->has_target) {
        lmi_mesh_set_to(m, m->motion->target);
    }
}

/* --- a point in the way --- */

/* A point on its way from `from` at share `begin` of the substep to `to` at its end, and the first face on that way. */
typedef struct passage {
    lm_dvec3 from, to;
    double begin;
    double lower[3], upper[3]; /* of the way */
    double best;               /* share of the substep */
    bool front;                /* only faces that come upon it with their outside */
    double side;               /* 1: the point was outside that face; -1: behind it */
    lm_dvec3 weights;          /* barycentric, where it was met */
    uint32_t face;
} passage;

/* Corners of a face relative to the point: first + t change. */
typedef struct approach {
    lm_dvec3 first[3], change[3];
} approach;

static double triple(lm_dvec3 a, lm_dvec3 b, lm_dvec3 c) { return dvec_dot(a, dvec_cross(b, c)); }

static lm_dvec3 corner(const float *f, int k) { return dvec(f[3 * k], f[3 * k + 1], f[3 * k + 2]); }

static approach approach_of(const lmi_mesh *m, const passage *p, uint32_t face)
{
    double rest = 1.0 - p->begin;
    lm_dvec3 way = rest > 0.0 ? dvec_scale(dvec_sub(p->to, p->from), 1.0 / rest) : dvec(0.0, 0.0, 0.0);
    lm_dvec3 zero = dvec_sub(p->from, dvec_scale(way, p->begin)); /* where the point would have been at 0 */
    approach a;
    for (int k = 0; k < 3; k++) {
        lm_dvec3 was = corner(m->motion->before[face], k), is = corner(m->faces[face], k);
        a.first[k] = dvec_sub(was, zero);
        a.change[k] = dvec_sub(dvec_sub(is, was), way);
    }
    return a;
}

static lm_dvec3 at_time(const approach *a, int k, double t)
{
    return dvec_add(a->first[k], dvec_scale(a->change[k], t));
}

static double value(const double c[4], double t) { return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]; }

/* The turning points of the cubic between `begin` and 1, after `begin` and before 1, in order. Returns how many values are in `nodes`. */
static int turning_points(const double c[4], double begin, double nodes[4])
{
    int count = 0;
    nodes[count++] = begin;
    double a = 3.0 * c[3], b = 2.0 * c[2], d = b * b - 4.0 * a * c[1];
    if (d > 0.0) {
        double q = -0.5 * (b + (b < 0.0 ? -sqrt(d) : sqrt(d)));
        double roots[2] = {a != 0.0 ? q / a : 2.0, q != 0.0 ? c[1] / q : 2.0};
        double low = lmi_min(roots[0], roots[1]), high = lmi_max(roots[0], roots[1]);
        if (low > begin && low < 1.0) {
            nodes[count++] = low;
        }
        if (high > begin && high < 1.0 && high != low) {
            nodes[count++] = high;
        }
    }
    nodes[count++] = 1.0;
    return count;
}

/* Whether the point, which is in the plane of the face at t, is in the face; and its barycentric coordinates there. */
static bool is_within(const approach *a, double t, lm_dvec3 *weights)
{
    lm_dvec3 c[3] = {at_time(a, 0, t), at_time(a, 1, t), at_time(a, 2, t)};
    lm_dvec3 normal = dvec_cross(dvec_sub(c[1], c[0]), dvec_sub(c[2], c[0]));
    double square = dvec_dot(normal, normal);
    if (!(square > 0.0)) {
        return false;
    }
    double w[3];
    for (int k = 0; k < 3; k++) {
        w[k] = dvec_dot(dvec_cross(c[(k + 1) % 3], c[(k + 2) % 3]), normal) / square;
        if (!(w[k] >= -HAIR)) {
            return false;
        }
    }
    *weights = dvec(w[0], w[1], w[2]);
    return true;
}

/* The root between two points of different signs. */
static double find_root(const double c[4], double low, double high)
{
    bool below = value(c, low) < 0.0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = 0.5 * (low + high);
        if ((value(c, middle) < 0.0) == below) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

static void look(const lmi_mesh *m, passage *p, uint32_t face)
{
    const approach r = approach_of(m, p, face);
    const lm_dvec3 *a = r.first, *b = r.change;
    const double c[4] = {
        triple(a[0], a[1], a[2]), triple(b[0], a[1], a[2]) + triple(a[0], b[1], a[2]) + triple(a[0], a[1], b[2]),
        triple(a[0], b[1], b[2]) + triple(b[0], a[1], b[2]) + triple(b[0], b[1], a[2]), triple(b[0], b[1], b[2])};
    double nodes[4];
    int count = turning_points(c, p->begin, nodes);
    for (int k = 0; k + 1 < count && nodes[k] < p->best; k++) {
        double low = value(c, nodes[k]), high = value(c, nodes[k + 1]);
        bool changes = (low < 0.0 && high >= 0.0) || (low > 0.0 && high <= 0.0);
        if (!changes || (p->front && low > 0.0)) {
            continue;
        }
        double t = find_root(c, nodes[k], nodes[k + 1]);
        lm_dvec3 weights;
        if (t < p->best && is_within(&r, t, &weights)) {
            p->best = t;
            p->face = face;
            p->weights = weights;
            p->side = low < 0.0 ? 1.0 : -1.0;
            return;
        }
    }
}

static bool find_first(const lmi_mesh *m, passage *p)
{
    const double from[3] = {p->from.x, p->from.y, p->from.z}, to[3] = {p->to.x, p->to.y, p->to.z};
    for (int a = 0; a < 3; a++) {
        double hair = 1e-9 * (fabs(from[a]) + fabs(to[a])) + 1e-12;
        p->lower[a] = lmi_min(from[a], to[a]) - hair;
        p->upper[a] = lmi_max(from[a], to[a]) + hair;
    }
    p->best = 2.0;
    uint32_t stack[STACK], count = 0;
    stack[count++] = 0;
    while (count) {
        uint32_t index = stack[--count];
        const lmi_mesh_node *node = &m->nodes[index];
        bool misses = false;
        for (int a = 0; a < 3; a++) {
            misses = misses || node->lower[a] > p->upper[a] || node->upper[a] < p->lower[a];
        }
        if (misses) {
            continue;
        }
        for (uint32_t f = node->first; f < node->first + node->count; f++) {
            look(m, p, f);
        }
        if (node->count == 0) {
            stack[count++] = node->first;
            stack[count++] = index + 1;
        }
    }
    return p->best <= 1.0;
}

/* A face at a share of the substep. */
static lmi_triangle face_at(const lmi_mesh *m, uint32_t face, double t)
{
    lmi_triangle out;
    for (int k = 0; k < 3; k++) {
        lm_dvec3 was = corner(m->motion->before[face], k), is = corner(m->faces[face], k);
        out.corner[k] = dvec_add(was, dvec_scale(dvec_sub(is, was), t));
    }
    return out;
}

static lm_dvec3 blend(const lmi_triangle *t, lm_dvec3 w)
{
    return dvec_add(dvec_scale(t->corner[0], w.x),
                    dvec_add(dvec_scale(t->corner[1], w.y), dvec_scale(t->corner[2], w.z)));
}

/* Where the point is beside the face that has met it, at a share of the substep. */
static lm_dvec3 beside(const lmi_mesh *m, const passage *p, double t, double distance)
{
    lmi_triangle face = face_at(m, p->face, t);
    lm_dvec3 normal = lmi_triangle_normal(&face);
    double length = dvec_length(normal);
    lm_dvec3 at = blend(&face, p->weights);
    return length > 0.0 ? dvec_add(at, dvec_scale(normal, p->side * distance / length)) : at;
}

lm_dvec3 lmi_mesh_carry(const lmi_mesh *m, lm_dvec3 at, double from)
{
    passage p = {.from = at, .to = at, .begin = from, .front = m->solid};
    for (int k = 0; k < TRIES && find_first(m, &p); k++) {
        p.from = beside(m, &p, p.best, 0.5 * m->skin);
        p.to = beside(m, &p, 1.0, m->skin);
        p.begin = lmi_min(p.best, 1.0 - 1e-9);
    }
    return p.to;
}

lm_dvec3 lmi_mesh_drift(const lmi_mesh *m, lm_dvec3 at)
{
    lmi_mesh_hit hit;
    if (!lmi_mesh_nearest(m, at, INFINITY, &hit)) {
        return dvec(0.0, 0.0, 0.0);
    }
    lmi_triangle now = face_at(m, hit.face, 1.0), was = face_at(m, hit.face, 0.0);
    lm_dvec3 normal = lmi_triangle_normal(&now), w = dvec(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0);
    double square = dvec_dot(normal, normal);
    if (square > 0.0) {
        lm_dvec3 c[3];
        for (int k = 0; k < 3; k++) {
            c[k] = dvec_sub(now.corner[k], hit.point);
        }
        w = dvec(dvec_dot(dvec_cross(c[1], c[2]), normal) / square, dvec_dot(dvec_cross(c[2], c[0]), normal) / square,
                 dvec_dot(dvec_cross(c[0], c[1]), normal) / square);
    }
    return dvec_sub(blend(&now, w), blend(&was, w));
}
