/*
 * Lattices made of pieces of others (piece.h): on the same cells, so that corners, chips, grains and drawn limits are what they were. Cells
 * that are shared with other pieces are ragged: their other corners are absent (lattice/lattice.h).
 */
#include "cut/piece.h"
#include "fracture/fracture.h"
#include "lattice/lattice_members.h"
#include "lattice/lattice_regions.h"
#include "world/body.h"

#include <string.h>

#define NONE LMI_LATTICE_NONE

/* The corners of a cell by its lowest one. */
static void corners_of(const lmi_lattice *l, const int32_t low[3], uint32_t corners[8])
{
    for (int32_t k = 0; k < 8; k++) {
        corners[k] = lmi_lattice_find(l, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2));
    }
}

/* Whether an unbroken link along the edges of a cell joins two of the particles. */
static bool has_link(const lmi_piece *p, const uint32_t corners[8])
{
    const lmi_lattice *l = &p->from->lattice->shape;
    bool has = false;
    for (uint32_t n = 0; !has && n < 24; n++) {
        const uint32_t axis = n / 8, a = corners[n % 8], b = corners[(n % 8) | 1u << axis];
        has = !(n >> axis & 1) && a != NONE && b != NONE && lmi_piece_has(p, a) && lmi_piece_has(p, b) &&
              lmi_lattice_holds(l, (lmi_lattice_link){a, axis});
    }
    return has;
}

/* From the lattice's axes to the body's. */
static void to_body(const lmi_lattice *l, const int32_t at[3], uint32_t body[3])
{
    for (uint32_t a = 0; a < 3; a++) {
        body[(a + l->turn) % 3] = (uint32_t)at[a];
    }
}

static void take_cells(const lmi_piece *p, lmi_voxels *v)
{
    const lmi_lattice *l = &p->from->lattice->shape;
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        const uint32_t cells = l->cell[n / LMI_BLOCK] | (l->ragged ? l->ragged[n / LMI_BLOCK] : 0u);
        uint32_t corners[8], at[3];
        int32_t low[3];
        lmi_lattice_corner(l, n, low);
        if (!(cells >> n % LMI_BLOCK & 1)) {
            continue;
        }
        corners_of(l, low, corners);
        if (has_link(p, corners)) {
            to_body(l, low, at);
            v->bits[((size_t)at[2] * v->n[1] + at[1]) * v->row_words + at[0] / 64] |= (uint64_t)1 << (at[0] % 64);
            v->cell_count++;
        }
    }
}

/* Whether one of the cells around a corner is occupied. */
static bool is_corner(const lmi_voxels *v, const uint32_t at[3])
{
    bool is = false;
    for (int64_t k = 0; !is && k < 8; k++) {
        is = lmi_voxels_cell(v, at[0] - (k & 1), at[1] - (k >> 1 & 1), at[2] - (k >> 2));
    }
    return is;
}

/* Corners that are of other pieces, or were so before. Counts them, and lists them where there is room. */
static uint32_t list_absent(const lmi_piece *p, const lmi_voxels *v, uint64_t *list)
{
    const lmi_lattice *l = &p->from->lattice->shape;
    uint32_t count = 0, at[3];
    LMI_PARTICLES_EACH(p->from, n)
    {
        int32_t corner[3];
        lmi_lattice_corner(l, n, corner);
        to_body(l, corner, at);
        if (!lmi_piece_has(p, n) && is_corner(v, at)) {
            if (list) {
                list[count] = lmi_voxels_pack(at[0], at[1], at[2]);
            }
            count++;
        }
    }
    for (uint32_t n = 0; n < l->absent_count; n++) {
        lmi_voxels_unpack(l->absent[n], at);
        if (is_corner(v, at)) {
            if (list) {
                list[count] = l->absent[n];
            }
            count++;
        }
    }
    return count;
}

