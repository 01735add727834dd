/*
 * Joints in a substep.
 *
 * Reads ends as rigid bodies (side.c), where they were at the beginning of the substep; writes their particles, forces of joints, what
 * movers and bones are given, and which joints have broken.
 *
 * A joint has up to six rows. A row is a speed that should be 0, and how far its way is from 0:
 *
 *     u = l (v_b - v_a) + a_b w_b - a_a w_a          C, with dC/dt = u
 *
 * A spring k and a damper c, stepped implicitly, give the impulse  L = -h k (C + h u') - h c u'  where u' = u + K L is the speed with
 * all impulses given, so that
 *
 *     (K + g) L = -(u + b),    g = 1 / (h (c + h k)),  b = g h k C
 *
 * and for a joint that is as stiff as can be g = 0, b = C / h: what it holds is where it should be at the end of the substep. The rows of
 * a joint are solved together, directly, and so are those of all joints whose patches are the same or have nothing in common
 * (joint_direct.c). Where patches overlap, joints are solved one after the other until nothing changes any more, each with what it has
 * been given so far, L, in the right-hand side: -(u + b + g L); they begin with the forces of the last substep.
 */
#include "base/compiler.h"
#include "collide/rigid.h"
#include "collide/wrench.h"
#include "joint/joining.h"
#include "skeleton/skeleton.h"
#include "world/in_step.h"

#include <float.h>
#include <string.h>

/* Sweeps, at most; they end when the largest change in one is below this, m/s or rad/s, and as much again for each m/s that things
 * move: what velocities are rounded to. */
#define SWEEPS 32
#define STILL 2e-6

/* A stiff joint whose ends are apart draws them together at most at this speed, m/s and rad/s. */
#define CLOSING 4.0
#define TURNING 10.0

/* --- rows --- */

static lm_dvec3 column(const dmat3 *m, int n) { return dvec(m->m[0][n], m->m[1][n], m->m[2][n]); }

static lmi_row *add_row(lmi_joined *j, lm_dvec3 direction, bool angular, double error)
{
    lmi_row *r = &j->rows[j->count++];
    *r = (lmi_row){.direction = direction, .angular = angular, .bias = error};
    for (int e = 0; e < 2; e++) {
        const lmi_side *s = &j->side[e];
        r->lever[e] = angular ? direction : dvec_cross(dvec_sub(j->point, s->centre), direction);
        r->turns[e] = lmi_side_turn(s, r->lever[e]);
    }
    *(angular ? &j->turned : &j->apart) += error * error;
    return r;
}

static void add_place(lmi_joined *j, const lmi_joint *joint)
{
    static const lm_dvec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    lm_dvec3 way = dvec_sub(j->side[1].anchor, j->side[0].anchor);
    double length = dvec_length(way);
    switch (joint->kind) {
    case LM_JOINT_DISTANCE:
        way = length > 1e-9 ? dvec_scale(way, 1.0 / length) : column(&j->side[0].frame, 0);
        add_row(j, way, false, length - joint->length);
        break;
    case LM_JOINT_SLIDER:
        for (int n = 1; n < 3; n++) {
            lm_dvec3 across = column(&j->side[0].frame, n);
            add_row(j, across, false, dvec_dot(way, across));
        }
        break;
    default:
        for (int n = 0; n < 3; n++) {
            add_row(j, axes[n], false, dvec_dot(way, axes[n]));
        }
    }
}

