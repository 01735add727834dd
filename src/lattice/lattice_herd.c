/*
 * The substep of a herd: lattices that are alike, one body to a lane.
 *
 *   load        u of every particle, and its velocity where regions damp it
 *   gather      along z, y, x, then fit, region by region
 *   scatter     along x, y, z, then integrate, particle by particle
 *
 * The plan (lattice/herd.h) names what every sum is made from, so that there are no empty places and nothing is looked up.
 * Bodies are small: one pass after the other stays in the second-level cache.
 *
 * Every lane takes the steps that lattice/lattice_sweep.c takes for a body alone, in the same order; what is left out there are
 * sums of nothing. Leaving out a zero can change the sign of another zero, and no more: fits add the rest moments, which
 * are zero at most, and velocities end without a negative zero in both.
 *
 * Reads and writes positions and velocities.
 */
#define LATTICE_HERD
#include "base/compiler.h"
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_fit.h"
#include "world/kernel_names.h"
#include "world/world.h"

/* Bodies in fewer than one of this many lanes are quicker on their own (of sixteen: five or fewer). */
#define LEAST_SHARE 3

/* Channels of a particle in scratch: F^T x / s, or of v, and the weight; m~ u. */
enum { HERD_G = 4, HERD_F = 3, HERD_Z = 6, HERD_Y = 9, HERD_T = 12 };

/* What positions are gathered in, or velocities. */
typedef struct herd_sums {
    float *g, *f, *z, *y;
} herd_sums;

/* Bodies side by side. Numbers that differ from body to body are lanes; lanes without a body repeat the first. */
typedef struct herd_work {
    _Alignas(64) float inverse[9][LMI_LANES], forward[9][LMI_LANES], motion[9][LMI_LANES], carry[3][LMI_LANES];
    _Alignas(64) float rate[LMI_LANES], damping[LMI_LANES], goal_rate[LMI_LANES], loss[LMI_LANES];
    _Alignas(64) float pull[LMI_BLOCK][6][LMI_LANES]; /* by the lane that a particle has in its own body */
    vf lower[3], upper[3];
    uint32_t offset[LMI_LANES]; /* particles from the first body's to this one's */
    uint32_t count;
    bool damped;
    float *x, *v; /* of the first body */
    const lmi_lattice_step *step;
    const lmi_herd_plan *plan;
    herd_sums positions, velocities; /* velocities: where the step is regional */
    float *t;
} herd_work;

static void clear_first(float *to, int channels)
{
    for (int n = 0; n < channels; n++) {
        vf_store(to + n * LMI_LANES, vf_set1(0.0f));
    }
}

static void set_lane(herd_work *k, uint32_t lane, const lmi_lattice_step *s)
{
    const lm_vec3 three[4] = {s->part->centre, s->part->velocity, s->part->spin, s->velocity};
    for (int i = 0; i < 9; i++) {
        k->inverse[i][lane] = s->inverse[i];
        k->forward[i][lane] = s->forward[i];
    }
    for (int i = 0; i < 4; i++) {
        float(*to)[LMI_LANES] = i < 3 ? k->motion + 3 * i : k->carry;
        to[0][lane] = three[i].x;
        to[1][lane] = three[i].y;
        to[2][lane] = three[i].z;
    }
    k->rate[lane] = s->rate;
    k->damping[lane] = s->damping;
    k->goal_rate[lane] = s->goal_rate;
    k->loss[lane] = s->loss;
    k->damped = k->damped || s->damping > 0.0f;
    k->offset[lane] = (uint32_t)((s->x - k->x) / 4);
}

/* Returns what is left of the scratch. */
static float *take_sums(herd_sums *to, const lmi_herd_sizes *sizes, float *scratch)
{
    to->g = scratch;
    to->f = to->g + HERD_G * sizes->particles * LMI_LANES;
    to->z = to->f + HERD_F * sizes->particles * LMI_LANES;
    to->y = to->z + HERD_Z * sizes->z * LMI_LANES;
    clear_first(to->g, HERD_G);
    clear_first(to->f, HERD_F);
    clear_first(to->z, HERD_Z);
    clear_first(to->y, HERD_Y);
    return to->y + HERD_Y * sizes->y * LMI_LANES;
}

