/*
 * Contacts of points with meshes and height maps, from their queries.
 */
#include "collide/solid.h"

#define TOUCHING 1e-9 /* metres: nearer to the surface than this, its own normal is the direction */
#define BACK 1e-6     /* of the way: before a crossing */
#define TRIES 4       /* faces that a point is put onto one after the other */

static double skin_of(const lmi_solid *solid) { return solid->mesh ? solid->mesh->skin : solid->heights->skin; }

static lm_dvec3 unit(lm_dvec3 a, lm_dvec3 otherwise)
{
    double length = dvec_length(a);
    return length > 1e-300 ? dvec_scale(a, 1.0 / length) : otherwise;
}

static lm_dvec3 face_normal(const lmi_mesh *mesh, uint32_t face)
{
    lmi_triangle t = lmi_mesh_face(mesh, face);
    return unit(lmi_triangle_normal(&t), dvec(0.0, 1.0, 0.0));
}

lm_dvec3 lmi_solid_way(lm_dvec3 velocity, lm_dvec3 spin, lm_dvec3 pivot, double h, lm_dvec3 p, lm_dvec3 way)
{
    lm_dvec3 from = dvec_sub(dvec_sub(p, way), dvec_sub(pivot, dvec_scale(velocity, h)));
    if (spin.x != 0.0 || spin.y != 0.0 || spin.z != 0.0) {
        dmat3 turn = lmi_dmat_from_rotation_vector(dvec_scale(spin, h));
        from = dmat_apply(&turn, from);
    }
    return dvec_sub(dvec_sub(p, pivot), from);
}

bool lmi_solid_crossed(const lmi_solid *solid, lm_dvec3 a, lm_dvec3 b, bool front, double *share, lm_dvec3 *normal)
{
    lmi_mesh_hit hit;
    lmi_heights_hit top;
    if (solid->mesh && lmi_mesh_crossed(solid->mesh, a, b, front, &hit)) {
        lm_dvec3 n = face_normal(solid->mesh, hit.face);
        *normal = dvec_dot(n, dvec_sub(b, a)) > 0.0 ? dvec_scale(n, -1.0) : n;
        *share = hit.distance;
        return true;
    }
    if (solid->heights && lmi_heights_crossed(solid->heights, a, b, &top)) {
        *normal = top.normal;
        *share = top.distance;
        return true;
    }
    return false;
}

bool lmi_solid_inside(const lmi_solid *solid, lm_dvec3 p)
{
    double height;
    return solid->mesh ? lmi_mesh_inside(solid->mesh, p)
                       : lmi_heights_at(solid->heights, p.x, p.z, &height) && p.y < height;
}

/* The nearest point of the surface nearer than `most`, and the normal of its face. */
static bool nearest(const lmi_solid *solid, lm_dvec3 p, double most, lm_dvec3 *point, lm_dvec3 *normal)
{
    lmi_mesh_hit hit;
    lmi_heights_hit top;
    if (solid->mesh && lmi_mesh_nearest(solid->mesh, p, most, &hit)) {
        *point = hit.point;
        *normal = face_normal(solid->mesh, hit.face);
        return true;
    }
    if (solid->heights && lmi_heights_nearest(solid->heights, p, most, &top)) {
        *point = top.point;
        *normal = top.normal;
        return true;
    }
    return false;
}

bool lmi_solid_distance(const lmi_solid *solid, lm_dvec3 p, double most, double *distance, lm_dvec3 *normal)
{
    bool deep;
    if (solid->mesh && lmi_mesh_clear(solid->mesh, p, &deep) >= most && !deep) {
        return false;
    }
    bool inside = lmi_solid_inside(solid, p);
    double reach = inside ? INFINITY : most, height;
    if (inside && solid->heights && lmi_heights_at(solid->heights, p.x, p.z, &height)) {
        reach = (height - p.y) * (1.0 + 1e-9) + 1e-9; /* straight up is one point of the surface */
    }
    lm_dvec3 point;
    if (!nearest(solid, p, reach, &point, normal)) {
        return false;
    }
    lm_dvec3 away = dvec_sub(p, point);
    double length = dvec_length(away);
    if (length > TOUCHING) {
        *normal = dvec_scale(away, (inside ? -1.0 : 1.0) / length);
    }
    *distance = inside ? -length : length;
    return true;
}

/* Displacement of a point along a vector, as depth and direction. */
static double along(lm_dvec3 displacement, lm_dvec3 *normal)
{
    double depth = dvec_length(displacement);
    *normal = unit(displacement, *normal);
    return depth;
}

/* The way passed through a face with this normal, at its share `share`. */
static double sweep(const lmi_solid *solid, lm_dvec3 p, lm_dvec3 way, double keep, double share, lm_dvec3 *normal)
{
    bool front = !solid->mesh || solid->mesh->solid;
    lm_dvec3 from = dvec_sub(p, way), start = dvec_add(from, dvec_scale(way, lmi_max(share - BACK, 0.0)));
    lm_dvec3 met = dvec_add(from, dvec_scale(way, share)), at = p, n = *normal;
    for (int k = 0; k < TRIES; k++) {
        at = dvec_add(at, dvec_scale(n, keep + dvec_dot(dvec_sub(met, at), n)));
        if (!lmi_solid_crossed(solid, start, at, front, &share, &n)) {
            return along(dvec_sub(at, p), normal);
        }
        met = dvec_add(start, dvec_scale(dvec_sub(at, start), share));
    }
    return along(dvec_sub(start, p), normal);
}

double lmi_solid_depth(const lmi_solid *solid, lm_dvec3 p, lm_dvec3 way, double margin, lm_dvec3 *normal)
{
    double keep = margin + skin_of(solid), length = dvec_length(way), distance, share;
    lm_dvec3 from = dvec_sub(p, way), point;
    bool deep;
    if (solid->mesh && lmi_mesh_clear(solid->mesh, p, &deep) > lmi_max(keep, length) && !deep) {
        return 0.0;
    }
    if (solid->heights && lmi_min(p.y, from.y) > lmi_heights_bounds(solid->heights).high + keep) {
        return 0.0;
    }
    if (length > 0.0) {
        /* Inside already: a thin wall is left on the side that was nearer at the start, not where the way leads out. */
        if (solid->mesh && lmi_solid_inside(solid, from) && nearest(solid, from, INFINITY, &point, normal)) {
            lm_dvec3 out = dvec_sub(point, from);
            *normal = dvec_length(out) > TOUCHING ? unit(out, *normal) : *normal;
            return keep + dvec_dot(dvec_sub(point, p), *normal);
        }
        if (lmi_solid_crossed(solid, from, p, !solid->mesh || solid->mesh->solid, &share, normal)) {
            return sweep(solid, p, way, keep, share, normal);
        }
    }
    return lmi_solid_distance(solid, p, keep, &distance, normal) ? keep - distance : 0.0;
}
