/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - MPI functions that come out as they did: messages and requests
 */
#include "replay/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct outcome replay_outcome;

/* ---- requests and their handles ---- */

static struct entry *entry_of(MPI_Request request)
{
	return request == MPI_REQUEST_NULL ? NULL : (struct entry *)request;
}

static MPI_Request real_of(MPI_Request request)
{
	return request == MPI_REQUEST_NULL ? MPI_REQUEST_NULL : entry_of(request)->real;
}

int outcome_made(int rc, MPI_Request real, MPI_Request *request)
{
	struct entry *e = replay_outcome.entry;

	if (rc != MPI_SUCCESS)
		return rc;
	if (replay_outcome.lossy)
		return lossy_made(ENTRY_PLAIN, real, request);
	if (!e) { /* the recorded call gave MPI_REQUEST_NULL */
		if (real != MPI_REQUEST_NULL)
			PMPI_Request_free(&real);
		*request = MPI_REQUEST_NULL;
		return rc;
	}
	*e = (struct entry){.real = real, .own = MPI_REQUEST_NULL};
	*request = (MPI_Request)e;
	return rc;
}

/* After a call that may have completed the request. */
static void settle(MPI_Request *request, MPI_Request real)
{
	struct entry *e = entry_of(*request);

	if (!e)
		return;
	e->real = real;
	if (real != MPI_REQUEST_NULL)
		return;
	if (e->tracked)
		e->real = e->own;
	else
		*request = MPI_REQUEST_NULL;
}

/* The library's requests of an array; valid until the next call. */
static MPI_Request *reals(int n, const MPI_Request *requests)
{
	static _Thread_local MPI_Request *array;
	static _Thread_local int capacity;

	if (n > capacity) {
		MPI_Request *more = realloc(array, (size_t)n * 2 * sizeof *more);

		if (!more) {
			fputs("spoor-replay: no memory\n", stderr);
			PMPI_Abort(MPI_COMM_WORLD, 1);
			return NULL;
		}
		array = more;
		capacity = 2 * n;
	}
	for (int i = 0; i < n; i++)
		array[i] = real_of(requests[i]);
	return array;
}

static void settle_all(int n, MPI_Request *requests, const MPI_Request *real)
{
	for (int i = 0; i < n; i++)
		settle(&requests[i], real[i]);
}

/* Lets the library work, as a test would that sees nothing. */
static void look(MPI_Request real)
{
	int flag;

	if (replay_outcome.lossy) {
		lossy_service();
		return;
	}
	PMPI_Request_get_status(real, &flag, MPI_STATUS_IGNORE);
}

/* The functions below call these, and not each other: that would be seen by the tracer. */
static int wait_one(MPI_Request *request, MPI_Status *status)
{
	if (replay_outcome.lossy) {
		int rc = lossy_complete(request, status);

		return replay_outcome.error ? replay_outcome.error : rc;
	}
	MPI_Request real = real_of(*request);
	int rc = replay_outcome.polling ? poll_wait(&real, status) : PMPI_Wait(&real, status);

	settle(request, real);
	return rc;
}

/* In a trace without order: a call that failed, whatever its requests are. */
static bool failed(int n, MPI_Request *requests)
{
	if (!replay_outcome.lossy || !replay_outcome.error)
		return false;
	for (int i = 0; i < n; i++)
		lossy_complete(&requests[i], MPI_STATUS_IGNORE);
	return true;
}

