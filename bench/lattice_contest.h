/*
 * Contestants of the bench "lattice": worlds of one shape, and the plain program. They take turns of a few steps each,
 * again and again, so that a busy machine slows all of them alike.
 */
#ifndef LIMBER_BENCH_LATTICE_CONTEST_H
#define LIMBER_BENCH_LATTICE_CONTEST_H

#include "lattice_cells.h"
#include "plain_lattice.h"
#include "report.h"

#define LATTICE_MAX_CONTESTANTS 64

/* Ways of damping that are measured. */
typedef enum lattice_damping {
    LATTICE_UNDAMPED, /* what the plain program has */
    LATTICE_GLOBAL,   /* deformation velocity against the body's motion as a whole */
    LATTICE_REGIONAL, /* against the motion of the regions around each particle, in every step */
    LATTICE_DAMPING_COUNT
} lattice_damping;

typedef enum lattice_kind {
    LATTICE_WORLD,      /* steps of the library */
    LATTICE_PLAIN,      /* steps of the plain program */
    LATTICE_PLAIN_SUMS, /* its sums alone: there and back, 12 channels each */
    LATTICE_WORLD_SUMS, /* the library's gather and scatter alone, without the sweep that fuses them */
    LATTICE_KIND_COUNT
} lattice_kind;

enum { LATTICE_ROW_STEP = LM_STAGE_COUNT, LATTICE_ROW_COUNT };

/* Bytes that a world holds, counted by the allocator that it is given. */
typedef struct lattice_bytes {
    size_t now, peak;
} lattice_bytes;

typedef struct lattice_contestant {
    lattice_kind kind;
    const char *name;   /* of the case */
    const char *method; /* of sums, or null */
    lm_world *world;    /* shared with the contestant before this one where `shared` */
    plain_lattice *plain;
    bool shared;
    plain_sums sums;
    lattice_damping damping;
    lm_isa isa;
    uint32_t threads, width, particles;
    double irregular; /* share of the regions */
    lattice_bytes *bytes;
    lattice_bytes held; /* of those, after its first turn: what others that share the world need is not its own */
    float *input, *between, *output, *scratch; /* of sums on their own */
    bench_samples rows[LATTICE_ROW_COUNT];
} lattice_contestant;

typedef struct lattice_contest {
    lattice_contestant list[LATTICE_MAX_CONTESTANTS];
    uint32_t count;
} lattice_contest;

/* A world of the cells with one instruction set and number of threads, once without damping and, unless only that is
 * wanted, once with each kind of it. False when out of memory. */
bool lattice_contest_add_world(lattice_contest *contest, const lattice_cells *cells, uint32_t width, lm_isa isa,
                               uint32_t threads, bool damped);

/* The plain program on a box of these cells. */
bool lattice_contest_add_plain(lattice_contest *contest, const lattice_cells *box, uint32_t width);

/* Sums alone on a box: the plain program's three ways, and the library's. */
bool lattice_contest_add_sums(lattice_contest *contest, const lattice_cells *box, uint32_t width, lm_isa isa);

/* Everyone takes `rounds` turns of `steps` steps; the rows of all are reported and all is freed. Returns the status for
 * bench_run; `made` false says that memory ran out while contestants were added. */
int lattice_contest_run(lattice_contest *contest, bool made, uint32_t rounds, uint32_t steps, bench_report *report);

#endif
