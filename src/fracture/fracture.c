/*
 * Bodies that can break: their definitions, and what follows from them.
 *
 * What is drawn (limits of links, grains) comes from a hash of the seed and of where the link or grain is in the lattice, so
 * that it is the same in every world, whatever else there is, and need not be stored.
 */
#include "fracture/fracture.h"
#include "base/compiler.h"
#include "base/guard.h"
#include "base/hash.h"
#include "lattice/lattice_members.h"
#include "skin/skin.h"
#include "skin/skin_open.h"
#include "skin/slit.h"
#include "world/access.h"
#include "world/body.h"

#include <stdlib.h>
#include <string.h>

#define FRACTURE_COOKIE 0x4c4d4631u

lm_fracture_def lm_fracture_def_default(void)
{
    lm_fracture_def def;
    memset(&def, 0, sizeof def);
    def.limit = 0.1f;
    def.seed = 1;
    def.grain_strength = 0.3f;
    def.cookie = FRACTURE_COOKIE;
    return def;
}

const char *lmi_fracture_fault(const lm_fracture_def *def)
{
    if (!(def->limit >= 0.0f && def->limit <= 1e6f)) {
        return "limit must be 0 to 1e6";
    }
    if (!(def->variation >= 0.0f && def->variation <= 1.0f)) {
        return "variation must be 0 to 1";
    }
    if (!(def->grain >= 0.0f && def->grain <= 1e6f)) {
        return "grain must be 0 to 1e6 m";
    }
    if (!(def->grain_strength >= 0.0f && def->grain_strength <= 1.0f)) {
        return "grain_strength must be 0 to 1";
    }
    return NULL;
}

void lmi_fracture_free(lm_world *world, lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    if (!f) {
        return;
    }
    lmi_release(&world->memory, f->factors, body->place_count, sizeof *f->factors);
    lmi_release(&world->memory, f->chips, body->place_count, sizeof *f->chips);
    lmi_release(&world->memory, f->grains, body->place_count, sizeof *f->grains);
    lmi_release(&world->memory, f->deep, lmi_fracture_deep_blocks(body), sizeof *f->deep);
    lmi_release(&world->memory, f->inborn, f->inborn_room, sizeof *f->inborn);
    lmi_skin_free(world, &f->whole);
    lmi_opening_free(world, f->opening);
    lmi_release(&world->memory, f->strained, f->strained_capacity, sizeof *f->strained);
    lmi_release(&world->memory, f->links, f->link_capacity, sizeof *f->links);
    lmi_release(&world->memory, f, 1, sizeof *f);
    body->fracture = NULL;
}

/* --- limits --- */

/* 0 to 1, by a place in the lattice. */
static double draw(uint32_t seed, uint64_t a, uint64_t b)
{
    uint64_t hash = lmi_hash_word(lmi_hash_word(lmi_hash_word(LMI_HASH_SEED, seed), a), b);
    return (double)(hash >> 11) * 0x1p-53;
}

static uint64_t packed(const int32_t at[3])
{
    return (uint64_t)(uint32_t)at[0] << 42 ^ (uint64_t)(uint32_t)at[1] << 21 ^ (uint32_t)at[2];
}

double lmi_fracture_limit(const lmi_body *body, lmi_lattice_link link)
{
    const lmi_fracture *f = body->fracture;
    const lmi_lattice *l = &body->lattice->shape;
    const uint32_t end = lmi_lattice_link_end(l, link);
    double limit = f->def.limit;
    if (f->def.variation > 0.0f) {
        int32_t at[3];
        lmi_lattice_corner(l, link.particle, at);
        limit *= 1.0 + f->def.variation * (2.0 * draw(f->def.seed, packed(at), link.axis) - 1.0);
    }
    if (f->grains && f->grains[link.particle] != f->grains[end]) {
        limit *= f->def.grain_strength;
    }
    if (f->factors) {
        limit *= fminf(f->factors[link.particle], f->factors[end]);
    }
    return limit;
}

/* Grains are the points nearest to one of a grid of sites, each moved about in its box: the site nearest to a particle, which
 * is in its own box or one beside it or, seldom, further away. */
