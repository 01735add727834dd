/*
 * Stiffness, mass and widths of lattices: a bar keeps its sag and its frequency when its spacing changes, masses follow
 * volume or the mesh's vertices, regions may differ in stiffness, and the slowest mode is that of the same clusters.
 */
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *full_cells(const uint32_t n[3])
{
    size_t count = (size_t)n[0] * n[1] * n[2];
    uint8_t *cells = malloc(count);
    memset(cells, 1, count);
    return cells;
}

/* Twelve triangles around a box from the origin on. */
static const uint32_t box_triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                           2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void box_vertices(const double size[3], lm_vec3 vertices[8])
{
    for (int n = 0; n < 8; n++)
        vertices[n] = to_float(ref_v(n & 1 ? size[0] : 0.0, n & 2 ? size[1] : 0.0, n & 4 ? size[2] : 0.0));
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* ---- a clamped bar ---- */

typedef struct bar {
    double size[3], spacing, width_metres;
    uint32_t width; /* with width_metres 0 */
    lm_mode mode;
    double hertz, gravity, slow; /* slow: about the frequency that it has */
} bar;

typedef struct bent {
    double sag, hertz;
    lm_body_info info;
} bent;

static lm_body_id make_bar(lm_world *world, const bar *b, uint32_t *tip)
{
    lm_vec3 vertices[8];
    lm_body_def def = lm_body_def_default();
    box_vertices(b->size, vertices);
    def.lattice.vertices = vertices;
    def.lattice.vertex_count = 8;
    def.lattice.triangles = box_triangles;
    def.lattice.triangle_count = 12;
    def.lattice.spacing = (float)b->spacing;
    def.lattice.width = b->width ? b->width : 1;
    def.lattice.width_metres = (float)b->width_metres;
    def.material.mode = b->mode;
    def.material.hertz = (float)b->hertz;
    def.material.damping_ratio = 0.0f;
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.particles,
                     (uint32_t)((lround(b->size[0] / b->spacing) + 1) * (lround(b->size[1] / b->spacing) + 1) *
                                (lround(b->size[2] / b->spacing) + 1)));
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    uint32_t *held = calloc(info.particles, sizeof *held), count = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if ((double)rest[n].x < 1e-3 * b->spacing) held[count++] = n;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = body;
    pin.particles = held;
    pin.particle_count = count;
    assert_ok(lm_pin_create(world, &pin, &id));
    *tip = info.particles - 1;
    free(rest);
    free(held);
    return body;
}

static double height_of(const lm_world *world, lm_body_id body, uint32_t particle)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    double y = state.x[particle].y;
    state_free(&state);
    return y;
}

/* Lets the bar sink in thick air until it rests, then takes gravity and air away and listens. */
static bent bend(const bar *b)
{
    const double rate = 480.0;
    lm_world *world = make_world(-b->gravity);
    uint32_t tip;
    lm_body_id body = make_bar(world, b, &tip);
    double start = height_of(world, body, tip), before = 0.0, first = -1.0, last = -1.0, crossings = -1.0;
    lm_field_def air = lm_field_def_default();
    lm_field_id field;
    air.kind = LM_FIELD_WIND;
    air.strength = (float)(12.0 * b->slow);
    assert_ok(lm_field_create(world, &air, &field));
    int steps = (int)(1.5 * rate / b->slow);
    for (int n = 0; n < steps; n++) {
        if (n == steps * 9 / 10) before = start - height_of(world, body, tip);
        assert_ok(lm_world_step(world, 1.0 / rate));
    }
    bent result = {.sag = start - height_of(world, body, tip)};
    assert_near(result.sag, before, 0.01 * result.sag); /* it rests */
    assert_ok(lm_field_destroy(world, field));
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, 0.0f, 0.0f}));
    double e = -result.sag;
    for (int n = 1; n < (int)(1.7 * rate / b->slow); n++) {
        assert_ok(lm_world_step(world, 1.0 / rate));
        double now = height_of(world, body, tip) - start;
        if ((now < 0.0) != (e < 0.0)) {
            last = n - 1 + e / (e - now);
            first = first < 0.0 ? last : first;
            crossings += 1.0;
        }
        e = now;
    }
    assert_true(crossings >= 2.0);
    result.hertz = 0.5 * crossings / (last - first) * rate;
    result.info = info_of(world, body);
    lm_world_destroy(world);
    return result;
}

