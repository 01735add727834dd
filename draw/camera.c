/*
 * Cameras: one from which everything is seen, and the matrices of one.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

draw_bounds draw_bounds_empty(void)
{
    return (draw_bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

bool draw_bounds_is_empty(const draw_bounds *bounds) { return !(bounds->lower.x <= bounds->upper.x); }

void draw_bounds_add(draw_bounds *b, lm_dvec3 point, double margin)
{
    b->lower.x = fmin(b->lower.x, point.x - margin);
    b->lower.y = fmin(b->lower.y, point.y - margin);
    b->lower.z = fmin(b->lower.z, point.z - margin);
    b->upper.x = fmax(b->upper.x, point.x + margin);
    b->upper.y = fmax(b->upper.y, point.y + margin);
    b->upper.z = fmax(b->upper.z, point.z + margin);
}

static lm_dvec3 corner_of(const draw_bounds *b, int n)
{
    return (lm_dvec3){n & 1 ? b->upper.x : b->lower.x, n & 2 ? b->upper.y : b->lower.y,
                      n & 4 ? b->upper.z : b->lower.z};
}

/* Around a height map or a mesh, in its own frame. */
static draw_bounds solid_box(const lm_collider_def *def)
{
    draw_bounds box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const lm_heights *map = &def->heights;
    bool is_map = def->shape == LM_SHAPE_HEIGHTS;
    size_t count = is_map ? (size_t)map->counts[0] * map->counts[1] : def->mesh.vertex_count;
    double x = 0.5 * ((double)map->counts[0] - 1.0) * (double)map->spacing;
    double z = 0.5 * ((double)map->counts[1] - 1.0) * (double)map->spacing;
    for (size_t n = 0; n < count; n++) {
        lm_vec3 v =
            is_map ? (lm_vec3){(float)(n ? x : -x), map->heights[n], (float)(n ? z : -z)} : def->mesh.vertices[n];
        draw_bounds_add(&box, (lm_dvec3){(double)v.x, (double)v.y, (double)v.z}, 0.0);
    }
    return box;
}

void draw_bounds_add_collider(draw_bounds *bounds, const lm_collider_def *def, lm_pose pose)
{
    double r = def->radius, size[3] = {r, r, r}; /* half, along the pose's axes */
    if (def->shape == LM_SHAPE_PLANE) {
        return; /* it goes on for ever */
    }
    if (def->shape == LM_SHAPE_CAPSULE) {
        size[1] += (double)def->half_length;
    } else if (def->shape == LM_SHAPE_BOX) {
        size[0] = (double)def->half_extents.x;
        size[1] = (double)def->half_extents.y;
        size[2] = (double)def->half_extents.z;
    }
    double m[3][3];
    draw_rotation(pose.rotation, m);
    draw_bounds box = {{-size[0], -size[1], -size[2]}, {size[0], size[1], size[2]}};
    if (def->shape == LM_SHAPE_HEIGHTS || def->shape == LM_SHAPE_MESH) {
        box = solid_box(def);
    }
    for (int n = 0; n < 8; n++) {
        lm_dvec3 c = corner_of(&box, n), p = pose.position;
        p.x += m[0][0] * c.x + m[0][1] * c.y + m[0][2] * c.z;
        p.y += m[1][0] * c.x + m[1][1] * c.y + m[1][2] * c.z;
        p.z += m[2][0] * c.x + m[2][1] * c.y + m[2][2] * c.z;
        draw_bounds_add(bounds, p, 0.0);
    }
}

void draw_rotation(lm_quat q, double m[3][3])
{
    double x = q.x, y = q.y, z = q.z, w = q.w, s = 2.0 / fmax(x * x + y * y + z * z + w * w, 1e-30);
    m[0][0] = 1.0 - s * (y * y + z * z), m[0][1] = s * (x * y - z * w), m[0][2] = s * (x * z + y * w);
    m[1][0] = s * (x * y + z * w), m[1][1] = 1.0 - s * (x * x + z * z), m[1][2] = s * (y * z - x * w);
    m[2][0] = s * (x * z - y * w), m[2][1] = s * (y * z + x * w), m[2][2] = 1.0 - s * (x * x + y * y);
}

