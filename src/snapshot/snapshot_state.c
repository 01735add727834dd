/*
 * State without structure, for rollback.
 *
 *     bytes 0..7    "LIMBERST"
 *     bytes 8..11   format version
 *     bytes 12..19  size of all of it
 *     bytes 20..27  checksum of what follows the header
 *     bytes 28..35  the structure that it belongs to (lm_world_structure)
 *     bytes 36..43  size of the first of two parts
 *
 * The first part is small and goes through an archive, field by field, as a snapshot does. The second has what each particle, region
 * and touch point has, body by body, and is copied. Touch points that touch nothing, which are most, and blocks of lattices that have not
 * flowed take a bit or a byte each.
 *
 * Loading writes into the world as it stands, where bodies are packed as they are: who is in which batch changes no bit of a result.
 * The first part is read after a copy of it was saved, which is put back when it, or the second part, turns out to be damaged; the
 * second part is checked before any of it is used.
 */
#include "base/guard.h"
#include "base/hash.h"
#include "collide/wrench.h"
#include "contact/touching.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "joint/joint.h"
#include "match/examples.h"
#include "octree/octree_body.h"
#include "skeleton/skeleton.h"
#include "skin/skin.h"
#include "snapshot/archive.h"
#include "world/access.h"
#include "world/body.h"
#include "world/elastic.h"
#include "world/in_step.h"

#include <float.h>
#include <string.h>

#define STATE_VERSION 3
#define STATE_HEADER 44

/* --- structure --- */

static uint64_t hash_body_parts(uint64_t h, const lmi_body *body)
{
    if (body->lattice) {
        h = lmi_hash_word(h, body->lattice->shape.part_count);
        h = lmi_hash_array(h, &body->lattice->width_metres, sizeof body->lattice->width_metres);
        h = lmi_hash_word(h, body->lattice->plastic.state != NULL);
    }
    if (body->octree) {
        const lmi_octree *t = &body->octree->tree;
        h = lmi_hash_array(h, t->cut, t->voxel_count * sizeof *t->cut);
        h = lmi_hash_array(h, t->width, t->leaf_count * sizeof *t->width);
        h = lmi_hash_word(h, (uint64_t)t->node_count << 32 | t->bend_count);
        h = lmi_hash_word(h, (uint64_t)body->self_contact << 1 | (body->octree->levels != NULL));
    }
    if (body->octree && body->octree->levels) {
        const lm_detail d = body->octree->levels->detail;
        const float values[6] = {d.touch_size, d.touch_radius, d.eye_angle, d.finest, d.coarsest, d.hold};
        h = lmi_hash_array(h, values, sizeof values);
        h = lmi_hash_word(h, (uint64_t)d.budget << 32 | d.per_step);
        h = lmi_hash_array(h, body->octree->levels->home, body->octree->tree.voxel_count);
    }
    if (body->fracture) {
        const lmi_fracture *f = body->fracture;
        const float values[4] = {f->def.limit, f->def.variation, f->def.grain, f->def.grain_strength};
        h = lmi_hash_word(lmi_hash_word(h, f->links_hash), (uint64_t)f->broken << 1 | f->breaks);
        h = lmi_hash_array(lmi_hash_word(h, f->def.seed), values, sizeof values);
        h = lmi_hash_array(h, f->factors, f->factors ? body->place_count * sizeof *f->factors : 0);
    }
    for (uint32_t n = 0; body->grain && n < body->grain->bond_count; n++) {
        const lmi_bond *bond = &body->grain->bonds[n];
        h = lmi_hash_word(h, ((uint64_t)bond->a << 32 | bond->b) + bond->cut);
    }
    if (body->examples) {
        const lmi_examples *e = body->examples;
        h = lmi_hash_word(h, (uint64_t)e->count << 32 | e->group_count);
        h = lmi_hash_array(h, e->poses, (size_t)e->count * e->particle_count * sizeof *e->poses);
        h = lmi_hash_array(h, e->group, e->region_count * sizeof *e->group);
    }
    return h;
}

