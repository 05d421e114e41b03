/* SPDX-License-Identifier: BSD-3-Clause
 * receive - MPI functions that receive and probe: the message that was received (outcome.h)
 */
#include "replay/lossy_messages.h"
#include "replay/poll.h"
#include "replay/requests.h"

/* A source from which no message comes: ourselves, or whoever is first on the other side. */
static int silent_source(MPI_Comm comm)
{
	int inter = 0, rank = 0;
	PMPI_Comm_test_inter(comm, &inter);
	if (!inter)
		PMPI_Comm_rank(comm, &rank);
	return rank;
}

static int post_receive(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Request *real, bool *received)
{
	struct match match = {MATCH_ANY, source};
	if (replay_outcome.match && !replay_outcome.by_library && source != MPI_PROC_NULL)
		match = replay_outcome.match(replay_outcome.context, source);
	*received = match.kind == MATCH_SOURCE;
	if (match.kind == MATCH_SOURCE)
		source = match.source;
	else if (match.kind == MATCH_NONE && source != MPI_PROC_NULL)
		source = silent_source(comm);
	return PMPI_Irecv(buf, count, datatype, source, tag, comm, real);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	MPI_Request real = MPI_REQUEST_NULL;
	bool received;
	int rc;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_request_made(source == MPI_PROC_NULL ? REQUEST_PLAIN : REQUEST_RECV, MPI_REQUEST_NULL,
		                          request);
	rc = post_receive(buf, count, datatype, source, tag, comm, &real, &received);
	rc = request_made(rc, real, request);
	if (rc == MPI_SUCCESS && replay_outcome.request) {
		replay_outcome.request->received = received;
		replay_outcome.request->from_nobody = source == MPI_PROC_NULL;
	}
	return rc;
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	MPI_Request real = MPI_REQUEST_NULL;
	struct request *own = replay_outcome.request;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_request_init(REQUEST_PERSISTENT_RECV, buf, count, datatype, source, tag, comm, request);
	int rc = PMPI_Recv_init(buf, count, datatype, source, tag, comm, &real);
	rc = request_made(rc, real, request);
	if (rc == MPI_SUCCESS && own)
		own->from_nobody = source == MPI_PROC_NULL;
	if (rc == MPI_SUCCESS && own && replay_outcome.match &&
	    (replay_outcome.match_all || source == MPI_ANY_SOURCE)) {
		*own = (struct request){.number = own->number,
		                        .real = real,
		                        .from_nobody = own->from_nobody,
		                        .tracked = true,
		                        .own = real,
		                        .buf = buf,
		                        .count = count,
		                        .source = source,
		                        .tag = tag,
		                        .comm = comm};
		PMPI_Type_dup(datatype, &own->datatype); /* the application may free its own */
	}
	return rc;
}

static int start_request(MPI_Request *request)
{
	struct request *own = request_of(*request);
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_request_start(request);
	if (!own)
		return PMPI_Start(request);
	if (own->tracked && !replay_outcome.by_library) {
		bool received;
		int rc = post_receive(own->buf, own->count, own->datatype, own->source, own->tag, own->comm, &own->real,
		                      &received);
		own->received = received;
		return rc;
	}
	return PMPI_Start(&own->real);
}

int MPI_Start(MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return start_request(request);
}

int MPI_Startall(int n, MPI_Request requests[])
{
	if (replay_outcome.refused)
		return outcome_refused();
	for (int i = 0; i < n; i++) {
		int rc = start_request(&requests[i]);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

static int recorded_source(int source)
{
	return source == MPI_ANY_SOURCE && !replay_outcome.by_library ? replay_outcome.source : source;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	MPI_Request real;
	int rc;
	if (replay_outcome.lossy && replay_outcome.error && replay_outcome.error != MPI_ERR_TRUNCATE)
		return replay_outcome.error;
	if (replay_outcome.lossy && source != MPI_PROC_NULL) {
		lossy_receive(status, replay_outcome.has_message);
		return replay_outcome.error;
	}
	if (!replay_outcome.polling || source == MPI_PROC_NULL)
		return PMPI_Recv(buf, count, datatype, recorded_source(source), tag, comm, status);
	rc = PMPI_Irecv(buf, count, datatype, recorded_source(source), tag, comm, &real);
	return rc == MPI_SUCCESS ? poll_wait(&real, status) : rc;
}

static int send_receive(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                        MPI_Status *status)
{
	MPI_Request real[2];
	int rc;
	if (replay_outcome.lossy && replay_outcome.error && replay_outcome.error != MPI_ERR_TRUNCATE)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		rc = lossy_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
		if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
			lossy_receive(status, replay_outcome.has_message);
		return rc == MPI_SUCCESS ? replay_outcome.error : rc;
	}
	if (!replay_outcome.polling)
		return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
		                     recorded_source(source), recvtag, comm, status);
	rc = PMPI_Irecv(recvbuf, recvcount, recvtype, recorded_source(source), recvtag, comm, &real[0]);
	if (rc == MPI_SUCCESS)
		rc = PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &real[1]);
	if (rc == MPI_SUCCESS)
		rc = poll_wait(&real[1], MPI_STATUS_IGNORE);
	return rc == MPI_SUCCESS ? poll_wait(&real[0], status) : rc;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return send_receive(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
	                    comm, status);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	if (replay_outcome.lossy || replay_outcome.polling)
		return send_receive(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm,
		                    status);
	return PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, recorded_source(source), recvtag, comm,
	                             status);
}

/* ---- probes ---- */

/* message: NULL for MPI_Iprobe. */
static int improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	return message ? PMPI_Improbe(source, tag, comm, flag, message, status)
	               : PMPI_Iprobe(source, tag, comm, flag, status);
}

/* Waits for the message of the recorded status; where the call is not guided, for any that fits. */
static int probe_recorded(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	int flag = 0, rc = MPI_SUCCESS;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		lossy_await();
		return improbe(MPI_PROC_NULL, 0, comm, &flag, message, status);
	}
	if (!replay_outcome.by_library) {
		source = replay_outcome.source;
		tag = replay_outcome.tag;
	}
	if (!replay_outcome.polling)
		return message ? PMPI_Mprobe(source, tag, comm, message, status)
		               : PMPI_Probe(source, tag, comm, status);
	while (rc == MPI_SUCCESS && !flag) {
		poll_turn();
		rc = improbe(source, tag, comm, &flag, message, status);
	}
	return rc;
}

static int test_probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	if (replay_outcome.by_library)
		return improbe(source, tag, comm, flag, message, status);
	*flag = replay_outcome.flag;
	if (*flag)
		return probe_recorded(source, tag, comm, message, status);
	int rc = PMPI_Iprobe(replay_outcome.lossy ? MPI_PROC_NULL : source, tag, comm, flag, MPI_STATUS_IGNORE);
	*flag = 0;
	return rc;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return probe_recorded(source, tag, comm, NULL, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return test_probe(source, tag, comm, flag, NULL, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return probe_recorded(source, tag, comm, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return test_probe(source, tag, comm, flag, message, status);
}

/* A tracer knows a tool behind it by this. */
int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}
