#include "contact/sleep.h"
#include "collide/mesh_motion.h"
#include "collide/place.h"
#include "collide/rigid.h"
#include "contact/touching.h"
#include "joint/joint.h"
#include "lattice/lattice_body.h"
#include "match/examples.h"
#include "skeleton/skeleton.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <string.h>

/* --- waking --- */

static void wake(lmi_body *body)
{
    body->asleep = false;
    body->still = 0.0f;
}

static void wake_mover(lmi_mover *mover)
{
    mover->asleep = false;
    mover->still = 0.0f;
}

static lmi_mover *mover_at(const lm_world *world, uint32_t slot)
{
    return LMI_POOL_AT(&world->movers, lmi_mover, slot);
}

static void wake_island(lm_world *world, uint32_t island)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *other = lmi_body_in_step(world, n);
        if (other->asleep && other->island == island) {
            wake(other);
        }
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        if (mover_at(world, n)->asleep && mover_at(world, n)->island == island) {
            wake_mover(mover_at(world, n));
        }
    }
}

void lmi_body_rouse(lm_world *world, const lmi_body *body)
{
    if (body->asleep) {
        wake_island(world, body->island);
    }
    wake(lmi_body_writable(world, body));
}

void lmi_mover_rouse(lm_world *world, uint32_t slot)
{
    if (mover_at(world, slot)->asleep) {
        wake_island(world, mover_at(world, slot)->island);
    }
    wake_mover(mover_at(world, slot));
}

void lmi_rouse_all(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n) { wake(lmi_body_in_step(world, n)); }
    LMI_POOL_EACH(&world->movers, n) { wake_mover(mover_at(world, n)); }
}

/* --- what comes near --- */

/* How far a point of a collider may get in `seconds`; `reach` is how far the point is from the mover's origin. */
static double way_of(const lmi_mover *mover, double reach, double seconds)
{
    if (!mover->has_target) {
        double spin = dvec_length(dvec_from(mover->spin));
        return seconds * (dvec_length(dvec_from(mover->velocity)) + (spin > 0.0 ? spin * reach : 0.0));
    }
    /* Of the turn from here to the target, the sine of half the angle: the vector part of target * conjugate(here). */
    lm_quat q = mover->target.rotation, p = mover->pose.rotation;
    lm_dvec3 a = dvec(q.x, q.y, q.z), b = dvec(p.x, p.y, p.z);
    lm_dvec3 turn = dvec_sub(dvec_sub(dvec_scale(a, p.w), dvec_scale(b, q.w)), dvec_cross(a, b));
    double sine = dvec_length(turn);
    double far = dvec_length(dvec_sub(mover->target.position, mover->pose.position));
    return far + (sine > 1e-6 ? 2.0 * sine * reach : 0.0);
}

static bool moves(const lmi_mover *mover, double seconds) { return way_of(mover, 1.0, seconds) > 0.0; }

/* How far the parts of a collider near a body are from its pivot, at most. */
static double reach_of(const lmi_surface *s, lm_dvec3 lower, lm_dvec3 upper)
{
    bool plane = s->shape == LM_SHAPE_PLANE;
    lm_dvec3 low = dvec_sub(plane ? lower : s->bound_lower, s->pivot);
    lm_dvec3 high = dvec_sub(plane ? upper : s->bound_upper, s->pivot);
    return dvec_length(dvec(lmi_max(fabs(low.x), fabs(high.x)), lmi_max(fabs(low.y), fabs(high.y)),
                            lmi_max(fabs(low.z), fabs(high.z))));
}

/* Whether a collider is in the box around a body, or comes there within `seconds` (0: as it stands). */
static bool is_near(const lmi_body *body, const lmi_surface *s, const lmi_mover *mover, double seconds)
{
    lm_dvec3 lower = dvec_add(body->origin, dvec_from(body->lower));
    lm_dvec3 upper = dvec_add(body->origin, dvec_from(body->upper));
    double margin = body->contact_radius + body->touch.beyond + 0.02 * body->rest_size + 1e-3;
    if (mover) {
        margin += way_of(mover, reach_of(s, lower, upper), seconds);
    }
    if (s->shape == LM_SHAPE_PLANE) {
        lm_dvec3 n = dvec(s->rotation.m[0][1], s->rotation.m[1][1], s->rotation.m[2][1]);
        lm_dvec3 low =
            dvec(n.x > 0.0 ? lower.x : upper.x, n.y > 0.0 ? lower.y : upper.y, n.z > 0.0 ? lower.z : upper.z);
        return dvec_dot(dvec_sub(low, s->position), n) < margin;
    }
    return lower.x - margin <= s->bound_upper.x && upper.x + margin >= s->bound_lower.x &&
           lower.y - margin <= s->bound_upper.y && upper.y + margin >= s->bound_lower.y &&
           lower.z - margin <= s->bound_upper.z && upper.z + margin >= s->bound_lower.z;
}

