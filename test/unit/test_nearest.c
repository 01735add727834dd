/*
 * The points nearest to a place: the same as comparing all of them finds, in the same order, with many that are equally near; and few
 * comparisons, even where all points are in one place.
 */
#include "geometry/nearest.h"
#include "test/support/support.h"

#include <stdlib.h>

#define MOST 12

static lmi_memory memory;

static int compare(const void *a, const void *b)
{
    const lmi_neighbour *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Of `steps` steps a side: the fewer, the more are equally near. */
static lm_vec3 point_on_grid(random_state *random, uint32_t steps)
{
    float x = (float)random_below(random, steps), y = (float)random_below(random, steps);
    return (lm_vec3){x, y, 0.1f * (float)random_below(random, steps)};
}

static void check_place(const lmi_nearest *tree, const lm_vec3 *points, random_state *random, uint32_t steps)
{
    uint32_t most = random_below(random, MOST + 1), except = random_below(random, 2 * tree->count), rest = 0;
    lm_dvec3 place = dvec_from(point_on_grid(random, steps));
    lmi_neighbour found[MOST], *all = malloc(tree->count * sizeof *all);
    for (uint32_t n = 0; n < tree->count; n++) {
        lm_dvec3 way = dvec_sub(dvec_from(points[n]), place);
        if (n != except) all[rest++] = (lmi_neighbour){dvec_dot(way, way), n};
    }
    qsort(all, rest, sizeof *all, compare);
    uint32_t count = lmi_nearest_find(tree, place, most, except, found, 0);
    assert_int_equal(count, most < rest ? most : rest);
    for (uint32_t n = 0; n < count; n++) {
        assert_true(found[n].square == all[n].square);
        assert_int_equal(found[n].index, all[n].index);
    }
    if (except >= tree->count) { /* from a guess */
        found[0] = all[random_below(random, rest)];
        assert_int_equal(lmi_nearest_find(tree, place, 1, UINT32_MAX, found, 1), 1);
        assert_int_equal(found[0].index, all[0].index);
    }
    free(all);
}

static void as_comparing_all(void **context)
{
    (void)context;
    random_state random = {4};
    for (uint32_t trial = 0; trial < 300; trial++) {
        uint32_t count = 1 + random_below(&random, trial % 3 ? 400 : 20), steps = 1 + random_below(&random, 40);
        lm_vec3 *points = malloc(count * sizeof *points);
        lmi_nearest tree;
        for (uint32_t n = 0; n < count; n++) points[n] = point_on_grid(&random, steps);
        assert_true(lmi_nearest_make_from(&tree, &memory, points, count));
        for (int place = 0; place < 20; place++) check_place(&tree, points, &random, steps + 1);
        lmi_nearest_free(&tree);
        free(points);
    }
    assert_int_equal(memory.used, 0);
}

/* Comparing all takes 20,000 steps for each place. */
static void few_comparisons(void **context)
{
    (void)context;
    random_state random = {5};
    const uint32_t count = 20000;
    lm_vec3 *points = calloc(count, sizeof *points);
    for (int together = 0; together < 2; together++) {
        lmi_nearest tree;
        for (uint32_t n = 0; n < count; n++)
            points[n] = together ? (lm_vec3){1, 2, 3} : to_float(random_in_cube(&random, 1.0));
        assert_true(lmi_nearest_make_from(&tree, &memory, points, count));
        memory.work = 0;
        for (uint32_t n = 0; n < 1000; n++) {
            lmi_neighbour found[6];
            assert_int_equal(lmi_nearest_find(&tree, dvec_from(points[n]), 6, n, found, 0), 6);
        }
        assert_true(memory.work > 1000);
        assert_at_most(memory.work, 1000 * 300);
        lmi_nearest_free(&tree);
    }
    free(points);
}

int main(void)
{
    lmi_memory_init(&memory, &(lm_allocator){0});
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_comparing_all), cmocka_unit_test(few_comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
