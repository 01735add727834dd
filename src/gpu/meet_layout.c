/*
 * What the kernels of meet.cl read and no step changes: touch points and the particles that hold them, cube maps and theirs, and
 * the same lists seen from the particles. Bodies of one mould share the distances of their maps.
 */
#include "contact/penalty.h"
#include "contact/rubble.h"
#include "gpu/gpu_meet.h"
#include "gpu/layout.h"
#include "octree/octree_body.h"
#include "touch/bulk.h"
#include "touch/cube.h"
#include "touch/depth.h"

#include <stdio.h>

_Static_assert(LMI_GPU_CUBES == LMI_CUBE_MOST, "as many cube maps as a body has");
_Static_assert(LMI_GPU_SOLVED == (int)LM_CONTACT_METHOD_SOLVED && LMI_GPU_CUBE_MAP == (int)LM_CONTACT_METHOD_CUBE_MAP,
               "as the host numbers them");

#define MAP_FLOATS 12
#define MAP_DEPTHS (6 * LMI_CUBE_SIDE * LMI_CUBE_SIDE)

typedef struct meet_layout {
    lm_world *world;
    lmi_gpu *gpu;
    array meeters, owner, point_first, point_rider, point_weight;
    array map_first, map_rider, map_hold, map_across, depths, moulds, cubes;
    array first_of_points, point_of, weight_of, first_of_maps, map_of, hold_of;
    uint32_t depth_count;
} meet_layout;

/* Whose distances are where. */
typedef struct known_mould {
    const lmi_mould *mould;
    uint32_t first;
} known_mould;

static bool add_word(meet_layout *l, array *to, uint32_t word)
{
    uint32_t *at = append(l->world, to, 1, sizeof *at);
    if (at) {
        *at = word;
    }
    return at != NULL;
}

static bool add_float(meet_layout *l, array *to, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return add_word(l, to, word);
}

static bool add_points(meet_layout *l, const lmi_touch *touch, uint32_t particle, uint32_t meeter)
{
    bool ok = true;
    for (uint32_t n = 0; ok && n < touch->count; n++) {
        ok = add_word(l, &l->owner, meeter) && add_word(l, &l->point_first, l->point_rider.count);
        for (uint32_t row = touch->first_row[n / LMI_BLOCK]; ok && row < touch->first_row[n / LMI_BLOCK + 1]; row++) {
            size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
            ok = touch->weight[at] == 0.0f || (add_word(l, &l->point_rider, particle + touch->rider[at]) &&
                                               add_float(l, &l->point_weight, touch->weight[at]));
        }
    }
    return ok;
}

/* Every carrier is a map. */
static uint32_t maps_of(const lmi_body *body) { return body->bulk ? body->bulk->mould->carrier_count : 0; }

static bool add_maps(meet_layout *l, const lmi_body *body, uint32_t particle)
{
    const lmi_mould *mould = body->bulk ? body->bulk->mould : NULL;
    bool ok = true;
    for (uint32_t c = 0; ok && c < maps_of(body); c++) {
        const float *across = mould->across + 4 * (size_t)c;
        ok = add_word(l, &l->map_first, l->map_rider.count) && add_float(l, &l->map_across, across[0]) &&
             add_float(l, &l->map_across, across[1]) && add_float(l, &l->map_across, across[2]) &&
             add_float(l, &l->map_across, across[3]);
        for (uint32_t k = 0; ok && k < mould->used[c]; k++) {
            size_t at = (size_t)c * mould->carrier_riders + k;
            ok = add_word(l, &l->map_rider, particle + mould->rider[at]) &&
                 add_float(l, &l->map_hold, mould->weight[at]) && add_float(l, &l->map_hold, mould->gradient[3 * at]) &&
                 add_float(l, &l->map_hold, mould->gradient[3 * at + 1]) &&
                 add_float(l, &l->map_hold, mould->gradient[3 * at + 2]);
        }
    }
    return ok;
}

/* The first of the distances of a body's maps, which are added where no body of the same mould has come before. */
static bool find_depths(meet_layout *l, const lmi_body *body, uint32_t *first)
{
    const known_mould *known = l->moulds.items;
    for (uint32_t n = l->moulds.count; n-- > 0;) {
        if (known[n].mould == body->bulk->mould) {
            *first = known[n].first;
            return true;
        }
    }
    known_mould *added = append(l->world, &l->moulds, 1, sizeof *added);
    float *depths = append(l->world, &l->depths, body->cubes->count * MAP_DEPTHS, sizeof *depths);
    if (!added || !depths) {
        return false;
    }
    memcpy(depths, body->cubes->depth, (size_t)body->cubes->count * MAP_DEPTHS * sizeof *depths);
    *added = (known_mould){body->bulk->mould, l->depth_count};
    *first = l->depth_count;
    l->depth_count += body->cubes->count;
    return true;
}

