/*
 * What thousands of bodies rest on: pairs of boxes against trying all of them, and moulds that bodies of one shape share.
 */
#include "contact/pairs.h"
#include "test/support/things.h"
#include "touch/mould.h"

#include <stdlib.h>

#define BODIES 120

static lm_body_id put(lm_world *world, sampling kind, const char *shape, double size, ref_vec at)
{
    thing_def def = thing_default(kind);
    def.shape = shape;
    def.size = (lm_vec3){(float)size, (float)size, (float)size};
    def.pose.position = to_dvec3(at);
    def.mask = 1;
    return thing_make(world, &def);
}

/* --- pairs --- */

typedef struct tally {
    lmi_pairs *pairs;
    bool *seen; /* [BODIES][BODIES] by slot */
    uint32_t count, order[BODIES * BODIES];
} tally;

static void count_pair(const lmi_step *step, uint32_t a, uint32_t b, void *user)
{
    (void)step;
    tally *t = user;
    uint32_t one = t->pairs->entries[a].slot, other = t->pairs->entries[b].slot;
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    assert_true(one != other);
    assert_false(t->seen[low * BODIES + high]); /* each pair once */
    t->seen[low * BODIES + high] = true;
    t->order[t->count++] = low * BODIES + high;
}

static bool overlap(const lmi_entry *a, const lmi_entry *b)
{
    return fmax(a->lower.x, b->lower.x) <= fmin(a->upper.x, b->upper.x) &&
           fmax(a->lower.y, b->lower.y) <= fmin(a->upper.y, b->upper.y) &&
           fmax(a->lower.z, b->lower.z) <= fmin(a->upper.z, b->upper.z);
}

/* Boxes of many sizes, some of them all along one line or in one plane, against trying every pair; twice, in one order. */
static void pairs_are_those_of_all(void **context)
{
    (void)context;
    for (uint32_t flat = 0; flat < 4; flat++) {
        random_state random = {40 + flat};
        lm_world *world = make_world_with(0.0, LM_ISA_BEST, 1);
        for (uint32_t n = 0; n < BODIES; n++) {
            ref_vec at = random_in_cube(&random, flat > 1 ? 4.0 : 1.5);
            at.y = flat > 0 ? 0.0 : at.y;
            at.z = flat > 1 ? 0.0 : at.z;
            at.x = flat > 2 ? 1e6 : at.x; /* all in one place, far away */
            double size = random_range(&random, 0.2, 0.8);
            put(world, CLUSTERS, "box", size * size, at);
        }
        lmi_entry entries[BODIES];
        uint32_t visit[BODIES];
        lmi_pairs pairs = {.entries = entries, .visit = visit, .count = BODIES};
        for (uint32_t n = 0; n < BODIES; n++) {
            const lmi_body *body = lmi_body_at(world, n);
            entries[n] = lmi_entry_of(body, n, 1.0 / 60.0);
            entries[n].size = flat > 2 ? 1.0 / (1.0 + n * n) : 1.0 + 1e9 * n; /* so that few partners count */
        }
        lmi_pairs_sort(&pairs);
        const lmi_step step = {.world = world, .h = 1.0 / 60.0};
        tally *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
        first->pairs = second->pairs = &pairs;
        first->seen = calloc(BODIES * BODIES, 1);
        second->seen = calloc(BODIES * BODIES, 1);
        lmi_pairs_each(&step, &pairs, count_pair, first);
        lmi_pairs_each(&step, &pairs, count_pair, second);
        assert_int_equal(first->count, second->count);
        assert_memory_equal(first->order, second->order, sizeof first->order);
        uint32_t all = 0, missed = 0;
        for (uint32_t a = 0; a < BODIES; a++) {
            for (uint32_t b = 0; b < a; b++) {
                uint32_t one = entries[a].slot, other = entries[b].slot;
                bool meets = overlap(&entries[a], &entries[b]);
                bool seen = first->seen[(one < other ? one : other) * BODIES + (one < other ? other : one)];
                assert_true(meets || !seen);
                all += meets;
                missed += meets && !seen;
            }
        }
        assert_true(all > BODIES / 4);
        if (flat < 3) {
            assert_int_equal(missed, 0);
        } else { /* in one place: no body has many partners, and each has some */
            assert_true(missed > 0);
            assert_true(first->count >= 32 * BODIES / 2);
        }
        free(first->seen);
        free(second->seen);
        free(first);
        free(second);
        lm_world_destroy(world);
    }
}

