/*
 * Pictures: what is in the world is in them, and nothing about a world is too much for the renderer.
 */
#include "draw/internal.h"
#include "test/draw/shared.h"

#include <SDL.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void pictures_show_bodies_and_their_motion(void **context)
{
    (void)context;
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero()), without = settings;
    without.bodies = false;
    assert_true(difference(world, &settings, &without) > 2.0);
    assert_at_most(difference(world, &settings, &settings), 0.0); /* the same picture again, to the last bit */
    image before = shoot(world, &settings);
    for (int frame = 0; frame < 3; frame++) assert_ok(lm_world_step(world, FRAME));
    image after = shoot(world, &settings);
    assert_true(mean_difference(&before, &after) > 0.02);
    image_free(&before);
    image_free(&after);
    lm_world_destroy(world);
}

/* The middle of the picture is darker under something that stands in the light. */
static void bodies_cast_shadows(void **context)
{
    (void)context;
    double lightness[2];
    for (int with = 0; with < 2; with++) {
        lm_world *world = make_world(0.0);
        add_floor(world, 0.0);
        /* Above the picture, towards the light. */
        if (with) add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){-0.48 * 2.5, 0.78 * 2.5, 0.40 * 2.5});
        draw_settings settings = draw_settings_default();
        settings.camera.at = (lm_dvec3){0.0, 1.0, 1.0};
        settings.camera.field_of_view = 20.0;
        image picture = shoot(world, &settings);
        lightness[with] = picture.pixels[3 * (HEIGHT / 2 * WIDTH + WIDTH / 2)];
        image_free(&picture);
        lm_world_destroy(world);
    }
    assert_true(lightness[1] < 0.9 * lightness[0]);
}

static void colours_are_those_told(void **context)
{
    (void)context;
    draw *own = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_world(0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.5, 0.0});
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.camera.look_at.y = 0.5;
    settings.camera.field_of_view = 12.0;
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    uint8_t *each = calloc(info.skin_vertices, 3);
    draw_error error;
    for (int channel = 0; channel < 3; channel++) {
        for (int many = 0; many < 2; many++) {
            uint8_t one[3] = {10, 10, 10};
            one[channel] = 200;
            for (uint32_t n = 0; n < info.skin_vertices; n++) memcpy(each + (size_t)n * 3, one, 3);
            assert_true(draw_set_colours(own, body, many ? each : one, many ? info.skin_vertices : 1, &error));
            for (int view = 0; view < 2; view++) { /* particles take the surface's colours */
                settings.views = view ? DRAW_PARTICLES : DRAW_SURFACE;
                image picture = make_picture(own, world, &settings, WIDTH, HEIGHT);
                image bare = picture;
                double sums[3] = {0.0, 0.0, 0.0};
                for (int n = 0; n < WIDTH * HEIGHT * 3; n++) sums[n % 3] += bare.pixels[n];
                for (int other = 0; other < 3; other++)
                    assert_true(other == channel || sums[channel] > 1.15 * sums[other]);
                image_free(&picture);
            }
        }
    }
    free(each);
    lm_collider_id floor = add_floor(world, 0.0);
    settings = look_at_stage(lm_dvec3_zero());
    lm_collider_def box = lm_collider_def_default();
    box.shape = LM_SHAPE_BOX;
    box.pose.position = (lm_dvec3){0.0, 0.5, 0.6};
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &box, &collider));
    image before = make_picture(own, world, &settings, WIDTH, HEIGHT);
    assert_true(draw_set_collider_colour(own, collider, (const uint8_t[3]){200, 30, 20}, &error));
    image boxed = make_picture(own, world, &settings, WIDTH, HEIGHT);
    assert_true(mean_difference(&before, &boxed) > 1.0);
    assert_true(draw_set_collider_colour(own, floor, (const uint8_t[3]){30, 90, 30}, &error));
    image floored = make_picture(own, world, &settings, WIDTH, HEIGHT);
    assert_true(mean_difference(&boxed, &floored) > 1.0);
    image_free(&before);
    image_free(&boxed);
    image_free(&floored);
    lm_world_destroy(world);
    draw_close(own);
}

