/* Help, and the file picker: what stands before the picture. */
#include "viewer/panel.h"
#include "viewer/widgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Help
 */

typedef struct help_line {
    const char *what, *does; /* a line without `does` is a heading */
} help_line;

static const help_line left_lines[] = {
    {"Mouse", NULL},
    {"Left-drag a body", "grab and pull it, or tear it"},
    {"Left-drag elsewhere", "orbit"},
    {"Right-drag", "pan"},
    {"Wheel", "zoom"},
    {"B", "throw a ball at the mouse"},
    {"C", "knife: drag to cut"},
    {"W", "paint harder, softer"},
    {"D", "paint finer, coarser"},
    {", and .", "a smaller or larger brush"},
    {"Home", "reset the camera"},
    {"Window", NULL},
    {"Tab", "hide or show the panel"},
    {"F1 or ?", "this help"},
    {"Ctrl+click a slider", "type a value"},
    {"Drop a file", "open it"},
    {"Ctrl+O", "open a file"},
    {"Ctrl+Q", "leave"},
};

static const help_line right_lines[] = {
    {"Time", NULL},
    {"P or Space", "pause, play"},
    {"O or Right", "one frame on"},
    {"Left", "one frame back, up to 10 s"},
    {"R", "restart as the file says"},
    {"Shift+R", "restart, keep the settings"},
    {"[ and ]", "previous and next scene"},
    {"Files", NULL},
    {"F5", "save the state"},
    {"F9", "record a video, stop"},
    {"F12", "screenshot"},
};

static void draw_lines(const help_line *lines, size_t count, float x)
{
    for (size_t i = 0; i < count; i++) {
        if (lines[i].does == NULL) {
            ui_gap(i > 0 ? 3.0f : 0.0f);
            ui_text(UI_STRONG, "%s", lines[i].what);
        } else {
            ui_text(UI_NORMAL, "%s", lines[i].what);
            ui_same_line_at(x);
            ui_text(UI_FAINT, "%s", lines[i].does);
        }
    }
}

void help_draw(app *a)
{
    bool wide = a->width > 760.0f;
    float width = wide ? 700.0f : fminf(370.0f, a->width - 24.0f), height = wide ? 470.0f : a->height - 32.0f;
    ui_box box = {0.5f * (a->width - width), 0.5f * (a->height - height), width, height};
    ui_window_begin("help", UI_MODAL, box);
    ui_text(UI_TITLE, "Take hold of it");
    ui_text_wrapped(UI_FAINT,
                    "Everything here is simulated as you watch. Pull it, squash it, change what it is made of: it "
                    "comes back.");
    ui_gap(4.0f);
    ui_scroll_begin("help lines", -38.0f);
    if (wide) {
        ui_columns_begin("help columns");
        draw_lines(left_lines, sizeof left_lines / sizeof left_lines[0], 140.0f);
        ui_columns_next();
        draw_lines(right_lines, sizeof right_lines / sizeof right_lines[0], 110.0f);
        ui_columns_end();
    } else {
        draw_lines(left_lines, sizeof left_lines / sizeof left_lines[0], 140.0f);
        draw_lines(right_lines, sizeof right_lines / sizeof right_lines[0], 140.0f);
    }
    ui_scroll_end();
    if (ui_button("Close", 90.0f, true)) {
        app_toggle_help(a);
    }
    ui_window_end();
}

/* ------------------------------------------------------------------------------------------------------------------
 * The file picker
 */

static const char *kind_sentence(file_kind kind)
{
    static const char *const sentences[] = {"folder", "scene", "mesh", "snapshot of a scene", ""};
    return sentences[kind];
}

/* Opens what was chosen; the list may be gone afterwards. */
static void choose(app *a, uint32_t index)
{
    char *path = file_list_path(&a->files, a->files.entries[index].name);
    if (path == NULL) {
        return;
    }
    if (a->files.entries[index].kind == FILE_FOLDER) {
        file_list_show(&a->files, path);
    } else {
        app_open_file(a, path);
    }
    free(path);
}

void picker_draw(app *a)
{
    float width = fminf(560.0f, a->width - 32.0f), height = fminf(520.0f, a->height - 32.0f);
    ui_box box = {0.5f * (a->width - width), 0.5f * (a->height - height), width, height};
    ui_window_begin("files", UI_MODAL, box);
    ui_text(UI_TITLE, "Open a scene, a mesh or a snapshot");
    ui_text_wrapped(UI_SMALL, a->files.folder != NULL ? a->files.folder : "");
    ui_scroll_begin("file list", -38.0f);
    uint32_t chosen = UINT32_MAX;
    for (uint32_t i = 0; i < a->files.count; i++) {
        const file_entry *entry = &a->files.entries[i];
        if (widget_entry(entry->name, strcmp(entry->name, "..") == 0 ? "the folder above" : kind_sentence(entry->kind),
                         false)) {
            chosen = i;
        }
    }
    if (a->files.problem[0] != '\0') {
        ui_text_wrapped(UI_WARNING, a->files.problem);
    }
    ui_scroll_end();
    if (ui_button("Cancel", 90.0f, false)) {
        app_pick_file(a, false);
    } else if (chosen != UINT32_MAX) {
        choose(a, chosen);
    }
    ui_window_end();
}