/* Bodies and finite colliders, and the height of the highest floor below the middle of them (or -infinity). */
static draw_bounds world_bounds(const lm_world *world, double *floor)
{
    draw_bounds bounds = draw_bounds_empty();
    uint32_t body_count = lm_world_get_bodies(world, NULL, 0), collider_count = lm_world_get_colliders(world, NULL, 0);
    lm_body_id *bodies = malloc(((size_t)body_count + 1) * sizeof *bodies);
    lm_collider_id *colliders = malloc(((size_t)collider_count + 1) * sizeof *colliders);
    if (bodies && colliders) {
        lm_world_get_bodies(world, bodies, body_count);
        lm_world_get_colliders(world, colliders, collider_count);
    }
    for (uint32_t n = 0; bodies && colliders && n < body_count; n++) {
        lm_body_info info;
        if (lm_body_get_info(world, bodies[n], &info) == LM_OK) {
            draw_bounds_add(&bounds, info.lower, (double)info.contact_radius);
            draw_bounds_add(&bounds, info.upper, (double)info.contact_radius);
        }
    }
    *floor = -INFINITY;
    for (uint32_t n = 0; bodies && colliders && n < collider_count; n++) {
        lm_collider_def def;
        lm_pose pose;
        if (lm_collider_get_def(world, colliders[n], &def) == LM_OK &&
            lm_collider_get_pose(world, colliders[n], &pose) == LM_OK) {
            double m[3][3];
            draw_rotation(pose.rotation, m);
            if (def.shape == LM_SHAPE_PLANE && m[1][1] > 0.99) {
                *floor = fmax(*floor, pose.position.y);
            }
            draw_bounds_add_collider(&bounds, &def, pose);
        }
    }
    free(bodies);
    free(colliders);
    if (draw_bounds_is_empty(&bounds)) {
        draw_bounds_add(&bounds, (lm_dvec3){0.0, *floor > -INFINITY ? *floor : 0.0, 0.0}, 1.0);
    }
    return bounds;
}

/* From the right, the front and above: three sides of a box are seen. */
static const double towards_eye[3] = {0.46, 0.34, 0.82};

draw_camera draw_fit_camera(const lm_world *world, double aspect)
{
    double floor;
    draw_bounds b = world_bounds(world, &floor);
    lm_dvec3 middle = {0.5 * (b.lower.x + b.upper.x), 0.5 * (b.lower.y + b.upper.y), 0.5 * (b.lower.z + b.upper.z)};
    double view = 35.0, tangent = tan(0.5 * view * GLM_PI / 180.0), length = 0.0;
    for (int n = 0; n < 3; n++) {
        length += towards_eye[n] * towards_eye[n];
    }
    double d[3], right[3], up[3];
    for (int n = 0; n < 3; n++) {
        d[n] = towards_eye[n] / sqrt(length);
    }
    double flat = sqrt(d[0] * d[0] + d[2] * d[2]);
    right[0] = d[2] / flat, right[1] = 0.0, right[2] = -d[0] / flat;
    up[0] = d[1] * right[2], up[1] = d[2] * right[0] - d[0] * right[2], up[2] = -d[1] * right[0];
    /* As far away as the corner needs that comes nearest to an edge of the picture. */
    double away = 0.0;
    for (int n = 0; n < 8; n++) {
        lm_dvec3 c = draw_subtract(corner_of(&b, n), middle);
        double x = c.x * right[0] + c.z * right[2], y = c.x * up[0] + c.y * up[1] + c.z * up[2];
        double z = c.x * d[0] + c.y * d[1] + c.z * d[2];
        away = fmax(away, z + fmax(fabs(x) / (tangent * fmax(aspect, 1e-3)), fabs(y) / tangent));
    }
    away = fmax(1.12 * away, 1e-3);
    draw_camera camera = {.look_at = middle, .field_of_view = view};
    camera.at = (lm_dvec3){middle.x + away * d[0], middle.y + away * d[1], middle.z + away * d[2]};
    camera.at.y = fmax(camera.at.y, floor + 0.05 * away); /* below the floor there is nothing to see */
    return camera;
}

