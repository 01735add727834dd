/*
 * Pieces that become bodies of their own, and pieces that are dropped: lm_body_split, lm_body_drop_pieces.
 *
 * All bodies that come of a split, what stays of the first one too, are made aside (piece.h) with what holds them, and put in place when
 * nothing can fail any more.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "base/sets.h"
#include "cut/grain.h"
#include "cut/piece.h"
#include "joint/joint.h"
#include "lattice/lattice_body.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <assert.h>
#include <string.h>

#define LIMITS_COOKIE 0x4c4d4c31u

/* --- pieces --- */

static uint32_t count_pieces(const lmi_body *body)
{
    return body->lattice  ? body->lattice->shape.part_count
           : body->octree ? body->octree->part_count
           : body->grain  ? body->grain->part_count
                          : 1;
}

static uint32_t piece_of(const lmi_body *body, uint32_t place)
{
    return body->lattice  ? lmi_lattice_part_of(body, place)
           : body->octree ? body->octree->part[body->order[place]]
           : body->grain  ? body->grain->part[place]
                          : 0;
}

static uint32_t piece_of_rider(const lmi_body *body, uint32_t rider)
{
    const uint32_t region = rider - LMI_SKIN_REGION;
    return piece_of(body, rider < LMI_SKIN_REGION ? rider
                          : body->octree          ? body->place[region]
                                                  : body->members[body->region_offsets[region]]);
}

/* For each piece the lowest of those that the same connected skin rides on: a blade parts the skin where it is, and particles as it
 * finds them. */
static void find_together(const lmi_body *body, uint32_t *together)
{
    const lmi_skin *skin = &body->skin;
    const uint32_t pieces = count_pieces(body);
    for (uint32_t n = 0; n < pieces; n++) {
        together[n] = n;
    }
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        for (uint32_t k = skin->offsets[n] + 1; k < skin->offsets[n + 1]; k++) {
            lmi_sets_join(together, piece_of_rider(body, skin->riders[k]), piece_of_rider(body, skin->riders[k - 1]));
        }
    }
    for (size_t n = 0; n < (size_t)skin->triangle_count * 3; n++) {
        lmi_sets_join(together, piece_of_rider(body, skin->riders[skin->offsets[skin->triangles[n]]]),
                      piece_of_rider(body, skin->riders[skin->offsets[skin->triangles[n - n % 3]]]));
    }
    for (uint32_t n = 0; n < pieces; n++) {
        together[n] = lmi_set_of(together, n);
    }
}

/* What is summed over particles. */
typedef struct sums {
    uint32_t particles;
    double mass;
    lm_dvec3 first, momentum, angular; /* from the body's origin */
} sums;

static void sum_pieces(const lmi_body *body, sums *of)
{
    LMI_PARTICLES_EACH(body, n)
    {
        sums *s = &of[piece_of(body, n)];
        const float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        const double m = body->mass[n];
        const lm_dvec3 at = dvec(x[0], x[1], x[2]), momentum = dvec(m * v[0], m * v[1], m * v[2]);
        s->particles++;
        s->mass += m;
        s->first = dvec_add(s->first, dvec_scale(at, m));
        s->momentum = dvec_add(s->momentum, momentum);
        s->angular = dvec_add(s->angular, dvec_cross(at, momentum));
    }
}

static void add_sums(sums *to, const sums *s)
{
    to->particles += s->particles;
    to->mass += s->mass;
    to->first = dvec_add(to->first, s->first);
    to->momentum = dvec_add(to->momentum, s->momentum);
    to->angular = dvec_add(to->angular, s->angular);
}

/* Those of pieces that go together, at the lowest of them; the others have none. */
static void sum_together(const uint32_t *together, uint32_t count, sums *of)
{
    for (uint32_t n = 0; n < count; n++) {
        if (together[n] != n) {
            add_sums(&of[together[n]], &of[n]);
            of[n] = (sums){0};
        }
    }
}

