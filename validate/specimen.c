/* Bars, how they are made, held, run and read. */
#include "validate/specimen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *sampling_name(sampling kind)
{
    static const char *const names[SAMPLING_COUNT] = {"lattice", "octree", "tetrahedra"};
    return names[kind];
}

double specimen_speed(const specimen *s)
{
    double w = s->kind == TETS ? 1.0 : s->width, square = s->spacing * s->spacing * w * (w + 1.0) / 3.0;
    return 0.6 * sqrt((1.0 - 2.0 * s->poisson) * square) / s->substep;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Making
 */

static const uint32_t box_triangles[36] = {0, 3, 1, 0, 2, 3, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                           2, 7, 3, 2, 6, 7, 0, 6, 2, 0, 4, 6, 1, 3, 7, 1, 7, 5};

static void set_sampling(const specimen *s, lm_body_def *def, const lm_vec3 vertices[8], float sizes[8])
{
    float spacing = (float)s->spacing;
    switch (s->kind) {
    case LATTICE:
        def->lattice.vertices = vertices;
        def->lattice.vertex_count = 8;
        def->lattice.triangles = box_triangles;
        def->lattice.triangle_count = 12;
        def->lattice.spacing = spacing;
        def->lattice.width = s->width;
        break;
    case OCTREE:
        def->octree.vertices = vertices;
        def->octree.vertex_count = 8;
        def->octree.triangles = box_triangles;
        def->octree.triangle_count = 12;
        def->octree.spacing = s->two_sizes ? 0.5f * spacing : spacing;
        def->octree.levels = s->two_sizes ? 1 : 0;
        def->octree.detail = 0.0f;
        def->octree.width = (float)(s->width * s->spacing);
        for (int n = 0; n < 8; n++) {
            sizes[n] = vertices[n].y < 0.5f * spacing && s->two_sizes ? 0.5f * spacing : 0.0f;
        }
        def->octree.vertex_sizes = sizes;
        break;
    default:
        def->tets.vertices = vertices;
        def->tets.vertex_count = 8;
        def->tets.triangles = box_triangles;
        def->tets.triangle_count = 12;
        def->tets.spacing = spacing;
    }
}

static lm_result make_body(const specimen *s, lm_world *world, lm_body_id *body)
{
    lm_vec3 vertices[8];
    float sizes[8], across = (float)(s->thick * s->spacing), length = (float)(s->along * s->spacing);
    for (int n = 0; n < 8; n++) {
        vertices[n] = (lm_vec3){n & 1 ? across : 0.0f, n & 2 ? length : 0.0f, n & 4 ? across : 0.0f};
    }
    lm_body_def def = lm_body_def_default();
    set_sampling(s, &def, vertices, sizes);
    def.material = lm_material_default();
    def.material.stiffness = LM_STIFFNESS_YOUNG;
    def.material.young = (float)(SPECIMEN_DENSITY * s->speed * s->speed);
    def.material.poisson = (float)s->poisson;
    def.material.damping_ratio = (float)s->damping_ratio;
    def.material.friction = 0.0f;
    def.density = (float)SPECIMEN_DENSITY;
    def.may_sleep = false;
    return lm_body_create(world, &def, body);
}

static lm_result pin_top(const specimen *s, const trial *t)
{
    uint32_t *held = calloc(t->count + 1u, sizeof *held), count = 0;
    if (held == NULL) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t n = 0; n < t->count; n++) {
        if ((double)t->rest[n].y > t->highest - 1e-3 * s->spacing) {
            held[count++] = n;
        }
    }
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = t->body;
    pin.particles = held;
    pin.particle_count = count;
    lm_result result = lm_pin_create(t->world, &pin, &id);
    free(held);
    return result;
}

static lm_result fill_air(const specimen *s, lm_world *world)
{
    lm_field_def air = lm_field_def_default();
    lm_field_id id;
    air.kind = LM_FIELD_WIND;
    air.strength = (float)s->air;
    return lm_field_create(world, &air, &id);
}

static lm_result read_rest(trial *t)
{
    lm_result result = lm_body_get_info(t->world, t->body, &t->info);
    if (result != LM_OK) {
        return result;
    }
    t->count = t->info.particles;
    t->rest = calloc(t->count + 1u, sizeof *t->rest);
    t->now = calloc(t->count + 1u, sizeof *t->now);
    t->mass = calloc(t->count + 1u, sizeof *t->mass);
    if (t->rest == NULL || t->now == NULL || t->mass == NULL) {
        return LM_ERROR_MEMORY;
    }
    result = lm_body_get_rest_positions(t->world, t->body, t->rest);
    result = result ? result : lm_body_get_masses(t->world, t->body, t->mass);
    t->lowest = INFINITY, t->highest = -INFINITY;
    for (uint32_t n = 0; n < t->count; n++) {
        t->lowest = fmin(t->lowest, (double)t->rest[n].y);
        t->highest = fmax(t->highest, (double)t->rest[n].y);
    }
    return result;
}

static void stay_silent(lm_result result, const char *line, void *user) { (void)result, (void)line, (void)user; }

