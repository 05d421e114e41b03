/* SPDX-License-Identifier: BSD-3-Clause
 * follow - the contexts of the ranks that may send to this one
 */
#include "replay/follow.h"

#include <stdlib.h>
#include <string.h>

#include "replay/deal.h"
#include "trace/model/value.h"

#define AIMS  4096 /* ranges of ranks that a rank may send to */
#define ALIKE 0.02 /* ranks whose clocks differ by less do the same, and their clocks are not stretched */

/* A function, as far as it matters here. */
struct role {
	bool sends, synchronizes;
	int dest, comm, error; /* columns; -1: not there */
};

/* Where a rank is in its trace. */
struct place {
	uint32_t last; /* site of the event before, or UINT32_MAX */
	uint64_t epoch;
	double end, begin, until; /* the clock: behind the event before; when this one begins and ends */
	double stretch;
	const int64_t *sizes; /* of communicators, by number */
	size_t size_count;
};

struct context {
	uint32_t rank; /* in MPI_COMM_WORLD */
	struct walk *walk;
	struct deal *deal;
	uint64_t *visits; /* by site */
	struct place at;
	struct event event; /* the next one */
	uint64_t visit;     /* of it */
	bool ended;
	long long expected, received, forgiven;
	struct meeting {        /* a communicator that both are in */
		int64_t number; /* the sender's */
		int me, size;
	} * meetings;
	int meeting_count;
};

/* A rank that this one may send to, relative to its own: low .. high. */
struct aim {
	int64_t comm; /* VALUE_LOSSY: any */
	int64_t low, high, weight;
};

struct follow {
	const struct trace *trace;
	uint32_t rank;
	uint64_t seed;
	struct role *roles; /* by function */
	struct place at;
	struct context *contexts[FOLLOW_MAX];
	int count, more;
	struct aim *aims;
	size_t aim_count;
	struct counters {
		struct counters *next;
		long long *by_source[];
	} * counters;
	bool advanced; /* the contexts are as far as this event */
	int64_t world; /* the value of MPI_COMM_WORLD */
};

/* ---- functions ---- */

static bool is(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

static int column(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (is(s->column[i].name, s->column[i].length, name))
			return (int)i;
	return -1;
}

static bool any_of(const struct schema *s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is(s->function, s->function_length, names[i]))
			return true;
	return false;
}

static struct role role_of(const struct schema *s)
{
	static const char *const sends[] = {"MPI_Send",     "MPI_Bsend",           "MPI_Ssend",  "MPI_Rsend",
	                                    "MPI_Sendrecv", "MPI_Isend",           "MPI_Ibsend", "MPI_Issend",
	                                    "MPI_Irsend",   "MPI_Sendrecv_replace"};
	static const char *const all[] = {"MPI_Barrier",     "MPI_Allreduce",      "MPI_Allgather",
	                                  "MPI_Allgatherv",  "MPI_Alltoall",       "MPI_Alltoallv",
	                                  "MPI_Alltoallw",   "MPI_Reduce_scatter", "MPI_Comm_split",
	                                  "MPI_Cart_create", "MPI_Comm_dup",       "MPI_Reduce_scatter_block"};
	struct role r = {.dest = column(s, "dest"), .comm = -1, .error = column(s, "error")};

	for (size_t i = 0; i < s->count && r.comm < 0; i++)
		if (s->column[i].kind == 'c')
			r.comm = (int)i;
	r.sends = any_of(s, sends, sizeof sends / sizeof *sends) && r.dest >= 0 && r.comm >= 0 && r.error < 0;
	r.synchronizes = any_of(s, all, sizeof all / sizeof *all) && r.comm >= 0 && r.error < 0;
	return r;
}

/* ---- clocks ---- */

static double mean(const struct trace_time *t)
{
	return t->count ? (double)t->sum / (double)t->count : 0;
}

static double edge_mean(const struct trace_site *s, uint32_t to)
{
	for (uint32_t k = 0; k < s->edge_count; k++)
		if (s->edges[k].to == to)
			return mean(&s->edges[k].compute);
	return 0;
}

/* Goes on to an event. */
static void arrive(const struct follow *f, struct place *p, const struct event *e)
{
	const struct trace_site *s = &f->trace->sites[e->site];

	p->begin = p->end + (p->last == UINT32_MAX ? 0 : edge_mean(&f->trace->sites[p->last], e->site)) * p->stretch;
	p->until = p->begin + mean(&s->communicate) * p->stretch;
}

