#include "gpu/stand.h"

#include "contact/contact.h"
#include "contact/push.h"
#include "gpu/clusters.h"
#include "gpu/example_regions.h"
#include "gpu/kinds.h"
#include "gpu/layout.h"
#include "octree/octree_body.h"

/* The macro of the same name in the kernels' text. */
#define FIND_ARGUMENTS                                                                                                 \
    LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(w->walled), LMI_GPU_BUFFER(s->standing), LMI_GPU_BUFFER(s->pushes),    \
        LMI_GPU_BUFFER(gpu->surfaces), LMI_GPU_VALUE(words), LMI_GPU_BUFFER(w->near_bits), LMI_GPU_BUFFER(w->rules),   \
        LMI_GPU_VALUE(rules), LMI_GPU_BUFFER(w->solids), LMI_GPU_BUFFER(w->heights), LMI_GPU_BUFFER(w->spans),         \
        LMI_GPU_BUFFER(w->faces), LMI_GPU_BUFFER(w->nodes), LMI_GPU_BUFFER(w->cells), LMI_GPU_BUFFER(w->start_of),     \
        LMI_GPU_VALUE(has_solids), LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v), LMI_GPU_VALUE(h),                   \
        LMI_GPU_VALUE(fall)

static const size_t group[2] = {LMI_GPU_PIECE, 1}, wide[2] = {256, 1}, one[2] = {1, 1};

/* Contacts of one body that are processed in order; the host does not wait for memory when it does so, and with more of them
 * that counts for more than the way over and back. */
#define MOST_CONTACTS 2048u

bool lmi_gpu_has_stiff(const lm_world *world)
{
    bool stiff = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        stiff = stiff || (body->touch.count == 0 && lmi_push_is_firm(body));
    }
    return stiff;
}

bool lmi_gpu_has_stands(const lm_world *world)
{
    const lmi_gpu *gpu = world->gpu;
    return gpu && (gpu->stiff || gpu->fast_steps > 0) && world->colliders.alive;
}

static bool find_kernels(lmi_gpu *gpu, lmi_gpu_stands *s)
{
    const lmi_gpu_named kernels[] = {{&s->push, "stand_push"},       {&s->count, "stand_count"},
                                     {&s->offsets, "stand_offsets"}, {&s->fill, "stand_fill"},
                                     {&s->solve, "stand_solve"},     {&s->end, "stand_end"},
                                     {&s->tally, "stand_tally"},     {&s->tell, "stand_tell"}};
    return LMI_GPU_FIND(gpu->walls->program, kernels);
}

static bool put_standing(lm_world *world, lmi_gpu *gpu, lmi_gpu_stands *s)
{
    array all = {0};
    lmi_gpu_standing *to = append(world, &all, gpu->body_count, sizeof *to);
    for (uint32_t n = 0; to && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        bool never = body->touch.count || (body->octree && body->octree->clefts); /* lmi_push_begin */
        to[n] = (lmi_gpu_standing){.limit = never ? 0 : lmi_contacts_limit(body)};
    }
    bool ok = to && put_array(gpu, &s->standing, &all, sizeof *to);
    drop(world, &all, sizeof *to);
    return ok;
}

bool lmi_gpu_stand_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->stands) {
        return true;
    }
    if (!gpu->standing) {
        gpu->standing = lmi_gpu_make_part(gpu, sizeof *gpu->standing, NULL);
        if (!gpu->standing || !find_kernels(gpu, gpu->standing)) {
            return false;
        }
    }
    lmi_gpu_stands *s = gpu->standing;
    const size_t state = gpu->meets ? 0 : (size_t)gpu->particles * 4 * sizeof(float);
    return put_standing(world, gpu, s) && lmi_gpu_reserve(gpu, &s->pushes, gpu->body_count * sizeof(lmi_gpu_push)) &&
           lmi_gpu_reserve(gpu, &s->found, 3 * sizeof(uint32_t)) && lmi_gpu_reserve(gpu, &s->kept_x, state) &&
           lmi_gpu_reserve(gpu, &s->kept_v, state);
}

bool lmi_gpu_stand_keep(lmi_gpu *gpu)
{
    const lmi_gpu_stands *s = gpu->standing;
    const size_t size = (size_t)gpu->particles * 4 * sizeof(float);
    return lmi_gpu_copy(gpu, &gpu->x, &s->kept_x, size) && lmi_gpu_copy(gpu, &gpu->v, &s->kept_v, size) &&
           lmi_gpu_clusters_keep(gpu) && lmi_gpu_examples_keep(gpu) && lmi_gpu_kinds_keep(gpu);
}

bool lmi_gpu_stand_restore(lmi_gpu *gpu)
{
    const lmi_gpu_stands *s = gpu->standing;
    const size_t size = (size_t)gpu->particles * 4 * sizeof(float);
    return lmi_gpu_copy(gpu, &s->kept_x, &gpu->x, size) && lmi_gpu_copy(gpu, &s->kept_v, &gpu->v, size) &&
           lmi_gpu_clusters_restore(gpu) && lmi_gpu_examples_restore(gpu) && lmi_gpu_kinds_restore(gpu);
}

