/*
 * Cutting bodies of clusters and of tetrahedra with a blade (lm_body_cut): bonds, regions and the skin (grain.h).
 *
 * What the body becomes is made aside and put in place when nothing can fail any more. Particles stay what and where they are:
 * mass, momentum and spin do not change.
 */
#include "base/hash.h"
#include "cut/cut.h"
#include "cut/ready.h"
#include "skin/skin.h"
#include "touch/touch.h"
#include "world/body.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_OCTREE_NONE

typedef struct cutter {
    lm_world *world;
    lmi_body *body;  /* as it is */
    lmi_body made;   /* as it will be; its grain is `next` */
    lmi_grain *old;  /* the body's own, or one that was made for this cut */
    lmi_grain *next; /* borrows the shell and the whole skin of `old` until the cut is done */
    const lmi_stroke *stroke;
    lmi_blade blade;
    lmi_octree_map *maps; /* [voxels] */
    uint32_t *parts;      /* [voxels] the piece of the body that each is of */
    uint32_t map_count;
    lmi_slashes slashes;
    uint32_t bonds;   /* that this blade has cut */
    uint32_t *piece;  /* [memberships] which part of its region a member is in */
    uint32_t *pieces; /* [regions] how many parts there are */
} cutter;

/* --- what the blade crosses --- */

/* The piece of the body that a particle is of, before the cut. */
static uint32_t part_of(const cutter *c, uint32_t particle)
{
    return c->body->grain ? c->body->grain->part[particle] : 0;
}

static lm_dvec3 place_of(const lmi_body *body, uint32_t n)
{
    const float *x = body->x + (size_t)n * 4;
    return dvec(x[0], x[1], x[2]);
}

static void cut_bonds(cutter *c)
{
    for (uint32_t n = 0; n < c->next->bond_count; n++) {
        lmi_bond *bond = &c->next->bonds[n];
        if (!bond->cut && lmi_stroke_cuts(c->stroke, part_of(c, bond->a)) &&
            lmi_blade_crossed(&c->blade, place_of(c->body, bond->a), place_of(c->body, bond->b))) {
            bond->cut = true;
            c->bonds++;
        }
    }
}

/* --- voxels where they are now --- */

/* The region that tells best how space is stretched around a particle: the smallest of those that extend in most directions. */
static uint32_t best_region(const lmi_body *body, const lmi_grain_index *index, uint32_t particle)
{
    uint32_t best = NONE, best_rank = 0, best_size = 0;
    for (uint32_t n = index->region_offsets[particle]; n < index->region_offsets[particle + 1]; n++) {
        uint32_t r = index->regions[n], size = body->region_offsets[r + 1] - body->region_offsets[r];
        const double *extent = body->regions[r].extent;
        uint32_t rank = (extent[0] > 0.0) + (extent[1] > 0.0) + (extent[2] > 1e-2 * extent[0]);
        if (best == NONE || rank > best_rank || (rank == best_rank && size < best_size)) {
            best = r, best_rank = rank, best_size = size;
        }
    }
    return best;
}