/* The same material at spacings of 1, 1/2 and 1/3 of a quarter of the bar's thickness. */
static void a_bar_keeps_its_sag_and_frequency(void **context)
{
    (void)context;
    static const bar bars[] = {
        {{1.0, 0.2, 0.2}, 0.05, 0.1, 0, LM_MODE_RIGID, 40.0, 0.5, 0.6},
        {{1.0, 0.2, 0.2}, 0.05, 0.05, 0, LM_MODE_LINEAR, 60.0, 0.3, 0.33},
        {{0.8, 0.2, 0.4}, 0.05, 0.1, 0, LM_MODE_LINEAR, 40.0, 0.8, 0.9},
    };
    for (int k = 0; k < 3; k++) {
        bent at[3];
        for (int n = 0; n < 3; n++) {
            bar b = bars[k];
            b.spacing /= n + 1;
            at[n] = bend(&b);
            print_message("bar %d, spacing %.4f, width %u: sag %.4f, %.4f Hz\n", k, b.spacing, at[n].info.width,
                          at[n].sag, at[n].hertz);
            assert_false(at[n].info.stiffness_limited);
            assert_near(at[n].info.reached_hertz, b.hertz, 0.01 * b.hertz);
            assert_near(at[n].info.spacing, b.spacing, 1e-6);
            assert_int_equal(at[n].info.width, (uint32_t)lround(b.width_metres / b.spacing));
        }
        for (int n = 0; n < 3; n++) {
            assert_near(at[n].sag / at[(n + 1) % 3].sag, 1.0, 0.15);
            assert_near(at[n].hertz / at[(n + 1) % 3].hertz, 1.0, 0.15);
        }
        /* And it is the bar of the books (Euler and Bernoulli) with c as the header says. The pinned end holds its regions,
         * which makes the bar shorter by their width, and a region resists being bent itself. */
        const bar *b = &bars[k];
        double c = 6.283185307179586 * b->hertz * b->width_metres / sqrt(3.0), length = b->size[0] - b->width_metres;
        double softer = b->mode == LM_MODE_LINEAR ? sqrt(2.0 / 3.0) : 1.0; /* uniaxial strain, beta 0.5 */
        double ideal = 0.5596 * c * softer * b->size[1] / sqrt(12.0) / (length * length);
        double thin = b->width_metres / b->size[1];
        ideal *= sqrt(1.0 + 0.8 * thin * thin);
        print_message("bar %d: of the books %.4f Hz\n", k, ideal);
        assert_near(at[2].hertz / ideal, 1.0, 0.12);
    }
}

/* With the width in steps a finer lattice is another material: that is what width_metres is for. */
static void a_width_in_steps_is_another_material(void **context)
{
    (void)context;
    bar b = {{1.0, 0.2, 0.2}, 0.05, 0.0, 2, LM_MODE_RIGID, 40.0, 0.1, 0.8};
    bent coarse = bend(&b);
    b.spacing /= 2.0, b.slow = 0.3;
    bent fine = bend(&b);
    assert_true(fine.hertz < 0.6 * coarse.hertz);
    assert_true(fine.sag > 2.0 * coarse.sag);
}

/* Wider than eight steps, the pull has to do it, and it ends at alpha = 1: that is reported. */
static void what_cannot_be_reached_is_reported(void **context)
{
    (void)context;
    bar b = {{0.4, 0.2, 0.2}, 0.05, 0.05, 0, LM_MODE_RIGID, 8.0, 1.0, 1.0};
    for (int n = 0; n < 3; n++) {
        lm_world *world = make_world(0.0);
        uint32_t tip;
        b.width_metres = n == 0 ? 0.05 : n == 1 ? 0.5 : 50.0;
        lm_body_id body = make_bar(world, &b, &tip);
        assert_ok(lm_world_step(world, FRAME));
        lm_body_info info = info_of(world, body);
        assert_int_equal(info.width, n == 0 ? 1 : 8);
        /* 8 Hz of an ideal region are 5.7 and 9.4 Hz of these; alpha 1 is 10 Hz. */
        assert_true(info.stiffness_limited == (n == 2));
        if (n < 2) assert_near(info.reached_hertz, 8.0, 0.01);
        if (n == 2) assert_near(info.reached_hertz, 10.0 * 0.05 * sqrt(72.0) / 50.0, 1e-3);
        lm_world_destroy(world);
    }
}

