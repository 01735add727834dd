/*
 * Making a mesh: the faces that count, their order along a Morton curve, the tree of boxes, the cells.
 */
#include "collide/mesh_motion.h"

#include <string.h>

#define LEAF 4u           /* faces */
#define MORTON_BITS 21    /* an axis */
#define MOST_SKIN 1e-4    /* metres */
#define LONGEST_SIDE 64.0 /* cells along the longest side of the mesh */

static lm_dvec3 corner_of(const lm_vec3 *vertices, uint32_t index) { return dvec_from(vertices[index]); }

static lmi_triangle triangle_of(const lm_vec3 *vertices, const uint32_t *corners)
{
    return (lmi_triangle){
        {corner_of(vertices, corners[0]), corner_of(vertices, corners[1]), corner_of(vertices, corners[2])}};
}

const char *lmi_mesh_fault(const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                           uint32_t triangle_count)
{
    if (!vertices || !triangles || triangle_count < 1) {
        return "a mesh needs vertices and triangles";
    }
    if (triangle_count > LMI_MESH_MAX_TRIANGLES || vertex_count > 3 * LMI_MESH_MAX_TRIANGLES) {
        return "a mesh has at most 2^24 triangles";
    }
    for (uint32_t n = 0; n < vertex_count; n++) {
        const lm_vec3 v = vertices[n];
        if (!(fabsf(v.x) <= LM_MAX_COORDINATE && fabsf(v.y) <= LM_MAX_COORDINATE && fabsf(v.z) <= LM_MAX_COORDINATE)) {
            return "a vertex of the mesh is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    bool any = false;
    for (size_t n = 0; n < triangle_count; n++) {
        for (int k = 0; k < 3; k++) {
            if (triangles[3 * n + (size_t)k] >= vertex_count) {
                return "a triangle of the mesh has an index beyond its vertices";
            }
        }
        lmi_triangle t = triangle_of(vertices, triangles + 3 * n);
        any = any || lmi_triangle_is_sound(&t);
    }
    return any ? NULL : "no triangle of the mesh has an area";
}

/* --- the order of faces --- */

typedef struct sorted_face {
    uint64_t key;
    uint32_t triangle;
} sorted_face;

/* Every third bit. */
static uint64_t spread_bits(uint64_t value)
{
    uint64_t spread = 0;
    for (int bit = 0; bit < MORTON_BITS; bit++) {
        spread |= (value >> bit & 1) << (3 * bit);
    }
    return spread;
}

static uint64_t morton_key(const lmi_mesh *m, const lmi_triangle *t)
{
    lm_dvec3 middle = dvec_scale(dvec_add(t->corner[0], dvec_add(t->corner[1], t->corner[2])), 1.0 / 3.0);
    double at[3] = {middle.x - m->lower.x, middle.y - m->lower.y, middle.z - m->lower.z};
    double extent = lmi_max(m->upper.x - m->lower.x, lmi_max(m->upper.y - m->lower.y, m->upper.z - m->lower.z));
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        double share = at[a] / extent * ((1u << MORTON_BITS) - 1);
        key |= spread_bits((uint64_t)lmi_max(share, 0.0)) << a;
    }
    return key;
}

/* By key, a byte at a time; equal keys stay in the order of their triangles. */
static void sort_faces(sorted_face *faces, sorted_face *other, uint32_t count)
{
    for (int shift = 0; shift < 64; shift += 8) {
        uint32_t starts[257] = {0};
        for (uint32_t n = 0; n < count; n++) {
            starts[(faces[n].key >> shift & 255) + 1]++;
        }
        for (int k = 0; k < 256; k++) {
            starts[k + 1] += starts[k];
        }
        for (uint32_t n = 0; n < count; n++) {
            other[starts[faces[n].key >> shift & 255]++] = faces[n];
        }
        sorted_face *swap = faces;
        faces = other;
        other = swap;
    }
}

/* --- the tree --- */

static void bound_leaf(const lmi_mesh *m, lmi_mesh_node *node)
{
    for (int a = 0; a < 3; a++) {
        node->lower[a] = INFINITY;
        node->upper[a] = -INFINITY;
        for (uint32_t k = 0; k < 3 * node->count; k++) {
            float at = m->faces[node->first + k / 3][3 * (k % 3) + (uint32_t)a];
            node->lower[a] = lmi_minf(node->lower[a], at);
            node->upper[a] = lmi_maxf(node->upper[a], at);
        }
    }
}

/* The node over `count` faces from `first` on, and all below it. As deep as the count has bits. */
static uint32_t build_node(lmi_mesh *m, uint32_t first, uint32_t count)
{
    uint32_t index = m->node_count++;
    lmi_mesh_node *node = &m->nodes[index];
    if (count <= LEAF) {
        node->first = first;
        node->count = count;
        bound_leaf(m, node);
        return index;
    }
    uint32_t left = build_node(m, first, count / 2), right = build_node(m, first + count / 2, count - count / 2);
    node->first = right;
    node->count = 0;
    for (int a = 0; a < 3; a++) {
        node->lower[a] = lmi_minf(m->nodes[left].lower[a], m->nodes[right].lower[a]);
        node->upper[a] = lmi_maxf(m->nodes[left].upper[a], m->nodes[right].upper[a]);
    }
    return index;
}

static uint32_t most_nodes(uint32_t faces) { return 2 * faces; }

static bool build_tree(lmi_memory *memory, lmi_mesh *m)
{
    sorted_face *faces = lmi_allocate(memory, m->face_count, sizeof *faces);
    sorted_face *other = lmi_allocate(memory, m->face_count, sizeof *other);
    m->faces = lmi_allocate(memory, m->face_count, sizeof *m->faces);
    m->nodes = lmi_allocate(memory, most_nodes(m->face_count), sizeof *m->nodes);
    bool ok = faces && other && m->faces && m->nodes;
    uint32_t count = 0;
    for (uint32_t n = 0; ok && n < m->triangle_count; n++) {
        lmi_triangle t = triangle_of(m->vertices, m->triangles + (size_t)n * 3);
        if (m->motion || lmi_triangle_is_sound(&t)) {
            faces[count++] = (sorted_face){morton_key(m, &t), n};
        }
    }
    if (ok) {
        sort_faces(faces, other, count); /* eight passes: the result is back in `faces` */
        for (uint32_t n = 0; n < count; n++) {
            if (m->motion) {
                m->motion->order[n] = faces[n].triangle;
            }
            for (uint32_t k = 0; k < 3; k++) {
                lm_vec3 v = m->vertices[m->triangles[(size_t)faces[n].triangle * 3 + k]];
                m->faces[n][3 * k] = v.x;
                m->faces[n][3 * k + 1] = v.y;
                m->faces[n][3 * k + 2] = v.z;
            }
        }
        build_node(m, 0, count);
    }
    lmi_release(memory, faces, m->face_count, sizeof *faces);
    lmi_release(memory, other, m->face_count, sizeof *other);
    return ok;
}

/* --- cells --- */

static size_t cell_count(const lmi_mesh *m) { return (size_t)m->size[0] * m->size[1] * m->size[2]; }

/* As many cells as the number of faces is worth, and one more on every side. */
static void choose_cells(lmi_mesh *m)
{
    double extent[3] = {m->upper.x - m->lower.x, m->upper.y - m->lower.y, m->upper.z - m->lower.z};
    double longest = lmi_max(extent[0], lmi_max(extent[1], extent[2]));
    double most = lmi_min(lmi_max(8.0 * m->face_count, 4096.0), LMI_MESH_MAX_CELLS), wanted;
    m->cell = longest / LONGEST_SIDE;
    for (;;) {
        wanted = 1.0;
        for (int a = 0; a < 3; a++) {
            m->size[a] = (uint32_t)(extent[a] / m->cell) + 3;
            wanted *= m->size[a];
        }
        if (wanted <= most) {
            break;
        }
        m->cell *= 1.1;
    }
    m->first = dvec_sub(m->lower, dvec(m->cell, m->cell, m->cell));
}

static size_t cell_at(const lmi_mesh *m, uint32_t x, uint32_t y, uint32_t z)
{
    return ((size_t)z * m->size[1] + y) * m->size[0] + x;
}

static lm_dvec3 cell_middle(const lmi_mesh *m, size_t cell)
{
    double x = (double)(cell % m->size[0]), y = (double)(cell / m->size[0] % m->size[1]);
    double z = (double)(cell / m->size[0] / m->size[1]);
    return dvec(m->first.x + (x + 0.5) * m->cell, m->first.y + (y + 0.5) * m->cell, m->first.z + (z + 0.5) * m->cell);
}

/* Which cells a span along an axis touches; a hair more. */
static void cell_span(const lmi_mesh *m, int axis, double first, double low, double high, uint32_t *from, uint32_t *to)
{
    double most = m->size[axis] - 1.0;
    *from = (uint32_t)lmi_min(lmi_max((low - first) / m->cell - 1e-6, 0.0), most);
    *to = (uint32_t)lmi_min(lmi_max((high - first) / m->cell + 1e-6, 0.0), most);
}

#define FAR 127 /* cells from the surface: more is not counted */

/* Cells that the surface touches become 0, all others FAR. */
static void mark_near(lmi_mesh *m)
{
    memset(m->cells, FAR, cell_count(m));
    double half = 0.5 * m->cell * (1.0 + 1e-6);
    for (uint32_t n = 0; n < m->face_count; n++) {
        const float *f = m->faces[n];
        uint32_t from[3], to[3];
        const double first[3] = {m->first.x, m->first.y, m->first.z};
        for (int a = 0; a < 3; a++) {
            cell_span(m, a, first[a], lmi_minf(f[a], lmi_minf(f[3 + a], f[6 + a])),
                      lmi_maxf(f[a], lmi_maxf(f[3 + a], f[6 + a])), &from[a], &to[a]);
        }
        lmi_triangle t = lmi_mesh_face(m, n);
        for (uint32_t z = from[2]; z <= to[2]; z++) {
            for (uint32_t y = from[1]; y <= to[1]; y++) {
                for (uint32_t x = from[0]; x <= to[0]; x++) {
                    size_t cell = cell_at(m, x, y, z);
                    if (m->cells[cell] == 0) {
                        continue;
                    }
                    lm_dvec3 middle = cell_middle(m, cell);
                    lmi_triangle moved = {
                        {dvec_sub(t.corner[0], middle), dvec_sub(t.corner[1], middle), dvec_sub(t.corner[2], middle)}};
                    if (lmi_triangle_touches_box(&moved, dvec(half, half, half))) {
                        m->cells[cell] = 0;
                    }
                }
            }
        }
    }
}

/* Distances to the nearest cell at 0, counted in cells along the longest axis: once forward and once back over the grid. */
static void measure_cells(lmi_mesh *m)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t n = 0; n < cell_count(m); n++) {
            size_t cell = pass ? cell_count(m) - 1 - n : n;
            int64_t at[3] = {(int64_t)(cell % m->size[0]), (int64_t)(cell / m->size[0] % m->size[1]),
                             (int64_t)(cell / m->size[0] / m->size[1])};
            int least = m->cells[cell];
            for (int k = 0; k < 13 && least > 0; k++) { /* the neighbours that come before, or after on the way back */
                int64_t d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, to[3];
                bool within = true;
                for (int a = 0; a < 3; a++) {
                    to[a] = at[a] + (pass ? -d[a] : d[a]);
                    within = within && to[a] >= 0 && to[a] < m->size[a];
                }
                if (within) {
                    int near = m->cells[cell_at(m, (uint32_t)to[0], (uint32_t)to[1], (uint32_t)to[2])] + 1;
                    least = near < least ? near : least;
                }
            }
            m->cells[cell] = (int8_t)least;
        }
    }
}

