/*
 * Surfaces as they are now.
 *
 * What the skins ride on (particles, region transforms) goes to the graphics card once a frame, for all bodies together.
 * A vertex shader there carries every vertex, and a second one finds the normals from the triangles around it, or from the
 * cell around it in a lattice: once a frame, however often the surface is then drawn. The other way is to ask the library
 * for every vertex (lm_body_get_skin); both give the same surface. A world on a device that shares skins with this context has a
 * third one (share.c).
 */
#include "draw/internal.h"

#include <string.h>

/* Texels of a region: an lm_region_transform is 33 floats. */
#define REGION_TEXELS 9
_Static_assert(sizeof(lm_region_transform) == 33 * sizeof(float), "the shader reads it as it lies in memory");

static bool read_particles(draw_bodies *b, const draw_frame *frame, draw_error *error)
{
    for (size_t n = 0; n < b->count; n++) {
        const draw_body *body = &b->list[n];
        if (!draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch) ||
            !draw_could_read(lm_body_get_positions(frame->world, body->id, body->centre, b->scratch), error)) {
            return false;
        }
        vec4 *to = b->particle + body->first_particle;
        for (uint32_t k = 0; k < body->particles; k++) {
            to[k][0] = b->scratch[k].x, to[k][1] = b->scratch[k].y, to[k][2] = b->scratch[k].z, to[k][3] = 1.0f;
        }
        vec3 anchor;
        draw_to_vec3(draw_subtract(body->centre, frame->eye), anchor);
        glm_vec4(anchor, 1.0f, b->anchor[n]);
    }
    return true;
}

static bool reserve_and_read(draw_bodies *b, const draw_frame *frame, draw_error *error)
{
    return draw_reserve(&b->particle, &b->particle_capacity, b->particles, sizeof *b->particle) &&
           draw_reserve(&b->anchor, &b->anchor_capacity, b->count, sizeof *b->anchor) &&
           read_particles(b, frame, error);
}

static bool read_regions(draw_bodies *b, const draw_frame *frame, draw_error *error)
{
    for (size_t n = 0; n < b->count; n++) {
        const draw_body *body = &b->list[n];
        if (!body->rides_on_regions) {
            continue;
        }
        if (!draw_reserve(&b->transforms, &b->transform_capacity, body->regions, sizeof *b->transforms) ||
            !draw_could_read(lm_body_get_region_transforms(frame->world, body->id, body->centre, b->transforms),
                             error)) {
            return false;
        }
        for (uint32_t r = 0; r < body->regions; r++) {
            memcpy(b->region[(size_t)(body->first_region + r) * REGION_TEXELS], &b->transforms[r],
                   sizeof b->transforms[r]);
        }
    }
    return true;
}

/* Runs a vertex shader over all vertices and keeps what it writes. */
static void capture(const draw_bodies *b, GLuint program, GLuint array, const draw_stream *into)
{
    glUseProgram(program);
    glBindVertexArray(array);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, into->buffer);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, (GLsizei)b->vertices);
    glEndTransformFeedback();
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
    glBindVertexArray(0);
}

static bool deform_on_card(draw_bodies *b, const draw_frame *frame, const draw_programs *programs, draw_error *error)
{
    size_t texels = (size_t)b->regions * REGION_TEXELS;
    if (!draw_reserve(&b->region, &b->region_capacity, texels, sizeof *b->region) || !read_regions(b, frame, error)) {
        return false;
    }
    draw_stream_write(&b->particle_stream, b->particle, b->particles * sizeof *b->particle, GL_RGBA32F, UNIT_PARTICLES);
    draw_stream_write(&b->region_stream, b->region, texels * sizeof *b->region, GL_RGBA32F, UNIT_REGIONS);
    draw_stream_write(&b->anchor_stream, b->anchor, b->count * sizeof *b->anchor, GL_RGBA32F, UNIT_ANCHORS);
    draw_stream_write(&b->position_stream, NULL, b->vertices * sizeof(vec4), GL_RGBA32F, UNIT_POSITIONS);
    draw_stream_write(&b->normal_stream, NULL, b->vertices * sizeof(lm_vec3), 0, 0);
    glEnable(GL_RASTERIZER_DISCARD);
    capture(b, programs->skin, b->skin_array, &b->position_stream);
    capture(b, programs->normal, b->ring_array, &b->normal_stream);
    glDisable(GL_RASTERIZER_DISCARD);
    return true;
}

static bool deform_on_host(draw_bodies *b, const draw_frame *frame, draw_error *error)
{
    if (!draw_reserve(&b->position, &b->position_capacity, b->vertices, sizeof *b->position) ||
        !draw_reserve(&b->normals, &b->normal_capacity, b->vertices, sizeof *b->normals)) {
        return false;
    }
    for (size_t n = 0; n < b->count; n++) {
        const draw_body *body = &b->list[n];
        if (body->vertices == 0) {
            continue;
        }
        if (!draw_reserve(&b->scratch, &b->scratch_capacity, body->vertices, sizeof *b->scratch) ||
            !draw_could_read(
                lm_body_get_skin(frame->world, body->id, frame->eye, b->scratch, b->normals + body->first_vertex),
                error)) {
            return false;
        }
        for (uint32_t k = 0; k < body->vertices; k++) {
            lm_vec3 p = b->scratch[k];
            glm_vec4_copy((vec4){p.x, p.y, p.z, 1.0f}, b->position[body->first_vertex + k]);
        }
    }
    draw_stream_write(&b->position_stream, b->position, b->vertices * sizeof *b->position, 0, 0);
    draw_stream_write(&b->normal_stream, b->normals, b->vertices * sizeof *b->normals, 0, 0);
    return true;
}

/* Whether the driver's textures hold as much as the shaders read from them. */
static bool fits_textures(const draw_bodies *b)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
    size_t needed = 3 * (size_t)b->triangles, others[] = {b->particles, (size_t)b->regions * REGION_TEXELS, b->riders};
    for (int n = 0; n < 3; n++) {
        needed = others[n] > needed ? others[n] : needed;
    }
    return needed <= (size_t)most;
}

bool draw_bodies_deform(draw_bodies *b, const draw_frame *frame, const draw_programs *programs, draw_error *error)
{
    b->on_host = frame->settings->cpu_skin || !fits_textures(b);
    if (draw_bodies_share(b, frame)) { /* particles stay on the device, unless they are shown */
        bool seen = frame->views & ~(uint32_t)(DRAW_SURFACE | DRAW_WIREFRAME);
        for (size_t n = 0; n < b->count; n++) {
            seen = seen || b->list[n].triangles == 0; /* nothing else of it can be drawn */
        }
        b->on_host = false;
        return (!seen || reserve_and_read(b, frame, error)) && draw_bodies_sort_out(b, seen);
    }
    bool ok = reserve_and_read(b, frame, error) && draw_bodies_sort_out(b, true);
    ok = ok && (b->on_host ? deform_on_host(b, frame, error) : deform_on_card(b, frame, programs, error));
    return ok || draw_give_up(error);
}

void draw_bodies_capture(const draw_bodies *b, GLuint program, const draw_stream *into)
{
    glEnable(GL_RASTERIZER_DISCARD);
    capture(b, program, b->ring_array, into);
    glDisable(GL_RASTERIZER_DISCARD);
}
