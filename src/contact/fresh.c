/*
 * Bodies that were put into each other (contact/fresh.h). Changes nothing but what the next substep finds again: where touch points and
 * carriers are.
 *
 * Touch points of one are taken into the rest shape of the other by the affine map of that body as a whole, which is exact for a body that
 * was made just now. How deep they are there the field of distances says by its sign around them: in a cloud of balls its values never
 * come to more than a ball's radius, and the depths of contacts are, in the middle of a body, whatever it takes to get out.
 */
#include "contact/fresh.h"
#include "touch/bulk.h"
#include "world/kernels.h"

/* Of the size of the smaller body at rest. Bodies that lie on each other are a hair in each other, and distances are those of a grid. */
#define TOO_DEEP 0.05

/* Of the touch points of a body, and of its particles, evenly taken. */
#define MOST_POINTS 256u

typedef struct found {
    lmi_pairs *pairs;
    uint32_t count;
    uint32_t first, second; /* slots of the first two */
} found;

/* Whether everything within `depth` of a place in the rest shape is inside, asked in fourteen directions. Particles that have no mesh are
 * on the surface themselves, and balls around them reach beyond it. */
static bool is_deep(const lmi_mould *mould, lm_dvec3 rest, double depth)
{
    if (lmi_mould_distance(mould, rest) >= 0.0) {
        return false;
    }
    depth += mould->radius;
    for (int n = 0; n < 27; n++) {
        lm_dvec3 way = dvec(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
        double length = dvec_length(way);
        if ((length == 1.0 || length > 1.5) &&
            lmi_mould_distance(mould, dvec_add(rest, dvec_scale(way, depth / length))) >= 0.0) {
            return false;
        }
    }
    return true;
}

/* Whether a point, relative to a's origin, is so deep in b. */
static bool is_inside(const lmi_body *a, lm_dvec3 point, const lmi_body *b, double depth)
{
    const lmi_bulk *solid = b->bulk;
    const float *w = solid->whole;
    lm_dvec3 p = dvec_sub(dvec_add(dvec_sub(a->origin, b->origin), point), dvec_from(solid->middle));
    lm_dvec3 rest = dvec((double)w[0] * p.x + (double)w[1] * p.y + (double)w[2] * p.z,
                         (double)w[3] * p.x + (double)w[4] * p.y + (double)w[5] * p.z,
                         (double)w[6] * p.x + (double)w[7] * p.y + (double)w[8] * p.z);
    return is_deep(solid->mould, dvec_add(rest, dvec_from(solid->mould->rest_middle)), depth);
}

/* Whether something of a is: some of its surface, or of its particles that lie below that (those of a copy in the same place do, and its
 * surface does not). */
static bool reaches_into(const lmi_body *a, const lmi_body *b, double depth)
{
    bool inside = false;
    for (uint32_t n = 0; n < a->touch.count && !inside; n += a->touch.count / MOST_POINTS + 1) {
        inside = is_inside(a, dvec_from(lmi_touch_now(&a->touch, n)), b, depth);
    }
    for (uint32_t n = 0; n < a->particle_count && !inside; n += a->particle_count / MOST_POINTS + 1) {
        const uint32_t place = a->place[n];
        const float *x = a->x + (size_t)place * 4;
        inside = lmi_mould_distance(a->bulk->mould, dvec_from(a->rest[place])) < 0.0 &&
                 is_inside(a, dvec(x[0], x[1], x[2]), b, depth);
    }
    return inside;
}

static void look_at_pair(const lmi_step *step, uint32_t a, uint32_t b, void *user)
{
    found *f = user;
    const lmi_body *one = lmi_body_at(step->world, f->pairs->entries[a].slot);
    const lmi_body *other = lmi_body_at(step->world, f->pairs->entries[b].slot);
    if ((!one->fresh && !other->fresh) || !one->bulk || !other->bulk) {
        return;
    }
    const lmi_body *both[2] = {one, other};
    for (int n = 0; n < 2; n++) {
        step->world->kernels->place_points(both[n]);
        step->world->kernels->carry_bulk(both[n]->bulk, both[n]);
    }
    double depth = TOO_DEEP * lmi_min(one->rest_size, other->rest_size);
    if ((reaches_into(one, other, depth) || reaches_into(other, one, depth)) && f->count++ == 0) {
        f->first = lmi_min(one->slot, other->slot);
        f->second = lmi_max(one->slot, other->slot);
    }
}

void lmi_fresh_tell(lm_world *world, lmi_pairs *pairs)
{
    const lmi_step step = {.world = world};
    found f = {.pairs = pairs};
    uint32_t count = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        if (lmi_body_meets(lmi_body_at(world, n))) {
            pairs->entries[count++] = lmi_entry_of(lmi_body_at(world, n), n, 0.0);
        }
    }
    lmi_pairs_sort(pairs);
    lmi_pairs_each(&step, pairs, look_at_pair, &f);
    if (f.count > 0) {
        world->may_overlap = true; /* once is enough */
        lmi_fail(world, LM_OK,
                 "bodies %u and %u%s begin inside each other: contacts drive them apart at once; leave room between "
                 "them, or give them masks that do not meet",
                 f.first + 1, f.second + 1, f.count > 1 ? " (and others)" : "");
    }
}
