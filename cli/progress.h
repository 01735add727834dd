/* A progress bar on standard error while that is a terminal; silent otherwise. */
#ifndef LIMBER_CLI_PROGRESS_H
#define LIMBER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    uint32_t total;
    bool visible;
    const char *things; /* what is counted: "frames" */
    double shown;       /* when the bar was last drawn, seconds */
} progress;

progress progress_begin(uint32_t total, const char *things);
void progress_show(progress *progress, uint32_t done);
void progress_end(progress *progress);

/* Clears the bar, if one is on the screen, so that its line is free for what is to be said. */
void progress_clear(void);

#endif