static uint64_t hash_body(uint64_t h, const lmi_body *body)
{
    const lmi_touch *touch = &body->touch;
    h = lmi_hash_word(lmi_hash_word(h, body->shape_hash), (uint64_t)body->place_count << 32 | body->particle_count);
    h = lmi_hash_word(h, (uint64_t)body->material.mode << 2 | (uint64_t)body->material.damping_kind << 1 |
                             body->plastic_material);
    h = lmi_hash_word(h, lmi_is_elastic(&body->material));
    h = lmi_hash_array(h, body->mass, body->place_count * sizeof *body->mass);
    h = lmi_hash_array(h, body->stiffness, body->stiffness ? lmi_body_regions(body) * sizeof *body->stiffness : 0);
    h = lmi_hash_array(lmi_hash_word(h, body->contact_points), touch->rest, touch->count * sizeof *touch->rest);
    h = lmi_hash_word(lmi_hash_word(h, touch->count), body->bulk ? body->bulk->mould->hash : 0);
    return hash_body_parts(h, body);
}

static uint64_t hash_pool(uint64_t h, const lmi_pool *pool)
{
    return lmi_hash_array(lmi_hash_word(h, pool->slots), pool->generations, pool->slots * sizeof *pool->generations);
}

static uint64_t hash_holds(uint64_t h, const lm_world *world)
{
    LMI_POOL_EACH(&world->pins, n)
    {
        const lmi_pin *pin = LMI_POOL_AT(&world->pins, lmi_pin, n);
        h = lmi_hash_word(h, (uint64_t)pin->body << 32 | pin->next);
        h = lmi_hash_array(h, pin->particles, pin->count * sizeof *pin->particles);
    }
    LMI_POOL_EACH(&world->drags, n)
    {
        const lmi_drag *drag = LMI_POOL_AT(&world->drags, lmi_drag, n);
        h = lmi_hash_word(h, (uint64_t)drag->body << 32 | drag->next);
        h = lmi_hash_word(h, drag->particle);
        h = lmi_hash_array(h, &drag->radius, sizeof drag->radius);
        h = lmi_hash_array(h, drag->particles, drag->count * sizeof *drag->particles);
    }
    LMI_POOL_EACH(&world->skeletons, n)
    {
        const lmi_skeleton *s = LMI_POOL_AT(&world->skeletons, lmi_skeleton, n);
        h = lmi_hash_word(lmi_hash_word(h, s->body), s->bone_count);
        h = lmi_hash_array(h, s->particles, s->particle_count * sizeof *s->particles);
        h = lmi_hash_array(h, s->weights, s->particle_count * sizeof *s->weights);
        for (uint32_t k = 0; k < s->link_count; k++) {
            const lmi_bone_link *link = &s->links[k];
            h = lmi_hash_array(lmi_hash_word(h, link->bone), &link->local, sizeof link->local);
        }
    }
    LMI_POOL_EACH(&world->joints, n)
    {
        const lmi_joint *j = LMI_POOL_AT(&world->joints, lmi_joint, n);
        h = lmi_hash_word(h, j->kind);
        for (int e = 0; e < 2; e++) {
            const lmi_joint_end *end = &j->end[e];
            h = lmi_hash_word(lmi_hash_word(h, end->body), (uint64_t)end->skeleton << 32 | end->bone);
            h = lmi_hash_array(h, end->particles, end->count * sizeof *end->particles);
        }
    }
    return h;
}

uint64_t lm_world_structure(const lm_world *world)
{
    uint64_t h = LMI_HASH_SEED;
    const lmi_pool *const pools[] = {&world->bodies, &world->movers, &world->colliders, &world->pins,
                                     &world->drags,  &world->fields, &world->skeletons, &world->joints};
    for (size_t n = 0; n < sizeof pools / sizeof *pools; n++) {
        h = hash_pool(h, pools[n]);
    }
    LMI_POOL_EACH(&world->bodies, n) { h = hash_body(h, lmi_body_at(world, n)); }
    LMI_POOL_EACH(&world->colliders, n)
    {
        const lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        h = lmi_hash_word(lmi_hash_word(h, c->solid_hash), c->shape);
    }
    return hash_holds(h, world);
}

