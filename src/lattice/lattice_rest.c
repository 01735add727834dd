/*
 * The rest constants of a lattice's regions, by the same sums along z, y and x that a step uses, in double precision.
 *
 * With k the offset of a member from the region's own particle, in spacings:
 *
 *   M = sum m~,   centre = sum m~ k / M,   Q = sum m~ k k^T - M centre centre^T
 *
 * Inside a body all regions are alike, so blocks with the same sums share their constants: what a step reads of them stays
 * in the cache.
 */
#include "base/compiler.h"
#include "base/dmath.h"
#include "base/hash.h"
#include "base/vec.h"
#include "lattice/lattice_plates.h"

#include <math.h>
#include <string.h>

/* The sums over a plane on the way. */
typedef struct sums {
    const lmi_lattice *l;
    double *z; /* [3][places][LMI_BLOCK]: 1, k, k² along z */
    double *y; /* [6][longest run + 2][LMI_BLOCK]: yz of 1: 1, k, k²; of k: 1, k; of k²: 1 */
    size_t z_stride, y_stride;
} sums;

static void sum_along_z(sums *s, const double *weights, uint32_t plane)
{
    const lmi_lattice *l = s->l;
    uint32_t first = l->plane_place[plane], w = l->width;
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        const uint32_t *link = l->along_z + (size_t)(first + place) * 2 * w;
        const double *here = weights + (size_t)l->block[first + place] * LMI_BLOCK;
        double *out = s->z + (size_t)place * LMI_BLOCK;
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            double sum[3] = {here[lane], 0.0, 0.0};
            for (uint32_t n = 0; n < 2 * w; n++) {
                int32_t k = n % 2 ? (int32_t)(n / 2) + 1 : -(int32_t)(n / 2) - 1;
                if (link[n]) {
                    uint32_t other = l->plane_place[(int32_t)plane + k] + link[n];
                    double value = weights[(size_t)l->block[other] * LMI_BLOCK + lane];
                    sum[0] += value, sum[1] += k * value, sum[2] += (double)(k * k) * value;
                }
            }
            for (int i = 0; i < 3; i++) {
                out[(size_t)i * s->z_stride + lane] = sum[i];
            }
        }
    }
}

static void sum_along_y(sums *s, uint32_t plane, const lmi_lattice_run *run)
{
    const lmi_lattice *l = s->l;
    uint32_t w = l->width;
    for (uint32_t n = 0; n < run->length; n++) {
        const uint32_t *link = l->along_y + (size_t)(l->plane_place[plane] + run->first + n) * 2 * w;
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            double sum[6] = {0.0};
            for (uint32_t m = 0; m <= 2 * w; m++) {
                int32_t k = m == 0 ? 0 : m % 2 ? -(int32_t)(m + 1) / 2 : (int32_t)m / 2;
                uint32_t place = m == 0 ? run->first + n : link[m - 1];
                const double *at = s->z + (size_t)place * LMI_BLOCK + lane;
                if (place) {
                    double one = at[0], first = at[s->z_stride], second = at[2 * s->z_stride];
                    sum[0] += one, sum[1] += k * one, sum[2] += (double)(k * k) * one;
                    sum[3] += first, sum[4] += k * first, sum[5] += second;
                }
            }
            for (int i = 0; i < 6; i++) {
                s->y[(size_t)i * s->y_stride + (size_t)(n + 1) * LMI_BLOCK + lane] = sum[i];
            }
        }
    }
    for (int i = 0; i < 6; i++) { /* nothing beyond the ends */
        double *row = s->y + (size_t)i * s->y_stride;
        memset(row, 0, LMI_BLOCK * sizeof *row);
        memset(row + (size_t)(run->length + 1) * LMI_BLOCK, 0, LMI_BLOCK * sizeof *row);
    }
}

