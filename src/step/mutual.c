/*
 * Mutual contacts: bodies that touch each other, themselves, and colliders at the same time.
 *
 * Reads and writes positions and velocities. In order:
 *
 *   bounds    a box around each body, sorted along x; boxes that overlap are candidates
 *   update    where the touch points and carriers of bodies with candidates are (in parallel)
 *   find      each touch point in the box of another body is taken into that body's rest shape, where its distance field
 *             says how deep it is and which way is out (sample/bulk.h)
 *   solve     all contacts, those with colliders among them (solve.h)
 *   pins      have the last word
 *
 * A point that moves further in a substep than bodies are thick is looked for along its way.
 *
 * Deterministic because bodies are sorted by place and slot, contacts stand in the order in which they are found, and
 * neither depends on who found them.
 */
#include "step/mutual.h"
#include "base/guard.h"
#include "base/os.h"
#include "sample/cube.h"
#include "skeleton.h"
#include "step/motion.h"
#include "step/penalty.h"

#include <string.h>

/* Contacts solved together, at most; see lmi_contact_list. */
#define MOST_MUTUAL 65536u

/* Bodies of its size or larger that one body is tested against in a substep, at most: ten thousand in one place must not take
 * forever. They come apart all the same, those first whose boxes begin first. */
#define MOST_PARTNERS 64u

/* Cosine between the directions of two surfaces that touch, at most. */
#define FACING (-0.2)

/* Points of a way, at most, where a body is fast. */
#define MOST_STOPS 16

typedef struct entry {
    lm_dvec3 lower, upper; /* world */
    uint32_t slot;
    uint32_t partners; /* of about its size or larger */
    bool met;          /* its box overlaps that of another */
    double size;
    uint32_t first_place; /* among all bodies' */
    double way;           /* in this substep: its own, or against a partner where that is further */
} entry;

typedef struct lmi_mutual {
    entry *entries;   /* sorted along an axis */
    lmi_push *pushes; /* in the order of entries */
    lmi_contact *contacts;
    lmi_hold *holds;
    float *loads; /* of all bodies' places */
    uint32_t count;
    int axis; /* along which the entries are sorted */
    uint32_t entry_capacity, push_capacity, contact_capacity, hold_capacity, load_capacity;
    uint32_t limit, hold_limit; /* contacts that are solved together, and the particles that hold them */
} lmi_mutual;

/* What all bodies together need. */
typedef struct needs {
    uint32_t bodies, most_rows, most_riders;
    uint64_t points, places;
} needs;

static needs needs_of(const lm_world *world)
{
    needs n = {.most_rows = 1, .most_riders = 8};
    LMI_POOL_EACH(&world->bodies, k)
    {
        const lmi_body *body = lmi_body_at(world, k);
        if (body->bulk) {
            n.bodies++;
            n.points += body->touch.count;
            n.places += body->place_count;
            n.most_rows = body->touch.most_rows > n.most_rows ? body->touch.most_rows : n.most_rows;
            n.most_riders = body->bulk->carrier_riders > n.most_riders ? body->bulk->carrier_riders : n.most_riders;
        }
    }
    return n;
}

static bool reserve(lm_world *world, lmi_mutual *m, const needs *n)
{
    lmi_memory *memory = &world->memory;
    uint32_t limit = (uint32_t)(n->points < 256 ? 256 : n->points < MOST_MUTUAL ? n->points : MOST_MUTUAL);
    uint32_t held = limit * (n->most_rows + n->most_riders);
    void *entries = m->entries, *pushes = m->pushes, *contacts = m->contacts, *holds = m->holds, *loads = m->loads;
    bool ok = n->places <= UINT32_MAX &&
              lmi_reserve(memory, &entries, &m->entry_capacity, n->bodies, sizeof *m->entries) &&
              lmi_reserve(memory, &pushes, &m->push_capacity, n->bodies, sizeof *m->pushes) &&
              lmi_reserve(memory, &contacts, &m->contact_capacity, limit, sizeof *m->contacts) &&
              lmi_reserve(memory, &holds, &m->hold_capacity, held, sizeof *m->holds) &&
              lmi_reserve(memory, &loads, &m->load_capacity, (uint32_t)n->places, sizeof *m->loads);
    m->entries = entries;
    m->pushes = pushes;
    m->contacts = contacts;
    m->holds = holds;
    m->loads = loads;
    m->count = n->bodies;
    m->limit = limit;
    m->hold_limit = held;
    return ok;
}

