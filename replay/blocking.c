/* SPDX-License-Identifier: BSD-3-Clause
 * blocking - calls that wait for other ranks and have no non-blocking form
 *
 * Only where waiting must come to an end (replay_outcome.polling). A window and a file have a duplicate of their
 * communicator, on which their members wait for each other; where only some are concerned, they send each other empty
 * messages.
 */
#include "replay/blocking.h"

#include <stdlib.h>

#include "replay/lossy_messages.h"
#include "replay/poll.h"
#include "replay/requests.h"

enum token { TOKEN_POSTED = 1, TOKEN_COMPLETE, TOKEN_CREATE, TOKEN_LEADER };

/* ---- windows and files, and their communicators ---- */

struct shared {
	struct shared *next;
	void *handle;
	MPI_Comm comm;
	MPI_Group targets, origins; /* of MPI_Win_start and MPI_Win_post */
};
static struct shared *all;

static struct shared *find_shared(void *handle)
{
	struct shared *k = all;
	while (k && k->handle != handle)
		k = k->next;
	return k;
}

void blocking_register(void *handle, MPI_Comm comm)
{
	struct shared *k = replay_outcome.polling ? calloc(1, sizeof *k) : NULL;
	if (!k)
		return;
	PMPI_Comm_dup(comm, &k->comm);
	k->handle = handle;
	k->targets = k->origins = MPI_GROUP_NULL;
	k->next = all;
	all = k;
}

void blocking_enter(void *handle)
{
	struct shared *k = find_shared(handle);
	if (k)
		poll_barrier(k->comm);
}

void blocking_unregister(void *handle)
{
	struct shared **at = &all;
	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	struct shared *k = *at;
	if (!k)
		return;
	*at = k->next;
	PMPI_Comm_free(&k->comm);
	free(k);
}

int MPI_File_close(MPI_File *fh)
{
	if (replay_outcome.refused)
		return outcome_refused();
	void *handle = HANDLE_BITS(*fh);
	if (replay_outcome.error)
		return replay_outcome.error;
	blocking_enter(handle);
	int rc = PMPI_File_close(fh);
	blocking_unregister(handle);
	return rc;
}

int MPI_Win_fence(int assert, MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	blocking_enter(HANDLE_BITS(win));
	return PMPI_Win_fence(assert, win);
}

/* Whoever held an exclusive lock when its events ended would keep it. Nothing that is in a window matters here. */
int MPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return PMPI_Win_lock(replay_outcome.polling ? MPI_LOCK_SHARED : type, rank, assert, win);
}

/* ---- messages between some ---- */

static void send_token(MPI_Comm comm, int rank, enum token token)
{
	MPI_Request request;
	if (PMPI_Isend(NULL, 0, MPI_BYTE, rank, token, comm, &request) == MPI_SUCCESS)
		PMPI_Request_free(&request);
}

static void receive_token(MPI_Comm comm, int rank, enum token token)
{
	MPI_Request request;
	if (PMPI_Irecv(NULL, 0, MPI_BYTE, rank, token, comm, &request) == MPI_SUCCESS)
		poll_wait(&request, MPI_STATUS_IGNORE);
}

/* With each member of a group, in a communicator that has them all. */
static void with_group(MPI_Group group, MPI_Comm comm, enum token token,
                       void (*what)(MPI_Comm comm, int rank, enum token token))
{
	MPI_Group members;
	int n = 0;
	if (group == MPI_GROUP_NULL)
		return;
	PMPI_Group_size(group, &n);
	int *own = malloc(((size_t)n + 1) * sizeof *own), *there = malloc(((size_t)n + 1) * sizeof *there);
	if (!own || !there)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < n; i++)
		own[i] = i;
	PMPI_Comm_group(comm, &members);
	PMPI_Group_translate_ranks(group, n, own, members, there);
	PMPI_Group_free(&members);
	for (int i = 0; i < n; i++)
		if (there[i] != MPI_UNDEFINED)
			what(comm, there[i], token);
	free(there);
	free(own);
}

static void keep_group(MPI_Group *place, MPI_Group group)
{
	if (*place != MPI_GROUP_NULL)
		PMPI_Group_free(place);
	PMPI_Group_union(group, MPI_GROUP_EMPTY, place);
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rc = PMPI_Win_post(group, assert, win);
	struct shared *k = find_shared(HANDLE_BITS(win));
	if (k && rc == MPI_SUCCESS) {
		keep_group(&k->origins, group);
		with_group(group, k->comm, TOKEN_POSTED, send_token);
	}
	return rc;
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	struct shared *k = find_shared(HANDLE_BITS(win));
	if (k && !replay_outcome.by_library) {
		keep_group(&k->targets, group);
		with_group(group, k->comm, TOKEN_POSTED, receive_token);
	}
	return PMPI_Win_start(group, assert, win);
}

