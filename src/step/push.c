#include "step/push.h"

/* No contact turns a body further in one substep, radians: beyond this a turn is no rotation any more. */
#define MOST_TURN 1.0

/* The share of a push that acts on the body as a whole: none for what deforms freely, all for a body that a substep brings
 * back to its shape (alpha) and whose deformation velocity does not last (damping). And all for a body that crosses a good
 * part of its own size in a substep: what it runs into is then so deep in it that pushes on single particles would turn it
 * inside out. */
static double rigidity(const lmi_body *body, double way)
{
    double stiff = ((double)body->alpha * body->damping - 0.25) / 0.5;
    double fast = (way / body->rest_size - 0.08) / 0.1;
    return body->first_pin != LMI_NONE ? 0.0 : fmin(fmax(fmax(stiff, fast), 0.0), 1.0);
}

/* Inverse of the inertia, column by column; directions without inertia do not turn. */
static dmat3 invert_inertia(const double inertia[6])
{
    dmat3 out;
    for (int j = 0; j < 3; j++) {
        lm_dvec3 column = dmat_solve_spin(inertia, dvec(j == 0, j == 1, j == 2));
        out.m[0][j] = column.x, out.m[1][j] = column.y, out.m[2][j] = column.z;
    }
    return out;
}

static void measure(lmi_push *push)
{
    const lmi_body *body = push->body;
    const float *from = body->x + (size_t)body->reference * 4;
    double mass = 0.0, first[3] = {0}, second[6] = {0};
    for (uint32_t n = 0; n < body->place_count; n++) {
        const float *x = body->x + (size_t)n * 4;
        double m = body->v[(size_t)n * 4 + 3];
        if (m > 0.0 && !(x[3] > 0.0f)) { /* it has particles that no region holds */
            push->rigid = 0.0;
            return;
        }
        double r[3] = {(double)x[0] - from[0], (double)x[1] - from[1], (double)x[2] - from[2]};
        mass += m;
        for (int i = 0; i < 3; i++) {
            first[i] += m * r[i];
            second[i] += m * r[i] * r[i];
        }
        second[3] += m * r[0] * r[1], second[4] += m * r[1] * r[2], second[5] += m * r[2] * r[0];
    }
    double c[3] = {first[0] / mass, first[1] / mass, first[2] / mass};
    double xx = second[0] - mass * c[0] * c[0], yy = second[1] - mass * c[1] * c[1],
           zz = second[2] - mass * c[2] * c[2];
    double inertia[6] = {yy + zz,
                         zz + xx,
                         xx + yy,
                         mass * c[0] * c[1] - second[3],
                         mass * c[1] * c[2] - second[4],
                         mass * c[2] * c[0] - second[5]};
    push->centre = dvec(from[0] + c[0], from[1] + c[1], from[2] + c[2]);
    push->inverse_mass = 1.0 / mass;
    push->turning = invert_inertia(inertia);
}

void lmi_push_begin(lmi_push *push, lmi_body *body, double way)
{
    lmi_push none = {.body = body, .rigid = body->rest_size > 0.0 ? rigidity(body, way) : 0.0};
    *push = none;
    if (push->rigid > 0.0) {
        measure(push);
    }
}

void lmi_push_end(lmi_push *push)
{
    if (!push->moved) {
        return;
    }
    lmi_body *body = push->body;
    push->move = dvec_limit(push->move, LM_MAX_COORDINATE);
    push->velocity = dvec_limit(push->velocity, 2.0 * LM_MAX_SPEED);
    push->centre = dvec_add(push->centre, push->drift); /* about another point the spin would move the body */
    push->drift = lm_dvec3_zero();
    for (uint32_t n = 0; n < body->place_count; n++) {
        float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        if (!(v[3] > 0.0f)) {
            continue;
        }
        lm_dvec3 r = dvec_sub(dvec(x[0], x[1], x[2]), push->centre);
        lm_dvec3 dx = dvec_add(push->move, dvec_cross(push->turn, r));
        lm_dvec3 dv = dvec_add(push->velocity, dvec_cross(push->spin, r));
        double now[3] = {x[0] + dx.x, x[1] + dx.y, x[2] + dx.z}, fast[3] = {v[0] + dv.x, v[1] + dv.y, v[2] + dv.z};
        for (int i = 0; i < 3; i++) {
            x[i] = (float)fmax(fmin(now[i], LM_MAX_COORDINATE), -LM_MAX_COORDINATE);
            v[i] = (float)fmax(fmin(fast[i], LM_MAX_SPEED), -LM_MAX_SPEED);
        }
    }
    push->centre = dvec_add(push->centre, push->move);
    push->move = push->turn = push->velocity = push->spin = lm_dvec3_zero();
    push->moved = false;
}

