/* What match/project.h is written over, in double precision; hosts and devices read this one text, a device after
 * match/project_lanes.h. */
#undef number
#undef mask
#undef number_set1
#undef number_lt
#undef number_select
#undef number_max
#undef number_abs
#undef mask_and
#undef mask_or
#undef mask_not
#undef mask_any
#undef PROJECT_TOLERANCE
#undef PROJECT_LEAST_PIVOT
#undef PROJECT_INLINE
#define number double
#define mask bool
#define number_set1(a) ((double)(a))
#define number_lt(a, b) ((a) < (b))
#define number_select(m, yes, no) ((m) ? (yes) : (no))
#define number_max(a, b) ((a) > (b) ? (a) : (b))
#define number_abs(a) fabs(a)
#define mask_and(a, b) ((a) && (b))
#define mask_or(a, b) ((a) || (b))
#define mask_not(a) (!(a))
#define mask_any(a) (a)
#define PROJECT_TOLERANCE 1e-12
#define PROJECT_LEAST_PIVOT 1e-15
#define PROJECT_INLINE static inline