/* The raw sums of block n of a run, [LMI_LATTICE_RAW][LMI_BLOCK]. */
static void sum_along_x(const sums *s, uint32_t n, double *raw)
{
    int32_t w = (int32_t)s->l->width;
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        double sum[10] = {0.0};
        const double *at = s->y + (size_t)(n + 1) * LMI_BLOCK + lane;
        for (int32_t k = -w; k <= w; k++) {
            double v[6];
            for (int i = 0; i < 6; i++) {
                v[i] = at[(ptrdiff_t)((size_t)i * s->y_stride) + k];
            }
            sum[LMI_LATTICE_RAW_MASS] += v[0];
            sum[LMI_LATTICE_RAW_FIRST] += k * v[0], sum[LMI_LATTICE_RAW_FIRST + 1] += v[1],
                sum[LMI_LATTICE_RAW_FIRST + 2] += v[3];
            sum[LMI_LATTICE_RAW_SECOND] += (double)(k * k) * v[0], sum[LMI_LATTICE_RAW_SECOND + 1] += v[2],
                sum[LMI_LATTICE_RAW_SECOND + 2] += v[5];
            sum[LMI_LATTICE_RAW_SECOND + 3] += k * v[1], sum[LMI_LATTICE_RAW_SECOND + 4] += v[4],
                sum[LMI_LATTICE_RAW_SECOND + 5] += k * v[3];
        }
        for (int i = 0; i < 10; i++) {
            raw[(size_t)i * LMI_BLOCK + lane] = sum[i];
        }
    }
}

/* Where the raw sums of a block are: at its number, or where `slot` says; LMI_LATTICE_NONE: not wanted. */
static uint32_t slot_of(const uint32_t *slot, uint32_t block) { return slot ? slot[block] : block; }

/* Adds a member with weight m~ at offset k. */
static void add_member(double *raw, double weight, const double k[3])
{
    raw[LMI_LATTICE_RAW_MASS * LMI_BLOCK] += weight;
    for (int a = 0; a < 3; a++) {
        raw[(LMI_LATTICE_RAW_FIRST + a) * LMI_BLOCK] += weight * k[a];
        raw[(LMI_LATTICE_RAW_SECOND + a) * LMI_BLOCK] += weight * k[a] * k[a];
        raw[(LMI_LATTICE_RAW_SECOND + 3 + a) * LMI_BLOCK] += weight * k[a] * k[(a + 1) % 3];
    }
}

/* Puts the raw sums of irregular regions right. */
static void correct_irregular(const lmi_lattice *l, const double *weights, const uint32_t *slot, double *raw)
{
    const lmi_lattice_lists *lists = &l->gather;
    for (uint32_t group = 0; group < lists->group_count; group++) {
        for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
            uint32_t owner = lists->who[group * LMI_BLOCK + lane];
            if (owner == LMI_LATTICE_NONE) {
                continue;
            }
            uint32_t particle = lists->owner[owner], at_slot = slot_of(slot, particle / LMI_BLOCK);
            if (at_slot == LMI_LATTICE_NONE) {
                continue;
            }
            double *to = raw + (size_t)at_slot * LMI_LATTICE_RAW * LMI_BLOCK + particle % LMI_BLOCK;
            for (int i = 0; l->direct[owner] && i < LMI_LATTICE_RAW_RHO; i++) {
                to[i * LMI_BLOCK] = 0.0;
            }
            for (uint32_t row = lists->group_row[group]; row < lists->group_row[group + 1]; row++) {
                const float *at = lists->offset + (size_t)row * 4 * LMI_BLOCK + lane;
                double k[3] = {at[0], at[LMI_BLOCK], at[2 * LMI_BLOCK]}, sign = at[3 * LMI_BLOCK];
                if (sign != 0.0) {
                    add_member(to, sign * weights[lists->member[row * LMI_BLOCK + lane]], k);
                }
            }
        }
    }
}

/* --- by plates --- */

enum { PLATE_MASS, PLATE_X, PLATE_Y, PLATE_XX, PLATE_YY, PLATE_XY, PLATE_CHANNELS };

static void weight_leaf(const void *context, uint32_t particle, double x, double y, double *record)
{
    double weight = ((const double *)context)[particle];
    record[PLATE_MASS] = weight;
    record[PLATE_X] = weight * x;
    record[PLATE_Y] = weight * y;
    record[PLATE_XX] = weight * x * x;
    record[PLATE_YY] = weight * y * y;
    record[PLATE_XY] = weight * x * y;
}

