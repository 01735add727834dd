/*
 * Level of detail: what cells of an octree a step divides and joins (lm_detail).
 *
 * Each leaf wants a level: that of touch where something touches nearby, that of the eye where there is one, else the level that its
 * voxels go back to (`home`). A leaf that is coarser is divided, by one level in a step. A node whose children are leaves is joined
 * when all of them could have been that coarse for `hold` seconds. What is most lacking comes first, then what comes first in the
 * tree; whatever exceeds `per_step` or `budget` waits. Everything follows from the state of the world, so that it is the same on every
 * machine and after a snapshot.
 *
 * A step that runs out of memory, here or later, fails with the world as it was. So what bodies were is kept until all that the step
 * needs is there: lmi_octree_levels_undo or _keep.
 */
#include "octree/octree_level.h"
#include "contact/sleep.h"
#include "skin/skin.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <string.h>

#define DETAIL_COOKIE 0x4c4d4431u

/* A joined cell must look smaller than this share of the angle above which it is divided, so that it is not at once. */
#define JOIN_SHARE 0.5

/* --- settings --- */

lm_detail lm_detail_default(void)
{
    lm_detail detail;
    memset(&detail, 0, sizeof detail);
    detail.per_step = 64;
    detail.hold = 0.5f;
    detail.cookie = DETAIL_COOKIE;
    return detail;
}

static bool is_length(float metres) { return metres >= 0.0f && metres <= 1e6f; }

const char *lmi_octree_detail_fault(const lm_detail *d)
{
    if (d->cookie != DETAIL_COOKIE) {
        return "the detail did not come from lm_detail_default";
    }
    if (!is_length(d->touch_size) || !is_length(d->touch_radius) || !is_length(d->finest) || !is_length(d->coarsest)) {
        return "touch_size, touch_radius, finest and coarsest must be 0 to 1e6 m";
    }
    if (d->coarsest > 0.0f && d->coarsest < d->finest) {
        return "coarsest is below finest";
    }
    if (!(d->eye_angle >= 0.0f && d->eye_angle <= 3.2f)) {
        return "eye_angle must be 0 to 3.2 radians";
    }
    if (d->per_step < 1 || d->per_step > 1000000) {
        return "per_step must be 1 to 1,000,000";
    }
    return d->hold >= 0.0f && d->hold <= 3600.0f ? NULL : "hold must be 0 to 3600 s";
}

static const char *body_fault(const lmi_body *body)
{
    return !body->octree                ? "only octrees have cells of several sizes"
           : body->examples             ? "a body with examples keeps its cells"
           : body->skeleton != LMI_NONE ? "a body on a skeleton keeps its cells"
           : body->joints               ? "a body with joints keeps its cells"
                                        : NULL;
}

void lmi_octree_levels_home(const lmi_octree *t, const uint8_t *home, lmi_octree_leaf_detail *leaves)
{
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        leaves[leaf].home = UINT8_MAX;
        for (uint32_t k = 0; k < node->voxel_count; k++) {
            uint8_t level = home[t->voxel_order[node->first_voxel + k]];
            leaves[leaf].home = level < leaves[leaf].home ? level : leaves[leaf].home;
        }
    }
}

void lmi_octree_levels_free(lm_world *world, lmi_octree_body *o)
{
    if (o->levels) {
        lmi_release(&world->memory, o->levels->home, o->tree.voxel_count, sizeof *o->levels->home);
        lmi_release(&world->memory, o->levels->leaf, o->tree.leaf_count, sizeof *o->levels->leaf);
        lmi_release(&world->memory, o->levels->scratch, o->levels->scratch_size, 1);
        lmi_release(&world->memory, o->levels, 1, sizeof *o->levels);
        o->levels = NULL;
    }
}

