/* SPDX-License-Identifier: BSD-3-Clause
 * completed - which of its requests a call has completed
 */
#include "trace/read/completed.h"

/* Not an array, of which it may not be known what is in it. */
static bool is_one(const struct schema *s)
{
	return s->at[PARAMETER_REQUEST] >= 0 && !s->column[s->at[PARAMETER_REQUEST]].vector;
}

struct completed completed_begin(const struct trace *t, const struct event *e)
{
	struct completed c = {.one = call_value(e, PARAMETER_REQUEST)};
	c.requests = call_array(t, e, PARAMETER_REQUEST, &c.request_count);
	if (e->schema->at[PARAMETER_FLAG] >= 0 && call_value(e, PARAMETER_FLAG) != 1)
		return c;
	switch (e->schema->mpi->completes) {
	case COMPLETES_NONE:
		break;
	case COMPLETES_ALL: /* MPI_Wait has no array */
		c.count = c.requests ? c.request_count : is_one(e->schema);
		break;
	case COMPLETES_ANY:
		c.first = (size_t)call_value(e, PARAMETER_INDEX); /* MPI_UNDEFINED is beyond them all */
		c.count = c.first < c.request_count;
		break;
	case COMPLETES_SOME:
		c.indices = call_array(t, e, PARAMETER_INDICES, &c.count);
		break;
	}
	return c;
}

bool completed_next(struct completed *c, int64_t *request, size_t *status)
{
	while (c->next < c->count) {
		size_t i = *status = c->next++;
		int64_t index = c->indices ? array_element(c->indices, i) : (int64_t)(c->first + i);
		if (!c->requests) {
			*request = c->one;
			return true;
		}
		if (index >= 0 && (uint64_t)index < c->request_count) {
			*request = array_element(c->requests, (size_t)index);
			return true;
		}
	}
	return false;
}

bool completed_is_known(const struct event *e)
{
	return call_value(e, PARAMETER_REQUEST) != VALUE_LOSSY && call_value(e, PARAMETER_FLAG) != VALUE_LOSSY &&
	       call_value(e, PARAMETER_INDEX) != VALUE_LOSSY && call_value(e, PARAMETER_INDICES) != VALUE_LOSSY;
}

bool completed_is_all(const struct mpi_function *f)
{
	return f->completes == COMPLETES_ALL;
}
