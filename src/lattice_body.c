/*
 * Bodies that are lattices: making them, their weights, and what a step needs to know of them as a whole.
 */
#include "base/guard.h"
#include "body.h"
#include "out/hash.h"
#include "step/lattice_motion.h"

#include <string.h>

/* A pinned particle weighs at most this many times the mean in the fit. More would make regions so slender that single
 * precision loses their other directions; a region is small, and this much holds it. */
#define MOST_HELD 1000.0

/* The frame follows the body when it is off by more than this, radians: it need not be exact, and as long as it stays what
 * it is, rounding stays the same too. */
#define FRAME_TOLERANCE 1e-3

uint32_t lmi_body_regions(const lmi_body *body)
{
    return body->lattice ? body->lattice->shape.region_count : body->region_count;
}

uint64_t lmi_body_memberships(const lmi_body *body)
{
    return body->lattice ? body->lattice->shape.membership_count : body->membership_count;
}

bool lmi_lattice_body_takes(const lm_material *material)
{
    return material->mode != LM_MODE_QUADRATIC && !(material->yield > 0.0f);
}

/* Regions come in the order of the caller's particles; repetitions are left out. */
void lmi_lattice_body_regions(const lmi_body *body, uint32_t *offsets, uint32_t *members)
{
    const lmi_lattice *l = &body->lattice->shape;
    uint32_t region = 0, used = 0;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t place = body->place[n], in[(2 * LMI_LATTICE_MAX_WIDTH + 1) * (2 * LMI_LATTICE_MAX_WIDTH + 1) *
                                            (2 * LMI_LATTICE_MAX_WIDTH + 1)];
        if (!(l->active[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1)) {
            continue;
        }
        uint32_t count = lmi_lattice_region(l, place, in);
        for (uint32_t k = 0; members && k < count; k++) {
            members[used + k] = body->order[in[k]];
        }
        if (offsets) {
            offsets[region++] = used;
        }
        used += count;
    }
    if (offsets) {
        offsets[region] = used;
    }
}

/* --- making --- */

static const char *lattice_fault(const lm_lattice *def)
{
    if (def->width < 1 || def->width > LMI_LATTICE_MAX_WIDTH) {
        return "the lattice's width must be 1 to 8";
    }
    if (def->vertices && def->cells) {
        return "a lattice is made from a mesh or from cells, not both";
    }
    if (!def->cells) {
        return NULL; /* the voxeliser checks the rest */
    }
    if (!(def->spacing > 0.0f && def->spacing <= 1e6f)) {
        return "with cells the lattice's spacing must be above 0 and at most 1e6 m";
    }
    const float first[3] = {def->first.x, def->first.y, def->first.z};
    uint64_t cells = 1;
    for (int a = 0; a < 3; a++) {
        if (def->counts[a] < 1 || def->counts[a] > LMI_VOXEL_MAX_AXIS) {
            return "the lattice's counts must be 1 to 65536";
        }
        cells *= def->counts[a];
        if (!(fabsf(first[a]) <= LM_MAX_COORDINATE)) {
            return "the lattice's first corner is not finite or beyond LM_MAX_COORDINATE";
        }
    }
    return cells <= (uint64_t)LMI_VOXEL_MAX_WORDS * 64 ? NULL : "the lattice has more than 2^31 cells";
}

static lm_result copy_cells(lm_world *world, const lm_lattice *def, lmi_voxels *voxels)
{
    lmi_voxels v = {.spacing = def->spacing,
                    .first = dvec_from(def->first),
                    .n = {def->counts[0], def->counts[1], def->counts[2]},
                    .row_words = (def->counts[0] + 63) / 64};
    v.bits = lmi_allocate(&world->memory, (size_t)v.row_words * v.n[1] * v.n[2], sizeof *v.bits);
    if (!v.bits) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    for (size_t row = 0; row < (size_t)v.n[1] * v.n[2]; row++) {
        for (uint32_t x = 0; x < v.n[0]; x++) {
            uint64_t is = def->cells[row * v.n[0] + x] != 0;
            v.bits[row * v.row_words + x / 64] |= is << (x % 64);
            v.cell_count += is;
        }
    }
    *voxels = v;
    return LM_OK;
}

