/*
 * Pushing a point of a body.
 *
 * A point is held by particles i with weights w_i (sum 1), x = sum w_i x_i. An impulse J at the point gives each particle
 * w_i J, that is a change of velocity of w_i J / m_i: the embedding transposed. Momentum is then kept exactly, and angular
 * momentum too, because sum w_i x_i is where the impulse acts.
 *
 * A stiff, well damped body would spread such a local push over itself within the substep, but the match comes too late
 * for the contacts that are solved now: a pile of stiff bodies would sink into itself, and a bounce would be taken by a
 * few particles and lost. So the share `rigid` of each push acts on the body as a whole, as on a rigid body (which keeps
 * both momenta as well), and only the rest locally. What is given to the body as a whole is collected and added to all
 * particles at the end.
 *
 * The mobility of the point, K (velocity for an impulse of 1), is the sum of both shares:
 *
 *     K = (1 - rigid) (sum w_i²/m_i) 1  +  rigid (1/M - [r]x I^-1 [r]x)
 *
 * Everything is in single precision and in the order of the contacts, the same on every processor.
 */
#ifndef LMI_PUSH_H
#define LMI_PUSH_H

#include "base/quad.h"
#include "world.h"

/* One of the particles that hold a point. */
typedef struct lmi_hold {
    uint32_t place;
    float weight;
    float lever; /* velocity of the particle for an impulse of 1 at the point: (1 - rigid) weight / mass */
} lmi_hold;

/* A body while its contacts are solved. Masses are relative, as in v[].w. */
typedef struct lmi_push {
    quad centre;
    quad turning[3];     /* columns of the inverse of the inertia about the centre */
    quad move, turn;     /* displacement of the body as a whole, still to be added to its particles */
    quad velocity, spin; /* the same for velocities */
    quad mean;           /* velocity of the centre, with all that it has been given; where rigid > 0 */
    quad drift;          /* of the centre, by pushes on single particles */
    lmi_body *body;
    float *x, *v;   /* of the body */
    float *load;    /* [place_count] scratch, zero between uses: the weights of all contacts that a particle holds */
    lm_dvec3 twist; /* N m s that putting bodies out of each other has given this one, to be taken back */
    double fastest; /* speed of a contact that twisted it, m/s */
    float rigid;    /* share of a push that moves the body as a whole */
    float inverse_mass;
    bool moved;   /* the body as a whole has something to be given */
    bool twisted; /* so has its spin */
    bool met;     /* it is in a contact with another body */

    /* A body in pieces has a push for each of them, which answers as a whole by itself. */
    struct lmi_push *parts; /* null: it is in one piece, or is one */
    const uint32_t *part;   /* [place_count] which of them a particle is in */
    const uint32_t *places; /* the particles of a piece; null: all there are */
    uint32_t count;         /* of them */
} lmi_push;

/* The push that a particle is moved by. */
static inline lmi_push *lmi_push_at(lmi_push *push, uint32_t place)
{
    return push->parts ? &push->parts[push->part[place]] : push;
}

/* `way`: how far it moves in this substep, metres. Measures the body where that is needed; then points may be pushed; then
 * all particles get what the whole was given. */
void lmi_push_begin(lmi_push *push, lmi_body *body, double way);

/* The same for some of its particles. */
void lmi_push_begin_part(lmi_push *push, lmi_body *body, const uint32_t *places, uint32_t count, double way);
void lmi_push_end(lmi_push *push);

/* Takes back `twist` from the spin of the body as a whole. */
void lmi_push_untwist(lmi_push *push);

/* The lever of a particle that holds a point with this weight. */
static inline float lmi_push_lever(const lmi_push *push, uint32_t place, float weight)
{
    return weight != 0.0f ? (1.0f - push->rigid) * weight / push->v[(size_t)place * 4 + 3] : 0.0f;
}

/* A weighted sum of particles: their positions or velocities in `of`. */
static inline quad lmi_hold_sum(const lmi_hold *hold, uint32_t count, const float *of)
{
    quad even = {0}, odd = {0};
    uint32_t n = 0;
    for (; n + 1 < count; n += 2) {
        even += hold[n].weight * quad_load(of + (size_t)hold[n].place * 4);
        odd += hold[n + 1].weight * quad_load(of + (size_t)hold[n + 1].place * 4);
    }
    return (n < count ? even + hold[n].weight * quad_load(of + (size_t)hold[n].place * 4) : even) + odd;
}

/* Adds an impulse (or a shift times mass) at a point to velocities (or positions) in `to`. */
static inline void lmi_hold_add(const lmi_hold *hold, uint32_t count, float *to, quad impulse)
{
    for (uint32_t n = 0; n < count; n++) {
        float *at = to + (size_t)hold[n].place * 4;
        quad_store(at, quad_load(at) + hold[n].lever * impulse);
    }
}

static inline quad lmi_push_turning(const lmi_push *push, quad torque)
{
    return (push->turning[0] * torque[0] + push->turning[1] * torque[1]) + push->turning[2] * torque[2];
}

/* n K n of the body as a whole for a unit vector n at `arm` from the centre. */
static inline float lmi_push_mobility(const lmi_push *push, quad arm, quad n)
{
    if (!(push->rigid > 0.0f)) {
        return 0.0f;
    }
    quad lever = quad_cross(arm, n);
    return push->rigid * (push->inverse_mass + quad_dot(lever, lmi_push_turning(push, lever)));
}

/* The velocity and the displacement of the body as a whole at `arm` from its centre, as far as they are not yet given to its
 * particles. */
static inline quad lmi_push_velocity(const lmi_push *push, quad arm)
{
    return push->velocity + quad_cross(push->spin, arm);
}

static inline quad lmi_push_move(const lmi_push *push, quad arm) { return push->move + quad_cross(push->turn, arm); }

/* Gives the body as a whole its share of an impulse, or of a shift (times mass). */
void lmi_push_impulse(lmi_push *push, quad arm, quad impulse);
void lmi_push_shift(lmi_push *push, quad arm, quad shift);

#endif
