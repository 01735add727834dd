/*
 * One match of a lattice, linearised at rest: gather, fit and scatter of lattice/lattice_lanes.h plane by plane in double
 * precision. Slow modes of a large lattice are a millionth of what single precision could see.
 *
 * With k the offset of a member from the region's own particle, c its mean and Q the rest moments about it, displacements
 * u have the moments L = sum m~ u k^T - (sum m~ u) c^T, and a region follows them by
 *
 *   rotation   [w] with (tr Q - Q) w = axial vector of L - L^T
 *   stretch    A = L Q^-1, less what changes the volume: A - (tr A / tr Q^-1) Q^-1
 *
 * T = share stretch + (1 - share) rotation, and the particle at k is wanted at mean + T (k - c).
 */
#include "lattice/lattice_match.h"
#include "base/compiler.h"
#include "lattice/lattice_plates.h"

#include <string.h>

#define B LMI_BLOCK

static size_t run_stride(const lmi_lattice *l) { return ((size_t)l->longest_run + 2) * B; }

/* --- gather --- */

static void gather_z(const lmi_lattice_match *m, const double *u, uint32_t plane)
{
    const lmi_lattice *l = m->lattice;
    uint32_t first = l->plane_place[plane], w = l->width;
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        const uint32_t *link = l->along_z + (size_t)(first + place) * 2 * w;
        double *out = m->along_z + (size_t)place * 6 * B;
        memset(out, 0, 6 * B * sizeof *out);
        for (uint32_t n = 0; n <= 2 * w; n++) {
            int32_t k = n == 0 ? 0 : n % 2 ? -(int32_t)(n + 1) / 2 : (int32_t)n / 2;
            if (n > 0 && link[n - 1] == 0) {
                continue;
            }
            uint32_t other = n == 0 ? first + place : l->plane_place[(int32_t)plane + k] + link[n - 1];
            const double *from = u + (size_t)l->block[other] * 3 * B,
                         *weight = m->weights + (size_t)l->block[other] * B;
            for (int c = 0; c < 3; c++) {
                for (int lane = 0; lane < B; lane++) {
                    double value = from[c * B + lane] * weight[lane];
                    out[c * B + lane] += value;
                    out[(3 + c) * B + lane] += k * value;
                }
            }
        }
    }
}

static void gather_y(const lmi_lattice_match *m, uint32_t plane, const lmi_lattice_run *run)
{
    const lmi_lattice *l = m->lattice;
    size_t stride = run_stride(l);
    uint32_t w = l->width;
    for (int c = 0; c < 9; c++) { /* nothing beyond the ends */
        memset(m->along_y + (size_t)c * stride, 0, ((size_t)run->length + 2) * B * sizeof *m->along_y);
    }
    for (uint32_t n = 0; n < run->length; n++) {
        const uint32_t *link = l->along_y + (size_t)(l->plane_place[plane] + run->first + n) * 2 * w;
        double *out = m->along_y + (size_t)(n + 1) * B;
        for (uint32_t t = 0; t <= 2 * w; t++) {
            int32_t k = t == 0 ? 0 : t % 2 ? -(int32_t)(t + 1) / 2 : (int32_t)t / 2;
            uint32_t place = t == 0 ? run->first + n : link[t - 1];
            const double *from = m->along_z + (size_t)place * 6 * B;
            for (size_t c = 0; place && c < 3; c++) {
                for (size_t lane = 0; lane < B; lane++) {
                    out[c * stride + lane] += from[c * B + lane];
                    out[(3 + c) * stride + lane] += from[(3 + c) * B + lane];
                    out[(6 + c) * stride + lane] += k * from[c * B + lane];
                }
            }
        }
    }
}

/* The 12 moments of a block of a run: sum m~ u, then along z, y, x. */
static void gather_x(const lmi_lattice_match *m, uint32_t n, double *out)
{
    size_t stride = run_stride(m->lattice);
    int w = (int)m->lattice->width;
    memset(out, 0, 12 * B * sizeof *out);
    for (int k = -w; k <= w; k++) {
        const double *from = m->along_y + (size_t)(n + 1) * B + k;
        for (size_t c = 0; c < 9; c++) {
            for (size_t lane = 0; lane < B; lane++) {
                out[c * B + lane] += from[c * stride + lane];
            }
        }
        for (size_t c = 0; c < 3; c++) {
            for (size_t lane = 0; lane < B; lane++) {
                out[(9 + c) * B + lane] += k * from[c * stride + lane];
            }
        }
    }
}

