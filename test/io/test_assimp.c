/*
 * Meshes against the Open Asset Import Library: Limber's own readers see what it sees in the same bytes, and what it
 * writes in formats that Limber has no reader for comes in through it.
 */
#include "limber/shapes.h"
#include "test/support/mesh_files.h"

#include <assimp/cexport.h>
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static plain_mesh make_shape(const char *name, uint32_t detail, lm_shape_mesh *shape)
{
    lm_shape_def def = lm_shape_def_default();
    def.name = name;
    def.size = lm_shape_natural_size(name);
    def.detail = detail;
    assert_int_equal(lm_shape_make_mesh(&def, shape), LM_OK);
    return (plain_mesh){shape->vertices, &shape->colours[0].r, shape->vertex_count, shape->triangles,
                        shape->triangle_count};
}

/* ------------------------------------------------------------------------------------------------------------------
 * The same bytes
 */

/* All corners of all triangles, one after another. */
static lm_vec3 *assimp_corners(const char *hint, const text_buffer *file, uint32_t *count)
{
    const struct aiScene *scene = aiImportFileFromMemory(file->bytes, (unsigned)file->length,
                                                         aiProcess_Triangulate | aiProcess_PreTransformVertices, hint);
    if (!scene) fail_msg("assimp: %s", aiGetErrorString());
    lm_vec3 *corners = NULL;
    *count = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        corners = realloc(corners, (*count + 3u * mesh->mNumFaces) * sizeof *corners);
        assert_non_null(corners);
        for (unsigned f = 0; f < mesh->mNumFaces; f++) {
            assert_int_equal(mesh->mFaces[f].mNumIndices, 3);
            for (int c = 0; c < 3; c++) {
                struct aiVector3D v = mesh->mVertices[mesh->mFaces[f].mIndices[c]];
                corners[(*count)++] = (lm_vec3){v.x, v.y, v.z};
            }
        }
    }
    aiReleaseImport(scene);
    return corners;
}

static void assert_agrees(const char *name, text_buffer *file)
{
    uint32_t count;
    lm_vec3 *corners = assimp_corners(strrchr(name, '.') + 1, file, &count);
    lm_mesh_data mesh = assert_reads(name, file);
    assert_int_equal(3 * mesh.triangle_count, count);
    for (uint32_t i = 0; i < count; i++) {
        lm_vec3 p = mesh.positions[mesh.triangles[i]], q = corners[i];
        /* It multiplies matrices in single precision. */
        if (fabsf(p.x - q.x) + fabsf(p.y - q.y) + fabsf(p.z - q.z) > 1e-5f)
            fail_msg("%s: corner %u is at %g %g %g, and at %g %g %g for assimp", name, i, (double)p.x, (double)p.y,
                     (double)p.z, (double)q.x, (double)q.y, (double)q.z);
    }
    free(corners);
    lm_mesh_free(&mesh);
}

static void test_agreement(void **state)
{
    (void)state;
    lm_shape_mesh shape;
    plain_mesh duck = make_shape("duck", 15, &shape);
    text_buffer file = {0};
    make_obj(&file, &duck);
    assert_agrees("a.obj", &file);
    make_stl_text(&file, &duck, "duck");
    assert_agrees("a.stl", &file);
    make_stl_binary(&file, &duck, "");
    assert_agrees("a.stl", &file);
    make_ply(&file, &duck, (ply_style){.encoding = PLY_TEXT});
    assert_agrees("a.ply", &file);
    make_ply(&file, &duck, (ply_style){.encoding = PLY_LITTLE_ENDIAN, .extras = true});
    assert_agrees("a.ply", &file);
    make_ply(&file, &duck, (ply_style){.encoding = PLY_BIG_ENDIAN, .position_type = "double", .index_type = "uint"});
    assert_agrees("a.ply", &file);
    make_gltf(&file, NULL, &duck, (gltf_style){.binary = false, .index_type = 5123});
    assert_agrees("a.gltf", &file);
    make_gltf(&file, NULL, &duck,
              (gltf_style){.binary = true,
                           .interleaved = true,
                           .node =
                               ",\"translation\":[1,-2,3],\"rotation\":[0.18257419,0.36514837,0.54772256,0.73029674],"
                               "\"scale\":[2,0.5,1.5]"});
    assert_agrees("a.glb", &file);
    make_gltf(&file, NULL, &duck,
              (gltf_style){.binary = true, .node = ",\"matrix\":[0,2,0,0,-1,0,0,0,0.5,0,1,0,4,5,6,1]"});
    assert_agrees("a.glb", &file);
    lm_shape_mesh_free(&shape);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Formats that it writes
 */

static void test_other_formats(void **state)
{
    (void)state;
    lm_shape_mesh shape;
    plain_mesh torus = make_shape("torus", 12, &shape);
    lm_mesh_report expected;
    assert_int_equal(
        lm_mesh_inspect(torus.positions, torus.vertex_count, torus.triangles, torus.triangle_count, &expected), LM_OK);
    text_buffer file = {0};
    make_obj(&file, &torus);
    const struct aiScene *scene =
        aiImportFileFromMemory(file.bytes, (unsigned)file.length, aiProcess_JoinIdenticalVertices, "obj");
    lmi_text_free(&file);
    assert_non_null(scene);
    static const char *const formats[][2] = {{"collada", "dae"}, {"fbxa", "fbx"}, {"x", "x"},      {"3ds", "3ds"},
                                             {"ply", "ply"},     {"stlb", "stl"}, {"glb2", "glb"}, {"gltf2", "gltf"}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "test_assimp.%s", formats[i][1]);
        assert_int_equal(aiExportScene(scene, formats[i][0], path, 0), aiReturn_SUCCESS);
        lm_mesh_data mesh;
        lm_mesh_error error;
        if (!lm_mesh_read(path, &(lm_mesh_options){.weld = 1e-5f}, &mesh, &error)) fail_msg("%s", error.text);
        lm_mesh_report report;
        assert_int_equal(
            lm_mesh_inspect(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count, &report), LM_OK);
        if (!report.closed || report.triangles != expected.triangles || report.vertices != expected.vertices)
            fail_msg("%s: %u vertices, %u triangles, %u open edges", path, report.vertices, report.triangles,
                     report.open_edges);
        /* FBX is in centimetres unless told otherwise, and files keep their units: look at the shape, not its size. */
        double size = cbrt(report.volume / expected.volume);
        assert_true(fabs(report.area / (size * size) - expected.area) < 1e-4 * expected.area);
        lm_mesh_free(&mesh);
        remove(path);
    }
    remove("test_assimp.bin");
    aiReleaseImport(scene);
    lm_shape_mesh_free(&shape);
}

static void test_failures(void **state)
{
    (void)state;
    lm_mesh_data mesh;
    lm_mesh_error error;
    static const char broken[] = "<COLLADA";
    assert_false(lm_mesh_parse("a.dae", broken, strlen(broken), NULL, &mesh, &error));
    assert_true(strncmp(error.text, "a.dae: assimp: ", 15) == 0);
    assert_null(strchr(error.text, '\n'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests_name("assimp", tests, NULL, NULL);
}
