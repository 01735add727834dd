/*
 * Definitions that are sound and unusual, and how much work it is to make bodies of them: no more than a bound that grows with the
 * number of particles, or they are refused with LM_ERROR_LIMIT before much was done. What is asserted is the count of steps that the
 * library keeps (lmi_memory.work) and the memory that was taken, which are the same on every machine; times are printed. What has no count
 * is left to the time limit of the test.
 *
 * Each of these once took longer, most of them from ten seconds to minutes.
 */
#include "test/support/boxes.h"
#include "test/support/support.h"

#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Steps in which a body of so many particles is made; of an octree, from so many of the finest cells. */
#define MOST_STEPS(particles, voxels) (100000 + 250 * (uint64_t)(particles) + 10 * (uint64_t)(voxels))

/* And in which it is cut by so many triangles. */
#define CUT_STEPS(particles, triangles) (100000 + 1000 * (uint64_t)(particles) + 5 * (uint64_t)(triangles))

#define AROUND 24
#define UPWARD 12
#define PI 3.14159265358979323846

typedef struct ball {
    lm_vec3 vertices[AROUND * (UPWARD - 1) + 2];
    uint32_t triangles[6 * AROUND * (UPWARD - 1)];
    uint32_t vertex_count, corner_count;
} ball;

static void add(ball *b, uint32_t x, uint32_t y, uint32_t z)
{
    b->triangles[b->corner_count++] = x;
    b->triangles[b->corner_count++] = y;
    b->triangles[b->corner_count++] = z;
}

static ball make_ball(double radius)
{
    ball b = {.vertex_count = 0};
    const uint32_t top = AROUND * (UPWARD - 1), bottom = top + 1;
    for (uint32_t n = 0; n < top; n++) {
        double a = 2.0 * PI * (n % AROUND) / AROUND, c = PI * (n / AROUND + 1) / UPWARD;
        b.vertices[n] =
            (lm_vec3){(float)(radius * sin(c) * cos(a)), (float)(radius * cos(c)), (float)(radius * sin(c) * sin(a))};
    }
    b.vertices[top] = (lm_vec3){0, (float)radius, 0};
    b.vertices[bottom] = (lm_vec3){0, (float)-radius, 0};
    b.vertex_count = top + 2;
    for (uint32_t n = 0; n < AROUND; n++) {
        uint32_t next = (n + 1) % AROUND, last = AROUND * (UPWARD - 2);
        add(&b, top, next, n);
        add(&b, bottom, last + n, last + next);
        for (uint32_t row = 0; row + 2 < UPWARD; row++) {
            uint32_t here = row * AROUND + n, beside = row * AROUND + next;
            add(&b, here, beside, here + AROUND);
            add(&b, beside, beside + AROUND, here + AROUND);
        }
    }
    return b;
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static lm_body_def octree_of(const ball *b, float spacing, uint32_t levels)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.octree.vertices = b->vertices, def.octree.vertex_count = b->vertex_count;
    def.octree.triangles = b->triangles, def.octree.triangle_count = b->corner_count / 3;
    def.octree.spacing = spacing;
    def.octree.levels = levels;
    return def;
}

/* What was allocated at once, at most. */
typedef struct tally {
    size_t used, most;
} tally;

static void *count_and_allocate(size_t size, size_t alignment, void *user)
{
    tally *t = user;
    t->used += size;
    t->most = t->used > t->most ? t->used : t->most;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_and_release(void *memory, size_t size, void *user)
{
    tally *t = user;
    t->used -= size;
    free(memory);
}

static lm_world *make_counted_world(tally *t)
{
    lm_world_def def = lm_world_def_default();
    lm_world *world;
    def.workers = 1;
    def.allocator = (lm_allocator){count_and_allocate, count_and_release, t};
    assert_ok(lm_world_create(&def, &world));
    return world;
}

/* Makes a body, steps it, and says how many particles it has; `refine`: with all its cells divided, too. */
static uint32_t make_body_of(const lm_body_def *def, bool refine, uint32_t voxels, const char *what)
{
    tally t = {0};
    lm_world *world = make_counted_world(&t);
    lm_body_id body;
    lm_body_info info;
    double begin = seconds();
    assert_ok(lm_body_create(world, def, &body));
    if (refine) assert_ok(lm_body_refine(world, body, lm_dvec3_zero(), 100.0f, 1e-3f, NULL));
    assert_ok(lm_world_step(world, FRAME));
    double took = seconds() - begin;
    assert_ok(lm_body_get_info(world, body, &info));
    uint64_t work = world->memory.work, most = MOST_STEPS(info.particles, voxels);
    print_message("%-44s %7u particles, %11llu steps, %.3f s\n", what, info.particles, (unsigned long long)work, took);
    assert_true(work > 0); /* else nothing is counted */
    if (work > most)
        fail_msg("%s: %llu steps, and %llu are allowed", what, (unsigned long long)work, (unsigned long long)most);
    lm_world_destroy(world);
    return info.particles;
}

/* The base lattice has 2^24 cells of the finest size, of which the ball takes up 408. */
static void few_cells_and_many_levels(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    for (uint32_t levels = 0; levels <= 8; levels++) {
        lm_body_def def = octree_of(&b, 0.1f, levels);
        def.mask = 1;
        def.self_contact = true;
        make_body_of(&def, false, 0, "few cells, up to 8 levels");
    }
}

/* Every region has the whole body. */
static void wide_regions_of_many_cells(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    lm_body_def def = octree_of(&b, 0.025f, 8);
    assert_true(make_body_of(&def, true, 0, "all cells divided, regions of the whole body") > 15000);
    def.octree.detail = 1000.0f;
    def.octree.slack = 0.0f;
    assert_true(make_body_of(&def, false, 0, "the same at once, without slack") > 15000);
}

/* How thick it is at each voxel is found layer by layer, 60 of them. */
static void thick_and_fine(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    lm_body_def def = octree_of(&b, 0.0066f, 8);
    make_body_of(&def, false, 930000, "a thick body of 930,000 voxels");
}

/* Two triangles that are covered with tens of thousands of points that touch. */
static void large_faces(void **context)
{
    (void)context;
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.5f, -0.5f, -0.0005f}, (lm_vec3){0.5f, 0.5f, 0.0005f});
    lm_body_def def = boxes_octree(&b, 0.005f, 8, 0.0f);
    def.mask = 1;
    make_body_of(&def, false, 0, "a plate, as an octree");
    def = lm_body_def_default();
    def.lattice.vertices = b.vertices, def.lattice.vertex_count = 8;
    def.lattice.triangles = b.triangles, def.lattice.triangle_count = 12;
    def.lattice.spacing = 0.01f;
    def.lattice.width = 8;
    make_body_of(&def, false, 0, "a plate, as a lattice");
}

