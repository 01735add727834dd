/*
 * The grain of a body (grain.h): bonds, what is connected by them, and which particle each voxel belongs to.
 */
#include "cut/grain.h"
#include "skin/skin.h"
#include "skin/skin_octree_cut.h"

#include <stdlib.h>
#include <string.h>

#define NONE LMI_OCTREE_NONE

/* Bonds of a particle in a region of clusters: about as many as a cubic grid has neighbours across edges and corners. */
#define NEAREST 14u

/* --- bonds --- */

typedef struct bond_list {
    lmi_bond *items;
    uint32_t count, capacity;
} bond_list;

static bool add_bond(lmi_memory *memory, bond_list *list, uint32_t a, uint32_t b)
{
    void *items = list->items;
    bool ok = lmi_reserve(memory, &items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    if (ok) {
        list->items[list->count++] = (lmi_bond){a < b ? a : b, a < b ? b : a, false};
    }
    return ok;
}

static int compare_bonds(const void *a, const void *b)
{
    const lmi_bond *x = a, *y = b;
    if (x->a != y->a) {
        return x->a < y->a ? -1 : 1;
    }
    return x->b < y->b ? -1 : x->b > y->b;
}

static void sort_bonds(bond_list *list)
{
    uint32_t kept = 0;
    qsort(list->items, list->count, sizeof *list->items, compare_bonds);
    for (uint32_t n = 0; n < list->count; n++) {
        if (kept == 0 || compare_bonds(&list->items[kept - 1], &list->items[n]) != 0) {
            list->items[kept++] = list->items[n];
        }
    }
    list->count = kept;
}

static bool bond_tets(lmi_memory *memory, const lmi_body *body, bond_list *list)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < body->tet_count; n++) {
        const uint32_t *tet = body->tets + (size_t)n * 4;
        for (int i = 0; ok && i < 4; i++) {
            for (int k = i + 1; ok && k < 4; k++) {
                ok = add_bond(memory, list, tet[i], tet[k]);
            }
        }
    }
    return ok;
}

/* A member of a region along the axis that the region is longest in. */
typedef struct along {
    double at;
    uint32_t particle;
} along;

static int compare_along(const void *a, const void *b)
{
    const along *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return x->particle < y->particle ? -1 : x->particle > y->particle;
}

static double square_between(const lmi_body *body, uint32_t a, uint32_t b)
{
    lm_dvec3 d = dvec_sub(dvec_from(body->rest[a]), dvec_from(body->rest[b]));
    return dvec_dot(d, d);
}

/* The nearest others of one member, found outward along the axis until that alone is farther than the worst that is kept. */
static bool bond_member(lmi_memory *memory, const lmi_body *body, const along *sorted, uint32_t count, uint32_t n,
                        bond_list *list)
{
    double squares[NEAREST];
    uint32_t nearest[NEAREST], found = 0, left = n, right = n + 1;
    for (;;) {
        double worst = found < NEAREST ? INFINITY : squares[NEAREST - 1];
        double to_left = left > 0 ? sorted[n].at - sorted[left - 1].at : INFINITY;
        double to_right = right < count ? sorted[right].at - sorted[n].at : INFINITY;
        double least = fmin(to_left, to_right);
        if (!(least < INFINITY) || least * least > worst) {
            break;
        }
        uint32_t other = to_left <= to_right ? sorted[--left].particle : sorted[right++].particle;
        double square = square_between(body, sorted[n].particle, other);
        if (found == NEAREST && square >= worst) {
            continue;
        }
        uint32_t at = found < NEAREST ? found++ : NEAREST - 1;
        for (; at > 0 && square < squares[at - 1]; at--) {
            squares[at] = squares[at - 1];
            nearest[at] = nearest[at - 1];
        }
        squares[at] = square;
        nearest[at] = other;
    }
    bool ok = true;
    for (uint32_t k = 0; ok && k < found; k++) {
        ok = add_bond(memory, list, sorted[n].particle, nearest[k]);
    }
    return ok;
}

static bool bond_region(lmi_memory *memory, const lmi_body *body, uint32_t region, along *sorted, bond_list *list)
{
    uint32_t first = body->region_offsets[region], count = body->region_offsets[region + 1] - first;
    const lmi_region *r = &body->regions[region];
    lm_dvec3 axis = dvec(r->axes.m[0][0], r->axes.m[1][0], r->axes.m[2][0]); /* the longest */
    bool ok = true;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t particle = body->members[first + n];
        sorted[n] = (along){dvec_dot(dvec_from(body->rest[particle]), axis), particle};
    }
    qsort(sorted, count, sizeof *sorted, compare_along);
    for (uint32_t n = 0; ok && n < count; n++) {
        ok = bond_member(memory, body, sorted, count, n, list);
    }
    return ok;
}

