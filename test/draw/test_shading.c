/*
 * Light and shade, pixel by pixel: what is in shadow is darker by as much as it should be, whatever else there is in the world.
 */
#include "draw/internal.h"
#include "test/draw/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lm_collider_id add_box(lm_world *world, lm_dvec3 at, lm_vec3 half)
{
    lm_collider_def def = lm_collider_def_default();
    def.shape = LM_SHAPE_BOX;
    def.half_extents = half;
    def.pose.position = at;
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

/* The pixel in which a point of the world is seen. */
static const uint8_t *pixel_of(const image *picture, const draw_settings *settings, lm_dvec3 point)
{
    double out[3];
    assert_true(draw_project(&settings->camera, WIDTH, HEIGHT, point, out));
    assert_true(out[0] >= 0.0 && out[0] < WIDTH && out[1] >= 0.0 && out[1] < HEIGHT);
    return picture->pixels + 3 * ((size_t)out[1] * WIDTH + (size_t)out[0]);
}

/* The mean over 5 x 5 pixels around a point. */
static double lightness(const image *picture, const draw_settings *settings, lm_dvec3 point)
{
    const uint8_t *middle = pixel_of(picture, settings, point);
    double sum = 0.0;
    for (int n = 0; n < 25; n++) {
        const uint8_t *pixel = middle + 3 * ((n / 5 - 2) * WIDTH + n % 5 - 2);
        sum += (pixel[0] + pixel[1] + pixel[2]) / 75.0;
    }
    return sum;
}

/* What the renderer found of the key light and the surroundings in the last picture: four bytes a pixel, the lowest row first;
 * before it was made smooth, and after. To be freed. */
static uint8_t *visibility_map(bool smooth)
{
    draw_error error;
    uint8_t *all = malloc((size_t)4 * d->target.small_width * d->target.small_height);
    assert_non_null(all);
    assert_true(draw_context_enter(&d->context, &error));
    glBindTexture(GL_TEXTURE_2D, d->target.visibility[smooth]);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, all);
    draw_context_leave(&d->context);
    return all;
}

/* Where in such a map a point of the world is. */
static size_t place_in_map(const draw_settings *settings, lm_dvec3 point)
{
    double at[3];
    assert_true(draw_project(&settings->camera, d->target.small_width, d->target.small_height, point, at));
    size_t row = d->target.small_height - 1 - (size_t)at[1];
    return 4 * (row * d->target.small_width + (size_t)at[0]);
}

/* Key light and surroundings in a point, 0 to 255. */
static void read_visibility(lm_dvec3 point, const draw_settings *settings, uint8_t out[2])
{
    uint8_t *all = visibility_map(true);
    memcpy(out, all + place_in_map(settings, point), 2);
    free(all);
}

/* Towards the light, from where a shadow falls on the origin. */
static lm_dvec3 above_origin(double away) { return (lm_dvec3){-0.48 * away, 0.78 * away, 0.40 * away}; }

/* Looks at the floor around the origin from nearby. */
static draw_settings look_at_floor(void)
{
    draw_settings settings = draw_settings_default();
    settings.camera.at = (lm_dvec3){0.0, 2.0, 2.0};
    settings.camera.field_of_view = 40.0;
    return settings;
}

