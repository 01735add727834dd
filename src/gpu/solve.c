/*
 * The launches of contacts that are solved.
 *
 * Contacts are found and counted on the device, which costs nothing that a substep of the host's would miss; then the host waits
 * for the word that says whether the substep is the device's, and learns how many there are on the same way.
 */
#include "gpu/solve.h"

#include "contact/contact.h"
#include "contact/soft.h"
#include "gpu/account.h"
#include "gpu/gpu_meet.h"
#include "gpu/press.h"

#define WIDE 256

/* The macros of the same names in the kernels' texts. */
#define LIST_ARGUMENTS LMI_GPU_LIST_ARGUMENTS
#define PARTICLE_ARGUMENTS                                                                                             \
    LMI_GPU_BUFFER(m->first_of_points), LMI_GPU_BUFFER(m->point_of), LMI_GPU_BUFFER(m->weight_of),                     \
        LMI_GPU_BUFFER(m->first_of_maps), LMI_GPU_BUFFER(m->map_of), LMI_GPU_BUFFER(m->hold_of),                       \
        LMI_GPU_BUFFER(s->cell_of), LMI_GPU_BUFFER(s->around)

static const size_t group[2] = {64, 1}, wide[2] = {WIDE, 1}, one[2] = {1, 1};

/* Partners in the order of the host's pairs, and the colliders that each body may touch. */
static bool arrange(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = m->meeter_count, surfaces = step->surface_count;
    const double h = step->h;
    const lmi_gpu_argument line[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count), LMI_GPU_BUFFER(s->axis)};
    const lmi_gpu_argument curve[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count),
                                      LMI_GPU_BUFFER(s->solids),  LMI_GPU_BUFFER(gpu->bodies),
                                      LMI_GPU_BUFFER(s->axis),    LMI_GPU_BUFFER(gpu->surfaces),
                                      LMI_GPU_VALUE(surfaces),    LMI_GPU_VALUE(h),
                                      LMI_GPU_BUFFER(s->near),    LMI_GPU_BUFFER(gpu->stop)};
    const lmi_gpu_argument order[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_VALUE(count),
                                      LMI_GPU_BUFFER(s->solids),  LMI_GPU_BUFFER(m->partner_lists),
                                      LMI_GPU_BUFFER(s->stops),   LMI_GPU_BUFFER(s->bracing.deepest)};
    const size_t bodies[2] = LMI_GPU_GROUPS_OF(count);
    return LMI_GPU_RUN(s->line_kernel, line, one, wide) && LMI_GPU_RUN(s->curve_kernel, curve, bodies, group) &&
           LMI_GPU_RUN(s->order_kernel, order, bodies, group);
}

/* Which partners the points of each body are in; no contact is in a bucket yet. */
static bool mark_pairs(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument pairs[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->met),
                                      LMI_GPU_BUFFER(s->turned), LMI_GPU_BUFFER(s->bucket_counts)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->pairs_kernel, pairs, bodies, group);
}

static bool find_contacts(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    const cl_uint points = m->point_count, rules = step->world->rule_count, told = gpu->accounts->events;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument find[] = {
        LMI_GPU_VALUE(points),          LMI_GPU_BUFFER(m->owner),        LMI_GPU_BUFFER(m->partner_lists),
        LMI_GPU_BUFFER(s->stops),       LMI_GPU_SOLID_ARGUMENTS,         LMI_GPU_BUFFER(m->point_first),
        LMI_GPU_BUFFER(m->point_rider), LMI_GPU_BUFFER(m->point_weight), LMI_GPU_BUFFER(gpu->v),
        LMI_GPU_WALL_ARGUMENTS,         LMI_GPU_BUFFER(s->pushes),       LMI_GPU_BUFFER(s->met),
        LMI_GPU_BUFFER(s->turned),      LMI_GPU_BUFFER(s->walls),        LMI_GPU_VALUE(told),
        LMI_GPU_BUFFER(s->noticed)};
    const lmi_gpu_argument stops[] = {
        LMI_GPU_VALUE(points),   LMI_GPU_BUFFER(m->owner), LMI_GPU_BUFFER(m->partner_lists), LMI_GPU_BUFFER(s->stops),
        LMI_GPU_SOLID_ARGUMENTS, LMI_GPU_BUFFER(s->met),   LMI_GPU_BUFFER(s->turned)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    return LMI_GPU_RUN(s->find_kernel, find, of_points, group) && lmi_gpu_self_find(gpu, step) && mark_pairs(gpu) &&
           LMI_GPU_RUN(s->stops_kernel, stops, of_points, group) && lmi_gpu_rubble_find(gpu, step);
}

/* The contacts of each body, from the bits of its points. */
static bool count_by_body(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument count[] = {
        LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids),        LMI_GPU_BUFFER(m->partner_lists),
        LMI_GPU_BUFFER(s->pushes),  LMI_GPU_BUFFER(s->met),           LMI_GPU_BUFFER(s->turned),
        LMI_GPU_BUFFER(s->walls),   LMI_GPU_BUFFER(s->rubble.rubbed), LMI_GPU_BUFFER(s->first)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->count_kernel, count, bodies, group);
}

