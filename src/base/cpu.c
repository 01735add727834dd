#include "base/cpu.h"
#include "base/compiler.h"

#if defined(_WIN32) && (defined(__x86_64__) || defined(_M_X64))

/* Asked of the processor itself: what the compilers of Windows bring for it differs. */
#include <intrin.h>
#include <stdint.h>

/* Registers that the system keeps when it changes from one thread to another; only to be called where OSXSAVE is set. */
#if LMI_HAS_GNU
static uint64_t kept_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
#else
static uint64_t kept_registers(void) { return _xgetbv(0); }
#endif

/* Whether all these features of leaf 7 are there, and these registers are kept. */
static bool has(uint32_t features, uint64_t registers)
{
    int of[4];
    __cpuid(of, 0);
    if (of[0] < 7) {
        return false;
    }
    __cpuid(of, 1);
    if (!(of[2] & 1 << 27) || (kept_registers() & registers) != registers) {
        return false;
    }
    __cpuidex(of, 7, 0);
    return ((uint32_t)of[1] & features) == features;
}

bool lmi_cpu_has_avx2(void) { return has(1u << 5, 0x6); }
bool lmi_cpu_has_avx512(void) { return has(1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, 0xe6); }

#elif LMI_HAS_TARGETS

bool lmi_cpu_has_avx2(void) { return LMI_CPU_HAS("avx2"); }

bool lmi_cpu_has_avx512(void)
{
    return LMI_CPU_HAS("avx512f") && LMI_CPU_HAS("avx512dq") && LMI_CPU_HAS("avx512bw") && LMI_CPU_HAS("avx512vl");
}

#else

bool lmi_cpu_has_avx2(void) { return false; }
bool lmi_cpu_has_avx512(void) { return false; }

#endif
