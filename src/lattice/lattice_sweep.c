/*
 * The substep of a lattice in one sweep along z: gather, fit, scatter and integrate.
 *
 *   for each plane z
 *       u of plane z + w                                     positions are read once
 *       for each run of plane z, row by row along y
 *           gather along z, y, x   fit   scatter along x     in the first-level cache
 *           scatter along y of the row w before              in the second-level cache
 *       plane z - w has all its sums: scatter along z, integrate in place
 *
 * Nothing but positions and velocities goes to memory and back. Nobody reads the positions of plane z - w any more when it
 * moves, so they are updated where they are.
 *
 * Slabs of planes are swept by different threads. Planes nearer than w to a cut are read by the neighbour: their sums along
 * x and y are kept, and they are integrated when all sweeps have ended (finish). No sum is made twice, and each is the same
 * wherever the cuts are.
 *
 * Reads and writes positions and velocities. Rivers and James 2007, section 3.
 */
#include "base/compiler.h"
#include "lattice/lattice_damping.h"
#include "lattice/lattice_fit.h"
#include "lattice/lattice_irregular.h"
#include "lattice/lattice_motion.h"
#include "lattice/lattice_plates_fit.h"
#include "world/in_step.h"
#include "world/kernel_names.h"

static const _Alignas(64) float ramp[LMI_BLOCK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* K of a piece of a block. */
LMI_INLINE void corners_of(const lmi_lattice_step *step, uint32_t block, int lane, vf corner[3])
{
    const int32_t *at = step->lattice->at[block];
    corner[0] = vf_load(ramp + lane) + vf_set1((float)at[0] - step->middle[0]);
    corner[1] = vf_set1((float)at[1] - step->middle[1]);
    corner[2] = vf_set1((float)at[2] - step->middle[2]);
}

static void load_plane(const lmi_lattice_step *step, uint32_t plane, float *to)
{
    const lmi_lattice *l = step->lattice;
    uint32_t first = l->plane_place[plane];
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        uint32_t block = l->block[first + place];
        float *out = to + (size_t)place * LATTICE_F * LMI_BLOCK;
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf x[4], corner[3], u[3];
            vf_load4(step->x + ((size_t)block * LMI_BLOCK + (size_t)lane) * 4, x);
            corners_of(step, block, lane, corner);
            lattice_local(step, x, corner, u);
            for (int c = 0; c < 3; c++) {
                vf_store(out + c * LMI_BLOCK + lane, u[c] * x[3]);
            }
        }
    }
}

/* Constants up to this many bytes stay in the second-level cache from one plane to the next, beside all that a sweep keeps
 * there. Of more, each block's come from further away: they are asked for ahead of time. */
#define LATTICE_NEAR_CONSTANTS ((size_t)640 << 10)

/* Blocks that the integration asks ahead. */
#define LATTICE_ASK_AHEAD 4

LMI_INLINE bool constants_are_far(const lmi_lattice *l)
{
    return (size_t)l->constants_count * l->channels * LMI_BLOCK * sizeof(float) > LATTICE_NEAR_CONSTANTS;
}

/* Asks for channels of a block's constants. */
LMI_INLINE void ask_for_constants(const lmi_lattice *l, uint32_t block, uint32_t channel, uint32_t count)
{
    const float *at = l->constants + ((size_t)l->constants_of[block] * l->channels + channel) * LMI_BLOCK;
    for (uint32_t c = 0; c < count; c++) {
        LMI_PREFETCH(at + c * LMI_BLOCK);
    }
}

/* For the fit of a run, while its sums are gathered. */
static void ask_for_run(const lmi_lattice *l, uint32_t plane, const lmi_lattice_run *run)
{
    for (uint32_t n = 0; n < run->length; n++) {
        ask_for_constants(l, l->block[l->plane_place[plane] + run->first + n], 0, LMI_LATTICE_RHO + 1);
    }
}

/* The fit of a piece of a block that lattice_fit_quickly is not for, from the sums of its run at float `n`. Gathers again,
 * so that nobody has to keep the moments. */
