/*
 * The colours of bodies: those that they were given, those of a palette by their ids, or those of their regions.
 *
 * A body is coloured by its vertices; its particles take the colours of the vertices that ride on them. Colours by region are
 * found in region_colours.c.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* What a break lays open is paler than the surface, and warm. */
static void inner_colour(const uint8_t surface[3], uint8_t to[3])
{
    const vec3 pale = {0.80f, 0.62f, 0.42f}; /* linear light */
    vec3 linear;
    draw_colour_linear(surface, linear);
    glm_vec3_lerp(linear, (float *)pale, 0.75f, linear);
    draw_colour_bytes(linear, to);
}

static void own_colours(draw_bodies *b, const draw_body *body, const draw_colours *colours, draw_mixture *particles)
{
    const draw_colour_set *set = draw_colours_find(colours, body->id.slot, body->id.generation);
    uint8_t palette[3];
    draw_palette_body(body->id.slot - 1, palette);
    const uint32_t *source = b->source + body->first_vertex;
    uint32_t given = 0; /* vertices of the surface as it was given */
    for (uint32_t n = 0; n < body->vertices; n++) {
        given = source[n] != LM_SKIN_INNER && source[n] >= given ? source[n] + 1 : given;
    }
    bool each = set && set->count > 1 && set->count >= given;
    const uint8_t *rgb = set ? set->rgb : palette;
    draw_mixture whole = {{0}, 0};
    memset(particles, 0, body->particles * sizeof *particles);
    for (uint32_t n = 0; n < body->vertices; n++) {
        uint8_t *to = b->vertex_colours[body->first_vertex + n];
        vec3 linear;
        if (source[n] == LM_SKIN_INNER) {
            inner_colour(rgb, to);
        } else {
            memcpy(to, each ? rgb + (size_t)source[n] * 3 : rgb, 3);
        }
        to[3] = 255;
        if (source[n] == LM_SKIN_INNER) {
            continue;
        }
        draw_colour_linear(to, linear);
        draw_mixture_add(&whole, linear, 1.0f);
        draw_ride ride = b->ride[body->first_vertex + n];
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            if (b->rider[k].index < LM_RIDER_REGION && b->rider[k].weight > 0.0f) {
                draw_mixture_add(&particles[b->rider[k].index - body->first_particle], linear, b->rider[k].weight);
            }
        }
    }
    vec3 mean;
    draw_colour_linear(rgb, mean);
    if (whole.weight > 0.0f) {
        glm_vec3_divs(whole.sum, whole.weight, mean);
    }
    for (uint32_t n = 0; n < body->particles; n++) {
        draw_mixture_write(&particles[n], mean, b->particle_colours[body->first_particle + n]);
    }
}

bool draw_bodies_colour(draw_bodies *b, const lm_world *world, const draw_colours *colours, bool by_region,
                        draw_error *error)
{
    if (b->is_coloured && b->by_region == by_region && b->colour_revision == colours->revision) {
        draw_stream_bind(&b->colour_stream, GL_RGBA8, UNIT_COLOURS);
        return true;
    }
    uint32_t most = 1;
    for (size_t n = 0; n < b->count; n++) {
        most = b->list[n].particles > most ? b->list[n].particles : most;
    }
    draw_mixture *particles = malloc(most * sizeof *particles);
    bool ok =
        particles &&
        draw_reserve(&b->vertex_colours, &b->vertex_colour_capacity, b->vertices, sizeof *b->vertex_colours) &&
        draw_reserve(&b->particle_colours, &b->particle_colour_capacity, b->particles, sizeof *b->particle_colours);
    for (size_t n = 0; ok && n < b->count; n++) {
        if (by_region) {
            ok = draw_body_region_colours(b, world, &b->list[n], error);
        } else {
            own_colours(b, &b->list[n], colours, particles);
        }
    }
    free(particles);
    if (!ok) {
        return draw_give_up(error);
    }
    draw_stream_write(&b->colour_stream, b->vertex_colours, b->vertices * sizeof *b->vertex_colours, GL_RGBA8,
                      UNIT_COLOURS);
    b->is_coloured = true;
    b->by_region = by_region;
    b->colour_revision = colours->revision;
    return true;
}
