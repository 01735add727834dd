/*
 * State without structure, for rollback, and the second half of a snapshot.
 *
 *     bytes 0..7    "LIMBERST"
 *     bytes 8..11   format version
 *     bytes 12..19  size of all of it
 *     bytes 20..27  checksum of what follows the header
 *     bytes 28..35  the structure that it belongs to (lm_world_structure)
 *     bytes 36..43  size of the first of two parts
 *
 * The first part is small and goes through an archive, field by field. The second has what each particle, region and touch point has, and
 * is copied (snapshot_copy.c). A snapshot has both parts without this header.
 *
 * Loading writes into the world as it stands, where bodies are packed as they are: who is in which batch changes no bit of a result.
 * The first part is read after a copy of it was saved, which is put back when it, or the second part, turns out to be damaged; the
 * second part is checked before any of it is used.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "collide/rigid.h"
#include "collide/wrench.h"
#include "contact/touching.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "joint/joint.h"
#include "match/examples.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "skin/skin.h"
#include "snapshot/archive.h"
#include "snapshot/copy.h"
#include "snapshot/snapshot.h"
#include "world/access.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/in_step.h"

#include <string.h>

#define STATE_VERSION 4
#define STATE_HEADER 44

/* --- structure --- */

static uint64_t hash_body_parts(uint64_t h, const lmi_body *body)
{
    if (body->lattice) {
        h = lmi_hash_word(h, body->lattice->shape.part_count);
        h = lmi_hash_array(h, &body->lattice->width_metres, sizeof body->lattice->width_metres);
        h = lmi_hash_word(h, body->lattice->plastic.state != NULL);
    }
    if (body->octree) {
        const lmi_octree *t = &body->octree->tree;
        h = lmi_hash_array(h, t->cut, t->voxel_count * sizeof *t->cut);
        h = lmi_hash_array(h, t->width, t->leaf_count * sizeof *t->width);
        h = lmi_hash_word(h, (uint64_t)t->node_count << 32 | t->bend_count);
        h = lmi_hash_word(h, (uint64_t)body->self_contact << 1 | (body->octree->levels != NULL));
    }
    if (body->octree && body->octree->levels) {
        const lm_detail d = body->octree->levels->detail;
        const float values[6] = {d.touch_size, d.touch_radius, d.eye_angle, d.finest, d.coarsest, d.hold};
        h = lmi_hash_array(h, values, sizeof values);
        h = lmi_hash_word(h, (uint64_t)d.budget << 32 | d.per_step);
        h = lmi_hash_array(h, body->octree->levels->home, body->octree->tree.voxel_count);
    }
    if (body->fracture) {
        const lmi_fracture *f = body->fracture;
        const float values[4] = {f->def.limit, f->def.variation, f->def.grain, f->def.grain_strength};
        h = lmi_hash_word(lmi_hash_word(h, f->links_hash), (uint64_t)f->broken << 1 | f->breaks);
        h = lmi_hash_array(lmi_hash_word(h, f->def.seed), values, sizeof values);
        h = lmi_hash_array(h, f->factors, f->factors ? body->place_count * sizeof *f->factors : 0);
    }
    for (uint32_t n = 0; body->grain && n < body->grain->bond_count; n++) {
        const lmi_bond *bond = &body->grain->bonds[n];
        h = lmi_hash_word(h, ((uint64_t)bond->a << 32 | bond->b) + bond->cut);
    }
    if (body->examples) {
        const lmi_examples *e = body->examples;
        h = lmi_hash_word(h, (uint64_t)e->count << 32 | e->group_count);
        h = lmi_hash_array(h, e->poses, (size_t)e->count * e->particle_count * sizeof *e->poses);
        h = lmi_hash_array(h, e->group, e->region_count * sizeof *e->group);
    }
    return h;
}

