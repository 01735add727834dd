/* Plots: axes of round numbers, marks where the values are, and nothing outside. */
#include "draw/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void axes_are_round(void **context)
{
    (void)context;
    static const double cases[][5] = {
        /* values, axis, step */
        {0.0, 1.0, 0.0, 1.0, 0.2},     {0.13, 0.87, 0.1, 0.9, 0.1},
        {-3.0, 17.0, -5.0, 20.0, 5.0}, {950.0, 1050.0, 940.0, 1060.0, 20.0},
        {2.0, 2.0, 1.8, 2.2, 0.1},     {1e-9, 4e-9, 1e-9, 4e-9, 5e-10},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        double low = cases[n][0], high = cases[n][1], step, ticks;
        plot_round(&low, &high, &step);
        assert_true(low <= cases[n][0] && high >= cases[n][1]);
        ticks = (high - low) / step;
        assert_true(fabs(ticks - round(ticks)) < 1e-6 && ticks >= 3.0 && ticks <= 10.0);
        double lead = step / pow(10.0, floor(log10(step) + 1e-9));
        assert_true(fabs(lead - 1.0) < 1e-6 || fabs(lead - 2.0) < 1e-6 || fabs(lead - 5.0) < 1e-6);
        assert_true(fabs(low - cases[n][2]) < 1e-6 * step + 1.01 * step &&
                    fabs(high - cases[n][3]) < 1e-6 * step + 1.01 * step);
    }
}

/* The mean place of pixels of the first series' colour, below the y label and left of the legend's dot. */
static void find_blue(const image *picture, double at[2], double *count)
{
    at[0] = at[1] = *count = 0.0;
    for (uint32_t y = 0; y < picture->height; y++) {
        for (uint32_t x = 0; x < picture->width; x++) {
            const uint8_t *p = picture->pixels + 3u * ((size_t)y * picture->width + x);
            if (p[0] == 31 && p[1] == 104 && p[2] == 180 && x < picture->width - 70) {
                at[0] += x, at[1] += y, *count += 1.0;
            }
        }
    }
    at[0] /= *count, at[1] /= *count;
}

/* A dot half-way between two others is half-way between them in the picture; on a logarithmic axis where the root of their product is. */
static void dots_are_where_their_values_are(void **context)
{
    (void)context;
    const double xs[2][3] = {{1.0, 50.5, 100.0}, {1.0, 10.0, 100.0}}, ys[3] = {-2.0, 1.0, 4.0};
    for (int is_log = 0; is_log < 2; is_log++) {
        double at[3][2], count;
        for (int n = 0; n < 3; n++) {
            plot p = {.title = "t", .x_label = "x", .y_label = "y", .x_log = is_log, .series_count = 2};
            const double ends_x[2] = {1.0, 100.0}, ends_y[2] = {-2.0, 4.0};
            p.series[0] = (plot_series){.name = "a", .x = &xs[is_log][n], .y = &ys[n], .count = 1, .marked = true};
            p.series[1] = (plot_series){.name = "b", .x = ends_x, .y = ends_y, .count = 2}; /* holds the axes */
            image picture;
            assert_true(plot_draw(&p, 500, 300, &picture));
            find_blue(&picture, at[n], &count);
            assert_true(count > 20.0 && count < 80.0);
            image_free(&picture);
        }
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(at[1][k] - 0.5 * (at[0][k] + at[2][k])) < 0.6);
        }
        assert_true(at[2][0] > at[0][0] + 200.0 && at[0][1] > at[2][1] + 80.0); /* to the right, and up */
    }
}

static void what_is_not_to_be_shown_is_left_out(void **context)
{
    (void)context;
    const double x[4] = {1.0, 2.0, NAN, 4.0}, y[4] = {1.0, INFINITY, 1.0, 50.0};
    plot p = {.title = "t", .x_label = "x", .y_label = "y", .y_low = 0.0, .y_high = 2.0, .series_count = 1};
    p.series[0] = (plot_series){.name = "a", .x = x, .y = y, .count = 4, .marked = true, .joined = true};
    image picture;
    double at[2], count;
    assert_true(plot_draw(&p, 400, 200, &picture));
    find_blue(&picture, at, &count);
    assert_true(count > 20.0 && count < 80.0); /* one dot, no line */
    image_free(&picture);
    p.series[0].x = p.series[0].y = x + 2; /* nothing to show */
    p.series[0].count = 1;
    assert_false(plot_draw(&p, 400, 200, &picture));
    p.series_count = 0;
    assert_false(plot_draw(&p, 400, 200, &picture));
    assert_false(plot_draw(&p, 10, 10, &picture));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_round),
        cmocka_unit_test(dots_are_where_their_values_are),
        cmocka_unit_test(what_is_not_to_be_shown_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
