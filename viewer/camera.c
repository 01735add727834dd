/* Orbiting, panning, zooming, and rays through pixels. */
#include "viewer/camera.h"

#include "viewer/stage.h"

#include <math.h>

#define PI 3.14159265358979323846
#define TURN_A_HEIGHT PI     /* radians for a drag across the height of the picture */
#define HIGHEST (0.497 * PI) /* just short of straight down, where left and right would change places */
#define LOWEST (-0.48 * PI)
#define ZOOM_A_CLICK 1.12
#define NEAREST 0.02 /* and farthest distance, in sizes of the lm_scene */
#define FARTHEST 30.0

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

orbit_camera camera_from(const draw_camera *seen, double size)
{
    lm_dvec3 to = {seen->at.x - seen->look_at.x, seen->at.y - seen->look_at.y, seen->at.z - seen->look_at.z};
    double distance = sqrt(to.x * to.x + to.y * to.y + to.z * to.z);
    orbit_camera camera = {.middle = seen->look_at, .distance = fmax(distance, 1e-6)};
    camera.azimuth = atan2(to.x, to.z);
    camera.elevation = clamp(asin(clamp(to.y / camera.distance, -1.0, 1.0)), LOWEST, HIGHEST);
    camera.field_of_view = camera.lens = seen->field_of_view;
    camera.scene_size = fmax(size, 1e-6);
    return camera;
}

/* The axes of the picture; forward is from the eye. */
static void axes_of(const orbit_camera *camera, lm_dvec3 *right, lm_dvec3 *up, lm_dvec3 *forward)
{
    double ca = cos(camera->azimuth), sa = sin(camera->azimuth), ce = cos(camera->elevation),
           se = sin(camera->elevation);
    *forward = (lm_dvec3){-sa * ce, -se, -ca * ce};
    *right = (lm_dvec3){ca, 0.0, -sa};
    *up = (lm_dvec3){-sa * se, ce, -ca * se};
}

static lm_dvec3 moved(lm_dvec3 p, lm_dvec3 axis, double by)
{
    return (lm_dvec3){p.x + by * axis.x, p.y + by * axis.y, p.z + by * axis.z};
}

draw_camera camera_for_drawing(const orbit_camera *camera)
{
    lm_dvec3 right, up, forward;
    axes_of(camera, &right, &up, &forward);
    return (draw_camera){moved(camera->middle, forward, -camera->distance), camera->middle, camera->lens};
}

void camera_set_aspect(orbit_camera *camera, double aspect)
{
    draw_camera framed = {.field_of_view = camera->field_of_view};
    camera->lens = stage_adapt_camera(framed, aspect).field_of_view;
}

void camera_orbit(orbit_camera *camera, double right, double down, double height)
{
    camera->azimuth -= right / height * TURN_A_HEIGHT;
    camera->elevation = clamp(camera->elevation + down / height * TURN_A_HEIGHT, LOWEST, HIGHEST);
}

/* Metres at the distance of what is looked at, for each pixel. */
static double metres_a_pixel(const orbit_camera *camera, double height)
{
    return 2.0 * camera->distance * tan(0.5 * camera->lens * PI / 180.0) / height;
}

void camera_pan(orbit_camera *camera, double right, double down, double height)
{
    lm_dvec3 axis_right, axis_up, forward;
    axes_of(camera, &axis_right, &axis_up, &forward);
    double scale = metres_a_pixel(camera, height);
    camera->middle = moved(camera->middle, axis_right, -right * scale);
    camera->middle = moved(camera->middle, axis_up, down * scale);
}

void camera_zoom(orbit_camera *camera, double clicks, double x, double y, uint32_t width, uint32_t height)
{
    double before = camera->distance;
    double wanted = before * pow(ZOOM_A_CLICK, -clicks);
    camera->distance = clamp(wanted, NEAREST * camera->scene_size, FARTHEST * camera->scene_size);
    double left_over = 1.0 - camera->distance / before, off_x = x - 0.5 * width, off_y = y - 0.5 * height;
    lm_dvec3 right, up, forward;
    axes_of(camera, &right, &up, &forward);
    double scale = metres_a_pixel(camera, height) * before / camera->distance;
    camera->middle = moved(camera->middle, right, left_over * off_x * scale);
    camera->middle = moved(camera->middle, up, -left_over * off_y * scale);
}

/* The ray's direction with a length of 1 along the line of sight. */
static lm_dvec3 ray(const draw_camera *drawn, double x, double y, uint32_t width, uint32_t height, lm_dvec3 *forward)
{
    orbit_camera camera = camera_from(drawn, 1.0);
    lm_dvec3 right, up;
    axes_of(&camera, &right, &up, forward);
    double tangent = tan(0.5 * drawn->field_of_view * PI / 180.0);
    double across = (2.0 * x - width) / height * tangent, upward = (height - 2.0 * y) / height * tangent;
    return moved(moved(*forward, right, across), up, upward);
}

lm_vec3 camera_ray(const draw_camera *camera, double x, double y, uint32_t width, uint32_t height)
{
    lm_dvec3 forward, d = ray(camera, x, y, width, height, &forward);
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return (lm_vec3){(float)(d.x / length), (float)(d.y / length), (float)(d.z / length)};
}

lm_dvec3 camera_point(const draw_camera *camera, double x, double y, uint32_t width, uint32_t height, lm_dvec3 like)
{
    lm_dvec3 forward, d = ray(camera, x, y, width, height, &forward);
    double depth =
        (like.x - camera->at.x) * forward.x + (like.y - camera->at.y) * forward.y + (like.z - camera->at.z) * forward.z;
    return moved(camera->at, d, depth);
}
