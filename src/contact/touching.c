#include "contact/touching.h"
#include "world/access.h"
#include "world/in_step.h"

#include <string.h>

/* --- memory --- */

static bool reserve_list(lm_world *world, lmi_touching_list *list, uint32_t count)
{
    void *records = list->records, *order = list->order;
    bool ok = lmi_reserve(&world->memory, &records, &list->record_capacity, count, sizeof *list->records) &&
              lmi_reserve(&world->memory, &order, &list->order_capacity, count, sizeof *list->order);
    list->records = records;
    list->order = order;
    return ok;
}

static lmi_touchings *touchings_of(lm_world *world)
{
    if (!world->touchings) {
        world->touchings = lmi_allocate(&world->memory, 1, sizeof *world->touchings);
    }
    return world->touchings;
}

bool lmi_touchings_reserve(lm_world *world)
{
    if (!lmi_touchings_wanted(world)) {
        return true;
    }
    lmi_touchings *t = touchings_of(world);
    if (!t) {
        return false;
    }
    uint32_t solids = 0, size = 64;
    LMI_POOL_EACH(&world->bodies, n) { solids += lmi_body_meets(lmi_body_at(world, n)); }
    uint32_t pairs = solids * LM_MAX_TOUCHED_BODIES, rows = world->bodies.alive * LM_MAX_TOUCHED_COLLIDERS;
    while (size < 2 * pairs) {
        size *= 2;
    }
    void *table = t->table, *starts = t->starts;
    bool ok = reserve_list(world, &t->now, rows + pairs) && reserve_list(world, &t->before, rows + pairs) &&
              lmi_reserve(&world->memory, &table, &t->table_capacity, size, sizeof *t->table) &&
              lmi_reserve(&world->memory, &starts, &t->start_capacity, world->bodies.slots + 1, sizeof *t->starts);
    t->table = table;
    t->starts = starts;
    if (ok) {
        t->table_size = size;
        t->first_pair = rows;
        t->pair_limit = pairs;
    }
    return ok;
}

bool lmi_touchings_allocate(lm_world *world, uint32_t count)
{
    lmi_touchings *t = touchings_of(world);
    if (!t || !reserve_list(world, &t->now, count)) {
        return false;
    }
    t->now.count = count;
    for (uint32_t n = 0; n < count; n++) {
        t->now.order[n] = n;
    }
    return true;
}

static void free_list(lm_world *world, lmi_touching_list *list)
{
    lmi_release(&world->memory, list->records, list->record_capacity, sizeof *list->records);
    lmi_release(&world->memory, list->order, list->order_capacity, sizeof *list->order);
}

void lmi_touchings_free(lm_world *world)
{
    lmi_touchings *t = world->touchings;
    if (t) {
        free_list(world, &t->now);
        free_list(world, &t->before);
        lmi_release(&world->memory, t->table, t->table_capacity, sizeof *t->table);
        lmi_release(&world->memory, t->starts, t->start_capacity, sizeof *t->starts);
        lmi_release(&world->memory, t, 1, sizeof *t);
        world->touchings = NULL;
    }
}

void lmi_touchings_forget(lm_world *world)
{
    if (world->touchings) {
        world->touchings->now.count = world->touchings->before.count = world->touchings->left_out = 0;
        world->touchings->told = false;
    }
}

/* --- while a step runs --- */

void lmi_touchings_begin(lm_world *world)
{
    lmi_touchings *t = world->touchings;
    bool wanted = lmi_touchings_wanted(world);
    if (wanted) {
        lmi_touching_list before = t->now;
        t->now = t->before;
        t->before = before;
        t->now.count = t->pair_count = t->left_out = 0;
        memset(t->table, 0, t->table_size * sizeof *t->table);
    }
    uint32_t row = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->touched = wanted ? t->now.records + (size_t)row++ * LM_MAX_TOUCHED_COLLIDERS : NULL;
        body->touched_count = body->touched_left_out = 0;
    }
}

