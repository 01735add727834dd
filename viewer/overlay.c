/* Over the picture: the hand and its force, labels of bodies, the legend of colours, messages. */
#include "viewer/panel.h"
#include "viewer/widgets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define INK 0x20242c
#define HAND 0xe8543c
#define ACCENT 0x2e609e

/* ------------------------------------------------------------------------------------------------------------------
 * The hand
 */

/* Where the particle is that is held. */
static bool held_place(const app *a, lm_dvec3 *place)
{
    const company *c = &a->session->company;
    lm_body_info info;
    if (c->grab.slot == 0 || lm_body_get_info(a->session->world, c->grabbed, &info) != LM_OK) {
        return false;
    }
    lm_vec3 *positions = malloc(info.particles * sizeof *positions);
    bool good =
        positions != NULL && lm_body_get_positions(a->session->world, c->grabbed, info.centre, positions) == LM_OK;
    lm_vec3 p = good ? positions[c->grabbed_particle] : (lm_vec3){0.0f, 0.0f, 0.0f};
    free(positions);
    *place = (lm_dvec3){info.centre.x + (double)p.x, info.centre.y + (double)p.y, info.centre.z + (double)p.z};
    return good;
}

/* The line that will be cut. */
static void draw_knife(const app *a)
{
    if (a->cutting) {
        ui_draw_line(UI_BELOW, a->cut_x, a->cut_y, a->mouse_x, a->mouse_y, 2.0f, INK, 0.9f);
    }
}

