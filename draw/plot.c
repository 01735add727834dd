/*
 * Plots. Everything is laid out from the size of the letters; lines and dots are smoothed by how far a pixel is from them.
 */
#include "draw/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCALE 2        /* of letters */
#define TOLERANCE 0.01 /* of a tick: what is nearer to one than this is on it */

static const image_colour paper = {255, 255, 255}, ink = {38, 42, 50}, faint = {226, 229, 234}, tint = {232, 244, 232};
static const image_colour colours[PLOT_MOST_SERIES] = {
    {31, 104, 180}, {214, 92, 20},  {30, 140, 70},  {168, 40, 120},
    {120, 90, 200}, {150, 110, 30}, {20, 150, 160}, {90, 90, 90},
};

typedef struct axis {
    double low, high, step;
    bool is_log;
    int from, to; /* pixels */
} axis;

typedef struct canvas {
    image *picture;
    axis x, y;
} canvas;

/* ------------------------------------------------------------------------------------------------------------------
 * Axes
 */

void plot_round(double *low, double *high, double *step)
{
    double span = *high - *low;
    if (!(span > 1e-12 * fmax(fabs(*low), fabs(*high)))) {
        span = *low != 0.0 ? 0.2 * fabs(*low) : 1.0;
        *low -= 0.5 * span;
        *high += 0.5 * span;
    }
    double tens = pow(10.0, floor(log10(span / 4.0))), rest = span / 4.0 / tens;
    *step = rest >= 5.0 ? 5.0 * tens : rest >= 2.0 ? 2.0 * tens : tens;
    /* A product may be rounded to the inner side of the value; powers of ten are not the same with every C library. */
    *low = fmin(*low, *step * floor(*low / *step + TOLERANCE));
    *high = fmax(*high, *step * ceil(*high / *step - TOLERANCE));
}

static double place(const axis *a, double value)
{
    double low = a->low, high = a->high;
    if (a->is_log) {
        value = log10(value), low = log10(low), high = log10(high);
    }
    return a->from + (value - low) / (high - low) * (a->to - a->from);
}

static bool is_within(const axis *a, double value)
{
    double slack = a->is_log ? 0.0 : 1.01 * TOLERANCE * a->step;
    return isfinite(value) && value >= a->low - slack && value <= a->high + slack;
}

static bool find_ends(const plot *p, bool of_y, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (uint32_t s = 0; s < p->series_count; s++) {
        for (uint32_t n = 0; n < p->series[s].count; n++) {
            double value = of_y ? p->series[s].y[n] : p->series[s].x[n];
            if (isfinite(value) && (of_y || !p->x_log || value > 0.0)) {
                *low = fmin(*low, value);
                *high = fmax(*high, value);
            }
        }
    }
    return *low <= *high;
}

