/*
 * Reading and writing the state of a body.
 */
#include "base/guard.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "gpu/look.h"
#include "lattice/lattice_members.h"
#include "lattice/lattice_motion.h"
#include "match/examples.h"
#include "octree/octree_body.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/world.h"

#include <string.h>

uint32_t lmi_body_regions(const lmi_body *body)
{
    return body->lattice ? body->lattice->shape.region_count : body->region_count;
}

uint64_t lmi_body_memberships(const lmi_body *body)
{
    return body->lattice  ? body->lattice->shape.membership_count
           : body->octree ? lmi_octree_body_regions(body, NULL, NULL)
                          : body->membership_count;
}

/* Sums over the particles that are here, from the body's origin. */
static void sum_particles(const lmi_body *body, lmi_look_sums *sums)
{
    lm_dvec3 first = lm_dvec3_zero(), momentum = lm_dvec3_zero(), angular = lm_dvec3_zero();
    double second[6] = {0}, energy = 0.0, fastest = 0.0;
    LMI_PARTICLES_EACH(body, n)
    {
        const float *px = body->x + (size_t)n * 4, *pv = body->v + (size_t)n * 4;
        lm_dvec3 x = dvec(px[0], px[1], px[2]), v = dvec(pv[0], pv[1], pv[2]);
        double m = body->mass[n], square = dvec_dot(v, v);
        first = dvec_add(first, dvec_scale(x, m));
        momentum = dvec_add(momentum, dvec_scale(v, m));
        angular = dvec_add(angular, dvec_scale(dvec_cross(x, v), m));
        second[0] += m * x.x * x.x, second[1] += m * x.y * x.y, second[2] += m * x.z * x.z;
        second[3] += m * x.x * x.y, second[4] += m * x.y * x.z, second[5] += m * x.z * x.x;
        energy += 0.5 * m * square;
        fastest = square > fastest ? square : fastest;
    }
    lm_vec3 lower, upper;
    lmi_body_find_bounds(body, &lower, &upper);
    *sums = (lmi_look_sums){body->origin, first,         momentum, angular, {0},
                            energy,       sqrt(fastest), lower,    upper,   body->contacts};
    memcpy(sums->second, second, sizeof second);
}

static void measure(const lmi_body *body, const lmi_look_sums *s, lm_body_info *info)
{
    double m = body->total_mass;
    const double *second = s->second;
    lm_dvec3 c = dvec_scale(s->first, 1.0 / m), angular = dvec_sub(s->angular, dvec_cross(c, s->momentum));
    double xx = second[0] - m * c.x * c.x, yy = second[1] - m * c.y * c.y, zz = second[2] - m * c.z * c.z;
    double inertia[6] = {
        yy + zz, zz + xx, xx + yy, m * c.x * c.y - second[3], m * c.y * c.z - second[4], m * c.z * c.x - second[5]};
    info->centre = dvec_add(s->origin, c);
    info->velocity = vec_from(dvec_scale(s->momentum, 1.0 / m));
    info->angular_momentum = vec_from(angular);
    info->spin = vec_from(lmi_dmat_solve_spin(inertia, angular));
    info->kinetic_energy = (float)s->energy;
    info->max_speed = (float)s->speed;
    info->lower = dvec_add(s->origin, dvec_from(s->lower));
    info->upper = dvec_add(s->origin, dvec_from(s->upper));
    info->contacts = s->contacts;
}

