/* Lanes of SSE2, which every x86-64 has: four. base/lanes.h says what each function does. */
#ifndef LMI_LANES_SSE2_H
#define LMI_LANES_SSE2_H

#include <emmintrin.h>
#define LMI_ISA_SUFFIX sse2
#define LMI_LANES 4
#define LMI_REGISTERS 16
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

#endif
