/*
 * Voxels from a mesh: checks, the place of the lattice, and the count of its corners. Which cells a face touches is in
 * voxel_touch.c, the inside in voxel.c, the search for a spacing in voxel.c.
 */
#include "geometry/voxel.h"
#include "base/compiler.h"
#include "base/dmath.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 12u /* of the sub-lattice: 2^12 to a cell */

static lm_result fail(char *fault, lm_result result, const char *text)
{
    snprintf(fault, LMI_VOXEL_FAULT_SIZE, "%s", text);
    return result;
}

/* ---- the mesh ---- */

static lm_result check_mesh(const lmi_voxel_def *def, char *fault)
{
    if (def->triangle_count == 0 || def->vertex_count == 0) {
        return fail(fault, LM_ERROR_ARGUMENT, "the mesh has no triangles");
    }
    for (uint32_t k = 0; k < def->vertex_count; k++) {
        if (!vec_is_finite(def->vertices[k])) {
            snprintf(fault, LMI_VOXEL_FAULT_SIZE, "vertex %u of the mesh is not finite", k);
            return LM_ERROR_ARGUMENT;
        }
    }
    for (size_t k = 0; k < 3 * (size_t)def->triangle_count; k++) {
        if (def->triangles[k] >= def->vertex_count) {
            snprintf(fault, LMI_VOXEL_FAULT_SIZE, "triangle %zu of the mesh has vertex %u, but there are %u", k / 3,
                     def->triangles[k], def->vertex_count);
            return LM_ERROR_ARGUMENT;
        }
    }
    return LM_OK;
}

static bool has_area(const lmi_voxel_def *def, const uint32_t *face)
{
    lm_dvec3 p = dvec_from(def->vertices[face[0]]);
    lm_dvec3 e = dvec_sub(dvec_from(def->vertices[face[1]]), p), f = dvec_sub(dvec_from(def->vertices[face[2]]), p);
    lm_dvec3 normal = dvec_cross(e, f);
    return normal.x != 0.0 || normal.y != 0.0 || normal.z != 0.0;
}

