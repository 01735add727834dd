/*
 * Four floats in one register: x y z and one more, as particles are stored. For work that jumps from particle to particle,
 * where lanes (lanes.h) have nothing to stand side by side. Every processor and both forms below compute the same bits.
 */
#ifndef LMI_QUAD_H
#define LMI_QUAD_H

#include "base/compiler.h"
#include "base/vec.h"

#if LMI_HAS_GNU

typedef float quad __attribute__((vector_size(16)));

static inline quad quad_of(float x, float y, float z) { return (quad){x, y, z, 0.0f}; }
static inline quad quad_load(const float *p) { return *(const quad *)(const void *)p; } /* p: aligned to 16 bytes */
static inline void quad_store(float *p, quad a) { *(quad *)(void *)p = a; }
static inline float quad_at(quad a, int k) { return a[k]; }
static inline quad quad_with(quad a, int k, float value)
{
    a[k] = value;
    return a;
}

static inline quad quad_add(quad a, quad b) { return a + b; }
static inline quad quad_sub(quad a, quad b) { return a - b; }
static inline quad quad_scale(quad a, float by) { return a * by; }
static inline float quad_dot(quad a, quad b) /* of x, y and z */
{
    quad p = a * b;
    return (p[0] + p[1]) + p[2];
}

static inline quad quad_cross(quad a, quad b)
{
    quad a1 = __builtin_shufflevector(a, a, 1, 2, 0, 3), b1 = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    quad a2 = __builtin_shufflevector(a, a, 2, 0, 1, 3), b2 = __builtin_shufflevector(b, b, 1, 2, 0, 3);
    return a1 * b1 - a2 * b2;
}

#else

typedef struct quad {
    float v[4];
} quad;

static inline quad quad_of(float x, float y, float z) { return (quad){{x, y, z, 0.0f}}; }
static inline quad quad_load(const float *p) { return (quad){{p[0], p[1], p[2], p[3]}}; }
static inline void quad_store(float *p, quad a)
{
    for (int k = 0; k < 4; k++) {
        p[k] = a.v[k];
    }
}
static inline float quad_at(quad a, int k) { return a.v[k]; }
static inline quad quad_with(quad a, int k, float value)
{
    a.v[k] = value;
    return a;
}

static inline quad quad_add(quad a, quad b)
{
    return (quad){{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2], a.v[3] + b.v[3]}};
}
static inline quad quad_sub(quad a, quad b)
{
    return (quad){{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2], a.v[3] - b.v[3]}};
}
static inline quad quad_scale(quad a, float by) { return (quad){{a.v[0] * by, a.v[1] * by, a.v[2] * by, a.v[3] * by}}; }
static inline float quad_dot(quad a, quad b) { return (a.v[0] * b.v[0] + a.v[1] * b.v[1]) + a.v[2] * b.v[2]; }

static inline quad quad_cross(quad a, quad b)
{
    return (quad){{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
                   a.v[0] * b.v[1] - a.v[1] * b.v[0], a.v[3] * b.v[3] - a.v[3] * b.v[3]}};
}

#endif

static inline quad quad_from(lm_dvec3 a) { return quad_of((float)a.x, (float)a.y, (float)a.z); }
static inline lm_dvec3 quad_to(quad a) { return dvec(quad_at(a, 0), quad_at(a, 1), quad_at(a, 2)); }

static inline quad quad_without_w(quad a) { return quad_of(quad_at(a, 0), quad_at(a, 1), quad_at(a, 2)); }

/* a + by * b */
static inline quad quad_add_scaled(quad a, float by, quad b) { return quad_add(a, quad_scale(b, by)); }

static inline float quad_length(quad a) { return sqrtf(quad_dot(a, a)); }

#endif