static uint32_t grain_of(const lm_fracture_def *def, const double at[3])
{
    int32_t from[3] = {(int32_t)floor(at[0]), (int32_t)floor(at[1]), (int32_t)floor(at[2])};
    double best = INFINITY;
    uint64_t grain = 0;
    for (int32_t n = 0; n < 27; n++) {
        int32_t box[3] = {from[0] + n % 3 - 1, from[1] + n / 3 % 3 - 1, from[2] + n / 9 - 1};
        double square = 0.0;
        for (uint64_t a = 0; a < 3; a++) {
            double off = box[a] + draw(def->seed, packed(box), 3 + a) - at[a];
            square += off * off;
        }
        if (square < best) {
            best = square;
            grain = packed(box);
        }
    }
    return (uint32_t)(lmi_hash_word(LMI_HASH_SEED, grain) >> 32);
}

void lmi_fracture_derive(lmi_body *body)
{
    lmi_fracture *f = body->fracture;
    f->least_factor = f->factors ? 3e38f : 1.0f;
    LMI_PARTICLES_EACH(body, n)
    {
        int32_t corner[3];
        lmi_lattice_corner(&body->lattice->shape, f->chips[n], corner);
        if (f->factors) {
            f->least_factor = fminf(f->least_factor, f->factors[n]);
        }
        if (f->grains) {
            double spacing = fmin(body->lattice->shape.spacing / (double)f->def.grain, 1e3);
            double at[3] = {corner[0] * spacing, corner[1] * spacing, corner[2] * spacing};
            f->grains[n] = grain_of(&f->def, at);
        }
    }
}

/* Lanes of a block whose particles have, or had, links to all six sides. */
static uint32_t lanes_within(const lmi_lattice *l, uint32_t block)
{
    const int32_t *at = l->at[block];
    uint32_t left = lmi_lattice_find_block(l, at[0] - LMI_BLOCK, at[1], at[2]), along = lmi_lattice_links(l, block, 0);
    uint32_t under = lmi_lattice_find_block(l, at[0], at[1] - 1, at[2]);
    uint32_t behind = lmi_lattice_find_block(l, at[0], at[1], at[2] - 1);
    uint32_t lanes =
        along & (along << 1 | (left < l->block_count ? lmi_lattice_links(l, left, 0) >> (LMI_BLOCK - 1) : 0));
    lanes &= lmi_lattice_links(l, block, 1) & (under < l->block_count ? lmi_lattice_links(l, under, 1) : 0);
    return lanes & lmi_lattice_links(l, block, 2) & (behind < l->block_count ? lmi_lattice_links(l, behind, 2) : 0);
}

void lmi_fracture_find_deep(lmi_body *body)
{
    const lmi_lattice *l = &body->lattice->shape;
    for (uint32_t block = 0; block < l->block_count; block++) {
        body->fracture->deep[block] = (uint16_t)lanes_within(l, block);
    }
}

uint64_t lmi_fracture_link_hash(lmi_lattice_link link)
{
    return lmi_hash_word(LMI_HASH_SEED, (uint64_t)link.particle << 2 | link.axis);
}

/* --- a lattice that can break --- */

/* The cells of a lattice as it was made from them. */
static bool cells_of(lm_world *world, const lmi_lattice *l, lmi_voxels *v)
{
    memset(v, 0, sizeof *v);
    v->spacing = l->spacing;
    v->first = l->first;
    memcpy(v->n, l->cells, sizeof v->n);
    v->absent = l->absent;
    v->absent_count = l->absent_count;
    v->row_words = (l->cells[0] + 63) / 64;
    v->bits = lmi_allocate(&world->memory, (size_t)v->row_words * v->n[1] * v->n[2], sizeof *v->bits);
    for (uint32_t row = 0; v->bits && row < v->n[1] * v->n[2]; row++) {
        for (uint32_t word = 0; word < v->row_words; word++) {
            uint64_t bits = lmi_lattice_cells(l, word * 64, row % v->n[1], row / v->n[1]);
            v->bits[(size_t)row * v->row_words + word] = bits;
            v->cell_count += (uint64_t)lmi_bit_count(bits);
        }
    }
    return v->bits != NULL;
}

/* Arrays that are as many as the lattice's lists and parts. */
typedef struct companions {
    float *velocity_moments;
    lmi_lattice_part *part;
    lmi_lattice_motion *motion;
    lmi_lattice_sums *sums;
} companions;

static void free_companions(lm_world *world, const lmi_lattice *l, companions *c)
{
    size_t moments = ((size_t)l->irregular_count + 1) * LMI_BLOCK;
    lmi_release(&world->memory, c->velocity_moments, moments, sizeof *c->velocity_moments);
    lmi_release(&world->memory, c->part, l->part_count, sizeof *c->part);
    lmi_release(&world->memory, c->motion, l->part_count, sizeof *c->motion);
    lmi_release(&world->memory, c->sums, lmi_lattice_sums_count(l), sizeof *c->sums);
}

