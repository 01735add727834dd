/*
 * Frames for exporters (export.h) out of a world, through the public interface alone. Arrays are kept from one frame to the next and
 * grow as bodies do.
 */
#ifndef LIMBER_CAPTURE_H
#define LIMBER_CAPTURE_H

#include "limber/export.h"
#include "limber/seams.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A body that is exported. Nothing here is copied: it must live as long as the capture. */
typedef struct lm_capture_body {
    lm_body_id id;
    const char *name;
    const uint8_t
        *colours; /* red, green, blue (sRGB) for each vertex of the surface as it was given, or one for all; or null */
    uint32_t colour_count;
    const float *uvs; /* two for each of uv_count vertices of the surface as it was given, v upwards; or null */
    uint32_t uv_count;
    lm_seams_surface seams; /* or texture coordinates of corners, where vertices may have several; all zero: none */
} lm_capture_body;

typedef struct lm_capture lm_capture;

/* Null when out of memory. */
lm_capture *lm_capture_create(const lm_capture_body *bodies, uint32_t count);
void lm_capture_destroy(lm_capture *capture);

/* The bodies as they are now: what `wants` says (lm_export_wants). A body without a surface is a cloud of its particles. With z_up
 * everything is turned so that Z points up. The frame is valid until the next call. */
lm_result lm_capture_take(lm_capture *capture, const lm_world *world, unsigned wants, bool z_up,
                          lm_export_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
