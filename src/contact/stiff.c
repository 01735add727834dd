/*
 * Stiff contacts: those of bodies that answer as a whole, one after the other, there and back, until nothing changes any more.
 *
 * Reads and writes stiff contacts, the pushes of their bodies, and particles where a side does not answer as a whole in full.
 * Contacts that share no body do not see each other: islands run side by side, each in the order of its runs.
 */
#include "base/sets.h"
#include "contact/soft.h"
#include "contact/solver.h"

/* Sweeps end when the largest change in one is below this, m/s. */
#define STILL_SPEED 1e-4f

static inline quad zero_quad(void) { return quad_of(0.0f, 0.0f, 0.0f); }

/* --- what a contact sees and gives --- */

/* The particles of a contact. */
typedef struct side {
    const uint32_t *index;
    const float *weight;
    uint32_t count;
} side;

static inline side side_a(const lmi_solver *s, const lmi_stiff *c)
{
    size_t at = lmi_refs_of(s, (uint32_t)(c - s->stiff));
    return (side){s->index + at, s->weight + at, c->count_a};
}

static inline side side_b(const lmi_solver *s, const lmi_stiff *c)
{
    size_t at = lmi_refs_of(s, (uint32_t)(c - s->stiff)) + c->count_a;
    return (side){s->index + at, s->weight + at, c->count_b};
}

static inline quad sum_of(side r, const float *of)
{
    quad sum = {0};
    for (uint32_t n = 0; n < r.count; n++) {
        sum = quad_add_scaled(sum, r.weight[n], quad_load(of + (size_t)r.index[n] * 4));
    }
    return quad_without_w(sum);
}

/* Adds an impulse (or a shift times mass) to the particles; `local` is the share that they get. */
static inline void add_to(const lmi_solver *s, side r, float *to, float local, quad impulse)
{
    for (uint32_t n = 0; n < r.count; n++) {
        size_t at = (size_t)r.index[n] * 4;
        float lever = local * r.weight[n] * s->x[at + 3];
        quad_store(to + at, quad_add_scaled(quad_load(to + at), lever, impulse));
    }
}

/* How fast a moves, seen from b. */
static inline quad velocity_now(const lmi_solver *s, const lmi_stiff *c)
{
    quad u = c->still;
    u = quad_add(u, c->count_a ? sum_of(side_a(s, c), s->v) : zero_quad());
    u = quad_sub(u, c->count_b ? sum_of(side_b(s, c), s->v) : zero_quad());
    u = quad_add(u, c->a->moved ? lmi_push_velocity(c->a, c->arm_a) : zero_quad());
    return c->b && c->b->moved ? quad_sub(u, lmi_push_velocity(c->b, c->arm_b)) : u;
}

/* How deep it still is. */
static inline float depth_now(const lmi_solver *s, const lmi_stiff *c)
{
    quad p = c->count_a ? sum_of(side_a(s, c), s->x) : zero_quad();
    p = quad_sub(p, c->count_b ? sum_of(side_b(s, c), s->x) : zero_quad());
    p = quad_add(p, c->a->moved ? lmi_push_move(c->a, c->arm_a) : zero_quad());
    p = quad_sub(p, c->b && c->b->moved ? lmi_push_move(c->b, c->arm_b) : zero_quad());
    return c->level - quad_dot(p, c->normal);
}

static inline float mobility(const lmi_stiff *c, quad n)
{
    float sum = c->plain + lmi_push_mobility(c->a, c->arm_a, n);
    return c->b ? sum + c->ratio * lmi_push_mobility(c->b, c->arm_b, n) : sum;
}

static void give_impulse(const lmi_solver *s, const lmi_stiff *c, quad impulse)
{
    quad back = quad_scale(impulse, -c->ratio);
    if (c->count_a) {
        add_to(s, side_a(s, c), s->v, 1.0f - c->a->rigid, impulse);
    }
    if (c->count_b) {
        add_to(s, side_b(s, c), s->v, 1.0f - c->b->rigid, back);
    }
    if (c->a->rigid > 0.0f) {
        lmi_push_impulse(c->a, c->arm_a, impulse);
    }
    if (c->b && c->b->rigid > 0.0f) {
        lmi_push_impulse(c->b, c->arm_b, back);
    }
}

