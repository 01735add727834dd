/*
 * Dividing a surface along the planes between the boxes of particles (skin/surface.h).
 *
 * Axis by axis: a triangle on both sides of a plane is divided there, lowest plane first, until none is. The vertex where an
 * edge meets a plane is found once for each edge, so that the two triangles at an edge get the same one.
 */
#include "skin/surface.h"
#include "base/hash.h"
#include "base/vec.h"
#include "lattice/embed_lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LMI_LATTICE_NONE

/* Nearer than this to a plane, in spacings, a vertex is on it: no slivers. */
#define ON_PLANE 1e-5

/* Triangles of a divided surface, at most. */
#define MOST_TRIANGLES (1u << 26)

/* Vertices by the edge and plane that they are made from. */
typedef struct entry {
    uint32_t low, high, vertex; /* vertex + 1, or 0 */
    int32_t plane;
} entry;

typedef struct table {
    entry *entries;
    uint32_t size, used;
} table;

typedef struct maker {
    lmi_memory *memory;
    const lmi_lattice *l;
    lmi_cut *cut;
    int axis;
    table by_edge;  /* of this axis */
    table by_place; /* welded: the same by welded ends */
} maker;

static uint64_t hash_of(uint32_t low, uint32_t high, int32_t plane)
{
    return lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, (uint64_t)low << 32 | high), (uint32_t)plane);
}

static entry *find_entry(const table *t, uint32_t low, uint32_t high, int32_t plane)
{
    uint32_t at = (uint32_t)(hash_of(low, high, plane) >> 16) & (t->size - 1);
    while (t->entries[at].vertex &&
           !(t->entries[at].low == low && t->entries[at].high == high && t->entries[at].plane == plane)) {
        at = (at + 1) & (t->size - 1);
    }
    return &t->entries[at];
}

/* Room for one more. */
static bool reserve_entry(lmi_memory *memory, table *t)
{
    if (2 * (t->used + 1) <= t->size) {
        return true;
    }
    table larger = {NULL, t->size ? 2 * t->size : 1024, t->used};
    larger.entries = lmi_allocate(memory, larger.size, sizeof *larger.entries);
    if (!larger.entries) {
        return false;
    }
    for (uint32_t n = 0; n < t->size; n++) {
        if (t->entries[n].vertex) {
            *find_entry(&larger, t->entries[n].low, t->entries[n].high, t->entries[n].plane) = t->entries[n];
        }
    }
    lmi_release(memory, t->entries, t->size, sizeof *t->entries);
    *t = larger;
    return true;
}

static void free_table(lmi_memory *memory, table *t)
{
    lmi_release(memory, t->entries, t->size, sizeof *t->entries);
    memset(t, 0, sizeof *t);
}

/* --- growing arrays --- */

static bool add_vertex(maker *m, const lmi_cut_vertex *v)
{
    void *array = m->cut->vertices;
    bool ok = m->cut->vertex_count < LMI_CUT_NODE - 1 &&
              lmi_reserve(m->memory, &array, &m->cut->vertex_capacity, m->cut->vertex_count + 1, sizeof *v);
    m->cut->vertices = array;
    if (ok) {
        m->cut->vertices[m->cut->vertex_count++] = *v;
    }
    return ok;
}

static bool add_triangle(maker *m, uint32_t a, uint32_t b, uint32_t c, uint32_t given)
{
    void *array = m->cut->triangles;
    bool ok =
        m->cut->triangle_count < MOST_TRIANGLES && lmi_reserve(m->memory, &array, &m->cut->triangle_capacity,
                                                               m->cut->triangle_count + 1, sizeof *m->cut->triangles);
    m->cut->triangles = array;
    if (ok) {
        m->cut->triangles[m->cut->triangle_count++] = (lmi_cut_triangle){{a, b, c}, NONE, given};
    }
    return ok;
}

/* --- vertices as given --- */

