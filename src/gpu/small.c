/*
 * Lattices that one work-group steps by itself, in local memory (kernels/small.cl): what is laid out for them, and the launch.
 */
#include "gpu/small.h"

/* Corners of the box that local memory has room for: 21 floats each, of 48 KiB less what else is there. */
#define MOST_CORNERS 512

/* Work-items of a group: few, so that many bodies are at work on a multiprocessor and one's waits are another's work. */
#define GROUP 64

/* More particles than work-items of a group are better off in tiles. */
#define MOST_PARTICLES 256

bool lmi_gpu_is_small(const lmi_gpu *gpu, const lmi_lattice *shape)
{
    const uint32_t *n = shape->size;
    return !gpu->limits.tile_x && !gpu->limits.tile_y && !gpu->limits.planes &&
           shape->particle_count <= MOST_PARTICLES && n[0] <= MOST_CORNERS && n[1] <= MOST_CORNERS &&
           n[2] <= MOST_CORNERS && (uint64_t)n[0] * n[1] * n[2] <= MOST_CORNERS;
}

/* Corners with a particle first, two words each. */
static void fill_corners(const lmi_lattice *shape, uint32_t *to)
{
    const uint32_t *n = shape->size, count = n[0] * n[1] * n[2];
    uint32_t place[MOST_CORNERS], filled = 0;
    memset(place, 0xff, sizeof place);
    for (uint32_t block = 0; block < shape->block_count; block++) {
        const int32_t *at = shape->at[block];
        for (int32_t lane = 0; lane < LMI_BLOCK; lane++) {
            if (shape->occupied[block] >> lane & 1u) {
                uint32_t row = ((uint32_t)at[2] * n[1] + (uint32_t)at[1]) * n[0];
                place[row + (uint32_t)(at[0] + lane)] = block * LMI_BLOCK + (uint32_t)lane;
            }
        }
    }
    for (int filling = 0; filling < 2; filling++) {
        for (uint32_t corner = 0; corner < count; corner++) {
            if ((place[corner] == LMI_GPU_NONE) == (filling == 1)) {
                to[2 * filled] = corner % n[0] | corner / n[0] % n[1] << 8 | corner / (n[0] * n[1]) << 16;
                to[2 * filled++ + 1] = place[corner];
            }
        }
    }
}

/* Where a table of corners is, put there where no other body has the same; LMI_GPU_NONE when out of memory. */
static uint32_t find_corners(layout *l, const lmi_lattice *shape)
{
    uint32_t words[2 * MOST_CORNERS], count = 2 * shape->size[0] * shape->size[1] * shape->size[2];
    fill_corners(shape, words);
    for (uint32_t n = 0; n < l->known_corners.count; n++) {
        const uint32_t *known = (const uint32_t *)l->known_corners.items + 2 * (size_t)n;
        if (known[1] == count && memcmp((const uint32_t *)l->corners.items + known[0], words, count * 4) == 0) {
            return known[0] / 2;
        }
    }
    uint32_t first = l->corners.count, *known = append(l->world, &l->known_corners, 1, 2 * sizeof *known);
    uint32_t *to = append(l->world, &l->corners, count, sizeof *to);
    if (!known || !to) {
        return LMI_GPU_NONE;
    }
    known[0] = first, known[1] = count;
    memcpy(to, words, count * sizeof *to);
    return first / 2;
}

bool lmi_gpu_add_small(layout *l, const lmi_lattice *shape, uint32_t index, struct lmi_gpu_kind *kind)
{
    uint32_t corners = shape->size[0] * shape->size[1] * shape->size[2];
    kind->cells = (corners + 31) / 32 * 32;
    kind->tile_x = GROUP;
    kind->tile_y = 1;
    lmi_gpu_variant *v = lmi_gpu_find_variant(l->world, l->gpu, kind);
    uint32_t first = find_corners(l, shape);
    if (!v || first == LMI_GPU_NONE) {
        return false;
    }
    const lmi_gpu_grid whole = {{shape->size[0], shape->size[1], shape->size[2]}, {1, 1, 1}, 0};
    uint32_t gather[2], scatter[2];
    if (!lmi_gpu_add_lists(l, shape, &shape->gather, &whole, &l->gather, gather) ||
        !lmi_gpu_add_lists(l, shape, &shape->scatter, &whole, &l->scatter, scatter)) {
        return false;
    }
    void *smalls = v->small_body;
    if (v->small_count == v->small_capacity && !lmi_reserve(&l->world->memory, &smalls, &v->small_capacity,
                                                            2 * v->small_capacity + 64, sizeof *v->small_body)) {
        return false;
    }
    v->small_body = smalls;
    v->small_body[v->small_count++] = (lmi_gpu_small){.body = index,
                                                      .first = first,
                                                      .count = corners,
                                                      .particles = shape->particle_count,
                                                      .gather = gather[0],
                                                      .gathers = gather[1] - gather[0],
                                                      .scatter = scatter[0],
                                                      .scatters = scatter[1] - scatter[0],
                                                      .size = {shape->size[0], shape->size[1], shape->size[2]}};
    return true;
}

bool lmi_gpu_step_small(lmi_gpu *gpu, const lmi_gpu_variant *v, double h)
{
    const lmi_gpu_lists *gather = &gpu->gather, *scatter = &gpu->scatter;
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(v->smalls),        LMI_GPU_BUFFER(gpu->corners),
                                          LMI_GPU_BUFFER(gpu->bodies),      LMI_GPU_BUFFER(gpu->constants_of),
                                          LMI_GPU_BUFFER(gpu->kinds),       LMI_GPU_BUFFER(gpu->constants),
                                          LMI_GPU_BUFFER(gpu->x),           LMI_GPU_BUFFER(gpu->v),
                                          LMI_GPU_BUFFER(gpu->irregular),   LMI_GPU_BUFFER(gpu->irregular_moments),
                                          LMI_GPU_BUFFER(gpu->kept),        LMI_GPU_BUFFER(gpu->corrected),
                                          LMI_GPU_BUFFER(gpu->corrections), LMI_GPU_BUFFER(gather->lists),
                                          LMI_GPU_BUFFER(gather->entries),  LMI_GPU_BUFFER(scatter->lists),
                                          LMI_GPU_BUFFER(scatter->entries), LMI_GPU_BUFFER(gpu->surfaces),
                                          LMI_GPU_BUFFER(gpu->stop),        LMI_GPU_VALUE(h)};
    const size_t groups[2] = {v->small_count, 1}, group[2] = {v->kind.tile_x, 1};
    return v->small_count == 0 ||
           lmi_gpu_run(gpu, v->small, arguments, sizeof arguments / sizeof *arguments, groups, group);
}
