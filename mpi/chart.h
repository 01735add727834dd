/* The picture of a sweep's table. */
#ifndef LIMBER_MPI_CHART_H
#define LIMBER_MPI_CHART_H

#include "limber/mpi.h"

/* Draws the finished runs of the table: what was measured over the first value that varies, a line for each measure and each
 * combination of the others, eight at most. Picks a logarithmic axis where the values ask for one. */
lm_result lmi_sweep_chart(const lm_mpi_sweep_def *def, const char *path, lm_mpi_error *error);

#endif