/* --- the first part --- */

static void visit_rest(archive *a, const lm_world *world, lmi_body *body)
{
    visit_bool(a, &body->may_sleep);
    visit_bool(a, &body->asleep);
    visit_bool(a, &body->disabled);
    visit_float(a, &body->still);
    visit_index(a, &body->island, world->bodies.slots, false);
    refuse_if(a, !(body->still >= 0.0f && body->still <= 1e6f));
    if (body->asleep) { /* those who are awake find it again */
        visit_vec3(a, &body->motion.centre);
        visit_double(a, &body->motion.mass);
        for (int i = 0; i < 6; i++) {
            visit_double(a, &body->motion.inertia[i]);
        }
        refuse_if(a, !is_near(body->motion.centre));
    }
}

/* What setters set. */
static void visit_settings(archive *a, lm_world *world, lmi_body *body)
{
    const lm_material before = body->material;
    visit_float(a, &body->contact_radius);
    visit_float(a, &body->penalty);
    visit_u32(a, &body->group);
    visit_u32(a, &body->mask);
    visit_u32(a, &body->collider_mask);
    visit_bool(a, &body->self_contact);
    visit_u64(a, &body->user_data);
    lmi_visit_material(a, &body->material);
    const lm_material *m = &body->material;
    refuse_if(a, !(body->contact_radius >= 0.0f && body->contact_radius <= 1e6f) ||
                     !(body->penalty >= 0.0f && body->penalty <= 1e12f) ||
                     ((body->mask != 0 || body->self_contact) && !body->bulk && !body->fracture));
    refuse_if(a, m->mode != before.mode || lmi_is_elastic(m) != lmi_is_elastic(&before) ||
                     m->damping_kind != before.damping_kind || (m->yield > 0.0f && !body->plastic_material));
    if (!ok(a)) {
        body->material = before; /* what is put back is compared with it */
    }
    if (a->mode == LOAD && memcmp(m, &before, sizeof before) != 0) {
        body->tuned_step = 0.0;
        lmi_batch_set_material(world, body->slot);
    }
}

static void visit_body_state(archive *a, lm_world *world, lmi_body *body)
{
    visit_settings(a, world, body);
    visit_position(a, &body->origin);
    visit_vec3(a, &body->lower);
    visit_vec3(a, &body->upper);
    refuse_if(a, !is_near(body->lower) || !is_near(body->upper));
    visit_u32(a, &body->damping_turn);
    visit_u32(a, &body->first_force);
    visit_rest(a, world, body);
    if (body->lattice) {
        visit_dmat3(a, &body->lattice->frame);
        refuse_if(a, !is_rotation(&body->lattice->frame));
        lmi_visit_parts(a, body->lattice);
    }
    if (body->examples) {
        visit_float(a, &body->examples->beta);
        refuse_if(a, !(body->examples->beta >= 0.0f && body->examples->beta <= 1.0f));
        lmi_visit_example_weights(a, body->examples);
        if (a->mode == LOAD && body->examples->lanes) {
            lmi_examples_apply(body->examples);
        }
    }
    for (uint32_t leaf = 0; lmi_octree_has_detail(body) && leaf < body->octree->tree.leaf_count && ok(a); leaf++) {
        float *quiet = &body->octree->levels->leaf[leaf].quiet;
        visit_float(a, quiet);
        refuse_if(a, !(*quiet >= 0.0f && *quiet <= 7200.0f));
    }
}

static void visit_drag_state(archive *a, lmi_drag *drag)
{
    visit_dvec3(a, &drag->target);
    visit_float(a, &drag->hertz);
    visit_float(a, &drag->damping_ratio);
    visit_float(a, &drag->max_force);
    visit_vec3(a, &drag->force);
    refuse_if(a, !(drag->hertz > 0.0f && drag->hertz <= 1e6f && drag->damping_ratio >= 0.0f &&
                   drag->damping_ratio <= 1e6f && drag->max_force > 0.0f));
}

