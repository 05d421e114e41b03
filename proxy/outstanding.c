/* SPDX-License-Identifier: BSD-3-Clause
 * outstanding - call sites whose requests need no numbers in a program
 */
#include "proxy/outstanding.h"

#include <string.h>

#include "trace/read/completed.h"

static bool starts(const struct schema *s)
{
	const struct schema_column *request = &s->column[s->at[PARAMETER_REQUEST]];
	return request->direction == '>' && !request->vector;
}

static bool completes_all(const struct schema *s)
{
	return completed_is_all(s->mpi) && s->at[PARAMETER_FLAG] < 0;
}

/* Are these all requests, in their order? */
static bool are_all(const struct outstanding *r, const struct trace *t, const struct event *e, int64_t value)
{
	if (value_is_constant(value))
		return false;
	const struct pool_item *item = event_vector(t, e, value);
	for (int64_t i = 0; i < r->count; i++) {
		int64_t v = -1;
		if ((size_t)(i + 1) * sizeof v <= item->size)
			memcpy(&v, item->bytes + (size_t)i * sizeof v, sizeof v);
		if (v != i)
			return false;
	}
	return r->count >= 0 && item->size == (size_t)r->count * sizeof(int64_t);
}

void outstanding_pass(struct outstanding *r, const struct trace *t, const struct event *e, bool *in_order)
{
	const struct schema *s = e->schema;
	int at = s->at[PARAMETER_REQUEST];
	if (at < 0)
		return;
	int64_t value = e->values[at];
	bool vector = s->column[at].vector, next = starts(s) && r->count >= 0 && value == r->count,
	     all = completes_all(s) && vector && are_all(r, t, e, value),
	     last = completes_all(s) && !vector && value >= 0 && value == r->count - 1;
	*in_order &= next || all;
	r->count = next ? r->count + 1 : all ? 0 : last ? value : -1;
}

const char *outstanding_text(const struct schema *s, size_t column)
{
	int at = s->at[PARAMETER_REQUEST];
	if (at >= 0 && (size_t)at == column && starts(s))
		return "request[started()]";
	return at >= 0 && completes_all(s) && schema_column(s, "count") == (int)column ? "started()" : NULL;
}
