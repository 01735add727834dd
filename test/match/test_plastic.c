/*
 * Plasticity: a block pressed beyond its yield keeps the new shape and its volume, below it it returns; how much is kept
 * does not depend on the time step; nothing else (momentum, snapshots, mangled states) suffers from it.
 */
#include "snapshot/snapshot.h"
#include "test/reference/reference.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define ACROSS 5 /* particles along each side of the block */
#define POINTS (ACROSS * ACROSS * ACROSS)
#define SPACING 0.1
#define SIDE (SPACING * (ACROSS - 1))

typedef struct block {
    lm_world *world;
    lm_body_id body;
    ref_vec rest[POINTS];
    uint32_t regions;
} block;

static lm_material plastic_material(lm_mode mode)
{
    lm_material material = lm_material_default();
    material.mode = mode;
    material.hertz = 8.0f;
    material.damping_ratio = 0.5f;
    material.yield = 0.02f;
    material.creep = 10.0f;
    material.max_plastic = 0.5f;
    return material;
}

/* `clusters` along each axis. */
static block make_block(lm_material material, uint32_t clusters)
{
    block b = {.world = make_world(0.0)};
    lm_vec3 *points = grid_points(ACROSS, ACROSS, ACROSS, SPACING);
    for (int i = 0; i < POINTS; i++) b.rest[i] = to_double(points[i]);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = POINTS;
    def.material = material;
    for (int a = 0; a < 3; a++) def.clusters.counts[a] = clusters;
    b.body = make_body(b.world, &def);
    free(points);
    lm_body_info info;
    assert_ok(lm_body_get_info(b.world, b.body, &info));
    b.regions = info.regions;
    assert_int_equal(info.regions, clusters * clusters * clusters);
    return b;
}

static void free_block(block *b) { lm_world_destroy(b->world); }

static ref_mat diagonal(double x, double y, double z) { return (ref_mat){{{x, 0, 0}, {0, y, 0}, {0, 0, z}}}; }

/* Compressed along Y to the given share, wider along X and Z, at the same volume. */
static ref_mat pressed(double share) { return diagonal(1.0 / sqrt(share), share, 1.0 / sqrt(share)); }

static void put(block *b, ref_mat shape)
{
    lm_vec3 x[POINTS], v[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i] = to_float(ref_mat_vec(shape, b->rest[i]));
        v[i] = (lm_vec3){0, 0, 0};
    }
    assert_ok(lm_body_set_state(b->world, b->body, lm_dvec3_zero(), x, v));
}

/* Holds the block in a shape for a while, then lets go. */
static void hold(block *b, ref_mat shape, double seconds, double h)
{
    for (int step = 0; step < (int)(seconds / h + 0.5); step++) {
        put(b, shape);
        assert_ok(lm_world_step(b->world, h));
    }
    put(b, shape);
}

static void run_for(block *b, double seconds, double h)
{
    for (int step = 0; step < (int)(seconds / h + 0.5); step++) assert_ok(lm_world_step(b->world, h));
}

static double off_from(const block *b, ref_mat shape)
{
    ref_vec expected[POINTS];
    for (int i = 0; i < POINTS; i++) expected[i] = ref_mat_vec(shape, b->rest[i]);
    return deformation_from(b->world, b->body, expected) / SIDE;
}

/* Of the cells between the particles, each as six tetrahedra around its long diagonal. */
static double volume_of(const block *b)
{
    static const int paths[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};
    body_state state = state_read(b->world, b->body, lm_dvec3_zero());
    double sum = 0.0;
    for (int z = 0; z + 1 < ACROSS; z++)
        for (int y = 0; y + 1 < ACROSS; y++)
            for (int x = 0; x + 1 < ACROSS; x++) {
                ref_vec corner[8];
                for (int k = 0; k < 8; k++)
                    corner[k] = state.x[(x + (k & 1)) + ACROSS * ((y + (k >> 1 & 1)) + ACROSS * (z + (k >> 2)))];
                for (int k = 0; k < 6; k++)
                    sum += ref_dot(ref_sub(corner[paths[k][0]], corner[0]),
                                   ref_cross(ref_sub(corner[paths[k][1]], corner[0]), ref_sub(corner[7], corner[0])));
            }
    state_free(&state);
    return fabs(sum) / 6.0;
}

