/*
 * How deep bodies are inside each other.
 *
 * Measured on the surfaces that are drawn, and by nothing that the solver uses: a vertex is inside another body when the
 * line from it upwards crosses that body's triangles an odd number of times, and as deep as the nearest of them is far.
 */
#include "scene/overlap.h"

#include <math.h>
#include <stdlib.h>

/* A surface now; positions relative to `base`, which both surfaces of a pair share. */
typedef struct surface {
    lm_vec3 *vertices;
    uint32_t *triangles;
    uint32_t vertex_count, triangle_count;
    lm_vec3 lower, upper;
} surface;

static void surface_free(surface *f)
{
    free(f->vertices);
    free(f->triangles);
}

static lm_result surface_read(const lm_world *world, lm_body_id body, lm_dvec3 base, surface *f)
{
    lm_body_info info;
    *f = (surface){.vertices = NULL};
    lm_result result = lm_body_get_info(world, body, &info);
    if (result != LM_OK || info.skin_triangles == 0) {
        return result;
    }
    f->vertex_count = info.skin_vertices;
    f->triangle_count = info.skin_triangles;
    f->vertices = malloc(info.skin_vertices * sizeof *f->vertices);
    f->triangles = malloc(3 * (size_t)info.skin_triangles * sizeof *f->triangles);
    result = f->vertices == NULL || f->triangles == NULL ? LM_ERROR_MEMORY : LM_OK;
    result = result ? result : lm_body_get_skin(world, body, base, f->vertices, NULL);
    result = result ? result : lm_body_get_skin_triangles(world, body, f->triangles);
    f->lower = f->upper = result == LM_OK ? f->vertices[0] : (lm_vec3){0.0f, 0.0f, 0.0f};
    for (uint32_t i = 1; i < f->vertex_count && result == LM_OK; i++) {
        lm_vec3 p = f->vertices[i];
        f->lower = (lm_vec3){fminf(f->lower.x, p.x), fminf(f->lower.y, p.y), fminf(f->lower.z, p.z)};
        f->upper = (lm_vec3){fmaxf(f->upper.x, p.x), fmaxf(f->upper.y, p.y), fmaxf(f->upper.z, p.z)};
    }
    return result;
}

static bool in_box(const surface *f, lm_vec3 p)
{
    return p.x > f->lower.x && p.x < f->upper.x && p.y > f->lower.y && p.y < f->upper.y && p.z > f->lower.z &&
           p.z < f->upper.z;
}

/* Whether the line from p upwards goes through a triangle. Each edge is looked at from its lower end in x and then z, so
 * that triangles which share it agree on which of them a line through it meets. */
static bool crosses(lm_vec3 p, lm_vec3 a, lm_vec3 b, lm_vec3 c)
{
    const lm_vec3 corner[4] = {a, b, c, a};
    int turns = 0;
    double height = 0.0, area = 0.0;
    for (int i = 0; i < 3; i++) {
        lm_vec3 from = corner[i], to = corner[i + 1];
        bool swap = to.x < from.x || (to.x == from.x && to.z < from.z);
        lm_vec3 low = swap ? to : from, high = swap ? from : to;
        double side =
            ((double)high.x - low.x) * ((double)p.z - low.z) - ((double)high.z - low.z) * ((double)p.x - low.x);
        side = swap ? -side : side;
        bool left = side > 0.0 || (side == 0.0 && swap);
        turns += left ? 1 : -1;
        height += side * corner[(i + 2) % 3].y; /* the corner that the edge does not have */
        area += side;
    }
    return (turns == 3 || turns == -3) && area != 0.0 && height / area > (double)p.y;
}

static bool is_inside(const surface *f, lm_vec3 p)
{
    bool inside = false;
    for (uint32_t t = 0; t < f->triangle_count; t++) {
        const uint32_t *k = f->triangles + 3 * (size_t)t;
        lm_vec3 a = f->vertices[k[0]], b = f->vertices[k[1]], c = f->vertices[k[2]];
        if ((a.x > p.x && b.x > p.x && c.x > p.x) || (a.x < p.x && b.x < p.x && c.x < p.x) ||
            (a.z > p.z && b.z > p.z && c.z > p.z) || (a.z < p.z && b.z < p.z && c.z < p.z)) {
            continue;
        }
        inside ^= crosses(p, a, b, c);
    }
    return inside;
}

static double clamped(double value) { return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value; }

static double from_segment(lm_dvec3 p, lm_dvec3 a, lm_dvec3 b)
{
    lm_dvec3 along = vector_subtract(b, a), to = vector_subtract(p, a);
    double length = vector_dot(along, along);
    double share = length > 0.0 ? clamped(vector_dot(to, along) / length) : 0.0;
    return vector_length(vector_subtract(to, vector_scale(along, share)));
}