static void give_shift(const lmi_solver *s, const lmi_stiff *c, quad shift)
{
    quad back = quad_scale(shift, -c->ratio);
    if (c->count_a) {
        add_to(s, side_a(s, c), s->x, 1.0f - c->a->rigid, shift);
    }
    if (c->count_b) {
        add_to(s, side_b(s, c), s->x, 1.0f - c->b->rigid, back);
    }
    if (c->a->rigid > 0.0f) {
        lmi_push_shift(c->a, c->arm_a, shift);
    }
    if (c->b && c->b->rigid > 0.0f) {
        lmi_push_shift(c->b, c->arm_b, back);
    }
}

/* How fast a moves as a rigid body, seen from b. */
static inline quad whole_now(const lmi_stiff *c)
{
    return quad_sub(lmi_push_whole(c->a, c->arm_a), c->b ? lmi_push_whole(c->b, c->arm_b) : c->extra);
}

/* --- a new one --- */

/* Where a side is and how it moves, and its mobility as far as that is local. */
typedef struct stand {
    quad x, v;
    float plain;
} stand;

static stand stand_of(const lmi_push *push, const lmi_ref *refs, uint32_t count)
{
    stand sum = {0};
    for (uint32_t n = 0; n < count; n++) {
        size_t at = (size_t)refs[n].place * 4;
        sum.x = quad_add_scaled(sum.x, refs[n].weight, quad_load(push->x + at));
        sum.v = quad_add_scaled(sum.v, refs[n].weight, quad_load(push->v + at));
        sum.plain += refs[n].weight * lmi_push_lever(push, refs[n].place, refs[n].weight);
    }
    sum.x = quad_without_w(sum.x);
    sum.v = quad_without_w(sum.v);
    return sum;
}

/* The references of a side that change while it is solved. */
static uint16_t keep_refs(const lmi_solver *s, size_t at, const lmi_push *push, const lmi_ref *refs, uint16_t count)
{
    if (push->rigid >= 1.0f) {
        return 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        s->index[at + n] = refs[n].place;
        s->weight[at + n] = refs[n].weight;
    }
    return count;
}

/* Whether a wall has cut short the way of a. */
static bool is_halted(const lmi_push *a, const lmi_push *b) { return !b && a->body && a->body->halted; }

/* How deep what rests may stay. */
static float left_of(const lmi_stiff *c)
{
    return LMI_LEFT * (float)(c->a->body ? c->a->body->rest_size : c->a->mover->size);
}

/* What follows from where the sides of a contact are and how fast a comes, seen from b: u, and `changes`: where what can be moved is. */
static void begin_solving(const lmi_solver *s, lmi_stiff *c, quad u, quad changes, float restitution)
{
    if (c->a->moved) {
        u = quad_add(u, lmi_push_velocity(c->a, c->arm_a));
        changes = quad_add(changes, lmi_push_move(c->a, c->arm_a));
    }
    if (c->b && c->b->moved) {
        u = quad_sub(u, lmi_push_velocity(c->b, c->arm_b));
        changes = quad_sub(changes, lmi_push_move(c->b, c->arm_b));
    }
    c->start = whole_now(c);
    c->deep = mobility(c, c->normal);
    c->approach = -quad_dot(u, c->normal);
    c->bounce = c->approach > (float)LMI_BOUNCE_SPEED ? restitution * c->approach : 0.0f;
    c->watched = c->depth < 0.0f && c->approach > (float)LMI_BOUNCE_SPEED;
    c->idle = c->watched || !(c->deep > 0.0f);
    if (c->b) {
        c->depth = lmi_soft_depth(c->depth, c->approach, left_of(c), s->h);
    }
    c->level = c->depth + quad_dot(changes, c->normal);
}

