/*
 * Everything that can be asked of a body, asked of lattices: the same answers as from clusters with the same regions, whatever
 * is done to both. And the smallest, longest, heaviest and farthest lattices that there may be.
 */
#include "snapshot/snapshot.h"
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPACING 0.2f

typedef struct pair {
    lm_world *world[2]; /* a lattice, and clusters */
    lm_body_id body[2];
    uint32_t count;
    float *masses;
} pair;

static uint8_t *comb(const uint32_t n[3])
{
    uint8_t *cells = calloc((size_t)n[0] * n[1] * n[2], 1);
    for (uint32_t k = 0; k < n[0] * n[1] * n[2]; k++) cells[k] = k % n[0] % 2 == 0 || k / n[0] % n[1] == 0;
    return cells;
}

/* `heaviest` times as heavy as the lightest: masses between them. 1: all the same. */
static pair pair_make(const uint32_t n[3], uint32_t width, lm_mode mode, double heaviest, random_state *random)
{
    pair p = {{make_world(-9.81), make_world(-9.81)}, {{0, 0}, {0, 0}}, 0, NULL};
    uint8_t *cells = comb(n);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, n, sizeof def.lattice.counts);
    def.lattice.spacing = SPACING;
    def.lattice.width = width;
    def.lattice.mass = LM_LATTICE_MASS_EQUAL; /* as the clusters have */
    def.lattice.first = (lm_vec3){0.3f, -0.1f, 0.7f};
    def.material.mode = mode;
    def.material.hertz = 4.0f;
    def.pose.position = (lm_dvec3){1.0, 2.0, 3.0};
    def.pose.rotation = quaternion(ref_v(0.4, 1.1, -0.3));
    def.velocity = (lm_vec3){0.5f, 1.0f, -0.2f};
    def.spin = (lm_vec3){1.0f, 0.4f, 0.9f};
    def.mass = 5.0f;
    def.contact_radius = 0.05f;
    def.user_data = 77;
    p.body[0] = make_body(p.world[0], &def);
    lm_body_info info;
    assert_ok(lm_body_get_info(p.world[0], p.body[0], &info));
    p.count = info.particles;
    p.masses = calloc(p.count, sizeof *p.masses);
    for (uint32_t i = 0; i < p.count; i++) p.masses[i] = (float)pow(heaviest, random_range(random, 0.0, 1.0));
    if (heaviest > 1.0) {
        assert_ok(lm_body_destroy(p.world[0], p.body[0]));
        def.masses = p.masses;
        p.body[0] = make_body(p.world[0], &def);
    }
    uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets), *members = calloc(info.memberships, sizeof *members);
    lm_vec3 *points = calloc(p.count, sizeof *points);
    assert_ok(lm_body_get_regions(p.world[0], p.body[0], offsets, members));
    assert_ok(lm_body_get_rest_positions(p.world[0], p.body[0], points));
    def.lattice.cells = NULL;
    def.points = points;
    def.point_count = p.count;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = info.regions;
    p.body[1] = make_body(p.world[1], &def);
    free(cells);
    free(offsets);
    free(members);
    free(points);
    return p;
}

static void pair_free(pair *p)
{
    lm_world_destroy(p->world[0]);
    lm_world_destroy(p->world[1]);
    free(p->masses);
}

/* The largest distance between the two, in spacings. */
static double apart(const pair *p)
{
    double worst = 0.0;
    body_state a = state_read(p->world[0], p->body[0], lm_dvec3_zero());
    body_state b = state_read(p->world[1], p->body[1], lm_dvec3_zero());
    for (uint32_t i = 0; i < p->count; i++) {
        double off = ref_length(ref_sub(a.x[i], b.x[i])) / (double)SPACING;
        assert_true(isfinite(off));
        worst = fmax(worst, off);
        assert_near(a.mass[i], b.mass[i], 1e-6 * b.mass[i]);
    }
    state_free(&a);
    state_free(&b);
    return worst;
}

