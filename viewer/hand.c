/* The mouse on the picture: grabbing bodies, cutting them, moving the camera, throwing balls. */
#include "viewer/app.h"

#include <math.h>

#define GRAB_SHARE 0.45f /* of a body's largest extent: what is pulled along around the particle ... */
#define TEAR_SHARE 0.2f  /* ... of one that can break: a hand that holds half of it could only carry it away whole */
#define CUT_DEPTH 8.0    /* distances of what is looked at: a cut goes as deep */
#define BALL_SHARE 0.035 /* of the distance of what is looked at: the ball's radius, ... */
#define BALL_START 0.25  /* ... how far before the eye it appears, ... */
#define BALL_FLIGHT 0.45 /* ... and seconds until it is there */

static uint32_t pixels(const app *a, float points) { return (uint32_t)fmaxf(points * a->scale, 16.0f); }

draw_camera app_camera(const app *a) { return camera_for_drawing(&a->camera); }

lm_ray app_ray(const app *a, float x, float y)
{
    draw_camera camera = app_camera(a);
    double px = (double)((x - a->picture.x) * a->scale), py = (double)((y - a->picture.y) * a->scale);
    uint32_t width = pixels(a, a->picture.width), height = pixels(a, a->picture.height);
    lm_ray ray = lm_ray_default(camera.at, camera_ray(&camera, px, py, width, height));
    ray.collider_groups = 0;
    return ray;
}

static lm_dvec3 point_on(const lm_ray *ray, double distance)
{
    return (lm_dvec3){ray->origin.x + distance * (double)ray->direction.x,
                      ray->origin.y + distance * (double)ray->direction.y,
                      ray->origin.z + distance * (double)ray->direction.z};
}

bool app_project(const app *a, lm_dvec3 point, float *x, float *y)
{
    draw_camera camera = app_camera(a);
    double seen[3];
    if (!draw_project(&camera, pixels(a, a->picture.width), pixels(a, a->picture.height), point, seen)) {
        return false;
    }
    *x = a->picture.x + (float)seen[0] / a->scale;
    *y = a->picture.y + (float)seen[1] / a->scale;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Grabbing
 */

static float largest_extent(const lm_body_info *info)
{
    lm_dvec3 d = {info->upper.x - info->lower.x, info->upper.y - info->lower.y, info->upper.z - info->lower.z};
    return (float)fmax(fmax(d.x, d.y), d.z);
}

static float reach_of_hand(const app *a, const lm_ray_hit *hit, const lm_body_info *info)
{
    lm_fracture_def fracture;
    bool breaks = false;
    bool known = lm_body_get_fracture(a->session->world, hit->body, &breaks, &fracture) == LM_OK;
    return (known && breaks ? TEAR_SHARE : GRAB_SHARE) * largest_extent(info);
}

void app_press(app *a, float x, float y)
{
    lm_ray ray = app_ray(a, x, y);
    lm_ray_hit hit;
    lm_body_info info;
    if (!lm_world_cast_ray(a->session->world, &ray, &hit) ||
        lm_body_get_info(a->session->world, hit.body, &info) != LM_OK) {
        return;
    }
    change grab = {.kind = CHANGE_GRAB, .body = hit.body, .particle = hit.particle, .point = hit.point};
    grab.size = reach_of_hand(a, &hit, &info);
    if (app_change(a, grab)) {
        a->holding = true;
        a->held_from = hit.point;
        app_select(a, hit.body);
    }
}

/* Parallel to the picture, as far away as the place that was grabbed. */
void app_move_held(app *a, float x, float y)
{
    draw_camera camera = app_camera(a);
    double px = (double)((x - a->picture.x) * a->scale), py = (double)((y - a->picture.y) * a->scale);
    lm_dvec3 target =
        camera_point(&camera, px, py, pixels(a, a->picture.width), pixels(a, a->picture.height), a->held_from);
    if (a->holding) {
        app_change(a, (change){.kind = CHANGE_PULL, .point = target});
    }
}

void app_release(app *a)
{
    if (a->holding) {
        a->holding = false;
        app_change(a, (change){.kind = CHANGE_RELEASE});
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Cutting
 */

void app_toggle_knife(app *a)
{
    a->knife = !a->knife;
    a->brush = BRUSH_NONE;
    a->cutting = false;
    app_say(a, false, "%s", a->knife ? "The mouse cuts: drag a line across a body" : "The mouse grabs again");
}

void app_cut_from(app *a, float x, float y)
{
    a->cutting = true;
    a->cut_x = x;
    a->cut_y = y;
}

/* Far along the way of a point of the picture. */
static lm_dvec3 far_behind(const app *a, float x, float y)
{
    lm_ray ray = app_ray(a, x, y);
    return point_on(&ray, CUT_DEPTH * a->camera.distance);
}

void app_cut_to(app *a, float x, float y)
{
    if (a->cutting) {
        a->cutting = false;
        change made = {.kind = CHANGE_CUT};
        made.blade[0] = app_camera(a).at;
        made.blade[1] = far_behind(a, a->cut_x, a->cut_y);
        made.blade[2] = far_behind(a, x, y);
        app_change(a, made);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The camera
 */

void app_orbit(app *a, float right, float down) { camera_orbit(&a->camera, right, down, a->picture.height); }

void app_pan(app *a, float right, float down) { camera_pan(&a->camera, right, down, a->picture.height); }

void app_zoom(app *a, float clicks, float x, float y)
{
    camera_zoom(&a->camera, clicks, x - a->picture.x, y - a->picture.y, (uint32_t)a->picture.width,
                (uint32_t)a->picture.height);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Balls
 */

void app_throw_ball(app *a, float x, float y)
{
    const app_area *p = &a->picture;
    if (x < p->x || x > p->x + p->width || y < p->y || y > p->y + p->height) { /* the mouse is elsewhere */
        x = p->x + 0.5f * p->width;
        y = p->y + 0.5f * p->height;
    }
    lm_ray ray = app_ray(a, x, y);
    lm_ray_hit hit;
    double far = a->camera.distance;
    if (lm_world_cast_ray(a->session->world, &ray, &hit)) {
        far = (double)hit.distance;
    }
    double start = BALL_START * far, radius = BALL_SHARE * a->camera.distance, speed = (far - start) / BALL_FLIGHT;
    change ball = {.kind = CHANGE_THROW_BALL, .size = (float)radius};
    ball.point = point_on(&ray, start);
    /* Aimed so high that it falls to where the mouse is. */
    lm_vec3 gravity = lm_world_get_gravity(a->session->world), way = ray.direction;
    float drop = (float)(0.5 * BALL_FLIGHT);
    ball.vector = (lm_vec3){(float)speed * way.x - drop * gravity.x, (float)speed * way.y - drop * gravity.y,
                            (float)speed * way.z - drop * gravity.z};
    app_change(a, ball);
}