static void begin(herd_work *k, lmi_lattice_body *const bodies[], uint32_t count, const lmi_herd_plan *plan,
                  float *scratch)
{
    lmi_herd_sizes sizes = lmi_herd_sizes_of(plan);
    k->step = &bodies[0]->step;
    k->plan = plan;
    k->count = count;
    k->damped = false;
    k->x = k->step->x;
    k->v = k->step->v;
    for (uint32_t lane = 0; lane < LMI_LANES; lane++) {
        set_lane(k, lane, &bodies[lane < count ? lane : 0]->step);
    }
    k->t = take_sums(&k->positions, &sizes, scratch);
    clear_first(k->t, HERD_T);
    if (k->step->regional) {
        take_sums(&k->velocities, &sizes, k->t + HERD_T * sizes.regions * LMI_LANES);
    }
    for (int n = 0; n < LMI_BLOCK; n++) {
        clear_first(&k->pull[n][0][0], 6);
    }
    for (int i = 0; i < 3; i++) {
        k->lower[i] = vf_set1(3e38f);
        k->upper[i] = vf_set1(-3e38f);
    }
}

/* K of a particle, rounded as for a body alone. */
static void corner_of(const lmi_lattice_step *step, uint32_t place, float corner[3])
{
    const int32_t *at = step->lattice->at[place / LMI_BLOCK];
    corner[0] = (float)(place % LMI_BLOCK) + ((float)at[0] - step->middle[0]);
    corner[1] = (float)at[1] - step->middle[1];
    corner[2] = (float)at[2] - step->middle[2];
}

static void load(const herd_work *k)
{
    for (uint32_t n = 0; n < k->plan->particle_count; n++) {
        uint32_t place = k->plan->particle[n];
        float corner[3], *g = k->positions.g + (size_t)(n + 1) * HERD_G * LMI_LANES,
                         *f = k->positions.f + (size_t)(n + 1) * HERD_F * LMI_LANES;
        vf x[4];
        vf_gather4(k->x + (size_t)place * 4, k->offset, x);
        corner_of(k->step, place, corner);
        for (int i = 0; i < 3; i++) {
            vf local = (vf_load(k->inverse[3 * i]) * x[0] + vf_load(k->inverse[3 * i + 1]) * x[1]) +
                       vf_load(k->inverse[3 * i + 2]) * x[2];
            vf_store(g + i * LMI_LANES, local);
            vf_store(f + i * LMI_LANES, (local - vf_set1(corner[i])) * x[3]);
        }
        vf_store(g + 3 * LMI_LANES, x[3]);
    }
}

/* The velocity of every particle without the body's own, after its position. */
static void load_velocities(const herd_work *k)
{
    for (uint32_t n = 0; n < k->plan->particle_count; n++) {
        const size_t at = (size_t)(n + 1) * LMI_LANES;
        const vf weight = vf_load(k->positions.g + at * HERD_G + 3 * LMI_LANES);
        float *g = k->velocities.g + at * HERD_G, *f = k->velocities.f + at * HERD_F;
        vf v[4];
        vf_gather4(k->v + (size_t)k->plan->particle[n] * 4, k->offset, v);
        for (int i = 0; i < 3; i++) {
            v[i] = v[i] - vf_load(k->carry[i]);
        }
        for (int i = 0; i < 3; i++) {
            vf local = (vf_load(k->inverse[3 * i]) * v[0] + vf_load(k->inverse[3 * i + 1]) * v[1]) +
                       vf_load(k->inverse[3 * i + 2]) * v[2];
            vf_store(g + i * LMI_LANES, local);
            vf_store(f + i * LMI_LANES, local * weight);
        }
        vf_store(g + 3 * LMI_LANES, weight);
    }
}

/* Where the taps of a sum are. */
LMI_INLINE void taps_of(const uint16_t *tap, const float *from, const size_t channels, const int w, const float *at[])
{
    for (int n = 0; n < 2 * w + 1; n++) {
        at[n] = from + (size_t)tap[n] * channels * LMI_LANES;
    }
}

