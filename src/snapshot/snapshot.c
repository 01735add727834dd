/*
 * Snapshots: everything that the future of a world depends on, as bytes.
 *
 * One description of the format serves for measuring, saving, comparing and loading: each visit_... function names the fields in
 * their order, and the archive either counts them, writes them, compares them or reads them.
 *
 * Structure comes first: what steps and most setters leave alone. State follows, as it is saved alone (snapshot_state.c). A world that has
 * the structure of the snapshot, to the last byte, takes the state and keeps all else. Otherwise a world is built aside, checked whole, and
 * swapped in when it is sound.
 */
#include "snapshot/snapshot.h"
#include "base/guard.h"
#include "base/hash.h"
#include "collide/wrench.h"
#include "contact/touching.h"
#include "cut/grain.h"
#include "fracture/fracture.h"
#include "joint/joint.h"
#include "skeleton/skeleton.h"
#include "skin/skin.h"
#include "snapshot/archive.h"
#include "snapshot/copy.h"
#include "world/access.h"
#include "world/body.h"
#include "world/in_step.h"

#include <assert.h>
#include <string.h>

/* --- everything else in a world --- */

static void visit_collider(archive *a, lm_world *world, lmi_collider *c)
{
    VISIT_ENUM(a, c->shape, LM_SHAPE_COUNT);
    lmi_visit_solid(a, world, c);
}

/* The place of a particle. */
static void visit_place(archive *a, const lmi_body *body, uint32_t *place)
{
    visit_index(a, place, body->place_count, false);
    refuse_if(a, ok(a) && body->order[*place] == LMI_NONE);
}

static void visit_pin(archive *a, lm_world *world, lmi_pin *pin)
{
    visit_u32(a, &pin->next);
    visit_index(a, &pin->body, world->bodies.slots, false);
    visit_bool(a, &pin->yields);
    visit_count(a, &pin->count, 28);
    refuse_if(a, !ok(a) || !lmi_pool_used(&world->bodies, pin->body));
    if (!ok(a)) {
        pin->count = a->mode == LOAD ? 0 : pin->count;
        return;
    }
    if (a->mode == LOAD) {
        pin->particles = lmi_allocate(&world->memory, pin->count, sizeof *pin->particles);
        pin->targets = lmi_allocate(&world->memory, pin->count, sizeof *pin->targets);
        a->out_of_memory = !pin->particles || !pin->targets;
    }
    for (uint32_t n = 0; n < pin->count && ok(a); n++) {
        visit_place(a, lmi_body_at(world, pin->body), &pin->particles[n]);
    }
}

static void visit_drag(archive *a, lm_world *world, lmi_drag *drag)
{
    visit_u32(a, &drag->next);
    visit_index(a, &drag->body, world->bodies.slots, false);
    visit_count(a, &drag->count, 8);
    refuse_if(a, !ok(a) || !lmi_pool_used(&world->bodies, drag->body));
    if (!ok(a)) {
        drag->count = a->mode == LOAD ? 0 : drag->count;
        return;
    }
    if (a->mode == LOAD) {
        drag->particles = lmi_allocate(&world->memory, drag->count, sizeof *drag->particles);
        drag->weights = lmi_allocate(&world->memory, drag->count, sizeof *drag->weights);
        a->out_of_memory = !drag->particles || !drag->weights;
    }
    for (uint32_t n = 0; n < drag->count && ok(a); n++) {
        visit_place(a, lmi_body_at(world, drag->body), &drag->particles[n]);
        visit_float(a, &drag->weights[n]);
        refuse_if(a, !(drag->weights[n] >= 0.0f && drag->weights[n] <= 1e20f)); /* one over a relative mass */
    }
    visit_u32(a, &drag->particle);
    visit_float(a, &drag->radius);
}

/* --- pools --- */

typedef void visit_element(archive *a, lm_world *world, void *element);

/* Slots with their generations; the contents of those in use, unless all of these is state. */
static void visit_pool(archive *a, lm_world *world, lmi_pool *pool, visit_element *visit)
{
    uint32_t slots = pool->slots;
    visit_count(a, &slots, 4);
    for (uint32_t n = 0; n < slots && ok(a); n++) {
        uint32_t index = n;
        if (a->mode == LOAD && !lmi_pool_add(pool, &world->memory, &index)) {
            a->out_of_memory = true;
            return;
        }
        visit_u32(a, &pool->generations[index]);
    }
    for (uint32_t n = 0; n < slots && ok(a); n++) {
        if (visit && lmi_pool_used(pool, n)) {
            visit(a, world, (char *)pool->elements + n * pool->size);
        }
    }
    if (a->mode == LOAD) {
        pool->alive = 0;
        pool->lowest = 0;
        for (uint32_t n = 0; n < pool->slots; n++) {
            pool->alive += lmi_pool_used(pool, n);
        }
    }
}

