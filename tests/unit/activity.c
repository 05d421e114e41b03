/* SPDX-License-Identifier: BSD-3-Clause
 * activity - calls that pass on nothing, or nobody knows how much; a trace counted by its patterns (site_activity), by
 * the visits of its sites (visits) and event by event gives the same sums; and what handles stand for
 */
#include "trace/read/activity.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

enum { RANKS = 4 };
static struct trace t;

/* Some call: schema and values. */
struct call {
	struct schema schema;
	int64_t values[SCHEMA_MAX];
};

static int64_t constant(const char *name)
{
	return VALUE_CONSTANT + (int64_t)pool_intern(&t.strings, name, strlen(name));
}

static int64_t array(size_t n, const int64_t *values)
{
	return pool_intern(&t.vector_pool, values, n * sizeof *values);
}
#define ARRAY(...) array(sizeof((const int64_t[]){__VA_ARGS__}) / 8, (const int64_t[]){__VA_ARGS__})

static bool passes_on(const char *schema, enum activity_answer wanted, uint64_t bytes, const int64_t *values)
{
	uint32_t f = trace_function(&t, pool_intern(&t.strings, schema, strlen(schema)));
	struct handles *h = handles_create(&t);
	uint64_t got = 77;
	bool right = activity_bytes(h, &t.functions[f].schema, 1, values, &got) == wanted && got == bytes;
	handles_destroy(h);
	return right;
}
#define PASSES(wanted, bytes, schema, ...)                                                                             \
	ok(passes_on(schema, wanted, bytes, (const int64_t[]){__VA_ARGS__}), "%s: %s, %d bytes", (const char *)schema, \
	   #wanted, (int)(bytes))

static void test_calls(void)
{
	static const char send[] = "MPI_Send count:i datatype:t dest:p tag:i comm:c",
			  alltoall[] = "MPI_Alltoall sendcount:i sendtype:t recvcount:i recvtype:t comm:c",
			  alltoallv[] = "MPI_Alltoallv sendcounts:[i sendtype:t recvcounts:[i recvtype:t comm:c",
			  allgatherv[] = "MPI_Allgatherv sendcount:i sendtype:t recvcounts:[i recvtype:t comm:c";
	sample_merged(&t, RANKS, 0);
	int64_t type = constant("MPI_INT"), world = constant("MPI_COMM_WORLD"), self = constant("MPI_COMM_SELF"),
		nobody = constant("MPI_PROC_NULL"), absent = constant("-"), other = constant("MPI_NOTHING");
	PASSES(ACTIVITY_NOBODY, 0, send, 5, type, nobody, 0, world);
	PASSES(ACTIVITY_UNSIZED, 0, send, 5, other, 1, 0, world);
	PASSES(ACTIVITY_UNSIZED, 0, send, 5, type, other, 0, world);
	PASSES(ACTIVITY_UNSIZED, 0, send, VALUE_LOSSY, type, 1, 0, world);
	PASSES(ACTIVITY_UNSIZED, 0, send, 5, 3, 1, 0, world); /* a datatype that nobody made */
	PASSES(ACTIVITY_UNSIZED, 0, send, -5, type, 1, 0, world);
	PASSES(ACTIVITY_SIZED, 20, send, 5, type, 1, 0, world);
	PASSES(ACTIVITY_SIZED, 0, send, 0, type, 1, 0, world);
	PASSES(ACTIVITY_SIZED, 20 * RANKS, alltoall, 5, type, 0, type, world);
	PASSES(ACTIVITY_SIZED, 20, alltoall, 5, type, 0, type, self);
	PASSES(ACTIVITY_SIZED, 12 * RANKS, alltoall, absent, absent, 3, type, world);
	PASSES(ACTIVITY_UNSIZED, 0, alltoall, 5, type, 0, type, 9); /* a communicator that is not there */
	PASSES(ACTIVITY_SIZED, 24, alltoallv, ARRAY(1, 2, -7, 3), type, 0, type, world);
	PASSES(ACTIVITY_SIZED, 8, alltoallv, absent, absent, ARRAY(1, 1), type, world);
	PASSES(ACTIVITY_SIZED, 28, allgatherv, absent, absent, ARRAY(5, 7, 9), type, world);
	PASSES(ACTIVITY_SIZED, 0, "MPI_Bcast count:i datatype:t root:p comm:c", absent, type, 0, world);
	PASSES(ACTIVITY_SIZED, 4, "MPI_Fetch_and_op datatype:t target_rank:p op:o win:w", type, 0, 0, 0);
	PASSES(ACTIVITY_UNSIZED, 0, "MPI_Neighbor_alltoall sendcount:i sendtype:t recvcount:i recvtype:t comm:c", 5,
	       type, 5, type, world);
	static const char psend[] = "MPI_Psend_init partitions:i count:i datatype:t dest:p tag:i comm:c request:r";
	PASSES(ACTIVITY_SIZED, 60, psend, 3, 5, type, 1, 0, world, 0);
	PASSES(ACTIVITY_UNSIZED, 0, psend, VALUE_LOSSY, 5, type, 1, 0, world, 0);
	PASSES(ACTIVITY_UNSIZED, 0, psend, absent, 5, type, 1, 0, world, 0);
	ok(activity_class(0) == 0 && activity_class(1) == 1 && activity_class(3) == 2 && activity_class(4) == 3 &&
	           activity_class(UINT64_MAX) == ACTIVITY_SIZES - 1,
	   "classes of sizes");
	trace_free(&t);
}

static bool same_sums(const struct activity *a, const struct activity *b)
{
	return a->messages == b->messages && a->message_bytes == b->message_bytes && a->unsized == b->unsized &&
	       a->bytes == b->bytes;
}

/* Event by event: 1; by visits: 0. Sums by site, and the sizes of messages. */
static void count_ranks(struct activity *sums, uint64_t *sizes, bool events)
{
	struct handles *h = handles_create(&t);
	if (events)
		handles_in_order(h);
	for (uint32_t r = 0; r < RANKS; r++) {
		struct walk *w;
		struct event e;
		for (uint32_t i = 0; !events && i < t.site_count; i++)
			if (activity_add_visits(&sums[i], sizes, h, &t.sites[i], r) < 0)
				abort();
		if (events && walk_begin(&w, &t, r, NULL) != 0)
			abort();
		while (events && walk_next(w, &e, NULL) == 0)
			activity_add_event(&sums[e.site], sizes, h, r, &e);
		if (events)
			walk_end(w);
	}
	handles_destroy(h);
}

static void test_ways(int how, const char *what)
{
	struct site_activity a;
	struct activity visits[SAMPLE_SITES] = {{0}}, events[SAMPLE_SITES] = {{0}};
	uint64_t visit_sizes[ACTIVITY_SIZES] = {0}, event_sizes[ACTIVITY_SIZES] = {0}, messages = 0;
	bool same = true;
	sample_merged(&t, RANKS, how);
	same &= site_activity_make(&a, &t) == 0;
	count_ranks(visits, visit_sizes, false);
	count_ranks(events, event_sizes, true);
	for (uint32_t i = 0; i < t.site_count; i++) {
		if (!(how & SAMPLE_LOSSY))
			same &= same_sums(&a.sites[i], &events[i]) && same_sums(&a.sites[i], &visits[i]);
		messages += a.sites[i].messages;
	}
	if (!(how & SAMPLE_LOSSY))
		same &= memcmp(a.sizes, event_sizes, sizeof a.sizes) == 0 &&
		        memcmp(a.sizes, visit_sizes, sizeof a.sizes) == 0;
	ok(same && messages == RANKS * SAMPLE_STEPS, "%s: by pattern, by visits and by events: %d messages", what,
	   (int)messages);
	site_activity_free(&a);
	trace_free(&t);
}

/* A site of two ranks: `times` times 5 elements of 4 bytes, 10 times a count or a destination that was not kept. */
static void test_unknown(const char *column, uint64_t times, uint64_t messages, uint64_t unsized)
{
	static const char schema[] = "MPI_Send count:i datatype:t dest:p tag:i comm:c";
	struct site_activity a;
	struct rankmap one;
	if (trace_init(&t) != 0)
		abort();
	uint32_t site =
		trace_site(&t, trace_function(&t, pool_intern(&t.strings, schema, sizeof schema - 1)), 0, false);
	const struct schema *s = trace_schema(&t, &t.sites[site]);
	t.size = 2;
	for (uint32_t r = 0; r < 2; r++) {
		if (rankmap_single(&one, r, (int64_t)(times + 10) / 2, false) != 0 ||
		    rankmap_union(&t.sites[site].visits, &t.sites[site].visits, &one) != 0)
			abort();
		rankmap_free(&one);
	}
	for (unsigned k = 0; k < s->count; k++) {
		bool lossy = s->column[k].length == strlen(column) &&
		             !memcmp(s->column[k].name, column, s->column[k].length);
		int64_t value = (int)k == s->at[PARAMETER_COUNT]  ? 5
		                : (int)k == s->at[PARAMETER_TYPE] ? constant("MPI_INT")
		                                                  : 1;
		struct trace_group g = {0};
		if (lossy && (trace_group_lossy(&g, &t.sites[site].visits) != 0 ||
		              tally_add(&g.lossy->values, constant("?"), 10) != 0 ||
		              tally_add(&g.lossy->values, value, times) != 0))
			abort();
		if (!lossy && (!(g.dict = budget_calloc(1, sizeof *g.dict)) ||
		               rankmap_fill(&g.dict->start, &t.sites[site].visits, value, true) != 0))
			abort();
		g.count = g.dict ? 1 : 0;
		if (g.dict)
			g.dict->count = 1;
		if (trace_add_group_take(&t.sites[site].columns[k], &g) != 0)
			abort();
	}
	if (site_activity_make(&a, &t) != 0)
		abort();
	ok(a.sites[site].messages == messages && a.sites[site].unsized == unsized &&
	           a.sites[site].bytes == 20 * (messages - unsized),
	   "%s, not known of 10 calls: %d messages, %d of them of unknown size", column, (int)a.sites[site].messages,
	   (int)a.sites[site].unsized);
	site_activity_free(&a);
	trace_free(&t);
}

static int make(void *context)
{
	struct site_activity a;
	int rv = site_activity_make(&a, context);
	site_activity_free(&a);
	return rv;
}

static void test_handles(void)
{
	uint64_t bytes;
	int kind;
	sample_merged(&t, RANKS, 0);
	struct handles *h = handles_create(&t);
	ok(!handles_get_request(h, 1, 5, &bytes, &kind) && !handles_get_request(h, 1, UINT64_MAX, &bytes, &kind),
	   "requests that nobody made");
	handles_put_request(h, 1, 5, 80, ACTIVITY_MESSAGE);
	handles_put_request(h, 2, 5, 90, ACTIVITY_MESSAGE);
	handles_put_request(h, 1, 5, 80, ACTIVITY_MESSAGE);
	ok(handles_get_request(h, 1, 5, &bytes, &kind) && bytes == 80 && !handles_ambiguous(h),
	   "each stream has its own");
	handles_put_request(h, 1, 5, 81, ACTIVITY_MESSAGE);
	ok(!handles_get_request(h, 1, 5, &bytes, &kind) && handles_ambiguous(h) &&
	           handles_get_request(h, 2, 5, &bytes, &kind),
	   "calls that do not agree");
	handles_in_order(h);
	handles_put_request(h, 1, 5, 80, ACTIVITY_MESSAGE);
	handles_put_request(h, 1, 5, 81, ACTIVITY_MESSAGE);
	ok(handles_get_request(h, 1, 5, &bytes, &kind) && bytes == 81 && !handles_ambiguous(h),
	   "in order, the last one counts");
	for (uint32_t i = 0; i < 1000; i++)
		handles_put_request(h, i % RANKS, i, i, ACTIVITY_DATA);
	bool found = true;
	for (uint32_t i = 0; i < 1000; i++)
		found &= handles_get_request(h, i % RANKS, i, &bytes, &kind) && bytes == i && kind == ACTIVITY_DATA;
	ok(found, "a thousand requests");
	handles_lose_requests(h);
	ok(!handles_get_request(h, 0, 0, &bytes, &kind), "if one is lost, all are");
	ok(handles_afford(h, 1 << 12, 1 << 12) && !handles_afford(h, 1, 1) &&
	           !handles_afford(h, UINT64_MAX, UINT64_MAX),
	   "work is bounded");
	handles_destroy(h);
	handles_destroy(NULL);
	trace_free(&t);
}

int main(void)
{
	test_calls();
	test_handles();
	test_ways(0, "a trace");
	test_ways(SAMPLE_KILLED | SAMPLE_DETAIL, "of killed ranks");
	test_ways(SAMPLE_LOSSY, "without order");
	test_unknown("count", 4, 14, 10);
	test_unknown("dest", 4, 14, 0);
	sample_merged(&t, RANKS, 0);
	ok(fails_well(make, &t), "no memory");
	trace_free(&t);
	return tap_end();
}
