/*
 * How an octree becomes another (octree_change.h).
 */
#include "octree/octree_change.h"
#include "base/hash.h"
#include "skin/skin.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_cut.h"
#include "world/body.h"

#include <string.h>

/* --- where leaves are --- */

bool lmi_octree_change_maps(lmi_octree_change *c)
{
    lmi_body *body = c->body;
    lmi_memory *memory = &c->world->memory;
    lmi_carrier *carriers = lmi_allocate(memory, body->region_count, sizeof *carriers);
    c->maps = lmi_allocate(memory, body->region_count, sizeof *c->maps);
    c->map_count = body->region_count;
    bool ok = carriers && c->maps;
    if (ok) {
        lmi_octree_carriers(c->world, body, carriers);
    }
    for (uint32_t leaf = 0; ok && leaf < body->region_count; leaf++) {
        uint32_t place = body->place[leaf];
        const float *x = body->x + (size_t)place * 4;
        lmi_octree_map *map = &c->maps[leaf];
        map->rest = dvec_from(body->rest[place]);
        map->at = dvec(x[0], x[1], x[2]);
        double step = body->rest_size; /* as long as the body: rounding does not count */
        for (int a = 0; a < 3; a++) {
            lm_dvec3 to = map->rest;
            *(a == 0 ? &to.x : a == 1 ? &to.y : &to.z) += step;
            lm_vec3 there = vec_from(to);
            lm_dvec3 q = lmi_blend_local(&body->regions[leaf], there);
            lm_dvec3 way = dvec_sub(lmi_carrier_apply(&carriers[leaf], q), map->at);
            double by = 1.0 / step;
            map->linear.m[0][a] = way.x * by;
            map->linear.m[1][a] = way.y * by;
            map->linear.m[2][a] = way.z * by;
        }
    }
    lmi_release(memory, carriers, body->region_count, sizeof *carriers);
    return ok;
}

static lm_dvec3 carried(const lmi_octree_map *map, lm_dvec3 rest)
{
    return dvec_add(map->at, dmat_apply(&map->linear, dvec_sub(rest, map->rest)));
}

/* --- the new body --- */

static void copy_region(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    if (c->joined[leaf] > 1) {
        lmi_octree_join_region(c, leaf);
        return;
    }
    uint32_t from = c->from[leaf], stride;
    const float *rotation = lmi_body_rotation(c->world, old, from, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        c->made.rotation[(size_t)leaf * 9 + i] = rotation[i * stride];
    }
    const float *plastic = lmi_body_plastic(c->world, old, from, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + i] = plastic[i * stride];
    }
    lmi_body_turn_axes(c->world, &c->made, leaf, &old->regions[from].axes);
}

/* The mean, by mass, over what a leaf was made from: before the lanes are made, which contain it. */
static void copy_stiffness(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t first = c->from[leaf], count = c->joined[leaf];
    double sum = 0.0, mass = 0.0;
    for (uint32_t was = first; was < first + count; was++) {
        double m = old->mass[old->place[was]];
        sum += m * old->stiffness[was];
        mass += m;
    }
    c->made.stiffness[leaf] = count > 1 ? (float)(sum / mass) : old->stiffness[first];
}

static void copy_particle(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    lmi_body *made = &c->made;
    const lmi_octree *before = &old->octree->tree, *t = &made->octree->tree;
    uint32_t from = c->from[leaf], was = old->place[from], is = made->place[leaf];
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    double share = (double)node->voxel_count / before->nodes[before->leaves[from]].voxel_count;
    lm_vec3 at = vec_from(dvec_limit(carried(&c->maps[from], lmi_octree_middle(t, node)), LM_MAX_COORDINATE));
    float *x = made->x + (size_t)is * 4, *v = made->v + (size_t)is * 4;
    if (share == 1.0) { /* untouched: to the bit */
        memcpy(x, old->x + (size_t)was * 4, 3 * sizeof *x);
    } else {
        x[0] = at.x, x[1] = at.y, x[2] = at.z;
    }
    memcpy(v, old->v + (size_t)was * 4, 3 * sizeof *v);
    made->mass[is] = (float)(old->mass[was] * share);
}

