/*
 * What lattices that flow, are damped region by region, have examples or are in several parts want on a device besides what
 * all lattices have: their places one after the other, their lasting deformation, and the records of parts.
 */
#include "gpu/kinds.h"

#include "match/examples.h"
#include "match/plastic.h"

#include <stddef.h>

/* Particles of a part that a work-group measures after an upload. */
#define CHUNK_PARTICLES 4096

/* Floats of the lasting deformation of a block. */
#define PLASTIC_BLOCK (6 * LMI_BLOCK)

bool lmi_gpu_is_kind(const lmi_body *body)
{
    const lmi_lattice_body *lattice = body->lattice;
    return lattice && (lattice->plastic.state || lattice->shape.part_count > 1 || body->examples ||
                       body->material.damping_kind == LM_DAMPING_REGIONAL);
}

/* What there is, to keep some of it. */
static bool remember(const layout *l, lmi_gpu_matters *k)
{
    k->was_count = l->gpu->whole ? 0 : k->count;
    k->was_parts = l->gpu->whole ? 0 : k->part_count;
    k->was = lmi_allocate_plain(&l->world->memory, k->was_count + 1, sizeof *k->was);
    k->was_part = lmi_allocate_plain(&l->world->memory, k->was_parts + 1, sizeof *k->was_part);
    if (k->was && k->was_count) {
        memcpy(k->was, k->matter, k->was_count * sizeof *k->was);
    }
    if (k->was_part && k->was_parts) {
        memcpy(k->was_part, k->part, k->was_parts * sizeof *k->was_part);
    }
    return k->was && k->was_part;
}

static void forget(const layout *l, lmi_gpu_matters *k)
{
    lmi_release(&l->world->memory, k->was, k->was_count + 1, sizeof *k->was);
    lmi_release(&l->world->memory, k->was_part, k->was_parts + 1, sizeof *k->was_part);
    k->was = NULL;
    k->was_part = NULL;
}

/* The matter of a body that is kept, as it was; else null. */
static const lmi_gpu_matter *was_of(const layout *l, const lmi_body *body, uint32_t index)
{
    return lmi_gpu_is_kept(l->gpu, body) ? &l->gpu->matters->was[l->gpu->records[index].kind] : NULL;
}

static bool add_word(const layout *l, array *to, uint32_t word)
{
    uint32_t *at = append(l->world, to, 1, sizeof *at);
    if (at) {
        *at = word;
    }
    return at != NULL;
}

static void end(lmi_gpu *gpu, void *part)
{
    lmi_gpu_matters *k = part;
    lmi_release(gpu->memory, k->matter, k->matter_capacity, sizeof *k->matter);
    lmi_release(gpu->memory, k->part, k->part_capacity, sizeof *k->part);
    lmi_release(gpu->memory, k->room, k->room_size, sizeof *k->room);
}

bool lmi_gpu_kinds_begin(layout *l)
{
    lm_world *world = l->world;
    uint32_t count = 0, parts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_body *body = lmi_body_at(world, n);
        bool is = body->batch != LMI_NONE && lmi_gpu_is_kind(body);
        count += is;
        parts += is && body->lattice->shape.part_count > 1 ? body->lattice->shape.part_count : 0;
    }
    if (count == 0 && !l->gpu->matters) {
        return true;
    }
    if (!l->gpu->matters) {
        l->gpu->matters = lmi_gpu_make_part(l->gpu, sizeof *l->gpu->matters, end);
        if (!l->gpu->matters) {
            return false;
        }
    }
    lmi_gpu_matters *k = l->gpu->matters;
    if (!remember(l, k)) {
        return false;
    }
    void *matter = k->matter, *part = k->part;
    bool ok = lmi_reserve(&world->memory, &matter, &k->matter_capacity, count, sizeof *k->matter) &&
              lmi_reserve(&world->memory, &part, &k->part_capacity, parts, sizeof *k->part);
    k->matter = matter;
    k->part = part;
    k->count = k->part_count = k->blocks = k->chunk_count = 0;
    k->damped = k->mixed = false;
    for (uint32_t n = 0; n < k->tiled; n++) {
        k->tiles[n].count = 0;
    }
    return ok;
}

