#include "test/support/skins.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct spot {
    lm_vec3 at;
    uint32_t vertex;
} spot;

static int compare_spots(const void *a, const void *b)
{
    const spot *x = a, *y = b;
    const float p[3] = {x->at.x, x->at.y, x->at.z}, q[3] = {y->at.x, y->at.y, y->at.z};
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

typedef struct side {
    uint32_t low, high;
    int32_t way;
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

uint32_t skin_open_edges(const lm_world *world, lm_body_id body, double *volume)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *at = malloc(info.skin_vertices * sizeof *at);
    uint32_t *triangles = malloc(info.skin_triangles * 3 * sizeof *triangles), open = 0, count = 0;
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), at, NULL));
    assert_ok(lm_body_get_skin_triangles(world, body, triangles));
    spot *spots = malloc(info.skin_vertices * sizeof *spots);
    uint32_t *weld = malloc(info.skin_vertices * sizeof *weld);
    for (uint32_t n = 0; n < info.skin_vertices; n++) spots[n] = (spot){at[n], n};
    qsort(spots, info.skin_vertices, sizeof *spots, compare_spots);
    for (uint32_t n = 0; n < info.skin_vertices; n++) {
        bool same = n > 0 && memcmp(&spots[n].at, &spots[n - 1].at, sizeof spots[n].at) == 0;
        weld[spots[n].vertex] = same ? weld[spots[n - 1].vertex] : spots[n].vertex;
    }
    side *sides = malloc(info.skin_triangles * 3 * sizeof *sides);
    *volume = 0.0;
    for (uint32_t t = 0; t < info.skin_triangles; t++) {
        const uint32_t *c = triangles + (size_t)t * 3;
        ref_vec p[3];
        for (int i = 0; i < 3; i++) {
            uint32_t a = weld[c[i]], b = weld[c[(i + 1) % 3]];
            p[i] = ref_v(at[c[i]].x, at[c[i]].y, at[c[i]].z);
            if (a != b) sides[count++] = (side){a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
        }
        *volume += ref_dot(p[0], ref_cross(p[1], p[2])) / 6.0;
    }
    qsort(sides, count, sizeof *sides, compare_sides);
    for (uint32_t n = 0; n < count;) {
        uint32_t first = n;
        int32_t sum = 0;
        for (; n < count && compare_sides(&sides[first], &sides[n]) == 0; n++) sum += sides[n].way;
        open += sum != 0;
    }
    free(at), free(triangles), free(spots), free(weld), free(sides);
    return open;
}

lm_cut_info cut_square(lm_world *world, lm_body_id body, ref_vec at, ref_vec normal, double half, double turn)
{
    ref_vec u = ref_cross(normal, fabs(normal.x) < 0.7 ? ref_v(1, 0, 0) : ref_v(0, 1, 0));
    u = ref_scale(1.0 / ref_length(u), u);
    ref_vec v = ref_cross(normal, u), a = ref_add(ref_scale(cos(turn), u), ref_scale(sin(turn), v));
    ref_vec b = ref_sub(ref_scale(cos(turn), v), ref_scale(sin(turn), u));
    lm_dvec3 from[2], to[2];
    for (int k = 0; k < 2; k++) {
        ref_vec p = ref_add(at, ref_scale(k ? half : -half, a)), q = ref_scale(half, b);
        ref_vec low = ref_sub(p, q), high = ref_add(p, q);
        from[k] = (lm_dvec3){low.x, low.y, low.z};
        to[k] = (lm_dvec3){high.x, high.y, high.z};
    }
    lm_cut_info info;
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &info));
    return info;
}

ref_vec random_unit(random_state *random)
{
    ref_vec v;
    do v = random_in_cube(random, 1.0);
    while (ref_length(v) > 1.0 || ref_length(v) < 0.1);
    return ref_scale(1.0 / ref_length(v), v);
}