bool lmi_octree_levels_make(lm_world *world, lmi_octree_body *o)
{
    const lmi_octree *t = &o->tree;
    o->levels = lmi_allocate(&world->memory, 1, sizeof *o->levels);
    if (!o->levels) {
        return false;
    }
    o->levels->home = lmi_allocate(&world->memory, t->voxel_count, sizeof *o->levels->home);
    o->levels->leaf = lmi_allocate(&world->memory, t->leaf_count, sizeof *o->levels->leaf);
    if (!o->levels->home || !o->levels->leaf) {
        lmi_octree_levels_free(world, o);
        return false;
    }
    for (uint32_t voxel = 0; voxel < t->voxel_count; voxel++) {
        o->levels->home[voxel] = (uint8_t)t->nodes[t->owner[voxel]].level;
    }
    lmi_octree_levels_home(t, o->levels->home, o->levels->leaf);
    return true;
}

lm_result lm_body_set_detail(lm_world *world, lm_body_id id, const lm_detail *detail)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_detail");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = body_fault(known);
    fault = fault || !detail ? fault : lmi_octree_detail_fault(detail);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_detail: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    if (!detail) {
        lmi_octree_levels_free(world, body->octree);
        return LM_OK;
    }
    if (!body->octree->levels && !lmi_octree_levels_make(world, body->octree)) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_body_set_detail: out of memory; nothing has changed");
    }
    body->octree->levels->detail = *detail;
    lmi_body_rouse(world, body);
    return LM_OK;
}

lm_result lm_body_get_detail(const lm_world *world, lm_body_id id, lm_detail *detail, uint32_t *waiting)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_detail");
    if (!body) {
        return LM_ERROR_ID;
    }
    const lmi_octree_levels *levels = body->octree ? body->octree->levels : NULL;
    if (detail) {
        memset(detail, 0, sizeof *detail);
        *detail = levels ? levels->detail : *detail;
    }
    if (waiting) {
        *waiting = levels ? levels->waiting : 0;
    }
    return LM_OK;
}

lm_result lm_world_set_eye(lm_world *world, const lm_dvec3 *eye)
{
    if (eye &&
        !(fabs(eye->x) <= LM_MAX_POSITION && fabs(eye->y) <= LM_MAX_POSITION && fabs(eye->z) <= LM_MAX_POSITION)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_eye: not finite or beyond LM_MAX_POSITION");
    }
    world->has_eye = eye != NULL;
    world->eye = eye ? *eye : lm_dvec3_zero();
    return LM_OK;
}

/* --- what leaves want --- */

/* A leaf that is to be divided, or a node that is to be joined. */
typedef struct wanted {
    uint32_t item;
    uint32_t lack; /* levels */
} wanted;

typedef struct chooser {
    lm_world *world;
    lmi_body *body;
    lmi_octree_levels *levels;
    lmi_octree_change *change; /* once it has been made */
    float *was_quiet;          /* [leaf_count] */
    uint8_t *fine,
        *coarse;       /* [leaf_count] levels that a leaf must have at most, and may have at most when it is joined */
    uint32_t *touched; /* [leaf_count] leaves that something touches */
    bool *is_touched;  /* [leaf_count] */
    bool *held;        /* [leaf_count] */
    wanted *divides, *joins; /* [leaf_count], [node_count] */
    uint32_t touched_count, divide_count, join_count;
} chooser;

static lm_dvec3 place_of(const lmi_body *body, uint32_t leaf)
{
    const float *x = body->x + (size_t)body->place[leaf] * 4;
    return dvec(x[0], x[1], x[2]);
}

static void note_touched(chooser *c, uint32_t place)
{
    uint32_t leaf = c->body->order[place];
    if (!c->is_touched[leaf]) {
        c->is_touched[leaf] = true;
        c->touched[c->touched_count++] = leaf;
    }
}

