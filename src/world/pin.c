/*
 * Pins and drags: what holds particles, and what pulls them. How they act in a step is in world/motion.c.
 */
#include "base/guard.h"
#include "world/access.h"
#include "world/body.h"
#include "world/motion.h"
#include "world/world.h"

#include <float.h>
#include <string.h>

#define PIN_COOKIE 0x4c4d5031u
#define DRAG_COOKIE 0x4c4d4431u

/* --- pins --- */

lm_pin_def lm_pin_def_default(void)
{
    lm_pin_def def;
    memset(&def, 0, sizeof def);
    def.cookie = PIN_COOKIE;
    return def;
}

void lmi_pins_mark(const lm_world *world, const lmi_body *body, bool all, bool *held)
{
    for (uint32_t n = body->first_pin; n != LMI_NONE;) {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        for (uint32_t k = 0; (all || !pin->yields) && k < pin->count; k++) {
            held[pin->particles[k]] = true;
        }
        n = pin->next;
    }
}

void lmi_body_anchor(const lm_world *world, lmi_body *body)
{
    body->anchored = false;
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        body->anchored = body->anchored || !LMI_POOL_AT(&world->pins, lmi_pin, n)->yields;
    }
}

static const char *pin_fault(const lm_world *world, const lm_pin_def *def, const lmi_body *body, bool *held)
{
    if (!def->particles || def->particle_count == 0) {
        return "a pin needs at least one particle";
    }
    lmi_pins_mark(world, body, true, held);
    for (uint32_t n = 0; n < def->particle_count; n++) {
        if (def->particles[n] >= body->particle_count) {
            return "a particle index is beyond the last particle";
        }
        uint32_t place = body->place[def->particles[n]];
        if (held[place]) {
            return "a particle is held already";
        }
        held[place] = true; /* twice in this pin */
        if (def->targets && !dvec_is_finite(def->targets[n])) {
            return "a target is not finite";
        }
    }
    return NULL;
}

static void fill_pin(lm_world *world, lmi_pin *pin, const lm_pin_def *def, const lmi_body *body)
{
    const lmi_mover *mover = pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, pin->mover);
    for (uint32_t n = 0; n < pin->count; n++) {
        uint32_t place = body->place[def->particles[n]];
        const float *x = body->x + (size_t)place * 4;
        lm_dvec3 target = def->targets ? def->targets[n] : dvec_add(body->origin, dvec(x[0], x[1], x[2]));
        if (mover) {
            target = dmat_apply_transposed(&mover->rotation, dvec_sub(target, mover->pose.position));
        }
        pin->particles[n] = place;
        pin->targets[n] = target;
    }
}

void lmi_pin_free(lm_world *world, lmi_pin *pin)
{
    lmi_release(&world->memory, pin->particles, pin->count, sizeof *pin->particles);
    lmi_release(&world->memory, pin->targets, pin->count, sizeof *pin->targets);
    pin->particles = NULL;
    pin->targets = NULL;
}

static lm_result make_pin(lm_world *world, const lm_pin_def *def, lmi_body *body, uint32_t mover, bool *held,
                          uint32_t *index)
{
    const char *fault = pin_fault(world, def, body, held);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_pin_create: %s", fault);
    }
    if (!lmi_pool_add(&world->pins, &world->memory, index)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_pin_create: out of memory");
    }
    lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, *index);
    pin->body = def->body.slot - 1;
    pin->mover = mover;
    pin->yields = lmi_pin_is_pushed(world, pin);
    pin->count = def->particle_count;
    pin->particles = lmi_allocate(&world->memory, pin->count, sizeof *pin->particles);
    pin->targets = lmi_allocate(&world->memory, pin->count, sizeof *pin->targets);
    bool ok = pin->particles && pin->targets;
    if (ok && !pin->yields) {
        memset(held, 0, body->place_count * sizeof *held);
        lmi_pins_mark(world, body, false, held);
        for (uint32_t n = 0; n < pin->count; n++) {
            held[body->place[def->particles[n]]] = true;
        }
        ok = lmi_body_update_weights(world, body, held);
    }
    if (!ok) {
        lmi_pin_free(world, pin);
        lmi_pool_revoke(&world->pins, *index);
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_pin_create: out of memory");
    }
    fill_pin(world, pin, def, body);
    pin->next = body->first_pin;
    body->first_pin = *index;
    lmi_body_anchor(world, body);
    lmi_body_rouse(world, body);
    if (pin->yields) {
        lmi_mover_rouse(world, mover);
    }
    return LM_OK;
}

