/*
 * The rest constants of an octree's regions, found the way the sums are made: nodes from their children, regions from their
 * summation nodes.
 *
 * A region counts with the mass of its own leaf, m_r, so that many small leaves do not outweigh a large one. A leaf is in
 * regions of the mass W_i = sum of m_r; its goal is the mean of theirs, and it weighs m_i / W_i in each fit. Then the pulls
 * of a region add up to nothing, and so do all of them, however regions and cell sizes vary. (Fits with m_i, as in the paper,
 * lose momentum wherever W_i varies. Clusters are the case in which every region counts 1.)
 */
#include "octree/octree_body.h"

bool lmi_octree_region_mass(const lmi_octree *t, lmi_memory *memory, const double *mass, double *sums)
{
    double *of_node = lmi_allocate(memory, t->node_count, sizeof *of_node);
    if (!of_node) {
        return false;
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        for (uint32_t n = t->regions.offsets[leaf]; n < t->regions.offsets[leaf + 1]; n++) {
            of_node[t->regions.items[n]] += mass[leaf];
        }
    }
    for (uint32_t n = 0; n < t->node_count; n++) { /* parents come before their children */
        const lmi_octree_node *node = &t->nodes[n];
        of_node[n] += node->parent == LMI_OCTREE_NONE ? 0.0 : of_node[node->parent];
        if (node->leaf != LMI_OCTREE_NONE) {
            sums[node->leaf] = of_node[n];
        }
    }
    lmi_release(memory, of_node, t->node_count, sizeof *of_node);
    return true;
}

/* Adds what a node has about another centre. */
static void add_second(const lmi_octree_rest *from, lm_dvec3 centre, double second[6])
{
    lm_dvec3 d = dvec_sub(from->centre, centre);
    second[0] += from->second[0] + from->weight * d.x * d.x;
    second[1] += from->second[1] + from->weight * d.y * d.y;
    second[2] += from->second[2] + from->weight * d.z * d.z;
    second[3] += from->second[3] + from->weight * d.x * d.y;
    second[4] += from->second[4] + from->weight * d.y * d.z;
    second[5] += from->second[5] + from->weight * d.z * d.x;
}

/* The sum over `count` nodes: those of a list, or where that is null from `first` on. */
static lmi_octree_rest add_up(const lmi_octree_rest *rest, const uint32_t *list, uint32_t first, uint32_t count)
{
    lmi_octree_rest sum = {0};
    for (uint32_t n = 0; n < count; n++) {
        const lmi_octree_rest *r = &rest[list ? list[n] : first + n];
        sum.weight += r->weight;
        sum.centre = dvec_add(sum.centre, dvec_scale(r->centre, r->weight));
    }
    sum.centre = dvec_scale(sum.centre, 1.0 / sum.weight);
    for (uint32_t n = 0; n < count; n++) {
        add_second(&rest[list ? list[n] : first + n], sum.centre, sum.second);
    }
    return sum;
}

void lmi_octree_rest_of_nodes(const lmi_octree *t, const float *weights, lmi_octree_rest *rest)
{
    for (uint32_t n = t->node_count; n-- > 0;) { /* children come after their parents */
        const lmi_octree_node *node = &t->nodes[n];
        if (lmi_octree_is_leaf(node)) {
            lm_vec3 middle = vec_from(lmi_octree_middle(t, node)); /* as the particle has it */
            rest[n] = (lmi_octree_rest){.weight = weights[node->leaf], .centre = dvec_from(middle)};
        } else {
            rest[n] = add_up(rest, NULL, node->first_child, node->child_count);
        }
    }
}

void lmi_octree_make_regions(const lmi_octree *t, const lmi_octree_rest *rest, lmi_region *regions)
{
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        uint32_t first = t->regions.offsets[leaf];
        lmi_octree_rest sum = add_up(rest, t->regions.items + first, 0, t->regions.offsets[leaf + 1] - first);
        double covariance[9], *s = sum.second;
        const double full[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]};
        for (int i = 0; i < 9; i++) {
            covariance[i] = full[i] / sum.weight;
        }
        lmi_region_from_covariance(&regions[leaf], sum.weight, sum.centre, covariance);
    }
}
