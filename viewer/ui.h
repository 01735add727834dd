/*
 * The user interface's means: windows, buttons, sliders, text, and lines over the picture.
 *
 * This is the seam to Dear ImGui, in plain C: ui.cpp, the only C++ file of the project, implements it and nothing else. The
 * interface is described again in every frame, between ui_begin_frame and ui_end_frame. Lengths are in points: pixels of a
 * screen of ordinary density.
 *
 * Every item is remembered by its label until the next frame, so that a script can find it and press it.
 */
#ifndef LIMBER_VIEWER_UI_H
#define LIMBER_VIEWER_UI_H

#include "support/like_printf.h"

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

/* The screen's density has changed: letters are drawn again. */
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
    UI_MODAL  /* the same, before everything else */
} ui_window_kind;

/* At a place with a size; a height of 0 follows the contents. */
void ui_window_begin(const char *name, ui_window_kind kind, ui_box box);
void ui_window_end(void);

void ui_scroll_begin(const char *name,
                     float height); /* an area that scrolls; 0: all that is left, below 0: less by that */
void ui_scroll_end(void);

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

void ui_text(ui_style style, const char *format, ...) LIKE_PRINTF(2, 3);
void ui_text_wrapped(ui_style style, const char *text);
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

/* One line of text. */
bool ui_input(const char *label, const char *hint, char *text, size_t size);

void ui_scroll_here(void); /* the item before is moved into view */

/* ---- items that are drawn by whoever needs them: widgets.h ---- */

/* Where the next item goes; points of the window. */
void ui_get_place(float *x, float *y);
void ui_set_place(float x, float y);

typedef struct ui_touch {
    bool pressed;  /* and let go again, over it */
    bool hovered;  /* the mouse is over it */
    bool held;     /* it was pressed and is not let go yet */
    float mouse_x; /* points of the window */
} ui_touch;

/* An item of this size that can be touched, and is not seen. */
ui_touch ui_touch_area(const char *label, float width, float height);

/* The way of a slider, felt but not seen unless a value is typed into it (*typing). True when changed. */
bool ui_touch_slider(const char *label, float *value, float low, float high, bool logarithmic, bool whole, bool *typing,
                     ui_touch *touch);

/* Drawing: over the picture and below all windows, or in the window that is being described. Colours are 0xRRGGBB; in a window
 * they are fainter where items are disabled. */
typedef enum ui_layer { UI_BELOW, UI_HERE } ui_layer;

void ui_draw_line(ui_layer layer, float x0, float y0, float x1, float y1, float width, uint32_t colour, float opacity);
void ui_draw_disc(ui_layer layer, float x, float y, float radius, uint32_t colour, float opacity);
void ui_draw_ring(ui_layer layer, float x, float y, float radius, float width, uint32_t colour, float opacity);
void ui_draw_arc(ui_layer layer, float x, float y, float radius, float from, float to, float width, uint32_t colour);
void ui_draw_box(ui_layer layer, ui_box box, float corner, uint32_t colour, float opacity);
void ui_draw_corners(ui_layer layer, const float (*corners)[2], uint32_t count,
                     uint32_t colour); /* 3 or 4, clockwise */

/* Text from its upper left corner; lines are broken at `wrap` points, 0: not at all. */
void ui_draw_text(ui_layer layer, float x, float y, ui_style style, uint32_t colour, float wrap, const char *text);
float ui_text_width(ui_style style, const char *text);
float ui_text_height(ui_style style, float wrap, const char *text);

/* What is drawn in the window from here on is cut off outside a box; ended with null. */
void ui_clip(const ui_box *box);

#ifdef __cplusplus
}
#endif

#endif
