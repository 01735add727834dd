/*
 * How movers with mass and the particles that they carry move together.
 *
 * A particle of mass m is held by movers k with shares s_k (one, but for particles that several bones share). What it is given, its
 * movers lose, each by its share. A firm one is to be where they carry it, and to move as that place does:
 *
 *     u = sum s_k (V_k + w_k x a_k)          a_k: from the centre of mover k to where it carries the particle
 *
 * A soft one is on a spring, stepped implicitly (world/held.h): its velocity becomes v + c + b u', where u' is what is added to u, at the
 * particle's own place; so also with what contacts and joints give its movers later in the substep. With J_k u = s_k (V_k + w_k x a_k), and b = 1 for firm ones, the velocities that keep momentum and angular momentum
 * of each mover with its shares of particles are those of
 *
 *     (M_k + sum m b J_k^T J_k) d_k + sum over l of (sum m b J_k^T J_l) d_l = what is lacking
 *
 * symmetric and positive, and so stable whatever the masses. It is solved as a skyline (joint_direct.c) in the order of slots. The first
 * time movers go on by h d; then the places of particles are others, and two more solutions, which move nothing, make up for that: what
 * is lacking is measured where all are at the end of the substep, where angular momentum is to be right.
 */
#include "joint/hold.h"
#include "collide/rigid.h"
#include "collide/wrench.h"
#include "joint/joining.h"
#include "skeleton/skeleton.h"
#include "world/in_step.h"
#include "world/motion.h"

#include <string.h>

#define SOLUTIONS 3

typedef struct carrier {
    uint32_t slot;   /* of the mover */
    uint32_t first;  /* the first carrier that has a share in one of its particles, or itself */
    lmi_holder from; /* where it was before it was settled, and how it moved */
    double lacks[6];
    size_t row; /* of its first row among all */
} carrier;

typedef struct lmi_holding {
    carrier *carriers;
    uint32_t count, capacity;
    lmi_joining system;
} lmi_holding;

/* --- particles and who holds them --- */

/* A particle of a pin, or of a skeleton. */
typedef struct part {
    lmi_body *body;
    uint32_t place, links;
    double mass;
    bool firm;
    uint32_t mover; /* of a pin, with the target in its frame */
    lm_dvec3 target;
    const lmi_skeleton *skeleton; /* else the n-th that it holds */
    uint32_t n;
} part;

/* One of those that hold a particle. */
typedef struct link {
    uint32_t carrier; /* or LMI_NONE: nothing pushes it */
    uint32_t mover;   /* that it is on, or LMI_NONE: a bone that goes as told */
    double share;
    lm_dvec3 local; /* in the mover's frame, or the bone's */
    const lmi_bone *bone;
} link;

typedef struct work {
    const lmi_step *step;
    lmi_holding *all;
    bool first;  /* springs pull, once in a substep */
    bool matrix; /* is to be made, and movers go on: the first solution */
} work;

static link link_of(const lm_world *world, const part *p, uint32_t k)
{
    link l = {.carrier = LMI_NONE, .mover = p->mover, .share = 1.0, .local = p->target};
    if (p->skeleton) {
        const lmi_bone_link *of = &p->skeleton->links[p->skeleton->offsets[p->n] + k];
        l.bone = &p->skeleton->bones[of->bone];
        l.mover = l.bone->mover;
        l.share = of->share;
        l.local = of->local;
        if (l.mover != LMI_NONE) {
            dmat3 turn = lmi_frame_rotation(&l.bone->seat);
            l.local = dvec_add(l.bone->seat.position, dmat_apply(&turn, of->local));
        }
    }
    if (l.mover != LMI_NONE) {
        const lmi_mover *mover = LMI_POOL_AT(&world->movers, lmi_mover, l.mover);
        l.carrier = lmi_rigid_yields(mover) ? mover->carrier : LMI_NONE;
    }
    return l;
}

/* Where a link carries its particle, and how that moves; `before` all was settled, or now. */
static lm_dvec3 carry(const work *w, const link *l, bool before, lm_dvec3 *velocity)
{
    lmi_holder holder;
    if (l->mover == LMI_NONE) {
        holder = lmi_bone_carries(l->bone);
    } else if (before && l->carrier != LMI_NONE) {
        holder = w->all->carriers[l->carrier].from;
    } else {
        holder = lmi_mover_carries(LMI_POOL_AT(&w->step->world->movers, lmi_mover, l->mover));
    }
    return lmi_carry(&holder, l->local, velocity);
}