/* Whether two colliders are in each other's boxes, or within `way`. */
static bool surfaces_near(const lmi_surface *a, const lmi_surface *b, double way)
{
    double margin = 0.01 + way;
    if (a->shape == LM_SHAPE_PLANE || b->shape == LM_SHAPE_PLANE) {
        return true;
    }
    return a->bound_lower.x - margin <= b->bound_upper.x && a->bound_upper.x + margin >= b->bound_lower.x &&
           a->bound_lower.y - margin <= b->bound_upper.y && a->bound_upper.y + margin >= b->bound_lower.y &&
           a->bound_lower.z - margin <= b->bound_upper.z && a->bound_upper.z + margin >= b->bound_lower.z;
}

void lmi_rouse_near(lm_world *world, uint32_t collider)
{
    lmi_surface s = lmi_surface_place(world, collider);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (body->asleep && is_near(body, &s, NULL, 0.0)) {
            lmi_body_rouse(world, body);
        }
    }
    LMI_POOL_EACH(&world->colliders, n)
    {
        uint32_t mover = LMI_POOL_AT(&world->colliders, lmi_collider, n)->mover;
        if (n != collider && mover != LMI_NONE && mover_at(world, mover)->asleep) {
            lmi_surface other = lmi_surface_place(world, n);
            if (surfaces_near(&s, &other, 0.0)) {
                lmi_mover_rouse(world, mover);
            }
        }
    }
}

/* --- islands: a node is the slot of a body, or of a mover with LMI_ISLAND_OF_MOVER --- */

static uint32_t *island_at(lm_world *world, uint32_t node)
{
    return node & LMI_ISLAND_OF_MOVER ? &mover_at(world, node & ~LMI_ISLAND_OF_MOVER)->island
                                      : &lmi_body_in_step(world, node)->island;
}

static uint32_t root_of(lm_world *world, uint32_t node)
{
    while (*island_at(world, node) != node) {
        node = *island_at(world, node);
    }
    return node;
}

static bool sleeps(const lm_world *world, uint32_t node)
{
    return node & LMI_ISLAND_OF_MOVER ? mover_at(world, node & ~LMI_ISLAND_OF_MOVER)->asleep
                                      : lmi_body_at(world, node)->asleep;
}

/* The lowest node of an island is its name. */
static void join_two(lm_world *world, uint32_t one, uint32_t other)
{
    if (!sleeps(world, one) && !sleeps(world, other)) {
        uint32_t a = root_of(world, one), b = root_of(world, other);
        *island_at(world, a > b ? a : b) = a > b ? b : a;
    }
}

/* --- movers that have a mass --- */

/* Whoever may touch a collider of a mover with mass, and sleeps where that one is awake or is awake where that one sleeps: both are
 * awake then. `join` instead: both are of one island. */
static void each_near(lm_world *world, const lmi_surface *s, bool join)
{
    const lmi_mover *mover = mover_at(world, s->mover);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        bool apart = body->asleep != mover->asleep;
        if (body->disabled || (!join && !apart) || !lmi_may_collide(body, s->group, s->mask) ||
            !is_near(body, s, NULL, 0.0)) {
            continue;
        }
        if (join) {
            join_two(world, n, LMI_ISLAND_OF_MOVER | s->mover);
        } else {
            lmi_body_rouse(world, body);
            lmi_mover_rouse(world, s->mover);
        }
    }
    LMI_POOL_EACH(&world->colliders, n)
    {
        uint32_t slot = LMI_POOL_AT(&world->colliders, lmi_collider, n)->mover;
        if (slot == LMI_NONE || slot == s->mover || !(mover_at(world, slot)->mass > 0.0f) ||
            (!join && mover_at(world, slot)->asleep == mover->asleep)) {
            continue;
        }
        lmi_surface other = lmi_surface_place(world, n);
        if (!(other.group & s->mask) || !(s->group & other.mask) || !surfaces_near(&other, s, 0.0)) {
            continue;
        }
        if (join) {
            join_two(world, LMI_ISLAND_OF_MOVER | slot, LMI_ISLAND_OF_MOVER | s->mover);
        } else {
            lmi_mover_rouse(world, slot);
            lmi_mover_rouse(world, s->mover);
        }
    }
}

