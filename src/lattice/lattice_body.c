/*
 * Bodies that are lattices: making them, equipping them for their material, and freeing them.
 */
#include "base/dmath.h"
#include "base/guard.h"
#include "base/hash.h"
#include "lattice/lattice_members.h"
#include "lattice/lattice_motion.h"
#include "world/body.h"
#include "world/elastic.h"

#include <string.h>

/* Of a lattice, metres; and of its corners from the body's origin, in spacings. */
#define LEAST_SPACING (double)1e-9f
#define MOST_SPACING 1e6
#define MOST_SPACINGS 4194304.0

/* The elastic energy of a strain goes with omega² width (width + 1) spacing²: the variance of a cube of corners, times the
 * pull of its region. An ideal region of half-width W has W² in place of the last two. */
double lmi_lattice_body_pace(const lmi_body *body)
{
    if (!body->lattice || !(body->lattice->width_metres > 0.0f)) {
        return 1.0;
    }
    double width = body->lattice->shape.width, spacing = body->lattice->shape.spacing;
    return body->lattice->width_metres / (spacing * sqrt(width * (width + 1.0)));
}

const char *lmi_lattice_body_fault(const lm_material *material)
{
    return material->mode == LM_MODE_QUADRATIC ? "a lattice is rigid or linear; it bends by its many regions" : NULL;
}

/* --- making --- */

static const char *lattice_fault(const lm_lattice *def)
{
    if (def->width > LMI_LATTICE_MAX_WIDTH) {
        return "the lattice's width must be 0 to 8";
    }
    if (!(def->width_metres >= 0.0f && def->width_metres <= 1e6f)) {
        return "the lattice's width_metres must be 0 to 1e6 m";
    }
    if ((unsigned)def->mass >= LM_LATTICE_MASS_COUNT) {
        return "the lattice's mass is not one of lm_lattice_mass";
    }
    if (def->vertex_masses && !def->vertices) {
        return "a lattice of cells has no vertices that vertex_masses could belong to";
    }
    for (uint32_t n = 0; def->vertex_masses && n < def->vertex_count; n++) {
        if (!(def->vertex_masses[n] > 0.0f && def->vertex_masses[n] <= 1e12f)) {
            return "every one of vertex_masses must be above 0 and at most 1e12";
        }
    }
    if (def->vertices && def->cells) {
        return "a lattice is made from a mesh or from cells, not both";
    }
    if (!def->cells) {
        return NULL; /* the voxeliser checks the rest */
    }
    uint64_t words = 1;
    for (int a = 0; a < 3; a++) {
        if (def->counts[a] < 1 || def->counts[a] > LMI_VOXEL_MAX_AXIS) {
            return "the lattice's counts must be 1 to 65536";
        }
        words *= a == 0 ? (def->counts[a] + 63) / 64 : def->counts[a];
    }
    return words <= LMI_VOXEL_MAX_WORDS ? NULL : "the lattice has more than 2^31 cells, rows counted in 64s";
}

/* Whether single precision can tell the corners apart where they are. */
static const char *place_fault(const lmi_voxels *v)
{
    const double first[3] = {v->first.x, v->first.y, v->first.z};
    if (!(v->spacing >= LEAST_SPACING && v->spacing <= MOST_SPACING)) {
        return "the lattice's spacing must be 1e-9 to 1e6 m";
    }
    for (int a = 0; a < 3; a++) {
        double farthest = fmax(fabs(first[a]), fabs(first[a] + v->n[a] * v->spacing));
        if (!(farthest <= (double)LM_MAX_COORDINATE)) {
            return "the lattice is not finite or beyond LM_MAX_COORDINATE";
        }
        if (farthest > MOST_SPACINGS * v->spacing) {
            return "the lattice is more than 2^22 spacings from its origin";
        }
    }
    return NULL;
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

/* The first particle of each part; returns the part with most particles. `sums[0]` counts them. */
static uint32_t start_parts(lmi_body *body)
{
    lmi_lattice_part *part = body->lattice->part;
    uint32_t largest = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        lmi_lattice_part *mine = &part[lmi_lattice_part_of(body, n)];
        mine->reference = mine->sums[0] == 0.0 ? n : mine->reference;
        mine->sums[0] += 1.0;
    }
    for (uint32_t n = 1; n < body->lattice->shape.part_count; n++) {
        largest = part[n].sums[0] > part[largest].sums[0] ? n : largest;
    }
    return largest;
}

