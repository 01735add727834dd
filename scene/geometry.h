/*
 * Vectors, rotations and random numbers for scenes, in double precision.
 *
 * Only operations that IEEE 754 defines to the last bit are used (no libm but sqrt), so that a scene starts from the same
 * bits on every machine. Angles are degrees here, as in scene files: reducing them is exact, and 90 degrees is exactly
 * a quarter turn.
 */
#ifndef LIMBER_SCENE_GEOMETRY_H
#define LIMBER_SCENE_GEOMETRY_H

#include "limber/limber.h"

#include <math.h>

#define RADIANS_PER_DEGREE 0.017453292519943295769

typedef struct rotation {
    double x, y, z, w; /* a unit quaternion */
} rotation;

static inline lm_dvec3 vector(double x, double y, double z) { return (lm_dvec3){x, y, z}; }

static inline lm_dvec3 vector_add(lm_dvec3 a, lm_dvec3 b) { return (lm_dvec3){a.x + b.x, a.y + b.y, a.z + b.z}; }

static inline lm_dvec3 vector_subtract(lm_dvec3 a, lm_dvec3 b) { return (lm_dvec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

static inline lm_dvec3 vector_scale(lm_dvec3 a, double factor)
{
    return (lm_dvec3){a.x * factor, a.y * factor, a.z * factor};
}

static inline double vector_dot(lm_dvec3 a, lm_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline lm_dvec3 vector_cross(lm_dvec3 a, lm_dvec3 b)
{
    return (lm_dvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vector_length(lm_dvec3 a) { return sqrt(vector_dot(a, a)); }

static inline lm_dvec3 vector_mix(lm_dvec3 a, lm_dvec3 b, double share)
{
    return vector_add(a, vector_scale(vector_subtract(b, a), share));
}

static inline lm_vec3 vector_narrow(lm_dvec3 a) { return (lm_vec3){(float)a.x, (float)a.y, (float)a.z}; }

static inline lm_dvec3 vector_widen(lm_vec3 a) { return (lm_dvec3){a.x, a.y, a.z}; }

void lmi_sine_cosine(double degrees, double *sine, double *cosine);

rotation lmi_rotation_identity(void);

/* `axis` need not be a unit vector, but must not be zero. */
rotation lmi_rotation_about(lm_dvec3 axis, double degrees);

/* First about the world's x axis, then its y axis, then its z axis. */
rotation lmi_rotation_from_euler(lm_dvec3 degrees);

/* The shortest rotation that turns the Y axis to `direction`, which must not be zero. */
rotation lmi_rotation_from_up(lm_dvec3 direction);

/* First `first`, then `then`. */
rotation lmi_rotation_then(rotation first, rotation then);
lm_dvec3 lmi_rotation_apply(rotation r, lm_dvec3 v);
lm_quat lmi_rotation_narrow(rotation r);

/* Seeded random numbers (splitmix64). */
typedef struct random_source {
    uint64_t state;
} random_source;

/* Streams of different `index` for one seed are independent of each other. */
random_source lmi_random_start(uint32_t seed, uint32_t index);

/* Evenly between -1 and 1. */
double lmi_random_signed(random_source *source);
lm_dvec3 lmi_random_vector(random_source *source);

#endif