static void keep_faces_with_area(const lmi_voxel_def *def, lmi_voxel_mesh *mesh)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t n = 0; n < def->triangle_count; n++) {
        const uint32_t *face = def->triangles + 3 * (size_t)n;
        if (!has_area(def, face)) {
            continue;
        }
        memcpy(mesh->faces + 3 * (size_t)mesh->face_count++, face, 3 * sizeof *face);
        for (int k = 0; k < 3; k++) {
            lm_vec3 v = def->vertices[face[k]];
            double p[3] = {v.x, v.y, v.z};
            for (int i = 0; i < 3; i++) {
                lower[i] = p[i] < lower[i] ? p[i] : lower[i];
                upper[i] = p[i] > upper[i] ? p[i] : upper[i];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        mesh->centre[i] = 0.5 * (lower[i] + upper[i]);
        double above = upper[i] - mesh->centre[i], below = mesh->centre[i] - lower[i];
        mesh->half[i] = above > below ? above : below;
    }
}

/* The nearest whole number; halves away from zero, so that mirror images remain mirror images. */
static int32_t nearest(double a) { return a < 0.0 ? -(int32_t)(0.5 - a) : (int32_t)(a + 0.5); }

/* Whether the enclosed volume is negative. It is summed over vertices rounded to whole numbers and in two halves that
 * cannot overflow, so that the order of the faces makes no difference. */
static bool is_inside_out(const lmi_voxel_mesh *mesh)
{
    double longest = mesh->half[0] > mesh->half[1] ? mesh->half[0] : mesh->half[1];
    double scale = (1 << 19) / (mesh->half[2] > longest ? mesh->half[2] : longest);
    int64_t high = 0, low = 0;
    for (uint32_t n = 0; n < mesh->face_count; n++) {
        int64_t p[3][3];
        for (int k = 0; k < 3; k++) {
            lm_vec3 v = mesh->vertices[mesh->faces[3 * (size_t)n + (size_t)k]];
            p[k][0] = nearest((v.x - mesh->centre[0]) * scale);
            p[k][1] = nearest((v.y - mesh->centre[1]) * scale);
            p[k][2] = nearest((v.z - mesh->centre[2]) * scale);
        }
        int64_t six_volumes = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                              p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                              p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        high += six_volumes >> 32;
        low += six_volumes & 0xffffffff;
    }
    return high + (low >> 32) < 0;
}

static lm_result prepare(lmi_memory *memory, const lmi_voxel_def *def, lmi_voxel_mesh *mesh, char *fault)
{
    lm_result result = check_mesh(def, fault);
    if (result != LM_OK) {
        return result;
    }
    mesh->vertices = def->vertices;
    mesh->vertex_count = def->vertex_count;
    mesh->face_capacity = def->triangle_count;
    mesh->faces = lmi_allocate(memory, 3 * (size_t)mesh->face_capacity, sizeof *mesh->faces);
    mesh->snapped = lmi_allocate(memory, 3 * (size_t)mesh->vertex_count, sizeof *mesh->snapped);
    if (!mesh->faces || !mesh->snapped) {
        return fail(fault, LM_ERROR_MEMORY, "no memory for the mesh");
    }
    keep_faces_with_area(def, mesh);
    if (mesh->face_count == 0) {
        return fail(fault, LM_ERROR_ARGUMENT, "no triangle of the mesh has an area");
    }
    mesh->inside_out = is_inside_out(mesh);
    return LM_OK;
}

static void release_mesh(lmi_memory *memory, lmi_voxel_mesh *mesh)
{
    lmi_release(memory, mesh->faces, 3 * (size_t)mesh->face_capacity, sizeof *mesh->faces);
    lmi_release(memory, mesh->snapped, 3 * (size_t)mesh->vertex_count, sizeof *mesh->snapped);
}

/* ---- the lattice ---- */

/* The most steps a cell can have for the sums in voxel_touch.c to fit. */
static uint32_t steps_for(const double cells[3])
{
    double shortest = cells[0] < cells[1] ? cells[0] : cells[1];
    double largest_side = cells[0] * cells[1] * cells[2] / (cells[2] < shortest ? cells[2] : shortest);
    uint32_t steps = MOST_STEPS;
    while (largest_side * (double)(1ull << (3 * steps)) > (double)(1ull << 61)) {
        steps--;
    }
    return steps;
}

/* Cells along each axis before the box is rounded to the sub-lattice: as many as there will be, or one more. */
static bool is_within_limits(const lmi_voxel_mesh *mesh, double spacing, double cells[3])
{
    double words = 1.0, longest = 1.0;
    for (int i = 0; i < 3; i++) {
        cells[i] = ceil(2.0 * mesh->half[i] / spacing - 1.0 / (1u << MOST_STEPS));
        cells[i] = cells[i] < 1.0 ? 1.0 : cells[i];
        longest = cells[i] > longest ? cells[i] : longest;
        words *= i == 0 ? ceil(cells[0] / 64.0) : cells[i];
    }
    return longest <= LMI_VOXEL_MAX_AXIS && words <= LMI_VOXEL_MAX_WORDS;
}

_Static_assert(LMI_VOXEL_MAX_WORDS == 1u << (31 - 6), "the message below says 2^31 cells");

bool lmi_voxels_fit(const lmi_voxel_mesh *mesh, double spacing)
{
    double cells[3];
    return is_within_limits(mesh, spacing, cells);
}

/* The number of cells along each axis. Nothing is allocated before this has passed. */
static lm_result place(const lmi_voxel_mesh *mesh, double spacing, lmi_voxels *voxels, uint32_t *steps, char *fault)
{
    double cells[3];
    if (!is_within_limits(mesh, spacing, cells)) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE,
                 "a spacing of %g m needs a lattice of %.6g x %.6g x %.6g cells; at most %u along an axis and "
                 "2^31 in all (rows counted in 64s) are allowed",
                 spacing, cells[0], cells[1], cells[2], LMI_VOXEL_MAX_AXIS);
        return LM_ERROR_LIMIT;
    }
    *steps = steps_for(cells);
    double scale = (double)(1u << *steps) / spacing;
    for (int i = 0; i < 3; i++) {
        /* From the rounded box, so that a box a hair above a whole number of cells does not get one more. */
        uint32_t extent = 2 * (uint32_t)nearest(mesh->half[i] * scale);
        voxels->n[i] = (extent + (1u << *steps) - 1) >> *steps;
        voxels->n[i] = voxels->n[i] > 0 ? voxels->n[i] : 1;
    }
    voxels->spacing = spacing;
    voxels->first = dvec(mesh->centre[0] - 0.5 * voxels->n[0] * spacing, mesh->centre[1] - 0.5 * voxels->n[1] * spacing,
                         mesh->centre[2] - 0.5 * voxels->n[2] * spacing);
    voxels->row_words = (voxels->n[0] + 63) / 64;
    return LM_OK;
}

