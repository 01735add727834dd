/*
 * Materials: checking them, turning hertz and damping ratio into the alpha and damping of a substep, and what a material
 * has region by region (stiffness, lasting deformation).
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
#include "base/guard.h"
#include "lattice/lattice_members.h"
#include "octree/octree_body.h"
#include "world/access.h"
#include "world/body.h"
#include "world/world.h"

#include <string.h>

lm_material lm_material_default(void)
{
    lm_material material = {
        .mode = LM_MODE_LINEAR,
        .stiffness = LM_STIFFNESS_HERTZ,
        .hertz = 8.0f,
        .damping_ratio = 0.1f,
        .alpha = 0.5f,
        .damping = 0.0f,
        .damping_kind = LM_DAMPING_GLOBAL,
        .damping_every = 1,
        .beta = 0.5f,
        .yield = 0.0f,
        .creep = 5.0f,
        .max_plastic = 0.5f,
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
    if ((unsigned)m->damping_kind >= LM_DAMPING_COUNT) {
        return "damping_kind is not one of lm_damping";
    }
    if (m->damping_every < 1 || m->damping_every > LM_MAX_SUBSTEPS) {
        return "damping_every must be 1 to 1024";
    }
    if (!within(m->beta, 0.0f, 0.95f)) {
        return "beta must be 0 to 0.95";
    }
    if (!within(m->yield, 0.0f, most)) {
        return "yield must be 0 to 1e6";
    }
    if (!within(m->creep, 0.0f, most)) {
        return "creep must be 0 to 1e6";
    }
    if (!within(m->max_plastic, 0.0f, 0.9f)) {
        return "max_plastic must be 0 to 0.9";
    }
    if (!within(m->friction, 0.0f, most)) {
        return "friction must be 0 to 1e6";
    }
    if (!within(m->restitution, 0.0f, 1.0f)) {
        return "restitution must be 0 to 1";
    }
    return NULL;
}

const char *lmi_clusters_fault(const lm_material *m)
{
    return m->damping_kind == LM_DAMPING_REGIONAL ? "regional damping is for lattices and octrees" : NULL;
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
    double pace = m->stiffness == LM_STIFFNESS_HERTZ ? lmi_lattice_body_pace(body) : 1.0;
    body->stiffness_limited = false;
    if (m->stiffness == LM_STIFFNESS_HERTZ) {
        double omega = 6.283185307179586 * m->hertz, zeta = m->damping_ratio;
        decay = zeta * omega;
        zeta /= pace; /* the regions ring at another frequency, but what they do decays as the material says */
        omega *= pace;
        /* Between substeps that are damped it rings undamped. */
        double slowed = m->damping_every > 1 ? 0.0 : decay, share = m->damping_every > 1 ? 0.0 : zeta;
        double left = lmi_exp(-2.0 * slowed * h), swing = omega * h * sqrt(fabs(1.0 - share * share));
        double middle; /* 2 exp(-decay h) cos(swing), or cosh */
        if (share <= 1.0) {
            /* Beyond half a turn a substep the cosine comes back: no alpha rings that fast. */
            middle = swing < 3.141592653589793 ? 2.0 * lmi_exp(-slowed * h) * lmi_cos(swing) : -2.0;
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
    double taken = 1.0 - lmi_exp(-2.0 * decay * h * m->damping_every);
    double k = m->damping_every > 1 ? 0.0 : taken; /* of every substep */
    body->flow = 1.0 - lmi_exp(-(double)m->creep * h);
    body->alpha = (float)alpha;
    body->damping = (float)taken;
    body->reached_hertz = (float)(frequency_of(alpha, k, m->damping_every > 1 ? 0.0 : decay, h) / pace);
    body->tuned_step = h;
}

lm_result lm_body_set_material(lm_world *world, lm_body_id id, const lm_material *material)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_material");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = lmi_material_fault(material);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_material: %s", fault);
    }
    fault = known->lattice  ? lmi_lattice_body_fault(material)
            : known->octree ? lmi_octree_body_fault(material)
                            : lmi_clusters_fault(material);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_material: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    if (body->lattice && !lmi_lattice_body_equip(world, body, material)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_material: out of memory");
    }
    bool plastic = body->plastic_material || material->yield > 0.0f;
    if (material->mode != body->material.mode || plastic != body->plastic_material) {
        lmi_body_is_dirty(world, body); /* lanes are sorted by mode */
    }
    body->material = *material;
    body->plastic_material = plastic;
    body->tuned_step = 0.0;
    lmi_batch_set_material(world, id.slot - 1);
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_get_material(const lm_world *world, lm_body_id id, lm_material *material)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_material");
    if (!body) {
        return LM_ERROR_ID;
    }
    *material = body->material;
    return LM_OK;
}