static lmi_octree_map map_of(const lmi_body *body, uint32_t particle, uint32_t region, const lmi_carrier *carriers)
{
    lmi_octree_map map = {
        dvec_from(body->rest[particle]), place_of(body, particle), {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    double step = body->rest_size; /* as long as the body: rounding does not count */
    if (region == NONE || !(step > 0.0)) {
        return map;
    }
    lm_dvec3 from = lmi_carrier_apply(&carriers[region], lmi_blend_local(&body->regions[region], vec_from(map.rest)));
    for (int a = 0; a < 3; a++) {
        lm_dvec3 to = map.rest;
        *(a == 0 ? &to.x : a == 1 ? &to.y : &to.z) += step;
        lm_dvec3 q = lmi_blend_local(&body->regions[region], vec_from(to));
        lm_dvec3 way = dvec_sub(lmi_carrier_apply(&carriers[region], q), from);
        map.linear.m[0][a] = way.x / step;
        map.linear.m[1][a] = way.y / step;
        map.linear.m[2][a] = way.z / step;
    }
    return map;
}

static bool make_maps(cutter *c)
{
    lmi_body *body = c->body;
    lmi_memory *memory = &c->world->memory;
    const lmi_octree *t = &c->old->tree;
    lmi_carrier *carriers = lmi_allocate(memory, body->region_count, sizeof *carriers);
    lmi_octree_map *maps = lmi_allocate(memory, body->particle_count, sizeof *maps);
    c->map_count = t->leaf_count;
    c->maps = lmi_allocate(memory, c->map_count, sizeof *c->maps);
    c->parts = lmi_allocate(memory, c->map_count, sizeof *c->parts);
    bool ok = carriers && maps && c->maps && c->parts;
    for (uint32_t r = 0; ok && r < body->region_count; r++) {
        lmi_skin_carrier(c->world, body, r, &carriers[r]);
    }
    for (uint32_t n = 0; ok && n < body->particle_count; n++) {
        maps[n] = map_of(body, n, best_region(body, &c->old->index, n), carriers);
    }
    for (uint32_t voxel = 0; ok && voxel < t->voxel_count; voxel++) {
        uint32_t leaf = t->nodes[t->owner[voxel]].leaf, particle = c->old->owner[voxel];
        c->maps[leaf] = maps[particle];
        c->parts[leaf] = part_of(c, particle);
    }
    lmi_release(memory, carriers, body->region_count, sizeof *carriers);
    lmi_release(memory, maps, body->particle_count, sizeof *maps);
    return ok;
}

static lm_dvec3 voxel_now(const cutter *c, uint32_t voxel)
{
    const lmi_octree *t = &c->old->tree;
    const lmi_octree_node *node = &t->nodes[t->owner[voxel]];
    const lmi_octree_map *map = &c->maps[node->leaf];
    return dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(lmi_octree_middle(t, node), map->rest)));
}

#define NEAR_SEED 2 /* voxels along each axis that a seed may move by */
#define MOST_NEAR 128u

/* A particle that the blade has parted from its voxel takes the nearest that it can see, of those that links led to. */
static void move_seed(cutter *c, uint32_t particle)
{
    const lmi_octree *t = &c->old->tree;
    uint32_t near[MOST_NEAR], count = 0, seed = c->next->seed[particle], best = seed;
    double least = INFINITY;
    lm_dvec3 at = place_of(c->body, particle);
    near[count++] = seed;
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 there = voxel_now(c, near[n]), way = dvec_sub(there, at);
        double square = dvec_dot(way, way);
        if (square < least && !lmi_blade_crossed(&c->blade, at, there)) {
            least = square;
            best = near[n];
        }
        for (int k = 0; k < 6; k++) {
            uint32_t other = lmi_octree_linked(t, near[n], k / 2, k & 1);
            bool fresh = other != NONE && count < MOST_NEAR;
            for (int a = 0; fresh && a < 3; a++) {
                fresh = abs((int)t->at[other][a] - (int)t->at[seed][a]) <= NEAR_SEED;
            }
            for (uint32_t m = 0; fresh && m < count; m++) {
                fresh = near[m] != other;
            }
            if (fresh) {
                near[count++] = other;
            }
        }
    }
    c->next->seed[particle] = best;
}

/* Which links between voxels are cut, and the tree with them. */
static bool cut_voxels(cutter *c)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t found;
    if (!c->old->shell) {
        return true;
    }
    if (!make_maps(c) || !lmi_octree_find_slashes(&c->old->tree, memory, c->maps, c->stroke, c->parts, &c->slashes)) {
        return false;
    }
    for (uint32_t n = 0; n < c->body->particle_count; n++) {
        if (lmi_stroke_cuts(c->stroke, part_of(c, n)) &&
            lmi_blade_crossed(&c->blade, place_of(c->body, n), voxel_now(c, c->next->seed[n]))) {
            move_seed(c, n);
        }
    }
    return lmi_grain_spread(c->world, c->next, &c->old->tree, c->body, &c->slashes) &&
           lmi_octree_cut(&c->next->tree, memory, &c->old->tree, &c->slashes, 0, &found) == LM_OK &&
           lmi_grain_spread(c->world, c->next, &c->next->tree, c->body, NULL); /* as it follows from the tree */
}

/* --- regions --- */