/* The particle that a touch point rides on most. */
static uint32_t main_rider(const lmi_touch *touch, uint32_t point)
{
    uint32_t block = point / LMI_BLOCK, best = LMI_NONE;
    float most = -INFINITY;
    for (uint32_t row = touch->first_row[block]; row < touch->first_row[block + 1]; row++) {
        size_t at = (size_t)row * LMI_BLOCK + point % LMI_BLOCK;
        if (touch->weight[at] > most) {
            most = touch->weight[at];
            best = touch->rider[at];
        }
    }
    return best;
}

/* Whether a pin's mover is on its way. */
static bool moves(const lm_world *world, const lmi_pin *pin)
{
    const lmi_mover *mover = pin->mover == LMI_NONE ? NULL : LMI_POOL_AT(&world->movers, lmi_mover, pin->mover);
    return mover &&
           (mover->has_target || mover->velocity.x != 0.0f || mover->velocity.y != 0.0f || mover->velocity.z != 0.0f ||
            mover->spin.x != 0.0f || mover->spin.y != 0.0f || mover->spin.z != 0.0f);
}

static void find_touched(chooser *c)
{
    const lmi_body *body = c->body;
    const lmi_touch *touch = &body->touch;
    for (uint32_t n = 0; n < touch->count; n++) {
        if (touch->warm[n].pressed > 0.0f) {
            note_touched(c, main_rider(touch, n));
        }
    }
    for (uint32_t n = body->first_drag; n != LMI_NONE; n = LMI_POOL_AT(&c->world->drags, lmi_drag, n)->next) {
        note_touched(c, body->place[LMI_POOL_AT(&c->world->drags, lmi_drag, n)->particle]);
    }
    for (uint32_t n = body->first_pin; n != LMI_NONE; n = LMI_POOL_AT(&c->world->pins, lmi_pin, n)->next) {
        const lmi_pin *pin = LMI_POOL_AT(&c->world->pins, lmi_pin, n);
        for (uint32_t k = 0; moves(c->world, pin) && k < pin->count; k++) {
            note_touched(c, pin->particles[k]);
        }
    }
}

static bool is_near_touch(const chooser *c, uint32_t leaf, double reach)
{
    lm_dvec3 at = place_of(c->body, leaf);
    for (uint32_t n = 0; n < c->touched_count; n++) {
        lm_dvec3 off = dvec_sub(place_of(c->body, c->touched[n]), at);
        if (dvec_dot(off, off) <= reach * reach) {
            return true;
        }
    }
    return false;
}

static void find_wants(chooser *c, double seconds)
{
    const lmi_octree *t = &c->body->octree->tree;
    const lm_detail *d = &c->levels->detail;
    bool eye = d->eye_angle > 0.0f && c->world->has_eye, touch = d->touch_size > 0.0f && c->touched_count > 0;
    uint32_t finest = lmi_octree_level_of(t, (double)d->finest);
    uint32_t coarsest = d->coarsest > 0.0f ? lmi_octree_level_of(t, (double)d->coarsest) : t->levels;
    uint32_t touch_level = lmi_octree_level_of(t, (double)d->touch_size);
    lm_dvec3 from = dvec_sub(c->world->eye, c->body->origin);
    for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
        const lmi_octree_node *node = &t->nodes[t->leaves[leaf]];
        double side = lmi_octree_side(t, node->level);
        uint32_t fine = c->levels->leaf[leaf].home, coarse = fine;
        if (eye) {
            double away = dvec_length(dvec_sub(place_of(c->body, leaf), from));
            fine = lmi_octree_level_of(t, (double)d->eye_angle * away);
            coarse = lmi_octree_level_of(t, JOIN_SHARE * (double)d->eye_angle * away);
        }
        if (touch && is_near_touch(c, leaf, (double)d->touch_radius + 0.5 * side)) {
            fine = fine < touch_level ? fine : touch_level;
            coarse = coarse < touch_level ? coarse : touch_level;
        }
        fine = fine > coarsest ? coarsest : fine < finest ? finest : fine;
        coarse = coarse > coarsest ? coarsest : coarse < finest ? finest : coarse;
        c->fine[leaf] = (uint8_t)fine;
        c->coarse[leaf] = (uint8_t)coarse;
        float *quiet = &c->levels->leaf[leaf].quiet;
        c->was_quiet[leaf] = *quiet;
        *quiet = coarse > node->level ? fminf(*quiet + (float)seconds, 7200.0f) : 0.0f;
    }
}

