/*
 * Surfaces deformed in the vertex shader are those of lm_body_get_skin, in numbers and in pictures; and the buffers that the
 * renderer keeps are those of the bodies there are.
 */
#include "draw/internal.h"
#include "test/draw/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 240, HEIGHT = 160 };

/* Vertices and normals as the graphics card has them. */
static void read_back(draw *d, vec4 *positions, lm_vec3 *normals)
{
    draw_error error;
    assert_true(draw_context_enter(&d->context, &error));
    glBindBuffer(GL_ARRAY_BUFFER, d->bodies.position_stream.buffer);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(d->bodies.vertices * sizeof *positions), positions);
    glBindBuffer(GL_ARRAY_BUFFER, d->bodies.normal_stream.buffer);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(d->bodies.vertices * sizeof *normals), normals);
    draw_context_leave(&d->context);
}

/* Compares all skins of a world that was just drawn with the library's. */
static void assert_skins_agree(draw *d, const lm_world *world, lm_dvec3 eye)
{
    assert_false(d->bodies.on_host);
    vec4 *positions = calloc(d->bodies.vertices + 1, sizeof *positions);
    lm_vec3 *normals = calloc(d->bodies.vertices + 1, sizeof *normals), *expected, *expected_normals;
    read_back(d, positions, normals);
    uint32_t seen = 0;
    for (size_t n = 0; n < d->bodies.count; n++) {
        const draw_body *body = &d->bodies.list[n];
        if (body->vertices == 0) continue;
        expected = calloc(body->vertices, sizeof *expected);
        expected_normals = calloc(body->vertices, sizeof *expected_normals);
        assert_ok(lm_body_get_skin(world, body->id, eye, expected, expected_normals));
        lm_dvec3 side = draw_subtract(body->upper, body->lower);
        double size = fmax(side.x, fmax(side.y, side.z));
        for (uint32_t k = 0; k < body->vertices; k++) {
            const float *p = positions[body->first_vertex + k];
            ref_vec off = ref_sub(ref_v((double)p[0], (double)p[1], (double)p[2]), to_double(expected[k]));
            /* A step of single precision at the distance from the camera, and a share of the body. */
            assert_at_most(ref_length(off), 1e-5 * size + 2e-7 * ref_length(to_double(expected[k])));
            ref_vec turned = ref_sub(to_double(normals[body->first_vertex + k]), to_double(expected_normals[k]));
            assert_at_most(ref_length(turned), 1e-2); /* slivers turn with the last bit of the distance */
        }
        seen += body->vertices;
        free(expected);
        free(expected_normals);
    }
    assert_true(seen > 0);
    assert_int_equal(seen, d->bodies.vertices);
    free(positions);
    free(normals);
}

static void skins_agree_in_every_state(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_stage(lm_dvec3_zero());
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    lm_body_id ids[3];
    assert_int_equal(lm_world_get_bodies(world, ids, 3), 3);
    for (int state = 0; state < 4; state++) {
        image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
        assert_skins_agree(d, world, settings.camera.at);
        image_free(&picture);
        for (int n = 0; n < 2; n++) deform_body(world, ids[n], 0.3 * (state + 1));
        if (state == 2) assert_ok(lm_world_step(world, FRAME));
    }
    lm_world_destroy(world);
    draw_close(d);
}

/* Every kind of sample body, mangled, in every mode. */
static void skins_agree_for_every_sampling(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        for (int on = 0; on < LM_SKIN_KIND_COUNT; on++) {
            random_state random = {(uint64_t)(7 + 10 * mode + on)};
            lm_world *world = make_world(-9.81);
            for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
                sample s = sample_make((sample_kind)kind, &random);
                s.def.material.mode = (lm_mode)mode;
                s.def.pose.position.x = 1.5 * kind;
                lm_body_id body = make_body(world, &s.def);
                set_box_skin(world, body, (lm_skin_kind)on, 2, 0.5 * s.size, 0.4 * s.size, 0.45 * s.size);
                deform_body(world, body, 0.4);
                sample_free(&s);
            }
            for (int frame = 0; frame < 2; frame++) assert_ok(lm_world_step(world, FRAME));
            draw_settings settings = draw_settings_default();
            settings.camera = draw_fit_camera(world, (double)WIDTH / HEIGHT);
            image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
            assert_skins_agree(d, world, settings.camera.at);
            image_free(&picture);
            lm_world_destroy(world);
        }
    }
    draw_close(d);
}

