/*
 * Small vectors and matrices in lanes.
 */
#ifndef LMI_VMAT_H
#define LMI_VMAT_H

#include "base/lanes.h"

typedef struct v3 {
    vf x, y, z;
} v3;

/* From `lane` on of a block that has all x, then all y, then all z. */
static inline v3 v3_load(const float *p, uint32_t lane)
{
    return (v3){vf_load(p + lane), vf_load(p + LMI_BLOCK + lane), vf_load(p + 2 * LMI_BLOCK + lane)};
}

static inline void v3_store(float *p, uint32_t lane, v3 a)
{
    vf_store(p + lane, a.x);
    vf_store(p + LMI_BLOCK + lane, a.y);
    vf_store(p + 2 * LMI_BLOCK + lane, a.z);
}

static inline v3 v3_add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline v3 v3_sub(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline v3 v3_scale(vf s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
static inline vf v3_dot(v3 a, v3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
static inline vf v3_length(v3 a) { return vf_sqrt(v3_dot(a, a)); }

static inline v3 v3_cross(v3 a, v3 b)
{
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline v3 v3_select(vm m, v3 yes, v3 no)
{
    return (v3){vf_select(m, yes.x, no.x), vf_select(m, yes.y, no.y), vf_select(m, yes.z, no.z)};
}

typedef struct vmat3 {
    vf m[9]; /* row by row */
} vmat3;

static inline vmat3 vmat_multiply(vmat3 a, vmat3 b)
{
    vmat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
        }
    }
    return c;
}

/* a^T b */
static inline vmat3 vmat_multiply_transposed(vmat3 a, vmat3 b)
{
    vmat3 c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c.m[3 * i + j] = a.m[i] * b.m[j] + a.m[3 + i] * b.m[3 + j] + a.m[6 + i] * b.m[6 + j];
        }
    }
    return c;
}

static inline vmat3 vmat_transpose(vmat3 a)
{
    vmat3 c = {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
    return c;
}

static inline vmat3 vmat_cofactors(vmat3 a)
{
    vmat3 c = {{a.m[4] * a.m[8] - a.m[5] * a.m[7], a.m[5] * a.m[6] - a.m[3] * a.m[8], a.m[3] * a.m[7] - a.m[4] * a.m[6],
                a.m[2] * a.m[7] - a.m[1] * a.m[8], a.m[0] * a.m[8] - a.m[2] * a.m[6], a.m[1] * a.m[6] - a.m[0] * a.m[7],
                a.m[1] * a.m[5] - a.m[2] * a.m[4], a.m[2] * a.m[3] - a.m[0] * a.m[5],
                a.m[0] * a.m[4] - a.m[1] * a.m[3]}};
    return c;
}

static inline vf vmat_dot(vmat3 a, vmat3 b)
{
    vf rows[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = a.m[3 * i] * b.m[3 * i] + a.m[3 * i + 1] * b.m[3 * i + 1] + a.m[3 * i + 2] * b.m[3 * i + 2];
    }
    return rows[0] + rows[1] + rows[2];
}

static inline vf vmat_determinant(vmat3 a, vmat3 cofactors)
{
    return a.m[0] * cofactors.m[0] + a.m[1] * cofactors.m[1] + a.m[2] * cofactors.m[2];
}

static inline vmat3 vmat_select(vm mask, vmat3 yes, vmat3 no)
{
    vmat3 c;
    for (int i = 0; i < 9; i++) {
        c.m[i] = vf_select(mask, yes.m[i], no.m[i]);
    }
    return c;
}

static inline vmat3 vmat_load(const float *p)
{
    vmat3 a;
    for (int i = 0; i < 9; i++) {
        a.m[i] = vf_load(p + i * LMI_BLOCK);
    }
    return a;
}

static inline void vmat_store(float *p, vmat3 a)
{
    for (int i = 0; i < 9; i++) {
        vf_store(p + i * LMI_BLOCK, a.m[i]);
    }
}

#endif
