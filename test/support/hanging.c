#include "test/support/hanging.h"

#include "test/lattice/lattice_cells.h"

#include <math.h>

static void use_mesh(const hanging_bar *b, lm_body_def *def, lm_vec3 vertices[8], float sizes[8])
{
    double size[3];
    for (int a = 0; a < 3; a++) size[a] = b->cells[a] * b->spacing;
    lattice_use_box(def, size, vertices);
    const lm_lattice mesh = def->lattice;
    def->lattice = lm_body_def_default().lattice;
    if (b->kind == BAR_LATTICE) {
        def->lattice = mesh;
        def->lattice.spacing = (float)b->spacing;
        def->lattice.width = b->width;
    } else if (b->kind == BAR_TETS) {
        def->tets.vertices = mesh.vertices;
        def->tets.vertex_count = mesh.vertex_count;
        def->tets.triangles = mesh.triangles;
        def->tets.triangle_count = mesh.triangle_count;
        def->tets.spacing = (float)b->spacing;
    } else {
        def->octree.vertices = mesh.vertices;
        def->octree.vertex_count = mesh.vertex_count;
        def->octree.triangles = mesh.triangles;
        def->octree.triangle_count = mesh.triangle_count;
        def->octree.spacing = (float)b->spacing;
        def->octree.levels = b->levels;
        def->octree.detail = 0.0f;
        def->octree.width = (float)(b->width * b->spacing);
        for (int n = 0; n < 8; n++) sizes[n] = vertices[n].y < 1e-3f && b->refined > 0.0 ? (float)b->spacing : 0.0f;
        def->octree.vertex_sizes = sizes;
    }
}

void hanging_add(const hanging_bar *b, lm_world *world, lm_body_id *body)
{
    lm_vec3 vertices[8];
    float sizes[8];
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    use_mesh(b, &def, vertices, sizes);
    def.material = b->material;
    def.density = (float)b->density;
    *body = make_body(world, &def);
}

/* The bar in a world of its own, its top pinned, in air that takes `drag` of velocities a second. */
static lm_world *make_pinned(const hanging_bar *b, lm_vec3 gravity, double drag, lm_body_id *body)
{
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.substeps = b->substeps;
    world_def.device = b->device;
    world_def.gravity = gravity;
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    hanging_add(b, world, body);
    lm_body_info info = info_of(world, *body);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    uint32_t *held = calloc(info.particles, sizeof *held), count = 0;
    assert_ok(lm_body_get_rest_positions(world, *body, rest));
    double top = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) top = fmax(top, (double)rest[n].y);
    for (uint32_t n = 0; n < info.particles; n++)
        if ((double)rest[n].y > top - 1e-3 * b->spacing) held[count++] = n;
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = *body;
    pin.particles = held;
    pin.particle_count = count;
    assert_ok(lm_pin_create(world, &pin, &id));
    lm_field_def air = lm_field_def_default();
    lm_field_id field;
    air.kind = LM_FIELD_WIND;
    air.strength = (float)drag;
    assert_ok(lm_field_create(world, &air, &field));
    free(rest);
    free(held);
    return world;
}

lm_world *hanging_make(const hanging_bar *b, lm_body_id *body)
{
    double length = b->cells[1] * b->spacing;
    return make_pinned(b, (lm_vec3){0.0f, (float)(-0.01 * 2.0 * b->speed * b->speed / length), 0.0f},
                       0.7 * 6.2832 * b->speed / (4.0 * length), body); /* nearly critical */
}

/* Of a beam of length L and thickness H with E/rho = speed², clamped at 0, that weighs g: how far it sinks at x. */
static double beam_sinks(double length, double thick, double speed, double poisson, double g, double x)
{
    double bending = speed * speed * thick * thick / 12.0, cowper = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    double shear = cowper * speed * speed / (2.0 * (1.0 + poisson));
    return g * (x * x * (6.0 * length * length - 4.0 * length * x + x * x) / (24.0 * bending) +
                (length * x - 0.5 * x * x) / shear);
}

