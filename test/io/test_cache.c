/*
 * Motions from files: what the exporters write is read back, at frames and between them; a glTF file as other programs write them, with
 * nodes, skins and morph targets at once, against the same worked out here; files cut off at every length, and files that lie.
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "limber/cache.h"
#include "limber/export.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIDE = 5, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1), FRAMES = 21 };

static lm_vec3 rest[VERTICES];
static uint32_t triangles[3 * TRIANGLES];
static char folder[] = "/tmp/limber-cache-XXXXXX";

static void path_of(const char *name, char *path, size_t size) { snprintf(path, size, "%s/%s", folder, name); }

/* A sheet that bends, twists and goes away. */
static void place(double t, lm_vec3 *out)
{
    for (uint32_t n = 0; n < VERTICES; n++) {
        double x = rest[n].x, z = rest[n].z, angle = t * (0.5 + x);
        out[n] =
            (lm_vec3){(float)(x + t), (float)(z * sin(angle) + 0.3 * t * x * x), (float)(z * cos(angle) - 2.0 * t)};
    }
}

static void write_motion(const char *name, lm_export_motion motion, double rate)
{
    char path[200];
    lm_export_error error = {""};
    lm_export_options options = lm_export_options_default();
    options.frame_count = FRAMES;
    options.rate = rate;
    options.motion = motion;
    options.joints = 64;
    options.influences = 8;
    path_of(name, path, sizeof path);
    lm_exporter *out = lm_export_open(path, &options, &error);
    assert_non_null(out);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        lm_vec3 now[VERTICES];
        place(frame / rate, now);
        lm_export_body body = {.name = "sheet",
                               .vertex_count = VERTICES,
                               .triangle_count = TRIANGLES,
                               .positions = now,
                               .triangles = triangles,
                               .rest = rest,
                               .centres = rest,
                               .centre_count = VERTICES};
        lm_export_frame f = {frame / rate, &body, 1};
        if (!lm_export_add(out, &f, &error)) fail_msg("%s", error.text);
    }
    if (!lm_export_finish(out, NULL, &error)) fail_msg("%s", error.text);
}

static double distance_to(const lm_vec3 *a, const lm_vec3 *b)
{
    double most = 0.0;
    for (uint32_t n = 0; n < VERTICES; n++)
        most = fmax(most, sqrt(pow((double)a[n].x - b[n].x, 2.0) + pow((double)a[n].y - b[n].y, 2.0) +
                               pow((double)a[n].z - b[n].z, 2.0)));
    return most;
}

static int prepare(void **context)
{
    (void)context;
    uint32_t *to = triangles;
    for (uint32_t n = 0; n < VERTICES; n++)
        rest[n] = (lm_vec3){0.25f * (float)(n % SIDE) - 0.5f, 0.0f, 0.25f * (float)(n / SIDE) - 0.5f};
    for (uint32_t n = 0; n < (SIDE - 1) * (SIDE - 1); n++) {
        uint32_t a = n / (SIDE - 1) * SIDE + n % (SIDE - 1);
        const uint32_t quad[6] = {a, a + SIDE, a + SIDE + 1, a, a + SIDE + 1, a + 1};
        memcpy(to, quad, sizeof quad);
        to += 6;
    }
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **context)
{
    static const char *const names[] = {"a.pc2", "a.mdd", "a.obj", "morphs.glb", "joints.glb"};
    char path[200];
    (void)context;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        path_of(names[n], path, sizeof path);
        unlink(path);
    }
    return rmdir(folder);
}

static lm_cache_data *read_back(const char *name, const lm_cache_options *options)
{
    char path[200];
    lm_mesh_error error = {""};
    lm_cache_data *cache;
    path_of(name, path, sizeof path);
    if (!lm_cache_read(path, options, &cache, &error)) fail_msg("%s", error.text);
    return cache;
}

