#include "tets/tets.h"
#include "base/compiler.h"
#include "world/access.h"
#include "world/body.h"

#include <stdio.h>
#include <string.h>

#define TETS_OF_CELL 5

void lmi_tets_free(lmi_memory *memory, lmi_tets *tets)
{
    lmi_release(memory, tets->points, tets->point_count, sizeof *tets->points);
    lmi_release(memory, tets->tets, (size_t)tets->tet_count * 4, sizeof *tets->tets);
    memset(tets, 0, sizeof *tets);
}

static bool allocate(lmi_memory *memory, lmi_tets *tets, uint32_t point_count, uint32_t tet_count)
{
    memset(tets, 0, sizeof *tets);
    tets->points = lmi_allocate(memory, point_count, sizeof *tets->points);
    tets->tets = lmi_allocate(memory, (size_t)tet_count * 4, sizeof *tets->tets);
    tets->point_count = point_count;
    tets->tet_count = tet_count;
    return tets->points && tets->tets;
}

double lmi_tet_six_volumes(const lm_vec3 *points, const uint32_t *tet)
{
    lm_dvec3 from = dvec_from(points[tet[0]]), edge[3];
    for (int i = 0; i < 3; i++) {
        edge[i] = dvec_sub(dvec_from(points[tet[i + 1]]), from);
    }
    return dvec_dot(edge[0], dvec_cross(edge[1], edge[2]));
}

/* ---- a caller's mesh ---- */

static double longest_edge(const lm_vec3 *points, const uint32_t *tet)
{
    double longest = 0.0;
    for (int i = 0; i < 4; i++) {
        for (int j = i + 1; j < 4; j++) {
            longest = fmax(longest, dvec_length(dvec_sub(dvec_from(points[tet[j]]), dvec_from(points[tet[i]]))));
        }
    }
    return longest;
}

/* Six volumes at or below which a tetrahedron has none. */
static double least_six(const lm_vec3 *points, const uint32_t *tet)
{
    double edge = longest_edge(points, tet);
    return LMI_TETS_FLATTEST * edge * edge * edge;
}

bool lmi_tet_is_sound(const lm_vec3 *points, const uint32_t *tet)
{
    return lmi_tet_six_volumes(points, tet) > least_six(points, tet);
}

static lm_result check_numbers(const lm_tets *def, char *fault)
{
    if (def->vertex_count == 0 || def->tet_count == 0) {
        snprintf(fault, LMI_TETS_FAULT_SIZE, "tets need vertices and tetrahedra");
        return LM_ERROR_ARGUMENT;
    }
    if (def->vertex_count > LM_MAX_PARTICLES || def->tet_count > LMI_TETS_MOST) {
        snprintf(fault, LMI_TETS_FAULT_SIZE, "more than 2^26 vertices or tetrahedra");
        return LM_ERROR_LIMIT;
    }
    for (uint32_t n = 0; n < def->vertex_count; n++) {
        lm_vec3 p = def->vertices[n];
        if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE && fabsf(p.z) <= LM_MAX_COORDINATE)) {
            snprintf(fault, LMI_TETS_FAULT_SIZE, "vertex %u is not finite or beyond LM_MAX_COORDINATE", n);
            return LM_ERROR_ARGUMENT;
        }
    }
    for (size_t n = 0; n < (size_t)def->tet_count * 4; n++) {
        if (def->tets[n] >= def->vertex_count) {
            snprintf(fault, LMI_TETS_FAULT_SIZE, "tetrahedron %zu has vertex %u, but there are %u", n / 4, def->tets[n],
                     def->vertex_count);
            return LM_ERROR_ARGUMENT;
        }
    }
    return LM_OK;
}

