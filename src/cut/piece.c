/*
 * Bodies made of pieces (piece.h): clusters and tetrahedra, and what all samplings have in common.
 */
#include "cut/piece.h"
#include "base/hash.h"
#include "cut/grain.h"
#include "skin/skin.h"
#include "world/body.h"
#include "world/solids.h"

#include <string.h>

void lmi_piece_copy_particle(const lmi_piece *p, uint32_t n)
{
    const size_t from = n, to = p->now[n];
    p->to->mass[to] = p->from->mass[from];
    memcpy(p->to->x + to * 4, p->from->x + from * 4, 3 * sizeof(float));
    memcpy(p->to->v + to * 4, p->from->v + from * 4, 3 * sizeof(float));
}

void lmi_piece_copy_region(const lmi_piece *p, uint32_t r)
{
    const uint32_t to = p->region[r];
    uint32_t stride;
    const float *at = lmi_body_rotation(p->world, p->from, r, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        p->to->rotation[(size_t)to * 9 + i] = at[i * stride];
    }
    at = lmi_body_plastic(p->world, p->from, r, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        p->to->plastic[(size_t)to * 6 + i] = at[i * stride];
    }
    if (p->to->stiffness) {
        p->to->stiffness[to] = p->from->stiffness[r];
    }
    p->to->regions[to].axes = p->from->regions[r].axes;
}

/* --- clusters and tetrahedra --- */

static bool has_region(const lmi_piece *p, uint32_t r)
{
    return lmi_piece_has(p, p->from->members[p->from->region_offsets[r]]);
}

static bool has_tet(const lmi_piece *p, uint32_t n)
{
    const uint32_t *tet = p->from->tets + (size_t)n * 4;
    return lmi_piece_has(p, tet[0]) && lmi_piece_has(p, tet[1]) && lmi_piece_has(p, tet[2]) && lmi_piece_has(p, tet[3]);
}

static void count_cloud(lmi_piece *p)
{
    const lmi_body *from = p->from;
    lmi_body *to = p->to;
    to->particle_count = p->count;
    to->place_count = to->region_count = to->membership_count = to->tet_count = 0;
    for (uint32_t r = 0; r < from->region_count; r++) {
        p->region[r] = has_region(p, r) ? to->region_count++ : LMI_NONE;
        to->membership_count += p->region[r] == LMI_NONE ? 0 : from->region_offsets[r + 1] - from->region_offsets[r];
    }
    for (uint32_t n = 0; n < from->tet_count; n++) {
        to->tet_count += has_tet(p, n);
    }
}

/* Places and indices stay in their order. */
static void fill_cloud(lmi_piece *p)
{
    const lmi_body *from = p->from;
    lmi_body *to = p->to;
    uint32_t place = 0, index = 0, members = 0, tets = 0;
    for (uint32_t n = 0; n < from->particle_count; n++) {
        p->now[n] = lmi_piece_has(p, n) ? place++ : LMI_NONE;
    }
    for (uint32_t k = 0; k < from->particle_count; k++) {
        const uint32_t n = from->place[k], at = p->now[n];
        if (at != LMI_NONE) {
            to->order[at] = index;
            to->place[index++] = at;
            to->rest[at] = from->rest[n];
            lmi_piece_copy_particle(p, n);
        }
    }
    for (uint32_t r = 0; r < from->region_count; r++) {
        if (p->region[r] == LMI_NONE) {
            continue;
        }
        for (uint32_t n = from->region_offsets[r]; n < from->region_offsets[r + 1]; n++) {
            to->members[members++] = p->now[from->members[n]];
        }
        to->region_offsets[p->region[r] + 1] = members;
        lmi_piece_copy_region(p, r);
    }
    for (uint32_t n = 0; n < from->tet_count; n++) {
        for (uint32_t i = 0; i < 4 && has_tet(p, n); i++) {
            to->tets[tets++] = p->now[from->tets[(size_t)n * 4 + i]];
        }
    }
}

/* What is connected in it: several pieces, or one that a blade ends in. The skin is there, and is not made from it. */
static bool make_grain(lmi_piece *p)
{
    const lmi_grain *old = p->from->grain;
    lmi_memory *memory = &p->world->memory;
    lmi_grain *g = lmi_allocate(memory, 1, sizeof *g);
    p->to->grain = g;
    if (!g) {
        return false;
    }
    g->particle_count = p->count;
    g->region_count = g->origin_count = p->to->region_count;
    g->origin = lmi_allocate(memory, g->region_count, sizeof *g->origin);
    for (uint32_t n = 0; n < old->bond_count; n++) {
        g->bond_count += lmi_piece_has(p, old->bonds[n].a) && lmi_piece_has(p, old->bonds[n].b);
    }
    g->bonds = lmi_allocate(memory, g->bond_count, sizeof *g->bonds);
    if (!g->origin || !g->bonds) {
        return false;
    }
    for (uint32_t r = 0; r < g->region_count; r++) {
        g->origin[r] = r;
    }
    for (uint32_t n = 0, count = 0; n < old->bond_count; n++) {
        const lmi_bond *bond = &old->bonds[n];
        if (lmi_piece_has(p, bond->a) && lmi_piece_has(p, bond->b)) {
            g->bonds[count++] = (lmi_bond){p->now[bond->a], p->now[bond->b], bond->cut};
        }
    }
    return lmi_grain_derive(p->world, g, p->to);
}