static LMI_NOINLINE void fit_slowly(const lmi_lattice *l, const lattice_material *material, const lattice_work *k,
                                    size_t n, lattice_sizes sizes, const lattice_owners *owners, uint32_t block,
                                    vf t[12])
{
    const size_t lane = n % LMI_BLOCK;
    vf m[12];
    lattice_gather_x(k, n, sizes, m);
    lattice_correct_moments(l, *owners, block, lane, l->irregular_moments, m);
    lattice_fit(m, l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK + lane, material, block,
                lane, t);
}

/* A place without particles has no regions. Not in line, so that nothing of it is prepared where there are some. */
static LMI_NOINLINE void clear_transforms(float *to, size_t stride)
{
    for (size_t c = 0; c < 12; c++) {
        lattice_zero_block(to + c * stride);
    }
}

/* Gather along x and fit, of a run, into k->transforms. `kv`: the sums of velocities for regional damping, or null. */
LMI_INLINE void fit_run(const lmi_lattice_step *step, uint32_t plane, const lmi_lattice_run *run, const lattice_work *k,
                        const lattice_work *const kv, lattice_owners *owners, const lattice_sizes sizes)
{
    const lmi_lattice *l = step->lattice;
    const lattice_material material = {step->stretch, step->beta, step->beyond,    step->plastic,
                                       l->affine,     step->mix,  step->mix_stride};
    const bool simple = lattice_is_simple(&material);
    for (uint32_t n = 0; n < run->length; n++) {
        uint32_t block = l->block[l->plane_place[plane] + run->first + n];
        size_t at = (size_t)(n + 1) * LMI_BLOCK;
        const float *constants = l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK;
        bool irregular = lattice_owners_in(owners, block);
        if (block == l->block_count) {
            clear_transforms(k->transforms + at, sizes.run);
            continue;
        }
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf m[12], t[12];
            lattice_gather_x(k, at + lane, sizes, m);
            if (irregular) {
                lattice_correct_moments(l, *owners, block, lane, l->irregular_moments, m);
            }
            if (!simple || !lattice_fit_quickly(m, constants + lane, t)) {
                vf other[12]; /* t itself stays in registers */
                fit_slowly(l, &material, k, at + lane, sizes, owners, block, other);
                for (int c = 0; c < 12; c++) {
                    t[c] = other[c];
                }
            }
            if (kv) {
                vf mv[12];
                lattice_gather_x(kv, at + lane, sizes, mv);
                if (irregular) {
                    lattice_correct_moments(l, *owners, block, lane, step->velocity_moments, mv);
                }
                lattice_add_damping(step, m, mv, constants + lane, t);
            }
            for (int c = 0; c < 12; c++) {
                vf_store(k->transforms + (size_t)c * sizes.run + at + lane, t[c]);
            }
        }
        if (irregular) {
            lattice_keep_transforms(l, owners, block, k->transforms + at, sizes.run);
        }
    }
}

/* Everything of a plane up to the scatter along y, which goes to `to`. `planes` are those of u around it, in `kv` those of
 * velocities where they are wanted. */
LMI_INLINE void match_plane(const lmi_lattice_step *step, uint32_t z, lattice_work *k, const lattice_work *kv,
                            float *const planes[], float *const velocities[], float *to, const lattice_sizes sizes)
{
    const lmi_lattice *l = step->lattice;
    uint32_t first = l->plane_run[z], last = l->plane_run[z + 1], gathered = first, scattered = first;
    lattice_gather_lists(l, step, step->x, z);
    if (kv) {
        lattice_gather_velocity_lists(step, z);
    }
    lattice_owners owners = lattice_owners_of(&l->gather, z);
    const bool far = constants_are_far(l);
    for (uint32_t r = first; r < last; r++) {
        if (far) {
            ask_for_run(l, z, &l->run[r]);
        }
        for (; gathered < last && l->run[gathered].y <= l->run[r].y + (uint32_t)sizes.w; gathered++) {
            lattice_gather_z(l, z, &l->run[gathered], planes, k, sizes);
            if (kv) {
                lattice_gather_z(l, z, &l->run[gathered], velocities, kv, sizes);
            }
        }
        lattice_begin_run(&l->run[r], k, kv, sizes.run);
        lattice_gather_y(l, z, &l->run[r], k, sizes);
        if (kv) {
            lattice_gather_y(l, z, &l->run[r], kv, sizes);
            fit_run(step, z, &l->run[r], k, kv, &owners, sizes);
        } else {
            fit_run(step, z, &l->run[r], k, NULL, &owners, sizes);
        }
        lattice_scatter_x(&l->run[r], k, sizes);
        for (; scattered <= r && (r + 1 == last || l->run[scattered].y + (uint32_t)sizes.w < l->run[r + 1].y);
             scattered++) {
            lattice_scatter_y(l, z, &l->run[scattered], k, sizes, to);
        }
    }
}