/* Mobility, approach and what follows from them. */
void lmi_stiff_begin(const lmi_solver *s, lmi_stiff *c, const lmi_run *run, const lmi_found *found, const lmi_ref *refs,
                     size_t at)
{
    stand a = stand_of(run->a, refs, found->count_a), b = {0};
    quad extra = quad_of(found->extra[0], found->extra[1], found->extra[2]);
    *c = (lmi_stiff){.normal = quad_of(found->normal[0], found->normal[1], found->normal[2]),
                     .extra = extra,
                     .a = run->a,
                     .b = run->b,
                     .friction = found->friction,
                     .ratio = run->b ? (float)(run->a->unit / run->b->unit) : 0.0f,
                     .plain = a.plain,
                     .depth = found->depth,
                     /* What flew into a wall is not turned by it (contact/halt.h). */
                     .arm_a = is_halted(run->a, run->b) ? zero_quad() : quad_without_w(quad_sub(a.x, run->a->centre)),
                     .point = found->point};
    c->count_a = keep_refs(s, at, run->a, refs, found->count_a);
    c->still = c->count_a ? zero_quad() : a.v;
    quad changes = c->count_a ? a.x : zero_quad(), u = a.v;
    if (run->b && run->b->mover) { /* it is pushed where the point is, and moves as its surface does */
        c->arm_b = quad_without_w(quad_add(a.x, quad_from(dvec_sub(run->a->body->origin, run->b->at))));
        c->still = quad_sub(c->still, extra);
        u = quad_sub(u, extra);
    } else if (run->b) {
        b = stand_of(run->b, refs + found->count_a, found->count_b);
        c->plain += c->ratio * b.plain;
        c->arm_b = quad_without_w(quad_sub(b.x, run->b->centre));
        c->count_b = keep_refs(s, at + c->count_a, run->b, refs + found->count_a, found->count_b);
        c->still = quad_sub(c->still, c->count_b ? zero_quad() : b.v);
        changes = quad_sub(changes, c->count_b ? b.x : zero_quad());
        u = quad_sub(u, b.v);
    } else {
        c->still = quad_sub(c->still, extra);
        u = quad_sub(u, extra);
    }
    begin_solving(s, c, u, changes, found->restitution);
}

void lmi_stiff_weigh(lmi_stiff *c) { c->deep = mobility(c, c->normal); }

void lmi_solver_add_stiff(lmi_solver *s, const lmi_stiff_def *def)
{
    lmi_run *run = s->run_count ? &s->runs[s->run_count - 1] : NULL;
    if (!run || !run->stiff || run->a != def->a || run->b != def->b || run->wall != def->wall ||
        run->first + run->count != s->stiff_count) {
        run = &s->runs[s->run_count++];
        *run = (lmi_run){.a = def->a, .b = def->b, .wall = def->wall, .first = s->stiff_count, .stiff = true};
    }
    run->count++;
    lmi_stiff *c = &s->stiff[s->stiff_count++];
    *c = (lmi_stiff){.normal = quad_from(def->normal),
                     .braked = def->braked,
                     .pressed = def->pressed,
                     .a = def->a,
                     .b = def->b,
                     .friction = (float)def->friction,
                     .ratio = def->b ? (float)(def->a->unit / def->b->unit) : 0.0f,
                     .depth = (float)def->depth,
                     .arm_a = quad_from(dvec_sub(def->place, def->a->at)),
                     .arm_b = def->b ? quad_from(dvec_sub(def->place, def->b->at)) : zero_quad(),
                     .extra = def->velocity_b,
                     .point = def->point};
    c->still = quad_sub(def->velocity_a, def->velocity_b);
    begin_solving(s, c, c->still, zero_quad(), (float)def->restitution);
}

/* --- velocities --- */

/* Gives a contact what its point was given last time. */
static void warm_up(const lmi_solver *s, lmi_stiff *c)
{
    if (c->pressed > 0.0f) {
        quad impulse = quad_add_scaled(c->braked, c->pressed - quad_dot(c->braked, c->normal), c->normal);
        lmi_soft start = lmi_soft_start(impulse, c->normal, c->friction);
        c->pressed = start.pressed;
        c->braked = start.braked;
        give_impulse(s, c, start.ahead);
    }
}

/* What a contact lacks along the normal at velocity u: the change of its impulse. Across a gap they may approach as fast as
 * closes it in one substep. */
static inline float lacks_normal(lmi_stiff *c, quad u, float inverse_h)
{
    float gap = c->depth < 0.0f ? -c->depth : 0.0f;
    float total = c->pressed + (c->bounce - gap * inverse_h - quad_dot(u, c->normal)) / c->deep;
    total = total > 0.0f ? total : 0.0f;
    float more = total - c->pressed;
    c->pressed = total;
    return more;
}

static inline quad lacks_friction(lmi_stiff *c, quad u)
{
    quad slide = quad_sub(u, quad_scale(c->normal, quad_dot(u, c->normal))), total = c->braked, before = total;
    float speed = quad_length(slide), most = c->friction * c->pressed;
    if (speed > 1e-12f) {
        total = quad_sub(total, quad_scale(slide, 1.0f / mobility(c, quad_scale(slide, 1.0f / speed))));
    }
    float size = quad_length(total);
    total = size > most ? quad_scale(total, most / size) : total;
    c->braked = total;
    return quad_sub(total, before);
}

