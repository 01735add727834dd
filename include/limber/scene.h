/*
 * Scenes: a JSON file (docs/scene-format.md) becomes a world.
 *
 * Used alike by the command line, the benchmarks, the tests and the viewer. A scene is read and checked whole before a
 * world is made from it. Every error is one line: file, line, column, field, what was expected, and the nearest known
 * name where a name is unknown.
 */
#ifndef LIMBER_SCENE_H
#define LIMBER_SCENE_H

#include "limber/limber.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LM_SCENE_ERROR_SIZE 512
#define LM_SCENE_FRAME_RATE 60.0 /* steps of a world in a second */

typedef struct lm_scene lm_scene;

typedef struct lm_scene_error {
    char text[LM_SCENE_ERROR_SIZE];
} lm_scene_error;

/* One body that the scene made. */
typedef struct lm_scene_body {
    lm_body_id id;
    const char *name;  /* "cube", or "ball[17]" for one of many copies */
    const char *label; /* what pictures say of it, or null */
} lm_scene_body;

/* Built-in scenes, compiled into the program from scenes/ (name.json). Null past the end. */
const char *lm_scene_builtin_name(uint32_t index);
const char *lm_scene_builtin_text(const char *name);

/* `name` is a built-in scene, a path to a JSON file, or a path to a mesh file, which then falls on a floor. `sets` are "bodies[0].material.alpha=0.5" overrides, applied
 * before checking. Returns null and fills *error on failure. */
lm_scene *lm_scene_open(const char *name, const char *const *sets, uint32_t set_count, lm_scene_error *error);

/* The same from memory; errors begin with `name`. */
lm_scene *lm_scene_open_text(const char *name, const char *text, size_t length, const char *const *sets,
                             uint32_t set_count, lm_scene_error *error);

/* Null is allowed. */
void lm_scene_close(lm_scene *scene);

/* One line about what was decided for the user (a mesh in other units than metres was scaled), or "". */
const char *lm_scene_note(const lm_scene *scene);

const char *lm_scene_title(const lm_scene *scene);  /* one sentence: what it shows */
const char *lm_scene_figure(const lm_scene *scene); /* the figure it reproduces, or "" */
uint32_t lm_scene_frames(const lm_scene *scene);    /* how many frames it runs by default */

typedef struct lm_scene_view {
    lm_dvec3 at, look_at; /* the eye, and the middle of the picture */
    double field_of_view; /* from the lower to the upper edge of a picture of 16:9, degrees */
} lm_scene_view;

/* The scene's camera; false when it has none. */
bool lm_scene_get_view(const lm_scene *scene, lm_scene_view *view);

/* Whether the scene itself says where it is looked at from for level of detail (`eye`, its own or an event's). */
bool lm_scene_has_eye(const lm_scene *scene);

/* Makes the scene's world. `def` brings host hooks, workers and instruction set; gravity and substeps come from the
 * scene. The scene keeps what it needs to drive the world (bodies, events) and must outlive it. */
lm_result lm_scene_make_world(lm_scene *scene, const lm_world_def *def, lm_world **world, lm_scene_error *error);

/* Whether worlds made from now on are to be looked at: bodies of a shape for which the file asks no `surface` get one much
 * finer than their particles, as fine as the number of bodies allows; lattices keep their own. Off by default. What is
 * simulated stays the same, to the last bit. */
void lm_scene_want_fine_surfaces(lm_scene *scene, bool on);

/* The bodies made by the last lm_scene_make_world, in the order of the file. */
uint32_t lm_scene_body_count(const lm_scene *scene);
lm_scene_body lm_scene_get_body(const lm_scene *scene, uint32_t index);

/* Colours for pictures: red, green, blue (sRGB), one for each vertex of a body's skin, or a single one for all of it; none:
 * whoever draws may choose. Valid as long as the scene. */
