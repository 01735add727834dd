#include "fracture/fracture.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_break.h"
#include "lattice/lattice_regions.h"
#include "world/body.h"

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

/* ---- blades ----
 *
 * A blade and the chips of a lattice: which links it parts, and how a lattice that cannot break comes to have links at all.
 */

/* Of links that only a blade breaks: the highest that lm_body_set_fracture takes. Nothing is compared with it (`breaks` is
 * off); lm_world_get_breaks tells it. */
#define NEVER_REACHED 1e6f

/* The middle of a chip's cell, where it is now. */
static lm_dvec3 chip_middle(const lmi_body *body, uint32_t chip)
{
    const lmi_lattice *l = &body->lattice->shape;
    int32_t low[3];
    lm_dvec3 sum = lm_dvec3_zero();
    lmi_lattice_corner(l, chip, low);
    for (int32_t k = 0; k < 8; k++) {
        uint32_t n = lmi_lattice_find(l, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
        const float *x = body->x + (size_t)n * 4;
        sum = dvec_add(sum, dvec(x[0], x[1], x[2]));
    }
    return dvec_scale(sum, 0.125);
}

/* A lattice that cannot break has no bonds of its own: all its links hold. */
static bool holds(const lmi_lattice *l, lmi_lattice_link link)
{
    return l->bond[0] ? lmi_lattice_holds(l, link)
                      : lmi_lattice_links(l, link.particle / LMI_BLOCK, link.axis) >> link.particle % LMI_BLOCK & 1;
}

/* Whether a link is between chips whose middles are on two sides of the blade: a cut goes around chips, and leaves no bridge of a
 * link that it passed by. */
static bool parted(const lmi_body *body, const uint32_t *chips, lmi_lattice_link link, const lmi_blade *blade,
                   const lmi_stroke *stroke)
{
    const lmi_lattice *l = &body->lattice->shape;
    if (!holds(l, link) || chips[link.particle] == chips[lmi_lattice_link_end(l, link)] ||
        !lmi_stroke_cuts(stroke, lmi_lattice_part_of(body, link.particle))) {
        return false;
    }
    lm_dvec3 from = chip_middle(body, chips[link.particle]);
    lm_dvec3 to = chip_middle(body, chips[lmi_lattice_link_end(l, link)]);
    return lmi_blade_crossed(blade, from, to);
}

bool lmi_fracture_find_parted(lm_world *world, lmi_body *body, const lmi_blade *blade, const lmi_stroke *stroke)
{
    lmi_fracture *f = body->fracture;
    f->strained_count = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        for (uint32_t axis = 0; axis < 3; axis++) {
            lmi_lattice_link link = {n, axis};
            if (!parted(body, f->chips, link, blade, stroke)) {
                continue;
            }
            void *array = f->strained;
            bool ok =
                lmi_reserve(&world->memory, &array, &f->strained_capacity, f->strained_count + 1, sizeof *f->strained);
            f->strained = array;
            if (!ok) {
                return false;
            }
            f->strained[f->strained_count++] = (lmi_strained){link, 0.0f, 1.0f, 0.0};
        }
    }
    return true;
}

static bool parts_any(const lmi_body *body, const uint32_t *chips, const lmi_blade *blade, const lmi_stroke *stroke)
{
    LMI_PARTICLES_EACH(body, n)
    {
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (parted(body, chips, (lmi_lattice_link){n, axis}, blade, stroke)) {
                return true;
            }
        }
    }
    return false;
}

lm_result lmi_fracture_ready_for_blade(lm_world *world, lmi_body *body, const lmi_stroke *stroke, bool opens,
                                       lmi_fracture_undo *undo)
{
    if (body->fracture) {
        return LM_OK;
    }
    lmi_memory *memory = &world->memory;
    lmi_blade blade;
    bool ready = lmi_blade_make(&blade, memory, stroke->triangles, stroke->count);
    uint32_t *chips = lmi_allocate(memory, body->place_count, sizeof *chips);
    lm_result result = ready && chips ? LM_OK : LM_ERROR_MEMORY;
    bool any = false;
    if (result == LM_OK && blade.count > 0) {
        lmi_lattice_find_chips(&body->lattice->shape, chips);
        any = parts_any(body, chips, &blade, stroke);
    }
    lmi_blade_free(&blade, memory);
    lmi_release(memory, chips, body->place_count, sizeof *chips);
    if (any) {
        lm_fracture_def def = lm_fracture_def_default();
        def.limit = NEVER_REACHED;
        result = lmi_fracture_set(world, body, &def, opens, undo);
        if (result == LM_OK) {
            body->fracture->breaks = false;
        }
    }
    return result;
}
