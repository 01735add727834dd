/*
 * Skins in buffers of OpenGL: with a library that pretends to share (fake_opencl.c), which counts what is done in the wrong order;
 * and with the machine's own, where skins are copied if it cannot.
 */
#include "test/gpu/fake_opencl.h"
#include "test/gpu/skinned.h"

#include <dlfcn.h>

static struct {
    fake_gl_buffer_function *buffer;
    fake_gl_read_function *read;
    fake_gl_refuse_function *refuse;
    fake_gl_counts_function *counts;
} fake;

static bool load_fake(void)
{
    void *library = dlopen(FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL);
    if (!library) print_message("%s\n", dlerror());
    if (!library) return false;
    void *found[4] = {dlsym(library, "fake_gl_buffer"), dlsym(library, "fake_gl_read"),
                      dlsym(library, "fake_gl_refuse"), dlsym(library, "fake_gl_counts")};
    memcpy(&fake, found, sizeof found);
    return found[0] && found[1] && found[2] && found[3];
}

static const lm_gl gl = {LM_GL_EGL, FAKE_GL_CONTEXT, FAKE_EGL_DISPLAY};

static lm_world *shared_world(lm_body_id ids[BODIES], lines *log)
{
    lm_world *world = world_on(NULL, 2, log);
    const lmi_gpu_limits limits = {.gl = &gl, .library = FAKE_OPENCL};
    lmi_gpu_open(world, "gpu", &limits);
    fill_skinned(world, ids);
    return world;
}

/* Where vertices of bodies go: all positions and normals of the first four one after the other in one buffer, those of the others in
 * two, with room between them. */
#define INTERLEAVED 7u
#define POSITIONS 8u
#define NORMALS 9u
#define EACH (BALL_VERTICES * 24)

static void share_all(lm_world *world, const lm_body_id ids[BODIES])
{
    fake.buffer(INTERLEAVED, 4 * EACH);
    fake.buffer(POSITIONS, (BARE - 4) * BALL_VERTICES * 16);
    fake.buffer(NORMALS, (BARE - 4) * BALL_VERTICES * 12 + 8);
    for (uint32_t n = 0; n < BARE; n++) {
        const uint64_t at = n < 4 ? n * EACH : n - 4;
        const lm_skin_buffer positions =
            n < 4 ? (lm_skin_buffer){INTERLEAVED, 24, at} : (lm_skin_buffer){POSITIONS, 16, at * BALL_VERTICES * 16};
        const lm_skin_buffer normals = n < 4 ? (lm_skin_buffer){INTERLEAVED, 24, at + 12}
                                             : (lm_skin_buffer){NORMALS, 12, at * BALL_VERTICES * 12 + 8};
        assert_ok(lm_body_share_skin(world, ids[n], &positions, &normals));
    }
}

/* What "OpenGL" has of a body. */
static void read_shared(uint32_t n, skin_taken *to)
{
    static float all[3][BARE * BALL_VERTICES * 6 + 2];
    assert_true(fake.read(INTERLEAVED, all[0], 4 * EACH));
    assert_true(fake.read(POSITIONS, all[1], (BARE - 4) * BALL_VERTICES * 16));
    assert_true(fake.read(NORMALS, all[2], (BARE - 4) * BALL_VERTICES * 12 + 8));
    for (uint32_t v = 0; v < BALL_VERTICES; v++) {
        const float *p = n < 4 ? all[0] + (n * BALL_VERTICES + v) * 6 : all[1] + ((n - 4) * BALL_VERTICES + v) * 4;
        const float *m = n < 4 ? p + 3 : all[2] + 2 + ((n - 4) * BALL_VERTICES + v) * 3;
        to->positions[v] = (lm_vec3){p[0], p[1], p[2]};
        to->normals[v] = (lm_vec3){m[0], m[1], m[2]};
    }
}

/* The buffers have what lm_body_get_skin gives, to the bit where the device makes both. */
static void check_shared(lm_world *world, const lm_body_id ids[BODIES], uint32_t but)
{
    const lm_dvec3 base = {3.0, 0.25, -1.0};
    assert_ok(lm_world_share_skins(world, base));
    for (uint32_t n = 0; n < BARE; n++) {
        skin_taken made, shared;
        double normals = 0.0;
        if (n == but) continue;
        take_skin(world, ids[n], base, &made);
        read_shared(n, &shared);
        assert_at_most(apart(&made, &shared, &normals), n == TWIN ? 2e-4 : 1e-5);
        assert_at_most(normals, 1e-6);
    }
}

