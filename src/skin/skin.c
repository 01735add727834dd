/*
 * Skins: a surface that moves with the particles.
 *
 * Each vertex is a weighted sum of particles (cluster/embed.c) or of what the regions around it make of it
 * (skin/rider.c); which, and how much, is found once. Normals are those of the deformed triangles; those of lattices and
 * tetrahedra, whose deformation is known at every point, are the rest normals deformed (skin_kernels.c, skin_kernels.c).
 */
#include "skin/skin.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/quad.h"
#include "cluster/embed.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "gpu/look.h"
#include "lattice/embed_lattice.h"
#include "lattice/lattice_body.h"
#include "octree/octree.h"
#include "octree/octree_body.h"
#include "skin/face_normals.h"
#include "skin/lineage.h"
#include "skin/skin_kernels.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_cut.h"
#include "skin/slit.h"
#include "tets/embed_tets.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <string.h>

#define SKIN_COOKIE 0x4c4d5331u

lm_skin_def lm_skin_def_default(void)
{
    lm_skin_def def;
    memset(&def, 0, sizeof def);
    def.cookie = SKIN_COOKIE;
    return def;
}

static size_t rest_normal_room(const lmi_skin *skin) { return skin->on_cells || skin->on_tets ? skin->vertex_room : 0; }

void lmi_skin_free(lm_world *world, lmi_skin *skin)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, skin->vertices, skin->vertex_room, sizeof *skin->vertices);
    lmi_release(memory, skin->triangles, (size_t)skin->triangle_room * 3, sizeof *skin->triangles);
    lmi_release(memory, skin->offsets, (size_t)skin->vertex_room + 1, sizeof *skin->offsets);
    lmi_release(memory, skin->riders, skin->weight_room, sizeof *skin->riders);
    lmi_release(memory, skin->weights, skin->weight_room, sizeof *skin->weights);
    lmi_release(memory, skin->carriers, skin->carrier_count, sizeof *skin->carriers);
    lmi_release(memory, skin->maps, (size_t)skin->carrier_count * 16, sizeof *skin->maps);
    lmi_release(memory, skin->rest_normals, rest_normal_room(skin), sizeof *skin->rest_normals);
    lmi_release(memory, skin->sources, skin->vertex_room, sizeof *skin->sources);
    lmi_release(memory, skin->fading, skin->vertex_count, sizeof *skin->fading);
    memset(skin, 0, sizeof *skin);
}

/* Room for as much as there is to be. */
bool lmi_skin_allocate(lm_world *world, lmi_skin *skin)
{
    lmi_memory *memory = &world->memory;
    skin->vertex_room = skin->vertex_count;
    skin->triangle_room = skin->triangle_count;
    skin->weight_room = skin->weight_count;
    skin->vertices = lmi_allocate(memory, skin->vertex_room, sizeof *skin->vertices);
    skin->triangles = lmi_allocate(memory, (size_t)skin->triangle_room * 3, sizeof *skin->triangles);
    skin->offsets = lmi_allocate(memory, (size_t)skin->vertex_room + 1, sizeof *skin->offsets);
    skin->riders = lmi_allocate(memory, skin->weight_room, sizeof *skin->riders);
    skin->weights = lmi_allocate(memory, skin->weight_room, sizeof *skin->weights);
    skin->carriers = lmi_allocate(memory, skin->carrier_count, sizeof *skin->carriers);
    skin->maps = lmi_allocate(memory, (size_t)skin->carrier_count * 16, sizeof *skin->maps);
    skin->rest_normals = lmi_allocate(memory, rest_normal_room(skin), sizeof *skin->rest_normals);
    return skin->vertices && skin->triangles && skin->offsets && skin->riders && skin->weights && skin->carriers &&
           skin->maps && skin->rest_normals;
}

