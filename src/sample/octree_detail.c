/*
 * How thick a body is around each voxel: where cells have to be small.
 *
 * The side of the largest cube of filled voxels that a voxel is in, rounded up to an even number. A cube of 2 k - 1 voxels fits
 * around a voxel that is in the k-th layer from the outside; so layers are peeled off first, and then, largest cubes first, every voxel of the k-th
 * layer marks what is within k - 1 steps of it. A finger is as thick as it is wide, close to its skin too; a palm is thick
 * up to its rim.
 */
#include "sample/octree.h"

#include <string.h>

typedef struct peeler {
    const lmi_octree *tree;
    uint8_t *layer;         /* [voxel_count] 1 at the surface */
    uint8_t *seen;          /* [voxel_count] in this flood */
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

/* Marks what is within `layer` - 1 steps of the voxels of a layer, where nothing larger did. */
static void mark(peeler *p, uint32_t layer, uint8_t *thickness)
{
    const lmi_octree *t = p->tree;
    memset(p->seen, 0, t->voxel_count);
    p->front_count = p->next_count = 0;
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        if (p->layer[voxel] == layer) {
            p->seen[voxel] = 1;
            p->front[p->front_count++] = voxel;
        }
    }
    for (uint32_t step = 0; p->front_count; step++, swap_fronts(p)) {
        for (uint32_t n = 0; n < p->front_count; n++) {
            uint32_t voxel = p->front[n];
            thickness[voxel] = thickness[voxel] ? thickness[voxel] : (uint8_t)(2 * layer);
            for (int way = 0; way < 27 && step + 1 < layer; way++) {
                uint32_t other = around(t, voxel, way);
                if (other != LMI_OCTREE_NONE && !p->seen[other]) {
                    p->seen[other] = 1;
                    p->next[p->next_count++] = other;
                }
            }
        }
    }
}

uint8_t *lmi_octree_thickness(const lmi_octree *t, lmi_memory *memory, uint32_t most)
{
    uint32_t layers = most / 2 + 1 < 120 ? most / 2 + 1 : 120;
    peeler p = {.tree = t,
                .layer = lmi_allocate(memory, t->voxel_count, sizeof *p.layer),
                .seen = lmi_allocate(memory, t->voxel_count, sizeof *p.seen),
                .front = lmi_allocate(memory, t->voxel_count, sizeof *p.front),
                .next = lmi_allocate(memory, t->voxel_count, sizeof *p.next)};
    uint8_t *thickness = lmi_allocate(memory, t->voxel_count, sizeof *thickness);
    bool ok = p.layer && p.seen && p.front && p.next && thickness;
    if (ok) {
        peel(&p, layers);
    }
    for (uint32_t layer = layers; ok && layer > 0; layer--) {
        mark(&p, layer, thickness);
    }
    lmi_release(memory, p.layer, t->voxel_count, sizeof *p.layer);
    lmi_release(memory, p.seen, t->voxel_count, sizeof *p.seen);
    lmi_release(memory, p.front, t->voxel_count, sizeof *p.front);
    lmi_release(memory, p.next, t->voxel_count, sizeof *p.next);
    if (!ok) {
        lmi_release(memory, thickness, t->voxel_count, sizeof *thickness);
    }
    return ok ? thickness : NULL;
}
