/*
 * The connected parts of a lattice: particles that a chain of cells joins. A mesh of several pieces gives one body of several
 * parts, each of which keeps its own momentum and spin whatever the others do.
 *
 * Union by the lowest particle: a part is named for its first particle, and parts are numbered in that order.
 */
#include "sample/lattice.h"

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

bool lmi_lattice_find_parts(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1;
    uint32_t *part = lmi_allocate(memory, blocks * LMI_BLOCK, sizeof *part);
    if (!part) {
        return false;
    }
    for (uint32_t n = 0; n < blocks * LMI_BLOCK; n++) {
        part[n] = n;
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        if (l->cell[block]) {
            join_cells(l, block, part);
        }
    }
    l->part = part;
    l->part_count = number_parts(l, part);
    l->part_of_block = l->part_count > 1 ? lmi_allocate(memory, blocks, sizeof *l->part_of_block) : NULL;
    if (!l->part_of_block) {
        lmi_release(memory, part, blocks * LMI_BLOCK, sizeof *part);
        l->part = NULL;
        return l->part_count == 1;
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        uint32_t of = LMI_LATTICE_NONE;
        bool mixed = false;
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            uint32_t mine = part[block * LMI_BLOCK + lane];
            mixed = mixed || (of != LMI_LATTICE_NONE && mine != LMI_LATTICE_NONE && mine != of);
            of = mine != LMI_LATTICE_NONE ? mine : of;
        }
        l->part_of_block[block] = mixed ? LMI_LATTICE_NONE : of;
    }
    l->part_of_block[l->block_count] = LMI_LATTICE_NONE;
    return true;
}

void lmi_lattice_free_parts(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1;
    if (l->part) {
        lmi_release(memory, l->part, blocks * LMI_BLOCK, sizeof *l->part);
        lmi_release(memory, l->part_of_block, blocks, sizeof *l->part_of_block);
        l->part = l->part_of_block = NULL;
    }
}
