/* Words in pictures. */
#include "draw/label.h"

typedef struct label_style {
    image_colour ink, plate;
    float opacity; /* of the plate */
} label_style;

static const label_style corner_style = {{255, 255, 255}, {24, 28, 36}, 0.62f};
static const label_style below_style = {{40, 44, 54}, {255, 255, 255}, 0.45f};

/* The plate's size, and from its edge to the letters, in pixels. */
typedef struct label_box {
    uint32_t scale;
    int width, height, inside;
} label_box;

static label_box measure(uint32_t height, uint32_t width, const char *words)
{
    label_box box = {.scale = height >= 700 ? 4 : height >= 400 ? 3 : height >= 180 ? 2 : 1};
    while (box.scale > 1 && image_text_width(box.scale, words) + 10 * box.scale > width) {
        box.scale--;
    }
    box.inside = 2 * (int)box.scale;
    box.width = (int)image_text_width(box.scale, words) + 2 * box.inside;
    /* The letters' last two rows hang below the line and need no room of their own beneath. */
    box.height = (int)image_text_height(box.scale) + box.inside;
    return box;
}

static void draw_label(image *picture, int x, int y, label_box box, const label_style *style, const char *words)
{
    image_fill(picture, x, y, box.width, box.height, style->plate, style->opacity);
    image_text(picture, x + box.inside, y + box.inside, box.scale, style->ink, words);
}

void label_corner(image *picture, int left, int top, uint32_t width, uint32_t height, const char *words)
{
    label_box box = measure(height, width, words);
    int away = 3 * (int)box.scale;
    draw_label(picture, left + away, top + (int)height - away - box.height, box, &corner_style, words);
}

static int within(int value, int most) { return value > most ? (most > 0 ? most : 0) : value > 0 ? value : 0; }

void label_below(image *picture, int x, int y, const char *words)
{
    /* A step smaller than what is said of the whole picture. */
    label_box box = measure(picture->height * 2 / 3, picture->width, words);
    x = within(x - box.width / 2, (int)picture->width - box.width);
    y = within(y + 2 * (int)box.scale, (int)picture->height - box.height);
    draw_label(picture, x, y, box, &below_style, words);
}