/* To a multiple of a unit that is small beside the mass: plates are added in an order that depends on where a region is, and
 * regions that are alike shall have the same sums to the bit. */
static double rounded(double value, double unit) { return floor(value / unit + 0.5) * unit; }

static void round_sums(double *raw)
{
    int exponent;
    frexp(raw[LMI_LATTICE_RAW_MASS * LMI_BLOCK], &exponent);
    double unit = ldexp(1.0, exponent - 40);
    for (int i = 0; i < LMI_LATTICE_RAW_RHO; i++) {
        double *at = raw + i * LMI_BLOCK;
        *at = rounded(*at, i < LMI_LATTICE_RAW_FIRST ? unit : i < LMI_LATTICE_RAW_SECOND ? 8.0 * unit : 64.0 * unit);
    }
}

/* One region; (x, y) is its own particle from the middle of its tile. */
static void sum_stack(const lmi_lattice *l, const lmi_lattice_stack *stack, const double *plates, uint32_t plane,
                      double x, double y, double *raw)
{
    double s[PLATE_CHANNELS] = {0.0}, z = 0.0, zz = 0.0, yz = 0.0, zx = 0.0;
    for (uint32_t n = 0; n < stack->count; n++) {
        int32_t up;
        const double *plate = lmi_lattice_plate_of(l, stack, n, plane, plates, PLATE_CHANNELS, &up);
        for (int i = 0; i < PLATE_CHANNELS; i++) {
            s[i] += plate[i];
        }
        z += up * plate[PLATE_MASS];
        zz += (double)(up * up) * plate[PLATE_MASS];
        zx += up * plate[PLATE_X];
        yz += up * plate[PLATE_Y];
    }
    const double m = s[PLATE_MASS];
    const double own[LMI_LATTICE_RAW_RHO] = {m,
                                             s[PLATE_X] - x * m,
                                             s[PLATE_Y] - y * m,
                                             z,
                                             s[PLATE_XX] - 2.0 * x * s[PLATE_X] + x * x * m,
                                             s[PLATE_YY] - 2.0 * y * s[PLATE_Y] + y * y * m,
                                             zz,
                                             s[PLATE_XY] - x * s[PLATE_Y] - y * s[PLATE_X] + x * y * m,
                                             yz - y * z,
                                             zx - x * z};
    for (int i = 0; i < LMI_LATTICE_RAW_RHO; i++) {
        raw[i * LMI_BLOCK] = own[i];
    }
    round_sums(raw);
}

static bool sum_by_plates(lmi_memory *memory, const lmi_lattice *l, const double *weights, double *raw)
{
    const lmi_lattice_stack *stack = l->plates.stack;
    size_t records = (size_t)l->plates.most_records * PLATE_CHANNELS;
    size_t room = (size_t)l->plates.plate_count * PLATE_CHANNELS;
    double *record = lmi_allocate(memory, records, sizeof *record),
           *plates = lmi_allocate(memory, room, sizeof *plates);
    bool ok = record && plates;
    if (ok) {
        lmi_lattice_plates_sum(l, PLATE_CHANNELS, weight_leaf, weights, record, plates);
    }
    for (uint32_t block = 0; ok && block < l->block_count; block++) {
        for (uint32_t left = l->occupied[block]; left; left &= left - 1, stack++) {
            int32_t lane = lmi_low_bit(left);
            sum_stack(l, stack, plates, (uint32_t)l->at[block][2], lmi_lattice_tile_x(l, lane),
                      lmi_lattice_tile_y(l, block), raw + (size_t)block * LMI_LATTICE_RAW * LMI_BLOCK + lane);
        }
    }
    lmi_release(memory, record, records, sizeof *record);
    lmi_release(memory, plates, room, sizeof *plates);
    return ok;
}

/* --- shares --- */

