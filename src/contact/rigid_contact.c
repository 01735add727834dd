#include "contact/rigid_contact.h"
#include "collide/rigid.h"
#include "collide/shapes_meet.h"
#include "collide/wrench.h"
#include "contact/soft.h"
#include "joint/joint.h"

#include <string.h>

/* Keys for each collider of a mover that is pushed; contacts beyond that remember nothing. */
#define KEYS_EACH 64u

/* A mover that lies on something counts as this share of what bears on it, at least. */
#define LEAST_SHARE 0.5

/* --- memory --- */

bool lmi_rigids_reserve(lm_world *world, lmi_rigids *r)
{
    uint32_t movers = lmi_rigids_count(world), colliders = 0;
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        colliders += c->mover != LMI_NONE && LMI_POOL_AT(&world->movers, lmi_mover, c->mover)->mass > 0.0f;
    }
    void *pushes = r->pushes, *warm = r->warm, *counts = r->warm_count, *keys = r->keys;
    lmi_memory *memory = &world->memory;
    bool ok = lmi_reserve(memory, &pushes, &r->capacity, movers, sizeof *r->pushes) &&
              lmi_reserve(memory, &warm, &r->warm_capacity, movers * LMI_RIGID_WARM, sizeof *r->warm) &&
              lmi_reserve(memory, &counts, &r->warm_count_capacity, movers, sizeof *r->warm_count) &&
              lmi_reserve(memory, &keys, &r->key_capacity, movers ? colliders * KEYS_EACH : 0, sizeof *r->keys);
    r->pushes = pushes;
    r->warm = warm;
    r->warm_count = counts;
    r->keys = keys;
    return ok;
}

void lmi_rigids_free(lmi_memory *memory, lmi_rigids *r)
{
    lmi_release(memory, r->pushes, r->capacity, sizeof *r->pushes);
    lmi_release(memory, r->warm, r->warm_capacity, sizeof *r->warm);
    lmi_release(memory, r->warm_count, r->warm_count_capacity, sizeof *r->warm_count);
    lmi_release(memory, r->keys, r->key_capacity, sizeof *r->keys);
    *r = (lmi_rigids){0};
}

/* --- pushes --- */

static void begin_push(lmi_push *push, lmi_mover *mover, lm_world *world, uint32_t slot)
{
    const lmi_rigid_whole all = lmi_rigid_with_carried(mover, &mover->rotation);
    const lm_dvec3 spin = dvec_from(mover->spin), swing = dvec_cross(spin, all.offset);
    *push = (lmi_push){.mover = mover,
                       .rigids = lmi_mutual_rigids(world),
                       .slot = slot,
                       .at = dvec_add(mover->pose.position, all.offset),
                       .offset = all.offset,
                       .unit = 1.0,
                       .rigid = 1.0f,
                       .inverse_mass = (float)(1.0 / all.mass),
                       .mean = quad_from(dvec_add(dvec_from(mover->velocity), swing)),
                       .came = quad_from(spin)};
    push->inertia = all.inertia[0] + all.inertia[1] + all.inertia[2];
    for (int j = 0; j < 3; j++) {
        push->turning[j] = quad_from(lmi_dmat_solve_spin(all.inertia, dvec(j == 0, j == 1, j == 2)));
    }
}

void lmi_rigids_begin(const lmi_step *step, lmi_rigids *r, uint32_t owners, uint32_t nodes)
{
    lm_world *world = step->world;
    r->count = r->key_count = 0;
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, n);
        if (!lmi_rigid_yields(mover) || r->count == r->capacity) {
            continue;
        }
        lmi_push *push = &r->pushes[r->count];
        begin_push(push, mover, world, n);
        push->owner = owners + r->count;
        push->node = nodes + r->count;
        r->warm_count[r->count++] = 0;
    }
    for (uint32_t s = 0; s < step->surface_count; s++) {
        lmi_surface *surface = &world->surfaces[s];
        for (uint32_t n = 0; n < r->count && surface->mover != LMI_NONE; n++) {
            surface->push = r->pushes[n].slot == surface->mover ? &r->pushes[n] : surface->push;
        }
    }
}

/* --- contacts of colliders --- */

/* What the contact of this name was given in the last substep, or null. */
static const lmi_rigid_warm *remembered(const lmi_mover *mover, const lmi_rigid_key *key)
{
    for (uint32_t n = 0; n < mover->warm_count; n++) {
        const lmi_rigid_warm *w = &mover->warm[n];
        if (w->own == key->own && w->other == key->other && w->feature == key->feature) {
            return w;
        }
    }
    return NULL;
}

