/* What measurements must lie within. */
#ifndef LIMBER_VALIDATE_LIMITS_H
#define LIMBER_VALIDATE_LIMITS_H

typedef struct limit {
    const char *study, *quantity;
    double low, high;
    const char *known; /* what is known to be off, where the limit is wider than it should be; null: nothing */
} limit;

/* The limit of a quantity of a study; null: there is none. */
const limit *limit_find(const char *study, const char *quantity);

#endif