static const char *skin_fault(const lm_skin_def *def)
{
    if (def->cookie != SKIN_COOKIE) {
        return "the definition did not come from lm_skin_def_default";
    }
    if ((unsigned)def->kind >= LM_SKIN_KIND_COUNT) {
        return "kind is not one of lm_skin_kind";
    }
    if (!def->vertices || !def->triangles || def->vertex_count == 0 || def->triangle_count == 0) {
        return "a skin needs vertices and triangles";
    }
    if (def->vertex_count > LM_MAX_PARTICLES || def->triangle_count > LM_MAX_PARTICLES) {
        return "more than 2^26 vertices or triangles";
    }
    for (uint32_t n = 0; n < def->vertex_count; n++) {
        const lm_vec3 *p = &def->vertices[n];
        if (!(fabsf(p->x) <= LM_MAX_COORDINATE && fabsf(p->y) <= LM_MAX_COORDINATE &&
              fabsf(p->z) <= LM_MAX_COORDINATE)) {
            return "a vertex is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    for (size_t n = 0; n < (size_t)def->triangle_count * 3; n++) {
        if (def->triangles[n] >= def->vertex_count) {
            return "a triangle has an index beyond the last vertex";
        }
    }
    return NULL;
}

/* What finds the particles around a vertex: nothing for a lattice, whose cells are where they are. */
typedef struct finders {
    lmi_embedder cloud;
    lmi_tet_finder tets;
    lmi_octree_around octree;
    lmi_memory *memory;
    bool failed; /* for want of it */
} finders;

static bool rides_on_tets(const lmi_body *body, lm_skin_kind kind)
{
    return body->tet_count > 0 && kind == LM_SKIN_PARTICLES;
}

static bool make_finders(lm_world *world, const lmi_body *body, lm_skin_kind kind, finders *f)
{
    memset(f, 0, sizeof *f);
    f->memory = &world->memory;
    if (rides_on_tets(body, kind)) {
        return lmi_tet_finder_make(&f->tets, &world->memory, body->rest, body->tets, body->tet_count);
    }
    if (body->octree) {
        return lmi_octree_around_make(&f->octree, &world->memory, &body->octree->tree);
    }
    uint32_t count = body->lattice ? 0 : body->particle_count;
    return lmi_embedder_make(&f->cloud, &world->memory, body->rest, count);
}

static void free_finders(lm_world *world, finders *f)
{
    lmi_embedder_free(&f->cloud);
    lmi_tet_finder_free(&f->tets, &world->memory);
    lmi_octree_around_free(&f->octree, &world->memory);
}

/* What one vertex rides on. */
static uint32_t embed_vertex(finders *f, const lmi_body *body, lm_skin_kind kind, lm_vec3 vertex,
                             uint32_t riders[LMI_EMBED_MOST], float weights[LMI_EMBED_MOST])
{
    if (body->lattice) {
        return lmi_embed_lattice(&body->lattice->shape, vertex, riders, weights);
    }
    if (body->octree) {
        uint32_t leaf = lmi_octree_leaf_at(&body->octree->tree, vertex);
        uint32_t count = lmi_embed_octree(&f->octree, f->memory, leaf, vertex, riders, weights);
        f->failed = f->failed || count == 0;
        for (uint32_t n = 0; n < count; n++) {
            riders[n] += LMI_SKIN_REGION;
        }
        return count;
    }
    if (rides_on_tets(body, kind)) {
        lmi_embed_tets(&f->tets, vertex, riders, weights);
        return 4;
    }
    if (kind == LM_SKIN_PARTICLES || body->region_count == 0) {
        return lmi_embed_point(&f->cloud, vertex, riders, weights);
    }
    uint32_t count = lmi_blend_point(body->regions, body->region_count, vertex, riders, weights);
    for (uint32_t n = 0; n < count; n++) {
        riders[n] += LMI_SKIN_REGION;
    }
    return count;
}

/* Counts the weights of all vertices, and writes them when the skin has room for them. */
static uint32_t embed_vertices(finders *f, const lmi_body *body, const lm_skin_def *def, lmi_skin *skin)
{
    uint32_t total = 0;
    for (uint32_t n = 0; n < def->vertex_count; n++) {
        uint32_t riders[LMI_EMBED_MOST];
        float weights[LMI_EMBED_MOST];
        uint32_t count = embed_vertex(f, body, def->kind, def->vertices[n], riders, weights);
        if (skin->offsets) {
            memcpy(skin->riders + total, riders, count * sizeof *riders);
            memcpy(skin->weights + total, weights, count * sizeof *weights);
            skin->offsets[n + 1] = total + count;
        }
        total += count;
    }
    return total;
}

static bool make_skin(lm_world *world, const lmi_body *body, const lm_skin_def *def, lmi_skin *skin)
{
    finders f;
    if (!make_finders(world, body, def->kind, &f)) {
        return false;
    }
    skin->kind = body->octree ? LM_SKIN_REGIONS : def->kind; /* around a leaf is its region */
    skin->weight_count = embed_vertices(&f, body, def, skin);
    skin->vertex_count = def->vertex_count;
    skin->triangle_count = def->triangle_count;
    skin->carrier_count = skin->kind == LM_SKIN_REGIONS ? body->region_count : 0;
    skin->on_cells = body->lattice != NULL;
    skin->on_tets = rides_on_tets(body, def->kind);
    bool ok = !f.failed && lmi_skin_allocate(world, skin);
    if (ok) {
        memcpy(skin->vertices, def->vertices, def->vertex_count * sizeof *def->vertices);
        memcpy(skin->triangles, def->triangles, (size_t)def->triangle_count * 3 * sizeof *def->triangles);
        embed_vertices(&f, body, def, skin);
        lmi_skin_find_rest_normals(skin, body->rest);
    } else {
        lmi_skin_free(world, skin);
    }
    free_finders(world, &f);
    return ok;
}

void lmi_skin_carrier(const lm_world *world, const lmi_body *body, uint32_t region, lmi_carrier *carrier)
{
    if (body->octree) {
        lmi_octree_carrier(world, body, region, carrier);
        return;
    }
    uint32_t stride, first = body->region_offsets[region];
    const float *rotation = lmi_body_rotation(world, body, region, &stride);
    lmi_carrier_make(carrier, &body->regions[region], body->rest, body->x, body->members + first,
                     body->region_offsets[region + 1] - first, rotation, stride,
                     body->material.mode == LM_MODE_QUADRATIC);
}

/* A carrier without quadratic terms from the body's frame, x = A p + b: three columns and b, each four floats. */
static void map_from(const lmi_region *region, const lmi_carrier *c, float map[16])
{
    const double *d = region->extent;
    double b[3] = {c->constant[0], c->constant[1], c->constant[2]};
    const double centre[3] = {region->centre.x, region->centre.y, region->centre.z};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int j = 0; j < 3; j++) {
                sum += c->linear[3 * i + j] * (d[j] > 0.0 ? region->axes.m[k][j] / d[j] : region->axes.m[k][j]);
            }
            map[4 * k + i] = (float)sum;
            b[i] -= sum * centre[k];
        }
    }
    for (int i = 0; i < 3; i++) {
        map[12 + i] = (float)b[i];
    }
}

