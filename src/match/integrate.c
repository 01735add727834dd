/*
 * Integrate: pull particles to their goals, and move them.
 *
 *   d_i  = mean over its regions of stiffness (goal - x_i)
 *   v_i += k (V_i - v_i)                 V_i = velocity + spin x (x_i - centre): the body's motion as a whole
 *   v_i += alpha d_i / h
 *   x_i += h v_i
 *
 * Reads goals, writes velocities, positions and bounds. Müller et al. 2005, equation 9; the damping is that of Müller et
 * al. 2006 and touches deformation only.
 *
 * The goals exert no net force and no net torque on a free body, but for rounding, and rounding adds up: a micrometre of
 * common error in the goals, divided by h, is a lasting velocity. So the motion as a whole that is in d is taken out of
 * it before it is used (motion.c for bodies of many times their size). Held (pinned) bodies exchange momentum with what holds them: there it counts as given from
 * outside.
 *
 * Deterministic for the same reasons as predict; a particle adds its goals in the order of its body's regions.
 */
#include "base/lanes.h"
#include "cut/grain.h"
#include "lattice/lattice_motion.h"
#include "octree/octree_body.h"
#include "world/in_step.h"
#include "world/kernel_names.h"
#include "world/world.h"

typedef struct lanes_motion {
    vf centre[3], velocity[3], spin[3];
} lanes_motion;

static inline lanes_motion spread_motion(lm_vec3 centre, lm_vec3 velocity, lm_vec3 spin)
{
    lanes_motion m = {{vf_set1(centre.x), vf_set1(centre.y), vf_set1(centre.z)},
                      {vf_set1(velocity.x), vf_set1(velocity.y), vf_set1(velocity.z)},
                      {vf_set1(spin.x), vf_set1(spin.y), vf_set1(spin.z)}};
    return m;
}

/* velocity + spin x (x - centre) */
static inline void velocity_at(const lanes_motion *m, const vf x[3], vf out[3])
{
    vf rx = x[0] - m->centre[0], ry = x[1] - m->centre[1], rz = x[2] - m->centre[2];
    out[0] = m->velocity[0] + (m->spin[1] * rz - m->spin[2] * ry);
    out[1] = m->velocity[1] + (m->spin[2] * rx - m->spin[0] * rz);
    out[2] = m->velocity[2] + (m->spin[0] * ry - m->spin[1] * rx);
}

/* What there is in d besides deformation. */
typedef struct drift {
    lm_vec3 velocity, spin; /* to be taken out */
    lm_dvec3 left;          /* sum of m d, for the pull of what holds the body: stays in */
    lm_dvec3 turned;        /* the same for angular momentum, about the centre */
} drift;

