/*
 * Procedural models: closed surfaces of the right size, and points that fill them.
 */
#include "shapes/shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

static shape_def make_def(const char *name, float x, float y, float z, uint32_t detail)
{
    shape_def def = shape_def_default();
    def.name = name;
    def.size = (lm_vec3){x, y, z};
    def.detail = detail;
    return def;
}

static shape_def natural_def(const char *name, uint32_t detail)
{
    lm_vec3 size = shape_natural_size(name);
    return make_def(name, size.x, size.y, size.z, detail);
}

static shape_mesh make_mesh(const shape_def *def)
{
    shape_mesh mesh;
    assert_int_equal(shape_make_mesh(def, &mesh), LM_OK);
    return mesh;
}

/* Made from a signed distance, not laid out by hand. */
static bool is_model(const char *name) { return strcmp(name, "duck") == 0 || strcmp(name, "head") == 0; }

/* ------------------------------------------------------------------------------------------------------------------
 * Measures of a mesh
 */

typedef struct directed_edge {
    uint32_t from, to;
} directed_edge;

static int compare_edges(const void *a, const void *b)
{
    const directed_edge *p = a, *q = b;
    if (p->from != q->from) return p->from < q->from ? -1 : 1;
    return p->to < q->to ? -1 : p->to > q->to;
}

/* Every edge is passed once in each direction: then the surface is closed, manifold along edges, and all its triangles
 * turn the same way. */
static void assert_closed(const shape_mesh *mesh)
{
    size_t count = 3u * (size_t)mesh->triangle_count;
    directed_edge *edges = malloc(count * sizeof *edges);
    assert_non_null(edges);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (size_t c = 0; c < 3; c++) {
            edges[3 * t + c].from = mesh->triangles[3 * t + c];
            edges[3 * t + c].to = mesh->triangles[3 * t + (c + 1) % 3];
            assert_true(edges[3 * t + c].from < mesh->vertex_count);
        }
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    for (size_t e = 0; e < count; e++) {
        if (e > 0) assert_true(compare_edges(&edges[e - 1], &edges[e]) != 0);
        directed_edge back = {edges[e].to, edges[e].from};
        assert_non_null(bsearch(&back, edges, count, sizeof *edges, compare_edges));
    }
    free(edges);
}

static void corner(const shape_mesh *mesh, size_t triangle, size_t c, double p[3])
{
    lm_vec3 vertex = mesh->vertices[mesh->triangles[3 * triangle + c]];
    p[0] = vertex.x, p[1] = vertex.y, p[2] = vertex.z;
}

static double area_of(const shape_mesh *mesh, size_t triangle)
{
    double a[3], b[3], c[3];
    corner(mesh, triangle, 0, a);
    corner(mesh, triangle, 1, b);
    corner(mesh, triangle, 2, c);
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

/* Positive when the triangles are counter-clockwise from outside. */
static double volume_of(const shape_mesh *mesh)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double a[3], b[3], c[3];
        corner(mesh, t, 0, a);
        corner(mesh, t, 1, b);
        corner(mesh, t, 2, c);
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6.0;
}

/* How often the surface winds around a point: 1 inside, 0 outside (sum of solid angles, Van Oosterom and Strackee). */
static double winding_number(const shape_mesh *mesh, lm_vec3 at)
{
    double sum = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3], length[3];
        for (size_t c = 0; c < 3; c++) {
            corner(mesh, t, c, p[c]);
            p[c][0] -= at.x, p[c][1] -= at.y, p[c][2] -= at.z;
            length[c] = sqrt(p[c][0] * p[c][0] + p[c][1] * p[c][1] + p[c][2] * p[c][2]);
        }
        double triple = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                        p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                        p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        double dot[3];
        for (size_t c = 0; c < 3; c++) {
            const double *u = p[c], *v = p[(c + 1) % 3];
            dot[c] = (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) * length[(c + 2) % 3];
        }
        sum += 2.0 * atan2(triple, length[0] * length[1] * length[2] + dot[0] + dot[1] + dot[2]);
    }
    return sum / (4.0 * pi);
}

static double distance(lm_vec3 a, lm_vec3 b)
{
    double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ p[i]) * 1099511628211u; /* FNV-1a */
    return hash;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Meshes
 */