/* A shadow stays what it is when there is something else, far away or large. */
static void shadows_do_not_depend_on_the_rest_of_the_world(void **context)
{
    (void)context;
    enum { NOTHING, BODY_FAR_AWAY, BODY_FAR_ABOVE, HUGE_BOX, COUNT };
    image pictures[COUNT];
    draw_settings settings = look_at_floor();
    double in_shadow[COUNT], beside[COUNT];
    for (int with = 0; with < COUNT; with++) {
        lm_world *world = make_world(0.0);
        add_floor(world, 0.0);
        add_block(world, LM_SKIN_PARTICLES, above_origin(1.2));
        if (with == BODY_FAR_AWAY) add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){300.0, 0.3, 400.0});
        if (with == BODY_FAR_ABOVE) add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){-400.0, 500.0, 600.0});
        if (with == HUGE_BOX) add_box(world, (lm_dvec3){0.0, -1.05, 0.0}, (lm_vec3){1000.0f, 1.0f, 1000.0f});
        pictures[with] = shoot(world, &settings);
        in_shadow[with] = lightness(&pictures[with], &settings, lm_dvec3_zero());
        beside[with] = lightness(&pictures[with], &settings, (lm_dvec3){0.9, 0.0, -0.3});
        lm_world_destroy(world);
    }
    for (int with = 0; with < COUNT; with++) {
        assert_true(in_shadow[with] < 0.75 * beside[with]);
        assert_near(in_shadow[with], in_shadow[NOTHING], 4.0);
        assert_near(beside[with], beside[NOTHING], 4.0);
        assert_at_most(mean_difference(&pictures[with], &pictures[NOTHING]), 0.7);
    }
    for (int with = 0; with < COUNT; with++) image_free(&pictures[with]);
}

/* What is far above the picture still casts its shadow into it. */
static void casters_may_be_far(void **context)
{
    (void)context;
    double seen[2];
    draw_settings settings = look_at_floor();
    for (int with = 0; with < 2; with++) {
        lm_world *world = make_world(0.0);
        add_floor(world, 0.0);
        if (with) add_box(world, above_origin(300.0), (lm_vec3){60.0f, 1.0f, 60.0f});
        image picture = shoot(world, &settings);
        seen[with] = lightness(&picture, &settings, lm_dvec3_zero());
        image_free(&picture);
        lm_world_destroy(world);
    }
    assert_true(seen[1] < 0.75 * seen[0]);
}

/* Views in which the surface lets see what is inside have the shadows of those in which it does not. */
static void shadows_do_not_depend_on_the_view(void **context)
{
    (void)context;
    const uint32_t views[] = {DRAW_SURFACE, DRAW_SURFACE | DRAW_LINKS, DRAW_SURFACE | DRAW_PARTICLES};
    double seen[3];
    draw_settings settings = look_at_floor();
    lm_world *world = make_world(0.0);
    add_floor(world, 0.0);
    add_block(world, LM_SKIN_PARTICLES, above_origin(1.2));
    for (int n = 0; n < 3; n++) {
        settings.views = views[n];
        image picture = shoot(world, &settings);
        seen[n] = lightness(&picture, &settings, lm_dvec3_zero());
        assert_near(seen[n], seen[0], 4.0);
        image_free(&picture);
    }
    lm_world_destroy(world);
}

/* In the corner between the floor and two boxes it is darker, though no shadow falls there: the light comes from that side. */
static void corners_are_darker(void **context)
{
    (void)context;
    const lm_dvec3 corner = {-0.03, 0.0, 0.03}, open = {-0.5, 0.0, 0.5};
    draw_settings settings = look_at_floor();
    settings.camera.at = (lm_dvec3){-1.6, 1.6, 1.6};
    double in_corner[2], in_the_open[2];
    for (int with = 0; with < 2; with++) {
        lm_world *world = make_world(0.0);
        add_floor(world, 0.0);
        if (with) {
            add_box(world, (lm_dvec3){0.3, 0.25, 0.0}, (lm_vec3){0.3f, 0.25f, 0.6f});
            add_box(world, (lm_dvec3){0.0, 0.25, -0.3}, (lm_vec3){0.6f, 0.25f, 0.3f});
        }
        image picture = shoot(world, &settings);
        in_corner[with] = lightness(&picture, &settings, corner);
        in_the_open[with] = lightness(&picture, &settings, open);
        if (with) {
            uint8_t seen[2];
            read_visibility(corner, &settings, seen);
            assert_true(seen[0] > 190 && seen[1] < 235);
            read_visibility(open, &settings, seen);
            assert_true(seen[0] > 250 && seen[1] > 245);
        }
        image_free(&picture);
        lm_world_destroy(world);
    }
    assert_true(in_corner[1] < 0.95 * in_corner[0]);
    assert_near(in_the_open[1], in_the_open[0], 3.0);
}

