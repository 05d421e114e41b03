/* SPDX-License-Identifier: BSD-3-Clause
 * slow - a library below the tracer, in which calls that end objects come back late: when MPI has freed the object, and
 * before the tracer knows, slow_inside is called, if the program has set it
 *
 * An allocator gives the memory of most objects to the next one of their kind. Communicators and datatypes are made to:
 * what was freed is kept, and handed out as the next one that is made. (All of the program's are alike.)
 */
#include <mpi.h>

const char spoor_below = 1; /* the tracer takes it for a part of the library, not for a tool (preload/bind.c) */
void (*slow_inside)(void);

static int late(int rc)
{
	if (slow_inside)
		slow_inside();
	return rc;
}

int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}

#define LATE(function, declared, ...)                      \
	int MPI_##function declared                        \
	{                                                  \
		return late(PMPI_##function(__VA_ARGS__)); \
	}
LATE(Group_free, (MPI_Group * h), h)
LATE(Op_free, (MPI_Op * h), h)
LATE(Info_free, (MPI_Info * h), h)
LATE(Errhandler_free, (MPI_Errhandler * h), h)
LATE(Win_free, (MPI_Win * h), h)
LATE(File_close, (MPI_File * h), h)
LATE(Comm_free_keyval, (int *h), h)
LATE(Request_free, (MPI_Request * h), h)
LATE(Wait, (MPI_Request * h, MPI_Status *s), h, s)
LATE(Waitall, (int n, MPI_Request h[], MPI_Status *s), n, h, s)
LATE(Mrecv, (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), b, n, t, m, s)

static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Datatype type = MPI_DATATYPE_NULL;

int MPI_Comm_free(MPI_Comm *h)
{
	if (comm != MPI_COMM_NULL)
		PMPI_Comm_free(&comm);
	comm = *h;
	*h = MPI_COMM_NULL;
	return late(MPI_SUCCESS);
}

int MPI_Comm_dup(MPI_Comm of, MPI_Comm *h)
{
	if (comm == MPI_COMM_NULL)
		return PMPI_Comm_dup(of, h);
	*h = comm;
	comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *h)
{
	if (type != MPI_DATATYPE_NULL)
		PMPI_Type_free(&type);
	type = *h;
	*h = MPI_DATATYPE_NULL;
	return late(MPI_SUCCESS);
}

int MPI_Type_contiguous(int n, MPI_Datatype of, MPI_Datatype *h)
{
	if (type == MPI_DATATYPE_NULL)
		return PMPI_Type_contiguous(n, of, h);
	*h = type;
	type = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}