static lmi_touching blank(const lm_world *world, lmi_touching_kind kind, uint32_t a, uint32_t b)
{
    const lmi_pool *others = kind == LMI_TOUCHES_COLLIDER ? &world->colliders : &world->bodies;
    lmi_touching t = {.a = a,
                      .b = b,
                      .kind = kind,
                      .generation_a = world->bodies.generations[a],
                      .generation_b = others->generations[b]};
    return t;
}

void lmi_touching_add(lmi_touching *t, const lmi_place *place)
{
    double weight = place->pressed + LMI_UNPRESSED;
    t->weight += weight;
    t->point = dvec_add(t->point, dvec_scale(place->point, weight));
    t->normal = dvec_add(t->normal, dvec_scale(place->normal, weight));
    t->impulse = dvec_add(t->impulse, place->impulse);
    t->pressed += place->pressed;
    t->approach = place->pressing ? lmi_max(t->approach, place->approach) : t->approach;
    t->pressing = t->pressing || place->pressing;
}

/* The record of a body and a collider, or null when there is no more room. */
static lmi_touching *find_wall(const lm_world *world, lmi_body *body, uint32_t collider)
{
    uint32_t n = 0;
    while (n < body->touched_count && body->touched[n].b != collider) {
        n++;
    }
    if (n == LM_MAX_TOUCHED_COLLIDERS) {
        body->touched_left_out++;
        return NULL;
    }
    if (n == body->touched_count) {
        body->touched[body->touched_count++] = blank(world, LMI_TOUCHES_COLLIDER, body->slot, collider);
    }
    return &body->touched[n];
}

void lmi_touched_wall(const lm_world *world, lmi_body *body, uint32_t collider, const lmi_place *place)
{
    lmi_touching *t = find_wall(world, body, collider);
    if (t) {
        lmi_touching_add(t, place);
    }
}

/* Adds many places; sign: -1 where they are seen from the other side. */
static void add_sums(lmi_touching *t, const lmi_touching *sums, double sign)
{
    t->weight += sums->weight;
    t->point = dvec_add(t->point, sums->point);
    t->normal = dvec_add(t->normal, dvec_scale(sums->normal, sign));
    t->impulse = dvec_add(t->impulse, dvec_scale(sums->impulse, sign));
    t->pressed += sums->pressed;
    t->approach = lmi_max(t->approach, sums->approach);
    t->pressing = t->pressing || sums->pressing;
}

void lmi_touched_walls(const lm_world *world, lmi_body *body, uint32_t collider, const lmi_touching *sums)
{
    lmi_touching *t = find_wall(world, body, collider);
    if (t) {
        add_sums(t, sums, 1.0);
    }
}

/* The record of two bodies, or null when there is no more room. */
static lmi_touching *find_pair(lm_world *world, uint32_t a, uint32_t b)
{
    lmi_touchings *t = world->touchings;
    uint32_t mask = t->table_size - 1, at = (a * 2654435761u ^ b * 2246822519u) >> 7 & mask;
    lmi_touching *pairs = t->now.records + t->first_pair;
    for (; t->table[at]; at = (at + 1) & mask) {
        lmi_touching *pair = &pairs[t->table[at] - 1];
        if (pair->a == a && pair->b == b) {
            return pair;
        }
    }
    if (t->pair_count == t->pair_limit) {
        t->left_out++;
        return NULL;
    }
    pairs[t->pair_count] = blank(world, a == b ? LMI_TOUCHES_ITSELF : LMI_TOUCHES_BODY, a, b);
    t->table[at] = ++t->pair_count;
    return &pairs[t->pair_count - 1];
}

void lmi_touched_body(lm_world *world, lmi_body *body, lmi_body *other, const lmi_place *place)
{
    if (!body->touched) {
        return;
    }
    uint32_t a = body->slot, b = other->slot;
    bool turned = a > b;
    lmi_touching *pair = find_pair(world, turned ? b : a, turned ? a : b);
    if (!pair) {
        return;
    }
    double sign = a == b ? 0.0 : turned ? -1.0 : 1.0;
    lmi_place seen = *place;
    seen.normal = dvec_scale(seen.normal, sign);
    seen.impulse = dvec_scale(seen.impulse, sign);
    lmi_touching_add(pair, &seen);
}

