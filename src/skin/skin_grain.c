/*
 * Skins of clusters and tetrahedra that were cut (grain.h).
 *
 * The surface is divided and opened along the faces of voxels as that of an octree is (skin/skin_octree_cut.h), of which the
 * voxels are the leaves; that also tells on which side of a cut each vertex is, as a voxel. What it rides on depends on the
 * particle that the voxel belongs to:
 *
 *   - far from cuts, where it was given: what it rode on then;
 *   - else the particles that bonds lead to from that one, by the weights that uncut skins have;
 *   - where those lie in a plane or a line, which says nothing of what is beside it, or are so few that the vertex would be thrown
 *     about: the regions of that particle, whose rotation does.
 */
#include "cluster/embed.h"
#include "cut/grain.h"
#include "skin/skin.h"
#include "skin/skin_octree_cut.h"

#include <string.h>

/* Particles that a vertex near a cut rides on, and what their weights may add up to without their signs. */
#define RIDERS 16u
#define STEADY 4.0

/* The thickness of a set of particles as a share of its length, squared, below which it counts as flat. */
#define FLAT 1e-2

/* What finds riders, and those that were found. */
typedef struct rider_list {
    const lmi_body *body;
    const lmi_grain *grain;
    lmi_embedder cloud;
    uint32_t *riders;
    float *weights;
    uint32_t count, capacity, weight_capacity;
    bool on_regions; /* some vertex rides on regions */
} rider_list;

static void add_rider(rider_list *l, uint32_t rider, float weight)
{
    l->riders[l->count] = rider;
    l->weights[l->count++] = weight;
    l->on_regions = l->on_regions || rider >= LMI_SKIN_REGION;
}

/* The part of a region as it was before all cuts that a particle is in; or NONE. */
static uint32_t part_of_region(const rider_list *l, uint32_t particle, uint32_t origin)
{
    const lmi_grain_index *index = &l->grain->index;
    for (uint32_t n = index->region_offsets[particle]; n < index->region_offsets[particle + 1]; n++) {
        if (l->grain->origin[index->regions[n]] == origin) {
            return index->regions[n];
        }
    }
    return LMI_NONE;
}

/* What a vertex rode on before all cuts, as long as that is still on its side: particles far from cuts, regions by the parts of
 * them that its particle is in. */
static bool take_given(rider_list *l, uint32_t given, uint32_t particle)
{
    const lmi_skin *whole = &l->grain->whole;
    uint32_t first = whole->offsets[given], last = whole->offsets[given + 1], start = l->count;
    double sum = 0.0;
    bool taken = l->grain->calm[particle];
    for (uint32_t n = first; taken && n < last; n++) {
        uint32_t rider = whole->riders[n];
        if (rider >= LMI_SKIN_REGION) {
            rider = part_of_region(l, particle, rider - LMI_SKIN_REGION);
            if (rider != LMI_NONE) {
                add_rider(l, rider + LMI_SKIN_REGION, whole->weights[n]);
                sum += whole->weights[n];
            }
            continue;
        }
        taken = l->grain->calm[rider] && l->grain->part[rider] == l->grain->part[particle];
        add_rider(l, rider, whole->weights[n]);
        sum += whole->weights[n];
    }
    taken = taken && l->count > start && sum > 0.25;
    for (uint32_t n = start; taken && n < l->count && l->riders[start] >= LMI_SKIN_REGION; n++) {
        l->weights[n] = (float)(l->weights[n] / sum);
    }
    l->count = taken ? l->count : start;
    return taken;
}

/* Whether particles extend in all directions. */
static bool fill_space(const lmi_body *body, const uint32_t *places, uint32_t count)
{
    lm_dvec3 mean = lm_dvec3_zero();
    double moments[9] = {0}, values[3], vectors[9];
    for (uint32_t n = 0; n < count; n++) {
        mean = dvec_add(mean, dvec_scale(dvec_from(body->rest[places[n]]), 1.0 / count));
    }
    for (uint32_t n = 0; n < count; n++) {
        lm_dvec3 d = dvec_sub(dvec_from(body->rest[places[n]]), mean);
        const double r[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++) {
            moments[i] += r[i / 3] * r[i % 3];
        }
    }
    lmi_symmetric_eigen(3, moments, values, vectors);
    return count >= 4 && values[2] > FLAT * values[0];
}