/* The leaf that a leaf was part of, or those that it was joined from. */
static void find_origin(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_octree *before = &c->body->octree->tree, *t = &c->made.octree->tree;
    const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
    uint32_t was = before->owner[t->voxel_order[node->first_voxel]];
    while (before->nodes[was].level < node->level) {
        was = before->nodes[was].parent;
    }
    c->from[leaf] = before->nodes[was].first_leaf;
    c->joined[leaf] = before->nodes[was].leaf_count;
}

static bool make_body(lmi_octree_change *c, lmi_octree *next)
{
    lm_world *world = c->world;
    lmi_body *made = &c->made;
    *made = *c->body;
    lmi_body_forget_arrays(made);
    made->place_count = 0;
    bool ok = lmi_octree_body_allocate(world, made, next);
    made->first_pin = c->body->first_pin;
    made->anchored = c->body->anchored;
    made->first_drag = c->body->first_drag;
    made->first_force = c->body->first_force;
    made->skeleton = c->body->skeleton;
    if (ok && c->body->stiffness) {
        made->stiffness = lmi_allocate(&world->memory, made->region_count, sizeof *made->stiffness);
        ok = made->stiffness != NULL;
    }
    c->from = ok ? lmi_allocate_plain(&world->memory, made->particle_count, sizeof *c->from) : NULL;
    c->joined = ok ? lmi_allocate_plain(&world->memory, made->particle_count, sizeof *c->joined) : NULL;
    if (!ok || !c->from || !c->joined) {
        return false;
    }
    bool spins = false;
    for (uint32_t leaf = 0; leaf < made->particle_count; leaf++) {
        find_origin(c, leaf);
        (c->joined[leaf] > 1 ? lmi_octree_join_particle : copy_particle)(c, leaf);
        spins = spins || c->joined[leaf] > 1;
        if (made->stiffness) {
            copy_stiffness(c, leaf);
        }
    }
    if (spins) {
        lmi_octree_join_spins(c);
    }
    return true;
}

/* --- who holds it --- */

/* The first of the leaves that a leaf was made from which holds have, by their number in the hold, or LMI_NONE. */
static uint32_t held_from(const lmi_octree_change *c, const uint32_t *heirs_of, uint32_t leaf)
{
    uint32_t n = LMI_NONE;
    for (uint32_t k = 0; n == LMI_NONE && k < c->joined[leaf]; k++) {
        n = heirs_of[c->from[leaf] + k];
    }
    return n;
}

/* How many new leaves the particles at these places have become. */
static uint32_t count_heirs(const lmi_octree_change *c, const uint32_t *places, uint32_t count, uint32_t *heirs_of)
{
    uint32_t heirs = 0;
    memset(heirs_of, 0xff, c->body->particle_count * sizeof *heirs_of);
    for (uint32_t n = 0; n < count; n++) {
        heirs_of[c->body->order[places[n]]] = n;
    }
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) {
        heirs += held_from(c, heirs_of, leaf) != LMI_NONE;
    }
    return heirs;
}

/* All heirs of a pinned particle are pinned, each where it would be carried to. */
static bool remake_pin(lmi_octree_change *c, const lmi_pin *pin, uint32_t *heirs_of, lmi_pin *to)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t count = count_heirs(c, pin->particles, pin->count, heirs_of), at = 0;
    *to = *pin;
    to->count = count;
    to->particles = lmi_allocate(memory, count, sizeof *to->particles);
    to->targets = lmi_allocate(memory, count, sizeof *to->targets);
    if (!to->particles || !to->targets) {
        lmi_release(memory, to->particles, count, sizeof *to->particles);
        lmi_release(memory, to->targets, count, sizeof *to->targets);
        return false;
    }
    const lmi_mover *mover = pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&c->world->movers, lmi_mover, pin->mover);
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) {
        uint32_t n = held_from(c, heirs_of, leaf);
        if (n == LMI_NONE) {
            continue;
        }
        const lmi_octree_map *map = &c->maps[c->body->order[pin->particles[n]]];
        lm_dvec3 off = dvec_sub(carried(map, dvec_from(c->made.rest[c->made.place[leaf]])), map->at);
        to->particles[at] = c->made.place[leaf];
        to->targets[at++] = dvec_add(pin->targets[n], mover ? dmat_apply_transposed(&mover->rotation, off) : off);
    }
    return true;
}

