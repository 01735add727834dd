/*
 * Level of detail of octrees: what brushes, touch and the eye divide and join; that mass, momentum, spin and volume stay, that the
 * skin does not jump, that budgets hold, and that trees that changed are those that would be made from nothing.
 */
#include "limber/shapes.h"
#include "octree/octree_blade.h"
#include "octree/octree_body.h"
#include "skin/skin.h"
#include "test/support/support.h"
#include "world/in_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct thing {
    const char *shape;
    lm_vec3 size;
    float spacing;
    uint32_t levels, particles; /* 0 particles: as coarse as can be */
} thing;

static lm_body_id add(lm_world *world, const thing *what, lm_vec3 velocity, lm_vec3 spin)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    how.name = what->shape;
    how.size = what->size;
    how.detail = 8;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.material.hertz = 8.0f;
    def.octree.vertices = mesh.vertices;
    def.octree.vertex_count = mesh.vertex_count;
    def.octree.triangles = mesh.triangles;
    def.octree.triangle_count = mesh.triangle_count;
    def.octree.spacing = what->spacing;
    def.octree.levels = what->levels;
    def.octree.particles = what->particles;
    def.octree.detail = 0.0f;
    def.octree.width = what->spacing * (float)(1u << what->levels);
    def.mass = 2.0f;
    def.velocity = velocity;
    def.spin = spin;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = mesh.vertices;
    skin.vertex_count = mesh.vertex_count;
    skin.triangles = mesh.triangles;
    skin.triangle_count = mesh.triangle_count;
    assert_ok(lm_body_set_skin(world, body, &skin));
    lm_shape_mesh_free(&mesh);
    return body;
}

static const lm_vec3 still = {0.0f, 0.0f, 0.0f};
static const thing bar = {"box", {1.6f, 0.4f, 0.4f}, 0.05f, 3, 0};
static const thing beam = {
    "box", {1.6f, 0.8f, 0.8f}, 0.1f, 2, 0}; /* its coarsest cells are not on a line, and can spin */

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* Cells of the least and the largest side. */
static void sides_of(const lm_world *world, lm_body_id body, float *least, float *most)
{
    uint32_t count = info_of(world, body).particles;
    float *sides = malloc(count * sizeof *sides);
    assert_ok(lm_body_get_cells(world, body, sides));
    *least = INFINITY, *most = 0.0f;
    for (uint32_t n = 0; n < count; n++) {
        *least = fminf(*least, sides[n]);
        *most = fmaxf(*most, sides[n]);
    }
    free(sides);
}

/* ---- what is kept ---- */

typedef struct sums {
    double mass;
    ref_vec momentum, angular, middle;
} sums;

static sums sums_of(const lm_world *world)
{
    const lmi_body *body = lmi_body_at(world, 0);
    sums s = {0};
    for (uint32_t n = 0; n < body->particle_count; n++) {
        const float *x = body->x + (size_t)n * 4, *v = body->v + (size_t)n * 4;
        double m = body->mass[n];
        ref_vec at = ref_v(x[0] + body->origin.x, x[1] + body->origin.y, x[2] + body->origin.z);
        ref_vec p = ref_scale(m, ref_v(v[0], v[1], v[2]));
        s.mass += m;
        s.momentum = ref_add(s.momentum, p);
        s.angular = ref_add(s.angular, ref_cross(at, p));
        s.middle = ref_add(s.middle, ref_scale(m, at));
    }
    s.middle = ref_scale(1.0 / s.mass, s.middle);
    return s;
}

/* The largest relative difference. */
static double difference(const sums *a, const sums *b, double scale)
{
    double worst = fabs(a->mass - b->mass) / a->mass;
    worst = fmax(worst, ref_length(ref_sub(a->momentum, b->momentum)) / scale);
    worst = fmax(worst, ref_length(ref_sub(a->angular, b->angular)) / scale);
    return fmax(worst, ref_length(ref_sub(a->middle, b->middle)));
}

static ref_vec random_point(random_state *random)
{
    return ref_v(random_range(random, -0.9, 0.9), random_range(random, -0.3, 0.3), random_range(random, -0.3, 0.3));
}

static ref_vec random_unit(random_state *random)
{
    ref_vec v;
    do v = ref_v(random_range(random, -1, 1), random_range(random, -1, 1), random_range(random, -1, 1));
    while (ref_length(v) > 1.0 || ref_length(v) < 0.1);
    return ref_scale(1.0 / ref_length(v), v);
}

