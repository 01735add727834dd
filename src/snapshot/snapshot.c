/*
 * Snapshots: everything that the future of a world depends on, as bytes.
 *
 * One description of the format serves for measuring, saving and loading: each visit_... function names the fields in
 * their order, and the archive either counts them, writes them or reads them. A loaded world is built aside, checked
 * whole, and swapped in when it is sound.
 */
#include "snapshot/snapshot.h"
#include "base/compiler.h"
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
#include "tets/tets.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* --- bodies --- */

void lmi_visit_material(archive *a, lm_material *m)
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

static void visit_topology(archive *a, lmi_body *body)
{
    for (uint32_t n = 0; n < body->particle_count && ok(a); n++) {
        visit_vec3(a, &body->rest[n]);
        visit_float(a, &body->mass[n]);
        visit_index(a, &body->order[n], body->particle_count, false);
        refuse_if(a, !is_near(body->rest[n]));
        if (a->mode == LOAD && ok(a)) {
            /* place[] is zero until set, so a second particle with the same order shows. */
            a->damaged = body->place[body->order[n]] != 0 || (n > 0 && body->order[n] == body->order[0]);
            body->place[body->order[n]] = n;
        }
    }
    refuse_if(a, lmi_body_mass_fault(body->mass, body->particle_count) != NULL);
    for (uint32_t r = 1; r <= body->region_count; r++) {
        visit_u32(a, &body->region_offsets[r]);
    }
    for (uint32_t n = 0; n < body->membership_count; n++) {
        visit_index(a, &body->members[n], body->particle_count, false);
    }
    for (uint32_t n = 0; n < body->tet_count && ok(a); n++) {
        uint32_t *tet = body->tets + (size_t)n * 4;
        for (int i = 0; i < 4; i++) {
            visit_index(a, &tet[i], body->particle_count, false);
        }
        refuse_if(a, ok(a) && a->mode == LOAD && !lmi_tet_is_sound(body->rest, tet));
    }
}

static void visit_stiffness(archive *a, lm_world *world, lmi_body *body)
{
    bool own = body->stiffness != NULL;
    visit_bool(a, &own);
    if (a->mode == LOAD && own && ok(a)) {
        body->stiffness = lmi_allocate(&world->memory, lmi_body_regions(body), sizeof *body->stiffness);
        a->out_of_memory = !body->stiffness;
    }
    for (uint32_t r = 0; own && r < lmi_body_regions(body) && ok(a); r++) {
        visit_float(a, &body->stiffness[r]);
        refuse_if(a, !(body->stiffness[r] >= 0.0f && body->stiffness[r] <= 1.0f));
    }
}

/* The arrays of examples, once there is room for them. */
static void visit_poses(archive *a, lmi_examples *e)
{
    for (size_t n = 0; n < (size_t)e->count * e->particle_count && ok(a); n++) {
        visit_vec3(a, &e->poses[n]);
        refuse_if(a, !is_near(e->poses[n]));
    }
    for (uint32_t r = 0; r < e->region_count && ok(a); r++) {
        if (e->scope == LM_EXAMPLES_GROUPS) {
            visit_index(a, &e->group[r], e->group_count, true);
        } else {
            e->group[r] = e->scope == LM_EXAMPLES_REGIONS ? r : 0;
        }
    }
    lmi_visit_example_weights(a, e);
}

void lmi_visit_example_weights(archive *a, lmi_examples *e)
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

static void visit_examples(archive *a, lm_world *world, lmi_body *body)
{
    lmi_examples e = {.particle_count = body->particle_count, .region_count = lmi_body_regions(body)};
    e = body->examples ? *body->examples : e;
    visit_u32(a, &e.count);
    refuse_if(a, e.count > LM_MAX_EXAMPLES || (e.count && body->fracture));
    if (e.count == 0 || !ok(a)) {
        return;
    }
    VISIT_ENUM(a, e.scope, LM_EXAMPLES_SCOPE_COUNT);
    visit_u32(a, &e.group_count);
    visit_float(a, &e.beta);
    uint32_t poses = e.particle_count;
    visit_count(a, &poses, (size_t)e.count * 12); /* before room is made for them */
    refuse_if(a, poses != e.particle_count || e.region_count == 0 || !(e.beta >= 0.0f && e.beta <= 1.0f) ||
                     e.group_count < 1 ||
                     e.group_count > (e.scope == LM_EXAMPLES_BODY      ? 1
                                      : e.scope == LM_EXAMPLES_REGIONS ? e.region_count
                                                                       : LMI_MOST_GROUPS));
    refuse_if(a, e.scope == LM_EXAMPLES_REGIONS && e.group_count != e.region_count);
    if (a->mode == LOAD && ok(a)) {
        body->examples = lmi_allocate(&world->memory, 1, sizeof e);
        a->out_of_memory = !body->examples;
        if (body->examples) {
            *body->examples = e;
            a->out_of_memory = !lmi_examples_allocate(world, body, body->examples);
        }
    }
    if (!ok(a)) {
        return;
    }
    visit_poses(a, body->examples);
    if (a->mode == LOAD && ok(a) && body->lattice) {
        lmi_examples_place_lattice(body, body->examples);
    }
}

