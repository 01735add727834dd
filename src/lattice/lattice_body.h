/*
 * Bodies that are lattices: what such a body has, how it is made, and what follows from its masses and its material.
 */
#ifndef LMI_LATTICE_BODY_H
#define LMI_LATTICE_BODY_H

#include "lattice/lattice_step.h"
#include "world/world.h"

#define LMI_LATTICE_SAMPLES 8

/* A connected part of a lattice. */
typedef struct lmi_lattice_part {
    lmi_motion motion; /* in this substep */
    lm_vec3 drift_centre, drift_velocity,
        drift_spin;                       /* state: rigid motion that the last sweep gave it and should not */
    lm_dvec3 owed_momentum, owed_angular; /* state: what is still to be taken back, relative mass */
    lm_vec3 lower, upper;                 /* state: bounds, as in lmi_body */
    double inertia;                       /* determinant of the rest shape's, relative mass */
    uint32_t reference;                   /* place of a particle that its sums are taken from */
    lm_vec3 first, from;                  /* position and velocity of that, while predict sums */
    double sums[16];
} lmi_lattice_part;

/* What a body has that is a lattice. Its regions are not among the body's own: region_count is 0. */
typedef struct lmi_lattice_body {
    lmi_lattice shape;
    dmat3 frame;        /* state: the rotation of the body as a whole, from the lattice's axes to the world */
    float middle[3];    /* corner at the centre of mass, in spacings */
    bool by_volume;     /* masses are the volumes around the particles */
    float width_metres; /* as in the definition; 0: the width is given in steps */
    uint32_t samples[LMI_LATTICE_SAMPLES]; /* particles far out, from which the frame is found */
    lmi_lattice_part *part;                /* [parts] */
    lmi_lattice_motion *motion;            /* [parts] of this substep, as sweeps read it */
    lmi_lattice_plastic plastic;           /* arrays: null where nothing has flowed or may */
    float *velocity_moments;               /* [irregular + 1][LMI_BLOCK], null: no regional damping so far */
    bool swept;                            /* in this substep: it was moved by sweeps */
    uint32_t herd;                         /* of its batch, or LMI_NONE */
    bool herded;                           /* in this substep: it was moved with its herd */
    lmi_lattice_step step;
    lmi_lattice_sums *sums; /* [2][parts of each slab] of this substep's sweeps, then of what they left */
} lmi_lattice_body;

/* Where a sweep of a slab, or what comes after (`left`), puts the sums of its parts. */
static inline lmi_lattice_sums *lmi_lattice_sums_of(const lmi_lattice_body *lattice, uint32_t slab, bool left)
{
    const lmi_lattice *l = &lattice->shape;
    uint32_t all = lmi_lattice_slab_parts(l, l->slab_count);
    return lattice->sums + (left ? all : 0) + lmi_lattice_slab_parts(l, slab);
}

/* The connected part of a lattice that a particle belongs to. */
static inline uint32_t lmi_lattice_part_of(const lmi_body *body, uint32_t place)
{
    const lmi_lattice *l = &body->lattice->shape;
    return l->part ? l->part[place] : 0;
}

/* Which constants of regions a material wants. */
static inline lmi_lattice_wants lmi_lattice_wants_of(const lm_material *material, bool plastic)
{
    lmi_lattice_wants wants = {material->mode == LM_MODE_LINEAR,
                               plastic || material->damping_kind == LM_DAMPING_REGIONAL};
    return wants;
}

/* lattice_weights.c: masses as the definition has them; what follows from masses (false when out of memory); and from them
 * and pins the weights in fits (the same), `held` by place, or null. */
lm_result lmi_lattice_body_spread_mass(lm_world *world, lmi_body *body, const lm_body_def *def);
bool lmi_lattice_body_derive_masses(lm_world *world, lmi_body *body);
bool lmi_lattice_body_weigh(lm_world *world, lmi_body *body, const bool *held);
/* The weights alone, for the shape as it is or is to be; `weights` by place. */
void lmi_lattice_body_weights(const lmi_body *body, const lmi_lattice *shape, const bool *held, double *weights);
void lmi_lattice_body_rest_inertia(lmi_body *body); /* of its parts */

/* lattice_body.c */
lm_result lmi_lattice_body_make(lm_world *world, lmi_body *body, const lm_body_def *def);
/* The arrays of a body on these cells, with particles numbered; what a snapshot holds is still to come. */
lm_result lmi_lattice_body_allocate(lm_world *world, lmi_body *body, const lmi_voxels *cells, uint32_t width);

/* The first particle of each part, and samples from the largest one; the parts' sums are zero. */
void lmi_lattice_body_start_parts(lmi_body *body);
/* Elements of lmi_lattice_body.sums. */
static inline size_t lmi_lattice_sums_count(const lmi_lattice *l)
{
    return 2 * (size_t)lmi_lattice_slab_parts(l, l->slab_count);
}

/* After masses, positions and pins were read: everything else. False when out of memory. */
bool lmi_lattice_body_revive(lm_world *world, lmi_body *body, const bool *held);
void lmi_lattice_body_free(lm_world *world, lmi_body *body);
double
lmi_lattice_body_pace(const lmi_body *body); /* frequency of a region as a share of the material's; 1 for clusters */
const char *lmi_lattice_body_fault(const lm_material *material); /* why lattices cannot have such a material, or null */

/* Room for what a material wants and the body does not have yet. On failure it has what it had. */
bool lmi_lattice_body_allocate_extras(lm_world *world, lmi_body *body, const lm_material *material);

/* Memory and constants for what another material wants besides the body's own; false when out of memory, then nothing has
 * changed. */
bool lmi_lattice_body_equip(lm_world *world, lmi_body *body, const lm_material *material);

/* The lasting deformation of the region around a place, 6 floats LMI_BLOCK apart along the lattice's axes; null: none. */
float *lmi_lattice_body_plastic(const lmi_body *body, uint32_t place);
void lmi_lattice_body_get_plastic(const lmi_body *body, float *matrices);
void lmi_lattice_body_reset_plastic(lmi_body *body);
void lmi_lattice_body_find_flowed(lmi_body *body); /* which blocks have flowed, after their state was read */

#endif