static int wait_all(int n, MPI_Request requests[], MPI_Status *statuses)
{
	if (replay_outcome.lossy) {
		for (int i = 0; i < n; i++)
			lossy_complete(&requests[i],
			               statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
		return replay_outcome.error;
	}
	MPI_Request *real = reals(n, requests);
	int rc = replay_outcome.polling ? poll_waitall(n, real, statuses) : PMPI_Waitall(n, real, statuses);

	settle_all(n, requests, real);
	return rc;
}

static int wait_any(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
	if (failed(n, requests))
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		*index = n == 0                                                  ? MPI_UNDEFINED
		         : replay_outcome.index >= 0 && replay_outcome.index < n ? replay_outcome.index
		                                                                 : 0;
		return n == 0 ? MPI_SUCCESS : lossy_complete(&requests[*index], status);
	}
	if (replay_outcome.natural || replay_outcome.index == MPI_UNDEFINED || replay_outcome.index >= n) {
		MPI_Request *real = reals(n, requests);
		int rc, flag = 0;

		if (!replay_outcome.polling)
			rc = PMPI_Waitany(n, real, index, status);
		else
			while ((rc = PMPI_Testany(n, real, index, &flag, status)) == MPI_SUCCESS && !flag)
				poll_turn();

		settle_all(n, requests, real);
		return rc;
	}
	*index = replay_outcome.index;
	return wait_one(&requests[*index], status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	return wait_one(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
	return wait_all(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
	return wait_any(n, requests, index, status);
}

/* Completes those requests that were completed. */
static int some(int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses)
{
	int count = replay_outcome.count;

	if (replay_outcome.lossy) {
		*outcount = count < n ? count : n;
		for (int i = 0; i < *outcount; i++) {
			indices[i] = i;
			lossy_complete(&requests[i],
			               statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
		}
		return replay_outcome.error;
	}
	MPI_Request *real = reals(n, requests);

	for (int i = 0; i < count; i++) {
		indices[i] = replay_outcome.indices[i];
		if (indices[i] >= n)
			return MPI_ERR_ARG;
		real[i] = real_of(requests[indices[i]]);
	}
	int rc = replay_outcome.polling ? poll_waitall(count, real, statuses) : PMPI_Waitall(count, real, statuses);

	for (int i = 0; i < count; i++)
		settle(&requests[indices[i]], real[i]);
	*outcount = count;
	return rc;
}

int MPI_Waitsome(int n, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
	if (failed(n, requests))
		return replay_outcome.error;
	if (replay_outcome.natural || replay_outcome.count == MPI_UNDEFINED) {
		MPI_Request *real = reals(n, requests);
		int rc;

		if (!replay_outcome.polling)
			rc = PMPI_Waitsome(n, real, outcount, indices, statuses);
		else
			while ((rc = PMPI_Testsome(n, real, outcount, indices, statuses)) == MPI_SUCCESS &&
			       *outcount == 0)
				poll_turn();

		settle_all(n, requests, real);
		return rc;
	}
	return some(n, requests, outcount, indices, statuses);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (failed(1, request))
		return replay_outcome.error;
	if (replay_outcome.natural) {
		MPI_Request real = real_of(*request);
		int rc = PMPI_Test(&real, flag, status);

		settle(request, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return wait_one(request, status);
	look(real_of(*request));
	return MPI_SUCCESS;
}

/* Looks at the first request that there is: that is enough for the library to go on with all. */
static void look_at(int n, const MPI_Request *requests)
{
	for (int i = 0; i < n; i++) {
		MPI_Request real = real_of(requests[i]);

		if (real != MPI_REQUEST_NULL) {
			look(real);
			return;
		}
	}
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	if (failed(n, requests))
		return replay_outcome.error;
	if (replay_outcome.natural) {
		MPI_Request *real = reals(n, requests);
		int rc = PMPI_Testall(n, real, flag, statuses);

		settle_all(n, requests, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return wait_all(n, requests, statuses);
	look_at(n, requests);
	return MPI_SUCCESS;
}

int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	if (failed(n, requests))
		return replay_outcome.error;
	if (replay_outcome.natural || (replay_outcome.flag && replay_outcome.index == MPI_UNDEFINED)) {
		MPI_Request *real = reals(n, requests);
		int rc = PMPI_Testany(n, real, index, flag, status);

		settle_all(n, requests, real);
		return rc;
	}
	*flag = replay_outcome.flag;
	if (*flag)
		return wait_any(n, requests, index, status);
	*index = replay_outcome.index;
	look_at(n, requests);
	return MPI_SUCCESS;
}

int MPI_Testsome(int n, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
	if (failed(n, requests))
		return replay_outcome.error;
	if (replay_outcome.natural || replay_outcome.count == MPI_UNDEFINED) {
		MPI_Request *real = reals(n, requests);
		int rc = PMPI_Testsome(n, real, outcount, indices, statuses);

		settle_all(n, requests, real);
		return rc;
	}
	if (replay_outcome.count > 0)
		return some(n, requests, outcount, indices, statuses);
	*outcount = 0;
	look_at(n, requests);
	return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	int rc;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		lossy_service();
		*flag = replay_outcome.flag;
		return PMPI_Request_get_status(MPI_REQUEST_NULL, &rc, status);
	}
	while ((rc = PMPI_Request_get_status(real_of(request), flag, status)) == MPI_SUCCESS && !*flag &&
	       replay_outcome.flag && !replay_outcome.natural)
		if (replay_outcome.polling)
			poll_turn();
	if (rc == MPI_SUCCESS && !replay_outcome.natural)
		*flag = replay_outcome.flag;
	return rc;
}

int MPI_Cancel(MPI_Request *request)
{
	struct entry *e = entry_of(*request);

	if ((e && e->received) || replay_outcome.lossy)
		return MPI_SUCCESS;
	return PMPI_Cancel(e ? &e->real : request);
}

int MPI_Request_free(MPI_Request *request)
{
	struct entry *e = entry_of(*request);
	int rc = MPI_SUCCESS;

	if (replay_outcome.lossy) {
		lossy_free(request);
		return MPI_SUCCESS;
	}
	if (!e)
		return PMPI_Request_free(request);
	if (e->tracked) {
		if (e->own != e->real)
			PMPI_Request_free(&e->own);
		PMPI_Type_free(&e->datatype);
	}
	if (e->real != MPI_REQUEST_NULL)
		rc = PMPI_Request_free(&e->real);
	*request = MPI_REQUEST_NULL;
	return rc;
}

int MPI_Grequest_complete(MPI_Request request)
{
	if (replay_outcome.lossy)
		return MPI_SUCCESS;
	return PMPI_Grequest_complete(real_of(request));
}

/* ---- receives: from whom ---- */

/* A source from which no message comes: ourselves, or whoever is first on the other side. */
static int nobody(MPI_Comm comm)
{
	int inter = 0, rank = 0;

	PMPI_Comm_test_inter(comm, &inter);
	if (!inter)
		PMPI_Comm_rank(comm, &rank);
	return rank;
}

static int post(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *real,
                bool *received)
{
	struct fate fate = {FATE_NATURAL, source};

	if (replay_outcome.fate && !replay_outcome.natural)
		fate = replay_outcome.fate(replay_outcome.context, source);
	*received = fate.kind == FATE_SOURCE;
	if (fate.kind == FATE_SOURCE)
		source = fate.source;
	else if (fate.kind == FATE_NEVER && source != MPI_PROC_NULL)
		source = nobody(comm);
	return PMPI_Irecv(buf, count, datatype, source, tag, comm, real);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	MPI_Request real = MPI_REQUEST_NULL;
	bool received;
	int rc;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_made(source == MPI_PROC_NULL ? ENTRY_PLAIN : ENTRY_RECV, MPI_REQUEST_NULL, request);
	rc = post(buf, count, datatype, source, tag, comm, &real, &received);
	rc = outcome_made(rc, real, request);
	if (rc == MPI_SUCCESS && replay_outcome.entry)
		replay_outcome.entry->received = received;
	return rc;
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	MPI_Request real = MPI_REQUEST_NULL;
	struct entry *e = replay_outcome.entry;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_made_init(ENTRY_PERSISTENT_RECV, buf, count, datatype, source, tag, comm, request);
	int rc = PMPI_Recv_init(buf, count, datatype, source, tag, comm, &real);

	rc = outcome_made(rc, real, request);
	if (rc == MPI_SUCCESS && e && replay_outcome.fate && (replay_outcome.every || source == MPI_ANY_SOURCE)) {
		*e = (struct entry){.real = real,
		                    .tracked = true,
		                    .own = real,
		                    .buf = buf,
		                    .count = count,
		                    .source = source,
		                    .tag = tag,
		                    .comm = comm};
		PMPI_Type_dup(datatype, &e->datatype); /* the application may free its own */
	}
	return rc;
}

static int start_one(MPI_Request *request)
{
	struct entry *e = entry_of(*request);

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_start(request);
	if (!e)
		return PMPI_Start(request);
	if (e->tracked && !replay_outcome.natural) {
		bool received;
		int rc = post(e->buf, e->count, e->datatype, e->source, e->tag, e->comm, &e->real, &received);

		e->received = received;
		return rc;
	}
	return PMPI_Start(&e->real);
}

int MPI_Start(MPI_Request *request)
{
	return start_one(request);
}

int MPI_Startall(int n, MPI_Request requests[])
{
	for (int i = 0; i < n; i++) {
		int rc = start_one(&requests[i]);

		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

static int asked(int source)
{
	return source == MPI_ANY_SOURCE && !replay_outcome.natural ? replay_outcome.source : source;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	MPI_Request real;
	int rc;

	if (replay_outcome.lossy && replay_outcome.error && replay_outcome.error != MPI_ERR_TRUNCATE)
		return replay_outcome.error;
	if (replay_outcome.lossy && source != MPI_PROC_NULL) {
		lossy_receive(status, replay_outcome.sure);
		return replay_outcome.error;
	}
	if (!replay_outcome.polling || source == MPI_PROC_NULL)
		return PMPI_Recv(buf, count, datatype, asked(source), tag, comm, status);
	rc = PMPI_Irecv(buf, count, datatype, asked(source), tag, comm, &real);
	return rc == MPI_SUCCESS ? poll_wait(&real, status) : rc;
}

static int sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	MPI_Request real[2];
	int rc;

	if (replay_outcome.lossy && replay_outcome.error && replay_outcome.error != MPI_ERR_TRUNCATE)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		rc = lossy_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
		if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
			lossy_receive(status, replay_outcome.sure);
		return rc == MPI_SUCCESS ? replay_outcome.error : rc;
	}
	if (!replay_outcome.polling)
		return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
		                     asked(source), recvtag, comm, status);
	rc = PMPI_Irecv(recvbuf, recvcount, recvtype, asked(source), recvtag, comm, &real[0]);
	if (rc == MPI_SUCCESS)
		rc = PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &real[1]);
	if (rc == MPI_SUCCESS)
		rc = poll_wait(&real[1], MPI_STATUS_IGNORE);
	return rc == MPI_SUCCESS ? poll_wait(&real[0], status) : rc;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	return sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
	                comm, status);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.lossy || replay_outcome.polling)
		return sendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
		                status);
	return PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, asked(source), recvtag, comm, status);
}

