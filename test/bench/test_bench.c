/*
 * The benchmarks themselves: the plain program computes what the library computes, the judge of decompositions judges
 * right, and the rows have the keys that scripts rely on.
 */
#define _POSIX_C_SOURCE 200809L /* dup, dup2 */

#include "bench/bench.h"
#include "bench/matrices.h"
#include "bench/plain.h"
#include "bench/plain_lattice.h"
#include "bench/plain_polar.h"
#include "bench/report.h"
#include "io/json.h"
#include "limber/shapes.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Samples
 */

static void test_samples(void **state)
{
    (void)state;
    bench_samples samples = {0};
    assert_true(bench_samples_median(&samples) == 0.0);
    static const double values[] = {5.0, 1.0, 4.0, 2.0, 30.0};
    for (int i = 0; i < 5; i++) bench_samples_add(&samples, values[i]);
    assert_true(bench_samples_fastest(&samples) == 1.0);
    assert_true(bench_samples_median(&samples) == 4.0);
    bench_samples_add(&samples, 3.0);
    assert_true(bench_samples_median(&samples) == 3.5);
    for (int i = 0; i < 1000; i++) bench_samples_add(&samples, 100.0 + i);
    assert_int_equal(samples.count, 1006);
    bench_samples_free(&samples);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Decompositions
 */

static void test_judge(void **state)
{
    (void)state;
    static const float identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1};
    static const float half_turn[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1}, skewed[9] = {1, 0.01f, 0, 0, 1, 0, 0, 0, 1};
    static const float stretch[9] = {3, 0, 0, 0, 2, 0, 0, 0, 1};
    assert_true(matrix_orthogonality_error(identity) == 0.0);
    assert_true(matrix_orthogonality_error(mirror) >= 2.0);
    assert_true(fabs(matrix_orthogonality_error(skewed) - 0.01) < 1e-6);
    assert_true(fabs(matrix_trace_deficit(stretch, identity)) < 1e-12);
    /* Half a turn about x reaches 3 - 2 - 1 = 0 of 6, and |A| = sqrt(14). */
    assert_true(fabs(matrix_trace_deficit(stretch, half_turn) - 6.0 / sqrt(14.0)) < 1e-12);
    assert_true(fabs(matrix_trace_deficit(mirror, identity) - 0.0) < 1e-12); /* 1 is the best for a mirror */
    assert_true(fabs(matrix_trace_deficit(mirror, half_turn) - 0.0) < 1e-12);
}