/* Ten kilometres away everything looks as it does at the origin. */
static void far_away_looks_the_same(void **context)
{
    (void)context;
    lm_dvec3 far = {10240.0, 2048.0, -10240.0}; /* sums of powers of two: nothing of the stage itself is rounded */
    lm_world *near_world = make_stage(lm_dvec3_zero()), *far_world = make_stage(far);
    for (int n = 0; n < 2; n++) {
        draw_settings near = look_at_stage(lm_dvec3_zero()), away = look_at_stage(far);
        near.views = away.views = n ? DRAW_PARTICLES | DRAW_GOALS | DRAW_CONTACTS : DRAW_SURFACE | DRAW_WIREFRAME;
        image a = shoot(near_world, &near), b = shoot(far_world, &away);
        assert_at_most(mean_difference(&a, &b), 0.1);
        assert_at_most(share_beyond(&a, &b, 10), 0.004);
        image_free(&a);
        image_free(&b);
    }
    lm_world_destroy(near_world);
    lm_world_destroy(far_world);
}

static void worlds_may_be_bare(void **context)
{
    (void)context;
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    for (uint32_t view = 0; view < 9; view++) {
        settings.views = 1u << view;
        lm_world *world = make_world(0.0);
        image nothing = shoot(world, &settings);
        add_floor(world, 0.0);
        image floor = shoot(world, &settings);
        lm_vec3 point = {0.0f, 0.0f, 0.0f};
        lm_body_def def = lm_body_def_default(); /* a single particle, of no size */
        def.mask = 0;
        def.points = &point;
        def.point_count = 1;
        def.pose.position.y = 0.4;
        make_body(world, &def);
        image one = shoot(world, &settings);
        image_free(&nothing);
        image_free(&floor);
        image_free(&one);
        lm_world_destroy(world);
    }
    lm_world *world = make_world(0.0);
    settings.camera = draw_fit_camera(world, 1.5);
    assert_true(isfinite(settings.camera.at.x) && isfinite(settings.camera.at.y));
    settings.views = 0; /* as surface */
    image picture = shoot(world, &settings);
    image_free(&picture);
    lm_world_destroy(world);
}

/* Flat, tiny, huge, inside out, spread over the world: a picture, with something in it. */
static void shapes_may_be_extreme(void **context)
{
    (void)context;
    const lm_vec3 scales[] = {{1, 0, 1},          {0, 0, 0},  {1e-4f, 1e-4f, 1e-4f},
                              {1e6f, 1e6f, 1e6f}, {-1, 1, 1}, {1e8f, 1, 1}};
    for (size_t n = 0; n < sizeof scales / sizeof scales[0]; n++) {
        for (int kind = 0; kind < LM_SKIN_KIND_COUNT; kind++) {
            lm_world *world = make_world(0.0);
            add_floor(world, -0.5);
            lm_body_id body = add_block(world, (lm_skin_kind)kind, lm_dvec3_zero());
            lm_vec3 x[125];
            assert_ok(lm_body_get_rest_positions(world, body, x));
            for (int k = 0; k < 125; k++)
                x[k] = (lm_vec3){x[k].x * scales[n].x, x[k].y * scales[n].y, x[k].z * scales[n].z};
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), x, NULL));
            draw_settings settings = draw_settings_default();
            settings.camera = draw_fit_camera(world, 1.5);
            settings.views = DRAW_SURFACE | DRAW_WIREFRAME;
            image picture = shoot(world, &settings);
            image_free(&picture);
            settings.views = DRAW_STRAIN;
            picture = shoot(world, &settings);
            assert_true(isfinite(d->strain.high));
            image_free(&picture);
            settings.camera.look_at = settings.camera.at; /* looks nowhere */
            picture = shoot(world, &settings);
            image_free(&picture);
            settings.camera.look_at.y -= 1.0; /* straight down */
            picture = shoot(world, &settings);
            image_free(&picture);
            lm_world_destroy(world);
        }
    }
}

