/*
 * The skin of an octree that was cut: opened along the faces of voxels whose link a blade has cut, each side closed by an inner
 * face that lies on the blade.
 */
#ifndef LMI_SKIN_OCTREE_CUT_H
#define LMI_SKIN_OCTREE_CUT_H

#include "octree_body.h"
#include "sample/cut.h"

/* A skin made ready to be cut. It follows from the voxels and the skin alone, so that it outlasts all cuts. */
struct lmi_octree_shell {
    lmi_skin whole;    /* as it was given: vertices and triangles */
    lmi_lattice boxes; /* a lattice whose corners are the middles of voxels: its boxes are the voxels */
    lmi_cut *cut;      /* that skin, divided along the faces of voxels */
    lm_vec3 *normals;  /* [cut->vertex_count] of the surface, by the first vertex at a place */
    uint32_t *
        shown; /* [cut->vertex_count] its vertex in the skin that is shown, where nothing is cut around it; else NONE */
};

/* What a skin was before a cut, and which of its leaves are the same now. */
typedef struct lmi_octree_earlier {
    const lmi_skin *skin;
    const uint32_t *shown; /* of that skin */
    const uint32_t *then;  /* [leaves] the same leaf before, if all around it is the same too; else LMI_OCTREE_NONE */
    const uint32_t *now;   /* [leaves before] the same leaf now, or LMI_OCTREE_NONE */
} lmi_octree_earlier;

/* Null when out of memory. */
lmi_octree_shell *lmi_octree_shell_make(lm_world *world, const lmi_octree *tree, const lmi_skin *given);
void lmi_octree_shell_free(lm_world *world, lmi_octree_shell *shell);

/* The skin with the cuts of the body's tree, and `shown` for it, which the caller makes the shell's. `earlier` (or null) saves
 * time and changes nothing. False when out of memory. */
bool lmi_octree_shell_skin(lm_world *world, const lmi_body *body, const lmi_octree_shell *shell,
                           const lmi_octree_earlier *earlier, lmi_skin *skin, uint32_t **shown);
void lmi_octree_shell_show(lm_world *world, lmi_octree_shell *shell, uint32_t *shown);

/* After a body that was cut got another skin: it is cut too. False when out of memory; then nothing has changed. */
bool lmi_octree_cut_given_skin(lm_world *world, lmi_body *body);

#endif