lm_result lm_body_get_info(const lm_world *world, lm_body_id id, lm_body_info *info)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_info");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_look_sums sums;
    if (!lmi_gpu_look_sums(world, body, &sums)) {
        sum_particles(body, &sums);
    }
    memset(info, 0, sizeof *info);
    info->particles = body->particle_count;
    info->regions = lmi_body_regions(body);
    info->memberships = lmi_body_memberships(body);
    info->tets = body->tet_count;
    info->octree_nodes = body->octree ? body->octree->tree.node_count : 0;
    info->summation_nodes = body->octree ? body->octree->tree.regions.item_count : 0;
    info->skin_vertices = body->skin.vertex_count;
    info->skin_triangles = body->skin.triangle_count;
    info->pieces = body->lattice  ? body->lattice->shape.part_count
                   : body->octree ? body->octree->part_count
                   : body->grain  ? body->grain->part_count
                                  : 1;
    info->broken_links = body->fracture ? body->fracture->broken : 0;
    info->examples = body->examples ? body->examples->count : 0;
    info->example_groups = body->examples ? body->examples->group_count : 0;
    info->examples_forced = body->examples && body->examples->forced;
    info->mass = (float)body->total_mass;
    measure(body, &sums, info);
    info->stiffness_limited = body->stiffness_limited;
    info->density = (float)(body->total_mass / body->volume);
    info->young = lmi_is_elastic(&body->material) ? (float)lmi_elastic_young(body) : 0.0f;
    info->reached_young = body->reached_young;
    double more = ceil(world->division * sqrt(body->beyond) * (1.0 - 1e-9));
    info->substeps_needed = !body->stiffness_limited ? (world->substeps ? world->substeps : world->division)
                            : more < 1e9             ? (uint32_t)more
                                                     : 1000000000u;
    info->reached_hertz = body->reached_hertz;
    info->spacing = body->lattice ? (float)body->lattice->shape.spacing : 0.0f;
    info->width = body->lattice ? body->lattice->shape.width : 0;
    info->contact_radius = body->contact_radius;
    info->contact_points = body->touch.count ? body->touch.count : body->particle_count;
    info->asleep = body->asleep;
    info->enabled = !body->disabled;
    info->user_data = body->user_data;
    info->shape_hash = body->shape_hash;
    return LM_OK;
}

lm_result lm_body_get_positions(const lm_world *world, lm_body_id id, lm_dvec3 base, lm_vec3 *positions)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_positions");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_look look;
    bool looked = lmi_gpu_look_body(world, body, false, &look);
    body = looked ? &look.body : body;
    lm_dvec3 from = dvec_sub(body->origin, base);
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        positions[body->order[n]] = vec_from(dvec_add(from, dvec(x[0], x[1], x[2])));
    }
    if (looked) {
        lmi_gpu_look_end(world, &look);
    }
    return LM_OK;
}

lm_result lm_body_view_state(const lm_world *world, lm_body_id id, lm_state_view *view)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_view_state");
    if (!body) {
        return LM_ERROR_ID;
    }
    *view = (lm_state_view){.positions = body->x,
                            .velocities = body->v,
                            .particles = body->order,
                            .places = body->place,
                            .place_count = body->place_count,
                            .origin = body->origin};
    return LM_OK;
}

lm_result lm_body_get_contact_points(const lm_world *world, lm_body_id id, lm_dvec3 base, lm_vec3 *positions)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_contact_points");
    if (!body) {
        return LM_ERROR_ID;
    }
    const lmi_touch *touch = &body->touch;
    if (touch->count == 0) {
        return lm_body_get_positions(world, id, base, positions);
    }
    lm_dvec3 from = dvec_sub(body->origin, base);
    for (uint32_t n = 0; n < touch->count; n++) {
        lm_dvec3 sum = from;
        for (uint32_t row = touch->first_row[n / LMI_BLOCK]; row < touch->first_row[n / LMI_BLOCK + 1]; row++) {
            size_t at = (size_t)row * LMI_BLOCK + n % LMI_BLOCK;
            const float *x = body->x + (size_t)touch->rider[at] * 4;
            sum = dvec_add(sum, dvec_scale(dvec(x[0], x[1], x[2]), touch->weight[at]));
        }
        positions[n] = vec_from(sum);
    }
    return LM_OK;
}

