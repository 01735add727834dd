/*
 * Values for the colour map: speed, strain and stress of vertices and particles.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

static bool reserve_values(draw_bodies *b)
{
    return draw_reserve(&b->particle_values, &b->particle_value_capacity, b->particles, sizeof *b->particle_values) &&
           draw_reserve(&b->vertex_values, &b->vertex_value_capacity, b->vertices, sizeof *b->vertex_values);
}

/* Where textures hold them, wires read the values there. */
static void send_values(draw_bodies *b)
{
    draw_stream_write(&b->value_stream, b->vertex_values, b->vertices * sizeof *b->vertex_values,
                      b->on_host ? 0 : GL_R32F, UNIT_VALUES);
}

static float largest(const float *values, size_t count, float most)
{
    for (size_t n = 0; n < count; n++) {
        most = values[n] > most ? values[n] : most;
    }
    return most;
}

/* ---- speed ---- */

/* How a region moves as a whole: the velocity of its middle, and its spin. */
typedef struct region_motion {
    vec3 middle, velocity, spin;
} region_motion;

/* From angular momentum and inertia of its members, all counted alike, about their middle. */
static void find_motion(const uint32_t *members, uint32_t count, const vec4 *places, const lm_vec3 *velocities,
                        region_motion *motion)
{
    vec3 momentum = {0.0f, 0.0f, 0.0f};
    mat3 inertia = GLM_MAT3_ZERO_INIT, inverse;
    memset(motion, 0, sizeof *motion);
    for (uint32_t n = 0; n < count; n++) {
        lm_vec3 v = velocities[members[n]];
        glm_vec3_muladds((float *)(uintptr_t)places[members[n]], 1.0f / (float)count, motion->middle);
        glm_vec3_muladds((vec3){v.x, v.y, v.z}, 1.0f / (float)count, motion->velocity);
    }
    for (uint32_t n = 0; n < count; n++) {
        vec3 r, turned, v = {velocities[members[n]].x, velocities[members[n]].y, velocities[members[n]].z};
        glm_vec3_sub((float *)(uintptr_t)places[members[n]], motion->middle, r);
        glm_vec3_cross(r, v, turned);
        glm_vec3_add(momentum, turned, momentum);
        float square = glm_vec3_norm2(r);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                inertia[i][j] += (i == j ? square : 0.0f) - r[i] * r[j];
            }
        }
    }
    float trace = inertia[0][0] + inertia[1][1] + inertia[2][2];
    if (trace > 0.0f) {
        for (int i = 0; i < 3; i++) {
            inertia[i][i] += 1e-4f * trace; /* a string does not turn about itself */
        }
        glm_mat3_inv(inertia, inverse);
        glm_mat3_mulv(inverse, momentum, motion->spin);
    }
}

static bool find_motions(const draw_bodies *b, const lm_world *world, const draw_body *body, const lm_vec3 *velocities,
                         region_motion *motions, draw_error *error)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    bool ok = offsets && members && draw_could_read(lm_body_get_regions(world, body->id, offsets, members), error);
    for (uint32_t r = 0; ok && r < body->regions; r++) {
        find_motion(members + offsets[r], offsets[r + 1] - offsets[r],
                    (const vec4 *)(b->particle + body->first_particle), velocities, &motions[r]);
    }
    free(offsets);
    free(members);
    return ok;
}

/* The speeds of vertices; `places` (null unless they ride on regions) are relative to the body's centre. */
static void vertex_speeds(draw_bodies *b, const draw_body *body, const lm_vec3 *velocities, const lm_vec3 *places,
                          region_motion *motions)
{
    for (uint32_t n = 0; n < body->vertices; n++) {
        draw_ride ride = b->ride[body->first_vertex + n];
        vec3 sum = {0.0f, 0.0f, 0.0f};
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            uint32_t index = b->rider[k].index;
            vec3 velocity;
            if (index >= LM_RIDER_REGION) {
                region_motion *motion = &motions[index - LM_RIDER_REGION - body->first_region];
                vec3 from = {places[n].x, places[n].y, places[n].z};
                glm_vec3_sub(from, motion->middle, from);
                glm_vec3_cross(motion->spin, from, velocity);
                glm_vec3_add(velocity, motion->velocity, velocity);
            } else {
                lm_vec3 v = velocities[index - body->first_particle];
                glm_vec3_copy((vec3){v.x, v.y, v.z}, velocity);
            }
            glm_vec3_muladds(velocity, b->rider[k].weight, sum);
        }
        b->vertex_values[body->first_vertex + n] = glm_vec3_norm(sum);
    }
}

