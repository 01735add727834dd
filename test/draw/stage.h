/*
 * What the tests of drawing share: worlds with something to look at, and pictures compared by numbers.
 */
#ifndef LIMBER_TEST_STAGE_H
#define LIMBER_TEST_STAGE_H

#include "draw/draw.h"
#include "test/support/support.h"

/* A closed box as a skin, each side divided into `cells` squares a way; half sizes x, y, z. */
void set_box_skin(lm_world *world, lm_body_id body, lm_skin_kind kind, uint32_t cells, double x, double y, double z);

/* A block of 5 x 5 x 5 particles half a metre wide in eight regions, with a box as its skin, at a place. */
lm_body_id add_block(lm_world *world, lm_skin_kind kind, lm_dvec3 at);

lm_collider_id add_floor(lm_world *world, double height);

/* A floor and three blocks, one of each kind of skin and one without, after some frames in which they fell on it; all of it
 * moved by `offset`. */
lm_world *make_stage(lm_dvec3 offset);

/* Bends and mangles a body. */
void deform_body(lm_world *world, lm_body_id body, double share);

/* Settings that look at a stage. */
draw_settings look_at_stage(lm_dvec3 offset);

draw *open_renderer(uint32_t width, uint32_t height);
image make_picture(draw *renderer, const lm_world *world, const draw_settings *settings, uint32_t width,
                   uint32_t height);

/* The mean difference of two pictures of the same size in steps of 255, and the share of values that differ by more than
 * `steps`. */
double mean_difference(const image *a, const image *b);
double share_beyond(const image *a, const image *b, int steps);

#endif
