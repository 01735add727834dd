/*
 * The solver: contacts that are solved together, and the particles that hold them. What it computes is in contact.h.
 *
 * Who may write what, while pieces run side by side: an owner (a body) its particles, the references of its side
 * of each contact, and what its touch points remember; a block its soft contacts; an island its stiff contacts and the
 * particles and pushes of its bodies.
 */
#ifndef LMI_SOLVER_H
#define LMI_SOLVER_H

#include "base/base.h"
#include "contact/brace.h"
#include "contact/contact.h"
#include "contact/touching.h"

/* 16 soft contacts side by side. Lanes without a contact have no references, and a mobility without end: they get nothing. */
typedef struct lmi_soft_block {
    _Alignas(64) float normal[3 * LMI_BLOCK]; /* from b to a, unit */
    float ahead[3 * LMI_BLOCK];  /* impulse that the particles have been given: a little further than it should be;
                                   later how fast a moves, seen from b, when all impulses are given */
    float braked[3 * LMI_BLOCK]; /* impulse of friction so far; first: what the point was given last time */
    float pressed[LMI_BLOCK];    /* the same along the normal */
    float deep[LMI_BLOCK];       /* K' */
    float bounce[LMI_BLOCK];     /* speed at which they part, m/s; first: restitution */
    float friction[LMI_BLOCK];   /* Coulomb's coefficient */
    float level[LMI_BLOCK];      /* where a is along the normal, less where b is, when no depth is left; first: depth */
    float share[LMI_BLOCK];      /* of the way it came that is taken back; first: the depth that may stay, metres */
    float shifted[LMI_BLOCK];    /* given so far: position, relative mass times metres of side a */
    float along
        [LMI_BLOCK]; /* what the particles have been given of it: a little further; first: the size of the impulse that the
                                   point was given last time, at least */
    float approach[LMI_BLOCK];  /* how fast they came, m/s */
    float ratio[LMI_BLOCK];     /* a mass of b counts in units of a's; 0: a wall */
    float shallow[LMI_BLOCK];   /* depth up to which bodies are put out of each other quickly, metres */
    float extra[3 * LMI_BLOCK]; /* as in lmi_found */
    uint32_t point[LMI_BLOCK];  /* the same */
    uint32_t near;              /* lanes that are only near */
} lmi_soft_block;

/* Rows of references of a block: those of a, then those of b. */
typedef struct lmi_soft_rows {
    uint16_t a, b;
} lmi_soft_rows;

/* A stiff contact. */
typedef struct lmi_stiff {
    quad normal, braked;
    quad arm_a, arm_b; /* from the centres of bodies that answer as a whole */
    quad still;        /* relative velocity of what no particle changes: walls, sides that answer as a whole in full */
    quad extra;        /* as in lmi_found */
    quad start;        /* how fast a came as a rigid body, seen from b */
    lmi_push *a, *b;
    float friction, bounce, deep, plain; /* deep: mobility along the normal; plain: local, in every direction */
    float pressed, shifted, level, depth, approach, ratio;
    uint32_t point;
    uint16_t count_a, count_b; /* references that change while it is solved */
    bool idle;                 /* nothing can move it, or it comes too fast to be slowed down before it bounces */
    bool watched;              /* the latter */
} lmi_stiff;

/* A body that is in contacts. */
typedef struct lmi_owner {
    lmi_body *body;                /* null: a mover, which has no particles */
    uint32_t first_place;          /* among all bodies', and of its particles among those that hold contacts */
    uint32_t first_run, run_count; /* of run_of_owner */
    uint32_t particles;            /* that it holds contacts with */
} lmi_owner;

/* Stiff contacts that are connected. */
typedef struct lmi_island {
    uint32_t first_run, run_count; /* of run_of_island */
    uint32_t sweeps;               /* done so far */
    float most;                    /* largest change in the last of them, m/s or metres */
} lmi_island;

/* How much room there is; it must follow from the bodies alone, so that the same world always does the same. */
typedef struct lmi_solver_room {
    uint32_t contacts;       /* with gaps in blocks */
    uint32_t window;         /* contacts that are found before they are taken */
    uint32_t rows_a, rows_b; /* particles that hold one side of a contact, at most */
    uint32_t owners, nodes;  /* bodies, and pushes of bodies and their pieces */
    uint32_t places;         /* of all bodies */
    uint32_t braces;         /* contact/brace.h */
    bool events;             /* somebody asks who touches whom */
    bool presses;            /* bodies keep apart by the penalty force (contact/penalty.h) */
} lmi_solver_room;