static lm_piece_info info_of(const lmi_body *body, const sums *s, uint32_t together)
{
    const lm_dvec3 centre = dvec_scale(s->first, 1.0 / s->mass);
    return (lm_piece_info){.together = together,
                           .particles = s->particles,
                           .mass = (float)s->mass,
                           .volume = (float)(body->volume * s->mass / body->total_mass),
                           .centre = dvec_add(body->origin, centre),
                           .momentum = vec_from(s->momentum),
                           .angular_momentum = vec_from(dvec_sub(s->angular, dvec_cross(centre, s->momentum)))};
}

lm_result lm_body_get_piece_infos(const lm_world *world, lm_body_id id, lm_piece_info *pieces)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_piece_infos");
    if (!body) {
        return LM_ERROR_ID;
    }
    const uint32_t count = count_pieces(body);
    lmi_memory memory = world->memory; /* nothing of it stays */
    sums *of = lmi_allocate(&memory, count, sizeof *of);
    uint32_t *together = lmi_allocate(&memory, count, sizeof *together);
    const bool ok = of && together;
    if (ok) {
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        sum_pieces(body, of);
        find_together(body, together);
        for (uint32_t n = 0; n < count; n++) {
            pieces[n] = info_of(body, &of[n], together[n]);
        }
        lmi_float_mode_leave(&host);
    }
    lmi_release(&memory, of, count, sizeof *of);
    lmi_release(&memory, together, count, sizeof *together);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_get_piece_infos: out of memory");
}

/* --- a split on its way --- */

/* A pin or a drag with what is left of it. */
typedef struct hold {
    uint32_t *particles;
    void *values; /* of a pin its targets, of a drag its weights */
    uint32_t count, group;
    uint32_t index; /* of the pin or drag */
} hold;

typedef struct splitter {
    lm_world *world;
    lmi_body *body;
    uint32_t slot;
    uint32_t count;         /* of bodies, that which stays first */
    uint32_t *group;        /* [places] */
    bool *held;             /* [places] */
    lmi_body *made;         /* [count] */
    uint32_t **now;         /* [count] lmi_piece.now */
    uint32_t *slots;        /* [count] */
    uint32_t added, joined; /* of them that are in the pool, and in batches */
    hold *pins, *drags;     /* in the order of the body's lists */
    uint32_t pin_count, drag_count;
} splitter;

static lmi_pin *pin_at(const splitter *s, uint32_t n) { return LMI_POOL_AT(&s->world->pins, lmi_pin, n); }
static lmi_drag *drag_at(const splitter *s, uint32_t n) { return LMI_POOL_AT(&s->world->drags, lmi_drag, n); }

/* What of a hold is in the group of `whose`; its particles are numbered when the bodies are there. */
static bool keep_hold(const splitter *s, uint32_t whose, const uint32_t *particles, uint32_t count, const void *values,
                      size_t size, hold *to)
{
    lmi_memory *memory = &s->world->memory;
    to->group = s->group[whose];
    for (uint32_t n = 0; n < count; n++) {
        to->count += s->group[particles[n]] == to->group;
    }
    if (count && to->count == 0) {
        return keep_hold(s, particles[0], particles, count, values, size, to);
    }
    to->particles = lmi_allocate(memory, to->count, sizeof *to->particles);
    to->values = lmi_allocate(memory, to->count, size);
    for (uint32_t n = 0, at = 0; to->particles && to->values && n < count; n++) {
        if (s->group[particles[n]] == to->group) {
            to->particles[at] = particles[n];
            memcpy((char *)to->values + size * at++, (const char *)values + size * n, size);
        }
    }
    return to->particles && to->values;
}

