/*
 * Irregular regions: what the fast sums have too much or too little, from lists (lattice/lattice.h), in lanes.
 */
#ifndef LMI_LATTICE_IRREGULAR_H
#define LMI_LATTICE_IRREGULAR_H

#include "base/compiler.h"
#include "lattice/lattice_lanes.h"
#include "lattice/lattice_step.h"

/* u = F^T x / s - K; without a frame the values themselves. `corner` is K. */
LMI_INLINE void lattice_local(const lmi_lattice_step *step, const vf x[3], const vf corner[3], vf u[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = step->inverse + 3 * i;
        u[i] = ((vf_set1(row[0]) * x[0] + vf_set1(row[1]) * x[1]) + vf_set1(row[2]) * x[2]) - corner[i];
    }
}

/* The corrections of the moments of a plane's irregular regions into irregular_moments. */
static inline void lattice_gather_lists(const lmi_lattice *l, const lmi_lattice_step *step, const float *x,
                                        uint32_t plane)
{
    const lmi_lattice_lists *lists = &l->gather;
    for (uint32_t group = lists->plane_group[plane]; group < lists->plane_group[plane + 1]; group++) {
        const uint32_t *who = lists->who + (size_t)group * LMI_BLOCK;
        _Alignas(64) float middle[3][LMI_BLOCK] = {{0}}, out[12][LMI_BLOCK];
        for (int lane = 0; step && lane < LMI_BLOCK; lane++) {
            int32_t corner[3];
            lmi_lattice_corner(l, lists->owner[who[who[lane] == LMI_LATTICE_NONE ? 0 : lane]], corner);
            for (int a = 0; a < 3; a++) {
                middle[a][lane] = (float)corner[a] - step->middle[a];
            }
        }
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf sums[12];
            for (int i = 0; i < 12; i++) {
                sums[i] = vf_set1(0.0f);
            }
            for (uint32_t row = lists->group_row[group]; row < lists->group_row[group + 1]; row++) {
                const float *offset = lists->offset + (size_t)row * 4 * LMI_BLOCK + lane;
                vf at[4], k[3], corner[3], u[3];
                vf_gather4(x, lists->member + (size_t)row * LMI_BLOCK + lane, at);
                for (int a = 0; a < 3; a++) {
                    k[a] = vf_load(offset + a * LMI_BLOCK);
                    corner[a] = vf_load(&middle[a][lane]) + k[a];
                    u[a] = at[a];
                }
                if (step) {
                    lattice_local(step, at, corner, u);
                }
                vf weight = at[3] * vf_load(offset + 3 * LMI_BLOCK);
                for (int i = 0; i < 3; i++) {
                    vf p = u[i] * weight;
                    sums[i] = sums[i] + p;
                    sums[3 + i] = sums[3 + i] + p * k[2];
                    sums[6 + i] = sums[6 + i] + p * k[1];
                    sums[9 + i] = sums[9 + i] + p * k[0];
                }
            }
            for (int i = 0; i < 12; i++) {
                vf_store(&out[i][lane], sums[i]);
            }
        }
        for (int lane = 0; lane < LMI_BLOCK && who[lane] != LMI_LATTICE_NONE; lane++) {
            for (int i = 0; i < 12; i++) {
                l->irregular_moments[(size_t)who[lane] * LMI_BLOCK + (size_t)i] = out[i][lane];
            }
        }
    }
}

/* The corrections of the sums for a plane's particles, from the transforms of irregular regions. */
static inline void lattice_scatter_lists(const lmi_lattice *l, uint32_t plane)
{
    const lmi_lattice_lists *lists = &l->scatter;
    for (uint32_t group = lists->plane_group[plane]; group < lists->plane_group[plane + 1]; group++) {
        const uint32_t *who = lists->who + (size_t)group * LMI_BLOCK;
        _Alignas(64) float out[4 * LMI_BLOCK];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf sums[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
            for (uint32_t row = lists->group_row[group]; row < lists->group_row[group + 1]; row++) {
                const float *offset = lists->offset + (size_t)row * 4 * LMI_BLOCK + lane;
                uint32_t record[LMI_LANES];
                for (int n = 0; n < LMI_LANES; n++) { /* vf_gather4 counts in fours */
                    record[n] = 4 * lists->member[(size_t)row * LMI_BLOCK + (size_t)(lane + n)];
                }
                vf t[12], sign = vf_load(offset + 3 * LMI_BLOCK); /* q, then T column by column */
                for (int n = 0; n < 12; n += 4) {
                    vf_gather4(l->irregular_transforms + n, record, t + n);
                }
                for (int i = 0; i < 3; i++) {
                    vf move = (t[3 + i] * vf_load(offset) + t[6 + i] * vf_load(offset + LMI_BLOCK)) +
                              t[9 + i] * vf_load(offset + 2 * LMI_BLOCK);
                    sums[i] = sums[i] + sign * (t[i] + move);
                }
            }
            vf_store4(out + 4 * lane, sums[0], sums[1], sums[2], vf_set1(0.0f));
        }
        for (int lane = 0; lane < LMI_BLOCK && who[lane] != LMI_LATTICE_NONE; lane++) {
            for (int i = 0; i < 3; i++) {
                l->corrections[(size_t)who[lane] * 4 + (size_t)i] = out[4 * lane + i];
            }
        }
    }
}

