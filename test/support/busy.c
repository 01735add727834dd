#include "test/support/busy.h"

#include <stdlib.h>
#include <string.h>

static void add_colliders(busy *b)
{
    lm_world *world = b->world;
    lm_collider_id collider;
    lm_mover_def mover = lm_mover_def_default();
    mover.pose.position = (lm_dvec3){0.0, 0.2, 0.0};
    mover.velocity = (lm_vec3){0.3f, 0.0f, 0.1f};
    mover.spin = (lm_vec3){0.0f, 1.0f, 0.2f};
    assert_ok(lm_mover_create(world, &mover, &b->mover));

    lm_collider_def def = lm_collider_def_default();
    def.pose.rotation = quaternion(ref_v(0.0, 0.0, 0.05));
    assert_ok(lm_collider_create(world, &def, &collider));
    def.shape = LM_SHAPE_SPHERE;
    def.pose.position = (lm_dvec3){1.0, 0.0, 0.5};
    def.radius = 0.7f;
    def.restitution = 0.5f;
    assert_ok(lm_collider_create(world, &def, &collider));
    def.shape = LM_SHAPE_CAPSULE;
    def.pose.position = (lm_dvec3){2.5, 0.2, 0.0};
    def.pose.rotation = quaternion(ref_v(1.2, 0.0, 0.4));
    def.radius = 0.4f;
    assert_ok(lm_collider_create(world, &def, &collider));
    def.shape = LM_SHAPE_BOX;
    def.pose.position = (lm_dvec3){-1.0, 0.0, 0.0};
    def.mover = b->mover;
    assert_ok(lm_collider_create(world, &def, &collider));
}

static void add_bodies(busy *b)
{
    random_state random = {2024};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++)
        for (int kind = 0; kind < SAMPLE_KIND_COUNT; kind++) {
            sample s = sample_make((sample_kind)kind, &random);
            s.def.material.mode = (lm_mode)mode;
            s.def.material.hertz = (float)random_range(&random, 2.0, 15.0);
            s.def.material.damping_ratio = (float)random_range(&random, 0.0, 0.3);
            s.def.material.beta = (float)random_range(&random, 0.0, 0.9);
            s.def.material.restitution = (float)random_range(&random, 0.0, 0.5);
            s.def.contact_radius = 0.02f;
            s.def.pose.position = (lm_dvec3){0.8 * (kind - 4), 0.8 + 0.5 * mode, 0.9 * (mode - 1)};
            s.def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
            s.def.velocity = to_float(random_in_cube(&random, 1.0));
            s.def.spin = to_float(random_in_cube(&random, 4.0));
            b->bodies[b->body_count++] = make_body(b->world, &s.def);
            sample_free(&s);
        }
}

/* One of each mode that flows when it falls, in groups, with a stiffness that differs from region to region and a surface
 * on the regions. */
static void add_plastic_bodies(busy *b)
{
    random_state random = {2025};
    for (int mode = 0; mode < LM_MODE_COUNT; mode++) {
        sample s = sample_make(mode == 1 ? SAMPLE_STRIP : SAMPLE_GRID, &random);
        s.def.clusters.kind = LM_CLUSTERS_KMEANS;
        s.def.clusters.count = 5;
        s.def.material.mode = (lm_mode)mode;
        s.def.material.yield = 0.005f;
        s.def.material.creep = 20.0f;
        s.def.pose.position = (lm_dvec3){1.2 * (mode - 1), 1.5, 2.0};
        s.def.spin = to_float(random_in_cube(&random, 4.0));
        lm_body_id body = make_body(b->world, &s.def);
        float *values = calloc(s.count, sizeof *values);
        for (uint32_t i = 0; i < s.count; i++) values[i] = (float)random_range(&random, 0.2, 1.0);
        assert_ok(lm_body_set_particle_stiffness(b->world, body, values));
        lm_skin_def skin = lm_skin_def_default();
        uint32_t triangle[3] = {0, 1, 2};
        lm_vec3 corners[3] = {{0.05f, 0.06f, 0.0f}, {-0.02f, 0.1f, 0.1f}, {0.3f, 0.0f, 0.07f}};
        skin.kind = LM_SKIN_REGIONS;
        skin.vertices = corners;
        skin.vertex_count = 3;
        skin.triangles = triangle;
        skin.triangle_count = 1;
        assert_ok(lm_body_set_skin(b->world, body, &skin));
        b->bodies[b->body_count++] = body;
        free(values);
        sample_free(&s);
    }
}

