/*
 * Lanes: one name for a row of floats that is as wide as the instruction set allows.
 *
 * A kernel file is compiled once for each instruction set, with one of LMI_ISA_SCALAR, LMI_ISA_SSE2, LMI_ISA_AVX2 and
 * LMI_ISA_AVX512 defined. Arithmetic is written with the plain operators on `vf`; this file adds what C has no operator
 * for. Every operation here rounds correctly and alike on every instruction set (no fused multiply-add, no reciprocal
 * approximations), and a lane never sees its neighbours, so all widths give the same bits.
 *
 * Data is laid out in blocks of LMI_BLOCK lanes whatever the width; a narrower instruction set walks through a block in
 * several pieces.
 */
#ifndef LMI_LANES_H
#define LMI_LANES_H

#include "base/block.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(LMI_ISA_AVX512)

#include <immintrin.h>
#define LMI_ISA_SUFFIX avx512
#define LMI_LANES 16
typedef __m512 vf;
typedef __mmask16 vm;

static inline vf vf_set1(float a) { return _mm512_set1_ps(a); }
static inline vf vf_load(const float *p) { return _mm512_load_ps(p); }
static inline vf vf_loadu(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm512_store_ps(p, a); }

/* 16 floats from the k-th of two vectors on, 0 < k <= 16. */
static inline __attribute__((always_inline)) vf vf_shift(vf low, vf high, int k)
{
    __m512i l = _mm512_castps_si512(low), h = _mm512_castps_si512(high);
#define LMI_ALIGN(n)                                                                                                   \
    case n: return _mm512_castsi512_ps(_mm512_alignr_epi32(h, l, n))
    switch (__builtin_constant_p(k) ? k : 0) {
        LMI_ALIGN(1);
        LMI_ALIGN(2);
        LMI_ALIGN(3);
        LMI_ALIGN(4);
        LMI_ALIGN(8);
        LMI_ALIGN(12);
        LMI_ALIGN(13);
        LMI_ALIGN(14);
        LMI_ALIGN(15);
    default: break;
    }
#undef LMI_ALIGN
    static const int32_t from[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    return _mm512_permutex2var_ps(low, _mm512_loadu_si512(from + k), high);
}

/* Two aligned loads and a shuffle: a load across two lines that were written a moment ago waits for both to reach the cache.
 * Always in line, so that a distance that is known chooses the shuffle; those of small widths have a cheap one. */
static inline __attribute__((always_inline)) vf vf_near(const float *p, int k)
{
    const float *low = k < 0 ? p - LMI_BLOCK : p;
    return vf_shift(_mm512_load_ps(low), _mm512_load_ps(low + LMI_BLOCK), k < 0 ? LMI_BLOCK + k : k);
}
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
static inline vf vf_abs(vf a) { return _mm512_abs_ps(a); }
static inline vm vf_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vm vm_and(vm a, vm b) { return (vm)(a & b); }
static inline vm vm_or(vm a, vm b) { return (vm)(a | b); }
static inline vm vm_not(vm a) { return (vm)~a; }
static inline bool vm_any(vm a) { return a != 0; }
static inline uint32_t vm_bits(vm a) { return a; }
static inline vf vf_select(vm m, vf yes, vf no) { return _mm512_mask_blend_ps(m, no, yes); }
static inline vm vm_lane(int lane) { return (vm)(1u << lane); }

/* In each quarter of four registers: four records of x y z w become rows of x, y, z and w. */
static inline void lmi_transpose_quarters(vf r0, vf r1, vf r2, vf r3, vf out[4])
{
    vf xy01 = _mm512_unpacklo_ps(r0, r1), zw01 = _mm512_unpackhi_ps(r0, r1);
    vf xy23 = _mm512_unpacklo_ps(r2, r3), zw23 = _mm512_unpackhi_ps(r2, r3);
    out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(xy01), _mm512_castps_pd(xy23)));
    out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(xy01), _mm512_castps_pd(xy23)));
    out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(zw01), _mm512_castps_pd(zw23)));
    out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(zw01), _mm512_castps_pd(zw23)));
}

