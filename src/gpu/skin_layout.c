/*
 * Tables for skins on a device. What follows from a shape (riders, weights, normals at rest, triangles around vertices) is there
 * once for all bodies with the same shape_hash, and stays when the world is laid out again: other shapes come behind. When more than half
 * of the shapes that are there belong to nobody any more, those that do are put together again.
 */
#include "gpu/clusters.h"
#include "gpu/layout.h"
#include "gpu/skins.h"
#include "match/carrier.h"
#include "octree/octree_body.h"

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
 * side, in the order of skin/skin_kernels.c. */
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
    bool on_clusters = skin->carrier_count && !body->octree; /* those of octrees are not shared: skin_layout.c */
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

/* ---- skins on regions ----
 *
 * Regions that skins ride on: of clusters with their members, of octrees with the sums over the tree that they are found from.
 * Their rest frames depend on masses and pins, and are laid out for each body.
 */

/* While they are put together. */
typedef struct gathered {
    lm_world *world;
    lmi_gpu *gpu;
    lmi_gpu_skinning *s;
    array carried, regions;
    array nodes, heights, items, rest; /* of octrees */
} gathered;

static const lmi_gpu_skin_shape *shape_of(const lmi_gpu_skinning *s, const lmi_body *body)
{
    uint32_t n = 0;
    while (s->shapes[n].hash != body->shape_hash || s->shapes[n].kind != LMI_GPU_LISTS) {
        n++;
    }
    return &s->shapes[n];
}

/* Where the rotation of a region begins in the device's array: packs of all batches one after the other (clusters.c). */
static uint32_t rotation_of(const gathered *g, const lmi_body *body, uint32_t region)
{
    const uint32_t block = g->gpu->batch[body->batch].first[LMI_GPU_LANE_BLOCKS];
    uint32_t lane = g->world->batches[body->batch].pack.region_lane[body->first_region + region];
    return (block + lane / LMI_BLOCK) * 9 * LMI_BLOCK + lane % LMI_BLOCK;
}

/* Nodes with how high each stands above the lowest leaf below it. */
static bool add_nodes(gathered *g, const lmi_body *body, uint32_t particle, uint32_t first_rest)
{
    const lmi_octree *t = &body->octree->tree;
    uint32_t first = g->nodes.count;
    lmi_gpu_skin_node *nodes = append(g->world, &g->nodes, t->node_count, sizeof *nodes);
    uint32_t *heights = append(g->world, &g->heights, t->node_count, sizeof *heights);
    for (uint32_t n = t->node_count; nodes && heights && n-- > 0;) { /* children come after their parents */
        const lmi_octree_node *node = &t->nodes[n];
        bool leaf = lmi_octree_is_leaf(node);
        uint32_t place = leaf ? body->place[node->leaf] : 0, height = 0;
        nodes[n] = (lmi_gpu_skin_node){.child = first + node->first_child,
                                       .children = node->child_count,
                                       .place = leaf ? particle + place : LMI_GPU_NONE,
                                       .rest = first_rest + place};
        for (uint32_t c = 0; c < node->child_count; c++) {
            uint32_t below = heights[node->first_child + c] + 1;
            height = below > height ? below : height;
        }
        heights[n] = height;
        g->s->heights = height + 1 > g->s->heights ? height + 1 : g->s->heights;
    }
    return nodes && heights;
}

static bool add_octree(gathered *g, const lmi_body *body, uint32_t particle, lmi_gpu_carried *carried)
{
    const lmi_octree *t = &body->octree->tree;
    uint32_t first_node = g->nodes.count, first_item = g->items.count, first_rest = g->rest.count / 3;
    uint32_t *items = append(g->world, &g->items, t->regions.item_count, sizeof *items);
    float *rest = append(g->world, &g->rest, 3 * body->place_count, sizeof *rest);
    if (!items || !rest || !add_nodes(g, body, particle, first_rest)) {
        return false;
    }
    memcpy(rest, body->rest, (size_t)body->place_count * 3 * sizeof *rest);
    for (uint32_t n = 0; n < t->regions.item_count; n++) {
        items[n] = first_node + t->regions.items[n];
    }
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        carried[leaf] = (lmi_gpu_carried){.particle = particle,
                                          .members = first_item + t->regions.offsets[leaf],
                                          .count = t->regions.offsets[leaf + 1] - t->regions.offsets[leaf],
                                          .rest = first_rest + body->place[leaf],
                                          .place = particle + body->place[leaf],
                                          .octree = 1};
    }
    g->s->leaf_count += t->leaf_count;
    return true;
}

static void add_clusters(gathered *g, const lmi_body *body, uint32_t particle, lmi_gpu_carried *carried)
{
    const lmi_gpu_skin_shape *shape = shape_of(g->s, body);
    for (uint32_t r = 0; r < body->region_count; r++) {
        carried[r] = (lmi_gpu_carried){.particle = particle,
                                       .members = shape->members + body->region_offsets[r],
                                       .count = body->region_offsets[r + 1] - body->region_offsets[r],
                                       .rest = shape->particle_rest,
                                       .quadratic = body->material.mode == LM_MODE_QUADRATIC};
    }
}

static bool add_body(gathered *g, const lmi_body *body, lmi_gpu_skin *record)
{
    record->region = g->regions.count;
    if (body->skin.carrier_count == 0) {
        return true;
    }
    lmi_region *regions = append(g->world, &g->regions, body->region_count, sizeof *regions);
    lmi_gpu_carried *carried = append(g->world, &g->carried, body->region_count, sizeof *carried);
    if (!regions || !carried) {
        return false;
    }
    memcpy(regions, body->regions, body->region_count * sizeof *regions);
    if (!body->octree) {
        add_clusters(g, body, record->particle, carried);
    } else if (!add_octree(g, body, record->particle, carried)) {
        return false;
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        carried[r].rotation = rotation_of(g, body, r);
    }
    return true;
}