static uint64_t hash_body(uint64_t h, const lmi_body *body)
{
    const lmi_touch *touch = &body->touch;
    h = lmi_hash_word(lmi_hash_word(h, body->shape_hash), (uint64_t)body->place_count << 32 | body->particle_count);
    h = lmi_hash_word(h, (uint64_t)body->material.mode << 2 | (uint64_t)body->material.damping_kind << 1 |
                             body->plastic_material);
    h = lmi_hash_word(h, lmi_is_elastic(&body->material));
    h = lmi_hash_array(h, body->mass, body->place_count * sizeof *body->mass);
    h = lmi_hash_array(h, body->stiffness, body->stiffness ? lmi_body_regions(body) * sizeof *body->stiffness : 0);
    h = lmi_hash_array(lmi_hash_word(h, body->contact_points), touch->rest, touch->count * sizeof *touch->rest);
    h = lmi_hash_word(lmi_hash_word(h, touch->count), body->bulk ? body->bulk->mould->hash : 0);
    return hash_body_parts(h, body);
}

static uint64_t hash_pool(uint64_t h, const lmi_pool *pool)
{
    return lmi_hash_array(lmi_hash_word(h, pool->slots), pool->generations, pool->slots * sizeof *pool->generations);
}

static uint64_t hash_holds(uint64_t h, const lm_world *world)
{
    LMI_POOL_EACH(&world->pins, n)
    {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        h = lmi_hash_word(h, (uint64_t)pin->body << 32 | pin->next);
        h = lmi_hash_word(h, pin->yields);
        h = lmi_hash_array(h, pin->particles, pin->count * sizeof *pin->particles);
    }
    LMI_POOL_EACH(&world->drags, n)
    {
        const lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, n);
        h = lmi_hash_word(h, (uint64_t)drag->body << 32 | drag->next);
        h = lmi_hash_word(h, drag->particle);
        h = lmi_hash_array(h, &drag->radius, sizeof drag->radius);
        h = lmi_hash_array(h, drag->particles, drag->count * sizeof *drag->particles);
    }
    LMI_POOL_EACH(&world->skeletons, n)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, n);
        h = lmi_hash_word(lmi_hash_word(h, s->body), s->bone_count);
        h = lmi_hash_array(h, s->particles, s->particle_count * sizeof *s->particles);
        h = lmi_hash_array(h, s->weights, s->particle_count * sizeof *s->weights);
        for (uint32_t k = 0; k < s->link_count; k++) {
            const lmi_bone_link *link = &s->links[k];
            h = lmi_hash_array(lmi_hash_word(h, link->bone), &link->local, sizeof link->local);
        }
    }
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        h = lmi_hash_word(h, j->kind);
        for (int e = 0; e < 2; e++) {
            const lmi_joint_end *end = &j->end[e];
            h = lmi_hash_word(lmi_hash_word(h, end->body), (uint64_t)end->skeleton << 32 | end->bone);
            h = lmi_hash_array(h, end->particles, end->count * sizeof *end->particles);
        }
    }
    return h;
}

uint64_t lm_world_structure(const lm_world *world)
{
    uint64_t h = LMI_HASH_SEED;
    const lmi_pool *const pools[] = {&world->bodies, &world->movers, &world->colliders, &world->pins,
                                     &world->drags,  &world->fields, &world->skeletons, &world->joints};
    for (size_t n = 0; n < sizeof pools / sizeof *pools; n++) {
        h = hash_pool(h, pools[n]);
    }
    LMI_POOL_EACH(&world->bodies, n) { h = hash_body(h, lmi_body_at(world, n)); }
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        h = lmi_hash_word(lmi_hash_word(h, c->solid_hash), c->shape);
    }
    return hash_holds(h, world);
}

/* --- the first part --- */

static void visit_material(archive *a, lm_material *m)
{
    VISIT_ENUM(a, m->mode, LM_MODE_COUNT);
    VISIT_ENUM(a, m->stiffness, LM_STIFFNESS_COUNT);
    visit_float(a, &m->hertz);
    visit_float(a, &m->young);
    visit_float(a, &m->poisson);
    visit_float(a, &m->sag);
    visit_float(a, &m->damping_ratio);
    visit_float(a, &m->alpha);
    visit_float(a, &m->damping);
    VISIT_ENUM(a, m->damping_kind, LM_DAMPING_COUNT);
    visit_u32(a, &m->damping_every);
    visit_float(a, &m->beta);
    visit_float(a, &m->yield);
    visit_float(a, &m->creep);
    visit_float(a, &m->max_plastic);
    visit_float(a, &m->friction);
    visit_float(a, &m->restitution);
    refuse_if(a, lmi_material_fault(m) != NULL);
}

