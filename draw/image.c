/* Pictures in memory: memory, rectangles, copies and text. Files are written by png.c. */
#include "draw/image.h"

#include "draw/font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool image_make(image *picture, uint32_t width, uint32_t height)
{
    *picture = (image){.width = width, .height = height};
    if (height > 0 && width > SIZE_MAX / 3u / height) {
        return false;
    }
    size_t bytes = 3u * (size_t)width * height;
    picture->pixels = calloc(bytes > 0 ? bytes : 1, 1);
    return picture->pixels != NULL;
}

void image_free(image *picture)
{
    free(picture->pixels);
    *picture = (image){.width = 0};
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rectangles
 */

static uint8_t mix(uint8_t below, uint8_t above, float opacity)
{
    return (uint8_t)((float)below + ((float)above - (float)below) * opacity + 0.5f);
}

static void mix_pixel(image *picture, int x, int y, image_colour colour, float opacity)
{
    uint8_t *pixel = picture->pixels + 3u * ((size_t)y * picture->width + (size_t)x);
    pixel[0] = mix(pixel[0], colour.r, opacity);
    pixel[1] = mix(pixel[1], colour.g, opacity);
    pixel[2] = mix(pixel[2], colour.b, opacity);
}

/* The part of [from, from + length) within [0, limit), as first and end; wide, so that no sum can overflow. */
static void clip(int from, int64_t length, uint32_t limit, int64_t *first, int64_t *end)
{
    *first = from > 0 ? from : 0;
    *end = from + length < (int64_t)limit ? from + length : (int64_t)limit;
}

void image_fill(image *picture, int x, int y, int width, int height, image_colour colour, float opacity)
{
    int64_t left, right, top, bottom;
    clip(x, width, picture->width, &left, &right);
    clip(y, height, picture->height, &top, &bottom);
    for (int64_t row = top; row < bottom; row++) {
        for (int64_t column = left; column < right; column++) {
            mix_pixel(picture, (int)column, (int)row, colour, opacity);
        }
    }
}

void image_place(image *picture, const image *part, int x, int y)
{
    int64_t left, right, top, bottom;
    clip(x, part->width, picture->width, &left, &right);
    clip(y, part->height, picture->height, &top, &bottom);
    for (int64_t row = top; row < bottom && left < right; row++) {
        const uint8_t *from = part->pixels + 3u * ((size_t)(row - y) * part->width + (size_t)(left - x));
        uint8_t *to = picture->pixels + 3u * ((size_t)row * picture->width + (size_t)left);
        memcpy(to, from, 3u * (size_t)(right - left));
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Text
 *
 * The dots of a letter are taken as points on a pen's way: neighbours are joined, and the pen is one dot thick. So a letter
 * has smooth strokes with round ends at any scale.
 */

#define PEN_RADIUS 0.5f

static float distance_to_stroke(float x, float y, float ax, float ay, float bx, float by)
{
    float dx = bx - ax, dy = by - ay;
    float along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
    along = fminf(fmaxf(along, 0.0f), 1.0f);
    return hypotf(x - ax - along * dx, y - ay - along * dy);
}

/* How far a point (in dots, the middle of dot (i, j) being at i, j) is from the strokes of a letter; 2 when it is farther
 * than that. */
static float distance_to_letter(char letter, float x, float y)
{
    /* Each pair of neighbours once. */
    static const int to_neighbour[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    int column = (int)floorf(x), row = (int)floorf(y);
    float nearest = 2.0f;
    for (int j = row - 1; j <= row + 2; j++) {
        for (int i = column - 1; i <= column + 2; i++) {
            if (!font_dot(letter, i, j)) {
                continue;
            }
            nearest = fminf(nearest, hypotf(x - (float)i, y - (float)j));
            for (int n = 0; n < 4; n++) {
                int dx = to_neighbour[n][0], dy = to_neighbour[n][1];
                bool diagonal = dx != 0 && dy != 0;
                /* A corner goes around, not across. */
                bool corner = diagonal && (font_dot(letter, i + dx, j) || font_dot(letter, i, j + dy));
                if (font_dot(letter, i + dx, j + dy) && !corner) {
                    float stroke = distance_to_stroke(x, y, (float)i, (float)j, (float)(i + dx), (float)(j + dy));
                    nearest = fminf(nearest, stroke);
                }
            }
        }
    }
    return nearest;
}

static void draw_letter(image *picture, int left, int top, uint32_t scale, image_colour colour, char letter)
{
    int size = (int)scale;
    for (int v = 0; v < FONT_HEIGHT * size; v++) {
        for (int u = 0; u < FONT_WIDTH * size; u++) {
            int64_t x = (int64_t)left + u, y = (int64_t)top + v;
            if (x < 0 || y < 0 || x >= picture->width || y >= picture->height) {
                continue;
            }
            float dot_x = ((float)u + 0.5f) / (float)size - 0.5f;
            float dot_y = ((float)v + 0.5f) / (float)size - 0.5f;
            float inside = (PEN_RADIUS - distance_to_letter(letter, dot_x, dot_y)) * (float)size; /* pixels */
            float covered = fminf(fmaxf(inside + 0.5f, 0.0f), 1.0f);
            if (covered > 0.0f) {
                mix_pixel(picture, (int)x, (int)y, colour, covered);
            }
        }
    }
}

void image_text(image *picture, int x, int y, uint32_t scale, image_colour colour, const char *text)
{
    for (; *text != '\0'; text++, x += FONT_ADVANCE * (int)scale) {
        draw_letter(picture, x, y, scale, colour, *text);
    }
}

uint32_t image_text_width(uint32_t scale, const char *text)
{
    size_t letters = strlen(text);
    return letters == 0 ? 0 : (uint32_t)((letters * FONT_ADVANCE - (FONT_ADVANCE - FONT_WIDTH)) * scale);
}

uint32_t image_text_height(uint32_t scale) { return FONT_HEIGHT * scale; }
