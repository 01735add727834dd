/* Lanes of AVX2: eight. base/lanes.h says what each function does. */
#ifndef LMI_LANES_AVX2_H
#define LMI_LANES_AVX2_H

#include <immintrin.h>
#define LMI_ISA_SUFFIX avx2
#define LMI_LANES 8
#define LMI_REGISTERS 16
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

#endif