static uint32_t longest_region(const lmi_body *body)
{
    uint32_t longest = 1;
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t count = body->region_offsets[r + 1] - body->region_offsets[r];
        longest = count > longest ? count : longest;
    }
    return longest;
}

static bool bond_clusters(lmi_memory *memory, const lmi_body *body, bond_list *list)
{
    uint32_t longest = longest_region(body);
    along *sorted = lmi_allocate(memory, longest, sizeof *sorted);
    bool ok = sorted != NULL;
    for (uint32_t r = 0; ok && r < body->region_count; r++) {
        ok = bond_region(memory, body, r, sorted, list);
        if (ok && list->count > 4 * NEAREST * body->particle_count) { /* regions overlap: most are there already */
            sort_bonds(list);
        }
    }
    lmi_release(memory, sorted, longest, sizeof *sorted);
    return ok;
}

/* --- what each particle has --- */

static void free_index(lmi_memory *memory, lmi_grain_index *i)
{
    lmi_release(memory, i->bond_offsets, (size_t)i->particle_count + 1, sizeof *i->bond_offsets);
    lmi_release(memory, i->neighbours, (size_t)2 * i->bond_count, sizeof *i->neighbours);
    lmi_release(memory, i->region_offsets, (size_t)i->particle_count + 1, sizeof *i->region_offsets);
    lmi_release(memory, i->regions, i->membership_count, sizeof *i->regions);
    memset(i, 0, sizeof *i);
}

/* Counts into offsets[n + 1], then sums up; filling moves offsets[n] along, so that they are put back afterwards. */
static void sum_up(uint32_t *offsets, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        offsets[n + 1] += offsets[n];
    }
}

static void move_back(uint32_t *offsets, uint32_t count)
{
    memmove(offsets + 1, offsets, count * sizeof *offsets);
    offsets[0] = 0;
}

static bool make_index(lmi_memory *memory, const lmi_body *body, const lmi_bond *bonds, uint32_t count,
                       lmi_grain_index *i)
{
    *i = (lmi_grain_index){.particle_count = body->particle_count,
                           .bond_count = count,
                           .region_count = body->region_count,
                           .membership_count = body->membership_count};
    i->bond_offsets = lmi_allocate(memory, (size_t)i->particle_count + 1, sizeof *i->bond_offsets);
    i->neighbours = lmi_allocate(memory, (size_t)2 * count, sizeof *i->neighbours);
    i->region_offsets = lmi_allocate(memory, (size_t)i->particle_count + 1, sizeof *i->region_offsets);
    i->regions = lmi_allocate(memory, i->membership_count, sizeof *i->regions);
    if (!i->bond_offsets || !i->neighbours || !i->region_offsets || !i->regions) {
        free_index(memory, i);
        return false;
    }
    for (uint32_t n = 0; n < count; n++) {
        i->bond_offsets[bonds[n].a + 1] += !bonds[n].cut;
        i->bond_offsets[bonds[n].b + 1] += !bonds[n].cut;
    }
    for (uint32_t n = 0; n < body->membership_count; n++) {
        i->region_offsets[body->members[n] + 1]++;
    }
    sum_up(i->bond_offsets, i->particle_count);
    sum_up(i->region_offsets, i->particle_count);
    for (uint32_t n = 0; n < count; n++) {
        if (!bonds[n].cut) {
            i->neighbours[i->bond_offsets[bonds[n].a]++] = bonds[n].b;
            i->neighbours[i->bond_offsets[bonds[n].b]++] = bonds[n].a;
        }
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            i->regions[i->region_offsets[body->members[n]]++] = r;
        }
    }
    move_back(i->bond_offsets, i->particle_count);
    move_back(i->region_offsets, i->particle_count);
    return true;
}

/* --- regions that are connected --- */

/* What joins the members of one region. */
typedef struct joiner {
    const lmi_body *body;
    const lmi_grain_index *index;
    uint32_t *local;   /* [particles] one more than where it is in the region that is processed; else 0 */
    bool *in;          /* [members] reached */
    double *square;    /* [members] to the nearest that is */
    uint32_t *nearest; /* [members] that one */
    uint32_t *stack;   /* [members] */
} joiner;