/* Waits for the message of the recorded status. */
static int probe(MPI_Comm comm, MPI_Status *status)
{
	int flag = 0, rc = MPI_SUCCESS;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		lossy_await();
		return PMPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, status);
	}
	if (!replay_outcome.polling)
		return PMPI_Probe(replay_outcome.source, replay_outcome.tag, comm, status);
	while (rc == MPI_SUCCESS && !flag) {
		poll_turn();
		rc = PMPI_Iprobe(replay_outcome.source, replay_outcome.tag, comm, &flag, status);
	}
	return rc;
}

static int mprobe(MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	int flag = 0, rc = MPI_SUCCESS;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		lossy_await();
		return PMPI_Improbe(MPI_PROC_NULL, 0, comm, &flag, message, status);
	}
	if (!replay_outcome.polling)
		return PMPI_Mprobe(replay_outcome.source, replay_outcome.tag, comm, message, status);
	while (rc == MPI_SUCCESS && !flag) {
		poll_turn();
		rc = PMPI_Improbe(replay_outcome.source, replay_outcome.tag, comm, &flag, message, status);
	}
	return rc;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.natural && !replay_outcome.polling)
		return PMPI_Probe(source, tag, comm, status);
	if (replay_outcome.natural)
		replay_outcome.source = source, replay_outcome.tag = tag;
	return probe(comm, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	int rc;

	if (replay_outcome.natural)
		return PMPI_Iprobe(source, tag, comm, flag, status);
	*flag = replay_outcome.flag;
	if (*flag)
		return probe(comm, status);
	rc = PMPI_Iprobe(replay_outcome.lossy ? MPI_PROC_NULL : source, tag, comm, flag, MPI_STATUS_IGNORE);
	*flag = 0;
	return rc;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	if (replay_outcome.natural && !replay_outcome.polling)
		return PMPI_Mprobe(source, tag, comm, message, status);
	if (replay_outcome.natural)
		replay_outcome.source = source, replay_outcome.tag = tag;
	return mprobe(comm, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	int rc;

	if (replay_outcome.natural)
		return PMPI_Improbe(source, tag, comm, flag, message, status);
	*flag = replay_outcome.flag;
	if (*flag)
		return mprobe(comm, message, status);
	rc = PMPI_Iprobe(replay_outcome.lossy ? MPI_PROC_NULL : source, tag, comm, flag, MPI_STATUS_IGNORE);
	*flag = 0;
	return rc;
}

/* A tracer knows a tool behind it by this. */
int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}