static void read_plastic(const lm_world *world, lm_body_id body, uint32_t regions, ref_mat *out)
{
    float *matrices = calloc(regions, 9 * sizeof *matrices);
    assert_ok(lm_body_get_plastic(world, body, matrices));
    for (uint32_t r = 0; r < regions; r++)
        for (uint32_t k = 0; k < 9; k++) out[r].at[k / 3][k % 3] = (double)matrices[9 * r + k];
    free(matrices);
}

/* Every region's matrix is symmetric, of determinant 1, and within the maximum; returns the largest lasting strain. */
static double check_plastic(const lm_world *world, lm_body_id body, double most)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    ref_mat *matrices = calloc(info.regions, sizeof *matrices);
    read_plastic(world, body, info.regions, matrices);
    double largest = 0.0;
    for (uint32_t r = 0; r < info.regions; r++) {
        double values[3], vectors[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) assert_near(matrices[r].at[i][j], matrices[r].at[j][i], 1e-5);
        ref_eigen_symmetric(3, &matrices[r].at[0][0], values, vectors);
        assert_near(values[0] * values[1] * values[2], 1.0, 1e-4);
        assert_at_most(values[2] - 1.0, most + 1e-5);
        assert_at_most(1.0 - values[0], most + 1e-5);
        largest = fmax(largest, fmax(values[2] - 1.0, 1.0 - values[0]));
    }
    free(matrices);
    return largest;
}

/* ---- the block ---- */

static void a_held_shape_is_kept(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (uint32_t clusters = 1; clusters <= 3; clusters++) {
            block b = make_block(plastic_material((lm_mode)mode), clusters);
            double volume = volume_of(&b);
            hold(&b, pressed(0.75), 2.0, FRAME);
            double strain = check_plastic(b.world, b.body, 0.5);
            /* Elastic strain is left up to the yield. */
            assert_at_most(0.25 - strain, 0.02 + 0.005);
            run_for(&b, 4.0, FRAME);
            double off = off_from(&b, pressed(0.75)), lost = volume_of(&b) / volume - 1.0;
            if (!(off <= 0.02) || !(fabs(lost) <= 0.01))
                print_error("mode %d, %u clusters: off by %g, volume by %g\n", mode, clusters, off, lost);
            assert_at_most(off, 0.02);
            assert_near(lost, 0.0, 0.01);
            /* And it stays so, which needs no more flow. */
            ref_mat first[27], last[27];
            read_plastic(b.world, b.body, b.regions, first);
            run_for(&b, 10.0, FRAME);
            read_plastic(b.world, b.body, b.regions, last);
            assert_memory_equal(first, last, b.regions * sizeof *first);
            assert_at_most(off_from(&b, pressed(0.75)), 0.02);
            free_block(&b);
        }
}

/* One region goes exactly to its plastic shape: every stretch and shear, also about axes that are not the block's. */
static void the_kept_shape_is_the_plastic_one(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int trial = 0; trial < 6; trial++) {
            random_state random = {(uint64_t)(30 + trial)};
            block b = make_block(plastic_material((lm_mode)mode), 1);
            ref_mat axes = random_rotation(&random), turn = random_rotation(&random);
            ref_mat shape = ref_mat_mul(ref_mat_mul(axes, diagonal(0.8, 1.2, 1.0 / 0.96)), ref_transpose(axes)), kept;
            hold(&b, ref_mat_mul(turn, shape), 2.0, FRAME);
            run_for(&b, 5.0, FRAME);
            read_plastic(b.world, b.body, 1, &kept);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) assert_near(kept.at[i][j], shape.at[i][j], 0.025);
            assert_at_most(off_from(&b, kept), 1e-3);
            free_block(&b);
        }
}

/* What has no thickness flows as well: the length of a string, both sides of a sheet. The missing directions take up the
 * volume. */