static void visit_state(archive *a, lm_world *world, lmi_body *body)
{
    visit_position(a, &body->origin);
    visit_vec3(a, &body->lower);
    visit_vec3(a, &body->upper);
    refuse_if(a, !is_near(body->lower) || !is_near(body->upper));
    LMI_PARTICLES_EACH(body, n)
    {
        for (int i = 0; i < 3; i++) {
            visit_float(a, &body->x[(size_t)n * 4 + i]);
            visit_float(a, &body->v[(size_t)n * 4 + i]);
            refuse_if(a, fabsf(body->x[(size_t)n * 4 + i]) > LM_MAX_COORDINATE ||
                             fabsf(body->v[(size_t)n * 4 + i]) > LM_MAX_SPEED);
        }
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *rotation = lmi_body_rotation(world, body, r, &stride);
        for (int i = 0; i < 9; i++) {
            visit_float(a, &rotation[i * stride]);
            refuse_if(a, fabsf(rotation[i * stride]) > 1.001f);
        }
        float *plastic = lmi_body_plastic(world, body, r, &stride);
        for (uint32_t i = 0; i < 6; i++) {
            visit_float(a, &plastic[i * stride]);
            refuse_if(a, fabsf(plastic[i * stride]) > 100.0f);
        }
    }
}

/* The cells of a lattice, from which all else of it follows; reading makes it. */
static void visit_cells(archive *a, lm_world *world, lmi_body *body)
{
    lmi_lattice none = {0}, *l = body->lattice ? &body->lattice->shape : &none;
    lmi_voxels v = {.spacing = l->spacing, .first = l->first, .n = {l->cells[0], l->cells[1], l->cells[2]}};
    uint32_t width = l->width, words = (l->cells[0] + 63) / 64 * l->cells[1] * l->cells[2];
    visit_u32(a, &width);
    visit_double(a, &v.spacing);
    visit_dvec3(a, &v.first);
    for (int i = 0; i < 3; i++) {
        visit_u32(a, &v.n[i]);
        refuse_if(a, v.n[i] < 1 || v.n[i] > LMI_VOXEL_MAX_AXIS);
    }
    visit_count(a, &words, 8);
    v.row_words = (v.n[0] + 63) / 64;
    refuse_if(a, words != (uint64_t)v.row_words * v.n[1] * v.n[2] || words > LMI_VOXEL_MAX_WORDS);
    if (a->mode == LOAD && ok(a)) {
        v.bits = lmi_allocate(&world->memory, words, sizeof *v.bits);
        a->out_of_memory = !v.bits;
    }
    for (uint32_t n = 0; n < words && ok(a); n++) {
        uint32_t first = n % v.row_words * 64, row = n / v.row_words;
        uint64_t bits = a->mode == SAVE ? lmi_lattice_cells(l, first, row % v.n[1], row / v.n[1]) : 0;
        visit_u64(a, &bits);
        refuse_if(a, a->mode == LOAD && v.n[0] - first < 64 && bits >> (v.n[0] - first));
        if (a->mode == LOAD) {
            v.bits[n] = bits;
            v.cell_count += (uint64_t)lmi_bit_count(bits);
        }
    }
    refuse_beyond(a, 28 * v.cell_count); /* mass and state of each particle, of which there are more than cells */
    if (a->mode == LOAD && ok(a)) {
        lm_result result = lmi_lattice_body_allocate(world, body, &v, width);
        a->out_of_memory = result == LM_ERROR_MEMORY;
        refuse_if(a, result != LM_OK && result != LM_ERROR_MEMORY);
    }
    lmi_release(&world->memory, v.bits, words, sizeof *v.bits);
}

/* What is to be taken back from the parts of a lattice, and their bounds. */
void lmi_visit_parts(archive *a, lmi_lattice_body *lattice)
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

static void visit_lattice_plastic(archive *a, lmi_body *body)
{
    bool plastic = body->lattice->plastic.state != NULL;
    LMI_PARTICLES_EACH(body, n)
    {
        for (int i = 0; plastic && i < 6; i++) {
            float *at = lmi_lattice_body_plastic(body, n) + i * LMI_BLOCK;
            visit_float(a, at);
            refuse_if(a, fabsf(*at) > 100.0f);
        }
    }
}

