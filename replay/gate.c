/* SPDX-License-Identifier: BSD-3-Clause
 * gate - calls that wait for other ranks and have no non-blocking form: they are made when all whom they wait for are
 * there (outcome.h)
 *
 * Only where waiting must come to an end (replay_outcome.polling). A window and a file have a duplicate of their
 * communicator, on which their members wait for each other; where only some are concerned, they send each other empty
 * messages.
 */
#include "replay/outcome.h"

#include <stdlib.h>

enum token { TOKEN_POSTED = 1, TOKEN_COMPLETE, TOKEN_CREATE, TOKEN_LEADER };

/* ---- windows and files, and their communicators ---- */

struct kept {
	struct kept *next;
	void *handle;
	MPI_Comm comm;
	MPI_Group targets, origins; /* of MPI_Win_start and MPI_Win_post */
};
static struct kept *all;

static struct kept *find(void *handle)
{
	struct kept *k = all;

	while (k && k->handle != handle)
		k = k->next;
	return k;
}

void gate_keep(void *handle, MPI_Comm comm)
{
	struct kept *k = replay_outcome.polling ? calloc(1, sizeof *k) : NULL;

	if (!k)
		return;
	PMPI_Comm_dup(comm, &k->comm);
	k->handle = handle;
	k->targets = k->origins = MPI_GROUP_NULL;
	k->next = all;
	all = k;
}

void gate_pass(void *handle)
{
	struct kept *k = find(handle);

	if (k)
		poll_gate(k->comm);
}

void gate_drop(void *handle)
{
	struct kept **at = &all;

	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	struct kept *k = *at;

	if (!k)
		return;
	*at = k->next;
	PMPI_Comm_free(&k->comm);
	free(k);
}

int MPI_File_close(MPI_File *fh)
{
	void *handle = *fh;

	if (replay_outcome.error)
		return replay_outcome.error;
	gate_pass(handle);
	int rc = PMPI_File_close(fh);

	gate_drop(handle);
	return rc;
}

int MPI_Win_fence(int assert, MPI_Win win)
{
	gate_pass(win);
	return PMPI_Win_fence(assert, win);
}

/* Whoever held an exclusive lock when its events ended would keep it. Nothing that is in a window matters here. */
int MPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
	return PMPI_Win_lock(replay_outcome.polling ? MPI_LOCK_SHARED : type, rank, assert, win);
}

/* ---- messages between some ---- */

static void tell(MPI_Comm comm, int rank, enum token token)
{
	MPI_Request request;

	if (PMPI_Isend(NULL, 0, MPI_BYTE, rank, token, comm, &request) == MPI_SUCCESS)
		PMPI_Request_free(&request);
}

static void await(MPI_Comm comm, int rank, enum token token)
{
	MPI_Request request;

	if (PMPI_Irecv(NULL, 0, MPI_BYTE, rank, token, comm, &request) == MPI_SUCCESS)
		poll_wait(&request, MPI_STATUS_IGNORE);
}

/* With each member of a group, in a communicator that has them all. */
static void with_all(MPI_Group group, MPI_Comm comm, enum token token,
                     void (*what)(MPI_Comm comm, int rank, enum token token))
{
	MPI_Group members;
	int n = 0;

	if (group == MPI_GROUP_NULL)
		return;
	PMPI_Group_size(group, &n);
	int *own = malloc(2 * ((size_t)n + 1) * sizeof *own), *there = own + n;

	if (!own)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < n; i++)
		own[i] = i;
	PMPI_Comm_group(comm, &members);
	PMPI_Group_translate_ranks(group, n, own, members, there);
	PMPI_Group_free(&members);
	for (int i = 0; i < n; i++)
		if (there[i] != MPI_UNDEFINED)
			what(comm, there[i], token);
	free(own);
}

static void remember(MPI_Group *place, MPI_Group group)
{
	if (*place != MPI_GROUP_NULL)
		PMPI_Group_free(place);
	PMPI_Group_union(group, MPI_GROUP_EMPTY, place);
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	int rc = PMPI_Win_post(group, assert, win);
	struct kept *k = find(win);

	if (k && rc == MPI_SUCCESS) {
		remember(&k->origins, group);
		with_all(group, k->comm, TOKEN_POSTED, tell);
	}
	return rc;
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	struct kept *k = find(win);

	if (k && !replay_outcome.natural) {
		remember(&k->targets, group);
		with_all(group, k->comm, TOKEN_POSTED, await);
	}
	return PMPI_Win_start(group, assert, win);
}