static bool keep_holds(splitter *s)
{
    const lmi_body *body = s->body;
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = pin_at(s, n)->next) {
        s->pin_count++;
    }
    for (uint32_t n = body->first_drag; n != LMI_NONE; n = drag_at(s, n)->next) {
        s->drag_count++;
    }
    s->pins = lmi_allocate(&s->world->memory, s->pin_count, sizeof *s->pins);
    s->drags = lmi_allocate(&s->world->memory, s->drag_count, sizeof *s->drags);
    bool ok = s->pins && s->drags;
    for (uint32_t n = body->first_pin, k = 0; ok && n != LMI_NONE; n = pin_at(s, n)->next, k++) {
        const lmi_pin *pin = pin_at(s, n);
        s->pins[k].index = n;
        ok = keep_hold(s, pin->particles[0], pin->particles, pin->count, pin->targets, sizeof *pin->targets,
                       &s->pins[k]);
        for (uint32_t i = 0; ok && !pin->yields && i < s->pins[k].count; i++) {
            s->held[s->pins[k].particles[i]] = true;
        }
    }
    for (uint32_t n = body->first_drag, k = 0; ok && n != LMI_NONE; n = drag_at(s, n)->next, k++) {
        const lmi_drag *drag = drag_at(s, n);
        s->drags[k].index = n;
        ok = keep_hold(s, body->place[drag->particle], drag->particles, drag->count, drag->weights,
                       sizeof *drag->weights, &s->drags[k]);
    }
    return ok;
}

static void free_holds(const splitter *s)
{
    lmi_memory *memory = &s->world->memory;
    for (uint32_t n = 0; s->pins && n < s->pin_count; n++) {
        lmi_release(memory, s->pins[n].particles, s->pins[n].count, sizeof(uint32_t));
        lmi_release(memory, s->pins[n].values, s->pins[n].count, sizeof(lm_dvec3));
    }
    for (uint32_t n = 0; s->drags && n < s->drag_count; n++) {
        lmi_release(memory, s->drags[n].particles, s->drags[n].count, sizeof(uint32_t));
        lmi_release(memory, s->drags[n].values, s->drags[n].count, sizeof(float));
    }
    lmi_release(memory, s->pins, s->pin_count, sizeof *s->pins);
    lmi_release(memory, s->drags, s->drag_count, sizeof *s->drags);
}

/* Whether an end of a joint holds on to several of the bodies to be. */
static bool joints_are_divided(const splitter *s)
{
    bool divided = false;
    LMI_POOL_EACH(&s->world->joints, n)
    {
        for (int e = 0; e < 2; e++) {
            const lmi_joint_end *end = &LMI_POOL_AT(&s->world->joints, lmi_joint, n)->end[e];
            for (uint32_t k = 1; end->body == s->slot && k < end->count; k++) {
                divided = divided || s->group[end->particles[k]] != s->group[end->particles[0]];
            }
        }
    }
    return divided;
}

static lm_result make_bodies(splitter *s)
{
    lm_result result = LM_OK;
    for (uint32_t k = 0; result == LM_OK && k < s->count; k++) {
        lmi_piece piece = {
            .world = s->world, .from = s->body, .group = s->group, .held = s->held, .which = k, .to = &s->made[k]};
        result = lmi_piece_make(&piece);
        s->now[k] = piece.now;
    }
    return result;
}

/* Slots and batches for the new bodies, which are in them from then on; all but the first of `made` are moved there. */
static lm_result add_bodies(splitter *s)
{
    lm_world *world = s->world;
    lm_result result = lmi_grow(&world->memory, &world->splits, &world->split_capacity,
                                world->split_count + s->count - 1, sizeof *world->splits)
                           ? LM_OK
                           : LM_ERROR_MEMORY;
    for (uint32_t k = 1; result == LM_OK && k < s->count; k++) {
        if (!lmi_pool_add(&world->bodies, &world->memory, &s->slots[k])) {
            return LM_ERROR_MEMORY;
        }
        s->added = k;
        lmi_body *to = lmi_body_in_step(world, s->slots[k]);
        *to = s->made[k];
        memset(&s->made[k], 0, sizeof s->made[k]);
        to->slot = to->island = s->slots[k];
        result = to->disabled ? LM_OK : lmi_body_join_batch(world, s->slots[k]);
    }
    s->body = lmi_body_in_step(world, s->slot); /* the pool may have moved */
    return result;
}

/* In the reverse order, so that the next one gets the same slot. */
static void take_back(splitter *s)
{
    for (uint32_t k = s->added; k > 0; k--) {
        lmi_body_leave_batch(s->world, s->slots[k]);
        lmi_body_free(s->world, lmi_body_in_step(s->world, s->slots[k]));
        lmi_pool_revoke(&s->world->bodies, s->slots[k]);
    }
}