/* --- region by region --- */

static lm_result set_stiffness(lm_world *world, const lmi_body *known, const float *shares, const char *caller)
{
    uint32_t count = lmi_body_regions(known);
    float *before = known->stiffness, *after = NULL;
    for (uint32_t r = 0; shares && r < count; r++) {
        if (!within(shares[r], 0.0f, 1.0f)) {
            return lmi_fail(world, LM_ERROR_ARGUMENT, "%s: the share of region %u is not 0 to 1", caller, r);
        }
    }
    if (!shares && !before) {
        return LM_OK;
    }
    if (shares) {
        after = lmi_allocate(&world->memory, count, sizeof *after);
        if (!after) {
            return lmi_fail(world, LM_ERROR_MEMORY, "%s: out of memory", caller);
        }
        memcpy(after, shares, count * sizeof *after);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    body->stiffness = after;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    bool weighed = (!body->lattice && !body->octree) || lmi_body_update_pinned(world, body);
    lmi_float_mode_leave(&host);
    if (!weighed) {
        body->stiffness = before;
        lmi_release(&world->memory, after, count, sizeof *after);
        return lmi_fail(world, LM_ERROR_MEMORY, "%s: out of memory", caller);
    }
    lmi_release(&world->memory, before, count, sizeof *before);
    lmi_body_is_dirty(world, body);
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_set_region_stiffness(lm_world *world, lm_body_id id, const float *shares)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_set_region_stiffness");
    return body ? set_stiffness(world, body, shares, "lm_body_set_region_stiffness") : LM_ERROR_ID;
}

lm_result lm_body_set_particle_stiffness(lm_world *world, lm_body_id id, const float *values)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_set_particle_stiffness");
    if (!body) {
        return LM_ERROR_ID;
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        if (!within(values[n], 0.0f, 1.0f)) {
            return lmi_fail(world, LM_ERROR_ARGUMENT,
                            "lm_body_set_particle_stiffness: the value of particle %u is not 0 to 1", n);
        }
    }
    float *shares = lmi_allocate(&world->memory, lmi_body_regions(body), sizeof *shares);
    if (!shares) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_particle_stiffness: out of memory");
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (body->lattice) {
        lmi_lattice_stiffness_of(body, values, shares);
    }
    if (body->octree) {
        lmi_octree_body_means(body, values, shares);
    }
    for (uint32_t r = 0; r < body->region_count && !body->octree; r++) {
        double sum = 0.0, mass = 0.0;
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            uint32_t particle = body->members[n];
            sum += (double)values[body->order[particle]] * body->mass[particle];
            mass += body->mass[particle];
        }
        float share = (float)(sum / mass);
        shares[r] = share > 1.0f ? 1.0f : share;
    }
    lm_result result = set_stiffness(world, body, shares, "lm_body_set_particle_stiffness");
    lmi_release(&world->memory, shares, lmi_body_regions(body), sizeof *shares);
    lmi_float_mode_leave(&host);
    return result;
}

lm_result lm_body_get_region_stiffness(const lm_world *world, lm_body_id id, float *shares)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_region_stiffness");
    if (!body) {
        return LM_ERROR_ID;
    }
    for (uint32_t r = 0; r < lmi_body_regions(body); r++) {
        shares[r] = body->stiffness ? body->stiffness[r] : 1.0f;
    }
    return LM_OK;
}

lm_result lm_body_get_plastic(const lm_world *world, lm_body_id id, float *matrices)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_plastic");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->lattice) {
        lmi_lattice_body_get_plastic(body, matrices);
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        const float *at = lmi_body_plastic(world, body, r, &stride);
        const dmat3 *axes = &body->regions[r].axes;
        dmat3 p = {{{at[0], at[3 * stride], at[5 * stride]},
                    {at[3 * stride], at[stride], at[4 * stride]},
                    {at[5 * stride], at[4 * stride], at[2 * stride]}}};
        dmat3 half = dmat_multiply(axes, &p);
        for (int i = 0; i < 9; i++) { /* axes P axes^T */
            const double *row = half.m[i / 3], *column = axes->m[i % 3];
            matrices[(size_t)r * 9 + (size_t)i] = (float)(row[0] * column[0] + row[1] * column[1] + row[2] * column[2]);
        }
    }
    return LM_OK;
}

lm_result lm_body_reset_plastic(lm_world *world, lm_body_id id)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_reset_plastic");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *at = lmi_body_plastic(world, body, r, &stride);
        for (uint32_t i = 0; i < 6; i++) {
            at[i * stride] = i < 3 ? 1.0f : 0.0f;
        }
    }
    if (body->lattice) {
        lmi_lattice_body_reset_plastic(body);
    }
    lmi_body_rouse(world, body);
    return LM_OK;
}
