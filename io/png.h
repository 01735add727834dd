/*
 * Pictures as heights: reads PNG files (ISO/IEC 15948) as shades of grey.
 *
 * Every kind of PNG but interlaced ones: grey, colour and palette, with or without transparency (which is ignored), 1 to 16
 * bits. Memory is two bytes a pixel and two rows, whatever the file says of itself.
 */
#ifndef LIMBER_IO_PNG_H
#define LIMBER_IO_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PNG_ERROR_SIZE 300

typedef struct png_error {
    char text[PNG_ERROR_SIZE]; /* one line that begins with the name of the file */
} png_error;

typedef struct png_picture {
    uint32_t columns, rows;
    uint16_t *grey; /* [rows][columns] from the upper left; 0 is black, 65535 white */
} png_picture;

/* A picture with at most `most` columns and rows, from the bytes of a file; `name` is for messages. False: *error says why,
 * and there is nothing to free. */
bool lmi_png_read(const char *name, const uint8_t *bytes, size_t size, uint32_t most, png_picture *picture,
                  png_error *error);

/* The same from a file. */
bool lmi_png_read_file(const char *path, uint32_t most, png_picture *picture, png_error *error);

void lmi_png_free(png_picture *picture);

#endif