static inline vf lmi_load_quarters(const float *a, const float *b, const float *c, const float *d)
{
    /* Masked broadcasts keep the shuffle unit free for the transposition. */
    vf r = _mm512_castps128_ps512(_mm_load_ps(a));
    r = _mm512_mask_broadcast_f32x4(r, 0x00f0, _mm_load_ps(b));
    r = _mm512_mask_broadcast_f32x4(r, 0x0f00, _mm_load_ps(c));
    return _mm512_mask_broadcast_f32x4(r, 0xf000, _mm_load_ps(d));
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
#define AT(k) (base + 4 * (size_t)index[k])
    vf r0 = lmi_load_quarters(AT(0), AT(4), AT(8), AT(12));
    vf r1 = lmi_load_quarters(AT(1), AT(5), AT(9), AT(13));
    vf r2 = lmi_load_quarters(AT(2), AT(6), AT(10), AT(14));
    vf r3 = lmi_load_quarters(AT(3), AT(7), AT(11), AT(15));
#undef AT
    lmi_transpose_quarters(r0, r1, r2, r3, out);
}

static inline void vf_load4(const float *p, vf out[4])
{
    const __m512i low = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i high = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
    vf r0 = _mm512_load_ps(p), r1 = _mm512_load_ps(p + 16), r2 = _mm512_load_ps(p + 32), r3 = _mm512_load_ps(p + 48);
    vf xy0 = _mm512_permutex2var_ps(r0, low, r1), zw0 = _mm512_permutex2var_ps(r0, high, r1);
    vf xy1 = _mm512_permutex2var_ps(r2, low, r3), zw1 = _mm512_permutex2var_ps(r2, high, r3);
    out[0] = _mm512_shuffle_f32x4(xy0, xy1, 0x44);
    out[1] = _mm512_shuffle_f32x4(xy0, xy1, 0xee);
    out[2] = _mm512_shuffle_f32x4(zw0, zw1, 0x44);
    out[3] = _mm512_shuffle_f32x4(zw0, zw1, 0xee);
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const __m512i first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m512d xy0 = _mm512_castps_pd(_mm512_permutex2var_ps(x, low, y));
    __m512d xy1 = _mm512_castps_pd(_mm512_permutex2var_ps(x, high, y));
    __m512d zw0 = _mm512_castps_pd(_mm512_permutex2var_ps(z, low, w));
    __m512d zw1 = _mm512_castps_pd(_mm512_permutex2var_ps(z, high, w));
    _mm512_store_ps(p, _mm512_castpd_ps(_mm512_permutex2var_pd(xy0, first, zw0)));
    _mm512_store_ps(p + 16, _mm512_castpd_ps(_mm512_permutex2var_pd(xy0, second, zw0)));
    _mm512_store_ps(p + 32, _mm512_castpd_ps(_mm512_permutex2var_pd(xy1, first, zw1)));
    _mm512_store_ps(p + 48, _mm512_castpd_ps(_mm512_permutex2var_pd(xy1, second, zw1)));
}

#elif defined(LMI_ISA_AVX2)

#include <immintrin.h>
#define LMI_ISA_SUFFIX avx2
#define LMI_LANES 8
typedef __m256 vf;
typedef __m256 vm;

static inline vf vf_set1(float a) { return _mm256_set1_ps(a); }
static inline vf vf_load(const float *p) { return _mm256_load_ps(p); }
static inline vf vf_loadu(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm256_store_ps(p, a); }
static inline vf vf_near(const float *p, int k) { return vf_loadu(p + k); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
static inline vf vf_abs(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline vm vf_lt(vf a, vf b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline vm vm_and(vm a, vm b) { return _mm256_and_ps(a, b); }
static inline vm vm_or(vm a, vm b) { return _mm256_or_ps(a, b); }
static inline vm vm_not(vm a) { return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))); }
static inline uint32_t vm_bits(vm a) { return (uint32_t)_mm256_movemask_ps(a); }
static inline bool vm_any(vm a) { return vm_bits(a) != 0; }
static inline vf vf_select(vm m, vf yes, vf no) { return _mm256_blendv_ps(no, yes, m); }
static inline vm vm_lane(int lane)
{
    __m256i all = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(all, _mm256_set1_epi32(lane)));
}

