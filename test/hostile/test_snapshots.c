/*
 * Snapshots that were made to do harm: variants of worlds that hold everything (test/support/snapshots.h), each with a few values
 * changed and a checksum that fits. Each is refused, and then nothing has changed, or it is a world that can be stepped, hashed, saved
 * and loaded again, and stays finite. The slowest variant of each world is printed; one that takes for ever runs into the time limit of
 * the test.
 *
 *     test_hostile_snapshots [COUNT [FIRST [WORLD]]]      COUNT variants of one world, or of each times its share,
 *                                                         from number FIRST on
 */
#include "test/support/snapshots.h"
#include "test/support/support.h"

#include "cut/grain.h"
#include "fracture/fracture.h"
#include "geometry/voxel.h"
#include "joint/joint.h"
#include "octree/octree_body.h"
#include "octree/octree_level.h"
#include "skeleton/skeleton.h"
#include "skin/skin_octree_cut.h"
#include "skin/slit.h"
#include "snapshot/snapshot.h"
#include "world/in_step.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Under a sanitizer everything takes some twenty times as long. */
#ifdef LIMBER_SANITIZED
#define MOST_SUBSTEPS 8u
#else
#define MOST_SUBSTEPS LM_MAX_SUBSTEPS
#endif

static uint32_t variants = 10, first_variant;
static const char *only;

/* What a sanitizer, or an assertion that fails, ends in the middle of. */
static struct {
    const char *name;
    uint32_t variant;
} now;

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void say_where(void)
{
    if (!now.name) return;
    fprintf(stderr, "in variant %u of %s: test_hostile_snapshots 1 %u %s\n", now.variant, now.name, now.variant,
            now.name);
}

static int leave(void **context)
{
    (void)context;
    say_where();
    return 0;
}

/* ---- variants ---- */

static void put(uint8_t *bytes, uint64_t value, uint32_t length)
{
    for (uint32_t k = 0; k < length; k++) bytes[k] = (uint8_t)(value >> (8 * k));
}

static uint64_t read_value(const uint8_t *bytes, uint32_t length)
{
    uint64_t value = 0;
    for (uint32_t k = 0; k < length; k++) value |= (uint64_t)bytes[k] << (8 * k);
    return value;
}

/* A whole number that indices and counts may be wrong by, or a number that arithmetic may be. */
static void change_number(uint8_t *at, random_state *random)
{
    static const float singles[] = {0.0f,  -0.0f, 1.0f,  -1.0f, 1e-45f,        1e-20f, 1e-6f, 1e6f,  -1e6f,   1e9f,
                                    -1e9f, 1e12f, 1e20f, 3e38f, (float)-3e38f, 0.5f,   2.0f,  1e-3f, 1024.0f, 65536.0f};
    static const double doubles[] = {0.0, 1.0, -1.0, 1e-300, 1e-9, 1e-3, 0.5, 3.0, 1e3, 1e6, -1e6, 1e9, 1e12, 1e300};
    static const uint32_t wholes[] = {
        0, 1, 2, 3, 7, 8, 64, 255, 65535, 65536, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 1u << 26};
    uint32_t bits;
    uint64_t wide;
    switch (random_below(random, 6)) {
    case 0: put(at, wholes[random_below(random, sizeof wholes / sizeof *wholes)], 4); break;
    case 1: put(at, read_value(at, 4) + random_below(random, 9) - 4, 4); break;
    case 2: put(at, random_below(random, 64), 4); break;
    case 3:
        memcpy(&bits, &singles[random_below(random, sizeof singles / sizeof *singles)], 4);
        put(at, bits, 4);
        break;
    case 4:
        memcpy(&wide, &doubles[random_below(random, sizeof doubles / sizeof *doubles)], 8);
        put(at, wide, 8);
        break;
    default: put(at, random_bits(random), 4);
    }
}

/* A place where a count, an index or the like is likely: few of the numbers with a fraction look like small whole ones. */
static uint32_t find_whole(const uint8_t *payload, uint32_t length, random_state *random)
{
    uint32_t at = 0;
    for (uint32_t n = 0; n < 200; n++) {
        at = random_below(random, length - 8);
        uint64_t value = read_value(payload + at, 4);
        if (value != 0 && (value < 2048 || value == 0xffffffff)) break;
    }
    return at;
}

