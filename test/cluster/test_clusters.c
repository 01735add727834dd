/*
 * The makers of clusters: cells, lists, k-means, elements and rings, on sound, degenerate and impossible input.
 */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

typedef struct regions {
    uint32_t count, memberships;
    uint32_t *offsets, *members;
} regions;

static regions regions_read(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    regions r = {info.regions, info.memberships, calloc(info.regions + 1, sizeof(uint32_t)),
                 calloc(info.memberships + 1, sizeof(uint32_t))};
    assert_ok(lm_body_get_regions(world, body, r.offsets, r.members));
    assert_int_equal(r.offsets[0], 0);
    assert_int_equal(r.offsets[r.count], r.memberships);
    return r;
}

static void regions_free(regions *r)
{
    free(r->offsets);
    free(r->members);
}

static bool region_has(const regions *r, uint32_t region, uint32_t particle)
{
    for (uint32_t k = r->offsets[region]; k < r->offsets[region + 1]; k++)
        if (r->members[k] == particle) return true;
    return false;
}

static uint32_t region_size(const regions *r, uint32_t region) { return r->offsets[region + 1] - r->offsets[region]; }

/* No region is empty, none has a particle twice or one that does not exist; with `cover` every particle is in one. */
static void check_regions(const regions *r, uint32_t particles, bool cover)
{
    uint32_t *last = calloc(particles, sizeof *last), *seen = calloc(particles, sizeof *seen);
    for (uint32_t region = 0; region < r->count; region++) {
        assert_true(r->offsets[region + 1] > r->offsets[region]);
        for (uint32_t k = r->offsets[region]; k < r->offsets[region + 1]; k++) {
            assert_true(r->members[k] < particles);
            assert_true(last[r->members[k]] != region + 1);
            last[r->members[k]] = region + 1;
            seen[r->members[k]]++;
        }
    }
    if (cover)
        for (uint32_t i = 0; i < particles; i++) assert_true(seen[i] > 0);
    free(last);
    free(seen);
}

static lm_body_def body_of(const lm_vec3 *points, uint32_t count)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = count;
    return def;
}

/* Steps a made body from a random state, all modes; it must stay finite and keep its momentum. */
static void live(lm_body_def def, double size)
{
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        random_state random = {7};
        lm_world *world = make_world(0.0);
        def.material.mode = (lm_mode)mode;
        lm_body_id body = make_body(world, &def);
        randomise_state(world, body, &random, 0.2 * size, size);
        motion before = motion_read(world, body, lm_dvec3_zero());
        for (int step = 0; step < 120; step++) assert_ok(lm_world_step(world, FRAME));
        motion after = motion_read(world, body, lm_dvec3_zero());
        assert_true(after.finite);
        assert_at_most(ref_length(ref_sub(after.momentum, before.momentum)), 1e-4 * before.momentum_scale);
        lm_world_destroy(world);
    }
}

/* ---- cells ---- */

/* 10 x 10 points, 3 x 2 cells without overlap: what each has can be counted on the fingers. */
static void cells_hold_what_lies_in_them(void **context)
{
    (void)context;
    lm_vec3 points[100];
    for (int i = 0; i < 100; i++) points[i] = (lm_vec3){(float)(i % 10), 0.0f, (float)(i / 10)};
    lm_body_def def = body_of(points, 100);
    def.clusters.counts[0] = 3; /* cells 0..3, 3..6, 6..9: the borders belong to both sides */
    def.clusters.counts[1] = 7; /* flat: one cell */
    def.clusters.counts[2] = 2; /* 0..4.5, 4.5..9 */
    def.clusters.overlap = 0.0f;
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    regions r = regions_read(world, body);
    check_regions(&r, 100, true);
    assert_int_equal(r.count, 6);
    for (uint32_t region = 0; region < 6; region++) {
        float low_x = 1e9f, high_x = -1e9f, low_z = 1e9f, high_z = -1e9f;
        for (uint32_t k = r.offsets[region]; k < r.offsets[region + 1]; k++) {
            lm_vec3 p = points[r.members[k]];
            low_x = fminf(low_x, p.x);
            high_x = fmaxf(high_x, p.x);
            low_z = fminf(low_z, p.z);
            high_z = fmaxf(high_z, p.z);
        }
        assert_near(high_x - low_x, 3.0, 0.0);
        assert_near(high_z - low_z, 4.0, 0.0);
        assert_int_equal(region_size(&r, region), 4 * 5);
    }
    regions_free(&r);
    live(def, 9.0);
    def.clusters.kind = LM_CLUSTERS_SIZE;
    def.clusters.cell_size = 3.1f; /* about: the box holds three along each side */
    body = make_body(world, &def);
    r = regions_read(world, body);
    check_regions(&r, 100, true);
    assert_int_equal(r.count, 9);
    regions_free(&r);
    lm_world_destroy(world);
}

