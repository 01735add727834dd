/*
 * Surfaces that the device which steps the world writes straight into the renderer's buffers (lm_body_share_skin), where the
 * driver can: nothing of them goes through the CPU. Which context that is, the world is told when it is made.
 */
#include "draw/internal.h"

#include <dlfcn.h>
#include <string.h>

/* ---- the context that is current ---- */

/* Calls a function without arguments of a library, if it is loaded: whoever made the context has done that. */
static void *ask(const char *library, const char *function)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD), *found = handle ? dlsym(handle, function) : NULL;
    void *(*call)(void) = NULL;
    memcpy(&call, &found, sizeof found); /* a pointer to a function comes as a pointer to data */
    void *answer = call ? call() : NULL;
    if (handle) {
        dlclose(handle);
    }
    return answer;
}

bool draw_current_gl(lm_gl *gl)
{
    *gl = (lm_gl){LM_GL_EGL, ask("libEGL.so.1", "eglGetCurrentContext"), ask("libEGL.so.1", "eglGetCurrentDisplay")};
    if (!gl->context) {
        static const char *const libraries[] = {"libGLX.so.0", "libGL.so.1"};
        for (int n = 0; n < 2 && !gl->context; n++) {
            *gl = (lm_gl){LM_GL_GLX, ask(libraries[n], "glXGetCurrentContext"),
                          ask(libraries[n], "glXGetCurrentDisplay")};
        }
    }
    return gl->context != NULL;
}

/* ---- buffers ---- */

void draw_bodies_unshare(draw_bodies *b, const lm_world *world)
{
    bool lives = b->shares == world; /* of another one nothing is known */
    for (size_t n = 0; lives && n < b->shared_count; n++) {
        if (lm_body_is_valid(world, b->shared[n])) {
            lm_body_share_skin(b->shares, b->shared[n], NULL, NULL);
        }
    }
    b->shared_count = 0;
    b->shares = NULL;
}

/* Room that stays as it is from frame to frame, and a place in it for each body. */
static bool share_bodies(draw_bodies *b, lm_world *world)
{
    if (!draw_reserve(&b->position, &b->position_capacity, b->vertices, sizeof *b->position) ||
        !draw_reserve(&b->shared, &b->shared_capacity, b->count, sizeof *b->shared)) {
        return false;
    }
    for (size_t n = 0; n < b->vertices; n++) {
        glm_vec4_copy((vec4){0.0f, 0.0f, 0.0f, 1.0f}, b->position[n]);
    }
    draw_stream_write(&b->position_stream, b->position, b->vertices * sizeof *b->position, GL_RGBA32F, UNIT_POSITIONS);
    draw_stream_write(&b->normal_stream, NULL, b->vertices * sizeof(lm_vec3), 0, 0);
    glFinish();
    b->shares = world;
    bool ok = true;
    for (size_t n = 0; ok && n < b->count; n++) {
        const draw_body *body = &b->list[n];
        const lm_skin_buffer positions = {b->position_stream.buffer, sizeof(vec4), body->first_vertex * sizeof(vec4)};
        const lm_skin_buffer normals = {b->normal_stream.buffer, sizeof(lm_vec3), body->first_vertex * sizeof(lm_vec3)};
        if (body->vertices) {
            ok = lm_body_share_skin(world, body->id, &positions, &normals) == LM_OK;
            b->shared[b->shared_count++] = body->id;
        }
    }
    return ok;
}

bool draw_bodies_share(draw_bodies *b, const draw_frame *frame)
{
    lm_world *world = frame->settings->shares;
    bool values = frame->views & DRAW_MAPS; /* are found by shaders, or carried, beside the vertices */
    bool wanted = world && world == frame->world && lm_world_can_share(world) && !frame->settings->cpu_skin && !values;
    if (b->shares && (!wanted || b->shares != world)) {
        draw_bodies_unshare(b, frame->world);
    }
    if (!wanted || (!b->shares && !share_bodies(b, world))) {
        draw_bodies_unshare(b, frame->world);
        return false;
    }
    glFinish(); /* what is drawn from the buffers is done */
    bool ok = lm_world_share_skins(world, frame->eye) == LM_OK;
    if (!ok) {
        draw_bodies_unshare(b, frame->world);
    }
    return ok;
}
