#include "gpu/walls.h"
#include "contact/touching.h"
#include "gpu/account.h"
#include "gpu/layout.h"
#include "gpu/stand.h"
#include "octree/octree_body.h"
#include "world/in_step.h"

static const size_t group[2] = {LMI_GPU_PIECE, 1};

bool lmi_gpu_has_walls(const lm_world *world)
{
    bool any = world->rule_count || world->contact_events || world->drags.alive || world->skeletons.alive ||
               world->colliders.alive > LMI_GPU_MAX_SURFACES;
    LMI_POOL_EACH(&world->colliders, n)
    {
        any = any || lmi_solid_is(&LMI_POOL_AT(&world->colliders, lmi_collider, n)->solid);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        any = any || (lmi_body_at(world, n)->octree && !lmi_body_at(world, n)->touch.count);
    } /* leaves are as large as they are */
    return (any && world->colliders.alive) || lmi_gpu_has_stands(world);
}

static bool build(const lm_world *world, lmi_gpu *gpu, lmi_gpu_walls *w)
{
    static const char *const texts[] = {
        "prelude.cl", "records.h",       "wall_records.h", "vec.h",      "vec.c",        "solid.cl",
        "rule.h",     "triangle.h",      "triangle.c",     "mesh.h",     "mesh_query.c", "heights.h",
        "solid.h",    "heights_query.c", "solid_depth.c",  "contact.cl", "solid_at.cl",  "walls.cl",
        "quad.cl",    "soft.h",          "firm.h",         "push.cl",    "stand.cl",     NULL};
    const lmi_gpu_named kernels[] = {
        {&w->starts, "wall_starts"}, {&w->near, "wall_near"}, {&w->meet, "wall_meet"}, {&w->tally, "wall_tally"}};
    return lmi_gpu_build(world, gpu, &w->program, texts, NULL) && LMI_GPU_FIND(w->program, kernels);
}

/* --- what no step changes --- */

typedef struct wall_layout {
    array pieces, walled, margins;
    array solids, heights, spans, faces, nodes, cells;
} wall_layout;

static void describe_heights(const lmi_heights *map, lmi_gpu_ground *to)
{
    to->skin = map->skin;
    to->spacing = map->spacing;
    to->levels = map->level_count;
    to->n[0] = map->n[0];
    to->n[1] = map->n[1];
    for (uint32_t level = 0; level < map->level_count; level++) {
        to->side[level][0] = map->side[level][0];
        to->side[level][1] = map->side[level][1];
        to->start[level] = (uint32_t)map->start[level];
    }
}

static void describe_mesh(const lmi_mesh *mesh, lmi_gpu_ground *to)
{
    const double lower[3] = {mesh->lower.x, mesh->lower.y, mesh->lower.z};
    const double upper[3] = {mesh->upper.x, mesh->upper.y, mesh->upper.z};
    const double corner[3] = {mesh->first.x, mesh->first.y, mesh->first.z};
    to->skin = mesh->skin;
    to->cell = mesh->cell;
    to->solid = mesh->solid;
    memcpy(to->lower, lower, sizeof lower);
    memcpy(to->upper, upper, sizeof upper);
    memcpy(to->corner, corner, sizeof corner);
    memcpy(to->size, mesh->size, sizeof to->size);
}

/* Adds `count` things to an array; *first is where. */
static bool add(lm_world *world, array *to, const void *from, size_t count, size_t size, uint64_t *first)
{
    *first = to->count;
    void *at = count + to->count < UINT32_MAX - 1 ? append(world, to, (uint32_t)count, size) : NULL;
    if (at) {
        memcpy(at, from, count * size);
    }
    return at != NULL;
}

/* What a solid is made of, as a number: arrays that are there already are not sent again. */
static uint64_t hash_solid(const lmi_solid *solid)
{
    lmi_gpu_ground record = {0};
    if (solid->heights) {
        const lmi_heights *map = solid->heights;
        describe_heights(map, &record);
        return lmi_gpu_hash(&record, sizeof record) ^
               lmi_gpu_hash(map->heights, (size_t)map->n[0] * map->n[1] * sizeof(float));
    }
    const lmi_mesh *mesh = solid->mesh;
    describe_mesh(mesh, &record);
    return lmi_gpu_hash(&record, sizeof record) ^ lmi_gpu_hash(mesh->faces, mesh->face_count * sizeof *mesh->faces);
}

