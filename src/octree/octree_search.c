/*
 * Shortest paths along neighbours. All lengths are small whole numbers, so the search keeps a leaf in the bucket of its distance,
 * as many buckets as the longest edge has units and one more, used round and round (the bucket-Moore search): a leaf goes in and
 * out at the cost of a few words. Steinemann et al. 2008, section 6.2.
 */
#include "octree/octree.h"

#include <string.h>

bool lmi_octree_search_make(lmi_octree_search *s, lmi_memory *memory, const lmi_octree *t)
{
    *s = (lmi_octree_search){.leaf_count = t->leaf_count, .bucket_count = (2u << t->levels) + 1};
    s->distance = lmi_allocate(memory, t->leaf_count, sizeof *s->distance);
    s->next = lmi_allocate(memory, t->leaf_count, sizeof *s->next);
    s->before = lmi_allocate(memory, t->leaf_count, sizeof *s->before);
    s->reached = lmi_allocate(memory, t->leaf_count, sizeof *s->reached);
    s->bucket = lmi_allocate(memory, s->bucket_count, sizeof *s->bucket);
    if (!s->distance || !s->next || !s->before || !s->reached || !s->bucket) {
        lmi_octree_search_free(s, memory);
        return false;
    }
    memset(s->distance, 0xff, t->leaf_count * sizeof *s->distance);
    memset(s->bucket, 0xff, s->bucket_count * sizeof *s->bucket);
    return true;
}

void lmi_octree_search_free(lmi_octree_search *s, lmi_memory *memory)
{
    lmi_release(memory, s->distance, s->leaf_count, sizeof *s->distance);
    lmi_release(memory, s->next, s->leaf_count, sizeof *s->next);
    lmi_release(memory, s->before, s->leaf_count, sizeof *s->before);
    lmi_release(memory, s->reached, s->leaf_count, sizeof *s->reached);
    lmi_release(memory, s->bucket, s->bucket_count, sizeof *s->bucket);
    memset(s, 0, sizeof *s);
}

static void put(lmi_octree_search *s, uint32_t leaf, uint32_t distance)
{
    uint32_t *head = &s->bucket[distance % s->bucket_count];
    s->distance[leaf] = distance;
    s->before[leaf] = LMI_OCTREE_NONE;
    s->next[leaf] = *head;
    if (*head != LMI_OCTREE_NONE) {
        s->before[*head] = leaf;
    }
    *head = leaf;
}

static void take(lmi_octree_search *s, uint32_t leaf)
{
    if (s->before[leaf] == LMI_OCTREE_NONE) {
        s->bucket[s->distance[leaf] % s->bucket_count] = s->next[leaf];
    } else {
        s->next[s->before[leaf]] = s->next[leaf];
    }
    if (s->next[leaf] != LMI_OCTREE_NONE) {
        s->before[s->next[leaf]] = s->before[leaf];
    }
}

void lmi_octree_search_run(lmi_octree_search *s, const lmi_octree *t, uint32_t from, uint32_t limit)
{
    lmi_octree_search_from(s, t, &from, 1, limit);
}

void lmi_octree_search_from(lmi_octree_search *s, const lmi_octree *t, const uint32_t *from, uint32_t count,
                            uint32_t limit)
{
    for (uint32_t n = 0; n < s->reached_count; n++) {
        s->distance[s->reached[n]] = LMI_OCTREE_NONE;
    }
    s->reached_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        put(s, from[n], 0);
    }
    uint32_t waiting = count;
    for (uint32_t at = 0; waiting > 0; at++) {
        uint32_t leaf;
        while ((leaf = s->bucket[at % s->bucket_count]) != LMI_OCTREE_NONE) {
            take(s, leaf);
            waiting--;
            s->reached[s->reached_count++] = leaf;
            for (uint32_t n = t->neighbours.offsets[leaf]; n < t->neighbours.offsets[leaf + 1]; n++) {
                uint32_t other = t->neighbours.items[n], distance = at + t->lengths[n];
                if (distance > limit || distance >= s->distance[other]) {
                    continue;
                }
                if (s->distance[other] != LMI_OCTREE_NONE) {
                    take(s, other);
                    waiting--;
                }
                put(s, other, distance);
                waiting++;
            }
        }
    }
}