static void put_vector(float to[3], lm_vec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }
static void put_dvector(double to[3], lm_dvec3 from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

static lm_vec3 three(const float *from) { return (lm_vec3){from[0], from[1], from[2]}; }

static void describe_part(const lmi_body *body, uint32_t n, uint32_t index, lmi_gpu_body *to)
{
    const lmi_lattice_part *part = &body->lattice->part[n];
    memset(to, 0, sizeof *to);
    to->kind = index;
    to->parts = n == 0;
    to->rest_size = body->rest_size;
    to->rest_inertia = part->inertia;
    to->spacing = body->lattice->shape.spacing;
    to->alpha = body->alpha;
    to->firmness = body->firmness;
    to->pinned = body->anchored;
    put_vector(to->at, three(body->x + 4 * (size_t)part->reference));
    put_vector(to->from, three(body->v + 4 * (size_t)part->reference));
    put_vector(to->lower, part->lower);
    put_vector(to->upper, part->upper);
    put_vector(to->drift_centre, part->drift_centre);
    put_vector(to->drift_velocity, part->drift_velocity);
    put_vector(to->drift_spin, part->drift_spin);
    put_dvector(to->owed_momentum, part->owed_momentum);
    put_dvector(to->owed_angular, part->owed_angular);
}

/* The boxes of a body's parts, six words each. */
static void bound_parts(const lmi_body *body, uint32_t *boxes)
{
    const lmi_lattice *shape = &body->lattice->shape;
    for (uint32_t n = 0; n < shape->part_count; n++) {
        memset(boxes + 6 * (size_t)n, 0xff, 3 * sizeof *boxes);
    }
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        uint32_t *box = boxes + 6 * (size_t)shape->part[n];
        lmi_lattice_corner(shape, n, corner);
        for (int a = 0; a < 3; a++) {
            uint32_t at = (uint32_t)corner[a] + (a == 0 ? shape->phase : 0);
            box[a] = at < box[a] ? at : box[a];
            box[3 + a] = at + 1 > box[3 + a] ? at + 1 : box[3 + a];
        }
    }
}

static void part_box(const layout *l, uint32_t part, uint32_t low[3], uint32_t high[3])
{
    const uint32_t *box = (const uint32_t *)l->of_kinds.boxes.items + 6 * (size_t)part;
    memcpy(low, box, 3 * sizeof *low);
    memcpy(high, box + 3, 3 * sizeof *high);
    low[0] = low[0] / LMI_BLOCK * LMI_BLOCK; /* a tile loads whole blocks */
}

/* Particles part by part, and chunks of them. */
static bool list_parts(layout *l, const lmi_body *body, uint32_t first_part, uint32_t first_particle)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_matters *k = l->gpu->matters;
    uint32_t at = l->of_kinds.part_members.count, count = body->particle_count;
    array ends = {NULL, 0, 0};
    uint32_t *members = append(l->world, &l->of_kinds.part_members, count, sizeof *members);
    uint32_t *end = append(l->world, &ends, shape->part_count, sizeof *end);
    bool ok = members && end;
    if (ok) {
        memset(end, 0, shape->part_count * sizeof *end);
        LMI_PARTICLES_EACH(body, n) { end[shape->part[n]]++; }
    }
    for (uint32_t n = 0, used = 0, partial = l->of_kinds.part_partials; ok && n < shape->part_count; n++) {
        lmi_gpu_body *part = &k->part[first_part + n];
        uint32_t size = end[n];
        part->first_measure = partial;
        for (uint32_t from = 0; ok && from < size; from += CHUNK_PARTICLES, partial++) {
            lmi_gpu_chunk *chunk = append(l->world, &l->of_kinds.part_chunks, 1, sizeof *chunk);
            ok = chunk != NULL;
            if (ok) {
                uint32_t left = size - from;
                *chunk = (lmi_gpu_chunk){first_part + n, at + used + from,
                                         left < CHUNK_PARTICLES ? left : CHUNK_PARTICLES, partial};
            }
        }
        part->measures = partial - part->first_measure;
        l->of_kinds.part_partials = partial;
        end[n] = used; /* where the next of its particles goes */
        used += size;
    }
    if (ok) {
        LMI_PARTICLES_EACH(body, n) { members[end[shape->part[n]]++] = first_particle + n; }
    }
    drop(l->world, &ends, sizeof *end);
    return ok;
}

