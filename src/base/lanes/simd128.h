/* Lanes of web assembly's SIMD128: four. base/lanes.h says what each function does. */
#ifndef LMI_LANES_SIMD128_H
#define LMI_LANES_SIMD128_H

#include <wasm_simd128.h>
#define LMI_ISA_SUFFIX simd128
#define LMI_LANES 4
#define LMI_REGISTERS 16 /* of most machines that run it */
typedef float vf __attribute__((vector_size(16)));
typedef v128_t vm;

static inline vf vf_set1(float a) { return (vf)wasm_f32x4_splat(a); }
static inline vf vf_load(const float *p) { return (vf)wasm_v128_load(p); }
static inline vf vf_loadu(const float *p) { return (vf)wasm_v128_load(p); }
static inline void vf_store(float *p, vf a) { wasm_v128_store(p, (v128_t)a); }
static inline vf vf_near(const float *p, int k) { return (vf)wasm_v128_load(p + k); }
/* The "pseudo" ones, which compare and choose; min and max proper have a zero below another and prefer what is no number. They
 * keep their first operand where neither is less. */
static inline vf vf_min(vf a, vf b) { return (vf)wasm_f32x4_pmin((v128_t)b, (v128_t)a); }
static inline vf vf_max(vf a, vf b) { return (vf)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
static inline vf vf_sqrt(vf a) { return (vf)wasm_f32x4_sqrt((v128_t)a); }
static inline vf vf_abs(vf a) { return (vf)wasm_f32x4_abs((v128_t)a); }
static inline vm vf_lt(vf a, vf b) { return wasm_f32x4_lt((v128_t)a, (v128_t)b); }
static inline vm vm_and(vm a, vm b) { return wasm_v128_and(a, b); }
static inline vm vm_or(vm a, vm b) { return wasm_v128_or(a, b); }
static inline vm vm_not(vm a) { return wasm_v128_not(a); }
static inline bool vm_any(vm a) { return wasm_v128_any_true(a); }
static inline uint32_t vm_bits(vm a) { return (uint32_t)wasm_i32x4_bitmask(a); }
static inline vf vf_select(vm m, vf yes, vf no) { return (vf)wasm_v128_bitselect((v128_t)yes, (v128_t)no, m); }
static inline vm vm_lane(int lane) { return wasm_i32x4_eq(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat(lane)); }

static inline void lmi_transpose(v128_t r0, v128_t r1, v128_t r2, v128_t r3, vf out[4])
{
    v128_t xy01 = wasm_i32x4_shuffle(r0, r1, 0, 4, 1, 5), zw01 = wasm_i32x4_shuffle(r0, r1, 2, 6, 3, 7);
    v128_t xy23 = wasm_i32x4_shuffle(r2, r3, 0, 4, 1, 5), zw23 = wasm_i32x4_shuffle(r2, r3, 2, 6, 3, 7);
    out[0] = (vf)wasm_i64x2_shuffle(xy01, xy23, 0, 2);
    out[1] = (vf)wasm_i64x2_shuffle(xy01, xy23, 1, 3);
    out[2] = (vf)wasm_i64x2_shuffle(zw01, zw23, 0, 2);
    out[3] = (vf)wasm_i64x2_shuffle(zw01, zw23, 1, 3);
}

static inline void vf_gather4(const float *base, const uint32_t *index, vf out[4])
{
#define AT(k) wasm_v128_load(base + 4 * (size_t)index[k])
    lmi_transpose(AT(0), AT(1), AT(2), AT(3), out);
#undef AT
}

static inline void vf_load4(const float *p, vf out[4])
{
    lmi_transpose(wasm_v128_load(p), wasm_v128_load(p + 4), wasm_v128_load(p + 8), wasm_v128_load(p + 12), out);
}

static inline void vf_store4(float *p, vf x, vf y, vf z, vf w)
{
    vf r[4];
    lmi_transpose((v128_t)x, (v128_t)y, (v128_t)z, (v128_t)w, r);
    for (int k = 0; k < 4; k++) {
        vf_store(p + 4 * k, r[k]);
    }
}

#endif