static bool add_solid(lm_world *world, wall_layout *l, const lmi_solid *solid)
{
    lmi_gpu_ground *to = append(world, &l->solids, 1, sizeof *to);
    if (!to) {
        return false;
    }
    if (solid->heights) {
        const lmi_heights *map = solid->heights;
        describe_heights(map, to);
        return add(world, &l->heights, map->heights, (size_t)map->n[0] * map->n[1], sizeof(float), &to->heights) &&
               add(world, &l->spans, map->spans, map->start[map->level_count], sizeof *map->spans, &to->spans);
    }
    const lmi_mesh *mesh = solid->mesh;
    size_t cells = (size_t)mesh->size[0] * mesh->size[1] * mesh->size[2];
    describe_mesh(mesh, to);
    return add(world, &l->faces, mesh->faces, mesh->face_count, sizeof *mesh->faces, &to->faces) &&
           add(world, &l->nodes, mesh->nodes, mesh->node_count, sizeof *mesh->nodes, &to->nodes) &&
           add(world, &l->cells, mesh->cells, cells, sizeof *mesh->cells, &to->cells);
}

static bool add_body(lm_world *world, const lmi_gpu *gpu, wall_layout *l, uint32_t index)
{
    const lmi_body *body = lmi_body_at(world, gpu->slots[index]);
    const lmi_gpu_body *record = &gpu->records[index];
    lmi_gpu_walled *to = append(world, &l->walled, 1, sizeof *to);
    if (!to) {
        return false;
    }
    bool octree = body->octree && !body->touch.count;
    to->reach = body->contact_radius + body->touch.beyond + 0.01 * body->rest_size; /* reach_of in contact/contact.c */
    to->reach += octree ? body->octree->lanes.widest_margin : 0.0;
    to->apart = body->touch.count > 0;
    to->first_piece = l->pieces.count;
    for (uint32_t at = 0; at < record->particles; at += LMI_GPU_PIECE) {
        lmi_gpu_chunk *piece = append(world, &l->pieces, 1, sizeof *piece);
        if (!piece) {
            return false;
        }
        uint32_t left = record->particles - at;
        *piece = (lmi_gpu_chunk){index, record->first + at, left < LMI_GPU_PIECE ? left : LMI_GPU_PIECE,
                                 l->pieces.count - 1};
    }
    to->pieces = l->pieces.count - to->first_piece;
    if (octree) {
        memcpy((float *)l->margins.items + record->first, body->octree->lanes.margin,
               body->padded_count * sizeof(float));
    }
    return true;
}

static bool fill(lm_world *world, const lmi_gpu *gpu, wall_layout *l)
{
    lmi_gpu_walls *w = gpu->walls;
    bool ok = true;
    w->has_margins = false;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        w->has_margins = w->has_margins || lmi_body_at(world, gpu->slots[n])->octree;
    }
    ok = append(world, &l->margins, w->has_margins ? gpu->particles : 1, sizeof(float)) != NULL;
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        ok = add_body(world, gpu, l, n);
    }
    w->piece_count = l->pieces.count;
    w->words = (world->colliders.alive + 31) / 32;
    return ok;
}

/* Meshes and height maps, in the order of the colliders. */
static bool put_solids(lm_world *world, lmi_gpu *gpu, wall_layout *l)
{
    lmi_gpu_walls *w = gpu->walls;
    uint64_t hash = 0;
    uint32_t count = 0;
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        if (lmi_solid_is(&c->solid)) {
            hash = (hash ^ hash_solid(&c->solid)) * 0x9e3779b97f4a7c15u;
            count++;
        }
    }
    if (w->has_arrays && count == w->solid_count && hash == w->solid_hash) {
        return true;
    }
    bool ok = true;
    w->has_arrays = false;
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        ok = ok && (!lmi_solid_is(&c->solid) || add_solid(world, l, &c->solid));
    }
    w->solid_count = count;
    w->solid_hash = hash;
    w->has_arrays = ok && put_array(gpu, &w->solids, &l->solids, sizeof(lmi_gpu_ground)) &&
                    put_array(gpu, &w->heights, &l->heights, sizeof(float)) &&
                    put_array(gpu, &w->spans, &l->spans, sizeof(lmi_heights_span)) &&
                    put_array(gpu, &w->faces, &l->faces, 9 * sizeof(float)) &&
                    put_array(gpu, &w->nodes, &l->nodes, sizeof(lmi_mesh_node)) &&
                    put_array(gpu, &w->cells, &l->cells, sizeof(int8_t));
    return w->has_arrays;
}

