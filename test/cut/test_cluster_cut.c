/*
 * Cuts through clusters and tetrahedra: what is severed goes its own way, every surface stays closed and keeps its volume, mass and
 * motion stay, and whatever is held stays held.
 */
#include "limber/shapes.h"
#include "test/support/skins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lm_body_info info_of(const lm_world *world, lm_body_id body)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, body, &info));
    return info;
}

/* ---- bodies ---- */

typedef enum build { CLUSTERS, CLUSTERS_ON_REGIONS, RINGS, ONE_CLUSTER, TETS, BUILD_COUNT } build;

static const char *const build_names[] = {"clusters", "clusters, skin on regions", "rings", "one cluster", "tets"};

typedef struct thing {
    build how;
    const char *shape;
    lm_vec3 size;
    lm_vec3 velocity, spin;
    bool bare; /* without a skin */
    lm_contact_points points;
    uint32_t mask; /* what it touches */
} thing;

static void choose_clusters(lm_body_def *def, const thing *what, const lm_shape_cloud *cloud)
{
    def->points = cloud->points;
    def->point_count = cloud->point_count;
    if (what->how == CLUSTERS || what->how == CLUSTERS_ON_REGIONS) {
        def->clusters.counts[0] = def->clusters.counts[1] = def->clusters.counts[2] = 3;
        def->clusters.overlap = 0.5f;
    }
}

static lm_body_id add(lm_world *world, const thing *what)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    lm_shape_cloud cloud;
    how.name = what->shape;
    how.size = what->size;
    how.detail = 7;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    assert_ok(lm_shape_make_cloud(&how, &mesh, 0, &cloud));
    lm_body_def def = lm_body_def_default();
    def.material.hertz = 8.0f;
    if (what->how == TETS || what->how == RINGS) {
        def.tets.vertices = mesh.vertices;
        def.tets.vertex_count = mesh.vertex_count;
        def.tets.triangles = mesh.triangles;
        def.tets.triangle_count = mesh.triangle_count;
        def.tets.particles = what->how == TETS ? 500 : 200;
    } else {
        choose_clusters(&def, what, &cloud);
    }
    def.mass = 2.0f;
    def.velocity = what->velocity;
    def.spin = what->spin;
    def.contact_points = what->points;
    def.mask = what->mask;
    lm_body_id body = make_body(world, &def);
    lm_skin_def skin = lm_skin_def_default();
    skin.kind = what->how == CLUSTERS_ON_REGIONS || what->how == RINGS ? LM_SKIN_REGIONS : LM_SKIN_PARTICLES;
    skin.vertices = mesh.vertices;
    skin.vertex_count = mesh.vertex_count;
    skin.triangles = mesh.triangles;
    skin.triangle_count = mesh.triangle_count;
    if (!what->bare) assert_ok(lm_body_set_skin(world, body, &skin));
    lm_shape_mesh_free(&mesh);
    lm_shape_cloud_free(&cloud);
    return body;
}

static const lm_vec3 unit_size = {1.0f, 1.0f, 1.0f};

/* ---- tests ---- */

/* Vertices of the skin at rest have gone half a metre, each the way of its side of the cut. */
static void expect_skin_apart(const lm_world *world, lm_body_id body)
{
    lm_body_info info = info_of(world, body);
    lm_vec3 *rest = malloc(info.skin_vertices * sizeof *rest), *now = malloc(info.skin_vertices * sizeof *now);
    uint32_t sides[2] = {0, 0};
    assert_ok(lm_body_get_skin_rest(world, body, rest));
    assert_ok(lm_body_get_skin(world, body, lm_dvec3_zero(), now, NULL));
    for (uint32_t n = 0; n < info.skin_vertices; n++) {
        double beyond = (rest[n].x - 0.06) + 0.15 * (rest[n].y - 0.03) + 0.1 * (rest[n].z - 0.02);
        if (fabs(beyond) < 0.08) continue; /* a sliver may have stayed with the other side */
        assert_near(now[n].x - rest[n].x, beyond < 0.0 ? -0.5 : 0.5, 0.02);
        sides[beyond < 0.0]++;
    }
    assert_true(sides[0] > 50 && sides[1] > 50);
    free(rest), free(now);
}

