/*
 * PNG files as shades of grey: every kind of pixel and filter, streams of every kind of block, and files that are cut off,
 * damaged, or say more of themselves than is true.
 */
#include "io/png.h"
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Making files
 */

typedef struct file {
    uint8_t bytes[20000];
    size_t size;
} file;

static void add_bytes(file *f, const void *bytes, size_t count)
{
    assert_true(f->size + count <= sizeof f->bytes);
    memcpy(f->bytes + f->size, bytes, count);
    f->size += count;
}

static void add_word(file *f, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    add_bytes(f, bytes, 4);
}

/* Bit by bit, as the standard defines it. */
static uint32_t check_of(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum & 1u ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    return ~sum;
}

static void add_chunk(file *f, const char *name, const void *data, size_t length)
{
    add_word(f, (uint32_t)length);
    size_t start = f->size;
    add_bytes(f, name, 4);
    if (length > 0) add_bytes(f, data, length);
    add_word(f, check_of(f->bytes + start, f->size - start));
}

static void add_header(file *f, uint32_t columns, uint32_t rows, uint8_t depth, uint8_t kind, uint8_t interlaced)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    file h = {.size = 0};
    uint8_t rest[5] = {depth, kind, 0, 0, interlaced};
    add_word(&h, columns);
    add_word(&h, rows);
    add_bytes(&h, rest, 5);
    add_bytes(f, signature, 8);
    add_chunk(f, "IHDR", h.bytes, h.size);
}

/* A zlib stream of stored blocks of at most `most` bytes. */
static file stored(const uint8_t *bytes, size_t count, size_t most)
{
    file z = {.size = 0};
    uint32_t a = 1, b = 0;
    add_bytes(&z, "\x78\x01", 2);
    for (size_t at = 0; at < count || at == 0;) {
        size_t part = count - at < most ? count - at : most;
        uint8_t head[5] = {at + part == count, (uint8_t)part, (uint8_t)(part >> 8), (uint8_t)~part,
                           (uint8_t)(~part >> 8)};
        add_bytes(&z, head, 5);
        add_bytes(&z, bytes + at, part);
        at += part;
        if (count == 0) break;
    }
    for (size_t i = 0; i < count; i++) {
        a = (a + bytes[i]) % 65521u;
        b = (b + a) % 65521u;
    }
    add_word(&z, b << 16 | a);
    return z;
}

/* A whole file with these rows, each with its filter's byte before it. */
static file picture(uint32_t columns, uint32_t rows, uint8_t depth, uint8_t kind, const uint8_t *data, size_t count)
{
    file f = {.size = 0};
    file z = stored(data, count, 65535);
    add_header(&f, columns, rows, depth, kind, 0);
    if (kind == 3) add_chunk(&f, "PLTE", "\xff\0\0\0\xff\0\0\0\xff\x80\x80\x80", 12);
    add_chunk(&f, "tEXt", "Comment\0nothing", 15);
    add_chunk(&f, "IDAT", z.bytes, z.size);
    add_chunk(&f, "IEND", NULL, 0);
    return f;
}

static png_picture read_good(const file *f)
{
    png_picture p;
    png_error error;
    if (!lmi_png_read("p.png", f->bytes, f->size, 4096, &p, &error)) fail_msg("%s", error.text);
    return p;
}