/* --- nothing can fail from here on --- */

static lmi_body *body_of(const splitter *s, uint32_t group) { return lmi_body_in_step(s->world, s->slots[group]); }

static void number_hold(const splitter *s, const hold *h)
{
    for (uint32_t n = 0; n < h->count; n++) {
        h->particles[n] = s->now[h->group][h->particles[n]];
    }
}

/* Pins and drags, in the order that their lists had. `place`: of the first body before. */
static void move_holds(const splitter *s, const uint32_t *place)
{
    lm_world *world = s->world;
    for (uint32_t k = s->pin_count; k > 0; k--) {
        hold *h = &s->pins[k - 1];
        lmi_pin *pin = pin_at(s, h->index);
        lmi_body *body = body_of(s, h->group);
        lmi_pin_free(world, pin);
        number_hold(s, h);
        pin->body = body->slot;
        pin->count = h->count;
        pin->particles = h->particles;
        pin->targets = h->values;
        pin->next = body->first_pin;
        body->first_pin = h->index;
        h->particles = NULL;
        h->values = NULL;
    }
    for (uint32_t k = s->drag_count; k > 0; k--) {
        hold *h = &s->drags[k - 1];
        lmi_drag *drag = drag_at(s, h->index);
        lmi_body *body = body_of(s, h->group);
        const uint32_t was = s->now[h->group][place[drag->particle]];
        lmi_drag_free(world, drag);
        number_hold(s, h);
        drag->body = body->slot;
        drag->particle = body->order[was == LMI_NONE ? h->particles[0] : was];
        drag->count = h->count;
        drag->particles = h->particles;
        drag->weights = h->values;
        drag->next = body->first_drag;
        body->first_drag = h->index;
        h->particles = NULL;
        h->values = NULL;
    }
}

static void move_forces(const splitter *s, uint32_t first)
{
    for (uint32_t n = first, next; n != LMI_NONE; n = next) {
        lmi_force *force = &s->world->forces[n];
        const uint32_t group = force->particle == LMI_NONE ? 0 : s->group[force->particle];
        lmi_body *body = body_of(s, group);
        next = force->next;
        force->body = body->slot;
        force->particle = force->particle == LMI_NONE ? LMI_NONE : s->now[group][force->particle];
        force->next = body->first_force;
        body->first_force = n;
    }
}

static void move_joints(const splitter *s)
{
    LMI_POOL_EACH(&s->world->joints, n)
    {
        for (int e = 0; e < 2; e++) {
            lmi_joint_end *end = &LMI_POOL_AT(&s->world->joints, lmi_joint, n)->end[e];
            if (end->body != s->slot || end->count == 0) {
                continue;
            }
            const uint32_t group = s->group[end->particles[0]];
            for (uint32_t k = 0; k < end->count; k++) {
                end->particles[k] = s->now[group][end->particles[k]];
            }
            body_of(s, 0)->joints--;
            body_of(s, group)->joints++;
            end->body = group ? s->slots[group] : s->slot;
        }
    }
}

/* What stays takes the place of the first body. */
static void exchange(splitter *s)
{
    lm_world *world = s->world;
    lmi_body *body = s->body, *made = &s->made[0], old = *body;
    made->batch = old.batch;
    made->touched = old.touched;
    made->touched_count = old.touched_count;
    made->touched_left_out = old.touched_left_out;
    made->joints = old.joints;
    made->asleep = old.asleep;
    made->roused = old.roused;
    made->was_asleep = old.was_asleep;
    made->island = old.island;
    made->outside_impulse = old.outside_impulse;
    made->contacts = old.contacts;
    *body = *made;
    memset(made, 0, sizeof *made);
    if (body->batch != LMI_NONE) {
        lmi_batch *batch = &world->batches[body->batch];
        batch->particles = batch->particles - old.padded_count + body->padded_count;
        batch->dirty = true;
    }
    world->particles -= old.padded_count;
    world->memberships -= old.membership_count;
    move_holds(s, old.place);
    move_forces(s, old.first_force);
    move_joints(s);
    lmi_body_free(world, &old);
}

