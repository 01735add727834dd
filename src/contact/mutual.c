/*
 * Mutual contacts: bodies that touch each other, themselves, and colliders at the same time.
 *
 * Reads and writes positions and velocities. In order:
 *
 *   pairs     of bodies whose boxes overlap (pairs.h)
 *   update    where the touch points and carriers of bodies with candidates are (in parallel)
 *   walls     where they touch colliders (in parallel; contact.c)
 *   meet      where pairs touch (in parallel; meet.h), and the pieces of bodies that break (rubble.h)
 *   solve     all contacts (in parallel; contact/contact.h)
 *   pins      have the last word
 *
 * Deterministic because bodies are sorted by place and slot, contacts stand in the order of their pairs, and neither depends
 * on who found them: meetings are processed in windows, each with room for all the contacts it can have, and contacts are
 * solved between windows only.
 */
#include "contact/mutual.h"
#include "base/guard.h"
#include "base/os.h"
#include "base/tasks.h"
#include "collide/rigid.h"
#include "contact/cleft.h"
#include "contact/fresh.h"
#include "contact/meet.h"
#include "contact/rigid_contact.h"
#include "contact/rubble.h"
#include "contact/solver.h"
#include "contact/windows.h"
#include "skeleton/skeleton.h"
#include "world/in_step.h"
#include "world/motion.h"

#include <string.h>

/* Contacts solved together, at most, and those a window of meetings can have; see lmi_solver_room. */
#define MOST_MUTUAL 65536u
#define WINDOW_CONTACTS 16384u
#define WINDOW_PAIRS 512u

/* Meetings of a window that one task looks at. */
#define TASK_PAIRS 4u

/* Blocks of touch points of a body that are looked for in the body itself in one go. */
#define SELF_BLOCKS 32u

/* Two bodies that may touch, or (a = b) some blocks of a body that may touch the body, or (no b) a body that may touch
 * colliders. */
typedef struct meeting {
    uint32_t a, b;
    uint32_t first, end; /* blocks */
    uint32_t room;       /* contacts it can have */
    bool met;
} meeting;

typedef struct lmi_mutual {
    lmi_pairs pairs;
    lmi_push *pushes; /* in the order of entries */
    lmi_solver solver;
    lmi_push *parts;       /* of all bodies in pieces */
    uint32_t *part_places; /* of all bodies' places: those of bodies in pieces, piece by piece */
    uint32_t part_capacity, part_place_capacity;
    uint32_t entry_capacity, visit_capacity, push_capacity;

    meeting window[WINDOW_PAIRS];
    lmi_contact_list lists[WINDOW_PAIRS]; /* of what they found */
    uint32_t meetings, room;              /* in the window; contacts they can have */
    lmi_presses presses;                  /* what becomes of contacts that are found from now on */

    lmi_rubble *rubble;
    lmi_rigids rigids;        /* movers that have a mass */
    lmi_windows *windows;     /* of all moulds */
    lmi_windows **windows_of; /* [slots] of bodies that touch others; may be those of a mould that is gone, or null */
    uint32_t windows_capacity;
} lmi_mutual;

struct lmi_rigids *lmi_mutual_rigids(const lm_world *world) { return &world->mutual->rigids; }

/* What all bodies together need. */
typedef struct needs {
    uint32_t bodies, rigids, most_rows, most_riders;
    uint64_t points, places, grains, parts;
} needs;

static needs needs_of(const lm_world *world)
{
    needs n = {.rigids = lmi_rigids_count(world), .most_rows = 1, .most_riders = 8};
    LMI_POOL_EACH(&world->bodies, k)
    {
        const lmi_body *body = lmi_body_at(world, k);
        if (lmi_body_meets(body)) {
            n.bodies++;
            n.points += body->touch.count;
            n.places += body->place_count;
            n.most_rows = body->touch.most_rows > n.most_rows ? body->touch.most_rows : n.most_rows;
            if (body->bulk) {
                uint32_t riders = body->bulk->mould->carrier_riders;
                n.most_riders = riders > n.most_riders ? riders : n.most_riders;
                n.grains += body->touch.count;
            } else if (body->fracture) {
                n.grains += body->particle_count;
            }
            n.parts += body->fracture ? body->lattice->shape.part_count : 0;
        }
    }
    return n;
}