/* Leaves it behind. */
static void leave(const struct follow *f, struct place *p, const struct event *e)
{
	const struct role *r = &f->roles[f->trace->sites[e->site].function];
	int64_t comm = r->comm >= 0 ? e->values[r->comm] : 0;

	p->last = e->site;
	p->end = p->until;
	if (trace_initializes(e->schema)) {
		p->end = 0;
	} else if (r->synchronizes && (comm == f->world || (comm >= 0 && (uint64_t)comm < p->size_count &&
	                                                    p->sizes[comm] == f->trace->size))) {
		p->epoch++;
		p->end = 0;
	}
}

/* How long a rank was at it, by the means of its sites. */
static double length(const struct trace *t, uint32_t rank)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		double edges = 0, count = 0;
		int64_t visits;

		if (!rankmap_get(&s->visits, rank, &visits) || trace_initializes(trace_schema(t, s)))
			continue;
		for (uint32_t k = 0; k < s->edge_count; k++) {
			edges += (double)s->edges[k].compute.sum;
			count += (double)s->edges[k].compute.count;
		}
		sum += (double)visits * (mean(&s->communicate) + (count > 0 ? edges / count : 0));
	}
	return sum;
}

/* All ranks began and ended at about the same time: the clock of one that does something else than the others is
 * stretched to that. */
static int place_begin(const struct follow *f, struct place *p, uint32_t rank, struct error *error)
{
	int64_t *sizes;
	double first = length(f->trace, rankmap_first(&f->trace->events)), own = length(f->trace, rank),
	       ratio = own > 0 ? first / own : 1;

	*p = (struct place){.last = UINT32_MAX, .stretch = ratio > 1 - ALIKE && ratio < 1 + ALIKE ? 1 : ratio};
	if (walk_object(f->trace, rank, "@comm", "size", &sizes, &p->size_count, error) != 0)
		return -1;
	p->sizes = sizes;
	return 0;
}

/* ---- contexts ---- */

static void context_destroy(struct context *c)
{
	if (!c)
		return;
	walk_end(c->walk);
	deal_destroy(c->deal);
	free((void *)c->at.sizes);
	free(c->visits);
	free(c->meetings);
	free(c);
}

static void next_event(const struct follow *f, struct context *c)
{
	struct error error;

	if (walk_next(c->walk, &c->event, &error) != 0) {
		c->ended = true;
		return;
	}
	c->visit = c->visits[c->event.site]++;
	arrive(f, &c->at, &c->event);
}

static struct context *context_create(const struct follow *f, uint32_t rank)
{
	struct context *c = calloc(1, sizeof *c);
	struct error error;

	if (!c)
		return NULL;
	c->rank = rank;
	c->deal = deal_create(f->trace, rank, f->seed);
	c->visits = calloc((size_t)f->trace->site_count + 1, sizeof *c->visits);
	if (!c->deal || !c->visits || place_begin(f, &c->at, rank, &error) != 0 ||
	    walk_begin(&c->walk, f->trace, rank, &error) != 0) {
		context_destroy(c);
		return NULL;
	}
	next_event(f, c);
	return c;
}

/* The next event of the context, if it is a send to this rank. */
static bool sends_here(const struct follow *f, const struct context *c)
{
	const struct role *r = &f->roles[f->trace->sites[c->event.site].function];

	if (!r->sends)
		return false;
	int64_t comm = c->event.values[r->comm], number = comm == f->world ? FOLLOW_WORLD : comm;

	for (int i = 0; i < c->meeting_count; i++) {
		const struct meeting *m = &c->meetings[i];
		int64_t dest = c->event.values[r->dest];

		if (m->number != number)
			continue;
		if (dest == VALUE_LOSSY) {
			dest = deal_value(c->deal, c->event.site, (size_t)r->dest, c->visit);
			return !value_is_constant(dest) && deal_rank(dest, c->event.base, m->size) == m->me;
		}
		return !value_is_constant(dest) && dest + c->event.base == m->me;
	}
	return false;
}

/* Until the sender's clock is what this rank's will be at the end of its event. */
static void advance(const struct follow *f, struct context *c)
{
	while (!c->ended && (c->at.epoch < f->at.epoch || (c->at.epoch == f->at.epoch && c->at.begin < f->at.until))) {
		c->expected += sends_here(f, c);
		leave(f, &c->at, &c->event);
		next_event(f, c);
	}
}

