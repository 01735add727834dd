/*
 * Bodies made beside the world: the same as those made in it, from other threads, and whatever fails.
 */
#include "test/support/support.h"

#include "base/os.h"
#include "limber/shapes.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CLOUD, GROUPS, LATTICE, TETS, OCTREE, KINDS };

typedef struct model {
    lm_shape_mesh mesh;
    lm_shape_cloud cloud;
} model;

static model make_model(void)
{
    lm_shape_def def = lm_shape_def_default();
    model m;
    def.name = "duck";
    def.detail = 8;
    assert_ok(lm_shape_make_mesh(&def, &m.mesh));
    assert_ok(lm_shape_make_cloud(&def, &m.mesh, 0, &m.cloud));
    return m;
}

static void free_model(model *m)
{
    lm_shape_mesh_free(&m->mesh);
    lm_shape_cloud_free(&m->cloud);
}

static lm_body_def body_of(const model *m, int kind)
{
    lm_body_def def = lm_body_def_default();
    def.pose.position.y = 1.0;
    def.velocity.x = 0.3f;
    if (kind == CLOUD || kind == GROUPS) {
        def.points = m->cloud.points;
        def.point_count = m->cloud.point_count;
        def.clusters.counts[0] = kind == GROUPS ? 3 : 1;
    } else if (kind == LATTICE) {
        def.lattice.vertices = m->mesh.vertices;
        def.lattice.vertex_count = m->mesh.vertex_count;
        def.lattice.triangles = m->mesh.triangles;
        def.lattice.triangle_count = m->mesh.triangle_count;
        def.lattice.particles = 150;
    } else if (kind == TETS) {
        def.tets.vertices = m->mesh.vertices;
        def.tets.vertex_count = m->mesh.vertex_count;
        def.tets.triangles = m->mesh.triangles;
        def.tets.triangle_count = m->mesh.triangle_count;
        def.tets.spacing = 0.2f;
    } else {
        def.octree.vertices = m->mesh.vertices;
        def.octree.vertex_count = m->mesh.vertex_count;
        def.octree.triangles = m->mesh.triangles;
        def.octree.triangle_count = m->mesh.triangle_count;
        def.octree.particles = 150;
    }
    return def;
}

static lm_skin_def skin_of(const model *m)
{
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = m->mesh.vertices;
    skin.vertex_count = m->mesh.vertex_count;
    skin.triangles = m->mesh.triangles;
    skin.triangle_count = m->mesh.triangle_count;
    return skin;
}

static void add_floor(lm_world *world)
{
    lm_collider_def def = lm_collider_def_default();
    lm_collider_id floor;
    assert_ok(lm_collider_create(world, &def, &floor));
}

static void cut(lm_world *world, lm_body_id body)
{
    lm_body_info info;
    lm_cut_info found;
    assert_ok(lm_body_get_info(world, body, &info));
    const lm_dvec3 c = info.centre;
    const lm_dvec3 from[2] = {{c.x - 3, c.y, c.z - 3}, {c.x - 3, c.y, c.z + 3}};
    const lm_dvec3 to[2] = {{c.x + 3, c.y, c.z - 3}, {c.x + 3, c.y, c.z + 3}};
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &found));
    assert_true(found.links > 0);
}

