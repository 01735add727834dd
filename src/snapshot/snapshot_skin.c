/*
 * Skins in snapshots, as they were given: of bodies, of what was cut, and of what broke. How a skin that is cut looks follows from that.
 */
#include "cluster/embed.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "skin/lineage.h"
#include "skin/skin.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_cut.h"
#include "skin/slit.h"
#include "snapshot/archive.h"

#include <math.h>

static bool rider_is_sound(const lmi_riders *riders, uint32_t rider)
{
    if (rider >= LMI_SKIN_REGION) {
        return rider - LMI_SKIN_REGION < riders->regions;
    }
    return rider < riders->particles && (!riders->order || riders->order[rider] != LMI_NONE);
}

static void visit_vertex(archive *a, lmi_skin *skin, const lmi_riders *riders, uint32_t n)
{
    uint32_t *offsets = &skin->offsets[n];
    visit_vec3(a, &skin->vertices[n]);
    refuse_if(a, !is_near(skin->vertices[n]));
    visit_index(a, &offsets[1], skin->weight_count + 1, false);
    refuse_if(a, offsets[1] < offsets[0] || offsets[1] - offsets[0] < riders->least ||
                     offsets[1] - offsets[0] > riders->most);
}

void lmi_visit_skin_counts(archive *a, lmi_skin *skin)
{
    VISIT_ENUM(a, skin->kind, LM_SKIN_KIND_COUNT);
    visit_count(a, &skin->vertex_count, 16);
    visit_count(a, &skin->triangle_count, 12);
    visit_count(a, &skin->weight_count, 8);
    refuse_if(a, skin->vertex_count == 0 ? skin->triangle_count || skin->weight_count : skin->triangle_count == 0);
}

void lmi_visit_skin_arrays(archive *a, lm_world *world, lmi_skin *skin, const lmi_riders *riders)
{
    if (skin->vertex_count == 0 || !ok(a)) {
        return;
    }
    if (a->mode == LOAD && !lmi_skin_allocate(world, skin)) {
        a->out_of_memory = true;
        return;
    }
    for (uint32_t n = 0; n < skin->vertex_count && ok(a); n++) {
        visit_vertex(a, skin, riders, n);
    }
    refuse_if(a, ok(a) && skin->offsets[skin->vertex_count] != skin->weight_count);
    for (size_t n = 0; n < (size_t)skin->triangle_count * 3 && ok(a); n++) {
        visit_index(a, &skin->triangles[n], skin->vertex_count, false);
    }
    for (uint32_t n = 0; n < skin->weight_count && ok(a); n++) {
        visit_u32(a, &skin->riders[n]);
        refuse_if(a, !rider_is_sound(riders, skin->riders[n]));
        visit_float(a, &skin->weights[n]);
    }
}

/* What the vertices of a body's skin can ride on: the corners of a cell or a tetrahedron, leaves, or any particles and regions. */
static lmi_riders riders_of(const lmi_body *body, const lmi_skin *skin)
{
    lmi_riders riders = {body->place_count, skin->carrier_count, body->order, 0, LMI_EMBED_MOST};
    if (skin->on_cells || skin->on_tets) {
        riders.least = riders.most = skin->on_cells ? 8 : 4;
    } else if (body->octree) {
        riders.particles = 0;
        riders.most = LMI_SKIN_OCTREE_MOST;
    }
    return riders;
}

static void visit_slit_vertex(archive *a, lmi_skin *skin, lmi_slit *slit, uint32_t n)
{
    visit_vec3(a, &skin->rest_normals[n]);
    refuse_if(a, !is_near(skin->rest_normals[n]));
    visit_u32(a, &skin->sources[n]);
    refuse_if(a, skin->sources[n] != LM_SKIN_INNER && skin->sources[n] >= slit->whole.vertex_count);
    visit_index(a, &slit->point[n], n + 1, false);
    refuse_if(a, ok(a) && slit->point[slit->point[n]] != slit->point[n]);
    visit_float(a, &slit->uv[n][0]);
    visit_float(a, &slit->uv[n][1]);
    refuse_if(a, !(isfinite(slit->uv[n][0]) && isfinite(slit->uv[n][1])));
    visit_u32(a, &slit->material[n]);
}

