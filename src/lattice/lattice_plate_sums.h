/*
 * Sums over the regions of a lattice with plates (lattice/lattice.h): leaves, pairs, plates, stacks.
 *
 * A record has four times four floats, so that one vector of the widest kind holds it and a sum of two is one addition:
 *
 *               0 .. 2      3       4 .. 6      7       8 .. 10     11      12 .. 14
 *   gather      m~ u                x m~ u              y m~ u
 *   scatter     q           b_x     T_x         b_y     T_y         b_z     T_z
 *
 * with x and y from the middle of the tile, and b = x T_x + y T_y. For a particle at (x, y) scatter gives
 *
 *   sum q + (x sum T_x + y sum T_y - sum b) - sum over plates of z T_z
 *
 * with z from the particle's own plane: what is at the particle itself adds nothing but its q, to the bit. All additions have
 * their order from the tables alone.
 */
#ifndef LMI_LATTICE_PLATE_SUMS_H
#define LMI_LATTICE_PLATE_SUMS_H

#include "base/compiler.h"
#include "lattice/lattice_lanes.h"
#include "lattice/lattice_plates.h"
#include "lattice/lattice_step.h"

#include <string.h>

/* Floats of a record that gather and scatter use. */
enum { GATHER_FLOATS = 12, SCATTER_FLOATS = 16 };

/* Buffers of one sweep, in the worker's scratch. */
typedef struct lattice_plates_work {
    float *gathered, *scattered; /* rings of plates: of the planes around the current one, and on the way back */
    float *records;              /* of one plane */
    float *blocks;               /* [places][12][LMI_BLOCK] moments, transforms or sums of a plane */
} lattice_plates_work;

/* The buffers of positions and plates. `k` gets those of m~ u alone. */
static inline lattice_plates_work lattice_plates_work_make(const lmi_lattice *l, float *scratch, lattice_work *k)
{
    lattice_plates_work p;
    size_t ring = (size_t)l->plates.ring_size * LMI_BLOCK, places = (size_t)l->most_places * LMI_BLOCK;
    memset(k, 0, sizeof *k);
    for (uint32_t n = 0; n < 2 * l->width + 1; n++, scratch += LATTICE_F * places) {
        k->f[n] = scratch;
    }
    p.gathered = scratch;
    p.scattered = p.gathered + ring;
    p.records = p.scattered + ring;
    p.blocks = p.records + (size_t)l->plates.most_records * LMI_BLOCK;
    for (int lane = 0; lane < LMI_BLOCK; lane++) { /* record 0 is nothing */
        p.records[lane] = 0.0f;
    }
    return p;
}

/* The plates of a plane in a ring, and of all planes around one. */
LMI_INLINE float *lattice_plates_of(const lmi_lattice *l, float *ring, int z)
{
    return ring + (size_t)l->plates.storey[z].ring * LMI_BLOCK;
}

LMI_INLINE void lattice_plates_around(const lmi_lattice *l, float *ring, int z, const int w, float *planes[])
{
    for (int n = -w; n <= w; n++) { /* nobody asks for those beyond the ends */
        planes[w + n] = z + n < 0 || z + n >= (int)l->plane_count ? ring : lattice_plates_of(l, ring, z + n);
    }
}

/* --- leaves --- */

/* Four channels of a block, [LMI_BLOCK][4], to the lanes' records. */
LMI_INLINE void lattice_store_leaves(const lmi_lattice_leaves *group, const float *four, int at, float *records)
{
    float *to = records + (size_t)group->first * LMI_BLOCK + at;
    for (uint32_t left = group->lanes; left; left &= left - 1, to += LMI_BLOCK) {
        memcpy(to, four + 4 * lmi_low_bit(left), 4 * sizeof *to);
    }
}

static const _Alignas(64) float lattice_ramp[LMI_BLOCK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* From m~ u of a plane, [place][3][LMI_BLOCK]. */
static inline void lattice_leaves_of_values(const lmi_lattice *l, uint32_t plane, const float *f, float *records)
{
    const lmi_lattice_storey *storey = &l->plates.storey[plane];
    for (uint32_t n = storey->leaves; n < storey[1].leaves; n++) {
        const lmi_lattice_leaves *group = &l->plates.leaves[n];
        const float *from = f + (size_t)group->place * LATTICE_F * LMI_BLOCK;
        _Alignas(64) float four[3][LMI_BLOCK * 4];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            const vf zero = vf_set1(0.0f), y = vf_set1((float)group->y);
            vf u[3], x = vf_load(lattice_ramp + lane) + vf_set1((float)group->x);
            for (int c = 0; c < 3; c++) {
                u[c] = vf_load(from + c * LMI_BLOCK + lane);
            }
            vf_store4(four[0] + 4 * lane, u[0], u[1], u[2], zero);
            vf_store4(four[1] + 4 * lane, u[0] * x, u[1] * x, u[2] * x, zero);
            vf_store4(four[2] + 4 * lane, u[0] * y, u[1] * y, u[2] * y, zero);
        }
        for (int c = 0; c < 3; c++) {
            lattice_store_leaves(group, four[c], 4 * c, records);
        }
    }
}