static bool ride_on_particles(rider_list *l, uint32_t particle, lm_vec3 point)
{
    uint32_t places[LMI_EMBED_MOST];
    float weights[LMI_EMBED_MOST];
    uint32_t count = lmi_grain_around(l->body, particle, point, RIDERS, places);
    if (!fill_space(l->body, places, count)) {
        return false;
    }
    double size = 0.0;
    count = lmi_embed_from(&l->cloud, point, places, count, INFINITY, weights);
    for (uint32_t n = 0; n < count; n++) {
        size += fabs((double)weights[n]);
    }
    for (uint32_t n = 0; size <= STEADY && n < count; n++) {
        add_rider(l, places[n], weights[n]);
    }
    return size <= STEADY;
}

/* On the regions of a particle, those of several members before those of itself alone; on itself where it has none. */
static void ride_on_regions(rider_list *l, uint32_t particle, lm_vec3 point)
{
    const lmi_grain_index *index = &l->grain->index;
    const lmi_body *body = l->body;
    lmi_region near[LMI_BLEND_MOST];
    uint32_t which[LMI_BLEND_MOST], chosen[LMI_BLEND_MOST], count = 0;
    float weights[LMI_BLEND_MOST];
    for (int alone = 0; alone < 2 && count == 0; alone++) {
        for (uint32_t n = index->region_offsets[particle]; n < index->region_offsets[particle + 1]; n++) {
            uint32_t r = index->regions[n], size = body->region_offsets[r + 1] - body->region_offsets[r];
            if (count < LMI_BLEND_MOST && (size > 1 || alone)) {
                near[count] = body->regions[r];
                which[count++] = r;
            }
        }
    }
    if (count == 0) {
        add_rider(l, particle, 1.0f);
        return;
    }
    count = lmi_blend_point(near, count, point, chosen, weights);
    for (uint32_t n = 0; n < count; n++) {
        add_rider(l, which[chosen[n]] + LMI_SKIN_REGION, weights[n]);
    }
}

static bool reserve_riders(lmi_memory *memory, rider_list *l, uint32_t more)
{
    void *riders = l->riders, *weights = l->weights;
    bool ok = lmi_reserve(memory, &riders, &l->capacity, l->count + more, sizeof *l->riders);
    l->riders = riders;
    ok = ok && lmi_reserve(memory, &weights, &l->weight_capacity, l->count + more, sizeof *l->weights);
    l->weights = weights;
    return ok;
}

/* The particle of the voxel that weighs most under a vertex: all that it rides on are on its side. */
static uint32_t particle_of(const lmi_grain *g, const lmi_skin *opened, uint32_t vertex)
{
    uint32_t best = opened->offsets[vertex];
    for (uint32_t n = best; n < opened->offsets[vertex + 1]; n++) {
        best = opened->weights[n] > opened->weights[best] ? n : best;
    }
    uint32_t leaf = opened->riders[best] - LMI_SKIN_REGION;
    return g->owner[g->tree.voxel_order[g->tree.nodes[g->tree.leaves[leaf]].first_voxel]];
}

/* Riders of all vertices of a skin that is opened; `offsets` has room for them. */
static bool find_riders(lmi_memory *memory, rider_list *l, const lmi_skin *opened, uint32_t *offsets)
{
    const lmi_skin *whole = &l->grain->whole;
    bool ok = true;
    for (uint32_t n = 0; ok && n < opened->vertex_count; n++) {
        uint32_t particle = particle_of(l->grain, opened, n), given = opened->sources[n];
        bool stays = given != LM_SKIN_INNER &&
                     memcmp(&opened->vertices[n], &whole->vertices[given], sizeof *whole->vertices) == 0;
        ok = reserve_riders(memory, l, LMI_EMBED_MOST);
        if (ok && !(stays && take_given(l, given, particle)) &&
            !(whole->kind == LM_SKIN_PARTICLES && ride_on_particles(l, particle, opened->vertices[n]))) {
            ride_on_regions(l, particle, opened->vertices[n]);
        }
        offsets[n + 1] = l->count;
    }
    return ok;
}

