/*
 * Clipping: whatever the blade, the surface stays closed (every edge has as many triangles one way as the other, by the points that
 * it is made of), the pieces fill what was filled, faces lie on the blade, and what is not met stays. Blades along edges and through
 * corners of the surface, blades that end inside, closed ones; a torus, a block of few triangles, a surface with a hole in it.
 */
#include "geometry/clip.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

static lmi_memory memory;

typedef struct mesh {
    lm_dvec3 *points;
    uint32_t (*triangles)[3];
    uint32_t *which;
    uint32_t point_count, count;
    bool *inner;
} mesh;

static void free_mesh(mesh *m)
{
    free(m->points);
    free(m->triangles);
    free(m->which);
    free(m->inner);
}

/* A torus of `steps` by `steps` quads, of radii 1 and 0.4. */
static mesh make_torus(uint32_t steps)
{
    mesh m = {malloc(steps * steps * sizeof *m.points),
              malloc(2 * steps * steps * sizeof *m.triangles),
              malloc(2 * steps * steps * sizeof *m.which),
              steps * steps,
              0,
              calloc(2 * steps * steps, 1)};
    for (uint32_t n = 0; n < m.point_count; n++) {
        double a = 6.283185307179586 * (n / steps) / steps, b = 6.283185307179586 * (n % steps) / steps;
        m.points[n] = dvec((1.0 + 0.4 * cos(b)) * cos(a), 0.4 * sin(b), -(1.0 + 0.4 * cos(b)) * sin(a));
        uint32_t next = (n / steps + 1) % steps * steps, i = n / steps * steps, j = n % steps, k = (j + 1) % steps;
        const uint32_t two[2][3] = {{i + j, next + j, next + k}, {i + j, next + k, i + k}};
        for (int t = 0; t < 2; t++) {
            memcpy(m.triangles[m.count], two[t], sizeof two[t]);
            m.which[m.count] = m.count;
            m.count++;
        }
    }
    return m;
}

static mesh make_block(void)
{
    static const uint32_t corner[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                           {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    mesh m = {malloc(8 * sizeof *m.points), malloc(sizeof corner), malloc(12 * sizeof *m.which), 8, 12, calloc(12, 1)};
    memcpy(m.triangles, corner, sizeof corner);
    for (uint32_t n = 0; n < 12; n++) m.which[n] = n;
    for (uint32_t n = 0; n < 8; n++) m.points[n] = dvec(n & 1 ? 1.0 : -1.0, n & 2 ? 1.0 : -1.0, n & 4 ? 1.0 : -1.0);
    return m;
}

static double volume_of(const mesh *m)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < m->count; n++) {
        const uint32_t *t = m->triangles[n];
        sum += dvec_dot(m->points[t[0]], dvec_cross(m->points[t[1]], m->points[t[2]])) / 6.0;
    }
    return sum;
}

static int compare_edges(const void *a, const void *b) { return memcmp(a, b, 2 * sizeof(uint32_t)); }

/* Every edge one way has one the other way. */
static bool is_closed(const mesh *m)
{
    uint32_t(*edges)[2] = malloc(3 * (size_t)m->count * sizeof *edges),
    (*back)[2] = malloc(3 * (size_t)m->count * sizeof *back);
    for (uint32_t n = 0; n < 3 * m->count; n++) {
        uint32_t a = m->triangles[n / 3][n % 3], b = m->triangles[n / 3][(n % 3 + 1) % 3];
        edges[n][0] = back[n][1] = a;
        edges[n][1] = back[n][0] = b;
    }
    qsort(edges, 3 * m->count, sizeof *edges, compare_edges);
    qsort(back, 3 * m->count, sizeof *back, compare_edges);
    bool closed = memcmp(edges, back, 3 * (size_t)m->count * sizeof *edges) == 0;
    free(edges);
    free(back);
    return closed;
}

