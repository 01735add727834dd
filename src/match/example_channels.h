/*
 * Where the numbers of a region with examples stand (examples.h): one text for the host and for devices.
 */
#ifndef LMI_EXAMPLE_CHANNELS_H
#define LMI_EXAMPLE_CHANNELS_H

#include <stdint.h>

/* Channels of a region with n examples. */
enum {
    LMI_EXAMPLE_MASS = 0,    /* M_r, in units of the body's mean mass */
    LMI_EXAMPLE_SCALE = 1,   /* of b, with a mix of its own: 1 / the largest <D_k, D_k> */
    LMI_EXAMPLE_BETA = 2,    /* of the mix; 1 where it is forced */
    LMI_EXAMPLE_FORCED = 3,  /* 1: weights stay as they are */
    LMI_EXAMPLE_INVERSE = 4, /* of clusters: 1 / rest extents, 0 where there is none   3 */
    LMI_EXAMPLE_STRETCH = 7, /* of the mix: xx yy zz xy yz zx                          6 */
    LMI_EXAMPLE_WEIGHT = 13, /* w                                                      n */
};
static inline uint32_t lmi_example_dots(uint32_t n) { return LMI_EXAMPLE_WEIGHT + n; }        /* M_r <D_k, E>    n */
static inline uint32_t lmi_example_deviations(uint32_t n) { return lmi_example_dots(n) + n; } /* D_k: 6 for each    */
static inline uint32_t lmi_example_gram(uint32_t n) { return lmi_example_deviations(n) + 6 * n; } /* of its own mix */
static inline uint32_t lmi_example_channels(uint32_t n) { return lmi_example_gram(n) + n * (n + 1) / 2; }

#endif
