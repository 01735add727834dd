/* A scene before the renderer: its colours, and its camera in a picture of any shape. Shared by `limber render` and the viewer. */
#ifndef LIMBER_VIEWER_STAGE_H
#define LIMBER_VIEWER_STAGE_H

#include "draw/draw.h"
#include "limber/scene.h"

/* Tells the renderer the colours of the scene's bodies and colliders. */
bool stage_tell_colours(const lm_scene *scene, draw *renderer, draw_error *error);

/* A camera whose angle is given for pictures of 16:9, as in scene files, in one of another shape. */
draw_camera stage_adapt_camera(draw_camera camera, double aspect);

/* The scene's camera, or one from which everything is seen. */
draw_camera stage_camera(const lm_scene *scene, const lm_world *world, double aspect);

#endif
