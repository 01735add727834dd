/*
 * Breaking: which links are strained too much, and what their bodies become.
 *
 * Reads positions; a link is broken when  |x_j - x_i| > (1 + limit) spacing.  Those farthest beyond their limits come first,
 * then by particle and axis, so that nothing depends on the order in which they were found. Rivers and James 2007, section 4.
 *
 * Only axis-aligned links are tested: diagonals strain less, and follow from what is left of a cell (lattice/lattice_break.h).
 */
#include "base/compiler.h"
#include "base/guard.h"
#include "contact/mutual.h"
#include "fracture/fracture.h"
#include "lattice/lattice_members.h"
#include "lattice/lattice_motion.h"
#include "skin/skin_open.h"
#include "skin/slit.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <stdlib.h>
#include <string.h>

/* --- strained links --- */

static double length_squared(const lmi_body *body, uint32_t a, uint32_t b)
{
    const float *x = body->x + (size_t)a * 4, *y = body->x + (size_t)b * 4;
    double d[3] = {(double)y[0] - x[0], (double)y[1] - x[1], (double)y[2] - x[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* The lowest limit that a link of the body can have. */
static double least_limit(const lmi_fracture *f)
{
    double limit = (double)f->def.limit * (1.0 - f->def.variation) * f->least_factor;
    return f->grains ? limit * f->def.grain_strength : limit;
}

static bool add_strained(lm_world *world, lmi_body *body, lmi_lattice_link link, double square)
{
    lmi_fracture *f = body->fracture;
    double strain = sqrt(square) / body->lattice->shape.spacing - 1.0, limit = lmi_fracture_limit(body, link);
    if (!(strain > limit)) {
        return true;
    }
    void *array = f->strained;
    bool ok = lmi_reserve(&world->memory, &array, &f->strained_capacity, f->strained_count + 1, sizeof *f->strained);
    f->strained = array;
    if (ok) {
        f->strained[f->strained_count++] =
            (lmi_strained){link, (float)strain, (float)limit, (float)strain / fmax((float)limit, 1e-6)};
    }
    return ok;
}

/* All links beyond their limits. False when out of memory. */
static bool find_strained(lm_world *world, lmi_body *body)
{
    const lmi_lattice *l = &body->lattice->shape;
    const double longest = l->spacing * (1.0 + least_limit(body->fracture)), limit = longest * longest;
    bool ok = true;
    body->fracture->strained_count = 0;
    for (uint32_t block = 0; block < l->block_count && ok; block++) {
        const int32_t *at = l->at[block];
        for (uint32_t axis = 0; axis < 3 && ok; axis++) {
            uint32_t beside =
                axis == 0 ? block : lmi_lattice_find_block(l, at[0], at[1] + (axis == 1), at[2] + (axis == 2));
            for (uint32_t left = l->bond[axis][block]; left && ok; left &= left - 1) {
                uint32_t lane = (uint32_t)lmi_low_bit(left), n = block * LMI_BLOCK + lane;
                uint32_t end = beside * LMI_BLOCK + lane;
                if (axis == 0) { /* blocks of a row follow each other, or there is a gap and no link */
                    end = n + 1;
                }
                double square = length_squared(body, n, end);
                if (square > limit && body->fracture->chips[n] != body->fracture->chips[end]) {
                    ok = add_strained(world, body, (lmi_lattice_link){n, axis}, square);
                }
            }
        }
    }
    return ok;
}

static int compare_strained(const void *a, const void *b)
{
    const lmi_strained *x = a, *y = b;
    if (x->beyond != y->beyond) {
        return x->beyond > y->beyond ? -1 : 1;
    }
    if (x->link.particle != y->link.particle) {
        return x->link.particle < y->link.particle ? -1 : 1;
    }
    return x->link.axis < y->link.axis ? -1 : x->link.axis > y->link.axis;
}

static int compare_links(const void *a, const void *b)
{
    const lmi_lattice_link *x = a, *y = b;
    if (x->particle != y->particle) {
        return x->particle < y->particle ? -1 : 1;
    }
    return x->axis < y->axis ? -1 : x->axis > y->axis;
}

/* Brings the `most` that come first to the front, in whichever order: there are many more of them, now and then, than can break. */
static void select_strained(lmi_strained *list, uint32_t count, uint32_t most)
{
    uint32_t low = 0, high = count; /* what comes first up to `most` is divided within these */
    while (high - low > 1) {
        const lmi_strained middle = list[low + (high - low) / 2];
        uint32_t a = low, b = high - 1;
        for (;; a++, b--) {
            while (compare_strained(&list[a], &middle) < 0) {
                a++;
            }
            while (compare_strained(&middle, &list[b]) < 0) {
                b--;
            }
            if (a >= b) {
                break;
            }
            lmi_strained swap = list[a];
            list[a] = list[b];
            list[b] = swap;
        }
        b = a > low ? a
                    : low + 1; /* no two are equal: before a all come before the middle, which is at a or after it */
        low = b <= most ? b : low;
        high = b <= most ? high : b;
    }
}

/* Those of the strained links that break, in f->links. False when out of memory. */
static bool choose(lm_world *world, lmi_body *body, uint32_t most)
{
    lmi_fracture *f = body->fracture;
    uint32_t count = f->strained_count < most ? f->strained_count : most;
    void *array = f->links;
    bool ok = lmi_reserve(&world->memory, &array, &f->link_capacity, count, sizeof *f->links);
    f->links = array;
    f->chosen = ok ? count : 0;
    if (ok && count) {
        if (count < f->strained_count) {
            select_strained(f->strained, f->strained_count, count);
        }
        for (uint32_t n = 0; n < count; n++) {
            f->links[n] = f->strained[n].link;
        }
        qsort(f->links, count, sizeof *f->links, compare_links);
    }
    return ok;
}

/* --- plans --- */

static void drop_plan(lm_world *world, lmi_body *body)
{
    lmi_memory *memory = &world->memory;
    lmi_break_plan *p = body->fracture->plan;
    if (!p) {
        return;
    }
    const lmi_lattice *l = &p->next;
    lmi_release(memory, p->weights, body->place_count, sizeof *p->weights);
    lmi_release(memory, p->velocity_moments, ((size_t)l->irregular_count + 1) * LMI_BLOCK, sizeof(float));
    lmi_release(memory, p->stiffness, l->region_count, sizeof *p->stiffness);
    lmi_release(memory, p->part, l->part_count, sizeof *p->part);
    lmi_release(memory, p->motion, l->part_count, sizeof *p->motion);
    lmi_release(memory, p->sums, lmi_lattice_sums_count(l), sizeof *p->sums);
    if (p->skin) {
        lmi_opening_drop(world, body->fracture->opening, p->skin);
        lmi_release(memory, p->skin, 1, sizeof *p->skin);
    }
    lmi_lattice_change_free(memory, &p->change);
    lmi_lattice_drop(memory, &body->lattice->shape, &p->next);
    lmi_release(memory, p, 1, sizeof *p);
    body->fracture->plan = NULL;
}

/* The share of a region that repeated another one until now: that of a region with members of its own. */
static float inherited_share(const lmi_lattice *l, uint32_t particle, const float *before, uint32_t *members)
{
    uint32_t count = lmi_lattice_region(l, particle, members);
    for (uint32_t n = 0; n < count; n++) {
        if (before[members[n]] > 0.0f) {
            return before[members[n]];
        }
    }
    return 1.0f;
}

/* Shares of the stiffness by place, and in the order of the regions that there will be. */
static bool plan_stiffness(lm_world *world, const lmi_body *body, lmi_break_plan *p, float *shares)
{
    const lmi_lattice *l = &p->next, *old = &body->lattice->shape;
    size_t side = 2 * (size_t)l->width + 1, cube = side * side * side;
    uint32_t *members = lmi_allocate(&world->memory, cube, sizeof *members), region = 0;
    p->stiffness = lmi_allocate(&world->memory, l->region_count, sizeof *p->stiffness);
    bool ok = members && p->stiffness;
    if (ok) {
        lmi_lattice_stiffness_by_place(body, shares);
    }
    for (uint32_t n = 0; ok && n < body->particle_count; n++) {
        uint32_t place = body->place[n], bit = 1u << place % LMI_BLOCK;
        if (!(l->active[place / LMI_BLOCK] & bit)) {
            shares[place] = 0.0f;
            continue;
        }
        if (!(old->active[place / LMI_BLOCK] & bit)) {
            shares[place] = inherited_share(l, place, shares, members);
        }
        p->stiffness[region++] = shares[place];
    }
    lmi_release(&world->memory, members, cube, sizeof *members);
    return ok;
}

static bool plan_weights(lm_world *world, const lmi_body *body, lmi_break_plan *p)
{
    lmi_memory *memory = &world->memory;
    bool *held = lmi_allocate(memory, body->place_count, sizeof *held);
    float *shares = body->stiffness ? lmi_allocate(memory, body->place_count, sizeof *shares) : NULL;
    p->weights = lmi_allocate(memory, body->place_count, sizeof *p->weights);
    bool ok = held && p->weights && (!body->stiffness || (shares && plan_stiffness(world, body, p, shares)));
    if (ok) {
        lmi_pins_mark(world, body, false, held);
        lmi_lattice_body_weights(body, &p->next, held, p->weights);
        ok = lmi_lattice_weigh_some(memory, &p->next, p->weights, shares, &p->change);
    }
    lmi_release(memory, held, body->place_count, sizeof *held);
    lmi_release(memory, shares, body->place_count, sizeof *shares);
    return ok;
}

static bool plan_companions(lm_world *world, const lmi_body *body, lmi_break_plan *p)
{
    lmi_memory *memory = &world->memory;
    const lmi_lattice *l = &p->next;
    if (body->lattice->velocity_moments) {
        size_t count = ((size_t)l->irregular_count + 1) * LMI_BLOCK;
        p->velocity_moments = lmi_allocate(memory, count, sizeof *p->velocity_moments);
        if (!p->velocity_moments) {
            return false;
        }
    }
    if (!p->change.parts) {
        return true;
    }
    p->part = lmi_allocate(memory, l->part_count, sizeof *p->part);
    p->motion = lmi_allocate(memory, l->part_count, sizeof *p->motion);
    p->sums = lmi_allocate(memory, lmi_lattice_sums_count(l), sizeof *p->sums);
    return p->part && p->motion && p->sums;
}

static bool plan_skin(lm_world *world, const lmi_body *body, lmi_break_plan *p)
{
    const lmi_fracture *f = body->fracture;
    if (!f->opening) {
        return true;
    }
    p->skin = lmi_allocate(&world->memory, 1, sizeof *p->skin);
    return p->skin && lmi_opening_plan(world, body, &p->next, f->links, f->chosen, p->skin);
}

/* What the body becomes when f->links break. */
static lm_result make_plan(lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    lmi_break_plan *p = lmi_allocate(&world->memory, 1, sizeof *p);
    if (!p) {
        return LM_ERROR_MEMORY;
    }
    lm_result result =
        lmi_lattice_break(&world->memory, &body->lattice->shape, f->links, f->chosen, &p->next, &p->change);
    if (result != LM_OK) {
        lmi_release(&world->memory, p, 1, sizeof *p);
        return result;
    }
    f->plan = p;
    bool ok = plan_weights(world, body, p) && plan_companions(world, body, p) && plan_skin(world, body, p);
    if (!ok) {
        drop_plan(world, body);
    }
    return ok ? LM_OK : LM_ERROR_MEMORY;
}

/* --- carrying them out --- */

/* Each new part takes over the rigid motion that is to be taken out of its parent, and owes just that. */
static void inherit(lmi_body *body, lmi_break_plan *p)
{
    const lmi_lattice *l = &p->next;
    lmi_lattice_settle_all(body);
    LMI_PARTICLES_EACH(body, n)
    {
        lmi_lattice_part *to = &p->part[l->part ? l->part[n] : 0];
        const lmi_lattice_part *from = &body->lattice->part[lmi_lattice_part_of(body, n)];
        const float *x = body->x + (size_t)n * 4;
        double mass = body->v[(size_t)n * 4 + 3];
        to->drift_centre = from->drift_centre;
        to->drift_velocity = from->drift_velocity;
        to->drift_spin = from->drift_spin;
        lm_dvec3 arm = dvec_sub(dvec(x[0], x[1], x[2]), dvec_from(from->drift_centre));
        lm_dvec3 v = dvec_add(dvec_from(from->drift_velocity), dvec_cross(dvec_from(from->drift_spin), arm));
        to->owed_momentum = dvec_add(to->owed_momentum, dvec_scale(v, mass));
        to->sums[0] += mass;
        to->owed_angular = dvec_add(to->owed_angular, dvec_scale(dvec_cross(arm, v), mass));
        double *first = to->sums + 1;
        first[0] += mass * arm.x, first[1] += mass * arm.y, first[2] += mass * arm.z;
    }
    for (uint32_t n = 0; n < l->part_count; n++) { /* angular momentum about the part's own centre */
        lmi_lattice_part *to = &p->part[n];
        lm_dvec3 centre = dvec_scale(dvec(to->sums[1], to->sums[2], to->sums[3]), 1.0 / to->sums[0]);
        to->owed_angular = dvec_sub(to->owed_angular, dvec_cross(centre, to->owed_momentum));
        memset(to->sums, 0, sizeof to->sums);
    }
}

static void replace_parts(lm_world *world, lmi_body *body, lmi_break_plan *p)
{
    lmi_lattice_body *lattice = body->lattice;
    const lmi_lattice *l = &lattice->shape;
    inherit(body, p);
    lmi_release(&world->memory, lattice->part, l->part_count, sizeof *lattice->part);
    lmi_release(&world->memory, lattice->motion, l->part_count, sizeof *lattice->motion);
    lmi_release(&world->memory, lattice->sums, lmi_lattice_sums_count(l), sizeof *lattice->sums);
    lattice->part = p->part;
    lattice->motion = p->motion;
    lattice->sums = p->sums;
    p->part = NULL;
    p->motion = NULL;
    p->sums = NULL;
}

static void tell(lm_world *world, uint32_t slot, const lmi_body *body, lmi_lattice_link link)
{
    uint32_t a = link.particle, b = lmi_lattice_link_end(&body->lattice->shape, link);
    const float *x = body->x + (size_t)a * 4, *y = body->x + (size_t)b * 4;
    const float *u = body->v + (size_t)a * 4, *v = body->v + (size_t)b * 4;
    lm_dvec3 along = dvec((double)y[0] - x[0], (double)y[1] - x[1], (double)y[2] - x[2]);
    lm_dvec3 middle = dvec_add(dvec(x[0], x[1], x[2]), dvec_scale(along, 0.5));
    lm_dvec3 apart = dvec((double)v[0] - u[0], (double)v[1] - u[1], (double)v[2] - u[2]);
    double length = dvec_length(along);
    lmi_id id = lmi_pool_id(&world->bodies, slot);
    lm_break *to = &world->breaks[world->break_count++];
    *to = (lm_break){.body = {id.slot, id.generation},
                     .particles = {body->order[a], body->order[b]},
                     .point = dvec_add(body->origin, middle),
                     .strain = (float)(length / body->lattice->shape.spacing - 1.0),
                     .limit = (float)lmi_fracture_limit(body, link),
                     .speed = length > 0.0 ? (float)(dvec_dot(along, apart) / length) : 0.0f};
}

static void carry_out(lm_world *world, uint32_t slot, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    lmi_lattice_body *lattice = body->lattice;
    lmi_break_plan *p = f->plan;
    const bool parts = p->change.parts;
    for (uint32_t n = 0; n < f->chosen; n++) {
        tell(world, slot, body, f->links[n]);
        f->links_hash += lmi_fracture_link_hash(f->links[n]);
    }
    if (parts) {
        replace_parts(world, body, p);
    }
    if (p->velocity_moments) {
        size_t count = ((size_t)lattice->shape.irregular_count + 1) * LMI_BLOCK;
        lmi_release(&world->memory, lattice->velocity_moments, count, sizeof *lattice->velocity_moments);
        lattice->velocity_moments = p->velocity_moments;
    }
    if (p->stiffness) {
        lmi_release(&world->memory, body->stiffness, lattice->shape.region_count, sizeof *body->stiffness);
        body->stiffness = p->stiffness;
    }
    lmi_lattice_keep(&world->memory, &lattice->shape, &p->next);
    LMI_PARTICLES_EACH(body, n) { body->x[(size_t)n * 4 + 3] = (float)p->weights[n]; }
    if (parts) {
        lmi_lattice_body_start_parts(body);
        lmi_lattice_body_rest_inertia(body);
        lmi_lattice_bound_parts(body);
    }
    if (p->skin) {
        lmi_opening_carry_out(world, body, p->skin);
        lmi_release(&world->memory, p->skin, 1, sizeof *p->skin);
    }
    f->broken += f->chosen;
    body->shape_hash = f->whole_hash + f->links_hash;
    lmi_release(&world->memory, p->weights, body->place_count, sizeof *p->weights);
    lmi_lattice_change_free(&world->memory, &p->change);
    lmi_release(&world->memory, p, 1, sizeof *p);
    f->plan = NULL;
}

/* Plans for what is chosen; a body whose lists would be too long stays as it is. False when out of memory. */
static bool plan(lm_world *world, lmi_body *body)
{
    lm_result result = body->fracture->chosen ? make_plan(world, body) : LM_OK;
    if (result == LM_ERROR_LIMIT) {
        body->fracture->chosen = 0;
    }
    return result != LM_ERROR_MEMORY;
}

static bool reserve_breaks(lm_world *world, uint32_t count)
{
    void *array = world->breaks;
    bool ok = lmi_reserve(&world->memory, &array, &world->break_capacity, count, sizeof *world->breaks);
    world->breaks = array;
    return ok;
}

bool lmi_fracture_step(lm_world *world)
{
    bool ok = true;
    uint32_t count = 0, parts = 0;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (ok && body->fracture && !lmi_body_is_out(body)) { /* what sleeps is not strained any further */
            if (body->fracture->breaks) {
                lmi_step_read_body(world, body); /* where it is now decides */
            }
            body->fracture->chosen = 0;
            ok = !body->fracture->breaks || (find_strained(world, body) && choose(world, body, LM_MAX_BREAKS));
            ok = ok && plan(world, body);
            count += body->fracture->chosen;
        }
        if (body->fracture && lmi_body_meets(body)) { /* with other bodies, or with movers that have a mass */
            const lmi_break_plan *next = body->fracture->plan;
            parts += next ? next->next.part_count : body->lattice->shape.part_count;
        }
    }
    ok = ok && reserve_breaks(world, count) && lmi_mutual_reserve_parts(world, parts);
    world->break_count = ok ? 0 : world->break_count;
    world->split_count = ok ? 0 : world->split_count;
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        if (body->fracture && body->fracture->plan) {
            if (ok) {
                lmi_batch_change(world, body->batch);
                carry_out(world, n, body);
            } else {
                drop_plan(world, body);
            }
        }
    }
    return ok;
}

/* --- when asked to --- */

/* Links whose middles at rest are in a ball count as strained. */
static bool find_in_ball(lm_world *world, lmi_body *body, lm_vec3 centre, float radius)
{
    lmi_fracture *f = body->fracture;
    const lmi_lattice *l = &body->lattice->shape;
    const double reach = (double)radius + l->spacing;
    f->strained_count = 0;
    LMI_PARTICLES_EACH(body, n)
    {
        if (fabs((double)body->rest[n].x - centre.x) > reach) { /* most are not even near along x */
            continue;
        }
        lm_dvec3 far = dvec_sub(dvec_from(body->rest[n]), dvec_from(centre));
        bool near = dvec_dot(far, far) <= reach * reach;
        for (uint32_t axis = 0; near && axis < 3; axis++) {
            lmi_lattice_link link = {n, axis};
            if (!lmi_lattice_holds(l, link) || f->chips[n] == f->chips[lmi_lattice_link_end(l, link)]) {
                continue;
            }
            lm_dvec3 middle =
                dvec_scale(dvec_add(lmi_lattice_rest(l, n), lmi_lattice_rest(l, lmi_lattice_link_end(l, link))), 0.5);
            if (dvec_length(dvec_sub(middle, dvec_from(centre))) > (double)radius) {
                continue;
            }
            void *array = f->strained;
            bool ok =
                lmi_reserve(&world->memory, &array, &f->strained_capacity, f->strained_count + 1, sizeof *f->strained);
            f->strained = array;
            if (!ok) {
                return false;
            }
            f->strained[f->strained_count++] = (lmi_strained){link, 0.0f, 1.0f, 0.0};
        }
    }
    return true;
}

lm_result lm_body_break(lm_world *world, lm_body_id id, lm_vec3 centre, float radius, uint32_t *broken)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_break");
    if (!known) {
        return LM_ERROR_ID;
    }
    if (!known->fracture || !(radius >= 0.0f) || !isfinite(centre.x + centre.y + centre.z)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_break: %s",
                        known->fracture ? "centre or radius is not finite" : "the body cannot break");
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_result result = LM_ERROR_MEMORY;
    lmi_fracture_undo undo = {0};
    if (lmi_fracture_open_links(world, body, &undo) && find_in_ball(world, body, centre, radius) &&
        choose(world, body, UINT32_MAX) && reserve_breaks(world, world->break_count + body->fracture->chosen)) {
        result = body->fracture->chosen ? make_plan(world, body) : LM_OK;
    }
    if (result == LM_OK && body->fracture->plan) {
        carry_out(world, id.slot - 1, body);
        lmi_body_rouse(world, body);
    }
    if (broken) {
        *broken = result == LM_OK ? body->fracture->chosen : 0;
    }
    if (result == LM_OK) {
        lmi_fracture_settle(world, body, &undo);
    } else {
        lmi_fracture_restore(world, body, &undo);
    }
    lmi_float_mode_leave(&host);
    return result == LM_OK ? LM_OK : lmi_fail(world, result, "lm_body_break: %s", lm_result_text(result));
}