static void compare_info(const pair *p)
{
    lm_body_info a, b;
    assert_ok(lm_body_get_info(p->world[0], p->body[0], &a));
    assert_ok(lm_body_get_info(p->world[1], p->body[1], &b));
    assert_int_equal(a.particles, b.particles);
    assert_int_equal(a.regions, b.regions);
    assert_int_equal(a.memberships, b.memberships);
    assert_int_equal(a.user_data, b.user_data);
    assert_near(a.mass, b.mass, 1e-5 * (double)b.mass);
    assert_near(a.contact_radius, b.contact_radius, 0.0);
    assert_near(a.reached_hertz, b.reached_hertz, 1e-4);
    const double x[] = {a.centre.x,
                        a.centre.y,
                        a.centre.z,
                        a.lower.x,
                        a.lower.y,
                        a.lower.z,
                        a.upper.x,
                        a.upper.y,
                        a.upper.z,
                        (double)a.velocity.x,
                        (double)a.velocity.y,
                        (double)a.spin.z};
    const double y[] = {b.centre.x,
                        b.centre.y,
                        b.centre.z,
                        b.lower.x,
                        b.lower.y,
                        b.lower.z,
                        b.upper.x,
                        b.upper.y,
                        b.upper.z,
                        (double)b.velocity.x,
                        (double)b.velocity.y,
                        (double)b.spin.z};
    for (int k = 0; k < 12; k++) assert_near(x[k], y[k], 5e-3);
}

static void compare_picks(const pair *p, random_state *random)
{
    uint32_t hits = 0;
    lm_body_info info;
    assert_ok(lm_body_get_info(p->world[1], p->body[1], &info));
    for (int n = 0; n < 200; n++) {
        ref_vec from = random_in_cube(random, 5.0), to = random_in_cube(random, 0.6);
        lm_dvec3 origin = {info.centre.x + from.x, info.centre.y + from.y, info.centre.z + from.z};
        lm_vec3 along = to_float(ref_sub(to, from));
        lm_ray_hit hit[2];
        bool is[2] = {lm_world_cast_ray(p->world[0], &(lm_ray){origin, along, 100.0f, UINT32_MAX, 0}, &hit[0]),
                      lm_world_cast_ray(p->world[1], &(lm_ray){origin, along, 100.0f, UINT32_MAX, 0}, &hit[1])};
        if (is[0] != is[1]) continue; /* a ray that grazes a sphere */
        if (!is[0]) continue;
        hits++;
        assert_int_equal(hit[0].body.slot, p->body[0].slot);
        assert_true(hit[0].particle < p->count);
    }
    assert_true(hits > 10);
}

static void surround(pair *p)
{
    for (int k = 0; k < 2; k++) {
        lm_collider_def floor = lm_collider_def_default();
        lm_collider_id id;
        assert_ok(lm_collider_create(p->world[k], &floor, &id));
        floor.shape = LM_SHAPE_SPHERE;
        floor.pose.position = (lm_dvec3){2.0, 0.0, 4.0};
        floor.radius = 0.6f;
        assert_ok(lm_collider_create(p->world[k], &floor, &id));
        for (int kind = 0; kind < LM_FIELD_KIND_COUNT; kind++) {
            lm_field_def field = lm_field_def_default();
            lm_field_id field_id;
            field.kind = (lm_field_kind)kind;
            field.vector = (lm_vec3){0.5f, 0.0f, 0.1f};
            field.strength = 0.8f;
            field.position = (lm_dvec3){2.0, 2.0, 2.0};
            field.radius = 5.0f;
            assert_ok(lm_field_create(p->world[k], &field, &field_id));
        }
    }
}