static void rigids_near(lm_world *world, bool join)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        uint32_t mover = LMI_POOL_AT(&world->colliders, lmi_collider, n)->mover;
        if (mover != LMI_NONE && mover_at(world, mover)->mass > 0.0f) {
            lmi_surface s = lmi_surface_place(world, n);
            each_near(world, &s, join);
        }
    }
}

/* Movers with mass that sleep near a collider that moves as told. */
static void rouse_rigids(lm_world *world, const lmi_surface *s, const lmi_mover *mover, double seconds)
{
    LMI_POOL_EACH(&world->colliders, n)
    {
        uint32_t slot = LMI_POOL_AT(&world->colliders, lmi_collider, n)->mover;
        if (slot != LMI_NONE && mover_at(world, slot)->asleep) {
            lmi_surface other = lmi_surface_place(world, n);
            double way = mover ? way_of(mover, reach_of(s, other.bound_lower, other.bound_upper), seconds) : 0.0;
            if (surfaces_near(s, &other, way)) {
                lmi_mover_rouse(world, slot);
            }
        }
    }
}

/* What is at the end of a joint: a node of islands, or LMI_NONE. */
static uint32_t node_of(const lm_world *world, const lmi_joint_end *end)
{
    bool rigid = end->mover != LMI_NONE && mover_at(world, end->mover)->mass > 0.0f;
    return end->body != LMI_NONE ? end->body : rigid ? LMI_ISLAND_OF_MOVER | end->mover : LMI_NONE;
}

static void rouse_node(lm_world *world, uint32_t node)
{
    if (node & LMI_ISLAND_OF_MOVER) {
        lmi_mover_rouse(world, node & ~LMI_ISLAND_OF_MOVER);
    } else {
        lmi_body_rouse(world, lmi_body_at(world, node));
    }
}

/* Whoever is joined to something that moves as told is awake, and two that are joined sleep together. */
static void rouse_joined(lm_world *world, const lmi_joint *joint, double seconds)
{
    uint32_t node[2] = {node_of(world, &joint->end[0]), node_of(world, &joint->end[1])};
    for (int e = 0; e < 2; e++) {
        uint32_t mover = joint->end[e].mover;
        if (node[e] == LMI_NONE && node[1 - e] != LMI_NONE && mover != LMI_NONE &&
            moves(mover_at(world, mover), seconds)) {
            rouse_node(world, node[1 - e]);
        }
    }
    bool rigid = (node[0] != LMI_NONE && node[1] != LMI_NONE) && ((node[0] | node[1]) & LMI_ISLAND_OF_MOVER);
    if (rigid && sleeps(world, node[0]) != sleeps(world, node[1])) {
        rouse_node(world, node[0]);
        rouse_node(world, node[1]);
    }
}

/* A mover that a body hangs on, by a pin or by bones. */
static void rouse_held(lm_world *world, uint32_t body, uint32_t mover, double seconds)
{
    const bool rigid = mover_at(world, mover)->mass > 0.0f;
    if (rigid ? sleeps(world, body) != mover_at(world, mover)->asleep : moves(mover_at(world, mover), seconds)) {
        lmi_body_rouse(world, lmi_body_at(world, body));
        lmi_mover_rouse(world, mover);
    }
}

static void join_held(lm_world *world, uint32_t body, uint32_t mover, double seconds)
{
    (void)seconds;
    if (mover_at(world, mover)->mass > 0.0f) {
        join_two(world, body, LMI_ISLAND_OF_MOVER | mover);
    }
}

static void each_held(lm_world *world, double seconds, void (*call)(lm_world *, uint32_t, uint32_t, double))
{
    LMI_POOL_EACH(&world->pins, n)
    {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        if (pin->mover != LMI_NONE) {
            call(world, pin->body, pin->mover, seconds);
        }
    }
    LMI_POOL_EACH(&world->skeletons, k)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; n < s->bone_count; n++) {
            if (s->bones[n].mover != LMI_NONE) {
                call(world, s->body, s->bones[n].mover, seconds);
            }
        }
    }
}