/* ---- k-means ---- */

/* Four well separated heaps of points, four groups: each heap is one, whatever the order of the points. */
static void kmeans_finds_heaps(void **context)
{
    (void)context;
    enum { HEAPS = 4, EACH = 12 };
    for (int trial = 0; trial < 8; trial++) {
        random_state random = {(uint64_t)(40 + trial)};
        lm_vec3 points[HEAPS * EACH];
        uint32_t heap[HEAPS * EACH];
        for (uint32_t i = 0; i < HEAPS * EACH; i++) {
            heap[i] = i % HEAPS;
            ref_vec centre = ref_v(10.0 * (heap[i] & 1), 0.0, 10.0 * (heap[i] >> 1));
            points[i] = to_float(ref_add(centre, random_in_cube(&random, 0.5)));
        }
        lm_body_def def = body_of(points, HEAPS * EACH);
        def.clusters.kind = LM_CLUSTERS_KMEANS;
        def.clusters.count = HEAPS;
        def.clusters.rings = 0;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        regions r = regions_read(world, body);
        check_regions(&r, HEAPS * EACH, true);
        assert_int_equal(r.count, HEAPS);
        assert_int_equal(r.memberships, HEAPS * EACH);
        for (uint32_t region = 0; region < HEAPS; region++)
            for (uint32_t k = r.offsets[region]; k < r.offsets[region + 1]; k++)
                assert_int_equal(heap[r.members[k]], heap[r.members[r.offsets[region]]]);
        regions_free(&r);
        lm_world_destroy(world);
    }
}

/* Without rings the groups are a division in which no point is nearer to another group's centre than to its own. */
static void kmeans_groups_are_the_nearest(void **context)
{
    (void)context;
    random_state random = {50};
    for (int trial = 0; trial < 10; trial++) {
        sample s = sample_make(SAMPLE_BLOB, &random);
        s.def.clusters.kind = LM_CLUSTERS_KMEANS;
        s.def.clusters.count = 1 + random_below(&random, 8);
        s.def.clusters.rings = 0;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &s.def);
        regions r = regions_read(world, body);
        check_regions(&r, s.count, true);
        assert_int_equal(r.memberships, s.count);
        assert_true(r.count <= s.def.clusters.count);
        ref_vec centres[8] = {{0}};
        for (uint32_t g = 0; g < r.count; g++)
            for (uint32_t k = r.offsets[g]; k < r.offsets[g + 1]; k++)
                centres[g] = ref_add_scaled(centres[g], 1.0 / region_size(&r, g), to_double(s.points[r.members[k]]));
        uint32_t misplaced = 0;
        for (uint32_t g = 0; g < r.count; g++)
            for (uint32_t k = r.offsets[g]; k < r.offsets[g + 1]; k++) {
                ref_vec p = to_double(s.points[r.members[k]]);
                double own = ref_length(ref_sub(p, centres[g])), nearest = own;
                for (uint32_t o = 0; o < r.count; o++) nearest = fmin(nearest, ref_length(ref_sub(p, centres[o])));
                misplaced += own > nearest * (1.0 + 1e-5) + 1e-6;
            }
        /* Weighted by mass or stopped a round early, a point or two on a border may go either way. */
        assert_true(misplaced <= s.count / 10);
        regions_free(&r);
        lm_world_destroy(world);
        sample_free(&s);
    }
}

