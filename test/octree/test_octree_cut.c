/*
 * Cuts through octrees and lattices: what is severed, that every surface stays closed and keeps its volume, that only what is near a cut is
 * found again, and that nothing else changes.
 */
#include "limber/shapes.h"
#include "octree/octree_blade.h"
#include "octree/octree_body.h"
#include "test/support/boxes.h"
#include "test/support/skins.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* ---- bodies and blades ---- */

typedef struct thing {
    const char *shape;
    lm_vec3 size;
    float spacing;
    uint32_t levels;
} thing;

static bool touches_itself = false; /* bodies that are added */

static lm_body_id add_moving(lm_world *world, const thing *what, lm_vec3 velocity, lm_vec3 spin)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    how.name = what->shape;
    how.size = what->size;
    how.detail = 8;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.octree.vertices = mesh.vertices;
    def.octree.vertex_count = mesh.vertex_count;
    def.octree.triangles = mesh.triangles;
    def.octree.triangle_count = mesh.triangle_count;
    def.octree.spacing = what->spacing;
    def.octree.levels = what->levels;
    def.octree.width = what->spacing * (float)(1u << what->levels);
    def.mass = 2.0f;
    def.velocity = velocity;
    def.spin = spin;
    def.self_contact = touches_itself;
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

static lm_body_id add(lm_world *world, const thing *what)
{
    return add_moving(world, what, (lm_vec3){0, 0, 0}, (lm_vec3){0, 0, 0});
}

static const thing plain_box = {"box", {1.0f, 1.0f, 1.0f}, 0.1f, 2};

/* How far the vertices of inner faces are from a plane, on average. */
static double roughness(const lm_world *world, lm_body_id body, ref_vec at, ref_vec normal)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *skin = malloc(info.skin_vertices * sizeof *skin);
    uint32_t *sources = malloc(info.skin_vertices * sizeof *sources), count = 0;
    double sum = 0.0;
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), skin, NULL));
    assert_ok(lm_body_get_skin_sources(world, body, sources));
    for (uint32_t n = 0; n < info.skin_vertices; n++) {
        if (sources[n] != LM_SKIN_INNER) continue;
        sum += fabs(ref_dot(ref_sub(ref_v(skin[n].x, skin[n].y, skin[n].z), at), normal)) / ref_length(normal);
        count++;
    }
    free(skin), free(sources);
    assert_true(count > 100);
    return sum / count;
}

/* ---- tests ---- */

/* A box cut in two: two pieces that keep what they have, closed, and go their own ways. */
static void a_blade_severs(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    lm_body_id body = add(world, &plain_box);
    lm_body_info before = info_of(world, body);
    double volume, whole;
    assert_int_equal(skin_open_edges(world, body, &whole), 0);
    lm_cut_info cut = cut_square(world, body, ref_v(0.02, 0, 0), ref_v(1, 0.3, 0.2), 2.0, 0.3);
    assert_int_equal(cut.parts, 2);
    assert_true(cut.particles > before.particles && cut.links > 80);
    lm_body_info after = info_of(world, body);
    assert_int_equal(after.pieces, 2);
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    assert_near(volume, whole, 1e-3 * whole);
    /* Inner faces lie on the blade: cells are 0.1 m, and faces of cells would be 0.03 m off. */
    assert_at_most(roughness(world, body, ref_v(0.02, 0, 0), ref_v(1, 0.3, 0.2)), 0.008);
    uint32_t *pieces = malloc(after.particles * sizeof *pieces);
    lm_vec3 *velocities = calloc(after.particles, sizeof *velocities), *at = calloc(after.particles, sizeof *at);
    assert_ok(lm_body_get_pieces(world, body, pieces));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    for (uint32_t n = 0; n < after.particles; n++) velocities[n].x = pieces[n] == pieces[0] ? -1.0f : 1.0f;
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, velocities));
    steps(world, 30);
    lm_vec3 *now = calloc(after.particles, sizeof *now);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
    for (uint32_t n = 0; n < after.particles; n++)
        assert_near(now[n].x - at[n].x, 0.5 * velocities[n].x, 2e-3); /* no piece feels the other */
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    assert_near(volume, whole, 1e-2 * whole);
    free(pieces), free(velocities), free(at), free(now);
    lm_world_destroy(world);
}