lmi_grip lmi_grip_particle(uint32_t place)
{
    lmi_grip grip = {.count = 1, .single = place};
    return grip;
}

lmi_grip lmi_grip_rows(const uint32_t *rider, const float *weight, uint32_t rows)
{
    lmi_grip grip = {.rider = rider, .weight = weight, .count = rows, .stride = LMI_BLOCK};
    return grip;
}

static inline uint32_t rider_of(const lmi_grip *grip, uint32_t n)
{
    return grip->rider ? grip->rider[n * grip->stride] : grip->single;
}

static inline double weight_of(const lmi_grip *grip, uint32_t n)
{
    return grip->rider ? grip->weight[n * grip->stride] : 1.0;
}

lm_dvec3 lmi_grip_position(const lmi_push *push, const lmi_grip *grip)
{
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t n = 0; n < grip->count; n++) {
        const float *x = push->body->x + (size_t)rider_of(grip, n) * 4;
        double w = weight_of(grip, n);
        sum = dvec_add(sum, dvec(w * x[0], w * x[1], w * x[2]));
    }
    if (push->moved) {
        sum = dvec_add(sum, dvec_add(push->move, dvec_cross(push->turn, dvec_sub(sum, push->centre))));
    }
    return sum;
}

lm_dvec3 lmi_grip_velocity(const lmi_push *push, const lmi_grip *grip, lm_dvec3 at)
{
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t n = 0; n < grip->count; n++) {
        const float *v = push->body->v + (size_t)rider_of(grip, n) * 4;
        double w = weight_of(grip, n);
        sum = dvec_add(sum, dvec(w * v[0], w * v[1], w * v[2]));
    }
    if (push->moved) {
        sum = dvec_add(sum, dvec_add(push->velocity, dvec_cross(push->spin, dvec_sub(at, push->centre))));
    }
    return sum;
}

double lmi_grip_mobility(const lmi_push *push, const lmi_grip *grip)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < grip->count; n++) {
        double w = weight_of(grip, n);
        if (w != 0.0) {
            sum += w * w / push->body->v[(size_t)rider_of(grip, n) * 4 + 3];
        }
    }
    return (1.0 - push->rigid) * sum + push->rigid * push->inverse_mass;
}

double lmi_push_mobility(const lmi_push *push, double plain, lm_dvec3 at, lm_dvec3 n)
{
    if (!(push->rigid > 0.0)) {
        return plain;
    }
    lm_dvec3 arm = dvec_cross(dvec_sub(at, push->centre), n);
    return plain + push->rigid * dvec_dot(arm, dmat_apply(&push->turning, arm));
}

static float limit(double value, double most) { return (float)fmax(fmin(value, most), -most); }

void lmi_push_apply(lmi_push *push, const lmi_grip *grip, lm_dvec3 at, lm_dvec3 shift, lm_dvec3 impulse)
{
    double local = 1.0 - push->rigid;
    for (uint32_t n = 0; local > 0.0 && n < grip->count; n++) {
        uint32_t rider = rider_of(grip, n);
        float *x = push->body->x + (size_t)rider * 4, *v = push->body->v + (size_t)rider * 4;
        double share = weight_of(grip, n);
        if (share == 0.0) {
            continue;
        }
        share *= local / v[3];
        x[0] = limit(x[0] + share * shift.x, LM_MAX_COORDINATE);
        x[1] = limit(x[1] + share * shift.y, LM_MAX_COORDINATE);
        x[2] = limit(x[2] + share * shift.z, LM_MAX_COORDINATE);
        v[0] = limit(v[0] + share * impulse.x, LM_MAX_SPEED);
        v[1] = limit(v[1] + share * impulse.y, LM_MAX_SPEED);
        v[2] = limit(v[2] + share * impulse.z, LM_MAX_SPEED);
    }
    if (push->rigid > 0.0) {
        lm_dvec3 r = dvec_sub(at, push->centre);
        double whole = push->rigid * push->inverse_mass;
        push->drift = dvec_add(push->drift, dvec_scale(shift, local * push->inverse_mass));
        push->move = dvec_add(push->move, dvec_scale(shift, whole));
        push->velocity = dvec_add(push->velocity, dvec_scale(impulse, whole));
        lm_dvec3 turn = dvec_scale(dmat_apply(&push->turning, dvec_cross(r, shift)), push->rigid);
        lm_dvec3 spin = dvec_scale(dmat_apply(&push->turning, dvec_cross(r, impulse)), push->rigid);
        push->turn = dvec_limit(dvec_add(push->turn, turn), MOST_TURN);
        push->spin = dvec_add(push->spin, spin);
        push->moved = true;
    }
}
