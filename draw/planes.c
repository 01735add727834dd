/*
 * Planes: floors, which are the backdrop with shadows on it, and walls, which are panes of glass behind the scene.
 */
#include "draw/internal.h"

/* Planes that rise less than this are floors. */
#define FLOOR_SLOPE 0.3f

static void set_square(GLuint program, const vec3 middle, const vec3 across, const vec3 along)
{
    glUniform3fv(glGetUniformLocation(program, "middle"), 1, middle);
    glUniform3fv(glGetUniformLocation(program, "across"), 1, across);
    glUniform3fv(glGetUniformLocation(program, "along"), 1, along);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* Whether the eye is on the free side of a plane. */
static bool is_in_front(draw_plane *plane) { return glm_vec3_dot(plane->middle, plane->normal) < 0.0f; }

/* The point of a plane that is nearest to another. */
static void nearest_point(draw_plane *plane, vec3 to, vec3 out)
{
    vec3 from;
    glm_vec3_sub(to, plane->middle, from);
    glm_vec3_copy(to, out);
    glm_vec3_muladds(plane->normal, -glm_vec3_dot(from, plane->normal), out);
}

void draw_floors(const draw_frame *frame, const draw_colliders *colliders, GLuint program)
{
    for (size_t n = 0; n < colliders->plane_count; n++) {
        draw_plane *plane = &colliders->planes[n];
        if (plane->normal[1] < FLOOR_SLOPE || !is_in_front(plane)) {
            continue;
        }
        bool level = plane->normal[1] > 0.999f;
        float reach = level ? 0.7f * frame->block.lens[3] : 3.0f * (float)frame->distance;
        vec3 middle, across, along;
        nearest_point(plane, (vec3){frame->block.look_at[0], frame->block.look_at[1], frame->block.look_at[2]}, middle);
        glm_vec3_crossn((vec3){0.0f, 0.0f, 1.0f}, plane->normal, along);
        glm_vec3_cross(along, plane->normal, across);
        glm_vec3_scale(across, reach, across);
        glm_vec3_scale(along, reach, along);
        float share = plane->has_colour ? 1.0f : 0.55f; /* about as bright as the backdrop that it fades into */
        glUniform4f(glGetUniformLocation(program, "tint"), share * plane->colour[0], share * plane->colour[1],
                    share * plane->colour[2], plane->has_colour || !level ? 1.0f : 0.0f);
        glUniform3fv(glGetUniformLocation(program, "normal"), 1, plane->normal);
        set_square(program, middle, across, along);
    }
}

void draw_walls(const draw_frame *frame, const draw_colliders *colliders, const draw_bounds *bounds, GLuint program)
{
    if (draw_bounds_is_empty(bounds)) {
        return;
    }
    vec3 lower, upper, centre, half;
    draw_to_vec3(draw_subtract(bounds->lower, frame->eye), lower);
    draw_to_vec3(draw_subtract(bounds->upper, frame->eye), upper);
    glm_vec3_center(lower, upper, centre);
    glm_vec3_sub(upper, centre, half);
    for (size_t n = 0; n < colliders->plane_count; n++) {
        draw_plane *plane = &colliders->planes[n];
        if (fabsf(plane->normal[1]) >= FLOOR_SLOPE || !is_in_front(plane)) {
            continue;
        }
        vec3 middle, across, along;
        nearest_point(plane, centre, middle);
        glm_vec3_crossn((vec3){0.0f, 1.0f, 0.0f}, plane->normal, across);
        glm_vec3_cross(plane->normal, across, along);
        glm_vec3_scale(along, half[1] * 1.15f, along);
        glm_vec3_scale(across, 1.35f * (fabsf(across[0]) * half[0] + fabsf(across[2]) * half[2]), across);
        glUniform4f(glGetUniformLocation(program, "tint"), 0.80f, 0.86f, 0.94f, 0.35f);
        set_square(program, middle, across, along);
    }
}
