/*
 * Bodies on a ray: the nearest triangle of a skin, or sphere around a particle.
 *
 * Of a world that a device steps, only what is near the ray is read back: the skins of bodies whose boxes it meets, or the particles of
 * those without, and the particles of the one that is hit.
 */
#include "query/query.h"

#include "gpu/look.h"
#include "skin/skin.h"
#include "world/access.h"

typedef struct ray {
    lm_dvec3 origin; /* relative to the body's origin */
    lm_dvec3 direction;
} ray;

/* The nearest hit so far. */
typedef struct best {
    double distance;
    lm_dvec3 normal;
    bool found;
} best;

static bool misses_box(const ray *r, lm_vec3 lower, lm_vec3 upper, double margin, double most)
{
    double origin[3] = {r->origin.x, r->origin.y, r->origin.z};
    double direction[3] = {r->direction.x, r->direction.y, r->direction.z};
    double low[3] = {lower.x, lower.y, lower.z}, high[3] = {upper.x, upper.y, upper.z}, near = 0.0, far = most;
    for (int i = 0; i < 3; i++) {
        double a = low[i] - margin - origin[i], b = high[i] + margin - origin[i];
        if (fabs(direction[i]) < 1e-30) {
            if (a > 0.0 || b < 0.0) {
                return true;
            }
            continue;
        }
        a /= direction[i], b /= direction[i];
        near = fmax(near, fmin(a, b));
        far = fmin(far, fmax(a, b));
    }
    return near > far;
}

/* Möller and Trumbore's test, both sides of the triangle. */
static void hit_triangle(const ray *r, lm_dvec3 a, lm_dvec3 b, lm_dvec3 c, best *hit)
{
    lm_dvec3 ab = dvec_sub(b, a), ac = dvec_sub(c, a), p = dvec_cross(r->direction, ac);
    double det = dvec_dot(ab, p);
    if (det == 0.0) {
        return;
    }
    lm_dvec3 t = dvec_sub(r->origin, a), q = dvec_cross(t, ab);
    double u = dvec_dot(t, p) / det, v = dvec_dot(r->direction, q) / det, distance = dvec_dot(ac, q) / det;
    if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance >= 0.0 && distance < hit->distance) {
        hit->distance = distance;
        hit->normal = dvec_cross(ab, ac);
        hit->found = true;
    }
}

static void hit_sphere(const ray *r, lm_dvec3 centre, double radius, best *hit)
{
    lm_dvec3 to = dvec_sub(centre, r->origin);
    double along = dvec_dot(to, r->direction), square = dvec_dot(to, to) - along * along;
    if (square > radius * radius) {
        return;
    }
    double distance = along - sqrt(radius * radius - square);
    distance = distance < 0.0 && along >= 0.0 ? 0.0 : distance; /* the ray starts inside */
    if (distance >= 0.0 && distance < hit->distance) {
        hit->distance = distance;
        hit->normal = dvec_sub(dvec_add(r->origin, dvec_scale(r->direction, distance)), centre);
        hit->found = true;
    }
}

/* A tenth of the spacing of so many particles on a square as wide as the longest side of their box. */
static double sphere_radius(const lmi_body *body)
{
    double x = body->upper.x - body->lower.x, y = body->upper.y - body->lower.y, z = body->upper.z - body->lower.z;
    double size = fmax(x, fmax(y, z)), spacing = size / fmax(1.0, sqrt((double)body->particle_count));
    return fmax(fmax(body->contact_radius, 0.1 * spacing), size > 0.0 ? 1e-3 * size : 0.01);
}

/* Whether a body with these bounds is not on the ray. Skin vertices may lie outside the particles' box, by about the box itself. */
static bool misses_body(const lmi_body *bounds, const ray *r, double most)
{
    double margin = bounds->skin.triangle_count
                        ? fmax(bounds->upper.x - bounds->lower.x,
                               fmax(bounds->upper.y - bounds->lower.y, bounds->upper.z - bounds->lower.z))
                        : sphere_radius(bounds);
    return misses_box(r, bounds->lower, bounds->upper, margin, most);
}

/* `vertices`: the skin, relative to the body's origin; null: found one by one. */
static void pick_skin(const lmi_body *body, const lm_vec3 *vertices, const ray *r, best *hit)
{
    for (uint32_t t = 0; t < body->skin.triangle_count; t++) {
        const uint32_t *corner = body->skin.triangles + (size_t)t * 3;
        lm_dvec3 at[3];
        for (int i = 0; i < 3; i++) {
            at[i] = vertices ? dvec_from(vertices[corner[i]]) : lmi_skin_vertex(body, corner[i]);
        }
        hit_triangle(r, at[0], at[1], at[2], hit);
    }
}

static void pick_particles(const lmi_body *body, double radius, const ray *r, best *hit)
{
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        hit_sphere(r, dvec(x[0], x[1], x[2]), radius, hit);
    }
}

