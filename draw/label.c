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

static uint32_t scale_for(uint32_t height) { return height >= 700 ? 4 : height >= 400 ? 3 : height >= 180 ? 2 : 1; }

static label_box measure(uint32_t scale, const char *words)
{
    label_box box = {.scale = scale, .inside = 2 * (int)scale};
    box.width = (int)image_text_width(scale, words) + 2 * box.inside;
    /* The letters' last two rows hang below the line and need no room of their own beneath. */
    box.height = (int)image_text_height(scale) + box.inside;
    return box;
}

static void draw_plate(image *picture, int x, int y, label_box box, const label_style *style, const char *words)
{
    image_fill(picture, x, y, box.width, box.height, style->plate, style->opacity);
    image_text(picture, x + box.inside, y + box.inside, box.scale, style->ink, words);
}

static label_box measure_corner(uint32_t width, uint32_t height, const char *words)
{
    uint32_t scale = scale_for(height);
    while (scale > 1 && image_text_width(scale, words) + 10 * scale > width) {
        scale--;
    }
    return measure(scale, words);
}

placed_label label_corner_place(uint32_t width, uint32_t height, const char *words)
{
    label_box box = measure_corner(width, height, words);
    int away = 3 * (int)box.scale;
    return (placed_label){
        .left = away, .top = (int)height - away - box.height, .width = box.width, .height = box.height};
}

void label_corner(image *picture, int left, int top, uint32_t width, uint32_t height, const char *words)
{
    placed_label place = label_corner_place(width, height, words);
    draw_plate(picture, left + place.left, top + place.top, measure_corner(width, height, words), &corner_style, words);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Labels of bodies
 */

#define MOST_LINES_MOVED 2 /* before smaller letters are tried */

static int within(int value, int most) { return value > most ? (most > 0 ? most : 0) : value > 0 ? value : 0; }

static bool meet(const placed_label *a, const placed_label *b)
{
    return a->left < b->left + b->width && b->left < a->left + a->width && a->top < b->top + b->height &&
           b->top < a->top + a->height;
}

/* An earlier label where this one is, or null. */
static const placed_label *find_met(const placed_label *labels, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (meet(&labels[i], &labels[index])) {
            return &labels[i];
        }
    }
    return NULL;
}

/* In its own place or below what is there already, or, when the picture ends there, above. False: it would have to move
 * farther than this many lines. */
static bool place_one(placed_label *labels, uint32_t index, int height, int most_lines)
{
    placed_label *l = &labels[index];
    const placed_label *met;
    int wanted = l->top, most = most_lines * (l->height + 1);
    while ((met = find_met(labels, index)) != NULL && l->top + l->height <= height && l->top - wanted <= most) {
        l->top = met->top + met->height + 1;
    }
    if (met == NULL && l->top + l->height <= height && l->top - wanted <= most) {
        return true;
    }
    l->top = wanted;
    while ((met = find_met(labels, index)) != NULL && l->top >= 0 && wanted - l->top <= most) {
        l->top = met->top - l->height - 1;
    }
    return met == NULL && l->top >= 0 && wanted - l->top <= most;
}

/* At the smallest scale everything is done to find places, and what finds none is left out. */
static bool place_all(placed_label *labels, uint32_t count, int width, int height, uint32_t scale)
{
    for (uint32_t i = 0; i < count; i++) {
        placed_label *l = &labels[i];
        if (l->words == NULL) {
            continue;
        }
        label_box box = measure(scale, l->words);
        l->width = box.width;
        l->height = box.height;
        l->left = within(l->x - box.width / 2, width - box.width);
        l->top = within(l->y + 2 * (int)scale, height - box.height);
        bool fits = box.width <= width || scale == 1;
        if (!fits || !place_one(labels, i, height, scale == 1 ? height : MOST_LINES_MOVED)) {
            if (scale > 1) {
                return false;
            }
            l->width = 0;
        }
    }
    return true;
}

uint32_t label_place(placed_label *labels, uint32_t count, uint32_t width, uint32_t height)
{
    uint32_t scale = scale_for(height * 2 / 3); /* a step smaller than what is said of the whole picture */
    while (!place_all(labels, count, (int)width, (int)height, scale)) {
        scale--;
    }
    return scale;
}

void label_draw(image *picture, const placed_label *labels, uint32_t count, uint32_t scale)
{
    for (uint32_t i = 0; i < count; i++) {
        if (labels[i].words != NULL && labels[i].width > 0) {
            draw_plate(picture, labels[i].left, labels[i].top, measure(scale, labels[i].words), &below_style,
                       labels[i].words);
        }
    }
}