static void visit_pin_state(archive *a, const lm_world *world, lmi_pin *pin)
{
    visit_index(a, &pin->mover, world->movers.slots, true);
    bool has = ok(a) && pin->mover != LMI_NONE, used = has && lmi_pool_used(&world->movers, pin->mover);
    refuse_if(a, has && (!used || LMI_POOL_AT(&world->movers, lmi_mover, pin->mover)->mass > 0.0f));
    for (uint32_t n = 0; n < pin->count && ok(a); n++) {
        visit_dvec3(a, &pin->targets[n]);
    }
}

/* Who touches whom; records that were read know nothing else of their contacts. */
static void visit_contacts(archive *a, lm_world *world)
{
    lmi_touchings *t = world->touchings;
    if (a->mode == LOAD && t) {
        t->now.count = t->before.count = t->left_out = 0;
        t->told = false;
    }
    lmi_visit_contacts(a, world);
    t = world->touchings;
    for (uint32_t n = 0; a->mode == LOAD && t && n < t->now.count; n++) {
        lmi_touching *r = &t->now.records[n];
        *r = (lmi_touching){.a = r->a,
                            .b = r->b,
                            .generation_a = r->generation_a,
                            .generation_b = r->generation_b,
                            .kind = r->kind,
                            .point = r->point,
                            .normal = r->normal};
    }
}

static void visit_small(archive *a, lm_world *world)
{
    visit_vec3(a, &world->gravity);
    visit_u32(a, &world->substeps);
    refuse_if(a, !is_slow(world->gravity) || world->substeps > LM_MAX_SUBSTEPS);
    visit_double(a, &world->time);
    visit_u64(a, &world->steps);
    visit_dvec3(a, &world->outside_impulse);
    visit_bool(a, &world->has_eye);
    visit_position(a, &world->eye);
    LMI_POOL_EACH(&world->bodies, n) { visit_body_state(a, world, lmi_body_in_step(world, n)); }
    LMI_POOL_EACH(&world->movers, n) { lmi_visit_mover(a, LMI_POOL_AT(&world->movers, lmi_mover, n)); }
    LMI_POOL_EACH(&world->colliders, n)
    {
        lmi_collider *c = LMI_POOL_AT(&world->colliders, lmi_collider, n);
        lm_shape shape = c->shape;
        lmi_visit_collider(a, world, c);
        refuse_if(a, c->shape != shape);
        c->shape = shape;
        if (c->solid.mesh && c->solid.mesh->motion) {
            lmi_visit_vertices(a, c->solid.mesh);
        }
    }
    LMI_POOL_EACH(&world->pins, n) { visit_pin_state(a, world, LMI_POOL_AT(&world->pins, lmi_pin, n)); }
    LMI_POOL_EACH(&world->drags, n) { visit_drag_state(a, LMI_POOL_AT(&world->drags, lmi_drag, n)); }
    LMI_POOL_EACH(&world->fields, n) { lmi_visit_field(a, LMI_POOL_AT(&world->fields, lm_field_def, n)); }
    lmi_visit_forces(a, world);
    visit_contacts(a, world);
    LMI_POOL_EACH(&world->skeletons, n) { lmi_visit_bones(a, LMI_POOL_AT(&world->skeletons, lmi_skeleton, n)); }
    LMI_POOL_EACH(&world->joints, n) { lmi_visit_joint_state(a, world, LMI_POOL_AT(&world->joints, lmi_joint, n)); }
    if (a->mode == LOAD && ok(a)) {
        lmi_check_lists(a, world);
    }
}

/* --- the second part --- */

typedef enum copy_mode { BOUND, WRITE, CHECK, READ } copy_mode;

typedef struct copier {
    copy_mode mode;
    unsigned char *bytes;
    size_t at, size; /* of the buffer, where there is one */
    bool fault;      /* it is too small, or holds what cannot be */
} copier;

