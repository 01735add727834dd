/*
 * The best rigid copy: the rotation and translation that bring the rest shape closest to where the particles are.
 *
 * A double-precision solver of its own (the largest eigenvector of Horn's 4x4 quaternion matrix, by Jacobi rotations), so
 * that what checks the engine does not share its code.
 */
#ifndef LIMBER_SCENE_FIT_H
#define LIMBER_SCENE_FIT_H

#include "scene/geometry.h"

typedef struct rigid_fit {
    lm_dvec3 rest_centre; /* of mass */
    lm_dvec3 centre;      /* of mass, of the positions */
    rotation rotate;
    double residual; /* root of the mass-weighted mean square distance, metres */
} rigid_fit;

rigid_fit lmi_fit_rigid(const lm_vec3 *rest, const lm_vec3 *positions, const float *masses, uint32_t count);

/* How far the stretches of a symmetric matrix (nine numbers) are from 1: the largest of them. */
double lmi_fit_strain(const float matrix[9]);

#endif