/* ---- masses ---- */

static void masses_follow_the_volume(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 4, 3};
    const double s = 0.25;
    uint8_t *cells = full_cells(n);
    for (int equal = 0; equal < 2; equal++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.lattice.cells = cells;
        memcpy(def.lattice.counts, n, sizeof n);
        def.lattice.spacing = (float)s;
        def.lattice.mass = equal ? LM_LATTICE_MASS_EQUAL : LM_LATTICE_MASS_VOLUME;
        def.mass = 7.0f;
        lm_body_id body = make_body(world, &def);
        body_state state = state_read(world, body, lm_dvec3_zero());
        motion m = motion_of(&state);
        assert_near(m.mass, 7.0, 1e-5);
        assert_near(info_of(world, body).mass, 7.0, 1e-5);
        for (int a = 0; a < 3; a++) {
            double variance = 0.0, solid = n[a] * n[a] * s * s / 12.0;
            double middle = a == 0 ? m.centre.x : a == 1 ? m.centre.y : m.centre.z;
            assert_near(middle, 0.5 * n[a] * s, 1e-5);
            for (uint32_t i = 0; i < state.count; i++) {
                double at = (a == 0 ? state.x[i].x : a == 1 ? state.x[i].y : state.x[i].z) - middle;
                variance += state.mass[i] * at * at / m.mass;
            }
            /* Equal masses: n (n + 2) / 12, which is 33 to 67 % too much. Eighths of cells: n² / 12 + 1 / 6. */
            if (equal) assert_near(variance, n[a] * (n[a] + 2.0) / 12.0 * s * s, 1e-5);
            if (!equal) assert_near(variance / solid, 1.0, 0.08);
            if (!equal) assert_true(variance < solid + 0.5 * s * s / 6.0);
        }
        if (equal) assert_near(state.mass[0], state.mass[state.count / 2], 1e-9);
        state_free(&state);
        lm_world_destroy(world);
    }
    free(cells);
}

/* One cell: an eighth each. A corner where two cells meet by an edge alone has part of both. */
static void masses_of_few_cells(void **context)
{
    (void)context;
    const uint8_t one[1] = {1}, diagonal[4] = {1, 0, 0, 1};
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    float masses[14];
    def.lattice.spacing = 1.0f;
    def.lattice.cells = one;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 1;
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_get_masses(world, body, masses));
    for (int n = 0; n < 8; n++) assert_near(masses[n], 0.125, 1e-7);
    def.lattice.cells = diagonal;
    def.lattice.counts[0] = def.lattice.counts[1] = 2;
    body = make_body(world, &def);
    assert_int_equal(info_of(world, body).particles, 14);
    assert_ok(lm_body_get_masses(world, body, masses));
    for (int n = 0; n < 14; n++) assert_near(masses[n], n == 3 || n == 10 ? 0.125 : 0.0625, 1e-7);
    lm_world_destroy(world);
}

