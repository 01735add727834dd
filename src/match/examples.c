/*
 * Examples of bodies: what callers give, ask and force. What follows from it for the step is found in match/example_rest.c
 * and used by the fits of match/ and lattice/.
 */
#include "match/examples.h"
#include "base/guard.h"
#include "lattice/lattice_body.h"
#include "octree/octree_body.h"
#include "world/access.h"
#include "world/body.h"

#include <string.h>

#define EXAMPLES_COOKIE 0x4c4d4531u

/* Weights that callers force may exceed 1 in all by their rounding. */
#define WEIGHT_ROUNDING 1e-5

lm_examples_def lm_examples_def_default(void)
{
    lm_examples_def def;
    memset(&def, 0, sizeof def);
    def.beta = 0.95f;
    def.cookie = EXAMPLES_COOKIE;
    return def;
}

/* --- memory --- */

static size_t group_triangles(const lmi_examples *e)
{
    return e->scope == LM_EXAMPLES_REGIONS ? 0 : (size_t)e->group_count * (e->count * (e->count + 1) / 2);
}

static size_t group_scales(const lmi_examples *e) { return e->scope == LM_EXAMPLES_REGIONS ? 0 : e->group_count; }

bool lmi_examples_allocate(lm_world *world, const lmi_body *body, lmi_examples *e)
{
    lmi_memory *memory = &world->memory;
    size_t weights = (size_t)e->group_count * e->count;
    e->blocks = body->lattice ? body->lattice->shape.block_count + 1 : 0;
    e->poses = lmi_allocate(memory, (size_t)e->count * e->particle_count, sizeof *e->poses);
    e->group = lmi_allocate(memory, e->region_count, sizeof *e->group);
    e->forced_weights = lmi_allocate(memory, weights, sizeof *e->forced_weights);
    e->weights = lmi_allocate(memory, weights, sizeof *e->weights);
    e->gram = lmi_allocate(memory, group_triangles(e), sizeof *e->gram);
    e->scale = lmi_allocate(memory, group_scales(e), sizeof *e->scale);
    e->sums = lmi_allocate(memory, weights, sizeof *e->sums);
    e->at = lmi_allocate(memory, e->region_count, sizeof *e->at);
    e->along = lmi_allocate(memory, e->region_count, sizeof *e->along);
    e->home = lmi_allocate(memory, (size_t)e->blocks * LMI_BLOCK, lmi_example_channels(e->count) * sizeof *e->home);
    e->moments = lmi_allocate(memory, (size_t)e->blocks * LMI_BLOCK, 12 * sizeof *e->moments);
    e->local = lmi_allocate(memory, (size_t)e->blocks * LMI_BLOCK, 4 * sizeof *e->local);
    return e->poses && e->group && e->forced_weights && e->weights && e->gram && e->scale && e->sums && e->at &&
           e->along && e->home && e->moments && e->local;
}

void lmi_examples_free(lm_world *world, lmi_examples *e)
{
    if (!e) {
        return;
    }
    lmi_memory *memory = &world->memory;
    size_t weights = (size_t)e->group_count * e->count;
    lmi_release(memory, e->poses, (size_t)e->count * e->particle_count, sizeof *e->poses);
    lmi_release(memory, e->group, e->region_count, sizeof *e->group);
    lmi_release(memory, e->forced_weights, weights, sizeof *e->forced_weights);
    lmi_release(memory, e->weights, weights, sizeof *e->weights);
    lmi_release(memory, e->gram, group_triangles(e), sizeof *e->gram);
    lmi_release(memory, e->scale, group_scales(e), sizeof *e->scale);
    lmi_release(memory, e->sums, weights, sizeof *e->sums);
    lmi_release(memory, e->at, e->region_count, sizeof *e->at);
    lmi_release(memory, e->along, e->region_count, sizeof *e->along);
    lmi_release(memory, e->home, (size_t)e->blocks * LMI_BLOCK, lmi_example_channels(e->count) * sizeof *e->home);
    lmi_release(memory, e->moments, (size_t)e->blocks * LMI_BLOCK, 12 * sizeof *e->moments);
    lmi_release(memory, e->local, (size_t)e->blocks * LMI_BLOCK, 4 * sizeof *e->local);
    lmi_release(memory, e, 1, sizeof *e);
}

