/* Texture coordinates along seams: which given triangle each triangle of a skin is, and vertices that become several. */
#include "limber/seams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* For each given vertex the corners of triangles that meet there. */
typedef struct fans {
    uint32_t *first; /* [vertex + 1] */
    uint32_t *corners;
} fans;

static bool find_fans(const lm_seams_surface *given, fans *f)
{
    size_t corner_count = 3 * (size_t)given->triangle_count;
    f->first = calloc((size_t)given->vertex_count + 2, sizeof *f->first);
    f->corners = malloc((corner_count + 1) * sizeof *f->corners);
    if (f->first == NULL || f->corners == NULL) {
        return false;
    }
    for (size_t i = 0; i < corner_count; i++) {
        f->first[given->triangles[i] + 2]++;
    }
    for (uint32_t v = 0; v < given->vertex_count; v++) {
        f->first[v + 2] += f->first[v + 1];
    }
    for (size_t i = 0; i < corner_count; i++) { /* moves the beginnings one place up, to where they belong */
        f->corners[f->first[given->triangles[i] + 1]++] = (uint32_t)i;
    }
    return true;
}

/* The corner of a given triangle that has this vertex, or NONE. */
static uint32_t corner_of(const lm_seams_surface *given, uint32_t triangle, uint32_t vertex)
{
    for (uint32_t k = 0; k < 3; k++) {
        if (given->triangles[3 * (size_t)triangle + k] == vertex) {
            return 3 * triangle + k;
        }
    }
    return NONE;
}

/* Whether it is this given triangle, and not its back. */
static bool is_turned_alike(const lm_seams_surface *given, uint32_t triangle, const uint32_t source[3])
{
    const uint32_t *corners = given->triangles + 3 * (size_t)triangle;
    bool alike = false;
    for (int k = 0; k < 3; k++) {
        alike = alike ||
                (corners[k] == source[0] && corners[(k + 1) % 3] == source[1] && corners[(k + 2) % 3] == source[2]);
    }
    return alike;
}

/* Of the given triangles at the three vertices, the one that has most of them, in their order if there is one. Where a triangle was divided, vertices on its edges come
 * from their nearer ends, so that two corners may come from one vertex. */
static uint32_t find_triangle(const lm_seams_surface *given, const fans *f, const uint32_t source[3])
{
    uint32_t best = NONE, most = 0;
    for (int k = 0; k < 3; k++) {
        for (uint32_t n = f->first[source[k]]; n < f->first[source[k] + 1]; n++) {
            uint32_t triangle = f->corners[n] / 3, has = 0;
            for (int i = 0; i < 3; i++) {
                has += corner_of(given, triangle, source[i]) != NONE;
            }
            has += is_turned_alike(given, triangle, source);
            if (has > most) {
                best = triangle;
                most = has;
            }
        }
    }
    return best;
}

static float distance(const float *a, const float *b) { return fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]); }

