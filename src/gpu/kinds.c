/*
 * Substeps of lattices that flow, are damped region by region, have examples or are in several parts.
 *
 *   prepare    of each part, after that of its body
 *   local      positions, and velocities, in the frame of the body
 *   moments    of all regions, by tiles; once more of velocities for regional damping
 *   measure    regions with examples; then the mixes of groups of them are solved
 *   fit        transforms
 *   move       by tiles
 *   conclude   of each part
 *
 * Lasting deformation and weights of examples are state. So all that comes after `prepare` waits until it is known that the substep
 * is the device's.
 */
#include "gpu/kinds.h"
#include "world/in_step.h"

#include "gpu/example_regions.h"

#include <stdio.h>

bool lmi_gpu_has_kinds(const lmi_gpu *gpu) { return gpu->matters && gpu->matters->count > 0; }

static const size_t group[2] = {64, 1};

static bool build_regions(const lm_world *world, lmi_gpu *gpu)
{
    static const char *const texts[] = {"prelude.cl",
                                        "records.h",
                                        "vec.h",
                                        "vec.c",
                                        "plastic.h",
                                        "plastic.c",
                                        "vmat.h",
                                        "volume.h",
                                        "polar_lanes.h",
                                        "lattice_constants.h",
                                        "lattice_rotation.h",
                                        "spin.h",
                                        "lattice_strain.h",
                                        "nearest.cl",
                                        "rotation.cl",
                                        LMI_GPU_EXAMPLE_TEXTS,
                                        "kinds.cl",
                                        NULL};
    lmi_gpu_matters *k = gpu->matters;
    if (k->program) {
        return true;
    }
    char options[2048];
    int length = lmi_gpu_common_options(gpu, options, sizeof options);
    length += lmi_gpu_lattice_options(options + length, sizeof options - (size_t)length);
    snprintf(options + length, sizeof options - (size_t)length,
             " -DLINEAR -DLMI_LATTICE_AFFINE=%d -DLM_MAX_EXAMPLES=%d", LMI_LATTICE_ALL_CONSTANTS, LM_MAX_EXAMPLES);
    const lmi_gpu_named kernels[] = {{&k->local, "kind_local"},
                                     {&k->gather_lists, "kind_gather_lists"},
                                     {&k->scatter_lists, "kind_scatter_lists"},
                                     {&k->measure, "kind_measure"},
                                     {&k->fit, "kind_fit"}};
    return lmi_gpu_build(world, gpu, &k->program, texts, options) && LMI_GPU_FIND(k->program, kernels);
}

static bool build_parts(const lm_world *world, lmi_gpu *gpu)
{
    static const char *const texts[] = {"prelude.cl", "records.h",   "vec.h",   "vec.c",    "firm.h",
                                        "record.cl",  "conclude.cl", "body.cl", "parts.cl", NULL};
    lmi_gpu_matters *k = gpu->matters;
    if (k->part_count == 0 || k->parts_program) {
        return true;
    }
    const lmi_gpu_named kernels[] = {{&k->prepare_parts, "prepare_parts"},
                                     {&k->measure_parts, "measure_parts"},
                                     {&k->conclude_parts, "conclude_parts"}};
    return lmi_gpu_build(world, gpu, &k->parts_program, texts, NULL) && LMI_GPU_FIND(k->parts_program, kernels);
}

static bool build_tiles(const lm_world *world, lmi_gpu *gpu, lmi_gpu_kind_tiles *v)
{
    static const char *const texts[] = {
        "prelude.cl",         "records.h",  "vmat.h",      "volume.h",   "polar_lanes.h", "lattice_constants.h",
        "lattice_rotation.h", "nearest.cl", "rotation.cl", "contact.cl", "lists.cl",      "lattice.cl",
        "kind_tiles.cl",      NULL};
    char options[2048];
    int length = lmi_gpu_common_options(gpu, options, sizeof options);
    length += snprintf(options + length, sizeof options - (size_t)length,
                       " -DCONTRACT -DKINDS -DLINEAR -DW=%u -DTILE_X=16 -DTILE_Y=%u -DCELLS=0 -DLATTICE_ROW=%d%s",
                       v->width, v->tile_y, LMI_GPU_MATTER_ROW, v->surfaces ? " -DSURFACES" : "");
    lmi_gpu_lattice_options(options + length, sizeof options - (size_t)length);
    const lmi_gpu_named kernels[] = {{&v->moments, "kind_moments"}, {&v->move, "kind_move"}};
    return lmi_gpu_build(world, gpu, &v->program, texts, options) && LMI_GPU_FIND(v->program, kernels);
}

