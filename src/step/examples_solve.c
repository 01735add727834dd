/*
 * Between measuring the regions and matching them: the weights of each group of regions that mixes its examples as one.
 *
 * Reads M_r <D_k, E> from the channels of the regions (examples.h), writes their weights. Sums run over a body's regions in
 * their own order, in double precision, so that they do not depend on lanes, batches or threads; so does the projection.
 */
#include "examples.h"

#include <math.h>
#include <string.h>

typedef double number;
typedef bool mask;
#define number_set1(a) ((double)(a))
#define number_lt(a, b) ((a) < (b))
#define number_select(m, yes, no) ((m) ? (yes) : (no))
#define number_max(a, b) ((a) > (b) ? (a) : (b))
#define number_abs(a) fabs(a)
#define mask_and(a, b) ((a) && (b))
#define mask_or(a, b) ((a) || (b))
#define mask_not(a) (!(a))
#define mask_any(a) (a)
#define PROJECT_TOLERANCE 1e-12
#define PROJECT_LEAST_PIVOT 1e-15
#include "step/project.h"

void lmi_project(uint32_t count, const double *gram, const double *b, double *w)
{
    project_weights((int)count, gram, b, w);
}

/* A region's own weights, for callers. */
static void keep_weights(lmi_examples *e)
{
    for (uint32_t r = 0; r < e->region_count; r++) {
        const float *from = e->lanes + e->at[r] + LMI_EXAMPLE_WEIGHT * LMI_BLOCK;
        for (uint32_t k = 0; k < e->count; k++) {
            e->weights[(size_t)r * e->count + k] = from[k * LMI_BLOCK];
        }
    }
}

static void sum_groups(lmi_examples *e)
{
    const uint32_t n = e->count, dots = lmi_example_dots(n);
    memset(e->sums, 0, (size_t)e->group_count * n * sizeof *e->sums);
    for (uint32_t r = 0; r < e->region_count; r++) {
        if (e->group[r] != LM_NO_GROUP) {
            const float *from = e->lanes + e->at[r] + dots * LMI_BLOCK;
            double *to = e->sums + (size_t)e->group[r] * n;
            for (uint32_t k = 0; k < n; k++) {
                to[k] += from[k * LMI_BLOCK];
            }
        }
    }
}

void lmi_examples_solve(lmi_examples *e, bool keep)
{
    const uint32_t n = e->count;
    if (e->scope == LM_EXAMPLES_REGIONS) {
        if (keep) {
            keep_weights(e);
        }
        return;
    }
    sum_groups(e);
    for (uint32_t g = 0; g < e->group_count; g++) {
        double b[LM_MAX_EXAMPLES], w[LM_MAX_EXAMPLES];
        for (uint32_t k = 0; k < n; k++) {
            b[k] = e->sums[(size_t)g * n + k] * e->scale[g];
        }
        lmi_project(n, e->gram + (size_t)g * (n * (n + 1) / 2), b, w);
        for (uint32_t k = 0; k < n; k++) {
            size_t at = (size_t)g * n + k;
            e->weights[at] = e->forced ? e->forced_weights[at] : (float)w[k];
        }
    }
    for (uint32_t r = 0; r < e->region_count; r++) {
        if (e->group[r] != LM_NO_GROUP) {
            float *to = e->lanes + e->at[r] + LMI_EXAMPLE_WEIGHT * LMI_BLOCK;
            for (uint32_t k = 0; k < n; k++) {
                to[k * LMI_BLOCK] = e->weights[(size_t)e->group[r] * n + k];
            }
        }
    }
}

void lmi_examples_apply(lmi_examples *e)
{
    for (uint32_t r = 0; e->lanes && r < e->region_count; r++) {
        float *to = e->lanes + e->at[r];
        to[LMI_EXAMPLE_BETA * LMI_BLOCK] = e->forced ? 1.0f : e->beta;
        to[LMI_EXAMPLE_FORCED * LMI_BLOCK] = e->forced ? 1.0f : 0.0f;
        for (uint32_t k = 0; e->forced && e->group[r] != LM_NO_GROUP && k < e->count; k++) {
            to[(LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK] = e->forced_weights[(size_t)e->group[r] * e->count + k];
        }
    }
}