static lm_result make_shape(const lmi_piece *p)
{
    const lmi_lattice *l = &p->from->lattice->shape;
    lmi_memory *memory = &p->world->memory;
    lmi_voxels v = {.spacing = l->spacing,
                    .first = l->first,
                    .n = {l->cells[0], l->cells[1], l->cells[2]},
                    .row_words = (l->cells[0] + 63) / 64};
    const size_t words = (size_t)v.row_words * v.n[1] * v.n[2];
    v.bits = lmi_allocate(memory, words, sizeof *v.bits);
    uint64_t *absent = NULL;
    if (v.bits) {
        take_cells(p, &v);
        v.absent_count = list_absent(p, &v, NULL);
        v.absent = absent = lmi_allocate(memory, v.absent_count, sizeof *absent);
    }
    lm_result result = LM_ERROR_MEMORY;
    if (absent) {
        list_absent(p, &v, absent);
        result = lmi_lattice_body_allocate(p->world, p->to, &v, l->width);
    }
    lmi_release(memory, absent, v.absent_count, sizeof *absent);
    lmi_release(memory, v.bits, words, sizeof *v.bits);
    return result;
}

/* Where particles are; corners are what they were. */
static bool find_places(const lmi_piece *p)
{
    const lmi_lattice *l = &p->from->lattice->shape, *t = &p->to->lattice->shape;
    bool all = p->to->particle_count == p->count;
    LMI_PARTICLES_EACH(p->from, n)
    {
        int32_t at[3];
        lmi_lattice_corner(l, n, at);
        p->now[n] = lmi_piece_has(p, n) ? lmi_lattice_find(t, at[0], at[1], at[2]) : LMI_NONE;
        all = all && (p->now[n] != LMI_NONE) == lmi_piece_has(p, n);
    }
    return all;
}

/* Links that are broken inside of the piece. */
static uint32_t list_links(const lmi_piece *p, lmi_lattice_link *links)
{
    const lmi_lattice *l = &p->from->lattice->shape, *t = &p->to->lattice->shape;
    uint32_t count = 0;
    for (uint32_t n = 0; n < 3 * l->block_count; n++) {
        uint32_t left = lmi_lattice_links(l, n / 3, n % 3) & ~(uint32_t)l->bond[n % 3][n / 3];
        for (; left; left &= left - 1) {
            const lmi_lattice_link was = {n / 3 * LMI_BLOCK + (uint32_t)lmi_low_bit(left), n % 3};
            if (!lmi_piece_has(p, was.particle) || !lmi_piece_has(p, lmi_lattice_link_end(l, was))) {
                continue;
            }
            const lmi_lattice_link is = {p->now[was.particle], was.axis};
            if (lmi_lattice_links(t, is.particle / LMI_BLOCK, is.axis) >> is.particle % LMI_BLOCK & 1) {
                if (links) {
                    links[count] = is;
                }
                count++;
            }
        }
    }
    return count;
}

static lm_result make_fracture(const lmi_piece *p)
{
    const lmi_fracture *old = p->from->fracture;
    lmi_memory *memory = &p->world->memory;
    lmi_fracture *f = lmi_allocate(memory, 1, sizeof *f);
    if (!f) {
        return LM_ERROR_MEMORY;
    }
    p->to->fracture = f;
    f->def = old->def;
    f->breaks = old->breaks;
    f->factors = old->factors ? lmi_allocate(memory, p->to->place_count, sizeof *f->factors) : NULL;
    for (uint32_t n = 0; f->factors && n < p->from->place_count; n++) {
        if (p->now[n] != LMI_NONE) {
            f->factors[p->now[n]] = old->factors[n];
        }
    }
    const uint32_t count = list_links(p, NULL);
    lmi_lattice_link *links = lmi_allocate(memory, count, sizeof *links);
    lm_result result = links && (f->factors || !old->factors) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        list_links(p, links);
        f->broken = count;
        result = lmi_fracture_remake(p->world, p->to, links, count);
    }
    if (result == LM_OK && p->from->skin.vertex_count) { /* which shows them */
        result = lmi_fracture_bear(p->world, f, links, count) ? LM_OK : LM_ERROR_MEMORY;
    }
    lmi_release(memory, links, count, sizeof *links);
    return result;
}

static bool is_active(const lmi_lattice *l, uint32_t n) { return l->active[n / LMI_BLOCK] >> n % LMI_BLOCK & 1; }