/* From q and the columns of T of a plane's regions, [place][12][LMI_BLOCK]. */
static inline void lattice_leaves_of_transforms(const lmi_lattice *l, uint32_t plane, const float *transforms,
                                                float *records)
{
    const lmi_lattice_storey *storey = &l->plates.storey[plane];
    for (uint32_t n = storey->leaves; n < storey[1].leaves; n++) {
        const lmi_lattice_leaves *group = &l->plates.leaves[n];
        const float *from = transforms + (size_t)group->place * 12 * LMI_BLOCK;
        _Alignas(64) float four[4][LMI_BLOCK * 4];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            const vf zero = vf_set1(0.0f), y = vf_set1((float)group->y);
            vf t[12], tilt[3], x = vf_load(lattice_ramp + lane) + vf_set1((float)group->x);
            for (int c = 0; c < 12; c++) {
                t[c] = vf_load(from + c * LMI_BLOCK + lane);
            }
            for (int c = 0; c < 3; c++) {
                tilt[c] = t[3 + c] * x + t[6 + c] * y;
            }
            for (int c = 0; c < 4; c++) {
                vf_store4(four[c] + 4 * lane, t[3 * c], t[3 * c + 1], t[3 * c + 2], c < 3 ? tilt[c] : zero);
            }
        }
        for (int c = 0; c < 4; c++) {
            lattice_store_leaves(group, four[c], 4 * c, records);
        }
    }
}

/* --- pairs and plates --- */

LMI_INLINE void lattice_add_records(const float *records, const uint32_t (*two)[2], uint32_t count, const int floats,
                                    float *to)
{
    for (uint32_t n = 0; n < count; n++, to += LMI_BLOCK) {
        const float *a = records + (size_t)two[n][0] * LMI_BLOCK, *b = records + (size_t)two[n][1] * LMI_BLOCK;
        for (int lane = 0; lane < floats; lane += LMI_LANES) {
            vf_store(to + lane, vf_load(a + lane) + vf_load(b + lane));
        }
    }
}

/* The plates of a plane, whose leaves are in `records`. */
LMI_INLINE void lattice_add_plates(const lmi_lattice *l, uint32_t plane, float *records, const int floats, float *to)
{
    const lmi_lattice_plates *t = &l->plates;
    const lmi_lattice_storey *s = &t->storey[plane];
    lattice_add_records(records, (const uint32_t(*)[2])t->pair + s->pair, s[1].pair - s->pair, floats,
                        records + (size_t)(s->leaf_count + 1) * LMI_BLOCK);
    lattice_add_records(records, (const uint32_t(*)[2])t->plate + s->plate, s[1].plate - s->plate, floats, to);
}

static inline void lattice_gather_plates(const lmi_lattice *l, uint32_t plane, const float *f, float *records,
                                         float *to)
{
    lattice_leaves_of_values(l, plane, f, records);
    lattice_add_plates(l, plane, records, GATHER_FLOATS, to);
}

static inline void lattice_scatter_plates(const lmi_lattice *l, uint32_t plane, const float *transforms, float *records,
                                          float *to)
{
    lattice_leaves_of_transforms(l, plane, transforms, records);
    lattice_add_plates(l, plane, records, SCATTER_FLOATS, to);
}

/* --- stacks --- */

/* The stacks of a block, a record to each lane. */
typedef struct lattice_stacks {
    _Alignas(64) float sum[LMI_BLOCK][LMI_BLOCK], along_z[LMI_BLOCK][LMI_BLOCK];
} lattice_stacks;

/* `planes` has the plates of the planes around that of the block. Of the four floats from `at` on the sums along z are made
 * too. Returns the stack after the last. */
