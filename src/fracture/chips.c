#include "fracture/chips.h"
#include "lattice/lattice_break.h"
#include "lattice/lattice_cube.h"

#include <string.h>

#define NONE LMI_LATTICE_NONE

/* The corners of a cell by its lowest one; false: there is no such cell. */
static bool corners_of(const lmi_lattice *l, const int32_t low[3], uint32_t corners[8])
{
    uint32_t lowest = lmi_lattice_find(l, low[0], low[1], low[2]);
    if (lowest == NONE || !(l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1)) {
        return false;
    }
    for (int32_t k = 0; k < 8; k++) {
        corners[k] = lmi_lattice_find(l, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
    }
    return true;
}

static void give(const uint32_t corners[8], uint32_t chip, uint32_t *chips)
{
    for (int k = 0; k < 8; k++) {
        chips[corners[k]] = chip;
    }
}

/* Every second cell along each axis. */
static void start_chips(const lmi_lattice *l, uint32_t *chips)
{
    LMI_LATTICE_EACH(l, n)
    {
        int32_t at[3];
        uint32_t corners[8];
        lmi_lattice_corner(l, n, at);
        if (!(at[0] & 1) && !(at[1] & 1) && !(at[2] & 1) && corners_of(l, at, corners)) {
            give(corners, n, chips);
        }
    }
}

/* A cell around a particle whose corners are of one chip or none, the more of it the better: they all become the chip's. */
static bool join_by_cell(const lmi_lattice *l, uint32_t particle, uint32_t *chips)
{
    int32_t at[3];
    uint32_t best[8], most = 0, chip = NONE;
    lmi_lattice_corner(l, particle, at);
    for (int32_t n = 0; n < 8; n++) {
        int32_t low[3] = {at[0] - (n & 1), at[1] - (n >> 1 & 1), at[2] - (n >> 2)};
        uint32_t corners[8], one = NONE, count = 0;
        bool single = corners_of(l, low, corners);
        for (int k = 0; single && k < 8; k++) {
            uint32_t of = chips[corners[k]];
            single = of == NONE || one == NONE || of == one;
            one = of == NONE ? one : of;
            count += of != NONE;
        }
        if (single && count > most) {
            most = count;
            chip = one;
            memcpy(best, corners, sizeof best);
        }
    }
    if (most) {
        give(best, chip, chips);
    }
    return most > 0;
}

/* A neighbour along a link that has a chip. */
static bool join_by_link(const lmi_lattice *l, uint32_t particle, uint32_t *chips)
{
    for (int32_t n = 0; n < 6; n++) {
        int32_t at[3];
        lmi_lattice_corner(l, particle, at);
        lmi_lattice_link link = {particle, (uint32_t)n / 2};
        at[n / 2] += n % 2 ? 1 : -1;
        uint32_t other = lmi_lattice_find(l, at[0], at[1], at[2]);
        link.particle = n % 2 ? particle : other;
        if (other == NONE || chips[other] == NONE ||
            !(lmi_lattice_links(l, link.particle / LMI_BLOCK, link.axis) >> (link.particle % LMI_BLOCK) & 1)) {
            continue;
        }
        chips[particle] = chips[other];
        return true;
    }
    return false;
}

/* A cell around a particle none of whose corners has a chip is one of its own. */
static bool begin_chip(const lmi_lattice *l, uint32_t particle, uint32_t *chips)
{
    int32_t at[3];
    lmi_lattice_corner(l, particle, at);
    for (int32_t n = 0; n < 8; n++) {
        int32_t low[3] = {at[0] - (n & 1), at[1] - (n >> 1 & 1), at[2] - (n >> 2)};
        uint32_t corners[8];
        bool is_free = corners_of(l, low, corners);
        for (int k = 0; is_free && k < 8; k++) {
            is_free = chips[corners[k]] == NONE;
        }
        if (is_free) {
            give(corners, corners[0], chips);
            return true;
        }
    }
    return false;
}

typedef bool joining(const lmi_lattice *l, uint32_t particle, uint32_t *chips);

/* Tries it for every particle without a chip; whether it worked for any. */
static bool pass(const lmi_lattice *l, joining *join, uint32_t *chips)
{
    bool any = false;
    LMI_LATTICE_EACH(l, n) { any = (chips[n] == NONE && join(l, n, chips)) || any; }
    return any;
}

/* A particle is a corner of some cell, whose corners are free, or linked to one that is not: so everybody finds a chip. */
void lmi_lattice_find_chips(const lmi_lattice *l, uint32_t *chips)
{
    memset(chips, 0xff, ((size_t)l->block_count + 1) * LMI_BLOCK * sizeof *chips);
    start_chips(l, chips);
    while (pass(l, join_by_cell, chips) || pass(l, begin_chip, chips) || pass(l, join_by_link, chips)) {
    }
}
