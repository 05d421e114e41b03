/* SPDX-License-Identifier: BSD-3-Clause
 * message - what ranks say to each other in MPI_Finalize: numbers, and traces
 */
#include "preload/message.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "merge/merge.h"
#include "preload/clock.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/model/packed.h"

/* What the tables of one rank may take. More is refused, and the arenas are left to be merged when the step has ended:
 * merging takes several times the size in memory, and that is the job's memory here. */
#define MAX_MESSAGE (INT64_C(32) << 20)

int message_wait(uint64_t end, MPI_Request *request, MPI_Status *status)
{
	for (unsigned spins = 0;; spins++) {
		int done = 0;
		if (real.MPI_Test(request, &done, status) != MPI_SUCCESS)
			return -1;
		if (done)
			return 0;
		if (clock_ns(CLOCK_MONOTONIC) > end)
			return -1;
		if (spins < 200)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = spins < 2000 ? 20000 : 1000000}, NULL);
	}
}

/* The same with bytes that are the library's until it is done. */
static int send_bytes(const struct tree *tree, int to, int tag, const void *bytes, size_t size)
{
	MPI_Request request = MPI_REQUEST_NULL;
	return real.MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, tree->comm, &request) == MPI_SUCCESS
	               ? message_wait(tree->last, &request, MPI_STATUS_IGNORE)
	               : -1;
}

static int receive_bytes(const struct tree *tree, int from, int tag, void *bytes, size_t size, int *source)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	if (real.MPI_Irecv(bytes, (int)size, MPI_BYTE, from, tag, tree->comm, &request) != MPI_SUCCESS ||
	    message_wait(tree->last, &request, &status) != 0)
		return -1;
	*source = status.MPI_SOURCE;
	return 0;
}

int message_send(const struct tree *tree, int to, int tag, const void *bytes, size_t size)
{
	void *buffer = malloc(size);
	if (!buffer)
		return -1;
	memcpy(buffer, bytes, size);
	if (send_bytes(tree, to, tag, buffer, size) != 0)
		return -1;
	free(buffer);
	return 0;
}

int message_receive(const struct tree *tree, int from, int tag, void *bytes, size_t size, int *source)
{
	void *buffer = malloc(size);
	if (!buffer || receive_bytes(tree, from, tag, buffer, size, source) != 0)
		return -1;
	memcpy(bytes, buffer, size);
	free(buffer);
	return 0;
}

int message_send_number(const struct tree *tree, int to, int tag, int value)
{
	return message_send(tree, to, tag, &value, sizeof value);
}

int message_receive_number(const struct tree *tree, int from, int tag, int *value, int *source)
{
	return message_receive(tree, from, tag, value, sizeof *value, source);
}

/* Traces. */

/* What comes before a trace: how long its tables are (0: the rank has failed); in how many pieces its sites come, and
 * how long the longest is; and how far clocks in it were apart, and give or take how much, ns. */
struct letter {
	int64_t tables, pieces, longest, apart, error;
};

/* How many pieces there are, and how long the longest is. */
static void count_pieces(const struct trace *t, struct letter *letter)
{
	for (uint32_t i = 0; i < t->site_count;) {
		size_t size;
		i = packed_piece(t, i, &size);
		letter->pieces += size > 0;
		if ((int64_t)size > letter->longest)
			letter->longest = (int64_t)size;
	}
}

/* The sites; `room` is for a piece. */
static int give_sites(const struct tree *tree, int to, struct trace *t, uint8_t *room)
{
	for (uint32_t i = 0, end; i < t->site_count; i = end) {
		size_t size;
		end = packed_piece(t, i, &size);
		packed_piece_take(t, i, end, room);
		if (size > 0 && send_bytes(tree, to, TAG_SITES, room, size) != 0)
			return -1;
	}
	return 0;
}