/* Moves the vertices to the sub-lattice. Those that no face has may lie far away; they only must not overflow. */
static void snap(lmi_voxel_mesh *mesh, const lmi_voxels *voxels, uint32_t steps)
{
    double scale = (double)(1u << steps) / voxels->spacing;
    double most[3];
    int32_t middle[3];
    for (int i = 0; i < 3; i++) {
        middle[i] = (int32_t)(voxels->n[i] << (steps - 1));
        most[i] = middle[i];
    }
    for (uint32_t k = 0; k < mesh->vertex_count; k++) {
        lm_vec3 v = mesh->vertices[k];
        double p[3] = {v.x, v.y, v.z};
        for (int i = 0; i < 3; i++) {
            double a = (p[i] - mesh->centre[i]) * scale;
            a = a < -most[i] ? -most[i] : a > most[i] ? most[i] : a;
            mesh->snapped[3 * (size_t)k + (size_t)i] = middle[i] + nearest(a);
        }
    }
    mesh->steps = steps;
}

static size_t word_count(const lmi_voxels *voxels) { return (size_t)voxels->row_words * voxels->n[1] * voxels->n[2]; }

static uint64_t count_bits(const uint64_t *words, size_t count)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < count; k++) {
        sum += (uint64_t)lmi_bit_count(words[k]);
    }
    return sum;
}

static bool count_corners(lmi_memory *memory, lmi_voxels *voxels, uint64_t *count)
{
    uint32_t words = lmi_voxels_corner_words(voxels);
    uint64_t *row = lmi_allocate(memory, words, sizeof *row);
    if (!row) {
        return false;
    }
    *count = 0;
    for (uint32_t z = 0; z <= voxels->n[2]; z++) {
        for (uint32_t y = 0; y <= voxels->n[1]; y++) {
            *count += lmi_voxels_corner_row(voxels, y, z, row);
        }
    }
    lmi_release(memory, row, words, sizeof *row);
    return true;
}

lm_result lmi_voxels_at(lmi_memory *memory, lmi_voxel_mesh *mesh, double spacing, bool shell, lmi_voxels *voxels,
                        char *fault)
{
    memset(voxels, 0, sizeof *voxels);
    uint32_t steps;
    lm_result result = place(mesh, spacing, voxels, &steps, fault);
    if (result != LM_OK) {
        memset(voxels, 0, sizeof *voxels);
        return result;
    }
    snap(mesh, voxels, steps);
    voxels->bits = lmi_allocate(memory, word_count(voxels), sizeof *voxels->bits);
    uint64_t corners = 0;
    bool allocated = voxels->bits != NULL;
    if (allocated) {
        lmi_voxels_touch(voxels, mesh);
        voxels->touched = count_bits(voxels->bits, word_count(voxels));
        allocated = shell || lmi_voxels_fill(memory, voxels);
    }
    if (!allocated || !count_corners(memory, voxels, &corners)) {
        result = fail(fault, LM_ERROR_MEMORY, "no memory for the cells");
    } else if (corners > LM_MAX_PARTICLES) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE, "a spacing of %g m makes %llu particles; at most %u are allowed", spacing,
                 (unsigned long long)corners, LM_MAX_PARTICLES);
        result = LM_ERROR_LIMIT;
    }
    if (result != LM_OK) {
        lmi_voxels_free(memory, voxels);
        return result;
    }
    voxels->cell_count = count_bits(voxels->bits, word_count(voxels));
    voxels->corner_count = (uint32_t)corners;
    return LM_OK;
}

