/*
 * Octree bodies through the public header: what they are made of, what is refused, and that they keep what any body keeps.
 */
#include "limber/shapes.h"
#include "test/reference/reference.h"
#include "test/support/boxes.h"
#include "test/world/mangle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thick block with two thin fingers on it. `gap`: between the fingers. */
static boxes block_with_fingers(float gap)
{
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.8f, -0.8f, -0.4f}, (lm_vec3){0.8f, 0.0f, 0.4f});
    boxes_add(&b, (lm_vec3){-0.4f - 0.5f * gap, -0.1f, -0.2f}, (lm_vec3){-0.5f * gap, 1.6f, 0.2f});
    boxes_add(&b, (lm_vec3){0.5f * gap, -0.1f, -0.2f}, (lm_vec3){0.4f + 0.5f * gap, 1.6f, 0.2f});
    return b;
}

static lm_body_def fingers_def(boxes *b, float gap)
{
    *b = block_with_fingers(gap);
    lm_body_def def = boxes_octree(b, 0.1f, 3, 0.4f);
    def.mass = 3.0f;
    def.material.mode = LM_MODE_RIGID;
    return def;
}

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* ---- sampling ---- */

static void thin_parts_have_small_cells(void **context)
{
    (void)context;
    boxes b;
    lm_world *world = make_world(0.0);
    lm_body_def def = fingers_def(&b, 0.2f);
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    float *sides = calloc(info.particles, sizeof *sides), *masses = calloc(info.particles, sizeof *masses);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    assert_ok(lm_body_get_cells(world, body, sides));
    assert_ok(lm_body_get_masses(world, body, masses));
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    double mass = 0.0, fingers = 0.0, block = 0.0, height = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) {
        mass += (double)masses[n];
        height += (double)masses[n] * (double)rest[n].y;
        if (rest[n].y > 0.2f) fingers = fmax(fingers, (double)sides[n]);
        if (rest[n].y < -0.2f) block = fmax(block, (double)sides[n]);
    }
    assert_near(mass, 3.0, 1e-5);
    assert_near(fingers, 0.2, 1e-6); /* two cells across 0.4 m */
    assert_true(block > 0.3);
    assert_true(info.octree_nodes > info.particles);
    /* The middle of the solid: 1.024 m³ around -0.4 and twice 0.256 m³ from 0 to 1.6. */
    assert_near(height / mass, (1.024 * -0.4 + 0.512 * 0.8) / 1.536, 0.02);
    print_message("%u particles of %u nodes, %.1f summation nodes a region\n", info.particles, info.octree_nodes,
                  (double)info.summation_nodes / info.particles);
    free(sides);
    free(masses);
    free(rest);
    lm_world_destroy(world);
}

static void the_number_of_particles_can_be_asked_for(void **context)
{
    (void)context;
    lm_shape_mesh mesh;
    lm_shape_def hand = lm_shape_def_default();
    hand.name = "hand";
    hand.size = lm_shape_natural_size("hand");
    hand.detail = 48;
    assert_ok(lm_shape_make_mesh(&hand, &mesh));
    uint32_t last = 0;
    for (uint32_t wanted = 200; wanted <= 1600; wanted *= 2) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        def.octree.vertices = mesh.vertices;
        def.octree.vertex_count = mesh.vertex_count;
        def.octree.triangles = mesh.triangles;
        def.octree.triangle_count = mesh.triangle_count;
        def.octree.particles = wanted;
        def.octree.levels = 4;
        lm_body_info info = info_of(world, make_body(world, &def));
        assert_true(info.particles > last);
        if (info.particles < wanted * 9 / 10 || info.particles > wanted * 11 / 10)
            fail_msg("%u particles in place of %u", info.particles, wanted);
        last = info.particles;
        lm_world_destroy(world);
    }
    lm_shape_mesh_free(&mesh);
}

