/* A sweep in three parts: the plan (which values), one run (a world and what is measured), the table (CSV). */
#ifndef LIMBER_MPI_SWEEP_H
#define LIMBER_MPI_SWEEP_H

#include "limber/mpi.h"

#include <stdio.h>

/* One value that varies. */
typedef struct sweep_axis {
    char *path;
    double *values; /* null where they are words */
    char **words;   /* as they are written in the table and set in the scene */
    uint32_t count;
} sweep_axis;

typedef struct sweep_plan {
    sweep_axis axes[LM_MPI_MAX_VARIED];
    uint32_t axis_count;
    uint32_t runs;
    char *expect; /* "expect=[...]": what is measured, as a setting of the scene */
    char *header; /* the first two lines of the table: what it is of, and the names of the columns */
    const lm_mpi_sweep_def *def;
} sweep_plan;

/* plan.c */
lm_result lmi_sweep_plan(const lm_mpi_sweep_def *def, sweep_plan *plan, lm_mpi_error *error);
void lmi_sweep_plan_free(sweep_plan *plan);
uint32_t lmi_sweep_place(const sweep_plan *plan, uint32_t run, uint32_t axis); /* index of its value */

/* run.c: the line of a run, with its line break: to be freed by the caller; null when out of memory. */
char *lmi_sweep_run(const sweep_plan *plan, uint32_t run);

/* table.c */
typedef struct sweep_table {
    const sweep_plan *plan;
    FILE *file;
    char **lines;      /* [runs], or null: not finished */
    uint32_t finished; /* of them, those that are not null */
} sweep_table;

/* Reads what is finished and makes the file anew with it, ready for more lines. */
lm_result lmi_sweep_table_open(const sweep_plan *plan, sweep_table *table, lm_mpi_error *error);
/* Appends the line, which it takes over. */
lm_result lmi_sweep_table_add(sweep_table *table, uint32_t run, char *line, lm_mpi_error *error);
/* All lines in their order. */
lm_result lmi_sweep_table_sort(sweep_table *table, lm_mpi_error *error);
void lmi_sweep_table_close(sweep_table *table);
bool lmi_sweep_line_failed(const char *line);

lm_result lmi_mpi_fail(lm_mpi_error *error, lm_result result, const char *format, ...);

#endif