/* The lattice of a body, and what goes with it. */
static void free_layout(lm_world *world, lmi_lattice_body *lattice)
{
    companions c = {lattice->velocity_moments, lattice->part, lattice->motion, lattice->sums};
    free_companions(world, &lattice->shape, &c);
    lmi_lattice_free(&world->memory, &lattice->shape);
}

static bool make_companions(lm_world *world, const lmi_lattice *l, bool moments, companions *c)
{
    size_t count = ((size_t)l->irregular_count + 1) * LMI_BLOCK;
    memset(c, 0, sizeof *c);
    c->velocity_moments = moments ? lmi_allocate(&world->memory, count, sizeof *c->velocity_moments) : NULL;
    c->part = lmi_allocate(&world->memory, l->part_count, sizeof *c->part);
    c->motion = lmi_allocate(&world->memory, l->part_count, sizeof *c->motion);
    c->sums = lmi_allocate(&world->memory, lmi_lattice_sums_count(l), sizeof *c->sums);
    bool ok = (!moments || c->velocity_moments) && c->part && c->motion && c->sums;
    if (!ok) {
        free_companions(world, l, c);
    }
    return ok;
}

/* A shape with links, and what its constants were made for. */
struct lmi_links {
    lmi_lattice shape;
    double *weights; /* [places] */
    float *shares;   /* [places]; 0 where no stiffness was given */
    uint32_t places;
    lmi_lattice_wants wants;
};

/* What the constants of the body's regions are made for now. False when out of memory. */
static bool find_weights(lm_world *world, const lmi_body *body, lmi_links *links)
{
    lmi_memory *memory = &world->memory;
    bool *held = lmi_allocate(memory, body->place_count, sizeof *held);
    links->places = body->place_count;
    links->wants = lmi_lattice_wants_of(&body->material, body->plastic_material);
    links->weights = lmi_allocate(memory, body->place_count, sizeof *links->weights);
    links->shares = lmi_allocate(memory, body->place_count, sizeof *links->shares);
    bool ok = held && links->weights && links->shares;
    if (ok) {
        lmi_pins_mark(world, body, false, held);
        lmi_lattice_body_weights(body, &links->shape, held, links->weights);
        if (body->stiffness) {
            lmi_lattice_stiffness_by_place(body, links->shares);
        }
    }
    lmi_release(memory, held, body->place_count, sizeof *held);
    return ok;
}

static void free_weights(lm_world *world, lmi_links *links)
{
    lmi_release(&world->memory, links->weights, links->places, sizeof *links->weights);
    lmi_release(&world->memory, links->shares, links->places, sizeof *links->shares);
}

static bool same_weights(const lmi_links *a, const lmi_links *b)
{
    return a->wants.stretch == b->wants.stretch && a->wants.affine == b->wants.affine &&
           memcmp(a->weights, b->weights, a->places * sizeof *a->weights) == 0 &&
           memcmp(a->shares, b->shares, a->places * sizeof *a->shares) == 0;
}

/* The constants of the body's regions for links that are to be its own. `known`: null, or what those that these have were made for. */
static bool weigh(lm_world *world, const lmi_body *body, lmi_links *links, const lmi_links *known)
{
    return find_weights(world, body, links) &&
           ((known && same_weights(links, known)) ||
            lmi_lattice_weigh(&world->memory, &links->shape, links->weights, body->stiffness ? links->shares : NULL,
                              links->wants));
}

/* The lattice of a body as one whose links may break, without constants. */
static lm_result make_shape(lm_world *world, const lmi_lattice *l, const lmi_lattice_breaks *breaks, lmi_lattice *shape)
{
    lmi_voxels cells;
    if (!cells_of(world, l, &cells)) {
        return LM_ERROR_MEMORY;
    }
    lm_result result = lmi_lattice_make(&world->memory, &cells, l->width, LMI_LATTICE_LISTS, breaks, shape);
    lmi_release(&world->memory, cells.bits, (size_t)cells.row_words * cells.n[1] * cells.n[2], sizeof *cells.bits);
    return result;
}

