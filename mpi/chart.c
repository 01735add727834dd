#include "mpi/chart.h"

#include "draw/plot.h"
#include "mpi/sweep.h"
#include "support/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 560, MOST_PLOTS = 16 };

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

/* The text after "KEY": in JSON, without its quotes; "" where there is none. */
static void find_text(const char *json, const char *key, char *text, size_t size)
{
    const char *at = strstr(json, key);
    at = at != NULL ? strchr(at + strlen(key), '"') : NULL;
    snprintf(text, size, "%.*s", at != NULL ? (int)strcspn(at + 1, "\"") : 0, at != NULL ? at + 1 : "");
}

/* A measure as it is written for short: "max:speed@cube". */
static void name_measure(const char *measure, char *name, size_t size)
{
    char what[64], body[64];
    if (measure[0] != '{') {
        snprintf(name, size, "%.60s", measure);
        return;
    }
    find_text(measure, "\"measure\":", what, sizeof what);
    find_text(measure, "\"body\":", body, sizeof body);
    snprintf(name, size, "%.30s%s%.30s", what, body[0] != '\0' ? "@" : "", body);
}

/* "alpha 0.5, substeps 2": the values of all axes but the first. */
static void name_series(const sweep_plan *plan, uint32_t combination, char *name, size_t size)
{
    int length = 0;
    name[0] = '\0';
    for (uint32_t a = 1; a < plan->axis_count && (size_t)length < size; a++) {
        const char *last = strrchr(plan->axes[a].path, '.');
        length += snprintf(name + length, size - (size_t)length, "%s%.20s %.12s", a > 1 ? ", " : "",
                           last != NULL ? last + 1 : plan->axes[a].path,
                           plan->axes[a].words[lmi_sweep_place(plan, combination, a)]);
    }
}

/* One measure over the first value that varies: a line for each combination of the others, the first eight of them. */
static bool draw_measure(const sweep_plan *plan, const double *numbers, uint32_t measure, image *picture)
{
    const sweep_axis *axis = &plan->axes[0];
    uint32_t combinations = plan->runs / axis->count, stride = 1 + plan->def->measure_count;
    uint32_t shown = combinations < PLOT_MOST_SERIES ? combinations : PLOT_MOST_SERIES;
    char names[PLOT_MOST_SERIES][120], label[80], title[200];
    double *values = calloc((size_t)shown * axis->count, 2 * sizeof *values);
    plot p = {.title = title, .x_label = axis->path, .y_label = label, .x_log = wants_log(axis), .series_count = shown};
    name_measure(plan->def->measures[measure], label, sizeof label);
    snprintf(title, sizeof title, shown < combinations ? "%.120s, %u of %u lines" : "%.120s", plan->def->scene,
             (unsigned)shown, (unsigned)combinations);
    for (uint32_t c = 0; c < shown && values != NULL; c++) {
        double *x = values + (size_t)2 * c * axis->count, *y = x + axis->count;
        for (uint32_t n = 0; n < axis->count; n++) {
            const double *from = numbers + ((size_t)n * combinations + c) * stride;
            x[n] = from[0];
            y[n] = from[1 + measure];
        }
        name_series(plan, c, names[c], sizeof names[c]);
        p.series[c] = (plot_series){names[c], x, y, axis->count, true, true, false};
    }
    bool ok = values != NULL && plot_draw(&p, WIDTH, HEIGHT, picture);
    free(values);
    return ok;
}

/* A plot for each measure, one below the other. A measure without a number has an empty place. */
static lm_result draw(const sweep_plan *plan, const double *numbers, const char *path, lm_mpi_error *error)
{
    image all, part;
    image_error why;
    uint32_t drawn = 0, most = plan->def->measure_count < MOST_PLOTS ? plan->def->measure_count : MOST_PLOTS;
    if (!image_make(&all, WIDTH, HEIGHT * most)) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "plot: out of memory");
    }
    for (uint32_t m = 0; m < most; m++) {
        if (draw_measure(plan, numbers, m, &part)) {
            image_place(&all, &part, 0, (int)(m * HEIGHT));
            image_free(&part);
            drawn++;
        }
    }
    lm_result result = LM_OK;
    if (drawn == 0) {
        result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: there is nothing to plot, or no memory", path);
    } else if (!image_write_png(path, &all, &why)) {
        result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%s", why.text);
    }
    image_free(&all);
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