/* The particle whose region is that of another: itself, unless that is a repetition. */
static uint32_t region_like(const lmi_lattice *l, uint32_t n)
{
    uint32_t members[LMI_LATTICE_SIDE * LMI_LATTICE_SIDE * LMI_LATTICE_SIDE], like = n;
    const uint32_t count = is_active(l, n) ? 0 : lmi_lattice_region(l, n, members);
    for (uint32_t k = 0; k < count && like == n; k++) {
        like = is_active(l, members[k]) ? members[k] : n;
    }
    return like;
}

/* Stiffness of regions, and what has flowed. */
static bool copy_regions(const lmi_piece *p)
{
    const lmi_body *from = p->from;
    const lmi_lattice *l = &from->lattice->shape, *t = &p->to->lattice->shape;
    lmi_memory *memory = &p->world->memory;
    const float *state = from->lattice->plastic.state;
    float *by_place = from->stiffness ? lmi_allocate(memory, from->place_count, sizeof *by_place) : NULL;
    uint32_t *source = lmi_allocate(memory, p->to->place_count, sizeof *source);
    if (from->stiffness) {
        p->to->stiffness = lmi_allocate(memory, lmi_body_regions(p->to), sizeof *p->to->stiffness);
    }
    bool ok = source && (!from->stiffness || (by_place && p->to->stiffness));
    if (ok && by_place) {
        lmi_lattice_stiffness_by_place(from, by_place);
    }
    for (uint32_t n = 0; ok && (by_place || state) && n < from->place_count; n++) {
        if (p->now[n] != LMI_NONE && is_active(t, p->now[n])) {
            source[p->now[n]] = region_like(l, n);
        }
    }
    for (uint32_t n = 0, region = 0; ok && (by_place || state) && n < p->to->particle_count; n++) {
        const uint32_t is = p->to->place[n], was = source[is];
        if (!is_active(t, is)) {
            continue;
        }
        if (by_place) {
            p->to->stiffness[region++] = by_place[was];
        }
        float *flowed = lmi_lattice_body_plastic(p->to, is);
        const float *had = lmi_lattice_body_plastic(from, was);
        for (uint32_t i = 0; state && i < 6; i++) {
            flowed[(size_t)i * LMI_BLOCK] = had[(size_t)i * LMI_BLOCK];
        }
    }
    lmi_release(memory, by_place, from->place_count, sizeof *by_place);
    lmi_release(memory, source, p->to->place_count, sizeof *source);
    return ok;
}

/* What sweeps still owe to the parts. */
static void copy_parts(const lmi_piece *p)
{
    const lmi_body *from = p->from;
    LMI_PARTICLES_EACH(from, n)
    {
        const lmi_lattice_part *was = &from->lattice->part[lmi_lattice_part_of(from, n)];
        if (p->now[n] == LMI_NONE) {
            continue;
        }
        lmi_lattice_part *is = &p->to->lattice->part[lmi_lattice_part_of(p->to, p->now[n])];
        is->drift_centre = was->drift_centre;
        is->drift_velocity = was->drift_velocity;
        is->drift_spin = was->drift_spin;
        is->owed_momentum = was->owed_momentum;
        is->owed_angular = was->owed_angular;
    }
}

lm_result lmi_piece_lattice(lmi_piece *p)
{
    lm_result result = make_shape(p);
    if (result != LM_OK) {
        return result;
    }
    p->to->lattice->width_metres = p->from->lattice->width_metres;
    p->to->lattice->frame = p->from->lattice->frame;
    if (!find_places(p)) {
        return LM_ERROR_ARGUMENT;
    }
    LMI_PARTICLES_EACH(p->from, n)
    {
        if (p->now[n] != LMI_NONE) {
            lmi_piece_copy_particle(p, n);
        }
    }
    if (!lmi_lattice_body_allocate_extras(p->world, p->to, &p->to->material)) {
        return LM_ERROR_MEMORY;
    }
    result = make_fracture(p);
    if (result == LM_OK) {
        result = copy_regions(p) ? LM_OK : LM_ERROR_MEMORY;
    }
    if (result == LM_OK) {
        copy_parts(p);
    }
    return result;
}

bool lmi_piece_lattice_weigh(lmi_piece *p, const bool *held) { return lmi_lattice_body_revive(p->world, p->to, held); }