static void what_was_written_is_read(void **context)
{
    static const struct {
        const char *name;
        lm_export_motion motion;
        double rate, tolerance;
    } files[] = {{"a.pc2", LM_EXPORT_JOINTS, 60.0, 1e-7},
                 {"a.mdd", LM_EXPORT_JOINTS, 30.0, 1e-7},
                 {"morphs.glb", LM_EXPORT_MORPHS, 24.0, 1e-5},
                 {"joints.glb", LM_EXPORT_JOINTS, 60.0, 2e-3}}; /* the joints are an approximation */
    (void)context;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        write_motion(files[k].name, files[k].motion, files[k].rate);
        lm_cache_data *cache = read_back(files[k].name, NULL);
        assert_int_equal(lm_cache_vertex_count(cache), VERTICES);
        assert_true(fabs(lm_cache_begin(cache)) < 1e-6);
        assert_true(fabs(lm_cache_end(cache) - (FRAMES - 1) / files[k].rate) < 1e-5);
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            lm_vec3 expected[VERTICES], found[VERTICES];
            place(frame / files[k].rate, expected);
            assert_true(lm_cache_sample(cache, frame / files[k].rate, found));
            double off = distance_to(expected, found);
            if (off > files[k].tolerance) fail_msg("%s: frame %u is off by %g", files[k].name, frame, off);
        }
        lm_vec3 first[VERTICES], found[VERTICES];
        assert_true(lm_cache_sample(cache, 0.0, first) &&
                    lm_cache_sample(cache, -5.0, found)); /* it stays before and after */
        assert_memory_equal(first, found, sizeof first);
        assert_true(lm_cache_sample(cache, lm_cache_end(cache), first) && lm_cache_sample(cache, 100.0, found));
        assert_memory_equal(first, found, sizeof first);
        lm_cache_free(cache);
    }
}

static void between_frames_it_goes_straight(void **context)
{
    static const char *const names[] = {"a.pc2", "a.mdd", "morphs.glb"};
    static const double rates[] = {60.0, 30.0, 24.0};
    (void)context;
    for (int k = 0; k < 3; k++) {
        lm_cache_data *cache = read_back(names[k], NULL);
        for (int frame = 0; frame + 1 < FRAMES; frame++) {
            lm_vec3 a[VERTICES], b[VERTICES], found[VERTICES];
            place(frame / rates[k], a);
            place((frame + 1) / rates[k], b);
            for (uint32_t n = 0; n < VERTICES; n++) {
                a[n].x += 0.3f * (b[n].x - a[n].x);
                a[n].y += 0.3f * (b[n].y - a[n].y);
                a[n].z += 0.3f * (b[n].z - a[n].z);
            }
            assert_true(lm_cache_sample(cache, (frame + 0.3) / rates[k], found));
            assert_true(distance_to(a, found) < 1e-5);
        }
        lm_cache_free(cache);
    }
    lm_cache_options slow = {.rate = 30.0, .z_up = true}; /* the same file at half the speed, lying on its side */
    lm_cache_data *cache = read_back("a.pc2", &slow);
    lm_vec3 expected[VERTICES], found[VERTICES];
    place(0.1, expected);
    for (uint32_t n = 0; n < VERTICES; n++) expected[n] = (lm_vec3){expected[n].x, expected[n].z, -expected[n].y};
    assert_true(lm_cache_sample(cache, 0.2, found));
    assert_true(distance_to(expected, found) < 1e-6);
    lm_cache_free(cache);
}

/* ---- a glTF file as another program writes it ---- */

/* Two triangles. The first is on a node that turns about z by 90 degrees in two seconds (LINEAR), in a node that stands at (10, 0, 0) and
 * is twice as large; it has a morph target that lifts its third corner by 1, with weights 0, 1, 0 at 0, 1, 2 s (STEP). The second follows two
 * joints, of which one rises as a cubic from 0 to 4 within 2 s with no speed at both ends, half and half. */
static const float numbers[] = {
    0, 0, 0, 1, 0, 0, 0,           1,           0,                /* 0: positions */
    0, 0, 0, 0, 0, 0, 0,           0,           1,                /* 36: the target */
    0, 1, 2,                                                      /* 72: times */
    0, 1, 0,                                                      /* 84: weights */
    0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f,                   /* 96: rotations */
    0, 2,                                                         /* 128: times */
    1, 0, 0, 0, 0, 1, 0,           0,           0.5f, 0.5f, 0, 0, /* 136: weights of joints */
    0, 0, 0, 0, 0, 0, 0,           0,           0,    0,    0, 0,
    0, 4, 0, 0, 0, 0, /* 184: cubic keys of a translation */
};

