/*
 * Tables for skins on a device. What follows from a shape (riders, weights, normals at rest, triangles around vertices) is there
 * once for all bodies with the same shape_hash, and stays when the world is laid out anew: other shapes come behind. When more than half
 * of the shapes that are there belong to nobody any more, those that do are put together again.
 */
#include "gpu/skins.h"

#include "gpu/layout.h"

bool lmi_gpu_skin_is_made(const lmi_body *body) { return body->skin.vertex_count > 0 && !body->skin.fading; }

/* What comes to the tables, and how many words each of them has already. */
enum { RIDERS, NUMBERS, OFFSETS, REST, RING_OFFSETS, RINGS, TRIANGLES, MEMBERS, PARTICLE_REST };

typedef struct tables {
    lm_world *world;
    lmi_gpu_skinning *s;
    array added[LMI_GPU_SKIN_TABLES];
} tables;

/* Where in a table the next word goes. */
static uint32_t end_of(const tables *t, int table) { return t->s->words[table] + t->added[table].count; }

/* --- shapes --- */

static lmi_gpu_skin_kind kind_of(const lmi_body *body)
{
    return body->skin.on_cells ? LMI_GPU_CELLS : body->skin.on_tets ? LMI_GPU_TETS : LMI_GPU_LISTS;
}

static bool copy(tables *t, array *to, const void *from, size_t count)
{
    uint32_t *at = append(t->world, to, (uint32_t)count, sizeof *at);
    if (at && count) {
        memcpy(at, from, count * sizeof *at);
    }
    return at != NULL;
}

/* The place in the cell and the rest normal of each vertex. The weights of corners on one side add up to the share of that
 * side, in the order of skin/skin_lattice.c. */
static bool add_cells(tables *t, const lmi_skin *skin)
{
    float *to = append(t->world, &t->added[NUMBERS], 6 * skin->vertex_count, sizeof *to);
    for (uint32_t n = 0; to && n < skin->vertex_count; n++, to += 6) {
        const float *w = skin->weights + (size_t)n * 8;
        to[0] = (w[1] + w[3]) + (w[5] + w[7]);
        to[1] = (w[2] + w[3]) + (w[6] + w[7]);
        to[2] = (w[4] + w[5]) + (w[6] + w[7]);
        memcpy(to + 3, &skin->rest_normals[n], 3 * sizeof *to);
    }
    return to && copy(t, &t->added[RIDERS], skin->riders, (size_t)skin->vertex_count * 8);
}

static bool add_tets(tables *t, const lmi_skin *skin)
{
    float *to = append(t->world, &t->added[NUMBERS], 6 * skin->vertex_count, sizeof *to);
    for (uint32_t n = 0; to && n < skin->vertex_count; n++, to += 6) {
        memcpy(to, skin->weights + (size_t)n * 4 + 1, 3 * sizeof *to);
        memcpy(to + 3, &skin->rest_normals[n], 3 * sizeof *to);
    }
    return to && copy(t, &t->added[RIDERS], skin->riders, (size_t)skin->vertex_count * 4);
}

/* The triangles around each vertex, in their order. */
static bool add_rings(tables *t, const lmi_skin *skin)
{
    uint32_t corners = 3 * skin->triangle_count, first = end_of(t, RINGS);
    uint32_t *offsets = append(t->world, &t->added[RING_OFFSETS], skin->vertex_count + 1, sizeof *offsets);
    uint32_t *rings = append(t->world, &t->added[RINGS], corners, sizeof *rings);
    if (!offsets || !rings) {
        return false;
    }
    memset(offsets, 0, ((size_t)skin->vertex_count + 1) * sizeof *offsets);
    for (uint32_t n = 0; n < corners; n++) {
        offsets[skin->triangles[n] + 1]++;
    }
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        offsets[n + 1] += offsets[n];
    }
    for (uint32_t n = 0; n < corners; n++) { /* offsets are moved on to where each vertex's triangles end */
        rings[offsets[skin->triangles[n]]++] = n / 3;
    }
    for (uint32_t n = skin->vertex_count; n > 0; n--) {
        offsets[n] = first + offsets[n - 1];
    }
    offsets[0] = first;
    return copy(t, &t->added[TRIANGLES], skin->triangles, corners);
}