/* The next `size` bytes; null where there is nothing to do with them. */
static unsigned char *take_bytes(copier *c, size_t size)
{
    size_t at = c->at;
    if (c->mode != BOUND && (c->fault || size > c->size - at)) {
        c->fault = true;
        return NULL;
    }
    c->at += size;
    return c->mode == BOUND ? NULL : c->bytes + at;
}

static inline void put_word(unsigned char *to, uint32_t word)
{
    to[0] = (unsigned char)word;
    to[1] = (unsigned char)(word >> 8);
    to[2] = (unsigned char)(word >> 16);
    to[3] = (unsigned char)(word >> 24);
}

static inline uint32_t get_word(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Floats go as they are where memory is little-endian, as nearly everywhere. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLOATS_AS_THEY_ARE 1
#else
#define FLOATS_AS_THEY_ARE 0
#endif

static inline void put_floats(unsigned char *to, const float *values, uint32_t count)
{
    if (FLOATS_AS_THEY_ARE) {
        memcpy(to, values, count * sizeof *values);
        return;
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t word;
        memcpy(&word, &values[n], sizeof word);
        put_word(to + (size_t)n * 4, word);
    }
}

static inline void get_floats(const unsigned char *from, float *values, uint32_t count)
{
    if (FLOATS_AS_THEY_ARE) {
        memcpy(values, from, count * sizeof *values);
        return;
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t word = get_word(from + (size_t)n * 4);
        memcpy(&values[n], &word, sizeof word);
    }
}

/* Whether floats are within -most to most: without the sign their bits are in the order of their values, what is no number last. */
static bool are_within(const unsigned char *from, size_t count, float most)
{
    uint32_t limit, beyond = 0;
    memcpy(&limit, &most, sizeof limit);
    for (size_t n = 0; n < count; n++) {
        beyond |= (get_word(from + n * 4) & 0x7fffffffu) > limit;
    }
    return !beyond;
}

/* x y z of every particle, four floats apart. */
static void copy_vectors(copier *c, const lmi_body *body, float *values, float most)
{
    unsigned char *p = take_bytes(c, (size_t)body->particle_count * 12);
    if (p && c->mode == CHECK) {
        c->fault = c->fault || !are_within(p, (size_t)body->particle_count * 3, most);
    } else if (p && c->mode == WRITE) {
        LMI_PARTICLES_EACH(body, n)
        {
            put_floats(p, values + (size_t)n * 4, 3);
            p += 12;
        }
    } else if (p) {
        LMI_PARTICLES_EACH(body, n)
        {
            get_floats(p, values + (size_t)n * 4, 3);
            p += 12;
        }
    }
}

/* So many floats, `stride` apart, each within -most to most. */
static void copy_floats(copier *c, float *values, uint32_t count, uint32_t stride, float most)
{
    unsigned char *p = take_bytes(c, (size_t)count * 4);
    if (p && c->mode == CHECK) {
        c->fault = c->fault || !are_within(p, count, most);
    }
    for (uint32_t n = 0; p && c->mode == WRITE && n < count; n++) {
        put_floats(p + (size_t)n * 4, values + (size_t)n * stride, 1);
    }
    for (uint32_t n = 0; p && c->mode == READ && n < count; n++) {
        get_floats(p + (size_t)n * 4, values + (size_t)n * stride, 1);
    }
}

static void copy_regions(copier *c, const lm_world *world, lmi_body *body)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *rotation = lmi_body_rotation(world, body, r, &stride);
        copy_floats(c, rotation, 9, stride, 1.001f);
        if (body->plastic_material) {
            float *plastic = lmi_body_plastic(world, body, r, &stride);
            copy_floats(c, plastic, 6, stride, 100.0f);
        }
    }
}

