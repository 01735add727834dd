/*
 * The inside of the face between the boxes of two particles (skin/surface.h).
 *
 * Triangles of the lower box have edges on the face; turned round they are part of the border of what closes that box. Chains
 * of them begin and end at the border of the face, or are loops. Between the end of one chain and the beginning of the next,
 * counter-clockwise, the border of the face is inside. Where no chain meets it, the whole border is inside or none of it, as the
 * middle of a cell tells. So there are loops in a plane, with holes perhaps, and these are divided into triangles by cutting
 * off ears.
 */
#include "skin/surface.h"

#include <math.h>
#include <string.h>

/* Edges of a face and its triangles stay below this in any surface that shows; a face with more is left open. */
enum { MOST_EDGES = 512, MOST_POINTS = 4 * MOST_EDGES };

typedef struct edge {
    uint32_t from, to;
    bool used;
} edge;

/* An end of chains on the border of the face; or one of its corners. */
typedef struct stop {
    double along; /* counter-clockwise from corner 0, a corner at each whole number */
    uint32_t vertex;
    int32_t begins; /* chains that begin here, less those that end */
} stop;

typedef struct face {
    const lmi_cut *cut;
    const lmi_lattice *l;
    lmi_lattice_link link;
    int u, v;         /* axes in the face, counter-clockwise from the far end of the link */
    double low[2];    /* its lower corner */
    uint32_t node[4]; /* its corners, counter-clockwise */
    edge edges[MOST_EDGES];
    uint32_t count;
    stop stops[2 * MOST_EDGES];
    uint32_t stop_count;
    uint32_t loop[MOST_POINTS];     /* the points of all loops */
    uint32_t first[MOST_EDGES + 1]; /* of each loop */
    uint32_t loops;
} face;

static void place(const face *f, uint32_t vertex, double at[2])
{
    double full[3];
    lmi_cut_place(f->cut, f->l, vertex, full);
    at[0] = full[f->u];
    at[1] = full[f->v];
}

static bool add_edge(face *f, uint32_t from, uint32_t to)
{
    if (f->count == MOST_EDGES) {
        return false;
    }
    f->edges[f->count++] = (edge){from, to, false};
    return true;
}

/* The edges of the lower box on the face, turned round; those that are there both ways cancel. */
static bool take_edges(face *f)
{
    const lmi_cut *cut = f->cut;
    uint32_t low = 0, high = cut->edge_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const lmi_cut_edge *e = &cut->edges[middle];
        bool before = e->particle < f->link.particle || (e->particle == f->link.particle && e->axis < f->link.axis);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    for (; low < cut->edge_count; low++) {
        const lmi_cut_edge *e = &cut->edges[low];
        if (e->particle != f->link.particle || e->axis != f->link.axis) {
            break;
        }
        bool cancelled = false;
        for (uint32_t n = 0; n < f->count && !cancelled; n++) {
            if (f->edges[n].from == e->from && f->edges[n].to == e->to) {
                f->edges[n] = f->edges[--f->count];
                cancelled = true;
            }
        }
        if (!cancelled && !add_edge(f, e->to, e->from)) {
            return false;
        }
    }
    return true;
}

/* --- the border --- */

/* Where a vertex is on the border of the face, or below 0: not on it. */
static double along_border(const face *f, uint32_t vertex)
{
    double at[2];
    place(f, vertex, at);
    double x = at[0] - f->low[0], y = at[1] - f->low[1];
    return y <= 0.0 ? x : x >= 1.0 ? 1.0 + y : y >= 1.0 ? 3.0 - x : x <= 0.0 ? 4.0 - y : -1.0;
}

static void add_stop(face *f, uint32_t vertex, int32_t begins)
{
    double along = along_border(f, vertex);
    if (along < 0.0) {
        return;
    }
    along = along >= 4.0 ? 0.0 : along;
    uint32_t n = 0;
    while (n < f->stop_count && f->stops[n].vertex != vertex) {
        n++;
    }
    if (n == f->stop_count) {
        f->stops[f->stop_count++] = (stop){along, vertex, 0};
    }
    f->stops[n].begins += begins;
}