static lm_dvec3 target_of(const work *w, const part *p, bool before, lm_dvec3 *velocity)
{
    lm_dvec3 target = lm_dvec3_zero();
    *velocity = target;
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        lm_dvec3 moves, at = carry(w, &l, before, &moves);
        target = dvec_add(target, dvec_scale(at, l.share));
        *velocity = dvec_add(*velocity, dvec_scale(moves, l.share));
    }
    return target;
}

typedef void visit(const work *w, const part *p);

static bool is_pinned(const lm_world *world, const lmi_body *body, uint32_t place)
{
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        for (uint32_t k = 0; k < pin->count; k++) {
            if (pin->particles[k] == place) {
                return true;
            }
        }
    }
    return false;
}

static void each_of_body(const work *w, lmi_body *body, visit *call)
{
    const lm_world *world = w->step->world;
    const lmi_skeleton *s =
        body->skeleton == LMI_NONE ? NULL : LMI_POOL_AT(&world->skeletons, lmi_skeleton, body->skeleton);
    part p = {.body = body, .mover = LMI_NONE, .skeleton = s};
    for (p.n = 0; s && p.n < s->particle_count; p.n++) {
        p.place = s->particles[p.n];
        p.firm = s->weights[p.n] >= 1.0f;
        p.links = s->offsets[p.n + 1] - s->offsets[p.n];
        p.mass = (double)body->v[(size_t)p.place * 4 + 3] * body->mean_mass;
        if (lmi_bones_yield(world, s, p.n) && !is_pinned(world, body, p.place)) {
            call(w, &p);
        }
    }
    p = (part){.body = body, .links = 1, .firm = true};
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        p.mover = pin->mover;
        for (uint32_t k = 0; k < pin->count && lmi_pin_is_pushed(world, pin); k++) {
            p.place = pin->particles[k];
            p.target = pin->targets[k];
            p.mass = (double)body->v[(size_t)p.place * 4 + 3] * body->mean_mass;
            call(w, &p);
        }
    }
}

static void each(const work *w, visit *call)
{
    LMI_POOL_EACH(&w->step->world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(w->step->world, n);
        if ((body->skeleton != LMI_NONE || body->first_pin != LMI_NONE) && !lmi_body_is_out(body)) {
            each_of_body(w, body, call);
        }
    }
}

static lm_dvec3 place_of(const part *p)
{
    const float *x = p->body->x + (size_t)p->place * 4;
    return dvec_add(p->body->origin, dvec(x[0], x[1], x[2]));
}

static lm_dvec3 velocity_of(const part *p)
{
    const float *v = p->body->v + (size_t)p->place * 4;
    return dvec(v[0], v[1], v[2]);
}

/* --- what it becomes --- */

/* A particle when all is settled: where it is, how it moves, and how much of what is added to u it takes. */
typedef struct outcome {
    lm_dvec3 at, velocity;
    double share;
} outcome;

static lm_dvec3 arm_of(const work *w, const link *l, const lm_dvec3 *own)
{
    const lm_dvec3 centre = LMI_POOL_AT(&w->step->world->movers, lmi_mover, l->mover)->pose.position;
    lm_dvec3 moves;
    return dvec_sub(own ? *own : carry(w, l, false, &moves), centre);
}

/* h times what the spring of a soft particle gives for each m/s that it lags behind. */
static double brake_of(const work *w, const part *p)
{
    const double weight = p->skeleton->weights[p->n], omega = 6.283185307179586 * (double)p->skeleton->hertz;
    const double pull = w->step->h * omega * sqrt(weight / (1.0 - weight));
    return pull * (pull + 2.0 * (double)p->skeleton->damping_ratio);
}

/* How much of what is added to u a particle takes. */
static double share_of(const work *w, const part *p)
{
    double brake = p->firm ? 0.0 : brake_of(w, p);
    return p->firm ? 1.0 : brake / (1.0 + brake);
}

static lm_dvec3 from_of(const work *w, const part *p)
{
    return dvec_sub(place_of(p), dvec_scale(velocity_of(p), w->step->h));
}

