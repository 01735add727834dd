/*
 * The lists that put irregular regions of a lattice right, in lanes: owners with lists of about equal length side by side,
 * so that little of a group is padding. Groups keep to a plane, because a sweep goes plane by plane.
 */
#include "lattice/lattice.h"

#include <stdlib.h>
#include <string.h>

/* An owner before it has a lane. */
typedef struct owner_list {
    uint32_t owner, plane, first, length;
} owner_list;

/* By plane, long before short, then by owner: owners come by plane and in their order, so each plane is sorted by length, and
 * what is equal stays in its order. `start` has room for every length and one more. */
static void sort_owner_lists(owner_list *owners, uint32_t count, owner_list *sorted, uint32_t *start)
{
    for (uint32_t first = 0, last; first < count; first = last) {
        uint32_t longest = 0;
        for (last = first; last < count && owners[last].plane == owners[first].plane; last++) {
            longest = owners[last].length > longest ? owners[last].length : longest;
        }
        memset(start, 0, ((size_t)longest + 2) * sizeof *start);
        for (uint32_t n = first; n < last; n++) {
            start[longest - owners[n].length + 1]++;
        }
        for (uint32_t n = 0; n <= longest; n++) {
            start[n + 1] += start[n];
        }
        for (uint32_t n = first; n < last; n++) {
            sorted[start[longest - owners[n].length]++] = owners[n];
        }
        memcpy(owners + first, sorted, (last - first) * sizeof *sorted);
    }
}

void lmi_lattice_lists_free(lmi_memory *memory, const lmi_lattice *l, lmi_lattice_lists *lists)
{
    size_t planes = (size_t)l->plane_count + 1;
    lmi_release(memory, lists->owner, lists->owner_count, sizeof *lists->owner);
    lmi_release(memory, lists->plane_owner, planes, sizeof *lists->plane_owner);
    lmi_release(memory, lists->plane_group, planes, sizeof *lists->plane_group);
    lmi_release(memory, lists->group_row, (size_t)lists->group_count + 1, sizeof *lists->group_row);
    lmi_release(memory, lists->who, (size_t)lists->group_count * LMI_BLOCK, sizeof *lists->who);
    lmi_release(memory, lists->member, (size_t)lists->row_count * LMI_BLOCK, sizeof *lists->member);
    lmi_release(memory, lists->offset, (size_t)lists->row_count * 4 * LMI_BLOCK, sizeof *lists->offset);
    memset(lists, 0, sizeof *lists);
}

/* Groups of sorted owners: how many, how many rows, and where each plane's begin. */
static void count_groups(const owner_list *owners, uint32_t count, uint32_t planes, lmi_lattice_lists *lists)
{
    uint32_t used = 0, plane = 0;
    lists->group_count = lists->row_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (n == 0 || used == LMI_BLOCK || owners[n].plane != owners[n - 1].plane) {
            for (; plane <= owners[n].plane; plane++) {
                lists->plane_group[plane] = lists->group_count;
            }
            lists->group_count++;
            lists->row_count += owners[n].length; /* the first is the longest */
            used = 0;
        }
        used++;
    }
    for (; plane <= planes; plane++) {
        lists->plane_group[plane] = lists->group_count;
    }
}

static bool allocate_lists(lmi_memory *memory, const lmi_lattice *l, const owner_list *owners, lmi_lattice_lists *lists)
{
    size_t planes = (size_t)l->plane_count + 1;
    lists->owner = lmi_allocate(memory, lists->owner_count, sizeof *lists->owner);
    lists->plane_owner = lmi_allocate(memory, planes, sizeof *lists->plane_owner);
    lists->plane_group = lmi_allocate(memory, planes, sizeof *lists->plane_group);
    if (!lists->owner || !lists->plane_owner || !lists->plane_group) {
        return false;
    }
    count_groups(owners, lists->owner_count, l->plane_count, lists);
    lists->group_row = lmi_allocate(memory, (size_t)lists->group_count + 1, sizeof *lists->group_row);
    lists->who = lmi_allocate(memory, (size_t)lists->group_count * LMI_BLOCK, sizeof *lists->who);
    lists->member = lmi_allocate(memory, (size_t)lists->row_count * LMI_BLOCK, sizeof *lists->member);
    lists->offset = lmi_allocate(memory, (size_t)lists->row_count * 4 * LMI_BLOCK, sizeof *lists->offset);
    return lists->group_row && lists->who && lists->member && lists->offset;
}