/* A particle has the value of the nearest vertex: compared with looking at all of them. */
static void masses_come_from_the_nearest_vertex(void **context)
{
    (void)context;
    enum { VERTICES = 400, TRIANGLES = VERTICES - 2 };
    for (int how = 0; how < 3; how++) {
        random_state random = {(uint64_t)(50 + how)};
        lm_vec3 vertices[VERTICES];
        float of_vertices[VERTICES];
        uint32_t triangles[3 * TRIANGLES];
        for (uint32_t n = 0; n < VERTICES; n++) { /* anywhere; on a grid, so that there are ties; or on a line */
            ref_vec at = random_in_cube(&random, 1.0);
            if (how == 1) at = ref_v(floor(4 * at.x) / 4, floor(4 * at.y) / 4, floor(4 * at.z) / 4);
            if (how == 2 && n > 10) at = ref_v(at.x, 0.1, 0.1);
            vertices[n] = to_float(at);
            of_vertices[n] = (float)random_range(&random, 0.5, 20.0);
        }
        for (uint32_t n = 0; n < TRIANGLES; n++)
            for (uint32_t i = 0; i < 3; i++) triangles[3 * n + i] = n + i;
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.lattice.vertices = vertices;
        def.lattice.vertex_count = VERTICES;
        def.lattice.triangles = triangles;
        def.lattice.triangle_count = TRIANGLES;
        def.lattice.spacing = 0.21f;
        def.lattice.mass = LM_LATTICE_MASS_EQUAL;
        def.lattice.vertex_masses = of_vertices;
        def.mass = 5.0f;
        lm_body_id body = make_body(world, &def);
        lm_body_info info = info_of(world, body);
        lm_vec3 *rest = calloc(info.particles, sizeof *rest);
        float *masses = calloc(info.particles, sizeof *masses);
        double *expected = calloc(info.particles, sizeof *expected), sum = 0.0;
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        assert_ok(lm_body_get_masses(world, body, masses));
        for (uint32_t n = 0; n < info.particles; n++) {
            double best = INFINITY, second = INFINITY;
            for (uint32_t v = 0; v < VERTICES; v++) {
                ref_vec d = ref_sub(to_double(vertices[v]), to_double(rest[n]));
                double square = ref_dot(d, d);
                if (square < best)
                    second = best, best = square, expected[n] = (double)of_vertices[v];
                else if (square < second)
                    second = square;
            }
            if (second - best < 1e-6 * best)
                expected[n] = -1.0; /* the lattice knows its corners more exactly than this */
        }
        /* The scale from one that is sure. */
        double scale = 0.0;
        uint32_t sure = 0;
        for (uint32_t n = 0; n < info.particles; n++) {
            sum += (double)masses[n];
            if (expected[n] < 0.0) continue;
            if (scale == 0.0) scale = (double)masses[n] / expected[n];
            assert_near(masses[n], scale * expected[n], 1e-5 * (double)masses[n]);
            sure++;
        }
        assert_true(sure * 4 > info.particles);
        assert_near(sum, 5.0, 1e-4);
        free(rest);
        free(masses);
        free(expected);
        lm_world_destroy(world);
    }
}

static void masses_of_the_caller(void **context)
{
    (void)context;
    const uint32_t n[3] = {2, 2, 1};
    uint8_t *cells = full_cells(n);
    float masses[18], read[18];
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    lm_body_id body;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, n, sizeof n);
    def.lattice.spacing = 0.1f;
    def.masses = masses;
    for (int i = 0; i < 18; i++) masses[i] = 0.1f + 0.01f * (float)i;
    body = make_body(world, &def);
    assert_ok(lm_body_get_masses(world, body, read));
    assert_memory_equal(read, masses, sizeof read);
    masses[3] = 0.0f;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
    free(cells);
}

static void wrong_values_are_refused(void **context)
{
    (void)context;
    lm_vec3 vertices[8];
    float values[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    box_vertices((double[]){1.0, 1.0, 1.0}, vertices);
    const uint8_t one[1] = {1};
    for (int wrong = 0; wrong < 9; wrong++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        lm_body_id body;
        def.lattice.vertices = vertices;
        def.lattice.vertex_count = 8;
        def.lattice.triangles = box_triangles;
        def.lattice.triangle_count = 12;
        def.lattice.spacing = 0.25f;
        if (wrong == 1) def.lattice.width_metres = -1.0f;
        if (wrong == 2) def.lattice.width_metres = NAN;
        if (wrong == 3) def.lattice.width_metres = 2e6f;
        if (wrong == 4) def.lattice.mass = LM_LATTICE_MASS_COUNT;
        if (wrong >= 5) def.lattice.vertex_masses = values;
        values[2] = wrong == 5 ? 0.0f : wrong == 6 ? NAN : wrong == 7 ? 1e-12f : 1.0f;
        if (wrong == 8) {
            def.lattice.vertices = NULL, def.lattice.vertex_count = 0;
            def.lattice.triangles = NULL, def.lattice.triangle_count = 0;
            def.lattice.cells = one;
            def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 1;
        }
        assert_result(lm_body_create(world, &def, &body), wrong ? LM_ERROR_ARGUMENT : LM_OK);
        lm_world_destroy(world);
    }
}

/* ---- regions ---- */

enum { BODY_BOX, BODY_COMB, BODY_HOLES, BODY_PARTS, BODY_COUNT };

static lm_body_def lattice_of(int kind, const uint32_t n[3], uint32_t width, random_state *random, uint8_t *cells)
{
    lm_body_def def = lm_body_def_default();
    for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        uint32_t x = i % n[0], y = i / n[0] % n[1];
        cells[i] = kind == BODY_BOX || (kind == BODY_COMB && (y % 2 == 0 || x < 2)) ||
                   (kind == BODY_HOLES && (random_below(random, 4) || x == 0)) || (kind == BODY_PARTS && x != 3);
    }
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, n, sizeof def.lattice.counts);
    def.lattice.spacing = 0.2f;
    def.lattice.width = width;
    return def;
}

