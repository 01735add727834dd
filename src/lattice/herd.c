/*
 * Which lattices of a batch are alike, and the plan by which they are stepped together.
 */
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "world/world.h"

#include <string.h>

/* --- plans --- */

/* The corners of the box around a lattice. */
typedef struct box {
    uint32_t size[3], count;
} box;

/* Corners of the box, as bytes or numbers, while a plan is made. */
enum { PARTICLES, REGIONS, FAST, GATHER_Z, GATHER_Y, SCATTER_X, SCATTER_Y, SPARE, SPARE_2, MAPS };

typedef struct draft {
    const lmi_lattice *lattice;
    box box;
    uint16_t *map[MAPS]; /* [corners] 0: not here; else 1, and later its number */
} draft;

static uint32_t site_of(const draft *d, uint32_t place)
{
    int32_t corner[3];
    lmi_lattice_corner(d->lattice, place, corner);
    return ((uint32_t)corner[2] * d->box.size[1] + (uint32_t)corner[1]) * d->box.size[0] + (uint32_t)corner[0];
}

/* The corner `k` steps along an axis, or false where the box ends. */
static bool neighbour(const box *b, uint32_t site, int axis, int k, uint32_t *at)
{
    uint32_t stride = axis == 0 ? 1 : axis == 1 ? b->size[0] : b->size[0] * b->size[1];
    int to = (int)(site / stride % b->size[axis]) + k;
    *at = (uint32_t)((int)site + k * (int)stride);
    return to >= 0 && to < (int)b->size[axis];
}

/* Corners within the width of those of `from` along an axis; with `only`, of those the ones that are there too. */
static void spread(const draft *d, int from, int axis, int only, int to)
{
    const int w = (int)d->lattice->width;
    for (uint32_t site = 0; site < d->box.count; site++) {
        uint32_t at;
        bool any = false;
        for (int k = -w; k <= w && !any; k++) {
            any = neighbour(&d->box, site, axis, k, &at) && d->map[from][at];
        }
        d->map[to][site] = any && (only < 0 || d->map[only][site]);
    }
}

static uint32_t number(const draft *d, int map)
{
    uint32_t count = 0;
    for (uint32_t site = 0; site < d->box.count; site++) {
        if (d->map[map][site]) {
            d->map[map][site] = (uint16_t)++count;
        }
    }
    return count;
}

/* Which corners each pass has sums at: where there is something to add up, and somebody asks for it. */
static void mark_passes(const draft *d)
{
    const lmi_lattice *l = d->lattice;
    for (uint32_t place = 0; place < l->block_count * LMI_BLOCK; place++) {
        uint32_t lane = place % LMI_BLOCK;
        if (l->occupied[place / LMI_BLOCK] >> lane & 1) {
            uint32_t site = site_of(d, place);
            d->map[PARTICLES][site] = 1;
            d->map[REGIONS][site] = d->map[FAST][site] = l->active[place / LMI_BLOCK] >> lane & 1;
        }
    }
    for (uint32_t n = 0; n < l->irregular_count; n++) {
        if (l->direct[n]) {
            d->map[FAST][site_of(d, l->gather.owner[n])] = 0;
        }
    }
    spread(d, FAST, 0, -1, SPARE);
    spread(d, SPARE, 1, -1, SPARE_2);
    spread(d, PARTICLES, 2, SPARE_2, GATHER_Z);
    spread(d, GATHER_Z, 1, SPARE, GATHER_Y);
    spread(d, PARTICLES, 2, -1, SPARE);
    spread(d, SPARE, 1, -1, SPARE_2);
    spread(d, FAST, 0, SPARE_2, SCATTER_X);
    spread(d, SCATTER_X, 1, SPARE, SCATTER_Y);
}

/* Regions that fast sums leave out have numbers, but no taps lead to them or from them. */
static void number_fast(const draft *d)
{
    for (uint32_t site = 0; site < d->box.count; site++) {
        d->map[FAST][site] = d->map[FAST][site] ? d->map[REGIONS][site] : 0;
    }
}