#define MIXED LMI_LATTICE_NONE

/* Lanes of what integration measures. */
typedef struct measured {
    vf pull[6][LMI_PIECES], lower[3][LMI_PIECES], upper[3][LMI_PIECES];
} measured;

/* Which part the lanes belong to, or MIXED: each to its own, in a block of several. */
typedef struct owners_of_lanes {
    _Alignas(64) float motion[9][LMI_BLOCK]; /* centre, velocity, spin of the lanes' parts */
    const lmi_lattice_step *step;
    lmi_lattice_sums *sums; /* of the slab's parts */
    const uint32_t *parts;  /* which those are, ascending; null: one */
    uint32_t count, part, block;
} owners_of_lanes;

static void measured_clear(measured *m)
{
    for (int piece = 0; piece < LMI_PIECES; piece++) {
        for (int i = 0; i < 6; i++) {
            m->pull[i][piece] = vf_set1(0.0f);
        }
        for (int i = 0; i < 3; i++) {
            m->lower[i][piece] = vf_set1(3e38f);
            m->upper[i][piece] = vf_set1(-3e38f);
        }
    }
}

static uint32_t part_of_lane(const owners_of_lanes *o, int lane)
{
    return o->part == MIXED ? o->step->lattice->part[(size_t)o->block * LMI_BLOCK + (size_t)lane] : o->part;
}

static void enter_part(owners_of_lanes *o, uint32_t part, uint32_t block)
{
    o->part = part;
    o->block = block;
    for (int lane = 0; lane < LMI_BLOCK; lane++) {
        uint32_t of = part_of_lane(o, lane);
        const lmi_lattice_motion *motion = &o->step->part[of == MIXED ? 0 : of];
        const lm_vec3 *from[3] = {&motion->centre, &motion->velocity, &motion->spin};
        for (int i = 0; i < 3; i++) {
            o->motion[3 * i][lane] = from[i]->x;
            o->motion[3 * i + 1][lane] = from[i]->y;
            o->motion[3 * i + 2][lane] = from[i]->z;
        }
    }
}

static void measured_begin(measured *m, owners_of_lanes *o, const lmi_lattice_step *step, uint32_t slab,
                           lmi_lattice_sums *sums)
{
    const lmi_lattice *l = step->lattice;
    o->step = step;
    o->sums = sums;
    o->parts = l->slab_part ? l->slab_part + l->slab_part_first[slab] : NULL;
    o->count = l->slab_part ? l->slab_part_first[slab + 1] - l->slab_part_first[slab] : 1;
    for (uint32_t n = 0; sums && n < o->count; n++) {
        lmi_lattice_sums none = {{0.0}, {3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, -3e38f}};
        sums[n] = none;
    }
    measured_clear(m);
    enter_part(o, o->parts ? o->parts[0] : 0, 0);
}

static lmi_lattice_sums *sums_of(const owners_of_lanes *o, uint32_t part)
{
    uint32_t low = 0, high = o->count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        low = o->parts[middle] <= part ? middle : low;
        high = o->parts[middle] <= part ? high : middle;
    }
    return &o->sums[low];
}

/* Adds the lanes to the parts that they belong to, in their order. */
static void measured_end(const measured *m, const owners_of_lanes *o)
{
    _Alignas(64) float lane[12][LMI_BLOCK];
    for (int i = 0; i < 12; i++) {
        const vf *from = i < 6 ? m->pull[i] : i < 9 ? m->lower[i - 6] : m->upper[i - 9];
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            vf_store(lane[i] + piece * LMI_LANES, from[piece]);
        }
    }
    for (int n = 0; n < LMI_BLOCK; n++) {
        uint32_t part = part_of_lane(o, n);
        if (part == MIXED) {
            continue; /* no particle */
        }
        lmi_lattice_sums *to = sums_of(o, part);
        for (int i = 0; i < 6; i++) {
            to->pull[i] += lane[i][n];
        }
        for (int i = 0; i < 3; i++) {
            to->lower[i] = lane[6 + i][n] < to->lower[i] ? lane[6 + i][n] : to->lower[i];
            to->upper[i] = lane[9 + i][n] > to->upper[i] ? lane[9 + i][n] : to->upper[i];
        }
    }
}

