/*
 * Cutting bodies with a blade: lm_body_cut. Lattices break along it (fracture_break.c), clusters and tetrahedra have a file of
 * their own (cluster_cut.c); the rest is about octrees.
 *
 * What the body becomes is made aside, with particles, regions, pins and skin of its own, and put in place when nothing can fail
 * any more. Each new leaf was part of one leaf before, and takes its state: the velocity as it is, the place where the leaf's
 * region carries it, and its share of the mass. So mass, momentum and spin of the body are what they were.
 */
#include "base/guard.h"
#include "body.h"
#include "fracture.h"
#include "grain.h"
#include "octree_body.h"
#include "out/hash.h"
#include "out/skin_octree.h"
#include "out/skin_octree_cut.h"
#include "sample/embed_octree.h"
#include "sample/octree_blade.h"

#include <string.h>

#define BLADE_COOKIE 0x4c4d4231u

lm_blade lm_blade_default(void)
{
    lm_blade blade;
    memset(&blade, 0, sizeof blade);
    blade.cookie = BLADE_COOKIE;
    return blade;
}

static const char *blade_fault(const lm_blade *blade)
{
    if (blade->cookie != BLADE_COOKIE) {
        return "the blade did not come from lm_blade_default";
    }
    if (blade->triangle_count && (!blade->vertices || !blade->triangles)) {
        return "a blade needs vertices and triangles";
    }
    if (blade->triangle_count > LM_MAX_BLADE_TRIANGLES || blade->vertex_count > 3 * LM_MAX_BLADE_TRIANGLES) {
        return "the blade has more than LM_MAX_BLADE_TRIANGLES triangles, or three times as many vertices";
    }
    if (!(blade->finest >= 0.0f && blade->finest <= 1e6f)) {
        return "finest must be 0 to 1e6 m";
    }
    for (uint32_t n = 0; n < blade->vertex_count; n++) {
        const lm_dvec3 *p = &blade->vertices[n];
        if (!(fabs(p->x) <= LM_MAX_POSITION && fabs(p->y) <= LM_MAX_POSITION && fabs(p->z) <= LM_MAX_POSITION)) {
            return "a vertex of the blade is not finite or beyond LM_MAX_POSITION";
        }
    }
    for (size_t n = 0; n < (size_t)blade->triangle_count * 3; n++) {
        if (blade->triangles[n] >= blade->vertex_count) {
            return "a triangle of the blade has an index beyond the last vertex";
        }
    }
    return NULL;
}

/* What a cut is made with. */
typedef struct cutter {
    lm_world *world;
    lmi_body *body;       /* as it is */
    lmi_body made;        /* as it will be */
    uint32_t *from;       /* [made leaves] the leaf that each was part of */
    lmi_octree_map *maps; /* [leaves] */
    lmi_slashes slashes;
    lmi_pin *pins; /* [pins of the body] with new particles; in the order of the body's list */
    lmi_drag *drags;
    uint32_t pin_count, drag_count;
    uint32_t *shown; /* of the new skin (out/skin_octree_cut.h) */
} cutter;

/* --- where leaves are --- */

