/* SPDX-License-Identifier: BSD-3-Clause
 * message - unit test of preload/message.c: a trace goes to another process whole, or both learn at once that it cannot
 *
 * The MPI library is three functions here. A small message is on its way at once, a large one when it is received, as
 * in any library.
 */
#include "preload/message.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/clock.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

enum { RANKS = 3, EAGER = 64, BOX = 4 << 20, SITES = 8000 };
#define LONG  UINT64_C(20000000000) /* ns: nobody has to wait so long */
#define SHORT UINT64_C(200000000)

/* From one rank to another: a message that is not received yet. */
struct box {
	_Atomic int full;
	int tag;
	size_t size;
	uint8_t bytes[BOX];
};

/* What a rank has to say of itself. */
struct outcome {
	int rv;
	uint64_t leaks;
	struct error error;
};

static struct shared {
	struct box box[RANKS][RANKS];
	struct outcome outcome[RANKS];
	_Atomic int wrong; /* messages that are longer than what they are received into, or empty */
} * shared;

static int here;

/* The library. */

struct mpi_calls real;
void *real_predefined[REAL_PREDEFINED_COUNT];

static struct request {
	bool sends;
	int peer, tag;
	void *bytes;
	size_t size;
} now; /* there is never more than one */

static int test_isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct box *box = &shared->box[here][to];
	(void)type, (void)comm;
	if (box->full || n > BOX)
		abort();
	now = (struct request){.sends = true, .peer = to, .size = (size_t)n};
	box->tag = tag;
	box->size = (size_t)n;
	memcpy(box->bytes, bytes, (size_t)n);
	box->full = 1;
	*request = (MPI_Request)(void *)&now;
	return MPI_SUCCESS;
}

static int test_irecv(void *bytes, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
	(void)type, (void)comm;
	now = (struct request){.peer = from, .tag = tag, .bytes = bytes, .size = (size_t)n};
	*request = (MPI_Request)(void *)&now;
	return MPI_SUCCESS;
}

static int test_test(MPI_Request *request, int *done, MPI_Status *status)
{
	struct box *box = &shared->box[now.sends ? here : now.peer][now.sends ? now.peer : here];
	(void)request;
	*done = now.sends ? now.size <= EAGER || !box->full : box->full && box->tag == now.tag;
	if (!*done || now.sends)
		return MPI_SUCCESS;
	status->MPI_SOURCE = now.peer;
	shared->wrong += box->size > now.size || box->size == 0;
	memcpy(now.bytes, box->bytes, box->size < now.size ? box->size : now.size);
	box->full = 0;
	return MPI_SUCCESS;
}

/* Ranks. */

static struct tree tree_of(uint64_t patience)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + patience;
	return (struct tree){.rank = here,
	                     .size = RANKS,
	                     .deadline = until,
	                     .last = until,
	                     .clocks_apart = here,
	                     .clocks_error = -1};
}

/* As preload/tree.c has it. */
bool tree_is_late(const struct tree *tree)
{
	return clock_ns(CLOCK_MONOTONIC) > tree->deadline;
}

/* A rank's trace, as it is when it is merged, with so many more call paths. */
static void make_trace(struct trace *t, uint32_t rank, uint32_t sites)
{
	struct arena a;
	struct sample x;
	if (arena_create(&a, NULL, 32 << 20, NULL) != 0)
		abort();
	sample_start(&x, &a, rank, RANKS, 0);
	for (uint32_t i = 0; i < sites; i++) {
		struct record_node node = {.offset = 0x9000 + 16 * i};
		uint32_t path = table_add(&a, &x.record->nodes, &node, sizeof node);
		ref site = record_new_site(&a, 0, path, 5);
		x.site[0] = arena_at(&a, struct site, site);
		x.site[0]->id = SAMPLE_SITES + i;
		record_set_roles(x.site[0], sample_schemas[0], strlen(sample_schemas[0]));
		table_add(&a, &x.record->sites, &site, sizeof site);
		for (int64_t k = 0; k < 3; k++)
			sample_event(&x, 0, (int64_t[]){i * k, 7, -1, k * rank, 9});
	}
	columns_free(&x.columns);
	if (trace_extract_packed(t, &a, NULL) != 0)
		abort();
	arena_close(&a);
}

enum behaviour { GIVES, HAS_FAILED, HAS_LITTLE, DIES };

/* Rank `rank`, in a process of its own, gives its trace to rank 0. */
static void start_giver(int rank, uint32_t sites, enum behaviour how)
{
	struct outcome *o = &shared->outcome[rank];
	fflush(stdout);
	if (fork() != 0)
		return;
	here = rank;
	struct tree tree = tree_of(LONG);
	struct budget budget = {.memory = UINT64_MAX, .steps = UINT64_MAX};
	struct trace t = {0};
	if (how == DIES) {
		int64_t letter[5] = {100000, 1, 100000, -1, -1};
		_exit(message_send(&tree, 0, TAG_SIZE, letter, sizeof letter));
	}
	*o = (struct outcome){.rv = 0};
	budget_begin(&budget);
	if (how != HAS_FAILED)
		make_trace(&t, (uint32_t)rank, sites);
	if (how == HAS_LITTLE)
		budget.memory = budget.used + 1000;
	o->rv = message_give(&tree, 0, how == HAS_FAILED ? NULL : &t, &o->error);
	trace_free(&t);
	budget_end(&budget);
	o->leaks = budget.used;
	_exit(0);
}

/* Rank 0 takes it into its own. */
static void take(int from, struct trace *t, uint64_t patience, struct outcome *o)
{
	struct tree tree = tree_of(patience);
	const struct clock_offset none = CLOCK_OFFSET_NONE;
	o->rv = message_take(&tree, from, t, &none, &o->error);
	if (o->rv == 0 && tree.clocks_apart != from)
		o->rv = 1;
}

