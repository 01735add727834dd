#include "touch/bulk.h"
#include "base/quad.h"
#include "lattice/embed_lattice.h"
#include "lattice/lattice_body.h"
#include "touch/depth.h"
#include "touch/stretch.h"
#include "world/world.h"

#include <string.h>

bool lmi_bulk_make(lm_world *world, const lmi_body *body, const lmi_touch_mesh *mesh, lmi_bulk *s)
{
    return lmi_bulk_of_mould(world, lmi_mould_take(world, body, mesh), s);
}

bool lmi_bulk_of_mould(lm_world *world, lmi_mould *mould, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    lmi_bulk made = {.mould = mould};
    if (made.mould) {
        made.map = lmi_allocate(memory, lmi_bulk_lanes(mould), 16 * sizeof *made.map);
        made.place = lmi_allocate(memory, (size_t)lmi_bulk_lanes(mould) * 3, sizeof *made.place);
    }
    if (!made.map || !made.place || !lmi_mould_lay_out(memory, mould)) {
        lmi_bulk_free(world, &made);
        return false;
    }
    *s = made;
    return true;
}

void lmi_bulk_free(lm_world *world, lmi_bulk *s)
{
    lmi_memory *memory = &world->memory;
    uint32_t lanes = s->mould ? lmi_bulk_lanes(s->mould) : 0;
    lmi_release(memory, s->map, lanes, 16 * sizeof *s->map);
    lmi_release(memory, s->place, (size_t)lanes * 3, sizeof *s->place);
    lmi_mould_give(world, s->mould);
    memset(s, 0, sizeof *s);
}

lm_dvec3 lmi_bulk_facing(const lmi_bulk *s, const lmi_touch *touch, uint32_t point)
{
    const dmat3 inverse = lmi_bulk_inverse(s, touch->carrier[point]);
    lm_dvec3 n = dmat_apply_transposed(&inverse, dvec_from(touch->facing[point]));
    double length = dvec_length(n);
    return dvec_scale(n, length > 0.0 ? 1.0 / length : 0.0);
}

bool lmi_bulk_conclude(const lmi_bulk *s, lm_dvec3 point, double distance, lm_dvec3 slope, const dmat3 *inverse,
                       double margin, lmi_inside *inside)
{
    lm_dvec3 n = dmat_apply_transposed(inverse, slope), off = dvec_sub(point, lmi_bulk_at(s, inside->carrier));
    lmi_way_out out = lmi_find_way_out(distance, slope, n, off, s->mould->cell, margin);
    inside->normal = out.normal;
    inside->depth = out.depth;
    return out.found;
}

/* The cell that holds a point now, from where the blend says it was in the rest shape, and once more from there. */
static bool grip_cell(const lmi_bulk *s, const lmi_body *body, const lmi_inside *inside, lm_dvec3 point,
                      uint32_t riders[8], float weights[8])
{
    const dmat3 inverse = lmi_bulk_inverse(s, inside->carrier);
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
        rest = dvec_add(rest, dmat_apply(&inverse, dvec_sub(point, at)));
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
    const dmat3 inverse = lmi_bulk_inverse(s, c);
    lm_dvec3 d = dmat_apply(&inverse, dvec_sub(point, lmi_bulk_at(s, c)));
    d = lmi_hold_within(d, lmi_mould_across(s->mould, c), s->mould->across[4 * (size_t)c + 3]);
    const float off[3] = {(float)d.x, (float)d.y, (float)d.z};
    const size_t first = (size_t)c * s->mould->carrier_riders;
    const float *weight = s->mould->weight + first, *g = s->mould->gradient + 3 * first;
    for (uint32_t n = 0; n < s->mould->used[c]; n++, g += 3) {
        riders[n] = s->mould->rider[first + n];
        weights[n] = weight[n] + ((g[0] * off[0] + g[1] * off[1]) + g[2] * off[2]);
    }
    return s->mould->used[c];
}