/* Two bodies of a kind, one after the other, each prepared or made; then the first is cut. */
static uint64_t run(const model *m, int kind, bool skinned, bool prepared)
{
    lm_world_def world_def = lm_world_def_default();
    lm_world *world;
    world_def.workers = 1;
    world_def.substeps = 2;
    assert_ok(lm_world_create(&world_def, &world));
    add_floor(world);
    lm_body_id ids[2];
    for (int n = 0; n < 2; n++) {
        lm_body_def def = body_of(m, kind);
        lm_skin_def skin = skin_of(m);
        def.pose.position.y += 1.2 * n;
        if (prepared) {
            lm_prepare_def how = lm_prepare_def_default();
            lm_prepared *made;
            how.body = &def;
            how.skin = skinned ? &skin : NULL;
            how.cut = true;
            assert_ok(lm_body_prepare(&world_def, &how, &made));
            assert_ok(lm_body_create_prepared(world, made, &ids[n]));
        } else {
            assert_ok(lm_body_create(world, &def, &ids[n]));
            if (skinned) assert_ok(lm_body_set_skin(world, ids[n], &skin));
        }
        steps(world, 10);
    }
    steps(world, 30);
    cut(world, ids[0]);
    steps(world, 10);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void a_prepared_body_is_the_one_that_is_made(void **context)
{
    (void)context;
    model m = make_model();
    for (int kind = 0; kind < KINDS; kind++) {
        for (int skinned = 0; skinned < 2; skinned++) {
            if (run(&m, kind, skinned, false) != run(&m, kind, skinned, true))
                fail_msg("kind %d, skin %d: another hash", kind, skinned);
        }
    }
    free_model(&m);
}

/* What was made ready for cuts with one skin is no use with another. */
static void another_skin_is_cut_as_it_is(void **context)
{
    (void)context;
    model m = make_model();
    uint64_t hashes[2];
    for (int ready = 0; ready < 2; ready++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = body_of(&m, GROUPS);
        lm_skin_def skin = skin_of(&m);
        lm_body_id body = make_body(world, &def);
        lm_vec3 *smaller = malloc(skin.vertex_count * sizeof *smaller);
        for (uint32_t n = 0; n < skin.vertex_count; n++) {
            const lm_vec3 v = skin.vertices[n];
            smaller[n] = (lm_vec3){0.9f * v.x, 0.9f * v.y, 0.9f * v.z};
        }
        assert_ok(lm_body_set_skin(world, body, &skin));
        if (ready) assert_ok(lm_body_prepare_cut(world, body));
        skin.vertices = smaller;
        assert_ok(lm_body_set_skin(world, body, &skin));
        assert_ok(lm_world_set_substeps(world, 2));
        cut(world, body);
        steps(world, 2);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        hashes[ready] = lm_world_hash(world) ^ info.shape_hash;
        free(smaller);
        lm_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
    free_model(&m);
}

/* --- other threads --- */

typedef struct job {
    const model *m;
    lm_world_def world;
    int kind;
    lm_prepared *made;
    lm_result result;
} job;

static void *prepare(void *user)
{
    job *j = user;
    lm_body_def def = body_of(j->m, j->kind);
    lm_prepare_def how = lm_prepare_def_default();
    def.pose.position.y += 1.2 * j->kind;
    how.body = &def;
    j->result = lm_body_prepare(&j->world, &how, &j->made);
    return NULL;
}

static void other_threads_prepare_while_the_world_steps(void **context)
{
    (void)context;
    model m = make_model();
    uint64_t hashes[2];
    for (int threaded = 0; threaded < 2; threaded++) {
        lm_world_def def = lm_world_def_default();
        lm_world *world;
        job jobs[KINDS];
        pthread_t threads[KINDS];
        def.workers = 2;
        def.substeps = 2;
        assert_ok(lm_world_create(&def, &world));
        add_floor(world);
        for (int n = 0; n < KINDS; n++) {
            jobs[n] = (job){.m = &m, .world = def, .kind = n};
            if (threaded)
                assert_int_equal(pthread_create(&threads[n], NULL, prepare, &jobs[n]), 0);
            else
                prepare(&jobs[n]);
        }
        for (int n = 0; n < KINDS; n++) {
            lm_body_id body;
            steps(world, 3);
            if (threaded) pthread_join(threads[n], NULL);
            assert_ok(jobs[n].result);
            assert_ok(lm_body_create_prepared(world, jobs[n].made, &body));
        }
        steps(world, 30);
        hashes[threaded] = lm_world_hash(world);
        lm_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
    free_model(&m);
}

/* --- what fails --- */

typedef struct heap {
    uint64_t requests, refuse; /* the request that is refused; 0: none */
    int64_t bytes;
} heap;

static void *heap_allocate(size_t size, size_t alignment, void *user)
{
    heap *h = user;
    if (++h->requests == h->refuse) return NULL;
    h->bytes += (int64_t)size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void heap_release(void *memory, size_t size, void *user)
{
    heap *h = user;
    h->bytes -= memory ? (int64_t)size : 0;
    free(memory);
}

static lm_world_def def_with(heap *h)
{
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    def.substeps = 2;
    def.allocator = (lm_allocator){heap_allocate, heap_release, h};
    def.log.write = NULL;
    return def;
}

static void every_allocation_may_fail(void **context)
{
    (void)context;
    model m = make_model();
    for (int kind = 0; kind < KINDS; kind += 2) {
        heap h = {0};
        lm_world_def def = def_with(&h);
        lm_body_def body = body_of(&m, kind), lower = body_of(&m, CLOUD);
        lm_skin_def skin = skin_of(&m);
        lm_prepare_def how = lm_prepare_def_default();
        how.body = &body;
        how.skin = &skin;
        how.cut = true;
        body.pose.position.y = 3.0;
        lm_world *world;
        lm_body_id id;
        assert_ok(lm_world_create(&def, &world)); /* one that gets its first company from the prepared body */
        assert_ok(lm_body_create(world, &lower, &id));
        lm_prepared *made = NULL;
        int64_t before = h.bytes;
        uint64_t tries = 0;
        const uint64_t stride = test_is_long() ? 1 : kind == OCTREE ? 31 : 5;
        for (uint64_t n = 1; !made; n += stride, tries++) {
            h.requests = 0;
            h.refuse = n;
            lm_result result = lm_body_prepare(&def, &how, &made);
            if (made) break;
            assert_result(result, LM_ERROR_MEMORY);
            assert_true(h.bytes == before);
        }
        assert_true(tries > 20);
        lm_result result = LM_ERROR_MEMORY;
        for (uint64_t n = 1; result != LM_OK; n++) {
            lm_stats was, is;
            lm_world_get_stats(world, &was);
            h.requests = 0;
            h.refuse = n;
            result = lm_body_create_prepared(world, made, &id);
            assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
            lm_world_get_stats(world, &is);
            assert_int_equal(is.bodies, was.bodies + (result == LM_OK));
        }
        h.refuse = 0;
        steps(world, 5);
        lm_world_destroy(world);
        assert_true(h.bytes == 0);
    }
    free_model(&m);
}

/* What may happen to a lattice between its preparation and its first cut. */
enum { NOTHING, MISSED, PINNED, HEAVIER, SOFTER, FLOWING, WAYS };

static void change(lm_world *world, lm_body_id body, int way)
{
    lm_body_info info;
    lm_material material;
    lm_cut_info found;
    lm_pin_id id;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_ok(lm_body_get_material(world, body, &material));
    float *values = malloc(info.particles * sizeof *values);
    for (uint32_t n = 0; n < info.particles; n++) values[n] = 0.2f + 0.1f * (n % 7);
    if (way == MISSED) {
        const lm_dvec3 from[2] = {{5, 5, 5}, {5, 6, 5}}, to[2] = {{6, 5, 5}, {6, 6, 5}};
        assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &found));
        assert_int_equal(found.links, 0);
    } else if (way == PINNED) {
        const uint32_t held[3] = {0, 1, 2};
        lm_pin_def pin = lm_pin_def_default();
        pin.body = body, pin.particles = held, pin.particle_count = 3;
        assert_ok(lm_pin_create(world, &pin, &id));
    } else if (way == HEAVIER) {
        assert_ok(lm_body_set_masses(world, body, values));
    } else if (way == SOFTER) {
        assert_ok(lm_body_set_region_stiffness(world, body, values));
    } else if (way == FLOWING) {
        material.yield = 0.01f, material.creep = 1.0f;
        assert_ok(lm_body_set_material(world, body, &material));
    }
    free(values);
}

/* The links of a lattice that are made beforehand are those that its first cut makes, whatever has changed since; and that cut need not
 * make them again, unless it ran out of memory once. */
static void links_made_beforehand_are_the_same(void **context)
{
    (void)context;
    model m = make_model();
    for (int way = 0; way < WAYS; way++) {
        uint64_t hashes[3], requests[3];
        for (int ready = 0; ready < 3; ready++) { /* 2: allocations of the cut fail, every fourth of them */
            heap h = {0};
            lm_world_def def = def_with(&h);
            lm_body_def lattice = body_of(&m, LATTICE);
            lm_world *world;
            lm_body_id body;
            lm_body_info info;
            lm_cut_info found;
            assert_ok(lm_world_create(&def, &world));
            assert_ok(lm_body_create(world, &lattice, &body));
            if (ready) assert_ok(lm_body_prepare_cut(world, body));
            change(world, body, way);
            steps(world, 3);
            const uint64_t before = lm_world_hash(world);
            assert_ok(lm_body_get_info(world, body, &info));
            const double y = info.centre.y;
            const lm_dvec3 from[2] = {{-9, y, -9}, {-9, y, 9}}, to[2] = {{9, y, -9}, {9, y, 9}};
            lm_result result = LM_ERROR_MEMORY;
            for (uint64_t n = 1; result != LM_OK; n += 4) {
                h.requests = 0;
                h.refuse = ready == 2 ? n : 0;
                result = lm_body_cut_sweep(world, body, from, to, 2, &found);
                assert_true(result == LM_OK || (result == LM_ERROR_MEMORY && lm_world_hash(world) == before));
            }
            h.refuse = 0;
            assert_true(found.links > 0);
            requests[ready] = h.requests;
            steps(world, 3);
            hashes[ready] = lm_world_hash(world);
            assert_true(hashes[ready] != before);
            lm_world_destroy(world);
            assert_true(h.bytes == 0);
        }
        if (hashes[0] != hashes[1] || hashes[0] != hashes[2]) fail_msg("way %d: another hash", way);
        if (requests[1] + 10 >= requests[0])
            fail_msg("way %d: %d requests, %d with links", way, (int)requests[0], (int)requests[1]);
    }
    free_model(&m);
}

static void a_prepared_body_that_nobody_wants_is_freed(void **context)
{
    (void)context;
    model m = make_model();
    heap h = {0};
    lm_world_def def = def_with(&h);
    for (int kind = 0; kind < KINDS; kind++) {
        lm_body_def body = body_of(&m, kind);
        lm_prepare_def how = lm_prepare_def_default();
        lm_prepared *made;
        how.body = &body;
        assert_ok(lm_body_prepare(&def, &how, &made));
        assert_true(h.bytes > 0);
        lm_prepared_destroy(made);
        assert_true(h.bytes == 0);
    }
    lm_prepared_destroy(NULL);
    free_model(&m);
}

/* The world's count of its bytes is that of its allocator. */
static void memory_goes_along(void **context)
{
    (void)context;
    model m = make_model();
    heap h = {0};
    lm_world_def def = def_with(&h);
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int twice = 0; twice < 2; twice++) { /* the second shares what the first one brought */
            lm_body_def body = body_of(&m, kind);
            lm_prepare_def how = lm_prepare_def_default();
            lm_prepared *made;
            lm_body_id id;
            how.body = &body;
            assert_ok(lm_body_prepare(&def, &how, &made));
            assert_ok(lm_body_create_prepared(world, made, &id));
            lm_stats info;
            lm_world_get_stats(world, &info);
            assert_true((int64_t)info.memory == h.bytes);
        }
    }
    lm_world_destroy(world);
    assert_true(h.bytes == 0);
    free_model(&m);
}