lmi_gpu_kind_tiles *lmi_gpu_kind_tiles_find(const lm_world *world, lmi_gpu *gpu, uint32_t width, bool surfaces)
{
    lmi_gpu_matters *k = gpu->matters;
    for (uint32_t n = 0; n < k->tiled; n++) {
        if (k->tiles[n].width == width && k->tiles[n].surfaces == surfaces) {
            return &k->tiles[n];
        }
    }
    lmi_gpu_kind_tiles *v = &k->tiles[k->tiled++]; /* there are no more widths */
    *v = (lmi_gpu_kind_tiles){.width = width, .surfaces = surfaces, .tile_y = width <= 3 ? 8 : 4};
    return build_tiles(world, gpu, v) ? v : NULL;
}

bool lmi_gpu_kinds_build(const lm_world *world, lmi_gpu *gpu)
{
    return build_regions(world, gpu) && build_parts(world, gpu);
}

/* --- a substep --- */

bool lmi_gpu_kinds_prepare(lmi_gpu *gpu, double h, const float change[3])
{
    const lmi_gpu_matters *k = gpu->matters;
    if (!lmi_gpu_has_kinds(gpu) || k->part_count == 0) {
        return true;
    }
    const cl_uint count = k->part_count;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(k->parts), LMI_GPU_BUFFER(k->parts_before),
        LMI_GPU_VALUE(count),        LMI_GPU_VALUE(h),         LMI_GPU_VALUE(change[0]),
        LMI_GPU_VALUE(change[1]),    LMI_GPU_VALUE(change[2]), LMI_GPU_BUFFER(gpu->stop)};
    const size_t groups[2] = {(count + 7) / 8, 1}; /* HERD in body.cl */
    return LMI_GPU_RUN(k->prepare_parts, arguments, groups, group);
}

static bool find_local(lmi_gpu *gpu, const lmi_gpu_matters *k)
{
    const cl_uint places = k->blocks * LMI_BLOCK;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(places),    LMI_GPU_BUFFER(k->owners),  LMI_GPU_BUFFER(k->matters),   LMI_GPU_BUFFER(gpu->bodies),
        LMI_GPU_BUFFER(k->parts), LMI_GPU_BUFFER(k->part_of), LMI_GPU_BUFFER(k->corners),   LMI_GPU_BUFFER(gpu->x),
        LMI_GPU_BUFFER(gpu->v),   LMI_GPU_BUFFER(k->values),  LMI_GPU_BUFFER(k->velocities)};
    const size_t groups[2] = {(places + 63) / 64, 1};
    return LMI_GPU_RUN(k->local, arguments, groups, group);
}

static bool gather_lists(lmi_gpu *gpu, const lmi_gpu_matters *k, cl_uint velocities)
{
    const lmi_gpu_kind_lists *l = &k->gather;
    const cl_uint lanes = l->lanes;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(lanes),
        LMI_GPU_VALUE(velocities),
        LMI_GPU_BUFFER(l->groups),
        LMI_GPU_BUFFER(l->who),
        LMI_GPU_BUFFER(l->member),
        LMI_GPU_BUFFER(l->offset),
        LMI_GPU_BUFFER(gpu->bodies),
        LMI_GPU_BUFFER(k->matters),
        LMI_GPU_BUFFER(*(velocities ? &k->velocities : &k->values)),
        LMI_GPU_BUFFER(*(velocities ? &k->velocity_corrections : &k->irregular_moments))};
    const size_t groups[2] = {(lanes + 63) / 64, 1};
    return lanes == 0 || LMI_GPU_RUN(k->gather_lists, arguments, groups, group);
}

