/*
 * A picture of a world, as the list of its passes:
 *
 *   find        the bodies and colliders there are, their colours, the camera and the light
 *   deform      particles and regions go to the graphics card; surfaces follow them there
 *   shadow map  depths seen from the light
 *   visibility  depths seen from the camera, and from both how much light reaches what is seen
 *   picture     backdrop, floors, colliders, surfaces; then what lets see through: walls, lines, marks
 *   read back   samples resolved to pixels, pixels read, the legend written
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* How much is left of a surface that lets see what is inside. */
#define GHOST_OPACITY 0.28f

/* The least upper ends of the colour maps, so that what rests is drawn as at rest and not with its rounding errors. */
#define LEAST_STRAIN 0.02f
#define LEAST_SPEED 0.1f
#define LEAST_STRESS 1.0f /* Pa, or a strain of 1e-5 */

/* ---- lifetime ---- */

static bool start(draw *d, uint32_t width, uint32_t height, draw_error *error)
{
    if (!draw_target_make(&d->target, width, height, error) || !draw_programs_build(&d->programs, error)) {
        return false;
    }
    glGenBuffers(1, &d->frame_buffer);
    glBindBuffer(GL_UNIFORM_BUFFER, d->frame_buffer);
    glBufferData(GL_UNIFORM_BUFFER, sizeof(draw_frame_block), NULL, GL_STREAM_DRAW);
    glGenVertexArrays(1, &d->empty_array);
    d->speed = (draw_range){.label = "speed, m/s", .brief = "m/s"};
    d->strain = (draw_range){.label = "strain", .brief = "strain"};
    d->stress = (draw_range){.label = "von Mises stress, Pa", .brief = "Pa"};
    return true;
}

static bool check_size(uint32_t width, uint32_t height, draw_error *error)
{
    bool good = width >= 16 && width <= 8192 && height >= 16 && height <= 8192;
    return good || draw_fail(error, "a picture is 16 to 8192 pixels each way, not %u by %u", width, height);
}

static draw *open_with(bool own_context, uint32_t width, uint32_t height, draw_error *error)
{
    if (!check_size(width, height, error)) {
        return NULL;
    }
    draw *d = calloc(1, sizeof *d);
    if (!d) {
        draw_out_of_memory(error);
        return NULL;
    }
    if (own_context && !draw_context_open(&d->context, error)) {
        free(d);
        return NULL;
    }
    if (!draw_context_check(error)) { /* before any call that it may not have */
        draw_context_close(&d->context);
        free(d);
        return NULL;
    }
    if (!start(d, width, height, error)) {
        draw_close(d);
        return NULL;
    }
    draw_context_leave(&d->context);
    return d;
}

draw *draw_open(uint32_t width, uint32_t height, draw_error *error) { return open_with(true, width, height, error); }

draw *draw_open_current(uint32_t width, uint32_t height, draw_error *error)
{
    return open_with(false, width, height, error);
}

bool draw_resize(draw *d, uint32_t width, uint32_t height, draw_error *error)
{
    if (d->target.width == width && d->target.height == height) {
        return true;
    }
    if (!check_size(width, height, error) || !draw_context_enter(&d->context, error)) {
        return false;
    }
    draw_target other;
    bool made = draw_target_make(&other, width, height, error);
    if (made) {
        draw_target_free(&d->target);
        d->target = other;
    }
    draw_context_leave(&d->context);
    return made;
}

void draw_close(draw *d)
{
    draw_error ignored;
    if (!d) {
        return;
    }
    if (draw_context_enter(&d->context, &ignored)) {
        draw_bodies_free(&d->bodies);
        draw_colliders_free(&d->colliders);
        draw_overlays_free(&d->overlays);
        draw_programs_free(&d->programs);
        draw_target_free(&d->target);
        glDeleteBuffers(1, &d->frame_buffer);
        glDeleteVertexArrays(1, &d->empty_array);
        glFinish();
    }
    draw_colours_free(&d->colours);
    draw_colours_free(&d->collider_colours);
    draw_context_close(&d->context);
    free(d);
}

