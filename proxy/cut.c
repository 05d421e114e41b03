/* SPDX-License-Identifier: BSD-3-Clause
 * cut - where the program of a run that was ended ends
 */
#include "proxy/cut.h"

#include "trace/read/walk.h"

uint64_t cut_killed(const struct trace *t)
{
	uint64_t finalized = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		if (trace_schema(t, &t->sites[i])->mpi->function == FN_MPI_Finalize)
			finalized += rankmap_size(&t->sites[i].visits);
	return finalized < t->size ? t->size - finalized : 0;
}

static bool is_together(const struct trace *t, const struct event *e)
{
	const struct mpi_function *f = e->schema->mpi;
	int comm = e->schema->at[PARAMETER_COMM];
	if (f->scope == SCOPE_WORLD)
		return true;
	return f->scope == SCOPE_COMM && f->waits == WAITS_FOR_ALL && f->form == FORM_BLOCKING && comm >= 0 &&
	       value_is_constant(e->values[comm]) && trace_is_constant(t, e->values[comm], CONST_MPI_COMM_WORLD);
}

/* Such calls of a rank, but no more than `most`; *end: the number of the event behind the last one. */
static int walk_rank(const struct trace *t, uint32_t rank, uint64_t most, uint64_t *count, uint64_t *end,
                     struct error *error)
{
	struct walk *w = NULL;
	struct event e;
	int step = 0;
	*count = *end = 0;
	if (walk_begin(&w, t, rank, error) != 0)
		return -1;
	while (*count < most && (step = walk_next(w, &e, error)) == 0)
		if (is_together(t, &e)) {
			++*count;
			*end = e.number + 1;
		}
	walk_end(w);
	return step < 0 ? -1 : 0;
}

int cut_make(const struct trace *t, uint64_t *ends, struct error *error)
{
	uint64_t least = UINT64_MAX, count;
	for (uint32_t r = 0; r < t->size; r++) {
		if (walk_rank(t, r, least, &count, &ends[r], error) != 0)
			return -1;
		least = count < least ? count : least;
	}
	if (least == 0)
		return error_set(error, "there is no call that all ranks made together");
	for (uint32_t r = 0; r < t->size; r++)
		if (walk_rank(t, r, least, &count, &ends[r], error) != 0)
			return -1;
	return 0;
}