static void test_meshes_are_closed(void **state)
{
    (void)state;
    static const lm_vec3 sizes[] = {{1, 1, 1}, {2, 0.3f, 1.1f}, {0.2f, 1.5f, 0.4f}, {1, 1e-3f, 1}, {1e-6f, 1, 1e6f}};
    for (uint32_t i = 0; shape_name(i); i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (uint32_t detail = 1; detail <= 9; detail++) {
                shape_def def = make_def(shape_name(i), sizes[s].x, sizes[s].y, sizes[s].z, detail);
                shape_mesh mesh = make_mesh(&def);
                assert_closed(&mesh);
                assert_true(volume_of(&mesh) > 0.0);
                for (size_t t = 0; t < mesh.triangle_count; t++) assert_true(area_of(&mesh, t) > 0.0);
                bool torus = strcmp(def.name, "torus") == 0;
                int64_t euler = (int64_t)mesh.vertex_count - mesh.triangle_count / 2; /* V - E + F, E = 3F/2 */
                assert_int_equal(euler, torus ? 0 : 2);
                shape_mesh_free(&mesh);
            }
        }
    }
}

static double smallest_angle(const shape_mesh *mesh)
{
    double smallest = pi;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (size_t c = 0; c < 3; c++) {
            double a[3], b[3], d[3], dot = 0.0, bb = 0.0, dd = 0.0;
            corner(mesh, t, c, a);
            corner(mesh, t, (c + 1) % 3, b);
            corner(mesh, t, (c + 2) % 3, d);
            for (int axis = 0; axis < 3; axis++) {
                dot += (b[axis] - a[axis]) * (d[axis] - a[axis]);
                bb += (b[axis] - a[axis]) * (b[axis] - a[axis]);
                dd += (d[axis] - a[axis]) * (d[axis] - a[axis]);
            }
            smallest = fmin(smallest, acos(dot / sqrt(bb * dd)));
        }
    }
    return smallest * 180.0 / pi;
}

/* From about a hundred vertices to tens of thousands: one closed skin without handles, without slivers, of a volume that
 * settles. */
static void test_models_at_many_details(void **state)
{
    (void)state;
    static const uint32_t details[] = {1, 7, 8, 10, 13, 17, 22, 29, 38, 50, 66, 87, 115};
    for (uint32_t i = 0; shape_name(i); i++) {
        if (!is_model(shape_name(i))) continue;
        double finest = 0.0, volumes[sizeof details / sizeof details[0]];
        for (size_t d = 0; d < sizeof details / sizeof details[0]; d++) {
            shape_def def = natural_def(shape_name(i), details[d]);
            shape_mesh mesh = make_mesh(&def);
            assert_closed(&mesh);
            assert_int_equal((int64_t)mesh.vertex_count - mesh.triangle_count / 2, 2);
            double angle = smallest_angle(&mesh);
            if (angle < 9.0) fail_msg("%s, detail %u: an angle of %g degrees", def.name, details[d], angle);
            double vertices = mesh.vertex_count / ((double)details[d] * details[d]);
            if (details[d] >= 10) assert_true(vertices > 1.5 && vertices < 2.5);
            finest = volumes[d] = volume_of(&mesh);
            shape_mesh_free(&mesh);
        }
        for (size_t d = 2; d < sizeof details / sizeof details[0]; d++)
            assert_true(fabs(volumes[d] / finest - 1.0) < 20.0 / (details[d] * (double)details[d]) + 3e-3);
    }
}

static void assert_volume(const shape_def *def, double expected, double tolerance)
{
    shape_mesh mesh = make_mesh(def);
    double volume = volume_of(&mesh);
    if (fabs(volume / expected - 1.0) > tolerance)
        fail_msg("%s: volume %.9g, expected %.9g", def->name, volume, expected);
    shape_mesh_free(&mesh);
}

