/*
 * Shaders: files of draw/shaders, compiled into the program as text, become OpenGL programs.
 *
 * A line `#include "file"` is replaced by that file, as in C. Every program shares the uniform block `frame`, and finds each
 * texture at the same unit.
 */
#include "cmake/embedded.h"
#include "draw/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PIECES 16

static const char *const sampler_names[UNIT_COUNT] = {
    [UNIT_PARTICLES] = "particles",
    [UNIT_REGIONS] = "regions",
    [UNIT_ANCHORS] = "anchors",
    [UNIT_RIDERS] = "riders",
    [UNIT_RINGS] = "rings",
    [UNIT_REST] = "rest_positions",
    [UNIT_PARTICLE_REST] = "rest_particles",
    [UNIT_POSITIONS] = "positions",
    [UNIT_COLOURS] = "colours",
    [UNIT_VALUES] = "values",
    [UNIT_SHADOW] = "shadow_map",
    [UNIT_SHADOW_DEPTH] = "shadow_depths",
    [UNIT_DEPTH] = "scene_depths",
    [UNIT_VISIBILITY] = "visibility",
    [UNIT_VISIBILITY_RAW] = "rough_visibility",
};

/* Pieces of text that make up a shader. */
typedef struct pieces {
    const char *text[MOST_PIECES];
    GLint length[MOST_PIECES];
    GLsizei count;
} pieces;

static bool add_piece(pieces *p, const char *text, size_t length)
{
    if (p->count == MOST_PIECES) {
        return false;
    }
    p->text[p->count] = text;
    p->length[p->count++] = (GLint)length;
    return true;
}

/* Adds a file, with those that it includes in their places. */
static bool add_file(pieces *p, const char *name, draw_error *error)
{
    const char *text = embedded_find(embedded_shaders, name);
    if (!text) {
        return draw_fail(error, "there is no shader %s", name);
    }
    const char *mark = "#include \"";
    bool ok = true;
    for (const char *found; ok && (found = strstr(text, mark)) != NULL;) {
        const char *from = found + strlen(mark), *to = strchr(from, '"');
        char included[64];
        snprintf(included, sizeof included, "%.*s", (int)(to - from), from);
        ok = add_piece(p, text, (size_t)(found - text)) && add_file(p, included, error);
        text = to + 1;
    }
    return ok && add_piece(p, text, strlen(text));
}

static GLuint compile(GLenum kind, const char *name, const char *defines, draw_error *error)
{
    pieces p = {.count = 0};
    const char *version = "#version 330 core\n";
    bool ok =
        add_piece(&p, version, strlen(version)) && add_piece(&p, defines, strlen(defines)) && add_file(&p, name, error);
    if (!ok) {
        return 0;
    }
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, p.count, p.text, p.length);
    glCompileShader(shader);
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled) {
        char log[DRAW_ERROR_SIZE / 2] = "";
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        log[strcspn(log, "\n")] = '\0';
        draw_fail(error, "the driver refuses the shader %s: %s", name, log);
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

static bool link_program(GLuint program, const char *name, draw_error *error)
{
    glLinkProgram(program);
    GLint linked = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) {
        char log[DRAW_ERROR_SIZE / 2] = "";
        glGetProgramInfoLog(program, sizeof log, NULL, log);
        log[strcspn(log, "\n")] = '\0';
        return draw_fail(error, "the driver cannot link the shader %s: %s", name, log);
    }
    return true;
}

GLuint draw_program_build(const char *vertex, const char *fragment, const char *defines, const char *captured,
                          draw_error *error)
{
    GLuint program = glCreateProgram(), parts[2] = {0, 0};
    parts[0] = compile(GL_VERTEX_SHADER, vertex, defines, error);
    parts[1] = parts[0] ? compile(GL_FRAGMENT_SHADER, fragment, defines, error) : 0;
    bool ok = parts[0] && parts[1];
    for (int n = 0; n < 2; n++) {
        if (parts[n]) {
            glAttachShader(program, parts[n]);
            glDeleteShader(parts[n]); /* when the program goes */
        }
    }
    if (captured) {
        glTransformFeedbackVaryings(program, 1, &captured, GL_INTERLEAVED_ATTRIBS);
    }
    if (!ok || !link_program(program, vertex, error)) {
        glDeleteProgram(program);
        return 0;
    }
    GLuint block = glGetUniformBlockIndex(program, "frame");
    if (block != GL_INVALID_INDEX) {
        glUniformBlockBinding(program, block, 0);
    }
    glUseProgram(program);
    for (int unit = 0; unit < UNIT_COUNT; unit++) {
        glUniform1i(glGetUniformLocation(program, sampler_names[unit]), unit);
    }
    glUseProgram(0);
    return program;
}

/* Which files make which program. */
typedef struct recipe {
    size_t place; /* in draw_programs */
    const char *vertex, *fragment, *defines, *captured;
} recipe;

#define PLACE(name) offsetof(draw_programs, name)
#define DEPTH_ONLY "#define DEPTH_ONLY\n"

static const recipe recipes[] = {
    {PLACE(skin), "skin.vert", "nothing.frag", "", "moved"},
    {PLACE(normal), "normal.vert", "nothing.frag", "", "normal"},
    {PLACE(strain), "strain.vert", "nothing.frag", "", "strain"},
    {PLACE(surface), "surface.vert", "surface.frag", "", NULL},
    {PLACE(inside), "surface.vert", "surface.frag", "#define INSIDE\n", NULL},
    {PLACE(surface_depth), "surface.vert", "nothing.frag", DEPTH_ONLY, NULL},
    {PLACE(collider), "collider.vert", "surface.frag", "#define MATT\n", NULL},
    {PLACE(collider_depth), "collider.vert", "nothing.frag", DEPTH_ONLY, NULL},
    {PLACE(floor), "plane.vert", "floor.frag", "", NULL},
    {PLACE(floor_depth), "plane.vert", "nothing.frag", DEPTH_ONLY, NULL},
    {PLACE(wall), "plane.vert", "wall.frag", "", NULL},
    {PLACE(backdrop), "screen.vert", "backdrop.frag", "", NULL},
    {PLACE(sphere), "sphere.vert", "sphere.frag", "", NULL},
    {PLACE(sphere_depth), "sphere.vert", "sphere.frag", DEPTH_ONLY, NULL},
    {PLACE(line), "line.vert", "line.frag", "", NULL},
    {PLACE(wire), "line.vert", "line.frag", "#define WIRE\n", NULL},
    {PLACE(visibility), "screen.vert", "visibility.frag", "", NULL},
    {PLACE(smooth), "screen.vert", "smooth.frag", "", NULL},
};

static GLuint *program_at(draw_programs *programs, size_t place)
{
    return (GLuint *)(void *)((char *)programs + place);
}

bool draw_programs_build(draw_programs *programs, draw_error *error)
{
    for (size_t n = 0; n < sizeof recipes / sizeof recipes[0]; n++) {
        const recipe *r = &recipes[n];
        GLuint program = draw_program_build(r->vertex, r->fragment, r->defines, r->captured, error);
        if (!program) {
            return false;
        }
        *program_at(programs, r->place) = program;
    }
    return true;
}

void draw_programs_free(draw_programs *programs)
{
    for (size_t n = 0; n < sizeof recipes / sizeof recipes[0]; n++) {
        glDeleteProgram(*program_at(programs, recipes[n].place));
    }
    memset(programs, 0, sizeof *programs);
}