/* Changes one thing; returns the new size. `bytes` has room for 64 more. */
static size_t change(uint8_t *bytes, size_t size, random_state *random)
{
    uint8_t *payload = bytes + LMI_SNAPSHOT_HEADER;
    uint32_t length = (uint32_t)(size - LMI_SNAPSHOT_HEADER);
    if (length < 80) return size;
    uint32_t a = random_below(random, length - 8), b = random_below(random, length - 64);
    uint32_t some = 1 + random_below(random, 64);
    switch (random_below(random, 12)) {
    case 0: payload[a] ^= (uint8_t)(1u << random_below(random, 8)); break;
    case 1: payload[a] = (uint8_t)random_bits(random); break;
    case 2: memmove(payload + random_below(random, length - 64), payload + b, some); break;
    case 3: memset(payload + b, random_below(random, 2) ? 0xff : 0, some); break;
    case 4: /* out */ memmove(payload + b, payload + b + some, length - b - some); return size - some;
    case 5: /* in */ memmove(payload + b + some, payload + b, length - b); return size + some;
    case 6:
    case 7: change_number(payload + find_whole(payload, length, random), random); break;
    default: change_number(payload + a, random);
    }
    return size;
}

/* ---- what must hold ---- */

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Whatever a caller may do next: all bodies are cut, where they can be. */
static void cut_everything(lm_world *world)
{
    static const lm_dvec3 vertices[4] = {{0.3, -9, -9}, {0.6, 9, -9}, {0.3, -9, 9}, {0.6, 9, 9}};
    static const uint32_t triangles[6] = {0, 1, 2, 1, 3, 2};
    lm_body_id bodies[8];
    lm_blade blade = lm_blade_default();
    blade.vertices = vertices;
    blade.vertex_count = 4;
    blade.triangles = triangles;
    blade.triangle_count = 2;
    uint32_t there = lm_world_get_bodies(world, bodies, 8);
    for (uint32_t n = 0; n < there && n < 8; n++) lm_body_cut(world, bodies[n], &blade, NULL);
    assert_ok(lm_world_step(world, FRAME));
}

/* What a world that was accepted may take: counted, not timed. Bytes that it holds; steps of what the library counts (base/memory.h), in a
 * load or in two steps; and contacts times passes over them in a substep. The slow variants that were found once took some 1e9 steps. */
#define MOST_BYTES(size) (4e6 + 1e3 * (double)(size))
#define MOST_STEPS(particles) (1e6 + 1e3 * (particles))
#define MOST_ROWS(particles) (1e5 + 1e3 * (particles))

typedef struct effort {
    double bytes, steps, rows; /* the largest shares of what is allowed */
} effort;

static effort most;
static uint32_t too_much; /* variants that take more */

static void weigh(const lm_world *world, size_t size, uint64_t before)
{
    lm_stats s;
    lm_world_get_stats(world, &s);
    double rows = (double)s.mutual.soft * s.mutual.passes + (double)s.mutual.stiff * s.mutual.sweeps;
    effort e = {(double)s.memory / MOST_BYTES(size), (double)(world->memory.work - before) / MOST_STEPS(s.particles),
                rows / MOST_ROWS(s.particles)};
    if (e.bytes > 1.0 || e.steps > 1.0 || e.rows > 1.0) {
        print_error("variant %u of %s: %zu bytes, %.0f steps, %.0f rows for %u particles\n", now.variant,
                    now.name ? now.name : "a world", s.memory, (double)(world->memory.work - before), rows,
                    s.particles);
        too_much++;
    }
    most = (effort){fmax(most.bytes, e.bytes), fmax(most.steps, e.steps), fmax(most.rows, e.rows)};
}

/* A world that was accepted goes on, is saved and loaded again, and can be cut. */
static void live_on(lm_world *world, bool cuts, size_t loaded)
{
    uint64_t work = world->memory.work;
    if (lm_world_get_substeps(world) > MOST_SUBSTEPS) assert_ok(lm_world_set_substeps(world, MOST_SUBSTEPS));
    for (int step = 0; step < 2; step++) assert_ok(lm_world_step(world, FRAME));
    weigh(world, loaded, work);
    uint64_t hash = lm_world_hash(world);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(world, bytes, size));
    assert_true(lm_world_hash(world) == hash);
    free(bytes);
    if (cuts) cut_everything(world);
}