/* Which part of its region each member is in; parts are numbered in the order of their first members. */
static void divide_region(cutter *c, uint32_t r, uint32_t *local, uint32_t *stack)
{
    const lmi_body *body = c->body;
    const lmi_grain_index *index = &c->next->index;
    uint32_t first = body->region_offsets[r], last = body->region_offsets[r + 1];
    for (uint32_t n = first; n < last; n++) {
        local[body->members[n]] = n + 1;
        c->piece[n] = NONE;
    }
    for (uint32_t n = first; n < last; n++) {
        uint32_t depth = 0;
        if (c->piece[n] != NONE) {
            continue;
        }
        c->piece[n] = c->pieces[r];
        stack[depth++] = n;
        while (depth) {
            uint32_t particle = body->members[stack[--depth]];
            for (uint32_t k = index->bond_offsets[particle]; k < index->bond_offsets[particle + 1]; k++) {
                uint32_t other = local[index->neighbours[k]];
                if (other && c->piece[other - 1] == NONE) {
                    c->piece[other - 1] = c->pieces[r];
                    stack[depth++] = other - 1;
                }
            }
        }
        c->pieces[r]++;
    }
    for (uint32_t n = first; n < last; n++) {
        local[body->members[n]] = 0;
    }
}

static bool divide_regions(cutter *c)
{
    const lmi_body *body = c->body;
    lmi_memory *memory = &c->world->memory;
    uint32_t *local = lmi_allocate(memory, body->particle_count, sizeof *local);
    uint32_t *stack = lmi_allocate(memory, body->membership_count, sizeof *stack);
    c->piece = lmi_allocate(memory, body->membership_count, sizeof *c->piece);
    c->pieces = lmi_allocate(memory, body->region_count, sizeof *c->pieces);
    bool ok = local && stack && c->piece && c->pieces;
    for (uint32_t r = 0; ok && r < body->region_count; r++) {
        divide_region(c, r, local, stack);
    }
    lmi_release(memory, local, body->particle_count, sizeof *local);
    lmi_release(memory, stack, body->membership_count, sizeof *stack);
    return ok;
}

/* Whether whole bonds join all four corners. */
static bool is_whole(const lmi_grain_index *index, const uint32_t *tet)
{
    bool whole = true;
    for (int i = 0; whole && i < 4; i++) {
        for (int k = i + 1; whole && k < 4; k++) {
            whole = false;
            for (uint32_t n = index->bond_offsets[tet[i]]; !whole && n < index->bond_offsets[tet[i] + 1]; n++) {
                whole = index->neighbours[n] == tet[k];
            }
        }
    }
    return whole;
}

/* --- the new body --- */

static void count_new(cutter *c, uint32_t *regions, uint32_t *tets)
{
    *regions = *tets = 0;
    for (uint32_t r = 0; r < c->body->region_count; r++) {
        *regions += c->pieces[r];
    }
    for (uint32_t n = 0; n < c->body->tet_count; n++) {
        *tets += is_whole(&c->next->index, c->body->tets + (size_t)n * 4);
    }
}

static void copy_particles(cutter *c)
{
    const lmi_body *old = c->body;
    lmi_body *made = &c->made;
    size_t count = old->particle_count, padded = old->padded_count;
    uint32_t tets = 0;
    memcpy(made->rest, old->rest, count * sizeof *made->rest);
    memcpy(made->mass, old->mass, count * sizeof *made->mass);
    memcpy(made->order, old->order, count * sizeof *made->order);
    memcpy(made->place, old->place, count * sizeof *made->place);
    memcpy(made->x, old->x, padded * 4 * sizeof *made->x);
    memcpy(made->v, old->v, padded * 4 * sizeof *made->v);
    for (uint32_t n = 0; n < old->tet_count; n++) {
        const uint32_t *tet = old->tets + (size_t)n * 4;
        if (is_whole(&c->next->index, tet)) {
            memcpy(made->tets + (size_t)4 * tets++, tet, 4 * sizeof *tet);
        }
    }
}

/* What a part of a region takes from it. Its axes are those of the whole until it has its own. */
static void copy_region(cutter *c, uint32_t from, uint32_t to)
{
    uint32_t stride;
    const float *rotation = lmi_body_rotation(c->world, c->body, from, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        c->made.rotation[(size_t)to * 9 + i] = rotation[i * stride];
    }
    const float *plastic = lmi_body_plastic(c->world, c->body, from, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        c->made.plastic[(size_t)to * 6 + i] = plastic[i * stride];
    }
    if (c->made.stiffness) {
        c->made.stiffness[to] = c->body->stiffness[from];
    }
    c->made.regions[to].axes = c->body->regions[from].axes;
    c->next->origin[to] = c->old->origin[from];
}

