/*
 * Queries: what a ray meets, what a ball or a box touches, among bodies and colliders. Double precision, in the order of
 * slots; nothing is changed.
 */
#include "query/query.h"

#include "skin/skin.h"
#include "world/access.h"

#define CAPSULE_STEPS 60 /* that a segment is narrowed down: 1e-10 of its length */

/* A collider where it is now. */
typedef struct placed {
    const lmi_collider *shape;
    lm_dvec3 position;
    dmat3 rotation;
} placed;

static placed place(const lm_world *world, uint32_t slot)
{
    const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, slot);
    placed p = {c, c->position, c->rotation};
    if (c->mover != LMI_NONE) {
        const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        p.position = dvec_add(m->pose.position, dmat_apply(&m->rotation, c->position));
        p.rotation = lmi_dmat_multiply(&m->rotation, &c->rotation);
    }
    return p;
}

static lm_dvec3 to_local(const placed *p, lm_dvec3 point)
{
    return dmat_apply_transposed(&p->rotation, dvec_sub(point, p->position));
}

static lm_dvec3 half_of(const lmi_collider *c) { return dvec_from(c->half_extents); }

/* --- distances, in a collider's own frame --- */

/* From a box around the origin; 0 inside. */
static double distance_to_box(lm_dvec3 p, lm_dvec3 half)
{
    lm_dvec3 over = dvec(fmax(fabs(p.x) - half.x, 0.0), fmax(fabs(p.y) - half.y, 0.0), fmax(fabs(p.z) - half.z, 0.0));
    return dvec_length(over);
}

static bool ball_touches(const placed *c, lm_dvec3 centre, double radius)
{
    lm_dvec3 p = to_local(c, centre), normal;
    double distance;
    switch (c->shape->shape) {
    case LM_SHAPE_PLANE: return p.y < radius;
    case LM_SHAPE_SPHERE: return dvec_length(p) < radius + c->shape->radius;
    case LM_SHAPE_CAPSULE:
        p.y -= fmin(fmax(p.y, -(double)c->shape->half_length), c->shape->half_length);
        return dvec_length(p) < radius + c->shape->radius;
    case LM_SHAPE_BOX: return distance_to_box(p, half_of(c->shape)) < radius;
    default: return lmi_solid_distance(&c->shape->solid, p, radius, &distance, &normal) && distance < radius;
    }
}

/* --- boxes --- */

/* A box in some frame. */
typedef struct oriented_box {
    lm_dvec3 centre, half;
    dmat3 axes; /* columns */
} oriented_box;

static lm_dvec3 axis_of(const dmat3 *m, int k) { return dvec(m->m[0][k], m->m[1][k], m->m[2][k]); }

/* Half the length of a box seen along a direction. */
static double reach(const oriented_box *b, lm_dvec3 along)
{
    return b->half.x * fabs(dvec_dot(axis_of(&b->axes, 0), along)) +
           b->half.y * fabs(dvec_dot(axis_of(&b->axes, 1), along)) +
           b->half.z * fabs(dvec_dot(axis_of(&b->axes, 2), along));
}

/* The distance of the segment from (0, -half, 0) to (0, half, 0) from a box: it is convex along the segment. */
static double segment_to_box(const oriented_box *b, double half)
{
    double low = -half, high = half, d[2];
    for (int step = 0; step < CAPSULE_STEPS; step++) {
        const double at[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0};
        for (int k = 0; k < 2; k++) {
            lm_dvec3 p = dmat_apply_transposed(&b->axes, dvec_sub(dvec(0.0, at[k], 0.0), b->centre));
            d[k] = distance_to_box(p, b->half);
        }
        low = d[0] > d[1] ? at[0] : low;
        high = d[0] > d[1] ? high : at[1];
    }
    lm_dvec3 p = dmat_apply_transposed(&b->axes, dvec_sub(dvec(0.0, 0.5 * (low + high), 0.0), b->centre));
    return distance_to_box(p, b->half);
}