static void check_accepted(lm_world *world, uint32_t variant, size_t size, uint64_t work)
{
    weigh(world, size, work);
    if (variant % 4 == 0) live_on(world, variant % 32 == 0, size); /* it takes long */
    lm_totals totals;
    lm_world_get_totals(world, &totals);
    assert_true(totals.finite);
}

/* What a variant that is tried alone has changed. */
static void tell_changes(const snapshot_seed *seed, const uint8_t *bytes, size_t size)
{
    print_message("%zu bytes, now %zu\n", seed->size, size);
    for (size_t n = LMI_SNAPSHOT_HEADER; n < seed->size && n < size; n++)
        if (seed->bytes[n] != bytes[n]) print_message("byte %zu: %02x, now %02x\n", n, seed->bytes[n], bytes[n]);
}

static bool try_variant(lm_world *world, const snapshot_seed *seed, uint32_t variant)
{
    random_state random = {variant * 0x9e3779b97f4a7c15u + 1};
    uint8_t *bytes = malloc(seed->size + 4 * 64);
    size_t size = seed->size;
    memcpy(bytes, seed->bytes, size);
    for (uint32_t n = 1 + random_below(&random, 4); n-- > 0;) size = change(bytes, size, &random);
    uint8_t *exact = malloc(size); /* a block of its own: a sanitizer sees what is read behind it */
    memcpy(exact, bytes, size);
    lmi_snapshot_seal(exact, size);
    if (variants == 1 && only) tell_changes(seed, bytes, size);
    uint64_t before = lm_world_hash(world), work = world->memory.work;
    lm_result result = lm_world_load(world, exact, size);
    free(exact);
    free(bytes);
    if (result == LM_OK) {
        check_accepted(world, variant, size, work);
    } else {
        assert_result(result, LM_ERROR_FORMAT); /* there is memory enough */
        assert_true(lm_world_hash(world) == before);
    }
    return result == LM_OK;
}

/* Returns how many were accepted. */
static uint32_t try_variants(size_t n)
{
    snapshot_seed seed = snapshot_seed_make(n);
    uint32_t accepted = 0, slowest = first_variant, count = variants * (only ? 1 : snapshot_seed_share(n));
    double longest = 0.0, begin = seconds(), from = begin;
    now.name = seed.name;
    most = (effort){0};
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    for (uint32_t k = 0; k < count; k++) {
        now.variant = first_variant + k;
        accepted += try_variant(world, &seed, now.variant);
        double at = seconds();
        if (at - from > longest) longest = at - from, slowest = now.variant;
        from = at;
    }
    print_message("%-20s %6zu bytes, %u of %u accepted, %.1f us each, %u takes %.3f s\n", seed.name, seed.size,
                  accepted, count, 1e6 * (from - begin) / count, slowest, longest);
    print_message("%-20s at most %.3f of the bytes, %.3f of the steps and %.3f of the rows that are allowed\n", "",
                  most.bytes, most.steps, most.rows);
    now.name = NULL;
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
    return accepted;
}

static void variants_of_every_world(void **context)
{
    (void)context;
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(say_where);
    uint64_t accepted = 0, tried = 0;
    for (size_t n = 0; n < snapshot_seed_count(); n++) {
        if (!only || strcmp(only, snapshot_seed_name(n)) == 0) {
            accepted += try_variants(n);
            tried += (uint64_t)variants * snapshot_seed_share(n);
        }
    }
    assert_int_equal(too_much, 0);
    /* All refused or none would say nothing. */
    if (!only) assert_true(accepted >= tried / 10 && accepted <= tried - tried / 10);
}

static size_t seed_named(const char *name)
{
    size_t n = 0;
    while (strcmp(snapshot_seed_name(n), name) != 0) n++;
    return n;
}

/* ---- what a world may not say ---- */

/* Into a world of another structure: this one would compare what is wrong with itself. */
static lm_result load_what_it_saves(lm_world *world)
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    lm_world *other = make_world(0.0);
    lm_result result = lm_world_load(other, bytes, size);
    assert_true(result == LM_OK || lm_world_get_bodies(other, NULL, 0) == 0);
    if (result == LM_OK && lm_world_get_bodies(world, NULL, 0) > 0) { /* all of it is made again here as well */
        void *nothing = malloc(size);
        lm_world *empty = make_world(0.0);
        assert_ok(lm_world_save(empty, nothing, size));
        assert_ok(lm_world_load(world, nothing, lm_world_save_size(empty)));
        assert_ok(lm_world_load(world, bytes, size));
        free(nothing);
        lm_world_destroy(empty);
    }
    lm_world_destroy(other);
    free(bytes);
    return result;
}

