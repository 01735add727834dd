/*
 * glTF files: component types, strides, sparse accessors, strips and fans, transforms, instances and colours; and lies
 * about buffers, views, accessors and nodes.
 */
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_styles(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    static const int indices[] = {5121, 5123, 5125}, colours[] = {5126, 5123, 5121};
    for (int i = 0; i < 72; i++) {
        gltf_style style = {.binary = i % 2,
                            .index_type = indices[i / 2 % 3],
                            .colour_type = colours[i / 6 % 3],
                            .colour_components = 3 + i / 18 % 2,
                            .interleaved = i / 36};
        text_buffer file = {0};
        make_gltf(&file, NULL, &cube, style);
        /* A byte of linear light is far from a byte of sRGB where it is dark. */
        assert_holds(style.binary ? "a.glb" : "a.gltf", &file, &cube, style.colour_type == 5121 ? 13 : 0);
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Small files: two triangles of a square, whose bytes are
 *
 *     0  four positions, 12 bytes each, behind each other
 *    48  indices 0 1 3 3 1 2 (16 bit)
 *    60  a strip 0 1 3 2 (8 bit), and a fan 0 1 2 3 (8 bit)
 *    68  a sparse index 2 (32 bit), and the position it gets: 5 6 7
 *    84  the end
 */

#define SIZE 84

static void add_square(text_buffer *bytes)
{
    static const float positions[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    static const uint32_t indices[6] = {0, 1, 3, 3, 1, 2};
    for (int i = 0; i < 12; i++) add_float(bytes, positions[i]);
    for (int i = 0; i < 6; i++) add_u16(bytes, indices[i]);
    lmi_text_add(bytes, "\0\1\3\2\0\1\2\3", 8);
    add_u32(bytes, 2);
    for (int i = 5; i < 8; i++) add_float(bytes, (float)i);
}

#define VIEWS "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":36}]"
#define POSITIONS "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}"
#define INDICES "{\"bufferView\":1,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"}"
#define SQUARE "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]"
#define ACCESSORS "\"accessors\":[" POSITIONS "," INDICES "]"
#define ONE_NODE "\"nodes\":[{\"mesh\":0}]"

/* A .glb file of the square's bytes and these members. */
static void make_square(text_buffer *file, const char *members)
{
    text_buffer json = {0}, bytes = {0};
    add_square(&bytes);
    lmi_text_addf(&json, "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%d}],%s}", SIZE, members);
    make_glb(file, json.bytes, &bytes);
    lmi_text_free(&json);
    lmi_text_free(&bytes);
}

static lm_mesh_data read_square(const char *members)
{
    text_buffer file = {0};
    make_square(&file, members);
    return assert_reads("a.glb", &file);
}

static void refuse_square(const char *members, const char *expected)
{
    text_buffer file = {0};
    make_square(&file, members);
    assert_refused("a.glb", &file, expected);
}

static void assert_positions(const lm_mesh_data *mesh, const float *expected, uint32_t count)
{
    assert_int_equal(mesh->vertex_count, count);
    for (uint32_t i = 0; i < count; i++) {
        lm_vec3 p = mesh->positions[i];
        const float *q = expected + 3 * i;
        if (fabsf(p.x - q[0]) + fabsf(p.y - q[1]) + fabsf(p.z - q[2]) > 1e-5f)
            fail_msg("vertex %u is at %g %g %g", i, (double)p.x, (double)p.y, (double)p.z);
    }
}

static void assert_triangles(const lm_mesh_data *mesh, const uint32_t *expected, uint32_t count)
{
    assert_int_equal(mesh->triangle_count, count);
    assert_memory_equal(mesh->triangles, expected, 3 * count * sizeof *expected);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Triangles
 */

static void test_modes(void **state)
{
    (void)state;
    static const uint32_t two[6] = {0, 1, 3, 3, 1, 2}, strip[6] = {0, 1, 3, 1, 2, 3}, fan[6] = {0, 1, 2, 0, 2, 3},
                          first[3] = {0, 1, 2};
    lm_mesh_data mesh = read_square(VIEWS "," ACCESSORS "," ONE_NODE "," SQUARE);
    assert_triangles(&mesh, two, 2);
    lm_mesh_free(&mesh);
    mesh = read_square(VIEWS
                       ",\"accessors\":[" POSITIONS
                       ",{\"bufferView\":1,\"byteOffset\":12,\"componentType\":5121,\"count\":4,\"type\":\"SCALAR\"}],"
                       "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":5}]}]");
    assert_triangles(&mesh, strip, 2);
    lm_mesh_free(&mesh);
    mesh = read_square(VIEWS
                       ",\"accessors\":[" POSITIONS
                       ",{\"bufferView\":1,\"byteOffset\":16,\"componentType\":5121,\"count\":4,\"type\":\"SCALAR\"}],"
                       "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":6}]}]");
    assert_triangles(&mesh, fan, 2);
    lm_mesh_free(&mesh);
    /* Without indices, a strip, a fan, a list with a vertex left over; points and lines are nothing to us. */
    mesh = read_square(VIEWS ",\"accessors\":[" POSITIONS "],\"meshes\":[{\"primitives\":["
                             "{\"attributes\":{\"POSITION\":0},\"mode\":0},{\"attributes\":{\"POSITION\":0}},"
                             "{\"attributes\":{\"POSITION\":0},\"mode\":3},{\"attributes\":{}}]}]");
    assert_triangles(&mesh, first, 1);
    lm_mesh_free(&mesh);
}

