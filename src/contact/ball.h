/*
 * Balls of bodies that break, where they touch (contact/rubble.h); the host and devices compile this text.
 */
#ifndef LMI_BALL_H
#define LMI_BALL_H

#include "base/vec.h"

/* Radius of the balls, in spacings: of particles that had neighbours on all sides, and of those at the border. Two borders
 * must not slip through each other: a particle in the middle of a face is 0.71 spacings from the nearest. */
#define LMI_BALL_DEEP 0.5f
#define LMI_BALL_BORDER 0.4f

/* What is in the middle of a face is so far from the nearest particle. */
#define LMI_BALL_PLATE 0.75f

/* Grains look at each other where the difference of their directions is longer than this. */
#define LMI_BALL_CLEAR 0.7

typedef struct lmi_ball_meeting {
    lm_dvec3 normal; /* which way the first is pushed off the second, unit */
    double depth;
    bool found;
} lmi_ball_meeting;

/* Which way one ball is pushed off another: as their pieces look at each other there, or along the line between them where that says
 * nothing. The line alone would push apart sideways what has come too far. */
static inline lm_dvec3 lmi_ball_way_off(lm_dvec3 d, lm_dvec3 looks)
{
    double length = dvec_length(looks), apart = dvec_length(d);
    if (length > LMI_BALL_CLEAR) {
        return dvec_scale(looks, 1.0 / length);
    }
    return apart > 1e-9 ? dvec_scale(d, 1.0 / apart) : dvec(0.0, 1.0, 0.0);
}

/* d: from the second to the first; looks: the direction of the second less that of the first; reach: both radii. `plate`: where the first
 * is a touch point, metres along the surface for which the second stands, between particles too; else 0. */
static inline lmi_ball_meeting lmi_balls_meet(lm_dvec3 d, lm_dvec3 looks, double reach, double slop, double plate)
{
    lm_dvec3 normal = lmi_ball_way_off(d, looks);
    double depth = reach - dvec_dot(d, normal), along = reach - depth, far = dvec_dot(d, d), near = reach + slop;
    if (plate > 0.0) {
        far -= along * along;
        near = plate;
    }
    lmi_ball_meeting m = {normal, depth, depth > -slop && !(along < -reach) && !(far > near * near)};
    return m;
}

#endif