/* A bone that holds particles far away: contacts then push them to more than LM_MAX_SPEED, which no world that is loaded may have. */
static void bones_far_away(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("octree"));
    lm_world *world = make_world(0.0);
    for (uint32_t n = 0; n < 72; n++) {
        assert_ok(lm_world_load(world, seed.bytes, seed.size));
        lmi_skeleton *bones = LMI_POOL_AT(&world->skeletons, lmi_skeleton, 0);
        lm_dvec3 *local = &bones->links[n / 3 % bones->link_count].local;
        double *const axes[3] = {&local->x, &local->y, &local->z};
        *axes[n % 3] *= 0x1p32 / (1 + n % 5);
        if (load_what_it_saves(world) == LM_OK) live_on(world, false, seed.size);
    }
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* A drag of which a particle has a weight that no drag gives made impulses without end. */
static void a_drag_that_pulls_too_hard(void **context)
{
    (void)context;
    static const float weights[] = {-1.0f, -3e38f, 3e38f};
    snapshot_seed seed = snapshot_seed_make(seed_named("cut-octree"));
    for (size_t n = 0; n < sizeof weights / sizeof *weights; n++) {
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_load(world, seed.bytes, seed.size));
        assert_true(world->drags.alive > 0);
        LMI_POOL_AT(&world->drags, lmi_drag, 0)->weights[0] = weights[n];
        assert_int_equal(load_what_it_saves(world), LM_ERROR_FORMAT);
        lm_world_destroy(world);
    }
    snapshot_seed_free(&seed);
}

static lmi_octree *tree_of(lm_world *world)
{
    lmi_body *body = lmi_body_in_step(world, 0);
    return body->octree ? &body->octree->tree : &body->grain->tree;
}

/* A joint on an octree whose cells may change; one whose patch has a particle twice, or no angle to keep; one with an end far beyond
 * everything; and one that holds the world to itself. */
static void joints_that_cannot_be(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("joints"));
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    lmi_octree_body *octree = lmi_body_at(world, 3)->octree;
    assert_true(lmi_octree_levels_make(world, octree));
    octree->levels->detail = lm_detail_default();
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    lmi_octree_levels_free(world, octree);
    assert_ok(load_what_it_saves(world));
    lmi_joint *glue = LMI_POOL_AT(&world->joints, lmi_joint, 0);
    uint32_t was = glue->end[1].particles[1], count = glue->end[1].count;
    glue->end[1].particles[1] = glue->end[1].particles[0];
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    glue->end[1].particles[1] = was;
    glue->end[1].count = 2;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    glue->end[1].count = count;
    glue->end[0].anchor.x = 1e44;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    glue->end[0].anchor.x = 0.0;
    assert_ok(load_what_it_saves(world));
    lmi_joint *hinge = LMI_POOL_AT(&world->joints, lmi_joint, 5); /* of a crate, to the world */
    assert_true(hinge->end[0].mover != LMI_NONE && hinge->end[1].body == LMI_NONE);
    hinge->end[0].mover = LMI_NONE;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* Anchors far away from what they are on, and a crate that weighs next to nothing: joints then push bodies and crates to the largest
 * speed, and no further. */
