/*
 * Limber over MPI: limber::mpi, built where MPI is found (docs/cluster.md).
 *
 * Sweeps: one scene run many times with other values, each run a world of its own on one rank. Every function here is collective: all
 * ranks of the communicator call it with the same arguments, and all get the same result.
 */
#ifndef LIMBER_MPI_H
#define LIMBER_MPI_H

#include "limber/limber.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LM_MPI_ERROR_SIZE 600
#define LM_MPI_MAX_VARIED 8

typedef struct lm_mpi_error {
    char text[LM_MPI_ERROR_SIZE]; /* one line */
} lm_mpi_error;

/* Called on rank 0 after each run: `done` of `runs` are in the table, the last of them by `rank`. */
typedef void (*lm_mpi_sweep_progress)(void *user, uint32_t done, uint32_t runs, int rank);

typedef struct lm_mpi_sweep_def {
    const char *scene; /* a built-in scene, or a path, as in lm_scene_open; every rank must be able to read it */
    const char *const *sets;
    uint32_t set_count; /* "bodies[0].mass=2", the same for all runs */

    /* What varies, at most LM_MPI_MAX_VARIED: "PATH=FROM:TO:lin:COUNT", "PATH=FROM:TO:log:COUNT" or "PATH=VALUE,VALUE,...". Several
     * make a grid, in which the last varies fastest. */
    const char *const *vary;
    uint32_t vary_count;

    /* What is measured: an entry of a scene's expect block without its bound, as JSON ({"measure": "height", "body": "ball"}), or for
     * short "[end:|max:|min:|mean:]MEASURE[@BODY]". Of one body, or of the world. */
    const char *const *measures;
    uint32_t measure_count;

    uint32_t frames;  /* 0: as many as the scene says */
    uint32_t threads; /* of each world; 0: 1 */
    lm_isa isa;

    /* The table (CSV). A line is appended, whole, when a run has ended; when all have, they are put in order. If the file is there
     * and of the same sweep, what is finished in it is not run again; of another sweep, it is an error. */
    const char *out;

    lm_mpi_sweep_progress progress; /* or null */
    void *progress_user;
} lm_mpi_sweep_def;

typedef struct lm_mpi_sweep_report {
    uint32_t runs;               /* in the table */
    uint32_t skipped;            /* that were finished before */
    uint32_t failed;             /* lines that say why instead of numbers; they are tried again next time */
    char why[LM_MPI_ERROR_SIZE]; /* of the first of them: the reason; "" where none failed */
} lm_mpi_sweep_report;

lm_mpi_sweep_def lm_mpi_sweep_def_default(void);

/* Runs what is not finished yet. Rank 0 hands out the runs, one at a time, and writes; the other ranks simulate, so that of n ranks
 * n - 1 are busy. A single rank does both. With *error on every rank: LM_ERROR_ARGUMENT (a definition that cannot be understood, a
 * scene that cannot be read, a table of another sweep), LM_ERROR_MEMORY, or LM_ERROR_FORMAT (the table cannot be read or written).
 * `report` may be null. */
lm_result lm_mpi_sweep(const lm_mpi_sweep_def *def, MPI_Comm comm, lm_mpi_sweep_report *report, lm_mpi_error *error);

#ifdef __cplusplus
}
#endif

#endif
