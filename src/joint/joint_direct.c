/*
 * The rows of all joints as one system of equations, solved directly.
 *
 * Reads rows and patches; writes the factors and what is given. Two joints are coupled where an end of both is the same patch (the same
 * rigid body, as in a chain of bodies that are held as a whole): what one gives, the other sees. Rows are in the order of the joints'
 * slots, and each is stored from its first column that is not 0 on (a skyline), so that a chain costs no more than its links.
 *
 *     (K + g) L = -(u + b)        K + g = F D F^T,  F with ones on the diagonal
 *
 * A row in which nothing yields has D = 0, and is given nothing.
 */
#include "base/hash.h"
#include "joint/joining.h"

#include <string.h>

/* More numbers than these are not worth it: 128 MB. Then joints are swept. */
#define MOST_NUMBERS (1u << 24)

/* --- which patches are the same --- */

/* Whether an end is on a mover that yields: one that has a mass. */
static bool is_rigid(const lm_world *world, const lmi_joint_end *end)
{
    return end->mover != LMI_NONE && LMI_POOL_AT(&world->movers, lmi_mover, end->mover)->mass > 0.0f;
}

static bool is_same(const lm_world *world, const lmi_joint_end *a, const lmi_joint_end *b)
{
    if (a->body == LMI_NONE && a->mover == b->mover && is_rigid(world, a)) {
        return true;
    }
    return a->body != LMI_NONE && a->body == b->body && a->count == b->count &&
           memcmp(a->particles, b->particles, a->count * sizeof *a->particles) == 0;
}

static bool are_coupled(const lm_world *world, const lmi_joint *a, const lmi_joint *b)
{
    return is_same(world, &a->end[0], &b->end[0]) || is_same(world, &a->end[0], &b->end[1]) ||
           is_same(world, &a->end[1], &b->end[0]) || is_same(world, &a->end[1], &b->end[1]);
}

/* Whether some ends of two joints share particles without being the same. */
static bool do_overlap(const lm_world *world, const lmi_joint *a, const lmi_joint *b)
{
    for (int e = 0; e < 4; e++) {
        const lmi_joint_end *one = &a->end[e / 2], *other = &b->end[e % 2];
        if (one->body != LMI_NONE && one->body == other->body && !is_same(world, one, other) &&
            lmi_patches_share(one, other)) {
            return true;
        }
    }
    return false;
}

/* The first joint before the n-th that it is coupled with, or itself. */
static uint32_t first_coupled(const lm_world *world, uint32_t n)
{
    const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
    uint32_t first = 0;
    while (first < n && !(lmi_pool_used(&world->joints, first) &&
                          are_coupled(world, LMI_POOL_AT(&world->joints, lmi_joint, first), joint))) {
        first++;
    }
    return first;
}

/* --- memory --- */

bool lmi_direct_room(lm_world *world, lmi_joining *all, uint32_t rows, uint32_t numbers)
{
    lmi_memory *memory = &world->memory;
    void *first = all->first, *row = all->row, *factor = all->factor, *lacks = all->lacks;
    bool ok = lmi_reserve(memory, &first, &all->first_capacity, rows, sizeof *all->first) &&
              lmi_reserve(memory, &row, &all->row_capacity, rows, sizeof *all->row) &&
              lmi_reserve(memory, &factor, &all->factor_capacity, numbers, sizeof *all->factor) &&
              lmi_reserve(memory, &lacks, &all->lacks_capacity, rows, sizeof *all->lacks);
    all->first = first;
    all->row = row;
    all->factor = factor;
    all->lacks = lacks;
    return ok;
}

/* Changes when joints come or go. */
static uint64_t structure_of(const lm_world *world)
{
    uint64_t hash = LMI_HASH_SEED;
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
        hash = lmi_hash_word(hash, (uint64_t)n << 32 | joint->kind);
        for (int e = 0; e < 2; e++) {
            const lmi_joint_end *end = &joint->end[e];
            hash = lmi_hash_word(hash, end->body);
            hash = is_rigid(world, end) ? lmi_hash_word(hash, (uint64_t)end->mover << 32 | 1) : hash;
            hash = lmi_hash_array(hash, end->particles, end->count * sizeof *end->particles);
        }
    }
    return hash;
}

bool lmi_direct_reserve(lm_world *world, lmi_joining *all)
{
    uint64_t structure = structure_of(world), rows = 0, numbers = 0;
    bool overlaps = false;
    if (all->known && structure == all->structure) {
        return true;
    }
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n);
        uint64_t own = (uint64_t)lmi_joint_rows(joint->kind), between = 0;
        for (uint32_t k = first_coupled(world, n); k < n; k++) {
            if (lmi_pool_used(&world->joints, k)) {
                between += (uint64_t)lmi_joint_rows(LMI_POOL_AT(&world->joints, lmi_joint, k)->kind);
            }
        }
        for (uint32_t k = 0; k < n && !overlaps; k++) {
            overlaps =
                lmi_pool_used(&world->joints, k) && do_overlap(world, LMI_POOL_AT(&world->joints, lmi_joint, k), joint);
        }
        rows += own;
        numbers += own * (between + own);
    }
    all->direct = !overlaps && numbers <= MOST_NUMBERS;
    all->known = !all->direct || lmi_direct_room(world, all, (uint32_t)rows, (uint32_t)numbers);
    all->structure = structure;
    return all->known;
}

