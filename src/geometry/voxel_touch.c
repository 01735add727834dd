/*
 * Which cells of the lattice the faces of a mesh touch.
 *
 * A face and a cell, both convex, are apart when they are so along one of thirteen directions (Akenine-Möller 2001):
 *
 *   the three axes             the face's bounding box;
 *   edge x axis, nine          the face and the cell seen along an axis are a triangle and a square, which are apart when
 *                              the square lies beyond an edge of the triangle;
 *   the normal of the face     the cell lies on one side of the face's plane.
 *
 * Each is linear in the number of the cell, so that for a row of cells along x each gives the range of x it allows, and
 * the face touches the cells common to all ranges: whole spans are set at a time, and nothing is done for cells that are
 * not touched.
 *
 * Everything is exact in 64-bit integers. With U steps of the sub-lattice to a cell, and a lattice of N cells of which
 * its largest side has A, the components of a normal are at most A U^2 (the area of the lattice's side across them). The
 * largest numbers are those of the plane: three products of a normal with a place inside a cell, A U^3 each, for which
 * voxel.c chooses U such that A U^3 is at most 2^61; and six of a normal with a number of cells, N U^2 each, about 2^58 in
 * the largest lattice of 2^31 cells.
 */
#include "geometry/voxel.h"

typedef struct face {
    int64_t p[3][3];  /* corner, axis; steps of the sub-lattice */
    int32_t lower[3]; /* cells its bounding box meets, first and last */
    int32_t upper[3];
} face;

typedef struct range {
    int64_t first, last;
} range;

/* Cells with a u + b v < c, where u and v count cells from the face's first one. */
typedef struct half_plane {
    int64_t a, b, c;
} half_plane;

/* A face seen along an axis: the cells that lie beyond none of its edges. */
typedef struct outline {
    half_plane edges[3];
    int count;
} outline;

/* Cells with below < n . cell < above. */
typedef struct plane {
    int64_t n[3];
    int64_t below, above;
} plane;

static int64_t divide_down(int64_t a, int64_t positive)
{
    int64_t quotient = a / positive;
    return quotient - (a % positive < 0);
}

static int64_t divide_up(int64_t a, int64_t positive) { return -divide_down(-a, positive); }

/* The same by 2^steps. */
static int64_t cells_down(int64_t a, uint32_t steps) { return a >> steps; }
static int64_t cells_up(int64_t a, uint32_t steps) { return -(-a >> steps); }

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* Narrows the range of u to a u < c. */
static void keep_below(range *u, int64_t a, int64_t c)
{
    if (a > 0) {
        u->last = lesser(u->last, divide_up(c, a) - 1);
    } else if (a < 0) {
        u->first = greater(u->first, divide_down(-c, -a) + 1);
    } else if (c <= 0) {
        u->last = u->first - 1;
    }
}

/* The half-plane of squares that reach across the line through `p` with normal (a, b) to its negative side. */
static half_plane reaching_below(int64_t a, int64_t b, const int64_t p[2], uint32_t steps)
{
    half_plane h = {a, b, cells_up(a * p[0] + b * p[1], steps) - lesser(a, 0) - lesser(b, 0)};
    return h;
}

/* The face seen along the axis that is neither u nor v. One that is seen as a line has two sides. */
static outline make_outline(const face *f, int u, int v, uint32_t steps)
{
    outline o = {.count = 0};
    int64_t q[3][2];
    for (int k = 0; k < 3; k++) {
        q[k][0] = f->p[k][u] - ((int64_t)f->lower[u] << steps);
        q[k][1] = f->p[k][v] - ((int64_t)f->lower[v] << steps);
    }
    int64_t area = (q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]);
    int longest = 0;
    int64_t longest_length = -1;
    for (int k = 0; k < 3; k++) {
        const int64_t *p = q[k], *next = q[(k + 1) % 3];
        int64_t a = next[1] - p[1], b = p[0] - next[0];
        if (area != 0) {
            o.edges[o.count++] = area > 0 ? reaching_below(a, b, p, steps) : reaching_below(-a, -b, p, steps);
        } else if (greater(a, -a) + greater(b, -b) > longest_length) {
            longest_length = greater(a, -a) + greater(b, -b);
            longest = k;
        }
    }
    if (area == 0) {
        const int64_t *p = q[longest], *next = q[(longest + 1) % 3];
        int64_t a = next[1] - p[1], b = p[0] - next[0];
        if (a != 0 || b != 0) {
            o.edges[o.count++] = reaching_below(a, b, p, steps);
            o.edges[o.count++] = reaching_below(-a, -b, p, steps);
        }
    }
    return o;
}

