#include "step/solve.h"
#include "step/soft.h"
#include "step/touching.h"

/* Sweeps end when the largest change in one is below this, m/s. */
#define STILL_SPEED 1e-4f

/* --- what a contact sees and gives --- */

static inline quad without_w(quad a) { return quad_of(a[0], a[1], a[2]); }

static inline quad particles_velocity(const lmi_contact *c)
{
    quad u = lmi_hold_sum(c->hold, c->count_a, c->a->v);
    return without_w(c->b ? u - lmi_hold_sum(c->hold + c->count_a, c->count_b, c->b->v) : u - c->surface);
}

/* How fast a moves, seen from b. */
static inline quad velocity_now(const lmi_contact *c)
{
    quad u = c->unchanging ? c->steady : particles_velocity(c);
    if (c->whole) {
        u += c->a->moved ? lmi_push_velocity(c->a, c->arm_a) : quad_of(0.0f, 0.0f, 0.0f);
        u -= c->b && c->b->moved ? lmi_push_velocity(c->b, c->arm_b) : quad_of(0.0f, 0.0f, 0.0f);
    }
    return u;
}

/* How deep it still is. */
static inline float depth_now(const lmi_contact *c)
{
    quad p = lmi_hold_sum(c->hold, c->count_a, c->a->x);
    p -= c->b ? lmi_hold_sum(c->hold + c->count_a, c->count_b, c->b->x) : quad_of(0.0f, 0.0f, 0.0f);
    if (c->whole) {
        p += c->a->moved ? lmi_push_move(c->a, c->arm_a) : quad_of(0.0f, 0.0f, 0.0f);
        p -= c->b && c->b->moved ? lmi_push_move(c->b, c->arm_b) : quad_of(0.0f, 0.0f, 0.0f);
    }
    return c->level - quad_dot(p, c->normal);
}

static inline float mobility(const lmi_contact *c, quad n)
{
    float sum = c->plain + lmi_push_mobility(c->a, c->arm_a, n);
    return c->b ? sum + c->ratio * lmi_push_mobility(c->b, c->arm_b, n) : sum;
}

static void give_impulse(const lmi_contact *c, quad impulse)
{
    quad back = -c->ratio * impulse;
    if (c->a->rigid < 1.0f) {
        lmi_hold_add(c->hold, c->count_a, c->a->v, impulse);
    }
    if (c->b && c->b->rigid < 1.0f) {
        lmi_hold_add(c->hold + c->count_a, c->count_b, c->b->v, back);
    }
    if (c->a->rigid > 0.0f) {
        lmi_push_impulse(c->a, c->arm_a, impulse);
    }
    if (c->b && c->b->rigid > 0.0f) {
        lmi_push_impulse(c->b, c->arm_b, back);
    }
}

static void give_shift(const lmi_contact *c, quad shift)
{
    quad back = -c->ratio * shift;
    if (c->a->rigid < 1.0f) {
        lmi_hold_add(c->hold, c->count_a, c->a->x, shift);
    }
    if (c->b && c->b->rigid < 1.0f) {
        lmi_hold_add(c->hold + c->count_a, c->count_b, c->b->x, back);
    }
    if (c->a->rigid > 0.0f) {
        lmi_push_shift(c->a, c->arm_a, shift);
    }
    if (c->b && c->b->rigid > 0.0f) {
        lmi_push_shift(c->b, c->arm_b, back);
    }
}

/* --- velocities --- */

static inline lmi_soft soft_of(const lmi_contact *c)
{
    lmi_soft soft = {c->braked, c->ahead, c->more, c->pressed};
    return soft;
}

static inline void put_soft(lmi_contact *c, lmi_soft soft)
{
    c->braked = soft.braked;
    c->ahead = soft.ahead;
    c->more = soft.more;
    c->pressed = soft.pressed;
}

/* Gives a contact what its point was given last time. Only one contact of a point gets it. A soft contact gets no more of it
 * than loses energy. */
static void warm_up(lmi_contact *c)
{
    quad impulse = quad_of(c->last->braked[0], c->last->braked[1], c->last->braked[2]);
    impulse += (c->last->pressed - quad_dot(impulse, c->normal)) * c->normal;
    if (!(c->last->pressed > 0.0f)) {
        return;
    }
    c->last->pressed = 0.0f;
    impulse = c->whole ? impulse : lmi_soft_lose(impulse, c->steady, c->deep);
    put_soft(c, lmi_soft_start(impulse, c->normal, c->friction));
    give_impulse(c, c->ahead);
}

