/* Zones: parts of a body that differ from the rest, as a factor for each place. */
#include "scene/internal.h"

/* How far outside a zone a point is; 0 in it. */
static double distance_to(const scene_zone *zone, lm_dvec3 p)
{
    if (zone->where == NULL) {
        return fmax(vector_length(vector_subtract(p, zone->near)) - zone->radius, 0.0);
    }
    const scene_box *box = zone->where;
    lm_dvec3 out =
        vector(fmax(fmax(box->min.x - p.x, p.x - box->max.x), 0.0), fmax(fmax(box->min.y - p.y, p.y - box->max.y), 0.0),
               fmax(fmax(box->min.z - p.z, p.z - box->max.z), 0.0));
    return vector_length(out);
}

double lmi_zone_value(const scene_list *zones, lm_vec3 point)
{
    double value = 1.0;
    for (uint32_t i = 0; i < zones->count; i++) {
        const scene_zone *zone = LIST_ITEM(scene_zone, *zones, i);
        double away = distance_to(zone, vector_widen(point));
        if (away <= 0.0) {
            value *= zone->value;
        } else if (away < zone->fade) {
            value *= zone->value + (1.0 - zone->value) * (away / zone->fade);
        }
    }
    return value;
}
