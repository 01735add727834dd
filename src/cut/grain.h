/*
 * The grain of a body of clusters or tetrahedra: what is connected in it, once a blade has cut it.
 *
 * Particles are joined by bonds: the edges of tetrahedra, or in clusters the nearest particles of the same region, with as many
 * more as it takes for every region to be connected. A blade cuts the bonds that it crosses where the body is now. A region
 * whose particles are no longer connected by bonds between them falls into as many regions as there are parts; each keeps
 * the rotation and the lasting deformation of the one that it was part of. A particle is in as many regions after a cut as
 * before, so that particles keep their places, and with them their pins, drags and forces.
 *
 * The inside of a skin is filled with voxels, and the links between them are cut as those of an octree are
 * (octree/octree_blade.h): the skin opens between voxels, on the blade, and closes on both sides. Every voxel belongs to a
 * particle, the first that links lead to; a vertex rides on what bonds lead to from the particle of its voxel, and so never
 * across a cut. A sliver that a blade cuts off without a particle in it would have nothing to ride on: it stays where it was.
 */
#ifndef LMI_GRAIN_H
#define LMI_GRAIN_H

#include "geometry/blade.h"
#include "octree/octree_blade.h"
#include "octree/octree_body.h"

/* Two particles by their places, the lower first. */
typedef struct lmi_bond {
    uint32_t a, b;
    bool cut;
} lmi_bond;

/* What bonds and regions each particle has, by place: offsets into lists. */
typedef struct lmi_grain_index {
    uint32_t *bond_offsets, *neighbours; /* those that whole bonds lead to */
    uint32_t *region_offsets, *regions;
    uint32_t particle_count, bond_count, region_count, membership_count;
} lmi_grain_index;

typedef struct lmi_grain {
    lmi_bond *bonds; /* sorted, once each */
    uint32_t bond_count;
    uint32_t *origin; /* [regions] the region as it was before the first cut that each is part of */
    uint32_t region_count, origin_count;
    uint32_t particle_count;

    /* Follow from the bonds. */
    uint32_t *part; /* [particles] by place: what whole bonds join */
    uint32_t part_count;
    struct lmi_octree_part *parts; /* [parts] their motions in a substep */
    bool *calm;                    /* [particles] no bond is cut near it */
    lmi_grain_index index;

    /* Of a body with a skin; voxels are leaves of a tree without levels. */
    lmi_skin whole; /* as it was given, on what it rode then; without vertices: the body has no skin */
    lmi_octree tree;
    lmi_octree_shell *shell;
    uint32_t *seed;  /* [particles] the voxel that each is in, or that it can see */
    uint32_t *owner; /* [owner_count], the voxels: the particle, by place */
    uint32_t owner_count;
} lmi_grain;

/* A grain for a body that has none: all bonds, and voxels and seeds where it has a skin, whose copy it keeps. Null when out of
 * memory; `*fault` then has what is wrong where it is something else. A copy has bonds and seeds, and nothing else yet. */
lmi_grain *lmi_grain_make(lm_world *world, const lmi_body *body, const char **fault);
lmi_grain *lmi_grain_copy(lm_world *world, const lmi_grain *grain);

/* The grain of a body that has one, and a skin that came with it when it was split off: with voxels in that skin. Null as above. */
lmi_grain *lmi_grain_of_piece(lm_world *world, const lmi_body *body, const char **fault);
void lmi_grain_free(lm_world *world, lmi_grain *grain);

/* What follows from the bonds, of a body whose regions are these. False when out of memory. */
bool lmi_grain_derive(lm_world *world, lmi_grain *grain, const lmi_body *body);

/* grain_voxels.c: which particle each voxel of a tree belongs to. Links of `slashes` (or null) count as cut; those around what
 * has no particle are taken out of it. False when out of memory. */
bool lmi_grain_spread(lm_world *world, lmi_grain *grain, const lmi_octree *tree, const lmi_body *body,
                      lmi_slashes *slashes);

/* The tree, the seeds and the shell of a skin. LM_ERROR_MEMORY, or what else is wrong with the mesh. */
lm_result lmi_grain_fill(lm_world *world, lmi_grain *grain, const lmi_body *body, const lmi_skin *skin);

/* Nodes of a tree without levels whose voxels and links are there. False when out of memory. */
bool lmi_grain_grow(lm_world *world, lmi_octree *tree);

/* The particle that a point of the rest pose belongs to. */
uint32_t lmi_grain_particle_at(const lmi_body *body, lm_vec3 point);

/* Places of up to `most` particles around a point of the rest pose, nearest first: of those that bonds lead to from a particle
 * that it belongs to. Returns how many, at least one. */
uint32_t lmi_grain_around(const lmi_body *body, uint32_t particle, lm_vec3 point, uint32_t most, uint32_t *places);

/* A copy of a skin and what it rides on. False when out of memory. */
bool lmi_grain_keep_skin(lm_world *world, const lmi_skin *from, lmi_skin *to);

/* skin/skin_grain.c: the skin with the cuts of the body's grain. False when out of memory. */
bool lmi_grain_skin(lm_world *world, const lmi_body *body, lmi_skin *skin);

/* After a body that was cut got another skin: it is cut too. False when out of memory; then nothing has changed. */
bool lmi_grain_given_skin(lm_world *world, lmi_body *body);

/* octree/octree_parts.c: damps each part towards its own motion as a whole, where there are several. */
void lmi_grain_damp_parts(lmi_body *body);

#endif
