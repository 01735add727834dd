/*
 * Bodies that break: what is kept, closed surfaces, limits, events, hands that tear, snapshots, threads and instruction sets,
 * and memory that runs out.
 */
#include "test/support/support.h"
#include "test/world/mangle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS 6.283185307179586

/* ---- closed surfaces ---- */

typedef struct surface {
    lm_vec3 vertices[4096];
    uint32_t triangles[3 * 8192];
    uint32_t vertex_count, triangle_count;
} surface;

typedef enum surface_kind { SURFACE_BOX, SURFACE_BALL, SURFACE_RING, SURFACE_COUNT } surface_kind;

static void add_triangle(surface *s, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *to = s->triangles + 3 * s->triangle_count++;
    to[0] = a, to[1] = b, to[2] = c;
}

/* A ring of n x m vertices round a tube. */
static void make_ring(surface *s, uint32_t n, uint32_t m)
{
    for (uint32_t i = 0; i < n * m; i++) {
        double u = RADIANS * (i / m) / n, v = RADIANS * (i % m) / m, r = 0.5 + 0.21 * cos(v);
        s->vertices[s->vertex_count++] = to_float(ref_v(r * cos(u), 0.21 * sin(v), r * sin(u)));
        uint32_t a = i, b = i / m * m + (i + 1) % m, c = (i / m + 1) % n * m + i % m,
                 d = (i / m + 1) % n * m + (i + 1) % m;
        add_triangle(s, a, b, c);
        add_triangle(s, b, d, c);
    }
}

static void make_ball(surface *s, uint32_t n, uint32_t m)
{
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t j = 0; j < m; j++) {
            double u = 0.5 * RADIANS * i / n, v = RADIANS * j / m;
            if ((i == 0 || i == n) && j > 0) continue;
            s->vertices[s->vertex_count++] =
                to_float(ref_v(0.6 * sin(u) * cos(v), 0.6 * cos(u), 0.6 * sin(u) * sin(v)));
        }
    uint32_t last = s->vertex_count - 1;
    for (uint32_t j = 0; j < m; j++) {
        uint32_t k = (j + 1) % m;
        add_triangle(s, 0, 1 + k, 1 + j);
        add_triangle(s, last, last - m + j, last - m + k);
        for (uint32_t i = 0; i + 2 < n; i++) {
            uint32_t a = 1 + i * m + j, b = 1 + i * m + k;
            add_triangle(s, a, b, a + m);
            add_triangle(s, b, b + m, a + m);
        }
    }
}

