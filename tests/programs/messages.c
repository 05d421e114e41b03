/* SPDX-License-Identifier: BSD-3-Clause
 * messages - a random program: in how many ways a message can be sent and received, on intra- and intercommunicators
 *
 *     messages [SEED [ROUNDS [PROGRAMS]]]      on two or more ranks; of so many seeds, one behind the other
 *
 * All ranks draw the same messages of each round from the seed: who sends to whom, where, with which tag. Each rank
 * draws for itself how it sends and receives them, in which order, and how it completes its requests. Nothing can
 * deadlock: sends never wait, receives that wait come behind all of them, and a receive takes from MPI_ANY_SOURCE, or
 * MPI_ANY_TAG, only what no other receive needs.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 7, MESSAGES = 14, ELEMENTS = 8, REQUESTS = 4 * MESSAGES };

enum wild { EXACT, ONE_SOURCE /* exact and any, mixed: they all come from one rank */, ANY_SOURCE, ANY_BOTH };

struct message {
	int comm, from, to, tag, count; /* ranks of MPI_COMM_WORLD */
	enum wild wild;
};

static uint64_t shared_state, own_state;
static int self, size;
static MPI_Comm comm[COMMS];
static int rank_in[COMMS], first[COMMS][2], step[COMMS], members[COMMS][2]; /* of both groups: first + i * step */
static MPI_Request request[REQUESTS];
static int requests;
static int out[ELEMENTS], in[REQUESTS][ELEMENTS];

static int draw(uint64_t *state, int n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((*state >> 33) % (uint64_t)n);
}

static int both(int n)
{
	return draw(&shared_state, n);
}

static int mine(int n)
{
	return draw(&own_state, n);
}

/* Where a rank stands in a communicator, as others call it; -1: they do not reach it from there. */
static int called(int c, int rank)
{
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < members[c][side]; i++)
			if (first[c][side] + i * step[c] == rank)
				return i;
	return -1;
}

static int side_of(int c, int rank)
{
	for (int i = 0; i < members[c][1]; i++)
		if (first[c][1] + i * step[c] == rank)
			return 1;
	return 0;
}

static void make_comms(void)
{
	MPI_Comm half;
	int odd = self % 2, odds = size / 2, evens = size - odds;
	comm[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
	MPI_Comm_split(MPI_COMM_WORLD, odd, self, &half);
	comm[2] = half; /* of two, each rank has one */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, odd ? 0 : 1, 5, &comm[3]);
	MPI_Comm_dup(comm[3], &comm[4]);
	MPI_Intercomm_merge(comm[4], odd, &comm[5]);
	/* leaders that meet in another communicator, and are not the first */
	MPI_Intercomm_create(half, odd ? odds - 1 : evens - 1, comm[1], odd ? 2 * (evens - 1) : 2 * odds - 1, 5,
	                     &comm[6]);
	for (int c = 0; c < COMMS; c++) {
		int whole = c < 2;
		MPI_Comm_rank(comm[c], &rank_in[c]);
		step[c] = whole ? 1 : 2;
		first[c][0] = 0;
		first[c][1] = 1;
		members[c][0] = whole ? size : evens;
		members[c][1] = whole ? 0 : odds;
	}
}

/* Can they talk there? */
static int talk(int c, int from, int to)
{
	int apart = side_of(c, from) != side_of(c, to);
	return c < 2 || c == 5 ? 1 : c == 2 ? !apart : apart;
}

/* The rank by which a rank of the communicator calls another one. */
static int peer(int c, int rank)
{
	return c == 5 && side_of(c, rank) ? members[c][0] + called(c, rank) : called(c, rank);
}

static void forget(int i)
{
	request[i] = request[--requests];
}

static void send(const struct message *m)
{
	int to = peer(m->comm, m->to);
	MPI_Comm c = comm[m->comm];
	MPI_Request *r = &request[requests];
	switch (m->to == self ? 1 : mine(7)) { /* a send to itself may wait, however short */
	case 0:
		MPI_Send(out, m->count, MPI_INT, to, m->tag, c); /* so short that it does not wait */
		return;
	case 1:
		MPI_Issend(out, m->count, MPI_INT, to, m->tag, c, r);
		break;
	case 2:
		MPI_Isend(out, m->count, MPI_INT, to, m->tag, c, r);
		MPI_Request_free(r);
		return;
	case 3:
		MPI_Send_init(out, m->count, MPI_INT, to, m->tag, c, r);
		MPI_Start(r);
		MPI_Wait(r, MPI_STATUS_IGNORE);
		MPI_Request_free(r);
		return;
	default:
		MPI_Isend(out, m->count, MPI_INT, to, m->tag, c, r);
	}
	requests++;
}

/* A receive of any message that is left: those with a wildcard are all alike, which of them comes is not known. */
static void receive(const struct message *m, int wait)
{
	MPI_Comm c = comm[m->comm];
	MPI_Status s;
	MPI_Message taken;
	MPI_Request *r = &request[requests];
	int any = m->wild == ANY_SOURCE || m->wild == ANY_BOTH || (m->wild == ONE_SOURCE && mine(2)),
	    from = any ? MPI_ANY_SOURCE : peer(m->comm, m->from), tag = m->wild == ANY_BOTH ? MPI_ANY_TAG : m->tag,
	    flag = 0;
	int *buffer = in[requests];
	if (!wait) {
		if (mine(4) == 0) {
			MPI_Recv_init(buffer, ELEMENTS, MPI_INT, from, tag, c, r);
			MPI_Start(r);
		} else {
			MPI_Irecv(buffer, ELEMENTS, MPI_INT, from, tag, c, r);
		}
		requests++;
		return;
	}
	switch (mine(6)) {
	case 0:
		MPI_Probe(from, tag, c, &s);
		MPI_Recv(buffer, ELEMENTS, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, c, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Mprobe(from, tag, c, &taken, &s);
		MPI_Mrecv(buffer, ELEMENTS, MPI_INT, &taken, MPI_STATUS_IGNORE);
		break;
	case 2:
		while (!flag)
			MPI_Improbe(from, tag, c, &flag, &taken, &s);
		MPI_Imrecv(buffer, ELEMENTS, MPI_INT, &taken, r);
		requests++;
		break;
	case 3:
		MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 3, buffer, ELEMENTS, MPI_INT, from, tag, c, &s);
		break;
	default:
		MPI_Recv(buffer, ELEMENTS, MPI_INT, from, tag, c, mine(2) ? &s : MPI_STATUS_IGNORE);
	}
}

