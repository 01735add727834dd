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
#include "base/compiler.h"
#include "base/lanes.h"
#include "contact/halt.h"
#include "lattice/lattice_motion.h"
#include "world/in_step.h"
#include "world/kernel_names.h"
#include "world/world.h"

#include <string.h>

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

/* What is to be taken out of the velocities of a lattice's part (lattice/lattice_motion.c), and where its sums are taken from:
 * a particle as it was, so that a fast or distant body loses nothing to cancellation. */
typedef struct lanes_from {
    _Alignas(64) float centre[3][LMI_BLOCK], velocity[3][LMI_BLOCK], spin[3][LMI_BLOCK];
    _Alignas(64) float first[3][LMI_BLOCK], from[3][LMI_BLOCK];
} lanes_from;

static void set_lane(float (*to)[LMI_BLOCK], int lane, lm_vec3 value)
{
    to[0][lane] = value.x;
    to[1][lane] = value.y;
    to[2][lane] = value.z;
}

static void set_from(lanes_from *f, int lane, const lmi_lattice_part *part, lm_vec3 first, lm_vec3 from)
{
    const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    set_lane(f->centre, lane, part ? part->drift_centre : none);
    set_lane(f->velocity, lane, part ? part->drift_velocity : none);
    set_lane(f->spin, lane, part ? part->drift_spin : none);
    set_lane(f->first, lane, first);
    set_lane(f->from, lane, from);
}

static inline void remove_drift(const lanes_from *f, int lane, const vf x[3], vf v[3])
{
    vf r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - vf_load(&f->centre[i][lane]);
    }
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        vf turn = vf_load(&f->spin[p][lane]) * r[q] - vf_load(&f->spin[q][lane]) * r[p];
        v[i] = v[i] - (vf_load(&f->velocity[i][lane]) + turn);
    }
}

enum { MASS, FIRST = 1, MOMENTUM = 4, ANGULAR = 7, SECOND = 10, CHANNELS = 16 };

static void clear_sums(vf sums[CHANNELS][LMI_PIECES])
{
    for (int i = 0; i < CHANNELS * LMI_PIECES; i++) {
        sums[i / LMI_PIECES][i % LMI_PIECES] = vf_set1(0.0f);
    }
}

/* Adds the same velocity change to the particles of a block, and adds their motion to the sums. `drifts`: a lattice, whose
 * drift is taken out first. */
static LMI_ALWAYS_INLINE void accelerate_block(lmi_body *body, uint32_t block, lm_vec3 change, const lanes_from *f,
                                               const bool drifts, vf sums[CHANNELS][LMI_PIECES])
{
    const vf d[3] = {vf_set1(change.x), vf_set1(change.y), vf_set1(change.z)}, zero = vf_set1(0.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), slow = zero - fast;
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        const int lane = piece * LMI_LANES;
        size_t at = 4 * ((size_t)block + (size_t)lane);
        vf x[4], v[4], r[3], p[3], mr[3];
        vf_load4(body->x + at, x);
        vf_load4(body->v + at, v);
        vm real = vf_lt(zero, v[3]); /* padding has no mass and stays at rest */
        vf w[3] = {v[0], v[1], v[2]};
        if (drifts) {
            remove_drift(f, lane, x, w);
        }
        vf m = vf_select(vf_lt(zero, x[3]), v[3], zero);
        for (int i = 0; i < 3; i++) {
            v[i] = vf_select(real, vf_clamp(w[i] + d[i], slow, fast), v[i]);
            r[i] = x[i] - vf_load(&f->first[i][lane]);
            p[i] = m * (v[i] - vf_load(&f->from[i][lane]));
            mr[i] = m * r[i];
        }
        vf_store4(body->v + at, v[0], v[1], v[2], v[3]);
        vf terms[CHANNELS] = {m,
                              mr[0],
                              mr[1],
                              mr[2],
                              p[0],
                              p[1],
                              p[2],
                              r[1] * p[2] - r[2] * p[1],
                              r[2] * p[0] - r[0] * p[2],
                              r[0] * p[1] - r[1] * p[0],
                              mr[0] * r[0],
                              mr[1] * r[1],
                              mr[2] * r[2],
                              mr[0] * r[1],
                              mr[1] * r[2],
                              mr[2] * r[0]};
        for (int i = 0; i < CHANNELS; i++) {
            sums[i][piece] = sums[i][piece] + terms[i];
        }
    }
}

/* Adds the mass of a block and where it is to the sums, and nothing of how it moves. */
static LMI_ALWAYS_INLINE void measure_block(const lmi_body *body, uint32_t block, const lanes_from *f,
                                            vf sums[CHANNELS][LMI_PIECES])
{
    const vf zero = vf_set1(0.0f);
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        const int lane = piece * LMI_LANES;
        size_t at = 4 * ((size_t)block + (size_t)lane);
        vf x[4], v[4], r[3], mr[3];
        vf_load4(body->x + at, x);
        vf_load4(body->v + at, v);
        vf m = vf_select(vf_lt(zero, x[3]), v[3], zero);
        sums[MASS][piece] = sums[MASS][piece] + m;
        for (int i = 0; i < 3; i++) {
            r[i] = x[i] - vf_load(&f->first[i][lane]);
            mr[i] = m * r[i];
            sums[FIRST + i][piece] = sums[FIRST + i][piece] + mr[i];
        }
        for (int i = 0; i < 3; i++) {
            sums[SECOND + i][piece] = sums[SECOND + i][piece] + mr[i] * r[i];
            sums[SECOND + 3 + i][piece] = sums[SECOND + 3 + i][piece] + mr[i] * r[(i + 1) % 3];
        }
    }
}