static void find_planes(lmi_cut_vertex *v)
{
    for (int a = 0; a < 3; a++) {
        double plane = floor(v->at[a]) + 0.5;
        if (fabs(v->at[a] - plane) < ON_PLANE) {
            v->at[a] = plane;
            v->planes |= (uint8_t)(1u << a);
        }
    }
}

/* Vertices at the same place, by a table of their coordinates. */
static bool weld_given(maker *m)
{
    lmi_cut *cut = m->cut;
    uint32_t size = 64, count = cut->vertex_count;
    while (size < 2 * count) {
        size *= 2;
    }
    uint32_t *first = lmi_allocate(m->memory, size, sizeof *first);
    for (uint32_t n = 0; first && n < count; n++) {
        uint64_t bits[3];
        memcpy(bits, cut->vertices[n].at, sizeof bits);
        uint64_t hash = lmi_hash_word(lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, bits[0]), bits[1]), bits[2]);
        uint32_t at = (uint32_t)(hash >> 16) & (size - 1);
        while (first[at] && memcmp(cut->vertices[first[at] - 1].at, cut->vertices[n].at, sizeof bits) != 0) {
            at = (at + 1) & (size - 1);
        }
        first[at] = first[at] ? first[at] : n + 1;
        cut->vertices[n].weld = first[at] - 1;
    }
    lmi_release(m->memory, first, size, sizeof *first);
    return first != NULL;
}

static bool take_vertices(maker *m, const lmi_cut_surface *surface)
{
    const lmi_lattice *l = m->l;
    for (uint32_t n = 0; n < surface->vertex_count; n++) {
        lmi_cut_vertex v = {.given = n, .source = n, .normal = surface->normals[n]};
        const lm_vec3 *p = &surface->vertices[n];
        const double from[3] = {p->x - l->first.x, p->y - l->first.y, p->z - l->first.z};
        for (uint32_t a = 0; a < 3; a++) { /* + 0: there is one zero */
            v.at[a] = fmin(fmax(from[(a + l->turn) % 3] / l->spacing, -1e6), 1e6) + 0.0;
        }
        find_planes(&v);
        if (!add_vertex(m, &v)) {
            return false;
        }
    }
    return weld_given(m);
}

/* --- dividing --- */

/* Not to length 1 yet: an edge may be divided again, and normals change evenly along it. */
static lm_vec3 normal_between(const lmi_cut_vertex *a, const lmi_cut_vertex *b, double share)
{
    lm_dvec3 from = dvec_from(a->normal), to = dvec_from(b->normal);
    return vec_from(dvec_add(from, dvec_scale(dvec_sub(to, from), share)));
}

/* The vertex of an edge on a plane across the axis. */
static bool divide_edge(maker *m, uint32_t a, uint32_t b, double plane, uint32_t *vertex)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    const int32_t index = (int32_t)floor(plane);
    if (!reserve_entry(m->memory, &m->by_edge) || !reserve_entry(m->memory, &m->by_place)) {
        return false;
    }
    entry *e = find_entry(&m->by_edge, low, high, index);
    if (e->vertex) {
        *vertex = e->vertex - 1;
        return true;
    }
    lmi_cut_vertex v = {.given = NONE};
    const lmi_cut_vertex *all = m->cut->vertices;
    uint32_t x = all[low].weld < all[high].weld ? all[low].weld : all[high].weld;
    uint32_t y = all[low].weld < all[high].weld ? all[high].weld : all[low].weld;
    double share = (plane - all[x].at[m->axis]) / (all[y].at[m->axis] - all[x].at[m->axis]);
    for (int i = 0; i < 3; i++) {
        v.at[i] = all[x].at[i] + share * (all[y].at[i] - all[x].at[i]);
        if (all[x].at[i] == all[y].at[i]) {
            v.at[i] = all[x].at[i];
        }
    }
    v.at[m->axis] = plane;
    /* Vertices at one place may have normals of their own: those of the ends themselves, not of what they are welded to. */
    v.normal = normal_between(&all[low], &all[high], all[low].weld == x ? share : 1.0 - share);
    v.source =
        fabs(all[low].at[m->axis] - plane) <= fabs(all[high].at[m->axis] - plane) ? all[low].source : all[high].source;
    find_planes(&v);
    *vertex = m->cut->vertex_count;
    entry *same = find_entry(&m->by_place, x, y, index);
    v.weld = same->vertex ? same->vertex - 1 : *vertex;
    m->by_place.used += !same->vertex;
    *same = (entry){x, y, v.weld + 1, index};
    m->by_edge.used++;
    *e = (entry){low, high, *vertex + 1, index};
    return add_vertex(m, &v);
}