static void sheets_and_strings_keep_theirs(void **context)
{
    (void)context;
    static const uint32_t counts[2][2] = {{9, 1}, {6, 6}};
    static const double shapes[4][2] = {{1.5, 1.0}, {1.3, 1.3}, {0.8, 1.0}, {1.2, 0.8}};
    for (int kind = 0; kind < 2; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int shape = 0; shape < 4; shape++) {
                uint32_t n = counts[kind][0] * counts[kind][1];
                lm_vec3 *points = grid_points(counts[kind][0], 1, counts[kind][1], SPACING), x[36],
                        still[36] = {{0, 0, 0}};
                ref_vec held[36];
                lm_body_def def = lm_body_def_default();
                def.mask = 0;
                def.points = points;
                def.point_count = n;
                def.material = plastic_material((lm_mode)mode);
                def.material.max_plastic = 0.9f;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &def);
                for (uint32_t i = 0; i < n; i++) {
                    held[i] = ref_mat_vec(diagonal(shapes[shape][0], 1.0, shapes[shape][1]), to_double(points[i]));
                    x[i] = to_float(held[i]);
                }
                for (int step = 0; step < 300; step++) {
                    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, still));
                    assert_ok(lm_world_step(world, FRAME));
                }
                for (int step = 0; step < 300; step++) assert_ok(lm_world_step(world, FRAME));
                check_plastic(world, body, 0.9);
                assert_at_most(deformation_from(world, body, held) / (SPACING * (counts[kind][0] - 1)), 0.02);
                lm_world_destroy(world);
                free(points);
            }
}

/* Two plates close in on the block until the gap is `gap` of its height, stay there, and open again. */
static void press_between_plates(block *b, double gap, double h)
{
    lm_mover_id movers[2];
    for (int k = 0; k < 2; k++) {
        double sign = k ? 1.0 : -1.0, closing = 0.5 * (1.0 - gap) * SIDE;
        lm_mover_def mover = lm_mover_def_default();
        mover.pose.position.y = sign * (0.5 * SIDE + 0.1);
        mover.velocity.y = (float)(-sign * closing);
        assert_ok(lm_mover_create(b->world, &mover, &movers[k]));
        lm_collider_def def = lm_collider_def_default();
        def.shape = LM_SHAPE_BOX;
        def.half_extents = (lm_vec3){1.0f, 0.1f, 1.0f};
        def.mover = movers[k];
        def.friction = 0.0f;
        lm_collider_id collider;
        assert_ok(lm_collider_create(b->world, &def, &collider));
    }
    run_for(b, 1.0, h);
    for (int k = 0; k < 2; k++)
        assert_ok(lm_mover_set_velocity(b->world, movers[k], (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0}));
    run_for(b, 3.0, h);
    for (int k = 0; k < 2; k++)
        assert_ok(lm_mover_set_velocity(b->world, movers[k], (lm_vec3){0, k ? 2.0f : -2.0f, 0}, (lm_vec3){0, 0, 0}));
}

static double height_of(const block *b)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(b->world, b->body, &info));
    return (info.upper.y - info.lower.y) / SIDE;
}

static void a_block_between_plates_keeps_its_shape(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (uint32_t clusters = 1; clusters <= 2; clusters++)
            for (int reach = 0; reach < 2; reach++) {
                double most = reach ? 0.2 : 0.5, gap = 0.7;
                lm_material material = plastic_material((lm_mode)mode);
                material.max_plastic = (float)most;
                block b = make_block(material, clusters);
                double volume = volume_of(&b);
                press_between_plates(&b, gap, FRAME);
                assert_at_most(height_of(&b), gap + 0.01);
                run_for(&b, 4.0, FRAME);
                double strain = check_plastic(b.world, b.body, most), lost = volume_of(&b) / volume - 1.0;
                double height = height_of(&b), expected = reach ? 1.0 - most : gap;
                /* It springs back by the elastic strain, at most the yield, unless the maximum was reached. */
                if (!(fabs(lost) <= 0.01) || !(fabs(height - expected) <= 0.02 + 0.02))
                    print_error("mode %d, %u clusters, max %g: height %g, strain %g, volume off by %g\n", mode,
                                clusters, most, height, strain, lost);
                assert_near(lost, 0.0, 0.01);
                assert_near(height, expected, 0.02 + 0.02);
                ref_vec settled[POINTS];
                body_state state = state_read(b.world, b.body, lm_dvec3_zero());
                memcpy(settled, state.x, sizeof settled);
                state_free(&state);
                run_for(&b, 10.0, FRAME);
                assert_at_most(deformation_from(b.world, b.body, settled) / SIDE, 0.02);
                free_block(&b);
            }
}

