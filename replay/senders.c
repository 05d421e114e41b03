/* SPDX-License-Identifier: BSD-3-Clause
 * senders - the contexts of the ranks that may send to this one
 */
#include "replay/senders.h"

#include <stdlib.h>
#include <string.h>

#include "replay/lossy_messages.h"
#include "replay/rank_clock.h"
#include "replay/sampler.h"
#include "trace/model/value.h"

#define DESTINATIONS 4096 /* ranges of ranks that a rank may send to */

/* A function, as far as it matters here. */
struct role {
	bool sends;
	int dest, comm; /* columns; -1: not there */
};

struct sender {
	uint32_t rank; /* in MPI_COMM_WORLD */
	struct walk *walk;
	struct sampler *sampler;
	uint64_t *visits; /* by site */
	struct rank_clock at;
	struct event event; /* the next one */
	uint64_t visit;     /* of it */
	bool ended;
	long long expected, received, forgiven;
	struct shared_comm {    /* a communicator that both are in */
		int64_t number; /* the sender's */
		int me, size;
	} * comms;
	int comm_count;
};

/* A rank that this one may send to, relative to its own: low .. high. */
struct destination {
	int64_t comm; /* VALUE_LOSSY: any */
	int64_t low, high, weight;
};

struct senders {
	const struct trace *trace;
	uint32_t rank;
	uint64_t seed;
	struct role *roles; /* by function */
	struct rank_clock at;
	struct sender *list[SENDERS_MAX];
	int count, more;
	bool persistent; /* the trace has persistent sends */
	struct destination *destinations;
	size_t destination_count;
	struct counters {
		struct counters *next;
		long long *by_source[];
	} * counters;
	bool advanced; /* the contexts are as far as this event */
	int64_t world; /* the value of MPI_COMM_WORLD */
};

/* ---- functions ---- */

static bool is_send(const struct schema *s)
{
	return s->mpi->class == MPI_CLASS_POINT_TO_POINT && s->at[PARAMETER_DEST] >= 0;
}

static struct role role_of(const struct schema *s)
{
	struct role r = {.dest = s->at[PARAMETER_DEST], .comm = s->at[PARAMETER_COMM]};
	r.sends = is_send(s) && s->mpi->form != FORM_PERSISTENT && s->at[PARAMETER_ERROR] < 0 && r.comm >= 0;
	return r;
}

/* ---- senders ---- */

static void sender_destroy(struct sender *c)
{
	if (!c)
		return;
	walk_end(c->walk);
	sampler_destroy(c->sampler);
	rank_clock_close(&c->at);
	free(c->visits);
	free(c->comms);
	free(c);
}

static void next_sender_event(struct sender *c)
{
	struct error error;
	if (walk_next(c->walk, &c->event, &error) != 0) {
		c->ended = true;
		return;
	}
	c->visit = c->visits[c->event.site]++;
	rank_clock_begin(&c->at, &c->event);
}

static struct sender *sender_create(const struct senders *f, uint32_t rank)
{
	struct sender *c = calloc(1, sizeof *c);
	struct error error;
	if (!c)
		return NULL;
	c->rank = rank;
	c->sampler = sampler_create(f->trace, rank, f->seed);
	c->visits = calloc((size_t)f->trace->site_count + 1, sizeof *c->visits);
	if (!c->sampler || !c->visits || rank_clock_open(&c->at, f->trace, rank, &error) != 0 ||
	    walk_begin(&c->walk, f->trace, rank, &error) != 0) {
		sender_destroy(c);
		return NULL;
	}
	next_sender_event(c);
	return c;
}

/* The next event of the context, if it is a send to this rank. */
static bool sends_here(const struct senders *f, const struct sender *c)
{
	const struct role *r = &f->roles[f->trace->sites[c->event.site].function];
	if (!r->sends)
		return false;
	int64_t comm = c->event.values[r->comm], number = comm == f->world ? SENDERS_WORLD : comm;
	for (int i = 0; i < c->comm_count; i++) {
		const struct shared_comm *m = &c->comms[i];
		int64_t dest = c->event.values[r->dest];
		if (m->number != number)
			continue;
		if (dest == VALUE_LOSSY) {
			dest = sampler_value(c->sampler, c->event.site, (size_t)r->dest, c->visit);
			return !value_is_constant(dest) && sampler_rank(dest, c->event.base, m->size) == m->me;
		}
		return !value_is_constant(dest) && dest + c->event.base == m->me;
	}
	return false;
}