/* Everything that pushes, pulls and holds, on both. */
static void handle(pair *p, uint32_t frame)
{
    static lm_drag_id drag[2];
    static lm_pin_id pin[2];
    for (int k = 0; k < 2; k++) {
        lm_world *world = p->world[k];
        lm_body_id body = p->body[k];
        if (frame % 5 == 1)
            assert_ok(lm_body_add_particle_force(world, body, frame % p->count, (lm_vec3){3.0f, 1.0f, -2.0f}));
        if (frame % 7 == 2) assert_ok(lm_body_add_force(world, body, (lm_vec3){0.0f, 20.0f, 5.0f}));
        if (frame == 4) assert_ok(lm_body_add_particle_impulse(world, body, p->count - 1, (lm_vec3){0.02f, 0, 0.01f}));
        if (frame == 6) {
            lm_drag_def def = lm_drag_def_default();
            def.body = body;
            def.particle = p->count / 2;
            def.radius = 0.5f;
            def.target = (lm_dvec3){1.0, 3.0, 3.0};
            assert_ok(lm_drag_create(world, &def, &drag[k]));
        }
        if (frame == 14) assert_ok(lm_drag_set_target(world, drag[k], (lm_dvec3){1.5, 2.5, 3.0}));
        if (frame == 20) assert_ok(lm_drag_destroy(world, drag[k]));
        if (frame == 22) {
            lm_pin_def def = lm_pin_def_default();
            def.body = body;
            def.particles = (const uint32_t[]){0, 1, p->count - 2};
            def.particle_count = 3;
            assert_ok(lm_pin_create(world, &def, &pin[k]));
        }
        if (frame == 30) assert_ok(lm_pin_destroy(world, pin[k]));
    }
}

static void same_as_clusters(void **state)
{
    (void)state;
    random_state random = {21};
    for (int n = 0; n < 8; n++) {
        uint32_t x = 3 + random_below(&random, 5), y = 2 + random_below(&random, 3), z = 1 + random_below(&random, 3);
        const uint32_t size[3] = {x, y, z};
        uint32_t width = 1 + random_below(&random, 4);
        pair p = pair_make(size, width, n % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID, n < 4 ? 1.0 : 20.0, &random);
        surround(&p);
        assert_at_most(apart(&p), 1e-5);
        double worst = 0.0;
        for (uint32_t frame = 0; frame < 40; frame++) {
            handle(&p, frame);
            for (int k = 0; k < 2; k++) assert_ok(lm_world_step(p.world[k], FRAME));
            worst = fmax(worst, apart(&p));
        }
        print_message("%u x %u x %u, width %u: %.2g spacings from clusters\n", size[0], size[1], size[2], width, worst);
        assert_at_most(worst, 0.02);
        compare_info(&p);
        compare_picks(&p, &random);
        lm_totals a, b;
        lm_world_get_totals(p.world[0], &a);
        lm_world_get_totals(p.world[1], &b);
        assert_true(a.finite && b.finite);
        assert_near(a.momentum.y, b.momentum.y, 1e-2);
        lm_stats s[2];
        for (int k = 0; k < 2; k++) lm_world_get_stats(p.world[k], &s[k]);
        assert_near(s[0].outside_impulse.x, s[1].outside_impulse.x, 1e-2);
        assert_near(s[0].outside_impulse.y, s[1].outside_impulse.y, 1e-2);
        assert_int_equal(s[0].contacts, s[1].contacts);
        assert_int_equal(s[0].regions, s[1].regions);
        pair_free(&p);
    }
}

/* One particle a billion times as heavy as others, also beside gaps, where its share is taken out of sums again. */
static void masses_that_differ(void **state)
{
    (void)state;
    random_state random = {22};
    static const double heaviest[] = {1e3, 1e6, 1e9};
    for (int n = 0; n < 9; n++) {
        const uint32_t size[3] = {7, 3, 2};
        pair p = pair_make(size, 1 + (uint32_t)n / 3, n % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID, heaviest[n % 3], &random);
        randomise_state(p.world[0], p.body[0], &random, 0.02, 0.2);
        lm_vec3 *x = calloc(p.count, sizeof *x), *v = calloc(p.count, sizeof *v);
        assert_ok(lm_body_get_positions(p.world[0], p.body[0], lm_dvec3_zero(), x));
        assert_ok(lm_body_get_velocities(p.world[0], p.body[0], v));
        for (int k = 0; k < 2; k++) assert_ok(lm_body_set_state(p.world[k], p.body[k], lm_dvec3_zero(), x, v));
        for (int step = 0; step < 20; step++)
            for (int k = 0; k < 2; k++) assert_ok(lm_world_step(p.world[k], FRAME));
        double off = apart(&p);
        print_message("masses 1 to %g, width %d: %.2g spacings from clusters\n", heaviest[n % 3], 1 + n / 3, off);
        assert_at_most(off, 0.05);
        free(x);
        free(v);
        pair_free(&p);
    }
}

/* ---- the smallest, longest, farthest ---- */

