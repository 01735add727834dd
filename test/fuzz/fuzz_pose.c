/*
 * Any bytes as a file of poses: the first says which kind of file the rest is and which frame or target is wanted. They give
 * either an error of one line, or a pose that is what io/pose.h promises.
 */
#include "fuzz.h"
#include "fuzz_glb.h"

#include "io/pose.h"

#include <math.h>

static void read_any_pose(const char *name, const void *bytes, size_t size, const pose_options *options)
{
    pose_data pose;
    mesh_error error = {""};
    if (!pose_parse(name, bytes, size, options, &pose, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || pose.positions) abort();
        return;
    }
    if (pose.vertex_count == 0 || pose.vertex_count > LM_MAX_PARTICLES) abort();
    for (uint32_t i = 0; i < pose.vertex_count; i++) {
        lm_vec3 p = pose.positions[i];
        if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE && fabsf(p.z) <= LM_MAX_COORDINATE))
            abort();
    }
    pose_free(&pose);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"a", "smile", "0", "1"};
    if (size == 0) return 0;
    uint8_t choice = *data++;
    size--;
    pose_options options = {.has_frame = true, .frame = choice / 4 % 8, .z_up = choice / 32 % 2};
    if (choice % 4 == 0) read_any_pose("fuzz.mdd", data, size, &options);
    if (choice % 4 == 1) read_any_pose("fuzz.pc2", data, size, &options);
    if (choice % 4 < 2) return 0;
    options = (pose_options){.target = targets[choice / 4 % 4], .z_up = options.z_up};
    glb_file file = wrap_glb(data, size);
    if (file.bytes)
        read_any_pose("fuzz.glb", file.bytes, file.size, &options);
    else
        read_any_pose("fuzz.gltf", data, size, &options);
    free(file.bytes);
    return 0;
}