int MPI_Win_complete(MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rc = PMPI_Win_complete(win);
	struct shared *k = find_shared(HANDLE_BITS(win));
	if (k && rc == MPI_SUCCESS)
		with_group(k->targets, k->comm, TOKEN_COMPLETE, send_token);
	return rc;
}

int blocking_win_wait(MPI_Win win)
{
	struct shared *k = find_shared(HANDLE_BITS(win));
	if (k && !replay_outcome.by_library)
		with_group(k->origins, k->comm, TOKEN_COMPLETE, receive_token);
	return PMPI_Win_wait(win);
}

int MPI_Win_wait(MPI_Win win)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return blocking_win_wait(win);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rank = MPI_UNDEFINED;
	PMPI_Group_rank(group, &rank);
	if (replay_outcome.polling && !replay_outcome.by_library && rank != MPI_UNDEFINED) {
		with_group(group, replay_outcome.own, TOKEN_CREATE, send_token);
		with_group(group, replay_outcome.own, TOKEN_CREATE, receive_token);
	}
	/* what goes to and fro in it must not be taken for a message (lossy_receive_pending): not in a communicator
	 * of the application */
	return PMPI_Comm_create_group(replay_outcome.lossy && !replay_outcome.by_library ? replay_outcome.own : comm,
	                              group, tag, newcomm);
}

/* First all of each side are there, then each side's leader knows it of the other's, then all know that. */
int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote, int tag, MPI_Comm *newcomm)
{
	if (replay_outcome.refused)
		return outcome_refused();
	int rank, inter = 0, there = MPI_UNDEFINED;
	if (replay_outcome.polling && !replay_outcome.by_library) {
		poll_barrier(local);
		PMPI_Comm_rank(local, &rank);
		if (rank == leader) {
			MPI_Group group, one, world;
			PMPI_Comm_test_inter(peers, &inter);
			if (inter)
				PMPI_Comm_remote_group(peers, &group);
			else
				PMPI_Comm_group(peers, &group);
			PMPI_Group_incl(group, 1, &remote, &one);
			PMPI_Comm_group(MPI_COMM_WORLD, &world);
			PMPI_Group_translate_ranks(group, 1, &remote, world, &there);
			with_group(one, replay_outcome.own, TOKEN_LEADER, send_token);
			with_group(one, replay_outcome.own, TOKEN_LEADER, receive_token);
			PMPI_Group_free(&one);
			PMPI_Group_free(&group);
			PMPI_Group_free(&world);
		}
		poll_barrier(local);
	}
	if (replay_outcome.lossy && there != MPI_UNDEFINED) /* as above */
		return PMPI_Intercomm_create(local, leader, replay_outcome.own, there, tag, newcomm);
	return PMPI_Intercomm_create(local, leader, peers, remote, tag, newcomm);
}

/* ---- buffered sends: to detach the buffer is to wait for their receivers ---- */

int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	if (replay_outcome.refused)
		return outcome_refused();
	MPI_Request real;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_send(buf, count, datatype, dest, tag, comm);
	if (!replay_outcome.polling || replay_outcome.by_library)
		return PMPI_Bsend(buf, count, datatype, dest, tag, comm);
	int rc = PMPI_Isend(buf, count, datatype, dest, tag, comm, &real);
	return rc == MPI_SUCCESS ? PMPI_Request_free(&real) : rc;
}

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	if (replay_outcome.refused)
		return outcome_refused();
	MPI_Request real = MPI_REQUEST_NULL;
	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		int rc = lossy_send(buf, count, datatype, dest, tag, comm);
		return rc == MPI_SUCCESS ? lossy_request_made(REQUEST_PLAIN, MPI_REQUEST_NULL, request) : rc;
	}
	if (!replay_outcome.polling || replay_outcome.by_library)
		return request_made(PMPI_Ibsend(buf, count, datatype, dest, tag, comm, &real), real, request);
	int rc = PMPI_Isend(buf, count, datatype, dest, tag, comm, &real);
	if (rc == MPI_SUCCESS)
		PMPI_Request_free(&real);
	return request_made(rc, MPI_REQUEST_NULL, request);
}

static bool attached; /* while polling, the first buffer stays */

int MPI_Buffer_attach(void *buffer, int size)
{
	if (replay_outcome.refused)
		return outcome_refused();
	if (!replay_outcome.polling)
		return PMPI_Buffer_attach(buffer, size);
	if (attached)
		return MPI_SUCCESS;
	attached = true;
	return PMPI_Buffer_attach(buffer, size);
}

int MPI_Buffer_detach(void *address, int *size)
{
	if (replay_outcome.refused)
		return outcome_refused();
	return attached ? MPI_SUCCESS : PMPI_Buffer_detach(address, size);
}
