#include "test/draw/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void set_box_skin(lm_world *world, lm_body_id body, lm_skin_kind kind, uint32_t cells, double x, double y, double z)
{
    uint32_t row = cells + 1, vertex_count = 6 * row * row, triangle_count = 12 * cells * cells, at = 0;
    lm_vec3 *vertices = calloc(vertex_count, sizeof *vertices);
    uint32_t *triangles = calloc((size_t)triangle_count * 3, sizeof *triangles);
    const double half[3] = {x, y, z};
    for (uint32_t side = 0; side < 6; side++) {
        uint32_t axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, first = side * row * row;
        double sign = side % 2 ? -1.0 : 1.0;
        for (uint32_t n = 0; n < row * row; n++) {
            double p[3];
            p[axis] = sign * half[axis];
            p[u] = half[u] * sign * (2.0 * (n % row) / cells - 1.0); /* mirrored on the far sides: outward */
            p[v] = half[v] * (2.0 * (n / row) / cells - 1.0);
            vertices[first + n] = to_float(ref_v(p[0], p[1], p[2]));
        }
        for (uint32_t n = 0; n < cells * cells; n++) {
            uint32_t a = first + n / cells * row + n % cells,
                     corners[6] = {a, a + 1, a + row + 1, a, a + row + 1, a + row};
            memcpy(triangles + at, corners, sizeof corners);
            at += 6;
        }
    }
    lm_skin_def def = lm_skin_def_default();
    def.kind = kind;
    def.vertices = vertices;
    def.vertex_count = vertex_count;
    def.triangles = triangles;
    def.triangle_count = triangle_count;
    assert_ok(lm_body_set_skin(world, body, &def));
    free(vertices);
    free(triangles);
}

static lm_body_id add_cloud(lm_world *world, lm_dvec3 at)
{
    lm_vec3 *points = grid_points(5, 5, 5, 0.125);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = points;
    def.point_count = 125;
    def.clusters.counts[0] = def.clusters.counts[1] = def.clusters.counts[2] = 2;
    def.material.mode = LM_MODE_QUADRATIC;
    def.contact_radius = 0.01f;
    def.pose.position = at;
    def.pose.rotation = quaternion(ref_v(0.3, 0.5, 0.2));
    lm_body_id body = make_body(world, &def);
    free(points);
    return body;
}

lm_body_id add_block(lm_world *world, lm_skin_kind kind, lm_dvec3 at)
{
    lm_body_id body = add_cloud(world, at);
    set_box_skin(world, body, kind, 6, 0.26, 0.26, 0.26);
    return body;
}

lm_collider_id add_floor(lm_world *world, double height)
{
    lm_collider_def def = lm_collider_def_default();
    def.pose.position.y = height;
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &def, &collider));
    return collider;
}

lm_world *make_stage(lm_dvec3 offset)
{
    lm_world *world = make_world(-9.81);
    add_floor(world, offset.y);
    add_block(world, LM_SKIN_PARTICLES, (lm_dvec3){offset.x - 0.8, offset.y + 0.8, offset.z});
    add_block(world, LM_SKIN_REGIONS, (lm_dvec3){offset.x, offset.y + 0.8, offset.z});
    add_cloud(world, (lm_dvec3){offset.x + 0.8, offset.y + 0.8, offset.z});
    lm_collider_def ball = lm_collider_def_default();
    ball.shape = LM_SHAPE_CAPSULE;
    ball.radius = 0.1f;
    ball.half_length = 0.3f;
    ball.pose.position = (lm_dvec3){offset.x, offset.y + 0.4, offset.z - 0.8};
    lm_collider_id collider;
    assert_ok(lm_collider_create(world, &ball, &collider));
    for (int frame = 0; frame < 25; frame++) assert_ok(lm_world_step(world, FRAME));
    return world;
}

void deform_body(lm_world *world, lm_body_id body, double share)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    lm_vec3 *x = calloc(info.particles, sizeof *x);
    assert_ok(lm_body_get_positions(world, body, info.centre, x));
    for (uint32_t n = 0; n < info.particles; n++) {
        double bend = share * (double)x[n].x;
        x[n].y += (float)(4.0 * bend * (double)x[n].x);
        x[n].z = (float)((double)x[n].z * (1.0 + 2.0 * bend) + bend * (double)x[n].y);
    }
    assert_ok(lm_body_set_state(world, body, info.centre, x, NULL));
    free(x);
}

draw_settings look_at_stage(lm_dvec3 offset)
{
    draw_settings settings = draw_settings_default();
    settings.camera.at = (lm_dvec3){offset.x + 0.9, offset.y + 1.3, offset.z + 3.2};
    settings.camera.look_at = (lm_dvec3){offset.x, offset.y + 0.35, offset.z};
    settings.camera.field_of_view = 40.0;
    return settings;
}

draw *open_renderer(uint32_t width, uint32_t height)
{
    draw_error error = {""};
    draw *renderer = draw_open(width, height, &error);
    if (!renderer) print_error("%s\n", error.text);
    assert_non_null(renderer);
    return renderer;
}

image make_picture(draw *renderer, const lm_world *world, const draw_settings *settings, uint32_t width,
                   uint32_t height)
{
    image picture;
    draw_error error = {""};
    assert_true(image_make(&picture, width, height));
    if (!draw_world(renderer, world, settings, &picture, &error)) {
        print_error("%s\n", error.text);
        fail();
    }
    return picture;
}

double mean_difference(const image *a, const image *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    size_t count = 3 * (size_t)a->width * a->height;
    double sum = 0.0;
    for (size_t n = 0; n < count; n++) sum += abs(a->pixels[n] - b->pixels[n]);
    return sum / (double)count;
}

double share_beyond(const image *a, const image *b, int steps)
{
    size_t count = 3 * (size_t)a->width * a->height, beyond = 0;
    for (size_t n = 0; n < count; n++) beyond += abs(a->pixels[n] - b->pixels[n]) > steps;
    return (double)beyond / (double)count;
}
