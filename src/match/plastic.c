/*
 * Plastic flow.
 *
 *   P <- right stretch of [I + (1 - exp(-creep h)) (S - I)] P       where the largest |stretch of S - 1| exceeds the yield
 *   then the logarithms of P's stretches are made to sum to zero (the volume is kept) and scaled down together until no
 *   stretch differs from 1 by more than max_plastic
 *
 * P is the lasting deformation and S the elastic stretch on top of it, both symmetric and in the region's rest axes. Müller
 * et al. 2005, section 4.4, equation 15; the exponential makes the flow independent of the substep, and scaling logarithms
 * keeps volume and maximum at once (the paper's division by the determinant and its clamp undo each other). Rotations are
 * left out of P: the fit finds its own.
 *
 * Done in double precision, region by region: only regions that flow come here.
 */
#include "match/plastic.h"
#include "base/block.h"
#include "base/dmath.h"
#include "base/vec.h"

#include <math.h>

/* Stretches below this, or inside out, flow as if they were this: nothing flows to a point. */
#define LEAST_STRETCH 0.1

static void symmetric_from(const double six[6], double nine[9])
{
    nine[0] = six[0], nine[4] = six[1], nine[8] = six[2];
    nine[1] = nine[3] = six[3];
    nine[5] = nine[7] = six[4];
    nine[2] = nine[6] = six[5];
}

/* V diag(values) V^T, row by row. */
static void compose(const double vectors[9], const double values[3], double out[9])
{
    for (int i = 0; i < 9; i++) {
        out[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            out[i] += vectors[i / 3 * 3 + k] * values[k] * vectors[i % 3 * 3 + k];
        }
    }
}

/* Makes the logarithms of three stretches sum to zero, and no stretch differ from 1 by more than `most`. */
static void limit_stretches(double stretch[3], double most)
{
    double logs[3], mean = 0.0, scale = 1.0;
    for (int k = 0; k < 3; k++) {
        logs[k] = lmi_log(stretch[k]);
        mean += logs[k] / 3.0;
    }
    double high = lmi_log(1.0 + most), low = lmi_log(1.0 - most);
    for (int k = 0; k < 3; k++) {
        logs[k] -= mean;
        if (logs[k] > high) {
            scale = high / logs[k] < scale ? high / logs[k] : scale;
        }
        if (logs[k] < low) {
            scale = low / logs[k] < scale ? low / logs[k] : scale;
        }
    }
    for (int k = 0; k < 3; k++) {
        stretch[k] = lmi_exp(scale * logs[k]);
    }
}

/* s - 1 > y means s² - 1 > 2y + y², and 1 - s > y means 1 - s² > 2y - y². */
float lmi_yield_bound(float yield)
{
    if (!(yield > 0.0f)) {
        return 3e38f;
    }
    float bound = yield < 1.0f ? 2.0f * yield - yield * yield : 2.0f * yield + yield * yield;
    return bound * bound;
}

void lmi_plastic_flow(const lmi_plastic_rates *rates, float *at, const double square[6], bool inverted)
{
    double matrix[9], values[3], vectors[9], stretch[3], largest = 0.0;
    symmetric_from(square, matrix);
    lmi_symmetric_eigen(3, matrix, values, vectors);
    for (int k = 0; k < 3; k++) {
        double s = values[k] > 0.0 ? sqrt(values[k]) : 0.0;
        s = s < LEAST_STRETCH || (inverted && k == 2) ? LEAST_STRETCH : s;
        largest = fabs(s - 1.0) > largest ? fabs(s - 1.0) : largest;
        stretch[k] = 1.0 + rates->flow * (s - 1.0);
    }
    if (!(largest > rates->yield)) {
        return;
    }
    double six[6], old[9], flow[9], next[9];
    for (int i = 0; i < 6; i++) {
        six[i] = at[i * LMI_BLOCK];
    }
    symmetric_from(six, old);
    compose(vectors, stretch, flow);
    for (int i = 0; i < 9; i++) {
        const double *row = flow + i / 3 * 3;
        next[i] = row[0] * old[i % 3] + row[1] * old[3 + i % 3] + row[2] * old[6 + i % 3];
    }
    for (int i = 0; i < 9; i++) { /* next^T next */
        matrix[i] = next[i / 3] * next[i % 3] + next[3 + i / 3] * next[3 + i % 3] + next[6 + i / 3] * next[6 + i % 3];
    }
    lmi_symmetric_eigen(3, matrix, values, vectors);
    for (int k = 0; k < 3; k++) {
        stretch[k] = sqrt(values[k] > 1e-6 ? values[k] : 1e-6);
    }
    limit_stretches(stretch, rates->most);
    compose(vectors, stretch, next);
    at[0] = (float)next[0], at[LMI_BLOCK] = (float)next[4], at[2 * LMI_BLOCK] = (float)next[8];
    at[3 * LMI_BLOCK] = (float)next[1], at[4 * LMI_BLOCK] = (float)next[5], at[5 * LMI_BLOCK] = (float)next[2];
}