/* |R(i)| times the mean share of the stiffness, where regions differ in it. */
static double sum_of_shares(const lmi_lattice *l, const float *stiffness, uint32_t particle, uint32_t *members)
{
    uint32_t count = lmi_lattice_region(l, particle, members);
    double sum = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        bool active = l->active[members[n] / LMI_BLOCK] >> (members[n] % LMI_BLOCK) & 1;
        sum += active ? (double)stiffness[members[n]] : 0.0;
    }
    return sum;
}

/* Of one block; `raw` is its own. */
static void fill_shares(const lmi_lattice *l, const double *weights, const float *stiffness, uint32_t block,
                        double *raw, uint32_t *members)
{
    for (uint32_t lane = 0; lane < LMI_BLOCK; lane++) {
        double *to = raw + lane;
        uint32_t bit = 1u << lane, n = block * LMI_BLOCK + lane;
        bool occupied = l->occupied[block] & bit, active = l->active[block] & bit;
        double share = occupied ? 1.0 / l->degree[n] : 0.0;
        to[LMI_LATTICE_RAW_RHO * LMI_BLOCK] = !active ? 0.0 : stiffness ? (double)stiffness[n] : 1.0;
        to[LMI_LATTICE_RAW_ACTIVE * LMI_BLOCK] = active ? 1.0 : 0.0;
        to[LMI_LATTICE_RAW_SHARE * LMI_BLOCK] = share;
        double hold = stiffness && occupied ? share * sum_of_shares(l, stiffness, n, members) : 1.0;
        to[LMI_LATTICE_RAW_HOLD * LMI_BLOCK] = weights[n] > 0.0 ? hold / weights[n] : 0.0;
        for (int i = 0; !occupied && i < LMI_LATTICE_RAW_RHO; i++) { /* a sum beside the body belongs to nobody */
            to[i * LMI_BLOCK] = 0.0;
        }
    }
}

/* --- what the step reads --- */

static void compose(const double vectors[9], const double values[3], double six[6])
{
    static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (int n = 0; n < 6; n++) {
        six[n] = 0.0;
        for (int k = 0; k < 3; k++) {
            six[n] += vectors[place[n][0] * 3 + k] * values[k] * vectors[place[n][1] * 3 + k];
        }
    }
}

/* What linear fits want: roots of the rest covariance, from the eigenvectors of the rest moments. */
static void finish_stretch(const double values[3], const double vectors[9], double mass, float *out)
{
    double volume = 1.0, up[3], down[3], root[6], inverse[6];
    for (int k = 0; k < 3; k++) {
        up[k] = sqrt(values[k] / mass);
        down[k] = 1.0 / up[k];
        volume *= up[k];
    }
    compose(vectors, up, root);
    compose(vectors, down, inverse);
    for (int i = 0; i < 6; i++) {
        out[(LMI_LATTICE_WHITEN + i) * LMI_BLOCK] = (float)root[i];
        out[(LMI_LATTICE_COLOUR + i) * LMI_BLOCK] = (float)inverse[i];
    }
    out[LMI_LATTICE_INVERSE_EDGE * LMI_BLOCK] = (float)lmi_exp(-lmi_log(volume) / 3.0);
}

/* What the best affine map wants. */
static void finish_affine(const double values[3], const double vectors[9], double active, float *out)
{
    double inverse[6], per[3] = {1.0 / values[0], 1.0 / values[1], 1.0 / values[2]};
    compose(vectors, per, inverse);
    for (int i = 0; i < 6; i++) {
        out[(LMI_LATTICE_INVERSE_REST + i) * LMI_BLOCK] = (float)inverse[i];
    }
    out[LMI_LATTICE_ACTIVE * LMI_BLOCK] = (float)active;
    out[LMI_LATTICE_NARROW * LMI_BLOCK] = (float)(values[2] * values[2]);
}