/* --- what is done --- */

static void add_divides(chooser *c)
{
    const lmi_octree *t = &c->body->octree->tree;
    for (uint32_t lack = t->levels; lack > 0; lack--) { /* what lacks most comes first */
        for (uint32_t leaf = 0; leaf < t->leaf_count; leaf++) {
            uint32_t level = t->nodes[t->leaves[leaf]].level;
            if (level > c->fine[leaf] && level - c->fine[leaf] == lack) {
                c->divides[c->divide_count++] = (wanted){leaf, lack};
            }
        }
    }
}

static bool is_joinable(const chooser *c, uint32_t n)
{
    const lmi_octree *t = &c->body->octree->tree;
    const lmi_octree_node *node = &t->nodes[n];
    if (lmi_octree_is_leaf(node) || node->leaf_count != node->child_count) {
        return false; /* its children are not all leaves */
    }
    for (uint32_t k = 0; k < node->leaf_count; k++) {
        uint32_t leaf = node->first_leaf + k;
        if (c->coarse[leaf] < node->level || c->levels->leaf[leaf].quiet < c->levels->detail.hold || c->held[leaf]) {
            return false;
        }
    }
    return lmi_octree_can_join(t, n);
}

static void add_joins(chooser *c)
{
    const lmi_octree *t = &c->body->octree->tree;
    for (uint32_t n = 0; n < t->node_count; n++) {
        if (is_joinable(c, n)) {
            c->joins[c->join_count++] = (wanted){n, 1};
        }
    }
}

static void free_change(lmi_octree_change *change)
{
    lmi_memory *memory = &change->world->memory;
    lmi_octree_change_free(change);
    lmi_release(memory, change, 1, sizeof *change);
}

/* Changes the body in such a way that it can be taken back: it does not share its pack with what it was. */
static lm_result change_body(chooser *c, const lmi_octree_wish *wish)
{
    uint32_t budget = c->levels->detail.budget;
    lmi_octree_change *change = lmi_allocate(&c->world->memory, 1, sizeof *change);
    if (!change) {
        return LM_ERROR_MEMORY;
    }
    *change = (lmi_octree_change){.world = c->world, .body = c->body};
    lm_result result = lmi_body_bring_home(c->world, c->body) ? LM_OK : LM_ERROR_MEMORY;
    if (result == LM_OK) {
        lmi_body_is_dirty(c->world, c->body);
        result = lmi_octree_relevel(change, wish, budget ? budget : LM_MAX_PARTICLES);
    }
    if (result == LM_OK) {
        c->change = change;
    } else {
        free_change(change);
    }
    return result;
}

/* Divides the first `divides` of those that want it and joins the first `joins`. */
static lm_result carry_out(chooser *c, uint32_t divides, uint32_t joins)
{
    const lmi_octree *t = &c->body->octree->tree;
    lmi_memory *memory = &c->world->memory;
    uint32_t leaves = t->leaf_count, nodes = t->node_count;
    uint8_t *level = lmi_allocate_plain(memory, leaves, sizeof *level);
    bool *join = lmi_allocate(memory, nodes, sizeof *join);
    lm_result result = level && join ? LM_OK : LM_ERROR_MEMORY;
    for (uint32_t leaf = 0; level && leaf < leaves; leaf++) {
        level[leaf] = (uint8_t)t->nodes[t->leaves[leaf]].level;
    }
    for (uint32_t n = 0; result == LM_OK && n < divides; n++) {
        level[c->divides[n].item]--;
    }
    for (uint32_t n = 0; result == LM_OK && n < joins; n++) {
        join[c->joins[n].item] = true;
    }
    if (result == LM_OK) {
        lmi_octree_wish wish = {.level = level, .join = join};
        result = change_body(c, &wish);
    }
    lmi_release(memory, level, leaves, sizeof *level);
    lmi_release(memory, join, nodes, sizeof *join);
    return result;
}

