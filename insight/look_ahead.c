/* SPDX-License-Identifier: BSD-3-Clause
 * look_ahead - what an execution cannot know from the events so far
 */
#include "insight/look_ahead.h"

#include "insight/posted.h"

/* May receives that do not block be complete in another order than they were posted? */
static bool has_wildcards(const struct trace *t, uint32_t stream)
{
	int64_t visits;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		int source = s->at[PARAMETER_SOURCE], tag = s->at[PARAMETER_TAG];
		if (s->mpi->class == MPI_CLASS_POINT_TO_POINT && s->mpi->form != FORM_BLOCKING && source >= 0 &&
		    (column_has_constant(t, &t->sites[i].columns[source], CONST_MPI_ANY_SOURCE) ||
		     (tag >= 0 && column_has_constant(t, &t->sites[i].columns[tag], CONST_MPI_ANY_TAG))) &&
		    rankmap_get(&t->sites[i].visits, stream, &visits))
			return true;
	}
	return false;
}

static int walk_ahead(struct posted *p, struct execution *x, struct walk *w, struct error *error)
{
	struct event e;
	size_t n;
	int step;
	while ((step = walk_next(w, &e, error)) == 0) {
		const struct act *list = execution_event(x, &e, &n);
		for (size_t i = 0; list && i < n; i++)
			if (posted_act(p, &list[i]) != 0)
				list = NULL;
		if (!list)
			return error_set(error, "no memory");
	}
	return step < 0 ? -1 : posted_finish(p) != 0 ? error_set(error, "no memory") : 0;
}

int look_ahead(struct execution *x, const struct calls *calls, const struct comms *comms, uint32_t stream,
               struct error *error)
{
	struct posted posted = {.list = NULL};
	struct walk *w = NULL;
	int rv = -1;
	if (!has_wildcards(calls->trace, stream))
		return 0;
	struct execution *ahead = execution_create(calls, comms, stream);
	if (!ahead)
		error_set(error, "no memory");
	else if (walk_begin(&w, calls->trace, stream, error) == 0)
		rv = walk_ahead(&posted, ahead, w, error);
	walk_end(w);
	execution_destroy(ahead);
	if (rv == 0)
		execution_foresee(x, &posted);
	posted_free(&posted);
	return rv;
}
