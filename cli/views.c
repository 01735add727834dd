/* The views of --view. */
#include "cli/views.h"

#include "cli/cli.h"
#include "support/nearest.h"

#include <stdio.h>
#include <string.h>

#define NO_VIEW "none" /* everything but the bodies */

static int fail_unknown(const char *name)
{
    char known[256] = NO_VIEW;
    nearest_name near = lmi_nearest_to(name);
    lmi_nearest_offer(&near, NO_VIEW);
    for (uint32_t i = 0; draw_view_name(i) != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", draw_view_name(i));
        lmi_nearest_offer(&near, draw_view_name(i));
    }
    if (near.best != NULL) {
        return cli_fail(CLI_FAILED, "--view: no view \"%s\" (expected %s; did you mean \"%s\"?)", name, known,
                        near.best);
    }
    return cli_fail(CLI_FAILED, "--view: no view \"%s\" (expected %s)", name, known);
}

/* Whether they can be shown together. */
static int check(const char *names, const draw_settings *settings)
{
    if (!settings->bodies && settings->views != 0) {
        return cli_fail(CLI_FAILED, "--view %s: %s leaves the bodies out (expected no other view with it)", names,
                        NO_VIEW);
    }
    uint32_t colouring = settings->views & DRAW_COLOURINGS;
    if ((colouring & (colouring - 1)) != 0) {
        return cli_fail(CLI_FAILED,
                        "--view %s: a body has one colour (expected one of regions, speed, strain and stress)", names);
    }
    return -1;
}

int views_choose(const char *names, draw_settings *settings)
{
    const char *rest = names;
    settings->views = names != NULL ? 0 : DRAW_SURFACE;
    while (rest != NULL) {
        char name[64];
        size_t length = strcspn(rest, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), rest);
        uint32_t view = draw_view_find(name);
        if (strcmp(name, NO_VIEW) == 0) {
            settings->bodies = false;
        } else if (view == 0) {
            return fail_unknown(name);
        }
        settings->views |= view;
        rest = rest[length] != '\0' ? rest + length + 1 : NULL;
    }
    return check(names, settings);
}

bool views_have_range(uint32_t views) { return (views & DRAW_MAPS) != 0; }
