/*
 * Any bytes as a file of poses: the first says which kind of file the rest is and which frame or target is wanted. They give
 * either an error of one line, or a pose that is what io/pose.h promises.
 */
#include "fuzz.h"
#include "fuzz_glb.h"

#include "limber/cache.h"
#include "limber/pose.h"

#include <math.h>

static void read_any_pose(const char *name, const void *bytes, size_t size, const lm_pose_options *options)
{
    lm_pose_data pose;
    lm_mesh_error error = {""};
    if (!lm_pose_parse(name, bytes, size, options, &pose, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || pose.positions) abort();
        return;
    }
    if (pose.vertex_count == 0 || pose.vertex_count > LM_MAX_PARTICLES) abort();
    for (uint32_t i = 0; i < pose.vertex_count; i++) {
        lm_vec3 p = pose.positions[i];
        if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE && fabsf(p.z) <= LM_MAX_COORDINATE))
            abort();
    }
    lm_pose_free(&pose);
}

/* The same bytes as a motion: an error of one line, or positions at every time. */
static void read_any_motion(const char *name, const void *bytes, size_t size, bool z_up)
{
    lm_cache_data *cache;
    lm_mesh_error error = {""};
    lm_cache_options options = {.z_up = z_up};
    if (!lm_cache_parse(name, bytes, size, &options, &cache, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || cache) abort();
        return;
    }
    uint32_t count = lm_cache_vertex_count(cache);
    lm_vec3 *positions = malloc(count * sizeof *positions);
    if (count == 0 || !(lm_cache_begin(cache) <= lm_cache_end(cache))) abort();
    for (int k = 0; k < 3 && positions; k++) {
        double time = lm_cache_begin(cache) + 0.5 * k * (lm_cache_end(cache) - lm_cache_begin(cache));
        if (!lm_cache_sample(cache, time, positions)) break;
        for (uint32_t i = 0; i < count; i++) {
            lm_vec3 p = positions[i];
            if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE &&
                  fabsf(p.z) <= LM_MAX_COORDINATE))
                abort();
        }
    }
    free(positions);
    lm_cache_free(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"a", "smile", "0", "1"};
    if (size == 0) return 0;
    uint8_t choice = *data++;
    size--;
    lm_pose_options options = {.has_frame = true, .frame = choice / 4 % 8, .z_up = choice / 32 % 2};
    if (choice % 4 == 0) read_any_pose("fuzz.mdd", data, size, &options);
    if (choice % 4 == 1) read_any_pose("fuzz.pc2", data, size, &options);
    if (choice % 4 < 2) {
        read_any_motion(choice % 4 == 0 ? "fuzz.mdd" : "fuzz.pc2", data, size, options.z_up);
        return 0;
    }
    options = (lm_pose_options){.target = targets[choice / 4 % 4], .z_up = options.z_up};
    glb_file file = wrap_glb(data, size);
    if (file.bytes)
        read_any_pose("fuzz.glb", file.bytes, file.size, &options);
    else
        read_any_pose("fuzz.gltf", data, size, &options);
    if (file.bytes)
        read_any_motion("fuzz.glb", file.bytes, file.size, options.z_up);
    else
        read_any_motion("fuzz.gltf", data, size, options.z_up);
    free(file.bytes);
    return 0;
}