void lmi_skin_update(const lm_world *world, lmi_body *body)
{
    if (body->octree && body->skin.carrier_count) {
        lmi_octree_carriers(world, body, body->skin.carriers);
        for (uint32_t r = 0; r < body->skin.carrier_count; r++) {
            map_from(&body->regions[r], &body->skin.carriers[r], body->skin.maps + (size_t)r * 16);
        }
        return;
    }
    for (uint32_t r = 0; r < body->skin.carrier_count; r++) {
        lmi_skin_carrier(world, body, r, &body->skin.carriers[r]);
    }
}

static void follow_batch(void *context, uint32_t index)
{
    lm_world *world = context;
    const lmi_batch *batch = &world->batches[index];
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    for (uint32_t n = 0; n < batch->body_count; n++) {
        lmi_skin_update(world, lmi_body_in_step(world, batch->bodies[n]));
    }
    lmi_float_mode_leave(&host);
}

void lmi_skins_follow(lm_world *world)
{
    bool any = false;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        any = any || body->skin.carrier_count;
        if (body->asleep && body->roused) { /* it was pushed, and is in no batch yet */
            lmi_skin_update(world, body);
        }
    }
    if (any) {
        lmi_workers_run(world->workers, follow_batch, world, world->batch_count);
    }
}

lm_result lm_body_set_skin(lm_world *world, lm_body_id id, const lm_skin_def *def)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_skin");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = skin_fault(def);
    if (!fault && known->lattice && def->kind == LM_SKIN_REGIONS) {
        fault = "the skin of a lattice rides on particles";
    }
    if (!fault && known->grain && !known->grain->shell) {
        fault = "clusters that were cut without a skin, or split off, cannot be given one";
    }
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_skin: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_skin skin = {0};
    lmi_touch touch = {0};
    lmi_touch_mesh mesh = {def->vertices, def->triangles, def->vertex_count, def->triangle_count};
    bool touching = body->lattice || body->octree ? body->contact_points != LM_CONTACT_PARTICLES
                                                  : body->contact_points == LM_CONTACT_SURFACE;
    bool ok = (!touching || lmi_touch_make(world, body, &mesh, &touch)) && make_skin(world, body, def, &skin) &&
              lmi_body_make_bulk(world, body, &mesh);
    if (!ok) {
        lmi_skin_free(world, &skin);
    }
    if (ok) {
        lmi_skin before = body->skin;
        struct lmi_slit *slit = body->slit;
        const uint32_t inborn = body->fracture ? body->fracture->inborn_count : 0;
        if (inborn) { /* of the skin before */
            body->fracture->inborn_count = 0;
        }
        body->skin = skin;
        body->slit = NULL;
        ok = lmi_fracture_skin(world, body) && lmi_octree_cut_given_skin(world, body) &&
             lmi_grain_given_skin(world, body);
        if (ok) {
            lmi_skin_free(world, &before);
            lmi_slit_free(world, slit);
            lmi_lineage_free(world, body->lineage);
            body->lineage = NULL;
        } else {
            if (inborn) {
                body->fracture->inborn_count = inborn;
            }
            body->skin = before;
            body->slit = slit;
            lmi_skin_free(world, &skin);
        }
    }
    if (ok && touching) {
        lmi_touch_free(world, &body->touch);
        body->touch = touch;
        if (body->bulk) {
            lmi_mould_face(body->bulk->mould, &body->touch);
            ok = !body->octree || lmi_octree_body_face(world, body);
        }
    } else {
        lmi_touch_free(world, &touch);
    }
    if (ok) {
        body->shape_hash = body->fracture ? body->shape_hash : lmi_hash_shape(body);
        lmi_skin_update(world, body);
        lmi_body_rouse(world, body); /* it may touch with another surface now */
    }
    lmi_float_mode_leave(&host);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_skin: out of memory");
}

