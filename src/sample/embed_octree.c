#include "sample/embed_octree.h"

/* Leaves that are looked at around a point, at most: its neighbours and theirs where cells are of one size. */
#define MOST_SEEN 192u
#define BUCKETS 512u

/* Leaves in the order in which neighbours lead to them. */
typedef struct walk {
    uint32_t leaves[MOST_SEEN];
    uint16_t bucket[BUCKETS]; /* one more than where the leaf is in the list; 0: none */
    uint32_t count;
} walk;

static void visit(walk *w, uint32_t leaf)
{
    uint32_t at = leaf * 0x9e3779b1u >> 23;
    while (w->bucket[at]) {
        if (w->leaves[w->bucket[at] - 1] == leaf) {
            return;
        }
        at = (at + 1) % BUCKETS;
    }
    if (w->count < MOST_SEEN) {
        w->leaves[w->count++] = leaf;
        w->bucket[at] = (uint16_t)w->count;
    }
}

uint32_t lmi_octree_leaf_at(const lmi_octree *t, lm_vec3 point)
{
    uint32_t cell[3];
    lmi_voxels_locate(&t->voxels, dvec_from(point), cell);
    uint32_t voxel = lmi_octree_voxel(t, cell[0], cell[1], cell[2]);
    return t->nodes[t->owner[voxel]].leaf;
}

uint32_t lmi_octree_surroundings(const lmi_body *body, lm_vec3 point, uint32_t most, uint32_t *places)
{
    const lmi_octree *t = &body->octree->tree;
    walk w = {.count = 0};
    visit(&w, lmi_octree_leaf_at(t, point));
    for (uint32_t n = 0; n < w.count; n++) {
        for (uint32_t k = t->neighbours.offsets[w.leaves[n]]; k < t->neighbours.offsets[w.leaves[n] + 1]; k++) {
            visit(&w, t->neighbours.items[k]);
        }
    }
    double squares[MOST_SEEN];
    uint32_t count = 0;
    for (uint32_t n = 0; n < w.count; n++) {
        uint32_t place = body->place[w.leaves[n]];
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[place]), dvec_from(point));
        double square = dvec_dot(d, d);
        if (count == most && square >= squares[count - 1]) {
            continue;
        }
        uint32_t at = count < most ? count++ : most - 1;
        for (; at > 0 && square < squares[at - 1]; at--) {
            squares[at] = squares[at - 1];
            places[at] = places[at - 1];
        }
        squares[at] = square;
        places[at] = place;
    }
    return count;
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
