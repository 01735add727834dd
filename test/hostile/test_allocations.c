/*
 * Failing allocations in a world of everything that changes while it runs: octrees whose cells are divided and joined by what
 * touches them and by the eye, cuts of every sampling, breaks, joints, a mover with mass, sleep, saving and loading.
 *
 * A life is a list of actions, each one call of the library. It is lived once undisturbed, and what the world is after each action
 * is noted: its snapshot, byte by byte, and what its bodies show. Then it is lived again with allocations that fail:
 *
 *   single   each action with its first allocation refused, then with its second, and so on until none is left to refuse;
 *   all      the same with every allocation refused from the n-th on;
 *   fresh    one life for each n: only the n-th allocation of the whole life is refused. So every allocation fails in a world that
 *            has not seen a failure yet, which the two above do not have: a failed call may have kept what it got.
 *
 * Whenever a call fails it says LM_ERROR_MEMORY and the world is what it was; whenever it succeeds the world is what it was after
 * that action in the undisturbed life. At the end nothing is left allocated.
 *
 *     test_hostile_allocations [STRIDE]     all of `single` and `all`, and of `fresh` every STRIDE-th allocation (1: all of them)
 */
#include "test/support/boxes.h"
#include "test/support/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- an allocator that refuses --- */

typedef struct heap {
    uint64_t requests;      /* since it was last told what to refuse */
    uint64_t refuse, until; /* requests from the one to the other; 0: none */
    uint64_t refused;       /* in all */
    uint64_t blocks, bytes; /* given out */
} heap;

static void *heap_allocate(size_t size, size_t alignment, void *user)
{
    heap *h = user;
    h->requests++;
    if (h->refuse && h->requests >= h->refuse && h->requests <= h->until) {
        h->refused++;
        return NULL;
    }
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    assert_non_null(memory);
    memset(memory, 0xa5, size); /* what is not set must not be read */
    h->blocks++;
    h->bytes += size;
    return memory;
}

static void heap_release(void *memory, size_t size, void *user)
{
    heap *h = user;
    if (memory) {
        h->blocks--;
        h->bytes -= size;
        memset(memory, 0x5a, size); /* what was given back must not be used */
        free(memory);
    }
}

static void heap_refuse(heap *h, uint64_t from, uint64_t until)
{
    h->requests = 0;
    h->refuse = from;
    h->until = until;
}

/* --- the life --- */

enum { JELLY, DROP, TILE, FLESH, FOAM, SLAB, BODIES };

typedef struct life {
    heap heap;
    lm_world *world;
    boxes shape;
    lm_body_id body[BODIES];
    lm_mover_id mover, crate;
    lm_joint_id joint[3];
    lm_pin_id pin;
    lm_drag_id drag;
    void *saved;
    size_t saved_size;
} life;

typedef lm_result action(life *l, int value);

static lm_result make_mover(life *l, int value)
{
    lm_mover_def def = lm_mover_def_default();
    def.pose.position = (lm_dvec3){0.55, 0.3, 0};
    (void)value;
    return lm_mover_create(l->world, &def, &l->mover);
}

static lm_result make_collider(life *l, int rides)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    if (rides) {
        def.shape = LM_SHAPE_SPHERE;
        def.radius = 0.1f;
        def.pose.position.y = -0.4;
        def.mover = l->mover;
    }
    return lm_collider_create(l->world, &def, &id);
}

/* A mover with mass, on the slab. */
static lm_result make_crate(life *l, int value)
{
    lm_mover_def def = lm_mover_def_default();
    def.pose.position = (lm_dvec3){5.6, 1.3, 0.1};
    def.mass = 0.5f;
    (void)value;
    return lm_mover_create(l->world, &def, &l->crate);
}

static lm_result make_crate_shape(life *l, int value)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id id;
    def.shape = LM_SHAPE_BOX;
    def.half_extents = (lm_vec3){0.2f, 0.2f, 0.2f};
    def.mover = l->crate;
    (void)value;
    return lm_collider_create(l->world, &def, &id);
}

/* The crate carries particles of the slab; it loses its mass and gets it back. */
static lm_result carry(life *l, int value)
{
    const uint32_t held[2] = {7, 9};
    lm_pin_def def = lm_pin_def_default();
    lm_pin_id pin;
    (void)value;
    def.body = l->body[SLAB];
    def.particles = held, def.particle_count = 2;
    def.mover = l->crate;
    return lm_pin_create(l->world, &def, &pin);
}