static void solve(lmi_motion *motion, lm_vec3 first, lm_vec3 from, const double total[CHANNELS])
{
    lmi_motion_solve(motion, first, from, total[MASS], total + FIRST, total + MOMENTUM, total + ANGULAR,
                     total + SECOND);
}

static lm_vec3 three(const float *at) { return (lm_vec3){at[0], at[1], at[2]}; }

/* What is to be taken out of a lattice's part, for where its particles are now. */
static void settle(lmi_lattice_part *part, lm_vec3 first, const double total[CHANNELS])
{
    const lm_vec3 none = {0.0f, 0.0f, 0.0f};
    lmi_motion shape;
    solve(&shape, first, none, total);
    lmi_lattice_settle(part, &shape);
}

typedef enum pass { SETTLE, ACCELERATE } pass;

/* A body of one part. */
static LMI_ALWAYS_INLINE void go_through_body(lmi_body *body, lm_vec3 change, const pass what, const bool drifts)
{
    const lm_vec3 first = three(body->x + 4 * (size_t)body->reference);
    const lm_vec3 from = three(body->v + 4 * (size_t)body->reference);
    lanes_from f;
    vf sums[CHANNELS][LMI_PIECES];
    for (int lane = 0; lane < LMI_BLOCK; lane++) {
        set_from(&f, lane, drifts ? &body->lattice->part[0] : NULL, first, from);
    }
    clear_sums(sums);
    for (uint32_t block = 0; block < body->padded_count; block += LMI_BLOCK) {
        if (what == SETTLE) {
            measure_block(body, block, &f, sums);
        } else {
            accelerate_block(body, block, change, &f, drifts, sums);
        }
    }
    double total[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        total[i] = lmi_sum_lanes(sums[i]);
    }
    if (what == SETTLE) {
        settle(&body->lattice->part[0], first, total);
    } else {
        solve(&body->motion, first, from, total);
    }
}

/* Adds lanes to the sums of the parts that they belong to. `part`: of all of them, or LMI_NONE. */
static void add_to_parts(lmi_lattice_body *lattice, uint32_t part, uint32_t block, vf sums[CHANNELS][LMI_PIECES])
{
    _Alignas(64) float lane[LMI_BLOCK];
    for (int i = 0; i < CHANNELS; i++) {
        if (part != LMI_NONE) {
            lattice->part[part].sums[i] += lmi_sum_lanes(sums[i]);
            continue;
        }
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            vf_store(lane + piece * LMI_LANES, sums[i][piece]);
        }
        for (uint32_t n = 0; n < LMI_BLOCK; n++) {
            uint32_t of = lattice->shape.part[(size_t)block * LMI_BLOCK + n];
            if (of != LMI_NONE) {
                lattice->part[of].sums[i] += lane[n];
            }
        }
    }
    clear_sums(sums);
}

/* A lattice of several parts: blocks of the same part one after the other are summed together, blocks that parts share lane
 * by lane. */
static void go_through_parts(lmi_body *body, lm_vec3 change, pass what)
{
    lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice *l = &lattice->shape;
    lanes_from f;
    vf sums[CHANNELS][LMI_PIECES];
    clear_sums(sums);
    for (uint32_t n = 0; n < l->part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        part->first = three(body->x + 4 * (size_t)part->reference);
        part->from = three(body->v + 4 * (size_t)part->reference);
        memset(part->sums, 0, sizeof part->sums);
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        uint32_t of = l->part_of_block[block];
        bool same = block > 0 && of != LMI_NONE && of == l->part_of_block[block - 1];
        if (block > 0 && !same) {
            add_to_parts(lattice, l->part_of_block[block - 1], block - 1, sums);
        }
        for (int lane = 0; !same && lane < LMI_BLOCK; lane++) {
            uint32_t mine = l->part[(size_t)block * LMI_BLOCK + (size_t)lane];
            const lmi_lattice_part *part = &lattice->part[of != LMI_NONE ? of : mine != LMI_NONE ? mine : 0];
            set_from(&f, lane, part, part->first, part->from);
        }
        if (what == SETTLE) {
            measure_block(body, block * LMI_BLOCK, &f, sums);
        } else {
            accelerate_block(body, block * LMI_BLOCK, change, &f, true, sums);
        }
    }
    add_to_parts(lattice, l->part_of_block[l->block_count - 1], l->block_count - 1, sums);
    for (uint32_t n = 0; n < l->part_count; n++) {
        lmi_lattice_part *part = &lattice->part[n];
        if (what == SETTLE) {
            settle(part, part->first, part->sums);
        } else {
            solve(&part->motion, part->first, part->from, part->sums);
        }
    }
}

static void accelerate(lmi_body *body, lm_vec3 change)
{
    if (!body->lattice) {
        go_through_body(body, change, ACCELERATE, false);
        return;
    }
    if (body->lattice->shape.part_count > 1) {
        go_through_parts(body, change, SETTLE);
        go_through_parts(body, change, ACCELERATE);
    } else {
        go_through_body(body, change, SETTLE, true);
        go_through_body(body, change, ACCELERATE, true);
    }
    lmi_lattice_measured(body);
}

void LMI_KERNEL(predict)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    (void)scratch;
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        lmi_body_follow(body);
        lmi_halt_keep(step, body);
        lmi_damping_turn(body);
        for (uint32_t f = 0; f < step->flow_count; f++) {
            if (step->flows[f].kind != LM_FIELD_UNIFORM) {
                apply_flow(&step->flows[f], body);
            }
        }
        lmi_particle_forces(step, body);
        lm_vec3 change = lmi_uniform_change(step, body);
        accelerate(body, change);
    }
}
