/*
 * Whose vertex (skin/surface.h).
 *
 * A vertex on planes between boxes is in the corner, edge or face of two, four or eight boxes. Those that unbroken links join
 * among themselves share it; each such group has a vertex of its own. Where nothing is broken around it there is one.
 */
#include "lattice/lattice_break.h"
#include "skin/surface.h"

#include <math.h>
#include <string.h>

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

/* ---- what is where ----
 *
 * What of a divided surface is where (skin/surface.h): vertices by the places of the lattice, corners of triangles by vertex. With
 * them a break asks only what is near its links.
 */

void lmi_cut_link_places(const lmi_lattice *l, lmi_lattice_link link, uint32_t places[4])
{
    for (int32_t n = 0; n < 4; n++) {
        int32_t at[3];
        lmi_lattice_corner(l, link.particle, at);
        at[(link.axis + 1) % 3] -= n & 1;
        at[(link.axis + 2) % 3] -= n >> 1;
        places[n] = lmi_lattice_find(l, at[0], at[1], at[2]);
    }
}

/* Its own cell, and for one outside the lower ends of links between its boxes; each once. */
static uint32_t places_of(const lmi_lattice *l, const lmi_cut *cut, uint32_t vertex, uint32_t places[9])
{
    const lmi_cut_vertex *v = &cut->vertices[vertex];
    uint32_t count = 0;
    if (v->cell != NONE) {
        places[count++] = v->cell;
    }
    if (v->outside) {
        lmi_cut_around around;
        lmi_cut_find_boxes(cut, l, vertex, &around);
        for (uint32_t box = 0; box < 8; box++) {
            bool lower = false;
            for (uint32_t axis = 0; axis < 3; axis++) {
                lower = lower || (!(box >> axis & 1) && around.particle[box | 1u << axis] != NONE);
            }
            if (around.particle[box] != NONE && around.particle[box] != v->cell && lower) {
                places[count++] = around.particle[box];
            }
        }
    }
    return count;
}

/* Counts of a list become where each begins. */
static uint32_t begin_lists(uint32_t *first, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t here = first[n];
        first[n] = sum;
        sum += here;
    }
    return sum;
}

/* After every list was filled by counting its beginning up. */
static void rewind_lists(uint32_t *first, uint32_t count)
{
    memmove(first + 1, first, count * sizeof *first);
    first[0] = 0;
}

static bool index_places(lmi_memory *memory, const lmi_lattice *l, lmi_cut *cut)
{
    uint32_t places[9];
    cut->place_count = (l->block_count + 1) * LMI_BLOCK;
    cut->first_near = lmi_allocate(memory, (size_t)cut->place_count + 1, sizeof *cut->first_near);
    if (!cut->first_near) {
        return false;
    }
    for (uint32_t n = 0; n < cut->vertex_count; n++) {
        for (uint32_t k = places_of(l, cut, n, places); k-- > 0;) {
            cut->first_near[places[k]]++;
        }
    }
    cut->near_count = begin_lists(cut->first_near, cut->place_count);
    cut->near = lmi_allocate(memory, cut->near_count, sizeof *cut->near);
    for (uint32_t n = 0; cut->near && n < cut->vertex_count; n++) {
        for (uint32_t k = places_of(l, cut, n, places); k-- > 0;) {
            cut->near[cut->first_near[places[k]]++] = n;
        }
    }
    rewind_lists(cut->first_near, cut->place_count);
    return cut->near != NULL;
}

static bool index_corners(lmi_memory *memory, lmi_cut *cut)
{
    cut->first_corner = lmi_allocate(memory, (size_t)cut->vertex_count + 1, sizeof *cut->first_corner);
    cut->corners = lmi_allocate(memory, 3 * (size_t)cut->triangle_count, sizeof *cut->corners);
    if (!cut->first_corner || !cut->corners) {
        return false;
    }
    for (uint32_t n = 0; n < 3 * cut->triangle_count; n++) {
        cut->first_corner[cut->triangles[n / 3].corner[n % 3]]++;
    }
    begin_lists(cut->first_corner, cut->vertex_count);
    for (uint32_t n = 0; n < 3 * cut->triangle_count; n++) {
        cut->corners[cut->first_corner[cut->triangles[n / 3].corner[n % 3]]++] = n;
    }
    rewind_lists(cut->first_corner, cut->vertex_count);
    return true;
}

bool lmi_cut_index(lmi_memory *memory, const lmi_lattice *l, lmi_cut *cut)
{
    return index_places(memory, l, cut) && index_corners(memory, cut);
}

void lmi_cut_index_free(lmi_memory *memory, lmi_cut *cut)
{
    lmi_release(memory, cut->first_near, (size_t)cut->place_count + 1, sizeof *cut->first_near);
    lmi_release(memory, cut->near, cut->near_count, sizeof *cut->near);
    lmi_release(memory, cut->first_corner, (size_t)cut->vertex_count + 1, sizeof *cut->first_corner);
    lmi_release(memory, cut->corners, 3 * (size_t)cut->triangle_count, sizeof *cut->corners);
}
