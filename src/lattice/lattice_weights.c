/*
 * The masses of a lattice's particles, and what follows from them: the middle, the inertia of the parts, the weights in fits.
 */
#include "base/guard.h"
#include "lattice/lattice_mass.h"
#include "lattice/lattice_members.h"
#include "match/examples.h"
#include "world/body.h"
#include "world/motion.h"

#include <string.h>

/* A pinned particle weighs at most this many times the mean in the fit. More would make regions so slender that single
 * precision loses their other directions; a region is small, and this much holds it. */
#define MOST_HELD 1000.0

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

void lmi_lattice_body_weights(const lmi_body *body, const lmi_lattice *shape, const bool *held, double *weights)
{
    const double most = fmin(MOST_HELD, body->total_mass / body->mean_mass);
    LMI_PARTICLES_EACH(body, n)
    {
        double mass = relative_mass(body, n);
        mass = held && held[n] ? fmax(mass, most) : mass;
        weights[n] = (double)(float)(mass / shape->degree[n]);
    }
}

bool lmi_lattice_body_weigh(lm_world *world, lmi_body *body, const bool *held)
{
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