/* A box cut in two: two pieces that keep what they have, closed, and go their own ways. */
static void a_blade_severs(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how++)
        for (int bare = 0; bare < 2; bare++) {
            lm_world *world = make_world(0.0);
            thing what = {.how = (build)how, .shape = "box", .size = unit_size, .bare = bare};
            lm_body_id body = add(world, &what);
            lm_body_info before = info_of(world, body);
            double volume = 0.0, whole = 0.0;
            if (!bare) assert_int_equal(skin_open_edges(world, body, &whole), 0);
            lm_cut_info cut = cut_square(world, body, ref_v(0.06, 0.03, 0.02), ref_v(1, 0.15, 0.1), 2.0, 0.3);
            assert_int_equal(cut.parts, 2);
            lm_body_info after = info_of(world, body);
            assert_int_equal(after.pieces, 2);
            assert_int_equal(after.particles, before.particles);
            assert_int_equal(after.memberships, before.memberships);
            assert_true(after.regions > before.regions && cut.regions_found > 0 && cut.links > 20);
            assert_true(how == TETS || how == RINGS ? after.tets > 0 && after.tets < before.tets : after.tets == 0);
            if (!bare) {
                assert_true(after.skin_vertices > before.skin_vertices);
                assert_int_equal(skin_open_edges(world, body, &volume), 0);
                assert_near(volume, whole, 1e-3 * whole);
            }
            uint32_t *pieces = malloc(after.particles * sizeof *pieces);
            lm_vec3 *velocities = calloc(after.particles, sizeof *velocities),
                    *at = calloc(after.particles, sizeof *at), *now = calloc(after.particles, sizeof *now);
            assert_ok(lm_body_get_pieces(world, body, pieces));
            assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
            for (uint32_t n = 0; n < after.particles; n++) {
                double beyond = (at[n].x - 0.06) + 0.15 * (at[n].y - 0.03) + 0.1 * (at[n].z - 0.02);
                assert_true(fabs(beyond) < 1e-6 || (pieces[n] == pieces[0]) == (beyond < 0.0) ||
                            (pieces[n] != pieces[0]) == (beyond < 0.0));
                velocities[n].x = beyond < 0.0 ? -1.0f : 1.0f;
            }
            assert_ok(lm_body_set_state(world, body, lm_dvec3_zero(), at, velocities));
            steps(world, 30);
            assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
            for (uint32_t n = 0; n < after.particles; n++)
                assert_near(now[n].x - at[n].x, 0.5 * velocities[n].x, 3e-3); /* no piece feels the other */
            if (!bare) {
                assert_int_equal(skin_open_edges(world, body, &volume), 0);
                assert_near(volume, whole, 1e-2 * whole);
                expect_skin_apart(world, body);
            }
            free(pieces), free(velocities), free(at), free(now);
            lm_world_destroy(world);
        }
}

/* Random strokes, one after the other, while the bodies move: closed and as large as before after each. */
static void surfaces_stay_closed(void **context)
{
    (void)context;
    static const char *const shapes[] = {"box", "sphere", "torus"};
    static const lm_vec3 sizes[] = {{1.0f, 0.7f, 0.8f}, {1.0f, 1.0f, 1.0f}, {1.2f, 0.4f, 1.2f}};
    random_state random = {77};
    for (uint32_t k = 0; k < BUILD_COUNT; k++) {
        lm_world *world = make_world(0.0);
        thing what = {.how = (build)k, .shape = shapes[k % 3], .size = sizes[k % 3]};
        lm_body_id body = add(world, &what);
        double volume, whole, worst = 0.0;
        uint32_t parts = 1;
        assert_int_equal(skin_open_edges(world, body, &whole), 0);
        for (int n = 0; n < 12; n++) {
            ref_vec at = random_in_cube(&random, 0.4), normal = random_unit(&random);
            double half = random_range(&random, 0.1, 0.9), turn = random_range(&random, 0.0, 6.0);
            lm_cut_info cut = cut_square(world, body, at, normal, half, turn);
            parts = cut.parts;
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            worst = fmax(worst, fabs(volume - whole) / whole);
            steps(world, 1);
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            worst = fmax(worst, fabs(volume - whole) / whole);
        }
        print_message("%s, %s: %u parts, %u regions, volume within %.2g\n", build_names[k], what.shape, parts,
                      info_of(world, body).regions, worst);
        assert_true(parts > 3);
        assert_at_most(worst, 0.01);
        lm_world_destroy(world);
    }
}

