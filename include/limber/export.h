/*
 * Motion into files of other programs: surfaces and particles of bodies, frame by frame. docs/export.md is for users.
 *
 *     lm_export_options options = lm_export_options_default();
 *     options.frame_count = 61;
 *     lm_exporter *out = lm_export_open("jelly.usda", &options, &error);
 *     for each frame: lm_export_add(out, &frame, &error);
 *     lm_export_finish(out, &error);
 *
 * Frames come from anywhere; capture.h takes them from a world. A frame is written when it is added, or put aside on disk where a
 * format wants another order: memory does not grow with the number of frames. Files take their places when all of them are whole,
 * and none does when something fails.
 */
#ifndef LIMBER_EXPORT_H
#define LIMBER_EXPORT_H

#include "limber/limber.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LM_EXPORT_ERROR_SIZE 512
#define LM_EXPORT_MAX_FRAMES 10000000u
#define LM_EXPORT_MAX_JOINTS 4096u /* for each body */
#define LM_EXPORT_NO_REGION UINT32_MAX

/* One line: "FILE: what is wrong". */
typedef struct lm_export_error {
    char text[LM_EXPORT_ERROR_SIZE];
} lm_export_error;

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

/* What a format needs of bodies; the rest may be left out. */
typedef enum lm_export_want {
    LM_EXPORT_SURFACE = 1 << 0,   /* positions, normals, colours, triangles */
    LM_EXPORT_REST = 1 << 1,      /* `rest` and `centres` */
    LM_EXPORT_PARTICLES = 1 << 2, /* `particles` */
    LM_EXPORT_MEASURES = 1 << 3   /* `info` */
} lm_export_want;

/* The inside of a body: one value for each particle. */
typedef struct lm_export_particles {
    uint32_t count;
    const lm_vec3 *positions;
    const lm_vec3 *velocities; /* m/s */
    const float *masses;       /* kg */
    const float
        *strains; /* Green's strain of the particle's region: xx, yy, zz, xy, yz, zx along the body's rest axes */
    const float *stretches; /* of the same region the stretch that is farthest from 1, less 1 */
    const float *stresses;  /* Cauchy's, Pa: xx, yy, zz, xy, yz, zx along the file's axes */
    const float *von_mises; /* Pa */
    const uint32_t
        *regions; /* of the regions that it is in, the one whose middle at rest is nearest; or LM_EXPORT_NO_REGION */
    const uint32_t *pieces;
    const uint32_t *tets; /* four particles each; may be null */
    uint32_t tet_count;
} lm_export_particles;

/* One body at one moment. Positions are in the world, along the axes that the file shall have. */
typedef struct lm_export_body {
    const char *name;
    uint32_t vertex_count;
    uint32_t triangle_count; /* 0: a cloud of points */
    const lm_vec3 *positions;
    const lm_vec3 *normals;    /* may be null */
    const uint8_t *colours;    /* red, green, blue (sRGB) for each vertex; may be null */
    const float *uvs;          /* two for each vertex, v upwards; may be null */
    const uint32_t *triangles; /* three vertices each */
    uint64_t shape;            /* another one when vertices or triangles are others than in the frame before */
    const lm_vec3 *rest;       /* of vertices, in a frame of the body's own */
    const lm_vec3 *centres;    /* of regions at rest, in the same frame: where joints are useful */
    uint32_t centre_count;
    lm_export_particles particles;
    lm_body_info info;
} lm_export_body;

/* All frames of a file have the same bodies in the same order. */
typedef struct lm_export_frame {
    double time; /* seconds since the start of the lm_scene */
    const lm_export_body *bodies;
    uint32_t body_count;
} lm_export_frame;

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

/* How a GLB moves. */
typedef enum lm_export_motion {
    LM_EXPORT_JOINTS, /* a skin on a few joints for each body: compact, and not exact */
    LM_EXPORT_MORPHS, /* a morph target for each frame: exact, and large */
    LM_EXPORT_MOTION_COUNT
} lm_export_motion;

typedef struct lm_export_options {
    const char *format;      /* a name of lm_export_format_name; null (default): by the ending of the file's name */
    uint32_t frame_count;    /* frames that will be added, 1 to LM_EXPORT_MAX_FRAMES; no default */
    double rate;             /* of them in a second; default 60 */
    bool z_up;               /* Z points up in what is added; default false: Y does */
    lm_export_motion motion; /* GLB; default LM_EXPORT_JOINTS */
    uint32_t joints;         /* GLB: for each body, 1 to LM_EXPORT_MAX_JOINTS; default 32 */
    uint32_t influences;     /* GLB: joints for each vertex, 4 (default) or 8 */
} lm_export_options;

lm_export_options lm_export_options_default(void);

/* What a GLB with joints lacks: distances of vertices as a player shows them from where they are. Zero for other files. */
typedef struct lm_export_loss {
    double largest, mean; /* metres; the mean is the root of the mean square */
    double size;          /* of the largest body, the diagonal of its box at rest, metres */
} lm_export_loss;

typedef struct lm_exporter lm_exporter;

/* The formats, by number; null past the end. */
const char *lm_export_format_name(uint32_t format);
const char *lm_export_format_doc(uint32_t format);

/* The format of a file's name, or null. */
const char *lm_export_format_of(const char *path);

/* Checks the options, and that the file can be written. Null and *error on failure. */
lm_exporter *lm_export_open(const char *path, const lm_export_options *options, lm_export_error *error);

/* Bits of lm_export_want. */
unsigned lm_export_wants(const lm_exporter *out);

/* Writes a frame. False and *error on failure: then abandon the exporter. Values that are not finite and indices out of range are
 * refused, as is another topology than before where the format cannot have that. */
bool lm_export_add(lm_exporter *out, const lm_export_frame *frame, lm_export_error *error);

/* Completes the files and frees the exporter, on failure too. `loss` may be null. */
bool lm_export_finish(lm_exporter *out, lm_export_loss *loss, lm_export_error *error);

/* Frees the exporter and leaves no file behind. Null is allowed. */
void lm_export_abandon(lm_exporter *out);

#ifdef __cplusplus
}
#endif

#endif