/* The nearest and the farthest that anything is drawn, in distances to what is looked at; floors have faded out by then. */
#define NEAR_DISTANCES 0.02
#define FAR_DISTANCES 60.0

static double dot(lm_dvec3 a, lm_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static lm_dvec3 cross(lm_dvec3 a, lm_dvec3 b)
{
    return (lm_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static lm_dvec3 unit(lm_dvec3 a)
{
    double length = sqrt(dot(a, a));
    return (lm_dvec3){a.x / length, a.y / length, a.z / length};
}

/* A camera as the picture's directions. */
typedef struct view_axes {
    lm_dvec3 right, up, forward;
    double distance; /* to what is looked at */
    double tangent;  /* of half the field of view */
} view_axes;

static view_axes axes_of(const draw_camera *camera)
{
    lm_dvec3 to = draw_subtract(camera->look_at, camera->at);
    view_axes axes = {.distance = sqrt(dot(to, to)), .tangent = tan(0.5 * camera->field_of_view * GLM_PI / 180.0)};
    if (axes.distance > 0.0) {
        axes.forward = unit(to);
    } else {
        axes.forward = (lm_dvec3){0.0, 0.0, -1.0};
        axes.distance = 1.0;
    }
    lm_dvec3 above = {0.0, 1.0, 0.0};
    if (fabs(axes.forward.y) > 0.9995) { /* straight up or down: the picture's top is away from us */
        above = (lm_dvec3){0.0, 0.0, axes.forward.y < 0.0 ? -1.0 : 1.0};
    }
    axes.right = unit(cross(axes.forward, above));
    axes.up = cross(axes.right, axes.forward);
    return axes;
}

bool draw_project(const draw_camera *camera, uint32_t width, uint32_t height, lm_dvec3 point, double out[3])
{
    view_axes axes = axes_of(camera);
    lm_dvec3 from_eye = draw_subtract(point, camera->at);
    double depth = dot(from_eye, axes.forward);
    if (!(depth >= NEAR_DISTANCES * axes.distance)) {
        return false;
    }
    double pixels = 0.5 * height / (axes.tangent * depth); /* those of a metre, at this depth */
    out[0] = 0.5 * width + pixels * dot(from_eye, axes.right);
    out[1] = 0.5 * height - pixels * dot(from_eye, axes.up);
    out[2] = depth;
    return true;
}

void draw_camera_set(draw_frame *frame, const draw_settings *settings, const draw_bounds *bounds, double aspect)
{
    draw_frame_block *block = &frame->block;
    view_axes axes = axes_of(&settings->camera);
    frame->eye = settings->camera.at;
    frame->distance = axes.distance;
    vec3 look, right, up, look_at;
    draw_to_vec3(axes.forward, look);
    draw_to_vec3(axes.right, right);
    draw_to_vec3(axes.up, up);
    draw_to_vec3(draw_subtract(settings->camera.look_at, settings->camera.at), look_at);
    float tangent = (float)axes.tangent;
    double far = FAR_DISTANCES * axes.distance;
    if (!draw_bounds_is_empty(bounds)) {
        for (int n = 0; n < 8; n++) {
            lm_dvec3 c = draw_subtract(corner_of(bounds, n), frame->eye);
            far = fmax(far, 1.1 * sqrt(c.x * c.x + c.y * c.y + c.z * c.z));
        }
    }
    float near = (float)(NEAR_DISTANCES * axes.distance);
    mat4 view, projection;
    glm_look(GLM_VEC3_ZERO, look, up, view);
    glm_perspective(2.0f * atanf(tangent), (float)aspect, near, (float)far, projection);
    glm_mat4_mul(projection, view, block->clip_from_eye);
    glm_vec4(right, 0.0f, block->right);
    glm_vec4(up, 0.0f, block->up);
    glm_vec4(look, 0.0f, block->forward);
    glm_vec4(look_at, (float)axes.distance, block->look_at);
    glm_vec4_copy((vec4){tangent * (float)aspect, tangent, near, (float)far}, block->lens);
}
