/* SPDX-License-Identifier: BSD-3-Clause
 * plays - a program for other tools to look at: calls of MPI from several places, files, memory, and two mistakes
 *
 *     plays            its ranks play a round
 *     plays seen       says what dladdr and dlsym answer about MPI's functions
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static __attribute__((noinline)) void three_places(void)
{
	for (int i = 0; i < 10; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		if (i % 2)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

static __attribute__((noinline)) void around(void)
{
	int in[2], out[2] = {rank, size}, sum;
	MPI_Request request[2];

	for (int i = 0; i < 5; i++) {
		MPI_Irecv(&in[0], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request[0]);
		MPI_Irecv(&in[1], 1, MPI_INT, (rank + size - 1) % size, 100 + i, MPI_COMM_WORLD, &request[1]);
		MPI_Send(&out[0], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
		MPI_Send(&out[1], 1, MPI_INT, (rank + 1) % size, 100 + i, MPI_COMM_WORLD);
		if (i % 2)
			MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		else
			for (int k = 0; k < 2; k++)
				MPI_Wait(&request[k], MPI_STATUS_IGNORE);
	}
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %d\n", sum);
}

/* A type that is not freed, and a rank that is not there. */
static __attribute__((noinline)) void mistakes(void)
{
	MPI_Datatype pair;
	MPI_Errhandler before;

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
	MPI_Errhandler_free(&before);
}

static void files(void)
{
	char name[64], text[64];
	FILE *f;

	snprintf(name, sizeof name, "plays.%d", rank);
	f = fopen(name, "w");
	if (!f)
		return;
	for (int i = 0; i < 100; i++)
		fprintf(f, "line %d\n", i);
	fclose(f);
	f = fopen(name, "r");
	while (f && fgets(text, sizeof text, f))
		;
	if (f)
		fclose(f);
	remove(name);
}

static void memory(void)
{
	void *kept[10];

	for (size_t i = 0; i < 10; i++)
		kept[i] = malloc(1000 * (i + 1));
	for (int i = 0; i < 9; i++) /* the last one leaks */
		free(kept[i]);
}

static void say(const char *name, const void *address)
{
	Dl_info info;
	const char *file;

	if (!address || !dladdr(address, &info)) {
		printf("%s: nothing\n", name);
		return;
	}
	file = strrchr(info.dli_fname, '/');
	printf("%s: %s, %s, %s\n", name, file ? file + 1 : info.dli_fname, info.dli_sname ? info.dli_sname : "no name",
	       info.dli_saddr == address ? "begins there" : "begins elsewhere");
}

#define SAY(f)                                              \
	do {                                                \
		say(#f, (void *)f);                         \
		say(#f " asked", dlsym(RTLD_DEFAULT, #f));  \
		say("in " #f, (const char *)(void *)f + 1); \
	} while (0)

static void seen(void)
{
	Dl_info info;

	SAY(MPI_Init);
	SAY(MPI_Send);
	SAY(MPI_Barrier);
	SAY(MPI_Waitall);
	SAY(MPI_Finalize);
	SAY(PMPI_Send);
	SAY(PMPI_Barrier);
	SAY(MPI_Wtime);
	SAY(malloc);
	say("seen", (void *)seen);
	say("mpi_send_", dlsym(RTLD_DEFAULT, "mpi_send_"));
	say("pmpi_send_", dlsym(RTLD_DEFAULT, "pmpi_send_"));
	printf("nowhere: %d\n", dladdr("text", &info) && !info.dli_sname ? 1 : dladdr((void *)8, &info));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "seen"))
		seen();
	MPI_Init(&argc, &argv);
	if (argc > 1 && !strcmp(argv[1], "seen"))
		seen();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	three_places();
	around();
	mistakes();
	files();
	memory();
	return MPI_Finalize();
}
