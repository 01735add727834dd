/* Any bytes as a glTF file, text or binary. */
#include "fuzz_glb.h"
#include "fuzz_mesh.h"
#include "limber/rig.h"

/* Its skin and animations too: an error of one line, or a rig that can be sampled. */
static void read_any_rig(const char *name, const void *bytes, size_t size)
{
    lm_rig_data rig;
    lm_mesh_error error = {""};
    if (!lm_rig_parse(name, bytes, size, &rig, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || rig.joints) abort();
        return;
    }
    lm_rig_pose *poses = malloc((rig.joint_count + 1u) * sizeof *poses);
    for (uint32_t i = 0; i < rig.joint_count; i++) {
        if (rig.joints[i].parent != LM_RIG_NONE && rig.joints[i].parent >= rig.joint_count) abort();
        if (strchr(lm_rig_joint_name(&rig, i), '\n')) abort();
    }
    for (size_t i = 0; i < 4u * (size_t)rig.vertex_count; i++)
        if (rig.followed[i] >= rig.joint_count || !(rig.weights[i] >= 0.0f)) abort();
    for (uint32_t a = 0; poses && a < rig.animation_count && a < 8; a++)
        if (rig.joint_count > 0 && !lm_rig_sample(&rig, a, (double)(size % 7) * 0.3, poses)) abort();
    free(poses);
    lm_rig_free(&rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    glb_file file = wrap_glb(data, size);
    const char *name = file.bytes ? "fuzz.glb" : "fuzz.gltf";
    const void *bytes = file.bytes ? (const void *)file.bytes : data;
    size_t length = file.bytes ? file.size : size;
    read_any_mesh(name, bytes, length);
    read_any_rig(name, bytes, length);
    free(file.bytes);
    return 0;
}