static lm_body_def def_of(const uint8_t *cells, uint32_t x, uint32_t y, uint32_t z, uint32_t width, double spacing)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.cells = cells;
    def.lattice.counts[0] = x, def.lattice.counts[1] = y, def.lattice.counts[2] = z;
    def.lattice.width = width;
    def.lattice.spacing = (float)spacing;
    def.material.damping_ratio = 0.3f;
    return def;
}

/* Dropped on a floor and turned about, it stays finite and comes to itself again. */
static void live(const lm_body_def *def, int steps, double tolerance)
{
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, def);
    double s = (double)def->lattice.spacing;
    for (int step = 0; step < steps; step++) assert_ok(lm_world_step(world, FRAME));
    assert_true(motion_read(world, body, lm_dvec3_zero()).finite);
    assert_at_most(deformation(world, body) / s, tolerance);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    uint64_t hash = lm_world_hash(world);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(world, bytes, size));
    assert_true(lm_world_hash(world) == hash);
    assert_ok(lm_world_step(world, FRAME));
    free(bytes);
    lm_world_destroy(world);
}

static void smallest_and_longest(void **state)
{
    (void)state;
    uint8_t *cells = malloc(65536);
    memset(cells, 1, 65536);
    for (uint32_t width = 1; width <= 8; width++) {
        lm_body_def def = def_of(cells, 1, 1, 1, width, 0.1);
        def.spin = (lm_vec3){3.0f, 1.0f, 0.0f};
        live(&def, 100, 0.1);
    }
    for (int axis = 0; axis < 3; axis++) {
        lm_body_def def = def_of(cells, axis == 0 ? 65536 : 1, axis == 1 ? 65536 : 1, axis == 2 ? 65536 : 1, 1, 0.1);
        def.velocity = (lm_vec3){1.0f, 2.0f, 0.0f};
        def.pose.rotation = quaternion(ref_v(0.3, 0.2, 0.5));
        live(&def, 10, 0.05);
    }
    free(cells);
}

static void tiny_huge_and_far(void **state)
{
    (void)state;
    static const uint8_t cells[24] = {1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1};
    static const double spacings[] = {1e-9, 1e-6, 1e-3, 1e3, 1e5, 1e6};
    for (int n = 0; n < 6; n++)
        for (int mode = 0; mode < 2; mode++) {
            lm_body_def def = def_of(cells, 4, 3, 2, 1 + (uint32_t)mode, spacings[n]);
            def.material.mode = mode ? LM_MODE_LINEAR : LM_MODE_RIGID;
            live(&def, 100, 1e-3);
            def.spin = (lm_vec3){0.0f, 1.0f, 0.5f};
            live(&def, 100, 0.05);
        }
    lm_body_def def = def_of(cells, 4, 3, 2, 1, 1000.0);
    def.lattice.first = (lm_vec3){9.9e8f, -9.9e8f, 0.0f}; /* rest positions are told to 32 m here */
    live(&def, 50, 0.05);
    def.pose.position = (lm_dvec3){1e11, 0.0, 0.0};
    live(&def, 50, 0.05);
    for (int n = 0; n < 4; n++) {
        static const double masses[] = {1e-6, 1e-3, 1e6, 1e9};
        def = def_of(cells, 4, 3, 2, 2, 0.1);
        def.mass = (float)masses[n];
        def.spin.y = 2.0f;
        live(&def, 50, 0.1);
    }
}