bool draw_set_colours(draw *d, lm_body_id body, const uint8_t *rgb, uint32_t count, draw_error *error)
{
    if (count == 0 || body.slot == 0) {
        return draw_fail(error, "colours need a body and at least one of them");
    }
    return draw_colours_put(&d->colours, body.slot, body.generation, rgb, count) || draw_out_of_memory(error);
}

bool draw_set_collider_colour(draw *d, lm_collider_id collider, const uint8_t rgb[3], draw_error *error)
{
    if (collider.slot == 0) {
        return draw_fail(error, "a colour needs a collider");
    }
    return draw_colours_put(&d->collider_colours, collider.slot, collider.generation, rgb, 1) ||
           draw_out_of_memory(error);
}

void draw_forget(draw *d)
{
    uint64_t revision = d->colours.revision + 1; /* what is coloured already is not, by the next world's colours */
    draw_colours_free(&d->colours);
    draw_colours_free(&d->collider_colours);
    d->colours.revision = revision;
    d->speed.most = d->strain.most = d->stress.most = d->stress.usual = 0.0f;
    d->map = NULL;
}

draw_settings draw_settings_default(void)
{
    draw_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.views = DRAW_SURFACE;
    settings.bodies = true;
    settings.camera.at = (lm_dvec3){4.0, 3.0, 8.0};
    settings.camera.field_of_view = 35.0;
    return settings;
}

/* ---- passes ---- */

/* What the views ask for, with what they imply. */
static void set_views(draw_frame *frame)
{
    uint32_t views = frame->settings->views;
    if ((views & DRAW_COLOURINGS) && !(views & (DRAW_SURFACE | DRAW_WIREFRAME | DRAW_PARTICLES))) {
        views |= DRAW_SURFACE; /* colours of something */
    }
    views = views ? views : (uint32_t)DRAW_SURFACE;
    frame->ghost = (views & DRAW_SURFACE) && (views & (DRAW_PARTICLES | DRAW_GOALS | DRAW_LINKS | DRAW_BONES));
    frame->views = views;
    /* Over surfaces, which show the colours, wires are dark; alone they show them. */
    bool is_map = (views & DRAW_MAPS) != 0;
    float ink = (views & DRAW_SURFACE) ? 0.85f : is_map ? 0.0f : 0.25f;
    glm_vec4_copy((vec4){0.10f, 0.12f, 0.16f, ink}, frame->wire_ink);
}

static void set_uniform_matrix(GLuint program, const char *name, mat4 matrix)
{
    glUniformMatrix4fv(glGetUniformLocation(program, name), 1, GL_FALSE, matrix[0]);
}

/* Everything solid, as depths seen through a matrix. */
static void draw_depths(draw *d, const draw_frame *frame, mat4 matrix, bool from_light)
{
    glEnable(GL_DEPTH_TEST);
    glUseProgram(d->programs.collider_depth);
    set_uniform_matrix(d->programs.collider_depth, "clip_from_position", matrix);
    draw_colliders_draw(&d->colliders);
    if (frame->settings->bodies && (frame->views & DRAW_SURFACE) && (from_light || !frame->ghost)) {
        glUseProgram(d->programs.surface_depth);
        set_uniform_matrix(d->programs.surface_depth, "clip_from_position", matrix);
        draw_bodies_outsides(&d->bodies);
    }
    if (d->overlays.solid_balls) {
        glUseProgram(d->programs.sphere_depth);
        set_uniform_matrix(d->programs.sphere_depth, "clip_from_position", matrix);
        glUniform1i(glGetUniformLocation(d->programs.sphere_depth, "from_light"), from_light);
        draw_overlays_balls(&d->overlays, 0, d->overlays.solid_balls);
    }
    if (!from_light) {
        glUseProgram(d->programs.floor_depth);
        set_uniform_matrix(d->programs.floor_depth, "clip_from_position", matrix);
        glBindVertexArray(d->empty_array);
        draw_floors(frame, &d->colliders, d->programs.floor_depth);
    }
}