/* Blades that are nothing, or nowhere, or exactly where particles are, or only touch the body. */
static void odd_blades(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how++) {
        lm_world *world = make_world(0.0);
        thing what = {.how = (build)how, .shape = "box", .size = unit_size};
        lm_body_id body = add(world, &what);
        uint64_t hash = lm_world_hash(world), shape = info_of(world, body).shape_hash;
        lm_dvec3 points[4] = {{-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}};
        lm_cut_info info;
        assert_ok(lm_body_cut_sweep(world, body, points, points + 2, 2, &info)); /* an edge that stays where it is */
        assert_int_equal(info.links, 0);
        info = cut_square(world, body, ref_v(0, 3, 0), ref_v(0, 1, 0), 1.0, 0.0); /* beside the body */
        assert_int_equal(info.links, 0);
        assert_int_equal(info.parts, 1);
        lm_blade none = lm_blade_default();
        assert_ok(lm_body_cut(world, body, &none, NULL));
        none.triangle_count = 1;
        lm_dvec3 wild[3] = {{NAN, 0, 0}, {1, 0, 0}, {0, 1, 0}};
        uint32_t corners[3] = {0, 1, 2};
        none.vertices = wild, none.vertex_count = 3, none.triangles = corners;
        assert_int_equal(lm_body_cut(world, body, &none, NULL), LM_ERROR_ARGUMENT);
        assert_true(lm_world_hash(world) == hash && info_of(world, body).shape_hash == shape);
        double volume;
        cut_square(world, body, ref_v(0, 0.5, 0), ref_v(0, 1, 0), 1.0, 0.0); /* along a face, where particles are */
        assert_int_equal(skin_open_edges(world, body, &volume), 0);
        assert_near(volume, 1.0, 1e-2);
        for (int k = 0; k < 2; k++) { /* through the middle, where particles may be; and the same again */
            info = cut_square(world, body, ref_v(0, 0, 0), ref_v(0, 1, 0), 1.0, 0.0);
            assert_true(k ? info.links == 0 : info.links > 0);
            assert_true(info.parts >= 2);
            assert_int_equal(skin_open_edges(world, body, &volume), 0);
            assert_near(volume, 1.0, 1e-2);
        }
        steps(world, 10);
        lm_world_destroy(world);
    }
}

/* Two hundred cuts, forty where there is a skin: bounded, closed, and it still steps. */
static void crumbs(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how += 2) { /* clusters, rings, tets */
        random_state random = {3};
        lm_world *world = make_world(-2.0);
        thing what = {.how = (build)how, .shape = "box", .size = unit_size, .bare = how != TETS};
        lm_body_id body = add(world, &what);
        lm_body_info before = info_of(world, body);
        lm_cut_info cut = {0};
        double volume, whole = 0.0;
        if (!what.bare) skin_open_edges(world, body, &whole);
        for (int n = 0; n < (what.bare ? 200 : 40); n++) {
            ref_vec at = random_in_cube(&random, 0.5), normal = random_unit(&random);
            cut = cut_square(world, body, at, normal, 1.0, 0.0);
            if (!what.bare && n % 10 == 9) {
                assert_int_equal(skin_open_edges(world, body, &volume), 0);
                assert_near(volume, whole, 0.01 * whole);
            }
        }
        lm_body_info after = info_of(world, body);
        assert_int_equal(after.particles, before.particles);
        assert_true(cut.parts > before.particles / 4 && after.regions <= after.memberships);
        lm_collider_def floor = lm_collider_def_default();
        lm_collider_id id;
        floor.pose.position.y = -0.6;
        assert_ok(lm_collider_create(world, &floor, &id));
        steps(world, 60);
        after = info_of(world, body);
        assert_true(isfinite(after.centre.y) && after.lower.y > -0.62);
        assert_near(after.mass, before.mass, 1e-6);
        lm_world_destroy(world);
    }
}

/* A spinning body is cut: mass, momentum and spin are what they were, to the bit, and stay so afterwards. */
static void momentum_is_kept(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how++) {
        random_state random = {9};
        lm_world *world = make_world(0.0);
        thing what = {.how = (build)how,
                      .shape = "box",
                      .size = unit_size,
                      .bare = true,
                      .velocity = {1.0f, 0.5f, 0.0f},
                      .spin = {0.0f, 3.0f, 1.0f}};
        lm_body_id body = add(world, &what);
        steps(world, 5);
        lm_body_info first = info_of(world, body);
        for (int n = 0; n < 8; n++) {
            lm_body_info before = info_of(world, body);
            ref_vec off = random_in_cube(&random, 0.3), normal = random_unit(&random);
            cut_square(world, body, ref_add(ref_v(before.centre.x, before.centre.y, before.centre.z), off), normal, 0.7,
                       0.0);
            lm_body_info after = info_of(world, body);
            assert_true(after.mass == before.mass && after.velocity.x == before.velocity.x);
            assert_true(after.angular_momentum.y == before.angular_momentum.y);
            assert_true(after.centre.x == before.centre.x && after.kinetic_energy == before.kinetic_energy);
            steps(world, 3);
        }
        lm_body_info last = info_of(world, body);
        assert_near(last.velocity.x, first.velocity.x, 1e-4);
        assert_near(last.velocity.y, first.velocity.y, 1e-4);
        assert_near(last.angular_momentum.y, first.angular_momentum.y, 2e-3);
        assert_near(last.angular_momentum.z, first.angular_momentum.z, 2e-3);
        lm_world_destroy(world);
    }
}

