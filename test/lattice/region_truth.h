/*
 * The regions of a lattice by their definition, one pair of particles after the other: a particle is in the region of another
 * when a path of neighbours leads from one to the other inside the intersection of the cubes around both; where a torn cell
 * touches that intersection, within `width` steps.
 *
 * A path of at most `width` steps is in both cubes, so only the others are searched for. Boxes are cut to where particles are,
 * and what one flood has found serves all that have the same box.
 */
#ifndef REGION_TRUTH_H
#define REGION_TRUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct region_box {
    int32_t low[3], high[3]; /* both ends included */
} region_box;

typedef struct region_truth {
    uint32_t count; /* particles, by the caller's names */
    int32_t (*at)[3];
    uint32_t *degree, (*neighbour)[64]; /* more than once, maybe */
    int32_t (*torn)[3];                 /* lowest corners of torn cells */
    uint32_t torn_count, torn_capacity;
    region_box all;
    uint32_t *queue;
    uint8_t *distance;
    region_box *boxes; /* of the region that is looked for */
    uint8_t *found;    /* [boxes][count] */
    uint32_t box_count, box_capacity;
} region_truth;

static inline region_truth region_truth_make(uint32_t count)
{
    region_truth t = {.count = count};
    t.at = calloc(count, sizeof *t.at);
    t.degree = calloc(count, sizeof *t.degree);
    t.neighbour = calloc(count, sizeof *t.neighbour);
    t.queue = calloc(count, sizeof *t.queue);
    t.distance = calloc(count, 1);
    return t;
}

static inline void region_truth_free(region_truth *t)
{
    free(t->at), free(t->degree), free(t->neighbour), free(t->torn), free(t->queue), free(t->distance);
    free(t->boxes), free(t->found);
}

/* Two corners of a cell, of which a step leads from one to the other; the other way is added by the caller as well. */
static inline void region_truth_link(region_truth *t, uint32_t from, uint32_t to)
{
    t->neighbour[from][t->degree[from]++] = to;
}

static inline void region_truth_tear(region_truth *t, const int32_t cell[3])
{
    if (t->torn_count == t->torn_capacity) {
        t->torn_capacity = 2 * t->torn_capacity + 16;
        t->torn = realloc(t->torn, t->torn_capacity * sizeof *t->torn);
    }
    memcpy(t->torn[t->torn_count++], cell, sizeof *t->torn);
}

/* Once all particles are where they are. */
static inline void region_truth_bound(region_truth *t)
{
    for (int a = 0; a < 3; a++) t->all.low[a] = INT32_MAX, t->all.high[a] = INT32_MIN;
    for (uint32_t n = 0; n < t->count; n++)
        for (int a = 0; a < 3; a++) {
            if (t->at[n][a] < t->all.low[a]) t->all.low[a] = t->at[n][a];
            if (t->at[n][a] > t->all.high[a]) t->all.high[a] = t->at[n][a];
        }
}

static inline region_box common_box(const region_truth *t, uint32_t i, uint32_t j, int32_t width)
{
    region_box b;
    for (int a = 0; a < 3; a++) {
        int32_t low = (t->at[i][a] > t->at[j][a] ? t->at[i][a] : t->at[j][a]) - width;
        int32_t high = (t->at[i][a] < t->at[j][a] ? t->at[i][a] : t->at[j][a]) + width;
        b.low[a] = low > t->all.low[a] ? low : t->all.low[a];
        b.high[a] = high < t->all.high[a] ? high : t->all.high[a];
    }
    return b;
}

static inline bool is_in_box(const region_box *b, const int32_t at[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++) in = in && at[a] >= b->low[a] && at[a] <= b->high[a];
    return in;
}

/* Breadth first from a particle, in a box, as far as `most` steps; distance 0xff: not reached. */
static inline void spread_in_box(region_truth *t, uint32_t from, const region_box *b, uint32_t most, uint8_t *distance)
{
    uint32_t count = 1;
    memset(distance, 0xff, t->count);
    t->queue[0] = from;
    distance[from] = 0;
    for (uint32_t head = 0; head < count; head++) {
        uint32_t n = t->queue[head];
        for (uint32_t k = 0; distance[n] < most && k < t->degree[n]; k++) {
            uint32_t to = t->neighbour[n][k];
            if (distance[to] != 0xff || !is_in_box(b, t->at[to])) continue;
            distance[to] = (uint8_t)(distance[n] + (distance[n] < 0xfd));
            t->queue[count++] = to;
        }
    }
}

static inline bool touches_torn(const region_truth *t, const region_box *b)
{
    for (uint32_t n = 0; n < t->torn_count; n++) {
        bool touches = true;
        for (int a = 0; a < 3; a++) touches = touches && t->torn[n][a] + 1 >= b->low[a] && t->torn[n][a] <= b->high[a];
        if (touches) return true;
    }
    return false;
}

/* What a box connects with the particle whose region is looked for: all 0xff where a torn cell touches it. */
static inline const uint8_t *flood_of(region_truth *t, uint32_t particle, const region_box *b)
{
    for (uint32_t n = 0; n < t->box_count; n++)
        if (memcmp(&t->boxes[n], b, sizeof *b) == 0) return t->found + (size_t)n * t->count;
    if (t->box_count == t->box_capacity) {
        t->box_capacity = 2 * t->box_capacity + 64;
        t->boxes = realloc(t->boxes, t->box_capacity * sizeof *t->boxes);
        t->found = realloc(t->found, (size_t)t->box_capacity * t->count);
    }
    uint8_t *found = t->found + (size_t)t->box_count * t->count;
    t->boxes[t->box_count++] = *b;
    if (touches_torn(t, b))
        memset(found, 0xff, t->count);
    else
        spread_in_box(t, particle, b, 0xff, found);
    return found;
}

/* The members of a particle's region, ascending; returns how many. */
static inline uint32_t region_truth_find(region_truth *t, uint32_t particle, uint32_t width, uint32_t *members)
{
    uint32_t count = 0;
    spread_in_box(t, particle, &t->all, width, t->distance);
    t->box_count = 0;
    for (uint32_t n = 0; n < t->count; n++) {
        bool near = true, is = t->distance[n] != 0xff;
        for (int a = 0; a < 3; a++) near = near && abs(t->at[n][a] - t->at[particle][a]) <= (int32_t)width;
        if (near && !is) {
            region_box b = common_box(t, particle, n, (int32_t)width);
            is = flood_of(t, particle, &b)[n] != 0xff;
        }
        if (is) members[count++] = n;
    }
    return count;
}

#endif