/* Where the contacts of each body begin, or those in its lists. */
static bool find_offsets(lmi_gpu *gpu, cl_uint lists)
{
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = gpu->meet->meeter_count;
    const lmi_gpu_argument offsets[] = {LMI_GPU_BUFFER(s->solids), LMI_GPU_VALUE(count), LMI_GPU_VALUE(lists),
                                        LMI_GPU_BUFFER(s->found), LMI_GPU_BUFFER(gpu->stop)};
    return LMI_GPU_RUN(s->offsets_kernel, offsets, one, wide);
}

_Static_assert(sizeof(lmi_gpu_contact) % sizeof(lmi_gpu_quad) == 0, "devices align records to quads");

/* Room for contacts: twice as much as before when there is not enough. */
static bool make_room(lmi_gpu *gpu)
{
    lmi_gpu_solver *s = gpu->solver;
    if (s->contact_count <= s->contact_room) {
        return true;
    }
    uint32_t room = s->contact_room ? s->contact_room : 1024;
    while (room < s->contact_count) {
        room *= 2;
    }
    bool ok = lmi_gpu_reserve(gpu, &s->contacts, room * sizeof(lmi_gpu_contact)) &&
              lmi_gpu_reserve(gpu, &s->listed, room * sizeof(uint32_t));
    s->contact_room = ok ? room : 0;
    return ok;
}

