/*
 * Bodies: creation, destruction, and which batch they are stepped in.
 */
#include "world/body.h"
#include "base/guard.h"
#include "base/hash.h"
#include "cluster/cluster.h"
#include "cut/ready.h"
#include "fracture/fracture.h"
#include "joint/joint.h"
#include "lattice/herd.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_motion.h"
#include "match/examples.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "skin/lineage.h"
#include "skin/skin.h"
#include "skin/skin_octree_cut.h"
#include "skin/slit.h"
#include "world/access.h"
#include "world/elastic.h"
#include "world/in_step.h"
#include "world/solids.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BODY_COOKIE 0x4c4d4231u

/* Bodies are stepped together up to this many particles: enough to fill lanes, few enough to stay in a core's cache. */
#define BATCH_PARTICLES 4096u

lm_body_def lm_body_def_default(void)
{
    lm_body_def def;
    memset(&def, 0, sizeof def);
    def.mass = 1.0f;
    def.clusters.counts[0] = def.clusters.counts[1] = def.clusters.counts[2] = 1;
    def.clusters.overlap = 0.25f;
    def.clusters.count = 1;
    def.clusters.rings = 1;
    def.clusters.element_size = 4;
    def.octree.levels = 3;
    def.octree.detail = 2.0f;
    def.octree.slack = 0.5f;
    def.group = 1;
    def.mask = UINT32_MAX;
    def.collider_mask = UINT32_MAX;
    def.may_sleep = true;
    def.material = lm_material_default();
    def.pose = lm_pose_identity();
    def.cookie = BODY_COOKIE;
    return def;
}

bool lm_body_is_valid(const lm_world *world, lm_body_id id)
{
    lmi_id plain = {id.slot, id.generation};
    uint32_t index;
    return lmi_pool_find(&world->bodies, plain, &index);
}

/* --- batches --- */

/* Small lattices come in whole sixteens, so that a herd of them (lattice/herd.h) fills its lanes. */
static bool has_room(const lmi_batch *batch, const lmi_body *body)
{
    if (body->lattice && body->particle_count <= LMI_HERD_PARTICLES) {
        uint32_t sixteen = LMI_BLOCK * body->padded_count, times = BATCH_PARTICLES / sixteen;
        return batch->particles + body->padded_count <= sixteen * (times ? times : 1);
    }
    return batch->particles + body->padded_count <= BATCH_PARTICLES;
}

lm_result lmi_body_join_batch(lm_world *world, uint32_t slot)
{
    lmi_body *body = lmi_body_in_step(world, slot);
    uint32_t index = world->batch_count;
    if (index > 0 && has_room(&world->batches[index - 1], body)) {
        index--;
    } else {
        for (uint32_t n = 0; n < world->batch_count; n++) { /* one that bodies have left */
            if (has_room(&world->batches[n], body)) {
                index = n;
                break;
            }
        }
    }
    void *batches = world->batches;
    bool ok = lmi_reserve(&world->memory, &batches, &world->batch_capacity, index + 1, sizeof *world->batches);
    world->batches = batches;
    if (!ok) {
        return LM_ERROR_MEMORY;
    }
    if (index == world->batch_count) {
        memset(&world->batches[index], 0, sizeof world->batches[index]);
    }
    lmi_batch *batch = &world->batches[index];
    void *bodies = batch->bodies;
    ok = lmi_reserve(&world->memory, &bodies, &batch->body_capacity, batch->body_count + 1, sizeof *batch->bodies);
    batch->bodies = bodies;
    if (!ok) {
        return LM_ERROR_MEMORY;
    }
    uint32_t at = batch->body_count++; /* slot order */
    for (; at > 0 && batch->bodies[at - 1] > slot; at--) {
        batch->bodies[at] = batch->bodies[at - 1];
    }
    batch->bodies[at] = slot;
    batch->particles += body->padded_count;
    batch->dirty = true;
    body->batch = index;
    world->batch_count = index == world->batch_count ? index + 1 : world->batch_count;
    return LM_OK;
}

void lmi_body_leave_batch(lm_world *world, uint32_t slot)
{
    lmi_body *body = lmi_body_in_step(world, slot);
    if (body->batch == LMI_NONE) {
        return;
    }
    lmi_batch *batch = &world->batches[body->batch];
    uint32_t at = 0;
    while (batch->bodies[at] != slot) {
        at++;
    }
    memmove(batch->bodies + at, batch->bodies + at + 1, (batch->body_count - at - 1) * sizeof *batch->bodies);
    batch->body_count--;
    batch->particles -= body->padded_count;
    batch->dirty = true;
    body->batch = LMI_NONE;
}