static void visit_example_weights(archive *a, lmi_examples *e)
{
    for (uint32_t g = 0; g < e->group_count && ok(a); g++) { /* of regions by themselves: where solving starts */
        bool in_lanes = e->scope == LM_EXAMPLES_REGIONS && e->lanes;
        for (uint32_t k = 0; k < e->count; k++) {
            float *weight = in_lanes ? e->lanes + e->at[g] + (LMI_EXAMPLE_WEIGHT + k) * LMI_BLOCK
                                     : e->weights + (size_t)g * e->count + k;
            visit_float(a, weight);
            refuse_if(a, !(*weight >= 0.0f && *weight <= 1.0f));
        }
    }
    visit_bool(a, &e->forced);
    double sum = 0.0;
    for (size_t n = 0; e->forced && n < (size_t)e->group_count * e->count && ok(a); n++) {
        visit_float(a, &e->forced_weights[n]);
        sum = (n % e->count == 0 ? 0.0 : sum) + e->forced_weights[n];
        refuse_if(a, !(e->forced_weights[n] >= 0.0f && sum <= 1.001));
    }
}

/* What is to be taken back from the parts of a lattice, and their bounds. */
static void visit_parts(archive *a, lmi_lattice_body *lattice)
{
    for (uint32_t n = 0; n < lattice->shape.part_count && ok(a); n++) {
        lmi_lattice_part *part = &lattice->part[n];
        visit_vec3(a, &part->drift_centre);
        visit_vec3(a, &part->drift_velocity);
        visit_vec3(a, &part->drift_spin);
        visit_dvec3(a, &part->owed_momentum);
        visit_dvec3(a, &part->owed_angular);
        visit_vec3(a, &part->lower);
        visit_vec3(a, &part->upper);
        refuse_if(a, !is_near(part->drift_centre) || !is_slow(part->drift_velocity) || !is_slow(part->drift_spin) ||
                         !is_near(part->lower) || !is_near(part->upper));
    }
}

/* What a mover has that is pushed. */
static void visit_rigid(archive *a, lmi_mover *m)
{
    visit_float(a, &m->mass);
    visit_vec3(a, &m->moments);
    visit_bool(a, &m->may_sleep);
    visit_bool(a, &m->asleep);
    visit_float(a, &m->still);
    visit_u32(a, &m->island);
    visit_u32(a, &m->warm_count);
    bool sound = !lmi_rigid_fault(m->mass, m->moments) && m->still >= 0.0f && m->still <= 1e6f &&
                 m->warm_count <= LMI_RIGID_WARM && (m->mass > 0.0f || (!m->asleep && m->warm_count == 0)) &&
                 !(m->mass > 0.0f && m->has_target);
    refuse_if(a, !sound);
    for (uint32_t n = 0; n < m->warm_count && ok(a); n++) {
        lmi_rigid_warm *w = &m->warm[n];
        visit_u32(a, &w->own);
        visit_u32(a, &w->other);
        visit_u32(a, &w->feature);
        visit_float(a, &w->pressed);
        for (int i = 0; i < 3; i++) {
            visit_float(a, &w->braked[i]);
            refuse_if(a, !(fabsf(w->braked[i]) <= 1e30f));
        }
        refuse_if(a, !(w->pressed >= 0.0f && w->pressed <= 1e30f));
    }
}

static void visit_mover(archive *a, lmi_mover *m)
{
    visit_pose(a, &m->pose);
    visit_dmat3(a, &m->rotation);
    visit_vec3(a, &m->velocity);
    visit_vec3(a, &m->spin);
    visit_bool(a, &m->has_target);
    visit_pose(a, &m->target);
    visit_u64(a, &m->user_data);
    bool sound = is_rotation(&m->rotation) && is_unit(m->pose.rotation) && is_slow(m->velocity) && is_slow(m->spin) &&
                 (!m->has_target || is_unit(m->target.rotation));
    refuse_if(a, !sound);
    visit_rigid(a, m);
}

