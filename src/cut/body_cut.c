/*
 * Cutting bodies with a blade: lm_body_cut. Lattices break along it (chips.c, fracture_break.c), clusters and tetrahedra have a file of
 * their own (cluster_cut.c); octrees become others (octree_change.h).
 */
#include "base/guard.h"
#include "cut/cut.h"
#include "cut/ready.h"
#include "fracture/fracture.h"
#include "octree/octree_level.h"
#include "skin/skin_octree_cut.h"
#include "skin/skin_open.h"
#include "skin/slit.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

#define BLADE_COOKIE 0x4c4d4231u

lm_blade lm_blade_default(void)
{
    lm_blade blade;
    memset(&blade, 0, sizeof blade);
    blade.cookie = BLADE_COOKIE;
    return blade;
}

static const char *blade_fault(const lm_blade *blade)
{
    if (blade->cookie != BLADE_COOKIE) {
        return "the blade did not come from lm_blade_default";
    }
    if (blade->triangle_count && (!blade->vertices || !blade->triangles)) {
        return "a blade needs vertices and triangles";
    }
    if (blade->triangle_count > LM_MAX_BLADE_TRIANGLES || blade->vertex_count > 3 * LM_MAX_BLADE_TRIANGLES) {
        return "the blade has more than LM_MAX_BLADE_TRIANGLES triangles, or three times as many vertices";
    }
    if (!(blade->finest >= 0.0f && blade->finest <= 1e6f)) {
        return "finest must be 0 to 1e6 m";
    }
    for (uint32_t n = 0; n < blade->vertex_count; n++) {
        const lm_dvec3 *p = &blade->vertices[n];
        if (!(fabs(p->x) <= LM_MAX_POSITION && fabs(p->y) <= LM_MAX_POSITION && fabs(p->z) <= LM_MAX_POSITION)) {
            return "a vertex of the blade is not finite or beyond LM_MAX_POSITION";
        }
    }
    for (size_t n = 0; n < (size_t)blade->triangle_count * 3; n++) {
        if (blade->triangles[n] >= blade->vertex_count) {
            return "a triangle of the blade has an index beyond the last vertex";
        }
    }
    return NULL;
}

/* Whether any triangle cuts. */
static bool has_area(const lm_blade *blade)
{
    bool any = false;
    for (uint32_t n = 0; n < blade->triangle_count && !any; n++) {
        lmi_blade_triangle t;
        for (int i = 0; i < 3; i++) {
            t.corner[i] = blade->vertices[blade->triangles[n * 3 + (uint32_t)i]];
        }
        any = lmi_blade_has_area(&t);
    }
    return any;
}

/* The blade's triangles from the body's origin; null when out of memory. */
static lmi_blade_triangle *take_blade(lmi_memory *memory, const lm_blade *blade, lm_dvec3 origin)
{
    lmi_blade_triangle *triangles = lmi_allocate(memory, blade->triangle_count, sizeof *triangles);
    for (uint32_t n = 0; triangles && n < blade->triangle_count; n++) {
        for (int i = 0; i < 3; i++) {
            triangles[n].corner[i] = dvec_sub(blade->vertices[blade->triangles[3 * n + (uint32_t)i]], origin);
        }
    }
    return triangles;
}

static lm_result cut(lmi_octree_change *c, const lm_blade *blade, const lmi_stroke *stroke, lm_cut_info *info)
{
    lmi_memory *memory = &c->world->memory;
    const lmi_octree_body *octree = c->body->octree;
    const lmi_octree *tree = &octree->tree;
    if (!lmi_octree_find_slashes(tree, memory, c->maps, stroke, octree->part, &c->slashes)) {
        return LM_ERROR_MEMORY;
    }
    info->links = c->slashes.count;
    if (c->slashes.count == 0) {
        return LM_OK;
    }
    lmi_octree next;
    lm_result result = lmi_octree_cut(&next, memory, tree, &c->slashes,
                                      lmi_octree_level_of(tree, (double)blade->finest), &info->regions_found);
    if (result != LM_OK) {
        return result;
    }
    return lmi_octree_change_make(c, &next);
}

static lm_result cut_octree(lm_world *world, lmi_body *body, const lm_blade *blade, const lmi_stroke *stroke,
                            lm_cut_info *info)
{
    lmi_octree_change c = {.world = world, .body = body};
    lm_result result = lmi_octree_change_maps(&c) ? cut(&c, blade, stroke, info) : LM_ERROR_MEMORY;
    if (result == LM_OK && info->links > 0) {
        lmi_octree_change_apply(&c);
    }
    lmi_octree_change_free(&c);
    info->parts = body->octree->part_count;
    return result;
}

/* Whether blades cut the skin of a lattice along themselves; else it opens between links, as one does that breaks by strain. */
static bool is_clipped(const lmi_body *body)
{
    const lmi_fracture *f = body->fracture;
    return body->skin.vertex_count > 0 && (body->slit || !f || (!f->breaks && !f->broken));
}

