/*
 * Which instruction sets this build has, and which of them this machine can run. Those of x86-64 are chosen when a world is
 * made; those of other processors are part of what the library was compiled for.
 */
#include "base/cpu.h"
#include "world/kernels.h"

const char *lm_isa_name(lm_isa isa)
{
    static const char *const names[LM_ISA_COUNT] = {
        [LM_ISA_BEST] = "best",     [LM_ISA_SCALAR] = "scalar", [LM_ISA_SSE2] = "sse2",       [LM_ISA_AVX2] = "avx2",
        [LM_ISA_AVX512] = "avx512", [LM_ISA_NEON] = "neon",     [LM_ISA_SIMD128] = "simd128",
    };
    return (unsigned)isa < LM_ISA_COUNT ? names[isa] : NULL;
}

const lmi_kernels *lmi_kernels_get(lm_isa isa)
{
    switch (isa) {
    case LM_ISA_BEST:
        for (int best = LM_ISA_COUNT - 1; best > LM_ISA_SCALAR; best--) {
            if (lmi_kernels_get((lm_isa)best)) {
                return lmi_kernels_get((lm_isa)best);
            }
        }
        return lmi_kernels_get(LM_ISA_SCALAR);
#ifdef LMI_HAS_SCALAR
    case LM_ISA_SCALAR: return &lmi_kernels_scalar;
#endif
#ifdef LMI_HAS_SSE2
    case LM_ISA_SSE2: return &lmi_kernels_sse2;
#endif
#ifdef LMI_HAS_AVX2
    case LM_ISA_AVX2: return lmi_cpu_has_avx2() ? &lmi_kernels_avx2 : NULL;
#endif
#ifdef LMI_HAS_AVX512
    case LM_ISA_AVX512: return lmi_cpu_has_avx512() ? &lmi_kernels_avx512 : NULL;
#endif
#ifdef LMI_HAS_NEON
    case LM_ISA_NEON: return &lmi_kernels_neon;
#endif
#ifdef LMI_HAS_SIMD128
    case LM_ISA_SIMD128: return &lmi_kernels_simd128;
#endif
    default: return NULL;
    }
}

bool lm_isa_supported(lm_isa isa) { return lmi_kernels_get(isa) != NULL; }