static bool body_speeds(draw_bodies *b, const lm_world *world, const draw_body *body, draw_error *error)
{
    region_motion *motions = NULL;
    lm_vec3 *places = NULL;
    bool ok = draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch) &&
              draw_could_read(lm_body_get_velocities(world, body->id, b->scratch), error);
    if (ok && body->rides_on_regions) {
        motions = malloc(((size_t)body->regions + 1) * sizeof *motions);
        places = malloc(body->vertices * sizeof *places);
        ok = motions && places &&
             draw_could_read(lm_body_get_skin(world, body->id, body->centre, places, NULL), error) &&
             find_motions(b, world, body, b->scratch, motions, error);
    }
    for (uint32_t n = 0; ok && n < body->particles; n++) {
        lm_vec3 v = b->scratch[n];
        b->particle_values[body->first_particle + n] = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    }
    if (ok) {
        vertex_speeds(b, body, b->scratch, places, motions);
    }
    free(motions);
    free(places);
    return ok;
}

bool draw_bodies_speed(draw_bodies *b, const draw_frame *frame, float *most, draw_error *error)
{
    bool ok = reserve_values(b);
    for (size_t n = 0; ok && n < b->count; n++) {
        ok = body_speeds(b, frame->world, &b->list[n], error);
    }
    if (!ok) {
        return draw_give_up(error);
    }
    send_values(b);
    *most = largest(b->particle_values, b->particles, *most);
    return true;
}

/* ---- strain ---- */

/* Strain of particles: how much farther from the middle of a region they are than at rest, or how much less far. */
static bool particle_strains(draw_bodies *b, const lm_world *world, const draw_body *body, draw_error *error)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    float *values = b->particle_values + body->first_particle;
    const vec4 *now = (const vec4 *)(b->particle + body->first_particle);
    bool ok = offsets && members && draw_could_read(lm_body_get_regions(world, body->id, offsets, members), error) &&
              draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch) &&
              draw_could_read(lm_body_get_rest_positions(world, body->id, b->scratch), error);
    if (ok) {
        memset(values, 0, body->particles * sizeof *values);
    }
    for (uint32_t r = 0; ok && r < body->regions; r++) {
        vec3 rest = {0}, middle = {0};
        float share = 1.0f / (float)(offsets[r + 1] - offsets[r]), size = 0.0f;
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            lm_vec3 p = b->scratch[members[n]];
            glm_vec3_muladds((vec3){p.x, p.y, p.z}, share, rest);
            glm_vec3_muladds((float *)(uintptr_t)now[members[n]], share, middle);
        }
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            lm_vec3 p = b->scratch[members[n]];
            size = fmaxf(size, glm_vec3_distance((vec3){p.x, p.y, p.z}, rest));
        }
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            lm_vec3 p = b->scratch[members[n]];
            float before = glm_vec3_distance((vec3){p.x, p.y, p.z}, rest);
            float after = glm_vec3_distance((float *)(uintptr_t)now[members[n]], middle);
            /* Near the middle the ratio says nothing. */
            float strain = before > 0.1f * size ? fabsf(after / before - 1.0f) : 0.0f;
            values[members[n]] = fmaxf(values[members[n]], strain);
        }
    }
    free(offsets);
    free(members);
    return ok;
}

/* The two stretches of a triangle less 1, the larger of both: as strain.vert finds it. */
static float triangle_strain(vec4 *rest, vec4 *now, const uint32_t *corners)
{
    vec3 p, q, x, y;
    glm_vec3_sub(rest[corners[1]], rest[corners[0]], p);
    glm_vec3_sub(rest[corners[2]], rest[corners[0]], q);
    float a = glm_vec3_norm(p), b = a > 0.0f ? glm_vec3_dot(p, q) / a : 0.0f;
    glm_vec3_muladds(p, a > 0.0f ? -b / a : 0.0f, q);
    float h = glm_vec3_norm(q);
    if (a == 0.0f || h < 1e-4f * a) {
        return 0.0f; /* no area: it says nothing */
    }
    glm_vec3_sub(now[corners[1]], now[corners[0]], x);
    glm_vec3_sub(now[corners[2]], now[corners[0]], y);
    glm_vec3_scale(x, 1.0f / a, x);
    glm_vec3_muladds(x, -b, y);
    glm_vec3_scale(y, 1.0f / h, y);
    float xx = glm_vec3_norm2(x), yy = glm_vec3_norm2(y), xy = glm_vec3_dot(x, y);
    float middle = 0.5f * (xx + yy), apart = hypotf(0.5f * (xx - yy), xy);
    return fmaxf(fabsf(sqrtf(middle + apart) - 1.0f), fabsf(sqrtf(fmaxf(middle - apart, 0.0f)) - 1.0f));
}