/* Random strokes, one after the other, through all kinds of bodies while they move: closed and as large as before after each. */
static void surfaces_stay_closed(void **context)
{
    (void)context;
    static const thing things[] = {{"box", {1.0f, 0.7f, 0.8f}, 0.083f, 2},
                                   {"sphere", {1.0f, 1.0f, 1.0f}, 0.091f, 2},
                                   {"torus", {1.2f, 0.4f, 1.2f}, 0.06f, 1},
                                   {"cylinder", {0.6f, 1.2f, 0.6f}, 0.1f, 3}};
    random_state random = {77};
    for (uint32_t k = 0; k < 4; k++) {
        lm_world *world = make_world(0.0);
        lm_body_id body = add(world, &things[k]);
        double volume, whole, worst = 0.0;
        uint32_t parts = 1;
        assert_int_equal(skin_open_edges(world, body, &whole), 0);
        for (int n = 0; n < 25; n++) {
            ref_vec at = random_in_cube(&random, 0.4);
            lm_cut_info cut = cut_square(world, body, at, random_unit(&random), random_range(&random, 0.1, 0.9),
                                         random_range(&random, 0.0, 6.0));
            parts = cut.parts;
            uint32_t open = skin_open_edges(world, body, &volume);
            if (open) print_message("%s, cut %d: %u open edges\n", things[k].shape, n, open);
            assert_int_equal(open, 0);
            worst = fmax(worst, fabs(volume - whole) / whole);
            steps(world, 1);
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
        }
        print_message("%s: %u parts, %u particles, volume within %.2g\n", things[k].shape, parts,
                      info_of(world, body).particles, worst);
        assert_true(parts > 3);
        assert_at_most(worst, 0.01);
        lm_world_destroy(world);
    }
}

/* What a local update leaves is what a search of all regions finds. */
static void local_updates_equal_rebuilds(void **context)
{
    (void)context;
    random_state random = {5};
    uint32_t found = 0, all = 0;
    for (int trial = 0; trial < 6; trial++) {
        lm_world *world = make_world(0.0);
        thing what = {trial % 2 ? "box" : "torus",
                      {2.0f, 0.5f, 1.0f},
                      (float)random_range(&random, 0.06, 0.09),
                      1 + random_below(&random, 3)};
        lm_body_id body = add(world, &what);
        for (int n = 0; n < 20; n++) {
            lm_cut_info cut = cut_square(world, body, random_in_cube(&random, 0.8), random_unit(&random),
                                         random_range(&random, 0.05, 0.4), 0.0);
            lmi_octree *t = &lmi_body_at(world, 0)->octree->tree;
            found += cut.regions_found;
            all += cut.links ? t->leaf_count : 0;
            lmi_octree_lists kept = t->regions;
            memset(&t->regions, 0, sizeof t->regions);
            assert_true(lmi_octree_find_regions(t, &world->memory));
            assert_int_equal(t->regions.item_count, kept.item_count);
            assert_memory_equal(t->regions.offsets, kept.offsets, (t->leaf_count + 1) * sizeof *kept.offsets);
            assert_memory_equal(t->regions.items, kept.items, kept.item_count * sizeof *kept.items);
            lmi_octree_lists_free(&kept, &world->memory);
        }
        lm_world_destroy(world);
    }
    print_message("%u of %u regions were found again\n", found, all);
    assert_true(found < all * 3 / 4);
}

/* ---- one after the other against all at once ---- */

