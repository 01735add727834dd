/*
 * Skins and animations of glTF files that are written here: joints, inverse bind matrices, weights, every interpolation; lies
 * about each of them; and a scene whose body is moved by such a file.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "limber/rig.h"
#include "limber/scene.h"
#include "test/support/mesh_files.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------------------------------------------------
 * A bar of 1 x 4 x 1 on an armature at x = 10, with a joint at its foot and one in its middle. The bytes:
 *
 *     0  eight positions          456  times 0 1 2
 *    96  four joints of each      468  rotations 0, 90 and 180 degrees about z, the last with the other sign
 *   128  four weights of each     516  translations (0 0 0) (0 1 0) (0 3 0)
 *   256  twelve triangles         552  times 0 2
 *   328  two inverse matrices     560  two keys of a cubic, from x = 10 to x = 12
 */

#define SIZE 632
#define HALF 0.70710678f

static void add_floats(text_buffer *bytes, const float *values, int count)
{
    for (int i = 0; i < count; i++) add_float(bytes, values[i]);
}

static void add_bar(text_buffer *bytes)
{
    static const uint32_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                           2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    static const float matrices[32] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                       1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -2, 0, 1};
    static const float keys[44] = {0,  1, 2, 0,  0, 0,  1, 0, 0, HALF, HALF, 0, 0, -1, 0, /* times, rotations */
                                   0,  0, 0, 0,  1, 0,  0, 3, 0,                          /* translations */
                                   0,  2, 0, 0,  0, 10, 0, 0, 3, 0,    0,                 /* times, a cubic */
                                   -1, 0, 0, 12, 0, 0,  0, 0, 0};
    for (int i = 0; i < 8; i++) {
        add_float(bytes, i % 2 ? 0.5f : -0.5f);
        add_float(bytes, i / 2 % 2 ? 4.0f : 0.0f);
        add_float(bytes, i / 4 ? 0.5f : -0.5f);
    }
    for (int i = 0; i < 8; i++) lmi_text_add(bytes, i / 2 % 2 ? "\1\0\0\0" : "\0\1\0\0", 4);
    for (int i = 0; i < 8; i++) {
        const float weights[4] = {0.75f, 0.25f, 0, 0};
        add_floats(bytes, weights, 4);
    }
    for (int i = 0; i < 36; i++) add_u16(bytes, triangles[i]);
    add_floats(bytes, matrices, 32);
    add_floats(bytes, keys, 15 + 9 + 2 + 18);
}

#define ACCESSOR(view, type, count, kind)                                                                              \
    "{\"bufferView\":" #view ",\"componentType\":" #type ",\"count\":" #count ",\"type\":\"" kind "\"}"
#define VIEW(offset, length) "{\"buffer\":0,\"byteOffset\":" #offset ",\"byteLength\":" #length "}"

typedef struct rig_parts {
    const char *nodes, *skin, *attributes, *animations, *accessors; /* null: the usual */
    size_t damage; /* the byte that is set to 0xff, and the three after it; 0: none */
} rig_parts;

static const char usual_nodes[] = "{\"name\":\"bar\",\"mesh\":0,\"skin\":0},"
                                  "{\"name\":\"lower\",\"children\":[2]},"
                                  "{\"name\":\"upper\",\"translation\":[0,2,0]},"
                                  "{\"name\":\"armature\",\"translation\":[10,0,0],\"children\":[0,1]}";
static const char usual_accessors[] =
    ACCESSOR(0, 5126, 8, "VEC3") "," ACCESSOR(1, 5121, 8, "VEC4") "," ACCESSOR(2, 5126, 8, "VEC4") "," ACCESSOR(3, 5123, 36, "SCALAR") "," ACCESSOR(
        4, 5126, 2,
        "MAT4") "," ACCESSOR(5, 5126, 3,
                             "SCALAR") "," ACCESSOR(6, 5126, 3,
                                                    "VEC4") "," ACCESSOR(7, 5126, 3,
                                                                         "VEC3") "," ACCESSOR(8, 5126, 2,
                                                                                              "SCALAR") "," ACCESSOR(9,
                                                                                                                     5126,
                                                                                                                     6,
                                                                                                                     "V"
                                                                                                                     "E"
                                                                                                                     "C"
                                                                                                                     "3");
