/* The interactive viewer: `limber view`. */
#ifndef LIMBER_VIEWER_H
#define LIMBER_VIEWER_H

#include "limber/limber.h"

#define VIEWER_ERROR_SIZE 640

typedef struct viewer_options {
    const char *scene; /* a scene or a mesh, as `limber run` takes it */
    uint32_t threads;  /* 0: one for each core */
    lm_isa isa;
    const char *device;      /* as in lm_world_def; null: the CPU */
    const char *const *sets; /* "PATH=VALUE" */
    uint32_t set_count;
    uint32_t width, height; /* of the window, points; 0: as it was the last time */
    float scale;            /* pixels for each point; 0: as the screen says */
    const char *script;     /* a file of scripted input (docs/viewer.md), or null */
    const char *settings;   /* the file that remembers the layout; null: in its usual place */
} viewer_options;

/* Opens the window and returns when it is closed. False: `error` says in one line why it could not be opened or went on no
 * longer. */
bool viewer_run(const viewer_options *options, char error[VIEWER_ERROR_SIZE]);

#endif