/* The same regions as clusters of the same particles. */
static lm_body_id make_clusters(lm_world *world, lm_body_id lattice, const lm_material *material)
{
    lm_body_info info = info_of(world, lattice);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    float *masses = calloc(info.particles, sizeof *masses), *shares = calloc(info.regions, sizeof *shares);
    uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets), *members = calloc(info.memberships, sizeof *members);
    assert_ok(lm_body_get_rest_positions(world, lattice, rest));
    assert_ok(lm_body_get_masses(world, lattice, masses));
    assert_ok(lm_body_get_regions(world, lattice, offsets, members));
    assert_ok(lm_body_get_region_stiffness(world, lattice, shares));
    lm_body_def def = lm_body_def_default();
    def.points = rest;
    def.point_count = info.particles;
    def.masses = masses;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = info.regions;
    def.material = *material;
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    free(rest);
    free(masses);
    free(shares);
    free(offsets);
    free(members);
    return body;
}

static void set_random_shares(lm_world *world, lm_body_id body, random_state *random)
{
    uint32_t regions = info_of(world, body).regions;
    float *shares = calloc(regions, sizeof *shares), *read = calloc(regions, sizeof *read);
    for (uint32_t r = 0; r < regions; r++) shares[r] = (float)random_range(random, 0.1, 1.0);
    assert_ok(lm_body_set_region_stiffness(world, body, shares));
    assert_ok(lm_body_get_region_stiffness(world, body, read));
    assert_memory_equal(read, shares, regions * sizeof *shares);
    free(shares);
    free(read);
}

/* Small bodies, and ones that are found on coarser lattices first. */
static void slowest_mode_is_that_of_the_clusters(void **context)
{
    (void)context;
    static const uint32_t sizes[3][3] = {{6, 4, 3}, {16, 4, 4}, {26, 7, 7}};
    double worst = 0.0;
    for (int run = 0; run < 16; run++) {
        random_state random = {(uint64_t)(20 + run)};
        int kind = run % BODY_COUNT, large = run == 1 ? 2 : run / BODY_COUNT % 2;
        const uint32_t *n = sizes[run == 0 ? 2 : large];
        uint8_t *cells = calloc((size_t)n[0] * n[1] * n[2], 1);
        lm_world *world = make_world(0.0);
        lm_body_def def = lattice_of(kind, n, 1 + (uint32_t)run % 3, &random, cells);
        def.material.mode = run / 4 % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        lm_body_id body = make_body(world, &def);
        if (run >= 8) set_random_shares(world, body, &random);
        lm_body_id clusters = make_clusters(world, body, &def.material);
        float found, expected;
        assert_ok(lm_body_get_slowest_mode(world, body, &found));
        assert_ok(lm_body_get_slowest_mode(world, clusters, &expected));
        double off = kind == BODY_PARTS ? 0.0 : fabs((double)found / (double)expected - 1.0);
        if (off > 0.03)
            print_error("body %d of %u particles: %g, clusters %g\n", kind, info_of(world, body).particles,
                        (double)found, (double)expected);
        if (kind == BODY_PARTS) assert_at_most(found, 1e-6); /* they move apart freely */
        worst = fmax(worst, off);
        lm_world_destroy(world);
        free(cells);
    }
    print_message("slowest modes differ by at most %.2g\n", worst);
    assert_at_most(worst, 0.03);
}