/* Room for the contacts of all bodies. */
static lmi_solver_room room_of(const lm_world *world, const needs *n)
{
    uint64_t points = n->points + (n->rigids ? n->places : 0) + 64u * (uint64_t)n->rigids;
    uint32_t contacts = (uint32_t)(points < 256 ? 256 : points < MOST_MUTUAL ? points : MOST_MUTUAL);
    lmi_solver_room room = {.rows_a = n->most_rows,
                            .rows_b = n->most_riders,
                            .owners = n->bodies + n->rigids,
                            .nodes = n->bodies + (uint32_t)n->parts + n->rigids,
                            .places = (uint32_t)n->places,
                            .braces = LMI_BRACES * n->bodies,
                            .events = lmi_touchings_wanted(world),
                            .presses = world->contact_method != LM_CONTACT_METHOD_SOLVED};
    lmi_solver_room_contacts(&room, contacts, contacts < WINDOW_CONTACTS ? contacts : WINDOW_CONTACTS);
    return room;
}

static bool reserve(lm_world *world, lmi_mutual *m, const needs *n)
{
    lmi_memory *memory = &world->memory;
    void *entries = m->pairs.entries, *visit = m->pairs.visit, *pushes = m->pushes;
    void *parts = m->parts, *part_places = m->part_places;
    lmi_solver_room room = room_of(world, n);
    bool ok = n->places <= UINT32_MAX / 4 && n->grains <= 4u * (uint64_t)LM_MAX_PARTICLES &&
              (n->parts == 0 || lmi_rubble_reserve(memory, &m->rubble, (uint32_t)n->grains)) &&
              lmi_reserve(memory, &parts, &m->part_capacity, (uint32_t)n->parts, sizeof *m->parts) &&
              lmi_reserve(memory, &part_places, &m->part_place_capacity, n->parts ? (uint32_t)n->places : 0,
                          sizeof *m->part_places) &&
              lmi_reserve(memory, &entries, &m->entry_capacity, n->bodies, sizeof *m->pairs.entries) &&
              lmi_reserve(memory, &visit, &m->visit_capacity, n->bodies, sizeof *m->pairs.visit) &&
              lmi_reserve(memory, &pushes, &m->push_capacity, n->bodies, sizeof *m->pushes) &&
              lmi_rigids_reserve(world, &m->rigids) && lmi_solver_reserve(memory, &m->solver, &room);
    m->parts = parts;
    m->part_places = part_places;
    m->pairs.entries = entries;
    m->pairs.visit = visit;
    m->pushes = pushes;
    m->pairs.count = n->bodies;
    return ok;
}

/* The windows of a mould, found or made. */
static lmi_windows *take_windows(lmi_memory *memory, lmi_mutual *m, const lmi_mould *mould)
{
    lmi_windows *found = m->windows;
    while (found && !lmi_windows_fit(found, mould)) {
        found = found->next;
    }
    if (!found && (found = lmi_windows_make(memory, mould))) {
        found->next = m->windows;
        m->windows = found;
    }
    return found;
}

static void drop_unused_windows(lmi_memory *memory, lmi_mutual *m)
{
    for (lmi_windows **at = &m->windows; *at;) {
        lmi_windows *w = *at;
        if (w->used) {
            at = &w->next;
        } else {
            *at = w->next;
            lmi_windows_free(memory, w);
        }
    }
}

/* Windows for all bodies that touch others. */
static bool reserve_windows(lm_world *world, lmi_mutual *m)
{
    lmi_memory *memory = &world->memory;
    void *of = m->windows_of;
    const uint32_t before = m->windows_capacity;
    bool ok = lmi_reserve(memory, &of, &m->windows_capacity, world->bodies.slots, sizeof *m->windows_of);
    m->windows_of = of;
    for (uint32_t n = before; ok && n < m->windows_capacity; n++) {
        m->windows_of[n] = NULL;
    }
    for (lmi_windows *w = m->windows; w; w = w->next) {
        w->used = false;
    }
    for (uint32_t n = 0; ok && n < world->bodies.slots; n++) {
        const lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_at(world, n) : NULL;
        const lmi_mould *mould = body && lmi_body_meets(body) && body->bulk ? body->bulk->mould : NULL;
        if (!mould) {
            m->windows_of[n] = NULL;
        } else if (!lmi_windows_fit(m->windows_of[n], mould)) {
            m->windows_of[n] = take_windows(memory, m, mould);
            ok = m->windows_of[n] != NULL;
        }
        if (m->windows_of[n]) {
            m->windows_of[n]->used = true;
        }
    }
    if (ok) {
        drop_unused_windows(memory, m);
    }
    return ok;
}