/* To the plane where the foot of the perpendicular lies in the triangle, else to the nearest edge. */
static double from_triangle(lm_dvec3 p, lm_dvec3 a, lm_dvec3 b, lm_dvec3 c)
{
    lm_dvec3 normal = vector_cross(vector_subtract(b, a), vector_subtract(c, a));
    double area = vector_length(normal);
    bool above = area > 0.0;
    const lm_dvec3 corner[4] = {a, b, c, a};
    for (int i = 0; i < 3 && above; i++) {
        lm_dvec3 edge = vector_subtract(corner[i + 1], corner[i]);
        above = vector_dot(vector_cross(edge, vector_subtract(p, corner[i])), normal) >= 0.0;
    }
    if (above) {
        return fabs(vector_dot(vector_subtract(p, a), normal)) / area;
    }
    return fmin(from_segment(p, a, b), fmin(from_segment(p, b, c), from_segment(p, c, a)));
}

static double depth_in(const surface *f, lm_vec3 point)
{
    double depth = HUGE_VAL;
    lm_dvec3 p = vector_widen(point);
    for (uint32_t t = 0; t < f->triangle_count; t++) {
        const uint32_t *k = f->triangles + 3 * (size_t)t;
        depth = fmin(depth, from_triangle(p, vector_widen(f->vertices[k[0]]), vector_widen(f->vertices[k[1]]),
                                          vector_widen(f->vertices[k[2]])));
    }
    return depth;
}

static double deepest_of(const surface *f, const surface *other)
{
    double deepest = 0.0;
    for (uint32_t i = 0; i < f->vertex_count; i++) {
        if (in_box(other, f->vertices[i]) && is_inside(other, f->vertices[i])) {
            deepest = fmax(deepest, depth_in(other, f->vertices[i]));
        }
    }
    return deepest;
}

/* The same of so many vertices, evenly taken; stops at one that is deep enough. */
#define MOST_TRIED 256

static bool is_deeper(const surface *f, const surface *other, double depth, uint64_t *triangles)
{
    uint32_t step = f->vertex_count / MOST_TRIED + 1;
    for (uint32_t i = 0; i < f->vertex_count; i += step) {
        if (!in_box(other, f->vertices[i])) {
            continue;
        }
        if (*triangles < 2u * (uint64_t)other->triangle_count) {
            *triangles = 0;
            return false;
        }
        *triangles -= 2u * (uint64_t)other->triangle_count;
        if (is_inside(other, f->vertices[i]) && depth_in(other, f->vertices[i]) > depth) {
            return true;
        }
    }
    return false;
}

bool lmi_overlap_is_deeper(const lm_world *world, lm_body_id a, lm_body_id b, double depth, uint64_t *triangles)
{
    lm_body_info info;
    surface first = {.vertices = NULL}, second = {.vertices = NULL};
    bool read = lm_body_get_info(world, a, &info) == LM_OK && surface_read(world, a, info.centre, &first) == LM_OK &&
                surface_read(world, b, info.centre, &second) == LM_OK;
    bool deeper =
        read && (is_deeper(&first, &second, depth, triangles) || is_deeper(&second, &first, depth, triangles));
    surface_free(&first);
    surface_free(&second);
    return deeper;
}

/* Boxes around particles, with as much again for surfaces that lie beyond them. */
static bool may_overlap(const lm_body_info *a, const lm_body_info *b)
{
    const double low[3] = {a->lower.x - b->upper.x, a->lower.y - b->upper.y, a->lower.z - b->upper.z};
    const double high[3] = {b->lower.x - a->upper.x, b->lower.y - a->upper.y, b->lower.z - a->upper.z};
    const double room[3] = {0.25 * (a->upper.x - a->lower.x + b->upper.x - b->lower.x),
                            0.25 * (a->upper.y - a->lower.y + b->upper.y - b->lower.y),
                            0.25 * (a->upper.z - a->lower.z + b->upper.z - b->lower.z)};
    for (int i = 0; i < 3; i++) {
        if (low[i] > room[i] || high[i] > room[i]) {
            return false;
        }
    }
    return true;
}

lm_result lmi_overlap_of(const lm_scene *s, const lm_world *world, const made_body *body, double *depth)
{
    lm_body_info info, other_info;
    surface own = {.vertices = NULL};
    *depth = 0.0;
    lm_result result = lm_body_get_info(world, body->id, &info);
    result = result ? result : surface_read(world, body->id, info.centre, &own);
    for (uint32_t k = 0; k < s->body_count && result == LM_OK && own.vertices != NULL; k++) {
        const made_body *other = &s->bodies[k];
        if (other == body) {
            continue;
        }
        result = lm_body_get_info(world, other->id, &other_info);
        if (result == LM_OK && may_overlap(&info, &other_info)) {
            surface f;
            result = surface_read(world, other->id, info.centre, &f);
            *depth = fmax(*depth, result == LM_OK ? deepest_of(&own, &f) : 0.0);
            surface_free(&f);
        }
    }
    surface_free(&own);
    return result;
}