void lmi_direct_free(lm_world *world, lmi_joining *all)
{
    lmi_release(&world->memory, all->first, all->first_capacity, sizeof *all->first);
    lmi_release(&world->memory, all->row, all->row_capacity, sizeof *all->row);
    lmi_release(&world->memory, all->factor, all->factor_capacity, sizeof *all->factor);
    lmi_release(&world->memory, all->lacks, all->lacks_capacity, sizeof *all->lacks);
}

/* --- equations --- */

/* K of rows of two joints that are coupled. */
static double between(const lm_world *world, const lmi_joined *a, const lmi_row *ra, const lmi_joined *b,
                      const lmi_row *rb)
{
    const lmi_joint *one = LMI_POOL_AT(&world->joints, lmi_joint, a->joint);
    const lmi_joint *other = LMI_POOL_AT(&world->joints, lmi_joint, b->joint);
    double sum = 0.0;
    for (int e = 0; e < 4; e++) {
        int i = e / 2, k = e % 2;
        if ((a->side[i].body || a->side[i].mover) && is_same(world, &one->end[i], &other->end[k])) {
            double both = dvec_dot(ra->lever[i], rb->turns[k]);
            if (!ra->angular && !rb->angular) {
                both += a->side[i].inverse_mass * dvec_dot(ra->direction, rb->direction);
            }
            sum += i == k ? both : -both;
        }
    }
    return sum;
}

/* Where rows begin. */
static void lay_out(const lm_world *world, lmi_joining *all)
{
    size_t at = 0;
    all->rows = 0;
    for (uint32_t n = 0; n < all->count; n++) {
        const lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, all->joined[n].joint);
        uint32_t k = 0;
        while (k < n && !are_coupled(world, LMI_POOL_AT(&world->joints, lmi_joint, all->joined[k].joint), joint)) {
            k++;
        }
        all->joined[n].coupled = k;
        all->joined[n].first_row = all->rows;
        uint32_t first = all->joined[k].first_row;
        for (int r = 0; r < all->joined[n].count; r++) {
            all->first[all->rows] = first;
            all->row[all->rows] = at - first;
            at += all->rows - first + 1;
            all->rows++;
        }
    }
}

static void fill(const lm_world *world, lmi_joining *all)
{
    uint32_t row = 0;
    for (uint32_t n = 0; n < all->count; n++) {
        const lmi_joined *a = &all->joined[n];
        for (int r = 0; r < a->count; r++, row++) {
            double *to = all->factor + all->row[row];
            for (uint32_t k = a->coupled; k < n; k++) {
                const lmi_joined *b = &all->joined[k];
                for (int c = 0; c < b->count; c++) {
                    to[b->first_row + (uint32_t)c] = between(world, a, &a->rows[r], b, &b->rows[c]);
                }
            }
            for (int c = 0; c <= r; c++) {
                to[a->first_row + (uint32_t)c] = lmi_row_mobility(a, &a->rows[r], &a->rows[c]);
            }
            to[row] += a->rows[r].soft;
        }
    }
}

void lmi_direct_factorise(const lm_world *world, lmi_joining *all)
{
    lay_out(world, all);
    fill(world, all);
    lmi_direct_divide(all);
}

void lmi_direct_divide(lmi_joining *all)
{
    for (uint32_t i = 0; i < all->rows; i++) {
        double *a = all->factor + all->row[i], whole = a[i];
        for (uint32_t j = all->first[i]; j < i; j++) {
            const double *b = all->factor + all->row[j];
            uint32_t from = all->first[i] > all->first[j] ? all->first[i] : all->first[j];
            for (uint32_t k = from; k < j; k++) {
                a[j] -= a[k] * b[k]; /* a is still F D */
            }
        }
        for (uint32_t j = all->first[i]; j < i; j++) {
            double d = all->factor[all->row[j] + j], times = a[j];
            a[j] = d > 0.0 ? times / d : 0.0;
            a[i] -= times * a[j];
        }
        a[i] = a[i] > 1e-11 * whole ? a[i] : 0.0;
    }
}

void lmi_direct_solve(lmi_joining *all)
{
    double *x = all->lacks;
    for (uint32_t i = 0; i < all->rows; i++) {
        const double *a = all->factor + all->row[i];
        for (uint32_t k = all->first[i]; k < i; k++) {
            x[i] -= a[k] * x[k];
        }
    }
    for (uint32_t i = 0; i < all->rows; i++) {
        double d = all->factor[all->row[i] + i];
        x[i] = d > 0.0 ? x[i] / d : 0.0;
    }
    for (uint32_t i = all->rows; i-- > 0;) {
        const double *a = all->factor + all->row[i];
        for (uint32_t k = all->first[i]; k < i; k++) {
            x[k] -= a[k] * x[i];
        }
    }
}