/* --- what callers give --- */

static const char *def_fault(const lm_examples_def *def, const lmi_body *body)
{
    if (def->cookie != EXAMPLES_COOKIE) {
        return "the definition did not come from lm_examples_def_default";
    }
    if (def->count < 1 || def->count > LM_MAX_EXAMPLES) {
        return "there must be 1 to 8 examples";
    }
    if (!def->poses) {
        return "there are no poses";
    }
    if (def->particles != body->particle_count) {
        return "the poses have another number of particles than the body";
    }
    if ((unsigned)def->scope >= LM_EXAMPLES_SCOPE_COUNT) {
        return "scope is not one of lm_example_scope";
    }
    if (!(def->beta >= 0.0f && def->beta <= 1.0f)) {
        return "beta must be 0 to 1";
    }
    if (lmi_body_regions(body) == 0) {
        return "the body has no regions";
    }
    if (def->scope == LM_EXAMPLES_GROUPS &&
        (!def->groups || def->group_count < 1 || def->group_count > LMI_MOST_GROUPS)) {
        return "groups need a number for each region, and there must be 1 to 65536 of them";
    }
    return NULL;
}

/* What is wrong inside the arrays, of which there are enough. */
static lm_result check_arrays(const lm_world *world, const lm_examples_def *def, const lmi_body *body)
{
    for (uint32_t k = 0; k < def->count; k++) {
        for (uint32_t n = 0; n < def->particles; n++) {
            const lm_vec3 *p = &def->poses[(size_t)k * def->particles + n];
            if (!(fabsf(p->x) <= LM_MAX_COORDINATE && fabsf(p->y) <= LM_MAX_COORDINATE &&
                  fabsf(p->z) <= LM_MAX_COORDINATE)) {
                return lmi_fail(world, LM_ERROR_ARGUMENT,
                                "lm_body_set_examples: particle %u of example %u is not finite or beyond "
                                "LM_MAX_COORDINATE",
                                n, k);
            }
        }
    }
    for (uint32_t r = 0; def->scope == LM_EXAMPLES_GROUPS && r < lmi_body_regions(body); r++) {
        if (def->groups[r] >= def->group_count && def->groups[r] != LM_NO_GROUP) {
            return lmi_fail(world, LM_ERROR_ARGUMENT,
                            "lm_body_set_examples: the group of region %u is %u, there are %u", r, def->groups[r],
                            def->group_count);
        }
    }
    return LM_OK;
}

static lmi_examples *make(lm_world *world, const lmi_body *body, const lm_examples_def *def)
{
    lmi_examples *e = lmi_allocate(&world->memory, 1, sizeof *e);
    if (!e) {
        return NULL;
    }
    e->count = def->count;
    e->scope = def->scope;
    e->region_count = lmi_body_regions(body);
    e->group_count = def->scope == LM_EXAMPLES_BODY      ? 1
                     : def->scope == LM_EXAMPLES_REGIONS ? e->region_count
                                                         : def->group_count;
    e->particle_count = body->particle_count;
    e->beta = def->beta;
    if (!lmi_examples_allocate(world, body, e)) {
        lmi_examples_free(world, e);
        return NULL;
    }
    memcpy(e->poses, def->poses, (size_t)def->count * def->particles * sizeof *e->poses);
    for (uint32_t r = 0; r < e->region_count; r++) {
        e->group[r] = def->scope == LM_EXAMPLES_BODY ? 0 : def->scope == LM_EXAMPLES_REGIONS ? r : def->groups[r];
    }
    if (body->lattice) {
        lmi_examples_place_lattice(body, e);
    }
    return e;
}