static bool fill(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    const cl_uint points = m->point_count, count = s->contact_count, bucket_count = s->bucket_count;
    const cl_uint rules = step->world->rule_count;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument claim[] = {LMI_GPU_VALUE(points),      LMI_GPU_BUFFER(m->owner),
                                      LMI_GPU_BUFFER(s->leaders), LMI_GPU_BUFFER(m->partner_lists),
                                      LMI_GPU_BUFFER(s->solids),  LMI_GPU_BUFFER(s->near),
                                      LMI_GPU_BUFFER(s->met),     LMI_GPU_BUFFER(s->turned),
                                      LMI_GPU_BUFFER(s->walls),   LMI_GPU_BUFFER(s->rubble.rubbed),
                                      LMI_GPU_BUFFER(s->first),   LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument fill[] = {LMI_GPU_VALUE(count),
                                     LMI_GPU_BUFFER(m->partner_lists),
                                     LMI_GPU_BUFFER(s->stops),
                                     LMI_GPU_SOLID_ARGUMENTS,
                                     LMI_GPU_SELF_ARGUMENTS,
                                     LMI_GPU_BUFFER(s->self.disc_met),
                                     LMI_GPU_HOLD_ARGUMENTS,
                                     LMI_GPU_BUFFER(m->map_across),
                                     LMI_GPU_BUFFER(gpu->map),
                                     LMI_GPU_BUFFER(s->cells),
                                     LMI_GPU_BUFFER(gpu->x),
                                     LMI_GPU_BUFFER(gpu->v),
                                     LMI_GPU_WALL_ARGUMENTS,
                                     LMI_GPU_BUFFER(s->pushes),
                                     LMI_GPU_BUFFER(s->contacts),
                                     LMI_GPU_BUFFER(s->bucket_counts),
                                     LMI_GPU_BUFFER(s->bracing.deepest)};
    const lmi_gpu_argument buckets[] = {LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(s->bucket_counts),
                                        LMI_GPU_BUFFER(s->bucket_first)};
    const lmi_gpu_argument list[] = {LMI_GPU_BUFFER(s->contacts),     LMI_GPU_VALUE(count),
                                     LMI_GPU_BUFFER(m->meeters),      LMI_GPU_BUFFER(s->solids),
                                     LMI_GPU_BUFFER(s->bucket_first), LMI_GPU_BUFFER(s->listed)};
    const lmi_gpu_argument sort[] = {LMI_GPU_VALUE(bucket_count),     LMI_GPU_BUFFER(s->bucket_owner),
                                     LMI_GPU_BUFFER(s->solids),       LMI_GPU_BUFFER(s->bucket_counts),
                                     LMI_GPU_BUFFER(s->bucket_first), LMI_GPU_BUFFER(s->listed)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points), bodies[2] = {m->meeter_count, 1},
                 contacts[2] = LMI_GPU_GROUPS_OF(count);
    const size_t all[2] = LMI_GPU_GROUPS_OF(bucket_count);
    return LMI_GPU_RUN(s->claim_kernel, claim, of_points, group) &&
           LMI_GPU_RUN(s->fill_kernel, fill, contacts, group) && lmi_gpu_rubble_fill(gpu, step) &&
           LMI_GPU_RUN(s->buckets_kernel, buckets, bodies, group) && find_offsets(gpu, 1) &&
           LMI_GPU_RUN(s->list_kernel, list, contacts, group) &&
           (bucket_count == 0 || LMI_GPU_RUN(s->sort_kernel, sort, all, group));
}

bool lmi_gpu_solve_find(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop)
{
    lmi_gpu_solver *s = gpu->solver;
    cl_uint found[4] = {0, 0, 0, 0};
    bool ok = lmi_gpu_meet_partners(gpu, step->h) && arrange(gpu, step) && lmi_gpu_push_begin(gpu, false) &&
              lmi_gpu_meet_place(gpu) && lmi_gpu_crush_find(gpu) && find_contacts(gpu, step) && count_by_body(gpu) &&
              find_offsets(gpu, 0) && lmi_gpu_read(gpu, &s->found, 0, found, sizeof found);
    s->contact_count = found[0];
    s->whole_count = s->most_whole = found[2];
    s->last_whole = 0;
    *stop = found[1];
    return ok && (*stop || s->contact_count == 0 ||
                  (make_room(gpu) && fill(gpu, step) && lmi_gpu_press_find(gpu, (float)step->h) &&
                   lmi_gpu_whole_arrange(gpu, false, stop)));
}

/* What particles hold: contacts, or (`borne`) what those were given last time. */
static bool load(lmi_gpu *gpu, cl_uint borne)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint particles = gpu->particles;
    const lmi_gpu_argument load[] = {
        LMI_GPU_VALUE(particles),    PARTICLE_ARGUMENTS,       LMI_GPU_BUFFER(s->map_bucket), LIST_ARGUMENTS,
        LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(s->loads), LMI_GPU_VALUE(borne)};
    const size_t all[2] = LMI_GPU_GROUPS_OF(particles);
    return LMI_GPU_RUN(s->load_kernel, load, all, group);
}

/* How mobile contacts are. */
static bool weigh(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = s->contact_count;
    const lmi_gpu_argument weigh[] = {LMI_GPU_VALUE(count),     LMI_GPU_HOLD_ARGUMENTS,      LMI_GPU_BUFFER(gpu->v),
                                      LMI_GPU_BUFFER(s->loads), LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(s->sweeps)};
    const size_t contacts[2] = LMI_GPU_GROUPS_OF(count);
    return load(gpu, 0) && LMI_GPU_RUN(s->weigh_kernel, weigh, contacts, group);
}