static void never(void)
{
	MPI_Request r;
	MPI_Irecv(out, 1, MPI_INT, mine(2) ? MPI_ANY_SOURCE : 0, 99, MPI_COMM_WORLD, &r);
	MPI_Cancel(&r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Waits for all. Persistent requests that are complete stay, and count as none. */
static void complete(void)
{
	int index, flag, count, indices[REQUESTS];
	MPI_Status status[REQUESTS];
	switch (mine(7)) {
	case 0:
		MPI_Waitall(requests, request, mine(2) ? status : MPI_STATUSES_IGNORE);
		break;
	case 1:
		do
			MPI_Waitany(requests, request, &index, MPI_STATUS_IGNORE);
		while (index != MPI_UNDEFINED);
		break;
	case 2:
		do
			MPI_Waitsome(requests, request, &count, indices, status);
		while (count != MPI_UNDEFINED);
		break;
	case 3:
		do
			MPI_Testall(requests, request, &flag, status);
		while (!flag);
		break;
	case 4:
		do
			MPI_Testany(requests, request, &index, &flag, status);
		while (!flag || index != MPI_UNDEFINED);
		break;
	case 5:
		do
			MPI_Testsome(requests, request, &count, indices, status);
		while (count != MPI_UNDEFINED);
		break;
	default:
		while (requests > 0) {
			int i = mine(requests);
			if (mine(2)) {
				MPI_Wait(&request[i], status);
			} else {
				do
					MPI_Test(&request[i], &flag, status);
				while (!flag);
			}
			if (request[i] != MPI_REQUEST_NULL)
				MPI_Request_free(&request[i]);
			forget(i);
		}
	}
	while (requests > 0) {
		if (request[requests - 1] != MPI_REQUEST_NULL)
			MPI_Request_free(&request[requests - 1]);
		requests--;
	}
}

static void together(int c)
{
	int a[ELEMENTS] = {self}, b[ELEMENTS], what = both(4), inter = c == 3 || c == 4 || c == 6;
	int root = !inter ? 0 : side_of(c, self) ? 0 : rank_in[c] == 0 ? MPI_ROOT : MPI_PROC_NULL;
	MPI_Request r;
	switch (what) {
	case 0:
		MPI_Bcast(a, 3, MPI_INT, root, comm[c]);
		break;
	case 1:
		MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, comm[c]);
		break;
	case 2:
		MPI_Ibarrier(comm[c], &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Barrier(comm[c]);
	}
}

/* The messages of a round; those that one rank receives in one communicator are alike in how they may be received. */
static int draw_messages(struct message *list)
{
	enum wild wild[COMMS][64];
	int n = 0, want = 1 + both(MESSAGES);
	for (int c = 0; c < COMMS; c++)
		for (int r = 0; r < 64; r++)
			wild[c][r] = (enum wild)both(4);
	for (int tries = 0; n < want && tries < 8 * MESSAGES; tries++) {
		struct message m = {
			.comm = both(COMMS), .from = both(size), .to = both(size), .count = both(ELEMENTS + 1)};
		m.wild = wild[m.comm][m.to % 64];
		m.tag = m.wild == ANY_SOURCE ? 1 : both(3);
		if (m.wild == ONE_SOURCE) {
			m.from = (m.to + 1 + m.comm % 2) % size;
			m.tag = 2;
		}
		if (talk(m.comm, m.from, m.to))
			list[n++] = m;
	}
	return n;
}

static void run_round(void)
{
	struct message list[MESSAGES];
	int n = draw_messages(list), order[MESSAGES], posted[MESSAGES] = {0}, early = mine(4);
	/* those that do not wait first; with what is sent among them */
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = mine(i + 1), old = order[i];
		order[i] = order[k];
		order[k] = old;
	}
	for (int i = 0; i < n; i++)
		if (list[order[i]].to == self && mine(4) < early) {
			receive(&list[order[i]], 0);
			posted[order[i]] = 1;
		}
	for (int i = 0; i < n; i++)
		if (list[i].from == self)
			send(&list[i]);
	if (mine(4) == 0)
		never();
	for (int i = 0; i < n; i++)
		if (list[order[i]].to == self && !posted[order[i]])
			receive(&list[order[i]], mine(3) > 0);
	complete();
	if (both(2))
		together(both(COMMS));
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int rounds = argc > 2 ? atoi(argv[2]) : 20, programs = argc > 3 ? atoi(argv[3]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int program = 0; program < programs; program++) {
		shared_state = (seed + (uint64_t)program) * 2654435761U + 1;
		own_state = shared_state + 977U * (uint64_t)(self + 1);
		make_comms();
		for (int i = 0; i < rounds; i++)
			run_round();
		for (int c = COMMS - 1; c > 0; c--)
			MPI_Comm_free(&comm[c]);
	}
	MPI_Finalize();
	return 0;
}