/* One lane; `affine`: where those constants begin, or 0. An empty lane gets moments that fit well, and a share of nothing. */
static void finish_lane(const double *raw, bool stretch, uint32_t affine, float *out)
{
    double mass = raw[LMI_LATTICE_RAW_MASS * LMI_BLOCK], centre[3], q[6], values[3], vectors[9];
    bool any = mass > 0.0;
    for (int a = 0; a < 3; a++) {
        centre[a] = any ? raw[(LMI_LATTICE_RAW_FIRST + a) * LMI_BLOCK] / mass : 0.0;
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3;
        q[a] = any ? raw[(LMI_LATTICE_RAW_SECOND + a) * LMI_BLOCK] - mass * centre[a] * centre[a] : 1.0;
        q[3 + a] = any ? raw[(LMI_LATTICE_RAW_SECOND + 3 + a) * LMI_BLOCK] - mass * centre[a] * centre[b] : 0.0;
    }
    double matrix[9] = {q[0], q[3], q[5], q[3], q[1], q[4], q[5], q[4], q[2]};
    lmi_symmetric_eigen(3, matrix, values, vectors);
    for (int k = 0; k < 3; k++) { /* the corners of a cell span space */
        values[k] = values[k] > 1e-9 * values[0] ? values[k] : 1e-9 * values[0];
        values[k] = values[k] > 0.0 ? values[k] : 1.0; /* one particle alone, all of whose links are broken */
    }
    /* a v + b / v for the largest and the smallest is as far above 1 as for the middle one below it. */
    double spread = values[0] * values[2], scale = 2.0 / (values[0] + values[2] + values[1] + spread / values[1]);
    out[LMI_LATTICE_INVERSE_MASS * LMI_BLOCK] = any ? (float)(1.0 / mass) : 0.0f;
    out[LMI_LATTICE_SCALE * LMI_BLOCK] = (float)scale;
    out[LMI_LATTICE_SPREAD * LMI_BLOCK] = (float)spread;
    out[LMI_LATTICE_INVERSE_SQUARE * LMI_BLOCK] = (float)(1.0 / (scale * scale));
    for (int i = 0; i < 6; i++) {
        out[(LMI_LATTICE_REST + i) * LMI_BLOCK] = (float)q[i];
    }
    for (int a = 0; a < 3; a++) {
        out[(LMI_LATTICE_CENTRE + a) * LMI_BLOCK] = (float)centre[a];
    }
    out[LMI_LATTICE_RHO * LMI_BLOCK] = (float)raw[LMI_LATTICE_RAW_RHO * LMI_BLOCK];
    out[LMI_LATTICE_SHARE * LMI_BLOCK] = (float)raw[LMI_LATTICE_RAW_SHARE * LMI_BLOCK];
    out[LMI_LATTICE_HOLD * LMI_BLOCK] = (float)raw[LMI_LATTICE_RAW_HOLD * LMI_BLOCK];
    if (stretch) {
        finish_stretch(values, vectors, any ? mass : 1.0, out);
    }
    if (affine) {
        finish_affine(values, vectors, raw[LMI_LATTICE_RAW_ACTIVE * LMI_BLOCK], out + affine * LMI_BLOCK);
    }
}

/* Numbers blocks with the same raw sums alike; returns how many kinds there are. `table` has a power of two of entries. */
static uint32_t number_kinds(const double *raw, uint32_t blocks, uint32_t *kind, uint32_t *first, uint32_t *table,
                             uint32_t table_size)
{
    uint32_t kinds = 0;
    const size_t size = LMI_LATTICE_RAW * LMI_BLOCK;
    memset(table, 0xff, table_size * sizeof *table);
    for (uint32_t n = 0; n < blocks; n++) {
        const double *mine = raw + n * size;
        uint64_t hash = LMI_HASH_SEED;
        for (size_t i = 0; i < size; i++) {
            uint64_t bits;
            memcpy(&bits, &mine[i], sizeof bits);
            hash = lmi_hash_word(hash, bits);
        }
        uint32_t at = (uint32_t)(hash >> 20) & (table_size - 1);
        while (table[at] != LMI_LATTICE_NONE && memcmp(raw + first[table[at]] * size, mine, size * sizeof *mine) != 0) {
            at = (at + 1) & (table_size - 1);
        }
        if (table[at] == LMI_LATTICE_NONE) {
            table[at] = kinds;
            first[kinds++] = n;
        }
        kind[n] = table[at];
    }
    return kinds;
}

