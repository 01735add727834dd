/* Looks: switches, sliders, rows of words, entries of lists, the line of time, the graph. */
#include "viewer/widgets.h"

#include <math.h>
#include <stdio.h>

#define INK 0xe2e6ec
#define FAINT 0x929aa6
#define WHITE 0xffffff
#define ACCENT 0x529cf0
#define ACCENT_DARK 0x2e609e
#define FILL 0x2e333c
#define FILL_HOVERED 0x3a404c
#define LINE 0x383d47
#define CHOSEN 0x263a56
#define CHOSEN_FAINT 0xb2bece

#define KNOB 6.0f /* the radius of what is dragged on sliders and on the line of time */

/* ------------------------------------------------------------------------------------------------------------------
 * Text
 */

void widget_row_text(ui_style style, float height, const char *text)
{
    float x, y, width = ui_text_width(style, text);
    uint32_t colour = style == UI_WARNING ? 0xffb054 : style == UI_FAINT || style == UI_SMALL ? FAINT : INK;
    char label[64];
    snprintf(label, sizeof label, "#%s", text); /* it is nothing to press */
    ui_get_place(&x, &y);
    ui_touch_area(label, width, height);
    ui_draw_text(UI_HERE, x, y + 0.5f * (height - ui_text_height(style, 0.0f, text)), style, colour, 0.0f, text);
}

void widget_label(float x, float y, ui_style style, uint32_t colour, const char *text)
{
    float width = ui_text_width(style, text), height = ui_text_height(style, 0.0f, text);
    ui_draw_text(UI_BELOW, x - 0.5f * width, y - 0.5f * height, style, colour, 0.0f, text);
}