/* A comb, whose regions end at its gaps, a body with a hole under a surface, and a thin plate. */
static void add_lattices(busy *b)
{
    random_state random = {2026};
    for (int kind = 0; kind < 3; kind++) {
        static const uint32_t sizes[3][3] = {{9, 3, 1}, {4, 4, 4}, {18, 6, 1}};
        uint8_t cells[9 * 18];
        lm_body_def def = lm_body_def_default();
        def.mask = 0;
        memcpy(def.lattice.counts, sizes[kind], sizeof sizes[kind]);
        for (uint32_t n = 0; n < sizes[kind][0] * sizes[kind][1] * sizes[kind][2]; n++) {
            uint32_t x = n % sizes[kind][0], y = n / sizes[kind][0] % sizes[kind][1];
            cells[n] = kind == 2 || (kind == 0 ? x % 2 == 0 || y == 0 : !(x == 1 && y == 2));
        }
        def.lattice.cells = cells;
        def.lattice.spacing = 0.1f;
        def.lattice.width = 1 + (uint32_t)kind;
        def.material.mode = kind == 1 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        def.material.hertz = 6.0f;
        def.contact_radius = 0.02f;
        def.pose.position = (lm_dvec3){1.5 * (kind - 1), 1.2, -2.0};
        def.pose.rotation = quaternion(random_in_cube(&random, 3.0));
        def.spin = to_float(random_in_cube(&random, 4.0));
        lm_body_id body = make_body(b->world, &def);
        lm_skin_def skin = lm_skin_def_default();
        lm_vec3 corners[3] = {{0.05f, 0.06f, 0.0f}, {0.02f, 0.1f, 0.1f}, {0.3f, 0.0f, 0.07f}};
        skin.vertices = corners;
        skin.vertex_count = 3;
        skin.triangles = (const uint32_t[]){0, 1, 2};
        skin.triangle_count = 1;
        if (kind == 1) assert_ok(lm_body_set_skin(b->world, body, &skin));
        b->bodies[b->body_count++] = body;
    }
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id id;
    pin.body = b->bodies[b->body_count - 3];
    pin.particles = (const uint32_t[]){2, 5};
    pin.particle_count = 2;
    pin.mover = b->mover;
    assert_ok(lm_pin_create(b->world, &pin, &id));
}

/* A block that likes to twist, a strip of which each region likes to bend, and a lattice whose halves do as they like. */
static void add_examples(busy *b)
{
    random_state random = {2027};
    for (int kind = 0; kind < 3; kind++) {
        sample s = sample_make(kind == 1 ? SAMPLE_STRIP : SAMPLE_GRID, &random);
        uint8_t cells[6 * 3 * 3];
        memset(cells, 1, sizeof cells);
        if (kind == 2) {
            s.def.points = NULL;
            s.def.point_count = 0;
            s.def.masses = NULL;
            s.def.lattice.cells = cells;
            memcpy(s.def.lattice.counts, (const uint32_t[]){6, 3, 3}, 3 * sizeof(uint32_t));
            s.def.lattice.spacing = 0.1f;
        }
        s.def.material.mode = kind == 1 ? LM_MODE_LINEAR : LM_MODE_RIGID;
        s.def.material.hertz = 6.0f;
        s.def.contact_radius = 0.02f;
        s.def.pose.position = (lm_dvec3){1.3 * (kind - 1), 1.4, -3.0};
        s.def.spin = to_float(random_in_cube(&random, 4.0));
        lm_body_id body = make_body(b->world, &s.def);
        lm_body_info info;
        assert_ok(lm_body_get_info(b->world, body, &info));
        lm_vec3 *poses = calloc(2 * (size_t)info.particles, sizeof *poses);
        uint32_t *groups = calloc(info.regions, sizeof *groups);
        assert_ok(lm_body_get_rest_positions(b->world, body, poses));
        for (uint32_t i = 0; i < info.particles; i++) {
            ref_vec p = to_double(poses[i]);
            poses[i] = to_float(ref_v(p.x, p.y - 1.5 * p.x * p.z, p.z + 1.5 * p.x * p.y));
            poses[info.particles + i] = to_float(ref_v(1.2 * p.x, p.y + p.x * p.x, 0.9 * p.z));
        }
        for (uint32_t r = 0; r < info.regions; r++) groups[r] = r < info.regions / 2 ? 0 : 1;
        lm_examples_def def = lm_examples_def_default();
        def.poses = poses;
        def.count = 2;
        def.particles = info.particles;
        def.scope = kind == 0 ? LM_EXAMPLES_BODY : kind == 1 ? LM_EXAMPLES_REGIONS : LM_EXAMPLES_GROUPS;
        def.groups = groups;
        def.group_count = 2;
        assert_ok(lm_body_set_examples(b->world, body, &def));
        b->bodies[b->body_count++] = body;
        free(poses);
        free(groups);
        sample_free(&s);
    }
}