/* Far out in eight directions, so that they tell how the body (or its largest part) is turned. */
static void choose_samples(lmi_body *body, uint32_t part)
{
    lmi_lattice_body *lattice = body->lattice;
    for (int k = 0; k < LMI_LATTICE_SAMPLES; k++) {
        double best = -INFINITY;
        LMI_PARTICLES_EACH(body, n)
        {
            if (lmi_lattice_part_of(body, n) != part) {
                continue;
            }
            lm_vec3 p = body->rest[n];
            double along = (k & 1 ? p.x : -p.x) + (k & 2 ? p.y : -p.y) + (k & 4 ? p.z : -p.z);
            if (along > best) {
                best = along;
                lattice->samples[k] = n;
            }
        }
    }
}

void lmi_lattice_body_start_parts(lmi_body *body) { choose_samples(body, start_parts(body)); }

lm_result lmi_lattice_body_allocate(lm_world *world, lmi_body *body, const lmi_voxels *cells, uint32_t width)
{
    if (cells->cell_count == 0 || place_fault(cells)) {
        return LM_ERROR_ARGUMENT;
    }
    body->lattice = lmi_allocate(&world->memory, 1, sizeof *body->lattice);
    if (!body->lattice) {
        return LM_ERROR_MEMORY;
    }
    lmi_lattice *l = &body->lattice->shape;
    lmi_lattice_scheme scheme = world->gpu ? LMI_LATTICE_LISTS : LMI_LATTICE_QUICKEST; /* a device has no plates */
    const lmi_lattice_breaks none = {0}; /* cells without one of their corners are torn */
    lm_result result = lmi_lattice_make(&world->memory, cells, width, scheme, cells->absent_count ? &none : NULL, l);
    if (result != LM_OK) {
        return result;
    }
    if (world->particles + ((uint64_t)l->block_count + 1) * LMI_BLOCK > LM_MAX_PARTICLES) {
        return LM_ERROR_LIMIT;
    }
    body->particle_count = l->particle_count;
    body->place_count = (l->block_count + 1) * LMI_BLOCK;
    lmi_lattice_body *lattice = body->lattice;
    lattice->sums = lmi_allocate(&world->memory, lmi_lattice_sums_count(l), sizeof *lattice->sums);
    lattice->part = lmi_allocate(&world->memory, l->part_count, sizeof *lattice->part);
    lattice->motion = lmi_allocate(&world->memory, l->part_count, sizeof *lattice->motion);
    if (!lmi_body_allocate(world, body) || !lattice->sums || !lattice->part || !lattice->motion) {
        return LM_ERROR_MEMORY;
    }
    number_particles(body);
    body->reference = body->place[0];
    LMI_PARTICLES_EACH(body, n) { body->rest[n] = vec_from(lmi_lattice_rest(l, n)); }
    body->rest_size = lmi_body_rest_size(body);
    lmi_lattice_body_start_parts(body);
    return LM_OK;
}

/* --- plastic bodies, and regional damping --- */

static size_t plastic_blocks(const lmi_body *body) { return (size_t)body->lattice->shape.block_count + 1; }

static void free_plastic(lm_world *world, const lmi_body *body, lmi_lattice_plastic *plastic)
{
    lmi_release(&world->memory, plastic->state, plastic_blocks(body) * 6 * LMI_BLOCK, sizeof *plastic->state);
    lmi_release(&world->memory, plastic->flowed, plastic_blocks(body), sizeof *plastic->flowed);
    plastic->state = NULL;
    plastic->flowed = NULL;
}

static void free_moments(lm_world *world, const lmi_body *body, float *moments)
{
    size_t count = ((size_t)body->lattice->shape.irregular_count + 1) * LMI_BLOCK;
    lmi_release(&world->memory, moments, count, sizeof *moments);
}

bool lmi_lattice_body_allocate_extras(lm_world *world, lmi_body *body, const lm_material *material)
{
    lmi_lattice_body *lattice = body->lattice;
    bool plastic = !lattice->plastic.state && (body->plastic_material || material->yield > 0.0f);
    bool regional = !lattice->velocity_moments && material->damping_kind == LM_DAMPING_REGIONAL;
    lmi_lattice_plastic more = lattice->plastic;
    float *moments = lattice->velocity_moments;
    if (plastic) {
        more.state = lmi_allocate(&world->memory, plastic_blocks(body) * 6 * LMI_BLOCK, sizeof *more.state);
        more.flowed = lmi_allocate(&world->memory, plastic_blocks(body), sizeof *more.flowed);
    }
    if (regional) {
        size_t count = ((size_t)lattice->shape.irregular_count + 1) * LMI_BLOCK;
        moments = lmi_allocate(&world->memory, count, sizeof *moments);
    }
    if ((plastic && !(more.state && more.flowed)) || (regional && !moments)) {
        if (plastic) {
            free_plastic(world, body, &more);
        }
        if (regional) {
            free_moments(world, body, moments);
        }
        return false;
    }
    lattice->plastic = more;
    lattice->velocity_moments = moments;
    if (plastic) {
        lmi_lattice_body_reset_plastic(body);
    }
    return true;
}

