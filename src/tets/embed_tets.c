#include "tets/embed_tets.h"
#include "geometry/triangle.h"

#include <string.h>

#define LEAF_TETS 4u     /* in a leaf */
#define MOST_WEIGHT 16.0 /* of an extrapolated point */
#define NOT_FOUND UINT32_MAX

/* ---- the tree ---- */

/* A tetrahedron while the tree is made. */
typedef struct item {
    float middle[3];
    uint32_t tet;
} item;

static item item_of(const lmi_tet_finder *f, uint32_t tet)
{
    lm_dvec3 sum = dvec(0.0, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        sum = dvec_add(sum, dvec_from(f->rest[f->tets[(size_t)tet * 4 + (size_t)i]]));
    }
    lm_vec3 middle = vec_from(dvec_scale(sum, 0.25));
    item made = {{middle.x, middle.y, middle.z}, tet};
    return made;
}

static bool is_before(const item *a, const item *b, int axis)
{
    return a->middle[axis] != b->middle[axis] ? a->middle[axis] < b->middle[axis] : a->tet < b->tet;
}

static void swap(item *a, item *b)
{
    item other = *a;
    *a = *b;
    *b = other;
}

/* Puts the `wanted` lowest along an axis before the others (Hoare's selection). The pivot is taken from changing places, so
 * that no order of the tetrahedra makes it slow. */
static void part(item *items, uint32_t count, uint32_t wanted, int axis)
{
    uint32_t low = 0, high = count, turn = count;
    while (high - low > 1) {
        turn = turn * 1664525u + 1013904223u;
        swap(&items[low], &items[low + (uint32_t)((uint64_t)turn * (high - low) >> 32)]);
        uint32_t at = low;
        for (uint32_t n = low + 1; n < high; n++) {
            if (is_before(&items[n], &items[low], axis)) {
                swap(&items[++at], &items[n]);
            }
        }
        swap(&items[low], &items[at]);
        if (at == wanted) {
            return;
        }
        low = at < wanted ? at + 1 : low;
        high = at < wanted ? high : at;
    }
}

static int longest_axis(const item *items, uint32_t count)
{
    float lower[3], upper[3];
    for (int i = 0; i < 3; i++) {
        lower[i] = upper[i] = items[0].middle[i];
    }
    for (uint32_t n = 1; n < count; n++) {
        for (int i = 0; i < 3; i++) {
            lower[i] = fminf(lower[i], items[n].middle[i]);
            upper[i] = fmaxf(upper[i], items[n].middle[i]);
        }
    }
    int axis = upper[1] - lower[1] > upper[0] - lower[0];
    return upper[2] - lower[2] > upper[axis] - lower[axis] ? 2 : axis;
}

/* Sorts the items of a node with so many leaves below it: those of the first half of the leaves come first. */
static void sort_node(item *items, uint32_t count, uint32_t leaves)
{
    while (leaves > 1) {
        leaves /= 2;
        uint32_t half = leaves * LEAF_TETS;
        if (count > half) {
            part(items, count, half, longest_axis(items, count));
            sort_node(items + half, count - half, leaves);
            count = half;
        }
    }
}

static void enclose(lmi_tet_box *box, const lmi_tet_box *other)
{
    for (int i = 0; i < 3; i++) {
        box->lower[i] = fminf(box->lower[i], other->lower[i]);
        box->upper[i] = fmaxf(box->upper[i], other->upper[i]);
    }
}

static const lmi_tet_box empty = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void make_boxes(lmi_tet_finder *f)
{
    for (uint32_t n = 0; n < 2 * f->leaves; n++) {
        f->boxes[n] = empty;
    }
    for (uint32_t n = 0; n < f->count; n++) {
        lmi_tet_box *leaf = &f->boxes[f->leaves + n / LEAF_TETS];
        for (int i = 0; i < 4; i++) {
            lm_vec3 p = f->rest[f->tets[(size_t)f->sorted[n] * 4 + (size_t)i]];
            lmi_tet_box point = {{p.x, p.y, p.z}, {p.x, p.y, p.z}};
            enclose(leaf, &point);
        }
    }
    for (uint32_t n = f->leaves - 1; n > 0; n--) {
        f->boxes[n] = f->boxes[2 * n];
        enclose(&f->boxes[n], &f->boxes[2 * n + 1]);
    }
}

bool lmi_tet_finder_make(lmi_tet_finder *f, lmi_memory *memory, const lm_vec3 *rest, const uint32_t *tets,
                         uint32_t count)
{
    lmi_tet_finder made = {.rest = rest, .tets = tets, .count = count, .leaves = 1};
    while (made.leaves * (uint64_t)LEAF_TETS < count) {
        made.leaves *= 2;
    }
    *f = made;
    item *items = lmi_allocate(memory, count, sizeof *items);
    f->sorted = lmi_allocate(memory, count, sizeof *f->sorted);
    f->boxes = lmi_allocate(memory, 2 * (size_t)f->leaves, sizeof *f->boxes);
    bool ok = items && f->sorted && f->boxes;
    for (uint32_t n = 0; ok && n < count; n++) {
        items[n] = item_of(f, n);
    }
    if (ok) {
        sort_node(items, count, f->leaves);
    }
    for (uint32_t n = 0; ok && n < count; n++) {
        f->sorted[n] = items[n].tet;
    }
    if (ok) {
        make_boxes(f);
    }
    lmi_release(memory, items, count, sizeof *items);
    if (!ok) {
        lmi_tet_finder_free(f, memory);
    }
    return ok;
}

