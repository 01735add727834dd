#include "sample/bulk.h"
#include "base/quad.h"
#include "sample/depth.h"
#include "sample/embed_lattice.h"
#include "sample/stretch.h"
#include "world.h"

#include <string.h>

/* Where carriers are that there are none of. */
#define FAR 1e18f

bool lmi_bulk_make(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh, lmi_bulk *s)
{
    return lmi_bulk_of_mould(world, lmi_mould_take(world, body, mesh), s);
}

bool lmi_bulk_of_mould(lm_world *world, lmi_mould *mould, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    lmi_bulk made = {.mould = mould};
    if (made.mould) {
        uint32_t carriers = made.mould->carrier_count;
        made.map = lmi_allocate(memory, carriers, 16 * sizeof *made.map);
        made.at = lmi_allocate(memory, carriers, sizeof *made.at);
        made.inverse = lmi_allocate(memory, carriers, sizeof *made.inverse);
        made.place = lmi_allocate(memory, (size_t)lmi_bulk_lanes(made.mould) * 3, sizeof *made.place);
    }
    if (!made.map || !made.at || !made.inverse || !made.place) {
        lmi_bulk_free(world, &made);
        return false;
    }
    for (uint32_t n = made.mould->carrier_count; n < lmi_bulk_lanes(made.mould); n++) {
        made.place[n] = FAR;
    }
    *s = made;
    return true;
}

void lmi_bulk_free(lm_world *world, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    uint32_t carriers = s->mould ? s->mould->carrier_count : 0;
    lmi_release(memory, s->map, carriers, 16 * sizeof *s->map);
    lmi_release(memory, s->at, carriers, sizeof *s->at);
    lmi_release(memory, s->inverse, carriers, sizeof *s->inverse);
    lmi_release(memory, s->place, s->mould ? (size_t)lmi_bulk_lanes(s->mould) * 3 : 0, sizeof *s->place);
    lmi_mould_give(world, s->mould);
    memset(s, 0, sizeof *s);
}

