/*
 * Reading a script, and sending its events: through SDL's own queue, so that they take the way of every event.
 *
 * A line may stand for several frames (a click is: the mouse comes, presses, and lets go). What is still to come is kept as a
 * short list of events, some of which end the frame.
 */
#include "viewer/script.h"

#include "viewer/report.h"
#include "viewer/ui.h"
#include "viewer/viewer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 1024
#define QUEUE_SIZE 256

typedef enum pending_kind { PENDING_EVENT, PENDING_FRAME } pending_kind;

typedef struct pending {
    pending_kind kind;
    SDL_Event event;
} pending;

struct script {
    FILE *file;
    char *path;
    uint32_t line;
    uint32_t waiting; /* frames */
    pending queue[QUEUE_SIZE];
    uint32_t queued, sent;
    float x, y; /* of the mouse, points */
    uint32_t buttons;
    app *app;
    window *window;
    char *error;
};

/* Fails with the place in the script; always false. */
static bool fail(script *s, const char *format, ...) LIKE_PRINTF(2, 3);

static bool fail(script *s, const char *format, ...)
{
    char text[VIEWER_ERROR_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(s->error, VIEWER_ERROR_SIZE, "%.200s:%u: %s", s->path, (unsigned)s->line, text);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Events
 */

static void add(script *s, SDL_Event event)
{
    if (s->queued < QUEUE_SIZE) {
        s->queue[s->queued++] = (pending){PENDING_EVENT, event};
    }
}

/* What follows comes in the next frame. */
static void end_frame(script *s)
{
    if (s->queued < QUEUE_SIZE) {
        s->queue[s->queued++] = (pending){.kind = PENDING_FRAME};
    }
}

static int unit(const script *s, float points) { return (int)(points / s->window->points_a_unit + 0.5f); }

static void move_mouse(script *s, float x, float y)
{
    SDL_Event event = {.type = SDL_MOUSEMOTION};
    event.motion.x = unit(s, x);
    event.motion.y = unit(s, y);
    event.motion.state = s->buttons;
    s->x = x;
    s->y = y;
    add(s, event);
}

static void press_button(script *s, uint8_t button, bool down)
{
    SDL_Event event = {.type = down ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP};
    event.button.button = button;
    event.button.state = down ? SDL_PRESSED : SDL_RELEASED;
    event.button.clicks = 1;
    event.button.x = unit(s, s->x);
    event.button.y = unit(s, s->y);
    s->buttons = down ? s->buttons | SDL_BUTTON(button) : s->buttons & ~SDL_BUTTON(button);
    add(s, event);
}

static void press_key(script *s, SDL_Keycode key, uint16_t modifiers, bool down)
{
    SDL_Event event = {.type = down ? SDL_KEYDOWN : SDL_KEYUP};
    event.key.state = down ? SDL_PRESSED : SDL_RELEASED;
    event.key.keysym.sym = key;
    event.key.keysym.scancode = SDL_GetScancodeFromKey(key);
    event.key.keysym.mod = modifiers;
    add(s, event);
}

static void click_at(script *s, float x, float y)
{
    move_mouse(s, x, y);
    end_frame(s);
    press_button(s, SDL_BUTTON_LEFT, true);
    end_frame(s);
    press_button(s, SDL_BUTTON_LEFT, false);
    end_frame(s);
}

static void type_text(script *s, const char *text)
{
    SDL_Event event = {.type = SDL_TEXTINPUT};
    snprintf(event.text.text, sizeof event.text.text, "%.30s", text);
    add(s, event);
    end_frame(s);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Commands; each gets what follows its name in the line
 */

static bool do_frames(script *s, const char *rest)
{
    unsigned count;
    if (sscanf(rest, "%u", &count) != 1) {
        return fail(s, "frames: expected a number");
    }
    s->waiting = count;
    return true;
}

static bool do_key(script *s, const char *rest)
{
    uint16_t modifiers = 0;
    for (bool more = true; more;) {
        more = false;
        if (strncmp(rest, "Ctrl+", 5) == 0) {
            modifiers |= KMOD_LCTRL;
            rest += 5;
            more = true;
        } else if (strncmp(rest, "Shift+", 6) == 0) {
            modifiers |= KMOD_LSHIFT;
            rest += 6;
            more = true;
        }
    }
    SDL_Keycode key = SDL_GetKeyFromName(rest);
    if (key == SDLK_UNKNOWN) {
        return fail(s, "key: no key \"%s\"", rest);
    }
    press_key(s, key, modifiers, true);
    end_frame(s);
    press_key(s, key, 0, false);
    return true;
}

static bool do_text(script *s, const char *rest)
{
    type_text(s, rest);
    return true;
}

static bool read_point(script *s, const char *rest, float *x, float *y)
{
    return sscanf(rest, "%f %f", x, y) == 2 || fail(s, "expected two numbers, points from the upper left corner");
}

static bool do_move(script *s, const char *rest)
{
    float x, y;
    if (!read_point(s, rest, &x, &y)) {
        return false;
    }
    move_mouse(s, x, y);
    end_frame(s);
    return true;
}

/* By so much from where the mouse is, in a number of frames. */
static bool do_move_by(script *s, const char *rest)
{
    float x, y, from_x = s->x, from_y = s->y;
    unsigned frames = 1;
    if (sscanf(rest, "%f %f %u", &x, &y, &frames) < 2 || frames < 1 || frames > 100) {
        return fail(s, "move-by: expected two numbers and, perhaps, up to 100 frames");
    }
    for (unsigned i = 1; i <= frames; i++) {
        move_mouse(s, from_x + x * (float)i / (float)frames, from_y + y * (float)i / (float)frames);
        end_frame(s);
    }
    return true;
}

static bool read_button(script *s, const char *rest, uint8_t *button)
{
    const char *names[] = {"left", "middle", "right"};
    for (uint8_t i = 0; i < 3; i++) {
        if (strcmp(rest, names[i]) == 0) {
            *button = (uint8_t)(i + 1);
            return true;
        }
    }
    return fail(s, "expected left, middle or right");
}

static bool do_press(script *s, const char *rest)
{
    uint8_t button = 0;
    if (!read_button(s, rest, &button)) {
        return false;
    }
    press_button(s, button, true);
    end_frame(s);
    return true;
}

static bool do_release(script *s, const char *rest)
{
    uint8_t button = 0;
    if (!read_button(s, rest, &button)) {
        return false;
    }
    press_button(s, button, false);
    end_frame(s);
    return true;
}

static bool do_wheel(script *s, const char *rest)
{
    SDL_Event event = {.type = SDL_MOUSEWHEEL};
    if (sscanf(rest, "%f", &event.wheel.preciseY) != 1) {
        return fail(s, "wheel: expected a number of clicks");
    }
    event.wheel.y = (int)event.wheel.preciseY;
    add(s, event);
    end_frame(s);
    return true;
}

/* Onto the middle of a body. */
static bool do_point(script *s, const char *rest)
{
    unsigned index;
    float x, y;
    lm_body_info info;
    uint32_t count = lm_world_get_bodies(s->app->session->world, NULL, 0);
    lm_body_id *ids = calloc((size_t)count + 1, sizeof *ids);
    bool there = ids != NULL && sscanf(rest, "%u", &index) == 1 && index < count;
    if (there) {
        lm_world_get_bodies(s->app->session->world, ids, count);
        there = lm_body_get_info(s->app->session->world, ids[index], &info) == LM_OK &&
                app_project(s->app, info.centre, &x, &y);
    }
    free(ids);
    if (!there) {
        return fail(s, "point: expected a body below %u that can be seen", (unsigned)count);
    }
    move_mouse(s, x, y);
    end_frame(s);
    return true;
}

static bool find_item(script *s, const char *label, ui_box *box)
{
    return ui_find_item(label, box) || fail(s, "nothing that can be seen is called \"%s\"", label);
}

static bool do_click(script *s, const char *rest)
{
    ui_box box;
    if (!find_item(s, rest, &box)) {
        return false;
    }
    click_at(s, box.x + 0.5f * box.width, box.y + 0.5f * box.height);
    return true;
}

/* A click at a share of an item's width. */
static bool do_click_at(script *s, const char *rest)
{
    ui_box box;
    float share;
    int used = 0;
    if (sscanf(rest, "%f %n", &share, &used) != 1) {
        return fail(s, "click-at: expected a share of the width, and a name");
    }
    if (!find_item(s, rest + used, &box)) {
        return false;
    }
    click_at(s, box.x + share * box.width, box.y + 0.5f * box.height);
    return true;
}

/* Types a value into a slider: Ctrl and a click, the number, Enter. */
static bool do_set(script *s, const char *rest)
{
    char number[40];
    int used = 0;
    ui_box box;
    if (sscanf(rest, "%39s %n", number, &used) != 1) {
        return fail(s, "set: expected a value, and the name of a slider");
    }
    if (!find_item(s, rest + used, &box)) {
        return false;
    }
    press_key(s, SDLK_LCTRL, KMOD_LCTRL, true);
    click_at(s, box.x + 0.5f * box.width, box.y + 0.5f * box.height);
    press_key(s, SDLK_LCTRL, 0, false);
    end_frame(s);
    type_text(s, number);
    press_key(s, SDLK_RETURN, 0, true);
    end_frame(s);
    press_key(s, SDLK_RETURN, 0, false);
    for (int i = 0; i < 3; i++) { /* until the field knows that it is left, keys are text */
        end_frame(s);
    }
    return true;
}

static bool do_drop(script *s, const char *rest)
{
    SDL_Event event = {.type = SDL_DROPFILE};
    event.drop.file = SDL_strdup(rest);
    add(s, event);
    end_frame(s);
    return true;
}

static bool do_resize(script *s, const char *rest)
{
    int width, height;
    if (sscanf(rest, "%d %d", &width, &height) != 2) {
        return fail(s, "resize: expected a width and a height, points");
    }
    SDL_SetWindowSize(s->window->sdl, unit(s, (float)width), unit(s, (float)height));
    end_frame(s);
    end_frame(s);
    return true;
}

static bool do_screenshot(script *s, const char *rest)
{
    snprintf(s->app->capture.screenshot, sizeof s->app->capture.screenshot, "%s", rest);
    end_frame(s);
    s->app->message_until = 0.0; /* what it says of itself is not to be seen in the next one */
    return true;
}

static bool do_report(script *s, const char *rest)
{
    return report_write(s->app, rest, stdout) || fail(s, "report: out of memory");
}

static bool do_quit(script *s, const char *rest)
{
    (void)rest;
    SDL_Event event = {.type = SDL_QUIT};
    add(s, event);
    return true;
}

typedef struct command {
    const char *name;
    bool (*run)(script *s, const char *rest);
} command;

static const command commands[] = {
    {"frames", do_frames},   {"key", do_key},           {"text", do_text},
    {"move", do_move},       {"move-by", do_move_by},   {"press", do_press},
    {"release", do_release}, {"wheel", do_wheel},       {"point", do_point},
    {"click", do_click},     {"click-at", do_click_at}, {"set", do_set},
    {"drop", do_drop},       {"resize", do_resize},     {"screenshot", do_screenshot},
    {"report", do_report},   {"quit", do_quit},
};

/* ------------------------------------------------------------------------------------------------------------------
 * Line by line
 */

script *script_open(const char *path, char *error)
{
    script *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->path = malloc(strlen(path) + 1);
        s->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    }
    if (s == NULL || s->path == NULL || s->file == NULL) {
        snprintf(error, VIEWER_ERROR_SIZE, "%.300s: cannot be opened", path);
        script_close(s);
        return NULL;
    }
    strcpy(s->path, path);
    return s;
}

void script_close(script *s)
{
    if (s == NULL) {
        return;
    }
    if (s->file != NULL && s->file != stdin) {
        fclose(s->file);
    }
    free(s->path);
    free(s);
}

static bool run_line(script *s, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    line += strspn(line, " \t");
    if (line[0] == '\0' || line[0] == '#') {
        return true;
    }
    size_t length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strlen(commands[i].name) == length && strncmp(commands[i].name, line, length) == 0) {
            return commands[i].run(s, line + length + strspn(line + length, " "));
        }
    }
    return fail(s, "no command \"%.*s\"", (int)length, line);
}

/* Sends what is queued up to the end of a frame; true when a frame is to be drawn. */
static bool send(script *s)
{
    while (s->sent < s->queued) {
        pending *next = &s->queue[s->sent++];
        if (next->kind == PENDING_FRAME) {
            return true;
        }
        SDL_PushEvent(&next->event);
    }
    s->queued = s->sent = 0;
    return false;
}

bool script_advance(script *s, app *a, window *w, char *error)
{
    char line[LINE_SIZE];
    s->app = a;
    s->window = w;
    s->error = error;
    if (a->width <= 0.0f) {
        return true; /* the first frame: nothing has been drawn that could be pressed */
    }
    while (!send(s)) {
        if (s->waiting > 0) {
            s->waiting--;
            return true;
        }
        if (fgets(line, sizeof line, s->file) == NULL) {
            a->quitting = true;
            return true;
        }
        s->line++;
        if (!run_line(s, line)) {
            return false;
        }
    }
    return true;
}