/* Each ring adds exactly the neighbours: along a line in steps of 1 the elements are the links. */
static void kmeans_rings_add_neighbours(void **context)
{
    (void)context;
    enum { N = 20 };
    lm_vec3 points[N];
    uint32_t links[2 * (N - 1)];
    for (uint32_t i = 0; i < N; i++) points[i] = (lm_vec3){(float)i, 0.0f, 0.0f};
    for (uint32_t i = 0; i + 1 < N; i++) {
        links[2 * i] = i;
        links[2 * i + 1] = i + 1;
    }
    for (uint32_t rings = 0; rings < 4; rings++) {
        lm_body_def def = body_of(points, N);
        def.clusters.kind = LM_CLUSTERS_KMEANS;
        def.clusters.count = 2;
        def.clusters.rings = rings;
        def.clusters.elements = links;
        def.clusters.element_count = N - 1;
        def.clusters.element_size = 2;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        regions r = regions_read(world, body);
        check_regions(&r, N, true);
        assert_int_equal(r.count, 2);
        /* Two runs that meet somewhere and overlap by `rings` on each side. */
        assert_int_equal(r.memberships, N + 2 * rings);
        for (uint32_t region = 0; region < 2; region++) {
            uint32_t low = N, high = 0;
            for (uint32_t k = r.offsets[region]; k < r.offsets[region + 1]; k++) {
                low = r.members[k] < low ? r.members[k] : low;
                high = r.members[k] > high ? r.members[k] : high;
            }
            assert_int_equal(high - low + 1, region_size(&r, region));
            assert_true(low == 0 || high == N - 1);
        }
        regions_free(&r);
        if (rings > 0) live(def, N);
        lm_world_destroy(world);
    }
}

/* Without elements the six nearest are the neighbours: on a grid those along the axes. */
static void kmeans_without_elements_uses_the_nearest(void **context)
{
    (void)context;
    lm_vec3 *points = grid_points(6, 6, 6, 0.1);
    lm_body_def def = body_of(points, 216);
    def.clusters.kind = LM_CLUSTERS_KMEANS;
    def.clusters.count = 8;
    regions r[2];
    lm_world *world = make_world(0.0);
    for (uint32_t rings = 0; rings < 2; rings++) {
        def.clusters.rings = rings;
        lm_body_id body = make_body(world, &def);
        r[rings] = regions_read(world, body);
        check_regions(&r[rings], 216, true);
    }
    assert_int_equal(r[0].count, 8);
    assert_int_equal(r[1].count, 8);
    for (uint32_t g = 0; g < 8; g++)
        for (uint32_t i = 0; i < 216; i++) {
            bool inside = region_has(&r[0], g, i), added = region_has(&r[1], g, i), beside = false;
            uint32_t x = i % 6, y = i / 6 % 6, z = i / 36;
            for (uint32_t k = r[0].offsets[g]; k < r[0].offsets[g + 1]; k++) {
                uint32_t j = r[0].members[k];
                int away = abs((int)(j % 6) - (int)x) + abs((int)(j / 6 % 6) - (int)y) + abs((int)(j / 36) - (int)z);
                beside = beside || away == 1;
            }
            if (inside || beside) assert_true(added);
            /* Points at the border of the grid have nearest neighbours further off, but none beyond two steps. */
            bool border = x == 0 || x == 5 || y == 0 || y == 5 || z == 0 || z == 5;
            if (added && !inside && !border && !beside) {
                bool near_border = false;
                for (uint32_t k = r[0].offsets[g]; k < r[0].offsets[g + 1]; k++) {
                    uint32_t j = r[0].members[k], c[3] = {j % 6, j / 6 % 6, j / 36};
                    for (int a = 0; a < 3; a++) near_border = near_border || c[a] == 0 || c[a] == 5;
                }
                assert_true(near_border);
            }
        }
    regions_free(&r[0]);
    regions_free(&r[1]);
    live(def, 0.5);
    lm_world_destroy(world);
    free(points);
}