/* In the middle of a box. */
static void draw_centred(ui_box box, ui_style style, uint32_t colour, const char *text)
{
    float width = ui_text_width(style, text), height = ui_text_height(style, 0.0f, text);
    ui_draw_text(UI_HERE, box.x + 0.5f * (box.width - width), box.y + 0.5f * (box.height - height), style, colour, 0.0f,
                 text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * One of several
 */

void widget_tabs(const char *const *labels, uint32_t count, uint32_t *chosen)
{
    const float height = 32.0f;
    float left, top, total = ui_width_left(), words = 0.0f;
    ui_get_place(&left, &top);
    for (uint32_t i = 0; i < count; i++) {
        words += ui_text_width(UI_STRONG, labels[i]);
    }
    float room = (total - words) / (float)count, x = left;
    ui_draw_line(UI_HERE, left, top + height, left + total, top + height, 1.0f, LINE, 1.0f);
    for (uint32_t i = 0; i < count; i++) {
        ui_box box = {x, top, ui_text_width(UI_STRONG, labels[i]) + room, height};
        ui_set_place(box.x, box.y);
        ui_touch touch = ui_touch_area(labels[i], box.width, box.height);
        *chosen = touch.pressed ? i : *chosen;
        bool lit = *chosen == i;
        draw_centred(box, UI_STRONG, lit || touch.hovered ? INK : FAINT, labels[i]);
        if (lit) {
            ui_box line = {x + 0.25f * room, top + height - 2.0f, box.width - 0.5f * room, 3.0f};
            ui_draw_box(UI_HERE, line, 1.0f, ACCENT, 1.0f);
        }
        x += box.width;
    }
    ui_set_place(left, top + height + 10.0f);
}

bool widget_choice(const char *label, const char *const *words, uint32_t count, uint32_t *chosen)
{
    bool bare = label[0] == '#', changed = false;
    float x, top, width = ui_width_left(), height = bare ? 30.0f : 26.0f, each = width / (float)count;
    ui_get_place(&x, &top);
    if (!bare) {
        ui_draw_text(UI_HERE, x, top, UI_NORMAL, INK, 0.0f, label);
        top += 20.0f;
    }
    ui_draw_box(UI_HERE, (ui_box){x, top, width, height}, 4.0f, FILL, 1.0f);
    for (uint32_t i = 0; i < count; i++) {
        ui_box box = {x + each * (float)i, top, each, height};
        ui_set_place(box.x, box.y);
        ui_touch touch = ui_touch_area(words[i], box.width, box.height);
        changed = changed || (touch.pressed && *chosen != i);
        *chosen = touch.pressed ? i : *chosen;
        if (*chosen == i) {
            ui_box inner = {box.x + 2.0f, box.y + 2.0f, box.width - 4.0f, box.height - 4.0f};
            ui_draw_box(UI_HERE, inner, 3.0f, ACCENT_DARK, 1.0f);
        }
        draw_centred(box, UI_SMALL, *chosen == i || touch.hovered ? INK : FAINT, words[i]);
    }
    ui_set_place(x, top);
    ui_touch_area("#row", width, height); /* what follows comes below */
    return changed;
}

bool widget_entry(const char *name, const char *sentence, bool chosen)
{
    const float pad = 9.0f;
    float x, y, width = ui_width_left(), wrap = width - 2.0f * pad, title = ui_text_height(UI_STRONG, 0.0f, name);
    float height = title + 1.4f * pad + (sentence[0] != '\0' ? ui_text_height(UI_SMALL, wrap, sentence) + 2.0f : 0.0f);
    ui_get_place(&x, &y);
    ui_touch touch = ui_touch_area(name, width, height);
    if (chosen || touch.hovered) {
        ui_draw_box(UI_HERE, (ui_box){x, y, width, height}, 4.0f, chosen ? CHOSEN : FILL, 1.0f);
    }
    if (chosen) {
        ui_draw_box(UI_HERE, (ui_box){x, y, 3.0f, height}, 1.5f, ACCENT, 1.0f);
    }
    ui_draw_text(UI_HERE, x + pad, y + 0.7f * pad, UI_STRONG, INK, 0.0f, name);
    ui_draw_text(UI_HERE, x + pad, y + 0.7f * pad + title + 2.0f, UI_SMALL, chosen ? CHOSEN_FAINT : FAINT, wrap,
                 sentence);
    return touch.pressed;
}

bool widget_toggle(const char *label, bool *on)
{
    const float height = 20.0f, width = 34.0f, gap = 9.0f;
    float x, y, text = ui_text_height(UI_NORMAL, 0.0f, label);
    ui_get_place(&x, &y);
    ui_touch touch = ui_touch_area(label, width + gap + ui_text_width(UI_NORMAL, label), height);
    *on = touch.pressed ? !*on : *on;
    uint32_t fill = *on ? ACCENT : touch.hovered ? FILL_HOVERED : FILL;
    ui_draw_box(UI_HERE, (ui_box){x, y + 1.0f, width, height - 2.0f}, 0.5f * height, fill, 1.0f);
    ui_draw_disc(UI_HERE, x + (*on ? width - 0.5f * height : 0.5f * height), y + 0.5f * height, 0.5f * height - 4.0f,
                 *on ? WHITE : FAINT, 1.0f);
    ui_draw_text(UI_HERE, x + width + gap, y + 0.5f * (height - text), UI_NORMAL, INK, 0.0f, label);
    return touch.pressed;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sliders
 */

/* What is dragged, at a share of a way. */
static void draw_way(ui_box box, float share, bool lit, uint32_t knob)
{
    float y = box.y + 0.5f * box.height;
    float x = box.x + KNOB + (box.width - 2.0f * KNOB) * fminf(fmaxf(share, 0.0f), 1.0f);
    ui_draw_box(UI_HERE, (ui_box){box.x, y - 2.0f, box.width, 4.0f}, 2.0f, FILL_HOVERED, 1.0f);
    ui_draw_box(UI_HERE, (ui_box){box.x, y - 2.0f, x - box.x, 4.0f}, 2.0f, ACCENT, 1.0f);
    ui_draw_disc(UI_HERE, x, y, lit ? KNOB + 1.0f : KNOB, lit ? WHITE : knob, 1.0f);
}

typedef struct slider {
    const char *label, *shown; /* its value in words */
    float low, high, share;
    bool logarithmic, whole;
    bool moved; /* its value is not that of the start */
} slider;

/* True when changed; *reset: it is to be as at the start. */
static bool draw_slider(const slider *s, float *value, bool *reset)
{
    float x, y, width = ui_width_left();
    bool typing;
    ui_touch touch;
    ui_get_place(&x, &y);
    ui_draw_text(UI_HERE, x, y, UI_NORMAL, INK, 0.0f, s->label);
    float right = x + width - ui_text_width(UI_SMALL, s->shown) - (s->moved ? 20.0f : 0.0f);
    ui_draw_text(UI_HERE, right, y + 2.0f, UI_SMALL, INK, 0.0f, s->shown);
    *reset = false;
    if (s->moved) {
        char name[96];
        snprintf(name, sizeof name, "Reset %s", s->label);
        ui_set_place(x + width - 16.0f, y + 1.0f);
        *reset = widget_icon_button(name, ICON_RESET, false);
        ui_tooltip("Back to the value at the start");
    }
    ui_set_place(x, y + 18.0f);
    bool changed = ui_touch_slider(s->label, value, s->low, s->high, s->logarithmic, s->whole, &typing, &touch);
    if (!typing) {
        draw_way((ui_box){x, y + 18.0f, width, 16.0f}, s->share, touch.held || touch.hovered, ACCENT);
    }
    return changed;
}

bool widget_slider(const char *label, const char *unit, float *value, float start, float low, float high,
                   bool logarithmic)
{
    char shown[64];
    float size = fabsf(*value);
    int digits = size >= 100.0f ? 0 : size >= 10.0f ? 1 : 2;
    snprintf(shown, sizeof shown, "%.*f%s%s", digits, (double)*value, unit[0] != '\0' ? " " : "", unit);
    slider s = {label, shown, low, high, (*value - low) / (high - low), logarithmic, false, *value != start};
    if (logarithmic) {
        s.share = *value > low ? logf(*value / low) / logf(high / low) : 0.0f;
    }
    bool reset, changed = draw_slider(&s, value, &reset);
    *value = reset ? start : *value;
    return changed || reset;
}

bool widget_slider_count(const char *label, int *value, int start, int low, int high)
{
    char shown[32];
    float number = (float)*value, range = (float)(high - low);
    snprintf(shown, sizeof shown, "%d", *value);
    slider s = {label, shown, (float)low, (float)high, (number - (float)low) / range, false, true, *value != start};
    bool reset, changed = draw_slider(&s, &number, &reset);
    *value = reset ? start : (int)fminf(fmaxf(number, (float)low), (float)high);
    return changed || reset;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Icons
 */

static void draw_triangle(float x0, float y0, float x1, float y1, float x2, float y2)
{
    const float corners[3][2] = {{x0, y0}, {x1, y1}, {x2, y2}};
    ui_draw_corners(UI_HERE, corners, 3, INK);
}

static void draw_bar(float x, float y, float width, float height)
{
    ui_draw_box(UI_HERE, (ui_box){x, y, width, height}, 0.8f, INK, 1.0f);
}

/* An arrow that goes round. */
static void draw_round_arrow(float x, float y, float r, uint32_t colour)
{
    const float from = -0.9f, to = 4.1f;
    ui_draw_arc(UI_HERE, x, y, 0.85f * r, from, to, 0.26f * r, colour);
    float tip_x = x + 0.85f * r * cosf(from), tip_y = y + 0.85f * r * sinf(from);
    const float corners[3][2] = {{tip_x - 0.75f * r, tip_y - 0.05f * r},
                                 {tip_x + 0.3f * r, tip_y - 0.6f * r},
                                 {tip_x + 0.2f * r, tip_y + 0.5f * r}};
    ui_draw_corners(UI_HERE, corners, 3, colour);
}

static void draw_icon(widget_icon icon, float x, float y, float r, uint32_t colour)
{
    switch (icon) {
    case ICON_PLAY: draw_triangle(x - 0.7f * r, y - r, x + r, y, x - 0.7f * r, y + r); break;
    case ICON_PAUSE:
        draw_bar(x - 0.75f * r, y - r, 0.55f * r, 2.0f * r);
        draw_bar(x + 0.2f * r, y - r, 0.55f * r, 2.0f * r);
        break;
    case ICON_STEP:
        draw_triangle(x - 0.8f * r, y - 0.9f * r, x + 0.6f * r, y, x - 0.8f * r, y + 0.9f * r);
        draw_bar(x + 0.5f * r, y - 0.9f * r, 0.26f * r, 1.8f * r);
        break;
    case ICON_BACK:
        draw_triangle(x + 0.8f * r, y - 0.9f * r, x + 0.8f * r, y + 0.9f * r, x - 0.6f * r, y);
        draw_bar(x - 0.76f * r, y - 0.9f * r, 0.26f * r, 1.8f * r);
        break;
    case ICON_RESTART:
    case ICON_RESET: draw_round_arrow(x, y, r, colour); break;
    }
}

bool widget_icon_button(const char *label, widget_icon icon, bool lit)
{
    bool small = icon == ICON_RESET;
    float x, y, size = small ? 16.0f : 30.0f;
    ui_get_place(&x, &y);
    ui_touch touch = ui_touch_area(label, size, size);
    if (!small) {
        uint32_t fill = lit ? ACCENT_DARK : touch.hovered ? FILL_HOVERED : FILL;
        ui_draw_box(UI_HERE, (ui_box){x, y, size, size}, 5.0f, fill, 1.0f);
    }
    draw_icon(icon, x + 0.5f * size, y + 0.5f * size, small ? 5.0f : 7.0f, small && !touch.hovered ? FAINT : INK);
    return touch.pressed;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Time
 */

bool widget_time_bar(const char *label, float width, float first, float last, float *now)
{
    const float height = 30.0f;
    float x, y, span = fmaxf(last - first, 1e-6f);
    ui_get_place(&x, &y);
    ui_touch touch = ui_touch_area(label, width, height);
    bool moved = false;
    if (touch.held) {
        float share = fminf(fmaxf((touch.mouse_x - x - KNOB) / (width - 2.0f * KNOB), 0.0f), 1.0f);
        moved = first + share * span != *now;
        *now = first + share * span;
    }
    draw_way((ui_box){x, y, width, height}, last > first ? (*now - first) / span : 1.0f, touch.held || touch.hovered,
             WHITE);
    return moved;
}

/* ------------------------------------------------------------------------------------------------------------------
 * The graph
 */

static const uint32_t series_colours[] = {0x5ca0ec, 0x66c498, 0xf0be50, 0xe87c5c,
                                          0xa884e2, 0x60c4d0, 0xe078ac, 0x96a0ae};

#define SERIES_COLOURS (sizeof series_colours / sizeof series_colours[0])

/* Between two steps, `a` and `b` in the rings, from x to right. */
static void draw_slice(const widget_graph_data *g, ui_box box, float x, float right, uint32_t a, uint32_t b)
{
    float base_a = 0.0f, base_b = 0.0f, bottom = box.y + box.height, unit = box.height / g->top;
    for (uint32_t s = 0; s < g->series; s++) {
        float top_a = base_a + g->values[s * g->capacity + a], top_b = base_b + g->values[s * g->capacity + b];
        if (top_a > base_a || top_b > base_b) {
            const float corners[4][2] = {{x, bottom - unit * base_a},
                                         {x, bottom - unit * top_a},
                                         {right, bottom - unit * top_b},
                                         {right, bottom - unit * base_b}};
            ui_draw_corners(UI_HERE, corners, 4, series_colours[s % SERIES_COLOURS]);
        }
        base_a = top_a;
        base_b = top_b;
    }
}

void widget_graph(const widget_graph_data *g, float height)
{
    float x, y, width = ui_width_left(), step = width / (float)(g->capacity - 1);
    ui_get_place(&x, &y);
    ui_touch_area("#graph", width, height);
    ui_box box = {x, y, width, height};
    ui_draw_box(UI_HERE, box, 4.0f, 0x16181d, 1.0f);
    ui_clip(&box);
    for (uint32_t i = 0; i + 1 < g->capacity; i++) {
        uint32_t a = (g->next + i) % g->capacity, b = (g->next + i + 1) % g->capacity;
        draw_slice(g, box, x + step * (float)i, x + step * (float)(i + 1), a, b);
    }
    if (g->line > 0.0f && g->line < g->top) {
        float level = y + height * (1.0f - g->line / g->top);
        ui_draw_line(UI_HERE, x, level, x + width, level, 1.0f, WHITE, 0.35f);
        ui_draw_text(UI_HERE, x + 6.0f, level - 14.0f, UI_TINY, INK, 0.0f, g->line_label);
    }
    ui_clip(NULL);
    char top[32];
    snprintf(top, sizeof top, "%.3g ms", (double)g->top);
    ui_draw_text(UI_HERE, x + width - ui_text_width(UI_TINY, top) - 6.0f, y + 4.0f, UI_TINY, INK, 0.0f, top);
}

void widget_series_mark(uint32_t series)
{
    const float size = 9.0f;
    float x, y;
    ui_get_place(&x, &y);
    ui_touch_area("#mark", size, 15.0f);
    ui_draw_box(UI_HERE, (ui_box){x, y + 4.0f, size, size}, 2.0f, series_colours[series % SERIES_COLOURS], 1.0f);
    ui_same_line();
}