static lm_result weigh_crate(life *l, int tenths)
{
    return lm_mover_set_mass(l->world, l->crate, 0.1f * (float)tenths, (lm_vec3){0, 0, 0});
}

/* The tile to the slab, the slab to the crate, the flesh to the world. */
static lm_result join(life *l, int which)
{
    static const int bodies[3] = {SLAB, SLAB, FLESH};
    static const lm_joint_kind kinds[3] = {LM_JOINT_GLUE, LM_JOINT_BALL, LM_JOINT_HINGE};
    lm_joint_def def = lm_joint_def_default();
    lm_body_info info;
    assert_ok(lm_body_get_info(l->world, l->body[bodies[which]], &info));
    def.kind = kinds[which];
    def.b.body = l->body[bodies[which]];
    def.a.anchor = def.b.anchor = info.centre;
    def.hertz = which == 0 ? 3.0f : 0.0f;
    if (which == 0) {
        def.a.body = l->body[TILE];
    } else if (which == 1) {
        def.a.mover = l->crate;
    }
    return lm_joint_create(l->world, &def, &l->joint[which]);
}

static lm_result part(life *l, int which) { return lm_joint_destroy(l->world, l->joint[which]); }

static lm_body_def body_of(life *l, int which)
{
    lm_body_def def = lm_body_def_default();
    const double side[BODIES] = {0.0, 0.9, 2.0, 3.2, 4.4, 5.6};
    const boxes *b = &l->shape;
    if (which == JELLY || which == DROP) {
        def = boxes_octree(b, 0.1f, 2, 0.3f);
        def.mask = 1;
        def.self_contact = which == JELLY;
    } else if (which == TILE || which == SLAB) {
        def.lattice.vertices = b->vertices, def.lattice.vertex_count = 8 * b->count;
        def.lattice.triangles = b->triangles, def.lattice.triangle_count = 12 * b->count;
        def.lattice.spacing = 0.13f;
        def.mask = which == TILE;
    } else {
        def.tets.vertices = b->vertices, def.tets.vertex_count = 8 * b->count;
        def.tets.triangles = b->triangles, def.tets.triangle_count = 12 * b->count;
        def.tets.spacing = which == FLESH ? 0.2f : 0.3f;
    }
    def.material.hertz = 6.0f;
    def.pose.position = (lm_dvec3){side[which], 0.35 + 0.1 * which, 0.02 * which};
    def.velocity = (lm_vec3){which == DROP ? -1.0f : 0.0f, which == TILE ? -6.0f : 0.0f, 0.0f};
    def.spin = (lm_vec3){0.3f, which == DROP ? 2.0f : 0.5f, 0.1f};
    return def;
}

static lm_result make_thing(life *l, int which)
{
    lm_body_def def = body_of(l, which);
    return lm_body_create(l->world, &def, &l->body[which]);
}

/* The same box once more as points and clusters. */
static lm_result make_foam(life *l, int which)
{
    lm_body_def def = body_of(l, FLESH);
    lm_vec3 points[5 * 4 * 4];
    for (int n = 0; n < 80; n++)
        points[n] =
            (lm_vec3){0.15f * (float)(n % 5 - 2), 0.15f * (float)(n / 5 % 4) - 0.2f, 0.15f * (float)(n / 20) - 0.2f};
    def.tets = lm_body_def_default().tets;
    def.points = points, def.point_count = 80;
    def.clusters.counts[0] = def.clusters.counts[1] = 2;
    def.pose.position.x = 4.4;
    return lm_body_create(l->world, &def, &l->body[which]);
}

static lm_result set_skin(life *l, int which)
{
    lm_skin_def def = lm_skin_def_default();
    def.vertices = l->shape.vertices, def.vertex_count = 8 * l->shape.count;
    def.triangles = l->shape.triangles, def.triangle_count = 12 * l->shape.count;
    return lm_body_set_skin(l->world, l->body[which], &def);
}

static lm_result set_detail(life *l, int which)
{
    lm_detail detail = lm_detail_default();
    detail.eye_angle = which == JELLY ? 0.15f : 0.0f;
    detail.touch_size = 0.1f;
    detail.touch_radius = 0.15f;
    detail.per_step = 8;
    detail.hold = 0.03f;
    return lm_body_set_detail(l->world, l->body[which], &detail);
}

static lm_result drop_detail(life *l, int which) { return lm_body_set_detail(l->world, l->body[which], NULL); }