/* Of a box, the sides towards the light get it, and the others none at all. */
static void sides_turned_from_the_light_get_none(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    add_box(world, lm_dvec3_zero(), (lm_vec3){0.4f, 0.4f, 0.4f});
    draw_settings settings = look_at_floor();
    const lm_dvec3 eyes[2] = {{-1.5, 1.0, 1.5}, {1.5, -1.0, -1.5}};
    const lm_dvec3 points[2][3] = {{{-0.4, 0, 0}, {0, 0.4, 0}, {0, 0, 0.4}}, {{0.4, 0, 0}, {0, -0.4, 0}, {0, 0, -0.4}}};
    for (int turned = 0; turned < 2; turned++) {
        settings.camera.at = eyes[turned];
        image picture = shoot(world, &settings);
        for (int n = 0; n < 3; n++) {
            uint8_t seen[2];
            read_visibility(points[turned][n], &settings, seen);
            assert_true(turned ? seen[0] < 5 : seen[0] > 250);
        }
        image_free(&picture);
    }
    lm_world_destroy(world);
}

/* In a half-shadow, neighbours differ less once they are averaged. */
static void half_shadows_are_smooth(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    add_floor(world, 0.0);
    add_box(world, above_origin(1.2), (lm_vec3){0.25f, 0.25f, 0.25f});
    draw_settings settings = look_at_floor();
    image picture = shoot(world, &settings);
    double roughness[2] = {0.0, 0.0};
    for (int smooth = 0; smooth < 2; smooth++) {
        uint8_t *map = visibility_map(smooth);
        const uint8_t *middle = map + place_in_map(&settings, lm_dvec3_zero());
        for (int n = 0; n < 900; n++) { /* how far each is from the mean of those beside it */
            const uint8_t *at = middle + 4 * ((n / 30 - 15) * (int)d->target.small_width + n % 30 - 15);
            roughness[smooth] += abs(2 * at[0] - at[-4] - at[4]) / 1800.0;
        }
        free(map);
    }
    assert_true(roughness[0] > 2.0);
    assert_true(roughness[1] < 0.7 * roughness[0]);
    image_free(&picture);
    lm_world_destroy(world);
}

/* White in full light is bright, but shows its shape: nothing reaches the white of the picture. */
static void bright_light_has_a_shoulder(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_collider_id box = add_box(world, lm_dvec3_zero(), (lm_vec3){0.4f, 0.4f, 0.4f});
    draw_settings settings = look_at_floor();
    settings.camera.at = (lm_dvec3){-1.2, 1.6, 1.2};
    draw_error error;
    assert_true(draw_set_collider_colour(d, box, (const uint8_t[3]){255, 255, 255}, &error));
    image picture = shoot(world, &settings);
    int brightest = 0;
    for (int n = 0; n < WIDTH * HEIGHT * 3; n++)
        brightest = picture.pixels[n] > brightest ? picture.pixels[n] : brightest;
    assert_true(brightest > 225);
    assert_true(brightest < 252);
    image_free(&picture);
    lm_world_destroy(world);
}