lm_result lmi_voxels_make(lmi_memory *memory, const lmi_voxel_def *def, lmi_voxels *voxels,
                          char fault[LMI_VOXEL_FAULT_SIZE])
{
    memset(voxels, 0, sizeof *voxels);
    fault[0] = 0;
    if (!(def->spacing >= 0.0 && isfinite(def->spacing))) {
        return fail(fault, LM_ERROR_ARGUMENT, "the spacing must be above 0");
    }
    bool search = def->spacing == 0.0;
    if (search && (def->particles < LMI_VOXEL_MIN_PARTICLES || def->particles > LM_MAX_PARTICLES)) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE, "%u particles were asked for; %u to %u are allowed", def->particles,
                 LMI_VOXEL_MIN_PARTICLES, LM_MAX_PARTICLES);
        return def->particles > LM_MAX_PARTICLES ? LM_ERROR_LIMIT : LM_ERROR_ARGUMENT;
    }
    lmi_voxel_mesh mesh = {0};
    lm_result result = prepare(memory, def, &mesh, fault);
    if (result == LM_OK) {
        result = search ? lmi_voxels_search(memory, &mesh, def->particles, def->shell, voxels, fault)
                        : lmi_voxels_at(memory, &mesh, def->spacing, def->shell, voxels, fault);
    }
    release_mesh(memory, &mesh);
    return result;
}

void lmi_voxels_free(lmi_memory *memory, lmi_voxels *voxels)
{
    lmi_release(memory, voxels->bits, word_count(voxels), sizeof *voxels->bits);
    memset(voxels, 0, sizeof *voxels);
}

/* ---- reading it ---- */

uint32_t lmi_voxels_corner_row(const lmi_voxels *voxels, uint32_t y, uint32_t z, uint64_t *row)
{
    uint32_t words = lmi_voxels_corner_words(voxels), count = 0;
    uint64_t carry = 0;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t cells = 0; /* of the four rows around the row of corners */
        for (uint32_t side = 0; side < 4 && k < voxels->row_words; side++) {
            uint32_t cell_y = y - (side & 1), cell_z = z - (side >> 1); /* huge below 0 */
            if (cell_y < voxels->n[1] && cell_z < voxels->n[2]) {
                cells |= lmi_voxels_row(voxels, cell_y, cell_z)[k];
            }
        }
        row[k] = cells | cells << 1 | carry;
        carry = cells >> 63;
        count += (uint32_t)lmi_bit_count(row[k]);
    }
    return count;
}

/* The square of the distance from a point to a cell; both in cells. */
static double distance_to(const double point[3], const int64_t cell[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double low = (double)cell[i] - point[i], high = point[i] - (double)(cell[i] + 1);
        double d = low > 0.0 ? low : high > 0.0 ? high : 0.0;
        sum += d * d;
    }
    return sum;
}

/* Looks through the cells of the cube of half side `ring` around `middle` that are not in the next smaller one, as far as the box
 * has them: boxes may be thousands of times as long as thick. */
static void look_in_ring(const lmi_voxels *v, const double point[3], const int64_t middle[3], int64_t ring,
                         double *nearest_yet, uint32_t cell[3])
{
    int64_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = middle[i] - ring > 0 ? middle[i] - ring : 0;
        high[i] = middle[i] + ring < v->n[i] ? middle[i] + ring : (int64_t)v->n[i] - 1;
    }
    for (int64_t z = low[2]; z <= high[2]; z++) {
        for (int64_t y = low[1]; y <= high[1]; y++) {
            bool side = llabs(z - middle[2]) == ring || llabs(y - middle[1]) == ring;
            int64_t from = side ? low[0] : middle[0] - ring, by = side || ring == 0 ? 1 : 2 * ring;
            for (int64_t x = from; x <= middle[0] + ring && x <= high[0]; x += by) {
                double distance = lmi_voxels_cell(v, x, y, z) ? distance_to(point, (int64_t[3]){x, y, z}) : INFINITY;
                if (distance < *nearest_yet) {
                    *nearest_yet = distance;
                    cell[0] = (uint32_t)x, cell[1] = (uint32_t)y, cell[2] = (uint32_t)z;
                }
            }
        }
    }
}

