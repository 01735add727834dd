/*
 * Braces (contact/brace.h). Reads runs and their soft contacts, whose references still are places in bodies; changes velocities of all
 * particles of braced bodies, and tells walls what they gave.
 *
 * Braces are listed in the order of runs; all else is done for each run, brace or body by itself, and what is written is not read by others at
 * the same time. A body adds up the impulses of its braces in their order. Nothing depends on the number of workers.
 */
#include "contact/brace.h"
#include "collide/wrench.h"
#include "contact/soft.h"
#include "contact/solver.h"
#include "octree/octree_body.h"

#define PIECE_RUNS 64u
#define PIECE_BRACES 32u
#define PIECE_BODIES 32u

/* Not what pins or joints hold, which gives way as far as they let it, nor what sleeps, nor what can break or was cut and does not move as one, nor
 * movers. */
static bool is_free(const lmi_push *push)
{
    const lmi_body *body = push->body;
    return body && !body->anchored && !body->asleep && !body->fracture && !(body->octree && body->octree->clefts) &&
           !body->joints;
}

/* Whether the two sides of a run may brace themselves. */
static bool may_brace(const lmi_run *run)
{
    const bool self = run->b && run->b->owner == run->a->owner;
    return !run->stiff && !self && is_free(run->a) && (!run->b || is_free(run->b));
}

static uint32_t pieces_of(uint32_t count, uint32_t each) { return (count + each - 1) / each; }

static uint32_t end_of(uint32_t piece, uint32_t each, uint32_t count)
{
    return (piece + 1) * each < count ? (piece + 1) * each : count;
}

/* --- who braces --- */

/* Of the finer of the fields of two bodies, metres. */
static double cell_of(const lmi_run *run)
{
    return lmi_min(run->a->body->bulk->mould->cell, run->b->body->bulk->mould->cell);
}

/* How far the soft contacts of two bodies have let them into each other. */
static float deep_share(const lmi_solver *s, const lmi_run *run)
{
    float deepest = 0.0f;
    if (!run->b || !run->a->body->bulk || !run->b->body->bulk) {
        return 0.0f;
    }
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        const lmi_soft_block *block = &s->blocks[c / LMI_BLOCK];
        const uint32_t k = c % LMI_BLOCK;
        const float gap = block->shallow[k] / (float)LMI_SHALLOW;
        deepest = lmi_maxf(deepest, block->near >> k & 1 ? 0.0f : block->level[k] - gap);
    }
    return (float)lmi_deep_share(deepest, cell_of(run));
}

static void measure_runs(lmi_solver *s, uint32_t piece)
{
    for (uint32_t n = piece * PIECE_RUNS; n < end_of(piece, PIECE_RUNS, s->run_count); n++) {
        lmi_run *run = &s->runs[n];
        run->deep = may_brace(run) ? deep_share(s, run) : 0.0f;
    }
}

static void take_body(lmi_solver *s, lmi_push *push)
{
    if (push && !push->braced) {
        s->braced[s->braced_count++] = (lmi_braced){.push = push};
        push->braced = s->braced_count;
    }
    if (push) {
        s->braced[push->braced - 1].count++;
    }
}

static void list_braces(lmi_solver *s)
{
    s->brace_count = s->braced_count = 0;
    for (uint32_t n = 0; n < s->run_count && s->brace_count < s->room.braces; n++) {
        const lmi_run *run = &s->runs[n];
        const float crush = lmi_maxf(run->a->crush, run->b ? run->b->crush : 0.0f);
        const bool full = run->a->braced && s->braced[run->a->braced - 1].own == LMI_BRACES;
        if (!(lmi_maxf(crush, run->deep) > 0.0f) || !may_brace(run) || full) {
            continue;
        }
        s->braces[s->brace_count++] = (lmi_brace){.run = n, .crush = crush, .deep = run->deep};
        take_body(s, run->a);
        take_body(s, run->b);
        s->braced[run->a->braced - 1].own++;
    }
}