static inline float larger(float a, float b) { return a > b ? a : b; }

static float sweep_velocity(const lmi_solver *s, lmi_stiff *c)
{
    float more = lacks_normal(c, velocity_now(s, c), 1.0f / s->h), most = fabsf(more) * c->deep;
    if (more != 0.0f) {
        give_impulse(s, c, quad_scale(c->normal, more));
    }
    if (c->friction > 0.0f && (c->pressed > 0.0f || quad_dot(c->braked, c->braked) > 0.0f)) {
        quad braked = lacks_friction(c, velocity_now(s, c));
        give_impulse(s, c, braked);
        most = larger(most, quad_length(braked) * c->deep);
    }
    return most;
}

/* --- energy ---
 *
 * Contacts that contradict each other, as those of a body that is jammed in a mesh, have no solution: each sweep gives more. And a body
 * that answers as a whole for a few fast particles would get their speed. Seen from the walls, impulses J do the work
 *
 *     W = sum J (u_start + u_now) / 2 = -A + B / 2,    A = -sum J u_start,  B = sum J (u_now - u_start)
 *
 * on the bodies of an island, where u is the velocity of rigid bodies. It may be no more than S, what the heaviest side of a contact has
 * at LMI_BOUNCE_SPEED: points of a body at rest move a little as it deforms. Where it is, all impulses of the island are scaled by the f
 * for which f^2 B / 2 - f A = S. Momentum and spin are kept. Contacts with a side that does not answer as a whole in full do not count,
 * nor do those of movers, which may carry bodies of any weight that do not answer as a whole.
 */

typedef struct work {
    double a, b, slack;
    float share; /* f */
} work;

static inline quad impulse_of(const lmi_stiff *c) { return quad_add(quad_scale(c->normal, c->pressed), c->braked); }

static void add_work(const lmi_solver *s, lmi_stiff *c, work *w)
{
    double mass = c->a->unit;
    (void)s;
    w->a -= mass * quad_dot(impulse_of(c), c->start);
    w->b += mass * quad_dot(impulse_of(c), quad_sub(whole_now(c), c->start));
    w->slack = lmi_max(w->slack, 0.5 * LMI_BOUNCE_SPEED * LMI_BOUNCE_SPEED * mass / c->deep);
}

static void scale(const lmi_solver *s, lmi_stiff *c, work *w)
{
    give_impulse(s, c, quad_scale(impulse_of(c), w->share - 1.0f));
    c->pressed *= w->share;
    c->braked = quad_scale(c->braked, w->share);
}

/* Calls `each` for the contacts of an island that are weighed. */
static void each_weighed(const lmi_solver *s, const lmi_island *island, work *w,
                         void (*each)(const lmi_solver *, lmi_stiff *, work *))
{
    for (uint32_t n = 0; n < island->run_count; n++) {
        const lmi_run *run = &s->runs[s->run_of_island[island->first_run + n]];
        for (uint32_t k = 0; k < run->count; k++) {
            lmi_stiff *c = &s->stiff[run->first + k];
            if (!c->idle && c->count_a + c->count_b == 0 && !c->a->mover && !(c->b && c->b->mover)) {
                each(s, c, w);
            }
        }
    }
}

static void weigh_island(lmi_solver *s, uint32_t index)
{
    work w = {0};
    each_weighed(s, &s->islands[index], &w, add_work);
    w.share = lmi_work_share(w.a, w.b, w.slack);
    if (w.share < 1.0f) {
        each_weighed(s, &s->islands[index], &w, scale);
    }
}

void lmi_islands_weigh(lmi_solver *s) { lmi_solver_run(s, weigh_island, s->island_count); }

/* --- positions --- */

/* How far a contact has shifted its sides, times mass: along the normal, and by its friction in the time that it slid. */
static inline quad shift_of(const lmi_stiff *c, float slid)
{
    return quad_add_scaled(quad_scale(c->normal, c->shifted), slid, c->braked);
}

/* Of a contact of a mover: all of the way that the impulse was good for. Shares would differ from contact to contact, and of those that
 * a light mover has above and below it, each much more than it weighs, nothing but the small difference must be left. */
