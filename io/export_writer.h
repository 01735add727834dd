/* What the exporters of all formats share: a table of functions for each format, and the state that they work on. */
#ifndef LIMBER_IO_EXPORT_WRITER_H
#define LIMBER_IO_EXPORT_WRITER_H

#include "limber/export.h"
#include "support/partial.h"
#include "support/text.h"

typedef struct export_writer {
    const char *name; /* "pc2", which is the ending of its files too */
    const char *doc;
    unsigned wants;    /* bits of lm_export_want */
    bool constant;     /* bodies keep their topology */
    size_t state_size; /* of what export_state gives, zeroed */
    /* Each: false and out->error on failure. `begin` has the first frame, which is then added as all others are. */
    bool (*begin)(lm_exporter *out, const lm_export_frame *first);
    bool (*add)(lm_exporter *out, const lm_export_frame *frame);
    bool (*finish)(lm_exporter *out);
    /* Frees the state and drops files that were not kept; called whenever `begin` was, whatever that returned. */
    void (*close)(lm_exporter *out);
} export_writer;

extern const export_writer lmi_export_pc2, lmi_export_mdd, lmi_export_obj, lmi_export_ply, lmi_export_vtu,
    lmi_export_csv, lmi_export_usda, lmi_export_glb;

struct lm_exporter {
    const export_writer *writer;
    lm_export_options options;
    char *path;
    uint32_t frames; /* added so far */
    uint32_t body_count;
    uint64_t *shapes; /* of bodies, in the frame before */
    bool begun;
    void *state;
    lm_export_loss loss;
    lm_export_error error;
};

/* Fills out->error with "FILE: ..."; returns false. */
bool lmi_export_fail(lm_exporter *out, const char *format, ...) LIKE_PRINTF(2, 3);

/* Out of memory. */
bool lmi_export_fail_memory(lm_exporter *out);

/* The path with another ending, as ".obj"; null when out of memory. To be freed. */
char *lmi_export_beside(const char *path, const char *ending);

/* A frame as the text of an OBJ file, laid out as obj_layout says. False and out->error when out of memory. */
bool lmi_export_print_obj(lm_exporter *out, FILE *file, const lm_export_frame *frame, unsigned layout);

/* All vertices of a frame. */
uint64_t lmi_export_count_vertices(const lm_export_frame *frame);

/* Little-endian and big-endian numbers into a file. */
void lmi_export_put_u32(FILE *file, uint32_t value);
void lmi_export_put_u32_big(FILE *file, uint32_t value);
uint32_t lmi_export_float_bits(float value);

/* An array of floats or 32-bit integers, little-endian whatever the host is. */
void lmi_export_put_words(FILE *file, const void *words, size_t count);

#endif
