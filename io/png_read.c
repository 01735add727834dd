/*
 * A PNG file is a signature and chunks: a header, for some a palette, the data, and an end, each with a checksum. The data of
 * all IDAT chunks is one compressed stream (inflate.h) of rows; before each row stands how its bytes are told from those to
 * the left and above (the filter).
 */
#include "io/inflate.h"
#include "io/mesh_reader.h"
#include "io/png.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_GREY = 0, KIND_COLOUR = 2, KIND_PALETTE = 3, KIND_GREY_ALPHA = 4, KIND_COLOUR_ALPHA = 6 };

typedef struct png_reader {
    const char *name;
    const uint8_t *at, *end; /* of the file */
    png_error *error;
    png_picture *picture;
    uint32_t depth, kind; /* bits of a sample, and what a pixel consists of */
    uint32_t samples;     /* of a pixel */
    const uint8_t *palette;
    uint32_t palette_size; /* colours */
    bool began;            /* the IDAT chunk that `at` stands behind was given out */
    const uint8_t *data;   /* of the first one */
    size_t data_length;
    size_t row_bytes, step; /* of a row, and from a byte to that of the pixel before */
    uint8_t *row, *above;   /* with the filter's byte before each */
    size_t filled;          /* of `row` */
    uint32_t done;          /* rows */
} png_reader;

/* Fills the error unless there is one, and is false. */
static bool fail(png_reader *r, const char *format, ...) LIKE_PRINTF(2, 3);

static bool fail(png_reader *r, const char *format, ...)
{
    if (r->error->text[0] == '\0') {
        int used = snprintf(r->error->text, sizeof r->error->text, "%.160s: ", r->name);
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r->error->text + used, sizeof r->error->text - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Chunks
 */

static uint32_t word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The cyclic redundancy check of the format, over the name and the contents of a chunk; four bits at a time. */
static uint32_t check_of(const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ table[sum & 15u];
        sum = sum >> 4 ^ table[sum & 15u];
    }
    return ~sum;
}

typedef struct png_chunk {
    const uint8_t *name, *data;
    uint32_t length;
} png_chunk;

static bool is_called(const png_chunk *chunk, const char *name) { return memcmp(chunk->name, name, 4) == 0; }

static bool next_chunk(png_reader *r, png_chunk *chunk)
{
    size_t left = (size_t)(r->end - r->at);
    if (left < 12) {
        return fail(r, "ends too soon (expected another chunk)");
    }
    chunk->length = word(r->at);
    chunk->name = r->at + 4;
    chunk->data = r->at + 8;
    if (chunk->length > left - 12) {
        return fail(r, "ends too soon (a chunk says that it has %u bytes, and there are %zu)", (unsigned)chunk->length,
                    left - 12);
    }
    if (check_of(chunk->name, chunk->length + (size_t)4) != word(chunk->data + chunk->length)) {
        return fail(r, "the checksum of a chunk is wrong (the file is damaged)");
    }
    r->at = chunk->data + chunk->length + 4;
    return true;
}

static bool read_header(png_reader *r, uint32_t most)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (r->end - r->at < 8 || memcmp(r->at, signature, 8) != 0) {
        return fail(r, "is no PNG file");
    }
    r->at += 8;
    png_chunk chunk;
    if (!next_chunk(r, &chunk)) {
        return false;
    }
    if (!is_called(&chunk, "IHDR") || chunk.length != 13) {
        return fail(r, "does not begin with a header of 13 bytes");
    }
    const uint8_t *h = chunk.data;
    uint32_t columns = word(h), rows = word(h + 4);
    r->depth = h[8];
    r->kind = h[9];
    if (columns < 1 || rows < 1 || columns > most || rows > most) {
        return fail(r, "has %u columns and %u rows (expected 1 to %u of each)", (unsigned)columns, (unsigned)rows,
                    (unsigned)most);
    }
    static const uint8_t samples[7] = {1, 0, 3, 1, 2, 0, 4};
    r->samples = r->kind < 7 ? samples[r->kind] : 0;
    bool narrow = r->depth == 1 || r->depth == 2 || r->depth == 4;
    bool fits = r->depth == 8 || (r->depth == 16 && r->kind != KIND_PALETTE) ||
                (narrow && (r->kind == KIND_GREY || r->kind == KIND_PALETTE));
    if (r->samples == 0 || !fits || h[10] != 0 || h[11] != 0) {
        return fail(r, "has a kind of pixels that PNG does not know (%u bits, colour type %u)", (unsigned)r->depth,
                    (unsigned)r->kind);
    }
    if (h[12] != 0) {
        return fail(r, "is interlaced (expected a picture that is not)");
    }
    r->picture->columns = columns;
    r->picture->rows = rows;
    return true;
}

