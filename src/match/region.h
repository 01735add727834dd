/*
 * The rest constants of a region: everything about its rest shape that the fit needs.
 *
 * A region is kept in the frame of its own principal axes, scaled so that its rest covariance is the identity:
 *
 *     q = E^T (x0 - c0) / d            E: principal axes (columns), d: root mean square extents along them
 *
 * In this frame the best affine fit of the particles needs no matrix inverse (B = sum m~ p q^T / M is the fit), flat and
 * long regions are as well conditioned as round ones, and a direction without extent is simply q = 0 there.
 *
 * The quadratic fit adds the functions r_j = (qx², qy², qz², qx qy, qy qz, qz qx)_j - mean_j - sum_k linear_jk q_k, which
 * are free of constant and linear parts, so that the linear fit stays what it was and rest is a fixed point exactly. Their
 * Gram matrix is inverted over its significant eigenvectors only: a region of few points, or of points on two sheets, has
 * quadratic functions that vanish on all of them.
 */
#ifndef LMI_REGION_H
#define LMI_REGION_H

#include "base/vec.h"

#define LMI_QUADRATICS 6

typedef struct lmi_region {
    lm_dvec3 centre;  /* c0 */
    dmat3 axes;       /* E, a rotation */
    double extent[3]; /* d, descending; 0 where the region has none */
    double square;    /* <x²> along the longest axis, without pins: see world/elastic.h */
    float inverse_mass;
    float mean[LMI_QUADRATICS];
    float linear[LMI_QUADRATICS][3];
    float inverse_gram[LMI_QUADRATICS][LMI_QUADRATICS];
} lmi_region;

/* `members` index `rest` and `weights` (the fit weights m~). At least one member; the weights are above 0. */
void lmi_region_make(lmi_region *region, const lm_vec3 *rest, const float *weights, const uint32_t *members,
                     uint32_t member_count);

/* The same without quadratic functions, from the covariance (3x3) of the members about their centre. */
void lmi_region_from_covariance(lmi_region *region, double mass, lm_dvec3 centre, double covariance[9]);

/* The six products of q that the quadratic fit takes, in the order of the arrays above. */
static inline void lmi_quadratics(lm_dvec3 q, double out[LMI_QUADRATICS])
{
    out[0] = q.x * q.x;
    out[1] = q.y * q.y;
    out[2] = q.z * q.z;
    out[3] = q.x * q.y;
    out[4] = q.y * q.z;
    out[5] = q.z * q.x;
}

/* q of a rest position. */
lm_dvec3 lmi_region_local(const lmi_region *region, lm_vec3 rest);

#endif