static const char usual_animations[] =
    "{\"name\":\"turn\",\"samplers\":[{\"input\":5,\"output\":6},{\"input\":5,\"output\":7,\"interpolation\":\"STEP\"}]"
    ","
    "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}},"
    "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"translation\"}}]},"
    "{\"name\":\"glide\",\"samplers\":[{\"input\":8,\"output\":9,\"interpolation\":\"CUBICSPLINE\"}],"
    "\"channels\":[{\"sampler\":0,\"target\":{\"node\":3,\"path\":\"translation\"}}]}";

static void make_rig(text_buffer *file, rig_parts parts)
{
    text_buffer json = {0}, bytes = {0};
    add_bar(&bytes);
    assert_int_equal(bytes.length, SIZE);
    if (parts.damage) memset(bytes.bytes + parts.damage, 0xff, 4);
    lmi_text_addf(&json, "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%d}],", SIZE);
    lmi_text_addf(&json, "\"bufferViews\":[%s],",
                  VIEW(0, 96) "," VIEW(96, 32) "," VIEW(128, 128) "," VIEW(256, 72) "," VIEW(328, 128) "," VIEW(
                      456, 12) "," VIEW(468, 48) "," VIEW(516, 36) "," VIEW(552, 8) "," VIEW(560, 72));
    lmi_text_addf(&json, "\"accessors\":[%s],", parts.accessors ? parts.accessors : usual_accessors);
    lmi_text_addf(&json, "\"meshes\":[{\"primitives\":[{\"attributes\":{%s},\"indices\":3}]}],",
                  parts.attributes ? parts.attributes : "\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2");
    lmi_text_addf(&json, "\"nodes\":[%s],", parts.nodes ? parts.nodes : usual_nodes);
    lmi_text_addf(&json, "\"skins\":[{%s}],", parts.skin ? parts.skin : "\"joints\":[1,2],\"inverseBindMatrices\":4");
    lmi_text_addf(&json, "\"animations\":[%s]}", parts.animations ? parts.animations : usual_animations);
    make_glb(file, json.bytes, &bytes);
    lmi_text_free(&json);
    lmi_text_free(&bytes);
}

static lm_rig_data read_rig(rig_parts parts)
{
    text_buffer file = {0};
    lm_rig_data rig;
    lm_mesh_error error;
    make_rig(&file, parts);
    if (!lm_rig_parse("a.glb", file.bytes, file.length, &rig, &error)) fail_msg("%s", error.text);
    lmi_text_free(&file);
    return rig;
}

static void assert_pose(const lm_rig_pose *pose, double x, double y, double z, double degrees)
{
    double half = degrees / 360.0 * 3.14159265358979, side = pose->rotation[3] < 0.0 ? -1.0 : 1.0;
    assert_float_equal(pose->position[0], x, 1e-6);
    assert_float_equal(pose->position[1], y, 1e-6);
    assert_float_equal(pose->position[2], z, 1e-6);
    assert_float_equal(fabs(pose->rotation[0]) + fabs(pose->rotation[1]), 0.0, 1e-6);
    assert_float_equal(side * pose->rotation[2], sin(half), 1e-6);
    assert_float_equal(side * pose->rotation[3], cos(half), 1e-6);
}

static void test_skin(void **state)
{
    (void)state;
    lm_rig_data rig = read_rig((rig_parts){0});
    assert_int_equal(rig.joint_count, 2);
    assert_string_equal(lm_rig_joint_name(&rig, 0), "lower");
    assert_string_equal(lm_rig_joint_name(&rig, 1), "upper");
    assert_int_equal(rig.joints[0].parent, LM_RIG_NONE);
    assert_int_equal(rig.joints[1].parent, 0);
    assert_pose(&rig.joints[0].rest, 10, 0, 0, 0);
    assert_pose(&rig.joints[1].rest, 10, 2, 0, 0);
    assert_float_equal(rig.joints[0].tail[1], 2.0, 1e-9); /* at the next joint */
    assert_float_equal(rig.joints[1].tail[1], 3.0, 1e-9); /* half as long as the one before */
    assert_int_equal(rig.vertex_count, 8);
    assert_float_equal(rig.positions[3].x, 10.5f, 0.0f);
    assert_int_equal(rig.followed[4 * 2], 1);
    assert_int_equal(rig.followed[4 * 2 + 1], 0);
    assert_float_equal(rig.weights[4 * 2], 0.75f, 0.0f);
    assert_int_equal(rig.animation_count, 2);
    assert_int_equal(lm_rig_find_animation(&rig, "glide"), 1);
    assert_int_equal(lm_rig_find_animation(&rig, "run"), LM_RIG_NONE);
    assert_float_equal(rig.animations[0].duration, 2.0, 0.0);
    lm_rig_free(&rig);
    /* Without inverse bind matrices it is bound as the file shows it. A file without a skin, or of another format, has no rig. */
    rig = read_rig((rig_parts){.skin = "\"joints\":[2,1]"});
    assert_pose(&rig.joints[0].rest, 10, 2, 0, 0);
    assert_int_equal(rig.joints[0].parent, 1);
    lm_rig_free(&rig);
    rig = read_rig((rig_parts){.nodes = "{\"mesh\":0},{\"children\":[2]},{},{}"});
    assert_int_equal(rig.joint_count, 0);
    lm_rig_free(&rig);
    lm_mesh_error error;
    assert_true(lm_rig_parse("a.obj", "v 0 0 0\n", 8, &rig, &error));
    assert_int_equal(rig.joint_count, 0);
    lm_rig_free(&rig);
}

