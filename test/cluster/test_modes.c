/*
 * The slowest mode against a dense solution: the double-precision reference's match, linearised at rest by differences,
 * and all its eigenvalues.
 */
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <stdlib.h>

/* I - G, G the match linearised at rest, in coordinates sqrt(m) x, in which it is symmetric: it is the second derivative of
 * an energy. */
static double *linearise(ref_body *body)
{
    uint32_t n = 3 * body->count;
    double *matrix = calloc((size_t)n * n, sizeof *matrix);
    ref_vec *goals[2] = {calloc(body->count, sizeof(ref_vec)), calloc(body->count, sizeof(ref_vec))};
    for (uint32_t i = 0; i < body->count; i++) body->x[i] = body->rest[i];
    for (uint32_t j = 0; j < n; j++) {
        double *coordinate = &(&body->x[j / 3].x)[j % 3], at = *coordinate, step = 1e-5;
        for (int side = 0; side < 2; side++) {
            *coordinate = at + (side ? step : -step);
            ref_match(body, goals[side]);
        }
        *coordinate = at;
        for (uint32_t i = 0; i < n; i++) {
            double slope = ((&goals[1][i / 3].x)[i % 3] - (&goals[0][i / 3].x)[i % 3]) / (2.0 * step);
            matrix[i * n + j] = ((i == j) - slope) * sqrt(body->mass[i / 3] / body->mass[j / 3]);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            assert_near(matrix[i * n + j], matrix[j * n + i], 1e-6);
            matrix[i * n + j] = matrix[j * n + i] = 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
        }
    free(goals[0]);
    free(goals[1]);
    return matrix;
}

/* Moves the eigenvalues of what is no deformation out of the way, to 10: motions of the whole (of the particles that are in
 * some region), and the particles that are in none. */
static void lift_rigid_motions(const ref_body *body, double *matrix)
{
    uint32_t n = 3 * body->count;
    double *rigid = calloc((size_t)6 * n, sizeof *rigid);
    bool *matched = calloc(body->count, sizeof *matched);
    for (uint32_t k = 0; k < body->offsets[body->region_count]; k++) matched[body->members[k]] = true;
    for (uint32_t m = 0; m < 6; m++) {
        double *mode = rigid + (size_t)m * n, length = 0.0;
        ref_vec axis = ref_v(m % 3 == 0, m % 3 == 1, m % 3 == 2);
        for (uint32_t i = 0; i < body->count; i++) {
            if (!matched[i]) continue;
            ref_vec move = ref_scale(sqrt(body->mass[i]), m < 3 ? axis : ref_cross(axis, body->rest[i]));
            mode[3 * i] = move.x;
            mode[3 * i + 1] = move.y;
            mode[3 * i + 2] = move.z;
        }
        for (int again = 0; again < 2; again++)
            for (uint32_t o = 0; o < m; o++) {
                double along = 0.0;
                for (uint32_t i = 0; i < n; i++) along += mode[i] * rigid[(size_t)o * n + i];
                for (uint32_t i = 0; i < n; i++) mode[i] -= along * rigid[(size_t)o * n + i];
            }
        for (uint32_t i = 0; i < n; i++) length += mode[i] * mode[i];
        double scale = length > 1e-12 ? 1.0 / sqrt(length) : 0.0; /* a straight body cannot turn about itself */
        for (uint32_t i = 0; i < n; i++) mode[i] *= scale;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) matrix[i * n + j] += 10.0 * mode[i] * mode[j];
    }
    for (uint32_t i = 0; i < n; i++)
        if (!matched[i / 3]) matrix[i * n + i] += 10.0;
    free(rigid);
    free(matched);
}

static double dense_slowest(const lm_world *world, lm_body_id id)
{
    ref_body *body = ref_body_copy(world, id, 0.0);
    uint32_t n = 3 * body->count;
    double *matrix = linearise(body), *values = calloc(n, sizeof *values);
    double *vectors = calloc((size_t)n * n, sizeof *vectors);
    lift_rigid_motions(body, matrix);
    ref_eigen_symmetric((int)n, matrix, values, vectors);
    double least = fmax(0.0, fmin(1.0, values[0]));
    free(matrix);
    free(values);
    free(vectors);
    ref_body_free(body);
    return least;
}

static double slowest(lm_world *world, lm_body_id body)
{
    float share = -1.0f;
    uint64_t hash = lm_world_hash(world);
    assert_ok(lm_body_get_slowest_mode(world, body, &share));
    assert_true(lm_world_hash(world) == hash); /* asking changes nothing */
    return (double)share;
}

static void check_against_dense(const lm_body_def *def, const char *name, bool shares)
{
    lm_world *world = make_world(0.0);
    lm_body_id body = make_body(world, def);
    random_state random = {17};
    if (shares) {
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        float *values = calloc(info.regions, sizeof *values);
        for (uint32_t r = 0; r < info.regions; r++) values[r] = (float)random_range(&random, 0.1, 1.0);
        assert_ok(lm_body_set_region_stiffness(world, body, values));
        free(values);
    }
    double expected = dense_slowest(world, body), share = slowest(world, body);
    double tolerance = 0.02 * expected + 1e-6;
    if (!(fabs(share - expected) <= tolerance))
        print_error("%s, mode %d, beta %g, shares %d: share %g, least eigenvalue %g\n", name, def->material.mode,
                    (double)def->material.beta, shares, share, expected);
    assert_near(share, expected, tolerance);
    /* It is a property of the body, not of the state it is in. */
    randomise_state(world, body, &random, 0.2, 1.0);
    assert_ok(lm_world_step(world, FRAME));
    assert_near(slowest(world, body), share, 1e-6);
    lm_world_destroy(world);
}

