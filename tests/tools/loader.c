/* SPDX-License-Identifier: BSD-3-Clause
 * loader - a program without MPI: asks by weak references whether there is MPI, then loads a module that uses it, if
 * one is given
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

extern int MPI_Initialized(int *flag) __attribute__((weak));
extern int MPI_Comm_rank(void *comm, int *rank) __attribute__((weak));
extern void mpi_initialized_(int *flag, int *ierror) __attribute__((weak));

int main(int argc, char **argv)
{
	int flag = -1, ierror = -1, rank;
	void *module;
	int (*run)(void);

	errno = 4711;
	if (!MPI_Initialized || !MPI_Comm_rank || !mpi_initialized_)
		puts("the tracer is not loaded");
	else if (MPI_Initialized(&flag) || flag)
		puts("MPI_Initialized says yes");
	else if (!MPI_Comm_rank(NULL, &rank))
		puts("MPI_Comm_rank works without MPI");
	else if (mpi_initialized_(&flag, &ierror), flag || ierror)
		puts("mpi_initialized says yes");
	else
		puts(errno == 4711 ? "no MPI" : "errno was changed");
	if (argc < 2)
		return 0;
	module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		puts(dlerror());
		return 1;
	}
	run = (int (*)(void))dlsym(module, "run");
	return run();
}
