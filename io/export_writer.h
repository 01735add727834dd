/* What the exporters of all formats share: a table of functions for each format, and the state that they work on. */
#ifndef LIMBER_IO_EXPORT_WRITER_H
#define LIMBER_IO_EXPORT_WRITER_H

#include "io/export.h"
#include "io/text.h"

typedef struct export_writer {
    const char *name; /* "pc2", which is the ending of its files too */
    const char *doc;
    unsigned wants;    /* bits of export_want */
    bool constant;     /* bodies keep their topology */
    size_t state_size; /* of what export_state gives, zeroed */
    /* Each: false and out->error on failure. `begin` has the first frame, which is then added as all others are. */
    bool (*begin)(exporter *out, const export_frame *first);
    bool (*add)(exporter *out, const export_frame *frame);
    bool (*finish)(exporter *out);
    /* Frees the state and drops files that were not kept; called whenever `begin` was, whatever that returned. */
    void (*close)(exporter *out);
} export_writer;

extern const export_writer export_pc2, export_mdd, export_obj, export_ply, export_vtu, export_csv, export_usda,
    export_glb;

struct exporter {
    const export_writer *writer;
    export_options options;
    char *path;
    uint32_t frames; /* added so far */
    uint32_t body_count;
    uint64_t *shapes; /* of bodies, in the frame before */
    bool begun;
    void *state;
    export_loss loss;
    export_error error;
};

/* Fills out->error with "FILE: ..."; returns false. */
bool export_fail(exporter *out, const char *format, ...) TEXT_PRINTF(2, 3);

/* Out of memory. */
bool export_fail_memory(exporter *out);

/* The path with another ending, as ".obj"; null when out of memory. To be freed. */
char *export_beside(const char *path, const char *ending);

/* A frame as the text of an OBJ file, laid out as obj_layout says. False and out->error when out of memory. */
bool export_print_obj(exporter *out, FILE *file, const export_frame *frame, unsigned layout);

/* All vertices of a frame. */
uint64_t export_count_vertices(const export_frame *frame);

/* Little-endian and big-endian numbers into a file. */
void export_put_u32(FILE *file, uint32_t value);
void export_put_u32_big(FILE *file, uint32_t value);
uint32_t export_float_bits(float value);

/* An array of floats or 32-bit integers, little-endian whatever the host is. */
void export_put_words(FILE *file, const void *words, size_t count);

#endif
