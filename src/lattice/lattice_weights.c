/*
 * The masses of a lattice's particles, and what follows from them: the middle, the inertia of the parts, the weights in fits.
 */
#include "base/guard.h"
#include "geometry/nearest.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_members.h"
#include "match/examples.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/motion.h"

#include <math.h>
#include <string.h>

#define SIDE (2 * LMI_LATTICE_MAX_WIDTH + 1)

/* Masses that differ by less than this share are the same but for rounding. */
#define SAME_MASS 1.5e-7

lm_result lmi_lattice_body_spread_mass(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    const lmi_lattice *l = &body->lattice->shape;
    const lm_lattice *from = &def->lattice;
    const char *fault = def->masses ? lmi_body_mass_fault(def->masses, body->particle_count) : NULL;
    double sum = 0.0, least = INFINITY;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    lmi_lattice_volumes(l, body->mass);
    LMI_PARTICLES_EACH(body, n)
    {
        body->mass[n] = def->masses                           ? def->masses[body->order[n]]
                        : from->mass == LM_LATTICE_MASS_EQUAL ? 1.0f
                                                              : body->mass[n];
    }
    if (def->masses) {
        return LM_OK;
    }
    if (from->vertex_masses && !lmi_lattice_multiply_nearest(&world->memory, l, from->vertices, from->vertex_masses,
                                                             from->vertex_count, body->mass)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    LMI_PARTICLES_EACH(body, n)
    {
        sum += body->mass[n];
        least = fmin(least, body->mass[n]);
    }
    if (!(least * body->particle_count >= 1e-9 * sum)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_body_create: with these vertex_masses a particle is below 1e-9 of the mean mass");
    }
    LMI_PARTICLES_EACH(body, n) { body->mass[n] = (float)(body->mass[n] * (def->mass / sum)); }
    return LM_OK;
}

/* In units of the mean, after lmi_lattice_body_derive_masses. */
static double relative_mass(const lmi_body *body, uint32_t n)
{
    return body->lattice->by_volume ? (double)body->v[(size_t)n * 4 + 3] : body->mass[n] / body->mean_mass;
}

/* The determinants of the inertia of the parts at rest. */
void lmi_lattice_body_rest_inertia(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    double s = lattice->shape.spacing;
    enum { MASS, FIRST = 1, SECOND = 4 }; /* in lmi_lattice_part.sums: m, m r, m r r (xx yy zz xy yz zx) */
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        memset(lattice->part[n].sums, 0, sizeof lattice->part[n].sums);
    }
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        double *to = lattice->part[lmi_lattice_part_of(body, n)].sums, m = relative_mass(body, n), r[3];
        lmi_lattice_corner(&lattice->shape, n, corner);
        to[MASS] += m;
        for (int a = 0; a < 3; a++) {
            r[a] = s * (corner[a] - lattice->middle[a]);
            to[FIRST + a] += m * r[a];
        }
        for (int a = 0; a < 3; a++) {
            to[SECOND + a] += m * r[a] * r[a];
            to[SECOND + 3 + a] += m * r[a] * r[(a + 1) % 3];
        }
    }
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        const double *sums = lattice->part[n].sums;
        double second[6], inertia[6];
        for (int a = 0; a < 3; a++) {
            second[a] = sums[SECOND + a] - sums[FIRST + a] * sums[FIRST + a] / sums[MASS];
            second[3 + a] = sums[SECOND + 3 + a] - sums[FIRST + a] * sums[FIRST + (a + 1) % 3] / sums[MASS];
        }
        for (int a = 0; a < 3; a++) {
            inertia[a] = second[(a + 1) % 3] + second[(a + 2) % 3];
            inertia[3 + a] = -second[3 + a];
        }
        lattice->part[n].inertia = lmi_symmetric_determinant(inertia);
    }
}

/* Whether the masses are the volumes around the particles, but for a factor and rounding. Then their ratios are known
 * exactly, and alike in all bodies of one shape, whatever their size and density: such bodies can be stepped side by side
 * (lattice/herd.h). `volumes` takes them, in units of the mean. */
