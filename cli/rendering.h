/* The work of `limber render`: a scene becomes a picture, a sheet of pictures, or a video. */
#ifndef LIMBER_CLI_RENDERING_H
#define LIMBER_CLI_RENDERING_H

#include "cli/world.h"
#include "draw/draw.h"

typedef enum render_kind { RENDER_STILL, RENDER_SHEET, RENDER_VIDEO } render_kind;

#define RENDER_WHOLE_SCENE UINT32_MAX /* in place of a number of frames */

/* What is asked for, checked already (but for names that are looked up). */
typedef struct render_request {
    world_options world;
    render_kind kind;
    const char *out;
    uint32_t width, height; /* of the file's picture, pixels */
    uint32_t columns, rows; /* of a sheet */
    uint32_t frames;        /* of 1/60 s, from the start to the end; or RENDER_WHOLE_SCENE */
    uint32_t rate;          /* of a video, frames a second */
    const char *views;      /* "surface,wireframe", or null */
    float range;            /* the upper end of the colours of speed, strain or stress; 0: as large as what is shown */
    const draw_camera *camera; /* null: the scene's own */
    bool cpu_skin;
} render_request;

/* Returns the exit code. */
int render_scene(const render_request *request);

#endif
