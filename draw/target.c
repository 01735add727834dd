/*
 * What is drawn into: the picture with several samples a pixel and resolved to one, the small picture in which the light's
 * visibility is found, and the shadow map.
 */
#include "draw/internal.h"

#include <string.h>

/* Visibility is found in one pixel of four: it changes little from one pixel to the next, and costs the most. */
#define COARSER 2
#define SAMPLES 4

static GLuint make_texture(GLenum format, uint32_t width, uint32_t height, GLenum filter)
{
    bool depth = format == GL_DEPTH_COMPONENT32F;
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, (GLsizei)width, (GLsizei)height, 0,
                 depth ? GL_DEPTH_COMPONENT : GL_RGBA, depth ? GL_FLOAT : GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, (GLint)filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

static GLuint make_framebuffer(GLuint colour, GLuint depth)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    if (colour) {
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour, 0);
    } else {
        glDrawBuffer(GL_NONE);
        glReadBuffer(GL_NONE);
    }
    if (depth) {
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth, 0);
    }
    return framebuffer;
}

static bool is_complete(void) { return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE; }

static bool make_picture(draw_target *t)
{
    GLint samples = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &samples);
    samples = samples < SAMPLES ? samples : SAMPLES;
    GLsizei width = (GLsizei)t->width, height = (GLsizei)t->height;
    glGenRenderbuffers(1, &t->colour_buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, t->colour_buffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
    glGenRenderbuffers(1, &t->depth_buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, t->depth_buffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT32F, width, height);
    glGenFramebuffers(1, &t->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, t->colour_buffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, t->depth_buffer);
    bool ok = is_complete();
    t->resolved = make_texture(GL_RGBA8, t->width, t->height, GL_NEAREST);
    t->resolved_framebuffer = make_framebuffer(t->resolved, 0);
    return ok && is_complete();
}

static bool make_visibility(draw_target *t)
{
    t->small_depth = make_texture(GL_DEPTH_COMPONENT32F, t->small_width, t->small_height, GL_NEAREST);
    t->small_framebuffer = make_framebuffer(0, t->small_depth);
    bool ok = is_complete();
    for (int n = 0; n < 2; n++) {
        t->visibility[n] = make_texture(GL_RGBA8, t->small_width, t->small_height, GL_LINEAR);
        t->visibility_framebuffer[n] = make_framebuffer(t->visibility[n], 0);
        ok = ok && is_complete();
    }
    return ok;
}

static bool make_shadow(draw_target *t)
{
    t->shadow = make_texture(GL_DEPTH_COMPONENT32F, DRAW_SHADOW_SIZE, DRAW_SHADOW_SIZE, GL_NEAREST);
    t->shadow_framebuffer = make_framebuffer(0, t->shadow);
    bool ok = is_complete();
    GLuint samplers[2];
    glGenSamplers(2, samplers);
    const float lit[4] = {1.0f, 1.0f, 1.0f, 1.0f}; /* outside the map nothing is in the light's way */
    for (int n = 0; n < 2; n++) {
        glSamplerParameteri(samplers[n], GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
        glSamplerParameteri(samplers[n], GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
        glSamplerParameterfv(samplers[n], GL_TEXTURE_BORDER_COLOR, lit);
        glSamplerParameteri(samplers[n], GL_TEXTURE_MIN_FILTER, n == 0 ? GL_LINEAR : GL_NEAREST);
        glSamplerParameteri(samplers[n], GL_TEXTURE_MAG_FILTER, n == 0 ? GL_LINEAR : GL_NEAREST);
    }
    glSamplerParameteri(samplers[0], GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glSamplerParameteri(samplers[0], GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    t->compare = samplers[0];
    t->plain = samplers[1];
    return ok;
}

bool draw_target_make(draw_target *t, uint32_t width, uint32_t height, draw_error *error)
{
    memset(t, 0, sizeof *t);
    GLint most = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
    if (width > (uint32_t)most || height > (uint32_t)most) {
        return draw_fail(error, "this driver draws pictures of at most %d pixels each way", most);
    }
    t->width = width;
    t->height = height;
    t->small_width = (width + COARSER - 1) / COARSER;
    t->small_height = (height + COARSER - 1) / COARSER;
    bool ok = make_picture(t) && make_visibility(t) && make_shadow(t);
    ok = glGetError() == GL_NO_ERROR && ok;
    if (!ok) {
        draw_target_free(t);
        return draw_fail(error, "the driver has no memory for a picture of %u by %u pixels", width, height);
    }
    return true;
}

void draw_target_free(draw_target *t)
{
    GLuint framebuffers[] = {t->framebuffer,
                             t->resolved_framebuffer,
                             t->small_framebuffer,
                             t->visibility_framebuffer[0],
                             t->visibility_framebuffer[1],
                             t->shadow_framebuffer};
    GLuint textures[] = {t->resolved, t->small_depth, t->visibility[0], t->visibility[1], t->shadow};
    GLuint buffers[] = {t->colour_buffer, t->depth_buffer}, samplers[] = {t->compare, t->plain};
    glDeleteFramebuffers(6, framebuffers);
    glDeleteTextures(5, textures);
    glDeleteRenderbuffers(2, buffers);
    glDeleteSamplers(2, samplers);
    memset(t, 0, sizeof *t);
}
