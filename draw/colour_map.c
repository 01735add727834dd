/*
 * The colour map of values, from dark to light so that it reads without colours too, and its legend.
 */
#include "draw/internal.h"

#include <stdio.h>

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

/* The least of 1, 2 or 5 times a power of ten that is no less than a value; a thousandth beyond does not count. */
static float round_up(float value)
{
    double wanted = fmin((double)value * 0.999, 1e30), tens = pow(10.0, floor(log10(wanted)));
    const double steps[] = {1.0, 2.0, 5.0};
    for (int n = 0; n < 3; n++) {
        if (steps[n] * tens >= wanted) {
            return (float)(steps[n] * tens);
        }
    }
    return (float)(10.0 * tens);
}

void draw_range_set(draw_range *range, float asked, float most, float least)
{
    range->most = fmaxf(range->most, most);
    range->low = 0.0f;
    range->high = asked > 0.0f ? asked : round_up(fmaxf(range->usual > 0.0f ? range->usual : range->most, least));
}

float draw_range_unit(const draw_range *range) { return range->unit > 0.0f ? range->unit : 1.0f; }

void draw_range_name_pascals(draw_range *range)
{
    static const struct {
        float unit;
        const char *label, *brief;
    } units[] = {{1e9f, "von Mises stress, GPa", "GPa"},
                 {1e6f, "von Mises stress, MPa", "MPa"},
                 {1e3f, "von Mises stress, kPa", "kPa"},
                 {1.0f, "von Mises stress, Pa", "Pa"}};
    int n = 0;
    while (n < 3 && range->high < 0.999f * units[n].unit) {
        n++;
    }
    range->unit = units[n].unit;
    range->label = units[n].label;
    range->brief = units[n].brief;
}

/* ---- the legend ---- */

static const image_colour ink = {40, 44, 52};

/* A number with three figures, in the unit of the range's label. */
static void write_number(char *text, size_t size, const draw_range *range, float value)
{
    snprintf(text, size, "%.3g", (double)(value / draw_range_unit(range)));
}

/* How wide the wider of the numbers at both ends is, pixels. */
static int widest_end(const draw_range *range, uint32_t scale)
{
    char low[32], high[32];
    write_number(low, sizeof low, range, range->low);
    write_number(high, sizeof high, range, range->high);
    uint32_t a = image_text_width(scale, low), b = image_text_width(scale, high);
    return (int)(a > b ? a : b);
}

/* Sizes in pixels. */
typedef struct legend_layout {
    uint32_t scale;          /* of letters */
    int line, width, bar;    /* heights of a line and of the bar of colours, and how wide both are */
    int margin, inside, gap; /* to the picture's edge, within the plate, between lines */
    bool is_small;
    int height; /* without `inside` */
} legend_layout;

/* In small pictures, such as those of a sheet, everything moves together, and the words take the place of a number. */
static legend_layout lay_out(const image *picture, const draw_range *range)
{
    bool is_small = picture->height < 240 || picture->width < 400;
    legend_layout l = {.scale = picture->height < 540 ? 1 : picture->height < 1300 ? 2 : 3, .is_small = is_small};
    int scale = (int)l.scale, most = 320 * scale;
    int least = (int)image_text_width(l.scale, is_small ? range->brief : range->label);
    l.line = (int)image_text_height(l.scale);
    l.bar = (is_small ? 5 : 8) * scale;
    l.margin = (is_small ? 3 : 6) * scale;
    l.inside = (is_small ? 3 : 8) * scale;
    l.gap = (is_small ? 2 : 4) * scale;
    least += is_small ? 2 * (widest_end(range, l.scale) + l.line) : 0;
    l.width = (int)picture->width / 4;
    l.width = l.width < least ? least : l.width > most ? most : l.width;
    l.height = l.bar + l.gap + l.line + (is_small ? 0 : l.line + l.gap);
    return l;
}

/* What is below the bar: the numbers at its ends, and between them that of the middle or the words. */
static void write_below(image *picture, const draw_range *range, const legend_layout *l, int x, int y)
{
    char text[3][32];
    write_number(text[0], sizeof text[0], range, range->low);
    write_number(text[1], sizeof text[1], range, 0.5f * (range->low + range->high));
    write_number(text[2], sizeof text[2], range, range->high);
    if (l->is_small) {
        snprintf(text[1], sizeof text[1], "%s", range->brief);
    }
    int middle = (int)image_text_width(l->scale, text[1]);
    bool has_middle = l->width - middle >= 2 * (widest_end(range, l->scale) + l->line / 2);
    for (int n = 0; n < 3; n++) {
        int room = l->width - (int)image_text_width(l->scale, text[n]);
        if (n != 1 || has_middle) {
            image_text(picture, x + n * room / 2, y, l->scale, ink, text[n]);
        }
    }
}

void draw_legend_place(const image *picture, const draw_range *range, int box[4])
{
    legend_layout l = lay_out(picture, range);
    int across = l.width + 2 * l.inside, high = l.height + 2 * l.inside;
    bool fits = across + l.margin <= (int)picture->width && high + l.margin <= (int)picture->height;
    box[0] = fits ? (int)picture->width - l.margin - across : 0;
    box[1] = fits ? (int)picture->height - l.margin - high : 0;
    box[2] = fits ? across : 0;
    box[3] = fits ? high : 0;
}

void draw_legend(image *picture, const draw_range *range)
{
    int box[4];
    draw_legend_place(picture, range, box);
    if (box[2] == 0) {
        return; /* no room */
    }
    legend_layout l = lay_out(picture, range);
    int x = box[0] + l.inside, y = box[1] + l.inside;
    image_fill(picture, box[0], box[1], box[2], box[3], (image_colour){250, 250, 250}, 0.55f);
    if (!l.is_small) {
        image_text(picture, x, y, l.scale, ink, range->label);
        y += l.line + l.gap;
    }
    for (int n = 0; n < l.width; n++) {
        uint8_t rgb[3];
        draw_map_colour((float)n / (float)(l.width - 1), rgb);
        image_fill(picture, x + n, y, 1, l.bar, (image_colour){rgb[0], rgb[1], rgb[2]}, 1.0f);
    }
    write_below(picture, range, &l, x, y + l.bar + l.gap);
}
