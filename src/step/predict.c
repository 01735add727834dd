/*
 * Predict: outside forces, and each body's motion as a whole.
 *
 *   v += wind and point fields, forces on single particles, and last h (gravity + uniform fields + force / mass)
 *   motion: centre, velocity and spin of the matched particles, from their momentum, angular momentum and inertia
 *
 * Reads positions, writes velocities and lmi_body.motion, and counts the impulse given from outside. Müller et al. 2005,
 * equation 9, with the forces before the match.
 *
 * Deterministic because a body is summed in LMI_BLOCK partial sums whatever the width, in single precision in lanes and
 * then in double precision over the lanes in their order.
 */
#include "step/kernel_names.h"
#include "step/motion.h"
#include "world.h"

/* Adds a wind or point field to the velocities, and counts the impulse. */
static void apply_flow(const lmi_flow *flow, lmi_body *body)
{
    const vf strength = vf_set1(flow->strength), inverse_radius = vf_set1(1.0f / flow->radius);
    lm_vec3 at = vec_from(dvec_limit(dvec_sub(flow->position, body->origin), LM_MAX_COORDINATE));
    vf sums[3][LMI_PIECES];
    for (int i = 0; i < 3 * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
    for (uint32_t n = 0; n < body->padded_count; n += LMI_LANES) {
        vf x[4], v[4], change[3];
        vf_load4(body->x + (size_t)n * 4, x);
        vf_load4(body->v + (size_t)n * 4, v);
        if (flow->kind == LM_FIELD_WIND) {
            change[0] = strength * (vf_set1(flow->vector.x) - v[0]);
            change[1] = strength * (vf_set1(flow->vector.y) - v[1]);
            change[2] = strength * (vf_set1(flow->vector.z) - v[2]);
        } else {
            vf to[3] = {vf_set1(at.x) - x[0], vf_set1(at.y) - x[1], vf_set1(at.z) - x[2]};
            vf distance = vf_sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
            vf fall = vf_max(vf_set1(1.0f) - distance * inverse_radius, vf_set1(0.0f));
            vf scale = strength * fall / vf_max(distance, vf_set1(1e-12f));
            for (int i = 0; i < 3; i++) {
                change[i] = scale * to[i];
            }
        }
        uint32_t piece = n / LMI_LANES % LMI_PIECES;
        vm real = vf_lt(vf_set1(0.0f), v[3]);
        for (int i = 0; i < 3; i++) {
            sums[i][piece] = sums[i][piece] + v[3] * change[i];
            v[i] = vf_select(real, v[i] + change[i], v[i]);
        }
        vf_store4(body->v + (size_t)n * 4, v[0], v[1], v[2], v[3]);
    }
    lm_dvec3 given = dvec(lmi_sum_lanes(sums[0]), lmi_sum_lanes(sums[1]), lmi_sum_lanes(sums[2]));
    body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(given, body->mean_mass));
}

/* What rounding gave to a lattice as a whole in the last substep, in lanes: its sweep ends before all of it is known. */
typedef struct lanes_drift {
    vf centre[3], velocity[3], spin[3];
} lanes_drift;

static inline lanes_drift drift_of(const lmi_body *body)
{
    const lm_vec3 none = {0.0f, 0.0f, 0.0f}, c = body->lattice ? body->lattice->drift_centre : none;
    const lm_vec3 u = body->lattice ? body->lattice->drift_velocity : none;
    const lm_vec3 w = body->lattice ? body->lattice->drift_spin : none;
    lanes_drift d = {{vf_set1(c.x), vf_set1(c.y), vf_set1(c.z)},
                     {vf_set1(u.x), vf_set1(u.y), vf_set1(u.z)},
                     {vf_set1(w.x), vf_set1(w.y), vf_set1(w.z)}};
    return d;
}

static inline void remove_drift(const lanes_drift *d, const vf x[3], vf v[3])
{
    vf rx = x[0] - d->centre[0], ry = x[1] - d->centre[1], rz = x[2] - d->centre[2];
    v[0] = v[0] - (d->velocity[0] + (d->spin[1] * rz - d->spin[2] * ry));
    v[1] = v[1] - (d->velocity[1] + (d->spin[2] * rx - d->spin[0] * rz));
    v[2] = v[2] - (d->velocity[2] + (d->spin[0] * ry - d->spin[1] * rx));
}

