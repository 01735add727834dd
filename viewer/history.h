/* How long the stages of the last steps took, for the graph. */
#ifndef LIMBER_VIEWER_HISTORY_H
#define LIMBER_VIEWER_HISTORY_H

#include "limber/limber.h"

#define HISTORY_STEPS 180
#define HISTORY_SERIES (LM_STAGE_COUNT + 1) /* the last one: what no stage counts */

typedef struct history {
    float milliseconds[HISTORY_SERIES][HISTORY_STEPS]; /* rings */
    uint32_t next;                                     /* where the next step goes: the oldest */
    uint32_t count;
} history;

/* After each step. The stages' times are summed over workers; here they share out the time of the step as the clock on the wall
 * saw it. */
void history_add(history *history, const lm_stats *stats);

/* The mean over the last steps, milliseconds; of a series, or of the whole step. */
float history_mean(const history *history, uint32_t series);
float history_mean_step(const history *history);

/* A round number no less than any step of the graph, milliseconds. */
float history_top(const history *history);

/* The name of a series. */
const char *history_name(uint32_t series);

#endif
