/*
 * Views: each shows what it says, alone and with others, and the colour maps mean what their legends say.
 */
#include "draw/internal.h"
#include "test/draw/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void views_have_names(void **context)
{
    (void)context;
    uint32_t all = 0, count = 0;
    for (; draw_view_name(count); count++) {
        assert_int_equal(draw_view_find(draw_view_name(count)), 1u << count);
        all |= 1u << count;
    }
    assert_int_equal(all, DRAW_SURFACE | DRAW_WIREFRAME | DRAW_PARTICLES | DRAW_REGIONS | DRAW_GOALS | DRAW_LINKS |
                              DRAW_CONTACTS | DRAW_SPEED | DRAW_STRAIN | DRAW_BONES | DRAW_STRESS);
    assert_int_equal(draw_view_find("strain"), DRAW_STRAIN);
    assert_int_equal(draw_view_find("nonsense"), 0);
    assert_int_equal(draw_view_find(""), 0);
}

static void every_view_differs_from_every_other(void **context)
{
    (void)context;
    lm_world *world = make_stage(lm_dvec3_zero());
    lm_body_id ids[3];
    lm_world_get_bodies(world, ids, 3);
    for (int n = 0; n < 3; n++) { /* strain that is not speed: a push, and a bend */
        assert_ok(lm_body_add_particle_impulse(world, ids[n], 3, (lm_vec3){0.2f, 0.1f, 0.3f}));
        deform_body(world, ids[n], 0.4);
    }
    assert_ok(lm_world_step(world, FRAME));
    enum { COUNT = 9 };
    image pictures[COUNT];
    for (int n = 0; n < COUNT; n++) {
        draw_settings settings = look_at_stage(lm_dvec3_zero());
        settings.views = 1u << n;
        pictures[n] = shoot(world, &settings);
        for (int k = 0; k < n; k++) {
            if (mean_difference(&pictures[n], &pictures[k]) < 0.1) {
                print_error("%s and %s look the same\n", draw_view_name((uint32_t)n), draw_view_name((uint32_t)k));
                fail();
            }
        }
    }
    for (int n = 0; n < COUNT; n++) image_free(&pictures[n]);
    lm_world_destroy(world);
}

static void views_combine(void **context)
{
    (void)context;
    lm_world *world = make_stage(lm_dvec3_zero());
    static const uint32_t pairs[][2] = {
        {DRAW_SURFACE, DRAW_WIREFRAME},   {DRAW_SURFACE, DRAW_PARTICLES}, {DRAW_SURFACE, DRAW_LINKS},
        {DRAW_SURFACE, DRAW_GOALS},       {DRAW_SURFACE, DRAW_CONTACTS},  {DRAW_PARTICLES, DRAW_SPEED},
        {DRAW_WIREFRAME, DRAW_PARTICLES}, {DRAW_PARTICLES, DRAW_REGIONS}, {DRAW_REGIONS, DRAW_WIREFRAME},
    };
    for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++) {
        draw_settings first = look_at_stage(lm_dvec3_zero()), second = first, both = first;
        first.views = pairs[n][0];
        second.views = pairs[n][1];
        both.views = pairs[n][0] | pairs[n][1];
        assert_true(difference(world, &both, &first) > 0.03);
        assert_true(difference(world, &both, &second) > 0.03);
    }
    /* Everything at once, but bodies have one colour. */
    const uint32_t colourings[4] = {DRAW_REGIONS, DRAW_SPEED, DRAW_STRAIN, DRAW_STRESS};
    draw_settings all = look_at_stage(lm_dvec3_zero());
    for (int n = 0; n < 4; n++) {
        draw_error error = {""};
        all.views = 0x7ffu & ~colourings[n];
        assert_false(draw_world(d, world, &all, NULL, &error));
        assert_non_null(strstr(error.text, "choose one"));
        all.views &= (uint32_t)~DRAW_COLOURINGS | colourings[n];
        image picture = shoot(world, &all);
        image_free(&picture);
    }
    lm_world_destroy(world);
}

