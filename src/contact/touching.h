/*
 * Who touches whom: an account of each step's contacts, kept where somebody asks (contact events, sleep).
 *
 * Contacts of a body with colliders are found by the task that steps it, so every body has a row of its own for them. Pairs
 * of bodies are found one after the other and share a list with a table to find them again. At the end of the step both are
 * sorted by slots and compared with what touched before. Nothing depends on the order of tasks, and rows and lists are as
 * long as the bodies are many: what does not fit is counted.
 */
#ifndef LMI_TOUCHING_H
#define LMI_TOUCHING_H

#include "world/world.h"

/* In the order in which events of one body come. */
typedef enum lmi_touching_kind {
    LMI_TOUCHES_ITSELF,
    LMI_TOUCHES_COLLIDER,
    LMI_TOUCHES_BODY,
    LMI_TOUCHING_KIND_COUNT
} lmi_touching_kind;

/* A body and what it touches. The slot of a body is the lower of two; b is a slot of bodies or of colliders. */
typedef struct lmi_touching {
    uint32_t a, b;
    uint32_t generation_a, generation_b;
    lmi_touching_kind kind;
    bool pressing;          /* it pressed, and was not only near */
    bool fresh;             /* it did not touch before this step */
    double weight;          /* of the sums: impulse, or nearly nothing where there is none */
    lm_dvec3 point, normal; /* weighted sums; from the end of the step on what they come to */
    lm_dvec3 impulse;       /* N s on a */
    double pressed;         /* N s */
    double approach;        /* m/s */
} lmi_touching;

typedef struct lmi_touching_list {
    lmi_touching *records;
    uint32_t *order; /* [count] records sorted by slots, once the step has ended */
    uint32_t count;
    uint32_t record_capacity, order_capacity;
} lmi_touching_list;

typedef struct lmi_touchings {
    lmi_touching_list now;    /* rows of walls by body, then pairs, while a step runs */
    lmi_touching_list before; /* of the step before; from the end of a step on what has ended in it */
    uint32_t *table;          /* [table_size] index of a pair + 1, or 0 */
    uint32_t *starts;         /* [bodies' slots + 1], for sorting */
    uint32_t table_size, start_capacity, table_capacity;
    uint32_t first_pair, pair_count, pair_limit;
    uint32_t left_out; /* pairs without room in the last step */
    bool told;         /* there was a step since the world was made or loaded */
} lmi_touchings;

/* Whether anybody asks. */
static inline bool lmi_touchings_wanted(const lm_world *world) { return world->contact_events || world->sleep.enabled; }

/* Memory for a step; false when there is none, then nothing has changed. Nothing when nobody asks. */
bool lmi_touchings_reserve(lm_world *world);
void lmi_touchings_free(lm_world *world);
void lmi_touchings_forget(lm_world *world); /* what touched so far */

/* Room for what a snapshot holds; the records are then filled in their order. */
bool lmi_touchings_allocate(lm_world *world, uint32_t count);

/* Below 0, 0 or above 0: by the slot of a, then the kind, then the slot of b, then their generations. */
int lmi_touching_compare(const lmi_touching *x, const lmi_touching *y);

/* Before the first substep of a call and after the last. */
void lmi_touchings_begin(lm_world *world);
void lmi_touchings_end(lm_world *world);

/* What a place counts that was not pressed, in N s: enough for a mean where none was. */
#define LMI_UNPRESSED 1e-12

/* One place of a contact: world coordinates, impulses in N s on the body. */
typedef struct lmi_place {
    lm_dvec3 point, normal; /* towards the body */
    lm_dvec3 impulse;
    double pressed;  /* along the normal */
    double approach; /* m/s */
    bool pressing;   /* something was done; else it is only near */
} lmi_place;

/* Adds a place to sums. */
void lmi_touching_add(lmi_touching *sums, const lmi_place *place);

/* A body met a collider, in the task that steps the body. Only where body->touched is not null. */
void lmi_touched_wall(const lm_world *world, lmi_body *body, uint32_t collider, const lmi_place *place);

/* The same for many places at once: weight, point, normal, impulse, pressed and approach as their sums, and whether any of them
 * was pressed. */
void lmi_touched_walls(const lm_world *world, lmi_body *body, uint32_t collider, const lmi_touching *sums);

/* Two bodies met, or one met itself; one call after the other. The first is the one that place is about. */
void lmi_touched_body(lm_world *world, lmi_body *body, lmi_body *other, const lmi_place *place);

/* The same for many places at once. */
void lmi_touched_bodies(lm_world *world, lmi_body *body, lmi_body *other, const lmi_touching *sums);

/* Whoever of them slept wakes with the next step. */
static inline void lmi_touched_wake(lmi_body *body, lmi_body *other)
{
    body->roused = body->roused || body->asleep;
    other->roused = other->roused || other->asleep;
}

#endif