lm_dvec3 lmi_bulk_facing(const lmi_bulk *s, const lmi_touch *touch, uint32_t point)
{
    lm_dvec3 n = dmat_apply_transposed(&s->inverse[touch->carrier[point]], dvec_from(touch->facing[point]));
    double length = dvec_length(n);
    return dvec_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

/* The map of the whole. A carrier takes a point p to X_c + F_c^-1 (p - x_c), the whole to X + F^-1 (p - x): they differ by at
 * most |X_c - X - F^-1 (x_c - x)| + |F_c^-1 - F^-1| reach. */
static void update_whole(lmi_bulk *s)
{
    quad mean = {0}, column[3] = {{0}, {0}, {0}};
    float share = 1.0f / (float)(s->mould->carrier_count ? s->mould->carrier_count : 1);
    for (uint32_t c = 0; c < s->mould->carrier_count; c++) {
        mean += share * quad_of(s->map[16 * c], s->map[16 * c + 1], s->map[16 * c + 2]);
    }
    for (uint32_t c = 0; c < s->mould->carrier_count; c++) {
        quad x = quad_of(s->map[16 * c], s->map[16 * c + 1], s->map[16 * c + 2]) - mean;
        for (int i = 0; i < 3; i++) {
            column[i] += s->mould->lever[3 * c + (uint32_t)i] * x;
        }
    }
    dmat3 stretch = {{{column[0][0], column[1][0], column[2][0]},
                      {column[0][1], column[1][1], column[2][1]},
                      {column[0][2], column[1][2], column[2][2]}}};
    dmat3 inverse = lmi_invert_stretch(&stretch);
    double slack = 0.0, whole[9];
    for (int i = 0; i < 9; i++) {
        whole[i] = inverse.m[i / 3][i % 3];
        s->whole[i] = (float)whole[i];
    }
    s->middle = vec_from(quad_to(mean));
    for (uint32_t c = 0; c < s->mould->carrier_count; c++) {
        double differs[9];
        for (int i = 0; i < 9; i++) {
            differs[i] = s->inverse[c].m[i / 3][i % 3] - whole[i];
        }
        lm_dvec3 there = dmat_apply(&inverse, dvec_sub(s->at[c], dvec_from(s->middle)));
        lm_dvec3 off = dvec_sub(dvec_sub(dvec_from(s->mould->rest[c]), dvec_from(s->mould->rest_middle)), there);
        double bound = dvec_length(off) + lmi_largest_stretch(differs) * s->mould->far;
        slack = bound > slack ? bound : slack;
    }
    s->slack = (float)slack;
}

void lmi_bulk_update(lmi_bulk *s, const lmi_body *body)
{
    uint32_t lanes = lmi_bulk_lanes(s->mould);
    for (uint32_t c = 0; c < s->mould->carrier_count; c++) {
        size_t first = (size_t)c * s->mould->carrier_riders;
        quad at = {0}, column[3] = {{0}, {0}, {0}};
        for (size_t k = first; k < first + s->mould->used[c]; k++) {
            quad x = quad_load(body->x + (size_t)s->mould->rider[k] * 4);
            const float *g = s->mould->gradient + 3 * k;
            at += s->mould->weight[k] * x;
            column[0] += g[0] * x;
            column[1] += g[1] * x;
            column[2] += g[2] * x;
        }
        dmat3 stretch = {{{column[0][0], column[1][0], column[2][0]},
                          {column[0][1], column[1][1], column[2][1]},
                          {column[0][2], column[1][2], column[2][2]}}};
        s->at[c] = quad_to(at);
        stretch = lmi_complete_stretch(stretch, lmi_mould_across(s->mould, c));
        s->inverse[c] = lmi_invert_stretch(&stretch);
        lm_dvec3 shift = dvec_sub(dvec_from(s->mould->rest[c]), dmat_apply(&s->inverse[c], s->at[c]));
        float *map = s->map + (size_t)c * 16;
        map[0] = at[0], map[1] = at[1], map[2] = at[2];
        for (uint32_t i = 0; i < 3; i++) {
            s->place[i * lanes + c] = at[i];
        }
        map[3] = (float)shift.x, map[4] = (float)shift.y, map[5] = (float)shift.z;
        for (int i = 0; i < 9; i++) {
            map[6 + i] = (float)s->inverse[c].m[i / 3][i % 3];
        }
    }
    update_whole(s);
}

bool lmi_bulk_conclude(const lmi_bulk *s, lm_dvec3 point, double distance, lm_dvec3 slope, const dmat3 *inverse,
                       double margin, lmi_inside *inside)
{
    lm_dvec3 n = dmat_apply_transposed(inverse, slope), off = dvec_sub(point, s->at[inside->carrier]);
    lmi_way_out out = lmi_find_way_out(distance, slope, n, off, s->mould->cell, margin);
    inside->normal = out.normal;
    inside->depth = out.depth;
    return out.found;
}

/* The cell that holds a point now, from where the blend says it was in the rest shape, and once more from there. */
static bool grip_cell(const lmi_bulk *s, const lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                      uint32_t riders[8], float weights[8])
{
    lm_dvec3 rest = inside->rest;
    for (int pass = 0; pass < 3; pass++) {
        if (!lmi_embed_lattice_inside(&body->lattice->shape, vec_from(rest), riders, weights)) {
            return false;
        }
        lm_dvec3 at = lm_dvec3_zero();
        for (int n = 0; n < 8; n++) {
            const float *x = body->x + (size_t)riders[n] * 4;
            at = dvec_add(at, dvec_scale(dvec(x[0], x[1], x[2]), weights[n]));
        }
        rest = dvec_add(rest, dmat_apply(&s->inverse[inside->carrier], dvec_sub(point, at)));
    }
    return true;
}

uint32_t lmi_bulk_grip(const lmi_bulk *s, const lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                       uint32_t riders[LMI_CARRIER_MOST], float weights[LMI_CARRIER_MOST])
{
    uint32_t c = inside->carrier;
    if (body->lattice && grip_cell(s, body, inside, point, riders, weights)) {
        return 8;
    }
    lm_dvec3 d = dmat_apply(&s->inverse[c], dvec_sub(point, s->at[c]));
    d = lmi_hold_within(d, lmi_mould_across(s->mould, c), s->mould->across[4 * (size_t)c + 3]);
    for (uint32_t n = 0; n < s->mould->used[c]; n++) {
        size_t k = (size_t)c * s->mould->carrier_riders + n;
        const float *g = s->mould->gradient + 3 * k;
        riders[n] = s->mould->rider[k];
        weights[n] = (float)(s->mould->weight[k] + (g[0] * d.x + g[1] * d.y + g[2] * d.z));
    }
    return s->mould->used[c];
}