static void visit_collider_state(archive *a, const lm_world *world, lmi_collider *c)
{
    VISIT_ENUM(a, c->shape, LM_SHAPE_COUNT);
    visit_float(a, &c->radius);
    visit_float(a, &c->half_length);
    visit_vec3(a, &c->half_extents);
    visit_position(a, &c->position);
    visit_dmat3(a, &c->rotation);
    visit_index(a, &c->mover, world->movers.slots, true);
    visit_float(a, &c->friction);
    visit_float(a, &c->restitution);
    visit_u32(a, &c->group);
    visit_u32(a, &c->mask);
    visit_bool(a, &c->disabled);
    visit_u64(a, &c->user_data);
    bool sound = c->friction >= 0.0f && c->friction <= 1e6f && c->restitution >= 0.0f && c->restitution <= 1.0f &&
                 c->radius >= 0.0f && c->radius <= LM_MAX_COORDINATE && c->half_length >= 0.0f &&
                 c->half_length <= LM_MAX_COORDINATE && c->half_extents.x > 0.0f && c->half_extents.y > 0.0f &&
                 c->half_extents.z > 0.0f && is_near(c->half_extents) && is_rotation(&c->rotation) &&
                 (c->mover == LMI_NONE || lmi_pool_used(&world->movers, c->mover));
    refuse_if(a, !sound);
}

static void visit_field(archive *a, lm_field_def *field)
{
    VISIT_ENUM(a, field->kind, LM_FIELD_KIND_COUNT);
    visit_vec3(a, &field->vector);
    visit_dvec3(a, &field->position);
    visit_float(a, &field->strength);
    visit_float(a, &field->radius);
    visit_u32(a, &field->cookie);
    refuse_if(a, !(field->radius > 0.0f && field->radius <= LM_MAX_COORDINATE) ||
                     !(fabsf(field->strength) <= LM_MAX_SPEED) || !is_slow(field->vector) ||
                     (field->kind == LM_FIELD_WIND && field->strength < 0.0f));
}

static void visit_force(archive *a, lm_world *world, lmi_force *force)
{
    visit_u32(a, &force->next);
    visit_index(a, &force->body, world->bodies.slots, true);
    visit_u32(a, &force->particle);
    visit_vec3(a, &force->force);
    if (ok(a) && force->body != LMI_NONE) {
        bool used = lmi_pool_used(&world->bodies, force->body);
        const lmi_body *body = used ? lmi_body_at(world, force->body) : NULL;
        refuse_if(a, !used || (force->particle != LMI_NONE &&
                               (force->particle >= body->place_count || body->order[force->particle] == LMI_NONE)));
    }
}

static void visit_forces(archive *a, lm_world *world)
{
    uint32_t count = world->force_count;
    visit_count(a, &count, 24);
    if (a->mode == LOAD && ok(a)) {
        void *forces = world->forces;
        a->out_of_memory = !lmi_reserve(&world->memory, &forces, &world->force_capacity, count, sizeof *world->forces);
        world->forces = forces;
        world->force_count = a->out_of_memory ? 0 : count;
    }
    for (uint32_t n = 0; n < count && ok(a); n++) {
        visit_force(a, world, &world->forces[n]);
    }
}

static void visit_rest(archive *a, const lm_world *world, lmi_body *body)
{
    visit_bool(a, &body->may_sleep);
    visit_bool(a, &body->asleep);
    visit_bool(a, &body->disabled);
    visit_float(a, &body->still);
    visit_index(a, &body->island, world->bodies.slots, false);
    refuse_if(a, !(body->still >= 0.0f && body->still <= 1e6f));
    if (body->asleep) { /* those who are awake find it again */
        visit_vec3(a, &body->motion.centre);
        visit_double(a, &body->motion.mass);
        for (int i = 0; i < 6; i++) {
            visit_double(a, &body->motion.inertia[i]);
            refuse_if(a, !(fabs(body->motion.inertia[i]) <= 1e20 * body->motion.mass)); /* coordinates are limited */
        }
        refuse_if(a, !is_near(body->motion.centre) || !(body->motion.mass <= 1e30));
    }
}

