/*
 * Contacts of cut octrees: the two sides of a cut touch each other, and what is open is open to other bodies.
 */
#include "contact/cleft.h"
#include "limber/shapes.h"
#include "octree/octree_body.h"
#include "test/support/support.h"
#include "world/in_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VOXEL 0.1

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* A box of 1 m, or another, with cells of 0.1 m. */
static lm_body_id add_box(lm_world *world, lm_vec3 size, lm_dvec3 at, bool self, uint32_t mask)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    how.name = "box";
    how.size = size;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_body_def def = lm_body_def_default();
    def.octree.vertices = mesh.vertices, def.octree.vertex_count = mesh.vertex_count;
    def.octree.triangles = mesh.triangles, def.octree.triangle_count = mesh.triangle_count;
    def.octree.spacing = (float)VOXEL;
    def.octree.levels = 2;
    def.octree.width = 0.4f;
    def.mass = 2.0f;
    def.material.hertz = 20.0f;
    def.material.damping_ratio = 0.5f;
    def.pose.position = at;
    def.self_contact = self;
    def.mask = mask;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = mesh.vertices, skin.vertex_count = mesh.vertex_count;
    skin.triangles = mesh.triangles, skin.triangle_count = mesh.triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    lm_shape_mesh_free(&mesh);
    return body;
}

/* Across y at a height, from one x to another. */
static lm_cut_info cut_across(lm_world *world, lm_body_id body, double y, double x0, double x1)
{
    lm_dvec3 from[2] = {{x0, y, -2}, {x0, y, 2}}, to[2] = {{x1, y, -2}, {x1, y, 2}};
    lm_cut_info info;
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &info));
    return info;
}

/* Means over the upper and the lower half of a box, by where particles are at rest. */
typedef struct halves {
    ref_vec at[2], velocity[2];
    double mass[2];
} halves;

static halves halves_of(const lm_world *world, lm_body_id body, double y)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), *at = malloc(info.particles * sizeof *at),
            *v = malloc(info.particles * sizeof *v);
    float *mass = malloc(info.particles * sizeof *mass);
    halves h = {0};
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    assert_ok(lm_body_get_velocities(world, body, v));
    assert_ok(lm_body_get_masses(world, body, mass));
    for (uint32_t n = 0; n < info.particles; n++) {
        int k = rest[n].y > y;
        h.at[k] = ref_add(h.at[k], ref_scale(mass[n], ref_v(at[n].x, at[n].y, at[n].z)));
        h.velocity[k] = ref_add(h.velocity[k], ref_scale(mass[n], ref_v(v[n].x, v[n].y, v[n].z)));
        h.mass[k] += mass[n];
    }
    for (int k = 0; k < 2; k++) {
        h.at[k] = ref_scale(1.0 / h.mass[k], h.at[k]);
        h.velocity[k] = ref_scale(1.0 / h.mass[k], h.velocity[k]);
    }
    free(rest), free(at), free(v), free(mass);
    return h;
}

/* Sets the velocities of both halves. */
static void send(lm_world *world, lm_body_id body, double y, lm_vec3 lower, lm_vec3 upper, lm_vec3 lift)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest), *at = malloc(info.particles * sizeof *at),
            *v = malloc(info.particles * sizeof *v);
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    for (uint32_t n = 0; n < info.particles; n++) {
        v[n] = rest[n].y > y ? upper : lower;
        if (rest[n].y > y) at[n] = (lm_vec3){at[n].x + lift.x, at[n].y + lift.y, at[n].z + lift.z};
    }
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, v));
    free(rest), free(at), free(v);
}

static const lm_vec3 still = {0, 0, 0}, cube = {1, 1, 1};

/* How far the two sides of a cut are in each other where they are most, and how far apart where they are that. */
static double overlap(const lm_world *world, double *gap)
{
    const lmi_body *body = lmi_body_at(world, 0);
    const lmi_clefts *c = body->octree->clefts;
    double most = 0.0;
    *gap = 0.0;
    world->kernels->place_points(body);
    world->kernels->carry_bulk(body->bulk, body);
    lmi_clefts_update(body);
    for (uint32_t n = 0; n < c->count; n++) {
        lmi_inside inside;
        bool met = lmi_cleft_meet(body, c->point[n], VOXEL, &inside);
        most = fmax(most, met ? inside.depth : 0.0);
        *gap = fmax(*gap, met ? -inside.depth : VOXEL);
    }
    return most;
}

/* The upper half of a box that was cut through lies on the lower one: it neither sinks in nor stands off, and comes to rest. */
static void a_half_rests_on_the_other(void **context)
{
    (void)context;
    lm_world *world = make_world(-9.81);
    lm_body_id body = add_box(world, cube, lm_dvec3_zero(), true, 0);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.pose.position.y = -0.5;
    assert_ok(lm_collider_create(world, &floor, &id));
    assert_int_equal(cut_across(world, body, 0.02, -2, 2).parts, 2);
    halves before = halves_of(world, body, 0.02);
    double deepest = 0.0, widest = 0.0, gap = 0.0;
    for (int n = 0; n < 180; n++) {
        steps(world, 1);
        deepest = fmax(deepest, overlap(world, &gap));
        widest = fmax(widest, gap);
    }
    halves after = halves_of(world, body, 0.02);
    print_message("a half on the other: %.4f m in it and %.4f m off it at worst, in the end %.4f m and %.4f m\n",
                  deepest, widest, overlap(world, &gap), gap);
    assert_at_most(deepest, 0.25 * VOXEL);
    assert_at_most(widest, 0.5 * VOXEL);
    assert_at_most(ref_length(after.velocity[1]), 0.02);
    assert_near(after.at[1].x, before.at[1].x, 0.05);
    lm_world_destroy(world);
}