/* Whoever is near something that moves is awake, and stays so. */
static void rouse_moved(lm_world *world, double seconds)
{
    rigids_near(world, false);
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        const lmi_mover *mover = c->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        if (mover && mover->mass > 0.0f) {
            continue;
        }
        const lmi_mesh *mesh = c->solid.mesh;
        if (!(mover && moves(mover, seconds)) && !(mesh && mesh->motion && mesh->motion->has_target)) {
            continue;
        }
        lmi_surface s = lmi_surface_place(world, n);
        rouse_rigids(world, &s, mover, seconds);
        LMI_POOL_EACH(&world->bodies, k)
        {
            lmi_body *body = lmi_body_in_step(world, k);
            if (lmi_may_collide(body, s.group, s.mask) && is_near(body, &s, mover, seconds)) {
                lmi_body_rouse(world, body);
            }
        }
    }
    each_held(world, seconds, rouse_held);
    LMI_POOL_EACH(&world->joints, n) { rouse_joined(world, LMI_POOL_AT(&world->joints, lmi_joint, n), seconds); }
}

/* --- in and out of batches --- */

bool lmi_body_bring_home(lm_world *world, lmi_body *body)
{
    if (body->home) {
        return true; /* it was never packed */
    }
    lmi_memory *memory = &world->memory;
    size_t floats = (size_t)body->padded_count * 4, regions = body->region_count;
    float *home = lmi_allocate(memory, 2 * floats, sizeof *home);
    float *rotation = lmi_allocate(memory, regions * 9, sizeof *rotation);
    float *plastic = lmi_allocate(memory, regions * 6, sizeof *plastic);
    if (!home || !rotation || !plastic) {
        lmi_release(memory, home, 2 * floats, sizeof *home);
        lmi_release(memory, rotation, regions * 9, sizeof *rotation);
        lmi_release(memory, plastic, regions * 6, sizeof *plastic);
        return false;
    }
    memcpy(home, body->x, floats * sizeof *home);
    memcpy(home + floats, body->v, floats * sizeof *home);
    for (uint32_t r = 0; r < regions; r++) {
        uint32_t stride;
        const float *from = lmi_body_rotation(world, body, r, &stride);
        for (uint32_t i = 0; i < 9; i++) {
            rotation[(size_t)r * 9 + i] = from[i * stride];
        }
        from = lmi_body_plastic(world, body, r, &stride);
        for (uint32_t i = 0; i < 6; i++) {
            plastic[(size_t)r * 6 + i] = from[i * stride];
        }
    }
    if (body->examples && !body->lattice) { /* the lanes go with the pack; the next one begins with these weights */
        lmi_examples_read(body->examples, body->examples->weights);
        body->examples->lanes = NULL;
    }
    body->home = home;
    body->x = home;
    body->v = home + floats;
    body->rotation = rotation;
    body->plastic = plastic;
    return true;
}

bool lmi_sleep_watches(const lm_world *world)
{
    bool watches = false;
    LMI_POOL_EACH(&world->movers, n) { watches = watches || moves(LMI_POOL_AT(&world->movers, lmi_mover, n), 1.0); }
    return watches && world->sleep.enabled;
}

void lmi_sleep_undo(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->asleep = world->sleep.enabled ? body->was_asleep : body->asleep;
        body->still = world->sleep.enabled ? body->was_still : body->still;
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = mover_at(world, n);
        mover->asleep = world->sleep.enabled ? mover->was_asleep : mover->asleep;
        mover->still = world->sleep.enabled ? mover->was_still : mover->still;
    }
}

bool lmi_sleep_prepare(lm_world *world, double seconds)
{
    if (world->sleep.enabled) {
        LMI_POOL_EACH(&world->bodies, n)
        {
            lmi_body *body = lmi_body_in_step(world, n);
            body->was_asleep = body->asleep;
            body->was_still = body->still;
        }
        LMI_POOL_EACH(&world->movers, n)
        {
            mover_at(world, n)->was_asleep = mover_at(world, n)->asleep;
            mover_at(world, n)->was_still = mover_at(world, n)->still;
        }
        rouse_moved(world, seconds);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (lmi_body_is_out(body) && body->batch != LMI_NONE) {
            lmi_batch_change(world, body->batch); /* who stays behind is packed again */
            if (!lmi_body_bring_home(world, body)) {
                return false;
            }
            lmi_body_leave_batch(world, n);
        } else if (!lmi_body_is_out(body) && body->batch == LMI_NONE && lmi_body_join_batch(world, n) != LM_OK) {
            return false;
        }
    }
    return true;
}