/* --- fit --- */

/* The inverse of a symmetric matrix, xx yy zz xy yz zx. */
static void invert(const double a[6], double out[6])
{
    double c0 = a[1] * a[2] - a[4] * a[4], c3 = a[5] * a[4] - a[3] * a[2], c5 = a[3] * a[4] - a[5] * a[1];
    double by = 1.0 / (a[0] * c0 + a[3] * c3 + a[5] * c5);
    out[0] = c0 * by;
    out[1] = (a[0] * a[2] - a[5] * a[5]) * by;
    out[2] = (a[0] * a[1] - a[3] * a[3]) * by;
    out[3] = c3 * by;
    out[4] = (a[3] * a[5] - a[0] * a[4]) * by;
    out[5] = c5 * by;
}

static void multiply(const double six[6], const double v[3], double out[3])
{
    out[0] = six[0] * v[0] + six[3] * v[1] + six[5] * v[2];
    out[1] = six[3] * v[0] + six[1] * v[1] + six[4] * v[2];
    out[2] = six[5] * v[0] + six[4] * v[1] + six[2] * v[2];
}

/* One lane: 12 moments to q and the columns of T, in place. */
static void fit(const double *raw, double share, double *m)
{
    double mass = raw[LMI_LATTICE_RAW_MASS * B], rho = raw[LMI_LATTICE_RAW_RHO * B];
    if (!(mass > 0.0) || rho == 0.0) {
        for (int i = 0; i < 12; i++) {
            m[i * B] = 0.0;
        }
        return;
    }
    double centre[3], q[6], inertia[6], solved[6], inverse[6], l[3][3], t[3][3];
    for (int a = 0; a < 3; a++) {
        centre[a] = raw[(LMI_LATTICE_RAW_FIRST + a) * B] / mass;
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3;
        q[a] = raw[(LMI_LATTICE_RAW_SECOND + a) * B] - mass * centre[a] * centre[a];
        q[3 + a] = raw[(LMI_LATTICE_RAW_SECOND + 3 + a) * B] - mass * centre[a] * centre[b];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            l[i][j] = m[(9 - 3 * j + i) * B] - m[i * B] * centre[j];
        }
        inertia[i] = q[0] + q[1] + q[2] - q[i];
        inertia[3 + i] = -q[3 + i];
    }
    double axial[3] = {l[2][1] - l[1][2], l[0][2] - l[2][0], l[1][0] - l[0][1]}, w[3];
    invert(inertia, solved);
    multiply(solved, axial, w);
    double rotation[3][3] = {{0.0, -w[2], w[1]}, {w[2], 0.0, -w[0]}, {-w[1], w[0], 0.0}};
    invert(q, inverse);
    double full[3][3] = {{inverse[0], inverse[3], inverse[5]},
                         {inverse[3], inverse[1], inverse[4]},
                         {inverse[5], inverse[4], inverse[2]}};
    double trace = 0.0;
    for (int i = 0; i < 3; i++) {
        multiply(inverse, l[i], t[i]);
        trace += t[i][i];
    }
    double swell = trace / (inverse[0] + inverse[1] + inverse[2]);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            t[i][j] = rho * (share * (t[i][j] - swell * full[i][j]) + (1.0 - share) * rotation[i][j]);
        }
    }
    for (int i = 0; i < 3; i++) {
        m[i * B] = rho * m[i * B] / mass - (t[i][0] * centre[0] + t[i][1] * centre[1] + t[i][2] * centre[2]);
        for (int j = 0; j < 3; j++) {
            m[(3 + 3 * j + i) * B] = t[i][j];
        }
    }
}

/* --- irregular regions --- */