/* How many connected surfaces there are, and the volume of each. */
static uint32_t components(const mesh *m, double *volumes, uint32_t most)
{
    uint32_t *to = malloc(m->point_count * sizeof *to), count = 0;
    for (uint32_t n = 0; n < m->point_count; n++) to[n] = n;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < 3 * m->count; n++) {
            uint32_t a = m->triangles[n / 3][n % 3], b = m->triangles[n / 3][(n % 3 + 1) % 3];
            uint32_t least = to[a] < to[b] ? to[a] : to[b];
            changed = changed || to[a] != to[b];
            to[a] = to[b] = least;
        }
    }
    for (uint32_t root = 0; root < m->point_count; root++) {
        double sum = 0.0;
        bool any = false;
        for (uint32_t n = 0; n < m->count; n++) {
            const uint32_t *t = m->triangles[n];
            if (to[t[0]] != root) continue;
            any = true;
            sum += dvec_dot(m->points[t[0]], dvec_cross(m->points[t[1]], m->points[t[2]])) / 6.0;
        }
        if (any && count < most) volumes[count] = sum;
        count += any;
    }
    free(to);
    return count;
}

/* The mesh as the clip leaves it: points, then two for each node. */
static mesh apply(const mesh *m, const lmi_clip *c)
{
    uint32_t room = m->count + c->piece_count + 2 * c->face_count, points = m->point_count + 2 * c->node_count;
    mesh to = {malloc(points * sizeof *to.points),
               malloc(room * sizeof *to.triangles),
               malloc(room * sizeof *to.which),
               points,
               0,
               NULL};
    bool *hit = calloc(m->count, sizeof *hit);
    to.inner = calloc(room, sizeof *to.inner);
    memcpy(to.points, m->points, m->point_count * sizeof *to.points);
    for (uint32_t n = 0; n < 2 * c->node_count; n++) to.points[m->point_count + n] = c->nodes[n / 2].at;
    for (uint32_t n = 0; n < c->hit_count; n++) hit[c->hit[n]] = true;
    for (uint32_t n = 0; n < m->count; n++) {
        if (hit[n]) continue;
        to.inner[to.count] = m->inner[n];
        memcpy(to.triangles[to.count++], m->triangles[n], sizeof *to.triangles);
    }
    for (uint32_t n = 0; n < c->piece_count; n++, to.count++) {
        to.inner[to.count] = m->inner[c->pieces[n].triangle];
        for (int i = 0; i < 3; i++) {
            uint32_t corner = c->pieces[n].corner[i];
            to.triangles[to.count][i] =
                corner < 3 ? m->triangles[c->pieces[n].triangle][corner] : m->point_count + corner - 3;
        }
    }
    for (uint32_t n = 0; n < 2 * c->face_count; n++, to.count++) {
        to.inner[to.count] = true;
        for (int i = 0; i < 3; i++) {
            uint32_t node = c->faces[n / 2].node[n % 2 ? i : 2 - i], side = n % 2;
            to.triangles[to.count][i] = m->point_count + 2 * node + (side && !c->nodes[node].single);
        }
    }
    for (uint32_t n = 0; n < to.count; n++) to.which[n] = n;
    free(hit);
    return to;
}

static const lmi_box around = {{-1.5, -1.5, -1.5}, {1.5, 1.5, 1.5}};

/* Clips as skins do: with another hair where the first is undecided. Says how many it took. */
static mesh clip(const mesh *m, const lmi_blade_triangle *blade, uint32_t count, double grain, bool goes_on,
                 uint32_t *tries)
{
    static const double drawn[4] = {5e-3, 1e-3, 1e-4, 2e-5};
    for (uint32_t seed = 0;; seed++) {
        lmi_sheet sheet;
        lmi_sheet_tips tips;
        lmi_clip c;
        const lmi_clip_surface surface = {m->points,
                                          (const uint32_t(*)[3])m->triangles,
                                          m->which,
                                          m->count,
                                          m->point_count,
                                          m->inner,
                                          drawn[seed % 4] * grain};
        assert_true(lmi_clip_tips(&tips, &memory, &surface, &around));
        assert_true(lmi_sheet_make(&sheet, &memory, blade, count, &around, grain, goes_on ? &tips : NULL, seed));
        lmi_sheet_tips_free(&tips, &memory);
        assert_true(lmi_clip_make(&c, &memory, &surface, &sheet));
        bool good = !c.undecided && !c.open;
        mesh to = {0};
        if (good) {
            to = apply(m, &c);
            for (uint32_t n = 0; n < c.face_count; n++) { /* faces are on the blade */
                for (int i = 0; i < 3 && !goes_on; i++) {
                    lm_dvec3 p = c.nodes[c.faces[n].node[i]].at;
                    const lmi_sheet_patch *patch = &sheet.patches[sheet.patch[c.faces[n].facet]];
                    assert_true(fabs(dvec_dot(dvec_sub(p, patch->from), patch->normal)) < 0.015 * grain);
                }
            }
        }
        lmi_clip_free(&c, &memory);
        lmi_sheet_free(&sheet, &memory);
        if (tries) *tries += 1;
        if (good) return to;
        assert_true(seed < 8);
    }
}