static void kmeans_is_deterministic(void **context)
{
    (void)context;
    random_state random = {60};
    sample s = sample_make(SAMPLE_BLOB, &random);
    s.def.clusters.kind = LM_CLUSTERS_KMEANS;
    s.def.clusters.count = 6;
    regions first = {0};
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (uint32_t workers = 1; workers <= 3; workers += 2) {
            if (!lm_isa_supported((lm_isa)isa)) continue;
            lm_world *world = make_world_with(0.0, (lm_isa)isa, workers);
            make_body(world, &s.def); /* what is there already must not matter */
            lm_body_id body = make_body(world, &s.def);
            regions r = regions_read(world, body);
            if (first.count == 0) {
                first = r;
            } else {
                assert_int_equal(r.count, first.count);
                assert_int_equal(r.memberships, first.memberships);
                assert_memory_equal(r.offsets, first.offsets, (r.count + 1) * sizeof *r.offsets);
                assert_memory_equal(r.members, first.members, r.memberships * sizeof *r.members);
                regions_free(&r);
            }
            lm_world_destroy(world);
        }
    regions_free(&first);
    sample_free(&s);
}

/* Isolated points, points on top of each other, more groups than points, all points in one place, one point. */
static void kmeans_takes_what_comes(void **context)
{
    (void)context;
    random_state random = {61};
    enum { N = 24 };
    for (int shape = 0; shape < 6; shape++)
        for (uint32_t count = 1; count <= 2 * N; count = count < 4 ? count + 1 : 2 * count)
            for (uint32_t rings = 0; rings < 3; rings++) {
                lm_vec3 points[N];
                uint32_t n = shape == 5 ? 1 : N;
                for (uint32_t i = 0; i < N; i++) {
                    ref_vec p = random_in_cube(&random, 0.5);
                    if (shape == 1 && i == 3) p = ref_v(1000.0, 0.0, 0.0);
                    if (shape == 2 && i % 2 == 1) p = to_double(points[i - 1]);
                    if (shape == 3) p = ref_v(0.25, 0.5, -1.0);
                    if (shape == 4) p = ref_v(p.x, 0.0, 0.0);
                    points[i] = to_float(p);
                }
                lm_body_def def = body_of(points, n);
                def.clusters.kind = LM_CLUSTERS_KMEANS;
                def.clusters.count = count;
                def.clusters.rings = rings;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &def);
                regions r = regions_read(world, body);
                check_regions(&r, n, true);
                assert_true(r.count >= 1 && r.count <= (count < n ? count : n));
                if (shape == 0 || shape == 1 || shape == 4) assert_int_equal(r.count, count < n ? count : n);
                if (rings == 0) assert_int_equal(r.memberships, n);
                regions_free(&r);
                randomise_state(world, body, &random, 0.3, 1.0);
                for (int step = 0; step < 30; step++) assert_ok(lm_world_step(world, FRAME));
                assert_true(motion_read(world, body, lm_dvec3_zero()).finite);
                lm_world_destroy(world);
            }
}

/* ---- elements and rings ---- */

/* The cells of a grid of nx x ny x nz points, each as five tetrahedra, alternately turned so that faces match. */
static uint32_t grid_tetrahedra(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t *out)
{
    static const int five[2][5][4] = {
        {{0, 1, 2, 4}, {3, 1, 7, 2}, {5, 1, 4, 7}, {6, 2, 7, 4}, {1, 2, 4, 7}},
        {{1, 0, 5, 3}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 3, 5, 6}, {0, 3, 6, 5}},
    };
    uint32_t count = 0;
    for (uint32_t z = 0; z + 1 < nz; z++)
        for (uint32_t y = 0; y + 1 < ny; y++)
            for (uint32_t x = 0; x + 1 < nx; x++)
                for (int t = 0; t < 5; t++, count++)
                    for (int k = 0; k < 4; k++) {
                        uint32_t c = (uint32_t)five[(x + y + z) % 2][t][k];
                        out[4 * count + (uint32_t)k] = (x + (c & 1)) + nx * ((y + (c >> 1 & 1)) + ny * (z + (c >> 2)));
                    }
    return count;
}