static void take_back_all(const lmi_solver *s, lmi_stiff *c)
{
    c->shifted = s->h * c->pressed;
    give_shift(s, c, shift_of(c, s->h));
    c->level -= left_of(c);
}

static void take_back(const lmi_solver *s, lmi_stiff *c)
{
    if (c->a->mover || (c->b && c->b->mover)) {
        take_back_all(s, c);
        return;
    }
    if (c->pressed > 0.0f) {
        /* The time in which it has slid along. */
        float slid = is_halted(c->a, c->b) ? (float)(c->a->body->moved * s->h) : s->h;
        float share = lmi_soft_share(c->depth, c->approach, s->h);
        c->shifted = share * s->h * c->pressed;
        c->level += share * s->h * c->bounce; /* so far has it come since it bounced */
        give_shift(s, c, shift_of(c, slid));
    }
    c->level -= left_of(c);
}

static float sweep_position(const lmi_solver *s, lmi_stiff *c)
{
    float total = c->shifted + depth_now(s, c) / c->deep;
    total = total > 0.0f ? total : 0.0f;
    float more = total - c->shifted;
    if (more != 0.0f) {
        give_shift(s, c, quad_scale(c->normal, more));
    }
    c->shifted = total;
    return fabsf(more) * c->deep;
}

/* A side's velocity as its angular momentum sees it when the side is shifted: that of the point where it answers locally,
 * that of the centre where it answers as a whole. */
static quad shifted_velocity(const lmi_solver *s, const lmi_push *push, side r, quad arm)
{
    if (push->rigid >= 1.0f) {
        return quad_without_w(push->mean);
    }
    quad u = sum_of(r, s->v);
    if (!(push->rigid > 0.0f)) {
        return u;
    }
    quad local = quad_scale(quad_add(u, lmi_push_velocity(push, arm)), 1.0f - push->rigid);
    return quad_without_w(quad_add_scaled(local, push->rigid, push->mean));
}

/* Bodies that are shifted while they move past each other change their angular momentum, and so do impulses that act in two
 * places. Both bodies will turn back by as much, by their inertia; a piece of a body counts as the body. */
static void note_twist(const lmi_solver *s, const lmi_stiff *c)
{
    quad shift = shift_of(c, s->h), impulse = impulse_of(c);
    quad u =
        quad_sub(shifted_velocity(s, c->a, side_a(s, c), c->arm_a), shifted_velocity(s, c->b, side_b(s, c), c->arm_b));
    quad off = c->b->mover ? zero_quad() : c->extra;
    lm_dvec3 twist = dvec_scale(quad_to(quad_add(quad_cross(shift, u), quad_cross(off, impulse))), c->a->unit);
    double share = lmi_push_twist_share(c->a, c->b), speed = quad_length(u);
    lmi_push_twist(c->a, dvec_scale(twist, share), speed);
    lmi_push_twist(c->b, dvec_scale(twist, 1.0 - share), speed);
}

/* --- islands --- */

/* Calls `each` for the contacts of an island that anything can be done about, or from the last to the first. */
static float sweep(lmi_solver *s, const lmi_island *island, bool back, float (*each)(const lmi_solver *, lmi_stiff *))
{
    float most = 0.0f;
    for (uint32_t n = 0; n < island->run_count; n++) {
        uint32_t at = island->first_run + (back ? island->run_count - 1 - n : n);
        const lmi_run *run = &s->runs[s->run_of_island[at]];
        for (uint32_t k = 0; k < run->count; k++) {
            lmi_stiff *c = &s->stiff[run->first + (back ? run->count - 1 - k : k)];
            most = c->idle ? most : larger(most, each(s, c));
        }
    }
    return most;
}

static float warm_one(const lmi_solver *s, lmi_stiff *c)
{
    warm_up(s, c);
    return 0.0f;
}

static float take_back_one(const lmi_solver *s, lmi_stiff *c)
{
    take_back(s, c);
    return 0.0f;
}

static float twist_one(const lmi_solver *s, lmi_stiff *c)
{
    if (c->b && c->b != c->a && c->pressed + c->shifted > 0.0f) {
        note_twist(s, c);
    }
    return 0.0f;
}

static void warm_island(lmi_solver *s, uint32_t index) { sweep(s, &s->islands[index], false, warm_one); }
static void end_island(lmi_solver *s, uint32_t index) { sweep(s, &s->islands[index], false, twist_one); }