static void visit_lattice(archive *a, lm_world *world, lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    double sum = 0.0, least = INFINITY;
    if (a->mode == LOAD && ok(a)) {
        refuse_if(a, lmi_lattice_body_fault(&body->material) != NULL);
        a->out_of_memory = !lmi_lattice_body_allocate_extras(world, body, &body->material);
    }
    if (!ok(a)) {
        return;
    }
    for (uint32_t n = 0; n < body->particle_count && ok(a); n++) {
        float *mass = &body->mass[body->place[n]];
        visit_float(a, mass);
        refuse_if(a, !(*mass > 0.0f && *mass <= 1e12f));
        sum += *mass;
        least = *mass < least ? *mass : least;
    }
    refuse_if(a, !(least * body->particle_count >= 1e-9 * sum));
    visit_float(a, &lattice->width_metres);
    refuse_if(a, !(lattice->width_metres >= 0.0f && lattice->width_metres <= 1e6f));
    visit_dmat3(a, &lattice->frame);
    refuse_if(a, !is_rotation(&lattice->frame));
    bool breaks = body->fracture != NULL;
    visit_bool(a, &breaks);
    if (a->mode == LOAD && breaks && ok(a)) {
        body->fracture = lmi_allocate(&world->memory, 1, sizeof *body->fracture);
        a->out_of_memory = !body->fracture;
    }
    if (!breaks) { /* else they come last, with the links that make them */
        lmi_visit_parts(a, lattice);
    }
    visit_lattice_plastic(a, body);
}

/* Where the touch points are in the rest pose; what they ride on follows from that. */
static void visit_touch(archive *a, lm_world *world, lmi_body *body)
{
    lmi_touch *touch = &body->touch;
    VISIT_ENUM(a, body->contact_points, LM_CONTACT_COUNT);
    visit_count(a, &touch->count, 60);
    if (a->mode == LOAD && ok(a)) {
        touch->rest = lmi_allocate(&world->memory, touch->count, sizeof *touch->rest);
        touch->warm = lmi_allocate(&world->memory, 2 * (size_t)touch->count, sizeof *touch->warm);
        a->out_of_memory = !touch->rest || !touch->warm;
    }
    for (uint32_t n = 0; n < touch->count && ok(a); n++) {
        visit_vec3(a, &touch->rest[n]);
        refuse_if(a, !is_near(touch->rest[n]));
        lmi_warm *warm = &touch->warm[n];
        visit_float(a, &warm->pressed);
        for (int i = 0; i < 3; i++) {
            visit_float(a, &warm->braked[i]);
            refuse_if(a, !(fabsf(warm->braked[i]) <= FLT_MAX));
        }
        for (int i = 0; i < 3; i++) {
            visit_float(a, &warm->behind[i]);
            refuse_if(a, !(fabsf(warm->behind[i]) <= LM_MAX_COORDINATE));
        }
        refuse_if(a, !(warm->pressed >= 0.0f && warm->pressed <= FLT_MAX));
        visit_u32(a, &warm->other);
        visit_u32(a, &warm->generation);
        refuse_if(a, warm->other > world->bodies.slots);
        for (int i = 0; i < 3; i++) {
            visit_float(a, &warm->out[i]);
            refuse_if(a, !(fabsf(warm->out[i]) <= 100.0f));
        }
    }
}

/* What others touch: the mesh, from which all else follows. */
static void visit_bulk(archive *a, lm_world *world, lmi_body *body)
{
    visit_u32(a, &body->group);
    visit_u32(a, &body->mask);
    visit_u32(a, &body->collider_mask);
    visit_bool(a, &body->self_contact);
    visit_float(a, &body->penalty);
    refuse_if(a, !(body->penalty >= 0.0f && body->penalty <= 1e12f));
    bool has = body->bulk != NULL;
    visit_bool(a, &has);
    /* A solid stays when nothing is left for the body to touch. */
    refuse_if(a, body->fracture ? has : !has && (body->mask != 0 || body->self_contact));
    refuse_if(a, body->fracture && (body->contact_points != LM_CONTACT_PARTICLES ||
                                    body->touch.count != (lmi_is_rubble(body) ? body->particle_count : 0)));
    if (!has || !ok(a)) {
        return;
    }
    if (a->mode == LOAD) {
        body->bulk = lmi_allocate(&world->memory, 1, sizeof *body->bulk);
        a->out_of_memory = !body->bulk;
    }
    if (!ok(a)) {
        return;
    }
    lmi_mould *mould = body->bulk->mould;
    uint32_t vertices = mould ? mould->vertex_count : 0, triangles = mould ? mould->triangle_count : 0;
    visit_count(a, &vertices, 12);
    visit_count(a, &triangles, 12);
    if (a->mode == LOAD && ok(a)) {
        mould = body->bulk->mould = lmi_mould_of_mesh(world, vertices, triangles);
        a->out_of_memory = !mould;
    }
    for (uint32_t n = 0; n < vertices && ok(a); n++) {
        visit_vec3(a, &mould->vertices[n]);
        refuse_if(a, !is_near(mould->vertices[n]));
    }
    for (size_t n = 0; n < (size_t)triangles * 3 && ok(a); n++) {
        visit_index(a, &mould->triangles[n], vertices, false);
    }
}