static void pick_body(const lmi_body *body, const ray *r, best *hit)
{
    lmi_body bounds = *body;
    lmi_body_find_bounds(body, &bounds.lower, &bounds.upper);
    if (misses_body(&bounds, r, hit->distance)) {
        return;
    }
    if (body->skin.triangle_count) {
        pick_skin(body, NULL, r, hit);
    } else {
        pick_particles(body, sphere_radius(&bounds), r, hit);
    }
}

/* The same of a body that the device has, and where it is. False: everything has been brought back, begin again. */
static bool pick_seen(const lm_world *world, const lmi_body *body, const lmi_seen *seen, const ray *r, best *hit)
{
    lmi_body bounds = *body;
    bounds.lower = seen->lower;
    bounds.upper = seen->upper;
    if (misses_body(&bounds, r, hit->distance)) {
        return true;
    }
    if (body->skin.triangle_count) {
        lm_vec3 *vertices = lmi_gpu_scratch_take(world, body->skin.vertex_count, sizeof *vertices);
        lm_dvec3 origin;
        bool ok = vertices && lmi_gpu_get_skin(world, body, vertices, NULL, &origin);
        if (ok) {
            pick_skin(body, vertices, r, hit);
        } else {
            lmi_world_read(world);
        }
        lmi_gpu_scratch_give(world, vertices, body->skin.vertex_count, sizeof *vertices);
        return ok;
    }
    lmi_look look;
    if (!lmi_gpu_look_body(world, body, false, &look)) {
        return false;
    }
    lmi_body_find_bounds(&look.body, &look.body.lower, &look.body.upper);
    pick_particles(&look.body, sphere_radius(&look.body), r, hit);
    lmi_gpu_look_end(world, &look);
    return true;
}

static uint32_t nearest_particle(const lmi_body *body, lm_dvec3 point)
{
    uint32_t nearest = 0;
    double least = INFINITY;
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        lm_dvec3 d = dvec_sub(dvec(x[0], x[1], x[2]), point);
        if (dvec_dot(d, d) < least) {
            least = dvec_dot(d, d);
            nearest = n;
        }
    }
    return body->order[nearest];
}

/* The body that is hit first goes to *slot, or LMI_NONE. `seen`: what the device has, by slot, or null. False: everything has been
 * brought back meanwhile. */
static bool pick_first(const lm_world *world, const lmi_seen *seen, const lm_ray *cast, ray *r, best *hit,
                       uint32_t *slot)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        best now = {hit->distance, {0.0, 0.0, 0.0}, false};
        bool there = seen && seen[n].known;
        r->origin = dvec_sub(cast->origin, there ? seen[n].origin : body->origin);
        if (body->disabled || !ray_meets(cast->body_groups, body->group)) {
            continue;
        }
        if (!there) {
            pick_body(body, r, &now);
        } else if (!pick_seen(world, body, &seen[n], r, &now)) {
            return false;
        }
        if (now.found) {
            *hit = now;
            *slot = n;
        }
    }
    return true;
}

static uint32_t nearest_of(const lm_world *world, const lmi_body *body, lm_dvec3 point)
{
    lmi_look look;
    if (!lmi_gpu_look_body(world, body, false, &look)) {
        return nearest_particle(body, dvec_sub(point, body->origin));
    }
    uint32_t nearest = nearest_particle(&look.body, dvec_sub(point, look.body.origin));
    lmi_gpu_look_end(world, &look);
    return nearest;
}

bool lmi_pick_body(const lm_world *world, const lm_ray *cast, lm_dvec3 direction, double most, lm_ray_hit *out)
{
    if (!cast->body_groups) {
        return false;
    }
    best hit = {most, {0.0, 0.0, 0.0}, false};
    uint32_t slot = LMI_NONE;
    ray r = {cast->origin, direction};
    lmi_seen *seen = lmi_gpu_look_all(world);
    if (!pick_first(world, seen, cast, &r, &hit, &slot)) {
        hit = (best){most, {0.0, 0.0, 0.0}, false};
        slot = LMI_NONE;
        pick_first(world, NULL, cast, &r, &hit, &slot);
    }
    if (seen) {
        lmi_gpu_scratch_give(world, seen, world->bodies.slots, sizeof *seen);
    }
    if (slot == LMI_NONE) {
        return false;
    }
    const lmi_body *body = lmi_body_at(world, slot);
    lmi_id id = lmi_pool_id(&world->bodies, slot);
    lm_dvec3 point = dvec_add(cast->origin, dvec_scale(direction, hit.distance));
    double size = dvec_length(hit.normal);
    lm_dvec3 normal = size > 0.0 ? dvec_scale(hit.normal, 1.0 / size) : dvec_scale(direction, -1.0);
    *out = (lm_ray_hit){
        .body = {id.slot, id.generation},
        .particle = nearest_of(world, body, point),
        .point = point,
        .normal = vec_from(dvec_dot(normal, direction) > 0.0 ? dvec_scale(normal, -1.0) : normal),
        .distance = (float)hit.distance,
    };
    return true;
}