/* Two halves that come at each other part again, and momentum is kept. */
static void halves_collide(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add_box(world, cube, lm_dvec3_zero(), true, 0);
    assert_int_equal(cut_across(world, body, 0.02, -2, 2).parts, 2);
    double apart = halves_of(world, body, 0.02).at[1].y - halves_of(world, body, 0.02).at[0].y, worst = 0.0;
    send(world, body, 0.02, still, (lm_vec3){0.1f, -1.0f, 0}, (lm_vec3){0, 0.2f, 0});
    halves before = halves_of(world, body, 0.02);
    for (int n = 0; n < 60; n++) {
        steps(world, 1);
        halves now = halves_of(world, body, 0.02);
        worst = fmax(worst, apart - (now.at[1].y - now.at[0].y));
        ref_vec sum = ref_add(ref_scale(now.mass[0], now.velocity[0]), ref_scale(now.mass[1], now.velocity[1]));
        ref_vec was = ref_scale(before.mass[1], before.velocity[1]);
        assert_at_most(ref_length(ref_sub(sum, was)), 1e-4);
    }
    halves after = halves_of(world, body, 0.02);
    print_message("halves that met at 1 m/s were in each other by %.4f m at most\n", worst);
    assert_at_most(worst, 0.5 * VOXEL);
    assert_at_most(after.velocity[1].y, after.velocity[0].y + 0.1 + 1.0);
    assert_at_most(-0.05, after.velocity[1].y - after.velocity[0].y); /* the upper one does not go on into the other */
    lm_world_destroy(world);
}

/* A slit most of the way through a box, pressed shut. */
static void a_slit_is_squeezed(void **context)
{
    (void)context;
    double deepest[2];
    for (int self = 0; self < 2; self++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add_box(world, cube, lm_dvec3_zero(), true, 0);
        assert_int_equal(cut_across(world, body, 0.02, -2, 0.25).parts, 1);
        if (!self) lmi_body_in_step(world, 0)->self_contact = false;
        deepest[self] = 0.0;
        for (int n = 0; n < 40; n++) {
            if (n % 10 == 0) send(world, body, 0.02, (lm_vec3){0, 1.0f, 0}, (lm_vec3){0, -1.0f, 0}, still);
            steps(world, 1);
            double gap;
            deepest[self] = fmax(deepest[self], overlap(world, &gap));
        }
        lm_world_destroy(world);
    }
    print_message("a slit pressed shut overlaps by %.4f m, %.4f m without contacts\n", deepest[1], deepest[0]);
    assert_at_most(deepest[1], 0.3 * VOXEL);
    assert_at_most(2.0 * deepest[1], deepest[0]);
}

/* A plate goes into the gap between two halves, and touches nothing; and a face stops it. */
static void a_plate_enters(void **context)
{
    (void)context;
    for (int into = 0; into < 2; into++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add_box(world, cube, lm_dvec3_zero(), true, 1);
        cut_across(world, body, 0.02, -2, 2);
        send(world, body, 0.02, still, still, (lm_vec3){0, 0.5f, 0});
        lm_vec3 flat = {0.6f, 0.2f, 0.6f};
        lm_body_id plate = add_box(world, flat, (lm_dvec3){into ? 0.0 : -1.2, into ? 0.4 : 0.27, 0.0}, false, 1);
        lm_body_info info = info_of(world, plate);
        lm_vec3 *at = malloc(info.particles * sizeof *at), *v = malloc(info.particles * sizeof *v);
        assert_ok(lm_body_get_positions(world, plate, lm_dvec3_zero(), at));
        for (uint32_t n = 0; n < info.particles; n++) v[n] = into ? (lm_vec3){0, 1.0f, 0} : (lm_vec3){1.5f, 0, 0};
        assert_ok(lm_body_set_state(world, plate, lm_dvec3_zero(), at, v));
        steps(world, 48);
        info = info_of(world, plate);
        if (into) { /* up against the cut face of the upper half */
            halves h = halves_of(world, body, 0.02);
            assert_at_most(info.velocity.y, 0.8);
            assert_at_most(0.1, h.velocity[1].y);
            assert_at_most(fabs(h.velocity[0].y), 1e-3);
        } else {
            assert_near(info.centre.x, 0.0, 0.01);
            assert_near(info.velocity.x, 1.5, 0.01);
            assert_at_most(fabs(halves_of(world, body, 0.02).velocity[0].x), 1e-3);
        }
        free(at), free(v);
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_half_rests_on_the_other),
        cmocka_unit_test(halves_collide),
        cmocka_unit_test(a_slit_is_squeezed),
        cmocka_unit_test(a_plate_enters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
