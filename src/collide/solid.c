/*
 * A mesh or a height map: what it takes up, and whether a box touches it. How deep points are in it: solid_depth.c.
 */
#include "collide/solid.h"
#include "collide/mesh_motion.h"

void lmi_solid_free(lmi_memory *memory, lmi_solid *solid)
{
    lmi_mesh_free(memory, solid->mesh);
    lmi_heights_free(memory, solid->heights);
    *solid = (lmi_solid){0};
}

void lmi_solid_bounds(const lmi_solid *solid, lm_dvec3 *lower, lm_dvec3 *upper)
{
    if (solid->mesh) {
        const lmi_mesh_motion *motion = solid->mesh->motion;
        lm_dvec3 low = solid->mesh->lower, high = solid->mesh->upper;
        if (motion && motion->has_target) {
            lm_dvec3 to = motion->t_lower, end = motion->t_upper;
            low = dvec(lmi_min(low.x, to.x), lmi_min(low.y, to.y), lmi_min(low.z, to.z));
            high = dvec(lmi_max(high.x, end.x), lmi_max(high.y, end.y), lmi_max(high.z, end.z));
        }
        *lower = low;
        *upper = high;
        return;
    }
    const lmi_heights *map = solid->heights;
    *lower = lmi_heights_sample(map, 0, 0);
    *upper = lmi_heights_sample(map, map->n[0] - 1, map->n[1] - 1);
    lower->y = -INFINITY;
    upper->y = lmi_heights_bounds(map).high;
}

bool lmi_solid_touches_box(const lmi_solid *solid, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half)
{
    if (solid->mesh) {
        return lmi_mesh_touches_box(solid->mesh, centre, axes, half) || lmi_mesh_inside(solid->mesh, centre);
    }
    if (lmi_heights_touches_box(solid->heights, centre, axes, half)) {
        return true;
    }
    for (int k = 0; k < 8; k++) { /* no touch: all corners over the map are on one side */
        lm_dvec3 corner =
            dvec((k & 1 ? 1.0 : -1.0) * half.x, (k & 2 ? 1.0 : -1.0) * half.y, (k & 4 ? 1.0 : -1.0) * half.z);
        if (lmi_solid_inside(solid, dvec_add(centre, dmat_apply(axes, corner)))) {
            return true;
        }
    }
    return lmi_solid_inside(solid, centre);
}

bool lmi_solid_moves(const lmi_solid *solid) { return lmi_mesh_moves(solid->mesh); }

lm_dvec3 lmi_solid_carry(const lmi_solid *solid, lm_dvec3 from, double seconds)
{
    double share = 1.0 - seconds / solid->mesh->motion->seconds;
    return lmi_mesh_carry(solid->mesh, from, lmi_min(lmi_max(share, 0.0), 1.0));
}

lm_dvec3 lmi_solid_drift(const lmi_solid *solid, lm_dvec3 p)
{
    lm_dvec3 way = lmi_mesh_drift(solid->mesh, p);
    return dvec_limit(dvec_scale(way, 1.0 / solid->mesh->motion->seconds), LM_MAX_SPEED);
}