/* The turn from one frame to another: its angle along its axis. */
static lm_dvec3 turn_between(const dmat3 *from, const dmat3 *to)
{
    double r[3][3];
    for (int i = 0; i < 9; i++) {
        const double *a = to->m[i / 3], *b = from->m[i % 3];
        r[i / 3][i % 3] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    dmat3 turn;
    memcpy(turn.m, r, sizeof r);
    lm_quat q = lmi_quat_from_dmat(&turn);
    /* Twice the vector part in the half space of w: the angle itself for small ones, and never the long way. */
    double sign = q.w < 0.0f ? -2.0 : 2.0;
    lm_dvec3 exact = dvec(0.5 * (r[2][1] - r[1][2]), 0.5 * (r[0][2] - r[2][0]), 0.5 * (r[1][0] - r[0][1]));
    return dvec_length(exact) < 0.1 && q.w * q.w > 0.5f ? exact : dvec_scale(dvec(q.x, q.y, q.z), sign);
}

static void add_turns(lmi_joined *j, const lmi_joint *joint)
{
    static const lm_dvec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    if (joint->kind == LM_JOINT_HINGE) {
        lm_dvec3 off = dvec_cross(column(&j->side[0].frame, 0), column(&j->side[1].frame, 0));
        for (int n = 1; n < 3; n++) {
            lm_dvec3 across = column(&j->side[0].frame, n);
            add_row(j, across, true, dvec_dot(off, across));
        }
    } else if (joint->kind == LM_JOINT_GLUE || joint->kind == LM_JOINT_SLIDER) {
        lm_dvec3 off = turn_between(&j->side[0].frame, &j->side[1].frame);
        for (int n = 0; n < 3; n++) {
            add_row(j, axes[n], true, dvec_dot(off, axes[n]));
        }
    }
}

void lmi_joint_errors(const lmi_joint *joint, const lmi_side *a, const lmi_side *b, float *apart, float *turned)
{
    lmi_joined j = {.side = {*a, *b}};
    add_place(&j, joint);
    add_turns(&j, joint);
    *apart = (float)sqrt(j.apart);
    *turned = (float)sqrt(j.turned);
}

/* --- springs --- */

static double inertia_about(const double i[6], lm_dvec3 d)
{
    return i[0] * d.x * d.x + i[1] * d.y * d.y + i[2] * d.z * d.z +
           2.0 * (i[3] * d.x * d.y + i[4] * d.y * d.z + i[5] * d.z * d.x);
}

/* The mass, or the inertia about a direction, that a spring holds: those of the bodies as a whole, against each other. */
static double held_mass(const lm_world *world, const lmi_joint *joint, const lmi_side side[2], const lmi_row *r)
{
    double inverse = 0.0;
    for (int e = 0; e < 2; e++) {
        if (joint->end[e].body != LMI_NONE) {
            const lmi_body *body = lmi_body_at(world, joint->end[e].body);
            double about = inertia_about(body->motion.inertia, r->direction);
            double mass = r->angular ? about * body->mean_mass : body->total_mass;
            inverse += mass > 0.0 ? 1.0 / mass : 0.0;
        } else if (side[e].mover) {
            inverse += r->angular ? 1.0 / inertia_about(side[e].inertia, r->direction) : side[e].inverse_mass;
        }
    }
    return inverse > 0.0 ? 1.0 / inverse : 0.0;
}

static double limit(double a, double most) { return a < most ? lmi_max(a, -most) : most; }

static void soften(const lm_world *world, const lmi_joint *joint, const lmi_side side[2], lmi_row *r, double h)
{
    double mass = joint->hertz > 0.0f ? held_mass(world, joint, side, r) : 0.0;
    if (mass > 0.0) {
        double omega = 6.283185307179586 * joint->hertz, k = mass * omega * omega;
        double c = 2.0 * joint->damping_ratio * omega * mass;
        r->soft = 1.0 / (h * (c + h * k));
        r->bias *= r->soft * h * k;
    } else {
        r->bias = limit(r->bias / h, r->angular ? TURNING : CLOSING);
    }
}

/* --- solving --- */

double lmi_row_mobility(const lmi_joined *j, const lmi_row *a, const lmi_row *b)
{
    double inverse = j->side[0].inverse_mass + j->side[1].inverse_mass;
    double sum = a->angular || b->angular ? 0.0 : inverse * dvec_dot(a->direction, b->direction);
    return sum + dvec_dot(a->lever[0], b->turns[0]) + dvec_dot(a->lever[1], b->turns[1]);
}

static void factorise(lmi_joined *j)
{
    double scale = 0.0;
    for (int n = 0; n < j->count; n++) {
        scale = lmi_max(scale, lmi_row_mobility(j, &j->rows[n], &j->rows[n]));
    }
    for (int n = 0; n < j->count; n++) {
        for (int k = 0; k <= n; k++) {
            double sum = lmi_row_mobility(j, &j->rows[n], &j->rows[k]) + (n == k ? j->rows[n].soft : 0.0);
            for (int i = 0; i < k; i++) {
                sum -= j->factor[n][i] * j->factor[k][i] * j->factor[i][i];
            }
            if (n == k) {
                j->factor[n][n] = sum > 1e-12 * scale ? sum : 0.0;
            } else {
                j->factor[n][k] = j->factor[k][k] > 0.0 ? sum / j->factor[k][k] : 0.0;
            }
        }
    }
}

/* In place: what is lacking becomes impulses. */
static void divide(const lmi_joined *j, double x[6])
{
    for (int n = 0; n < j->count; n++) {
        for (int i = 0; i < n; i++) {
            x[n] -= j->factor[n][i] * x[i];
        }
    }
    for (int n = j->count - 1; n >= 0; n--) {
        x[n] = j->factor[n][n] > 0.0 ? x[n] / j->factor[n][n] : 0.0;
        for (int i = n + 1; i < j->count; i++) {
            x[n] -= j->factor[i][n] * x[i];
        }
    }
}

/* Gives both ends the impulses of the rows. */
static void give(const lm_world *world, lmi_joined *j, const double more[6], double h)
{
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, j->joint);
    for (int e = 0; e < 2; e++) {
        lm_dvec3 impulse = lm_dvec3_zero(), moment = lm_dvec3_zero();
        double sign = e ? 1.0 : -1.0;
        for (int n = 0; n < j->count; n++) {
            const lmi_row *r = &j->rows[n];
            moment = dvec_add(moment, dvec_scale(r->lever[e], sign * more[n]));
            impulse = r->angular ? impulse : dvec_add(impulse, dvec_scale(r->direction, sign * more[n]));
        }
        lmi_side_give(&j->side[e], &joint->end[e], impulse, moment, h);
    }
    for (int n = 0; n < j->count; n++) {
        j->rows[n].given += more[n];
    }
}

