/*
 * Tables go to standard output as soon as they are complete, so that a long run shows how far it is.
 */
#include "validate/report.h"

#include "limber/limber.h"
#include "support/partial.h"
#include "support/system.h"
#include "validate/limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLOT_WIDTH 820
#define PLOT_HEIGHT 420

bool report_fail(report *r, const char *format, ...)
{
    if (r->fault[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(r->fault, sizeof r->fault, format, arguments);
        va_end(arguments);
    }
    return false;
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

void report_begin(report *r)
{
    r->began = processor_seconds();
    lmi_text_addf(
        &r->limits,
        "| study | quantity | case | measured | limits | | known to be off |\n|---|---|---|---|---|---|---|\n");
}

void report_study(report *r, const char *name, const char *title, const char *text)
{
    r->study = name;
    lmi_text_addf(&r->page, "\n## %s\n\n%s\n", title, text);
    if (!r->options->json) {
        printf("%s\n", title);
        fflush(stdout);
    }
}

void report_text(report *r, const char *text) { lmi_text_addf(&r->page, "\n%s\n", text); }

/* ------------------------------------------------------------------------------------------------------------------
 * Tables
 */

static void add_row(report *r, const char *line)
{
    report_table *t = &r->table;
    if (t->rows == t->capacity) {
        uint32_t capacity = t->capacity > 0 ? 2 * t->capacity : 32;
        void *cells = realloc(t->cells, capacity * sizeof *t->cells);
        if (cells == NULL) {
            report_fail(r, "out of memory");
            return;
        }
        t->cells = cells;
        t->capacity = capacity;
    }
    memset(t->cells[t->rows], 0, sizeof t->cells[0]);
    for (uint32_t c = 0; c < REPORT_MOST_COLUMNS && line != NULL; c++) {
        size_t length = strcspn(line, "|");
        snprintf(t->cells[t->rows][c], REPORT_CELL, "%.*s", (int)length, line);
        t->columns = t->rows == 0 ? c + 1 : t->columns;
        line = line[length] != '\0' ? line + length + 1 : NULL;
    }
    t->rows++;
}

void report_columns(report *r, const char *columns)
{
    report_end_table(r);
    add_row(r, columns);
}

void report_row(report *r, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    add_row(r, line);
}

static void print_json_row(const report *r, uint32_t row)
{
    text_buffer line = {.bytes = NULL};
    lmi_text_addf(&line, "{\"study\": ");
    lmi_text_add_json_string(&line, r->study);
    for (uint32_t c = 0; c < r->table.columns; c++) {
        const char *cell = r->table.cells[row][c];
        char *end;
        double number = strtod(cell, &end);
        lmi_text_addf(&line, ", ");
        lmi_text_add_json_string(&line, r->table.cells[0][c]);
        lmi_text_addf(&line, ": ");
        if (end != cell && *end == '\0' && isfinite(number)) {
            lmi_text_add_json_number(&line, number);
        } else {
            lmi_text_add_json_string(&line, cell);
        }
    }
    char *text = lmi_text_take(&line);
    printf("%s}\n", text != NULL ? text : "{");
    free(text);
}

static void print_table(const report_table *t)
{
    for (uint32_t n = 0; n < t->rows; n++) {
        for (uint32_t c = 0; c < t->columns; c++) {
            size_t widest = 0;
            for (uint32_t k = 0; k < t->rows; k++) {
                size_t length = strlen(t->cells[k][c]);
                widest = length > widest ? length : widest;
            }
            printf(c == 0 ? "  %-*s" : "  %*s", (int)widest, t->cells[n][c]);
        }
        printf("\n");
    }
}

void report_end_table(report *r)
{
    report_table *t = &r->table;
    for (uint32_t n = 0; n < t->rows; n++) {
        lmi_text_addf(&r->page, n == 0 ? "\n|" : "|");
        for (uint32_t c = 0; c < t->columns; c++) {
            lmi_text_addf(&r->page, " %s |", t->cells[n][c]);
        }
        lmi_text_addf(&r->page, "\n");
        for (uint32_t c = 0; n == 0 && c < t->columns; c++) {
            lmi_text_addf(&r->page, c == 0 ? "|---|" : "---|");
        }
        lmi_text_addf(&r->page, n == 0 ? "\n" : "");
        if (r->options->json && n > 0) {
            print_json_row(r, n);
        }
    }
    if (!r->options->json) {
        print_table(t);
    }
    fflush(stdout);
    t->rows = 0;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Limits
 */

void report_check(report *r, const char *quantity, double value, const char *format, ...)
{
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    const limit *l = limit_find(r->study, quantity);
    if (l == NULL) {
        report_fail(r, "no limit is set for \"%s\" of the study %s", quantity, r->study);
        return;
    }
    bool good = value >= l->low && value <= l->high; /* what is not a number is not */
    r->checks++;
    r->off += good ? 0 : 1;
    lmi_text_addf(&r->limits, "| %s | %s | %s | %.4g | %g to %g | %s | %s |\n", r->study, quantity, name, value, l->low,
                  l->high, good ? "" : "**off**", l->known != NULL ? l->known : "");
    if (r->options->json) {
        text_buffer line = {.bytes = NULL};
        lmi_text_addf(&line, "{\"study\": \"%s\", \"check\": \"%s\", \"case\": ", r->study, quantity);
        lmi_text_add_json_string(&line, name);
        lmi_text_addf(&line, ", \"value\": ");
        lmi_text_add_json_number(&line, value);
        lmi_text_addf(&line, ", \"low\": %g, \"high\": %g, \"good\": %s}", l->low, l->high, good ? "true" : "false");
        char *text = lmi_text_take(&line);
        printf("%s\n", text != NULL ? text : "{}");
        free(text);
    } else if (!good) {
        printf("  OFF: %s of %s is %.4g (expected %g to %g)\n", quantity, name, value, l->low, l->high);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Plots
 */

uint32_t report_series(report_plot *p, bool joined, bool dashed, const char *format, ...)
{
    uint32_t index = p->plot.series_count < PLOT_MOST_SERIES ? p->plot.series_count++ : PLOT_MOST_SERIES - 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->names[index], sizeof p->names[index], format, arguments);
    va_end(arguments);
    p->plot.series[index] = (plot_series){.joined = joined, .marked = !dashed, .dashed = dashed};
    return index;
}

void report_point(report_plot *p, uint32_t series, double x, double y)
{
    plot_series *s = &p->plot.series[series];
    if (s->count < REPORT_MOST_POINTS) {
        p->x[series][s->count] = x;
        p->y[series][s->count++] = y;
    }
}

void report_end_plot(report *r, const report_plot *p, const char *name)
{
    if (r->options->folder == NULL || r->fault[0] != '\0') {
        return;
    }
    report_end_table(r);
    plot whole = p->plot;
    whole.series_count = 0;
    for (uint32_t s = 0; s < p->plot.series_count; s++) {
        if (p->plot.series[s].count > 0) {
            plot_series *one = &whole.series[whole.series_count++];
            *one = p->plot.series[s];
            one->name = p->names[s];
            one->x = p->x[s];
            one->y = p->y[s];
        }
    }
    image picture;
    image_error error;
    char path[1024];
    snprintf(path, sizeof path, "%s/pictures/validation-%s.png", r->options->folder, name);
    if (!plot_draw(&whole, PLOT_WIDTH, PLOT_HEIGHT, &picture)) {
        report_fail(r, "%s: there is nothing to plot, or no memory", path);
        return;
    }
    if (!image_write_png(path, &picture, &error)) {
        report_fail(r, "%s", error.text);
    }
    image_free(&picture);
    lmi_text_addf(&r->page, "\n![%s](pictures/validation-%s.png)\n", whole.title, name);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The page
 */

static void name_machine(char text[128])
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r"); /* where there is such */
    snprintf(text, 128, "an unnamed processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(text, 128, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void write_head(report *r, text_buffer *head)
{
    char machine[128], date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    name_machine(machine);
    lmi_text_addf(
        head,
        "# Validation\n\n"
        "How well materials in physical units hold, against closed forms of linear elasticity. This page and its "
        "plots are made by\n\n"
        "    limber validate%s%s%s --out docs\n\n"
        "Made on %s by Limber %s, in %.0f s of one core of %s. The figures do not depend on the machine: every "
        "instruction set and\n"
        "number of threads gives the same bits. `limber validate --quick` is part of `make test`, with the "
        "limits at the end of this page.\n\n"
        "Specimens are bars of square section unless a table says otherwise. *Thickness* is counted in cells of "
        "the sampling; *width* is\n"
        "that of regions in cells: a region of width w reaches w cells to each side (tetrahedra have their "
        "one-ring). All materials are far from\n"
        "what the substep can reach unless a row says *limited*. Tinted bands in plots show what is asked of the "
        "engine.\n",
        r->options->quick ? " --quick" : "", r->options->only != NULL ? " --only " : "",
        r->options->only != NULL ? r->options->only : "", date, lm_version(), processor_seconds() - r->began, machine);
}

static void write_page(report *r)
{
    text_buffer whole = {.bytes = NULL};
    write_head(r, &whole);
    lmi_text_add(&whole, r->page.bytes, r->page.length);
    lmi_text_addf(&whole, "\n## Limits\n\n%u of %u values are within their limits (`validate/limits.c`).\n\n",
                  (unsigned)(r->checks - r->off), (unsigned)r->checks);
    lmi_text_add(&whole, r->limits.bytes, r->limits.length);
    size_t length = whole.length;
    char *text = lmi_text_take(&whole), path[1024], error[PARTIAL_ERROR_SIZE];
    partial_file file;
    snprintf(path, sizeof path, "%s/validation.md", r->options->folder);
    if (text == NULL) {
        report_fail(r, "out of memory");
    } else if (!lmi_partial_open(&file, path, error)) {
        report_fail(r, "%s", error);
    } else {
        lmi_partial_write(&file, text, length);
        if (!lmi_partial_keep(&file, error)) {
            report_fail(r, "%s", error);
        }
    }
    free(text);
}

void report_finish(report *r)
{
    report_end_table(r);
    if (r->options->folder != NULL && r->fault[0] == '\0') {
        write_page(r);
    }
    if (!r->options->json && r->fault[0] == '\0') {
        printf("%u of %u values are within their limits, %.1f s of processor time\n", (unsigned)(r->checks - r->off),
               (unsigned)r->checks, processor_seconds() - r->began);
    }
    lmi_text_free(&r->page);
    lmi_text_free(&r->limits);
    free(r->table.cells);
}
