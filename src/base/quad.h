/*
 * Four floats in one register: x y z and one more, as particles are stored. For work that jumps from particle to particle,
 * where lanes (lanes.h) have nothing to stand side by side. Every processor computes the same bits.
 */
#ifndef LMI_QUAD_H
#define LMI_QUAD_H

#include "base/vec.h"

typedef float quad __attribute__((vector_size(16)));

static inline quad quad_of(float x, float y, float z) { return (quad){x, y, z, 0.0f}; }
static inline quad quad_from(lm_dvec3 a) { return quad_of((float)a.x, (float)a.y, (float)a.z); }
static inline quad quad_load(const float *p) { return *(const quad *)(const void *)p; } /* p: aligned to 16 bytes */
static inline void quad_store(float *p, quad a) { *(quad *)(void *)p = a; }
static inline lm_dvec3 quad_to(quad a) { return dvec(a[0], a[1], a[2]); }

/* Of x, y and z. */
static inline float quad_dot(quad a, quad b)
{
    quad p = a * b;
    return (p[0] + p[1]) + p[2];
}

static inline float quad_length(quad a) { return sqrtf(quad_dot(a, a)); }

static inline quad quad_cross(quad a, quad b)
{
    quad a1 = __builtin_shufflevector(a, a, 1, 2, 0, 3), b1 = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    quad a2 = __builtin_shufflevector(a, a, 2, 0, 1, 3), b2 = __builtin_shufflevector(b, b, 1, 2, 0, 3);
    return a1 * b1 - a2 * b2;
}

#endif