static lm_dvec3 random_place(random_state *random)
{
    ref_vec p = random_in_cube(random, 1.5);
    return dvec(p.x, p.y, p.z);
}

/* A quad from `at` along two directions. */
static void make_quad(lmi_blade_triangle *to, lm_dvec3 at, lm_dvec3 u, lm_dvec3 v)
{
    lm_dvec3 a = dvec_add(at, u), b = dvec_add(at, v), c = dvec_add(a, v);
    to[0] = (lmi_blade_triangle){{at, a, b}};
    to[1] = (lmi_blade_triangle){{c, a, b}}; /* turned the other way, as a soup may be */
}

static void cut_many(mesh m, uint64_t seed, uint32_t cuts, bool small)
{
    random_state random = {seed};
    const double whole = volume_of(&m);
    uint32_t tries = 0;
    for (uint32_t n = 0; n < cuts; n++) {
        lmi_blade_triangle blade[2];
        lm_dvec3 at = random_place(&random), u = random_place(&random), v = random_place(&random);
        if (!small) {
            u = dvec_scale(u, 8.0);
            v = dvec_scale(v, 8.0);
            at = dvec_sub(dvec_scale(at, 0.3), dvec_scale(dvec_add(u, v), 0.5));
        }
        make_quad(blade, at, u, v);
        mesh next = clip(&m, blade, 2, 0.15, false, &tries);
        assert_true(is_closed(&next));
        assert_true(fabs(volume_of(&next) - whole) < 1e-6 * whole);
        free_mesh(&m);
        m = next;
    }
    assert_true(tries <= 2 * cuts);
    free_mesh(&m);
}

static void stays_closed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_tries(12, 2); seed++) {
        cut_many(make_torus(24), seed, 6, false);
        cut_many(make_torus(24), seed, 10, true);
        cut_many(make_block(), seed, 6, false);
        cut_many(make_block(), seed, 10, true);
    }
}

/* Planes through the corners of a surface, along its edges and on its faces. */
static void cuts_through_corners(void **state)
{
    (void)state;
    mesh m = make_torus(16);
    lmi_blade_triangle blade[2];
    double volumes[8];
    make_quad(blade, dvec(-4, 0, -4), dvec(8, 0, 0), dvec(0, 0, 8));
    mesh two = clip(&m, blade, 2, 0.2, false, NULL);
    assert_true(is_closed(&two));
    assert_int_equal(components(&two, volumes, 8), 2);
    assert_true(fabs(volumes[0] - volumes[1]) < 0.03 * volumes[0]);
    make_quad(blade, dvec(0, -4, -4), dvec(0, 8, 0), dvec(0, 0, 8));
    mesh four = clip(&two, blade, 2, 0.2, false, NULL); /* across the faces of the first */
    assert_true(is_closed(&four));
    assert_int_equal(components(&four, volumes, 8), 4);
    for (int n = 0; n < 4; n++) assert_true(fabs(volumes[n] - volume_of(&m) / 4.0) < 0.01 * volume_of(&m));
    mesh again = clip(&four, blade, 2, 0.2, false, NULL); /* the same again: slivers at most */
    assert_true(is_closed(&again));
    assert_true(fabs(volume_of(&again) - volume_of(&m)) < 1e-6);
    free_mesh(&m);
    free_mesh(&two);
    free_mesh(&four);
    free_mesh(&again);
}