static void refused(void **state)
{
    (void)state;
    uint8_t cells[8] = {1, 1, 1, 1, 1, 1, 1, 1}, none[8] = {0};
    lm_world *world = make_world(0.0);
    lm_body_id body;
    const lm_body_def sound = def_of(cells, 2, 2, 2, 1, 0.1);
    const float bad_spacings[] = {0.0f, -1.0f, 1e-10f, 2e6f, INFINITY, NAN};
    for (size_t n = 0; n < sizeof bad_spacings / sizeof *bad_spacings; n++) {
        lm_body_def def = sound;
        def.lattice.spacing = bad_spacings[n];
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    }
    const lm_vec3 bad_firsts[] = {{NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, 1.1e9f}, {1e6f, 0, 0}};
    for (size_t n = 0; n < sizeof bad_firsts / sizeof *bad_firsts; n++) {
        lm_body_def def = sound;
        def.lattice.first = bad_firsts[n];
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    }
    lm_body_def def = sound;
    def.lattice.cells = none;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def = sound;
    def.lattice.counts[1] = 0;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def = sound;
    def.lattice.width = 9;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    float masses[27];
    for (int n = 0; n < 27; n++) masses[n] = n == 13 ? NAN : 1.0f;
    def = sound;
    def.masses = masses;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    masses[13] = 1e-12f;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    masses[13] = 2.0f;
    assert_ok(lm_body_create(world, &def, &body));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_near(info.mass, 28.0, 1e-4);
    /* States that are not finite change nothing. */
    uint64_t hash = lm_world_hash(world);
    lm_vec3 x[27];
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    x[5].y = NAN;
    assert_result(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL), LM_ERROR_ARGUMENT);
    x[5].y = 2e9f;
    assert_result(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL), LM_ERROR_ARGUMENT);
    assert_true(lm_world_hash(world) == hash);
    assert_result(lm_body_add_particle_force(world, body, 27, (lm_vec3){0, 0, 0}), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
}

/* A mesh far from its own frame, and one beyond all measure. */
static void meshes_far_away(void **state)
{
    (void)state;
    lm_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    lm_world *world = make_world(0.0);
    lm_body_id body;
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.lattice.vertices = corners, def.lattice.vertex_count = 4;
    def.lattice.triangles = faces, def.lattice.triangle_count = 4;
    def.lattice.spacing = 1e30f; /* one cell of that size would hold it */
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
    def.lattice.spacing = 0.3f; /* multiples of it are rounded by a hundredth of it there */
    for (int n = 0; n < 4; n++) corners[n].x += 1e5f;
    assert_ok(lm_body_create(world, &def, &body));
    for (int step = 0; step < 20; step++) assert_ok(lm_world_step(world, FRAME));
    lm_vec3 x[200], rest[200];
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(info.particles <= 200);
    assert_ok(lm_body_get_positions(world, body, (lm_dvec3){1e5, 0, 0}, x));
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++) { /* it is made in double precision, and keeps its shape */
        float spacings = (x[n].x - x[0].x) / 0.3f;
        assert_near(spacings, roundf(spacings), 1e-3);
        assert_near(x[n].y, rest[n].y, 1e-3);
    }
    for (int n = 0; n < 4; n++) corners[n].x *= 1e30f;
    assert_true(lm_body_create(world, &def, &body) != LM_OK);
    lm_world_destroy(world);
}

/* ---- mixed worlds ---- */

static lm_body_id add_comb(lm_world *world, uint32_t width, lm_mode mode, double x)
{
    const uint32_t n[3] = {9, 4, 2};
    uint8_t *cells = comb(n);
    lm_body_def def = def_of(cells, n[0], n[1], n[2], width, 0.15);
    def.material.mode = mode;
    def.pose.position = (lm_dvec3){x, 1.0, 0.0};
    def.spin = (lm_vec3){1.0f, 2.0f, (float)x};
    lm_body_id body = make_body(world, &def);
    free(cells);
    return body;
}

static lm_body_id add_cloud(lm_world *world, double z)
{
    random_state random = {9};
    sample s = sample_make(SAMPLE_GRID, &random);
    s.def.pose.position = (lm_dvec3){0.0, 1.0, z};
    lm_body_id body = make_body(world, &s.def);
    sample_free(&s);
    return body;
}

