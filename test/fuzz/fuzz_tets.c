/* Any bytes as a tetrahedral mesh in one file: Gmsh, MEDIT or Netgen by what they begin with. */
#include "fuzz_tets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lm_tets_bytes file = {data, size};
    read_any_tets("fuzz.msh", file, NULL, size % 2);
    return 0;
}