/* A blade that ends inside leaves one piece; one that goes on from where it ended leaves two. */
static void strokes_meet(void **state)
{
    (void)state;
    mesh m = make_block();
    double volumes[8];
    uint32_t pieces = 0;
    for (int n = 0; n < 10; n++) {
        lmi_blade_triangle blade[2];
        make_quad(blade, dvec(-1.4 + 0.28 * n, -2.0, -2.0 + 0.02 * n), dvec(0.28, 0.0, 0.02), dvec(0.0, 4.0, 4.5));
        mesh next = clip(&m, blade, 2, 0.25, true, NULL);
        assert_true(is_closed(&next));
        free_mesh(&m);
        m = next;
        pieces = components(&m, volumes, 8);
        assert_int_equal(pieces > 1, n >= 8);
    }
    free_mesh(&m);
}

/* A closed blade leaves what is in it, and a hole. */
static void cutters_punch(void **state)
{
    (void)state;
    mesh m = make_block(), cutter = make_block();
    lmi_blade_triangle blade[12];
    double volumes[8];
    for (uint32_t n = 0; n < 36; n++) {
        lm_dvec3 p = cutter.points[cutter.triangles[n / 3][n % 3]];
        blade[n / 3].corner[n % 3] = dvec(0.31 * p.x + 0.07, 0.42 * p.y, 0.23 * p.z - 0.11);
    }
    mesh next = clip(&m, blade, 12, 0.3, false, NULL); /* inside altogether: it meets no triangle */
    assert_true(is_closed(&next));
    free_mesh(&next);
    for (uint32_t n = 0; n < 36; n++) blade[n / 3].corner[n % 3].y *= 4.0;
    next = clip(&m, blade, 12, 0.3, false, NULL);
    assert_true(is_closed(&next));
    assert_int_equal(components(&next, volumes, 8), 2);
    double core = 8.0 * 0.31 * 0.23 * 1.0;
    assert_true(fabs(fmin(volumes[0], volumes[1]) - core) < 0.03 * core);
    free_mesh(&next);
    free_mesh(&m);
    free_mesh(&cutter);
}

/* Whether a way is crossed: the tree of a blade's triangles against all of them, with ways along axes, along the blade and short ones. */
static void ways_cross(void **state)
{
    (void)state;
    random_state random = {17};
    mesh m = make_torus(24);
    lmi_blade_triangle *list = malloc(m.count * sizeof *list);
    lmi_blade blade;
    uint32_t crossed = 0;
    for (uint32_t n = 0; n < 3 * m.count; n++) list[n / 3].corner[n % 3] = m.points[m.triangles[n / 3][n % 3]];
    assert_true(lmi_blade_make(&blade, &memory, list, m.count));
    memory.work = 0;
    for (uint32_t n = 0; n < 4000; n++) {
        ref_vec a = random_in_cube(&random, 1.5), b = random_in_cube(&random, 1.5);
        lm_dvec3 from = dvec(a.x, a.y, a.z), to = dvec(b.x, b.y, b.z);
        if (n % 4 == 1) to = dvec(from.x, from.y, to.z);
        if (n % 4 == 2) from = m.points[n % m.point_count], to = m.points[(n * 7 + 1) % m.point_count];
        if (n % 4 == 3) to = dvec_add(from, dvec_scale(to, 0.02));
        bool any = false;
        for (uint32_t i = 0; i < blade.count && !any; i++) any = lmi_blade_crossing(&blade.planes[i], from, to) >= 0.0;
        assert_int_equal(lmi_blade_crossed(&blade, from, to), any);
        crossed += any;
    }
    assert_in_range(crossed, 1000, 3000);
    assert_in_range(memory.work / 4000, 1, m.count / 8);
    lmi_blade_free(&blade, &memory);
    free(list);
    free_mesh(&m);
}

int main(void)
{
    lmi_memory_init(&memory, &(lm_allocator){0});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_closed),  cmocka_unit_test(cuts_through_corners), cmocka_unit_test(strokes_meet),
        cmocka_unit_test(cutters_punch), cmocka_unit_test(ways_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