/* Visits the cells that can be reached from one without touching the surface, and turns their sign if they are inside. */
static void settle_part(lmi_mesh *m, size_t start, bool inside, bool *seen, uint32_t *stack)
{
    const size_t strides[3] = {1, m->size[0], (size_t)m->size[0] * m->size[1]};
    uint32_t count = 0;
    seen[start] = true;
    stack[count++] = (uint32_t)start;
    while (count) {
        size_t cell = stack[--count];
        const size_t at[3] = {cell % m->size[0], cell / m->size[0] % m->size[1], cell / m->size[0] / m->size[1]};
        for (int k = 0; k < 6; k++) {
            int a = k / 2;
            if (k % 2 ? at[a] + 1 >= m->size[a] : at[a] == 0) {
                continue;
            }
            size_t next = k % 2 ? cell + strides[a] : cell - strides[a];
            if (m->cells[next] != 0 && !seen[next]) {
                seen[next] = true;
                stack[count++] = (uint32_t)next;
            }
        }
        m->cells[cell] = (int8_t)(inside ? -m->cells[cell] : m->cells[cell]);
    }
}

/* Cells side by side that do not touch the surface are all inside or all outside: one test for each such part. */
static bool find_inside(lmi_memory *memory, lmi_mesh *m)
{
    size_t count = cell_count(m);
    uint32_t *stack = lmi_allocate(memory, count, sizeof *stack);
    bool *seen = lmi_allocate(memory, count, sizeof *seen);
    bool ok = stack && seen;
    for (size_t n = 0; ok && n < count; n++) {
        if (m->cells[n] != 0 && !seen[n]) {
            settle_part(m, n, lmi_mesh_wound(m, cell_middle(m, n)), seen, stack);
        }
    }
    lmi_release(memory, stack, count, sizeof *stack);
    lmi_release(memory, seen, count, sizeof *seen);
    return ok;
}

