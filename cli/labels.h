/* What a scene says of its bodies, written into a picture below each of them. */
#ifndef LIMBER_CLI_LABELS_H
#define LIMBER_CLI_LABELS_H

#include "draw/draw.h"
#include "draw/label.h"
#include "limber/scene.h"

/* `picture` shows the world through `camera`; some places in it may be taken. False: out of memory. */
bool labels_draw(const lm_scene *scene, const lm_world *world, const draw_camera *camera, const placed_label *taken,
                 uint32_t taken_count, image *picture);

#endif