static bool add_parts(layout *l, const lmi_body *body, uint32_t index, uint32_t *part_of)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_matters *k = l->gpu->matters;
    const uint32_t first = k->part_count;
    uint32_t *boxes = append(l->world, &l->of_kinds.boxes, 6 * shape->part_count, sizeof *boxes);
    if (!boxes) {
        return false;
    }
    memset(boxes, 0, 6 * (size_t)shape->part_count * sizeof *boxes);
    bound_parts(body, boxes);
    const lmi_gpu_matter *was = was_of(l, body, index);
    for (uint32_t n = 0; n < shape->part_count; n++) {
        lmi_gpu_body *part = &k->part[k->part_count++];
        if (was) {
            *part = k->was_part[was->first_part + n];
            part->kind = index;
        } else {
            describe_part(body, n, index, part);
        }
        if (!add_word(l, &l->of_kinds.part_from, was ? was->first_part + n : LMI_GPU_NONE)) {
            return false;
        }
    }
    LMI_PARTICLES_EACH(body, n) { part_of[n] = first + shape->part[n]; }
    return list_parts(l, body, first, l->gpu->records[index].first);
}

/* Its places: whose they are, where they are, and of which part. The block without particles is one of them: what fills up lists
 * points there. */
static bool add_places(layout *l, const lmi_body *body, uint32_t index, lmi_gpu_matter *m)
{
    const lmi_lattice *shape = &body->lattice->shape;
    const uint32_t blocks = shape->block_count + 1, number = l->gpu->matters->count;
    uint32_t *owners = append(l->world, &l->of_kinds.owners, blocks, sizeof *owners);
    int32_t *corners = append(l->world, &l->of_kinds.block_corners, 4 * blocks, sizeof *corners);
    uint32_t *part_of = append(l->world, &l->of_kinds.part_of, blocks * LMI_BLOCK, sizeof *part_of);
    if (!owners || !corners || !part_of) {
        return false;
    }
    m->room = l->gpu->matters->blocks;
    l->gpu->matters->blocks += blocks;
    memset(part_of, 0xff, (size_t)blocks * LMI_BLOCK * sizeof *part_of);
    for (uint32_t n = 0; n < blocks; n++) {
        owners[n] = number;
        memcpy(corners + 4 * (size_t)n, shape->at[n], 3 * sizeof *corners);
        corners[4 * (size_t)n + 3] = 0;
    }
    l->gpu->records[index].parts = shape->part_count;
    return shape->part_count == 1 || add_parts(l, body, index, part_of);
}

/* Rows of constants, those of a block's lanes one after the other; blocks that have the same share them, as in the lattice. */
static bool add_rows(layout *l, const lmi_lattice *shape)
{
    kind_lists *to = &l->of_kinds;
    const uint32_t first = to->constants.count / LMI_GPU_MATTER_ROW, lanes = shape->constants_count * LMI_BLOCK;
    const uint32_t base = shape->affine ? shape->affine : shape->channels;
    float *constants = append(l->world, &to->constants, lanes * LMI_GPU_MATTER_ROW, sizeof *constants);
    uint32_t *rows = append(l->world, &to->rows, shape->block_count + 1, sizeof *rows);
    if (!constants || !rows) {
        return false;
    }
    memset(constants, 0, (size_t)lanes * LMI_GPU_MATTER_ROW * sizeof *constants);
    for (uint32_t n = 0; n < lanes; n++) {
        const float *from =
            shape->constants + (size_t)(n / LMI_BLOCK) * shape->channels * LMI_BLOCK + (size_t)(n % LMI_BLOCK);
        float *row = constants + (size_t)n * LMI_GPU_MATTER_ROW;
        for (uint32_t c = 0; c < base; c++) {
            row[c] = from[(size_t)c * LMI_BLOCK];
        }
        for (uint32_t c = 0; shape->affine && c < LMI_LATTICE_AFFINE_CONSTANTS; c++) {
            row[LMI_LATTICE_ALL_CONSTANTS + c] = from[(size_t)(shape->affine + c) * LMI_BLOCK];
        }
    }
    for (uint32_t n = 0; n <= shape->block_count; n++) {
        rows[n] = first + shape->constants_of[n] * LMI_BLOCK;
    }
    return true;
}

/* Lists as the lattice has them, and marks of their owners' blocks: the first of each, which lanes, and which of those have a
 * list of everything. */