static double speed_of(const lmi_joined *j, const lmi_row *r)
{
    double u = r->angular ? 0.0 : dvec_dot(r->direction, dvec_sub(j->side[1].velocity, j->side[0].velocity));
    return u + dvec_dot(r->lever[1], j->side[1].spin) - dvec_dot(r->lever[0], j->side[0].spin);
}

/* What a joint lacks, row by row; returns the largest of it, over how fast its ends move. */
static double look(const lm_world *world, lmi_joined *j, double x[6])
{
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, j->joint);
    double most = 0.0;
    lmi_side_look(&j->side[0], &joint->end[0]);
    lmi_side_look(&j->side[1], &joint->end[1]);
    for (int n = 0; n < j->count; n++) {
        const lmi_row *r = &j->rows[n];
        x[n] = -(speed_of(j, r) + r->bias + r->soft * r->given);
        most = lmi_max(most, j->factor[n][n] > 0.0 ? fabs(x[n]) : 0.0);
    }
    return most / (1.0 + dvec_length(j->side[0].velocity) + dvec_length(j->side[1].velocity));
}

/* One joint in a sweep; returns what it lacked. */
static double solve_one(const lm_world *world, lmi_joined *j, double h)
{
    double x[6] = {0}, most = look(world, j, x);
    if (most > STILL) {
        divide(j, x);
        give(world, j, x, h);
    }
    return most;
}

/* --- a substep --- */