/* What the moments of a plane's irregular regions lack, into `irregular`. */
static void list_moments(const lmi_lattice_match *m, const double *u, uint32_t plane)
{
    const lmi_lattice_lists *lists = &m->lattice->gather;
    for (uint32_t n = lists->plane_group[plane] * B; n < lists->plane_group[plane + 1] * B; n++) {
        if (lists->who[n] == LMI_LATTICE_NONE) {
            continue;
        }
        double *to = m->irregular + (size_t)lists->who[n] * 12;
        memset(to, 0, 12 * sizeof *to);
        for (uint32_t row = lists->group_row[n / B]; row < lists->group_row[n / B + 1]; row++) {
            const float *at = lists->offset + (size_t)row * 4 * B + n % B;
            uint32_t member = lists->member[(size_t)row * B + n % B];
            double weight = at[3 * B] * m->weights[member];
            for (int i = 0; at[3 * B] != 0.0f && i < 3; i++) {
                double p = weight * u[(size_t)(member / B) * 3 * B + (size_t)(i * B) + member % B];
                to[i] += p;
                to[3 + i] += p * at[2 * B];
                to[6 + i] += p * at[B];
                to[9 + i] += p * at[0];
            }
        }
    }
}

/* Puts the moments of a block's irregular regions right. `next` goes through the owners of the plane. */
static void correct_moments(const lmi_lattice_match *m, uint32_t block, uint32_t next, uint32_t end, double *moments)
{
    const lmi_lattice *l = m->lattice;
    for (; next < end && l->gather.owner[next] / B == block; next++) {
        double *at = moments + l->gather.owner[next] % B;
        for (int i = 0; i < 12; i++) {
            at[i * B] = (l->direct[next] ? 0.0 : at[i * B]) + m->irregular[(size_t)next * 12 + (size_t)i];
        }
    }
}

/* Keeps the transforms of a block's irregular regions, and takes direct ones out of the sums; returns the next owner. */
static uint32_t keep_transforms(const lmi_lattice_match *m, uint32_t block, uint32_t next, uint32_t end,
                                double *transforms)
{
    const lmi_lattice *l = m->lattice;
    for (; next < end && l->gather.owner[next] / B == block; next++) {
        double *at = transforms + l->gather.owner[next] % B;
        for (int i = 0; i < 12; i++) {
            m->irregular[(size_t)next * 12 + (size_t)i] = at[i * B];
            at[i * B] = l->direct[next] ? 0.0 : at[i * B];
        }
    }
    return next;
}

/* Puts the sums of a plane's particles right that irregular regions concern; `sums` are laid out as displacements. */
static void correct_sums(const lmi_lattice_match *m, uint32_t plane, double *sums)
{
    const lmi_lattice_lists *lists = &m->lattice->scatter;
    for (uint32_t n = lists->plane_group[plane] * B; n < lists->plane_group[plane + 1] * B; n++) {
        if (lists->who[n] == LMI_LATTICE_NONE) {
            continue;
        }
        uint32_t particle = lists->owner[lists->who[n]];
        double *to = sums + (size_t)(particle / B) * 3 * B + particle % B;
        for (int i = 0; m->lattice->listed[lists->who[n]] && i < 3; i++) {
            to[i * B] = 0.0;
        }
        for (uint32_t row = lists->group_row[n / B]; row < lists->group_row[n / B + 1]; row++) {
            const float *at = lists->offset + (size_t)row * 4 * B + n % B;
            const double *t = m->irregular + (size_t)lists->member[(size_t)row * B + n % B] * 12;
            for (int i = 0; at[3 * B] != 0.0f && i < 3; i++) {
                to[i * B] += at[3 * B] * (t[i] + t[3 + i] * at[0] + t[6 + i] * at[B] + t[9 + i] * at[2 * B]);
            }
        }
    }
}

/* --- scatter --- */

static void scatter_x(const lmi_lattice_match *m, const lmi_lattice_run *run)
{
    size_t stride = run_stride(m->lattice);
    int w = (int)m->lattice->width;
    for (uint32_t n = 0; n < run->length; n++) {
        double *out = m->along_x + (size_t)(run->first + n) * 9 * B;
        memset(out, 0, 9 * B * sizeof *out);
        for (int k = -w; k <= w; k++) {
            const double *from = m->transform + (size_t)(n + 1) * B + k;
            for (size_t c = 0; c < 3; c++) {
                for (size_t lane = 0; lane < B; lane++) { /* q - k Tx, Ty, Tz */
                    out[c * B + lane] += from[c * stride + lane] - k * from[(3 + c) * stride + lane];
                    out[(3 + c) * B + lane] += from[(6 + c) * stride + lane];
                    out[(6 + c) * B + lane] += from[(9 + c) * stride + lane];
                }
            }
        }
    }
}