static void refuse(const file *f, size_t size, const char *expected)
{
    png_picture p;
    png_error error;
    assert_false(lmi_png_read("p.png", f->bytes, size, 4096, &p, &error));
    assert_null(p.grey);
    assert_null(strchr(error.text, '\n'));
    if (expected != NULL) assert_string_equal(error.text, expected);
    assert_memory_equal(error.text, "p.png: ", 7);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is read
 */

#define READ(columns, rows, depth, kind, data)                                                                         \
    picture(columns, rows, depth, kind, (const uint8_t *)(data), sizeof(data) - 1)

static void every_kind_of_pixel(void **context)
{
    (void)context;
    static const struct {
        uint32_t columns, depth, kind;
        const char *row;
        size_t length;
        uint32_t grey[4];
    } cases[] = {
        {4, 1, 0, "\0\x90", 2, {65535, 0, 0, 65535}},
        {4, 2, 0, "\0\x1b", 2, {0, 21845, 43690, 65535}},
        {3, 4, 0, "\0\x0f\x80", 3, {0, 65535, 8 * 4369}},
        {3, 8, 0, "\0\x00\x80\xff", 4, {0, 128 * 257, 65535}},
        {2, 16, 0, "\0\x12\x34\xff\xfe", 5, {0x1234, 0xfffe}},
        {3, 8, 2, "\0\xff\0\0\0\xff\0\0\0\xff", 10, {13933, 46870, 4732}},
        {1, 8, 2, "\0\x40\x40\x40", 4, {64 * 257}},
        {1, 16, 2, "\0\xff\xff\xff\xff\xff\xff", 7, {65535}},
        {4, 2, 3, "\0\x1b", 2, {13933, 46870, 4732, 128 * 257}},
        {2, 8, 3, "\0\x03\x00", 3, {128 * 257, 13933}},
        {2, 8, 4, "\0\x20\x00\x30\xff", 5, {32 * 257, 48 * 257}},
        {1, 16, 4, "\0\xab\xcd\x00\x00", 5, {0xabcd}},
        {2, 8, 6, "\0\xff\xff\xff\x00\x01\x01\x01\xff", 9, {65535, 257}},
        {1, 16, 6, "\0\x10\x00\x10\x00\x10\x00\x00\x00", 9, {0x1000}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        file f = picture(cases[k].columns, 1, (uint8_t)cases[k].depth, (uint8_t)cases[k].kind,
                         (const uint8_t *)cases[k].row, cases[k].length);
        png_picture p = read_good(&f);
        assert_int_equal(p.columns, cases[k].columns);
        assert_int_equal(p.rows, 1);
        for (uint32_t x = 0; x < p.columns; x++)
            if (abs((int)p.grey[x] - (int)cases[k].grey[x]) > 1)
                fail_msg("case %zu: pixel %u is %u, not %u", k, x, p.grey[x], cases[k].grey[x]);
        lmi_png_free(&p);
    }
}

static uint8_t told_from(int filter, int left, int above, int corner)
{
    int p = left + above - corner, a = abs(p - left), b = abs(p - above), c = abs(p - corner);
    int nearest = a <= b && a <= c ? left : b <= c ? above : corner;
    const int all[5] = {0, left, above, (left + above) / 2, nearest};
    return (uint8_t)all[filter];
}

/* Rows of colours whose bytes are told by each of the filters, in chunks cut anywhere. */
static void every_filter_in_any_number_of_chunks(void **context)
{
    (void)context;
    enum { COLUMNS = 21, ROWS = 15, BYTES = 3 * COLUMNS };
    static uint8_t pixels[ROWS][BYTES], data[ROWS * (BYTES + 1)];
    for (int y = 0; y < ROWS; y++)
        for (int i = 0; i < BYTES; i++) pixels[y][i] = (uint8_t)(i * i * 7 + y * 31 + i * y);
    for (int y = 0; y < ROWS; y++) {
        uint8_t *out = data + y * (BYTES + 1);
        *out++ = (uint8_t)(y % 5);
        for (int i = 0; i < BYTES; i++) {
            int left = i >= 3 ? pixels[y][i - 3] : 0, above = y > 0 ? pixels[y - 1][i] : 0;
            int corner = i >= 3 && y > 0 ? pixels[y - 1][i - 3] : 0;
            out[i] = (uint8_t)(pixels[y][i] - told_from(y % 5, left, above, corner));
        }
    }
    for (size_t piece = 1; piece < 700; piece = piece * 3 + 1) {
        file z = stored(data, sizeof data, 100), f = {.size = 0};
        add_header(&f, COLUMNS, ROWS, 8, 2, 0);
        for (size_t at = 0; at < z.size; at += piece) {
            size_t left = z.size - at;
            add_chunk(&f, "IDAT", z.bytes + at, left < piece ? left : piece);
            if (at == 0) add_chunk(&f, "IDAT", NULL, 0);
        }
        add_chunk(&f, "IEND", NULL, 0);
        png_picture p = read_good(&f);
        for (int k = 0; k < ROWS * COLUMNS; k++) {
            const uint8_t *c = pixels[k / COLUMNS] + 3 * (k % COLUMNS);
            double grey = 257.0 * (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
            assert_near(p.grey[k], grey, 2.0);
        }
        lmi_png_free(&p);
    }
}

/* 64 x 48 pixels of 16 (((x² + y²) / 50) mod 16), with codes of its own and copies, as another program has compressed it. */
static const uint8_t rings[] = {
    0x78, 0xda, 0xad, 0x96, 0x7d, 0x95, 0xa5, 0x30, 0x0c, 0xc5, 0x23, 0x01, 0x09, 0x48, 0xa8, 0x04, 0x24, 0x20, 0xa1,
    0x12, 0x90, 0x80, 0x04, 0x24, 0x20, 0xa1, 0x12, 0x2a, 0x01, 0x09, 0x48, 0x40, 0xc2, 0xa6, 0xf9, 0x6a, 0x52, 0xde,
    0xce, 0xce, 0x39, 0x6f, 0xf9, 0x87, 0x39, 0xef, 0xcc, 0xef, 0xd2, 0xa4, 0x37, 0xb7, 0x05, 0x90, 0x67, 0x9a, 0xe6,
    0x79, 0x4e, 0x69, 0x59, 0xd7, 0xbc, 0xed, 0xfb, 0x71, 0x96, 0x7a, 0xdd, 0x0f, 0xcc, 0xf8, 0xc3, 0xb6, 0x1f, 0xa5,
    0xde, 0x30, 0xa5, 0x25, 0xef, 0x27, 0xfe, 0x31, 0xcb, 0x3b, 0xad, 0xf8, 0x7a, 0x3a, 0xff, 0x6f, 0x81, 0x35, 0x08,
    0x4c, 0x1f, 0x05, 0x96, 0x8f, 0x02, 0xe7, 0x6f, 0x05, 0x92, 0x0a, 0x1c, 0x22, 0x30, 0xa9, 0xc0, 0xf5, 0x17, 0x81,
    0xeb, 0xe9, 0xbc, 0x0a, 0xe4, 0x26, 0x70, 0x92, 0x00, 0x34, 0x81, 0xdc, 0x05, 0x36, 0x27, 0xf0, 0x04, 0x81, 0xc9,
    0xb7, 0x80, 0x04, 0xb8, 0x02, 0x16, 0x38, 0x48, 0x60, 0x46, 0x81, 0xc3, 0x04, 0x2e, 0x14, 0xc8, 0x26, 0xd0, 0x79,
    0xaa, 0x20, 0x08, 0xac, 0x4d, 0xa0, 0xe2, 0x3f, 0xce, 0x58, 0x0c, 0x75, 0xb3, 0x09, 0x14, 0x14, 0xa0, 0x97, 0xd0,
    0x4e, 0x20, 0xfb, 0x1e, 0x4e, 0x48, 0xe5, 0xdd, 0x0b, 0x20, 0x38, 0xcb, 0x5b, 0x04, 0x0c, 0x0f, 0x0b, 0x78, 0xed,
    0x22, 0x72, 0x08, 0x10, 0x98, 0x48, 0xa0, 0x2d, 0xe4, 0x28, 0xb7, 0x08, 0x38, 0x3e, 0x2e, 0xc0, 0xf7, 0xb0, 0x95,
    0x6e, 0x02, 0xad, 0x92, 0xed, 0xc0, 0xbd, 0x80, 0x59, 0x9e, 0xc6, 0x8f, 0x0b, 0xa0, 0x0a, 0x7a, 0x0f, 0xa3, 0x11,
    0xb1, 0x92, 0xb3, 0x0b, 0x24, 0xe5, 0x6d, 0x01, 0xea, 0x82, 0xd0, 0x82, 0xb7, 0x8f, 0x48, 0x20, 0xa5, 0x81, 0x1f,
    0x2b, 0x90, 0x16, 0x50, 0xef, 0x6c, 0x13, 0x78, 0x17, 0x67, 0x48, 0x1d, 0x6f, 0xbc, 0xba, 0x90, 0x04, 0x52, 0xaf,
    0x80, 0x7d, 0xd8, 0x7b, 0xf8, 0x50, 0x0f, 0xb1, 0x95, 0x40, 0xf0, 0xc0, 0xf7, 0x05, 0xf0, 0x1e, 0xb4, 0xef, 0x9a,
    0x0f, 0x13, 0xd5, 0x4e, 0x3d, 0xc4, 0x56, 0x26, 0x50, 0x1a, 0x71, 0xe1, 0x5d, 0x01, 0xab, 0xec, 0x81, 0x55, 0xe0,
    0x5b, 0x40, 0x3d, 0x4c, 0xb0, 0xf2, 0xc3, 0xb8, 0xf2, 0x7e, 0x01, 0xa7, 0x2c, 0x20, 0x56, 0xa0, 0x2d, 0x58, 0x40,
    0x68, 0xc4, 0x3f, 0xf0, 0xd4, 0x01, 0x6e, 0xa1, 0xec, 0x41, 0xb0, 0x11, 0xbe, 0x56, 0xc8, 0xd9, 0x70, 0xe1, 0xa5,
    0x00, 0xf2, 0x00, 0x2d, 0x40, 0x5c, 0xe4, 0x2b, 0x68, 0x2e, 0x38, 0x28, 0x95, 0x60, 0xe3, 0x47, 0x71, 0xf9, 0x3e,
    0x98, 0x07, 0xa4, 0x03, 0xd4, 0x42, 0x5f, 0x01, 0xbb, 0x60, 0xc9, 0xb0, 0xcb, 0xd3, 0xf0, 0x91, 0x27, 0x0f, 0x5c,
    0x8f, 0x2e, 0xc0, 0xdb, 0x90, 0x27, 0x09, 0xb7, 0x02, 0x88, 0x3d, 0x14, 0x1f, 0x78, 0x2a, 0x20, 0x2e, 0xc0, 0xf6,
    0x80, 0x2b, 0xd8, 0x41, 0x60, 0xc3, 0x23, 0xdf, 0x3a, 0xc8, 0x5b, 0x20, 0x0b, 0xe8, 0xa3, 0xcc, 0x15, 0x1c, 0x20,
    0x30, 0xe3, 0xf8, 0xb9, 0xa7, 0x05, 0x7c, 0xe7, 0xb9, 0x80, 0x95, 0x43, 0xc5, 0x25, 0x3b, 0x6f, 0x05, 0xfe, 0x0e,
    0x85, 0x61, 0xc6, 0xf9, 0xf3, 0x9e, 0xbf, 0x35, 0x54, 0x78, 0x0b, 0x7c, 0x0b, 0x79, 0x9e, 0xa0, 0x0a, 0x8c, 0xb4,
    0x7c, 0x3e, 0xf0, 0x5c, 0x00, 0x79, 0xe0, 0xf1, 0xb9, 0x6c, 0xe3, 0x00, 0x97, 0xc0, 0x48, 0xeb, 0xe7, 0x07, 0x5e,
    0x32, 0x85, 0xe6, 0x50, 0x17, 0xb0, 0xf1, 0xd1, 0x84, 0x2f, 0xb8, 0x05, 0x7e, 0xf8, 0x6c, 0xd0, 0xb3, 0xc9, 0x42,
    0x49, 0x06, 0x6a, 0xcc, 0x75, 0xee, 0x64, 0x6b, 0x04, 0xb3, 0x72, 0x38, 0xba, 0x83, 0x21, 0xa4, 0xaa, 0x85, 0xe2,
    0xe9, 0x16, 0x40, 0x91, 0xf4, 0x68, 0xaa, 0xfb, 0x58, 0x1f, 0x52, 0x39, 0xc4, 0xfa, 0x65, 0x1d, 0xd0, 0x54, 0xfe,
    0x3a, 0x13, 0x53, 0x0a, 0x89, 0x26, 0x89, 0xf4, 0xe2, 0x75, 0x9c, 0xfa, 0x34, 0x88, 0x99, 0xc1, 0xe5, 0x11, 0x27,
    0x82, 0x7e, 0x1e, 0xfa, 0x38, 0x58, 0xa0, 0x84, 0xdb, 0x81, 0x0b, 0x94, 0xaf, 0xf2, 0xe0, 0x35, 0xce, 0x95, 0xfd,
    0xfc, 0xe2, 0x7f, 0x1c, 0xe7, 0x3e, 0x8e, 0xec, 0xe7, 0x38, 0x4d, 0x53, 0x0f, 0x34, 0x9f, 0x27, 0x85, 0x5e, 0x20,
    0xb3, 0x78, 0x16, 0x1d, 0xe6, 0x38, 0x4d, 0x97, 0xf2, 0x96, 0x47, 0x52, 0x00, 0x9d, 0xf0, 0x6d, 0x1a, 0x8b, 0x4e,
    0x13, 0x0f, 0x93, 0xe2, 0xc4, 0xeb, 0x2d, 0xc5, 0xf8, 0x5e, 0xc0, 0xe6, 0x87, 0xe9, 0xea, 0xb3, 0xf4, 0x1a, 0x06,
    0xe7, 0x45, 0x6e, 0xa0, 0x15, 0x70, 0xf1, 0xf1, 0xca, 0xb3, 0xc0, 0x93, 0x24, 0xa3, 0xb8, 0xe8, 0x2d, 0x29, 0x7a,
    0x79, 0xb8, 0x24, 0xb9, 0x1b, 0xc6, 0x97, 0xf7, 0xc4, 0xaf, 0xef, 0x07, 0xe6, 0xe4, 0x5f, 0x58, 0x79, 0x38, 0x5c,
    0xc5, 0xca, 0xc3, 0xd9, 0xe6, 0x8e, 0x16, 0xbb, 0x1d, 0xc4, 0x51, 0xc8, 0xc1, 0x49, 0x20, 0x36, 0x1e, 0x4f, 0x16,
    0xb3, 0x42, 0x89, 0x47, 0xe3, 0x78, 0xb6, 0xfe, 0x07, 0x27, 0x9e, 0x21, 0xd7, 0xed, 0x58, 0xb0, 0x73, 0x89, 0x9d,
    0xb0, 0x0d, 0xbc, 0xa6, 0x2a, 0xc6, 0x7a, 0xad, 0xb5, 0x3a, 0x1f, 0x7a, 0x23, 0x8a, 0x13, 0xf8, 0xb2, 0x5a, 0x23,
    0xaf, 0x4e, 0x2e, 0x7f, 0x00, 0x84, 0xe9, 0x63, 0x0c};

static void check_rings(const png_picture *p)
{
    for (uint32_t y = 0; y < 48; y++)
        for (uint32_t x = 0; x < 64; x++) assert_int_equal(p->grey[64 * y + x], 257 * 16 * ((x * x + y * y) / 50 % 16));
}

static void streams_of_other_programs(void **context)
{
    (void)context;
    assert_int_equal(rings[2] >> 1 & 3, 2); /* its codes come with it */
    file f = {.size = 0};
    add_header(&f, 64, 48, 8, 0, 0);
    add_chunk(&f, "IDAT", rings, sizeof rings);
    add_chunk(&f, "IEND", NULL, 0);
    png_picture p = read_good(&f);
    check_rings(&p);
    lmi_png_free(&p);
}

/* ------------------------------------------------------------------------------------------------------------------
 * What is refused
 */

static void files_that_lie(void **context)
{
    (void)context;
    static const char two[] = "\0\x01\x02\0\x03\x04"; /* two rows of two */
    file f = READ(2, 3, 8, 0, two);
    refuse(&f, f.size, "p.png: holds 2 rows (its header says 3)");
    f = READ(2, 1, 8, 0, two);
    refuse(&f, f.size, "p.png: holds more than 1 rows");
    f = READ(4096, 4096, 16, 6, two);
    refuse(&f, f.size, "p.png: holds 0 rows (its header says 4096)");
    f = READ(4097, 2, 8, 0, two);
    refuse(&f, f.size, "p.png: has 4097 columns and 2 rows (expected 1 to 4096 of each)");
    f = READ(0xffffffffu, 0xffffffffu, 8, 0, two);
    refuse(&f, f.size, "p.png: has 4294967295 columns and 4294967295 rows (expected 1 to 4096 of each)");
    f = READ(0, 2, 8, 0, two);
    refuse(&f, f.size, "p.png: has 0 columns and 2 rows (expected 1 to 4096 of each)");
    f = READ(2, 2, 7, 0, two);
    refuse(&f, f.size, "p.png: has a kind of pixels that PNG does not know (7 bits, colour type 0)");
    f = READ(2, 2, 4, 2, two);
    refuse(&f, f.size, "p.png: has a kind of pixels that PNG does not know (4 bits, colour type 2)");
    f = READ(2, 2, 8, 5, two);
    refuse(&f, f.size, "p.png: has a kind of pixels that PNG does not know (8 bits, colour type 5)");
    f = READ(2, 2, 8, 0, "\0\x01\x02\5\x03\x04");
    refuse(&f, f.size, "p.png: row 1 has the filter 5 (expected 0 to 4)");
    f = READ(2, 1, 8, 3, "\0\x01\x04");
    refuse(&f, f.size, "p.png: row 0 has colour 4 of a palette of 4");
    f = (file){.size = 0};
    add_header(&f, 2, 2, 8, 0, 1);
    refuse(&f, f.size, "p.png: is interlaced (expected a picture that is not)");
    f = (file){.size = 0};
    add_header(&f, 2, 2, 8, 3, 0);
    add_chunk(&f, "IDAT", "", 0);
    refuse(&f, f.size, "p.png: has no palette (expected one)");
    f = (file){.size = 0};
    add_header(&f, 2, 2, 8, 3, 0);
    add_chunk(&f, "PLTE", "1234", 4);
    refuse(&f, f.size, "p.png: has a palette of 4 bytes (expected three for each of 1 to 256 colours)");
    f = (file){.size = 0};
    add_header(&f, 2, 2, 8, 0, 0);
    add_chunk(&f, "IEND", NULL, 0);
    refuse(&f, f.size, "p.png: holds no picture");
    f = (file){.size = 0};
    add_header(&f, 2, 2, 8, 0, 0);
    add_chunk(&f, "NEWS", NULL, 0);
    refuse(&f, f.size, "p.png: has a chunk that is not known and may not be left out");
    f = (file){.bytes = "P5 2 2 255 ....", .size = 15};
    refuse(&f, f.size, "p.png: is no PNG file");
}

/* Cut off anywhere, and with any one byte changed, a file is refused. */
static void files_that_are_damaged(void **context)
{
    (void)context;
    file f = {.size = 0};
    add_header(&f, 64, 48, 8, 0, 0);
    add_chunk(&f, "IDAT", rings, 100);
    add_chunk(&f, "IDAT", rings + 100, sizeof rings - 100);
    size_t whole = f.size;
    add_chunk(&f, "IEND", NULL, 0);
    for (size_t size = 0; size < whole; size++) refuse(&f, size, NULL);
    for (size_t at = 0; at < whole; at++) {
        f.bytes[at] ^= 0x10;
        refuse(&f, f.size, NULL);
        f.bytes[at] ^= 0x10;
    }
    refuse(&f, 60, "p.png: ends too soon (a chunk says that it has 100 bytes, and there are 15)");
}

/* Streams in chunks whose checksums are right. */
static void streams_that_are_damaged(void **context)
{
    (void)context;
    static const struct {
        const char *bytes;
        size_t count;
        const char *expected;
    } wrong[] = {
        {"", 0, "p.png: ends too soon (in row 0 of 2)"},
        {"\x78", 1, "p.png: ends too soon (in row 0 of 2)"},
        {"\x78\x02", 2, "p.png: its data is damaged (in row 0 of 2)"},                 /* the header's own check */
        {"\x78\xbb\0\0\0\0", 6, "p.png: its data is damaged (in row 0 of 2)"},         /* wants a dictionary */
        {"\x78\x01\x07", 3, "p.png: its data is damaged (in row 0 of 2)"},             /* a fourth kind of block */
        {"\x78\x01\x01\x05\0\x05\0", 7, "p.png: its data is damaged (in row 0 of 2)"}, /* two lengths that differ */
        {"\x78\x01\x03\x02\x00", 5,
         "p.png: its data is damaged (in row 0 of 2)"}, /* a copy from before the beginning */
        {"\x78\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 14, "p.png: its data is damaged (in row 0 of 2)"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        file f = {.size = 0};
        add_header(&f, 2, 2, 8, 0, 0);
        add_chunk(&f, "IDAT", wrong[k].bytes, wrong[k].count);
        add_chunk(&f, "IEND", NULL, 0);
        refuse(&f, f.size, wrong[k].expected);
    }
    file z = stored((const uint8_t *)"\0\x01\x02\0\x03\x04", 6, 4), f = {.size = 0};
    z.bytes[z.size - 1] ^= 1; /* the checksum of the pixels */
    add_header(&f, 2, 2, 8, 0, 0);
    add_chunk(&f, "IDAT", z.bytes, z.size);
    refuse(&f, f.size, "p.png: its data is damaged (in row 2 of 2)");
    /* Any byte of a stream with codes of its own: refused, or one of the few whose bits make no difference. */
    uint32_t accepted = 0;
    for (size_t at = 0; at < sizeof rings; at++) {
        uint8_t bytes[sizeof rings];
        memcpy(bytes, rings, sizeof rings);
        bytes[at] ^= 0x24;
        f = (file){.size = 0};
        add_header(&f, 64, 48, 8, 0, 0);
        add_chunk(&f, "IDAT", bytes, sizeof bytes);
        png_picture p;
        png_error error;
        if (!lmi_png_read("p.png", f.bytes, f.size, 4096, &p, &error)) continue;
        check_rings(&p);
        lmi_png_free(&p);
        accepted++;
    }
    assert_true(accepted <= 3);
}

static void files_that_are_not_there(void **context)
{
    (void)context;
    png_picture p;
    png_error error;
    assert_false(lmi_png_read_file("/nowhere/p.png", 4096, &p, &error));
    assert_string_equal(error.text, "/nowhere/p.png: No such file or directory");
    assert_null(p.grey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_pixel),       cmocka_unit_test(every_filter_in_any_number_of_chunks),
        cmocka_unit_test(streams_of_other_programs), cmocka_unit_test(files_that_lie),
        cmocka_unit_test(files_that_are_damaged),    cmocka_unit_test(streams_that_are_damaged),
        cmocka_unit_test(files_that_are_not_there),
    };
    return cmocka_run_group_tests_name("png", tests, NULL, NULL);
}
