/*
 * What the shared arithmetic of src/ stands on when it is compiled for a device: a lane is a work-item, and one wide.
 *
 * The texts of base/vmat.h, match/volume.h, match/polar_lanes.h, lattice/lattice_constants.h, lattice/lattice_rotation.h, base/vec.h and base/vec.c follow this
 * file, without their includes, then the kernels (gpu/program.c). No option allows other rounding, but for the kernels of
 * lattices, where issuing instructions is a good part of the fit's time: they may fuse a product and a sum, and divide as the
 * device does it fastest.
 */
#ifdef CONTRACT
#pragma OPENCL FP_CONTRACT ON
#else
#pragma OPENCL FP_CONTRACT OFF
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define LMI_BLOCK 16
#define LMI_LANES 1
#define LMI_INLINE static inline
#define LMI_ALWAYS_INLINE inline __attribute__((always_inline))
#define LMI_NOINLINE __attribute__((noinline))

/* Words of OpenCL C that are variables in the shared texts; kernels write __local and __constant. */
#define half lmi_half
#define local lmi_local
#define constant lmi_constant

typedef float vf;
typedef int vm;

static inline vf vf_set1(float a) { return a; }
static inline vf vf_min(vf a, vf b) { return a < b ? a : b; }
static inline vf vf_max(vf a, vf b) { return a > b ? a : b; }
static inline vf vf_sqrt(vf a) { return sqrt(a); }
static inline vf vf_abs(vf a) { return fabs(a); }
static inline vm vf_lt(vf a, vf b) { return a < b; }
static inline vm vm_and(vm a, vm b) { return a & b; }
static inline vm vm_or(vm a, vm b) { return a | b; }
static inline vm vm_not(vm a) { return !a; }
static inline bool vm_any(vm a) { return a != 0; }
static inline vf vf_select(vm m, vf yes, vf no) { return m ? yes : no; }
static inline vf vf_clamp(vf a, vf low, vf high) { return vf_min(vf_max(a, low), high); }

/* For texts that name them; nothing here loads private memory in lanes. */
static inline vf vf_load(const float *p) { return *p; }
static inline void vf_store(float *p, vf a) { *p = a; }

/* Those of one region lie side by side (lattice/lattice_constants.h). There are few enough of them for a rigid fit to load them
 * all at once. */
#ifdef LINEAR
typedef __global const float *lattice_at;
#else
typedef const float *lattice_at;
#endif
#define LATTICE_STRIDE 1
#define LATTICE_HERD

typedef struct lm_vec3 {
    float x, y, z;
} lm_vec3;
typedef struct lm_dvec3 {
    double x, y, z;
} lm_dvec3;
typedef struct lm_quat {
    float x, y, z, w;
} lm_quat;
typedef struct lm_pose {
    lm_dvec3 position;
    lm_quat rotation;
} lm_pose;

#define LM_MAX_SPEED 1e6f
#define LM_MAX_COORDINATE 1e9f
#define LM_MAX_POSITION 1e12
#define lmi_sin sin
#define lmi_exp exp
#define lmi_log log

static inline lm_dvec3 lm_dvec3_zero(void)
{
    lm_dvec3 zero = {0.0, 0.0, 0.0};
    return zero;
}

/* The constant of the force between two bodies, from theirs: lmi_penalty_pair in contact/penalty.h. */
static inline double penalty_pair(double a, double b) { return a < 0.0 && b < 0.0 ? -fmax(a, b) : fmax(a, b); }
