/* Steps that are due. */
#include "viewer/clock.h"

#include <math.h>
#include <string.h>

#define WINDOW_SECONDS 1.0 /* over which the factor is measured */
#define MARK_SECONDS 0.02  /* at least, from one mark to the next */
#define LEAST_SECONDS 0.2  /* that must have passed before the factor means anything */
#define MOST_OWED 0.1      /* real seconds that may be caught up with after a pause of the window */
#define SLACK 1e-9         /* of rounding: sixty frames of 1/60 s are sixty steps */

void clock_start(viewer_clock *clock, double speed)
{
    memset(clock, 0, sizeof *clock);
    clock->speed = speed;
}

static void mark(viewer_clock *clock)
{
    clock_mark *last = &clock->marks[(clock->mark_count + CLOCK_MARKS - 1) % CLOCK_MARKS];
    if (clock->mark_count == 0 || clock->real - last->real >= MARK_SECONDS) {
        clock->marks[clock->mark_count % CLOCK_MARKS] = (clock_mark){clock->real, clock->simulated};
        clock->mark_count++;
    }
}

void clock_pass(viewer_clock *clock, double seconds)
{
    seconds = fmax(seconds, 0.0);
    mark(clock);
    clock->real += seconds;
    clock->owed += fmin(seconds, MOST_OWED) * clock->speed;
    clock->behind = false;
}

bool clock_take_step(viewer_clock *clock, double step, double spent, double budget)
{
    if (clock->owed < step - SLACK) {
        return false;
    }
    if (spent >= budget) {
        clock->owed = 0.0;
        clock->behind = true;
        return false;
    }
    clock->owed -= step;
    clock->simulated += step;
    return true;
}

double clock_factor(const viewer_clock *clock)
{
    uint32_t kept = clock->mark_count < CLOCK_MARKS ? clock->mark_count : CLOCK_MARKS;
    double factor = clock->speed, real = 0.0;
    for (uint32_t i = 1; i <= kept && real < WINDOW_SECONDS; i++) { /* back from the newest */
        const clock_mark *m = &clock->marks[(clock->mark_count - i) % CLOCK_MARKS];
        real = clock->real - m->real;
        if (real >= LEAST_SECONDS) {
            factor = (clock->simulated - m->simulated) / real;
        }
    }
    return factor;
}
