#include "step/solve.h"

/* Sweeps end when the largest change in one is below this, m/s. */
#define STILL_SPEED 1e-4

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

void lmi_contact_begin(lmi_contact *c, double restitution)
{
    lm_dvec3 at_a, at_b;
    c->plain = lmi_grip_mobility(c->a, &c->grip_a);
    c->plain += c->b ? ratio(c) * lmi_grip_mobility(c->b, &c->grip_b) : 0.0;
    apart_now(c, &at_a, &at_b);
    c->deep = mobility(c, at_a, at_b, c->normal);
    double approach = -dvec_dot(velocity_now(c, at_a, at_b), c->normal);
    c->bounce = approach > LMI_BOUNCE_SPEED ? restitution * approach : 0.0;
    c->shifted = c->pressed = 0.0;
    c->braked = lm_dvec3_zero();
}

/* What a sweep still changes: speeds (m/s) and ways (m) of a contact. */
typedef struct unrest {
    double speed, way;
} unrest;

static void solve_position(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, lm_dvec3 apart, unrest *rest)
{
    double depth = c->depth - dvec_dot(dvec_sub(apart, c->apart), c->normal);
    double total = fmax(c->shifted + depth / c->deep, 0.0);
    give(c, at_a, at_b, dvec_scale(c->normal, total - c->shifted), lm_dvec3_zero());
    rest->way = fmax(rest->way, fabs(total - c->shifted) * c->deep);
    c->shifted = total;
}

static void solve_normal(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, unrest *rest)
{
    double lacks = c->bounce - dvec_dot(velocity_now(c, at_a, at_b), c->normal);
    double total = fmax(c->pressed + lacks / c->deep, 0.0);
    give(c, at_a, at_b, lm_dvec3_zero(), dvec_scale(c->normal, total - c->pressed));
    rest->speed = fmax(rest->speed, fabs(total - c->pressed) * c->deep);
    c->pressed = total;
}

static void solve_friction(lmi_contact *c, lm_dvec3 at_a, lm_dvec3 at_b, double h, unrest *rest)
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
    give(c, at_a, at_b, dvec_scale(more, h), more);
    rest->speed = fmax(rest->speed, dvec_length(more) * c->plain);
    c->braked = total;
}

void lmi_contacts_solve(lmi_contact *contacts, uint32_t count, uint32_t sweeps, double h)
{
    for (uint32_t sweep = 0; sweep < sweeps; sweep++) {
        unrest rest = {0.0, 0.0};
        for (uint32_t n = 0; n < count; n++) {
            lmi_contact *c = &contacts[n];
            lm_dvec3 at_a, at_b, apart = apart_now(c, &at_a, &at_b);
            solve_position(c, at_a, at_b, apart, &rest);
            solve_normal(c, at_a, at_b, &rest);
            if (c->friction > 0.0) {
                solve_friction(c, at_a, at_b, h, &rest);
            }
        }
        if (rest.speed < STILL_SPEED && rest.way < STILL_SPEED * h) {
            return;
        }
    }
}
