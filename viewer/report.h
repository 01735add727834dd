/* What the viewer shows, as a line of JSON: for scripts. */
#ifndef LIMBER_VIEWER_REPORT_H
#define LIMBER_VIEWER_REPORT_H

#include "viewer/app.h"

#include <stdio.h>

/* One object and a newline; `name` goes into it. False: no memory. */
bool report_write(const app *app, const char *name, FILE *file);

#endif
