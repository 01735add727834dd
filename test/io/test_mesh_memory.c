/*
 * Memory that runs out while a mesh is read: at every allocation in turn, in every format. The linker puts the functions
 * below in the place of malloc and its kin (test/CMakeLists.txt).
 */
#include "limber/pose.h"
#include "test/support/mesh_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static long allowed = -1; /* allocations until there is no memory; negative: there always is */

static bool is_allowed(void)
{
    if (allowed == 0) return false;
    if (allowed > 0) allowed--;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) { return is_allowed() ? __real_malloc(size) : NULL; }
void *__wrap_calloc(size_t count, size_t size) { return is_allowed() ? __real_calloc(count, size) : NULL; }
void *__wrap_realloc(void *memory, size_t size) { return is_allowed() ? __real_realloc(memory, size) : NULL; }

/* Reads with ever more memory until it is enough; every failure must be reported as what it is. */
static void assert_fails_well(const char *name, text_buffer *file)
{
    lm_mesh_data mesh;
    lm_mesh_error error;
    static const char reason[] = ": out of memory";
    long failures = 0;
    for (bool read = false; !read; failures++) {
        assert_true(failures < 1000);
        allowed = failures;
        read = lm_mesh_parse(name, file->bytes, file->length, NULL, &mesh, &error);
        allowed = -1;
        if (read) break;
        size_t length = strlen(error.text); /* "a.gltf:1: JSON: out of memory" too */
        assert_true(strncmp(error.text, name, strlen(name)) == 0 && length >= sizeof reason);
        assert_string_equal(error.text + length + 1 - sizeof reason, reason);
        assert_null(mesh.positions);
    }
    assert_true(failures >= 5);
    assert_int_equal(mesh.triangle_count, 12);
    lm_mesh_free(&mesh);
    lmi_text_free(file);
}

#define CUBE_NODES "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
#define CUBE_TETS(head)                                                                                                \
    head "1 2 4 8\n" head "1 3 7 8\n" head "1 5 6 8\n" head "1 6 2 8\n" head "1 4 3 8\n" head "1 7 5 8\n"

/* The cube as six tetrahedra, whose surface has its twelve triangles. */
static void test_every_allocation_of_tetrahedra(void **state)
{
    (void)state;
    text_buffer file = {0};
    lmi_text_addf(&file, "8\n" CUBE_NODES "6\n" CUBE_TETS("1 "));
    assert_fails_well("a.mesh", &file);
    lmi_text_addf(&file,
                  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 8 1 8\n3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n" CUBE_NODES
                  "$EndNodes\n$Elements\n1 6 9 9\n3 1 4 6\n" CUBE_TETS("9 ") "$EndElements\n");
    assert_fails_well("a.msh", &file);
}

static void test_every_allocation(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    text_buffer file = {0};
    lmi_text_addf(&file, "o name\n");
    make_obj(&file, &cube);
    assert_fails_well("a.obj", &file);
    make_ply(&file, &cube, (ply_style){.encoding = PLY_BIG_ENDIAN, .extras = true, .faces_first = true});
    assert_fails_well("a.ply", &file);
    make_stl_text(&file, &cube, "name");
    assert_fails_well("a.stl", &file);
    make_stl_binary(&file, &cube, "");
    assert_fails_well("a.stl", &file);
    make_gltf(&file, NULL, &cube, (gltf_style){.binary = false});
    assert_fails_well("a.gltf", &file);
    make_gltf(&file, NULL, &cube, (gltf_style){.binary = true});
    assert_fails_well("a.glb", &file);
}

/* A frame of a point cache, and a mesh as a pose. */
static void test_every_allocation_of_poses(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    text_buffer files[2] = {{0}, {0}};
    static const char *const names[] = {"a.pc2", "a.glb"};
    lmi_text_add(&files[0], "POINTCACHE2\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 32);
    for (int i = 0; i < 3; i++) add_float(&files[0], (float)i);
    make_gltf(&files[1], NULL, &cube, (gltf_style){.binary = true});
    for (int i = 0; i < 2; i++) {
        lm_pose_options options = {.frame = 0};
        long failures = 0;
        for (bool read = false; !read; failures++) {
            lm_pose_data pose;
            lm_mesh_error error = {""};
            assert_true(failures < 1000);
            allowed = failures;
            read = lm_pose_parse(names[i], files[i].bytes, files[i].length, &options, &pose, &error);
            allowed = -1;
            if (!read) assert_non_null(strstr(error.text, "out of memory"));
            assert_true(read == (pose.positions != NULL));
            lm_pose_free(&pose);
        }
        assert_true(failures > 1);
        lmi_text_free(&files[i]);
    }
}

/* Examining a mesh, and writing it: a file that was there stays. */
static void test_every_allocation_of_reports_and_files(void **state)
{
    (void)state;
    static const lm_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    lm_mesh_report report;
    long failures = 0;
    for (lm_result result = LM_ERROR_MEMORY; result != LM_OK; failures++) {
        assert_true(failures < 1000);
        allowed = failures;
        result = lm_mesh_inspect(points, 4, triangles, 4, &report);
        allowed = -1;
        assert_true(result == LM_OK || result == LM_ERROR_MEMORY);
    }
    assert_true(failures > 2 && report.closed && report.parts == 1);

    static const char path[] = "test_mesh_memory.obj";
    lm_mesh_object object = {
        .name = "corner", .positions = points, .vertex_count = 4, .triangles = triangles, .triangle_count = 4};
    lm_mesh_error error;
    lm_mesh_data mesh;
    assert_true(lm_mesh_write_obj(path, &object, 1, &error));
    object.triangle_count = 3;
    failures = 0;
    for (bool written = false; !written; failures++) {
        assert_true(failures < 1000);
        allowed = failures;
        written = lm_mesh_write_obj(path, &object, 1, &error);
        allowed = -1;
        assert_true(lm_mesh_read(path, NULL, &mesh, &error));
        assert_int_equal(mesh.triangle_count, written ? 3 : 4);
        lm_mesh_free(&mesh);
    }
    assert_true(failures > 1);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation), cmocka_unit_test(test_every_allocation_of_tetrahedra),
        cmocka_unit_test(test_every_allocation_of_poses), cmocka_unit_test(test_every_allocation_of_reports_and_files)};
    return cmocka_run_group_tests_name("mesh_memory", tests, NULL, NULL);
}