static lm_result forget_opening(const lmi_body *body, lmi_fracture_undo *undo)
{
    undo->opening = body->fracture->opening;
    body->fracture->opening = NULL;
    return LM_OK;
}

static lm_result cut_lattice(lm_world *world, uint32_t slot, lmi_body *body, const lm_blade *blade,
                             const lmi_stroke *stroke, lm_cut_info *info, const char **fault)
{
    lmi_slit_plan slit = {.material = blade->material};
    lmi_fracture_undo undo = {.links = lmi_ready_take_links(body)};
    bool clips = is_clipped(body);
    lm_result result = LM_ERROR_MEMORY;
    if (!clips || lmi_slit_meet(world, body, stroke, &slit)) {
        clips = clips && !slit.failed;
        result = lmi_fracture_ready_for_blade(world, body, stroke, !clips, &undo);
    }
    if (result == LM_OK && body->fracture) {
        result = clips                                         ? forget_opening(body, &undo)
                 : lmi_fracture_open_links(world, body, &undo) ? LM_OK
                                                               : LM_ERROR_MEMORY;
    }
    if (result == LM_OK && body->fracture) {
        result = lmi_fracture_cut(world, slot, body, stroke, clips ? &slit : NULL, &info->links);
    } else if (result == LM_OK && clips && slit.met) { /* no chip is parted from another */
        result = lmi_slit_make(world, body, &body->lattice->shape, &slit) ? LM_OK : LM_ERROR_MEMORY;
        if (result == LM_OK) {
            lmi_slit_carry_out(world, body, &slit);
        }
    }
    if (result == LM_OK) {
        lmi_fracture_settle(world, body, &undo);
    } else {
        lmi_fracture_restore(world, body, &undo);
    }
    lmi_ready_give_links(body, undo.links);
    lmi_slit_drop(world, &slit);
    if (result == LM_ERROR_LIMIT) {
        *fault = "the lattice's regions have too many particles for it to be cut";
    }
    info->parts = body->lattice->shape.part_count;
    return result;
}

/* How many pieces lm_body_get_pieces numbers. */
static uint32_t count_pieces(const lmi_body *body)
{
    return body->lattice  ? body->lattice->shape.part_count
           : body->octree ? body->octree->part_count
           : body->grain  ? body->grain->part_count
                          : 1;
}

lm_result lm_body_cut(lm_world *world, lm_body_id id, const lm_blade *blade, lm_cut_info *info)
{
    lm_cut_info none;
    const lmi_body *known = lmi_body_known(world, id, "lm_body_cut");
    info = info ? info : &none;
    memset(info, 0, sizeof *info);
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = blade_fault(blade);
    fault = fault ? fault : known->examples ? "a body with examples cannot be cut" : NULL;
    fault = fault ? fault : known->skeleton != LMI_NONE ? "a body on a skeleton cannot be cut" : NULL;
    fault = fault ? fault
            : blade->pieces && blade->piece_count != count_pieces(known)
                ? "piece_count is not the number of the body's pieces"
                : NULL;
    fault = fault ? fault : known->octree && known->joints ? "an octree with joints cannot be cut" : NULL;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_cut: %s", fault);
    }
    if (!has_area(blade)) {
        lmi_fail(world, LM_OK, "lm_body_cut: the blade has no area, so that it cuts nothing");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_blade_triangle *triangles = take_blade(&world->memory, blade, body->origin);
    const lmi_stroke stroke = {triangles, blade->triangle_count, blade->pieces};
    lm_result result = !triangles      ? LM_ERROR_MEMORY
                       : body->octree  ? cut_octree(world, body, blade, &stroke, info)
                       : body->lattice ? cut_lattice(world, id.slot - 1, body, blade, &stroke, info, &fault)
                                       : lmi_cluster_cut(world, body, &stroke, info, &fault);
    lmi_release(&world->memory, triangles, blade->triangle_count, sizeof *triangles);
    lmi_float_mode_leave(&host);
    if (result != LM_OK) {
        memset(info, 0, sizeof *info);
        return lmi_fail(world, result, "lm_body_cut: %s; nothing has been cut", fault ? fault : lm_result_text(result));
    }
    info->particles = body->particle_count;
    return LM_OK;
}

lm_result lm_body_prepare_cut(lm_world *world, lm_body_id id)
{
    const lmi_body *known = lmi_body_read(world, id, "lm_body_prepare_cut");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_NOTHING);
    const char *fault = NULL;
    lm_result result = LM_OK;
    if (body->octree) {
        result = lmi_octree_make_shell(world, body) ? LM_OK : LM_ERROR_MEMORY;
    } else if (!body->lattice && !body->grain) {
        result = lmi_ready_make_grain(world, body, &fault);
    } else if (body->lattice && !body->fracture) {
        result = lmi_ready_make_links(world, body);
        result = result == LM_ERROR_LIMIT ? LM_OK : result; /* its lists would be too long: it cannot be cut */
    }
    lmi_float_mode_leave(&host);
    return result == LM_OK ? LM_OK
                           : lmi_fail(world, result, "lm_body_prepare_cut: %s; nothing has changed",
                                      fault ? fault : lm_result_text(result));
}