/* What contacts give next, to velocities or to positions. */
static bool give(lmi_gpu *gpu, const lmi_gpu_buffer *to)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint particles = gpu->particles, maps = m->map_count;
    const float most = to == &gpu->v ? LM_MAX_SPEED : LM_MAX_COORDINATE;
    const lmi_gpu_argument gather[] = {LMI_GPU_VALUE(maps),
                                       LMI_GPU_BUFFER(s->map_bucket),
                                       LMI_GPU_BUFFER(s->bucket_counts),
                                       LMI_GPU_BUFFER(s->bucket_first),
                                       LMI_GPU_BUFFER(s->listed),
                                       LMI_GPU_BUFFER(s->contacts),
                                       LMI_GPU_BUFFER(m->map_given)};
    const lmi_gpu_argument apply[] = {
        LMI_GPU_VALUE(particles),    LMI_GPU_VALUE(most),          PARTICLE_ARGUMENTS,     LIST_ARGUMENTS,
        LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(m->map_given), LMI_GPU_BUFFER(gpu->v), LMI_GPU_BUFFER(*to)};
    const size_t all[2] = LMI_GPU_GROUPS_OF(particles), of_maps[2] = LMI_GPU_GROUPS_OF(maps);
    return (maps == 0 || LMI_GPU_RUN(s->gather_kernel, gather, of_maps, group)) &&
           LMI_GPU_RUN(s->apply_kernel, apply, all, group);
}

/* Bodies that are pushed out of each other by a force: contacts with colliders are solved then. */
static bool press(lmi_gpu *gpu, float h)
{
    return !gpu->presses || (weigh(gpu) && lmi_gpu_press_begin(gpu, h) && give(gpu, &gpu->v) && lmi_gpu_press_end(gpu));
}

/* What points were given last time. */
static bool warm_up(lmi_gpu *gpu)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint points = m->point_count, count = s->contact_count;
    const lmi_gpu_argument begin[] = {LMI_GPU_VALUE(count), LMI_GPU_HOLD_ARGUMENTS, LMI_GPU_BUFFER(gpu->v),
                                      LMI_GPU_BUFFER(s->loads), LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument warm[] = {LMI_GPU_VALUE(points),     LMI_GPU_BUFFER(m->owner),  LMI_GPU_BUFFER(s->solids),
                                     LMI_GPU_BUFFER(s->chains), LMI_GPU_BUFFER(s->first),  LMI_GPU_BUFFER(s->met),
                                     LMI_GPU_BUFFER(s->walls),  LMI_GPU_BUFFER(s->warmth), LMI_GPU_BUFFER(s->contacts)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points), contacts[2] = LMI_GPU_GROUPS_OF(count);
    return LMI_GPU_RUN(s->warm_kernel, warm, of_points, group) && load(gpu, 1) &&
           LMI_GPU_RUN(s->begin_kernel, begin, contacts, group) && give(gpu, &gpu->v) &&
           lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_WARM, 0, 1, 0.0f);
}

static bool solve_velocities(lmi_gpu *gpu, float h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = s->contact_count;
    const size_t contacts[2] = LMI_GPU_GROUPS_OF(count);
    bool ok = true;
    for (uint32_t n = 0; ok && n < LMI_SOFT_PASSES; n++) {
        const float beta = lmi_soft_further(n, LMI_SOFT_PASSES);
        const lmi_gpu_argument pass[] = {LMI_GPU_VALUE(count), LMI_GPU_HOLD_ARGUMENTS, LMI_GPU_BUFFER(gpu->v),
                                         LMI_GPU_VALUE(beta), LMI_GPU_BUFFER(s->contacts)};
        ok = LMI_GPU_RUN(s->velocity_kernel, pass, contacts, group) && give(gpu, &gpu->v) &&
             lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_VELOCITIES, n, n + 1, h);
    }
    return ok && lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_VELOCITIES, LMI_SOFT_PASSES, LMI_SWEEPS, h) &&
           lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_WEIGH, 0, 1, h);
}