/* What a contact lacks along the normal at velocity u: the change of its impulse. Across a gap they may approach as fast as
 * closes it in one substep. */
static inline float lacks_normal(lmi_contact *c, quad u, float inverse_h)
{
    float closing = fmaxf(-c->depth, 0.0f) * inverse_h;
    float total = fmaxf(c->pressed + (c->bounce - closing - quad_dot(u, c->normal)) / c->deep, 0.0f);
    float more = total - c->pressed;
    c->pressed = total;
    return more;
}

static inline quad lacks_friction(lmi_contact *c, quad u)
{
    quad slide = u - quad_dot(u, c->normal) * c->normal, total = c->braked, before = total;
    float speed = quad_length(slide), most = c->friction * c->pressed;
    if (speed > 1e-12f) {
        total -= (1.0f / mobility(c, (1.0f / speed) * slide)) * slide;
    }
    float size = quad_length(total);
    total = size > most ? (most / size) * total : total;
    c->braked = total;
    return total - before;
}

static void give_more(lmi_contact *contacts, uint32_t count, void (*give)(const lmi_contact *, quad))
{
    for (uint32_t n = 0; n < count; n++) {
        if (!contacts[n].whole && !contacts[n].watched) {
            give(&contacts[n], contacts[n].more);
        }
    }
}

/* All soft contacts at once. */
static void pass_velocities(lmi_contact *contacts, uint32_t count, float beta)
{
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        if (c->whole || c->watched) {
            continue;
        }
        put_soft(c, lmi_soft_pass(soft_of(c), velocity_now(c), c->normal, c->bounce, c->deep, c->friction, beta));
    }
    give_more(contacts, count, give_impulse);
}

/* The others one after the other, there and back: loads travel both ways. */
static float sweep_velocities(lmi_contact *contacts, uint32_t count, bool back, float inverse_h)
{
    float most = 0.0f;
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[back ? count - 1 - n : n];
        if (!c->whole || c->watched) {
            continue;
        }
        float more = lacks_normal(c, velocity_now(c), inverse_h);
        give_impulse(c, more * c->normal);
        most = fmaxf(most, fabsf(more) * c->deep);
        if (c->friction > 0.0f) {
            quad braked = lacks_friction(c, velocity_now(c));
            give_impulse(c, braked);
            most = fmaxf(most, quad_length(braked) * c->deep);
        }
    }
    return most;
}

/* --- positions --- */

/* The time in which a contact has slid along, seconds. */
static float slid_for(const lmi_contact *c, float h)
{
    return c->b || !c->a->body->halted ? h : (float)(c->a->body->moved * h);
}

/* Takes back the way that the velocities lost were good for: all of it along the surface, and as much as is below it. What
 * bounces has gone back a part of its way by now. */
static void take_back(lmi_contact *contacts, uint32_t count, float h)
{
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        float share = lmi_soft_share(c->depth, c->approach, h);
        if (c->pressed > 0.0f) {
            c->shifted = share * h * c->pressed;
            c->level += share * h * c->bounce; /* so far has it come since it bounced */
            give_shift(c, c->shifted * c->normal + slid_for(c, h) * c->braked);
        }
        c->ahead = quad_of(c->shifted, 0.0f, 0.0f);
    }
}

/* Leaves soft bodies most of the depth that is still there. */
static void ease(lmi_contact *contacts, uint32_t count, float h)
{
    float share = lmi_soft_ease(h);
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        float left = LMI_LEFT * (float)c->a->body->rest_size;
        c->level -= left;
        if (c->b && !c->whole && !c->watched) {
            c->level -= (1.0f - share) * fmaxf(depth_now(c), 0.0f);
        }
    }
}

static void pass_positions(lmi_contact *contacts, uint32_t count, float beta)
{
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        if (!c->whole && !c->watched) {
            float depth = depth_now(c), before = c->shifted;
            c->shifted = fmaxf(c->ahead[0] + depth / c->deep, 0.0f);
            float ahead = c->shifted + beta * (c->shifted - before);
            c->more = (ahead - c->ahead[0]) * c->normal;
            c->ahead[0] = ahead;
        }
    }
    give_more(contacts, count, give_shift);
}