static lm_result make_voxels(lm_world *world, const lm_lattice *def, lmi_voxels *voxels)
{
    char fault[LMI_VOXEL_FAULT_SIZE];
    memset(voxels, 0, sizeof *voxels);
    if (def->cells) {
        return copy_cells(world, def, voxels);
    }
    lmi_voxel_def mesh = {.vertices = def->vertices,
                          .vertex_count = def->vertex_count,
                          .triangles = def->triangles,
                          .triangle_count = def->triangle_count,
                          .spacing = def->spacing,
                          .particles = def->particles,
                          .shell = def->shell};
    lm_result result = lmi_voxels_make(&world->memory, &mesh, voxels, fault);
    return result == LM_OK ? LM_OK : lmi_fail(world, result, "lm_body_create: %s", fault);
}

static void number_particles(lmi_body *body)
{
    const lmi_lattice *l = &body->lattice->shape;
    uint32_t count = 0;
    for (uint32_t n = 0; n < body->place_count; n++) {
        body->order[n] = LMI_NONE;
    }
    for (uint32_t z = 0; z <= l->cells[2]; z++) {
        for (uint32_t y = 0; y <= l->cells[1]; y++) {
            for (uint32_t x = 0; x <= l->cells[0]; x++) {
                int32_t at[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
                uint32_t t = l->turn, place = lmi_lattice_find(l, at[t % 3], at[(1 + t) % 3], at[(2 + t) % 3]);
                if (place != LMI_LATTICE_NONE) {
                    body->order[place] = count;
                    body->place[count++] = place;
                }
            }
        }
    }
}

/* Far out in eight directions, so that they tell how the body is turned. */
static void choose_samples(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        double best = -INFINITY;
        LMI_PARTICLES_EACH(body, n)
        {
            lm_vec3 p = body->rest[n];
            double along = (k & 1 ? p.x : -p.x) + (k & 2 ? p.y : -p.y) + (k & 4 ? p.z : -p.z);
            if (along > best) {
                best = along;
                lattice->samples[k] = n;
            }
        }
    }
}

/* What follows from the masses. */
static void derive_masses(lmi_body *body)
{
    double middle[3] = {0};
    body->total_mass = 0.0;
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        body->total_mass += body->mass[n];
        lmi_lattice_corner(&body->lattice->shape, n, corner);
        for (int a = 0; a < 3; a++) {
            middle[a] += corner[a] * (double)body->mass[n];
        }
    }
    for (int a = 0; a < 3; a++) {
        body->lattice->middle[a] = (float)(middle[a] / body->total_mass);
    }
    body->mean_mass = body->total_mass / body->particle_count;
    LMI_PARTICLES_EACH(body, n) { body->v[(size_t)n * 4 + 3] = (float)(body->mass[n] / body->mean_mass); }
}

lm_result lmi_lattice_body_allocate(lm_world *world, lmi_body *body, const lmi_voxels *cells, uint32_t width)
{
    body->lattice = lmi_allocate(&world->memory, 1, sizeof *body->lattice);
    if (!body->lattice) {
        return LM_ERROR_MEMORY;
    }
    lmi_lattice *l = &body->lattice->shape;
    lm_result result = lmi_lattice_make(&world->memory, cells, width, l);
    if (result != LM_OK) {
        return result;
    }
    if (world->particles + ((uint64_t)l->block_count + 1) * LMI_BLOCK > LM_MAX_PARTICLES) {
        return LM_ERROR_LIMIT;
    }
    body->particle_count = l->particle_count;
    body->place_count = (l->block_count + 1) * LMI_BLOCK;
    body->lattice->sums = lmi_allocate(&world->memory, 2 * (size_t)l->slab_count, sizeof *body->lattice->sums);
    if (!lmi_body_allocate(world, body) || !body->lattice->sums) {
        return LM_ERROR_MEMORY;
    }
    number_particles(body);
    body->reference = body->place[0];
    LMI_PARTICLES_EACH(body, n) { body->rest[n] = vec_from(lmi_lattice_rest(l, n)); }
    body->rest_size = lmi_body_rest_size(body);
    choose_samples(body);
    return LM_OK;
}

bool lmi_lattice_body_revive(lm_world *world, lmi_body *body, const bool *held)
{
    derive_masses(body);
    return lmi_lattice_body_weigh(world, body, held);
}