/* --- moulds --- */

static const lmi_mould *mould_of(const lm_world *world, lm_body_id id)
{
    return lmi_body_at(world, id.slot - 1)->bulk->mould;
}

static void bodies_of_one_shape_share(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLINGS; kind++) {
        if (kind == OCTREE) continue; /* its carriers follow links, which may be cut: none is shared */
        lm_world *world = make_world_with(0.0, LM_ISA_BEST, 1);
        lm_body_id first = put(world, (sampling)kind, "box", 1.0, (ref_vec){0, 0, 0});
        lm_body_id second = put(world, (sampling)kind, "box", 1.0, (ref_vec){3, 0, 0});
        lm_body_id larger = put(world, (sampling)kind, "box", 1.1, (ref_vec){6, 0, 0});
        lm_body_id round = put(world, (sampling)kind, "sphere", 1.0, (ref_vec){9, 0, 0});
        assert_ptr_equal(mould_of(world, first), mould_of(world, second));
        assert_int_equal(mould_of(world, first)->users, 2);
        assert_ptr_not_equal(mould_of(world, first), mould_of(world, larger));
        assert_ptr_not_equal(mould_of(world, first), mould_of(world, round));
        /* One of them goes: the other keeps its shape, and a third finds it. */
        assert_ok(lm_body_destroy(world, first));
        assert_int_equal(mould_of(world, second)->users, 1);
        lm_body_id third = put(world, (sampling)kind, "box", 1.0, (ref_vec){12, 0, 0});
        assert_ptr_equal(mould_of(world, third), mould_of(world, second));
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        lm_world_destroy(world);
    }
}

/* A body that is given another skin leaves the mould it shared to the others. */
static void another_skin_another_mould(void **context)
{
    (void)context;
    lm_world *world = make_world_with(0.0, LM_ISA_BEST, 1);
    lm_body_id one = put(world, SKINNED, "box", 1.0, (ref_vec){0, 0, 0});
    lm_body_id other = put(world, SKINNED, "box", 1.0, (ref_vec){3, 0, 0});
    const lmi_mould *shared = mould_of(world, other);
    static const lm_vec3 vertices[] = {{-0.5f, -0.5f, -0.5f}, {0.5f, -0.5f, -0.5f}, {0, 0.5f, -0.5f}, {0, 0, 0.5f}};
    static const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = vertices;
    skin.vertex_count = 4;
    skin.triangles = triangles;
    skin.triangle_count = 4;
    assert_ok(lm_body_set_skin(world, one, &skin));
    assert_ptr_equal(mould_of(world, other), shared);
    assert_int_equal(shared->users, 1);
    assert_ptr_not_equal(mould_of(world, one), shared);
    assert_int_equal(mould_of(world, one)->triangle_count, 4);
    lm_world_destroy(world);
}

/* A world that is loaded has the moulds of what was saved, and leaves none of its own behind. */
static void moulds_come_with_a_snapshot(void **context)
{
    (void)context;
    lm_world *world = make_world_with(0.0, LM_ISA_BEST, 1);
    lm_stats empty, now;
    lm_world_get_stats(world, &empty);
    for (int round = 0; round < 3; round++) {
        lm_body_id ids[4] = {
            put(world, LATTICE, "box", 1.0, (ref_vec){0, 0, 0}), put(world, SKINNED, "box", 1.0, (ref_vec){3, 0, 0}),
            put(world, LATTICE, "box", 1.0, (ref_vec){6, 0, 0}), put(world, TETS, "sphere", 1.0, (ref_vec){9, 0, 0})};
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        for (int again = 0; again < 2; again++) assert_ok(lm_world_load(world, bytes, size));
        free(bytes);
        assert_ptr_equal(mould_of(world, ids[0]), mould_of(world, ids[2]));
        lm_body_id more = put(world, LATTICE, "box", 1.0, (ref_vec){12, 0, 0});
        assert_ptr_equal(mould_of(world, more), mould_of(world, ids[0]));
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        for (int k = 0; k < 4; k++) assert_ok(lm_body_destroy(world, ids[k]));
        assert_ok(lm_body_destroy(world, more));
        lm_world_get_stats(world, &now);
        if (round == 0) empty = now; /* what a step needs, and the last mould, stay */
        assert_int_equal(now.memory, empty.memory);
    }
    lm_world_destroy(world);
}

