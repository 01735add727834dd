/*
 * Plots: points and lines over two axes, with ticks, labels and a legend, as a picture (image.h). Words are printable ASCII.
 */
#ifndef LIMBER_DRAW_PLOT_H
#define LIMBER_DRAW_PLOT_H

#include "draw/image.h"

#define PLOT_MOST_SERIES 8

typedef struct plot_series {
    const char *name;    /* in the legend */
    const double *x, *y; /* values that are not finite, or outside the axes, are left out */
    uint32_t count;
    bool joined; /* by a line */
    bool marked; /* by dots */
    bool dashed; /* the line: for what theory says */
} plot_series;

typedef struct plot {
    const char *title, *x_label, *y_label;
    bool x_log;                 /* powers of ten are evenly spaced */
    double y_low, y_high;       /* of the axis; both 0: what fits */
    double band_low, band_high; /* y values between which the ground is tinted; both 0: none */
    plot_series series[PLOT_MOST_SERIES];
    uint32_t series_count;
} plot;

/* The upper and lower end and the distance of ticks that make an axis of round numbers over these values (1, 2 or 5 times a power of
 * ten apart, four to ten of them). */
void plot_round(double *low, double *high, double *step);

/* A picture of this size, at least 200 x 120; false when out of memory, or when there is nothing to show. To be freed with
 * image_free. */
bool plot_draw(const plot *plot, uint32_t width, uint32_t height, image *picture);

#endif