static bool upload(const lm_world *world, lmi_gpu *gpu, const wall_layout *l)
{
    lmi_gpu_walls *w = gpu->walls;
    size_t starts = w->solid_count ? (size_t)gpu->particles * 4 * sizeof(float) : 0;
    return put_array(gpu, &w->pieces, &l->pieces, sizeof(lmi_gpu_chunk)) &&
           put_array(gpu, &w->walled, &l->walled, sizeof(lmi_gpu_walled)) &&
           put_array(gpu, &w->margins, &l->margins, sizeof(float)) &&
           lmi_gpu_renew(gpu, &w->rules, world->rules, world->rule_count * sizeof *world->rules) &&
           lmi_gpu_reserve(gpu, &w->start_of, starts) &&
           lmi_gpu_reserve(gpu, &w->sums, (size_t)w->piece_count * LMI_GPU_WALL_SUMS * sizeof(float)) &&
           lmi_gpu_reserve(gpu, &w->near_bits, (size_t)gpu->body_count * w->words * sizeof(uint32_t)) &&
           lmi_gpu_reserve(gpu, &gpu->surfaces, world->colliders.alive * sizeof(lmi_gpu_surface));
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_walls *w = part;
    lmi_release(gpu->memory, w->surface, w->surface_capacity, sizeof *w->surface);
    lmi_release(gpu->memory, w->touch, w->touch_capacity, sizeof *w->touch);
    lmi_release(gpu->memory, w->touch_count, w->count_capacity, sizeof *w->touch_count);
}

bool lmi_gpu_walls_lay_out(lm_world *world, lmi_gpu *gpu)
{
    if (!gpu->walled) {
        return true;
    }
    if (!gpu->walls) {
        gpu->walls = lmi_gpu_make_part(gpu, sizeof *gpu->walls, end);
        if (!gpu->walls || !build(world, gpu, gpu->walls)) {
            return false;
        }
    }
    lmi_gpu_walls *w = gpu->walls;
    wall_layout l = {0};
    void *surfaces = w->surface;
    bool ok = lmi_reserve(&world->memory, &surfaces, &w->surface_capacity, world->colliders.alive, sizeof *w->surface);
    w->surface = surfaces;
    ok = ok && fill(world, gpu, &l) && put_solids(world, gpu, &l) && upload(world, gpu, &l) &&
         lmi_gpu_events_reserve(world, gpu) && lmi_gpu_stand_lay_out(world, gpu);
    drop(world, &l.pieces, sizeof(lmi_gpu_chunk));
    drop(world, &l.walled, sizeof(lmi_gpu_walled));
    drop(world, &l.margins, sizeof(float));
    drop(world, &l.solids, sizeof(lmi_gpu_ground));
    drop(world, &l.heights, sizeof(float));
    drop(world, &l.spans, sizeof(lmi_heights_span));
    drop(world, &l.faces, 9 * sizeof(float));
    drop(world, &l.nodes, sizeof(lmi_mesh_node));
    drop(world, &l.cells, sizeof(int8_t));
    return ok;
}

/* --- a substep --- */

bool lmi_gpu_walls_place(lmi_gpu *gpu, const lmi_step *step)
{
    lmi_gpu_walls *w = gpu->walls;
    uint32_t solid = 0;
    for (uint32_t n = 0; n < step->surface_count; n++) { /* in the order of the pool, as they were laid out */
        const lmi_surface *s = &step->surfaces[n];
        lmi_gpu_describe_surface(s, &w->surface[n]);
        w->surface[n].solid = lmi_solid_is(&s->solid) ? solid++ : LMI_GPU_NONE;
    }
    return lmi_gpu_write(gpu, &gpu->surfaces, 0, w->surface, step->surface_count * sizeof *w->surface);
}