/* Skin, touch points and solid of a body that was cut many times are those of one that was loaded, which makes all of them anew. */
static void assert_like_new(const lm_world *world)
{
    size_t size = lm_world_save_size(world);
    void *bytes = malloc(size);
    assert_ok(lm_world_save(world, bytes, size));
    lm_world *loaded = make_world(0.0);
    assert_ok(lm_world_load(loaded, bytes, size));
    const lmi_body *a = lmi_body_at(world, 0), *b = lmi_body_at(loaded, 0);
    const lmi_skin *s = &a->skin, *t = &b->skin;
    assert_int_equal(s->vertex_count, t->vertex_count);
    assert_int_equal(s->triangle_count, t->triangle_count);
    assert_int_equal(s->weight_count, t->weight_count);
    assert_memory_equal(s->triangles, t->triangles, (size_t)s->triangle_count * 3 * sizeof *s->triangles);
    assert_memory_equal(s->vertices, t->vertices, s->vertex_count * sizeof *s->vertices);
    assert_memory_equal(s->offsets, t->offsets, (s->vertex_count + 1) * sizeof *s->offsets);
    assert_memory_equal(s->riders, t->riders, s->weight_count * sizeof *s->riders);
    assert_memory_equal(s->weights, t->weights, s->weight_count * sizeof *s->weights);
    assert_int_equal(a->shape_hash, b->shape_hash);
    assert_true(!a->skin.sources || memcmp(s->sources, t->sources, s->vertex_count * sizeof *s->sources) == 0);
    const lmi_touch *p = &a->touch, *q = &b->touch;
    assert_int_equal(p->count, q->count);
    assert_int_equal(p->rows, q->rows);
    assert_memory_equal(p->first_row, q->first_row, (p->blocks + 1) * sizeof *p->first_row);
    assert_memory_equal(p->weight, q->weight, (size_t)p->rows * LMI_BLOCK * sizeof *p->weight);
    assert_memory_equal(p->rider, q->rider, (size_t)p->rows * LMI_BLOCK * sizeof *p->rider);
    assert_memory_equal(p->inner, q->inner, p->inner_blocks * sizeof *p->inner);
    assert_memory_equal(p->carrier, q->carrier, p->count * sizeof *p->carrier);
    assert_memory_equal(p->facing, q->facing, p->count * sizeof *p->facing);
    const lmi_mould *m = a->bulk->mould, *n = b->bulk->mould;
    size_t riders = (size_t)m->carrier_count * m->carrier_riders;
    assert_int_equal(m->carrier_count, n->carrier_count);
    assert_int_equal(m->carrier_riders, n->carrier_riders);
    assert_true(m->reach == n->reach);
    assert_memory_equal(m->rider, n->rider, riders * sizeof *m->rider);
    assert_memory_equal(m->weight, n->weight, riders * sizeof *m->weight);
    assert_memory_equal(m->gradient, n->gradient, 3 * riders * sizeof *m->gradient);
    assert_memory_equal(m->lever, n->lever, (size_t)3 * m->carrier_count * sizeof *m->lever);
    free(bytes);
    lm_world_destroy(loaded);
}

/* The whole of a series of cuts through a body that touches itself. */
static void local_surfaces_equal_rebuilds(void **context)
{
    (void)context;
    static const thing things[] = {{"box", {1.0f, 0.7f, 0.8f}, 0.083f, 2}, {"torus", {1.2f, 0.4f, 1.2f}, 0.05f, 2}};
    random_state random = {78};
    for (uint32_t k = 0; k < 2; k++) {
        lm_world *world = make_world(-2.0);
        touches_itself = true;
        lm_body_id body = add(world, &things[k]);
        touches_itself = false;
        uint32_t given = info_of(world, body).skin_vertices, links = 0;
        for (int n = 0; n < 16; n++) {
            ref_vec at = random_in_cube(&random, 0.4);
            links += cut_square(world, body, at, random_unit(&random), random_range(&random, 0.05, 0.5), 0.0).links;
            assert_like_new(world);
            steps(world, 1);
        }
        assert_true(links > 300 && info_of(world, body).skin_vertices > given + 300);
        lm_world_destroy(world);
    }
}

