/*
 * Plastic flow: Müller et al. 2005, section 4.5, at constant volume.
 *
 *   elastic  A_e = A Sp^-1 = R S,   singular values below LEAST (turned inside out among them) count as LEAST
 *   flow     where the largest |s - 1| is above the yield:  Sp <- [I + (1 - exp(-creep h)) (S - I)] Sp
 *   limit    of Sp only the stretches are kept; their logarithms are made to sum to 0 and scaled down together
 */
#include "reference.h"

#define LEAST 0.1

static double inverse(double value) { return 1.0 / value; }

ref_mat ref_limited_stretch(ref_mat b, double most)
{
    ref_mat u, v, result = {{{0}}};
    double s[3], logs[3], mean = 0.0, factor = 1.0;
    ref_svd(b, &u, s, &v);
    for (int k = 0; k < 3; k++) {
        logs[k] = log(fabs(s[k]));
        mean += logs[k] / 3.0;
    }
    for (int k = 0; k < 3; k++) {
        logs[k] -= mean;
        double limit = logs[k] > 0.0 ? log(1.0 + most) : -log(1.0 - most);
        if (fabs(logs[k]) > limit) factor = fmin(factor, limit / fabs(logs[k]));
    }
    for (int k = 0; k < 3; k++) {
        ref_vec axis = ref_column(v, k);
        result = ref_mat_add(result, ref_mat_scale(exp(factor * logs[k]), ref_outer(axis, axis)));
    }
    return result;
}

ref_mat ref_flowed(ref_mat plastic, ref_mat a, const lm_material *material, double h, double *strain)
{
    ref_mat u, v, flow = ref_identity();
    double s[3], largest = 0.0;
    ref_svd(ref_mat_mul(a, ref_symmetric_function(plastic, 0.0, inverse)), &u, s, &v);
    double share = 1.0 - exp(-(double)material->creep * h);
    for (int k = 0; k < 3; k++) {
        s[k] = fmax(s[k], LEAST);
        largest = fmax(largest, fabs(s[k] - 1.0));
        ref_vec axis = ref_column(v, k);
        flow = ref_mat_add(flow, ref_mat_scale(share * (s[k] - 1.0), ref_outer(axis, axis)));
    }
    if (strain != NULL) *strain = largest;
    if (!(material->yield > 0.0f) || largest <= (double)material->yield) return plastic;
    return ref_limited_stretch(ref_mat_mul(flow, plastic), (double)material->max_plastic);
}