/* What a drag's weight is for a leaf: the mean over what it was made from, by mass. */
static double mean_weight(const lmi_octree_change *c, const lmi_drag *drag, const uint32_t *heirs_of, uint32_t leaf)
{
    double sum = 0.0, mass = 0.0;
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = c->from[leaf] + k, n = heirs_of[was];
        mass += c->body->mass[c->body->place[was]];
        sum += n == LMI_NONE ? 0.0 : (double)drag->weights[n] * c->body->mass[c->body->place[was]];
    }
    return sum / mass;
}

static bool remake_drag(lmi_octree_change *c, const lmi_drag *drag, uint32_t *heirs_of, lmi_drag *to)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t count = count_heirs(c, drag->particles, drag->count, heirs_of), at = 0;
    *to = *drag;
    to->count = count;
    to->particles = lmi_allocate(memory, count, sizeof *to->particles);
    to->weights = lmi_allocate(memory, count, sizeof *to->weights);
    if (!to->particles || !to->weights) {
        lmi_release(memory, to->particles, count, sizeof *to->particles);
        lmi_release(memory, to->weights, count, sizeof *to->weights);
        return false;
    }
    double scale = (c->body->total_mass / c->made.particle_count) / c->body->mean_mass;
    bool found = false;
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) {
        if (held_from(c, heirs_of, leaf) != LMI_NONE) {
            to->particles[at] = c->made.place[leaf];
            to->weights[at++] = (float)(mean_weight(c, drag, heirs_of, leaf) * scale);
        }
        if (!found && drag->particle - c->from[leaf] < c->joined[leaf]) {
            to->particle = leaf;
            found = true;
        }
    }
    return true;
}

static bool remake_holds(lmi_octree_change *c)
{
    lm_world *world = c->world;
    uint32_t pins = 0, drags = 0;
    for (uint32_t n = c->body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        pins++;
    }
    for (uint32_t n = c->body->first_drag; n != LMI_NONE; n = LMI_POOL_AT(&world->drags, lmi_drag, n)->next) {
        drags++;
    }
    uint32_t *heirs_of = lmi_allocate(&world->memory, c->body->particle_count, sizeof *heirs_of);
    c->pins = lmi_allocate(&world->memory, pins, sizeof *c->pins);
    c->drags = lmi_allocate(&world->memory, drags, sizeof *c->drags);
    bool ok = heirs_of && c->pins && c->drags;
    for (uint32_t n = c->body->first_pin; ok && n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        ok = remake_pin(c, LMI_POOL_AT(&world->pins, lmi_pin, n), heirs_of, &c->pins[c->pin_count]);
        c->pin_count += ok;
    }
    for (uint32_t n = c->body->first_drag; ok && n != LMI_NONE; n = LMI_POOL_AT(&world->drags, lmi_drag, n)->next) {
        ok = remake_drag(c, LMI_POOL_AT(&world->drags, lmi_drag, n), heirs_of, &c->drags[c->drag_count]);
        c->drag_count += ok;
    }
    lmi_release(&world->memory, heirs_of, c->body->particle_count, sizeof *heirs_of);
    return ok;
}

