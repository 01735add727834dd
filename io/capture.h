/*
 * Frames for exporters (export.h) out of a world, through the public interface alone. Arrays are kept from one frame to the next and
 * grow as bodies do.
 */
#ifndef LIMBER_IO_CAPTURE_H
#define LIMBER_IO_CAPTURE_H

#include "io/export.h"

/* A body that is exported. Nothing here is copied: it must live as long as the capture. */
typedef struct capture_body {
    lm_body_id id;
    const char *name;
    const uint8_t
        *colours; /* red, green, blue (sRGB) for each vertex of the surface as it was given, or one for all; or null */
    uint32_t colour_count;
    const float *uvs; /* two for each of uv_count vertices of the surface as it was given, v upwards; or null */
    uint32_t uv_count;
} capture_body;

typedef struct capture capture;

/* Null when out of memory. */
capture *capture_create(const capture_body *bodies, uint32_t count);
void capture_destroy(capture *capture);

/* The bodies as they are now: what `wants` says (export_wants). A body without a surface is a cloud of its particles. With z_up
 * everything is turned so that Z points up. The frame is valid until the next call. */
lm_result capture_take(capture *capture, const lm_world *world, unsigned wants, bool z_up, export_frame *frame);

#endif
