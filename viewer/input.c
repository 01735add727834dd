/* The mouse and the keys. */
#include "viewer/input.h"

#include "viewer/ui.h"

#include <math.h>

#define EDGE 4.0f /* points to both sides of the panel's edge, where it can be dragged */
#define LEAST_PANEL 280.0f
#define MOST_PANEL 640.0f

/* ------------------------------------------------------------------------------------------------------------------
 * Keys
 */

static void plain_key(input *i, app *a, const SDL_Keysym *key)
{
    bool shift = (key->mod & KMOD_SHIFT) != 0;
    switch (key->sym) {
    case SDLK_p:
    case SDLK_SPACE: app_toggle_pause(a); break;
    case SDLK_o:
    case SDLK_RIGHT: app_step(a); break;
    case SDLK_LEFT: app_step_back(a); break;
    case SDLK_r: app_restart(a, shift); break;
    case SDLK_LEFTBRACKET: app_open_neighbour(a, -1); break;
    case SDLK_RIGHTBRACKET: app_open_neighbour(a, 1); break;
    case SDLK_TAB: app_toggle_panel(a); break;
    case SDLK_HOME: app_reset_camera(a); break;
    case SDLK_b: app_throw_ball(a, i->x, i->y); break;
    case SDLK_c: app_toggle_knife(a); break;
    case SDLK_w: app_next_brush(a, BRUSH_HARDER); break;
    case SDLK_d: app_next_brush(a, BRUSH_FINER); break;
    case SDLK_COMMA: app_resize_brush(a, 0.8f); break;
    case SDLK_PERIOD: app_resize_brush(a, 1.25f); break;
    case SDLK_F1:
    case SDLK_QUESTION: app_toggle_help(a); break;
    case SDLK_SLASH: shift ? app_toggle_help(a) : (void)0; break;
    case SDLK_F5: app_save_snapshot(a); break;
    case SDLK_F9: app_toggle_recording(a); break;
    case SDLK_F12: app_screenshot(a); break;
    case SDLK_ESCAPE:
        a->helping = false;
        a->picking_file = false;
        break;
    default: break;
    }
}

static void control_key(app *a, const SDL_Keysym *key)
{
    switch (key->sym) {
    case SDLK_o: app_pick_file(a, true); break;
    case SDLK_s: app_save_snapshot(a); break;
    case SDLK_q: a->quitting = true; break;
    default: break;
    }
}

/* The keys that text fields understand. */
static int interface_key(SDL_Keycode key)
{
    static const SDL_Keycode keys[UI_KEY_COUNT] = {SDLK_TAB,       SDLK_LEFT,     SDLK_RIGHT,  SDLK_UP,  SDLK_DOWN,
                                                   SDLK_PAGEUP,    SDLK_PAGEDOWN, SDLK_HOME,   SDLK_END, SDLK_DELETE,
                                                   SDLK_BACKSPACE, SDLK_RETURN,   SDLK_ESCAPE, SDLK_a,   SDLK_c,
                                                   SDLK_v,         SDLK_x};
    for (int i = 0; i < UI_KEY_COUNT; i++) {
        if (keys[i] == key) {
            return i;
        }
    }
    return key == SDLK_KP_ENTER ? UI_KEY_ENTER : -1;
}