/* The coordinates that a vertex has nearest to some others: it is in none of the triangles that were found. */
static const float *nearest_uv(const lm_seams_surface *given, const fans *f, uint32_t vertex, const float *to)
{
    static const float none[2] = {0.0f, 0.0f};
    const float *best = none;
    for (uint32_t n = f->first[vertex]; n < f->first[vertex + 1]; n++) {
        const float *uv = given->uvs + 2 * (size_t)f->corners[n];
        best = best == none || distance(uv, to) < distance(best, to) ? uv : best;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Parts of given triangles
 */

typedef struct vec {
    double x, y, z;
} vec;

static vec between(lm_vec3 a, lm_vec3 b) { return (vec){(double)b.x - a.x, (double)b.y - a.y, (double)b.z - a.z}; }

static vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static vec normal_of(const lm_vec3 *rest, const uint32_t *triangle)
{
    return cross(between(rest[triangle[0]], rest[triangle[1]]), between(rest[triangle[0]], rest[triangle[2]]));
}

/* Weights of a triangle's corners at a point, and how far that is from the triangle, in metres; infinity when it has no area. */
static double weigh(const lm_vec3 *rest, const uint32_t *triangle, lm_vec3 point, double weights[3])
{
    vec normal = normal_of(rest, triangle);
    double area = dot(normal, normal), outside = 0.0;
    if (!(area > 0.0)) {
        return INFINITY;
    }
    for (int k = 0; k < 3; k++) {
        vec side = between(rest[triangle[(k + 1) % 3]], rest[triangle[(k + 2) % 3]]);
        weights[k] = dot(normal, cross(side, between(rest[triangle[(k + 1) % 3]], point))) / area;
        /* weight 1 is a height of the triangle away from its side */
        outside = fmax(outside, -weights[k] * sqrt(area / fmax(dot(side, side), 1e-300)));
    }
    return outside + fabs(dot(normal, between(rest[triangle[0]], point))) / sqrt(area);
}

/* Whether so little of it is left that its normal is rounding. */
static bool is_sliver(const lm_vec3 *rest, const uint32_t *triangle, vec normal)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        vec side = between(rest[triangle[k]], rest[triangle[(k + 1) % 3]]);
        longest = fmax(longest, dot(side, side));
    }
    return dot(normal, normal) <= 1e-8 * longest * longest;
}

/* Of the given triangles at the three sources, which all are corners of it, the one that a triangle is a part of: the nearest to its middle
 * that faces the same way. Two sheets at the same place are told apart by that. NONE when there is none. */
static uint32_t find_whole(const lm_seams_surface *given, const fans *f, const uint32_t source[3], const lm_vec3 *rest,
                           const uint32_t *triangle)
{
    const lm_vec3 a = rest[triangle[0]], b = rest[triangle[1]], c = rest[triangle[2]];
    const lm_vec3 middle = {(a.x + b.x + c.x) / 3.0f, (a.y + b.y + c.y) / 3.0f, (a.z + b.z + c.z) / 3.0f};
    vec normal = normal_of(rest, triangle);
    bool faces_anywhere = is_sliver(rest, triangle, normal);
    uint32_t best = NONE;
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        for (uint32_t n = f->first[source[k]]; n < f->first[source[k] + 1]; n++) {
            uint32_t candidate = f->corners[n] / 3;
            const uint32_t *corners = given->triangles + 3 * (size_t)candidate;
            double weights[3], away = weigh(rest, corners, middle, weights);
            if (away < least && (faces_anywhere || dot(normal, normal_of(rest, corners)) >= 0.0)) {
                best = candidate;
                least = away;
            }
        }
    }
    return best;
}

/* The coordinates of a point of a given triangle. On an edge or a corner they are those of the edge or the corner, whatever was rounded. Cuts
 * move vertices by a share of a cell so that no sliver is left; those that went over an edge have what the triangle would have there. */
static void blend(const lm_seams_surface *given, uint32_t triangle, const lm_vec3 *rest, lm_vec3 point, float uv[2])
{
    double weights[3] = {1.0, 0.0, 0.0}, sum = 0.0;
    weigh(rest, given->triangles + 3 * (size_t)triangle, point, weights);
    for (int k = 0; k < 3; k++) {
        weights[k] = fabs(weights[k]) < 1e-4 ? 0.0 : fmax(weights[k], -0.25);
        sum += weights[k];
    }
    const float *uvs = given->uvs + 6 * (size_t)triangle;
    for (int i = 0; i < 2; i++) {
        uv[i] = (float)((weights[0] * uvs[i] + weights[1] * uvs[2 + i] + weights[2] * uvs[4 + i]) / sum);
    }
}

static bool is_given(const lm_seams_surface *given, const uint32_t source[3], const uint32_t *triangle)
{
    return source[0] == triangle[0] && source[1] == triangle[1] && source[2] == triangle[2] &&
           triangle[0] < given->vertex_count && triangle[1] < given->vertex_count && triangle[2] < given->vertex_count;
}