static void sizes_and_shells(void **context)
{
    (void)context;
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.8f, -0.8f, -0.8f}, (lm_vec3){0.8f, 0.8f, 0.8f});
    float sizes[8];
    for (int n = 0; n < 8; n++) sizes[n] = n & 1 ? 0.1f : 0.8f; /* fine where x > 0 */
    lm_body_def def = boxes_octree(&b, 0.1f, 3, 0.0f);
    def.octree.detail = 0.0f;
    lm_world *world = make_world(0.0);
    assert_int_equal(info_of(world, make_body(world, &def)).particles, 8);
    def.octree.vertex_sizes = sizes;
    assert_int_equal(info_of(world, make_body(world, &def)).particles, 4 + 4 * 512);
    def.octree.vertex_sizes = NULL;
    def.octree.levels = 0;
    assert_int_equal(info_of(world, make_body(world, &def)).particles, 16 * 16 * 16);
    def.octree.shell = true;
    assert_int_equal(info_of(world, make_body(world, &def)).particles, 16 * 16 * 16 - 14 * 14 * 14);
    lm_world_destroy(world);
}

/* Parts that touch are apart, at every width; parts that overlap are one. */
static void fingers_that_touch_are_not_linked(void **context)
{
    (void)context;
    static const float gaps[] = {0.0f, 0.02f, 0.07f, 0.13f, 0.25f, -0.15f};
    for (int k = 0; k < 6; k++) {
        boxes b;
        lm_world *world = make_world(0.0);
        lm_body_def def = fingers_def(&b, gaps[k]);
        lm_body_id body = make_body(world, &def);
        lm_body_info info = info_of(world, body);
        uint32_t *offsets = calloc(info.regions + 1u, sizeof *offsets),
                 *members = calloc(info.memberships, sizeof *members);
        lm_vec3 *rest = calloc(info.particles, sizeof *rest);
        assert_ok(lm_body_get_regions(world, body, offsets, members));
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        uint32_t across = 0;
        for (uint32_t r = 0; r < info.regions; r++)
            for (uint32_t n = offsets[r]; n < offsets[r + 1]; n++) {
                lm_vec3 p = rest[r],
                        q = rest[members[n]]; /* up in the fingers, where no way through the block is short */
                across += p.y > 0.9f && q.y > 0.9f && p.x * q.x < 0.0f;
            }
        if (gaps[k] >= 0.0f) assert_int_equal(across, 0);
        if (gaps[k] < 0.0f) assert_true(across > 0);
        free(offsets);
        free(members);
        free(rest);
        lm_world_destroy(world);
    }
}

/* One finger is pushed aside: the other one, which touches it, stays where it is, and so does its skin. */
static void a_finger_moves_by_itself(void **context)
{
    (void)context;
    boxes b;
    lm_world *world = make_world(0.0);
    lm_body_def def = fingers_def(&b, 0.02f);
    def.material.hertz = 10.0f;
    def.material.damping_ratio = 0.05f;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = b.vertices;
    skin.vertex_count = 8 * b.count;
    skin.triangles = b.triangles;
    skin.triangle_count = 12 * b.count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest), *now = calloc(info.particles, sizeof *now);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    lm_pin_def pin = lm_pin_def_default();
    uint32_t *held = calloc(info.particles, sizeof *held);
    for (uint32_t n = 0; n < info.particles; n++)
        if (rest[n].y < 0.0f) held[pin.particle_count++] = n; /* all of the block */
    pin.body = body;
    pin.particles = held;
    lm_pin_id id;
    assert_ok(lm_pin_create(world, &pin, &id));
    for (int step = 0; step < 600; step++) {
        for (uint32_t n = 0; n < info.particles; n++)
            if (rest[n].x < 0.0f && rest[n].y > 1.3f)
                assert_ok(lm_body_add_particle_force(world, body, n, (lm_vec3){-0.2f, 0.0f, 0.0f}));
        assert_ok(lm_world_step(world, FRAME));
    }
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    double pushed = 0.0, still = 0.0;
    for (uint32_t n = 0; n < info.particles; n++) {
        double way = ref_length(ref_sub(to_double(now[n]), to_double(rest[n])));
        if (rest[n].y > 1.3f) *(rest[n].x < 0.0f ? &pushed : &still) = fmax(rest[n].x < 0.0f ? pushed : still, way);
    }
    lm_vec3 *surface = calloc(8 * b.count, sizeof *surface);
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), surface, NULL));
    double skin_still = 0.0, skin_pushed = 0.0;
    for (uint32_t n = 0; n < 16; n++) { /* the upper vertices of the two fingers */
        double way = ref_length(ref_sub(to_double(surface[8 + n]), to_double(b.vertices[8 + n])));
        if (n % 8 & 2) *(n < 8 ? &skin_pushed : &skin_still) = fmax(n < 8 ? skin_pushed : skin_still, way);
    }
    print_message("pushed %.3g m, its neighbour %.3g m; on the skin %.3g and %.3g\n", pushed, still, skin_pushed,
                  skin_still);
    assert_true(pushed > 0.1);
    assert_at_most(still, 0.05 * pushed);
    assert_at_most(skin_still, 0.06 * pushed);
    assert_near(skin_pushed, pushed, 0.3 * pushed);
    free(rest);
    free(now);
    free(held);
    free(surface);
    lm_world_destroy(world);
}

