/*
 * The key light: where it stands, and the part of the world that its shadow map covers.
 */
#include "draw/internal.h"

/* From the left, above, and the front, as a photographer puts it. */
static const vec3 towards_light = {-0.48f, 0.78f, 0.40f};

/* The tangent of half the angle that it is seen under: the larger, the softer its shadows. */
#define SOFTNESS 0.11f

void draw_light_set(draw_frame *frame, const draw_bounds *bounds)
{
    draw_frame_block *block = &frame->block;
    vec3 to_light, x, y, lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    glm_vec3_normalize_to((float *)(uintptr_t)towards_light, to_light);
    glm_vec4(to_light, SOFTNESS, block->to_light);
    glm_vec3_crossn((vec3){0.0f, 1.0f, 0.0f}, to_light, x);
    glm_vec3_cross(to_light, x, y);
    for (int n = 0; n < 8; n++) {
        lm_dvec3 corner = {n & 1 ? bounds->upper.x : bounds->lower.x, n & 2 ? bounds->upper.y : bounds->lower.y,
                           n & 4 ? bounds->upper.z : bounds->lower.z};
        vec3 c, at;
        draw_to_vec3(draw_subtract(corner, frame->eye), c);
        at[0] = glm_vec3_dot(c, x), at[1] = glm_vec3_dot(c, y), at[2] = -glm_vec3_dot(c, to_light);
        glm_vec3_minv(lower, at, lower);
        glm_vec3_maxv(upper, at, upper);
    }
    if (draw_bounds_is_empty(bounds)) {
        glm_vec3_fill(lower, -1.0f), glm_vec3_fill(upper, 1.0f);
    }
    /* Sizes in steps, and the middle on whole texels, so that shadows do not crawl while the bounds change. */
    float across = fmaxf(fmaxf(upper[0] - lower[0], upper[1] - lower[1]), 1e-3f) * 1.04f;
    across = exp2f(ceilf(log2f(across) * 4.0f) / 4.0f);
    float texel = across / DRAW_SHADOW_SIZE;
    float middle[2] = {roundf(0.5f * (lower[0] + upper[0]) / texel) * texel,
                       roundf(0.5f * (lower[1] + upper[1]) / texel) * texel};
    float slack = 0.02f * across, deep = upper[2] - lower[2] + across; /* receivers lie behind what casts shadows */
    float first = lower[2] - slack;
    glm_mat4_identity(block->shadow_from_eye);
    for (int n = 0; n < 3; n++) {
        block->shadow_from_eye[n][0] = x[n] / across;
        block->shadow_from_eye[n][1] = y[n] / across;
        block->shadow_from_eye[n][2] = -to_light[n] / deep;
    }
    block->shadow_from_eye[3][0] = 0.5f - middle[0] / across;
    block->shadow_from_eye[3][1] = 0.5f - middle[1] / across;
    block->shadow_from_eye[3][2] = -first / deep;
    glm_vec4_copy((vec4){1.0f / across, deep, texel, 1.0f / DRAW_SHADOW_SIZE}, block->shadow);
}
