/*
 * The solver: its memory, and what it does in order.
 */
#include "contact/solver.h"
#include "base/guard.h"
#include "base/tasks.h"
#include "contact/soft.h"

#include <string.h>

/* --- memory --- */

/* An array of the solver and how much of it is wanted. */
typedef struct array {
    void *at; /* of the pointer to it */
    uint32_t *capacity;
    uint32_t needed;
    size_t size;
} array;

#define MOST_ARRAYS 34

static uint32_t arrays_of(lmi_solver *s, const lmi_solver_room *r, array list[MOST_ARRAYS])
{
    uint32_t count = 0, blocks = r->contacts / LMI_BLOCK, lanes = blocks * LMI_BLOCK;
    uint32_t refs = r->contacts * (r->rows_a + r->rows_b);
#define ARRAY(name, room, n) list[count++] = (array){&s->name, &s->room, n, sizeof *s->name}
    ARRAY(owners, owner_capacity, r->owners);
    ARRAY(runs, run_capacity, r->contacts);
    ARRAY(sums, sum_capacity, r->events ? r->contacts : 0);
    ARRAY(run_of_owner, owner_run_capacity, 2 * r->contacts);
    ARRAY(run_of_island, island_run_capacity, r->contacts);
    ARRAY(blocks, block_capacity, blocks);
    ARRAY(rows, rows_capacity, blocks);
    ARRAY(more, more_capacity, 4 * lanes);
    ARRAY(shift, shift_capacity, 4 * lanes);
    ARRAY(change, change_capacity, blocks / LMI_PIECE_BLOCKS + 1);
    ARRAY(stiff, stiff_capacity, r->contacts);
    ARRAY(index, index_capacity, refs);
    ARRAY(weight, weight_capacity, refs);
    ARRAY(x, x_capacity, 4 * r->places);
    ARRAY(v, v_capacity, 4 * r->places);
    ARRAY(gained, gained_capacity, 4 * r->places);
    ARRAY(moved, moved_capacity, 4 * r->places);
    ARRAY(lever, lever_capacity, refs);
    ARRAY(mark, mark_capacity, r->places);
    ARRAY(touched, touched_capacity, r->places);
    ARRAY(islands, island_capacity, r->nodes);
    ARRAY(node, node_capacity, r->nodes);
    ARRAY(island_of, island_of_capacity, r->nodes);
    ARRAY(found, found_capacity, r->window);
    ARRAY(found_refs, found_ref_capacity, r->window * (r->rows_a + r->rows_b));
    ARRAY(found_runs, found_run_capacity, r->window);
    ARRAY(noticed, noticed_capacity, r->window);
    ARRAY(braces, brace_capacity, r->braces);
    ARRAY(braced, braced_capacity, r->braces ? r->owners : 0);
    ARRAY(brace_list, brace_list_capacity, 2 * r->braces);
    ARRAY(brace_change, brace_change_capacity, r->braces);
    ARRAY(load, load_capacity, r->presses ? r->places : 0);
#undef ARRAY
    return count;
}

void lmi_solver_room_contacts(lmi_solver_room *room, uint32_t contacts, uint32_t window)
{
    room->contacts = ((contacts + window + LMI_BLOCK - 1) / LMI_BLOCK + 1) * LMI_BLOCK;
    room->window = window;
}

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

void lmi_solver_room_grow(lmi_solver_room *room, const lmi_body *body)
{
    lmi_solver_room_contacts(room, 0, most(room->window, lmi_contacts_limit(body)));
    room->rows_a = most(room->rows_a, lmi_contacts_rows(body));
    room->places = most(room->places, body->place_count);
}

bool lmi_solver_reserve(lmi_memory *memory, lmi_solver *s, const lmi_solver_room *room)
{
    array list[MOST_ARRAYS];
    uint32_t count = arrays_of(s, room, list);
    for (uint32_t n = 0; n < count; n++) {
        void *at;
        memcpy(&at, list[n].at, sizeof at);
        bool ok = lmi_reserve(memory, &at, list[n].capacity, list[n].needed, list[n].size);
        memcpy(list[n].at, &at, sizeof at);
        if (!ok) {
            return false;
        }
    }
    s->room = *room;
    s->rows_each = room->rows_a + room->rows_b;
    s->ref_limit = room->contacts * s->rows_each;
    return true;
}

void lmi_solver_free(lmi_memory *memory, lmi_solver *s)
{
    array list[MOST_ARRAYS];
    uint32_t count = arrays_of(s, &(lmi_solver_room){0}, list);
    for (uint32_t n = 0; n < count; n++) {
        void *at;
        memcpy(&at, list[n].at, sizeof at);
        lmi_release(memory, at, *list[n].capacity, list[n].size);
    }
    *s = (lmi_solver){0};
}

bool lmi_solver_make(lmi_memory *memory, lmi_solver **solver, const lmi_solver_room *room)
{
    if (!*solver) {
        *solver = lmi_allocate(memory, 1, sizeof **solver);
    }
    return *solver && lmi_solver_reserve(memory, *solver, room);
}

/* --- tasks --- */

typedef struct job {
    lmi_solver *solver;
    void (*task)(lmi_solver *solver, uint32_t piece);
} job;

