/* A program of somebody else that uses limber::mpi: a sweep of two runs, on one rank or several. */
#include <limber/mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const vary[] = {"gravity[1]=-1,-2"}, *const measures[] = {"momentum_error"};
    lm_mpi_sweep_def def = lm_mpi_sweep_def_default();
    lm_mpi_sweep_report report;
    lm_mpi_error error;
    def.scene = "modes";
    def.vary = vary, def.vary_count = 1;
    def.measures = measures, def.measure_count = 1;
    def.frames = 3;
    def.out = argc > 1 ? argv[1] : "sweep.csv";
    MPI_Init(&argc, &argv);
    lm_result result = lm_mpi_sweep(&def, MPI_COMM_WORLD, &report, &error);
    if (result != LM_OK) fprintf(stderr, "%s\n", error.text);
    MPI_Finalize();
    return result == LM_OK && report.runs == 2 && report.failed == 0 ? 0 : 1;
}