/* How many of those that want to be divided there is room for: a leaf becomes eight, where its cell is full. */
static uint32_t divides_in_budget(const chooser *c, uint32_t joins)
{
    const lmi_octree *t = &c->body->octree->tree;
    uint64_t budget = c->levels->detail.budget ? c->levels->detail.budget : LM_MAX_PARTICLES, count = t->leaf_count;
    for (uint32_t n = 0; n < joins; n++) {
        count -= t->nodes[c->joins[n].item].leaf_count - 1;
    }
    return count < budget ? (uint32_t)((budget - count) / 7) : 0;
}

/* As much as a step may do. What a cut left of cells may fall into more parts than they have eighths: then fewer are divided. False
 * when out of memory. */
static bool choose(chooser *c)
{
    uint32_t most = c->levels->detail.per_step, all = c->divide_count + c->join_count;
    uint32_t joins = c->join_count;
    if (c->divide_count + joins > most) { /* half for each, or what the other one leaves */
        uint32_t half = most - most / 2, left = c->divide_count < most / 2 ? most - c->divide_count : half;
        joins = joins < left ? joins : left;
    }
    uint32_t room = divides_in_budget(c, joins);
    uint32_t divides = c->divide_count < most - joins ? c->divide_count : most - joins;
    divides = divides < room ? divides : room;
    lm_result result = divides + joins ? carry_out(c, divides, joins) : LM_ERROR_LIMIT;
    while (result == LM_ERROR_LIMIT && divides > 0) {
        divides /= 2;
        result = divides + joins ? carry_out(c, divides, joins) : LM_ERROR_LIMIT;
    }
    c->levels->waiting = all - (result == LM_OK ? divides + joins : 0);
    return result != LM_ERROR_MEMORY;
}

static void *take(char *base, size_t *used, size_t count, size_t size)
{
    void *piece = base ? base + *used : NULL;
    *used += (count * size + LMI_ALIGNMENT - 1) / LMI_ALIGNMENT * LMI_ALIGNMENT;
    return piece;
}

/* Room for all that is found in a step; how much, when there is none yet. */
static size_t carve(chooser *c, char *base, uint32_t leaves, uint32_t nodes)
{
    size_t used = 0;
    c->was_quiet = take(base, &used, leaves, sizeof *c->was_quiet);
    c->fine = take(base, &used, leaves, sizeof *c->fine);
    c->coarse = take(base, &used, leaves, sizeof *c->coarse);
    c->touched = take(base, &used, leaves, sizeof *c->touched);
    c->is_touched = take(base, &used, leaves, sizeof *c->is_touched);
    c->held = take(base, &used, leaves, sizeof *c->held);
    c->divides = take(base, &used, leaves, sizeof *c->divides);
    c->joins = take(base, &used, nodes, sizeof *c->joins);
    return used;
}

static bool step_body(lm_world *world, lmi_body *body, double seconds, lmi_octree_change **changes)
{
    uint32_t leaves = body->octree->tree.leaf_count, nodes = body->octree->tree.node_count;
    chooser c = {.world = world, .body = body, .levels = body->octree->levels};
    size_t size = carve(&c, NULL, leaves, nodes);
    if (size > UINT32_MAX ||
        !lmi_reserve(&world->memory, &c.levels->scratch, &c.levels->scratch_size, (uint32_t)size, 1)) {
        return false;
    }
    carve(&c, c.levels->scratch, leaves, nodes);
    memset(c.is_touched, 0, leaves * sizeof *c.is_touched);
    lmi_octree_held_leaves(world, body, c.held);
    find_touched(&c);
    find_wants(&c, seconds);
    add_divides(&c);
    add_joins(&c);
    c.levels->was_quiet = c.was_quiet;
    c.levels->was_waiting = c.levels->waiting;
    c.levels->waiting = 0;
    bool ok = c.divide_count + c.join_count == 0 || choose(&c);
    if (c.change) {
        c.levels->changed = true;
        c.change->next = *changes;
        *changes = c.change;
    }
    return ok;
}