static void reach(joiner *j, const uint32_t *members, uint32_t count, uint32_t from)
{
    uint32_t depth = 0;
    j->stack[depth++] = from;
    j->in[from] = true;
    while (depth) {
        uint32_t at = j->stack[--depth], particle = members[at];
        for (uint32_t n = 0; n < count; n++) {
            double square = j->in[n] ? 0.0 : square_between(j->body, particle, members[n]);
            if (!j->in[n] && square < j->square[n]) {
                j->square[n] = square;
                j->nearest[n] = at;
            }
        }
        for (uint32_t n = j->index->bond_offsets[particle]; n < j->index->bond_offsets[particle + 1]; n++) {
            uint32_t other = j->local[j->index->neighbours[n]];
            if (other && !j->in[other - 1]) {
                j->in[other - 1] = true;
                j->stack[depth++] = other - 1;
            }
        }
    }
}

/* Whether bonds lead from one member to all others; a quick look, for nearly all regions. */
static bool is_joined(joiner *j, const uint32_t *members, uint32_t count)
{
    uint32_t depth = 0, seen = 1;
    memset(j->in, 0, count * sizeof *j->in);
    j->stack[depth++] = 0;
    j->in[0] = true;
    while (depth) {
        uint32_t particle = members[j->stack[--depth]];
        for (uint32_t n = j->index->bond_offsets[particle]; n < j->index->bond_offsets[particle + 1]; n++) {
            uint32_t other = j->local[j->index->neighbours[n]];
            if (other && !j->in[other - 1]) {
                j->in[other - 1] = true;
                j->stack[depth++] = other - 1;
                seen++;
            }
        }
    }
    return seen == count;
}

static bool join_region(joiner *j, lmi_memory *memory, uint32_t region, bond_list *list)
{
    uint32_t first = j->body->region_offsets[region], count = j->body->region_offsets[region + 1] - first;
    const uint32_t *members = j->body->members + first;
    bool ok = true;
    for (uint32_t n = 0; n < count; n++) {
        j->local[members[n]] = n + 1;
        j->square[n] = INFINITY;
    }
    if (!is_joined(j, members, count)) {
        memset(j->in, 0, count * sizeof *j->in);
        reach(j, members, count, 0);
        for (;;) {
            uint32_t next = NONE;
            for (uint32_t n = 0; n < count; n++) {
                next = !j->in[n] && (next == NONE || j->square[n] < j->square[next]) ? n : next;
            }
            if (next == NONE || !ok) {
                break;
            }
            ok = add_bond(memory, list, members[next], members[j->nearest[next]]);
            reach(j, members, count, next);
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        j->local[members[n]] = 0;
    }
    return ok;
}

static bool join_regions(lmi_memory *memory, const lmi_body *body, bond_list *list)
{
    uint32_t longest = longest_region(body);
    lmi_grain_index index;
    if (!make_index(memory, body, list->items, list->count, &index)) {
        return false;
    }
    joiner j = {.body = body, .index = &index};
    j.local = lmi_allocate(memory, body->particle_count, sizeof *j.local);
    j.in = lmi_allocate(memory, longest, sizeof *j.in);
    j.square = lmi_allocate(memory, longest, sizeof *j.square);
    j.nearest = lmi_allocate(memory, longest, sizeof *j.nearest);
    j.stack = lmi_allocate(memory, longest, sizeof *j.stack);
    bool ok = j.local && j.in && j.square && j.nearest && j.stack;
    for (uint32_t r = 0; ok && r < body->region_count; r++) {
        ok = join_region(&j, memory, r, list);
    }
    lmi_release(memory, j.local, body->particle_count, sizeof *j.local);
    lmi_release(memory, j.in, longest, sizeof *j.in);
    lmi_release(memory, j.square, longest, sizeof *j.square);
    lmi_release(memory, j.nearest, longest, sizeof *j.nearest);
    lmi_release(memory, j.stack, longest, sizeof *j.stack);
    free_index(memory, &index);
    return ok;
}

static bool make_bonds(lmi_memory *memory, const lmi_body *body, lmi_grain *g)
{
    bond_list list = {0};
    bool ok = body->tet_count ? bond_tets(memory, body, &list) : bond_clusters(memory, body, &list);
    if (ok && list.count) {
        sort_bonds(&list);
    }
    ok = ok && join_regions(memory, body, &list);
    if (ok && list.count) {
        sort_bonds(&list);
    }
    g->bonds = ok ? lmi_allocate(memory, list.count, sizeof *g->bonds) : NULL;
    if (g->bonds) {
        g->bond_count = list.count;
        if (list.count) {
            memcpy(g->bonds, list.items, list.count * sizeof *g->bonds);
        }
    }
    lmi_release(memory, list.items, list.capacity, sizeof *list.items);
    return g->bonds != NULL;
}

/* --- what follows from bonds --- */

static void free_derived(lm_world *world, lmi_grain *g)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, g->part, g->particle_count, sizeof *g->part);
    lmi_release(memory, g->parts, g->part_count, sizeof *g->parts);
    lmi_release(memory, g->calm, g->particle_count, sizeof *g->calm);
    free_index(memory, &g->index);
    g->part = NULL;
    g->parts = NULL;
    g->calm = NULL;
    g->part_count = 0;
}

