/*
 * Memory: stepping allocates nothing, everything is given back, and any allocation may fail: the call reports it, nothing
 * is lost, and the same call later gives the same world.
 *
 *   test_memory              everything
 *   test_memory threads      what has more than one worker
 */
#include "test/support/boxes.h"
#include "test/support/busy.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 65536

/* An allocator that knows every block it gave out and can be told to refuse the n-th request from now. */
typedef struct accountant {
    struct {
        void *memory;
        size_t size;
    } blocks[MAX_BLOCKS];
    uint32_t block_count;
    size_t live, most; /* bytes */
    uint64_t requests; /* so far */
    uint64_t refuse;   /* 0: none; n: the n-th from now */
    bool refused;
} accountant;

static void *account_allocate(size_t size, size_t alignment, void *user)
{
    accountant *a = user;
    a->requests++;
    if (a->refuse > 0 && --a->refuse == 0) {
        a->refused = true;
        return NULL;
    }
    assert_true(size > 0);
    assert_true(alignment > 0 && alignment <= 64 && (alignment & (alignment - 1)) == 0);
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    assert_non_null(memory);
    memset(memory, 0xa5, size); /* what is not set must not be read */
    assert_true(a->block_count < MAX_BLOCKS);
    a->blocks[a->block_count].memory = memory;
    a->blocks[a->block_count++].size = size;
    a->live += size;
    a->most = a->live > a->most ? a->live : a->most;
    return memory;
}

static void account_release(void *memory, size_t size, void *user)
{
    accountant *a = user;
    if (memory == NULL) return;
    for (uint32_t k = a->block_count; k > 0; k--) {
        if (a->blocks[k - 1].memory != memory) continue;
        assert_int_equal(a->blocks[k - 1].size, size);
        a->blocks[k - 1] = a->blocks[--a->block_count];
        a->live -= size;
        memset(memory, 0x5a, size); /* what was given back must not be used */
        free(memory);
        return;
    }
    fail_msg("a block was given back that was never given out, or twice");
}

static int set_up(void **context)
{
    *context = calloc(1, sizeof(accountant));
    return *context == NULL;
}

static int tear_down(void **context)
{
    free(*context);
    return 0;
}

static lm_world_def accounted_def(accountant *a)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 2;
    def.allocator.allocate = account_allocate;
    def.allocator.release = account_release;
    def.allocator.user = a;
    return def;
}

static void steady_stepping_allocates_nothing(void **context)
{
    accountant *a = *context;
    lm_world_def def = accounted_def(a);
    busy b = busy_make(&def);
    uint32_t frame = 0;
    for (; frame < 2; frame++) busy_step(&b, frame);
    uint64_t before = a->requests;
    for (; frame < 60; frame++) assert_ok(lm_world_step(b.world, FRAME));
    assert_int_equal(a->requests - before, 0);

    /* Nor do reading, hashing, saving and picking. */
    lm_stats stats;
    lm_ray_hit hit;
    size_t size = lm_world_save_size(b.world);
    void *buffer = malloc(size);
    assert_ok(lm_world_save(b.world, buffer, size));
    lm_world_hash(b.world);
    lm_world_get_stats(b.world, &stats);
    lm_world_cast_ray(b.world, &(lm_ray){{0, 5, 0}, {0, -1, 0}, 100.0f, UINT32_MAX, 0}, &hit);
    assert_int_equal(a->requests - before, 0);
    assert_true(stats.memory <= a->live);
    assert_true(stats.memory > a->live / 2);
    free(buffer);

    /* A new body needs memory once, then stepping is free of it again. */
    random_state random = {1};
    sample s = sample_make(SAMPLE_GRID, &random);
    make_body(b.world, &s.def);
    sample_free(&s);
    assert_true(a->requests > before);
    for (int k = 0; k < 2; k++) assert_ok(lm_world_step(b.world, FRAME));
    before = a->requests;
    for (int k = 0; k < 20; k++) assert_ok(lm_world_step(b.world, FRAME));
    assert_int_equal(a->requests - before, 0);

    /* An octree that looks in every step whether its cells should be others, once they are what they should be. */
    boxes box = {.count = 0};
    boxes_add(&box, (lm_vec3){-0.6f, -0.3f, -0.3f}, (lm_vec3){0.6f, 0.3f, 0.3f});
    lm_body_def octree = boxes_octree(&box, 0.1f, 2, 0.3f);
    lm_detail detail = lm_detail_default();
    lm_body_id body;
    uint32_t waiting = 1;
    detail.eye_angle = 0.1f;
    octree.material.damping_ratio = 1.0f;
    assert_ok(lm_body_create(b.world, &octree, &body));
    assert_ok(lm_body_set_detail(b.world, body, &detail));
    assert_ok(lm_world_set_eye(b.world, &(lm_dvec3){0, 0, 2}));
    for (int k = 0; k < 30; k++) assert_ok(lm_world_step(b.world, FRAME));
    assert_ok(lm_body_get_detail(b.world, body, NULL, &waiting));
    assert_int_equal(waiting, 0);
    before = a->requests;
    for (int k = 0; k < 5; k++) assert_ok(lm_world_step(b.world, FRAME));
    assert_int_equal(a->requests - before, 0);
    busy_free(&b);
    assert_int_equal(a->block_count, 0);
}

