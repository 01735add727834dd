/*
 * Exporters over their own interface: frames that are made here, with texture coordinates, and read back; what is refused; series of
 * files that take their places together; joints on motions that they can follow exactly.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/joints.h"
#include "io/spool.h"
#include "limber/export.h"
#include "limber/mesh.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint32_t tetrahedron[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
static const lm_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const lm_vec3 up[4] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 0}};
static const uint8_t red[12] = {255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 0, 255};
static const float uvs[8] = {0, 0, 1, 0, 0, 1, 0.5f, 0.25f};

static lm_export_body make_body(const char *name)
{
    return (lm_export_body){.name = name,
                            .vertex_count = 4,
                            .triangle_count = 4,
                            .positions = corners,
                            .normals = up,
                            .colours = red,
                            .uvs = uvs,
                            .triangles = tetrahedron,
                            .shape = 1,
                            .rest = corners};
}

static char folder[] = "/tmp/limber-export-XXXXXX", path_text[512];

static const char *path(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
}

static bool exists(const char *name) { return access(path(name), F_OK) == 0; }

static lm_exporter *open_file(const char *name, uint32_t frames, lm_export_motion motion)
{
    lm_export_options options = lm_export_options_default();
    lm_export_error error;
    options.frame_count = frames;
    options.motion = motion;
    lm_exporter *out = lm_export_open(path(name), &options, &error);
    assert_non_null(out);
    return out;
}

static void write_frames(const char *name, uint32_t frames, lm_export_motion motion)
{
    lm_exporter *out = open_file(name, frames, motion);
    lm_export_body bodies[2] = {make_body("a \"b\""), make_body("a_b")};
    lm_export_error error;
    for (uint32_t f = 0; f < frames; f++) {
        lm_vec3 moved[4];
        for (int i = 0; i < 4; i++) moved[i] = (lm_vec3){corners[i].x, corners[i].y + (float)f, corners[i].z};
        bodies[1].positions = moved;
        lm_export_frame frame = {.time = f / 60.0, .bodies = bodies, .body_count = 2};
        assert_true(lm_export_add(out, &frame, &error));
    }
    assert_true(lm_export_finish(out, NULL, &error));
}

static char *slurp(const char *name)
{
    FILE *file = fopen(path(name), "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_true(fread(bytes, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return bytes;
}

/* Texture coordinates, names and colours where the formats have a place for them. */
static void everything_is_written(void **state)
{
    (void)state;
    lm_mesh_data mesh;
    lm_mesh_error error;
    lm_mesh_options keep = {.weld = -1.0f};
    for (int motion = 0; motion < LM_EXPORT_MOTION_COUNT; motion++) {
        write_frames("x.glb", 3, (lm_export_motion)motion);
        assert_true(lm_mesh_read(path("x.glb"), &keep, &mesh, &error));
        assert_int_equal(mesh.vertex_count, 8);
        assert_int_equal(mesh.triangle_count, 8);
        assert_memory_equal(mesh.colours, red, sizeof red);
        lm_mesh_free(&mesh);
        char *bytes = slurp("x.glb");
        assert_non_null(strstr(bytes + 20, "TEXCOORD_0"));
        assert_non_null(strstr(bytes + 20, "\"a \\\"b\\\"\""));
        free(bytes);
    }
    /* Target n is frame n + 1, which poses of bodies can be read from. */
    lm_mesh_options second = {.weld = -1.0f, .target = "1"};
    assert_true(lm_mesh_read(path("x.glb"), &second, &mesh, &error));
    assert_true(mesh.positions[4].y == 2.0f && mesh.positions[0].y == 0.0f);
    lm_mesh_free(&mesh);
    write_frames("x.usda", 2, LM_EXPORT_JOINTS);
    char *text = slurp("x.usda");
    assert_non_null(strstr(text, "texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1), (0.5, 0.25)]"));
    assert_non_null(strstr(text, "def Mesh \"a__b\""));
    assert_non_null(strstr(text, "displayName = \"a \\\"b\\\"\""));
    free(text);
    write_frames("x.obj", 2, LM_EXPORT_JOINTS);
    text = slurp("x.0001.obj");
    assert_non_null(strstr(text, "vt 0.5 0.25\n"));
    assert_non_null(strstr(text, "f 5/5/5 7/7/7 6/6/6\n"));
    free(text);
    write_frames("x.ply", 2, LM_EXPORT_JOINTS);
    assert_true(lm_mesh_read(path("x.0001.ply"), &keep, &mesh, &error));
    assert_int_equal(mesh.vertex_count, 8);
    assert_true(mesh.positions[4].y == 1.0f);
    lm_mesh_free(&mesh);
}

static void refuse(const char *words, lm_export_frame frame, uint32_t before)
{
    lm_exporter *out = open_file("bad.pc2", 2, LM_EXPORT_JOINTS);
    lm_export_body body = make_body("body");
    lm_export_frame good = {.bodies = &body, .body_count = 1};
    lm_export_error error;
    for (uint32_t i = 0; i < before; i++) assert_true(lm_export_add(out, &good, &error));
    assert_false(lm_export_add(out, &frame, &error));
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    lm_export_abandon(out);
    assert_false(exists("bad.pc2"));
    assert_false(exists("bad.obj"));
}

