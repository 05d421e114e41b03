/* SPDX-License-Identifier: BSD-3-Clause
 * tasks - of how many tasks this process is one
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