static float sweep_positions(lmi_contact *contacts, uint32_t count, bool back)
{
    float most = 0.0f;
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[back ? count - 1 - n : n];
        if (c->whole && !c->watched) {
            float depth = depth_now(c);
            float total = fmaxf(c->shifted + depth / c->deep, 0.0f), more = total - c->shifted;
            give_shift(c, more * c->normal);
            c->shifted = total;
            most = fmaxf(most, fabsf(more) * c->deep);
        }
    }
    return most;
}

/* --- all of it --- */

/* Adds the loads of soft contacts. */
static void carry(const lmi_push *push, const lmi_hold *holds, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        push->load[holds[n].place] += fabsf(holds[n].weight);
    }
}

/* How mobile soft contacts are, all that share their particles considered. */
static void weigh(lmi_contact *contacts, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const lmi_contact *c = &contacts[n];
        if (!c->whole && !c->watched) {
            carry(c->a, c->hold, c->count_a);
            carry(c->b, c->hold + c->count_a, c->count_b);
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        float a = 0.0f, b = 0.0f;
        if (c->whole || c->watched) {
            continue;
        }
        for (uint32_t k = 0; k < c->count_a; k++) {
            a += fabsf(c->hold[k].lever) * c->a->load[c->hold[k].place];
        }
        for (uint32_t k = 0; k < c->count_b; k++) {
            b += fabsf(c->hold[c->count_a + k].lever) * c->b->load[c->hold[c->count_a + k].place];
        }
        c->plain = c->deep = a + c->ratio * b;
    }
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact *c = &contacts[n];
        for (uint32_t k = 0; !c->whole && k < c->count_a; k++) {
            c->a->load[c->hold[k].place] = 0.0f;
        }
        for (uint32_t k = 0; !c->whole && k < c->count_b; k++) {
            c->b->load[c->hold[c->count_a + k].place] = 0.0f;
        }
    }
}

/* A side's velocity as its angular momentum sees it when the side is shifted: that of the point where it answers locally,
 * that of the centre where it answers as a whole. */
static quad shifted_velocity(const lmi_push *push, const lmi_hold *hold, uint32_t count, quad arm)
{
    quad u = lmi_hold_sum(hold, count, push->v);
    if (push->rigid > 0.0f) {
        u = (1.0f - push->rigid) * (u + lmi_push_velocity(push, arm)) + push->rigid * push->mean;
    }
    return without_w(u);
}

static double inertia_size(const lmi_body *body)
{
    return (body->motion.inertia[0] + body->motion.inertia[1] + body->motion.inertia[2]) * body->mean_mass;
}

/* Bodies that are shifted while they move past each other change their angular momentum, and so do impulses that act in two
 * places. Both bodies will turn back by as much, by their inertia; a piece of a body counts as the body. */
static void note_twist(const lmi_contact *c, float h)
{
    quad shift = c->shifted * c->normal + h * c->braked, impulse = c->pressed * c->normal + c->braked;
    quad u = shifted_velocity(c->a, c->hold, c->count_a, c->arm_a) -
             shifted_velocity(c->b, c->hold + c->count_a, c->count_b, c->arm_b);
    lm_dvec3 twist = dvec_scale(quad_to(quad_cross(shift, u) + quad_cross(c->off, impulse)), c->a->body->mean_mass);
    double a = inertia_size(c->a->body), b = inertia_size(c->b->body), share = a + b > 0.0 ? a / (a + b) : 0.5;
    c->a->twist = dvec_add(c->a->twist, dvec_scale(twist, share));
    c->b->twist = dvec_add(c->b->twist, dvec_scale(twist, 1.0 - share));
    double speed = quad_length(u);
    c->a->fastest = fmax(c->a->fastest, speed);
    c->b->fastest = fmax(c->b->fastest, speed);
    c->a->twisted = c->b->twisted = true;
}