/* Whether all are the same way round and have a volume; *turned when that is the wrong way. */
static lm_result check_volumes(const lm_tets *def, bool *turned, char *fault)
{
    uint32_t count[2] = {0, 0}, first[2] = {0, 0}; /* the right way round, and inverted */
    for (uint32_t n = 0; n < def->tet_count; n++) {
        const uint32_t *tet = def->tets + (size_t)n * 4;
        double six = lmi_tet_six_volumes(def->vertices, tet);
        if (!(fabs(six) > least_six(def->vertices, tet))) {
            snprintf(fault, LMI_TETS_FAULT_SIZE, "tetrahedron %u (vertices %u, %u, %u, %u) has no volume", n, tet[0],
                     tet[1], tet[2], tet[3]);
            return LM_ERROR_ARGUMENT;
        }
        int inverted = six < 0.0;
        first[inverted] = count[inverted]++ == 0 ? n : first[inverted];
    }
    if (count[0] > 0 && count[1] > 0) {
        uint32_t n = first[count[1] <= count[0]];
        const uint32_t *tet = def->tets + (size_t)n * 4;
        snprintf(fault, LMI_TETS_FAULT_SIZE,
                 "tetrahedron %u (vertices %u, %u, %u, %u) is inverted: it is turned against most others", n, tet[0],
                 tet[1], tet[2], tet[3]);
        return LM_ERROR_ARGUMENT;
    }
    *turned = count[1] > 0;
    return LM_OK;
}

static lm_result check_uses(lmi_memory *memory, const lm_tets *def, char *fault)
{
    bool *used = lmi_allocate(memory, def->vertex_count, sizeof *used);
    lm_result result = used ? LM_OK : LM_ERROR_MEMORY;
    for (size_t n = 0; used && n < (size_t)def->tet_count * 4; n++) {
        used[def->tets[n]] = true;
    }
    for (uint32_t n = 0; result == LM_OK && n < def->vertex_count; n++) {
        if (!used[n]) {
            snprintf(fault, LMI_TETS_FAULT_SIZE, "vertex %u is in no tetrahedron", n);
            result = LM_ERROR_ARGUMENT;
        }
    }
    lmi_release(memory, used, def->vertex_count, sizeof *used);
    return result;
}

lm_result lmi_tets_copy(lmi_memory *memory, const lm_tets *def, lmi_tets *tets, char fault[LMI_TETS_FAULT_SIZE])
{
    bool turned = false;
    memset(tets, 0, sizeof *tets);
    snprintf(fault, LMI_TETS_FAULT_SIZE, "out of memory");
    lm_result result = check_numbers(def, fault);
    result = result ? result : check_volumes(def, &turned, fault);
    result = result ? result : check_uses(memory, def, fault);
    if (result != LM_OK) {
        return result;
    }
    if (!allocate(memory, tets, def->vertex_count, def->tet_count)) {
        lmi_tets_free(memory, tets);
        return LM_ERROR_MEMORY;
    }
    memcpy(tets->points, def->vertices, def->vertex_count * sizeof *tets->points);
    memcpy(tets->tets, def->tets, (size_t)def->tet_count * 4 * sizeof *tets->tets);
    for (uint32_t n = 0; turned && n < def->tet_count; n++) {
        uint32_t *tet = tets->tets + (size_t)n * 4, corner = tet[2];
        tet[2] = tet[3];
        tet[3] = corner;
    }
    return LM_OK;
}

/* ---- our own ---- */

/* Corners of occupied cells, and the number of the first in each word. */
typedef struct corners {
    uint64_t *bits;
    uint32_t *first;
    uint32_t row_words;
    size_t words;
} corners;

static size_t word_of(const corners *c, const lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z)
{
    return ((size_t)z * (v->n[1] + 1) + y) * c->row_words + x / 64;
}

static uint32_t number_of(const corners *c, const lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z)
{
    size_t word = word_of(c, v, x, y, z);
    uint64_t below = ((uint64_t)1 << (x % 64)) - 1;
    return c->first[word] + (uint32_t)lmi_bit_count(c->bits[word] & below);
}

/* Points in their order, and the numbers of their corners. */
static void number_corners(const corners *c, const lmi_voxels *v, lm_vec3 *points)
{
    uint32_t count = 0;
    for (uint32_t z = 0; z <= v->n[2]; z++) {
        for (uint32_t y = 0; y <= v->n[1]; y++) {
            size_t row = word_of(c, v, 0, y, z);
            lmi_voxels_corner_row(v, y, z, c->bits + row);
            for (uint32_t w = 0; w < c->row_words; w++) {
                c->first[row + w] = count;
                for (uint64_t rest = c->bits[row + w]; rest; rest &= rest - 1) {
                    uint32_t x = w * 64 + (uint32_t)lmi_low_bit(rest);
                    points[count++] = vec_from(lmi_voxels_position(v, x, y, z));
                }
            }
        }
    }
}