/* Marks are where bodies touch, and nowhere else. */
static void contacts_are_marked(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    add_floor(world, 0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 1.0, 0.0});
    draw_settings plain = look_at_stage(lm_dvec3_zero()), marked = plain;
    marked.views = DRAW_SURFACE | DRAW_CONTACTS;
    assert_at_most(difference(world, &plain, &marked), 0.0);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 x[125];
    assert_ok(lm_body_get_rest_positions(world, body, x));
    assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.26, 0.0}, x, NULL)); /* lowest 0.01 above the floor */
    assert_true(difference(world, &plain, &marked) > 0.01);
    assert_int_equal(d->overlays.ball_count, 25);
    lm_world_destroy(world);
}

/* A skeleton is seen through the surface, where its bones are. */
static void bones_are_shown(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 1.0, 0.0});
    draw_settings plain = look_at_stage(lm_dvec3_zero()), marked = plain;
    marked.views = DRAW_SURFACE | DRAW_BONES;
    image without = shoot(world, &marked);
    assert_int_equal(d->overlays.ball_count, 0);
    lm_bone bones[2] = {lm_bone_default(), lm_bone_default()};
    bones[1].tail = (lm_vec3){0.0f, 0.2f, 0.0f};
    lm_skeleton_def def = lm_skeleton_def_default();
    def.body = body;
    def.bones = bones;
    def.bone_count = 2;
    def.pose.position.y = 1.0;
    lm_skeleton_id skeleton;
    assert_ok(lm_skeleton_create(world, &def, &skeleton));
    image with = shoot(world, &marked);
    assert_int_equal(d->overlays.ball_count, 2 * 12);
    assert_true(mean_difference(&with, &without) > 0.01);
    assert_near(d->overlays.balls[23].middle[1] - d->overlays.balls[12].middle[1], 0.2, 1e-5); /* joint to tail */
    image_free(&with);
    image_free(&without);
    lm_world_destroy(world);
}

/* The legend's end is a round number that no value so far exceeds, not close to rest, or where it was asked to be. */
static void ranges_are_stable(void **context)
{
    (void)context;
    draw *own = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_world(0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.5, 0.0});
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_SPEED;
    const float speeds[6] = {1e-4f, 1.0f, 3.0f, 2.0f, 0.0f, 7.0f}, tops[6] = {0.1f, 1.0f, 5.0f, 5.0f, 5.0f, 10.0f};
    const double most[6] = {1e-4, 1.0, 3.0, 3.0, 3.0, 7.0};
    assert_near(draw_map_reached(own), 0.0, 0.0);
    lm_vec3 x[125], v[125];
    assert_ok(lm_body_get_rest_positions(world, body, x));
    for (int n = 0; n < 6; n++) {
        for (int k = 0; k < 125; k++) v[k] = (lm_vec3){speeds[n], 0.0f, 0.0f};
        assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.5, 0.0}, x, v));
        draw_error error = {""};
        if (n % 2) {
            assert_true(draw_measure(own, world, &settings, &error)); /* as good as a picture */
        } else {
            assert_true(draw_world(own, world, &settings, NULL, &error));
        }
        assert_near(own->speed.high, tops[n], 1e-5);
        assert_near(draw_map_reached(own), most[n], 1e-5);
    }
    settings.views = DRAW_STRAIN; /* of which there is none but rounding */
    image rest = make_picture(own, world, &settings, WIDTH, HEIGHT);
    assert_near(own->strain.high, 0.02, 1e-7);
    assert_at_most(draw_map_reached(own), 1e-3);
    image_free(&rest);
    settings.views = DRAW_SPEED;
    settings.map_top = 7.5f;
    image picture = make_picture(own, world, &settings, WIDTH, HEIGHT);
    assert_near(own->speed.high, 7.5, 0.0);
    image_free(&picture);
    lm_world_destroy(world);
    draw_close(own);
}

/* The mean distance of pixels in two pictures, over those in which the first differs from a third. */
static double difference_where(const image *a, const image *b, const image *background)
{
    double sum = 0.0, count = 0.0;
    for (int n = 0; n < WIDTH * HEIGHT * 3; n++) {
        if (abs(a->pixels[n] - background->pixels[n]) > 20) {
            sum += abs(a->pixels[n] - b->pixels[n]);
            count += 1.0;
        }
    }
    assert_true(count > 100.0);
    return sum / count;
}

