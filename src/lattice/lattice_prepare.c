/*
 * Before the sweeps of a substep: the frame of a lattice follows its body, and what the sweeps read is gathered in one place.
 */
#include "lattice/lattice_motion.h"
#include "match/examples.h"

#include <string.h>

/* Turns the frame after the body, when it is off by more than a little: one step of the rotation that brings the rest
 * positions of the samples nearest to where they are (Müller et al. 2016). */
static void follow_frame(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    double s = lattice->shape.spacing, along = 1e-30;
    lm_dvec3 mean = lm_dvec3_zero(), rest_mean = mean, turn = mean, rest[LMI_LATTICE_SAMPLES], at[LMI_LATTICE_SAMPLES];
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        const float *x = body->x + (size_t)lattice->samples[k] * 4;
        int32_t corner[3];
        lmi_lattice_corner(&lattice->shape, lattice->samples[k], corner);
        at[k] = dvec(x[0], x[1], x[2]);
        rest[k] = dmat_apply(&lattice->frame, dvec(s * corner[0], s * corner[1], s * corner[2]));
        mean = dvec_add(mean, dvec_scale(at[k], 1.0 / LMI_LATTICE_SAMPLES));
        rest_mean = dvec_add(rest_mean, dvec_scale(rest[k], 1.0 / LMI_LATTICE_SAMPLES));
    }
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        lm_dvec3 r = dvec_sub(rest[k], rest_mean), p = dvec_sub(at[k], mean);
        turn = dvec_add(turn, dvec_cross(r, p));
        along += fabs(dvec_dot(r, p));
    }
    turn = dvec_scale(turn, 1.0 / along);
    if (!(dvec_length(turn) > LMI_LATTICE_FRAME_TOLERANCE)) {
        return;
    }
    dmat3 by = dmat_from_rotation_vector(dvec_limit(turn, 1.0)), next = dmat_multiply(&by, &lattice->frame);
    lm_quat q = quat_from_dmat(&next); /* so that rounding does not shear the frame over the hours */
    lattice->frame = dmat_from_quat(q);
}

bool lmi_lattice_is_collapsed(const lmi_body *body)
{
    const lmi_lattice_body *lattice = body->lattice;
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        const lmi_lattice_part *part = &lattice->part[n];
        if (!(lmi_symmetric_determinant(part->motion.inertia) >= LMI_LATTICE_COLLAPSED * part->inertia)) {
            return true;
        }
    }
    return false;
}

void lmi_lattice_prepare(const lmi_step *step, lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    lmi_lattice_step *to = &lattice->step;
    double s = lattice->shape.spacing;
    follow_frame(body);
    memset(to, 0, sizeof *to);
    to->lattice = &lattice->shape;
    to->x = body->x;
    to->v = body->v;
    for (int i = 0; i < 9; i++) {
        to->inverse[i] = (float)(lattice->frame.m[i % 3][i / 3] / s);
        to->forward[i] = (float)(lattice->frame.m[i / 3][i % 3] * s);
    }
    memcpy(to->middle, lattice->middle, sizeof to->middle);
    to->h = (float)step->h;
    to->rate = (float)lmi_min(body->alpha / step->h, 1e30);
    to->velocity = body->motion.velocity;
    to->part = lattice->motion;
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        const lmi_motion *m = &lattice->part[n].motion;
        lattice->motion[n] = (lmi_lattice_motion){m->centre, m->velocity, m->spin};
    }
    to->stretch = body->material.mode == LM_MODE_LINEAR;
    to->beta = body->material.beta;
    to->damping = body->damping_now;
    if (body->damping_now > 0.0f && body->material.damping_kind == LM_DAMPING_REGIONAL) {
        to->regional = true;
        to->goal_rate = to->rate;
        to->loss = body->damping_now;
        to->velocity_moments = lattice->velocity_moments;
        to->damping = 0.0f;
        to->rate = 1.0f;
    }
    if (body->examples) {
        to->mix = body->examples->home + LMI_EXAMPLE_STRETCH * LMI_BLOCK;
        to->mix_stride = lmi_example_channels(body->examples->count) * LMI_BLOCK;
    }
    if (lattice->plastic.state) {
        float yield = body->material.yield;
        lattice->plastic.rates = (lmi_plastic_rates){body->flow, yield, body->material.max_plastic};
        lattice->plastic.bound = lmi_yield_bound(yield);
        lattice->plastic.watch = yield > 0.0f ? yield * yield : 3e38f;
        to->plastic = &lattice->plastic;
    }
}
