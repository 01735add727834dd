/*
 * What came of it: particles go back to their bodies, touch points remember what they were given, walls' impulses and contacts
 * are counted, pairs turn back by what their shifts twisted, and whoever asks is told who touches whom.
 *
 * Each body is done by one task, in the order of its runs; only pairs that touch are put down one after the other, one record
 * for each run.
 */
#include "collide/wrench.h"
#include "contact/rigid_contact.h"

/* A contact that was solved, soft or stiff. */
typedef struct solved {
    quad normal, braked;
    float pressed, shifted, approach;
    uint32_t point;
    bool near, idle; /* nothing was done; nothing can be done */
} solved;

static quad impulse_of(const solved *c) { return quad_add(quad_scale(c->normal, c->pressed), c->braked); }

static solved soft_at(const lmi_solver *s, uint32_t c)
{
    const lmi_soft_block *b = &s->blocks[c / LMI_BLOCK];
    uint32_t k = c % LMI_BLOCK;
    return (solved){.normal = quad_of(b->normal[k], b->normal[LMI_BLOCK + k], b->normal[2 * LMI_BLOCK + k]),
                    .braked = quad_of(b->braked[k], b->braked[LMI_BLOCK + k], b->braked[2 * LMI_BLOCK + k]),
                    .pressed = b->pressed[k],
                    .shifted = b->shifted[k],
                    .approach = b->approach[k],
                    .point = b->point[k],
                    .near = b->near >> k & 1,
                    .idle = isinf(b->deep[k])};
}

static solved stiff_at(const lmi_solver *s, uint32_t c)
{
    const lmi_stiff *k = &s->stiff[c];
    return (solved){k->normal, k->braked, k->pressed, k->shifted, k->approach, k->point, k->watched, k->idle};
}

static void put_back(const lmi_solver *s, const lmi_owner *owner)
{
    for (size_t place = owner->first_place; place < (size_t)owner->first_place + owner->particles; place++) {
        size_t at = (size_t)s->touched[place] * 4;
        float *x = owner->body->x + at, *v = owner->body->v + at;
        const float *from = s->x + place * 4, *speed = s->v + place * 4;
        for (int i = 0; i < 3; i++) {
            x[i] = lmi_limit(from[i], LM_MAX_COORDINATE);
            v[i] = lmi_limit(speed[i], LM_MAX_SPEED);
        }
    }
}

/* What a touch point was given. Of a stiff contact an impact is over: what is given again is what carries a load. */
static void remember(lmi_warm *next, const solved *c, bool stiff)
{
    bool rests = !stiff || c->approach < (float)LMI_BOUNCE_SPEED;
    if (rests && c->pressed >= next->pressed) {
        next->pressed = c->pressed;
        for (int i = 0; i < 3; i++) {
            next->braked[i] = quad_at(c->braked, i);
        }
    }
}

/* --- who touches whom --- */

/* Where a touch point of a body is, whose particles are back. */
static quad point_now(const lmi_body *body, uint32_t point)
{
    const lmi_touch *touch = &body->touch;
    quad at = {0};
    for (uint32_t row = touch->first_row[point / LMI_BLOCK]; row < touch->first_row[point / LMI_BLOCK + 1]; row++) {
        size_t k = (size_t)row * LMI_BLOCK + point % LMI_BLOCK;
        at = quad_add_scaled(at, touch->weight[k], quad_load(body->x + (size_t)touch->rider[k] * 4));
    }
    return at;
}

/* Where the point of a contact is, from the origin of a. */
static quad place_of(const lmi_solver *s, const lmi_run *run, uint32_t c, const solved *is)
{
    quad at = {0};
    if (!run->stiff) {
        const lmi_soft_block *b = &s->blocks[c / LMI_BLOCK];
        size_t row = lmi_rows_of(s, c / LMI_BLOCK) + c % LMI_BLOCK;
        if (is->near && is->point != LMI_NONE) {
            return point_now(run->a->body, is->point);
        }
        if (is->near) {
            return quad_of(b->extra[c % LMI_BLOCK], b->extra[LMI_BLOCK + c % LMI_BLOCK],
                           b->extra[2 * LMI_BLOCK + c % LMI_BLOCK]);
        }
        for (uint32_t n = 0; n < s->rows[c / LMI_BLOCK].a; n++, row += LMI_BLOCK) {
            at = quad_add_scaled(at, s->weight[row], quad_load(s->x + (size_t)s->index[row] * 4));
        }
        return at;
    }
    const lmi_stiff *k = &s->stiff[c];
    size_t ref = lmi_refs_of(s, c);
    for (uint32_t n = 0; n < k->count_a; n++) {
        at = quad_add_scaled(at, s->weight[ref + n], quad_load(s->x + (size_t)s->index[ref + n] * 4));
    }
    at = k->count_a ? at : quad_add(run->a->centre, k->arm_a);
    return run->a->moved ? quad_add(at, lmi_push_move(run->a, k->arm_a)) : at;
}