static void skins_are_shared(void **state)
{
    (void)state;
    if (!has_device()) skip();
    assert_true(load_fake());
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = shared_world(ids, &log);
    assert_true(lm_world_can_share(world));
    share_all(world, ids);
    assert_int_equal(fake.counts().created, 3); /* once for each buffer */
    check_shared(world, ids, BARE);             /* the state is still the host's */
    assert_int_equal(fake.counts().writes, 2 * BARE);
    for (uint32_t n = 0; n < 3; n++) {
        assert_ok(lm_world_step(world, FRAME));
        uint64_t before = world->gpu->read_bytes;
        assert_ok(lm_world_share_skins(world, lm_dvec3_zero()));
        assert_int_equal(world->gpu->read_bytes, before); /* nothing came back for it */
        assert_true(world->gpu->newer);
        check_shared(world, ids, BARE);
    }
    fake_counts c = fake.counts();
    assert_int_equal(c.writes, 2 * BARE); /* none since the device has the state */
    assert_int_equal(c.launches, 3 * 3 * 2);
    assert_int_equal(c.acquired, 3 * (1 + 3 * 2));
    assert_int_equal(c.released, c.acquired);
    assert_int_equal(c.wrong, 0);
    /* A buffer that has other storage, as one of four bodies says: all of them go there. */
    fake.buffer(INTERLEAVED, 4 * EACH + 100);
    const lm_skin_buffer first = {INTERLEAVED, 24, 0}, second = {INTERLEAVED, 24, 12};
    assert_ok(lm_body_share_skin(world, ids[0], &first, &second));
    assert_int_equal(fake.counts().created, 4);
    assert_int_equal(fake.counts().freed, 1);
    check_shared(world, ids, BARE);
    fake.buffer(INTERLEAVED, EACH); /* too small for the others: what has no room is left out */
    assert_ok(lm_body_share_skin(world, ids[0], &first, &second));
    assert_ok(lm_world_share_skins(world, lm_dvec3_zero()));
    fake.buffer(INTERLEAVED, 4 * EACH);
    assert_ok(lm_body_share_skin(world, ids[0], &first, &second));
    check_shared(world, ids, BARE);
    assert_int_equal(fake.counts().wrong, 0);
    /* A body whose skin is another one keeps what it had; one that is gone lets go of its place. */
    assert_ok(lm_body_destroy(world, ids[TETS]));
    assert_ok(lm_world_step(world, FRAME));
    check_shared(world, ids, TETS);
    assert_ok(lm_body_share_skin(world, ids[CELLS], NULL, NULL));
    for (uint32_t n = 0; n < BARE; n++)
        if (n != TETS && n != CELLS) assert_ok(lm_body_share_skin(world, ids[n], NULL, NULL));
    assert_int_equal(fake.counts().freed, 3 + 3);
    assert_ok(lm_world_share_skins(world, lm_dvec3_zero()));
    assert_int_equal(log.count, 0);
    assert_int_equal(fake.counts().wrong, 0);
    lm_world_destroy(world);
}

static void wrong_buffers(void **state)
{
    (void)state;
    if (!has_device()) skip();
    assert_true(load_fake());
    lines log = {0};
    lm_body_id ids[BODIES];
    lm_world *world = shared_world(ids, &log);
    fake_counts before = fake.counts();
    fake.buffer(20, BALL_VERTICES * 12);
    const lm_skin_buffer fits = {20, 12, 0}, late = {20, 12, 4}, tight = {20, 8, 0}, odd = {20, 14, 0},
                         unknown = {21, 12, 0};
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], &late, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], NULL, &tight), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], &odd, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], &unknown, NULL), LM_ERROR_UNSUPPORTED);
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], &fits, &unknown), LM_ERROR_UNSUPPORTED);
    assert_int_equal(lm_body_share_skin(world, ids[BARE], &fits, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_share_skin(world, (lm_body_id){99, 1}, &fits, NULL), LM_ERROR_ID);
    fake_counts after = fake.counts();
    assert_int_equal(after.created - before.created, after.freed - before.freed); /* nothing is kept of them */
    assert_ok(lm_body_share_skin(world, ids[CELLS], &fits, NULL));
    /* The driver fails: one line, and the caller copies from then on. The state is where it was. */
    assert_ok(lm_world_step(world, FRAME));
    uint32_t said = log.count;
    fake.refuse(true);
    assert_int_equal(lm_world_share_skins(world, lm_dvec3_zero()), LM_ERROR_UNSUPPORTED);
    assert_int_equal(lm_world_share_skins(world, lm_dvec3_zero()), LM_ERROR_UNSUPPORTED);
    fake.refuse(false);
    assert_int_equal(log.count, said + 1);
    assert_false(lm_world_can_share(world));
    assert_true(world->gpu->newer);
    skin_taken made;
    take_skin(world, ids[CELLS], lm_dvec3_zero(), &made);
    assert_true(isfinite(made.positions[0].x));
    lm_world_destroy(world);
}

/* The machine's own library: it shares, or says that it does not, and lm_body_get_skin gives the same. */
static void skins_are_copied(void **state)
{
    (void)state;
    if (!has_device()) skip();
    lines log = {0};
    lm_world_def def = lm_world_def_default();
    def.device = "gpu";
    def.gl = &gl; /* no real context */
    def.log = (lm_log){take_line, &log};
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.last, "skins are not shared with OpenGL"));
    assert_false(lm_world_can_share(world));
    lm_body_id ids[BODIES];
    fill_skinned(world, ids);
    const lm_skin_buffer somewhere = {1, 12, 0};
    assert_int_equal(lm_body_share_skin(world, ids[CELLS], &somewhere, NULL), LM_ERROR_UNSUPPORTED);
    assert_ok(lm_world_step(world, FRAME));
    assert_int_equal(lm_world_share_skins(world, lm_dvec3_zero()), LM_ERROR_UNSUPPORTED);
    skin_taken made;
    take_skin(world, ids[CELLS], lm_dvec3_zero(), &made);
    assert_true(world->gpu->newer); /* the device made it */
    assert_int_equal(log.count, 1);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(skins_are_shared), cmocka_unit_test(wrong_buffers),
                                       cmocka_unit_test(skins_are_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