/* --- creation --- */

static const char *pose_fault(const lm_body_def *def)
{
    if (!lmi_pose_is_sound(def->pose)) {
        return "the pose is not finite or beyond LM_MAX_POSITION, or its rotation is zero";
    }
    float v[6] = {def->velocity.x, def->velocity.y, def->velocity.z, def->spin.x, def->spin.y, def->spin.z};
    for (int i = 0; i < 6; i++) {
        if (!(fabsf(v[i]) <= LM_MAX_SPEED)) {
            return "velocity or spin is not finite or above 1e6";
        }
    }
    return NULL;
}

const char *lmi_body_mass_fault(const float *masses, uint32_t count)
{
    double sum = 0.0, least = INFINITY;
    for (uint32_t n = 0; n < count; n++) {
        if (!(masses[n] > 0.0f && masses[n] <= 1e12f)) {
            return "every mass must be above 0 and at most 1e12 kg";
        }
        sum += masses[n];
        least = masses[n] < least ? masses[n] : least;
    }
    return least * count >= 1e-9 * sum ? NULL : "the lightest particle is below 1e-9 of the mean mass";
}

static const char *mass_fault(const lm_body_def *def)
{
    if (def->masses) { /* those of a lattice are checked once their number is known */
        return def->points ? lmi_body_mass_fault(def->masses, def->point_count) : NULL;
    }
    if (!(def->density >= 0.0f && def->density <= 1e12f)) {
        return "density must be 0 to 1e12 kg/m³";
    }
    return def->mass > 0.0f && def->mass <= 1e12f ? NULL : "mass must be above 0 and at most 1e12 kg";
}

const char *lmi_body_def_fault(const lm_body_def *def)
{
    if (!(def->contact_radius >= 0.0f && def->contact_radius <= 1e6f)) {
        return "contact_radius must be 0 to 1e6 m";
    }
    if (!(def->penalty >= 0.0f && def->penalty <= 1e12f)) {
        return "penalty must be 0 to 1e12 N/m";
    }
    if ((unsigned)def->contact_points >= LM_CONTACT_COUNT) {
        return "contact_points is not one of lm_contact_points";
    }
    const char *fault = mass_fault(def);
    fault = fault ? fault : pose_fault(def);
    return fault ? fault : lmi_material_fault(&def->material);
}

