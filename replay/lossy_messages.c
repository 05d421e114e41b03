/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_messages - messages and requests of a trace without order (ScalaTrace II, ICS'13, section 3.5): drawn by the
 * senders, received by whoever they reach
 *
 * A rank's calls are in their order, but to whom it sent how much, and when, are drawn. So the receives that were
 * recorded need not fit the sends that are made. What is received follows the sends: whenever a rank waits for
 * anything, it takes in all messages that have come, in all communicators. A recorded receive, or the completion of
 * one, waits until all messages have come of which this rank knows that they were sent before (senders.h), and takes
 * one of those that have come. If there is none, but a message was received for certain (no MPI_PROC_NULL among the
 * recorded sources), it waits for one a while, and no longer; and not at all, if this rank knows of all messages: it
 * drew fewer than were received, and would take time that the application did not.
 *
 * Collective calls stay in the order of the trace, and nothing else waits for what may not come, so there is no
 * deadlock: a send waits for its receiver, if there are very many of them under way, in a loop that receives. A
 * communicator is freed, and MPI ends, when all messages in it are received: sends are synchronous, and the barrier
 * that follows the last one is one that can be asked (Hoefler et al., PPoPP 2010: NBX).
 */
#include "replay/lossy_messages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/poll.h"
#include "replay/request_number.h"

#define UNDER_WAY  1024      /* sends; more of them wait */
#define LOOK       16        /* sends, between which nothing is taken in */
#define UNFOLLOWED (1 << 28) /* in the tag of a message: its receiver does not know that it was sent */
#define KEPT       4096      /* messages that have come and were not asked for, of which the envelope is kept */

struct message {
	int source, tag;
	size_t bytes;
};

static struct {
	MPI_Request *requests; /* sends */
	MPI_Comm *comms;
	int count, capacity;
	MPI_Request *others; /* everything else that was begun: collectives, files */
	int other_count, other_capacity;
	struct known { /* a communicator in which messages may come */
		MPI_Comm comm;
		long long *const *by_source;
	} * known;
	int known_count, known_capacity;
	struct request **live; /* requests of the application, oldest first */
	int live_count, live_capacity;
	struct message kept[KEPT];
	/* of those; end - first may be more than KEPT: then the oldest envelopes are forgotten */
	unsigned long first, end;
	char *buffer;
	int size;
	long long sent, received;
} l;

static void *grow_array(void *array, int count, int *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? 2 * *capacity : 64;
	void *more = realloc(array, (size_t)*capacity * size);
	if (!more)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	return more;
}

void lossy_counts(long long *sent, long long *received)
{
	*sent = l.sent;
	*received = l.received;
}

void lossy_add_comm(MPI_Comm comm, long long *const *by_source)
{
	if (comm == MPI_COMM_NULL)
		return;
	for (int i = 0; i < l.known_count; i++)
		if (l.known[i].comm == comm)
			return;
	l.known = grow_array(l.known, l.known_count, &l.known_capacity, sizeof *l.known);
	l.known[l.known_count++] = (struct known){comm, by_source};
}

/* ---- messages ---- */

static void receive_message(const struct known *k, MPI_Message *message, const MPI_Status *status)
{
	MPI_Status s = *status;
	int bytes = 0;
	PMPI_Get_elements(&s, MPI_BYTE, &bytes);
	if (bytes > l.size) {
		free(l.buffer);
		l.size = 2 * bytes;
		l.buffer = malloc((size_t)l.size);
		if (!l.buffer)
			PMPI_Abort(MPI_COMM_WORLD, 1);
	}
	PMPI_Mrecv(l.buffer, bytes, MPI_BYTE, message, &s);
	l.kept[l.end++ % KEPT] = (struct message){status->MPI_SOURCE, status->MPI_TAG & ~UNFOLLOWED, (size_t)bytes};
	l.received++;
	if (k->by_source && k->by_source[status->MPI_SOURCE] && !(status->MPI_TAG & UNFOLLOWED))
		++*k->by_source[status->MPI_SOURCE];
}

static void test_all(void)
{
	int n = 0, done;
	for (int i = 0; i < l.count; i++) {
		PMPI_Test(&l.requests[i], &done, MPI_STATUS_IGNORE);
		if (done)
			continue;
		l.requests[n] = l.requests[i];
		l.comms[n++] = l.comms[i];
	}
	l.count = n;
	n = 0;
	for (int i = 0; i < l.other_count; i++) {
		PMPI_Test(&l.others[i], &done, MPI_STATUS_IGNORE);
		if (!done)
			l.others[n++] = l.others[i];
	}
	l.other_count = n;
}

void lossy_receive_pending(void)
{
	for (int i = 0; i < l.known_count; i++) {
		MPI_Message message;
		MPI_Status status;
		int flag;
		while (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, l.known[i].comm, &flag, &message, &status) ==
		               MPI_SUCCESS &&
		       flag)
			receive_message(&l.known[i], &message, &status);
	}
	test_all();
}