typedef struct lm_scene_colours {
    const uint8_t *rgb; /* 3 * count bytes */
    uint32_t count;
} lm_scene_colours;

lm_scene_colours lm_scene_get_colours(const lm_scene *scene, uint32_t body_index);

/* Texture coordinates of a body whose surface is a mesh from a file that has some; else all zero. Valid as long as the scene. */
typedef struct lm_scene_texture {
    const uint32_t *triangles; /* of the surface as it was given, three vertices each */
    const float *uvs;          /* two for each corner of each triangle, v upwards */
    uint32_t triangle_count, vertex_count;
} lm_scene_texture;

lm_scene_texture lm_scene_get_texture(const lm_scene *scene, uint32_t body_index);

/* The colliders made by the last lm_scene_make_world, in the order of the file; with one colour, or none. */
typedef struct lm_scene_collider_made {
    lm_collider_id id;
    lm_scene_colours colour;
} lm_scene_collider_made;

lm_scene_collider_made lm_scene_get_collider(const lm_scene *scene,
                                             uint32_t index); /* below lm_scene_contents.colliders */

/* Applies the scene's timed events for the frame about to be stepped (frame 0 first), then steps the world. */
lm_result lm_scene_step(lm_scene *scene, lm_world *world, uint32_t frame);

/* Puts a snapshot that was saved while running this scene in the place of the world's contents. It may hold more bodies than
 * the scene's. *frame is the one to step next. */
lm_result lm_scene_load(lm_scene *scene, lm_world *world, const void *snapshot, size_t size, uint32_t *frame,
                        lm_scene_error *error);

/* Saves the world, makes a fresh one, loads it there and destroys the old one: nothing that follows may change. */
lm_result lm_scene_resave(lm_scene *scene, lm_world **world, lm_scene_error *error);

/* The same in a world that runs on other workers, or with another instruction set. On failure the world stays as it was. */
lm_result lm_scene_rehost(lm_scene *scene, uint32_t workers, lm_isa isa, lm_world **world, lm_scene_error *error);

/* What the scene itself remembers of the run, beside the world's snapshot (which drags it holds): lm_scene_marks_size bytes.
 * With them, a snapshot of the same run can be returned to at no cost, whatever else was put into the world. */
size_t lm_scene_marks_size(const lm_scene *scene);
void lm_scene_get_marks(const lm_scene *scene, void *marks);
void lm_scene_set_marks(lm_scene *scene, const void *marks);

/* Makes one more body like the one of that index, at rest and in its rest shape, with its frame at `at`. The scene does not
 * count it among its own: events and drags leave it alone. lm_body_info.user_data is the index of the body it is like. */
lm_result lm_scene_add_again(lm_scene *scene, lm_world *world, uint32_t body_index, lm_dvec3 at, lm_body_id *body,
                             lm_scene_error *error);

/* Momentum that the bodies gained and no impulse from outside explains, relative to the largest sum of m |v| so far. */
double lm_scene_momentum_error(const lm_scene *scene, const lm_world *world);

/* Whether the expect block is measured while stepping; on by default. Off saves the time. */
void lm_scene_watch(lm_scene *scene, bool on);

/* How many of each the file has. */
typedef struct lm_scene_contents {
    uint32_t colliders, movers, pins, joints, drags, fields, events, expectations;
} lm_scene_contents;

lm_scene_contents lm_scene_get_contents(const lm_scene *scene);

/* Checks the expect block against what was recorded while stepping. Returns the number of failed expectations; each
 * result is written as a line through `write` ("ok ..." or "FAILED ..."). */
uint32_t lm_scene_check(lm_scene *scene, lm_world *world, void (*write)(const char *line, void *user), void *user);

/* The format as a JSON Schema document, and as the tables of docs/scene-format.md; to be freed by the caller; null when
 * out of memory. */
char *lm_scene_schema(void);
char *lm_scene_reference(void);

#ifdef __cplusplus
}
#endif

#endif
