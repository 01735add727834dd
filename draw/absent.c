/* In place of the renderer, where the packages that it needs were missing: every call fails and says which those are. */
#include "draw/draw.h"

#include <stdio.h>

static bool fail(draw_error *error)
{
    snprintf(
        error->text, sizeof error->text,
        "this build of limber cannot draw: build it again with SDL2, libepoxy, cglm and stb (on Debian: apt install "
        "pkg-config libsdl2-dev libepoxy-dev libcglm-dev libstb-dev)");
    return false;
}

draw *draw_open(uint32_t width, uint32_t height, draw_error *error)
{
    (void)width;
    (void)height;
    fail(error);
    return NULL;
}

draw *draw_open_current(uint32_t width, uint32_t height, draw_error *error) { return draw_open(width, height, error); }

void draw_show(const draw *d, int x, int y, uint32_t width, uint32_t height)
{
    (void)d;
    (void)x;
    (void)y;
    (void)width;
    (void)height;
}

bool draw_resize(draw *d, uint32_t width, uint32_t height, draw_error *error)
{
    (void)d;
    (void)width;
    (void)height;
    return fail(error);
}

void draw_close(draw *d) { (void)d; }

bool draw_current_gl(lm_gl *gl)
{
    (void)gl;
    return false;
}

void draw_forget(draw *d) { (void)d; }

bool draw_set_colours(draw *d, lm_body_id body, const uint8_t *rgb, uint32_t count, draw_error *error)
{
    (void)d;
    (void)body;
    (void)rgb;
    (void)count;
    return fail(error);
}

bool draw_set_collider_colour(draw *d, lm_collider_id collider, const uint8_t rgb[3], draw_error *error)
{
    (void)d;
    (void)collider;
    (void)rgb;
    return fail(error);
}

draw_settings draw_settings_default(void) { return (draw_settings){.views = DRAW_SURFACE, .bodies = true}; }

draw_camera draw_fit_camera(const lm_world *world, double aspect)
{
    (void)world;
    (void)aspect;
    return (draw_camera){.field_of_view = 40.0};
}

bool draw_project(const draw_camera *camera, uint32_t width, uint32_t height, lm_dvec3 point, double out[3])
{
    (void)camera;
    (void)width;
    (void)height;
    (void)point;
    (void)out;
    return false;
}

bool draw_measure(draw *d, const lm_world *world, const draw_settings *settings, draw_error *error)
{
    (void)d;
    (void)world;
    (void)settings;
    return fail(error);
}

void draw_get_legend(const draw *d, int box[4])
{
    (void)d;
    box[0] = box[1] = box[2] = box[3] = 0;
}

draw_map draw_get_map(const draw *d)
{
    (void)d;
    return (draw_map){.label = NULL};
}

void draw_map_colour(float share, uint8_t rgb[3])
{
    (void)share;
    rgb[0] = rgb[1] = rgb[2] = 0;
}

double draw_map_reached(const draw *d)
{
    (void)d;
    return 0.0;
}

bool draw_world(draw *d, const lm_world *world, const draw_settings *settings, image *picture, draw_error *error)
{
    (void)d;
    (void)world;
    (void)settings;
    (void)picture;
    return fail(error);
}
