/*
 * Painting models: a colour is a function of a point of the surface. Colours are laid over each other from the ground up,
 * each where a signed distance (field.h) is negative.
 */
#ifndef LIMBER_SHAPES_PAINT_H
#define LIMBER_SHAPES_PAINT_H

#include "field.h"
#include "limber/shapes.h"

/* As a screen shows it (sRGB), 0 to 1. */
typedef struct field_colour {
    double r, g, b;
} field_colour;

/* 0xrrggbb */
static inline field_colour paint(uint32_t code)
{
    return (field_colour){(double)(code >> 16 & 255u) / 255.0, (double)(code >> 8 & 255u) / 255.0,
                          (double)(code & 255u) / 255.0};
}

static inline field_colour paint_mix(field_colour a, field_colour b, double share)
{
    return (field_colour){a.r + share * (b.r - a.r), a.g + share * (b.g - a.g), a.b + share * (b.b - a.b)};
}

/* `over` where `distance` is negative, `under` where it is positive, mixed across a band `blur` wide. */
static inline field_colour paint_over(field_colour under, field_colour over, double distance, double blur)
{
    return paint_mix(under, over, field_clamp(0.5 - distance / blur));
}

/* A line of `half_width` on each side of where `distance` is 0. Narrower than the blur it grows paler, not wider. */
static inline field_colour paint_line(field_colour under, field_colour over, double distance, double half_width,
                                      double blur)
{
    double share = field_clamp(0.5 - (fabs(distance) - half_width) / blur);
    return paint_mix(under, over, share * field_clamp(2.0 * half_width / blur));
}

static inline lm_shape_colour paint_narrow(field_colour c)
{
    return (lm_shape_colour){(uint8_t)(255.0 * field_clamp(c.r) + 0.5), (uint8_t)(255.0 * field_clamp(c.g) + 0.5),
                             (uint8_t)(255.0 * field_clamp(c.b) + 0.5)};
}

#endif