#define VISITOR(name, type)                                                                                            \
    static void visit_##name##_element(archive *a, lm_world *world, void *element)                                     \
    {                                                                                                                  \
        visit_##name(a, world, (type *)element);                                                                       \
    }
static void visit_body_element(archive *a, lm_world *world, void *element) { lmi_visit_body(a, world, element); }
VISITOR(collider, lmi_collider)
VISITOR(pin, lmi_pin)
VISITOR(drag, lmi_drag)

static void visit_fractures(archive *a, lm_world *world)
{
    for (uint32_t n = 0; n < world->bodies.slots && ok(a); n++) {
        lmi_body *body = lmi_pool_used(&world->bodies, n) ? lmi_body_in_step(world, n) : NULL;
        if (body && body->fracture) {
            lmi_visit_fracture(a, world, body);
            if (ok(a)) {
                lmi_visit_stiffness(a, world, body);
            }
        }
    }
}

static void visit_structure(archive *a, lm_world *world)
{
    visit_pool(a, world, &world->bodies, visit_body_element);
    visit_pool(a, world, &world->movers, NULL);
    visit_pool(a, world, &world->colliders, visit_collider_element);
    visit_pool(a, world, &world->pins, visit_pin_element);
    visit_pool(a, world, &world->drags, visit_drag_element);
    visit_pool(a, world, &world->fields, NULL);
    visit_pool(a, world, &world->skeletons, lmi_visit_skeleton);
    visit_pool(a, world, &world->joints, lmi_visit_joint);
    visit_fractures(a, world);
    lmi_visit_details(a, world);
    lmi_visit_grains(a, world);
}

/* All of it; not for loading, which sets the structure right before it reads state. */
static void visit_world(archive *a, lm_world *world)
{
    visit_structure(a, world);
    lmi_visit_state(a, world);
    lmi_copy_mode mode = a->mode == SAVE ? LMI_COPY_WRITE : LMI_COPY_COUNT;
    a->damaged = a->damaged || !lmi_copy_particles(world, mode, a->bytes, &a->at, a->size);
}

/* --- saving --- */

void lmi_snapshot_seal(unsigned char *buffer, size_t size)
{
    uint64_t payload = size - LMI_SNAPSHOT_HEADER, version = LMI_SNAPSHOT_VERSION;
    uint64_t checksum = lmi_hash_bytes(LMI_HASH_SEED, buffer + LMI_SNAPSHOT_HEADER, (size_t)payload);
    archive a = {.mode = SAVE, .bytes = buffer, .size = LMI_SNAPSHOT_HEADER, .at = 8};
    memcpy(buffer, "LIMBERSN", 8);
    visit_bits(&a, &version, 4);
    visit_u64(&a, &payload);
    visit_u64(&a, &checksum);
}

size_t lm_world_save_size(const lm_world *world)
{
    lmi_world_read(world);
    archive a = {.mode = MEASURE, .at = LMI_SNAPSHOT_HEADER};
    visit_world(&a, lmi_savable(world));
    return a.at;
}

lm_result lm_world_save(const lm_world *world, void *buffer, size_t capacity)
{
    lmi_world_read(world);
    assert(buffer);
    size_t size = lm_world_save_size(world);
    if (capacity < size) {
        return lmi_fail(world, LM_ERROR_CAPACITY, "lm_world_save: %zu bytes are needed, the buffer has %zu", size,
                        capacity);
    }
    archive a = {.mode = SAVE, .bytes = buffer, .size = size, .at = LMI_SNAPSHOT_HEADER};
    visit_world(&a, lmi_savable(world));
    lmi_snapshot_seal(buffer, size);
    return LM_OK;
}

/* --- loading --- */

/* Weights, regions and batches of a loaded body. */
static void revive_body(archive *a, lm_world *world, uint32_t slot)
{
    lmi_body *body = lmi_body_in_step(world, slot);
    a->out_of_memory = !lmi_body_revive(world, body) || !lmi_fracture_skin(world, body) ||
                       (!lmi_body_is_out(body) && lmi_body_join_batch(world, slot) != LM_OK);
    if (!a->out_of_memory) {
        lmi_skin_update(world, body);
    }
    world->particles += body->padded_count;
    world->memberships += body->membership_count;
    a->damaged = world->particles > LM_MAX_PARTICLES || world->memberships > LM_MAX_MEMBERSHIPS;
}

