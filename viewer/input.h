/* SDL's events become actions: of the interface where the mouse is over it, else of the picture. */
#ifndef LIMBER_VIEWER_INPUT_H
#define LIMBER_VIEWER_INPUT_H

#include "viewer/app.h"

#include <SDL.h>

typedef enum input_drag {
    DRAG_NONE,
    DRAG_INTERFACE,
    DRAG_BODY,
    DRAG_CUT,
    DRAG_PAINT,
    DRAG_ORBIT,
    DRAG_PAN,
    DRAG_PANEL
} input_drag;

typedef struct input {
    input_drag drag;
    float x, y; /* of the mouse, points */
} input;

/* `points_a_unit` turns the event's coordinates into points. */
void input_take(input *input, app *app, const SDL_Event *event, float points_a_unit);

/* Whether the mouse is on the panel's edge, which can be dragged. */
bool input_on_edge(const input *input, const app *app);

#endif