static inline void lmi_transpose_halves(vf r0, vf r1, vf r2, vf r3, vf out[4])
{
    vf xy01 = _mm256_unpacklo_ps(r0, r1), zw01 = _mm256_unpackhi_ps(r0, r1);
    vf xy23 = _mm256_unpacklo_ps(r2, r3), zw23 = _mm256_unpackhi_ps(r2, r3);
    out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(xy01), _mm256_castps_pd(xy23)));
    out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(xy01), _mm256_castps_pd(xy23)));
    out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(zw01), _mm256_castps_pd(zw23)));
    out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(zw01), _mm256_castps_pd(zw23)));
}

static inline vf lmi_load_halves(const float *a, const float *b)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(a)), _mm_load_ps(b), 1);
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
#define AT(k) (base + 4 * (size_t)index[k])
    lmi_transpose_halves(lmi_load_halves(AT(0), AT(4)), lmi_load_halves(AT(1), AT(5)), lmi_load_halves(AT(2), AT(6)),
                         lmi_load_halves(AT(3), AT(7)), out);
#undef AT
}

static inline void vf_load4(const float *p, vf out[4])
{
    lmi_transpose_halves(lmi_load_halves(p, p + 16), lmi_load_halves(p + 4, p + 20), lmi_load_halves(p + 8, p + 24),
                         lmi_load_halves(p + 12, p + 28), out);
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    vf r[4];
    lmi_transpose_halves(x, y, z, w, r);
    _mm256_store_ps(p, _mm256_permute2f128_ps(r[0], r[1], 0x20));
    _mm256_store_ps(p + 8, _mm256_permute2f128_ps(r[2], r[3], 0x20));
    _mm256_store_ps(p + 16, _mm256_permute2f128_ps(r[0], r[1], 0x31));
    _mm256_store_ps(p + 24, _mm256_permute2f128_ps(r[2], r[3], 0x31));
}

#elif defined(LMI_ISA_SSE2)

#include <emmintrin.h>
#define LMI_ISA_SUFFIX sse2
#define LMI_LANES 4
typedef __m128 vf;
typedef __m128 vm;

static inline vf vf_set1(float a) { return _mm_set1_ps(a); }
static inline vf vf_load(const float *p) { return _mm_load_ps(p); }
static inline vf vf_loadu(const float *p) { return _mm_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm_store_ps(p, a); }
static inline vf vf_near(const float *p, int k) { return vf_loadu(p + k); }
static inline vf vf_min(vf a, vf b) { return _mm_min_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm_max_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm_sqrt_ps(a); }
static inline vf vf_abs(vf a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
static inline vm vf_lt(vf a, vf b) { return _mm_cmplt_ps(a, b); }
static inline vm vm_and(vm a, vm b) { return _mm_and_ps(a, b); }
static inline vm vm_or(vm a, vm b) { return _mm_or_ps(a, b); }
static inline vm vm_not(vm a) { return _mm_xor_ps(a, _mm_castsi128_ps(_mm_set1_epi32(-1))); }
static inline uint32_t vm_bits(vm a) { return (uint32_t)_mm_movemask_ps(a); }
static inline bool vm_any(vm a) { return vm_bits(a) != 0; }
static inline vf vf_select(vm m, vf yes, vf no) { return _mm_or_ps(_mm_and_ps(m, yes), _mm_andnot_ps(m, no)); }
static inline vm vm_lane(int lane)
{
    return _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(lane)));
}

