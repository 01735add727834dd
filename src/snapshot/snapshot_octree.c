/*
 * Octrees in snapshots: the voxels, the links that are cut, which nodes are divided, widths and masses. Everything else follows
 * from them, and is made again.
 */
#include "base/compiler.h"
#include "octree/octree_body.h"
#include "snapshot/archive.h"
#include "world/body.h"
#include "world/in_step.h"

static void visit_voxels(archive *a, lm_world *world, lmi_voxels *v)
{
    visit_double(a, &v->spacing);
    visit_dvec3(a, &v->first);
    refuse_if(a, !(v->spacing > 0.0 && v->spacing <= 1e6) || !(fabs(v->first.x) <= 2.0 * LM_MAX_COORDINATE) ||
                     !(fabs(v->first.y) <= 2.0 * LM_MAX_COORDINATE) || !(fabs(v->first.z) <= 2.0 * LM_MAX_COORDINATE));
    for (int k = 0; k < 3; k++) {
        visit_u32(a, &v->n[k]);
        refuse_if(a, v->n[k] < 1 || v->n[k] > LMI_VOXEL_MAX_AXIS);
    }
    uint32_t words = v->row_words * v->n[1] * v->n[2];
    visit_count(a, &words, 8);
    v->row_words = (v->n[0] + 63) / 64;
    refuse_if(a, words != (uint64_t)v->row_words * v->n[1] * v->n[2] || words > LMI_VOXEL_MAX_WORDS);
    if (a->mode == LOAD && ok(a)) {
        v->bits = lmi_allocate(&world->memory, words, sizeof *v->bits);
        a->out_of_memory = !v->bits;
    }
    for (uint32_t n = 0; n < words && ok(a); n++) {
        uint32_t first = n % v->row_words * 64;
        visit_u64(a, &v->bits[n]);
        refuse_if(a, v->n[0] - first < 64 && v->bits[n] >> (v->n[0] - first));
        if (a->mode == LOAD) {
            v->cell_count += (uint64_t)lmi_bit_count(v->bits[n]);
        }
    }
    refuse_if(a, v->cell_count == 0 || v->cell_count > LMI_OCTREE_MAX_VOXELS);
}

/* Ten voxels of six bits in a word. */
static void visit_cuts(archive *a, lmi_octree *t)
{
    for (uint32_t n = 0; n < t->voxel_count && ok(a); n += 10) {
        uint64_t word = 0;
        uint32_t count = t->voxel_count - n < 10 ? t->voxel_count - n : 10;
        for (uint32_t k = 0; k < count; k++) {
            word |= (uint64_t)t->cut[n + k] << (6 * k);
        }
        visit_u64(a, &word);
        for (uint32_t k = 0; a->mode == LOAD && k < count; k++) {
            t->cut[n + k] = word >> (6 * k) & 63;
        }
    }
    lmi_check_slashes(a, t);
}

/* Nodes are asked for in the order in which they were written. */
static bool was_divided(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    (void)t;
    archive *a = user;
    bool divided = !lmi_octree_is_leaf(node);
    visit_bool(a, &divided);
    return divided && ok(a);
}

static void visit_tree(archive *a, lm_world *world, lmi_octree *t)
{
    if (a->mode == LOAD) {
        lm_result result = lmi_octree_divide(t, &world->memory, was_divided, a);
        a->out_of_memory = a->out_of_memory || result == LM_ERROR_MEMORY;
    } else {
        for (uint32_t n = 0; n < t->node_count; n++) {
            if (t->nodes[n].level > 0) {
                was_divided(t, &t->nodes[n], a);
            }
        }
    }
    for (uint32_t leaf = 0; ok(a) && leaf < t->leaf_count; leaf++) {
        visit_u32(a, &t->width[leaf]);
        refuse_if(a,
                  t->width[leaf] < lmi_octree_least_width(&t->nodes[t->leaves[leaf]]) || t->width[leaf] > 1000000000u);
    }
    if (a->mode == LOAD && ok(a)) {
        a->out_of_memory =
            !lmi_octree_find_neighbours(t, &world->memory) || !lmi_octree_find_regions(t, &world->memory);
    }
}

static void visit_whole(archive *a, lm_world *world, lmi_octree *t)
{
    lmi_voxels voxels = t->voxels;
    uint32_t levels = t->levels;
    double slack = t->slack;
    visit_u32(a, &levels);
    visit_double(a, &slack);
    refuse_if(a, levels > LMI_OCTREE_MAX_LEVELS || !(slack >= 0.0 && slack <= 4.0));
    visit_voxels(a, world, &voxels);
    refuse_beyond(a, voxels.cell_count / 10 * 8); /* the links of ten voxels are a word */
    if (a->mode == LOAD && ok(a)) {
        lm_result result = lmi_octree_begin(t, &world->memory, &voxels, levels);
        a->out_of_memory = result == LM_ERROR_MEMORY;
        refuse_if(a, result != LM_OK && result != LM_ERROR_MEMORY);
        t->slack = slack;
    } else if (a->mode == LOAD) {
        lmi_voxels_free(&world->memory, &voxels);
    }
    if (ok(a)) {
        visit_cuts(a, t);
        visit_tree(a, world, t);
    }
}

