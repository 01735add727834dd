/*
 * What the tests share: cmocka, a seeded generator, clouds of points, sample bodies of every kind, and momentum
 * measured in double precision from the particles themselves.
 */
#ifndef LIMBER_TEST_SUPPORT_H
#define LIMBER_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "limber/limber.h"
#include "test/reference/linear.h"

#define FRAME (1.0 / 60.0)

/* Asserts with the numbers in the message: `value` must be at most `limit`. */
#define assert_at_most(value, limit) expect_at_most((double)(value), (double)(limit), #value, __FILE__, __LINE__)
#define assert_near(value, expected, tolerance)                                                                        \
    expect_near((double)(value), (double)(expected), (double)(tolerance), #value, __FILE__, __LINE__)
#define assert_ok(call) assert_result(call, LM_OK)
#define assert_result(call, expected) expect_result(call, expected, #call, __FILE__, __LINE__)

void expect_at_most(double value, double limit, const char *text, const char *file, int line);
void expect_near(double value, double expected, double tolerance, const char *text, const char *file, int line);
void expect_result(lm_result result, lm_result expected, const char *text, const char *file, int line);

/* ---- random numbers: splitmix64, the same on every machine ----
 *
 * One draw a declaration: arguments and initialisers of one list are evaluated in an order that compilers choose. */

typedef struct random_state {
    uint64_t state;
} random_state;

uint64_t random_bits(random_state *random);
double random_range(random_state *random, double low, double high);
uint32_t random_below(random_state *random, uint32_t limit);
ref_vec random_in_cube(random_state *random, double half);
ref_vec random_in_box(random_state *random, ref_vec low, ref_vec high);
ref_mat random_rotation(random_state *random);

/* ---- sample bodies ---- */

typedef enum sample_kind {
    SAMPLE_BOX,   /* a grid of 4 x 3 x 3 points in one cluster */
    SAMPLE_BLOB,  /* 40 random points in a ball, one cluster, masses that differ */
    SAMPLE_SHEET, /* 6 x 5 points, exactly flat, one cluster */
    SAMPLE_STICK, /* 12 x 2 x 2 points, one cluster six times as long as wide */
    SAMPLE_CELL,  /* the eight corners of a cube: the smallest solid */
    SAMPLE_GRID,  /* 7 x 5 x 5 points in 2 x 2 x 2 overlapping clusters */
    SAMPLE_STRIP, /* 12 x 3 points, exactly flat, in five overlapping clusters */
    SAMPLE_ROD,   /* 20 x 2 x 2 points in four overlapping clusters */
    SAMPLE_LISTS, /* 36 points in lists of different lengths; some points in none */
    SAMPLE_LARGE, /* 12 x 4 x 4 points in two overlapping clusters of more than 64 */
    SAMPLE_TETS,  /* 5 x 4 x 3 points moved a little at random, tetrahedra between them */
    SAMPLE_KIND_COUNT
} sample_kind;

typedef struct sample {
    lm_body_def def; /* points into the arrays below */
    lm_vec3 *points;
    float *masses;
    uint32_t *offsets, *members;
    uint32_t *tets;
    uint32_t count;
    double size; /* the longest side of the bounding box */
} sample;

const char *sample_name(sample_kind kind);
sample sample_make(sample_kind kind, random_state *random);
void sample_free(sample *sample);

/* A grid of nx x ny x nz points around the origin. */
lm_vec3 *grid_points(uint32_t nx, uint32_t ny, uint32_t nz, double spacing);

/* The cells of such a grid as six tetrahedra each, four indices a tetrahedron, the right way round. */
uint32_t *grid_tets(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t *count);

/* A world with one worker and the given gravity along Y. */
lm_world *make_world(double gravity);
lm_world *make_world_with(double gravity, lm_isa isa, uint32_t workers);
lm_body_id make_body(lm_world *world, const lm_body_def *def);

/* Frames. */
void steps(lm_world *world, int count);

/* A body of one particle; `material` may be null. */
lm_body_id make_particle(lm_world *world, ref_vec at, ref_vec velocity, const lm_material *material, double radius);

/* Of a body of one particle; each may be null. */
void read_particle(const lm_world *world, lm_body_id body, ref_vec *x, ref_vec *v);

/* A world loaded from a snapshot of this one has the same bytes, and goes on for some frames with the same hashes. */
void assert_reloads(lm_world *world, int frames);

/* Gives a collider's definition what height maps and meshes need: a hill of 4 x 3 samples, a tetrahedron. */
void give_arrays(lm_collider_def *def);

/* Puts the body into a random state: turned, every coordinate jittered by up to `jitter` metres, with a random velocity,
 * spin and velocity jitter of up to `speed` m/s. */
void randomise_state(lm_world *world, lm_body_id body, random_state *random, double jitter, double speed);

/* Turned, every coordinate moved by up to `dent` metres, flying at 1 m/s, spinning at `spin` rad/s, every component of the
 * velocity changed by up to `ring` m/s. */
void excite(lm_world *world, lm_body_id body, random_state *random, double dent, double ring, double spin);

lm_dvec3 body_centre(const lm_world *world, lm_body_id body);

/* ---- measuring ---- */

typedef struct body_state {
    uint32_t count;
    ref_vec *x, *v; /* relative to the base asked for */
    double *mass;
} body_state;

body_state state_read(const lm_world *world, lm_body_id body, lm_dvec3 base);
void state_free(body_state *state);

typedef struct motion {
    double mass;
    ref_vec centre;
    ref_vec momentum, angular; /* angular momentum about the centre of mass */
    double momentum_scale;     /* sum m |v| */
    double angular_scale;      /* sum m |x - c| |v - u| */
    double kinetic;
    bool finite;
} motion;

motion motion_of(const body_state *state);
motion motion_read(const lm_world *world, lm_body_id body, lm_dvec3 base);

/* The largest distance of a particle from the rest shape, fitted as a rigid body, in metres. */
double deformation(const lm_world *world, lm_body_id body);

/* The same from `shape`, one point for each particle. */
double deformation_from(const lm_world *world, lm_body_id body, const ref_vec *shape);

static inline ref_vec to_double(lm_vec3 a) { return ref_v((double)a.x, (double)a.y, (double)a.z); }

static inline lm_vec3 to_float(ref_vec a) { return (lm_vec3){(float)a.x, (float)a.y, (float)a.z}; }

static inline lm_dvec3 to_dvec3(ref_vec a) { return (lm_dvec3){a.x, a.y, a.z}; }

/* The quaternion of a rotation by |w| about w. */
lm_quat quaternion(ref_vec w);

/* Whether all variants are to be tried, as `make test-long` does (LIMBER_TEST_LONG=1); else those that `make test` has time for. */
static inline bool test_is_long(void) { return getenv("LIMBER_TEST_LONG") != NULL; }

/* How much of something to try: less under the sanitizers, where it takes twenty times as long and passes over the same lines. */
static inline uint32_t test_tries(uint32_t all, uint32_t sanitized)
{
#ifdef LIMBER_SANITIZED
    return test_is_long() ? all : sanitized;
#else
    (void)sanitized;
    return all;
#endif
}

#endif