/* Which carriers of a body have a cube map, where there may be others without. */
static bool add_cubes(meet_layout *l, const lmi_body *body)
{
    uint32_t *to = append(l->world, &l->cubes, LMI_GPU_CUBES + 1, sizeof *to);
    for (uint32_t n = 0; to && n <= LMI_GPU_CUBES; n++) {
        bool used = body->cubes && n <= body->cubes->count;
        to[n] = !used ? 0 : n == 0 ? body->cubes->count : body->cubes->carrier[n - 1];
    }
    return to != NULL;
}

static uint32_t marks_of(const lmi_body *body)
{
    return (body->octree && body->octree->clefts ? LMI_GPU_CLEFT : 0u) | (lmi_is_rubble(body) ? LMI_GPU_RUBBLE : 0u) |
           (lmi_gpu_is_in_pieces(body) ? LMI_GPU_PIECES : 0u) | (body->plastic_material ? LMI_GPU_FLOWS : 0u);
}

static bool add_body(meet_layout *l, uint32_t record, const lmi_body *body)
{
    uint32_t index = l->meeters.count, particle = l->gpu->records[record].first, first_depth = 0;
    lmi_gpu_meeter *m = append(l->world, &l->meeters, 1, sizeof *m);
    bool cubes = l->world->contact_method == LM_CONTACT_METHOD_CUBE_MAP && body->cubes;
    if (!m || (cubes && !find_depths(l, body, &first_depth)) || !add_cubes(l, body)) {
        return false;
    }
    bool felt = body->bulk && body->bulk->mould->triangle_count;
    double gap = body->bulk ? LMI_GAP * body->bulk->mould->cell : 0.0;
    *m = (lmi_gpu_meeter){.penalty = lmi_penalty_of(body, l->gpu->h),
                          .mean_mass = body->mean_mass,
                          .radius = body->contact_radius,
                          .skin = felt ? body->contact_radius : 0.0f,
                          .reach = (float)(body->contact_radius + body->touch.beyond + 0.01 * body->rest_size),
                          .apart = (float)(gap + (lmi_is_rubble(body) ? lmi_rubble_reach(body) : 0.0)),
                          .record = record,
                          .group = body->group,
                          .mask = lmi_body_meets(body) ? body->mask : 0,
                          .first_point = l->owner.count,
                          .points = body->touch.count,
                          .first_map = l->map_first.count,
                          .maps = maps_of(body),
                          .first_depth = first_depth,
                          .marks = marks_of(body)};
    return add_points(l, &body->touch, particle, index) && add_maps(l, body, particle);
}

/* Lists seen from the other side: for each particle the targets that it holds, in their order, and with what. */
static bool turn(meet_layout *l, const array *first, const array *rider, const array *hold, uint32_t words,
                 array *first_of, array *target_of, array *hold_of)
{
    const uint32_t *from = first->items, *who = rider->items, *what = hold->items, particles = l->gpu->particles;
    uint32_t *begin = append(l->world, first_of, particles + 1, sizeof *begin);
    uint32_t *target = append(l->world, target_of, rider->count, sizeof *target);
    uint32_t *with = append(l->world, hold_of, rider->count * words, sizeof *with);
    if (!begin || !target || !with) {
        return false;
    }
    memset(begin, 0, (particles + 1) * sizeof *begin);
    for (uint32_t k = 0; k < rider->count; k++) {
        begin[who[k] + 1]++;
    }
    for (uint32_t n = 0; n < particles; n++) {
        begin[n + 1] += begin[n];
    }
    for (uint32_t n = 0; n + 1 < first->count; n++) {
        for (uint32_t k = from[n]; k < from[n + 1]; k++) {
            uint32_t at = begin[who[k]]++;
            target[at] = n;
            memcpy(with + (size_t)at * words, what + (size_t)k * words, words * sizeof *with);
        }
    }
    for (uint32_t n = particles; n > 0; n--) { /* each has come to where the next began */
        begin[n] = begin[n - 1];
    }
    begin[0] = 0;
    return true;
}

