#include "step/solve.h"
#include "step/touching.h"

#include <string.h>

/* Sweeps end when the largest change in one is below this, m/s. */
#define STILL_SPEED 1e-4

/* What rests may stay this deep, as a share of the body's size: putting it out would only move it about. */
#define LEFT 3e-4

/* Bodies that were in each other when they met part at this speed, m/s: at once would be a leap. */
#define PART_SPEED 2.0

/* Where a is from b, and how fast it moves from there. */
static lm_dvec3 apart_now(const lmi_contact *c, lm_dvec3 *at_a, lm_dvec3 *at_b)
{
    *at_a = lmi_grip_position(c->a, &c->grip_a);
    *at_b = c->b ? lmi_grip_position(c->b, &c->grip_b) : lm_dvec3_zero();
    return dvec_sub(*at_a, *at_b);
}

static lm_dvec3 velocity_now(const lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b)
{
    lm_dvec3 u = lmi_grip_velocity(c->a, &c->grip_a, at_a);
    return dvec_sub(u, c->b ? lmi_grip_velocity(c->b, &c->grip_b, at_b) : c->surface);
}

/* A mass of b counts in units of a's. */
static double ratio(const lmi_contact *c) { return c->b ? c->a->body->mean_mass / c->b->body->mean_mass : 0.0; }

static double mobility(const lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, lm_dvec3 n)
{
    double sum = c->plain + lmi_push_mobility(c->a, 0.0, at_a, n);
    return c->b ? sum + ratio(c) * lmi_push_mobility(c->b, 0.0, at_b, n) : sum;
}

static void give(const lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, lm_dvec3 shift, lm_dvec3 impulse)
{
    lmi_push_apply(c->a, &c->grip_a, at_a, shift, impulse);
    if (c->b) {
        double back = -ratio(c);
        lmi_push_apply(c->b, &c->grip_b, at_b, dvec_scale(shift, back), dvec_scale(impulse, back));
    }
}

/* Gives a contact what its point was given last time. Only one contact of a point gets it. */
static void warm_up(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b)
{
    static const lmi_warm nothing = {0};
    lm_dvec3 braked = dvec(c->last->braked[0], c->last->braked[1], c->last->braked[2]);
    c->pressed = c->last->pressed;
    *c->last = nothing;
    if (!(c->pressed > 0.0)) {
        return;
    }
    braked = dvec_sub(braked, dvec_scale(c->normal, dvec_dot(braked, c->normal)));
    double size = dvec_length(braked), most = c->friction * c->pressed;
    c->braked = size > most ? dvec_scale(braked, most / size) : braked;
    give(c, at_a, at_b, lm_dvec3_zero(), dvec_add(dvec_scale(c->normal, c->pressed), c->braked));
}

void lmi_contact_begin(lmi_contact *c, double restitution, double h)
{
    lm_dvec3 at_a, at_b;
    c->plain = lmi_grip_mobility(c->a, &c->grip_a);
    c->plain += c->b ? ratio(c) * lmi_grip_mobility(c->b, &c->grip_b) : 0.0;
    lm_dvec3 apart = apart_now(c, &at_a, &at_b);
    c->deep = mobility(c, at_a, at_b, c->normal);
    double approach = -dvec_dot(velocity_now(c, at_a, at_b), c->normal);
    c->bounce = approach > LMI_BOUNCE_SPEED ? restitution * approach : 0.0;
    c->approach = approach;
    c->watched = c->depth < 0.0 && approach > LMI_BOUNCE_SPEED;
    if (c->b) {
        c->apart = apart;
        c->depth = fmin(c->depth, h * (PART_SPEED + 1.5 * fmax(approach, 0.0)));
    }
    c->shifted = c->pressed = 0.0;
    c->braked = lm_dvec3_zero();
    if (c->last && !c->watched) {
        warm_up(c, at_a, at_b);
    }
}

/* Across a gap they may approach as fast as closes it in one substep. Returns the change, m/s. */
static double solve_normal(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, double h)
{
    double closing = fmax(-c->depth, 0.0) / h;
    double lacks = c->bounce - closing - dvec_dot(velocity_now(c, at_a, at_b), c->normal);
    double total = fmax(c->pressed + lacks / c->deep, 0.0), more = total - c->pressed;
    give(c, at_a, at_b, lm_dvec3_zero(), dvec_scale(c->normal, more));
    c->pressed = total;
    return fabs(more) * c->deep;
}