/* ---- what is refused ---- */

typedef struct last_line {
    lm_result result;
    char text[256];
} last_line;

static void keep_line(lm_result result, const char *line, void *user)
{
    last_line *last = user;
    last->result = result;
    snprintf(last->text, sizeof last->text, "%s", line);
}

static void what_is_wrong_is_said(void **context)
{
    (void)context;
    last_line last;
    lm_world_def world_def = lm_world_def_default();
    world_def.log = (lm_log){keep_line, &last};
    lm_world *world;
    assert_ok(lm_world_create(&world_def, &world));
    boxes b;
    const lm_vec3 point = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 13; k++) {
        static const char *const words[] = {
            "levels",  "detail", "slack",  "width",     "vertices and triangles", "not several",
            "spacing", "sizes",  "widths", "quadratic", "vertices and triangles", "mass",
            "area"};
        lm_body_def def = fingers_def(&b, 0.2f);
        float bad[24];
        for (int n = 0; n < 24; n++) bad[n] = NAN;
        lm_body_id body;
        if (k == 0) def.octree.levels = 9;
        if (k == 1) def.octree.detail = -1.0f;
        if (k == 2) def.octree.slack = NAN;
        if (k == 3) def.octree.width = -0.1f;
        if (k == 4) def.octree.triangle_count = 0;
        if (k == 5) def.points = &point, def.point_count = 1;
        if (k == 6) def.octree.spacing = INFINITY;
        if (k == 7) def.octree.vertex_sizes = bad;
        if (k == 8) def.octree.vertex_widths = bad;
        if (k == 9) def.material.mode = LM_MODE_QUADRATIC;
        if (k == 10) def.octree.vertex_count = 0;
        if (k == 11) def.mass = 0.0f;
        if (k == 12) memset(b.vertices, 0, sizeof b.vertices); /* no face has an area */
        assert_result(lm_body_create(world, &def, &body), LM_ERROR_ARGUMENT);
        if (!strstr(last.text, k == 9 ? "rigid or linear" : words[k])) fail_msg("case %d says: %s", k, last.text);
    }
    lm_body_def fine = fingers_def(&b, 0.2f);
    fine.octree.spacing = 1e-5f;
    lm_body_id body;
    assert_result(lm_body_create(world, &fine, &body), LM_ERROR_LIMIT);
    lm_body_def def = fingers_def(&b, 0.2f);
    body = make_body(world, &def);
    float share;
    assert_result(lm_body_get_slowest_mode(world, body, &share), LM_ERROR_ARGUMENT);
    lm_world_destroy(world);
}

/* Open, flat, broken: one triangle, two that cross, a box without a lid, all faces the wrong way round, one voxel. */
static void any_soup_will_do(void **context)
{
    (void)context;
    const lm_vec3 vertices[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3f, 0.3f, -1}, {0.3f, 0.4f, 1}, {0.9f, 0.3f, 0}};
    const uint32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    boxes b = block_with_fingers(0.1f);
    for (int k = 0; k < 6; k++) {
        lm_world *world = make_world(-9.81);
        lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.3f);
        if (k < 2) {
            def.octree.vertices = vertices;
            def.octree.vertex_count = 6;
            def.octree.triangles = triangles;
            def.octree.triangle_count = k == 0 ? 1 : 2;
        }
        if (k == 2) def.octree.triangle_count = 10;
        if (k == 3) {
            for (uint32_t n = 0; n < 36 * b.count; n += 3) {
                uint32_t corner = b.triangles[n];
                b.triangles[n] = b.triangles[n + 1];
                b.triangles[n + 1] = corner;
            }
        }
        if (k == 4) def.octree.spacing = 100.0f;
        if (k == 5) def.octree.spacing = 0.0f;
        lm_body_id body = make_body(world, &def);
        steps(world, 30);
        motion now = motion_read(world, body, body_centre(world, body));
        assert_true(now.finite && now.mass > 0.99);
        assert_at_most(deformation(world, body), 0.02);
        lm_world_destroy(world);
    }
}

