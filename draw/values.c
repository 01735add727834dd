/*
 * Values for the colour map: speed and strain of vertices and particles.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

static bool reserve_values(draw_bodies *b)
{
    return draw_reserve(&b->particle_values, &b->particle_value_capacity, b->particles, sizeof *b->particle_values) &&
           draw_reserve(&b->vertex_values, &b->vertex_value_capacity, b->vertices, sizeof *b->vertex_values);
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
                         region_motion *motions)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    bool ok = offsets && members && lm_body_get_regions(world, body->id, offsets, members) == LM_OK;
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

static bool body_speeds(draw_bodies *b, const lm_world *world, const draw_body *body)
{
    region_motion *motions = NULL;
    lm_vec3 *places = NULL;
    bool ok = draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch) &&
              lm_body_get_velocities(world, body->id, b->scratch) == LM_OK;
    if (ok && body->rides_on_regions) {
        motions = malloc(((size_t)body->regions + 1) * sizeof *motions);
        places = malloc(body->vertices * sizeof *places);
        ok = motions && places && lm_body_get_skin(world, body->id, body->centre, places, NULL) == LM_OK &&
             find_motions(b, world, body, b->scratch, motions);
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
        ok = body_speeds(b, frame->world, &b->list[n]);
    }
    if (!ok) {
        return draw_out_of_memory(error);
    }
    draw_stream_write(&b->value_stream, b->vertex_values, b->vertices * sizeof *b->vertex_values, 0, 0);
    *most = largest(b->particle_values, b->particles, *most);
    return true;
}

/* ---- strain ---- */

/* Strain of particles: how much farther from the middle of a region they are than at rest, or how much less far. */
static bool particle_strains(draw_bodies *b, const lm_world *world, const draw_body *body)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    float *values = b->particle_values + body->first_particle;
    const vec4 *now = (const vec4 *)(b->particle + body->first_particle);
    bool ok = offsets && members && lm_body_get_regions(world, body->id, offsets, members) == LM_OK &&
              draw_reserve(&b->scratch, &b->scratch_capacity, body->particles, sizeof *b->scratch) &&
              lm_body_get_rest_positions(world, body->id, b->scratch) == LM_OK;
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

bool draw_bodies_strain(draw_bodies *b, const draw_frame *frame, const draw_programs *programs, float *most,
                        draw_error *error)
{
    bool ok = reserve_values(b);
    for (size_t n = 0; ok && n < b->count; n++) {
        ok = particle_strains(b, frame->world, &b->list[n]);
    }
    if (!ok) {
        return draw_out_of_memory(error);
    }
    draw_stream_write(&b->value_stream, NULL, b->vertices * sizeof *b->vertex_values, 0, 0);
    if (b->vertices) {
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