static size_t make_gltf(char *text, size_t size, const char *change_from, const char *change_to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[sizeof numbers + 12] = {0};
    char base64[2 * sizeof bytes], *to = base64;
    memcpy(bytes, numbers, sizeof numbers);
    for (int n = 0; n < 3; n++) { /* 256: joints 0 and 1 of each vertex */
        bytes[sizeof numbers + 4 * n] = 0;
        bytes[sizeof numbers + 4 * n + 1] = 1;
    }
    for (size_t n = 0; n < sizeof bytes; n += 3) {
        uint32_t three = (uint32_t)bytes[n] << 16 | (n + 1 < sizeof bytes ? (uint32_t)bytes[n + 1] << 8 : 0) |
                         (n + 2 < sizeof bytes ? bytes[n + 2] : 0);
        for (int k = 3; k >= 0; k--) *to++ = digits[three >> (6 * k) & 63];
    }
    for (size_t pad = (3 - sizeof bytes % 3) % 3; pad > 0; pad--) to[-(int)pad] = '=';
    *to = '\0';
    int length =
        snprintf(text, size,
                 "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,2,3]}],\"nodes\":["
                 "{\"children\":[1],\"translation\":[10,0,0],\"scale\":[2,2,2]},{\"mesh\":0},"
                 "{\"mesh\":1,\"skin\":0,\"translation\":[7,7,7]},{\"children\":[4]},{}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"targets\":[{\"POSITION\":1}]}],"
                 "\"weights\":[0]},"
                 "{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":7,\"WEIGHTS_0\":6}}]}],"
                 "\"skins\":[{\"joints\":[3,4]}],"
                 "\"animations\":[{\"name\":\"go\",\"channels\":["
                 "{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"rotation\"}},"
                 "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"weights\"}},"
                 "{\"sampler\":2,\"target\":{\"node\":4,\"path\":\"translation\"}}],"
                 "\"samplers\":[{\"input\":5,\"output\":4},{\"input\":2,\"output\":3,\"interpolation\":\"STEP\"},"
                 "{\"input\":5,\"output\":8,\"interpolation\":\"CUBICSPLINE\"}]}],"
                 "\"accessors\":["
                 "{\"bufferView\":0,\"byteOffset\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
                 "{\"bufferView\":0,\"byteOffset\":36,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
                 "{\"bufferView\":0,\"byteOffset\":72,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"},"
                 "{\"bufferView\":0,\"byteOffset\":84,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"},"
                 "{\"bufferView\":0,\"byteOffset\":96,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"},"
                 "{\"bufferView\":0,\"byteOffset\":128,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
                 "{\"bufferView\":0,\"byteOffset\":136,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
                 "{\"bufferView\":0,\"byteOffset\":256,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"
                 "{\"bufferView\":0,\"byteOffset\":184,\"componentType\":5126,\"count\":6,\"type\":\"VEC3\"}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu}],"
                 "\"buffers\":[{\"byteLength\":%zu,\"uri\":\"data:application/octet-stream;base64,%s\"}]}",
                 sizeof bytes, sizeof bytes, base64);
    assert_true(length > 0 && (size_t)length < size);
    char *at = change_from ? strstr(text, change_from) : NULL;
    assert_true(!change_from || at);
    if (at) {
        size_t old = strlen(change_from), new = strlen(change_to);
        memmove(at + new, at + old, strlen(at + old) + 1);
        memcpy(at, change_to, new);
    }
    return strlen(text);
}

static void files_of_other_programs_move(void **context)
{
    (void)context;
    static char text[8000];
    assert_int_equal(sizeof numbers, 256);
    size_t size = make_gltf(text, sizeof text, NULL, NULL);
    lm_mesh_error error = {""};
    lm_cache_data *cache;
    if (!lm_cache_parse("other.gltf", text, size, NULL, &cache, &error)) fail_msg("%s", error.text);
    assert_int_equal(lm_cache_vertex_count(cache), 6);
    assert_true(lm_cache_begin(cache) == 0.0 && lm_cache_end(cache) == 2.0);
    for (int k = 0; k <= 20; k++) {
        double t = 0.1 * k, angle = 0.25 * 3.14159265358979 * t, s = 0.5 * t;
        double lift = t >= 1.0 - 1e-9 && t < 2.0 - 1e-9 ? 1.0 : 0.0, rise = 4.0 * (3.0 * s * s - 2.0 * s * s * s);
        const double expected[6][3] = {{10, 0, 0},
                                       {10 + 2 * cos(angle), 2 * sin(angle), 0},
                                       {10 - 2 * sin(angle), 2 * cos(angle), 2 * lift},
                                       {0, 0, 0}, /* a skinned mesh is where its joints are, not where its node is */
                                       {1, rise, 0},
                                       {0, 1 + 0.5 * rise, 0}};
        lm_vec3 found[6];
        assert_true(lm_cache_sample(cache, t, found));
        for (int n = 0; n < 6; n++) {
            double off = fabs(found[n].x - expected[n][0]) + fabs(found[n].y - expected[n][1]) +
                         fabs(found[n].z - expected[n][2]);
            if (off > 1e-5) fail_msg("vertex %d is off by %g at %g s", n, off, t);
        }
    }
    lm_cache_free(cache);
}

