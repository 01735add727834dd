/*
 * The sums of a lattice along one axis, in lanes; for sum_lattice.c and lattice_sweep.c.
 *
 * With k the offset of a tap along the axis, from -w to w:
 *
 *     S[f](j) = sum f(j + k)            D[f](j) = sum k f(j + k)
 *
 * Gather goes along z, then y, then x, and turns 3 channels into 6, 9 and 12:
 *
 *     z:  S, D          y:  SS, SD, DS          x:  SSS, SSD, SDS, DSS
 *
 * Scatter is the transpose and goes along x, then y, then z, 12 channels to 9, 6 and 3: with q where a region sends its own
 * particle and Tx, Ty, Tz the columns of its transform, a particle gets the sum of q - k T over its regions.
 *
 * In this order what has to wait for other planes is least: positions on the way in, 6 channels on the way out. Rivers and
 * James 2007, section 3.4, in the form of moments: their 9 + 3 channels of x x0^T cancel in single precision when the
 * lattice is large, and cost more.
 *
 * Every tap is added in the same order wherever a block is: S = f(j) + (f(j-1) + f(j+1)) + ..., D = (f(j+1) - f(j-1)) +
 * 2 (f(j+2) - f(j-2)) + ..., so nothing depends on how the lattice is divided among threads.
 */
#ifndef LMI_LATTICE_LANES_H
#define LMI_LATTICE_LANES_H

#include "base/lanes.h"
#include "lattice/lattice.h"

/* Into each copy for a width and stride that the compiler knows. In a compact build there is one copy for all. */
#ifdef LIMBER_COMPACT
#define LMI_INLINE static inline
#else
#define LMI_INLINE static LMI_ALWAYS_INLINE
#endif

/* The width, with what the compiler cannot know of it. */
LMI_INLINE int lattice_width(const lmi_lattice *l)
{
    if (l->width < 1 || l->width > LMI_LATTICE_MAX_WIDTH) {
        LMI_UNREACHABLE();
    }
    return (int)l->width;
}

/* Channels at a place, on the way: m~ u; gathered along z; scattered along x; scattered along x and y. All channels of a
 * place are side by side, so that one address leads to all of them. */
enum { LATTICE_F = 3, LATTICE_Z = 6, LATTICE_X = 9, LATTICE_XY = 6 };

/* Floats between the channels of a run. Runs up to this length (empty blocks at the ends included) have a distance known at
 * compile time; an odd number of cache lines, so that channels do not compete for the same ones. */
#define LATTICE_SHORT_RUN 17
#define LATTICE_SHORT_STRIDE (LATTICE_SHORT_RUN * LMI_BLOCK)

/* Buffers of one sweep; all in the worker's scratch. Planes are [place][channels][LMI_BLOCK], runs [channel][stride]. */
typedef struct lattice_work {
    float *f[2 * LMI_LATTICE_MAX_WIDTH + 1];         /* of the planes around the current one */
    float *scattered[2 * LMI_LATTICE_MAX_WIDTH + 1]; /* along x and y, of the planes around the current one */
    float *along_z;                                  /* of the current plane */
    float *along_x;                                  /* of the current plane, on the way back */
    float *along_y;                                  /* [9] of the current run */
    float *moments;                                  /* [12] of the current run */
    float *transforms;                               /* [12] of the current run */
    uint32_t length;                                 /* of the last run: the blocks beyond its ends are zero */
    const struct lattice_plates_work *plates;        /* of a lattice with plates, which has but f of the others */
} lattice_work;

/* What the compiler is to know: the width, the stride of runs, and that there are no plates. */
typedef struct lattice_sizes {
    int w;
    size_t run;
    bool plated;
} lattice_sizes;

LMI_INLINE void lattice_zero_block(float *to)
{
    for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
        vf_store(to + lane, vf_set1(0.0f));
    }
}

static inline lattice_work lattice_work_make(const lmi_lattice *l, float *scratch)
{
    lattice_work k;
    size_t plane = (size_t)l->most_places * LMI_BLOCK, run = lmi_lattice_run_stride(l);
    for (uint32_t n = 0; n < 2 * l->width + 1; n++) {
        k.f[n] = scratch;
        k.scattered[n] = k.f[n] + LATTICE_F * plane;
        scratch = k.scattered[n] + LATTICE_XY * plane;
        for (int c = 0; c < LATTICE_XY; c++) { /* place 0 is nothing */
            lattice_zero_block(k.scattered[n] + c * LMI_BLOCK);
            lattice_zero_block(k.f[n] + c % LATTICE_F * LMI_BLOCK);
        }
    }
    k.along_z = scratch;
    k.along_x = k.along_z + LATTICE_Z * plane;
    k.along_y = k.along_x + LATTICE_X * plane;
    k.moments = k.along_y + 9 * run;
    k.transforms = k.moments + 12 * run;
    for (int c = 0; c < LATTICE_X; c++) {
        lattice_zero_block(k.along_x + c * LMI_BLOCK);
        lattice_zero_block(k.along_z + c % LATTICE_Z * LMI_BLOCK);
    }
    for (size_t c = 0; c < 12; c++) {
        lattice_zero_block(k.along_y + c % 9 * run);
        lattice_zero_block(k.transforms + c * run);
    }
    k.length = 0;
    k.plates = NULL;
    return k;
}

