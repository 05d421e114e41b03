/* SPDX-License-Identifier: BSD-3-Clause
 * loader - a program without MPI: asks by weak references whether there is MPI, then loads a module that uses it, if
 * one is given: for itself, or with a second argument for all
 */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Initialized(int *flag) __attribute__((weak));
extern int MPI_Comm_rank(void *comm, int *rank) __attribute__((weak));
extern void mpi_initialized_(int *flag, int *ierror) __attribute__((weak));

int main(int argc, char **argv)
{
	void *module;
	int (*run)(void);

	puts(MPI_Initialized || MPI_Comm_rank || mpi_initialized_ ? "there is something of MPI's" : "MPI is not there");
	if (argc < 2)
		return 0;
	module = dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!module) {
		puts(dlerror());
		return 1;
	}
	run = (int (*)(void))dlsym(module, "run");
	return run();
}
