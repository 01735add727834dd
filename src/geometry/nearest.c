#include "geometry/nearest.h"

/* Where a node is in the tree, and which points it has. */
typedef struct place {
    uint32_t node, first, last;
} place;

static uint32_t middle_of(place at) { return at.first + (at.last - at.first) / 2; }
static place left_of(place at) { return (place){2 * at.node, at.first, middle_of(at)}; }
static place right_of(place at) { return (place){2 * at.node + 1, middle_of(at), at.last}; }
static bool is_leaf(place at) { return at.last - at.first <= LMI_NEAREST_LEAF; }

bool lmi_nearest_make(lmi_nearest *near, lmi_memory *memory, uint32_t count)
{
    *near = (lmi_nearest){.memory = memory, .count = count};
    while ((uint64_t)LMI_NEAREST_LEAF << near->levels < count) {
        near->levels++;
    }
    near->points = lmi_allocate_plain(memory, count, sizeof *near->points);
    near->index = lmi_allocate_plain(memory, count, sizeof *near->index);
    near->nodes = lmi_allocate_plain(memory, lmi_nearest_nodes(near), sizeof *near->nodes);
    return near->points && near->index && near->nodes;
}

bool lmi_nearest_make_from(lmi_nearest *near, lmi_memory *memory, const lm_vec3 *points, uint32_t count)
{
    bool ok = lmi_nearest_make(near, memory, count);
    for (uint32_t n = 0; ok && n < count; n++) {
        near->points[n] = dvec_from(points[n]);
    }
    if (ok) {
        lmi_nearest_build(near);
    }
    return ok;
}

void lmi_nearest_free(lmi_nearest *near)
{
    if (near->memory) {
        lmi_release(near->memory, near->points, near->count, sizeof *near->points);
        lmi_release(near->memory, near->index, near->count, sizeof *near->index);
        lmi_release(near->memory, near->nodes, lmi_nearest_nodes(near), sizeof *near->nodes);
    }
    *near = (lmi_nearest){0};
}

/* --- building --- */