static bool are_volumes(const lmi_body *body, float *volumes)
{
    double sum = 0.0;
    lmi_lattice_volumes(&body->lattice->shape, volumes);
    LMI_PARTICLES_EACH(body, n) { sum += volumes[n]; }
    LMI_PARTICLES_EACH(body, n)
    {
        if (!(fabs(body->mass[n] - volumes[n] * (body->total_mass / sum)) <= SAME_MASS * body->mass[n])) {
            return false;
        }
    }
    LMI_PARTICLES_EACH(body, n) { volumes[n] = (float)(volumes[n] * (body->particle_count / sum)); }
    return true;
}

bool lmi_lattice_body_derive_masses(lm_world *world, lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    float *volumes = lmi_allocate(&world->memory, body->place_count, sizeof *volumes);
    double middle[3] = {0}, sum = 0.0;
    if (!volumes) {
        return false;
    }
    body->total_mass = 0.0;
    LMI_PARTICLES_EACH(body, n) { body->total_mass += body->mass[n]; }
    body->mean_mass = body->total_mass / body->particle_count;
    lattice->by_volume = are_volumes(body, volumes);
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        double mass = lattice->by_volume ? volumes[n] : body->mass[n];
        lmi_lattice_corner(&lattice->shape, n, corner);
        sum += mass;
        for (int a = 0; a < 3; a++) {
            middle[a] += corner[a] * mass;
        }
        body->v[(size_t)n * 4 + 3] = lattice->by_volume ? volumes[n] : (float)(mass / body->mean_mass);
    }
    for (int a = 0; a < 3; a++) {
        lattice->middle[a] = (float)(middle[a] / sum);
    }
    lmi_lattice_body_rest_inertia(body);
    lmi_release(&world->memory, volumes, body->place_count, sizeof *volumes);
    return true;
}

/* Of a body in physical units. */
static double weight_of_held(const lmi_body *body, const lmi_lattice *shape, const bool *held, uint32_t place)
{
    uint32_t in[SIDE * SIDE * SIDE], count = lmi_lattice_region(shape, place, in);
    double mass = 0.0, of_held = 0.0, own = relative_mass(body, place);
    for (uint32_t k = 0; k < count; k++) {
        double m = relative_mass(body, in[k]);
        mass += m;
        of_held += held[in[k]] ? m : 0.0;
    }
    return own * fmin(lmi_elastic_hold(of_held > 0.0 ? of_held / mass : 1.0), LMI_MOST_HELD);
}

void lmi_lattice_body_weights(const lmi_body *body, const lmi_lattice *shape, const bool *held, double *weights)
{
    const double most = fmin(LMI_MOST_HELD, body->total_mass / body->mean_mass);
    const bool elastic = lmi_is_elastic(&body->material);
    LMI_PARTICLES_EACH(body, n)
    {
        double mass = relative_mass(body, n);
        if (held && held[n]) {
            mass = elastic ? weight_of_held(body, shape, held, n) : fmax(mass, most);
        }
        weights[n] = (double)(float)(mass / shape->degree[n]);
    }
}

bool lmi_lattice_body_weigh(lm_world *world, lmi_body *body, const bool *held)
{
    body->elastic = lmi_is_elastic(&body->material);
    lmi_lattice *l = &body->lattice->shape;
    double *weights = lmi_allocate(&world->memory, body->place_count, sizeof *weights);
    float *shares = lmi_allocate(&world->memory, body->stiffness ? body->place_count : 0, sizeof *shares);
    bool ok = weights && shares;
    if (ok && body->stiffness) {
        lmi_lattice_stiffness_by_place(body, shares);
    }
    if (ok) {
        lmi_lattice_body_weights(body, l, held, weights);
    }
    ok = ok && lmi_lattice_weigh(&world->memory, l, weights, body->stiffness ? shares : NULL,
                                 lmi_lattice_wants_of(&body->material, body->plastic_material || body->examples));
    if (ok) {
        LMI_PARTICLES_EACH(body, n) { body->x[(size_t)n * 4 + 3] = (float)weights[n]; }
        if (body->examples) {
            lmi_examples_read(body->examples, body->examples->weights);
            lmi_examples_measure(body, NULL);
        }
    }
    lmi_release(&world->memory, weights, body->place_count, sizeof *weights);
    lmi_release(&world->memory, shares, body->stiffness ? body->place_count : 0, sizeof *shares);
    return ok;
}