static lm_body_def meshed(const lm_vec3 *points, uint32_t count, lm_cluster_kind kind, const uint32_t *elements,
                          uint32_t element_count, uint32_t element_size)
{
    lm_body_def def = body_of(points, count);
    def.clusters.kind = kind;
    def.clusters.elements = elements;
    def.clusters.element_count = element_count;
    def.clusters.element_size = element_size;
    return def;
}

static void elements_become_regions(void **context)
{
    (void)context;
    lm_vec3 *points = grid_points(3, 4, 3, 0.1);
    uint32_t tetrahedra[4 * 5 * 12];
    uint32_t count = grid_tetrahedra(3, 4, 3, tetrahedra);
    assert_int_equal(count, 60);
    for (uint32_t size = 2; size <= 8; size++) {
        /* The same numbers read as edges, (where they are distinct) triangles, tetrahedra, ... */
        uint32_t elements = 0, kept[8 * 120];
        for (uint32_t e = 0; (e + 1) * size <= 4 * count; e++) {
            bool distinct = true;
            for (uint32_t i = 0; i < size; i++)
                for (uint32_t j = 0; j < i; j++)
                    distinct = distinct && tetrahedra[e * size + i] != tetrahedra[e * size + j];
            if (distinct) memcpy(kept + size * elements++, tetrahedra + e * size, size * sizeof *kept);
        }
        if (elements == 0) continue;
        lm_body_def def = meshed(points, 36, LM_CLUSTERS_ELEMENTS, kept, elements, size);
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        regions r = regions_read(world, body);
        check_regions(&r, 36, size == 4);
        assert_int_equal(r.count, elements);
        assert_int_equal(r.memberships, elements * size);
        for (uint32_t e = 0; e < elements; e++) {
            assert_int_equal(region_size(&r, e), size);
            for (uint32_t k = 0; k < size; k++) assert_true(region_has(&r, e, kept[e * size + k]));
        }
        regions_free(&r);
        lm_world_destroy(world);
        live(def, 0.3);
    }
    free(points);
}

static void rings_are_a_particle_and_its_neighbours(void **context)
{
    (void)context;
    lm_vec3 *points = grid_points(3, 4, 3, 0.1);
    uint32_t tetrahedra[4 * 5 * 12];
    uint32_t count = grid_tetrahedra(3, 4, 3, tetrahedra);
    lm_body_def def = meshed(points, 36, LM_CLUSTERS_RINGS, tetrahedra, count, 4);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    regions r = regions_read(world, body);
    check_regions(&r, 36, true);
    assert_int_equal(r.count, 36);
    uint32_t shared = 0;
    for (uint32_t i = 0; i < 36; i++)
        for (uint32_t j = 0; j < 36; j++) {
            bool together = i == j;
            for (uint32_t e = 0; e < count; e++) {
                bool has_i = false, has_j = false;
                for (uint32_t k = 0; k < 4; k++) {
                    has_i = has_i || tetrahedra[4 * e + k] == i;
                    has_j = has_j || tetrahedra[4 * e + k] == j;
                }
                together = together || (has_i && has_j);
            }
            assert_int_equal(region_has(&r, i, j), together);
            shared += together;
        }
    assert_int_equal(r.memberships, shared);
    regions_free(&r);
    lm_world_destroy(world);
    live(def, 0.3);
    free(points);
}

