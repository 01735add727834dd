/* Which points of a lattice lie inside a closed mesh. Private to shapes/. */
#ifndef LIMBER_SHAPES_INSIDE_H
#define LIMBER_SHAPES_INSIDE_H

#include "limber/shapes.h"

/* Makes `values` negative where the lattice point is outside the mesh. The points are centres of cells, symmetric about
 * the origin; x runs fastest. */
void lmi_shape_keep_inside(const lm_shape_mesh *mesh, const uint32_t n[3], const double step[3], double *values);

#endif