/* `first` of an owner leads into pairs; `by_region` says which end of a pair owns it. `nothing` is what padding names. */
static void fill_lists(const owner_list *owners, const lmi_lattice_pair *pairs, bool by_region, uint32_t nothing,
                       lmi_lattice_lists *lists)
{
    uint32_t group = 0, lane = 0, row = 0, rows = 0;
    for (uint32_t n = 0; n < lists->row_count * LMI_BLOCK; n++) {
        lists->member[n] = nothing;
    }
    for (uint32_t n = 0; n < lists->group_count * LMI_BLOCK; n++) {
        lists->who[n] = LMI_LATTICE_NONE;
    }
    for (uint32_t n = 0; n < lists->owner_count; n++) {
        if (n == 0 || lane == LMI_BLOCK || owners[n].plane != owners[n - 1].plane) {
            row += rows;
            rows = owners[n].length;
            lists->group_row[group++] = row;
            lane = 0;
        }
        lists->who[(group - 1) * LMI_BLOCK + lane] = owners[n].owner;
        for (uint32_t k = 0; k < owners[n].length; k++) {
            const lmi_lattice_pair *pair = &pairs[owners[n].first + k];
            float *offset = lists->offset + (size_t)(row + k) * 4 * LMI_BLOCK + lane;
            lists->member[(row + k) * LMI_BLOCK + lane] = by_region ? pair->particle : pair->region;
            for (int a = 0; a < 3; a++) {
                offset[a * LMI_BLOCK] = pair->offset[a];
            }
            offset[3 * LMI_BLOCK] = pair->sign;
        }
        lane++;
    }
    lists->group_row[group] = row + rows;
}

/* The owners of pairs sorted by owner. Each irregular region is one, whether it has pairs or not. Returns how many. */
static uint32_t find_owners(const lmi_lattice *l, const uint32_t *irregular, const lmi_lattice_pair *pairs,
                            uint32_t pair_count, bool by_region, owner_list *owners, uint32_t *particles)
{
    uint32_t count = 0, n = 0;
    while (by_region ? count < l->irregular_count : n < pair_count) {
        uint32_t key = by_region ? count : pairs[n].particle, first = n;
        while (n < pair_count && (by_region ? pairs[n].region : pairs[n].particle) == key) {
            n++;
        }
        particles[count] = by_region ? irregular[key] : key;
        owner_list owner = {count, (uint32_t)l->at[particles[count] / LMI_BLOCK][2], first, n - first};
        owners[count++] = owner;
    }
    return count;
}

/* Lists from pairs sorted by owner. */
static bool make_lists(lmi_memory *memory, const lmi_lattice *l, const uint32_t *irregular,
                       const lmi_lattice_pair *pairs, uint32_t pair_count, bool by_region, uint32_t nothing,
                       lmi_lattice_lists *lists)
{
    const size_t places = (size_t)l->block_count * LMI_BLOCK;
    const size_t most = by_region ? l->irregular_count : pair_count < places ? pair_count : places;
    owner_list *owners = lmi_allocate(memory, most, sizeof *owners);
    uint32_t *particles = lmi_allocate(memory, most, sizeof *particles);
    owner_list *sorted = lmi_allocate(memory, most, sizeof *sorted);
    const size_t longest = (by_region ? places : l->irregular_count) + 2; /* a list has each of them once */
    uint32_t *start = lmi_allocate(memory, longest, sizeof *start);
    bool ok = owners && particles && sorted && start;
    if (ok) {
        lists->owner_count = find_owners(l, irregular, pairs, pair_count, by_region, owners, particles);
        sort_owner_lists(owners, lists->owner_count, sorted, start);
        ok = allocate_lists(memory, l, owners, lists);
    }
    if (ok) {
        memcpy(lists->owner, particles, lists->owner_count * sizeof *particles);
        for (uint32_t n = 0; n < lists->owner_count; n++) {
            lists->plane_owner[l->at[particles[n] / LMI_BLOCK][2] + 1] = n + 1;
        }
        for (uint32_t z = 0; z < l->plane_count; z++) {
            uint32_t *end = &lists->plane_owner[z + 1];
            *end = *end > lists->plane_owner[z] ? *end : lists->plane_owner[z];
        }
        fill_lists(owners, pairs, by_region, nothing, lists);
    }
    lmi_release(memory, particles, most, sizeof *particles);
    lmi_release(memory, owners, most, sizeof *owners);
    lmi_release(memory, sorted, most, sizeof *sorted);
    lmi_release(memory, start, longest, sizeof *start);
    return ok;
}