static void make_surface(surface *s, surface_kind kind)
{
    static const uint32_t box[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                     2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    memset(s, 0, sizeof *s);
    if (kind == SURFACE_BALL) make_ball(s, 18, 29);
    if (kind == SURFACE_RING) make_ring(s, 40, 20);
    if (kind != SURFACE_BOX) return;
    for (int n = 0; n < 8; n++)
        s->vertices[n] = to_float(ref_v(n & 1 ? 1.0 : 0.0, n & 2 ? 0.7 : 0.0, n & 4 ? 0.6 : 0.0));
    s->vertex_count = 8;
    memcpy(s->triangles, box, sizeof box);
    s->triangle_count = 12;
}

static lm_body_def surface_def(const surface *s, float spacing)
{
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.vertices = s->vertices;
    def.lattice.vertex_count = s->vertex_count;
    def.lattice.triangles = s->triangles;
    def.lattice.triangle_count = s->triangle_count;
    def.lattice.spacing = spacing;
    def.lattice.width = 1;
    def.mass = 3.0f;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 20.0f;
    def.material.damping_ratio = 0.3f;
    return def;
}

static lm_world *new_world(uint32_t workers, lm_isa isa)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = workers;
    def.isa = isa;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    def.substeps = 4;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

static lm_body_id new_body(lm_world *world, surface_kind kind, float spacing, const lm_fracture_def *fracture)
{
    surface *s = calloc(1, sizeof *s);
    lm_body_id body;
    make_surface(s, kind);
    lm_body_def def = surface_def(s, spacing);
    assert_ok(lm_body_create(world, &def, &body));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = s->vertices;
    skin.vertex_count = s->vertex_count;
    skin.triangles = s->triangles;
    skin.triangle_count = s->triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    if (fracture) assert_ok(lm_body_set_fracture(world, body, fracture));
    free(s);
    return body;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* ---- edges and volume ---- */

typedef struct edge {
    lm_vec3 from, to;
} edge;

static int compare_edges(const void *a, const void *b) { return memcmp(a, b, sizeof(edge)); }

/* Every edge of a triangle is one of another the other way round, by the places of their vertices. */
static void assert_closed(const lm_vec3 *at, const uint32_t *triangles, uint32_t count)
{
    edge *there = calloc(3 * (size_t)count, sizeof *there), *back = calloc(3 * (size_t)count, sizeof *back);
    for (uint32_t n = 0; n < 3 * count; n++) {
        lm_vec3 a = at[triangles[n]], b = at[triangles[n / 3 * 3 + (n + 1) % 3]];
        there[n] = (edge){a, b};
        back[n] = (edge){b, a};
    }
    qsort(there, 3 * (size_t)count, sizeof *there, compare_edges);
    qsort(back, 3 * (size_t)count, sizeof *back, compare_edges);
    assert_memory_equal(there, back, 3 * (size_t)count * sizeof *there);
    free(there);
    free(back);
}

static double volume_of(const lm_vec3 *at, const uint32_t *triangles, uint32_t count)
{
    double six = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        const lm_vec3 *a = &at[triangles[3 * n]], *b = &at[triangles[3 * n + 1]], *c = &at[triangles[3 * n + 2]];
        six += (double)a->x * ((double)b->y * c->z - (double)b->z * c->y) +
               (double)a->y * ((double)b->z * c->x - (double)b->x * c->z) +
               (double)a->z * ((double)b->x * c->y - (double)b->y * c->x);
    }
    return six / 6.0;
}

/* The surface as it is: closed; returns its volume. */
static double check_surface(const lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *at = calloc(info.skin_vertices, sizeof *at);
    uint32_t *triangles = calloc(3 * (size_t)info.skin_triangles, sizeof *triangles);
    assert_ok(lm_body_get_skin(world, body, info.centre, at, NULL));
    assert_ok(lm_body_get_skin_triangles(world, body, triangles));
    assert_closed(at, triangles, info.skin_triangles);
    double volume = volume_of(at, triangles, info.skin_triangles);
    free(at);
    free(triangles);
    return volume;
}

/* Moves every piece away from the others, turned a little, so that no two have a vertex in one place by chance. */
static void scatter_pieces(lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *x = calloc(info.particles, sizeof *x);
    uint32_t *piece = calloc(info.particles, sizeof *piece);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    assert_ok(lm_body_get_pieces(world, body, piece));
    for (uint32_t n = 0; n < info.particles; n++) {
        assert_true(piece[n] < info.pieces);
        double c = cos(0.1 * (piece[n] % 13)), s = sin(0.1 * (piece[n] % 13));
        x[n] = to_float(ref_v(c * x[n].x - s * x[n].y + 3.0 * (piece[n] % 7),
                              s * x[n].x + c * x[n].y + 3.0 * (piece[n] / 7 % 7), x[n].z + 3.0 * (piece[n] / 49)));
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
    free(x);
    free(piece);
}

/* Every piece is closed, and together they have the volume of the whole: broken in part, and wholly. */
static void pieces_are_closed(void **state)
{
    (void)state;
    static const float spacings[] = {0.1f, 0.083f, 0.051f};
    for (int kind = 0; kind < SURFACE_COUNT; kind++)
        for (int k = 0; k < 3; k++) {
            lm_world *world = new_world(1, LM_ISA_BEST);
            lm_fracture_def def = lm_fracture_def_default();
            lm_body_id body = new_body(world, (surface_kind)kind, spacings[k], &def);
            uint32_t broken, before = info_of(world, body).skin_triangles;
            double whole = check_surface(world, body);
            assert_ok(lm_body_break(world, body, (lm_vec3){0.3f, 0.1f, 0.1f}, 0.25f, &broken));
            assert_true(broken > 0 && info_of(world, body).skin_triangles > before);
            assert_at_most(fabs(check_surface(world, body) / whole - 1.0), 1e-4);
            assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 10.0f, &broken));
            assert_true(info_of(world, body).pieces > 20);
            assert_at_most(fabs(check_surface(world, body) / whole - 1.0), 1e-4);
            scatter_pieces(world, body);
            assert_at_most(fabs(check_surface(world, body) / whole - 1.0), 0.01);
            lm_world_destroy(world);
        }
}