static bool make_pass(lmi_memory *memory, const draft *d, int from, int axis, int to, uint32_t count,
                      lmi_herd_pass *pass)
{
    const int w = (int)d->lattice->width;
    size_t taps = 2 * (size_t)w + 1;
    pass->count = count;
    pass->tap = lmi_allocate(memory, count * taps, sizeof *pass->tap);
    for (uint32_t site = 0; pass->tap && site < d->box.count; site++) {
        if (!d->map[to][site] || (to == REGIONS && !d->map[FAST][site])) {
            continue;
        }
        uint16_t *tap = pass->tap + (d->map[to][site] - 1u) * taps;
        for (int k = -w; k <= w; k++) {
            uint32_t at;
            if (neighbour(&d->box, site, axis, k, &at)) {
                tap[k <= 0 ? (k == 0 ? 0 : -2 * k - 1) : 2 * k] = d->map[from][at];
            }
        }
    }
    return pass->tap != NULL;
}

static bool make_passes(lmi_memory *memory, const draft *d, lmi_herd_plan *plan)
{
    plan->particle_count = number(d, PARTICLES);
    plan->region_count = number(d, REGIONS);
    number_fast(d);
    uint32_t gather_z = number(d, GATHER_Z), gather_y = number(d, GATHER_Y);
    uint32_t scatter_x = number(d, SCATTER_X), scatter_y = number(d, SCATTER_Y);
    return make_pass(memory, d, PARTICLES, 2, GATHER_Z, gather_z, &plan->gather[0]) &&
           make_pass(memory, d, GATHER_Z, 1, GATHER_Y, gather_y, &plan->gather[1]) &&
           make_pass(memory, d, GATHER_Y, 0, REGIONS, plan->region_count, &plan->gather[2]) &&
           make_pass(memory, d, FAST, 0, SCATTER_X, scatter_x, &plan->scatter[0]) &&
           make_pass(memory, d, SCATTER_X, 1, SCATTER_Y, scatter_y, &plan->scatter[1]) &&
           make_pass(memory, d, SCATTER_Y, 2, PARTICLES, plan->particle_count, &plan->scatter[2]);
}

/* Pairs in lists, without padding. */
static uint32_t count_pairs(const lmi_lattice_lists *lists)
{
    uint32_t count = 0;
    for (size_t row = 0; row < lists->row_count; row++) {
        for (size_t lane = 0; lane < LMI_BLOCK; lane++) {
            count += lists->offset[(row * 4 + 3) * LMI_BLOCK + lane] != 0.0f;
        }
    }
    return count;
}

/* The pairs of one lane of a group, in the order of its rows. */
static void copy_list(const draft *d, const lmi_lattice_lists *lists, uint32_t group, uint32_t lane, bool gather,
                      lmi_herd_plan *plan, lmi_herd_list *list)
{
    const lmi_lattice *l = d->lattice;
    list->first = plan->pair_count;
    for (size_t row = lists->group_row[group]; row < lists->group_row[group + 1]; row++) {
        const float *offset = lists->offset + row * 4 * LMI_BLOCK + lane;
        if (offset[3 * LMI_BLOCK] == 0.0f) {
            continue;
        }
        uint32_t member = lists->member[row * LMI_BLOCK + lane];
        uint16_t from =
            gather ? d->map[PARTICLES][site_of(d, member)] : d->map[REGIONS][site_of(d, l->gather.owner[member])];
        lmi_herd_pair pair = {from,
                              {(int8_t)offset[0], (int8_t)offset[LMI_BLOCK], (int8_t)offset[2 * LMI_BLOCK]},
                              (int8_t)offset[3 * LMI_BLOCK]};
        plan->pair[plan->pair_count++] = pair;
    }
    list->last = plan->pair_count;
}

static void copy_lists(const draft *d, const lmi_lattice_lists *lists, bool gather, lmi_herd_plan *plan)
{
    for (uint32_t group = 0; group < lists->group_count; group++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            uint32_t who = lists->who[(size_t)group * LMI_BLOCK + lane];
            if (who == LMI_LATTICE_NONE) {
                continue;
            }
            uint32_t site = site_of(d, lists->owner[who]), at = d->map[gather ? REGIONS : PARTICLES][site];
            if (at == 0) {
                continue; /* a repetition: nobody wants its moments */
            }
            lmi_herd_list *list = gather ? &plan->region_list[at - 1] : &plan->particle_list[at - 1];
            copy_list(d, lists, group, lane, gather, plan, list);
            list->replaces = gather ? d->lattice->direct[who] : d->lattice->listed[who];
        }
    }
}

