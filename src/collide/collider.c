/*
 * Colliders, which stand in the world or ride on movers.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "collide/mesh_motion.h"
#include "world/access.h"
#include "world/world.h"

#include <string.h>

#define COLLIDER_COOKIE 0x4c4d4331u

/* --- colliders --- */

static bool find_mover(const lm_world *world, lm_mover_id mover, uint32_t *index, const char *caller)
{
    lmi_id id = {mover.slot, mover.generation};
    bool found = lmi_pool_find(&world->movers, id, index);
    if (!found) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such mover", caller);
    }
    return found;
}

lm_collider_def lm_collider_def_default(void)
{
    lm_collider_def def;
    memset(&def, 0, sizeof def);
    def.radius = def.half_length = 0.5f;
    def.half_extents.x = def.half_extents.y = def.half_extents.z = 0.5f;
    def.heights.spacing = 1.0f;
    def.pose = lm_pose_identity();
    def.friction = 0.5f;
    def.group = 1;
    def.mask = UINT32_MAX;
    def.cookie = COLLIDER_COOKIE;
    return def;
}

static bool is_length(float length, bool may_be_zero)
{
    return (may_be_zero ? length >= 0.0f : length > 0.0f) && length <= LM_MAX_COORDINATE;
}

static const char *collider_fault(const lm_collider_def *def)
{
    if (def->cookie != COLLIDER_COOKIE) {
        return "the definition did not come from lm_collider_def_default";
    }
    if ((unsigned)def->shape >= LM_SHAPE_COUNT) {
        return "shape is not one of lm_shape";
    }
    bool round = def->shape == LM_SHAPE_SPHERE || def->shape == LM_SHAPE_CAPSULE;
    if (round && !is_length(def->radius, false)) {
        return "radius must be above 0";
    }
    if (def->shape == LM_SHAPE_CAPSULE && !is_length(def->half_length, true)) {
        return "half_length must be at least 0";
    }
    if (def->shape == LM_SHAPE_BOX &&
        !(is_length(def->half_extents.x, false) && is_length(def->half_extents.y, false) &&
          is_length(def->half_extents.z, false))) {
        return "half_extents must be above 0";
    }
    if (def->shape == LM_SHAPE_HEIGHTS &&
        lmi_heights_fault(def->heights.heights, def->heights.counts, def->heights.spacing)) {
        return lmi_heights_fault(def->heights.heights, def->heights.counts, def->heights.spacing);
    }
    if (def->shape == LM_SHAPE_MESH) {
        const char *fault =
            lmi_mesh_fault(def->mesh.vertices, def->mesh.vertex_count, def->mesh.triangles, def->mesh.triangle_count);
        if (fault) {
            return fault;
        }
    }
    if (!lmi_pose_is_sound(def->pose)) {
        return "the pose is not finite, or its rotation is zero";
    }
    if (!(def->friction >= 0.0f && def->friction <= 1e6f)) {
        return "friction must be 0 to 1e6";
    }
    return def->restitution >= 0.0f && def->restitution <= 1.0f ? NULL : "restitution must be 0 to 1";
}

/* The arrays of a height map or a mesh, if the shape has them; false when out of memory. */
static bool make_solid(lm_world *world, const lm_collider_def *def, lmi_solid *solid)
{
    *solid = (lmi_solid){0};
    if (def->shape == LM_SHAPE_HEIGHTS) {
        const lm_heights *map = &def->heights;
        solid->heights = lmi_heights_make(&world->memory, map->heights, map->counts, map->spacing);
    } else if (def->shape == LM_SHAPE_MESH) {
        const lm_collider_mesh *mesh = &def->mesh;
        solid->mesh = (mesh->deforms ? lmi_mesh_make_deforming : lmi_mesh_make)(
            &world->memory, mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count, mesh->solid);
    } else {
        return true;
    }
    return lmi_solid_is(solid);
}

/* Everything but whether it is enabled; the solid is the collider's from now on. */
static void fill_collider(lmi_collider *c, const lm_collider_def *def, uint32_t mover, const lmi_solid *solid)
{
    /* What the shape does not use may be anything in the definition. */
    const lm_collider_def unused = lm_collider_def_default();
    bool capsule = def->shape == LM_SHAPE_CAPSULE;
    c->shape = def->shape;
    c->radius = capsule || def->shape == LM_SHAPE_SPHERE ? def->radius : unused.radius;
    c->half_length = capsule ? def->half_length : unused.half_length;
    c->half_extents = def->shape == LM_SHAPE_BOX ? def->half_extents : unused.half_extents;
    c->position = def->pose.position;
    c->rotation = lmi_dmat_from_quat(def->pose.rotation);
    c->mover = mover;
    c->friction = def->friction;
    c->restitution = def->restitution;
    c->group = def->group;
    c->mask = def->mask;
    c->user_data = def->user_data;
    c->solid = *solid;
    c->solid_hash = lmi_hash_solid(solid);
}