static void end_givers(void)
{
	while (wait(NULL) > 0)
		;
}

static bool says(const struct outcome *o, const char *text)
{
	if (o->rv == -1 && strcmp(o->error.text, text) == 0)
		return true;
	printf("# %d: %s\n", o->rv, o->error.text);
	return false;
}

/* Tests. */

static void encode(struct trace *t, uint8_t **bytes, size_t *n)
{
	if (merge_finish(t, NULL) != 0 || trace_encode(t, NULL, 0, NULL, bytes, n) != 0)
		abort();
	trace_free(t);
}

static void test_whole(uint32_t sites, const char *what)
{
	struct trace there, merged, t;
	struct outcome o = {.rv = 0};
	uint8_t *bytes, *expected;
	size_t n, expected_n;
	make_trace(&merged, 0, sites);
	for (uint32_t rank = 1; rank < RANKS; rank++) {
		make_trace(&t, rank, sites);
		if (merge_take(&merged, &t, NULL) != 0)
			abort();
		trace_free(&t);
	}
	encode(&merged, &expected, &expected_n);
	make_trace(&there, 0, sites);
	for (int rank = 1; rank < RANKS && o.rv == 0; rank++) {
		start_giver(rank, sites, GIVES);
		take(rank, &there, LONG, &o);
		end_givers();
	}
	ok(o.rv == 0 && shared->outcome[1].rv == 0 && shared->outcome[2].rv == 0, "%s: a rank takes two others' traces",
	   what);
	encode(&there, &bytes, &n);
	ok(n == expected_n && memcmp(bytes, expected, n) == 0, "and they are there, byte for byte");
	free(bytes);
	free(expected);
}

/* Whatever there is memory for: the letter's tables, a piece, half of merging, or all. */
static void test_memory(void)
{
	struct outcome o;
	int refused = 0, half = 0, whole = 0, wrong = 0, steps = 0;
	for (uint64_t memory = 1000; !whole && memory < 1 << 30; memory += memory / 4, steps++) {
		struct budget budget = {.memory = UINT64_MAX, .steps = UINT64_MAX};
		struct trace t;
		budget_begin(&budget);
		make_trace(&t, 0, SITES);
		o = (struct outcome){.rv = 0};
		start_giver(1, SITES, GIVES);
		budget.memory = budget.used + memory;
		take(1, &t, LONG, &o);
		end_givers();
		trace_free(&t);
		budget_end(&budget);
		const struct outcome *giver = &shared->outcome[1];
		if (o.rv == 0)
			whole++;
		else if (giver->rv == 0)
			half++;
		else
			refused++;
		wrong += o.rv != 0 && giver->rv != 0 &&
		         !(says(&o, "no memory for the trace of rank 1") &&
		           says(giver, "rank 0 could not take the trace"));
		wrong += o.rv != 0 && giver->rv == 0 && !o.error.text[0];
		wrong += (budget.used != 0) + (giver->leaks != 0);
	}
	ok(wrong == 0 && whole && half && refused,
	   "in any memory, both know at once, and nothing leaks (%d of %d wrong; %d are refused, %d end half-way)",
	   wrong, steps, refused, half);
}

static void test_others(void)
{
	struct trace t;
	struct outcome o = {.rv = 0};
	struct budget budget = {.memory = 50000, .steps = UINT64_MAX};
	make_trace(&t, 0, 0);
	start_giver(1, SITES, GIVES);
	start_giver(2, SITES, GIVES);
	budget_begin(&budget);
	take(1, &t, LONG, &o);
	budget_end(&budget);
	take(2, NULL, LONG, &o);
	end_givers();
	ok(says(&o, "no memory for the trace of rank 1") &&
	           says(&shared->outcome[1], "rank 0 could not take the trace") &&
	           says(&shared->outcome[2], "rank 0 could not take the trace"),
	   "after a failure the next rank's trace is not awaited either, and the first reason stays");
	trace_free(&t);
}

static void test_failed(enum behaviour how, const char *giver, uint64_t patience, const char *taker, const char *what)
{
	struct trace t;
	struct outcome o = {.rv = 0};
	make_trace(&t, 0, 0);
	start_giver(1, 10, how);
	take(1, &t, patience, &o);
	end_givers();
	ok(says(&o, taker) && (!giver || says(&shared->outcome[1], giver)), "%s", what);
	trace_free(&t);
	shared->box[0][1].full = shared->box[1][0].full = 0;
}

/* Nobody takes. */
static void test_alone(void)
{
	struct tree tree = tree_of(SHORT);
	struct trace t;
	struct outcome o = {.rv = 0};
	make_trace(&t, 0, 10);
	o.rv = message_give(&tree, 1, &t, &o.error);
	ok(says(&o, "rank 1 did not take the trace within the deadline"),
	   "nobody who answers the letter: until the deadline");
	trace_free(&t);
}

int main(void)
{
	real.MPI_Isend = test_isend;
	real.MPI_Irecv = test_irecv;
	real.MPI_Test = test_test;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	test_whole(0, "a few sites");
	test_whole(SITES, "sites in several pieces");
	test_memory();
	test_others();
	test_failed(HAS_FAILED, "", LONG, "rank 1 could not merge", "a rank that has failed says so");
	test_failed(HAS_LITTLE, "no memory to encode the trace", LONG, "rank 1 could not merge",
	            "a rank without memory for its own says so");
	test_failed(DIES, NULL, SHORT, "no trace came from rank 1 within the deadline",
	            "a rank that dies behind its letter is awaited until the deadline");
	ok(shared->wrong == 0, "no message is empty, or longer than what it is received into");
	test_alone();
	return tap_end();
}
