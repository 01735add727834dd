/*
 * Procedural shapes: closed surfaces of the right size, and points that fill them. What is particular to models is tested
 * in test_models.c.
 */
#include "shape_measures.h"

static bool is_model(const char *name) { return model_of(name) != NULL; }

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static void test_meshes_are_closed(void **state)
{
    (void)state;
    static const lm_vec3 sizes[] = {{1, 1, 1}, {2, 0.3f, 1.1f}, {0.2f, 1.5f, 0.4f}, {1, 1e-3f, 1}, {1e-6f, 1, 1e6f}};
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            /* Models hold one shape up to their coarsest detail; test_models.c goes on from there. */
            uint32_t finest = is_model(lm_shape_name(i)) ? 1 : 9;
            for (uint32_t detail = 1; detail <= finest; detail++) {
                lm_shape_def def = make_def(lm_shape_name(i), sizes[s].x, sizes[s].y, sizes[s].z, detail);
                lm_shape_mesh mesh = make_mesh(&def);
                assert_closed(&mesh);
                assert_true(volume_of(&mesh) > 0.0);
                for (size_t t = 0; t < mesh.triangle_count; t++) assert_true(area_of(&mesh, t) > 0.0);
                assert_int_equal(parts_of(&mesh), 1);
                bool torus = strcmp(def.name, "torus") == 0;
                assert_int_equal(euler_of(&mesh), torus ? 0 : 2);
                lm_shape_mesh_free(&mesh);
            }
        }
    }
}

static void assert_volume(const lm_shape_def *def, double expected, double tolerance)
{
    lm_shape_mesh mesh = make_mesh(def);
    double volume = volume_of(&mesh);
    if (fabs(volume / expected - 1.0) > tolerance)
        fail_msg("%s: volume %.9g, expected %.9g", def->name, volume, expected);
    lm_shape_mesh_free(&mesh);
}

static void test_volumes(void **state)
{
    (void)state;
    lm_shape_def def = make_def("box", 1.0f, 2.0f, 0.5f, 5);
    assert_volume(&def, 1.0, 1e-6);
    def = make_def("sphere", 1.0f, 1.0f, 1.0f, 60);
    assert_volume(&def, pi / 6.0, 2e-3);
    def = make_def("sphere", 1.0f, 2.0f, 0.5f, 60);
    assert_volume(&def, pi / 6.0, 2e-3);
    def = make_def("cylinder", 1.0f, 2.0f, 0.5f, 60);
    assert_volume(&def, pi / 4.0, 2e-3);
    def = make_def("torus", 1.0f, 0.3f, 1.0f, 60);
    assert_volume(&def, 2.0 * pi * pi * 0.35 * 0.15 * 0.15, 1e-2);
    def = make_def("torus", 1.0f, 1.0f, 2.0f, 60);
    assert_volume(&def, 2.0 * (2.0 * pi * pi * 0.325 * 0.175 * 0.5), 1e-2);
}

static void test_extents(void **state)
{
    (void)state;
    static const double half[3] = {0.5, 0.25, 1.0};
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        if (is_model(lm_shape_name(i))) continue; /* test_models.c: their small parts need finer triangles */
        /* With 24 segments at least, the outermost points of every circle are vertices or nearly so. */
        lm_shape_def def = make_def(lm_shape_name(i), 1.0f, 0.5f, 2.0f, 40);
        lm_shape_mesh mesh = make_mesh(&def);
        mesh_box box = box_of(&mesh, NULL);
        for (int axis = 0; axis < 3; axis++) {
            assert_true(fabs(box.upper[axis] / half[axis] - 1.0) < 0.04);
            assert_true(fabs(box.lower[axis] / half[axis] + 1.0) < 0.04);
        }
        lm_shape_mesh_free(&mesh);
    }
}

/* The longest edge over the shortest (diagonals of the squares included), and that edges are as long as `detail`
 * says. */
