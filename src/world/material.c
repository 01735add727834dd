/*
 * Materials: checking them, turning hertz and damping ratio into the alpha and damping of a substep, and what a material
 * has region by region (stiffness, lasting deformation).
 *
 * A deviation e from the goal with velocity u goes in one substep to u' = (1-k) u - alpha e/h, e' = e + h u'. With
 *
 *     alpha = (omega h)²          k = 1 - exp(-2 zeta omega h)
 *
 * it is an oscillator of natural frequency omega and damping ratio zeta, and three things do not depend on h:
 *
 *   - where it comes to rest under a force f on a mass m: h² f/(m alpha) = f/(m omega²), exactly, whatever zeta is;
 *   - how fast what rings dies out: the product of the two roots is 1 - k, so exactly exp(-zeta omega t);
 *   - its frequency, nearly: undamped it is too high by (omega h)²/24 (1 % at omega h = 0.5, 5 % at the limit omega h = 1),
 *     and the part of it that is stiffness by another exp(zeta omega h).
 *
 * The two coefficients cannot meet a third number. Frequency and decay would both be exact with
 * alpha = 2 - k - 2 exp(-zeta omega h) cos(omega h sqrt(1 - zeta²)); a bar then sags 10 % too far at omega h = 0.5 and
 * zeta = 0.15, and 65 % at zeta = 1. Gravity and contacts make every body settle, so the resting place is the one that counts.
 */
#include "base/dmath.h"
#include "base/guard.h"
#include "lattice/lattice_members.h"
#include "octree/octree_body.h"
#include "world/access.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/world.h"

#include <stdio.h>
#include <string.h>

/* The share of the energy of the slowest stretching of a body that stands which is deformation: a quarter of a wave, whose mean
 * is its motion as a whole, is left with 1 - 8/pi². Only that is damped where the damping is global. */
#define DAMPED 0.18943

lm_material lm_material_default(void)
{
    lm_material material = {
        .mode = LM_MODE_LINEAR,
        .stiffness = LM_STIFFNESS_GIVEN,
        .poisson = 0.3f,
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
    if (!within(m->young, 0.0f, 1e15f)) {
        return "young must be 0 to 1e15 Pa";
    }
    if (!within(m->poisson, 0.0f, LM_MAX_POISSON)) {
        return "poisson must be 0 to 0.46 (0.5 is a volume that nothing changes)";
    }
    if (!within(m->sag, 0.0f, 10.0f)) {
        return "sag must be 0 to 10, as a share of the height";
    }
    if (m->stiffness == LM_STIFFNESS_GIVEN && (m->hertz > 0.0f) + (m->young > 0.0f) + (m->sag > 0.0f) > 1) {
        return m->hertz > 0.0f && m->young > 0.0f ? "hertz and young are both given: give one of them"
               : m->hertz > 0.0f                  ? "hertz and sag are both given: give one of them"
                                                  : "young and sag are both given: give one of them";
    }
    if (m->stiffness == LM_STIFFNESS_YOUNG && !(m->young > 0.0f)) {
        return "young must be above 0 Pa with LM_STIFFNESS_YOUNG";
    }
    if (m->stiffness == LM_STIFFNESS_SAG && !(m->sag > 0.0f)) {
        return "sag must be above 0 with LM_STIFFNESS_SAG";
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

/* Of alpha, from which on the log says so: a tenth of the hertz is missing. */
#define BEYOND 1.21

void lmi_material_tune(lmi_body *body, double h)
{
    if (body->tuned_step == h) {
        return;
    }
    const lm_material *m = &body->material;
    const lm_stiffness kind = lmi_stiffness_of(m);
    double alpha = m->alpha, decay = 0.5 * m->damping, pace = 1.0;
    if (kind == LM_STIFFNESS_HERTZ) {
        double omega = 6.283185307179586 * lmi_material_hertz(m);
        pace = lmi_lattice_body_pace(body); /* of the regions, whose motion decays as the material says all the same */
        decay = m->damping_ratio * omega;
        alpha = omega * pace * h * (omega * pace * h);
    } else if (kind != LM_STIFFNESS_ALPHA) {
        decay = m->damping_ratio * lmi_elastic_pitch(body) / (m->damping_kind == LM_DAMPING_GLOBAL ? DAMPED : 1.0);
        alpha = lmi_elastic_omega_squared(body) * h * h;
    }
    body->beyond = alpha;
    body->stiffness_limited = alpha > 1.0;
    alpha = alpha > 1.0 ? 1.0 : alpha;
    body->reached_young = lmi_is_elastic(m) ? (float)(lmi_elastic_young(body) * (alpha / body->beyond)) : 0.0f;
    double taken = 1.0 - lmi_exp(-2.0 * decay * h * m->damping_every);
    body->flow = 1.0 - lmi_exp(-(double)m->creep * h);
    body->firmness = (float)alpha;
    body->alpha = (float)(alpha * lmi_elastic_ease(body));
    body->damping = (float)taken;
    body->reached_hertz = (float)(sqrt(alpha) / (6.283185307179586 * h * pace));
    body->tuned_step = h;
}

bool lmi_hertz_beyond(lmi_body *body)
{
    bool beyond = body->beyond > BEYOND && !body->told && lmi_stiffness_of(&body->material) == LM_STIFFNESS_HERTZ;
    body->told = body->told || beyond;
    return beyond;
}

void lmi_hertz_tell(const lm_world *world, const lmi_body *first, uint32_t count)
{
    char others[48] = "";
    if (count > 1) {
        snprintf(others, sizeof others, " (and %u others)", count - 1);
    }
    lmi_fail(world, LM_OK,
             "body %u%s: %.3g hertz in place of %.3g, as stiff as the substep allows: %.0f substeps would reach it",
             first->slot + 1, others, (double)first->reached_hertz, lmi_material_hertz(&first->material),
             ceil(world->division * sqrt(first->beyond)));
}

lm_result lm_body_set_material(lm_world *world, lm_body_id id, const lm_material *material)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_material");
    if (!known) {
        return LM_ERROR_ID;
    }
    const lm_material resolved = lmi_material_resolved(material);
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
    material = &resolved;
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    if (body->lattice && !lmi_lattice_body_equip(world, body, material)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_material: out of memory");
    }
    bool plastic = body->plastic_material || material->yield > 0.0f;
    if (material->mode != body->material.mode || plastic != body->plastic_material) {
        lmi_body_is_dirty(world, body); /* lanes are sorted by mode */
    }
    const lm_material before = body->material;
    body->material = *material;
    if (lmi_is_elastic(material) !=
        body->elastic) { /* the shares of regions are others, and what pins hold weighs otherwise */
        bool ok = (body->lattice && body->first_pin == LMI_NONE) || lmi_body_update_pinned(world, body);
        if (!ok) {
            body->material = before;
            return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_material: out of memory");
        }
        body->elastic = lmi_is_elastic(material);
        lmi_body_is_dirty(world, body);
    }
    body->plastic_material = plastic;
    body->tuned_step = 0.0;
    body->told = false;
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
        dmat3 half = lmi_dmat_multiply(axes, &p);
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
