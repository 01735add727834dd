/*
 * Voxels from a mesh: checks, the place of the lattice, and the count of its corners. Which cells a face touches is in
 * voxel_touch.c, the inside in voxel_fill.c, the search for a spacing in voxel_search.c.
 */
#include "geometry/voxel.h"
#include "base/compiler.h"
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