lm_dvec3 lmi_skin_vertex(const lmi_body *body, uint32_t vertex)
{
    const lmi_skin *skin = &body->skin;
    lm_dvec3 sum = lm_dvec3_zero();
    for (uint32_t n = skin->offsets[vertex]; n < skin->offsets[vertex + 1]; n++) {
        uint32_t rider = skin->riders[n];
        lm_dvec3 at;
        if (rider >= LMI_SKIN_REGION) {
            rider -= LMI_SKIN_REGION;
            at = lmi_carrier_apply(&skin->carriers[rider],
                                   lmi_blend_local(&body->regions[rider], skin->vertices[vertex]));
        } else {
            const float *x = body->x + (size_t)rider * 4;
            at = dvec(x[0], x[1], x[2]);
        }
        sum = dvec_add(sum, dvec_scale(at, skin->weights[n]));
    }
    if (skin->fading) {
        sum = dvec_add(sum, dvec_scale(dvec_from(skin->fading[vertex]), skin->fading_left / LMI_SKIN_FADES));
    }
    return sum;
}

void lmi_skin_fade(lm_world *world, lmi_skin *skin, double seconds)
{
    skin->fading_left -= (float)seconds;
    if (skin->fading && !(skin->fading_left > 0.0f)) {
        lmi_release(&world->memory, skin->fading, skin->vertex_count, sizeof *skin->fading);
        skin->fading = NULL;
    }
}