bool lmi_mutual_reserve(lm_world *world)
{
    needs n = needs_of(world);
    if (n.bodies == 0) {
        if (world->mutual) {
            world->mutual->count = 0;
        }
        return true;
    }
    if (!world->mutual) {
        world->mutual = lmi_allocate(&world->memory, 1, sizeof *world->mutual);
    }
    return world->mutual && reserve(world, world->mutual, &n);
}

void lmi_mutual_free(lm_world *world)
{
    lmi_mutual *m = world->mutual;
    if (m) {
        lmi_release(&world->memory, m->entries, m->entry_capacity, sizeof *m->entries);
        lmi_release(&world->memory, m->pushes, m->push_capacity, sizeof *m->pushes);
        lmi_release(&world->memory, m->contacts, m->contact_capacity, sizeof *m->contacts);
        lmi_release(&world->memory, m->holds, m->hold_capacity, sizeof *m->holds);
        lmi_release(&world->memory, m->loads, m->load_capacity, sizeof *m->loads);
        lmi_release(&world->memory, m, 1, sizeof *m);
        world->mutual = NULL;
    }
}

/* --- bounds --- */

static entry bound(const lmi_body *body, uint32_t slot, double h)
{
    double way = h * dvec_length(dvec_from(body->motion.velocity));
    double reach =
        body->contact_radius + body->touch.beyond + 0.01 * body->rest_size + (way > 0.1 * body->rest_size ? way : 0.0);
    lm_dvec3 by = dvec(reach, reach, reach);
    entry e = {.lower = dvec_sub(dvec_add(body->origin, dvec_from(body->lower)), by),
               .upper = dvec_add(dvec_add(body->origin, dvec_from(body->upper)), by),
               .slot = slot,
               .size = body->rest_size,
               .way = way};
    return e;
}

