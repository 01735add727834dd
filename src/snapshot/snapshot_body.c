/*
 * The structure of bodies in snapshots: what steps leave alone, from which all else of a body is made again. What steps and setters change
 * is state (snapshot_state.c).
 */
#include "base/compiler.h"
#include "fracture/fracture.h"
#include "match/examples.h"
#include "octree/octree_body.h"
#include "skin/skin.h"
#include "snapshot/archive.h"
#include "tets/tets.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/in_step.h"

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

void lmi_visit_stiffness(archive *a, lm_world *world, lmi_body *body)
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
    uint32_t poses = e.particle_count;
    visit_count(a, &poses, (size_t)e.count * 12); /* before room is made for them */
    refuse_if(a, poses != e.particle_count || e.region_count == 0 || e.group_count < 1 ||
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

/* Corners of cells that are particles of another body. */
static void visit_absent(archive *a, lm_world *world, const lmi_lattice *l, uint64_t **absent, uint32_t *count)
{
    *count = l->absent_count;
    visit_count(a, count, 8);
    if (a->mode == LOAD && ok(a)) {
        *absent = lmi_allocate(&world->memory, *count, sizeof **absent);
        a->out_of_memory = !*absent;
    }
    for (uint32_t n = 0; n < *count && ok(a); n++) {
        visit_u64(a, a->mode == LOAD ? &(*absent)[n] : &l->absent[n]);
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
        uint64_t bits =
            a->mode == SAVE || a->mode == COMPARE ? lmi_lattice_cells(l, first, row % v.n[1], row / v.n[1]) : 0;
        visit_u64(a, &bits);
        refuse_if(a, a->mode == LOAD && v.n[0] - first < 64 && bits >> (v.n[0] - first));
        if (a->mode == LOAD) {
            v.bits[n] = bits;
            v.cell_count += (uint64_t)lmi_bit_count(bits);
        }
    }
    uint64_t *absent = NULL;
    visit_absent(a, world, l, &absent, &v.absent_count);
    v.absent = absent;
    /* Mass and state of each particle, of which there are more than cells. */
    refuse_beyond(a, v.cell_count > v.absent_count ? 28 * (v.cell_count - v.absent_count) : 0);
    if (a->mode == LOAD && ok(a)) {
        lm_result result = lmi_lattice_body_allocate(world, body, &v, width);
        a->out_of_memory = result == LM_ERROR_MEMORY;
        refuse_if(a, result != LM_OK && result != LM_ERROR_MEMORY);
    }
    lmi_release(&world->memory, v.bits, words, sizeof *v.bits);
    lmi_release(&world->memory, absent, v.absent_count, sizeof *absent);
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
    bool breaks = body->fracture != NULL;
    visit_bool(a, &breaks);
    refuse_if(a, !breaks && lattice->shape.absent_count);
    if (a->mode == LOAD && breaks && ok(a)) {
        body->fracture = lmi_allocate(&world->memory, 1, sizeof *body->fracture);
        a->out_of_memory = !body->fracture;
    }
}

/* Where the touch points are in the rest pose; what they ride on follows from that. */
static void visit_touch(archive *a, lm_world *world, lmi_body *body)
{
    lmi_touch *touch = &body->touch;
    VISIT_ENUM(a, body->contact_points, LM_CONTACT_COUNT);
    visit_count(a, &touch->count, 12);
    if (a->mode == LOAD && ok(a)) {
        touch->rest = lmi_allocate(&world->memory, touch->count, sizeof *touch->rest);
        touch->warm = lmi_allocate(&world->memory, 2 * (size_t)touch->count, sizeof *touch->warm);
        a->out_of_memory = !touch->rest || !touch->warm;
    }
    for (uint32_t n = 0; n < touch->count && ok(a); n++) {
        visit_vec3(a, &touch->rest[n]);
        refuse_if(a, !is_near(touch->rest[n]));
    }
}

/* A mould as far as it is kept: the mesh, from which all else follows. */
static void visit_mesh(archive *a, lm_world *world, lmi_mould **of)
{
    lmi_mould *mould = *of;
    uint32_t vertices = mould ? mould->vertex_count : 0, triangles = mould ? mould->triangle_count : 0;
    visit_count(a, &vertices, 12);
    visit_count(a, &triangles, 12);
    if (a->mode == LOAD && ok(a)) {
        mould = *of = lmi_mould_of_mesh(world, vertices, triangles);
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

/* What others touch, and what it would be made of. */
static void visit_bulk(archive *a, lm_world *world, lmi_body *body)
{
    if (body->octree) { /* faces of cuts touch with it only */
        visit_bool(a, &body->self_contact);
    }
    enum { NONE, SOLID, SURFACE, KINDS } has = body->bulk ? SOLID : body->surface ? SURFACE : NONE;
    VISIT_ENUM(a, has, KINDS);
    refuse_if(a, body->fracture && (has != NONE || body->contact_points != LM_CONTACT_PARTICLES));
    refuse_if(a, has == SURFACE && !body->lattice);
    if (has == SURFACE && ok(a)) {
        visit_mesh(a, world, &body->surface);
    }
    if (has != SOLID || !ok(a)) {
        return;
    }
    if (a->mode == LOAD) {
        body->bulk = lmi_allocate(&world->memory, 1, sizeof *body->bulk);
        a->out_of_memory = !body->bulk;
    }
    if (!ok(a)) {
        return;
    }
    visit_mesh(a, world, &body->bulk->mould);
    if (ok(a) && body->bulk->mould->triangle_count == 0) { /* balls of that size */
        visit_float(a, &body->contact_radius);
    }
}

/* What the material decides of how a body is made; all of it is state. */
static void visit_making(archive *a, lmi_body *body)
{
    bool elastic = lmi_is_elastic(&body->material);
    VISIT_ENUM(a, body->material.mode, LM_MODE_COUNT);
    VISIT_ENUM(a, body->material.damping_kind, LM_DAMPING_COUNT);
    visit_bool(a, &elastic);
    visit_bool(a, &body->plastic_material);
    if (a->mode == LOAD) {
        body->material.stiffness = elastic ? LM_STIFFNESS_YOUNG : LM_STIFFNESS_HERTZ;
    }
}

/* No region has flowed until its state says so. */
static void reset_plastic(lmi_body *body)
{
    for (size_t n = 0; n < (size_t)body->region_count * 6; n++) {
        body->plastic[n] = n % 6 < 3 ? 1.0f : 0.0f;
    }
}

/* All of a body but its counts, once there is room for it. */
static void visit_rest_of_body(archive *a, lm_world *world, lmi_body *body)
{
    if (!ok(a)) {
        return;
    }
    visit_making(a, body);
    visit_double(a, &body->volume);
    visit_double(a, &body->height);
    visit_double(a, &body->square);
    visit_double(a, &body->across);
    visit_double(a, &body->swelling);
    visit_double(a, &body->spread);
    refuse_if(a, !(body->across >= 0.0 && body->across <= 1.0 && body->swelling >= 0.0 && body->swelling <= 1.0 &&
                   body->spread >= 0.2 && body->spread <= 1.0));
    refuse_if(a, !(body->volume > 0.0 && body->volume < 1e40 && body->height > 0.0 && body->height < 1e10 &&
                   body->square > 0.0 && body->square < 1e20));
    if (body->lattice) {
        visit_lattice(a, world, body);
    } else if (body->octree) {
        refuse_if(a, lmi_octree_body_fault(&body->material) != NULL);
    } else {
        refuse_if(a, lmi_clusters_fault(&body->material) != NULL);
        visit_topology(a, body);
    }
    if (!body->fracture) {
        lmi_visit_stiffness(a, world, body);
    }
    if (a->mode == LOAD && !body->lattice && !body->octree) {
        lmi_check_regions(a, world, body);
    }
    visit_examples(a, world, body);
    visit_u32(a, &body->first_pin);
    visit_u32(a, &body->first_drag);
    lmi_visit_lineage(a, world, body);
    lmi_visit_skin(a, world, body);
    visit_touch(a, world, body);
    visit_bulk(a, world, body);
    if (a->mode == LOAD && ok(a)) {
        reset_plastic(body);
    }
}

void lmi_visit_body(archive *a, lm_world *world, lmi_body *body)
{
    if (a->mode == LOAD) {
        body->slot = (uint32_t)(body - (lmi_body *)world->bodies.elements);
        body->batch = LMI_NONE;
    }
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
    visit_count(a, &body->region_count, 40);
    visit_count(a, &body->membership_count, 4);
    visit_count(a, &body->tet_count, 16);
    refuse_if(a, body->particle_count == 0 || body->particle_count > LM_MAX_PARTICLES);
    if (!ok(a)) {
        if (a->mode == LOAD) {
            body->particle_count = body->region_count = body->membership_count = body->tet_count = 0;
        }
        return;
    }
    if (a->mode == LOAD && !lmi_body_allocate(world, body)) {
        a->out_of_memory = true;
        return;
    }
    visit_rest_of_body(a, world, body);
}