/* No triangle of the scattered pieces is longer than a piece: none is stretched across a gap. */
static void nothing_spans_a_gap(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_fracture_def def = lm_fracture_def_default();
    lm_body_id body = new_body(world, SURFACE_BALL, 0.1f, &def);
    assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 10.0f, NULL));
    scatter_pieces(world, body);
    lm_body_info info = info_of(world, body);
    lm_vec3 *at = calloc(info.skin_vertices, sizeof *at);
    uint32_t *triangles = calloc(3 * (size_t)info.skin_triangles, sizeof *triangles),
             *sources = calloc(info.skin_vertices, sizeof *sources), inner = 0;
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), at, NULL));
    assert_ok(lm_body_get_skin_triangles(world, body, triangles));
    assert_ok(lm_body_get_skin_sources(world, body, sources));
    for (uint32_t n = 0; n < 3 * info.skin_triangles; n++) {
        lm_vec3 a = at[triangles[n]], b = at[triangles[n / 3 * 3 + (n + 1) % 3]];
        assert_at_most(hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z), 0.5);
        bool is = sources[triangles[n]] == LM_SKIN_INNER;
        assert_int_equal(is, sources[triangles[n / 3 * 3]] == LM_SKIN_INNER); /* inner faces share no vertex */
        inner += is;
    }
    assert_true(inner > 0 && inner < 3 * info.skin_triangles);
    free(at), free(triangles), free(sources);
    lm_world_destroy(world);
}

/* ---- breaking by strain ---- */

/* The body pulled longer along x, or along all axes, and spinning. */
static void pull_apart(lm_world *world, lm_body_id body, float by, bool all)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    for (uint32_t n = 0; n < info.particles; n++) {
        v[n] = (lm_vec3){0.3f - 2.0f * x[n].y, 0.1f + 2.0f * x[n].x, 0.2f};
        x[n].x *= 1.0f + by;
        x[n].y *= all ? 1.0f + by : 1.0f;
        x[n].z *= all ? 1.0f + by : 1.0f;
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    free(x), free(v);
}

typedef struct whole_motion {
    double momentum[3], angular[3], mass;
} whole_motion;

static whole_motion whole_motion_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    whole_motion m = {.mass = info.mass};
    lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
    float *mass = calloc(info.particles, sizeof *mass);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    assert_ok(lm_body_get_velocities(world, body, v));
    assert_ok(lm_body_get_masses(world, body, mass));
    for (uint32_t n = 0; n < info.particles; n++) {
        const double p[3] = {x[n].x, x[n].y, x[n].z}, u[3] = {v[n].x, v[n].y, v[n].z};
        for (int i = 0; i < 3; i++) {
            m.momentum[i] += mass[n] * u[i];
            m.angular[i] += mass[n] * (p[(i + 1) % 3] * u[(i + 2) % 3] - p[(i + 2) % 3] * u[(i + 1) % 3]);
        }
    }
    free(x), free(v), free(mass);
    return m;
}