static void everything_is_given_back(void **context)
{
    accountant *a = *context;
    lm_world_def def = accounted_def(a);
    for (int round = 0; round < 3; round++) {
        busy b = busy_make(&def);
        for (uint32_t frame = 0; frame < 10; frame++) busy_step(&b, frame);
        size_t size = lm_world_save_size(b.world);
        void *buffer = malloc(size);
        assert_ok(lm_world_save(b.world, buffer, size));
        if (round == 1)
            for (uint32_t k = 0; k < b.body_count; k++) assert_ok(lm_body_destroy(b.world, b.bodies[k]));
        if (round == 2) assert_ok(lm_world_load(b.world, buffer, size));
        free(buffer);
        busy_free(&b);
        assert_int_equal(a->block_count, 0);
        assert_int_equal(a->live, 0);
    }
}

/* Making and destroying bodies for ever does not grow the world. */
static void nothing_piles_up(void **context)
{
    accountant *a = *context;
    lm_world_def def = accounted_def(a);
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    size_t settled = 0;
    for (int round = 0; round < 200; round++) {
        random_state random = {3};
        sample s = sample_make((sample_kind)(round % SAMPLE_KIND_COUNT), &random);
        lm_body_id body = make_body(world, &s.def);
        assert_ok(lm_body_add_force(world, body, (lm_vec3){1, 0, 0}));
        assert_ok(lm_world_step(world, FRAME));
        assert_ok(lm_body_destroy(world, body));
        assert_ok(lm_world_step(world, FRAME));
        sample_free(&s);
        if (round == 50) settled = a->live;
    }
    assert_at_most(a->live, settled);
    lm_world_destroy(world);
    assert_int_equal(a->block_count, 0);
}

/* ---- failing allocations ---- */

/* Of the allocations of a call the first ones are refused one by one, so many as this, and then fewer and fewer: all of them take half a
 * minute. */
static uint64_t sparse(void)
{
#ifdef LIMBER_SANITIZED
    return test_is_long() ? 32 : 4;
#else
    return test_is_long() ? UINT64_MAX : 32;
#endif
}

/* Refuses the first allocation of the call, then the second, and so on until the call gets all it wants. Every refusal
 * must be reported as such and leave the state as it was. With failures off, the call is simply made. */