static outcome outcome_of(const work *w, const part *p)
{
    outcome o = {.share = share_of(w, p)};
    if (p->firm) {
        o.at = target_of(w, p, false, &o.velocity);
        return o;
    }
    o.at = from_of(w, p); /* what it is given acts where it came from */
    o.velocity = velocity_of(p);
    if (w->first) {
        const float *x0 = p->body->x + (size_t)p->place * 4, *v0 = p->body->v + (size_t)p->place * 4;
        float x[3] = {x0[0], x0[1], x0[2]}, v[3] = {v0[0], v0[1], v0[2]};
        lm_dvec3 moves, target = target_of(w, p, true, &moves);
        lmi_pull_particle(x, v, p->body->origin, target, moves, p->skeleton->weights[p->n],
                          6.283185307179586 * (double)p->skeleton->hertz, p->skeleton->damping_ratio, w->step->h);
        o.velocity = dvec(v[0], v[1], v[2]);
    }
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        if (l.carrier != LMI_NONE) {
            const lmi_holder *was = &w->all->carriers[l.carrier].from;
            const lmi_mover *mover = LMI_POOL_AT(&w->step->world->movers, lmi_mover, l.mover);
            lm_dvec3 spin = dvec_sub(dvec_from(mover->spin), was->spin);
            lm_dvec3 more = dvec_add(dvec_sub(dvec_from(mover->velocity), was->velocity),
                                     dvec_cross(spin, dvec_sub(o.at, was->position)));
            o.velocity = dvec_add(o.velocity, dvec_scale(more, o.share * l.share));
        }
    }
    return o;
}

/* --- the equations --- */

/* Adds m b J_k^T J_l to rows of k. */
static void couple(const work *w, const carrier *k, const carrier *l, double mass, lm_dvec3 a, lm_dvec3 b)
{
    lmi_joining *s = &w->all->system;
    const double x[3][3] = {{0.0, -a.z, a.y}, {a.z, 0.0, -a.x}, {-a.y, a.x, 0.0}};
    const double y[3][3] = {{0.0, -b.z, b.y}, {b.z, 0.0, -b.x}, {-b.y, b.x, 0.0}};
    const uint32_t row = 6 * (uint32_t)(k - w->all->carriers), column = 6 * (uint32_t)(l - w->all->carriers);
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t j = 0; j < 6 && column + j <= row + i; j++) {
            /* J = [1, -x]: velocity at the arm's end of a velocity and a spin. */
            double sum = i < 3 && j < 3 ? (double)(i == j) : 0.0;
            sum -= i < 3 && j >= 3 ? y[i][j - 3] : 0.0;
            sum += i >= 3 && j < 3 ? x[i - 3][j] : 0.0;
            for (int n = 0; i >= 3 && j >= 3 && n < 3; n++) {
                sum += x[n][i - 3] * y[n][j - 3];
            }
            s->factor[s->row[row + i] + column + j] += mass * sum;
        }
    }
}

static void add(double to[6], lm_dvec3 linear, lm_dvec3 angular)
{
    const double values[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int i = 0; i < 6; i++) {
        to[i] += values[i];
    }
}

/* What its movers lose by a particle. */
static void weigh(const work *w, const part *p)
{
    const lm_world *world = w->step->world;
    const outcome o = outcome_of(w, p);
    const lm_dvec3 was = p->firm ? place_of(p) : o.at, v = velocity_of(p);
    for (uint32_t k = 0; k < p->links; k++) {
        link one = link_of(world, p, k);
        if (one.carrier == LMI_NONE) {
            continue;
        }
        carrier *c = &w->all->carriers[one.carrier];
        const lm_dvec3 centre = LMI_POOL_AT(&world->movers, lmi_mover, one.mover)->pose.position;
        lm_dvec3 before = dvec_cross(dvec_sub(was, centre), v);
        lm_dvec3 after = dvec_cross(dvec_sub(o.at, centre), o.velocity);
        double mass = p->mass * one.share;
        add(c->lacks, dvec_scale(dvec_sub(v, o.velocity), mass), dvec_scale(dvec_sub(before, after), mass));
        for (uint32_t n = 0; n < p->links && w->matrix; n++) {
            link other = link_of(world, p, n);
            if (other.carrier <= one.carrier) {
                const lm_dvec3 *own = p->firm ? NULL : &o.at;
                couple(w, c, &w->all->carriers[other.carrier], mass * o.share * other.share, arm_of(w, &one, own),
                       arm_of(w, &other, own));
            }
        }
    }
}