/* Mass, momentum, spin and volume are kept while a body tears. */
static void breaking_keeps(void **state)
{
    (void)state;
    for (int kind = 0; kind < SURFACE_COUNT; kind++) {
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_fracture_def def = lm_fracture_def_default();
        def.limit = 0.06f;
        def.variation = 0.6f;
        lm_body_id body = new_body(world, (surface_kind)kind, 0.08f, &def);
        double volume = check_surface(world, body);
        pull_apart(world, body, 0.12f, true);
        whole_motion before = whole_motion_of(world, body);
        for (int n = 0; n < 120; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
        whole_motion after = whole_motion_of(world, body);
        lm_body_info info = info_of(world, body);
        assert_true(info.broken_links > 50 && info.pieces > 1);
        assert_true(before.mass == after.mass);
        for (int i = 0; i < 3; i++) {
            assert_at_most(fabs(after.momentum[i] - before.momentum[i]), 2e-5 * 3.0);
            assert_at_most(fabs(after.angular[i] - before.angular[i]), 2e-4 * 3.0);
        }
        assert_at_most(fabs(check_surface(world, body) / volume - 1.0), 0.01);
        lm_world_destroy(world);
    }
}

/* A link breaks beyond its limit and not before; events say which, where and how far. */
static void limits_and_events(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_fracture_def def = lm_fracture_def_default();
    def.limit = 0.1f;
    lm_body_id body = new_body(world, SURFACE_BOX, 0.1f, &def);
    pull_apart(world, body, 0.095f, false);
    assert_ok(lm_world_step(world, 1e-6));
    assert_int_equal(lm_world_get_breaks(world, NULL, 0), 0);
    pull_apart(world, body, 0.02f, false); /* now 1.117 times as long */
    assert_ok(lm_world_step(world, 1e-6));
    uint32_t count = lm_world_get_breaks(world, NULL, 0);
    assert_true(count > 0);
    assert_int_equal(count, info_of(world, body).broken_links);
    lm_break *breaks = calloc(count, sizeof *breaks);
    lm_vec3 *rest = calloc(info_of(world, body).particles, sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    assert_int_equal(lm_world_get_breaks(world, breaks, count), count);
    for (uint32_t n = 0; n < count; n++) {
        lm_vec3 a = rest[breaks[n].particles[0]], b = rest[breaks[n].particles[1]];
        assert_int_equal(breaks[n].body.slot, body.slot);
        assert_near(fabs(a.x - b.x), 0.1, 1e-6); /* only along x was it pulled */
        assert_near(breaks[n].strain, 1.095 * 1.02 - 1.0, 1e-4);
        assert_near(breaks[n].limit, 0.1, 1e-7);
        assert_true(breaks[n].point.x > 0.0 && breaks[n].point.x < 1.2);
    }
    assert_ok(lm_world_step(world, 1e-6));
    assert_int_equal(lm_world_get_breaks(world, NULL, 0), 0); /* chips hold: nothing more to break along x */
    free(breaks), free(rest);
    lm_world_destroy(world);
}

/* The least that a link of the last breaks was beyond its limit, and the most; returns how many there were. */
static uint32_t range_of_breaks(const lm_world *world, double range[2])
{
    uint32_t count = lm_world_get_breaks(world, NULL, 0);
    lm_break *breaks = calloc(count + 1, sizeof *breaks);
    lm_world_get_breaks(world, breaks, count);
    range[0] = INFINITY, range[1] = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        range[0] = fmin(range[0], (double)breaks[n].strain / breaks[n].limit);
        range[1] = fmax(range[1], (double)breaks[n].strain / breaks[n].limit);
    }
    free(breaks);
    return count;
}

/* Where more are strained than a step breaks, those farthest beyond their limits go first. */
static void the_worst_break_first(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_fracture_def def = lm_fracture_def_default();
    def.variation = 0.5f;
    lm_body_id body = new_body(world, SURFACE_BOX, 0.042f, &def);
    pull_apart(world, body, 0.2f, true);
    double before = INFINITY, range[2];
    for (int step = 0; step < 3; step++) {
        assert_ok(lm_world_step(world, 1e-9)); /* nothing moves meanwhile */
        assert_int_equal(range_of_breaks(world, range), LM_MAX_BREAKS);
        assert_true(range[1] <= before + 1e-4 && range[0] > 1.0);
        before = range[0];
    }
    lm_world_destroy(world);
}

/* Borders of grains break when nothing else does yet. */
static void grains_break_apart(void **state)
{
    (void)state;
    for (int grains = 0; grains < 2; grains++) {
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_fracture_def def = lm_fracture_def_default();
        def.grain = grains ? 0.4f : 0.0f;
        lm_body_id body = new_body(world, SURFACE_BOX, 0.05f, &def);
        pull_apart(world, body, 0.05f, true);
        assert_ok(lm_world_step(world, 1e-6));
        lm_body_info info = info_of(world, body);
        assert_true(grains ? info.pieces > 2 && info.pieces < 40 : info.broken_links == 0);
        check_surface(world, body);
        lm_world_destroy(world);
    }
}

/* Factors make a part of a body tough. */
static void factors_are_kept_to(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_id body = new_body(world, SURFACE_BOX, 0.1f, NULL);
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    float *factors = calloc(info.particles, sizeof *factors);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++) factors[n] = rest[n].x > 0.45f ? 10.0f : 1.0f;
    lm_fracture_def def = lm_fracture_def_default();
    def.factors = factors;
    assert_ok(lm_body_set_fracture(world, body, &def));
    pull_apart(world, body, 0.2f, false);
    assert_ok(lm_world_step(world, 1e-6));
    uint32_t count = lm_world_get_breaks(world, NULL, 0);
    lm_break *breaks = calloc(count, sizeof *breaks);
    lm_world_get_breaks(world, breaks, count);
    assert_true(count > 0);
    for (uint32_t n = 0; n < count; n++)
        assert_true(fminf(rest[breaks[n].particles[0]].x, rest[breaks[n].particles[1]].x) < 0.45f);
    def.factors = (float[]){-1.0f};
    assert_result(lm_body_set_fracture(world, body, &def), LM_ERROR_ARGUMENT);
    free(breaks), free(rest), free(factors);
    lm_world_destroy(world);
}

