/*
 * Values for the colours of a surface (host.h): of particles first, then carried to the vertices that ride on them.
 *
 * Reads a body through the public interface. A vertex that rides on regions has the mean of what is in them.
 */
#include "web/wasm/host.h"

#include <math.h>
#include <stdlib.h>

/* What is known of a body while values are made. */
typedef struct sheet {
    const lm_world *world;
    lm_body_id body;
    lm_body_info info;
    uint32_t *offsets, *members; /* regions */
    float *of_particles, *of_regions;
    lm_vec3 *now, *rest;
} sheet;

static void close_sheet(sheet *s)
{
    free(s->offsets);
    free(s->members);
    free(s->of_particles);
    free(s->of_regions);
    free(s->now);
    free(s->rest);
}

static lm_result open_sheet(sheet *s, const lm_world *world, lm_body_id body)
{
    *s = (sheet){.world = world, .body = body};
    lm_result result = lm_body_get_info(world, body, &s->info);
    if (result != LM_OK) {
        return result;
    }
    s->offsets = calloc((size_t)s->info.regions + 1, sizeof *s->offsets);
    s->members = calloc((size_t)s->info.memberships + 1, sizeof *s->members);
    s->of_particles = calloc((size_t)s->info.particles + 1, sizeof *s->of_particles);
    s->of_regions = calloc((size_t)s->info.regions + 1, sizeof *s->of_regions);
    s->now = calloc((size_t)s->info.particles + 1, sizeof *s->now);
    s->rest = calloc((size_t)s->info.particles + 1, sizeof *s->rest);
    if (!s->offsets || !s->members || !s->of_particles || !s->of_regions || !s->now || !s->rest) {
        return LM_ERROR_MEMORY;
    }
    result = lm_body_get_regions(world, body, s->offsets, s->members);
    result = result ? result : lm_body_get_positions(world, body, s->info.centre, s->now);
    return result ? result : lm_body_get_rest_positions(world, body, s->rest);
}

static lm_vec3 middle_of(const sheet *s, const lm_vec3 *points, uint32_t region)
{
    lm_vec3 sum = {0.0f, 0.0f, 0.0f};
    float share = 1.0f / (float)(s->offsets[region + 1] - s->offsets[region]);
    for (uint32_t k = s->offsets[region]; k < s->offsets[region + 1]; k++) {
        lm_vec3 p = points[s->members[k]];
        sum = (lm_vec3){sum.x + share * p.x, sum.y + share * p.y, sum.z + share * p.z};
    }
    return sum;
}

