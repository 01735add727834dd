/* limber-mpi: what runs on many ranks. Exit codes as those of limber: 0, 2 for a wrong command line, 1 for the rest. */
#include "mpi/chart.h"

#include "limber/mpi.h"
#include "support/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, FAILED, USAGE };

#define MOST_TEXTS 64

typedef struct texts {
    const char *items[MOST_TEXTS];
    uint32_t count;
} texts;

typedef struct options {
    texts sets, vary, measures;
    const char *scene, *out, *plot;
    uint32_t frames, threads;
} options;

static const char help[] =
    "usage: mpirun -n RANKS limber-mpi sweep SCENE --vary PATH=VALUES --measure WHAT --out TABLE.csv\n"
    "\n"
    "runs a scene once for each value, each run on one rank; rank 0 hands out the runs and writes the table\n"
    "\n"
    "options:\n"
    "  --vary PATH=FROM:TO:lin:COUNT  evenly spaced; :log: with even ratios; or PATH=VALUE,VALUE,...; several make a "
    "grid\n"
    "  --measure [WHEN:]MEASURE[@BODY]  as in a scene's expect block; WHEN is end (default), max, min or mean; or that "
    "entry as JSON\n"
    "  --out FILE          the table, CSV; what is finished in it is not run again\n"
    "  --plot FILE         a picture (.png) of what was measured over the first value that varies\n"
    "  --set PATH=VALUE    changes the scene of all runs\n"
    "  --frames N          default: as many as the scene says\n"
    "  --threads N         of each world; default 1\n"
    "\n"
    "limber-mpi --version tells the version. docs/cluster.md has examples.\n";

static int rank_of(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* Every rank finds the same; one says so. */
static int fail(int code, const char *what, const char *why)
{
    if (rank_of() == 0) {
        fprintf(stderr, "limber-mpi: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    }
    return code;
}

static bool read_count(const char *text, uint32_t low, uint32_t high, uint32_t *to)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    *to = (uint32_t)value;
    return end != text && *end == '\0' && text[0] != '-' && value >= low && value <= high;
}

/* -1 to go on, or the exit code. */
static int read_option(options *o, const char *name, const char *value)
{
    texts *list = strcmp(name, "--vary") == 0      ? &o->vary
                  : strcmp(name, "--measure") == 0 ? &o->measures
                  : strcmp(name, "--set") == 0     ? &o->sets
                                                   : NULL;
    const char **text = strcmp(name, "--out") == 0 ? &o->out : strcmp(name, "--plot") == 0 ? &o->plot : NULL;
    bool frames = strcmp(name, "--frames") == 0, threads = strcmp(name, "--threads") == 0;
    if (list == NULL && text == NULL && !frames && !threads) {
        return fail(USAGE, "unknown option (see limber-mpi --help)", name);
    }
    if (value == NULL) {
        return fail(USAGE, "a value is missing", name);
    }
    if (list != NULL && list->count == MOST_TEXTS) {
        return fail(USAGE, "given too often", name);
    }
    if (list != NULL) {
        list->items[list->count++] = value;
    } else if (text != NULL) {
        *text = value;
    } else if (!read_count(value, 1, frames ? 100000000 : LM_MAX_WORKERS, frames ? &o->frames : &o->threads)) {
        return fail(USAGE, frames ? "--frames: expected a count" : "--threads: expected a count", value);
    }
    return -1;
}

static int read_options(options *o, int argc, char **argv)
{
    for (int n = 0; n < argc; n++) {
        if (argv[n][0] == '-' && argv[n][1] == '-') {
            int code = read_option(o, argv[n], n + 1 < argc ? argv[n + 1] : NULL);
            if (code >= 0) {
                return code;
            }
            n++;
        } else if (o->scene == NULL) {
            o->scene = argv[n];
        } else {
            return fail(USAGE, "one scene is enough", argv[n]);
        }
    }
    if (o->scene == NULL || o->out == NULL || o->vary.count == 0 || o->measures.count == 0) {
        return fail(USAGE, "sweep: SCENE, --vary, --measure and --out are needed (see limber-mpi --help)", "");
    }
    return -1;
}

typedef struct tally {
    uint32_t *runs; /* of each rank */
    bool shown;     /* on a terminal, in one line that is written over */
} tally;

static void count_run(void *user, uint32_t done, uint32_t runs, int rank)
{
    tally *t = user;
    if (t->runs != NULL) {
        t->runs[rank]++;
    }
    if (t->shown) {
        fprintf(stderr, "\r%u of %u%s", (unsigned)done, (unsigned)runs, done == runs ? "\n" : "");
    }
}

/* "runs of each rank: 0 12 13 11" */
static void print_tally(const tally *t, int ranks)
{
    printf("runs of each rank:");
    for (int n = 0; n < ranks && t->runs != NULL; n++) {
        printf(" %u", (unsigned)t->runs[n]);
    }
    printf("\n");
}

static int sweep(int argc, char **argv)
{
    options o = {.threads = 1};
    int code = read_options(&o, argc, argv);
    if (code >= 0) {
        return code;
    }
    lm_mpi_sweep_def def = lm_mpi_sweep_def_default();
    lm_mpi_sweep_report report;
    lm_mpi_error error;
    def.scene = o.scene;
    def.sets = o.sets.items, def.set_count = o.sets.count;
    def.vary = o.vary.items, def.vary_count = o.vary.count;
    def.measures = o.measures.items, def.measure_count = o.measures.count;
    def.frames = o.frames;
    def.threads = o.threads;
    def.out = o.out;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tally counts = {calloc((size_t)ranks, sizeof *counts.runs), lmi_system_is_terminal(stderr)};
    def.progress = count_run;
    def.progress_user = &counts;
    double start = MPI_Wtime();
    lm_result result = lm_mpi_sweep(&def, MPI_COMM_WORLD, &report, &error);
    if (result == LM_OK && rank_of() == 0) {
        printf("%s: %u runs, %u finished before, %.1f s\n", o.scene, (unsigned)report.runs, (unsigned)report.skipped,
               MPI_Wtime() - start);
        print_tally(&counts, ranks);
    }
    free(counts.runs);
    if (result != LM_OK) {
        return fail(result == LM_ERROR_ARGUMENT ? USAGE : FAILED, "sweep", error.text);
    }
    if (rank_of() != 0) {
        return report.failed > 0 ? FAILED : OK;
    }
    if (o.plot != NULL && lmi_sweep_chart(&def, o.plot, &error) != LM_OK) {
        return fail(FAILED, "sweep", error.text);
    }
    if (report.failed > 0) {
        fprintf(stderr, "limber-mpi: %u of %u runs failed, one of them by: %s (%s has them all)\n",
                (unsigned)report.failed, (unsigned)report.runs, report.why, o.out);
        return FAILED;
    }
    return OK;
}

static int run_command(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "sweep") == 0) {
        if (argc >= 3 && strcmp(argv[2], "--help") == 0) {
            if (rank_of() == 0) {
                fputs(help, stdout);
            }
            return OK;
        }
        return sweep(argc - 2, argv + 2);
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        if (rank_of() == 0) {
            fputs(help, stdout);
        }
        return OK;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        if (rank_of() == 0) {
            printf("limber-mpi %s\n", lm_version());
        }
        return OK;
    }
    return fail(USAGE, argc < 2 ? "a command is missing (see limber-mpi --help)" : "unknown command",
                argc < 2 ? "" : argv[1]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int code = run_command(argc, argv);
    if (rank_of() == 0 && (fflush(stdout) != 0 || ferror(stdout)) && code == OK) {
        code = FAILED;
    }
    MPI_Finalize();
    return code;
}
