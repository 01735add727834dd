/*
 * contact/: contacts: who touches whom, where, and how both answer; events and sleep.
 *
 * reads   positions and velocities, touch points and solids of bodies, colliders
 * writes  positions and velocities, who touches whom, who sleeps
 * uses    base fracture octree touch world; in sources also collide joint lattice match skeleton
 *
 *   contact.c    colliders                               mutual.c   bodies: all of it in order
 *   pairs.c      who may touch                           meet.c, inside.c  where          cleft.c  cuts          rubble.c  pieces
 *   found.c, take.c, touched.c, soft.c, stiff.c, tell.c, solver.c  the solver, below
 *   push.c       bodies that answer as a whole           penalty.c  the papers' force
 *   fresh.c      bodies that begin inside each other
 *   halt.c       bodies too fast for contacts            touching.h  the account of who touched whom          sleep.c  sleep
 *
 * Contacts: how points of bodies answer walls, and points of other bodies, all at once.
 *
 * Reads the contacts that were found (lmi_contact_add), positions, velocities and masses of the particles that hold them, and
 * what touch points were given in the last substep. Writes positions and velocities of those particles, the pushes of bodies
 * that answer as a whole (contact/push.h), what touch points were given, who touches whom (contact/touching.h), and the impulses of
 * walls. Uses base/, touch/touch.h and contact/push.h; the arithmetic of a soft contact is that of contact/soft.h, which devices
 * compile too.
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
 * Soft contacts, where both sides answer locally, all see the same velocities and are then all given their impulses at
 * once (Jacobi). That alone would be too much where many points are held by the same particles, so a point counts as this
 * mobile:
 *
 *     K'_p = sum_i |w_pi| / m_i  sum_q |w_qi|          (q: all contacts, i: particles)
 *
 * Each row of K' - K adds up to nothing or more, so no impulse adds energy, whatever the points share; and a face that comes
 * evenly is stopped in one go. They begin with what their points were given in the last substep, as much of it as adds no energy
 * (lmi_soft_keeps in contact/soft.h). A pass is two loops without conflicts: over contacts (relative velocity in, impulse out) and
 * over bodies (each gives its particles the impulses of their contacts, in the order of the contacts). Both are cut into
 * pieces of fixed size that run side by side.
 *
 * Stiff contacts, where a side answers as a whole for some share, are solved one after the other with their own mobility
 * (projected Gauss-Seidel), and begin with what they were given in the last substep if they were at rest: the load of a stack
 * is then there from the start, and does not have to find its way from body to body. Contacts that are connected through
 * bodies are an island; islands do not see each other and run side by side.
 *
 * First the velocities; then what they lost is taken back from the way too (the particles have moved by h times the velocity
 * they had): along the surface all of it, so that nothing creeps, across it as much as lies below the surface. Then what is
 * still in something else is put out of it, without giving it velocity: overlaps do not become energy.
 *
 * The order of contacts is that of the lists in which they were found. Nothing depends on the number of workers.
 *
 *   found.c     a contact is added to a list of contacts found
 *   take.c      lists become blocks of soft contacts in lanes, and compact stiff contacts
 *   touched.c   the particles that hold them, and passes over these
 *   brace.c     before all of them: bodies that are crushed, one contact of rigid bodies for each run
 *   soft.c      passes over contacts, in lanes
 *   stiff.c     islands and sweeps
 *   tell.c      what came of it: to bodies, touch points and events
 *   solver.c    memory, and all of it in order
 */
#ifndef LMI_CONTACT_H
#define LMI_CONTACT_H

#include "contact/push.h"
#include "touch/bulk.h"

/* A contact before it is in a list. Sides are particles and weights, `stride` apart. */
typedef struct lmi_contact_def {
    lmi_push *a, *b;
    const uint32_t *rider_a, *rider_b;
    const float *weight_a, *weight_b;
    uint32_t count_a, stride_a, count_b;
    lm_dvec3 normal, surface; /* normal: from b to a, unit; surface: velocity of the wall */
    lm_dvec3 off;             /* from the place on b to the place on a: what a fast body still has to go */
    double depth, friction, restitution;
    double shallow;   /* depth up to which soft bodies are put out of each other quickly, metres */
    const void *wall; /* null between bodies; with b: a collider of a mover that has a mass, and b is that mover */
    uint32_t point;   /* the touch point of a, or LMI_NONE: a particle, which remembers nothing */
} lmi_contact_def;