/* A hand that pulls hard tears what is held at the other end; one that pulls gently does not. */
static void hands_tear(void **state)
{
    (void)state;
    for (int hard = 0; hard < 2; hard++) {
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_fracture_def fracture = lm_fracture_def_default();
        fracture.limit = 0.25f;
        lm_body_id body = new_body(world, SURFACE_BOX, 0.1f, &fracture);
        lm_body_info info = info_of(world, body);
        lm_vec3 *rest = calloc(info.particles, sizeof *rest);
        uint32_t *held = calloc(info.particles, sizeof *held), count = 0, far = 0;
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        for (uint32_t n = 0; n < info.particles; n++) {
            if (rest[n].x < 0.05f) held[count++] = n;
            far = rest[n].x + rest[n].y > rest[far].x + rest[far].y ? n : far;
        }
        lm_pin_def pin = lm_pin_def_default();
        lm_pin_id pin_id;
        pin.body = body;
        pin.particles = held;
        pin.particle_count = count;
        assert_ok(lm_pin_create(world, &pin, &pin_id));
        lm_drag_def drag = lm_drag_def_default();
        lm_drag_id drag_id;
        drag.body = body;
        drag.particle = far;
        drag.radius = 0.25f;
        drag.target = (lm_dvec3){1.0, 0.7, 0.3};
        drag.max_force = hard ? 1e5f : 2.0f;
        assert_ok(lm_drag_create(world, &drag, &drag_id));
        for (int n = 0; n < 90; n++) {
            assert_ok(lm_drag_set_target(world, drag_id, (lm_dvec3){1.0 + 0.05 * n, 0.7, 0.3}));
            assert_ok(lm_world_step(world, 1.0 / 60.0));
        }
        info = info_of(world, body);
        assert_true(hard ? info.pieces > 1 && info.broken_links > 0 : info.broken_links == 0);
        check_surface(world, body);
        free(rest), free(held);
        lm_world_destroy(world);
    }
}

/* ---- the same everywhere ---- */

static uint64_t run_falling(uint32_t workers, lm_isa isa, uint32_t frames, bool reload, uint32_t *pieces)
{
    lm_world *world = new_world(workers, isa);
    lm_fracture_def def = lm_fracture_def_default();
    def.limit = 0.05f;
    def.variation = 0.5f;
    def.grain = 0.25f;
    lm_body_id body = new_body(world, SURFACE_BALL, 0.07f, &def);
    pull_apart(world, body, 0.05f, true);
    for (uint32_t n = 0; n < frames; n++) {
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        if (reload && (n == 0 || n == frames / 2)) {
            size_t size = lm_world_save_size(world);
            void *bytes = malloc(size);
            uint64_t hash = lm_world_hash(world), shape = info_of(world, body).shape_hash;
            assert_ok(lm_world_save(world, bytes, size));
            lm_world_destroy(world);
            world = new_world(workers, isa);
            assert_ok(lm_world_load(world, bytes, size));
            assert_true(lm_world_hash(world) == hash && info_of(world, body).shape_hash == shape);
            check_surface(world, body);
            free(bytes);
        }
    }
    *pieces = info_of(world, body).pieces;
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void same_everywhere(void **state)
{
    (void)state;
    uint32_t pieces, others;
    uint64_t hash = run_falling(1, LM_ISA_SCALAR, 40, false, &pieces);
    assert_true(pieces > 3);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
        for (uint32_t workers = 1; workers < 4 && lm_isa_supported((lm_isa)isa); workers += 2) {
            assert_true(run_falling(workers, (lm_isa)isa, 40, false, &others) == hash);
            assert_int_equal(pieces, others);
        }
    assert_true(run_falling(1, LM_ISA_BEST, 40, true, &others) == hash);
    assert_int_equal(pieces, others);
}

/* ---- many pieces ---- */

/* A thousand and more pieces at once: each goes its own way, and all stay sound. */
static void a_thousand_pieces(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_fracture_def def = lm_fracture_def_default();
    lm_body_id body = new_body(world, SURFACE_BOX, 0.034f, &def);
    lm_collider_def plane = lm_collider_def_default();
    lm_collider_id id;
    plane.pose.position = (lm_dvec3){0.0, -0.2, 0.0};
    assert_ok(lm_collider_create(world, &plane, &id));
    assert_ok(lm_world_set_gravity(world, (lm_vec3){0.0f, -9.81f, 0.0f}));
    assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 10.0f, NULL));
    assert_true(info_of(world, body).pieces > 1000);
    for (int n = 0; n < 30; n++) {
        lm_totals totals;
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        lm_world_get_totals(world, &totals);
        assert_true(totals.finite);
    }
    check_surface(world, body);
    lm_world_destroy(world);
}

