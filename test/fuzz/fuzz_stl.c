/* Any bytes as an STL file. */
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_any_mesh("fuzz.stl", data, size);
    return 0;
}
