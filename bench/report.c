/*
 * Numbers are printed through support/text.h, which does not depend on the locale: JSON has no decimal comma.
 */
#include "report.h"

#include "runner.h"
#include "support/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_samples_add(bench_samples *samples, double value)
{
    if (samples->count == samples->capacity) {
        uint32_t capacity = samples->capacity ? 2 * samples->capacity : 64;
        double *values = realloc(samples->values, capacity * sizeof *values);
        if (!values) {
            samples->failed = true;
            return;
        }
        samples->values = values;
        samples->capacity = capacity;
    }
    samples->values[samples->count++] = value;
}

void bench_samples_free(bench_samples *samples)
{
    free(samples->values);
    *samples = (bench_samples){0};
}

double bench_samples_fastest(const bench_samples *samples)
{
    double fastest = samples->count ? samples->values[0] : 0.0;
    for (uint32_t i = 1; i < samples->count; i++) fastest = fmin(fastest, samples->values[i]);
    return fastest;
}

static int compare_doubles(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

double bench_samples_median(bench_samples *samples)
{
    if (samples->count == 0) return 0.0;
    qsort(samples->values, samples->count, sizeof *samples->values, compare_doubles);
    uint32_t middle = samples->count / 2;
    if (samples->count % 2) return samples->values[middle];
    return 0.5 * (samples->values[middle - 1] + samples->values[middle]);
}

void bench_report_add(bench_report *report, bench_row row, bench_samples *samples)
{
    row.fastest = bench_samples_fastest(samples);
    row.median = bench_samples_median(samples);
    if (samples->failed) report->failed = true;
    if (report->count == report->capacity) {
        uint32_t capacity = report->capacity ? 2 * report->capacity : 64;
        bench_row *rows = realloc(report->rows, capacity * sizeof *rows);
        if (!rows) {
            report->failed = true;
            return;
        }
        report->rows = rows;
        report->capacity = capacity;
    }
    report->rows[report->count++] = row;
}

/* ------------------------------------------------------------------------------------------------------------------
 * JSON
 */

static void add_string(text_buffer *line, const char *key, const char *value)
{
    if (!value) return;
    lmi_text_add_json_string(line, key);
    lmi_text_addf(line, ":");
    lmi_text_add_json_string(line, value);
    lmi_text_addf(line, ",");
}

/* Rounded to four digits: nobody measures better than that. */
static void add_number(text_buffer *line, const char *key, double value)
{
    double scale = 1.0;
    while (fabs(value) * scale < 1000.0 && scale < 1e15) scale *= 10.0;
    lmi_text_add_json_string(line, key);
    lmi_text_addf(line, ":");
    lmi_text_add_json_number(line, round(value * scale) / scale);
    lmi_text_addf(line, ",");
}

/* From a particle's time to that of a surface point. */
static double per_point(const bench_row *row, double nanoseconds)
{
    return nanoseconds * row->particles / (double)row->points;
}

static void print_json(const bench_row *row, bool *failed)
{
    text_buffer line = {0};
    lmi_text_addf(&line, "{");
    add_string(&line, "bench", row->bench);
    add_string(&line, "case", row->name);
    add_string(&line, "variant", row->variant);
    add_string(&line, "stage", row->stage);
    lmi_text_addf(&line, "\"particles\":%u,\"threads\":%u,", row->particles, row->threads);
    add_string(&line, "isa", row->isa);
    add_string(&line, "mode", row->mode);
    add_string(&line, "method", row->method);
    if (row->clusters) lmi_text_addf(&line, "\"clusters\":%u,", row->clusters);
    if (row->width) lmi_text_addf(&line, "\"w\":%u,", row->width);
    add_string(&line, "damping", row->damping);
    if (row->has_lattice) {
        add_number(&line, "irregular_regions", row->irregular);
        add_number(&line, "bytes_per_particle", row->bytes_per_particle);
        add_number(&line, "peak_bytes_per_particle", row->peak_bytes_per_particle);
    }
    if (row->points) {
        lmi_text_addf(&line, "\"bodies\":%u,\"points\":%u,", row->bodies, row->points);
        add_number(&line, "share", row->share);
        add_number(&line, "ns_per_point_step", per_point(row, row->fastest));
    }
    if (row->rate_unit) {
        add_number(&line, "rate", row->rate);
        add_string(&line, "unit", row->rate_unit);
    }
    if (row->has_accuracy) {
        add_number(&line, "orthogonality_error", row->orthogonality_error);
        add_number(&line, "trace_deficit", row->trace_deficit);
    }
    add_number(&line, "ns_per_particle_step", row->fastest);
    add_number(&line, "median_ns", row->median);
    if (line.length > 0 && !line.failed) line.bytes[line.length - 1] = '}'; /* over the last comma */
    char *bytes = lmi_text_take(&line);
    if (bytes)
        puts(bytes);
    else
        *failed = true;
    free(bytes);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Table
 */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Rows that stand under one heading. */
static bool same_case(const bench_row *a, const bench_row *b)
{
    return same_text(a->bench, b->bench) && same_text(a->name, b->name) && same_text(a->mode, b->mode) &&
           a->clusters == b->clusters && a->particles == b->particles;
}

/* The first plain row of the same case, variation and stage: what a row's ratio is taken to. */
static const bench_row *plain_of(const bench_report *report, const bench_row *row)
{
    for (uint32_t i = 0; i < report->count; i++) {
        const bench_row *other = &report->rows[i];
        if (same_case(row, other) && same_text(row->stage, other->stage) && row->width == other->width &&
            same_text(row->damping, other->damping) && strcmp(other->variant, "plain") == 0)
            return other;
    }
    return NULL;
}

/* Columns that only some benchmarks have: what was varied between lines of one case. */
static void print_heading(const bench_row *row)
{
    printf("\n%s %s: ", row->bench, row->name);
    if (strcmp(row->variant, "machine") == 0)
        printf("ns for 64 bytes copied, or 16 multiply-adds");
    else
        printf("%u %s", row->particles, row->has_accuracy ? "matrices" : "particles");
    if (row->clusters) printf(", %u clusters", row->clusters);
    if (row->mode) printf(", %s", row->mode);
    if (row->points) printf(", %u bodies, %u points that touch", row->bodies, row->points);
    printf("\n  %-8s %-9s %7s  ", "variant", "isa", "threads");
    if (row->width) printf("%2s  ", "w");
    if (row->damping) printf("%-8s ", "damping");
    const char *last = row->points ? "a point   of the step" : row->rate_unit ? "rate" : "ratio";
    printf("%-14s %12s %12s %8s%s\n", "stage", "fastest ns", "median ns", last,
           row->has_accuracy ? "   R^T R - I   trace deficit" : "");
}

static void print_row(const bench_report *report, const bench_row *row)
{
    const bench_row *plain = plain_of(report, row);
    printf("  %-8s %-9s %7u  ", row->variant, row->isa, row->threads);
    if (row->width) printf("%2u  ", row->width);
    if (row->damping) printf("%-8s ", row->damping);
    printf("%-14s %12.2f %12.2f ", row->method ? row->method : row->stage, row->fastest, row->median);
    if (row->points) printf("%8.1f %12.1f %%", per_point(row, row->fastest), 100.0 * row->share);
    if (row->rate_unit)
        printf("%8.1f %s", row->rate, row->rate_unit);
    else if (plain && row->fastest > 0.0)
        printf("%7.2fx", plain->fastest / row->fastest);
    else
        printf("%8s", "");
    if (row->has_accuracy) printf("   %9.1e   %13.1e", row->orthogonality_error, row->trace_deficit);
    if (row->has_lattice)
        printf("   irregular %4.1f %%, %.0f bytes a particle", 100.0 * row->irregular, row->bytes_per_particle);
    printf("\n");
}

void bench_report_write(bench_report *report)
{
    bench_progress(NULL);
    for (; report->written < report->count; report->written++) {
        const bench_row *row = &report->rows[report->written];
        if (report->options->json) {
            print_json(row, &report->failed);
        } else {
            if (report->written == 0 || !same_case(row, row - 1)) print_heading(row);
            print_row(report, row);
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout)) report->failed = true;
}

bool bench_report_finish(bench_report *report)
{
    bench_report_write(report);
    bool failed = report->failed;
    free(report->rows);
    *report = (bench_report){.options = report->options};
    return !failed;
}
