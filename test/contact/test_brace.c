/*
 * Crushed bodies brace themselves (contact/brace.h): two that fly into each other off their middles stay on their sides, with the momentum and the
 * spin that they had and no more energy, and the same on any number of threads. Without braces octrees flew on through each
 * other, and tetrahedra stayed half in each other.
 */
#include "limber/shapes.h"
#include "test/support/support.h"

#include <math.h>

typedef enum kind { OCTREE, TETS, POINTS, KINDS } kind;
static const char *const kind_names[KINDS] = {"octree", "tets", "points"};

typedef struct flight {
    lm_world *world;
    lm_body_id ids[2];
} flight;

static lm_body_id add(lm_world *world, const lm_shape_mesh *m, kind k, double x, double y, double mass)
{
    lm_body_def def = lm_body_def_default();
    def.mass = (float)mass;
    def.mask = 1;
    def.material.hertz = 4.0f;
    def.material.damping_ratio = 0.5f;
    def.pose.position = (lm_dvec3){x, y, 0.0};
    def.velocity.x = x < 0.0 ? 2.0f : -2.0f;
    if (k == OCTREE) {
        def.octree.vertices = m->vertices, def.octree.vertex_count = m->vertex_count;
        def.octree.triangles = m->triangles, def.octree.triangle_count = m->triangle_count;
    } else if (k == TETS) {
        def.tets.vertices = m->vertices, def.tets.vertex_count = m->vertex_count;
        def.tets.triangles = m->triangles, def.tets.triangle_count = m->triangle_count;
        def.tets.particles = 200;
    } else {
        def.points = m->vertices;
        def.point_count = m->vertex_count;
    }
    lm_body_id id;
    assert_ok(lm_body_create(world, &def, &id));
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = m->vertices, skin.vertex_count = m->vertex_count;
    skin.triangles = m->triangles, skin.triangle_count = m->triangle_count;
    assert_ok(lm_body_set_skin(world, id, &skin));
    return id;
}

static flight fly(kind k, uint32_t workers, double mass)
{
    lm_world_def def = lm_world_def_default();
    flight f;
    def.substeps = 2;
    def.workers = workers;
    def.gravity = (lm_vec3){0.0f, 0.0f, 0.0f};
    assert_ok(lm_world_create(&def, &f.world));
    lm_shape_mesh mesh;
    lm_shape_def ball = lm_shape_def_default();
    ball.name = "sphere";
    ball.size = (lm_vec3){0.5f, 0.5f, 0.5f};
    ball.detail = 8;
    assert_ok(lm_shape_make_mesh(&ball, &mesh));
    f.ids[0] = add(f.world, &mesh, k, -0.35, 0.0, 10.0);
    f.ids[1] = add(f.world, &mesh, k, 0.35, 0.02, mass);
    lm_shape_mesh_free(&mesh);
    return f;
}

typedef struct sums {
    ref_vec momentum, angular;
    double energy;
} sums;

static sums add_up(const flight *f)
{
    sums s = {ref_v(0, 0, 0), ref_v(0, 0, 0), 0.0};
    for (int k = 0; k < 2; k++) {
        body_state state = state_read(f->world, f->ids[k], lm_dvec3_zero());
        for (uint32_t n = 0; n < state.count; n++) {
            ref_vec p = ref_scale(state.mass[n], state.v[n]);
            s.momentum = ref_add(s.momentum, p);
            s.angular = ref_add(s.angular, ref_cross(state.x[n], p));
            s.energy += 0.5 * ref_dot(p, state.v[n]);
        }
        state_free(&state);
    }
    return s;
}

static void come_back(kind k, double mass)
{
    flight f = fly(k, 1, mass), threads = fly(k, 3, mass);
    const sums before = add_up(&f);
    for (int n = 0; n < 150; n++) {
        assert_ok(lm_world_step(f.world, FRAME));
        assert_ok(lm_world_step(threads.world, FRAME));
    }
    const sums after = add_up(&f);
    lm_body_info one, other;
    assert_ok(lm_body_get_info(f.world, f.ids[0], &one));
    assert_ok(lm_body_get_info(f.world, f.ids[1], &other));
    const double apart = other.centre.x - one.centre.x; /* below 0: they went through each other */
    const double most = 2.0 * (10.0 + mass);            /* kg m/s, of both */
    const double off = ref_length(ref_sub(after.momentum, before.momentum)) / most;
    const double turned = ref_length(ref_sub(after.angular, before.angular)) / most;
    print_message("%s, %g kg: %.3f m apart, momentum off by %.2g of it, angular momentum by %.2g m of it, energy %.3g "
                  "of %.3g J\n",
                  kind_names[k], mass, apart, off, turned, after.energy, before.energy);
    assert_true(apart > 0.5); /* their size */
    assert_at_most(off, 1e-5);
    assert_at_most(turned, 1e-5);
    assert_at_most(after.energy, before.energy);
    assert_true(lm_world_hash(f.world) == lm_world_hash(threads.world));
    lm_world_destroy(f.world);
    lm_world_destroy(threads.world);
}

static void crushed_bodies_come_back(void **context)
{
    (void)context;
    for (kind k = 0; k < KINDS; k++) {
        come_back(k, 10.0);
        if (test_tries(1, 0)) come_back(k, 30.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crushed_bodies_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