/* Only vertices that are used come in: the accessor is shared by two primitives. */
static void test_shared_accessors(void **state)
{
    (void)state;
    lm_mesh_data mesh = read_square(
        VIEWS ",\"accessors\":[" POSITIONS ",{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"},"
              "{\"bufferView\":1,\"byteOffset\":6,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],"
              "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1},"
              "{\"attributes\":{\"POSITION\":0},\"indices\":2}]}]");
    static const float positions[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    static const uint32_t triangles[6] = {0, 1, 2, 5, 3, 4};
    assert_positions(&mesh, positions, 6);
    assert_triangles(&mesh, triangles, 2);
    assert_int_equal(lm_mesh_weld(&mesh, 0.0f), LM_OK);
    assert_int_equal(mesh.vertex_count, 4);
    lm_mesh_free(&mesh);
}

static void test_sparse(void **state)
{
    (void)state;
    static const char sparse[] = "\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":1,\"byteOffset\":20,"
                                 "\"componentType\":5125},\"values\":{\"bufferView\":1,\"byteOffset\":24}}";
    char members[900];
    snprintf(members, sizeof members,
             VIEWS ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",%s}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":6}]}]",
             sparse);
    lm_mesh_data mesh = read_square(members);
    static const float changed[12] = {0, 0, 0, 1, 0, 0, 5, 6, 7, 0, 1, 0};
    assert_positions(&mesh, changed, 4);
    lm_mesh_free(&mesh);
    /* Without a view the rest is zero. */
    snprintf(members, sizeof members,
             VIEWS ",\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",%s}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]",
             sparse);
    mesh = read_square(members);
    static const float zeros[9] = {0, 0, 0, 0, 0, 0, 5, 6, 7};
    assert_positions(&mesh, zeros, 3);
    lm_mesh_free(&mesh);

    snprintf(members, sizeof members,
             VIEWS ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\",%s}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]",
             sparse);
    refuse_square(members, "a.glb: accessor 0: it changes element 2 of 2");
    refuse_square(VIEWS ",\"accessors\":[{\"componentType\":5126,\"count\":99999999,\"type\":\"VEC3\"}],"
                        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]",
                  "a.glb: accessor 0: 99999999 elements without a bufferView in a file of 388 bytes");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes
 */

static void test_transforms(void **state)
{
    (void)state;
    /* A parent that turns by a quarter about z and moves; a child that scales; a child with a matrix; an empty node. */
    lm_mesh_data mesh = read_square(
        VIEWS "," ACCESSORS "," SQUARE
              ",\"nodes\":[{\"children\":[1,2],\"translation\":[10,0,0],\"rotation\":[0,0,0.70710678,0.70710678]},"
              "{\"mesh\":0,\"scale\":[2,3,1],\"name\":\"scaled\"},"
              "{\"mesh\":0,\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1]},{\"camera\":0}]");
    static const float expected[24] = {10, 0, 0, 10, 2, 0, 7, 2, 0, 7, 0, 0, 10, 0, 5, 10, 1, 5, 9, 1, 5, 9, 0, 5};
    assert_positions(&mesh, expected, 8);
    static const uint32_t triangles[12] = {0, 1, 3, 3, 1, 2, 4, 5, 7, 7, 5, 6};
    assert_triangles(&mesh, triangles, 4);
    assert_int_equal(mesh.part_count, 1); /* the other has no name */
    assert_string_equal(mesh.names + mesh.parts[0].name, "scaled");
    assert_int_equal(mesh.parts[0].first_triangle, 0);
    assert_int_equal(mesh.parts[0].triangle_count, 2);
    lm_mesh_free(&mesh);
}

