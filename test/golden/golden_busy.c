/* Prints the hash of the busy world (support/busy.h) after a number of frames, on an instruction set if one is named: one of the golden
 * values. */
#include "test/support/busy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    lm_world_def def = lm_world_def_default();
    def.workers = 1;
    if (argc > 2) {
        int isa = LM_ISA_SCALAR;
        while (isa < LM_ISA_COUNT && strcmp(argv[2], lm_isa_name((lm_isa)isa)) != 0) isa++;
        if (isa == LM_ISA_COUNT) return 1;
        def.isa = (lm_isa)isa;
    }
    busy b = busy_make(&def);
    for (uint32_t frame = 0; frame < frames; frame++) busy_step(&b, frame);
    printf("%016" PRIx64 "\n", lm_world_hash(b.world));
    busy_free(&b);
    return frames == 0;
}
