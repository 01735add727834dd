/*
 * Plastic flow of one region; the fits ask for it where a strain may exceed the yield.
 */
#ifndef LMI_PLASTIC_H
#define LMI_PLASTIC_H

#include <stdbool.h>

/* What a body's material makes of strain in this substep. */
typedef struct lmi_plastic_rates {
    double flow; /* the share of elastic strain that becomes lasting */
    float yield; /* above this strain */
    float most;  /* lasting strain */
} lmi_plastic_rates;

/* `square` is S² of the elastic deformation (xx yy zz xy yz zx in the rest axes), `inverted` whether it is inside out. Changes
 * the lasting deformation, six floats LMI_BLOCK apart, when the strain is above the yield. */
void lmi_plastic_flow(const lmi_plastic_rates *rates, float *plastic, const double square[6], bool inverted);

/* Strains whose |S² - I| is below this, squared, cannot exceed the yield. Nothing exceeds a yield of 0, which is none. */
float lmi_yield_bound(float yield);

#endif