static void bad_input_is_refused(void **context)
{
    (void)context;
    model m = make_model();
    heap h = {0}, another = {0};
    lm_world_def def = def_with(&h), other_def = def_with(&another);
    lm_body_def body = body_of(&m, CLOUD);
    lm_prepare_def how = lm_prepare_def_default();
    lm_prepared *made;
    assert_result(lm_body_prepare(&def, &how, &made), LM_ERROR_ARGUMENT); /* no body */
    assert_null(made);
    how.body = &body;
    how.cookie++;
    assert_result(lm_body_prepare(&def, &how, &made), LM_ERROR_ARGUMENT);
    how = lm_prepare_def_default();
    how.body = &body;
    body.mass = -1.0f;
    assert_result(lm_body_prepare(&def, &how, &made), LM_ERROR_ARGUMENT);
    assert_null(made);
    assert_true(h.bytes == 0);
    body.mass = 1.0f;
    assert_ok(lm_body_prepare(&def, &how, &made));
    lm_world *world, *mine;
    lm_body_id id;
    assert_ok(lm_world_create(&other_def, &world));
    assert_ok(lm_world_create(&def, &mine));
    assert_result(lm_body_create_prepared(world, made, &id), LM_ERROR_ARGUMENT); /* another allocator */
    assert_ok(lm_body_create_prepared(mine, made, &id));                         /* it is as it was */
    assert_true(lm_body_is_valid(mine, id));
    lm_world_destroy(world);
    lm_world_destroy(mine);
    assert_true(h.bytes == 0 && another.bytes == 0);
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prepared_body_is_the_one_that_is_made),
        cmocka_unit_test(another_skin_is_cut_as_it_is),
        cmocka_unit_test(other_threads_prepare_while_the_world_steps),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(links_made_beforehand_are_the_same),
        cmocka_unit_test(a_prepared_body_that_nobody_wants_is_freed),
        cmocka_unit_test(memory_goes_along),
        cmocka_unit_test(bad_input_is_refused),
    };
#ifdef __SANITIZE_THREAD__ /* the rest is of one thread, and would take ten minutes */
    cmocka_set_test_filter("other_threads*");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