static void test_triangles_are_even(void **state)
{
    (void)state;
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        uint32_t detail = coarsest_of(lm_shape_name(i)) > 12 ? coarsest_of(lm_shape_name(i)) : 12;
        lm_shape_def def = natural_def(lm_shape_name(i), detail);
        lm_shape_mesh mesh = make_mesh(&def);
        double shortest = INFINITY, longest = 0.0, sum = 0.0;
        for (size_t e = 0; e < 3u * (size_t)mesh.triangle_count; e++) {
            size_t next = e % 3 == 2 ? e - 2 : e + 1;
            double length = distance(mesh.vertices[mesh.triangles[e]], mesh.vertices[mesh.triangles[next]]);
            shortest = fmin(shortest, length);
            longest = fmax(longest, length);
            sum += length;
        }
        /* A torus has longer quads on its outside than on its inside, by (R + r)/(R - r) = 2.5. Models bend sharply where
         * they have small parts. */
        double limit = strcmp(def.name, "torus") == 0 ? 3.2 : is_model(def.name) ? 7.0 : 1.6;
        if (longest / shortest >= limit) fail_msg("%s: edges from %g to %g", def.name, shortest, longest);
        double mean = detail * sum / (3.0 * mesh.triangle_count);
        if (mean < 0.8 || mean > 1.3) fail_msg("%s: edges of %g in the mean", def.name, mean);
        lm_shape_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Clouds
 */

/* Inner points are inside the mesh and no two points coincide; returns the smallest distance of an inner point to any
 * other. */
static double assert_cloud(const lm_shape_mesh *mesh, const lm_shape_cloud *cloud)
{
    assert_int_equal(cloud->surface_count, mesh->vertex_count);
    assert_memory_equal(cloud->points, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    double smallest = INFINITY;
    uint32_t every = (cloud->point_count - cloud->surface_count) / 300 + 1; /* the winding number takes long */
    for (uint32_t i = cloud->surface_count; i < cloud->point_count; i++) {
        if (i % every == 0) assert_true(winding_number(mesh, cloud->points[i]) > 0.99);
        for (uint32_t j = 0; j < i; j++) smallest = fmin(smallest, distance(cloud->points[i], cloud->points[j]));
    }
    assert_true(smallest > 0.0);
    return smallest;
}

/* What the scene `crowd` is made of. */
static void test_crowd_clouds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t detail, surface, points;
        double spacing; /* the least distance between points, of the extent */
    } cases[] = {
        {"box", 4, 98, 160, 0.12},
        {"sphere", 5, 92, 160, 0.10},
        {"cylinder", 4, 74, 120, 0.12},
        {"torus", 7, 105, 140, 0.05},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lm_shape_def def = natural_def(cases[i].name, cases[i].detail);
        lm_shape_mesh mesh = make_mesh(&def);
        assert_int_equal(mesh.vertex_count, cases[i].surface);
        lm_shape_cloud cloud;
        assert_int_equal(lm_shape_make_cloud(&def, &mesh, cases[i].points, &cloud), LM_OK);
        assert_int_equal(cloud.point_count, cases[i].points);
        double spacing = assert_cloud(&mesh, &cloud);
        if (spacing < cases[i].spacing) fail_msg("%s: points only %g apart", def.name, spacing);
        lm_shape_cloud_free(&cloud);
        lm_shape_mesh_free(&mesh);
    }
}

static void test_cloud_counts(void **state)
{
    (void)state;
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        lm_shape_def def = make_def(lm_shape_name(i), 1.0f, 0.7f, 1.3f, 5);
        lm_shape_mesh mesh = make_mesh(&def);
        static const uint32_t extra[] = {0, 1, 2, 50, 1000};
        for (size_t e = 0; e < sizeof extra / sizeof extra[0]; e++) {
            lm_shape_cloud cloud;
            uint32_t points = mesh.vertex_count + extra[e];
            assert_int_equal(lm_shape_make_cloud(&def, &mesh, points, &cloud), LM_OK);
            assert_int_equal(cloud.point_count, points);
            assert_cloud(&mesh, &cloud);
            lm_shape_cloud_free(&cloud);
        }
        lm_shape_mesh_free(&mesh);
    }
}

/* Coarse meshes lie well inside the ideal shape, thin ones leave little room. */
static void test_cloud_stays_inside_coarse_and_thin(void **state)
{
    (void)state;
    static const lm_vec3 sizes[] = {{1, 1, 1}, {1, 0.01f, 1}, {0.01f, 1, 1}, {1, 0.1f, 0.05f}};
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            uint32_t finest = is_model(lm_shape_name(i)) ? 1 : 3; /* the same model up to its coarsest detail */
            for (uint32_t detail = 1; detail <= finest; detail++) {
                lm_shape_def def = make_def(lm_shape_name(i), sizes[s].x, sizes[s].y, sizes[s].z, detail);
                lm_shape_mesh mesh = make_mesh(&def);
                lm_shape_cloud cloud;
                assert_int_equal(lm_shape_make_cloud(&def, &mesh, mesh.vertex_count + 100, &cloud), LM_OK);
                assert_cloud(&mesh, &cloud);
                lm_shape_cloud_free(&cloud);
                lm_shape_mesh_free(&mesh);
            }
        }
    }
}