lm_result lm_pin_create(lm_world *world, const lm_pin_def *def, lm_pin_id *out)
{
    lm_pin_id none = {0, 0};
    *out = none;
    if (def->cookie != PIN_COOKIE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_pin_create: the definition did not come from lm_pin_def_default");
    }
    const lmi_body *known = lmi_body_known(world, def->body, "lm_pin_create");
    uint32_t mover = LMI_NONE, index;
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_id mover_id = {def->mover.slot, def->mover.generation};
    if (def->mover.slot && !lmi_pool_find(&world->movers, mover_id, &mover)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_pin_create: there is no such mover");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    bool *held = lmi_allocate(&world->memory, body->place_count, sizeof *held);
    if (!held) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_pin_create: out of memory");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint32_t count = body->place_count;
    lm_result result = make_pin(world, def, body, mover, held, &index);
    lmi_release(&world->memory, held, count, sizeof *held);
    lmi_float_mode_leave(&host);
    if (result == LM_OK) {
        lmi_id id = lmi_pool_id(&world->pins, index);
        out->slot = id.slot;
        out->generation = id.generation;
    }
    return result;
}

/* Takes a pin out of its body's list. */
static uint32_t *pin_link(const lm_world *world, lmi_body *body, uint32_t index)
{
    uint32_t *link = &body->first_pin;
    while (*link != index) {
        link = &LMI_POOL_AT(&world->pins, lmi_pin, *link)->next;
    }
    return link;
}

lm_result lm_pin_destroy(lm_world *world, lm_pin_id out)
{
    lmi_id id = {out.slot, out.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->pins, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_pin_destroy: there is no such pin");
    }
    lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, index);
    lmi_body *body = lmi_body_change(world, lmi_body_at(world, pin->body), LMI_CHANGE_BODY);
    bool *held = lmi_allocate(&world->memory, body->place_count, sizeof *held);
    if (!held) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_pin_destroy: out of memory");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_pins_mark(world, body, false, held);
    for (uint32_t k = 0; k < pin->count; k++) {
        held[pin->particles[k]] = false;
    }
    bool ok = pin->yields || lmi_body_update_weights(world, body, held);
    lmi_release(&world->memory, held, body->place_count, sizeof *held);
    lmi_float_mode_leave(&host);
    if (!ok) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_pin_destroy: out of memory");
    }
    lmi_body_rouse(world, body);
    if (lmi_pin_is_pushed(world, pin)) {
        lmi_mover_rouse(world, pin->mover);
    }
    *pin_link(world, body, index) = pin->next;
    lmi_pin_free(world, pin);
    lmi_pool_remove(&world->pins, index);
    lmi_body_anchor(world, body);
    return LM_OK;
}

bool lmi_pins_of_mover(lm_world *world, uint32_t mover, bool yields)
{
    bool ok = true;
    LMI_POOL_EACH(&world->pins, n)
    {
        lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        if (pin->mover == mover && pin->yields != yields) {
            lmi_body *body = lmi_body_change(world, lmi_body_at(world, pin->body), LMI_CHANGE_BODY);
            pin->yields = yields;
            if (!lmi_body_update_pinned(world, body)) {
                pin->yields = !yields;
                ok = false;
            }
            lmi_body_anchor(world, body);
            lmi_body_rouse(world, body);
        }
    }
    return ok;
}

/* --- pins while they hold --- */