static lm_result set_fracture(life *l, int which)
{
    lm_fracture_def def = lm_fracture_def_default();
    def.limit = 0.03f;
    def.variation = 0.5f;
    return lm_body_set_fracture(l->world, l->body[which], &def);
}

static lm_result set_eye(life *l, int centimetres)
{
    return lm_world_set_eye(l->world, &(lm_dvec3){0.2, 0.5, 0.01 * centimetres});
}

static lm_result set_world(life *l, int sleeps)
{
    lm_sleep sleep = lm_sleep_default();
    sleep.enabled = true;
    sleep.speed = 4.0f;
    sleep.seconds = 0.05f;
    return sleeps ? lm_world_set_sleep(l->world, &sleep) : lm_world_set_contact_events(l->world, true);
}

static lm_result make_pin(life *l, int which)
{
    const uint32_t held[3] = {0, 1, 5};
    lm_pin_def def = lm_pin_def_default();
    def.body = l->body[which];
    def.particles = held, def.particle_count = 3;
    def.mover = l->mover;
    return lm_pin_create(l->world, &def, &l->pin);
}

static lm_result drop_pin(life *l, int value)
{
    (void)value;
    return lm_pin_destroy(l->world, l->pin);
}

static lm_result make_drag(life *l, int which)
{
    lm_drag_def def = lm_drag_def_default();
    def.body = l->body[which];
    def.particle = 3;
    def.radius = 0.3f;
    def.target = (lm_dvec3){0.5, 0.9, 0.2};
    return lm_drag_create(l->world, &def, &l->drag);
}

static lm_result drop_drag(life *l, int value)
{
    (void)value;
    return lm_drag_destroy(l->world, l->drag);
}

static lm_result push(life *l, int particle)
{
    return lm_body_add_particle_force(l->world, l->body[JELLY], (uint32_t)particle, (lm_vec3){0.5f, 1.0f, 0.0f});
}

static lm_result move(life *l, int speed)
{
    return lm_mover_set_velocity(l->world, l->mover, (lm_vec3){0.1f * (float)speed, 0, 0.3f}, (lm_vec3){0, 0, 0});
}

static lm_result cut(life *l, int which_and_depth)
{
    const int which = which_and_depth % 10, depth = which_and_depth / 10;
    lm_body_info info;
    assert_ok(lm_body_get_info(l->world, l->body[which], &info));
    const double x = info.centre.x + 0.07 * depth, y = info.centre.y;
    const lm_dvec3 from[2] = {{x, y - 2, -3}, {x, y - 2, 3}};
    const lm_dvec3 to[2] = {{x, y + (depth ? 2 : 0), -3}, {x, y + (depth ? 2 : 0), 3}};
    return lm_body_cut_sweep(l->world, l->body[which], from, to, 2, NULL);
}

static lm_result prepare_cut(life *l, int which) { return lm_body_prepare_cut(l->world, l->body[which]); }

static lm_result refine(life *l, int millimetres)
{
    return lm_body_refine(l->world, l->body[JELLY], (lm_dvec3){0.1, 0.35, 0}, 0.4f, 0.001f * (float)millimetres, NULL);
}

static lm_result burst(life *l, int which)
{
    return lm_body_break(l->world, l->body[which], (lm_vec3){0.1f, 0, 0}, 0.2f, NULL);
}

static lm_result save(life *l, int value)
{
    (void)value;
    free(l->saved);
    l->saved_size = lm_world_save_size(l->world);
    l->saved = malloc(l->saved_size);
    return lm_world_save(l->world, l->saved, l->saved_size);
}

static lm_result load(life *l, int value)
{
    (void)value;
    return lm_world_load(l->world, l->saved, l->saved_size);
}

static lm_result destroy(life *l, int which) { return lm_body_destroy(l->world, l->body[which]); }

static lm_result step(life *l, int value)
{
    (void)value;
    return lm_world_step(l->world, FRAME);
}