static bool solve_positions(lmi_gpu *gpu, float h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = s->contact_count;
    const lmi_gpu_argument back[] = {LMI_GPU_VALUE(count), LMI_GPU_VALUE(h), LMI_GPU_BUFFER(m->meeters),
                                     LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->contacts)};
    const size_t contacts[2] = LMI_GPU_GROUPS_OF(count);
    bool ok = LMI_GPU_RUN(s->back_kernel, back, contacts, group) && give(gpu, &gpu->x) &&
              lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_BACK, 0, 1, h);
    for (uint32_t n = 0; ok && n < LMI_SOFT_SHIFTS; n++) {
        const float beta = lmi_soft_further(n, LMI_SOFT_SHIFTS), ease = n == 0 ? lmi_soft_ease(h) : 0.0f;
        const float ease_shallow = lmi_soft_ease_shallow(h);
        const lmi_gpu_argument pass[] = {
            LMI_GPU_VALUE(count), LMI_GPU_HOLD_ARGUMENTS,      LMI_GPU_BUFFER(gpu->x),     LMI_GPU_VALUE(beta),
            LMI_GPU_VALUE(ease),  LMI_GPU_VALUE(ease_shallow), LMI_GPU_BUFFER(s->contacts)};
        ok = LMI_GPU_RUN(s->shift_kernel, pass, contacts, group) && give(gpu, &gpu->x) &&
             lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_POSITIONS, n, n + 1, h);
    }
    return ok && lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_POSITIONS, LMI_SOFT_SHIFTS, 2 * LMI_SWEEPS, h);
}

static bool untwist(lmi_gpu *gpu, float h)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const cl_uint count = s->contact_count;
    const lmi_gpu_argument twist[] = {LMI_GPU_VALUE(count),   LMI_GPU_HOLD_ARGUMENTS, LMI_GPU_BUFFER(s->pushes),
                                      LMI_GPU_BUFFER(gpu->v), LMI_GPU_VALUE(h),       LMI_GPU_BUFFER(s->contacts)};
    const lmi_gpu_argument back[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids), LMI_GPU_BUFFER(gpu->bodies),
                                     LMI_GPU_BUFFER(s->pushes),  LMI_GPU_BUFFER(s->listed), LMI_GPU_BUFFER(s->contacts),
                                     LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(gpu->v)};
    const size_t contacts[2] = LMI_GPU_GROUPS_OF(count), bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->twist_kernel, twist, contacts, group) && lmi_gpu_push_end(gpu) &&
           LMI_GPU_RUN(s->untwist_kernel, back, bodies, group) && lmi_gpu_rubble_untwist(gpu);
}

static bool keep(lmi_gpu *gpu)
{
    lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_buffer ways = s->ways;
    s->ways = s->noticed;
    s->noticed = ways;
    const cl_uint points = gpu->meet->point_count;
    const lmi_gpu_argument keep[] = {LMI_GPU_VALUE(points),    LMI_GPU_BUFFER(s->first),    LMI_GPU_BUFFER(s->met),
                                     LMI_GPU_BUFFER(s->walls), LMI_GPU_BUFFER(s->contacts), LMI_GPU_BUFFER(s->warmth)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    return LMI_GPU_RUN(s->keep_kernel, keep, of_points, group) &&
           lmi_gpu_whole_sweep(gpu, LMI_GPU_SWEEP_KEEP, 0, 1, 0.0f);
}

/* What colliders gave. */
static bool add_impulses(lmi_gpu *gpu, cl_uint counted)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_argument impulse[] = {LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids),
                                        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(s->contacts),
                                        LMI_GPU_VALUE(counted)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->impulse_kernel, impulse, bodies, group);
}

