/*
 * How many steps a moment of the real world is worth.
 *
 * The simulation always goes in steps of 1/60 s, whatever the frame rate of the window. When the steps take longer than they
 * are worth, the simulation runs slower than the world outside: what it cannot catch up with is dropped, not piled up, and the
 * factor says by how much.
 */
#ifndef LIMBER_VIEWER_CLOCK_H
#define LIMBER_VIEWER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MARKS 64

typedef struct clock_mark {
    double real, simulated; /* seconds, since the clock began */
} clock_mark;

typedef struct viewer_clock {
    double speed;     /* simulated seconds wanted for each real one; 1 */
    double owed;      /* simulated seconds that are due */
    double real;      /* seconds so far */
    double simulated; /* seconds so far */
    clock_mark marks[CLOCK_MARKS];
    uint32_t mark_count; /* all that were ever made; the last CLOCK_MARKS are kept */
    bool behind;         /* in the last frame something was dropped */
} viewer_clock;

void clock_start(viewer_clock *clock, double speed);

/* So many real seconds have passed since the last frame of the window. */
void clock_pass(viewer_clock *clock, double seconds);

/* Whether a step of `step` seconds is due, when the steps of this frame of the window have taken `spent` real seconds so far and
 * may take `budget`. Takes it off what is owed. */
bool clock_take_step(viewer_clock *clock, double step, double spent, double budget);

/* Simulated seconds for each real one over about the last second; what was asked for until something is known. */
double clock_factor(const viewer_clock *clock);

#endif
