#include "contact/pairs.h"
#include "contact/curve.h"
#include "contact/rubble.h"
#include "touch/bulk.h"
#include "touch/depth.h"

/* Bodies of its size or larger that one body is tested against in a substep, at most: ten thousand in one place must not take
 * forever. They come apart all the same, those first that come first on the curve. */
#define MOST_PARTNERS 64u

lmi_entry lmi_entry_of(const lmi_body *body, uint32_t slot, double h)
{
    double way = h * dvec_length(dvec_from(body->motion.velocity));
    double gap = body->bulk ? LMI_GAP * body->bulk->mould->cell : 0.0;
    double reach = body->contact_radius + body->touch.beyond + gap + 0.01 * body->rest_size + way;
    reach += lmi_is_rubble(body) ? lmi_rubble_reach(body) : 0.0;
    lm_dvec3 by = dvec(reach, reach, reach);
    lmi_entry e = {.lower = dvec_sub(dvec_add(body->origin, dvec_from(body->lower)), by),
                   .upper = dvec_add(dvec_add(body->origin, dvec_from(body->upper)), by),
                   .slot = slot,
                   .size = body->rest_size,
                   .way = way};
    return e;
}

static double along(lm_dvec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static bool before(const lmi_entry *a, const lmi_entry *b, int axis)
{
    double x = along(a->lower, axis), y = along(b->lower, axis);
    return x < y || (x == y && a->slot < b->slot);
}

/* The axis along which the bodies are spread most: there the fewest boxes overlap. */
static int longest_axis(const lmi_entry *entries, uint32_t count)
{
    double sum[3] = {0}, squares[3] = {0}, spread[3];
    for (uint32_t n = 0; n < count; n++) {
        for (int a = 0; a < 3; a++) {
            double x = along(entries[n].lower, a) - along(entries[0].lower, a);
            sum[a] += x;
            squares[a] += x * x;
        }
    }
    for (int a = 0; a < 3; a++) {
        spread[a] = squares[a] - sum[a] * sum[a] / count;
    }
    return spread[1] > spread[0] ? (spread[2] > spread[1] ? 2 : 1) : spread[2] > spread[0] ? 2 : 0;
}

/* Sorting in place, by gaps that shrink: nearly sorted lists take one pass, and no memory is needed. */
static const uint32_t gaps[] = {65921, 28842, 12618, 5520, 2415, 1057, 462, 202, 88, 39, 17, 7, 3, 1};

static void sort(lmi_entry *entries, uint32_t count, int axis)
{
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (uint32_t n = gaps[g]; n < count; n++) {
            lmi_entry moving = entries[n];
            uint32_t at = n;
            for (; at >= gaps[g] && before(&moving, &entries[at - gaps[g]], axis); at -= gaps[g]) {
                entries[at] = entries[at - gaps[g]];
            }
            entries[at] = moving;
        }
    }
}

static bool overlap(const lmi_entry *a, const lmi_entry *b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

/* Where each entry is on the curve through the box of all. Along all axes in the same measure, so that its cells are cubes. */
static void find_curve(lmi_pairs *p)
{
    lm_dvec3 low = p->entries[0].lower, high = low;
    for (uint32_t n = 1; n < p->count; n++) {
        lm_dvec3 at = p->entries[n].lower;
        low = dvec(lmi_min(low.x, at.x), lmi_min(low.y, at.y), lmi_min(low.z, at.z));
        high = dvec(lmi_max(high.x, at.x), lmi_max(high.y, at.y), lmi_max(high.z, at.z));
    }
    double side = lmi_max(high.x - low.x, lmi_max(high.y - low.y, high.z - low.z));
    for (uint32_t n = 0; n < p->count; n++) {
        p->entries[n].curve = lmi_curve_place(p->entries[n].lower, low, side);
    }
}

static bool visited_before(const lmi_pairs *p, uint32_t a, uint32_t b)
{
    return p->entries[a].curve < p->entries[b].curve || (p->entries[a].curve == p->entries[b].curve && a < b);
}

void lmi_pairs_sort(lmi_pairs *p)
{
    if (p->count == 0) {
        return;
    }
    p->axis = longest_axis(p->entries, p->count);
    sort(p->entries, p->count, p->axis);
    find_curve(p);
    for (uint32_t n = 0; n < p->count; n++) {
        p->visit[n] = n;
    }
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (uint32_t n = gaps[g]; n < p->count; n++) {
            uint32_t moving = p->visit[n], at = n;
            for (; at >= gaps[g] && visited_before(p, moving, p->visit[at - gaps[g]]); at -= gaps[g]) {
                p->visit[at] = p->visit[at - gaps[g]];
            }
            p->visit[at] = moving;
        }
    }
}

static bool may_meet(const lmi_body *a, const lmi_body *b)
{
    return (a->mask & b->group) && (b->mask & a->group) && !(a->asleep && b->asleep);
}

/* Whether a partner counts among those that a body has at most. Much smaller ones do not: a bed may carry hundreds. */
static bool counts(const lmi_entry *e, const lmi_entry *partner) { return partner->size >= 0.5 * e->size; }

void lmi_pairs_each(const lmi_step *step, lmi_pairs *p, lmi_pair_function *each, void *user)
{
    for (uint32_t n = 0; n < p->count; n++) {
        p->entries[n].partners = 0;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t n = p->visit[i];
        lmi_entry *a = &p->entries[n];
        double end = along(a->upper, p->axis);
        for (uint32_t k = n + 1; k < p->count && along(p->entries[k].lower, p->axis) <= end; k++) {
            lmi_entry *b = &p->entries[k];
            if (!overlap(a, b) || !may_meet(lmi_body_at(step->world, a->slot), lmi_body_at(step->world, b->slot))) {
                continue;
            }
            bool for_a = counts(a, b), for_b = counts(b, a);
            if ((for_a && a->partners >= MOST_PARTNERS) || (for_b && b->partners >= MOST_PARTNERS)) {
                continue;
            }
            a->partners += for_a;
            b->partners += for_b;
            a->met = b->met = true;
            each(step, n, k, user);
        }
    }
}