/* A body turned inside out is seen from outside as well: it shows no holes. */
static void inside_out_is_solid(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.5, 0.0});
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    lm_vec3 x[125];
    assert_ok(lm_body_get_rest_positions(world, body, x));
    assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.5, 0.0}, x, NULL));
    image right = shoot(world, &settings);
    for (int k = 0; k < 125; k++) x[k].y = -x[k].y;
    assert_ok(lm_body_set_state(world, body, (lm_dvec3){0.0, 0.5, 0.0}, x, NULL));
    image wrong = shoot(world, &settings);
    assert_at_most(mean_difference(&right, &wrong), 0.3); /* a block is its own mirror image */
    image_free(&right);
    image_free(&wrong);
    lm_world_destroy(world);
}

static void a_thousand_bodies(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_vec3 *points = grid_points(2, 2, 2, 0.1);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 8;
    for (int n = 0; n < 1000; n++) {
        def.pose.position = (lm_dvec3){0.3 * (n % 10), 0.3 * (n / 10 % 10), 0.3 * (n / 100)};
        set_box_skin(world, make_body(world, &def), n % 2 ? LM_SKIN_PARTICLES : LM_SKIN_REGIONS, 1, 0.1, 0.1, 0.1);
    }
    free(points);
    draw_settings settings = draw_settings_default(), without;
    settings.camera = draw_fit_camera(world, 1.5);
    without = settings;
    without.bodies = false;
    assert_true(difference(world, &settings, &without) > 20.0);
    assert_int_equal(d->bodies.count, 1000);
    lm_world_destroy(world);
}

/* Every corner of every body is in the picture, not too small, and the eye is above the floor. */
static void fitted_cameras_see_everything(void **context)
{
    (void)context;
    const lm_dvec3 offsets[] = {{0, 0, 0}, {5000, 40, -7000}};
    for (int n = 0; n < 2; n++) {
        for (int wide = 0; wide < 2; wide++) {
            double aspect = wide ? 2.4 : 0.4, most = 0.0;
            lm_world *world = make_stage(offsets[n]);
            draw_settings settings = draw_settings_default();
            settings.camera = draw_fit_camera(world, aspect);
            draw_frame frame = {.world = world, .settings = &settings};
            draw_bounds empty = draw_bounds_empty();
            draw_camera_set(&frame, &settings, &empty, aspect);
            assert_true(settings.camera.at.y > offsets[n].y);
            lm_body_id ids[3];
            lm_world_get_bodies(world, ids, 3);
            for (int k = 0; k < 3; k++) {
                lm_vec3 x[125];
                assert_ok(lm_body_get_positions(world, ids[k], frame.eye, x));
                for (int p = 0; p < 125; p++) {
                    vec4 clip;
                    glm_mat4_mulv(frame.block.clip_from_eye, (vec4){x[p].x, x[p].y, x[p].z, 1.0f}, clip);
                    assert_true(clip[3] > 0.0f);
                    most = fmax(most, fmax(fabs((double)(clip[0] / clip[3])), fabs((double)(clip[1] / clip[3]))));
                }
            }
            assert_at_most(most, 1.0);
            assert_true(most > 0.5);
            lm_world_destroy(world);
        }
    }
}

static void renderers_do_not_disturb_each_other(void **context)
{
    (void)context;
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    image alone = shoot(world, &settings);
    draw *small = open_renderer(64, 48), *large = open_renderer(513, 301);
    for (int n = 0; n < 2; n++) {
        image a = make_picture(small, world, &settings, 64, 48), b = make_picture(large, world, &settings, 513, 301);
        image again = shoot(world, &settings);
        assert_at_most(mean_difference(&alone, &again), 0.0);
        image_free(&a);
        image_free(&b);
        image_free(&again);
    }
    draw_close(small);
    image again = shoot(world, &settings);
    assert_at_most(mean_difference(&alone, &again), 0.0);
    image_free(&again);
    draw_close(large);
    for (int n = 0; n < 3; n++) { /* closed and opened again */
        draw *own = open_renderer(WIDTH, HEIGHT);
        again = make_picture(own, world, &settings, WIDTH, HEIGHT);
        assert_at_most(mean_difference(&alone, &again), 0.0);
        image_free(&again);
        draw_close(own);
    }
    image_free(&alone);
    lm_world_destroy(world);
}