/* Sums along x run into what is beyond the ends of a run: nothing. Before it is done the last run has left its blocks there.
 * `kv`: another gather along the same runs, or null. */
static inline void lattice_begin_run(const lmi_lattice_run *run, lattice_work *k, const lattice_work *kv, size_t stride)
{
    if (run->length == k->length) {
        return;
    }
    k->length = run->length;
    for (size_t c = 0; kv && c < 9; c++) {
        lattice_zero_block(kv->along_y + c * stride + (size_t)(run->length + 1) * LMI_BLOCK);
    }
    for (size_t c = 0; c < 12; c++) {
        lattice_zero_block(k->along_y + c % 9 * stride + (size_t)(run->length + 1) * LMI_BLOCK);
        lattice_zero_block(k->transforms + c * stride + (size_t)(run->length + 1) * LMI_BLOCK);
    }
}

/* Sum and moment of the channel `by` floats from the taps: `at[0]` (the middle), `at[1]` (-1), `at[2]` (+1), ... */
LMI_INLINE void lattice_taps(const float *const at[], const int w, size_t by, vf *sum, vf *moment)
{
    vf low = vf_load(at[1] + by), high = vf_load(at[2] + by);
    *sum = vf_load(at[0] + by) + (low + high);
    *moment = high - low;
    for (int k = 2; k <= w; k++) {
        low = vf_load(at[2 * k - 1] + by), high = vf_load(at[2 * k] + by);
        *sum = *sum + (low + high);
        *moment = *moment + vf_set1((float)k) * (high - low);
    }
}

LMI_INLINE vf lattice_sum(const float *const at[], const int w, size_t by)
{
    vf sum = vf_load(at[0] + by);
    for (int k = 1; k <= w; k++) {
        sum = sum + (vf_load(at[2 * k - 1] + by) + vf_load(at[2 * k] + by));
    }
    return sum;
}

/* From this width on sums along x are made from those of two, four, eight and sixteen taps side by side: T2(j) = f(j) + f(j + 1),
 * T4(j) = T2(j) + T2(j + 2), ... One shuffle for each doubling takes the place of one for each tap. The parts are taken from
 * the left, the longest first: with 11 taps T8(j - 5) + T2(j + 3) + f(j + 5). Moments are made tap by tap all the same:
 * about an end of so many taps they would cancel in bodies that are smaller. */
#define LATTICE_WIDE 4

/* The tap at offset k. */
LMI_INLINE vf lattice_tap(const float *const at[], int k, size_t by)
{
    return vf_load(at[k < 0 ? -2 * k - 1 : 2 * k] + by);
}

LMI_INLINE vf lattice_four(const float *const at[], int k, size_t by)
{
    return (lattice_tap(at, k, by) + lattice_tap(at, k + 1, by)) +
           (lattice_tap(at, k + 2, by) + lattice_tap(at, k + 3, by));
}

/* The sum along x as lattice_sum_x makes it from a run, of taps that may be anywhere. */
LMI_INLINE vf lattice_sum_like_x(const float *const at[], const int w, size_t by)
{
    if (w < LATTICE_WIDE) {
        return lattice_sum(at, w, by);
    }
    vf sum = lattice_four(at, -w, by) + lattice_four(at, 4 - w, by);
    int k = 8 - w;
    if (w == 8) {
        sum = sum + (lattice_four(at, 0, by) + lattice_four(at, 4, by));
    } else if (w & 2) {
        sum = sum + lattice_four(at, k, by);
        k += 4;
    }
    if (w & 1) {
        sum = sum + (lattice_tap(at, k, by) + lattice_tap(at, k + 1, by));
    }
    return sum + lattice_tap(at, w, by);
}

/* sum a - k b over the taps, of channels `a` and `b` floats from them. */
LMI_INLINE vf lattice_transposed(const float *const at[], const int w, size_t a, size_t b)
{
    vf sum = vf_load(at[0] + a);
    for (int k = 1; k <= w; k++) {
        const float *low = at[2 * k - 1], *high = at[2 * k];
        vf tilt = vf_load(high + b) - vf_load(low + b);
        if (k > 1) {
            tilt = vf_set1((float)k) * tilt;
        }
        sum = sum + ((vf_load(low + a) + vf_load(high + a)) - tilt);
    }
    return sum;
}