/* What other bodies have pushed into colliders: counted, and known here. Each body by itself: no contact connects two. */
static bool find_again(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    lmi_gpu_solver *s = gpu->solver;
    const cl_uint points = m->point_count, rules = step->world->rule_count;
    const double fall = lmi_gpu_fall(step), seconds = step->h;
    const lmi_gpu_argument again[] = {
        LMI_GPU_VALUE(points),       LMI_GPU_BUFFER(m->owner), LMI_GPU_BUFFER(m->meeters), LMI_GPU_BUFFER(s->solids),
        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_HOLD_ARGUMENTS,   LMI_GPU_BUFFER(m->now),     LMI_GPU_BUFFER(gpu->v),
        LMI_GPU_WALL_ARGUMENTS,      LMI_GPU_VALUE(fall),      LMI_GPU_BUFFER(s->met),     LMI_GPU_BUFFER(s->turned),
        LMI_GPU_BUFFER(s->walls)};
    const size_t of_points[2] = LMI_GPU_GROUPS_OF(points);
    cl_uint found[4] = {0, 0, 0, 0};
    bool ok = lmi_gpu_meet_place(gpu) && LMI_GPU_RUN(s->again_kernel, again, of_points, group) && mark_pairs(gpu) &&
              lmi_gpu_rubble_forget(gpu) && count_by_body(gpu) && find_offsets(gpu, 0) &&
              lmi_gpu_read(gpu, &s->found, 0, found, sizeof found);
    s->contact_count = found[0];
    s->whole_count = found[2];
    return ok;
}

static bool meet_inner(lmi_gpu *gpu, const lmi_step *step)
{
    const lmi_gpu_meet *m = gpu->meet;
    const lmi_gpu_solver *s = gpu->solver;
    const lmi_gpu_walls *w = lmi_gpu_walls_there(gpu);
    const cl_uint rules = step->world->rule_count;
    const double seconds = step->h;
    const lmi_gpu_argument inner[] = {
        LMI_GPU_BUFFER(m->meeters),  LMI_GPU_BUFFER(s->solids),   LMI_GPU_BUFFER(gpu->bodies),
        LMI_GPU_BUFFER(s->pushes),   LMI_GPU_BUFFER(s->inner_of), LMI_GPU_WALL_ARGUMENTS,
        LMI_GPU_BUFFER(w->start_of), LMI_GPU_BUFFER(gpu->x),      LMI_GPU_BUFFER(gpu->v)};
    const size_t bodies[2] = {m->meeter_count, 1};
    return LMI_GPU_RUN(s->inner_kernel, inner, bodies, group);
}

/* Colliders have the last word: lmi_kernels.last_walls. Only bodies that have met others can have been pushed. */
static bool end_at_walls(lmi_gpu *gpu, const lmi_step *step, bool any)
{
    const float h = (float)step->h;
    cl_uint unused = 0;
    bool meet = gpu->meet->map_count > 0 || gpu->solver->rubble.grain_count > 0;
    bool ok = add_impulses(gpu, 1) && (!meet || lmi_gpu_push_begin(gpu, true));
    if (ok && any && meet) {
        ok = find_again(gpu, step);
        if (ok && gpu->solver->contact_count) {
            ok = make_room(gpu) && fill(gpu, step) && lmi_gpu_whole_arrange(gpu, true, &unused) && weigh(gpu) &&
                 solve_velocities(gpu, h) && solve_positions(gpu, h) && lmi_gpu_account_solved(gpu) &&
                 lmi_gpu_push_end(gpu) && add_impulses(gpu, 0);
        }
    }
    return ok && lmi_gpu_account_inner(gpu, step) && meet_inner(gpu, step) && lmi_gpu_solve_behind(gpu, step);
}

bool lmi_gpu_solve(lmi_gpu *gpu, const lmi_step *step)
{
    const float h = (float)step->h;
    bool any = gpu->solver->contact_count > 0;
    bool pressed = gpu->presses && step->surface_count == 0; /* then there is nothing left to solve */
    bool ok = !any || (press(gpu, h) &&
                       (pressed || (lmi_gpu_brace_bodies(gpu, step) && weigh(gpu) && warm_up(gpu) &&
                                    solve_velocities(gpu, h) && solve_positions(gpu, h))) &&
                       lmi_gpu_account_solved(gpu) && untwist(gpu, h));
    return ok && keep(gpu) && (step->surface_count == 0 || end_at_walls(gpu, step, any)) &&
           ((!any && step->surface_count == 0) || lmi_gpu_measure(gpu));
}