/* A host with a context of its own: it is current again after each call, and can be drawn into. */
static void hosts_keep_their_context(void **context)
{
    (void)context;
    draw_context host;
    draw_error error;
    assert_true(draw_context_open(&host, &error));
    assert_true(draw_context_enter(&host, &error));
    void *current = SDL_GL_GetCurrentContext();
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    image expected = shoot(world, &settings);
    assert_ptr_equal(SDL_GL_GetCurrentContext(), current);
    draw *lent = draw_open_current(WIDTH, HEIGHT, &error);
    assert_non_null(lent);
    image picture = make_picture(lent, world, &settings, WIDTH, HEIGHT);
    assert_at_most(mean_difference(&expected, &picture), 0.0);
    assert_true(draw_world(lent, world, &settings, NULL, &error));
    draw_target target;
    assert_true(draw_target_make(&target, WIDTH, HEIGHT, &error));
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target.resolved_framebuffer);
    draw_show(lent, 0, 0, WIDTH, HEIGHT);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target.resolved_framebuffer);
    uint8_t pixel[4];
    glReadPixels(5, HEIGHT - 1 - 7, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    assert_memory_equal(pixel, expected.pixels + 3 * (7 * WIDTH + 5), 3);
    draw_target_free(&target);
    draw_close(lent);
    assert_ptr_equal(SDL_GL_GetCurrentContext(), current);
    draw_context_close(&host);
    image_free(&expected);
    image_free(&picture);
    lm_world_destroy(world);
}

/* Another size, and back: as if it had been opened so. */
static void a_renderer_can_be_resized(void **context)
{
    (void)context;
    draw_error error;
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    image expected = shoot(world, &settings);
    draw *renderer = draw_open(64, 48, &error);
    assert_non_null(renderer);
    image small = make_picture(renderer, world, &settings, 64, 48);
    assert_false(draw_resize(renderer, 8, 48, &error));
    assert_non_null(strstr(error.text, "16 to 8192"));
    image same = make_picture(renderer, world, &settings, 64, 48);
    assert_at_most(mean_difference(&small, &same), 0.0);
    assert_true(draw_resize(renderer, WIDTH, HEIGHT, &error));
    image picture = make_picture(renderer, world, &settings, WIDTH, HEIGHT);
    assert_at_most(mean_difference(&expected, &picture), 0.0);
    draw_close(renderer);
    image_free(&expected);
    image_free(&small);
    image_free(&same);
    image_free(&picture);
    lm_world_destroy(world);
}

/* What was told of one world does not colour the next. */
static void colours_can_be_forgotten(void **context)
{
    (void)context;
    draw_error error;
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    image expected = shoot(world, &settings);
    draw *renderer = draw_open(WIDTH, HEIGHT, &error);
    assert_non_null(renderer);
    lm_body_id body;
    const uint8_t red[3] = {255, 0, 0};
    lm_world_get_bodies(world, &body, 1);
    assert_true(draw_set_colours(renderer, body, red, 1, &error));
    image coloured = make_picture(renderer, world, &settings, WIDTH, HEIGHT);
    assert_true(mean_difference(&expected, &coloured) > 0.0);
    draw_forget(renderer);
    image plain = make_picture(renderer, world, &settings, WIDTH, HEIGHT);
    assert_at_most(mean_difference(&expected, &plain), 0.0);
    draw_close(renderer);
    image_free(&expected);
    image_free(&coloured);
    image_free(&plain);
    lm_world_destroy(world);
}

