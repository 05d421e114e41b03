/* SPDX-License-Identifier: BSD-3-Clause
 * tree - merges the traces of all ranks at MPI_Finalize
 *
 * In a binomial tree, number i receives from i + 1, i + 2, i + 4, ... as long as those bits are not set in i, and then
 * sends to i without its lowest set bit. The ranks of a node are numbered among themselves (they find each other's
 * arenas in the node's folder), and so are the nodes' leaders, by a prefix sum over all ranks. A leader learns which
 * rank its parent is from a directory that is spread over the ranks: rank i knows leader i.
 *
 * Where the times of all events are recorded, the clock of a leader is compared with that of its parent, before its
 * trace is sent. So all times are brought to the clock of rank 0's node, step by step.
 *
 * Nothing blocks (preload/message.h).
 */
#include "preload/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/attribute.h"
#include "preload/clock.h"
#include "preload/meeting.h"
#include "preload/message.h"
#include "preload/neighbours.h"
#include "preload/node_clock.h"
#include "trace/base/path.h"

/* ns that ranks wait for others of which they cannot know whether they are traced at all: those of other nodes. */
#define PATIENCE UINT64_C(1000000000)
/* ns behind the deadline in which ranks that are here tell each other that it is over. On a busy machine that takes its
 * time; only the dead take longer. */
#define LAST UINT64_C(60000000000)

/* Messages there and back; the first ones find the other side asleep. */
#define CLOCK_ROUNDS 16

static _Atomic bool partitioned;

void tree_partitioned(void)
{
	partitioned = true;
}

/* Meeting. */

/* Which ranks of this node are here, without a word to any other: those that have just come from MPI_Init may not have
 * named their arenas yet. Returns 0 if none is known to be missing; *all: these are all there are. */
static int see_node(const struct tree *tree, uint64_t end, bool *all, struct error *error)
{
	const int expected = tree->expected;
	struct neighbours node;

	for (;; nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL)) {
		int rv = neighbours_look(&node, tree->folder, tree->world, tree->host, tree->size), count = node.count,
		    early = node.early;
		free(node.ranks);
		if (rv != 0)
			return error_set(error, "%s: the arenas of this node's ranks cannot be listed", tree->folder);
		*all = count == tree->size;
		if (count >= expected)
			return 0;
		if (count + early < expected || clock_ns(CLOCK_MONOTONIC) > end)
			return error_set(error, "%d of the %d ranks of this node are not traced", expected - count,
			                 expected);
	}
}

/* Of each number the least on all ranks. Returns 0, or -1: not all came, or an error. */
static int reduce(const int64_t *in, int64_t *out, int n, uint64_t end)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int64_t *buffer = malloc(2 * (size_t)n * sizeof *buffer); /* the library's as long as it is not done */
	if (!buffer)
		return -1;
	memcpy(buffer, in, (size_t)n * sizeof *in);
	if (real.MPI_Iallreduce(buffer, buffer + n, n, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
	    message_wait(end, &request, MPI_STATUS_IGNORE) != 0)
		return -1;
	memcpy(out, buffer + n, (size_t)n * sizeof *out);
	free(buffer);
	return 0;
}

/* All ranks are of this node. */
static int meet_here(struct tree *tree, uint64_t begin, bool ready, struct error *error)
{
	char path[1200];
	/* the last fifth is for merging */
	const uint64_t most = begin < tree->deadline ? (tree->deadline - begin) / 5 * 4 : 0;
	snprintf(path, sizeof path, "%s/" NEIGHBOURS_ARENA, tree->folder, (unsigned long long)tree->world, 0U,
	         tree->host);
	return meeting_hold(path, (uint32_t)tree->size, begin + most, ready, &tree->first_choice, error);
}

/* Some may be of other nodes. Who came first has waited longest, and may have gone just before the last one came: by
 * how long each has waited all decide alike. */
