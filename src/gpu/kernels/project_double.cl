/* Before match/project_double.h and match/project.h once more, for groups of regions: the same functions under other names. */
#undef LMI_BLOCK
#define LMI_BLOCK 16
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
