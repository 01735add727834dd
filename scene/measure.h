/* What an expectation can measure, of a body or of the whole world. */
#ifndef LIMBER_SCENE_MEASURE_H
#define LIMBER_SCENE_MEASURE_H

#include "limber/limber.h"

struct lm_scene;
struct scene_expect;

/* Null past the end. */
const char *lmi_measure_name(uint32_t measure);
const char *lmi_measure_doc(uint32_t measure);
bool lmi_measure_is_of_body(uint32_t measure);
bool lmi_measure_needs_box(uint32_t measure);
bool lmi_measure_needs_mover(uint32_t measure);

/* Measures what `expect` asks for, of the body with that index where it is a measure of bodies. */
lm_result lmi_measure_take(const struct lm_scene *scene, const lm_world *world, const struct scene_expect *expect,
                           uint32_t body, double *value);

/* What was seen of one expectation on one body. */
typedef struct expect_record {
    double value;
    uint32_t frames; /* that have gone into the value */
} expect_record;

#endif