/* --- a substep --- */

/* How each body answers, and how many contacts there are; *stop where they are not the device's. */
static bool count_contacts(lmi_gpu *gpu, const lmi_step *step, double fall, cl_uint *stop)
{
    const lmi_gpu_walls *w = gpu->walls;
    lmi_gpu_stands *s = gpu->standing;
    const cl_uint words = w->words, has_solids = w->solid_count > 0, rules = step->world->rule_count;
    const cl_uint count = gpu->body_count;
    const double h = step->h;
    const lmi_gpu_argument push[] = {LMI_GPU_BUFFER(gpu->bodies),
                                     LMI_GPU_BUFFER(s->standing),
                                     LMI_GPU_BUFFER(w->near_bits),
                                     LMI_GPU_VALUE(words),
                                     LMI_GPU_VALUE(h),
                                     LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v),
                                     LMI_GPU_BUFFER(s->pushes)};
    const lmi_gpu_argument contacts[] = {FIND_ARGUMENTS};
    const lmi_gpu_argument offsets[] = {LMI_GPU_BUFFER(s->standing), LMI_GPU_BUFFER(w->walled), LMI_GPU_VALUE(count),
                                        LMI_GPU_BUFFER(s->found)};
    const size_t bodies[2] = {count, 1};
    cl_uint found[3] = {0, 0, 0};
    bool ok = LMI_GPU_RUN(s->push, push, bodies, group) && LMI_GPU_RUN(s->count, contacts, bodies, group) &&
              LMI_GPU_RUN(s->offsets, offsets, one, wide) && lmi_gpu_read(gpu, &s->found, 0, found, sizeof found);
    s->total = found[0];
    /* Where a body may touch several solids they are processed again, with all that belongs to it. */
    *stop |= found[1] > MOST_CONTACTS || found[2] ? LMI_GPU_RIGID : 0;
    return ok;
}

static bool make_room(lmi_gpu *gpu, lmi_gpu_stands *s)
{
    uint32_t room = s->room ? s->room : 256;
    while (room < s->total) {
        room *= 2;
    }
    bool ok = lmi_gpu_reserve(gpu, &s->contacts, (size_t)room * sizeof(lmi_gpu_stand));
    s->room = ok ? room : 0;
    return ok;
}

bool lmi_gpu_stand_meet(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop)
{
    const lmi_gpu_walls *w = gpu->walls;
    lmi_gpu_stands *s = gpu->standing;
    const cl_uint words = w->words, has_solids = w->solid_count > 0, rules = step->world->rule_count;
    const cl_uint count = gpu->body_count, sweeps = LMI_MORE_SWEEPS;
    const double h = step->h, fall = 2.0 * h * h * dvec_length(step->gravity); /* lmi_contact_slop */
    const float seconds = (float)h;
    if (!count_contacts(gpu, step, fall, stop) || *stop || s->total == 0 || !make_room(gpu, s)) {
        return gpu->status == CL_SUCCESS;
    }
    const lmi_gpu_argument fill[] = {FIND_ARGUMENTS, LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument solve[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->standing), LMI_GPU_VALUE(count),
                                      LMI_GPU_BUFFER(s->pushes),   LMI_GPU_BUFFER(s->contacts), LMI_GPU_VALUE(sweeps),
                                      LMI_GPU_VALUE(seconds),      LMI_GPU_BUFFER(gpu->x),      LMI_GPU_BUFFER(gpu->v)};
    const lmi_gpu_argument end[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->standing), LMI_GPU_BUFFER(s->pushes),
                                    LMI_GPU_BUFFER(gpu->x), LMI_GPU_BUFFER(gpu->v)};
    const size_t bodies[2] = {count, 1}, few[2] = {(count + LMI_GPU_PIECE - 1) / LMI_GPU_PIECE, 1};
    return LMI_GPU_RUN(s->fill, fill, bodies, group) && LMI_GPU_RUN(s->solve, solve, few, group) &&
           LMI_GPU_RUN(s->end, end, bodies, group);
}

bool lmi_gpu_stand_tally(lmi_gpu *gpu)
{
    const lmi_gpu_stands *s = gpu->standing;
    const cl_uint count = gpu->body_count;
    const lmi_gpu_argument tally[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->standing), LMI_GPU_VALUE(count)};
    const size_t few[2] = {(count + LMI_GPU_PIECE - 1) / LMI_GPU_PIECE, 1};
    const lmi_gpu_walls *w = gpu->walls;
    const lmi_gpu_argument tell[] = {LMI_GPU_BUFFER(gpu->bodies),    LMI_GPU_BUFFER(s->standing),
                                     LMI_GPU_VALUE(count),           LMI_GPU_BUFFER(w->walled),
                                     LMI_GPU_BUFFER(s->contacts),    LMI_GPU_BUFFER(w->touches),
                                     LMI_GPU_BUFFER(w->touch_counts)};
    return s->total == 0 ||
           (LMI_GPU_RUN(s->tally, tally, few, group) && (!w->tells || LMI_GPU_RUN(s->tell, tell, few, group)));
}