/* A chain of edges: rings of two at the ends and three between. A particle of no element is alone or free. */
static void rings_of_a_chain(void **context)
{
    (void)context;
    enum { N = 8 };
    lm_vec3 points[N];
    uint32_t edges[2 * (N - 2)];
    for (uint32_t i = 0; i < N; i++) points[i] = (lm_vec3){0.0f, 0.1f * (float)i, 0.0f};
    for (uint32_t i = 0; i + 2 < N; i++) {
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    lm_body_def def = meshed(points, N, LM_CLUSTERS_RINGS, edges, N - 2, 2);
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, &def);
    regions r = regions_read(world, body);
    check_regions(&r, N, false);
    assert_true(r.count == N - 1 || r.count == N); /* the isolated one may be a region of itself */
    for (uint32_t i = 0; i < N - 1; i++) {
        assert_int_equal(region_size(&r, i), i == 0 || i == N - 2 ? 2 : 3);
        assert_true(region_has(&r, i, i));
    }
    regions_free(&r);
    lm_world_destroy(world);
    live(def, 0.7);
}

/* ---- the smallest ---- */

/* Clusters of one, two and three points, flat and straight ones, mixed in one body: the rest shape is kept in any
 * orientation, and what is connected stays together. */
static void the_smallest_clusters_work(void **context)
{
    (void)context;
    lm_vec3 points[9] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 0},
                         {3, 0, 0}, {0, 0, 1}, {0, 0, 1}, {5, 5, 5}};
    uint32_t members[] = {0,
                          /* one */ 0,
                          1,
                          /* two */ 0,
                          1,
                          2,
                          /* a triangle */ 0,
                          1,
                          2,
                          3, /* flat */
                          0,
                          1,
                          4,
                          5,
                          /* straight */ 6,
                          7,
                          /* in one place */ 0,
                          1,
                          2,
                          6,
                          /* solid */ 8 /* alone */};
    uint32_t offsets[] = {0, 1, 3, 6, 10, 14, 16, 20, 21};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int plastic = 0; plastic < 2; plastic++) {
            lm_body_def def = body_of(points, 9);
            def.clusters.kind = LM_CLUSTERS_LISTS;
            def.clusters.offsets = offsets;
            def.clusters.members = members;
            def.clusters.list_count = 8;
            def.material.mode = (lm_mode)mode;
            def.material.yield = plastic ? 0.5f : 0.0f;
            def.material.damping_ratio = 0.5f;
            def.pose.rotation = quaternion(ref_v(0.4, -1.0, 2.0));
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &def);
            lm_body_info info;
            assert_ok(lm_body_get_info(world, body, &info));
            assert_int_equal(info.regions, 8);
            for (int step = 0; step < 120; step++) assert_ok(lm_world_step(world, FRAME));
            assert_at_most(deformation(world, body), 1e-5);
            lm_world_destroy(world);
            live(def, 1.0);
        }
}

/* A pair is a spring: two particles one metre apart, pulled to 1 + 2 e, ring at the hertz of the material. */
static void a_pair_rings_as_asked(void **context)
{
    (void)context;
    lm_vec3 points[2] = {{0, 0, 0}, {1, 0, 0}}, x[2] = {{-0.01f, 0, 0}, {1.01f, 0, 0}}, at[2];
    uint32_t edge[2] = {0, 1};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        lm_body_def def = meshed(points, 2, LM_CLUSTERS_ELEMENTS, edge, 1, 2);
        def.material.mode = (lm_mode)mode;
        def.material.beta = 0.0f;
        def.material.hertz = 2.0f;
        def.material.damping_ratio = 0.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        double h = 1.0 / 240.0;
        for (int step = 1; step <= 480; step++) {
            assert_ok(lm_world_step(world, h));
            assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
            /* From rest at e, the leapfrog's phase is half a step behind: cos(w (t + h/2))/cos(w h/2). */
            /* The pull (omega h)² rings a little above omega: sin(w h/2) = omega h/2. */
            double w = 2.0 * asin(0.5 * 6.283185307179586 * 2.0 * h) / h,
                   stretch = (double)at[1].x - (double)at[0].x - 1.0;
            double expected = 0.02 * cos(w * (step + 0.5) * h) / cos(w * 0.5 * h);
            assert_near(stretch, expected, 2e-5);
        }
        lm_world_destroy(world);
    }
}

