/*
 * States that no simulation would lead to, and how long a damped body may take to come back from them.
 *
 * With share lambda of the pull alpha and damping k a small deviation goes as z^n, z² - (2 - k - alpha lambda) z + (1 - k) = 0.
 * The larger root of the slowest mode decides; the body gets FOLDS / -ln |z| steps. From a million sizes to a hundredth of one
 * is 18.4 e-folds; the rest is for the time in which the regions do not agree yet which way is up, and the theory of small
 * deviations does not hold. At alpha = 1 and full damping this is 40/lambda steps, the rule of thumb in the header.
 */
#ifndef LIMBER_TEST_MANGLE_H
#define LIMBER_TEST_MANGLE_H

#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>

#define FOLDS 40.0
#define HUGE_SCALE 1e6

typedef enum mangled_kind {
    MANGLED_RANDOM,
    MANGLED_FLAT,
    MANGLED_LINE,
    MANGLED_POINT,
    MANGLED_MIRROR,
    MANGLED_HUGE, /* a million times the size */
    MANGLED_TINY, /* a millionth */
    MANGLED_COUNT
} mangled_kind;

static const char *const mangled_names[MANGLED_COUNT] = {"random", "flat", "line", "point", "mirrored", "huge", "tiny"};

/* Where a particle goes that was at `a`; `anywhere` is a random place in the body. */
static inline ref_vec mangled(mangled_kind kind, ref_vec a, ref_vec anywhere)
{
    switch (kind) {
    case MANGLED_RANDOM: return anywhere;
    case MANGLED_FLAT: return ref_v(a.x, 0.0, a.z);
    case MANGLED_LINE: return ref_v(a.x, 0.0, 0.0);
    case MANGLED_POINT: return ref_v(0.0, 0.0, 0.0);
    case MANGLED_MIRROR: return ref_v(-a.x, a.y, a.z);
    case MANGLED_HUGE: return ref_scale(HUGE_SCALE, anywhere);
    default: return ref_scale(1e-6, anywhere);
    }
}

/* How many e-folds a step takes off the slowest mode. */
static inline double folds_per_step(double alpha, double k, double share)
{
    double b = 2.0 - k - alpha * share, d = b * b - 4.0 * (1.0 - k);
    double z = d < 0.0 ? sqrt(1.0 - k) : fmax(fabs(0.5 * (b + sqrt(d))), fabs(0.5 * (b - sqrt(d))));
    return -log(z);
}

/* Gives the body `ratio` times the damping that is critical for its slowest mode, which gets `share` of the pull. Returns
 * within how many steps it must be itself again; 0 where that would be more than `most`. */
static inline uint32_t damp_to_recover(lm_world *world, lm_body_id body, lm_material *material, double ratio,
                                       double share, mangled_kind kind, double size, double most)
{
    double alpha = (double)material->alpha, k = fmin(0.95, 2.0 * ratio * sqrt(alpha * share));
    material->damping = (float)(-log(1.0 - k) / FRAME);
    assert_ok(lm_body_set_material(world, body, material));
    double steps = FOLDS / folds_per_step(alpha, k, share);
    if (steps > most) return 0;
    if (kind == MANGLED_HUGE) steps += 4.0 * HUGE_SCALE * size / ((double)LM_MAX_SPEED * FRAME);
    return (uint32_t)ceil(steps);
}

/* What is left of a deformation, in sizes, when noise of a hundred thousandth of the size is put onto the state of a body that
 * may stand on a saddle, pulled neither to the one side nor to the other, and `again`, one like it in a world of its own, goes
 * on from there for some steps. */
static inline double left_after_nudge(const lm_world *world, lm_body_id body, lm_world *other, lm_body_id again,
                                      uint64_t seed, double size, uint32_t count)
{
    body_state state = state_read(world, body, body_centre(world, body));
    lm_vec3 *x = calloc(state.count, sizeof *x), *v = calloc(state.count, sizeof *v);
    random_state random = {seed};
    for (uint32_t i = 0; i < state.count; i++)
        x[i] = to_float(ref_add(state.x[i], random_in_cube(&random, 1e-5 * size)));
    assert_ok(lm_body_set_state(other, again, lm_dvec3_zero(), x, v));
    for (uint32_t step = 0; step < count; step++) assert_ok(lm_world_step(other, FRAME));
    free(x);
    free(v);
    state_free(&state);
    return deformation(other, again) / size;
}

#endif
