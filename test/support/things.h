/*
 * Boxes and balls of every sampling, for tests of contacts. Needs the shapes.
 */
#ifndef LIMBER_TEST_THINGS_H
#define LIMBER_TEST_THINGS_H

#include "test/support/support.h"

typedef enum sampling {
    CLUSTERS, /* particles touch */
    SKINNED,  /* clusters of inner particles, whose skin touches */
    LATTICE,  /* a coarse one, whose mesh touches */
    FINE,     /* a finer one */
    TETS,     /* tetrahedra, whose skin touches */
    OCTREE,   /* cells of two sizes, whose mesh touches */
    SAMPLINGS
} sampling;

extern const char *const sampling_names[SAMPLINGS];

/* What touches what; `mask` as in lm_body_def. */
typedef struct thing_def {
    sampling kind;
    const char *shape; /* of the library of shapes */
    lm_vec3 size;
    lm_pose pose;
    lm_vec3 velocity, spin;
    lm_material material;
    float mass;
    uint32_t mask;
    bool self_contact;
    float penalty;
} thing_def;

/* A box of a metre that weighs two kilograms. */
thing_def thing_default(sampling kind);
lm_body_id thing_make(lm_world *world, const thing_def *def);

/* The same with few words. */
lm_body_id add_thing(lm_world *world, sampling kind, const char *shape, lm_vec3 size, lm_pose pose,
                     const lm_material *material, lm_vec3 velocity);

lm_material stiff_material(double friction, double restitution);
lm_material soft_material(double friction, double restitution);

#endif