/* The places that forces will act on: of what their particles have become, the first. */
static bool remake_forces(lmi_octree_change *c)
{
    const lm_world *world = c->world;
    for (uint32_t n = c->body->first_force; n != LMI_NONE; n = world->forces[n].next) {
        c->force_count++;
    }
    c->forces = lmi_allocate(&c->world->memory, c->force_count, sizeof *c->forces);
    for (uint32_t n = c->body->first_force, k = 0; c->forces && n != LMI_NONE; n = world->forces[n].next, k++) {
        uint32_t leaf = 0, was = world->forces[n].particle;
        was = was == LMI_NONE ? LMI_NONE : c->body->order[was];
        while (was != LMI_NONE && was - c->from[leaf] >= c->joined[leaf]) {
            leaf++;
        }
        c->forces[k] = was == LMI_NONE ? LMI_NONE : c->made.place[leaf];
    }
    return c->forces != NULL;
}

/* Exchanges the lists of pins and drags, and the places that forces act on, with those that were made. */
static void exchange_holds(lmi_octree_change *c)
{
    lm_world *world = c->world;
    uint32_t at = 0;
    for (uint32_t n = c->body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n), before = *pin;
        *pin = c->pins[at];
        c->pins[at++] = before;
    }
    at = 0;
    for (uint32_t n = c->body->first_drag; n != LMI_NONE; n = LMI_POOL_AT(&world->drags, lmi_drag, n)->next) {
        lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, n), before = *drag;
        *drag = c->drags[at];
        c->drags[at++] = before;
    }
    at = 0;
    for (uint32_t n = c->body->first_force; n != LMI_NONE; n = world->forces[n].next) {
        uint32_t before = world->forces[n].particle;
        world->forces[n].particle = c->forces[at];
        c->forces[at++] = before;
    }
}

/* --- all of it --- */

/* Weights, regions and lanes; then rotations, which are in the axes of these regions. */
static bool weigh(lmi_octree_change *c)
{
    lmi_body *made = &c->made;
    bool *held = lmi_allocate(&c->world->memory, made->place_count, sizeof *held);
    if (!held) {
        return false;
    }
    for (uint32_t n = 0; n < c->pin_count; n++) {
        for (uint32_t k = 0; !c->pins[n].yields && k < c->pins[n].count; k++) {
            held[c->pins[n].particles[k]] = true;
        }
    }
    bool ok = lmi_octree_body_weigh(c->world, made, held);
    lmi_release(&c->world->memory, held, made->place_count, sizeof *held);
    for (uint32_t leaf = 0; ok && leaf < made->region_count; leaf++) {
        copy_region(c, leaf);
    }
    return ok;
}

/* Nothing can fail here. What is neither the one body's nor the other's stays with the one that is in place: the batch, which a body
 * that has just woken joins after its change, and the records of what it touches. */
static void exchange(lmi_octree_change *c)
{
    lm_world *world = c->world;
    lmi_body *body = c->body, *made = &c->made;
    exchange_holds(c);
    made->octree->shell = body->octree->shell;
    body->octree->shell = NULL;
    made->lineage = body->lineage;
    body->lineage = NULL;
    lmi_octree_exchange_detail(c);
    lmi_octree_exchange_skin(c);
    made->batch = body->batch;
    made->touched = body->touched;
    made->touched_count = body->touched_count;
    made->touched_left_out = body->touched_left_out;
    if (body->batch != LMI_NONE) {
        lmi_batch *batch = &world->batches[body->batch];
        batch->particles = batch->particles - body->padded_count + made->padded_count;
        batch->dirty = true;
    }
    world->particles = world->particles - body->padded_count + made->padded_count;
    lmi_body before = *body;
    *body = *made;
    *made = before;
}

void lmi_octree_change_undo(lmi_octree_change *c) { exchange(c); }

void lmi_octree_change_apply(lmi_octree_change *c)
{
    lm_world *world = c->world;
    lmi_body *body = c->body;
    exchange(c);
    lmi_body_update_bounds(body);
    body->shape_hash = lmi_hash_shape(body);
    lmi_skin_update(world, body);
    lmi_octree_fade_end(c);
    lmi_body_rouse(world, body);
}