static void visit_sleep(archive *a, lmi_body *body)
{
    visit_bool(a, &body->may_sleep);
    visit_bool(a, &body->asleep);
    visit_bool(a, &body->disabled);
    visit_float(a, &body->still);
    visit_u32(a, &body->island);
    refuse_if(a, !(body->still >= 0.0f && body->still <= 1e6f));
    if (body->asleep) { /* those who are awake find it again */
        visit_vec3(a, &body->motion.centre);
        visit_double(a, &body->motion.mass);
        for (int i = 0; i < 6; i++) {
            visit_double(a, &body->motion.inertia[i]);
        }
        refuse_if(a, !is_near(body->motion.centre));
    }
    LMI_PARTICLES_EACH(body, n)
    {
        const float *v = body->v + (size_t)n * 4;
        refuse_if(a, body->asleep && (v[0] != 0.0f || v[1] != 0.0f || v[2] != 0.0f));
    }
}

/* All of a body but its counts, once there is room for it. */
static void visit_rest_of_body(archive *a, lm_world *world, lmi_body *body)
{
    if (!ok(a)) {
        return;
    }
    visit_float(a, &body->contact_radius);
    refuse_if(a, !(body->contact_radius >= 0.0f && body->contact_radius <= 1e6f));
    visit_u64(a, &body->user_data);
    lmi_visit_material(a, &body->material);
    visit_bool(a, &body->plastic_material);
    visit_double(a, &body->volume);
    visit_double(a, &body->height);
    visit_double(a, &body->square);
    visit_double(a, &body->across);
    visit_double(a, &body->swelling);
    refuse_if(a, !(body->across >= 0.0 && body->across <= 1.0 && body->swelling >= 0.0 && body->swelling <= 1.0));
    refuse_if(a, !(body->volume > 0.0 && body->volume < 1e40 && body->height > 0.0 && body->height < 1e10 &&
                   body->square > 0.0 && body->square < 1e20));
    visit_u32(a, &body->damping_turn);
    if (body->lattice) {
        visit_lattice(a, world, body);
    } else if (body->octree) {
        refuse_if(a, lmi_octree_body_fault(&body->material) != NULL);
    } else {
        refuse_if(a, lmi_clusters_fault(&body->material) != NULL);
        visit_topology(a, body);
    }
    if (!body->fracture) {
        visit_stiffness(a, world, body);
    }
    if (a->mode == LOAD && !body->lattice && !body->octree) {
        lmi_check_regions(a, world, body);
    }
    visit_examples(a, world, body);
    visit_state(a, world, body);
    visit_u32(a, &body->first_pin);
    visit_u32(a, &body->first_drag);
    visit_u32(a, &body->first_force);
    lmi_visit_skin(a, world, body);
    visit_touch(a, world, body);
    visit_bulk(a, world, body);
    visit_sleep(a, body);
}

static void visit_body(archive *a, lm_world *world, lmi_body *body)
{
    bool lattice = body->lattice != NULL;
    visit_bool(a, &lattice);
    if (lattice) {
        visit_cells(a, world, body);
        visit_rest_of_body(a, world, body);
        return;
    }
    bool octree = body->octree != NULL;
    visit_bool(a, &octree);
    if (octree) {
        lmi_visit_octree(a, world, body);
        visit_rest_of_body(a, world, body);
        return;
    }
    visit_count(a, &body->particle_count, 44);
    visit_count(a, &body->region_count, 64);
    visit_count(a, &body->membership_count, 4);
    visit_count(a, &body->tet_count, 16);
    refuse_if(a, body->particle_count == 0 || body->particle_count > LM_MAX_PARTICLES);
    if (!ok(a)) {
        body->particle_count = body->region_count = body->membership_count = body->tet_count = 0;
        return;
    }
    if (a->mode == LOAD && !lmi_body_allocate(world, body)) {
        a->out_of_memory = true;
        return;
    }
    visit_rest_of_body(a, world, body);
}

/* --- everything else in a world --- */

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

