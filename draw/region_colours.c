/*
 * Bodies in the colours of their regions.
 *
 * Regions overlap. A particle has the colour of the region whose middle is nearest to it, measured by the size of each
 * region; colours mix only where two are about as near. Vertices take the colours of what they ride on.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

static const vec3 in_no_region = {0.35f, 0.35f, 0.35f};

static void region_colour(const draw_body *body, uint32_t region, vec3 linear)
{
    uint8_t rgb[3];
    draw_palette_region(region + 5 * body->id.slot, rgb);
    draw_colour_linear(rgb, linear);
}

/* The squares of the members' distances from the middle of their region, as shares of the mean of these squares. */
static void find_distances(const lm_vec3 *rest, const uint32_t *members, uint32_t count, float *distances)
{
    vec3 middle = {0.0f, 0.0f, 0.0f};
    float share = 1.0f / (float)count, mean = 0.0f;
    for (uint32_t n = 0; n < count; n++) {
        lm_vec3 p = rest[members[n]];
        glm_vec3_muladds((vec3){p.x, p.y, p.z}, share, middle);
    }
    for (uint32_t n = 0; n < count; n++) {
        lm_vec3 p = rest[members[n]];
        distances[n] = glm_vec3_distance2((vec3){p.x, p.y, p.z}, middle);
        mean += share * distances[n];
    }
    for (uint32_t n = 0; n < count; n++) {
        distances[n] = mean > 0.0f ? distances[n] / mean : 0.0f;
    }
}

/* How much a region counts whose middle is farther away than the nearest: a tenth at 1.2 times the distance. */
static float weight_of(float distance, float nearest)
{
    float ratio = (nearest + 1e-4f) / (distance + 1e-4f);
    ratio *= ratio * ratio;
    return ratio * ratio;
}

/* Room for what is read of a body. */
typedef struct memberships {
    uint32_t *offsets, *members;
    float *distances; /* of each membership */
    float *nearest;   /* of each particle, the least of them */
    draw_mixture *colours;
} memberships;

static void free_memberships(memberships *m)
{
    free(m->offsets);
    free(m->members);
    free(m->distances);
    free(m->nearest);
    free(m->colours);
}

static bool read_memberships(memberships *m, const lm_world *world, const draw_body *body, draw_error *error)
{
    m->offsets = malloc(((size_t)body->regions + 1) * sizeof *m->offsets);
    m->members = malloc(((size_t)body->memberships + 1) * sizeof *m->members);
    m->distances = malloc(((size_t)body->memberships + 1) * sizeof *m->distances);
    m->nearest = malloc(((size_t)body->particles + 1) * sizeof *m->nearest);
    m->colours = calloc((size_t)body->particles + 1, sizeof *m->colours);
    return m->offsets && m->members && m->distances && m->nearest && m->colours &&
           draw_could_read(lm_body_get_regions(world, body->id, m->offsets, m->members), error);
}

static void colour_particles(draw_bodies *b, const draw_body *body, memberships *m)
{
    const lm_vec3 *rest = b->particle_rest + body->first_particle;
    for (uint32_t n = 0; n < body->particles; n++) {
        m->nearest[n] = INFINITY;
    }
    for (uint32_t r = 0; r < body->regions; r++) {
        find_distances(rest, m->members + m->offsets[r], m->offsets[r + 1] - m->offsets[r],
                       m->distances + m->offsets[r]);
        for (uint32_t n = m->offsets[r]; n < m->offsets[r + 1]; n++) {
            float *nearest = &m->nearest[m->members[n]];
            *nearest = fminf(*nearest, m->distances[n]);
        }
    }
    for (uint32_t r = 0; r < body->regions; r++) {
        vec3 linear;
        region_colour(body, r, linear);
        for (uint32_t n = m->offsets[r]; n < m->offsets[r + 1]; n++) {
            uint32_t particle = m->members[n];
            draw_mixture_add(&m->colours[particle], linear, weight_of(m->distances[n], m->nearest[particle]));
        }
    }
    for (uint32_t n = 0; n < body->particles; n++) {
        draw_mixture_write(&m->colours[n], in_no_region, b->particle_colours[body->first_particle + n]);
    }
}

/* Of what a vertex rides on, the strongest count most: the fourth powers of the weights. */
static void colour_vertices(draw_bodies *b, const draw_body *body)
{
    for (uint32_t n = 0; n < body->vertices; n++) {
        draw_ride ride = b->ride[body->first_vertex + n];
        draw_mixture mixed = {{0}, 0};
        float most = 1e-6f;
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            most = fmaxf(most, b->rider[k].weight);
        }
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            uint32_t index = b->rider[k].index;
            vec3 linear;
            if (index >= LM_RIDER_REGION) {
                region_colour(body, index - LM_RIDER_REGION - body->first_region, linear);
            } else {
                draw_colour_linear(b->particle_colours[index], linear);
            }
            float weight = fmaxf(b->rider[k].weight / most, 0.0f);
            weight *= weight;
            draw_mixture_add(&mixed, linear, weight * weight);
        }
        draw_mixture_write(&mixed, in_no_region, b->vertex_colours[body->first_vertex + n]);
    }
}

bool draw_body_region_colours(draw_bodies *b, const lm_world *world, const draw_body *body, draw_error *error)
{
    memberships m;
    memset(&m, 0, sizeof m);
    bool ok = read_memberships(&m, world, body, error);
    if (ok) {
        colour_particles(b, body, &m);
        colour_vertices(b, body);
    }
    free_memberships(&m);
    return ok;
}