LMI_INLINE void gather_z(const herd_work *k, const herd_sums *s, const int w)
{
    const lmi_herd_pass *pass = &k->plan->gather[0];
    for (uint32_t n = 0; n < pass->count; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        float *out = s->z + (size_t)(n + 1) * HERD_Z * LMI_LANES;
        taps_of(pass->tap + n * (size_t)(2 * w + 1), s->f, HERD_F, w, at);
        for (size_t c = 0; c < 3; c++) {
            vf sum, moment;
            lattice_taps(at, w, c * LMI_LANES, &sum, &moment);
            vf_store(out + c * LMI_LANES, sum);
            vf_store(out + (3 + c) * LMI_LANES, moment);
        }
    }
}

LMI_INLINE void gather_y(const herd_work *k, const herd_sums *s, const int w)
{
    const lmi_herd_pass *pass = &k->plan->gather[1];
    for (uint32_t n = 0; n < pass->count; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        float *out = s->y + (size_t)(n + 1) * HERD_Y * LMI_LANES;
        taps_of(pass->tap + n * (size_t)(2 * w + 1), s->z, HERD_Z, w, at);
        for (size_t c = 0; c < 3; c++) {
            vf sum, moment;
            lattice_taps(at, w, c * LMI_LANES, &sum, &moment);
            vf_store(out + c * LMI_LANES, sum);
            vf_store(out + (6 + c) * LMI_LANES, moment);
            vf_store(out + (3 + c) * LMI_LANES, lattice_sum(at, w, (3 + c) * LMI_LANES));
        }
    }
}

/* Puts the moments of an irregular region right. Velocities have no place of their own to be measured from. */
static void correct_moments(const herd_work *k, const herd_sums *s, const lmi_herd_list *list, uint32_t place, vf m[12])
{
    const lmi_lattice_step *step = k->step;
    const bool still = s == &k->velocities;
    int32_t corner[3];
    vf sums[12];
    lmi_lattice_corner(step->lattice, place, corner);
    for (int i = 0; i < 12; i++) {
        sums[i] = vf_set1(0.0f);
    }
    for (const lmi_herd_pair *pair = k->plan->pair + list->first; pair < k->plan->pair + list->last; pair++) {
        const float *g = s->g + (size_t)pair->from * HERD_G * LMI_LANES;
        vf weight = vf_load(g + 3 * LMI_LANES) * vf_set1(pair->sign), along[3];
        for (int a = 0; a < 3; a++) {
            along[a] = vf_set1(pair->offset[a]);
        }
        for (int i = 0; i < 3; i++) {
            float at = still ? 0.0f : ((float)corner[i] - step->middle[i]) + (float)pair->offset[i];
            vf p = (vf_load(g + i * LMI_LANES) - vf_set1(at)) * weight;
            sums[i] = sums[i] + p;
            sums[3 + i] = sums[3 + i] + p * along[2];
            sums[6 + i] = sums[6 + i] + p * along[1];
            sums[9 + i] = sums[9 + i] + p * along[0];
        }
    }
    for (int i = 0; i < 12; i++) {
        if (list->replaces) {
            m[i] = sums[i];
        } else {
            m[i] = m[i] + sums[i];
        }
    }
}

/* Gather along x: the moments of region n. */
LMI_INLINE void gather_x(const herd_work *k, const herd_sums *s, uint32_t n, const int w, vf m[12])
{
    const lmi_herd_pass *pass = &k->plan->gather[2];
    const lmi_herd_list *list = &k->plan->region_list[n];
    const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
    taps_of(pass->tap + n * (size_t)(2 * w + 1), s->y, HERD_Y, w, at);
    for (size_t c = 0; c < 9; c++) {
        if (c < 3) {
            lattice_taps(at, w, c * LMI_LANES, &m[c], &m[9 + c]);
        } else {
            m[c] = lattice_sum_like_x(at, w, c * LMI_LANES);
        }
    }
    if (list->last > list->first) {
        correct_moments(k, s, list, k->plan->region[n], m);
    }
}

/* The fit of a region that lattice_fit_quickly is not for. Gathers again, so that nobody has to keep the moments. */
static LMI_NOINLINE void fit_slowly(const herd_work *k, uint32_t n, const lattice_material *material,
                                    const float *constants, vf t[12])
{
    vf m[12];
    gather_x(k, &k->positions, n, lattice_width(k->step->lattice), m);
    lattice_fit(m, constants, material, k->plan->region[n] / LMI_BLOCK, 0, t);
}

