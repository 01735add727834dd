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

/* How much a pair braces itself because its soft contacts have not kept it apart; deep: how deep the deepest is beyond the distance that the two
 * keep, cell: of the finer of their fields, metres. */
static inline double lmi_deep_share(double deep, double cell)
{
    const double share = (deep / cell - 0.1) / (0.4 - 0.1);
    return share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
}

/* Cells of the finer field that an approach may go on in a substep. 0: objects hardly deform when they fall on each other; 0.25: they do, but
 * `pile-soft` is not at rest at its end, and penguins hang. */
#define LMI_BRACE_LEAVES 0.0

/* The approach that is left to soft contacts, which squash the two, m/s: what is fallen in two substeps, or brings them so much further in one.
 * gravity: m/s². */
static inline double lmi_brace_calm(double h, double gravity, double cell)
{
    const double falls = 2.0 * h * gravity, comes = LMI_BRACE_LEAVES * cell / h;
    return falls > comes ? falls : comes;
}

/* The speed along the normal that may be left, 0 or below: of one of `comes`, less the shares of it that are taken; `deep` of them leaves what is
 * calm. */
static inline double lmi_brace_least(double comes, double crush, double deep, double calm)
{
    const double speed = comes < 0.0 ? comes : 0.0, crushed = (1.0 - crush) * speed;
    const double slow = speed > -calm ? speed : -calm;
    const double taken = (1.0 - deep) * speed, deeper = taken < slow ? taken : slow;
    return crushed > deeper ? crushed : deeper;
}

/* What a brace is given so far, in a pass that began with `ahead` and found the speed u there. */
static inline double lmi_brace_given(double ahead, double least, double u, double step)
{
    const double given = ahead + step * (least - u);
    return given > 0.0 ? given : 0.0;
}

/* In how many passes it has gone on the same way, and how far it goes ahead: a brace that has gone too far, and is taken back against the way
 * it went, begins anew. */
static inline uint32_t lmi_brace_onward(uint32_t onward, double before, double ahead, double given)
{
    return (given - ahead) * (given - before) < 0.0 ? 0 : onward + 1;
}

static inline double lmi_brace_ahead(uint32_t onward, double before, double given)
{
    return given + (double)onward / ((double)onward + 3.0) * (given - before);
}

#endif