static void bind_texture(int unit, GLuint texture, GLuint sampler)
{
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindSampler((GLuint)unit, sampler);
    glActiveTexture(GL_TEXTURE0);
}

static void draw_shadow_map(draw *d, draw_frame *frame)
{
    glBindFramebuffer(GL_FRAMEBUFFER, d->target.shadow_framebuffer);
    glViewport(0, 0, DRAW_SHADOW_SIZE, DRAW_SHADOW_SIZE);
    glClear(GL_DEPTH_BUFFER_BIT);
    /* From 0..1, as the map is read, to -1..1, as it is drawn. */
    mat4 spread = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {-1, -1, -1, 1}}, matrix;
    glm_mat4_mul(spread, frame->block.shadow_from_eye, matrix);
    glEnable(GL_DEPTH_CLAMP); /* what stands between the light and the map casts its shadow too */
    draw_depths(d, frame, matrix, true);
    glDisable(GL_DEPTH_CLAMP);
}

static void draw_screen(const draw *d, GLuint program)
{
    glUseProgram(program);
    glBindVertexArray(d->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void find_visibility(draw *d, draw_frame *frame)
{
    glBindFramebuffer(GL_FRAMEBUFFER, d->target.small_framebuffer);
    glViewport(0, 0, (GLsizei)d->target.small_width, (GLsizei)d->target.small_height);
    glClear(GL_DEPTH_BUFFER_BIT);
    draw_depths(d, frame, frame->block.clip_from_eye, false);

    glDisable(GL_DEPTH_TEST);
    bind_texture(UNIT_SHADOW, d->target.shadow, d->target.compare);
    bind_texture(UNIT_SHADOW_DEPTH, d->target.shadow, d->target.plain);
    bind_texture(UNIT_DEPTH, d->target.small_depth, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, d->target.visibility_framebuffer[0]);
    draw_screen(d, d->programs.visibility);
    bind_texture(UNIT_VISIBILITY_RAW, d->target.visibility[0], 0);
    glBindFramebuffer(GL_FRAMEBUFFER, d->target.visibility_framebuffer[1]);
    draw_screen(d, d->programs.smooth);
    bind_texture(UNIT_VISIBILITY, d->target.visibility[1], 0);
}

/* Uniforms of programs that colour vertices. */
static void set_colouring(GLuint program, const draw_range *range)
{
    glUniform3fv(glGetUniformLocation(program, "map_stops"), DRAW_MAP_STOPS, draw_map_stops());
    glUniform2f(glGetUniformLocation(program, "map_range"), range ? range->low : 0.0f, range ? range->high : 0.0f);
}

static void draw_body_surfaces(draw *d, const draw_range *range, float opacity)
{
    GLuint programs[] = {d->programs.surface, d->programs.inside};
    for (int n = 0; n < 2; n++) {
        glUseProgram(programs[n]);
        set_colouring(programs[n], range);
        glUniform1f(glGetUniformLocation(programs[n], "opacity"), opacity);
        (n == 0 ? draw_bodies_outsides : draw_bodies_insides)(&d->bodies);
    }
}

/* Uniforms of balls: whether they are in bodies that are looked into, how many radii they are drawn towards the eye, and how
 * opaque. */
static void set_ball_style(GLuint program, bool inside, float nearer, float opacity)
{
    glUniform1i(glGetUniformLocation(program, "inside"), inside);
    glUniform1f(glGetUniformLocation(program, "nearer"), nearer);
    glUniform1f(glGetUniformLocation(program, "opacity"), opacity);
}

/* Uniforms of lines: how wide, what share of the way they are drawn towards the eye, how opaque, and how long a line must be
 * in the picture to be drawn in full. */
static void set_line_style(GLuint program, float width, float nearer, float opacity, float full_length)
{
    glUniform1f(glGetUniformLocation(program, "width"), width);
    glUniform1f(glGetUniformLocation(program, "nearer"), nearer);
    glUniform1f(glGetUniformLocation(program, "opacity"), opacity);
    glUniform1f(glGetUniformLocation(program, "full_length"), full_length);
}

/* What hides what is behind it. */
static void draw_solid(draw *d, const draw_frame *frame, const draw_range *range)
{
    glEnable(GL_DEPTH_TEST);
    if (frame->settings->bodies && (frame->views & DRAW_SURFACE) && !frame->ghost) {
        draw_body_surfaces(d, range, 1.0f);
    }
    glUseProgram(d->programs.collider);
    glUniform1f(glGetUniformLocation(d->programs.collider, "opacity"), 1.0f);
    draw_colliders_draw(&d->colliders);
    glUseProgram(d->programs.sphere);
    set_ball_style(d->programs.sphere, frame->ghost, 0.0f, 1.0f);
    glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    draw_overlays_balls(&d->overlays, 0, d->overlays.solid_balls);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    glUseProgram(d->programs.floor);
    glBindVertexArray(d->empty_array);
    draw_floors(frame, &d->colliders, d->programs.floor);
    glDepthFunc(GL_LEQUAL); /* as far as can be */
    draw_screen(d, d->programs.backdrop);
    glDepthFunc(GL_LESS);
}

/* The skins' triangles. Where surfaces are drawn too, those show the colours and wires are dark. */
static void draw_wires(draw *d, const draw_frame *frame, const draw_range *range, float pixel)
{
    float width = 1.1f * pixel, full_length = 20.0f * width;
    GLuint program = d->bodies.on_host ? d->programs.line : d->programs.wire;
    glUseProgram(program);
    set_line_style(program, width, 0.0015f, 1.0f, full_length);
    if (d->bodies.on_host) {
        draw_overlays_lines(&d->overlays, 0, d->overlays.wire_lines);
        return;
    }
    set_colouring(program, range);
    glUniform4fv(glGetUniformLocation(program, "ink"), 1, frame->wire_ink);
    glBindVertexArray(d->bodies.wire_array);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)d->bodies.edges);
}

