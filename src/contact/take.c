/*
 * Lists of contacts found become blocks of soft contacts in lanes, and compact stiff contacts.
 *
 * Reads lists, positions and velocities of bodies; writes blocks, stiff contacts, runs, and references as places in bodies.
 */
#include "base/guard.h"
#include "contact/penalty.h"
#include "contact/soft.h"
#include "contact/solver.h"

#include <string.h>

/* The list that holds the n-th soft contact: the last that begins at it or before and is not empty. */
static uint32_t list_of(const lmi_solver *s, uint32_t n)
{
    uint32_t low = 0, high = s->list_count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(s->lists[middle].first_soft <= n ? &low : &high) = middle;
    }
    return low;
}

/* Where a walk along the soft contacts of lists is. */
typedef struct walk {
    uint32_t list, run;
    uint32_t at; /* contact of the list */
} walk;

static walk walk_to(const lmi_solver *s, uint32_t n)
{
    walk w = {list_of(s, n), 0, 0};
    w.at = n - s->lists[w.list].first_soft;
    return w;
}

/* The next soft contact, or null. */
static const lmi_found *next_soft(const lmi_solver *s, walk *w, const lmi_contact_list **list, const lmi_run **run)
{
    while (w->list < s->list_count && w->at >= s->lists[w->list].soft) {
        *w = (walk){w->list + 1, 0, 0};
    }
    if (w->list == s->list_count) {
        return NULL;
    }
    *list = &s->lists[w->list];
    const lmi_run *runs = (*list)->runs;
    while (runs[w->run].stiff || runs[w->run].first + runs[w->run].count <= w->at) {
        w->run++;
    }
    *run = &runs[w->run];
    return &(*list)->found[w->at++];
}

static void put_lane(lmi_soft_block *b, uint32_t lane, const lmi_found *c, const lmi_run *run)
{
    const lmi_body *body = run->a->body;
    for (int i = 0; i < 3; i++) {
        b->normal[i * LMI_BLOCK + lane] = c->normal[i];
        b->extra[i * LMI_BLOCK + lane] = c->extra[i];
    }
    b->bounce[lane] = c->restitution;
    b->friction[lane] = c->friction;
    b->level[lane] = c->depth;
    b->share[lane] = LMI_LEFT * (float)body->rest_size;
    b->ratio[lane] = run->b ? (float)(body->mean_mass / run->b->body->mean_mass) : 0.0f;
    b->shallow[lane] = c->shallow;
    b->point[lane] = c->point;
    b->near |= (uint32_t)c->near << lane;
}

static void put_refs(const lmi_solver *s, size_t rows, uint32_t lane, const lmi_ref *refs, uint32_t count, uint32_t all)
{
    for (uint32_t n = 0; n < all; n++) {
        size_t at = rows + (size_t)n * LMI_BLOCK + lane;
        s->index[at] = n < count ? refs[n].place : 0;
        s->weight[at] = n < count ? refs[n].weight : 0.0f;
    }
}

static void take_block(lmi_solver *s, uint32_t block, walk *w)
{
    lmi_soft_block *b = &s->blocks[block];
    const lmi_found *lane[LMI_BLOCK];
    const lmi_contact_list *list[LMI_BLOCK];
    lmi_soft_rows each = {0, 0};
    memset(b, 0, sizeof *b);
    for (uint32_t n = 0; n < LMI_BLOCK; n++) {
        const lmi_run *run;
        lane[n] = next_soft(s, w, &list[n], &run);
        b->point[n] = LMI_NONE;
        if (lane[n]) {
            put_lane(b, n, lane[n], run);
            each.a = lane[n]->count_a > each.a ? lane[n]->count_a : each.a;
            each.b = lane[n]->count_b > each.b ? lane[n]->count_b : each.b;
        }
    }
    s->rows[block] = each;
    size_t rows = lmi_rows_of(s, block), rows_b = rows + (size_t)each.a * LMI_BLOCK;
    for (uint32_t n = 0; n < LMI_BLOCK; n++) {
        const lmi_ref *refs = lane[n] ? list[n]->refs + lane[n]->first_ref : NULL;
        put_refs(s, rows, n, refs, refs ? lane[n]->count_a : 0, each.a);
        put_refs(s, rows_b, n, refs ? refs + lane[n]->count_a : NULL, refs ? lane[n]->count_b : 0, each.b);
    }
}