bool lmi_octree_levels_step(lm_world *world, double seconds, lmi_octree_change **changes)
{
    *changes = NULL;
    if (!world->has_octrees) { /* with thousands of bodies on a device looking at each is a good part of a step */
        return true;
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (body->octree && body->octree->levels && !lmi_body_is_out(body)) {
            lmi_step_read_body(world, body); /* where it is now decides */
            if (!step_body(world, body, seconds, changes)) {
                return false;
            }
        }
    }
    return true;
}

void lmi_octree_levels_undo(lm_world *world, lmi_octree_change *changes)
{
    while (changes) { /* the last one first */
        lmi_octree_change *change = changes;
        changes = change->next;
        lmi_octree_change_undo(change);
        free_change(change);
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        const lmi_octree_body *o = lmi_body_at(world, n)->octree;
        lmi_octree_levels *levels = o ? o->levels : NULL;
        for (uint32_t leaf = 0; levels && levels->was_quiet && leaf < o->tree.leaf_count; leaf++) {
            levels->leaf[leaf].quiet = levels->was_quiet[leaf];
        }
        if (levels && levels->was_quiet) {
            levels->waiting = levels->was_waiting;
            levels->was_quiet = NULL;
            levels->changed = false;
        }
    }
}

void lmi_octree_levels_keep(lm_world *world, lmi_octree_change *changes, double seconds)
{
    if (!world->has_octrees) {
        return;
    }
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        lmi_octree_levels *levels = body->octree ? body->octree->levels : NULL;
        if (body->octree && !(levels && levels->changed)) {
            lmi_skin_fade(world, &body->skin, seconds);
        }
        if (levels) {
            levels->was_quiet = NULL;
            levels->changed = false;
        }
    }
    while (changes) {
        lmi_octree_change *change = changes;
        changes = change->next;
        free_change(change);
    }
}

/* --- what leaves remember --- */

bool lmi_octree_follow_detail(lmi_octree_change *c)
{
    const lmi_octree_levels *levels = c->body->octree->levels;
    if (!levels) {
        return true;
    }
    c->leaf_detail = lmi_allocate(&c->world->memory, c->made.particle_count, sizeof *c->leaf_detail);
    for (uint32_t leaf = 0; c->leaf_detail && leaf < c->made.particle_count; leaf++) {
        /* A cell that has just become another has been quiet for no time. */
        const lmi_octree *before = &c->body->octree->tree, *t = &c->made.octree->tree;
        bool same = c->joined[leaf] == 1 &&
                    t->nodes[t->leaves[leaf]].level == before->nodes[before->leaves[c->from[leaf]]].level;
        c->leaf_detail[leaf].quiet = same ? levels->leaf[c->from[leaf]].quiet : 0.0f;
    }
    if (c->leaf_detail) {
        lmi_octree_levels_home(&c->made.octree->tree, levels->home, c->leaf_detail);
    }
    return c->leaf_detail != NULL;
}

void lmi_octree_exchange_detail(lmi_octree_change *c)
{
    lmi_octree_levels *levels = c->body->octree->levels;
    if (levels) {
        lmi_octree_leaf_detail *leaf = levels->leaf;
        levels->leaf = c->leaf_detail;
        c->leaf_detail = leaf;
        c->made.octree->levels = levels;
        c->body->octree->levels = NULL;
    }
}