lm_result lmi_links_make(lm_world *world, const lmi_body *body, lmi_links **to)
{
    const lmi_lattice_breaks none = {0};
    lmi_links *links = lmi_allocate(&world->memory, 1, sizeof *links);
    lm_result result = links ? make_shape(world, &body->lattice->shape, &none, &links->shape) : LM_ERROR_MEMORY;
    if (result != LM_OK) {
        lmi_release(&world->memory, links, 1, sizeof *links);
        return result;
    }
    if (!weigh(world, body, links, NULL)) {
        lmi_links_free(world, links);
        return LM_ERROR_MEMORY;
    }
    *to = links;
    return LM_OK;
}

void lmi_links_free(lm_world *world, lmi_links *links)
{
    if (links) {
        free_weights(world, links);
        lmi_lattice_free(&world->memory, &links->shape);
        lmi_release(&world->memory, links, 1, sizeof *links);
    }
}

lm_result lmi_fracture_start(lm_world *world, lmi_body *body, const lmi_lattice_breaks *breaks, bool weighed,
                             lmi_fracture_undo *undo)
{
    lmi_lattice_body *lattice = body->lattice;
    lmi_links made = {0}, *known = weighed && undo ? undo->links : NULL;
    companions more;
    if (known) {
        made.shape = known->shape;
        memset(&known->shape, 0, sizeof known->shape);
        undo->links = NULL;
    } else {
        lm_result result = make_shape(world, &lattice->shape, breaks, &made.shape);
        if (result != LM_OK) {
            return result;
        }
    }
    const bool ok = (!weighed || weigh(world, body, &made, known)) &&
                    make_companions(world, &made.shape, lattice->velocity_moments != NULL, &more);
    free_weights(world, &made);
    lmi_links_free(world, known);
    if (!ok) {
        lmi_lattice_free(&world->memory, &made.shape);
        return LM_ERROR_MEMORY;
    }
    const lmi_lattice shape = made.shape;
    for (uint32_t n = 0; n < shape.part_count && shape.part_count == lattice->shape.part_count; n++) {
        more.part[n] = lattice->part[n];
        memset(more.part[n].sums, 0, sizeof more.part[n].sums);
    }
    if (undo) {
        undo->lattice = *lattice;
    } else {
        free_layout(world, lattice);
    }
    lattice->shape = shape;
    lattice->velocity_moments = more.velocity_moments;
    lattice->part = more.part;
    lattice->motion = more.motion;
    lattice->sums = more.sums;
    lmi_lattice_body_start_parts(body);
    return LM_OK;
}

static int compare_links(const void *a, const void *b)
{
    const lmi_lattice_link *x = a, *y = b;
    if (x->particle != y->particle) {
        return x->particle < y->particle ? -1 : 1;
    }
    return x->axis < y->axis ? -1 : x->axis > y->axis;
}

bool lmi_fracture_bear(lm_world *world, lmi_fracture *f, const lmi_lattice_link *links, uint32_t count)
{
    bool ok = true;
    lmi_lattice_link *inborn = lmi_copy(&world->memory, links, count, sizeof *inborn, &ok);
    if (!ok) {
        return false;
    }
    if (count) {
        qsort(inborn, count, sizeof *inborn, compare_links);
    }
    lmi_release(&world->memory, f->inborn, f->inborn_room, sizeof *f->inborn);
    f->inborn = inborn;
    f->inborn_count = f->inborn_room = count;
    return true;
}

bool lmi_fracture_is_inborn(const lmi_fracture *f, lmi_lattice_link link)
{
    return f->inborn_count && bsearch(&link, f->inborn, f->inborn_count, sizeof link, compare_links);
}

