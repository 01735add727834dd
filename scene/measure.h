/* What an expectation can measure, of a body or of the whole world. */
#ifndef LIMBER_SCENE_MEASURE_H
#define LIMBER_SCENE_MEASURE_H

#include "limber/limber.h"

struct scene;
struct scene_expect;

/* Null past the end. */
const char *measure_name(uint32_t measure);
const char *measure_doc(uint32_t measure);
bool measure_is_of_body(uint32_t measure);
bool measure_needs_box(uint32_t measure);

/* Measures what `expect` asks for, of the body with that index where it is a measure of bodies. */
lm_result measure_take(const struct scene *scene, const lm_world *world, const struct scene_expect *expect,
                       uint32_t body, double *value);

/* What was seen of one expectation on one body. */
typedef struct expect_record {
    double value;
    uint32_t frames; /* that have gone into the value */
} expect_record;

#endif
