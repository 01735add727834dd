/*
 * The colours of bodies: those that they were given, those of a palette by their ids, or those of their regions.
 *
 * A body is coloured by its vertices; its particles take the colours of the vertices that ride on them. Regions colour
 * particles, or vertices that ride on them, and vertices take the colours of the particles that they ride on.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

/* Colours being mixed, in linear light. */
typedef struct mixture {
    vec3 sum;
    float weight;
} mixture;

static void add(mixture *m, const vec3 colour, float weight)
{
    glm_vec3_muladds((float *)(uintptr_t)colour, weight, m->sum);
    m->weight += weight;
}

static void write_mixture(const mixture *m, const vec3 otherwise, uint8_t rgba[4])
{
    vec3 colour;
    for (int n = 0; n < 3; n++) {
        colour[n] = m->weight > 1e-6f ? fmaxf(m->sum[n] / m->weight, 0.0f) : otherwise[n];
    }
    draw_colour_bytes(colour, rgba);
    rgba[3] = 255;
}

/* ---- their own ---- */

static void own_colours(draw_bodies *b, const draw_body *body, const draw_colours *colours, mixture *particles)
{
    const draw_colour_set *set = draw_colours_find(colours, body->id.slot, body->id.generation);
    uint8_t palette[3];
    draw_palette_body(body->id.slot - 1, palette);
    bool each = set && set->count > 1 && set->count == body->vertices;
    const uint8_t *rgb = set ? set->rgb : palette;
    mixture whole = {{0}, 0};
    memset(particles, 0, body->particles * sizeof *particles);
    for (uint32_t n = 0; n < body->vertices; n++) {
        uint8_t *to = b->vertex_colours[body->first_vertex + n];
        vec3 linear;
        memcpy(to, each ? rgb + (size_t)n * 3 : rgb, 3);
        to[3] = 255;
        draw_colour_linear(to, linear);
        add(&whole, linear, 1.0f);
        draw_ride ride = b->ride[body->first_vertex + n];
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            if (b->rider[k].index < LM_RIDER_REGION && b->rider[k].weight > 0.0f) {
                add(&particles[b->rider[k].index - body->first_particle], linear, b->rider[k].weight);
            }
        }
    }
    vec3 mean;
    draw_colour_linear(rgb, mean);
    if (whole.weight > 0.0f) {
        glm_vec3_divs(whole.sum, whole.weight, mean);
    }
    for (uint32_t n = 0; n < body->particles; n++) {
        write_mixture(&particles[n], mean, b->particle_colours[body->first_particle + n]);
    }
}

/* ---- those of regions ---- */

static void region_colour(const draw_body *body, uint32_t region, vec3 linear)
{
    uint8_t rgb[3];
    draw_palette_region(region + 5 * body->id.slot, rgb);
    draw_colour_linear(rgb, linear);
}

static bool mix_regions(const lm_world *world, const draw_body *body, mixture *particles)
{
    uint32_t *offsets = malloc(((size_t)body->regions + 1) * sizeof *offsets);
    uint32_t *members = malloc(((size_t)body->memberships + 1) * sizeof *members);
    bool ok = offsets && members && lm_body_get_regions(world, body->id, offsets, members) == LM_OK;
    memset(particles, 0, body->particles * sizeof *particles);
    for (uint32_t r = 0; ok && r < body->regions; r++) {
        vec3 linear;
        region_colour(body, r, linear);
        for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
            add(&particles[members[n]], linear, 1.0f);
        }
    }
    free(offsets);
    free(members);
    return ok;
}

static bool region_colours(draw_bodies *b, const lm_world *world, const draw_body *body, mixture *particles)
{
    static const vec3 none = {0.35f, 0.35f, 0.35f}; /* in no region */
    if (!mix_regions(world, body, particles)) {
        return false;
    }
    for (uint32_t n = 0; n < body->particles; n++) {
        write_mixture(&particles[n], none, b->particle_colours[body->first_particle + n]);
    }
    for (uint32_t n = 0; n < body->vertices; n++) {
        draw_ride ride = b->ride[body->first_vertex + n];
        mixture mixed = {{0}, 0};
        for (uint32_t k = ride.first; k < ride.first + ride.count; k++) {
            uint32_t index = b->rider[k].index;
            vec3 linear;
            if (index >= LM_RIDER_REGION) {
                region_colour(body, index - LM_RIDER_REGION - body->first_region, linear);
            } else {
                draw_colour_linear(b->particle_colours[index], linear);
            }
            add(&mixed, linear, fmaxf(b->rider[k].weight, 0.0f));
        }
        write_mixture(&mixed, none, b->vertex_colours[body->first_vertex + n]);
    }
    return true;
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
    mixture *particles = malloc(most * sizeof *particles);
    bool ok =
        particles &&
        draw_reserve(&b->vertex_colours, &b->vertex_colour_capacity, b->vertices, sizeof *b->vertex_colours) &&
        draw_reserve(&b->particle_colours, &b->particle_colour_capacity, b->particles, sizeof *b->particle_colours);
    for (size_t n = 0; ok && n < b->count; n++) {
        if (by_region) {
            ok = region_colours(b, world, &b->list[n], particles);
        } else {
            own_colours(b, &b->list[n], colours, particles);
        }
    }
    free(particles);
    if (!ok) {
        return draw_out_of_memory(error);
    }
    draw_stream_write(&b->colour_stream, b->vertex_colours, b->vertices * sizeof *b->vertex_colours, GL_RGBA8,
                      UNIT_COLOURS);
    b->is_coloured = true;
    b->by_region = by_region;
    b->colour_revision = colours->revision;
    return true;
}
