/* Settings as lines of a name and a number: easy to read, and to repair, for a person. */
#include "viewer/settings.h"

#include "draw/draw.h"
#include "support/partial.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct setting_line {
    const char *name;
    size_t offset;
    bool flag;
    uint32_t low, high;
} setting_line;

static const setting_line lines[] = {
    {"width", offsetof(settings, width), false, 480, 16384},
    {"height", offsetof(settings, height), false, 320, 16384},
    {"maximised", offsetof(settings, maximised), true, 0, 1},
    {"panel", offsetof(settings, panel), true, 0, 1},
    {"panel_width", offsetof(settings, panel_width), false, 280, 640},
    {"page", offsetof(settings, page), false, 0, 4},
    {"views", offsetof(settings, views), false, 0, 511},
    {"labels", offsetof(settings, labels), true, 0, 1},
    {"known", offsetof(settings, known), true, 0, 1},
};

#define LINE_COUNT (sizeof lines / sizeof lines[0])

settings settings_default(void)
{
    return (settings){
        .width = 1280, .height = 800, .panel = true, .panel_width = 340, .views = DRAW_SURFACE, .labels = true};
}

static void set(settings *s, const char *name, unsigned long value)
{
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const setting_line *line = &lines[i];
        if (strcmp(line->name, name) != 0 || value < line->low || value > line->high) {
            continue;
        }
        if (line->flag) {
            *(bool *)((char *)s + line->offset) = value != 0;
        } else {
            *(uint32_t *)(void *)((char *)s + line->offset) = (uint32_t)value;
        }
    }
}

settings settings_read(const char *path)
{
    settings s = settings_default();
    FILE *file = fopen(path, "r");
    char text[256], name[64];
    unsigned long value;
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        if (sscanf(text, "%63s %lu", name, &value) == 2) {
            set(&s, name, value);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    uint32_t colouring = s.views & DRAW_COLOURINGS;
    if ((colouring & (colouring - 1)) != 0) { /* a body has one colour */
        s.views = DRAW_SURFACE;
    }
    return s;
}

bool settings_write(const settings *s, const char *path)
{
    partial_file file;
    char error[PARTIAL_ERROR_SIZE];
    if (!lmi_partial_open(&file, path, error)) {
        return false;
    }
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const char *from = (const char *)s + lines[i].offset;
        uint32_t value = lines[i].flag ? *(const bool *)from : *(const uint32_t *)(const void *)from;
        char text[96];
        int length = snprintf(text, sizeof text, "%s %u\n", lines[i].name, (unsigned)value);
        lmi_partial_write(&file, text, (size_t)length);
    }
    return lmi_partial_keep(&file, error);
}