/* A skin like one that is opened, with other riders. */
static bool fill_skin(lm_world *world, const rider_list *l, const lmi_skin *opened, const uint32_t *offsets,
                      lmi_skin *skin)
{
    skin->kind = l->grain->whole.kind;
    skin->vertex_count = opened->vertex_count;
    skin->triangle_count = opened->triangle_count;
    skin->weight_count = l->count;
    skin->carrier_count = l->on_regions ? l->body->region_count : 0;
    bool ok = lmi_skin_allocate(world, skin);
    skin->sources = ok ? lmi_allocate(&world->memory, skin->vertex_room, sizeof *skin->sources) : NULL;
    if (!skin->sources) {
        lmi_skin_free(world, skin);
        return false;
    }
    memcpy(skin->vertices, opened->vertices, opened->vertex_count * sizeof *skin->vertices);
    memcpy(skin->triangles, opened->triangles, (size_t)opened->triangle_count * 3 * sizeof *skin->triangles);
    memcpy(skin->offsets, offsets, ((size_t)opened->vertex_count + 1) * sizeof *offsets);
    memcpy(skin->riders, l->riders, l->count * sizeof *l->riders);
    memcpy(skin->weights, l->weights, l->count * sizeof *l->weights);
    memcpy(skin->sources, opened->sources, opened->vertex_count * sizeof *skin->sources);
    return true;
}

/* The surface with its cuts, on voxels as if they were an octree: in the spare skin of the shell, until that is dropped. */
static const lmi_skin *open_skin(lm_world *world, const lmi_grain *g)
{
    lmi_octree_body voxels = {.tree = g->tree};
    const lmi_body stand_in = {.octree = &voxels, .region_count = g->tree.leaf_count};
    const lmi_shell_change change = {.skin = &g->shell->whole};
    return lmi_octree_shell_plan(world, &stand_in, g->shell, &change) ? &g->shell->spare : NULL;
}

bool lmi_grain_skin(lm_world *world, const lmi_body *body, lmi_skin *skin)
{
    lmi_memory *memory = &world->memory;
    const lmi_grain *g = body->grain;
    memset(skin, 0, sizeof *skin);
    if (!g->shell) {
        return true;
    }
    const lmi_skin *opened = open_skin(world, g);
    if (!opened) {
        return false;
    }
    rider_list l = {.body = body, .grain = g};
    uint32_t *offsets = lmi_allocate(memory, (size_t)opened->vertex_count + 1, sizeof *offsets);
    bool ok = offsets && lmi_embedder_make(&l.cloud, memory, body->rest, body->particle_count) &&
              find_riders(memory, &l, opened, offsets) && fill_skin(world, &l, opened, offsets, skin);
    lmi_release(memory, offsets, (size_t)opened->vertex_count + 1, sizeof *offsets);
    lmi_release(memory, l.riders, l.capacity, sizeof *l.riders);
    lmi_release(memory, l.weights, l.weight_capacity, sizeof *l.weights);
    lmi_embedder_free(&l.cloud);
    lmi_octree_shell_drop(g->shell, &g->tree, NULL);
    return ok;
}

/* A skin that was given after cuts, as if it had been there before them: regions by what they were part of. */
static bool keep_given(lm_world *world, const lmi_body *body, lmi_skin *whole)
{
    memset(whole, 0, sizeof *whole);
    if (!lmi_grain_keep_skin(world, &body->skin, whole)) {
        return false;
    }
    for (uint32_t n = 0; n < whole->weight_count; n++) {
        if (whole->riders[n] >= LMI_SKIN_REGION) {
            whole->riders[n] = LMI_SKIN_REGION + body->grain->origin[whole->riders[n] - LMI_SKIN_REGION];
        }
    }
    return true;
}

bool lmi_grain_given_skin(lm_world *world, lmi_body *body)
{
    lmi_grain *g = body->grain;
    lmi_skin whole, cut;
    if (!g || body->skin.vertex_count == 0) {
        return true;
    }
    if (!keep_given(world, body, &whole)) {
        return false;
    }
    lmi_octree_shell *shell = lmi_octree_shell_make(world, &g->tree, &whole), *before = g->shell;
    lmi_skin given = g->whole;
    g->shell = shell;
    g->whole = whole;
    if (!shell || !lmi_grain_skin(world, body, &cut)) {
        g->shell = before;
        g->whole = given;
        lmi_octree_shell_free(world, shell);
        lmi_skin_free(world, &whole);
        return false;
    }
    lmi_octree_shell_free(world, before);
    lmi_skin_free(world, &given);
    lmi_skin_free(world, &body->skin);
    body->skin = cut;
    return true;
}