/* Marks that things in front of them hide, but for a trace of them. */
static void draw_marks(const draw *d, float pixel)
{
    const draw_overlays *o = &d->overlays;
    size_t lines = o->line_count - o->solid_lines, balls = o->ball_count - o->solid_balls;
    for (int hidden = 1; hidden >= 0; hidden--) {
        float opacity = hidden ? 0.22f : 1.0f;
        (hidden ? glDisable : glEnable)(GL_DEPTH_TEST);
        glUseProgram(d->programs.line);
        set_line_style(d->programs.line, 2.2f * pixel, 0.01f, opacity, 0.0f);
        draw_overlays_lines(o, o->solid_lines, lines);
        glUseProgram(d->programs.sphere);
        set_ball_style(d->programs.sphere, false, 2.0f, opacity);
        draw_overlays_balls(o, o->solid_balls, balls);
    }
}

/* What lets see through. */
static void draw_over(draw *d, const draw_frame *frame, const draw_bounds *bounds, const draw_range *range)
{
    float pixel = fmaxf((float)d->target.height / 720.0f, 0.75f);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    glUseProgram(d->programs.wall);
    glBindVertexArray(d->empty_array);
    draw_walls(frame, &d->colliders, bounds, d->programs.wall);
    if (frame->settings->bodies && (frame->views & DRAW_WIREFRAME)) {
        draw_wires(d, frame, range, pixel);
    }
    glUseProgram(d->programs.line);
    set_line_style(d->programs.line, 1.3f * pixel, 0.001f, 1.0f, 0.0f);
    draw_overlays_lines(&d->overlays, d->overlays.wire_lines, d->overlays.solid_lines - d->overlays.wire_lines);
    draw_marks(d, pixel);
    if (frame->settings->bodies && frame->ghost) {
        /* Depths first, so that of each body only what is in front is mixed in. */
        glDepthMask(GL_TRUE);
        glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
        draw_body_surfaces(d, range, GHOST_OPACITY);
        glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        glDepthFunc(GL_LEQUAL);
        draw_body_surfaces(d, range, GHOST_OPACITY);
        glDepthFunc(GL_LESS);
    }
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
}