/* Two boxes: fifteen directions in which they may be apart. `a` is along the axes of the frame, around the origin. */
static bool boxes_touch(lm_dvec3 half, const oriented_box *b)
{
    const oriented_box a = {.half = half, .axes = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
    for (int k = 0; k < 15; k++) {
        lm_dvec3 along = k < 3   ? axis_of(&a.axes, k)
                         : k < 6 ? axis_of(&b->axes, k - 3)
                                 : dvec_cross(axis_of(&a.axes, (k - 6) / 3), axis_of(&b->axes, (k - 6) % 3));
        if (fabs(dvec_dot(b->centre, along)) > reach(&a, along) + reach(b, along)) {
            return false;
        }
    }
    return true;
}

static bool box_touches(const placed *c, lm_dvec3 centre, const dmat3 *axes, lm_dvec3 half)
{
    oriented_box b = {.centre = to_local(c, centre), .half = half};
    for (int i = 0; i < 3; i++) {
        lm_dvec3 axis = dmat_apply_transposed(&c->rotation, axis_of(axes, i));
        b.axes.m[0][i] = axis.x;
        b.axes.m[1][i] = axis.y;
        b.axes.m[2][i] = axis.z;
    }
    switch (c->shape->shape) {
    case LM_SHAPE_PLANE: return b.centre.y - reach(&b, dvec(0.0, 1.0, 0.0)) < 0.0;
    case LM_SHAPE_SPHERE: return segment_to_box(&b, 0.0) < c->shape->radius;
    case LM_SHAPE_CAPSULE: return segment_to_box(&b, c->shape->half_length) < c->shape->radius;
    case LM_SHAPE_BOX: return boxes_touch(half_of(c->shape), &b);
    default: return lmi_solid_touches_box(&c->shape->solid, b.centre, &b.axes, half);
    }
}

/* --- rays --- */

/* A ray in a collider's own frame: how far it goes, and the normal where it meets something. */
typedef struct probe {
    lm_dvec3 origin, direction; /* a unit vector */
    double distance;
    lm_dvec3 normal;
} probe;

/* Keeps a hit that is nearer, and not behind. */
static bool keep(probe *r, double distance, lm_dvec3 normal)
{
    if (!(distance >= 0.0 && distance < r->distance)) {
        return false;
    }
    r->distance = distance;
    r->normal = normal;
    return true;
}

static bool ray_plane(probe *r)
{
    return r->direction.y < 0.0 && keep(r, -r->origin.y / r->direction.y, dvec(0.0, 1.0, 0.0));
}

static bool ray_ball(probe *r, lm_dvec3 centre, double radius)
{
    lm_dvec3 to = dvec_sub(r->origin, centre);
    double b = dvec_dot(to, r->direction), c = dvec_dot(to, to) - radius * radius, root = b * b - c;
    if (root < 0.0) {
        return false;
    }
    double distance = -b - sqrt(root);
    lm_dvec3 at = dvec_add(to, dvec_scale(r->direction, distance));
    return keep(r, distance, dvec_scale(at, 1.0 / radius));
}

static bool ray_capsule(probe *r, double half, double radius)
{
    bool found = ray_ball(r, dvec(0.0, half, 0.0), radius);
    found = ray_ball(r, dvec(0.0, -half, 0.0), radius) || found;
    double a = r->direction.x * r->direction.x + r->direction.z * r->direction.z;
    double b = r->origin.x * r->direction.x + r->origin.z * r->direction.z;
    double c = r->origin.x * r->origin.x + r->origin.z * r->origin.z - radius * radius, root = b * b - a * c;
    if (a > 0.0 && root >= 0.0) { /* the side */
        double distance = (-b - sqrt(root)) / a;
        lm_dvec3 at = dvec_add(r->origin, dvec_scale(r->direction, distance));
        if (fabs(at.y) <= half) {
            found = keep(r, distance, dvec(at.x / radius, 0.0, at.z / radius)) || found;
        }
    }
    return found;
}

static bool ray_box(probe *r, lm_dvec3 half)
{
    const double o[3] = {r->origin.x, r->origin.y, r->origin.z};
    const double d[3] = {r->direction.x, r->direction.y, r->direction.z}, h[3] = {half.x, half.y, half.z};
    double near = -INFINITY, far = INFINITY, normal[3] = {0.0, 0.0, 0.0};
    int axis = 0;
    for (int i = 0; i < 3; i++) {
        if (d[i] == 0.0) {
            if (fabs(o[i]) > h[i]) {
                return false;
            }
            continue;
        }
        double in = ((d[i] > 0.0 ? -h[i] : h[i]) - o[i]) / d[i], out = ((d[i] > 0.0 ? h[i] : -h[i]) - o[i]) / d[i];
        axis = in > near ? i : axis;
        near = fmax(near, in);
        far = fmin(far, out);
    }
    normal[axis] = d[axis] > 0.0 ? -1.0 : 1.0;
    return near <= far && keep(r, near, dvec(normal[0], normal[1], normal[2]));
}

static bool ray_solid(probe *r, const lmi_solid *solid)
{
    lm_dvec3 lower, upper, normal;
    lmi_solid_bounds(solid, &lower, &upper);
    if (solid->heights) {
        lower.y = lmi_heights_bounds(solid->heights).low;
    }
    /* No farther than the bounds reach: a segment is finite, rays need not be. */
    lm_dvec3 middle = dvec_scale(dvec_add(lower, upper), 0.5);
    double most =
        fmin(r->distance, dvec_length(dvec_sub(middle, r->origin)) + dvec_length(dvec_sub(upper, lower)) + 1.0);
    double share;
    return lmi_solid_crossed(solid, r->origin, dvec_add(r->origin, dvec_scale(r->direction, most)), false, &share,
                             &normal) &&
           keep(r, share * most, normal);
}

static bool ray_collider(const placed *c, lm_dvec3 origin, lm_dvec3 direction, probe *best)
{
    probe r = {to_local(c, origin), dmat_apply_transposed(&c->rotation, direction), best->distance, {0.0, 0.0, 0.0}};
    bool found, inside = ball_touches(c, origin, 0.0);
    switch (c->shape->shape) {
    case LM_SHAPE_PLANE: found = ray_plane(&r); break;
    case LM_SHAPE_SPHERE: found = ray_ball(&r, lm_dvec3_zero(), c->shape->radius); break;
    case LM_SHAPE_CAPSULE: found = ray_capsule(&r, c->shape->half_length, c->shape->radius); break;
    case LM_SHAPE_BOX:
        inside = distance_to_box(r.origin, half_of(c->shape)) == 0.0;
        found = ray_box(&r, half_of(c->shape));
        break;
    default:
        inside = lmi_solid_inside(&c->shape->solid, r.origin);
        found = ray_solid(&r, &c->shape->solid);
        break;
    }
    if (inside) { /* met at once */
        r.distance = best->distance;
        found = keep(&r, 0.0, dvec_scale(r.direction, -1.0));
    }
    if (found) {
        best->distance = r.distance;
        best->normal = dmat_apply(&c->rotation, r.normal);
    }
    return found;
}

lm_ray lm_ray_default(lm_dvec3 origin, lm_vec3 direction)
{
    return (lm_ray){origin, direction, INFINITY, UINT32_MAX, UINT32_MAX};
}

bool lm_world_cast_ray(const lm_world *world, const lm_ray *ray, lm_ray_hit *hit)
{
    double length = dvec_length(dvec_from(ray->direction));
    if (!(length > 0.0) || !isfinite(length) || !dvec_is_finite(ray->origin) || !(ray->max_distance >= 0.0f)) {
        return false;
    }
    lm_dvec3 unit = dvec_scale(dvec_from(ray->direction), 1.0 / length);
    probe best = {.distance = ray->max_distance};
    lm_collider_id collider = {0, 0};
    LMI_POOL_EACH(&world->colliders, n)
    {
        placed c = place(world, n);
        bool meets = !c.shape->disabled && ray_meets(ray->collider_groups, c.shape->group);
        if (meets && ray_collider(&c, ray->origin, unit, &best)) {
            lmi_id id = lmi_pool_id(&world->colliders, n);
            collider = (lm_collider_id){id.slot, id.generation};
        }
    }
    if (lmi_pick_body(world, ray, unit, best.distance, hit)) {
        return true;
    }
    if (!collider.slot) {
        return false;
    }
    *hit = (lm_ray_hit){
        .collider = collider,
        .point = dvec_add(ray->origin, dvec_scale(unit, best.distance)),
        .normal = vec_from(best.normal),
        .distance = (float)best.distance,
    };
    return true;
}

/* --- overlaps --- */

/* A ball, or a box. */
typedef struct region {
    lm_dvec3 centre, half; /* half.x of a ball: its radius */
    dmat3 axes;
    bool is_box;
} region;

/* Whether a ball around a point is touched. */
static bool region_has_ball(const region *r, lm_dvec3 point, double radius)
{
    lm_dvec3 d = dvec_sub(point, r->centre);
    if (!r->is_box) {
        return dvec_length(d) <= r->half.x + radius;
    }
    return distance_to_box(dmat_apply_transposed(&r->axes, d), r->half) <= radius;
}

static bool region_has_triangle(const region *r, const lmi_triangle *t)
{
    lmi_triangle moved;
    if (!r->is_box) {
        lm_dvec3 near = lmi_triangle_nearest(t, r->centre);
        return dvec_length(dvec_sub(near, r->centre)) <= r->half.x;
    }
    for (int k = 0; k < 3; k++) {
        moved.corner[k] = dmat_apply_transposed(&r->axes, dvec_sub(t->corner[k], r->centre));
    }
    return lmi_triangle_touches_box(&moved, r->half);
}

static bool region_has_body(const region *r, const lmi_body *body)
{
    region near = *r;
    near.centre = dvec_sub(r->centre, body->origin);
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        if (region_has_ball(&near, dvec(x[0], x[1], x[2]), body->contact_radius)) {
            return true;
        }
    }
    for (uint32_t n = 0; n < body->skin.triangle_count; n++) {
        const uint32_t *corner = body->skin.triangles + (size_t)n * 3;
        lmi_triangle t = {
            {lmi_skin_vertex(body, corner[0]), lmi_skin_vertex(body, corner[1]), lmi_skin_vertex(body, corner[2])}};
        if (region_has_triangle(&near, &t)) {
            return true;
        }
    }
    return false;
}