/* Lattices along each of the axes, solid and hollow, whose cells are all deformed differently. */
static void skins_agree_on_lattices(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_world(-9.81);
    random_state random = {11};
    static const double sides[3][3] = {{0.6, 0.25, 0.15}, {0.15, 0.6, 0.25}, {0.25, 0.15, 0.6}};
    for (int n = 0; n < 6; n++) {
        const double *half = sides[n % 3];
        lm_vec3 corners[8];
        for (int k = 0; k < 8; k++) {
            corners[k] =
                to_float(ref_v(k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]));
        }
        static const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                               2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        def.material.hertz = 8.0f;
        def.lattice.vertices = corners;
        def.lattice.vertex_count = 8;
        def.lattice.triangles = triangles;
        def.lattice.triangle_count = 12;
        def.lattice.spacing = 0.1f;
        def.lattice.shell = n >= 3;
        def.pose.position.x = 1.5 * n;
        lm_body_id body = make_body(world, &def);
        set_box_skin(world, body, LM_SKIN_PARTICLES, 7, half[0], half[1], half[2]);
        if (n % 2) { /* and some of them broken, with inner faces */
            lm_fracture_def fracture = lm_fracture_def_default();
            uint32_t broken;
            assert_ok(lm_body_set_fracture(world, body, &fracture));
            assert_ok(lm_body_break(world, body, (lm_vec3){0.1f, 0.1f, 0.1f}, 0.25f, &broken));
            assert_true(broken > 0);
        }
        randomise_state(world, body, &random, 0.03, 1.0);
    }
    for (int frame = 0; frame < 2; frame++) {
        draw_settings settings = draw_settings_default();
        settings.camera = draw_fit_camera(world, (double)WIDTH / HEIGHT);
        image card = make_picture(d, world, &settings, WIDTH, HEIGHT);
        assert_skins_agree(d, world, settings.camera.at);
        settings.cpu_skin = true;
        image host = make_picture(d, world, &settings, WIDTH, HEIGHT);
        assert_at_most(mean_difference(&card, &host), 0.02);
        image_free(&card);
        image_free(&host);
        assert_ok(lm_world_step(world, FRAME));
    }
    lm_world_destroy(world);
    draw_close(d);
}

static void both_ways_give_one_picture(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    lm_world *world = make_stage(lm_dvec3_zero());
    lm_body_id ids[3];
    lm_world_get_bodies(world, ids, 3);
    for (int n = 0; n < 3; n++) deform_body(world, ids[n], 0.5);
    static const uint32_t views[] = {DRAW_SURFACE,
                                     DRAW_SURFACE | DRAW_WIREFRAME,
                                     DRAW_STRAIN,
                                     DRAW_REGIONS,
                                     DRAW_WIREFRAME,
                                     DRAW_WIREFRAME | DRAW_STRAIN,
                                     DRAW_WIREFRAME | DRAW_SPEED};
    for (size_t n = 0; n < sizeof views / sizeof views[0]; n++) {
        draw_settings settings = look_at_stage(lm_dvec3_zero());
        settings.views = views[n];
        image card = make_picture(d, world, &settings, WIDTH, HEIGHT);
        settings.cpu_skin = true;
        image host = make_picture(d, world, &settings, WIDTH, HEIGHT);
        assert_true(d->bodies.on_host);
        assert_at_most(mean_difference(&card, &host), 0.02);
        assert_at_most(share_beyond(&card, &host, 6), 0.002);
        image_free(&card);
        image_free(&host);
    }
    lm_world_destroy(world);
    draw_close(d);
}

/* The picture of a world drawn by a renderer that has drawn others before is that of a new renderer. */
static void assert_as_new(draw *used, const lm_world *world, const draw_settings *settings)
{
    draw *fresh = open_renderer(WIDTH, HEIGHT);
    image a = make_picture(used, world, settings, WIDTH, HEIGHT);
    image b = make_picture(fresh, world, settings, WIDTH, HEIGHT);
    assert_at_most(mean_difference(&a, &b), 0.0);
    image_free(&a);
    image_free(&b);
    draw_close(fresh);
}

static void buffers_follow_the_world(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    lm_world *world = make_stage(lm_dvec3_zero());
    lm_body_id ids[4];
    lm_world_get_bodies(world, ids, 3);
    assert_as_new(d, world, &settings);

    /* Another skin with as many vertices; a body less, and another one in its slot; one more. */
    set_box_skin(world, ids[0], LM_SKIN_PARTICLES, 6, 0.3, 0.2, 0.1);
    assert_as_new(d, world, &settings);
    assert_ok(lm_body_destroy(world, ids[1]));
    assert_as_new(d, world, &settings);
    add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 1.0, 0.3});
    assert_as_new(d, world, &settings);
    add_block(world, LM_SKIN_REGIONS, (lm_dvec3){0.4, 1.3, 0.3});
    assert_as_new(d, world, &settings);
    lm_world_destroy(world);

    /* Other worlds, with the same ids and numbers of everything. */
    for (int n = 0; n < 2; n++) {
        world = make_world(0.0);
        lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.5, 0.0});
        set_box_skin(world, body, LM_SKIN_PARTICLES, 6, n ? 0.1 : 0.4, 0.2, 0.3);
        assert_as_new(d, world, &settings);
        lm_world_destroy(world);
    }
    draw_close(d);
}