static lm_dvec3 apply(const double i[6], lm_dvec3 w)
{
    return dvec(i[0] * w.x + i[3] * w.y + i[5] * w.z, i[3] * w.x + i[1] * w.y + i[4] * w.z,
                i[5] * w.x + i[4] * w.y + i[2] * w.z);
}

/* What movers lack by themselves; and their own rows. */
static void begin(const work *w)
{
    lmi_joining *s = &w->all->system;
    if (w->matrix) {
        memset(s->factor, 0, s->factor_capacity * sizeof *s->factor);
    }
    for (uint32_t n = 0; n < w->all->count; n++) {
        carrier *c = &w->all->carriers[n];
        const lmi_mover *m = LMI_POOL_AT(&w->step->world->movers, lmi_mover, c->slot);
        double before[6], now[6];
        lmi_rigid_inertia(m, &c->from.rotation, before);
        lmi_rigid_inertia(m, &m->rotation, now);
        lm_dvec3 velocity = dvec_from(m->velocity), spin = dvec_from(m->spin);
        lm_dvec3 lost = dvec_scale(dvec_sub(c->from.velocity, velocity), m->mass);
        lm_dvec3 moved = dvec_sub(c->from.position, m->pose.position);
        lm_dvec3 turned = dvec_sub(apply(before, c->from.spin), apply(now, spin));
        memset(c->lacks, 0, sizeof c->lacks);
        add(c->lacks, lost, dvec_add(turned, dvec_scale(dvec_cross(moved, c->from.velocity), m->mass)));
        static const int at[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
        for (uint32_t i = 0; i < 6 && w->matrix; i++) {
            double *row = s->factor + s->row[6 * n + i] + 6 * n;
            for (uint32_t j = 0; j <= i; j++) {
                row[j] = i >= 3 && j >= 3 ? now[at[i - 3][j - 3]] : i == j ? (double)m->mass : 0.0;
            }
        }
    }
}

/* How far the centre of mass of a particle went, by its movers' shares; and the mass of these. */
static void balance(const work *w, const part *p)
{
    const outcome o = outcome_of(w, p);
    const lm_dvec3 moved =
        p->firm ? dvec_sub(o.at, place_of(p)) : dvec_scale(dvec_sub(o.velocity, velocity_of(p)), w->step->h);
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        if (l.carrier != LMI_NONE) {
            double mass = p->mass * l.share;
            add(w->all->carriers[l.carrier].lacks, dvec_scale(moved, -mass), dvec(p->firm ? mass : 0.0, 0.0, 0.0));
        }
    }
}

/* Movers went straight on, and particles on circles about them: the centre of mass of all stays where momentum has led it. */
static void centre(const work *w)
{
    for (uint32_t n = 0; n < w->all->count; n++) {
        memset(w->all->carriers[n].lacks, 0, sizeof w->all->carriers[n].lacks);
    }
    each(w, balance);
    for (uint32_t n = 0; n < w->all->count; n++) {
        const carrier *c = &w->all->carriers[n];
        lmi_mover *m = LMI_POOL_AT(&w->step->world->movers, lmi_mover, c->slot);
        lm_dvec3 moved = dvec_scale(dvec_sub(m->pose.position, c->from.position), m->mass);
        lm_dvec3 lacks = dvec_sub(dvec(c->lacks[0], c->lacks[1], c->lacks[2]), moved);
        if (lmi_rigid_yields(m)) {
            lmi_rigid_move(m, dvec_scale(lacks, 1.0 / ((double)m->mass + c->lacks[3])), lm_dvec3_zero());
        }
    }
}

static void solve(const work *w)
{
    lmi_joining *s = &w->all->system;
    begin(w);
    each(w, weigh);
    if (w->matrix) {
        lmi_direct_divide(s);
    }
    for (uint32_t n = 0; n < w->all->count; n++) {
        memcpy(s->lacks + 6 * (size_t)n, w->all->carriers[n].lacks, sizeof w->all->carriers[n].lacks);
    }
    lmi_direct_solve(s);
    for (uint32_t n = 0; n < w->all->count; n++) {
        lmi_mover *m = LMI_POOL_AT(&w->step->world->movers, lmi_mover, w->all->carriers[n].slot);
        const double *d = s->lacks + 6 * (size_t)n;
        if (lmi_rigid_yields(m)) {
            lm_dvec3 velocity = dvec_limit(dvec(d[0], d[1], d[2]), 2.0 * LM_MAX_SPEED);
            lm_dvec3 spin = dvec_limit(dvec(d[3], d[4], d[5]), 2.0 * LM_MAX_SPEED);
            lmi_rigid_push(m, velocity, spin);
            if (w->matrix) {
                lmi_rigid_move(m, dvec_scale(velocity, w->step->h), dvec_scale(spin, w->step->h));
            }
        }
    }
}