bool lmi_mutual_reserve(lm_world *world)
{
    needs n = needs_of(world);
    if (n.bodies + n.rigids == 0) {
        if (world->mutual) {
            world->mutual->pairs.count = world->mutual->rigids.count = 0;
        }
        return true;
    }
    if (!world->mutual) {
        world->mutual = lmi_allocate(&world->memory, 1, sizeof *world->mutual);
    }
    return world->mutual && reserve_windows(world, world->mutual) && reserve(world, world->mutual, &n);
}

bool lmi_mutual_reserve_parts(lm_world *world, uint32_t count)
{
    lmi_mutual *m = world->mutual;
    if (!m) {
        return true;
    }
    void *parts = m->parts;
    bool ok = lmi_reserve(&world->memory, &parts, &m->part_capacity, count, sizeof *m->parts);
    m->parts = parts;
    lmi_solver_room room = m->solver.room;
    uint32_t nodes = m->pairs.count + count + lmi_rigids_count(world);
    room.nodes = nodes > room.nodes ? nodes : room.nodes;
    return ok && lmi_solver_reserve(&world->memory, &m->solver, &room);
}

void lmi_mutual_free(lm_world *world)
{
    lmi_memory *memory = &world->memory;
    lmi_mutual *m = world->mutual;
    if (m) {
        lmi_release(memory, m->pairs.entries, m->entry_capacity, sizeof *m->pairs.entries);
        lmi_release(memory, m->pairs.visit, m->visit_capacity, sizeof *m->pairs.visit);
        lmi_release(memory, m->pushes, m->push_capacity, sizeof *m->pushes);
        lmi_solver_free(memory, &m->solver);
        lmi_release(memory, m->parts, m->part_capacity, sizeof *m->parts);
        lmi_release(memory, m->part_places, m->part_place_capacity, sizeof *m->part_places);
        lmi_rubble_free(memory, m->rubble);
        lmi_rigids_free(memory, &m->rigids);
        for (lmi_windows *w = m->windows; w; w = w->next) {
            w->used = false;
        }
        drop_unused_windows(memory, m);
        lmi_release(memory, m->windows_of, m->windows_capacity, sizeof *m->windows_of);
        lmi_release(memory, m, 1, sizeof *m);
        world->mutual = NULL;
    }
}

/* --- update --- */

static void measure_pair(const lmi_step *step, uint32_t a, uint32_t b, void *user)
{
    lmi_pairs *pairs = user;
    lmi_entry *one = &pairs->entries[a], *other = &pairs->entries[b];
    double way = step->h * dvec_length(dvec_sub(dvec_from(lmi_body_at(step->world, one->slot)->motion.velocity),
                                                dvec_from(lmi_body_at(step->world, other->slot)->motion.velocity)));
    one->way = lmi_max(one->way, way);
    other->way = lmi_max(other->way, way);
}

/* The pushes of a body in pieces, with their particles sorted by piece. */
static void begin_parts(lmi_mutual *m, const lmi_entry *entry, lmi_push *push)
{
    lmi_body *body = push->body;
    const lmi_lattice *l = &body->lattice->shape;
    lmi_push *parts = m->parts + entry->first_part;
    uint32_t *places = m->part_places + entry->first_place, first = 0;
    for (uint32_t n = 0; n < l->part_count; n++) {
        parts[n].count = 0;
    }
    LMI_PARTICLES_EACH(body, n) { parts[l->part[n]].count++; }
    for (uint32_t n = 0; n < l->part_count; n++) {
        parts[n].places = places + first;
        first += parts[n].count;
        parts[n].count = 0;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        lmi_push *part = &parts[l->part[n]];
        places[(size_t)(part->places - places) + part->count++] = n;
    }
    for (uint32_t n = 0; n < l->part_count; n++) {
        lmi_push_begin_part(&parts[n], body, parts[n].places, parts[n].count, entry->way);
        parts[n].owner = push->owner;
        parts[n].node = m->pairs.count + entry->first_part + n;
    }
    push->parts = parts;
    push->part = l->part;
}

/* What has flowed is no longer as it was at rest; and what was cut in this step has other carriers. */
static double crush_of(const lmi_mutual *m, const lmi_body *body)
{
    const lmi_windows *windows = m->windows_of[body->slot];
    return body->bulk && !body->plastic_material && lmi_windows_fit(windows, body->bulk->mould)
               ? lmi_windows_crush(windows, body->bulk)
               : 0.0;
}

