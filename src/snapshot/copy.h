/*
 * What each particle, region and touch point of a world has, as bytes (snapshot_copy.c).
 */
#ifndef LMI_COPY_H
#define LMI_COPY_H

#include "world/world.h"

typedef enum lmi_copy_mode {
    LMI_COPY_BOUND, /* counts what it may take at most, whatever touches */
    LMI_COPY_COUNT, /* counts what it takes now */
    LMI_COPY_WRITE,
    LMI_COPY_CHECK, /* of what is to be read; the world is not changed */
    LMI_COPY_READ   /* what was checked */
} lmi_copy_mode;

/* From *at on, which is moved on; `bytes` has `size` of them, and is null while counting. False: there are too few bytes, or they hold
 * what cannot be, before *at. */
bool lmi_copy_particles(lm_world *world, lmi_copy_mode mode, unsigned char *bytes, size_t *at, size_t size);

#endif