static void the_maximum_is_never_exceeded(void **context)
{
    (void)context;
    static const double limits[] = {0.0, 0.1, 0.3, 0.9};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int limit = 0; limit < 4; limit++) {
            lm_material material = plastic_material((lm_mode)mode);
            material.creep = 200.0f;
            material.max_plastic = (float)limits[limit];
            block b = make_block(material, 2);
            for (int step = 0; step < 60; step++) {
                put(&b, step < 30 ? pressed(0.3) : diagonal(4.0, 1.0, 0.5));
                assert_ok(lm_world_step(b.world, FRAME));
                check_plastic(b.world, b.body, limits[limit]);
            }
            run_for(&b, 1.0, FRAME);
            double strain = check_plastic(b.world, b.body, limits[limit]);
            if (limits[limit] < 0.5) assert_near(strain, limits[limit], 1e-4); /* reached */
            free_block(&b);
        }
}

static void below_the_yield_it_returns(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (uint32_t clusters = 1; clusters <= 2; clusters++)
            for (int never = 0; never < 2; never++) {
                lm_material material = plastic_material((lm_mode)mode);
                material.yield = never ? 0.0f : 0.1f;
                block b = make_block(material, clusters);
                hold(&b, pressed(never ? 0.6 : 0.92), 2.0, FRAME);
                ref_mat kept[8];
                read_plastic(b.world, b.body, b.regions, kept);
                for (uint32_t r = 0; r < b.regions; r++)
                    for (int k = 0; k < 9; k++) assert_true(kept[r].at[k / 3][k % 3] == (k % 4 == 0));
                run_for(&b, 6.0, FRAME);
                assert_at_most(deformation(b.world, b.body) / SIDE, 1e-4);
                read_plastic(b.world, b.body, b.regions, kept);
                for (uint32_t r = 0; r < b.regions; r++)
                    for (int k = 0; k < 9; k++) assert_true(kept[r].at[k / 3][k % 3] == (k % 4 == 0));
                free_block(&b);
            }
}

/* ---- the step does not matter ---- */

static void the_outcome_does_not_depend_on_the_step(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        /* Held for too short a time to flow all the way: the rate counts. */
        double strains[2], heights[2];
        for (int fine = 0; fine < 2; fine++) {
            double h = fine ? 1.0 / 240.0 : FRAME;
            lm_material material = plastic_material((lm_mode)mode);
            material.creep = 4.0f;
            block b = make_block(material, 1);
            hold(&b, pressed(0.7), 0.2, h);
            strains[fine] = check_plastic(b.world, b.body, 0.5);
            free_block(&b);
        }
        assert_true(strains[0] > 0.1 && strains[0] < 0.2);
        assert_near(strains[1], strains[0], 0.05 * strains[0]);
        /* Pressed all the way. */
        for (int fine = 0; fine < 2; fine++) {
            double h = fine ? 1.0 / 240.0 : FRAME;
            block b = make_block(plastic_material((lm_mode)mode), 2);
            press_between_plates(&b, 0.75, h);
            run_for(&b, 4.0, h);
            heights[fine] = height_of(&b);
            strains[fine] = check_plastic(b.world, b.body, 0.5);
            free_block(&b);
        }
        if (!(fabs(strains[1] - strains[0]) <= 0.05 * strains[0]) ||
            !(fabs(heights[1] - heights[0]) <= 0.05 * (1.0 - heights[0])))
            print_error("mode %d: strains %g and %g, heights %g and %g\n", mode, strains[0], strains[1], heights[0],
                        heights[1]);
        assert_near(strains[1], strains[0], 0.05 * strains[0]);
        assert_near(heights[1], heights[0], 0.05 * (1.0 - heights[0]));
    }
}

/* Substeps are steps. */
static void substeps_flow_as_steps_do(void **context)
{
    (void)context;
    ref_mat kept[2];
    for (int sub = 0; sub < 2; sub++) {
        block b = make_block(plastic_material(LM_MODE_LINEAR), 1);
        put(&b, pressed(0.6));
        if (sub) assert_ok(lm_world_set_substeps(b.world, 4));
        for (int step = 0; step < (sub ? 30 : 120); step++) assert_ok(lm_world_step(b.world, sub ? FRAME : FRAME / 4));
        read_plastic(b.world, b.body, 1, &kept[sub]);
        free_block(&b);
    }
    for (int k = 0; k < 9; k++) assert_near(kept[1].at[k / 3][k % 3], kept[0].at[k / 3][k % 3], 1e-4);
}