/* Tells what has left. */
static void tell(const splitter *s, const lmi_body *body, lm_body_id from)
{
    lm_world *world = s->world;
    const lmi_id to = lmi_pool_id(&world->bodies, body->slot);
    lm_dvec3 centre = lm_dvec3_zero();
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        centre = dvec_add(centre, dvec_scale(dvec(x[0], x[1], x[2]), body->mass[n] / body->total_mass));
    }
    world->splits[world->split_count++] = (lm_split){.body = from,
                                                     .made = {to.slot, to.generation},
                                                     .particles = body->particle_count,
                                                     .mass = (float)body->total_mass,
                                                     .volume = (float)body->volume,
                                                     .centre = dvec_add(body->origin, centre)};
}

static void carry_out(splitter *s, lm_body_id from, lm_body_id *ids)
{
    lm_world *world = s->world;
    exchange(s);
    for (uint32_t k = 0; k < s->count; k++) {
        lmi_body *body = body_of(s, k);
        world->particles += body->padded_count;
        world->memberships += body->membership_count;
        lmi_body_anchor(world, body);
        lmi_drags_weigh(world, body);
        lmi_body_rouse(world, body);
        if (k > 0) {
            const lmi_id id = lmi_pool_id(&world->bodies, body->slot);
            ids[k - 1] = (lm_body_id){id.slot, id.generation};
            tell(s, body, from);
        }
    }
}

/* --- the interface --- */

static bool allocate(splitter *s)
{
    lmi_memory *memory = &s->world->memory;
    s->group = lmi_allocate(memory, s->body->place_count, sizeof *s->group);
    s->held = lmi_allocate(memory, s->body->place_count, sizeof *s->held);
    s->made = lmi_allocate(memory, s->count, sizeof *s->made);
    s->now = lmi_allocate(memory, s->count, sizeof *s->now);
    s->slots = lmi_allocate(memory, s->count, sizeof *s->slots);
    return s->group && s->held && s->made && s->now && s->slots;
}

static void release(splitter *s, uint32_t places)
{
    lmi_memory *memory = &s->world->memory;
    for (uint32_t k = 0; s->made && s->now && k < s->count; k++) {
        lmi_body_free(s->world, &s->made[k]);
        lmi_release(memory, s->now[k], places, sizeof *s->now[k]);
    }
    free_holds(s);
    lmi_release(memory, s->group, places, sizeof *s->group);
    lmi_release(memory, s->held, places, sizeof *s->held);
    lmi_release(memory, s->made, s->count, sizeof *s->made);
    lmi_release(memory, s->now, s->count, sizeof *s->now);
    lmi_release(memory, s->slots, s->count, sizeof *s->slots);
}

/* `groups`: of each piece; `count`: of bodies, that which stays too. */
static lm_result split(lm_world *world, lmi_body *body, const uint32_t *groups, uint32_t count, lm_body_id from,
                       lm_body_id *made, const char **fault)
{
    splitter s = {.world = world, .body = body, .slot = body->slot, .count = count};
    const uint32_t places = body->place_count;
    lm_result result = allocate(&s) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        s.slots[0] = s.slot;
        LMI_PARTICLES_EACH(body, n) { s.group[n] = groups[piece_of(body, n)]; }
        *fault = joints_are_divided(&s) ? "a joint is on several of the bodies to be" : NULL;
        result = *fault ? LM_ERROR_ARGUMENT : keep_holds(&s) ? LM_OK : LM_ERROR_MEMORY;
    }
    result = result == LM_OK ? make_bodies(&s) : result;
    result = result == LM_OK ? add_bodies(&s) : result;
    if (result == LM_OK) {
        carry_out(&s, from, made);
    } else {
        take_back(&s);
    }
    release(&s, places);
    return result;
}