/* The normal of a triangle with the length of twice its area, added to its corners'. */
static void add_normal(const uint32_t *corner, const lm_dvec3 at[3], lm_vec3 *normals)
{
    lm_vec3 area = lmi_face_area(at[0], at[1], at[2]);
    for (int i = 0; i < 3; i++) {
        normals[corner[i]].x += area.x;
        normals[corner[i]].y += area.y;
        normals[corner[i]].z += area.z;
    }
}

static void to_unit_length(lm_vec3 *normals, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        normals[n] = lmi_face_unit(normals[n]);
    }
}

/* Normals from vertices relative to the body's origin, given or (null) found one by one. */
static void add_normals(const lmi_body *body, const lm_vec3 *positions, lm_vec3 *normals)
{
    for (uint32_t t = 0; t < body->skin.triangle_count; t++) {
        const uint32_t *corner = body->skin.triangles + (size_t)t * 3;
        lm_dvec3 at[3];
        for (int i = 0; i < 3; i++) {
            at[i] = positions ? dvec_from(positions[corner[i]]) : lmi_skin_vertex(body, corner[i]);
        }
        add_normal(corner, at, normals);
    }
    to_unit_length(normals, body->skin.vertex_count);
}

/* A normal times the rest edges of a tetrahedron, to length 1: only its direction matters. */
static lm_vec3 on_edges(const lm_vec3 *rest, const uint32_t *tet, lm_vec3 normal)
{
    lm_dvec3 n = dvec_from(normal), from = dvec_from(rest[tet[0]]);
    lm_dvec3 k =
        dvec(dvec_dot(dvec_sub(dvec_from(rest[tet[1]]), from), n), dvec_dot(dvec_sub(dvec_from(rest[tet[2]]), from), n),
             dvec_dot(dvec_sub(dvec_from(rest[tet[3]]), from), n));
    double length = dvec_length(k);
    return vec_from(dvec_scale(k, length > 0.0 ? 1.0 / length : 0.0));
}

void lmi_skin_mean_normals(const lmi_skin *skin, lm_vec3 *normals)
{
    memset(normals, 0, skin->vertex_count * sizeof *normals);
    for (uint32_t t = 0; t < skin->triangle_count; t++) {
        const uint32_t *corner = skin->triangles + (size_t)t * 3;
        lm_dvec3 at[3];
        for (int i = 0; i < 3; i++) {
            at[i] = dvec_from(skin->vertices[corner[i]]);
        }
        add_normal(corner, at, normals);
    }
    to_unit_length(normals, skin->vertex_count);
}

void lmi_skin_find_rest_normals(lmi_skin *skin, const lm_vec3 *rest)
{
    if (!skin->on_cells && !skin->on_tets) {
        return;
    }
    lmi_skin_mean_normals(skin, skin->rest_normals);
    for (uint32_t n = 0; skin->on_tets && n < skin->vertex_count; n++) {
        skin->rest_normals[n] = on_edges(rest, skin->riders + (size_t)n * 4, skin->rest_normals[n]);
    }
}

