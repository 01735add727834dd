/* Contact sheets. */
#include "draw/sheet.h"

#include "draw/label.h"

static const image_colour paper = {246, 246, 244};

uint32_t sheet_size(uint32_t count, uint32_t tile) { return count * tile + (count + 1) * SHEET_GAP; }

uint32_t sheet_tile_size(uint32_t count, uint32_t size)
{
    uint64_t gaps = ((uint64_t)count + 1) * SHEET_GAP;
    return count == 0 || size < gaps ? 0 : (uint32_t)((size - gaps) / count);
}

bool sheet_make(sheet *s, uint32_t columns, uint32_t rows, uint32_t width, uint32_t height)
{
    *s = (sheet){.columns = columns, .rows = rows};
    s->tile_width = sheet_tile_size(columns, width);
    s->tile_height = sheet_tile_size(rows, height);
    /* What is left over by whole pixels goes around. */
    s->left = SHEET_GAP + (width - sheet_size(columns, s->tile_width)) / 2;
    s->top = SHEET_GAP + (height - sheet_size(rows, s->tile_height)) / 2;
    if (!image_make(&s->picture, width, height)) {
        return false;
    }
    image_fill(&s->picture, 0, 0, (int)width, (int)height, paper, 1.0f);
    return true;
}

void sheet_free(sheet *s)
{
    image_free(&s->picture);
    *s = (sheet){.columns = 0};
}

void sheet_place(sheet *s, uint32_t index, const image *tile, const char *label)
{
    uint32_t x = s->left + index % s->columns * (s->tile_width + SHEET_GAP);
    uint32_t y = s->top + index / s->columns * (s->tile_height + SHEET_GAP);
    image_place(&s->picture, tile, (int)x, (int)y);
    label_corner(&s->picture, (int)x, (int)y, s->tile_width, s->tile_height, label);
}