static void test_volumes(void **state)
{
    (void)state;
    shape_def def = make_def("box", 1.0f, 2.0f, 0.5f, 5);
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
    for (uint32_t i = 0; shape_name(i); i++) {
        /* With 24 segments at least, the outermost points of every circle are vertices or nearly so. */
        shape_def def = make_def(shape_name(i), 1.0f, 0.5f, 2.0f, 40);
        shape_mesh mesh = make_mesh(&def);
        lm_vec3 lower = mesh.vertices[0], upper = mesh.vertices[0];
        for (uint32_t v = 0; v < mesh.vertex_count; v++) {
            lm_vec3 p = mesh.vertices[v];
            lower = (lm_vec3){fminf(lower.x, p.x), fminf(lower.y, p.y), fminf(lower.z, p.z)};
            upper = (lm_vec3){fmaxf(upper.x, p.x), fmaxf(upper.y, p.y), fmaxf(upper.z, p.z)};
        }
        const float tolerance = 0.02f;
        assert_float_equal(upper.x, 0.5f, tolerance * 1.0f);
        assert_float_equal(lower.x, -0.5f, tolerance * 1.0f);
        assert_float_equal(upper.y, 0.25f, tolerance * 0.5f);
        assert_float_equal(lower.y, -0.25f, tolerance * 0.5f);
        assert_float_equal(upper.z, 1.0f, tolerance * 2.0f);
        assert_float_equal(lower.z, -1.0f, tolerance * 2.0f);
        shape_mesh_free(&mesh);
    }
}

/* The longest edge over the shortest (diagonals of the squares included), and that edges are as long as `detail`
 * says. */