/* ---- what any body keeps ---- */

static void momentum_and_spin_are_kept(void **context)
{
    (void)context;
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int run = 0; run < 12; run++) { /* free, damped, damped region by region */
        random_state random = {(uint64_t)(50 + run)};
        boxes b;
        lm_body_def def = fingers_def(&b, 0.2f);
        def.octree.width = run % 2 ? 0.2f : 0.8f;
        def.material.mode = run / 2 % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.material.hertz = 5.0f;
        def.material.beta = 0.8f;
        def.material.damping_ratio = run / 4 ? 0.2f : 0.0f;
        def.material.damping_kind = run / 4 == 2 ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        excite(world, body, &random, 0.02, 0.3, 3.0);
        motion start = motion_read(world, body, body_centre(world, body));
        for (int step = 1; step <= 600; step++) {
            assert_ok(lm_world_step(world, FRAME));
            if (step % 100 != 0) continue;
            motion now = motion_read(world, body, body_centre(world, body));
            worst_linear = fmax(worst_linear, ref_length(ref_sub(now.momentum, start.momentum)) / start.momentum_scale);
            worst_angular =
                fmax(worst_angular, ref_length(ref_sub(now.angular, start.angular)) / ref_length(start.angular));
        }
        lm_world_destroy(world);
    }
    print_message("momentum drifts by at most %.3g, spin by %.3g\n", worst_linear, worst_angular);
    assert_at_most(worst_linear, 1e-5);
    assert_at_most(worst_angular, 1e-4);
}

/* Without the library's correction of drift nothing may be left for it to correct but rounding: pulls weighted by mass add up
 * to nothing though cells and widths vary. Measured on one match through the reference, whose sums are exact. */
static void the_step_is_that_of_the_reference(void **context)
{
    (void)context;
    double worst = 0.0;
    for (int run = 0; run < 12; run++) {
        random_state random = {(uint64_t)(300 + run)};
        boxes b;
        lm_body_def def = fingers_def(&b, 0.2f);
        def.octree.spacing = 0.2f;
        def.octree.levels = 2;
        def.octree.width = run % 3 == 0 ? 0.2f : run % 3 == 1 ? 0.5f : 0.9f;
        def.material.mode = run % 2 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.material.hertz = 4.0f;
        def.material.damping_ratio = 0.1f;
        def.material.yield = run % 4 == 3 ? 0.05f : 0.0f;
        lm_world *world = make_world(-9.81);
        lm_body_id body = make_body(world, &def);
        lm_body_info info = info_of(world, body);
        if (run % 5 == 0) {
            float *values = calloc(info.particles, sizeof *values);
            for (uint32_t n = 0; n < info.particles; n++) values[n] = (float)random_range(&random, 0.2, 1.0);
            assert_ok(lm_body_set_particle_stiffness(world, body, values));
            free(values);
        }
        uint32_t held[3] = {0, info.particles / 2, info.particles - 1};
        if (run >= 6) {
            lm_pin_def pin = lm_pin_def_default();
            pin.body = body;
            pin.particles = held;
            pin.particle_count = 3;
            lm_pin_id id;
            assert_ok(lm_pin_create(world, &pin, &id));
        }
        if (run < 6) randomise_state(world, body, &random, 0.05, 0.5);
        ref_body *reference = ref_body_copy(world, body, 0.0);
        for (int k = 0; run >= 6 && k < 3; k++) {
            reference->pinned[held[k]] = true;
            reference->target[held[k]] = reference->x[held[k]];
            reference->target_frame[held[k]] = -1;
        }
        for (int step = 0; step < 20; step++) {
            assert_ok(lm_world_step(world, FRAME));
            ref_body_step(reference, FRAME);
        }
        lm_vec3 *now = calloc(info.particles, sizeof *now);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
        double off = 0.0;
        for (uint32_t n = 0; n < info.particles; n++)
            off = fmax(off, ref_length(ref_sub(to_double(now[n]), reference->x[n])));
        if (reference->margin > 1.0) worst = fmax(worst, off);
        free(now);
        ref_body_free(reference);
        lm_world_destroy(world);
    }
    print_message("after 20 steps particles are %.2g m from where they ought to be\n", worst);
    assert_at_most(worst, 2e-4);
}