#define ATTEMPT(a, world, failures, call)                                                                              \
    do {                                                                                                               \
        for (uint64_t n = 1;; n += 1 + n / sparse()) {                                                                 \
            uint64_t hash_before = lm_world_hash(world);                                                               \
            (a)->refuse = (failures) ? n : 0;                                                                          \
            (a)->refused = false;                                                                                      \
            lm_result attempt_result = call;                                                                           \
            (a)->refuse = 0;                                                                                           \
            if (attempt_result == LM_OK) break;                                                                        \
            if (!(a)->refused || attempt_result != LM_ERROR_MEMORY)                                                    \
                fail_msg("%s gave \"%s\"", #call, lm_result_text(attempt_result));                                     \
            if (lm_world_hash(world) != hash_before) fail_msg("%s failed and changed the world", #call);               \
            refusals++;                                                                                                \
        }                                                                                                              \
    } while (0)

static uint32_t refusals;

static lm_world *create_world(accountant *a, bool failures)
{
    lm_world_def def = accounted_def(a);
    def.workers = 1;
    lm_world *world = NULL;
    for (uint64_t n = 1;; n++) {
        uint32_t blocks = a->block_count;
        a->refuse = failures ? n : 0;
        a->refused = false;
        lm_result result = lm_world_create(&def, &world);
        a->refuse = 0;
        if (result == LM_OK) return world;
        assert_true(a->refused);
        assert_result(result, LM_ERROR_MEMORY);
        assert_null(world);
        assert_int_equal(a->block_count, blocks);
        refusals++;
    }
}

/* Bodies of the makers that need room to work in, made of plastic, with a surface on their regions and shares. */
static void add_plastic_bodies(accountant *a, lm_world *world, bool failures, lm_body_id plastic[3])
{
    static const lm_cluster_kind kinds[3] = {LM_CLUSTERS_KMEANS, LM_CLUSTERS_RINGS, LM_CLUSTERS_ELEMENTS};
    uint32_t elements[4 * 32];
    for (uint32_t e = 0; e < 32; e++)
        for (uint32_t k = 0; k < 4; k++) elements[4 * e + k] = e + k;
    for (int body = 0; body < 3; body++) {
        random_state random = {(uint64_t)(40 + body)};
        sample s = sample_make(SAMPLE_BOX, &random);
        s.def.clusters.kind = kinds[body];
        s.def.clusters.count = 5;
        s.def.clusters.rings = 2;
        s.def.clusters.elements = elements;
        s.def.clusters.element_count = 32;
        if (body == 0) s.def.clusters.element_count = 0;
        s.def.material.mode = (lm_mode)body;
        s.def.material.yield = 0.01f;
        s.def.material.creep = 30.0f;
        ATTEMPT(a, world, failures, lm_body_create(world, &s.def, &plastic[body]));
        randomise_state(world, plastic[body], &random, 0.05, 1.0);
        lm_skin_def skin = lm_skin_def_default();
        uint32_t triangle[3] = {0, 1, 2};
        skin.kind = LM_SKIN_REGIONS;
        skin.vertices = s.points;
        skin.vertex_count = s.count;
        skin.triangles = triangle;
        skin.triangle_count = 1;
        ATTEMPT(a, world, failures, lm_body_set_skin(world, plastic[body], &skin));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, plastic[body], &info));
        float *shares = calloc(info.regions, sizeof *shares), *values = calloc(s.count, sizeof *values);
        for (uint32_t r = 0; r < info.regions; r++) shares[r] = 0.4f;
        for (uint32_t i = 0; i < s.count; i++) values[i] = i % 2 ? 0.9f : 0.2f;
        ATTEMPT(a, world, failures, lm_body_set_region_stiffness(world, plastic[body], shares));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        ATTEMPT(a, world, failures, lm_body_set_region_stiffness(world, plastic[body], NULL));
        ATTEMPT(a, world, failures, lm_body_set_particle_stiffness(world, plastic[body], values));
        float share;
        ATTEMPT(a, world, failures, lm_body_get_slowest_mode(world, plastic[body], &share));
        assert_true(share >= 0.0f && share <= 1.0f);
        for (int step = 0; step < 5; step++) ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        float *matrices = calloc(info.regions, 9 * sizeof *matrices);
        assert_ok(lm_body_get_plastic(world, plastic[body], matrices));
        assert_true(matrices[0] != 1.0f); /* it does flow */
        free(matrices);
        free(shares);
        free(values);
        sample_free(&s);
    }
}

/* A body that was not plastic becomes so while running; one that was is reset. */
static void change_plastic_bodies(accountant *a, lm_world *world, bool failures, const lm_body_id plastic[3],
                                  lm_body_id plain)
{
    lm_material material = lm_material_default();
    ATTEMPT(a, world, failures, lm_body_set_material(world, plastic[0], &material));
    material.yield = 0.001f;
    ATTEMPT(a, world, failures, lm_body_set_material(world, plain, &material));
    ATTEMPT(a, world, failures, lm_body_reset_plastic(world, plastic[1]));
    ATTEMPT(a, world, failures, lm_body_reset_plastic(world, plain));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
}

