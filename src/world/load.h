/*
 * How a body bears its own weight: the tall even column that would sink by the same share of its height.
 *
 * `sag` says by how much of its height a body sinks, not a column as tall as it: thin legs, stems and ankles bear what is above them,
 * lean where that is aside, and buckle. The body is drawn into a coarse grid; the cells of a layer that are connected within it
 * are a section. From each section its weight and what it was given goes on to those above and below that are nearer to the
 * ground, by the area in which they meet, with its first moments. So sections are a frame of beams. With e = E/rho a
 * section of height dy, firmness m and second moments j (across; both for each metre of height) under a mass M of which the middle is d
 * aside
 *
 *     is shortened by M g/(m e) dy        turns by M g j^-1 d/e dy
 *
 * and what stands on it sinks, leans and moves aside with it. Where legs stand apart, what would turn what is on them presses one
 * and pulls another instead. From the ground to the top that gives what a body sinks by: `sinks` and `tips` (it
 * turns about what bears it), both g/e times something, and the `steep`ness of what leans, g²/e² times something.
 *
 * Moved aside, a body is bent by its own weight once more. The largest share b g/e of a sideways shape that comes back is found by
 * iteration: below e = g b the body buckles, and what is near to that leans 1/(1 - g b/e) times as far. (Of columns of 3,000
 * particles b is 8 to 10 % too small in lattices and tetrahedra.) So e follows from
 *
 *     share of the height = g sinks/e + g tips/(e - g b) + g² steep/(e - g b)²          e >= LMI_LOAD_SAFE g b
 *
 * and the column is that of LM_DEFAULT_SAG, whatever the sag: a body of the same shape keeps its proportions of stiffness.
 *
 * What bears. The mass of a section is that of its tetrahedra, or of its particles as the cells they stand for; a section's own second
 * moment too. Its regions count with the share of the stiffness that they have along the vertical: one that a surface cuts
 * short there has less. That is what makes a body of wide regions sink as far as one of small ones. Of octrees, where every region
 * is as stiff as the others whatever its size, what touches the ground is pressed in besides: a cell of side s that carries M in a
 * region of <x²> gives way by M g <x²>/(e m s).
 *
 * Reads rest positions, masses and regions; everything in double precision and in one order.
 */
#ifndef LMI_LOAD_H
#define LMI_LOAD_H

#include "world/world.h"

#define LMI_LOAD_LAYERS 32 /* and cells of the grid across */
#define LMI_LOAD_SECTIONS 1024
#define LMI_LOAD_MEETINGS 4096

/* The least e over that at which a body buckles. Chosen: with 1.2 octrees of infants, whose ankles are narrower than regions, fall over. */
#define LMI_LOAD_SAFE (getenv("SF") ? atof(getenv("SF")) : 1.4)

/* The tallest column, in heights of the body: far beyond what substeps reach. Where hardly anything bears it would have no end. */
#define LMI_LOAD_MOST 1e4

/* What of a layer is connected within it. */
typedef struct lmi_section {
    uint16_t layer, far; /* sections from the ground */
    bool stands;         /* on others; else it hangs */
    double mass, middle[2], firm,
        j[3];           /* middle across; of what bears, for each metre: mass, second moments xx, xz, zz */
    double foot[2], slope[2];
    double side, gives; /* of its cells: side times mass; what it gives way where it touches the ground */
    double seen, tall;  /* of its regions: mass, and <x²> along the vertical times it */
    double passed, meets[2], tied[2], bends[2];   /* how it meets those that bear it */
    double load, moment[2], at[2];                /* mass that comes through it, with its first moment; where it is */
    double sinks, tips, steep, lean[2], aside[2]; /* what becomes of it where e/g is 1 */
} lmi_section;

typedef struct lmi_meeting {
    uint16_t lower, upper;
    double area, at[2];
} lmi_meeting;

struct lmi_limbs;

typedef struct lmi_load {
    struct lmi_limbs *limbs; /* what reaches out aside (limb.h) */
    dmat3 rotation;        /* from rest to the world, where y is up */
    lm_dvec3 lower, upper; /* of the particles */
    double bent;
    double spread, spacing, volume; /* of the body; spacing: of a lattice, else 0 */
    bool dents;            /* what touches the ground is pressed in */
    double half, own;      /* of particles, see load.c */
    uint32_t section_count, meeting_count;
    lmi_section sections[LMI_LOAD_SECTIONS];
    lmi_meeting meetings[LMI_LOAD_MEETINGS];
    uint16_t cells[LMI_LOAD_LAYERS][LMI_LOAD_LAYERS][LMI_LOAD_LAYERS]; /* y, z, x: 0, or 1 + its section */
} lmi_load;

/* Begins with the particles of a body, which has a height above 0. `volume` is that which they stand for. */
void lmi_load_begin(lmi_load *load, struct lmi_limbs *limbs, const lmi_body *body, const dmat3 *rotation, double volume);

/* Adds a region of this mass with its centre and covariance in the rest frame; `whole` is <x²> of one that nothing cuts short. */
void lmi_load_add(lmi_load *load, double mass, lm_dvec3 centre, const double covariance[9], double whole);

/* The height of the column, at most LMI_LOAD_MOST times that of the body (`height`), which it is where nothing can be said. */
double lmi_load_column(lmi_load *load, double height);

#endif