/* Blocks that have not flowed are 1 on the diagonal. */
static void copy_flowed(copier *c, lmi_lattice_plastic *plastic, uint32_t block)
{
    const uint32_t size = 6 * LMI_BLOCK;
    float *state = plastic->state + (size_t)block * size;
    unsigned char *flag = take_bytes(c, 1);
    if (flag && c->mode == WRITE) {
        *flag = plastic->flowed[block];
    }
    uint8_t flowed = flag ? *flag : 1;
    c->fault = c->fault || flowed > 1;
    if (flag && c->mode == READ) {
        plastic->flowed[block] = flowed;
    }
    if (flowed) {
        copy_floats(c, state, size, 1, 100.0f);
    }
    for (uint32_t n = 0; flag && !flowed && c->mode == READ && n < size; n++) {
        state[n] = n < 3 * LMI_BLOCK ? 1.0f : 0.0f;
    }
}

/* What of a touch point is not zero: impulses, `behind`, the other body. */
enum { WARM_PRESSED = 1, WARM_BEHIND = 2, WARM_OTHER = 4, WARM_ALL = 7 };

static size_t warm_bytes(uint32_t parts)
{
    return 1 + (parts & WARM_PRESSED ? 16u : 0u) + (parts & WARM_BEHIND ? 12u : 0u) + (parts & WARM_OTHER ? 20u : 0u);
}

static bool is_nothing(const lmi_warm *w)
{
    uint64_t words[sizeof *w / 8];
    memcpy(words, w, sizeof words);
    return !(words[0] | words[1] | words[2] | words[3] | words[4] | words[5]);
}

_Static_assert(sizeof(lmi_warm) == 48, "is_nothing looks at all of it");

static uint32_t parts_of(const lmi_warm *w)
{
    static const lmi_warm none = {0};
    bool other = w->other || w->generation || memcmp(w->out, none.out, sizeof w->out) != 0;
    bool pressed = memcmp(&w->pressed, &none.pressed, sizeof w->pressed) != 0 ||
                   memcmp(w->braked, none.braked, sizeof w->braked) != 0;
    bool behind = memcmp(w->behind, none.behind, sizeof w->behind) != 0;
    return (pressed ? WARM_PRESSED : 0u) | (behind ? WARM_BEHIND : 0u) | (other ? WARM_OTHER : 0u);
}

static void put_warm(unsigned char *p, const lmi_warm *w, uint32_t parts)
{
    *p++ = (unsigned char)parts;
    if (parts & WARM_PRESSED) {
        put_floats(p, &w->pressed, 1);
        put_floats(p + 4, w->braked, 3);
        p += 16;
    }
    if (parts & WARM_BEHIND) {
        put_floats(p, w->behind, 3);
        p += 12;
    }
    if (parts & WARM_OTHER) {
        put_word(p, w->other);
        put_word(p + 4, w->generation);
        put_floats(p + 8, w->out, 3);
    }
}

static lmi_warm get_warm(const unsigned char *p)
{
    lmi_warm w = {0};
    uint32_t parts = *p++;
    if (parts & WARM_PRESSED) {
        get_floats(p, &w.pressed, 1);
        get_floats(p + 4, w.braked, 3);
        p += 16;
    }
    if (parts & WARM_BEHIND) {
        get_floats(p, w.behind, 3);
        p += 12;
    }
    if (parts & WARM_OTHER) {
        w.other = get_word(p);
        w.generation = get_word(p + 4);
        get_floats(p + 8, w.out, 3);
    }
    return w;
}

static bool warm_is_sound(const lmi_warm *w, const lm_world *world)
{
    bool sound = w->pressed >= 0.0f && w->pressed <= FLT_MAX && w->other <= world->bodies.slots;
    for (int i = 0; i < 3; i++) {
        sound = sound && fabsf(w->braked[i]) <= FLT_MAX && fabsf(w->behind[i]) <= LM_MAX_COORDINATE &&
                fabsf(w->out[i]) <= 100.0f;
    }
    return sound;
}