static void shake(lm_world *world, random_state *random, float by)
{
    lmi_body *body = lmi_body_in_step(world, 0);
    for (uint32_t n = 0; n < body->particle_count; n++)
        for (int i = 0; i < 3; i++) body->v[(size_t)n * 4 + (size_t)i] += by * (float)random_range(random, -1.0, 1.0);
}

/* Dividing and joining at once, of bodies that tumble and shake. */
static void what_must_stay_stays(void **context)
{
    (void)context;
    random_state random = {7};
    double worst = 0.0;
    uint32_t divided = 0, joined = 0;
    for (int trial = 0; trial < 6; trial++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add(world, &beam, (lm_vec3){0.5f, 0.2f, -0.3f}, (lm_vec3){2.0f, 1.0f, 3.0f});
        for (int n = 0; n < 12; n++) {
            shake(world, &random, 0.3f);
            ref_vec at = random_point(&random);
            lm_body_info before = info_of(world, body);
            at = ref_add(at, sums_of(world).middle);
            sums then = sums_of(world);
            float size = beam.spacing * (float)(1u << random_below(&random, 3));
            uint32_t changed = 0;
            assert_ok(lm_body_refine(world, body, (lm_dvec3){at.x, at.y, at.z}, (float)random_range(&random, 0.1, 0.8),
                                     size, &changed));
            lm_body_info after = info_of(world, body);
            sums now = sums_of(world);
            worst = fmax(worst, difference(&then, &now, 4.0));
            divided += after.particles > before.particles, joined += after.particles < before.particles;
            for (int k = 0; k < 3; k++) assert_ok(lm_world_step(world, 1.0 / 60.0));
        }
        lm_world_destroy(world);
    }
    print_message("%u times more cells, %u times fewer; sums differ by at most %.2g\n", divided, joined, worst);
    assert_true(divided > 10 && joined > 10);
    assert_true(worst < 1e-5);
}

/* ---- the same as from nothing ---- */

/* The node of another tree with the same voxels and level. */
static bool was_divided(const lmi_octree *t, const lmi_octree_node *node, void *user)
{
    const lmi_octree *like = user;
    return like->nodes[like->owner[t->voxel_order[node->first_voxel]]].level < node->level;
}

static void assert_same_lists(const lmi_octree_lists *a, const lmi_octree_lists *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->item_count, b->item_count);
    assert_memory_equal(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets);
    assert_memory_equal(a->items, b->items, a->item_count * sizeof *a->items);
}

static void assert_same_tree(lm_world *world, const lmi_octree *t)
{
    lmi_octree fresh;
    assert_true(lmi_octree_share(&fresh, &world->memory, t));
    assert_ok(lmi_octree_divide(&fresh, &world->memory, was_divided, (void *)(uintptr_t)t));
    assert_int_equal(fresh.node_count, t->node_count);
    assert_int_equal(fresh.leaf_count, t->leaf_count);
    for (uint32_t n = 0; n < t->node_count; n++) {
        const lmi_octree_node *a = &fresh.nodes[n], *b = &t->nodes[n];
        assert_memory_equal(a->cell, b->cell, sizeof a->cell);
        assert_memory_equal(a->sum, b->sum, sizeof a->sum);
        assert_true(a->level == b->level && a->parent == b->parent && a->child_count == b->child_count);
        assert_true(a->child_count == 0 || a->first_child == b->first_child);
        assert_true(a->first_voxel == b->first_voxel && a->voxel_count == b->voxel_count);
        assert_true(a->leaf_count == b->leaf_count && a->leaf == b->leaf && a->first_leaf == b->first_leaf);
    }
    assert_memory_equal(fresh.leaves, t->leaves, t->leaf_count * sizeof *t->leaves);
    assert_memory_equal(fresh.owner, t->owner, t->voxel_count * sizeof *t->owner);
    assert_memory_equal(fresh.voxel_order, t->voxel_order, t->voxel_count * sizeof *t->voxel_order);
    memcpy(fresh.width, t->width, t->leaf_count * sizeof *t->width);
    assert_true(lmi_octree_find_neighbours(&fresh, &world->memory) && lmi_octree_find_regions(&fresh, &world->memory));
    assert_same_lists(&fresh.faces, &t->faces);
    assert_same_lists(&fresh.around, &t->around);
    assert_same_lists(&fresh.neighbours, &t->neighbours);
    assert_memory_equal(fresh.lengths, t->lengths, t->neighbours.item_count * sizeof *t->lengths);
    assert_same_lists(&fresh.regions, &t->regions);
    lmi_octree_free(&fresh, &world->memory);
}

