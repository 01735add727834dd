/*
 * Solving contacts: points of bodies against walls or against points of other bodies, all at once.
 *
 * A contact asks two things of its two sides, a and b (a wall is a side that nothing moves):
 *
 *   positions    the depth left must not be above 0
 *   velocities   u_n >= bounce: they part at least as fast as restitution says (0 where they rest)
 *                |J_t| <= friction J_n, and as much of it as it takes to stop them sliding (Coulomb)
 *
 * Each contact in turn is given what it lacks, several times over the whole list, and what it has been given so far is
 * kept, so that it can be given back where the neighbours have done more than enough (projected Gauss-Seidel): the total
 * of a contact never pulls, and flat faces do not hop. First the velocities; then what they lost is taken back from the
 * way too (the particles have moved by h times the velocity they had): along the surface all of it, so that nothing
 * creeps, across it as much as lies below the surface. Then what is still in something else is put out of it, without
 * giving it velocity: overlaps do not become energy.
 *
 * A point begins with what it was given in the last substep: what rests is then solved before the first sweep, and the
 * many points of one face on another, which take many sweeps to agree, do so over several substeps.
 *
 * Deterministic because the order is that of the list.
 */
#ifndef LMI_SOLVE_H
#define LMI_SOLVE_H

#include "sample/bulk.h"
#include "step/push.h"

typedef struct lmi_contact {
    lmi_push *a, *b; /* b is null for a wall */
    lmi_grip grip_a, grip_b;
    lm_dvec3 normal;    /* from b to a, unit */
    lm_dvec3 apart;     /* position of a less position of b when the depth was measured, each from its body's origin */
    lm_dvec3 surface;   /* velocity of the wall */
    uint32_t wall;      /* its collider's slot */
    bool watched;       /* still apart and coming too fast to be slowed down before it bounces: nothing is done yet */
    double depth;       /* metres */
    double friction;    /* Coulomb's coefficient */
    double approach;    /* how fast they came, m/s */
    double bounce;      /* speed at which they part, m/s */
    double plain, deep; /* mobility of both sides: without direction, and along the normal */
    double shifted;     /* given so far: position, relative mass times metres of side a */
    double pressed;     /* impulse along the normal */
    lm_dvec3 braked;    /* impulse of friction */
    lmi_warm *last;     /* what its point was given in the last substep, and a place for this one; null: nothing */
    lmi_warm *next;
} lmi_contact;

#define LMI_MOST_CONTACTS 4096u

/* How far from a body things are that count as touching it, metres: as far as they fall in a substep from rest, and a
 * little more. Contacts would come and go otherwise while it rocks by less than can be seen. */
static inline double lmi_contact_slop(const lmi_step *step, const lmi_body *body)
{
    return fmin(2.0 * step->h * step->h * dvec_length(step->gravity), 0.01 * body->rest_size);
}

/* Approach speeds below this do not bounce, m/s. */
#define LMI_BOUNCE_SPEED 0.5

/* Fills plain, deep and bounce (from the restitution) of a contact whose other fields are set; between bodies also apart,
 * and limits the depth to what a substep of h seconds should bring back. */
void lmi_contact_begin(lmi_contact *contact, double restitution, double h);

/* Contacts that are solved together. When there is no more room they are solved, and room is made; how much there is must
 * follow from the bodies alone, so that the same world always does the same. */
typedef struct lmi_contact_list {
    lm_world *world;
    lmi_contact *contacts;
    float *weights;   /* [limit][LMI_CARRIER_MOST] of side b; null when all are walls */
    uint32_t *riders; /* the same */
    uint32_t count, limit, sweeps;
    double h; /* substep */
} lmi_contact_list;

/* Begins a contact (see lmi_contact_begin) and adds it. The grip of a side b is copied. */
void lmi_contact_add(lmi_contact_list *list, const lmi_contact *contact, double restitution);

/* How many contacts of a body with walls are solved together. */
static inline uint32_t lmi_contacts_limit(const lmi_body *body)
{
    uint32_t points = body->touch.count ? body->touch.count : body->particle_count;
    return points < LMI_MOST_CONTACTS ? points : LMI_MOST_CONTACTS;
}

/* Solves what is in the list and empties it. Counts contacts and the impulses of walls. */
void lmi_contacts_flush(lmi_contact_list *list);

/* Solves a list, at most `sweeps` times through, until nothing changes any more; h is the substep. */
void lmi_contacts_solve(lmi_contact *contacts, uint32_t count, uint32_t sweeps, double h);

#endif
