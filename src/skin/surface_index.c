/*
 * What of a divided surface is where (skin/surface.h): vertices by the places of the lattice, corners of triangles by vertex. With
 * them a break asks only what is near its links.
 */
#include "lattice/lattice_break.h"
#include "skin/surface.h"

#include <string.h>

#define NONE LMI_LATTICE_NONE

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
