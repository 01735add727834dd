/*
 * How thick a body is around each voxel: where cells have to be small.
 *
 * The side of the largest cube of filled voxels that a voxel is in, rounded up to an even number. A cube of 2 k - 1 voxels fits
 * around a voxel that is in the k-th layer from the outside; so layers are peeled off first, and then, largest cubes first, every voxel of the k-th
 * layer marks what is within k - 1 steps of it. A finger is as thick as it is wide, close to its skin too; a palm is thick
 * up to its rim.
 */
#include "octree/octree.h"

#include <string.h>

#define MOST_LAYERS 120u

typedef struct peeler {
    const lmi_octree *tree;
    lmi_memory *memory;
    uint8_t *layer;         /* [voxel_count] 1 at the surface */
    uint8_t *left;          /* [voxel_count] one more than the steps that a flood had left here, of the one with most */
    uint32_t *front, *next; /* [voxel_count] */
    uint32_t front_count, next_count;
} peeler;

/* The voxel at one of the 27 places around another. */
static uint32_t around(const lmi_octree *t, uint32_t voxel, int way)
{
    const uint16_t *at = t->at[voxel];
    return lmi_octree_voxel(t, (int64_t)at[0] + way % 3 - 1, (int64_t)at[1] + way / 3 % 3 - 1,
                            (int64_t)at[2] + way / 9 - 1);
}

static void swap_fronts(peeler *p)
{
    uint32_t *front = p->front;
    p->front = p->next;
    p->next = front;
    p->front_count = p->next_count;
    p->next_count = 0;
}

static void peel(peeler *p, uint32_t most)
{
    const lmi_octree *t = p->tree;
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        for (int way = 0; way < 27 && !p->layer[voxel]; way++) {
            p->layer[voxel] = around(t, voxel, way) == LMI_OCTREE_NONE;
        }
        if (p->layer[voxel]) {
            p->front[p->front_count++] = voxel;
        }
    }
    for (uint32_t layer = 2; layer < most && p->front_count; layer++, swap_fronts(p)) {
        for (uint32_t n = 0; n < p->front_count; n++) {
            for (int way = 0; way < 27; way++) {
                uint32_t other = around(t, p->front[n], way);
                if (other != LMI_OCTREE_NONE && !p->layer[other]) {
                    p->layer[other] = (uint8_t)layer;
                    p->next[p->next_count++] = other;
                }
            }
        }
    }
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        p->layer[voxel] = p->layer[voxel] ? p->layer[voxel] : (uint8_t)most; /* deeper than matters */
    }
}

/* Marks what is within `layer` - 1 steps of the voxels of a layer, where nothing larger did. Where a larger one had as many steps left it
 * has marked all that this one would: a flood stops there, so that all of them together take time in proportion to the voxels, and
 * not to the voxels times the layers. */
static void mark(peeler *p, uint32_t layer, const uint32_t *voxels, uint32_t count, uint8_t *thickness)
{
    const lmi_octree *t = p->tree;
    p->front_count = p->next_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (p->left[voxels[n]] < layer) {
            p->left[voxels[n]] = (uint8_t)layer;
            p->front[p->front_count++] = voxels[n];
        }
    }
    for (uint32_t step = 0; p->front_count; step++, swap_fronts(p)) {
        p->memory->work += p->front_count;
        for (uint32_t n = 0; n < p->front_count; n++) {
            uint32_t voxel = p->front[n];
            thickness[voxel] = thickness[voxel] ? thickness[voxel] : (uint8_t)(2 * layer);
            for (int way = 0; way < 27 && step + 1 < layer; way++) {
                uint32_t other = around(t, voxel, way);
                if (other != LMI_OCTREE_NONE && p->left[other] < layer - step - 1) {
                    p->left[other] = (uint8_t)(layer - step - 1);
                    p->next[p->next_count++] = other;
                }
            }
        }
    }
}

/* The voxels by their layers; first[layer] to first[layer + 1] are those of one. */
static void sort_by_layer(const peeler *p, uint32_t layers, uint32_t *first, uint32_t *voxels)
{
    memset(first, 0, (MOST_LAYERS + 2) * sizeof *first);
    for (uint32_t voxel = 0; voxel < p->tree->voxel_count; voxel++) {
        first[p->layer[voxel] + 1]++;
    }
    for (uint32_t layer = 0; layer <= layers; layer++) {
        first[layer + 1] += first[layer];
    }
    uint32_t at[MOST_LAYERS + 2];
    memcpy(at, first, sizeof at);
    for (uint32_t voxel = 0; voxel < p->tree->voxel_count; voxel++) {
        voxels[at[p->layer[voxel]]++] = voxel;
    }
}

uint8_t *lmi_octree_thickness(const lmi_octree *t, lmi_memory *memory, uint32_t most)
{
    uint32_t layers = most / 2 + 1 < MOST_LAYERS ? most / 2 + 1 : MOST_LAYERS, first[MOST_LAYERS + 2];
    uint32_t *voxels = lmi_allocate(memory, t->voxel_count, sizeof *voxels);
    peeler p = {.tree = t,
                .memory = memory,
                .layer = lmi_allocate(memory, t->voxel_count, sizeof *p.layer),
                .left = lmi_allocate(memory, t->voxel_count, sizeof *p.left),
                .front = lmi_allocate(memory, t->voxel_count, sizeof *p.front),
                .next = lmi_allocate(memory, t->voxel_count, sizeof *p.next)};
    uint8_t *thickness = lmi_allocate(memory, t->voxel_count, sizeof *thickness);
    bool ok = p.layer && p.left && p.front && p.next && voxels && thickness;
    if (ok) {
        peel(&p, layers);
        sort_by_layer(&p, layers, first, voxels);
    }
    for (uint32_t layer = layers; ok && layer > 0; layer--) {
        mark(&p, layer, voxels + first[layer], first[layer + 1] - first[layer], thickness);
    }
    lmi_release(memory, p.layer, t->voxel_count, sizeof *p.layer);
    lmi_release(memory, p.left, t->voxel_count, sizeof *p.left);
    lmi_release(memory, voxels, t->voxel_count, sizeof *voxels);
    lmi_release(memory, p.front, t->voxel_count, sizeof *p.front);
    lmi_release(memory, p.next, t->voxel_count, sizeof *p.next);
    if (!ok) {
        lmi_release(memory, thickness, t->voxel_count, sizeof *thickness);
    }
    return ok ? thickness : NULL;
}
