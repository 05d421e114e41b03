/* SPDX-License-Identifier: BSD-3-Clause
 * cut - where the program of a run that was ended ends
 */
#include "proxy/cut.h"

#include <inttypes.h>

#include "trace/read/comms.h"
#include "trace/read/walk.h"

uint64_t cut_killed(const struct trace *t)
{
	uint64_t finalized = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		if (trace_schema(t, &t->sites[i])->mpi->function == FN_MPI_Finalize)
			finalized += rankmap_size(&t->sites[i].visits);
	return finalized < t->size ? t->size - finalized : 0;
}

struct cut {
	const struct trace *trace;
	struct calls calls;
	struct comms *comms;
};

/* Is a communicator one of all ranks? */
static bool has_all(const struct cut *c, uint32_t rank, int64_t value)
{
	uint32_t number = comms_find(c->comms, rank, value);
	if (number == COMM_UNKNOWN || number == COMM_SELF)
		return false;
	return number == COMM_WORLD || comms_at(c->comms, number)->size == c->trace->size;
}

static bool is_together(const struct cut *c, uint32_t rank, const struct event *e)
{
	const struct mpi_function *f = e->schema->mpi;
	int comm = e->schema->at[PARAMETER_COMM];
	if (f->scope == SCOPE_WORLD)
		return true;
	return f->scope == SCOPE_COMM && f->waits == WAITS_FOR_ALL && f->form == FORM_BLOCKING && comm >= 0 &&
	       has_all(c, rank, e->values[comm]);
}

/* Such calls of a rank, but no more than `most`; *end: the number of the event behind the last one. */
static int walk_rank(const struct cut *c, uint32_t rank, uint64_t most, uint64_t *count, uint64_t *end,
                     struct error *error)
{
	struct walk *w = NULL;
	struct event e;
	int step = 0;
	*count = *end = 0;
	if (walk_begin(&w, c->trace, rank, error) != 0)
		return -1;
	while (*count < most && (step = walk_next(w, &e, error)) == 0)
		if (is_together(c, rank, &e)) {
			++*count;
			*end = e.number + 1;
		}
	walk_end(w);
	return step < 0 ? -1 : 0;
}

static int find_ends(const struct cut *c, uint64_t *ends, struct error *error)
{
	uint64_t least = UINT64_MAX, count;
	for (uint32_t r = 0; r < c->trace->size; r++) {
		if (walk_rank(c, r, least, &count, &ends[r], error) != 0)
			return -1;
		least = count < least ? count : least;
	}
	if (least == 0)
		return error_set(error, "there is no call that all ranks made together");
	for (uint32_t r = 0; r < c->trace->size; r++)
		if (walk_rank(c, r, least, &count, &ends[r], error) != 0)
			return -1;
	return 0;
}

int cut_make(const struct trace *t, uint64_t *ends, FILE *notes, struct error *error)
{
	struct cut c = {.trace = t};
	uint64_t taken = 0;
	int rv = calls_make(&c.calls, t) != 0 ? error_set(error, "no memory") : comms_make(&c.comms, &c.calls, error);
	if (rv == 0)
		rv = find_ends(&c, ends, error);
	comms_destroy(c.comms);
	calls_free(&c.calls);
	for (uint32_t r = 0; rv == 0 && r < t->size; r++)
		taken += ends[r];
	if (rv == 0)
		fprintf(notes, "the run was ended: %" PRIu64 " of %" PRId64 " calls, as far as all ranks came\n", taken,
		        rankmap_sum(&t->events));
	return rv;
}