static lm_result make_cloud(lmi_piece *p)
{
    count_cloud(p);
    bool ok = lmi_body_allocate(p->world, p->to);
    if (ok && p->from->stiffness) {
        p->to->stiffness = lmi_allocate(&p->world->memory, p->to->region_count, sizeof *p->to->stiffness);
        ok = p->to->stiffness != NULL;
    }
    if (ok) {
        fill_cloud(p);
        ok = !p->from->grain || make_grain(p);
    }
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

/* --- all of them --- */

/* Weights in fits, for what pins hold of it. */
static bool weigh(lmi_piece *p)
{
    lmi_body *to = p->to;
    lmi_memory *memory = &p->world->memory;
    const uint32_t places = to->place_count;
    bool *held = lmi_allocate(memory, places, sizeof *held);
    for (uint32_t n = 0; held && n < p->from->place_count; n++) {
        if (p->now[n] != LMI_NONE) {
            held[p->now[n]] = p->held[n];
        }
    }
    bool ok = held && (to->lattice ? lmi_piece_lattice_weigh(p, held) : lmi_body_update_weights(p->world, to, held));
    lmi_release(memory, held, places, sizeof *held);
    return ok;
}

/* Touch points of an octree without a skin: those that it has, where they were at rest. */
static bool keep_touch(const lmi_piece *p)
{
    const lmi_touch *old = &p->from->touch;
    lmi_memory *memory = &p->world->memory;
    lm_vec3 *points = lmi_allocate(memory, old->count, sizeof *points);
    uint32_t count = 0;
    for (uint32_t n = 0; points && n < old->count; n++) {
        const uint32_t first = old->first_row[n / LMI_BLOCK] * LMI_BLOCK + n % LMI_BLOCK;
        if (lmi_piece_has(p, old->rider[first])) {
            points[count++] = old->rest[n];
        }
    }
    bool ok = points && (count == 0 || lmi_touch_embed(p->world, p->to, points, count, &p->to->touch));
    lmi_release(memory, points, old->count, sizeof *points);
    return ok;
}

/* Where it touches, and what others touch: its own surface. */
static bool make_touch(const lmi_piece *p)
{
    lmi_body *to = p->to;
    const lmi_skin *skin = &to->skin;
    const lmi_touch_mesh mesh = {skin->vertices, skin->triangles, skin->vertex_count, skin->triangle_count};
    if (to->lattice) { /* which has links, so that its particles touch */
        return p->from->touch.count == 0 || lmi_touch_particles(p->world, to, &to->touch);
    }
    const bool surface =
        to->octree ? to->contact_points != LM_CONTACT_PARTICLES : to->contact_points == LM_CONTACT_SURFACE;
    bool ok = true;
    if (surface && mesh.triangle_count) {
        ok = lmi_touch_make(p->world, to, &mesh, &to->touch);
    } else if (surface && p->from->touch.count) {
        ok = keep_touch(p);
    }
    const bool solid = p->from->bulk || to->self_contact || (to->mask & to->group);
    return ok && (!solid || lmi_body_need_bulk(p->world, to));
}

/* Nothing of the first body's but what is the same for all of its pieces. */
static void begin(const lmi_piece *p)
{
    lmi_body *to = p->to;
    *to = *p->from;
    lmi_body_forget(to, p->from->slot);
    to->volume = p->from->volume * p->share;
    to->motion = (lmi_motion){0};
    to->held_impulse = to->held_moment = lm_dvec3_zero();
    to->fresh = false;
    to->reference = 0;
}

static void count(lmi_piece *p)
{
    double mass = 0.0;
    p->count = 0;
    LMI_PARTICLES_EACH(p->from, n)
    {
        p->count += lmi_piece_has(p, n);
        mass += lmi_piece_has(p, n) ? p->from->mass[n] : 0.0;
    }
    p->share = mass / p->from->total_mass;
}

lm_result lmi_piece_make(lmi_piece *p)
{
    lmi_memory *memory = &p->world->memory;
    const uint32_t places = p->from->place_count, regions = p->from->region_count;
    count(p);
    begin(p);
    p->now = lmi_allocate(memory, places, sizeof *p->now);
    p->region = lmi_allocate(memory, regions, sizeof *p->region);
    if (p->now && p->region) {
        memset(p->now, 0xff, places * sizeof *p->now);
        memset(p->region, 0xff, regions * sizeof *p->region);
    }
    lm_result result = !p->now || !p->region ? LM_ERROR_MEMORY
                       : p->from->lattice    ? lmi_piece_lattice(p)
                       : p->from->octree     ? lmi_piece_octree(p)
                                             : make_cloud(p);
    if (result == LM_OK) {
        p->to->shape_hash = lmi_hash_shape(p->to);
        result = weigh(p) && lmi_piece_skin(p) && make_touch(p) ? LM_OK : LM_ERROR_MEMORY;
    }
    lmi_release(memory, p->region, regions, sizeof *p->region);
    p->region = NULL;
    if (result == LM_OK) {
        lmi_body_update_bounds(p->to);
        lmi_skin_update(p->world, p->to);
    } else {
        lmi_body_free(p->world, p->to);
        lmi_release(memory, p->now, places, sizeof *p->now);
        p->now = NULL;
    }
    return result;
}
