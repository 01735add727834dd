/*
 * Müller et al. 2005, figure 2 and section 3.1: a spring integrated explicitly (equation 1)
 *
 *     v += h (-k (x - l0))/m,   x += h v
 *
 * is stable up to h = 2 sqrt(m/k) and overshoots further every step beyond it. The same spring as a body of two particles
 * that are pulled to goals cannot overshoot, however stiff it is for its step.
 */
#include "test/support/support.h"

#define TWO_PI 6.283185307179586476925

/* Two particles of mass 1, a metre apart. A spring of stiffness k/2 between them rings at sqrt(k) rad/s, as each on a
 * spring of stiffness k to its goal does. */
typedef struct pair {
    double x[2], v[2];
} pair;

static double stretch_of(const pair *p) { return p->x[1] - p->x[0] - 1.0; }

static void explicit_step(pair *p, double k, double h)
{
    double force = 0.5 * k * stretch_of(p);
    p->v[0] += h * force;
    p->v[1] -= h * force;
    p->x[0] += h * p->v[0];
    p->x[1] += h * p->v[1];
}

static lm_body_id make_pair(lm_world *world, double k)
{
    lm_vec3 rest[2] = {{0, 0, 0}, {1, 0, 0}}, stretched[2] = {{-0.05f, 0, 0}, {1.05f, 0, 0}};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = rest;
    def.point_count = 2;
    def.mass = 2.0f;
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = (float)(sqrt(k) / TWO_PI);
    def.material.damping_ratio = 0.0f;
    lm_body_id body = make_body(world, &def);
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), stretched, NULL));
    return body;
}

static double stretch_read(const lm_world *world, lm_body_id body)
{
    lm_vec3 x[2];
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), x));
    return ref_length(ref_sub(to_double(x[1]), to_double(x[0]))) - 1.0;
}

/* With a step short enough for both they are the same spring. */
static void short_steps_agree(void **context)
{
    (void)context;
    double k = 100.0, h = 1e-3;
    pair p = {{-0.05, 1.05}, {0, 0}};
    lm_world *world = make_world(0.0);
    lm_body_id body = make_pair(world, k);
    for (int step = 0; step < 2000; step++) {
        explicit_step(&p, k, h);
        assert_ok(lm_world_step(world, h));
        assert_near(stretch_read(world, body), stretch_of(&p), 1e-4);
    }
    lm_world_destroy(world);
}

/* h² k/m on both sides of 4: the explicit spring explodes above, ours never does. */
static void long_steps_explode_only_explicitly(void **context)
{
    (void)context;
    static const double stiffness[] = {1.0, 3.9, 4.1, 10.0, 100.0, 1e4};
    for (int s = 0; s < 6; s++) {
        double h = FRAME, k = stiffness[s] / (h * h), largest_explicit = 0.0, largest = 0.0;
        pair p = {{-0.05, 1.05}, {0, 0}};
        lm_world *world = make_world(0.0);
        lm_body_id body = make_pair(world, k);
        for (int step = 0; step < 10000; step++) {
            if (step < 200) {
                explicit_step(&p, k, h);
                largest_explicit = fmax(largest_explicit, fabs(stretch_of(&p)));
            }
            assert_ok(lm_world_step(world, h));
            double now = fabs(stretch_read(world, body));
            if (!(now <= largest)) largest = now;
        }
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        if (stiffness[s] > 4.0) {
            assert_true(largest_explicit > 1e6 * 0.1);
            assert_true(info.stiffness_limited);
        } else {
            assert_at_most(largest_explicit, 10.0 * 0.1);
        }
        /* Undamped at alpha = 1 the deviation goes e, 0, -e, -e, 0, e: never beyond where it was let go. */
        assert_at_most(largest, 0.1 * 1.2);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_steps_agree),
        cmocka_unit_test(long_steps_explode_only_explicitly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