/* Owners of a list, one block after the other. */
typedef struct lattice_owners {
    const uint32_t *owner;
    uint32_t next, end;
} lattice_owners;

static inline lattice_owners lattice_owners_of(const lmi_lattice_lists *lists, uint32_t plane)
{
    lattice_owners o = {lists->owner, lists->plane_owner[plane], lists->plane_owner[plane + 1]};
    return o;
}

/* Whether the next owner is in a block; blocks come in ascending order. */
LMI_INLINE bool lattice_owners_in(const lattice_owners *o, uint32_t block)
{
    return o->next < o->end && o->owner[o->next] / LMI_BLOCK == block;
}

/* The lane of an owner in the piece of a block that starts at `lane`, or none. */
LMI_INLINE bool lattice_owner_lane(uint32_t owner, size_t lane, vm *is)
{
    uint32_t at = owner % LMI_BLOCK - (uint32_t)lane;
    *is = vm_lane((int)(at % LMI_LANES));
    return at < LMI_LANES;
}

/* Puts the moments of a piece of a block right, from the corrections of all irregular regions. In registers: to write single lanes and read them back together would wait
 * for the cache. */
LMI_INLINE void lattice_correct_moments(const lmi_lattice *l, lattice_owners o, uint32_t block, size_t lane,
                                        const float *corrections, vf m[12])
{
    for (; lattice_owners_in(&o, block); o.next++) {
        const float *by = corrections + (size_t)o.next * LMI_BLOCK;
        const bool direct = l->direct[o.next];
        vm is;
        if (!lattice_owner_lane(o.owner[o.next], lane, &is)) {
            continue;
        }
        for (int i = 0; i < 12; i++) {
            vf value = vf_set1(by[i]), sum = m[i] + value;
            m[i] = vf_select(is, direct ? value : sum, m[i]);
        }
    }
}

/* Keeps the transforms of a block's irregular regions for the lists, and takes those out of the fast sums that are direct. */
static inline void lattice_keep_transforms(const lmi_lattice *l, lattice_owners *o, uint32_t block, float *transforms,
                                           size_t stride)
{
    uint32_t direct = 0;
    for (; lattice_owners_in(o, block); o->next++) {
        uint32_t lane = o->owner[o->next] % LMI_BLOCK;
        float *to = l->irregular_transforms + (size_t)o->next * LMI_BLOCK;
        for (size_t i = 0; i < 12; i++) {
            to[i] = transforms[lane + i * stride];
        }
        direct |= (uint32_t)l->direct[o->next] << lane;
    }
    for (; direct; direct &= direct - 1) {
        uint32_t lane = (uint32_t)lmi_low_bit(direct), piece = lane / LMI_LANES * LMI_LANES;
        for (size_t i = 0; i < 12; i++) {
            float *at = transforms + i * stride + piece;
            vf_store(at, vf_select(vm_lane((int)(lane - piece)), vf_set1(0.0f), vf_load(at)));
        }
    }
}

/* Adds the corrections of a piece of a block to the sums of its particles. */
LMI_INLINE void lattice_correct_sums(const lmi_lattice *l, lattice_owners o, uint32_t block, size_t lane, vf sums[3])
{
    for (; lattice_owners_in(&o, block); o.next++) {
        const float *by = l->corrections + (size_t)o.next * 4;
        const bool listed = l->listed[o.next];
        vm is;
        if (!lattice_owner_lane(o.owner[o.next], lane, &is)) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            vf value = vf_set1(by[i]), sum = sums[i] + value;
            sums[i] = vf_select(is, listed ? value : sum, sums[i]);
        }
    }
}

/* On to the owners of later blocks. */
LMI_INLINE void lattice_owners_pass(lattice_owners *o, uint32_t block)
{
    while (lattice_owners_in(o, block)) {
        o->next++;
    }
}

#endif