void lmi_visit_mover(archive *a, lmi_mover *m)
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

void lmi_visit_collider(archive *a, const lm_world *world, lmi_collider *c)
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

static void visit_collider(archive *a, lm_world *world, lmi_collider *c)
{
    lmi_visit_collider(a, world, c);
    lmi_visit_solid(a, world, c);
}

static void visit_mover(archive *a, lm_world *world, lmi_mover *m)
{
    (void)world;
    lmi_visit_mover(a, m);
}

/* The place of a particle. */
static void visit_place(archive *a, const lmi_body *body, uint32_t *place)
{
    visit_index(a, place, body->place_count, false);
    refuse_if(a, ok(a) && body->order[*place] == LMI_NONE);
}

static void visit_pin(archive *a, lm_world *world, lmi_pin *pin)
{
    visit_u32(a, &pin->next);
    visit_index(a, &pin->body, world->bodies.slots, false);
    visit_index(a, &pin->mover, world->movers.slots, true);
    visit_count(a, &pin->count, 28);
    bool sound = ok(a) && lmi_pool_used(&world->bodies, pin->body) &&
                 (pin->mover == LMI_NONE || lmi_pool_used(&world->movers, pin->mover)) &&
                 (pin->mover == LMI_NONE || !(LMI_POOL_AT(&world->movers, lmi_mover, pin->mover)->mass > 0.0f));
    refuse_if(a, !sound);
    if (a->damaged) {
        pin->count = 0;
        return;
    }
    if (a->mode == LOAD) {
        pin->particles = lmi_allocate(&world->memory, pin->count, sizeof *pin->particles);
        pin->targets = lmi_allocate(&world->memory, pin->count, sizeof *pin->targets);
        a->out_of_memory = !pin->particles || !pin->targets;
    }
    for (uint32_t n = 0; n < pin->count && ok(a); n++) {
        visit_place(a, lmi_body_at(world, pin->body), &pin->particles[n]);
        visit_dvec3(a, &pin->targets[n]);
    }
}

static void visit_drag(archive *a, lm_world *world, lmi_drag *drag)
{
    visit_u32(a, &drag->next);
    visit_index(a, &drag->body, world->bodies.slots, false);
    visit_count(a, &drag->count, 8);
    refuse_if(a, !lmi_pool_used(&world->bodies, drag->body));
    if (a->damaged) {
        drag->count = 0;
        return;
    }
    if (a->mode == LOAD) {
        drag->particles = lmi_allocate(&world->memory, drag->count, sizeof *drag->particles);
        drag->weights = lmi_allocate(&world->memory, drag->count, sizeof *drag->weights);
        a->out_of_memory = !drag->particles || !drag->weights;
    }
    for (uint32_t n = 0; n < drag->count && ok(a); n++) {
        visit_place(a, lmi_body_at(world, drag->body), &drag->particles[n]);
        visit_float(a, &drag->weights[n]);
    }
    visit_u32(a, &drag->particle);
    visit_float(a, &drag->radius);
    visit_dvec3(a, &drag->target);
    visit_float(a, &drag->hertz);
    visit_float(a, &drag->damping_ratio);
    visit_float(a, &drag->max_force);
    visit_vec3(a, &drag->force);
    bool sound = drag->hertz > 0.0f && drag->hertz <= 1e6f && drag->damping_ratio >= 0.0f &&
                 drag->damping_ratio <= 1e6f && drag->max_force > 0.0f;
    refuse_if(a, !sound);
}

void lmi_visit_field(archive *a, lm_field_def *field)
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