/* Whether they are between those of corners. */
static bool find_uvs(const lm_seams_surface *given, const fans *f, const uint32_t *sources, const lm_vec3 *rest,
                     const uint32_t *triangle, float uvs[6])
{
    uint32_t source[3];
    memset(uvs, 0, 6 * sizeof *uvs);
    for (int k = 0; k < 3; k++) {
        source[k] = sources[triangle[k]];
        if (source[k] >= given->vertex_count) {
            return false; /* an inner face */
        }
    }
    uint32_t whole =
        rest != NULL && !is_given(given, source, triangle) ? find_whole(given, f, source, rest, triangle) : NONE;
    for (int k = 0; k < 3 && whole != NONE; k++) {
        blend(given, whole, rest, rest[triangle[k]], uvs + 2 * k);
    }
    if (whole != NONE) {
        return true;
    }
    uint32_t found = find_triangle(given, f, source);
    for (int k = 0; k < 3 && found != NONE; k++) {
        uint32_t corner = corner_of(given, found, source[k]);
        const float *uv = corner != NONE ? given->uvs + 2 * (size_t)corner
                                         : nearest_uv(given, f, source[k], given->uvs + 6 * (size_t)found);
        memcpy(uvs + 2 * k, uv, 2 * sizeof *uvs);
    }
    return false;
}

/* The vertex of the divided surface for a vertex of the skin with these coordinates. `next` leads through those of one vertex. What was
 * found in two triangles on both sides of an edge is the same to rounding (`rounded`). */
static uint32_t find_vertex(lm_seams *made, uint32_t *last, uint32_t *next, uint32_t vertex, const float *uv,
                            bool rounded)
{
    for (uint32_t n = last[vertex]; n != NONE; n = next[n]) {
        const float *known = made->uvs + 2 * (size_t)n;
        if (memcmp(known, uv, 2 * sizeof *uv) == 0 || (rounded && distance(known, uv) < 1e-4f)) {
            return n;
        }
    }
    uint32_t n = made->vertex_count++;
    made->vertices[n] = vertex;
    memcpy(made->uvs + 2 * (size_t)n, uv, 2 * sizeof *uv);
    next[n] = last[vertex];
    last[vertex] = n;
    return n;
}

bool lm_seams_make(const lm_seams_surface *given, const uint32_t *sources, const lm_vec3 *rest, uint32_t vertex_count,
                   const uint32_t *triangles, uint32_t triangle_count, lm_seams *made)
{
    size_t most = 3 * (size_t)triangle_count + vertex_count + 1;
    rest = given->vertex_count <= vertex_count ? rest : NULL; /* else it is no skin of that surface */
    fans f = {NULL, NULL};
    uint32_t *last = malloc(((size_t)vertex_count + 1) * sizeof *last), *next = malloc(most * sizeof *next);
    *made = (lm_seams){.vertices = malloc(most * sizeof *made->vertices),
                       .uvs = malloc(2 * most * sizeof *made->uvs),
                       .triangles = malloc((3 * (size_t)triangle_count + 1) * sizeof *made->triangles)};
    bool room = find_fans(given, &f) && last != NULL && next != NULL && made->vertices != NULL && made->uvs != NULL &&
                made->triangles != NULL;
    if (room) {
        memset(last, 0xff, vertex_count * sizeof *last);
    }
    for (uint32_t t = 0; room && t < triangle_count; t++) {
        float uvs[6];
        bool rounded = find_uvs(given, &f, sources, rest, triangles + 3 * (size_t)t, uvs);
        for (size_t k = 0; k < 3; k++) {
            size_t at = 3 * (size_t)t + k;
            made->triangles[at] = find_vertex(made, last, next, triangles[at], uvs + 2 * k, rounded);
        }
    }
    free(f.first);
    free(f.corners);
    free(last);
    free(next);
    return room;
}

void lm_seams_free(lm_seams *made)
{
    free(made->vertices);
    free(made->uvs);
    free(made->triangles);
    *made = (lm_seams){.vertices = NULL};
}