static void anchors_far_away(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("joints"));
    lm_world *world = make_world(0.0);
    uint32_t joints = 6, tried = 0;
    for (uint32_t n = 0; n < joints * 2 * 3 * 6; n++) {
        assert_ok(lm_world_load(world, seed.bytes, seed.size));
        lmi_joint *joint = LMI_POOL_AT(&world->joints, lmi_joint, n % joints);
        lm_dvec3 *anchor = &joint->end[n / joints % 2].anchor;
        double *const axes[3] = {&anchor->x, &anchor->y, &anchor->z};
        static const double far[6] = {1e3, -1e6, 1e9, -1e12, 3e14, -9e14};
        *axes[n / joints / 2 % 3] = far[n / joints / 6];
        LMI_POOL_AT(&world->movers, lmi_mover, 1)->mass = n % 2 ? 2.0f : 1e-28f;
        if (load_what_it_saves(world) != LM_OK) continue;
        live_on(world, false, seed.size);
        tried++;
    }
    assert_true(tried > 100);
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* A link that a blade has cut, from a voxel to where there is none; and one that is cut and holds. */
static void cuts_that_lead_nowhere(void **context)
{
    (void)context;
    static const char *const names[] = {"cut-octree", "severed-octree", "cut-detail", "cut-clusters", "cut-tets"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snapshot_seed seed = snapshot_seed_make(seed_named(names[k]));
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_load(world, seed.bytes, seed.size));
        lmi_octree *t = tree_of(world);
        uint32_t tried = 0;
        for (uint32_t n = 0; n < 3 * t->voxel_count; n += 4) { /* some of each axis */
            uint32_t voxel = n / 3, axis = n % 3;
            int64_t at[3] = {t->at[voxel][0], t->at[voxel][1], t->at[voxel][2]};
            at[axis]++;
            bool leads = lmi_octree_voxel(t, at[0], at[1], at[2]) != LMI_OCTREE_NONE;
            uint8_t was = t->cut[voxel];
            t->cut[voxel] = (uint8_t)((was | 8u << axis) & ~(leads ? 1u << axis : 0u));
            assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
            t->cut[voxel] = was;
            tried += !leads;
        }
        assert_true(tried > 0);
        assert_ok(load_what_it_saves(world));
        lm_world_destroy(world);
        snapshot_seed_free(&seed);
    }
}