static bool set_axes(const plot *p, canvas *c)
{
    if (!find_ends(p, false, &c->x.low, &c->x.high) || !find_ends(p, true, &c->y.low, &c->y.high)) {
        return false;
    }
    c->x.is_log = p->x_log;
    if (p->x_log) {
        c->x.low /= 1.1, c->x.high *= 1.1;
    } else {
        plot_round(&c->x.low, &c->x.high, &c->x.step);
    }
    if (p->band_high > p->band_low) {
        c->y.low = fmin(c->y.low, p->band_low);
        c->y.high = fmax(c->y.high, p->band_high);
    }
    if (p->y_high > p->y_low) {
        c->y.low = p->y_low, c->y.high = p->y_high;
    }
    plot_round(&c->y.low, &c->y.high, &c->y.step);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Marks
 */

/* The line of half-width r from (ax, ay) to (bx, by), pixels; a dot where both are one. Dashes are counted from `begun`. */
static void draw_stroke(image *picture, double ax, double ay, double bx, double by, double r, image_colour colour,
                        double begun, bool dashed)
{
    double dx = bx - ax, dy = by - ay, square = dx * dx + dy * dy, length = sqrt(square);
    int left = (int)floor(fmin(ax, bx) - r - 1), right = (int)ceil(fmax(ax, bx) + r + 1);
    int top = (int)floor(fmin(ay, by) - r - 1), bottom = (int)ceil(fmax(ay, by) + r + 1);
    for (int y = top; y <= bottom; y++) {
        for (int x = left; x <= right; x++) {
            double px = x + 0.5 - ax, py = y + 0.5 - ay, along = square > 0.0 ? (px * dx + py * dy) / square : 0.0;
            along = fmin(fmax(along, 0.0), 1.0);
            double covered = r + 0.5 - hypot(px - along * dx, py - along * dy);
            if (covered <= 0.0 || (dashed && fmod(begun + along * length, 14.0) > 8.0)) {
                continue;
            }
            image_fill(picture, x, y, 1, 1, colour, (float)fmin(covered, 1.0));
        }
    }
}

static void draw_dot(image *picture, double x, double y, image_colour colour)
{
    draw_stroke(picture, x, y, x, y, 5.5, paper, 0.0, false);
    draw_stroke(picture, x, y, x, y, 4.2, colour, 0.0, false);
}

static void draw_series(const canvas *c, const plot_series *s, image_colour colour)
{
    double before[2] = {0.0, 0.0}, begun = 0.0;
    bool has_before = false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < s->count; n++) {
            if (!is_within(&c->x, s->x[n]) || !is_within(&c->y, s->y[n])) {
                has_before = false;
                continue;
            }
            double at[2] = {place(&c->x, s->x[n]), place(&c->y, s->y[n])};
            if (pass == 0 && s->joined && has_before) {
                draw_stroke(c->picture, before[0], before[1], at[0], at[1], 1.1, colour, begun, s->dashed);
                begun += hypot(at[0] - before[0], at[1] - before[1]);
            }
            if (pass == 1 && s->marked) {
                draw_dot(c->picture, at[0], at[1], colour);
            }
            before[0] = at[0], before[1] = at[1];
            has_before = true;
        }
        has_before = false;
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Words
 */

static void write_centred(image *picture, int x, int y, const char *words)
{
    image_text(picture, x - (int)image_text_width(SCALE, words) / 2, y, SCALE, ink, words);
}

static void write_value(char text[32], double value, double step)
{
    snprintf(text, 32, "%.6g", fabs(value) < 1e-9 * step ? 0.0 : value);
}

static void draw_x_tick(const canvas *c, double value, double step)
{
    char text[32];
    int x = (int)lround(place(&c->x, value)), letters = (int)image_text_height(SCALE);
    write_value(text, value, step);
    image_fill(c->picture, x, c->y.to, 1, c->y.from - c->y.to, faint, 1.0f);
    write_centred(c->picture, x, c->y.from + letters / 2, text);
}

static void draw_x_ticks(const canvas *c)
{
    if (!c->x.is_log) {
        for (double v = c->x.low; v <= c->x.high + 0.5 * c->x.step; v += c->x.step) {
            draw_x_tick(c, v, c->x.step);
        }
        return;
    }
    const double parts[] = {1.0, 2.0, 5.0};
    bool is_long = c->x.high / c->x.low > 300.0;
    for (double tens = pow(10.0, floor(log10(c->x.low))); tens <= c->x.high; tens *= 10.0) {
        for (int n = 0; n < (is_long ? 1 : 3); n++) {
            if (is_within(&c->x, parts[n] * tens)) {
                draw_x_tick(c, parts[n] * tens, tens);
            }
        }
    }
}

static void draw_y_ticks(const canvas *c)
{
    for (double v = c->y.low; v <= c->y.high + 0.5 * c->y.step; v += c->y.step) {
        char text[32];
        int y = (int)lround(place(&c->y, v)), letters = (int)image_text_height(SCALE);
        write_value(text, v, c->y.step);
        image_fill(c->picture, c->x.from, y, c->x.to - c->x.from, 1, faint, 1.0f);
        image_text(c->picture, c->x.from - 10 - (int)image_text_width(SCALE, text), y - letters / 2 + SCALE, SCALE, ink,
                   text);
    }
}

static void draw_legend(const canvas *c, const plot *p, int x, int y)
{
    int line = (int)image_text_height(SCALE) + 8;
    for (uint32_t s = 0; s < p->series_count; s++, y += line) {
        const plot_series *one = &p->series[s];
        double middle = y + line / 2.0 - 4.0;
        if (one->joined) {
            draw_stroke(c->picture, x, middle, x + 28, middle, 1.1, colours[s], 0.0, one->dashed);
        }
        if (one->marked) {
            draw_dot(c->picture, x + 14, middle, colours[s]);
        }
        image_text(c->picture, x + 38, y, SCALE, ink, one->name);
    }
}

/* How many pixels the widest number at the y axis takes. */
static int widest_tick(const axis *y)
{
    uint32_t most = 0;
    for (double v = y->low; v <= y->high + 0.5 * y->step; v += y->step) {
        char text[32];
        write_value(text, v, y->step);
        uint32_t wide = image_text_width(SCALE, text);
        most = wide > most ? wide : most;
    }
    return (int)most;
}

static int widest_name(const plot *p)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < p->series_count; s++) {
        uint32_t wide = image_text_width(SCALE, p->series[s].name);
        most = wide > most ? wide : most;
    }
    return (int)most;
}

bool plot_draw(const plot *p, uint32_t width, uint32_t height, image *picture)
{
    canvas c = {.picture = picture};
    if (width < 200 || height < 120 || p->series_count > PLOT_MOST_SERIES || !set_axes(p, &c) ||
        !image_make(picture, width, height)) {
        return false;
    }
    int letters = (int)image_text_height(SCALE), margin = 14;
    image_fill(picture, 0, 0, (int)width, (int)height, paper, 1.0f);
    c.x.from = margin + widest_tick(&c.y) + 12;
    c.x.to = (int)width - margin - widest_name(p) - 38 - 24;
    c.y.from = (int)height - margin - 2 * letters - 12;
    c.y.to = margin + 2 * letters + 22;
    if (p->band_high > p->band_low) {
        int upper = (int)lround(place(&c.y, fmin(p->band_high, c.y.high)));
        int lower = (int)lround(place(&c.y, fmax(p->band_low, c.y.low)));
        image_fill(picture, c.x.from, upper, c.x.to - c.x.from, lower - upper, tint, 1.0f);
    }
    draw_x_ticks(&c);
    draw_y_ticks(&c);
    image_fill(picture, c.x.from, c.y.from, c.x.to - c.x.from + 1, 2, ink, 1.0f);
    image_fill(picture, c.x.from - 1, c.y.to, 2, c.y.from - c.y.to, ink, 1.0f);
    for (uint32_t s = 0; s < p->series_count; s++) {
        draw_series(&c, &p->series[s], colours[s]);
    }
    image_text(picture, margin, margin, SCALE, ink, p->title);
    image_text(picture, margin, margin + letters + 8, SCALE, (image_colour){110, 116, 126}, p->y_label);
    write_centred(picture, (c.x.from + c.x.to) / 2, (int)height - margin - letters + 4, p->x_label);
    draw_legend(&c, p, c.x.to + 20, c.y.to);
    return true;
}