/* What setters set. */
static void visit_settings(archive *a, lm_world *world, lmi_body *body)
{
    const lm_material before = body->material;
    const float radius = body->contact_radius;
    const bool self = body->self_contact;
    visit_float(a, &body->contact_radius);
    visit_float(a, &body->penalty);
    visit_u32(a, &body->group);
    visit_u32(a, &body->mask);
    visit_u32(a, &body->collider_mask);
    visit_bool(a, &body->self_contact);
    visit_u64(a, &body->user_data);
    visit_material(a, &body->material);
    const lm_material *m = &body->material;
    if (body->fracture) { /* whose particles touch when anything of it does */
        refuse_if(a, body->touch.count != (lmi_is_rubble(body) ? body->particle_count : 0));
    }
    refuse_if(a, body->octree && body->self_contact != self);
    refuse_if(a, body->bulk && body->bulk->mould->triangle_count == 0 && body->contact_radius != radius);
    refuse_if(a, !(body->contact_radius >= 0.0f && body->contact_radius <= 1e6f) ||
                     !(body->penalty >= 0.0f && body->penalty <= 1e12f) ||
                     (body->self_contact && !body->bulk && !body->fracture));
    refuse_if(a, m->mode != before.mode || lmi_is_elastic(m) != lmi_is_elastic(&before) ||
                     m->damping_kind != before.damping_kind || (m->yield > 0.0f && !body->plastic_material));
    if (!ok(a)) { /* what is put back is compared with them */
        body->material = before;
        body->contact_radius = radius;
        body->self_contact = self;
    }
    if (a->mode == LOAD && memcmp(m, &before, sizeof before) != 0) {
        body->tuned_step = 0.0;
        lmi_batch_set_material(world, body->slot);
    }
}

static void visit_body_state(archive *a, lm_world *world, lmi_body *body)
{
    visit_settings(a, world, body);
    visit_position(a, &body->origin);
    visit_vec3(a, &body->lower);
    visit_vec3(a, &body->upper);
    refuse_if(a, !is_near(body->lower) || !is_near(body->upper));
    visit_u32(a, &body->damping_turn);
    visit_u32(a, &body->first_force);
    visit_rest(a, world, body);
    if (body->lattice) {
        visit_dmat3(a, &body->lattice->frame);
        refuse_if(a, !is_rotation(&body->lattice->frame));
        visit_parts(a, body->lattice);
    }
    if (body->examples) {
        visit_float(a, &body->examples->beta);
        refuse_if(a, !(body->examples->beta >= 0.0f && body->examples->beta <= 1.0f));
        visit_example_weights(a, body->examples);
        if (a->mode == LOAD && body->examples->lanes) {
            lmi_examples_apply(body->examples);
        }
    }
    for (uint32_t leaf = 0; lmi_octree_has_detail(body) && leaf < body->octree->tree.leaf_count && ok(a); leaf++) {
        float *quiet = &body->octree->levels->leaf[leaf].quiet;
        visit_float(a, quiet);
        refuse_if(a, !(*quiet >= 0.0f && *quiet <= 7200.0f));
    }
}

static void visit_drag_state(archive *a, lmi_drag *drag)
{
    visit_dvec3(a, &drag->target);
    visit_float(a, &drag->hertz);
    visit_float(a, &drag->damping_ratio);
    visit_float(a, &drag->max_force);
    visit_vec3(a, &drag->force);
    refuse_if(a, !(drag->hertz > 0.0f && drag->hertz <= 1e6f && drag->damping_ratio >= 0.0f &&
                   drag->damping_ratio <= 1e6f && drag->max_force > 0.0f));
}

static void visit_pin_state(archive *a, const lm_world *world, lmi_pin *pin)
{
    visit_index(a, &pin->mover, world->movers.slots, true);
    bool has = ok(a) && pin->mover != LMI_NONE, used = has && lmi_pool_used(&world->movers, pin->mover);
    refuse_if(a, has && !used);
    refuse_if(a, has && used && !pin->yields && LMI_POOL_AT(&world->movers, lmi_mover, pin->mover)->mass > 0.0f);
    for (uint32_t n = 0; n < pin->count && ok(a); n++) {
        visit_dvec3(a, &pin->targets[n]);
    }
}