/* The point at which both ends are pushed: a slider is pushed where b is, however far that is from a. */
static lm_dvec3 point_of(const lmi_joint *joint, const lmi_side side[2])
{
    return joint->kind == LM_JOINT_SLIDER ? side[1].anchor : dvec_scale(dvec_add(side[0].anchor, side[1].anchor), 0.5);
}

static bool is_out(const lm_world *world, const lmi_joint_end *end)
{
    return end->body != LMI_NONE && lmi_body_at(world, end->body)->disabled;
}

static bool is_asleep(const lm_world *world, const lmi_joint_end *end)
{
    if (end->mover != LMI_NONE) {
        return !lmi_rigid_yields(LMI_POOL_AT(&world->movers, lmi_mover, end->mover));
    }
    return end->body == LMI_NONE || lmi_body_at(world, end->body)->asleep;
}

static void begin(const lmi_step *step, uint32_t index, lmi_joined *j)
{
    const lm_world *world = step->world;
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, index);
    memset(j, 0, sizeof *j);
    j->joint = index;
    j->side[0] = lmi_side_of(world, &joint->end[0], step->h);
    j->side[1] = lmi_side_of(world, &joint->end[1], step->h);
    j->point = point_of(joint, j->side);
    add_place(j, joint);
    add_turns(j, joint);
    for (int n = 0; n < j->count; n++) {
        soften(world, joint, j->side, &j->rows[n], step->h);
    }
    factorise(j);
}

/* What the last substep gave, along the rows. */
static void warm_up(const lm_world *world, lmi_joined *j, double h)
{
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, j->joint);
    double first[6] = {0};
    for (int n = 0; n < j->count; n++) {
        const lmi_row *r = &j->rows[n];
        double force = dvec_dot(r->direction, dvec_from(r->angular ? joint->torque : joint->force));
        first[n] = j->factor[n][n] > 0.0 ? h * force : 0.0;
    }
    give(world, j, first, h);
}

/* Whoever does not yield is given what the other end was; a body that sleeps wakes. What a body gets from an end that is no body, or from
 * a patch that does not yield (side.c), comes from outside. */
static void tell(lm_world *world, const lmi_joined *j, lm_dvec3 impulse, lm_dvec3 moment)
{
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, j->joint);
    for (int e = 0; e < 2; e++) {
        const lmi_joint_end *end = &joint->end[e];
        double sign = e ? -1.0 : 1.0; /* what the other end got */
        lm_dvec3 push = dvec_scale(impulse, sign), turn = dvec_scale(moment, sign);
        if (end->body != LMI_NONE) {
            lmi_body *body = lmi_body_in_step(world, end->body);
            body->roused = body->roused || body->asleep;
        } else if (end->mover != LMI_NONE) {
            lmi_wrench_of_mover(world, end->mover, j->point, push, turn);
        } else if (end->skeleton != LMI_NONE) {
            const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, end->skeleton);
            lmi_wrench_of_bone(&s->bones[end->bone], j->point, push, turn);
        }
        if (!j->side[e].body && j->side[1 - e].body) {
            lmi_body *body = j->side[1 - e].body;
            body->outside_impulse = dvec_add(body->outside_impulse, push);
        }
    }
}

static void end(lm_world *world, const lmi_joined *j, double h)
{
    lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, j->joint);
    lm_dvec3 impulse = lm_dvec3_zero(), moment = lm_dvec3_zero();
    for (int n = 0; n < j->count; n++) {
        lm_dvec3 *sum = j->rows[n].angular ? &moment : &impulse;
        *sum = dvec_add(*sum, dvec_scale(j->rows[n].direction, j->rows[n].given));
    }
    tell(world, j, impulse, moment);
    joint->force = vec_from(dvec_limit(dvec_scale(impulse, 1.0 / h), FLT_MAX));
    joint->torque = vec_from(dvec_limit(dvec_scale(moment, 1.0 / h), FLT_MAX));
    if (dvec_length(impulse) > joint->max_force * h || dvec_length(moment) > joint->max_torque * h) {
        joint->broken = joint->broke = true;
    }
}