/* The braces of each body: twice the place of one, and 1 more where the body is side b. */
static void list_by_body(lmi_solver *s)
{
    uint32_t first = 0;
    for (uint32_t n = 0; n < s->braced_count; n++) {
        s->braced[n].first = first;
        first += s->braced[n].count;
        s->braced[n].count = 0;
    }
    for (uint32_t n = 0; n < s->brace_count; n++) {
        const lmi_run *run = &s->runs[s->braces[n].run];
        for (uint32_t b = 0; b < (run->b ? 2u : 1u); b++) {
            lmi_braced *body = &s->braced[(b ? run->b : run->a)->braced - 1];
            s->brace_list[body->first + body->count++] = 2 * n + b;
        }
    }
}

/* --- where --- */

static void measure_bodies(lmi_solver *s, uint32_t piece) { lmi_push_measure(s->braced[piece].push); }

/* Where a soft contact is on side a, from the origin of its body. */
static lm_dvec3 place_of(const lmi_solver *s, const lmi_body *body, uint32_t c)
{
    size_t row = lmi_rows_of(s, c / LMI_BLOCK) + c % LMI_BLOCK;
    quad at = {0};
    for (uint32_t n = 0; n < s->rows[c / LMI_BLOCK].a; n++, row += LMI_BLOCK) {
        at = quad_add_scaled(at, s->weight[row], quad_load(body->x + (size_t)s->index[row] * 4));
    }
    return quad_to(at);
}

/* Not a wall, and not a body with particles that no region holds. */
static inline bool moves(const lmi_push *push) { return push && push->inverse_mass > 0.0f; }

static double inverse_mass(const lmi_push *push) { return (double)push->inverse_mass / push->body->mean_mass; }

static lmi_brace_side side_of(const lmi_push *push, lm_dvec3 arm, lm_dvec3 normal)
{
    lmi_brace_side side = {.lever = dvec_cross(arm, normal)};
    lm_dvec3 turned = quad_to(lmi_push_turning(push, quad_from(side.lever)));
    side.turned = dvec_scale(turned, 1.0 / push->body->mean_mass);
    return side;
}

static lm_dvec3 velocity_at(const lmi_push *push, lm_dvec3 arm)
{
    return dvec_add(quad_to(push->mean), dvec_cross(quad_to(push->came), arm));
}

/* The mean of the contacts of a run. */
static void find_brace(lmi_solver *s, lmi_brace *b)
{
    const lmi_run *run = &s->runs[b->run];
    lm_dvec3 normal = lm_dvec3_zero(), point = lm_dvec3_zero(), wall = lm_dvec3_zero();
    uint32_t count = 0;
    for (uint32_t c = run->first; c < run->first + run->count; c++) {
        const lmi_soft_block *block = &s->blocks[c / LMI_BLOCK];
        const uint32_t k = c % LMI_BLOCK;
        if (block->near >> k & 1) {
            continue;
        }
        normal =
            dvec_add(normal, dvec(block->normal[k], block->normal[LMI_BLOCK + k], block->normal[2 * LMI_BLOCK + k]));
        wall = dvec_add(wall, dvec(block->extra[k], block->extra[LMI_BLOCK + k], block->extra[2 * LMI_BLOCK + k]));
        point = dvec_add(point, place_of(s, run->a->body, c));
        count++;
    }
    const double length = dvec_length(normal), agree = count ? length / count : 0.0;
    if (!(agree > 1e-3) || !moves(run->a) || (run->b && !moves(run->b))) {
        return; /* normals against each other do not say which way */
    }
    b->normal = dvec_scale(normal, 1.0 / length);
    b->point = dvec_scale(point, 1.0 / count);
    const lm_dvec3 arm_a = dvec_sub(b->point, quad_to(run->a->centre));
    lm_dvec3 u = velocity_at(run->a, arm_a);
    b->side[0] = side_of(run->a, arm_a, b->normal);
    if (run->b) {
        const lm_dvec3 there = dvec_add(b->point, dvec_sub(run->a->body->origin, run->b->body->origin));
        const lm_dvec3 arm_b = dvec_sub(there, quad_to(run->b->centre));
        b->side[1] = side_of(run->b, arm_b, b->normal);
        u = dvec_sub(u, velocity_at(run->b, arm_b));
    } else {
        u = dvec_sub(u, dvec_scale(wall, 1.0 / count));
    }
    b->comes = dvec_dot(u, b->normal);
    const double calm =
        lmi_brace_calm(s->h, dvec_length(dvec_from(s->world->gravity)), b->deep > 0.0f ? cell_of(run) : 0.0);
    b->least = lmi_brace_least(b->comes, agree * b->crush, agree * b->deep, calm);
    b->any = true;
}

