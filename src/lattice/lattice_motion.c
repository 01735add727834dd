/*
 * The motion of a lattice's connected parts: what rounding and damping give to it, and how that is taken back.
 *
 * Goals exert no net force and no torque on a part, and regional damping takes no momentum, but rounding does; and damping
 * takes angular momentum where the velocities of a region turn about what is not affine in its shape. So a sweep sums the
 * momentum and angular momentum of all changes of velocity that it makes, part by part. They are known when the sweep has
 * ended and particles have moved on; moving along their velocities does not change them. The rigid motion that has them is
 * taken out of the velocities by the next predict. It is found with the inertia that the part has then: a thin part that turns
 * by half a radian in a substep, or is pushed out of a collider, has quite another one than before, and what was found with that
 * could be many times what is to be taken out. What is still left, by rounding or because the part cannot turn so, is owed and
 * added to the next. So nothing adds up, however long the body runs.
 *
 * Held (pinned) bodies exchange momentum with what holds them: there it counts as given from outside.
 */
#include "lattice/lattice_motion.h"
#include "match/examples.h"
#include "world/elastic.h"

#include <string.h>

static lm_dvec3 apply_inertia(const double inertia[6], lm_dvec3 w)
{
    return dvec(inertia[0] * w.x + inertia[3] * w.y + inertia[5] * w.z,
                inertia[3] * w.x + inertia[1] * w.y + inertia[4] * w.z,
                inertia[5] * w.x + inertia[4] * w.y + inertia[2] * w.z);
}

static bool is_sound(lm_dvec3 a) { return a.x - a.x == 0.0 && a.y - a.y == 0.0 && a.z - a.z == 0.0; }

/* The motion of all parts together. */
static void combine_parts(lmi_body *body)
{
    const lmi_lattice_body *lattice = body->lattice;
    lm_dvec3 centre = lm_dvec3_zero(), momentum = centre, angular = centre;
    double mass = 0.0, inertia[6] = {0.0};
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        const lmi_motion *m = &lattice->part[n].motion;
        mass += m->mass;
        centre = dvec_add(centre, dvec_scale(dvec_from(m->centre), m->mass));
        momentum = dvec_add(momentum, dvec_scale(dvec_from(m->velocity), m->mass));
    }
    double per = mass > 0.0 ? 1.0 / mass : 0.0;
    centre = dvec_scale(centre, per);
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        const lmi_motion *m = &lattice->part[n].motion;
        lm_dvec3 arm = dvec_sub(dvec_from(m->centre), centre);
        const double squares[6] = {arm.y * arm.y + arm.z * arm.z,
                                   arm.z * arm.z + arm.x * arm.x,
                                   arm.x * arm.x + arm.y * arm.y,
                                   -arm.x * arm.y,
                                   -arm.y * arm.z,
                                   -arm.z * arm.x};
        angular = dvec_add(angular, apply_inertia(m->inertia, dvec_from(m->spin)));
        angular = dvec_add(angular, dvec_cross(arm, dvec_scale(dvec_from(m->velocity), m->mass)));
        for (int i = 0; i < 6; i++) {
            inertia[i] += m->inertia[i] + m->mass * squares[i];
        }
    }
    lmi_motion *whole = &body->motion;
    whole->mass = mass;
    whole->centre = vec_from(centre);
    for (int i = 0; i < 6; i++) {
        whole->inertia[i] = inertia[i];
    }
    lmi_motion_of(whole, momentum, angular, &whole->velocity, &whole->spin);
}

void lmi_lattice_measured(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    if (lattice->shape.part_count == 1) {
        lattice->part[0].motion = body->motion;
    } else {
        combine_parts(body);
    }
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        const lmi_motion *m = &part->motion;
        lm_dvec3 spin = dvec_from(part->drift_spin);
        lm_dvec3 arm = dvec_sub(dvec_from(m->centre), dvec_from(part->drift_centre));
        lm_dvec3 velocity = dvec_add(dvec_from(part->drift_velocity), dvec_cross(spin, arm));
        part->owed_momentum = dvec_sub(part->owed_momentum, dvec_scale(velocity, m->mass));
        part->owed_angular = dvec_sub(part->owed_angular, apply_inertia(m->inertia, spin));
    }
}

void lmi_lattice_forget_drift(lmi_lattice_body *lattice)
{
    const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        part->drift_velocity = part->drift_spin = none;
        part->owed_momentum = part->owed_angular = lm_dvec3_zero();
    }
}

/* Adds up what the sweeps of all slabs measured of each part: into its sums, which predict has done with, and its bounds. */
static void total_parts(lmi_lattice_body *lattice)
{
    const lmi_lattice *l = &lattice->shape;
    for (uint32_t n = 0; n < l->part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        memset(part->sums, 0, sizeof part->sums);
        part->lower = (lm_vec3){3e38f, 3e38f, 3e38f};
        part->upper = (lm_vec3){-3e38f, -3e38f, -3e38f};
    }
    uint32_t count = lmi_lattice_slab_parts(l, l->slab_count);
    for (uint32_t n = 0; n < 2 * count; n++) {
        const lmi_lattice_sums *from = &lattice->sums[n];
        lmi_lattice_part *part = &lattice->part[l->slab_part ? l->slab_part[n % count] : 0];
        const float *low = from->lower, *high = from->upper;
        for (int i = 0; i < 6; i++) {
            part->sums[i] += from->pull[i];
        }
        part->lower = (lm_vec3){lmi_minf(part->lower.x, low[0]), lmi_minf(part->lower.y, low[1]),
                                lmi_minf(part->lower.z, low[2])};
        part->upper = (lm_vec3){lmi_maxf(part->upper.x, high[0]), lmi_maxf(part->upper.y, high[1]),
                                lmi_maxf(part->upper.z, high[2])};
    }
}