/* Messages go as bytes: whoever takes them in does not know the datatype. */
static int send_bytes(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	int rc;
	if (dest == MPI_PROC_NULL)
		return MPI_SUCCESS;
	l.requests = grow_array(l.requests, l.count, &l.capacity, sizeof *l.requests);
	l.comms = realloc(l.comms, (size_t)l.capacity * sizeof *l.comms);
	rc = PMPI_Issend(buf, count, datatype, dest, tag, comm, &l.requests[l.count]);
	if (rc != MPI_SUCCESS)
		return rc;
	l.comms[l.count++] = comm;
	l.sent++;
	if (l.sent % LOOK == 0)
		lossy_receive_pending();
	while (l.count >= UNDER_WAY)
		poll_turn();
	return MPI_SUCCESS;
}

int lossy_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	return send_bytes(buf, count, datatype, dest, tag < 0 ? 0 : tag & ~UNFOLLOWED, comm);
}

/* Can messages be marked? */
static int unfollowed_mark(void)
{
	static int flag;
	static int *highest;
	if (!flag)
		PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &flag);
	return flag && *highest >= 2 * UNFOLLOWED - 1 ? UNFOLLOWED : 0;
}

static void keep_until_complete(MPI_Request real)
{
	if (real == MPI_REQUEST_NULL)
		return;
	l.others = grow_array(l.others, l.other_count, &l.other_capacity, sizeof *l.others);
	l.others[l.other_count++] = real;
}

static long long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void lossy_await(void)
{
	long long released = replay_outcome.released;
	for (bool looked = false; replay_outcome.arrived && !replay_outcome.arrived(replay_outcome.senders);
	     looked = true) {
		if (!looked) {
			lossy_receive_pending();
			continue;
		}
		if (released != replay_outcome.released) {
			replay_outcome.stop_waiting(replay_outcome.senders);
			return;
		}
		poll_turn();
	}
}

/* Until there is a message, or the event has waited for one long enough. */
static bool wait_for_message(void)
{
	static long long event, until;
	if (replay_outcome.timeout > 0 && event != replay_outcome.progress + 1) {
		event = replay_outcome.progress + 1;
		until = now_ns() + replay_outcome.timeout;
	}
	while (l.first == l.end && replay_outcome.timeout > 0 && now_ns() < until)
		poll_turn();
	return l.first < l.end;
}

int lossy_receive(MPI_Status *status, bool sure)
{
	MPI_Status unused;
	bool come;
	lossy_await();
	if (l.first == l.end)
		lossy_receive_pending();
	come = sure ? wait_for_message() : l.first < l.end;
	if (status == MPI_STATUS_IGNORE)
		status = &unused;
	memset(status, 0, sizeof *status);
	status->MPI_SOURCE = MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	PMPI_Status_set_cancelled(status, 0);
	if (!come)
		return MPI_SUCCESS;
	if (l.end - l.first > KEPT)
		l.first = l.end - KEPT; /* more came than were asked for */
	assert(l.first < l.end && l.end - l.first <= KEPT);
	const struct message *m = &l.kept[l.first++ % KEPT];
	status->MPI_SOURCE = m->source;
	status->MPI_TAG = m->tag;
	PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)m->bytes);
	return MPI_SUCCESS;
}

/* ---- requests ---- */

struct request *lossy_request_create(void)
{
	struct request *e = request_create();
	if (!e)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	e->drawn = true;
	return e;
}

static void lossy_request_add(struct request *e)
{
	l.live = grow_array(l.live, l.live_count, &l.live_capacity, sizeof *l.live);
	l.live[l.live_count++] = e;
	e->live = true;
}