static int meet_nodes(struct tree *tree, uint64_t begin, bool ready, struct error *error)
{
	enum { READY, CHOICE, ALL };
	const uint64_t most = begin < tree->deadline ? (tree->deadline - begin) / 5 * 4 : 0,
		       patience = most < PATIENCE ? most : PATIENCE;
	int64_t all[ALL], waited;
	if (!real_sends_by(ABI_DROPS_OPEN) || (ABI_LATE_DUPLICATES && partitioned))
		return -1; /* and nothing is said of it: this is how it is meant to be */
	if (reduce((int64_t[ALL]){ready, tree->choice}, all, ALL, begin + patience / 4 * 5) != 0)
		return meeting_lacks(patience, error);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	if (reduce((int64_t[]){-(int64_t)(now - begin)}, &waited, 1, now + patience / 4) != 0 ||
	    -waited > (int64_t)patience)
		return error_set(error, "the ranks came to MPI_Finalize too far apart");
	tree->first_choice = all[CHOICE];
	if (!all[READY])
		return error_set(error,
		                 ready ? "another rank cannot merge its trace" : "this rank cannot merge its trace");
	return 0;
}

/* The communicators whose handlers are called for what has no communicator of its own, and for what is said before all
 * have met: a lost peer must not end the job here. */
static MPI_Comm quiet_comm(int i)
{
	return i == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

static void make_quiet(struct tree *tree)
{
	for (; tree->quiet < 2; tree->quiet++) {
		if (real.MPI_Comm_get_errhandler(quiet_comm(tree->quiet), &tree->handlers[tree->quiet]) != MPI_SUCCESS)
			return;
		real.MPI_Comm_set_errhandler(quiet_comm(tree->quiet), MPI_ERRORS_RETURN);
	}
}

/* All are here. */
static int make_communicator(struct tree *tree, struct error *error)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Comm *comm = malloc(sizeof *comm); /* is written when the request completes, whenever that is */
	if (!comm)
		return error_set(error, "no memory");
	/* MPICH has some 2,000, and finds out in the call or later */
	if (real.MPI_Comm_idup(MPI_COMM_WORLD, comm, &request) != MPI_SUCCESS ||
	    message_wait(tree->last, &request, MPI_STATUS_IGNORE) != 0)
		return error_set(error, "%s",
		                 clock_ns(CLOCK_MONOTONIC) > tree->last
		                         ? "no communicator within the deadline"
		                         : "the MPI library makes no further communicator, in which to merge");
	tree->comm = *comm;
	free(comm);
	real.MPI_Comm_set_errhandler(tree->comm, MPI_ERRORS_RETURN);
	return 0;
}

int tree_meet(struct tree *tree, bool ready, struct error *error)
{
	bool all_here = false;
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	tree->comm = MPI_COMM_NULL;
	tree->first_choice = tree->choice;
	if (tree->size == 1)
		return ready ? 0 : -1;
	if (see_node(tree, begin + PATIENCE, &all_here, error) != 0)
		return -1;
	make_quiet(tree);
	if (tree->quiet < 2)
		return error_set(error, "the error handlers of MPI_COMM_WORLD and MPI_COMM_SELF cannot be had");
	if (attribute_is_copied(MPI_COMM_WORLD)) {
		error_set(error, "MPI_COMM_WORLD has attributes that the application copies");
		ready = false;
	}
	if (ABI_LATE_DUPLICATES && partitioned)
		ready = false;
	tree->last = all_here ? tree->deadline + LAST : tree->deadline;
	if ((all_here ? meet_here : meet_nodes)(tree, begin, ready, error) != 0)
		return -1;
	return make_communicator(tree, error);
}

/* Who is where. */