/* How far the particles of pieces are from the piece's own shape, turned and moved to fit best (root of the mean square, in
 * spacings): the share of all particles that are in pieces off by less than a hundredth, and the worst of pieces of one cell. */
static double recovered_share(const lm_world *world, lm_body_id body, double spacing, double *worst)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest), *x = calloc(info.particles, sizeof *x);
    uint32_t *piece = calloc(info.particles, sizeof *piece), good = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    assert_ok(lm_body_get_positions(world, body, info.centre, x));
    assert_ok(lm_body_get_pieces(world, body, piece));
    *worst = 0.0;
    for (uint32_t p = 0; p < info.pieces; p++) {
        ref_vec from = ref_v(0.0, 0.0, 0.0), to = from;
        ref_mat sum = ref_mat_scale(0.0, ref_identity()), u, v;
        double count = 0.0, off = 0.0, s[3];
        for (uint32_t n = 0; n < info.particles; n++) {
            if (piece[n] != p) continue;
            from = ref_add(from, to_double(rest[n]));
            to = ref_add(to, to_double(x[n]));
            count += 1.0;
        }
        from = ref_scale(1.0 / count, from), to = ref_scale(1.0 / count, to);
        for (uint32_t n = 0; n < info.particles; n++)
            if (piece[n] == p)
                sum = ref_mat_add(sum, ref_outer(ref_sub(to_double(x[n]), to), ref_sub(to_double(rest[n]), from)));
        ref_svd(sum, &u, s, &v);
        ref_mat turn = ref_mat_mul(u, ref_transpose(v));
        for (uint32_t n = 0; n < info.particles; n++) {
            if (piece[n] != p) continue;
            ref_vec d = ref_sub(ref_sub(to_double(x[n]), to), ref_mat_vec(turn, ref_sub(to_double(rest[n]), from)));
            off += d.x * d.x + d.y * d.y + d.z * d.z;
        }
        off = sqrt(off / count) / spacing;
        good += off < 0.01 ? (uint32_t)count : 0;
        *worst = count == 8.0 ? fmax(*worst, off) : *worst;
    }
    free(rest), free(x), free(piece);
    return (double)good / info.particles;
}

/* States that no simulation leads to, given to bodies that break: what is left is sound, pieces of a cell have its shape, and all
 * pieces together the volume of the body. Pieces of several cells that come from a grain may stay folded: there is nothing that
 * keeps a strip of cells from lying on itself. */
