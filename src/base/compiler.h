/*
 * What compilers spell differently. Everything here is a hint or a bit operation: results do not depend on which spelling is taken.
 */
#ifndef LMI_COMPILER_H
#define LMI_COMPILER_H

/* How many elements an array has. */
#define LMI_COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

#include <stdint.h>

/* Whether the compiler has the extensions of gcc: operators on vectors, attributes, builtin functions. clang-cl has them too, without
 * saying that it is gcc. LMI_PLAIN leaves them out, as Visual Studio's compiler does (test/repository/check_plain). */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(LMI_PLAIN)
#define LMI_HAS_GNU 1
#else
#define LMI_HAS_GNU 0
#endif

#if LMI_HAS_GNU

#define LMI_ALWAYS_INLINE inline __attribute__((always_inline))
#define LMI_NOINLINE __attribute__((noinline))
#if defined(__MINGW32__) && !defined(__clang__) /* or the formats of Microsoft's old library are meant */
#define LMI_PRINTF(format_index, first_index) __attribute__((format(gnu_printf, format_index, first_index)))
#else
#define LMI_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#endif
#define LMI_UNREACHABLE() __builtin_unreachable()
#define LMI_PREFETCH(address) __builtin_prefetch(address)
#define LMI_IS_KNOWN(value) __builtin_constant_p(value) /* to the compiler, where the function is inlined */
/* What was loaded before is loaded again where it is needed after this, instead of being kept in registers, or for want of
 * them in the stack: to load costs less than to store and load. */
#define LMI_LOAD_AGAIN() __asm__ volatile("" ::: "memory")
/* What was written at an address is wanted, although nothing reads it. */
#define LMI_KEEP(address) __asm__ volatile("" : : "r"(address) : "memory")

#else

#if defined(_MSC_VER)
#define LMI_ALWAYS_INLINE __forceinline
#define LMI_NOINLINE __declspec(noinline)
#else
#define LMI_ALWAYS_INLINE inline
#define LMI_NOINLINE
#endif
#define LMI_PRINTF(format_index, first_index)
#if defined(_MSC_VER)
#define LMI_UNREACHABLE() __assume(0)
#else
#define LMI_UNREACHABLE() ((void)0)
#endif
#define LMI_PREFETCH(address) ((void)(address))
#define LMI_IS_KNOWN(value) 0
#define LMI_LOAD_AGAIN() ((void)0)
#define LMI_KEEP(address) ((void)*(volatile const char *)(address))

#endif

/* A function compiled for an instruction set that the rest of the file does without; only where LMI_HAS_TARGETS. (The headers of clang-cl
 * have nothing of a set that the whole file is not compiled for.) */
#if LMI_HAS_GNU && defined(__x86_64__) && !defined(_MSC_VER)
#define LMI_HAS_TARGETS 1
#define LMI_TARGET(instruction_sets) __attribute__((target(instruction_sets)))
#define LMI_CPU_HAS(instruction_set) (__builtin_cpu_supports(instruction_set) != 0)
#else
#define LMI_HAS_TARGETS 0
#endif

/* The number of the lowest and of the highest bit that is set (there must be one), and how many are. */
#if LMI_HAS_GNU

static inline int lmi_low_bit(uint64_t bits) { return __builtin_ctzll(bits); }
static inline int lmi_high_bit(uint64_t bits) { return 63 - __builtin_clzll(bits); }
static inline int lmi_bit_count(uint64_t bits) { return __builtin_popcountll(bits); }

#else

static inline int lmi_bit_count(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((bits * 0x0101010101010101u) >> 56);
}

static inline int lmi_low_bit(uint64_t bits) { return lmi_bit_count((bits & (0 - bits)) - 1); }

static inline int lmi_high_bit(uint64_t bits)
{
    for (int by = 1; by < 64; by *= 2) {
        bits |= bits >> by;
    }
    return lmi_bit_count(bits) - 1;
}

#endif

#endif
