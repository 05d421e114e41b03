/* SPDX-License-Identifier: BSD-3-Clause
 * checker - a PMPI tool that looks for mistakes: errors, types that are not freed, sends that need a buffer
 *
 * It does other calls than the program's: a send is synchronous, and all requests are completed one by one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank = -1, types, requests, complaints;
static char first_type[80];

static void name_place(char *text, size_t size, void *address)
{
	Dl_info info;
	const char *file = dladdr(address, &info) ? strrchr(info.dli_fname, '/') : NULL;

	snprintf(text, size, "%s+%#lx", file ? file + 1 : "?",
	         file ? (unsigned long)((char *)address - (char *)info.dli_fbase) : 0);
}

static int check(const char *function, void *address, int rc)
{
	char place[80];
	int class = MPI_SUCCESS;

	if (rc == MPI_SUCCESS)
		return rc;
	PMPI_Error_class(rc, &class);
	name_place(place, sizeof place, address);
	printf("rank %d: %s at %s: error %s\n", rank, function, place,
	       class == MPI_ERR_RANK ? "of a rank" : "of another kind");
	complaints++;
	return rc;
}

#define CHECK(call) check(__func__, __builtin_return_address(0), (call))

int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return CHECK(rc);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	MPI_Request request;
	int rc = PMPI_Issend(buf, count, datatype, dest, tag, comm, &request);

	if (rc == MPI_SUCCESS)
		rc = PMPI_Wait(&request, MPI_STATUS_IGNORE);
	return CHECK(rc);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	requests++;
	return CHECK(PMPI_Irecv(buf, count, datatype, source, tag, comm, request));
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	requests--;
	return CHECK(PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request array[], MPI_Status *statuses)
{
	int rc = MPI_SUCCESS;

	for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
		requests--;
		rc = PMPI_Wait(&array[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
	}
	return CHECK(rc);
}

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	if (!types++)
		name_place(first_type, sizeof first_type, __builtin_return_address(0));
	return CHECK(PMPI_Type_contiguous(count, oldtype, newtype));
}

int MPI_Type_free(MPI_Datatype *datatype)
{
	types--;
	return CHECK(PMPI_Type_free(datatype));
}

int MPI_Finalize(void)
{
	int all = 0;

	printf("rank %d: %d types are not freed, the first of %s; %d requests are open\n", rank, types, first_type,
	       requests);
	PMPI_Reduce(&complaints, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d errors\n", all);
	return PMPI_Finalize();
}
