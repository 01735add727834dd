/*
 * Whether skins are closed.
 */
#ifndef LIMBER_TEST_SKINS_H
#define LIMBER_TEST_SKINS_H

#include "limber/limber.h"

/* Edges that do not have as many triangles on one side as on the other, vertices at one place taken for one; and the volume. */
uint32_t skin_open_edges(const lm_world *world, lm_body_id body, double *volume);

#endif