/* A node scales first, then turns, then moves. */
static void test_order_of_transforms(void **state)
{
    (void)state;
    lm_mesh_data mesh = read_square(VIEWS "," ACCESSORS "," SQUARE ",\"nodes\":[{\"mesh\":0,\"scale\":[2,3,1],"
                                          "\"rotation\":[0,0,7,7],\"translation\":[10,20,30]}]");
    static const float expected[12] = {10, 20, 30, 10, 22, 30, 7, 22, 30, 7, 20, 30};
    assert_positions(&mesh, expected, 4);
    lm_mesh_free(&mesh);
}

/* A mirror turns triangles round, and normals stay outside. */
static void test_mirror(void **state)
{
    (void)state;
    lm_mesh_data mesh = read_square(
        VIEWS "," ACCESSORS
              ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":0},\"indices\":1}]}],"
              "\"nodes\":[{\"mesh\":0,\"scale\":[-2,1,1]}]");
    static const float expected[12] = {0, 0, 0, -2, 0, 0, -2, 1, 0, 0, 1, 0};
    static const uint32_t triangles[6] = {3, 1, 0, 2, 1, 3};
    assert_positions(&mesh, expected, 4);
    assert_triangles(&mesh, triangles, 2);
    assert_non_null(mesh.normals);
    assert_true(mesh.normals[1].x == -1.0f && mesh.normals[3].y == 1.0f); /* 1 0 0 mirrored, 0 1 0 not */
    assert_true(fabsf(mesh.normals[2].x + 0.4472136f) < 1e-6f && fabsf(mesh.normals[2].y - 0.8944272f) < 1e-6f);
    lm_mesh_free(&mesh);
}

static void test_scenes(void **state)
{
    (void)state;
    static const char nodes[] =
        VIEWS "," ACCESSORS "," SQUARE
              ",\"nodes\":[{\"mesh\":0,\"translation\":[1,0,0]},{\"mesh\":0,\"translation\":[2,0,0]}]";
    char members[1000];
    snprintf(members, sizeof members, "%s,\"scenes\":[{\"nodes\":[0]},{\"nodes\":[1]}],\"scene\":1", nodes);
    lm_mesh_data mesh = read_square(members);
    assert_int_equal(mesh.vertex_count, 4);
    assert_true(mesh.positions[0].x == 2.0f);
    lm_mesh_free(&mesh);
    snprintf(members, sizeof members, "%s,\"scenes\":[{\"nodes\":[0]},{\"nodes\":[1]}]", nodes);
    mesh = read_square(members);
    assert_true(mesh.vertex_count == 4 && mesh.positions[0].x == 1.0f);
    lm_mesh_free(&mesh);
    mesh = read_square(nodes);
    assert_int_equal(mesh.vertex_count, 8);
    lm_mesh_free(&mesh);
}