/* Each point was compared with all centres, and with all points along an axis. */
static void many_points(void **context)
{
    (void)context;
    enum { COUNT = 40000 };
    random_state random = {31};
    lm_vec3 *points = malloc(COUNT * sizeof *points);
    for (uint32_t n = 0; n < COUNT; n++) points[n] = to_float(random_in_cube(&random, 0.5));
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.points = points;
    def.point_count = COUNT;
    def.self_contact = true; /* its solid is made at once */
    make_body_of(&def, false, 0, "a cloud in one cluster");
    def.self_contact = false;
    def.clusters.kind = LM_CLUSTERS_KMEANS;
    def.clusters.count = 1000;
    def.clusters.rings = 1;
    make_body_of(&def, false, 2 * COUNT * 30, "a cloud in 1,000 groups, 30 rounds"); /* what it finds in each */
    free(points);
}

enum { SIDE = 180 };

/* A sheet of squares across the middle, slightly waved, so that its triangles lie in different planes. */
typedef struct sheet {
    lm_dvec3 vertices[(SIDE + 1) * (SIDE + 1)];
    uint32_t triangles[6 * SIDE * SIDE];
} sheet;

static sheet *make_sheet(void)
{
    sheet *s = malloc(sizeof *s);
    for (uint32_t n = 0; n < (SIDE + 1) * (SIDE + 1); n++) {
        double x = 1.2 * (n % (SIDE + 1)) / SIDE - 0.6, z = 1.2 * (n / (SIDE + 1)) / SIDE - 0.6;
        s->vertices[n] = (lm_dvec3){x, 0.0123 + 0.02 * sin(9.0 * x) * cos(7.0 * z), z};
    }
    for (uint32_t n = 0; n < SIDE * SIDE; n++) {
        uint32_t at = n / SIDE * (SIDE + 1) + n % SIDE, *t = s->triangles + (size_t)6 * n;
        t[0] = at, t[1] = at + 1, t[2] = at + SIDE + 2;
        t[3] = at, t[4] = at + SIDE + 2, t[5] = at + SIDE + 1;
    }
    return s;
}

/* Every triangle was compared with every link. */
static void cut_by_many_triangles(const lm_body_def *def, const ball *skin, const char *what)
{
    tally t = {0};
    lm_world *world = make_counted_world(&t);
    lm_body_id body;
    lm_body_info info;
    lm_cut_info cut;
    sheet *s = make_sheet();
    lm_blade blade = lm_blade_default();
    blade.vertices = s->vertices, blade.vertex_count = (SIDE + 1) * (SIDE + 1);
    blade.triangles = s->triangles, blade.triangle_count = 2 * SIDE * SIDE;
    assert_ok(lm_body_create(world, def, &body));
    if (skin) {
        lm_skin_def surface = lm_skin_def_default();
        surface.vertices = skin->vertices, surface.vertex_count = skin->vertex_count;
        surface.triangles = skin->triangles, surface.triangle_count = skin->corner_count / 3;
        assert_ok(lm_body_set_skin(world, body, &surface));
    }
    world->memory.work = 0;
    double begin = seconds();
    assert_ok(lm_body_cut(world, body, &blade, &cut));
    double took = seconds() - begin;
    assert_ok(lm_body_get_info(world, body, &info));
    uint64_t work = world->memory.work, most = CUT_STEPS(info.particles, blade.triangle_count);
    print_message("%-44s %7u particles, %11llu steps, %.3f s, %u parts\n", what, info.particles,
                  (unsigned long long)work, took, cut.parts);
    assert_true(cut.parts > 1);
    assert_true(work > 0);
    if (work > most)
        fail_msg("%s: %llu steps, and %llu are allowed", what, (unsigned long long)work, (unsigned long long)most);
    free(s);
    lm_world_destroy(world);
}

