/* Items with a look of their own, on the means of ui.h. */
#ifndef LIMBER_VIEWER_WIDGETS_H
#define LIMBER_VIEWER_WIDGETS_H

#include "viewer/ui.h"

/* Text in the middle of a row of this height. */
void widget_row_text(ui_style style, float height, const char *text);

/* Text over the picture, around its middle. */
void widget_label(float x, float y, ui_style style, uint32_t colour, const char *text);

/* A row of names of pages, one of which is chosen. */
void widget_tabs(const char *const *labels, uint32_t count, uint32_t *chosen);

/* True when pressed. */
bool widget_toggle(const char *label, bool *on);

/* True when changed. The name is above at the left, the value with its unit at the right, and beside it, where the value is not
 * `start`, a button back to that. A click with Ctrl lets type the value. */
bool widget_slider(const char *label, const char *unit, float *value, float start, float low, float high,
                   bool logarithmic);
bool widget_slider_count(const char *label, int *value, int start, int low, int high);

/* One of a row of words, side by side, below a label (none when it begins with '#'). */
bool widget_choice(const char *label, const char *const *words, uint32_t count, uint32_t *chosen);

/* A name and a sentence below it; true when pressed. */
bool widget_entry(const char *name, const char *sentence, bool chosen);

typedef enum widget_icon { ICON_PLAY, ICON_PAUSE, ICON_STEP, ICON_BACK, ICON_RESTART, ICON_RESET } widget_icon;

bool widget_icon_button(const char *label, widget_icon icon, bool lit);

/* A line of time of this width: from `first` to `last`, at `now`. True when it was dragged. */
bool widget_time_bar(const char *label, float width, float first, float last, float *now);

/* Areas on top of each other over time, the newest at the right; values[series * capacity + (next + i) % capacity]. */
typedef struct widget_graph_data {
    const float *values;
    uint32_t series, capacity, next;
    float top;  /* the value at the upper edge, milliseconds */
    float line; /* a line at this value, or 0 */
    const char *line_label;
} widget_graph_data;

void widget_graph(const widget_graph_data *graph, float height);

/* The colour of a series of a graph, as a small square before text. */
void widget_series_mark(uint32_t series);

#endif