/* From the lattice's axes to the body's, then to the world's. */
static void start_frame(lmi_body *body, const lm_body_def *def)
{
    dmat3 rotation = dmat_from_quat(def->pose.rotation);
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t axis = (a + body->lattice->shape.turn) % 3;
        for (int i = 0; i < 3; i++) {
            body->lattice->frame.m[i][a] = rotation.m[i][axis];
        }
    }
}

static lm_result fill(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    const char *fault = def->masses ? lmi_body_mass_fault(def->masses, body->particle_count) : NULL;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    body->material = def->material;
    body->contact_radius = def->contact_radius;
    body->contact_points = def->contact_points;
    body->group = def->group;
    body->mask = def->mask;
    body->self_contact = def->self_contact;
    body->user_data = def->user_data;
    LMI_PARTICLES_EACH(body, n)
    {
        body->mass[n] = def->masses ? def->masses[body->order[n]] : def->mass / (float)body->particle_count;
    }
    derive_masses(body);
    start_frame(body, def);
    lmi_body_place(body, def);
    body->shape_hash = lmi_hash_shape(body);
    bool ok = lmi_lattice_body_weigh(world, body, NULL);
    lmi_touch_mesh mesh = {0};
    if (ok && def->lattice.vertices && def->contact_points != LM_CONTACT_PARTICLES) {
        mesh = (lmi_touch_mesh){def->lattice.vertices, def->lattice.triangles, def->lattice.vertex_count,
                                def->lattice.triangle_count};
        ok = lmi_touch_make(world, body, &mesh, &body->touch);
    }
    ok = ok && lmi_body_make_bulk(world, body, &mesh);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
}

lm_result lmi_lattice_body_make(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    const char *fault = lattice_fault(&def->lattice);
    if (!fault && !lmi_lattice_body_takes(&def->material)) {
        fault = "a lattice is rigid or linear, and not plastic";
    }
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    lmi_voxels voxels;
    lm_result result = make_voxels(world, &def->lattice, &voxels);
    if (result != LM_OK) {
        return result;
    }
    result = lmi_lattice_body_allocate(world, body, &voxels, def->lattice.width);
    lmi_voxels_free(&world->memory, &voxels);
    if (result != LM_OK) {
        return lmi_fail(world, result, "lm_body_create: %s",
                        result == LM_ERROR_ARGUMENT ? "the lattice has no cells" : lm_result_text(result));
    }
    return fill(world, body, def);
}

void lmi_lattice_body_free(lm_world *world, lmi_body *body)
{
    if (body->lattice) {
        lmi_release(&world->memory, body->lattice->sums, 2 * (size_t)body->lattice->shape.slab_count,
                    sizeof *body->lattice->sums);
        lmi_lattice_free(&world->memory, &body->lattice->shape);
        lmi_release(&world->memory, body->lattice, 1, sizeof *body->lattice);
        body->lattice = NULL;
    }
}

bool lmi_lattice_body_weigh(lm_world *world, lmi_body *body, const bool *held)
{
    lmi_lattice *l = &body->lattice->shape;
    double *weights = lmi_allocate(&world->memory, body->place_count, sizeof *weights);
    if (!weights) {
        return false;
    }
    LMI_PARTICLES_EACH(body, n)
    {
        double mass = body->mass[n] / body->mean_mass, most = fmin(MOST_HELD, body->total_mass / body->mean_mass);
        mass = held && held[n] ? fmax(mass, most) : mass;
        weights[n] = (double)(float)(mass / l->degree[n]);
    }
    bool ok = lmi_lattice_weigh(&world->memory, l, weights, NULL, body->material.mode == LM_MODE_LINEAR);
    if (ok) {
        LMI_PARTICLES_EACH(body, n) { body->x[(size_t)n * 4 + 3] = (float)weights[n]; }
    }
    lmi_release(&world->memory, weights, body->place_count, sizeof *weights);
    return ok;
}

/* --- the body as a whole --- */

/* Turns the frame after the body, when it is off by more than a little: one step of the rotation that brings the rest
 * positions of the samples nearest to where they are (Müller et al. 2016). */