/* The corners of a cell that each of its tetrahedra has, bits 0, 1 and 2 for x, y and z: a regular one in the middle, and what
 * is left at four corners. Cells with an odd sum of coordinates are mirror images, along x, of the others. */
static const uint8_t corners_of_tet[TETS_OF_CELL][4] = {
    {0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}};

static void divide_cell(const corners *c, const lmi_voxels *v, uint32_t x, uint32_t y, uint32_t z, uint32_t *tets)
{
    uint32_t at[8];
    for (uint32_t k = 0; k < 8; k++) {
        at[k] = number_of(c, v, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
    }
    uint32_t odd = (x + y + z) & 1;
    for (int t = 0; t < TETS_OF_CELL; t++) {
        for (int i = 0; i < 4; i++) {
            int corner = odd && i > 1 ? 5 - i : i; /* a mirror image is inverted: its last two change places */
            tets[4 * t + i] = at[corners_of_tet[t][corner] ^ odd];
        }
    }
}

static void divide_cells(const corners *c, const lmi_voxels *v, uint32_t *tets)
{
    for (uint32_t z = 0; z < v->n[2]; z++) {
        for (uint32_t y = 0; y < v->n[1]; y++) {
            const uint64_t *row = lmi_voxels_row(v, y, z);
            for (uint32_t w = 0; w < v->row_words; w++) {
                for (uint64_t rest = row[w]; rest; rest &= rest - 1, tets += 4 * TETS_OF_CELL) {
                    divide_cell(c, v, w * 64 + (uint32_t)lmi_low_bit(rest), y, z, tets);
                }
            }
        }
    }
}

lm_result lmi_tets_of_voxels(lmi_memory *memory, const lmi_voxels *v, lmi_tets *tets)
{
    memset(tets, 0, sizeof *tets);
    if (v->cell_count * TETS_OF_CELL > LMI_TETS_MOST) {
        return LM_ERROR_LIMIT;
    }
    corners c = {.row_words = lmi_voxels_corner_words(v)};
    c.words = (size_t)c.row_words * (v->n[1] + 1) * (v->n[2] + 1);
    c.bits = lmi_allocate(memory, c.words, sizeof *c.bits);
    c.first = lmi_allocate(memory, c.words, sizeof *c.first);
    bool ok = allocate(memory, tets, v->corner_count, (uint32_t)v->cell_count * TETS_OF_CELL) && c.bits && c.first;
    if (ok) {
        number_corners(&c, v, tets->points);
        divide_cells(&c, v, tets->tets);
    } else {
        lmi_tets_free(memory, tets);
    }
    lmi_release(memory, c.bits, c.words, sizeof *c.bits);
    lmi_release(memory, c.first, c.words, sizeof *c.first);
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

/* ---- mass ---- */

void lmi_tets_volume_shares(const lmi_tets *tets, double *shares)
{
    double whole = 0.0;
    memset(shares, 0, tets->point_count * sizeof *shares);
    for (uint32_t n = 0; n < tets->tet_count; n++) {
        const uint32_t *tet = tets->tets + (size_t)n * 4;
        double six = lmi_tet_six_volumes(tets->points, tet);
        whole += six;
        for (int i = 0; i < 4; i++) {
            shares[tet[i]] += six / 4.0;
        }
    }
    for (uint32_t n = 0; n < tets->point_count; n++) {
        shares[n] /= whole;
    }
}

/* ---- bodies ----
 *
 * Bodies of tetrahedra: a body of points whose regions are the one-rings of its mesh. Everything after that is as for any
 * other clusters; the tetrahedra are kept for skins, which ride on them.
 */

static const char *def_fault(const lm_body_def *def)
{
    const lm_tets *tets = &def->tets;
    if (!tets->vertices) {
        return "tets need vertices";
    }
    if (def->points || def->point_count || def->lattice.vertices || def->lattice.cells) {
        return "a body has points, a lattice or tets, not several of them";
    }
    if (!tets->tets == !tets->triangles) {
        return "tets need tetrahedra, or the triangles of a surface, and not both";
    }
    if (tets->tets && (tets->spacing != 0.0f || tets->particles || tets->triangle_count)) {
        return "tets.spacing and tets.particles are for a surface: the tetrahedra are given";
    }
    if ((unsigned)tets->mass >= LM_TETS_MASS_COUNT) {
        return "tets.mass is not one of lm_tets_mass";
    }
    return NULL;
}

static lm_result divide_surface(lm_world *world, const lm_tets *def, lmi_tets *tets, char *fault)
{
    lmi_voxel_def mesh = {.vertices = def->vertices,
                          .vertex_count = def->vertex_count,
                          .triangles = def->triangles,
                          .triangle_count = def->triangle_count,
                          .spacing = (double)def->spacing,
                          .particles = def->particles};
    lmi_voxels voxels;
    lm_result result = lmi_voxels_make(&world->memory, &mesh, &voxels, fault);
    if (result != LM_OK) {
        return result;
    }
    result = lmi_tets_of_voxels(&world->memory, &voxels, tets);
    lmi_voxels_free(&world->memory, &voxels);
    if (result != LM_OK) {
        snprintf(fault, LMI_TETS_FAULT_SIZE, "%s",
                 result == LM_ERROR_LIMIT ? "more than 2^26 tetrahedra" : "out of memory");
        return result;
    }
    lm_tets made = {
        .vertices = tets->points, .vertex_count = tets->point_count, .tets = tets->tets, .tet_count = tets->tet_count};
    lmi_tets checked;
    result = lmi_tets_copy(&world->memory, &made, &checked, fault); /* where a spacing is too fine for its distance */
    lmi_tets_free(&world->memory, &checked);
    return result;
}

/* The masses of the particles, or null where they are equal shares. */
static float *share_mass(lm_world *world, const lm_body_def *def, const lmi_tets *tets, bool *ok)
{
    *ok = true;
    if (def->masses || def->tets.mass == LM_TETS_MASS_EQUAL || !(def->mass > 0.0f && def->mass <= 1e12f)) {
        return NULL; /* a mass that cannot be is refused with the rest of the definition */
    }
    float *masses = lmi_allocate(&world->memory, tets->point_count, sizeof *masses);
    double *shares = lmi_allocate(&world->memory, tets->point_count, sizeof *shares);
    *ok = masses && shares;
    if (*ok) {
        lmi_tets_volume_shares(tets, shares);
        for (uint32_t n = 0; n < tets->point_count; n++) {
            masses[n] = (float)((double)def->mass * shares[n]);
        }
    }
    lmi_release(&world->memory, shares, tets->point_count, sizeof *shares);
    return masses;
}

/* The same body as points with one-rings. */
static lm_result create_rings(lm_world *world, const lm_body_def *def, const lmi_tets *tets, uint32_t *slot)
{
    bool ok;
    lm_body_def plain = *def;
    float *masses = share_mass(world, def, tets, &ok);
    plain.masses = masses ? masses : def->masses;
    plain.points = tets->points;
    plain.point_count = tets->point_count;
    plain.clusters.kind = LM_CLUSTERS_RINGS;
    plain.clusters.elements = tets->tets;
    plain.clusters.element_count = tets->tet_count;
    plain.clusters.element_size = 4;
    plain.tets.tets = tets->tets;
    plain.tets.tet_count = tets->tet_count;
    lm_result result = ok ? lmi_body_create_cloud(world, &plain, slot)
                          : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    lmi_release(&world->memory, masses, tets->point_count, sizeof *masses);
    return result;
}

lm_result lmi_tets_body_create(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    const char *wrong = def_fault(def);
    if (wrong) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", wrong);
    }
    char fault[LMI_TETS_FAULT_SIZE];
    lmi_tets tets = {0};
    lm_result result = def->tets.tets ? lmi_tets_copy(&world->memory, &def->tets, &tets, fault)
                                      : divide_surface(world, &def->tets, &tets, fault);
    result =
        result == LM_OK ? create_rings(world, def, &tets, slot) : lmi_fail(world, result, "lm_body_create: %s", fault);
    lmi_tets_free(&world->memory, &tets);
    return result;
}

lm_result lm_body_get_tets(const lm_world *world, lm_body_id id, uint32_t *tets)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_tets");
    if (!body) {
        return LM_ERROR_ID;
    }
    for (size_t n = 0; n < (size_t)body->tet_count * 4; n++) {
        tets[n] = body->order[body->tets[n]];
    }
    return LM_OK;
}
