/* The progress bar. */
#include "cli/progress.h"

#include "support/system.h"

#include <stdio.h>

#define WIDTH 40

static bool on_screen; /* there is one terminal, and one bar on it */

progress progress_begin(uint32_t total, const char *things)
{
    return (progress){.total = total, .things = things, .visible = lmi_system_is_terminal(stderr)};
}

void progress_show(progress *bar, uint32_t done)
{
    double now = bar->visible ? lmi_system_seconds() : 0.0;
    if (!bar->visible || (now - bar->shown < 0.1 && done < bar->total)) {
        return; /* ten times a second is enough, and costs the run nothing */
    }
    bar->shown = now;
    uint32_t filled = bar->total > 0 ? (uint32_t)((uint64_t)done * WIDTH / bar->total) : WIDTH;
    char cells[WIDTH + 1];
    for (uint32_t i = 0; i < WIDTH; i++) {
        cells[i] = i < filled ? '#' : '.';
    }
    cells[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %u/%u %s", cells, (unsigned)done, (unsigned)bar->total, bar->things);
    fflush(stderr);
    on_screen = true;
}

void progress_end(progress *bar)
{
    bar->visible = false;
    progress_clear();
}

void progress_clear(void)
{
    if (on_screen) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        on_screen = false;
    }
}
