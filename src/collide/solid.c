/*
 * A mesh or a height map: what it takes up, and whether a box touches it. How deep points are in it: solid_depth.c.
 */
#include "collide/solid.h"

void lmi_solid_free(lmi_memory *memory, lmi_solid *solid)
{
    lmi_mesh_free(memory, solid->mesh);
    lmi_heights_free(memory, solid->heights);
    *solid = (lmi_solid){0};
}

void lmi_solid_bounds(const lmi_solid *solid, lm_dvec3 *lower, lm_dvec3 *upper)
{
    if (solid->mesh) {
        *lower = solid->mesh->lower;
        *upper = solid->mesh->upper;
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