static void test_triangles_are_even(void **state)
{
    (void)state;
    for (uint32_t i = 0; shape_name(i); i++) {
        shape_def def = natural_def(shape_name(i), 12);
        shape_mesh mesh = make_mesh(&def);
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
        double limit = strcmp(def.name, "torus") == 0 ? 3.2 : is_model(def.name) ? 5.0 : 1.6;
        assert_true(longest / shortest < limit);
        double mean = sum / (3.0 * mesh.triangle_count);
        assert_true(mean > 0.8 / 12.0 && mean < 1.3 / 12.0);
        shape_mesh_free(&mesh);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Clouds
 */

/* Inner points are inside the mesh and no two points coincide; returns the smallest distance of an inner point to any
 * other. */
static double assert_cloud(const shape_mesh *mesh, const shape_cloud *cloud)
{
    assert_int_equal(cloud->surface_count, mesh->vertex_count);
    assert_memory_equal(cloud->points, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    double smallest = INFINITY;
    for (uint32_t i = cloud->surface_count; i < cloud->point_count; i++) {
        assert_true(winding_number(mesh, cloud->points[i]) > 0.99);
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
        shape_def def = natural_def(cases[i].name, cases[i].detail);
        shape_mesh mesh = make_mesh(&def);
        assert_int_equal(mesh.vertex_count, cases[i].surface);
        shape_cloud cloud;
        assert_int_equal(shape_make_cloud(&def, &mesh, cases[i].points, &cloud), LM_OK);
        assert_int_equal(cloud.point_count, cases[i].points);
        double spacing = assert_cloud(&mesh, &cloud);
        if (spacing < cases[i].spacing) fail_msg("%s: points only %g apart", def.name, spacing);
        shape_cloud_free(&cloud);
        shape_mesh_free(&mesh);
    }
}

static void test_cloud_counts(void **state)
{
    (void)state;
    for (uint32_t i = 0; shape_name(i); i++) {
        shape_def def = make_def(shape_name(i), 1.0f, 0.7f, 1.3f, 5);
        shape_mesh mesh = make_mesh(&def);
        static const uint32_t extra[] = {0, 1, 2, 50, 1000};
        for (size_t e = 0; e < sizeof extra / sizeof extra[0]; e++) {
            shape_cloud cloud;
            uint32_t points = mesh.vertex_count + extra[e];
            assert_int_equal(shape_make_cloud(&def, &mesh, points, &cloud), LM_OK);
            assert_int_equal(cloud.point_count, points);
            assert_cloud(&mesh, &cloud);
            shape_cloud_free(&cloud);
        }
        shape_mesh_free(&mesh);
    }
}

/* Coarse meshes lie well inside the ideal shape, thin ones leave little room. */
static void test_cloud_stays_inside_coarse_and_thin(void **state)
{
    (void)state;
    static const lm_vec3 sizes[] = {{1, 1, 1}, {1, 0.01f, 1}, {0.01f, 1, 1}, {1, 0.1f, 0.05f}};
    for (uint32_t i = 0; shape_name(i); i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (uint32_t detail = 1; detail <= 3; detail++) {
                shape_def def = make_def(shape_name(i), sizes[s].x, sizes[s].y, sizes[s].z, detail);
                shape_mesh mesh = make_mesh(&def);
                shape_cloud cloud;
                assert_int_equal(shape_make_cloud(&def, &mesh, mesh.vertex_count + 100, &cloud), LM_OK);
                assert_cloud(&mesh, &cloud);
                shape_cloud_free(&cloud);
                shape_mesh_free(&mesh);
            }
        }
    }
}

/* The number of inner points that suits the surface is about volume / edge³. */
static void test_cloud_by_spacing(void **state)
{
    (void)state;
    for (uint32_t i = 0; shape_name(i); i++) {
        shape_def def = natural_def(shape_name(i), 16);
        shape_mesh mesh = make_mesh(&def);
        shape_cloud cloud;
        assert_int_equal(shape_make_cloud(&def, &mesh, 0, &cloud), LM_OK);
        double edge = 1.0 / 16.0;
        double spacing = assert_cloud(&mesh, &cloud);
        assert_true(spacing > 0.5 * edge && spacing < 1.1 * edge);
        double inner = cloud.point_count - cloud.surface_count;
        double cells = volume_of(&mesh) / (edge * edge * edge);
        assert_true(inner < 1.2 * cells);
        /* Less what the surface takes, which is much where a shape is thin. */
        assert_true(inner > (strcmp(def.name, "torus") == 0 ? 0.2 : 0.5) * cells);
        shape_cloud_free(&cloud);
        shape_mesh_free(&mesh);
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
        {"box", 0x5720bb36ab506425u},   {"sphere", 0x46f254ece94a8153u}, {"cylinder", 0x639b97a6126b3567u},
        {"torus", 0xa84bd402db1181d8u}, {"duck", 0x4995f35e1a762db8u},   {"head", 0x3de53896ba719e6bu},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shape_def def = make_def(cases[i].name, 1.1f, 0.6f, 1.3f, 7);
        shape_mesh mesh = make_mesh(&def);
        shape_cloud cloud;
        assert_int_equal(shape_make_cloud(&def, &mesh, mesh.vertex_count + 123, &cloud), LM_OK);
        uint64_t hash = 14695981039346656037u;
        hash = hash_bytes(hash, mesh.triangles, 3u * (size_t)mesh.triangle_count * sizeof *mesh.triangles);
        hash = hash_bytes(hash, cloud.points, cloud.point_count * sizeof *cloud.points);
        if (hash != cases[i].hash) fail_msg("%s: hash %#llx", def.name, (unsigned long long)hash);
        shape_cloud_free(&cloud);
        shape_mesh_free(&mesh);
    }
}

static void assert_refused(shape_def def, lm_result expected)
{
    shape_mesh mesh = {.vertex_count = 7};
    assert_int_equal(shape_make_mesh(&def, &mesh), expected);
    assert_null(mesh.vertices);
    assert_int_equal(mesh.vertex_count, 0);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    assert_refused(make_def("cube", 1, 1, 1, 4), LM_ERROR_ARGUMENT);
    assert_refused(make_def(NULL, 1, 1, 1, 4), LM_ERROR_ARGUMENT);
    for (uint32_t i = 0; shape_name(i); i++) {
        const char *name = shape_name(i);
        assert_refused(make_def(name, 1, 1, 1, 0), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 0, 1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, -1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, 1, NAN, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, INFINITY, 1, 1, 4), LM_ERROR_ARGUMENT);
        assert_refused(make_def(name, 1, 1, 1, 10000), LM_ERROR_LIMIT);
        assert_refused(make_def(name, 1, 1, 1, UINT32_MAX), LM_ERROR_LIMIT);
    }
    shape_def def = make_def("box", 1, 1, 1, 4);
    shape_mesh mesh = make_mesh(&def);
    shape_cloud cloud;
    assert_int_equal(shape_make_cloud(&def, &mesh, 97, &cloud), LM_ERROR_ARGUMENT);
    assert_null(cloud.points);
    assert_int_equal(shape_make_cloud(&def, &mesh, LM_MAX_PARTICLES + 1, &cloud), LM_ERROR_LIMIT);
    assert_int_equal(shape_make_cloud(&def, &(shape_mesh){0}, 100, &cloud), LM_ERROR_ARGUMENT);
    shape_mesh_free(&mesh);
    shape_mesh_free(NULL);
    shape_cloud_free(NULL);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const expected[] = {"box", "sphere", "cylinder", "torus", "duck", "head"};
    for (uint32_t i = 0; i < 6; i++) {
        assert_string_equal(shape_name(i), expected[i]);
        assert_true(strlen(shape_description(expected[i])) > 5);
    }
    assert_null(shape_name(6));
    assert_null(shape_description("cube"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes_are_closed),
        cmocka_unit_test(test_models_at_many_details),
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
