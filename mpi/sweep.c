/*
 * A sweep over ranks: rank 0 hands out runs one at a time and writes the table, the others simulate. Whoever is done sooner gets the next
 * run sooner, so runs may take very different times.
 *
 * A worker asks by sending the line of its last run (at first: an empty one); the answer is the number of the next one, or NO_RUN.
 * Rank 0 sleeps between looks for messages, so that it takes no core from a worker.
 */
#include "mpi/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

enum { TAG_LINE = 1, TAG_RUN = 2 };

#define NO_RUN UINT32_MAX

/* What a worker sends before a line: of which run. */
#define LINE_HEAD sizeof(uint32_t)

static void rest(void)
{
    const struct timespec pause = {0, 1000000};
    thrd_sleep(&pause, NULL);
}

/* Waits for a message without taking a core. */
static MPI_Status await(MPI_Comm comm)
{
    MPI_Status status;
    for (int there = 0;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status);
        if (there) {
            return status;
        }
        rest();
    }
}

static uint32_t next_run(const sweep_table *table, uint32_t after)
{
    while (after < table->plan->runs && table->lines[after] != NULL) {
        after++;
    }
    return after < table->plan->runs ? after : NO_RUN;
}

/* The reason at the end of a line that failed, without its quotes. */
static void keep_reason(const char *line, char *why, size_t size)
{
    const char *end = strrchr(line, '"'), *start = end;
    while (start > line && start[-1] != '"') {
        start--;
    }
    snprintf(why, size, "%.*s", (int)(end - start), start);
}

/* A line that `rank` made, or null where it had no memory for it. */
static lm_result take_line(sweep_table *table, uint32_t run, char *line, int rank, lm_mpi_sweep_report *report,
                           lm_mpi_error *error)
{
    const lm_mpi_sweep_def *def = table->plan->def;
    if (line == NULL) {
        return lmi_mpi_fail(error, LM_ERROR_MEMORY, "run %u: out of memory on rank %d", (unsigned)run, rank);
    }
    if (lmi_sweep_line_failed(line) && report->failed++ == 0) {
        keep_reason(line, report->why, sizeof report->why);
    }
    lm_result result = lmi_sweep_table_add(table, run, line, error);
    if (def->progress != NULL) {
        def->progress(def->progress_user, table->finished, table->plan->runs, rank);
    }
    return result;
}

static lm_result run_alone(sweep_table *table, lm_mpi_sweep_report *report, lm_mpi_error *error)
{
    lm_result result = LM_OK;
    for (uint32_t run = next_run(table, 0); run != NO_RUN && result == LM_OK; run = next_run(table, run + 1)) {
        result = take_line(table, run, lmi_sweep_run(table->plan, run), 0, report, error);
    }
    return result;
}

/* Until every worker was told that there is nothing left. After a failure nothing more is handed out. */
static lm_result hand_out(sweep_table *table, MPI_Comm comm, int workers, lm_mpi_sweep_report *report,
                          lm_mpi_error *error)
{
    lm_result result = LM_OK;
    uint32_t next = next_run(table, 0);
    while (workers > 0) {
        MPI_Status status = await(comm);
        int size;
        MPI_Get_count(&status, MPI_BYTE, &size);
        char *bytes = malloc((size_t)size + 1);
        if (bytes == NULL) {
            fprintf(stderr, "limber-mpi: out of memory on rank 0\n");
            MPI_Abort(comm, 1); /* the line cannot be received, so the worker could not be told */
            abort();
        }
        MPI_Recv(bytes, size, MPI_BYTE, status.MPI_SOURCE, TAG_LINE, comm, MPI_STATUS_IGNORE);
        uint32_t run;
        memcpy(&run, bytes, sizeof run);
        bytes[size] = '\0';
        if (run != NO_RUN && result == LM_OK) {
            char *line = (size_t)size > LINE_HEAD ? malloc((size_t)size - LINE_HEAD + 1) : NULL;
            if (line != NULL) {
                memcpy(line, bytes + LINE_HEAD, (size_t)size - LINE_HEAD + 1);
            }
            result = take_line(table, run, line, status.MPI_SOURCE, report, error);
        }
        free(bytes);
        uint32_t give = result == LM_OK ? next : NO_RUN;
        MPI_Send(&give, 1, MPI_UINT32_T, status.MPI_SOURCE, TAG_RUN, comm);
        next = give == NO_RUN ? next : next_run(table, give + 1);
        workers -= give == NO_RUN;
    }
    return result;
}