/* The step against the double-precision reference, which reads the shares. */
static void shares_act_as_in_the_reference(void **context)
{
    (void)context;
    for (int run = 0; run < 8; run++) {
        random_state random = {(uint64_t)(120 + run)};
        const uint32_t n[3] = {6, 5, 3};
        uint8_t cells[90];
        lm_world *world = make_world(-9.81);
        lm_body_def def = lattice_of(run % 3, n, 1 + (uint32_t)run % 4, &random, cells);
        def.material.mode = run / 4 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        lm_body_id body = make_body(world, &def);
        set_random_shares(world, body, &random);
        randomise_state(world, body, &random, 0.03, 1.0);
        ref_body *reference = ref_body_copy(world, body, 0.0);
        for (int step = 0; step < 5; step++) {
            assert_ok(lm_world_step(world, FRAME));
            ref_body_step(reference, FRAME);
        }
        body_state state = state_read(world, body, lm_dvec3_zero());
        double worst = 0.0;
        for (uint32_t i = 0; i < state.count; i++)
            worst = fmax(worst, ref_length(ref_sub(state.x[i], reference->x[i])));
        assert_at_most(worst, 2e-4);
        state_free(&state);
        ref_body_free(reference);
        lm_world_destroy(world);
    }
}

/* Values of particles become means over regions; all of one half is half, and saving keeps them. */
static void particle_values_become_shares(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 5, 3};
    uint8_t cells[90];
    random_state random = {7};
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    lm_body_def def = lattice_of(BODY_COMB, n, 2, &random, cells);
    def.lattice.width_metres = 0.37f;
    lm_body_id body = make_body(world, &def), clusters = make_clusters(world, body, &def.material);
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.width, 2);
    float *values = calloc(info.particles, sizeof *values), *shares = calloc(info.regions, sizeof *shares);
    float *expected = calloc(info.regions, sizeof *expected);
    for (uint32_t i = 0; i < info.particles; i++) values[i] = (float)random_range(&random, 0.0, 1.0);
    assert_ok(lm_body_set_particle_stiffness(world, body, values));
    assert_ok(lm_body_set_particle_stiffness(world, clusters, values));
    assert_ok(lm_body_get_region_stiffness(world, body, shares));
    assert_ok(lm_body_get_region_stiffness(world, clusters, expected));
    for (uint32_t r = 0; r < info.regions; r++) assert_near(shares[r], expected[r], 1e-6);
    shares[1] = 1.5f;
    assert_result(lm_body_set_region_stiffness(world, body, shares), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_destroy(world, clusters));
    randomise_state(world, body, &random, 0.03, 1.0);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    assert_ok(lm_body_get_region_stiffness(other, body, shares));
    for (uint32_t r = 0; r < info.regions; r++) assert_near(shares[r], expected[r], 1e-6);
    for (int step = 0; step < 10; step++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
        assert_true(lm_world_hash(world) == lm_world_hash(other));
    }
    assert_near(info_of(other, body).reached_hertz, def.material.hertz, 1e-3);
    assert_ok(lm_body_set_region_stiffness(world, body, NULL));
    assert_ok(lm_world_step(world, FRAME));
    assert_ok(lm_world_step(other, FRAME));
    assert_true(lm_world_hash(world) != lm_world_hash(other));
    free(bytes);
    free(values);
    free(shares);
    free(expected);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