static void read_picture(draw *d, image *picture)
{
    GLint width = (GLint)d->target.width, height = (GLint)d->target.height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, d->target.framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, d->target.resolved_framebuffer);
    glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, d->target.resolved_framebuffer);
    if (!picture) {
        return;
    }
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, picture->pixels);
    size_t row = (size_t)width * 3;
    for (int y = 0; y < height / 2; y++) { /* OpenGL begins at the bottom */
        uint8_t *a = picture->pixels + (size_t)y * row, *b = picture->pixels + (size_t)(height - 1 - y) * row;
        for (size_t n = 0; n < row; n++) {
            uint8_t swap = a[n];
            a[n] = b[n];
            b[n] = swap;
        }
    }
}

/* Values for the colour map, where a view asks for one; *range is null otherwise. */
static bool find_values(draw *d, const draw_frame *frame, const draw_range **range, draw_error *error)
{
    float most = 0.0f, asked = frame->settings->map_top;
    *range = NULL;
    if (frame->views & DRAW_STRAIN) {
        if (!draw_bodies_strain(&d->bodies, frame, &d->programs, &most, error)) {
            return false;
        }
        draw_range_set(&d->strain, asked, most, LEAST_STRAIN);
        *range = d->map = &d->strain;
    } else if (frame->views & DRAW_SPEED) {
        if (!draw_bodies_speed(&d->bodies, frame, &most, error)) {
            return false;
        }
        draw_range_set(&d->speed, asked, most, LEAST_SPEED);
        *range = d->map = &d->speed;
    } else if (frame->views & DRAW_STRESS) {
        float usual = 0.0f, stiffest = 0.0f;
        if (!draw_bodies_stress(&d->bodies, frame, &most, &usual, &stiffest, error)) {
            return false;
        }
        d->stress.usual = fmaxf(d->stress.usual, usual);
        draw_range_set(&d->stress, asked, most, fmaxf(LEAST_STRESS, 1e-5f * stiffest));
        draw_range_name_pascals(&d->stress);
        *range = d->map = &d->stress;
    }
    glBindVertexArray(d->bodies.surface_array);
    (*range ? glEnableVertexAttribArray : glDisableVertexAttribArray)(3);
    glBindVertexArray(0);
    return true;
}

/* What is in the world, where, and in which colours; *range is that of the colour map, or null. */
static bool find_things(draw *d, draw_frame *frame, draw_bounds *bounds, const draw_range **range, draw_error *error)
{
    const draw_settings *settings = frame->settings;
    frame->eye = settings->camera.at;
    if (!draw_bodies_find(&d->bodies, frame->world, error) ||
        !draw_bodies_colour(&d->bodies, frame->world, &d->colours, (frame->views & DRAW_REGIONS) != 0, error) ||
        !draw_colliders_find(&d->colliders, frame->world, &d->collider_colours, frame->eye, bounds, error)) {
        return false;
    }
    draw_bodies_bounds(&d->bodies, bounds);
    draw_camera_set(frame, settings, bounds, (double)d->target.width / d->target.height);
    draw_light_set(frame, bounds);
    float width = (float)d->target.width, height = (float)d->target.height;
    glm_vec4_copy((vec4){width, height, 1.0f / width, 1.0f / height}, frame->block.size);
    glBindBuffer(GL_UNIFORM_BUFFER, d->frame_buffer);
    glBufferData(GL_UNIFORM_BUFFER, sizeof frame->block, &frame->block, GL_STREAM_DRAW);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, d->frame_buffer);
    return draw_bodies_deform(&d->bodies, frame, &d->programs, error) && find_values(d, frame, range, error);
}