lm_result lm_body_set_examples(lm_world *world, lm_body_id id, const lm_examples_def *def)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_examples");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = def ? def_fault(def, known) : NULL;
    fault = !fault && def && known->fracture ? "a body that can break has no examples" : fault;
    fault = !fault && def && lmi_octree_has_detail(known) ? "a body whose detail changes has no examples" : fault;
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_examples: %s", fault);
    }
    lm_result result = def ? check_arrays(world, def, known) : LM_OK;
    if (result != LM_OK || (!def && !known->examples)) {
        return result;
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_WORLD);
    lmi_examples *before = body->examples, *after = NULL;
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    if (def) {
        after = make(world, body, def);
        result = after ? LM_OK : LM_ERROR_MEMORY;
    }
    if (result == LM_OK) {
        body->examples = after;
        /* Regions of a lattice need more constants for it; those of clusters are laid out again. */
        if (body->lattice && !lmi_body_update_pinned(world, body)) {
            body->examples = before;
            lmi_examples_free(world, after);
            result = LM_ERROR_MEMORY;
        } else {
            lmi_examples_free(world, before);
            if (body->batch != LMI_NONE) { /* else it sleeps, and is laid out when it wakes */
                world->batches[body->batch].dirty = true;
            }
            lmi_body_rouse(world, body);
        }
    }
    lmi_float_mode_leave(&host);
    return result == LM_OK ? LM_OK : lmi_fail(world, result, "lm_body_set_examples: out of memory");
}

/* --- while it runs --- */

/* A body that has examples, or null. */
static const lmi_body *find(const lm_world *world, lm_body_id id, const char *caller, lm_result *result)
{
    const lmi_body *body = lmi_body_read(world, id, caller);
    *result = LM_ERROR_ID;
    if (body && !body->examples) {
        *result = lmi_fail(world, LM_ERROR_ARGUMENT, "%s: the body has no examples", caller);
    }
    return body && body->examples ? body : NULL;
}

lm_result lm_body_set_example_beta(lm_world *world, lm_body_id id, float beta)
{
    lm_result result;
    const lmi_body *body = find(world, id, "lm_body_set_example_beta", &result);
    if (!body) {
        return result;
    }
    if (!(beta >= 0.0f && beta <= 1.0f)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_example_beta: beta must be 0 to 1");
    }
    lmi_examples *e = lmi_body_change(world, body, LMI_CHANGE_WORLD)->examples;
    e->beta = beta;
    lmi_examples_apply(e);
    return LM_OK;
}

lm_result lm_body_get_example_beta(const lm_world *world, lm_body_id id, float *beta)
{
    lm_result result;
    const lmi_body *body = find(world, id, "lm_body_get_example_beta", &result);
    if (!body) {
        return result;
    }
    const lmi_examples *e = body->examples;
    *beta = e->beta;
    return LM_OK;
}

lm_result lm_body_get_example_weights(const lm_world *world, lm_body_id id, float *weights)
{
    lm_result result;
    const lmi_body *body = find(world, id, "lm_body_get_example_weights", &result);
    if (!body) {
        return result;
    }
    const lmi_examples *e = body->examples;
    if (e->forced) { /* also before a step has seen them */
        memcpy(weights, e->forced_weights, (size_t)e->group_count * e->count * sizeof *weights);
    } else {
        lmi_examples_read(e, weights);
    }
    return LM_OK;
}

lm_result lm_body_set_example_weights(lm_world *world, lm_body_id id, const float *weights)
{
    lm_result result;
    const lmi_body *body = find(world, id, "lm_body_set_example_weights", &result);
    if (!body) {
        return result;
    }
    const lmi_examples *e = body->examples;
    for (uint32_t g = 0; weights && g < e->group_count; g++) {
        double sum = 0.0;
        for (uint32_t k = 0; k < e->count; k++) {
            float w = weights[(size_t)g * e->count + k];
            sum += w;
            if (!(w >= 0.0f && w <= 1.0f)) {
                return lmi_fail(world, LM_ERROR_ARGUMENT,
                                "lm_body_set_example_weights: the weight of example %u in group %u is not 0 to 1", k,
                                g);
            }
        }
        if (sum > 1.0 + WEIGHT_ROUNDING) {
            return lmi_fail(world, LM_ERROR_ARGUMENT,
                            "lm_body_set_example_weights: the weights of group %u are more than 1 in all", g);
        }
    }
    lmi_examples *changed = lmi_body_change(world, body, LMI_CHANGE_WORLD)->examples;
    changed->forced = weights != NULL;
    if (weights) {
        memcpy(changed->forced_weights, weights, (size_t)e->group_count * e->count * sizeof *weights);
    }
    lmi_examples_apply(changed);
    return LM_OK;
}