/* --- particles whose sums are listed --- */

typedef struct listing {
    uint32_t *taken;      /* [places] how much would be taken away; LMI_LATTICE_NONE: listed instead */
    uint32_t *region;     /* [places] 1 for regions whose transforms are wanted, then their index */
    uint32_t *members;    /* room for a cube */
    uint32_t *irregular;  /* the particles of those regions */
    uint32_t count, more; /* regions; pairs of listed particles */
    lmi_lattice_pair *pairs;
    uint32_t pair_count;
} listing;

/* Which particles are listed, and which regions they want. False when that makes more than LMI_LATTICE_MOST_PAIRS. */
static bool choose_listed(const lmi_lattice *l, const uint32_t *irregular, uint32_t irregular_count,
                          const lmi_lattice_pair *pairs, uint32_t pair_count, listing *to)
{
    for (uint32_t n = 0; n < irregular_count; n++) {
        to->region[irregular[n]] = 1;
    }
    for (uint32_t n = 0; n < pair_count; n++) {
        to->taken[pairs[n].particle] += pairs[n].sign < 0;
    }
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        if (to->taken[n] <= l->degree[n]) {
            continue;
        }
        uint32_t count = lmi_lattice_region(l, n, to->members);
        for (uint32_t k = 0; k < count; k++) {
            to->region[to->members[k]] = 1;
        }
        to->taken[n] = LMI_LATTICE_NONE;
        to->more += count;
        if (pair_count + to->more > LMI_LATTICE_MOST_PAIRS) {
            return false;
        }
    }
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        to->count += to->region[n];
    }
    return true;
}

/* Sorts pairs by particle; those of one particle stay in their order, which is that of their regions. `start` has a place for
 * each particle and one more, and is zero. */
static void sort_by_particle(const lmi_lattice_pair *from, uint32_t count, uint32_t places, uint32_t *start,
                             lmi_lattice_pair *to)
{
    for (uint32_t n = 0; n < count; n++) {
        start[from[n].particle + 1]++;
    }
    for (uint32_t n = 0; n < places; n++) {
        start[n + 1] += start[n];
    }
    for (uint32_t n = 0; n < count; n++) {
        to[start[from[n].particle]++] = from[n];
    }
}

/* The pairs of particles that are not listed as they are, and all regions of those that are. False when out of memory. */
static bool list_pairs(lmi_memory *memory, const lmi_lattice *l, const lmi_lattice_pair *pairs, uint32_t pair_count,
                       listing *to)
{
    const uint32_t places = l->block_count * LMI_BLOCK;
    const size_t most = (size_t)pair_count + to->more;
    lmi_lattice_pair *sorted = lmi_allocate(memory, most, sizeof *sorted);
    uint32_t *start = lmi_allocate(memory, (size_t)places + 1, sizeof *start);
    for (uint32_t n = 0; n < pair_count; n++) {
        if (to->taken[pairs[n].particle] != LMI_LATTICE_NONE) {
            to->pairs[to->pair_count++] = pairs[n];
        }
    }
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        uint32_t count = to->taken[n] == LMI_LATTICE_NONE ? lmi_lattice_region(l, n, to->members) : 0;
        for (uint32_t k = 0; k < count; k++) { /* who is in its region has it in theirs */
            int32_t at[3], from[3];
            lmi_lattice_corner(l, n, at);
            lmi_lattice_corner(l, to->members[k], from);
            lmi_lattice_pair pair = {to->region[to->members[k]],
                                     n,
                                     {(int8_t)(at[0] - from[0]), (int8_t)(at[1] - from[1]), (int8_t)(at[2] - from[2])},
                                     1};
            to->pairs[to->pair_count++] = pair;
        }
    }
    if (sorted && start) {
        sort_by_particle(to->pairs, to->pair_count, places, start, sorted);
        lmi_lattice_pair *unsorted = to->pairs;
        to->pairs = sorted;
        sorted = unsorted;
    }
    bool ok = sorted && start;
    lmi_release(memory, sorted, most, sizeof *sorted);
    lmi_release(memory, start, (size_t)places + 1, sizeof *start);
    return ok;
}