LMI_INLINE const lmi_lattice_stack *lattice_add_stacks(const lmi_lattice *l, const lmi_lattice_stack *stack,
                                                       uint32_t occupied, float *const planes[], const int floats,
                                                       const int at, lattice_stacks *to)
{
    for (int lane = 0; lane < LMI_BLOCK; lane++) {
        const bool is = occupied >> lane & 1;
        const uint32_t *floor = l->plates.floor + (is ? stack->first : 0);
        const uint32_t count = is ? stack->count : 0;
        const int first = is ? stack->top - stack->count : 0;
        float *const *plane = planes + (int)l->width + first;
        vf sum[LMI_PIECES], along_z[LMI_PIECES];
        for (int n = 0; n < LMI_PIECES; n++) {
            sum[n] = along_z[n] = vf_set1(0.0f);
        }
        for (uint32_t k = 0; k < count; k++) {
            const float *plate = plane[k] + (size_t)floor[k] * LMI_BLOCK;
            const vf z = vf_set1((float)(first + (int)k));
            for (int n = 0; n * LMI_LANES < floats; n++) {
                sum[n] = sum[n] + vf_load(plate + n * LMI_LANES);
            }
            for (int n = at / LMI_LANES; n * LMI_LANES < at + 4; n++) {
                along_z[n] = along_z[n] + z * vf_load(plate + n * LMI_LANES);
            }
        }
        for (int n = 0; n < LMI_PIECES; n++) {
            vf_store(to->sum[lane] + n * LMI_LANES, sum[n]);
            vf_store(to->along_z[lane] + n * LMI_LANES, along_z[n]);
        }
        stack += is;
    }
    return stack;
}

/* Four channels of LMI_LANES records. */
LMI_INLINE void lattice_load_stacks(const float (*record)[LMI_BLOCK], int lane, int at, vf out[4])
{
    static const uint32_t every[LMI_BLOCK] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
    vf_gather4(record[lane] + at, every, out);
}

/* The own places of a block's lanes in their tiles. */
LMI_INLINE void lattice_in_tile(const lmi_lattice *l, uint32_t block, int lane, vf *x, vf *y)
{
    static const _Alignas(64) float eights[LMI_BLOCK] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    *x = vf_load((l->plates.tile == 8 ? eights : lattice_ramp) + lane) - vf_set1((float)(l->plates.tile / 2));
    *y = vf_set1((float)lmi_lattice_tile_y(l, block));
}

/* The 12 moments of a plane's regions into [place][12][LMI_BLOCK]. */
static inline void lattice_plates_moments(const lmi_lattice *l, uint32_t plane, float *const planes[], float *to)
{
    const lmi_lattice_stack *stack = l->plates.stack + l->plates.storey[plane].stack;
    for (uint32_t block = l->plane_block[plane]; block < l->plane_block[plane + 1]; block++) {
        lattice_stacks s;
        to += 12 * LMI_BLOCK; /* place 0 is nothing */
        stack = lattice_add_stacks(l, stack, l->occupied[block], planes, GATHER_FLOATS, 0, &s);
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf sum[4], mx[4], my[4], mz[4], x, y;
            lattice_in_tile(l, block, lane, &x, &y);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 0, sum);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 4, mx);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 8, my);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.along_z, lane, 0, mz);
            for (int c = 0; c < 3; c++) {
                vf_store(to + c * LMI_BLOCK + lane, sum[c]);
                vf_store(to + (3 + c) * LMI_BLOCK + lane, mz[c]);
                vf_store(to + (6 + c) * LMI_BLOCK + lane, my[c] - y * sum[c]);
                vf_store(to + (9 + c) * LMI_BLOCK + lane, mx[c] - x * sum[c]);
            }
        }
    }
}

/* The sums for a plane's particles into [place][3][LMI_BLOCK]. */
static inline void lattice_plates_sums(const lmi_lattice *l, uint32_t plane, float *const planes[], float *to)
{
    const lmi_lattice_stack *stack = l->plates.stack + l->plates.storey[plane].stack;
    for (uint32_t block = l->plane_block[plane]; block < l->plane_block[plane + 1]; block++) {
        lattice_stacks s;
        to += 3 * LMI_BLOCK;
        stack = lattice_add_stacks(l, stack, l->occupied[block], planes, SCATTER_FLOATS, 12, &s);
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf q[4], tx[4], ty[4], tz[4], x, y;
            lattice_in_tile(l, block, lane, &x, &y);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 0, q);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 4, tx);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.sum, lane, 8, ty);
            lattice_load_stacks((const float(*)[LMI_BLOCK])s.along_z, lane, 12, tz);
            const vf tilt[3] = {q[3], tx[3], ty[3]};
            for (int c = 0; c < 3; c++) {
                vf_store(to + c * LMI_BLOCK + lane, q[c] + (((tx[c] * x + ty[c] * y) - tilt[c]) - tz[c]));
            }
        }
    }
}

#endif