/* ---- bad arguments ---- */

static void bad_clusters_are_refused(void **context)
{
    (void)context;
    lm_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t good[8] = {0, 1, 2, 3, 3, 2, 1, 0}, beyond[4] = {0, 1, 2, 4};
    lm_world *world = make_world(0.0);
    uint64_t empty = lm_world_hash(world);
    lm_body_id body = {0};
    static const lm_cluster_kind kinds[2] = {LM_CLUSTERS_ELEMENTS, LM_CLUSTERS_RINGS};
    for (int k = 0; k < 2; k++) {
        lm_body_def def = meshed(points, 4, kinds[k], beyond, 1, 4);
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
        static const uint32_t sizes[] = {0, 1, 9, 4000000000u};
        for (int size = 0; size < 4; size++) {
            def = meshed(points, 4, kinds[k], good, 1, sizes[size]);
            assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
        }
        def = meshed(points, 4, kinds[k], NULL, 1, 4);
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
        def = meshed(points, 4, kinds[k], good, 2, 4);
        assert_ok(lm_body_create(world, &def, &body));
        assert_ok(lm_body_destroy(world, body));
    }
    lm_body_def def = meshed(points, 4, LM_CLUSTERS_KMEANS, beyond, 1, 4);
    def.clusters.count = 2;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def = meshed(points, 4, LM_CLUSTERS_KMEANS, NULL, 0, 4);
    def.clusters.count = 0;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def = body_of(points, 4);
    def.clusters.kind = LM_CLUSTERS_KIND_COUNT;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def.clusters.kind = (lm_cluster_kind)-1;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.list_count = 1;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_world_get_bodies(world, NULL, 0), 0);
    assert_true(lm_world_hash(world) == empty);
    lm_clusters plain = lm_body_def_default().clusters;
    assert_int_equal(plain.count, 1);
    assert_int_equal(plain.rings, 1);
    assert_int_equal(plain.element_size, 4);
    lm_world_destroy(world);
}

/* A point twice in one element is a smaller element or a mistake; either way it must not be a region with it twice. */
static void an_element_may_not_count_a_point_twice(void **context)
{
    (void)context;
    lm_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t twice[4] = {0, 1, 1, 3};
    lm_world *world = make_world(0.0);
    static const lm_cluster_kind kinds[3] = {LM_CLUSTERS_ELEMENTS, LM_CLUSTERS_RINGS, LM_CLUSTERS_KMEANS};
    for (int k = 0; k < 3; k++) {
        lm_body_def def = meshed(points, 4, kinds[k], twice, 1, 4);
        lm_body_id body;
        lm_result result = lm_body_create(world, &def, &body);
        if (result == LM_OK) {
            regions r = regions_read(world, body);
            check_regions(&r, 4, false);
            regions_free(&r);
        } else {
            assert_result(result, LM_ERROR_ARGUMENT);
        }
    }
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_lies_in_them),
        cmocka_unit_test(kmeans_finds_heaps),
        cmocka_unit_test(kmeans_groups_are_the_nearest),
        cmocka_unit_test(kmeans_rings_add_neighbours),
        cmocka_unit_test(kmeans_without_elements_uses_the_nearest),
        cmocka_unit_test(kmeans_is_deterministic),
        cmocka_unit_test(kmeans_takes_what_comes),
        cmocka_unit_test(elements_become_regions),
        cmocka_unit_test(rings_are_a_particle_and_its_neighbours),
        cmocka_unit_test(rings_of_a_chain),
        cmocka_unit_test(the_smallest_clusters_work),
        cmocka_unit_test(a_pair_rings_as_asked),
        cmocka_unit_test(bad_clusters_are_refused),
        cmocka_unit_test(an_element_may_not_count_a_point_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