/* ---- masses ----
 *
 * Masses of a lattice's particles: the volume around each, and values from the vertices of the mesh.
 */

/* The cells whose lowest corners are in the block that has a corner. */
static uint32_t cells_at(const lmi_lattice *l, int32_t x, int32_t y, int32_t z)
{
    uint32_t block = lmi_lattice_find_block(l, x, y, z);
    return block == LMI_LATTICE_NONE ? 0u : l->cell[block];
}

/* Which cells of a block have no neighbour below and above along each axis. */
static void find_bare(const lmi_lattice *l, uint32_t block, uint32_t bare[3][2])
{
    const int32_t *at = l->at[block];
    uint32_t cells = l->cell[block];
    bare[0][0] = ~(cells << 1 | cells_at(l, at[0] - LMI_BLOCK, at[1], at[2]) >> (LMI_BLOCK - 1));
    bare[0][1] = ~(cells >> 1 | cells_at(l, at[0] + LMI_BLOCK, at[1], at[2]) << (LMI_BLOCK - 1));
    for (int side = 0; side < 2; side++) {
        int32_t to = 2 * side - 1;
        bare[1][side] = ~cells_at(l, at[0], at[1] + to, at[2]);
        bare[2][side] = ~cells_at(l, at[0], at[1], at[2] + to);
    }
}

/* What the cells of a block give to their corners in one row of corners, (dy, dz) from their lowest. */
static void give_row(const lmi_lattice *l, uint32_t block, const uint32_t bare[3][2], int32_t dy, int32_t dz,
                     float *volumes)
{
    const int32_t *at = l->at[block];
    float *here = volumes + (size_t)lmi_lattice_find_block(l, at[0], at[1] + dy, at[2] + dz) * LMI_BLOCK;
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        if (!(l->cell[block] >> lane & 1)) {
            continue;
        }
        int32_t d[3] = {0, dy, dz}, sixths = 6;
        for (int a = 1; a < 3; a++) {
            sixths += (int32_t)(bare[a][!d[a]] >> lane & 1) - (int32_t)(bare[a][d[a]] >> lane & 1);
        }
        int32_t along = (int32_t)(bare[0][1] >> lane & 1) - (int32_t)(bare[0][0] >> lane & 1);
        float *next = here + lane + 1;
        if (lane + 1 == LMI_BLOCK) {
            uint32_t beyond = lmi_lattice_find_block(l, at[0] + LMI_BLOCK, at[1] + dy, at[2] + dz);
            next = volumes + (size_t)beyond * LMI_BLOCK;
        }
        here[lane] += (float)(sixths + along);
        *next += (float)(sixths - along);
    }
}

void lmi_lattice_volumes(const lmi_lattice *l, float *volumes)
{
    for (size_t n = 0; n < ((size_t)l->block_count + 1) * LMI_BLOCK; n++) {
        volumes[n] = 0.0f;
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        uint32_t bare[3][2];
        if (l->cell[block]) {
            find_bare(l, block, bare);
            for (int32_t n = 0; n < 4; n++) {
                give_row(l, block, (const uint32_t(*)[2])bare, n % 2, n / 2, volumes);
            }
        }
    }
}

bool lmi_lattice_multiply_nearest(lmi_memory *memory, const lmi_lattice *l, const lm_vec3 *vertices,
                                  const float *of_vertices, uint32_t vertex_count, float *values)
{
    lmi_nearest t;
    bool ok = lmi_nearest_make_from(&t, memory, vertices, vertex_count);
    for (uint32_t n = 0, last = 0; ok && n < l->block_count * LMI_BLOCK; n++) {
        if (l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) {
            last = lmi_nearest_after(&t, vertices, lmi_lattice_rest(l, n), last);
            values[n] *= of_vertices[last];
        }
    }
    lmi_nearest_free(&t);
    return ok;
}
