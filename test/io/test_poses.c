/*
 * Poses from files: morph targets of glTF files, frames of MDD and PC2 files, second meshes; what is wrong with them; and which
 * vertices of a file the welded ones are. The files are written here, byte by byte.
 */
#include "limber/pose.h"
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Coordinate k of point i in a frame: numbers that are exact, and all different. */
static float value_of(uint32_t frame, uint32_t i, uint32_t k) { return (float)(100 * frame + 3 * i + k) * 0.25f; }

static void add_big_u32(text_buffer *bytes, uint32_t value)
{
    unsigned char b[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                          (unsigned char)value};
    lmi_text_add(bytes, (const char *)b, sizeof b);
}

static void add_big_float(text_buffer *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_big_u32(bytes, bits);
}

static void make_mdd(text_buffer *file, uint32_t frames, uint32_t points)
{
    add_big_u32(file, frames);
    add_big_u32(file, points);
    for (uint32_t f = 0; f < frames; f++) add_big_float(file, (float)f / 25.0f);
    for (uint32_t f = 0; f < frames; f++)
        for (uint32_t i = 0; i < 3 * points; i++) add_big_float(file, value_of(f, i / 3, i % 3));
}

static void make_pc2(text_buffer *file, uint32_t frames, uint32_t points)
{
    lmi_text_add(file, "POINTCACHE2", 12);
    add_u32(file, 1);
    add_u32(file, points);
    add_float(file, 0.0f);
    add_float(file, 1.0f);
    add_u32(file, frames);
    for (uint32_t f = 0; f < frames; f++)
        for (uint32_t i = 0; i < 3 * points; i++) add_float(file, value_of(f, i / 3, i % 3));
}

static void assert_pose_refused(const char *name, const text_buffer *file, const lm_pose_options *options,
                                const char *expected)
{
    lm_pose_data pose;
    lm_mesh_error error;
    assert_false(lm_pose_parse(name, file->bytes, file->length, options, &pose, &error));
    assert_null(pose.positions);
    assert_string_equal(error.text, expected);
}

static void test_frames(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        text_buffer file = {0};
        const char *name = kind ? "a.pc2" : "a.mdd";
        (kind ? make_pc2 : make_mdd)(&file, 3, 5);
        for (uint32_t frame = 0; frame < 6; frame++) {
            lm_pose_options options = {.has_frame = true, .frame = frame % 3, .z_up = frame >= 3};
            lm_pose_data pose;
            lm_mesh_error error;
            if (!lm_pose_parse(name, file.bytes, file.length, &options, &pose, &error)) fail_msg("%s", error.text);
            assert_int_equal(pose.vertex_count, 5);
            for (uint32_t i = 0; i < 5; i++) {
                float x = value_of(frame % 3, i, 0), y = value_of(frame % 3, i, 1), z = value_of(frame % 3, i, 2);
                assert_true(pose.positions[i].x == x);
                assert_true(pose.positions[i].y == (frame >= 3 ? z : y));
                assert_true(pose.positions[i].z == (frame >= 3 ? -y : z));
            }
            lm_pose_free(&pose);
        }
        lmi_text_free(&file);
    }
}

/* Every beginning of a file is refused, and the message says where it ends. */
static void test_truncated_frames(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        text_buffer file = {0};
        const char *name = kind ? "a.pc2" : "a.mdd";
        (kind ? make_pc2 : make_mdd)(&file, 2, 3);
        lm_pose_options options = {.frame = 0};
        for (size_t length = 0; length < file.length; length++) {
            char *part = malloc(length + 1); /* its own memory, so that a sanitizer sees a byte too many */
            memcpy(part, file.bytes, length);
            lm_pose_data pose;
            lm_mesh_error error;
            assert_false(lm_pose_parse(name, part, length, &options, &pose, &error));
            assert_non_null(strstr(error.text, length < 12 && kind ? "begin as a PC2" : "the file ends within"));
            free(part);
        }
        file.length -= 13;
        assert_pose_refused(name, &file, &options,
                            kind ? "a.pc2: the file ends within frame 1, point 1 (expected 2 frames of 3 points)"
                                 : "a.mdd: the file ends within frame 1, point 1 (expected 2 frames of 3 points)");
        lmi_text_free(&file);
    }
}