static const char *def_fault(const lm_body_def *def)
{
    if (def->cookie != BODY_COOKIE) {
        return "the definition did not come from lm_body_def_default";
    }
    bool lattice = def->lattice.vertices || def->lattice.cells;
    if (!lattice && (!def->points || def->point_count == 0)) {
        return "a body needs at least one point, a lattice, tets or an octree";
    }
    if (lattice && (def->points || def->point_count)) {
        return "a body has points or a lattice, not both";
    }
    for (uint32_t n = 0; n < def->point_count; n++) {
        const lm_vec3 *p = &def->points[n];
        if (!(fabsf(p->x) <= LM_MAX_COORDINATE && fabsf(p->y) <= LM_MAX_COORDINATE &&
              fabsf(p->z) <= LM_MAX_COORDINATE)) {
            return "a point is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    return lmi_body_def_fault(def);
}

bool lmi_body_allocate(lm_world *world, lmi_body *body)
{
    lmi_memory *memory = &world->memory;
    body->place_count = body->place_count ? body->place_count : body->particle_count;
    body->padded_count = (body->place_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    body->rest = lmi_allocate(memory, body->place_count, sizeof *body->rest);
    body->mass = lmi_allocate(memory, body->place_count, sizeof *body->mass);
    body->order = lmi_allocate(memory, body->place_count, sizeof *body->order);
    body->place = lmi_allocate(memory, body->particle_count, sizeof *body->place);
    body->region_offsets = lmi_allocate(memory, (size_t)body->region_count + 1, sizeof *body->region_offsets);
    body->members = lmi_allocate(memory, body->membership_count, sizeof *body->members);
    body->tets = lmi_allocate(memory, (size_t)body->tet_count * 4, sizeof *body->tets);
    body->regions = lmi_allocate(memory, body->region_count, sizeof *body->regions);
    body->rotation = lmi_allocate(memory, (size_t)body->region_count * 9, sizeof *body->rotation);
    body->plastic = lmi_allocate(memory, (size_t)body->region_count * 6, sizeof *body->plastic);
    body->home = lmi_allocate(memory, (size_t)body->padded_count * 8, sizeof *body->home);
    body->x = body->home;
    body->v = body->home ? body->home + (size_t)body->padded_count * 4 : NULL;
    body->first_pin = body->first_drag = body->first_force = body->skeleton = LMI_NONE;
    return body->rest && body->mass && body->order && body->place && body->region_offsets && body->members &&
           body->tets && body->regions && body->rotation && body->plastic && body->home;
}

void lmi_body_free(lm_world *world, lmi_body *body)
{
    lmi_memory *memory = &world->memory;
    lmi_release(memory, body->rest, body->place_count, sizeof *body->rest);
    lmi_release(memory, body->mass, body->place_count, sizeof *body->mass);
    lmi_release(memory, body->order, body->place_count, sizeof *body->order);
    lmi_release(memory, body->place, body->particle_count, sizeof *body->place);
    lmi_release(memory, body->region_offsets, (size_t)body->region_count + 1, sizeof *body->region_offsets);
    lmi_release(memory, body->members, body->membership_count, sizeof *body->members);
    lmi_release(memory, body->tets, (size_t)body->tet_count * 4, sizeof *body->tets);
    lmi_release(memory, body->regions, body->region_count, sizeof *body->regions);
    lmi_release(memory, body->rotation, (size_t)body->region_count * 9, sizeof *body->rotation);
    lmi_release(memory, body->plastic, (size_t)body->region_count * 6, sizeof *body->plastic);
    if (body->stiffness) {
        lmi_release(memory, body->stiffness, lmi_body_regions(body), sizeof *body->stiffness);
    }
    lmi_release(memory, body->home, (size_t)body->padded_count * 8, sizeof *body->home);
    lmi_skin_free(world, &body->skin);
    lmi_touch_free(world, &body->touch);
    lmi_ready_free(world, body);
    lmi_body_free_bulk(world, body);
    lmi_fracture_free(world, body);
    lmi_slit_free(world, body->slit);
    lmi_lineage_free(world, body->lineage);
    lmi_grain_free(world, body->grain);
    lmi_examples_free(world, body->examples);
    lmi_lattice_body_free(world, body);
    lmi_octree_body_free(world, body);
    memset(body, 0, sizeof *body);
}

void lmi_body_forget_arrays(lmi_body *body)
{
    body->rest = NULL;
    body->mass = NULL;
    body->order = body->place = body->region_offsets = body->members = body->tets = NULL;
    body->regions = NULL;
    body->rotation = body->plastic = body->stiffness = body->home = body->x = body->v = NULL;
    body->octree = NULL;
    body->bulk = NULL;
    body->surface = NULL;
    body->cubes = NULL;
    body->grain = NULL;
    body->lineage = NULL;
    body->ready = NULL;
    memset(&body->skin, 0, sizeof body->skin);
    memset(&body->touch, 0, sizeof body->touch);
}

typedef struct degree {
    uint32_t regions;
    uint32_t particle;
} degree;

static int compare_degrees(const void *a, const void *b)
{
    const degree *x = a, *y = b;
    if (x->regions != y->regions) {
        return x->regions > y->regions ? -1 : 1;
    }
    return x->particle < y->particle ? -1 : 1;
}

/* Fills rest, mass, order, place, offsets, members and tetrahedra, particles with most regions first. */
static bool order_particles(lm_world *world, lmi_body *body, const lm_body_def *def, const lmi_cluster_lists *lists)
{
    degree *degrees = lmi_allocate(&world->memory, body->particle_count, sizeof *degrees);
    if (!degrees) {
        return false;
    }
    for (uint32_t n = 0; n < body->particle_count; n++) {
        degrees[n].particle = n;
    }
    for (uint32_t n = 0; n < lists->member_count; n++) {
        degrees[lists->members[n]].regions++;
    }
    qsort(degrees, body->particle_count, sizeof *degrees, compare_degrees);
    float share = def->mass / (float)body->particle_count;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t from = degrees[n].particle;
        body->order[n] = from;
        body->place[from] = n;
        body->rest[n] = def->points[from];
        body->mass[n] = def->masses ? def->masses[from] : share;
    }
    memcpy(body->region_offsets, lists->offsets, (lists->count + 1) * sizeof *lists->offsets);
    for (uint32_t n = 0; n < lists->member_count; n++) {
        body->members[n] = body->place[lists->members[n]];
    }
    for (size_t n = 0; n < (size_t)body->tet_count * 4; n++) {
        body->tets[n] = body->place[def->tets.tets[n]];
    }
    lmi_release(&world->memory, degrees, body->particle_count, sizeof *degrees);
    return true;
}

double lmi_body_rest_size(const lmi_body *body)
{
    lm_vec3 lower = body->rest[body->place[0]], upper = lower;
    LMI_PARTICLES_EACH(body, n)
    {
        lm_vec3 p = body->rest[n];
        lower = (lm_vec3){fminf(lower.x, p.x), fminf(lower.y, p.y), fminf(lower.z, p.z)};
        upper = (lm_vec3){fmaxf(upper.x, p.x), fmaxf(upper.y, p.y), fmaxf(upper.z, p.z)};
    }
    return dvec_length(dvec_sub(dvec_from(upper), dvec_from(lower)));
}

/* How much more the held particles of a body in physical units weigh: by the region of theirs of which most is held. */
static void weigh_held(const lmi_body *body, const bool *held, float *by)
{
    LMI_PARTICLES_EACH(body, n) { by[n] = (float)LMI_MOST_HELD; }
    for (uint32_t r = 0; r < body->region_count; r++) {
        double mass = 0.0, of_held = 0.0;
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            uint32_t p = body->members[n];
            mass += body->mass[p];
            of_held += held[p] ? body->mass[p] : 0.0;
        }
        for (uint32_t n = body->region_offsets[r]; of_held > 0.0 && n < body->region_offsets[r + 1]; n++) {
            uint32_t p = body->members[n];
            by[p] = fminf(by[p], (float)lmi_elastic_hold(of_held / mass));
        }
    }
}

/* The size and the masses in all; masses and fit weights into the fourth components of v and x; `held` (null: none) marks particles that a pin holds.
 * `room` is for a number of every particle. */
static void derive_weights(lmi_body *body, const bool *held, float *room)
{
    const bool elastic = lmi_is_elastic(&body->material);
    body->total_mass = 0.0;
    LMI_PARTICLES_EACH(body, n) { body->total_mass += body->mass[n]; }
    body->mean_mass = body->total_mass / body->particle_count;
    body->rest_size = lmi_body_rest_size(body);
    LMI_PARTICLES_EACH(body, n)
    {
        body->x[(size_t)n * 4 + 3] = 0.0f;
        body->v[(size_t)n * 4 + 3] = (float)(body->mass[n] / body->mean_mass);
    }
    /* The fourth component of x counts regions first, then becomes the weight. */
    for (uint32_t n = 0; n < body->membership_count; n++) {
        body->x[(size_t)body->members[n] * 4 + 3] += 1.0f;
    }
    if (held && elastic) {
        weigh_held(body, held, room);
    }
    LMI_PARTICLES_EACH(body, n)
    {
        float *weight = body->x + (size_t)n * 4 + 3;
        double of_held = elastic && held && held[n] ? body->mass[n] * (double)room[n] : body->total_mass;
        double mass = held && held[n] ? of_held : body->mass[n];
        *weight = *weight > 0.0f ? (float)(mass / body->mean_mass / *weight) : 0.0f;
    }
}

/* The rest constants of every region, from the weights in x. `weights` has room for every particle. */
static void make_regions(lmi_body *body, float *weights)
{
    LMI_PARTICLES_EACH(body, n) { weights[n] = body->x[(size_t)n * 4 + 3]; }
    lmi_elastic_shape shape = {0};
    body->elastic = lmi_is_elastic(&body->material);
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t first = body->region_offsets[r];
        lmi_region_make(&body->regions[r], body->rest, weights, body->members + first,
                        body->region_offsets[r + 1] - first);
        if (body->elastic) {
            body->regions[r].square = lmi_elastic_square(body, r, &shape);
        }
    }
    lmi_elastic_take_shape(body, &shape);
    body->square = lmi_elastic_least(body->regions, body->region_count);
    lmi_elastic_take_spread(body);
    body->tuned_step = 0.0;
}

