/*
 * Buffers that are written as a whole, most of them every frame: the driver gets new memory for them each time, so that it
 * need not wait for the picture before, and capacity is kept.
 */
#include "draw/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool draw_fail(draw_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

bool draw_out_of_memory(draw_error *error) { return draw_fail(error, "out of memory for drawing"); }

bool draw_could_read(lm_result result, draw_error *error)
{
    return result == LM_OK || draw_fail(error, "the world cannot be drawn: %s", lm_result_text(result));
}

bool draw_give_up(draw_error *error) { return error->text[0] ? false : draw_out_of_memory(error); }

bool draw_reserve(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity) {
        return true;
    }
    void *old;
    memcpy(&old, array, sizeof old); /* a pointer to any type */
    size_t grown = *capacity + *capacity / 2 > needed ? *capacity + *capacity / 2 : needed;
    void *memory = grown <= SIZE_MAX / size ? realloc(old, grown * size) : NULL;
    if (!memory) {
        return false;
    }
    memcpy(array, &memory, sizeof memory);
    *capacity = grown;
    return true;
}

void draw_stream_write(draw_stream *stream, const void *data, size_t size, GLenum format, int unit)
{
    if (!stream->buffer) {
        glGenBuffers(1, &stream->buffer);
    }
    glBindBuffer(GL_ARRAY_BUFFER, stream->buffer);
    if (size > stream->capacity) {
        stream->capacity = size + size / 4;
    }
    stream->capacity = stream->capacity ? stream->capacity : 16; /* an empty buffer cannot be a texture */
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)stream->capacity, NULL, GL_STREAM_DRAW);
    if (data && size) {
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, data);
    }
    if (format) {
        if (!stream->texture) {
            glGenTextures(1, &stream->texture);
        }
        draw_stream_bind(stream, format, unit);
    }
}

void draw_stream_bind(const draw_stream *stream, GLenum format, int unit)
{
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_BUFFER, stream->texture);
    glTexBuffer(GL_TEXTURE_BUFFER, format, stream->buffer);
    glActiveTexture(GL_TEXTURE0);
}

void draw_stream_free(draw_stream *stream)
{
    glDeleteBuffers(1, &stream->buffer);
    glDeleteTextures(1, &stream->texture);
    memset(stream, 0, sizeof *stream);
}