static void test_wrong_frames(void **state)
{
    (void)state;
    text_buffer file = {0};
    make_mdd(&file, 2, 3);
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.frame = 2},
                        "a.mdd: there is no frame 2 (it has 2, counted from 0)");
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.target = "smile"},
                        "a.mdd: it has frames, not targets (expected a glTF file)");
    assert_pose_refused("a.pc2", &file, &(lm_pose_options){.frame = 0}, "a.pc2: it does not begin as a PC2 file does");
    static const unsigned char infinite[4] = {0x7f, 0x80, 0, 0}, huge[4] = {0x7f, 0, 0, 0};
    memcpy(file.bytes + file.length - 4, infinite, 4);
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.frame = 1}, "a.mdd: frame 1: point 2 is not finite");
    memcpy(file.bytes + file.length - 4, huge, 4);
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.frame = 1},
                        "a.mdd: frame 1: a coordinate of point 2 is beyond 1e9");
    lmi_text_free(&file);
    make_mdd(&file, 2, 0);
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.frame = 0},
                        "a.mdd: it has 0 points (expected 1 to 67108864)");
    lmi_text_free(&file);
    /* Counts whose product does not fit into any number. */
    add_big_u32(&file, 0x7fffffff);
    add_big_u32(&file, 1 << 24);
    assert_pose_refused("a.mdd", &file, &(lm_pose_options){.frame = 0},
                        "a.mdd: the file ends within the times of its 2147483647 frames");
    lmi_text_free(&file);
    make_pc2(&file, 1, 1);
    file.bytes[12] = 2;
    assert_pose_refused("a.pc2", &file, &(lm_pose_options){.frame = 0}, "a.pc2: PC2 version 2 (expected 1)");
    lmi_text_free(&file);
    lmi_text_addf(&file, "v 0 0 0\n");
    assert_pose_refused("a.obj", &file, &(lm_pose_options){.has_frame = true},
                        "a.obj: it has no frames (expected an MDD or PC2 file)");
    assert_pose_refused("a.obj", &file, &(lm_pose_options){.target = "0"},
                        "a.obj: it has no morph targets (expected a glTF file)");
    lmi_text_free(&file);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Morph targets: a triangle of
 *
 *     0  three positions
 *    36  three moves, of the target "all"
 *    72  one move, of vertex 2 in the target "one", which is sparse
 *    84  the number of that vertex, one byte
 *
 * in a node twice as large; and a second mesh of another node that has no targets.
 */

#define PLACE(offset, length) "{\"buffer\":0,\"byteOffset\":" #offset ",\"byteLength\":" #length "}"
#define VECTORS(view) "{\"bufferView\":" #view ",\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}"
#define SPARSE                                                                                                         \
    "{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":3,"     \
    "\"componentType\":5121},\"values\":{\"bufferView\":2}}}"
#define FILE_WITH(names, targets)                                                                                      \
    "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":0,\"scale\":[2,2,2]},{\"mesh\":1}],\"meshes\":[{" names     \
    "\"primitives\":[{\"attributes\":{\"POSITION\":0}" targets                                                         \
    "}]},{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[" VECTORS(0) "," VECTORS(                \
        1) "," SPARSE                                                                                                  \
           ",{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],\"bufferViews\":[" PLACE(        \
               0, 36) "," PLACE(36, 36) "," PLACE(72, 12) "," PLACE(84, 1) "],\"buffers\":[{\"byteLength\":88}]}"
#define NAMES "\"extras\":{\"targetNames\":[\"all\",\"one\",\"0\"]},"
#define TARGETS ",\"targets\":[{\"POSITION\":1},{\"POSITION\":2},{\"NORMAL\":1}]"

static void make_target_file(text_buffer *file, const char *json)
{
    text_buffer buffer = {0};
    for (uint32_t i = 0; i < 9; i++) add_float(&buffer, value_of(0, i / 3, i % 3));
    for (uint32_t i = 0; i < 12; i++) add_float(&buffer, value_of(1, i / 3, i % 3));
    lmi_text_add(&buffer, "\2\0\0\0", 4);
    make_glb(file, json, &buffer);
    lmi_text_free(&buffer);
}

