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

/* Of the given triangles at the three vertices, the one that has most of them. Where a triangle was divided, vertices on its edges come
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

static void find_uvs(const lm_seams_surface *given, const fans *f, const uint32_t *sources, const uint32_t *triangle,
                     float uvs[6])
{
    uint32_t source[3];
    memset(uvs, 0, 6 * sizeof *uvs);
    for (int k = 0; k < 3; k++) {
        source[k] = sources[triangle[k]];
        if (source[k] >= given->vertex_count) {
            return; /* an inner face */
        }
    }
    uint32_t found = find_triangle(given, f, source);
    for (int k = 0; k < 3 && found != NONE; k++) {
        uint32_t corner = corner_of(given, found, source[k]);
        const float *uv = corner != NONE ? given->uvs + 2 * (size_t)corner
                                         : nearest_uv(given, f, source[k], given->uvs + 6 * (size_t)found);
        memcpy(uvs + 2 * k, uv, 2 * sizeof *uvs);
    }
}

/* The vertex of the divided surface for a vertex of the skin with these coordinates. `next` leads through those of one vertex. */
static uint32_t find_vertex(lm_seams *made, uint32_t *last, uint32_t *next, uint32_t vertex, const float *uv)
{
    for (uint32_t n = last[vertex]; n != NONE; n = next[n]) {
        if (memcmp(made->uvs + 2 * (size_t)n, uv, 2 * sizeof *uv) == 0) {
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

bool lm_seams_make(const lm_seams_surface *given, const uint32_t *sources, uint32_t vertex_count,
                   const uint32_t *triangles, uint32_t triangle_count, lm_seams *made)
{
    size_t most = 3 * (size_t)triangle_count + vertex_count + 1;
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
        find_uvs(given, &f, sources, triangles + 3 * (size_t)t, uvs);
        for (size_t k = 0; k < 3; k++) {
            size_t at = 3 * (size_t)t + k;
            made->triangles[at] = find_vertex(made, last, next, triangles[at], uvs + 2 * k);
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