static double solve_friction(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b)
{
    lm_dvec3 u = velocity_now(c, at_a, at_b), total = c->braked;
    lm_dvec3 slide = dvec_sub(u, dvec_scale(c->normal, dvec_dot(u, c->normal)));
    double speed = dvec_length(slide), most = c->friction * c->pressed;
    if (speed > 1e-12) {
        lm_dvec3 t = dvec_scale(slide, 1.0 / speed);
        total = dvec_sub(total, dvec_scale(slide, 1.0 / mobility(c, at_a, at_b, t)));
    }
    double size = dvec_length(total);
    if (size > most) {
        total = dvec_scale(total, most / size);
    }
    lm_dvec3 more = dvec_sub(total, c->braked);
    give(c, at_a, at_b, lm_dvec3_zero(), more);
    c->braked = total;
    return dvec_length(more) * c->plain;
}

/* One sweep over the velocities; returns the largest change. */
static double sweep_velocities(lmi_contact *contacts, uint32_t count, bool back, double h)
{
    double most = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[back ? count - 1 - n : n]; /* there and back: loads travel both ways */
        if (c->watched) {
            continue;
        }
        lm_dvec3 at_a, at_b;
        apart_now(c, &at_a, &at_b);
        most = fmax(most, solve_normal(c, at_a, at_b, h));
        if (c->friction > 0.0) {
            most = fmax(most, solve_friction(c, at_a, at_b));
        }
    }
    return most;
}

/* Takes back the way that the velocities lost were good for: all of it along the surface, and as much as is below it. */
static void take_back(lmi_contact *contacts, uint32_t count, double h)
{
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        lm_dvec3 at_a, at_b;
        double came = h * (c->approach + c->bounce), share = came > 0.0 ? fmin(fmax(c->depth, 0.0) / came, 1.0) : 0.0;
        apart_now(c, &at_a, &at_b);
        c->shifted = share * h * c->pressed;
        give(c, at_a, at_b, dvec_add(dvec_scale(c->normal, c->shifted), dvec_scale(c->braked, h)), lm_dvec3_zero());
    }
}

/* One sweep over the positions; returns the largest change. */
static double sweep_positions(lmi_contact *contacts, uint32_t count, bool back)
{
    double most = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[back ? count - 1 - n : n];
        if (c->watched) {
            continue;
        }
        lm_dvec3 at_a, at_b, apart = apart_now(c, &at_a, &at_b);
        double depth = c->depth - dvec_dot(dvec_sub(apart, c->apart), c->normal) - LEFT * c->a->body->rest_size;
        double total = fmax(c->shifted + depth / c->deep, 0.0), more = total - c->shifted;
        give(c, at_a, at_b, dvec_scale(c->normal, more), lm_dvec3_zero());
        c->shifted = total;
        most = fmax(most, fabs(more) * c->deep);
    }
    return most;
}

void lmi_contacts_solve(lmi_contact *contacts, uint32_t count, uint32_t sweeps, double h)
{
    for (uint32_t n = 0; n < sweeps && sweep_velocities(contacts, count, n & 1, h) > STILL_SPEED; n++) {
    }
    take_back(contacts, count, h);
    for (uint32_t n = 0; n < sweeps && sweep_positions(contacts, count, n & 1) > STILL_SPEED * h; n++) {
    }
}

void lmi_contacts_flush(lmi_contact_list *list)
{
    lmi_contacts_solve(list->contacts, list->count, list->sweeps, list->h);
    lmi_touched_solved(list->world, list->contacts, list->count);
    for (uint32_t n = 0; n < list->count; n++) {
        const lmi_contact *c = &list->contacts[n];
        lmi_body *body = c->a->body;
        if (c->next && c->pressed >= c->next->pressed) {
            lmi_warm warm = {(float)c->pressed, {(float)c->braked.x, (float)c->braked.y, (float)c->braked.z}};
            *c->next = warm;
        }
        if (!c->b) {
            lm_dvec3 given = dvec_add(dvec_scale(c->normal, c->pressed), c->braked);
            body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(given, body->mean_mass));
            body->contacts += c->pressed > 0.0 || c->shifted > 0.0;
        }
    }
    list->count = 0;
}

void lmi_contact_add(lmi_contact_list *list, const lmi_contact *contact, double restitution)
{
    if (list->count == list->limit) {
        lmi_contacts_flush(list);
    }
    lmi_contact *c = &list->contacts[list->count];
    *c = *contact;
    if (c->b) {
        float *weights = list->weights + (size_t)list->count * LMI_CARRIER_MOST;
        uint32_t *riders = list->riders + (size_t)list->count * LMI_CARRIER_MOST;
        memcpy(weights, c->grip_b.weight, c->grip_b.count * sizeof *weights);
        memcpy(riders, c->grip_b.rider, c->grip_b.count * sizeof *riders);
        c->grip_b.weight = weights;
        c->grip_b.rider = riders;
    }
    list->count++;
    lmi_contact_begin(c, restitution, list->h);
}