/* Renumbers the regions, the added ones included. */
static bool number_regions(lmi_memory *memory, lmi_lattice *l, const uint32_t *irregular, lmi_lattice_pair *pairs,
                           uint32_t pair_count, listing *to)
{
    to->irregular = lmi_allocate(memory, to->count, sizeof *to->irregular);
    to->pairs = lmi_allocate(memory, (size_t)pair_count + to->more, sizeof *to->pairs);
    l->irregular_count = to->irregular ? to->count : 0;
    l->direct = lmi_allocate(memory, l->irregular_count, sizeof *l->direct);
    if (!to->irregular || !to->pairs || !l->direct) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        if (to->region[n]) {
            to->region[n] = count;
            to->irregular[count++] = n;
        }
    }
    for (uint32_t n = 0; n < pair_count; n++) {
        pairs[n].region = to->region[irregular[pairs[n].region]];
        l->direct[pairs[n].region] = pairs[n].sign > 0;
    }
    return true;
}

static bool list(lmi_memory *memory, lmi_lattice *l, const uint32_t *irregular, lmi_lattice_pair *pairs,
                 uint32_t pair_count, listing *to)
{
    if (!number_regions(memory, l, irregular, pairs, pair_count, to) ||
        !make_lists(memory, l, to->irregular, pairs, pair_count, true, l->block_count * LMI_BLOCK, &l->gather)) {
        return false;
    }
    if (!list_pairs(memory, l, pairs, pair_count, to) ||
        !make_lists(memory, l, to->irregular, to->pairs, to->pair_count, false, l->irregular_count, &l->scatter)) {
        return false;
    }
    l->listed = lmi_allocate(memory, l->scatter.owner_count, sizeof *l->listed);
    for (uint32_t n = 0; l->listed && n < l->scatter.owner_count; n++) {
        l->listed[n] = to->taken[l->scatter.owner[n]] == LMI_LATTICE_NONE;
    }
    return l->listed != NULL;
}

lm_result lmi_lattice_list(lmi_memory *memory, lmi_lattice *l, const uint32_t *irregular, uint32_t irregular_count,
                           lmi_lattice_pair *pairs, uint32_t pair_count)
{
    size_t places = ((size_t)l->block_count + 1) * LMI_BLOCK, side = 2 * (size_t)l->width + 1,
           cube = side * side * side;
    listing to = {.taken = lmi_allocate(memory, places, sizeof *to.taken),
                  .region = lmi_allocate(memory, places, sizeof *to.region),
                  .members = lmi_allocate(memory, cube, sizeof *to.members)};
    lm_result result = LM_ERROR_MEMORY;
    if (to.taken && to.region && to.members) {
        bool few = choose_listed(l, irregular, irregular_count, pairs, pair_count, &to);
        result = !few ? LM_ERROR_LIMIT : list(memory, l, irregular, pairs, pair_count, &to) ? LM_OK : LM_ERROR_MEMORY;
    }
    lmi_release(memory, to.taken, places, sizeof *to.taken);
    lmi_release(memory, to.region, places, sizeof *to.region);
    lmi_release(memory, to.members, cube, sizeof *to.members);
    lmi_release(memory, to.irregular, to.count, sizeof *to.irregular);
    lmi_release(memory, to.pairs, (size_t)pair_count + to.more, sizeof *to.pairs);
    return result;
}
