/* SPDX-License-Identifier: BSD-3-Clause
 * call_fields - what kind of call each function of a trace is
 */
#include "trace/read/call_fields.h"

#include <string.h>

#include "trace/base/budget.h"

static const char *const collective_names[COLLECTIVES] = {
	"barrier",   "bcast",     "gather",     "gatherv",        "scatter",
	"scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
	"alltoallw", "allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
	"scan",      "exscan",    "neighbor"};

const char *collective_name(enum collective c)
{
	return collective_names[c];
}

static enum collective collective_of(enum mpi_number base)
{
	switch ((int)base) {
	case FN_MPI_Barrier:
		return COLLECTIVE_BARRIER;
	case FN_MPI_Bcast:
		return COLLECTIVE_BCAST;
	case FN_MPI_Gather:
		return COLLECTIVE_GATHER;
	case FN_MPI_Gatherv:
		return COLLECTIVE_GATHERV;
	case FN_MPI_Scatter:
		return COLLECTIVE_SCATTER;
	case FN_MPI_Scatterv:
		return COLLECTIVE_SCATTERV;
	case FN_MPI_Allgather:
		return COLLECTIVE_ALLGATHER;
	case FN_MPI_Allgatherv:
		return COLLECTIVE_ALLGATHERV;
	case FN_MPI_Alltoall:
		return COLLECTIVE_ALLTOALL;
	case FN_MPI_Alltoallv:
		return COLLECTIVE_ALLTOALLV;
	case FN_MPI_Alltoallw:
		return COLLECTIVE_ALLTOALLW;
	case FN_MPI_Allreduce:
		return COLLECTIVE_ALLREDUCE;
	case FN_MPI_Reduce:
		return COLLECTIVE_REDUCE;
	case FN_MPI_Reduce_scatter:
		return COLLECTIVE_REDUCE_SCATTER;
	case FN_MPI_Reduce_scatter_block:
		return COLLECTIVE_REDUCE_SCATTER_BLOCK;
	case FN_MPI_Scan:
		return COLLECTIVE_SCAN;
	case FN_MPI_Exscan:
		return COLLECTIVE_EXSCAN;
	default:
		return COLLECTIVE_NEIGHBOR;
	}
}

static enum call_kind point_to_point(const struct schema *s)
{
	bool sends = s->at[PARAMETER_DEST] >= 0, receives = s->at[PARAMETER_SOURCE] >= 0;
	if (s->mpi->base == FN_MPI_Mrecv)
		return CALL_MRECV;
	if (s->mpi->base == FN_MPI_Start || s->mpi->base == FN_MPI_Startall)
		return CALL_START;
	if (s->mpi->base == FN_MPI_Pready || s->mpi->base == FN_MPI_Pready_range || s->mpi->base == FN_MPI_Pready_list)
		return CALL_READY;
	return sends && receives ? CALL_SENDRECV : sends ? CALL_SEND : receives ? CALL_RECV : CALL_OTHER;
}

static enum call_kind kind_of(const struct schema *s)
{
	int created = s->at[PARAMETER_CREATED], freed = s->at[PARAMETER_FREED];
	switch (s->mpi->class) {
	case MPI_CLASS_POINT_TO_POINT:
		return point_to_point(s);
	case MPI_CLASS_COLLECTIVE:
		return CALL_COLLECTIVE;
	case MPI_CLASS_COMPLETION:
		if (s->mpi->completes)
			return CALL_COMPLETE;
		return s->mpi->base == FN_MPI_Mprobe || s->mpi->base == FN_MPI_Improbe ? CALL_MPROBE
		       : s->mpi->base == FN_MPI_Cancel                                 ? CALL_CANCEL
		       : s->mpi->base == FN_MPI_Request_free                           ? CALL_FREE
		                                                                       : CALL_OTHER;
	case MPI_CLASS_COMMUNICATOR:
	case MPI_CLASS_TOPOLOGY:
		return created >= 0 && s->column[created].kind == 'c' ? CALL_COMM_MAKE
		       : freed >= 0 && s->column[freed].kind == 'c'   ? CALL_COMM_FREE
		                                                      : CALL_OTHER;
	case MPI_CLASS_PROCESS: /* MPI_Comm_spawn, MPI_Comm_accept */
		return created >= 0 && s->mpi->scope == SCOPE_COMM ? CALL_COMM_MAKE : CALL_OTHER;
	default:
		return CALL_OTHER;
	}
}

int calls_make(struct calls *c, const struct trace *t)
{
	*c = (struct calls){.trace = t, .items = budget_calloc((size_t)t->function_count + 1, sizeof *c->items)};
	if (!c->items)
		return -1;
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;
		c->items[i] = (struct call){s, kind_of(s), collective_of(s->mpi->base)};
	}
	return 0;
}

void calls_free(struct calls *c)
{
	budget_free(c->items);
	c->items = NULL;
}

const struct pool_item *call_array(const struct trace *t, const struct event *e, enum mpi_parameter p, size_t *n)
{
	*n = 0;
	int at = e->schema->at[p];
	if (at < 0 || !e->schema->column[at].vector || value_is_constant(e->values[at]) || e->values[at] == VALUE_LOSSY)
		return NULL;
	const struct pool_item *item = event_vector(t, e, e->values[at]);
	*n = item->size / sizeof(int64_t);
	return item;
}

bool column_has_names(const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t i = 0; i < c->groups[g].count; i++) {
			const struct rankmap *m = &c->groups[g].dict[i].start;
			for (uint32_t n = 0; n < m->node_count; n++)
				if (m->nodes[n].low == DIAGRAM_LEAF && value_is_constant(m->nodes[n].delta))
					return true;
		}
	return false;
}

bool column_has_constant(const struct trace *t, const struct trace_column *c, enum mpi_constant constant)
{
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t i = 0; i < c->groups[g].count; i++) {
			const struct rankmap *m = &c->groups[g].dict[i].start;
			for (uint32_t n = 0; n < m->node_count; n++)
				if (m->nodes[n].low == DIAGRAM_LEAF &&
				    trace_is_constant(t, m->nodes[n].delta, constant))
					return true;
		}
	return false;
}

int64_t array_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}