/* The affine map of each leaf's region, as skins use it. */
static bool make_maps(cutter *c)
{
    lmi_body *body = c->body;
    lmi_memory *memory = &c->world->memory;
    lmi_carrier *carriers = lmi_allocate(memory, body->region_count, sizeof *carriers);
    c->maps = lmi_allocate(memory, body->region_count, sizeof *c->maps);
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

/* The blade from the body's origin; null when out of memory. */
static lmi_blade_triangle *take_blade(lmi_memory *memory, const lm_blade *blade, lm_dvec3 origin)
{
    lmi_blade_triangle *triangles = lmi_allocate(memory, blade->triangle_count, sizeof *triangles);
    for (uint32_t n = 0; triangles && n < blade->triangle_count; n++) {
        for (int i = 0; i < 3; i++) {
            triangles[n].corner[i] = dvec_sub(blade->vertices[blade->triangles[3 * n + (uint32_t)i]], origin);
        }
    }
    return triangles;
}

static bool find_slashes(cutter *c, const lm_blade *blade)
{
    lmi_memory *memory = &c->world->memory;
    lmi_blade_triangle *triangles = take_blade(memory, blade, c->body->origin);
    bool ok = triangles && lmi_octree_find_slashes(&c->body->octree->tree, memory, c->maps, triangles,
                                                   blade->triangle_count, &c->slashes);
    lmi_release(memory, triangles, blade->triangle_count, sizeof *triangles);
    return ok;
}

/* --- the new body --- */

/* All that a body has and the new one makes for itself. */
static void forget_arrays(lmi_body *body)
{
    body->rest = NULL;
    body->mass = NULL;
    body->order = body->place = body->region_offsets = body->members = body->tets = NULL;
    body->regions = NULL;
    body->rotation = body->plastic = body->stiffness = body->home = body->x = body->v = NULL;
    body->octree = NULL;
    body->bulk = NULL;
    body->cubes = NULL;
    body->place_count = 0;
    memset(&body->skin, 0, sizeof body->skin);
    memset(&body->touch, 0, sizeof body->touch);
}

static void copy_region(cutter *c, uint32_t leaf)
{
    const lmi_body *old = c->body;
    uint32_t from = c->from[leaf], stride;
    const float *rotation = lmi_body_rotation(c->world, old, from, &stride);
    for (uint32_t i = 0; i < 9; i++) {
        c->made.rotation[(size_t)leaf * 9 + i] = rotation[i * stride];
    }
    const float *plastic = lmi_body_plastic(c->world, old, from, &stride);
    for (uint32_t i = 0; i < 6; i++) {
        c->made.plastic[(size_t)leaf * 6 + i] = plastic[i * stride];
    }
    if (c->made.stiffness) {
        c->made.stiffness[leaf] = old->stiffness[from];
    }
    lmi_body_turn_axes(c->world, &c->made, leaf, &old->regions[from].axes);
}

static void copy_particle(cutter *c, uint32_t leaf)
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

static bool make_body(cutter *c, lmi_octree *next)
{
    lm_world *world = c->world;
    lmi_body *made = &c->made;
    *made = *c->body;
    forget_arrays(made);
    bool ok = lmi_octree_body_allocate(world, made, next);
    made->first_pin = c->body->first_pin;
    made->first_drag = c->body->first_drag;
    made->first_force = c->body->first_force;
    made->skeleton = c->body->skeleton;
    if (ok && c->body->stiffness) {
        made->stiffness = lmi_allocate(&world->memory, made->region_count, sizeof *made->stiffness);
        ok = made->stiffness != NULL;
    }
    c->from = ok ? lmi_allocate(&world->memory, made->particle_count, sizeof *c->from) : NULL;
    if (!ok || !c->from) {
        return false;
    }
    const lmi_octree *before = &c->body->octree->tree, *t = &made->octree->tree;
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        c->from[leaf] = before->nodes[before->owner[t->voxel_order[node->first_voxel]]].leaf;
        copy_particle(c, leaf);
    }
    return true;
}

/* --- who holds it --- */

/* How many new leaves the particles at these places have become. */
static uint32_t count_heirs(const cutter *c, const uint32_t *places, uint32_t count, uint32_t *heirs_of)
{
    uint32_t heirs = 0;
    memset(heirs_of, 0xff, c->body->particle_count * sizeof *heirs_of);
    for (uint32_t n = 0; n < count; n++) {
        heirs_of[c->body->order[places[n]]] = n;
    }
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) {
        heirs += heirs_of[c->from[leaf]] != LMI_NONE;
    }
    return heirs;
}

/* All heirs of a pinned particle are pinned, each where it would be carried to. */
static bool remake_pin(cutter *c, const lmi_pin *pin, uint32_t *heirs_of, lmi_pin *to)
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
        uint32_t from = c->from[leaf], n = heirs_of[from];
        if (n == LMI_NONE) {
            continue;
        }
        const lmi_octree_map *map = &c->maps[from];
        lm_dvec3 off = dvec_sub(carried(map, dvec_from(c->made.rest[c->made.place[leaf]])), map->at);
        to->particles[at] = c->made.place[leaf];
        to->targets[at++] = dvec_add(pin->targets[n], mover ? dmat_apply_transposed(&mover->rotation, off) : off);
    }
    return true;
}

static bool remake_drag(cutter *c, const lmi_drag *drag, uint32_t *heirs_of, lmi_drag *to)
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
    for (uint32_t leaf = 0; leaf < c->made.particle_count; leaf++) {
        uint32_t n = heirs_of[c->from[leaf]];
        if (n != LMI_NONE) {
            to->particles[at] = c->made.place[leaf];
            to->weights[at++] = (float)(drag->weights[n] * scale);
        }
        to->particle = c->from[leaf] == drag->particle && to->particle == drag->particle ? leaf : to->particle;
    }
    return true;
}

