/*
 * The user interface's means: windows, buttons, sliders, text, and lines over the picture.
 *
 * This is the seam to Dear ImGui, in plain C: ui.cpp, the only C++ file of the project, implements it and nothing else. The
 * interface is described anew in every frame, between ui_begin_frame and ui_end_frame. Lengths are in points: pixels of a
 * screen of ordinary density.
 *
 * Every item is remembered by its label until the next frame, so that a script can find it and press it.
 */
#ifndef LIMBER_VIEWER_UI_H
#define LIMBER_VIEWER_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lifetime; an OpenGL 3.3 context is current ---- */

/* `scale` is pixels for each point. */
bool ui_open(float scale);
void ui_close(void);

/* The screen's density has changed: letters are drawn anew. */
void ui_set_scale(float scale);

void ui_begin_frame(float width, float height, float seconds);
void ui_end_frame(void); /* draws into the framebuffer that is bound */

/* ---- input, in points ---- */

typedef enum ui_key {
    UI_KEY_TAB,
    UI_KEY_LEFT,
    UI_KEY_RIGHT,
    UI_KEY_UP,
    UI_KEY_DOWN,
    UI_KEY_PAGE_UP,
    UI_KEY_PAGE_DOWN,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_DELETE,
    UI_KEY_BACKSPACE,
    UI_KEY_ENTER,
    UI_KEY_ESCAPE,
    UI_KEY_A,
    UI_KEY_C,
    UI_KEY_V,
    UI_KEY_X,
    UI_KEY_COUNT
} ui_key;

void ui_mouse_at(float x, float y);
void ui_mouse_button(int button, bool down); /* 0 left, 1 right, 2 middle */
void ui_mouse_wheel(float clicks);
void ui_press(ui_key key, bool down);
void ui_modifiers(bool shift, bool control, bool alt);
void ui_type(const char *text);

bool ui_has_mouse(void); /* the mouse is over the interface, or held by it */
bool ui_has_keys(void);  /* text is being typed */

typedef enum ui_cursor { UI_CURSOR_ARROW, UI_CURSOR_TEXT, UI_CURSOR_SIZE, UI_CURSOR_HAND, UI_CURSOR_COUNT } ui_cursor;

ui_cursor ui_wanted_cursor(void);

/* ---- for scripts: where an item of the last frame is; false when there is none that can be seen ---- */

typedef struct ui_box {
    float x, y, width, height;
} ui_box;

bool ui_find_item(const char *label, ui_box *box);

/* ---- windows ---- */

typedef enum ui_window_kind {
    UI_PANEL, /* opaque, at the window's edge */
    UI_FLOAT, /* with round corners, over the picture */
    UI_MODAL, /* the same, before everything else */
    UI_BARE   /* nothing but its contents */
} ui_window_kind;

/* At a place with a size; a height of 0 follows the contents. */
void ui_window_begin(const char *name, ui_window_kind kind, ui_box box);
void ui_window_end(void);
float ui_window_height(void); /* inside ui_window_begin and end: as high as its contents */

void ui_scroll_begin(const char *name,
                     float height); /* an area that scrolls; 0: all that is left, below 0: less by that */
void ui_scroll_end(void);

/* A row of names of pages, one of which is chosen. */
void ui_tabs(const char *const *labels, uint32_t count, uint32_t *chosen);

/* Two columns of equal width. */
void ui_columns_begin(const char *name);
void ui_columns_next(void);
void ui_columns_end(void);

/* ---- items ---- */

typedef enum ui_style {
    UI_NORMAL,
    UI_STRONG,
    UI_FAINT,
    UI_SMALL,
    UI_TINY,
    UI_TITLE,
    UI_WARNING,
    UI_STYLE_COUNT
} ui_style;

void ui_text(ui_style style, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_row_text(ui_style style, float height, const char *text); /* in the middle of a row of this height */
void ui_text_wrapped(ui_style style, const char *text);
void ui_heading(const char *text);
void ui_gap(float height);
void ui_same_line(void);
void ui_same_line_at(float x); /* from the left edge of the contents */
void ui_line(void);
void ui_disable_begin(bool on); /* what follows is faint and cannot be pressed, if `on` */
void ui_disable_end(void);
float ui_width_left(void);
void ui_tooltip(const char *text); /* for the item before */

/* True when pressed. A width of 0 follows the label. */
bool ui_button(const char *label, float width, bool lit);
bool ui_toggle(const char *label, bool *on);

/* True when changed. The name is above at the left, the value with its unit at the right, and beside it, where the value is not
 * `start`, a button back to that. A click with Ctrl lets type the value. */
bool ui_slider(const char *label, const char *unit, float *value, float start, float low, float high, bool logarithmic);
bool ui_slider_count(const char *label, int *value, int start, int low, int high);

/* One of a row of words, side by side. */
bool ui_choice(const char *label, const char *const *words, uint32_t count, uint32_t *chosen);

/* One line of text. */
bool ui_input(const char *label, const char *hint, char *text, size_t size);

/* A name and a sentence below it; true when pressed. */
bool ui_entry(const char *name, const char *sentence, bool chosen);
void ui_scroll_here(void); /* the item before is moved into view */

typedef enum ui_icon {
    UI_ICON_PLAY,
    UI_ICON_PAUSE,
    UI_ICON_STEP,
    UI_ICON_BACK,
    UI_ICON_RESTART,
    UI_ICON_RECORD,
    UI_ICON_STOP,
    UI_ICON_CAMERA,
    UI_ICON_HELP,
    UI_ICON_RESET
} ui_icon;

bool ui_icon_button(const char *label, ui_icon icon, bool lit);

/* A time line of this width: from `first` to `last`, at `now`. True while it is dragged. */
bool ui_time_bar(const char *label, float width, float first, float last, float *now);

/* Areas on top of each other over time, the newest at the right; values[series * capacity + (next + i) % capacity]. */
typedef struct ui_graph {
    const float *values;
    uint32_t series, capacity, next;
    float top;  /* the value at the upper edge */
    float line; /* a line at this value, or 0 */
    const char *line_label;
} ui_graph;

void ui_draw_graph(const ui_graph *graph, float height);

/* The colour of a series of a graph, as a small square before text. */
void ui_series_mark(uint32_t series);

/* ---- over the picture, below all windows; points; colours are 0xRRGGBB ---- */

void ui_draw_line(float x0, float y0, float x1, float y1, float width, uint32_t colour, float opacity);
void ui_draw_disc(float x, float y, float radius, uint32_t colour, float opacity);
void ui_draw_ring(float x, float y, float radius, float width, uint32_t colour, float opacity);
void ui_draw_box(ui_box box, float corner, uint32_t colour, float opacity);
void ui_draw_label(float x, float y, ui_style style, uint32_t colour, const char *text); /* x, y: its middle */
float ui_text_width(ui_style style, const char *text);
float ui_line_height(ui_style style);

#ifdef __cplusplus
}
#endif

#endif
