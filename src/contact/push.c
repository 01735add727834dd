#include "contact/push.h"
#include "contact/soft.h"
#include "lattice/lattice_body.h"
#include "octree/octree_body.h"

/* No contact turns a body further in one substep, radians: beyond this a turn is no rotation any more. */
#define MOST_TURN 1.0f

/* Whether a solid stopped a body that flies as a whole. Where it is a few particles that fly, the body must not answer for them:
 * a wall would give all of it the speed of the one particle that was pushed. */
static bool is_stopped(const lmi_body *body)
{
    double whole =
        dvec_length(dvec_from(body->motion.velocity)) + dvec_length(dvec_from(body->motion.spin)) * body->rest_size;
    return body->halted && 2.0 * whole > (double)body->fastest;
}

/* The share of a push that acts on the body as a whole. */
static double rigidity(const lmi_body *body, double way)
{
    double stiff = lmi_firm_share(body->firmness, body->damping);
    double fast = is_stopped(body) ? 1.0 : lmi_fast_share(way, body->rest_size);
    return body->anchored ? 0.0 : lmi_min(lmi_max(lmi_max(stiff, fast), 0.0), 1.0);
}

/* Inverse of the inertia, column by column; directions without inertia do not turn. */
static void invert_inertia(const double inertia[6], quad columns[3])
{
    for (int j = 0; j < 3; j++) {
        columns[j] = quad_from(lmi_dmat_solve_spin(inertia, dvec(j == 0, j == 1, j == 2)));
    }
}

/* About the centre of mass c, from the second moments (xx yy zz xy yz zx). */
static void inertia_of(double mass, const double c[3], const double second[6], double inertia[6])
{
    double xx = second[0] - mass * c[0] * c[0], yy = second[1] - mass * c[1] * c[1];
    double zz = second[2] - mass * c[2] * c[2];
    inertia[0] = yy + zz;
    inertia[1] = zz + xx;
    inertia[2] = xx + yy;
    inertia[3] = mass * c[0] * c[1] - second[3];
    inertia[4] = mass * c[1] * c[2] - second[4];
    inertia[5] = mass * c[2] * c[0] - second[5];
}

static inline uint32_t place_of(const lmi_push *push, uint32_t k) { return push->places ? push->places[k] : k; }

static void measure(lmi_push *push)
{
    const lmi_body *body = push->body;
    const float *from = body->x + (size_t)body->reference * 4;
    double mass = 0.0, first[3] = {0}, second[6] = {0}, momentum[3] = {0};
    lm_dvec3 angular = lm_dvec3_zero();
    for (uint32_t k = 0; k < push->count; k++) {
        uint32_t n = place_of(push, k);
        const float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        double m = v[3];
        if (m > 0.0 && !(x[3] > 0.0f)) { /* it has particles that no region holds */
            push->rigid = 0.0f;
            return;
        }
        double r[3] = {(double)x[0] - from[0], (double)x[1] - from[1], (double)x[2] - from[2]};
        mass += m;
        for (int i = 0; i < 3; i++) {
            first[i] += m * r[i];
            second[i] += m * r[i] * r[i];
            momentum[i] += m * v[i];
        }
        second[3] += m * r[0] * r[1], second[4] += m * r[1] * r[2], second[5] += m * r[2] * r[0];
        angular = dvec_add(angular, dvec_scale(dvec_cross(dvec(r[0], r[1], r[2]), dvec(v[0], v[1], v[2])), m));
    }
    double c[3] = {first[0] / mass, first[1] / mass, first[2] / mass};
    double inertia[6];
    inertia_of(mass, c, second, inertia);
    push->centre = quad_from(dvec(from[0] + c[0], from[1] + c[1], from[2] + c[2]));
    push->inverse_mass = (float)(1.0 / mass);
    push->mean = quad_from(dvec(momentum[0] / mass, momentum[1] / mass, momentum[2] / mass));
    angular = dvec_sub(angular, dvec_cross(dvec(c[0], c[1], c[2]), dvec(momentum[0], momentum[1], momentum[2])));
    push->came = quad_from(lmi_dmat_solve_spin(inertia, angular));
    invert_inertia(inertia, push->turning);
}

void lmi_push_begin_part(lmi_push *push, lmi_body *body, const uint32_t *places, uint32_t count, double way)
{
    lmi_push none = {.body = body,
                     .x = body->x,
                     .v = body->v,
                     .unit = body->mean_mass,
                     .rigid = body->rest_size > 0.0 ? (float)rigidity(body, way) : 0.0f,
                     .places = places,
                     .count = count};
    *push = none;
    if (push->rigid > 0.0f) {
        measure(push);
    }
}

void lmi_push_begin(lmi_push *push, lmi_body *body, double way)
{
    bool pieces = body->fracture && body->lattice->shape.part_count > 1;
    bool cleft = body->octree && body->octree->clefts; /* its sides push each other */
    if (pieces || cleft) {                             /* they do not move as one */
        lmi_push none = {.body = body, .x = body->x, .v = body->v, .unit = body->mean_mass, .count = body->place_count};
        *push = none;
    } else {
        lmi_push_begin_part(push, body, NULL, body->place_count, way);
    }
}

void lmi_push_measure(lmi_push *push)
{
    push->inverse_mass = 0.0f;
    measure(push);
    const quad zero = {0};
    push->velocity = push->spin = zero;
}