/* Moves are scaled with the node; meshes without the target stay; a name comes before a number. */
static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *names, *target;
        int moves; /* 0: none, 1: all vertices, 2: the third one */
    } cases[] = {{NAMES, NULL, 0}, {NAMES, "all", 1}, {NAMES, "one", 2}, {NAMES, "0", 0},
                 {NAMES, "1", 2},  {"", "0", 1},      {"", "1", 2},      {"", "2", 0}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        text_buffer file = {0};
        make_target_file(&file, cases[c].names[0] ? FILE_WITH(NAMES, TARGETS) : FILE_WITH("", TARGETS));
        lm_pose_options options = {.target = cases[c].target};
        lm_pose_data pose;
        lm_mesh_error error;
        if (!lm_pose_parse("a.glb", file.bytes, file.length, &options, &pose, &error)) fail_msg("%s", error.text);
        assert_int_equal(pose.vertex_count, 6);
        for (uint32_t n = 0; n < 18; n++) {
            uint32_t i = n / 3 % 3, k = n % 3;
            float expected = value_of(0, i, k);
            if (n < 9 && cases[c].moves == 1) expected += value_of(1, i, k);
            if (n < 9 && cases[c].moves == 2 && i == 2) expected += value_of(1, 3, k);
            expected *= n < 9 ? 2.0f : 1.0f;
            assert_true((&pose.positions[n / 3].x)[k] == expected);
        }
        lm_pose_free(&pose);
        lmi_text_free(&file);
    }
}

static void test_wrong_targets(void **state)
{
    (void)state;
    static const struct {
        const char *json, *target, *expected;
    } cases[] = {
        {FILE_WITH(NAMES, TARGETS), "none",
         "a.glb: there is no morph target \"none\" (expected one of: \"all\" \"one\" \"0\")"},
        {FILE_WITH("", TARGETS), "3", "a.glb: there is no morph target \"3\" (it has 3, counted from 0)"},
        {FILE_WITH("", TARGETS), "", "a.glb: there is no morph target \"\" (it has 3, counted from 0)"},
        {FILE_WITH("", ""), "0", "a.glb: there is no morph target \"0\" (it has none)"},
        {FILE_WITH(NAMES, ",\"targets\":[{\"POSITION\":1}]"), "one",
         "a.glb: mesh 0: primitive 0: it has no target 1, \"one\""},
        {FILE_WITH("", ",\"targets\":[{\"POSITION\":3}]"), "0",
         "a.glb: accessor 3: a morph target of 2 elements of 3 numbers (expected 3 of 3)"},
        {FILE_WITH("", ",\"targets\":[{\"POSITION\":4}]"), "0",
         "a.glb: mesh 0: POSITION is 4 (expected a whole number below 4)"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        text_buffer file = {0};
        make_target_file(&file, cases[c].json);
        assert_pose_refused("a.glb", &file, &(lm_pose_options){.target = cases[c].target}, cases[c].expected);
        lmi_text_free(&file);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Second meshes
 */

/* A pose keeps all vertices of the file, also those at one place; the mesh says which of them its own ones are. */
static void test_sources(void **state)
{
    (void)state;
    text_buffer file = {0};
    lmi_text_addf(&file, "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 0\nf 2 3 5\nf 4 6 7\n");
    lm_mesh_data mesh;
    lm_mesh_error error;
    assert_true(lm_mesh_parse("a.obj", file.bytes, file.length, NULL, &mesh, &error));
    static const uint32_t expected[] = {0, 1, 2, 4, 6};
    assert_int_equal(mesh.vertex_count, 5);
    assert_memory_equal(mesh.sources, expected, sizeof expected);
    /* Welded once more, over a distance of 1: the last three join the second. */
    assert_int_equal(lm_mesh_weld(&mesh, 1.0f), LM_OK);
    static const uint32_t coarser[] = {0, 1, 6};
    assert_int_equal(mesh.vertex_count, 3);
    assert_memory_equal(mesh.sources, coarser, sizeof coarser);
    lm_mesh_free(&mesh);
    lm_pose_data pose;
    assert_true(lm_pose_parse("a.obj", file.bytes, file.length, &(lm_pose_options){.frame = 0}, &pose, &error));
    assert_int_equal(pose.vertex_count, 7);
    assert_true(pose.positions[6].y == 1.0f && pose.positions[0].x == 9.0f);
    lm_pose_free(&pose);
    lmi_text_free(&file);
}

static void test_missing_file(void **state)
{
    (void)state;
    lm_pose_data pose;
    lm_mesh_error error;
    assert_false(lm_pose_read("/no/such/file.mdd", &(lm_pose_options){.frame = 0}, &pose, &error));
    assert_string_equal(error.text, "/no/such/file.mdd: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),        cmocka_unit_test(test_truncated_frames),
        cmocka_unit_test(test_wrong_frames),  cmocka_unit_test(test_targets),
        cmocka_unit_test(test_wrong_targets), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_missing_file),
    };
    return cmocka_run_group_tests_name("poses", tests, NULL, NULL);
}