/* The skin as blades have cut it: how follows from where the body was then. */
static void visit_slit(archive *a, lm_world *world, lmi_body *body)
{
    lmi_slit *slit = body->slit;
    lmi_skin *skin = &body->skin;
    lmi_visit_skin_counts(a, skin);
    refuse_if(a, skin->vertex_count < slit->whole.vertex_count || skin->kind == LM_SKIN_REGIONS ||
                     skin->weight_count != 8 * skin->vertex_count);
    visit_u32(a, &slit->cuts);
    if (!ok(a)) {
        return;
    }
    if (a->mode == LOAD) {
        skin->on_cells = true;
    }
    const lmi_riders riders = riders_of(body, skin);
    lmi_visit_skin_arrays(a, world, skin, &riders);
    if (a->mode == LOAD && ok(a)) {
        const size_t count = slit->count = skin->vertex_count;
        skin->sources = lmi_allocate(&world->memory, count, sizeof *skin->sources);
        slit->point = lmi_allocate(&world->memory, count, sizeof *slit->point);
        slit->uv = lmi_allocate(&world->memory, count, sizeof *slit->uv);
        slit->material = lmi_allocate(&world->memory, count, sizeof *slit->material);
        a->out_of_memory = !skin->sources || !slit->point || !slit->uv || !slit->material;
    }
    for (uint32_t n = 0; n < skin->vertex_count && ok(a); n++) {
        visit_slit_vertex(a, skin, slit, n);
    }
    uint32_t walls = slit->wall_count;
    visit_count(a, &walls, 36);
    if (a->mode == LOAD && ok(a)) {
        slit->walls = lmi_allocate(&world->memory, walls, sizeof *slit->walls);
        slit->wall_count = slit->walls ? walls : 0;
        a->out_of_memory = !slit->walls;
    }
    for (uint32_t n = 0; n < 3 * walls && ok(a); n++) {
        visit_vec3(a, &slit->walls[n / 3][n % 3]);
        refuse_if(a, !is_near(slit->walls[n / 3][n % 3]));
    }
}

void lmi_visit_lineage(archive *a, lm_world *world, lmi_body *body)
{
    bool has = body->lineage != NULL;
    uint32_t count = has ? body->lineage->count : 0;
    visit_bool(a, &has);
    if (!has || !ok(a)) {
        return;
    }
    visit_count(a, &count, 28);
    if (a->mode == LOAD && ok(a)) {
        body->lineage = lmi_lineage_make(world, count);
        a->out_of_memory = !body->lineage;
    }
    for (uint32_t n = 0; n < count && ok(a); n++) {
        lmi_lineage *l = body->lineage;
        visit_u32(a, &l->sources[n]);
        visit_float(a, &l->uv[n][0]);
        visit_float(a, &l->uv[n][1]);
        visit_u32(a, &l->material[n]);
        visit_vec3(a, &l->normals[n]);
        refuse_if(a, !is_near(l->normals[n]));
    }
}

/* Whether what a piece came with is that of its skin as it was given. */
bool lmi_lineage_fits(const lmi_body *body, const lmi_skin *given)
{
    return !body->lineage || body->lineage->count == given->vertex_count;
}

void lmi_visit_skin(archive *a, lm_world *world, lmi_body *body)
{
    bool cut = body->fracture && body->fracture->whole.vertex_count;
    lmi_skin *skin = cut ? &body->fracture->whole : &body->skin; /* as it was given */
    if (lmi_octree_skin_is_cut(body->octree)) {
        skin = &body->octree->shell->whole;
    }
    bool slit = body->slit != NULL;
    if (body->lattice) {
        visit_bool(a, &slit);
    }
    if (a->mode == LOAD && slit && ok(a)) {
        body->slit = lmi_allocate(&world->memory, 1, sizeof *body->slit);
        a->out_of_memory = !body->slit;
    }
    if (slit && ok(a)) {
        skin = &body->slit->whole;
    }
    lmi_skin none = {0};
    if (body->grain && body->grain->shell) { /* it follows from what the grain keeps */
        skin = &none;
    }
    lmi_visit_skin_counts(a, skin);
    refuse_if(a, slit && skin->vertex_count == 0);
    refuse_if(a, body->lineage && !body->grain && skin->vertex_count == 0 && a->mode != LOAD);
    if (skin->vertex_count == 0 || !ok(a)) {
        return;
    }
    refuse_if(a, body->lattice && skin->kind == LM_SKIN_REGIONS);
    refuse_if(a, body->octree && skin->kind != LM_SKIN_REGIONS);
    if (a->mode == LOAD) {
        const bool piece = body->lineage && !body->lattice; /* it rides on what it rode on as a part of another */
        skin->carrier_count = skin->kind == LM_SKIN_REGIONS || piece ? body->region_count : 0;
        skin->on_cells = body->lattice != NULL;
        skin->on_tets = body->tet_count > 0 && skin->kind == LM_SKIN_PARTICLES && !piece;
    }
    const lmi_riders riders = riders_of(body, skin);
    lmi_visit_skin_arrays(a, world, skin, &riders);
    if (a->mode == LOAD && ok(a)) {
        lmi_skin_find_rest_normals(skin, body->rest);
        refuse_if(a, !lmi_lineage_fits(body, skin));
        if (ok(a) && body->lineage && skin->on_cells) {
            memcpy(skin->rest_normals, body->lineage->normals, skin->vertex_count * sizeof *skin->rest_normals);
        }
    }
    if (slit && ok(a)) {
        visit_slit(a, world, body);
    }
}
