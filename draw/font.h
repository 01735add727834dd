/* A small font of dots: all printable ASCII, five dots wide and nine high (seven above the line, two below). */
#ifndef LIMBER_DRAW_FONT_H
#define LIMBER_DRAW_FONT_H

#include <stdbool.h>

#define FONT_WIDTH 5
#define FONT_HEIGHT 9
#define FONT_ADVANCE 6 /* dots from one letter to the next */

/* Whether a dot of a letter is set; x from the left, y from the top, false outside. A character that is not printable ASCII
 * is a box. */
bool font_dot(char letter, int x, int y);

#endif