static void test_plain_polar(void **state)
{
    (void)state;
    for (int kind = 0; kind < MATRIX_KIND_COUNT; kind++) {
        uint64_t seed = 1;
        float axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        for (int i = 0; i < 2000; i++) {
            float A[9], R[9];
            matrix_draw((matrix_kind)kind, &seed, A);
            plain_polar_jacobi(A, axes, R); /* warm from an unrelated matrix */
            assert_true(matrix_orthogonality_error(R) < 1e-5);
            assert_true(matrix_trace_deficit(A, R) < 2e-3);
            plain_polar_foam(A, R);
            assert_true(matrix_orthogonality_error(R) < 1e-3);
            assert_true(matrix_trace_deficit(A, R) < 2e-3);
        }
    }
    static const float zero[9] = {0};
    float R[9];
    plain_polar_foam(zero, R);
    assert_true(matrix_orthogonality_error(R) == 0.0);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The plain step
 */

/* A thrown, spinning, squashed cube with so many clusters along each axis. */
static lm_world *make_world(lm_mode mode, uint32_t clusters, lm_body_id *body, uint32_t *count)
{
    lm_shape_def shape = lm_shape_def_default();
    shape.detail = 5;
    lm_shape_mesh mesh;
    lm_shape_cloud cloud;
    assert_int_equal(lm_shape_make_mesh(&shape, &mesh), LM_OK);
    assert_int_equal(lm_shape_make_cloud(&shape, &mesh, 300, &cloud), LM_OK);
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    world_def.substeps = 2;
    lm_world *world;
    assert_int_equal(lm_world_create(&world_def, &world), LM_OK);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = cloud.points;
    def.point_count = cloud.point_count;
    for (int axis = 0; axis < 3; axis++) def.clusters.counts[axis] = clusters;
    def.material.mode = mode;
    def.velocity = (lm_vec3){1.0f, 2.0f, 0.0f};
    def.spin = (lm_vec3){3.0f, -2.0f, 1.0f};
    assert_int_equal(lm_body_create(world, &def, body), LM_OK);
    for (uint32_t i = 0; i < cloud.point_count; i++) cloud.points[i].y *= 0.8f;
    assert_int_equal(lm_body_set_state(world, *body, lm_dvec3_zero(), cloud.points, NULL), LM_OK);
    *count = cloud.point_count;
    lm_shape_cloud_free(&cloud);
    lm_shape_mesh_free(&mesh);
    return world;
}

static void assert_same_motion(lm_mode mode, uint32_t clusters)
{
    lm_body_id body;
    uint32_t count;
    lm_world *world = make_world(mode, clusters, &body, &count);
    plain_world *plain = plain_make(world);
    assert_non_null(plain);
    for (int frame = 0; frame < 20; frame++) {
        plain_times times;
        assert_int_equal(lm_world_step(world, 1.0 / 60.0), LM_OK);
        plain_step(plain, 1.0 / 60.0, &times);
        assert_true(times.step >= times.predict + times.match + times.integrate - 1.0);
    }
    lm_vec3 *ours = malloc(count * sizeof *ours), *theirs = malloc(count * sizeof *theirs);
    assert_true(ours && theirs);
    assert_int_equal(lm_body_get_positions(world, body, lm_dvec3_zero(), ours), LM_OK);
    plain_get_positions(plain, 0, theirs);
    double worst = 0.0;
    for (uint32_t i = 0; i < count; i++)
        worst = fmax(worst, fmax(fabs((double)ours[i].x - theirs[i].x),
                                 fmax(fabs((double)ours[i].y - theirs[i].y), fabs((double)ours[i].z - theirs[i].z))));
    if (!(worst < 1e-3)) fail_msg("mode %d, %u clusters: %g metres apart after 40 substeps", mode, clusters, worst);
    free(ours);
    free(theirs);
    plain_free(plain);
    lm_world_destroy(world);
}

static void test_plain_step(void **state)
{
    (void)state;
    for (uint32_t clusters = 1; clusters <= 3; clusters++) {
        assert_same_motion(LM_MODE_RIGID, clusters);
        assert_same_motion(LM_MODE_LINEAR, clusters);
        assert_same_motion(LM_MODE_QUADRATIC, clusters);
    }
}

static void test_plain_floor(void **state)
{
    (void)state;
    lm_body_id body;
    uint32_t count;
    lm_world *world = make_world(LM_MODE_QUADRATIC, 2, &body, &count);
    plain_world *plain = plain_make(world);
    assert_non_null(plain);
    plain_set_floor(plain, true);
    plain_times times;
    for (int frame = 0; frame < 120; frame++) plain_step(plain, 1.0 / 60.0, &times);
    lm_vec3 *positions = malloc(count * sizeof *positions);
    assert_non_null(positions);
    plain_get_positions(plain, 0, positions);
    for (uint32_t i = 0; i < count; i++) assert_true(positions[i].y >= 0.0f && positions[i].y < 3.0f);
    free(positions);
    plain_free(plain);
    lm_world_destroy(world);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The plain lattice
 */

/* Where particle (x, y, z) of a box of particles is thrown to: turned, sheared and bent. */
static void throw_particle(const lm_vec3 rest, lm_vec3 *position, lm_vec3 *velocity)
{
    float bend = 0.3f * rest.x * rest.x;
    *position = (lm_vec3){0.8f * rest.x - 0.6f * rest.y, 0.6f * rest.x + 0.8f * rest.y + bend, 1.1f * rest.z};
    *velocity = (lm_vec3){1.0f - 2.0f * rest.y, 2.0f + 2.0f * rest.x, 0.5f * rest.z};
}

static lm_world *make_box(const uint32_t counts[3], uint32_t width, lm_body_id *body)
{
    uint8_t cells[12 * 10 * 9];
    memset(cells, 1, sizeof cells);
    lm_world_def world_def = lm_world_def_default();
    world_def.workers = 1;
    lm_world *world;
    assert_int_equal(lm_world_create(&world_def, &world), LM_OK);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.lattice.cells = cells;
    memcpy(def.lattice.counts, counts, sizeof def.lattice.counts);
    def.lattice.spacing = 0.1f;
    def.lattice.width = width;
    def.lattice.mass = LM_LATTICE_MASS_EQUAL; /* as in the plain program */
    def.material.mode = LM_MODE_RIGID;
    def.material.stiffness = LM_STIFFNESS_ALPHA;
    def.material.alpha = 0.4f;
    assert_int_equal(lm_body_create(world, &def, body), LM_OK);
    return world;
}

/* The same box in the library and in the plain program, thrown alike: they stay together. */
static void assert_same_lattice(uint32_t width, plain_sums sums)
{
    static const uint32_t counts[3] = {12, 10, 9};
    enum { COUNT = 13 * 11 * 10, STEPS = 30 };
    static lm_vec3 rest[COUNT], x[COUNT], v[COUNT];
    lm_body_id body;
    lm_world *world = make_box(counts, width, &body);
    plain_lattice *plain = plain_lattice_make(counts[0] + 1, counts[1] + 1, counts[2] + 1, 0.1f, width);
    assert_non_null(plain);
    assert_int_equal(lm_body_get_rest_positions(world, body, rest), LM_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        throw_particle(rest[i], &x[i], &v[i]);
        const float position[3] = {x[i].x, x[i].y, x[i].z}, velocity[3] = {v[i].x, v[i].y, v[i].z};
        plain_lattice_set(plain, i, position, velocity);
    }
    assert_int_equal(lm_body_set_state(world, body, lm_dvec3_zero(), x, v), LM_OK);
    for (int step = 0; step < STEPS; step++) {
        assert_int_equal(lm_world_step(world, 1.0 / 60.0), LM_OK);
        plain_lattice_step(plain, sums, 1.0f / 60.0f, 0.4f, -9.81f);
    }
    assert_int_equal(lm_body_get_positions(world, body, lm_dvec3_zero(), x), LM_OK);
    double worst = 0.0, moved = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
        float p[3];
        plain_lattice_position(plain, i, p);
        worst = fmax(worst,
                     fmax(fabs((double)x[i].x - p[0]), fmax(fabs((double)x[i].y - p[1]), fabs((double)x[i].z - p[2]))));
        moved = fmax(moved, fabs((double)x[i].x - rest[i].x));
    }
    assert_true(moved > 0.5);
    if (!(worst < 2e-4)) fail_msg("width %u, sums %d: %g metres apart after %d steps", width, sums, worst, STEPS);
    plain_lattice_free(plain);
    lm_world_destroy(world);
}

static void test_plain_lattice(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 3; width++) assert_same_lattice(width, PLAIN_FAST);
    assert_same_lattice(2, PLAIN_NAIVE);
    assert_same_lattice(2, PLAIN_BARS);
}