static lm_result check_header(const lm_world *world, const unsigned char *bytes, size_t size)
{
    if (size < LMI_SNAPSHOT_HEADER || memcmp(bytes, "LIMBERSN", 8) != 0) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: this is not a snapshot");
    }
    archive a = {.mode = LOAD, .bytes = (unsigned char *)(uintptr_t)bytes, .size = LMI_SNAPSHOT_HEADER, .at = 8};
    uint64_t version = 0, payload = 0, checksum = 0;
    visit_bits(&a, &version, 4);
    visit_u64(&a, &payload);
    visit_u64(&a, &checksum);
    if (version != LMI_SNAPSHOT_VERSION) {
        return lmi_fail(world, LM_ERROR_VERSION, "lm_world_load: format version %u, this library reads %d",
                        (unsigned)version, LMI_SNAPSHOT_VERSION);
    }
    if (payload != size - LMI_SNAPSHOT_HEADER) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the snapshot is truncated, or has something behind it");
    }
    if (checksum != lmi_hash_bytes(LMI_HASH_SEED, bytes + LMI_SNAPSHOT_HEADER, (size_t)payload)) {
        return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the checksum is wrong");
    }
    return LM_OK;
}

/* An empty world aside: the same hooks, nothing in it. */
static lm_world empty_copy(const lm_world *world)
{
    lm_world copy = {.memory = world->memory, .log = world->log, .gpu = world->gpu};
    lmi_pool_init(&copy.bodies, sizeof(lmi_body));
    lmi_pool_init(&copy.movers, sizeof(lmi_mover));
    lmi_pool_init(&copy.colliders, sizeof(lmi_collider));
    lmi_pool_init(&copy.pins, sizeof(lmi_pin));
    lmi_pool_init(&copy.drags, sizeof(lmi_drag));
    lmi_pool_init(&copy.fields, sizeof(lm_field_def));
    lmi_pool_init(&copy.skeletons, sizeof(lmi_skeleton));
    lmi_pool_init(&copy.joints, sizeof(lmi_joint));
    return copy;
}

/* Moves the contents of `from` into `to`, which is empty. */
static void adopt(lm_world *to, const lm_world *from)
{
    to->memory = from->memory;
    to->gravity = from->gravity;
    to->substeps = from->substeps;
    to->time = from->time;
    to->steps = from->steps;
    to->outside_impulse = from->outside_impulse;
    memcpy(to->rules, from->rules, sizeof to->rules);
    to->rule_count = from->rule_count;
    to->contact_events = from->contact_events;
    to->contact_method = from->contact_method;
    to->has_eye = from->has_eye;
    to->eye = from->eye;
    to->sleep = from->sleep;
    to->touchings = from->touchings;
    to->contacts = to->stiffness_limited = 0;
    to->contact_stats = (lm_contact_stats){0};
    to->break_count = to->split_count = 0;
    to->step_seconds = 0.0;
    memset(to->stage_seconds, 0, sizeof to->stage_seconds);
    to->bodies = from->bodies;
    to->has_octrees = from->has_octrees;
    to->moulds = from->moulds;
    to->movers = from->movers;
    to->colliders = from->colliders;
    to->pins = from->pins;
    to->drags = from->drags;
    to->fields = from->fields;
    to->skeletons = from->skeletons;
    to->joints = from->joints;
    lmi_wrenches_forget(to);
    to->forces = from->forces;
    to->force_count = from->force_count;
    to->force_capacity = from->force_capacity;
    to->batches = from->batches;
    to->batch_count = from->batch_count;
    to->batch_capacity = from->batch_capacity;
    to->particles = from->particles;
    to->memberships = from->memberships;
}

/* The host's allocator while a snapshot is loaded, and whether it has failed: what cannot be made though there is memory was damaged. */
typedef struct watched {
    lm_allocator host;
    bool failed;
} watched;

static void *watched_allocate(size_t size, size_t alignment, void *user)
{
    watched *w = user;
    void *memory = w->host.allocate(size, alignment, w->host.user);
    w->failed = w->failed || !memory;
    return memory;
}

static void watched_release(void *memory, size_t size, void *user)
{
    const watched *w = user;
    w->host.release(memory, size, w->host.user);
}

/* What is said of a snapshot that was not loaded. */
static lm_result refuse(const lm_world *world, const archive *a, bool no_memory)
{
    if (a->out_of_memory && no_memory) {
        return lmi_fail(world, LM_ERROR_MEMORY, "lm_world_load: out of memory");
    }
    if (a->at == a->size) {
        return lmi_fail(world, LM_ERROR_FORMAT,
                        "lm_world_load: the snapshot is damaged: its parts do not fit together");
    }
    return lmi_fail(world, LM_ERROR_FORMAT, "lm_world_load: the snapshot is damaged before byte %zu of %zu", a->at,
                    a->size);
}