static lm_collider_id add_slope(lm_world *world, double radians)
{
    lm_collider_def def = lm_collider_def_default();
    def.pose.rotation = quaternion(ref_v(radians, 0.0, 0.0));
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

/* Floors that were given a colour, and slopes, are seen nearby and become the backdrop far away. */
static void floors_fade_out(void **context)
{
    (void)context;
    draw_settings settings = draw_settings_default();
    settings.camera.at = (lm_dvec3){0.0, 1.2, 2.0};
    settings.camera.field_of_view = 60.0;
    double distance = sqrt(1.2 * 1.2 + 2.0 * 2.0);
    for (int slopes = 0; slopes < 2; slopes++) {
        image pictures[2];
        double slope = slopes ? -0.15 : 0.0, far = 2.4 * distance;
        lm_dvec3 away = {0.0, far * sin(-slope), -far * cos(slope)};
        away.y = -away.y;
        for (int with = 0; with < 2; with++) {
            lm_world *world = make_world(0.0);
            lm_collider_id floor = {0, 0};
            draw_error error;
            if (with) {
                floor = add_slope(world, slope);
                assert_true(draw_set_collider_colour(d, floor, (const uint8_t[3]){20, 120, 40}, &error));
            }
            pictures[with] = shoot(world, &settings);
            lm_world_destroy(world);
        }
        assert_true(fabs(lightness(&pictures[0], &settings, lm_dvec3_zero()) -
                         lightness(&pictures[1], &settings, lm_dvec3_zero())) > 30.0);
        assert_near(lightness(&pictures[0], &settings, away), lightness(&pictures[1], &settings, away), 3.0);
        image_free(&pictures[0]);
        image_free(&pictures[1]);
    }
}

/* Wires lie on the surface and are drawn over it in full, and those behind something are hidden. */
static void wires_lie_on_surfaces(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.0, 0.0});
    draw_settings plain = draw_settings_default(), wired = plain;
    plain.camera.at = wired.camera.at = (lm_dvec3){0.5, 0.4, 1.4};
    wired.views = DRAW_SURFACE | DRAW_WIREFRAME;
    image a = shoot(world, &plain), b = shoot(world, &wired);
    assert_true(mean_difference(&a, &b) > 3.7); /* a quarter less, where half of each wire is lost in the surface */
    add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){-0.2, -0.16, -0.56}); /* behind the first */
    image c = shoot(world, &wired);
    assert_at_most(mean_difference(&b, &c), 0.1);
    image_free(&a);
    image_free(&b);
    image_free(&c);
    lm_world_destroy(world);
}

/* From dark on the left to light on the right, in the lower right corner, whatever the picture's size. */
static void legends_run_from_left_to_right(void **context)
{
    (void)context;
    const uint32_t sizes[][2] = {{1280, 720}, {480, 270}, {240, 160}, {200, 148}, {160, 90}};
    const draw_range range = {.low = 0.0f, .high = 0.5f, .label = "speed, m/s", .brief = "m/s"};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        image picture;
        assert_true(image_make(&picture, sizes[n][0], sizes[n][1]));
        draw_legend(&picture, &range);
        uint8_t first[3], last[3];
        draw_map_colour(0.0f, first);
        draw_map_colour(1.0f, last);
        int dark = -1, bright = -1;
        for (int k = 0; k < (int)(sizes[n][0] * sizes[n][1]); k++) {
            const uint8_t *pixel = picture.pixels + (size_t)k * 3;
            int x = k % (int)sizes[n][0], y = k / (int)sizes[n][0];
            dark = dark < 0 && memcmp(pixel, first, 3) == 0 ? x : dark;
            bright = bright < 0 && memcmp(pixel, last, 3) == 0 ? x : bright;
            if (pixel[0] | pixel[1] | pixel[2]) { /* no more than this of a picture is covered */
                assert_true(2 * y > (int)sizes[n][1]);
                assert_true(3 * x > (int)sizes[n][0]);
            }
        }
        assert_true(dark >= 0);
        assert_true(bright > dark + 40);
        image_free(&picture);
    }
    image tiny; /* no room: it stays as it is */
    assert_true(image_make(&tiny, 48, 48));
    draw_legend(&tiny, &range);
    for (int k = 0; k < 48 * 48 * 3; k++) assert_int_equal(tiny.pixels[k], 0);
    image_free(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shadows_do_not_depend_on_the_rest_of_the_world),
        cmocka_unit_test(casters_may_be_far),
        cmocka_unit_test(shadows_do_not_depend_on_the_view),
        cmocka_unit_test(corners_are_darker),
        cmocka_unit_test(sides_turned_from_the_light_get_none),
        cmocka_unit_test(half_shadows_are_smooth),
        cmocka_unit_test(bright_light_has_a_shoulder),
        cmocka_unit_test(floors_fade_out),
        cmocka_unit_test(wires_lie_on_surfaces),
        cmocka_unit_test(legends_run_from_left_to_right),
    };
    return cmocka_run_group_tests(tests, open_shared, close_shared);
}