/* --- before and after --- */

/* A particle goes along with what its movers were given since it was settled last: a soft one as its spring says. */
static void ride(const work *w, const part *p)
{
    const lm_dvec3 from = from_of(w, p);
    lm_dvec3 more = lm_dvec3_zero();
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        if (l.carrier != LMI_NONE) {
            const lmi_mover *m = LMI_POOL_AT(&w->step->world->movers, lmi_mover, l.mover);
            const lmi_carried *c = &m->carried;
            lm_dvec3 spin = dvec_sub(dvec_from(m->spin), c->spin);
            lm_dvec3 u =
                dvec_add(dvec_sub(dvec_from(m->velocity), c->velocity), dvec_cross(spin, dvec_sub(from, c->at)));
            more = dvec_add(more, dvec_scale(u, l.share));
        }
    }
    float *x = p->body->x + (size_t)p->place * 4, *v = p->body->v + (size_t)p->place * 4;
    lm_dvec3 done = lmi_change_velocity(v, dvec_scale(more, share_of(w, p)));
    lmi_move_on(x, done, w->step->h);
}

/* Puts a particle where it belongs, and tells who gave it what. */
static void put(const work *w, const part *p)
{
    lm_world *world = w->step->world;
    float *x = p->body->x + (size_t)p->place * 4, *v = p->body->v + (size_t)p->place * 4;
    const outcome o = outcome_of(w, p);
    const lm_dvec3 was = p->firm ? place_of(p) : o.at, before = velocity_of(p);
    lm_dvec3 change;
    if (p->firm) {
        change = lmi_hold_particle(x, v, p->body->origin, o.at, o.velocity);
    } else {
        change = lmi_change_velocity(v, dvec_sub(o.velocity, before));
        lmi_move_on(x, change, w->step->h);
    }
    const lm_dvec3 given = dvec_scale(change, p->mass);
    const lm_dvec3 moment = dvec_cross(dvec_sub(o.at, was), dvec_scale(before, p->mass));
    p->body->outside_impulse = dvec_add(p->body->outside_impulse, given);
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(world, p, k);
        lm_dvec3 part_given = dvec_scale(given, l.share), part_moment = dvec_scale(moment, l.share);
        if (p->skeleton) {
            const lmi_skeleton *s = p->skeleton;
            lmi_wrench_of_bone(&s->bones[s->links[s->offsets[p->n] + k].bone], o.at, part_given, part_moment);
        }
        if (l.mover != LMI_NONE) {
            lmi_wrench_of_mover(world, l.mover, o.at, part_given, part_moment);
        }
    }
}

/* What a mover carries, where it came from: for contacts and joints. */
static void load(const work *w, const part *p)
{
    const lm_dvec3 from = from_of(w, p);
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        if (l.carrier != LMI_NONE) {
            lmi_carried *c = &LMI_POOL_AT(&w->step->world->movers, lmi_mover, l.mover)->carried;
            double mass = p->mass * share_of(w, p) * l.share;
            lm_dvec3 way = dvec_sub(from, c->at);
            c->mass += mass;
            c->first = dvec_add(c->first, dvec_scale(way, mass));
            lmi_inertia_add(c->inertia, mass, way);
        }
    }
}

