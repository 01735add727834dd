#include "test/support/support.h"
#include "test/reference/reference.h"

#include <stdlib.h>
#include <string.h>

void expect_at_most(double value, double limit, const char *text, const char *file, int line)
{
    if (value <= limit) return; /* false for NaN as well */
    print_error("%s:%d: %s is %.9g, must be at most %.9g\n", file, line, text, value, limit);
    _fail(file, line);
}

void expect_near(double value, double expected, double tolerance, const char *text, const char *file, int line)
{
    if (fabs(value - expected) <= tolerance) return;
    print_error("%s:%d: %s is %.9g, must be %.9g to %.3g\n", file, line, text, value, expected, tolerance);
    _fail(file, line);
}

void expect_result(lm_result result, lm_result expected, const char *text, const char *file, int line)
{
    if (result == expected) return;
    print_error("%s:%d: %s gave \"%s\", must give \"%s\"\n", file, line, text, lm_result_text(result),
                lm_result_text(expected));
    _fail(file, line);
}

/* ---- random numbers ---- */

uint64_t random_bits(random_state *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_range(random_state *random, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(random) >> 11) * 0x1p-53);
}

uint32_t random_below(random_state *random, uint32_t limit) { return (uint32_t)(random_bits(random) % limit); }

ref_vec random_in_box(random_state *random, ref_vec low, ref_vec high)
{
    ref_vec a;
    a.x = random_range(random, low.x, high.x);
    a.y = random_range(random, low.y, high.y);
    a.z = random_range(random, low.z, high.z);
    return a;
}

ref_vec random_in_cube(random_state *random, double half)
{
    return random_in_box(random, ref_v(-half, -half, -half), ref_v(half, half, half));
}

ref_mat random_rotation(random_state *random)
{
    for (;;) {
        double q[4], length = 0.0;
        for (int k = 0; k < 4; k++) {
            q[k] = random_range(random, -1.0, 1.0);
            length += q[k] * q[k];
        }
        if (length > 0.01 && length < 1.0) return ref_rotation_of_quaternion(q[0], q[1], q[2], q[3]);
    }
}

lm_quat quaternion(ref_vec w)
{
    double angle = ref_length(w);
    if (angle == 0.0) return (lm_quat){0, 0, 0, 1};
    lm_vec3 axis = to_float(ref_scale(sin(0.5 * angle) / angle, w));
    return (lm_quat){axis.x, axis.y, axis.z, (float)cos(0.5 * angle)};
}

/* ---- sample bodies ---- */

const char *sample_name(sample_kind kind)
{
    static const char *const names[SAMPLE_KIND_COUNT] = {"box",   "blob", "sheet", "stick", "cell", "grid",
                                                         "strip", "rod",  "lists", "large", "tets"};
    return names[kind];
}

lm_vec3 *grid_points(uint32_t nx, uint32_t ny, uint32_t nz, double spacing)
{
    lm_vec3 *points = calloc((size_t)nx * ny * nz, sizeof *points);
    uint32_t n = 0;
    for (uint32_t z = 0; z < nz; z++)
        for (uint32_t y = 0; y < ny; y++)
            for (uint32_t x = 0; x < nx; x++)
                points[n++] =
                    (lm_vec3){(float)(spacing * (x - 0.5 * (nx - 1))), (float)(spacing * (y - 0.5 * (ny - 1))),
                              (float)(spacing * (z - 0.5 * (nz - 1)))};
    return points;
}

uint32_t *grid_tets(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t *count)
{
    uint32_t *tets = calloc((size_t)nx * ny * nz * 24, sizeof *tets), n = 0;
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    const uint32_t step[3] = {1, nx, nx * ny};
    for (uint32_t z = 0; z + 1 < nz; z++)
        for (uint32_t y = 0; y + 1 < ny; y++)
            for (uint32_t x = 0; x + 1 < nx; x++)
                for (int t = 0; t < 6; t++, n += 4) {
                    uint32_t *tet = tets + n;
                    tet[0] = (z * ny + y) * nx + x;
                    for (int i = 0; i < 3; i++) tet[i + 1] = tet[i] + step[orders[t][i]];
                    uint32_t second = tet[1];
                    if (t > 2) tet[1] = tet[2], tet[2] = second; /* an odd order: two corners change places */
                }
    *count = n / 4;
    return tets;
}