static double coordinate(lm_dvec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static bool is_before(const lmi_nearest *t, int axis, uint32_t a, uint32_t b)
{
    double x = coordinate(t->points[a], axis), y = coordinate(t->points[b], axis);
    return x < y || (x == y && t->index[a] < t->index[b]);
}

static void exchange(lmi_nearest *t, uint32_t a, uint32_t b)
{
    lm_dvec3 point = t->points[a];
    uint32_t index = t->index[a];
    t->points[a] = t->points[b], t->index[a] = t->index[b];
    t->points[b] = point, t->index[b] = index;
}

/* Puts the point that belongs at `middle` there, smaller ones before it: Hoare's selection. The pivot is drawn from a
 * fixed sequence, so that no order of points is a bad one. */
static void select_middle(lmi_nearest *t, int axis, uint32_t first, uint32_t last, uint32_t middle)
{
    uint64_t draw = 0x9e3779b97f4a7c15u;
    while (last - first > 1) {
        draw = draw * 6364136223846793005u + 1442695040888963407u;
        uint32_t less = first;
        exchange(t, first + (uint32_t)((draw >> 33) % (last - first)), last - 1);
        for (uint32_t n = first; n < last - 1; n++) {
            if (is_before(t, axis, n, last - 1)) {
                exchange(t, n, less++);
            }
        }
        exchange(t, less, last - 1);
        if (less == middle) {
            return;
        }
        first = less < middle ? less + 1 : first;
        last = less < middle ? last : less;
    }
}

static lmi_nearest_node box_of(const lmi_nearest *t, place at)
{
    lmi_nearest_node box = {t->points[at.first], t->points[at.first], t->index[at.first]};
    for (uint32_t n = at.first + 1; n < at.last; n++) {
        lm_dvec3 p = t->points[n];
        box.low = dvec(lmi_min(p.x, box.low.x), lmi_min(p.y, box.low.y), lmi_min(p.z, box.low.z));
        box.high = dvec(lmi_max(p.x, box.high.x), lmi_max(p.y, box.high.y), lmi_max(p.z, box.high.z));
        box.least = t->index[n] < box.least ? t->index[n] : box.least;
    }
    return box;
}

/* Halves ranges, so the recursion is as deep as the logarithm of the number of points. */
static void build(lmi_nearest *t, place at)
{
    lmi_nearest_node *node = &t->nodes[at.node];
    *node = box_of(t, at);
    if (is_leaf(at)) {
        return;
    }
    lm_dvec3 size = dvec_sub(node->high, node->low);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    select_middle(t, axis, at.first, at.last, middle_of(at));
    build(t, left_of(at));
    build(t, right_of(at));
}

void lmi_nearest_build(lmi_nearest *near)
{
    for (uint32_t n = 0; n < near->count; n++) {
        near->index[n] = n;
    }
    if (near->count > 0) {
        build(near, (place){1, 0, near->count});
    }
}

/* --- finding --- */

typedef struct finder {
    const lmi_nearest *tree;
    lm_dvec3 at;
    lmi_neighbour *found;
    uint32_t count, most, except;
} finder;

static bool is_less(double square, uint32_t index, const lmi_neighbour *than)
{
    return square < than->square || (square == than->square && index < than->index);
}

/* Whether something at least this far, with an index of at least this, is among the nearest as far as is known. */
static bool is_wanted(const finder *f, double square, uint32_t index)
{
    return f->count < f->most || is_less(square, index, &f->found[f->most - 1]);
}

static void offer(finder *f, double square, uint32_t index)
{
    if (index == f->except || !is_wanted(f, square, index)) {
        return;
    }
    uint32_t at = f->count < f->most ? f->count++ : f->most - 1;
    for (; at > 0 && is_less(square, index, &f->found[at - 1]); at--) {
        f->found[at] = f->found[at - 1];
    }
    f->found[at] = (lmi_neighbour){square, index};
}

static void find(finder *f, place at)
{
    const lmi_nearest *t = f->tree;
    if (is_leaf(at)) {
        for (uint32_t n = at.first; n < at.last; n++) {
            lm_dvec3 way = dvec_sub(t->points[n], f->at);
            offer(f, dvec_dot(way, way), t->index[n]);
        }
        t->memory->work += at.last - at.first;
        return;
    }
    place side[2] = {left_of(at), right_of(at)};
    const lmi_nearest_node *node[2] = {&t->nodes[side[0].node], &t->nodes[side[1].node]};
    lmi_neighbour gap[2] = {{lmi_nearest_gap(node[0], f->at), node[0]->least},
                            {lmi_nearest_gap(node[1], f->at), node[1]->least}};
    int first = is_less(gap[1].square, gap[1].index, &gap[0]);
    for (int k = 0; k < 2; k++) {
        int n = k ^ first;
        if (is_wanted(f, gap[n].square, gap[n].index)) {
            find(f, side[n]);
        }
    }
}

uint32_t lmi_nearest_find(const lmi_nearest *near, lm_dvec3 where, uint32_t most, uint32_t except, lmi_neighbour *found,
                          uint32_t known)
{
    finder f = {near, where, found, known, most, except};
    if (most > 0 && near->count > 0) {
        find(&f, (place){1, 0, near->count});
    }
    return f.count;
}

uint32_t lmi_nearest_after(const lmi_nearest *t, const lm_vec3 *vertices, lm_dvec3 point, uint32_t last)
{
    lm_dvec3 way = dvec_sub(dvec_from(vertices[last]), point);
    lmi_neighbour best = {dvec_dot(way, way), last};
    lmi_nearest_find(t, point, 1, UINT32_MAX, &best, 1);
    return best.index;
}

bool lmi_nearest_values(lmi_memory *memory, const lm_vec3 *vertices, const float *of_vertices, uint32_t vertex_count,
                        const lm_dvec3 *points, uint32_t point_count, float *values)
{
    lmi_nearest t;
    bool ok = lmi_nearest_make_from(&t, memory, vertices, vertex_count);
    for (uint32_t n = 0, last = 0; ok && n < point_count; n++) {
        last = lmi_nearest_after(&t, vertices, points[n], last);
        values[n] = of_vertices[last];
    }
    lmi_nearest_free(&t);
    return ok;
}
