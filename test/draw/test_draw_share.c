/*
 * Surfaces that a device writes straight into the renderer's buffers, through a library that pretends to share with OpenGL
 * (test/gpu/fake_opencl.c) and brings what it has to the real one: the picture is the same.
 */
#include "draw/internal.h"
#include "gpu/gpu.h"
#include "test/draw/stage.h"
#include "test/gpu/fake_opencl.h"
#include "world/world.h"

#include <dlfcn.h>
#include <string.h>

enum { WIDTH = 240, HEIGHT = 160 };

static size_t size_of(uint32_t name)
{
    GLint size = 0;
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glGetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
    return (size_t)size;
}

/* Of positions, x y and z alone are the device's: the rest of the storage stays as the renderer made it. */
static void put(uint32_t name, const void *data, size_t size)
{
    float *now = malloc(size);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, now);
    const float *from = data;
    bool positions = size >= 16 && now[3] == 1.0f;
    for (size_t n = 0; n < size / sizeof *now; n++)
        if (!positions || n % 4 != 3) now[n] = from[n];
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, now);
    free(now);
}

static fake_gl_counts_function *counts;

static bool load_fake(void)
{
    void *library = dlopen(FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL);
    void *found[2] = {library ? dlsym(library, "fake_gl_counts") : NULL,
                      library ? dlsym(library, "fake_gl_hooks") : NULL};
    fake_gl_hooks_function *hooks = NULL;
    memcpy(&counts, &found[0], sizeof counts);
    memcpy(&hooks, &found[1], sizeof hooks);
    if (hooks) hooks(size_of, put);
    return counts && hooks;
}

static bool has_device(void)
{
    lm_device_info devices[16];
    uint32_t count = lm_device_list(devices, 16);
    for (uint32_t n = 0; n < count && n < 16; n++)
        if (devices[n].usable) return true;
    return false;
}

/* A picture with the surfaces of the device, and one without. */
static void check_pictures(draw *d, lm_world *world, draw_settings settings)
{
    settings.shares = world;
    uint64_t read = world->gpu->read_bytes;
    bool newer = world->gpu->newer;
    image shared = make_picture(d, world, &settings, WIDTH, HEIGHT);
    assert_ptr_equal(d->bodies.shares, world);
    bool bare = false;
    for (size_t n = 0; n < d->bodies.count; n++) bare = bare || d->bodies.list[n].triangles == 0;
    /* Sums for where bodies are, and no particles: 256 bytes a body. */
    if (!bare) assert_true(newer && world->gpu->newer && world->gpu->read_bytes - read <= d->bodies.count * 256);
    settings.cpu_skin = true;
    image other = make_picture(d, world, &settings, WIDTH, HEIGHT);
    assert_null(d->bodies.shares);
    assert_at_most(mean_difference(&shared, &other), 0.05);
    assert_at_most(share_beyond(&shared, &other, 8), 0.002);
    image_free(&shared);
    image_free(&other);
}

/* Pictures of a world that moves, loses bodies and gets others, until there are more than the buffers had room for. */
static void check_stage(draw *d, lm_world *world, draw_settings settings)
{
    for (int n = 0; n < 3; n++) {
        for (int k = 0; k < 4; k++) assert_ok(lm_world_step(world, FRAME));
        check_pictures(d, world, settings);
        if (n == 1) {
            lm_body_id ids[3];
            assert_int_equal(lm_world_get_bodies(world, ids, 3), 3);
            assert_ok(lm_body_destroy(world, ids[0])); /* the others have other places in the buffers */
        }
        if (n == 0) {
            lm_body_id ids[3];
            assert_int_equal(lm_world_get_bodies(world, ids, 3), 3);
            assert_ok(lm_body_destroy(world, ids[2])); /* the one without a skin */
            add_block(world, LM_SKIN_REGIONS, (lm_dvec3){0.8, 1.2, 0.0});
        }
    }
    settings.shares = world;
    image shared = make_picture(d, world, &settings, WIDTH, HEIGHT);
    image_free(&shared);
    for (int n = 0; n < 3; n++) add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){-0.6, 1.0 + 0.7 * n, 0.0});
    assert_ok(lm_world_step(world, FRAME)); /* more than the buffers had room for */
    check_pictures(d, world, settings);
}

static void surfaces_are_shared(void **context)
{
    (void)context;
    if (!has_device()) skip();
    assert_true(load_fake());
    draw *d = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    image before = make_picture(d, world, &settings, WIDTH, HEIGHT);
    const lm_gl gl = {LM_GL_EGL, FAKE_GL_CONTEXT, FAKE_EGL_DISPLAY};
    const lmi_gpu_limits limits = {.gl = &gl, .library = FAKE_OPENCL};
    lmi_gpu_open(world, "gpu", &limits);
    assert_true(lm_world_can_share(world));
    check_stage(d, world, settings);
    image after = make_picture(d, world, &settings, WIDTH, HEIGHT);
    assert_true(mean_difference(&before, &after) > 0.5); /* they have moved */
    fake_counts c = counts();
    assert_true(c.launches >= 6); /* two buffers in each of three pictures */
    assert_int_equal(c.acquired, c.released);
    assert_int_equal(c.created, c.freed);
    assert_int_equal(c.wrong, 0);
    image_free(&before);
    image_free(&after);
    lm_world_destroy(world);
    draw_close(d);
}

/* The same where the machine's own drivers share; PoCL's does not. */
static void drivers_share(void **context)
{
    (void)context;
    if (!has_device()) skip();
    draw *d = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_error error;
    lm_gl gl;
    assert_true(draw_context_enter(&d->context, &error));
    assert_true(draw_current_gl(&gl));
    const lmi_gpu_limits limits = {.gl = &gl};
    lmi_gpu_open(world, "gpu", &limits);
    draw_context_leave(&d->context);
    bool shares = lm_world_can_share(world);
    if (shares) check_stage(d, world, look_at_stage(lm_dvec3_zero()));
    lm_world_destroy(world);
    draw_close(d);
    if (!shares) skip();
}

/* The context of the renderer can be told to a world. */
static void contexts_are_found(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    draw_error error;
    lm_gl gl;
    assert_true(draw_context_enter(&d->context, &error));
    assert_true(draw_current_gl(&gl));
    assert_non_null(gl.context);
    assert_non_null(gl.display);
    draw_context_leave(&d->context);
    draw_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(surfaces_are_shared), cmocka_unit_test(drivers_share),
                                       cmocka_unit_test(contexts_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