/* The lowest plane across the axis with a corner strictly below and one strictly above; false: none. Planes beyond the boxes part
 * nothing: without this limit a triangle that reaches far beyond them would become millions. */
static bool find_plane(const maker *m, const uint32_t corner[3], double *plane)
{
    double low = INFINITY, high = -INFINITY, most = m->l->size[m->axis] + 0.5;
    for (int i = 0; i < 3; i++) {
        double at = m->cut->vertices[corner[i]].at[m->axis];
        low = fmin(low, at);
        high = fmax(high, at);
    }
    *plane = fmax(floor(low + 0.5) + 0.5, -1.5); /* above low: one that is on a plane is not below it */
    return *plane < high && *plane <= most;
}

/* Divides a triangle at a plane; the pieces take its place and the end of the list. */
static bool divide(maker *m, uint32_t index, double plane)
{
    uint32_t c[3], given = m->cut->triangles[index].given;
    double at[3];
    memcpy(c, m->cut->triangles[index].corner, sizeof c);
    for (int i = 0; i < 3; i++) {
        at[i] = m->cut->vertices[c[i]].at[m->axis] - plane;
    }
    for (int i = 0; i < 3; i++) { /* a corner on the plane, or one that is alone on its side, comes first */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if (at[i] == 0.0) {
            uint32_t middle;
            if (!divide_edge(m, c[j], c[k], plane, &middle) || !add_triangle(m, c[i], middle, c[k], given)) {
                return false;
            }
            memcpy(m->cut->triangles[index].corner, (uint32_t[3]){c[i], c[j], middle}, sizeof c);
            return true;
        }
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        if ((at[i] > 0.0) != (at[j] > 0.0) && (at[i] > 0.0) != (at[k] > 0.0)) {
            uint32_t p, q;
            if (!divide_edge(m, c[i], c[j], plane, &p) || !divide_edge(m, c[k], c[i], plane, &q) ||
                !add_triangle(m, p, c[j], c[k], given) || !add_triangle(m, p, c[k], q, given)) {
                return false;
            }
            memcpy(m->cut->triangles[index].corner, (uint32_t[3]){c[i], p, q}, sizeof c);
            return true;
        }
    }
    return true;
}

static bool divide_all(maker *m)
{
    bool ok = true;
    for (m->axis = 0; m->axis < 3 && ok; m->axis++) {
        for (uint32_t n = 0; n < m->cut->triangle_count && ok; n++) {
            double plane;
            while (ok && find_plane(m, m->cut->triangles[n].corner, &plane)) {
                ok = divide(m, n, plane);
            }
        }
        free_table(m->memory, &m->by_edge);
        free_table(m->memory, &m->by_place);
    }
    for (uint32_t n = 0; n < m->cut->vertex_count; n++) {
        lmi_cut_vertex *v = &m->cut->vertices[n];
        double length = dvec_length(dvec_from(v->normal));
        v->normal =
            v->given == NONE && length > 0.0 ? vec_from(dvec_scale(dvec_from(v->normal), 1.0 / length)) : v->normal;
    }
    return ok;
}

/* --- whose is what --- */