static void find_parts(lmi_grain *g, const lmi_body *body, uint32_t *stack)
{
    memset(g->part, 0xff, g->particle_count * sizeof *g->part);
    for (uint32_t n = 0; n < g->particle_count; n++) { /* numbered in the caller's order */
        uint32_t depth = 0;
        if (g->part[body->place[n]] != LMI_NONE) {
            continue;
        }
        g->part[body->place[n]] = g->part_count;
        stack[depth++] = body->place[n];
        while (depth) {
            uint32_t at = stack[--depth];
            for (uint32_t k = g->index.bond_offsets[at]; k < g->index.bond_offsets[at + 1]; k++) {
                uint32_t other = g->index.neighbours[k];
                if (g->part[other] == LMI_NONE) {
                    g->part[other] = g->part_count;
                    stack[depth++] = other;
                }
            }
        }
        g->part_count++;
    }
}

/* Two bonds away from any that is cut. */
static void find_calm(lmi_grain *g, bool *next)
{
    memset(g->calm, true, g->particle_count * sizeof *g->calm);
    for (uint32_t n = 0; n < g->bond_count; n++) {
        if (g->bonds[n].cut) {
            g->calm[g->bonds[n].a] = g->calm[g->bonds[n].b] = false;
        }
    }
    for (int ring = 0; ring < 2; ring++) {
        memcpy(next, g->calm, g->particle_count * sizeof *next);
        for (uint32_t n = 0; n < g->bond_count; n++) {
            const lmi_bond *bond = &g->bonds[n];
            next[bond->a] = next[bond->a] && g->calm[bond->b];
            next[bond->b] = next[bond->b] && g->calm[bond->a];
        }
        memcpy(g->calm, next, g->particle_count * sizeof *next);
    }
}

bool lmi_grain_derive(lm_world *world, lmi_grain *g, const lmi_body *body)
{
    lmi_memory *memory = &world->memory;
    free_derived(world, g);
    uint32_t *stack = lmi_allocate(memory, g->particle_count, sizeof *stack);
    bool *next = lmi_allocate(memory, g->particle_count, sizeof *next);
    g->part = lmi_allocate(memory, g->particle_count, sizeof *g->part);
    g->calm = lmi_allocate(memory, g->particle_count, sizeof *g->calm);
    bool ok = stack && next && g->part && g->calm && make_index(memory, body, g->bonds, g->bond_count, &g->index);
    if (ok) {
        find_parts(g, body, stack);
        find_calm(g, next);
        g->parts = lmi_allocate(memory, g->part_count, sizeof *g->parts);
        ok = g->parts != NULL;
    }
    lmi_release(memory, stack, g->particle_count, sizeof *stack);
    lmi_release(memory, next, g->particle_count, sizeof *next);
    return ok;
}

/* --- from nothing, and to nothing --- */

bool lmi_grain_keep_skin(lm_world *world, const lmi_skin *from, lmi_skin *to)
{
    to->kind = from->kind;
    to->vertex_count = from->vertex_count;
    to->triangle_count = from->triangle_count;
    to->weight_count = from->weight_count;
    if (!lmi_skin_allocate(world, to)) {
        lmi_skin_free(world, to);
        return false;
    }
    memcpy(to->vertices, from->vertices, from->vertex_count * sizeof *to->vertices);
    memcpy(to->triangles, from->triangles, (size_t)from->triangle_count * 3 * sizeof *to->triangles);
    memcpy(to->offsets, from->offsets, ((size_t)from->vertex_count + 1) * sizeof *to->offsets);
    memcpy(to->riders, from->riders, from->weight_count * sizeof *to->riders);
    memcpy(to->weights, from->weights, from->weight_count * sizeof *to->weights);
    return true;
}

