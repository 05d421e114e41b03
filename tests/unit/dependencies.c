/* SPDX-License-Identifier: BSD-3-Clause
 * dependencies - unit test of trace/read/dependencies.c: what keeps an event from being next, for each kind of object
 */
#include "trace/read/dependencies.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { DUP, BARRIER, FREE, CONTIGUOUS, SEND, FREE_TYPE, FREE_FAILED, GROUP, FREE_GROUP, COMPARE, UNKNOWN };
enum { ISEND = UNKNOWN + 1, WAIT, CHECK, WAITANY, WAITSOME, WAITALL, INIT, START, FREE_REQUEST, CALLS };

static const char *const texts[CALLS] = {
	[DUP] = "MPI_Comm_dup comm:c newcomm:c",
	[BARRIER] = "MPI_Barrier comm:c",
	[FREE] = "MPI_Comm_free comm:c",
	[CONTIGUOUS] = "MPI_Type_contiguous count:i newtype:t",
	[SEND] = "MPI_Send count:i datatype:t",
	[FREE_TYPE] = "MPI_Type_free datatype:t",
	[FREE_FAILED] = "MPI_Type_free datatype:t error:i",
	[GROUP] = "MPI_Comm_group comm:c group:g",
	[FREE_GROUP] = "MPI_Group_free group:g",
	[COMPARE] = "MPI_Group_size group:g size:i",
	[ISEND] = "MPI_Isend dest:p request:r",
	[WAIT] = "MPI_Wait request:r",
	[CHECK] = "MPI_Test request:r flag:i",
	[WAITANY] = "MPI_Waitany requests:[r index:i",
	[WAITSOME] = "MPI_Waitsome requests:[r indices:[i",
	[WAITALL] = "MPI_Waitall requests:[r",
	[INIT] = "MPI_Barrier_init comm:c request:r",
	[START] = "MPI_Start request:r",
	[FREE_REQUEST] = "MPI_Request_free request:r",
	[UNKNOWN] = "Unknown a:i c:c .d:c",
};

/* Two ranks: threads 0, 1 and 2 of rank 0 are streams 0, 2 and 4. Arrays are numbers in the pool. */
enum { T0 = 0, T1 = 2, T2 = 4, LEFT = DEPENDENCY_NONE, NUMBER = DEPENDENCY_NUMBER, CERTAIN = DEPENDENCY_CERTAIN };
enum { REQUESTS, SOME, NOWHERE, EMPTY };
#define WORLD (VALUE_CONSTANT + 1)
#define OF_T0 (INT64_C(1) << 32) /* a request of thread 0, for others */

static struct trace t;
static struct schema schemas[CALLS];

struct step {
	int call;
	uint32_t stream;
	int64_t values[3];
	int need; /* enum dependency, as expected; without any it is then taken */
};

static struct event event_of(const struct step *s)
{
	struct event e = {.schema = &schemas[s->call]};
	memcpy(e.values, s->values, sizeof s->values);
	return e;
}

#define SAYS(title, ...) says(title, (const struct step[]){__VA_ARGS__, {.call = CALLS}})

static void says(const char *title, const struct step *steps)
{
	struct dependencies *d = dependencies_create(&t);
	size_t wrong = 0, n = 0;
	while (steps[n].call < CALLS)
		n++;
	for (size_t i = n; i-- > 0;) { /* the order does not matter */
		struct event e = event_of(&steps[i]);
		if (steps[i].need == LEFT && dependencies_learn(d, steps[i].stream, &e) != 0)
			abort();
	}
	for (size_t i = 0; i < n; i++) {
		struct event e = event_of(&steps[i]);
		int need = (int)dependencies_of(d, steps[i].stream, &e);
		if (need != steps[i].need)
			printf("# step %zu: %d, not %d\n", i, need, steps[i].need);
		wrong += need != steps[i].need;
		if (steps[i].need == LEFT)
			dependencies_take(d, steps[i].stream, &e);
	}
	ok(wrong == 0, "%s", title);
	dependencies_destroy(d);
}

