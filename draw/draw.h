/*
 * Drawing worlds: a renderer on OpenGL 3.3 that needs no display.
 *
 * It reads a world through the public header only, and knows nothing of scenes, files or windows: what it makes is a
 * picture in memory (image.h). Colours of bodies are told to it; everything else it finds in the world.
 */
#ifndef LIMBER_DRAW_H
#define LIMBER_DRAW_H

#include "draw/image.h"
#include "limber/limber.h"

#define DRAW_ERROR_SIZE 512

/* One line that says what is missing. */
typedef struct draw_error {
    char text[DRAW_ERROR_SIZE];
} draw_error;

/* What is drawn; views combine. */
typedef enum draw_view {
    DRAW_SURFACE = 1 << 0,   /* skins in their colours; bodies without a skin as particles */
    DRAW_WIREFRAME = 1 << 1, /* the skins' triangles */
    DRAW_PARTICLES = 1 << 2,
    DRAW_REGIONS = 1 << 3, /* surfaces and particles in the colours of their regions */
    DRAW_GOALS = 1 << 4,   /* where particles are being pulled, and a line to there */
    DRAW_LINKS = 1 << 5,   /* from each region's centre to its members */
    DRAW_CONTACTS = 1 << 6,
    DRAW_SPEED = 1 << 7,  /* colours by speed, with a legend */
    DRAW_STRAIN = 1 << 8, /* colours by strain, with a legend */
    DRAW_BONES = 1 << 9,  /* skeletons, from joints to tails */
    DRAW_STRESS = 1 << 10 /* colours by von Mises stress, with a legend in pascals */
} draw_view;

#define DRAW_MAPS (DRAW_SPEED | DRAW_STRAIN | DRAW_STRESS) /* views with a colour map */
#define DRAW_COLOURINGS (DRAW_REGIONS | DRAW_MAPS)         /* views that colour bodies: one at a time */

/* The view of a name ("surface", "wireframe", ...), or 0; the names in order, null past the end. */
uint32_t draw_view_find(const char *name);
const char *draw_view_name(uint32_t index);

typedef struct draw_camera {
    lm_dvec3 at, look_at; /* the eye, and the middle of the picture, metres */
    double field_of_view; /* from the lower to the upper edge, degrees */
} draw_camera;

typedef struct draw_settings {
    uint32_t views; /* draw_view, joined; default DRAW_SURFACE */
    draw_camera camera;
    bool bodies;   /* default true; false leaves them out */
    bool cpu_skin; /* default false: surfaces are deformed in the vertex shader; true: by lm_body_get_skin */
    /* The value at the upper end of the colours by speed (m/s), strain or stress (Pa); default 0: a round number that is no less
     * than the largest so far, and than what is next to rest (0.1 m/s, a strain of 0.02, or 1e-5 of the largest Young's modulus). */
    float map_top;
    /* Null (default), or the world that is drawn, where it was made with draw_current_gl: if its device can, it writes surfaces
     * straight into the renderer's buffers. Such a world is destroyed, or drawn without, before the renderer is closed. */
    lm_world *shares;
} draw_settings;

/* The OpenGL context that is current on this thread, for lm_world_def.gl. False: there is none, or none that is known. */
bool draw_current_gl(lm_gl *gl);

typedef struct draw draw;

/* Opens a renderer for pictures of this size, 16 to 8192 each way. Null: *error says what is missing. */
draw *draw_open(uint32_t width, uint32_t height, draw_error *error);

/* The same in the OpenGL context that is current on this thread, which stays the caller's: it must be current again in every
 * call, and outlive the renderer. draw_show copies the last picture into a rectangle of the framebuffer that is bound for
 * drawing, whose lower left corner is x, y. */
draw *draw_open_current(uint32_t width, uint32_t height, draw_error *error);
void draw_show(const draw *draw, int x, int y, uint32_t width, uint32_t height);

/* From now on pictures are of this size. On failure they stay as they were. */
bool draw_resize(draw *draw, uint32_t width, uint32_t height, draw_error *error);

/* Null is allowed. */
void draw_close(draw *draw);

/* The colours of a body: one for each vertex of its skin (`count` of them), or a single one for all of it (count 1); red,
 * green, blue, sRGB; copied. Bodies without get colours of their own, by their id. */
bool draw_set_colours(draw *draw, lm_body_id body, const uint8_t *rgb, uint32_t count, draw_error *error);

/* The same for a collider (one colour). */
bool draw_set_collider_colour(draw *draw, lm_collider_id collider, const uint8_t rgb[3], draw_error *error);

/* Forgets all colours that were told, and the values that were shown so far: another world is drawn from now on. */
void draw_forget(draw *draw);

draw_settings draw_settings_default(void);

/* A camera from which everything in the world is seen. */
draw_camera draw_fit_camera(const lm_world *world, double aspect);

/* Where a point is in a picture of this size: pixels from the left and from the top, and metres from the eye along the line of
 * sight. False when it is behind the eye, or too near to be drawn. */
bool draw_project(const draw_camera *camera, uint32_t width, uint32_t height, lm_dvec3 point, double out[3]);

/* Draws the world as it is now into `picture`, which has the renderer's size; null: for draw_show alone. Of the views that
 * colour bodies (regions, speed, strain, stress) there may be one. */
bool draw_world(draw *draw, const lm_world *world, const draw_settings *settings, image *picture, draw_error *error);

/* Takes the world as it is now into account for the upper end of the colour map of these settings, and draws nothing. Done
 * for a whole run, it gives all pictures of the run one range. */
bool draw_measure(draw *draw, const lm_world *world, const draw_settings *settings, draw_error *error);

/* Where the legend is in the last picture: left, top, width and height in pixels, all 0 when there is none. */
void draw_get_legend(const draw *draw, int box[4]);

/* The colour map of the last picture that had one, for whoever writes a legend of their own: what it shows ("speed, m/s"; null when there was
 * none) and the values at its ends, in the unit that it names ("von Mises stress, kPa"); and the colour (sRGB) at a share of the way from the lower to the upper end. */
typedef struct draw_map {
    const char *label;
    float low, high;
} draw_map;

draw_map draw_get_map(const draw *draw);
void draw_map_colour(float share, uint8_t rgb[3]);

/* The largest value so far of the colour map that was used last, m/s, strain or Pa; 0 when there was none. */
double draw_map_reached(const draw *draw);

#endif