static void visit_field(archive *a, lm_world *world, lm_field_def *field)
{
    (void)world;
    lmi_visit_field(a, field);
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

/* --- pools --- */

typedef void visit_element(archive *a, lm_world *world, void *element);

/* Slots with their generations; the contents of those in use. */
static void visit_pool(archive *a, lm_world *world, lmi_pool *pool, visit_element *visit)
{
    uint32_t slots = pool->slots;
    visit_count(a, &slots, 4);
    for (uint32_t n = 0; n < slots && ok(a); n++) {
        uint32_t index = n;
        if (a->mode == LOAD && !lmi_pool_add(pool, &world->memory, &index)) {
            a->out_of_memory = true;
            return;
        }
        visit_u32(a, &pool->generations[index]);
    }
    for (uint32_t n = 0; n < slots && ok(a); n++) {
        if (lmi_pool_used(pool, n)) {
            visit(a, world, (char *)pool->elements + n * pool->size);
        }
    }
    if (a->mode == LOAD) {
        pool->alive = 0;
        pool->lowest = 0;
        for (uint32_t n = 0; n < pool->slots; n++) {
            pool->alive += lmi_pool_used(pool, n);
        }
    }
}

#define VISITOR(name, type)                                                                                            \
    static void visit_##name##_element(archive *a, lm_world *world, void *element)                                     \
    {                                                                                                                  \
        visit_##name(a, world, (type *)element);                                                                       \
    }
VISITOR(body, lmi_body)
VISITOR(mover, lmi_mover)
VISITOR(collider, lmi_collider)
VISITOR(pin, lmi_pin)
VISITOR(drag, lmi_drag)
VISITOR(field, lm_field_def)

void lmi_visit_forces(archive *a, lm_world *world)
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

static void visit_fractures(archive *a, lm_world *world)
{
    for (uint32_t n = 0; n < world->bodies.slots && ok(a); n++) {
        lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_in_step(world, n) : NULL;
        if (body && body->fracture) {
            lmi_visit_fracture(a, world, body);
            if (ok(a)) {
                lmi_visit_parts(a, body->lattice);
                visit_stiffness(a, world, body);
            }
        }
    }
}

static void visit_world(archive *a, lm_world *world)
{
    visit_vec3(a, &world->gravity);
    refuse_if(a, !is_slow(world->gravity));
    visit_u32(a, &world->substeps);
    refuse_if(a, world->substeps > LM_MAX_SUBSTEPS);
    visit_double(a, &world->time);
    visit_u64(a, &world->steps);
    visit_dvec3(a, &world->outside_impulse);
    visit_pool(a, world, &world->bodies, visit_body_element);
    visit_pool(a, world, &world->movers, visit_mover_element);
    visit_pool(a, world, &world->colliders, visit_collider_element);
    visit_pool(a, world, &world->pins, visit_pin_element);
    visit_pool(a, world, &world->drags, visit_drag_element);
    visit_pool(a, world, &world->fields, visit_field_element);
    lmi_visit_forces(a, world);
    lmi_visit_contacts(a, world);
    visit_pool(a, world, &world->skeletons, lmi_visit_skeleton);
    visit_pool(a, world, &world->joints, lmi_visit_joint);
    visit_fractures(a, world);
    lmi_visit_details(a, world);
    lmi_visit_grains(a, world);
}

/* --- saving --- */

void lmi_snapshot_seal(unsigned char *buffer, size_t size)
{
    uint64_t payload = size - LMI_SNAPSHOT_HEADER, version = LMI_SNAPSHOT_VERSION;
    uint64_t checksum = lmi_hash_bytes(LMI_HASH_SEED, buffer + LMI_SNAPSHOT_HEADER, (size_t)payload);
    archive a = {.mode = SAVE, .bytes = buffer, .size = LMI_SNAPSHOT_HEADER, .at = 8};
    memcpy(buffer, "LIMBERSN", 8);
    visit_bits(&a, &version, 4);
    visit_u64(&a, &payload);
    visit_u64(&a, &checksum);
}

/* The visitors take fields they can write; measuring and saving do not. */
static lm_world *readable(const lm_world *world) { return (lm_world *)(uintptr_t)world; }

size_t lm_world_save_size(const lm_world *world)
{
    lmi_world_read(world);
    archive a = {.mode = MEASURE, .at = LMI_SNAPSHOT_HEADER};
    visit_world(&a, readable(world));
    return a.at;
}

lm_result lm_world_save(const lm_world *world, void *buffer, size_t capacity)
{
    lmi_world_read(world);
    assert(buffer);
    size_t size = lm_world_save_size(world);
    if (capacity < size) {
        return lmi_fail(world, LM_ERROR_CAPACITY, "lm_world_save: %zu bytes are needed, the buffer has %zu", size,
                        capacity);
    }
    archive a = {.mode = SAVE, .bytes = buffer, .size = size, .at = LMI_SNAPSHOT_HEADER};
    visit_world(&a, readable(world));
    lmi_snapshot_seal(buffer, size);
    return LM_OK;
}

/* --- loading --- */

/* Weights, regions and batches of a loaded body. */
static void revive_body(archive *a, lm_world *world, uint32_t slot)
{
    lmi_body *body = lmi_body_in_step(world, slot);
    body->slot = slot;
    body->batch = LMI_NONE;
    a->out_of_memory = !lmi_body_revive(world, body) || !lmi_fracture_skin(world, body) ||
                       (!lmi_body_is_out(body) && lmi_body_join_batch(world, slot) != LM_OK);
    if (!a->out_of_memory) {
        lmi_skin_update(world, body);
    }
    world->particles += body->padded_count;
    world->memberships += body->membership_count;
    a->damaged = world->particles > LM_MAX_PARTICLES || world->memberships > LM_MAX_MEMBERSHIPS;
}

static lm_result check_header(const lm_world *world, const unsigned char *bytes, size_t size)
{
    if (size < LMI_SNAPSHOT_HEADER || memcmp(bytes, "LIMBERSN", 8) != 0) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: this is not a snapshot");
    }
    archive a = {.mode = LOAD, .bytes = (unsigned char *)(uintptr_t)bytes, .size = LMI_SNAPSHOT_HEADER, .at = 8};
    uint64_t version = 0, payload = 0, checksum = 0;
    visit_bits(&a, &version, 4);
    visit_u64(&a, &payload);
    visit_u64(&a, &checksum);
    if (version != LMI_SNAPSHOT_VERSION) {
        return lmi_fail(world, LM_ERROR_VERSION, "lm_world_load: format version %u, this library reads %d",
                        (unsigned)version, LMI_SNAPSHOT_VERSION);
    }
    if (payload != size - LMI_SNAPSHOT_HEADER) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the snapshot is truncated, or has something behind it");
    }
    if (checksum != lmi_hash_bytes(LMI_HASH_SEED, bytes + LMI_SNAPSHOT_HEADER, (size_t)payload)) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the checksum is wrong");
    }
    return LM_OK;
}

