/*
 * Young's modulus, Poisson's ratio and sag: what a material given in physical units asks of the regions of a body.
 *
 * A uniform strain e makes the particles of a region deviate from the best rigid fit by e q, with a mean square of e² <x²>
 * along an axis. In a body whose regions overlap densely (lattice, octree, one-rings) their energy is that of an isotropic
 * solid of density rho:
 *
 *     rigid mode     E0 = rho omega² <x²>,   nu = 0
 *     linear mode    nu = beta/(3 - beta),   E = E0 (1 - 2 nu)
 *
 * so that beta = 3 nu/(1 + nu) and omega² = E/((1 - 2 nu) rho <x²>). <x²> is each region's own: along its longest axis, because at
 * a surface a region is cut short across it and whole along it, and it is along it that bars and plates are strained; and at least
 * the mean over all directions about the particle that it is made around, because at a corner it is cut short along every axis
 * and would have to be several times as stiff as the rest. The pull of region r is alpha times square/<x²>_r; `square` of the body
 * is the least of them, so that no share is above 1. In a lattice the regions are the same cube nearly everywhere, and one
 * <x²>, that of the fullest, serves all.
 *
 * Uses the rest shape, masses without pins, and the density, which is that of the mesh where it encloses a volume: the cells of
 * a lattice stand out beyond it.
 */
#ifndef LMI_ELASTIC_H
#define LMI_ELASTIC_H

#include "world/world.h"

/* Which of hertz, alpha, young and sag counts. */
lm_stiffness lmi_stiffness_of(const lm_material *material);

/* Hertz of a material that gives nothing else: 8 where it gives nothing at all. */
double lmi_material_hertz(const lm_material *material);

/* Whether it is given in physical units: young or sag. */
bool lmi_is_elastic(const lm_material *material);

/* What follows from other values of the material: beta from poisson. */
lm_material lmi_material_resolved(const lm_material *material);

/* The volume, height and (of a lattice) <x²> of a body that was made, and its mass where the definition has a density. False
 * when out of memory. */
bool lmi_elastic_begin(lm_world *world, lmi_body *body, const lm_body_def *def);

/* <x²> of a region with this covariance about its centre of mass, which is `off` from the particle that it is made around. */
double lmi_elastic_square_of(const double covariance[9], lm_dvec3 off);

/* The same of a region that is a list of particles. */
double lmi_elastic_square(const lmi_body *body, uint32_t region);

/* `square` of a body whose regions were made: the least of theirs. Not for lattices. */
double lmi_elastic_least(const lmi_region *regions, uint32_t count);

/* The share of alpha with which a region pulls: that of lm_body_set_region_stiffness, and square/<x²>. */
static inline double lmi_region_share(const lmi_body *body, const lmi_region *regions, uint32_t r)
{
    double share = body->stiffness ? (double)body->stiffness[r] : 1.0;
    return body->elastic && regions[r].square > 0.0 ? share * (body->square / regions[r].square) : share;
}

/* Pascals; and what the material asks for, 1/s², of a region with <x²> = `square`. */
double lmi_elastic_young(const lmi_body *body);
double lmi_elastic_omega_squared(const lmi_body *body);

/* Says once in the log when a substep does not reach what a material in physical units asks for, and what would. */
void lmi_elastic_tell(const lm_world *world, lmi_body *body);

/* 1/s: the slowest stretching of a body of this size and material. Damping ratios refer to it. */
double lmi_elastic_pitch(const lmi_body *body);

#endif