static lmi_pin *find_pin(const lm_world *world, lm_pin_id pin, const char *caller)
{
    lmi_id id = {pin.slot, pin.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->pins, id, &index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such pin", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->pins, lmi_pin, index);
}

lm_result lm_pin_get_info(const lm_world *world, lm_pin_id id, lm_pin_info *info)
{
    const lmi_pin *pin = find_pin(world, id, "lm_pin_get_info");
    if (!pin) {
        return LM_ERROR_ID;
    }
    lmi_id body = lmi_pool_id(&world->bodies, pin->body);
    *info = (lm_pin_info){.body = {body.slot, body.generation}, .particles = pin->count};
    if (pin->mover != LMI_NONE) {
        lmi_id mover = lmi_pool_id(&world->movers, pin->mover);
        info->mover = (lm_mover_id){mover.slot, mover.generation};
    }
    return LM_OK;
}

lm_result lm_pin_get_targets(const lm_world *world, lm_pin_id id, uint32_t *particles, lm_dvec3 *targets)
{
    const lmi_pin *pin = find_pin(world, id, "lm_pin_get_targets");
    if (!pin) {
        return LM_ERROR_ID;
    }
    const lmi_body *body = lmi_body_at(world, pin->body);
    const lmi_mover *mover = pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, pin->mover);
    for (uint32_t n = 0; n < pin->count; n++) {
        if (particles) {
            particles[n] = body->order[pin->particles[n]];
        }
        if (targets) {
            targets[n] =
                mover ? dvec_add(mover->pose.position, dmat_apply(&mover->rotation, pin->targets[n])) : pin->targets[n];
        }
    }
    return LM_OK;
}

lm_result lm_pin_set_targets(lm_world *world, lm_pin_id id, const lm_dvec3 *targets)
{
    lmi_pin *pin = find_pin(world, id, "lm_pin_set_targets");
    if (!pin) {
        return LM_ERROR_ID;
    }
    for (uint32_t n = 0; n < pin->count; n++) {
        if (!dvec_is_finite(targets[n])) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_pin_set_targets: target %u is not finite", n);
        }
    }
    const lmi_body *body = lmi_body_change(world, lmi_body_at(world, pin->body), LMI_CHANGE_BODY);
    const lmi_mover *mover = pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, pin->mover);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = 0; n < pin->count; n++) {
        pin->targets[n] =
            mover ? dmat_apply_transposed(&mover->rotation, dvec_sub(targets[n], mover->pose.position)) : targets[n];
    }
    lmi_body_rouse(world, body);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

void lmi_pins_free(lm_world *world, lmi_body *body)
{
    while (body->first_pin != LMI_NONE) {
        uint32_t index = body->first_pin;
        lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, index);
        body->first_pin = pin->next;
        lmi_pin_free(world, pin);
        lmi_pool_remove(&world->pins, index);
    }
}

/* --- drags --- */

lm_drag_def lm_drag_def_default(void)
{
    lm_drag_def def;
    memset(&def, 0, sizeof def);
    def.hertz = 2.0f;
    def.damping_ratio = 1.0f;
    def.max_force = FLT_MAX;
    def.cookie = DRAG_COOKIE;
    return def;
}

static const char *drag_fault(const lm_drag_def *def, const lmi_body *body)
{
    if (def->particle >= body->particle_count) {
        return "the particle index is beyond the last particle";
    }
    if (!(def->radius >= 0.0f && def->radius <= LM_MAX_COORDINATE)) {
        return "radius must be at least 0";
    }
    if (!dvec_is_finite(def->target)) {
        return "target is not finite";
    }
    if (!(def->hertz > 0.0f && def->hertz <= 1e6f)) {
        return "hertz must be above 0 and at most 1e6";
    }
    if (!(def->damping_ratio >= 0.0f && def->damping_ratio <= 1e6f)) {
        return "damping_ratio must be 0 to 1e6";
    }
    return def->max_force > 0.0f ? NULL : "max_force must be above 0";
}

/* How strongly a particle at distance `away` in the rest pose is pulled along: 1 in the middle, smoothly 0 at the
 * radius. */
static double hold(double away, double radius)
{
    if (away <= 0.0) {
        return 1.0;
    }
    double t = radius > 0.0 ? away / radius : 2.0;
    return t < 1.0 ? (1.0 - t * t) * (1.0 - t * t) : 0.0;
}