/* Irregular tetrahedra, none of them near to flat. */
static void use_tets(sample *s, random_state *random)
{
    s->points = grid_points(5, 4, 3, 0.1);
    s->count = 60;
    for (uint32_t i = 0; i < s->count; i++)
        s->points[i] = to_float(ref_add(to_double(s->points[i]), random_in_cube(random, 0.015)));
    s->tets = grid_tets(5, 4, 3, &s->def.tets.tet_count);
    s->def.tets.tets = s->tets;
    s->def.tets.vertices = s->points;
    s->def.tets.vertex_count = s->count;
}

static void use_grid(sample *s, uint32_t nx, uint32_t ny, uint32_t nz)
{
    s->points = grid_points(nx, ny, nz, 0.1);
    s->count = nx * ny * nz;
}

static void use_blob(sample *s, random_state *random, uint32_t count)
{
    s->points = calloc(count, sizeof *s->points);
    s->masses = calloc(count, sizeof *s->masses);
    s->count = count;
    for (uint32_t i = 0; i < count; i++) {
        ref_vec at;
        do at = random_in_cube(random, 0.3);
        while (ref_length(at) > 0.3);
        s->points[i] = to_float(at);
        s->masses[i] = (float)random_range(random, 0.2, 2.0);
    }
}

static void use_counts(sample *s, uint32_t nx, uint32_t ny, uint32_t nz)
{
    s->def.clusters.counts[0] = nx;
    s->def.clusters.counts[1] = ny;
    s->def.clusters.counts[2] = nz;
}

/* Seven lists over the first nine tenths of the points: balls of the rest shape around random points, so that their
 * lengths differ and they overlap, and one in which all of these points are, so that the body holds together. */
static void use_lists(sample *s, random_state *random)
{
    enum { LISTS = 7 };
    uint32_t used = s->count - s->count / 10;
    s->offsets = calloc(LISTS + 1, sizeof *s->offsets);
    s->members = calloc((size_t)LISTS * s->count, sizeof *s->members);
    uint32_t n = 0;
    for (uint32_t list = 0; list < LISTS; list++) {
        ref_vec centre = to_double(s->points[random_below(random, used)]);
        double radius = list == 0 ? 1e9 : random_range(random, 0.25, 0.4);
        for (uint32_t i = 0; i < used; i++)
            if (ref_length(ref_sub(to_double(s->points[i]), centre)) < radius) s->members[n++] = i;
        s->offsets[list + 1] = n;
    }
    s->def.clusters.kind = LM_CLUSTERS_LISTS;
    s->def.clusters.offsets = s->offsets;
    s->def.clusters.members = s->members;
    s->def.clusters.list_count = LISTS;
}

sample sample_make(sample_kind kind, random_state *random)
{
    sample s = {.def = lm_body_def_default()};
    s.def.mask = 0; /* several pass through each other */
    switch (kind) {
    case SAMPLE_BOX: use_grid(&s, 4, 3, 3); break;
    case SAMPLE_BLOB: use_blob(&s, random, 40); break;
    case SAMPLE_SHEET: use_grid(&s, 6, 1, 5); break;
    case SAMPLE_STICK: use_grid(&s, 12, 2, 2); break;
    case SAMPLE_CELL: use_grid(&s, 2, 2, 2); break;
    case SAMPLE_GRID:
        use_grid(&s, 7, 5, 5);
        use_counts(&s, 2, 2, 2);
        break;
    case SAMPLE_STRIP:
        use_grid(&s, 12, 1, 3);
        use_counts(&s, 5, 1, 1);
        break;
    case SAMPLE_ROD:
        use_grid(&s, 20, 2, 2);
        use_counts(&s, 4, 1, 1);
        break;
    case SAMPLE_LARGE:
        use_grid(&s, 12, 4, 4);
        use_counts(&s, 2, 1, 1);
        break;
    case SAMPLE_TETS: use_tets(&s, random); break;
    case SAMPLE_LISTS:
    default:
        use_blob(&s, random, 36);
        use_lists(&s, random);
        break;
    }
    s.def.points = s.tets ? NULL : s.points;
    s.def.point_count = s.tets ? 0 : s.count;
    s.def.masses = s.masses;
    lm_vec3 low = s.points[0], high = s.points[0];
    for (uint32_t i = 1; i < s.count; i++) {
        low = (lm_vec3){fminf(low.x, s.points[i].x), fminf(low.y, s.points[i].y), fminf(low.z, s.points[i].z)};
        high = (lm_vec3){fmaxf(high.x, s.points[i].x), fmaxf(high.y, s.points[i].y), fmaxf(high.z, s.points[i].z)};
    }
    s.size = fmax((double)(high.x - low.x), fmax((double)(high.y - low.y), (double)(high.z - low.z)));
    return s;
}

