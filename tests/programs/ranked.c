/* SPDX-License-Identifier: BSD-3-Clause
 * ranked - the same calls by other ways on each rank: ranked LIBRARY
 *
 * Each rank calls MPI_Allreduce and its neighbours through functions of its own. Then it calls layers_reduce of the
 * library, which is this file as well (-DLAYERS): that comes to MPI_Allreduce by ways that depend on the step.
 */
#include <mpi.h>

#define APART __attribute__((noinline, noclone, noipa))

#ifdef LAYERS
APART void layers_wrap_b(int deep)
{
	int x = deep, y;
	if (deep > 0)
		layers_wrap_b(deep - 1);
	else
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	__asm__ volatile("");
}

APART void layers_wrap_a(int deep)
{
	layers_wrap_b(deep);
	__asm__ volatile("");
}

APART void layers_reduce(int step)
{
	if (step % 2)
		layers_wrap_a(step % 5);
	else
		layers_wrap_b(step % 3);
	__asm__ volatile("");
}
#else
#include <dlfcn.h>
#include <stdio.h>

static int rank, size;

static APART void swap(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, got;
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 3, &got, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	__asm__ volatile("");
}

static APART void even(void)
{
	swap();
	__asm__ volatile("");
}

static APART void odd(void)
{
	swap();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*reduce)(int) = library ? (void (*)(int))dlsym(library, "layers_reduce") : NULL;
	for (int step = 0; step < 40; step++) {
		if (rank % 2)
			odd();
		else
			even();
		if (reduce)
			reduce(step);
	}
	MPI_Finalize();
	return argc > 1 && !reduce;
}
#endif