lm_result lmi_octree_change_make(lmi_octree_change *c, lmi_octree *next)
{
    lm_world *world = c->world;
    uint64_t padded = ((uint64_t)next->leaf_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    if (world->particles - c->body->padded_count + padded > LM_MAX_PARTICLES) {
        lmi_octree_free(next, &world->memory);
        return LM_ERROR_LIMIT;
    }
    uint32_t before = c->body->particle_count;
    bool ok = make_body(c, next) && remake_holds(c) && remake_forces(c) && weigh(c) && lmi_octree_follow_begin(c) &&
              lmi_octree_follow_touch(c) && lmi_octree_follow_detail(c) && lmi_octree_fade_begin(c) &&
              lmi_octree_follow_skin(c);
    uint32_t count = c->made.particle_count;
    lmi_octree_follow_end(c, before, count);
    lmi_release(&world->memory, c->from, count, sizeof *c->from);
    lmi_release(&world->memory, c->joined, count, sizeof *c->joined);
    c->from = c->joined = NULL;
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

void lmi_octree_change_free(lmi_octree_change *c)
{
    lm_world *world = c->world;
    lmi_memory *memory = &world->memory;
    uint32_t pins = 0, drags = 0;
    for (uint32_t n = c->body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        pins++;
    }
    for (uint32_t n = c->body->first_drag; n != LMI_NONE; n = LMI_POOL_AT(&world->drags, lmi_drag, n)->next) {
        drags++;
    }
    for (uint32_t n = 0; n < c->pin_count; n++) {
        lmi_release(memory, c->pins[n].particles, c->pins[n].count, sizeof *c->pins[n].particles);
        lmi_release(memory, c->pins[n].targets, c->pins[n].count, sizeof *c->pins[n].targets);
    }
    for (uint32_t n = 0; n < c->drag_count; n++) {
        lmi_release(memory, c->drags[n].particles, c->drags[n].count, sizeof *c->drags[n].particles);
        lmi_release(memory, c->drags[n].weights, c->drags[n].count, sizeof *c->drags[n].weights);
    }
    lmi_release(memory, c->pins, pins, sizeof *c->pins);
    lmi_release(memory, c->drags, drags, sizeof *c->drags);
    lmi_release(memory, c->forces, c->force_count, sizeof *c->forces);
    lmi_release(memory, c->leaf_detail, c->made.particle_count, sizeof *c->leaf_detail);
    lmi_release(memory, c->fading, c->fading_count, sizeof *c->fading);
    lmi_release(memory, c->faded, c->faded_count, sizeof *c->faded);
    lmi_slashes_free(&c->slashes, memory);
    lmi_release(memory, c->maps, c->map_count, sizeof *c->maps);
    lmi_body_free(world, &c->made);
}

/* ---- leaves that are joined ----
 *
 * Leaves that are joined into one (octree_change.h).
 *
 * The new particle has the mass of all of them, is in the middle of where they are, and moves with their momentum. What they had of
 * spin about that middle a particle cannot have: it goes to the new leaf and its neighbours, as a rotation of these about their own
 * middle, which adds no momentum:
 *
 *     v_k += w x (x_k - c)        I w = sum m_i (x_i - x) x v_i        c, I: of the leaf and its neighbours
 *
 * Lasting deformation is the mean by mass; the rotation, from which the next fit starts, is the heaviest leaf's.
 */

static lm_dvec3 place_of(const float *x, uint32_t place)
{
    return dvec(x[(size_t)place * 4], x[(size_t)place * 4 + 1], x[(size_t)place * 4 + 2]);
}

void lmi_octree_join_particle(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t is = c->made.place[leaf];
    double mass = 0.0;
    lm_dvec3 at = lm_dvec3_zero(), momentum = lm_dvec3_zero();
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = old->place[c->from[leaf] + k];
        mass += old->mass[was];
        at = dvec_add(at, dvec_scale(place_of(old->x, was), old->mass[was]));
        momentum = dvec_add(momentum, dvec_scale(place_of(old->v, was), old->mass[was]));
    }
    lm_vec3 x = vec_from(dvec_scale(at, 1.0 / mass)), v = vec_from(dvec_scale(momentum, 1.0 / mass));
    memcpy(c->made.x + (size_t)is * 4, &x, 3 * sizeof(float));
    memcpy(c->made.v + (size_t)is * 4, &v, 3 * sizeof(float));
    c->made.mass[is] = (float)mass;
}

/* The spin that joined leaves had about the new one. */
static lm_dvec3 lost_spin(const lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    lm_dvec3 lost = lm_dvec3_zero(), at = place_of(c->made.x, c->made.place[leaf]);
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = old->place[c->from[leaf] + k];
        lm_dvec3 arm = dvec_sub(place_of(old->x, was), at);
        lost = dvec_add(lost, dvec_cross(arm, dvec_scale(place_of(old->v, was), old->mass[was])));
    }
    return lost;
}