/* What is pinned stays, what is cut off below it falls; a drag keeps pulling what it pulled. */
static void holds_stay(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how++) {
        lm_world *world = make_world(-5.0);
        thing what = {.how = (build)how, .shape = "box", .size = unit_size, .bare = true};
        lm_body_id body = add(world, &what);
        lm_body_info info = info_of(world, body);
        lm_vec3 *rest = malloc(info.particles * sizeof *rest), *now = malloc(info.particles * sizeof *now);
        uint32_t *top = malloc(info.particles * sizeof *top), count = 0;
        assert_ok(lm_body_get_rest_positions(world, body, rest));
        for (uint32_t n = 0; n < info.particles; n++)
            if (rest[n].y > 0.3f) top[count++] = n;
        lm_pin_def held = lm_pin_def_default();
        lm_pin_id pin;
        held.body = body;
        held.particles = top;
        held.particle_count = count;
        assert_ok(lm_pin_create(world, &held, &pin));
        steps(world, 3);
        lm_cut_info cut = cut_square(world, body, ref_v(0, -0.07, 0), ref_v(0.03, 1, 0.05), 2.0, 0.0);
        assert_int_equal(cut.parts, 2);
        steps(world, 60);
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), now));
        for (uint32_t n = 0; n < info.particles; n++) {
            if (rest[n].y > 0.3f) assert_near(now[n].y, rest[n].y, 1e-5);
            if (rest[n].y < -0.15f) assert_at_most(now[n].y, rest[n].y - 2.2);
            if (rest[n].y > 0.05f) assert_at_most(rest[n].y - 0.3, now[n].y);
        }
        free(rest), free(now), free(top);
        lm_world_destroy(world);
    }
}

/* The upper half of a box falls on a block that only its cut face can meet, and stays on it. */
static void faces_of_cuts_touch(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how += 4) {
        lm_world *world = make_world(-3.0);
        thing what = {.how = (build)how, .shape = "box", .size = unit_size, .points = LM_CONTACT_SURFACE};
        lm_body_id body = add(world, &what);
        lm_cut_info cut = cut_square(world, body, ref_v(0, 0.04, 0), ref_v(0, 1, 0), 2.0, 0.0);
        assert_int_equal(cut.parts, 2);
        lm_vec3 *at = malloc(cut.particles * sizeof *at);
        bool *upper = malloc(cut.particles * sizeof *upper);
        uint32_t count = 0;
        assert_ok(lm_body_get_positions(world, body, lm_dvec3_zero(), at));
        for (uint32_t n = 0; n < cut.particles; n++) {
            upper[n] = at[n].y > 0.04f;
            count += upper[n];
            at[n].y += upper[n] ? 0.6f : 0.0f;
            at[n].x += upper[n] ? 0.0f : 5.0f;
        }
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
        for (uint32_t n = 0; n < cut.particles; n++) middle += upper[n] ? at[n].y / count : 0.0;
        assert_at_most(0.4 + 0.15, middle);
        assert_at_most(middle, 0.8);
        free(at), free(upper);
        lm_world_destroy(world);
    }
}

/* The same on every machine, and after a snapshot. */
static void the_same_everywhere(void **context)
{
    (void)context;
    for (int how = 1; how < BUILD_COUNT; how += 3) { /* a skin on regions; tets */
        uint64_t hash = 0;
        for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
            if (!lm_isa_supported((lm_isa)isa)) continue;
            lm_world *world = make_world_with(-3.0, (lm_isa)isa, 1 + (uint32_t)isa % 3);
            thing what = {.how = (build)how, .shape = "box", .size = unit_size, .mask = how == TETS ? UINT32_MAX : 0};
            lm_body_id body = add(world, &what);
            random_state random = {3};
            for (int n = 0; n < 3; n++) {
                ref_vec at = random_in_cube(&random, 0.3), normal = random_unit(&random);
                cut_square(world, body, at, normal, 0.6, 0.0);
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
            assert_int_equal(info_of(loaded, body).pieces, info_of(world, body).pieces);
            assert_true(!hash || lm_world_hash(world) == hash);
            hash = lm_world_hash(world);
            free(bytes);
            lm_world_destroy(world);
            lm_world_destroy(loaded);
        }
    }
}