bool lmi_lattice_body_equip(lm_world *world, lmi_body *body, const lm_material *material)
{
    lmi_lattice_body *lattice = body->lattice;
    const lm_material before = body->material;
    const bool was_plastic = body->plastic_material, had_state = lattice->plastic.state != NULL;
    const bool had_moments = lattice->velocity_moments != NULL;
    if (!lmi_lattice_body_allocate_extras(world, body, material)) {
        return false;
    }
    body->material = *material;
    body->plastic_material = was_plastic || material->yield > 0.0f;
    lmi_lattice_wants old = lmi_lattice_wants_of(&before, was_plastic || body->examples),
                      now = lmi_lattice_wants_of(material, body->plastic_material || body->examples);
    bool ok = (old.stretch == now.stretch && old.affine == now.affine) || lmi_body_update_pinned(world, body);
    body->material = before;
    body->plastic_material = was_plastic;
    if (!ok && !had_state) {
        free_plastic(world, body, &lattice->plastic);
    }
    if (!ok && !had_moments) {
        free_moments(world, body, lattice->velocity_moments);
        lattice->velocity_moments = NULL;
    }
    return ok;
}

float *lmi_lattice_body_plastic(const lmi_body *body, uint32_t place)
{
    float *state = body->lattice->plastic.state;
    return state ? state + (size_t)(place / LMI_BLOCK) * 6 * LMI_BLOCK + place % LMI_BLOCK : NULL;
}

void lmi_lattice_body_reset_plastic(lmi_body *body)
{
    const lmi_lattice_plastic *plastic = &body->lattice->plastic;
    for (size_t n = 0; plastic->state && n < plastic_blocks(body); n++) {
        for (size_t i = 0; i < 6 * LMI_BLOCK; i++) {
            plastic->state[n * 6 * LMI_BLOCK + i] = i < 3 * LMI_BLOCK ? 1.0f : 0.0f;
        }
        plastic->flowed[n] = 0;
    }
}

/* From the lattice's axes to the body's. */
void lmi_lattice_body_get_plastic(const lmi_body *body, float *matrices)
{
    static const int six[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const lmi_lattice *l = &body->lattice->shape;
    for (uint32_t n = 0; n < body->particle_count; n++) {
        uint32_t place = body->place[n];
        if (!(l->active[place / LMI_BLOCK] >> (place % LMI_BLOCK) & 1)) {
            continue;
        }
        const float *at = lmi_lattice_body_plastic(body, place);
        for (uint32_t i = 0; i < 9; i++) {
            uint32_t row = (i / 3 + l->turn) % 3, column = (i % 3 + l->turn) % 3;
            matrices[row * 3 + column] = at ? at[six[i / 3][i % 3] * LMI_BLOCK] : row == column ? 1.0f : 0.0f;
        }
        matrices += 9;
    }
}

/* Which blocks have flowed, after their state was read. */
void lmi_lattice_body_find_flowed(lmi_body *body)
{
    const lmi_lattice_plastic *plastic = &body->lattice->plastic;
    for (size_t n = 0; plastic->state && n < plastic_blocks(body); n++) {
        plastic->flowed[n] = 0;
    }
    for (size_t n = 0; plastic->state && n < plastic_blocks(body) * 6 * LMI_BLOCK; n++) {
        bool rest = plastic->state[n] == (n % (6 * LMI_BLOCK) < 3 * LMI_BLOCK ? 1.0f : 0.0f);
        plastic->flowed[n / (6 * LMI_BLOCK)] |= !rest;
    }
}

bool lmi_lattice_body_revive(lm_world *world, lmi_body *body, const bool *held)
{
    lmi_lattice_body_find_flowed(body);
    return lmi_lattice_body_derive_masses(world, body) && lmi_lattice_body_weigh(world, body, held);
}

/* From the lattice's axes to the body's, then to the world's. */
static void start_frame(lmi_body *body, const lm_body_def *def)
{
    dmat3 rotation = lmi_dmat_from_quat(def->pose.rotation);
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t axis = (a + body->lattice->shape.turn) % 3;
        for (int i = 0; i < 3; i++) {
            body->lattice->frame.m[i][a] = rotation.m[i][axis];
        }
    }
}