static uint32_t overlaps(const lm_world *world, const region *r, lm_overlap *found, uint32_t capacity)
{
    uint32_t count = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        if (!lmi_body_at(world, n)->disabled && region_has_body(r, lmi_body_at(world, n))) {
            lmi_id id = lmi_pool_id(&world->bodies, n);
            if (count < capacity) {
                found[count] = (lm_overlap){{id.slot, id.generation}, {0, 0}};
            }
            count++;
        }
    }
    LMI_POOL_EACH(&world->colliders, n)
    {
        placed c = place(world, n);
        bool touches = !c.shape->disabled && (r->is_box ? box_touches(&c, r->centre, &r->axes, r->half)
                                                        : ball_touches(&c, r->centre, r->half.x));
        if (touches) {
            lmi_id id = lmi_pool_id(&world->colliders, n);
            if (count < capacity) {
                found[count] = (lm_overlap){{0, 0}, {id.slot, id.generation}};
            }
            count++;
        }
    }
    return count;
}

uint32_t lm_world_overlap_sphere(const lm_world *world, lm_dvec3 centre, float radius, lm_overlap *found,
                                 uint32_t capacity)
{
    lmi_world_read(world);
    if (!dvec_is_finite(centre) || !(radius >= 0.0f && radius <= LM_MAX_COORDINATE)) {
        return 0;
    }
    region r = {.centre = centre, .half = {radius, radius, radius}};
    return overlaps(world, &r, found, capacity);
}

uint32_t lm_world_overlap_box(const lm_world *world, lm_pose pose, lm_vec3 half_extents, lm_overlap *found,
                              uint32_t capacity)
{
    lmi_world_read(world);
    bool sound = lmi_pose_is_sound(pose) && half_extents.x >= 0.0f && half_extents.x <= LM_MAX_COORDINATE &&
                 half_extents.y >= 0.0f && half_extents.y <= LM_MAX_COORDINATE && half_extents.z >= 0.0f &&
                 half_extents.z <= LM_MAX_COORDINATE;
    if (!sound) {
        return 0;
    }
    region r = {pose.position, dvec_from(half_extents), lmi_dmat_from_quat(pose.rotation), true};
    return overlaps(world, &r, found, capacity);
}
