/*
 * The connected parts of a lattice: particles that a chain of cells joins. A mesh of several pieces gives one body of several
 * parts, each of which keeps its own momentum and spin whatever the others do.
 *
 * In a cell with broken links only what its unbroken edges join is joined.
 *
 * Union by the lowest particle: a part is named for its first particle, and parts are numbered in that order.
 */
#include "base/compiler.h"
#include "lattice/lattice.h"

#include <string.h>

static uint32_t root_of(uint32_t *parent, uint32_t n)
{
    while (parent[n] != n) {
        parent[n] = parent[parent[n]];
        n = parent[n];
    }
    return n;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

/* Joins what the links of a block's particles join. */
static void join_links(const lmi_lattice *l, uint32_t block, uint32_t *parent)
{
    const int32_t *at = l->at[block];
    for (uint32_t axis = 0; axis < 3; axis++) {
        for (uint32_t left = l->bond[axis][block]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)lmi_low_bit(left);
            uint32_t next =
                lmi_lattice_find(l, at[0] + (int32_t)lane + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2));
            join(parent, block * LMI_BLOCK + lane, next);
        }
    }
}

/* Joins the eight corners of every cell whose lowest corner is in a block. */
static void join_cells(const lmi_lattice *l, uint32_t block, uint32_t *parent)
{
    const int32_t *at = l->at[block];
    uint32_t row[4][2]; /* blocks with the corners, and with the next ones along x */
    for (int k = 0; k < 4; k++) {
        row[k][0] = k ? lmi_lattice_find_block(l, at[0], at[1] + k % 2, at[2] + k / 2) : block;
        row[k][1] = LMI_LATTICE_NONE;
        if (l->cell[block] >> (LMI_BLOCK - 1) & 1) {
            row[k][1] = lmi_lattice_find_block(l, at[0] + LMI_BLOCK, at[1] + k % 2, at[2] + k / 2);
        }
    }
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        for (uint32_t corner = 1; l->cell[block] >> lane & 1 && corner < 8; corner++) {
            uint32_t x = lane + corner / 4, of = row[corner % 4][x / LMI_BLOCK];
            join(parent, block * LMI_BLOCK + lane, of * LMI_BLOCK + x % LMI_BLOCK);
        }
    }
}

/* Turns parents into numbers of parts, empty lanes into LMI_LATTICE_NONE; returns how many parts there are. */
static uint32_t number_parts(const lmi_lattice *l, uint32_t *parent)
{
    uint32_t count = 0, places = (l->block_count + 1) * LMI_BLOCK;
    for (uint32_t n = 0; n < places; n++) { /* all straight to their roots, which come first */
        parent[n] = parent[parent[n]];
    }
    for (uint32_t n = 0; n < places; n++) {
        if (!(l->occupied[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1)) {
            parent[n] = LMI_LATTICE_NONE;
        } else {
            parent[n] = parent[n] == n ? count++ : parent[parent[n]];
        }
    }
    return count;
}

/* The part of each block, where it has one. */
static void part_blocks(const lmi_lattice *l)
{
    for (uint32_t block = 0; block < l->block_count; block++) {
        uint32_t of = LMI_LATTICE_NONE;
        bool mixed = false;
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            uint32_t mine = l->part[block * LMI_BLOCK + lane];
            mixed = mixed || (of != LMI_LATTICE_NONE && mine != LMI_LATTICE_NONE && mine != of);
            of = mine != LMI_LATTICE_NONE ? mine : of;
        }
        l->part_of_block[block] = mixed ? LMI_LATTICE_NONE : of;
    }
    l->part_of_block[l->block_count] = LMI_LATTICE_NONE;
}

/* Lists the parts of each slab in l->slab_part (null: only counts them). `seen` has a zero for each part. */
static void part_slabs(const lmi_lattice *l, uint32_t *seen)
{
    uint32_t used = 0;
    for (uint32_t slab = 0; slab < l->slab_count; slab++) {
        uint32_t first = l->plane_block[l->slab[slab].first] * LMI_BLOCK, low = l->part_count, high = 0;
        uint32_t last = l->plane_block[l->slab[slab].last] * LMI_BLOCK;
        l->slab_part_first[slab] = used;
        for (uint32_t n = first; n < last; n++) {
            uint32_t part = l->part[n];
            if (part != LMI_LATTICE_NONE) {
                used += seen[part] != slab + 1 && !l->slab_part;
                seen[part] = slab + 1;
                low = part < low ? part : low;
                high = part > high ? part : high;
            }
        }
        for (uint32_t part = low; l->slab_part && part <= high; part++) {
            if (seen[part] == slab + 1) {
                l->slab_part[used++] = part;
            }
        }
    }
    l->slab_part_first[l->slab_count] = used;
}

static bool list_slabs(lmi_memory *memory, lmi_lattice *l)
{
    uint32_t *seen = lmi_allocate(memory, l->part_count, sizeof *seen);
    l->slab_part_first = lmi_allocate(memory, (size_t)l->slab_count + 1, sizeof *l->slab_part_first);
    if (seen && l->slab_part_first) {
        part_slabs(l, seen);
        l->slab_part = lmi_allocate(memory, l->slab_part_first[l->slab_count], sizeof *l->slab_part);
    }
    if (l->slab_part) {
        memset(seen, 0, l->part_count * sizeof *seen);
        part_slabs(l, seen);
    }
    lmi_release(memory, seen, l->part_count, sizeof *seen);
    return l->slab_part != NULL;
}

bool lmi_lattice_find_parts(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1;
    l->part = lmi_allocate(memory, blocks * LMI_BLOCK, sizeof *l->part);
    if (!l->part) {
        return false;
    }
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n++) {
        l->part[n] = n;
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        if (l->whole) {
            join_links(l, block, l->part);
        } else if (l->cell[block]) {
            join_cells(l, block, l->part);
        }
    }
    l->part_count = number_parts(l, l->part);
    if (l->part_count == 1) {
        lmi_lattice_free_parts(memory, l);
        return true;
    }
    l->part_of_block = lmi_allocate(memory, blocks, sizeof *l->part_of_block);
    if (!l->part_of_block) {
        return false;
    }
    part_blocks(l);
    return list_slabs(memory, l);
}

void lmi_lattice_free_parts(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1;
    if (l->slab_part) {
        lmi_release(memory, l->slab_part, l->slab_part_first[l->slab_count], sizeof *l->slab_part);
    }
    lmi_release(memory, l->slab_part_first, (size_t)l->slab_count + 1, sizeof *l->slab_part_first);
    lmi_release(memory, l->part_of_block, blocks, sizeof *l->part_of_block);
    lmi_release(memory, l->part, blocks * LMI_BLOCK, sizeof *l->part);
    l->slab_part = l->slab_part_first = l->part_of_block = l->part = NULL;
}