/* The masses of the particles; shares are made in body->mass before they are scaled. */
static lm_result fill(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    lm_result result = lmi_lattice_body_spread_mass(world, body, def);
    if (result != LM_OK) {
        return result;
    }
    body->material = def->material;
    body->plastic_material = def->material.yield > 0.0f;
    lmi_body_take_def(body, def);
    body->lattice->width_metres = def->lattice.width_metres;
    if (!lmi_lattice_body_derive_masses(world, body)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
    }
    start_frame(body, def);
    lmi_body_place(body, def);
    body->shape_hash = lmi_hash_shape(body);
    bool ok =
        lmi_lattice_body_allocate_extras(world, body, &body->material) && lmi_lattice_body_weigh(world, body, NULL);
    lmi_touch_mesh mesh = {0};
    if (ok && def->lattice.vertices && def->contact_points != LM_CONTACT_PARTICLES) {
        mesh = (lmi_touch_mesh){def->lattice.vertices, def->lattice.triangles, def->lattice.vertex_count,
                                def->lattice.triangle_count};
        ok = lmi_touch_make(world, body, &mesh, &body->touch);
    }
    ok = ok && lmi_body_make_bulk(world, body, &mesh);
    return ok ? LM_OK : lmi_fail(world, LM_ERROR_MEMORY, "lm_body_create: out of memory");
}

/* The usual half-width of regions over the side of a cube of the body's volume. */
#define USUAL_WIDTH 0.12

static uint32_t width_in_steps(const lm_body_def *body, const lmi_voxels *voxels)
{
    const lm_lattice *def = &body->lattice;
    double steps = def->width_metres / voxels->spacing + 0.5;
    if (!(def->width_metres > 0.0f)) {
        if (def->width > 0 || !lmi_is_elastic(&body->material)) {
            return def->width > 0 ? def->width : 1;
        }
        steps = USUAL_WIDTH * lmi_exp(lmi_log((double)voxels->cell_count) / 3.0) + 0.5;
    }
    return steps < 1.0 ? 1 : steps > LMI_LATTICE_MAX_WIDTH ? LMI_LATTICE_MAX_WIDTH : (uint32_t)steps;
}

lm_result lmi_lattice_body_make(lm_world *world, lmi_body *body, const lm_body_def *def)
{
    const char *fault = lattice_fault(&def->lattice);
    fault = fault ? fault : lmi_lattice_body_fault(&def->material);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_create: %s", fault);
    }
    lmi_voxels voxels;
    lm_result result = make_voxels(world, &def->lattice, &voxels);
    if (result != LM_OK) {
        return result;
    }
    fault = place_fault(&voxels);
    fault = voxels.cell_count ? fault : "the lattice has no cells";
    uint32_t width = fault ? 1 : width_in_steps(def, &voxels);
    result = lmi_lattice_body_allocate(world, body, &voxels, width);
    body->volume = (double)voxels.cell_count * voxels.spacing * voxels.spacing * voxels.spacing;
    lmi_voxels_free(&world->memory, &voxels);
    if (result != LM_OK) {
        return lmi_fail(world, result, "lm_body_create: %s",
                        result == LM_ERROR_ARGUMENT ? fault : lm_result_text(result));
    }
    return fill(world, body, def);
}

void lmi_lattice_body_free(lm_world *world, lmi_body *body)
{
    if (body->lattice) {
        lmi_lattice_body *lattice = body->lattice;
        uint32_t parts = lattice->shape.part_count;
        lmi_release(&world->memory, lattice->sums, lmi_lattice_sums_count(&lattice->shape), sizeof *lattice->sums);
        lmi_release(&world->memory, lattice->part, parts, sizeof *lattice->part);
        lmi_release(&world->memory, lattice->motion, parts, sizeof *lattice->motion);
        free_plastic(world, body, &lattice->plastic);
        free_moments(world, body, lattice->velocity_moments);
        lmi_lattice_free(&world->memory, &body->lattice->shape);
        lmi_release(&world->memory, body->lattice, 1, sizeof *body->lattice);
        body->lattice = NULL;
    }
}