/* Vertices of an octree: sums over the maps of their leaves. */
static void carry_on_leaves(const lmi_skin *skin, lm_vec3 *positions)
{
    for (uint32_t n = 0; n < skin->vertex_count; n++) {
        const lm_vec3 p = skin->vertices[n];
        quad x = quad_of(0.0f, 0.0f, 0.0f), y = x, z = x, at = x;
        for (uint32_t k = skin->offsets[n]; k < skin->offsets[n + 1]; k++) {
            const float *map = skin->maps + (size_t)(skin->riders[k] - LMI_SKIN_REGION) * 16;
            x = quad_add_scaled(x, skin->weights[k], quad_load(map));
            y = quad_add_scaled(y, skin->weights[k], quad_load(map + 4));
            z = quad_add_scaled(z, skin->weights[k], quad_load(map + 8));
            at = quad_add_scaled(at, skin->weights[k], quad_load(map + 12));
        }
        at = quad_add_scaled(quad_add_scaled(quad_add_scaled(at, p.x, x), p.y, y), p.z, z);
        if (skin->fading) {
            const lm_vec3 f = skin->fading[n];
            at = quad_add_scaled(at, skin->fading_left / LMI_SKIN_FADES, quad_of(f.x, f.y, f.z));
        }
        positions[n] = (lm_vec3){quad_at(at, 0), quad_at(at, 1), quad_at(at, 2)};
    }
}

static void carry_on_particles(const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals)
{
    bool leaves = body->octree && positions;
    if (leaves) {
        carry_on_leaves(&body->skin, positions);
    }
    for (uint32_t n = 0; positions && !leaves && n < body->skin.vertex_count; n++) {
        positions[n] = vec_from(lmi_skin_vertex(body, n));
    }
    if (normals) {
        memset(normals, 0, body->skin.vertex_count * sizeof *normals);
        add_normals(body, positions, normals);
    }
}

static void carry_on_cells(const lm_world *world, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals)
{
    const lmi_skin *skin = &body->skin;
    lmi_skin_cells cells = {.x = body->x,
                            .riders = skin->riders,
                            .weights = skin->weights,
                            .rest_normals = skin->rest_normals,
                            .count = skin->vertex_count,
                            .per_spacing = (float)(1.0 / body->lattice->shape.spacing),
                            .positions = positions,
                            .normals = normals};
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    world->kernels->skin_lattice(&cells);
    lmi_float_mode_leave(&host);
}

static void carry_on_tets(const lm_world *world, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals)
{
    const lmi_skin *skin = &body->skin;
    lmi_skin_tets tets = {.x = body->x,
                          .riders = skin->riders,
                          .weights = skin->weights,
                          .edge_normals = skin->rest_normals,
                          .count = skin->vertex_count,
                          .positions = positions,
                          .normals = normals};
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    world->kernels->skin_tets(&tets);
    lmi_float_mode_leave(&host);
}

/* The skin from the particles that are here, relative to the body's origin. */
static void carry(const lm_world *world, const lmi_body *body, lm_vec3 *positions, lm_vec3 *normals)
{
    if (body->lattice) {
        carry_on_cells(world, body, positions, normals);
    } else if (body->skin.on_tets) {
        carry_on_tets(world, body, positions, normals);
    } else {
        carry_on_particles(body, positions, normals);
    }
}

lm_result lm_body_get_skin(const lm_world *world, lm_body_id id, lm_dvec3 base, lm_vec3 *positions, lm_vec3 *normals)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_skin");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin: the body has no skin");
    }
    lm_dvec3 origin;
    if (!lmi_gpu_get_skin(world, body, positions, normals, &origin)) {
        if (body->batch != LMI_NONE) { /* who sleeps is nowhere else */
            lmi_world_read(world);
        }
        carry(world, body, positions, normals);
        origin = body->origin;
    }
    lm_dvec3 from = dvec_sub(origin, base);
    for (uint32_t n = 0; positions && n < body->skin.vertex_count; n++) {
        positions[n] = vec_from(dvec_add(from, dvec_from(positions[n])));
    }
    return LM_OK;
}
lm_result lm_body_get_skin_triangles(const lm_world *world, lm_body_id id, uint32_t *triangles)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_skin_triangles");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->skin.vertex_count == 0) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_skin_triangles: the body has no skin");
    }
    memcpy(triangles, body->skin.triangles, (size_t)body->skin.triangle_count * 3 * sizeof *triangles);
    return LM_OK;
}