/* Who touches whom; records that were read know nothing else of their contacts. */
static void visit_contacts(archive *a, lm_world *world)
{
    lmi_touchings *t = world->touchings;
    if (a->mode == LOAD && t) {
        t->now.count = t->before.count = t->left_out = 0;
        t->told = false;
    }
    lmi_visit_contacts(a, world);
    t = world->touchings;
    for (uint32_t n = 0; a->mode == LOAD && t && n < t->now.count; n++) {
        lmi_touching *r = &t->now.records[n];
        *r = (lmi_touching){.a = r->a,
                            .b = r->b,
                            .generation_a = r->generation_a,
                            .generation_b = r->generation_b,
                            .kind = r->kind,
                            .point = r->point,
                            .normal = r->normal};
    }
}

void lmi_visit_state(archive *a, lm_world *world)
{
    visit_vec3(a, &world->gravity);
    visit_u32(a, &world->substeps);
    refuse_if(a, !is_slow(world->gravity) || world->substeps > LM_MAX_SUBSTEPS);
    visit_double(a, &world->time);
    visit_u64(a, &world->steps);
    visit_dvec3(a, &world->outside_impulse);
    visit_bool(a, &world->has_eye);
    visit_position(a, &world->eye);
    LMI_POOL_EACH(&world->bodies, n) { visit_body_state(a, world, lmi_body_in_step(world, n)); }
    LMI_POOL_EACH(&world->movers, n) { visit_mover(a, LMI_POOL_AT(&world->movers, lmi_mover, n)); }
    LMI_POOL_EACH(&world->colliders, n)
    {
        lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        lm_shape shape = c->shape;
        visit_collider_state(a, world, c);
        refuse_if(a, c->shape != shape);
        c->shape = shape;
        if (c->solid.mesh && c->solid.mesh->motion) {
            lmi_visit_vertices(a, c->solid.mesh);
        }
    }
    LMI_POOL_EACH(&world->pins, n) { visit_pin_state(a, world, LMI_POOL_AT(&world->pins, lmi_pin, n)); }
    LMI_POOL_EACH(&world->drags, n) { visit_drag_state(a, LMI_POOL_AT(&world->drags, lmi_drag, n)); }
    LMI_POOL_EACH(&world->fields, n) { visit_field(a, LMI_POOL_AT(&world->fields, lm_field_def, n)); }
    visit_forces(a, world);
    visit_contacts(a, world);
    LMI_POOL_EACH(&world->skeletons, n) { lmi_visit_bones(a, world, LMI_POOL_AT(&world->skeletons, lmi_skeleton, n)); }
    LMI_POOL_EACH(&world->joints, n) { lmi_visit_joint_state(a, world, LMI_POOL_AT(&world->joints, lmi_joint, n)); }
    if (a->mode == LOAD && ok(a)) {
        lmi_check_lists(a, world);
    }
}

/* --- saving --- */

size_t lm_world_state_size(const lm_world *world)
{
    lmi_world_read(world);
    archive a = {.mode = MEASURE, .at = STATE_HEADER};
    lmi_visit_state(&a, lmi_savable(world));
    lmi_copy_particles(lmi_savable(world), LMI_COPY_BOUND, NULL, &a.at, 0);
    return a.at;
}

static void visit_header(archive *a, uint64_t values[5])
{
    visit_bits(a, &values[0], 4); /* version, size, checksum, structure, size of the first part */
    for (int n = 1; n < 5; n++) {
        visit_u64(a, &values[n]);
    }
}

lm_result lm_world_save_state(const lm_world *world, void *buffer, size_t capacity, size_t *size)
{
    lmi_world_read(world);
    unsigned char *bytes = buffer;
    archive a = {.mode = SAVE, .bytes = bytes, .size = capacity, .at = STATE_HEADER};
    *size = 0;
    if (capacity >= STATE_HEADER) {
        lmi_visit_state(&a, lmi_savable(world));
    }
    size_t end = a.at;
    if (capacity < STATE_HEADER || a.damaged ||
        !lmi_copy_particles(lmi_savable(world), LMI_COPY_WRITE, bytes, &end, capacity)) {
        return lmi_fail(world, LM_ERROR_CAPACITY, "lm_world_save_state: up to %zu bytes are needed, the buffer has %zu",
                        lm_world_state_size(world), capacity);
    }
    uint64_t values[5] = {STATE_VERSION, end, lmi_hash_array(LMI_HASH_SEED, bytes + STATE_HEADER, end - STATE_HEADER),
                          lm_world_structure(world), a.at - STATE_HEADER};
    archive header = {.mode = SAVE, .bytes = bytes, .size = STATE_HEADER, .at = 8};
    memcpy(bytes, "LIMBERST", 8);
    visit_header(&header, values);
    *size = end;
    return LM_OK;
}