/* A lattice of two parts with irregular regions, which becomes everything that a lattice can be. */
static void add_lattice(accountant *a, lm_world *world, bool failures)
{
    uint8_t cells[9 * 4 * 2];
    for (int n = 0; n < 9 * 4 * 2; n++) cells[n] = n % 9 != 4 && (n / 9 % 4 != 2 || n % 9 < 2);
    random_state random = {50};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    lm_body_id body, plastic;
    def.lattice.cells = cells;
    def.lattice.counts[0] = 9, def.lattice.counts[1] = 4, def.lattice.counts[2] = 2;
    def.lattice.spacing = 0.2f;
    def.lattice.width = 2;
    def.material.mode = LM_MODE_RIGID;
    ATTEMPT(a, world, failures, lm_body_create(world, &def, &body));
    randomise_state(world, body, &random, 0.05, 1.0);
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_material material = def.material;
    material.damping_kind = LM_DAMPING_REGIONAL;
    material.yield = 0.01f;
    ATTEMPT(a, world, failures, lm_body_set_material(world, body, &material));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    material.mode = LM_MODE_LINEAR;
    ATTEMPT(a, world, failures, lm_body_set_material(world, body, &material));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    def.material = material;
    def.pose.position.y = 3.0;
    ATTEMPT(a, world, failures, lm_body_create(world, &def, &plastic));
    randomise_state(world, plastic, &random, 0.05, 1.0);
    for (int k = 0; k < 3; k++) ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    float *matrices = calloc(info.regions, 9 * sizeof *matrices);
    assert_ok(lm_body_get_plastic(world, body, matrices));
    bool flowed = false;
    for (uint32_t r = 0; r < info.regions; r++) flowed = flowed || matrices[9 * r] != 1.0f;
    assert_true(flowed);
    free(matrices);
    ATTEMPT(a, world, failures, lm_body_reset_plastic(world, body));
}

