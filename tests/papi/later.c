/* SPDX-License-Identifier: BSD-3-Clause
 * later - a program that loads PAPI in the middle: later FILE */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 200; i++) {
		if (i == 100 && argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		MPI_Barrier(MPI_COMM_SELF);
	}
	MPI_Finalize();
	return 0;
}