static bool add_lists(tables *t, const lmi_body *body)
{
    const lmi_skin *skin = &body->skin;
    bool on_clusters = skin->carrier_count && !body->octree; /* those of octrees are not shared: skin_regions.c */
    return copy(t, &t->added[OFFSETS], skin->offsets, (size_t)skin->vertex_count + 1) &&
           copy(t, &t->added[RIDERS], skin->riders, skin->weight_count) &&
           copy(t, &t->added[NUMBERS], skin->weights, skin->weight_count) &&
           (!skin->carrier_count || copy(t, &t->added[REST], skin->vertices, (size_t)skin->vertex_count * 3)) &&
           (!on_clusters || (copy(t, &t->added[MEMBERS], body->members, body->membership_count) &&
                             copy(t, &t->added[PARTICLE_REST], body->rest, (size_t)body->place_count * 3))) &&
           add_rings(t, skin);
}

static bool add_shape(tables *t, const lmi_body *body)
{
    lmi_gpu_skinning *s = t->s;
    void *shapes = s->shapes;
    if (!lmi_reserve(&t->world->memory, &shapes, &s->shape_capacity, s->shape_count + 1, sizeof *s->shapes)) {
        return false;
    }
    s->shapes = shapes;
    lmi_gpu_skin_kind kind = kind_of(body);
    s->shapes[s->shape_count++] = (lmi_gpu_skin_shape){.hash = body->shape_hash,
                                                       .kind = kind,
                                                       .first = {.vertices = body->skin.vertex_count,
                                                                 .riders = end_of(t, RIDERS),
                                                                 .numbers = end_of(t, NUMBERS),
                                                                 .offsets = end_of(t, OFFSETS),
                                                                 .rest = end_of(t, REST) / 3,
                                                                 .ring_offsets = end_of(t, RING_OFFSETS),
                                                                 .triangles = end_of(t, TRIANGLES)},
                                                       .members = end_of(t, MEMBERS),
                                                       .particle_rest = end_of(t, PARTICLE_REST) / 3,
                                                       .used = true};
    return kind == LMI_GPU_CELLS  ? add_cells(t, &body->skin)
           : kind == LMI_GPU_TETS ? add_tets(t, &body->skin)
                                  : add_lists(t, body);
}

static lmi_gpu_skin_shape *find_shape(const lmi_gpu_skinning *s, const lmi_body *body)
{
    for (uint32_t n = s->shape_count; n-- > 0;) {
        lmi_gpu_skin_shape *shape = &s->shapes[n];
        if (shape->hash == body->shape_hash && shape->first.vertices == body->skin.vertex_count &&
            shape->kind == kind_of(body)) {
            return shape;
        }
    }
    return NULL;
}

static bool put_tables(lmi_gpu *gpu, lmi_gpu_skinning *s, const tables *t)
{
    lmi_gpu_buffer *const to[LMI_GPU_SKIN_TABLES] = {&s->riders,    &s->numbers,      &s->offsets,
                                                     &s->rest,      &s->ring_offsets, &s->rings,
                                                     &s->triangles, &s->members,      &s->particle_rest};
    const size_t u = sizeof(uint32_t); /* floats are as large */
    bool ok = true;
    for (int n = 0; ok && n < LMI_GPU_SKIN_TABLES; n++) {
        ok = lmi_gpu_grow(gpu, to[n], end_of(t, n) * u) &&
             lmi_gpu_write(gpu, to[n], s->words[n] * u, t->added[n].items, t->added[n].count * u);
    }
    for (int n = 0; ok && n < LMI_GPU_SKIN_TABLES; n++) {
        s->words[n] = end_of(t, n);
    }
    return ok;
}

/* Which shapes bodies have. Returns whether all of them are there; shapes are forgotten where most belong to nobody. */
static bool knows_all(const lm_world *world, const lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    bool known = true;
    uint32_t used = 0;
    for (uint32_t n = 0; n < s->shape_count; n++) {
        s->shapes[n].used = false;
    }
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        lmi_gpu_skin_shape *shape = lmi_gpu_skin_is_made(body) ? find_shape(s, body) : NULL;
        known = known && (shape || !lmi_gpu_skin_is_made(body));
        used += shape && !shape->used;
        if (shape) {
            shape->used = true;
        }
    }
    if (!known && s->shape_count > 2 * used + 4) {
        s->shape_count = 0;
        memset(s->words, 0, sizeof s->words);
    }
    return known;
}