static void solve(lmi_contact_list *list)
{
    lmi_contact *contacts = list->contacts;
    uint32_t count = list->count;
    float h = (float)list->h;
    weigh(contacts, count);
    for (uint32_t n = 0; n < count; n++) { /* all of them have seen how fast they come */
        if (contacts[n].last && !contacts[n].watched) {
            warm_up(&contacts[n]);
        }
    }
    uint32_t soft = 0, whole = 0;
    for (uint32_t n = 0; n < count; n++) {
        soft += !contacts[n].whole && !contacts[n].watched;
        whole += contacts[n].whole && !contacts[n].watched;
    }
    uint32_t passes = soft ? LMI_SOFT_PASSES : 0, sweeps = whole ? list->sweeps : 0;
    float most = 1.0f;
    for (uint32_t n = 0; n < passes || (n < sweeps && most > STILL_SPEED); n++) {
        if (n < passes) {
            pass_velocities(contacts, count, lmi_soft_further(n, passes));
        }
        most = n < sweeps ? sweep_velocities(contacts, count, n & 1, 1.0f / h) : 0.0f;
    }
    take_back(contacts, count, h);
    ease(contacts, count, h);
    most = h;
    passes = soft ? LMI_SOFT_SHIFTS : 0;
    for (uint32_t n = 0; n < passes || (n < 2 * sweeps && most > STILL_SPEED * h); n++) {
        if (n < passes) {
            pass_positions(contacts, count, lmi_soft_further(n, passes));
        }
        most = n < 2 * sweeps ? sweep_positions(contacts, count, n & 1) : 0.0f;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (contacts[n].b && contacts[n].b != contacts[n].a && contacts[n].pressed + contacts[n].shifted > 0.0f) {
            note_twist(&contacts[n], h);
        }
    }
}

void lmi_contacts_flush(lmi_contact_list *list)
{
    solve(list);
    lmi_touched_solved(list->world, list->contacts, list->count);
    for (uint32_t n = 0; n < list->count; n++) {
        const lmi_contact *c = &list->contacts[n];
        lmi_body *body = c->a->body;
        /* An impact is over: what is given again is what carries a load. */
        bool rests = !c->whole || c->approach < (float)LMI_BOUNCE_SPEED;
        if (c->next && rests && c->pressed >= c->next->pressed) {
            c->next->pressed = c->pressed;
            for (int i = 0; i < 3; i++) {
                c->next->braked[i] = c->braked[i];
            }
        }
        if (!c->b) {
            lm_dvec3 given = quad_to(c->pressed * c->normal + c->braked);
            body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(given, body->mean_mass));
            body->contacts += c->pressed > 0.0f || c->shifted > 0.0f;
        }
    }
    list->count = list->hold_count = list->barrier = 0;
}

uint32_t lmi_contacts_limit(const lmi_body *body)
{
    uint32_t points = body->touch.count ? body->touch.count : body->particle_count;
    return points < LMI_MOST_CONTACTS ? points : LMI_MOST_CONTACTS;
}

uint32_t lmi_contacts_holds(const lmi_body *body)
{
    return lmi_contacts_limit(body) * (body->touch.count ? body->touch.most_rows : 1);
}

/* --- adding --- */

static void hold(lmi_hold *holds, const lmi_push *push, const uint32_t *rider, const float *weight, uint32_t count,
                 uint32_t stride)
{
    for (uint32_t n = 0; n < count; n++) {
        uint32_t place = rider[(size_t)n * stride];
        float w = weight[(size_t)n * stride];
        holds[n] = (lmi_hold){place, w, lmi_push_lever(push, place, w)};
    }
}

static float plain_mobility(const lmi_hold *holds, uint32_t count)
{
    float sum = 0.0f;
    for (uint32_t n = 0; n < count; n++) {
        sum += holds[n].weight * holds[n].lever;
    }
    return sum;
}

/* Whether the last contact in the list is one of the same cell with the same partner. */
static bool same_cell(const lmi_contact_list *list, const lmi_contact_def *def, uint32_t leader)
{
    const lmi_contact *last = list->count > list->barrier ? &list->contacts[list->count - 1] : NULL;
    return last && leader != LMI_NONE && last->leader == leader && last->a == def->a && last->b == def->b &&
           last->wall == def->wall;
}