void sample_free(sample *s)
{
    free(s->points);
    free(s->masses);
    free(s->offsets);
    free(s->members);
    free(s->tets);
    memset(s, 0, sizeof *s);
}

lm_world *make_world_with(double gravity, lm_isa isa, uint32_t workers)
{
    lm_world_def def = lm_world_def_default();
    def.gravity = (lm_vec3){0.0f, (float)gravity, 0.0f};
    def.isa = isa;
    def.workers = workers;
    lm_world *world = NULL;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

lm_world *make_world(double gravity) { return make_world_with(gravity, LM_ISA_BEST, 1); }

lm_body_id make_body(lm_world *world, const lm_body_def *def)
{
    lm_body_id body = {0};
    assert_ok(lm_body_create(world, def, &body));
    return body;
}

void steps(lm_world *world, int count)
{
    for (int k = 0; k < count; k++) assert_ok(lm_world_step(world, FRAME));
}

lm_body_id make_particle(lm_world *world, ref_vec at, ref_vec velocity, const lm_material *material, double radius)
{
    lm_vec3 point = {0, 0, 0};
    lm_body_def def = lm_body_def_default();
    def.points = &point;
    def.point_count = 1;
    def.contact_radius = (float)radius;
    def.mask = 0;
    def.pose.position = to_dvec3(at);
    def.velocity = to_float(velocity);
    if (material != NULL) def.material = *material;
    return make_body(world, &def);
}

void read_particle(const lm_world *world, lm_body_id body, ref_vec *x, ref_vec *v)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    if (x != NULL) *x = state.x[0];
    if (v != NULL) *v = state.v[0];
    state_free(&state);
}

void assert_reloads(lm_world *world, int frames)
{
    lm_world *other = make_world(0.0);
    size_t size = lm_world_save_size(world);
    unsigned char *bytes = malloc(size), *again = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    assert_true(lm_world_save_size(other) == size);
    assert_ok(lm_world_save(other, again, size));
    assert_memory_equal(bytes, again, size);
    assert_true(lm_world_hash(other) == lm_world_hash(world));
    for (int frame = 0; frame < frames; frame++) {
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_world_step(other, FRAME));
        assert_true(lm_world_hash(other) == lm_world_hash(world));
    }
    free(bytes);
    free(again);
    lm_world_destroy(other);
}

void randomise_state(lm_world *world, lm_body_id body, random_state *random, double jitter, double speed)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(state.count, sizeof *x), *v = calloc(state.count, sizeof *v);
    motion whole = motion_of(&state);
    ref_mat turn = random_rotation(random);
    ref_vec velocity = random_in_cube(random, speed), spin = random_in_cube(random, 6.0);
    for (uint32_t i = 0; i < state.count; i++) {
        ref_vec arm = ref_mat_vec(turn, ref_sub(state.x[i], whole.centre));
        arm = ref_add(arm, random_in_cube(random, jitter));
        x[i] = to_float(ref_add(whole.centre, arm));
        v[i] = to_float(ref_add(ref_add(velocity, ref_cross(spin, arm)), random_in_cube(random, 0.5 * speed)));
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    free(x);
    free(v);
    state_free(&state);
}