static const struct {
    action *act;
    int value;
    int times;
    const char *name;
} actions[] = {
#define DO(name, value, times)                                                                                         \
    {                                                                                                                  \
        name, value, times, #name " " #value                                                                           \
    }
    DO(make_mover, 0, 1),
    DO(make_collider, 0, 1),
    DO(make_collider, 1, 1),
    DO(set_world, 0, 1),
    DO(make_thing, JELLY, 1),
    DO(set_skin, JELLY, 1),
    DO(make_thing, DROP, 1),
    DO(make_thing, TILE, 1),
    DO(set_skin, TILE, 1),
    DO(set_fracture, TILE, 1),
    DO(make_thing, FLESH, 1),
    DO(set_skin, FLESH, 1),
    DO(make_foam, FOAM, 1),
    DO(set_skin, FOAM, 1),
    DO(make_thing, SLAB, 1),
    DO(set_skin, SLAB, 1),
    DO(make_crate, 0, 1),
    DO(make_crate_shape, 0, 1),
    DO(carry, 0, 1),
    DO(weigh_crate, 0, 1),
    DO(weigh_crate, 5, 1),
    DO(join, 0, 1),
    DO(join, 1, 1),
    DO(join, 2, 1),
    DO(step, 0, 2),
    /* cells are divided, by the eye and by contacts, while particles are held, dragged and pushed */
    DO(set_detail, JELLY, 1),
    DO(set_detail, DROP, 1),
    DO(make_pin, JELLY, 1),
    DO(make_drag, JELLY, 1),
    DO(set_eye, 80, 1),
    DO(push, 2, 1),
    DO(step, 0, 6),
    DO(push, 9, 1),
    DO(step, 0, 1),
    DO(save, 0, 1),
    /* and joined again */
    DO(set_eye, 900, 1),
    DO(step, 0, 6),
    DO(drop_pin, 0, 1),
    DO(push, 4, 1),
    DO(step, 0, 3),
    /* everything is cut, half and through, while detail goes on */
    DO(prepare_cut, JELLY, 1),
    DO(cut, JELLY, 1),
    DO(step, 0, 2),
    DO(set_eye, 60, 1),
    DO(step, 0, 4),
    DO(cut, 10 + JELLY, 1),
    DO(step, 0, 2),
    DO(cut, DROP, 1),
    DO(cut, FLESH, 1),
    DO(cut, FOAM, 1),
    DO(step, 0, 1),
    DO(cut, 10 + FLESH, 1),
    DO(cut, 10 + FOAM, 1),
    DO(burst, TILE, 1),
    DO(cut, 10 + TILE, 1),
    /* a lattice is cut along the blade, half and through; then it breaks, and its skin opens between links */
    DO(cut, SLAB, 1),
    DO(step, 0, 1),
    DO(cut, 10 + SLAB, 1),
    DO(burst, SLAB, 1),
    DO(part, 1, 1),
    DO(step, 0, 2),
    DO(drop_drag, 0, 1),
    DO(set_eye, 900, 1),
    DO(step, 0, 6),
    /* what is joined may not be joined across the cuts; then the brush, with detail and without */
    DO(refine, 100, 1),
    DO(step, 0, 2),
    DO(refine, 400, 1),
    DO(step, 0, 2),
    DO(drop_detail, JELLY, 1),
    DO(refine, 100, 1),
    DO(step, 0, 1),
    DO(refine, 400, 1),
    DO(step, 0, 1),
    /* sleep, and something that wakes */
    DO(set_world, 1, 1),
    DO(step, 0, 8),
    DO(move, 4, 1),
    DO(step, 0, 3),
    DO(set_detail, JELLY, 1),
    DO(set_eye, 70, 1),
    DO(step, 0, 3),
    /* back to before the cuts, and on; then to what was cut */
    DO(load, 0, 1),
    DO(step, 0, 2),
    DO(cut, JELLY, 1),
    DO(save, 0, 1),
    DO(set_eye, 500, 1),
    DO(step, 0, 2),
    DO(load, 0, 1),
    DO(step, 0, 3),
    DO(destroy, DROP, 1),
    DO(step, 0, 2),
#undef DO
};

#define KINDS (sizeof actions / sizeof *actions)
#define MOST_ACTIONS 256

/* --- what a world is --- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t n = 0; n < size; n++) hash = (hash ^ byte[n]) * 0x100000001b3u;
    return hash;
}

/* Of all that a host can see of it; in a failed call nothing of it may change. */
static uint64_t look(const life *l)
{
    size_t size = lm_world_save_size(l->world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(l->world, bytes, size));
    uint64_t hash = hash_bytes(lm_world_hash(l->world), bytes, size);
    free(bytes);
    for (int n = 0; n < BODIES; n++) {
        lm_body_info info;
        uint32_t waiting;
        if (lm_body_get_info(l->world, l->body[n], &info) != LM_OK) continue;
        assert_ok(lm_body_get_detail(l->world, l->body[n], NULL, &waiting));
        hash = hash_bytes(hash, &waiting, sizeof waiting);
        hash = hash_bytes(hash, &info.shape_hash, sizeof info.shape_hash);
        if (info.skin_vertices == 0) continue;
        lm_vec3 *shown = calloc(info.skin_vertices, sizeof *shown);
        assert_ok(lm_body_get_skin(l->world, l->body[n], lm_dvec3_zero(), shown, NULL));
        hash = hash_bytes(hash, shown, info.skin_vertices * sizeof *shown);
        free(shown);
    }
    return hash;
}