lm_result lm_collider_create(lm_world *world, const lm_collider_def *def, lm_collider_id *collider)
{
    lm_collider_id none = {0, 0};
    *collider = none;
    const char *fault = collider_fault(def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_collider_create: %s", fault);
    }
    uint32_t mover = LMI_NONE, index;
    if (def->mover.slot && !find_mover(world, def->mover, &mover, "lm_collider_create")) {
        return LM_ERROR_ID;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_solid solid;
    bool made = make_solid(world, def, &solid) && lmi_pool_add(&world->colliders, &world->memory, &index);
    if (!made) {
        lmi_solid_free(&world->memory, &solid);
        lmi_float_mode_leave(&host);
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_collider_create: out of memory");
    }
    fill_collider(LMI_POOL_AT(&world->colliders, lmi_collider, index), def, mover, &solid);
    lmi_rouse_near(world, index);
    lmi_float_mode_leave(&host);
    lmi_id id = lmi_pool_id(&world->colliders, index);
    collider->slot = id.slot;
    collider->generation = id.generation;
    return LM_OK;
}

lm_result lm_collider_destroy(lm_world *world, lm_collider_id collider)
{
    lmi_id id = {collider.slot, collider.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->colliders, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_collider_destroy: there is no such collider");
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_rouse_near(world, index);
    lmi_float_mode_leave(&host);
    lmi_solid_free(&world->memory, &LMI_POOL_AT(&world->colliders, lmi_collider, index)->solid);
    lmi_pool_remove(&world->colliders, index);
    return LM_OK;
}

lm_result lm_collider_get_pose(const lm_world *world, lm_collider_id collider, lm_pose *pose)
{
    lmi_id id = {collider.slot, collider.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->colliders, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_collider_get_pose: there is no such collider");
    }
    const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, index);
    pose->position = c->position;
    dmat3 rotation = c->rotation;
    if (c->mover != LMI_NONE) {
        const lmi_mover *m = LMI_POOL_AT(&world->movers, lmi_mover, c->mover);
        pose->position = dvec_add(m->pose.position, dmat_apply(&m->rotation, c->position));
        rotation = lmi_dmat_multiply(&m->rotation, &c->rotation);
    }
    pose->rotation = lmi_quat_from_dmat(&rotation);
    return LM_OK;
}

static void describe_solid(const lmi_solid *solid, lm_collider_def *def)
{
    const lmi_heights *map = solid->heights;
    const lmi_mesh *mesh = solid->mesh;
    if (map) {
        def->heights = (lm_heights){map->heights, {map->n[0], map->n[1]}, (float)map->spacing};
    }
    if (mesh) {
        const lm_vec3 *vertices = mesh->motion ? mesh->motion->now : mesh->vertices;
        def->mesh = (lm_collider_mesh){vertices,    mesh->vertex_count,  mesh->triangles, mesh->triangle_count,
                                       mesh->solid, mesh->motion != NULL};
    }
}

lm_result lm_collider_get_def(const lm_world *world, lm_collider_id collider, lm_collider_def *def)
{
    lmi_id id = {collider.slot, collider.generation};
    uint32_t index;
    if (!lmi_pool_find(&world->colliders, id, &index)) {
        return lmi_fail(world, LM_ERROR_ID, "lm_collider_get_def: there is no such collider");
    }
    const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, index);
    *def = lm_collider_def_default();
    def->shape = c->shape;
    def->radius = c->radius;
    def->half_length = c->half_length;
    def->half_extents = c->half_extents;
    def->pose.position = c->position;
    def->pose.rotation = lmi_quat_from_dmat(&c->rotation);
    if (c->mover != LMI_NONE) {
        lmi_id mover = lmi_pool_id(&world->movers, c->mover);
        def->mover.slot = mover.slot;
        def->mover.generation = mover.generation;
    }
    def->friction = c->friction;
    def->restitution = c->restitution;
    def->group = c->group;
    def->mask = c->mask;
    def->user_data = c->user_data;
    describe_solid(&c->solid, def);
    return LM_OK;
}

/* --- colliders that change --- */

static lmi_collider *find_collider(const lm_world *world, lm_collider_id collider, uint32_t *index, const char *caller)
{
    lmi_id id = {collider.slot, collider.generation};
    if (!lmi_pool_find(&world->colliders, id, index)) {
        lmi_fail(world, LM_ERROR_ID, "%s: there is no such collider", caller);
        return NULL;
    }
    return LMI_POOL_AT(&world->colliders, lmi_collider, *index);
}

