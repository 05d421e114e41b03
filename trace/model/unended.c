/* SPDX-License-Identifier: BSD-3-Clause
 * unended - what ranks were doing when they were killed, and for how long
 */
#include "trace/model/unended.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/model/packed.h"

int unended_add_take(struct trace *t, const struct trace_unended *u)
{
	if ((t->unended_count & (t->unended_count - 1)) == 0) { /* a power of two: full */
		struct trace_unended *more = budget_realloc(
			t->unended, (t->unended_count ? 2 * (size_t)t->unended_count : 1) * sizeof *more);
		if (!more)
			return -1;
		t->unended = more;
	}
	t->unended[t->unended_count++] = *u;
	return 0;
}

static struct trace_unended *unended_at(struct trace *t, uint32_t site, bool call)
{
	const struct trace_unended none = {.site = site, .call = call, .min = UINT64_MAX};
	if (!budget_step(t->unended_count))
		return NULL;
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].site == site && t->unended[i].call == call)
			return &t->unended[i];
	return unended_add_take(t, &none) == 0 ? &t->unended[t->unended_count - 1] : NULL;
}

/* What is added has the same site and ranks of its own. */
static int unended_join(struct trace_unended *u, const struct trace_unended *from, const uint32_t *strings)
{
	if (rankmap_union(&u->ranks, &u->ranks, &from->ranks) != 0)
		return -1;
	if (__builtin_add_overflow(u->sum, from->sum, &u->sum))
		u->sum = UINT64_MAX;
	if (from->min < u->min || (from->min == u->min && from->min_rank < u->min_rank)) {
		u->min = from->min;
		u->min_rank = from->min_rank;
	}
	if (from->max > u->max || (from->max == u->max && from->max_rank < u->max_rank)) {
		u->max = from->max;
		u->max_rank = from->max_rank;
	}
	return passed_join(&u->passed, &from->passed, strings);
}

int unended_add(struct trace *t, uint32_t site, bool call, uint32_t rank, uint64_t ns, const struct passed *passed)
{
	struct trace_unended one = {.sum = ns, .min = ns, .max = ns, .min_rank = rank, .max_rank = rank};
	struct trace_unended *u = unended_at(t, site, call);
	if (passed)
		one.passed = *passed;
	int rv = u && rankmap_single(&one.ranks, rank, 0, false) == 0 ? unended_join(u, &one, NULL) : -1;
	rankmap_free(&one.ranks);
	return rv;
}

int unended_merge(struct trace *into, const struct trace *from, const uint32_t *sites, const uint32_t *strings)
{
	for (uint32_t i = 0; i < from->unended_count; i++) {
		struct trace_unended *u = unended_at(into, sites[from->unended[i].site], from->unended[i].call);
		if (!u || unended_join(u, &from->unended[i], strings) != 0)
			return -1;
	}
	return 0;
}

static int by_site(const void *a, const void *b)
{
	const struct trace_unended *x = a, *y = b;
	return x->site != y->site ? (x->site < y->site ? -1 : 1) : y->call - x->call;
}

void unended_order(struct trace *t)
{
	if (t->unended_count > 1)
		qsort(t->unended, t->unended_count, sizeof *t->unended, by_site);
}

const struct trace_unended *unended_of(const struct trace *t, uint32_t rank)
{
	int64_t unused;
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (rankmap_get(&t->unended[i].ranks, rank, &unused))
			return &t->unended[i];
	return NULL;
}

bool unended_passed(const struct trace *t, const struct trace_unended *u, enum mpi_parameter p, uint32_t element,
                    uint32_t rank, int64_t *value)
{
	uint32_t function, node;
	packed_key(t, u->site, &function, &node);
	return passed_get(&u->passed, t->functions[function].schema.at[p], element, rank, value);
}

const struct trace_unended *unended_call(const struct trace *t)
{
	const struct trace_unended *most = NULL;
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].call && (!most || t->unended[i].sum > most->sum))
			most = &t->unended[i];
	return most;
}

const char *unended_function(const struct trace *t, size_t *length)
{
	const struct trace_unended *most = unended_call(t);
	uint32_t function, node;
	*length = 0;
	if (!most)
		return "";
	packed_key(t, most->site, &function, &node);
	*length = t->functions[function].schema.function_length;
	return t->functions[function].schema.function;
}

void unended_free(struct trace *t)
{
	for (uint32_t i = 0; i < t->unended_count; i++) {
		rankmap_free(&t->unended[i].ranks);
		passed_free(&t->unended[i].passed);
	}
	budget_free(t->unended);
	t->unended = NULL;
	t->unended_count = 0;
}
