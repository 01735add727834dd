/*
 * How a body bears its own weight: the tall even column that would sink by the same share of its height.
 *
 * `sag` says by how much of its height a body sinks, not a column as tall as it: thin legs, stems and ankles bear what is above
 * them. The body is divided into layers. At height y there is the mass M(y) above, and the regions there have, for each metre of
 * height, the mass m(y) that resists being shortened and the second moment j(y) (across, the least) that resists being bent. With
 * e = E/rho the body sinks under g by
 *
 *     g/e times the integral of   M/m (1 + d² m/j)
 *
 * where d is how far the middle of what is above is aside of the middle of what bears it. An even column of height H has H²/2
 * for the integral, so the height of the column that sinks by the same share is 2/H times it, with the H of the particles.
 *
 * A slender body does not sink but buckle. Bent by its weight turned aside, it has curvatures k = L/j, where L(y) is the moment of
 * what is above, and slopes t, the integral of k; it buckles (Rayleigh) where e is below
 *
 *     g b,   b = integral of M t² / integral of j k²
 *
 * What is near to it sinks by 1/(1 - g b/e) times as much, so that e is the sum of what sinking and buckling ask for, and the column
 * taller by 2 sag b. Half of that is added, LMI_LOAD_SAFE b, whatever the sag, so that a body of the same shape keeps its
 * proportions of stiffness: all of it made infants and hands sink by half of the default sag, and none let them buckle.
 *
 * What bears: leaves beside a stem do not. The body is drawn into a coarse grid. The cells of a layer that are connected within it
 * are a section; from each section its weight and what it was given goes on to those above and below that are nearer to the
 * ground, by the area in which they meet. A section counts in m and j by the load that it bears for its size, over that of the
 * most loaded one of its layer.
 *
 * A region counts with the share of the stiffness that it has along the vertical: one that a surface cuts short there has less.
 * That is what makes a body of wide regions sink as far as one of small ones.
 *
 * Reads rest positions, masses and regions; everything in double precision and in one order.
 */
#ifndef LMI_LOAD_H
#define LMI_LOAD_H

#include "world/world.h"

#define LMI_LOAD_LAYERS 32 /* and cells of the grid across */
#define LMI_LOAD_SECTIONS 1024
#define LMI_LOAD_MEETINGS 4096

/* Column heights a metre of b; see above. Chosen by the shapes of test_defaults. */
#define LMI_LOAD_SAFE ((double)LM_DEFAULT_SAG)

/* The tallest column, in heights of the body: far beyond what substeps reach. Where hardly anything bears it would have no end. */
#define LMI_LOAD_MOST 1e4

/* What bears in a layer or in a section of one: its mass, and first and second moments. */
typedef struct lmi_bearing {
    double firm, x, z, xx, xz, zz;
} lmi_bearing;

typedef struct lmi_section {
    uint16_t layer, far; /* sections from the ground */
    double load, passed; /* mass that comes through it; area in which it meets those it goes to */
    lmi_bearing bearing;
} lmi_section;

typedef struct lmi_meeting {
    uint16_t lower, upper;
    double area;
} lmi_meeting;

typedef struct lmi_load {
    dmat3 rotation;        /* from rest to the world, where y is up */
    lm_dvec3 lower, upper; /* of the particles */
    double regions;        /* their mass in all: it stands for that of the particles */
    uint32_t section_count, meeting_count;
    double mass[LMI_LOAD_LAYERS], x[LMI_LOAD_LAYERS], z[LMI_LOAD_LAYERS]; /* of the particles, with first moments */
    lmi_section sections[LMI_LOAD_SECTIONS];
    lmi_meeting meetings[LMI_LOAD_MEETINGS];
    uint16_t cells[LMI_LOAD_LAYERS][LMI_LOAD_LAYERS][LMI_LOAD_LAYERS]; /* y, z, x: 0, or 1 + its section */
} lmi_load;

/* Begins with the particles of a body, which has a height above 0. `volume` is that which they stand for. */
void lmi_load_begin(lmi_load *load, const lmi_body *body, const dmat3 *rotation, double volume);

/* Adds a region of this mass with its centre and covariance in the rest frame; `whole` is <x²> of one that nothing cuts short. */
void lmi_load_add(lmi_load *load, double mass, lm_dvec3 centre, const double covariance[9], double whole);

/* The height of the column, at most LMI_LOAD_MOST times that of the body (`height`), which it is where nothing can be said. */
double lmi_load_column(lmi_load *load, double height);

#endif