/* Two directions across another, of length 1. */
static void across(lm_dvec3 normal, lm_dvec3 *u, lm_dvec3 *v)
{
    const double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
    const lm_dvec3 least = x <= y && x <= z ? dvec(1, 0, 0) : y <= z ? dvec(0, 1, 0) : dvec(0, 0, 1);
    *u = dvec_cross(normal, least);
    *u = dvec_scale(*u, 1.0 / dvec_length(*u));
    *v = dvec_cross(normal, *u);
}

lm_result lm_body_slice(lm_world *world, lm_body_id id, lm_dvec3 point, lm_vec3 normal, uint32_t count, float distance,
                        lm_cut_info *info)
{
    lm_body_info about;
    if (lm_body_get_info(world, id, &about) != LM_OK) {
        return LM_ERROR_ID;
    }
    const double length = dvec_length(dvec_from(normal));
    if (count < 1 || count > LM_MAX_SLICES || (count > 1 && !(distance != 0.0f)) || !dvec_is_place(point) ||
        !(fabs((double)distance) <= LM_MAX_POSITION) || !(length > 0.0 && length < INFINITY)) {
        return lmi_fail(
            world, LM_ERROR_ARGUMENT,
            "lm_body_slice: count is not 1 to %d, or point, normal or distance are not finite, or normal or distance "
            "is 0",
            LM_MAX_SLICES);
    }
    lmi_memory *memory = &world->memory;
    lm_dvec3 *vertices = lmi_allocate(memory, (size_t)4 * count, sizeof *vertices);
    uint32_t *corners = lmi_allocate(memory, (size_t)6 * count, sizeof *corners);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    const lm_dvec3 along = dvec_scale(dvec_from(normal), 1.0 / length), size = dvec_sub(about.upper, about.lower);
    const lm_dvec3 middle = dvec_add(about.lower, dvec_scale(size, 0.5));
    const double reach = 2.0 * dvec_length(size);
    lm_dvec3 u, v;
    across(along, &u, &v);
    for (uint32_t n = 0; vertices && corners && n < count; n++) {
        const double height = dvec_dot(along, dvec_sub(point, middle)) + (double)distance * n;
        const lm_dvec3 at = dvec_add(middle, dvec_scale(along, height));
        const uint32_t first = 4 * n, quad[6] = {first, first + 1, first + 2, first + 1, first + 3, first + 2};
        for (uint32_t k = 0; k < 4; k++) {
            vertices[first + k] =
                dvec_add(at, dvec_add(dvec_scale(u, k & 1 ? reach : -reach), dvec_scale(v, k & 2 ? reach : -reach)));
        }
        memcpy(corners + (size_t)6 * n, quad, sizeof quad);
    }
    lm_blade blade = lm_blade_default();
    blade.vertices = vertices;
    blade.vertex_count = 4 * count;
    blade.triangles = corners;
    blade.triangle_count = 2 * count;
    lm_result result = vertices && corners
                           ? lm_body_cut(world, id, &blade, info)
                           : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_slice: out of memory; nothing has been cut");
    lmi_float_mode_leave(&host);
    lmi_release(memory, vertices, (size_t)4 * count, sizeof *vertices);
    lmi_release(memory, corners, (size_t)6 * count, sizeof *corners);
    return result;
}

lm_result lm_body_cut_sweep(lm_world *world, lm_body_id id, const lm_dvec3 *from, const lm_dvec3 *to, uint32_t count,
                            lm_cut_info *info)
{
    if (count < 2 || count > LM_MAX_BLADE_TRIANGLES / 2 || !from || !to) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_cut_sweep: 2 to %u points are needed, there are %u",
                        LM_MAX_BLADE_TRIANGLES / 2, count);
    }
    lmi_memory *memory = &world->memory;
    uint32_t triangles = 2 * (count - 1);
    lm_dvec3 *vertices = lmi_allocate(memory, (size_t)2 * count, sizeof *vertices);
    uint32_t *corners = lmi_allocate(memory, (size_t)3 * triangles, sizeof *corners);
    lm_result result = LM_ERROR_MEMORY;
    if (vertices && corners) {
        memcpy(vertices, from, count * sizeof *from);
        memcpy(vertices + count, to, count * sizeof *to);
        for (uint32_t n = 0; n + 1 < count; n++) {
            const uint32_t quad[6] = {n, n + 1, count + n, n + 1, count + n + 1, count + n};
            memcpy(corners + (size_t)6 * n, quad, sizeof quad);
        }
        lm_blade blade = lm_blade_default();
        blade.vertices = vertices;
        blade.vertex_count = 2 * count;
        blade.triangles = corners;
        blade.triangle_count = triangles;
        result = lm_body_cut(world, id, &blade, info);
    } else {
        lmi_fail(world, LM_ERROR_MEMORY, "lm_body_cut_sweep: out of memory; nothing has changed");
    }
    lmi_release(memory, vertices, (size_t)2 * count, sizeof *vertices);
    lmi_release(memory, corners, (size_t)3 * triangles, sizeof *corners);
    return result;
}