lmi_grain *lmi_grain_make(lm_world *world, const lmi_body *body, const char **fault)
{
    lmi_memory *memory = &world->memory;
    lmi_grain *g = lmi_allocate(memory, 1, sizeof *g);
    *fault = NULL;
    if (!g) {
        return NULL;
    }
    g->particle_count = body->particle_count;
    g->region_count = g->origin_count = body->region_count;
    g->origin = lmi_allocate(memory, g->region_count, sizeof *g->origin);
    for (uint32_t r = 0; g->origin && r < g->region_count; r++) {
        g->origin[r] = r;
    }
    bool ok = g->origin && make_bonds(memory, body, g) && lmi_grain_derive(world, g, body);
    if (ok && body->skin.vertex_count) {
        lm_result result = lmi_grain_keep_skin(world, &body->skin, &g->whole)
                               ? lmi_grain_fill(world, g, body, &g->whole)
                               : LM_ERROR_MEMORY;
        ok = result == LM_OK && lmi_grain_spread(world, g, &g->tree, body, NULL);
        *fault = result == LM_OK || result == LM_ERROR_MEMORY ? NULL : "its skin has no inside that could be cut";
    }
    if (!ok) {
        lmi_grain_free(world, g);
        return NULL;
    }
    return g;
}

lmi_grain *lmi_grain_copy(lm_world *world, const lmi_grain *from)
{
    lmi_memory *memory = &world->memory;
    lmi_grain *g = lmi_allocate(memory, 1, sizeof *g);
    if (!g) {
        return NULL;
    }
    g->particle_count = from->particle_count;
    g->bond_count = from->bond_count;
    g->origin_count = from->origin_count;
    g->bonds = lmi_allocate(memory, g->bond_count, sizeof *g->bonds);
    g->seed = from->seed ? lmi_allocate(memory, g->particle_count, sizeof *g->seed) : NULL;
    if (!g->bonds || (from->seed && !g->seed)) {
        lmi_grain_free(world, g);
        return NULL;
    }
    memcpy(g->bonds, from->bonds, g->bond_count * sizeof *g->bonds);
    if (g->seed) {
        memcpy(g->seed, from->seed, g->particle_count * sizeof *g->seed);
    }
    return g;
}

lmi_grain *lmi_grain_of_piece(lm_world *world, const lmi_body *body, const char **fault)
{
    lmi_grain *g = lmi_grain_copy(world, body->grain);
    *fault = NULL;
    if (!g) {
        return NULL;
    }
    bool ok = true;
    g->region_count = body->region_count;
    g->origin = lmi_copy(&world->memory, body->grain->origin, g->region_count, sizeof *g->origin, &ok);
    if (ok && lmi_grain_derive(world, g, body) && lmi_grain_keep_skin(world, &body->skin, &g->whole)) {
        const lm_result result = lmi_grain_fill(world, g, body, &g->whole);
        ok = result == LM_OK && lmi_grain_spread(world, g, &g->tree, body, NULL);
        *fault = result == LM_OK || result == LM_ERROR_MEMORY ? NULL : "its skin has no inside that could be cut";
    } else {
        ok = false;
    }
    if (!ok) {
        lmi_grain_free(world, g);
        return NULL;
    }
    return g;
}

void lmi_grain_free(lm_world *world, lmi_grain *g)
{
    lmi_memory *memory = &world->memory;
    if (!g) {
        return;
    }
    free_derived(world, g);
    lmi_release(memory, g->bonds, g->bond_count, sizeof *g->bonds);
    lmi_release(memory, g->origin, g->region_count, sizeof *g->origin);
    lmi_release(memory, g->seed, g->particle_count, sizeof *g->seed);
    lmi_release(memory, g->owner, g->owner_count, sizeof *g->owner);
    lmi_octree_shell_free(world, g->shell);
    lmi_octree_free(&g->tree, memory);
    lmi_skin_free(world, &g->whole);
    lmi_release(memory, g, 1, sizeof *g);
}