/* The three ways of figure 4 give the same sums. */
static void test_plain_sums(void **state)
{
    (void)state;
    plain_lattice *lattices[3];
    for (int how = PLAIN_NAIVE; how <= PLAIN_FAST; how++) {
        lattices[how] = plain_lattice_make(9, 7, 12, 0.5f, 3);
        assert_non_null(lattices[how]);
        plain_lattice_load(lattices[how]);
        plain_lattice_sum(lattices[how], (plain_sums)how);
    }
    /* The corner (0, 0, 0): particles 0 to 3 along each axis, each in (4 + at) regions along it. */
    double share = 0.0, moment = 0.0;
    for (int at = 0; at <= 3; at++) {
        share += 1.0 / (4 + at);
        moment += 0.5 * at / (4 + at);
    }
    assert_true(fabs(plain_lattice_channel(lattices[PLAIN_NAIVE], 0, 0) - moment * share * share) < 1e-6);
    for (uint32_t i = 0; i < 9 * 7 * 12; i++) {
        for (uint32_t c = 0; c < 12; c++) {
            float naive = plain_lattice_channel(lattices[PLAIN_NAIVE], i, c);
            assert_true(fabsf(plain_lattice_channel(lattices[PLAIN_BARS], i, c) - naive) < 1e-4f);
            assert_true(fabsf(plain_lattice_channel(lattices[PLAIN_FAST], i, c) - naive) < 1e-4f);
        }
    }
    for (int how = PLAIN_NAIVE; how <= PLAIN_FAST; how++) plain_lattice_free(lattices[how]);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Rows
 */

/* Standard output that goes into a file. */
typedef struct redirection {
    int saved, file;
} redirection;

/* On Windows a line would have one letter more in the file than it has when it is read. */
#ifndef O_BINARY
#define O_BINARY 0
#endif

static const char output_path[] = "test_bench.out";

static redirection redirect(void)
{
    fflush(stdout);
    redirection r = {dup(STDOUT_FILENO), open(output_path, O_RDWR | O_CREAT | O_TRUNC | O_BINARY, 0600)};
    assert_true(r.saved >= 0 && r.file >= 0);
    dup2(r.file, STDOUT_FILENO);
    return r;
}

/* What the file has, to be freed; standard output is what it was before. */
static char *end_redirection(redirection r)
{
    fflush(stdout);
    dup2(r.saved, STDOUT_FILENO);
    close(r.saved);
    int file = r.file;
    off_t size = lseek(file, 0, SEEK_END);
    char *bytes = calloc(1, (size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    assert_int_equal(read(file, bytes, (size_t)size), size);
    close(file);
    remove(output_path);
    return bytes;
}

/* Runs a benchmark and returns what it writes to standard output. */
static char *capture(const char *name, const bench_options *options, int *status)
{
    redirection r = redirect();
    *status = bench_run(name, options);
    return end_redirection(r);
}

static void assert_string_key(const json_value *row, const char *key)
{
    const json_value *value = lmi_json_get(row, key);
    if (!value || value->kind != JSON_KIND_STRING || value->length == 0) fail_msg("no string \"%s\" in a row", key);
}

static double number_key(const json_value *row, const char *key)
{
    const json_value *value = lmi_json_get(row, key);
    if (!value || value->kind != JSON_KIND_NUMBER) fail_msg("no number \"%s\" in a row", key);
    return value->number;
}

static bool is_plain_of(const json_value *row, const char *stage)
{
    return strcmp(lmi_json_get(row, "variant")->text, "plain") == 0 &&
           strcmp(lmi_json_get(row, "stage")->text, stage) == 0;
}

/* Every line is an object with the agreed keys; returns how many rows the plain variant has for the stage. */
static uint32_t check_rows(char *bytes, const char *bench, const char *stage)
{
    uint32_t plain = 0;
    for (char *line = strtok(bytes, "\n"); line; line = strtok(NULL, "\n")) {
        json_document *document = lmi_json_create();
        assert_non_null(document);
        json_error error;
        const json_value *row = lmi_json_parse(document, line, strlen(line), NULL, &error);
        if (!row) fail_msg("%s in %s", error.text, line);
        static const char *const strings[] = {"bench", "case", "variant", "stage", "isa"};
        for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) assert_string_key(row, strings[i]);
        assert_string_equal(lmi_json_get(row, "bench")->text, bench);
        assert_true(number_key(row, "particles") > 0.0 && number_key(row, "threads") > 0.0);
        double fastest = number_key(row, "ns_per_particle_step"), median = number_key(row, "median_ns");
        assert_true(fastest >= 0.0 && median >= fastest * 0.999);
        plain += is_plain_of(row, stage);
        lmi_json_free(document);
    }
    return plain;
}

static void test_polar_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true};
    int status;
    char *bytes = capture("polar", &options, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(bytes, "\"orthogonality_error\":"));
    assert_non_null(strstr(bytes, "\"trace_deficit\":"));
    assert_non_null(strstr(bytes, "\"jacobi-warm\""));
    assert_int_equal(check_rows(bytes, "polar", "polar"), 3 * MATRIX_KIND_COUNT);
    free(bytes);
}