static void sort_stops(face *f)
{
    for (uint32_t n = 1; n < f->stop_count; n++) {
        stop s = f->stops[n];
        uint32_t k = n;
        for (; k > 0 && (f->stops[k - 1].along > s.along ||
                         (f->stops[k - 1].along == s.along && f->stops[k - 1].vertex > s.vertex));
             k--) {
            f->stops[k] = f->stops[k - 1];
        }
        f->stops[k] = s;
    }
}

/* From a stop to another, counter-clockwise past the corners between them. */
static bool walk(face *f, const stop *from, const stop *to)
{
    double end = to->along > from->along ? to->along : to->along + 4.0;
    uint32_t at = from->vertex;
    for (int corner = (int)floor(from->along) + 1; corner < end; corner++) {
        uint32_t node = f->node[corner % 4];
        if (node == LMI_LATTICE_NONE || !add_edge(f, at, node)) {
            return false;
        }
        at = node;
    }
    return at == to->vertex || add_edge(f, at, to->vertex);
}

/* The parts of the border that are inside. False: the surface is not closed here, or there is too much of it. */
static bool close_border(face *f)
{
    const uint32_t chains = f->count;
    uint32_t ends = 0;
    for (uint32_t n = 0; n < chains; n++) {
        add_stop(f, f->edges[n].from, 1);
        add_stop(f, f->edges[n].to, -1);
    }
    for (uint32_t n = 0; n < f->stop_count; n++) { /* chains that pass the border go on */
        if (f->stops[n].begins != 0) {
            f->stops[ends++] = f->stops[n];
        }
    }
    f->stop_count = ends;
    sort_stops(f);
    if (ends == 0) {
        uint32_t cell = f->node[0] == LMI_LATTICE_NONE ? LMI_LATTICE_NONE : f->node[0] - LMI_CUT_NODE;
        bool inside = cell != LMI_LATTICE_NONE && lmi_cut_is_inside(f->cut, f->l, cell);
        for (int n = 0; n < 4 && inside; n++) {
            if (f->node[(n + 1) % 4] == LMI_LATTICE_NONE || !add_edge(f, f->node[n], f->node[(n + 1) % 4])) {
                return false;
            }
        }
        return true;
    }
    for (uint32_t n = 0; n < ends; n++) {
        const stop *from = &f->stops[n], *to = &f->stops[(n + 1) % ends];
        if (from->begins < -1 || from->begins > 1 || from->begins == to->begins) {
            return false;
        }
        if (from->begins < 0 && !walk(f, from, to)) {
            return false;
        }
    }
    return true;
}

/* --- loops --- */

static bool find_loops(face *f)
{
    uint32_t points = 0;
    for (uint32_t n = 0; n < f->count; n++) {
        if (f->edges[n].used) {
            continue;
        }
        uint32_t start = f->edges[n].from, at = f->edges[n].to;
        f->first[f->loops++] = points;
        f->edges[n].used = true;
        f->loop[points++] = start;
        while (at != start) {
            uint32_t k = 0;
            while (k < f->count && (f->edges[k].used || f->edges[k].from != at)) {
                k++;
            }
            if (k == f->count) {
                return false;
            }
            f->edges[k].used = true;
            f->loop[points++] = at;
            at = f->edges[k].to;
        }
    }
    f->first[f->loops] = points;
    return true;
}

static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double area_of(const face *f, uint32_t loop)
{
    double sum = 0.0, a[2], b[2];
    const uint32_t from = f->first[loop], count = f->first[loop + 1] - from;
    for (uint32_t n = 0; n < count; n++) {
        place(f, f->loop[from + n], a);
        place(f, f->loop[from + (n + 1) % count], b);
        sum += (a[0] - f->low[0]) * (b[1] - f->low[1]) - (a[1] - f->low[1]) * (b[0] - f->low[0]);
    }
    return sum;
}