int message_give(const struct tree *tree, int to, struct trace *t, struct error *error)
{
	uint8_t *tables = NULL, *room = NULL;
	size_t size = 0;
	struct letter letter = {.apart = tree->clocks_apart, .error = tree->clocks_error};
	int source, taken = 0, rv = t ? 0 : -1;
	if (t)
		count_pieces(t, &letter);
	if (t && (trace_encode_tables(t, &tables, &size) != 0 || size > MAX_MESSAGE ||
	          !(room = budget_malloc((size_t)letter.longest + 1))))
		rv = error_set(error, "no memory to encode the trace");
	letter.tables = rv == 0 ? (int64_t)size : 0;
	if (message_send(tree, to, TAG_SIZE, &letter, sizeof letter) != 0 ||
	    (rv == 0 && message_receive_number(tree, to, TAG_ROOM, &taken, &source) != 0))
		rv = error_set(error, "rank %d did not take the trace within the deadline", to);
	else if (rv == 0 && !taken)
		rv = error_set(error, "rank %d could not take the trace", to);
	else if (rv == 0 && (send_bytes(tree, to, TAG_TRACE, tables, size) != 0 || give_sites(tree, to, t, room) != 0))
		return error_set(error, "rank %d did not take the trace within the deadline", to);
	budget_free(tables);
	budget_free(room);
	return rv;
}

/* Sites that come. */
struct pieces {
	const struct tree *tree;
	int from;
	int64_t left, longest;
	uint8_t *room;
	uint32_t end; /* the first site that is not here yet */
};

static int receive_piece(struct pieces *p)
{
	int source;
	p->left--;
	return receive_bytes(p->tree, p->from, TAG_SITES, p->room, (size_t)p->longest, &source);
}

/* A packed_more. */
static int next_piece(void *context, struct trace *from, uint32_t i)
{
	struct pieces *p = context;
	size_t size;
	if (i < p->end)
		return 0;
	p->end = packed_piece(from, i, &size);
	if (tree_is_late(p->tree)) /* who sends is not left with what is under way: all pieces are taken */
		return -1;
	if (size > 0 && ((int64_t)size > p->longest || p->left == 0 || receive_piece(p) != 0))
		return -1;
	packed_piece_lend(from, i, p->end, p->room);
	return 0;
}

/* Frees the tables. */
static int merge_pieces(struct trace *t, uint8_t *tables, size_t size, struct pieces *p, const struct clock_offset *o,
                        struct error *error)
{
	struct container *c = NULL;
	struct trace part = {.size = 0};
	int rv = container_parse_take(&c, "part", tables, size, NULL, error) == 0 &&
	                         trace_decode_packed(&part, c, error) == 0
	                 ? 0
	                 : -1;
	container_destroy(c);
	if (rv == 0) {
		clock_offset_apply(o, &part);
		rv = merge_take_more(t, &part, next_piece, p, error);
	}
	trace_free(&part);
	return rv;
}

/* Is there memory for what the letter announces? Tells who sent it, who sends nothing else if not. */
static int make_room(struct pieces *p, const struct letter *letter, bool wanted, uint8_t **tables, struct error *error)
{
	*tables = wanted ? budget_malloc((size_t)letter->tables) : NULL;
	p->room = *tables ? budget_malloc((size_t)letter->longest + 1) : NULL;
	if (message_send_number(p->tree, p->from, TAG_ROOM, p->room != NULL) != 0)
		error_set(error, "rank %d did not hear within the deadline that its trace is awaited", p->from);
	else if (p->room)
		return 0;
	else if (wanted) /* else an error is why */
		error_set(error, "no memory for the trace of rank %d", p->from);
	budget_free(*tables);
	budget_free(p->room);
	return -1;
}

int message_take(struct tree *tree, int from, struct trace *t, const struct clock_offset *o, struct error *error)
{
	struct letter letter;
	uint8_t *tables;
	int source, rv;
	if (message_receive(tree, from, TAG_SIZE, &letter, sizeof letter, &source) != 0)
		return error_set(error, "no trace came from rank %d within the deadline", from);
	tree->clocks_apart = letter.apart > tree->clocks_apart ? letter.apart : tree->clocks_apart;
	tree->clocks_error = letter.error > tree->clocks_error ? letter.error : tree->clocks_error;
	if (letter.tables <= 0)
		return error_set(error, "rank %d could not merge", from);
	struct pieces p = {tree, from, letter.pieces, letter.longest, NULL, 0};
	if (make_room(&p, &letter, t != NULL, &tables, error) != 0)
		return -1;
	if (receive_bytes(tree, from, TAG_TRACE, tables, (size_t)letter.tables, &source) != 0)
		return error_set(error, "no trace came from rank %d within the deadline", from);
	rv = merge_pieces(t, tables, (size_t)letter.tables, &p, o, error);
	while (p.left > 0) /* it waits until they are taken */
		if (receive_piece(&p) != 0)
			return error_set(error, "no trace came from rank %d within the deadline", from);
	budget_free(p.room);
	return rv;
}