static void test_cluster_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true, .threads = 2};
    int status;
    char *bytes = capture("clusters", &options, &status);
    assert_int_equal(status, 0);
    for (int stage = 0; stage < LM_STAGE_COUNT; stage++) {
        char text[64];
        snprintf(text, sizeof text, "\"stage\":\"%s\"", lm_stage_name((lm_stage)stage));
        assert_non_null(strstr(bytes, text));
    }
    assert_non_null(strstr(bytes, "\"case\":\"crowd\",\"variant\":\"limber\",\"stage\":\"match\""));
    assert_non_null(strstr(bytes, "\"threads\":2"));
    assert_non_null(strstr(bytes, "\"case\":\"tets\",\"variant\":\"limber\""));
    assert_int_equal(check_rows(bytes, "clusters", "match"), 1 + 2 + 6); /* crowd, tets, figure 8's smallest body */
    free(bytes);
}

/* The number of rows that contain all of these texts. */
static uint32_t count_rows(const char *bytes, const char *a, const char *b, const char *c)
{
    uint32_t count = 0;
    for (const char *line = bytes; *line;) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        char *copy = calloc(1, length + 1);
        assert_non_null(copy);
        memcpy(copy, line, length);
        count += strstr(copy, a) && strstr(copy, b) && strstr(copy, c);
        free(copy);
        line += length + (end ? 1 : 0);
    }
    return count;
}

