/*
 * The links of a lattice: which there are, and what is torn when one breaks.
 */
#include "lattice/lattice_break.h"
#include "lattice/lattice_cube.h"

#include <string.h>

uint32_t lmi_lattice_link_end(const lmi_lattice *l, lmi_lattice_link link)
{
    int32_t at[3];
    lmi_lattice_corner(l, link.particle, at);
    at[link.axis]++;
    return lmi_lattice_find(l, at[0], at[1], at[2]);
}

/* A row of cells' bits, lane for lane as a block's. */
static uint32_t cells_beside(const lmi_lattice *l, const int32_t at[3], int32_t dx, int32_t dy, int32_t dz)
{
    return lmi_lattice_row_bits(l, lmi_lattice_map_of(l), l->cell, at[0] + dx, LMI_BLOCK, at[1] + dy, at[2] + dz);
}

/* A link is an edge of up to four cells: those whose lowest corners are one down, or not, along the other axes. */
uint32_t lmi_lattice_links(const lmi_lattice *l, uint32_t block, uint32_t axis)
{
    uint32_t bits = 0;
    for (int32_t n = 0; n < 4; n++) {
        int32_t d[3] = {0, 0, 0};
        d[(axis + 1) % 3] = -(n & 1);
        d[(axis + 2) % 3] = -(n >> 1);
        bits |= cells_beside(l, l->at[block], d[0], d[1], d[2]);
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
