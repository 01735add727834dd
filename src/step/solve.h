/*
 * Solving contacts: points of bodies against walls or against points of other bodies, all at once.
 *
 * A contact asks two things of its two sides, a and b (a wall is a side that nothing moves):
 *
 *   velocities   u_n >= bounce: they part at least as fast as restitution says (0 where they rest)
 *                |J_t| <= friction J_n, and as much of it as it takes to stop them sliding (Coulomb)
 *   positions    the depth left must not be above 0
 *
 * Each contact is given what it lacks, several times over, and what it has been given so far is kept, so that it can be given
 * back where the neighbours have done more than enough: the total of a contact never pulls, and flat faces do not hop.
 *
 * Soft contacts, where both sides answer locally, all look at the same velocities and are then all given their impulses at
 * once. That alone would be too much where many points hang on the same particles, so a point counts as this mobile:
 *
 *     K'_p = sum_i |w_pi| / m_i  sum_q |w_qi|          (q: all contacts, i: particles)
 *
 * Each row of K' - K adds up to nothing or more, so no impulse adds energy, whatever the points share; and a face that comes
 * evenly is stopped in one go. No contact depends on the order of the others.
 *
 * Contacts of bodies that answer as a whole, for some share, are gone through one after the other with their own mobility
 * (projected Gauss-Seidel), and begin with what they were given in the last substep if they were at rest: the load of a stack
 * is then there from the start, and does not have to find its way from body to body.
 *
 * First the velocities; then what they lost is taken back from the way too (the particles have moved by h times the velocity
 * they had): along the surface all of it, so that nothing creeps, across it as much as lies below the surface. Then what is
 * still in something else is put out of it, without giving it velocity: overlaps do not become energy.
 */
#ifndef LMI_SOLVE_H
#define LMI_SOLVE_H

#include "sample/bulk.h"
#include "step/push.h"

/* What every pass over soft contacts needs comes first, two lines of the cache: there may be tens of thousands. */
typedef struct lmi_contact {
    _Alignas(64) quad normal; /* from b to a, unit */
    quad braked;              /* impulse of friction so far */
    quad
        ahead; /* impulse (or shift) that the particles have been given: a little further than `pressed` and `braked` */
    quad more; /* what they are given next */
    lmi_push *a, *b; /* b is null for a wall */
    lmi_hold *hold;  /* those of a, then those of b */
    uint16_t count_a, count_b;
    float ratio;     /* a mass of b counts in units of a's */
    float friction;  /* Coulomb's coefficient */
    float bounce;    /* speed at which they part, m/s */
    float deep;      /* mobility along the normal, all of it */
    float pressed;   /* impulse along the normal */
    float shifted;   /* given so far: position, relative mass times metres of side a */
    float level;     /* where a is along the normal, less where b is, when there is no depth left */
    bool whole;      /* a side answers as a whole */
    bool unchanging; /* and both do so in full: `steady` holds */
    bool watched;    /* still apart and coming too fast to be slowed down before it bounces: nothing is done yet */

    quad surface;      /* velocity of the wall */
    quad arm_a, arm_b; /* from the centres of bodies that answer as a whole */
    quad off;          /* from b's point to a's, where they were not in one place */
    quad steady;       /* relative velocity of the particles, where nothing changes it */
    const void *wall;  /* the wall, where there is one */
    lmi_warm *last;    /* what its point was given in the last substep, and a place for this one; null: nothing */
    lmi_warm *next;
    uint32_t leader; /* touch point that stands for the cell of a's point */
    float found;     /* depth when it was found, metres */
    float depth;     /* the same, or as much of it as a substep should bring back */
    float approach;  /* how fast they came, m/s */
    float plain;     /* mobility of both sides: local, in every direction */
} lmi_contact;

/* A contact before it is in a list. Sides are particles and weights, `stride` apart. */
typedef struct lmi_contact_def {
    lmi_push *a, *b;
    const uint32_t *rider_a, *rider_b;
    const float *weight_a, *weight_b;
    uint32_t count_a, stride_a, count_b;
    lm_dvec3 normal, surface;
    lm_dvec3 off; /* from the place on b to the place on a: what a fast body still has to go */
    double depth, friction, restitution;
    const void *wall; /* null between bodies */
    uint32_t point;   /* the touch point of a, or LMI_NONE: a particle, which remembers nothing */
} lmi_contact_def;

#define LMI_MOST_CONTACTS 4096u

/* How far from a body things are that count as touching it, metres: as far as they fall in a substep from rest, and a
 * little more. Contacts would come and go otherwise while it rocks by less than can be seen. */
static inline double lmi_contact_slop(const lmi_step *step, const lmi_body *body)
{
    return fmin(2.0 * step->h * step->h * dvec_length(step->gravity), 0.01 * body->rest_size);
}

/* Approach speeds below this do not bounce, m/s. */
#define LMI_BOUNCE_SPEED 0.5

/* Contacts that are solved together. When there is no more room they are solved, and room is made; how much there is must
 * follow from the bodies alone, so that the same world always does the same. */
typedef struct lmi_contact_list {
    lm_world *world;
    lmi_contact *contacts;
    lmi_hold *holds;
    uint32_t count, limit;
    uint32_t hold_count, hold_limit;
    uint32_t barrier; /* contacts up to here are left alone by those that are added: others found them */
    uint32_t sweeps;  /* through contacts of bodies that answer as a whole, at most */
    double h;         /* substep */
    bool forgets;     /* what points are given here is not given again in the next substep */
} lmi_contact_list;

/* Sweeps where points remember what they were given, and where they do not. */
#define LMI_SWEEPS 40u
#define LMI_MORE_SWEEPS 120u

void lmi_contact_add(lmi_contact_list *list, const lmi_contact_def *def);

/* How many contacts of a body with walls are solved together, and how many particles hold them at most. */
uint32_t lmi_contacts_limit(const lmi_body *body);
uint32_t lmi_contacts_holds(const lmi_body *body);

/* Solves what is in the list and empties it. Counts contacts and the impulses of walls. */
void lmi_contacts_flush(lmi_contact_list *list);

#endif