/* Sweeps while there is a pass over soft contacts to answer, or something still changes. */
static void sweep_velocities(lmi_solver *s, uint32_t index)
{
    lmi_island *island = &s->islands[index];
    while (island->sweeps < s->until && (island->sweeps < s->passes || island->most > STILL_SPEED)) {
        island->most = sweep(s, island, island->sweeps & 1, sweep_velocity);
        island->sweeps++;
    }
}

static void take_back_island(lmi_solver *s, uint32_t index)
{
    sweep(s, &s->islands[index], false, take_back_one);
    s->islands[index].sweeps = 0;
    s->islands[index].most = s->h;
}

static void sweep_positions(lmi_solver *s, uint32_t index)
{
    lmi_island *island = &s->islands[index];
    while (island->sweeps < s->until && (island->sweeps < s->passes || island->most > STILL_SPEED * s->h)) {
        island->most = sweep(s, island, island->sweeps & 1, sweep_position);
        island->sweeps++;
    }
}

void lmi_islands_warm(lmi_solver *s) { lmi_solver_run(s, warm_island, s->island_count); }
void lmi_islands_take_back(lmi_solver *s) { lmi_solver_run(s, take_back_island, s->island_count); }
void lmi_islands_end(lmi_solver *s) { lmi_solver_run(s, end_island, s->island_count); }

/* Islands that were still early go on as long as the longest: a device sweeps through all of them at once. */
static void sweep_all(lmi_solver *s, uint32_t until, void (*task)(lmi_solver *, uint32_t))
{
    s->until = until;
    lmi_solver_run(s, task, s->island_count);
    uint32_t most = 0, least = until, passes = s->passes;
    for (uint32_t n = 0; n < s->island_count; n++) {
        most = s->islands[n].sweeps > most ? s->islands[n].sweeps : most;
        least = s->islands[n].sweeps < least ? s->islands[n].sweeps : least;
    }
    if (least < most) {
        s->passes = s->until = most;
        lmi_solver_run(s, task, s->island_count);
        s->passes = passes;
    }
}

void lmi_islands_velocities(lmi_solver *s, uint32_t until) { sweep_all(s, until, sweep_velocities); }
void lmi_islands_positions(lmi_solver *s, uint32_t until) { sweep_all(s, until, sweep_positions); }

/* --- who is connected --- */

/* Joins the pushes of stiff runs. */
static void join(lmi_solver *s)
{
    for (uint32_t n = 0; n < s->run_count; n++) {
        const lmi_run *run = &s->runs[n];
        s->node[run->a->node] = run->a->node;
        if (run->b) {
            s->node[run->b->node] = run->b->node;
        }
    }
    for (uint32_t n = 0; n < s->run_count; n++) {
        const lmi_run *run = &s->runs[n];
        if (run->stiff && run->b) {
            lmi_sets_join(s->node, run->a->node, run->b->node);
        }
    }
}

/* Numbers the islands in the order of their first runs, and sorts the runs by them. */
void lmi_islands_make(lmi_solver *s)
{
    s->island_count = 0;
    if (s->stiff_count == 0) {
        return;
    }
    join(s);
    for (uint32_t n = 0; n < s->run_count; n++) {
        s->island_of[lmi_set_of(s->node, s->runs[n].a->node)] = LMI_NONE;
    }
    for (uint32_t n = 0; n < s->run_count; n++) {
        uint32_t *island = &s->island_of[lmi_set_of(s->node, s->runs[n].a->node)];
        if (s->runs[n].stiff && *island == LMI_NONE) {
            *island = s->island_count++;
            s->islands[*island] = (lmi_island){.most = 1.0f};
        }
        if (s->runs[n].stiff) {
            s->islands[*island].run_count++;
        }
    }
    uint32_t first = 0;
    for (uint32_t n = 0; n < s->island_count; n++) {
        s->islands[n].first_run = first;
        first += s->islands[n].run_count;
        s->islands[n].run_count = 0;
    }
    for (uint32_t n = 0; n < s->run_count; n++) {
        if (s->runs[n].stiff) {
            lmi_island *island = &s->islands[s->island_of[lmi_set_of(s->node, s->runs[n].a->node)]];
            s->run_of_island[island->first_run + island->run_count++] = n;
        }
    }
}
