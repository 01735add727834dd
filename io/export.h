/*
 * Motion into files of other programs: surfaces and particles of bodies, frame by frame. docs/export.md is for users.
 *
 *     export_options options = export_options_default();
 *     options.frame_count = 61;
 *     exporter *out = export_open("jelly.usda", &options, &error);
 *     for each frame: export_add(out, &frame, &error);
 *     export_finish(out, &error);
 *
 * Frames come from anywhere; capture.h takes them from a world. A frame is written when it is added, or put aside on disk where a
 * format wants another order: memory does not grow with the number of frames. Files take their places when all of them are whole
 * (partial.h), and none does when something fails.
 */
#ifndef LIMBER_IO_EXPORT_H
#define LIMBER_IO_EXPORT_H

#include "io/partial.h"
#include "limber/limber.h"

#define EXPORT_ERROR_SIZE PARTIAL_ERROR_SIZE
#define EXPORT_MAX_FRAMES 10000000u
#define EXPORT_MAX_JOINTS 4096u /* for each body */
#define EXPORT_NO_REGION UINT32_MAX

/* One line: "FILE: what is wrong". */
typedef struct export_error {
    char text[EXPORT_ERROR_SIZE];
} export_error;

/* ------------------------------------------------------------------------------------------------------------------
 * Frames
 */

/* What a format needs of bodies; the rest may be left out. */
typedef enum export_want {
    EXPORT_SURFACE = 1 << 0,   /* positions, normals, colours, triangles */
    EXPORT_REST = 1 << 1,      /* `rest` and `centres` */
    EXPORT_PARTICLES = 1 << 2, /* `particles` */
    EXPORT_MEASURES = 1 << 3   /* `info` */
} export_want;

/* The inside of a body: one value for each particle. */
typedef struct export_particles {
    uint32_t count;
    const lm_vec3 *positions;
    const lm_vec3 *velocities; /* m/s */
    const float *masses;       /* kg */
    const float
        *strains; /* Green's strain of the particle's region: xx, yy, zz, xy, yz, zx along the body's rest axes */
    const float *stretches; /* of the same region the stretch that is farthest from 1, less 1 */
    const uint32_t
        *regions; /* of the regions that it is in, the one whose middle at rest is nearest; or EXPORT_NO_REGION */
    const uint32_t *pieces;
    const uint32_t *tets; /* four particles each; may be null */
    uint32_t tet_count;
} export_particles;

/* One body at one moment. Positions are in the world, along the axes that the file shall have. */
typedef struct export_body {
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
    export_particles particles;
    lm_body_info info;
} export_body;

/* All frames of a file have the same bodies in the same order. */
typedef struct export_frame {
    double time; /* seconds since the start of the scene */
    const export_body *bodies;
    uint32_t body_count;
} export_frame;

/* ------------------------------------------------------------------------------------------------------------------
 * Files
 */

/* How a GLB moves. */
typedef enum export_motion {
    EXPORT_JOINTS, /* a skin on a few joints for each body: compact, and not exact */
    EXPORT_MORPHS, /* a morph target for each frame: exact, and large */
    EXPORT_MOTION_COUNT
} export_motion;

typedef struct export_options {
    const char *format;   /* a name of export_format_name; null (default): by the ending of the file's name */
    uint32_t frame_count; /* frames that will be added, 1 to EXPORT_MAX_FRAMES; no default */
    double rate;          /* of them in a second; default 60 */
    bool z_up;            /* Z points up in what is added; default false: Y does */
    export_motion motion; /* GLB; default EXPORT_JOINTS */
    uint32_t joints;      /* GLB: for each body, 1 to EXPORT_MAX_JOINTS; default 32 */
    uint32_t influences;  /* GLB: joints for each vertex, 4 (default) or 8 */
} export_options;

export_options export_options_default(void);

/* What a GLB with joints lacks: distances of vertices as a player shows them from where they are. Zero for other files. */
typedef struct export_loss {
    double largest, mean; /* metres; the mean is the root of the mean square */
    double size;          /* of the largest body, the diagonal of its box at rest, metres */
} export_loss;

typedef struct exporter exporter;

/* The formats, by number; null past the end. */
const char *export_format_name(uint32_t format);
const char *export_format_doc(uint32_t format);

/* The format of a file's name, or null. */
const char *export_format_of(const char *path);

/* Checks the options, and that the file can be written. Null and *error on failure. */
exporter *export_open(const char *path, const export_options *options, export_error *error);

/* Bits of export_want. */
unsigned export_wants(const exporter *out);

/* Writes a frame. False and *error on failure: then abandon the exporter. Values that are not finite and indices out of range are
 * refused, as is another topology than before where the format cannot have that. */
bool export_add(exporter *out, const export_frame *frame, export_error *error);

/* Completes the files and frees the exporter, on failure too. `loss` may be null. */
bool export_finish(exporter *out, export_loss *loss, export_error *error);

/* Frees the exporter and leaves no file behind. Null is allowed. */
void export_abandon(exporter *out);

#endif
