/*
 * Specimens: bars along Y of every sampling, alone in a world without ground. Lengths in metres, density 1000 kg/m³.
 */
#ifndef LIMBER_VALIDATE_SPECIMEN_H
#define LIMBER_VALIDATE_SPECIMEN_H

#include "limber/limber.h"
#include "validate/report.h"

#define SPECIMEN_DENSITY 1000.0
#define SPECIMEN_PI 3.14159265358979323846

typedef enum sampling { LATTICE, OCTREE, TETS, SAMPLING_COUNT } sampling;

typedef struct specimen {
    sampling kind;
    double spacing;
    uint32_t thick, along; /* cells across and along */
    uint32_t width;        /* of regions, in cells */
    bool two_sizes;        /* of an octree: cells are twice as wide but in the lower half */
    double poisson, damping_ratio;
    double speed;   /* sqrt(E/density), m/s */
    double substep; /* seconds */
    lm_vec3 gravity;
    double air;  /* 1/s at which air stops it */
    bool pinned; /* its upper end is */
    double load; /* of a cube that is pressed: density g height / E */
} specimen;

/* A specimen in its world. Arrays have one element for each particle. */
typedef struct trial {
    lm_world *world;
    lm_body_id body;
    uint32_t count;
    lm_vec3 *rest, *now;
    float *mass;
    double lowest, highest; /* rest heights of particles */
    lm_body_info info;
} trial;

const char *sampling_name(sampling kind);

/* The speed that a substep reaches with room to spare. */
double specimen_speed(const specimen *s);

/* False: the report says why. To be closed, whatever happens. */
bool trial_open(report *report, const specimen *s, trial *t);
void trial_close(trial *t);

/* The same; where the substep does not reach the modulus, *s gets a lower speed, for which `pull` (may be null) sets gravity and
 * air again. */
bool trial_open_reachable(report *report, specimen *s, void (*pull)(specimen *s), trial *t);

/* Goes on by so many seconds in the specimen's substeps, and reads `now` and `info`. */
bool trial_run(report *report, const specimen *s, trial *t, double seconds);

/* The frequency at which a free specimen rings after a kick with the velocities `shape` (m/s at the rest positions), from four
 * passages through the middle; expected: about what it should be, hertz. 0 when it does not ring. */
typedef lm_vec3 specimen_shape(const specimen *s, const trial *t, lm_vec3 rest, double scale);
bool trial_ring(report *report, const specimen *s, trial *t, specimen_shape *shape, double scale, double expected,
                double *hertz);

#endif