#define LMI_MOST_CONTACTS 4096u

/* How far a body falls in a substep from rest, twice over, metres. */
static inline double lmi_contact_fall(const lmi_step *step)
{
    return 2.0 * step->h * step->h * dvec_length(step->gravity);
}

/* How far from a body things are that count as touching it, metres: as far as they fall in a substep from rest, and a
 * little more. Contacts would come and go otherwise while it rocks by less than can be seen. */
static inline double lmi_contact_slop(const lmi_step *step, const lmi_body *body)
{
    return lmi_min(lmi_contact_fall(step), 0.01 * body->rest_size);
}

/* Approach speeds below this do not bounce, m/s. */
#define LMI_BOUNCE_SPEED 0.5

/* Sweeps through stiff contacts, at most, where points remember what they were given, and where they do not. */
#define LMI_SWEEPS 40u
#define LMI_MORE_SWEEPS 120u

/* A particle that holds a point: its place in the body (later among the particles that hold any), and its weight. */
typedef struct lmi_ref {
    uint32_t place;
    float weight;
} lmi_ref;

/* A contact as it was found. */
typedef struct lmi_found {
    float normal[3], extra[3]; /* extra: velocity of the wall, or lmi_contact_def.off; where it is near, the place */
    float depth, friction, restitution, shallow;
    uint32_t point;     /* that remembers, or LMI_NONE */
    uint32_t first_ref; /* those of a, then those of b */
    uint16_t count_a, count_b;
    bool near; /* soft, and still apart: nothing is done yet, but they are near */
} lmi_found;

/* Contacts between the same two sides that follow each other. */
typedef struct lmi_run {
    lmi_push *a, *b;  /* b is null for a wall; either may be a mover (lmi_push.mover) */
    const void *wall; /* null between bodies */
    uint32_t first;   /* contact: soft or stiff ones are counted apart */
    uint32_t count;
    bool stiff;   /* a side answers as a whole */
    bool forgets; /* what its points are given is not given again in the next substep */
} lmi_run;

/* A touch point in another body, or near it, and the way out: it goes back that way. */
typedef struct lmi_noticed {
    lmi_body *body;
    uint32_t point, other, generation; /* of the other body; other: its slot + 1 */
    float out[3];                      /* in the rest shape of the other */
} lmi_noticed;

struct lmi_solver;

/* Whether contacts are solved, or pressed by the penalty force (contact/penalty.h): then none is merged and none is only near, and all are
 * looked for twice, first to know what particles have to bear. */
typedef enum lmi_presses { LMI_SOLVED, LMI_WEIGHED, LMI_PRESSED } lmi_presses;

/* Contacts that were found, in order. Soft contacts stand at the beginning of the records, stiff ones, backwards, at the end. */
typedef struct lmi_contact_list {
    struct lmi_solver *solver; /* takes what is in the list when there is no more room */
    lmi_found *found;
    lmi_ref *refs;
    lmi_run *runs; /* as many as there can be contacts */
    lmi_noticed *noticed;
    uint32_t noticed_count;
    uint32_t soft, stiff, limit;
    uint32_t ref_count, ref_limit;
    uint32_t run_count;
    bool forgets; /* see lmi_run */
    lmi_presses presses;
    uint32_t first_soft, first_stiff; /* among those of the solver, once it takes them */
} lmi_contact_list;

static inline void lmi_contact_list_clear(lmi_contact_list *list)
{
    list->soft = list->stiff = list->ref_count = list->run_count = list->noticed_count = 0;
}

void lmi_contact_add(lmi_contact_list *list, const lmi_contact_def *def);

/* A point of a body remembers where it is on its way into another. */
void lmi_contact_notice(lmi_contact_list *list, const lmi_noticed *noticed);

/* How many contacts of a body with walls are solved together, and how many particles hold one of them at most. */
uint32_t lmi_contacts_limit(const lmi_body *body);
uint32_t lmi_contacts_rows(const lmi_body *body);

#endif