static void run_piece(void *context, uint32_t piece)
{
    const job *j = context;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    j->task(j->solver, piece);
    lmi_float_mode_leave(&host);
}

void lmi_solver_run(lmi_solver *s, void (*task)(lmi_solver *solver, uint32_t piece), uint32_t pieces)
{
    if (s->workers && lmi_workers_count(s->workers) > 1 && pieces > 1) {
        job j = {s, task};
        lmi_workers_run(s->workers, run_piece, &j, pieces);
        return;
    }
    for (uint32_t n = 0; n < pieces; n++) {
        task(s, n);
    }
}

/* --- all of it --- */

lmi_contact_list lmi_solver_list(lmi_solver *s, uint32_t first, uint32_t count)
{
    return (lmi_contact_list){.solver = s,
                              .found = s->found + first,
                              .refs = s->found_refs + (size_t)first * s->rows_each,
                              .runs = s->found_runs + first,
                              .noticed = s->noticed + first,
                              .limit = count,
                              .ref_limit = count * s->rows_each};
}

void lmi_solver_begin(lmi_solver *s, lm_world *world, double h, uint32_t sweeps, uint32_t owners)
{
    s->world = world;
    s->h = (float)h;
    s->sweeps = sweeps;
    s->owner_count = owners;
    s->run_count = s->block_count = s->stiff_count = 0;
    s->prepared = false;
    s->brace_count = 0;
    s->stats = (lm_contact_stats){0};
    if (s->room.presses) {
        memset(s->load, 0, s->room.places * sizeof *s->load);
    }
}

/* How far the velocities are from what contacts ask for: the largest change in the last pass and in the last sweeps. */
static void measure(lmi_solver *s)
{
    lm_contact_stats *stats = &s->stats;
    float residual = stats->residual;
    for (uint32_t n = 0; n < lmi_block_pieces(s); n++) {
        residual = s->change[n] > residual ? s->change[n] : residual;
    }
    for (uint32_t n = 0; n < s->island_count; n++) {
        residual = s->islands[n].most > residual ? s->islands[n].most : residual;
        stats->sweeps = s->islands[n].sweeps > stats->sweeps ? s->islands[n].sweeps : stats->sweeps;
    }
    stats->residual = residual;
    stats->passes = s->passes > stats->passes ? s->passes : stats->passes;
    stats->islands += s->island_count;
    for (uint32_t n = 0; n < s->run_count; n++) {
        *(s->runs[n].stiff ? &stats->stiff : &stats->soft) += s->runs[n].count;
    }
}

/* All soft contacts at once, and then a sweep through the stiff ones, so that each sees what the other did. */
static void solve_velocities(lmi_solver *s)
{
    const lmi_kernels *kernels = s->world->kernels;
    s->passes = s->block_count ? LMI_SOFT_PASSES : 0;
    lmi_solver_run(s, lmi_give_velocities, s->block_count ? lmi_owner_pieces(s) : 0);
    lmi_islands_warm(s);
    for (s->pass = 0; s->pass < s->passes; s->pass++) {
        s->beta = lmi_soft_further(s->pass, s->passes);
        lmi_solver_run(s, kernels->soft_velocities, lmi_block_pieces(s));
        lmi_solver_run(s, s->pass + 1 == s->passes ? lmi_give_both : lmi_give_velocities, lmi_owner_pieces(s));
        lmi_islands_velocities(s, s->pass + 1 < s->sweeps ? s->pass + 1 : s->sweeps);
    }
    lmi_islands_velocities(s, s->sweeps);
    lmi_islands_weigh(s);
    measure(s);
}

static void solve_positions(lmi_solver *s)
{
    lmi_islands_take_back(s);
    s->passes = s->block_count ? LMI_SOFT_SHIFTS : 0;
    for (s->pass = 0; s->pass < s->passes; s->pass++) {
        s->beta = lmi_soft_further(s->pass, s->passes);
        lmi_solver_run(s, s->world->kernels->soft_positions, lmi_block_pieces(s));
        lmi_solver_run(s, lmi_give_positions, lmi_owner_pieces(s));
        lmi_islands_positions(s, s->pass + 1);
    }
    lmi_islands_positions(s, 2 * s->sweeps);
}

void lmi_solver_prepare(lmi_solver *s)
{
    if (s->run_count) {
        lmi_islands_make(s);
        lmi_touched_gather(s);
        lmi_solver_run(s, s->world->kernels->soft_start, lmi_block_pieces(s));
    }
    s->prepared = true;
}

void lmi_solver_solve(lmi_solver *s)
{
    if (s->prepared) {
        lmi_touched_refresh(s);
    } else {
        lmi_brace_bodies(s);
        lmi_solver_prepare(s);
    }
    s->prepared = false;
    if (s->run_count) {
        solve_velocities(s);
        solve_positions(s);
        lmi_islands_end(s);
        lmi_solver_tell(s);
    }
    s->run_count = s->block_count = s->stiff_count = 0;
}

bool lmi_solver_finish(lmi_contact_list *list)
{
    lmi_solver *s = list->solver;
    lmi_solver_take(s, list, 1);
    bool any = s->run_count > 0;
    lmi_solver_solve(s);
    return any;
}