typedef struct lmi_solver {
    lm_world *world;
    lmi_workers *workers; /* null: all in the calling task */
    float h;              /* substep, seconds */
    uint32_t sweeps;      /* through stiff contacts, at most */
    lmi_solver_room room;

    lmi_owner *owners;
    uint32_t owner_count;
    lmi_run *runs;
    lmi_touching *sums; /* of runs; where somebody asks */
    uint32_t run_count;
    uint32_t *run_of_owner; /* and which of its sides the owner is (lmi_owned_run) */
    uint32_t *run_of_island;

    lmi_soft_block *blocks;
    lmi_soft_rows *rows;              /* [blocks] */
    uint32_t block_count, soft_count; /* soft_count: with the gaps */
    float *more,
        *shift;    /* [soft][4] impulses (or shifts) that the particles are given next, and shifts beside impulses;
                            at the end twists */
    float *change; /* [pieces] how much the last pass changed velocities, m/s at most */
    lmi_stiff *stiff;
    uint32_t stiff_count;

    /* References, [row][LMI_BLOCK]: those of a block from row block * rows_each on; those of a stiff contact one after the other,
     * from the end backwards. */
    uint32_t *index; /* place of the particle in its body; then among the particles below */
    float *weight;
    float *lever; /* of soft contacts: the particle's velocity for an impulse of 1 on the contact */
    uint32_t rows_each, ref_limit;

    /* [places][4] of the particles that hold contacts, those of an owner from its first place on; v.w: all weights on it over
     * its mass, x.w: 1/mass */
    float *x, *v;
    float *gained,
        *moved; /* [places][4] zero between passes: what contacts give the same particles in one; gained.w before the first: how
                              fast what they were given last time would move a particle, if all of it had one direction */
    uint32_t *mark,
        *touched; /* [places] zero between uses: where a particle is in x and v, + 1; and those that are there */
    float *load;  /* [places] the weights of all contacts that press a particle in this substep */

    lmi_island *islands;
    uint32_t island_count;
    uint32_t *node, *island_of; /* [nodes] a forest of pushes that are connected; and the island of a root */

    lmi_brace *braces;
    lmi_braced *braced;   /* the bodies that are in them */
    uint32_t *brace_list; /* of each body, one after the other */
    double *brace_change; /* [pieces] what approaches lacked in the last pass, m/s at most */
    uint32_t brace_count, braced_count;

    lmi_found *found; /* room for lists */
    lmi_ref *found_refs;
    lmi_run *found_runs;
    lmi_noticed *noticed;
    const lmi_contact_list *lists; /* while they are taken */
    uint32_t list_count, first_block;
    float beta;             /* how much further than they should soft contacts go in this pass (lmi_soft_further) */
    bool prepared;          /* lmi_solver_prepare */
    lm_contact_stats stats; /* since lmi_solver_begin */
    uint32_t pass, passes, until; /* of soft contacts; sweeps through stiff ones, altogether */

    uint32_t run_capacity, rows_capacity, sum_capacity, owner_run_capacity, island_run_capacity, owner_capacity,
        block_capacity;
    uint32_t more_capacity, shift_capacity, stiff_capacity, index_capacity, weight_capacity, x_capacity, v_capacity,
        gained_capacity, moved_capacity;
    uint32_t lever_capacity, mark_capacity, touched_capacity, island_capacity, node_capacity;
    uint32_t island_of_capacity, found_capacity, found_ref_capacity, found_run_capacity, change_capacity;
    uint32_t noticed_capacity, load_capacity, brace_capacity, braced_capacity, brace_list_capacity,
        brace_change_capacity;
} lmi_solver;

/* Room for so many contacts to be solved together, of which `window` are found at a time. */
void lmi_solver_room_contacts(lmi_solver_room *room, uint32_t contacts, uint32_t window);

/* Room for the contacts of one more body with walls, each body by itself. */
void lmi_solver_room_grow(lmi_solver_room *room, const lmi_body *body);

/* False when there is no memory: then there is as much as before or more. */
bool lmi_solver_reserve(lmi_memory *memory, lmi_solver *solver, const lmi_solver_room *room);
void lmi_solver_free(lmi_memory *memory, lmi_solver *solver);

/* The same for one that is made where there is none. */
bool lmi_solver_make(lmi_memory *memory, lmi_solver **solver, const lmi_solver_room *room);

/* An empty list in a part of the window. */
lmi_contact_list lmi_solver_list(lmi_solver *solver, uint32_t first, uint32_t count);

/* An empty solver for a substep. The caller fills in owners, with lmi_push.owner and .node of their pushes. */
void lmi_solver_begin(lmi_solver *solver, lm_world *world, double h, uint32_t sweeps, uint32_t owners);

/* Solves what it has when there is no room for so many more contacts. */
void lmi_solver_make_room(lmi_solver *solver, uint32_t contacts);

/* Takes the contacts of lists and empties them. Solves what it has when there is no room for them; the lists together must not
 * have more contacts than there is room. Lists of contacts that are pressed: presses them at once. */
void lmi_solver_take(lmi_solver *solver, lmi_contact_list *lists, uint32_t count);