static void draw_hand(const app *a)
{
    lm_dvec3 place;
    lm_vec3 force;
    float x0, y0, x1, y1;
    const company *c = &a->session->company;
    if (!held_place(a, &place) || lm_drag_get_force(a->session->world, c->grab, &force) != LM_OK ||
        !app_project(a, place, &x0, &y0) || !app_project(a, c->grab_target, &x1, &y1)) {
        return;
    }
    ui_draw_line(UI_BELOW, x0, y0, x1, y1, 2.5f, HAND, 0.9f);
    ui_draw_disc(UI_BELOW, x0, y0, 4.0f, HAND, 1.0f);
    ui_draw_ring(UI_BELOW, x1, y1, 9.0f, 2.5f, HAND, 1.0f);
    char text[64];
    float newtons = sqrtf(force.x * force.x + force.y * force.y + force.z * force.z);
    if (newtons == 0.0f) {
        return; /* no step has been made with it yet */
    }
    bool kilo = newtons >= 1000.0f;
    float shown = kilo ? newtons / 1000.0f : newtons;
    snprintf(text, sizeof text, shown < 100.0f ? "%.1f %s" : "%.0f %s", (double)shown, kilo ? "kN" : "N");
    float width = ui_text_width(UI_STRONG, text) + 16.0f;
    ui_draw_box(UI_BELOW, (ui_box){x1 - 0.5f * width, y1 - 38.0f, width, 22.0f}, 11.0f, HAND, 1.0f);
    widget_label(x1, y1 - 27.0f, UI_STRONG, 0xffffff, text);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Labels
 */

/* Below the middle of a body's box, as far as it can be seen. */
static void draw_label(const app *a, const char *words, const lm_body_info *info, uint32_t fill, uint32_t ink,
                       float opacity)
{
    float left = INFINITY, right = -INFINITY, bottom = -INFINITY;
    for (int i = 0; i < 8; i++) {
        lm_dvec3 corner = {i & 1 ? info->upper.x : info->lower.x, i & 2 ? info->upper.y : info->lower.y,
                           i & 4 ? info->upper.z : info->lower.z};
        float x, y;
        if (!app_project(a, corner, &x, &y)) {
            return;
        }
        left = fminf(left, x);
        right = fmaxf(right, x);
        bottom = fmaxf(bottom, y);
    }
    float x = 0.5f * (left + right), y = bottom + 14.0f, width = ui_text_width(UI_SMALL, words) + 16.0f;
    const app_area *p = &a->picture;
    if (x - 0.5f * width < p->x || x + 0.5f * width > p->x + p->width || y < p->y || y > p->y + p->height - 12.0f) {
        return;
    }
    ui_draw_box(UI_BELOW, (ui_box){x - 0.5f * width, y - 10.0f, width, 20.0f}, 10.0f, fill, opacity);
    widget_label(x, y, UI_SMALL, ink, words);
}

/* The body whose material the panel shows. */
static void draw_selected(const app *a)
{
    char name[128];
    lm_body_info info;
    if (a->settings.panel && a->settings.page == 1 && lm_body_is_valid(a->session->world, a->selected) &&
        lm_world_get_bodies(a->session->world, NULL, 0) > 1 &&
        lm_body_get_info(a->session->world, a->selected, &info) == LM_OK) {
        session_body_name(a->session, a->selected, name, sizeof name);
        draw_label(a, name, &info, ACCENT, 0xffffff, 0.95f);
    }
}

static bool is_selected(const app *a, lm_body_id body)
{
    return a->settings.panel && a->settings.page == 1 && body.slot == a->selected.slot &&
           body.generation == a->selected.generation;
}

static void draw_labels(const app *a)
{
    const lm_scene *shown = a->session->scene;
    for (uint32_t i = 0; i < lm_scene_body_count(shown); i++) {
        lm_scene_body body = lm_scene_get_body(shown, i);
        lm_body_info info;
        if (body.label != NULL && !is_selected(a, body.id) &&
            lm_body_get_info(a->session->world, body.id, &info) == LM_OK) {
            draw_label(a, body.label, &info, 0xffffff, INK, 0.82f);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The legend
 */

static void draw_legend(const app *a)
{
    draw_map map = draw_get_map(a->draw);
    if (map.label == NULL || (a->drawing.views & DRAW_MAPS) == 0) {
        return;
    }
    const float width = fminf(200.0f, a->picture.width - 40.0f), height = 10.0f, x = a->picture.x + 20.0f;
    float y = a->picture.y + a->picture.height - 40.0f;
    char low[32], high[32];
    snprintf(low, sizeof low, "%.3g", (double)map.low);
    snprintf(high, sizeof high, "%.3g", (double)map.high);
    ui_draw_box(UI_BELOW, (ui_box){x - 10.0f, y - 26.0f, width + 20.0f, 58.0f}, 8.0f, 0xffffff, 0.82f);
    for (int i = 0; i < 100; i++) {
        uint8_t rgb[3];
        draw_map_colour((float)i / 99.0f, rgb);
        uint32_t colour = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
        ui_draw_box(UI_BELOW, (ui_box){x + 0.01f * width * (float)i, y, 0.01f * width + 0.5f, height}, 0.0f, colour,
                    1.0f);
    }
    widget_label(x + 0.5f * width, y - 12.0f, UI_SMALL, INK, map.label);
    widget_label(x + 0.5f * ui_text_width(UI_SMALL, low), y + 20.0f, UI_SMALL, INK, low);
    widget_label(x + width - 0.5f * ui_text_width(UI_SMALL, high), y + 20.0f, UI_SMALL, INK, high);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Messages
 */

static void draw_message(const app *a)
{
    if (a->now >= a->message_until || a->message[0] == '\0') {
        return;
    }
    float width = fminf(ui_text_width(UI_NORMAL, a->message) + 40.0f, a->picture.width - 32.0f);
    float x = a->picture.x + 0.5f * (a->picture.width - width);
    ui_window_begin("message", UI_FLOAT, (ui_box){x, 16.0f, width, 0.0f});
    ui_text_wrapped(a->message_is_bad ? UI_WARNING : UI_NORMAL, a->message);
    ui_window_end();
}

static void draw_recording(const app *a)
{
    if (a->capture.video == NULL) {
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.1f s", a->capture.frames / LM_SCENE_FRAME_RATE);
    float x = a->picture.x + a->picture.width - 100.0f;
    ui_draw_box(UI_BELOW, (ui_box){x, 16.0f, 84.0f, 28.0f}, 14.0f, 0x1d2026, 0.9f);
    ui_draw_disc(UI_BELOW, x + 18.0f, 30.0f, 5.0f, 0xec5c54, 1.0f);
    widget_label(x + 50.0f, 30.0f, UI_NORMAL, 0xe2e6ec, text);
}

void overlay_draw(app *a)
{
    if (a->settings.labels) {
        draw_labels(a);
    }
    draw_selected(a);
    draw_hand(a);
    draw_knife(a);
    app_draw_brush(a);
    draw_legend(a);
    draw_recording(a);
    draw_message(a);
}