static void test_node_errors(void **state)
{
    (void)state;
#define REST VIEWS "," ACCESSORS "," SQUARE
    refuse_square(REST ",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1]},{\"mesh\":0,\"children\":[0]}]",
                  "a.glb: node 0 has two parents, or is its own ancestor");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0,\"children\":[0]}]", "a.glb: its scene shows no triangles");
    refuse_square(REST ",\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"children\":[1]},{\"mesh\":0}]",
                  "a.glb: node 1 has two parents, or is its own ancestor");
    refuse_square(REST ",\"scenes\":[{\"nodes\":[7]}],\"nodes\":[{\"mesh\":0}]",
                  "a.glb: a child that is not a node (there are 1)");
    refuse_square(REST ",\"nodes\":[{\"mesh\":3}]", "a.glb: node 0: mesh is 3 (expected a whole number below 1)");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0.5}]", "a.glb: node 0: mesh is 0.5 (expected a whole number below 1)");
    refuse_square(REST ",\"nodes\":[{\"mesh\":\"0\"}]", "a.glb: node 0: mesh is a string (expected a number)");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0,\"scale\":[1,1]}]", "a.glb: node 0: scale is not 3 numbers");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0,\"matrix\":[1]}]", "a.glb: node 0: matrix is not 16 numbers");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0,\"scale\":[1e300,1e300,1]}]", "a.glb: vertex 1 is not finite");
    refuse_square(REST ",\"nodes\":[{\"mesh\":0,\"scale\":[1e10,1,1]}]",
                  "a.glb: a coordinate of vertex 1 is beyond 1e9");
    refuse_square(REST ",\"nodes\":7", "a.glb: nodes is not a list");
    refuse_square(REST ",\"nodes\":[7]", "a.glb: nodes holds something else than objects");

    text_buffer nodes = {0};
    lmi_text_addf(&nodes, REST ",\"nodes\":[");
    for (int i = 0; i < 600; i++) lmi_text_addf(&nodes, "{\"children\":[%d]},", i + 1);
    lmi_text_addf(&nodes, "{\"mesh\":0}]");
    refuse_square(nodes.bytes, "a.glb: node 513: nodes are more than 512 deep");
    lmi_text_free(&nodes);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Colours
 */

static void test_base_colour(void **state)
{
    (void)state;
    /* One primitive with a colour, one with the default material. */
    lm_mesh_data mesh =
        read_square(VIEWS "," ACCESSORS "," ONE_NODE
                          ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1},"
                          "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0}]}],"
                          "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0.21586,0,0.5]}}]");
    static const uint8_t expected[6] = {255, 255, 255, 255, 128, 0};
    assert_memory_equal(mesh.colours + 9, expected, 6); /* the last of the first, the first of the second */
    lm_mesh_free(&mesh);
    mesh = read_square(VIEWS "," ACCESSORS "," ONE_NODE "," SQUARE ",\"materials\":[{}]");
    assert_null(mesh.colours);
    lm_mesh_free(&mesh);
    refuse_square(VIEWS "," ACCESSORS
                        ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}],"
                        "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,2]}}]",
                  "a.glb: material 0: baseColorFactor is not four numbers");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Buffers
 */

static void test_buffer_errors(void **state)
{
    (void)state;
    refuse_square("\"bufferViews\":[{\"buffer\":0,\"byteLength\":48,\"byteOffset\":40}]," ACCESSORS "," SQUARE,
                  "a.glb: bufferView 0: it ends at byte 88 of a buffer of 84");
    refuse_square("\"bufferViews\":[{\"buffer\":0,\"byteLength\":4294967294,\"byteOffset\":4294967294}]," ACCESSORS
                  "," SQUARE,
                  "a.glb: bufferView 0: it ends at byte 8589934588 of a buffer of 84");
    refuse_square("\"bufferViews\":[{\"buffer\":1,\"byteLength\":48}]," ACCESSORS "," SQUARE,
                  "a.glb: bufferView 0: buffer is 1 (expected a whole number below 1)");
    assert_text_refused("a.gltf", "{\"asset\":{\"version\":\"2.0\"},\n" VIEWS "," ACCESSORS "," SQUARE "}",
                        "a.gltf:2: bufferView 0: buffer is 0 (the file has none)");
    refuse_square(ACCESSORS "," SQUARE, "a.glb: accessor 0: bufferView is 0 (the file has none)");
    refuse_square("\"bufferViews\":[{\"buffer\":0,\"byteLength\":48,\"byteStride\":8}]," ACCESSORS "," SQUARE,
                  "a.glb: accessor 0: elements of 12 bytes in steps of 8");
    refuse_square(VIEWS
                  ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}]," SQUARE,
                  "a.glb: accessor 0: it ends at byte 60 of bufferView 0, which has 48");
    refuse_square(VIEWS ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4294967294,\"byteOffset\":"
                        "4294967294,\"type\":\"VEC3\"}]," SQUARE,
                  "a.glb: accessor 0: it ends at byte 55834574822 of bufferView 0, which has 48");
    refuse_square(
        VIEWS ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1e300,\"type\":\"VEC3\"}]," SQUARE,
        "a.glb: accessor 0: count is 1e+300 (expected a whole number below 4294967295)");
    refuse_square(VIEWS ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"type\":\"VEC3\"}]," SQUARE,
                  "a.glb: accessor 0: it has no count");
    refuse_square(VIEWS
                  ",\"accessors\":[{\"bufferView\":0,\"componentType\":5124,\"count\":4,\"type\":\"VEC3\"}]," SQUARE,
                  "a.glb: accessor 0: its type or componentType is not one of a mesh");
    refuse_square(VIEWS
                  ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"}]," SQUARE,
                  "a.glb: mesh 0: primitive 0: an attribute that is not VEC3 or VEC4");
    refuse_square(VIEWS ",\"accessors\":[" POSITIONS "," POSITIONS "]," SQUARE,
                  "a.glb: mesh 0: primitive 0: its indices are not whole numbers");
    refuse_square(VIEWS
                  ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}," INDICES
                  "]," SQUARE,
                  "a.glb: mesh 0: primitive 0: index 2 names vertex 3, there are 3");
    refuse_square(VIEWS ",\"accessors\":[" POSITIONS "]," SQUARE,
                  "a.glb: mesh 0: indices is 1 (expected a whole number below 1)");
    refuse_square(VIEWS "," ACCESSORS ",\"meshes\":[{}]", "a.glb: mesh 0: it has no primitives");
    refuse_square(VIEWS ",\"accessors\":[" POSITIONS
                        ",{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"meshes\":"
                        "[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1}}]}]",
                  "a.glb: mesh 0: primitive 0: its attributes have different counts");
}