static void copy_regions(cutter *c)
{
    const lmi_body *old = c->body;
    lmi_body *made = &c->made;
    uint32_t region = 0, member = 0;
    for (uint32_t r = 0; r < old->region_count; r++) {
        for (uint32_t piece = 0; piece < c->pieces[r]; piece++) {
            for (uint32_t n = old->region_offsets[r]; n < old->region_offsets[r + 1]; n++) {
                if (c->piece[n] == piece) {
                    made->members[member++] = old->members[n];
                }
            }
            copy_region(c, r, region++);
            made->region_offsets[region] = member;
        }
    }
}

static bool make_body(cutter *c)
{
    lm_world *world = c->world;
    lmi_body *made = &c->made;
    uint32_t batch = c->body->batch;
    *made = *c->body;
    lmi_body_forget_arrays(made);
    count_new(c, &made->region_count, &made->tet_count);
    c->next->region_count = made->region_count;
    c->next->origin = lmi_allocate(&world->memory, made->region_count, sizeof *c->next->origin);
    bool ok = lmi_body_allocate(world, made) && c->next->origin;
    made->first_pin = c->body->first_pin;
    made->anchored = c->body->anchored;
    made->first_drag = c->body->first_drag;
    made->first_force = c->body->first_force;
    if (ok && c->body->stiffness) {
        made->stiffness = lmi_allocate(&world->memory, made->region_count, sizeof *made->stiffness);
        ok = made->stiffness != NULL;
    }
    if (ok) {
        copy_particles(c);
        copy_regions(c);
        made->batch = LMI_NONE; /* it is in none yet: nothing of the batch is to change */
        ok = lmi_body_update_pinned(world, made) && lmi_grain_derive(world, c->next, made);
        made->batch = batch;
    }
    made->grain = c->next;
    return ok;
}

/* --- what follows --- */

/* Touch points on both sides of what was cut, a little inside the voxels that they belong to. Counts them, and writes them where
 * there is room. */
static uint32_t list_points_of_cut(const cutter *c, lm_vec3 *points)
{
    const lmi_octree *t = &c->next->tree;
    const lmi_voxels *v = &t->voxels;
    double share = (double)t->voxel_count / c->body->particle_count; /* as dense as the particles are */
    uint32_t every = 1, count = 0;
    while ((double)(every + 1) * (every + 1) * (every + 1) <= share) {
        every++;
    }
    for (uint32_t n = 0; n < c->slashes.count; n++) {
        const lmi_slash *s = &c->slashes.items[n];
        const uint16_t *at = t->at[s->voxel];
        if (at[(s->axis + 1) % 3] % every || at[(s->axis + 2) % 3] % every) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            double middle[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            middle[s->axis] += side ? 0.55 : 0.45;
            if (points) {
                points[count] = vec_from(dvec(v->first.x + middle[0] * v->spacing, v->first.y + middle[1] * v->spacing,
                                              v->first.z + middle[2] * v->spacing));
            }
            count++;
        }
    }
    return count;
}

/* Touch points where they were at rest, on what is around them now, and those of the cut. */
static bool make_touch(cutter *c)
{
    const lmi_touch *old = &c->body->touch;
    lmi_body *made = &c->made;
    lmi_memory *memory = &c->world->memory;
    if (old->count) {
        uint32_t count = old->count + list_points_of_cut(c, NULL);
        lm_vec3 *points = lmi_allocate(memory, count, sizeof *points);
        bool ok = points != NULL;
        if (ok) {
            memcpy(points, old->rest, old->count * sizeof *points);
            list_points_of_cut(c, points + old->count);
            ok = lmi_touch_embed(c->world, made, points, count, &made->touch);
        }
        lmi_release(memory, points, count, sizeof *points);
        if (!ok) {
            return false;
        }
        memcpy(made->touch.warm, old->warm, old->count * sizeof *old->warm);
    }
    if (!c->body->bulk) {
        return true;
    }
    const lmi_mould *s = c->body->bulk->mould;
    lmi_touch_mesh mesh = {s->vertices, s->triangles, s->vertex_count, s->triangle_count};
    return lmi_body_make_bulk(c->world, made, &mesh);
}

