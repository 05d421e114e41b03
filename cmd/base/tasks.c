/* SPDX-License-Identifier: BSD-3-Clause
 * tasks - of how many tasks this process is one, and whose
 */
#include "cmd/base/tasks.h"

#include <stdlib.h>

#include "trace/base/number.h"

unsigned tasks_expected(unsigned *rank)
{
	/* A batch script has SLURM_NTASKS without being one of several: only steps of srun have the first pair. */
	static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
	                                       {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
	                                       {"PMI_SIZE", "PMI_RANK"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *size = getenv(names[i][0]), *own = getenv(names[i][1]);
		uint64_t tasks, number;
		if (size && own && number_parse(size, INT32_MAX, &tasks) == 0 && tasks > 1 &&
		    number_parse(own, tasks - 1, &number) == 0) {
			*rank = (unsigned)number;
			return (unsigned)tasks;
		}
	}
	*rank = 0;
	return 1;
}

const char *tasks_mpi(void)
{
	/* In this order: Open MPI's mpirun in an allocation has what srun left, and so has MPICH's mpiexec, which
	 * starts its processes by srun. PMIx is what srun gives to Open MPI, PMI-2 to MPICH. */
	static const char *const marks[][2] = {{"OMPI_COMM_WORLD_SIZE", "openmpi"},
	                                       {"MPI_LOCALNRANKS", "mpich"},
	                                       {"PMIX_NAMESPACE", "openmpi"},
	                                       {"PMI_RANK", "mpich"}};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (getenv(marks[i][0]))
			return marks[i][1];
	return NULL;
}