/* The number of inner points that suits the surface is about volume / edge³. */
static void test_cloud_by_spacing(void **state)
{
    (void)state;
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        uint32_t detail = coarsest_of(lm_shape_name(i)) > 16 ? coarsest_of(lm_shape_name(i)) : 16;
        lm_shape_def def = natural_def(lm_shape_name(i), detail);
        lm_shape_mesh mesh = make_mesh(&def);
        lm_shape_cloud cloud;
        assert_int_equal(lm_shape_make_cloud(&def, &mesh, 0, &cloud), LM_OK);
        double edge = 1.0 / detail;
        double spacing = assert_cloud(&mesh, &cloud);
        assert_true(spacing > 0.5 * edge && spacing < 1.1 * edge);
        double inner = cloud.point_count - cloud.surface_count;
        double cells = volume_of(&mesh) / (edge * edge * edge);
        /* Half an edge under the surface belongs to its own points, which is much where a shape is thin. */
        double taken = 0.5 * edge * whole_area_of(&mesh) / (edge * edge * edge);
        if (inner > 1.4 * cells || inner < 0.8 * (cells - taken))
            fail_msg("%s: %g points in %g cells, %g of them at the surface", def.name, inner, cells, taken);
        lm_shape_cloud_free(&cloud);
        lm_shape_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Sameness and failure
 */

/* The bits are part of every scene's hash: they may not change between compilers, machines or versions. */
static void test_bits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t hash;
    } cases[] = {
        {"box", 0x5720bb36ab506425u},    {"sphere", 0x46f254ece94a8153u}, {"cylinder", 0x639b97a6126b3567u},
        {"torus", 0xa84bd402db1181d8u},  {"penguin", 0x4a33e3083e19044u}, {"duck", 0x4995f35e1a762db8u},
        {"statue", 0xbc52b5d2c8bf5500u}, {"hand", 0x64d20e3b740e7451u},   {"liver", 0x579484ed7514d89fu},
        {"flower", 0x48e84db372aae6cbu}, {"teddy", 0xb1efe1f5029639e5u},  {"car", 0x44f1ba7f0e291f8u},
        {"infant", 0x525d8c56532f23u},   {"head", 0x3de53896ba719e6bu},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(cases[i].name, lm_shape_name((uint32_t)i)); /* none left out */
        lm_shape_def def = make_def(cases[i].name, 1.1f, 0.6f, 1.3f, 7);
        lm_shape_mesh mesh = make_mesh(&def);
        lm_shape_cloud cloud;
        assert_int_equal(lm_shape_make_cloud(&def, &mesh, mesh.vertex_count + 123, &cloud), LM_OK);
        uint64_t hash = 14695981039346656037u;
        hash = hash_bytes(hash, mesh.triangles, 3u * (size_t)mesh.triangle_count * sizeof *mesh.triangles);
        hash = hash_bytes(hash, cloud.points, cloud.point_count * sizeof *cloud.points);
        if (hash != cases[i].hash) fail_msg("%s: hash %#llx", def.name, (unsigned long long)hash);
        lm_shape_cloud_free(&cloud);
        lm_shape_mesh_free(&mesh);
    }
    assert_null(lm_shape_name(sizeof cases / sizeof cases[0]));
}

static void assert_refused(lm_shape_def def, lm_result expected)
{
    lm_shape_mesh mesh = {.vertex_count = 7};
    assert_int_equal(lm_shape_make_mesh(&def, &mesh), expected);
    assert_null(mesh.vertices);
    assert_int_equal(mesh.vertex_count, 0);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    assert_refused(make_def("cube", 1, 1, 1, 4), LM_ERROR_ARGUMENT);
    assert_refused(make_def(NULL, 1, 1, 1, 4), LM_ERROR_ARGUMENT);
    for (uint32_t i = 0; lm_shape_name(i); i++) {
        const char *name = lm_shape_name(i);
        assert_refused(make_def(name, 1, 1, 1, 0), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 0, 1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, -1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, 1, NAN, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, INFINITY, 1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, 1, 1, 10000), LM_ERROR_LIMIT);
        assert_refused(make_def(name, 1, 1, 1, UINT32_MAX), LM_ERROR_LIMIT);
    }
    lm_shape_def def = make_def("box", 1, 1, 1, 4);
    lm_shape_mesh mesh = make_mesh(&def);
    lm_shape_cloud cloud;
    assert_int_equal(lm_shape_make_cloud(&def, &mesh, 97, &cloud), LM_ERROR_ARGUMENT);
    assert_null(cloud.points);
    assert_int_equal(lm_shape_make_cloud(&def, &mesh, LM_MAX_PARTICLES + 1, &cloud), LM_ERROR_LIMIT);
    assert_int_equal(lm_shape_make_cloud(&def, &(lm_shape_mesh){0}, 100, &cloud), LM_ERROR_ARGUMENT);
    lm_shape_mesh_free(&mesh);
    lm_shape_mesh_free(NULL);
    lm_shape_cloud_free(NULL);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "box",  "sphere", "cylinder", "torus", "penguin", "duck",   "statue",
        "hand", "liver",  "flower",   "teddy", "car",     "infant", "head",
    };
    const uint32_t count = sizeof expected / sizeof expected[0];
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(lm_shape_name(i), expected[i]);
        assert_true(strlen(lm_shape_description(expected[i])) > 5);
        lm_vec3 size = lm_shape_natural_size(expected[i]);
        assert_true(fmaxf(size.x, fmaxf(size.y, size.z)) == 1.0f);
    }
    assert_null(lm_shape_name(count));
    assert_null(lm_shape_description("cube"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_are_closed),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_extents),
        cmocka_unit_test(test_triangles_are_even),
        cmocka_unit_test(test_crowd_clouds),
        cmocka_unit_test(test_cloud_counts),
        cmocka_unit_test(test_cloud_stays_inside_coarse_and_thin),
        cmocka_unit_test(test_cloud_by_spacing),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