/* Turns a leaf and its neighbours. */
static void give_spin(lmi_octree_change *c, uint32_t leaf, lm_dvec3 spin)
{
    lmi_body *made = &c->made;
    const lmi_octree_lists *near = &made->octree->tree.neighbours;
    uint32_t count = near->offsets[leaf + 1] - near->offsets[leaf];
    lm_dvec3 from = place_of(made->x, made->place[leaf]), centre = lm_dvec3_zero();
    double mass = 0.0, inertia[6] = {0};
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        mass += made->mass[place];
        centre = dvec_add(centre, dvec_scale(dvec_sub(place_of(made->x, place), from), made->mass[place]));
    }
    centre = dvec_add(from, dvec_scale(centre, 1.0 / mass));
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        lm_dvec3 r = dvec_sub(place_of(made->x, place), centre);
        double m = made->mass[place];
        inertia[0] += m * (r.y * r.y + r.z * r.z), inertia[1] += m * (r.z * r.z + r.x * r.x);
        inertia[2] += m * (r.x * r.x + r.y * r.y), inertia[3] -= m * r.x * r.y;
        inertia[4] -= m * r.y * r.z, inertia[5] -= m * r.z * r.x;
    }
    lm_dvec3 w = lmi_dmat_solve_spin(inertia, spin);
    for (uint32_t n = 0; n <= count; n++) {
        uint32_t place = made->place[n < count ? near->items[near->offsets[leaf] + n] : leaf];
        lm_dvec3 by = dvec_cross(w, dvec_sub(place_of(made->x, place), centre));
        lm_vec3 v = vec_from(dvec_add(place_of(made->v, place), by));
        memcpy(made->v + (size_t)place * 4, &v, 3 * sizeof(float));
    }
}

void lmi_octree_join_spins(lmi_octree_change *c)
{
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) { /* one after the other, in the order of the tree */
        if (c->joined[leaf] > 1) {
            give_spin(c, leaf, lost_spin(c, leaf));
        }
    }
}

/* The state of one region of before, in the axes of the new one. */
static void take_region(lmi_octree_change *c, uint32_t leaf, uint32_t was)
{
    uint32_t stride;
    const float *rotation = lmi_body_rotation(c->world, c->body, was, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        c->made.rotation[(size_t)leaf * 9 + i] = rotation[i * stride];
    }
    const float *plastic = lmi_body_plastic(c->world, c->body, was, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + i] = plastic[i * stride];
    }
    lmi_body_turn_axes(c->world, &c->made, leaf, &c->body->regions[was].axes);
}

void lmi_octree_join_region(lmi_octree_change *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t heaviest = c->from[leaf];
    double mass = 0.0, plastic[6] = {0};
    for (uint32_t k = 0; k < c->joined[leaf]; k++) {
        uint32_t was = c->from[leaf] + k;
        double m = old->mass[old->place[was]];
        take_region(c, leaf, was);
        for (int i = 0; i < 6; i++) {
            plastic[i] += m * c->made.plastic[(size_t)leaf * 6 + (size_t)i];
        }
        mass += m;
        heaviest = m > old->mass[old->place[heaviest]] ? was : heaviest;
    }
    take_region(c, leaf, heaviest);
    for (int i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + (size_t)i] = (float)(plastic[i] / mass);
    }
}