bool trial_open(report *r, const specimen *s, trial *t)
{
    memset(t, 0, sizeof *t);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.substeps = 1;
    def.gravity = s->gravity;
    def.log = (lm_log){stay_silent, NULL}; /* what is limited is told in tables */
    lm_result result = lm_world_create(&def, &t->world);
    result = result ? result : make_body(s, t->world, &t->body);
    result = result ? result : read_rest(t);
    result = result || !s->pinned ? result : pin_top(s, t);
    result = result || s->air <= 0.0 ? result : fill_air(s, t->world);
    return result == LM_OK || report_fail(r, "a specimen could not be made: %s", lm_result_text(result));
}

void trial_close(trial *t)
{
    lm_world_destroy(t->world);
    free(t->rest);
    free(t->now);
    free(t->mass);
    memset(t, 0, sizeof *t);
}

bool trial_open_reachable(report *r, specimen *s, void (*pull)(specimen *s), trial *t)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        if (pull != NULL) {
            pull(s);
        }
        if (!trial_open(r, s, t)) {
            return false;
        }
        if (lm_world_step(t->world, s->substep) != LM_OK || lm_body_get_info(t->world, t->body, &t->info) != LM_OK) {
            return report_fail(r, "a specimen could not be stepped");
        }
        if (!t->info.stiffness_limited) {
            trial_close(t); /* it has moved */
            return trial_open(r, s, t);
        }
        s->speed *= 0.9 * sqrt((double)t->info.reached_young / (double)t->info.young);
        trial_close(t);
    }
    return report_fail(r, "no modulus is low enough for the substep");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Running
 */

static bool step(report *r, const specimen *s, trial *t, uint32_t substeps)
{
    lm_result result = lm_world_set_substeps(t->world, substeps);
    result = result ? result : lm_world_step(t->world, substeps * s->substep);
    return result == LM_OK || report_fail(r, "a step failed: %s", lm_result_text(result));
}

bool trial_run(report *r, const specimen *s, trial *t, double seconds)
{
    double left = ceil(seconds / s->substep);
    while (left > 0.0) {
        uint32_t substeps = left < LM_MAX_SUBSTEPS ? (uint32_t)left : LM_MAX_SUBSTEPS;
        while (substeps * s->substep > 1.0) {
            substeps--;
        }
        if (!step(r, s, t, substeps)) {
            return false;
        }
        left -= substeps;
    }
    lm_result result = lm_body_get_positions(t->world, t->body, lm_dvec3_zero(), t->now);
    result = result ? result : lm_body_get_info(t->world, t->body, &t->info);
    return result == LM_OK || report_fail(r, "a body could not be read: %s", lm_result_text(result));
}

/* Sets velocities, without those of the body as a whole. */
static bool kick(report *r, const specimen *s, trial *t, lm_vec3 *velocities)
{
    double sum[3] = {0.0, 0.0, 0.0}, whole = 0.0;
    for (uint32_t n = 0; n < t->count; n++) {
        double m = t->mass[n];
        sum[0] += m * velocities[n].x, sum[1] += m * velocities[n].y, sum[2] += m * velocities[n].z;
        whole += m;
    }
    for (uint32_t n = 0; n < t->count; n++) {
        velocities[n].x -= (float)(sum[0] / whole), velocities[n].y -= (float)(sum[1] / whole);
        velocities[n].z -= (float)(sum[2] / whole);
    }
    (void)s;
    lm_result result = lm_body_set_state(t->world, t->body, lm_dvec3_zero(), t->rest, velocities);
    return result == LM_OK || report_fail(r, "a body could not be set: %s", lm_result_text(result));
}

static double project(const trial *t, const lm_vec3 *shape)
{
    double sum = 0.0;
    for (uint32_t n = 0; n < t->count; n++) {
        double x = t->now[n].x - t->rest[n].x, y = t->now[n].y - t->rest[n].y, z = t->now[n].z - t->rest[n].z;
        sum += (double)t->mass[n] * (x * (double)shape[n].x + y * (double)shape[n].y + z * (double)shape[n].z);
    }
    return sum;
}

#define PASSAGES 4
#define SAMPLES 24 /* in an expected half period */

bool trial_ring(report *r, const specimen *s, trial *t, specimen_shape *shape, double scale, double expected,
                double *hertz)
{
    lm_vec3 *shapes = calloc(t->count + 1u, sizeof *shapes);
    if (shapes == NULL) {
        return report_fail(r, "out of memory");
    }
    for (uint32_t n = 0; n < t->count; n++) {
        shapes[n] = shape(s, t, t->rest[n], scale);
    }
    bool ok = kick(r, s, t, shapes);
    double between = fmax(floor(0.5 / expected / SAMPLES / s->substep), 1.0) * s->substep, time = 0.0, before = 0.0,
           passed = 0.0;
    int passages = 0;
    *hertz = 0.0;
    while (ok && passages < PASSAGES && time * expected < 4.0) {
        ok = trial_run(r, s, t, between);
        double now = project(t, shapes);
        if (ok && before != 0.0 && (before > 0.0) != (now > 0.0)) {
            passages++;
            passed = time + between * before / (before - now);
        }
        before = now;
        time += between;
    }
    if (passages == PASSAGES) {
        *hertz = 0.5 * PASSAGES / passed;
    }
    free(shapes);
    return ok;
}
