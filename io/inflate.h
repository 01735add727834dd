/*
 * Decompression of zlib streams (RFC 1950, RFC 1951): what PNG files hold.
 *
 * The stream comes in pieces and what it holds goes out in pieces, so that no more memory is needed than the 32 KiB that a
 * copy may reach back, whatever the stream says of itself.
 */
#ifndef LIMBER_IO_INFLATE_H
#define LIMBER_IO_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct inflate_ends {
    /* The next piece of the stream, *length bytes; null at its end. */
    const uint8_t *(*next)(void *user, size_t *length);
    /* Takes what was decompressed, 1 to 32,768 bytes at a time; false ends it. */
    bool (*take)(void *user, const uint8_t *bytes, size_t count);
    void *user;
} inflate_ends;

typedef enum inflate_result {
    INFLATE_OK = 0,
    INFLATE_TRUNCATED, /* the stream ends too soon */
    INFLATE_CORRUPT,   /* it is no such stream, or its checksum is another */
    INFLATE_STOPPED,   /* `take` wanted no more */
    INFLATE_MEMORY
} inflate_result;

inflate_result lmi_inflate_stream(const inflate_ends *ends);

#endif