static void find_braces(lmi_solver *s, uint32_t piece)
{
    for (uint32_t n = piece * PIECE_BRACES; n < end_of(piece, PIECE_BRACES, s->brace_count); n++) {
        find_brace(s, &s->braces[n]);
    }
}

/* --- passes --- */

static lmi_braced *body_of(const lmi_solver *s, const lmi_brace *b, int side)
{
    const lmi_run *run = &s->runs[b->run];
    const lmi_push *push = side ? run->b : run->a;
    return push ? &s->braced[push->braced - 1] : NULL;
}

/* sum_q |A_pq| over the braces of one body. */
static double coupling(const lmi_solver *s, const lmi_brace *b, int side)
{
    const lmi_braced *body = body_of(s, b, side);
    double sum = 0.0;
    for (uint32_t k = 0; body && k < body->count; k++) {
        const uint32_t q = s->brace_list[body->first + k];
        const lmi_brace *other = &s->braces[q / 2];
        sum += fabs(inverse_mass(body->push) * dvec_dot(b->normal, other->normal) +
                    dvec_dot(b->side[side].lever, other->side[q & 1].turned));
    }
    return sum;
}

static void weigh_braces(lmi_solver *s, uint32_t piece)
{
    for (uint32_t n = piece * PIECE_BRACES; n < end_of(piece, PIECE_BRACES, s->brace_count); n++) {
        lmi_brace *b = &s->braces[n];
        const double sum = b->any ? coupling(s, b, 0) + coupling(s, b, 1) : 0.0;
        b->step = sum > 0.0 ? 1.0 / sum : 0.0;
    }
}

/* What a body is given by all of its braces: of `ahead`, or of what they are given so far. */
static void move_body(const lmi_solver *s, lmi_braced *body, bool ahead)
{
    lm_dvec3 impulse = lm_dvec3_zero();
    body->spin = lm_dvec3_zero();
    for (uint32_t k = 0; k < body->count; k++) {
        const uint32_t q = s->brace_list[body->first + k];
        const lmi_brace *b = &s->braces[q / 2];
        const double given = ahead ? b->ahead : b->impulse, j = q & 1 ? -given : given;
        impulse = dvec_add(impulse, dvec_scale(b->normal, j));
        body->spin = dvec_add(body->spin, dvec_scale(b->side[q & 1].turned, j));
    }
    body->velocity = dvec_scale(impulse, inverse_mass(body->push));
}

static void move_ahead(lmi_solver *s, uint32_t piece)
{
    for (uint32_t n = piece * PIECE_BODIES; n < end_of(piece, PIECE_BODIES, s->braced_count); n++) {
        move_body(s, &s->braced[n], true);
    }
}

static void move_all(lmi_solver *s, uint32_t piece)
{
    for (uint32_t n = piece * PIECE_BODIES; n < end_of(piece, PIECE_BODIES, s->braced_count); n++) {
        move_body(s, &s->braced[n], false);
    }
}

static double speed_of(const lmi_solver *s, const lmi_brace *b)
{
    const lmi_braced *one = body_of(s, b, 0), *other = body_of(s, b, 1);
    double u = b->comes + (dvec_dot(b->normal, one->velocity) + dvec_dot(b->side[0].lever, one->spin));
    return other ? u - (dvec_dot(b->normal, other->velocity) + dvec_dot(b->side[1].lever, other->spin)) : u;
}

