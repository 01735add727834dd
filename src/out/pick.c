/*
 * Ray pick: the nearest triangle of a skin, or sphere around a particle, on a ray.
 */
#include "out/skin.h"

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

static void pick_body(const lmi_body *body, const ray *r, best *hit)
{
    lmi_body bounds = *body;
    lmi_body_update_bounds(&bounds);
    double radius = sphere_radius(&bounds);
    /* Skin vertices may lie outside the particles' box, by about the box itself. */
    double margin = body->skin.triangle_count
                        ? fmax(bounds.upper.x - bounds.lower.x,
                               fmax(bounds.upper.y - bounds.lower.y, bounds.upper.z - bounds.lower.z))
                        : radius;
    if (misses_box(r, bounds.lower, bounds.upper, margin, hit->distance)) {
        return;
    }
    for (uint32_t t = 0; t < body->skin.triangle_count; t++) {
        const uint32_t *corner = body->skin.triangles + (size_t)t * 3;
        hit_triangle(r, lmi_skin_vertex(body, corner[0]), lmi_skin_vertex(body, corner[1]),
                     lmi_skin_vertex(body, corner[2]), hit);
    }
    if (body->skin.triangle_count) {
        return;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        hit_sphere(r, dvec(x[0], x[1], x[2]), radius, hit);
    }
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

bool lm_world_pick(const lm_world *world, lm_dvec3 origin, lm_vec3 direction, float max_distance, lm_hit *out)
{
    lmi_gpu_fetch(world);
    double length = dvec_length(dvec_from(direction));
    if (!(length > 0.0) || !isfinite(length) || !dvec_is_finite(origin) || !(max_distance >= 0.0f)) {
        return false;
    }
    best hit = {max_distance, {0.0, 0.0, 0.0}, false};
    uint32_t slot = LMI_NONE;
    ray r = {origin, dvec_scale(dvec_from(direction), 1.0 / length)};
    LMI_POOL_EACH(&world->bodies, n)
    {
        double before = hit.distance;
        const lmi_body *body = lmi_body_at(world, n);
        r.origin = dvec_sub(origin, body->origin);
        bool found = hit.found;
        hit.found = false;
        pick_body(body, &r, &hit);
        slot = hit.found && hit.distance < before ? n : slot;
        hit.found = hit.found || found;
    }
    if (slot == LMI_NONE) {
        return false;
    }
    const lmi_body *body = lmi_body_at(world, slot);
    lmi_id id = lmi_pool_id(&world->bodies, slot);
    out->body.slot = id.slot;
    out->body.generation = id.generation;
    out->point = dvec_add(origin, dvec_scale(r.direction, hit.distance));
    out->distance = (float)hit.distance;
    out->particle = nearest_particle(body, dvec_sub(out->point, body->origin));
    double size = dvec_length(hit.normal);
    lm_dvec3 normal = size > 0.0 ? dvec_scale(hit.normal, 1.0 / size) : dvec_scale(r.direction, -1.0);
    out->normal = vec_from(dvec_dot(normal, r.direction) > 0.0 ? dvec_scale(normal, -1.0) : normal);
    return true;
}