/* The taps of a place along y in one plane, and along z in several. `channels` are those of a place. */
LMI_INLINE void lattice_taps_y(const lmi_lattice *l, uint32_t first, uint32_t place, const float *plane,
                               const size_t channels, const int w, const float *at[])
{
    const uint32_t *link = l->along_y + (size_t)(first + place) * 2 * (size_t)w;
    at[0] = plane + (size_t)place * channels * LMI_BLOCK;
    for (int k = 0; k < 2 * w; k++) {
        at[k + 1] = plane + (size_t)link[k] * channels * LMI_BLOCK;
    }
}

LMI_INLINE void lattice_taps_z(const lmi_lattice *l, uint32_t first, uint32_t place, float *const planes[],
                               const size_t channels, const int w, const float *at[])
{
    const uint32_t *link = l->along_z + (size_t)(first + place) * 2 * (size_t)w;
    at[0] = planes[w] + (size_t)place * channels * LMI_BLOCK;
    for (int k = 1; k <= w; k++) {
        at[2 * k - 1] = planes[w - k] + (size_t)link[2 * k - 2] * channels * LMI_BLOCK;
        at[2 * k] = planes[w + k] + (size_t)link[2 * k - 1] * channels * LMI_BLOCK;
    }
}

/* The same three along x, from a run. */
LMI_INLINE void lattice_taps_x(const float *at, const int w, vf *sum, vf *moment)
{
    vf low = vf_near(at, -1), high = vf_near(at, 1);
    *sum = vf_load(at) + (low + high);
    *moment = high - low;
    for (int k = 2; k <= w; k++) {
        low = vf_near(at, -k), high = vf_near(at, k);
        *sum = *sum + (low + high);
        *moment = *moment + vf_set1((float)k) * (high - low);
    }
}

#if LMI_LANES == LMI_BLOCK

LMI_INLINE vf lattice_wide_sum_x(const float *at, const int w)
{
    vf middle = vf_load(at); /* `low` and `high`: 32 floats from j - w on */
    vf low = vf_shift(vf_load(at - LMI_BLOCK), middle, LMI_BLOCK - w);
    vf high = vf_shift(middle, vf_load(at + LMI_BLOCK), LMI_BLOCK - w);
    vf last = vf_shift(low, high, 2 * w);
    vf low2 = low + vf_shift(low, high, 1), high2 = high + vf_shift(high, high, 1);
    vf low4 = low2 + vf_shift(low2, high2, 2), high4 = high2 + vf_shift(high2, high2, 2);
    vf sum = low4 + vf_shift(low4, high4, 4);
    if (w == 8) {
        vf high8 = high4 + vf_shift(high4, high4, 4);
        return (sum + vf_shift(sum, high8, 8)) + last;
    }
    if (w & 2) {
        sum = sum + vf_shift(low4, high4, 8);
    }
    if (w & 1) {
        sum = sum + vf_shift(low2, high2, w & 2 ? 12 : 8);
    }
    return sum + last;
}

#else

LMI_INLINE vf lattice_four_x(const float *at, int k)
{
    return (vf_near(at, k) + vf_near(at, k + 1)) + (vf_near(at, k + 2) + vf_near(at, k + 3));
}

LMI_INLINE vf lattice_wide_sum_x(const float *at, const int w)
{
    vf sum = lattice_four_x(at, -w) + lattice_four_x(at, 4 - w);
    int k = 8 - w;
    if (w == 8) {
        sum = sum + (lattice_four_x(at, 0) + lattice_four_x(at, 4));
    } else if (w & 2) {
        sum = sum + lattice_four_x(at, k);
        k += 4;
    }
    if (w & 1) {
        sum = sum + (vf_near(at, k) + vf_near(at, k + 1));
    }
    return sum + vf_near(at, w);
}

#endif

LMI_INLINE vf lattice_sum_x(const float *at, const int w)
{
    if (w >= LATTICE_WIDE) {
        return lattice_wide_sum_x(at, w);
    }
    vf sum = vf_load(at);
    for (int k = 1; k <= w; k++) {
        sum = sum + (vf_near(at, -k) + vf_near(at, k));
    }
    return sum;
}

LMI_INLINE vf lattice_transposed_x(const float *a, const float *b, const int w)
{
    vf sum = vf_load(a);
    for (int k = 1; k <= w; k++) {
        vf tilt = vf_near(b, k) - vf_near(b, -k);
        if (k > 1) {
            tilt = vf_set1((float)k) * tilt;
        }
        sum = sum + ((vf_near(a, -k) + vf_near(a, k)) - tilt);
    }
    return sum;
}