/* Until the sender's clock is what this rank's will be at the end of its event. */
static void advance_sender(const struct senders *f, struct sender *c)
{
	while (!c->ended && (c->at.epoch < f->at.epoch || (c->at.epoch == f->at.epoch && c->at.begin < f->at.until))) {
		c->expected += sends_here(f, c);
		rank_clock_end(&c->at, &c->event);
		next_sender_event(c);
	}
}

void senders_event_begins(struct senders *f, const struct event *e)
{
	rank_clock_begin(&f->at, e);
	f->advanced = false;
}

void senders_event_ended(struct senders *f, const struct event *e)
{
	rank_clock_end(&f->at, e);
}

bool senders_arrived(void *context)
{
	struct senders *f = context;
	bool all = true;
	for (int i = 0; i < f->count; i++) {
		struct sender *c = f->list[i];
		if (!f->advanced)
			advance_sender(f, c);
		all &= c->received >= c->expected || c->expected <= c->forgiven;
	}
	f->advanced = true;
	return all;
}

void senders_stop_waiting(void *context)
{
	struct senders *f = context;
	for (int i = 0; i < f->count; i++)
		f->list[i]->forgiven = f->list[i]->expected;
}

int senders_count(const struct senders *f, int *more)
{
	*more = f->more;
	return f->count;
}

bool senders_all_followed(const struct senders *f)
{
	return f->more == 0 && !f->persistent;
}

/* ---- whom a rank may send to ---- */

static void add_destination(struct senders *f, int64_t comm, int64_t low, int64_t high, int64_t weight)
{
	if (value_is_constant(low) || f->destination_count == DESTINATIONS)
		return;
	for (size_t i = 0; i < f->destination_count; i++)
		if (f->destinations[i].comm == comm && f->destinations[i].low == low &&
		    f->destinations[i].high == high) {
			f->destinations[i].weight += weight;
			return;
		}
	f->destinations[f->destination_count++] = (struct destination){comm, low, high, weight};
}

/* The values of a column in this rank. */
static void add_destinations(struct senders *f, const struct trace_site *s, const struct role *r, int64_t visits)
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
			add_destination(f, comm, b->min, b->max, (int64_t)b->count);
		}
		for (uint32_t i = 0; !group->lossy && i < group->count; i++) {
			const struct trace_stretch *d = &group->dict[i];
			stride = 0;
			if (!rankmap_get(&d->start, f->rank, &start) ||
			    (d->count > 1 && !rankmap_get(&d->stride, f->rank, &stride)))
				continue;
			for (uint64_t k = 0; k < d->count && k < DESTINATIONS; k++)
				add_destination(f, comm, start + (int64_t)k * stride, start + (int64_t)k * stride,
				                visits / group->count + 1);
		}
	}
}

int senders_create(struct senders **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error)
{
	struct senders *f = calloc(1, sizeof *f);
	int64_t visits;
	*out = f;
	if (!f)
		return error_set(error, "no memory");
	*f = (struct senders){.trace = t, .rank = rank, .seed = seed, .world = VALUE_LOSSY};
	f->roles = calloc((size_t)t->function_count + 1, sizeof *f->roles);
	f->destinations = malloc(DESTINATIONS * sizeof *f->destinations);
	if (!f->roles || !f->destinations)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *schema = &t->functions[i].schema;
		f->roles[i] = role_of(schema);
		f->persistent |= is_send(schema) && schema->mpi->form == FORM_PERSISTENT;
	}
	for (uint32_t i = 0; i < t->strings.count; i++)
		if (trace_is_constant(t, VALUE_CONSTANT + (int64_t)i, CONST_MPI_COMM_WORLD))
			f->world = VALUE_CONSTANT + (int64_t)i;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		if (f->roles[s->function].sends && rankmap_get(&s->visits, rank, &visits))
			add_destinations(f, s, &f->roles[s->function], visits);
	}
	return rank_clock_open(&f->at, t, rank, error);
}