static bool lay_out_shapes(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    bool ok = true;
    if (knows_all(world, gpu, s)) {
        return true;
    }
    tables t = {.world = world, .s = s};
    for (uint32_t n = 0; ok && n < gpu->body_count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[n]);
        ok = !lmi_gpu_skin_is_made(body) || find_shape(s, body) || add_shape(&t, body);
    }
    ok = ok && put_tables(gpu, s, &t);
    if (!ok) {
        s->shape_count = 0;
        memset(s->words, 0, sizeof s->words);
    }
    for (int n = 0; n < LMI_GPU_SKIN_TABLES; n++) {
        drop(world, &t.added[n], sizeof(uint32_t));
    }
    return ok;
}

/* --- bodies --- */

/* Which record of the world each slot has, then its skin: in the order of slots, in which skins are mostly asked for. */
static bool number_skins(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    uint32_t most = 0, skins = 0;
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        most = gpu->slots[n] + 1 > most ? gpu->slots[n] + 1 : most;
        skins += lmi_gpu_skin_is_made(lmi_body_at(world, gpu->slots[n]));
    }
    void *of_slot = s->of_slot, *records = s->records;
    bool ok = lmi_reserve(&world->memory, &of_slot, &s->slot_capacity, most, sizeof *s->of_slot) &&
              lmi_reserve(&world->memory, &records, &s->capacity, skins, sizeof *s->records);
    s->of_slot = of_slot;
    s->records = records;
    s->slots = ok ? most : 0;
    if (!ok) {
        return false;
    }
    memset(s->of_slot, 0xff, most * sizeof *s->of_slot);
    for (uint32_t n = 0; n < gpu->body_count; n++) {
        s->of_slot[gpu->slots[n]] = n;
    }
    return true;
}

static void add_records(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    s->count = s->vertices = 0;
    s->faces = false;
    memset(s->chunk_count, 0, sizeof s->chunk_count);
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        uint32_t index = s->of_slot[slot];
        const lmi_body *body = index == LMI_GPU_NONE ? NULL : lmi_body_at(world, slot);
        if (!body || !lmi_gpu_skin_is_made(body)) {
            s->of_slot[slot] = LMI_GPU_NONE;
            continue;
        }
        const lmi_gpu_skin_shape *shape = find_shape(s, body);
        lmi_gpu_skin *record = &s->records[s->count];
        s->of_slot[slot] = s->count++;
        *record = shape->first;
        record->body = index;
        record->particle = gpu->records[index].first;
        record->vertex = s->vertices;
        record->per_spacing = body->lattice ? (float)(1.0 / body->lattice->shape.spacing) : 0.0f;
        s->vertices += record->vertices;
        s->faces = s->faces || shape->kind == LMI_GPU_LISTS;
        s->chunk_count[shape->kind] += (record->vertices + LMI_GPU_SKIN_GROUP - 1) / LMI_GPU_SKIN_GROUP;
    }
}

/* Work-groups: skin and first vertex of each. */
static bool put_chunks(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s, lmi_gpu_skin_kind kind)
{
    array chunks = {NULL, 0, 0};
    uint32_t *to = append(world, &chunks, 2 * s->chunk_count[kind], sizeof *to);
    bool ok = to != NULL;
    for (uint32_t n = 0; ok && n < s->count; n++) {
        const lmi_body *body = lmi_body_at(world, gpu->slots[s->records[n].body]);
        for (uint32_t v = 0; kind_of(body) == kind && v < s->records[n].vertices; v += LMI_GPU_SKIN_GROUP) {
            *to++ = n;
            *to++ = v;
        }
    }
    ok = ok && put_array(gpu, &s->chunks[kind], &chunks, sizeof *to);
    drop(world, &chunks, sizeof *to);
    return ok;
}

bool lmi_gpu_skins_lay_out(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    s->laid_out = 0;
    bool ok = lay_out_shapes(world, gpu, s) && number_skins(world, gpu, s);
    if (!ok) {
        return false;
    }
    add_records(world, gpu, s);
    ok = lmi_gpu_skin_regions_lay_out(world, gpu, s) &&
         lmi_gpu_renew(gpu, &s->skins, s->records, s->count * sizeof *s->records);
    for (int kind = 0; ok && kind < LMI_GPU_SKIN_KINDS; kind++) {
        ok = put_chunks(world, gpu, s, (lmi_gpu_skin_kind)kind);
    }
    const size_t size = (size_t)s->vertices * 3 * sizeof(float);
    ok = ok && lmi_gpu_reserve(gpu, &s->positions, size) && lmi_gpu_reserve(gpu, &s->normals, size) &&
         lmi_gpu_reserve(gpu, &s->origins, s->count * 3 * sizeof(double));
    s->laid_out = ok ? gpu->layouts : 0;
    return ok;
}