/* One that is cut into pieces, too. */
static void a_large_step_is_that_of_the_reference(void **context)
{
    (void)context;
    random_state random = {7};
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-1.1f, -1.1f, -1.1f}, (lm_vec3){1.1f, 1.1f, 1.1f});
    lm_body_def def = boxes_octree(&b, 0.1f, 1, 0.1f);
    def.octree.detail = 100.0f;
    def.material.mode = LM_MODE_RIGID;
    lm_world *world = make_world(-9.81);
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.particles, 22 * 22 * 22);
    randomise_state(world, body, &random, 0.01, 0.1);
    ref_body *reference = ref_body_copy(world, body, 0.0);
    assert_ok(lm_world_step(world, FRAME));
    ref_body_step(reference, FRAME);
    lm_vec3 *now = calloc(info.particles, sizeof *now);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    double off = 0.0;
    for (uint32_t n = 0; n < info.particles; n++)
        off = fmax(off, ref_length(ref_sub(to_double(now[n]), reference->x[n])));
    assert_at_most(off, 1e-5);
    free(now);
    ref_body_free(reference);
    lm_world_destroy(world);
}

static void mangled_bodies_come_back(void **context)
{
    (void)context;
    for (int kind = 0; kind < MANGLED_COUNT; kind++) {
        random_state random = {(uint64_t)(70 + kind)};
        boxes b;
        lm_body_def def = fingers_def(&b, 0.2f);
        def.octree.spacing = 0.2f;
        def.octree.width = 1.2f;
        def.material.stiffness = LM_STIFFNESS_ALPHA;
        def.material.alpha = 1.0f;
        def.material.damping = 30.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        body_state state = state_read(world, body, lm_dvec3_zero());
        lm_vec3 *x = calloc(state.count, sizeof *x);
        for (uint32_t n = 0; n < state.count; n++) {
            ref_vec anywhere = random_in_cube(&random, 1.0);
            x[n] = to_float(mangled((mangled_kind)kind, state.x[n], anywhere));
        }
        assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
        double left = INFINITY;
        for (int step = 0; step < 6000 && left > 0.02; step += 100) {
            for (int n = 0; n < 100; n++) assert_ok(lm_world_step(world, FRAME));
            left = deformation(world, body);
            assert_true(isfinite(left));
        }
        if (left > 0.02) fail_msg("%s: %.3g m are left", mangled_names[kind], left);
        free(x);
        state_free(&state);
        lm_world_destroy(world);
    }
}

/* The same bits over threads and instruction sets, for bodies that share a batch and for one that is cut into pieces. */
static uint64_t hash_after(lm_isa isa, uint32_t workers, bool large)
{
    boxes b;
    lm_world *world = make_world_with(-9.81, isa, workers);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &floor, &id));
    for (int n = 0; n < (large ? 1 : 3); n++) {
        lm_body_def def = fingers_def(&b, 0.1f * (float)n);
        def.octree.spacing = large ? 0.05f : 0.1f;
        def.octree.detail = large ? 9.0f : 2.0f;
        def.octree.width = large ? 0.1f : 0.4f;
        def.material.mode = n ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.material.damping_kind = n == 1 || large ? LM_DAMPING_REGIONAL : LM_DAMPING_GLOBAL;
        def.pose.position = (lm_dvec3){3.0 * n, 1.0, 0.0};
        lm_body_id body = make_body(world, &def);
        if (large) assert_true(info_of(world, body).particles > 8192);
    }
    steps(world, large ? 4 : 30);
    uint64_t hash = lm_world_hash(world);
    lm_world_destroy(world);
    return hash;
}

