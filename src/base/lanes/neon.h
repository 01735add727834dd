/* Lanes of NEON, which every 64-bit ARM has: four. base/lanes.h says what each function does. */
#ifndef LMI_LANES_NEON_H
#define LMI_LANES_NEON_H

#include <arm_neon.h>
#define LMI_ISA_SUFFIX neon
#define LMI_LANES 4
#define LMI_REGISTERS 32
typedef float32x4_t vf;
typedef uint32x4_t vm;

static inline vf vf_set1(float a) { return vdupq_n_f32(a); }
static inline vf vf_load(const float *p) { return vld1q_f32(p); }
static inline vf vf_loadu(const float *p) { return vld1q_f32(p); }
static inline void vf_store(float *p, vf a) { vst1q_f32(p, a); }
static inline vf vf_near(const float *p, int k) { return vld1q_f32(p + k); }
/* Compared and chosen: vminq and vmaxq have a zero below another and prefer what is no number. */
static inline vf vf_min(vf a, vf b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline vf vf_max(vf a, vf b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline vf vf_sqrt(vf a) { return vsqrtq_f32(a); }
static inline vf vf_abs(vf a) { return vabsq_f32(a); }
static inline vm vf_lt(vf a, vf b) { return vcltq_f32(a, b); }
static inline vm vm_and(vm a, vm b) { return vandq_u32(a, b); }
static inline vm vm_or(vm a, vm b) { return vorrq_u32(a, b); }
static inline vm vm_not(vm a) { return vmvnq_u32(a); }
static inline bool vm_any(vm a) { return vmaxvq_u32(a) != 0; }
static inline uint32_t vm_bits(vm a)
{
    static const uint32_t bit[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(a, vld1q_u32(bit)));
}
static inline vf vf_select(vm m, vf yes, vf no) { return vbslq_f32(m, yes, no); }
static inline vm vm_lane(int lane)
{
    static const uint32_t all[4] = {0, 1, 2, 3};
    return vceqq_u32(vld1q_u32(all), vdupq_n_u32((uint32_t)lane));
}

static inline void vf_load4(const float *p, vf out[4])
{
    float32x4x4_t rows = vld4q_f32(p);
    for (int c = 0; c < 4; c++) {
        out[c] = rows.val[c];
    }
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
#define AT(k) vld1q_f32(base + 4 * (size_t)index[k])
    float32x4_t r0 = AT(0), r1 = AT(1), r2 = AT(2), r3 = AT(3);
#undef AT
    float64x2_t xz01 = vreinterpretq_f64_f32(vtrn1q_f32(r0, r1)), yw01 = vreinterpretq_f64_f32(vtrn2q_f32(r0, r1));
    float64x2_t xz23 = vreinterpretq_f64_f32(vtrn1q_f32(r2, r3)), yw23 = vreinterpretq_f64_f32(vtrn2q_f32(r2, r3));
    out[0] = vreinterpretq_f32_f64(vtrn1q_f64(xz01, xz23));
    out[1] = vreinterpretq_f32_f64(vtrn1q_f64(yw01, yw23));
    out[2] = vreinterpretq_f32_f64(vtrn2q_f64(xz01, xz23));
    out[3] = vreinterpretq_f32_f64(vtrn2q_f64(yw01, yw23));
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    float32x4x4_t rows = {{x, y, z, w}};
    vst4q_f32(p, rows);
}

#endif
