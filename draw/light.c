/*
 * The key light: where it stands, and the part of the world that its shadow map covers.
 */
#include "draw/internal.h"

/* From the left, above, and the front, as a photographer puts it. */
static const vec3 towards_light = {-0.48f, 0.78f, 0.40f};

/* The tangent of half the angle that it is seen under: the larger, the softer its shadows. */
#define SOFTNESS 0.11f

/* How far from the eye things still get shadows, in distances to what is looked at; visibility.frag fades them out before. */
#define SHADOW_DISTANCES 4.0f

/* A box in the light's axes: across it, upward, and along its rays. */
typedef struct light_box {
    vec3 lower, upper;
} light_box;

static light_box empty_box(void)
{
    return (light_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void add_point(light_box *box, mat3 light_axes, vec3 point)
{
    vec3 at;
    for (int n = 0; n < 3; n++) {
        at[n] = glm_vec3_dot(light_axes[n], point);
    }
    glm_vec3_minv(box->lower, at, box->lower);
    glm_vec3_maxv(box->upper, at, box->upper);
}

/* Around everything that casts shadows. */
static light_box caster_box(const draw_frame *frame, const draw_bounds *bounds, mat3 light_axes)
{
    light_box box = empty_box();
    for (int n = 0; n < 8; n++) {
        lm_dvec3 corner = {n & 1 ? bounds->upper.x : bounds->lower.x, n & 2 ? bounds->upper.y : bounds->lower.y,
                           n & 4 ? bounds->upper.z : bounds->lower.z};
        vec3 from_eye;
        draw_to_vec3(draw_subtract(corner, frame->eye), from_eye);
        add_point(&box, light_axes, from_eye);
    }
    return box;
}

/* Around what the camera sees: the eye, and the corners of the picture as far away as there are shadows. */
static light_box seen_box(const draw_frame *frame, mat3 light_axes)
{
    const draw_frame_block *block = &frame->block;
    light_box box = empty_box();
    float far = SHADOW_DISTANCES * (float)frame->distance;
    add_point(&box, light_axes, GLM_VEC3_ZERO);
    for (int n = 0; n < 4; n++) {
        vec3 corner;
        for (int k = 0; k < 3; k++) {
            corner[k] = far * (block->forward[k] + (n & 1 ? 1.0f : -1.0f) * block->lens[0] * block->right[k] +
                               (n & 2 ? 1.0f : -1.0f) * block->lens[1] * block->up[k]);
        }
        add_point(&box, light_axes, corner);
    }
    return box;
}

/* The part of the world in the map. Across the light it is where something that is seen may lie in the shadow of something.
 * Along the light it holds what is seen; casters before that are drawn at its near end (draw_shadow_map). */
static light_box map_box(const draw_frame *frame, const draw_bounds *bounds, mat3 light_axes)
{
    light_box box = seen_box(frame, light_axes);
    if (!draw_bounds_is_empty(bounds)) {
        light_box casters = caster_box(frame, bounds, light_axes);
        glm_vec3_maxv(box.lower, casters.lower, box.lower);
        glm_vec3_minv(box.upper, casters.upper, box.upper);
    }
    for (int n = 0; n < 3; n++) {
        if (!(box.lower[n] <= box.upper[n])) { /* nothing casts a shadow on what is seen: any place will do */
            box.lower[n] = -(float)frame->distance;
            box.upper[n] = (float)frame->distance;
        }
    }
    return box;
}

void draw_light_set(draw_frame *frame, const draw_bounds *bounds)
{
    draw_frame_block *block = &frame->block;
    vec3 to_light;
    mat3 axes; /* each a column */
    glm_vec3_normalize_to((float *)(uintptr_t)towards_light, to_light);
    glm_vec4(to_light, SOFTNESS, block->to_light);
    glm_vec3_crossn((vec3){0.0f, 1.0f, 0.0f}, to_light, axes[0]);
    glm_vec3_cross(to_light, axes[0], axes[1]);
    glm_vec3_negate_to(to_light, axes[2]);
    light_box box = map_box(frame, bounds, axes);
    /* Sizes in steps, and the middle on whole texels, so that shadows do not crawl while the bounds change. */
    float across = fmaxf(fmaxf(box.upper[0] - box.lower[0], box.upper[1] - box.lower[1]), 1e-3f) * 1.04f;
    across = exp2f(ceilf(log2f(across) * 4.0f) / 4.0f);
    float texel = across / DRAW_SHADOW_SIZE;
    float middle[2] = {roundf(0.5f * (box.lower[0] + box.upper[0]) / texel) * texel,
                       roundf(0.5f * (box.lower[1] + box.upper[1]) / texel) * texel};
    float slack = 0.02f * across, first = box.lower[2] - slack;
    float deep = box.upper[2] - box.lower[2] + across; /* receivers lie behind what casts shadows */
    glm_mat4_identity(block->shadow_from_eye);
    for (int n = 0; n < 3; n++) {
        block->shadow_from_eye[n][0] = axes[0][n] / across;
        block->shadow_from_eye[n][1] = axes[1][n] / across;
        block->shadow_from_eye[n][2] = axes[2][n] / deep;
    }
    block->shadow_from_eye[3][0] = 0.5f - middle[0] / across;
    block->shadow_from_eye[3][1] = 0.5f - middle[1] / across;
    block->shadow_from_eye[3][2] = -first / deep;
    glm_vec4_copy((vec4){1.0f / across, deep, texel, 1.0f / DRAW_SHADOW_SIZE}, block->shadow);
}