static bool add_lists(layout *l, const lmi_lattice_lists *from, const uint8_t *whole, uint32_t base, uint32_t blocks,
                      struct side_by_side *to, array *all_marks)
{
    const uint32_t row = to->member.count / LMI_BLOCK, who = to->who.count / LMI_BLOCK, number = l->gpu->matters->count;
    uint32_t *group = append(l->world, &to->groups, 4 * from->group_count, sizeof *group);
    uint32_t *owner = append(l->world, &to->who, from->group_count * LMI_BLOCK, sizeof *owner);
    uint32_t *member = append(l->world, &to->member, from->row_count * LMI_BLOCK, sizeof *member);
    float *offset = append(l->world, &to->offset, from->row_count * 4 * LMI_BLOCK, sizeof *offset);
    uint32_t *marks = append(l->world, all_marks, 2 * blocks, sizeof *marks);
    if (!group || !owner || !member || !offset || !marks) {
        return false;
    }
    memset(marks, 0, 2 * (size_t)blocks * sizeof *marks);
    if (from->group_count) {
        memcpy(owner, from->who, (size_t)from->group_count * LMI_BLOCK * sizeof *owner);
        memcpy(member, from->member, (size_t)from->row_count * LMI_BLOCK * sizeof *member);
        memcpy(offset, from->offset, (size_t)from->row_count * 4 * LMI_BLOCK * sizeof *offset);
    }
    for (uint32_t n = 0; n < from->group_count; n++) {
        group[4 * n] = number;
        group[4 * n + 1] = row + from->group_row[n];
        group[4 * n + 2] = row + from->group_row[n + 1];
        group[4 * n + 3] = who + n;
    }
    for (uint32_t n = 0; n < from->owner_count; n++) {
        uint32_t lane = from->owner[n] % LMI_BLOCK, *mark = marks + 2 * (size_t)(from->owner[n] / LMI_BLOCK);
        mark[0] = mark[1] & 0xffffu ? mark[0] : base + n;
        mark[1] |= 1u << lane | (whole[n] ? 1u << (16 + lane) : 0);
    }
    return true;
}

static bool add_irregular(layout *l, const lmi_lattice *shape, lmi_gpu_matter *m)
{
    kind_lists *to = &l->of_kinds;
    m->irregular = to->irregulars;
    m->corrected = to->corrections;
    to->irregulars += shape->irregular_count + 1; /* the last is zero, for what fills up rows */
    to->corrections += shape->scatter.owner_count;
    const uint32_t blocks = shape->block_count + 1;
    return add_lists(l, &shape->gather, shape->direct, m->irregular, blocks, &to->gather, &to->irregular) &&
           add_lists(l, &shape->scatter, shape->listed, m->corrected, blocks, &to->scatter, &to->corrected);
}

/* Corners of a tile along x and y, and its planes. */
#define TILE_X 16u
#define PLANES 16u

/* Tiles of the columns from `low` to `high`, whose sums have places from *partial on. */
static bool add_box(layout *l, lmi_gpu_kind_tiles *v, lmi_gpu_tile tile, const uint32_t low[3], const uint32_t high[3],
                    uint32_t *partial)
{
    for (uint32_t z = low[2]; z < high[2]; z += PLANES) {
        for (uint32_t y = low[1]; y < high[1]; y += v->tile_y) {
            for (uint32_t x = low[0]; x < high[0]; x += TILE_X) {
                void *items = v->items;
                if (v->count == v->capacity &&
                    !lmi_reserve(&l->world->memory, &items, &v->capacity, 2 * v->capacity + 64, sizeof *v->items)) {
                    return false;
                }
                v->items = items;
                tile.x = (int32_t)x, tile.y = (int32_t)y, tile.z = (int32_t)z;
                tile.planes = high[2] - z < PLANES ? high[2] - z : PLANES;
                tile.partial = (*partial)++;
                v->items[v->count++] = tile;
            }
        }
    }
    return true;
}