lm_result lmi_fracture_remake(lm_world *world, lmi_body *body, const lmi_lattice_link *links, uint32_t count)
{
    lmi_fracture *f = body->fracture;
    lmi_lattice_breaks breaks = {links, count};
    lm_result result = lmi_fracture_start(world, body, &breaks, false, NULL);
    if (result != LM_OK) {
        return result;
    }
    f->chips = lmi_allocate(&world->memory, body->place_count, sizeof *f->chips);
    f->deep = lmi_allocate(&world->memory, lmi_fracture_deep_blocks(body), sizeof *f->deep);
    f->grains = f->def.grain > 0.0f ? lmi_allocate(&world->memory, body->place_count, sizeof *f->grains) : NULL;
    if (!f->chips || !f->deep || (f->def.grain > 0.0f && !f->grains)) {
        return LM_ERROR_MEMORY;
    }
    lmi_fracture_find_deep(body);
    lmi_lattice_find_chips(&body->lattice->shape, f->chips);
    LMI_PARTICLES_EACH(body, n)
    {
        if (f->chips[n] == LMI_LATTICE_NONE) { /* so many corners are absent that it hangs on nothing */
            return LM_ERROR_ARGUMENT;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        f->links_hash += lmi_fracture_link_hash(links[n]);
        if (f->chips[links[n].particle] == f->chips[lmi_lattice_link_end(&body->lattice->shape, links[n])]) {
            return LM_ERROR_ARGUMENT;
        }
    }
    lmi_fracture_derive(body);
    return LM_OK;
}

/* --- until it is certain --- */

/* What touches, and what others touch, of a body without links. */
static void keep_touch(lmi_body *body, lmi_fracture_undo *undo)
{
    undo->laid_out = true;
    undo->touch = body->touch;
    undo->bulk = body->bulk;
    undo->cubes = body->cubes;
    undo->surface = body->surface;
    undo->contact_points = body->contact_points;
    body->bulk = NULL;
    body->cubes = NULL;
    body->surface = NULL;
}

void lmi_fracture_settle(lm_world *world, const lmi_body *body, lmi_fracture_undo *undo)
{
    if (undo->laid_out) {
        lmi_body old = {.bulk = undo->bulk, .cubes = undo->cubes, .surface = undo->surface};
        free_layout(world, &undo->lattice);
        lmi_touch_free(world, &undo->touch);
        lmi_body_free_bulk(world, &old);
        lmi_body_rouse(world, body);
    }
    if (undo->shown && undo->slit) { /* the skin from before all cuts is in use */
        memset(&undo->slit->whole, 0, sizeof undo->slit->whole);
        lmi_slit_free(world, undo->slit);
        lmi_skin_free(world, &undo->skin);
    }
    lmi_opening_free(world, undo->opening);
    *undo = (lmi_fracture_undo){.links = undo->links};
}

/* The skin as it was. */
static void restore_skin(lm_world *world, lmi_body *body, const lmi_fracture_undo *undo)
{
    lmi_fracture *f = body->fracture;
    if (f->broken) { /* what is shown is the opening's; what it was made from is not */
        lmi_skin_free(world, &body->skin);
        memset(&f->whole, 0, sizeof f->whole);
    }
    lmi_opening_free(world, f->opening);
    f->opening = NULL;
    f->whole_hash = undo->whole_hash;
    body->skin = undo->skin;
    body->slit = undo->slit;
    body->shape_hash = undo->shape_hash;
}

void lmi_fracture_restore(lm_world *world, lmi_body *body, lmi_fracture_undo *undo)
{
    if (undo->shown) {
        restore_skin(world, body, undo);
    }
    if (undo->opening) {
        body->fracture->opening = undo->opening;
    }
    if (undo->laid_out) {
        lmi_fracture_free(world, body);
        free_layout(world, body->lattice);
        *body->lattice = undo->lattice;
        lmi_touch_free(world, &body->touch);
        body->touch = undo->touch;
        body->bulk = undo->bulk;
        body->cubes = undo->cubes;
        body->surface = undo->surface;
        body->contact_points = undo->contact_points;
    }
    *undo = (lmi_fracture_undo){.links = undo->links};
}

/* --- the interface --- */

static const char *fracture_fault(const lmi_body *body, const lm_fracture_def *def)
{
    if (!body->lattice) {
        return "only a lattice can break";
    }
    if (body->examples) {
        return "a body with examples cannot break";
    }
    if (def && def->cookie != FRACTURE_COOKIE) {
        return "the definition did not come from lm_fracture_def_default";
    }
    for (uint32_t n = 0; def && def->factors && n < body->particle_count; n++) {
        if (!(def->factors[n] >= 0.0f && def->factors[n] <= 1e6f)) {
            return "every one of factors must be 0 to 1e6";
        }
    }
    return def ? lmi_fracture_fault(def) : NULL;
}

/* The first definition of a body: from here on its links may break. */
static lm_result begin_fracture(lm_world *world, lmi_body *body, bool opens, lmi_fracture_undo *undo)
{
    lmi_fracture *f = lmi_allocate(&world->memory, 1, sizeof *f);
    if (!f) {
        return LM_ERROR_MEMORY;
    }
    body->fracture = f;
    f->chips = lmi_allocate(&world->memory, body->place_count, sizeof *f->chips);
    f->deep = lmi_allocate(&world->memory, lmi_fracture_deep_blocks(body), sizeof *f->deep);
    if (f->chips) {
        lmi_lattice_find_chips(&body->lattice->shape, f->chips);
    }
    f->whole_hash = lmi_hash_shape(body);
    bool ok = f->chips && f->deep;
    opens = opens && body->skin.vertex_count;
    lmi_opening *opening = ok && opens ? lmi_fracture_opening(world, body) : NULL;
    lm_result result = ok && (!opens || opening) ? LM_OK : LM_ERROR_MEMORY;
    lmi_lattice_breaks none = {0};
    result = result == LM_OK ? lmi_fracture_start(world, body, &none, true, undo) : result;
    if (result != LM_OK) {
        lmi_opening_free(world, opening);
        lmi_fracture_free(world, body);
    } else {
        lmi_fracture_find_deep(body);
        if (opening) {
            lmi_fracture_show(world, body, opening, undo);
        }
    }
    return result;
}

lm_result lmi_fracture_set(lm_world *world, lmi_body *body, const lm_fracture_def *def, bool opens,
                           lmi_fracture_undo *undo)
{
    bool first = !body->fracture;
    float *factors = def->factors ? lmi_allocate(&world->memory, body->place_count, sizeof *factors) : NULL;
    uint32_t *grains = def->grain > 0.0f ? lmi_allocate(&world->memory, body->place_count, sizeof *grains) : NULL;
    lmi_touch touch = {0};
    bool meets = body->mask != 0 || body->self_contact;
    bool room = (!def->factors || factors) && (def->grain == 0.0f || grains) &&
                (!meets || lmi_touch_particles(world, body, &touch));
    lm_result result = room ? LM_OK : LM_ERROR_MEMORY;
    result = result == LM_OK && first ? begin_fracture(world, body, opens, undo) : result;
    if (result == LM_OK && opens && !lmi_fracture_open_links(world, body, undo)) {
        result = LM_ERROR_MEMORY;
    }
    if (result == LM_OK) {
        lmi_fracture *f = body->fracture;
        float *old_factors = f->factors;
        uint32_t *old_grains = f->grains;
        f->def = *def;
        f->def.factors = NULL;
        f->breaks = true;
        f->factors = factors;
        f->grains = grains;
        for (uint32_t n = 0; factors && n < body->particle_count; n++) {
            factors[body->place[n]] = def->factors[n];
        }
        lmi_fracture_derive(body);
        /* Points on a surface that opens would ride on two pieces: the particles touch. */
        bool keeps = undo && first;
        if (keeps) {
            keep_touch(body, undo);
        } else {
            lmi_touch_free(world, &body->touch);
            lmi_body_free_bulk(world, body);
        }
        body->touch = touch;
        touch = (lmi_touch){0};
        body->contact_points = LM_CONTACT_PARTICLES;
        if (!keeps) {
            lmi_body_rouse(world, body);
        }
        factors = old_factors;
        grains = old_grains;
    }
    lmi_touch_free(world, &touch);
    lmi_release(&world->memory, factors, body->place_count, sizeof *factors);
    lmi_release(&world->memory, grains, body->place_count, sizeof *grains);
    return result;
}

lm_result lm_body_set_fracture(lm_world *world, lm_body_id id, const lm_fracture_def *def)
{
    const lmi_body *known = lmi_body_known(world, id, "lm_body_set_fracture");
    if (!known) {
        return LM_ERROR_ID;
    }
    const char *fault = fracture_fault(known, def);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_body_set_fracture: %s", fault);
    }
    lmi_body *body = lmi_body_change(world, known, LMI_CHANGE_BODY);
    if (!def) {
        if (body->fracture) {
            body->fracture->breaks = false;
        }
        return LM_OK;
    }
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    lm_result result = lmi_fracture_set(world, body, def, true, NULL);
    lmi_float_mode_leave(&host);
    return result == LM_OK ? LM_OK : lmi_fail(world, result, "lm_body_set_fracture: %s", lm_result_text(result));
}

lm_result lm_body_get_fracture(const lm_world *world, lm_body_id id, bool *breaks, lm_fracture_def *def)
{
    const lmi_body *body = lmi_body_read(world, id, "lm_body_get_fracture");
    if (!body) {
        return LM_ERROR_ID;
    }
    *breaks = body->fracture && body->fracture->breaks;
    *def = *breaks ? body->fracture->def : lm_fracture_def_default();
    return LM_OK;
}

uint32_t lm_world_get_breaks(const lm_world *world, lm_break *breaks, uint32_t capacity)
{
    uint32_t count = world->break_count < capacity ? world->break_count : capacity;
    if (count) {
        memcpy(breaks, world->breaks, count * sizeof *breaks);
    }
    return world->break_count;
}
