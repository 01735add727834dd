/*
 * The connected parts of a lattice: particles that a chain of cells joins. A mesh of several pieces gives one body of several
 * parts, each of which keeps its own momentum and spin whatever the others do.
 *
 * In a cell with broken links only what its unbroken edges join is joined.
 *
 * Union by the lowest particle: a part is named for its first particle, and parts are numbered in that order.
 */
#include "base/compiler.h"
#include "base/sets.h"
#include "lattice/lattice.h"
#include "lattice/lattice_break.h"
#include "lattice/lattice_regions.h"

#include <string.h>

/* Joins what the links of a block's particles join. */
static void join_links(const lmi_lattice *l, uint32_t block, uint32_t *parent)
{
    const int32_t *at = l->at[block];
    for (uint32_t axis = 0; axis < 3; axis++) {
        for (uint32_t left = l->bond[axis][block]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)lmi_low_bit(left);
            uint32_t next =
                lmi_lattice_find(l, at[0] + (int32_t)lane + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2));
            lmi_sets_join(parent, block * LMI_BLOCK + lane, next);
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
            lmi_sets_join(parent, block * LMI_BLOCK + lane, of * LMI_BLOCK + x % LMI_BLOCK);
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

/* ---- links ----
 *
 * The links of a lattice: which there are, and what is torn when one breaks.
 */

uint32_t lmi_lattice_link_end(const lmi_lattice *l, lmi_lattice_link link)
{
    int32_t at[3];
    lmi_lattice_corner(l, link.particle, at);
    at[link.axis]++;
    return lmi_lattice_find(l, at[0], at[1], at[2]);
}

/* A row of bits, lane for lane as a block's. */
static uint32_t row_beside(const lmi_lattice *l, const uint16_t *masks, const int32_t at[3], const int32_t d[3])
{
    return lmi_lattice_row_bits(l, lmi_lattice_map_of(l), masks, at[0] + d[0], LMI_BLOCK, at[1] + d[1], at[2] + d[2]);
}

/* A link is an edge of up to four cells: those whose lowest corners are one down, or not, along the other axes. */
uint32_t lmi_lattice_links(const lmi_lattice *l, uint32_t block, uint32_t axis)
{
    uint32_t bits = 0;
    for (int32_t n = 0; n < 4; n++) {
        int32_t d[3] = {0, 0, 0};
        d[(axis + 1) % 3] = -(n & 1);
        d[(axis + 2) % 3] = -(n >> 1);
        bits |= row_beside(l, l->cell, l->at[block], d) | (l->ragged ? row_beside(l, l->ragged, l->at[block], d) : 0);
    }
    if (l->ragged) { /* the far end may be absent */
        const int32_t up[3] = {axis == 0, axis == 1, axis == 2};
        bits &= row_beside(l, l->occupied, l->at[block], up);
    }
    return bits & l->occupied[block];
}

/* The place of the n-th cell around a link by its lowest corner, or LMI_LATTICE_NONE where no cell is. */
static uint32_t cell_around(const lmi_lattice *l, lmi_lattice_link link, int32_t n)
{
    int32_t at[3];
    lmi_lattice_corner(l, link.particle, at);
    at[(link.axis + 1) % 3] -= n & 1;
    at[(link.axis + 2) % 3] -= n >> 1;
    uint32_t lowest = lmi_lattice_find(l, at[0], at[1], at[2]);
    bool is = lowest != LMI_LATTICE_NONE && (l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1);
    return is ? lowest : LMI_LATTICE_NONE;
}

static void tear(const lmi_lattice *l, uint16_t *whole, lmi_lattice_link link)
{
    for (int32_t n = 0; n < 4; n++) {
        uint32_t cell = cell_around(l, link, n);
        if (cell != LMI_LATTICE_NONE) {
            whole[cell / LMI_BLOCK] &= (uint16_t) ~(1u << cell % LMI_BLOCK);
        }
    }
}

/* --- from the start --- */

bool lmi_lattice_cut_links(lmi_lattice *l, const lmi_lattice_link *links, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        if (links[n].axis > 2 || links[n].particle >= l->block_count * LMI_BLOCK || !lmi_lattice_holds(l, links[n])) {
            return false;
        }
        l->bond[links[n].axis][links[n].particle / LMI_BLOCK] &= (uint16_t) ~(1u << links[n].particle % LMI_BLOCK);
        tear(l, l->whole, links[n]);
    }
    return true;
}

lm_result lmi_lattice_start_breaks(lmi_memory *memory, const lmi_lattice_breaks *breaks, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1;
    l->whole = lmi_allocate(memory, blocks, sizeof *l->whole);
    l->book = lmi_allocate(memory, 1, sizeof *l->book);
    for (int a = 0; a < 3; a++) {
        l->bond[a] = lmi_allocate(memory, blocks, sizeof *l->bond[a]);
    }
    if (!l->whole || !l->book || !l->bond[0] || !l->bond[1] || !l->bond[2]) {
        return LM_ERROR_MEMORY;
    }
    memcpy(l->whole, l->cell, blocks * sizeof *l->whole);
    for (uint32_t n = 0; n < 3 * l->block_count; n++) {
        l->bond[n % 3][n / 3] = (uint16_t)lmi_lattice_links(l, n / 3, n % 3);
    }
    return lmi_lattice_cut_links(l, breaks->links, breaks->count) ? LM_OK : LM_ERROR_ARGUMENT;
}

void lmi_lattice_end_breaks(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1, box = (size_t)l->map.blocks_x * l->size[1] * l->size[2];
    for (int a = 0; a < 3; a++) {
        lmi_release(memory, l->bond[a], blocks, sizeof *l->bond[a]);
    }
    lmi_release(memory, l->whole, blocks, sizeof *l->whole);
    lmi_release(memory, l->map.block, box, sizeof *l->map.block);
    if (l->book) {
        lmi_lattice_findings_free(memory, l->book);
    }
    lmi_release(memory, l->book, 1, sizeof *l->book);
}