void lmi_voxels_locate(const lmi_voxels *voxels, lm_dvec3 point, uint32_t cell[3])
{
    double p[3] = {(point.x - voxels->first.x) / voxels->spacing, (point.y - voxels->first.y) / voxels->spacing,
                   (point.z - voxels->first.z) / voxels->spacing};
    int64_t middle[3];
    for (int i = 0; i < 3; i++) {
        double most = voxels->n[i]; /* beyond the box, its nearest point decides; the cells around it are the same */
        p[i] = p[i] > 0.0 ? p[i] < most ? p[i] : most : 0.0;
        middle[i] = (int64_t)p[i] < voxels->n[i] ? (int64_t)p[i] : voxels->n[i] - 1;
    }
    /* Cells of a ring are at least ring - 1 cells away. Some cell is occupied, so the search ends. */
    double nearest_yet = INFINITY;
    for (int64_t ring = 0; nearest_yet > (double)((ring - 1) * (ring - 1)) || ring < 2; ring++) {
        look_in_ring(voxels, p, middle, ring, &nearest_yet, cell);
        if (nearest_yet == 0.0) break;
    }
}

/* ---- the inside ----
 *
 * The inside of a body: what the outside cannot reach.
 *
 * The outside is flooded through unoccupied cells, from cell to cell across their faces, 64 cells of a row at a time. It
 * begins at the six sides of the box (all around it is outside). A word whose outside may have grown waits in a queue;
 * taken from it, its cells spread along the row, and words next to it that can grow because of it are queued in turn.
 * Each turn adds cells, so it ends, and the end does not depend on the order.
 */

typedef struct flood {
    const lmi_voxels *voxels;
    uint64_t *outside; /* a bit for each cell, laid out as the voxels' */
    uint64_t *waiting; /* a bit for each word: it is in the queue */
    uint32_t *queue;   /* a ring of word numbers */
    uint32_t words, row_words, layer_words;
    uint32_t head, length; /* of the queue */
} flood;

/* Bits of a word that are cells: all but those of the last word of a row are. */
static uint64_t cells_of_word(const lmi_voxels *voxels, uint32_t word_in_row)
{
    uint32_t rest = voxels->n[0] - 64 * word_in_row;
    return rest >= 64 ? ~0ull : ~(~0ull << rest);
}

/* `some` and all of `open` that is connected to it. */
static uint64_t spread(uint64_t some, uint64_t open)
{
    uint64_t up = open, down = open;
    for (int reach = 1; reach < 64; reach *= 2) {
        some |= up & (some << reach);
        up &= up << reach;
    }
    for (int reach = 1; reach < 64; reach *= 2) {
        some |= down & (some >> reach);
        down &= down >> reach;
    }
    return some;
}

/* Cells of `word` become outside. */
static void add(flood *f, uint32_t word, uint64_t cells)
{
    uint64_t open = ~f->voxels->bits[word] & cells_of_word(f->voxels, word % f->row_words);
    uint64_t fresh = cells & open & ~f->outside[word];
    if (fresh == 0) {
        return;
    }
    f->outside[word] |= fresh;
    if (!(f->waiting[word / 64] >> (word % 64) & 1)) {
        f->waiting[word / 64] |= 1ull << (word % 64);
        uint32_t tail = f->head + f->length < f->words ? f->head + f->length : f->head + f->length - f->words;
        f->queue[tail] = word;
        f->length++;
    }
}

static void take_first(flood *f)
{
    const lmi_voxels *v = f->voxels;
    uint32_t word = f->queue[f->head];
    f->head = f->head + 1 < f->words ? f->head + 1 : 0;
    f->length--;
    f->waiting[word / 64] &= ~(1ull << (word % 64));
    uint32_t x = word % f->row_words, y = word % f->layer_words / f->row_words, z = word / f->layer_words;
    uint64_t cells = spread(f->outside[word], ~v->bits[word] & cells_of_word(v, x));
    f->outside[word] = cells;
    if (x > 0) add(f, word - 1, cells << 63);
    if (x + 1 < f->row_words) add(f, word + 1, cells >> 63);
    if (y > 0) add(f, word - f->row_words, cells);
    if (y + 1 < v->n[1]) add(f, word + f->row_words, cells);
    if (z > 0) add(f, word - f->layer_words, cells);
    if (z + 1 < v->n[2]) add(f, word + f->layer_words, cells);
}

