/*
 * Gather and scatter of a lattice on their own, plane by plane: the oracle of the fused sweep (lattice_sweep.c), which runs
 * the same sums (lattice_lanes.h) with the fit between them.
 *
 *   gather   reads values and weights, writes for each region:  sum m~ f,  sum m~ f k^T
 *   scatter  reads q and T of each region, writes for each particle:  sum q - T k
 *
 * Deterministic because every tap is added in the same order wherever it is, and lists in theirs.
 */
#include "lattice/lattice_irregular.h"
#include "lattice/lattice_plate_sums.h"
#include "world/kernel_names.h"

static void load_plane(const lmi_lattice *l, const float *values, uint32_t plane, float *to)
{
    uint32_t first = l->plane_place[plane];
    for (uint32_t place = 1; first + place < l->plane_place[plane + 1]; place++) {
        uint32_t block = l->block[first + place];
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf at[4];
            vf_load4(values + ((size_t)block * LMI_BLOCK + (size_t)lane) * 4, at);
            for (int c = 0; c < 3; c++) {
                vf_store(to + ((size_t)place * LATTICE_F + (size_t)c) * LMI_BLOCK + lane, at[c] * at[3]);
            }
        }
    }
}

static void gather_by_plates(const lmi_lattice *l, const float *values, float *scratch, float *moments)
{
    const int w = lattice_width(l), count = 2 * w + 1, last = (int)l->plane_count;
    lattice_work k;
    lattice_plates_work p = lattice_plates_work_make(l, scratch, &k);
    for (int z = 0; z < last + w; z++) {
        if (z < last) {
            load_plane(l, values, (uint32_t)z, k.f[z % count]);
            lattice_gather_plates(l, (uint32_t)z, k.f[z % count], p.records, lattice_plates_of(l, p.gathered, z));
        }
        if (z >= w) {
            float *planes[LMI_LATTICE_SIDE];
            uint32_t block = l->plane_block[z - w], blocks = l->plane_block[z - w + 1] - block;
            lattice_plates_around(l, p.gathered, z - w, w, planes);
            lattice_plates_moments(l, (uint32_t)(z - w), planes, p.blocks);
            memcpy(moments + (size_t)block * 12 * LMI_BLOCK, p.blocks + 12 * LMI_BLOCK,
                   (size_t)blocks * 12 * LMI_BLOCK * sizeof *moments);
        }
    }
}

static void scatter_by_plates(const lmi_lattice *l, const float *transforms, float *scratch, float *sums)
{
    const int w = lattice_width(l), last = (int)l->plane_count;
    lattice_work k;
    lattice_plates_work p = lattice_plates_work_make(l, scratch, &k);
    for (int z = 0; z < last + w; z++) {
        if (z < last) { /* places are numbered from 1 */
            uint32_t block = l->plane_block[z], blocks = l->plane_block[z + 1] - block;
            memcpy(p.blocks + 12 * LMI_BLOCK, transforms + (size_t)block * 12 * LMI_BLOCK,
                   (size_t)blocks * 12 * LMI_BLOCK * sizeof *sums);
            lattice_scatter_plates(l, (uint32_t)z, p.blocks, p.records, lattice_plates_of(l, p.scattered, z));
        }
        if (z >= w) {
            float *planes[LMI_LATTICE_SIDE];
            uint32_t block = l->plane_block[z - w], blocks = l->plane_block[z - w + 1] - block;
            lattice_plates_around(l, p.scattered, z - w, w, planes);
            lattice_plates_sums(l, (uint32_t)(z - w), planes, p.blocks);
            memcpy(sums + (size_t)block * 3 * LMI_BLOCK, p.blocks + 3 * LMI_BLOCK,
                   (size_t)blocks * 3 * LMI_BLOCK * sizeof *sums);
        }
    }
}

