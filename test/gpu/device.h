/*
 * What tests of worlds on a device share: lines of the log, worlds on a device or not, and how far two of them are apart.
 */
#ifndef LIMBER_TEST_DEVICE_H
#define LIMBER_TEST_DEVICE_H

#include "gpu/gpu.h"
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The share of a body's size by which host and device may differ after one step. */
#define AGREEMENT 1e-5

typedef struct lines {
    uint32_t count;
    char last[256], all[4096];
} lines;

static inline void take_line(lm_result result, const char *line, void *user)
{
    (void)result;
    lines *to = user;
    if (getenv("LIMBER_TEST_VERBOSE")) print_message("log: %s\n", line);
    to->count++;
    snprintf(to->last, sizeof to->last, "%s", line);
    size_t used = strlen(to->all);
    snprintf(to->all + used, sizeof to->all - used, "%s\n", line);
}

static inline lm_world *world_on(const char *device, uint32_t substeps, lines *log)
{
    lm_world_def def = lm_world_def_default();
    def.device = device;
    def.substeps = substeps;
    def.workers = 1;
    def.may_overlap = true; /* heaps do */
    def.log = (lm_log){take_line, log};
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    return world;
}

/* Where there is none the test fails, unless LIMBER_ALLOW_NO_DEVICE says that this machine need not have one, or the library was built without
 * OpenCL. */
static inline bool has_device(void)
{
#ifdef LIMBER_NO_DEVICES
    return false;
#endif
    lm_device_info devices[16];
    uint32_t count = lm_device_list(devices, 16);
    for (uint32_t n = 0; n < count && n < 16; n++)
        if (devices[n].usable) return true;
    if (!getenv("LIMBER_ALLOW_NO_DEVICE"))
        fail_msg(
            "no OpenCL device here: install pocl-opencl-icd (tools/setup test does), or set LIMBER_ALLOW_NO_DEVICE");
    return false;
}

static inline void copy_world(lm_world *to, lm_world *from)
{
    size_t size = lm_world_save_size(from);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(from, bytes, size));
    assert_ok(lm_world_load(to, bytes, size));
    free(bytes);
}

/* The largest distance between particles that should be in the same place, or what a substep at the difference of their
 * velocities makes of it, as a share of their body's size. */
static inline double difference(lm_world *a, lm_world *b, lm_body_id id)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(a, id, &info));
    lm_vec3 *x = malloc(4 * info.particles * sizeof *x), *y = x + info.particles, *v = y + info.particles;
    lm_vec3 *w = v + info.particles;
    assert_ok(lm_body_get_positions(a, id, info.centre, x));
    assert_ok(lm_body_get_positions(b, id, info.centre, y));
    assert_ok(lm_body_get_velocities(a, id, v));
    assert_ok(lm_body_get_velocities(b, id, w));
    lm_stats stats;
    lm_world_get_stats(a, &stats);
    double worst = 0.0, size = 0.0, h = FRAME / stats.substeps;
    for (uint32_t n = 0; n < info.particles; n++) {
        double dx = x[n].x - y[n].x, dy = x[n].y - y[n].y, dz = x[n].z - y[n].z;
        double ux = v[n].x - w[n].x, uy = v[n].y - w[n].y, uz = v[n].z - w[n].z;
        worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz));
        worst = fmax(worst, h * sqrt(ux * ux + uy * uy + uz * uz));
        size = fmax(size, sqrt((double)x[n].x * x[n].x + (double)x[n].y * x[n].y + (double)x[n].z * x[n].z));
    }
    free(x);
    return worst / size;
}

/* Moves every particle a little, so that regions have something to do. */
static inline void shake(lm_world *world, lm_body_id id, double by, uint64_t seed)
{
    random_state random = {seed};
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *x = malloc(2 * info.particles * sizeof *x), *v = x + info.particles;
    assert_ok(lm_body_get_positions(world, id, info.centre, x));
    assert_ok(lm_body_get_velocities(world, id, v));
    for (uint32_t n = 0; n < info.particles; n++) {
        ref_vec d = random_in_cube(&random, by);
        x[n].x += (float)d.x, x[n].y += (float)d.y, x[n].z += (float)d.z;
    }
    assert_ok(lm_body_set_state(world, id, info.centre, x, v));
    free(x);
}

/* Poses that are stretched, squashed and sheared, each another way; for the body, for two groups of its regions, or for each
 * region. Forced: two poses, with weights that are given. */