static bool remake_holds(cutter *c)
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

/* Exchanges the lists of pins and drags with those that were made: the old ones are freed with the cutter. */
static void exchange_holds(cutter *c)
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
    for (uint32_t n = c->body->first_force; n != LMI_NONE; n = world->forces[n].next) {
        lmi_force *force = &world->forces[n];
        uint32_t leaf = 0, was = force->particle == LMI_NONE ? LMI_NONE : c->body->order[force->particle];
        while (was != LMI_NONE && c->from[leaf] != was) {
            leaf++;
        }
        force->particle = was == LMI_NONE ? LMI_NONE : c->made.place[leaf];
    }
}

/* --- what follows --- */

/* Weights, regions and lanes; then rotations, which are in the axes of these regions. */
static bool weigh(cutter *c)
{
    lmi_body *made = &c->made;
    bool *held = lmi_allocate(&c->world->memory, made->place_count, sizeof *held);
    if (!held) {
        return false;
    }
    for (uint32_t n = 0; n < c->pin_count; n++) {
        for (uint32_t k = 0; k < c->pins[n].count; k++) {
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

/* Whether a voxel has others all around it across an axis: a point on its face along that axis is inside the body. */
static bool is_within(const lmi_octree *t, uint32_t voxel, uint32_t axis)
{
    bool within = true;
    for (uint32_t k = 1; within && k < 3; k++) {
        for (int up = -1; within && up < 2; up += 2) {
            int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
            at[(axis + k) % 3] += up;
            within = lmi_octree_voxel(t, at[0], at[1], at[2]) != LMI_OCTREE_NONE;
        }
    }
    return within;
}

/* Touch points on both sides of what was cut, as dense as those of the surface: each a little inside the voxel that it belongs
 * to, because that is how its leaf is found. Counts them, and writes them where there is room. */
static uint32_t list_points_of_cut(const cutter *c, lm_vec3 *points)
{
    const lmi_octree *t = &c->made.octree->tree;
    const lmi_voxels *v = &t->voxels;
    double apart = 0.5 * lmi_octree_mean_side(&c->made) / v->spacing;
    uint32_t every = apart > 1.5 ? (uint32_t)(apart + 0.5) : 1, count = 0;
    for (uint32_t n = 0; n < c->slashes.count; n++) {
        const lmi_slash *s = &c->slashes.items[n];
        const uint16_t *at = t->at[s->voxel];
        if (at[(s->axis + 1) % 3] % every || at[(s->axis + 2) % 3] % every) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            int64_t place[3] = {at[0], at[1], at[2]};
            double middle[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            place[s->axis] += side;
            middle[s->axis] += side ? 0.55 : 0.45;
            if (!is_within(t, lmi_octree_voxel(t, place[0], place[1], place[2]), s->axis)) {
                continue;
            }
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

/* Whether a leaf is what it was, with the neighbours that it had. */
static bool is_calm(const cutter *c, const uint32_t *now, uint32_t then)
{
    const lmi_octree_lists *a = &c->body->octree->tree.neighbours, *b = &c->made.octree->tree.neighbours;
    uint32_t leaf = now[then], count = a->offsets[then + 1] - a->offsets[then];
    bool calm = leaf != LMI_NONE && b->offsets[leaf + 1] - b->offsets[leaf] == count;
    for (uint32_t n = 0; calm && n < count; n++) {
        calm = now[a->items[a->offsets[then] + n]] == b->items[b->offsets[leaf] + n];
    }
    return calm;
}

/* Leaves that are the same before and now: all of them (`now`), and those around which skins are the same too (`then`): their
 * neighbours have the neighbours that they had. */
static void find_same(const cutter *c, bool *calm, uint32_t *now, uint32_t *then)
{
    const lmi_octree *before = &c->body->octree->tree, *t = &c->made.octree->tree;
    memset(now, 0xff, before->leaf_count * sizeof *now);
    memset(then, 0xff, t->leaf_count * sizeof *then);
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *is = &t->nodes[t->leaves[leaf]], *was = &before->nodes[before->leaves[c->from[leaf]]];
        if (is->level == was->level && is->voxel_count == was->voxel_count) {
            now[c->from[leaf]] = leaf;
        }
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        calm[leaf] = is_calm(c, now, leaf);
    }
    for (uint32_t leaf = 0; leaf < before->leaf_count; leaf++) {
        bool all = calm[leaf];
        for (uint32_t n = before->neighbours.offsets[leaf]; all && n < before->neighbours.offsets[leaf + 1]; n++) {
            all = calm[before->neighbours.items[n]];
        }
        if (all) {
            then[now[leaf]] = leaf;
        }
    }
}

static bool make_skin_from(cutter *c, const lmi_octree_shell *shell)
{
    lmi_memory *memory = &c->world->memory;
    uint32_t before = c->body->particle_count, count = c->made.particle_count;
    bool *calm = lmi_allocate(memory, before, sizeof *calm);
    uint32_t *now = lmi_allocate(memory, before, sizeof *now), *then = lmi_allocate(memory, count, sizeof *then);
    bool ok = calm && now && then;
    if (ok) {
        find_same(c, calm, now, then);
        lmi_octree_earlier earlier = {&c->body->skin, shell->shown, then, now};
        ok = lmi_octree_shell_skin(c->world, &c->made, shell, shell->shown ? &earlier : NULL, &c->made.skin, &c->shown);
    }
    lmi_release(memory, calm, before, sizeof *calm);
    lmi_release(memory, now, before, sizeof *now);
    lmi_release(memory, then, count, sizeof *then);
    return ok;
}

static bool make_skin(cutter *c)
{
    lmi_octree_shell *shell = c->body->octree->shell;
    if (c->body->skin.vertex_count == 0) {
        return true;
    }
    if (!shell) {
        shell = c->body->octree->shell = lmi_octree_shell_make(c->world, &c->body->octree->tree, &c->body->skin);
    }
    bool ok = shell && make_skin_from(c, shell);
    if (!ok && shell && !shell->shown) { /* the body has a shell once it is cut, and not before */
        lmi_octree_shell_free(c->world, shell);
        c->body->octree->shell = NULL;
    }
    return ok;
}

/* Nothing can fail here. */
static void put_in_place(cutter *c)
{
    lm_world *world = c->world;
    lmi_body *body = c->body, old = *body;
    exchange_holds(c);
    c->made.octree->shell = old.octree->shell;
    old.octree->shell = NULL;
    if (c->shown) {
        lmi_octree_shell_show(world, c->made.octree->shell, c->shown);
    }
    if (body->batch != LMI_NONE) {
        lmi_batch *batch = &world->batches[body->batch];
        batch->particles = batch->particles - old.padded_count + c->made.padded_count;
        batch->dirty = true;
    }
    world->particles = world->particles - old.padded_count + c->made.padded_count;
    *body = c->made;
    memset(&c->made, 0, sizeof c->made);
    lmi_body_free(world, &old);
    lmi_body_update_bounds(body);
    body->shape_hash = lmi_hash_shape(body);
    lmi_skin_update(world, body);
    lmi_body_rouse(world, body);
}

static void free_cutter(cutter *c)
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
    lmi_slashes_free(&c->slashes, memory);
}

/* The level of cells of a side, at least of voxels. */
static uint32_t level_of(const lmi_octree *t, double side)
{
    uint32_t level = 0;
    while (level < t->levels && t->voxels.spacing * (double)(2u << level) <= side * (1.0 + 1e-6)) {
        level++;
    }
    return level;
}

static lm_result cut(cutter *c, const lm_blade *blade, lm_cut_info *info)
{
    lm_world *world = c->world;
    lmi_memory *memory = &world->memory;
    const lmi_octree *tree = &c->body->octree->tree;
    if (!find_slashes(c, blade)) {
        return LM_ERROR_MEMORY;
    }
    info->links = c->slashes.count;
    if (c->slashes.count == 0) {
        return LM_OK;
    }
    lmi_octree next;
    lm_result result =
        lmi_octree_cut(&next, memory, tree, &c->slashes, level_of(tree, blade->finest), &info->regions_found);
    if (result != LM_OK) {
        return result;
    }
    uint64_t padded = ((uint64_t)next.leaf_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    if (world->particles - c->body->padded_count + padded > LM_MAX_PARTICLES) {
        lmi_octree_free(&next, memory);
        return LM_ERROR_LIMIT;
    }
    bool ok = make_body(c, &next) && remake_holds(c) && weigh(c) && make_touch(c) && make_skin(c);
    uint32_t count = c->made.particle_count;
    if (ok) {
        put_in_place(c);
    } else {
        lmi_body_free(world, &c->made);
    }
    lmi_release(memory, c->from, count, sizeof *c->from);
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result cut_octree(lm_world *world, lmi_body *body, const lm_blade *blade, lm_cut_info *info)
{
    cutter c = {.world = world, .body = body};
    uint32_t maps = body->region_count;
    lm_result result = make_maps(&c) ? cut(&c, blade, info) : LM_ERROR_MEMORY;
    lmi_release(&world->memory, c.maps, maps, sizeof *c.maps);
    free_cutter(&c);
    info->parts = body->octree->part_count;
    return result;
}

static lm_result cut_lattice(lm_world *world, uint32_t slot, lmi_body *body, const lm_blade *blade, lm_cut_info *info)
{
    lmi_blade_triangle *triangles = take_blade(&world->memory, blade, body->origin);
    lm_result result = LM_ERROR_MEMORY;
    if (triangles) {
        result = lmi_fracture_cut(world, slot, body, triangles, blade->triangle_count, &info->links);
    }
    lmi_release(&world->memory, triangles, blade->triangle_count, sizeof *triangles);
    info->parts = body->lattice->shape.part_count;
    return result;
}

static lm_result cut_clusters(lm_world *world, lmi_body *body, const lm_blade *blade, lm_cut_info *info,
                              const char **fault)
{
    lmi_blade_triangle *triangles = take_blade(&world->memory, blade, body->origin);
    lm_result result = LM_ERROR_MEMORY;
    if (triangles) {
        result = lmi_cluster_cut(world, body, triangles, blade->triangle_count, info, fault);
    }
    lmi_release(&world->memory, triangles, blade->triangle_count, sizeof *triangles);
    return result;
}

lm_result lm_body_cut(lm_world *world, lm_body_id id, const lm_blade *blade, lm_cut_info *info)
{
    lm_cut_info none;
    lmi_body *body = lmi_body_find(world, id, "lm_body_cut");
    info = info ? info : &none;
    memset(info, 0, sizeof *info);
    if (!body) {
        return LM_ERROR_ID;
    }
    const char *fault = blade_fault(blade);
    fault = fault ? fault : body->lattice && !body->fracture ? "a lattice must be able to break to be cut" : NULL;
    fault = fault ? fault : body->examples ? "a body with examples cannot be cut" : NULL;
    fault = fault ? fault : body->skeleton != LMI_NONE ? "a body on a skeleton cannot be cut" : NULL;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_cut: %s", fault);
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_result result = body->octree    ? cut_octree(world, body, blade, info)
                       : body->lattice ? cut_lattice(world, id.slot - 1, body, blade, info)
                                       : cut_clusters(world, body, blade, info, &fault);
    lmi_float_mode_leave(&host);
    if (result != LM_OK) {
        memset(info, 0, sizeof *info);
        return lmi_fail(world, result, "lm_body_cut: %s; nothing has changed", fault ? fault : lm_result_text(result));
    }
    info->particles = body->particle_count;
    return LM_OK;
}

lm_result lm_body_cut_sweep(lm_world *world, lm_body_id id, const lm_dvec3 *from, const lm_dvec3 *to, uint32_t count,
                            lm_cut_info *info)
{
    if (count < 2 || count > LM_MAX_BLADE_TRIANGLES / 2 || !from || !to) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_cut_sweep: 2 to %u points are needed, there are %u",
                        LM_MAX_BLADE_TRIANGLES / 2, count);
    }
    lmi_memory *memory = &world->memory;
    uint32_t triangles = 2 * (count - 1);
    lm_dvec3 *vertices = lmi_allocate(memory, (size_t)2 * count, sizeof *vertices);
    uint32_t *corners = lmi_allocate(memory, (size_t)3 * triangles, sizeof *corners);
    lm_result result = LM_ERROR_MEMORY;
    if (vertices && corners) {
        memcpy(vertices, from, count * sizeof *from);
        memcpy(vertices + count, to, count * sizeof *to);
        for (uint32_t n = 0; n + 1 < count; n++) {
            const uint32_t quad[6] = {n, n + 1, count + n, n + 1, count + n + 1, count + n};
            memcpy(corners + (size_t)6 * n, quad, sizeof quad);
        }
        lm_blade blade = lm_blade_default();
        blade.vertices = vertices;
        blade.vertex_count = 2 * count;
        blade.triangles = corners;
        blade.triangle_count = triangles;
        result = lm_body_cut(world, id, &blade, info);
    } else {
        lmi_fail(world, LM_ERROR_MEMORY, "lm_body_cut_sweep: out of memory; nothing has changed");
    }
    lmi_release(memory, vertices, (size_t)2 * count, sizeof *vertices);
    lmi_release(memory, corners, (size_t)3 * triangles, sizeof *corners);
    return result;
}