/* An empty world aside: the same hooks, nothing in it. */
static lm_world empty_copy(const lm_world *world)
{
    lm_world copy = {.memory = world->memory, .log = world->log, .gpu = world->gpu};
    lmi_pool_init(&copy.bodies, sizeof(lmi_body));
    lmi_pool_init(&copy.movers, sizeof(lmi_mover));
    lmi_pool_init(&copy.colliders, sizeof(lmi_collider));
    lmi_pool_init(&copy.pins, sizeof(lmi_pin));
    lmi_pool_init(&copy.drags, sizeof(lmi_drag));
    lmi_pool_init(&copy.fields, sizeof(lm_field_def));
    lmi_pool_init(&copy.skeletons, sizeof(lmi_skeleton));
    lmi_pool_init(&copy.joints, sizeof(lmi_joint));
    return copy;
}

/* Moves the contents of `from` into `to`, which is empty. */
static void adopt(lm_world *to, const lm_world *from)
{
    to->memory = from->memory;
    to->gravity = from->gravity;
    to->substeps = from->substeps;
    to->time = from->time;
    to->steps = from->steps;
    to->outside_impulse = from->outside_impulse;
    memcpy(to->rules, from->rules, sizeof to->rules);
    to->rule_count = from->rule_count;
    to->contact_events = from->contact_events;
    to->contact_method = from->contact_method;
    to->has_eye = from->has_eye;
    to->eye = from->eye;
    to->sleep = from->sleep;
    to->touchings = from->touchings;
    to->contacts = to->stiffness_limited = 0;
    to->contact_stats = (lm_contact_stats){0};
    to->break_count = 0;
    to->step_seconds = 0.0;
    memset(to->stage_seconds, 0, sizeof to->stage_seconds);
    to->bodies = from->bodies;
    to->has_octrees = from->has_octrees;
    to->moulds = from->moulds;
    to->movers = from->movers;
    to->colliders = from->colliders;
    to->pins = from->pins;
    to->drags = from->drags;
    to->fields = from->fields;
    to->skeletons = from->skeletons;
    to->joints = from->joints;
    lmi_wrenches_forget(to);
    to->forces = from->forces;
    to->force_count = from->force_count;
    to->force_capacity = from->force_capacity;
    to->batches = from->batches;
    to->batch_count = from->batch_count;
    to->batch_capacity = from->batch_capacity;
    to->particles = from->particles;
    to->memberships = from->memberships;
}

/* The host's allocator while a snapshot is loaded, and whether it has failed: what cannot be made though there is memory was damaged. */
typedef struct watched {
    lm_allocator host;
    bool failed;
} watched;

static void *watched_allocate(size_t size, size_t alignment, void *user)
{
    watched *w = user;
    void *memory = w->host.allocate(size, alignment, w->host.user);
    w->failed = w->failed || !memory;
    return memory;
}

static void watched_release(void *memory, size_t size, void *user)
{
    const watched *w = user;
    w->host.release(memory, size, w->host.user);
}

/* What is said of a snapshot that was not loaded. */
static lm_result refuse(const lm_world *world, const archive *a, bool no_memory)
{
    if (a->out_of_memory && no_memory) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_world_load: out of memory");
    }
    if (a->at == a->size) {
        return lmi_fail(world, LM_ERROR_FORMAT,
                        "lm_world_load: the snapshot is damaged: its parts do not fit together");
    }
    return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the snapshot is damaged before byte %zu of %zu", a->at,
                    a->size);
}

