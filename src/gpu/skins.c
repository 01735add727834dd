/*
 * Skins on a device: launches, and the way back.
 *
 * Vertices are made when somebody asks, once for each state. They are read back body by body; where one body is requested after the
 * other, more and more of the next ones come with them, up to a few megabytes, because each way costs as much as some kilobytes do.
 *
 * A failure here takes nothing away: the host makes the skins from then on, from particles that it brings back. If the device is
 * lost altogether, that will show then.
 */
#include "gpu/skins.h"
#include "gpu/state.h"

#include "base/guard.h"
#include "gpu/look.h"
#include "gpu/share.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_FLOATS ((size_t)1 << 20) /* that are read back at once, at most; larger skins come by themselves */

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    static const char *const texts[] = {"prelude.cl",       "records.h",      "vec.h",        "region.h", "carrier.h",
                                        "octree_carrier.h", "face_normals.h", "skin_carry.h", "skin.cl",  NULL};
    char options[1024];
    int length = lmi_gpu_common_options(gpu, options, sizeof options);
    snprintf(options + length, sizeof options - (size_t)length, " -DLMI_SKIN_REGION=%uu", LMI_SKIN_REGION);
    const lmi_gpu_named kernels[] = {{&s->cells, "skin_cells"},
                                     {&s->tets, "skin_tets"},
                                     {&s->lists, "skin_lists"},
                                     {&s->normals_of_faces, "skin_normals"},
                                     {&s->carriers_of_clusters, "skin_carriers"},
                                     {&s->nodes_of_octrees, "skin_nodes"},
                                     {&s->leaves_of_octrees, "skin_leaves"},
                                     {&s->origins_of, "skin_origins"},
                                     {&s->put, "skin_put"}};
    return lmi_gpu_build(world, gpu, &s->program, texts, options) && LMI_GPU_FIND(s->program, kernels);
}

/* --- launches --- */

static const size_t group[2] = {LMI_GPU_SKIN_GROUP, 1};

/* On cells or tetrahedra: vertices and normals. */
static bool carry(lmi_gpu *gpu, lmi_gpu_skinning *s, cl_kernel kernel, lmi_gpu_skin_kind kind)
{
    const size_t groups[2] = {s->chunk_count[kind], 1};
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(s->chunks[kind]), LMI_GPU_BUFFER(s->skins),
                                          LMI_GPU_BUFFER(gpu->x),          LMI_GPU_BUFFER(s->riders),
                                          LMI_GPU_BUFFER(s->numbers),      LMI_GPU_BUFFER(s->positions),
                                          LMI_GPU_BUFFER(s->normals)};
    return groups[0] == 0 || lmi_gpu_run(gpu, kernel, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool carry_lists(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    const size_t groups[2] = {s->chunk_count[LMI_GPU_LISTS], 1};
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(s->chunks[LMI_GPU_LISTS]),
                                          LMI_GPU_BUFFER(s->skins),
                                          LMI_GPU_BUFFER(gpu->x),
                                          LMI_GPU_BUFFER(s->offsets),
                                          LMI_GPU_BUFFER(s->riders),
                                          LMI_GPU_BUFFER(s->numbers),
                                          LMI_GPU_BUFFER(s->rest),
                                          LMI_GPU_BUFFER(s->regions),
                                          LMI_GPU_BUFFER(s->carriers),
                                          LMI_GPU_BUFFER(s->positions)};
    return groups[0] == 0 ||
           (lmi_gpu_skin_regions_make(gpu, s) &&
            lmi_gpu_run(gpu, s->lists, arguments, sizeof arguments / sizeof *arguments, groups, group));
}