/* The body's own arrays, region by region and lane by lane, are those that weighing from nothing makes. */
static void assert_same_body(lm_world *world, lmi_body *body)
{
    lmi_region *regions = malloc(body->region_count * sizeof *regions);
    lmi_octree_lanes lanes = body->octree->lanes;
    memcpy(regions, body->regions, body->region_count * sizeof *regions);
    memset(&body->octree->lanes, 0, sizeof lanes);
    bool *held = calloc(body->place_count, sizeof *held);
    lmi_pins_mark(world, body, false, held);
    assert_true(lmi_octree_body_weigh(world, body, held));
    assert_memory_equal(regions, body->regions, body->region_count * sizeof *regions);
    const lmi_octree_lanes *made = &body->octree->lanes;
    assert_int_equal(made->size, lanes.size);
    assert_memory_equal(made->leaf, lanes.leaf, (char *)lanes.memory + lanes.size - (char *)lanes.leaf);
    lmi_octree_lanes_free(&lanes, &world->memory);
    free(regions), free(held);
}

static void cut_somewhere(lm_world *world, lm_body_id body, random_state *random)
{
    ref_vec at = ref_add(sums_of(world).middle, random_point(random)), u = random_unit(random), v = random_unit(random);
    double half = random_range(random, 0.05, 0.3);
    lm_dvec3 from[2], to[2];
    for (int k = 0; k < 2; k++) {
        ref_vec p = ref_add(at, ref_scale(k ? half : -half, u)), a = ref_sub(p, ref_scale(half, v)),
                b = ref_add(p, ref_scale(half, v));
        from[k] = (lm_dvec3){a.x, a.y, a.z}, to[k] = (lm_dvec3){b.x, b.y, b.z};
    }
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, NULL));
}

static uint32_t change_count = 90;

static void changes_equal_rebuilds(void **context)
{
    (void)context;
    uint32_t changes = change_count, per_body = 30, cuts = 0;
    random_state random = {11};
    for (uint32_t trial = 0; trial < changes / per_body; trial++) {
        lm_world *world = make_world(0.0);
        thing what = {trial % 2 ? "box" : "torus",
                      {1.6f, 0.5f, 0.8f},
                      (float)random_range(&random, 0.05, 0.07),
                      2 + random_below(&random, 2),
                      0};
        lm_body_id body = add(world, &what, still, (lm_vec3){0.3f, 0.2f, 0.1f});
        for (uint32_t n = 0; n < per_body; n++) {
            if (random_below(&random, 2)) {
                cut_somewhere(world, body, &random);
                cuts++;
            } else {
                ref_vec at = ref_add(sums_of(world).middle, random_point(&random));
                float size = what.spacing * (float)(1u << random_below(&random, what.levels + 1));
                assert_ok(lm_body_refine(world, body, (lm_dvec3){at.x, at.y, at.z},
                                         (float)random_range(&random, 0.1, 0.5), size, NULL));
            }
            assert_same_tree(world, &lmi_body_at(world, 0)->octree->tree);
            assert_same_body(world, lmi_body_in_step(world, 0));
            assert_ok(lm_world_step(world, 1.0 / 60.0));
        }
        lm_world_destroy(world);
    }
    print_message("%u changes, %u of them cuts\n", changes / per_body * per_body, cuts);
}

/* ---- the brush ---- */