/* The piece of most mass, of equal ones the first. */
static uint32_t heaviest_of(const sums *of, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t n = 1; n < count; n++) {
        best = of[n].mass > of[best].mass ? n : best;
    }
    return best;
}

static const char *body_fault(const lmi_body *body)
{
    return body->examples               ? "a body with examples cannot be split"
           : body->skeleton != LMI_NONE ? "a body on a skeleton cannot be split"
                                        : NULL;
}

/* Groups without a gap from 0 on, and the highest. */
static const char *groups_fault(const uint32_t *groups, const uint32_t *together, uint32_t pieces, uint32_t *seen,
                                uint32_t *last)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < pieces; n++) {
        if (groups[n] >= pieces) {
            return "a number of `groups` is beyond the number of pieces";
        }
        if (groups[n] != groups[together[n]]) {
            return "pieces that go together (lm_piece_info) have different numbers";
        }
        found += !seen[groups[n]];
        seen[groups[n]] = 1;
        *last = groups[n] > *last ? groups[n] : *last;
    }
    return !seen[0] ? "no piece stays" : found != *last + 1 ? "the numbers of `groups` have a gap" : NULL;
}

lm_result lm_body_split(lm_world *world, lm_body_id id, const uint32_t *groups, lm_body_id *made, uint32_t capacity,
                        uint32_t *count)
{
    *count = 0;
    const lmi_body *known = lmi_body_read(world, id, "lm_body_split");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_memory *memory = &world->memory;
    const uint32_t pieces = count_pieces(known);
    uint32_t *of = lmi_allocate(memory, pieces, sizeof *of), *seen = lmi_allocate(memory, pieces, sizeof *seen);
    uint32_t *together = lmi_allocate(memory, pieces, sizeof *together);
    sums *all = lmi_allocate(memory, pieces, sizeof *all);
    lm_result result = of && seen && together && all ? LM_OK : LM_ERROR_MEMORY;
    const char *fault = body_fault(known);
    uint32_t last = 0;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (result == LM_OK) {
        find_together(known, together);
    }
    if (result == LM_OK && !fault && groups) {
        fault = groups_fault(groups, together, pieces, seen, &last);
        memcpy(of, groups, pieces * sizeof *of);
    } else if (result == LM_OK && !fault) {
        sum_pieces(known, all);
        sum_together(together, pieces, all);
        for (uint32_t n = 0, stays = heaviest_of(all, pieces); n < pieces; n++) {
            of[n] = together[n] == stays ? 0 : together[n] < n ? of[together[n]] : ++last;
        }
    }
    result = result == LM_OK && fault ? LM_ERROR_ARGUMENT : result;
    if (result == LM_OK && last > capacity) {
        result = LM_ERROR_CAPACITY;
        fault = "there is no room for the ids";
        *count = last;
    }
    if (result == LM_OK && last > 0) {
        lmi_world_change(world, LMI_CHANGE_WORLD);
        lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
        result = split(world, body, of, last + 1, id, made, &fault);
    }
    lmi_float_mode_leave(&host);
    lmi_release(memory, of, pieces, sizeof *of);
    lmi_release(memory, seen, pieces, sizeof *seen);
    lmi_release(memory, together, pieces, sizeof *together);
    lmi_release(memory, all, pieces, sizeof *all);
    if (result != LM_OK) {
        return lmi_fail(world, result, "lm_body_split: %s; nothing has changed",
                        fault ? fault : lm_result_text(result));
    }
    *count = last;
    return LM_OK;
}

uint32_t lm_world_get_splits(const lm_world *world, lm_split *splits, uint32_t capacity)
{
    const uint32_t count = world->split_count < capacity ? world->split_count : capacity;
    if (count) {
        memcpy(splits, world->splits, count * sizeof *splits);
    }
    return world->split_count;
}

/* --- pieces that are dropped --- */

lm_piece_limits lm_piece_limits_default(void)
{
    lm_piece_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.cookie = LIMITS_COOKIE;
    return limits;
}