/* --- falling asleep --- */

/* The largest of the squared speeds of a body's particles. */
static float fastest(const lmi_body *body)
{
    float most = 0.0f;
    for (uint32_t n = 0; n < body->place_count; n++) {
        const float *v = body->v + (size_t)n * 4;
        float speed = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
        most = speed > most ? speed : most;
    }
    return most;
}

typedef struct watch {
    lm_world *world;
    float seconds;
} watch;

static void watch_batch(void *context, uint32_t index)
{
    const watch *w = context;
    const lmi_batch *batch = &w->world->batches[index];
    float limit = w->world->sleep.speed * w->world->sleep.speed;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(w->world, batch->bodies[n]);
        bool slow = body->first_drag == LMI_NONE && fastest(body) <= limit;
        body->still = slow ? lmi_minf(body->still + w->seconds, 1e6f) : 0.0f;
    }
}

static void watch_rigid(const lm_world *world, lmi_mover *mover, float seconds)
{
    if (lmi_rigid_yields(mover)) {
        double speed = dvec_length(dvec_from(mover->velocity)) + mover->size * dvec_length(dvec_from(mover->spin));
        mover->still = speed <= (double)world->sleep.speed ? lmi_minf(mover->still + seconds, 1e6f) : 0.0f;
    }
}

/* Joins awake bodies and movers that touch, or that a joint connects. */
static void join_islands(lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->island = body->asleep ? body->island : n;
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = mover_at(world, n);
        mover->island = mover->asleep ? mover->island : LMI_ISLAND_OF_MOVER | n;
    }
    const lmi_touching_list *now = &world->touchings->now;
    for (uint32_t n = 0; n < now->count; n++) {
        const lmi_touching *t = &now->records[now->order[n]];
        if (t->kind == LMI_TOUCHES_BODY) {
            join_two(world, t->a, t->b);
        }
    }
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        uint32_t a = node_of(world, &j->end[0]), b = node_of(world, &j->end[1]);
        if (lmi_joint_acts(j) && a != LMI_NONE && b != LMI_NONE) {
            join_two(world, a, b);
        }
    }
    each_held(world, 0.0, join_held);
    rigids_near(world, true);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->island = body->asleep ? body->island : root_of(world, n);
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = mover_at(world, n);
        mover->island = mover->asleep ? mover->island : root_of(world, LMI_ISLAND_OF_MOVER | n);
    }
}

static bool rests(const lm_world *world, const lmi_body *body)
{
    return body->may_sleep && !body->disabled && body->first_drag == LMI_NONE && body->still >= world->sleep.seconds;
}

/* Exactly still; the momentum that it loses goes where that of friction goes. */
static void fall_asleep(lmi_body *body)
{
    lm_vec3 none = {0.0f, 0.0f, 0.0f};
    LMI_PARTICLES_EACH(body, n)
    {
        float *v = body->v + (size_t)n * 4;
        lm_dvec3 lost = dvec_scale(dvec(v[0], v[1], v[2]), body->mass[n]);
        body->outside_impulse = dvec_sub(body->outside_impulse, lost);
        v[0] = v[1] = v[2] = 0.0f;
    }
    body->motion.velocity = body->motion.spin = none;
    for (uint32_t n = 0; body->lattice && n < body->lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &body->lattice->part[n];
        part->motion.velocity = part->motion.spin = none;
        part->drift_centre = part->drift_velocity = part->drift_spin = none;
        part->owed_momentum = part->owed_angular = lm_dvec3_zero();
    }
    body->asleep = true;
}

static bool *roused_at(lm_world *world, uint32_t node)
{
    return node & LMI_ISLAND_OF_MOVER ? &mover_at(world, node & ~LMI_ISLAND_OF_MOVER)->roused
                                      : &lmi_body_in_step(world, node)->roused;
}

static bool rigid_rests(const lm_world *world, const lmi_mover *mover)
{
    return mover->may_sleep && mover->still >= world->sleep.seconds;
}

