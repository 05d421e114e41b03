/* SPDX-License-Identifier: BSD-3-Clause
 * lengthen - more turns of a program's main loop
 */
#include "proxy/lengthen.h"

#include <inttypes.h>
#include <math.h>

#include "proxy/passes.h"

#define TURNS_MOST 1e15

/* How many calls are in a node. */
static double calls_in(const struct structure *s, uint32_t node)
{
	double all = 0;
	if (node < s->nest.sites)
		return (double)rankmap_sum(&s->trace->sites[s->sites[node].site].visits);
	for (uint32_t c = s->nest.nodes[node].first; c != NEST_NONE; c = s->nest.nodes[c].next)
		all += c ? calls_in(s, c) : 0;
	return all;
}

/* NEST_NONE: there is none. */
static uint32_t main_loop(const struct structure *s)
{
	const struct loop_nest *nest = &s->nest;
	double most = 0;
	uint32_t best = NEST_NONE;
	for (uint32_t c = nest->nodes[nest->sites].first; c != NEST_NONE; c = nest->nodes[c].next)
		if (c && !passes_once(s, c) && calls_in(s, c) > most) {
			most = calls_in(s, c);
			best = c;
		}
	return best;
}

/* The same on all ranks; 0: it is not. */
static int64_t turns_of_all(const struct structure *s, uint32_t node)
{
	int64_t turns = 0;
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, s->times[node], r);
		if (!x || x->count > 1 || x->each[0].stride || (r && x->each[0].start != turns))
			return 0;
		turns = x->each[0].start;
	}
	return turns;
}

static uint32_t first_site(const struct structure *s, uint32_t node)
{
	while (node >= s->nest.sites)
		node = s->nest.nodes[node].first;
	return node;
}

int lengthen_loop(struct taken_events *taken, const struct structure *s, double factor, FILE *out, struct error *error)
{
	uint32_t loop = main_loop(s);
	if (loop == NEST_NONE)
		return error_set(error, "it has no loop that could have more turns");
	const struct schema *of = trace_schema(s->trace, &s->trace->sites[s->sites[first_site(s, loop)].site]);
	int64_t turns = turns_of_all(s, loop);
	double wanted = (double)turns * factor;
	if (turns == 0 || s->nest.nodes[loop].any_order)
		return error_set(error, "the loop of %.*s cannot have more turns: ranks make other numbers of them",
		                 (int)of->function_length, of->function);
	if (wanted > TURNS_MOST || wanted != floor(wanted))
		return error_set(error, "the loop of %.*s cannot have %g turns", (int)of->function_length, of->function,
		                 wanted);
	taken->loop = loop;
	taken->turns_more = (uint64_t)wanted - (uint64_t)turns;
	fprintf(out, "the loop of %.*s: %" PRId64 " turns -> %.0f\n", (int)of->function_length, of->function, turns,
	        wanted);
	return 0;
}

/* ---- the longer one ---- */

/* The same but for one value that comes more often in a row. */
static bool goes_on(const struct runs *a, const struct runs *b)
{
	int64_t longer = 0;
	bool repeats = a->lead < a->count;
	if (a->count != b->count || a->lead != b->lead)
		return false;
	for (int64_t i = 0; i < a->count; i++) {
		if (a->each[i].start != b->each[i].start || a->each[i].stride != b->each[i].stride ||
		    a->each[i].count > b->each[i].count)
			return false;
		longer += a->each[i].count != b->each[i].count;
	}
	return longer == 0 || (longer == 1 && !repeats);
}

/* Returns the first rank on which a column does not go on; all of them: it does. */
static uint32_t column_breaks(const struct structure *s, const struct structure *longer, uint32_t column)
{
	uint32_t r = 0;
	for (; column != COLUMN_NONE && r < s->ranks; r++) {
		const struct runs *a = structure_runs(s, column, r), *b = structure_runs(longer, column, r);
		if (a && b && !goes_on(a, b))
			return r;
	}
	return s->ranks;
}

static int check_site(const struct structure *s, const struct structure *longer, uint32_t site, struct error *error)
{
	const struct schema *of = trace_schema(s->trace, &s->trace->sites[s->sites[site].site]);
	for (size_t k = 0; k < of->count; k++) {
		uint32_t rank = column_breaks(s, longer, s->sites[site].first + (uint32_t)k);
		if (rank < s->ranks)
			return error_set(error,
			                 "its loop cannot have more turns: %.*s of %.*s has no rule on rank %" PRIu32,
			                 (int)of->column[k].length, of->column[k].name, (int)of->function_length,
			                 of->function, rank);
	}
	return 0;
}

static int check_node(const struct structure *s, const struct structure *longer, uint32_t node, struct error *error)
{
	const struct schema *of = trace_schema(s->trace, &s->trace->sites[s->sites[first_site(s, node)].site]);
	bool loop = node == longer->taken.loop;
	uint32_t rank = loop ? s->ranks : column_breaks(s, longer, s->times[node]);
	rank = rank == s->ranks ? column_breaks(s, longer, s->choice[node]) : rank;
	if (rank < s->ranks)
		return error_set(error, "its loop cannot have more turns: when %.*s comes has no rule on rank %" PRIu32,
		                 (int)of->function_length, of->function, rank);
	if (node < s->nest.sites)
		return check_site(s, longer, node, error);
	for (uint32_t c = s->nest.nodes[node].first; c != NEST_NONE; c = s->nest.nodes[c].next)
		if (check_node(s, longer, c, error) != 0)
			return -1;
	return 0;
}

int lengthen_check(const struct structure *s, const struct structure *longer, struct error *error)
{
	return check_node(s, longer, longer->taken.loop, error);
}