/* Positions and velocities from the pose; the origin is put at the middle of the body. */
void lmi_body_place(lmi_body *body, const lm_body_def *def)
{
    dmat3 rotation = lmi_dmat_from_quat(def->pose.rotation);
    lm_dvec3 centre = dvec(0.0, 0.0, 0.0);
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 rest = body->lattice ? lmi_lattice_rest(&body->lattice->shape, n) : dvec_from(body->rest[n]);
        centre = dvec_add(centre, dvec_scale(rest, body->mass[n] / body->total_mass));
    }
    body->origin = dvec_add(def->pose.position, dmat_apply(&rotation, centre));
    LMI_PARTICLES_EACH(body, n)
    {
        lm_dvec3 rest = body->lattice ? lmi_lattice_rest(&body->lattice->shape, n) : dvec_from(body->rest[n]);
        lm_dvec3 arm = dmat_apply(&rotation, dvec_sub(rest, centre));
        lm_dvec3 velocity = dvec_add(dvec_from(def->velocity), dvec_cross(dvec_from(def->spin), arm));
        float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        x[0] = (float)arm.x, x[1] = (float)arm.y, x[2] = (float)arm.z;
        v[0] = (float)velocity.x, v[1] = (float)velocity.y, v[2] = (float)velocity.z;
        for (int i = 0; i < 3; i++) {
            v[i] = v[i] > LM_MAX_SPEED ? LM_MAX_SPEED : v[i] < -LM_MAX_SPEED ? -LM_MAX_SPEED : v[i];
        }
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        dmat3 frame = lmi_dmat_multiply(&rotation, &body->regions[r].axes);
        for (int i = 0; i < 9; i++) {
            body->rotation[(size_t)r * 9 + i] = (float)frame.m[i / 3][i % 3];
        }
        for (int i = 0; i < 3; i++) {
            body->plastic[(size_t)r * 6 + i] = 1.0f;
        }
    }
    lmi_body_update_bounds(body);
}