static bool add_tiles(layout *l, const lmi_body *body, uint32_t index)
{
    const lmi_lattice *shape = &body->lattice->shape;
    lmi_gpu_matters *k = l->gpu->matters;
    lmi_gpu_body *record = &l->gpu->records[index];
    bool surfaces = l->world->colliders.alive && !l->gpu->shares && !l->gpu->walled;
    lmi_gpu_kind_tiles *v = lmi_gpu_kind_tiles_find(l->world, l->gpu, shape->width, surfaces);
    bool ok = v != NULL;
    const uint32_t none[3] = {0, 0, 0}, all[3] = {record->size[0] * LMI_BLOCK, record->size[1], record->size[2]};
    uint32_t kept = record->first_partial, *partial = lmi_gpu_is_kept(l->gpu, body) ? &kept : &l->partials;
    record->first_partial = *partial;
    if (ok && shape->part_count == 1) {
        ok = add_box(l, v, (lmi_gpu_tile){.body = index, .list = LMI_GPU_NONE}, none, all, partial);
    }
    for (uint32_t n = 0; ok && shape->part_count > 1 && n < shape->part_count; n++) {
        const uint32_t number = k->matter[record->kind].first_part + n;
        uint32_t low[3], high[3];
        part_box(l, number, low, high);
        k->part[number].first_partial = *partial;
        ok = add_box(l, v, (lmi_gpu_tile){.body = index, .list = number}, low, high, partial);
        k->part[number].partials = *partial - k->part[number].first_partial;
    }
    record->partials = *partial - record->first_partial;
    return ok;
}

uint32_t lmi_gpu_kinds_partials(const layout *l)
{
    const uint32_t most = l->chunks.count > l->partials ? l->chunks.count : l->partials;
    return l->of_kinds.part_partials > most ? l->of_kinds.part_partials : most;
}

/* Lasting deformation: state, which is on the device already where the body is kept. */
static bool add_plastic(layout *l, const lmi_lattice_body *lattice, const lmi_gpu_matter *was, lmi_gpu_matter *m)
{
    const uint32_t blocks = lattice->shape.block_count + 1, count = blocks * PLASTIC_BLOCK;
    m->plastic = l->of_kinds.plastics.count;
    float *state = append(l->world, &l->of_kinds.plastics, count, sizeof *state);
    bool ok = state != NULL;
    if (ok && !was) {
        memcpy(state, lattice->plastic.state, count * sizeof *state);
    }
    for (uint32_t n = 0; ok && n < blocks; n++) {
        ok = add_word(l, &l->of_kinds.plastic_from, was ? was->plastic / PLASTIC_BLOCK + n : LMI_GPU_NONE);
    }
    return ok;
}

bool lmi_gpu_add_kind(layout *l, const lmi_body *body, uint32_t index)
{
    const lmi_lattice_body *lattice = body->lattice;
    lmi_gpu_matters *k = l->gpu->matters;
    lmi_gpu_matter *m = &k->matter[k->count];
    *m = (lmi_gpu_matter){.flow = body->flow,
                          .yield = body->material.yield,
                          .most = body->material.max_plastic,
                          .bound = lmi_yield_bound(body->material.yield),
                          .body = index,
                          .first_part = k->part_count,
                          .plastic = LMI_GPU_NONE,
                          .examples = LMI_GPU_NONE,
                          .linear = body->material.mode == LM_MODE_LINEAR};
    if (!add_places(l, body, index, m) || !add_rows(l, &lattice->shape) || !add_irregular(l, &lattice->shape, m)) {
        return false;
    }
    const lmi_gpu_matter *was = was_of(l, body, index);
    if (!add_word(l, &l->of_kinds.numbers, was ? l->gpu->records[index].kind : LMI_GPU_NONE) ||
        (lattice->plastic.state && !add_plastic(l, lattice, was, m))) {
        return false;
    }
    k->damped = k->damped || body->material.damping_kind == LM_DAMPING_REGIONAL;
    k->mixed = k->mixed || body->examples;
    l->gpu->records[index].kind = k->count++;
    return add_tiles(l, body, index);
}

/* Things of `size` bytes: those that are kept go to their places on the device, and the others over. */
static bool put_state(lmi_gpu *gpu, lmi_gpu_buffer *to, const void *things, const array *from, size_t size)
{
    const uint32_t *was = from->items, count = from->count;
    bool ok = gpu->whole ? lmi_gpu_reserve(gpu, to, count * size) : lmi_gpu_rearrange(gpu, to, was, count, size);
    for (uint32_t n = 0, end; ok && n < count; n = end) {
        bool kept = was[n] != LMI_GPU_NONE;
        for (end = n + 1; end < count && (was[end] != LMI_GPU_NONE) == kept;) {
            end++;
        }
        ok = kept || lmi_gpu_write(gpu, to, n * size, (const char *)things + n * size, (end - n) * size);
    }
    return ok;
}