int MPI_Win_complete(MPI_Win win)
{
	int rc = PMPI_Win_complete(win);
	struct kept *k = find(win);

	if (k && rc == MPI_SUCCESS)
		with_all(k->targets, k->comm, TOKEN_COMPLETE, tell);
	return rc;
}

int gate_win_wait(MPI_Win win)
{
	struct kept *k = find(win);

	if (k && !replay_outcome.natural)
		with_all(k->origins, k->comm, TOKEN_COMPLETE, await);
	return PMPI_Win_wait(win);
}

int MPI_Win_wait(MPI_Win win)
{
	return gate_win_wait(win);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	int rank = MPI_UNDEFINED;

	PMPI_Group_rank(group, &rank);
	if (replay_outcome.polling && !replay_outcome.natural && rank != MPI_UNDEFINED) {
		with_all(group, replay_outcome.own, TOKEN_CREATE, tell);
		with_all(group, replay_outcome.own, TOKEN_CREATE, await);
	}
	/* what goes to and fro in it must not be taken for a message (lossy_service): not in a communicator of the
	 * application */
	return PMPI_Comm_create_group(replay_outcome.lossy && !replay_outcome.natural ? replay_outcome.own : comm,
	                              group, tag, newcomm);
}

/* First all of each side are there, then each side's leader knows it of the other's, then all know that. */
int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote, int tag, MPI_Comm *newcomm)
{
	int rank, inter = 0, there = MPI_UNDEFINED;

	if (replay_outcome.polling && !replay_outcome.natural) {
		poll_gate(local);
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
			with_all(one, replay_outcome.own, TOKEN_LEADER, tell);
			with_all(one, replay_outcome.own, TOKEN_LEADER, await);
			PMPI_Group_free(&one);
			PMPI_Group_free(&group);
			PMPI_Group_free(&world);
		}
		poll_gate(local);
	}
	if (replay_outcome.lossy && there != MPI_UNDEFINED) /* as above */
		return PMPI_Intercomm_create(local, leader, replay_outcome.own, there, tag, newcomm);
	return PMPI_Intercomm_create(local, leader, peers, remote, tag, newcomm);
}

/* ---- buffered sends: to detach the buffer is to wait for their receivers ---- */

int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	MPI_Request real;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy)
		return lossy_send(buf, count, datatype, dest, tag, comm);
	if (!replay_outcome.polling || replay_outcome.natural)
		return PMPI_Bsend(buf, count, datatype, dest, tag, comm);
	int rc = PMPI_Isend(buf, count, datatype, dest, tag, comm, &real);

	return rc == MPI_SUCCESS ? PMPI_Request_free(&real) : rc;
}

int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
	MPI_Request real = MPI_REQUEST_NULL;

	if (replay_outcome.lossy && replay_outcome.error)
		return replay_outcome.error;
	if (replay_outcome.lossy) {
		int rc = lossy_send(buf, count, datatype, dest, tag, comm);

		return rc == MPI_SUCCESS ? lossy_made(ENTRY_PLAIN, MPI_REQUEST_NULL, request) : rc;
	}
	if (!replay_outcome.polling || replay_outcome.natural)
		return outcome_made(PMPI_Ibsend(buf, count, datatype, dest, tag, comm, &real), real, request);
	int rc = PMPI_Isend(buf, count, datatype, dest, tag, comm, &real);

	if (rc == MPI_SUCCESS)
		PMPI_Request_free(&real);
	return outcome_made(rc, MPI_REQUEST_NULL, request);
}

static bool attached; /* while polling, the first buffer stays */

int MPI_Buffer_attach(void *buffer, int size)
{
	if (!replay_outcome.polling)
		return PMPI_Buffer_attach(buffer, size);
	if (attached)
		return MPI_SUCCESS;
	attached = true;
	return PMPI_Buffer_attach(buffer, size);
}

int MPI_Buffer_detach(void *address, int *size)
{
	return attached ? MPI_SUCCESS : PMPI_Buffer_detach(address, size);
}