static inline void give_examples(lm_world *world, lm_body_id id, uint32_t count, lm_example_scope scope, bool forced)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, id, &info));
    lm_vec3 *poses = malloc(count * info.particles * sizeof *poses), *x = malloc(info.particles * sizeof *x);
    uint32_t *groups = malloc(info.regions * sizeof *groups);
    assert_ok(lm_body_get_positions(world, id, info.centre, x));
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t n = 0; n < info.particles; n++) {
            float a = 0.1f * (float)(k + 1);
            poses[k * info.particles + n] =
                (lm_vec3){x[n].x * (k % 2 ? 1.0f + a : 1.0f - a) + (k > 2 ? a * x[n].y : 0.0f),
                          x[n].y * (k % 3 ? 1.0f : 1.0f + 2.0f * a), x[n].z + a * x[n].x};
        }
    }
    for (uint32_t r = 0; r < info.regions; r++) groups[r] = r % 3 == 2 ? LM_NO_GROUP : r % 3;
    lm_examples_def def = lm_examples_def_default();
    def.poses = poses;
    def.count = count;
    def.particles = info.particles;
    def.scope = scope;
    def.groups = scope == LM_EXAMPLES_GROUPS ? groups : NULL;
    def.group_count = scope == LM_EXAMPLES_GROUPS ? 2 : 0;
    assert_ok(lm_body_set_examples(world, id, &def));
    const float weights[4] = {0.3f, 0.2f, 0.0f, 0.7f};
    if (forced) assert_ok(lm_body_set_example_weights(world, id, weights));
    free(poses);
    free(x);
    free(groups);
}

/* A solid lattice of so many cells. */
static inline lm_body_id add_lattice(lm_world *world, uint32_t cells, double x, double y)
{
    size_t count = (size_t)cells * cells * cells;
    uint8_t *filled = malloc(count);
    memset(filled, 1, count);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = filled;
    def.lattice.counts[0] = def.lattice.counts[1] = def.lattice.counts[2] = cells;
    def.lattice.spacing = 0.1f;
    def.lattice.width = 2;
    def.mass = 3.0f;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.1f;
    def.contact_points = LM_CONTACT_PARTICLES;
    def.pose.position = (lm_dvec3){x, y, 0.0};
    def.velocity = (lm_vec3){0.3f, -0.5f, 0.2f};
    def.spin = (lm_vec3){1.0f, 2.0f, -0.5f};
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    free(filled);
    return id;
}

/* One body of clusters. */
static inline lm_body_id add_clusters(lm_world *world, sample_kind kind, double x, double y)
{
    random_state random = {77};
    sample s = sample_make(kind, &random);
    s.def.material.hertz = 4.0f;
    s.def.contact_points = LM_CONTACT_PARTICLES;
    s.def.pose.position = (lm_dvec3){x, y, 0.0};
    s.def.velocity = (lm_vec3){0.5f, 1.0f, 0.1f};
    s.def.spin = (lm_vec3){0.5f, 1.0f, 2.0f};
    lm_body_id id = make_body(world, &s.def);
    sample_free(&s);
    return id;
}

/* --- contact events --- */

#define MOST_EVENTS 128

static inline double apart_of(lm_vec3 a, lm_vec3 b)
{
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/* How far two lists of events are apart, in N s, m and so on; they must be about the same. */
static inline double compare_events(lm_world *host, lm_world *device, uint32_t *pairs, uint32_t *walls)
{
    lm_contact_event here[MOST_EVENTS], there[MOST_EVENTS];
    uint32_t count = lm_world_get_contact_events(host, here, MOST_EVENTS);
    uint32_t there_count = lm_world_get_contact_events(device, there, MOST_EVENTS);
    assert_int_equal(there_count, count);
    assert_true(count <= MOST_EVENTS);
    double worst = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        const lm_contact_event *a = &here[n], *b = &there[n];
        if (a->phase != b->phase)
            print_message("%d/%d: body %u with %u or %u, pressed %g, %g\n", a->phase, b->phase, a->body.slot,
                          a->other.slot, a->collider.slot, (double)a->pressed, (double)b->pressed);
        assert_int_equal(a->phase, b->phase);
        assert_int_equal(a->body.slot, b->body.slot);
        assert_int_equal(a->other.slot, b->other.slot);
        assert_int_equal(a->collider.slot, b->collider.slot);
        *pairs += a->other.slot != 0 && a->pressed > 0.0f;
        *walls += a->collider.slot != 0 && a->pressed > 0.0f;
        worst = fmax(worst, fmax(apart_of(a->impulse, b->impulse), fabs((double)a->pressed - b->pressed)));
        worst = fmax(worst, apart_of(a->normal, b->normal));
        /* Where bodies are pushed by a force the CPU sees how fast points come while it pushes others. */
        if (a->collider.slot || lm_world_get_contact_method(host) == LM_CONTACT_METHOD_SOLVED)
            worst = fmax(worst, fabs((double)a->approach - b->approach));
        worst = fmax(worst, fmax(fabs(a->point.x - b->point.x),
                                 fmax(fabs(a->point.y - b->point.y), fabs(a->point.z - b->point.z))));
    }
    return worst;
}

/* Memory of the host that may run out. */
typedef struct meter {
    long left; /* allocations that succeed */
} meter;

static inline void *take_memory(size_t size, size_t alignment, void *user)
{
    meter *m = user;
    return m->left-- > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment) : NULL;
}

static inline void give_memory(void *memory, size_t size, void *user)
{
    (void)size;
    (void)user;
    free(memory);
}

#endif