/* Lattices: a comb with irregular regions, one with a hole from a mesh, one that is searched for, and one of several slabs. */
static void add_lattices(accountant *a, lm_world *world, bool failures, lm_body_id lattices[4])
{
    static const lm_vec3 corners[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    static const uint32_t faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    uint8_t *cells = malloc(28 * 28 * 30);
    for (int body = 0; body < 4; body++) {
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        def.material.mode = body % 2 ? LM_MODE_RIGID : LM_MODE_LINEAR;
        def.pose.position.x = 3.0 * body;
        def.lattice.width = body == 3 ? 1 : 1 + (uint32_t)body;
        if (body == 0 || body == 3) {
            const uint32_t n[3] = {body ? 28 : 9, body ? 28 : 5, body ? 30 : 2};
            for (uint32_t k = 0; k < n[0] * n[1] * n[2]; k++)
                cells[k] = body == 3 || k % n[0] % 2 == 0 || k / n[0] % n[1] == 0;
            def.lattice.cells = cells;
            memcpy(def.lattice.counts, n, sizeof n);
            def.lattice.spacing = 0.1f;
        } else {
            def.lattice.vertices = corners;
            def.lattice.vertex_count = 8;
            def.lattice.triangles = faces;
            def.lattice.triangle_count = 12;
            def.lattice.spacing = body == 1 ? 0.2f : 0.0f;
            def.lattice.particles = 200;
            def.lattice.shell = body == 1;
        }
        ATTEMPT(a, world, failures, lm_body_create(world, &def, &lattices[body]));
        if (body == 3) break; /* its size is what there is to it */
        random_state random = {(uint64_t)(60 + body)};
        randomise_state(world, lattices[body], &random, 0.02, 1.0);
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = corners;
        skin.vertex_count = 8;
        skin.triangles = faces;
        skin.triangle_count = 12;
        ATTEMPT(a, world, failures, lm_body_set_skin(world, lattices[body], &skin));
        uint32_t held[2] = {1, 7};
        lm_pin_def pin_def = lm_pin_def_default();
        lm_pin_id pin;
        pin_def.body = lattices[body];
        pin_def.particles = held;
        pin_def.particle_count = 2;
        ATTEMPT(a, world, failures, lm_pin_create(world, &pin_def, &pin));
        lm_drag_def drag_def = lm_drag_def_default();
        lm_drag_id drag;
        drag_def.body = lattices[body];
        drag_def.particle = 3;
        drag_def.radius = 0.3f;
        ATTEMPT(a, world, failures, lm_drag_create(world, &drag_def, &drag));
        ATTEMPT(a, world, failures, lm_body_add_particle_force(world, lattices[body], 5, (lm_vec3){1, 0, 0}));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        lm_material material = def.material;
        material.mode = body % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        ATTEMPT(a, world, failures, lm_body_set_material(world, lattices[body], &material));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        if (body) ATTEMPT(a, world, failures, lm_pin_destroy(world, pin));
    }
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f; /* and tetrahedra of the same surface */
    def.tets.vertices = corners;
    def.tets.vertex_count = 8;
    def.tets.triangles = faces;
    def.tets.triangle_count = 12;
    def.tets.spacing = 0.25f;
    lm_body_id tets;
    ATTEMPT(a, world, failures, lm_body_create(world, &def, &tets));
    free(cells);
}

/* Examples come, are replaced by others, and go, while the body runs. */
static void give_examples(accountant *a, lm_world *world, bool failures, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *poses = calloc(2 * (size_t)info.particles, sizeof *poses);
    assert_ok(lm_body_get_rest_positions(world, body, poses));
    for (uint32_t i = 0; i < info.particles; i++) {
        poses[info.particles + i] = (lm_vec3){1.2f * poses[i].x, poses[i].y, poses[i].z};
        poses[i].y += 0.3f * poses[i].x;
    }
    lm_examples_def def = lm_examples_def_default();
    def.poses = poses;
    def.count = 2;
    def.particles = info.particles;
    ATTEMPT(a, world, failures, lm_body_set_examples(world, body, &def));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    def.scope = LM_EXAMPLES_REGIONS;
    ATTEMPT(a, world, failures, lm_body_set_examples(world, body, &def));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    ATTEMPT(a, world, failures, lm_body_set_examples(world, body, NULL));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    ATTEMPT(a, world, failures, lm_body_set_examples(world, body, &def));
    free(poses);
}

/* An octree with a skin, other widths, other stiffness, a pin, a drag, a plastic material; and it is cut. */
static lm_body_id add_octree(accountant *a, lm_world *world, bool failures)
{
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.6f, -0.3f, -0.3f}, (lm_vec3){0.6f, 0.3f, 0.3f});
    boxes_add(&b, (lm_vec3){0.4f, 0.2f, -0.1f}, (lm_vec3){0.6f, 0.9f, 0.1f});
    random_state random = {51};
    lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.3f);
    float sizes[16];
    for (int n = 0; n < 16; n++) sizes[n] = 0.2f + 0.02f * (float)n;
    def.octree.vertex_sizes = def.octree.vertex_widths = sizes;
    def.self_contact = true;
    lm_body_id body;
    ATTEMPT(a, world, failures, lm_body_create(world, &def, &body));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = b.vertices, skin.vertex_count = 16;
    skin.triangles = b.triangles, skin.triangle_count = 24;
    ATTEMPT(a, world, failures, lm_body_set_skin(world, body, &skin));
    randomise_state(world, body, &random, 0.03, 1.0);
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    float *values = calloc(info.particles, sizeof *values);
    for (uint32_t n = 0; n < info.particles; n++) values[n] = 0.1f + 0.4f * (float)n / (float)info.particles;
    ATTEMPT(a, world, failures, lm_body_set_widths(world, body, values));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    ATTEMPT(a, world, failures, lm_body_set_particle_stiffness(world, body, values));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    free(values);
    uint32_t held[2] = {0, 3};
    lm_pin_def pin_def = lm_pin_def_default();
    lm_pin_id pin;
    pin_def.body = body;
    pin_def.particles = held;
    pin_def.particle_count = 2;
    ATTEMPT(a, world, failures, lm_pin_create(world, &pin_def, &pin));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_material material = def.material;
    material.yield = 0.01f;
    ATTEMPT(a, world, failures, lm_body_set_material(world, body, &material));
    for (int k = 0; k < 3; k++) ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_drag_def drag_def = lm_drag_def_default();
    lm_drag_id drag;
    drag_def.body = body;
    drag_def.particle = 1;
    drag_def.radius = 0.3f;
    ATTEMPT(a, world, failures, lm_drag_create(world, &drag_def, &drag));
    for (int k = 0; k < 2; k++) { /* partly, then through */
        lm_dvec3 from[2] = {{0.1 * k, -2, -2}, {0.1 * k, -2, 2}}, to[2] = {{0.1 * k, 2 * k, -2}, {0.1 * k, 2 * k, 2}};
        lm_cut_info cut;
        ATTEMPT(a, world, failures, lm_body_cut_sweep(world, body, from, to, 2, &cut));
        assert_true(cut.links > 0);
        ATTEMPT(a, world, failures, lm_body_refine(world, body, lm_dvec3_zero(), 0.3f, 0.1f, NULL));
        ATTEMPT(a, world, failures, lm_body_refine(world, body, lm_dvec3_zero(), 9.0f, 0.4f, NULL));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    }
    ATTEMPT(a, world, failures, lm_drag_destroy(world, drag));
    return body;
}

