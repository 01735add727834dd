/*
 * Which instruction sets this build has, and which of them this machine can run.
 */
#include "step/kernels.h"

extern const lmi_kernels lmi_kernels_scalar, lmi_kernels_sse2, lmi_kernels_avx2, lmi_kernels_avx512;

const char *lm_isa_name(lm_isa isa)
{
    static const char *const names[LM_ISA_COUNT] = {
        [LM_ISA_BEST] = "best", [LM_ISA_SCALAR] = "scalar", [LM_ISA_SSE2] = "sse2",
        [LM_ISA_AVX2] = "avx2", [LM_ISA_AVX512] = "avx512",
    };
    return (unsigned)isa < LM_ISA_COUNT ? names[isa] : NULL;
}

const lmi_kernels *lmi_kernels_get(lm_isa isa)
{
    switch (isa) {
    case LM_ISA_BEST:
        for (lm_isa best = LM_ISA_AVX512; best > LM_ISA_SCALAR; best--) {
            if (lmi_kernels_get(best)) {
                return lmi_kernels_get(best);
            }
        }
        return &lmi_kernels_scalar;
    case LM_ISA_SCALAR: return &lmi_kernels_scalar;
#ifdef LMI_HAS_SSE2
    case LM_ISA_SSE2: return &lmi_kernels_sse2;
#endif
#ifdef LMI_HAS_AVX2
    case LM_ISA_AVX2: return __builtin_cpu_supports("avx2") ? &lmi_kernels_avx2 : NULL;
#endif
#ifdef LMI_HAS_AVX512
    case LM_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
                   ? &lmi_kernels_avx512
                   : NULL;
#endif
    default: return NULL;
    }
}

bool lm_isa_supported(lm_isa isa) { return lmi_kernels_get(isa) != NULL; }