/* A vertex of a skin that rides on more than any can, on particles where only regions are, or on what is no region. */
static void riders_that_cannot_be(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("cut-clusters"));
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    lmi_skin *whole = &lmi_body_at(world, 0)->grain->whole;
    uint32_t count = whole->weight_count;
    void *riders = whole->riders, *weights = whole->weights;
    whole->weight_count = count + 1000;
    whole->riders = calloc(whole->weight_count, sizeof *whole->riders);
    whole->weights = calloc(whole->weight_count, sizeof *whole->weights);
    for (uint32_t n = 1; n <= whole->vertex_count; n++) whole->offsets[n] += 1000;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    for (uint32_t n = 1; n <= whole->vertex_count; n++) whole->offsets[n] -= 1000;
    free(whole->riders);
    free(whole->weights);
    whole->weight_count = count;
    whole->riders = riders;
    whole->weights = weights;
    assert_ok(load_what_it_saves(world));
    snapshot_seed_free(&seed);

    seed = snapshot_seed_make(seed_named("detail"));
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    const lmi_skin *skin = &lmi_body_at(world, 0)->skin;
    uint32_t was = skin->riders[0];
    skin->riders[0] = 0;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    skin->riders[0] = was;
    assert_ok(load_what_it_saves(world));
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* A bar whose vertices at one end ride on a leaf at the other, which is then divided: nothing has changed around the vertices. */
static void riders_far_away(void **context)
{
    (void)context;
    static const lm_vec3 bar[8] = {{0, 0, 0},    {4, 0, 0},    {0, 0.5f, 0},    {4, 0.5f, 0},
                                   {0, 0, 0.5f}, {4, 0, 0.5f}, {0, 0.5f, 0.5f}, {4, 0.5f, 0.5f}};
    static const uint32_t triangles[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                           2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.octree.vertices = bar;
    def.octree.vertex_count = 8;
    def.octree.triangles = triangles;
    def.octree.triangle_count = 12;
    def.octree.spacing = 0.25f;
    def.octree.levels = 1;
    def.octree.detail = 0.0f;
    lm_body_id id = make_body(world, &def);
    lm_skin_def given = lm_skin_def_default();
    given.vertices = bar;
    given.vertex_count = 8;
    given.triangles = triangles;
    given.triangle_count = 12;
    assert_ok(lm_body_set_skin(world, id, &given));
    const lmi_skin *skin = &lmi_body_at(world, 0)->skin;
    const uint32_t last = lmi_body_at(world, 0)->region_count - 1;
    for (uint32_t n = skin->offsets[0]; n < skin->offsets[1]; n++) skin->riders[n] = LMI_SKIN_REGION + last;
    assert_ok(load_what_it_saves(world));
    uint32_t changed;
    assert_ok(lm_body_refine(world, id, (lm_dvec3){4.0, 0.25, 0.25}, 0.5f, 0.25f, &changed));
    assert_true(changed > 0);
    const lmi_body *body = lmi_body_at(world, 0);
    for (uint32_t n = 0; n < body->skin.weight_count; n++)
        assert_true(body->skin.riders[n] - LMI_SKIN_REGION < body->region_count);
    assert_ok(load_what_it_saves(world));
    lm_world_destroy(world);
}

/* A pin, a drag and a force that are in nobody's list: they would outlive their body. */
static void things_in_no_list(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("surroundings"));
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    lmi_body *body = lmi_body_in_step(world, 0);
    uint32_t *const first[] = {&body->first_pin, &body->first_drag, &body->first_force};
    for (int n = 0; n < 3; n++) {
        uint32_t was = *first[n];
        assert_true(was != LMI_NONE);
        *first[n] = LMI_NONE;
        assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
        *first[n] = was;
    }
    assert_ok(load_what_it_saves(world));
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* Cells so small that squares of lengths in them are nothing in single precision. */
static void cells_too_small(void **context)
{
    (void)context;
    snapshot_seed seed = snapshot_seed_make(seed_named("octree"));
    lm_world *world = make_world(0.0);
    assert_ok(lm_world_load(world, seed.bytes, seed.size));
    tree_of(world)->voxels.spacing = 1e-44;
    assert_result(load_what_it_saves(world), LM_ERROR_FORMAT);
    lm_world_destroy(world);
    snapshot_seed_free(&seed);
}

/* A skin that reaches a thousand kilometres beyond the body: divided where the body is, not all the way. */
static void a_skin_that_reaches_far(void **context)
{
    (void)context;
    static const char *const names[] = {"cut-octree", "cut-clusters", "broken", "cut-lattice"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snapshot_seed seed = snapshot_seed_make(seed_named(names[k]));
        lm_world *world = make_world(0.0);
        assert_ok(lm_world_load(world, seed.bytes, seed.size));
        lmi_body *body = lmi_body_in_step(world, 0);
        lmi_skin *skin = body->grain      ? &body->grain->whole
                         : body->slit     ? &body->slit->whole
                         : body->fracture ? &body->fracture->whole
                                          : &body->octree->shell->whole;
        skin->vertices[0] = (lm_vec3){-1e6f, -1e5f, -1e6f};
        skin->vertices[7] = (lm_vec3){1e5f, 1e6f, 1e6f};
        assert_ok(load_what_it_saves(world));
        assert_ok(lm_world_step(world, FRAME));
        lm_world_destroy(world);
        snapshot_seed_free(&seed);
    }
}

/* A row of voxels as long as a row may be, filled at its ends: finding the nearest one must not look through a cube of that side. */
static void a_row_of_voxels(void **context)
{
    (void)context;
    enum { WORDS = LMI_VOXEL_MAX_AXIS / 64 };
    static uint64_t bits[WORDS];
    bits[0] = 1;
    bits[WORDS - 1] = (uint64_t)1 << 63;
    lmi_voxels voxels = {.spacing = 1.0, .n = {LMI_VOXEL_MAX_AXIS, 1, 1}, .row_words = WORDS, .bits = bits};
    uint32_t cell[3];
    for (uint32_t n = 0; n < 100; n++) {
        double x = 650.0 * n;
        lmi_voxels_locate(&voxels, (lm_dvec3){x, 3.0, 0.5}, cell);
        assert_int_equal(cell[0], x < LMI_VOXEL_MAX_AXIS / 2 ? 0 : LMI_VOXEL_MAX_AXIS - 1);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) variants = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2) {
        first_variant = (uint32_t)strtoul(argv[2], NULL, 10);
        cmocka_set_test_filter("variants*");
    }
    if (argc > 3) only = argv[3];
    const struct CMUnitTest tests[] = {cmocka_unit_test(joints_that_cannot_be),
                                       cmocka_unit_test(anchors_far_away),
                                       cmocka_unit_test(cuts_that_lead_nowhere),
                                       cmocka_unit_test(riders_that_cannot_be),
                                       cmocka_unit_test(riders_far_away),
                                       cmocka_unit_test(things_in_no_list),
                                       cmocka_unit_test(cells_too_small),
                                       cmocka_unit_test(a_skin_that_reaches_far),
                                       cmocka_unit_test(a_row_of_voxels),
                                       cmocka_unit_test(bones_far_away),
                                       cmocka_unit_test(a_drag_that_pulls_too_hard),
                                       cmocka_unit_test_teardown(variants_of_every_world, leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