/* One of everything, in the order a host might do it; returns the final hash. */
static uint64_t live_a_life(accountant *a, bool failures)
{
    lm_world *world = create_world(a, failures);
    lm_body_id bodies[SAMPLE_KIND_COUNT];
    uint32_t held[2] = {1, 2}, triangle[3] = {0, 1, 2};
    lm_mover_def mover_def = lm_mover_def_default();
    lm_collider_def collider_def = lm_collider_def_default();
    lm_field_def field_def = lm_field_def_default();
    lm_mover_id mover;
    lm_collider_id colliders[20];
    lm_field_id fields[20];
    ATTEMPT(a, world, failures, lm_mover_create(world, &mover_def, &mover));
    collider_def.mover = mover;
    for (int k = 0; k < 20; k++) { /* enough for every table to grow */
        collider_def.pose.position.y = -1.0 - 0.01 * k;
        field_def.vector.x = 0.01f * (float)k;
        ATTEMPT(a, world, failures, lm_collider_create(world, &collider_def, &colliders[k]));
        ATTEMPT(a, world, failures, lm_field_create(world, &field_def, &fields[k]));
    }
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
        random_state random = {(uint64_t)kind};
        sample s = sample_make((sample_kind)kind, &random);
        s.def.material.mode = (lm_mode)(kind % LM_MODE_COUNT);
        s.def.spin = (lm_vec3){1, 2, 3};
        ATTEMPT(a, world, failures, lm_body_create(world, &s.def, &bodies[kind]));
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = s.points;
        skin.vertex_count = s.count;
        skin.triangles = triangle;
        skin.triangle_count = 1;
        ATTEMPT(a, world, failures, lm_body_set_skin(world, bodies[kind], &skin));
        ATTEMPT(a, world, failures, lm_body_set_skin(world, bodies[kind], &skin));
        sample_free(&s);
        lm_pin_def pin_def = lm_pin_def_default();
        lm_pin_id pin;
        pin_def.body = bodies[kind];
        pin_def.particles = held;
        pin_def.particle_count = 2;
        pin_def.mover = mover;
        ATTEMPT(a, world, failures, lm_pin_create(world, &pin_def, &pin));
        lm_drag_def drag_def = lm_drag_def_default();
        lm_drag_id drag;
        drag_def.body = bodies[kind];
        drag_def.radius = 0.2f;
        ATTEMPT(a, world, failures, lm_drag_create(world, &drag_def, &drag));
        for (int k = 0; k < 20; k++)
            ATTEMPT(a, world, failures, lm_body_add_particle_force(world, bodies[kind], 0, (lm_vec3){0.1f, 0, 0}));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
        if (kind % 2) ATTEMPT(a, world, failures, lm_pin_destroy(world, pin));
        if (kind % 3 == 0) ATTEMPT(a, world, failures, lm_drag_destroy(world, drag));
        ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    }
    lm_material material = lm_material_default();
    material.mode = LM_MODE_QUADRATIC;
    ATTEMPT(a, world, failures, lm_body_set_material(world, bodies[3], &material));
    ATTEMPT(a, world, failures, lm_body_destroy(world, bodies[2]));
    ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    lm_body_id plastic[3];
    add_plastic_bodies(a, world, failures, plastic);
    change_plastic_bodies(a, world, failures, plastic, bodies[1]);
    add_lattice(a, world, failures);
    lm_body_id lattices[4];
    add_lattices(a, world, failures, lattices);
    give_examples(a, world, failures, bodies[5]);
    give_examples(a, world, failures, lattices[0]);
    give_examples(a, world, failures, add_octree(a, world, failures));

    size_t size = lm_world_save_size(world);
    void *buffer = malloc(size);
    ATTEMPT(a, world, failures, lm_world_save(world, buffer, size));
    for (int k = 0; k < 3; k++) ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    ATTEMPT(a, world, failures, lm_world_load(world, buffer, size));
    free(buffer);
    ATTEMPT(a, world, failures, lm_body_destroy(world, plastic[2]));
    ATTEMPT(a, world, failures, lm_body_destroy(world, lattices[1]));
    ATTEMPT(a, world, failures, lm_collider_destroy(world, colliders[4]));
    ATTEMPT(a, world, failures, lm_field_destroy(world, fields[4]));
    ATTEMPT(a, world, failures, lm_mover_destroy(world, mover));
    for (int k = 0; k < 5; k++) ATTEMPT(a, world, failures, lm_world_step(world, FRAME));
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    assert_int_equal(a->block_count, 0);
    return hash;
}

