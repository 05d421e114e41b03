/* SPDX-License-Identifier: BSD-3-Clause
 * tool - a PMPI tool that counts sends, as users have them: preloaded, before or behind the tracer
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sends;

#ifdef TRANSPARENT /* says that it forwards each call to the next library */
int spoor_transparent;
#define NEXT(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#elif defined(BY_HANDLE) /* asks the library for what is behind it */
#define NEXT(name) ((__typeof__(&MPI_##name))dlsym(dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD), "MPI_" #name))
#else
#define NEXT(name) PMPI_##name
#endif

#ifdef ONLY_SEND
static __attribute__((destructor)) void say(void)
{
	if (sends)
		printf("tool saw %d sends\n", sends);
}
#else
int MPI_Init(int *argc, char ***argv)
{
	return NEXT(Init)(argc, argv);
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("rank %d: tool saw %d sends\n", rank, sends);
	return NEXT(Finalize)();
}
#endif

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return NEXT(Send)(buf, count, datatype, dest, tag, comm);
}