static void take_key(input *i, app *a, const SDL_KeyboardEvent *event)
{
    bool down = event->type == SDL_KEYDOWN;
    int key = interface_key(event->keysym.sym);
    ui_modifiers((event->keysym.mod & KMOD_SHIFT) != 0, (event->keysym.mod & KMOD_CTRL) != 0,
                 (event->keysym.mod & KMOD_ALT) != 0);
    if (key >= 0) {
        ui_press((ui_key)key, down);
    }
    if (!down || ui_has_keys()) {
        return;
    }
    bool held = event->repeat != 0;
    bool may_repeat = event->keysym.sym == SDLK_LEFT || event->keysym.sym == SDLK_RIGHT || event->keysym.sym == SDLK_o;
    if ((event->keysym.mod & KMOD_CTRL) != 0) {
        control_key(a, &event->keysym);
    } else if (!held || may_repeat) {
        plain_key(i, a, &event->keysym);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * The mouse
 */

bool input_on_edge(const input *i, const app *a)
{
    return a->settings.panel && !a->helping && !a->picking_file && fabsf(i->x - (float)a->settings.panel_width) <= EDGE;
}

static void press(input *i, app *a, int button)
{
    if (i->drag != DRAG_NONE) {
        return; /* a second button does not change what the first one does */
    }
    if (button == 0 && input_on_edge(i, a)) {
        i->drag = DRAG_PANEL;
    } else if (ui_has_mouse()) {
        i->drag = DRAG_INTERFACE;
    } else if (button == 0 && a->brush != BRUSH_NONE) {
        app_paint(a, i->x, i->y);
        i->drag = DRAG_PAINT;
    } else if (button == 0 && a->knife) {
        app_cut_from(a, i->x, i->y);
        i->drag = DRAG_CUT;
    } else if (button == 0) {
        app_press(a, i->x, i->y);
        i->drag = a->holding ? DRAG_BODY : DRAG_ORBIT;
    } else {
        i->drag = DRAG_PAN;
    }
    SDL_CaptureMouse(SDL_TRUE);
}

static void release(input *i, app *a)
{
    if (i->drag == DRAG_BODY) {
        app_release(a);
    }
    if (i->drag == DRAG_CUT) {
        app_cut_to(a, i->x, i->y);
    }
    i->drag = DRAG_NONE;
    SDL_CaptureMouse(SDL_FALSE);
}

static void move(input *i, app *a, float x, float y)
{
    float right = x - i->x, down = y - i->y;
    i->x = a->mouse_x = x;
    i->y = a->mouse_y = y;
    switch (i->drag) {
    case DRAG_BODY: app_move_held(a, x, y); break;
    case DRAG_PAINT: app_paint(a, x, y); break;
    case DRAG_ORBIT: app_orbit(a, right, down); break;
    case DRAG_PAN: app_pan(a, right, down); break;
    case DRAG_PANEL: a->settings.panel_width = (uint32_t)fminf(fmaxf(x, LEAST_PANEL), MOST_PANEL); break;
    default: break;
    }
}

static void take_button(input *i, app *a, const SDL_MouseButtonEvent *event, float points)
{
    int button = event->button == SDL_BUTTON_LEFT ? 0 : event->button == SDL_BUTTON_RIGHT ? 1 : 2;
    move(i, a, (float)event->x * points, (float)event->y * points);
    ui_mouse_at(i->x, i->y);
    bool down = event->type == SDL_MOUSEBUTTONDOWN;
    if (down) {
        press(i, a, button);
    } else {
        release(i, a);
    }
    if (!down || i->drag == DRAG_INTERFACE) {
        ui_mouse_button(button, down);
    }
}

static void take_wheel(input *i, app *a, const SDL_MouseWheelEvent *event)
{
    float clicks = event->direction == SDL_MOUSEWHEEL_FLIPPED ? -event->preciseY : event->preciseY;
    if (ui_has_mouse()) {
        ui_mouse_wheel(clicks);
    } else {
        app_zoom(a, clicks, i->x, i->y);
    }
}

void input_take(input *i, app *a, const SDL_Event *event, float points)
{
    switch (event->type) {
    case SDL_QUIT: a->quitting = true; break;
    case SDL_KEYDOWN:
    case SDL_KEYUP: take_key(i, a, &event->key); break;
    case SDL_TEXTINPUT: ui_type(event->text.text); break;
    case SDL_MOUSEMOTION:
        move(i, a, (float)event->motion.x * points, (float)event->motion.y * points);
        ui_mouse_at(i->x, i->y);
        break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: take_button(i, a, &event->button, points); break;
    case SDL_MOUSEWHEEL: take_wheel(i, a, &event->wheel); break;
    case SDL_DROPFILE:
        app_open_file(a, event->drop.file);
        SDL_free(event->drop.file);
        break;
    default: break;
    }
}