void senders_destroy(struct senders *f)
{
	if (!f)
		return;
	for (int i = 0; i < f->count; i++)
		sender_destroy(f->list[i]);
	while (f->counters) {
		struct counters *next = f->counters->next;
		free(f->counters);
		f->counters = next;
	}
	rank_clock_close(&f->at);
	free(f->roles);
	free(f->destinations);
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

static int compare_weights(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->source - y->source;
}

/* The notices to all members. */
static void weigh_members(const struct senders *f, int64_t number, struct notice *to, int rank, int size)
{
	int64_t own = number == SENDERS_WORLD ? f->world : number;
	for (size_t i = 0; i < f->destination_count; i++) {
		const struct destination *a = &f->destinations[i];
		int64_t n = a->high - a->low < size ? a->high - a->low + 1 : size;
		for (int64_t k = 0; k < n && (a->comm == VALUE_LOSSY || a->comm == own); k++) {
			struct notice *at = &to[sampler_rank(a->low + k, rank, size)];
			at->number = number + 2;
			at->weight += a->weight / n + 1;
		}
	}
}

static struct sender *find_sender(struct senders *f, uint32_t rank)
{
	for (int i = 0; i < f->count; i++)
		if (f->list[i]->rank == rank)
			return f->list[i];
	if (f->count == SENDERS_MAX)
		return NULL;
	struct sender *c = sender_create(f, rank);
	if (c)
		f->list[f->count++] = c;
	return c;
}

static bool add_shared_comm(struct sender *c, int64_t number, int me, int size)
{
	struct shared_comm *m = realloc(c->comms, ((size_t)c->comm_count + 1) * sizeof *m);
	if (!m)
		return false;
	c->comms = m;
	m[c->comm_count++] = (struct shared_comm){number, me, size};
	return true;
}

/* The ranks in MPI_COMM_WORLD of those who may send to this one in a communicator. */
static void world_ranks(MPI_Comm comm, bool inter, int n, const struct candidate *candidates, int *world)
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

void senders_add_comm(void *senders, int64_t number, MPI_Comm comm)
{
	struct senders *f = senders;
	int size, rank, inter, n = 0, me;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &size);
	PMPI_Comm_test_inter(comm, &inter);
	me = rank;
	if (inter)
		PMPI_Comm_remote_size(comm, &size);
	struct notice *notices = calloc((size_t)size + 1, sizeof *notices),
		      *come = calloc((size_t)size + 1, sizeof *come);
	struct candidate *candidates = malloc(((size_t)size + 1) * sizeof *candidates);
	struct counters *counters = calloc(1, sizeof *counters + (size_t)size * sizeof *counters->by_source);
	int *world = malloc(((size_t)size + 1) * sizeof *world);
	if (!notices || !come || !candidates || !counters || !world)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	counters->next = f->counters;
	f->counters = counters;
	weigh_members(f, number, notices, rank, size);
	PMPI_Alltoall(notices, 2, MPI_INT64_T, come, 2, MPI_INT64_T, comm);
	for (int i = 0; i < size; i++)
		if (come[i].number)
			candidates[n++] = (struct candidate){i, come[i].weight};
	qsort(candidates, (size_t)n, sizeof *candidates, compare_weights);
	world_ranks(comm, inter, n, candidates, world);
	for (int i = 0; i < n; i++) {
		int source = candidates[i].source;
		if (world[i] == (int)f->rank || world[i] == MPI_UNDEFINED)
			continue;
		struct sender *c = find_sender(f, (uint32_t)world[i]);
		/* how many ranks the sender draws from: those on this side */
		int drawn_from = size;
		if (inter)
			PMPI_Comm_size(comm, &drawn_from);
		if (c && add_shared_comm(c, come[source].number - 2, me, drawn_from))
			counters->by_source[source] = &c->received;
		else
			f->more++;
	}
	lossy_add_comm(comm, counters->by_source);
	free(come);
	free(notices);
	free(candidates);
	free(world);
}