void lmi_touched_bodies(lm_world *world, lmi_body *body, lmi_body *other, const lmi_touching *sums)
{
    uint32_t a = body->slot, b = other->slot;
    bool turned = a > b;
    lmi_touching *pair = find_pair(world, turned ? b : a, turned ? a : b);
    if (pair) {
        add_sums(pair, sums, a == b ? 0.0 : turned ? -1.0 : 1.0);
    }
}

/* --- when it has ended --- */

int lmi_touching_compare(const lmi_touching *x, const lmi_touching *y)
{
    const uint32_t one[5] = {x->a, x->kind, x->b, x->generation_a, x->generation_b};
    const uint32_t other[5] = {y->a, y->kind, y->b, y->generation_a, y->generation_b};
    for (int i = 0; i < 5; i++) {
        if (one[i] != other[i]) {
            return one[i] < other[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool sleeps(const lm_world *world, uint32_t slot, uint32_t generation)
{
    return world->bodies.generations[slot] == generation && lmi_body_at(world, slot)->asleep;
}

/* Whether nobody looked at a pair in this step, because all that could move of it was asleep. */
static bool slept_through(const lm_world *world, const lmi_touching *t)
{
    return sleeps(world, t->a, t->generation_a) &&
           (t->kind == LMI_TOUCHES_COLLIDER ? world->colliders.generations[t->b] == t->generation_b
                                            : sleeps(world, t->b, t->generation_b));
}

/* Those are as they were, without impulse. */
static void keep_sleepers(lm_world *world)
{
    lmi_touchings *t = world->touchings;
    for (uint32_t n = 0; n < t->before.count; n++) {
        lmi_touching kept = t->before.records[t->before.order[n]];
        if (!slept_through(world, &kept)) {
            continue;
        }
        kept.impulse = lm_dvec3_zero();
        kept.pressed = kept.approach = 0.0;
        kept.weight = 1.0;
        if (kept.kind != LMI_TOUCHES_COLLIDER) {
            lmi_touching *pair = find_pair(world, kept.a, kept.b);
            if (pair) {
                *pair = kept;
            }
            continue;
        }
        lmi_body *body = lmi_body_in_step(world, kept.a);
        uint32_t k = 0;
        while (k < body->touched_count && body->touched[k].b != kept.b) {
            k++;
        }
        if (k == body->touched_count && k < LM_MAX_TOUCHED_COLLIDERS) { /* else it was looked at all the same */
            body->touched[body->touched_count++] = kept;
        }
    }
}

/* Every record of this step into now.order, by its body. */
static void collect(lm_world *world)
{
    lmi_touchings *t = world->touchings;
    uint32_t count = 0;
    memset(t->starts, 0, (world->bodies.slots + 1) * sizeof *t->starts);
    for (int pass = 0; pass < 2; pass++) { /* count them, then place them */
        LMI_POOL_EACH(&world->bodies, n)
        {
            const lmi_body *body = lmi_body_at(world, n);
            for (uint32_t k = 0; k < body->touched_count; k++, count++) {
                if (pass == 0) {
                    t->starts[n + 1]++;
                } else {
                    t->now.order[t->starts[n]++] = (uint32_t)(body->touched - t->now.records) + k;
                }
            }
        }
        for (uint32_t k = 0; k < t->pair_count; k++, count++) {
            uint32_t a = t->now.records[t->first_pair + k].a;
            if (pass == 0) {
                t->starts[a + 1]++;
            } else {
                t->now.order[t->starts[a]++] = t->first_pair + k;
            }
        }
        for (uint32_t n = 0; pass == 0 && n < world->bodies.slots; n++) {
            t->starts[n + 1] += t->starts[n];
        }
    }
    t->now.count = count / 2;
}

/* Within each body; bodies are in order already. */
static void sort(lmi_touching_list *list)
{
    for (uint32_t n = 1; n < list->count; n++) {
        uint32_t moving = list->order[n], at = n;
        for (; at > 0 && lmi_touching_compare(&list->records[moving], &list->records[list->order[at - 1]]) < 0; at--) {
            list->order[at] = list->order[at - 1];
        }
        list->order[at] = moving;
    }
}

/* Sums to means. */
static void conclude(lmi_touching *t)
{
    t->point = dvec_scale(t->point, 1.0 / t->weight);
    double length = dvec_length(t->normal);
    t->normal = length > 1e-6 * t->weight ? dvec_scale(t->normal, 1.0 / length) : lm_dvec3_zero();
    t->weight = 1.0;
    t->approach = lmi_max(t->approach, 0.0);
}

/* Says of each that touches whether it is fresh, drops those that are only near and did not touch before, and leaves in
 * `before` what has ended. */
static void tell_apart(lmi_touchings *t)
{
    lmi_touching_list *now = &t->now, *before = &t->before;
    uint32_t kept = 0, ended = 0, old = 0;
    for (uint32_t n = 0; n < now->count; n++) {
        lmi_touching *record = &now->records[now->order[n]];
        int order = 1;
        while (old < before->count &&
               (order = lmi_touching_compare(&before->records[before->order[old]], record)) < 0) {
            before->order[ended++] = before->order[old++];
        }
        bool known = old < before->count && order == 0;
        old += known;
        if (known || record->pressing) {
            record->fresh = !known;
            conclude(record);
            now->order[kept++] = now->order[n];
        }
    }
    while (old < before->count) {
        before->order[ended++] = before->order[old++];
    }
    now->count = kept;
    before->count = ended;
}

void lmi_touchings_end(lm_world *world)
{
    if (!lmi_touchings_wanted(world)) {
        return;
    }
    lmi_touchings *t = world->touchings;
    keep_sleepers(world);
    collect(world);
    sort(&t->now);
    tell_apart(t);
    LMI_POOL_EACH(&world->bodies, n) { t->left_out += lmi_body_at(world, n)->touched_left_out; }
    t->told = true;
}

/* --- what a host sees --- */

lm_result lm_world_set_contact_events(lm_world *world, bool on)
{
    lmi_world_change(world, LMI_CHANGE_WORLD);
    if (!on && !world->sleep.enabled) {
        lmi_touchings_forget(world);
    }
    world->contact_events = on;
    return LM_OK;
}

bool lm_world_get_contact_events_on(const lm_world *world) { return world->contact_events; }

static lm_contact_event event_of(const lmi_touching *t, lm_contact_phase phase)
{
    lm_contact_event event = {
        .phase = phase, .body = {t->a + 1, t->generation_a}, .point = t->point, .normal = vec_from(t->normal)};
    if (t->kind == LMI_TOUCHES_COLLIDER) {
        event.collider = (lm_collider_id){t->b + 1, t->generation_b};
    } else {
        event.other = (lm_body_id){t->b + 1, t->generation_b};
    }
    if (phase != LM_CONTACT_ENDED) {
        event.impulse = vec_from(t->impulse);
        event.pressed = (float)t->pressed;
        event.approach = (float)t->approach;
    }
    return event;
}

uint32_t lm_world_get_contact_events(const lm_world *world, lm_contact_event *events, uint32_t capacity)
{
    const lmi_touchings *t = world->touchings;
    uint32_t count = 0, n = 0, k = 0;
    if (!world->contact_events || !t || !t->told) {
        return 0;
    }
    while (n < t->now.count || k < t->before.count) {
        const lmi_touching *touches = n < t->now.count ? &t->now.records[t->now.order[n]] : NULL;
        const lmi_touching *ended = k < t->before.count ? &t->before.records[t->before.order[k]] : NULL;
        bool is_ended = !touches || (ended && lmi_touching_compare(ended, touches) < 0);
        lm_contact_phase phase = is_ended ? LM_CONTACT_ENDED : touches->fresh ? LM_CONTACT_BEGAN : LM_CONTACT_PERSISTS;
        if (count < capacity) {
            events[count] = event_of(is_ended ? ended : touches, phase);
        }
        count++;
        k += is_ended;
        n += !is_ended;
    }
    return count;
}