/* d of every particle into scratch->pull; returns the motion as a whole that is in it. */
static drift pull_to_goals(const lmi_pack *pack, const lmi_body *body, lmi_scratch *scratch)
{
    vf sums[6][LMI_PIECES];
    for (int i = 0; i < 6 * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
    lanes_motion motion = spread_motion(body->motion.centre, body->motion.velocity, body->motion.spin);
    for (uint32_t n = 0; n < body->padded_count; n += LMI_BLOCK) {
        uint32_t particle = body->first + n, block = particle / LMI_BLOCK;
        uint32_t first = pack->list_first[block], last = pack->list_first[block + 1];
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            uint32_t lane = (uint32_t)piece * LMI_LANES;
            vf x[4], v[4], d[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
            vf_load4(pack->x + 4 * (size_t)(particle + lane), x);
            vf_load4(pack->v + 4 * (size_t)(particle + lane), v);
            vf count = vf_load(pack->list_count + particle + lane);
            for (uint32_t row = first; row < last; row++) {
                vf goal[4];
                vm has = vf_lt(vf_set1((float)(row - first)), count);
                vf_gather4(scratch->goals, pack->list + (size_t)row * LMI_BLOCK + lane, goal);
                for (int i = 0; i < 3; i++) {
                    d[i] = d[i] + vf_select(has, goal[3] * (goal[i] - x[i]), vf_set1(0.0f));
                }
            }
            vf share = vf_load(pack->list_share + particle + lane);
            vf r[3] = {x[0] - motion.centre[0], x[1] - motion.centre[1], x[2] - motion.centre[2]}, p[3];
            float *pull = scratch->pull + (size_t)n * 3 + lane;
            for (int i = 0; i < 3; i++) {
                d[i] = d[i] * share;
                if (body->lattice || body->octree) {
                    d[i] = vf_load(pull + i * LMI_BLOCK); /* a sweep, or scatter, has found it */
                }
                p[i] = v[3] * d[i];
                vf_store(pull + i * LMI_BLOCK, d[i]);
                sums[i][piece] = sums[i][piece] + p[i];
            }
            sums[3][piece] = sums[3][piece] + (r[1] * p[2] - r[2] * p[1]);
            sums[4][piece] = sums[4][piece] + (r[2] * p[0] - r[0] * p[2]);
            sums[5][piece] = sums[5][piece] + (r[0] * p[1] - r[1] * p[0]);
        }
    }
    drift found = {.left = lm_dvec3_zero(), .turned = lm_dvec3_zero()};
    double total[6];
    for (int i = 0; i < 6; i++) {
        total[i] = lmi_sum_lanes(sums[i]);
    }
    lm_dvec3 net = dvec(total[0], total[1], total[2]);
    if (!body->anchored) {
        lmi_motion_of(&body->motion, net, dvec(total[3], total[4], total[5]), &found.velocity, &found.spin);
    } else {
        found.left = net;
        found.turned = dvec(total[3], total[4], total[5]);
    }
    return found;
}

static inline lm_vec3 fold(vf bound[3][LMI_PIECES], bool upper)
{
    float out[3];
    for (int i = 0; i < 3; i++) {
        _Alignas(64) float lane[LMI_BLOCK];
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            vf_store(lane + piece * LMI_LANES, bound[i][piece]);
        }
        out[i] = lane[0];
        for (int k = 1; k < LMI_BLOCK; k++) {
            out[i] = (upper ? lane[k] > out[i] : lane[k] < out[i]) ? lane[k] : out[i];
        }
    }
    lm_vec3 v = {out[0], out[1], out[2]};
    return v;
}

/* `share` is how much of the deformation velocity is kept. */
static void move(const lmi_step *step, lmi_body *body, const drift *in_pull, float share, const lmi_scratch *scratch)
{
    const vf h = vf_set1((float)step->h), zero = vf_set1(0.0f);
    const vf rate = vf_set1((float)lmi_min(body->alpha / step->h, 1e30)), k = vf_set1(body->damping_now);
    const vf fast = vf_set1(LM_MAX_SPEED), far = vf_set1(LM_MAX_COORDINATE), huge = vf_set1(3e38f);
    lanes_motion motion = spread_motion(body->motion.centre, body->motion.velocity, body->motion.spin);
    lanes_motion in_pull_at = spread_motion(body->motion.centre, in_pull->velocity, in_pull->spin);
    vf lower[3][LMI_PIECES], upper[3][LMI_PIECES];
    for (int i = 0; i < 3 * LMI_PIECES; i++) {
        lower[i / LMI_PIECES][i % LMI_PIECES] = huge;
        upper[i / LMI_PIECES][i % LMI_PIECES] = zero - huge;
    }
    for (uint32_t n = 0; n < body->padded_count; n += LMI_BLOCK) {
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            size_t at = (size_t)n + (size_t)piece * LMI_LANES;
            vf x[4], v[4], whole[3], extra[3];
            vf_load4(body->x + 4 * at, x);
            vf_load4(body->v + 4 * at, v);
            vm matched = vf_lt(zero, x[3]), real = vf_lt(zero, v[3]);
            velocity_at(&motion, x, whole);
            velocity_at(&in_pull_at, x, extra);
            const float *pull = scratch->pull + (size_t)n * 3 + (size_t)piece * LMI_LANES;
            for (int i = 0; i < 3; i++) {
                vf d = vf_load(pull + i * LMI_BLOCK) - extra[i];
                vf pulled = (v[i] + k * (whole[i] - v[i])) + rate * d;
                if (share < 1.0f) pulled = whole[i] + vf_set1(share) * (pulled - whole[i]);
                v[i] = vf_clamp(vf_select(matched, pulled, v[i]), zero - fast, fast);
                x[i] = vf_select(real, vf_clamp(x[i] + h * v[i], zero - far, far), x[i]);
                lower[i][piece] = vf_select(real, vf_min(lower[i][piece], x[i]), lower[i][piece]);
                upper[i][piece] = vf_select(real, vf_max(upper[i][piece], x[i]), upper[i][piece]);
            }
            vf_store4(body->x + 4 * at, x[0], x[1], x[2], x[3]);
            vf_store4(body->v + 4 * at, v[0], v[1], v[2], v[3]);
        }
    }
    body->lower = fold(lower, false);
    body->upper = fold(upper, true);
    if (body->lattice) lmi_lattice_bound_parts(body);
    double given = body->alpha / step->h * body->mean_mass * share;
    if (body->anchored) {
        lmi_pins_bear(body, dvec_scale(in_pull->left, given), dvec_scale(in_pull->turned, given),
                      dvec_from(body->motion.centre));
    }
}