static void update_body(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_mutual *m = step->world->mutual;
    lmi_body *body = lmi_body_in_step(step->world, m->pairs.entries[index].slot);
    if (body->asleep && !m->pairs.entries[index].met) {
        m->pushes[index] = (lmi_push){.body = body, .x = body->x, .v = body->v, .unit = body->mean_mass};
        return;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    const bool met = m->pairs.entries[index].met;
    if (met || body->self_contact) {
        step->world->kernels->place_points(body);
        if (body->bulk) {
            step->world->kernels->carry_bulk(body->bulk, body);
        }
    }
    lmi_push_begin(&m->pushes[index], body, m->pairs.entries[index].way);
    m->pushes[index].crush = met ? (float)crush_of(m, body) : 0.0f;
    m->pushes[index].owner = m->pushes[index].node = index;
    m->pushes[index].walls = body->asleep ? 0 : step->world->kernels->count_walls(step, body);
    if (body->fracture && body->lattice->shape.part_count > 1) {
        begin_parts(m, &m->pairs.entries[index], &m->pushes[index]);
    }
    if (!body->asleep) { /* what it rests on will be there when it wakes */
        lmi_touch_begin(&body->touch);
    }
    if ((met || body->self_contact) && body->octree && body->octree->clefts) {
        lmi_clefts_update(body);
    }
    lmi_float_mode_leave(&host);
}

/* --- meet --- */

/* What a meeting finds. */
static void look(const lmi_step *step, meeting *pair, lmi_contact_list *list)
{
    lmi_mutual *m = step->world->mutual;
    if (pair->b == LMI_NONE) {
        step->world->kernels->find_walls(step, &m->pushes[pair->a], list);
    } else if (pair->a == pair->b) {
        pair->met =
            lmi_meet_itself(step, &m->pairs.entries[pair->a], &m->pushes[pair->a], pair->first, pair->end, list);
    } else {
        const lmi_entry *const entries[2] = {&m->pairs.entries[pair->a], &m->pairs.entries[pair->b]};
        lmi_push *const pushes[2] = {&m->pushes[pair->a], &m->pushes[pair->b]};
        pair->met = lmi_meet(step, entries, pushes, list);
    }
}

static void look_task(void *context, uint32_t index)
{
    const lmi_step *step = context;
    lmi_mutual *m = step->world->mutual;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = index * TASK_PAIRS; n < (index + 1) * TASK_PAIRS && n < m->meetings; n++) {
        look(step, &m->window[n], &m->lists[n]);
    }
    lmi_float_mode_leave(&host);
}

static void note_met(lmi_mutual *m, const meeting *pair)
{
    if (pair->met) {
        m->pushes[pair->a].met = m->pushes[pair->b].met = true;
    }
}

static lmi_contact_list list_at(lmi_mutual *m, uint32_t first, uint32_t room)
{
    lmi_contact_list list = lmi_solver_list(&m->solver, first, room);
    list.presses = m->presses;
    return list;
}

/* Looks at the meetings in the window, and hands what they find to the solver. */
static void close_window(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_mutual *m = world->mutual;
    uint32_t first = 0;
    lmi_solver_make_room(&m->solver, m->room);
    for (uint32_t n = 0; n < m->meetings; n++) {
        m->lists[n] = list_at(m, first, m->window[n].room);
        first += m->window[n].room;
    }
    lmi_workers_run(world->workers, look_task, (void *)(uintptr_t)step, (m->meetings + TASK_PAIRS - 1) / TASK_PAIRS);
    for (uint32_t n = 0; n < m->meetings; n++) {
        note_met(m, &m->window[n]);
    }
    lmi_solver_take(&m->solver, m->lists, m->meetings);
    m->meetings = m->room = 0;
}

/* Puts a meeting into the window. One that can have more contacts than a window is processed on its own. */
static void arrange(const lmi_step *step, meeting pair)
{
    lmi_mutual *m = step->world->mutual;
    uint32_t most = m->solver.room.window;
    if (m->meetings == WINDOW_PAIRS || m->room + pair.room > most) {
        close_window(step);
    }
    if (pair.room > most) {
        lmi_contact_list all = list_at(m, 0, most);
        look(step, &pair, &all);
        note_met(m, &pair);
        lmi_solver_take(&m->solver, &all, 1);
        return;
    }
    m->window[m->meetings++] = pair;
    m->room += pair.room;
}

static void arrange_walls(const lmi_step *step, uint32_t index)
{
    const lmi_push *push = &step->world->mutual->pushes[index];
    const lmi_body *body = push->body;
    uint32_t points = body->touch.count ? body->touch.count : body->particle_count;
    if (push->walls) {
        arrange(step, (meeting){.a = index, .b = LMI_NONE, .room = push->walls * points});
    }
}