static void odd_values(void)
{
	SAYS("what nobody made may be used, and ended", {BARRIER, T0, {9}, LEFT}, {FREE, T1, {9}, LEFT},
	     {WAIT, T0, {3}, LEFT}, {WAIT, T1, {OF_T0 | 3}, LEFT}, {WAITALL, T0, {REQUESTS}, LEFT});
	SAYS("constants, and values that are not known or below 0, are no objects", {BARRIER, T1, {VALUE_LOSSY}, LEFT},
	     {BARRIER, T1, {-1}, LEFT}, {BARRIER, T1, {WORLD}, LEFT}, {FREE, T0, {VALUE_NONE}, LEFT},
	     {DUP, T0, {WORLD, WORLD}, LEFT}, {DUP, T0, {-1, VALUE_LOSSY}, LEFT}, {DUP, T0, {WORLD, -1}, LEFT},
	     {WAITALL, T0, {VALUE_LOSSY}, LEFT}, {WAITALL, T0, {WORLD}, LEFT}, {WAITALL, T0, {EMPTY}, LEFT});
	SAYS("an index or indices out of range complete nothing", {ISEND, T0, {0, 1}, LEFT}, {ISEND, T0, {0, 2}, LEFT},
	     {WAITANY, T0, {REQUESTS, 3}, LEFT}, {WAITANY, T0, {REQUESTS, -1}, LEFT},
	     {WAITANY, T0, {REQUESTS, WORLD}, LEFT}, {WAITSOME, T0, {REQUESTS, NOWHERE}, LEFT},
	     {WAITSOME, T0, {REQUESTS, VALUE_LOSSY}, LEFT}, {ISEND, T0, {0, 1}, NUMBER}, {ISEND, T0, {0, 2}, NUMBER});
	SAYS("an unknown function uses the handles that it names", {UNKNOWN, T1, {5, 5, 6}, CERTAIN},
	     {DUP, T0, {WORLD, 5}, LEFT}, {UNKNOWN, T1, {5, 5, 6}, LEFT}, {DUP, T0, {WORLD, 6}, LEFT});
	dependencies_destroy(NULL);
}

static void object_lives(void)
{
	SAYS("a communicator: made, used by all, freed", {BARRIER, T1, {5}, CERTAIN}, {FREE, T0, {5}, CERTAIN},
	     {DUP, T1, {5, 6}, CERTAIN}, {DUP, T0, {WORLD, 5}, LEFT}, {FREE, T0, {5}, CERTAIN},
	     {BARRIER, T1, {5}, LEFT}, {FREE, T0, {5}, CERTAIN}, {DUP, T1, {5, 6}, LEFT}, {FREE, T0, {5}, LEFT},
	     {BARRIER, T1, {5}, CERTAIN}, {FREE, T0, {6}, LEFT});
	SAYS("a datatype: its number comes again", {SEND, T1, {1, 3}, NUMBER}, {CONTIGUOUS, T0, {8, 3}, LEFT},
	     {SEND, T1, {1, 3}, LEFT}, {CONTIGUOUS, T0, {8, 3}, NUMBER}, {FREE_FAILED, T0, {3, 1}, LEFT},
	     {SEND, T1, {1, 3}, LEFT}, {FREE_TYPE, T0, {3}, LEFT}, {SEND, T1, {1, 3}, NUMBER},
	     {CONTIGUOUS, T0, {9, 3}, LEFT}, {SEND, T1, {1, 3}, LEFT});
	SAYS("or another thread makes it as well", {CONTIGUOUS, T0, {8, 3}, LEFT}, {CONTIGUOUS, T1, {8, 3}, LEFT},
	     {FREE_TYPE, T1, {3}, LEFT}, {SEND, T0, {1, 3}, LEFT}, {FREE_TYPE, T0, {3}, LEFT},
	     {SEND, T0, {1, 3}, NUMBER});
	SAYS("a group that was made twice is freed twice", {GROUP, T0, {WORLD, 7}, LEFT}, {GROUP, T0, {WORLD, 7}, LEFT},
	     {FREE_GROUP, T0, {7}, LEFT}, {COMPARE, T1, {7, 2}, LEFT}, {FREE_GROUP, T0, {7}, LEFT},
	     {COMPARE, T1, {7, 2}, NUMBER});
	SAYS("kinds have numbers of their own", {CONTIGUOUS, T0, {8, 3}, LEFT}, {BARRIER, T0, {3}, CERTAIN},
	     {COMPARE, T0, {3, 3}, NUMBER}, {DUP, T0, {WORLD, 3}, LEFT}, {GROUP, T1, {3, 3}, LEFT});
}

