/* Words in pictures, on plates that keep them legible. */
#ifndef LIMBER_DRAW_LABEL_H
#define LIMBER_DRAW_LABEL_H

#include "draw/image.h"

/* White on dark, in the lower left corner of a rectangle of the picture. Letters grow with the rectangle's height, and shrink
 * when the words would be wider than it. */
void label_corner(image *picture, int left, int top, uint32_t width, uint32_t height, const char *words);

/* Dark on light, centred on x and below y, but moved to lie within the picture. */
void label_below(image *picture, int x, int y, const char *words);

#endif