static double normal_along(const lmi_cut *cut, const lmi_cut_triangle *t, int axis)
{
    const double *a = cut->vertices[t->corner[0]].at, *b = cut->vertices[t->corner[1]].at,
                 *c = cut->vertices[t->corner[2]].at;
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    return (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
}

/* The box that a triangle is in. One that lies in a plane between boxes is on the side of the material, behind it. */
static void find_box(const lmi_cut *cut, const lmi_cut_triangle *t, int32_t box[3])
{
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 3; i++) {
            low = fmin(low, cut->vertices[t->corner[i]].at[a]);
            high = fmax(high, cut->vertices[t->corner[i]].at[a]);
        }
        double middle = 0.5 * (low + high);
        if (low == high && middle == floor(middle) + 0.5) {
            middle += normal_along(cut, t, a) > 0.0 ? -0.5 : 0.5;
        }
        box[a] = (int32_t)floor(middle + 0.5);
    }
}

static void find_owner(const lmi_lattice *l, const lmi_cut *cut, lmi_cut_triangle *t)
{
    int32_t box[3];
    find_box(cut, t, box);
    t->owner = lmi_lattice_find(l, box[0], box[1], box[2]);
    if (t->owner == NONE) { /* beside the lattice: the nearest corner of the nearest cell */
        const lmi_cut_vertex *v = &cut->vertices[t->corner[0]];
        double at[3], best = -INFINITY;
        for (uint32_t a = 0; a < 3; a++) {
            at[(a + l->turn) % 3] = v->at[a] * l->spacing;
        }
        lm_vec3 point = {(float)(l->first.x + at[0]), (float)(l->first.y + at[1]), (float)(l->first.z + at[2])};
        uint32_t particles[8];
        float weights[8];
        lmi_embed_lattice(l, point, particles, weights);
        for (int k = 0; k < 8; k++) {
            t->owner = weights[k] > best ? particles[k] : t->owner;
            best = fmax(best, weights[k]);
        }
    }
}

static void find_cell(const lmi_lattice *l, lmi_cut_vertex *v)
{
    int32_t at[3] = {(int32_t)floor(v->at[0]), (int32_t)floor(v->at[1]), (int32_t)floor(v->at[2])};
    double best = INFINITY;
    v->cell = NONE;
    for (int32_t n = 0; n < 27 && best > 0.0; n++) { /* its own first */
        static const int32_t to[3] = {0, -1, 1};
        int32_t cell[3] = {at[0] + to[n % 3], at[1] + to[n / 3 % 3], at[2] + to[n / 9]};
        uint32_t lowest = lmi_lattice_find(l, cell[0], cell[1], cell[2]);
        if (lowest == NONE || !(l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1)) {
            continue;
        }
        double square = 0.0;
        for (int a = 0; a < 3; a++) {
            double off = fmax(fmax(cell[a] - v->at[a], v->at[a] - cell[a] - 1.0), 0.0);
            square += off * off;
        }
        if (square < best) {
            best = square;
            v->cell = lowest;
        }
    }
    v->outside = best > 0.0;
}

void lmi_cut_ride(const lmi_lattice *l, uint32_t cell, const double at[3], uint32_t riders[8], float weights[8])
{
    int32_t low[3];
    lmi_lattice_corner(l, cell, low);
    for (uint32_t n = 0; n < 8; n++) {
        double weight = 1.0;
        int32_t corner[3];
        for (uint32_t a = 0; a < 3; a++) {
            int32_t up = (int32_t)(n >> ((a + l->turn) % 3) & 1);
            weight *= up ? at[a] - low[a] : 1.0 - (at[a] - low[a]);
            corner[a] = low[a] + up;
        }
        riders[n] = lmi_lattice_find(l, corner[0], corner[1], corner[2]);
        weights[n] = (float)weight;
    }
}