/* ---- what must not suffer ---- */

static void momentum_and_spin_are_kept_while_flowing(void **context)
{
    (void)context;
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
            random_state random = {(uint64_t)(kind * 10 + mode)};
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material = plastic_material((lm_mode)mode);
            s.def.material.damping_ratio = 0.05f;
            s.def.material.hertz = 3.0f; /* slow enough to flow before it swings back */
            lm_world *world = make_world(0.0);
            lm_body_id body = make_body(world, &s.def);
            ref_mat shape = ref_mat_mul(random_rotation(&random), diagonal(1.25, 0.8, 1.0));
            ref_vec spin = random_in_cube(&random, 3.0);
            lm_vec3 *x = calloc(s.count, sizeof *x), *v = calloc(s.count, sizeof *v);
            for (uint32_t i = 0; i < s.count; i++) {
                ref_vec at = ref_mat_vec(shape, to_double(s.points[i]));
                x[i] = to_float(at);
                v[i] = to_float(ref_add(ref_v(0.5, -1.0, 0.3), ref_cross(spin, at)));
            }
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, v));
            motion start = motion_read(world, body, lm_dvec3_zero());
            double linear = 0.0, angular = 0.0;
            for (int step = 0; step < 600; step++) {
                assert_ok(lm_world_step(world, FRAME));
                if (step % 50 != 0) continue;
                lm_body_info info;
                assert_ok(lm_body_get_info(world, body, &info));
                motion now = motion_read(world, body, info.centre);
                linear = fmax(linear, ref_length(ref_sub(now.momentum, start.momentum)) / start.momentum_scale);
                angular = fmax(angular, ref_length(ref_sub(now.angular, start.angular)) / start.angular_scale);
            }
            double flowed = check_plastic(world, body, 0.5);
            if (!(linear <= 1e-4) || !(angular <= 1e-4) || !(flowed > 0.01))
                print_error("%s, mode %d: momentum drifts by %g, spin by %g, flowed %g\n",
                            sample_name((sample_kind)kind), mode, linear, angular, flowed);
            assert_true(flowed > 0.01);
            worst_linear = fmax(worst_linear, linear);
            worst_angular = fmax(worst_angular, angular);
            free(x);
            free(v);
            lm_world_destroy(world);
            sample_free(&s);
        }
    print_message("momentum drifts by at most %.3g, spin by %.3g\n", worst_linear, worst_angular);
    assert_at_most(worst_linear, 1e-4);
    assert_at_most(worst_angular, 1e-4);
}

static void a_snapshot_in_the_middle_changes_nothing(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        block b = make_block(plastic_material((lm_mode)mode), 2);
        put(&b, pressed(0.6));
        uint64_t fresh = lm_world_hash(b.world);
        for (int step = 0; step < 4; step++) assert_ok(lm_world_step(b.world, FRAME));
        double halfway = check_plastic(b.world, b.body, 0.5);
        assert_true(halfway > 0.02);
        size_t size = lm_world_save_size(b.world);
        void *buffer = malloc(size);
        assert_ok(lm_world_save(b.world, buffer, size));
        uint64_t saved = lm_world_hash(b.world);
        assert_true(saved != fresh);
        ref_mat middle[8], loaded[8], first[8], second[8];
        read_plastic(b.world, b.body, b.regions, middle);
        for (int step = 0; step < 30; step++) assert_ok(lm_world_step(b.world, FRAME));
        uint64_t end = lm_world_hash(b.world);
        read_plastic(b.world, b.body, b.regions, first);
        assert_memory_not_equal(first, middle, b.regions * sizeof *first);

        lm_world *other = make_world(0.0);
        for (int round = 0; round < 2; round++) {
            lm_world *world = round ? other : b.world;
            assert_ok(lm_world_load(world, buffer, size));
            assert_true(lm_world_hash(world) == saved);
            read_plastic(world, b.body, b.regions, loaded);
            assert_memory_equal(loaded, middle, b.regions * sizeof *loaded);
            for (int step = 0; step < 30; step++) assert_ok(lm_world_step(world, FRAME));
            assert_true(lm_world_hash(world) == end);
            read_plastic(world, b.body, b.regions, second);
            assert_memory_equal(first, second, b.regions * sizeof *first);
        }
        lm_world_destroy(other);
        free(buffer);
        free_block(&b);
    }
}