static void request_lives(void)
{
	SAYS("a request: each thread has numbers of its own", {WAIT, T0, {1}, NUMBER}, {WAIT, T1, {OF_T0 | 1}, NUMBER},
	     {ISEND, T1, {0, 1}, LEFT}, {WAIT, T0, {1}, NUMBER}, {ISEND, T0, {0, 1}, LEFT}, {ISEND, T0, {0, 1}, NUMBER},
	     {WAIT, T2, {OF_T0 | 1}, LEFT}, {WAIT, T0, {1}, NUMBER}, {WAIT, T1, {1}, LEFT}, {ISEND, T0, {0, 1}, LEFT});
	SAYS("MPI_Test completes it when it says so", {ISEND, T0, {0, 1}, LEFT}, {CHECK, T0, {1, 0}, LEFT},
	     {CHECK, T0, {1, VALUE_LOSSY}, LEFT}, {CHECK, T0, {1, 1}, LEFT}, {CHECK, T0, {1, 1}, NUMBER});
	SAYS("MPI_Waitany the one of its index", {WAITANY, T0, {SOME, 1}, NUMBER}, {ISEND, T0, {0, 1}, LEFT},
	     {WAITANY, T0, {SOME, 1}, NUMBER}, {ISEND, T0, {0, 2}, LEFT}, {WAITANY, T0, {SOME, 1}, LEFT},
	     {WAIT, T0, {2}, NUMBER}, {WAIT, T0, {1}, LEFT});
	SAYS("MPI_Waitsome those of its indices", {ISEND, T0, {0, 1}, LEFT}, {ISEND, T0, {0, 2}, LEFT},
	     {WAITSOME, T0, {REQUESTS, SOME}, LEFT}, {WAIT, T0, {2}, NUMBER}, {WAIT, T0, {1}, LEFT});
	SAYS("MPI_Waitall all", {ISEND, T0, {0, 1}, LEFT}, {ISEND, T0, {0, 2}, LEFT}, {WAITALL, T0, {REQUESTS}, LEFT},
	     {WAIT, T0, {1}, NUMBER}, {WAIT, T0, {2}, NUMBER});
	SAYS("a persistent one lives until it is freed", {START, T1, {OF_T0 | 4}, NUMBER}, {INIT, T0, {WORLD, 4}, LEFT},
	     {START, T1, {OF_T0 | 4}, LEFT}, {WAIT, T0, {4}, LEFT}, {START, T0, {4}, LEFT}, {WAIT, T0, {4}, LEFT},
	     {INIT, T0, {WORLD, 4}, NUMBER}, {FREE_REQUEST, T0, {4}, LEFT}, {START, T0, {4}, NUMBER},
	     {ISEND, T0, {0, 4}, LEFT}, {WAIT, T0, {4}, LEFT}, {WAIT, T0, {4}, NUMBER});
}

static void ends_and_makes(void)
{
	size_t ends = 0, makes = 0, wrong = 0;
	for (int i = 0; i < CALLS; i++) {
		struct event e = {.schema = &schemas[i]};
		bool expected = i == FREE || i == FREE_TYPE || i == FREE_GROUP;
		ends += dependencies_ends(&e);
		wrong += dependencies_ends(&e) != expected;
		for (size_t k = 0; k < e.schema->count; k++) {
			expected = k == 1 && (i == DUP || i == CONTIGUOUS || i == GROUP || i == ISEND || i == INIT);
			makes += dependencies_makes(&e, k);
			wrong += dependencies_makes(&e, k) != expected;
		}
	}
	ok(wrong == 0, "%zu calls free an object (no request, none that failed), %zu make one", ends, makes);
}

/* Learns of 300 objects. */
static int learn_many(void *context)
{
	struct dependencies *d = dependencies_create(context);
	int rv = d ? 0 : -1;
	for (int64_t i = 0; rv == 0 && i < 150; i++) {
		struct event dup = event_of(&(struct step){DUP, T0, {i, i + 1}, LEFT}),
			     send = event_of(&(struct step){ISEND, T1, {0, i}, LEFT});
		rv = dependencies_learn(d, T0, &dup) != 0 || dependencies_learn(d, T1, &send) != 0 ? -1 : 0;
	}
	for (int64_t i = 0; rv == 0 && i < 150; i++) {
		struct event barrier = event_of(&(struct step){BARRIER, T0, {i + 1}, LEFT});
		rv = dependencies_of(d, T1, &barrier) == DEPENDENCY_CERTAIN ? 0 : -1;
	}
	dependencies_destroy(d);
	return rv;
}

int main(void)
{
	const int64_t arrays[][3] = {{1, 2, WORLD}, {1, 2}, {-1, 3, WORLD}};
	if (trace_init(&t) != 0)
		abort();
	t.size = 2;
	for (uint32_t i = REQUESTS; i <= EMPTY; i++)
		if (pool_intern(&t.vector_pool, i < EMPTY ? arrays[i] : arrays[0],
		                (i == EMPTY  ? 0
		                 : i == SOME ? 2
		                             : 3) *
		                        sizeof(int64_t)) != i)
			abort();
	for (int i = 0; i < CALLS; i++)
		if (schema_parse(&schemas[i], texts[i], strlen(texts[i])) != 0)
			abort();
	odd_values();
	object_lives();
	request_lives();
	ends_and_makes();
	ok(fails_well(learn_many, &t), "no memory");
	trace_free(&t);
	return tap_end();
}