static float distance(lm_vec3 a, lm_vec3 b)
{
    return sqrtf((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* The largest change over the regions of a particle. */
static void find_strains(sheet *s)
{
    for (uint32_t r = 0; r < s->info.regions; r++) {
        lm_vec3 now = middle_of(s, s->now, r), rest = middle_of(s, s->rest, r);
        float size = 0.0f, sum = 0.0f;
        for (uint32_t k = s->offsets[r]; k < s->offsets[r + 1]; k++) {
            size = fmaxf(size, distance(s->rest[s->members[k]], rest));
        }
        for (uint32_t k = s->offsets[r]; k < s->offsets[r + 1] && size > 0.0f; k++) {
            uint32_t p = s->members[k];
            float strain = fabsf(distance(s->now[p], now) - distance(s->rest[p], rest)) / size;
            s->of_particles[p] = fmaxf(s->of_particles[p], strain);
            sum += strain;
        }
        s->of_regions[r] = sum / (float)(s->offsets[r + 1] - s->offsets[r]);
    }
}

static lm_result find_speeds(sheet *s)
{
    lm_result result = lm_body_get_velocities(s->world, s->body, s->now);
    for (uint32_t p = 0; p < s->info.particles && result == LM_OK; p++) {
        s->of_particles[p] = distance(s->now[p], (lm_vec3){0.0f, 0.0f, 0.0f});
    }
    return result;
}

/* Of each particle the region whose middle at rest is nearest to it. */
static void find_regions(sheet *s)
{
    for (uint32_t p = 0; p < s->info.particles; p++) {
        s->of_particles[p] = -1.0f;
        s->now[p].x = INFINITY; /* from here on: the least distance so far */
    }
    for (uint32_t r = 0; r < s->info.regions; r++) {
        lm_vec3 rest = middle_of(s, s->rest, r);
        s->of_regions[r] = (float)r;
        for (uint32_t k = s->offsets[r]; k < s->offsets[r + 1]; k++) {
            uint32_t p = s->members[k];
            float d = distance(s->rest[p], rest);
            if (d < s->now[p].x) {
                s->now[p].x = d;
                s->of_particles[p] = (float)r;
            }
        }
    }
}

static lm_result find_pieces(sheet *s)
{
    uint32_t *pieces = (uint32_t *)(void *)s->now;
    lm_result result = lm_body_get_pieces(s->world, s->body, pieces);
    for (uint32_t p = 0; p < s->info.particles && result == LM_OK; p++) {
        s->of_particles[p] = (float)pieces[p];
    }
    return result;
}

/* Regions have the mean of their members where the kind has no values for them. */
static void spread_to_regions(sheet *s)
{
    for (uint32_t r = 0; r < s->info.regions; r++) {
        float sum = 0.0f;
        for (uint32_t k = s->offsets[r]; k < s->offsets[r + 1]; k++) {
            sum += s->of_particles[s->members[k]];
        }
        s->of_regions[r] = sum / (float)(s->offsets[r + 1] - s->offsets[r]);
    }
}

/* Numbers (of regions, of pieces) are those of the heaviest rider; other values are the weighted mean. */
static lm_result carry(const sheet *s, bool numbers, float *values)
{
    uint32_t vertices = s->info.skin_vertices;
    uint32_t *offsets = calloc((size_t)vertices + 1, sizeof *offsets);
    lm_result result = offsets ? lm_body_get_skin_riders(s->world, s->body, offsets, NULL, NULL) : LM_ERROR_MEMORY;
    size_t count = result == LM_OK ? offsets[vertices] : 0;
    uint32_t *riders = calloc(count + 1, sizeof *riders);
    float *weights = calloc(count + 1, sizeof *weights);
    result = result ? result : riders && weights ? LM_OK : LM_ERROR_MEMORY;
    result = result ? result : lm_body_get_skin_riders(s->world, s->body, NULL, riders, weights);
    for (uint32_t v = 0; v < vertices && result == LM_OK; v++) {
        float sum = 0.0f, most = -INFINITY;
        for (uint32_t k = offsets[v]; k < offsets[v + 1]; k++) {
            float value =
                riders[k] >= LM_RIDER_REGION ? s->of_regions[riders[k] - LM_RIDER_REGION] : s->of_particles[riders[k]];
            sum = numbers ? (weights[k] > most ? value : sum) : sum + weights[k] * value;
            most = fmaxf(most, weights[k]);
        }
        values[v] = sum;
    }
    free(offsets);
    free(riders);
    free(weights);
    return result;
}

lm_result web_get_values(const lm_world *world, lm_body_id body, web_value kind, float *values)
{
    sheet s;
    lm_result result = open_sheet(&s, world, body);
    if (result == LM_OK && kind == WEB_STRAIN) {
        find_strains(&s);
    } else if (result == LM_OK && kind == WEB_SPEED) {
        result = find_speeds(&s);
        spread_to_regions(&s);
    } else if (result == LM_OK && kind == WEB_REGION) {
        find_regions(&s);
    } else if (result == LM_OK && kind == WEB_PIECE) {
        result = find_pieces(&s);
        spread_to_regions(&s);
    } else if (result == LM_OK && s.info.octree_nodes > 0) {
        result = lm_body_get_widths(world, body, s.of_particles);
        spread_to_regions(&s);
    }
    if (result == LM_OK && s.info.skin_vertices > 0) {
        result = carry(&s, kind == WEB_REGION || kind == WEB_PIECE, values);
    } else if (result == LM_OK) {
        for (uint32_t p = 0; p < s.info.particles; p++) {
            values[p] = s.of_particles[p];
        }
    }
    close_sheet(&s);
    return result;
}