int lmi_joint_rows(lm_joint_kind kind)
{
    static const int rows[LM_JOINT_KIND_COUNT] = {
        [LM_JOINT_GLUE] = 6, [LM_JOINT_BALL] = 3, [LM_JOINT_HINGE] = 5, [LM_JOINT_DISTANCE] = 1, [LM_JOINT_SLIDER] = 5};
    return rows[kind];
}

bool lmi_joints_reserve(lm_world *world)
{
    if (world->joints.alive == 0) {
        return true;
    }
    if (!world->joining) {
        world->joining = lmi_allocate(&world->memory, 1, sizeof *world->joining);
    }
    lmi_joining *all = world->joining;
    if (!all) {
        return false;
    }
    void *joined = all->joined;
    bool ok = lmi_reserve(&world->memory, &joined, &all->capacity, world->joints.alive, sizeof *all->joined);
    all->joined = joined;
    return ok && lmi_direct_reserve(world, all);
}

void lmi_joints_begin(lm_world *world)
{
    LMI_POOL_EACH(&world->joints, n) { LMI_POOL_AT(&world->joints, lmi_joint, n)->broke = false; }
}

/* Who acts in this substep. */
static void begin_all(const lmi_step *step, lmi_joining *all)
{
    const lm_world *world = step->world;
    all->count = 0;
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
        bool out = is_out(world, &joint->end[0]) || is_out(world, &joint->end[1]);
        bool sleeps = is_asleep(world, &joint->end[0]) && is_asleep(world, &joint->end[1]);
        if (lmi_joint_acts(joint) && !out && !sleeps) {
            begin(step, n, &all->joined[all->count++]);
        }
    }
}

/* One after the other, there and back. */
static void sweep_all(const lm_world *world, lmi_joining *all, double h)
{
    double most = 1.0;
    for (uint32_t n = 0; n < all->count; n++) {
        warm_up(world, &all->joined[n], h);
    }
    for (int sweep = 0; sweep < SWEEPS && most > STILL; sweep++) {
        most = 0.0;
        for (uint32_t n = 0; n < all->count; n++) {
            uint32_t at = sweep & 1 ? all->count - 1 - n : n;
            most = lmi_max(most, solve_one(world, &all->joined[at], h));
        }
    }
}

/* All at once, and once more for what rounding left. */
static void solve_all(const lm_world *world, lmi_joining *all, double h)
{
    lmi_direct_factorise(world, all);
    double most = 1.0;
    for (int pass = 0; pass < 2 && most > STILL; pass++) {
        most = 0.0;
        for (uint32_t n = 0, row = 0; n < all->count; n++) {
            double x[6] = {0};
            most = lmi_max(most, look(world, &all->joined[n], x));
            memcpy(all->lacks + row, x, (size_t)all->joined[n].count * sizeof *x);
            row += (uint32_t)all->joined[n].count;
        }
        if (most > STILL) {
            lmi_direct_solve(all);
            for (uint32_t n = 0, row = 0; n < all->count; n++) {
                give(world, &all->joined[n], all->lacks + row, h);
                row += (uint32_t)all->joined[n].count;
            }
        }
    }
}

void lmi_joints_solve(const lmi_step *step)
{
    lmi_joining *all = step->world->joining;
    if (step->world->joints.alive == 0) {
        return;
    }
    begin_all(step, all);
    if (all->direct) {
        solve_all(step->world, all, step->h);
    } else {
        sweep_all(step->world, all, step->h);
    }
    for (uint32_t n = 0; n < all->count; n++) {
        end(step->world, &all->joined[n], step->h);
    }
}

void lmi_joints_free(lm_world *world)
{
    lmi_joining *all = world->joining;
    if (all) {
        lmi_release(&world->memory, all->joined, all->capacity, sizeof *all->joined);
        lmi_direct_free(world, all);
        lmi_release(&world->memory, all, 1, sizeof *all);
        world->joining = NULL;
    }
}