/* Blades that are nothing, or nowhere, or exactly where particles are. */
static void odd_blades(void **context)
{
    (void)context;
    lm_world *world = make_world(0.0);
    thing what = {"box", {0.8f, 0.8f, 0.8f}, 0.1f, 3};
    lm_body_id body = add(world, &what);
    uint64_t hash = lm_world_hash(world);
    lm_dvec3 points[4] = {{-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}};
    lm_cut_info info;
    assert_ok(lm_body_cut_sweep(world, body, points, points + 2, 2, &info)); /* an edge that stays where it is */
    assert_int_equal(info.links, 0);
    info = cut_square(world, body, ref_v(0, 3, 0), ref_v(0, 1, 0), 1.0, 0.0); /* beside the body */
    assert_int_equal(info.links, 0);
    lm_blade none = lm_blade_default();
    assert_ok(lm_body_cut(world, body, &none, NULL));
    assert_true(lm_world_hash(world) == hash);
    none.triangle_count = 1;
    assert_int_equal(lm_body_cut(world, body, &none, NULL), LM_ERROR_ARGUMENT);
    lm_dvec3 wild[3] = {{NAN, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    uint32_t corners[3] = {0, 1, 2};
    none.vertices = wild, none.vertex_count = 3, none.triangles = corners;
    assert_int_equal(lm_body_cut(world, body, &none, NULL), LM_ERROR_ARGUMENT);
    wild[0].x = 0.0, corners[2] = 3;
    assert_int_equal(lm_body_cut(world, body, &none, NULL), LM_ERROR_ARGUMENT);
    assert_int_equal(lm_body_cut_sweep(world, body, points, points, 1, NULL), LM_ERROR_ARGUMENT);
    assert_true(lm_world_hash(world) == hash);
    double volume;
    /* Through the middles of cells, along their faces, and the same again. */
    for (int k = 0; k < 3; k++) {
        double at[3] = {0.05, -0.2, 0.05};
        info = cut_square(world, body, ref_v(0, at[k], 0), ref_v(0, 1, 0), 1.0, 0.0);
        assert_int_equal(info.links, k < 2 ? 64 : 0);
        assert_int_equal(info.parts, k < 1 ? 2 : 3);
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_near(volume, 0.512, 1e-5);
    }
    lm_world_destroy(world);
}

/* Down to the last voxel: bounded, closed, and it still steps. */
static void crumbs(void **context)
{
    (void)context;
    lm_world *world = make_world(-1.0);
    thing what = {"box", {0.8f, 0.8f, 0.8f}, 0.1f, 2};
    lm_body_id body = add(world, &what);
    lm_collider_def floor = lm_collider_def_default();
    lm_collider_id id;
    floor.pose.position.y = -0.5;
    assert_ok(lm_collider_create(world, &floor, &id));
    lm_cut_info info = {0};
    for (int axis = 0; axis < 3; axis++)
        for (int k = 1; k < 8; k++) {
            double at = -0.4 + 0.1 * k;
            info = cut_square(world, body, ref_v(axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0),
                              ref_v(axis == 0, axis == 1, axis == 2), 1.0, 0.0);
        }
    assert_int_equal(info.parts, 512);
    assert_int_equal(info.particles, 512);
    double volume;
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    assert_near(volume, 0.512, 1e-5);
    steps(world, 60);
    lm_body_info after = info_of(world, body);
    assert_true(isfinite(after.centre.y) && after.lower.y > -0.6);
    lm_world_destroy(world);
}

/* A spinning body is cut: mass, momentum and spin are what they were, to rounding. */
static void momentum_is_kept(void **context)
{
    (void)context;
    random_state random = {9};
    lm_world *world = make_world(0.0);
    lm_body_id body = add_moving(world, &plain_box, (lm_vec3){1.0f, 0.5f, 0.0f}, (lm_vec3){0.0f, 3.0f, 1.0f});
    steps(world, 5);
    for (int n = 0; n < 12; n++) {
        lm_body_info before = info_of(world, body);
        cut_square(world, body,
                   ref_add(ref_v(before.centre.x, before.centre.y, before.centre.z), random_in_cube(&random, 0.3)),
                   random_unit(&random), 0.5, 0.0);
        lm_body_info after = info_of(world, body);
        assert_near(after.mass, before.mass, 1e-5);
        assert_near(after.velocity.x, before.velocity.x, 1e-5);
        assert_near(after.velocity.y, before.velocity.y, 1e-5);
        assert_near(after.angular_momentum.y, before.angular_momentum.y, 2e-5);
        assert_near(after.angular_momentum.z, before.angular_momentum.z, 2e-5);
        assert_near(after.centre.x, before.centre.x, 1e-5);
        steps(world, 3);
    }
    lm_world_destroy(world);
}

/* The upper half of a box falls on a block that only its cut face can meet, and stays on it. */
static void faces_of_cuts_touch(void **context)
{
    (void)context;
    lm_world *world = make_world(-3.0);
    lm_body_id body = add(world, &plain_box);
    lm_cut_info cut = cut_square(world, body, ref_v(0, 0.02, 0), ref_v(0, 1, 0), 2.0, 0.0);
    assert_int_equal(cut.parts, 2);
    uint32_t *pieces = malloc(cut.particles * sizeof *pieces), count = 0;
    lm_vec3 *at = malloc(cut.particles * sizeof *at);
    assert_ok(lm_body_get_pieces(world, body, pieces));
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    /* The upper half goes up, the lower one aside; a block comes where its cut face will be. */
    double top[2] = {-INFINITY, -INFINITY};
    for (uint32_t n = 0; n < cut.particles; n++) top[pieces[n]] = fmax(top[pieces[n]], at[n].y);
    uint32_t upper = top[0] > top[1] ? 0 : 1;
    for (uint32_t n = 0; n < cut.particles; n++) {
        if (pieces[n] == upper)
            at[n].y += 0.6f, count++;
        else
            at[n].x += 5.0f;
    }
    assert_true(count > 10);
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, NULL));
    lm_collider_def block = lm_collider_def_default();
    lm_collider_id id;
    block.shape = LM_SHAPE_BOX;
    block.half_extents = (lm_vec3){0.3f, 0.1f, 0.3f};
    block.pose.position = (lm_dvec3){0, 0.3, 0};
    assert_ok(lm_collider_create(world, &block, &id));
    steps(world, 120);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    double middle = 0.0;
    for (uint32_t n = 0; n < cut.particles; n++)
        if (pieces[n] == upper) middle += at[n].y / count;
    assert_at_most(0.4 + 0.15, middle); /* half of the half lies above the block: about 0.65 */
    assert_at_most(middle, 0.75);
    free(pieces), free(at);
    lm_world_destroy(world);
}