/* --- ears --- */

/* A loop that holes are joined to, and what is left of it. */
typedef struct outline {
    uint32_t point[MOST_POINTS];
    double at[MOST_POINTS][2];
    uint32_t count;
} outline;

/* What is worked in: too much for a stack. */
struct lmi_cut_room {
    face face;
    outline outline;
};

/* Joins a hole by a cut from the two points of both that are nearest to each other. */
static bool join_hole(const face *f, outline *o, uint32_t loop)
{
    const uint32_t from = f->first[loop], count = f->first[loop + 1] - from;
    uint32_t mine = 0, other = 0;
    double best = INFINITY, at[2];
    if (o->count + count + 2 > MOST_POINTS) {
        return false;
    }
    for (uint32_t n = 0; n < count; n++) {
        place(f, f->loop[from + n], at);
        for (uint32_t k = 0; k < o->count; k++) {
            double x = at[0] - o->at[k][0], y = at[1] - o->at[k][1], square = x * x + y * y;
            if (square < best) {
                best = square;
                mine = k;
                other = n;
            }
        }
    }
    memmove(o->point + mine + count + 3, o->point + mine + 1, (o->count - mine - 1) * sizeof *o->point);
    memmove(o->at + mine + count + 3, o->at + mine + 1, (o->count - mine - 1) * sizeof *o->at);
    for (uint32_t n = 0; n <= count; n++) {
        o->point[mine + 1 + n] = f->loop[from + (other + n) % count];
        place(f, o->point[mine + 1 + n], o->at[mine + 1 + n]);
    }
    o->point[mine + count + 2] = o->point[mine];
    o->at[mine + count + 2][0] = o->at[mine][0];
    o->at[mine + count + 2][1] = o->at[mine][1];
    o->count += count + 2;
    return true;
}

/* How good an ear a point is: the turn there, or a low number where another point is in the way. */
static double ear_of(const outline *o, uint32_t n)
{
    const uint32_t a = (n + o->count - 1) % o->count, c = (n + 1) % o->count;
    double size = turn(o->at[a], o->at[n], o->at[c]);
    if (size <= 0.0) {
        return size - 1e3;
    }
    for (uint32_t k = 0; k < o->count; k++) {
        const double *p = o->at[k];
        if (o->point[k] == o->point[a] || o->point[k] == o->point[n] || o->point[k] == o->point[c]) {
            continue;
        }
        if (turn(o->at[a], o->at[n], p) >= 0.0 && turn(o->at[n], o->at[c], p) >= 0.0 &&
            turn(o->at[c], o->at[a], p) >= 0.0) {
            return size - 1e6;
        }
    }
    return size;
}

static bool add_triangle(lmi_memory *memory, lmi_cut_face *out, uint32_t a, uint32_t b, uint32_t c)
{
    void *array = out->triangles;
    bool ok = lmi_reserve(memory, &array, &out->capacity, out->count + 1, sizeof *out->triangles);
    out->triangles = array;
    if (ok) {
        memcpy(out->triangles[out->count++], (uint32_t[3]){a, b, c}, sizeof *out->triangles);
    }
    return ok;
}

/* Cuts off ears until nothing is left; where there is no good one the best of the bad ones, so that what comes out is always
 * bounded by the outline. */