static void work(const sweep_plan *plan, MPI_Comm comm)
{
    uint32_t run = NO_RUN;
    char *line = NULL;
    do {
        size_t length = line != NULL ? strlen(line) : 0;
        char *bytes = malloc(LINE_HEAD + length);
        if (bytes == NULL) {
            fprintf(stderr, "limber-mpi: out of memory on a worker\n");
            MPI_Abort(comm, 1);
            abort();
        }
        memcpy(bytes, &run, sizeof run);
        if (length > 0) {
            memcpy(bytes + LINE_HEAD, line, length);
        }
        MPI_Send(bytes, (int)(LINE_HEAD + length), MPI_BYTE, 0, TAG_LINE, comm);
        free(bytes);
        free(line);
        MPI_Recv(&run, 1, MPI_UINT32_T, 0, TAG_RUN, comm, MPI_STATUS_IGNORE);
        line = run != NO_RUN ? lmi_sweep_run(plan, run) : NULL;
    } while (run != NO_RUN);
}

/* What rank 0 has found out, to all. */
static lm_result agree(MPI_Comm comm, lm_result result, lm_mpi_sweep_report *report, lm_mpi_error *error)
{
    int code = (int)result;
    MPI_Bcast(&code, 1, MPI_INT, 0, comm);
    MPI_Bcast(report, (int)sizeof *report, MPI_BYTE, 0, comm);
    MPI_Bcast(error->text, LM_MPI_ERROR_SIZE, MPI_CHAR, 0, comm);
    return (lm_result)code;
}

/* Every rank makes the plan; where memory fails on one of them, none goes on. */
static lm_result plan_together(const lm_mpi_sweep_def *def, MPI_Comm comm, sweep_plan *plan, lm_mpi_error *error)
{
    lm_result result = def->out != NULL && def->scene != NULL
                           ? lmi_sweep_plan(def, plan, error)
                           : lmi_mpi_fail(error, LM_ERROR_ARGUMENT, "expected a scene and a table to write");
    int mine = (int)result, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm);
    if (worst != LM_OK && mine == LM_OK) {
        lmi_mpi_fail(error, (lm_result)worst, "out of memory on another rank");
    }
    return (lm_result)worst;
}

lm_result lm_mpi_sweep(const lm_mpi_sweep_def *def, MPI_Comm comm, lm_mpi_sweep_report *report, lm_mpi_error *error)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    lm_mpi_sweep_report own = {0};
    sweep_plan plan = {.axis_count = 0};
    sweep_table table = {.lines = NULL};
    error->text[0] = '\0';
    lm_result result = plan_together(def, comm, &plan, error);
    if (result == LM_OK) {
        if (rank == 0) {
            result = lmi_sweep_table_open(&plan, &table, error);
            own.runs = plan.runs;
            own.skipped = table.finished;
        }
        result = agree(comm, result, &own, error);
    }
    if (result == LM_OK && rank > 0) {
        work(&plan, comm);
    } else if (result == LM_OK) {
        result = size > 1 ? hand_out(&table, comm, size - 1, &own, error) : run_alone(&table, &own, error);
        result = result == LM_OK ? lmi_sweep_table_sort(&table, error) : result;
    }
    result = agree(comm, result, &own, error);
    lmi_sweep_table_close(&table);
    lmi_sweep_plan_free(&plan);
    if (report != NULL) {
        *report = own;
    }
    return result;
}