/* Puts the constants of each kind of block in place. */
static bool keep_kinds(lmi_memory *memory, lmi_lattice *l, const double *raw, lmi_lattice_wants wants)
{
    uint32_t blocks = l->block_count + 1, table_size = 64;
    while (table_size < 2 * blocks) {
        table_size *= 2;
    }
    uint32_t *kind = lmi_allocate(memory, blocks, sizeof *kind), *first = lmi_allocate(memory, blocks, sizeof *first);
    uint32_t *table = lmi_allocate(memory, table_size, sizeof *table), kinds = 0;
    uint32_t affine = wants.stretch ? LMI_LATTICE_ALL_CONSTANTS : LMI_LATTICE_CONSTANTS;
    uint32_t channels = affine + (wants.affine ? LMI_LATTICE_AFFINE_CONSTANTS : 0);
    affine = wants.affine ? affine : 0;
    uint32_t capacity = 0;
    float *constants = NULL;
    if (kind && first && table) {
        kinds = number_kinds(raw, blocks, kind, first, table, table_size);
        capacity = l->whole ? kinds + blocks : kinds; /* breaks add to them */
        constants = lmi_allocate(memory, (size_t)capacity * channels * LMI_BLOCK, sizeof *constants);
    }
    if (constants) {
        for (uint32_t n = 0; n < kinds * LMI_BLOCK; n++) {
            finish_lane(raw + (size_t)first[n / LMI_BLOCK] * LMI_LATTICE_RAW * LMI_BLOCK + n % LMI_BLOCK, wants.stretch,
                        affine, constants + (size_t)(n / LMI_BLOCK) * channels * LMI_BLOCK + n % LMI_BLOCK);
        }
        lmi_release(memory, l->constants_of, blocks, sizeof *l->constants_of);
        lmi_release(memory, l->constants, (size_t)l->constants_capacity * l->channels * LMI_BLOCK,
                    sizeof *l->constants);
        l->constants_of = kind;
        l->constants = constants;
        l->constants_count = kinds;
        l->constants_capacity = capacity;
        l->weighed = true;
        l->channels = channels;
        l->affine = affine;
    } else {
        lmi_release(memory, kind, blocks, sizeof *kind);
    }
    lmi_release(memory, first, blocks, sizeof *first);
    lmi_release(memory, table, table_size, sizeof *table);
    return constants != NULL;
}

static bool any_wanted(const uint32_t *slot, uint32_t first, uint32_t last)
{
    bool any = !slot;
    for (uint32_t n = first; n < last && !any; n++) {
        any = slot[n] != LMI_LATTICE_NONE;
    }
    return any;
}

/* The blocks of a run, where any of them is wanted. */
static void sum_run(sums *s, uint32_t plane, const lmi_lattice_run *run, const uint32_t *slot, double *raw)
{
    const lmi_lattice *l = s->l;
    const uint32_t *block = l->block + l->plane_place[plane] + run->first;
    bool summed = false;
    for (uint32_t n = 0; n < run->length; n++) {
        uint32_t to = block[n] < l->block_count ? slot_of(slot, block[n]) : LMI_LATTICE_NONE;
        if (to == LMI_LATTICE_NONE) {
            continue;
        }
        if (!summed) {
            sum_along_y(s, plane, run);
            summed = true;
        }
        sum_along_x(s, n, raw + (size_t)to * LMI_LATTICE_RAW * LMI_BLOCK);
    }
}