static bool scatter_lists(lmi_gpu *gpu, const lmi_gpu_matters *k)
{
    const lmi_gpu_kind_lists *l = &k->scatter;
    const cl_uint lanes = l->lanes;
    const lmi_gpu_argument arguments[] = {
        LMI_GPU_VALUE(lanes),      LMI_GPU_BUFFER(l->groups),  LMI_GPU_BUFFER(l->who),  LMI_GPU_BUFFER(l->member),
        LMI_GPU_BUFFER(l->offset), LMI_GPU_BUFFER(k->matters), LMI_GPU_BUFFER(k->kept), LMI_GPU_BUFFER(k->corrections)};
    const size_t groups[2] = {(lanes + 63) / 64, 1};
    return lanes == 0 || LMI_GPU_RUN(k->scatter_lists, arguments, groups, group);
}

/* Of positions, or of velocities. */
static bool gather_moments(lmi_gpu *gpu, const lmi_gpu_matters *k, cl_uint velocities)
{
    bool ok = gather_lists(gpu, k, velocities);
    for (uint32_t n = 0; ok && n < k->tiled; n++) {
        const lmi_gpu_kind_tiles *v = &k->tiles[n];
        const lmi_gpu_argument arguments[] = {
            LMI_GPU_BUFFER(v->buffer),
            LMI_GPU_BUFFER(gpu->bodies),
            LMI_GPU_BUFFER(k->matters),
            LMI_GPU_BUFFER(k->part_of),
            LMI_GPU_BUFFER(gpu->map),
            LMI_GPU_BUFFER(k->irregular),
            LMI_GPU_BUFFER(*(velocities ? &k->velocity_corrections : &k->irregular_moments)),
            LMI_GPU_BUFFER(*(velocities ? &k->velocities : &k->values)),
            LMI_GPU_VALUE(velocities),
            LMI_GPU_BUFFER(*(velocities ? &k->velocity_moments : &k->moments))};
        const size_t groups[2] = {v->count, 1}, tile[2] = {16, v->tile_y};
        ok = v->count == 0 || LMI_GPU_RUN(v->moments, arguments, groups, tile);
    }
    return ok;
}

/* The regions of lattices with examples, and the mixes of their groups. */
static bool find_mixes(lmi_gpu *gpu, const lmi_gpu_matters *k)
{
    const cl_uint places = k->blocks * LMI_BLOCK;
    const lmi_gpu_buffer *channels = lmi_gpu_examples_channels(gpu);
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(places),        LMI_GPU_BUFFER(k->owners),
                                          LMI_GPU_BUFFER(k->matters),   LMI_GPU_BUFFER(k->rows),
                                          LMI_GPU_BUFFER(k->constants), LMI_GPU_BUFFER(k->moments),
                                          LMI_GPU_BUFFER(k->plastics),  LMI_GPU_BUFFER(*channels)};
    const size_t groups[2] = {(places + 63) / 64, 1};
    return LMI_GPU_RUN(k->measure, arguments, groups, group) && lmi_gpu_examples_solve(gpu, true);
}

static bool fit_regions(lmi_gpu *gpu, const lmi_gpu_matters *k, double h)
{
    const cl_uint places = k->blocks * LMI_BLOCK;
    const lmi_gpu_buffer *channels = k->mixed ? lmi_gpu_examples_channels(gpu) : &k->plastics; /* it reads none */
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(places),         LMI_GPU_VALUE(h),
                                          LMI_GPU_BUFFER(k->owners),     LMI_GPU_BUFFER(k->matters),
                                          LMI_GPU_BUFFER(gpu->bodies),   LMI_GPU_BUFFER(k->rows),
                                          LMI_GPU_BUFFER(k->constants),  LMI_GPU_BUFFER(k->irregular),
                                          LMI_GPU_BUFFER(k->moments),    LMI_GPU_BUFFER(k->velocity_moments),
                                          LMI_GPU_BUFFER(k->plastics),   LMI_GPU_BUFFER(*channels),
                                          LMI_GPU_BUFFER(k->transforms), LMI_GPU_BUFFER(k->kept)};
    const size_t groups[2] = {(places + 63) / 64, 1};
    return LMI_GPU_RUN(k->fit, arguments, groups, group);
}

bool lmi_gpu_kinds_fit(lmi_gpu *gpu, double h)
{
    const lmi_gpu_matters *k = gpu->matters;
    if (!lmi_gpu_has_kinds(gpu)) {
        return true;
    }
    return find_local(gpu, k) && gather_moments(gpu, k, 0) && (!k->damped || gather_moments(gpu, k, 1)) &&
           (!k->mixed || find_mixes(gpu, k)) && fit_regions(gpu, k, h) && scatter_lists(gpu, k);
}