static bool find_riders(maker *m)
{
    lmi_cut *cut = m->cut;
    cut->riders = lmi_allocate(m->memory, cut->vertex_count, sizeof *cut->riders);
    cut->weights = lmi_allocate(m->memory, cut->vertex_count, sizeof *cut->weights);
    for (uint32_t n = 0; cut->riders && cut->weights && n < cut->vertex_count; n++) {
        find_cell(m->l, &cut->vertices[n]);
        if (cut->vertices[n].cell != NONE) {
            lmi_cut_ride(m->l, cut->vertices[n].cell, cut->vertices[n].at, cut->riders[n], cut->weights[n]);
        }
    }
    return cut->riders && cut->weights;
}

/* --- edges on faces, and where lines cross --- */

static bool add_edge(maker *m, lmi_cut_edge e)
{
    void *array = m->cut->edges;
    bool ok = lmi_reserve(m->memory, &array, &m->cut->edge_capacity, m->cut->edge_count + 1, sizeof e);
    m->cut->edges = array;
    if (ok) {
        m->cut->edges[m->cut->edge_count++] = e;
    }
    return ok;
}

/* The edges of a triangle on the upper faces of its box. */
static bool add_edges(maker *m, const lmi_cut_triangle *t)
{
    int32_t box[3];
    bool ok = true;
    find_box(m->cut, t, box);
    if (lmi_lattice_find(m->l, box[0], box[1], box[2]) != t->owner) {
        return true;
    }
    for (uint32_t a = 0; a < 3; a++) {
        for (int i = 0; i < 3 && ok; i++) {
            const lmi_cut_vertex *u = &m->cut->vertices[t->corner[i]], *v = &m->cut->vertices[t->corner[(i + 1) % 3]];
            if (u->at[a] == box[a] + 0.5 && v->at[a] == box[a] + 0.5 && u->weld != v->weld) {
                ok = add_edge(m, (lmi_cut_edge){t->owner, a, u->weld, v->weld});
            }
        }
    }
    return ok;
}