static void it_is_the_least_eigenvalue(void **context)
{
    (void)context;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            bool shares = (kind + mode) % 2 == 1;
            random_state random = {(uint64_t)(kind * 10 + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.beta = (float)random_range(&random, 0.2, 0.9);
            if (s.count <= 50) check_against_dense(&s.def, sample_name((sample_kind)kind), shares);
            sample_free(&s);
        }
}

/* The other makers, on points in no order. */
static void every_maker_has_one(void **context)
{
    (void)context;
    uint32_t elements[4 * 37];
    for (uint32_t e = 0; e < 37; e++)
        for (uint32_t k = 0; k < 4; k++) elements[4 * e + k] = e + k;
    static const lm_cluster_kind kinds[] = {LM_CLUSTERS_COUNTS, LM_CLUSTERS_KMEANS, LM_CLUSTERS_RINGS,
                                            LM_CLUSTERS_ELEMENTS};
    for (int kind = 0; kind < 4; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(kind * 10 + mode)};
            sample s = sample_make(SAMPLE_BLOB, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.clusters.kind = kinds[kind];
            s.def.clusters.counts[0] = s.def.clusters.counts[1] = 2;
            s.def.clusters.count = 4;
            s.def.clusters.elements = elements;
            s.def.clusters.element_count = 37;
            check_against_dense(&s.def, "blob", false);
            sample_free(&s);
        }
}

/* A chain of many regions, each half over the next: its slowest bend is far slower than anything else in the sample. */
static void a_long_chain_is_slow(void **context)
{
    (void)context;
    double last = 1.0;
    for (uint32_t slices = 6; slices <= (test_is_long() ? 24 : 12); slices *= 2) {
        lm_vec3 *points = grid_points(slices, 2, 2, 0.1);
        uint32_t members[24 * 8], offsets[24] = {0}, n = 0;
        for (uint32_t first = 0; first + 1 < slices; first++) { /* two slices of four */
            for (uint32_t i = 0; i < 4 * slices; i++)
                if (i % slices == first || i % slices == first + 1) members[n++] = i;
            offsets[first + 1] = n;
        }
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.points = points;
        def.point_count = 4 * slices;
        def.clusters.kind = LM_CLUSTERS_LISTS;
        def.clusters.offsets = offsets;
        def.clusters.members = members;
        def.clusters.list_count = slices - 1;
        def.material.mode = LM_MODE_RIGID;
        check_against_dense(&def, "chain", false);
        lm_world *world = make_world(0.0);
        double share = slowest(world, make_body(world, &def));
        assert_true(share > 0.0 && share < 0.2 * last); /* twice as long bends at a quarter of the frequency or less */
        last = share;
        lm_world_destroy(world);
        free(points);
    }
}

/* Closed forms: a rigid body of one region, one that follows stretches, a share of everything, two parts that have nothing
 * in common, a single point. */
static void known_ones(void **context)
{
    (void)context;
    random_state random = {1};
    lm_world *world = make_world(0.0);
    sample s = sample_make(SAMPLE_BOX, &random);
    s.def.material.mode = LM_MODE_RIGID;
    lm_body_id body = make_body(world, &s.def);
    assert_near(slowest(world, body), 1.0, 1e-6);
    float quarter = 0.25f;
    assert_ok(lm_body_set_region_stiffness(world, body, &quarter));
    assert_near(slowest(world, body), 0.25, 1e-6);
    for (int mode = LM_MODE_LINEAR; mode < LM_MODE_COUNT; mode++) {
        s.def.material.mode = (lm_mode)mode;
        s.def.material.beta = 0.7f;
        assert_near(slowest(world, make_body(world, &s.def)), 0.3, 1e-4);
    }
    sample_free(&s);

    lm_vec3 two[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    uint32_t offsets[3] = {0, 4, 8}, members[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = two;
    def.point_count = 8;
    def.clusters.kind = LM_CLUSTERS_LISTS;
    def.clusters.offsets = offsets;
    def.clusters.members = members;
    def.clusters.list_count = 2;
    assert_near(slowest(world, make_body(world, &def)), 0.0, 1e-6);
    def.point_count = 1;
    def.clusters.kind = LM_CLUSTERS_COUNTS;
    double share = slowest(world, make_body(world, &def));
    assert_near(share, 1.0, 1e-6);
    lm_body_id none = {0};
    float value;
    assert_result(lm_body_get_slowest_mode(world, none, &value), LM_ERROR_ID);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ones),
        cmocka_unit_test(it_is_the_least_eigenvalue),
        cmocka_unit_test(every_maker_has_one),
        cmocka_unit_test(a_long_chain_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