static void brushes_divide_and_join(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &bar, still, still);
    uint32_t changed, coarse = info_of(world, body).particles;
    float least, most;
    sides_of(world, body, &least, &most);
    assert_near(least, 0.4, 1e-6);
    assert_ok(lm_body_refine(world, body, (lm_dvec3){0.8, 0, 0}, 0.2f, 0.05f, &changed));
    sides_of(world, body, &least, &most);
    assert_near(least, 0.05, 1e-6);
    assert_near(most, 0.4, 1e-6);
    assert_true(changed > 0 && info_of(world, body).particles > coarse);
    uint64_t hash = lm_world_hash(world);
    assert_ok(
        lm_body_refine(world, body, (lm_dvec3){0.8, 0, 0}, 0.2f, 0.05f, &changed)); /* there is nothing left to do */
    assert_int_equal(changed, 0);
    assert_true(lm_world_hash(world) == hash);
    assert_ok(lm_body_refine(world, body, (lm_dvec3){0, 0, 0}, 5.0f, 10.0f, &changed));
    assert_int_equal(info_of(world, body).particles, coarse);
    /* Wrong in every way. */
    lm_dvec3 nowhere = {NAN, 0, 0}, here = {0, 0, 0};
    assert_int_equal(lm_body_refine(world, body, nowhere, 1.0f, 1.0f, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_refine(world, body, here, 0.0f, 1.0f, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_refine(world, body, here, 1.0f, NAN, NULL), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_refine(world, body, (lm_dvec3){50, 0, 0}, 1.0f, 0.05f, &changed)); /* beside the body */
    assert_int_equal(changed, 0);
    lm_world_destroy(world);
}

/* Cells on two sides of a cut stay apart, and what is pinned stays pinned. */
static void nothing_is_joined_across_a_cut(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &bar, still, still);
    assert_ok(lm_body_refine(world, body, (lm_dvec3){0, 0, 0}, 5.0f, 0.05f, NULL));
    lm_dvec3 from[2] = {{0.1, 1, -1}, {0.1, 1, 1}}, to[2] = {{0.1, -1, -1}, {0.1, -1, 1}};
    lm_cut_info cut;
    assert_ok(lm_body_cut_sweep(world, body, from, to, 2, &cut));
    assert_int_equal(cut.parts, 2);
    uint32_t before = cut.particles;
    assert_ok(lm_body_refine(world, body, (lm_dvec3){0, 0, 0}, 5.0f, 0.4f, NULL));
    lm_body_info info = info_of(world, body);
    assert_int_equal(info.pieces, 2);
    assert_true(info.particles < before / 10);
    lm_world_destroy(world);
}

/* ---- by itself ---- */

/* Something that is dragged is fine where it is dragged, and coarse again when it is let go. */
static void touch_refines_and_goes(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &bar, still, still);
    lm_detail detail = lm_detail_default();
    detail.touch_size = 0.05f, detail.touch_radius = 0.15f, detail.per_step = 4, detail.hold = 0.2f;
    assert_ok(lm_body_set_detail(world, body, &detail));
    uint32_t coarse = info_of(world, body).particles, last = coarse, waiting, most = 0;
    lm_drag_def drag = lm_drag_def_default();
    drag.body = body;
    drag.particle = 0;
    drag.target = (lm_dvec3){-1.2, 0.3, 0.0};
    lm_drag_id id;
    assert_ok(lm_drag_create(world, &drag, &id));
    for (int n = 0; n < 60; n++) {
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        uint32_t now = info_of(world, body).particles;
        assert_true(now <= last + 7 * detail.per_step); /* spread over steps */
        last = now, most = now > most ? now : most;
    }
    float least, largest;
    sides_of(world, body, &least, &largest);
    assert_near(least, 0.05, 1e-6);
    assert_near(largest, 0.4, 1e-6);
    assert_ok(lm_drag_destroy(world, id));
    for (int n = 0; n < 200; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    print_message("%u particles, %u while it is dragged, %u after\n", coarse, most, info_of(world, body).particles);
    assert_int_equal(info_of(world, body).particles, coarse);
    assert_ok(lm_body_get_detail(world, body, &detail, &waiting));
    assert_int_equal(waiting, 0);
    assert_ok(lm_body_set_detail(world, body, NULL));
    lm_world_destroy(world);
}