static void follow_frame(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    double s = lattice->shape.spacing, along = 1e-30;
    lm_dvec3 mean = lm_dvec3_zero(), rest_mean = mean, turn = mean, rest[LMI_LATTICE_SAMPLES], at[LMI_LATTICE_SAMPLES];
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        const float *x = body->x + (size_t)lattice->samples[k] * 4;
        int32_t corner[3];
        lmi_lattice_corner(&lattice->shape, lattice->samples[k], corner);
        at[k] = dvec(x[0], x[1], x[2]);
        rest[k] = dmat_apply(&lattice->frame, dvec(s * corner[0], s * corner[1], s * corner[2]));
        mean = dvec_add(mean, dvec_scale(at[k], 1.0 / LMI_LATTICE_SAMPLES));
        rest_mean = dvec_add(rest_mean, dvec_scale(rest[k], 1.0 / LMI_LATTICE_SAMPLES));
    }
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        lm_dvec3 r = dvec_sub(rest[k], rest_mean), p = dvec_sub(at[k], mean);
        turn = dvec_add(turn, dvec_cross(r, p));
        along += fabs(dvec_dot(r, p));
    }
    turn = dvec_scale(turn, 1.0 / along);
    if (!(dvec_length(turn) > FRAME_TOLERANCE)) {
        return;
    }
    dmat3 by = dmat_from_rotation_vector(dvec_limit(turn, 1.0)), next = dmat_multiply(&by, &lattice->frame);
    lm_quat q = quat_from_dmat(&next); /* so that rounding does not shear the frame over the hours */
    lattice->frame = dmat_from_quat(q);
}

void lmi_lattice_prepare(const lmi_step *step, lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    lmi_lattice_step *to = &lattice->step;
    double s = lattice->shape.spacing;
    follow_frame(body);
    memset(to, 0, sizeof *to);
    to->lattice = &lattice->shape;
    to->x = body->x;
    to->v = body->v;
    for (int i = 0; i < 9; i++) {
        to->inverse[i] = (float)(lattice->frame.m[i % 3][i / 3] / s);
        to->forward[i] = (float)(lattice->frame.m[i / 3][i % 3] * s);
    }
    memcpy(to->middle, lattice->middle, sizeof to->middle);
    to->h = (float)step->h;
    to->rate = (float)fmin(body->alpha / step->h, 1e30);
    to->damping = body->damping;
    to->centre = body->motion.centre;
    to->velocity = to->carry = body->motion.velocity;
    to->spin = body->motion.spin;
    to->stretch = body->material.mode == LM_MODE_LINEAR;
    to->beta = body->material.beta;
}

void lmi_lattice_conclude(lmi_body *body)
{
    lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice_step *s = &lattice->step;
    double pull[6] = {0};
    float lower[3] = {3e38f, 3e38f, 3e38f}, upper[3] = {-3e38f, -3e38f, -3e38f};
    for (uint32_t n = 0; n < 2 * lattice->shape.slab_count; n++) {
        for (int i = 0; i < 6; i++) {
            pull[i] += lattice->sums[n].pull[i];
        }
        for (int a = 0; a < 3; a++) {
            lower[a] = fminf(lower[a], lattice->sums[n].lower[a]);
            upper[a] = fmaxf(upper[a], lattice->sums[n].upper[a]);
        }
    }
    body->lower = (lm_vec3){lower[0], lower[1], lower[2]};
    body->upper = (lm_vec3){upper[0], upper[1], upper[2]};
    lm_dvec3 net = dvec_scale(dvec(pull[0], pull[1], pull[2]), s->rate);
    lm_dvec3 turn = dvec_scale(dvec(pull[3], pull[4], pull[5]), s->rate);
    lattice->drift_centre = body->motion.centre;
    lattice->drift_velocity = lattice->drift_spin = (lm_vec3){0.0f, 0.0f, 0.0f};
    if (body->first_pin == LMI_NONE) {
        lmi_motion_of(&body->motion, net, turn, &lattice->drift_velocity, &lattice->drift_spin);
    } else {
        body->outside_impulse = dvec_add(body->outside_impulse, dvec_scale(net, body->mean_mass));
    }
    /* The origin has gone along, so that a body that only travels does not move within it, and nothing is rounded. */
    body->origin = dvec_add(body->origin, dvec_scale(dvec_from(s->carry), s->h));
}