static void scatter_y(const lmi_lattice_match *m, uint32_t plane)
{
    const lmi_lattice *l = m->lattice;
    uint32_t first = l->plane_place[plane], w = l->width;
    double *to = m->scattered + (size_t)(plane % (2 * w + 1)) * l->most_places * 6 * B;
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        const uint32_t *link = l->along_y + (size_t)(first + place) * 2 * w;
        double *out = to + (size_t)place * 6 * B;
        memset(out, 0, 6 * B * sizeof *out);
        for (uint32_t t = 0; t <= 2 * w; t++) {
            int32_t k = t == 0 ? 0 : t % 2 ? -(int32_t)(t + 1) / 2 : (int32_t)t / 2;
            uint32_t other = t == 0 ? place : link[t - 1];
            const double *from = m->along_x + (size_t)other * 9 * B;
            for (size_t c = 0; other && c < 3; c++) {
                for (size_t lane = 0; lane < B; lane++) {
                    out[c * B + lane] += from[c * B + lane] - k * from[(3 + c) * B + lane];
                    out[(3 + c) * B + lane] += from[(6 + c) * B + lane];
                }
            }
        }
    }
}

static void scatter_z(const lmi_lattice_match *m, uint32_t plane, uint32_t place, double *out)
{
    const lmi_lattice *l = m->lattice;
    uint32_t first = l->plane_place[plane], w = l->width;
    const uint32_t *link = l->along_z + (size_t)(first + place) * 2 * w;
    memset(out, 0, 3 * B * sizeof *out);
    for (uint32_t t = 0; t <= 2 * w; t++) {
        int32_t k = t == 0 ? 0 : t % 2 ? -(int32_t)(t + 1) / 2 : (int32_t)t / 2;
        uint32_t other = t == 0 ? place : link[t - 1];
        if (other == 0) {
            continue;
        }
        size_t ring = (size_t)((int32_t)plane + k) % (2 * w + 1);
        const double *from = m->scattered + (ring * l->most_places + other) * 6 * B;
        for (int i = 0; i < 3 * B; i++) {
            out[i] += from[i] - k * from[3 * B + i];
        }
    }
}

/* --- all of it --- */

static void match_plane(const lmi_lattice_match *m, const double *u, uint32_t z)
{
    const lmi_lattice *l = m->lattice;
    size_t stride = run_stride(l);
    uint32_t next = l->gather.plane_owner[z], end = l->gather.plane_owner[z + 1];
    list_moments(m, u, z);
    gather_z(m, u, z);
    for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
        const lmi_lattice_run *run = &l->run[r];
        gather_y(m, z, run);
        for (size_t c = 0; c < 12; c++) {
            memset(m->transform + c * stride, 0, ((size_t)run->length + 2) * B * sizeof *m->transform);
        }
        for (uint32_t n = 0; n < run->length; n++) {
            uint32_t block = l->block[l->plane_place[z] + run->first + n];
            double moments[12 * B];
            if (block == l->block_count) {
                continue;
            }
            gather_x(m, n, moments);
            correct_moments(m, block, next, end, moments);
            for (int lane = 0; lane < B; lane++) {
                fit(m->raw + (size_t)block * LMI_LATTICE_RAW * B + lane, m->share, moments + lane);
            }
            next = keep_transforms(m, block, next, end, moments);
            for (size_t c = 0; c < 12; c++) {
                memcpy(m->transform + c * stride + (size_t)(n + 1) * B, moments + c * B, B * sizeof *moments);
            }
        }
        scatter_x(m, run);
    }
    scatter_y(m, z);
}

/* Sums over the regions of a block's particles become u less their mean. */
static void less_mean(const lmi_lattice_match *m, const double *u, uint32_t block, double *to)
{
    const double *raw = m->raw + (size_t)block * LMI_LATTICE_RAW * B;
    for (int n = 0; n < 3 * B; n++) {
        double share = raw[LMI_LATTICE_RAW_SHARE * B + n % B];
        double hold = raw[LMI_LATTICE_RAW_HOLD * B + n % B] * m->weights[(size_t)block * B + (size_t)(n % B)];
        double *at = &to[(size_t)block * 3 * B + (size_t)n];
        *at = hold * u[(size_t)block * 3 * B + (size_t)n] - share * *at;
    }
}

