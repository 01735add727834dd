/* Contact sheets: pictures of one size side by side in rows, each with a label. */
#ifndef LIMBER_DRAW_SHEET_H
#define LIMBER_DRAW_SHEET_H

#include "draw/image.h"

typedef struct sheet {
    image picture;
    uint32_t columns, rows;
    uint32_t tile_width, tile_height;
    uint32_t left, top; /* of the first tile */
} sheet;

/* Pixels between two tiles, and around all of them. */
#define SHEET_GAP 4

/* The size of a sheet of tiles of this size, and of the largest tiles in a sheet of this size (0 when there is no room). */
uint32_t sheet_size(uint32_t count, uint32_t tile);
uint32_t sheet_tile_size(uint32_t count, uint32_t size);

/* An empty sheet of this size; false when out of memory. To be freed with sheet_free. */
bool sheet_make(sheet *sheet, uint32_t columns, uint32_t rows, uint32_t width, uint32_t height);
void sheet_free(sheet *sheet);

/* Puts a picture of the tile's size in its place, the first one at the upper left and on to the right, with a label in its
 * lower left corner. */
void sheet_place(sheet *sheet, uint32_t index, const image *tile, const char *label);

#endif