/* A lattice that can break parts along a blade, between its chips, wherever the blade is. */
static void lattices_are_cut_too(void **context)
{
    (void)context;
    random_state random = {31};
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.5f, -0.5f, -0.5f}, (lm_vec3){0.5f, 0.5f, 0.5f});
    for (int trial = 0; trial < 6; trial++) {
        lm_world *world = make_world(0.0);
        lm_body_def def = lm_body_def_default();
        def.material.hertz = 8.0f;
        def.lattice.vertices = b.vertices, def.lattice.vertex_count = 8;
        def.lattice.triangles = b.triangles, def.lattice.triangle_count = 12;
        def.lattice.spacing = 0.1f;
        lm_body_id body = make_body(world, &def);
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = b.vertices, skin.vertex_count = 8;
        skin.triangles = b.triangles, skin.triangle_count = 12;
        assert_ok(lm_body_set_skin(world, body, &skin));
        lm_fracture_def tough = lm_fracture_def_default();
        tough.limit = 100.0f;
        assert_ok(lm_body_set_fracture(world, body, &tough));
        lm_cut_info cut = cut_square(world, body, random_in_cube(&random, 0.15), random_unit(&random), 3.0, 0.0);
        assert_int_equal(cut.parts, 2);
        assert_true(cut.links >= 40 && lm_world_get_breaks(world, NULL, 0) == cut.links);
        double volume;
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_near(volume, 1.0, 1e-4);
        lm_world_destroy(world);
    }
}

/* A lattice of a cube that cannot break, with its skin. */
static lm_body_id add_unbreakable(lm_world *world, const boxes *b)
{
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    def.lattice.vertices = b->vertices, def.lattice.vertex_count = 8;
    def.lattice.triangles = b->triangles, def.lattice.triangle_count = 12;
    def.lattice.spacing = 0.1f;
    def.mask = 1;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.vertices = b->vertices, skin.vertex_count = 8;
    skin.triangles = b->triangles, skin.triangle_count = 12;
    assert_ok(lm_body_set_skin(world, body, &skin));
    return body;
}