static void arrange_pair(const lmi_step *step, uint32_t a, uint32_t b, void *user)
{
    const lmi_mutual *m = step->world->mutual;
    (void)user;
    meeting pair = {.a = a, .b = b, .room = lmi_most_meetings(step, &m->pairs.entries[a], &m->pairs.entries[b])};
    if (pair.room > 0) {
        arrange(step, pair);
    }
}

static void arrange_self(const lmi_step *step, uint32_t index)
{
    const lmi_push *push = &step->world->mutual->pushes[index];
    const lmi_touch *touch = &push->body->touch;
    if (!push->body->self_contact || push->body->asleep || !push->body->bulk || !lmi_may_meet_itself(push)) {
        return;
    }
    for (uint32_t block = 0; block < touch->blocks; block += SELF_BLOCKS) {
        uint32_t end = block + SELF_BLOCKS < touch->blocks ? block + SELF_BLOCKS : touch->blocks;
        meeting self = {.a = index, .b = index, .first = block, .end = end, .room = (end - block) * LMI_BLOCK};
        arrange(step, self);
    }
}

/* All that bodies have to do with each other. */
static void meet_all(const lmi_step *step)
{
    lmi_mutual *m = step->world->mutual;
    lmi_pairs_each(step, &m->pairs, arrange_pair, NULL);
    for (uint32_t n = 0; n < m->pairs.count; n++) {
        arrange_self(step, n);
    }
    close_window(step);
    lmi_contact_list rubble = list_at(m, 0, m->solver.room.window);
    lmi_rubble_meet(step, m->rubble, &m->pairs, m->pushes, &rubble);
    lmi_solver_take(&m->solver, &rubble, 1);
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
    uint32_t parts = push->parts ? body->lattice->shape.part_count : 0;
    for (uint32_t n = 0; n < parts; n++) {
        lmi_push_end(&push->parts[n]);
        lmi_push_untwist(&push->parts[n]);
    }
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
    lmi_float_mode_leave(&host);
}

void lmi_mutual_tell(lm_world *world)
{
    if (world->mutual && !world->may_overlap) {
        lmi_fresh_tell(world, &world->mutual->pairs);
    }
}

void lmi_mutual_contacts(const lmi_step *step)
{
    lm_world *world = step->world;
    lmi_mutual *m = world->mutual;
    const uint32_t rigids = m ? lmi_rigids_count(world) : 0;
    if (!m || m->pairs.count + rigids == 0) {
        return;
    }
    uint64_t start = lmi_os_nanoseconds();
    uint32_t count = 0, places = 0, parts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        if (lmi_body_meets(body)) {
            m->pairs.entries[count] = lmi_entry_of(body, n, step->h);
            m->pairs.entries[count].first_part = parts;
            m->pairs.entries[count++].first_place = places;
            places += body->place_count;
            parts += body->fracture ? body->lattice->shape.part_count : 0;
        }
    }
    lmi_pairs_sort(&m->pairs);
    lmi_pairs_each(step, &m->pairs, measure_pair, &m->pairs);
    lmi_rigids_begin(step, &m->rigids, count, count + parts);
    lmi_workers_run(world->workers, update_body, (void *)(uintptr_t)step, count);
    lmi_solver_begin(&m->solver, world, step->h, LMI_SWEEPS, count + rigids);
    m->solver.workers = world->workers;
    m->presses = LMI_SOLVED;
    for (uint32_t n = 0; n < rigids; n++) {
        m->solver.owners[count + n] = (lmi_owner){.body = NULL};
    }
    for (uint32_t n = 0; n < count; n++) {
        m->solver.owners[n] = (lmi_owner){.body = m->pushes[n].body, .first_place = m->pairs.entries[n].first_place};
        arrange_walls(step, n);
    }
    const bool presses = world->contact_method != LM_CONTACT_METHOD_SOLVED;
    if (presses) { /* forces between bodies act before walls answer, all of which must be known by then */
        close_window(step);
        lmi_rigids_meet(step, &m->rigids, &m->solver);
        lmi_solver_prepare(&m->solver);
        m->presses = LMI_WEIGHED;
        meet_all(step);
        m->presses = LMI_PRESSED;
    }
    meet_all(step);
    if (!presses) {
        lmi_rigids_meet(step, &m->rigids, &m->solver);
    }
    uint64_t found = lmi_os_nanoseconds();
    lmi_solver_solve(&m->solver);
    lmi_rigids_end(&m->rigids);
    world->contact_stats = m->solver.stats;
    lmi_workers_run(world->workers, finish_body, (void *)(uintptr_t)step, count);
    world->find_nanoseconds += found - start;
    world->solve_nanoseconds += lmi_os_nanoseconds() - found;
}