/* Places stay as they were when the body was made, though its widths may have changed since. */
static void visit_order(archive *a, lmi_body *body)
{
    for (uint32_t n = 0; a->mode == LOAD && ok(a) && n < body->particle_count; n++) {
        body->place[n] = LMI_NONE;
    }
    for (uint32_t n = 0; ok(a) && n < body->particle_count; n++) {
        visit_index(a, &body->order[n], body->particle_count, false);
        refuse_if(a, ok(a) && body->place[body->order[n]] != LMI_NONE);
        if (a->mode == LOAD && ok(a)) {
            const lmi_octree *t = &body->octree->tree;
            body->place[body->order[n]] = n;
            body->rest[n] = vec_from(lmi_octree_middle(t, &t->nodes[t->leaves[body->order[n]]]));
        }
    }
}

/* Where cuts have moved corners of voxels to; ascending. */
static void visit_bends(archive *a, lm_world *world, lmi_octree *t)
{
    uint32_t count = t->bend_count;
    visit_count(a, &count, 20);
    if (a->mode == LOAD && ok(a)) {
        t->bends = lmi_allocate(&world->memory, count, sizeof *t->bends);
        a->out_of_memory = !t->bends;
        t->bend_count = t->bends ? count : 0;
    }
    for (uint32_t n = 0; ok(a) && n < count; n++) {
        lmi_octree_bend *bend = &t->bends[n];
        visit_u64(a, &bend->corner);
        for (int i = 0; i < 3; i++) {
            visit_float(a, &bend->by[i]);
            refuse_if(a, !(fabsf(bend->by[i]) <= 1.0f));
        }
        refuse_if(a, (n > 0 && bend->corner <= t->bends[n - 1].corner) || (bend->corner & 0xfffff) > t->voxels.n[0] ||
                         (bend->corner >> 20 & 0xfffff) > t->voxels.n[1] || bend->corner >> 40 > t->voxels.n[2]);
    }
}

void lmi_visit_voxel_tree(archive *a, lm_world *world, lmi_octree *tree)
{
    visit_whole(a, world, tree);
    if (ok(a)) {
        visit_bends(a, world, tree);
    }
}

void lmi_visit_octree(archive *a, lm_world *world, lmi_body *body)
{
    if (a->mode != LOAD) {
        visit_whole(a, world, &body->octree->tree);
    } else {
        lmi_octree tree = {0};
        visit_whole(a, world, &tree);
        refuse_if(a, !(tree.voxels.spacing >= LMI_OCTREE_LEAST_SPACING));
        if (ok(a)) {
            a->out_of_memory = !lmi_octree_body_allocate(world, body, &tree);
        }
        lmi_octree_free(&tree, &world->memory);
    }
    visit_order(a, body);
    for (uint32_t leaf = 0; ok(a) && leaf < body->particle_count; leaf++) {
        visit_float(a, &body->mass[body->place[leaf]]);
    }
    if (ok(a)) {
        visit_bends(a, world, &body->octree->tree);
    }
    if (a->mode == LOAD && ok(a)) {
        refuse_if(a, lmi_body_mass_fault(body->mass, body->particle_count) != NULL);
    }
}

/* --- level of detail --- */

static void visit_detail(archive *a, lm_detail *d)
{
    visit_float(a, &d->touch_size);
    visit_float(a, &d->touch_radius);
    visit_float(a, &d->eye_angle);
    visit_float(a, &d->finest);
    visit_float(a, &d->coarsest);
    visit_u32(a, &d->budget);
    visit_u32(a, &d->per_step);
    visit_float(a, &d->hold);
    if (a->mode == LOAD) {
        d->cookie = lm_detail_default().cookie;
        refuse_if(a, lmi_octree_detail_fault(d) != NULL);
    }
}

/* The level that voxels go back to, sixteen in a word. */
static void visit_levels(archive *a, lmi_octree_body *o)
{
    const lmi_octree *t = &o->tree;
    for (uint32_t n = 0; n < t->voxel_count && ok(a); n += 16) {
        uint64_t word = 0;
        uint32_t count = t->voxel_count - n < 16 ? t->voxel_count - n : 16;
        for (uint32_t k = 0; k < count; k++) {
            word |= (uint64_t)o->levels->home[n + k] << (4 * k);
        }
        visit_u64(a, &word);
        for (uint32_t k = 0; a->mode == LOAD && k < count; k++) {
            o->levels->home[n + k] = word >> (4 * k) & 15;
            refuse_if(a, o->levels->home[n + k] > t->levels);
        }
    }
    if (a->mode == LOAD && ok(a)) {
        lmi_octree_levels_home(t, o->levels->home, o->levels->leaf);
    }
}

void lmi_visit_details(archive *a, lm_world *world)
{
    for (uint32_t n = 0; n < world->bodies.slots && ok(a); n++) {
        lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_in_step(world, n) : NULL;
        if (!body || !body->octree) {
            continue;
        }
        bool has = body->octree->levels != NULL;
        visit_bool(a, &has);
        if (a->mode == LOAD && ok(a) && has) {
            refuse_if(a, body->examples || body->skeleton != LMI_NONE || body->joints);
            a->out_of_memory = !lmi_octree_levels_make(world, body->octree);
        }
        if (has && ok(a)) {
            visit_detail(a, &body->octree->levels->detail);
            visit_levels(a, body->octree);
        }
    }
}