static bool make_normals(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    const size_t groups[2] = {s->chunk_count[LMI_GPU_LISTS], 1};
    const lmi_gpu_argument arguments[] = {LMI_GPU_BUFFER(s->chunks[LMI_GPU_LISTS]),
                                          LMI_GPU_BUFFER(s->skins),
                                          LMI_GPU_BUFFER(s->ring_offsets),
                                          LMI_GPU_BUFFER(s->rings),
                                          LMI_GPU_BUFFER(s->triangles),
                                          LMI_GPU_BUFFER(s->positions),
                                          LMI_GPU_BUFFER(s->normals)};
    return !s->faces ||
           lmi_gpu_run(gpu, s->normals_of_faces, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool find_origins(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    const cl_uint count = s->count;
    const size_t groups[2] = {(count + LMI_GPU_SKIN_GROUP - 1) / LMI_GPU_SKIN_GROUP, 1};
    const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(count), LMI_GPU_BUFFER(s->skins), LMI_GPU_BUFFER(gpu->bodies),
                                          LMI_GPU_BUFFER(s->origins)};
    return lmi_gpu_run(gpu, s->origins_of, arguments, sizeof arguments / sizeof *arguments, groups, group);
}

static bool make(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s, bool normals)
{
    if (!s->program && !build(world, gpu, s)) {
        return false;
    }
    if (s->laid_out != gpu->layouts) {
        s->made = s->made_normals = 0;
        if (!lmi_gpu_skins_lay_out(world, gpu, s)) {
            return false;
        }
    }
    if (s->count && s->made != gpu->serial) {
        if (!carry(gpu, s, s->cells, LMI_GPU_CELLS) || !carry(gpu, s, s->tets, LMI_GPU_TETS) || !carry_lists(gpu, s) ||
            !find_origins(gpu, s)) {
            return false;
        }
        s->made = gpu->serial;
    }
    if (s->count && normals && s->made_normals != gpu->serial) {
        if (!make_normals(gpu, s)) {
            return false;
        }
        s->made_normals = gpu->serial;
    }
    return true;
}

/* The device has failed at skins, which is no reason to lose its state. */
static void give_up(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    s->off = gpu->status == CL_SUCCESS ? "out of memory" : lmi_cl_text(gpu->status);
    s->made = s->made_normals = s->laid_out = 0;
    s->window[0].serial = s->window[1].serial = 0;
    gpu->status = CL_SUCCESS;
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_skinning *s = part;
    for (int n = 0; n < 2; n++) {
        lmi_release(gpu->memory, s->window[n].room, s->window[n].room_size, sizeof(float));
        lmi_release(gpu->memory, s->window[n].origins, s->window[n].origin_room, sizeof(double));
    }
    lmi_release(gpu->memory, s->shapes, s->shape_capacity, sizeof *s->shapes);
    lmi_release(gpu->memory, s->records, s->capacity, sizeof *s->records);
    lmi_release(gpu->memory, s->of_slot, s->slot_capacity, sizeof *s->of_slot);
    lmi_release(gpu->memory, s->height, s->height_capacity, sizeof *s->height);
}

lmi_gpu_skinning *lmi_gpu_skins_ready(lm_world *world, lmi_gpu *gpu, bool normals)
{
    if (!gpu->skins) {
        gpu->skins = lmi_gpu_make_part(gpu, sizeof *gpu->skins, end);
    }
    lmi_gpu_skinning *s = gpu->skins;
    if (!s || s->off) {
        return NULL;
    }
    gpu->status = CL_SUCCESS;
    if (!make(world, gpu, s, normals)) {
        give_up(gpu, s);
        return NULL;
    }
    return s;
}

/* --- the way back --- */

/* How many skins are read back now, from the one that is requested: more each time where they are requested in a row. */
static uint32_t end_of_window(const lmi_gpu_skinning *s, lmi_gpu_skin_window *w, uint32_t skin, uint64_t serial)
{
    bool in_a_row = w->serial == serial && skin == w->end;
    w->ahead = in_a_row ? (w->ahead < s->count ? 2 * w->ahead : w->ahead) : 1;
    uint32_t end = skin + 1;
    while (end < s->count && end - skin < w->ahead &&
           (size_t)(s->records[end].vertex + s->records[end].vertices - s->records[skin].vertex) * 3 <= WINDOW_FLOATS) {
        end++;
    }
    return end;
}

static bool reserve_window(lm_world *world, lmi_gpu_skin_window *w, size_t floats, uint32_t skins)
{
    void *origins = w->origins;
    bool ok = lmi_reserve(&world->memory, &origins, &w->origin_room, 3 * skins, sizeof *w->origins);
    w->origins = origins;
    if (ok && w->room_size < floats) {
        lmi_release(&world->memory, w->room, w->room_size, sizeof *w->room);
        w->room = lmi_allocate(&world->memory, floats, sizeof *w->room);
        w->room_size = w->room ? floats : 0;
        ok = w->room != NULL;
    }
    return ok;
}

/* One skin's positions or normals, and its origin: from what was read back before, or from the device. */
static bool read_skin(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s, uint32_t skin, bool normals, lm_vec3 *to,
                      double origin[3])
{
    lmi_gpu_skin_window *w = &s->window[normals];
    const lmi_gpu_buffer *from = normals ? &s->normals : &s->positions;
    const lmi_gpu_skin *record = &s->records[skin];
    if (w->serial != gpu->serial || skin < w->first || skin >= w->end) {
        uint32_t end = end_of_window(s, w, skin, gpu->serial), first_vertex = record->vertex;
        const lmi_gpu_skin *last = &s->records[end - 1];
        size_t floats = (size_t)(last->vertex + last->vertices - first_vertex) * 3, f = sizeof(float);
        bool ok = reserve_window(world, w, floats, end - skin);
        w->serial = 0;
        if (!ok || !lmi_gpu_read(gpu, from, (size_t)first_vertex * 3 * f, w->room, floats * f) ||
            (!normals && !lmi_gpu_read(gpu, &s->origins, (size_t)skin * 3 * sizeof(double), w->origins,
                                       (size_t)(end - skin) * 3 * sizeof(double)))) {
            return false;
        }
        w->first = skin;
        w->end = end;
        w->serial = gpu->serial;
    }
    size_t at = (size_t)(record->vertex - s->records[w->first].vertex) * 3;
    memcpy(to, w->room + at, (size_t)record->vertices * sizeof *to);
    if (!normals) {
        memcpy(origin, w->origins + 3 * (size_t)(skin - w->first), 3 * sizeof *origin);
    }
    return true;
}

static bool get_skin(lm_world *world, lmi_gpu *gpu, uint32_t slot, lm_vec3 *positions, lm_vec3 *normals,
                     double origin[3])
{
    lmi_gpu_skinning *s = lmi_gpu_skins_ready(world, gpu, normals != NULL);
    if (!s || slot >= s->slots || s->of_slot[slot] == LMI_GPU_NONE) {
        return false;
    }
    uint32_t skin = s->of_slot[slot];
    bool ok = (!positions || read_skin(world, gpu, s, skin, false, positions, origin)) &&
              (!normals || read_skin(world, gpu, s, skin, true, normals, origin));
    if (!ok) {
        give_up(gpu, s);
    }
    return ok;
}

void lmi_gpu_skins_tell(lm_world *world, const lmi_gpu *gpu, const char *why)
{
    lmi_gpu_fetch(world); /* says so itself where the device is lost */
    if (!gpu->lost) {
        lmi_fail(world, LM_ERROR_UNSUPPORTED, "device %.80s: skins: %s; the CPU makes them", gpu->name, why);
    }
}

bool lmi_gpu_get_skin(const lm_world *constant, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals,
                      lm_dvec3 *origin)
{
    lm_world *world = (lm_world *)constant; /* its state stays where it is */
    lmi_gpu *gpu = world->gpu;
    double from[3] = {0.0, 0.0, 0.0};
    if (!gpu || body->batch == LMI_NONE || !atomic_load(&gpu->newer) || !lmi_gpu_skin_is_made(body)) {
        return false;
    }
    lmi_mutex_lock(&gpu->fetching);
    /* Where the host has changed bodies since the world was laid out, tables can be used that were made before. */
    bool known = !gpu->mixed || (gpu->skins && gpu->skins->laid_out == gpu->layouts);
    if (!known || !lmi_gpu_is_behind(gpu, body->batch)) {
        lmi_mutex_unlock(&gpu->fetching);
        return false;
    }
    bool was_off = gpu->skins && gpu->skins->off;
    bool ok = atomic_load(&gpu->newer) && get_skin(world, gpu, body->slot, positions, normals, from);
    const char *why = gpu->skins && !was_off ? gpu->skins->off : NULL;
    lmi_mutex_unlock(&gpu->fetching);
    if (why) {
        lmi_gpu_skins_tell(world, gpu, why);
    }
    *origin = dvec(from[0], from[1], from[2]);
    return ok;
}