/* The velocity of a surface at a place. */
static quad velocity_at(const lmi_surface *s, lm_dvec3 place)
{
    lm_dvec3 u = dvec_add(s->velocity, dvec_cross(s->spin, dvec_sub(place, s->pivot)));
    if (lmi_solid_moves(&s->solid)) {
        lm_dvec3 local = dmat_apply_transposed(&s->rotation, dvec_sub(place, s->position));
        u = dvec_add(u, dmat_apply(&s->rotation, lmi_solid_drift(&s->solid, local)));
    }
    return quad_from(u);
}

static void rule_of(const lm_world *world, const lmi_surface *a, const lmi_surface *b, double *friction,
                    double *restitution)
{
    *friction = sqrtf(a->friction * b->friction);
    *restitution = lmi_maxf(a->restitution, b->restitution);
    lmi_contact_rule_apply(world, a->group, b->group, friction, restitution);
}

static void add_spot(const lmi_step *step, lmi_rigids *r, lmi_solver *s, const lmi_surface *a, const lmi_surface *b,
                     const lmi_spot *spot)
{
    const lmi_rigid_key key = {a->slot, b->slot, spot->feature};
    const lmi_rigid_warm *warm = remembered(a->push->mover, &key);
    double friction, restitution;
    rule_of(step->world, a, b, &friction, &restitution);
    lmi_stiff_def def = {.a = a->push,
                         .b = b->push,
                         .wall = b,
                         .place = spot->place,
                         .normal = spot->normal,
                         .velocity_a = velocity_at(a, spot->place),
                         .velocity_b = velocity_at(b, spot->place),
                         .depth = spot->depth,
                         .friction = friction,
                         .restitution = restitution,
                         .point = LMI_NONE};
    if (r->key_count < r->key_capacity) {
        def.point = r->key_count;
        r->keys[r->key_count++] = key;
    }
    if (warm) {
        def.pressed = warm->pressed;
        def.braked = quad_of(warm->braked[0], warm->braked[1], warm->braked[2]);
    }
    lmi_solver_add_stiff(s, &def);
}

/* Whether groups and masks let two colliders touch, of which one is pushed; each pair once. */
static bool may_meet(const lmi_surface *a, const lmi_surface *b)
{
    bool once = !b->push || !lmi_shape_is_plain(b->shape) || a->slot < b->slot;
    return a != b && a->mover != b->mover && once && (a->group & b->mask) && (b->group & a->mask);
}

/* Movers that a joint holds together do not touch: their shapes often meet where the joint is. */
static bool are_joined(const lm_world *world, uint32_t one, uint32_t other)
{
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
        uint32_t a = joint->end[0].mover, b = joint->end[1].mover;
        if (lmi_joint_acts(joint) && ((a == one && b == other) || (a == other && b == one))) {
            return true;
        }
    }
    return false;
}

static bool boxes_overlap(const lmi_surface *a, const lmi_surface *b, double reach)
{
    return b->shape == LM_SHAPE_PLANE ||
           (a->bound_lower.x - reach <= b->bound_upper.x && a->bound_upper.x + reach >= b->bound_lower.x &&
            a->bound_lower.y - reach <= b->bound_upper.y && a->bound_upper.y + reach >= b->bound_lower.y &&
            a->bound_lower.z - reach <= b->bound_upper.z && a->bound_upper.z + reach >= b->bound_lower.z);
}

static double mass_of(const lmi_push *push) { return (double)push->mover->mass + push->mover->carried.mass; }

/* What bears on movers that lie on something that does not yield, kg; by their pushes. */
static void add_load(const lmi_stiff *c)
{
    lmi_push *const sides[2] = {c->a, c->b};
    for (int e = 0; e < 2 && !c->idle; e++) {
        lmi_push *push = sides[e], *other = sides[1 - e];
        if (push && push->mover) {
            push->lies = push->lies || !other;
            push->load += !other         ? 0.0
                          : other->mover ? mass_of(other)
                                         : lmi_min(other->unit / c->plain, other->body->total_mass);
        }
    }
}

/* Contacts are solved one after the other: what is between the ground and something a thousand times as heavy would find its load after
 * thousands of sweeps, and be pushed into the ground until then. In this substep it counts as half of what bears on it. Momentum
 * that this adds or takes is the ground's; movers that lie on nothing keep their mass. */