static bool draw_passes(draw *d, draw_frame *frame, image *picture, draw_error *error)
{
    draw_bounds bounds = draw_bounds_empty();
    const draw_range *range = NULL;
    if (!find_things(d, frame, &bounds, &range, error) ||
        ((frame->views & DRAW_WIREFRAME) && !draw_bodies_make_edges(&d->bodies, error)) ||
        !draw_views_fill(&d->overlays, &d->bodies, &d->colliders, frame, range, error)) {
        return false;
    }
    draw_overlays_send(&d->overlays);
    draw_shadow_map(d, frame);
    find_visibility(d, frame);

    glBindFramebuffer(GL_FRAMEBUFFER, d->target.framebuffer);
    glViewport(0, 0, (GLsizei)d->target.width, (GLsizei)d->target.height);
    glClear(GL_DEPTH_BUFFER_BIT);
    draw_solid(d, frame, range);
    draw_over(d, frame, &bounds, range);
    read_picture(d, picture);
    memset(d->legend, 0, sizeof d->legend);
    if (picture && range) {
        draw_legend(picture, range);
        draw_legend_place(picture, range, d->legend);
    }
    return true;
}

void draw_show(const draw *d, int x, int y, uint32_t width, uint32_t height)
{
    GLint from = 0;
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &from);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, d->target.resolved_framebuffer);
    glBlitFramebuffer(0, 0, (GLint)d->target.width, (GLint)d->target.height, x, y, x + (GLint)width, y + (GLint)height,
                      GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)from);
}

/* Checks what is asked for, and enters the context. */
static bool begin(draw *d, const lm_world *world, const draw_settings *settings, draw_frame *frame, draw_error *error)
{
    uint32_t colouring = settings->views & DRAW_COLOURINGS;
    if (colouring & (colouring - 1)) {
        return draw_fail(error,
                         "the views regions, speed, strain and stress each colour the bodies: choose one of them");
    }
    memset(frame, 0, sizeof *frame);
    frame->world = world;
    frame->settings = settings;
    set_views(frame);
    error->text[0] = '\0';
    return draw_context_enter(&d->context, error);
}

static bool finish(draw *d, bool ok, draw_error *error)
{
    GLenum fault = glGetError();
    ok = ok && (fault == GL_NO_ERROR || draw_fail(error, "the driver reports error 0x%04x", fault));
    draw_context_leave(&d->context);
    return ok;
}

bool draw_world(draw *d, const lm_world *world, const draw_settings *settings, image *picture, draw_error *error)
{
    if (picture && (picture->width != d->target.width || picture->height != d->target.height)) {
        return draw_fail(error, "the picture is %u by %u pixels, the renderer's are %u by %u", picture->width,
                         picture->height, d->target.width, d->target.height);
    }
    draw_frame frame;
    if (!begin(d, world, settings, &frame, error)) {
        return false;
    }
    return finish(d, draw_passes(d, &frame, picture, error), error);
}

bool draw_measure(draw *d, const lm_world *world, const draw_settings *settings, draw_error *error)
{
    draw_frame frame;
    if (!begin(d, world, settings, &frame, error)) {
        return false;
    }
    draw_bounds bounds = draw_bounds_empty();
    const draw_range *range = NULL;
    return finish(d, find_things(d, &frame, &bounds, &range, error), error);
}

void draw_get_legend(const draw *d, int box[4]) { memcpy(box, d->legend, sizeof d->legend); }

draw_map draw_get_map(const draw *d)
{
    if (!d->map) {
        return (draw_map){.label = NULL};
    }
    float unit = draw_range_unit(d->map);
    return (draw_map){d->map->label, d->map->low / unit, d->map->high / unit};
}

double draw_map_reached(const draw *d) { return d->map ? (double)d->map->most : 0.0; }