void lmi_body_take_def(lmi_body *body, const lm_body_def *def)
{
    body->contact_radius = def->contact_radius;
    body->contact_points = def->contact_points;
    body->group = def->group;
    body->mask = def->mask;
    body->collider_mask = def->collider_mask;
    body->self_contact = def->self_contact;
    body->penalty = def->penalty;
    body->may_sleep = def->may_sleep;
    body->user_data = def->user_data;
}

static lm_result fill_body(lm_world *world, lmi_body *body, const lm_body_def *def, const lmi_cluster_lists *lists)
{
    body->particle_count = def->point_count;
    body->region_count = lists->count;
    body->membership_count = lists->member_count;
    body->tet_count = def->tets.tet_count;
    float *weights = lmi_allocate(&world->memory, def->point_count, sizeof *weights);
    bool ok = weights && lmi_body_allocate(world, body) && order_particles(world, body, def, lists);
    if (ok) {
        body->material = def->material;
        body->plastic_material = def->material.yield > 0.0f;
        lmi_body_take_def(body, def);
        derive_weights(body, NULL, weights);
        make_regions(body, weights);
        lmi_body_place(body, def);
        body->shape_hash = lmi_hash_shape(body);
        lmi_touch_mesh none = {0};
        ok = lmi_body_make_bulk(world, body, &none);
    }
    lmi_release(&world->memory, weights, def->point_count, sizeof *weights);
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

static lm_result create_lattice(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    const char *fault = def_fault(def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    if (!lmi_pool_add(&world->bodies, &world->memory, slot)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    lmi_body *body = lmi_body_in_step(world, *slot);
    body->slot = *slot;
    lm_result result = lmi_lattice_body_make(world, body, def);
    if (result == LM_OK && lmi_body_join_batch(world, *slot) != LM_OK) {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    if (result != LM_OK) {
        lmi_body_free(world, body);
        lmi_pool_revoke(&world->bodies, *slot);
        return result;
    }
    world->particles += body->padded_count;
    return LM_OK;
}

lm_result lmi_body_create_cloud(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    /* Before the points are read: a count beyond the limit is likely to be wrong. */
    uint64_t padded = ((uint64_t)def->point_count + LMI_BLOCK - 1) / LMI_BLOCK * LMI_BLOCK;
    if (def->cookie == BODY_COOKIE && world->particles + padded > LM_MAX_PARTICLES) {
        return lmi_fail(world, LM_ERROR_LIMIT, "lm_body_create: more than %u particles in a world", LM_MAX_PARTICLES);
    }
    const char *fault = def_fault(def);
    fault = fault ? fault : lmi_clusters_fault(&def->material);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    lmi_cluster_lists lists;
    lm_result result = lmi_clusters_make(&world->memory, &def->clusters, def->points, def->point_count, &lists, &fault);
    if (result == LM_OK && world->memberships + lists.member_count > LM_MAX_MEMBERSHIPS) {
        result = LM_ERROR_LIMIT;
    }
    if (result != LM_OK) {
        lmi_clusters_free(&world->memory, &lists);
        return lmi_fail(world, result, "lm_body_create: %s", fault ? fault : lm_result_text(result));
    }
    result = LM_ERROR_MEMORY;
    if (lmi_pool_add(&world->bodies, &world->memory, slot)) {
        lmi_body *body = lmi_body_in_step(world, *slot);
        body->slot = *slot;
        result = fill_body(world, body, def, &lists);
        result = result == LM_OK ? lmi_body_join_batch(world, *slot) : result;
        if (result != LM_OK) {
            lmi_body_free(world, body);
            lmi_pool_revoke(&world->bodies, *slot);
        }
    }
    lmi_clusters_free(&world->memory, &lists);
    if (result != LM_OK) {
        return lmi_fail(world, result, "lm_body_create: out of memory");
    }
    world->particles += lmi_body_at(world, *slot)->padded_count;
    world->memberships += lmi_body_at(world, *slot)->membership_count;
    return LM_OK;
}

static lm_result create(lm_world *world, const lm_body_def *def, uint32_t *slot)
{
    bool sound = def->cookie == BODY_COOKIE; /* else there is nothing to look at */
    if (sound && (def->tets.vertices || def->tets.tets || def->tets.triangles)) {
        return lmi_tets_body_create(world, def, slot);
    }
    if (sound && (def->octree.vertices || def->octree.triangles)) {
        return lmi_octree_body_create(world, def, slot);
    }
    if (sound && (def->lattice.vertices || def->lattice.cells)) {
        return create_lattice(world, def, slot);
    }
    lm_body_def plain = *def;
    plain.tets.tet_count = 0; /* without tetrahedra a count means nothing */
    return lmi_body_create_cloud(world, &plain, slot);
}

/* Frees a body with all that belongs to it; its slot stays taken. */
static void take_out(lm_world *world, lmi_body *body, uint32_t slot)
{
    for (uint32_t n = 0; n < world->force_count; n++) {
        if (world->forces[n].body == slot) {
            world->forces[n].body = LMI_NONE;
        }
    }
    lmi_body_rouse(world, body); /* what leans on it may fall */
    lmi_joints_forget_body(world, slot);
    lmi_pins_free(world, body);
    lmi_drags_free(world, body);
    lmi_skeleton_forget(world, body);
    lmi_body_leave_batch(world, slot);
    world->particles -= body->padded_count;
    world->memberships -= body->membership_count;
    lmi_body_free(world, body);
}

lm_result lm_body_create(lm_world *world, const lm_body_def *def, lm_body_id *id)
{
    assert(world && def && id);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    uint32_t slot = 0;
    lm_body_def resolved = *def;
    resolved.material = lmi_material_of(def);
    lm_result result = create(world, &resolved, &slot);
    /* Those that it has joined change too. */
    lmi_body *body = result == LM_OK ? lmi_body_change(world, lmi_body_at(world, slot), LMI_CHANGE_BODY) : NULL;
    if (body && (!lmi_elastic_begin(world, body, def) || !lmi_body_join_company(world, body))) {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
        take_out(world, body, slot);
        lmi_pool_revoke(&world->bodies, slot); /* the next one gets the same id */
    }
    lm_body_id none = {0, 0};
    *id = none;
    if (result == LM_OK) {
        body->fresh = true;
        lmi_id plain = lmi_pool_id(&world->bodies, slot);
        id->slot = plain.slot;
        id->generation = plain.generation;
    }
    lmi_float_mode_leave(&host);
    return result;
}

lm_result lm_body_destroy(lm_world *world, lm_body_id id)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_destroy");
    if (!known) {
        return LM_ERROR_ID;
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    take_out(world, body, id.slot - 1);
    lmi_pool_remove(&world->bodies, id.slot - 1);
    return LM_OK;
}

/* --- while it lives --- */

float *lmi_body_rotation(const lm_world *world, const lmi_body *body, uint32_t region, uint32_t *stride)
{
    if (body->rotation) {
        *stride = 1;
        return body->rotation + (size_t)region * 9;
    }
    const lmi_pack *pack = &world->batches[body->batch].pack;
    uint32_t lane = pack->region_lane[body->first_region + region];
    *stride = LMI_BLOCK;
    return pack->rotation + (size_t)(lane / LMI_BLOCK) * 9 * LMI_BLOCK + lane % LMI_BLOCK;
}

float *lmi_body_plastic(const lm_world *world, const lmi_body *body, uint32_t region, uint32_t *stride)
{
    if (body->plastic) {
        *stride = 1;
        return body->plastic + (size_t)region * 6;
    }
    const lmi_pack *pack = &world->batches[body->batch].pack;
    uint32_t lane = pack->region_lane[body->first_region + region];
    *stride = LMI_BLOCK;
    return pack->plastic + (size_t)(lane / LMI_BLOCK) * 6 * LMI_BLOCK + lane % LMI_BLOCK;
}

void lmi_body_turn_axes(const lm_world *world, lmi_body *body, uint32_t r, const dmat3 *old)
{
    uint32_t stride;
    float *at = lmi_body_rotation(world, body, r, &stride);
    dmat3 turn, from; /* turn: old axes^T new axes */
    for (int i = 0; i < 9; i++) {
        from.m[i / 3][i % 3] = at[i * stride];
        turn.m[i / 3][i % 3] = old->m[0][i / 3] * body->regions[r].axes.m[0][i % 3] +
                               old->m[1][i / 3] * body->regions[r].axes.m[1][i % 3] +
                               old->m[2][i / 3] * body->regions[r].axes.m[2][i % 3];
    }
    dmat3 to = lmi_dmat_multiply(&from, &turn);
    for (int i = 0; i < 9; i++) {
        at[i * stride] = (float)to.m[i / 3][i % 3];
    }
    if (!body->plastic_material) { /* nothing has flowed: rounding must not make it so, which a snapshot does not know */
        return;
    }
    at = lmi_body_plastic(world, body, r, &stride);
    dmat3 p = {{{at[0], at[3 * stride], at[5 * stride]},
                {at[3 * stride], at[stride], at[4 * stride]},
                {at[5 * stride], at[4 * stride], at[2 * stride]}}};
    dmat3 half = lmi_dmat_multiply(&p, &turn);
    static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    for (int n = 0; n < 6; n++) {
        int i = place[n][0], j = place[n][1];
        at[(uint32_t)n * stride] =
            (float)(turn.m[0][i] * half.m[0][j] + turn.m[1][i] * half.m[1][j] + turn.m[2][i] * half.m[2][j]);
    }
}

bool lmi_body_update_weights(lm_world *world, lmi_body *body, const bool *held)
{
    if (body->lattice) {
        return lmi_lattice_body_weigh(world, body, held);
    }
    float *weights = lmi_allocate(&world->memory, body->place_count, sizeof *weights);
    dmat3 *axes = lmi_allocate(&world->memory, body->region_count, sizeof *axes);
    bool ok = weights && axes;
    for (uint32_t r = 0; ok && r < body->region_count; r++) {
        axes[r] = body->regions[r].axes;
    }
    if (ok && body->octree) {
        ok = lmi_octree_body_weigh(world, body, held);
    } else if (ok) {
        derive_weights(body, held, weights);
        make_regions(body, weights);
    }
    if (ok) {
        for (uint32_t r = 0; r < body->region_count; r++) {
            lmi_body_turn_axes(world, body, r, &axes[r]);
        }
        lmi_skin_update(world, body); /* the regions' frames are others now */
        lmi_body_is_dirty(world, body);
    }
    lmi_release(&world->memory, weights, body->place_count, sizeof *weights);
    lmi_release(&world->memory, axes, body->region_count, sizeof *axes);
    return ok;
}

bool lmi_body_update_pinned(lm_world *world, lmi_body *body)
{
    bool *held = lmi_allocate(&world->memory, body->place_count, sizeof *held);
    if (held) {
        lmi_pins_mark(world, body, false, held);
    }
    bool ok = held && lmi_body_update_weights(world, body, held);
    lmi_release(&world->memory, held, body->place_count, sizeof *held);
    return ok;
}

/* Touch points from their rest positions, which are all that a snapshot has of them. */
static bool revive_touch(lm_world *world, lmi_body *body)
{
    lmi_touch made;
    if (body->touch.count == 0) {
        return true;
    }
    bool ok = body->fracture ? lmi_touch_particles(world, body, &made)
                             : lmi_touch_embed(world, body, body->touch.rest, body->touch.count, &made);
    if (ok) {
        memcpy(made.warm, body->touch.warm, made.count * sizeof *made.warm);
        lmi_touch_free(world, &body->touch);
        body->touch = made;
    }
    return ok;
}

/* The solid from its mesh. */
static bool revive_bulk(lm_world *world, lmi_body *body)
{
    if (!body->bulk) {
        return true;
    }
    const lmi_mould *s = body->bulk->mould;
    lmi_touch_mesh mesh = {s->vertices, s->triangles, s->vertex_count, s->triangle_count};
    return lmi_body_make_bulk(world, body, &mesh);
}

bool lmi_body_revive(lm_world *world, lmi_body *body)
{
    float *weights = lmi_allocate(&world->memory, body->place_count, sizeof *weights);
    bool *held = lmi_allocate(&world->memory, body->place_count, sizeof *held);
    bool ok = weights && held;
    if (ok) {
        lmi_body_anchor(world, body);
        lmi_pins_mark(world, body, false, held);
        if (body->lattice) {
            ok = lmi_lattice_body_revive(world, body, held);
        } else if (body->octree) {
            ok = lmi_octree_body_weigh(world, body, held);
        } else {
            derive_weights(body, held, weights);
            make_regions(body, weights);
        }
        ok = ok && revive_touch(world, body) && revive_bulk(world, body) && lmi_octree_cut_given_skin(world, body) &&
             (!body->grain || !body->grain->shell || lmi_grain_skin(world, body, &body->skin));
        body->shape_hash = lmi_hash_shape(body);
    }
    lmi_release(&world->memory, weights, body->place_count, sizeof *weights);
    lmi_release(&world->memory, held, body->place_count, sizeof *held);
    return ok;
}

void lmi_body_find_bounds(const lmi_body *body, lm_vec3 *low, lm_vec3 *high)
{
    float lower[3] = {3e38f, 3e38f, 3e38f}, upper[3] = {-3e38f, -3e38f, -3e38f};
    LMI_PARTICLES_EACH(body, n)
    {
        for (int i = 0; i < 3; i++) {
            float x = body->x[(size_t)n * 4 + i];
            lower[i] = x < lower[i] ? x : lower[i];
            upper[i] = x > upper[i] ? x : upper[i];
        }
    }
    *low = (lm_vec3){lower[0], lower[1], lower[2]};
    *high = (lm_vec3){upper[0], upper[1], upper[2]};
}

void lmi_body_update_bounds(lmi_body *body)
{
    lmi_body_find_bounds(body, &body->lower, &body->upper);
    if (body->lattice) {
        lmi_lattice_bound_parts(body);
    }
}

void lmi_body_follow(lmi_body *body)
{
    double low[3] = {body->lower.x, body->lower.y, body->lower.z};
    double high[3] = {body->upper.x, body->upper.y, body->upper.z}, size = 1e-6, shift[3];
    bool far = false;
    for (int i = 0; i < 3; i++) {
        size = 0.5 * (high[i] - low[i]) > size ? 0.5 * (high[i] - low[i]) : size;
    }
    /* By whole multiples of a power of two, so that the origin's sum is exact and a body's path does not depend on where
     * in the world it runs. */
    int exponent;
    frexp(size, &exponent);
    double quantum = ldexp(1.0, exponent - 4);
    for (int i = 0; i < 3; i++) {
        double middle = 0.5 * (high[i] + low[i]);
        shift[i] = floor(middle / quantum + 0.5) * quantum;
        far = far || fabs(middle) > size;
    }
    if (!far) {
        return;
    }
    float by[3] = {(float)shift[0], (float)shift[1], (float)shift[2]};
    LMI_PARTICLES_EACH(body, n)
    {
        for (int i = 0; i < 3; i++) {
            body->x[(size_t)n * 4 + i] -= by[i];
        }
    }
    body->origin = dvec_add(body->origin, dvec(by[0], by[1], by[2]));
    body->lower.x -= by[0], body->lower.y -= by[1], body->lower.z -= by[2];
    body->upper.x -= by[0], body->upper.y -= by[1], body->upper.z -= by[2];
    if (body->lattice) {
        lmi_lattice_shift_parts(body->lattice, (lm_vec3){by[0], by[1], by[2]});
    }
}
