/*
 * The spacing at which a mesh has a wanted number of corners.
 *
 * The number of corners falls with the spacing, roughly as a power of it, but not steadily: it jumps where the box takes
 * another layer of cells (a cube has 8, 27, 64, ... corners and nothing between), and wavers as faces pass from cell to
 * cell. So the search works on logarithms, keeps two spacings with too many and too few corners between which it
 * interpolates, and remembers the best it has seen; it ends with a hit, or where the two come together at a jump. Nothing
 * of it depends on the order of vertices or triangles.
 */
#include "base/dmath.h"
#include "base/vec.h"
#include "geometry/voxel.h"

#include <stdio.h>

#define MOST_TRIES 24         /* of the interpolation; three to eight are usual */
#define NARROWEST 2e-4        /* two spacings closer than this (as a share) are at a jump */
#define GOOD_ENOUGH 2e-3      /* a miss of this share of the number wanted ends the search */
#define USUAL_EXPONENT (-2.5) /* between a shell's and a solid's */

typedef struct search {
    lmi_memory *memory;
    lmi_voxel_mesh *mesh;
    char *fault;
    double wanted;
    bool shell;
    double finest; /* logarithm of the spacing below which the lattice is too large */
    lmi_voxels best;
    double miss;      /* of the best: | corners - wanted | */
    lm_result result; /* LM_OK, or what ends the search */
} search;

/* Voxels at exp(log_spacing); keeps them when they are the best yet. Returns the logarithm of the number of corners over
 * the number wanted. */
static double try_spacing(search *s, double log_spacing)
{
    lmi_voxels voxels;
    lm_result result = lmi_voxels_at(s->memory, s->mesh, lmi_exp(log_spacing), s->shell, &voxels, s->fault);
    if (result == LM_ERROR_LIMIT) { /* more than LM_MAX_PARTICLES */
        return 1.0;
    }
    if (result != LM_OK) {
        s->result = result;
        return 0.0;
    }
    double corners = voxels.corner_count, miss = fabs(corners - s->wanted);
    /* Of two with the same number the finer fits the shape more closely. */
    if (!s->best.bits || miss < s->miss || (miss == s->miss && voxels.spacing < s->best.spacing)) {
        lmi_voxels_free(s->memory, &s->best);
        s->best = voxels;
        s->miss = miss;
    } else {
        lmi_voxels_free(s->memory, &voxels);
    }
    return lmi_log(corners / s->wanted);
}

static bool is_done(const search *s) { return s->result != LM_OK || s->miss <= GOOD_ENOUGH * s->wanted; }

static double longest_side(const lmi_voxel_mesh *mesh)
{
    return 2.0 * fmax(mesh->half[0], fmax(mesh->half[1], mesh->half[2]));
}

/* The finest spacing that is allowed. One cell along the longest side always is. */
static double find_finest(const lmi_voxel_mesh *mesh)
{
    double allowed = lmi_log(longest_side(mesh)), refused = allowed - 20.0;
    for (int round = 0; round < 40; round++) {
        double middle = 0.5 * (refused + allowed);
        *(lmi_voxels_fit(mesh, lmi_exp(middle)) ? &allowed : &refused) = middle;
    }
    return allowed;
}

/* The spacing at which the whole box, every cell occupied, would have this many corners. */
static double spacing_for_box(const lmi_voxel_mesh *mesh, double corners)
{
    double coarse = lmi_log(longest_side(mesh)), fine = coarse - 20.0;
    for (int round = 0; round < 40; round++) {
        double middle = 0.5 * (fine + coarse), spacing = lmi_exp(middle), product = 1.0;
        for (int i = 0; i < 3; i++) {
            product *= 1.0 + fmax(2.0 * mesh->half[i] / spacing, 1.0);
        }
        *(product > corners ? &fine : &coarse) = middle;
    }
    return 0.5 * (fine + coarse);
}

/* From a first guess to a hit, to two spacings next to each other, or to the finest allowed with too few corners. */
static void close_in(search *s)
{
    double fine = -INFINITY, coarse = INFINITY;    /* logarithms of spacings with too many and too few corners */
    double fine_excess = 0.0, coarse_excess = 0.0; /* what try_spacing returned there */
    double at = spacing_for_box(s->mesh, s->wanted);
    int repeats = 0; /* how often the same of the two was replaced */
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        at = fmax(at, s->finest);
        double excess = try_spacing(s, at);
        if (is_done(s)) {
            return;
        }
        if (excess > 0.0) {
            repeats = repeats > 0 ? repeats + 1 : 1;
            fine = at;
            fine_excess = excess;
        } else {
            repeats = repeats < 0 ? repeats - 1 : -1;
            coarse = at;
            coarse_excess = excess;
        }
        if (coarse - fine < NARROWEST || coarse == s->finest) {
            return;
        }
        if (isinf(fine) || isinf(coarse)) { /* rather too far than too near: then there are two to work between */
            at += 1.2 * excess / -USUAL_EXPONENT + (excess > 0.0 ? 0.01 : -0.01);
        } else {
            double share = fine_excess / (fine_excess - coarse_excess);
            bool stuck = repeats > 1 || repeats < -1;
            at = fine + (stuck ? 0.5 : fmin(fmax(share, 0.05), 0.95)) * (coarse - fine);
        }
    }
}

/* The finest spacing with as many cells along each axis fits the box without a gap: for a box, the same corners, in the
 * right place. */
static void fit_box(search *s)
{
    double spacing = 0.0;
    for (int i = 0; i < 3; i++) {
        spacing = fmax(spacing, 2.0 * s->mesh->half[i] / s->best.n[i]);
    }
    if (spacing < s->best.spacing) {
        try_spacing(s, lmi_log(spacing));
    }
}

lm_result lmi_voxels_search(lmi_memory *memory, lmi_voxel_mesh *mesh, uint32_t particles, bool shell,
                            lmi_voxels *voxels, char *fault)
{
    search s = {.memory = memory, .mesh = mesh, .fault = fault, .wanted = particles, .shell = shell, .miss = INFINITY};
    s.finest = find_finest(mesh);
    close_in(&s);
    /* As near as the limits let it come is not near: better to say so. */
    bool limited = s.result == LM_OK && (!s.best.bits || lmi_log(s.best.spacing) <= s.finest + NARROWEST);
    if (limited && !(s.miss <= 0.1 * s.wanted)) {
        snprintf(fault, LMI_VOXEL_FAULT_SIZE,
                 "%u particles were asked for; the finest lattice allowed (spacing %g m) has %u", particles,
                 lmi_exp(s.finest), s.best.corner_count);
        s.result = LM_ERROR_LIMIT;
    }
    if (s.result == LM_OK) {
        fit_box(&s);
    }
    if (s.result != LM_OK) {
        lmi_voxels_free(memory, &s.best);
        return s.result;
    }
    fault[0] = 0;
    *voxels = s.best;
    return LM_OK;
}