lm_result lm_world_load(lm_world *world, const void *buffer, size_t size)
{
    assert(buffer);
    lm_result result = check_header(world, buffer, size);
    if (result != LM_OK) {
        return result;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    archive a = {.mode = LOAD, .bytes = (unsigned char *)(uintptr_t)buffer, .size = size, .at = LMI_SNAPSHOT_HEADER};
    lm_world aside = empty_copy(world);
    watched memory = {.host = world->memory.hooks};
    aside.memory.hooks = (lm_allocator){watched_allocate, watched_release, &memory};
    visit_world(&a, &aside);
    a.damaged = a.damaged || (ok(&a) && a.at != size);
    if (ok(&a)) {
        lmi_check_lists(&a, &aside);
    }
    LMI_POOL_EACH(&aside.bodies, n)
    {
        if (ok(&a)) {
            revive_body(&a, &aside, n);
        }
    }
    aside.memory.hooks = memory.host;
    if (ok(&a)) {
        lm_world old = *world;
        old.memory = aside.memory;
        lmi_world_clear(&old);
        lmi_touchings_free(&old);
        aside.memory = old.memory;
        adopt(world, &aside);
    } else {
        lmi_world_clear(&aside);
        lmi_touchings_free(&aside);
        world->memory = aside.memory;
        result = refuse(world, &a, memory.failed);
    }
    lmi_float_mode_leave(&host);
    return result;
}

/* --- a body alone --- */

/* The body without whatever else in the world it is connected with, and its batches, for reading. `warm`: nothing, for its touch
 * points. */
static bool put_alone(lm_world *alone, const lm_world *world, const lmi_body *from, lmi_warm *warm)
{
    uint32_t index;
    if (!lmi_pool_add(&alone->bodies, &alone->memory, &index)) {
        return false;
    }
    lmi_body *body = lmi_body_in_step(alone, index);
    *body = *from;
    body->first_pin = body->first_drag = body->first_force = body->skeleton = LMI_NONE;
    body->joints = 0;
    body->asleep = false;
    body->still = 0.0f;
    body->island = 0;
    body->touch.warm = warm;
    alone->batches = world->batches;
    alone->gravity = world->gravity;
    alone->substeps = world->substeps;
    alone->sleep = world->sleep;
    return true;
}

/* What `bytes` hold becomes *to. */
static lm_result load_alone(lm_world *world, unsigned char *bytes, size_t size, lmi_body *to)
{
    archive a = {.mode = LOAD, .bytes = bytes, .size = size, .at = 0};
    lm_world aside = empty_copy(world);
    aside.moulds = world->moulds; /* it may share those of the others */
    visit_world(&a, &aside);
    if (ok(&a)) {
        lmi_body *body = lmi_body_in_step(&aside, 0);
        body->batch = LMI_NONE;
        a.out_of_memory = !lmi_body_revive(&aside, body) || !lmi_fracture_skin(&aside, body);
        if (ok(&a)) {
            lmi_skin_update(&aside, body);
            *to = *body;
            lmi_pool_remove(&aside.bodies, 0);
        }
    }
    LMI_POOL_EACH(&aside.bodies, n) { lmi_body_free(&aside, lmi_body_in_step(&aside, n)); }
    world->moulds = aside.moulds;
    lmi_pool_free(&aside.bodies, &aside.memory);
    lmi_touchings_free(&aside);
    world->memory = aside.memory;
    return ok(&a) ? LM_OK : a.out_of_memory ? LM_ERROR_MEMORY : LM_ERROR_ARGUMENT;
}

lm_result lmi_snapshot_copy_body(lm_world *world, const lmi_body *from, lmi_body *to)
{
    lmi_warm *warm = lmi_allocate(&world->memory, 2 * (size_t)from->touch.count, sizeof *warm);
    lm_world alone = empty_copy(world);
    bool made = warm && put_alone(&alone, world, from, warm);
    archive a = {.mode = MEASURE};
    unsigned char *bytes = NULL;
    if (made) {
        visit_world(&a, &alone);
        bytes = lmi_allocate_plain(&alone.memory, a.at, 1);
    }
    archive save = {.mode = SAVE, .bytes = bytes, .size = a.at};
    if (bytes) {
        visit_world(&save, &alone);
    }
    lmi_pool_free(&alone.bodies, &alone.memory);
    world->memory = alone.memory;
    lm_result result = bytes ? load_alone(world, bytes, a.at, to) : LM_ERROR_MEMORY;
    lmi_release(&world->memory, bytes, a.at, 1);
    lmi_release(&world->memory, warm, 2 * (size_t)from->touch.count, sizeof *warm);
    return result;
}