/* A snapshot made by hand may hold any plastic matrix behind a checksum that fits: refused, or a world that stays finite. */
static void a_made_up_plastic_matrix_does_no_harm(void **context)
{
    (void)context;
    static const float made_up[] = {0.0f, -0.0f, -1.0f, 1e-30f, 3.0f, -50.0f, 99.0f, 1e9f, (float)NAN, (float)INFINITY};
    uint32_t tried = 0, refused = 0;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        block b = make_block(plastic_material((lm_mode)mode), 1);
        hold(&b, ref_mat_mul(ref_rotation(ref_v(0.3, 0.2, 0.1)), pressed(0.7)), 0.5, FRAME);
        size_t size = lm_world_save_size(b.world);
        uint8_t *bytes = malloc(size), *copy = malloc(size);
        assert_ok(lm_world_save(b.world, bytes, size));
        float matrix[9];
        assert_ok(lm_body_get_plastic(b.world, b.body, matrix));
        lm_world *world = make_world(0.0);
        for (int entry = 0; entry < 9; entry++)
            for (size_t at = 0; at + 4 <= size; at++) {
                if (memcmp(bytes + at, &matrix[entry], 4) != 0) continue;
                for (size_t k = 0; k < sizeof made_up / sizeof *made_up; k++) {
                    memcpy(copy, bytes, size);
                    memcpy(copy + at, &made_up[k], 4);
                    lmi_snapshot_seal(copy, size);
                    tried++;
                    lm_result result = lm_world_load(world, copy, size);
                    if (result != LM_OK) {
                        assert_result(result, LM_ERROR_FORMAT);
                        refused++;
                        continue;
                    }
                    for (int step = 0; step < 60; step++) assert_ok(lm_world_step(world, FRAME));
                    lm_totals totals;
                    lm_world_get_totals(world, &totals);
                    if (!totals.finite) print_error("mode %d, entry %d is %g\n", mode, entry, (double)made_up[k]);
                    assert_true(totals.finite);
                }
            }
        lm_world_destroy(world);
        free(bytes);
        free(copy);
        free_block(&b);
    }
    assert_true(tried >= 3 * 6 * 10);
    assert_true(refused > 0);
}

static void reset_forgets(void **context)
{
    (void)context;
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        block b = make_block(plastic_material((lm_mode)mode), 2);
        hold(&b, pressed(0.7), 1.0, FRAME);
        run_for(&b, 2.0, FRAME);
        assert_true(check_plastic(b.world, b.body, 0.5) > 0.2);
        /* Without a yield nothing flows any more, and nothing is forgotten either. */
        lm_material material = plastic_material((lm_mode)mode);
        material.yield = 0.0f;
        ref_mat kept[8], still[8];
        read_plastic(b.world, b.body, b.regions, kept);
        assert_ok(lm_body_set_material(b.world, b.body, &material));
        run_for(&b, 3.0, FRAME);
        read_plastic(b.world, b.body, b.regions, still);
        assert_memory_equal(kept, still, b.regions * sizeof *kept);
        assert_at_most(off_from(&b, pressed(0.7)), 0.03);

        uint64_t hash = lm_world_hash(b.world);
        assert_ok(lm_body_reset_plastic(b.world, b.body));
        assert_true(lm_world_hash(b.world) != hash);
        read_plastic(b.world, b.body, b.regions, kept);
        for (uint32_t r = 0; r < b.regions; r++)
            for (int k = 0; k < 9; k++) assert_true(kept[r].at[k / 3][k % 3] == (k % 4 == 0));
        run_for(&b, 6.0, FRAME);
        assert_at_most(deformation(b.world, b.body) / SIDE, 1e-3);
        free_block(&b);
    }
}