/* Each half gets a velocity of its own along x, which grows outwards: it moves away, and is strained far beyond any limit. */
static void pull_apart(lm_world *world, lm_body_id body, double speed)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *at = malloc(info.particles * sizeof *at), *velocities = malloc(info.particles * sizeof *velocities);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    for (uint32_t n = 0; n < info.particles; n++)
        velocities[n] = (lm_vec3){(float)speed * at[n].x, (float)speed * at[n].y, 0.0f};
    assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, velocities));
    free(at), free(velocities);
}

static uint32_t count_breaks(lm_world *world, uint32_t frames)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < frames; n++) {
        steps(world, 1);
        count += lm_world_get_breaks(world, NULL, 0);
    }
    return count;
}

/* Of the particles of a piece: the lowest and the highest x. */
static void range_of(lm_world *world, lm_body_id body, uint32_t piece, double range[2])
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *at = malloc(info.particles * sizeof *at);
    uint32_t *pieces = malloc(info.particles * sizeof *pieces);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
    assert_ok(lm_body_get_pieces(world, body, pieces));
    range[0] = INFINITY, range[1] = -INFINITY;
    for (uint32_t n = 0; n < info.particles; n++) {
        if (pieces[n] == piece) {
            range[0] = fmin(range[0], at[n].x), range[1] = fmax(range[1], at[n].x);
        }
    }
    free(at), free(pieces);
}

/* A lattice that cannot break is cut in two, and is otherwise as unbreakable as before. */
static void unbreakable_lattices_are_cut(void **context)
{
    (void)context;
    boxes b = {.count = 0};
    boxes_add(&b, (lm_vec3){-0.5f, -0.5f, -0.5f}, (lm_vec3){0.5f, 0.5f, 0.5f});
    lm_world *world = make_world(0.0);
    lm_body_id body = add_unbreakable(world, &b);
    uint64_t hash = lm_world_hash(world);
    lm_blade none = lm_blade_default();
    assert_ok(lm_body_cut(world, body, &none, NULL));
    lm_cut_info cut = cut_square(world, body, ref_v(3, 0, 0), ref_v(1, 0.1, 0), 3.0, 0.0); /* beside it */
    assert_int_equal(cut.links, 0);
    assert_int_equal(cut.parts, 1);
    assert_true(lm_world_hash(world) == hash);

    cut = cut_square(world, body, ref_v(0.02, 0, 0), ref_v(1, 0.2, 0.1), 3.0, 0.0);
    assert_int_equal(cut.parts, 2);
    assert_true(cut.links >= 40 && lm_world_get_breaks(world, NULL, 0) == cut.links);
    bool breaks = true;
    lm_fracture_def def;
    assert_ok(lm_body_get_fracture(world, body, &breaks, &def));
    assert_false(breaks);
    double volume;
    assert_int_equal(skin_open_edges(world, body, &volume), 0);
    assert_near(volume, 1.0, 1e-4);

    size_t size = lm_world_save_size(world);
    void *snapshot = malloc(size);
    assert_ok(lm_world_save(world, snapshot, size));
    pull_apart(world, body, 20.0); /* a link of 0.1 m would be three times as long after one of the steps below */
    assert_int_equal(count_breaks(world, 60), 0);
    assert_int_equal(info_of(world, body).broken_links, cut.links);
    double left[2], right[2];
    range_of(world, body, 0, left);
    range_of(world, body, 1, right);
    assert_at_most(2.0, fmax(left[0] - right[1], right[0] - left[1])); /* metres between the halves */
    hash = lm_world_hash(world);

    assert_ok(lm_world_load(world, snapshot, size));
    pull_apart(world, body, 20.0);
    assert_int_equal(count_breaks(world, 60), 0);
    assert_true(lm_world_hash(world) == hash);

    assert_ok(lm_world_load(world, snapshot, size)); /* with a limit, the same pull breaks it */
    def = lm_fracture_def_default();
    assert_ok(lm_body_set_fracture(world, body, &def));
    pull_apart(world, body, 20.0);
    assert_true(count_breaks(world, 60) > 0);
    free(snapshot);
    lm_world_destroy(world);
}