static bool upload(meet_layout *l, lmi_gpu_meet *m)
{
    lmi_gpu *gpu = l->gpu;
    const size_t u = sizeof(uint32_t), state = (size_t)gpu->particles * 4 * sizeof(float);
    const struct {
        lmi_gpu_buffer *to;
        const array *from;
    } words[] = {{&m->owner, &l->owner},
                 {&m->point_first, &l->point_first},
                 {&m->point_rider, &l->point_rider},
                 {&m->point_weight, &l->point_weight},
                 {&m->map_first, &l->map_first},
                 {&m->map_rider, &l->map_rider},
                 {&m->map_hold, &l->map_hold},
                 {&m->map_across, &l->map_across},
                 {&m->depths, &l->depths},
                 {&m->cubes, &l->cubes},
                 {&m->first_of_points, &l->first_of_points},
                 {&m->point_of, &l->point_of},
                 {&m->weight_of, &l->weight_of},
                 {&m->first_of_maps, &l->first_of_maps},
                 {&m->map_of, &l->map_of},
                 {&m->hold_of, &l->hold_of}};
    bool ok = put_array(gpu, &m->meeters, &l->meeters, sizeof(lmi_gpu_meeter));
    for (size_t n = 0; ok && n < sizeof words / sizeof *words; n++) {
        ok = put_array(gpu, words[n].to, words[n].from, u);
    }
    return ok && lmi_gpu_reserve(gpu, &m->cell_grid, 4 * sizeof(double)) &&
           lmi_gpu_reserve(gpu, &m->buckets, m->table * u) &&
           lmi_gpu_reserve(gpu, &m->first_of_bucket, (m->table + 1) * u) &&
           lmi_gpu_reserve(gpu, &m->members, m->meeter_count * u) &&
           lmi_gpu_reserve(gpu, &m->partner_lists, (size_t)m->meeter_count * LMI_GPU_PARTNERS * u) &&
           lmi_gpu_reserve(gpu, &m->now, m->point_count * 4 * u) &&
           lmi_gpu_reserve(gpu, &m->map_now, m->map_count * MAP_FLOATS * u) &&
           lmi_gpu_reserve(gpu, &m->map_given, m->map_count * MAP_FLOATS * u) &&
           lmi_gpu_reserve(gpu, &m->kept_x, state) && lmi_gpu_reserve(gpu, &m->kept_v, state);
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_meet *m)
{
    static const char *const texts[] = {"prelude.cl", "records.h", "wall_records.h", "account_records.h", "vec.h",
                                        "vec.c",      "stretch.h", "meet.cl",        "account.cl",        NULL};
    const lmi_gpu_named kernels[] = {{&m->boxes, "meet_boxes"}, {&m->grid, "meet_grid"},
                                     {&m->cells, "meet_cells"}, {&m->scan, "meet_scan"},
                                     {&m->fill, "meet_fill"},   {&m->partners, "meet_partners"},
                                     {&m->place, "meet_place"}, {&m->carry, "meet_carry"}};
    char options[1024];
    int length = lmi_gpu_common_options(gpu, options, sizeof options);
    snprintf(options + length, sizeof options - (size_t)length, " -DACCOUNT_ENDS");
    return lmi_gpu_build(world, gpu, &m->program, texts, options) && LMI_GPU_FIND(m->program, kernels);
}

static bool gather(meet_layout *l)
{
    bool ok = add_word(l, &l->cubes, l->world->contact_method);
    for (uint32_t n = 0; ok && n < l->gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(l->world, l->gpu->slots[n]);
        ok = !lmi_gpu_needs_solver(l->world, body) || add_body(l, n, body);
    }
    return ok && add_word(l, &l->point_first, l->point_rider.count) && add_word(l, &l->map_first, l->map_rider.count) &&
           turn(l, &l->point_first, &l->point_rider, &l->point_weight, 1, &l->first_of_points, &l->point_of,
                &l->weight_of) &&
           turn(l, &l->map_first, &l->map_rider, &l->map_hold, 4, &l->first_of_maps, &l->map_of, &l->hold_of);
}

bool lmi_gpu_meet_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->meets) {
        return true;
    }
    if (!gpu->meet) {
        gpu->meet = lmi_gpu_make_part(gpu, sizeof *gpu->meet, NULL);
        if (!gpu->meet || !build(world, gpu, gpu->meet)) {
            return false;
        }
    }
    lmi_gpu_meet *m = gpu->meet;
    meet_layout l = {.world = world, .gpu = gpu};
    bool ok = gather(&l);
    m->meeter_count = l.meeters.count;
    m->point_count = l.owner.count;
    m->map_count = ok ? l.map_first.count - 1 : 0;
    m->table = 64;
    while (m->table < 2 * m->meeter_count) {
        m->table *= 2;
    }
    ok = ok && upload(&l, m);
    array *const all[] = {&l.owner,     &l.point_first,   &l.point_rider,     &l.point_weight,
                          &l.map_first, &l.map_rider,     &l.map_hold,        &l.map_across,
                          &l.depths,    &l.cubes,         &l.first_of_points, &l.point_of,
                          &l.weight_of, &l.first_of_maps, &l.map_of,          &l.hold_of};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        drop(world, all[n], sizeof(uint32_t));
    }
    drop(world, &l.meeters, sizeof(lmi_gpu_meeter));
    drop(world, &l.moulds, sizeof(known_mould));
    return ok;
}
