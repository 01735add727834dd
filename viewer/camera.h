/* The viewer's camera: a point that is looked at, and where the eye is around it. */
#ifndef LIMBER_VIEWER_CAMERA_H
#define LIMBER_VIEWER_CAMERA_H

#include "draw/draw.h"

typedef struct orbit_camera {
    lm_dvec3 middle;      /* what is looked at */
    double distance;      /* of the eye from it, metres */
    double azimuth;       /* radians from the front (+Z) to the right (+X) */
    double elevation;     /* radians above the horizon */
    double field_of_view; /* from the lower to the upper edge of a picture of 16:9, degrees */
    double lens;          /* the same of the picture as it is now */
    double scene_size;    /* what a wheel click and the limits of the distance are measured by, metres */
} orbit_camera;

/* As a camera for pictures of 16:9 looks; `size` is that of what there is to see, metres. */
orbit_camera camera_from(const draw_camera *seen, double size);
draw_camera camera_for_drawing(const orbit_camera *camera);

/* The picture has this width, divided by its height. */
void camera_set_aspect(orbit_camera *camera, double aspect);

/* By pixels that the mouse has moved, in a picture of this height. */
void camera_orbit(orbit_camera *camera, double right, double down, double height);
void camera_pan(orbit_camera *camera, double right, double down, double height);

/* By clicks of the wheel, away from oneself is nearer; what is below the mouse stays there: x and y are pixels from the upper
 * left of a picture of this size. */
void camera_zoom(orbit_camera *camera, double clicks, double x, double y, uint32_t width, uint32_t height);

/* From the eye through a pixel: a unit vector. */
lm_vec3 camera_ray(const draw_camera *camera, double x, double y, uint32_t width, uint32_t height);

/* The point on that ray as far from the eye, along the line of sight, as `like` is. */
lm_dvec3 camera_point(const draw_camera *camera, double x, double y, uint32_t width, uint32_t height, lm_dvec3 like);

#endif