static void assert_sample(const lm_rig_data *rig, uint32_t animation, double time, double lower_y, double upper_y,
                          double x, double degrees)
{
    lm_rig_pose poses[2];
    assert_true(lm_rig_sample(rig, animation, time, poses));
    assert_pose(&poses[0], x, lower_y, 0, 0);
    assert_pose(&poses[1], x, upper_y, 0, degrees);
}

static void test_animations(void **state)
{
    (void)state;
    lm_rig_data rig = read_rig((rig_parts){0});
    assert_sample(&rig, LM_RIG_NONE, 0.7, 0, 2, 10, 0);
    assert_sample(&rig, 0, -1.0, 0, 2, 10, 0);
    assert_sample(&rig, 0, 0.25, 0, 2, 10, 22.5);
    assert_sample(&rig, 0, 1.0, 1, 3, 10, 90);
    assert_sample(&rig, 0, 1.9, 1, 3, 10, 171); /* the short way although the last key has the other sign */
    assert_sample(&rig, 0, 9.0, 3, 5, 10, 180);
    assert_sample(&rig, 1, 1.0, 0, 2, 12, 0); /* a cubic with tangents 3 and -1 from 10 to 12 over 2 s */
    assert_sample(&rig, 1, 0.5, 0, 2, 0.84375 * 10 + 0.15625 * 12 + 2 * (0.140625 * 3 + 0.046875), 0);
    assert_sample(&rig, 1, 2.0, 0, 2, 12, 0);
    lm_rig_free(&rig);
}

/* Scales of an armature move the joints, which stay rigid; a joint may be named by nobody, and mirrored. */
static void test_scales(void **state)
{
    (void)state;
    lm_rig_data rig = read_rig(
        (rig_parts){.nodes = "{\"mesh\":0,\"skin\":0},{\"children\":[2]},{\"translation\":[0,2,0],\"scale\":[1,-3,1]},"
                             "{\"matrix\":[2,0,0,0,0,2,0,0,0,0,2,0,5,0,0,1],\"children\":[0,1]}"});
    lm_rig_pose poses[2];
    assert_pose(&rig.joints[1].rest, 5, 4, 0, 0);
    assert_string_equal(lm_rig_joint_name(&rig, 1), "joint1");
    assert_true(lm_rig_sample(&rig, LM_RIG_NONE, 0.0, poses));
    assert_float_equal(poses[1].position[1], 4.0, 1e-9);
    double length = 0.0;
    for (int i = 0; i < 4; i++) length += poses[1].rotation[i] * poses[1].rotation[i];
    assert_float_equal(length, 1.0, 1e-9);
    /* A node with a matrix is not moved by an animation. */
    assert_true(lm_rig_sample(&rig, 1, 1.0, poses));
    assert_float_equal(poses[0].position[0], 5.0, 1e-9);
    lm_rig_free(&rig);
}

static void assert_wrong(rig_parts parts, const char *expected)
{
    text_buffer file = {0};
    lm_rig_data rig;
    lm_mesh_error error;
    make_rig(&file, parts);
    assert_false(lm_rig_parse("a.glb", file.bytes, file.length, &rig, &error));
    if (!strstr(error.text, expected)) fail_msg("%s (expected %s)", error.text, expected);
    assert_null(rig.joints);
    lmi_text_free(&file);
}

#define CHANNEL(sampler, rest) "{\"samplers\":[{" sampler "}],\"channels\":[{" rest "}]}"
#define TURNS "\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}"

