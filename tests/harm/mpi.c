/* SPDX-License-Identifier: BSD-3-Clause
 * mpi - a small MPI program: says what it computed on both streams, makes a file, and ends with a status of its own
 *
 * Also built as a plugin whose run() opener.c calls (-DPLUGIN), or is told of by a constructor (-DREGISTERS); as a
 * library whose constructor begins with MPI (-DEARLY=begin) or does all of it (-DEARLY=run); and with the addresses of
 * MPI's functions in a table (-DTABLE).
 */
#include <mpi.h>
#include <stdio.h>

#ifdef TABLE
static const struct table {
	int (*size)(MPI_Comm, int *);
	int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
} table = {MPI_Comm_size, MPI_Allreduce, MPI_Send};
#define MPI_Comm_size table.size
#define MPI_Allreduce table.reduce
#define MPI_Send      table.send
#endif

static int begin(void)
{
	int begun = 0;

	MPI_Initialized(&begun);
	return begun || MPI_Init(NULL, NULL);
}

int run(void);
int run(void)
{
	int rank, size, one = 1, sum = 0, got = 0;
	char name[32];
	FILE *file;
	MPI_Request request;

	begin();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 20; i++) {
		MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request);
		MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	printf("rank %d of %d: sum %d, got %d\n", rank, size, sum, got);
	snprintf(name, sizeof name, "made-%d", rank);
	file = fopen(name, "w");
	if (file) {
		fprintf(file, "sum %d\n", sum);
		fclose(file);
	}
	MPI_Finalize();
	fprintf(stderr, "ended\n");
	return 3;
}

#ifdef REGISTERS
extern int (*registered)(void);
static void __attribute__((constructor)) registers(void)
{
	registered = run;
}
#endif

#ifdef EARLY
static void __attribute__((constructor)) early(void)
{
	EARLY();
}
#endif

#ifndef PLUGIN
int main(void)
{
	return run();
}
#endif
