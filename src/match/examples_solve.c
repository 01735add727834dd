/*
 * Between measuring the regions and matching them: the weights of each group of regions that mixes its examples as one.
 *
 * Reads M_r <D_k, E> from the channels of the regions (examples.h), writes their weights. Sums run over a body's regions in
 * their own order, in double precision, so that they do not depend on lanes, batches or threads; neither does the projection.
 */
#include "match/examples.h"

#include <math.h>
#include <string.h>

#include "match/project_double.h" /* before the next */

#include "match/project.h"

void lmi_project(uint32_t count, const double *gram, const double *b, double *w)
{
    project_weights((int)count, gram, b, NULL, w);
}

/* Of the whole body: as many sums in turn as a block has lanes, which then come together in pairs. A body that has its blocks
 * for itself is summed block by block, and any other region by region; the additions are the same. */
static void sum_body(lmi_examples *e)
{
    const uint32_t n = e->count, whole = e->in_blocks ? e->region_count / LMI_BLOCK : 0;
    const size_t stride = (size_t)lmi_example_channels(n) * LMI_BLOCK;
    for (uint32_t k = 0; k < n; k++) {
        const float *dots = e->lanes + (size_t)(lmi_example_dots(n) + k) * LMI_BLOCK;
        double sums[LMI_BLOCK] = {0.0};
        for (uint32_t b = 0; b < whole; b++) {
            const float *from = dots + e->along[0] + b * stride;
            for (uint32_t i = 0; i < LMI_BLOCK; i++) {
                sums[i] += from[i];
            }
        }
        for (uint32_t r = whole * LMI_BLOCK; r < e->region_count; r++) {
            sums[r % LMI_BLOCK] += dots[e->along[r]];
        }
        for (uint32_t half = LMI_BLOCK / 2; half > 0; half /= 2) {
            for (uint32_t i = 0; i < half; i++) {
                sums[i] += sums[i + half];
            }
        }
        e->sums[k] = sums[0];
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

/* To all regions of the body, in the way in which they were summed. */
static void spread_over_body(lmi_examples *e)
{
    const uint32_t n = e->count, whole = e->in_blocks ? e->region_count / LMI_BLOCK : 0;
    const size_t stride = (size_t)lmi_example_channels(n) * LMI_BLOCK;
    for (uint32_t k = 0; k < n; k++) {
        float *weights = e->lanes + (size_t)(LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK;
        const float weight = e->weights[k];
        for (uint32_t b = 0; b < whole; b++) {
            float *to = weights + e->along[0] + b * stride;
            for (uint32_t i = 0; i < LMI_BLOCK; i++) {
                to[i] = weight;
            }
        }
        for (uint32_t r = whole * LMI_BLOCK; r < e->region_count; r++) {
            weights[e->along[r]] = weight;
        }
    }
}

static void spread_over_groups(lmi_examples *e)
{
    const uint32_t n = e->count;
    for (uint32_t r = 0; r < e->region_count; r++) {
        if (e->group[r] != LM_NO_GROUP) {
            const float *weights = e->weights + (size_t)e->group[r] * n;
            float *to = e->lanes + e->at[r] + LMI_EXAMPLE_WEIGHT * LMI_BLOCK;
            for (uint32_t k = 0; k < n; k++) {
                to[k * LMI_BLOCK] = weights[k];
            }
        }
    }
}

void lmi_examples_solve(lmi_examples *e)
{
    const uint32_t n = e->count;
    if (e->scope == LM_EXAMPLES_REGIONS) {
        return;
    }
    if (e->scope == LM_EXAMPLES_BODY) {
        sum_body(e);
    } else {
        sum_groups(e);
    }
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
    if (e->scope == LM_EXAMPLES_BODY) {
        spread_over_body(e);
    } else {
        spread_over_groups(e);
    }
}

void lmi_examples_read(const lmi_examples *e, float *weights)
{
    if (e->scope != LM_EXAMPLES_REGIONS || !e->lanes) {
        memmove(weights, e->weights, (size_t)e->group_count * e->count * sizeof *weights); /* they may be the same */
        return;
    }
    for (uint32_t r = 0; r < e->region_count; r++) {
        const float *from = e->lanes + e->at[r] + LMI_EXAMPLE_WEIGHT * LMI_BLOCK;
        for (uint32_t k = 0; k < e->count; k++) {
            weights[(size_t)r * e->count + k] = from[k * LMI_BLOCK];
        }
    }
}

void lmi_examples_apply(lmi_examples *e)
{
    for (uint32_t r = 0; e->lanes && r < e->region_count; r++) {
        float *to = e->lanes + e->at[r];
        to[LMI_EXAMPLE_BETA * LMI_BLOCK] = e->forced ? 1.0f : e->beta;
        to[LMI_EXAMPLE_FORCED * LMI_BLOCK] = e->forced ? 1.0f : 0.0f;
        for (uint32_t k = 0; e->forced && e->group[r] != LM_NO_GROUP && k < e->count; k++) { /* not found any more */
            to[(LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK] = e->forced_weights[(size_t)e->group[r] * e->count + k];
        }
    }
}
