#include "test/support/ringing.h"

#include <math.h>

ringing ringing_of(const lm_world *world, lm_body_id body, const double *samples, uint32_t count, double h)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    ringing result = {.limited = info.stiffness_limited, .reached = (double)info.reached_hertz};
    const double *e = samples;
    double first = -1.0, last = -1.0, crossings = -1.0;
    double s11 = 0, s12 = 0, s22 = 0, t1 = 0, t2 = 0;
    for (uint32_t n = 1; n < count; n++) {
        if ((e[n] < 0.0) != (e[n - 1] < 0.0)) {
            last = n - 1 + e[n - 1] / (e[n - 1] - e[n]);
            if (first < 0.0) first = last;
            crossings += 1.0;
        }
        if (n < 2) continue;
        s11 += e[n - 1] * e[n - 1];
        s12 += e[n - 1] * e[n - 2];
        s22 += e[n - 2] * e[n - 2];
        t1 += e[n] * e[n - 1];
        t2 += e[n] * e[n - 2];
    }
    if (crossings > 0.0) result.hertz = 0.5 * crossings / ((last - first) * h);
    /* e[n] = a e[n-1] + b e[n-2] with b = -exp(-2 decay h) */
    double b = (s11 * t2 - s12 * t1) / (s11 * s22 - s12 * s12);
    result.decay = -log(-b) / (2.0 * h);
    return result;
}
