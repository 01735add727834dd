/* Any bytes as an OFF file. */
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_any_mesh("fuzz.off", data, size);
    return 0;
}
