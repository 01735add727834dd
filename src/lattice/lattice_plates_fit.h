/*
 * The planes of a sweep over a lattice with plates: what lattice/lattice_sweep.c does run by run along the axes, block by block.
 */
#ifndef LMI_LATTICE_PLATES_FIT_H
#define LMI_LATTICE_PLATES_FIT_H

#include "base/compiler.h"
#include "lattice/lattice_damping.h"
#include "lattice/lattice_fit.h"
#include "lattice/lattice_plate_sums.h"

/* The buffers of velocities, behind those of positions; only what gather uses. `kv` gets those of m~ v. */
static inline lattice_plates_work lattice_velocity_plates(const lmi_lattice *l, float *scratch, lattice_work *kv)
{
    lattice_plates_work p = {0};
    size_t places = (size_t)l->most_places * LMI_BLOCK;
    scratch += lmi_lattice_scratch(l);
    memset(kv, 0, sizeof *kv);
    for (uint32_t n = 0; n < 2 * l->width + 1; n++, scratch += LATTICE_F * places) {
        kv->f[n] = scratch;
    }
    p.gathered = scratch;
    p.blocks = p.gathered + (size_t)l->plates.ring_size * LMI_BLOCK;
    return p;
}

/* The buffers of positions by either scheme; `plates` has room for those that a lattice with plates has besides. */
static inline lattice_work lattice_any_work(const lmi_lattice *l, float *scratch, lattice_plates_work *plates)
{
    lattice_work k;
    if (!lmi_lattice_is_plated(l)) {
        return lattice_work_make(l, scratch);
    }
    *plates = lattice_plates_work_make(l, scratch, &k);
    k.plates = plates;
    return k;
}

/* And of velocities. */
static inline lattice_work lattice_any_velocity_work(const lmi_lattice *l, float *scratch, lattice_plates_work *plates)
{
    lattice_work k;
    if (!lmi_lattice_is_plated(l)) {
        return lattice_velocity_work(l, scratch);
    }
    *plates = lattice_velocity_plates(l, scratch, &k);
    k.plates = plates;
    return k;
}

/* The plates of positions and velocities of a plane, from what is in k->f and kv->f. */
static inline void lattice_gather_both(const lmi_lattice *l, int z, const lattice_work *k, const lattice_work *kv)
{
    const int at = z % (2 * (int)l->width + 1);
    const lattice_plates_work *p = k->plates;
    lattice_gather_plates(l, (uint32_t)z, k->f[at], p->records, lattice_plates_of(l, p->gathered, z));
    if (kv) {
        lattice_gather_plates(l, (uint32_t)z, kv->f[at], p->records, lattice_plates_of(l, kv->plates->gathered, z));
    }
}

LMI_INLINE void lattice_load_moments(const float *from, vf m[12])
{
    for (int i = 0; i < 12; i++) {
        m[i] = vf_load(from + i * LMI_BLOCK);
    }
}

/* Before a plane is integrated: its sums by plates, or what lists know of them. Returns the owners of lists. */
LMI_INLINE lattice_owners lattice_finish_sums(const lmi_lattice *l, uint32_t z, float *const planes[],
                                              const lattice_work *k, const lattice_sizes sizes)
{
    if (sizes.plated) {
        lattice_plates_sums(l, z, planes, k->plates->blocks);
        return (lattice_owners){NULL, 0, 0};
    }
    lattice_scatter_lists(l, z);
    return lattice_owners_of(&l->scatter, z);
}

/* What lattice_plates_sums has left of a place. */
LMI_INLINE void lattice_load_sums(const lattice_plates_work *p, uint32_t place, int lane, vf sum[3])
{
    for (int c = 0; c < 3; c++) {
        sum[c] = vf_load(p->blocks + (size_t)(place * 3 + (uint32_t)c) * LMI_BLOCK + lane);
    }
}

/* Constants of the block after one, which hardly ever stay in the cache: shells have few that are alike. */
LMI_INLINE void lattice_ask_for_next(const lmi_lattice *l, uint32_t block)
{
    const float *at = l->constants + (size_t)l->constants_of[block + 1] * l->channels * LMI_BLOCK;
    for (int c = 0; c <= LMI_LATTICE_RHO; c++) {
        LMI_PREFETCH(at + c * LMI_BLOCK);
    }
}

/* Gathers and fits the regions of a plane and makes their plates for the way back, into `to`. `pv` has what is gathered of
 * velocities, where they are wanted, or is null. */
static void lattice_fit_plates(const lmi_lattice_step *step, uint32_t z, const lattice_plates_work *p,
                               const lattice_plates_work *pv, float *to)
{
    const lmi_lattice *l = step->lattice;
    const lattice_material material = {step->stretch, step->beta, step->beyond,    step->plastic,
                                       l->affine,     step->mix,  step->mix_stride};
    float *planes[LMI_LATTICE_SIDE] = {NULL};
    lattice_plates_around(l, p->gathered, (int)z, (int)l->width, planes);
    lattice_plates_moments(l, z, planes, p->blocks);
    if (pv) {
        lattice_plates_around(l, pv->gathered, (int)z, (int)l->width, planes);
        lattice_plates_moments(l, z, planes, pv->blocks);
    }
    for (uint32_t block = l->plane_block[z]; block < l->plane_block[z + 1]; block++) {
        size_t at = (size_t)(block - l->plane_block[z] + 1) * 12 * LMI_BLOCK;
        const float *constants = l->constants + (size_t)l->constants_of[block] * l->channels * LMI_BLOCK;
        lattice_ask_for_next(l, block);
        for (size_t lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf m[12], t[12];
            lattice_load_moments(p->blocks + at + lane, m);
            lattice_fit(m, constants + lane, &material, block, lane, t);
            if (pv) {
                vf mv[12];
                lattice_load_moments(pv->blocks + at + lane, mv);
                lattice_add_damping(step, m, mv, constants + lane, t);
            }
            for (size_t c = 0; c < 12; c++) {
                vf_store(p->blocks + at + c * LMI_BLOCK + lane, t[c]);
            }
        }
    }
    lattice_scatter_plates(l, z, p->blocks, p->records, to);
}

#endif