/* Adds the same velocity change to every particle, and measures the motion that results. `drifts`: a lattice, whose drift is
 * taken out first. */
static inline __attribute__((always_inline)) void accelerate_and_measure(lmi_body *body, lm_vec3 change,
                                                                         const bool drifts)
{
    const lanes_drift drift = drift_of(body);
    enum { MASS, FIRST = 1, MOMENTUM = 4, ANGULAR = 7, SECOND = 10, CHANNELS = 16 };
    /* Measured from the first particle as it was, so that a fast or distant body loses nothing to cancellation. */
    const float *first = body->x + 4 * (size_t)body->reference, *first_v = body->v + 4 * (size_t)body->reference;
    const vf fx = vf_set1(first[0]), fy = vf_set1(first[1]), fz = vf_set1(first[2]);
    const lm_vec3 from = {first_v[0], first_v[1], first_v[2]};
    const vf fu = vf_set1(from.x), fv = vf_set1(from.y), fw = vf_set1(from.z);
    const vf dx = vf_set1(change.x), dy = vf_set1(change.y), dz = vf_set1(change.z), zero = vf_set1(0.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), slow = zero - fast;
    vf sums[CHANNELS][LMI_PIECES];
    for (int i = 0; i < CHANNELS * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
    for (uint32_t block = 0; block < body->padded_count; block += LMI_BLOCK) {
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            size_t at = 4 * ((size_t)block + (size_t)piece * LMI_LANES);
            vf x[4], v[4];
            vf_load4(body->x + at, x);
            vf_load4(body->v + at, v);
            vm real = vf_lt(zero, v[3]); /* padding has no mass and stays at rest */
            vf w[3] = {v[0], v[1], v[2]};
            if (drifts) {
                remove_drift(&drift, x, w);
            }
            v[0] = vf_select(real, vf_clamp(w[0] + dx, slow, fast), v[0]);
            v[1] = vf_select(real, vf_clamp(w[1] + dy, slow, fast), v[1]);
            v[2] = vf_select(real, vf_clamp(w[2] + dz, slow, fast), v[2]);
            vf_store4(body->v + at, v[0], v[1], v[2], v[3]);
            vf m = vf_select(vf_lt(zero, x[3]), v[3], zero);
            vf rx = x[0] - fx, ry = x[1] - fy, rz = x[2] - fz;
            vf px = m * (v[0] - fu), py = m * (v[1] - fv), pz = m * (v[2] - fw);
            vf mx = m * rx, my = m * ry, mz = m * rz;
            vf terms[CHANNELS] = {m,
                                  mx,
                                  my,
                                  mz,
                                  px,
                                  py,
                                  pz,
                                  ry * pz - rz * py,
                                  rz * px - rx * pz,
                                  rx * py - ry * px,
                                  mx * rx,
                                  my * ry,
                                  mz * rz,
                                  mx * ry,
                                  my * rz,
                                  mz * rx};
            for (int i = 0; i < CHANNELS; i++) {
                sums[i][piece] = sums[i][piece] + terms[i];
            }
        }
    }
    double total[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        total[i] = lmi_sum_lanes(sums[i]);
    }
    lmi_motion_solve(body, from, total[MASS], total + FIRST, total + MOMENTUM, total + ANGULAR, total + SECOND);
}

void LMI_KERNEL(predict)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    (void)scratch;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_at(step->world, batch->bodies[n]);
        lmi_body_follow(body);
        for (uint32_t f = 0; f < step->flow_count; f++) {
            if (step->flows[f].kind != LM_FIELD_UNIFORM) {
                apply_flow(&step->flows[f], body);
            }
        }
        lmi_particle_forces(step, body);
        lm_vec3 change = lmi_uniform_change(step, body);
        if (body->lattice) {
            accelerate_and_measure(body, change, true);
        } else {
            accelerate_and_measure(body, change, false);
        }
    }
}
