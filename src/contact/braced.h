/*
 * How bodies that brace themselves (contact/brace.h) are solved, as plain arithmetic: the host and devices compile this text.
 *
 * All braces see one state and are then all given their impulses, in as many passes as it takes. An impulse J of a brace moves the two bodies
 * that it is between, and so changes the approach of other braces: u = u_0 + A J, with
 *
 *     A_pq = sum over the bodies of both   n_p . n_q / M + l_p . I^-1 l_q,    l = r x n, with the sign of the side
 *
 * A pass gives J_p = max(y_p + (least_p - u_p(y)) / D_p, 0), D_p = sum_q |A_pq|. Each row of D - A has at least as much on its diagonal as beside
 * it, so a pass lowers J A J / 2 + J (u_0 - least), whatever bodies share; y is J, and a little further each time than the last while that is the
 * way it goes on (Nesterov), or a heavy body on a light one would take hundreds of passes. `least` is 0 or below, and what is lower than at J = 0 has added no energy.
 */
#ifndef LMI_BRACED_H
#define LMI_BRACED_H

#include "base/base.h"

/* Braces of which a body is side a, at most. */
#define LMI_BRACES 12

/* As many passes as it takes until no approach lacks more than this (m/s), at most. */
#define LMI_BRACE_PASSES 60
#define LMI_BRACE_SETTLED 1e-3

/* The speed along the normal that may be left of one of `comes`, 0 or below. */
static inline double lmi_brace_least(double comes, double crush) { return comes < 0.0 ? (1.0 - crush) * comes : 0.0; }

/* What a brace is given so far, in a pass that began with `ahead` and found the speed u there. */
static inline double lmi_brace_given(double ahead, double least, double u, double step)
{
    const double given = ahead + step * (least - u);
    return given > 0.0 ? given : 0.0;
}

/* In how many passes it has gone on the same way, and how far it goes ahead: a brace that has gone too far, and is taken back against the way
 * it went, begins again. */
static inline uint32_t lmi_brace_onward(uint32_t onward, double before, double ahead, double given)
{
    return (given - ahead) * (given - before) < 0.0 ? 0 : onward + 1;
}

static inline double lmi_brace_ahead(uint32_t onward, double before, double given)
{
    return given + (double)onward / ((double)onward + 3.0) * (given - before);
}

#endif
