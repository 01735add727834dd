/*
 * Reads the bodies of a world and precomputes the inverse moments of their regions, in double precision: none of this is
 * timed.
 */
#include "plain_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Added to the diagonal of rest moments, as a share of their mean: regions of few points are singular. */
#define REGULARISATION 1e-6

/* Gauss-Jordan without pivoting: the matrices are positive definite. Both n x n, n up to 9; destroys M. */
static void invert(double *M, double *inverse, int n)
{
    for (int i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    for (int k = 0; k < n; k++) {
        double pivot = 1.0 / M[k * n + k];
        for (int j = 0; j < n; j++) {
            M[k * n + j] *= pivot;
            inverse[k * n + j] *= pivot;
        }
        for (int i = 0; i < n; i++) {
            double factor = M[i * n + k];
            if (i == k || factor == 0.0) continue;
            for (int j = 0; j < n; j++) {
                M[i * n + j] -= factor * M[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
}

/* The inverse of sum m q q^T over the first n of the nine coordinates. The lengths in q have different powers, so each
 * coordinate is first scaled to a moment of 1. */
static void inverse_moments(const plain_body *body, const plain_region *region, int n, float *result)
{
    double M[81] = {0.0}, inverse[81], scale[9];
    for (uint32_t i = 0; i < region->count; i++) {
        const plain_member *member = &body->members[region->first + i];
        double m = body->particles[member->particle].share, q[9];
        for (int a = 0; a < 9; a++) q[a] = a < 3 ? member->q[a] : body->products[region->first + i].q[a - 3];
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n; c++) M[r * n + c] += m * q[r] * q[c];
    }
    for (int r = 0; r < n; r++) scale[r] = M[r * n + r] > 0.0 ? 1.0 / sqrt(M[r * n + r]) : 0.0;
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) M[r * n + c] *= scale[r] * scale[c];
    for (int r = 0; r < n; r++) M[r * n + r] += REGULARISATION + (scale[r] == 0.0);
    invert(M, inverse, n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) result[r * n + c] = (float)(inverse[r * n + c] * scale[r] * scale[c]);
}

/* Rest positions about the weighted centre, then squares and products less their weighted means. */
static void place_members(plain_body *body, plain_region *region, const lm_vec3 *rest)
{
    double mass = 0.0, centre[3] = {0.0}, mean[6] = {0.0};
    for (uint32_t i = 0; i < region->count; i++) {
        uint32_t p = body->members[region->first + i].particle;
        double m = body->particles[p].share;
        mass += m;
        centre[0] += m * rest[p].x;
        centre[1] += m * rest[p].y;
        centre[2] += m * rest[p].z;
    }
    for (int a = 0; a < 3; a++) centre[a] /= mass;
    region->mass = (float)mass;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < region->count; i++) {
            plain_member *member = &body->members[region->first + i];
            lm_vec3 p = rest[member->particle];
            double x = p.x - centre[0], y = p.y - centre[1], z = p.z - centre[2];
            double product[6] = {x * x, y * y, z * z, x * y, y * z, z * x};
            double m = body->particles[member->particle].share / mass;
            for (int a = 0; a < 6 && pass == 0; a++) mean[a] += m * product[a];
            if (pass == 0) continue;
            member->q[0] = (float)x;
            member->q[1] = (float)y;
            member->q[2] = (float)z;
            for (int a = 0; a < 6; a++) body->products[region->first + i].q[a] = (float)(product[a] - mean[a]);
        }
    }
    inverse_moments(body, region, 3, region->Aqq);
    inverse_moments(body, region, 9, region->Aqq_large);
}

/* What is read from a body of the library, in its arrays. */
typedef struct body_arrays {
    lm_vec3 *rest, *positions, *velocities;
    float *masses;
    uint32_t *offsets, *members;
} body_arrays;

static void free_arrays(body_arrays *arrays)
{
    free(arrays->rest);
    free(arrays->positions);
    free(arrays->velocities);
    free(arrays->masses);
    free(arrays->offsets);
    free(arrays->members);
}

static bool read_arrays(const lm_world *world, lm_body_id id, const lm_body_info *info, body_arrays *arrays)
{
    size_t particles = info->particles, memberships = info->memberships ? info->memberships : 1;
    arrays->rest = malloc(particles * sizeof *arrays->rest);
    arrays->positions = malloc(particles * sizeof *arrays->positions);
    arrays->velocities = malloc(particles * sizeof *arrays->velocities);
    arrays->masses = malloc(particles * sizeof *arrays->masses);
    arrays->offsets = calloc((size_t)info->regions + 1, sizeof *arrays->offsets);
    arrays->members = malloc(memberships * sizeof *arrays->members);
    if (!arrays->rest || !arrays->positions || !arrays->velocities || !arrays->masses || !arrays->offsets ||
        !arrays->members)
        return false;
    lm_body_get_rest_positions(world, id, arrays->rest);
    lm_body_get_positions(world, id, lm_dvec3_zero(), arrays->positions);
    lm_body_get_velocities(world, id, arrays->velocities);
    lm_body_get_masses(world, id, arrays->masses);
    lm_body_get_regions(world, id, arrays->offsets, arrays->members);
    return true;
}

static bool fill_body(plain_body *body, const lm_body_info *info, const body_arrays *arrays)
{
    body->particles = calloc(info->particles, sizeof *body->particles);
    body->members = calloc(info->memberships ? info->memberships : 1, sizeof *body->members);
    body->products = calloc(info->memberships ? info->memberships : 1, sizeof *body->products);
    body->regions = calloc(info->regions ? info->regions : 1, sizeof *body->regions);
    if (!body->particles || !body->members || !body->products || !body->regions) return false;
    body->particle_count = info->particles;
    body->region_count = info->regions;
    for (uint32_t i = 0; i < info->memberships; i++) {
        body->members[i].particle = arrays->members[i];
        body->particles[arrays->members[i]].region_count += 1.0f;
    }
    for (uint32_t i = 0; i < info->particles; i++) {
        plain_particle *p = &body->particles[i];
        memcpy(p->x, &arrays->positions[i], sizeof p->x);
        memcpy(p->v, &arrays->velocities[i], sizeof p->v);
        p->mass = arrays->masses[i];
        p->share = p->region_count > 0.0f ? p->mass / p->region_count : 0.0f;
    }
    for (uint32_t r = 0; r < info->regions; r++) {
        body->regions[r].first = arrays->offsets[r];
        body->regions[r].count = arrays->offsets[r + 1] - arrays->offsets[r];
        place_members(body, &body->regions[r], arrays->rest);
    }
    return true;
}

static bool make_body(const lm_world *world, lm_body_id id, plain_body *body)
{
    lm_body_info info;
    body_arrays arrays = {0};
    lm_body_get_info(world, id, &info);
    lm_body_get_material(world, id, &body->material);
    bool made = read_arrays(world, id, &info, &arrays) && fill_body(body, &info, &arrays);
    free_arrays(&arrays);
    return made;
}

plain_world *plain_make(const lm_world *world)
{
    uint32_t count = lm_world_get_bodies(world, NULL, 0);
    lm_body_id *ids = malloc((count ? count : 1) * sizeof *ids);
    plain_world *plain = calloc(1, sizeof *plain);
    if (plain) plain->bodies = calloc(count ? count : 1, sizeof *plain->bodies);
    bool made = ids && plain && plain->bodies;
    if (made) {
        lm_world_get_bodies(world, ids, count);
        lm_vec3 gravity = lm_world_get_gravity(world);
        memcpy(plain->gravity, &gravity, sizeof plain->gravity);
        lm_stats stats;
        lm_world_get_stats(world, &stats);
        plain->substeps = stats.substeps;
        plain->body_count = count;
    }
    for (uint32_t i = 0; made && i < count; i++) made = make_body(world, ids[i], &plain->bodies[i]);
    free(ids);
    if (made) return plain;
    plain_free(plain);
    return NULL;
}

void plain_free(plain_world *plain)
{
    if (!plain) return;
    for (uint32_t i = 0; plain->bodies && i < plain->body_count; i++) {
        free(plain->bodies[i].particles);
        free(plain->bodies[i].members);
        free(plain->bodies[i].products);
        free(plain->bodies[i].regions);
    }
    free(plain->bodies);
    free(plain);
}

void plain_set_floor(plain_world *plain, bool floor) { plain->floor = floor; }

void plain_get_positions(const plain_world *plain, uint32_t body, lm_vec3 *positions)
{
    for (uint32_t i = 0; i < plain->bodies[body].particle_count; i++)
        memcpy(&positions[i], plain->bodies[body].particles[i].x, sizeof positions[i]);
}
