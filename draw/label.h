/* Words in pictures, on plates that keep them legible. */
#ifndef LIMBER_DRAW_LABEL_H
#define LIMBER_DRAW_LABEL_H

#include "draw/image.h"

/* White on dark, in the lower left corner of a rectangle of the picture. Letters grow with the rectangle's height, and shrink
 * when the words would be wider than it. */
void label_corner(image *picture, int left, int top, uint32_t width, uint32_t height, const char *words);

/* Words about something in the picture, centred on x and below y; or, without words, a place that is taken already. */
typedef struct placed_label {
    const char *words;
    int x, y;
    int left, top, width, height; /* the plate, from label_place; no width: there is no room for it */
} placed_label;

/* The place that label_corner takes of a rectangle at 0, 0. */
placed_label label_corner_place(uint32_t width, uint32_t height, const char *words);

/* Finds places for labels in a picture of this size: within it, and not over each other. Places that are
 * taken come first. Where they would meet, they move
 * below each other, and their letters, alike for all, shrink. Returns the letters' scale. */
uint32_t label_place(placed_label *labels, uint32_t count, uint32_t width, uint32_t height);

/* Dark on light, where label_place put them. */
void label_draw(image *picture, const placed_label *labels, uint32_t count, uint32_t scale);

#endif