/* An affine map of the body is what every region then is carried by. */
static void region_transforms_follow_an_affine_map(void **context)
{
    (void)context;
    const uint32_t n[3] = {6, 5, 3};
    const double map[9] = {1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.05, 0.0, 1.2};
    uint8_t cells[90];
    random_state random = {9};
    lm_world *world = make_world(0.0);
    lm_body_def def = lattice_of(BODY_HOLES, n, 2, &random, cells);
    def.pose.position.x = 3.0;
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    lm_vec3 *x = calloc(info.particles, sizeof *x);
    lm_region_transform *t = calloc(info.regions, sizeof *t);
    assert_ok(lm_body_get_rest_positions(world, body, x));
    for (uint32_t i = 0; i < info.particles; i++) {
        double r[3] = {(double)x[i].x, (double)x[i].y, (double)x[i].z}, at[3];
        for (int k = 0; k < 3; k++) at[k] = map[3 * k] * r[0] + map[3 * k + 1] * r[1] + map[3 * k + 2] * r[2];
        x[i] = to_float(ref_v(at[0], at[1], at[2]));
    }
    lm_dvec3 base = {3.0, 0.0, 0.0};
    assert_ok(lm_body_set_state(world, body, base, x, NULL));
    assert_ok(lm_body_get_region_transforms(world, body, base, t));
    for (uint32_t r = 0; r < info.regions; r++) {
        double c[3] = {(double)t[r].centre.x, (double)t[r].centre.y, (double)t[r].centre.z};
        double at[3] = {(double)t[r].constant.x, (double)t[r].constant.y, (double)t[r].constant.z};
        for (int k = 0; k < 9; k++) assert_near(t[r].linear[k], map[k], 1e-5);
        for (int k = 0; k < 3; k++)
            assert_near(at[k], map[3 * k] * c[0] + map[3 * k + 1] * c[1] + map[3 * k + 2] * c[2], 1e-5);
        for (int k = 0; k < 18; k++) assert_true(t[r].quadratic[k] == 0.0f);
    }
    free(x);
    free(t);
    lm_world_destroy(world);
}

/* ---- memory ---- */

typedef struct budget {
    long left; /* allocations that succeed */
} budget;

static void *take(size_t size, size_t alignment, void *user)
{
    budget *b = user;
    return b->left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}

static void give(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* Every allocation of these calls fails once; then nothing has changed. */
static void calls_survive_without_memory(void **context)
{
    (void)context;
    lm_vec3 vertices[8];
    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    box_vertices((double[]){2.5, 1.2, 1.2}, vertices);
    budget b = {1000000};
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.allocator = (lm_allocator){take, give, &b};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    lm_body_def def = lm_body_def_default();
    def.lattice.vertices = vertices;
    def.lattice.vertex_count = 8;
    def.lattice.triangles = box_triangles;
    def.lattice.triangle_count = 12;
    def.lattice.spacing = 0.1f;
    def.lattice.width_metres = 0.2f;
    def.lattice.vertex_masses = values;
    lm_body_id body = {0, 0};
    int failed = 0;
    lm_result result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_create(world, &def, &body);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
    }
    b.left = 1000000;
    uint32_t regions = info_of(world, body).regions;
    float *shares = calloc(regions, sizeof *shares), *read = calloc(regions, sizeof *read), slowest;
    for (uint32_t r = 0; r < regions; r++) shares[r] = 0.5f;
    result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_set_region_stiffness(world, body, shares);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
        assert_ok(lm_body_get_region_stiffness(world, body, read));
        assert_true(read[0] == (result == LM_OK ? 0.5f : 1.0f));
    }
    lm_stats before, after;
    lm_world_get_stats(world, &before);
    result = LM_ERROR_MEMORY;
    for (long n = 0; result != LM_OK; n++, failed++) {
        b.left = n;
        result = lm_body_get_slowest_mode(world, body, &slowest);
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
        lm_world_get_stats(world, &after);
        assert_true(after.memory == before.memory);
    }
    assert_true(slowest > 0.0f && slowest < 1.0f);
    assert_true(failed > 100);
    free(shares);
    free(read);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_keeps_its_sag_and_frequency),
        cmocka_unit_test(a_width_in_steps_is_another_material),
        cmocka_unit_test(what_cannot_be_reached_is_reported),
        cmocka_unit_test(masses_follow_the_volume),
        cmocka_unit_test(masses_of_few_cells),
        cmocka_unit_test(masses_come_from_the_nearest_vertex),
        cmocka_unit_test(masses_of_the_caller),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(slowest_mode_is_that_of_the_clusters),
        cmocka_unit_test(shares_act_as_in_the_reference),
        cmocka_unit_test(particle_values_become_shares),
        cmocka_unit_test(region_transforms_follow_an_affine_map),
        cmocka_unit_test(calls_survive_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
