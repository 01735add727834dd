/*
 * The table of a sweep. Lines are appended whole, and given to the system one by one, so that a run that is killed loses no line
 * that was written; a torn last line is dropped when the sweep goes on.
 */
#include "mpi/sweep.h"

#include "support/partial.h"
#include "support/system.h"
#include "support/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Null where there is no file, or on failure. */
static char *read_all(const char *path, bool *ok)
{
    text_buffer out = {.bytes = NULL};
    FILE *file = lmi_system_open(path, "rb");
    char bytes[4096];
    *ok = file != NULL || errno == ENOENT;
    for (size_t got; file != NULL && (got = fread(bytes, 1, sizeof bytes, file)) > 0;) {
        lmi_text_add(&out, bytes, got);
    }
    if (file == NULL) {
        return NULL;
    }
    *ok = !ferror(file) && !out.failed;
    fclose(file);
    return lmi_text_take(&out);
}

bool lmi_sweep_line_failed(const char *line)
{
    size_t length = strlen(line);
    return length >= 2 && line[length - 2] == '"'; /* only errors are quoted at the end of a line */
}

/* Whether a whole line is one of this plan's: the number of a run, and its values. */
static bool find_run(const sweep_plan *plan, const char *line, uint32_t *run)
{
    char *end;
    unsigned long number = strtoul(line, &end, 10);
    if (end == line || number >= plan->runs) {
        return false;
    }
    *run = (uint32_t)number;
    for (uint32_t a = 0; a < plan->axis_count; a++) {
        const char *word = plan->axes[a].words[lmi_sweep_place(plan, *run, a)];
        if (*end != ',' || strncmp(end + 1, word, strlen(word)) != 0) {
            return false;
        }
        end += 1 + strlen(word);
    }
    return *end == ',';
}

/* Keeps the finished lines of a text. False when out of memory. */
static bool take_lines(sweep_table *table, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t length = (size_t)(end - text) + 1;
        char *line = malloc(length + 1);
        uint32_t run;
        if (line == NULL) {
            return false;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        if (find_run(table->plan, line, &run) && !lmi_sweep_line_failed(line) && table->lines[run] == NULL) {
            table->lines[run] = line;
            table->finished++;
        } else {
            free(line);
        }
    }
    return true;
}

/* The header and all lines that there are, in order, in the place of the file. */
static lm_result write_all(const sweep_table *table, lm_mpi_error *error)
{
    partial_file file;
    char why[PARTIAL_ERROR_SIZE];
    const char *path = table->plan->def->out, *header = table->plan->header;
    if (!lmi_partial_open(&file, path, why)) {
        return lmi_mpi_fail(error, LM_ERROR_FORMAT, "%s", why);
    }
    lmi_partial_write(&file, header, strlen(header));
    for (uint32_t n = 0; n < table->plan->runs; n++) {
        if (table->lines[n] != NULL) {
            lmi_partial_write(&file, table->lines[n], strlen(table->lines[n]));
        }
    }
    if (!lmi_partial_close(&file, why) || !lmi_partial_keep(&file, why)) {
        return lmi_mpi_fail(error, LM_ERROR_FORMAT, "%s", why);
    }
    return LM_OK;
}

lm_result lmi_sweep_table_open(const sweep_plan *plan, sweep_table *table, lm_mpi_error *error)
{
    const char *path = plan->def->out;
    bool ok;
    *table = (sweep_table){.plan = plan, .lines = calloc(plan->runs, sizeof *table->lines)};
    char *text = table->lines != NULL ? read_all(path, &ok) : NULL;
    lm_result result = LM_OK;
    if (table->lines == NULL) {
        result = lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    } else if (!ok) {
        result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: cannot be read", path);
    } else if (text != NULL && strncmp(text, plan->header, strlen(plan->header)) != 0) {
        result = lmi_mpi_fail(error, LM_ERROR_ARGUMENT,
                              "%.300s: is there and not of this sweep (remove it, or choose another name)", path);
    } else if (text != NULL && !take_lines(table, text + strlen(plan->header))) {
        result = lmi_mpi_fail(error, LM_ERROR_MEMORY, "out of memory");
    }
    free(text);
    result = result == LM_OK ? write_all(table, error) : result;
    if (result == LM_OK) {
        table->file = lmi_system_open(path, "ab");
        if (table->file == NULL) {
            result = lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: cannot be written", path);
        }
    }
    return result;
}

lm_result lmi_sweep_table_add(sweep_table *table, uint32_t run, char *line, lm_mpi_error *error)
{
    table->finished += table->lines[run] == NULL;
    free(table->lines[run]);
    table->lines[run] = line;
    if (fputs(line, table->file) < 0 || fflush(table->file) != 0) {
        return lmi_mpi_fail(error, LM_ERROR_FORMAT, "%.300s: cannot be written", table->plan->def->out);
    }
    return LM_OK;
}

lm_result lmi_sweep_table_sort(sweep_table *table, lm_mpi_error *error)
{
    fclose(table->file);
    table->file = NULL;
    return write_all(table, error);
}

void lmi_sweep_table_close(sweep_table *table)
{
    if (table->file != NULL) {
        fclose(table->file);
    }
    for (uint32_t n = 0; table->lines != NULL && n < table->plan->runs; n++) {
        free(table->lines[n]);
    }
    free(table->lines);
}
