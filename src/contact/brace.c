/*
 * Braces (contact/brace.h). Reads runs and their soft contacts, whose references still are places in bodies; changes velocities of all
 * particles of braced bodies, and tells walls what they gave.
 *
 * Braces are found in the order of runs, and solved one after the other in that order; all else is done for each brace, or each body, by
 * itself. Nothing depends on the number of workers.
 */
#include "contact/brace.h"
#include "collide/wrench.h"
#include "contact/solver.h"

#define SWEEPS 10

/* Not what pins hold, which gives way as far as they let it, nor what sleeps or is in pieces, nor movers. */
static bool is_free(const lmi_push *push)
{
    const lmi_body *body = push->body;
    return body && !body->anchored && !body->asleep && !push->parts;
}

static void take_body(lmi_solver *s, lmi_push *push)
{
    if (push && !push->braced) {
        push->braced = true;
        s->braced[s->braced_count++] = push;
    }
}

static void list_braces(lmi_solver *s)
{
    s->brace_count = s->braced_count = 0;
    for (uint32_t n = 0; n < s->run_count && s->brace_count < s->room.braces; n++) {
        const lmi_run *run = &s->runs[n];
        const float crush = lmi_maxf(run->a->crush, run->b ? run->b->crush : 0.0f);
        const bool self = run->b && run->b->owner == run->a->owner;
        if (run->stiff || self || !(crush > 0.0f) || !is_free(run->a) || (run->b && !is_free(run->b))) {
            continue;
        }
        s->braces[s->brace_count++] = (lmi_brace){.run = n, .share = crush};
        take_body(s, run->a);
        take_body(s, run->b);
    }
}

/* --- each body --- */

static void measure_body(lmi_solver *s, uint32_t index) { lmi_push_measure(s->braced[index]); }

static void give_body(lmi_solver *s, uint32_t index) { lmi_push_give(s->braced[index]); }

/* --- each brace --- */

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

static double mobility(const lmi_push *push, lm_dvec3 arm, lm_dvec3 n)
{
    if (!push) {
        return 0.0;
    }
    lm_dvec3 lever = dvec_cross(arm, n);
    double turns = dvec_dot(lever, quad_to(lmi_push_turning(push, quad_from(lever))));
    return ((double)push->inverse_mass + turns) / push->body->mean_mass;
}

static lm_dvec3 velocity(const lmi_push *push, lm_dvec3 arm)
{
    return dvec_add(quad_to(quad_add(push->mean, push->velocity)),
                    dvec_cross(quad_to(quad_add(push->came, push->spin)), arm));
}

static double speed_of(const lmi_brace *b, const lmi_run *run)
{
    lm_dvec3 u = dvec_sub(velocity(run->a, b->arm_a), run->b ? velocity(run->b, b->arm_b) : b->wall);
    return dvec_dot(u, b->normal);
}

/* The mean of the contacts of a run. */
static void find_brace(lmi_solver *s, uint32_t index)
{
    lmi_brace *b = &s->braces[index];
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
    double length = dvec_length(normal);
    if (count == 0 || !(length > 1e-3 * count) || !moves(run->a) || (run->b && !moves(run->b))) {
        return;
    }
    b->normal = dvec_scale(normal, 1.0 / length);
    b->wall = dvec_scale(wall, 1.0 / count);
    b->point = dvec_scale(point, 1.0 / count);
    b->share *= length / count; /* normals against each other do not say which way */
    b->arm_a = dvec_sub(b->point, quad_to(run->a->centre));
    if (run->b) {
        lm_dvec3 there = dvec_add(b->point, dvec_sub(run->a->body->origin, run->b->body->origin));
        b->arm_b = dvec_sub(there, quad_to(run->b->centre));
    }
    b->deep = mobility(run->a, b->arm_a, b->normal) + mobility(run->b, b->arm_b, b->normal);
    b->least = (1.0 - b->share) * lmi_min(speed_of(b, run), 0.0);
    b->any = b->deep > 0.0;
}

static void give(lmi_push *push, lm_dvec3 arm, lm_dvec3 impulse)
{
    if (push) {
        quad j = quad_from(dvec_scale(impulse, 1.0 / push->body->mean_mass));
        push->velocity = quad_add_scaled(push->velocity, push->inverse_mass, j);
        push->spin = quad_add(push->spin, lmi_push_turning(push, quad_cross(quad_from(arm), j)));
    }
}

static void sweep(const lmi_solver *s)
{
    for (uint32_t n = 0; n < s->brace_count; n++) {
        lmi_brace *b = &s->braces[n];
        const lmi_run *run = &s->runs[b->run];
        if (!b->any) {
            continue;
        }
        double before = b->impulse;
        b->impulse = lmi_max(before + (b->least - speed_of(b, run)) / b->deep, 0.0);
        lm_dvec3 more = dvec_scale(b->normal, b->impulse - before);
        give(run->a, b->arm_a, more);
        give(run->b, b->arm_b, dvec_scale(more, -1.0));
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

void lmi_brace_bodies(lmi_solver *s)
{
    list_braces(s);
    if (s->brace_count == 0) {
        return;
    }
    lmi_solver_run(s, measure_body, s->braced_count);
    lmi_solver_run(s, find_brace, s->brace_count);
    for (int n = 0; n < SWEEPS; n++) {
        sweep(s);
    }
    tell_walls(s);
    lmi_solver_run(s, give_body, s->braced_count);
    for (uint32_t n = 0; n < s->braced_count; n++) {
        s->braced[n]->braced = false;
    }
}