static void expect_refusal(const char *name, const void *bytes, size_t size, const lm_cache_options *options,
                           const char *said)
{
    lm_mesh_error error = {""};
    lm_cache_data *cache = (lm_cache_data *)1;
    if (lm_cache_parse(name, bytes, size, options, &cache, &error)) fail_msg("%s of %zu bytes was read", name, size);
    assert_null(cache);
    if (!strstr(error.text, said)) fail_msg("\"%s\" does not say \"%s\"", error.text, said);
    assert_null(strchr(error.text, '\n'));
}

static void wrong_files_are_refused(void **context)
{
    static const struct {
        const char *from, *to, *said;
    } changes[] = {
        {"\"joints\":[3,4]", "\"joints\":[3,9]", "joint that is not a node"},
        {"\"joints\":[3,4]", "\"joints\":[3]", "follows joint 1"},
        {"\"joints\":[3,4]", "\"joints\":[]", "no joints"},
        {"\"path\":\"weights\"},", "\"path\":\"weights\"},", ""},
        {"{\"input\":2,\"output\":3,", "{\"input\":5,\"output\":3,", "weights for 2 keys"},
        {"{\"input\":2,\"output\":3,", "{\"input\":3,\"output\":3,", "later than the one before"},
        {"{\"input\":2,\"output\":3,", "{\"input\":2,\"output\":99,", "below 9"},
        {"\"targets\":[{\"POSITION\":1}]", "\"targets\":[{\"POSITION\":2}]", "no move for vertex"},
        {"\"children\":[4]", "\"children\":[3]", "ancestor"},
        {"\"nodes\":[0,2,3]", "\"nodes\":[3]", "no triangles"},
    };
    static char text[8000];
    (void)context;
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        if (!changes[k].said[0]) continue;
        size_t size = make_gltf(text, sizeof text, changes[k].from, changes[k].to);
        expect_refusal("other.gltf", text, size, NULL, changes[k].said);
    }
    size_t size = make_gltf(text, sizeof text, NULL, NULL);
    lm_cache_options walk = {.animation = "walk"}, fast = {.rate = -3.0};
    expect_refusal("other.gltf", text, size, &walk, "no animation \"walk\"");
    expect_refusal("a.pc2", "POINTCACHE2", 12, &walk, "no animations");
    expect_refusal("a.pc2", "POINTCACHE2", 12, &fast, "-3 frames a second");
    expect_refusal("a.obj", "v 0 0 0\n", 8, NULL, "no motion");
    expect_refusal("a.pc2", "nothing of the kind", 19, NULL, "does not begin");
    static const unsigned char big[32] = "POINTCACHE2\0\1\0\0\0\377\377\377\0\0\0\0\0\0\0\200\77\377\377\377\377";
    expect_refusal("a.pc2", big, sizeof big, NULL, "points");
    static const unsigned char none[32] = "POINTCACHE2\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\200\77";
    expect_refusal("a.pc2", none, sizeof none, NULL, "no frames");
    static const unsigned char still[56] = "POINTCACHE2\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\2"; /* 0 frames apart */
    expect_refusal("a.pc2", still, sizeof still, NULL, "later than the one before");
    lm_mesh_error error = {""};
    lm_cache_data *cache;
    assert_false(lm_cache_read("/nowhere/at.all.pc2", NULL, &cache, &error));
    assert_non_null(strstr(error.text, "/nowhere/at.all.pc2"));
}

/* Every file that was written, cut off at each of many lengths: refused, in one line. */
static void files_that_end_early_are_refused(void **context)
{
    static const char *const names[] = {"a.pc2", "a.mdd", "morphs.glb", "joints.glb"};
    (void)context;
    for (int k = 0; k < 4; k++) {
        char path[200];
        path_of(names[k], path, sizeof path);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        static unsigned char bytes[1 << 20];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_true(size > 1000 && size < sizeof bytes);
        for (size_t length = 0; length < size; length += 1 + length / 64) {
            void *part = malloc(length + 1); /* so that reading beyond its end is noticed */
            memcpy(part, bytes, length);
            expect_refusal(names[k], part, length, NULL, names[k]);
            free(part);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),         cmocka_unit_test(between_frames_it_goes_straight),
        cmocka_unit_test(files_of_other_programs_move),     cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(files_that_end_early_are_refused),
    };
    return cmocka_run_group_tests_name("cache", tests, prepare, clean);
}