static void test_lies(void **state)
{
    (void)state;
    assert_wrong((rig_parts){.skin = "\"joints\":[]"}, "skin 0: it has no joints");
    assert_wrong((rig_parts){.skin = "\"joints\":[1,9]"}, "skin 0: a joint that is not a node (there are 4)");
    assert_wrong((rig_parts){.skin = "\"joints\":[1,1]"}, "skin 0: node 1 is a joint twice");
    assert_wrong((rig_parts){.skin = "\"joints\":[1],\"inverseBindMatrices\":6"}, "are not 1 MAT4");
    assert_wrong((rig_parts){.skin = "\"joints\":[1],\"inverseBindMatrices\":44"}, "inverseBindMatrices is 44");
    assert_wrong((rig_parts){.damage = 328}, "joint 0 has no inverse"); /* not a number */
    assert_wrong((rig_parts){.nodes = "{\"mesh\":0,\"skin\":0},{\"children\":[2]},{\"children\":[1]},{}"},
                 "or their own ancestors");
    assert_wrong((rig_parts){.nodes = "{\"mesh\":0,\"skin\":0},{\"children\":[2]},{},{\"children\":[2]}"},
                 "node 2 has two parents");
    assert_wrong((rig_parts){.nodes = "{\"mesh\":0,\"skin\":3},{},{},{}"}, "node 0: skin is 3");
    assert_wrong((rig_parts){.attributes = "\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":2"}, "is not VEC4");
    assert_wrong((rig_parts){.attributes = "\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":6"}, "is not VEC4");
    assert_wrong((rig_parts){.damage = 96}, "follows joint 255, there are 2");
    assert_wrong((rig_parts){.damage = 128}, "vertex 0 has a weight of");
    assert_wrong((rig_parts){.damage = 4}, "vertex 0 is not finite");
    assert_wrong((rig_parts){.damage = 460}, "animation 0: key 1 at");
    assert_wrong((rig_parts){.damage = 500}, "animation 0: value 2 is not finite");
    assert_wrong((rig_parts){.animations = CHANNEL("\"input\":5,\"output\":7", TURNS)}, "3 values of 3 numbers");
    assert_wrong((rig_parts){.animations = CHANNEL("\"input\":8,\"output\":6", TURNS)}, "for 2 keys (expected 2 of 4)");
    assert_wrong((rig_parts){.animations = CHANNEL("\"input\":6,\"output\":6", TURNS)}, "are not numbers");
    assert_wrong((rig_parts){.animations = CHANNEL("\"input\":5", TURNS)}, "animation 0: it has no output");
    assert_wrong((rig_parts){.animations = CHANNEL("\"input\":5,\"output\":6,\"interpolation\":\"CUBIC\"", TURNS)},
                 "its interpolation is unknown");
    assert_wrong(
        (rig_parts){.animations = CHANNEL("\"input\":5,\"output\":6", "\"sampler\":3,\"target\":{\"node\":2}")},
        "sampler is 3");
    /* Weights as rotations: three of them are zero in all four numbers nowhere, so times as zero: a view of zeros. */
    static const char zeros[] =
        ACCESSOR(0, 5126, 8, "VEC3") ",{\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}," ACCESSOR(
            2, 5126, 8, "VEC4") "," ACCESSOR(3, 5123, 36, "SCALAR") "," ACCESSOR(4, 5126, 2,
                                                                                 "MAT4") "," ACCESSOR(5, 5126, 3,
                                                                                                      "SCALAR");
    assert_wrong((rig_parts){.accessors = zeros,
                             .attributes = "\"POSITION\":0",
                             .animations = CHANNEL("\"input\":5,\"output\":1", TURNS)},
                 "key 0 is a rotation of length 0");
}

/* Whatever bytes: an error of one line or a rig that can be sampled. */
static void test_damage(void **state)
{
    (void)state;
    text_buffer file = {0};
    make_rig(&file, (rig_parts){0});
    char *copy = malloc(file.length);
    uint64_t seed = 5;
    for (int n = 0; n < 4000; n++) {
        memcpy(copy, file.bytes, file.length);
        for (int k = 0; k < 1 + n % 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[20 + (seed >> 33) % (file.length - 20)] = (char)(seed >> 20);
        }
        lm_rig_data rig;
        lm_mesh_error error = {""};
        if (!lm_rig_parse("a.glb", copy, file.length, &rig, &error)) {
            assert_true(error.text[0] != '\0' && !strchr(error.text, '\n'));
            continue;
        }
        lm_rig_pose *poses = calloc(rig.joint_count + 1u, sizeof *poses);
        for (uint32_t a = 0; a < rig.animation_count && rig.joint_count > 0; a++) {
            assert_true(lm_rig_sample(&rig, a, 0.6, poses));
            assert_true(isfinite(poses[0].rotation[3]));
        }
        free(poses);
        lm_rig_free(&rig);
    }
    free(copy);
    lmi_text_free(&file);
}

/* ------------------------------------------------------------------------------------------------------------------
 * A scene
 */

static char folder[] = "/tmp/limber_rig_XXXXXX";

static lm_result try(const char *skeleton, lm_scene **s, lm_world **world, lm_scene_error *error)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "%s/s.json", folder);
    snprintf(
        text, sizeof text,
        "{\"limber\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"file\": \"rig.glb\", "
        "\"longest\": 2, \"origin\": \"bottom\"}, \"lattice\": {\"spacing\": 0.25}, \"at\": [0, 1, 0], "
        "\"skeleton\": {\"radius\": 0.2, %s}}]}",
        skeleton);
    *world = NULL;
    *s = lm_scene_open_text(path, text, strlen(text), NULL, 0, error);
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    return *s == NULL ? LM_ERROR_ARGUMENT : lm_scene_make_world(*s, &def, world, error);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    char path[64];
    text_buffer file = {0};
    make_rig(&file, (rig_parts){0});
    snprintf(path, sizeof path, "%s/rig.glb", folder);
    FILE *out = fopen(path, "wb");
    bool written = out && fwrite(file.bytes, 1, file.length, out) == file.length;
    if (out) fclose(out);
    lmi_text_free(&file);
    return written ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/rig.glb", folder);
    remove(path);
    return rmdir(folder);
}

/* The bar is half as large as in its file, its foot at y = 1. */
static void test_scene(void **state)
{
    (void)state;
    static const char *const ways[2] = {"\"attach\": \"distance\"", "\"attach\": \"groups\""};
    for (int way = 0; way < 2; way++) {
        lm_scene *s;
        lm_world *world;
        lm_scene_error error;
        if (try(ways[way], &s, &world, &error) != LM_OK) fail_msg("%s", error.text);
        lm_skeleton_id skeleton;
        lm_skeleton_info info;
        lm_body_id body = lm_scene_get_body(s, 0).id;
        assert_int_equal(lm_body_get_skeleton(world, body, &skeleton), LM_OK);
        assert_int_equal(lm_skeleton_get_info(world, skeleton, &info), LM_OK);
        assert_int_equal(info.bones, 2);
        assert_true(info.held > 4);
        lm_pose poses[2];
        for (uint32_t frame = 0; frame < 60; frame++) {
            assert_int_equal(lm_scene_step(s, world, frame), LM_OK);
            assert_int_equal(lm_skeleton_get_poses(world, skeleton, poses), LM_OK);
            if (frame == 29) assert_float_equal(poses[1].rotation.z, sin(45.0 / 360.0 * 3.14159265), 1e-6);
        }
        assert_float_equal(poses[0].position.x, 0.0, 1e-6);
        assert_float_equal(poses[0].position.y, 1.5, 1e-6); /* one up in the file, half of that here */
        assert_float_equal(poses[1].position.y, 2.5, 1e-6);
        assert_float_equal(poses[1].rotation.z, HALF, 1e-6);
        if (way == 1) { /* a vertex of the file shares its particle as its weights say: three to one */
            lm_attachment *list = malloc(info.attachments * sizeof *list);
            assert_int_equal(lm_skeleton_get_attachments(world, skeleton, list), LM_OK);
            for (uint32_t i = 0; i < info.attachments; i++) {
                assert_true(list[i].weight > 0.2f && list[i].weight < 0.8f);
            }
            free(list);
        }
        lm_world_destroy(world);
        lm_scene_close(s);
    }
    lm_scene *s;
    lm_world *world;
    lm_scene_error error;
    assert_int_equal(try("\"animation\": \"tun\"", &s, &world, &error), LM_ERROR_ARGUMENT);
    if (!strstr(error.text, "has no animation \"tun\" (expected one of its 2; did you mean \"turn\"?)"))
        fail_msg("%s", error.text);
    lm_scene_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skin),   cmocka_unit_test(test_animations),
        cmocka_unit_test(test_scales), cmocka_unit_test(test_lies),
        cmocka_unit_test(test_damage), cmocka_unit_test_setup_teardown(test_scene, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