/* --- loading --- */

static lm_result check_header(const lm_world *world, unsigned char *bytes, size_t size, size_t *small)
{
    uint64_t values[5] = {0};
    archive a = {.mode = LOAD, .bytes = bytes, .size = STATE_HEADER, .at = 8};
    if (size < STATE_HEADER || memcmp(bytes, "LIMBERST", 8) != 0) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: this is no state");
    }
    visit_header(&a, values);
    if (values[0] != STATE_VERSION) {
        return lmi_fail(world, LM_ERROR_VERSION, "lm_world_load_state: format version %u, this library reads %d",
                        (unsigned)values[0], STATE_VERSION);
    }
    if (values[1] != size || values[4] > size - STATE_HEADER) {
        return lmi_fail(world, LM_ERROR_FORMAT,
                        "lm_world_load_state: the state is truncated, or has something behind it");
    }
    if (values[3] != lm_world_structure(world)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_world_load_state: the world's structure is another than when the state was saved: load a "
                        "snapshot");
    }
    if (values[2] != lmi_hash_array(LMI_HASH_SEED, bytes + STATE_HEADER, size - STATE_HEADER)) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: the checksum is wrong");
    }
    *small = (size_t)values[4];
    return LM_OK;
}

/* What follows from the state, and what is known of the last step only. */
static void conclude(lm_world *world)
{
    world->contacts = world->stiffness_limited = 0;
    world->contact_stats = (lm_contact_stats){0};
    world->break_count = world->split_count = 0;
    world->step_seconds = 0.0;
    memset(world->stage_seconds, 0, sizeof world->stage_seconds);
    lmi_wrenches_forget(world);
    lmi_joints_begin(world);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->contacts = 0;
        lmi_skin_update(world, body);
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        world->batches[n].pack.stepped = false;
    }
}

void lmi_load_state(archive *a, lm_world *world, size_t end)
{
    lmi_visit_state(a, world);
    refuse_if(a, a->at != a->size && end != a->size);
    size_t particles = a->at;
    a->size = end;
    if (ok(a)) {
        a->damaged = !lmi_copy_particles(world, LMI_COPY_CHECK, a->bytes, &a->at, end) || a->at != end;
    }
    if (ok(a)) {
        lmi_copy_particles(world, LMI_COPY_READ, a->bytes, &particles, end);
    }
}

void lmi_load_state_in_place(archive *a, lm_world *world, size_t end)
{
    archive measure = {.mode = MEASURE}, kept = {.mode = SAVE};
    lmi_visit_state(&measure, world);
    kept.size = measure.at;
    kept.bytes = lmi_allocate_plain(&world->memory, kept.size, 1);
    if (!kept.bytes) {
        a->out_of_memory = true;
        return;
    }
    lmi_visit_state(&kept, world);
    lmi_load_state(a, world, end);
    if (ok(a)) {
        conclude(world);
    } else {
        archive back = {.mode = LOAD, .bytes = kept.bytes, .size = kept.size};
        lmi_visit_state(&back, world);
    }
    lmi_release(&world->memory, kept.bytes, kept.size, 1);
}

lm_result lm_world_load_state(lm_world *world, const void *buffer, size_t size)
{
    size_t small = 0;
    unsigned char *bytes = (unsigned char *)(uintptr_t)buffer;
    lm_result result = check_header(world, bytes, size, &small);
    if (result != LM_OK) {
        return result;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    archive a = {.mode = LOAD, .bytes = bytes, .size = STATE_HEADER + small, .at = STATE_HEADER};
    lmi_load_state_in_place(&a, world, size);
    lmi_float_mode_leave(&host);
    if (a.out_of_memory) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_world_load_state: out of memory");
    }
    return ok(&a) ? LM_OK
                  : lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: the state is damaged before byte %zu of %zu",
                             a.at, size);
}