static void test_container_errors(void **state)
{
    (void)state;
    text_buffer file = {0};
    make_square(&file, VIEWS "," ACCESSORS "," SQUARE);
    file.length -= 4;
    assert_refused("a.glb", &file, "a.glb: 468 bytes (expected 472, as its header says)");
    make_square(&file, VIEWS "," ACCESSORS "," SQUARE);
    memcpy(file.bytes + 4, "\1", 1);
    assert_refused("a.glb", &file, "a.glb: GLB version 1 (expected 2)");
    make_square(&file, VIEWS "," ACCESSORS "," SQUARE);
    memcpy(file.bytes + 12, "\xff\xff\xff\xff", 4);
    assert_refused("a.glb", &file, "a.glb: its JSON chunk has 4294967295 bytes, more than the file holds");
    make_square(&file, VIEWS "," ACCESSORS "," SQUARE);
    memcpy(file.bytes + file.length - SIZE - 8, "\x55", 1);
    assert_refused("a.glb", &file, "a.glb: its binary chunk has 85 bytes, more than the file holds");
    make_glb(&file,
             "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":84}]," VIEWS "," ACCESSORS "," SQUARE "}",
             NULL);
    assert_refused("a.glb", &file, "a.glb: buffer 0: it has no data (expected a uri, or a binary chunk)");
    text_buffer few = {0};
    lmi_text_add(&few, "abcd", 4);
    make_glb(&file,
             "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":84}]," VIEWS "," ACCESSORS "," SQUARE "}",
             &few);
    lmi_text_free(&few);
    assert_refused("a.glb", &file, "a.glb: buffer 0: 4 bytes (expected 84, its byteLength)");
}

#define TEXT(uri)                                                                                                      \
    "{\n\"asset\":{\"version\":\"2.0\"},\n\"buffers\":[{\"byteLength\":84,\n\"uri\":\"" uri "\"}],\n" VIEWS            \
    "," ACCESSORS "," SQUARE "}"

static void test_text_errors(void **state)
{
    (void)state;
    assert_text_refused("a.gltf", "{", "a.gltf:1: JSON: expected a key in quotes, found the end of the text");
    assert_text_refused("a.gltf", "{}", "a.gltf: not a glTF file: it has no asset.version");
    assert_text_refused("a.gltf", "{\n\"asset\":{\"version\":\"1.0\"}}",
                        "a.gltf:2: glTF version \"1.0\" (expected 2.0)");
    assert_text_refused("a.gltf",
                        "{\"asset\":{\"version\":\"2.0\"},\n\"extensionsRequired\":[\"KHR_materials_unlit\","
                        "\"KHR_draco_mesh_compression\"]}",
                        "a.gltf:2: it needs the extension KHR_draco_mesh_compression, which is not read");
    assert_text_refused("a.gltf", "{\"asset\":{\"version\":\"2.0\"}}", "a.gltf: its scene shows no triangles");
    assert_text_refused("a.gltf", TEXT("square.bin"),
                        "a.gltf:4: buffer 0: it is in another file, which cannot be reached");
    assert_text_refused("a.gltf", TEXT("data:text/plain,abcd"), "a.gltf:4: buffer 0: data that is not base64");
    assert_text_refused("a.gltf", TEXT("data:;base64,ab*d"), "a.gltf:4: buffer 0: not valid base64");
    assert_text_refused("a.gltf", TEXT("data:;base64,"), "a.gltf:3: buffer 0: 0 bytes (expected 84, its byteLength)");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Files beside it
 */

static void write_file(const char *path, const text_buffer *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->bytes, 1, bytes->length, file), bytes->length);
    assert_int_equal(fclose(file), 0);
}