static void wrong_frames(void **state)
{
    (void)state;
    lm_export_body body = make_body("body");
    lm_export_frame frame = {.bodies = &body, .body_count = 1};
    lm_vec3 wild[4] = {{0, 0, 0}, {NAN, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    uint32_t beyond[12] = {0, 1, 4};
    refuse("more frames than the 2", frame, 2);
    body.positions = wild;
    refuse("not finite", frame, 0);
    body = make_body("body");
    body.triangles = beyond;
    refuse("names vertex 4 of 4", frame, 1);
    body = make_body("body");
    body.shape = 2;
    refuse("a pc2 file cannot hold", frame, 1);
    frame.body_count = 0;
    refuse("other bodies", frame, 1);

    lm_exporter *out = open_file("bad.pc2", 2, LM_EXPORT_JOINTS);
    lm_export_error error;
    body = make_body("body");
    frame.body_count = 1;
    assert_true(lm_export_add(out, &frame, &error));
    assert_false(lm_export_finish(out, NULL, &error)); /* too few */
    assert_non_null(strstr(error.text, "1 of 2 frames"));
    assert_false(exists("bad.pc2"));

    lm_export_options options = lm_export_options_default();
    assert_null(lm_export_open(path("bad.pc2"), &options, &error)); /* no number of frames */
    options.frame_count = 1;
    assert_null(lm_export_open(path("bad.fbx"), &options, &error));
    options.influences = 5;
    assert_null(lm_export_open(path("bad.glb"), &options, &error));
}

static void series(void **state)
{
    (void)state;
    partial_series files;
    char error[PARTIAL_ERROR_SIZE];
    assert_true(lmi_partial_series_open(&files, path("s.txt"), 20000, error));
    for (int i = 0; i < 3; i++) {
        assert_true(lmi_partial_series_next(&files, error));
        fprintf(files.stream, "%d", i);
    }
    assert_false(exists("s.00000.txt"));
    assert_true(lmi_partial_series_keep(&files, error));
    assert_true(exists("s.00000.txt") && exists("s.00002.txt") && !exists("s.00003.txt"));

    assert_true(lmi_partial_series_open(&files, path("d.txt"), 1, error));
    assert_true(lmi_partial_series_next(&files, error));
    assert_false(lmi_partial_series_next(&files, error)); /* more than were announced */
    lmi_partial_series_drop(&files);
    assert_false(exists("d.0000.txt"));
    assert_false(lmi_partial_series_open(&files, path("noending"), 1, error));
}

static void spools(void **state)
{
    (void)state;
    spool s;
    char error[PARTIAL_ERROR_SIZE], text[64];
    assert_true(lmi_spool_open(&s, path("x"), ".spool", 3, error));
    assert_true(lmi_spool_add(&s, 2, "one ", 4, error) && lmi_spool_add(&s, 0, "other", 5, error));
    assert_true(lmi_spool_add(&s, 2, "", 0, error) && lmi_spool_add(&s, 2, "two", 3, error));
    FILE *file = fopen(path("copied"), "w+b");
    assert_non_null(file);
    assert_true(lmi_spool_copy(&s, 2, file, error) && lmi_spool_copy(&s, 1, file, error) &&
                lmi_spool_copy(&s, 0, file, error));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path("copied"));
    assert_string_equal(text, "one twoother");
    lmi_spool_close(&s);
    lmi_spool_close(&s);
}

/* Affine motions are followed to the rounding of floats, inside out too, and on a sheet without thickness. */
static void joints_follow(void **state)
{
    (void)state;
    enum { SIDE = 12, COUNT = SIDE * SIDE };
    lm_vec3 rest[COUNT], now[COUNT];
    for (int i = 0; i < COUNT; i++) {
        rest[i] = (lm_vec3){0.1f * (float)(i % SIDE), 0.1f * (float)(i / SIDE), 0.0f};
    }
    for (uint32_t influences = 4; influences <= 8; influences += 4) {
        joint_rig rig;
        assert_true(lmi_glb_joints_make(&rig, rest, COUNT, NULL, 0, 10, influences));
        assert_int_equal(rig.joint_count, 10);
        for (int n = 0; n < COUNT; n++) {
            float sum = 0.0f;
            for (uint32_t k = 0; k < influences; k++) sum += rig.weights[influences * (uint32_t)n + k];
            assert_true(fabsf(sum - 1.0f) < 1e-5f);
        }
        for (int frame = 0; frame < 20; frame++) {
            float turn = 0.5f * (float)frame, stretch = frame == 7 ? -0.5f : 1.0f + 0.1f * (float)frame;
            for (int i = 0; i < COUNT; i++) {
                float x = stretch * rest[i].x + 0.3f * rest[i].y, y = rest[i].y;
                now[i] = (lm_vec3){cosf(turn) * x - sinf(turn) * y + (float)frame, sinf(turn) * x + cosf(turn) * y, x};
            }
            double largest, sum;
            lmi_glb_joints_fit(&rig, now, &largest, &sum);
            assert_true(sqrt(largest) < 1e-5);
        }
        for (uint32_t j = 0; j < rig.joint_count; j++) {
            for (int k = 0; k < 3; k++) assert_true(fabsf(rig.tracks[j].scale[k]) < 20.0f);
        }
        lmi_glb_joints_free(&rig);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *opened = opendir(folder);
    if (!opened) return -1;
    for (const struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) remove(path(entry->d_name));
    closedir(opened);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_written),
        cmocka_unit_test(wrong_frames),
        cmocka_unit_test(series),
        cmocka_unit_test(spools),
        cmocka_unit_test(joints_follow),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