/* Before a block of a lattice of several parts: those of another part start again. */
static LMI_NOINLINE void measured_change(measured *m, owners_of_lanes *o, uint32_t block)
{
    uint32_t part = o->step->lattice->part_of_block[block];
    if (part != o->part || part == MIXED) {
        measured_end(m, o);
        measured_clear(m);
        enter_part(o, part, block);
    }
}

/* d, in metres, from a particle's sums and its m~ u. */
LMI_INLINE void pull_of(const lmi_lattice_step *step, const float *constants, const float *f, const vf sum[3], vf d[3])
{
    vf local[3], share = vf_load(constants + LMI_LATTICE_SHARE * LMI_BLOCK);
    vf hold = vf_load(constants + LMI_LATTICE_HOLD * LMI_BLOCK);
    for (int i = 0; i < 3; i++) {
        local[i] = share * sum[i] - hold * vf_load(f + i * LMI_BLOCK);
    }
    for (int i = 0; i < 3; i++) {
        const float *row = step->forward + 3 * i;
        d[i] = (vf_set1(row[0]) * local[0] + vf_set1(row[1]) * local[1]) + vf_set1(row[2]) * local[2];
    }
}

/* velocity + spin x r of the lanes' parts. */
LMI_INLINE void field_at(const owners_of_lanes *o, int lane, const vf r[3], vf out[3])
{
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        vf turn = vf_load(&o->motion[6 + p][lane]) * r[q] - vf_load(&o->motion[6 + q][lane]) * r[p];
        out[i] = vf_load(&o->motion[3 + i][lane]) + turn;
    }
}