LMI_INLINE void fit(const herd_work *k, const int w, const bool regional)
{
    const lmi_lattice *l = k->step->lattice;
    const lattice_material material = {.stretch = k->step->stretch, .beta = k->step->beta, .beyond = k->step->beyond};
    const bool simple = lattice_is_simple(&material);
    for (uint32_t n = 0; n < k->plan->gather[2].count; n++) {
        uint32_t place = k->plan->region[n], block = place / LMI_BLOCK;
        const float *constants =
            l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK + place % LMI_BLOCK;
        vf m[12], t[12];
        gather_x(k, &k->positions, n, w, m);
        if (!simple || !lattice_fit_quickly(m, constants, t)) {
            vf other[12]; /* t itself stays in registers */
            fit_slowly(k, n, &material, constants, other);
            for (int c = 0; c < 12; c++) {
                t[c] = other[c];
            }
        }
        if (regional) {
            vf mv[12];
            gather_x(k, &k->velocities, n, w, mv);
            lattice_add_field(m, mv, constants, constants + l->affine * LMI_BLOCK, vf_load(k->loss),
                              vf_load(k->goal_rate), t);
        }
        for (size_t c = 0; c < 12; c++) {
            vf_store(k->t + ((size_t)(n + 1) * HERD_T + c) * LMI_LANES, t[c]);
        }
    }
}

LMI_INLINE void scatter_x(const herd_work *k, const int w)
{
    const lmi_herd_pass *pass = &k->plan->scatter[0];
    for (uint32_t n = 0; n < pass->count; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        float *out = k->positions.y + (size_t)(n + 1) * HERD_Y * LMI_LANES;
        taps_of(pass->tap + n * (size_t)(2 * w + 1), k->t, HERD_T, w, at);
        for (size_t c = 0; c < 3; c++) {
            vf_store(out + c * LMI_LANES, lattice_transposed(at, w, c * LMI_LANES, (3 + c) * LMI_LANES));
            vf_store(out + (3 + c) * LMI_LANES, lattice_sum_like_x(at, w, (6 + c) * LMI_LANES));
            vf_store(out + (6 + c) * LMI_LANES, lattice_sum_like_x(at, w, (9 + c) * LMI_LANES));
        }
    }
}

LMI_INLINE void scatter_y(const herd_work *k, const int w)
{
    const lmi_herd_pass *pass = &k->plan->scatter[1];
    for (uint32_t n = 0; n < pass->count; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        float *out = k->positions.z + (size_t)(n + 1) * HERD_Z * LMI_LANES;
        taps_of(pass->tap + n * (size_t)(2 * w + 1), k->positions.y, HERD_Y, w, at);
        for (size_t c = 0; c < 3; c++) {
            vf_store(out + c * LMI_LANES, lattice_transposed(at, w, c * LMI_LANES, (3 + c) * LMI_LANES));
            vf_store(out + (3 + c) * LMI_LANES, lattice_sum(at, w, (6 + c) * LMI_LANES));
        }
    }
}