static bool move_tiles(lmi_gpu *gpu, const lmi_gpu_matters *k, const lmi_gpu_kind_tiles *v, float h)
{
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(v->buffer),      LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(k->matters),     LMI_GPU_BUFFER(k->parts),
                                          LMI_GPU_BUFFER(k->part_of),     LMI_GPU_BUFFER(gpu->map),
                                          LMI_GPU_BUFFER(k->rows),        LMI_GPU_BUFFER(k->constants),
                                          LMI_GPU_BUFFER(gpu->x),         LMI_GPU_BUFFER(gpu->v),
                                          LMI_GPU_BUFFER(k->transforms),  LMI_GPU_BUFFER(k->corrected),
                                          LMI_GPU_BUFFER(k->corrections), LMI_GPU_BUFFER(gpu->surfaces),
                                          LMI_GPU_BUFFER(gpu->partials),  LMI_GPU_VALUE(h)};
    const size_t groups[2] = {v->count, 1}, tile[2] = {16, v->tile_y};
    return v->count == 0 || LMI_GPU_RUN(v->move, arguments, groups, tile);
}

bool lmi_gpu_kinds_move(lmi_gpu *gpu, float h)
{
    const lmi_gpu_matters *k = gpu->matters;
    bool ok = true;
    for (uint32_t n = 0; ok && n < k->tiled; n++) {
        ok = move_tiles(gpu, k, &k->tiles[n], h);
    }
    return ok;
}

bool lmi_gpu_kinds_conclude(lmi_gpu *gpu, double h, bool after_upload)
{
    const lmi_gpu_matters *k = gpu->matters;
    if (!lmi_gpu_has_kinds(gpu) || k->part_count == 0) {
        return true;
    }
    const cl_uint measured = after_upload;
    const lmi_gpu_argument measure[] = {LMI_GPU_BUFFER(k->parts),        LMI_GPU_BUFFER(k->part_chunks),
                                        LMI_GPU_BUFFER(k->part_members), LMI_GPU_BUFFER(gpu->x),
                                        LMI_GPU_BUFFER(gpu->v),          LMI_GPU_BUFFER(gpu->partials)};
    const lmi_gpu_argument conclude[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(k->parts),
                                         LMI_GPU_BUFFER(gpu->partials), LMI_GPU_VALUE(h), LMI_GPU_VALUE(measured)};
    const size_t chunks[2] = {k->chunk_count, 1}, parts[2] = {k->part_count, 1};
    return (!measured || LMI_GPU_RUN(k->measure_parts, measure, chunks, group)) &&
           LMI_GPU_RUN(k->conclude_parts, conclude, parts, group);
}

/* --- the way back --- */

bool lmi_gpu_kinds_keep(lmi_gpu *gpu)
{
    lmi_gpu_matters *k = gpu->matters;
    size_t size = lmi_gpu_has_kinds(gpu) ? k->plastic_floats * sizeof(float) : 0;
    return size == 0 ||
           (lmi_gpu_reserve(gpu, &k->kept_plastics, size) && lmi_gpu_copy(gpu, &k->plastics, &k->kept_plastics, size));
}

bool lmi_gpu_kinds_restore(lmi_gpu *gpu)
{
    lmi_gpu_matters *k = gpu->matters;
    size_t size = lmi_gpu_has_kinds(gpu) ? k->plastic_floats * sizeof(float) : 0;
    return size == 0 || lmi_gpu_copy(gpu, &k->kept_plastics, &k->plastics, size);
}

/* A lattice of another kind if it is brought back, and floats of lasting deformation and parts that it has; else null. */
static lmi_body *coming(const lm_world *world, const lmi_gpu *gpu, uint32_t n, size_t *floats, uint32_t *parts)
{
    const lmi_gpu_matter *m = &gpu->matters->matter[n];
    if (!gpu->batch[gpu->batch_of[m->body]].coming) {
        return NULL;
    }
    lmi_body *body = lmi_body_in_step(world, gpu->slots[m->body]);
    const lmi_lattice *shape = &body->lattice->shape;
    *floats = m->plastic == LMI_GPU_NONE ? 0 : ((size_t)shape->block_count + 1) * 6 * LMI_BLOCK;
    *parts = shape->part_count > 1 ? shape->part_count : 0;
    return body;
}