static void collect_plane(const lmi_lattice_match *m, const double *u, uint32_t z, double *to)
{
    const lmi_lattice *l = m->lattice;
    for (uint32_t place = 1; l->plane_place[z] + place < l->plane_place[z + 1]; place++) {
        uint32_t block = l->block[l->plane_place[z] + place];
        if (block < l->block_count) {
            scatter_z(m, z, place, to + (size_t)block * 3 * B);
        }
    }
    correct_sums(m, z, to);
    for (uint32_t block = l->plane_block[z]; block < l->plane_block[z + 1]; block++) {
        less_mean(m, u, block, to);
    }
}

/* --- by plates --- */

/* What fills a leaf: the match and the displacements. */
typedef struct leaf_source {
    const lmi_lattice_match *match;
    const double *u;
} leaf_source;

/* m~ u, and that times x and y. */
static void moment_leaf(const void *context, uint32_t particle, double x, double y, double *record)
{
    const leaf_source *from = context;
    const double *u = from->u + (size_t)(particle / B) * 3 * B + particle % B;
    for (int i = 0; i < 3; i++) {
        record[i] = from->match->weights[particle] * u[i * B];
        record[3 + i] = record[i] * x;
        record[6 + i] = record[i] * y;
        record[9 + i] = 0.0;
    }
}

/* q where the middle of the tile would be, and T. */
static void transform_leaf(const void *context, uint32_t particle, double x, double y, double *record)
{
    const leaf_source *from = context;
    const double *t = from->match->fitted + (size_t)(particle / B) * 12 * B + particle % B;
    for (int i = 0; i < 12; i++) {
        record[i] = t[i * B];
    }
    for (int i = 0; i < 3; i++) {
        record[i] -= t[(3 + i) * B] * x + t[(6 + i) * B] * y;
    }
}

/* The plates of a region on top of each other: their sum, and the sum of three channels times how far up they are. */
static void sum_stack(const lmi_lattice_match *m, const lmi_lattice_stack *stack, uint32_t plane, int channel,
                      double sum[12], double along_z[3])
{
    memset(sum, 0, 12 * sizeof *sum);
    memset(along_z, 0, 3 * sizeof *along_z);
    for (uint32_t n = 0; n < stack->count; n++) {
        int32_t up;
        const double *plate = lmi_lattice_plate_of(m->lattice, stack, n, plane, m->plates, 12, &up);
        for (int i = 0; i < 12; i++) {
            sum[i] += plate[i];
        }
        for (int i = 0; i < 3; i++) {
            along_z[i] += up * plate[channel + i];
        }
    }
}

/* Moments and transforms of all regions. */
static void fit_by_plates(const lmi_lattice_match *m)
{
    const lmi_lattice *l = m->lattice;
    const lmi_lattice_stack *stack = l->plates.stack;
    for (uint32_t block = 0; block < l->block_count; block++) {
        for (uint32_t left = l->occupied[block]; left; left &= left - 1, stack++) {
            int32_t lane = lmi_low_bit(left);
            double sum[12], z[3], x = lmi_lattice_tile_x(l, lane), y = lmi_lattice_tile_y(l, block);
            double *to = m->fitted + (size_t)block * 12 * B + lane;
            sum_stack(m, stack, (uint32_t)l->at[block][2], 0, sum, z);
            for (int i = 0; i < 3; i++) {
                to[i * B] = sum[i];
                to[(3 + i) * B] = z[i];
                to[(6 + i) * B] = sum[6 + i] - y * sum[i];
                to[(9 + i) * B] = sum[3 + i] - x * sum[i];
            }
            fit(m->raw + (size_t)block * LMI_LATTICE_RAW * B + lane, m->share, to);
        }
    }
}

/* u less the mean of what its regions want, for every particle. */
static void collect_by_plates(const lmi_lattice_match *m, const double *u, double *to)
{
    const lmi_lattice *l = m->lattice;
    const lmi_lattice_stack *stack = l->plates.stack;
    memset(to, 0, ((size_t)l->block_count + 1) * 3 * B * sizeof *to);
    for (uint32_t block = 0; block < l->block_count; block++) {
        for (uint32_t left = l->occupied[block]; left; left &= left - 1, stack++) {
            int32_t lane = lmi_low_bit(left);
            double sum[12], z[3], x = lmi_lattice_tile_x(l, lane), y = lmi_lattice_tile_y(l, block);
            size_t at = (size_t)block * 3 * B + (size_t)lane;
            sum_stack(m, stack, (uint32_t)l->at[block][2], 9, sum, z);
            for (size_t i = 0; i < 3; i++) {
                to[at + i * B] = sum[i] + sum[3 + i] * x + sum[6 + i] * y - z[i];
            }
        }
    }
    for (uint32_t block = 0; block < l->block_count; block++) {
        less_mean(m, u, block, to);
    }
}

