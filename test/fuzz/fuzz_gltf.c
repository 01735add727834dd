/*
 * Any bytes as a glTF file. Those with a zero byte become a .glb file whose header fits them: the JSON is what stands
 * before the first zero, the buffer what follows (else the lengths would refuse nearly every input).
 */
#include "fuzz_mesh.h"

#include "io/rig.h"

/* Its skin and animations too: an error of one line, or a rig that can be sampled. */
static void read_any_rig(const char *name, const void *bytes, size_t size)
{
    rig_data rig;
    mesh_error error = {""};
    if (!rig_parse(name, bytes, size, &rig, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || rig.joints) abort();
        return;
    }
    rig_pose *poses = malloc((rig.joint_count + 1u) * sizeof *poses);
    for (uint32_t i = 0; i < rig.joint_count; i++) {
        if (rig.joints[i].parent != RIG_NONE && rig.joints[i].parent >= rig.joint_count) abort();
        if (strchr(rig_joint_name(&rig, i), '\n')) abort();
    }
    for (size_t i = 0; i < 4u * (size_t)rig.vertex_count; i++)
        if (rig.followed[i] >= rig.joint_count || !(rig.weights[i] >= 0.0f)) abort();
    for (uint32_t a = 0; poses && a < rig.animation_count && a < 8; a++)
        if (rig.joint_count > 0 && !rig_sample(&rig, a, (double)(size % 7) * 0.3, poses)) abort();
    free(poses);
    rig_free(&rig);
}

static void put_u32(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    if (!zero || (size >= 4 && memcmp(data, "glTF", 4) == 0)) {
        read_any_mesh("fuzz.gltf", data, size);
        read_any_rig("fuzz.gltf", data, size);
        return 0;
    }
    size_t text = (size_t)(zero - data), filled = (text + 3) / 4 * 4, buffer = size - text - 1;
    unsigned char *file = malloc(28 + filled + buffer);
    memcpy(file, "glTF", 4);
    put_u32(file + 4, 2);
    put_u32(file + 8, 28 + filled + buffer);
    put_u32(file + 12, filled);
    memcpy(file + 16, "JSON", 4);
    memset(file + 20, ' ', filled);
    memcpy(file + 20, data, text);
    put_u32(file + 20 + filled, buffer);
    memcpy(file + 24 + filled, "BIN\0", 4);
    memcpy(file + 28 + filled, zero + 1, buffer);
    read_any_mesh("fuzz.glb", file, 28 + filled + buffer);
    read_any_rig("fuzz.glb", file, 28 + filled + buffer);
    free(file);
    return 0;
}
