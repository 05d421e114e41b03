/* SPDX-License-Identifier: BSD-3-Clause
 * two - a program of one MPI library that meets another one
 *
 *     two open LIBRARY       has the other one in its process, and does not use it
 *     two use LIBRARY        does not use its own, but the other one, asking it for its functions
 *     two start COMMAND...   starts a program of the other one between two of its own calls
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *ask(const char *name)
{
	void *f = dlsym(library, name);

	if (!f) {
		puts(dlerror());
		exit(1);
	}
	return f;
}

static int use(void)
{
	int initialized = 0;

	((int (*)(int *, char ***))ask("MPI_Init"))(NULL, NULL);
	((int (*)(int *))ask("MPI_Initialized"))(&initialized);
	printf("initialized %d\n", initialized);
	return ((int (*)(void))ask("MPI_Finalize"))();
}

static int ring(const char *command)
{
	int rank, size, in = -1;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0 && command)
		printf("status %d\n", system(command));
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT, (rank + size - 1) % size, 7,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d after %d\n", rank, in);
	return MPI_Finalize();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "start"))
		return ring(argv[2]);
	library = dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	return strcmp(argv[1], "use") ? ring(NULL) : use();
}