/* What says where parts and bodies are that are kept, in records that hold their state as well: where it has become another. */
static bool rename_kept(layout *l, lmi_gpu_matters *k)
{
    lmi_gpu *gpu = l->gpu;
    const size_t size = sizeof(lmi_gpu_body), first = offsetof(lmi_gpu_body, first);
    const size_t places = offsetof(lmi_gpu_body, sample) - first, kind = offsetof(lmi_gpu_body, kind);
    const uint32_t *numbers = l->of_kinds.numbers.items, *from = l->of_kinds.part_from.items;
    bool ok = true;
    for (uint32_t n = 0; ok && n < k->count; n++) {
        ok = numbers[n] == LMI_GPU_NONE || numbers[n] == n ||
             lmi_gpu_write(gpu, &gpu->bodies, k->matter[n].body * size + kind, &n, sizeof n);
    }
    for (uint32_t n = 0; ok && n < k->part_count; n++) {
        const lmi_gpu_body *part = &k->part[n], *was = from[n] == LMI_GPU_NONE ? NULL : &k->was_part[from[n]];
        ok = !was || ((memcmp(&was->first, &part->first, places) == 0 ||
                       lmi_gpu_write(gpu, &k->parts, n * size + first, &part->first, places)) &&
                      (was->kind == part->kind ||
                       lmi_gpu_write(gpu, &k->parts, n * size + kind, &part->kind, sizeof part->kind)));
    }
    return ok;
}

/* What no kernel writes. */
static bool put_words(lmi_gpu *gpu, lmi_gpu_matters *k, const kind_lists *from)
{
    bool ok = true;
    const struct {
        lmi_gpu_buffer *to;
        const array *from;
    } words[] = {{&k->owners, &from->owners},
                 {&k->corners, &from->block_corners},
                 {&k->rows, &from->rows},
                 {&k->constants, &from->constants},
                 {&k->irregular, &from->irregular},
                 {&k->corrected, &from->corrected},
                 {&k->part_of, &from->part_of},
                 {&k->part_members, &from->part_members},
                 {&k->gather.groups, &from->gather.groups},
                 {&k->gather.who, &from->gather.who},
                 {&k->gather.member, &from->gather.member},
                 {&k->gather.offset, &from->gather.offset},
                 {&k->scatter.groups, &from->scatter.groups},
                 {&k->scatter.who, &from->scatter.who},
                 {&k->scatter.member, &from->scatter.member},
                 {&k->scatter.offset, &from->scatter.offset}};
    for (size_t n = 0; ok && n < sizeof words / sizeof *words; n++) {
        ok = put_array(gpu, words[n].to, words[n].from, sizeof(uint32_t)); /* floats are as large */
    }
    return ok;
}

bool lmi_gpu_kinds_upload(layout *l)
{
    lmi_gpu *gpu = l->gpu;
    lmi_gpu_matters *k = gpu->matters;
    if (!k || k->count == 0) {
        return true;
    }
    if (!lmi_gpu_kinds_build(l->world, gpu)) {
        return false;
    }
    const size_t f = sizeof(float), places = (size_t)k->blocks * LMI_BLOCK;
    const size_t parts = k->part_count * sizeof *k->part;
    k->chunk_count = l->of_kinds.part_chunks.count;
    k->plastic_floats = l->of_kinds.plastics.count;
    if (k->room_size < k->plastic_floats) {
        lmi_release(&l->world->memory, k->room, k->room_size, sizeof *k->room);
        k->room = lmi_allocate(&l->world->memory, k->plastic_floats, sizeof *k->room);
        k->room_size = k->room ? k->plastic_floats : 0;
    }
    kind_lists *from = &l->of_kinds;
    bool ok = k->room || k->plastic_floats == 0;
    for (uint32_t n = 0; ok && n < k->tiled; n++) {
        ok = lmi_gpu_renew(gpu, &k->tiles[n].buffer, k->tiles[n].items, k->tiles[n].count * sizeof *k->tiles[n].items);
    }
    ok = ok && put_words(gpu, k, from);
    k->gather.lanes = from->gather.groups.count / 4 * LMI_BLOCK;
    k->scatter.lanes = from->scatter.groups.count / 4 * LMI_BLOCK;
    const size_t irregular = (size_t)from->irregulars * LMI_BLOCK * f;
    return ok && put_state(gpu, &k->plastics, from->plastics.items, &from->plastic_from, PLASTIC_BLOCK * f) &&
           lmi_gpu_renew(gpu, &k->matters, k->matter, k->count * sizeof *k->matter) &&
           put_state(gpu, &k->parts, k->part, &from->part_from, sizeof *k->part) && rename_kept(l, k) &&
           lmi_gpu_reserve(gpu, &k->parts_before, parts) &&
           put_array(gpu, &k->part_chunks, &from->part_chunks, sizeof(lmi_gpu_chunk)) &&
           lmi_gpu_reserve(gpu, &k->values, places * 4 * f) && lmi_gpu_reserve(gpu, &k->moments, places * 12 * f) &&
           lmi_gpu_reserve(gpu, &k->transforms, places * 12 * f) &&
           lmi_gpu_reserve(gpu, &k->velocities, k->damped ? places * 4 * f : 0) &&
           lmi_gpu_reserve(gpu, &k->velocity_moments, k->damped ? places * 12 * f : 0) &&
           lmi_gpu_reserve(gpu, &k->irregular_moments, irregular) && lmi_gpu_reserve(gpu, &k->kept, irregular) &&
           lmi_gpu_clear(gpu, &k->kept, irregular) &&
           lmi_gpu_reserve(gpu, &k->velocity_corrections, k->damped ? irregular : 0) &&
           lmi_gpu_reserve(gpu, &k->corrections, (size_t)from->corrections * 4 * f);
}