void lmi_tet_finder_free(lmi_tet_finder *f, lmi_memory *memory)
{
    lmi_release(memory, f->sorted, f->count, sizeof *f->sorted);
    lmi_release(memory, f->boxes, 2 * (size_t)f->leaves, sizeof *f->boxes);
    f->sorted = NULL;
    f->boxes = NULL;
}

/* ---- single tetrahedra ---- */

static void weigh(const lm_dvec3 at[4], lm_dvec3 point, double weights[4])
{
    lm_dvec3 e1 = dvec_sub(at[1], at[0]), e2 = dvec_sub(at[2], at[0]), e3 = dvec_sub(at[3], at[0]);
    lm_dvec3 p = dvec_sub(point, at[0]);
    double whole = dvec_dot(e1, dvec_cross(e2, e3));
    weights[1] = dvec_dot(p, dvec_cross(e2, e3)) / whole;
    weights[2] = dvec_dot(p, dvec_cross(e3, e1)) / whole;
    weights[3] = dvec_dot(p, dvec_cross(e1, e2)) / whole;
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
}

/* The square of the distance to a tetrahedron, 0 inside. Seen from a point outside, what is nearest lies on a face beyond
 * which the point is: one whose opposite corner has a negative weight. */
static double distance(const lm_dvec3 at[4], const double weights[4], lm_dvec3 point)
{
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double least = INFINITY;
    bool inside = true;
    for (int i = 0; i < 4; i++) {
        if (weights[i] < 0.0) {
            lmi_triangle t = {{at[face[i][0]], at[face[i][1]], at[face[i][2]]}};
            lm_dvec3 off = dvec_sub(point, lmi_triangle_nearest(&t, point));
            least = fmin(least, dvec_dot(off, off));
            inside = false;
        }
    }
    return inside ? 0.0 : least;
}

/* ---- the search ---- */

typedef struct search {
    lm_dvec3 point;
    double most_weight;
    double least; /* square of the distance to the nearest so far */
    uint32_t tet; /* or NOT_FOUND */
    double weights[4];
} search;

static void try_tet(const lmi_tet_finder *f, uint32_t tet, search *s)
{
    lm_dvec3 at[4];
    double weights[4], largest = 0.0;
    for (int i = 0; i < 4; i++) {
        at[i] = dvec_from(f->rest[f->tets[(size_t)tet * 4 + (size_t)i]]);
    }
    weigh(at, s->point, weights);
    for (int i = 0; i < 4; i++) {
        largest = fmax(largest, fabs(weights[i]));
    }
    double square = largest <= s->most_weight ? distance(at, weights, s->point) : INFINITY;
    if (square < s->least || (square == s->least && tet < s->tet && square < INFINITY)) {
        s->least = square;
        s->tet = tet;
        memcpy(s->weights, weights, sizeof weights);
    }
}

static double box_distance(const lmi_tet_box *box, lm_dvec3 point)
{
    const double p[3] = {point.x, point.y, point.z};
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double off = fmax(fmax(box->lower[i] - p[i], p[i] - box->upper[i]), 0.0);
        sum += off * off;
    }
    return sum;
}

/* The nearer box first; those beyond the best so far are left out. A box at the same distance is looked into, because the
 * first of equals is wanted. */
static void look(const lmi_tet_finder *f, search *s)
{
    uint32_t stack[64], depth = 0;
    stack[depth++] = 1;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        if (box_distance(&f->boxes[node], s->point) > s->least) {
            continue;
        }
        if (node >= f->leaves) {
            uint32_t first = (node - f->leaves) * LEAF_TETS;
            for (uint32_t n = first; n < first + LEAF_TETS && n < f->count; n++) {
                try_tet(f, f->sorted[n], s);
            }
            continue;
        }
        uint32_t low = 2 * node;
        bool low_first = box_distance(&f->boxes[low], s->point) <= box_distance(&f->boxes[low + 1], s->point);
        stack[depth++] = low_first ? low + 1 : low;
        stack[depth++] = low_first ? low : low + 1;
    }
}

void lmi_embed_tets(const lmi_tet_finder *f, lm_vec3 point, uint32_t particles[4], float weights[4])
{
    search s = {.point = dvec_from(point), .most_weight = MOST_WEIGHT, .least = INFINITY, .tet = NOT_FOUND};
    look(f, &s);
    if (s.tet == NOT_FOUND) { /* far from all of them */
        s.most_weight = INFINITY;
        look(f, &s);
    }
    for (int i = 0; i < 4; i++) {
        particles[i] = f->tets[(size_t)s.tet * 4 + (size_t)i];
        weights[i] = (float)s.weights[i];
    }
}
