/*
 * Regional damping: the share k of every velocity that is not the rigid motion of the regions around it is lost.
 *
 *   V_i = mean over its regions of u_r + w_r x A_r (x0_i - c0_r)          v_i += k (V_i - v_i)
 *
 * u_r and w_r are the velocity and the spin of the region: the same sums that gather positions, of velocities instead, give
 * sum m~ v and sum m~ v q^T, and with the best affine map A = Apq Q^-1
 *
 *   angular momentum  sum over j of A_j x (sum m~ v q^T)_j        inertia  tr(G) - G,  G = Apq A^T = sum m~ (A q)(A q)^T
 *
 * The lever arms are A q and not R q: with the rotation alone a body that is stretched by its own spin would be braked.
 * The field is affine in the rest position, so it is scattered together with the goal: the fit returns
 * rate T + k (field) as one transform, and the way back is gone once. Rivers and James 2007, section 4, in the form of
 * moments (they sum m~ x x^T again).
 *
 * Velocities are in spacings a second in the frame of the body, without the body's own velocity, so that fast bodies lose
 * nothing to rounding.
 */
#ifndef LMI_LATTICE_DAMPING_H
#define LMI_LATTICE_DAMPING_H

#include "lattice/lattice_irregular.h"
#include "lattice/lattice_strain.h"

/* The buffers of the sums of velocities, behind those of positions; only what gather uses. */
static inline lattice_work lattice_velocity_work(const lmi_lattice *l, float *scratch)
{
    lattice_work k = {0};
    size_t plane = (size_t)l->most_places * LMI_BLOCK, run = lmi_lattice_run_stride(l);
    scratch += lmi_lattice_scratch(l);
    for (uint32_t n = 0; n < 2 * l->width + 1; n++, scratch += LATTICE_F * plane) {
        k.f[n] = scratch;
    }
    k.along_z = scratch;
    k.along_y = k.along_z + LATTICE_Z * plane;
    for (size_t c = 0; c < 9; c++) {
        lattice_zero_block(k.along_y + c * run);
    }
    for (int c = 0; c < LATTICE_Z; c++) { /* place 0 is nothing */
        lattice_zero_block(k.along_z + c * LMI_BLOCK);
        for (uint32_t n = 0; c < LATTICE_F && n < 2 * l->width + 1; n++) {
            lattice_zero_block(k.f[n] + c * LMI_BLOCK);
        }
    }
    return k;
}

/* A velocity in spacings a second in the frame of the body. */
LMI_INLINE void lattice_local_velocity(const lmi_lattice_step *step, const vf v[3], vf out[3])
{
    const vf zero[3] = {vf_set1(0.0f), vf_set1(0.0f), vf_set1(0.0f)};
    const vf u[3] = {v[0] - vf_set1(step->velocity.x), v[1] - vf_set1(step->velocity.y),
                     v[2] - vf_set1(step->velocity.z)};
    lattice_local(step, u, zero, out);
}

static void lattice_load_velocities(const lmi_lattice_step *step, uint32_t plane, float *to)
{
    const lmi_lattice *l = step->lattice;
    uint32_t first = l->plane_place[plane];
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        size_t at = (size_t)l->block[first + place] * LMI_BLOCK * 4;
        float *out = to + (size_t)place * LATTICE_F * LMI_BLOCK;
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf x[4], v[4], u[3];
            vf_load4(step->x + at + (size_t)lane * 4, x);
            vf_load4(step->v + at + (size_t)lane * 4, v);
            lattice_local_velocity(step, v, u);
            for (int c = 0; c < 3; c++) {
                vf_store(out + c * LMI_BLOCK + lane, u[c] * x[3]);
            }
        }
    }
}

/* The corrections of the moments of velocity of a plane's irregular regions into step->velocity_moments. */
static void lattice_gather_velocity_lists(const lmi_lattice_step *step, uint32_t plane)
{
    const lmi_lattice_lists *lists = &step->lattice->gather;
    for (uint32_t group = lists->plane_group[plane]; group < lists->plane_group[plane + 1]; group++) {
        const uint32_t *who = lists->who + (size_t)group * LMI_BLOCK;
        _Alignas(64) float out[12][LMI_BLOCK];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf sums[12];
            for (int i = 0; i < 12; i++) {
                sums[i] = vf_set1(0.0f);
            }
            for (uint32_t row = lists->group_row[group]; row < lists->group_row[group + 1]; row++) {
                const float *k = lists->offset + (size_t)row * 4 * LMI_BLOCK + lane;
                const uint32_t *member = lists->member + (size_t)row * LMI_BLOCK + lane;
                vf x[4], v[4], u[3];
                vf_gather4(step->x, member, x);
                vf_gather4(step->v, member, v);
                lattice_local_velocity(step, v, u);
                vf weight = x[3] * vf_load(k + 3 * LMI_BLOCK);
                for (int i = 0; i < 3; i++) {
                    vf p = u[i] * weight;
                    sums[i] = sums[i] + p;
                    for (int a = 0; a < 3; a++) {
                        sums[9 - 3 * a + i] = sums[9 - 3 * a + i] + p * vf_load(k + a * LMI_BLOCK);
                    }
                }
            }
            for (int i = 0; i < 12; i++) {
                vf_store(&out[i][lane], sums[i]);
            }
        }
        for (int lane = 0; lane < LMI_BLOCK && who[lane] != LMI_LATTICE_NONE; lane++) {
            for (int i = 0; i < 12; i++) {
                step->velocity_moments[(size_t)who[lane] * LMI_BLOCK + (size_t)i] = out[i][lane];
            }
        }
    }
}

/* Turns the transform of a fit into what the scatter of this substep wants: lattice_add_field. */
LMI_INLINE void lattice_add_damping(const lmi_lattice_step *step, const vf m[12], const vf mv[12],
                                    const float *constants, vf t[12])
{
    lattice_add_field(m, mv, constants, constants + step->lattice->affine * LMI_BLOCK, vf_set1(step->loss),
                      vf_set1(step->goal_rate), t);
}

/* The whole change of velocity, in metres a second, from a particle's sums of such transforms and its m~ u. */
LMI_INLINE void lattice_damped_change(const lmi_lattice_step *step, const float *constants, size_t particle,
                                      const float *f, const vf sum[3], vf change[3])
{
    vf v[4], slow[3], local[3], share = vf_load(constants + LMI_LATTICE_SHARE * LMI_BLOCK);
    vf hold = vf_set1(step->goal_rate) * vf_load(constants + LMI_LATTICE_HOLD * LMI_BLOCK), loss = vf_set1(step->loss);
    vf_load4(step->v + particle * 4, v);
    lattice_local_velocity(step, v, slow);
    for (int i = 0; i < 3; i++) {
        local[i] = (share * sum[i] - hold * vf_load(f + i * LMI_BLOCK)) - loss * slow[i];
    }
    for (int i = 0; i < 3; i++) {
        const float *row = step->forward + 3 * i;
        change[i] = (vf_set1(row[0]) * local[0] + vf_set1(row[1]) * local[1]) + vf_set1(row[2]) * local[2];
    }
}

#endif