/* Every body, inside out, collapsed, blown up: finite, and the plastic matrices within their limits. */
static void mangled_plastic_bodies_stay_finite(void **context)
{
    (void)context;
    enum { MANGLED = 7 };
    for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++)
        for (int mode = 0; mode < LM_MODE_COUNT; mode++)
            for (int how = 0; how < MANGLED; how++) {
                random_state random = {(uint64_t)(kind * 100 + mode * 10 + how)};
                sample s = sample_make((sample_kind)kind, &random);
                s.def.material = plastic_material((lm_mode)mode);
                s.def.material.max_plastic = 0.9f;
                s.def.material.creep = 100.0f;
                lm_world *world = make_world(0.0);
                lm_body_id body = make_body(world, &s.def);
                lm_vec3 *x = calloc(s.count, sizeof *x);
                for (uint32_t i = 0; i < s.count; i++) {
                    ref_vec a = to_double(s.points[i]), r = random_in_cube(&random, 1.0);
                    ref_vec to[MANGLED] = {{a.x, 0, a.z},      {a.x, 0, 0}, {0, 0, 0},
                                           {-a.x, a.y, a.z},   r,           {1e6 * r.x, 1e6 * r.y, 1e6 * r.z},
                                           {1e-20 * r.x, 0, 0}};
                    x[i] = to_float(to[how]);
                }
                assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
                for (int step = 0; step < 200; step++) {
                    assert_ok(lm_world_step(world, FRAME));
                    if (step % 20 == 0) check_plastic(world, body, 0.9);
                }
                motion m = motion_read(world, body, lm_dvec3_zero());
                if (!m.finite) print_error("%s, mode %d, mangled %d\n", sample_name((sample_kind)kind), mode, how);
                assert_true(m.finite);
                free(x);
                lm_world_destroy(world);
                sample_free(&s);
            }
}

static void bad_values_are_refused(void **context)
{
    (void)context;
    static const float bad[][3] = {
        {-0.1f, 5.0f, 0.5f},      {(float)NAN, 5.0f, 0.5f}, {(float)INFINITY, 5.0f, 0.5f}, {0.1f, -1.0f, 0.5f},
        {0.1f, (float)NAN, 0.5f}, {0.1f, 5.0f, -0.1f},      {0.1f, 5.0f, 0.91f},           {0.1f, 5.0f, (float)NAN},
    };
    block b = make_block(plastic_material(LM_MODE_RIGID), 1);
    lm_material before, after;
    assert_ok(lm_body_get_material(b.world, b.body, &before));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        lm_material material = before;
        material.yield = bad[k][0];
        material.creep = bad[k][1];
        material.max_plastic = bad[k][2];
        assert_result(lm_body_set_material(b.world, b.body, &material), LM_ERROR_ARGUMENT);
        assert_ok(lm_body_get_material(b.world, b.body, &after));
        assert_memory_equal(&after, &before, sizeof after);
    }
    lm_body_id none = {0};
    float matrices[9];
    assert_result(lm_body_get_plastic(b.world, none, matrices), LM_ERROR_ID);
    assert_result(lm_body_reset_plastic(b.world, none), LM_ERROR_ID);
    lm_material plain = lm_material_default();
    assert_true(plain.yield == 0.0f && plain.creep == 5.0f && plain.max_plastic == 0.5f);
    free_block(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_shape_is_kept),
        cmocka_unit_test(the_kept_shape_is_the_plastic_one),
        cmocka_unit_test(sheets_and_strings_keep_theirs),
        cmocka_unit_test(a_block_between_plates_keeps_its_shape),
        cmocka_unit_test(the_maximum_is_never_exceeded),
        cmocka_unit_test(below_the_yield_it_returns),
        cmocka_unit_test(the_outcome_does_not_depend_on_the_step),
        cmocka_unit_test(substeps_flow_as_steps_do),
        cmocka_unit_test(momentum_and_spin_are_kept_while_flowing),
        cmocka_unit_test(a_snapshot_in_the_middle_changes_nothing),
        cmocka_unit_test(a_made_up_plastic_matrix_does_no_harm),
        cmocka_unit_test(reset_forgets),
        cmocka_unit_test(mangled_plastic_bodies_stay_finite),
        cmocka_unit_test(bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
