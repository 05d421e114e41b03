/* SPDX-License-Identifier: BSD-3-Clause
 * wait_site - how long ranks waited for others in the calls of a site, estimated from its histogram
 */
#include "trace/read/wait_site.h"

#include <string.h>

#include "trace/read/summary.h"

/* Elements of arrays that are looked at; then it is taken for one that has ranks. */
#define ELEMENTS (1 << 20)

static bool array_has_ranks(const struct trace *t, int64_t value, uint32_t *left)
{
	int64_t element;
	if (value_is_constant(value) || value < 0 || (uint64_t)value >= t->vector_pool.count)
		return false;
	const struct pool_item *item = &t->vector_pool.items[value];
	for (size_t k = 0; k + sizeof element <= item->size; k += sizeof element) {
		memcpy(&element, item->bytes + k, sizeof element);
		if (!value_is_constant(element) || --*left == 0)
			return true;
	}
	return false;
}

static bool stretch_has_ranks(const struct trace *t, const struct trace_stretch *d, bool arrays, uint32_t *left)
{
	if (!arrays)
		return rankmap_has_plain(&d->start);
	for (uint32_t e = 0; d->vector && e < d->width; e++)
		if (rankmap_has_plain(&d->elements[e]))
			return true;
	for (uint32_t n = 0; !d->vector && n < d->start.node_count; n++)
		if (d->start.nodes[n].low == DIAGRAM_LEAF && array_has_ranks(t, d->start.nodes[n].delta, left))
			return true;
	return false;
}

/* Has a column of sources, or of arrays of them, any? Of a status, a source is one of a message that came. What has no
 * order is taken for one that has: most completions that take long are those of receives. */
static bool has_ranks(const struct trace *t, const struct trace_column *c, bool arrays)
{
	uint32_t left = ELEMENTS;
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t d = 0; d < c->groups[g].count; d++)
			if (c->groups[g].lossy || stretch_has_ranks(t, &c->groups[g].dict[d], arrays, &left))
				return true;
	return false;
}

/* Is it a call that waits for messages, and for whom? */
static bool waits_for_message(const struct trace *t, const struct trace_site *s, enum wait_kind *kind)
{
	const struct schema *schema = trace_schema(t, s);
	const struct mpi_function *f = schema->mpi;
	int source = schema->at[PARAMETER_STATUS_SOURCE];
	if (f->waits != WAITS || (f->class != MPI_CLASS_POINT_TO_POINT && f->class != MPI_CLASS_COMPLETION))
		return false;
	bool receives = f->class == MPI_CLASS_POINT_TO_POINT
	                        ? schema->at[PARAMETER_SOURCE] >= 0
	                        : source >= 0 && has_ranks(t, &s->columns[source], schema->column[source].vector);
	*kind = receives ? WAIT_LATE_SENDER : WAIT_LATE_RECEIVER;
	return true;
}

static uint64_t above(uint64_t sum, uint128 least)
{
	return sum > least ? sum - (uint64_t)least : 0;
}

uint64_t wait_site(const struct trace *t, const struct trace_site *s, const struct activity *activity,
                   enum wait_kind *kind)
{
	const struct mpi_function *f = trace_schema(t, s)->mpi;
	uint64_t count = s->communicate.count, transfer = s->communicate.min;
	*kind = WAIT_COLLECTIVE;
	if (count == 0)
		return 0;
	if (f->waits == WAITS_FOR_ALL)
		return summary_ranks(s) > 1 ? above(s->communicate.sum, (uint128)count * transfer) : 0;
	if (!waits_for_message(t, s, kind))
		return 0;
	if (transfer > WAIT_LATENCY + activity->bytes / count)
		transfer = WAIT_LATENCY + activity->bytes / count;
	return above(s->communicate.sum, (uint128)count * transfer);
}
