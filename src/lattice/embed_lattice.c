#include "lattice/embed_lattice.h"

#include <math.h>

/* Along the lattice's own axes, in spacings. */
static void locate(const lmi_lattice *l, lm_vec3 point, double at[3])
{
    double from[3] = {point.x - l->first.x, point.y - l->first.y, point.z - l->first.z};
    for (uint32_t a = 0; a < 3; a++) {
        at[a] = from[(a + l->turn) % 3] / l->spacing;
    }
}

static bool has_cell(const lmi_lattice *l, const int32_t cell[3])
{
    uint32_t lowest = lmi_lattice_find(l, cell[0], cell[1], cell[2]);
    return lowest != LMI_LATTICE_NONE && (l->cell[lowest / LMI_BLOCK] >> (lowest % LMI_BLOCK) & 1);
}

/* Square of the distance from a point to a cell. */
static double distance(const double at[3], const int32_t cell[3])
{
    double sum = 0.0;
    for (int a = 0; a < 3; a++) {
        double below = cell[a] - at[a], above = at[a] - cell[a] - 1.0, off = fmax(fmax(below, above), 0.0);
        sum += off * off;
    }
    return sum;
}

/* Among the cells around first, which has all that a vertex of the mesh can be in; beyond them among all. */
static void nearest_cell(const lmi_lattice *l, const double at[3], int32_t cell[3])
{
    int32_t from[3] = {(int32_t)floor(at[0]), (int32_t)floor(at[1]), (int32_t)floor(at[2])};
    double best = INFINITY;
    for (int32_t n = 0; n < 27; n++) {
        int32_t other[3] = {from[0] + n % 3 - 1, from[1] + n / 3 % 3 - 1, from[2] + n / 9 - 1};
        if (distance(at, other) < best && has_cell(l, other)) {
            best = distance(at, other);
            cell[0] = other[0], cell[1] = other[1], cell[2] = other[2];
        }
    }
    for (uint32_t n = 0; best == INFINITY && n < l->block_count * LMI_BLOCK; n++) {
        double least = INFINITY;
        for (; n < l->block_count * LMI_BLOCK; n++) {
            int32_t other[3];
            lmi_lattice_corner(l, n, other);
            if ((l->cell[n / LMI_BLOCK] >> (n % LMI_BLOCK) & 1) && distance(at, other) < least) {
                least = distance(at, other);
                cell[0] = other[0], cell[1] = other[1], cell[2] = other[2];
            }
        }
    }
}

static void weigh_corners(const lmi_lattice *l, const double at[3], const int32_t cell[3], uint32_t particles[8],
                          float weights[8])
{
    for (int n = 0; n < 8; n++) {
        double weight = 1.0;
        int32_t corner[3];
        for (uint32_t a = 0; a < 3; a++) {
            int32_t side = n >> ((a + l->turn) % 3) & 1;
            double t = at[a] - cell[a];
            weight *= side ? t : 1.0 - t;
            corner[a] = cell[a] + side;
        }
        particles[n] = lmi_lattice_find(l, corner[0], corner[1], corner[2]);
        weights[n] = (float)weight;
    }
}

uint32_t lmi_embed_lattice(const lmi_lattice *l, lm_vec3 point, uint32_t particles[8], float weights[8])
{
    double at[3];
    int32_t cell[3] = {0, 0, 0};
    locate(l, point, at);
    for (int a = 0; a < 3; a++) { /* where integers still hold it */
        at[a] = fmin(fmax(at[a], -1e6), 1e6);
    }
    nearest_cell(l, at, cell);
    weigh_corners(l, at, cell, particles, weights);
    return 8;
}

bool lmi_embed_lattice_inside(const lmi_lattice *l, lm_vec3 point, uint32_t particles[8], float weights[8])
{
    double at[3];
    locate(l, point, at);
    for (int a = 0; a < 3; a++) {
        at[a] = fmin(fmax(at[a], -1e6), 1e6);
    }
    int32_t cell[3] = {(int32_t)floor(at[0]), (int32_t)floor(at[1]), (int32_t)floor(at[2])};
    if (!has_cell(l, cell)) {
        return false;
    }
    weigh_corners(l, at, cell, particles, weights);
    return true;
}