/* How many leaders have lower ranks, and how many there are. */
static int number_leaders(const struct tree *tree, bool leader, int *before, int *all)
{
	MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int *buffer = calloc(3, sizeof *buffer);
	if (!buffer)
		return -1;
	buffer[0] = leader;
	int rv = real.MPI_Iexscan(buffer, buffer + 1, 1, MPI_INT, MPI_SUM, tree->comm, &request[0]);
	if (rv == MPI_SUCCESS)
		rv = real.MPI_Iallreduce(buffer, buffer + 2, 1, MPI_INT, MPI_SUM, tree->comm, &request[1]);
	/* what has begun is waited for, also where the other has not: nothing of ours is open when MPI is finalised */
	for (int i = 0; i < 2; i++)
		if (request[i] != MPI_REQUEST_NULL && message_wait(tree->last, &request[i], MPI_STATUS_IGNORE) != 0)
			return -1; /* the buffer is the library's */
	if (rv != MPI_SUCCESS) {
		free(buffer);
		return -1;
	}
	*before = tree->rank == 0 ? 0 : buffer[1];
	*all = buffer[2];
	free(buffer);
	return 0;
}

/* The bits k for which i + 2^k is a child of i in a tree of n. */
static int child_bits(int i, int n, int bits[32])
{
	int count = 0;
	for (int bit = 0; bit < 31 && !(i >> bit & 1) && 1 << bit < n; bit++)
		if (i + (1 << bit) < n)
			bits[count++] = bit;
	return count;
}

/* This rank's page of the directory: who leader number `rank` is, and the answers to those who ask for it. */
static int serve_directory(const struct tree *tree, int leaders)
{
	int leader, who, source, bits[32];
	if (tree->rank >= leaders)
		return 0;
	if (message_receive_number(tree, MPI_ANY_SOURCE, TAG_LEADER, &leader, &source) != 0)
		return -1;
	for (int n = child_bits(tree->rank, leaders, bits); n > 0; n--)
		if (message_receive_number(tree, MPI_ANY_SOURCE, TAG_QUESTION, &who, &source) != 0 ||
		    message_send_number(tree, source, TAG_REPLY, leader) != 0)
			return -1;
	return 0;
}

/* Leader number `number` of so many: its parent, and its children among the leaders. */
static int find_leaders(struct tree *tree, bool leader, int number, int leaders)
{
	int bits[32], source;
	if (leaders < 2)
		return 0;
	/* small messages to ranks that are here: they are on their way at once, whether they are received yet or not */
	if (leader && message_send_number(tree, number, TAG_LEADER, tree->rank) != 0)
		return -1;
	if (leader && number > 0 && message_send_number(tree, number & (number - 1), TAG_QUESTION, tree->rank) != 0)
		return -1;
	if (serve_directory(tree, leaders) != 0)
		return -1;
	if (!leader)
		return 0;
	if (number > 0) {
		int bit = __builtin_ctz((unsigned)number);
		if (message_receive_number(tree, number & (number - 1), TAG_REPLY, &tree->parent, &source) != 0 ||
		    tree->parent < 0 || tree->parent >= tree->size ||
		    message_send_number(tree, tree->parent, TAG_HELLO + bit, tree->timed) != 0)
			return -1;
		tree->away = true;
	}
	for (int i = 0, n = child_bits(number, leaders, bits); i < n; i++) {
		int timed;
		if (message_receive_number(tree, MPI_ANY_SOURCE, TAG_HELLO + bits[i], &timed, &source) != 0)
			return -1;
		tree->compared[tree->child_count] = timed;
		tree->children[tree->child_count++] = source;
	}
	return 0;
}

static int find_places(struct tree *tree)
{
	struct neighbours node;
	int at = 0, number, leaders, bits[32], rv = -1;
	tree->parent = -1;
	tree->child_count = 0;
	if (neighbours_look(&node, tree->folder, tree->world, tree->host, tree->size) != 0)
		goto done;
	while (at < node.count && node.ranks[at] != tree->rank)
		at++;
	if (at == node.count) /* its arena cannot be seen: it is alone */
		at = node.count = 0;
	for (int i = 0, n = child_bits(at, node.count, bits); i < n; i++)
		tree->children[tree->child_count++] = node.ranks[at + (1 << bits[i])];
	if (at > 0)
		tree->parent = node.ranks[at & (at - 1)];
	if (number_leaders(tree, at == 0, &number, &leaders) == 0)
		rv = find_leaders(tree, at == 0, number, leaders);
done:
	free(node.ranks);
	return rv;
}

/* Merging. */

