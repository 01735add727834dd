/*
 * Colours: sRGB and linear light, palettes, and the colours that bodies and colliders were given.
 */
#include "draw/internal.h"

#include <stdlib.h>
#include <string.h>

void draw_colour_linear(const uint8_t rgb[3], vec3 out)
{
    for (int n = 0; n < 3; n++) {
        float c = (float)rgb[n] / 255.0f;
        out[n] = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
    }
}

void draw_colour_bytes(const vec3 linear, uint8_t rgb[3])
{
    for (int n = 0; n < 3; n++) {
        float c = linear[n] > 0.0f ? linear[n] : 0.0f;
        c = c <= 0.0031308f ? 12.92f * c : 1.055f * powf(c, 1.0f / 2.4f) - 0.055f;
        rgb[n] = (uint8_t)(c < 1.0f ? c * 255.0f + 0.5f : 255.0f);
    }
}

void draw_mixture_add(draw_mixture *m, const vec3 colour, float weight)
{
    glm_vec3_muladds((float *)(uintptr_t)colour, weight, m->sum);
    m->weight += weight;
}

void draw_mixture_write(const draw_mixture *m, const vec3 otherwise, uint8_t rgba[4])
{
    vec3 colour;
    for (int n = 0; n < 3; n++) {
        colour[n] = m->weight > 1e-6f ? fmaxf(m->sum[n] / m->weight, 0.0f) : otherwise[n];
    }
    draw_colour_bytes(colour, rgba);
    rgba[3] = 255;
}

/* A colour by lightness, colourfulness and hue as people see them (the Oklab space of B. Ottosson), sRGB. */
static void from_hue(float lightness, float chroma, float degrees, uint8_t rgb[3])
{
    float radians = degrees * 0.017453293f, a = chroma * cosf(radians), b = chroma * sinf(radians);
    float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
    float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
    float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
    l = l * l * l, m = m * m * m, s = s * s * s;
    vec3 linear = {4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
                   -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
                   -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s};
    draw_colour_bytes(linear, rgb);
}

/* Hues that lie a golden section apart are never close to those just before. */
static float spread(uint32_t n, float first) { return fmodf(first + 222.4922f * (float)(n % 4096u), 360.0f); }

void draw_palette_body(uint32_t n, uint8_t rgb[3])
{
    static const float lightness[3] = {0.66f, 0.57f, 0.74f}, chroma[3] = {0.150f, 0.140f, 0.130f};
    from_hue(lightness[n % 3], chroma[n % 3], spread(n, 38.0f), rgb);
}

void draw_palette_region(uint32_t n, uint8_t rgb[3])
{
    static const float lightness[4] = {0.72f, 0.58f, 0.82f, 0.65f};
    from_hue(lightness[n % 4], 0.16f, spread(n, 250.0f), rgb);
}

const draw_colour_set *draw_colours_find(const draw_colours *colours, uint32_t slot, uint32_t generation)
{
    const draw_colour_set *set = slot < colours->count ? &colours->sets[slot] : NULL;
    return set && set->rgb && set->generation == generation ? set : NULL;
}

bool draw_colours_put(draw_colours *colours, uint32_t slot, uint32_t generation, const uint8_t *rgb, uint32_t count)
{
    if (!draw_reserve(&colours->sets, &colours->capacity, (size_t)slot + 1, sizeof *colours->sets)) {
        return false;
    }
    for (; colours->count <= slot; colours->count++) {
        memset(&colours->sets[colours->count], 0, sizeof *colours->sets);
    }
    uint8_t *copy = malloc((size_t)count * 3);
    if (!copy) {
        return false;
    }
    memcpy(copy, rgb, (size_t)count * 3);
    draw_colour_set *set = &colours->sets[slot];
    free(set->rgb);
    *set = (draw_colour_set){.generation = generation, .rgb = copy, .count = count};
    colours->revision++;
    return true;
}

void draw_colours_free(draw_colours *colours)
{
    for (size_t n = 0; n < colours->count; n++) {
        free(colours->sets[n].rgb);
    }
    free(colours->sets);
    memset(colours, 0, sizeof *colours);
}
