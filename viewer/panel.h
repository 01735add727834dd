/* What the window shows beside the picture, described with ui.h: each part in a file of its own. */
#ifndef LIMBER_VIEWER_PANEL_H
#define LIMBER_VIEWER_PANEL_H

#include "viewer/app.h"

#define TRANSPORT_HEIGHT 58.0f /* of the bar below the picture, points */

/* Everything, in the order of drawing. */
void panel_draw(app *app);

/* The pages of the panel. */
void panel_scenes(app *app);
void panel_body(app *app);
void panel_examples(app *app); /* a part of the body's: nothing when it has none */
void panel_world(app *app);
void panel_views(app *app);
void panel_numbers(app *app);

void transport_draw(app *app); /* the bar of time */
void overlay_draw(app *app);   /* over the picture: the hand's force, labels, the legend, messages */
void help_draw(app *app);
void picker_draw(app *app);

#endif
