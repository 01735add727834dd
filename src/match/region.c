#include "match/region.h"
#include "match/carrier.h"

#include <string.h>

/* An extent below this share of the largest one is none: single precision cannot tell it from rounding. */
#define FLAT 1e-5

/* A quadratic function whose mean square over the members (in units of the rest covariance) is below this is dropped:
 * its coefficient would be rounding noise, and it would say nothing about the members anyway. */
#define INSIGNIFICANT 1e-3

static void find_axes(lmi_region *region, double covariance[9])
{
    double values[3], vectors[9];
    lmi_symmetric_eigen(3, covariance, values, vectors);
    for (int i = 0; i < 9; i++) {
        region->axes.m[i / 3][i % 3] = vectors[i];
    }
    /* A rotation, not a reflection. */
    lm_dvec3 x = dvec(vectors[0], vectors[3], vectors[6]), y = dvec(vectors[1], vectors[4], vectors[7]);
    lm_dvec3 z = dvec_cross(x, y);
    region->axes.m[0][2] = z.x;
    region->axes.m[1][2] = z.y;
    region->axes.m[2][2] = z.z;

    double largest = sqrt(values[0] > 0.0 ? values[0] : 0.0);
    for (int k = 0; k < 3; k++) {
        double extent = sqrt(values[k] > 0.0 ? values[k] : 0.0);
        region->extent[k] = extent > FLAT * largest ? extent : 0.0;
    }
    region->square = region->extent[0] * region->extent[0];
}

static void find_covariance(const lmi_region *region, const lm_vec3 *rest, const float *weights,
                            const uint32_t *members, uint32_t member_count, double mass, double covariance[9])
{
    for (uint32_t n = 0; n < member_count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(rest[members[n]]), region->centre);
        double w = weights[members[n]] / mass, p[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++) {
            covariance[i] += w * p[i / 3] * p[i % 3];
        }
    }
}

lm_dvec3 lmi_region_local(const lmi_region *region, lm_vec3 rest) { return lmi_carrier_member(region, rest); }

/* The inverse of a Gram matrix over the eigenvectors that matter. */
static void invert_significant(double gram[LMI_QUADRATICS * LMI_QUADRATICS],
                               float inverse[LMI_QUADRATICS][LMI_QUADRATICS])
{
    double values[LMI_QUADRATICS], vectors[LMI_QUADRATICS * LMI_QUADRATICS];
    lmi_symmetric_eigen(LMI_QUADRATICS, gram, values, vectors);
    for (int i = 0; i < LMI_QUADRATICS; i++) {
        for (int j = 0; j < LMI_QUADRATICS; j++) {
            double sum = 0.0;
            for (int k = 0; k < LMI_QUADRATICS; k++) {
                if (values[k] > INSIGNIFICANT) {
                    sum += vectors[i * LMI_QUADRATICS + k] * vectors[j * LMI_QUADRATICS + k] / values[k];
                }
            }
            inverse[i][j] = (float)sum;
        }
    }
}

static void find_quadratics(lmi_region *region, const lm_vec3 *rest, const float *weights, const uint32_t *members,
                            uint32_t member_count, double mass)
{
    double mean[LMI_QUADRATICS] = {0}, linear[LMI_QUADRATICS][3] = {{0}};
    double gram[LMI_QUADRATICS * LMI_QUADRATICS] = {0}, f[LMI_QUADRATICS];
    for (uint32_t n = 0; n < member_count; n++) {
        lm_dvec3 q = lmi_region_local(region, rest[members[n]]);
        double w = weights[members[n]] / mass;
        lmi_quadratics(q, f);
        for (int j = 0; j < LMI_QUADRATICS; j++) {
            mean[j] += w * f[j];
            linear[j][0] += w * f[j] * q.x;
            linear[j][1] += w * f[j] * q.y;
            linear[j][2] += w * f[j] * q.z;
        }
    }
    for (uint32_t n = 0; n < member_count; n++) {
        lm_dvec3 q = lmi_region_local(region, rest[members[n]]);
        double w = weights[members[n]] / mass;
        lmi_quadratics(q, f);
        for (int j = 0; j < LMI_QUADRATICS; j++) {
            f[j] -= mean[j] + linear[j][0] * q.x + linear[j][1] * q.y + linear[j][2] * q.z;
        }
        for (int j = 0; j < LMI_QUADRATICS * LMI_QUADRATICS; j++) {
            gram[j] += w * f[j / LMI_QUADRATICS] * f[j % LMI_QUADRATICS];
        }
    }
    for (int j = 0; j < LMI_QUADRATICS; j++) {
        region->mean[j] = (float)mean[j];
        for (int k = 0; k < 3; k++) {
            region->linear[j][k] = (float)linear[j][k];
        }
    }
    invert_significant(gram, region->inverse_gram);
}

void lmi_region_make(lmi_region *region, const lm_vec3 *rest, const float *weights, const uint32_t *members,
                     uint32_t member_count)
{
    double mass = 0.0;
    lm_dvec3 sum = dvec(0.0, 0.0, 0.0);
    for (uint32_t n = 0; n < member_count; n++) {
        mass += weights[members[n]];
        sum = dvec_add(sum, dvec_scale(dvec_from(rest[members[n]]), weights[members[n]]));
    }
    region->centre = dvec_scale(sum, 1.0 / mass);
    region->inverse_mass = (float)(1.0 / mass);
    double covariance[9] = {0};
    find_covariance(region, rest, weights, members, member_count, mass, covariance);
    find_axes(region, covariance);
    find_quadratics(region, rest, weights, members, member_count, mass);
}

void lmi_region_from_covariance(lmi_region *region, double mass, lm_dvec3 centre, double covariance[9])
{
    memset(region, 0, sizeof *region);
    region->centre = centre;
    region->inverse_mass = (float)(1.0 / mass);
    find_axes(region, covariance);
}
