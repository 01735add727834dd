/*
 * A body that is made of some particles of another, which nothing joins to the rest of it: one or several of its pieces.
 *
 * Particles keep their state to the bit, and their order among themselves. What a sampling is made from is filtered (cells, voxels, regions),
 * and all else follows from it as it does when a body is loaded. The skin is what is shown of these pieces: it becomes the skin that the
 * body was given, and so does what a blade cut into it. Links that are cut inside of a piece stay cut; in an octree they become gaps as
 * those between two fingers, on either side of which the skin is there already.
 */
#ifndef LMI_PIECE_H
#define LMI_PIECE_H

#include "octree/octree_body.h"

typedef struct lmi_piece {
    lm_world *world;
    const lmi_body *from;
    const uint32_t *group; /* [places of `from`] the body that each particle goes to */
    const bool *held;      /* [places of `from`] by pins that nothing pushes and that go along */
    uint32_t which;        /* of these bodies the one that is made */
    lmi_body *to;          /* it */
    uint32_t count;        /* particles */
    double share;          /* of the mass */
    uint32_t *now;         /* [places of `from`] the place in the new body, or LMI_NONE */
    uint32_t *region;      /* [regions of `from`] the region in it, or LMI_NONE */
} lmi_piece;

static inline bool lmi_piece_has(const lmi_piece *p, uint32_t place) { return p->group[place] == p->which; }

/* Makes *to, which is in no batch and not among the bodies of the world; on failure there is none. LM_ERROR_MEMORY, LM_ERROR_LIMIT. */
lm_result lmi_piece_make(lmi_piece *piece);

/* piece_lattice.c, piece_octree.c: the particles of the new body and what they are made from; *to is a copy of the struct that has
 * forgotten what belongs to the other body. Then what follows from masses. */
lm_result lmi_piece_lattice(lmi_piece *piece);
bool lmi_piece_lattice_weigh(lmi_piece *piece, const bool *held);
lm_result lmi_piece_octree(lmi_piece *piece);

/* piece_skin.c: the skin, if there is one. */
bool lmi_piece_skin(lmi_piece *piece);

/* The state of a particle, and of a region that is not a lattice's. */
void lmi_piece_copy_particle(const lmi_piece *piece, uint32_t place);
void lmi_piece_copy_region(const lmi_piece *piece, uint32_t region);

#endif