bool lmi_gpu_walls_begin(lmi_gpu *gpu, double h)
{
    const lmi_gpu_walls *w = gpu->walls;
    const float seconds = (float)h;
    const lmi_gpu_argument starts[] = {LMI_GPU_BUFFER(w->pieces),   LMI_GPU_BUFFER(gpu->x),  LMI_GPU_BUFFER(gpu->v),
                                       LMI_GPU_BUFFER(w->start_of), LMI_GPU_BUFFER(w->sums), LMI_GPU_VALUE(seconds)};
    const size_t pieces[2] = {w->piece_count, 1};
    return w->solid_count == 0 || LMI_GPU_RUN(w->starts, starts, pieces, group);
}

/* All colliders, or (again) the solids once more; then what each body was given. */
static bool meet(lmi_gpu *gpu, double h, cl_uint again, cl_uint rule_count)
{
    const lmi_gpu_walls *w = gpu->walls;
    const cl_uint words = w->words, has_margins = w->has_margins, has_solids = w->solid_count > 0;
    const cl_uint told = !w->tells ? 0 : w->fresh && !again ? 2 : 1;
    const lmi_gpu_argument all[] = {LMI_GPU_BUFFER(w->pieces),   LMI_GPU_BUFFER(gpu->bodies),
                                    LMI_GPU_BUFFER(w->walled),   LMI_GPU_BUFFER(gpu->surfaces),
                                    LMI_GPU_VALUE(words),        LMI_GPU_BUFFER(w->near_bits),
                                    LMI_GPU_BUFFER(w->rules),    LMI_GPU_VALUE(rule_count),
                                    LMI_GPU_BUFFER(w->solids),   LMI_GPU_BUFFER(w->heights),
                                    LMI_GPU_BUFFER(w->spans),    LMI_GPU_BUFFER(w->faces),
                                    LMI_GPU_BUFFER(w->nodes),    LMI_GPU_BUFFER(w->cells),
                                    LMI_GPU_BUFFER(w->margins),  LMI_GPU_VALUE(has_margins),
                                    LMI_GPU_BUFFER(w->start_of), LMI_GPU_VALUE(has_solids),
                                    LMI_GPU_BUFFER(gpu->x),      LMI_GPU_BUFFER(gpu->v),
                                    LMI_GPU_BUFFER(w->sums),     LMI_GPU_VALUE(h),
                                    LMI_GPU_VALUE(again),        LMI_GPU_VALUE(told),
                                    LMI_GPU_BUFFER(w->touches),  LMI_GPU_BUFFER(w->touch_counts)};
    const lmi_gpu_argument tally[] = {LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(w->walled), LMI_GPU_BUFFER(w->sums),
                                      LMI_GPU_VALUE(again)};
    const size_t pieces[2] = {w->piece_count, 1}, bodies[2] = {gpu->body_count, 1};
    return LMI_GPU_RUN(w->meet, all, pieces, group) && LMI_GPU_RUN(w->tally, tally, bodies, group);
}

bool lmi_gpu_walls_meet(lmi_gpu *gpu, const lmi_step *step, cl_uint *stop)
{
    const lmi_gpu_walls *w = gpu->walls;
    const double h = step->h;
    const cl_uint count = step->surface_count, words = w->words, has_solids = w->solid_count > 0;
    const cl_uint rules = step->world->rule_count;
    const lmi_gpu_argument near[] = {
        LMI_GPU_BUFFER(gpu->bodies), LMI_GPU_BUFFER(w->walled),    LMI_GPU_BUFFER(gpu->surfaces),
        LMI_GPU_VALUE(count),        LMI_GPU_VALUE(words),         LMI_GPU_VALUE(has_solids),
        LMI_GPU_BUFFER(w->sums),     LMI_GPU_BUFFER(w->near_bits), LMI_GPU_VALUE(h)};
    const size_t bodies[2] = {gpu->body_count, 1};
    bool ok = LMI_GPU_RUN(w->near, near, bodies, group) && (!gpu->stands || lmi_gpu_stand_meet(gpu, step, stop));
    if (!ok || *stop) {
        return ok;
    }
    ok = meet(gpu, h, 0, rules) && (w->solid_count < 2 || meet(gpu, h, 1, rules)) &&
         (!gpu->stands || lmi_gpu_stand_tally(gpu));
    gpu->walls->fresh = false;
    return ok;
}