/* The sums along the axes, put right by lists. */
static bool sum_by_axes(lmi_memory *memory, const lmi_lattice *l, const double *weights, const uint32_t *slot,
                        double *raw)
{
    sums s = {l, NULL, NULL, (size_t)l->most_places * LMI_BLOCK, ((size_t)l->longest_run + 2) * LMI_BLOCK};
    s.z = lmi_allocate(memory, 3 * s.z_stride, sizeof *s.z);
    s.y = lmi_allocate(memory, 6 * s.y_stride, sizeof *s.y);
    bool ok = s.z && s.y;
    for (uint32_t z = 0; ok && z < l->plane_count; z++) {
        if (!any_wanted(slot, l->plane_block[z], l->plane_block[z + 1])) {
            continue;
        }
        sum_along_z(&s, weights, z);
        for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
            sum_run(&s, z, &l->run[r], slot, raw);
        }
    }
    if (ok) {
        correct_irregular(l, weights, slot, raw);
    }
    lmi_release(memory, s.z, 3 * s.z_stride, sizeof *s.z);
    lmi_release(memory, s.y, 6 * s.y_stride, sizeof *s.y);
    return ok;
}

double *lmi_lattice_raw(lmi_memory *memory, const lmi_lattice *l, const double *weights, const float *stiffness)
{
    size_t blocks = (size_t)l->block_count + 1, side = 2 * (size_t)l->width + 1, cube = side * side * side;
    double *raw = lmi_allocate(memory, blocks * LMI_LATTICE_RAW * LMI_BLOCK, sizeof *raw);
    uint32_t *members = lmi_allocate(memory, cube, sizeof *members);
    bool ok = raw && members;
    ok = ok && (lmi_lattice_is_plated(l) ? sum_by_plates(memory, l, weights, raw)
                                         : sum_by_axes(memory, l, weights, NULL, raw));
    for (uint32_t n = 0; ok && n < l->block_count; n++) {
        fill_shares(l, weights, stiffness, n, raw + (size_t)n * LMI_LATTICE_RAW * LMI_BLOCK, members);
    }
    lmi_release(memory, members, cube, sizeof *members);
    if (!ok) {
        lmi_lattice_raw_free(memory, l, raw);
    }
    return ok ? raw : NULL;
}

void lmi_lattice_raw_free(lmi_memory *memory, const lmi_lattice *l, double *raw)
{
    lmi_release(memory, raw, ((size_t)l->block_count + 1) * LMI_LATTICE_RAW * LMI_BLOCK, sizeof *raw);
}

bool lmi_lattice_weigh(lmi_memory *memory, lmi_lattice *l, const double *weights, const float *stiffness,
                       lmi_lattice_wants wants)
{
    double *raw = lmi_lattice_raw(memory, l, weights, stiffness);
    bool ok = raw && keep_kinds(memory, l, raw, wants);
    lmi_lattice_raw_free(memory, l, raw);
    return ok;
}

/* --- some of them --- */

/* Constants of blocks that stay where they are, packed together; `kind` is filled for them. Returns how many kinds stay.
 * `number` has an entry for each kind that there is. */
static uint32_t pack_kinds(const lmi_lattice *l, const uint32_t *slot, uint32_t *number, uint32_t *kind,
                           float *constants)
{
    const size_t size = (size_t)l->channels * LMI_BLOCK;
    uint32_t kinds = 0;
    memset(number, 0xff, l->constants_count * sizeof *number);
    for (uint32_t n = 0; n <= l->block_count; n++) {
        uint32_t old = l->constants_of[n];
        if (slot[n] != LMI_LATTICE_NONE) {
            continue;
        }
        if (number[old] == LMI_LATTICE_NONE) {
            memcpy(constants + kinds * size, l->constants + old * size, size * sizeof *constants);
            number[old] = kinds++;
        }
        kind[n] = number[old];
    }
    return kinds;
}

/* An array with room for all blocks to differ, and as much again, so that later breaks find room in it. */
static float *grow_constants(lmi_memory *memory, const lmi_lattice *l, const uint32_t *slot, uint32_t *kind,
                             uint32_t *kinds, uint32_t *capacity)
{
    uint32_t *number = lmi_allocate(memory, l->constants_count, sizeof *number);
    *capacity = 2 * (l->block_count + 1);
    float *constants = lmi_allocate(memory, (size_t)*capacity * l->channels * LMI_BLOCK, sizeof *constants);
    if (number && constants) {
        *kinds = pack_kinds(l, slot, number, kind, constants);
    } else {
        lmi_release(memory, constants, (size_t)*capacity * l->channels * LMI_BLOCK, sizeof *constants);
        constants = NULL;
    }
    lmi_release(memory, number, l->constants_count, sizeof *number);
    return constants;
}

