#include "octree/embed_octree.h"

uint32_t lmi_octree_leaf_at(const lmi_octree *t, lm_vec3 point)
{
    uint32_t cell[3];
    lmi_voxels_locate(&t->voxels, dvec_from(point), cell);
    uint32_t voxel = lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
    return t->nodes[t->owner[voxel]].leaf;
}

double lmi_octree_mean_side(const lmi_body *body)
{
    const lmi_octree *t = &body->octree->tree;
    double sum = 0.0;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        sum += (double)(1u << t->nodes[t->leaves[leaf]].level);
    }
    return t->voxels.spacing * sum / t->leaf_count;
}