static double along(lm_dvec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static bool before(const entry *a, const entry *b, int axis)
{
    double x = along(a->lower, axis), y = along(b->lower, axis);
    return x < y || (x == y && a->slot < b->slot);
}

/* The axis along which the bodies are spread most: there the fewest boxes overlap. */
static int longest_axis(const entry *entries, uint32_t count)
{
    double sum[3] = {0}, squares[3] = {0}, spread[3];
    for (uint32_t n = 0; n < count; n++) {
        for (int a = 0; a < 3; a++) {
            double x = along(entries[n].lower, a) - along(entries[0].lower, a);
            sum[a] += x;
            squares[a] += x * x;
        }
    }
    for (int a = 0; a < 3; a++) {
        spread[a] = squares[a] - sum[a] * sum[a] / count;
    }
    return spread[1] > spread[0] ? (spread[2] > spread[1] ? 2 : 1) : spread[2] > spread[0] ? 2 : 0;
}

/* In place, by gaps that shrink: nearly sorted lists take one pass, and no memory is needed. */
static void sort(entry *entries, uint32_t count, int axis)
{
    static const uint32_t gaps[] = {65921, 28842, 12618, 5520, 2415, 1057, 462, 202, 88, 39, 17, 7, 3, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (uint32_t n = gaps[g]; n < count; n++) {
            entry moving = entries[n];
            uint32_t at = n;
            for (; at >= gaps[g] && before(&moving, &entries[at - gaps[g]], axis); at -= gaps[g]) {
                entries[at] = entries[at - gaps[g]];
            }
            entries[at] = moving;
        }
    }
}

static bool overlap(const entry *a, const entry *b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static bool may_meet(const lmi_body *a, const lmi_body *b)
{
    return (a->mask & b->group) && (b->mask & a->group) && !(a->asleep && b->asleep);
}

/* Whether a partner counts among those that a body has at most. Much smaller ones do not: a bed may carry hundreds. */
static bool counts(const entry *e, const entry *partner) { return partner->size >= 0.5 * e->size; }

/* Calls `each` for every pair of bodies whose boxes overlap, in the order of the entries. */
static void for_pairs(const lmi_step *step, lmi_mutual *m,
                      void (*each)(const lmi_step *, lmi_mutual *, uint32_t, uint32_t, void *), void *user)
{
    for (uint32_t n = 0; n < m->count; n++) {
        m->entries[n].partners = 0;
    }
    for (uint32_t n = 0; n < m->count; n++) {
        entry *a = &m->entries[n];
        double end = along(a->upper, m->axis);
        for (uint32_t k = n + 1; k < m->count && along(m->entries[k].lower, m->axis) <= end; k++) {
            entry *b = &m->entries[k];
            if (!overlap(a, b) || !may_meet(lmi_body_at(step->world, a->slot), lmi_body_at(step->world, b->slot))) {
                continue;
            }
            bool for_a = counts(a, b), for_b = counts(b, a);
            if ((for_a && a->partners >= MOST_PARTNERS) || (for_b && b->partners >= MOST_PARTNERS)) {
                continue;
            }
            a->partners += for_a;
            b->partners += for_b;
            a->met = b->met = true;
            each(step, m, n, k, user);
        }
    }
}

static void measure_pair(const lmi_step *step, lmi_mutual *m, uint32_t a, uint32_t b, void *user)
{
    (void)user;
    entry *one = &m->entries[a], *other = &m->entries[b];
    double way = step->h * dvec_length(dvec_sub(dvec_from(lmi_body_at(step->world, one->slot)->motion.velocity),
                                                dvec_from(lmi_body_at(step->world, other->slot)->motion.velocity)));
    one->way = fmax(one->way, way);
    other->way = fmax(other->way, way);
}

/* --- update --- */

static void update_body(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_mutual *m = step->world->mutual;
    lmi_body *body = lmi_body_at(step->world, m->entries[index].slot);
    if (body->asleep && !m->entries[index].met) {
        m->pushes[index] = (lmi_push){.body = body};
        return;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_push_begin(&m->pushes[index], body, m->entries[index].way);
    m->pushes[index].load = m->loads + m->entries[index].first_place;
    if (!body->asleep) { /* what it rests on will be there when it wakes */
        lmi_touch_begin(&body->touch);
    }
    if (m->entries[index].met || body->self_contact) {
        step->world->kernels->place_points(body);
        lmi_bulk_update(body->bulk, body);
    }
    lmi_float_mode_leave(&host);
}

/* --- find --- */

typedef struct search {
    const lmi_step *step;
    lmi_push *a, *b;
    const entry *box; /* of b */
    lm_dvec3 between; /* origin of a less origin of b */
    lm_dvec3 away;    /* from the middle of b to that of a, unit */
    lm_dvec3 way;     /* of a against b in this substep, where that is far; else 0 */
    uint32_t stops;   /* on the way */
    double left;      /* share of the way that is left at the present stop */
    double margin, slop, friction, bounce;
    uint32_t met, turned;   /* points found: facing the other body, and looking away from it */
    double penalty;         /* N/m; 0: contacts are solved */
    const lmi_cubes *cubes; /* of b, where they say how deep points are; else null */
    bool nested;            /* one body is in the other: which way points look says nothing */
    lmi_contact_list *list;
} search;

/* Whether surfaces look at each other where they touch. An edge that lies on a box near its side would be pushed out there,
 * along the face it belongs to; what is deep inside must get out any way it can. */
static bool faces(const lmi_body *a, uint32_t n, const lmi_inside *inside, const lmi_body *b)
{
    return inside->depth > 2.0 * b->bulk->cell ||
           dvec_dot(lmi_bulk_facing(a->bulk, &a->touch, n), inside->normal) < FACING;
}

/* Adds the contact of a point of a that is in b at `point` (relative to b's origin), unless its surface looks away. */
static void add_found(search *s, uint32_t n, lm_dvec3 point, lmi_inside inside, bool self)
{
    lmi_body *b = s->b->body;
    if (!s->cubes && !s->nested && !faces(s->a->body, n, &inside, b)) {
        s->turned++;
        return;
    }
    s->met++;
    s->a->met = s->b->met = true;
    if (!s->cubes && (s->nested || inside.depth > 2.0 * b->bulk->cell) && !self) {
        inside.normal = s->away; /* the nearest way out may be the far side */
    }
    float weights[LMI_CARRIER_MOST];
    uint32_t riders[LMI_CARRIER_MOST];
    uint32_t count = lmi_bulk_grip(b->bulk, b, &inside, point, riders, weights);
    const lmi_touch *touch = &s->a->body->touch;
    uint32_t row = touch->first_row[n / LMI_BLOCK];
    size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
    lmi_contact_def c = {.a = s->a,
                         .b = s->b,
                         .rider_a = touch->rider + at,
                         .weight_a = touch->weight + at,
                         .count_a = touch->first_row[n / LMI_BLOCK + 1] - row,
                         .stride_a = LMI_BLOCK,
                         .rider_b = riders,
                         .weight_b = weights,
                         .count_b = count,
                         .normal = inside.normal,
                         .off = dvec_scale(s->way, s->left),
                         .depth = inside.depth + s->margin - s->left * dvec_dot(s->way, inside.normal),
                         .friction = s->friction,
                         .restitution = s->bounce,
                         .point = n};
    if (s->penalty > 0.0) {
        lmi_penalty_push(s->step->world, &c, s->penalty, s->step->h);
        return;
    }
    lmi_contact_add(s->list, &c);
}

/* Which of 16 points (relative to b's origin) are in b. */
static void find_inside(const search *s, const float *points, uint32_t wanted, lmi_insides *insides)
{
    const lmi_bulk *solid = s->b->body->bulk;
    if (!s->cubes) {
        s->step->world->kernels->find_inside(solid, points, wanted, (float)(s->margin + s->slop), insides);
        return;
    }
    insides->found = 0;
    for (uint32_t k = 0; k < LMI_BLOCK; k++) {
        lm_dvec3 p = dvec(points[k], points[LMI_BLOCK + k], points[2 * LMI_BLOCK + k]);
        bool found = (wanted >> k & 1) && lmi_cubes_find(s->cubes, solid, p, s->margin + s->slop, &insides->inside[k]);
        insides->found |= (uint32_t)found << k;
    }
}

/* Points of a that may be in b, gathered until a block is full. Relative to b's origin. */
typedef struct gathered {
    _Alignas(64) float points[3 * LMI_BLOCK];
    uint32_t point[LMI_BLOCK];
    uint32_t count;
} gathered;

/* Adds the contacts of the points gathered so far. */
static void conclude(search *s, gathered *g)
{
    lmi_insides insides;
    if (g->count == 0) {
        return;
    }
    find_inside(s, g->points, (1u << g->count) - 1u, &insides);
    for (uint32_t k = 0; insides.found && k < g->count; k++) {
        if (insides.found >> k & 1) {
            lm_dvec3 p = dvec(g->points[k], g->points[LMI_BLOCK + k], g->points[2 * LMI_BLOCK + k]);
            add_found(s, g->point[k], p, insides.inside[k], false);
        }
    }
    g->count = 0;
}

/* The points of one body in another, at a stop of its way. */
static void find_points(search *s)
{
    const lmi_body *a = s->a->body, *b = s->b->body;
    const lmi_touch *touch = &a->touch;
    lm_dvec3 shift = dvec_sub(s->between, dvec_scale(s->way, s->left));
    const float by[3] = {(float)shift.x, (float)shift.y, (float)shift.z}, near = (float)(s->margin + s->slop);
    lm_dvec3 lower = dvec_sub(s->box->lower, b->origin), upper = dvec_sub(s->box->upper, b->origin);
    const float low[3] = {(float)lower.x, (float)lower.y, (float)lower.z};
    const float high[3] = {(float)upper.x, (float)upper.y, (float)upper.z};
    gathered g;
    g.count = 0;
    memset(g.points, 0, sizeof g.points);
    for (uint32_t block = 0; block < touch->blocks; block++) {
        const float *box = touch->box + (size_t)block * 6, *now = touch->now + (size_t)block * 3 * LMI_BLOCK;
        if (box[0] + by[0] > high[0] || box[3] + by[0] < low[0] || box[1] + by[1] > high[1] ||
            box[4] + by[1] < low[1] || box[2] + by[2] > high[2] || box[5] + by[2] < low[2]) {
            continue;
        }
        uint32_t lanes = touch->count - block * LMI_BLOCK;
        lanes = lanes < LMI_BLOCK ? lanes : LMI_BLOCK;
        for (uint32_t k = 0; k < lanes; k++) {
            const float p[3] = {now[k] + by[0], now[LMI_BLOCK + k] + by[1], now[2 * LMI_BLOCK + k] + by[2]};
            if (p[0] < low[0] || p[0] > high[0] || p[1] < low[1] || p[1] > high[1] || p[2] < low[2] || p[2] > high[2] ||
                (!s->cubes && !lmi_bulk_near(b->bulk, p, near))) {
                continue;
            }
            for (uint32_t i = 0; i < 3; i++) {
                g.points[i * LMI_BLOCK + g.count] = p[i];
            }
            g.point[g.count++] = block * LMI_BLOCK + k;
            if (g.count == LMI_BLOCK) {
                conclude(s, &g);
            }
        }
    }
    conclude(s, &g);
}

static lm_dvec3 away_from(const lmi_body *body, const lmi_body *other)
{
    lm_dvec3 d = dvec_sub(dvec_add(body->origin, dvec_from(body->motion.centre)),
                          dvec_add(other->origin, dvec_from(other->motion.centre)));
    double length = dvec_length(d);
    /* In one place: one of them up, the other down. */
    return length > 1e-6 * body->rest_size ? dvec_scale(d, 1.0 / length) : dvec(0.0, body > other ? 1.0 : -1.0, 0.0);
}

static search search_of(const lmi_step *step, lmi_mutual *m, uint32_t a, uint32_t b, lmi_contact_list *list)
{
    const lmi_body *body = lmi_body_at(step->world, m->entries[a].slot);
    const lmi_body *other = lmi_body_at(step->world, m->entries[b].slot);
    lm_dvec3 u = dvec_sub(dvec_from(body->motion.velocity), dvec_from(other->motion.velocity));
    search s = {.step = step,
                .a = &m->pushes[a],
                .b = &m->pushes[b],
                .box = &m->entries[b],
                .between = dvec_sub(body->origin, other->origin),
                .away = away_from(body, other),
                .stops = 1,
                .margin = body->contact_radius + (other->bulk->triangle_count ? other->contact_radius : 0.0f),
                .friction = sqrtf(body->material.friction * other->material.friction),
                .bounce = fmaxf(body->material.restitution, other->material.restitution),
                .slop = fmin(lmi_contact_slop(step, body), lmi_contact_slop(step, other)),
                .list = list};
    lmi_contact_rule_apply(step->world, body->group, other->group, &s.friction, &s.bounce);
    if (step->world->contact_method != LM_CONTACT_METHOD_SOLVED) {
        s.penalty = fmax(lmi_penalty_of(body, step->h), lmi_penalty_of(other, step->h));
        s.cubes = step->world->contact_method == LM_CONTACT_METHOD_CUBE_MAP && a != b ? other->cubes : NULL;
    }
    double thick = 0.15 * fmin(body->rest_size, other->rest_size), way = step->h * dvec_length(u);
    if (way > thick) {
        s.way = dvec_scale(u, step->h);
        s.stops = (uint32_t)fmin(ceil(way / fmax(thick, 1e-9)), MOST_STOPS);
    }
    return s;
}

/* Two bodies, at the first stop of their way where they touch: there they are hardly in each other. Where all points that are
 * in the other body look away from it, one of them is within the other. */
static void find_pair(const lmi_step *step, lmi_mutual *m, uint32_t a, uint32_t b, void *user)
{
    search there = search_of(step, m, a, b, user), back = search_of(step, m, b, a, user);
    for (uint32_t k = 1; k <= there.stops && !there.met && !back.met; k++) {
        there.left = back.left = 1.0 - (double)k / there.stops;
        find_points(&there);
        find_points(&back);
    }
    if (!there.met && !back.met && (there.turned || back.turned)) {
        there.nested = back.nested = true;
        find_points(&there);
        find_points(&back);
    }
}

/* A body in itself: what is far away in the rest shape. Two points in one place are taken to one place by the map of the whole,
 * and each is within `slack` of where it was at rest: while that is short nothing far away can have come here. */
static void find_self(const lmi_step *step, lmi_mutual *m, uint32_t index, lmi_contact_list *list)
{
    search s = search_of(step, m, index, index, list);
    const lmi_body *body = s.a->body;
    double apart = body->bulk->reach;
    if (2.0 * body->bulk->slack + 2.0 * s.margin < 0.5 * apart) {
        return;
    }
    for (uint32_t n = 0; n < body->touch.count; n++) {
        lm_dvec3 p = dvec_from(lmi_touch_now(&body->touch, n)), rest = dvec_from(body->touch.rest[n]);
        lmi_inside inside;
        if (lmi_bulk_find(body->bulk, p, s.margin, rest, apart, &inside) &&
            dvec_length(dvec_sub(inside.rest, rest)) > 0.5 * apart) {
            add_found(&s, n, p, inside, true);
        }
    }
}

/* --- all of it --- */

/* Gives a body what it was given as a whole; then walls, and pins, have the last word. */
static void finish_body(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lm_world *world = step->world;
    lmi_push *push = &world->mutual->pushes[index];
    lmi_body *body = push->body;
    if (body->asleep && !body->roused) {
        return;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_push_end(push);
    lmi_push_untwist(push);
    if (step->surface_count) {
        lmi_scratch *scratch = lmi_scratch_take(world);
        world->kernels->last_walls(step, body, push->met, scratch);
        lmi_scratch_give(scratch);
    }
    if (!body->asleep) {
        lmi_touch_end(&body->touch);
    }
    lmi_bones_hold(step, body);
    lmi_pins_apply(step, body);
    if (step->last) {
        lmi_skin_update(world, body);
    }
    lmi_float_mode_leave(&host);
}

void lmi_mutual_contacts(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_mutual *m = world->mutual;
    if (!m || m->count == 0) {
        return;
    }
    uint64_t start = lmi_os_nanoseconds();
    uint32_t count = 0, places = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (body->bulk) {
            m->entries[count] = bound(body, n, step->h);
            m->entries[count++].first_place = places;
            places += body->place_count;
        }
    }
    m->axis = longest_axis(m->entries, count);
    sort(m->entries, count, m->axis);
    for_pairs(step, m, measure_pair, NULL);
    lmi_workers_run(world->workers, update_body, (void *)(uintptr_t)step, count);
    lmi_contact_list list = {.world = world,
                             .contacts = m->contacts,
                             .holds = m->holds,
                             .limit = m->limit,
                             .hold_limit = m->hold_limit,
                             .sweeps = LMI_SWEEPS,
                             .h = step->h};
    for (uint32_t n = 0; n < count; n++) {
        if (!m->pushes[n].body->asleep) {
            world->kernels->find_walls(step, &m->pushes[n], &list);
        }
    }
    for_pairs(step, m, find_pair, &list);
    for (uint32_t n = 0; n < count; n++) {
        if (m->pushes[n].body->self_contact && !m->pushes[n].body->asleep) {
            find_self(step, m, n, &list);
        }
    }
    uint64_t found = lmi_os_nanoseconds();
    lmi_contacts_flush(&list);
    lmi_workers_run(world->workers, finish_body, (void *)(uintptr_t)step, count);
    world->find_nanoseconds += found - start;
    world->solve_nanoseconds += lmi_os_nanoseconds() - found;
}