static void steady(lmi_solver *s, lmi_rigids *r)
{
    bool any = false;
    for (uint32_t n = 0; n < s->stiff_count; n++) {
        add_load(&s->stiff[n]);
    }
    for (uint32_t n = 0; n < r->count; n++) {
        lmi_push *push = &r->pushes[n];
        double share = mass_of(push) / (LEAST_SHARE * push->load);
        if (push->lies && share < 1.0) {
            any = true;
            push->inverse_mass *= (float)share;
            for (int j = 0; j < 3; j++) {
                push->turning[j] = quad_scale(push->turning[j], (float)share);
            }
        }
        push->load = 0.0;
    }
    for (uint32_t n = 0; n < s->stiff_count && any; n++) {
        lmi_stiff_weigh(&s->stiff[n]);
    }
}

void lmi_rigids_meet(const lmi_step *step, lmi_rigids *r, lmi_solver *solver)
{
    double slop = 2.0 * step->h * step->h * dvec_length(step->gravity);
    for (uint32_t i = 0; i < step->surface_count && r->count; i++) {
        const lmi_surface *a = &step->surfaces[i];
        if (!a->push || !lmi_shape_is_plain(a->shape)) {
            continue;
        }
        double reach = lmi_min(slop, 0.01 * a->push->mover->size);
        for (uint32_t k = 0; k < step->surface_count; k++) {
            const lmi_surface *b = &step->surfaces[k];
            lmi_spot spots[LMI_MOST_SPOTS];
            if (!may_meet(a, b) || !boxes_overlap(a, b, reach) ||
                (b->mover != LMI_NONE && are_joined(step->world, a->mover, b->mover))) {
                continue;
            }
            uint32_t count = lmi_shapes_meet(a, b, reach, step->h, spots);
            lmi_solver_make_room(solver, count);
            for (uint32_t n = 0; n < count; n++) {
                add_spot(step, r, solver, a, b, &spots[n]);
            }
        }
    }
    steady(solver, r);
}

/* --- what came of it --- */

void lmi_rigids_tell(lmi_solver *s, const lmi_run *run)
{
    lmi_push *a = run->a;
    lmi_rigids *r = a->rigids;
    lmi_rigid_warm *warm = r->warm + (size_t)(a - r->pushes) * LMI_RIGID_WARM;
    uint32_t *count = &r->warm_count[a - r->pushes];
    lm_dvec3 impulse = lm_dvec3_zero(), moment = lm_dvec3_zero();
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        const lmi_stiff *k = &s->stiff[c];
        if (k->idle || !(k->pressed > 0.0f)) {
            continue;
        }
        lm_dvec3 given = quad_to(quad_add(quad_scale(k->normal, k->pressed), k->braked));
        impulse = dvec_add(impulse, given);
        moment = dvec_add(moment, dvec_cross(quad_to(k->arm_a), given));
        if (k->point != LMI_NONE && k->approach < (float)LMI_BOUNCE_SPEED && *count < LMI_RIGID_WARM) {
            const lmi_rigid_key *key = &r->keys[k->point];
            warm[(*count)++] = (lmi_rigid_warm){key->own,
                                                key->other,
                                                key->feature,
                                                k->pressed,
                                                {quad_at(k->braked, 0), quad_at(k->braked, 1), quad_at(k->braked, 2)}};
        }
    }
    lmi_wrench_of_surface(s->world, run->wall, a->at, impulse, moment);
    lmi_wrench_of_mover(s->world, a->slot, a->at, dvec_scale(impulse, -1.0), dvec_scale(moment, -1.0));
}

/* Spin that shifts have given it is taken back, as lmi_push_untwist does for bodies. */
static lm_dvec3 untwisted(const lmi_push *push)
{
    lm_dvec3 spin = dvec_scale(quad_to(lmi_push_turning(push, quad_from(push->twist))), -1.0);
    double turned = push->mover->size * dvec_length(spin), most = LMI_MOST_UNTWIST * push->fastest;
    return push->twisted ? dvec_scale(spin, turned > most ? most / turned : 1.0) : lm_dvec3_zero();
}

void lmi_rigids_end(lmi_rigids *r)
{
    for (uint32_t n = 0; n < r->count; n++) {
        lmi_push *push = &r->pushes[n];
        lmi_mover *mover = push->mover;
        lm_dvec3 spin = dvec_add(quad_to(push->spin), untwisted(push)), turn = quad_to(push->turn);
        lmi_rigid_push(mover, dvec_sub(quad_to(push->velocity), dvec_cross(spin, push->offset)), spin);
        lmi_rigid_move(mover, dvec_sub(quad_to(push->move), dvec_cross(turn, push->offset)), turn);
        mover->warm_count = r->warm_count[n];
        memcpy(mover->warm, r->warm + (size_t)n * LMI_RIGID_WARM, mover->warm_count * sizeof *mover->warm);
    }
}
