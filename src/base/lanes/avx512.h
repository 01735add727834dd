/* Lanes of AVX-512: sixteen. base/lanes.h says what each function does. */
#ifndef LMI_LANES_AVX512_H
#define LMI_LANES_AVX512_H

#include <immintrin.h>
#define LMI_ISA_SUFFIX avx512
#define LMI_LANES 16
#define LMI_REGISTERS 32
typedef __m512 vf;
typedef __mmask16 vm;

static inline vf vf_set1(float a) { return _mm512_set1_ps(a); }
static inline vf vf_load(const float *p) { return _mm512_load_ps(p); }
static inline vf vf_loadu(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm512_store_ps(p, a); }

/* 16 floats from the k-th of two vectors on, 0 < k <= 16. */
static LMI_ALWAYS_INLINE vf vf_shift(vf low, vf high, int k)
{
    __m512i l = _mm512_castps_si512(low), h = _mm512_castps_si512(high);
#define LMI_ALIGN(n)                                                                                                   \
    case n: return _mm512_castsi512_ps(_mm512_alignr_epi32(h, l, n))
    switch (LMI_IS_KNOWN(k) ? k : 0) {
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
static LMI_ALWAYS_INLINE vf vf_near(const float *p, int k)
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

#endif