/* One piece of a block: v and x, and what there is to measure. `whole`: no lane is empty. */
LMI_INLINE void move(const lmi_lattice_step *step, size_t particle, const vf d[3], bool whole, int piece,
                     const owners_of_lanes *o, measured *m)
{
    const vf h = vf_set1(step->h), rate = vf_set1(step->rate), k = vf_set1(step->damping), zero = vf_set1(0.0f);
    const vf fast = vf_set1(LM_MAX_SPEED), far = vf_set1(LM_MAX_COORDINATE);
    const vf carry[3] = {vf_set1(step->velocity.x), vf_set1(step->velocity.y), vf_set1(step->velocity.z)};
    const int lane = piece * LMI_LANES;
    vf x[4], v[4], p[3], r[3];
    vf_load4(step->x + particle * 4, x);
    for (int i = 0; i < 3; i++) {
        r[i] = x[i] - vf_load(&o->motion[i][lane]);
    }
    vf_load4(step->v + particle * 4, v);
    vm real = vf_lt(zero, v[3]);
    if (step->damping > 0.0f) {
        vf field[3];
        field_at(o, lane, r, field);
        for (int i = 0; i < 3; i++) {
            v[i] = v[i] + k * (field[i] - v[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        p[i] = v[3] * d[i];
        m->pull[i][piece] = m->pull[i][piece] + p[i];
        v[i] = vf_clamp((v[i] + rate * d[i]) + zero, zero - fast, fast); /* never -0: see lattice_herd.c */
        vf at = vf_clamp(x[i] + h * (v[i] - carry[i]), zero - far, far);
        if (whole) {
            x[i] = at;
            m->lower[i][piece] = vf_min(m->lower[i][piece], at);
            m->upper[i][piece] = vf_max(m->upper[i][piece], at);
        } else {
            v[i] = vf_select(real, v[i], zero);
            x[i] = vf_select(real, at, x[i]);
            m->lower[i][piece] = vf_select(real, vf_min(m->lower[i][piece], at), m->lower[i][piece]);
            m->upper[i][piece] = vf_select(real, vf_max(m->upper[i][piece], at), m->upper[i][piece]);
        }
    }
    m->pull[3][piece] = m->pull[3][piece] + (r[1] * p[2] - r[2] * p[1]);
    m->pull[4][piece] = m->pull[4][piece] + (r[2] * p[0] - r[0] * p[2]);
    m->pull[5][piece] = m->pull[5][piece] + (r[0] * p[1] - r[1] * p[0]);
    vf_store4(step->x + particle * 4, x[0], x[1], x[2], x[3]);
    vf_store4(step->v + particle * 4, v[0], v[1], v[2], v[3]);
}

/* Scatter along z and integrate, or with `pull` write d there instead. `f` is m~ u of the plane. */
LMI_INLINE void integrate_plane(const lmi_lattice_step *step, uint32_t z, float *const planes[], const lattice_work *k,
                                const float *f, const lattice_sizes sizes, const bool regional, owners_of_lanes *o,
                                measured *m, float *pull)
{
    const lmi_lattice *l = step->lattice;
    uint32_t first = l->plane_place[z];
    measured here = *m; /* in registers, where there are enough of them */
    lattice_owners owners = lattice_finish_sums(l, z, planes, k, sizes);
    const bool far = constants_are_far(l);
    for (uint32_t place = 1; first + place < l->plane_place[z + 1]; place++) {
        uint32_t block = l->block[first + place];
        if (far && first + place + LATTICE_ASK_AHEAD < l->plane_place[z + 1]) {
            ask_for_constants(l, l->block[first + place + LATTICE_ASK_AHEAD], LMI_LATTICE_SHARE, 2);
        }
        if (block == l->block_count) {
            continue;
        }
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1] = {NULL}; /* plates have none */
        const float *constants = l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK;
        bool irregular = lattice_owners_in(&owners, block), whole = l->occupied[block] == 0xffff;
        if (l->part_count > 1 && !pull) {
            *m = here;
            measured_change(m, o, block);
            here = *m;
        }
        if (!sizes.plated) {
            lattice_taps_z(l, first, place, planes, LATTICE_XY, sizes.w, at);
        }
        for (int piece = 0; piece < LMI_PIECES; piece++) {
            int lane = piece * LMI_LANES;
            vf sum[3], d[3];
            if (sizes.plated) {
                lattice_load_sums(k->plates, place, lane, sum);
            } else {
                lattice_scatter_z(at, (size_t)lane, sizes, sum);
            }
            if (irregular) {
                lattice_correct_sums(l, owners, block, (size_t)lane, sum);
            }
            size_t particle = (size_t)block * LMI_BLOCK + (size_t)lane;
            const float *own = f + (size_t)place * LATTICE_F * LMI_BLOCK + lane;
            if (regional) {
                lattice_damped_change(step, constants + lane, particle, own, sum, d);
            } else {
                pull_of(step, constants + lane, own, sum, d);
            }
            if (pull) {
                for (int i = 0; i < 3; i++) {
                    vf_store(pull + (size_t)block * 3 * LMI_BLOCK + (size_t)(i * LMI_BLOCK + lane), d[i]);
                }
            } else {
                move(step, particle, d, whole, piece, o, &here);
            }
        }
        lattice_owners_pass(&owners, block);
    }
    *m = here;
}

/* Where the sums of a plane along x and y are, or its plates: kept near a cut, else in the worker's scratch for a while. */
LMI_INLINE float *scattered_plane(const lmi_lattice *l, const lattice_work *k, int z, const int w, bool keep)
{
    int count = 2 * w + 1;
    if (z < 0 || z >= (int)l->plane_count) {
        return k->plates ? k->plates->scattered : k->scattered[0]; /* place 0 only */
    }
    if (keep && l->kept[z] != LMI_LATTICE_NONE) {
        return l->kept_sums + (size_t)l->kept[z] * (k->plates ? 1 : LATTICE_XY * l->most_places) * LMI_BLOCK;
    }
    return k->plates ? lattice_plates_of(l, k->plates->scattered, z) : k->scattered[z % count];
}

LMI_INLINE void integrate_at(const lmi_lattice_step *step, int z, const lattice_work *k, const lattice_sizes sizes,
                             bool keep, const bool regional, owners_of_lanes *o, measured *m, float *pull)
{
    const int w = sizes.w;
    float *planes[2 * LMI_LATTICE_MAX_WIDTH + 1];
    for (int n = -w; n <= w; n++) {
        planes[w + n] = scattered_plane(step->lattice, k, z + n, w, keep);
    }
    integrate_plane(step, (uint32_t)z, planes, k, k->f[z % (2 * w + 1)], sizes, regional, o, m, pull);
}

/* What the regions of a plane are gathered from. */
LMI_INLINE void load_values(const lmi_lattice_step *step, int z, const lattice_work *k, const lattice_work *kv,
                            const lattice_sizes sizes)
{
    const int at = z % (2 * sizes.w + 1);
    load_plane(step, (uint32_t)z, k->f[at]);
    if (kv) {
        lattice_load_velocities(step, (uint32_t)z, kv->f[at]);
    }
    if (sizes.plated) {
        lattice_gather_both(step->lattice, z, k, kv);
    }
}

/* Planes first to last - 1; of those `from` to `until` - 1 are integrated. */
LMI_INLINE void sweep_planes(const lmi_lattice_step *step, int first, int last, int from, int until, lattice_work *k,
                             const lattice_work *kv, const lattice_sizes sizes, owners_of_lanes *o, measured *m,
                             float *pull)
{
    const lmi_lattice *l = step->lattice;
    const int w = sizes.w, count = 2 * w + 1, planes = (int)l->plane_count;
    const bool keep = pull == NULL;
    for (int z = first - w < 0 ? 0 : first - w; z < first + w && z < planes; z++) {
        load_values(step, z, k, kv, sizes);
    }
    for (int z = first; z < last + w; z++) {
        if (z < last) {
            float *around[2 * LMI_LATTICE_MAX_WIDTH + 1], *velocities[2 * LMI_LATTICE_MAX_WIDTH + 1];
            float *to = scattered_plane(l, k, z, w, keep);
            if (z + w < planes) {
                load_values(step, z + w, k, kv, sizes);
            }
            for (int n = -w; n <= w; n++) {
                around[w + n] = k->f[(z + n + count) % count];
                velocities[w + n] = kv ? kv->f[(z + n + count) % count] : NULL;
            }
            if (sizes.plated) {
                lattice_fit_plates(step, (uint32_t)z, k->plates, kv ? kv->plates : NULL, to);
            } else {
                match_plane(step, (uint32_t)z, k, kv, around, velocities, to, sizes);
            }
        }
        if (z - w >= from && z - w < until) {
            integrate_at(step, z - w, k, sizes, keep, kv != NULL, o, m, pull);
        }
    }
}

/* A copy of the code for each small width with short runs, and one for all others, which is the only one in a compact
 * build. */
#ifdef LIMBER_COMPACT
#define SHORT_WIDTH(l) 0
#else
#define SHORT_WIDTH(l)                                                                                                 \
    (lmi_lattice_run_stride(l) == LATTICE_SHORT_STRIDE && !lmi_lattice_is_plated(l) ? lattice_width(l) : 0)
#endif
#define WITH_WIDTH(width, stride, plated, call)                                                                        \
    {                                                                                                                  \
        const lattice_sizes sizes = {width, stride, plated};                                                           \
        call;                                                                                                          \
        break;                                                                                                         \
    }
#define FOR_SIZES(l, call)                                                                                             \
    switch (SHORT_WIDTH(l)) {                                                                                          \
    case 1: WITH_WIDTH(1, LATTICE_SHORT_STRIDE, false, call)                                                           \
    case 2: WITH_WIDTH(2, LATTICE_SHORT_STRIDE, false, call)                                                           \
    case 3: WITH_WIDTH(3, LATTICE_SHORT_STRIDE, false, call)                                                           \
    default: WITH_WIDTH(lattice_width(l), lmi_lattice_run_stride(l), lmi_lattice_is_plated(l), call)                   \
    }

/* The planes that a slab integrates in its sweep; the others wait for the neighbours. */
static void own_planes(const lmi_lattice *l, uint32_t slab, int *from, int *until)
{
    *from = (int)l->slab[slab].first + (slab > 0 ? (int)l->width : 0);
    *until = (int)l->slab[slab].last - (slab + 1 < l->slab_count ? (int)l->width : 0);
}

void LMI_KERNEL(lattice_sweep)(const lmi_lattice_step *step, uint32_t slab, float *scratch, lmi_lattice_sums *sums)
{
    const lmi_lattice *l = step->lattice;
    lattice_plates_work plates;
    lattice_work k = lattice_any_work(l, scratch, &plates);
    measured m;
    owners_of_lanes o;
    int from, until, first = (int)l->slab[slab].first, last = (int)l->slab[slab].last;
    own_planes(l, slab, &from, &until);
    measured_begin(&m, &o, step, slab, sums);
    if (step->regional) {
        lattice_plates_work of_velocities;
        const lattice_work kv = lattice_any_velocity_work(l, scratch, &of_velocities);
        FOR_SIZES(l, sweep_planes(step, first, last, from, until, &k, &kv, sizes, &o, &m, NULL))
    } else {
        FOR_SIZES(l, sweep_planes(step, first, last, from, until, &k, NULL, sizes, &o, &m, NULL))
    }
    measured_end(&m, &o);
}

void LMI_KERNEL(lattice_finish)(const lmi_lattice_step *step, uint32_t slab, float *scratch, lmi_lattice_sums *sums)
{
    const lmi_lattice *l = step->lattice;
    lattice_plates_work plates;
    lattice_work k = lattice_any_work(l, scratch, &plates);
    measured m;
    owners_of_lanes o;
    int from, until;
    own_planes(l, slab, &from, &until);
    measured_begin(&m, &o, step, slab, sums);
    for (int z = (int)l->slab[slab].first; z < (int)l->slab[slab].last; z++) {
        if (z < from || z >= until) {
            load_plane(step, (uint32_t)z, k.f[z % (2 * (int)l->width + 1)]);
            if (step->regional) {
                FOR_SIZES(l, integrate_at(step, z, &k, sizes, true, true, &o, &m, NULL))
            } else {
                FOR_SIZES(l, integrate_at(step, z, &k, sizes, true, false, &o, &m, NULL))
            }
        }
    }
    measured_end(&m, &o);
}

void LMI_KERNEL(lattice_pull)(const lmi_lattice_step *step, float *scratch, float *pull)
{
    const lmi_lattice *l = step->lattice;
    lattice_plates_work plates;
    lattice_work k = lattice_any_work(l, scratch, &plates);
    measured m;
    owners_of_lanes o;
    int planes = (int)l->plane_count;
    measured_begin(&m, &o, step, 0, NULL);
    /* Rarely called: one copy will do. */
    const lattice_sizes sizes = {lattice_width(l), lmi_lattice_run_stride(l), lmi_lattice_is_plated(l)};
    sweep_planes(step, 0, planes, 0, planes, &k, NULL, sizes, &o, &m, pull);
}

static void sweep_alone(lmi_lattice_body *lattice, float *scratch)
{
    for (uint32_t slab = 0; slab < lattice->shape.slab_count; slab++) {
        LMI_KERNEL(lattice_sweep)(&lattice->step, slab, scratch, lmi_lattice_sums_of(lattice, slab, false));
    }
    for (uint32_t slab = 0; slab < lattice->shape.slab_count; slab++) {
        LMI_KERNEL(lattice_finish)(&lattice->step, slab, scratch, lmi_lattice_sums_of(lattice, slab, true));
    }
}

/* The lattices of a batch: herds together, the others one after the other, but for those of many slabs (stages.c divides them
 * among threads) and overstretched or collapsed ones, which must be seen whole before they move. */
void LMI_KERNEL(sweep)(const lmi_step *step, lmi_batch *batch, lmi_scratch *scratch)
{
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        lmi_lattice_body *lattice = body->lattice;
        if (lattice) {
            lattice->herded = false;
            lattice->swept = !lmi_is_overstretched(step, body) && !lmi_lattice_is_collapsed(body);
            if (lattice->swept) {
                lmi_lattice_prepare(step, body);
                LMI_KERNEL(lattice_examples)(body, scratch->lattice);
            }
        }
    }
    if (batch->pieces) {
        return;
    }
    LMI_KERNEL(sweep_herds)(step, batch, scratch);
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_body *body = lmi_body_in_step(step->world, batch->bodies[n]);
        if (body->lattice && body->lattice->swept) {
            if (!body->lattice->herded) {
                sweep_alone(body->lattice, scratch->lattice);
            }
            lmi_lattice_conclude(body);
        }
    }
}