/* Pairs are looked at side by side where there are several workers, and a body in itself in pieces: nobody can tell. */
static void workers_find_the_same(void **context)
{
    (void)context;
    uint64_t hash[2];
    for (uint32_t many = 0; many < 2; many++) {
        random_state random = {77};
        lm_world *world = make_world_with(-9.81, LM_ISA_BEST, many ? 3 : 1);
        for (uint32_t n = 0; n < 10; n++) {
            double size = random_range(&random, 0.5, 0.9);
            ref_vec at = random_in_cube(&random, 0.8);
            put(world, (sampling)(n % SAMPLINGS), n % 3 ? "box" : "sphere", size, at);
        }
        thing_def def = thing_default(FINE);
        def.shape = "torus";
        def.size = (lm_vec3){3, 0.5f, 3};
        def.pose.position = (lm_dvec3){8, 0, 0};
        def.velocity = (lm_vec3){-30, 0, 0};
        def.self_contact = true;
        lm_body_id ring = thing_make(world, &def);
        randomise_state(world, ring, &random, 0.8, 25.0);
        for (uint32_t n = 0; n < 30; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
        hash[many] = lm_world_hash(world);
        lm_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
}

/* Without a mesh a body is balls around its particles, those of a lattice with empty places too: outside the distance to the nearest one, but for
 * what a grid cannot tell; inside, where gaps between them are filled, that deep or deeper. */
static void balls_are_where_particles_are(void **context)
{
    (void)context;
    uint8_t cells[5 * 3 * 4];
    for (int n = 0; n < 60; n++) cells[n] = n % 7 != 3;
    lm_world *world = make_world(0.0);
    lm_body_def def = lm_body_def_default();
    def.lattice.cells = cells;
    def.lattice.counts[0] = 5, def.lattice.counts[1] = 3, def.lattice.counts[2] = 4;
    def.lattice.spacing = 0.25f;
    def.lattice.first = (lm_vec3){-3, 1, 2};
    lm_body_id made = make_body(world, &def);
    make_body(world, &def); /* one that is alone needs no solid */
    const lmi_body *body = lmi_body_at(world, made.slot - 1);
    const lmi_mould *mould = body->bulk->mould;
    assert_true(body->place_count > body->particle_count); /* there are empty places */
    for (uint32_t n = 0; n < 3000; n++) {
        const double t[3] = {n % 20 / 16.0 - 0.1, n / 20 % 15 / 12.0 - 0.1, n / 300 / 8.0 - 0.1};
        lm_dvec3 p = dvec(-3 + 1.25 * t[0], 1 + 0.75 * t[1], 2 + t[2]);
        double least = INFINITY;
        LMI_PARTICLES_EACH(body, k) { least = fmin(least, dvec_length(dvec_sub(p, dvec_from(body->rest[k])))); }
        double found = lmi_mould_distance(mould, p), expected = least - mould->radius;
        if (found > expected + mould->cell || (expected > mould->cell && found < expected - mould->cell))
            fail_msg("%g in place of %g", found, expected);
    }
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_all),        cmocka_unit_test(bodies_of_one_shape_share),
        cmocka_unit_test(another_skin_another_mould),    cmocka_unit_test(moulds_come_with_a_snapshot),
        cmocka_unit_test(balls_are_where_particles_are), cmocka_unit_test(workers_find_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
