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
 * so that beta = 3 nu/(1 + nu) and omega² = E/((1 - 2 nu) rho <x²>), nearly. <x²> is each region's own: along its longest axis, because at
 * a surface a region is cut short across it and whole along it, and it is along it that bars and plates are strained; and at least
 * the mean over all directions about the particle that it is made around, because at a corner it is cut short along every axis
 * and would have to be several times as stiff as the rest. The pull of region r is alpha times square/<x²>_r; `square` of the body
 * is the least of them, so that no share is above 1. In a lattice the regions are the same cube nearly everywhere, and one
 * <x²>, that of the fullest, serves all.
 *
 * Regions that a surface cuts short resist strain across them less, and a change of volume too: with <x²> = l1 >= l2 >= l3 along
 * three axes the energy of a strain e is (1 - beta) sum l_k e_k² + beta (sum e_k)²/(sum 1/l_k). In a bar that is strained by 1, and
 * by x across, evenly in all its regions, with the means a of (l2 + l3)/2 l1 and k of 1/(l1 sum 1/l_k) over its regions,
 *
 *     E/E0 = min over x of (1 - beta) (1 + 2 a x²) + beta k (1 + 2 x)²
 *
 * which is 1 - 2 nu where all are whole. E0 is chosen by it. Bars of 6 to 12 cells and widths 1 to 4 have E within 1 % of that, and
 * nu as asked to 0.02.
 *
 * Beyond uniform strain. What a region's particles do beyond its best affine fit A (bending, in a region) should be resisted with E
 * and not with E0: beams would be stiffer than they are by the square of a region's width over that of their thickness, times
 * 1/(1 - 2 nu). So the goal is T q + 2 nu (p - A q) in place of T q: it exerts no force and no torque either, because sum m~ p and
 * sum m~ q are 0 and sum m~ (p - A q) q^T is 0. With T' = T + (T - A) 2 nu/(1 - 2 nu) that is
 *
 *     T q + 2 nu (p - A q) - p = (1 - 2 nu) (T' q - p)
 *
 * so that nothing changes but the region's transform and alpha, which becomes E h²/(rho <x²>).
 *
 * In a bent beam the two add up: a region measures the strain about its own middle, and its particles resist what is beyond. The
 * sum over all regions of M (middle² + <x²>) is the sum over all particles of m x²: the second moment of the beam, with masses
 * that are in points. That is too large where particles are at the corners of cells: linear elements of variance v (along an axis,
 * of the corners of one) have a second moment that is less by 4/5 v of each mass for tetrahedra (mean over those of a cell: s²/6), and
 * by s²/6 for the cells of a lattice. A beam of n cells was stiffer by 2/n². So what is beyond the fit is resisted with the share
 *
 *     spread = 1 - (what is too much)/<x²>
 *
 * of E: 3/4 for lattices of width 1, 11/12 of width 2, about 0.64 for tetrahedra. Octrees have their particles in the middle of
 * cells, where the error is half as large and of the other sign: 1.
 *
 * What a pin holds. A held particle weighs as if the body went on beyond it: twice its mass, so that a face that is held is a clamp
 * of beam theory. A few held particles weigh more, or the regions around would slip past them.
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

/* The resolved material of a body that is made: of a mesh of which nothing is said it is the default sag. */
lm_material lmi_material_of(const lm_body_def *def);

/* The volume, height and (of a lattice) <x²> of a body that was made, and its mass where the definition has a density. False
 * when out of memory. */
bool lmi_elastic_begin(lm_world *world, lmi_body *body, const lm_body_def *def);

/* Sums over the regions of a body of what body->across and body->swelling are the means of. */
typedef struct lmi_elastic_shape {
    double mass, across, bulk;
} lmi_elastic_shape;

void lmi_elastic_take_shape(lmi_body *body, const lmi_elastic_shape *shape);

/* <x²> of a region with this covariance about its centre of mass, which is `off` from the particle that it is made around. Adds it
 * to the shape. */
double lmi_elastic_square_of(const double covariance[9], lm_dvec3 off, double mass, lmi_elastic_shape *shape);

/* The same of a region that is a list of particles. */
double lmi_elastic_square(const lmi_body *body, uint32_t region, lmi_elastic_shape *shape);

/* `square` of a body whose regions were made: the least of theirs, but not far below their mean. Not for lattices. */
double lmi_elastic_least(const lmi_region *regions, uint32_t count);

/* The share of alpha with which a region pulls: that of lm_body_set_region_stiffness, and square/<x²>. */
static inline double lmi_region_share(const lmi_body *body, const lmi_region *regions, uint32_t r)
{
    double share = body->stiffness ? (double)body->stiffness[r] : 1.0;
    return body->elastic && regions[r].square > body->square ? share * (body->square / regions[r].square) : share;
}

/* Pascals; and what the material asks for, 1/s², of a region with <x²> = `square`. */
double lmi_elastic_young(const lmi_body *body);
double lmi_elastic_omega_squared(const lmi_body *body);

/* (T' - T)/(T - A) of the regions of a body, 0 where its material is not in physical units or not linear; and the share of what a
 * substep takes of a strain that is left as alpha, (1 - 2 nu) spread. */
float lmi_elastic_beyond(const lmi_body *body);
double lmi_elastic_ease(const lmi_body *body);

/* Finds the `spread` of a body of regions that are lists. */
void lmi_elastic_take_spread(lmi_body *body);

/* A pinned particle weighs at most this many times the mean in fits. More would make regions so slender that single precision
 * loses their other directions; a region is small, and this much holds it. */
#define LMI_MOST_HELD 1000.0

/* By how much more a held particle weighs in fits where `share` of the mass of its region is held. */
double lmi_elastic_hold(double share);

/* Into how many substeps the material wants `seconds` divided, of itself. */
uint32_t lmi_elastic_substeps(const lmi_body *body, double seconds);

/* Says once in the log when the substeps of a step of so many seconds do not reach what a material in physical units asks for, and what
 * would. */
void lmi_elastic_tell(const lm_world *world, lmi_body *body, double seconds);

/* 1/s: the slowest stretching of a body of this size and material that stands. Damping ratios refer to it. */
double lmi_elastic_pitch(const lmi_body *body);

#endif