/* One touch point that touches something, or did. */
static void copy_warm(copier *c, const lm_world *world, lmi_warm *warm)
{
    size_t at = c->at;
    uint32_t parts = WARM_ALL;
    if (c->mode == WRITE) {
        parts = parts_of(warm);
    } else if (c->mode != BOUND) {
        c->fault = c->fault || at >= c->size || c->bytes[at] > WARM_ALL || c->bytes[at] == 0;
        parts = c->fault ? 0 : c->bytes[at];
    }
    unsigned char *p = take_bytes(c, warm_bytes(parts));
    if (p && c->mode == WRITE) {
        put_warm(p, warm, parts);
    } else if (p && c->mode == READ) {
        *warm = get_warm(p);
    } else if (p) {
        lmi_warm w = get_warm(p);
        c->fault = c->fault || !warm_is_sound(&w, world);
    }
}

/* Eight of them: a bit for each, and those that are not nothing. */
static void copy_warms(copier *c, const lm_world *world, lmi_warm *warm, uint32_t count)
{
    static const lmi_warm none = {0};
    unsigned char *bits = take_bytes(c, 1);
    if (bits && c->mode == WRITE) {
        *bits = 0;
        for (uint32_t n = 0; n < count; n++) {
            *bits |= (unsigned char)(!is_nothing(&warm[n]) << n);
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        if (!bits || *bits >> n & 1) {
            copy_warm(c, world, &warm[n]);
        } else if (c->mode == READ) {
            warm[n] = none;
        }
    }
}

static void copy_all(copier *c, lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        copy_vectors(c, body, body->x, LM_MAX_COORDINATE);
        copy_vectors(c, body, body->v, body->asleep ? 0.0f : LM_MAX_SPEED);
        copy_regions(c, world, body);
        lmi_lattice_plastic *plastic = body->lattice ? &body->lattice->plastic : NULL;
        for (uint32_t b = 0; plastic && plastic->state && b <= body->lattice->shape.block_count; b++) {
            copy_flowed(c, plastic, b);
        }
        for (uint32_t k = 0; k < body->touch.count; k += 8) {
            uint32_t left = body->touch.count - k;
            copy_warms(c, world, body->touch.warm + k, left < 8 ? left : 8);
        }
    }
}

/* --- saving --- */

/* The visitors take fields they can write; measuring and saving do not. */
static lm_world *readable(const lm_world *world) { return (lm_world *)(uintptr_t)world; }

size_t lm_world_state_size(const lm_world *world)
{
    lmi_world_read(world);
    archive a = {.mode = MEASURE, .at = STATE_HEADER};
    visit_small(&a, readable(world));
    copier c = {.mode = BOUND, .at = a.at};
    copy_all(&c, readable(world));
    return c.at;
}

static void visit_header(archive *a, uint64_t values[5])
{
    visit_bits(a, &values[0], 4); /* version, size, checksum, structure, size of the first part */
    for (int n = 1; n < 5; n++) {
        visit_u64(a, &values[n]);
    }
}

lm_result lm_world_save_state(const lm_world *world, void *buffer, size_t capacity, size_t *size)
{
    lmi_world_read(world);
    unsigned char *bytes = buffer;
    archive a = {.mode = SAVE, .bytes = bytes, .size = capacity, .at = STATE_HEADER};
    *size = 0;
    if (capacity >= STATE_HEADER) {
        visit_small(&a, readable(world));
    }
    copier c = {.mode = WRITE, .bytes = bytes, .at = a.at, .size = capacity, .fault = a.damaged};
    if (capacity >= STATE_HEADER) {
        copy_all(&c, readable(world));
    }
    if (capacity < STATE_HEADER || c.fault) {
        return lmi_fail(world, LM_ERROR_CAPACITY, "lm_world_save_state: up to %zu bytes are needed, the buffer has %zu",
                        lm_world_state_size(world), capacity);
    }
    uint64_t values[5] = {STATE_VERSION, c.at, lmi_hash_array(LMI_HASH_SEED, bytes + STATE_HEADER, c.at - STATE_HEADER),
                          lm_world_structure(world), a.at - STATE_HEADER};
    archive header = {.mode = SAVE, .bytes = bytes, .size = STATE_HEADER, .at = 8};
    memcpy(bytes, "LIMBERST", 8);
    visit_header(&header, values);
    *size = c.at;
    return LM_OK;
}