/* A body twice as long in one direction is strained by 1 there, one of a quarter of its length by 3/4; at rest it is not. */
static void strain_is_stretch(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_STRAIN;
    const float factors[2] = {2.0f, 0.25f};
    for (int trial = 0; trial < 4; trial++) {
        settings.cpu_skin = trial >= 2;
        lm_world *world = make_world(0.0);
        lm_body_id body = add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){0.0, 0.5, 0.0});
        image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
        for (uint32_t n = 0; n < d->bodies.vertices; n++) assert_near(d->bodies.vertex_values[n], 0.0, 1e-4);
        image_free(&picture);
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *x = calloc(info.particles, sizeof *x);
        assert_ok(lm_body_get_rest_positions(world, body, x));
        for (uint32_t n = 0; n < info.particles; n++) x[n].x *= factors[trial % 2];
        assert_ok(lm_body_set_state(world, body, info.centre, x, NULL));
        free(x);
        picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
        float least = INFINITY, most = 0.0f;
        for (uint32_t n = 0; n < d->bodies.vertices; n++) {
            least = fminf(least, d->bodies.vertex_values[n]);
            most = fmaxf(most, d->bodies.vertex_values[n]);
        }
        assert_near(most, fabsf(factors[trial % 2] - 1.0f), 1e-3);
        assert_near(least, 0.0, 1e-3); /* the two sides across the stretch */
        image_free(&picture);
        lm_world_destroy(world);
    }
    assert_near(d->strain.high, 1.0, 1e-3);
    draw_close(d);
}

/* A block of 100 kPa without Poisson's ratio that is a tenth too long bears 10 kPa, everywhere; the legend says so in kPa. */
static void stress_is_modulus_times_stretch(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_STRESS;
    const lm_skin_kind kinds[2] = {LM_SKIN_PARTICLES, LM_SKIN_REGIONS};
    for (int trial = 0; trial < 2; trial++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add_block(world, kinds[trial], (lm_dvec3){0.0, 0.5, 0.0});
        lm_material material = lm_material_default();
        material.young = 1e5f;
        material.poisson = 0.0f;
        assert_ok(lm_body_set_material(world, body, &material));
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *x = calloc(info.particles, sizeof *x);
        assert_ok(lm_body_get_rest_positions(world, body, x));
        for (uint32_t n = 0; n < info.particles; n++) x[n].x *= 1.1f;
        assert_ok(lm_body_set_state(world, body, info.centre, x, NULL));
        free(x);
        image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
        assert_true(d->bodies.vertices > 0);
        for (uint32_t n = 0; n < d->bodies.vertices; n++) assert_near(d->bodies.vertex_values[n], 1e4, 30.0);
        draw_map map = draw_get_map(d);
        assert_string_equal(map.label, "von Mises stress, kPa");
        assert_near(map.high, 10.0, 1e-3);
        assert_near(draw_map_reached(d), 1e4, 30.0);
        image_free(&picture);
        lm_world_destroy(world);
    }
    settings.map_top = 2.5e6f;
    lm_world *world = make_world(0.0);
    image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
    assert_string_equal(draw_get_map(d).label, "von Mises stress, MPa");
    assert_near(draw_get_map(d).high, 2.5, 1e-6);
    image_free(&picture);
    lm_world_destroy(world);
    draw_close(d);
}

/* v + w x r, for skins of both kinds. */
static void speed_is_that_of_a_rigid_motion(void **context)
{
    (void)context;
    draw *d = open_renderer(WIDTH, HEIGHT);
    draw_settings settings = look_at_stage(lm_dvec3_zero());
    settings.views = DRAW_SPEED;
    for (int kind = 0; kind < LM_SKIN_KIND_COUNT; kind++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add_block(world, (lm_skin_kind)kind, (lm_dvec3){0.0, 0.5, 0.0});
        lm_body_info info;
        assert_ok(lm_body_get_info(world, body, &info));
        lm_vec3 *x = calloc(info.particles, sizeof *x), *v = calloc(info.particles, sizeof *v);
        assert_ok(lm_body_get_positions(world, body, info.centre, x));
        for (uint32_t n = 0; n < info.particles; n++) v[n] = (lm_vec3){0.5f + 2.0f * x[n].z, 0.0f, -2.0f * x[n].x};
        assert_ok(lm_body_set_state(world, body, info.centre, x, v));
        image picture = make_picture(d, world, &settings, WIDTH, HEIGHT);
        lm_vec3 *skin = calloc(info.skin_vertices, sizeof *skin);
        assert_ok(lm_body_get_skin(world, body, info.centre, skin, NULL));
        for (uint32_t n = 0; n < info.skin_vertices; n++) {
            double expected = hypot(0.5 + 2.0 * (double)skin[n].z, 2.0 * (double)skin[n].x);
            assert_near(d->bodies.vertex_values[n], expected, 0.01);
        }
        free(skin);
        free(x);
        free(v);
        image_free(&picture);
        lm_world_destroy(world);
    }
    draw_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_agree_on_lattices),         cmocka_unit_test(skins_agree_in_every_state),
        cmocka_unit_test(skins_agree_for_every_sampling),  cmocka_unit_test(both_ways_give_one_picture),
        cmocka_unit_test(buffers_follow_the_world),        cmocka_unit_test(strain_is_stretch),
        cmocka_unit_test(stress_is_modulus_times_stretch), cmocka_unit_test(speed_is_that_of_a_rigid_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
