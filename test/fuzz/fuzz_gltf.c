/* Any bytes as a glTF file, text or binary. */
#include "fuzz_glb.h"
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    glb_file file = wrap_glb(data, size);
    if (file.bytes)
        read_any_mesh("fuzz.glb", file.bytes, file.size);
    else
        read_any_mesh("fuzz.gltf", data, size);
    free(file.bytes);
    return 0;
}
