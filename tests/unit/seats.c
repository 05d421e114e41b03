/* SPDX-License-Identifier: BSD-3-Clause
 * seats - nodes and local ranks; who shares cores, and who does not; how far messages go
 */
#include "trace/read/seats.h"

#include <string.h>

#include "merge/merge.h"
#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"
#include "trace/model/host.h"

struct rank {
	const char *host, *cpus;
	uint64_t compute;
};

/* Two sockets of two cores of two CPUs: 0,4 1,5 | 2,6 3,7 */
#define NODE "0-1,4-5/2-3,6-7|0-1,4-5/2-3,6-7|0,4+1*4"

static int make(struct trace *all, const struct rank *ranks, uint32_t n)
{
	int rv = trace_init(all);
	all->size = n;
	for (uint32_t i = 0; i < n && rv == 0; i++) {
		struct trace one;
		rv = trace_init(&one);
		one.size = n;
		struct trace_rank_ns ns = {i, ranks[i].compute};
		struct trace_total total = {.count = 1, .sum = ns.ns, .min = ns.ns, .max = ns.ns, .ranks = &ns};
		total.min_rank = total.max_rank = i;
		rv = rv || (ranks[i].host && host_set(&one, i, ranks[i].host, strlen(ranks[i].host)) != 0) ||
		     placement_set(&one, i, ranks[i].cpus, strlen(ranks[i].cpus), NODE, strlen(NODE)) ||
		     rankmap_single(&one.events, i, 0, false) || trace_total_add(&one.total[TOTAL_COMPUTE], &total) ||
		     merge_into(all, &one, NULL);
		trace_free(&one);
	}
	return rv ? -1 : 0;
}

static int seat(struct seats *s, const struct rank *ranks, uint32_t n)
{
	struct trace t;
	*s = (struct seats){.size = 0};
	int rv = make(&t, ranks, n) != 0 || seats_make(s, &t) != 0 ? -1 : 0;
	trace_free(&t);
	return rv;
}

static int seat_all(void *context)
{
	static const struct rank ranks[] = {{"n1", "0", 1}, {"n1", "0", 1}, {"n2", "1", 1}};
	struct seats s;
	(void)context;
	int rv = seat(&s, ranks, 3);
	seats_free(&s);
	return rv;
}

#define SEAT(s, ranks) ok(seat(s, ranks, sizeof(ranks) / sizeof *(ranks)) == 0, #ranks)

static void nodes(void)
{
	static const struct rank spread[] = {{"n1", "0,4", 1}, {"n2", "0,4", 1}, {"n1", "2", 1},
	                                     {"n2", "0-3", 1}, {NULL, "1", 1},   {"n2", "", 1}};
	struct seats s;
	SEAT(&s, spread);
	ok(s.nodes == 2 && s.most_a_node == 3 && s.least_a_node == 2 && s.known == 4, "two nodes");
	ok(s.sockets == 2 && s.numas == 2 && s.cores == 4 && s.cores_least == 1 && s.cores_most == 4, "of two sockets");
	ok(s.ranks[2].local == 1 && s.ranks[2].node == s.ranks[0].node && s.ranks[5].local == 2, "local ranks");
	ok(s.ranks[0].socket == 0 && s.ranks[0].cores == 1 && s.ranks[2].socket == 1 &&
	           s.ranks[3].socket == PLACEMENT_NONE && s.ranks[5].socket == PLACEMENT_NONE,
	   "sockets of ranks");
	ok(seats_distance(&s, 0, 0) == SEATS_SOCKET && seats_distance(&s, 0, 2) == SEATS_NODE &&
	           seats_distance(&s, 1, 3) == SEATS_NODE && seats_distance(&s, 0, 1) == SEATS_FAR &&
	           seats_distance(&s, 0, 4) == SEATS_UNKNOWN && seats_distance(&s, 0, 77) == SEATS_UNKNOWN,
	   "distances");
	ok(s.sharing == 0 && s.shared_count == 0 && s.effect == 0, "nobody shares");
	seats_free(&s);
}

static void sharing(void)
{
	static const struct rank pair[] = {{"n1", "1", 30}, {"n1", "5", 30}, {"n1", "0", 10}, {"n1", "2-3", 20}};
	static const struct rank crowd[] = {
		{"n1", "0-7", 1}, {"n1", "0-7", 1}, {"n1", "0-7", 1}, {"n1", "0-7", 1}, {"n1", "0-7", 1}};
	static const struct rank free_choice[] = {
		{"n1", "0-7", 1}, {"n1", "0-7", 1}, {"n1", "0-7", 1}, {"n1", "0-7", 1}};
	static const struct rank nested[] = {
		{"n1", "0", 1}, {"n1", "0", 1}, {"n1", "0-1", 1}, {"n1", "0-1", 1}, {"n1", "2-3", 1}};
	static const struct rank apart[] = {{"n1", "0", 1}, {"n2", "0", 1}};
	struct seats s;
	SEAT(&s, pair);
	ok(s.shared_count == 1 && s.sharing == 2 && s.shared[0].cores == 1 && s.shared[0].ranks == 2 &&
	           s.shared[0].rank == 0 && s.ranks[0].shares && s.ranks[1].shares && !s.ranks[2].shares,
	   "two CPUs of one core");
	ok(s.effect == 2, "its effect: %g", s.effect);
	seats_free(&s);
	SEAT(&s, crowd);
	ok(s.shared_count == 1 && s.sharing == 5 && s.shared[0].cores == 4 && s.effect == 0, "five on four cores");
	seats_free(&s);
	SEAT(&s, free_choice);
	ok(s.sharing == 0, "four on four cores share nothing");
	seats_free(&s);
	SEAT(&s, nested);
	ok(s.shared_count == 2 && s.sharing == 4 && s.shared[0].ranks == 2 && s.shared[1].ranks == 2 &&
	           s.shared[1].cores == 1 && !s.ranks[4].shares,
	   "two on one core, two more on the one beside it");
	seats_free(&s);
	SEAT(&s, apart);
	ok(s.sharing == 0, "the same CPU of two nodes");
	seats_free(&s);
}

/* A file of a few bytes can say that it is of so many ranks, and that they are all on one node. */
static void hostile(void)
{
	static const struct rank one[] = {{"n1", "0", 1}};
	struct budget budget = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS};
	struct trace t;
	struct seats s = {.size = 0};
	ok(make(&t, one, 1) == 0, "a trace");
	t.size = INT32_MAX;
	budget_begin(&budget);
	ok(seats_make(&s, &t) == -1 && budget.spent && !strcmp(budget.spent, "memory"),
	   "2^31 ranks: the reader's limit holds");
	seats_free(&s);
	budget_end(&budget);
	trace_free(&t);
}

int main(void)
{
	nodes();
	sharing();
	hostile();
	ok(fails_well(seat_all, NULL), "no memory");
	return tap_end();
}
