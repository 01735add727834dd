/* Labels below bodies: the box around a body is projected as the renderer projects it. */
#include "cli/labels.h"

#include "draw/label.h"

#include <math.h>

/* The camera as three directions, and how many pixels a unit of sideways by depth is. */
typedef struct projection {
    lm_dvec3 eye, right, up, forward;
    double pixels, middle_x, middle_y;
} projection;

static lm_dvec3 cross(lm_dvec3 a, lm_dvec3 b)
{
    return (lm_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double dot(lm_dvec3 a, lm_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static lm_dvec3 unit(lm_dvec3 a)
{
    double length = sqrt(dot(a, a));
    return (lm_dvec3){a.x / length, a.y / length, a.z / length};
}

static projection make_projection(const draw_camera *camera, const image *picture)
{
    projection p = {.eye = camera->at};
    lm_dvec3 to = {camera->look_at.x - camera->at.x, camera->look_at.y - camera->at.y,
                   camera->look_at.z - camera->at.z};
    p.forward = unit(to);
    p.right = cross(p.forward, (lm_dvec3){0.0, 1.0, 0.0});
    if (dot(p.right, p.right) < 1e-12) {
        p.right = (lm_dvec3){1.0, 0.0, 0.0}; /* straight down */
    }
    p.right = unit(p.right);
    p.up = cross(p.right, p.forward);
    p.middle_x = 0.5 * picture->width;
    p.middle_y = 0.5 * picture->height;
    p.pixels = p.middle_y / tan(0.5 * camera->field_of_view * 3.14159265358979323846 / 180.0);
    return p;
}

/* The lowest point in the picture, and the middle between left and right, of a box; false when it reaches behind the eye or
 * lies outside the picture. */
static bool project_box(const projection *p, const lm_body_info *body, int *x, int *y)
{
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (int i = 0; i < 8; i++) {
        lm_dvec3 corner = {(i & 1 ? body->upper.x : body->lower.x) - p->eye.x,
                           (i & 2 ? body->upper.y : body->lower.y) - p->eye.y,
                           (i & 4 ? body->upper.z : body->lower.z) - p->eye.z};
        double depth = dot(corner, p->forward);
        if (!(depth > 1e-6)) {
            return false;
        }
        double across = p->middle_x + p->pixels * dot(corner, p->right) / depth;
        double down = p->middle_y - p->pixels * dot(corner, p->up) / depth;
        left = fmin(left, across);
        right = fmax(right, across);
        top = fmin(top, down);
        bottom = fmax(bottom, down);
    }
    if (right < 0.0 || left > 2.0 * p->middle_x || bottom < 0.0 || top > 2.0 * p->middle_y) {
        return false;
    }
    *x = (int)fmin(fmax(0.5 * (left + right), 0.0), 2.0 * p->middle_x);
    *y = (int)fmin(bottom, 2.0 * p->middle_y);
    return true;
}

void labels_draw(const scene *scene_shown, const lm_world *world, const draw_camera *camera, image *picture)
{
    projection p = make_projection(camera, picture);
    for (uint32_t i = 0; i < scene_body_count(scene_shown); i++) {
        scene_body body = scene_get_body(scene_shown, i);
        lm_body_info info;
        int x, y;
        if (body.label != NULL && lm_body_get_info(world, body.id, &info) == LM_OK && project_box(&p, &info, &x, &y)) {
            label_below(picture, x, y, body.label);
        }
    }
}