static void take_blocks(lmi_solver *s, uint32_t piece)
{
    uint32_t first = s->first_block + piece * LMI_PIECE_BLOCKS, end = first + LMI_PIECE_BLOCKS;
    end = end < s->block_count ? end : s->block_count;
    walk w = walk_to(s, first * LMI_BLOCK);
    for (uint32_t block = first; block < end; block++) {
        take_block(s, block, &w);
    }
}

static void take_stiff(lmi_solver *s, uint32_t index)
{
    const lmi_contact_list *list = &s->lists[index];
    for (uint32_t n = 0; n < list->run_count && list->stiff; n++) {
        const lmi_run *run = &list->runs[n];
        for (uint32_t k = 0; run->stiff && k < run->count; k++) {
            const lmi_found *c = &list->found[list->limit - 1 - (run->first + k)];
            uint32_t at = list->first_stiff + run->first + k;
            lmi_stiff_begin(s, &s->stiff[at], run, c, list->refs + c->first_ref, lmi_refs_of(s, at));
        }
    }
}

/* Copies the runs of a list. */
static void take_runs(lmi_solver *s, const lmi_contact_list *list)
{
    for (uint32_t n = 0; n < list->run_count; n++) {
        if (list->runs[n].count) {
            lmi_run *run = &s->runs[s->run_count++];
            *run = list->runs[n];
            run->first += run->stiff ? list->first_stiff : list->first_soft;
        }
    }
}

/* A point that is in two bodies goes on remembering the one that it was in before, or else the first. */
static void take_noticed(const lmi_contact_list *list)
{
    for (uint32_t n = 0; n < list->noticed_count; n++) {
        const lmi_noticed *is = &list->noticed[n];
        const lmi_touch *touch = &is->body->touch;
        const lmi_warm *last = &touch->warm[is->point];
        lmi_warm *next = &touch->warm[touch->count + is->point];
        if (next->other == 0 || (last->other == is->other && last->generation == is->generation)) {
            next->other = is->other;
            next->generation = is->generation;
            memcpy(next->out, is->out, sizeof next->out);
        }
    }
}

void lmi_solver_make_room(lmi_solver *s, uint32_t contacts)
{
    if (s->block_count * LMI_BLOCK + s->stiff_count + contacts + LMI_BLOCK > s->room.contacts) {
        lmi_solver_solve(s);
    }
}

void lmi_solver_take(lmi_solver *s, lmi_contact_list *lists, uint32_t count)
{
    uint32_t soft = 0, stiff = 0, most_stiff = 0;
    if (count && lists[0].presses) {
        lmi_penalty_take(s, lists, count);
        return;
    }
    for (uint32_t n = 0; n < count; n++) {
        soft += lists[n].soft;
        stiff += lists[n].stiff;
        most_stiff = lists[n].stiff > most_stiff ? lists[n].stiff : most_stiff;
    }
    uint32_t blocks = (soft + LMI_BLOCK - 1) / LMI_BLOCK;
    lmi_solver_make_room(s, soft + stiff);
    s->first_block = s->block_count;
    s->block_count += blocks;
    soft = s->first_block * LMI_BLOCK;
    for (uint32_t n = 0; n < count; n++) {
        lists[n].first_soft = soft;
        lists[n].first_stiff = s->stiff_count;
        soft += lists[n].soft;
        s->stiff_count += lists[n].stiff;
        take_runs(s, &lists[n]);
        take_noticed(&lists[n]);
    }
    s->lists = lists;
    s->list_count = count;
    lmi_solver_run(s, take_blocks, (blocks + LMI_PIECE_BLOCKS - 1) / LMI_PIECE_BLOCKS);
    lmi_solver_run(s, take_stiff, most_stiff ? count : 0);
    for (uint32_t n = 0; n < count; n++) {
        lmi_contact_list_clear(&lists[n]);
    }
}