static void pass(lmi_solver *s, uint32_t piece)
{
    double most = 0.0;
    for (uint32_t n = piece * PIECE_BRACES; n < end_of(piece, PIECE_BRACES, s->brace_count); n++) {
        lmi_brace *b = &s->braces[n];
        if (b->any) {
            const double before = b->impulse;
            b->impulse = lmi_brace_given(b->ahead, b->least, speed_of(s, b), b->step);
            most = lmi_max(most, b->step > 0.0 ? fabs(b->impulse - b->ahead) / b->step : 0.0);
            b->onward = lmi_brace_onward(b->onward, before, b->ahead, b->impulse);
            b->ahead = lmi_brace_ahead(b->onward, before, b->impulse);
        }
    }
    s->brace_change[piece] = most;
}

/* Passes until all is settled. False where there was nothing to give. */
static bool solve(lmi_solver *s)
{
    const uint32_t pieces = pieces_of(s->brace_count, PIECE_BRACES), bodies = pieces_of(s->braced_count, PIECE_BODIES);
    bool any = false, more = true;
    for (uint32_t n = 0; n < LMI_BRACE_PASSES && more; n++) {
        double most = 0.0;
        lmi_solver_run(s, move_ahead, bodies);
        lmi_solver_run(s, pass, pieces);
        for (uint32_t k = 0; k < pieces; k++) {
            most = lmi_max(most, s->brace_change[k]);
        }
        any = any || most > 0.0;
        more = most > LMI_BRACE_SETTLED;
    }
    return any;
}

/* Nesterov's passes may end above where they began: then all is scaled back to where no energy was added. */
static void weigh(lmi_solver *s)
{
    double takes = 0.0, changes = 0.0; /* the work is changes / 2 - takes */
    lmi_solver_run(s, move_all, pieces_of(s->braced_count, PIECE_BODIES));
    for (uint32_t n = 0; n < s->brace_count; n++) {
        const lmi_brace *b = &s->braces[n];
        takes -= b->impulse * b->comes;
        changes += b->any ? b->impulse * (speed_of(s, b) - b->comes) : 0.0;
    }
    const double share = lmi_work_share(takes, changes, 0.0);
    for (uint32_t n = 0; n < s->brace_count && share < 1.0; n++) {
        s->braces[n].impulse *= share;
    }
}

static void tell_walls(const lmi_solver *s)
{
    for (uint32_t n = 0; n < s->brace_count; n++) {
        const lmi_brace *b = &s->braces[n];
        const lmi_run *run = &s->runs[b->run];
        if (!run->b && b->impulse > 0.0) {
            lmi_body *body = run->a->body;
            lm_dvec3 impulse = dvec_scale(b->normal, b->impulse);
            body->outside_impulse = dvec_add(body->outside_impulse, impulse);
            lmi_wrench_of_surface(s->world, run->wall, body->origin, impulse, dvec_cross(b->point, impulse));
        }
    }
}

static void give_bodies(lmi_solver *s, uint32_t piece)
{
    lmi_braced *body = &s->braced[piece];
    move_body(s, body, false);
    body->push->velocity = quad_from(body->velocity);
    body->push->spin = quad_from(body->spin);
    lmi_push_give(body->push);
}

void lmi_brace_bodies(lmi_solver *s)
{
    lmi_solver_run(s, measure_runs, pieces_of(s->run_count, PIECE_RUNS));
    list_braces(s);
    if (s->brace_count == 0) {
        return;
    }
    list_by_body(s);
    lmi_solver_run(s, measure_bodies, s->braced_count);
    lmi_solver_run(s, find_braces, pieces_of(s->brace_count, PIECE_BRACES));
    lmi_solver_run(s, weigh_braces, pieces_of(s->brace_count, PIECE_BRACES));
    if (solve(s)) {
        weigh(s);
        tell_walls(s);
        lmi_solver_run(s, give_bodies, s->braced_count);
    }
    for (uint32_t n = 0; n < s->braced_count; n++) {
        s->braced[n].push->braced = 0;
    }
}
