/*
 * The part of a snapshot that says how things touch: rules, method, sleep, and who touches whom.
 */
#include "base/hash.h"
#include "collide/mesh_motion.h"
#include "contact/touching.h"
#include "snapshot/archive.h"

/* Friction and restitution between groups. */
static void visit_rules(archive *a, lm_world *world)
{
    visit_u32(a, &world->rule_count);
    refuse_if(a, world->rule_count > LM_MAX_CONTACT_RULES);
    for (uint32_t n = 0; ok(a) && n < world->rule_count; n++) {
        lmi_contact_rule *rule = &world->rules[n];
        visit_u32(a, &rule->a);
        visit_u32(a, &rule->b);
        visit_float(a, &rule->friction);
        visit_float(a, &rule->restitution);
        refuse_if(a, lmi_contact_rule_fault(rule) != NULL);
    }
}

/* Who touches whom: the next step says who still does. */
static void visit_touchings(archive *a, lm_world *world)
{
    uint32_t count = world->touchings ? world->touchings->now.count : 0;
    VISIT_ENUM(a, world->contact_method, LM_CONTACT_METHOD_COUNT);
    visit_bool(a, &world->contact_events);
    visit_bool(a, &world->sleep.enabled);
    visit_float(a, &world->sleep.speed);
    visit_float(a, &world->sleep.seconds);
    refuse_if(a, lmi_sleep_fault(&world->sleep) != NULL);
    LMI_POOL_EACH(&world->bodies, n) { refuse_if(a, lmi_body_at(world, n)->asleep && !world->sleep.enabled); }
    visit_count(a, &count, 57);
    if (a->mode == LOAD && ok(a) && count) {
        a->out_of_memory = !lmi_touchings_allocate(world, count);
    }
    for (uint32_t n = 0; ok(a) && n < count; n++) {
        lmi_touching *t = &world->touchings->now.records[world->touchings->now.order[n]];
        visit_u32(a, &t->a);
        visit_u32(a, &t->b);
        visit_u32(a, &t->generation_a);
        visit_u32(a, &t->generation_b);
        VISIT_ENUM(a, t->kind, LMI_TOUCHING_KIND_COUNT);
        visit_dvec3(a, &t->point);
        visit_dvec3(a, &t->normal);
        /* What was destroyed since may be named, but no slot that never was. */
        uint32_t others = t->kind == LMI_TOUCHES_COLLIDER ? world->colliders.slots : world->bodies.slots;
        refuse_if(a, t->a >= world->bodies.slots || t->b >= others);
        refuse_if(a, a->mode == LOAD && n > 0 && lmi_touching_compare(t - 1, t) >= 0);
    }
}

void lmi_visit_contacts(archive *a, lm_world *world)
{
    visit_rules(a, world);
    visit_touchings(a, world);
}

/* ---- height maps and meshes ----
 *
 * Height maps and meshes in snapshots: the arrays as they were given. Trees, levels and cells are made again.
 */

/* Room for an array while it is read; the collider makes its own copy. */
static void *take_room(archive *a, lm_world *world, size_t count, size_t size)
{
    void *room = ok(a) ? lmi_allocate(&world->memory, count, size) : NULL;
    a->out_of_memory = a->out_of_memory || (ok(a) && !room);
    return room;
}

static void visit_heights(archive *a, lm_world *world, lmi_solid *solid)
{
    lmi_heights *map = solid->heights;
    uint32_t n[2] = {map ? map->n[0] : 0, map ? map->n[1] : 0};
    double spacing = map ? map->spacing : 0.0;
    visit_u32(a, &n[0]);
    visit_u32(a, &n[1]);
    visit_double(a, &spacing);
    size_t count = (size_t)n[0] * n[1];
    if (a->mode == LOAD) { /* before any memory is allocated */
        refuse_if(a, n[0] > LMI_HEIGHTS_MAX_SIDE || n[1] > LMI_HEIGHTS_MAX_SIDE || !ok(a) ||
                         count > (a->size - a->at) / 4);
    }
    float *heights = a->mode == LOAD ? take_room(a, world, count, sizeof *heights) : map->heights;
    for (size_t i = 0; i < count && ok(a); i++) {
        visit_float(a, &heights[i]);
    }
    if (a->mode == LOAD) {
        refuse_if(a, ok(a) && lmi_heights_fault(heights, n, spacing));
        if (ok(a)) {
            solid->heights = lmi_heights_make(&world->memory, heights, n, spacing);
            a->out_of_memory = !solid->heights;
        }
        lmi_release(&world->memory, heights, count, sizeof *heights);
    }
}

void lmi_visit_vertices(archive *a, lmi_mesh *mesh)
{
    lmi_mesh_motion *motion = mesh->motion;
    bool has_target = motion->has_target;
    visit_bool(a, &has_target);
    for (uint32_t n = 0; n < mesh->vertex_count && ok(a); n++) {
        visit_vec3(a, &motion->now[n]);
    }
    for (uint32_t n = 0; n < mesh->vertex_count && has_target && ok(a); n++) {
        visit_vec3(a, &motion->target[n]);
    }
    if (a->mode == LOAD) {
        refuse_if(a, ok(a) && (lmi_mesh_motion_fault(mesh, motion->now, mesh->vertex_count) ||
                               (has_target && lmi_mesh_motion_fault(mesh, motion->target, mesh->vertex_count))));
        lmi_mesh_rest(mesh, has_target && ok(a));
    }
}

static void visit_mesh(archive *a, lm_world *world, lmi_solid *solid)
{
    lmi_mesh *mesh = solid->mesh;
    uint32_t vertex_count = mesh ? mesh->vertex_count : 0, triangle_count = mesh ? mesh->triangle_count : 0;
    bool is_solid = mesh && mesh->solid, deforms = mesh && mesh->motion;
    visit_bool(a, &is_solid);
    visit_bool(a, &deforms);
    visit_count(a, &vertex_count, 12);
    visit_count(a, &triangle_count, 12);
    size_t corners = (size_t)triangle_count * 3;
    lm_vec3 *vertices = a->mode == LOAD ? take_room(a, world, vertex_count, sizeof *vertices) : mesh->vertices;
    uint32_t *triangles = a->mode == LOAD ? take_room(a, world, corners, sizeof *triangles) : mesh->triangles;
    for (uint32_t n = 0; n < vertex_count && ok(a); n++) {
        visit_vec3(a, &vertices[n]);
    }
    for (size_t n = 0; n < corners && ok(a); n++) {
        visit_u32(a, &triangles[n]);
    }
    if (a->mode == LOAD) {
        refuse_if(a, ok(a) && lmi_mesh_fault(vertices, vertex_count, triangles, triangle_count));
        if (ok(a)) {
            solid->mesh = (deforms ? lmi_mesh_make_deforming : lmi_mesh_make)(&world->memory, vertices, vertex_count,
                                                                              triangles, triangle_count, is_solid);
            a->out_of_memory = !solid->mesh;
        }
        lmi_release(&world->memory, vertices, vertex_count, sizeof *vertices);
        lmi_release(&world->memory, triangles, corners, sizeof *triangles);
    }
}

void lmi_visit_solid(archive *a, lm_world *world, lmi_collider *c)
{
    if (!ok(a)) {
        return;
    }
    if (c->shape == LM_SHAPE_HEIGHTS) {
        visit_heights(a, world, &c->solid);
    } else if (c->shape == LM_SHAPE_MESH) {
        visit_mesh(a, world, &c->solid);
    }
    if (a->mode == LOAD && ok(a)) {
        c->solid_hash = lmi_hash_solid(&c->solid);
    }
}