static void remove_request(struct request *e)
{
	if (!e->live)
		return;
	e->live = false;
	for (int i = 0; i < l.live_count; i++)
		if (l.live[i] == e) {
			memmove(&l.live[i], &l.live[i + 1], (size_t)(l.live_count - i - 1) * sizeof *l.live);
			l.live_count--;
			return;
		}
}

struct request *lossy_request_pick(int i, bool persistent, bool drawn)
{
	for (int k = 0; k < l.live_count; k++)
		if ((l.live[k]->kind >= REQUEST_PERSISTENT) == persistent && l.live[k]->drawn >= drawn && i-- == 0)
			return l.live[k];
	return NULL;
}

/* The request is complete, as far as the application is told. */
int lossy_request_complete(MPI_Request *request, MPI_Status *status)
{
	struct request *e = request_of(*request);
	int rc = MPI_SUCCESS;
	if (e && (e->kind == REQUEST_RECV || (e->kind == REQUEST_PERSISTENT_RECV && e->received))) {
		e->received = false;
		rc = lossy_receive(status, e->has_message);
	} else if (status != MPI_STATUS_IGNORE) {
		memset(status, 0, sizeof *status);
		status->MPI_SOURCE = MPI_ANY_SOURCE;
		status->MPI_TAG = MPI_ANY_TAG;
	}
	if (!e || e->kind >= REQUEST_PERSISTENT)
		return rc;
	lossy_request_free(request);
	return rc;
}

void lossy_request_free(MPI_Request *request)
{
	struct request *e = request_of(*request);
	*request = MPI_REQUEST_NULL;
	if (!e)
		return;
	remove_request(e);
	e->kind = REQUEST_PLAIN;
	if (e->drawn)
		request_destroy(e);
}

int lossy_request_start(MPI_Request *request)
{
	struct request *e = request_of(*request);
	if (!e)
		return MPI_SUCCESS;
	if (e->kind == REQUEST_PERSISTENT_SEND)
		return send_bytes(e->buf, e->count, e->datatype, e->source,
		                  (e->tag < 0 ? 0 : e->tag & ~UNFOLLOWED) | unfollowed_mark(), e->comm);
	e->received = e->kind == REQUEST_PERSISTENT_RECV; /* there is something to wait for */
	if (e->kind != REQUEST_PERSISTENT)
		return MPI_SUCCESS;
	int rc = PMPI_Start(&e->own);
	return rc == MPI_SUCCESS ? poll_wait(&e->own, MPI_STATUS_IGNORE) : rc;
}

int lossy_request_made(enum request_kind kind, MPI_Request real, MPI_Request *request)
{
	struct request *e = replay_outcome.request;
	if (!e)
		e = lossy_request_create();
	remove_request(e);
	*e = (struct request){.number = e->number,
	                      .real = MPI_REQUEST_NULL,
	                      .own = kind >= REQUEST_PERSISTENT ? real : MPI_REQUEST_NULL,
	                      .kind = kind,
	                      .drawn = e->drawn,
	                      .has_message = replay_outcome.has_message};
	if (kind < REQUEST_PERSISTENT)
		keep_until_complete(real);
	lossy_request_add(e);
	*request = request_handle(e);
	return MPI_SUCCESS;
}

int lossy_request_init(enum request_kind kind, const void *buf, int count, MPI_Datatype datatype, int peer, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
	lossy_request_made(kind, MPI_REQUEST_NULL, request);
	struct request *e = request_of(*request);
	e->buf = (void *)buf;
	e->count = count;
	e->source = peer;
	e->tag = tag;
	e->comm = comm;
	return PMPI_Type_dup(datatype, &e->datatype);
}

/* ---- the end ---- */

static int count_sends(MPI_Comm comm)
{
	int n = 0;
	for (int i = 0; i < l.count; i++)
		n += comm == MPI_COMM_NULL || l.comms[i] == comm;
	return n;
}

void lossy_drain(MPI_Comm comm)
{
	MPI_Request barrier;
	while (count_sends(comm) > 0)
		poll_turn();
	PMPI_Ibarrier(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, &barrier);
	poll_wait(&barrier, MPI_STATUS_IGNORE);
	lossy_receive_pending();
	for (int i = 0; i < l.known_count; i++)
		if (l.known[i].comm == comm)
			l.known[i--] = l.known[--l.known_count];
	if (comm == MPI_COMM_NULL)
		while (l.other_count > 0)
			poll_turn();
}
