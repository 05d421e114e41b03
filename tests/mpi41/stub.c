/* SPDX-License-Identifier: BSD-3-Clause
 * stub - functions of MPI 4.0 and 4.1 made of the library's own; those not here are stubs that do nothing
 * (tests/mpi41.t)
 *
 * With MPI41_SESSIONS set, MPI_Session_init begins and MPI_Session_finalize ends MPI, and MPI_Initialized does not say
 * so.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct mpi41_session {
	int open;
};
struct mpi41_session mpi41_session_null;

/* Both names of a function. */
#define DEFINE(result, name, parameters)                                \
	result name parameters __attribute__((weak, alias("P" #name))); \
	result P##name parameters

DEFINE(int, MPI_Send_c, (const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
{
	return PMPI_Send(buf, (int)count, type, dest, tag, comm);
}

DEFINE(int, MPI_Recv_c,
       (void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status))
{
	return PMPI_Recv(buf, (int)count, type, source, tag, comm, status);
}

DEFINE(int, MPI_Get_count_c, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count))
{
	int n, rc = PMPI_Get_count(status, type, &n);

	*count = n;
	return rc;
}

DEFINE(int, MPI_Isendrecv,
       (const void *out, int n, MPI_Datatype t, int dest, int sendtag, void *in, int m, MPI_Datatype u, int source,
        int recvtag, MPI_Comm comm, MPI_Request *request))
{
	PMPI_Irecv(in, m, u, source, recvtag, comm, request);
	return PMPI_Send(out, n, t, dest, sendtag, comm);
}

DEFINE(int, MPI_Allgatherv_c,
       (const void *out, MPI_Count n, MPI_Datatype t, void *in, const MPI_Count counts[], const MPI_Aint displs[],
        MPI_Datatype u, MPI_Comm comm))
{
	int size;

	PMPI_Comm_size(comm, &size);
	int c[size], d[size];
	for (int i = 0; i < size; i++) {
		c[i] = (int)counts[i];
		d[i] = (int)displs[i];
	}
	return PMPI_Allgatherv(out, (int)n, t, in, c, d, u, comm);
}

DEFINE(int, MPI_Allreduce_init,
       (const void *out, void *in, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Info info,
        MPI_Request *request))
{
	extern int PMPIX_Allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
	                                MPI_Request *);

	return PMPIX_Allreduce_init(out, in, n, t, op, comm, info, request);
}

DEFINE(int, MPI_Psend_init,
       (const void *buf, int partitions, MPI_Count n, MPI_Datatype t, int dest, int tag, MPI_Comm comm, MPI_Info info,
        MPI_Request *request))
{
	(void)info;
	return PMPI_Send_init(buf, partitions * (int)n, t, dest, tag, comm, request);
}

DEFINE(int, MPI_Precv_init,
       (void *buf, int partitions, MPI_Count n, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Info info,
        MPI_Request *request))
{
	(void)info;
	return PMPI_Recv_init(buf, partitions * (int)n, t, source, tag, comm, request);
}

DEFINE(int, MPI_Parrived, (MPI_Request request, int partition, int *flag))
{
	(void)request;
	*flag = partition >= 0;
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
{
	(void)info;
	return PMPI_Comm_idup(comm, newcomm, request);
}

DEFINE(int, MPI_Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag))
{
	char text[MPI_MAX_INFO_VAL + 1];
	int rc = PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, flag);

	if (*flag && *buflen) {
		strncpy(value, text, (size_t)*buflen - 1);
		value[*buflen - 1] = 0;
	}
	if (*flag)
		*buflen = (int)strlen(text) + 1;
	return rc;
}

DEFINE(int, MPI_Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype))
{
	return PMPI_Type_contiguous((int)count, oldtype, newtype);
}

DEFINE(int, MPI_Type_get_envelope_c,
       (MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses, MPI_Count *counts, MPI_Count *types,
        int *combiner))
{
	(void)type;
	*integers = *addresses = 0;
	*counts = *types = 1;
	*combiner = MPI_COMBINER_CONTIGUOUS;
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Type_get_contents_c,
       (MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_counts, MPI_Count max_types,
        int integers[], MPI_Aint addresses[], MPI_Count counts[], MPI_Datatype types[]))
{
	(void)type, (void)max_integers, (void)max_addresses, (void)max_counts, (void)max_types, (void)integers,
		(void)addresses;
	counts[0] = 5000000000;
	types[0] = MPI_INT;
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Request_get_status_all, (int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]))
{
	*flag = 1;
	for (int i = 0; i < count && *flag; i++)
		PMPI_Request_get_status(requests[i], flag,
		                        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Status_get_source, (const MPI_Status *status, int *source))
{
	*source = status->MPI_SOURCE;
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Initialized, (int *flag))
{
	static int (*real)(int *);
	extern void *mpi41_next(const char *);

	if (getenv("MPI41_SESSIONS"))
		return *flag = 0, MPI_SUCCESS;
	if (!real)
		real = (int (*)(int *))mpi41_next("PMPI_Initialized");
	return real(flag);
}

DEFINE(int, MPI_Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
{
	(void)info, (void)errhandler;
	if (getenv("MPI41_SESSIONS"))
		PMPI_Init(NULL, NULL);
	*session = calloc(1, sizeof(**session));
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Session_finalize, (MPI_Session * session))
{
	free(*session);
	*session = MPI_SESSION_NULL;
	return getenv("MPI41_SESSIONS") ? PMPI_Finalize() : MPI_SUCCESS;
}

DEFINE(int, MPI_Session_get_info, (MPI_Session session, MPI_Info *info))
{
	(void)session;
	PMPI_Info_create(info);
	return PMPI_Info_set(*info, "thread_level", "MPI_THREAD_SINGLE");
}

DEFINE(int, MPI_Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *length, char *name))
{
	(void)session, (void)info, (void)n;
	if (*length)
		strncpy(name, "mpi://WORLD", (size_t)*length);
	*length = sizeof("mpi://WORLD");
	return MPI_SUCCESS;
}

DEFINE(int, MPI_Group_from_session_pset, (MPI_Session session, const char *name, MPI_Group *group))
{
	(void)session, (void)name;
	return PMPI_Comm_group(MPI_COMM_WORLD, group);
}

DEFINE(int, MPI_Comm_create_from_group,
       (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *comm))
{
	(void)tag, (void)info, (void)errhandler;
	return PMPI_Comm_create_group(MPI_COMM_WORLD, group, 1, comm);
}

/* mpi_f08: what TS 29113 compilers call, of another library's naming (MPICH), too. The first word of a descriptor is
 * the address. */
void pmpi_comm_rank_f08_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror)
{
	MPI_Fint e = PMPI_Comm_rank(PMPI_Comm_f2c(*comm), rank);

	if (ierror)
		*ierror = e;
}

#define SEND(name, count_type)                                                                                      \
	void name(void **buf, count_type *count, MPI_Fint *type, MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm,     \
	          MPI_Fint *ierror)                                                                                 \
	{                                                                                                           \
		MPI_Fint e = PMPI_Send(*buf, (int)*count, PMPI_Type_f2c(*type), *dest, *tag, PMPI_Comm_f2c(*comm)); \
		if (ierror)                                                                                         \
			*ierror = e;                                                                                \
	}
SEND(pmpi_send_f08ts_, MPI_Fint)
SEND(mpi_send_f08ts_, MPI_Fint)
SEND(pmpir_send_f08ts_large_, MPI_Count)
SEND(mpi_send_f08ts_large_, MPI_Count)
