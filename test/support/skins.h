/*
 * Skins that are cut, and whether they are closed.
 */
#ifndef LIMBER_TEST_SKINS_H
#define LIMBER_TEST_SKINS_H

#include "test/support/support.h"

/* Edges that do not have as many triangles on one side as on the other, vertices at one place taken for one; and the volume. */
uint32_t skin_open_edges(const lm_world *world, lm_body_id body, double *volume);

/* A square blade of a side around a point, across a direction. */
lm_cut_info cut_square(lm_world *world, lm_body_id body, ref_vec at, ref_vec normal, double half, double turn);

ref_vec random_unit(random_state *random);

#endif
