/*
 * Bodies that were put into each other (contact/fresh.h). Reads how deep their points were found to be; changes nothing of the world.
 *
 * Two bodies that lie on each other are in each other by what a substep moves them. So a pair counts from a share of the smaller one's
 * size on.
 */
#include "contact/fresh.h"

/* Of the size of the smaller body at rest. */
#define DEEP 0.1

/* How far the boxes of two bodies are in each other, along the axis where that is least. Points far inside are found to be deeper than any
 * body is thick. */
static double common(const lmi_body *a, const lmi_body *b)
{
    lm_dvec3 low_a = dvec_add(a->origin, dvec_from(a->lower)), high_a = dvec_add(a->origin, dvec_from(a->upper));
    lm_dvec3 low_b = dvec_add(b->origin, dvec_from(b->lower)), high_b = dvec_add(b->origin, dvec_from(b->upper));
    double x = lmi_min(high_a.x, high_b.x) - lmi_max(low_a.x, low_b.x);
    double y = lmi_min(high_a.y, high_b.y) - lmi_max(low_a.y, low_b.y);
    double z = lmi_min(high_a.z, high_b.z) - lmi_max(low_a.z, low_b.z);
    return lmi_min(x, lmi_min(y, z));
}

void lmi_fresh_note(lmi_fresh *fresh, const lmi_body *a, const lmi_body *b, double depth)
{
    if (!a->fresh && !b->fresh) {
        return;
    }
    depth = lmi_min(depth, common(a, b));
    double size = a->rest_size < b->rest_size ? a->rest_size : b->rest_size;
    if (!(depth > DEEP * size)) {
        return;
    }
    fresh->pairs++;
    if (depth > fresh->depth) {
        fresh->depth = depth;
        fresh->a = a->slot;
        fresh->b = b->slot;
    }
}

void lmi_fresh_tell(const lm_world *world, lmi_fresh *fresh)
{
    if (fresh->pairs && fresh->told != world->steps + 1) {
        fresh->told = world->steps + 1;
        lmi_fail(world, LM_OK,
                 "bodies %u and %u were put into each other%s: contacts drive them apart; leave room between them, or "
                 "give them masks that do not meet",
                 fresh->a + 1, fresh->b + 1, fresh->pairs > 1 ? " (and others)" : "");
    }
    fresh->pairs = 0;
    fresh->depth = 0.0;
}
