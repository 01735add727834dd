/*
 * Regions that skins ride on: of clusters with their members, of octrees with the sums over the tree that they are found from.
 * Their rest frames depend on masses and pins, and are laid out for each body.
 */
#include "gpu/skins.h"

#include "gpu/clusters.h"
#include "gpu/layout.h"
#include "match/carrier.h"
#include "octree/octree_body.h"

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
