/* SPDX-License-Identifier: BSD-3-Clause
 * asker - a program that is not linked with MPI and asks the library for its functions, as other languages' bindings
 * do; and one that is linked
 *
 *     asker names LIBRARY FILE     asks for each name in the file, says what there is and what dlerror says
 *     asker c LIBRARY              a ring with the functions of C
 *     asker fortran LIBRARY        the same with those of mpif.h
 *     asker linked LIBRARY         (compiled with -DLINKED) are the answers what the linker gave?
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *ask(const char *name)
{
	void *f = dlsym(library, name);

	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return f;
}

#define ASK(name) ((__typeof__(&name))ask(#name))
/* Open MPI's predefined handles are addresses of objects of the library. */
#undef MPI_COMM_WORLD
#undef MPI_INT
#undef MPI_SUM
#define MPI_COMM_WORLD ((MPI_Comm)ask("ompi_mpi_comm_world"))
#define MPI_INT        ((MPI_Datatype)ask("ompi_mpi_int"))
#define MPI_SUM        ((MPI_Op)ask("ompi_mpi_op_sum"))

static void names(const char *file)
{
	char name[128];
	FILE *f = fopen(file, "r");

	while (f && fscanf(f, "%127s", name) == 1) {
		void *p;
		const char *error;

		dlsym(library, "MPI_No_such_function"); /* leaves an error, as far as nobody asks */
		errno = 4711;
		p = dlsym(library, name);
		if (p && errno != 4711)
			printf("errno is changed\n");
		error = dlerror();
		printf("%s: %s, %s\n", name, p ? "there" : "not there", error ? error : "no error");
		error = dlerror();
		if (error)
			printf("again: %s\n", error);
	}
}

static void c(void)
{
	int rank, size, x = 0, sum;
	MPI_Request request;

	ASK(MPI_Init)(NULL, NULL);
	ASK(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
	ASK(MPI_Comm_size)(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++) {
		ASK(MPI_Irecv)(&x, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
		ASK(MPI_Send)(&rank, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
		ASK(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	}
	ASK(PMPI_Barrier)(MPI_COMM_WORLD); /* not for tools */
	ASK(MPI_Allreduce)(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d\n", sum);
	ASK(MPI_Finalize)();
}

static void fortran(void)
{
	int rank, world = 0, ierr; /* Open MPI's number of MPI_COMM_WORLD */

	((void (*)(int *))ask("mpi_init_"))(&ierr);
	((void (*)(int *, int *, int *))ask("mpi_comm_rank_"))(&world, &rank, &ierr);
	((void (*)(int *, int *))ask("mpi_barrier_"))(&world, &ierr);
	((void (*)(int *, int *))ask("MPI_BARRIER"))(&world, &ierr);
	if (rank == 0)
		printf("done %d\n", ierr);
	((void (*)(int *))ask("mpi_finalize_"))(&ierr);
}

#ifdef LINKED
static void linked(void)
{
	printf("default %d, handle %d, program %d, other name %d, next %d\n",
	       dlsym(RTLD_DEFAULT, "MPI_Send") == (void *)MPI_Send, ask("MPI_Send") == (void *)MPI_Send,
	       dlsym(dlopen(NULL, RTLD_LAZY), "MPI_Send") == (void *)MPI_Send, ask("MPI_Send") == (void *)MPI_Recv,
	       dlsym(RTLD_NEXT, "MPI_Send") == (void *)MPI_Send);
	MPI_Init(NULL, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	ASK(MPI_Barrier)(MPI_COMM_WORLD);
	MPI_Finalize();
}
#endif

int main(int argc, char **argv)
{
	if (argc < 3 || !(library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL))) {
		fprintf(stderr, "%s\n", argc < 3 ? "usage: asker WHAT LIBRARY [FILE]" : dlerror());
		return 1;
	}
	if (!strcmp(argv[1], "names"))
		names(argv[3]);
	else if (!strcmp(argv[1], "c"))
		c();
	else if (!strcmp(argv[1], "fortran"))
		fortran();
#ifdef LINKED
	else
		linked();
#endif
	return 0;
}