static void results_do_not_depend_on_the_machine(void **context)
{
    (void)context;
    for (int large = 0; large < 2; large++) {
        uint64_t first = hash_after(LM_ISA_SCALAR, 1, large);
        for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++)
            if (lm_isa_supported((lm_isa)isa))
                assert_true(hash_after((lm_isa)isa, isa == LM_ISA_SSE2 ? 1 : 3, large) == first);
    }
}

static void snapshots_bring_octrees_back(void **context)
{
    (void)context;
    random_state random = {5};
    boxes b;
    lm_world *world = make_world(-9.81);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    assert_ok(lm_collider_create(world, &floor, &id));
    lm_body_def def = fingers_def(&b, 0.02f);
    def.material.yield = 0.02f;
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    float *widths = calloc(info.particles, sizeof *widths);
    for (uint32_t n = 0; n < info.particles; n++) widths[n] = (float)random_range(&random, 0.1, 0.7);
    assert_ok(lm_body_set_widths(world, body, widths));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = b.vertices;
    skin.vertex_count = 8 * b.count;
    skin.triangles = b.triangles;
    skin.triangle_count = 12 * b.count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    randomise_state(world, body, &random, 0.05, 0.5);
    steps(world, 10);
    assert_reloads(world, 20);
    free(widths);
    lm_world_destroy(world);
}

/* Ripples die away, and a spinning body that has none goes on spinning. */
static void regional_damping_stills_ripples(void **context)
{
    (void)context;
    double ripples[2], spin = 0.0;
    for (int run = 0; run < 3; run++) {
        random_state random = {9};
        boxes b;
        lm_body_def def = fingers_def(&b, 0.2f);
        def.material.hertz = 5.0f;
        def.material.damping_ratio = run ? 0.5f : 0.0f;
        def.material.damping_kind = LM_DAMPING_REGIONAL;
        def.spin = run == 2 ? (lm_vec3){0.0f, 0.4f, 0.0f} : (lm_vec3){0.0f, 0.0f, 0.0f};
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        if (run < 2) excite(world, body, &random, 0.02, 0.3, 0.0);
        motion before = motion_read(world, body, body_centre(world, body));
        steps(world, 60);
        motion after = motion_read(world, body, body_centre(world, body));
        if (run < 2) ripples[run] = after.kinetic - 0.5 * ref_dot(after.momentum, after.momentum) / after.mass;
        if (run == 2) spin = after.kinetic / before.kinetic;
        lm_world_destroy(world);
    }
    print_message("%.3g J of ripples are left, %.3g with damping; of a spin %.5g\n", ripples[0], ripples[1], spin);
    assert_true(ripples[1] < 0.1 * ripples[0]);
    assert_near(spin, 1.0, 0.02);
}

/* ---- widths, plasticity, contacts ---- */

/* A bar that is held at one end hangs less, the wider its regions are. */
static double sag(float width, float half)
{
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-1.6f, -0.2f, -0.2f}, (lm_vec3){1.6f, 0.2f, 0.2f});
    lm_body_def def = boxes_octree(&b, 0.1f, 3, width);
    def.material.mode = LM_MODE_RIGID;
    def.material.hertz = 8.0f;
    def.material.damping_ratio = 1.0f;
    lm_world *world = make_world(-0.5);
    lm_body_id body = make_body(world, &def);
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = calloc(info.particles, sizeof *rest);
    float *widths = calloc(info.particles, sizeof *widths);
    uint32_t *held = calloc(info.particles, sizeof *held), tip = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    lm_pin_def pin = lm_pin_def_default();
    for (uint32_t n = 0; n < info.particles; n++) {
        if (rest[n].x < -1.3f) held[pin.particle_count++] = n;
        if (rest[n].x > rest[tip].x) tip = n;
        widths[n] = rest[n].x < 0.0f ? half : width;
    }
    pin.body = body;
    pin.particles = held;
    lm_pin_id id;
    assert_ok(lm_pin_create(world, &pin, &id));
    if (half > 0.0f) assert_ok(lm_body_set_widths(world, body, widths));
    steps(world, 600);
    lm_vec3 *now = calloc(info.particles, sizeof *now);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    double down = (double)(rest[tip].y - now[tip].y);
    free(rest);
    free(widths);
    free(held);
    free(now);
    lm_world_destroy(world);
    return down;
}