static int compare_edges(const void *a, const void *b)
{
    const lmi_cut_edge *x = a, *y = b;
    const uint32_t p[4] = {x->particle, x->axis, x->from, x->to}, q[4] = {y->particle, y->axis, y->from, y->to};
    for (int i = 0; i < 4; i++) {
        if (p[i] != q[i]) {
            return p[i] < q[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_crossings(const double a[3], const double b[3])
{
    for (int i = 3; i-- > 0;) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

typedef struct crossing {
    double at[3];
    uint32_t vertex;
} crossing;

static int compare_places(const void *a, const void *b)
{
    const crossing *x = a, *y = b;
    int by_place = compare_crossings(x->at, y->at);
    return by_place ? by_place : x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Vertices on planes across y and z, one for each place. */
static bool list_crossings(maker *m)
{
    lmi_cut *cut = m->cut;
    uint32_t most = 0, count = 0;
    for (uint32_t n = 0; n < cut->vertex_count; n++) {
        most += (cut->vertices[n].planes & 6) == 6;
    }
    crossing *list = lmi_allocate(m->memory, most, sizeof *list);
    cut->crossings = lmi_allocate(m->memory, most, sizeof *cut->crossings);
    cut->crossing_capacity = cut->crossings ? most : 0;
    if (list && cut->crossings) {
        for (uint32_t n = 0; n < cut->vertex_count; n++) {
            if ((cut->vertices[n].planes & 6) == 6) {
                memcpy(list[count].at, cut->vertices[n].at, sizeof list[count].at);
                list[count++].vertex = n;
            }
        }
        qsort(list, count, sizeof *list, compare_places);
        for (uint32_t n = 0; n < count; n++) {
            if (n == 0 || compare_crossings(list[n].at, list[n - 1].at) != 0) {
                cut->crossings[cut->crossing_count++] = list[n].vertex;
            }
        }
    }
    bool ok = list && cut->crossings;
    lmi_release(m->memory, list, most, sizeof *list);
    return ok;
}

bool lmi_cut_is_inside(const lmi_cut *cut, const lmi_lattice *l, uint32_t cell)
{
    int32_t corner[3];
    lmi_lattice_corner(l, cell, corner);
    const double at[3] = {corner[0] + 0.5, corner[1] + 0.5, corner[2] + 0.5};
    uint32_t low = 0, high = cut->crossing_count;
    while (low < high) { /* the first beyond the point */
        uint32_t middle = low + (high - low) / 2;
        bool before = compare_crossings(cut->vertices[cut->crossings[middle]].at, at) <= 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    uint32_t first = low;
    for (; low < cut->crossing_count; low++) {
        const double *v = cut->vertices[cut->crossings[low]].at;
        if (v[1] != at[1] || v[2] != at[2]) {
            break;
        }
    }
    return cut->outward && ((low - first) & 1);
}

/* --- the whole --- */

static double volume_of(const lmi_cut *cut)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < cut->triangle_count; n++) {
        const uint32_t *c = cut->triangles[n].corner;
        lm_dvec3 p[3];
        for (int i = 0; i < 3; i++) {
            const double *at = cut->vertices[c[i]].at;
            p[i] = dvec(at[0], at[1], at[2]);
        }
        sum += dvec_dot(p[0], dvec_cross(p[1], p[2]));
    }
    return sum;
}

lmi_cut *lmi_cut_make(lmi_memory *memory, const lmi_lattice *l, const lmi_cut_surface *surface)
{
    lmi_cut *cut = lmi_allocate(memory, 1, sizeof *cut);
    maker m = {.memory = memory, .l = l, .cut = cut};
    bool ok = cut && take_vertices(&m, surface);
    for (uint32_t n = 0; ok && n < surface->triangle_count; n++) {
        const uint32_t *corner = surface->triangles + 3 * (size_t)n;
        ok = add_triangle(&m, corner[0], corner[1], corner[2], n);
    }
    ok = ok && divide_all(&m);
    if (cut) {
        cut->outward = ok && volume_of(cut) > 0.0;
    }
    for (uint32_t n = 0; ok && n < cut->triangle_count; n++) {
        find_owner(l, cut, &cut->triangles[n]);
        ok = add_edges(&m, &cut->triangles[n]);
    }
    ok = ok && find_riders(&m) && list_crossings(&m) && lmi_cut_index(memory, l, cut);
    free_table(memory, &m.by_edge);
    free_table(memory, &m.by_place);
    if (ok && cut->edge_count) {
        qsort(cut->edges, cut->edge_count, sizeof *cut->edges, compare_edges);
    }
    if (!ok) {
        lmi_cut_free(memory, cut);
    }
    return ok ? cut : NULL;
}

void lmi_cut_free(lmi_memory *memory, lmi_cut *cut)
{
    if (cut) {
        lmi_cut_index_free(memory, cut);
        lmi_release(memory, cut->riders, cut->vertex_count, sizeof *cut->riders);
        lmi_release(memory, cut->weights, cut->vertex_count, sizeof *cut->weights);
        lmi_release(memory, cut->vertices, cut->vertex_capacity, sizeof *cut->vertices);
        lmi_release(memory, cut->triangles, cut->triangle_capacity, sizeof *cut->triangles);
        lmi_release(memory, cut->edges, cut->edge_capacity, sizeof *cut->edges);
        lmi_release(memory, cut->crossings, cut->crossing_capacity, sizeof *cut->crossings);
        lmi_release(memory, cut, 1, sizeof *cut);
    }
}

uint8_t lmi_cut_place(const lmi_cut *cut, const lmi_lattice *l, uint32_t vertex, double at[3])
{
    if (vertex < LMI_CUT_NODE) {
        memcpy(at, cut->vertices[vertex].at, sizeof cut->vertices[vertex].at);
        return cut->vertices[vertex].planes;
    }
    int32_t corner[3];
    lmi_lattice_corner(l, vertex - LMI_CUT_NODE, corner);
    for (int a = 0; a < 3; a++) {
        at[a] = corner[a] + 0.5;
    }
    return 7;
}