/* Writes the particles in reach and their weights, or only counts them when `drag->particles` is null. */
static uint32_t reach(const lmi_body *body, lmi_drag *drag, uint32_t middle)
{
    uint32_t count = 0;
    double sum = 0.0;
    LMI_PARTICLES_EACH(body, n)
    {
        double away = dvec_length(dvec_sub(dvec_from(body->rest[n]), dvec_from(body->rest[middle])));
        double weight = n == middle ? 1.0 : hold(away, drag->radius);
        if (weight > 0.0 && (n == middle || drag->radius > 0.0f)) {
            if (drag->particles) {
                drag->particles[count] = n;
                drag->weights[count] = (float)weight;
                sum += weight * body->v[(size_t)n * 4 + 3];
            }
            count++;
        }
    }
    for (uint32_t n = 0; drag->particles && n < count; n++) {
        drag->weights[n] = (float)(drag->weights[n] / sum);
    }
    return count;
}

void lmi_drag_free(lm_world *world, lmi_drag *drag)
{
    lmi_release(&world->memory, drag->particles, drag->count, sizeof *drag->particles);
    lmi_release(&world->memory, drag->weights, drag->count, sizeof *drag->weights);
    drag->particles = NULL;
    drag->weights = NULL;
}

static void take_drag_def(lmi_drag *drag, const lm_drag_def *def)
{
    drag->particle = def->particle;
    drag->radius = def->radius;
    drag->target = def->target;
    drag->hertz = def->hertz;
    drag->damping_ratio = def->damping_ratio;
    drag->max_force = fminf(def->max_force, FLT_MAX); /* infinity is a natural way to say no limit */
}

void lmi_drags_weigh(lm_world *world, lmi_body *body)
{
    for (uint32_t n = body->first_drag; n != LMI_NONE;) {
        lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, n);
        double sum = 0.0;
        for (uint32_t k = 0; k < drag->count; k++) {
            sum += (double)drag->weights[k] * body->v[(size_t)drag->particles[k] * 4 + 3];
        }
        for (uint32_t k = 0; k < drag->count; k++) {
            drag->weights[k] = (float)(drag->weights[k] / sum);
        }
        n = drag->next;
    }
}

lm_result lm_drag_create(lm_world *world, const lm_drag_def *def, lm_drag_id *out)
{
    lm_drag_id none = {0, 0};
    *out = none;
    if (def->cookie != DRAG_COOKIE) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_drag_create: the definition did not come from lm_drag_def_default");
    }
    const lmi_body *known = lmi_body_known(world, def->body, "lm_drag_create");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = drag_fault(def, known);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_drag_create: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    uint32_t index;
    if (!lmi_pool_add(&world->drags, &world->memory, &index)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_drag_create: out of memory");
    }
    lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, index);
    drag->body = def->body.slot - 1;
    take_drag_def(drag, def);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    drag->count = reach(body, drag, body->place[def->particle]);
    drag->particles = lmi_allocate(&world->memory, drag->count, sizeof *drag->particles);
    drag->weights = lmi_allocate(&world->memory, drag->count, sizeof *drag->weights);
    bool ok = drag->particles && drag->weights;
    if (ok) {
        reach(body, drag, body->place[def->particle]);
        drag->next = body->first_drag;
        body->first_drag = index;
        lmi_body_rouse(world, body); /* and it stays awake as long as it is dragged */
        lmi_id id = lmi_pool_id(&world->drags, index);
        out->slot = id.slot;
        out->generation = id.generation;
    } else {
        lmi_drag_free(world, drag);
        lmi_pool_revoke(&world->drags, index);
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_drag_create: out of memory");
}

