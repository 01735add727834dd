/*
 * Any bytes as a glTF file. Those with a zero byte become a .glb file whose header fits them: the JSON is what stands
 * before the first zero, the buffer what follows (else the lengths would refuse nearly every input).
 */
#ifndef LIMBER_FUZZ_GLB_H
#define LIMBER_FUZZ_GLB_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct glb_file {
    unsigned char *bytes; /* null: the bytes are to be read as they are */
    size_t size;
} glb_file;

static void put_u32(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

/* To be freed. */
static glb_file wrap_glb(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    if (!zero || (size >= 4 && memcmp(data, "glTF", 4) == 0)) return (glb_file){NULL, 0};
    size_t text = (size_t)(zero - data), filled = (text + 3) / 4 * 4, buffer = size - text - 1;
    unsigned char *file = malloc(28 + filled + buffer);
    memcpy(file, "glTF", 4);
    put_u32(file + 4, 2);
    put_u32(file + 8, 28 + filled + buffer);
    put_u32(file + 12, filled);
    memcpy(file + 16, "JSON", 4);
    memset(file + 20, ' ', filled);
    memcpy(file + 20, data, text);
    put_u32(file + 20 + filled, buffer);
    memcpy(file + 24 + filled, "BIN\0", 4);
    memcpy(file + 28 + filled, zero + 1, buffer);
    return (glb_file){file, 28 + filled + buffer};
}

#endif
