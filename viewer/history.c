/* Times of steps. */
#include "viewer/history.h"

#include <math.h>

#define MEAN_STEPS 30

void history_add(history *h, const lm_stats *stats)
{
    double stages = 0.0, wall = stats->step_seconds;
    for (uint32_t i = 0; i < LM_STAGE_COUNT; i++) {
        stages += stats->stage_seconds[i];
    }
    double share = stages > wall && stages > 0.0 ? wall / stages : 1.0; /* several workers at once */
    for (uint32_t i = 0; i < LM_STAGE_COUNT; i++) {
        h->milliseconds[i][h->next] = (float)(1e3 * share * stats->stage_seconds[i]);
    }
    h->milliseconds[LM_STAGE_COUNT][h->next] = (float)(1e3 * fmax(wall - share * stages, 0.0));
    h->next = (h->next + 1) % HISTORY_STEPS;
    h->count += h->count < HISTORY_STEPS;
}

float history_mean(const history *h, uint32_t series)
{
    uint32_t count = h->count < MEAN_STEPS ? h->count : MEAN_STEPS;
    float sum = 0.0f;
    for (uint32_t i = 1; i <= count; i++) {
        sum += h->milliseconds[series][(h->next + HISTORY_STEPS - i) % HISTORY_STEPS];
    }
    return count > 0 ? sum / (float)count : 0.0f;
}

float history_mean_step(const history *h)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < HISTORY_SERIES; i++) {
        sum += history_mean(h, i);
    }
    return sum;
}

float history_top(const history *h)
{
    float most = 0.05f;
    for (uint32_t k = 0; k < HISTORY_STEPS; k++) {
        float sum = 0.0f;
        for (uint32_t i = 0; i < HISTORY_SERIES; i++) {
            sum += h->milliseconds[i][k];
        }
        most = fmaxf(most, sum);
    }
    float tens = powf(10.0f, floorf(log10f(most)));
    return most <= 2.0f * tens ? 2.0f * tens : most <= 5.0f * tens ? 5.0f * tens : 10.0f * tens;
}

const char *history_name(uint32_t series)
{
    return series < LM_STAGE_COUNT ? lm_stage_name((lm_stage)series) : "other";
}