lm_result lm_body_get_velocities(const lm_world *world, lm_body_id id, lm_vec3 *velocities)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_velocities");
    if (!body) {
        return LM_ERROR_ID;
    }
    lmi_look look;
    bool looked = lmi_gpu_look_body(world, body, true, &look);
    body = looked ? &look.body : body;
    LMI_PARTICLES_EACH(body, n)
    {
        const float *v = body->v + (size_t)n * 4;
        lm_vec3 velocity = {v[0], v[1], v[2]};
        velocities[body->order[n]] = velocity;
    }
    if (looked) {
        lmi_gpu_look_end(world, &look);
    }
    return LM_OK;
}

lm_result lm_body_get_masses(const lm_world *world, lm_body_id id, float *masses)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_masses");
    if (!body) {
        return LM_ERROR_ID;
    }
    LMI_PARTICLES_EACH(body, n) { masses[body->order[n]] = body->mass[n]; }
    return LM_OK;
}

lm_result lm_body_get_rest_positions(const lm_world *world, lm_body_id id, lm_vec3 *points)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_rest_positions");
    if (!body) {
        return LM_ERROR_ID;
    }
    LMI_PARTICLES_EACH(body, n) { points[body->order[n]] = body->rest[n]; }
    return LM_OK;
}

lm_result lm_body_get_pieces(const lm_world *world, lm_body_id id, uint32_t *pieces)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_pieces");
    if (!body) {
        return LM_ERROR_ID;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        uint32_t particle = body->order[n];
        pieces[particle] = body->lattice  ? lmi_lattice_part_of(body, n)
                           : body->octree ? body->octree->part[particle]
                           : body->grain  ? body->grain->part[n]
                                          : 0;
    }
    return LM_OK;
}

lm_result lm_body_get_regions(const lm_world *world, lm_body_id id, uint32_t *offsets, uint32_t *members)
{
    const lmi_body *body = lmi_body_known(world, id, "lm_body_get_regions");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->lattice) {
        if (lmi_body_memberships(body) > UINT32_MAX) {
            return lmi_fail(world, LM_ERROR_LIMIT, "lm_body_get_regions: more memberships than offsets can tell");
        }
        lmi_lattice_regions(body, offsets, members);
        return LM_OK;
    }
    if (body->octree) {
        if (lmi_body_memberships(body) > UINT32_MAX) {
            return lmi_fail(world, LM_ERROR_LIMIT, "lm_body_get_regions: more memberships than offsets can tell");
        }
        lmi_octree_body_regions(body, offsets, members);
        return LM_OK;
    }
    for (uint32_t r = 0; offsets && r <= body->region_count; r++) {
        offsets[r] = body->region_offsets[r];
    }
    for (uint32_t n = 0; members && n < body->membership_count; n++) {
        members[n] = body->order[body->members[n]];
    }
    return LM_OK;
}

/* The goal that one region has for a rest position, from the transform of the last step. */
static lm_dvec3 region_goal(const lmi_pack *pack, const lmi_body *body, uint32_t region, lm_vec3 rest)
{
    uint32_t lane = pack->region_lane[body->first_region + region];
    const float *t = pack->transforms + (size_t)(lane / LMI_BLOCK) * LMI_MOMENTS * LMI_BLOCK + lane % LMI_BLOCK;
    lm_dvec3 q = lmi_region_local(&body->regions[region], rest);
    double f[9] = {q.x, q.y, q.z, q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x}, goal[3];
    bool quadratic = pack->block[lane / LMI_BLOCK].mode == LM_MODE_QUADRATIC;
    for (int i = 0; i < 3; i++) {
        goal[i] = t[(LMI_TRANSFORM_CONSTANT + i) * LMI_BLOCK];
        for (int j = 0; j < 3; j++) {
            goal[i] += t[(LMI_TRANSFORM_LINEAR + 3 * i + j) * LMI_BLOCK] * f[j];
        }
        for (int j = 0; quadratic && j < 6; j++) {
            goal[i] += t[(LMI_TRANSFORM_QUADRATIC + 6 * i + j) * LMI_BLOCK] * f[3 + j];
        }
    }
    return dvec(goal[0], goal[1], goal[2]);
}

