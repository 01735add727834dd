/*
 * Which side of a body's surface is outside.
 *
 * A closed surface that is right side out shows its front faces, and its back faces only in the few places where it is folded
 * through itself. So shadows and depths do without back faces, and the picture finds their light in a cheaper way. Everything
 * else (sheets, open surfaces, bodies that are flat or inside out) is drawn in full on both sides.
 */
#include "draw/internal.h"

#include <string.h>

/* A closed surface faces everywhere: the areas of its triangles add up to nothing. */
bool draw_surface_is_closed(const vec4 *vertices, const uint32_t *corners, uint32_t triangles)
{
    vec3 sum = {0.0f, 0.0f, 0.0f};
    float total = 0.0f;
    for (size_t n = 0; n < 3 * (size_t)triangles; n += 3) {
        vec3 b, c, area;
        const float *a = vertices[corners[n]], *p = vertices[corners[n + 1]], *q = vertices[corners[n + 2]];
        for (int k = 0; k < 3; k++) {
            b[k] = p[k] - a[k], c[k] = q[k] - a[k];
        }
        glm_vec3_cross(b, c, area);
        glm_vec3_add(sum, area, sum);
        total += glm_vec3_norm(area);
    }
    return glm_vec3_norm(sum) < 1e-3f * total;
}

/* The determinant of sum p q^T over the particles, q their rest positions from the mean of those. */
static float spread(const vec4 *now, const lm_vec3 *rest, uint32_t count)
{
    mat3 sum = GLM_MAT3_ZERO_INIT;
    vec3 middle = {0.0f, 0.0f, 0.0f};
    float share = 1.0f / (float)count;
    for (uint32_t n = 0; n < count; n++) {
        middle[0] += share * rest[n].x, middle[1] += share * rest[n].y, middle[2] += share * rest[n].z;
    }
    for (uint32_t n = 0; n < count; n++) {
        float q[3] = {rest[n].x - middle[0], rest[n].y - middle[1], rest[n].z - middle[2]};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                sum[i][j] += share * q[i] * (now ? now[n][j] : q[j]);
            }
        }
    }
    return glm_mat3_det(sum);
}

/* Right side out, and not so squashed that it must be folded: as a whole it has half of its volume at least. */
static bool is_right_side_out(const draw_bodies *b, const draw_body *body)
{
    const lm_vec3 *rest = b->particle_rest + body->first_particle;
    float before = spread(NULL, rest, body->particles);
    float after = spread((const vec4 *)(b->particle + body->first_particle), rest, body->particles);
    return before > 0.0f && after > 0.5f * before;
}

static void add_draw(const draw_bodies *b, draw_list *list, const draw_body *body)
{
    list->counts[list->length] = (GLsizei)(3 * body->triangles);
    list->offsets[list->length++] = (const void *)(3 * (size_t)body->first_triangle * sizeof *b->corners);
}

bool draw_bodies_sort_out(draw_bodies *b, bool known)
{
    draw_list *lists[] = {&b->one_sided, &b->two_sided};
    for (int n = 0; n < 2; n++) {
        lists[n]->length = 0;
        if (!draw_reserve(&lists[n]->counts, &lists[n]->count_capacity, b->count, sizeof *lists[n]->counts) ||
            !draw_reserve(&lists[n]->offsets, &lists[n]->offset_capacity, b->count, sizeof *lists[n]->offsets)) {
            return false;
        }
    }
    for (size_t n = 0; n < b->count; n++) {
        const draw_body *body = &b->list[n];
        bool one = known && body->is_closed && is_right_side_out(b, body);
        if (body->triangles) {
            add_draw(b, one ? &b->one_sided : &b->two_sided, body);
        }
    }
    return true;
}

static void draw_list_of(const draw_bodies *b, const draw_list *list)
{
    if (list->length) {
        glBindVertexArray(b->surface_array);
        glMultiDrawElements(GL_TRIANGLES, list->counts, GL_UNSIGNED_INT, list->offsets, list->length);
        glBindVertexArray(0);
    }
}

void draw_bodies_outsides(const draw_bodies *b)
{
    draw_list_of(b, &b->two_sided);
    glEnable(GL_CULL_FACE);
    draw_list_of(b, &b->one_sided);
    glDisable(GL_CULL_FACE);
}

void draw_bodies_insides(const draw_bodies *b)
{
    glEnable(GL_CULL_FACE);
    glCullFace(GL_FRONT);
    draw_list_of(b, &b->one_sided);
    glCullFace(GL_BACK);
    glDisable(GL_CULL_FACE);
}