/* The rigid motion with this momentum and angular momentum, of a part that has this shape. */
static void drift_of(lmi_lattice_part *part, const lmi_motion *shape, lm_dvec3 net, lm_dvec3 turn)
{
    part->drift_centre = shape->centre;
    lmi_motion_of(shape, net, turn, &part->drift_velocity, &part->drift_spin);
    part->drift_velocity = vec_from(dvec_limit(dvec_from(part->drift_velocity), LM_MAX_SPEED));
    part->drift_spin = vec_from(dvec_limit(dvec_from(part->drift_spin), LM_MAX_SPEED));
}

void lmi_lattice_settle(lmi_lattice_part *part, const lmi_motion *shape)
{
    drift_of(part, shape, part->owed_momentum, part->owed_angular);
}

void lmi_lattice_settle_all(lmi_body *body)
{
    const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    const double still[3] = {0.0, 0.0, 0.0};
    lmi_lattice_body *lattice = body->lattice;
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        memset(lattice->part[n].sums, 0, sizeof lattice->part[n].sums);
    }
    LMI_PARTICLES_EACH(body, n)
    {
        double *sums = lattice->part[lmi_lattice_part_of(body, n)].sums, *first = sums + 1, *second = sums + 4;
        const float *x = body->x + (size_t)n * 4;
        double mass = body->v[(size_t)n * 4 + 3];
        sums[0] += mass;
        for (int i = 0; i < 3; i++) {
            first[i] += mass * x[i];
            second[i] += mass * x[i] * x[i];
            second[3 + i] += mass * x[i] * x[(i + 1) % 3];
        }
    }
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        lmi_motion shape;
        lmi_motion_solve(&shape, none, none, part->sums[0], part->sums + 1, still, still, part->sums + 4);
        lmi_lattice_settle(part, &shape);
    }
}

/* What is to be taken out of a part's velocities by the next predict. */
static void find_drift(lmi_body *body, lmi_lattice_part *part)
{
    double rate = body->lattice->step.rate;
    lm_dvec3 net = dvec_scale(dvec(part->sums[0], part->sums[1], part->sums[2]), rate);
    lm_dvec3 turn = dvec_scale(dvec(part->sums[3], part->sums[4], part->sums[5]), rate);
    part->drift_centre = part->motion.centre;
    part->drift_velocity = part->drift_spin = (lm_vec3){0.0f, 0.0f, 0.0f};
    if (body->anchored) {
        lmi_pins_bear(body, dvec_scale(net, body->mean_mass), dvec_scale(turn, body->mean_mass),
                      dvec_from(part->motion.centre));
        net = turn = lm_dvec3_zero();
    } else {
        net = dvec_add(net, part->owed_momentum);
        turn = dvec_add(turn, part->owed_angular);
        if (!is_sound(net) || !is_sound(turn)) {
            net = turn = lm_dvec3_zero();
        }
        drift_of(part, &part->motion, net, turn);
    }
    part->owed_momentum = net;
    part->owed_angular = turn;
}

void lmi_lattice_conclude(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice_step *s = &lattice->step;
    lm_vec3 lower = {3e38f, 3e38f, 3e38f}, upper = {-3e38f, -3e38f, -3e38f};
    total_parts(lattice);
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        find_drift(body, part);
        lower = (lm_vec3){lmi_minf(lower.x, part->lower.x), lmi_minf(lower.y, part->lower.y),
                          lmi_minf(lower.z, part->lower.z)};
        upper = (lm_vec3){lmi_maxf(upper.x, part->upper.x), lmi_maxf(upper.y, part->upper.y),
                          lmi_maxf(upper.z, part->upper.z)};
    }
    body->lower = lower;
    body->upper = upper;
    /* The origin has gone along, so that a body that only travels does not move within it, and nothing is rounded. */
    body->origin = dvec_add(body->origin, dvec_scale(dvec_from(s->velocity), s->h));
}

void lmi_lattice_bound_parts(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    const lm_vec3 most = {3e38f, 3e38f, 3e38f}, least = {-3e38f, -3e38f, -3e38f};
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lattice->part[n].lower = most;
        lattice->part[n].upper = least;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        lmi_lattice_part *part = &lattice->part[lattice->shape.part ? lattice->shape.part[n] : 0];
        const float *x = body->x + (size_t)n * 4;
        part->lower =
            (lm_vec3){lmi_minf(part->lower.x, x[0]), lmi_minf(part->lower.y, x[1]), lmi_minf(part->lower.z, x[2])};
        part->upper =
            (lm_vec3){lmi_maxf(part->upper.x, x[0]), lmi_maxf(part->upper.y, x[1]), lmi_maxf(part->upper.z, x[2])};
    }
}

void lmi_lattice_shift_parts(lmi_lattice_body *lattice, lm_vec3 by)
{
    for (uint32_t n = 0; n < lattice->shape.part_count; n++) {
        lm_vec3 *at[3] = {&lattice->part[n].lower, &lattice->part[n].upper, &lattice->part[n].drift_centre};
        for (int i = 0; i < 3; i++) {
            at[i]->x -= by.x, at[i]->y -= by.y, at[i]->z -= by.z;
        }
    }
}

/* ---- before the sweeps ----
 *
 * Before the sweeps of a substep: the frame of a lattice follows its body, and what the sweeps read is gathered in one place.
 */

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
    dmat3 by = lmi_dmat_from_rotation_vector(dvec_limit(turn, 1.0)), next = lmi_dmat_multiply(&by, &lattice->frame);
    lm_quat q = lmi_quat_from_dmat(&next); /* so that rounding does not shear the frame over the hours */
    lattice->frame = lmi_dmat_from_quat(q);
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
    to->beyond = lmi_elastic_beyond(body);
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