/* Without a surface, wires have the colours of the map; with one, they do not hide its colours. */
static void wires_show_values(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.4, 0.0});
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_WIREFRAME | DRAW_SPEED;
    settings.map_top = 1.0f;
    lm_vec3 x[125], v[125];
    assert_ok(lm_body_get_rest_positions(world, body, x));
    for (int host = 0; host < 2; host++) {
        image pictures[2];
        settings.cpu_skin = host;
        for (int fast = 0; fast < 2; fast++) {
            for (int k = 0; k < 125; k++) v[k] = (lm_vec3){0.0f, 0.0f, (float)fast};
            assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.4, 0.0}, x, v));
            pictures[fast] = shoot(world, &settings);
        }
        draw_settings bare = settings;
        bare.bodies = false;
        image background = shoot(world, &bare);
        assert_true(difference_where(&pictures[0], &pictures[1], &background) > 40.0); /* dark blue, and yellow */
        image_free(&background);
        image_free(&pictures[0]);
        image_free(&pictures[1]);
    }
    lm_world_destroy(world);
}

/* Regions that overlap keep colours of their own: most of a body is about as colourful as the palette. */
static void regions_are_told_apart(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_vec3 *points = grid_points(9, 3, 3, 0.1);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 81;
    def.clusters.counts[0] = 3;
    def.clusters.overlap = 0.3f;
    lm_body_id body = make_body(world, &def);
    free(points);
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_REGIONS;
    image picture = shoot(world, &settings);
    image_free(&picture);
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    assert_true(info.memberships > info.particles); /* they overlap */
    uint32_t pure = 0;
    for (uint32_t n = 0; n < info.particles; n++) {
        int closest = 255;
        for (uint32_t r = 0; r < info.regions; r++) {
            uint8_t rgb[3];
            draw_palette_region(r + 5 * body.slot, rgb);
            int off = 0;
            for (int k = 0; k < 3; k++) {
                int apart = abs(d->bodies.particle_colours[n][k] - rgb[k]);
                off = apart > off ? apart : off;
            }
            closest = off < closest ? off : closest;
        }
        pure += closest < 25;
    }
    assert_true(pure > info.particles * 3 / 4);
    lm_world_destroy(world);
}

/* Marks of contacts behind something are there, but faint. */
static void hidden_contacts_are_faint(void **context)
{
    (void)context;
    double shown[2];
    for (int hidden = 0; hidden < 2; hidden++) {
        lm_world *world = make_world(0.0);
        add_floor(world, 0.0);
        lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 1.0, 0.0});
        lm_vec3 x[125];
        assert_ok(lm_body_get_rest_positions(world, body, x));
        assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.26, 0.0}, x, NULL));
        if (hidden) {
            lm_collider_def box = lm_collider_def_default();
            box.shape = LM_SHAPE_BOX;
            box.half_extents = (lm_vec3){0.6f, 0.5f, 0.05f};
            box.pose.position = (lm_dvec3){0.2, 0.5, 0.8};
            lm_collider_id collider;
            assert_ok(lm_collider_create(world, &box, &collider));
        }
        draw_settings marked = look_at_stage(lm_dvec3_zero()), plain = marked;
        marked.views = DRAW_CONTACTS;
        plain.bodies = false;
        shown[hidden] = difference(world, &marked, &plain);
        lm_world_destroy(world);
    }
    assert_true(shown[1] > 0.02 * shown[0]);
    assert_true(shown[1] < 0.5 * shown[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_have_names),
        cmocka_unit_test(every_view_differs_from_every_other),
        cmocka_unit_test(views_combine),
        cmocka_unit_test(contacts_are_marked),
        cmocka_unit_test(bones_are_shown),
        cmocka_unit_test(ranges_are_stable),
        cmocka_unit_test(wires_show_values),
        cmocka_unit_test(regions_are_told_apart),
        cmocka_unit_test(hidden_contacts_are_faint),
    };
    return cmocka_run_group_tests(tests, open_shared, close_shared);
}