/* Narrows the range of u to what the outline allows at v. */
static void keep_within(range *u, const outline *o, int64_t v)
{
    for (int k = 0; k < o->count; k++) {
        keep_below(u, o->edges[k].a, o->edges[k].c - o->edges[k].b * v);
    }
}

static plane make_plane(const face *f, uint32_t steps)
{
    plane s;
    int64_t e[3], g[3], inside_cell = 0, cells = 0, low = 0, high = 0;
    for (int i = 0; i < 3; i++) {
        e[i] = f->p[1][i] - f->p[0][i];
        g[i] = f->p[2][i] - f->p[0][i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        s.n[i] = e[j] * g[k] - e[k] * g[j];
        /* n . p, in parts that cannot overflow: the number of the corner's cell, and where in that cell it is. */
        int64_t number = cells_down(f->p[0][i], steps);
        cells += s.n[i] * (number - f->lower[i]);
        inside_cell += s.n[i] * (f->p[0][i] - (number << steps));
        low += lesser(s.n[i], 0);
        high += greater(s.n[i], 0);
    }
    s.above = cells_up(inside_cell, steps) + cells - low;
    s.below = cells_down(inside_cell, steps) + cells - high;
    return s;
}

/* Narrows the range of x to cells of the row (y, z) that the plane passes through. */
static void keep_crossed(range *x, const plane *s, int64_t y, int64_t z)
{
    int64_t rest = s->n[1] * y + s->n[2] * z;
    keep_below(x, s->n[0], s->above - rest);
    keep_below(x, -s->n[0], rest - s->below);
}

static void set_span(uint64_t *row, uint32_t first, uint32_t last)
{
    uint64_t begin = ~0ull << (first % 64), end = ~0ull >> (63 - last % 64);
    uint32_t word = first / 64, last_word = last / 64;
    if (word == last_word) {
        row[word] |= begin & end;
        return;
    }
    row[word] |= begin;
    while (++word < last_word) {
        row[word] = ~0ull;
    }
    row[word] |= end;
}

/* A face over several cells of two or three axes. `varies` says along which. */
static void touch_spread(lmi_voxels *voxels, const face *f, uint32_t steps, const bool varies[3])
{
    outline xy = {.count = 0}, xz = {.count = 0}, yz = {.count = 0};
    plane s = {{0, 0, 0}, -1, 1}; /* passes through every cell */
    /* Where the face spans one cell along an axis, the views from the side see nothing that its box does not. */
    if (varies[0] && varies[1]) xy = make_outline(f, 0, 1, steps);
    if (varies[0] && varies[2]) xz = make_outline(f, 0, 2, steps);
    if (varies[1] && varies[2]) yz = make_outline(f, 1, 2, steps);
    if (varies[0] && varies[1] && varies[2]) {
        s = make_plane(f, steps);
        if (s.n[0] == 0 && s.n[1] == 0 && s.n[2] == 0) { /* it became a line: its outlines say everything */
            s.below = -1;
            s.above = 1;
        }
    }
    for (int64_t z = 0; z <= f->upper[2] - f->lower[2]; z++) {
        range rows = {0, f->upper[1] - f->lower[1]}, x_at_z = {0, f->upper[0] - f->lower[0]};
        keep_within(&rows, &yz, z);
        keep_within(&x_at_z, &xz, z);
        for (int64_t y = rows.first; y <= rows.last; y++) {
            range x = x_at_z;
            keep_within(&x, &xy, y);
            keep_crossed(&x, &s, y, z);
            if (x.first <= x.last) {
                uint64_t *row = voxels->bits + ((size_t)(z + f->lower[2]) * voxels->n[1] + (size_t)(y + f->lower[1])) *
                                                   voxels->row_words;
                set_span(row, (uint32_t)(x.first + f->lower[0]), (uint32_t)(x.last + f->lower[0]));
            }
        }
    }
}

/* Whether the face looks along an axis (1), against it (-1), or neither: from the vertices as they were given, because
 * the moved ones may have no area left. */
static int facing(const lmi_voxel_mesh *mesh, uint32_t number, int axis)
{
    double p[3][3];
    for (int k = 0; k < 3; k++) {
        lm_vec3 v = mesh->vertices[mesh->faces[3 * (size_t)number + (size_t)k]];
        p[k][0] = v.x;
        p[k][1] = v.y;
        p[k][2] = v.z;
    }
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double normal = (p[1][u] - p[0][u]) * (p[2][v] - p[0][v]) - (p[1][v] - p[0][v]) * (p[2][u] - p[0][u]);
    int sign = (normal > 0.0) - (normal < 0.0);
    return mesh->inside_out ? -sign : sign;
}

/* A face in the border between two layers of cells goes to the middle of the one behind it; where it faces neither, to
 * the one nearer to the middle of the lattice. */
static void leave_border(face *f, int axis, int direction, int32_t border, uint32_t cells, uint32_t steps)
{
    bool back = direction != 0 ? direction > 0 : 2 * (int64_t)border >= cells;
    int32_t layer = back ? border - 1 : border;
    layer = layer < 0 ? 0 : layer >= (int32_t)cells ? (int32_t)cells - 1 : layer;
    for (int k = 0; k < 3; k++) {
        f->p[k][axis] = ((int64_t)layer << steps) + ((int64_t)1 << (steps - 1));
    }
    f->lower[axis] = f->upper[axis] = layer;
}

static void touch_face(lmi_voxels *voxels, const lmi_voxel_mesh *mesh, uint32_t number)
{
    const uint32_t *indices = mesh->faces + 3 * (size_t)number;
    const int32_t *p = mesh->snapped + 3 * (size_t)indices[0], *q = mesh->snapped + 3 * (size_t)indices[1];
    const int32_t *r = mesh->snapped + 3 * (size_t)indices[2];
    const uint32_t steps = mesh->steps;
    face f;
    bool varies[3];
    int spread = 0;
    for (int i = 0; i < 3; i++) {
        int32_t low = p[i] < q[i] ? p[i] : q[i], high = p[i] < q[i] ? q[i] : p[i];
        low = r[i] < low ? r[i] : low;
        high = r[i] > high ? r[i] : high;
        f.p[0][i] = p[i];
        f.p[1][i] = q[i];
        f.p[2][i] = r[i];
        f.lower[i] = low >> steps;
        f.upper[i] = (high - 1) >> steps; /* its inside ends before a border it only reaches */
        if (f.upper[i] < f.lower[i]) {    /* flat, and in a border */
            leave_border(&f, i, facing(mesh, number, i), f.lower[i], voxels->n[i], steps);
        }
        varies[i] = f.upper[i] > f.lower[i];
        spread += varies[i];
    }
    if (spread >= 2) {
        touch_spread(voxels, &f, steps, varies);
        return;
    }
    /* A face in one line of cells touches all of them. */
    for (int32_t z = f.lower[2]; z <= f.upper[2]; z++) {
        for (int32_t y = f.lower[1]; y <= f.upper[1]; y++) {
            uint64_t *row = voxels->bits + ((size_t)z * voxels->n[1] + (size_t)y) * voxels->row_words;
            set_span(row, (uint32_t)f.lower[0], (uint32_t)f.upper[0]);
        }
    }
}

void lmi_voxels_touch(lmi_voxels *voxels, const lmi_voxel_mesh *mesh)
{
    for (uint32_t number = 0; number < mesh->face_count; number++) {
        touch_face(voxels, mesh, number);
    }
}