/* A lattice that its sweep must not move: d into scratch->pull. */
static void pull_lattice(const lmi_step *step, lmi_body *body, lmi_scratch *scratch)
{
    lmi_lattice_body *lattice = body->lattice;
    lmi_lattice_prepare(step, body);
    LMI_KERNEL(lattice_examples)(body, scratch->lattice);
    lattice->step.regional = false; /* as a whole: its velocities are nothing to go by */
    LMI_KERNEL(lattice_pull)(&lattice->step, scratch->lattice, scratch->pull);
    lmi_lattice_forget_drift(lattice);
}

/* d of an octree, which scatter has found, into scratch->pull. What regional damping takes of the velocities comes along, as
 * a pull that changes them by as much: then the motion as a whole that is in it is taken out with the rest. */
static void load_octree(const lmi_step *step, lmi_body *body, bool overstretched, lmi_scratch *scratch)
{
    const lmi_octree_lanes *o = &body->octree->lanes;
    bool damped = lmi_octree_damps(body) && !overstretched;
    vf share = vf_set1(damped ? (float)(body->damping_now * step->h / body->alpha) : 0.0f);
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        float *pull = scratch->pull + (size_t)(n / LMI_BLOCK) * 3 * LMI_BLOCK + n % LMI_BLOCK;
        vf d[4], u[4];
        vf_load4(o->pull + (size_t)n * 4, d);
        for (int i = 0; !damped && i < 3; i++) {
            vf_store(pull + i * LMI_BLOCK, d[i]);
        }
        if (damped) {
            vf_load4(o->damping + (size_t)n * 4, u);
            for (int i = 0; i < 3; i++) {
                vf_store(pull + i * LMI_BLOCK, d[i] + share * u[i]);
            }
        }
    }
    body->damping_now = damped ? 0.0f : body->damping_now;
}

void LMI_KERNEL(integrate)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        if (body->lattice && body->lattice->swept) continue;
        /* Several parts are not damped towards their motion as one. */
        if (body->lattice && body->lattice->shape.part_count > 1) body->damping_now = 0.0f;
        bool overstretched = lmi_is_overstretched(step, body);
        if (overstretched) lmi_quiet_rounding(step, body);
        if (body->lattice) pull_lattice(step, body, scratch);
        if (body->octree) lmi_octree_damp_parts(body);
        if (body->grain) lmi_grain_damp_parts(body);
        if (body->octree) load_octree(step, body, overstretched, scratch);
        drift in_pull = pull_to_goals(&batch->pack, body, scratch);
        float share = 1.0f;
        if (overstretched) share = lmi_overstretch_keeps(step, body, scratch->pull, in_pull.velocity, in_pull.spin);
        move(step, body, &in_pull, share, scratch);
    }
}