void LMI_KERNEL(lattice_gather)(const lmi_lattice *l, const float *values, float *scratch, float *moments)
{
    const int w = lattice_width(l), count = 2 * w + 1;
    const lattice_sizes sizes = {w, lmi_lattice_run_stride(l), false};
    if (lmi_lattice_is_plated(l)) {
        gather_by_plates(l, values, scratch, moments);
        return;
    }
    lattice_work k = lattice_work_make(l, scratch);
    for (int z = 0; z < w && z < (int)l->plane_count; z++) {
        load_plane(l, values, (uint32_t)z, k.f[z % count]);
    }
    for (int z = 0; z < (int)l->plane_count; z++) {
        if (z + w < (int)l->plane_count) {
            load_plane(l, values, (uint32_t)(z + w), k.f[(z + w) % count]);
        }
        float *planes[2 * LMI_LATTICE_MAX_WIDTH + 1];
        for (int n = -w; n <= w; n++) {
            planes[w + n] = k.f[(z + n + count) % count];
        }
        lattice_gather_lists(l, NULL, values, (uint32_t)z);
        lattice_owners owners = lattice_owners_of(&l->gather, (uint32_t)z);
        for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
            lattice_gather_z(l, (uint32_t)z, &l->run[r], planes, &k, sizes);
        }
        for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
            lattice_begin_run(&l->run[r], &k, NULL, sizes.run);
            lattice_gather_y(l, (uint32_t)z, &l->run[r], &k, sizes);
            for (uint32_t n = 0; n < l->run[r].length; n++) {
                uint32_t block = l->block[l->plane_place[z] + l->run[r].first + n];
                float *to = moments + (size_t)block * 12 * LMI_BLOCK;
                for (size_t lane = 0; block < l->block_count && lane < LMI_BLOCK; lane += LMI_LANES) {
                    vf m[12];
                    lattice_gather_x(&k, (size_t)(n + 1) * LMI_BLOCK + lane, sizes, m);
                    lattice_correct_moments(l, owners, block, lane, l->irregular_moments, m);
                    for (int i = 0; i < 12; i++) {
                        vf_store(to + i * LMI_BLOCK + lane, m[i]);
                    }
                }
                lattice_owners_pass(&owners, block);
            }
        }
    }
}

static void scatter_plane(const lmi_lattice *l, const float *transforms, lattice_work *k, uint32_t z)
{
    const int w = lattice_width(l);
    const lattice_sizes sizes = {w, lmi_lattice_run_stride(l), false};
    lattice_owners owners = lattice_owners_of(&l->gather, z);
    for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
        const lmi_lattice_run *run = &l->run[r];
        lattice_begin_run(run, k, NULL, sizes.run);
        for (uint32_t n = 0; n < run->length; n++) {
            uint32_t block = l->block[l->plane_place[z] + run->first + n];
            float *to = k->transforms + (size_t)(n + 1) * LMI_BLOCK;
            for (int c = 0; c < 12; c++) { /* those of the empty block are zero */
                for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
                    const float *from = transforms + ((size_t)block * 12 + (size_t)c) * LMI_BLOCK + lane;
                    vf_store(to + (size_t)c * sizes.run + lane, vf_load(from));
                }
            }
            lattice_keep_transforms(l, &owners, block, to, sizes.run);
        }
        lattice_scatter_x(run, k, sizes);
    }
    for (uint32_t r = l->plane_run[z]; r < l->plane_run[z + 1]; r++) {
        lattice_scatter_y(l, z, &l->run[r], k, sizes, k->scattered[(int)z % (2 * w + 1)]);
    }
}

static void collect_plane(const lmi_lattice *l, const lattice_work *k, uint32_t z, float *sums)
{
    const int w = lattice_width(l), count = 2 * w + 1;
    const lattice_sizes sizes = {w, lmi_lattice_run_stride(l), false};
    float *planes[2 * LMI_LATTICE_MAX_WIDTH + 1];
    for (int n = -w; n <= w; n++) {
        planes[w + n] = k->scattered[((int)z + n + count) % count];
    }
    lattice_scatter_lists(l, z);
    lattice_owners owners = lattice_owners_of(&l->scatter, z);
    for (uint32_t place = 1; l->plane_place[z] + place < l->plane_place[z + 1]; place++) {
        uint32_t block = l->block[l->plane_place[z] + place];
        if (block == l->block_count) {
            continue;
        }
        const float *at[2 * LMI_LATTICE_MAX_WIDTH + 1];
        float *to = sums + (size_t)block * 3 * LMI_BLOCK;
        lattice_taps_z(l, l->plane_place[z], place, planes, LATTICE_XY, w, at);
        for (int lane = 0; lane < LMI_BLOCK; lane += LMI_LANES) {
            vf out[3];
            lattice_scatter_z(at, (size_t)lane, sizes, out);
            lattice_correct_sums(l, owners, block, (size_t)lane, out);
            for (int i = 0; i < 3; i++) {
                vf_store(to + i * LMI_BLOCK + lane, out[i]);
            }
        }
        lattice_owners_pass(&owners, block);
    }
}

void LMI_KERNEL(lattice_scatter)(const lmi_lattice *l, const float *transforms, float *scratch, float *sums)
{
    const int w = lattice_width(l);
    if (lmi_lattice_is_plated(l)) {
        scatter_by_plates(l, transforms, scratch, sums);
        return;
    }
    lattice_work k = lattice_work_make(l, scratch);
    for (int z = 0; z < (int)l->plane_count + w; z++) {
        if (z < (int)l->plane_count) {
            scatter_plane(l, transforms, &k, (uint32_t)z);
        }
        if (z >= w) {
            collect_plane(l, &k, (uint32_t)(z - w), sums);
        }
    }
}