static void any_allocation_may_fail(void **context)
{
    accountant *a = *context;
    uint64_t undisturbed = live_a_life(a, false);
    assert_int_equal(refusals, 0);
    uint64_t disturbed = live_a_life(a, true);
    print_message("%u allocations were refused\n", refusals);
    assert_true(refusals > 50);
    assert_true(disturbed == undisturbed);
}

/* Ten gigabytes of particles: refused, not attempted. */
static void absurd_sizes_are_refused(void **context)
{
    accountant *a = *context;
    lm_world_def def = accounted_def(a);
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    size_t before = a->live;
    lm_vec3 point = {0, 0, 0};
    lm_body_def body_def = lm_body_def_default();
    body_def.mask = 0;
    body_def.material.hertz = 8.0f;
    lm_body_id body;
    body_def.points = &point;
    body_def.point_count = 900000000u;
    assert_result(lm_body_create(world, &body_def, &body), LM_ERROR_LIMIT);
    random_state random = {1};
    sample s = sample_make(SAMPLE_BOX, &random);
    for (int k = 0; k < 3; k++) s.def.clusters.counts[k] = 4000000000u;
    lm_result result = lm_body_create(world, &s.def, &body);
    assert_true(result == LM_ERROR_LIMIT || result == LM_ERROR_ARGUMENT);
    s.def.clusters.kind = LM_CLUSTERS_SIZE;
    s.def.clusters.cell_size = 1e-9f;
    result = lm_body_create(world, &s.def, &body);
    assert_true(result == LM_ERROR_LIMIT || result == LM_ERROR_ARGUMENT);
    sample_free(&s);
    assert_at_most(a->live, before + 4096);

    /* Lattices: 10^10 cells from a mesh, more than there may be as cells. */
    static const lm_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const uint8_t cell = 1;
    lm_body_def lattice = lm_body_def_default();
    lattice.mask = 0;
    lattice.material.hertz = 8.0f;
    lattice.lattice.vertices = corners, lattice.lattice.vertex_count = 4;
    lattice.lattice.triangles = faces, lattice.lattice.triangle_count = 4;
    lattice.lattice.spacing = 4.6e-4f;
    a->most = a->live;
    assert_result(lm_body_create(world, &lattice, &body), LM_ERROR_LIMIT);
    lattice = lm_body_def_default();
    lattice.lattice.cells = &cell;
    lattice.lattice.spacing = 1.0f;
    for (int k = 0; k < 3; k++) lattice.lattice.counts[k] = k ? 65536 : 1;
    assert_result(lm_body_create(world, &lattice, &body), LM_ERROR_ARGUMENT);
    lattice.lattice.counts[0] = lattice.lattice.counts[1] = 1;
    lattice.lattice.counts[2] = 65537;
    assert_result(lm_body_create(world, &lattice, &body), LM_ERROR_ARGUMENT);
    assert_at_most(a->most, before + 65536);
    assert_at_most(a->live, before + 16384);
    lm_world_destroy(world);
}

int main(int argc, char **argv)
{
#define WITH_ACCOUNTANT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest with_workers[] = {
        WITH_ACCOUNTANT(steady_stepping_allocates_nothing),
        WITH_ACCOUNTANT(everything_is_given_back),
        WITH_ACCOUNTANT(nothing_piles_up),
    };
    const struct CMUnitTest alone[] = {
        WITH_ACCOUNTANT(any_allocation_may_fail),
        WITH_ACCOUNTANT(absurd_sizes_are_refused),
    };
    int failed = cmocka_run_group_tests(with_workers, NULL, NULL);
    bool all = argc < 2 || strcmp(argv[1], "threads") != 0;
    return failed + (all ? cmocka_run_group_tests(alone, NULL, NULL) : 0);
}
