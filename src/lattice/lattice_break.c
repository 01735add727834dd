#include "lattice/lattice_break.h"
#include "base/compiler.h"
#include "lattice/lattice_regions.h"

#include <stdlib.h>
#include <string.h>

/* Scratch of one break: particles as masks of lanes, [blocks + 1] each. */
typedef struct draft {
    lmi_memory *memory;
    const lmi_lattice *before;
    lmi_lattice *l;
    uint16_t *found;   /* whose regions are found again */
    uint16_t *counted; /* who counts his regions again */
    uint16_t *weighed; /* whose constants change */
    lmi_lattice_findings fresh;
} draft;

/* Sets the lanes of all particles in a box of corners, both ends included. */
static void mark_box(const lmi_lattice *l, const int32_t low[3], const int32_t high[3], uint16_t *mask)
{
    for (int32_t z = low[2] < 0 ? 0 : low[2]; z <= high[2] && z < (int32_t)l->size[2]; z++) {
        for (int32_t y = low[1] < 0 ? 0 : low[1]; y <= high[1] && y < (int32_t)l->size[1]; y++) {
            const uint32_t *row = l->map.block + ((size_t)z * l->size[1] + (size_t)y) * l->map.blocks_x;
            for (int32_t x = low[0] < 0 ? 0 : low[0]; x <= high[0] && x < (int32_t)l->size[0]; x++) {
                uint32_t at = (uint32_t)x + l->phase, block = row[at / LMI_BLOCK];
                if (block != LMI_LATTICE_NONE) {
                    mask[block] |= (uint16_t)(1u << at % LMI_BLOCK & l->occupied[block]);
                }
            }
        }
    }
}

static void mark_around(const lmi_lattice *l, uint32_t particle, uint16_t *mask)
{
    int32_t at[3], low[3], high[3];
    lmi_lattice_corner(l, particle, at);
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] - (int32_t)l->width;
        high[a] = at[a] + (int32_t)l->width;
    }
    mark_box(l, low, high, mask);
}

/* A cell that a link was an edge of touches the cubes of these. */
static void mark_links(const lmi_lattice *l, const lmi_lattice_link *links, uint32_t count, uint16_t *mask)
{
    for (uint32_t n = 0; n < count; n++) {
        int32_t at[3], low[3], high[3], w = (int32_t)l->width;
        lmi_lattice_corner(l, links[n].particle, at);
        for (uint32_t a = 0; a < 3; a++) {
            low[a] = at[a] - w - (a != links[n].axis);
            high[a] = at[a] + w + 1;
        }
        mark_box(l, low, high, mask);
    }
}

/* --- arrays of its own --- */

static void *copy_of(lmi_memory *memory, const void *from, size_t count, size_t size)
{
    void *copy = lmi_allocate(memory, count, size);
    if (copy) {
        memcpy(copy, from, count * size);
    }
    return copy;
}

static void forget_parts(lmi_lattice *l) { l->slab_part_first = l->slab_part = l->part_of_block = l->part = NULL; }

/* A lattice that has the arrays that breaks change for itself, without lists so far. */
static bool begin(draft *d)
{
    const lmi_lattice *l = d->before;
    size_t blocks = (size_t)l->block_count + 1;
    lmi_lattice *next = d->l;
    *next = *l;
    memset(&next->gather, 0, sizeof next->gather);
    memset(&next->scatter, 0, sizeof next->scatter);
    next->irregular_count = 0;
    next->direct = next->listed = NULL;
    next->irregular_moments = next->irregular_transforms = next->corrections = NULL;
    next->whole = copy_of(d->memory, l->whole, blocks, sizeof *l->whole);
    next->active = copy_of(d->memory, l->occupied, blocks, sizeof *l->active);
    next->degree = copy_of(d->memory, l->degree, blocks * LMI_BLOCK, sizeof *l->degree);
    next->book = lmi_allocate(d->memory, 1, sizeof *next->book);
    for (int a = 0; a < 3; a++) {
        next->bond[a] = copy_of(d->memory, l->bond[a], blocks, sizeof *l->bond[a]);
    }
    d->found = lmi_allocate(d->memory, blocks, sizeof *d->found);
    d->counted = lmi_allocate(d->memory, blocks, sizeof *d->counted);
    d->weighed = lmi_allocate(d->memory, blocks, sizeof *d->weighed);
    return next->whole && next->active && next->degree && next->book && next->bond[0] && next->bond[1] &&
           next->bond[2] && d->found && d->counted && d->weighed;
}

