/*
 * The broad phase: which bodies may touch each other.
 *
 * A box around each body; boxes are sorted along the axis on which the bodies are spread most, and those that overlap are
 * pairs. Pairs are processed in the order of a curve that fills space (Morton's): neighbours follow each other, and what
 * one pair has brought into the cache serves the next.
 *
 * The order depends on places and slots alone.
 */
#ifndef LMI_PAIRS_H
#define LMI_PAIRS_H

#include "world/world.h"

typedef struct lmi_entry {
    lm_dvec3 lower, upper; /* world */
    uint32_t slot;
    uint32_t partners; /* of about its size or larger */
    uint32_t curve;    /* place on the curve */
    bool met;          /* its box overlaps that of another */
    double size;
    uint32_t first_place; /* among all bodies' */
    uint32_t first_part;  /* the same for those that can break */
    double way;           /* in this substep: its own, or against a partner where that is further */
} lmi_entry;

typedef struct lmi_pairs {
    lmi_entry *entries; /* sorted along an axis */
    uint32_t *visit;    /* entries in the order of the curve */
    uint32_t count;
    int axis; /* along which the entries are sorted */
} lmi_pairs;

/* The entry of a body for a substep of h seconds. */
lmi_entry lmi_entry_of(const lmi_body *body, uint32_t slot, double h);

/* Sorts entries and visits, after the entries have been filled in. */
void lmi_pairs_sort(lmi_pairs *pairs);

/* Calls `each` for the indices of every two entries whose boxes overlap and who may touch; the same pairs in the same order
 * each time. */
typedef void lmi_pair_function(const lmi_step *step, uint32_t a, uint32_t b, void *user);
void lmi_pairs_each(const lmi_step *step, lmi_pairs *pairs, lmi_pair_function *each, void *user);

#endif
