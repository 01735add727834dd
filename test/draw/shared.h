/*
 * One small renderer for all tests of a program, opened and closed around them, and pictures made with it.
 */
#ifndef LIMBER_TEST_SHARED_H
#define LIMBER_TEST_SHARED_H

#include "test/draw/stage.h"

enum { WIDTH = 240, HEIGHT = 160 };

extern draw *d;

int open_shared(void **context);
int close_shared(void **context);

image shoot(const lm_world *world, const draw_settings *settings);

/* The mean difference of the pictures of two settings. */
double difference(const lm_world *world, const draw_settings *a, const draw_settings *b);

#endif
