/*
 * Small matrices in lanes.
 */
#ifndef LMI_VMAT_H
#define LMI_VMAT_H

#include "base/lanes.h"

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