static void test_lattice_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true, .threads = 2};
    int status;
    char *bytes = capture("lattice", &options, &status);
    assert_int_equal(status, 0);
    static const char *const cases[] = {"box", "sphere", "statue", "shell", "penguin", "comb"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[40];
        snprintf(name, sizeof name, "\"case\":\"%s\"", cases[i]);
        for (int w = 1; w <= 2; w++) {
            static const char *const kinds[] = {"global", "regional"};
            for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
                char damping[48];
                snprintf(damping, sizeof damping, "\"w\":%d,\"damping\":\"%s\"", w, kinds[kind]);
                assert_int_equal(count_rows(bytes, name, "\"stage\":\"step\"", damping), 2);
            }
        }
        assert_true(count_rows(bytes, name, "\"stage\":\"sweep\"", "\"w\":1,\"damping\":\"none\"") >= 2);
    }
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        char name[40];
        snprintf(name, sizeof name, "\"isa\":\"%s\"", lm_isa_name((lm_isa)isa));
        if (lm_isa_supported((lm_isa)isa))
            assert_true(count_rows(bytes, name, "\"case\":\"box\",\"variant\":\"limber\"", "\"w\":1") >= 2);
    }
    assert_int_equal(count_rows(bytes, "\"stage\":\"sums\"", "\"w\":2", "\"method\":"), 4);
    assert_true(count_rows(bytes, "\"case\":\"million\"", "\"stage\":\"step\"", "\"bytes_per_particle\":") >= 2);
    assert_true(count_rows(bytes, "\"case\":\"machine\"", "\"stage\":\"copy-memory\"", "\"unit\":\"GB/s\"") == 2);
    assert_true(count_rows(bytes, "\"case\":\"machine\"", "\"stage\":\"multiply-add\"", "\"unit\":\"GFLOP/s\"") >= 2);
    check_rows(bytes, "lattice", "step");
    free(bytes);
}

static void test_contact_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true, .threads = 2};
    int status;
    char *bytes = capture("contacts", &options, &status);
    assert_int_equal(status, 0);
    static const char *const stages[] = {"find", "solve", "contacts", "step"};
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        char stage[40];
        snprintf(stage, sizeof stage, "\"stage\":\"%s\"", stages[i]);
        assert_int_equal(count_rows(bytes, "\"case\":\"crowd\"", stage, "\"bodies\":10,"), 1);
    }
    assert_int_equal(count_rows(bytes, "\"case\":\"statue\"", "\"unit\":\"frames/s\"", "\"threads\":1"), 1);
    assert_int_equal(count_rows(bytes, "\"case\":\"penguins\"", "\"stage\":\"slowest second\"", "\"threads\":2"), 1);
    assert_int_equal(count_rows(bytes, "\"case\":\"penguins\"", "\"stage\":\"step\"", "times real time"), 2);
    check_rows(bytes, "contacts", "step");
    free(bytes);
}