static bool build_cells(lmi_memory *memory, lmi_mesh *m)
{
    choose_cells(m);
    m->cells = lmi_allocate(memory, cell_count(m), sizeof *m->cells);
    if (!m->cells) {
        return false;
    }
    mark_near(m);
    measure_cells(m);
    return !m->solid || find_inside(memory, m);
}

/* --- the whole --- */

/* Counts the faces that have an area, and bounds them. */
static void measure_faces(lmi_mesh *m)
{
    m->lower = dvec(INFINITY, INFINITY, INFINITY);
    m->upper = dvec(-INFINITY, -INFINITY, -INFINITY);
    for (uint32_t n = 0; n < m->triangle_count; n++) {
        lmi_triangle t = triangle_of(m->vertices, m->triangles + (size_t)n * 3);
        if (!m->motion && !lmi_triangle_is_sound(&t)) {
            continue;
        }
        m->face_count++;
        for (int k = 0; k < 3; k++) {
            lm_dvec3 c = t.corner[k];
            m->lower = dvec(lmi_min(m->lower.x, c.x), lmi_min(m->lower.y, c.y), lmi_min(m->lower.z, c.z));
            m->upper = dvec(lmi_max(m->upper.x, c.x), lmi_max(m->upper.y, c.y), lmi_max(m->upper.z, c.z));
        }
    }
    m->skin = lmi_min(1e-5 * dvec_length(dvec_sub(m->upper, m->lower)), MOST_SKIN);
}