/* Adds what the lists know of a particle's irregular regions. */
static void correct_sums(const herd_work *k, const lmi_herd_list *list, vf sum[3])
{
    vf sums[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
    for (const lmi_herd_pair *pair = k->plan->pair + list->first; pair < k->plan->pair + list->last; pair++) {
        const float *t = k->t + (size_t)pair->from * HERD_T * LMI_LANES;
        vf sign = vf_set1(pair->sign), x = vf_set1(pair->offset[0]), y = vf_set1(pair->offset[1]);
        vf z = vf_set1(pair->offset[2]);
        for (int i = 0; i < 3; i++) {
            vf move = (vf_load(t + (3 + i) * LMI_LANES) * x + vf_load(t + (6 + i) * LMI_LANES) * y) +
                      vf_load(t + (9 + i) * LMI_LANES) * z;
            sums[i] = sums[i] + sign * (vf_load(t + i * LMI_LANES) + move);
        }
    }
    for (int i = 0; i < 3; i++) {
        if (list->replaces) {
            sum[i] = sums[i];
        } else {
            sum[i] = sum[i] + sums[i];
        }
    }
}

/* d, in metres, of particle n; or the whole change of velocity, where regions damp it. */
LMI_INLINE void pull_of(const herd_work *k, const float *constants, uint32_t n, const vf sum[3], const bool regional,
                        vf d[3])
{
    const float *f = k->positions.f + (size_t)(n + 1) * HERD_F * LMI_LANES;
    vf local[3], share = lattice_constant(constants + LMI_LATTICE_SHARE * LMI_BLOCK);
    vf hold = lattice_constant(constants + LMI_LATTICE_HOLD * LMI_BLOCK);
    if (regional) {
        hold = vf_load(k->goal_rate) * hold;
    }
    for (int i = 0; i < 3; i++) {
        local[i] = share * sum[i] - hold * vf_load(f + i * LMI_LANES);
        if (regional) {
            const float *slow = k->velocities.g + (size_t)(n + 1) * HERD_G * LMI_LANES + i * LMI_LANES;
            local[i] = local[i] - vf_load(k->loss) * vf_load(slow);
        }
    }
    for (int i = 0; i < 3; i++) {
        d[i] = (vf_load(k->forward[3 * i]) * local[0] + vf_load(k->forward[3 * i + 1]) * local[1]) +
               vf_load(k->forward[3 * i + 2]) * local[2];
    }
}

/* Four floats to each body. */
LMI_INLINE void store_records(const herd_work *k, float *to, const vf value[4])
{
    _Alignas(64) float record[LMI_LANES][4];
    vf_store4(record[0], value[0], value[1], value[2], value[3]);
    for (uint32_t n = 0; n < k->count; n++) {
        float *at = to + (size_t)k->offset[n] * 4;
        at[0] = record[n][0], at[1] = record[n][1], at[2] = record[n][2], at[3] = record[n][3];
    }
}

LMI_INLINE void damp(const herd_work *k, const vf r[3], vf v[3])
{
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        vf turn = vf_load(k->motion[6 + p]) * r[q] - vf_load(k->motion[6 + q]) * r[p];
        vf field = vf_load(k->motion[3 + i]) + turn;
        v[i] = v[i] + vf_load(k->damping) * (field - v[i]);
    }
}

LMI_INLINE void move(herd_work *k, uint32_t place, const vf d[3])
{
    const vf h = vf_set1(k->step->h), rate = vf_load(k->rate), zero = vf_set1(0.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), far = vf_set1(LM_MAX_COORDINATE);
    float(*pull)[LMI_LANES] = k->pull[place % LMI_BLOCK];
    vf x[4], v[4], p[3], r[3];
    vf_gather4(k->x + (size_t)place * 4, k->offset, x);
    vf_gather4(k->v + (size_t)place * 4, k->offset, v);
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - vf_load(k->motion[i]);
    }
    if (k->damped) {
        damp(k, r, v);
    }
    for (int i = 0; i < 3; i++) {
        p[i] = v[3] * d[i];
        vf_store(pull[i], vf_load(pull[i]) + p[i]);
        v[i] = vf_clamp((v[i] + rate * d[i]) + zero, zero - fast, fast);
        x[i] = vf_clamp(x[i] + h * (v[i] - vf_load(k->carry[i])), zero - far, far);
        k->lower[i] = vf_min(k->lower[i], x[i]);
        k->upper[i] = vf_max(k->upper[i], x[i]);
    }
    vf_store(pull[3], vf_load(pull[3]) + (r[1] * p[2] - r[2] * p[1]));
    vf_store(pull[4], vf_load(pull[4]) + (r[2] * p[0] - r[0] * p[2]));
    vf_store(pull[5], vf_load(pull[5]) + (r[0] * p[1] - r[1] * p[0]));
    store_records(k, k->x + (size_t)place * 4, x);
    store_records(k, k->v + (size_t)place * 4, v);
}

/* Scatter along z and integrate. */
LMI_INLINE void integrate(herd_work *k, const int w, const bool regional)
{
    const lmi_lattice *l = k->step->lattice;
    const lmi_herd_pass *pass = &k->plan->scatter[2];
    for (uint32_t n = 0; n < pass->count; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        const lmi_herd_list *list = &k->plan->particle_list[n];
        uint32_t place = k->plan->particle[n];
        const float *constants =
            l->constants + (size_t)l->constants_of[place / LMI_BLOCK] * l->channels * LMI_BLOCK + place % LMI_BLOCK;
        vf sum[3], d[3];
        taps_of(pass->tap + n * (size_t)(2 * w + 1), k->positions.z, HERD_Z, w, at);
        for (size_t c = 0; c < 3; c++) {
            sum[c] = lattice_transposed(at, w, c * LMI_LANES, (3 + c) * LMI_LANES);
        }
        if (list->last > list->first) {
            correct_sums(k, list, sum);
        }
        pull_of(k, constants, n, sum, regional, d);
        move(k, place, d);
    }
}