/* One that may not sleep, or not yet, keeps the whole island awake: its first node is told. */
static void judge_islands(lm_world *world)
{
    join_islands(world);
    LMI_POOL_EACH(&world->movers, n) { mover_at(world, n)->roused = false; }
    LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->roused = false; }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (!body->asleep && !rests(world, body)) {
            *roused_at(world, body->island) = true;
        }
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        const lmi_mover *mover = mover_at(world, n);
        if (lmi_rigid_yields(mover) && !rigid_rests(world, mover)) {
            *roused_at(world, mover->island) = true;
        }
    }
}

/* After they have been judged. */
static bool falls_asleep(lm_world *world, const lmi_body *body)
{
    return !body->asleep && !*roused_at(world, body->island);
}

bool lmi_sleep_is_due(lm_world *world)
{
    bool any = false, due = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        any = any || (!body->asleep && rests(world, body));
    }
    if (!any) {
        return false;
    }
    judge_islands(world);
    LMI_POOL_EACH(&world->bodies, n) { due = due || falls_asleep(world, lmi_body_at(world, n)); }
    LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->roused = false; }
    return due;
}

void lmi_sleep_fall(lm_world *world)
{
    judge_islands(world);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (falls_asleep(world, body)) {
            lmi_batch_change(world, body->batch); /* it leaves it before the next step */
            fall_asleep(body);
        }
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *mover = mover_at(world, n);
        if (lmi_rigid_yields(mover) && !*roused_at(world, mover->island)) {
            mover->velocity = mover->spin = (lm_vec3){0.0f, 0.0f, 0.0f};
            mover->asleep = true;
        }
    }
    LMI_POOL_EACH(&world->bodies, n) { lmi_body_in_step(world, n)->roused = false; }
}

void lmi_sleep_end(lm_world *world, double seconds)
{
    if (!world->sleep.enabled) {
        return;
    }
    watch w = {world, (float)seconds};
    lmi_workers_run(world->workers, watch_batch, &w, world->batch_count);
    LMI_POOL_EACH(&world->movers, n) { watch_rigid(world, mover_at(world, n), (float)seconds); }
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (body->roused) {
            body->roused = false;
            lmi_body_rouse(world, body);
        }
    }
    lmi_sleep_fall(world);
}

/* --- what a host says --- */

lm_sleep lm_sleep_default(void)
{
    lm_sleep sleep = {.enabled = false, .speed = 0.05f, .seconds = 0.5f};
    return sleep;
}

const char *lmi_sleep_fault(const lm_sleep *sleep)
{
    if (!(sleep->speed > 0.0f && sleep->speed <= LM_MAX_SPEED)) {
        return "speed must be above 0 and at most 1e6 m/s";
    }
    return sleep->seconds >= 0.0f && sleep->seconds <= 1e6f ? NULL : "seconds must be 0 to 1e6";
}

lm_result lm_world_set_sleep(lm_world *world, const lm_sleep *sleep)
{
    const char *fault = lmi_sleep_fault(sleep);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_sleep: %s", fault);
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    if (!sleep->enabled) {
        lmi_rouse_all(world);
        if (!world->contact_events) {
            lmi_touchings_forget(world);
        }
    }
    world->sleep = *sleep;
    return LM_OK;
}

lm_sleep lm_world_get_sleep(const lm_world *world) { return world->sleep; }

lm_result lm_body_set_may_sleep(lm_world *world, lm_body_id id, bool may_sleep)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_may_sleep");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    body->may_sleep = may_sleep;
    if (!may_sleep) {
        lmi_body_rouse(world, body);
    }
    return LM_OK;
}

bool lm_body_is_awake(const lm_world *world, lm_body_id id)
{
    lmi_id plain = {id.slot, id.generation};
    uint32_t slot;
    return lmi_pool_find(&world->bodies, plain, &slot) && !lmi_body_is_out(lmi_body_at(world, slot));
}

bool lm_body_may_sleep(const lm_world *world, lm_body_id id)
{
    lmi_id plain = {id.slot, id.generation};
    uint32_t slot;
    return lmi_pool_find(&world->bodies, plain, &slot) && lmi_body_at(world, slot)->may_sleep;
}

lm_result lm_body_wake(lm_world *world, lm_body_id id)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_wake");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_body_rouse(world, body);
    return LM_OK;
}