static void end(draft *d)
{
    size_t blocks = (size_t)d->before->block_count + 1;
    lmi_release(d->memory, d->found, blocks, sizeof *d->found);
    lmi_release(d->memory, d->counted, blocks, sizeof *d->counted);
    lmi_release(d->memory, d->weighed, blocks, sizeof *d->weighed);
    lmi_lattice_findings_free(d->memory, &d->fresh);
}

/* What `mine` has for itself. */
static void free_own(lmi_memory *memory, lmi_lattice *mine, const lmi_lattice *other)
{
    size_t blocks = (size_t)mine->block_count + 1;
    lmi_lattice_free_lists(memory, mine);
    for (int a = 0; a < 3; a++) {
        lmi_release(memory, mine->bond[a], blocks, sizeof *mine->bond[a]);
    }
    lmi_release(memory, mine->whole, blocks, sizeof *mine->whole);
    lmi_release(memory, mine->active, blocks, sizeof *mine->active);
    lmi_release(memory, mine->degree, blocks * LMI_BLOCK, sizeof *mine->degree);
    if (mine->book) {
        lmi_lattice_findings_free(memory, mine->book);
    }
    lmi_release(memory, mine->book, 1, sizeof *mine->book);
    if (mine->part != other->part) {
        lmi_lattice_free_parts(memory, mine);
    }
    if (mine->constants_of != other->constants_of) {
        lmi_release(memory, mine->constants_of, blocks, sizeof *mine->constants_of);
    }
    if (mine->constants != other->constants) {
        lmi_release(memory, mine->constants, (size_t)mine->constants_capacity * mine->channels * LMI_BLOCK,
                    sizeof *mine->constants);
    }
    memset(mine, 0, sizeof *mine);
}

void lmi_lattice_keep(lmi_memory *memory, lmi_lattice *l, lmi_lattice *next)
{
    free_own(memory, l, next);
    *l = *next;
}

void lmi_lattice_drop(lmi_memory *memory, const lmi_lattice *l, lmi_lattice *next) { free_own(memory, next, l); }

void lmi_lattice_change_free(lmi_memory *memory, lmi_lattice_change *change)
{
    lmi_release(memory, change->blocks, change->capacity, sizeof *change->blocks);
    lmi_release(memory, change->lanes, change->capacity, sizeof *change->lanes);
    memset(change, 0, sizeof *change);
}

/* --- regions --- */

#define EACH_MARKED(l, mask, n)                                                                                        \
    for (uint32_t block_ = 0; block_ < (l)->block_count; block_++)                                                     \
        for (uint32_t left_ = (mask)[block_]; left_; left_ &= left_ - 1)                                               \
            for (uint32_t n = block_ * LMI_BLOCK + (uint32_t)lmi_low_bit(left_), once_ = 1; once_; once_ = 0)

static bool is_marked(const uint16_t *mask, uint32_t particle)
{
    return mask[particle / LMI_BLOCK] >> (particle % LMI_BLOCK) & 1;
}

static lm_result find_again(draft *d)
{
    lm_result result = LM_OK;
    EACH_MARKED(d->l, d->found, n)
    {
        lmi_lattice_cube c;
        if (result == LM_OK) {
            lmi_lattice_find_region(d->l, &d->l->map, n, &c);
            result = lmi_lattice_findings_add(d->memory, d->l, n, &c, &d->fresh);
        }
    }
    if (d->fresh.signature_count) {
        qsort(d->fresh.signatures, d->fresh.signature_count, sizeof *d->fresh.signatures,
              lmi_lattice_compare_signatures);
    }
    return result;
}

