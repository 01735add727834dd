#include "contact/meet.h"
#include "contact/cleft.h"
#include "contact/soft.h"
#include "touch/cube.h"
#include "touch/depth.h"

#include <string.h>

/* Points of a way, at most, where a body is fast. */
#define MOST_STOPS 16

typedef struct search {
    const lmi_step *step;
    lmi_push *a, *b;
    uint32_t generation;  /* of b */
    const lmi_entry *box; /* of b */
    lm_dvec3 between;     /* origin of a less origin of b */
    lm_dvec3 way;         /* of a against b in this substep, where that is far; else 0 */
    uint32_t stops;       /* on the way */
    double left;          /* share of the way that is left at the present stop */
    double margin, slop, friction, bounce;
    double gap;             /* of the margin: the distance that soft bodies keep */
    double watched;         /* how far outside points are noticed, metres */
    uint32_t met, turned;   /* points found: facing the other body, and looking away from it */
    bool presses;           /* by the penalty force; else contacts are solved */
    const lmi_cubes *cubes; /* of b, where they say how deep points are; else null */
    bool nested;            /* one body is in the other: which way points look says nothing */
    lmi_contact_list *list;
} search;

/* Whether surfaces look at each other where they touch. An edge that lies on a box near its side would be pushed out there,
 * along the face it belongs to; what is deep inside must get out any way it can. */
static bool faces(const lmi_body *a, uint32_t n, const lmi_inside *inside, const lmi_body *b)
{
    return inside->depth > b->bulk->mould->deep ||
           dvec_dot(lmi_bulk_facing(a->bulk, &a->touch, n), inside->normal) < LMI_FACING;
}

static bool is_recalled(const search *s, uint32_t n)
{
    const lmi_warm *last = &s->a->body->touch.warm[n];
    return last->other == s->b->body->slot + 1 && last->generation == s->generation;
}

/* From the middle of b to that of a, unit, at the present stop: at the end of its way a fast body may be on the far side. */
static lm_dvec3 away_from(const search *s)
{
    const lmi_body *body = s->a->body, *other = s->b->body;
    lm_dvec3 d = dvec_sub(dvec_add(body->origin, dvec_from(body->motion.centre)),
                          dvec_add(other->origin, dvec_from(other->motion.centre)));
    d = dvec_sub(d, dvec_scale(s->way, s->left));
    double length = dvec_length(d);
    /* In one place: one of them up, the other down. */
    return length > 1e-6 * body->rest_size ? dvec_scale(d, 1.0 / length)
                                           : dvec(0.0, body->slot > other->slot ? 1.0 : -1.0, 0.0);
}

/* Adds the contact of a point of a that is in b at `point` (relative to b's origin), unless its surface looks away. */
static void add_found(search *s, uint32_t n, lm_dvec3 point, lmi_inside inside, bool self)
{
    lmi_body *b = s->b->body;
    const bool notices = !self && !s->presses, recalled = notices && is_recalled(s, n);
    /* What is found inside at first has not come through the surface there: the nearest way out may be the far side. */
    if (notices && (recalled || inside.depth < s->slop)) {
        lmi_contact_notice(
            s->list,
            &(lmi_noticed){s->a->body, n, b->slot + 1, s->generation, {inside.out.x, inside.out.y, inside.out.z}});
    }
    if (inside.depth < -(s->margin + s->slop)) {
        return; /* near, and fast: it may be on the other side of something thin before it is checked again */
    }
    if (!s->cubes && !s->nested && s->a->body->bulk && !faces(s->a->body, n, &inside, b)) {
        s->turned++;
        return;
    }
    s->met++;
    if (!s->cubes && !recalled && (s->nested || inside.depth > b->bulk->mould->deep) && !self && !s->a->parts) {
        inside.normal = away_from(s); /* the nearest way out may be the far side */
    }
    float weights[LMI_CARRIER_MOST];
    uint32_t riders[LMI_CARRIER_MOST];
    uint32_t count = lmi_bulk_grip(b->bulk, b, &inside, point, riders, weights);
    quad held = {0}; /* where they hold it: a sheet of particles holds nothing above or below it */
    for (uint32_t k = 0; k < count; k++) {
        held = quad_add_scaled(held, weights[k], quad_load(b->x + (size_t)riders[k] * 4));
    }
    const lmi_touch *touch = &s->a->body->touch;
    uint32_t row = touch->first_row[n / LMI_BLOCK];
    size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
    lmi_contact_def c = {.a = lmi_push_at(s->a, touch->rider[at]),
                         .b = s->b,
                         .rider_a = touch->rider + at,
                         .weight_a = touch->weight + at,
                         .count_a = touch->first_row[n / LMI_BLOCK + 1] - row,
                         .stride_a = LMI_BLOCK,
                         .rider_b = riders,
                         .weight_b = weights,
                         .count_b = count,
                         .normal = inside.normal,
                         .off = dvec_add(dvec_scale(s->way, s->left), dvec_sub(point, quad_to(held))),
                         .depth = inside.depth + s->margin - s->left * dvec_dot(s->way, inside.normal),
                         .friction = s->friction,
                         .restitution = s->bounce,
                         .shallow = LMI_SHALLOW * s->gap,
                         .point = n};
    lmi_contact_add(s->list, &c);
}