/* --- by a blade --- */

lm_result lmi_fracture_cut(lm_world *world, uint32_t slot, lmi_body *body, const lmi_stroke *stroke,
                           lmi_slit_plan *slit, uint32_t *broken)
{
    lmi_memory *memory = &world->memory;
    lmi_blade blade;
    bool ready = lmi_blade_make(&blade, memory, stroke->triangles, stroke->count);
    lm_result result = LM_ERROR_MEMORY;
    body->fracture->chosen = 0;
    if (ready && lmi_fracture_find_parted(world, body, &blade, stroke) && choose(world, body, UINT32_MAX) &&
        reserve_breaks(world, world->break_count + body->fracture->chosen)) {
        result = body->fracture->chosen ? make_plan(world, body) : LM_OK;
    }
    const bool opens = slit && (slit->met || body->fracture->chosen);
    const lmi_break_plan *p = body->fracture->plan;
    if (result == LM_OK && opens && !lmi_slit_make(world, body, p ? &p->next : &body->lattice->shape, slit)) {
        drop_plan(world, body);
        result = LM_ERROR_MEMORY;
    }
    if (result == LM_OK && body->fracture->plan) {
        carry_out(world, slot, body);
        lmi_body_rouse(world, body);
    }
    if (result == LM_OK && opens) {
        lmi_slit_carry_out(world, body, slit);
    }
    *broken = result == LM_OK ? body->fracture->chosen : 0;
    lmi_blade_free(&blade, memory);
    return result;
}