static void abuse_while_breaking(void **state)
{
    (void)state;
    random_state random = {7};
    for (int kind = 0; kind < MANGLED_COUNT; kind++)
        for (int linear = 0; linear < 2; linear++) {
            lm_world *world = new_world(1, LM_ISA_BEST);
            lm_fracture_def def = lm_fracture_def_default();
            lm_body_id body = new_body(world, SURFACE_RING, 0.1f, &def);
            double volume = check_surface(world, body);
            lm_body_info info = info_of(world, body);
            lm_material material;
            assert_ok(lm_body_get_material(world, body, &material));
            material.mode = linear ? LM_MODE_LINEAR : LM_MODE_RIGID;
            material.damping_ratio = 0.7f;
            assert_ok(lm_body_set_material(world, body, &material));
            lm_vec3 *x = calloc(info.particles, sizeof *x), *still = calloc(info.particles, sizeof *still);
            for (int round = 0; round < 2; round++) {
                assert_ok(lm_body_get_rest_positions(world, body, x));
                for (uint32_t n = 0; n < info.particles; n++) {
                    ref_vec anywhere = ref_v(random_range(&random, -0.7, 0.7), random_range(&random, -0.2, 0.2),
                                             random_range(&random, -0.7, 0.7));
                    x[n] = to_float(mangled((mangled_kind)kind, ref_v(x[n].x, x[n].y, x[n].z), anywhere));
                }
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
                for (int n = 0; n < 60; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
            }
            for (int n = 0; n < 70; n++) { /* what spins is stretched by it: all is stopped, again and again */
                assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, still));
                for (int k = 0; k < 4; k++) assert_ok(lm_world_step(world, 1.0 / 60.0));
            }
            lm_totals totals;
            lm_world_get_totals(world, &totals);
            assert_true(totals.finite);
            info = info_of(world, body);
            bool far = kind == MANGLED_HUGE; /* pieces a thousand kilometres apart lose digits */
            assert_true(kind == MANGLED_RANDOM || kind == MANGLED_HUGE ? info.pieces > 1 : info.pieces >= 1);
            bool folded = kind == MANGLED_POINT || kind == MANGLED_TINY;
            double worst, share = recovered_share(world, body, 0.1, &worst);
            if (!far) assert_at_most(fabs(check_surface(world, body) / volume - 1.0), folded ? 0.1 : 0.01);
            if (!far) assert_at_most(worst, 1e-3);
            if (kind == MANGLED_RANDOM) assert_true(share > 0.85);
            free(x), free(still);
            lm_world_destroy(world);
        }
}

/* A body of one cell that can break is one chip, and goes on as it is. */
static void one_cell(void **state)
{
    (void)state;
    lm_world *world = new_world(1, LM_ISA_BEST);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    lm_body_id body;
    uint32_t broken;
    def.lattice.cells = (uint8_t[]){1};
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = 1;
    def.lattice.spacing = 0.2f;
    assert_ok(lm_body_create(world, &def, &body));
    lm_fracture_def fracture = lm_fracture_def_default();
    assert_ok(lm_body_set_fracture(world, body, &fracture));
    assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 1.0f, &broken));
    assert_int_equal(broken, 0);
    pull_apart(world, body, 1.0f, false);
    for (int n = 0; n < 60; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    assert_int_equal(info_of(world, body).pieces, 1);
    lm_world_destroy(world);
}

/* Transforms of regions that a break has left flat, as lines or as single particles: pieces that were moved as rigid bodies are
 * turned and not stretched, in whatever they have no extent too. */
static void regions_of_few_particles(void **state)
{
    (void)state;
    uint32_t few = 0;
    for (int kind = 0; kind < SURFACE_COUNT; kind++) {
        lm_world *world = new_world(1, LM_ISA_BEST);
        lm_fracture_def fracture = lm_fracture_def_default();
        lm_body_id body = new_body(world, (surface_kind)kind, 0.11f, &fracture);
        assert_ok(lm_body_break(world, body, (lm_vec3){0.0f, 0.0f, 0.0f}, 10.0f, NULL));
        scatter_pieces(world, body);
        lm_body_info info = info_of(world, body);
        lm_region_transform *t = calloc(info.regions, sizeof *t);
        uint32_t *offsets = calloc(info.regions + 1u, sizeof *offsets);
        assert_ok(lm_body_get_region_transforms(world, body, lm_dvec3_zero(), t));
        assert_ok(lm_body_get_regions(world, body, offsets, NULL));
        for (uint32_t r = 0; r < info.regions; r++) {
            few += offsets[r + 1] - offsets[r] <= 4;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double sum = 0.0;
                    for (int k = 0; k < 3; k++) sum += (double)t[r].linear[3 * k + i] * t[r].linear[3 * k + j];
                    assert_true(fabs(sum - (i == j)) < 1e-3);
                }
        }
        free(t);
        free(offsets);
        lm_world_destroy(world);
    }
    assert_true(few > 0);
}

/* ---- memory ---- */

