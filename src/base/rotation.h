/*
 * The rotation nearest to a matrix, in double precision and without a state, for what is done once a body or once a patch.
 */
#ifndef LMI_ROTATION_H
#define LMI_ROTATION_H

#include "base/vec.h"

/* The rotation R with the largest sum of R_ij a_ij: the nearest one to a matrix that leads from rest to the world; of equally near ones
 * the smallest. */
dmat3 lmi_dmat_nearest_rotation(const dmat3 *a);

#endif