/* Clusters, small lattices and one of several slabs, while bodies come and go; `save`: through a snapshot half-way. */
static uint64_t come_and_go(lm_isa isa, uint32_t workers, bool save)
{
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &floor, &id));
    uint8_t *cells = malloc(28 * 28 * 32);
    memset(cells, 1, 28 * 28 * 32);
    lm_body_def large = def_of(cells, 28, 28, 32, 1, 0.1);
    large.pose.position = (lm_dvec3){-8.0, 0.2, 0.0};
    lm_body_id cloud = add_cloud(world, 2.0), small = add_comb(world, 1, LM_MODE_RIGID, 0.0);
    lm_body_id big = make_body(world, &large), other = add_comb(world, 3, LM_MODE_LINEAR, 3.0);
    for (int frame = 0; frame < 20; frame++) {
        if (frame == 3) assert_ok(lm_body_destroy(world, cloud));
        if (frame == 5) assert_ok(lm_body_destroy(world, small));
        if (frame == 6) small = add_comb(world, 2, LM_MODE_RIGID, 1.0);
        if (frame == 8) cloud = add_cloud(world, -3.0);
        if (frame == 11) assert_ok(lm_body_destroy(world, big));
        if (frame == 13) big = make_body(world, &large);
        if (frame == 15) assert_ok(lm_body_add_particle_force(world, other, 4, (lm_vec3){5.0f, 0.0f, 0.0f}));
        if (frame == 10 || frame == 15) {
            size_t size = lm_world_save_size(world);
            void *bytes = malloc(size);
            assert_ok(lm_world_save(world, bytes, size));
            if (save) assert_ok(lm_world_load(world, bytes, size));
            free(bytes);
        }
        assert_ok(lm_world_step(world, FRAME));
    }
    uint64_t hash = lm_world_hash(world);
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
    lm_world_destroy(world);
    free(cells);
    return hash;
}

static void comings_and_goings(void **state)
{
    (void)state;
    uint64_t expected = come_and_go(LM_ISA_BEST, 1, false);
    for (uint32_t workers = 1; workers <= 5; workers++)
        assert_true(come_and_go(LM_ISA_BEST, workers, workers % 2) == expected);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        if (lm_isa_supported((lm_isa)isa)) assert_true(come_and_go((lm_isa)isa, 3, isa % 2) == expected);
}

/* Every byte of a lattice's snapshot, changed behind the checksum's back: refused, or a world that holds together. */
static void damaged_snapshots(void **state)
{
    (void)state;
    lm_world *world = make_world(-9.81), *other = make_world(0.0);
    lm_body_id body = add_comb(world, 2, LM_MODE_LINEAR, 0.0);
    lm_vec3 corners[3] = {{0.05f, 0.06f, 0.0f}, {0.02f, 0.1f, 0.1f}, {0.3f, 0.0f, 0.07f}};
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = corners, skin.vertex_count = 3;
    skin.triangles = (const uint32_t[]){0, 1, 2}, skin.triangle_count = 1;
    assert_ok(lm_body_set_skin(world, body, &skin));
    assert_ok(lm_world_step(world, FRAME));
    size_t size = lm_world_save_size(world), taken = 0;
    unsigned char *bytes = malloc(size), *changed = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    lm_body_info info;
    for (size_t n = LMI_SNAPSHOT_HEADER; n < size; n++) {
        static const unsigned char flips[3] = {0xff, 0x01, 0x80};
        memcpy(changed, bytes, size);
        changed[n] ^= flips[n % 3];
        lmi_snapshot_seal(changed, size);
        lm_result result = lm_world_load(other, changed, size);
        assert_true(result == LM_OK || result == LM_ERROR_FORMAT);
        if (result != LM_OK || !lm_body_is_valid(other, body)) continue;
        taken++;
        assert_ok(lm_body_get_info(other, body, &info));
        uint32_t offsets[4], riders[24];
        if (info.skin_vertices == 3) {
            assert_ok(lm_body_get_skin_riders(other, body, offsets, NULL, NULL));
            assert_ok(lm_body_get_skin_riders(other, body, NULL, riders, NULL));
            for (uint32_t k = 0; k < offsets[3]; k++) assert_true(riders[k] < info.particles);
        }
        if (lm_world_get_substeps(other) > 4) continue;
        for (int step = 0; step < 2; step++) assert_ok(lm_world_step(other, FRAME));
        lm_totals totals;
        lm_world_get_totals(other, &totals);
        assert_true(totals.finite);
    }
    print_message("%zu of %zu changes made another world\n", taken, size - LMI_SNAPSHOT_HEADER);
    assert_true(taken > 0);
    free(bytes);
    free(changed);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_clusters),
        cmocka_unit_test(masses_that_differ),
        cmocka_unit_test(smallest_and_longest),
        cmocka_unit_test(tiny_huge_and_far),
        cmocka_unit_test(refused),
        cmocka_unit_test(meshes_far_away),
        cmocka_unit_test(comings_and_goings),
        cmocka_unit_test(damaged_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