double cantilever_measure(hanging_bar *b, lm_body_info *info)
{
    double length = b->cells[1] * b->spacing, thick = b->cells[0] * b->spacing, h = FRAME / b->substeps;
    double w = b->kind == BAR_TETS ? 1.0 : b->width, nu = (double)b->material.poisson;
    b->speed = sqrt(0.7 * (1.0 - 2.0 * nu) * w * (w + 1.0) / 3.0) * b->spacing / h;
    b->speed *= b->kind != BAR_LATTICE ? 0.6 : 1.0; /* its least regions are smaller than its mean ones */
    b->material.young = (float)(b->density * b->speed * b->speed);
    double g = 0.01 * length / beam_sinks(length, thick, b->speed, nu, 1.0, length);
    double pitch = 3.516 * b->speed * thick / (sqrt(12.0) * length * length);
    lm_body_id body;
    lm_world *world = make_pinned(b, (lm_vec3){(float)g, 0.0f, 0.0f}, 0.8 * pitch, &body);
    for (double t = 0.0; t < 4.0 * 6.2832 / pitch; t += FRAME) assert_ok(lm_world_step(world, FRAME));
    *info = info_of(world, body);
    lm_vec3 *rest = calloc(info->particles, sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    body_state s = state_read(world, body, lm_dvec3_zero());
    double low = INFINITY, high = -INFINITY, sum = 0.0, mass = 0.0;
    for (uint32_t n = 0; n < s.count; n++) low = fmin(low, (double)rest[n].y), high = fmax(high, (double)rest[n].y);
    for (uint32_t n = 0; n < s.count; n++) {
        if ((double)rest[n].y > low + 1e-3 * b->spacing) continue;
        sum += s.mass[n] * ((double)s.x[n].x - (double)rest[n].x), mass += s.mass[n];
    }
    free(rest);
    state_free(&s);
    lm_world_destroy(world);
    return sum / mass / beam_sinks(high, thick, b->speed, nu, g, high - low);
}

/* The slope of displacement along `axis` over rest position along it, and the mean height, in the middle half. */
static double slope_of(const hanging_bar *b, const lm_vec3 *rest, const body_state *s, int axis, double *height)
{
    double length = b->cells[1] * b->spacing, n = 0, sx = 0, su = 0, sxx = 0, sxu = 0, sy = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        double x0[3] = {rest[i].x, rest[i].y, rest[i].z}, x[3] = {s->x[i].x, s->x[i].y, s->x[i].z};
        if (fabs(x0[1] - 0.5 * length) > 0.2501 * length) continue;
        double at = x0[axis], u = x[axis] - x0[axis], m = s->mass[i];
        n += m, sx += m * at, su += m * u, sxx += m * at * at, sxu += m * at * u, sy += m * x0[1];
    }
    *height = sy / n;
    return (n * sxu - sx * su) / (n * sxx - sx * sx);
}

hanging_result hanging_settle(const hanging_bar *b, lm_world *world, lm_body_id body)
{
    double length = b->cells[1] * b->spacing, period = 4.0 * length / b->speed;
    double wait = 3.0 * period + b->wait;
    for (int n = 0; n < (int)(wait / FRAME) + 30; n++) assert_ok(lm_world_step(world, FRAME));
    hanging_result result = {.info = info_of(world, body)};
    lm_vec3 *rest = calloc(result.info.particles, sizeof *rest);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    body_state s = state_read(world, body, lm_dvec3_zero());
    double height, unused, along = slope_of(b, rest, &s, 1, &height);
    double across = 0.5 * (slope_of(b, rest, &s, 0, &unused) + slope_of(b, rest, &s, 2, &unused));
    double gravity = 0.01 * 2.0 * b->speed * b->speed / length;
    result.modulus = gravity * height / along; /* the strain goes up evenly from the lower end, where it is 0 */
    result.poisson = -across / along;
    state_free(&s);
    free(rest);
    return result;
}

hanging_result hanging_measure(const hanging_bar *b)
{
    lm_body_id body;
    lm_world *world = hanging_make(b, &body);
    hanging_result result = hanging_settle(b, world, body);
    lm_world_destroy(world);
    return result;
}
