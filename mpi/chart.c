#include "mpi/chart.h"

#include "draw/plot.h"
#include "io/system.h"
#include "mpi/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 560 };

/* All numbers of the table, [runs][1 + measures]: the first value that varies, and what was measured; NAN: none. */
static double *read_table(const sweep_plan *plan, lm_mpi_error *error)
{
    const lm_mpi_sweep_def *def = plan->def;
    size_t stride = 1 + (size_t)def->measure_count;
    double *numbers = calloc(plan->runs, stride * sizeof *numbers);
    FILE *file = lmi_system_open(def->out, "rb");
    char line[16384];
    for (size_t n = 0; numbers != NULL && n < plan->runs * stride; n++) {
        numbers[n] = (double)NAN;
    }
    while (numbers != NULL && file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *at = line, *end;
        unsigned long run = strtoul(at, &end, 10);
        if (end == at || run >= plan->runs || lmi_sweep_line_failed(line)) {
            continue;
        }
        numbers[run * stride] = plan->axes[0].values[lmi_sweep_place(plan, (uint32_t)run, 0)];
        at = end;
        for (uint32_t a = 0; a < plan->axis_count && at != NULL; a++) {
            at = strchr(at + 1, ',');
        }
        for (uint32_t m = 0; m < def->measure_count && at != NULL; m++) {
            double value = strtod(at + 1, &end);
            numbers[run * stride + 1 + m] = end > at + 1 ? value : (double)NAN;
            at = strchr(at + 1, ',');
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (numbers == NULL || file == NULL) {
        lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: cannot be read for the plot", def->out);
        free(numbers);
        return NULL;
    }
    return numbers;
}

static bool wants_log(const sweep_axis *axis)
{
    double low = axis->values[0], high = low;
    for (uint32_t n = 1; n < axis->count; n++) {
        low = axis->values[n] < low ? axis->values[n] : low;
        high = axis->values[n] > high ? axis->values[n] : high;
    }
    return low > 0.0 && high > 30.0 * low;
}

typedef struct lines {
    double *x, *y; /* [series][values of the first axis] */
    char names[PLOT_MOST_SERIES][160];
} lines;

/* "alpha 0.5, height": the values of the other axes, then the measure. */
static void name_series(const sweep_plan *plan, uint32_t combination, uint32_t measure, char *name, size_t size)
{
    int length = 0;
    for (uint32_t a = 1; a < plan->axis_count; a++) {
        const char *last = strrchr(plan->axes[a].path, '.');
        length += snprintf(name + length, size - (size_t)length, "%.30s %.20s, ",
                           last != NULL ? last + 1 : plan->axes[a].path,
                           plan->axes[a].words[lmi_sweep_place(plan, combination, a)]);
        if ((size_t)length >= size) {
            return;
        }
    }
    snprintf(name + length, size - (size_t)length, "%.60s", plan->def->measures[measure]);
}

static lm_result draw(const sweep_plan *plan, const double *numbers, const char *path, lm_mpi_error *error)
{
    const sweep_axis *axis = &plan->axes[0];
    uint32_t combinations = plan->runs / axis->count, measures = plan->def->measure_count;
    lines l = {.x = calloc((size_t)PLOT_MOST_SERIES * axis->count, sizeof(double)),
               .y = calloc((size_t)PLOT_MOST_SERIES * axis->count, sizeof(double))};
    plot p = {.title = plan->def->scene, .x_label = axis->path, .x_log = wants_log(axis)};
    p.y_label = measures == 1 ? plan->def->measures[0] : "";
    for (uint32_t c = 0; c < combinations && l.x != NULL && l.y != NULL; c++) {
        for (uint32_t m = 0; m < measures && p.series_count < PLOT_MOST_SERIES; m++) {
            uint32_t s = p.series_count++;
            double *x = l.x + (size_t)s * axis->count, *y = l.y + (size_t)s * axis->count;
            for (uint32_t n = 0; n < axis->count; n++) {
                const double *from = numbers + ((size_t)n * combinations + c) * (1 + (size_t)measures);
                x[n] = from[0];
                y[n] = from[1 + m];
            }
            name_series(plan, c, m, l.names[s], sizeof l.names[s]);
            p.series[s] = (plot_series){l.names[s], x, y, axis->count, true, true, false};
        }
    }
    image picture;
    image_error why;
    lm_result result = LM_OK;
    if (p.series_count == 0 || !plot_draw(&p, WIDTH, HEIGHT, &picture)) {
        result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: there is nothing to plot, or no memory", path);
    } else {
        if (!image_write_png(path, &picture, &why)) {
            result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%s", why.text);
        }
        image_free(&picture);
    }
    free(l.x);
    free(l.y);
    return result;
}

lm_result lmi_sweep_chart(const lm_mpi_sweep_def *def, const char *path, lm_mpi_error *error)
{
    sweep_plan plan;
    lm_result result = lmi_sweep_plan(def, &plan, error);
    if (result == LM_OK && plan.axes[0].values == NULL) {
        result = lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "plot: the first value that varies must be a number");
    }
    double *numbers = result == LM_OK ? read_table(&plan, error) : NULL;
    if (result == LM_OK) {
        result = numbers != NULL ? draw(&plan, numbers, path, error) : LM_ERROR_FORMAT;
    }
    free(numbers);
    lmi_sweep_plan_free(&plan);
    return result;
}