static void begin_at_sides(flood *f)
{
    const lmi_voxels *v = f->voxels;
    for (uint32_t z = 0, word = 0; z < v->n[2]; z++) {
        for (uint32_t y = 0; y < v->n[1]; y++, word += f->row_words) {
            if (y == 0 || z == 0 || y + 1 == v->n[1] || z + 1 == v->n[2]) {
                for (uint32_t x = 0; x < f->row_words; x++) {
                    add(f, word + x, ~0ull);
                }
            }
            add(f, word, 1);
            add(f, word + f->row_words - 1, 1ull << ((v->n[0] - 1) % 64));
        }
    }
}

bool lmi_voxels_fill(lmi_memory *memory, lmi_voxels *voxels)
{
    flood f = {.voxels = voxels, .row_words = voxels->row_words};
    f.layer_words = voxels->row_words * voxels->n[1];
    f.words = f.layer_words * voxels->n[2];
    f.outside = lmi_allocate(memory, f.words, sizeof *f.outside);
    f.waiting = lmi_allocate(memory, f.words / 64 + 1, sizeof *f.waiting);
    f.queue = lmi_allocate(memory, f.words, sizeof *f.queue);
    bool allocated = f.outside && f.waiting && f.queue;
    if (allocated) {
        begin_at_sides(&f);
        while (f.length > 0) {
            take_first(&f);
        }
        for (uint32_t word = 0; word < f.words; word++) {
            voxels->bits[word] = ~f.outside[word] & cells_of_word(voxels, word % f.row_words);
        }
    }
    lmi_release(memory, f.outside, f.words, sizeof *f.outside);
    lmi_release(memory, f.waiting, f.words / 64 + 1, sizeof *f.waiting);
    lmi_release(memory, f.queue, f.words, sizeof *f.queue);
    return allocated;
}

/* ---- the spacing ----
 *
 * The spacing at which a mesh has a wanted number of corners.
 *
 * The number of corners falls with the spacing, roughly as a power of it, but not steadily: it jumps where the box takes
 * another layer of cells (a cube has 8, 27, 64, ... corners and nothing between), and wavers as faces pass from cell to
 * cell. So the search works on logarithms, keeps two spacings with too many and too few corners between which it
 * interpolates, and remembers the best it has seen; it ends with a hit, or where the two come together at a jump. Nothing
 * of it depends on the order of vertices or triangles.
 */

#define MOST_TRIES 24         /* of the interpolation; three to eight are usual */
#define NARROWEST 2e-4        /* two spacings closer than this (as a share) are at a jump */
#define GOOD_ENOUGH 2e-3      /* a miss of this share of the number wanted ends the search */
#define USUAL_EXPONENT (-2.5) /* between a shell's and a solid's */

typedef struct search {
    lmi_memory *memory;
    lmi_voxel_mesh *mesh;
    char *fault;
    double wanted;
    bool shell;
    double finest; /* logarithm of the spacing below which the lattice is too large */
    lmi_voxels best;
    double miss;      /* of the best: | corners - wanted | */
    lm_result result; /* LM_OK, or what ends the search */
} search;

/* Voxels at exp(log_spacing); keeps them when they are the best yet. Returns the logarithm of the number of corners over
 * the number wanted. */
static double try_spacing(search *s, double log_spacing)
{
    lmi_voxels voxels;
    lm_result result = lmi_voxels_at(s->memory, s->mesh, lmi_exp(log_spacing), s->shell, &voxels, s->fault);
    if (result == LM_ERROR_LIMIT) { /* more than LM_MAX_PARTICLES */
        return 1.0;
    }
    if (result != LM_OK) {
        s->result = result;
        return 0.0;
    }
    double corners = voxels.corner_count, miss = fabs(corners - s->wanted);
    /* Of two with the same number the finer fits the shape more closely. */
    if (!s->best.bits || miss < s->miss || (miss == s->miss && voxels.spacing < s->best.spacing)) {
        lmi_voxels_free(s->memory, &s->best);
        s->best = voxels;
        s->miss = miss;
    } else {
        lmi_voxels_free(s->memory, &voxels);
    }
    return lmi_log(corners / s->wanted);
}

static bool is_done(const search *s) { return s->result != LM_OK || s->miss <= GOOD_ENOUGH * s->wanted; }

static double longest_side(const lmi_voxel_mesh *mesh)
{
    return 2.0 * fmax(mesh->half[0], fmax(mesh->half[1], mesh->half[2]));
}

