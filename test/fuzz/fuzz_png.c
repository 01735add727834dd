/*
 * Any bytes as a PNG file. Checksums keep changed bytes out of almost all of the reader, so bytes that begin with an odd one
 * are taken as the contents of a file that is made around them: size, bits, kind of pixels, and the stream.
 */
#include "fuzz.h"
#include "io/png.h"

#include <stdlib.h>
#include <string.h>

static uint32_t check_of(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum & 1u ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    return ~sum;
}

static uint8_t *put_word(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
    return to + 4;
}

static uint8_t *put_chunk(uint8_t *to, const char *name, const uint8_t *data, size_t count)
{
    to = put_word(to, (uint32_t)count);
    memcpy(to, name, 4);
    if (count > 0) memcpy(to + 4, data, count);
    return put_word(to + 4 + count, check_of(to, count + 4));
}

static void read_any(const uint8_t *data, size_t size)
{
    png_picture picture;
    png_error error;
    if (lmi_png_read("fuzz.png", data, size, 256, &picture, &error)) {
        if (picture.columns > 256 || picture.rows > 256) abort();
        lmi_png_free(&picture);
    } else if (picture.grey != NULL || strchr(error.text, '\n') != NULL) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5 || data[0] % 2 == 0) {
        read_any(data, size);
        return 0;
    }
    uint8_t *file = malloc(size + 200);
    if (file == NULL) return 0;
    const uint8_t header[13] = {0, 0, 0, data[1], 0, 0, 0, data[2], data[3], data[4] & 7u, 0, 0, 0};
    static const uint8_t palette[6] = {255, 0, 0, 0, 255, 0};
    memcpy(file, "\x89PNG\r\n\x1a\n", 8);
    uint8_t *end = put_chunk(file + 8, "IHDR", header, 13);
    end = put_chunk(end, "PLTE", palette, 6);
    size_t count = size - 5, half = count / 2;
    end = put_chunk(end, "IDAT", data + 5, half);
    end = put_chunk(end, "IDAT", data + 5 + half, count - half);
    end = put_chunk(end, "IEND", NULL, 0);
    read_any(file, (size_t)(end - file));
    free(file);
    return 0;
}