/* The eye comes near and goes away; the budget holds all the time. */
static void the_eye_and_the_budget(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &bar, still, still);
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.1f, detail.per_step = 16, detail.hold = 0.05f, detail.budget = 150;
    assert_ok(lm_body_set_detail(world, body, &detail));
    uint32_t coarse = info_of(world, body).particles, most = 0;
    for (int n = 0; n < 90; n++) {
        lm_dvec3 eye = {n < 45 ? 1.0 : 20.0, 0.0, n < 45 ? 0.5 : 0.0};
        assert_ok(lm_world_set_eye(world, &eye));
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        uint32_t count = info_of(world, body).particles;
        assert_true(count <= 150);
        most = count > most ? count : most;
    }
    print_message("%u particles, %u from near, %u from far\n", coarse, most, info_of(world, body).particles);
    assert_true(most > 120);
    assert_true(info_of(world, body).particles <= coarse);
    lm_dvec3 wild = {INFINITY, 0, 0};
    assert_int_equal(lm_world_set_eye(world, &wild), LM_ERROR_ARGUMENT);
    detail.per_step = 0;
    assert_int_equal(lm_body_set_detail(world, body, &detail), LM_ERROR_ARGUMENT);

    /* What is attached to particles, or made of them, would be left behind when these change. */
    lm_bone bone = lm_bone_default();
    lm_skeleton_def bones = lm_skeleton_def_default();
    bones.body = body;
    bones.bones = &bone;
    bones.bone_count = 1;
    lm_skeleton_id skeleton;
    assert_int_equal(lm_skeleton_create(world, &bones, &skeleton), LM_ERROR_ARGUMENT);
    lm_vec3 pose[150];
    lm_examples_def examples = lm_examples_def_default();
    examples.poses = pose;
    examples.count = 1;
    examples.particles = info_of(world, body).particles;
    assert_ok(lm_body_get_rest_positions(world, body, pose));
    assert_int_equal(lm_body_set_examples(world, body, &examples), LM_ERROR_ARGUMENT);
    assert_ok(lm_body_set_detail(world, body, NULL));
    assert_ok(lm_skeleton_create(world, &bones, &skeleton));
    lm_world_destroy(world);
}

/* ---- the picture ---- */

/* The skin of a bent body over a change: what vertices jump by, against the cells. */
static void skins_do_not_jump(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &bar, still, (lm_vec3){0.0f, 6.0f, 2.0f});
    random_state random = {3};
    uint32_t count = info_of(world, body).skin_vertices;
    lm_vec3 *before = malloc(count * sizeof *before), *after = malloc(count * sizeof *after);
    double jump = 0.0, step = 0.0, end = 0.0;
    for (int n = 0; n < 24; n++) {
        if (n % 4 == 0) shake(world, &random, 0.8f);
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), before, NULL));
        ref_vec at = random_point(&random);
        assert_ok(lm_body_refine(world, body, (lm_dvec3){at.x, at.y, at.z}, 0.5f, n % 2 ? 0.4f : 0.05f, NULL));
        assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), after, NULL));
        for (uint32_t k = 0; k < count; k++) {
            ref_vec p = ref_v(before[k].x, before[k].y, before[k].z), q = ref_v(after[k].x, after[k].y, after[k].z);
            jump = fmax(jump, ref_length(ref_sub(p, q)));
        }
        const lmi_skin *skin = &lmi_body_at(world, 0)->skin;
        for (uint32_t k = 0; k < count; k++) { /* in single precision, as in double */
            lm_dvec3 exact = dvec_add(lmi_body_at(world, 0)->origin, lmi_skin_vertex(lmi_body_at(world, 0), k));
            assert_near(ref_length(ref_sub(to_double(after[k]), ref_v(exact.x, exact.y, exact.z))), 0.0, 3e-6);
        }
        for (uint32_t k = 0; skin->fading && k < count; k++)
            end = fmax(end, ref_length(ref_v(skin->fading[k].x, skin->fading[k].y, skin->fading[k].z)));
        step = fmax(step, end / 15.0);
    }
    print_message("at the change %.2g m; %.3g m (%.2g of a cell) fade, at most %.2g m in a step\n", jump, end,
                  end / 0.4, step);
    assert_true(jump < 1e-5);
    assert_true(end < 0.25 * 0.4);
    for (int n = 0; n < 20; n++) assert_ok(lm_world_step(world, 1.0 / 60.0));
    assert_null(lmi_body_at(world, 0)->skin.fading);
    free(before), free(after);
    lm_world_destroy(world);
}

/* ---- everywhere the same ---- */

static uint64_t live(lm_world *world, int from, int to)
{
    for (int n = from; n < to; n++) {
        lm_dvec3 eye = {2.0 - 0.05 * n, 0.3, 0.5};
        assert_ok(lm_world_set_eye(world, &eye));
        assert_ok(lm_world_step(world, 1.0 / 60.0));
    }
    return lm_world_hash(world);
}

static lm_world *lively_world(lm_isa isa, uint32_t workers)
{
    lm_world_def def = lm_world_def_default();
    def.isa = isa;
    def.workers = workers;
    def.gravity = (lm_vec3){0, 0, 0};
    lm_world *world;
    assert_ok(lm_world_create(&def, &world));
    lm_body_id body = add(world, &bar, (lm_vec3){0.1f, 0.0f, 0.0f}, (lm_vec3){1.0f, 2.0f, 0.5f});
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.08f, detail.per_step = 5, detail.hold = 0.1f, detail.budget = 400;
    assert_ok(lm_body_set_detail(world, body, &detail));
    return world;
}