static int ask_clock(const struct tree *tree, int below, struct clock_offset *o)
{
	for (int round = 0; round < CLOCK_ROUNDS; round++) {
		int source;
		struct clock_reading sent = node_clock_read(), there;
		if (message_send(tree, below, TAG_CLOCK, &sent, sizeof sent) != 0 ||
		    message_receive(tree, below, TAG_CLOCK, &there, sizeof there, &source) != 0)
			return -1;
		clock_offset_add(o, sent, there, node_clock_read());
	}
	return 0;
}

static int answer_clock(const struct tree *tree, int above)
{
	for (int round = 0; round < CLOCK_ROUNDS; round++) {
		int source;
		struct clock_reading now;
		if (message_receive(tree, above, TAG_CLOCK, &now, sizeof now, &source) != 0)
			return -1;
		now = node_clock_read();
		if (message_send(tree, above, TAG_CLOCK, &now, sizeof now) != 0)
			return -1;
	}
	return 0;
}

/* How far the clock of a child is from ours, if it is that of another node and matters. */
static int compare_clocks(struct tree *tree, int child, struct clock_offset *o)
{
	*o = CLOCK_OFFSET_NONE;
	if (!tree->compared[child])
		return 0;
	if (ask_clock(tree, tree->children[child], o) != 0)
		return -1;
	int64_t apart = o->events < 0 ? -o->events : o->events;
	tree->clocks_apart = apart > tree->clocks_apart ? apart : tree->clocks_apart;
	tree->clocks_error = o->way / 2 > tree->clocks_error ? o->way / 2 : tree->clocks_error;
	return 0;
}

bool tree_is_late(const struct tree *tree)
{
	return clock_ns(CLOCK_MONOTONIC) > tree->deadline;
}

int tree_merge(struct tree *tree, struct trace *t, struct error *error)
{
	int rv = 0;
	tree->clocks_apart = tree->clocks_error = -1;
	if (tree->size == 1)
		return 0;
	tree->timed = t->timing_count > 0;
	if (find_places(tree) != 0)
		return error_set(error, "the ranks did not find each other within the deadline");
	for (int i = 0; i < tree->child_count; i++) {
		struct clock_offset o;
		if (rv == 0 && tree_is_late(tree))
			rv = error_set(error, "the ranks were not merged within the deadline");
		if (compare_clocks(tree, i, &o) != 0)
			rv = error_set(error, "rank %d did not tell its clock within the deadline", tree->children[i]);
		else if (message_take(tree, tree->children[i], rv == 0 ? t : NULL, &o, error) != 0)
			rv = -1;
	}
	if (tree->parent < 0)
		return rv;
	if (tree->away && tree->timed && answer_clock(tree, tree->parent) != 0)
		rv = error_set(error, "rank %d did not ask for the clock within the deadline", tree->parent);
	if (message_give(tree, tree->parent, rv == 0 ? t : NULL, error) != 0)
		rv = -1;
	trace_free(t);
	return rv;
}

int tree_settle(struct tree *tree, bool kept)
{
	int answer = kept, source;
	if (tree->size == 1)
		return kept ? 0 : -1;
	if (tree->parent >= 0 && message_receive_number(tree, tree->parent, TAG_ANSWER, &answer, &source) != 0)
		return -1;
	for (int i = tree->child_count; i-- > 0;)
		if (message_send_number(tree, tree->children[i], TAG_ANSWER, answer) != 0)
			break; /* those keep their arenas; their ranks are in the trace, too: who collects sees that */
	return answer ? 0 : -1;
}

void tree_end(struct tree *tree, bool good)
{
	if (good && tree->comm != MPI_COMM_NULL)
		real.MPI_Comm_free(&tree->comm); /* after a failure somebody may still have a message under way on it */
	while (tree->quiet > 0) {
		tree->quiet--;
		real.MPI_Comm_set_errhandler(quiet_comm(tree->quiet), tree->handlers[tree->quiet]);
		real.MPI_Errhandler_free(&tree->handlers[tree->quiet]);
	}
}
