/* Lanes of plain C: one. What it does is what the others are compared with (test/base/test_lanes.c). */
#ifndef LMI_LANES_SCALAR_H
#define LMI_LANES_SCALAR_H

#define LMI_ISA_SUFFIX scalar
#define LMI_LANES 1
#define LMI_REGISTERS 16
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

#endif