/* Mobility, approach and what follows from them. */
static void begin(lmi_contact *c, float restitution, float h)
{
    quad at_a = lmi_hold_sum(c->hold, c->count_a, c->a->x), at_b = {0};
    c->plain = plain_mobility(c->hold, c->count_a);
    if (c->b || !c->a->body->halted) { /* what flew into a wall is not turned by it (step/halt.h) */
        c->arm_a = without_w(at_a - c->a->centre);
    }
    if (c->b) {
        at_b = lmi_hold_sum(c->hold + c->count_a, c->count_b, c->b->x);
        c->plain += c->ratio * plain_mobility(c->hold + c->count_a, c->count_b);
        c->arm_b = without_w(at_b - c->b->centre);
    }
    c->deep = mobility(c, c->normal);
    c->steady = particles_velocity(c);
    quad u = velocity_now(c);
    c->approach = -quad_dot(u, c->normal);
    c->bounce = c->approach > (float)LMI_BOUNCE_SPEED ? restitution * c->approach : 0.0f;
    c->watched = c->depth < 0.0f && (!c->whole || c->approach > (float)LMI_BOUNCE_SPEED);
    if (c->b || !c->whole) {
        c->depth = fminf(c->depth, h * (LMI_PART_SPEED + 1.5f * fmaxf(c->approach, 0.0f)));
    }
    quad apart = at_a - at_b;
    if (c->a->moved && c->whole) {
        apart += lmi_push_move(c->a, c->arm_a);
    }
    if (c->b && c->b->moved && c->whole) {
        apart -= lmi_push_move(c->b, c->arm_b);
    }
    c->level = c->depth + quad_dot(apart, c->normal);
}

void lmi_contact_add(lmi_contact_list *list, const lmi_contact_def *def)
{
    if (list->count == list->limit || list->hold_count + def->count_a + def->count_b > list->hold_limit) {
        lmi_contacts_flush(list);
    }
    bool whole = def->a->rigid > 0.0f || (def->b && def->b->rigid > 0.0f);
    const lmi_touch *touch = &def->a->body->touch;
    uint32_t point = def->point, leader = whole && point != LMI_NONE ? touch->leader[point] : point;
    if (whole && def->depth < 0.02 * def->a->body->rest_size && same_cell(list, def, leader)) {
        lmi_contact *last = &list->contacts[list->count - 1];
        if (def->depth <= (double)last->found + 1e-3 * def->a->body->rest_size) {
            return;
        }
        list->hold_count -= last->count_a + last->count_b;
        list->count--;
    }
    bool remembers =
        leader != LMI_NONE && !list->forgets && !def->a->body->asleep; /* who sleeps keeps what it rests on */
    lmi_contact *c = &list->contacts[list->count];
    const quad zero = {0};
    c->a = def->a;
    c->b = def->b;
    c->count_a = (uint16_t)def->count_a;
    c->count_b = (uint16_t)(def->b ? def->count_b : 0);
    c->normal = quad_from(def->normal);
    c->surface = quad_from(def->surface);
    c->off = quad_from(def->off);
    c->braked = c->ahead = c->more = c->arm_a = c->arm_b = c->steady = zero;
    c->depth = c->found = (float)def->depth;
    c->leader = leader;
    c->wall = def->wall;
    c->friction = (float)def->friction;
    c->ratio = def->b ? (float)(def->a->body->mean_mass / def->b->body->mean_mass) : 0.0f;
    c->last = remembers ? touch->warm + leader : NULL;
    c->next = remembers ? touch->warm + touch->count + leader : NULL;
    c->pressed = c->shifted = 0.0f;
    c->watched = false;
    c->hold = list->holds + list->hold_count;
    hold(c->hold, def->a, def->rider_a, def->weight_a, def->count_a, def->stride_a);
    if (def->b) {
        hold(c->hold + def->count_a, def->b, def->rider_b, def->weight_b, def->count_b, 1);
    }
    list->hold_count += c->count_a + c->count_b;
    c->whole = whole;
    c->unchanging = def->a->rigid == 1.0f && (!def->b || def->b->rigid == 1.0f);
    begin(c, (float)def->restitution, (float)list->h);
    if (!(c->deep > 0.0f)) { /* nothing can move it */
        list->hold_count -= c->count_a + c->count_b;
        return;
    }
    list->count++;
}