void excite(lm_world *world, lm_body_id body, random_state *random, double dent, double ring, double spin)
{
    body_state state = state_read(world, body, lm_dvec3_zero());
    lm_vec3 *x = calloc(state.count, sizeof *x), *v = calloc(state.count, sizeof *v);
    ref_mat turn = random_rotation(random);
    ref_vec about = ref_mat_vec(turn, ref_v(0.6 * spin, 0.0, 0.8 * spin));
    for (uint32_t i = 0; i < state.count; i++) {
        ref_vec at = ref_add(ref_mat_vec(turn, state.x[i]), random_in_cube(random, dent));
        x[i] = to_float(at);
        ref_vec velocity = ref_add(ref_v(0.6, -0.64, 0.48), ref_cross(about, at));
        v[i] = to_float(ref_add(velocity, random_in_cube(random, ring)));
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
    free(x);
    free(v);
    state_free(&state);
}

lm_dvec3 body_centre(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info.centre;
}

/* ---- measuring ---- */

body_state state_read(const lm_world *world, lm_body_id body, lm_dvec3 base)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    uint32_t n = info.particles;
    body_state state = {n, calloc(n, sizeof(ref_vec)), calloc(n, sizeof(ref_vec)), calloc(n, sizeof(double))};
    lm_vec3 *buffer = calloc(n, sizeof *buffer);
    float *masses = calloc(n, sizeof *masses);
    assert_ok(lm_body_get_positions(world, body, base, buffer));
    for (uint32_t i = 0; i < n; i++) state.x[i] = to_double(buffer[i]);
    assert_ok(lm_body_get_velocities(world, body, buffer));
    for (uint32_t i = 0; i < n; i++) state.v[i] = to_double(buffer[i]);
    assert_ok(lm_body_get_masses(world, body, masses));
    for (uint32_t i = 0; i < n; i++) state.mass[i] = (double)masses[i];
    free(buffer);
    free(masses);
    return state;
}

void state_free(body_state *state)
{
    free(state->x);
    free(state->v);
    free(state->mass);
    memset(state, 0, sizeof *state);
}

motion motion_of(const body_state *state)
{
    motion m = {.finite = true};
    ref_vec sum = {0};
    for (uint32_t i = 0; i < state->count; i++) {
        double mass = state->mass[i];
        m.mass += mass;
        sum = ref_add_scaled(sum, mass, state->x[i]);
        m.momentum = ref_add_scaled(m.momentum, mass, state->v[i]);
        m.momentum_scale += mass * ref_length(state->v[i]);
        m.kinetic += 0.5 * mass * ref_dot(state->v[i], state->v[i]);
        m.finite = m.finite && isfinite(ref_length(state->x[i])) && isfinite(ref_length(state->v[i]));
    }
    m.centre = ref_scale(1.0 / m.mass, sum);
    ref_vec velocity = ref_scale(1.0 / m.mass, m.momentum);
    for (uint32_t i = 0; i < state->count; i++) {
        ref_vec arm = ref_sub(state->x[i], m.centre), v = ref_sub(state->v[i], velocity);
        m.angular = ref_add_scaled(m.angular, state->mass[i], ref_cross(arm, v));
        m.angular_scale += state->mass[i] * ref_length(arm) * ref_length(v);
    }
    return m;
}

motion motion_read(const lm_world *world, lm_body_id body, lm_dvec3 base)
{
    body_state state = state_read(world, body, base);
    motion m = motion_of(&state);
    state_free(&state);
    return m;
}

double deformation_from(const lm_world *world, lm_body_id body, const ref_vec *shape)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    body_state now = state_read(world, body, info.centre);
    motion m = motion_of(&now);
    ref_vec centre0 = {0};
    for (uint32_t i = 0; i < now.count; i++) centre0 = ref_add_scaled(centre0, now.mass[i] / m.mass, shape[i]);
    ref_mat moment = {{{0}}};
    for (uint32_t i = 0; i < now.count; i++)
        moment = ref_mat_add(
            moment, ref_mat_scale(now.mass[i], ref_outer(ref_sub(now.x[i], m.centre), ref_sub(shape[i], centre0))));
    ref_mat turn = ref_polar(moment);
    double worst = 0.0;
    for (uint32_t i = 0; i < now.count; i++) {
        ref_vec fitted = ref_add(m.centre, ref_mat_vec(turn, ref_sub(shape[i], centre0)));
        double off = ref_length(ref_sub(now.x[i], fitted));
        if (!(off <= worst)) worst = off;
    }
    state_free(&now);
    return worst;
}

double deformation(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *points = calloc(info.particles, sizeof *points);
    ref_vec *rest = calloc(info.particles, sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, points));
    for (uint32_t i = 0; i < info.particles; i++) rest[i] = to_double(points[i]);
    double worst = deformation_from(world, body, rest);
    free(points);
    free(rest);
    return worst;
}

void give_arrays(lm_collider_def *def)
{
    static const float heights[12] = {0.0f, 0.1f, 0.1f, 0.0f, 0.2f, 0.5f, 0.4f, 0.1f, 0.0f, 0.2f, 0.1f, 0.0f};
    static const lm_vec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    def->heights = (lm_heights){heights, {4, 3}, 0.5f};
    def->mesh = (lm_collider_mesh){vertices, 4, triangles, 4, true, false};
}