static void mistakes_are_told(void **context)
{
    (void)context;
    const uint32_t sizes[][2] = {{15, 100}, {100, 15}, {8193, 100}, {100, 8193}, {0, 0}};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        draw_error error = {""};
        assert_null(draw_open(sizes[n][0], sizes[n][1], &error));
        assert_non_null(strstr(error.text, "16 to 8192"));
    }
    lm_world *world = make_world(0.0);
    draw_settings settings = draw_settings_default();
    image picture;
    draw_error error = {""};
    assert_true(image_make(&picture, WIDTH, HEIGHT + 1));
    assert_false(draw_world(d, world, &settings, &picture, &error));
    assert_non_null(strstr(error.text, "240 by 161"));
    image_free(&picture);
    const uint8_t rgb[3] = {1, 2, 3};
    assert_false(draw_set_colours(d, (lm_body_id){0, 0}, rgb, 1, &error));
    assert_false(draw_set_colours(d, (lm_body_id){1, 1}, rgb, 0, &error));
    assert_false(draw_set_collider_colour(d, (lm_collider_id){0, 0}, rgb, &error));
    draw_close(NULL);
    error.text[0] = '\0';
    assert_true(draw_context_enter(&d->context, &error));
    assert_int_equal(draw_program_build("surface.vert", "nothing.frag", "#error broken\n", NULL, &error), 0);
    assert_non_null(strstr(error.text, "surface.vert"));
    assert_null(strchr(error.text, '\n'));
    assert_int_equal(draw_program_build("none.vert", "nothing.frag", "", NULL, &error), 0);
    assert_non_null(strstr(error.text, "none.vert"));
    draw_context_leave(&d->context);
    lm_world_destroy(world);
}

/* A small ball is drawn where draw_project says, from every side, straight down and nearly so too. */
static void projections_are_those_of_pictures(void **context)
{
    (void)context;
    const lm_dvec3 eyes[] = {{3, 2, 4}, {-3, 0.5, 1}, {0.2, 6, 0.1}, {0.05, 6, 0.01}, {0, 6, 0}, {0.05, -6, 0.02}};
    const lm_dvec3 at = {0.35, 0.2, 0.45};
    for (size_t n = 0; n < sizeof eyes / sizeof eyes[0]; n++) {
        lm_world *world = make_world(0.0);
        draw_settings settings = draw_settings_default();
        settings.camera.at = eyes[n];
        image before = shoot(world, &settings);
        lm_collider_def ball = lm_collider_def_default();
        ball.shape = LM_SHAPE_SPHERE;
        ball.radius = 0.1f;
        ball.pose.position = at;
        lm_collider_id collider;
        assert_ok(lm_collider_create(world, &ball, &collider));
        image after = shoot(world, &settings);
        double x = 0.0, y = 0.0, count = 0.0, out[3];
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            if (abs(before.pixels[3 * k] - after.pixels[3 * k]) > 4) {
                x += 0.5 + k % WIDTH;
                y += 0.5 + k / WIDTH;
                count += 1.0;
            }
        }
        assert_true(count > 5.0);
        assert_true(draw_project(&settings.camera, WIDTH, HEIGHT, at, out));
        assert_near(x / count, out[0], 1.0);
        assert_near(y / count, out[1], 1.0);
        lm_dvec3 behind = {2.0 * eyes[n].x, 2.0 * eyes[n].y, 2.0 * eyes[n].z};
        assert_false(draw_project(&settings.camera, WIDTH, HEIGHT, behind, out));
        if (fabs(eyes[n].y) > 5.9 && fabs(eyes[n].x) < 0.1) { /* the picture's top is away from us */
            assert_true(draw_project(&settings.camera, WIDTH, HEIGHT, (lm_dvec3){0.0, 0.0, -0.4}, out));
            assert_near(out[0], 0.5 * WIDTH, 1.0);
            assert_true(eyes[n].y > 0.0 ? out[1] < 0.5 * HEIGHT - 5.0 : out[1] > 0.5 * HEIGHT + 5.0);
        }
        image_free(&before);
        image_free(&after);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_show_bodies_and_their_motion),
        cmocka_unit_test(bodies_cast_shadows),
        cmocka_unit_test(projections_are_those_of_pictures),
        cmocka_unit_test(colours_are_those_told),
        cmocka_unit_test(far_away_looks_the_same),
        cmocka_unit_test(worlds_may_be_bare),
        cmocka_unit_test(shapes_may_be_extreme),
        cmocka_unit_test(inside_out_is_solid),
        cmocka_unit_test(a_thousand_bodies),
        cmocka_unit_test(fitted_cameras_see_everything),
        cmocka_unit_test(renderers_do_not_disturb_each_other),
        cmocka_unit_test(hosts_keep_their_context),
        cmocka_unit_test(a_renderer_can_be_resized),
        cmocka_unit_test(colours_can_be_forgotten),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, open_shared, close_shared);
}
