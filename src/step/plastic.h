/*
 * Plastic flow of one region; fit.c asks for it where a strain may exceed the yield.
 */
#ifndef LMI_PLASTIC_H
#define LMI_PLASTIC_H

#include "world.h"

/* `square` is S² of the elastic deformation (xx yy zz xy yz zx in the rest axes), `inverted` whether it is inside out. Changes
 * the lane's lasting deformation when the strain is above its body's yield. */
void lmi_plastic_flow(const lm_world *world, const lmi_pack *pack, uint32_t lane, const double square[6],
                      bool inverted);

#endif