typedef struct budget {
    uint64_t left;
    size_t live;
} budget;

static void *budget_allocate(size_t size, size_t alignment, void *user)
{
    budget *b = user;
    if (b->left == 0) return NULL;
    b->left--;
    b->live += size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void budget_release(void *memory, size_t size, void *user)
{
    budget *b = user;
    b->live -= size;
    free(memory);
}

/* Whatever allocation fails: the call says so, the hash is what it was, and it works when there is memory again. */
static void failed_allocations_lose_nothing(void **state)
{
    (void)state;
    budget b = {.left = UINT64_MAX};
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    def.allocator = (lm_allocator){budget_allocate, budget_release, &b};
    assert_ok(lm_world_create(&def, &world));
    lm_body_id body = new_body(world, SURFACE_BOX, 0.2f, NULL);
    lm_fracture_def fracture = lm_fracture_def_default();
    fracture.grain = 0.3f;
    for (uint64_t allowed = 0;; allowed++) {
        size_t before = b.live;
        b.left = allowed;
        lm_result result = lm_body_set_fracture(world, body, &fracture);
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_int_equal(b.live, before);
    }
    b.left = UINT64_MAX;
    assert_ok(lm_world_step(world, 1e-6)); /* from here on a step has all that it needs but for breaks */
    pull_apart(world, body, 0.2f, false);
    uint64_t hash = lm_world_hash(world), failures = 0;
    for (uint64_t allowed = 0;; allowed++, failures++) {
        b.left = allowed;
        lm_result result = lm_world_step(world, 1e-6);
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_true(lm_world_hash(world) == hash);
        assert_int_equal(info_of(world, body).broken_links, 0);
    }
    assert_true(failures > 20 && info_of(world, body).broken_links > 0);
    b.left = UINT64_MAX;
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    for (uint64_t allowed = 0;; allowed++) {
        size_t before = b.live;
        b.left = allowed;
        lm_result result = lm_world_load(world, bytes, size);
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_int_equal(b.live, before);
    }
    b.left = UINT64_MAX;
    for (int n = 0; n < 10; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    lm_world_destroy(world);
    assert_int_equal(b.live, 0);
    free(bytes);
}

/* The same for the first cut of a lattice that cannot break: it may have got its links, but none is broken. */
static void failed_first_cuts_cut_nothing(void **state)
{
    (void)state;
    static const lm_dvec3 from[2] = {{0.5, -3.0, -3.0}, {0.5, -3.0, 3.0}}, to[2] = {{0.5, 3.0, -3.0}, {0.5, 3.0, 3.0}};
    budget b = {.left = UINT64_MAX};
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    def.allocator = (lm_allocator){budget_allocate, budget_release, &b};
    assert_ok(lm_world_create(&def, &world));
    lm_body_id body = new_body(world, SURFACE_BOX, 0.2f, NULL);
    lm_cut_info cut;
    uint64_t failures = 0;
    for (uint64_t allowed = 0;; allowed++, failures++) {
        b.left = allowed;
        lm_result result = lm_body_cut_sweep(world, body, from, to, 2, &cut);
        if (result == LM_OK) break;
        assert_int_equal(result, LM_ERROR_MEMORY);
        assert_int_equal(info_of(world, body).broken_links, 0);
        assert_int_equal(info_of(world, body).pieces, 1);
    }
    assert_true(failures > 20 && cut.parts == 2 && info_of(world, body).pieces == 2);
    b.left = UINT64_MAX;
    for (int n = 0; n < 10; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    lm_world_destroy(world);
    assert_int_equal(b.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_closed),
        cmocka_unit_test(nothing_spans_a_gap),
        cmocka_unit_test(breaking_keeps),
        cmocka_unit_test(limits_and_events),
        cmocka_unit_test(the_worst_break_first),
        cmocka_unit_test(factors_are_kept_to),
        cmocka_unit_test(hands_tear),
        cmocka_unit_test(same_everywhere),
        cmocka_unit_test(a_thousand_pieces),
        cmocka_unit_test(one_cell),
        cmocka_unit_test(regions_of_few_particles),
        cmocka_unit_test(grains_break_apart),
        cmocka_unit_test(abuse_while_breaking),
        cmocka_unit_test(failed_allocations_lose_nothing),
        cmocka_unit_test(failed_first_cuts_cut_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