void lmi_gpu_kinds_drop(layout *l)
{
    kind_lists *k = &l->of_kinds;
    array *const arrays[] = {&k->owners,         &k->block_corners,  &k->rows,           &k->constants,
                             &k->irregular,      &k->corrected,      &k->part_of,        &k->plastics,
                             &k->boxes,          &k->part_members,   &k->gather.groups,  &k->gather.who,
                             &k->gather.member,  &k->gather.offset,  &k->scatter.groups, &k->scatter.who,
                             &k->scatter.member, &k->scatter.offset, &k->numbers,        &k->plastic_from,
                             &k->part_from};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        drop(l->world, arrays[n], sizeof(uint32_t)); /* floats are as large */
    }
    drop(l->world, &k->part_chunks, sizeof(lmi_gpu_chunk));
    k->irregulars = k->corrections = k->part_partials = 0;
    lmi_gpu_matters *to = l->gpu->matters;
    if (to) {
        forget(l, to);
    }
    for (uint32_t n = 0; to && n < to->tiled; n++) {
        lmi_release(&l->world->memory, to->tiles[n].items, to->tiles[n].capacity, sizeof *to->tiles[n].items);
        to->tiles[n].items = NULL;
        to->tiles[n].capacity = 0;
    }
}

/* A part's record with the state that it has now; where it is laid out stays. */
static void refresh_part(const lmi_body *body, uint32_t n, lmi_gpu_body *record)
{
    const lmi_gpu_body was = *record;
    describe_part(body, n, was.kind, record);
    record->first_partial = was.first_partial;
    record->partials = was.partials;
    record->first_measure = was.first_measure;
    record->measures = was.measures;
}

bool lmi_gpu_kinds_refresh(lm_world *world, lmi_gpu *gpu)
{
    lmi_gpu_matters *k = gpu->matters;
    bool ok = true;
    for (uint32_t n = 0; ok && k && n < k->count; n++) {
        const lmi_gpu_matter *m = &k->matter[n];
        const lmi_body *body = lmi_body_at(world, gpu->slots[m->body]);
        const lmi_lattice_body *lattice = body->lattice;
        const uint32_t parts = lattice->shape.part_count > 1 ? lattice->shape.part_count : 0;
        if (lmi_gpu_is_kept(gpu, body)) {
            continue;
        }
        if (m->plastic != LMI_GPU_NONE) {
            size_t floats = ((size_t)lattice->shape.block_count + 1) * PLASTIC_BLOCK;
            ok = lmi_gpu_write(gpu, &k->plastics, m->plastic * sizeof(float), lattice->plastic.state,
                               floats * sizeof(float));
        }
        for (uint32_t p = 0; p < parts; p++) {
            refresh_part(body, p, &k->part[m->first_part + p]);
        }
        ok = ok && (parts == 0 || lmi_gpu_write(gpu, &k->parts, m->first_part * sizeof *k->part,
                                                k->part + m->first_part, parts * sizeof *k->part));
    }
    return ok;
}