static void add_holds(busy *b)
{
    uint32_t particles[3] = {0, 3, 7};
    lm_pin_def pin = lm_pin_def_default();
    lm_pin_id pin_id;
    pin.body = b->bodies[1];
    pin.particles = particles;
    pin.particle_count = 3;
    assert_ok(lm_pin_create(b->world, &pin, &pin_id));
    pin.body = b->bodies[5];
    pin.mover = b->mover;
    assert_ok(lm_pin_create(b->world, &pin, &pin_id));

    lm_drag_def drag = lm_drag_def_default();
    drag.body = b->bodies[9];
    drag.particle = 4;
    drag.radius = 0.15f;
    drag.target = (lm_dvec3){0.0, 2.0, 0.0};
    assert_ok(lm_drag_create(b->world, &drag, &b->drag));

    lm_field_def field = lm_field_def_default();
    lm_field_id field_id;
    field.kind = LM_FIELD_WIND;
    field.vector = (lm_vec3){1.0f, 0.0f, 0.0f};
    field.strength = 0.3f;
    assert_ok(lm_field_create(b->world, &field, &field_id));
    field.kind = LM_FIELD_POINT;
    field.position = (lm_dvec3){0.0, 1.0, 0.0};
    field.radius = 2.0f;
    field.strength = 3.0f;
    assert_ok(lm_field_create(b->world, &field, &field_id));
}

busy busy_make(const lm_world_def *def)
{
    busy b = {0};
    lm_world_def own = *def;
    own.gravity = (lm_vec3){0.0f, -9.81f, 0.0f};
    own.substeps = 2;
    assert_ok(lm_world_create(&own, &b.world));
    add_colliders(&b);
    add_bodies(&b);
    add_plastic_bodies(&b);
    add_holds(&b);
    add_lattices(&b);
    add_examples(&b);
    return b;
}

void busy_prepare(busy *b, uint32_t frame)
{
    if (frame % 7 == 0) assert_ok(lm_body_add_force(b->world, b->bodies[frame % b->body_count], (lm_vec3){5, 20, -3}));
    if (frame % 11 == 3)
        assert_ok(lm_body_add_particle_impulse(b->world, b->bodies[2], 1, (lm_vec3){0.01f, 0.02f, 0.0f}));
    if (frame % 13 == 5) assert_ok(lm_drag_set_target(b->world, b->drag, (lm_dvec3){0.1 * frame, 2.0, -0.05 * frame}));
    if (frame == 20) assert_ok(lm_mover_set_velocity(b->world, b->mover, (lm_vec3){-0.5f, 0, 0}, (lm_vec3){0, 0, 1}));
    if (frame == 30) {
        lm_pose pose = lm_pose_identity();
        pose.position.y = 0.4;
        assert_ok(lm_mover_move_to(b->world, b->mover, pose));
    }
    if (frame == 25) {
        lm_material material;
        assert_ok(lm_body_get_material(b->world, b->bodies[4], &material));
        material.mode = LM_MODE_QUADRATIC;
        material.hertz *= 0.5f;
        assert_ok(lm_body_set_material(b->world, b->bodies[4], &material));
    }
}

void busy_step(busy *b, uint32_t frame)
{
    busy_prepare(b, frame);
    assert_ok(lm_world_step(b->world, FRAME));
}

void busy_free(busy *b)
{
    lm_world_destroy(b->world);
    memset(b, 0, sizeof *b);
}