static inline void lmi_transpose(vf r0, vf r1, vf r2, vf r3, vf out[4])
{
    vf xy01 = _mm_unpacklo_ps(r0, r1), zw01 = _mm_unpackhi_ps(r0, r1);
    vf xy23 = _mm_unpacklo_ps(r2, r3), zw23 = _mm_unpackhi_ps(r2, r3);
    out[0] = _mm_movelh_ps(xy01, xy23);
    out[1] = _mm_movehl_ps(xy23, xy01);
    out[2] = _mm_movelh_ps(zw01, zw23);
    out[3] = _mm_movehl_ps(zw23, zw01);
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
#define AT(k) _mm_load_ps(base + 4 * (size_t)index[k])
    lmi_transpose(AT(0), AT(1), AT(2), AT(3), out);
#undef AT
}

static inline void vf_load4(const float *p, vf out[4])
{
    lmi_transpose(_mm_load_ps(p), _mm_load_ps(p + 4), _mm_load_ps(p + 8), _mm_load_ps(p + 12), out);
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    vf r[4];
    lmi_transpose(x, y, z, w, r);
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(p + 4 * k, r[k]);
    }
}

#elif defined(LMI_ISA_SCALAR)

#define LMI_ISA_SUFFIX scalar
#define LMI_LANES 1
typedef float vf;
typedef bool vm;

static inline vf vf_set1(float a) { return a; }
static inline vf vf_load(const float *p) { return *p; }
static inline vf vf_loadu(const float *p) { return *p; }
static inline void vf_store(float *p, vf a) { *p = a; }
static inline vf vf_near(const float *p, int k) { return p[k]; }
/* The second operand where they are equal or unordered, as the vector instructions have it. */
static inline vf vf_min(vf a, vf b) { return a < b ? a : b; }
static inline vf vf_max(vf a, vf b) { return a > b ? a : b; }
static inline vf vf_sqrt(vf a) { return sqrtf(a); }
static inline vf vf_abs(vf a) { return fabsf(a); }
static inline vm vf_lt(vf a, vf b) { return a < b; }
static inline vm vm_and(vm a, vm b) { return a && b; }
static inline vm vm_or(vm a, vm b) { return a || b; }
static inline vm vm_not(vm a) { return !a; }
static inline bool vm_any(vm a) { return a; }
static inline uint32_t vm_bits(vm a) { return a; }
static inline vf vf_select(vm m, vf yes, vf no) { return m ? yes : no; }
static inline vm vm_lane(int lane) { return lane == 0; }

static inline void vf_load4(const float *p, vf out[4])
{
    out[0] = p[0];
    out[1] = p[1];
    out[2] = p[2];
    out[3] = p[3];
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
    vf_load4(base + 4 * (size_t)index[0], out);
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    p[0] = x;
    p[1] = y;
    p[2] = z;
    p[3] = w;
}

#else
#error "define one of LMI_ISA_SCALAR, LMI_ISA_SSE2, LMI_ISA_AVX2, LMI_ISA_AVX512"
#endif

/* vf_load and vf_store want addresses that are multiples of their size, vf_loadu takes any. vf_near loads from k floats beyond
 * an address that is such a multiple, |k| <= LMI_BLOCK; whole blocks on both sides of it must be there.
 *
 * vm_lane is one lane of LMI_LANES. vf_load4 and vf_store4 read and write LMI_LANES consecutive records of x y z w; vf_gather4 reads the records named by
 * LMI_LANES indices. */

/* lmi_name_avx512 and so on: each instruction set has its own copy of a kernel. */
#define LMI_JOIN_(a, b) a##_##b
#define LMI_JOIN(a, b) LMI_JOIN_(a, b)
#define LMI_KERNEL(name) LMI_JOIN(lmi_##name, LMI_ISA_SUFFIX)

/* The pieces in which a block is walked. */
#define LMI_PIECES (LMI_BLOCK / LMI_LANES)

/* What was loaded before is loaded again where it is needed after this, instead of being kept in registers, or for want of
 * them in the stack: to load costs less than to store and load. */
#define LMI_LOAD_AGAIN() __asm__ volatile("" ::: "memory")

static inline vf vf_clamp(vf a, vf low, vf high) { return vf_min(vf_max(a, low), high); }

#endif