/* Gather along z, of a run: 3 channels to S, D. `planes` are those around the current one. */
LMI_INLINE void lattice_gather_z(const lmi_lattice *l, uint32_t plane, const lmi_lattice_run *run,
                                 float *const planes[], const lattice_work *k, const lattice_sizes z)
{
    for (uint32_t n = run->first; n < run->first + run->length; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        lattice_taps_z(l, l->plane_place[plane], n, planes, LATTICE_F, z.w, at);
        float *out = k->along_z + (size_t)n * LATTICE_Z * LMI_BLOCK;
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            for (size_t c = 0; c < 3; c++) {
                vf sum, moment;
                lattice_taps(at, z.w, c * LMI_BLOCK + lane, &sum, &moment);
                vf_store(out + c * LMI_BLOCK + lane, sum);
                vf_store(out + (3 + c) * LMI_BLOCK + lane, moment);
            }
        }
    }
}

/* Gather along y, of a run: S, D to SS, SD, DS, in the run's own buffer. */
LMI_INLINE void lattice_gather_y(const lmi_lattice *l, uint32_t plane, const lmi_lattice_run *run,
                                 const lattice_work *k, const lattice_sizes z)
{
    for (uint32_t n = 0; n < run->length; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        lattice_taps_y(l, l->plane_place[plane], run->first + n, k->along_z, LATTICE_Z, z.w, at);
        float *out = k->along_y + (size_t)(n + 1) * LMI_BLOCK;
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            for (size_t c = 0; c < 3; c++) {
                vf sum, moment;
                lattice_taps(at, z.w, c * LMI_BLOCK + lane, &sum, &moment);
                vf_store(out + c * z.run + lane, sum);
                vf_store(out + (6 + c) * z.run + lane, moment);
                vf_store(out + (3 + c) * z.run + lane, lattice_sum(at, z.w, (3 + c) * LMI_BLOCK + lane));
            }
        }
    }
}

/* Gather along x, LMI_LANES regions from float n of the run's buffer on: SSS, SSD (z), SDS (y), DSS (x). */
LMI_INLINE void lattice_gather_x(const lattice_work *k, size_t n, const lattice_sizes z, vf out[12])
{
    const float *at = k->along_y + n;
    for (size_t c = 0; c < 9; c++) {
        if (c < 3) {
            lattice_taps_x(at + c * z.run, z.w, &out[c], &out[9 + c]);
        } else {
            out[c] = lattice_sum_x(at + c * z.run, z.w);
        }
    }
}

/* Scatter along x, of a run: q, Tx, Ty, Tz to (q - k Tx), Ty, Tz. */
LMI_INLINE void lattice_scatter_x(const lmi_lattice_run *run, const lattice_work *k, const lattice_sizes z)
{
    for (uint32_t n = 0; n < run->length; n++) {
        float *out = k->along_x + (size_t)(run->first + n) * LATTICE_X * LMI_BLOCK;
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            const float *at = k->transforms + (size_t)(n + 1) * LMI_BLOCK + lane;
            for (size_t c = 0; c < 3; c++) {
                const float *q = at + c * z.run;
                vf_store(out + c * LMI_BLOCK + lane, lattice_transposed_x(q, q + 3 * z.run, z.w));
                vf_store(out + (3 + c) * LMI_BLOCK + lane, lattice_sum_x(q + 6 * z.run, z.w));
                vf_store(out + (6 + c) * LMI_BLOCK + lane, lattice_sum_x(q + 9 * z.run, z.w));
            }
        }
    }
}

/* Scatter along y, of a run: to (q - k Tx - k Ty), Tz, in the buffer of its plane. */
LMI_INLINE void lattice_scatter_y(const lmi_lattice *l, uint32_t plane, const lmi_lattice_run *run,
                                  const lattice_work *k, const lattice_sizes z, float *to)
{
    for (uint32_t n = run->first; n < run->first + run->length; n++) {
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        lattice_taps_y(l, l->plane_place[plane], n, k->along_x, LATTICE_X, z.w, at);
        float *out = to + (size_t)n * LATTICE_XY * LMI_BLOCK;
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            for (size_t c = 0; c < 3; c++) {
                vf sum = lattice_transposed(at, z.w, c * LMI_BLOCK + lane, (3 + c) * LMI_BLOCK + lane);
                vf_store(out + c * LMI_BLOCK + lane, sum);
                vf_store(out + (3 + c) * LMI_BLOCK + lane, lattice_sum(at, z.w, (6 + c) * LMI_BLOCK + lane));
            }
        }
    }
}

/* Scatter along z: the sums of LMI_LANES particles from taps that lattice_taps_z found. */
LMI_INLINE void lattice_scatter_z(const float *const at[], size_t lane, const lattice_sizes z, vf out[3])
{
    for (size_t c = 0; c < 3; c++) {
        out[c] = lattice_transposed(at, z.w, c * LMI_BLOCK + lane, (3 + c) * LMI_BLOCK + lane);
    }
}

#endif
