/* Any bytes as TetGen's two files, one before and one behind the first zero byte. */
#include "fuzz_tets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *middle = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first = middle ? (size_t)(middle - data) : size;
    lm_tets_bytes nodes = {data, first}, tets = {middle ? middle + 1 : data, middle ? size - first - 1 : 0};
    read_any_tets("fuzz.node", nodes, &tets, size % 2);
    return 0;
}
