/* What the viewer remembers from one time to the next: its window and the layout of its panel. */
#ifndef LIMBER_VIEWER_SETTINGS_H
#define LIMBER_VIEWER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct settings {
    uint32_t width, height; /* of the window, points */
    bool maximised;
    bool panel;           /* is shown */
    uint32_t panel_width; /* points */
    uint32_t page;        /* of the panel */
    uint32_t views;       /* draw_view, joined */
    bool labels;          /* of bodies */
    bool known;           /* the viewer has been used before: help need not show itself */
} settings;

settings settings_default(void);

/* Reads a file; what is missing or makes no sense in it stays at its default, as does everything when there is no file. */
settings settings_read(const char *path);

/* Writes it, whole or not at all. */
bool settings_write(const settings *settings, const char *path);

#endif