lm_result lm_body_get_goals(const lm_world *world, lm_body_id id, lm_dvec3 base, lm_vec3 *goals)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_goals");
    if (!body) {
        return LM_ERROR_ID;
    }
    if (body->lattice) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_goals: a lattice keeps no goals");
    }
    if (body->octree) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_goals: an octree keeps no goals");
    }
    const lmi_batch *batch = body->batch == LMI_NONE ? NULL : &world->batches[body->batch];
    lm_dvec3 from = dvec_sub(body->origin, base);
    if (batch && !batch->dirty && !batch->pack.stepped && lmi_gpu_goals(world, body, from, goals)) {
        return LM_OK;
    }
    if (!batch || batch->dirty || !batch->pack.stepped) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_get_goals: there was no step since the body changed");
    }
    LMI_PARTICLES_EACH(body, n)
    {
        const float *x = body->x + (size_t)n * 4;
        goals[body->order[n]] = vec_from(x[3] > 0.0f ? lm_dvec3_zero() : dvec_add(from, dvec(x[0], x[1], x[2])));
    }
    for (uint32_t r = 0; r < body->region_count; r++) {
        for (uint32_t n = body->region_offsets[r]; n < body->region_offsets[r + 1]; n++) {
            uint32_t particle = body->members[n];
            float share = batch->pack.list_share[body->first + particle];
            lm_dvec3 goal = dvec_add(from, region_goal(&batch->pack, body, r, body->rest[particle]));
            lm_vec3 *out = &goals[body->order[particle]];
            out->x += share * (float)goal.x;
            out->y += share * (float)goal.y;
            out->z += share * (float)goal.z;
        }
    }
    return LM_OK;
}

static const char *state_fault(const lmi_body *body, const lm_vec3 *positions, const lm_vec3 *velocities)
{
    for (uint32_t n = 0; n < body->particle_count; n++) {
        const lm_vec3 *x = &positions[n];
        if (!(fabsf(x->x) <= LM_MAX_COORDINATE && fabsf(x->y) <= LM_MAX_COORDINATE &&
              fabsf(x->z) <= LM_MAX_COORDINATE)) {
            return "a position is not finite or beyond LM_MAX_COORDINATE";
        }
        if (velocities && !(fabsf(velocities[n].x) <= LM_MAX_SPEED && fabsf(velocities[n].y) <= LM_MAX_SPEED &&
                            fabsf(velocities[n].z) <= LM_MAX_SPEED)) {
            return "a velocity is not finite or above LM_MAX_SPEED";
        }
    }
    return NULL;
}

lm_result lm_body_set_state(lm_world *world, lm_body_id id, lm_dvec3 base, const lm_vec3 *positions,
                            const lm_vec3 *velocities)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_state");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = state_fault(known, positions, velocities);
    fault = dvec_is_finite(base) ? fault : "base is not finite";
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_state: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_STATE);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    body->origin = base; /* nothing is rounded; the next step brings the origin to the body */
    LMI_PARTICLES_EACH(body, n)
    {
        float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        lm_vec3 from = positions[body->order[n]];
        x[0] = from.x, x[1] = from.y, x[2] = from.z;
        if (velocities) {
            lm_vec3 velocity = velocities[body->order[n]];
            v[0] = velocity.x, v[1] = velocity.y, v[2] = velocity.z;
        }
    }
    if (body->lattice) {
        lmi_lattice_forget_drift(body->lattice);
    }
    lmi_body_update_bounds(body);
    lmi_skin_update(world, body);
    lmi_body_rouse(world, body);
    lmi_float_mode_leave(&host);
    return LM_OK;
}
