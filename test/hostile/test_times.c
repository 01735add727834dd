/*
 * Definitions that are sound and unusual, and how long it takes to make bodies of them: no call takes longer than a bound that grows
 * with the number of particles, or it is refused with LM_ERROR_LIMIT. What is measured is the time of the processor, so that a machine
 * that has other work makes no difference.
 *
 * Each of these once took longer, most of them from ten seconds to minutes.
 */
#include "test/support/boxes.h"
#include "test/support/support.h"

#include <math.h>
#include <time.h>

/* Seconds in which a body of so many particles is made and stepped once; of an octree, from so many of the finest cells. */
#ifdef LIMBER_SANITIZED
#define SLOWER 20.0
#else
#define SLOWER 1.0
#endif
#define BOUND(particles, voxels) (SLOWER * (2.0 + 1e-4 * (double)(particles) + 2.5e-6 * (double)(voxels)))

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
    def.octree.vertices = b->vertices, def.octree.vertex_count = b->vertex_count;
    def.octree.triangles = b->triangles, def.octree.triangle_count = b->corner_count / 3;
    def.octree.spacing = spacing;
    def.octree.levels = levels;
    return def;
}

/* Makes a body, steps it, and says how many particles it has; `refine`: with all its cells divided, too. */
static uint32_t make_in_time(const lm_body_def *def, bool refine, uint32_t voxels, const char *what)
{
    lm_world_def world_def = lm_world_def_default();
    lm_world *world;
    lm_body_id body;
    lm_body_info info;
    world_def.workers = 1;
    assert_ok(lm_world_create(&world_def, &world));
    double begin = seconds();
    assert_ok(lm_body_create(world, def, &body));
    if (refine) assert_ok(lm_body_refine(world, body, lm_dvec3_zero(), 100.0f, 1e-3f, NULL));
    assert_ok(lm_world_step(world, FRAME));
    double took = seconds() - begin;
    assert_ok(lm_body_get_info(world, body, &info));
    print_message("%-44s %7u particles, %.3f s\n", what, info.particles, took);
    double most = BOUND(info.particles, voxels);
    if (took > most) fail_msg("%s: %.1f s, and %.1f s are allowed", what, took, most);
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
        make_in_time(&def, false, 0, "few cells, up to 8 levels");
    }
}

/* Every region has the whole body. */
static void wide_regions_of_many_cells(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    lm_body_def def = octree_of(&b, 0.025f, 8);
    assert_true(make_in_time(&def, true, 0, "all cells divided, regions of the whole body") > 15000);
    def.octree.detail = 1000.0f;
    def.octree.slack = 0.0f;
    assert_true(make_in_time(&def, false, 0, "the same at once, without slack") > 15000);
}

/* How thick it is at each voxel is found layer by layer, 60 of them. */
static void thick_and_fine(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    lm_body_def def = octree_of(&b, 0.0066f, 8);
    make_in_time(&def, false, 930000, "a thick body of 930,000 voxels");
}

/* Two triangles that are covered with tens of thousands of points that touch. */
static void large_faces(void **context)
{
    (void)context;
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.5f, -0.5f, -0.0005f}, (lm_vec3){0.5f, 0.5f, 0.0005f});
    lm_body_def def = boxes_octree(&b, 0.005f, 8, 0.0f);
    def.mask = 1;
    make_in_time(&def, false, 0, "a plate, as an octree");
    def = lm_body_def_default();
    def.lattice.vertices = b.vertices, def.lattice.vertex_count = 8;
    def.lattice.triangles = b.triangles, def.lattice.triangle_count = 12;
    def.lattice.spacing = 0.01f;
    def.lattice.width = 8;
    make_in_time(&def, false, 0, "a plate, as a lattice");
}

/* What cannot be done in time is refused in time, and with little memory. */
static void too_wide_is_refused(void **context)
{
    (void)context;
    ball b = make_ball(0.4);
    lm_world_def world_def = lm_world_def_default();
    lm_world *world;
    lm_body_id body;
    world_def.workers = 1;
    assert_ok(lm_world_create(&world_def, &world));
    double begin = seconds();
    lm_body_def def = octree_of(&b, 0.02f, 0); /* 36,440 regions of 36,440 cells, which no larger cells stand for */
    def.octree.width = 1e6f;
    assert_result(lm_body_create(world, &def, &body), LM_ERROR_LIMIT);
    double took = seconds() - begin;
    print_message("refused in %.3f s\n", took);
    assert_at_most(took, BOUND(36440, 0));
    lm_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_cells_and_many_levels),
        cmocka_unit_test(wide_regions_of_many_cells),
        cmocka_unit_test(thick_and_fine),
        cmocka_unit_test(large_faces),
        cmocka_unit_test(too_wide_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