static void copy_places(const draft *d, lmi_herd_plan *plan)
{
    const lmi_lattice *l = d->lattice;
    for (uint32_t place = 0; place < l->block_count * LMI_BLOCK; place++) {
        if (l->occupied[place / LMI_BLOCK] >> place % LMI_BLOCK & 1) {
            uint32_t site = site_of(d, place);
            plan->particle[d->map[PARTICLES][site] - 1] = place;
            if (d->map[REGIONS][site]) {
                plan->region[d->map[REGIONS][site] - 1] = place;
            }
        }
    }
}

static void free_plan(lmi_memory *memory, lmi_herd_plan *plan)
{
    size_t taps = 2 * (size_t)plan->width + 1;
    for (int n = 0; n < 3; n++) {
        lmi_release(memory, plan->gather[n].tap, plan->gather[n].count * taps, sizeof(uint16_t));
        lmi_release(memory, plan->scatter[n].tap, plan->scatter[n].count * taps, sizeof(uint16_t));
    }
    lmi_release(memory, plan->particle, plan->particle_count, sizeof *plan->particle);
    lmi_release(memory, plan->region, plan->region_count, sizeof *plan->region);
    lmi_release(memory, plan->region_list, plan->region_count, sizeof *plan->region_list);
    lmi_release(memory, plan->particle_list, plan->particle_count, sizeof *plan->particle_list);
    lmi_release(memory, plan->pair, plan->pair_capacity, sizeof *plan->pair);
    memset(plan, 0, sizeof *plan);
}

static bool fill_plan(lmi_memory *memory, const draft *d, lmi_herd_plan *plan)
{
    const lmi_lattice *l = d->lattice;
    mark_passes(d);
    if (!make_passes(memory, d, plan)) {
        return false;
    }
    plan->pair_capacity = count_pairs(&l->gather) + count_pairs(&l->scatter);
    plan->particle = lmi_allocate(memory, plan->particle_count, sizeof *plan->particle);
    plan->region = lmi_allocate(memory, plan->region_count, sizeof *plan->region);
    plan->region_list = lmi_allocate(memory, plan->region_count, sizeof *plan->region_list);
    plan->particle_list = lmi_allocate(memory, plan->particle_count, sizeof *plan->particle_list);
    plan->pair = lmi_allocate(memory, plan->pair_capacity, sizeof *plan->pair);
    if (!plan->particle || !plan->region || !plan->region_list || !plan->particle_list || !plan->pair) {
        return false;
    }
    copy_places(d, plan);
    copy_lists(d, &l->gather, true, plan);
    copy_lists(d, &l->scatter, false, plan);
    return true;
}

