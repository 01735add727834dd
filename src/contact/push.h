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
#include "contact/firm.h"
#include "world/world.h"

/* Whether a body answers as a whole because of its material. One that is pinned to what nothing pushes never does. */
static inline bool lmi_push_is_firm(const lmi_body *body)
{
    return !body->anchored && lmi_firm_share(body->firmness, body->damping) > 0.0;
}

/* A body while its contacts are solved. Masses are relative, as in v[].w. */
typedef struct lmi_push {
    quad centre;
    quad turning[3];     /* columns of the inverse of the inertia about the centre */
    quad move, turn;     /* displacement of the body as a whole, still to be added to its particles */
    quad velocity, spin; /* the same for velocities */
    quad mean;           /* velocity of the centre, with all that it has been given; where rigid > 0 */
    quad came;           /* spin that it had before; where rigid > 0 */
    quad drift;          /* of the centre, by pushes on single particles */
    lmi_body *body;      /* null: a mover */
    float *x, *v;        /* of the body */
    double unit;         /* of masses, kg: the mean mass of the body's particles */
    uint32_t owner;      /* the body, among those whose contacts are solved together (contact/solver.h) */
    uint32_t node;       /* the same for pushes: a body, or a piece of one */
    lm_dvec3 twist;      /* N m s that putting bodies out of each other has given this one, to be taken back */
    double fastest;      /* speed of a contact that twisted it, m/s */
    uint32_t walls;      /* colliders that it may touch */
    float rigid;         /* share of a push that moves the body as a whole */
    float crush;         /* how much of it is crushed, 0 to 1 (contact/windows.h) */
    float inverse_mass;
    uint32_t braced; /* its place among the bodies in braces (contact/brace.h), and one more; 0: it is in none */
    bool moved;      /* the body as a whole has something to be given */
    bool twisted;    /* so has its spin */
    bool met;        /* it is in a contact with another body */

    /* Of a mover that has a mass (contact/rigid_contact.h); `centre` is 0 then. */
    lmi_mover *mover;
    struct lmi_rigids *rigids; /* that it is one of */
    uint32_t slot;
    lm_dvec3 at;     /* the centre of it and what it carries, in the world */
    lm_dvec3 offset; /* from its own centre */
    double inertia;  /* the trace of it, kg m² */
    double load;     /* kg that bear on it, while that is found out */
    bool lies;       /* on something that does not yield */

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

/* For braces: measures a body that need not answer as a whole, and has then an inverse_mass of 0 if it cannot; and gives all its
 * particles what its velocity and spin were given since. */
void lmi_push_measure(lmi_push *push);
void lmi_push_give(lmi_push *push);

/* Contacts have given the body this much spin that it must not keep, N m s, at this speed, m/s. Of two bodies, a has the share
 * below, by their inertia. */
void lmi_push_twist(lmi_push *push, lm_dvec3 twist, double speed);
double lmi_push_twist_share(const lmi_push *a, const lmi_push *b);

/* Takes that back from the spin of the body as a whole. */
void lmi_push_untwist(lmi_push *push);

/* The lever of a particle that holds a point with this weight. */
static inline float lmi_push_lever(const lmi_push *push, uint32_t place, float weight)
{
    return weight != 0.0f ? (1.0f - push->rigid) * weight / push->v[(size_t)place * 4 + 3] : 0.0f;
}

static inline quad lmi_push_turning(const lmi_push *push, quad torque)
{
    quad xy = quad_add_scaled(quad_scale(push->turning[0], quad_at(torque, 0)), quad_at(torque, 1), push->turning[1]);
    return quad_add_scaled(xy, quad_at(torque, 2), push->turning[2]);
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
    return quad_add(push->velocity, quad_cross(push->spin, arm));
}

/* The velocity of the body as a rigid one at `arm` from its centre, with all that it has been given. */
static inline quad lmi_push_whole(const lmi_push *push, quad arm)
{
    return quad_add(push->mean, quad_cross(quad_add(push->came, push->spin), arm));
}

static inline quad lmi_push_move(const lmi_push *push, quad arm)
{
    return quad_add(push->move, quad_cross(push->turn, arm));
}

/* Gives the body as a whole its share of an impulse, or of a shift (times mass). */
void lmi_push_impulse(lmi_push *push, quad arm, quad impulse);
void lmi_push_shift(lmi_push *push, quad arm, quad shift);

#endif