bool lmi_holds_settle(const lmi_step *step, lmi_holds_when when)
{
    lmi_holding *all = step->world->holding;
    if (!all || all->count == 0) {
        return false;
    }
    work w = {.step = step, .all = all};
    if (when == LMI_HOLDS_AGAIN) {
        each(&w, ride);
    }
    w.first = when == LMI_HOLDS_FIRST;
    for (uint32_t n = 0; n < all->count; n++) {
        carrier *c = &all->carriers[n];
        c->from = lmi_mover_carries(LMI_POOL_AT(&step->world->movers, lmi_mover, c->slot));
    }
    for (int n = 0; n < SOLUTIONS; n++) {
        w.matrix = n == 0; /* that of the others hardly differs */
        solve(&w);
        if (w.matrix) {
            centre(&w);
        }
    }
    each(&w, put);
    for (uint32_t n = 0; n < all->count; n++) {
        lmi_mover *m = LMI_POOL_AT(&step->world->movers, lmi_mover, all->carriers[n].slot);
        m->carried = (lmi_carried){.velocity = dvec_from(m->velocity), .spin = dvec_from(m->spin)};
        m->carried.at = dvec_sub(m->pose.position, dvec_scale(m->carried.velocity, step->h));
    }
    each(&w, load);
    lmi_bones_ride(step->world);
    return true;
}

/* --- memory --- */

/* Carriers that have a share in the same particle are coupled. */
static void link_carriers(const work *w, const part *p)
{
    uint32_t first = LMI_NONE;
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        first = l.carrier < first ? l.carrier : first;
    }
    for (uint32_t k = 0; k < p->links; k++) {
        link l = link_of(w->step->world, p, k);
        if (l.carrier != LMI_NONE && first < w->all->carriers[l.carrier].first) {
            w->all->carriers[l.carrier].first = first;
        }
    }
}

/* Which movers hold something: they get a place in the order of slots. */
static uint32_t count_carriers(lm_world *world)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, n);
        m->carrier = LMI_NONE;
        m->carried = (lmi_carried){0};
    }
    LMI_POOL_EACH(&world->pins, n)
    {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        if (lmi_pin_is_pushed(world, pin)) {
            LMI_POOL_AT(&world->movers, lmi_mover, pin->mover)->carrier = 0;
        }
    }
    LMI_POOL_EACH(&world->skeletons, k)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, k);
        for (uint32_t n = 0; n < s->bone_count; n++) {
            lmi_mover *m = lmi_bone_mover(world, &s->bones[n]);
            if (m && m->mass > 0.0f) {
                m->carrier = 0;
            }
        }
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, n);
        m->carrier = m->carrier == 0 ? count++ : LMI_NONE;
    }
    return count;
}

/* Rows of the equations, of which each begins with the first carrier that it is coupled with. */
static bool lay_out(lm_world *world, lmi_holding *all)
{
    uint64_t numbers = 0;
    for (uint32_t n = 0; n < all->count; n++) {
        numbers += 6 * (6 * (uint64_t)(n - all->carriers[n].first) + 6);
    }
    if (numbers > UINT32_MAX || !lmi_direct_room(world, &all->system, 6 * all->count, (uint32_t)numbers)) {
        return false;
    }
    size_t at = 0;
    all->system.rows = 6 * all->count;
    for (uint32_t n = 0; n < all->system.rows; n++) {
        uint32_t first = 6 * all->carriers[n / 6].first;
        all->system.first[n] = first;
        all->system.row[n] = at - first;
        at += n - first + 1;
    }
    return true;
}

bool lmi_holds_reserve(lm_world *world)
{
    uint32_t count = count_carriers(world);
    if (count && !world->holding) {
        world->holding = lmi_allocate(&world->memory, 1, sizeof *world->holding);
    }
    lmi_holding *all = world->holding;
    if (!all) {
        return count == 0;
    }
    void *carriers = all->carriers;
    bool ok = lmi_reserve(&world->memory, &carriers, &all->capacity, count, sizeof *all->carriers);
    all->carriers = carriers;
    all->count = ok ? count : 0;
    if (all->count == 0) {
        return ok;
    }
    LMI_POOL_EACH(&world->movers, n)
    {
        uint32_t at = LMI_POOL_AT(&world->movers, lmi_mover, n)->carrier;
        if (at != LMI_NONE) {
            all->carriers[at] = (carrier){.slot = n, .first = at};
        }
    }
    const lmi_step step = {.world = world};
    const work w = {.step = &step, .all = all, .first = true};
    each(&w, link_carriers);
    return lay_out(world, all);
}

void lmi_holds_free(lm_world *world)
{
    lmi_holding *all = world->holding;
    if (all) {
        lmi_release(&world->memory, all->carriers, all->capacity, sizeof *all->carriers);
        lmi_direct_free(world, &all->system);
        lmi_release(&world->memory, all, 1, sizeof *all);
        world->holding = NULL;
    }
}