void follow_event(struct follow *f, const struct event *e)
{
	arrive(f, &f->at, e);
	f->advanced = false;
}

void follow_leave(struct follow *f, const struct event *e)
{
	leave(f, &f->at, e);
}

bool follow_arrived(void *context)
{
	struct follow *f = context;
	bool all = true;

	for (int i = 0; i < f->count; i++) {
		struct context *c = f->contexts[i];

		if (!f->advanced)
			advance(f, c);
		all &= c->received >= c->expected || c->expected <= c->forgiven;
	}
	f->advanced = true;
	return all;
}

void follow_forgive(void *context)
{
	struct follow *f = context;

	for (int i = 0; i < f->count; i++)
		f->contexts[i]->forgiven = f->contexts[i]->expected;
}

int follow_contexts(const struct follow *f, int *more)
{
	*more = f->more;
	return f->count;
}

/* ---- whom a rank may send to ---- */

static void add_aim(struct follow *f, int64_t comm, int64_t low, int64_t high, int64_t weight)
{
	if (value_is_constant(low) || f->aim_count == AIMS)
		return;
	for (size_t i = 0; i < f->aim_count; i++)
		if (f->aims[i].comm == comm && f->aims[i].low == low && f->aims[i].high == high) {
			f->aims[i].weight += weight;
			return;
		}
	f->aims[f->aim_count++] = (struct aim){comm, low, high, weight};
}

/* The values of a column in this rank. */
static void add_site(struct follow *f, const struct trace_site *s, const struct role *r, int64_t visits)
{
	const struct trace_column *dest = &s->columns[r->dest], *comms = &s->columns[r->comm];
	int64_t comm = VALUE_LOSSY, value, start, stride;

	for (uint32_t g = 0; g < comms->count; g++)
		if (comms->groups[g].pattern == 0 && !comms->groups[g].lossy &&
		    rankmap_get(&comms->groups[g].dict[0].start, f->rank, &value))
			comm = value;
	for (uint32_t g = 0; g < dest->count; g++) {
		const struct trace_group *group = &dest->groups[g];

		if (!rankmap_get(trace_group_ranks(group), f->rank, &value))
			continue;
		for (uint32_t i = 0; group->lossy && i < group->lossy->values.count; i++) {
			const struct tally_bin *b = &group->lossy->values.bins[i];

			add_aim(f, comm, b->min, b->max, (int64_t)b->count);
		}
		for (uint32_t i = 0; !group->lossy && i < group->count; i++) {
			const struct trace_stretch *d = &group->dict[i];

			stride = 0;
			if (!rankmap_get(&d->start, f->rank, &start) ||
			    (d->count > 1 && !rankmap_get(&d->stride, f->rank, &stride)))
				continue;
			for (uint64_t k = 0; k < d->count && k < AIMS; k++)
				add_aim(f, comm, start + (int64_t)k * stride, start + (int64_t)k * stride,
				        visits / group->count + 1);
		}
	}
}

int follow_begin(struct follow **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error)
{
	struct follow *f = calloc(1, sizeof *f);
	int64_t visits;

	*out = f;
	if (!f)
		return error_set(error, "no memory");
	*f = (struct follow){.trace = t, .rank = rank, .seed = seed, .world = VALUE_LOSSY};
	f->roles = calloc((size_t)t->function_count + 1, sizeof *f->roles);
	f->aims = malloc(AIMS * sizeof *f->aims);
	if (!f->roles || !f->aims)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->function_count; i++)
		f->roles[i] = role_of(&t->functions[i].schema);
	for (uint32_t i = 0; i < t->strings.count; i++)
		if (is((const char *)t->strings.items[i].bytes, t->strings.items[i].size, "MPI_COMM_WORLD"))
			f->world = VALUE_CONSTANT + (int64_t)i;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];

		if (f->roles[s->function].sends && rankmap_get(&s->visits, rank, &visits))
			add_site(f, s, &f->roles[s->function], visits);
	}
	return place_begin(f, &f->at, rank, error);
}

void follow_end(struct follow *f)
{
	if (!f)
		return;
	for (int i = 0; i < f->count; i++)
		context_destroy(f->contexts[i]);
	while (f->counters) {
		struct counters *next = f->counters->next;

		free(f->counters);
		f->counters = next;
	}
	free((void *)f->at.sizes);
	free(f->roles);
	free(f->aims);
	free(f);
}