/* --- living it --- */

typedef struct record {
    uint64_t hash[MOST_ACTIONS]; /* after each action */
    uint64_t requests[MOST_ACTIONS];
    uint32_t count;
} record;

typedef enum manner { UNDISTURBED, SINGLE, ALL, FRESH } manner;

static void refuse_next(life *l, manner how, uint64_t n)
{
    heap_refuse(&l->heap, how == UNDISTURBED ? 0 : n, how == ALL ? UINT64_MAX : n);
}

/* Of the allocations of a call the first SPARSE are refused one by one, of the others fewer and fewer; with a STRIDE all of them. */
#define SPARSE 4
static uint64_t sparse = SPARSE;

/* Makes one call until it succeeds. `n`: of FRESH, which of its allocations is refused. Returns how often it failed. */
static uint32_t persist(life *l, manner how, uint64_t n, uint32_t kind, const record *wanted, uint32_t index)
{
    uint32_t failures = 0;
    uint64_t before = how == UNDISTURBED ? 0 : look(l);
    for (uint64_t k = how == FRESH ? n : 1;; k += 1 + k / sparse) {
        uint64_t refused = l->heap.refused;
        refuse_next(l, how, k);
        lm_result result = actions[kind].act(l, actions[kind].value);
        l->heap.refuse = 0;
        bool failing = l->heap.refused > refused;
        if (result != LM_OK && (!failing || result != LM_ERROR_MEMORY))
            fail_msg("action %u (%s) gave \"%s\"", index, actions[kind].name, lm_result_text(result));
        if (result == LM_OK && how != UNDISTURBED && look(l) != wanted->hash[index])
            fail_msg("action %u (%s) succeeded though allocation %" PRIu64 " was refused, and differs", index,
                     actions[kind].name, k);
        if (result == LM_OK) return failures;
        if (look(l) != before)
            fail_msg("action %u (%s) failed at allocation %" PRIu64 " and changed the world", index, actions[kind].name,
                     k);
        failures++;
        if (how == FRESH) how = UNDISTURBED;
    }
}

static void begin(life *l)
{
    memset(l, 0, sizeof *l);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.allocator = (lm_allocator){heap_allocate, heap_release, &l->heap};
    assert_ok(lm_world_create(&def, &l->world));
    boxes_add(&l->shape, (lm_vec3){-0.4f, -0.2f, -0.2f}, (lm_vec3){0.4f, 0.2f, 0.2f});
}

static void end(life *l)
{
    lm_world_destroy(l->world);
    assert_int_equal(l->heap.blocks, 0);
    assert_int_equal(l->heap.bytes, 0);
    free(l->saved);
}

static void live_undisturbed(record *r)
{
    life l;
    begin(&l);
    r->count = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < actions[kind].times; n++) {
            assert_true(r->count < MOST_ACTIONS);
            persist(&l, UNDISTURBED, 0, kind, NULL, r->count);
            r->requests[r->count] = l.heap.requests;
            r->hash[r->count++] = look(&l);
        }
    end(&l);
}

static uint32_t live(const record *r, manner how)
{
    life l;
    uint32_t index = 0, failures = 0;
    begin(&l);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < actions[kind].times; n++) failures += persist(&l, how, 0, kind, r, index++);
    end(&l);
    return failures;
}

/* A life in which one allocation of one action is refused. */
static uint32_t live_fresh(const record *r, uint32_t at, uint64_t allocation)
{
    life l;
    uint32_t index = 0, failures = 0;
    begin(&l);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < actions[kind].times; n++, index++) {
            if (index == at)
                failures += persist(&l, FRESH, allocation, kind, r, index);
            else
                persist(&l, UNDISTURBED, 0, kind, r, index);
            if (index > at && n + 1 == actions[kind].times && look(&l) != r->hash[index])
                fail_msg("after allocation %" PRIu64 " of action %u was refused, action %u (%s) differs", allocation,
                         at, index, actions[kind].name);
        }
    end(&l);
    return failures;
}

