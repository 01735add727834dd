/*
 * The colour map of values, from dark to light so that it reads without colours too, and its legend.
 */
#include "draw/internal.h"

#include <stdio.h>
#include <string.h>

/* Linear light, evenly spaced. */
static const float stops[DRAW_MAP_STOPS][3] = {
    {0.0194f, 0.0070f, 0.0887f}, {0.0513f, 0.0423f, 0.2705f}, {0.0194f, 0.1559f, 0.3419f}, {0.0116f, 0.3325f, 0.2462f},
    {0.1500f, 0.5395f, 0.0976f}, {0.6724f, 0.6724f, 0.0482f}, {1.0000f, 0.9047f, 0.4125f},
};

const float *draw_map_stops(void) { return stops[0]; }

void draw_map_colour(float share, uint8_t rgb[3])
{
    float at = fminf(fmaxf(share, 0.0f), 1.0f) * (DRAW_MAP_STOPS - 1);
    int n = at < DRAW_MAP_STOPS - 2 ? (int)at : DRAW_MAP_STOPS - 2;
    vec3 mixed;
    for (int k = 0; k < 3; k++) {
        mixed[k] = stops[n][k] + (at - (float)n) * (stops[n + 1][k] - stops[n][k]);
    }
    draw_colour_bytes(mixed, rgb);
}

/* A number with three figures. */
static void write_number(char *text, size_t size, float value) { snprintf(text, size, "%.3g", (double)value); }

void draw_legend(image *picture, const draw_range *range)
{
    int scale = picture->height < 540    ? 1
                : picture->height < 1300 ? 2
                                         : 3,
        margin = 14 * scale, line = (int)image_text_height((uint32_t)scale);
    int width = (int)picture->width / 4, bar = 8 * scale;
    width = width < 120 ? 120 : width > 320 * scale ? 320 * scale : width;
    int x = margin, y = (int)picture->height - margin - line - 4 * scale - bar;
    image_colour ink = {40, 44, 52}, paper = {250, 250, 250};
    image_fill(picture, x - 8 * scale, y - line - 12 * scale, width + 16 * scale, bar + 2 * line + 24 * scale, paper,
               0.55f);
    image_text(picture, x, y - line - 4 * scale, (uint32_t)scale, ink, range->label);
    for (int n = 0; n < width; n++) {
        uint8_t rgb[3];
        draw_map_colour((float)n / (float)(width - 1), rgb);
        image_fill(picture, x + n, y, 1, bar, (image_colour){rgb[0], rgb[1], rgb[2]}, 1.0f);
    }
    char low[32], middle[32], high[32];
    write_number(low, sizeof low, range->low);
    write_number(middle, sizeof middle, 0.5f * (range->low + range->high));
    write_number(high, sizeof high, range->high);
    int under = y + bar + 4 * scale;
    image_text(picture, x, under, (uint32_t)scale, ink, low);
    image_text(picture, x + (width - (int)image_text_width((uint32_t)scale, middle)) / 2, under, (uint32_t)scale, ink,
               middle);
    image_text(picture, x + width - (int)image_text_width((uint32_t)scale, high), under, (uint32_t)scale, ink, high);
}