void lmi_push_give(lmi_push *push)
{
    lmi_body *body = push->body;
    for (uint32_t k = 0; k < push->count; k++) {
        const uint32_t n = place_of(push, k);
        float *v = body->v + (size_t)n * 4;
        if (v[3] > 0.0f) {
            quad dv = lmi_push_velocity(push, quad_sub(quad_load(body->x + (size_t)n * 4), push->centre));
            for (int i = 0; i < 3; i++) {
                v[i] = lmi_limit(v[i] + quad_at(dv, i), LM_MAX_SPEED);
            }
        }
    }
    const quad zero = {0};
    push->velocity = push->spin = zero;
}

void lmi_push_end(lmi_push *push)
{
    lmi_body *body = push->body;
    if (!push->moved) {
        return;
    }
    push->centre = quad_add(push->centre, push->drift); /* about another point the spin would move the body */
    lm_dvec3 twist = lm_dvec3_zero();
    for (uint32_t k = 0; k < push->count; k++) {
        uint32_t n = place_of(push, k);
        float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        if (!(v[3] > 0.0f)) {
            continue;
        }
        quad arm = quad_sub(quad_load(x), push->centre), dx = lmi_push_move(push, arm),
             dv = lmi_push_velocity(push, arm);
        for (int i = 0; i < 3; i++) {
            x[i] = lmi_limit(x[i] + quad_at(dx, i), LM_MAX_COORDINATE);
            v[i] = lmi_limit(v[i] + quad_at(dv, i), LM_MAX_SPEED);
        }
        lm_dvec3 turned = quad_to(quad_cross(push->turn, arm));
        twist = dvec_add(twist, dvec_scale(dvec_cross(turned, dvec(v[0], v[1], v[2])), v[3]));
    }
    /* Turned without its velocities, it has another spin. */
    push->twist = dvec_add(push->twist, dvec_scale(twist, body->mean_mass));
    quad zero = {0};
    push->centre = quad_add(push->centre, push->move);
    push->drift = push->move = push->turn = push->velocity = push->spin = zero;
    push->moved = false;
}

static double inertia_size(const lmi_push *push)
{
    const lmi_body *body = push->body;
    return push->mover
               ? push->inertia
               : (body->motion.inertia[0] + body->motion.inertia[1] + body->motion.inertia[2]) * body->mean_mass;
}

double lmi_push_twist_share(const lmi_push *a, const lmi_push *b)
{
    double one = inertia_size(a), other = inertia_size(b);
    return one + other > 0.0 ? one / (one + other) : 0.5;
}

void lmi_push_twist(lmi_push *push, lm_dvec3 twist, double speed)
{
    push->twist = dvec_add(push->twist, twist);
    push->fastest = lmi_max(push->fastest, speed);
    push->twisted = true;
}

void lmi_push_untwist(lmi_push *push)
{
    lmi_body *body = push->body;
    double mass = 0.0, first[3] = {0}, second[6] = {0};
    if (!push->twisted) {
        return;
    }
    for (uint32_t k = 0; k < push->count; k++) {
        uint32_t n = place_of(push, k);
        const float *x = body->x + (size_t)n * 4;
        double m = body->v[(size_t)n * 4 + 3];
        mass += m;
        for (int i = 0; i < 3; i++) {
            first[i] += m * x[i];
            second[i] += m * x[i] * x[i];
        }
        second[3] += m * x[0] * x[1], second[4] += m * x[1] * x[2], second[5] += m * x[2] * x[0];
    }
    double c[3] = {first[0] / mass, first[1] / mass, first[2] / mass}, inertia[6];
    inertia_of(mass, c, second, inertia);
    lm_dvec3 spin = lmi_dmat_solve_spin(inertia, dvec_scale(push->twist, -1.0 / body->mean_mass));
    double turned = 0.5 * body->rest_size * dvec_length(spin), most = LMI_MOST_UNTWIST * push->fastest;
    spin = dvec_scale(spin, turned > most ? most / turned : 1.0);
    quad centre = quad_from(dvec(c[0], c[1], c[2])), turn = quad_from(spin);
    for (uint32_t k = 0; k < push->count; k++) {
        uint32_t n = place_of(push, k);
        float *v = body->v + (size_t)n * 4;
        quad dv = quad_cross(turn, quad_sub(quad_load(body->x + (size_t)n * 4), centre));
        for (int i = 0; i < 3 && v[3] > 0.0f; i++) {
            v[i] = lmi_limit(v[i] + quad_at(dv, i), LM_MAX_SPEED);
        }
    }
    push->twist = lm_dvec3_zero();
    push->fastest = 0.0;
    push->twisted = false;
}

void lmi_push_impulse(lmi_push *push, quad arm, quad impulse)
{
    push->velocity = quad_add_scaled(push->velocity, push->rigid * push->inverse_mass, impulse);
    push->mean = quad_add_scaled(push->mean, push->inverse_mass, impulse);
    push->spin = quad_add_scaled(push->spin, push->rigid, lmi_push_turning(push, quad_cross(arm, impulse)));
    push->moved = true;
}

void lmi_push_shift(lmi_push *push, quad arm, quad shift)
{
    push->drift = quad_add_scaled(push->drift, (1.0f - push->rigid) * push->inverse_mass, shift);
    push->move = quad_add_scaled(push->move, push->rigid * push->inverse_mass, shift);
    push->turn = quad_add_scaled(push->turn, push->rigid, lmi_push_turning(push, quad_cross(arm, shift)));
    float angle = quad_length(push->turn);
    push->turn = quad_scale(push->turn, angle > MOST_TURN ? MOST_TURN / angle : 1.0f);
    push->moved = true;
}
