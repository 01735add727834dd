/* The views of --view, by their names. */
#ifndef LIMBER_CLI_VIEWS_H
#define LIMBER_CLI_VIEWS_H

#include "draw/draw.h"

/* Names with commas between ("surface,contacts", or "none" for no bodies), or null for the usual one, into the settings.
 * Returns -1, or the exit code after reporting what is wrong. */
int views_choose(const char *names, draw_settings *settings);

/* Whether values are shown, as colours of a range. */
bool views_have_range(uint32_t views);

#endif
