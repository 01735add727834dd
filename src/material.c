/*
 * Materials: checking them, and turning hertz and damping ratio into the alpha and damping of a substep.
 *
 * A deviation e from the goal with velocity u goes in one substep to u' = (1-k) u - alpha e/h, e' = e + h u'. Its
 * characteristic equation z² - (2 - k - alpha) z + (1 - k) = 0 has the roots exp((-zeta omega +- i omega_d) h) of an
 * oscillator of natural frequency omega and damping ratio zeta exactly when
 *
 *     k     = 1 - exp(-2 zeta omega h)
 *     alpha = 2 - k - 2 exp(-zeta omega h) cos(omega h sqrt(1 - zeta²))         (cosh beyond zeta = 1)
 *
 * so the motion is the same whatever h is, as long as alpha stays at 1 or below.
 */
#include "base/dmath.h"
#include "world.h"

lm_material lm_material_default(void)
{
    lm_material material = {
        .mode = LM_MODE_LINEAR,
        .stiffness = LM_STIFFNESS_HERTZ,
        .hertz = 8.0f,
        .damping_ratio = 0.1f,
        .alpha = 0.5f,
        .damping = 0.0f,
        .beta = 0.5f,
        .friction = 0.5f,
        .restitution = 0.0f,
    };
    return material;
}

static bool within(float value, float low, float high) { return value >= low && value <= high; }

const char *lmi_material_fault(const lm_material *m)
{
    const float most = 1e6f;
    if ((unsigned)m->mode >= LM_MODE_COUNT) {
        return "mode is not one of lm_mode";
    }
    if ((unsigned)m->stiffness >= LM_STIFFNESS_COUNT) {
        return "stiffness is not one of lm_stiffness";
    }
    if (!within(m->hertz, 0.0f, most)) {
        return "hertz must be 0 to 1e6";
    }
    if (!within(m->damping_ratio, 0.0f, most)) {
        return "damping_ratio must be 0 to 1e6";
    }
    if (!within(m->alpha, 0.0f, 1.0f)) {
        return "alpha must be 0 to 1";
    }
    if (!within(m->damping, 0.0f, most)) {
        return "damping must be 0 to 1e6";
    }
    if (!within(m->beta, 0.0f, 0.95f)) {
        return "beta must be 0 to 0.95";
    }
    if (!within(m->friction, 0.0f, most)) {
        return "friction must be 0 to 1e6";
    }
    if (!within(m->restitution, 0.0f, 1.0f)) {
        return "restitution must be 0 to 1";
    }
    return NULL;
}

/* The natural frequency, in hertz, of the oscillator that alpha and k make; decay = zeta omega, 1/s. */
static double frequency_of(double alpha, double k, double decay, double h)
{
    double left = 1.0 - k;
    if (!(left > 0.0)) {
        return 0.0; /* no velocity is left from one substep to the next: it creeps, it does not ring */
    }
    double c = (2.0 - k - alpha) / (2.0 * sqrt(left)), square;
    if (c > 1.0) {
        double y = lmi_log(c + sqrt(c * c - 1.0)) / h;
        square = decay * decay - y * y;
    } else {
        double y = lmi_acos(c < -1.0 ? -1.0 : c) / h;
        square = decay * decay + y * y;
    }
    return square > 0.0 ? sqrt(square) / 6.283185307179586 : 0.0;
}

void lmi_material_tune(lmi_body *body, double h)
{
    if (body->tuned_step == h) {
        return;
    }
    const lm_material *m = &body->material;
    double alpha = m->alpha, decay = 0.5 * m->damping;
    body->stiffness_limited = false;
    if (m->stiffness == LM_STIFFNESS_HERTZ) {
        double omega = 6.283185307179586 * m->hertz, zeta = m->damping_ratio;
        decay = zeta * omega;
        double left = lmi_exp(-2.0 * decay * h), swing = omega * h * sqrt(fabs(1.0 - zeta * zeta));
        double middle; /* 2 exp(-decay h) cos(swing), or cosh */
        if (zeta <= 1.0) {
            /* Beyond half a turn a substep the cosine comes back: no alpha rings that fast. */
            middle = swing < 3.141592653589793 ? 2.0 * lmi_exp(-decay * h) * lmi_cos(swing) : -2.0;
        } else {
            middle = lmi_exp(swing - decay * h) + lmi_exp(-swing - decay * h);
        }
        alpha = 1.0 + left - middle;
        if (alpha > 1.0) {
            alpha = 1.0;
            body->stiffness_limited = true;
        }
        alpha = alpha < 0.0 ? 0.0 : alpha;
    }
    double k = 1.0 - lmi_exp(-2.0 * decay * h);
    body->alpha = (float)alpha;
    body->damping = (float)k;
    body->reached_hertz = (float)frequency_of(alpha, k, decay, h);
    body->tuned_step = h;
}

lm_result lm_body_set_material(lm_world *world, lm_body_id id, const lm_material *material)
{
    lmi_body *body = lmi_body_find(world, id, "lm_body_set_material");
    if (!body) {
        return LM_ERROR_ID;
    }
    const char *fault = lmi_material_fault(material);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_material: %s", fault);
    }
    if (material->mode != body->material.mode) {
        world->batches[body->batch].dirty = true; /* lanes are sorted by mode */
    }
    body->material = *material;
    body->tuned_step = 0.0;
    lmi_batch_set_beta(world, id.slot - 1);
    return LM_OK;
}

lm_result lm_body_get_material(const lm_world *world, lm_body_id id, lm_material *material)
{
    const lmi_body *body = lmi_body_find(world, id, "lm_body_get_material");
    if (!body) {
        return LM_ERROR_ID;
    }
    *material = body->material;
    return LM_OK;
}