/* What a sweep measures of each body, as if it had been alone. */
static void measure(const herd_work *k, lmi_lattice_body *const bodies[])
{
    _Alignas(64) float bounds[6][LMI_LANES];
    const lmi_lattice_sums none = {{0.0}, {3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f}};
    for (int i = 0; i < 3; i++) {
        vf_store(bounds[i], k->lower[i]);
        vf_store(bounds[3 + i], k->upper[i]);
    }
    for (uint32_t n = 0; n < k->count; n++) {
        lmi_lattice_sums *to = lmi_lattice_sums_of(bodies[n], 0, false);
        *to = none;
        *lmi_lattice_sums_of(bodies[n], 0, true) = none;
        for (int lane = 0; lane < LMI_BLOCK; lane++) {
            for (int i = 0; i < 6; i++) {
                to->pull[i] += k->pull[lane][i][n];
            }
        }
        for (int i = 0; i < 3; i++) {
            to->lower[i] = bounds[i][n];
            to->upper[i] = bounds[3 + i][n];
        }
    }
}

LMI_INLINE void run(herd_work *k, const int w, const bool regional)
{
    load(k);
    gather_z(k, &k->positions, w);
    gather_y(k, &k->positions, w);
    if (regional) {
        load_velocities(k);
        gather_z(k, &k->velocities, w);
        gather_y(k, &k->velocities, w);
    }
    fit(k, w, regional);
    scatter_x(k, w);
    scatter_y(k, w);
    integrate(k, w, regional);
}

static void sweep_together(lmi_lattice_body *const bodies[], uint32_t count, const lmi_herd_plan *plan, float *scratch)
{
    herd_work k;
    begin(&k, bodies, count, plan, scratch);
    const bool regional = k.step->regional;
#ifdef LIMBER_COMPACT
    run(&k, lattice_width(k.step->lattice), regional);
#else
    switch (2 * plan->width + regional) {
    case 2: run(&k, 1, false); break;
    case 3: run(&k, 1, true); break;
    case 4: run(&k, 2, false); break;
    case 5: run(&k, 2, true); break;
    default: run(&k, lattice_width(k.step->lattice), regional); break;
    }
#endif
    measure(&k, bodies);
    for (uint32_t n = 0; n < count; n++) {
        bodies[n]->herded = true;
    }
}

/* Whether a body can be stepped with others in this substep, and beside the first of them. */
static bool may_go(const lmi_lattice_body *lattice, uint32_t herd, const lmi_lattice_body *first)
{
    const lmi_lattice_step *s = &lattice->step;
    return lattice->herd == herd && lattice->swept && !s->plastic && !s->mix &&
           (!first || (s->stretch == first->step.stretch && s->beta == first->step.beta &&
                       s->beyond == first->step.beyond && s->regional == first->step.regional));
}

/* Moves the herds of a batch, as many bodies at a time as there are lanes. Those left over, too few to be worth it, move
 * alone. */
void LMI_KERNEL(sweep_herds)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    for (uint32_t herd = 0; herd < batch->herd_count; herd++) {
        lmi_lattice_body *bodies[LMI_LANES];
        uint32_t count = 0, last = batch->herds[herd].count > 1 ? batch->body_count : 0;
        for (uint32_t n = 0; n < last; n++) {
            lmi_lattice_body *lattice = lmi_body_at(step->world, batch->bodies[n])->lattice;
            if (lattice && may_go(lattice, herd, count ? bodies[0] : NULL)) {
                bodies[count++] = lattice;
            }
            if (count == LMI_LANES || (n + 1 == last && count * LEAST_SHARE >= LMI_LANES)) {
                sweep_together(bodies, count, &batch->herds[herd].plan, scratch->lattice);
                count = 0;
            }
        }
    }
}
