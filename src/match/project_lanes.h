/* What match/project.h is written over, in lanes; hosts and devices read this one text. Without a guard: match/project_double.h takes
 * the place of its names. */
#define number vf
#define mask vm
#define number_set1(a) vf_set1(a)
#define number_lt(a, b) vf_lt(a, b)
#define number_select(m, yes, no) vf_select(m, yes, no)
#define number_max(a, b) vf_max(a, b)
#define number_abs(a) vf_abs(a)
#define mask_and(a, b) vm_and(a, b)
#define mask_or(a, b) vm_or(a, b)
#define mask_not(a) vm_not(a)
#define mask_any(a) vm_any(a)
#define PROJECT_TOLERANCE 2e-6f
#define PROJECT_LEAST_PIVOT 1e-7f
#define PROJECT_INLINE static LMI_ALWAYS_INLINE