static bool make_plan(lmi_memory *memory, const lmi_lattice *l, lmi_herd_plan *plan)
{
    uint32_t count = l->size[0] * l->size[1] * l->size[2];
    draft d = {.lattice = l, .box = {{l->size[0], l->size[1], l->size[2]}, count}};
    uint16_t *maps = lmi_allocate(memory, (size_t)count * MAPS, sizeof *maps);
    for (size_t n = 0; n < MAPS; n++) {
        d.map[n] = maps + n * count;
    }
    plan->width = l->width;
    bool ok = maps && fill_plan(memory, &d, plan);
    lmi_release(memory, maps, (size_t)count * MAPS, sizeof *maps);
    if (!ok) {
        free_plan(memory, plan);
    }
    return ok;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

lmi_herd_sizes lmi_herd_sizes_of(const lmi_herd_plan *plan)
{
    lmi_herd_sizes s = {.particles = plan->particle_count + 1,
                        .z = larger(plan->gather[0].count, plan->scatter[1].count) + 1,
                        .y = larger(plan->gather[1].count, plan->scatter[0].count) + 1,
                        .regions = plan->region_count + 1};
    return s;
}

size_t lmi_herd_scratch(const lmi_herd_plan *plan)
{
    lmi_herd_sizes s = lmi_herd_sizes_of(plan);
    return (2 * ((4 + 3) * s.particles + 6 * s.z + 9 * s.y) + 12 * s.regions) * LMI_BLOCK; /* twice: velocities */
}

/* --- who is in which --- */

static bool may_join(const lmi_lattice *l)
{
    uint64_t sites = (uint64_t)l->size[0] * l->size[1] * l->size[2];
    return !lmi_lattice_is_plated(l) && !l->whole && l->part_count == 1 && l->slab_count == 1 &&
           l->particle_count <= LMI_HERD_PARTICLES && sites <= LMI_HERD_SITES;
}

/* Whether two lattices differ in nothing that a sweep reads but the particles and the frame. */
static bool are_alike(const lmi_lattice_body *a, const lmi_lattice_body *b)
{
    const lmi_lattice *l = &a->shape, *m = &b->shape;
    size_t blocks = (size_t)l->block_count + 1;
    if (l->block_count != m->block_count || l->particle_count != m->particle_count || l->width != m->width ||
        l->channels != m->channels || l->affine != m->affine || l->constants_count != m->constants_count ||
        memcmp(l->size, m->size, sizeof l->size) != 0 || memcmp(a->middle, b->middle, sizeof a->middle) != 0) {
        return false;
    }
    return memcmp(l->at, m->at, blocks * sizeof *l->at) == 0 &&
           memcmp(l->occupied, m->occupied, blocks * sizeof *l->occupied) == 0 &&
           memcmp(l->cell, m->cell, blocks * sizeof *l->cell) == 0 &&
           memcmp(l->active, m->active, blocks * sizeof *l->active) == 0 &&
           memcmp(l->constants_of, m->constants_of, blocks * sizeof *l->constants_of) == 0 &&
           memcmp(l->constants, m->constants,
                  (size_t)l->constants_count * l->channels * LMI_BLOCK * sizeof *l->constants) == 0;
}

void lmi_batch_disperse(lm_world *world, lmi_batch *batch)
{
    for (uint32_t n = 0; n < batch->herd_count; n++) {
        free_plan(&world->memory, &batch->herds[n].plan);
    }
    batch->herd_count = 0;
    batch->herded = false;
}

/* The herd that a body joins, or LMI_NONE: it is the first of its kind, or of none. Herds have no plans yet. */
static uint32_t find_herd(const lm_world *world, const lmi_batch *batch, const lmi_lattice_body *lattice)
{
    for (uint32_t n = 0; n < batch->herd_count; n++) {
        if (are_alike(lmi_body_at(world, batch->herds[n].leader)->lattice, lattice)) {
            return n;
        }
    }
    return LMI_NONE;
}

/* Everybody into a herd of his kind, however small. */
static bool join_herds(lm_world *world, lmi_batch *batch)
{
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_lattice_body *lattice = lmi_body_at(world, batch->bodies[n])->lattice;
        if (!lattice) {
            continue;
        }
        lattice->shape.weighed = false;
        lattice->herd = may_join(&lattice->shape) ? find_herd(world, batch, lattice) : LMI_NONE;
        if (lattice->herd == LMI_NONE && may_join(&lattice->shape)) {
            void *herds = batch->herds;
            if (!lmi_reserve(&world->memory, &herds, &batch->herd_capacity, batch->herd_count + 1,
                             sizeof *batch->herds)) {
                return false;
            }
            batch->herds = herds;
            lattice->herd = batch->herd_count++;
            batch->herds[lattice->herd] = (lmi_herd){.leader = batch->bodies[n]};
        }
        if (lattice->herd != LMI_NONE) {
            batch->herds[lattice->herd].count++;
        }
    }
    return true;
}

static bool is_weighed(const lm_world *world, const lmi_batch *batch)
{
    bool any = false;
    for (uint32_t n = 0; n < batch->body_count && !any; n++) {
        const lmi_lattice_body *lattice = lmi_body_at(world, batch->bodies[n])->lattice;
        any = lattice && lattice->shape.weighed;
    }
    return any;
}

bool lmi_batch_herd(lm_world *world, lmi_batch *batch)
{
    if (batch->herded && !is_weighed(world, batch)) {
        return true;
    }
    lmi_batch_disperse(world, batch);
    bool ok = join_herds(world, batch);
    for (uint32_t n = 0; ok && n < batch->herd_count; n++) {
        lmi_herd *herd = &batch->herds[n];
        if (herd->count > 1) {
            ok = make_plan(&world->memory, &lmi_body_at(world, herd->leader)->lattice->shape, &herd->plan);
        }
    }
    if (!ok) {
        lmi_batch_disperse(world, batch);
    }
    batch->herded = ok;
    return ok;
}