static lmi_mesh *make(lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                      uint32_t triangle_count, bool solid, bool deforms)
{
    lmi_mesh *m = lmi_allocate(memory, 1, sizeof *m);
    if (!m) {
        return NULL;
    }
    m->solid = solid;
    m->vertex_count = vertex_count;
    m->triangle_count = triangle_count;
    m->vertices = lmi_allocate(memory, vertex_count, sizeof *m->vertices);
    m->triangles = lmi_allocate(memory, (size_t)triangle_count * 3, sizeof *m->triangles);
    bool ok = m->vertices && m->triangles && (!deforms || lmi_mesh_motion_make(memory, m));
    if (ok) {
        memcpy(m->vertices, vertices, (size_t)vertex_count * sizeof *m->vertices);
        memcpy(m->triangles, triangles, (size_t)triangle_count * 3 * sizeof *m->triangles);
        measure_faces(m);
        ok = build_tree(memory, m) && (deforms || build_cells(memory, m));
    }
    if (ok && deforms) {
        lmi_mesh_set_to(m, m->vertices);
    }
    if (!ok) {
        lmi_mesh_free(memory, m);
        return NULL;
    }
    return m;
}

lmi_mesh *lmi_mesh_make(lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count, const uint32_t *triangles,
                        uint32_t triangle_count, bool solid)
{
    return make(memory, vertices, vertex_count, triangles, triangle_count, solid, false);
}

lmi_mesh *lmi_mesh_make_deforming(lmi_memory *memory, const lm_vec3 *vertices, uint32_t vertex_count,
                                  const uint32_t *triangles, uint32_t triangle_count, bool solid)
{
    return make(memory, vertices, vertex_count, triangles, triangle_count, solid, true);
}

void lmi_mesh_free(lmi_memory *memory, lmi_mesh *m)
{
    if (!m) {
        return;
    }
    lmi_mesh_motion_free(memory, m);
    lmi_release(memory, m->vertices, m->vertex_count, sizeof *m->vertices);
    lmi_release(memory, m->triangles, (size_t)m->triangle_count * 3, sizeof *m->triangles);
    lmi_release(memory, m->faces, m->face_count, sizeof *m->faces);
    lmi_release(memory, m->nodes, most_nodes(m->face_count), sizeof *m->nodes);
    lmi_release(memory, m->cells, m->cells ? cell_count(m) : 0, sizeof *m->cells);
    lmi_release(memory, m, 1, sizeof *m);
}