/* Lasting deformation from a float on, and parts from one on. */
static bool read_some(lmi_gpu *gpu, bool before, size_t first, size_t floats, size_t first_part, size_t parts)
{
    lmi_gpu_matters *k = gpu->matters;
    const size_t f = sizeof(float), size = sizeof *k->part;
    return (floats == 0 || lmi_gpu_read(gpu, &k->plastics, first * f, k->room + first, floats * f)) &&
           (parts == 0 || lmi_gpu_read(gpu, before ? &k->parts_before : &k->parts, first_part * size,
                                       k->part + first_part, parts * size));
}

bool lmi_gpu_kinds_read(const lm_world *world, lmi_gpu *gpu, bool before)
{
    lmi_gpu_matters *k = gpu->matters;
    bool ok = true, all = true;
    for (uint32_t n = 0; lmi_gpu_has_kinds(gpu) && n < k->count; n++) {
        all = all && gpu->batch[gpu->batch_of[k->matter[n].body]].coming;
    }
    if (!lmi_gpu_has_kinds(gpu) || all) {
        return !lmi_gpu_has_kinds(gpu) || read_some(gpu, before, 0, k->plastic_floats, 0, k->part_count);
    }
    for (uint32_t n = 0; ok && n < k->count; n++) {
        size_t floats;
        uint32_t parts;
        ok = !coming(world, gpu, n, &floats, &parts) ||
             read_some(gpu, before, k->matter[n].plastic, floats, k->matter[n].first_part, parts);
    }
    return ok;
}

static lm_vec3 vector_of(const float from[3]) { return (lm_vec3){from[0], from[1], from[2]}; }

static void fetch_part(const lmi_gpu_body *from, lmi_lattice_part *part)
{
    part->motion.centre = vector_of(from->centre);
    part->motion.velocity = vector_of(from->velocity);
    part->motion.spin = vector_of(from->spin);
    part->motion.mass = from->mass;
    memcpy(part->motion.inertia, from->inertia, sizeof part->motion.inertia);
    part->drift_centre = vector_of(from->drift_centre);
    part->drift_velocity = vector_of(from->drift_velocity);
    part->drift_spin = vector_of(from->drift_spin);
    part->owed_momentum = dvec(from->owed_momentum[0], from->owed_momentum[1], from->owed_momentum[2]);
    part->owed_angular = dvec(from->owed_angular[0], from->owed_angular[1], from->owed_angular[2]);
    part->lower = vector_of(from->lower);
    part->upper = vector_of(from->upper);
}

void lmi_gpu_kinds_put(lm_world *world, lmi_gpu *gpu)
{
    const lmi_gpu_matters *k = gpu->matters;
    for (uint32_t n = 0; k && n < k->count; n++) {
        const lmi_gpu_matter *m = &k->matter[n];
        size_t floats;
        uint32_t parts;
        lmi_body *body = coming(world, gpu, n, &floats, &parts);
        if (!body) {
            continue;
        }
        if (floats) {
            memcpy(body->lattice->plastic.state, k->room + m->plastic, floats * sizeof(float));
            lmi_lattice_body_find_flowed(body);
        }
        for (uint32_t p = 0; p < parts; p++) {
            fetch_part(&k->part[m->first_part + p], &body->lattice->part[p]);
        }
    }
}

bool lmi_gpu_kinds_bound(const lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_matters *k = gpu->matters;
    uint32_t part = 0;
    for (uint32_t n = 0; k && n < k->count; n++) {
        const lmi_lattice_body *lattice = lmi_body_at(world, gpu->slots[k->matter[n].body])->lattice;
        for (uint32_t p = 0; lattice->shape.part_count > 1 && p < lattice->shape.part_count; p++) {
            const lm_vec3 lower = lattice->part[p].lower, upper = lattice->part[p].upper;
            lmi_gpu_body *to = &k->part[part++];
            to->lower[0] = lower.x, to->lower[1] = lower.y, to->lower[2] = lower.z;
            to->upper[0] = upper.x, to->upper[1] = upper.y, to->upper[2] = upper.z;
        }
    }
    return part == 0 || lmi_gpu_write(gpu, &k->parts, 0, k->part, part * sizeof *k->part);
}
