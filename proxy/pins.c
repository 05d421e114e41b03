/* SPDX-License-Identifier: BSD-3-Clause
 * pins - whose message each receive from MPI_ANY_SOURCE got
 */
#include "proxy/pins.h"

#include "trace/base/budget.h"

/* What a rank did so far. */
struct looking {
	struct pins *pins;
	const struct trace *trace;
	struct act_caller caller;
	int64_t comm, tag, elements, type; /* of the first one from MPI_ANY_SOURCE */
	bool depends;                      /* something may depend on whose message it was */
};

static bool is_any(const struct trace *t, const struct event *e)
{
	return trace_is_constant(t, call_value(e, PARAMETER_SOURCE), CONST_MPI_ANY_SOURCE);
}

static bool is_rank(int64_t v)
{
	return !value_is_constant(v) && v > VALUE_LOSSY;
}

static bool has_any(const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		int source = trace_schema(t, &t->sites[i])->at[PARAMETER_SOURCE];
		if (source >= 0 && column_has_constant(t, &t->sites[i].columns[source], CONST_MPI_ANY_SOURCE))
			return true;
	}
	return false;
}

int pins_begin(struct pins *p, const struct trace *t, struct error *error)
{
	*p = (struct pins){.comms = NULL};
	if (!has_any(t))
		return 0;
	return calls_make(&p->calls, t) == 0 ? comms_make(&p->comms, &p->calls, error) : error_set(error, "no memory");
}

void pins_end(struct pins *p)
{
	budget_free(p->list);
	comms_destroy(p->comms);
	calls_free(&p->calls);
}

/* Is it a receive that takes each message that the first one from MPI_ANY_SOURCE may take, and no other? */
static bool fits_alike(const struct looking *l, const struct event *e)
{
	return e->schema->mpi->base == FN_MPI_Recv && call_value(e, PARAMETER_COMM) == l->comm &&
	       call_value(e, PARAMETER_TAG) == l->tag && call_value(e, PARAMETER_COUNT) == l->elements &&
	       call_value(e, PARAMETER_TYPE) == l->type;
}

static int pin_any(struct looking *l, const struct event *e)
{
	struct pins *p = l->pins;
	if (p->count == 0) {
		l->comm = call_value(e, PARAMETER_COMM);
		l->tag = call_value(e, PARAMETER_TAG);
		l->elements = call_value(e, PARAMETER_COUNT);
		l->type = call_value(e, PARAMETER_TYPE);
	}
	l->depends |= !fits_alike(l, e);
	if (!budget_grow(&p->list, p->count, &p->capacity, sizeof *p->list))
		return -1;
	int64_t source = act_peer(&l->caller, e, call_value(e, PARAMETER_STATUS_SOURCE));
	p->list[p->count++] = (struct pin){e->number, source >= 0 ? source : ACT_ANY};
	return 0;
}

/* A message came for the call that `began` is the number of. */
static void pin_end(struct pins *p, const struct act *a)
{
	uint32_t low = 0, high = p->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (p->list[middle].event < a->began)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < p->count && p->list[low].event == a->began && a->local != RANK_UNKNOWN)
		p->list[low].source = a->local;
}

static int pins_event(struct looking *l, struct execution *x, const struct event *e)
{
	size_t n;
	const struct act *list = execution_event(x, e, &n);
	int64_t source = call_value(e, PARAMETER_SOURCE), dest = call_value(e, PARAMETER_DEST);
	for (size_t i = 0; list && i < n; i++)
		if (list[i].kind == ACT_RECV_END)
			pin_end(l->pins, &list[i]);
	if (!list)
		return -1;
	if (e->schema->mpi->class != MPI_CLASS_POINT_TO_POINT || event_is_vain(e))
		return 0;
	l->depends |= is_rank(dest) || is_rank(source);
	return is_any(l->trace, e) ? pin_any(l, e) : 0;
}

int pins_rank(struct pins *p, uint32_t rank, struct error *error)
{
	struct looking l = {.pins = p, .trace = p->calls.trace};
	struct execution *x;
	struct walk *w = NULL;
	struct event e;
	int step = -1;

	p->count = p->next = 0;
	if (!p->comms)
		return 0;
	l.caller = (struct act_caller){.calls = &p->calls, .comms = p->comms, .stream = rank};
	x = execution_create(&p->calls, p->comms, rank);
	if (!x)
		return error_set(error, "no memory");
	if (walk_begin(&w, l.trace, rank, error) == 0)
		while ((step = walk_next(w, &e, error)) == 0)
			if (pins_event(&l, x, &e) != 0) {
				step = error_set(error, "no memory");
				break;
			}
	walk_end(w);
	execution_destroy(x);
	if (!l.depends)
		p->count = 0;
	return step < 0 ? -1 : 0;
}

int64_t pins_source(struct pins *p, uint64_t event)
{
	while (p->next < p->count && p->list[p->next].event < event)
		p->next++;
	return p->next < p->count && p->list[p->next].event == event ? p->list[p->next].source : ACT_ANY;
}