/* The old book without regions that were found again, and those: both sorted, so one pass each. */
static lm_result merge(draft *d)
{
    const lmi_lattice_findings *old = d->before->book, *fresh = &d->fresh;
    lmi_lattice_findings *to = d->l->book;
    uint32_t a = 0, b = 0;
    to->signature_capacity = old->signature_count + fresh->signature_count;
    to->signatures = lmi_allocate(d->memory, to->signature_capacity, sizeof *to->signatures);
    to->pair_capacity = old->pair_count + fresh->pair_count;
    to->pairs = lmi_allocate(d->memory, to->pair_capacity, sizeof *to->pairs);
    if (!to->signatures || !to->pairs) {
        to->signature_capacity = to->signatures ? to->signature_capacity : 0;
        to->pair_capacity = to->pairs ? to->pair_capacity : 0;
        return LM_ERROR_MEMORY;
    }
    while (a < old->signature_count || b < fresh->signature_count) {
        const lmi_lattice_signature *x = &old->signatures[a], *y = &fresh->signatures[b];
        if (a < old->signature_count && is_marked(d->found, x->particle)) {
            a++;
        } else if (b == fresh->signature_count ||
                   (a < old->signature_count && lmi_lattice_compare_signatures(x, y) < 0)) {
            to->signatures[to->signature_count++] = *x;
            a++;
        } else {
            to->signatures[to->signature_count++] = *y;
            b++;
        }
    }
    for (a = b = 0; a < old->pair_count || b < fresh->pair_count;) {
        const lmi_lattice_pair *x = a < old->pair_count ? &old->pairs[a] : NULL;
        const lmi_lattice_pair *y = b < fresh->pair_count ? &fresh->pairs[b] : NULL;
        if (x && is_marked(d->found, x->region)) {
            a++;
        } else if (!y || (x && x->region < y->region)) {
            to->pairs[to->pair_count++] = *x;
            a++;
        } else {
            to->pairs[to->pair_count++] = *y;
            b++;
        }
    }
    return to->pair_count <= LMI_LATTICE_MOST_PAIRS ? LM_OK : LM_ERROR_LIMIT;
}

/* Repetitions, who is in how many regions, and which constants that changes. */
static void count_again(draft *d)
{
    lmi_lattice *l = d->l;
    uint32_t repeated = lmi_lattice_find_repetitions(l, l->book);
    l->region_count = l->particle_count - repeated;
    memcpy(d->counted, d->found, l->block_count * sizeof *d->counted);
    for (uint32_t n = 0; n < l->block_count; n++) {
        for (uint32_t left = (uint32_t)l->active[n] ^ d->before->active[n]; left; left &= left - 1) {
            uint32_t particle = n * LMI_BLOCK + (uint32_t)lmi_low_bit(left);
            mark_around(l, particle, d->counted);
            mark_around(l, particle, d->weighed);
        }
    }
    EACH_MARKED(l, d->counted, n)
    {
        uint32_t count = lmi_lattice_count_active(l, &l->map, n), before = l->degree[n];
        l->membership_count += count;
        l->membership_count -= before;
        l->degree[n] = (uint16_t)count;
        if (count != before) {
            mark_around(l, n, d->weighed);
        }
    }
    for (uint32_t n = 0; n < l->block_count; n++) {
        d->weighed[n] |= d->found[n];
    }
}

/* --- parts --- */

/* Up to this many links the ends of each are searched for a way round; the search ends at this many particles. */
enum { FEW_LINKS = 64, SEARCHED = 2048 };

typedef struct search {
    uint32_t *queue; /* [SEARCHED] */
    uint8_t *seen;   /* [places] */
    uint32_t count;
} search;

static void visit(search *s, uint32_t particle)
{
    if (s->count < SEARCHED && !s->seen[particle]) {
        s->seen[particle] = 1;
        s->queue[s->count++] = particle;
    }
}