/* A world from all of a snapshot, in place of `world`. True: the host had no memory for it. */
static bool load_all(archive *a, lm_world *world)
{
    lm_world aside = empty_copy(world);
    watched memory = {.host = world->memory.hooks};
    aside.memory.hooks = (lm_allocator){watched_allocate, watched_release, &memory};
    visit_structure(a, &aside);
    if (ok(a)) {
        lmi_load_state(a, &aside, a->size);
    }
    LMI_POOL_EACH(&aside.bodies, n)
    {
        if (ok(a)) {
            revive_body(a, &aside, n);
        }
    }
    aside.memory.hooks = memory.host;
    if (ok(a)) {
        lm_world old = *world;
        old.memory = aside.memory;
        lmi_world_clear(&old);
        lmi_touchings_free(&old);
        aside.memory = old.memory;
        adopt(world, &aside);
    } else {
        lmi_world_clear(&aside);
        lmi_touchings_free(&aside);
        world->memory = aside.memory;
    }
    return memory.failed;
}

lm_result lm_world_load(lm_world *world, const void *buffer, size_t size)
{
    assert(buffer);
    lm_result result = check_header(world, buffer, size);
    if (result != LM_OK) {
        return result;
    }
    lmi_world_change(world, LMI_CHANGE_WORLD);
    lmi_float_mode host;
    lmi_float_mode_enter(&host);
    archive a = {.bytes = (unsigned char *)(uintptr_t)buffer, .size = size, .at = LMI_SNAPSHOT_HEADER};
    archive same = a;
    same.mode = COMPARE;
    visit_structure(&same, world);
    a.mode = LOAD;
    bool no_memory = true;
    if (ok(&same)) {
        a.at = same.at;
        lmi_load_state_in_place(&a, world, size);
    } else {
        no_memory = load_all(&a, world);
    }
    lmi_float_mode_leave(&host);
    return ok(&a) ? LM_OK : refuse(world, &a, no_memory);
}

/* --- a body alone --- */

/* The body without whatever else in the world it is connected with, and its batches, for reading. `warm`: nothing, for its touch
 * points. */
static bool put_alone(lm_world *alone, const lm_world *world, const lmi_body *from, lmi_warm *warm)
{
    uint32_t index;
    if (!lmi_pool_add(&alone->bodies, &alone->memory, &index)) {
        return false;
    }
    lmi_body *body = lmi_body_in_step(alone, index);
    *body = *from;
    body->first_pin = body->first_drag = body->first_force = body->skeleton = LMI_NONE;
    body->joints = 0;
    body->asleep = false;
    body->still = 0.0f;
    body->island = 0;
    body->touch.warm = warm;
    alone->batches = world->batches;
    alone->gravity = world->gravity;
    alone->substeps = world->substeps;
    alone->sleep = world->sleep;
    return true;
}

/* What `bytes` hold becomes *to. */
static lm_result load_alone(lm_world *world, unsigned char *bytes, size_t size, lmi_body *to)
{
    archive a = {.mode = LOAD, .bytes = bytes, .size = size, .at = 0};
    lm_world aside = empty_copy(world);
    aside.moulds = world->moulds; /* it may share those of the others */
    visit_structure(&a, &aside);
    if (ok(&a)) {
        lmi_load_state(&a, &aside, size);
    }
    if (ok(&a)) {
        lmi_body *body = lmi_body_in_step(&aside, 0);
        a.out_of_memory = !lmi_body_revive(&aside, body) || !lmi_fracture_skin(&aside, body);
        if (ok(&a)) {
            lmi_skin_update(&aside, body);
            *to = *body;
            lmi_pool_remove(&aside.bodies, 0);
        }
    }
    LMI_POOL_EACH(&aside.bodies, n) { lmi_body_free(&aside, lmi_body_in_step(&aside, n)); }
    world->moulds = aside.moulds;
    lmi_pool_free(&aside.bodies, &aside.memory);
    lmi_touchings_free(&aside);
    world->memory = aside.memory;
    return ok(&a) ? LM_OK : a.out_of_memory ? LM_ERROR_MEMORY : LM_ERROR_ARGUMENT;
}

lm_result lmi_snapshot_copy_body(lm_world *world, const lmi_body *from, lmi_body *to)
{
    lmi_warm *warm = lmi_allocate(&world->memory, 2 * (size_t)from->touch.count, sizeof *warm);
    lm_world alone = empty_copy(world);
    bool made = warm && put_alone(&alone, world, from, warm);
    archive a = {.mode = MEASURE};
    unsigned char *bytes = NULL;
    if (made) {
        visit_world(&a, &alone);
        bytes = lmi_allocate_plain(&alone.memory, a.at, 1);
    }
    archive save = {.mode = SAVE, .bytes = bytes, .size = a.at};
    if (bytes) {
        visit_world(&save, &alone);
    }
    lmi_pool_free(&alone.bodies, &alone.memory);
    world->memory = alone.memory;
    lm_result result = bytes ? load_alone(world, bytes, a.at, to) : LM_ERROR_MEMORY;
    lmi_release(&world->memory, bytes, a.at, 1);
    lmi_release(&world->memory, warm, 2 * (size_t)from->touch.count, sizeof *warm);
    return result;
}