/* Which of 16 points (relative to b's origin) are in b. */
static void find_inside(const search *s, const float *points, uint32_t wanted, const lmi_recalled *recalled,
                        lmi_insides *insides)
{
    const lmi_bulk *solid = s->b->body->bulk;
    if (!s->cubes) {
        s->step->world->kernels->find_inside(solid, points, wanted, (float)s->watched, recalled, insides);
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
    lmi_recalled recalled;
} gathered;

/* Adds the contacts of the points gathered so far. */
static void conclude(search *s, gathered *g)
{
    lmi_insides insides;
    if (g->count == 0) {
        return;
    }
    const bool cut = !s->cubes && lmi_is_cut_octree(s->b->body);
    find_inside(s, g->points, (1u << g->count) - 1u, g->recalled.which ? &g->recalled : NULL, &insides);
    for (uint32_t k = 0; insides.found && k < g->count; k++) {
        lm_dvec3 p = dvec(g->points[k], g->points[LMI_BLOCK + k], g->points[2 * LMI_BLOCK + k]);
        if ((insides.found >> k & 1) &&
            (!cut || lmi_cleft_inside(s->b->body, p, s->margin + s->slop, &insides.inside[k]))) {
            add_found(s, g->point[k], p, insides.inside[k], false);
        }
    }
    g->count = g->recalled.which = 0;
}

/* What is in the box of b when it is shifted. */
static lmi_near near_of(lm_dvec3 shift, const lmi_entry *box, const lmi_body *b)
{
    lm_dvec3 lower = dvec_sub(box->lower, b->origin), upper = dvec_sub(box->upper, b->origin);
    lmi_near near = {.by = {(float)shift.x, (float)shift.y, (float)shift.z},
                     .low = {(float)lower.x, (float)lower.y, (float)lower.z},
                     .high = {(float)upper.x, (float)upper.y, (float)upper.z}};
    return near;
}

static uint32_t lanes_of(const lmi_touch *touch, uint32_t block)
{
    uint32_t lanes = touch->count - block * LMI_BLOCK;
    return lanes < LMI_BLOCK ? lanes : LMI_BLOCK;
}

static bool is_block_in(const lmi_touch *touch, uint32_t block, const lmi_near *near)
{
    const float *box = touch->box + (size_t)block * 6;
    return box[0] + near->by[0] <= near->high[0] && box[3] + near->by[0] >= near->low[0] &&
           box[1] + near->by[1] <= near->high[1] && box[4] + near->by[1] >= near->low[1] &&
           box[2] + near->by[2] <= near->high[2] && box[5] + near->by[2] >= near->low[2];
}

/* The points of a block that were in b or near it in the last substep. */
static uint32_t recalled_in(const search *s, uint32_t block)
{
    const lmi_touch *touch = &s->a->body->touch;
    uint32_t found = 0;
    if (!(touch->others[block] & lmi_touch_bit(s->b->body->slot + 1)) || s->presses || s->a == s->b) {
        return 0;
    }
    for (uint32_t k = 0; k < lanes_of(touch, block); k++) {
        found |= (uint32_t)is_recalled(s, block * LMI_BLOCK + k) << k;
    }
    return found;
}

/* The points of one body in another, at a stop of its way. */
static void find_points(search *s)
{
    const lmi_body *b = s->b->body;
    const lmi_touch *touch = &s->a->body->touch;
    lmi_near near = near_of(dvec_sub(s->between, dvec_scale(s->way, s->left)), s->box, b);
    near.margin = (float)s->watched;
    near.all = s->cubes != NULL;
    gathered g;
    g.count = g.recalled.which = 0;
    memset(g.points, 0, sizeof g.points);
    for (uint32_t block = 0; block < touch->blocks; block++) {
        uint32_t recalled = recalled_in(s, block);
        if (!recalled && !is_block_in(touch, block, &near)) {
            continue;
        }
        uint32_t wanted = (1u << lanes_of(touch, block)) - 1u;
        _Alignas(64) float at[3 * LMI_BLOCK];
        wanted &= recalled |
                  s->step->world->kernels->near_points(b->bulk, touch->now + (size_t)block * 3 * LMI_BLOCK, &near, at);
        for (uint32_t k = 0; wanted >> k; k++) {
            if (!(wanted >> k & 1)) {
                continue;
            }
            for (uint32_t i = 0; i < 3; i++) {
                g.points[i * LMI_BLOCK + g.count] = at[i * LMI_BLOCK + k];
            }
            if (recalled >> k & 1) {
                const float *out = touch->warm[block * LMI_BLOCK + k].out;
                g.recalled.which |= 1u << g.count;
                g.recalled.out[g.count] = (lm_vec3){out[0], out[1], out[2]};
            }
            g.point[g.count++] = block * LMI_BLOCK + k;
            if (g.count == LMI_BLOCK) {
                conclude(s, &g);
            }
        }
    }
    conclude(s, &g);
}

/* Bodies that come further than this in a substep, metres, are looked for along their way. */
static double thickness(const lmi_body *a, const lmi_body *b) { return 0.15 * lmi_min(a->rest_size, b->rest_size); }

/* Bodies that answer as a whole need no distance from each other. */
static bool is_soft(const lmi_body *body) { return !(lmi_firm_share(body->firmness, body->damping) > 0.0); }

static search search_of(const lmi_step *step, lmi_push *a, lmi_push *b, const lmi_entry *box, lmi_contact_list *list)
{
    const lmi_body *body = a->body, *other = b->body;
    lm_dvec3 u = dvec_sub(dvec_from(body->motion.velocity), dvec_from(other->motion.velocity));
    search s = {.step = step,
                .a = a,
                .b = b,
                .generation = step->world->bodies.generations[other->slot],
                .box = box,
                .between = dvec_sub(body->origin, other->origin),
                .stops = 1,
                .margin = body->contact_radius + (other->bulk->mould->triangle_count ? other->contact_radius : 0.0f),
                .friction = sqrtf(body->material.friction * other->material.friction),
                .bounce = lmi_maxf(body->material.restitution, other->material.restitution),
                .slop = lmi_min(lmi_contact_slop(step, body), lmi_contact_slop(step, other)),
                .list = list};
    lmi_contact_rule_apply(step->world, body->group, other->group, &s.friction, &s.bounce);
    s.presses = step->world->contact_method != LM_CONTACT_METHOD_SOLVED;
    if (!s.presses && a != b && body->bulk && is_soft(body) && is_soft(other)) {
        s.gap = lmi_gap_between(body->bulk->mould->cell, other->bulk->mould->cell, body->firmness, other->firmness,
                                lmi_contact_fall(step));
        s.margin += s.gap;
    }
    s.cubes = step->world->contact_method == LM_CONTACT_METHOD_CUBE_MAP && a != b ? other->cubes : NULL;
    double thick = thickness(body, other), way = step->h * dvec_length(u);
    s.watched = s.margin + s.slop + (s.presses || a == b ? 0.0 : lmi_min(1.5 * way, other->bulk->mould->deep));
    if (way > thick) {
        s.way = dvec_scale(u, step->h);
        s.stops = (uint32_t)lmi_min(ceil(way / lmi_max(thick, 1e-9)), MOST_STOPS);
    }
    return s;
}

/* The points of a body in the blocks that are in the box of another. */
static uint32_t count_near(const lm_world *world, const lmi_body *a, const lmi_body *b, const lmi_entry *box)
{
    const search s = {.a = &(lmi_push){.body = (lmi_body *)(uintptr_t)a},
                      .b = &(lmi_push){.body = (lmi_body *)(uintptr_t)b},
                      .generation = world->bodies.generations[b->slot]};
    lmi_near near = near_of(dvec_sub(a->origin, b->origin), box, b);
    uint32_t count = 0;
    for (uint32_t block = 0; block < a->touch.blocks; block++) {
        count += is_block_in(&a->touch, block, &near) || recalled_in(&s, block) ? lanes_of(&a->touch, block) : 0;
    }
    return count;
}

uint32_t lmi_most_meetings(const lmi_step *step, const lmi_entry *a, const lmi_entry *b)
{
    const lmi_body *one = lmi_body_at(step->world, a->slot), *other = lmi_body_at(step->world, b->slot);
    lm_dvec3 u = dvec_sub(dvec_from(one->motion.velocity), dvec_from(other->motion.velocity));
    if (step->h * dvec_length(u) > thickness(one, other)) {
        return one->touch.count + other->touch.count;
    }
    return count_near(step->world, one, other, b) + count_near(step->world, other, one, a);
}

/* A body that can break and one that cannot: the particles of the one in the other. */
static bool meet_rubble(const lmi_step *step, const lmi_entry *const entries[2], lmi_push *const pushes[2],
                        lmi_contact_list *list)
{
    int solid = pushes[0]->body->bulk ? 0 : 1;
    if (!pushes[solid]->body->bulk) {
        return false; /* rubble.c */
    }
    search s = search_of(step, pushes[1 - solid], pushes[solid], entries[solid], list);
    const uint32_t noticed = list->noticed_count;
    for (uint32_t k = 1; k <= s.stops && !s.met; k++) {
        list->noticed_count = noticed;
        s.left = 1.0 - (double)k / s.stops;
        find_points(&s);
    }
    return s.met > 0;
}

/* At the first stop of their way where they touch: there they are hardly in each other. Where all points that are in the
 * other body look away from it, one of them is within the other. */
bool lmi_meet(const lmi_step *step, const lmi_entry *const entries[2], lmi_push *const pushes[2],
              lmi_contact_list *list)
{
    if (!pushes[0]->body->bulk || !pushes[1]->body->bulk) {
        return meet_rubble(step, entries, pushes, list);
    }
    search there = search_of(step, pushes[0], pushes[1], entries[1], list);
    search back = search_of(step, pushes[1], pushes[0], entries[0], list);
    const uint32_t noticed = list->noticed_count;
    for (uint32_t k = 1; k <= there.stops && !there.met && !back.met; k++) {
        list->noticed_count = noticed;
        there.left = back.left = 1.0 - (double)k / there.stops;
        find_points(&there);
        find_points(&back);
    }
    if (!there.met && !back.met && (there.turned || back.turned)) {
        list->noticed_count = noticed;
        there.nested = back.nested = true;
        find_points(&there);
        find_points(&back);
    }
    return there.met || back.met;
}

/* --- in itself --- */

/* Two points in one place are taken to one place by the map of the whole, and each is within `slack` of where it was at rest:
 * while that is short nothing far away can have come here. */
bool lmi_may_meet_itself(const lmi_push *push)
{
    const lmi_bulk *bulk = push->body->bulk;
    return (push->body->octree && push->body->octree->clefts) ||
           !(2.0 * bulk->slack + 2.0 * push->body->contact_radius < 0.5 * bulk->mould->apart);
}

bool lmi_meet_itself(const lmi_step *step, const lmi_entry *entry, lmi_push *push, uint32_t first, uint32_t end,
                     lmi_contact_list *list)
{
    search s = search_of(step, push, push, entry, list), cleft = s;
    const lmi_body *body = push->body;
    const lmi_touch *touch = &body->touch;
    float apart = (float)body->bulk->mould->apart;
    cleft.margin = 0.0; /* both sides of a cut are where the blade went */
    for (uint32_t block = first; block < end; block++) {
        uint32_t wanted = (1u << lanes_of(touch, block)) - 1u;
        lmi_insides insides;
        for (uint32_t k = 0; body->octree && body->octree->clefts && wanted >> k; k++) {
            uint32_t n = block * LMI_BLOCK + k;
            if (lmi_cleft_meet(body, n, cleft.slop, &insides.inside[0])) {
                add_found(&cleft, n, dvec_from(lmi_touch_now(touch, n)), insides.inside[0], true);
                wanted &= ~(1u << k);
            }
        }
        step->world->kernels->find_itself(body->bulk, touch, block, wanted, (float)s.margin, apart, &insides);
        for (uint32_t k = 0; insides.found >> k; k++) {
            uint32_t n = block * LMI_BLOCK + k;
            if ((insides.found >> k & 1) &&
                dvec_length(dvec_sub(insides.inside[k].rest, dvec_from(touch->rest[n]))) > 0.5 * apart) {
                add_found(&s, n, dvec_from(lmi_touch_now(touch, n)), insides.inside[k], true);
            }
        }
    }
    return s.met + cleft.met > 0;
}