static void blades_of_many_triangles(void **context)
{
    (void)context;
    enum { COUNT = 3000 };
    ball b = make_ball(0.4);
    lm_body_def octree = octree_of(&b, 0.05f, 2), lattice = lm_body_def_default(), points = lm_body_def_default();
    cut_by_many_triangles(&octree, &b, "an octree, cut by 64,800 triangles");
    lattice.lattice.vertices = b.vertices, lattice.lattice.vertex_count = b.vertex_count;
    lattice.lattice.triangles = b.triangles, lattice.lattice.triangle_count = b.corner_count / 3;
    lattice.lattice.spacing = 0.04f;
    cut_by_many_triangles(&lattice, &b, "a lattice, cut by 64,800 triangles");
    random_state random = {37};
    lm_vec3 *inside = malloc(COUNT * sizeof *inside);
    for (uint32_t n = 0; n < COUNT;) {
        ref_vec p = random_in_cube(&random, 0.4);
        if (ref_dot(p, p) < 0.15) inside[n++] = to_float(p);
    }
    points.points = inside, points.point_count = COUNT;
    points.clusters.kind = LM_CLUSTERS_KMEANS;
    points.clusters.count = 30;
    points.clusters.rings = 1;
    cut_by_many_triangles(&points, &b, "clusters, cut by 64,800 triangles");
    free(inside);
}

/* Each particle was compared with every vertex. */
static void values_of_many_vertices(void **context)
{
    (void)context;
    enum { COUNT = 100000 };
    random_state random = {41};
    lm_vec3 *points = malloc(COUNT * sizeof *points);
    float *values = malloc(COUNT * sizeof *values), *carried = malloc(COUNT * sizeof *carried);
    for (uint32_t n = 0; n < COUNT; n++) {
        points[n] = to_float(random_in_cube(&random, 0.5));
        values[n] = points[n].x;
    }
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.points = points;
    def.point_count = COUNT;
    tally t = {0};
    lm_world *world = make_counted_world(&t);
    lm_body_id body;
    assert_ok(lm_body_create(world, &def, &body));
    double begin = seconds();
    assert_ok(lm_body_carry_values(world, body, points, COUNT, values, 1, carried));
    print_message("values of 100,000 vertices, %.3f s\n", seconds() - begin);
    for (uint32_t n = 0; n < COUNT; n++) assert_float_equal(carried[n], values[n], 1e-6);
    lm_world_destroy(world);
    free(points), free(values), free(carried);
}

/* Each particle saw every vertex. */
static void a_pose_of_many_vertices(void **context)
{
    (void)context;
    enum { COUNT = 20000 };
    random_state random = {43};
    lm_vec3 *points = malloc(3 * COUNT * sizeof *points), *pose = points + COUNT, *to = pose + COUNT;
    for (uint32_t n = 0; n < COUNT; n++) {
        const lm_vec3 p = points[n] = to_float(random_in_cube(&random, 0.5));
        pose[n] = (lm_vec3){1.2f * p.x + 0.3f * p.y + 0.1f, 0.9f * p.y - 0.2f * p.z, p.z + 0.1f * p.x};
    }
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.points = points;
    def.point_count = COUNT;
    tally t = {0};
    lm_world *world = make_counted_world(&t);
    lm_body_id body;
    assert_ok(lm_body_create(world, &def, &body));
    double begin = seconds();
    assert_ok(lm_body_carry_pose(world, body, points, pose, COUNT, to));
    print_message("a pose of 20,000 vertices, %.3f s\n", seconds() - begin);
    for (uint32_t n = 0; n < COUNT; n++) assert_float_equal(to[n].x, pose[n].x, 2e-6);
    lm_world_destroy(world);
    free(points);
}

/* What would take too much is refused before it is made. */
static void too_wide_is_refused(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    tally t = {0};
    lm_world *world = make_counted_world(&t);
    lm_body_id body;
    double begin = seconds();
    lm_body_def def = octree_of(&b, 0.02f, 0); /* 36,440 regions of 36,440 cells, which no larger cells stand for */
    def.octree.width = 1e6f;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_LIMIT);
    print_message("refused in %.3f s, with %zu bytes\n", seconds() - begin, t.most);
    assert_at_most(t.most, 2000 * 36440);
    assert_at_most(world->memory.work, 4 * 36440);
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_cells_and_many_levels),
        cmocka_unit_test(wide_regions_of_many_cells),
        cmocka_unit_test(thick_and_fine),
        cmocka_unit_test(large_faces),
        cmocka_unit_test(many_points),
        cmocka_unit_test(blades_of_many_triangles),
        cmocka_unit_test(values_of_many_vertices),
        cmocka_unit_test(a_pose_of_many_vertices),
        cmocka_unit_test(too_wide_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