static void add_place(const lmi_solver *s, const lmi_run *run, uint32_t c, const solved *is, lmi_touching *sum)
{
    const lmi_body *body = run->a->body;
    lmi_place place = {.point = dvec_add(body->origin, quad_to(place_of(s, run, c, is))),
                       .normal = quad_to(is->normal),
                       .impulse = dvec_scale(quad_to(impulse_of(is)), body->mean_mass),
                       .pressed = body->mean_mass * is->pressed,
                       .approach = is->approach,
                       .pressing = is->pressed > 0.0f || is->shifted > 0.0f};
    lmi_touching_add(sum, &place);
}

/* --- each body --- */

/* Whether a body touches a collider, which may be that of a mover with mass. */
static bool is_wall(const lmi_run *run) { return !run->b || run->b->mover; }

/* A run that an owner is side a of. */
static void tell_run(lmi_solver *s, uint32_t index)
{
    const lmi_run *run = &s->runs[index];
    if (run->a->mover) {
        lmi_rigids_tell(s, run);
        return;
    }
    const bool wall = is_wall(run);
    lmi_body *body = run->a->body;
    const lmi_touch *touch = &body->touch;
    lmi_touching sum = {.weight = 0.0};
    lm_dvec3 impulse = lm_dvec3_zero(), moment = lm_dvec3_zero(); /* of a wall, about the origin */
    bool solved_any = false;
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        solved is = run->stiff ? stiff_at(s, c) : soft_at(s, c);
        if (is.idle && !is.near) {
            continue;
        }
        solved_any = solved_any || !is.near;
        if (is.point != LMI_NONE && !run->forgets && !body->asleep && !is.near) {
            remember(&touch->warm[touch->count + is.point], &is, run->stiff);
        }
        if (wall) {
            lm_dvec3 given = dvec_scale(quad_to(impulse_of(&is)), body->mean_mass);
            body->outside_impulse = dvec_add(body->outside_impulse, given);
            body->contacts += is.pressed > 0.0f || is.shifted > 0.0f;
            if (is.pressed > 0.0f) {
                impulse = dvec_add(impulse, given);
                moment = dvec_add(moment, dvec_cross(quad_to(place_of(s, run, c, &is)), given));
            }
        }
        if (body->touched) {
            add_place(s, run, c, &is, &sum);
        }
    }
    if (wall) {
        lmi_wrench_of_surface(s->world, run->wall, body->origin, impulse, moment);
    }
    if (!body->touched || !(sum.weight > 0.0)) {
        return;
    }
    if (!wall) {
        sum.fresh = solved_any; /* both are awake now: what was given and taken back again may leave a trace */
        s->sums[index] = sum;
    } else {
        lmi_touched_walls(s->world, body, ((const lmi_surface *)run->wall)->slot, &sum);
    }
}

/* The twists of a soft run between two bodies, on one of them. */
static void twist_run(const lmi_solver *s, const lmi_run *run, bool b)
{
    lm_dvec3 twist = lm_dvec3_zero();
    double fastest = -1.0;
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        quad one = quad_load(s->shift + (size_t)c * 4);
        twist = dvec_add(twist, quad_to(one));
        fastest = lmi_max(fastest, quad_at(one, 3));
    }
    if (fastest >= 0.0) {
        double share = lmi_push_twist_share(run->a, run->b);
        twist = dvec_scale(twist, run->a->body->mean_mass * (b ? 1.0 - share : share));
        lmi_push_twist(b ? run->b : run->a, twist, fastest);
    }
}

static void tell_owner(lmi_solver *s, uint32_t index)
{
    const lmi_owner *owner = &s->owners[index];
    put_back(s, owner);
    for (uint32_t n = 0; n < owner->run_count; n++) {
        const lmi_owned_run owned = lmi_owned(s, owner->first_run + n);
        const lmi_run *run = &s->runs[owned.run];
        if (owned.a) {
            tell_run(s, owned.run);
        }
        if (!run->stiff && run->b && run->a != run->b) {
            if (owned.a) {
                twist_run(s, run, false);
            }
            if (owned.b) {
                twist_run(s, run, true);
            }
        }
    }
}

void lmi_solver_tell(lmi_solver *s)
{
    for (uint32_t n = 0; n < s->run_count && s->room.events; n++) {
        s->sums[n].weight = 0.0;
    }
    lmi_solver_run(s, tell_owner, s->owner_count);
    for (uint32_t n = 0; n < s->run_count && s->room.events; n++) {
        const lmi_run *run = &s->runs[n];
        if (!is_wall(run) && s->sums[n].weight > 0.0) {
            lmi_touched_bodies(s->world, run->a->body, run->b->body, &s->sums[n]);
            if (s->sums[n].fresh) {
                lmi_touched_wake(run->a->body, run->b->body);
            }
        }
    }
}