/* --- loading --- */

static lm_result check_header(const lm_world *world, unsigned char *bytes, size_t size, size_t *small)
{
    uint64_t values[5] = {0};
    archive a = {.mode = LOAD, .bytes = bytes, .size = STATE_HEADER, .at = 8};
    if (size < STATE_HEADER || memcmp(bytes, "LIMBERST", 8) != 0) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: this is no state");
    }
    visit_header(&a, values);
    if (values[0] != STATE_VERSION) {
        return lmi_fail(world, LM_ERROR_VERSION, "lm_world_load_state: format version %u, this library reads %d",
                        (unsigned)values[0], STATE_VERSION);
    }
    if (values[1] != size || values[4] > size - STATE_HEADER) {
        return lmi_fail(world, LM_ERROR_FORMAT,
                        "lm_world_load_state: the state is truncated, or has something behind it");
    }
    if (values[3] != lm_world_structure(world)) {
        return lmi_fail(world, LM_ERROR_ARGUMENT,
                        "lm_world_load_state: the world's structure is another than when the state was saved: load a "
                        "snapshot");
    }
    if (values[2] != lmi_hash_array(LMI_HASH_SEED, bytes + STATE_HEADER, size - STATE_HEADER)) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: the checksum is wrong");
    }
    *small = (size_t)values[4];
    return LM_OK;
}

/* What follows from the state, and what is known of the last step only. */
static void conclude(lm_world *world)
{
    world->contacts = world->stiffness_limited = 0;
    world->contact_stats = (lm_contact_stats){0};
    world->break_count = 0;
    lmi_wrenches_forget(world);
    lmi_joints_begin(world);
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        body->contacts = 0;
        lmi_skin_update(world, body);
    }
    for (uint32_t n = 0; n < world->batch_count; n++) {
        world->batches[n].pack.stepped = false;
    }
}

/* Both parts, after the first one of the world as it is went to `kept`. */
static lm_result load(lm_world *world, unsigned char *bytes, size_t size, size_t small, archive *kept)
{
    archive a = {.mode = LOAD, .bytes = bytes, .size = STATE_HEADER + small, .at = STATE_HEADER};
    visit_small(&a, world);
    refuse_if(&a, a.at != a.size && !a.out_of_memory);
    copier c = {.mode = CHECK, .bytes = bytes, .at = STATE_HEADER + small, .size = size};
    if (ok(&a)) {
        copy_all(&c, world);
        c.fault = c.fault || c.at != size;
    }
    if (ok(&a) && !c.fault) {
        c = (copier){.mode = READ, .bytes = bytes, .at = STATE_HEADER + small, .size = size};
        copy_all(&c, world);
        conclude(world);
        return LM_OK;
    }
    archive back = {.mode = LOAD, .bytes = kept->bytes, .size = kept->size, .at = 0};
    visit_small(&back, world);
    if (a.out_of_memory) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_world_load_state: out of memory");
    }
    return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load_state: the state is damaged before byte %zu of %zu",
                    ok(&a) ? c.at : a.at, size);
}

lm_result lm_world_load_state(lm_world *world, const void *buffer, size_t size)
{
    size_t small = 0;
    unsigned char *bytes = (unsigned char *)(uintptr_t)buffer;
    lm_result result = check_header(world, bytes, size, &small);
    if (result != LM_OK) {
        return result;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    archive measure = {.mode = MEASURE}, kept = {.mode = SAVE};
    visit_small(&measure, world);
    kept.size = measure.at;
    kept.bytes = lmi_allocate_plain(&world->memory, kept.size, 1);
    if (kept.bytes) {
        visit_small(&kept, world);
        result = load(world, bytes, size, small, &kept);
    } else {
        result = lmi_fail(world, LM_ERROR_MEMORY, "lm_world_load_state: out of memory");
    }
    lmi_release(&world->memory, kept.bytes, kept.size, 1);
    lmi_float_mode_leave(&host);
    return result;
}