/* A skin that comes after the cut is cut too; without one before it is refused. */
static void another_skin(void **context)
{
    (void)context;
    for (int how = 1; how < BUILD_COUNT; how += 3)
        for (int bare = 0; bare < 2; bare++) {
            lm_world *world = make_world(0.0);
            thing what = {.how = (build)how, .shape = "box", .size = unit_size, .bare = bare};
            lm_body_id body = add(world, &what);
            cut_square(world, body, ref_v(0.06, 0.03, 0.02), ref_v(1, 0.15, 0.1), 2.0, 0.3);
            lm_shape_def plain = lm_shape_def_default();
            lm_shape_mesh mesh;
            plain.name = "box";
            plain.detail = 3;
            assert_ok(lm_shape_make_mesh(&plain, &mesh));
            lm_skin_def skin = lm_skin_def_default();
            skin.vertices = mesh.vertices;
            skin.vertex_count = mesh.vertex_count;
            skin.triangles = mesh.triangles;
            skin.triangle_count = mesh.triangle_count;
            assert_result(lm_body_set_skin(world, body, &skin), bare ? LM_ERROR_ARGUMENT : LM_OK);
            double volume;
            if (!bare) {
                assert_int_equal(skin_open_edges(world, body, &volume), 0);
                assert_near(volume, 1.0, 1e-3);
                assert_true(info_of(world, body).skin_triangles > 2 * mesh.triangle_count);
                steps(world, 5);
            }
            lm_shape_mesh_free(&mesh);
            lm_world_destroy(world);
        }
}

/* ---- memory ---- */

typedef struct miser {
    uint32_t left; /* allocations until one fails */
} miser;

static void *miserly(size_t size, size_t alignment, void *user)
{
    miser *m = user;
    return m->left-- == 0 ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give_back(void *memory, size_t size, void *user)
{
    (void)user, (void)size;
    free(memory);
}

/* Whichever allocation of a cut fails, first or later: the body is as it was, and the same cut then does what it does elsewhere. */
static void failing_allocations(void **context)
{
    (void)context;
    for (int how = 0; how < BUILD_COUNT; how += 4) {
        miser m = {UINT32_MAX};
        lm_world_def def = lm_world_def_default();
        def.allocator.allocate = miserly;
        def.allocator.release = give_back;
        def.allocator.user = &m;
        lm_world *world;
        assert_ok(lm_world_create(&def, &world));
        thing what = {.how = (build)how, .shape = "box", .size = unit_size, .mask = UINT32_MAX};
        lm_body_id body = add(world, &what);
        for (int turn = 0; turn < 2; turn++) { /* the first cut, and one more */
            uint64_t hash = lm_world_hash(world), shape = info_of(world, body).shape_hash;
            lm_dvec3 from[2] = {{-2, -2, 0.1}, {2, -2, 0.1}}, to[2] = {{-2, 2, 0.2}, {2, 2, 0.2}};
            if (turn) from[1] = (lm_dvec3){0.1, -2, 2}, to[1] = (lm_dvec3){0.1, 2, 2};
            if (turn) from[0] = (lm_dvec3){0.1, -2, -2}, to[0] = (lm_dvec3){0.1, 2, -2};
            uint32_t failures = 0;
            lm_result result = LM_ERROR_MEMORY;
            for (uint32_t n = 0; result == LM_ERROR_MEMORY; n = n < 50 ? n + 1 : n + n / 12) {
                m.left = n;
                result = lm_body_cut_sweep(world, body, from, to, 2, NULL);
                m.left = UINT32_MAX;
                if (result == LM_ERROR_MEMORY) {
                    assert_true(lm_world_hash(world) == hash && info_of(world, body).shape_hash == shape);
                    failures++;
                }
            }
            assert_int_equal(result, LM_OK);
            assert_true(failures > 50);
            assert_true(info_of(world, body).pieces >= 2 && info_of(world, body).shape_hash != shape);
            steps(world, 2);
        }
        lm_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blade_severs),      cmocka_unit_test(surfaces_stay_closed),
        cmocka_unit_test(odd_blades),          cmocka_unit_test(crumbs),
        cmocka_unit_test(momentum_is_kept),    cmocka_unit_test(holds_stay),
        cmocka_unit_test(faces_of_cuts_touch), cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(another_skin),        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
