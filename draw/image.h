/*
 * Pictures in memory: red, green, blue, 8 bits each (sRGB), the top row first. Text is drawn with a small font of our own.
 */
#ifndef LIMBER_DRAW_IMAGE_H
#define LIMBER_DRAW_IMAGE_H

#include "support/partial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image {
    uint32_t width, height;
    uint8_t *pixels; /* 3 * width * height bytes */
} image;

typedef struct image_colour {
    uint8_t r, g, b;
} image_colour;

#define IMAGE_ERROR_SIZE PARTIAL_ERROR_SIZE

typedef struct image_error {
    char text[IMAGE_ERROR_SIZE];
} image_error;

/* A black picture; false when out of memory. To be freed with image_free. */
bool image_make(image *picture, uint32_t width, uint32_t height);
void image_free(image *picture);

/* Fills a rectangle, mixed with what is there by `opacity` (0 to 1). Parts outside the picture are left out, here and below. */
void image_fill(image *picture, int x, int y, int width, int height, image_colour colour, float opacity);

/* Copies a picture into another, its upper left corner at x, y. */
void image_place(image *picture, const image *part, int x, int y);

/* Text (printable ASCII; anything else is a box) with its upper left corner at x, y, each dot `scale` pixels wide and
 * smoothed. */
void image_text(image *picture, int x, int y, uint32_t scale, image_colour colour, const char *text);

/* How wide and high a text would be, in pixels. */
uint32_t image_text_width(uint32_t scale, const char *text);
uint32_t image_text_height(uint32_t scale);

/* Writes a PNG, whole or not at all (beside its place, then renamed). */
bool image_write_png(const char *path, const image *picture, image_error *error);

#endif