/* Nodes of one height after the other. */
static bool put_order(gathered *g)
{
    lmi_gpu_skinning *s = g->s;
    const uint32_t *heights = g->heights.items;
    array order = {NULL, 0, 0};
    uint32_t *to = append(g->world, &order, g->nodes.count, sizeof *to), count = 0;
    void *height = s->height;
    bool ok = to && lmi_reserve(&g->world->memory, &height, &s->height_capacity, s->heights + 1, sizeof *s->height);
    s->height = height;
    for (uint32_t h = 0; ok && h < s->heights; h++) {
        s->height[h] = count;
        for (uint32_t n = 0; n < g->nodes.count; n++) {
            if (heights[n] == h) {
                to[count++] = n;
            }
        }
    }
    if (ok) {
        s->height[s->heights] = count;
        ok = put_array(g->gpu, &s->node_order, &order, sizeof *to);
    }
    drop(g->world, &order, sizeof *to);
    return ok;
}

bool lmi_gpu_skin_regions_lay_out(lm_world *world, lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    gathered g = {.world = world, .gpu = gpu, .s = s};
    bool ok = true;
    s->heights = s->leaf_count = 0;
    for (uint32_t n = 0; ok && n < s->count; n++) {
        ok = add_body(&g, lmi_body_at(world, gpu->slots[s->records[n].body]), &s->records[n]);
    }
    s->region_count = g.regions.count;
    const size_t u = sizeof(uint32_t), sums = LMI_OCTREE_SUMS * sizeof(double);
    ok = ok && put_order(&g) && put_array(gpu, &s->carried, &g.carried, sizeof(lmi_gpu_carried)) &&
         put_array(gpu, &s->regions, &g.regions, sizeof(lmi_region)) &&
         put_array(gpu, &s->nodes, &g.nodes, sizeof(lmi_gpu_skin_node)) &&
         put_array(gpu, &s->node_items, &g.items, u) && put_array(gpu, &s->node_rest, &g.rest, u) &&
         lmi_gpu_reserve(gpu, &s->node_sums, g.nodes.count * sums) &&
         lmi_gpu_reserve(gpu, &s->carriers, g.regions.count * sizeof(lmi_carrier));
    drop(world, &g.carried, sizeof(lmi_gpu_carried));
    drop(world, &g.regions, sizeof(lmi_region));
    drop(world, &g.nodes, sizeof(lmi_gpu_skin_node));
    drop(world, &g.heights, u);
    drop(world, &g.items, u);
    drop(world, &g.rest, u);
    return ok;
}

/* --- launches --- */

static bool sum_nodes(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    bool ok = true;
    for (uint32_t h = 0; ok && h < s->heights; h++) {
        const cl_uint first = s->height[h], count = s->height[h + 1] - first;
        const lmi_gpu_argument arguments[] = {LMI_GPU_VALUE(first),          LMI_GPU_VALUE(count),
                                              LMI_GPU_BUFFER(s->node_order), LMI_GPU_BUFFER(s->nodes),
                                              LMI_GPU_BUFFER(s->node_rest),  LMI_GPU_BUFFER(gpu->x),
                                              LMI_GPU_BUFFER(s->node_sums)};
        const size_t groups[2] = {(count + 63) / 64, 1}, group[2] = {64, 1};
        ok = lmi_gpu_run(gpu, s->nodes_of_octrees, arguments, sizeof arguments / sizeof *arguments, groups, group);
    }
    return ok;
}

bool lmi_gpu_skin_regions_make(lmi_gpu *gpu, lmi_gpu_skinning *s)
{
    if (s->region_count == 0) {
        return true;
    }
    const cl_uint count = s->region_count;
    const size_t groups[2] = {(count + 63) / 64, 1}, group[2] = {64, 1};
    const lmi_gpu_buffer *rotations = &gpu->clusters->rotations;
    const lmi_gpu_argument clusters[] = {
        LMI_GPU_VALUE(count),       LMI_GPU_BUFFER(s->carried),       LMI_GPU_BUFFER(s->regions),
        LMI_GPU_BUFFER(s->members), LMI_GPU_BUFFER(s->particle_rest), LMI_GPU_BUFFER(*rotations),
        LMI_GPU_BUFFER(gpu->x),     LMI_GPU_BUFFER(s->carriers)};
    const lmi_gpu_argument leaves[] = {
        LMI_GPU_VALUE(count),          LMI_GPU_BUFFER(s->carried),   LMI_GPU_BUFFER(s->regions),
        LMI_GPU_BUFFER(s->node_items), LMI_GPU_BUFFER(s->node_rest), LMI_GPU_BUFFER(*rotations),
        LMI_GPU_BUFFER(gpu->x),        LMI_GPU_BUFFER(s->node_sums), LMI_GPU_BUFFER(s->carriers)};
    return (s->leaf_count == count ||
            lmi_gpu_run(gpu, s->carriers_of_clusters, clusters, sizeof clusters / sizeof *clusters, groups, group)) &&
           (s->leaf_count == 0 || (sum_nodes(gpu, s) && lmi_gpu_run(gpu, s->leaves_of_octrees, leaves,
                                                                    sizeof leaves / sizeof *leaves, groups, group)));
}