/* Takes the list and solves all; false when there was nothing. */
bool lmi_solver_finish(lmi_contact_list *list);

/* Measures how fast its contacts come. To be called before lmi_solver_solve where velocities change in between; no contacts may be
 * taken after it. */
void lmi_solver_prepare(lmi_solver *solver);

/* Solves what it has, and is empty again. Counts contacts and the impulses of walls. */
void lmi_solver_solve(lmi_solver *solver);

/* --- between its files --- */

/* Runs task(solver, piece) for all pieces. */
void lmi_solver_run(lmi_solver *solver, void (*task)(lmi_solver *solver, uint32_t piece), uint32_t pieces);

/* What is in pieces of blocks and owners. */
#define LMI_PIECE_BLOCKS 16u
#define LMI_PIECE_OWNERS 4u

static inline uint32_t lmi_block_pieces(const lmi_solver *s)
{
    return (s->block_count + LMI_PIECE_BLOCKS - 1) / LMI_PIECE_BLOCKS;
}
static inline uint32_t lmi_owner_pieces(const lmi_solver *s)
{
    return (s->owner_count + LMI_PIECE_OWNERS - 1) / LMI_PIECE_OWNERS;
}

/* Row 0 of the references of a soft block, and the references of a stiff contact, as offsets into index and weight. */
static inline size_t lmi_rows_of(const lmi_solver *s, uint32_t block)
{
    return (size_t)block * s->rows_each * LMI_BLOCK;
}
static inline size_t lmi_refs_of(const lmi_solver *s, uint32_t stiff)
{
    return s->ref_limit - (size_t)(stiff + 1) * s->rows_each;
}

/* A run of an owner. The run itself would say as much, but only through its pushes, which are not in the cache. */
typedef struct lmi_owned_run {
    uint32_t run;
    bool a, b; /* the owner is this side; both, where a body touches itself */
} lmi_owned_run;

static inline lmi_owned_run lmi_owned(const lmi_solver *s, uint32_t n)
{
    const uint32_t packed = s->run_of_owner[n];
    return (lmi_owned_run){packed >> 2, packed & 1, packed >> 1 & 1};
}

/* References of one side: of a stiff contact, or of soft contacts that are beside each other in a block. */
typedef struct lmi_side_refs {
    size_t first;
    uint32_t contact; /* soft: that of the first; else LMI_NONE */
    uint32_t count;   /* contacts, or references of the one */
    uint32_t rows;    /* references of each, LMI_BLOCK apart */
    bool b;           /* of side b */
} lmi_side_refs;

/* touched.c. The references of an owner's sides, of soft contacts alone or of all, in the order of its runs. */
typedef void lmi_refs_function(lmi_solver *solver, uint32_t owner, const lmi_side_refs *refs);
void lmi_touched_each(lmi_solver *solver, uint32_t owner, bool soft, lmi_refs_function *each);
void lmi_touched_gather(lmi_solver *solver);
void lmi_touched_refresh(lmi_solver *solver); /* velocities of the particles, which forces have changed since */

/* touched.c: what the contacts have put into `more`, to velocities or positions; and `more` to velocities with `shift` to positions. */
void lmi_give_velocities(lmi_solver *solver, uint32_t piece);
void lmi_give_positions(lmi_solver *solver, uint32_t piece);
void lmi_give_both(lmi_solver *solver, uint32_t piece);

/* stiff.c */
void lmi_stiff_begin(const lmi_solver *solver, lmi_stiff *c, const lmi_run *run, const lmi_found *found,
                     const lmi_ref *refs, size_t at);
void lmi_islands_make(lmi_solver *solver);
void lmi_islands_warm(lmi_solver *solver);
void lmi_islands_velocities(lmi_solver *solver, uint32_t until); /* sweeps altogether, from the beginning */
void lmi_islands_weigh(lmi_solver *solver);                      /* gives back what adds energy */
void lmi_islands_take_back(lmi_solver *solver);
void lmi_islands_positions(lmi_solver *solver, uint32_t until);
void lmi_islands_end(lmi_solver *solver); /* notes twists */

/* A contact between two sides that answer as a whole in full and have no particles. */
typedef struct lmi_stiff_def {
    lmi_push *a, *b; /* b is null where it does not yield */
    const void *wall;
    lm_dvec3 place, normal; /* in the world; from b to a */
    quad velocity_a, velocity_b;
    double depth, friction, restitution;
    quad braked; /* what it begins with */
    float pressed;
    uint32_t point;
} lmi_stiff_def;

/* After a side was given another mass. */
void lmi_stiff_weigh(lmi_stiff *c);

/* There must be room (lmi_solver_make_room). */
void lmi_solver_add_stiff(lmi_solver *solver, const lmi_stiff_def *def);

/* tell.c */
void lmi_solver_tell(lmi_solver *solver);

#endif