/* ---- events ----
 *
 * Who touches which collider, where somebody asks: each piece of a body's particles keeps a list of its own on the device, over
 * all substeps of a step, and the lists are read back at its end.
 */

_Static_assert(LMI_GPU_TOUCHES == LM_MAX_TOUCHED_COLLIDERS, "a piece is told of as much as a body");

bool lmi_gpu_events_reserve(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_walls *w = gpu->walls;
    uint32_t pieces = world->contact_events ? w->piece_count : 0;
    void *touches = w->touch, *counts = w->touch_count;
    bool ok = lmi_reserve(&world->memory, &touches, &w->touch_capacity, pieces * LMI_GPU_TOUCHES, sizeof *w->touch) &&
              lmi_reserve(&world->memory, &counts, &w->count_capacity, pieces, sizeof *w->touch_count);
    w->touch = touches;
    w->touch_count = counts;
    w->tells = world->contact_events;
    w->fresh = true;
    return ok && lmi_gpu_reserve(gpu, &w->touches, (size_t)pieces * LMI_GPU_TOUCHES * sizeof *w->touch) &&
           lmi_gpu_reserve(gpu, &w->touch_counts, pieces * sizeof *w->touch_count);
}

static lm_dvec3 vector_at(const double *from) { return dvec(from[0], from[1], from[2]); }

lmi_touching lmi_gpu_touching_of(const double *from, bool pressing)
{
    return (lmi_touching){.weight = from[LMI_GPU_TOUCH_WEIGHT],
                          .point = vector_at(from + LMI_GPU_TOUCH_POINT),
                          .normal = vector_at(from + LMI_GPU_TOUCH_NORMAL),
                          .impulse = vector_at(from + LMI_GPU_TOUCH_IMPULSE),
                          .pressed = from[LMI_GPU_TOUCH_PRESSED],
                          .approach = from[LMI_GPU_TOUCH_APPROACH],
                          .pressing = pressing};
}

static void put_piece(const lm_world *world, lmi_body *body, const lmi_gpu_touch *list, uint32_t count)
{
    for (uint32_t n = 0; n < count && n < LMI_GPU_TOUCHES; n++) {
        const lmi_touching sums = lmi_gpu_touching_of(list[n].sums, list[n].pressing);
        lmi_touched_walls(world, body, world->surfaces[list[n].collider].slot, &sums);
    }
    body->touched_left_out += count > LMI_GPU_TOUCHES ? count - LMI_GPU_TOUCHES : 0;
}

bool lmi_gpu_events_take(lm_world *world)
{
    lmi_gpu *gpu = world->gpu;
    lmi_gpu_walls *w = gpu->walls;
    if (!gpu->walled || !w->tells || w->fresh) {
        return true;
    }
    if (!lmi_gpu_read(gpu, &w->touch_counts, 0, w->touch_count, w->piece_count * sizeof *w->touch_count)) {
        return false;
    }
    uint32_t touched = 0;
    for (uint32_t n = 0; n < w->piece_count; n++) {
        touched = w->touch_count[n] ? n + 1 : touched;
    }
    if (!lmi_gpu_read(gpu, &w->touches, 0, w->touch, (size_t)touched * LMI_GPU_TOUCHES * sizeof *w->touch)) {
        return false;
    }
    uint32_t piece = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        lmi_body *body = lmi_body_in_step(world, gpu->slots[n]);
        uint32_t end = piece + (gpu->records[n].particles + LMI_GPU_PIECE - 1) / LMI_GPU_PIECE;
        for (; piece < end; piece++) {
            put_piece(world, body, w->touch + (size_t)piece * LMI_GPU_TOUCHES, w->touch_count[piece]);
        }
    }
    w->fresh = true;
    return true;
}

bool lmi_gpu_tells(const lm_world *world)
{
    const lmi_gpu *gpu = world->gpu;
    return world->contact_events || (gpu && gpu->meets && gpu->accounts->tells);
}

bool lmi_gpu_events_tell(lm_world *world)
{
    if (!lmi_gpu_events_take(world) || !lmi_gpu_accounts_take(world)) {
        lmi_gpu_lose(world, lmi_cl_text(world->gpu->status));
        return false;
    }
    lmi_touchings_end(world);
    return true;
}