/* ---- a communicator ---- */

/* What a member tells another one. */
struct notice {
	int64_t number; /* of the communicator in its trace, + 2; 0: it sends nothing */
	int64_t weight; /* calls, about */
};

struct candidate {
	int source;
	int64_t weight;
};

static int heavier(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->source - y->source;
}

/* The notices to all members. */
static void aim(const struct follow *f, int64_t number, struct notice *to, int rank, int size)
{
	int64_t own = number == FOLLOW_WORLD ? f->world : number;

	for (size_t i = 0; i < f->aim_count; i++) {
		const struct aim *a = &f->aims[i];
		int64_t n = a->high - a->low < size ? a->high - a->low + 1 : size;

		for (int64_t k = 0; k < n && (a->comm == VALUE_LOSSY || a->comm == own); k++) {
			struct notice *at = &to[deal_rank(a->low + k, rank, size)];

			at->number = number + 2;
			at->weight += a->weight / n + 1;
		}
	}
}

static struct context *context_of(struct follow *f, uint32_t rank)
{
	for (int i = 0; i < f->count; i++)
		if (f->contexts[i]->rank == rank)
			return f->contexts[i];
	if (f->count == FOLLOW_MAX)
		return NULL;
	struct context *c = context_create(f, rank);

	if (c)
		f->contexts[f->count++] = c;
	return c;
}

static bool meet(struct context *c, int64_t number, int me, int size)
{
	struct meeting *m = realloc(c->meetings, ((size_t)c->meeting_count + 1) * sizeof *m);

	if (!m)
		return false;
	c->meetings = m;
	m[c->meeting_count++] = (struct meeting){number, me, size};
	return true;
}

/* The ranks in MPI_COMM_WORLD of those who may send to this one in a communicator. */
static void translate(MPI_Comm comm, bool inter, int n, const struct candidate *candidates, int *world)
{
	MPI_Group group, all;
	int *ranks = malloc(((size_t)n + 1) * sizeof *ranks);

	if (inter)
		PMPI_Comm_remote_group(comm, &group);
	else
		PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &all);
	for (int i = 0; ranks && i < n; i++)
		ranks[i] = candidates[i].source;
	if (ranks)
		PMPI_Group_translate_ranks(group, n, ranks, all, world);
	PMPI_Group_free(&group);
	PMPI_Group_free(&all);
	free(ranks);
}

void follow_comm(struct follow *f, int64_t number, MPI_Comm comm)
{
	int size, rank, inter, n = 0, me;

	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	PMPI_Comm_test_inter(comm, &inter);
	me = rank;
	if (inter)
		PMPI_Comm_remote_size(comm, &size);
	struct notice *notices = calloc(2 * (size_t)size, sizeof *notices), *come = notices + size;
	struct candidate *candidates = malloc(((size_t)size + 1) * sizeof *candidates);
	struct counters *counters = calloc(1, sizeof *counters + (size_t)size * sizeof *counters->by_source);
	int *world = malloc(((size_t)size + 1) * sizeof *world);

	if (!notices || !candidates || !counters || !world)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	counters->next = f->counters;
	f->counters = counters;
	aim(f, number, notices, rank, size);
	PMPI_Alltoall(notices, 2, MPI_INT64_T, come, 2, MPI_INT64_T, comm);
	for (int i = 0; i < size; i++)
		if (come[i].number)
			candidates[n++] = (struct candidate){i, come[i].weight};
	qsort(candidates, (size_t)n, sizeof *candidates, heavier);
	translate(comm, inter, n, candidates, world);
	for (int i = 0; i < n; i++) {
		int source = candidates[i].source;

		if (world[i] == (int)f->rank || world[i] == MPI_UNDEFINED)
			continue;
		struct context *c = context_of(f, (uint32_t)world[i]);
		/* how many ranks the sender draws from: those on this side */
		int drawn_from = size;

		if (inter)
			PMPI_Comm_size(comm, &drawn_from);
		if (c && meet(c, come[source].number - 2, me, drawn_from))
			counters->by_source[source] = &c->received;
		else
			f->more++;
	}
	lossy_comm(comm, counters->by_source);
	free(notices);
	free(candidates);
	free(world);
}
