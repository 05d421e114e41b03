/* SPDX-License-Identifier: BSD-3-Clause
 * fortran - some functions of mpif.h for a library of the standard's ABI: what a Fortran library of it may be
 *
 * The standard's ABI has no Fortran. Handles are those of MPI_Xyz_fromint, MPI_IN_PLACE is in MPICH's common block.
 */
#include <mpi.h>
#include <stdlib.h>

struct {
	int bottom, in_place, status_ignore[8];
} mpipriv1_;

/* Where they are, as MPICH's library says it: the flat logger asks. */
void *MPIR_F_MPI_IN_PLACE = &mpipriv1_.in_place;
int *MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;

static void *buffer_of(void *buffer)
{
	return buffer == &mpipriv1_.in_place ? MPI_IN_PLACE : buffer;
}

static MPI_Status *status_of(int *status)
{
	return status == mpipriv1_.status_ignore ? MPI_STATUS_IGNORE : (MPI_Status *)(void *)status;
}

void mpi_init_(int *ierror)
{
	*ierror = MPI_Init(NULL, NULL);
}

void mpi_finalize_(int *ierror)
{
	*ierror = MPI_Finalize();
}

void mpi_comm_rank_(int *comm, int *rank, int *ierror)
{
	*ierror = MPI_Comm_rank(MPI_Comm_fromint(*comm), rank);
}

void mpi_comm_size_(int *comm, int *size, int *ierror)
{
	*ierror = MPI_Comm_size(MPI_Comm_fromint(*comm), size);
}

void mpi_comm_split_(int *comm, int *color, int *key, int *newcomm, int *ierror)
{
	MPI_Comm out;

	*ierror = MPI_Comm_split(MPI_Comm_fromint(*comm), *color, *key, &out);
	*newcomm = MPI_Comm_toint(out);
}

void mpi_comm_free_(int *comm, int *ierror)
{
	MPI_Comm c = MPI_Comm_fromint(*comm);

	*ierror = MPI_Comm_free(&c);
	*comm = MPI_Comm_toint(c);
}

void mpi_allreduce_(void *in, void *out, int *count, int *type, int *op, int *comm, int *ierror)
{
	*ierror = MPI_Allreduce(buffer_of(in), out, *count, MPI_Type_fromint(*type), MPI_Op_fromint(*op),
	                        MPI_Comm_fromint(*comm));
}

void mpi_send_(void *buf, int *count, int *type, int *dest, int *tag, int *comm, int *ierror)
{
	*ierror = MPI_Send(buf, *count, MPI_Type_fromint(*type), *dest, *tag, MPI_Comm_fromint(*comm));
}

void mpi_recv_(void *buf, int *count, int *type, int *source, int *tag, int *comm, int *status, int *ierror)
{
	*ierror = MPI_Recv(buf, *count, MPI_Type_fromint(*type), *source, *tag, MPI_Comm_fromint(*comm),
	                   status_of(status));
}

void mpi_irecv_(void *buf, int *count, int *type, int *source, int *tag, int *comm, int *request, int *ierror)
{
	MPI_Request out;

	*ierror = MPI_Irecv(buf, *count, MPI_Type_fromint(*type), *source, *tag, MPI_Comm_fromint(*comm), &out);
	*request = MPI_Request_toint(out);
}

void mpi_wait_(int *request, int *status, int *ierror)
{
	MPI_Request r = MPI_Request_fromint(*request);

	*ierror = MPI_Wait(&r, status_of(status));
	*request = MPI_Request_toint(r);
}

/* For tools, as every MPI library has them. */
void pmpi_init_(int *ierror) __attribute__((alias("mpi_init_")));
void pmpi_finalize_(int *ierror) __attribute__((alias("mpi_finalize_")));
void pmpi_comm_rank_(int *comm, int *rank, int *ierror) __attribute__((alias("mpi_comm_rank_")));
void pmpi_comm_size_(int *comm, int *size, int *ierror) __attribute__((alias("mpi_comm_size_")));
void pmpi_comm_split_(int *comm, int *color, int *key, int *newcomm, int *ierror)
	__attribute__((alias("mpi_comm_split_")));
void pmpi_comm_free_(int *comm, int *ierror) __attribute__((alias("mpi_comm_free_")));
void pmpi_allreduce_(void *in, void *out, int *count, int *type, int *op, int *comm, int *ierror)
	__attribute__((alias("mpi_allreduce_")));
void pmpi_send_(void *buf, int *count, int *type, int *dest, int *tag, int *comm, int *ierror)
	__attribute__((alias("mpi_send_")));
void pmpi_recv_(void *buf, int *count, int *type, int *source, int *tag, int *comm, int *status, int *ierror)
	__attribute__((alias("mpi_recv_")));
void pmpi_irecv_(void *buf, int *count, int *type, int *source, int *tag, int *comm, int *request, int *ierror)
	__attribute__((alias("mpi_irecv_")));
void pmpi_wait_(int *request, int *status, int *ierror) __attribute__((alias("mpi_wait_")));

/* What the flat logger asks. */
#define F2C(type, name)                         \
	type PMPI_##name##_f2c(int f)           \
	{                                       \
		return MPI_##name##_fromint(f); \
	}
F2C(MPI_Comm, Comm)
F2C(MPI_Datatype, Type)
F2C(MPI_Group, Group)
F2C(MPI_Op, Op)
F2C(MPI_Request, Request)
F2C(MPI_Win, Win)
F2C(MPI_File, File)
F2C(MPI_Message, Message)
F2C(MPI_Errhandler, Errhandler)
F2C(MPI_Info, Info)