static lmi_drag *find_drag(const lm_world *world, lm_drag_id drag, uint32_t *index, const char *caller)
{
    lmi_id id = {drag.slot, drag.generation};
    if (!lmi_pool_find(&world->drags, id, index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such drag", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->drags, lmi_drag, *index);
}

lm_result lm_drag_set_target(lm_world *world, lm_drag_id id, lm_dvec3 target)
{
    uint32_t index;
    lmi_drag *drag = find_drag(world, id, &index, "lm_drag_set_target");
    if (!drag) {
        return LM_ERROR_ID;
    }
    if (!dvec_is_finite(target)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_drag_set_target: target is not finite");
    }
    drag->target = target;
    return LM_OK;
}

lm_result lm_drag_get_def(const lm_world *world, lm_drag_id id, lm_drag_def *def)
{
    uint32_t index;
    const lmi_drag *drag = find_drag(world, id, &index, "lm_drag_get_def");
    if (!drag) {
        return LM_ERROR_ID;
    }
    lmi_id body = lmi_pool_id(&world->bodies, drag->body);
    *def = lm_drag_def_default();
    def->body = (lm_body_id){body.slot, body.generation};
    def->particle = drag->particle;
    def->radius = drag->radius;
    def->target = drag->target;
    def->hertz = drag->hertz;
    def->damping_ratio = drag->damping_ratio;
    def->max_force = drag->max_force;
    return LM_OK;
}

static const char *new_drag_fault(const lm_world *world, const lmi_drag *drag, const lm_drag_def *def)
{
    lmi_id body = lmi_pool_id(&world->bodies, drag->body);
    if (def->cookie != DRAG_COOKIE) {
        return "the definition did not come from lm_drag_def_default";
    }
    if (def->body.slot != body.slot || def->body.generation != body.generation) {
        return "a drag stays with its body";
    }
    return drag_fault(def, lmi_body_at(world, drag->body));
}

lm_result lm_drag_set_def(lm_world *world, lm_drag_id id, const lm_drag_def *def)
{
    uint32_t index;
    lmi_drag *drag = find_drag(world, id, &index, "lm_drag_set_def");
    const char *fault = drag ? new_drag_fault(world, drag, def) : NULL;
    if (!drag || fault) {
        return drag ? lmi_fail(world, LM_ERROR_ARGUMENT, "lm_drag_set_def: %s", fault) : LM_ERROR_ID;
    }
    const lmi_body *body = lmi_body_change(world, lmi_body_at(world, drag->body), LMI_CHANGE_WORLD);
    lmi_drag made = *drag;
    made.particles = NULL;
    made.weights = NULL;
    take_drag_def(&made, def);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    made.count = reach(body, &made, body->place[def->particle]);
    made.particles = lmi_allocate(&world->memory, made.count, sizeof *made.particles);
    made.weights = lmi_allocate(&world->memory, made.count, sizeof *made.weights);
    bool ok = made.particles && made.weights;
    if (ok) {
        reach(body, &made, body->place[def->particle]);
        lmi_drag_free(world, drag);
        *drag = made;
        lmi_body_rouse(world, body);
    } else {
        lmi_drag_free(world, &made);
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_drag_set_def: out of memory");
}

lm_result lm_drag_get_force(const lm_world *world, lm_drag_id id, lm_vec3 *force)
{
    uint32_t index;
    const lmi_drag *drag = find_drag(world, id, &index, "lm_drag_get_force");
    if (!drag) {
        return LM_ERROR_ID;
    }
    lmi_world_read(world);
    *force = drag->force;
    return LM_OK;
}

lm_result lm_drag_destroy(lm_world *world, lm_drag_id id)
{
    uint32_t index;
    lmi_drag *drag = find_drag(world, id, &index, "lm_drag_destroy");
    if (!drag) {
        return LM_ERROR_ID;
    }
    lmi_body *body = lmi_body_change(world, lmi_body_at(world, drag->body), LMI_CHANGE_WORLD);
    uint32_t *link = &body->first_drag;
    while (*link != index) {
        link = &LMI_POOL_AT(&world->drags, lmi_drag, *link)->next;
    }
    *link = drag->next;
    lmi_drag_free(world, drag);
    lmi_pool_remove(&world->drags, index);
    return LM_OK;
}

void lmi_drags_free(lm_world *world, lmi_body *body)
{
    while (body->first_drag != LMI_NONE) {
        uint32_t index = body->first_drag;
        lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, index);
        body->first_drag = drag->next;
        lmi_drag_free(world, drag);
        lmi_pool_remove(&world->drags, index);
    }
}
