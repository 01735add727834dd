/*
 * Skins in snapshots, as they were given: of bodies, of what was cut, and of what broke. How a skin that is cut looks follows from that.
 */
#include "cluster/embed.h"
#include "fracture/fracture.h"
#include "skin/skin.h"
#include "skin/skin_octree.h"
#include "skin/skin_octree_cut.h"
#include "snapshot/archive.h"

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

void lmi_visit_skin(archive *a, lm_world *world, lmi_body *body)
{
    bool cut = body->fracture && body->fracture->whole.vertex_count;
    lmi_skin *skin = cut ? &body->fracture->whole : &body->skin; /* as it was given */
    if (lmi_octree_skin_is_cut(body->octree)) {
        skin = &body->octree->shell->whole;
    }
    lmi_skin none = {0};
    if (body->grain) { /* it follows from what the grain keeps */
        skin = &none;
    }
    lmi_visit_skin_counts(a, skin);
    if (skin->vertex_count == 0 || !ok(a)) {
        return;
    }
    refuse_if(a, body->lattice && skin->kind == LM_SKIN_REGIONS);
    refuse_if(a, body->octree && skin->kind != LM_SKIN_REGIONS);
    if (a->mode == LOAD) {
        skin->carrier_count = skin->kind == LM_SKIN_REGIONS ? body->region_count : 0;
        skin->on_cells = body->lattice != NULL;
        skin->on_tets = body->tet_count > 0 && skin->kind == LM_SKIN_PARTICLES;
    }
    const lmi_riders riders = riders_of(body, skin);
    lmi_visit_skin_arrays(a, world, skin, &riders);
    if (a->mode == LOAD && ok(a)) {
        lmi_skin_find_rest_normals(skin, body->rest);
    }
}
