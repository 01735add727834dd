/* step/project.h once more, in double precision, for groups of regions; under other names. */
#undef LMI_BLOCK
#define LMI_BLOCK 16
#undef number_set1
#undef number_lt
#undef number_select
#undef number_max
#undef number_abs
#undef mask_and
#undef mask_or
#undef mask_not
#undef mask_any
#undef PROJECT_MOST
#undef PROJECT_TOLERANCE
#undef PROJECT_LEAST_PIVOT
#undef PROJECT_INLINE
#define number double
#define mask int
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
#define project_factors project_factors_double
#define project_at project_at_double
#define project_element project_element_double
#define project_factorise project_factorise_double
#define project_solve project_solve_double
#define project_free project_free_double
#define project_start project_start_double
#define project_move project_move_double
#define project_enter project_enter_double
#define project_resume project_resume_double
#define project_weights project_weights_double