/* The skin and its shell go from one grain to another. */
static void hand_over(lmi_grain *from, lmi_grain *to)
{
    to->whole = from->whole;
    to->shell = from->shell;
    memset(&from->whole, 0, sizeof from->whole);
    from->shell = NULL;
}

/* Nothing can fail here. */
static void put_in_place(cutter *c)
{
    lm_world *world = c->world;
    lmi_body *body = c->body, old = *body;
    c->made.lineage = old.lineage;
    old.lineage = NULL;
    *body = c->made;
    memset(&c->made, 0, sizeof c->made);
    lmi_body_is_dirty(world, body);
    if (old.grain != c->old) {
        lmi_grain_free(world, c->old);
    }
    lmi_body_free(world, &old);
    c->old = c->next = NULL;
    body->shape_hash = lmi_hash_shape(body);
    lmi_skin_update(world, body);
    lmi_body_rouse(world, body);
}

/* The body with what the blade has cut, or as it was. */
static bool remake(cutter *c)
{
    bool ok = make_body(c);
    if (ok) {
        hand_over(c->old, c->next);
        ok = make_touch(c) && lmi_grain_skin(c->world, &c->made, &c->made.skin);
        if (!ok) {
            hand_over(c->next, c->old);
        }
    }
    if (ok) {
        put_in_place(c);
    } else {
        c->made.grain = NULL;
        lmi_body_free(c->world, &c->made);
    }
    return ok;
}

static uint32_t count_divided(const cutter *c)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < c->body->region_count; r++) {
        count += c->pieces[r] > 1 ? c->pieces[r] : 0;
    }
    return count;
}

static bool cut(cutter *c, lm_cut_info *info)
{
    c->next = lmi_grain_copy(c->world, c->old);
    if (!c->next || !lmi_blade_make(&c->blade, &c->world->memory, c->stroke->triangles, c->stroke->count)) {
        return false;
    }
    cut_bonds(c);
    if (!lmi_grain_derive(c->world, c->next, c->body) || !cut_voxels(c)) {
        return false;
    }
    info->links = c->bonds + c->slashes.count;
    if (info->links == 0) {
        return true;
    }
    uint32_t regions = c->body->region_count, memberships = c->body->membership_count;
    bool ok = divide_regions(c);
    info->regions_found = ok ? count_divided(c) : 0;
    ok = ok && remake(c);
    lmi_release(&c->world->memory, c->piece, memberships, sizeof *c->piece);
    lmi_release(&c->world->memory, c->pieces, regions, sizeof *c->pieces);
    return ok;
}

lm_result lmi_cluster_cut(lm_world *world, lmi_body *body, const lmi_stroke *stroke, lm_cut_info *info,
                          const char **fault)
{
    cutter c = {.world = world, .body = body, .stroke = stroke, .old = body->grain};
    *fault = NULL;
    bool ready = false;
    if (c.old && !c.old->shell && body->skin.vertex_count) { /* it came with its skin */
        c.old = lmi_grain_of_piece(world, body, fault);
    }
    if (!c.old && !body->grain) {
        c.old = lmi_ready_take_grain(world, body);
        ready = c.old != NULL;
    }
    if (!c.old && !body->grain) {
        c.old = lmi_grain_make(world, body, fault);
    }
    bool ok = c.old && cut(&c, info);
    if (c.old && c.old != body->grain && ready) {
        body->ready->grain = c.old;
    } else if (c.old && c.old != body->grain) { /* made for a cut that was none */
        lmi_grain_free(world, c.old);
    }
    lmi_grain_free(world, c.next);
    lmi_slashes_free(&c.slashes, &world->memory);
    lmi_blade_free(&c.blade, &world->memory);
    lmi_release(&world->memory, c.maps, c.map_count, sizeof *c.maps);
    lmi_release(&world->memory, c.parts, c.map_count, sizeof *c.parts);
    info->parts = body->grain ? body->grain->part_count : 1;
    return ok ? LM_OK : *fault ? LM_ERROR_ARGUMENT : LM_ERROR_MEMORY;
}
