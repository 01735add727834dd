/*
 * Whose vertex (skin/surface.h).
 *
 * A vertex on planes between boxes is in the corner, edge or face of two, four or eight boxes. Those that unbroken links join
 * among themselves share it; each such group has a vertex of its own. Where nothing is broken around it there is one.
 */
#include "lattice/lattice_break.h"
#include "skin/surface.h"

#include <math.h>

#define NONE LMI_LATTICE_NONE

static bool holds(const lmi_lattice *l, lmi_lattice_link link)
{
    return l->bond[0] ? lmi_lattice_holds(l, link)
                      : (lmi_lattice_links(l, link.particle / LMI_BLOCK, link.axis) >> (link.particle % LMI_BLOCK) & 1);
}

static bool is_broken(const lmi_lattice *l, lmi_lattice_link link)
{
    return l->bond[0] && !lmi_lattice_holds(l, link) &&
           (lmi_lattice_links(l, link.particle / LMI_BLOCK, link.axis) >> (link.particle % LMI_BLOCK) & 1);
}

void lmi_cut_find_boxes(const lmi_cut *cut, const lmi_lattice *l, uint32_t vertex, lmi_cut_around *around)
{
    const uint8_t planes = lmi_cut_place(cut, l, vertex, around->at);
    int32_t low[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (int32_t)floor(planes >> a & 1 ? around->at[a] : around->at[a] + 0.5);
    }
    for (uint32_t k = 0; k < 8; k++) {
        bool is = !(k & ~(uint32_t)planes);
        around->particle[k] =
            is ? lmi_lattice_find(l, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2 & 1)) : NONE;
        around->group[k] = (uint8_t)k;
    }
}

void lmi_cut_look_around(const lmi_cut *cut, const lmi_lattice *l, uint32_t vertex, lmi_cut_around *around)
{
    lmi_cut_find_boxes(cut, l, vertex, around);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < 8; k++) {
            for (uint32_t a = 0; a < 3; a++) {
                uint32_t up = k | 1u << a;
                if (up == k || around->particle[k] == NONE || around->particle[up] == NONE ||
                    around->group[k] == around->group[up] || !holds(l, (lmi_lattice_link){around->particle[k], a})) {
                    continue;
                }
                uint8_t lower = around->group[k] < around->group[up] ? around->group[k] : around->group[up];
                around->group[k] = around->group[up] = lower;
                changed = true;
            }
        }
    }
}

uint8_t lmi_cut_group_of(const lmi_cut_around *around, uint32_t particle)
{
    for (uint32_t k = 0; k < 8; k++) {
        if (around->particle[k] == particle) {
            return around->group[k];
        }
    }
    return LMI_CUT_ALONE;
}

/* Of one in a cell all links between its boxes are edges of that cell. */
bool lmi_cut_is_torn(const lmi_cut *cut, const lmi_lattice *l, uint32_t vertex)
{
    const bool is_node = vertex >= LMI_CUT_NODE;
    const uint32_t cell = is_node ? vertex - LMI_CUT_NODE : cut->vertices[vertex].cell;
    bool torn = cell == NONE || !(lmi_lattice_whole(l)[cell / LMI_BLOCK] >> (cell % LMI_BLOCK) & 1);
    if (!torn && !is_node && cut->vertices[vertex].outside) {
        lmi_cut_around around;
        lmi_cut_find_boxes(cut, l, vertex, &around);
        for (uint32_t n = 0; n < 24 && !torn; n++) {
            uint32_t box = n / 3, axis = n % 3;
            torn = !(box >> axis & 1) && around.particle[box] != NONE && around.particle[box | 1u << axis] != NONE &&
                   is_broken(l, (lmi_lattice_link){around.particle[box], axis});
        }
    }
    return torn;
}

/* Takes the cell of a particle's chip where it is nearer to a point than the best so far. */
static void consider_chip(const lmi_lattice *l, uint32_t chip, const double at[3], double *best, uint32_t *cell)
{
    int32_t low[3];
    double square = 0.0;
    lmi_lattice_corner(l, chip, low);
    for (int a = 0; a < 3; a++) {
        double below = low[a] - at[a], above = at[a] - low[a] - 1.0, off = below > above ? below : above;
        square += off > 0.0 ? off * off : 0.0;
    }
    if (square < *best || (square == *best && chip < *cell)) {
        *best = square;
        *cell = chip;
    }
}

void lmi_cut_ride_chip(const lmi_lattice *l, const uint32_t *chips, const lmi_cut_around *around, uint8_t group,
                       uint32_t owner, uint32_t riders[8], float weights[8])
{
    double best = INFINITY;
    uint32_t cell = group == LMI_CUT_ALONE ? chips[owner] : NONE;
    for (uint32_t k = 0; k < 8; k++) {
        if (around->group[k] == group && around->particle[k] != NONE) {
            consider_chip(l, chips[around->particle[k]], around->at, &best, &cell);
        }
    }
    lmi_cut_ride(l, cell, around->at, riders, weights);
}