/* Up to the first chunk of data. Unknown chunks that matter begin with a capital letter. */
static bool find_data(png_reader *r)
{
    for (;;) {
        png_chunk chunk;
        if (!next_chunk(r, &chunk)) {
            return false;
        }
        if (is_called(&chunk, "IDAT")) {
            r->data = chunk.data;
            r->data_length = chunk.length;
            return r->kind != KIND_PALETTE || r->palette_size > 0 || fail(r, "has no palette (expected one)");
        }
        if (is_called(&chunk, "IEND")) {
            return fail(r, "holds no picture");
        }
        if (is_called(&chunk, "PLTE")) {
            if (chunk.length % 3 != 0 || chunk.length < 3 || chunk.length > 768) {
                return fail(r, "has a palette of %u bytes (expected three for each of 1 to 256 colours)",
                            (unsigned)chunk.length);
            }
            r->palette = chunk.data;
            r->palette_size = chunk.length / 3;
        } else if ((chunk.name[0] & 32u) == 0) {
            return fail(r, "has a chunk that is not known and may not be left out");
        }
    }
}

/* The pieces of the stream: IDAT chunks stand one behind the other. */
static const uint8_t *next_data(void *user, size_t *length)
{
    png_reader *r = user;
    if (!r->began) {
        r->began = true;
        *length = r->data_length;
        return r->data;
    }
    png_chunk chunk;
    if (r->at == r->end || !next_chunk(r, &chunk) || !is_called(&chunk, "IDAT")) {
        return NULL;
    }
    *length = chunk.length;
    return chunk.data;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rows
 */

/* Of the three, the one nearest to left + above - corner. */
static uint8_t paeth(int left, int above, int corner)
{
    int base = left + above - corner;
    int a = abs(base - left), b = abs(base - above), c = abs(base - corner);
    return (uint8_t)(a <= b && a <= c ? left : b <= c ? above : corner);
}

static bool unfilter(png_reader *r)
{
    uint8_t *row = r->row + 1;
    const uint8_t *above = r->above + 1;
    uint8_t filter = r->row[0];
    if (filter > 4) {
        return fail(r, "row %u has the filter %u (expected 0 to 4)", (unsigned)r->done, (unsigned)filter);
    }
    for (size_t i = 0; i < r->row_bytes; i++) {
        uint8_t left = i >= r->step ? row[i - r->step] : 0, corner = i >= r->step ? above[i - r->step] : 0;
        switch (filter) {
        case 1: row[i] = (uint8_t)(row[i] + left); break;
        case 2: row[i] = (uint8_t)(row[i] + above[i]); break;
        case 3: row[i] = (uint8_t)(row[i] + (left + above[i]) / 2); break;
        case 4: row[i] = (uint8_t)(row[i] + paeth(left, above[i], corner)); break;
        default: break;
        }
    }
    return true;
}

/* A sample of the row as the file has it. */
static uint32_t sample(const png_reader *r, size_t index)
{
    const uint8_t *row = r->row + 1;
    if (r->depth == 16) {
        return (uint32_t)row[2 * index] << 8 | row[2 * index + 1];
    }
    size_t bit = index * r->depth;
    return (uint32_t)row[bit / 8] >> (8 - r->depth - bit % 8) & ((1u << r->depth) - 1u);
}

/* How bright a colour of 16 bits a channel looks: the shares of ITU-R BT.709, which add up to 65536. */
static uint16_t grey_of(uint32_t red, uint32_t green, uint32_t blue)
{
    return (uint16_t)((13933ull * red + 46871ull * green + 4732ull * blue + 32768ull) >> 16);
}

static bool keep_row(png_reader *r)
{
    uint16_t *out = r->picture->grey + (size_t)r->done * r->picture->columns;
    uint32_t unit = 65535u / ((1u << r->depth) - 1u); /* 16 bits are a multiple of any fewer */
    for (uint32_t x = 0; x < r->picture->columns; x++) {
        size_t first = (size_t)x * r->samples;
        uint32_t value = sample(r, first);
        if (r->kind == KIND_PALETTE) {
            if (value >= r->palette_size) {
                return fail(r, "row %u has colour %u of a palette of %u", (unsigned)r->done, (unsigned)value,
                            (unsigned)r->palette_size);
            }
            const uint8_t *c = r->palette + 3 * (size_t)value;
            out[x] = grey_of(257u * c[0], 257u * c[1], 257u * c[2]);
        } else if (r->kind == KIND_COLOUR || r->kind == KIND_COLOUR_ALPHA) {
            out[x] = grey_of(unit * value, unit * sample(r, first + 1), unit * sample(r, first + 2));
        } else {
            out[x] = (uint16_t)(unit * value);
        }
    }
    return true;
}

/* What was decompressed, into rows. */
static bool take_rows(void *user, const uint8_t *bytes, size_t count)
{
    png_reader *r = user;
    while (count > 0) {
        if (r->done == r->picture->rows) {
            return fail(r, "holds more than %u rows", (unsigned)r->picture->rows);
        }
        size_t wanted = r->row_bytes + 1 - r->filled, part = count < wanted ? count : wanted;
        memcpy(r->row + r->filled, bytes, part);
        r->filled += part;
        bytes += part;
        count -= part;
        if (part < wanted) {
            return true;
        }
        if (!unfilter(r) || !keep_row(r)) {
            return false;
        }
        uint8_t *row = r->row;
        r->row = r->above;
        r->above = row;
        r->filled = 0;
        r->done++;
    }
    return true;
}

static bool read_rows(png_reader *r)
{
    size_t bits = (size_t)r->depth * r->samples;
    r->row_bytes = (bits * r->picture->columns + 7) / 8;
    r->step = bits < 8 ? 1 : bits / 8;
    r->row = calloc(1, r->row_bytes + 1);
    r->above = calloc(1, r->row_bytes + 1);
    r->picture->grey = calloc((size_t)r->picture->rows * r->picture->columns, sizeof *r->picture->grey);
    if (r->row == NULL || r->above == NULL || r->picture->grey == NULL) {
        return fail(r, "out of memory");
    }
    inflate_ends ends = {next_data, take_rows, r};
    switch (lmi_inflate_stream(&ends)) {
    case INFLATE_OK: break;
    case INFLATE_TRUNCATED:
        return fail(r, "ends too soon (in row %u of %u)", (unsigned)r->done, (unsigned)r->picture->rows);
    case INFLATE_MEMORY: return fail(r, "out of memory");
    default: return fail(r, "its data is damaged (in row %u of %u)", (unsigned)r->done, (unsigned)r->picture->rows);
    }
    return r->done == r->picture->rows ||
           fail(r, "holds %u rows (its header says %u)", (unsigned)r->done, (unsigned)r->picture->rows);
}

bool lmi_png_read(const char *name, const uint8_t *bytes, size_t size, uint32_t most, png_picture *picture,
                  png_error *error)
{
    png_reader r = {.name = name, .at = bytes, .end = bytes + size, .error = error, .picture = picture};
    *picture = (png_picture){0};
    error->text[0] = '\0';
    bool ok = read_header(&r, most) && find_data(&r) && read_rows(&r);
    free(r.row);
    free(r.above);
    if (!ok) {
        lmi_png_free(picture);
    }
    return ok;
}

bool lmi_png_read_file(const char *path, uint32_t most, png_picture *picture, png_error *error)
{
    size_t size = 0;
    const char *reason = NULL;
    char *bytes = lmi_mesh_load(path, &size, &reason);
    *picture = (png_picture){0};
    if (bytes == NULL) {
        snprintf(error->text, sizeof error->text, "%.160s: %.100s", path, reason);
        return false;
    }
    bool ok = lmi_png_read(path, (const uint8_t *)bytes, size, most, picture, error);
    free(bytes);
    return ok;
}

void lmi_png_free(png_picture *picture)
{
    free(picture->grey);
    *picture = (png_picture){0};
}