static void wide_regions_are_stiff(void **context)
{
    (void)context;
    double narrow = sag(0.2f, 0.0f), middle = sag(0.4f, 0.0f), wide = sag(0.8f, 0.0f), half = sag(0.2f, 0.8f);
    print_message("sags %.3f m with 0.2 m, %.3f with 0.4, %.3f with 0.8; %.3f where one half is wide\n", narrow, middle,
                  wide, half);
    assert_true(middle < 0.6 * narrow && wide < 0.6 * middle);
    assert_true(half < 0.8 * narrow && half > wide);
}

static void what_is_bent_far_stays_bent(void **context)
{
    (void)context;
    double left[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        boxes b;
        lm_body_def def = fingers_def(&b, 0.2f);
        def.material.yield = plastic ? 0.02f : 0.0f;
        def.material.creep = 20.0f;
        def.material.damping_ratio = 1.0f;
        lm_world *world = make_world(0.0);
        lm_body_id body = make_body(world, &def);
        body_state state = state_read(world, body, lm_dvec3_zero());
        lm_vec3 *x = calloc(state.count, sizeof *x);
        for (int hold = 0; hold < 30; hold++) { /* held bent, a parabola up along the fingers */
            for (uint32_t n = 0; n < state.count; n++) {
                double up = fmax(state.x[n].y + 0.2, 0.0);
                x[n] = to_float(ref_add(state.x[n], ref_v(0.15 * up * up, 0.0, 0.0)));
            }
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
            assert_ok(lm_world_step(world, FRAME));
        }
        steps(world, 600);
        left[plastic] = deformation(world, body);
        free(x);
        state_free(&state);
        lm_world_destroy(world);
    }
    print_message("%.3g m are left, %.3g m of a body that flows\n", left[0], left[1]);
    assert_at_most(left[0], 0.02);
    assert_true(left[1] > 0.06);
}

/* A block lies on the floor with its surface there, not its particles: touching with points on it, or with particles that keep
 * their distance. */
static void bodies_lie_on_their_surface(void **context)
{
    (void)context;
    for (lm_contact_points how = LM_CONTACT_AUTO; how <= LM_CONTACT_PARTICLES; how++) {
        boxes b = {.count = 0};
        boxes_add(&b, (lm_vec3){-0.8f, -0.4f, -0.8f}, (lm_vec3){0.8f, 0.4f, 0.8f});
        lm_body_def def = boxes_octree(&b, 0.1f, 2, 0.0f);
        def.material.damping_ratio = 1.0f;
        def.pose.position = (lm_dvec3){0.0, 0.6, 0.0};
        def.contact_points = how;
        lm_world *world = make_world(-1.0);
        lm_collider_def floor = lm_collider_def_default();
        lm_collider_id id;
        assert_ok(lm_collider_create(world, &floor, &id));
        lm_body_id body = make_body(world, &def);
        steps(world, 240);
        assert_near(body_centre(world, body).y, 0.4, 0.01);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_parts_have_small_cells),
        cmocka_unit_test(the_number_of_particles_can_be_asked_for),
        cmocka_unit_test(sizes_and_shells),
        cmocka_unit_test(fingers_that_touch_are_not_linked),
        cmocka_unit_test(a_finger_moves_by_itself),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(any_soup_will_do),
        cmocka_unit_test(momentum_and_spin_are_kept),
        cmocka_unit_test(the_step_is_that_of_the_reference),
        cmocka_unit_test(a_large_step_is_that_of_the_reference),
        cmocka_unit_test(mangled_bodies_come_back),
        cmocka_unit_test(results_do_not_depend_on_the_machine),
        cmocka_unit_test(snapshots_bring_octrees_back),
        cmocka_unit_test(regional_damping_stills_ripples),
        cmocka_unit_test(wide_regions_are_stiff),
        cmocka_unit_test(what_is_bent_far_stays_bent),
        cmocka_unit_test(bodies_lie_on_their_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