/* Whether unbroken links lead from one end of a broken one to the other, as far as is searched. */
static bool is_joined(const lmi_lattice *l, search *s, lmi_lattice_link link)
{
    uint32_t goal = lmi_lattice_link_end(l, link);
    s->count = 0;
    visit(s, link.particle);
    for (uint32_t n = 0; n < s->count && !s->seen[goal]; n++) {
        for (uint32_t axis = 0; axis < 3; axis++) {
            lmi_lattice_link up = {s->queue[n], axis};
            int32_t at[3];
            lmi_lattice_corner(l, s->queue[n], at);
            at[axis]--;
            lmi_lattice_link down = {lmi_lattice_find(l, at[0], at[1], at[2]), axis};
            if (lmi_lattice_holds(l, up)) {
                visit(s, lmi_lattice_link_end(l, up));
            }
            if (down.particle != LMI_LATTICE_NONE && lmi_lattice_holds(l, down)) {
                visit(s, down.particle);
            }
        }
    }
    bool joined = s->seen[goal];
    for (uint32_t n = 0; n < s->count; n++) {
        s->seen[s->queue[n]] = 0;
    }
    return joined;
}

static lm_result find_parts(draft *d, const lmi_lattice_link *links, uint32_t count, lmi_lattice_change *change)
{
    size_t places = ((size_t)d->l->block_count + 1) * LMI_BLOCK;
    search s = {lmi_allocate(d->memory, SEARCHED, sizeof *s.queue), lmi_allocate(d->memory, places, sizeof *s.seen), 0};
    bool ok = s.queue && s.seen, joined = ok && count <= FEW_LINKS;
    for (uint32_t n = 0; joined && n < count; n++) {
        joined = is_joined(d->l, &s, links[n]);
    }
    if (ok && !joined) {
        forget_parts(d->l);
        ok = lmi_lattice_find_parts(d->memory, d->l);
        change->parts = ok && d->l->part_count != d->before->part_count;
    }
    lmi_release(d->memory, s.queue, SEARCHED, sizeof *s.queue);
    lmi_release(d->memory, s.seen, places, sizeof *s.seen);
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

/* --- the whole --- */

static lm_result list_blocks(draft *d, lmi_lattice_change *change)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < d->l->block_count; n++) {
        count += d->weighed[n] != 0;
    }
    change->capacity = count;
    change->blocks = lmi_allocate(d->memory, count, sizeof *change->blocks);
    change->lanes = lmi_allocate(d->memory, count, sizeof *change->lanes);
    for (uint32_t n = 0; change->blocks && change->lanes && n < d->l->block_count; n++) {
        if (d->weighed[n]) {
            change->blocks[change->count] = n;
            change->lanes[change->count++] = d->weighed[n];
        }
    }
    return change->blocks && change->lanes ? LM_OK : LM_ERROR_MEMORY;
}

lm_result lmi_lattice_break(lmi_memory *memory, const lmi_lattice *l, const lmi_lattice_link *links, uint32_t count,
                            lmi_lattice *next, lmi_lattice_change *change)
{
    draft d = {.memory = memory, .before = l, .l = next};
    memset(change, 0, sizeof *change);
    lm_result result = begin(&d) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK && !lmi_lattice_cut_links(next, links, count)) {
        result = LM_ERROR_ARGUMENT;
    }
    if (result == LM_OK) {
        mark_links(next, links, count, d.found);
        result = find_again(&d);
    }
    result = result == LM_OK ? merge(&d) : result;
    if (result == LM_OK) {
        count_again(&d);
        result = lmi_lattice_list_findings(memory, next, next->book);
    }
    if (result == LM_OK && !lmi_lattice_make_list_room(memory, next)) {
        result = LM_ERROR_MEMORY;
    }
    result = result == LM_OK ? find_parts(&d, links, count, change) : result;
    result = result == LM_OK ? list_blocks(&d, change) : result;
    end(&d);
    if (result != LM_OK) {
        lmi_lattice_drop(memory, l, next);
        lmi_lattice_change_free(memory, change);
    }
    return result;
}