/* A pin holds what it held, whatever that has become. */
static void pins_stay(void **context)
{
    (void)context;
    lm_world *world = make_world(-5.0);
    lm_body_id body = add(world, &plain_box);
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = malloc(info.particles * sizeof *rest);
    uint32_t *top = malloc(info.particles * sizeof *top), count = 0;
    assert_ok(lm_body_get_rest_positions(world, body, rest));
    for (uint32_t n = 0; n < info.particles; n++)
        if (rest[n].y > 0.25f) top[count++] = n;
    lm_pin_def held = lm_pin_def_default();
    lm_pin_id pin;
    held.body = body;
    held.particles = top;
    held.particle_count = count;
    assert_ok(lm_pin_create(world, &held, &pin));
    cut_square(world, body, ref_v(0.02, 0.4, 0.01), ref_v(1, 0.2, 0.1), 0.3, 0.0); /* through what is held */
    lm_cut_info cut = cut_square(world, body, ref_v(0, -0.1, 0), ref_v(0.1, 1, 0.2), 2.0, 0.0);
    assert_int_equal(cut.parts, 2);
    steps(world, 60);
    free(rest), free(top);
    info = info_of(world, body);
    rest = malloc(info.particles * sizeof *rest);
    uint32_t *pieces = malloc(info.particles * sizeof *pieces);
    assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), rest));
    assert_ok(lm_body_get_pieces(world, body, pieces));
    double highest[2] = {-INFINITY, -INFINITY};
    for (uint32_t n = 0; n < info.particles; n++) highest[pieces[n]] = fmax(highest[pieces[n]], rest[n].y);
    assert_at_most(fmin(highest[0], highest[1]), -1.5);
    assert_at_most(0.25, fmax(highest[0], highest[1]));
    free(rest), free(pieces);
    lm_world_destroy(world);
}

/* The same on every machine, and after a snapshot. */
static void the_same_everywhere(void **context)
{
    (void)context;
    uint64_t hash = 0;
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        if (!lm_isa_supported((lm_isa)isa)) continue;
        lm_world *world = make_world_with(-3.0, (lm_isa)isa, 1 + (uint32_t)isa % 3);
        lm_body_id body = add(world, &plain_box);
        random_state random = {3};
        for (int n = 0; n < 6; n++) {
            cut_square(world, body, random_in_cube(&random, 0.3), random_unit(&random), 0.6, 0.0);
            steps(world, 4);
        }
        size_t size = lm_world_save_size(world);
        void *bytes = malloc(size);
        assert_ok(lm_world_save(world, bytes, size));
        lm_world *loaded = make_world_with(0.0, (lm_isa)isa, 2);
        assert_ok(lm_world_load(loaded, bytes, size));
        assert_true(lm_world_hash(loaded) == lm_world_hash(world));
        assert_true(info_of(loaded, body).shape_hash == info_of(world, body).shape_hash);
        for (int n = 0; n < 2; n++) {
            lm_world *one = n ? loaded : world;
            steps(one, 5);
            cut_square(one, body, ref_v(0.1, 0, 0.1), ref_v(0.5, 0.5, 0.7), 2.0, 0.0);
            steps(one, 5);
        }
        assert_true(lm_world_hash(loaded) == lm_world_hash(world));
        assert_true(info_of(loaded, body).shape_hash == info_of(world, body).shape_hash);
        assert_true(!hash || lm_world_hash(world) == hash);
        hash = lm_world_hash(world);
        free(bytes);
        lm_world_destroy(world);
        lm_world_destroy(loaded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattices_are_cut_too),
        cmocka_unit_test(unbreakable_lattices_are_cut),
        cmocka_unit_test(a_blade_severs),
        cmocka_unit_test(surfaces_stay_closed),
        cmocka_unit_test(local_surfaces_equal_rebuilds),
        cmocka_unit_test(odd_blades),
        cmocka_unit_test(local_updates_equal_rebuilds),
        cmocka_unit_test(crumbs),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(faces_of_cuts_touch),
        cmocka_unit_test(pins_stay),
        cmocka_unit_test(the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