static void the_same_everywhere(void **context)
{
    (void)context;
    uint64_t first = 0;
    for (uint32_t isa = 0; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        for (uint32_t workers = 1; workers <= 2; workers++) {
            lm_world *world = lively_world((lm_isa)isa, workers);
            uint64_t hash = live(world, 0, 40);
            first = first ? first : hash;
            assert_true(hash == first);
            lm_world_destroy(world);
        }
    }
}

/* A snapshot in the middle of it goes on as if there had been none. */
static void snapshots_go_on(void **context)
{
    (void)context;
    lm_world *world = lively_world(LM_ISA_BEST, 1), *other = make_world(0.0);
    live(world, 0, 17);
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    assert_true(lm_world_hash(world) == lm_world_hash(other));
    assert_true(live(world, 17, 45) == live(other, 17, 45));
    free(bytes);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

/* A world that has never had an octree refines one that it has loaded. */
static void loaded_bodies_refine(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0), *other = make_world(0.0);
    lm_body_id body = add(world, &bar, still, still);
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.1f, detail.per_step = 16, detail.hold = 0.05f, detail.budget = 150;
    assert_ok(lm_body_set_detail(world, body, &detail));
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    assert_ok(lm_world_load(other, bytes, size));
    uint32_t coarse = info_of(other, body).particles;
    lm_dvec3 near = {1.0, 0.0, 0.5};
    assert_ok(lm_world_set_eye(other, &near));
    for (int n = 0; n < 5; n++) assert_ok(lm_world_step(other, 1.0 / 60.0));
    assert_true(info_of(other, body).particles > coarse);
    free(bytes);
    lm_world_destroy(world);
    lm_world_destroy(other);
}

/* Cuts, changes of detail and pulls at once: nothing is lost, and nothing flies apart. */
static void abuse(void **context)
{
    (void)context;
    random_state random = {23};
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &beam, still, (lm_vec3){1.0f, 0.5f, 2.0f});
    lm_detail detail = lm_detail_default();
    detail.eye_angle = 0.2f, detail.per_step = 30, detail.hold = 0.0f, detail.budget = 600;
    assert_ok(lm_body_set_detail(world, body, &detail));
    sums first = sums_of(world);
    double worst = 0.0;
    for (int n = 0; n < 120; n++) {
        ref_vec e = ref_scale(random_range(&random, 0.5, 6.0), random_unit(&random));
        lm_dvec3 eye = {e.x, e.y, e.z};
        assert_ok(lm_world_set_eye(world, &eye));
        if (n % 10 == 3) cut_somewhere(world, body, &random);
        if (n % 10 == 7) {
            ref_vec at = random_point(&random);
            assert_ok(lm_body_refine(world, body, (lm_dvec3){at.x, at.y, at.z}, 0.3f, n % 20 == 7 ? 0.1f : 0.4f, NULL));
        }
        assert_ok(lm_world_step(world, 1.0 / 60.0));
        sums now = sums_of(world);
        now.middle = first.middle;
        worst = fmax(worst, difference(&first, &now, 2.0));
        assert_true(info_of(world, body).particles <= 600 || n % 10 == 3);
    }
    print_message("%u particles, %u pieces; mass, momentum and spin drift by %.2g\n", info_of(world, body).particles,
                  info_of(world, body).pieces, worst);
    assert_true(worst < 1e-4);
    lm_world_destroy(world);
}

/* With a number: so many changes are compared with rebuilds. */
int main(int count, char **words)
{
    change_count = count > 1 ? (uint32_t)strtoul(words[1], NULL, 10) : change_count;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brushes_divide_and_join),
        cmocka_unit_test(nothing_is_joined_across_a_cut),
        cmocka_unit_test(what_must_stay_stays),
        cmocka_unit_test(changes_equal_rebuilds),
        cmocka_unit_test(touch_refines_and_goes),
        cmocka_unit_test(the_eye_and_the_budget),
        cmocka_unit_test(skins_do_not_jump),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(snapshots_go_on),
        cmocka_unit_test(loaded_bodies_refine),
        cmocka_unit_test(abuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