/* --- the tests --- */

static record undisturbed;
static uint64_t stride;

/* Without this the others would show nothing: cells are divided and joined, bodies are cut, links break, somebody sleeps. */
static void a_life_has_everything_in_it(void **context)
{
    (void)context;
    life l;
    uint32_t last = 0, divided = 0, joined = 0, parted = 0, broken = 0, slept = 0, index = 0, held = 0;
    begin(&l);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < actions[kind].times; n++, index++) {
            persist(&l, UNDISTURBED, 0, kind, NULL, index);
            for (int b = 0; b < BODIES; b++) {
                lm_body_info info = {0};
                if (lm_body_get_info(l.world, l.body[b], &info) != LM_OK) continue;
                broken += info.broken_links > 0;
                slept += info.asleep;
                parted += info.pieces > 1;
                if (b == JELLY && actions[kind].act == step) {
                    divided += last && info.particles > last;
                    joined += last && info.particles < last;
                }
                if (b == JELLY) last = info.particles;
            }
            lm_joint_state state;
            held += lm_joint_get_state(l.world, l.joint[1], &state) == LM_OK && state.force.y != 0.0f;
        }
    end(&l);
    print_message("%u actions; cells divided in %u steps, joined in %u; pieces %u, broken %u, asleep %u times\n", index,
                  divided, joined, parted, broken, slept);
    print_message("a joint holds a crate in %u\n", held);
    assert_true(held >= 5);
    assert_true(divided >= 5 && joined >= 5 && parted >= 20 && broken >= 10 && slept >= 1);
}

/* Getters are const, and may run beside each other: after them the world is, byte by byte, what it was. */
static void reading_changes_nothing(void **context)
{
    (void)context;
    life l;
    uint32_t index = 0;
    begin(&l);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < actions[kind].times; n++, index++) {
            persist(&l, UNDISTURBED, 0, kind, NULL, index);
            size_t size = lm_world_save_size(l.world);
            void *before = malloc(size), *after = malloc(size);
            lm_ray_hit hit;
            assert_ok(lm_world_save(l.world, before, size));
            look(&l);
            lm_world_cast_ray(l.world, &(lm_ray){{2, 5, 0}, {0, -1, 0}, 100.0f, UINT32_MAX, 0}, &hit);
            assert_int_equal(lm_world_save_size(l.world), size);
            assert_ok(lm_world_save(l.world, after, size));
            if (memcmp(before, after, size) != 0)
                fail_msg("after action %u (%s) reading changed the world", index, actions[kind].name);
            free(before);
            free(after);
        }
    end(&l);
}

static void it_is_the_same_twice(void **context)
{
    (void)context;
    record again;
    live_undisturbed(&undisturbed);
    live_undisturbed(&again);
    assert_int_equal(undisturbed.count, again.count);
    assert_memory_equal(undisturbed.hash, again.hash, undisturbed.count * sizeof *again.hash);
}

static void any_allocation_may_fail(void **context)
{
    (void)context;
    uint32_t failures = live(&undisturbed, SINGLE);
    print_message("%u calls failed\n", failures);
    assert_true(failures > 500);
}

static void all_may_fail_from_one_on(void **context)
{
    (void)context;
    uint32_t failures = live(&undisturbed, ALL);
    print_message("%u calls failed\n", failures);
    assert_true(failures > 500);
}

static void any_may_fail_in_a_world_that_saw_no_failure(void **context)
{
    (void)context;
    uint32_t failures = 0, lives = 0;
    uint64_t total = 0;
    for (uint32_t at = 0; at < undisturbed.count; at++)
        for (uint64_t n = 1; n <= undisturbed.requests[at]; n++)
            if (total++ % stride == 0) {
                failures += live_fresh(&undisturbed, at, n);
                lives++;
            }
    print_message("%u lives, %u calls failed, of %" PRIu64 " allocations\n", lives, failures, total);
    assert_true(failures > lives / 2);
}

int main(int argc, char **argv)
{
    stride = argc > 1 ? strtoull(argv[1], NULL, 10) : 2003;
    stride = stride ? stride : 1;
    sparse = argc > 1 ? UINT64_MAX : SPARSE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_has_everything_in_it), cmocka_unit_test(it_is_the_same_twice),
        cmocka_unit_test(reading_changes_nothing),     cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(all_may_fail_from_one_on),    cmocka_unit_test(any_may_fail_in_a_world_that_saw_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