static bool cut_ears(lmi_memory *memory, outline *o, lmi_cut_face *out)
{
    while (o->count > 2) {
        uint32_t best = 0;
        double most = -INFINITY;
        for (uint32_t n = 0; n < o->count && most <= 0.0; n++) {
            double ear = ear_of(o, n);
            best = ear > most ? n : best;
            most = fmax(most, ear);
        }
        uint32_t a = (best + o->count - 1) % o->count, c = (best + 1) % o->count;
        if (!add_triangle(memory, out, o->point[a], o->point[best], o->point[c])) {
            return false;
        }
        memmove(o->point + best, o->point + best + 1, (o->count - best - 1) * sizeof *o->point);
        memmove(o->at + best, o->at + best + 1, (o->count - best - 1) * sizeof *o->at);
        o->count--;
    }
    return true;
}

/* Whether a loop's first point is in another loop: crossings of a line along u. */
static bool is_within(const face *f, uint32_t inner, uint32_t outer)
{
    double p[2], a[2], b[2];
    bool within = false;
    const uint32_t from = f->first[outer], count = f->first[outer + 1] - from;
    place(f, f->loop[f->first[inner]], p);
    for (uint32_t n = 0; n < count; n++) {
        place(f, f->loop[from + n], a);
        place(f, f->loop[from + (n + 1) % count], b);
        if ((a[1] > p[1]) != (b[1] > p[1])) {
            within ^= p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
        }
    }
    return within;
}

static bool fill(lmi_memory *memory, const face *f, outline *o, lmi_cut_face *out)
{
    for (uint32_t loop = 0; loop < f->loops; loop++) {
        if (!(area_of(f, loop) > 0.0)) {
            continue;
        }
        o->count = f->first[loop + 1] - f->first[loop];
        for (uint32_t n = 0; n < o->count; n++) {
            o->point[n] = f->loop[f->first[loop] + n];
            place(f, o->point[n], o->at[n]);
        }
        for (uint32_t hole = 0; hole < f->loops; hole++) {
            if (area_of(f, hole) <= 0.0 && is_within(f, hole, loop) && !join_hole(f, o, hole)) {
                return true;
            }
        }
        if (!cut_ears(memory, o, out)) {
            return false;
        }
    }
    return true;
}

/* --- the whole --- */

static void find_nodes(face *f)
{
    int32_t at[3];
    static const int32_t to[4][2] = {{-1, -1}, {0, -1}, {0, 0}, {-1, 0}};
    lmi_lattice_corner(f->l, f->link.particle, at);
    f->low[0] = at[f->u] - 0.5;
    f->low[1] = at[f->v] - 0.5;
    for (int n = 0; n < 4; n++) {
        int32_t cell[3] = {at[0], at[1], at[2]};
        cell[f->u] += to[n][0];
        cell[f->v] += to[n][1];
        uint32_t lowest = lmi_lattice_find(f->l, cell[0], cell[1], cell[2]);
        bool is = lowest != LMI_LATTICE_NONE && (f->l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1);
        f->node[n] = is ? LMI_CUT_NODE + lowest : LMI_LATTICE_NONE;
    }
}

bool lmi_cut_find_face(lmi_memory *memory, const lmi_cut *cut, const lmi_lattice *l, lmi_lattice_link link,
                       lmi_cut_face *out)
{
    out->count = 0;
    if (!cut->outward) {
        return true;
    }
    if (!out->room) {
        out->room = lmi_allocate(memory, 1, sizeof *out->room);
    }
    if (!out->room) {
        return false;
    }
    face *f = &out->room->face;
    f->cut = cut;
    f->l = l;
    f->link = link;
    f->u = (int)(link.axis + 1) % 3;
    f->v = (int)(link.axis + 2) % 3;
    f->count = f->stop_count = f->loops = 0;
    find_nodes(f);
    bool closed = take_edges(f) && close_border(f) && find_loops(f);
    return !closed || fill(memory, f, &out->room->outline, out);
}

void lmi_cut_face_free(lmi_memory *memory, lmi_cut_face *out)
{
    lmi_release(memory, out->triangles, out->capacity, sizeof *out->triangles);
    lmi_release(memory, out->room, 1, sizeof *out->room);
    memset(out, 0, sizeof *out);
}