/* Puts a changed copy of a collider in its place. What rests on it as it was, or will on what it becomes, wakes. */
static void replace(lm_world *world, uint32_t index, const lmi_collider *changed)
{
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_rouse_near(world, index);
    *LMI_POOL_AT(&world->colliders, lmi_collider, index) = *changed;
    lmi_rouse_near(world, index);
    lmi_float_mode_leave(&host);
}

lm_result lm_collider_set_def(lm_world *world, lm_collider_id collider, const lm_collider_def *def)
{
    uint32_t index, mover = LMI_NONE;
    lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_def");
    const char *fault = c ? collider_fault(def) : NULL;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_collider_set_def: %s", fault);
    }
    if (!c || (def->mover.slot && !find_mover(world, def->mover, &mover, "lm_collider_set_def"))) {
        return LM_ERROR_ID;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_solid solid, before = c->solid;
    bool made = make_solid(world, def, &solid);
    lmi_collider changed = *c;
    if (made) {
        fill_collider(&changed, def, mover, &solid);
    }
    lmi_float_mode_leave(&host);
    if (!made) {
        lmi_solid_free(&world->memory, &solid);
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_collider_set_def: out of memory");
    }
    replace(world, index, &changed);
    lmi_solid_free(&world->memory, &before);
    return LM_OK;
}

lm_result lm_collider_set_pose(lm_world *world, lm_collider_id collider, lm_pose pose)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_pose");
    if (!c) {
        return LM_ERROR_ID;
    }
    if (!lmi_pose_is_sound(pose)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_collider_set_pose: the pose is not finite, or its rotation is zero");
    }
    lmi_collider changed = *c;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    changed.position = pose.position;
    changed.rotation = lmi_dmat_from_quat(pose.rotation);
    lmi_float_mode_leave(&host);
    replace(world, index, &changed);
    return LM_OK;
}

lm_result lm_collider_set_vertices(lm_world *world, lm_collider_id collider, const lm_vec3 *vertices,
                                   uint32_t vertex_count)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_vertices");
    const char *fault = c ? lmi_mesh_motion_fault(c->solid.mesh, vertices, vertex_count) : NULL;
    if (!c || fault) {
        return c ? lmi_fail(world, LM_ERROR_ARGUMENT, "lm_collider_set_vertices: %s", fault) : LM_ERROR_ID;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_rouse_near(world, index);
    lmi_mesh_set_to(c->solid.mesh, vertices);
    lmi_rouse_near(world, index);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_collider_move_vertices(lm_world *world, lm_collider_id collider, const lm_vec3 *vertices,
                                    uint32_t vertex_count)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_move_vertices");
    const char *fault = c ? lmi_mesh_motion_fault(c->solid.mesh, vertices, vertex_count) : NULL;
    if (!c || fault) {
        return c ? lmi_fail(world, LM_ERROR_ARGUMENT, "lm_collider_move_vertices: %s", fault) : LM_ERROR_ID;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lmi_mesh_move_to(c->solid.mesh, vertices);
    lmi_float_mode_leave(&host);
    return LM_OK;
}

lm_result lm_collider_set_friction(lm_world *world, lm_collider_id collider, float friction, float restitution)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_friction");
    if (!c) {
        return LM_ERROR_ID;
    }
    if (!(friction >= 0.0f && friction <= 1e6f) || !(restitution >= 0.0f && restitution <= 1.0f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_collider_set_friction: friction must be 0 to 1e6, restitution 0 to 1");
    }
    lmi_collider changed = *c;
    changed.friction = friction;
    changed.restitution = restitution;
    replace(world, index, &changed);
    return LM_OK;
}

lm_result lm_collider_set_filter(lm_world *world, lm_collider_id collider, uint32_t group, uint32_t mask)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_filter");
    if (!c) {
        return LM_ERROR_ID;
    }
    lmi_collider changed = *c;
    changed.group = group;
    changed.mask = mask;
    replace(world, index, &changed);
    return LM_OK;
}

lm_result lm_collider_set_enabled(lm_world *world, lm_collider_id collider, bool enabled)
{
    uint32_t index;
    const lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_enabled");
    if (!c) {
        return LM_ERROR_ID;
    }
    lmi_collider changed = *c;
    changed.disabled = !enabled;
    replace(world, index, &changed);
    return LM_OK;
}

bool lm_collider_is_enabled(const lm_world *world, lm_collider_id collider)
{
    lmi_id id = {collider.slot, collider.generation};
    uint32_t index;
    return lmi_pool_find(&world->colliders, id, &index) &&
           !LMI_POOL_AT(&world->colliders, lmi_collider, index)->disabled;
}

lm_result lm_collider_set_user_data(lm_world *world, lm_collider_id collider, uint64_t user_data)
{
    uint32_t index;
    lmi_collider *c = find_collider(world, collider, &index, "lm_collider_set_user_data");
    if (!c) {
        return LM_ERROR_ID;
    }
    c->user_data = user_data;
    return LM_OK;
}
