/*
 * A blade and the chips of a lattice: which links it parts, and how a lattice that cannot break comes to have links at all.
 */
#include "fracture/chips.h"
#include "fracture/fracture.h"
#include "world/body.h"

/* Of links that only a blade breaks: the highest that lm_body_set_fracture takes. Nothing is compared with it (`breaks` is
 * off); lm_world_get_breaks tells it. */
#define NEVER_REACHED 1e6f

lmi_blade_plane *lmi_fracture_blade_planes(lmi_memory *memory, const lmi_blade_triangle *blade, uint32_t triangle_count,
                                           uint32_t *count)
{
    lmi_blade_plane *planes = lmi_allocate(memory, triangle_count, sizeof *planes);
    *count = 0;
    for (uint32_t n = 0; planes && n < triangle_count; n++) {
        *count += lmi_blade_prepare(&blade[n], &planes[*count]);
    }
    return planes;
}

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
static bool parted(const lmi_body *body, const uint32_t *chips, lmi_lattice_link link, const lmi_blade_plane *planes,
                   uint32_t count)
{
    const lmi_lattice *l = &body->lattice->shape;
    if (!holds(l, link) || chips[link.particle] == chips[lmi_lattice_link_end(l, link)]) {
        return false;
    }
    lm_dvec3 from = chip_middle(body, chips[link.particle]);
    lm_dvec3 to = chip_middle(body, chips[lmi_lattice_link_end(l, link)]);
    bool crossed = false;
    for (uint32_t k = 0; k < count && !crossed; k++) {
        crossed = lmi_blade_crossing(&planes[k], from, to) >= 0.0;
    }
    return crossed;
}

bool lmi_fracture_find_parted(lm_world *world, lmi_body *body, const lmi_blade_plane *planes, uint32_t count)
{
    lmi_fracture *f = body->fracture;
    f->strained_count = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        for (uint32_t axis = 0; axis < 3; axis++) {
            lmi_lattice_link link = {n, axis};
            if (!parted(body, f->chips, link, planes, count)) {
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

static bool parts_any(const lmi_body *body, const uint32_t *chips, const lmi_blade_plane *planes, uint32_t count)
{
    LMI_PARTICLES_EACH(body, n)
    {
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (parted(body, chips, (lmi_lattice_link){n, axis}, planes, count)) {
                return true;
            }
        }
    }
    return false;
}

lm_result lmi_fracture_ready_for_blade(lm_world *world, lmi_body *body, const lmi_blade_triangle *blade,
                                       uint32_t triangle_count)
{
    if (body->fracture) {
        return LM_OK;
    }
    lmi_memory *memory = &world->memory;
    uint32_t count;
    lmi_blade_plane *planes = lmi_fracture_blade_planes(memory, blade, triangle_count, &count);
    uint32_t *chips = lmi_allocate(memory, body->place_count, sizeof *chips);
    lm_result result = planes && chips ? LM_OK : LM_ERROR_MEMORY;
    bool any = false;
    if (result == LM_OK && count > 0) {
        lmi_lattice_find_chips(&body->lattice->shape, chips);
        any = parts_any(body, chips, planes, count);
    }
    lmi_release(memory, planes, triangle_count, sizeof *planes);
    lmi_release(memory, chips, body->place_count, sizeof *chips);
    if (any) {
        lm_fracture_def def = lm_fracture_def_default();
        def.limit = NEVER_REACHED;
        result = lmi_fracture_set(world, body, &def);
        if (result == LM_OK) {
            body->fracture->breaks = false;
        }
    }
    return result;
}