static void apply_by_plates(const lmi_lattice_match *m, const double *u, double *to)
{
    const leaf_source from = {m, u};
    lmi_lattice_plates_sum(m->lattice, 12, moment_leaf, &from, m->records, m->plates);
    fit_by_plates(m);
    lmi_lattice_plates_sum(m->lattice, 12, transform_leaf, &from, m->records, m->plates);
    collect_by_plates(m, u, to);
}

/* --- either --- */

void lmi_lattice_match_apply(const lmi_lattice_match *m, const double *u, double *to)
{
    uint32_t planes = m->lattice->plane_count, w = m->lattice->width;
    if (lmi_lattice_is_plated(m->lattice)) {
        apply_by_plates(m, u, to);
        return;
    }
    for (uint32_t z = 0; z < planes + w; z++) {
        if (z < planes) {
            match_plane(m, u, z);
        }
        if (z >= w) {
            collect_plane(m, u, z - w, to);
        }
    }
    memset(to + (size_t)m->lattice->block_count * 3 * B, 0, 3 * B * sizeof *to);
}

bool lmi_lattice_match_make(lmi_memory *memory, const lmi_lattice *l, const double *weights, const float *stiffness,
                            double share, lmi_lattice_match *m)
{
    size_t places = (size_t)l->most_places * B, ring = 2 * (size_t)l->width + 1;
    memset(m, 0, sizeof *m);
    m->lattice = l;
    m->weights = weights;
    m->share = share;
    m->raw = lmi_lattice_raw(memory, l, weights, stiffness);
    if (lmi_lattice_is_plated(l)) {
        m->records = lmi_allocate(memory, 12 * (size_t)l->plates.most_records, sizeof(double));
        m->plates = lmi_allocate(memory, 12 * (size_t)l->plates.plate_count, sizeof(double));
        m->fitted = lmi_allocate(memory, (size_t)l->block_count * 12 * B, sizeof(double));
        return m->raw && m->records && m->plates && m->fitted;
    }
    m->along_z = lmi_allocate(memory, 6 * places, sizeof(double));
    m->along_y = lmi_allocate(memory, 9 * run_stride(l), sizeof(double));
    m->transform = lmi_allocate(memory, 12 * run_stride(l), sizeof(double));
    m->along_x = lmi_allocate(memory, 9 * places, sizeof(double));
    m->scattered = lmi_allocate(memory, 6 * ring * places, sizeof(double));
    m->irregular = lmi_allocate(memory, 12 * ((size_t)l->irregular_count + 1), sizeof(double));
    return m->raw && m->along_z && m->along_y && m->transform && m->along_x && m->scattered && m->irregular;
}

void lmi_lattice_match_free(lmi_memory *memory, lmi_lattice_match *m)
{
    const lmi_lattice *l = m->lattice;
    if (!l) {
        return;
    }
    size_t places = (size_t)l->most_places * B, ring = 2 * (size_t)l->width + 1;
    lmi_lattice_raw_free(memory, l, m->raw);
    lmi_release(memory, m->records, 12 * (size_t)l->plates.most_records, sizeof(double));
    lmi_release(memory, m->plates, 12 * (size_t)l->plates.plate_count, sizeof(double));
    lmi_release(memory, m->fitted, (size_t)l->block_count * 12 * B, sizeof(double));
    lmi_release(memory, m->along_z, 6 * places, sizeof(double));
    lmi_release(memory, m->along_y, 9 * run_stride(l), sizeof(double));
    lmi_release(memory, m->transform, 12 * run_stride(l), sizeof(double));
    lmi_release(memory, m->along_x, 9 * places, sizeof(double));
    lmi_release(memory, m->scattered, 6 * ring * places, sizeof(double));
    lmi_release(memory, m->irregular, 12 * ((size_t)l->irregular_count + 1), sizeof(double));
    memset(m, 0, sizeof *m);
}