/* The finest spacing that is allowed. One cell along the longest side always is. */
static double find_finest(const lmi_voxel_mesh *mesh)
{
    double allowed = lmi_log(longest_side(mesh)), refused = allowed - 20.0;
    for (int round = 0; round < 40; round++) {
        double middle = 0.5 * (refused + allowed);
        *(lmi_voxels_fit(mesh, lmi_exp(middle)) ? &allowed : &refused) = middle;
    }
    return allowed;
}

/* The spacing at which the whole box, every cell occupied, would have this many corners. */
static double spacing_for_box(const lmi_voxel_mesh *mesh, double corners)
{
    double coarse = lmi_log(longest_side(mesh)), fine = coarse - 20.0;
    for (int round = 0; round < 40; round++) {
        double middle = 0.5 * (fine + coarse), spacing = lmi_exp(middle), product = 1.0;
        for (int i = 0; i < 3; i++) {
            product *= 1.0 + fmax(2.0 * mesh->half[i] / spacing, 1.0);
        }
        *(product > corners ? &fine : &coarse) = middle;
    }
    return 0.5 * (fine + coarse);
}

/* From a first guess to a hit, to two spacings next to each other, or to the finest allowed with too few corners. */
static void close_in(search *s)
{
    double fine = -INFINITY, coarse = INFINITY;    /* logarithms of spacings with too many and too few corners */
    double fine_excess = 0.0, coarse_excess = 0.0; /* what try_spacing returned there */
    double at = spacing_for_box(s->mesh, s->wanted);
    int repeats = 0; /* how often the same of the two was replaced */
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        at = fmax(at, s->finest);
        double excess = try_spacing(s, at);
        if (is_done(s)) {
            return;
        }
        if (excess > 0.0) {
            repeats = repeats > 0 ? repeats + 1 : 1;
            fine = at;
            fine_excess = excess;
        } else {
            repeats = repeats < 0 ? repeats - 1 : -1;
            coarse = at;
            coarse_excess = excess;
        }
        if (coarse - fine < NARROWEST || coarse == s->finest) {
            return;
        }
        if (isinf(fine) || isinf(coarse)) { /* rather too far than too near: then there are two to work between */
            at += 1.2 * excess / -USUAL_EXPONENT + (excess > 0.0 ? 0.01 : -0.01);
        } else {
            double share = fine_excess / (fine_excess - coarse_excess);
            bool stuck = repeats > 1 || repeats < -1;
            at = fine + (stuck ? 0.5 : fmin(fmax(share, 0.05), 0.95)) * (coarse - fine);
        }
    }
}

/* The finest spacing with as many cells along each axis fits the box without a gap: for a box, the same corners, in the
 * right place. */
static void fit_box(search *s)
{
    double spacing = 0.0;
    for (int i = 0; i < 3; i++) {
        spacing = fmax(spacing, 2.0 * s->mesh->half[i] / s->best.n[i]);
    }
    if (spacing < s->best.spacing) {
        try_spacing(s, lmi_log(spacing));
    }
}

lm_result lmi_voxels_search(lmi_memory *memory, lmi_voxel_mesh *mesh, uint32_t particles, bool shell,
                            lmi_voxels *voxels, char *fault)
{
    search s = {.memory = memory, .mesh = mesh, .fault = fault, .wanted = particles, .shell = shell, .miss = INFINITY};
    s.finest = find_finest(mesh);
    close_in(&s);
    /* As near as the limits let it come is not near: better to say so. */
    bool limited = s.result == LM_OK && (!s.best.bits || lmi_log(s.best.spacing) <= s.finest + NARROWEST);
    if (limited && !(s.miss <= 0.1 * s.wanted)) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE,
                 "%u particles were asked for; the finest lattice allowed (spacing %g m) has %u", particles,
                 lmi_exp(s.finest), s.best.corner_count);
        s.result = LM_ERROR_LIMIT;
    }
    if (s.result == LM_OK) {
        fit_box(&s);
    }
    if (s.result != LM_OK) {
        lmi_voxels_free(memory, &s.best);
        return s.result;
    }
    fault[0] = 0;
    *voxels = s.best;
    return LM_OK;
}