/* Strain of vertices, without the graphics card: where its textures do not hold the triangles. */
static void surface_strains(draw_bodies *b)
{
    for (uint32_t n = 0; n < b->vertices; n++) {
        b->vertex_values[n] = 0.0f;
    }
    for (size_t n = 0; n < 3 * (size_t)b->triangles; n += 3) {
        float strain = triangle_strain(b->rest, b->position, b->corners + n);
        for (int k = 0; k < 3; k++) {
            float *value = &b->vertex_values[b->corners[n + (size_t)k]];
            *value = fmaxf(*value, strain);
        }
    }
}

bool draw_bodies_strain(draw_bodies *b, const draw_frame *frame, const draw_programs *programs, float *most,
                        draw_error *error)
{
    bool ok = reserve_values(b);
    for (size_t n = 0; ok && n < b->count; n++) {
        ok = particle_strains(b, frame->world, &b->list[n], error);
    }
    if (!ok) {
        return draw_give_up(error);
    }
    if (b->on_host) {
        surface_strains(b);
        send_values(b);
    } else if (b->vertices) {
        draw_stream_write(&b->value_stream, NULL, b->vertices * sizeof *b->vertex_values, GL_R32F, UNIT_VALUES);
        draw_bodies_capture(b, programs->strain, &b->value_stream);
        glBindBuffer(GL_ARRAY_BUFFER, b->value_stream.buffer);
        glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(b->vertices * sizeof *b->vertex_values), b->vertex_values);
    }
    *most = largest(b->vertex_values, b->vertices, *most);
    for (size_t n = 0; n < b->count; n++) {
        const draw_body *body = &b->list[n];
        if (body->vertices == 0 || (frame->views & DRAW_PARTICLES)) {
            *most = largest(b->particle_values + body->first_particle, body->particles, *most);
        }
    }
    return true;
}

/* ---- stress ---- */

/* The mean over the members of each region, where vertices ride on regions. */
static bool region_means(const lm_world *world, const draw_body *body, const float *of_particles, float *means,
                         draw_error *error)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    bool ok = offsets && members && draw_could_read(lm_body_get_regions(world, body->id, offsets, members), error);
    for (uint32_t r = 0; ok && r < body->regions; r++) {
        means[r] = 0.0f;
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            means[r] += of_particles[members[n]] / (float)(offsets[r + 1] - offsets[r]);
        }
    }
    free(offsets);
    free(members);
    return ok;
}

static bool body_stresses(draw_bodies *b, const lm_world *world, const draw_body *body, draw_error *error)
{
    float *values = b->particle_values + body->first_particle, *means = NULL;
    lm_world *lender = (lm_world *)(uintptr_t)world; /* of memory, for the time of the call */
    bool ok = draw_could_read(lm_body_get_stress(lender, body->id, NULL, values), error);
    if (ok && body->rides_on_regions) {
        means = malloc(((size_t)body->regions + 1) * sizeof *means);
        ok = means && region_means(world, body, values, means, error);
    }
    for (uint32_t n = 0; ok && n < body->vertices; n++) {
        draw_ride ride = b->ride[body->first_vertex + n];
        float sum = 0.0f;
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            uint32_t index = b->rider[k].index;
            sum += b->rider[k].weight * (index >= LM_RIDER_REGION ? means[index - LM_RIDER_REGION - body->first_region]
                                                                  : values[index - body->first_particle]);
        }
        b->vertex_values[body->first_vertex + n] =
            fmaxf(sum, 0.0f); /* beyond the outermost particles weights may be below 0 */
    }
    free(means);
    return ok;
}

static int compare_values(const void *a, const void *b)
{
    float p = *(const float *)a, q = *(const float *)b;
    return p < q ? -1 : p > q;
}

/* Stress has peaks where things touch: a range up to those would show nothing else. */
static bool find_usual(const draw_bodies *b, float *usual)
{
    float *sorted = malloc((b->particles + 1) * sizeof *sorted);
    if (sorted && b->particles > 0) {
        memcpy(sorted, b->particle_values, b->particles * sizeof *sorted);
        qsort(sorted, b->particles, sizeof *sorted, compare_values);
        *usual = sorted[(size_t)(0.99 * (double)(b->particles - 1))];
    }
    free(sorted);
    return sorted != NULL;
}

bool draw_bodies_stress(draw_bodies *b, const draw_frame *frame, float *most, float *usual, float *stiffest,
                        draw_error *error)
{
    bool ok = reserve_values(b);
    for (size_t n = 0; ok && n < b->count; n++) {
        lm_body_info info;
        ok = body_stresses(b, frame->world, &b->list[n], error) &&
             draw_could_read(lm_body_get_info(frame->world, b->list[n].id, &info), error);
        *stiffest = ok ? fmaxf(*stiffest, info.reached_young) : *stiffest;
    }
    if (!ok || !find_usual(b, usual)) {
        return draw_give_up(error);
    }
    send_values(b);
    *most = largest(b->particle_values, b->particles, *most);
    return true;
}
