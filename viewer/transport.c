/* The bar of time below the picture: play, steps, the last ten seconds, the speed. */
#include "viewer/panel.h"
#include "viewer/widgets.h"

#include <math.h>
#include <stdio.h>

#define ROW 30.0f /* the height of what stands in it, points */

static const double speeds[] = {0.1, 0.25, 0.5, 1.0};
static const char *const speed_words[] = {"0.1x", "0.25x", "0.5x", "1x"};

static void draw_play(app *a)
{
    if (widget_icon_button("Play", a->paused ? ICON_PLAY : ICON_PAUSE, !a->paused)) {
        app_toggle_pause(a);
    }
    ui_tooltip(a->paused ? "Play (P)" : "Pause (P)");
    ui_same_line();
}

static void draw_buttons(app *a)
{
    if (widget_icon_button("To the start", ICON_RESTART, false)) {
        app_restart(a, false);
    }
    ui_tooltip("Restart (R)");
    ui_same_line();
    if (widget_icon_button("Back", ICON_BACK, false)) {
        app_step_back(a);
    }
    ui_tooltip("One frame back (Left)");
    ui_same_line();
    draw_play(a);
    if (widget_icon_button("Step", ICON_STEP, false)) {
        app_step(a);
    }
    ui_tooltip("One frame on (O, Right)");
    ui_same_line();
}

/* The factor in words: honest, and quiet while all is well. */
static void write_factor(const app *a, char *text, size_t size, ui_style *style)
{
    double factor = clock_factor(&a->clock);
    bool slow = factor < 0.95 * a->clock.speed;
    *style = slow ? UI_WARNING : UI_FAINT;
    if (a->paused) {
        snprintf(text, size, "paused");
        *style = UI_FAINT;
    } else if (a->capture.video != NULL) {
        snprintf(text, size, "recording");
    } else {
        snprintf(text, size, "%.2fx real time", factor);
    }
}

static void draw_factor(const app *a, float x)
{
    char text[64];
    ui_style style;
    write_factor(a, text, sizeof text, &style);
    ui_same_line_at(x);
    widget_row_text(style, ROW, text);
    ui_tooltip(
        "Simulated seconds for each real one. The step is always 1/60 s: when the machine cannot keep up, time goes "
        "slower.");
}

static uint32_t chosen_speed(const app *a)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < 4; i++) {
        best = fabs(speeds[i] - a->clock.speed) < fabs(speeds[best] - a->clock.speed) ? i : best;
    }
    return best;
}

void transport_draw(app *a)
{
    const session *s = a->session;
    float left = a->settings.panel ? (float)a->settings.panel_width : 0.0f;
    ui_box box = {left, a->height - TRANSPORT_HEIGHT, a->width - left, TRANSPORT_HEIGHT};
    ui_window_begin("transport", UI_PANEL, box);
    /* What there is no room for is left out. */
    if (box.width < 320.0f) {
        draw_play(a);
    } else {
        draw_buttons(a);
    }
    float speed_width = box.width < 720.0f ? 0.0f : 168.0f, factor_width = box.width < 440.0f ? 0.0f : 116.0f,
          time_width = box.width < 320.0f ? 0.0f : 70.0f;
    float bar = ui_width_left() - time_width - factor_width - speed_width - 16.0f;
    float now = (float)s->frame;
    if (widget_time_bar("Timeline", fmaxf(bar, 24.0f), (float)session_first(s), (float)session_last(s), &now)) {
        app_seek(a, (uint32_t)floorf(now + 0.5f));
    }
    ui_tooltip("The last ten seconds: drag to go back. What is done in the past begins another future.");
    if (time_width > 0.0f) {
        char text[64];
        snprintf(text, sizeof text, "%.2f s", s->frame / LM_SCENE_FRAME_RATE);
        ui_same_line();
        widget_row_text(UI_NORMAL, ROW, text);
    }
    if (factor_width > 0.0f) {
        draw_factor(a, box.width - 24.0f - speed_width - factor_width);
    }
    if (speed_width > 0.0f) {
        ui_same_line_at(box.width - 32.0f - speed_width + 12.0f);
        uint32_t chosen = chosen_speed(a);
        if (widget_choice("#speed", speed_words, 4, &chosen)) {
            app_set_speed(a, speeds[chosen]);
        }
    }
    ui_window_end();
}