/* Rows are in the file as soon as they are written, and once. */
static void test_rows_are_written_at_once(void **state)
{
    (void)state;
    for (int json = 0; json <= 1; json++) {
        bench_options options = {.json = json};
        bench_report report = {.options = &options};
        bench_samples samples = {0};
        bench_samples_add(&samples, 3.0);
        bench_row row = {.bench = "b", .name = "c", .variant = "plain", .stage = "s", .isa = "scalar", .particles = 1};
        redirection r = redirect();
        bench_report_add(&report, row, &samples);
        bench_report_write(&report);
        off_t after_one = lseek(r.file, 0, SEEK_END);
        bench_report_add(&report, row, &samples);
        bench_report_write(&report);
        off_t after_two = lseek(r.file, 0, SEEK_END);
        bool finished = bench_report_finish(&report);
        off_t at_the_end = lseek(r.file, 0, SEEK_END);
        char *bytes = end_redirection(r);
        assert_true(finished);
        assert_true(after_one > 0 && after_two > after_one);
        assert_int_equal(at_the_end, after_two);
        if (json) assert_int_equal(after_two, 2 * after_one);
        free(bytes);
        bench_samples_free(&samples);
    }
}

static void test_table(void **state)
{
    (void)state;
    bench_options options = {.quick = true, .isa = LM_ISA_SCALAR};
    int status;
    char *bytes = capture("polar", &options, &status);
    assert_int_equal(status, 0);
    assert_non_null(strstr(bytes, "polar mirrored"));
    assert_non_null(strstr(bytes, "1.00x")); /* the plain row itself */
    assert_null(strstr(bytes, "sse2"));
    free(bytes);
}

static void test_skeleton_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true, .threads = 1, .isa = LM_ISA_SCALAR};
    int status;
    char *bytes = capture("skeleton", &options, &status);
    assert_int_equal(status, 0);
    assert_int_equal(count_rows(bytes, "\"case\":\"infant\"", "\"particles\":2570", "\"w\":2"), 4);
    assert_int_equal(count_rows(bytes, "\"stage\":\"frame\"", "\"damping\":\"regional\"", "scalar"), 1);
    check_rows(bytes, "skeleton", "step");
    free(bytes);
}

static void test_fracture_rows(void **state)
{
    (void)state;
    bench_options options = {.json = true, .quick = true, .threads = 1, .isa = LM_ISA_SCALAR};
    int status;
    char *bytes = capture("fracture", &options, &status);
    assert_int_equal(status, 0);
    assert_int_equal(count_rows(bytes, "\"case\":\"link\"", "\"unit\":\"ms\"", "scalar"), 2);
    assert_int_equal(count_rows(bytes, "\"case\":\"shatter\"", "\"unit\":\"ms\"", "scalar"), 2);
    assert_int_equal(count_rows(bytes, "\"mode\":\"with a surface\"", "fracture", "scalar"), 2);
    check_rows(bytes, "fracture", "break");
    free(bytes);
}

static void test_refusals(void **state)
{
    (void)state;
    int status;
    char *bytes = capture("nothing", NULL, &status);
    assert_int_equal(status, 1);
    assert_string_equal(bytes, "");
    free(bytes);
    assert_string_equal(bench_name(0), "clusters");
    assert_string_equal(bench_name(1), "contacts");
    assert_string_equal(bench_name(2), "lattice");
    assert_string_equal(bench_name(3), "examples");
    assert_string_equal(bench_name(4), "fracture");
    assert_string_equal(bench_name(5), "octree");
    assert_string_equal(bench_name(6), "skeleton");
    assert_string_equal(bench_name(7), "snapshot");
    assert_string_equal(bench_name(8), "calls");
    assert_string_equal(bench_name(9), "polar");
#if LIMBER_HAS_OPENCL
    assert_string_equal(bench_name(10), "gpu");
    assert_null(bench_name(11));
#else
    assert_null(bench_name(10));
#endif
    assert_non_null(bench_description("polar"));
    assert_null(bench_description("nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),       cmocka_unit_test(test_judge),
        cmocka_unit_test(test_plain_polar),   cmocka_unit_test(test_plain_step),
        cmocka_unit_test(test_plain_floor),   cmocka_unit_test(test_plain_lattice),
        cmocka_unit_test(test_plain_sums),    cmocka_unit_test(test_polar_rows),
        cmocka_unit_test(test_cluster_rows),  cmocka_unit_test(test_contact_rows),
        cmocka_unit_test(test_lattice_rows),  cmocka_unit_test(test_skeleton_rows),
        cmocka_unit_test(test_fracture_rows), cmocka_unit_test(test_table),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_rows_are_written_at_once),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