/* The raw sums of some blocks, in their order. */
static double *raw_of(lmi_memory *memory, const lmi_lattice *l, const double *weights, const float *stiffness,
                      const lmi_lattice_change *change, const uint32_t *slot)
{
    size_t side = 2 * (size_t)l->width + 1, cube = side * side * side,
           size = (size_t)change->count * LMI_LATTICE_RAW * LMI_BLOCK;
    double *raw = lmi_allocate(memory, size, sizeof *raw);
    uint32_t *members = lmi_allocate(memory, cube, sizeof *members);
    bool ok = raw && members && sum_by_axes(memory, l, weights, slot, raw);
    for (uint32_t n = 0; ok && n < change->count; n++) {
        fill_shares(l, weights, stiffness, change->blocks[n], raw + (size_t)n * LMI_LATTICE_RAW * LMI_BLOCK, members);
    }
    lmi_release(memory, members, cube, sizeof *members);
    if (!ok) {
        lmi_release(memory, raw, size, sizeof *raw);
    }
    return ok ? raw : NULL;
}

/* Lanes that do not change are copied: most of a block does not. */
static void finish_some(const lmi_lattice *l, const lmi_lattice_change *change, const double *raw, float *constants)
{
    const size_t size = (size_t)l->channels * LMI_BLOCK;
    for (uint32_t n = 0; n < change->count; n++) {
        float *to = constants + n * size;
        memcpy(to, l->constants + l->constants_of[change->blocks[n]] * size, size * sizeof *to);
        for (uint32_t left = change->lanes[n]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)lmi_low_bit(left);
            finish_lane(raw + (size_t)n * LMI_LATTICE_RAW * LMI_BLOCK + lane,
                        l->channels - (l->affine ? LMI_LATTICE_AFFINE_CONSTANTS : 0) == LMI_LATTICE_ALL_CONSTANTS,
                        l->affine, to + lane);
        }
    }
}

/* New constants go behind those that there are, which another lattice may still have, as long as there is room. */
bool lmi_lattice_weigh_some(lmi_memory *memory, lmi_lattice *l, const double *weights, const float *stiffness,
                            const lmi_lattice_change *change)
{
    uint32_t blocks = l->block_count + 1, kinds = l->constants_count, capacity = l->constants_capacity;
    const size_t size = (size_t)l->channels * LMI_BLOCK;
    uint32_t *slot = lmi_allocate(memory, blocks, sizeof *slot), *kind = lmi_allocate(memory, blocks, sizeof *kind);
    float *constants = NULL;
    double *raw = NULL;
    if (slot && kind) {
        memset(slot, 0xff, blocks * sizeof *slot);
        for (uint32_t n = 0; n < change->count; n++) {
            slot[change->blocks[n]] = n;
        }
        memcpy(kind, l->constants_of, blocks * sizeof *kind);
        constants =
            kinds + change->count <= capacity ? l->constants : grow_constants(memory, l, slot, kind, &kinds, &capacity);
        raw = constants ? raw_of(memory, l, weights, stiffness, change, slot) : NULL;
    }
    bool ok = raw != NULL;
    if (ok) {
        finish_some(l, change, raw, constants + kinds * size);
        for (uint32_t n = 0; n < change->count; n++) {
            kind[change->blocks[n]] = kinds + n;
        }
        l->constants = constants;
        l->constants_of = kind;
        l->constants_count = kinds + change->count;
        l->constants_capacity = capacity;
        l->weighed = true;
    } else {
        if (constants && constants != l->constants) {
            lmi_release(memory, constants, capacity * size, sizeof *constants);
        }
        lmi_release(memory, kind, blocks, sizeof *kind);
    }
    lmi_release(memory, raw, (size_t)change->count * LMI_LATTICE_RAW * LMI_BLOCK, sizeof *raw);
    lmi_release(memory, slot, blocks, sizeof *slot);
    return ok;
}
