/*
 * What a run of studies found: tables for the terminal or JSON lines, a page in Markdown, and plots.
 */
#ifndef LIMBER_VALIDATE_REPORT_H
#define LIMBER_VALIDATE_REPORT_H

#include "draw/plot.h"
#include "support/text.h"
#include "validate/validate.h"

#define REPORT_MOST_COLUMNS 10
#define REPORT_CELL 56
#define REPORT_MOST_POINTS 64

typedef struct report_table {
    char (*cells)[REPORT_MOST_COLUMNS][REPORT_CELL]; /* the first row has the names of columns */
    uint32_t columns, rows, capacity;
} report_table;

typedef struct report {
    const validate_options *options;
    const char *study; /* that runs now */
    text_buffer page, limits;
    report_table table;
    uint32_t checks, off;
    double began;                    /* seconds of processor time */
    char fault[VALIDATE_FAULT_SIZE]; /* not empty: the run has failed */
} report;

/* A plot while it is made. */
typedef struct report_plot {
    plot plot;
    char names[PLOT_MOST_SERIES][48];
    double x[PLOT_MOST_SERIES][REPORT_MOST_POINTS], y[PLOT_MOST_SERIES][REPORT_MOST_POINTS];
} report_plot;

/* One line that says what could not be done; false, for `return`. The first one is kept. */
bool report_fail(report *report, const char *format, ...) LIKE_PRINTF(2, 3);

void report_begin(report *report);
void report_study(report *report, const char *name, const char *title, const char *text);

/* A table: its columns, joined by |, then rows of the same form; it ends with the next table or report_end_table. */
void report_columns(report *report, const char *columns);
void report_row(report *report, const char *format, ...) LIKE_PRINTF(2, 3);
void report_end_table(report *report);

/* A paragraph of the page. */
void report_text(report *report, const char *text);

/* Whether a value is within the limit of its quantity in this study; it is counted, and told where it is not. */
void report_check(report *report, const char *quantity, double value, const char *format, ...) LIKE_PRINTF(4, 5);

/* A series of a plot, to which points are added; and the plot as pictures/validation-NAME.png of the page. */
uint32_t report_series(report_plot *plot, bool joined, bool dashed, const char *format, ...) LIKE_PRINTF(4, 5);
void report_point(report_plot *plot, uint32_t series, double x, double y);
void report_end_plot(report *report, const report_plot *plot, const char *name);

/* Writes the page, where there is a folder for it, and frees everything. */
void report_finish(report *report);

#endif
