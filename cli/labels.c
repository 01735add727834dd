/* Labels below bodies: below the lowest corner of the box around each, as the renderer projects it. */
#include "cli/labels.h"

#include <math.h>
#include <stdlib.h>

/* The middle between left and right, and the lowest point in the picture, of a body's box; false when it reaches behind the
 * eye or lies outside the picture. */
static bool find_place(const lm_body_info *body, const draw_camera *camera, const image *picture, placed_label *l)
{
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (int i = 0; i < 8; i++) {
        lm_dvec3 corner = {i & 1 ? body->upper.x : body->lower.x, i & 2 ? body->upper.y : body->lower.y,
                           i & 4 ? body->upper.z : body->lower.z};
        double seen[3];
        if (!draw_project(camera, picture->width, picture->height, corner, seen)) {
            return false;
        }
        left = fmin(left, seen[0]);
        right = fmax(right, seen[0]);
        top = fmin(top, seen[1]);
        bottom = fmax(bottom, seen[1]);
    }
    if (!(right >= 0.0 && left <= picture->width && bottom >= 0.0 && top <= picture->height)) {
        return false;
    }
    l->x = (int)fmin(fmax(0.5 * (left + right), 0.0), picture->width);
    l->y = (int)fmin(bottom, picture->height);
    return true;
}

bool labels_draw(const lm_scene *scene_shown, const lm_world *world, const draw_camera *camera,
                 const placed_label *taken, uint32_t taken_count, image *picture)
{
    uint32_t bodies = lm_scene_body_count(scene_shown), count = taken_count;
    placed_label *labels = calloc((size_t)taken_count + bodies + 1, sizeof *labels);
    if (labels == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < taken_count; i++) {
        labels[i] = taken[i];
    }
    for (uint32_t i = 0; i < bodies; i++) {
        lm_scene_body body = lm_scene_get_body(scene_shown, i);
        lm_body_info info;
        labels[count].words = body.label;
        if (body.label != NULL && lm_body_get_info(world, body.id, &info) == LM_OK &&
            find_place(&info, camera, picture, &labels[count])) {
            count++;
        }
    }
    uint32_t scale = label_place(labels, count, picture->width, picture->height);
    label_draw(picture, labels, count, scale);
    free(labels);
    return true;
}