static void test_files_beside(void **state)
{
    (void)state;
    plain_mesh cube = plain_cube();
    text_buffer file = {0}, buffer = {0};
    make_gltf(&file, &buffer, &cube, (gltf_style){.uri = "test_gltf%20cube.bin"});
    write_file("test_gltf cube.bin", &buffer);
    write_file("test_gltf.gltf", &file);
    lm_mesh_data mesh;
    lm_mesh_error error;
    if (!lm_mesh_read("test_gltf.gltf", NULL, &mesh, &error)) fail_msg("%s", error.text);
    assert_int_equal(mesh.triangle_count, 12);
    lm_mesh_free(&mesh);
    if (!lm_mesh_read("./test_gltf.gltf", NULL, &mesh, &error)) fail_msg("%s", error.text);
    lm_mesh_free(&mesh);
    buffer.length -= 10;
    write_file("test_gltf cube.bin", &buffer);
    assert_false(lm_mesh_read("test_gltf.gltf", NULL, &mesh, &error));
    assert_string_equal(error.text, "test_gltf.gltf:4: buffer 0: 358 bytes (expected 368, its byteLength)");
    remove("test_gltf cube.bin");
    assert_false(lm_mesh_read("test_gltf.gltf", NULL, &mesh, &error));
    assert_string_equal(error.text, "test_gltf.gltf:4: buffer 0: test_gltf cube.bin: No such file or directory");
    lmi_text_free(&file);
    lmi_text_free(&buffer);

    static const char *const outside[] = {
        "/etc/passwd", "../a.bin",     "a/../../a.bin", "..", "%2e%2e/a.bin",  "file:///a.bin", "C:a.bin",
        "..\\\\a.bin", "a\\u0000.bin", "a%00b",         "",   "http://a/b.bin"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        make_gltf(&file, NULL, &cube, (gltf_style){.uri = outside[i]});
        write_file("test_gltf.gltf", &file);
        lmi_text_free(&file);
        assert_false(lm_mesh_read("test_gltf.gltf", NULL, &mesh, &error));
        assert_non_null(strstr(error.text, "is not a file in the same folder or below"));
    }
    remove("test_gltf.gltf");
}

/* ------------------------------------------------------------------------------------------------------------------
 * Too much
 */

/* A small file that places a mesh so often that it would fill the memory. */
static void test_too_many_instances(void **state)
{
    (void)state;
    text_buffer members = {0};
    /* A strip of 100,000 zeros, which a file of that size may have. */
    lmi_text_addf(&members, "\"extras\":\"%*s\",", 100000, "");
    lmi_text_addf(&members, "\"accessors\":[{\"componentType\":5126,\"count\":100000,\"type\":\"VEC3\"}],"
                            "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}],\"nodes\":[");
    for (int i = 0; i < 45; i++) lmi_text_addf(&members, "%s{\"mesh\":0}", i ? "," : "");
    lmi_text_addf(&members, "]");
    refuse_square(members.bytes, "a.glb: its meshes are placed so often that they make more than 4194304 triangles");
    lmi_text_free(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_styles),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_shared_accessors),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_order_of_transforms),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_node_errors),
        cmocka_unit_test(test_base_colour),
        cmocka_unit_test(test_buffer_errors),
        cmocka_unit_test(test_container_errors),
        cmocka_unit_test(test_text_errors),
        cmocka_unit_test(test_files_beside),
        cmocka_unit_test(test_too_many_instances),
    };
    return cmocka_run_group_tests_name("gltf", tests, NULL, NULL);
}
