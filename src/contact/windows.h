/*
 * How much of a body is crushed: then it braces itself (contact/brace.h).
 *
 * A window is a group of carriers that are near each other at rest: all of them, and those in boxes of half the body's
 * size. It has an affine map of its carriers, F = sum x_c l_c^T, as the body has one of all; its levers l_c are made once. Boxes of
 * one size stand side by side, and once more half a box further, so that what is crushed on the border of two is in the middle of a third.
 * Carriers that are a sheet or a line are no window: a cloth may fold.
 *
 * Windows are made of the rest places of carriers alone. Those of a mould serve all bodies that share it.
 */
#ifndef LMI_WINDOWS_H
#define LMI_WINDOWS_H

#include "contact/push.h"
#include "touch/bulk.h"

typedef struct lmi_windows {
    struct lmi_windows *next;
    bool used;
    uint32_t carriers; /* of the mould they were made for, and where these are at rest */
    lm_vec3 *rest;
    uint32_t count, riders; /* riders: room for those of all windows */
    uint32_t *first;        /* [count + 1] */
    uint32_t *carrier;      /* [riders] */
    float *lever;           /* [riders][3] 1/m */
    double reach;           /* the sum of the lengths of its levers, of the window where it is largest */
} lmi_windows;

/* The windows of a mould; null when out of memory. */
lmi_windows *lmi_windows_make(lmi_memory *memory, const lmi_mould *mould);
void lmi_windows_free(lmi_memory *memory, lmi_windows *windows);

/* Whether they are those of a mould; null are not. */
bool lmi_windows_fit(const lmi_windows *windows, const lmi_mould *mould);

/* How much a body is crushed where it is crushed most: 0 to 1 (lmi_crush_of in touch/stretch.h); after carry_bulk. */
double lmi_windows_crush(const lmi_windows *windows, const lmi_bulk *solid);

#endif