static const char *limits_fault(const lm_piece_limits *limits)
{
    if (limits->cookie != LIMITS_COOKIE) {
        return "the limits did not come from lm_piece_limits_default";
    }
    bool sound = limits->least_mass >= 0.0f && limits->least_mass <= 1e30f && limits->least_volume >= 0.0f &&
                 limits->least_volume <= 1e30f;
    return sound ? NULL : "least_mass and least_volume must be 0 to 1e30";
}

/* 1 for what goes, with what it goes together with. Returns how many. */
static uint32_t choose(const lmi_body *body, const sums *of, const uint32_t *together, uint32_t count,
                       const lm_piece_limits *limits, uint32_t *goes)
{
    const uint32_t stays = heaviest_of(of, count);
    const double volume = body->volume / body->total_mass;
    uint32_t gone = 0, left = 0;
    for (uint32_t n = 0; n < count; n++) {
        goes[n] = together[n] == n && n != stays &&
                  (of[n].mass < limits->least_mass || of[n].mass * volume < limits->least_volume);
        left += together[n] == n && !goes[n];
    }
    for (; limits->most && left > limits->most; left--) { /* the lightest, of equal ones the last */
        uint32_t least = LMI_NONE;
        for (uint32_t n = 0; n < count; n++) {
            const bool may = together[n] == n && !goes[n] && n != stays;
            least = may && (least == LMI_NONE || of[n].mass <= of[least].mass) ? n : least;
        }
        goes[least] = 1;
    }
    for (uint32_t n = 0; n < count; n++) {
        goes[n] = goes[together[n]];
        gone += goes[n];
    }
    return gone;
}

static void account(const lmi_body *body, const sums *of, const uint32_t *goes, uint32_t count, lm_dropped *dropped)
{
    for (uint32_t n = 0; n < count; n++) {
        dropped->pieces += goes[n];
        if (goes[n] && of[n].particles) { /* at the lowest of those that go together */
            dropped->particles += of[n].particles;
            dropped->mass += of[n].mass;
            dropped->volume += body->volume * of[n].mass / body->total_mass;
            dropped->momentum = dvec_add(dropped->momentum, of[n].momentum);
            dropped->angular_momentum =
                dvec_add(dropped->angular_momentum, dvec_add(of[n].angular, dvec_cross(body->origin, of[n].momentum)));
        }
    }
}

lm_result lm_body_drop_pieces(lm_world *world, lm_body_id id, const lm_piece_limits *limits, lm_dropped *dropped)
{
    lm_dropped sum = {0}, none;
    const lmi_body *body = lmi_body_read(world, id, "lm_body_drop_pieces");
    dropped = dropped ? dropped : &none;
    *dropped = sum;
    if (!body) {
        return LM_ERROR_ID;
    }
    const char *fault = limits_fault(limits);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_drop_pieces: %s", fault);
    }
    lmi_memory *memory = &world->memory;
    const uint32_t count = count_pieces(body);
    uint32_t *goes = lmi_allocate(memory, count, sizeof *goes), gone = 0;
    uint32_t *together = lmi_allocate(memory, count, sizeof *together);
    sums *of = lmi_allocate(memory, count, sizeof *of);
    lm_body_id dust;
    lm_result result = LM_ERROR_MEMORY;
    if (goes && together && of) {
        lmi_float_mode host;
        lmi_float_mode_enter(&host);
        sum_pieces(body, of);
        find_together(body, together);
        sum_together(together, count, of);
        gone = choose(body, of, together, count, limits, goes);
        account(body, of, goes, count, &sum);
        lmi_float_mode_leave(&host);
        result = gone ? lm_body_split(world, id, goes, &dust, 1, &gone) : LM_OK;
    } else {
        lmi_fail(world, result, "lm_body_drop_pieces: out of memory; nothing has changed");
    }
    lmi_release(memory, goes, count, sizeof *goes);
    lmi_release(memory, together, count, sizeof *together);
    lmi_release(memory, of, count, sizeof *of);
    if (result == LM_OK && gone) {
        lm_body_destroy(world, dust);
        world->splits[world->split_count - 1].made = (lm_body_id){0, 0};
    }
    if (result == LM_OK) {
        *dropped = sum;
    }
    return result;
}
