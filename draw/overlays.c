/*
 * Balls and lines that are put together each frame: particles, goals, links, contacts.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

bool draw_overlays_ball(draw_overlays *o, const vec3 middle, float radius, const uint8_t rgba[4])
{
    if (!draw_reserve(&o->balls, &o->ball_capacity, o->ball_count + 1, sizeof *o->balls)) {
        return false;
    }
    draw_ball *ball = &o->balls[o->ball_count++];
    memcpy(ball->middle, middle, sizeof ball->middle);
    memcpy(ball->rgba, rgba, sizeof ball->rgba);
    ball->radius = radius;
    return true;
}

bool draw_overlays_line(draw_overlays *o, const vec3 from, const vec3 to, const uint8_t rgba[4])
{
    if (!draw_reserve(&o->lines, &o->line_capacity, o->line_count + 1, sizeof *o->lines)) {
        return false;
    }
    draw_line *line = &o->lines[o->line_count++];
    memcpy(line->from, from, sizeof line->from);
    memcpy(line->to, to, sizeof line->to);
    memcpy(line->rgba, rgba, sizeof line->rgba);
    return true;
}

/* An attribute of each ball or line. */
static void attribute(GLuint place, int size, GLenum type, size_t stride, size_t offset)
{
    glEnableVertexAttribArray(place);
    glVertexAttribPointer(place, size, type, type == GL_UNSIGNED_BYTE, (GLsizei)stride, (const void *)offset);
    glVertexAttribDivisor(place, 1);
}

static void ball_attributes(const draw_overlays *o, size_t first)
{
    size_t from = first * sizeof(draw_ball);
    glBindVertexArray(o->ball_array);
    glBindBuffer(GL_ARRAY_BUFFER, o->ball_stream.buffer);
    attribute(0, 4, GL_FLOAT, sizeof(draw_ball), from);
    attribute(1, 4, GL_UNSIGNED_BYTE, sizeof(draw_ball), from + offsetof(draw_ball, rgba));
}

static void line_attributes(const draw_overlays *o, size_t first)
{
    size_t from = first * sizeof(draw_line);
    glBindVertexArray(o->line_array);
    glBindBuffer(GL_ARRAY_BUFFER, o->line_stream.buffer);
    attribute(0, 3, GL_FLOAT, sizeof(draw_line), from);
    attribute(1, 3, GL_FLOAT, sizeof(draw_line), from + offsetof(draw_line, to));
    attribute(2, 4, GL_UNSIGNED_BYTE, sizeof(draw_line), from + offsetof(draw_line, rgba));
}

void draw_overlays_send(draw_overlays *o)
{
    if (!o->ball_array) {
        glGenVertexArrays(1, &o->ball_array);
        glGenVertexArrays(1, &o->line_array);
    }
    draw_stream_write(&o->ball_stream, o->balls, o->ball_count * sizeof *o->balls, 0, 0);
    draw_stream_write(&o->line_stream, o->lines, o->line_count * sizeof *o->lines, 0, 0);
}

void draw_overlays_balls(const draw_overlays *o, size_t first, size_t count)
{
    if (count) {
        ball_attributes(o, first);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)count);
        glBindVertexArray(0);
    }
}

void draw_overlays_lines(const draw_overlays *o, size_t first, size_t count)
{
    if (count) {
        line_attributes(o, first);
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)count);
        glBindVertexArray(0);
    }
}

void draw_overlays_free(draw_overlays *o)
{
    glDeleteVertexArrays(1, &o->ball_array);
    glDeleteVertexArrays(1, &o->line_array);
    draw_stream_free(&o->ball_stream);
    draw_stream_free(&o->line_stream);
    free(o->balls);
    free(o->lines);
    memset(o, 0, sizeof *o);
}
