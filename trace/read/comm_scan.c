/* SPDX-License-Identifier: BSD-3-Clause
 * comm_scan - the communicators that one stream makes
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/host.h"
#include "trace/read/comm_own.h"

/* What one rank has walked through. */
struct scan {
	struct comms *comms;
	const struct calls *calls;
	uint32_t stream;
	size_t first; /* of the stream's in comms.own */
	uint64_t world_made, self_made;
	int64_t *ranks, *sizes;
	size_t rows;
};

static struct own *comm_find(struct comms *c, size_t first, int64_t symbol)
{
	size_t low = first, high = c->count; /* symbols ascend: they are never used again */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->own[middle].symbol < symbol)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->count && c->own[low].symbol == symbol ? &c->own[low] : NULL;
}

static uint64_t text_hash(const char *text)
{
	uint64_t h = 7;
	for (; *text; text++)
		h = hash_mix(h, (unsigned char)*text);
	return h;
}

/* The place of the communicator that a value names. */
static uint32_t comm_place(const struct scan *s, int64_t value)
{
	if (value_is_constant(value))
		return trace_is_constant(s->calls->trace, value, CONST_MPI_COMM_WORLD)  ? OWN_WORLD
		       : trace_is_constant(s->calls->trace, value, CONST_MPI_COMM_SELF) ? OWN_SELF
		                                                                        : OWN_NONE;
	const struct own *own = comm_find(s->comms, s->first, value);
	return own ? (uint32_t)(own - s->comms->own) : OWN_NONE;
}

/* Where it is counted what is made of one. */
static uint64_t *comm_made(struct scan *s, uint32_t place)
{
	return place == OWN_WORLD  ? &s->world_made
	       : place == OWN_SELF ? &s->self_made
	       : place == OWN_NONE ? NULL
	                           : &s->comms->own[place].made;
}

/* What tells apart the communicators that one call makes. *dims is that of the new one, malloc'ed; NULL. */
static uint64_t color_of(struct scan *s, const struct event *e, const struct own *parent, int64_t size, int64_t **dims,
                         size_t *ndims)
{
	const struct trace *t = s->calls->trace;
	char host[HOST_MAX];
	size_t n;
	*dims = NULL;
	*ndims = 0;
	if (e->schema->at[PARAMETER_COLOR] >= 0)
		return (uint64_t)call_value(e, PARAMETER_COLOR);
	if (e->schema->at[PARAMETER_SPLIT_TYPE] >= 0) {
		host_get(t, s->stream, host);
		return text_hash(host);
	}
	const struct pool_item *item = call_array(s->calls->trace, e, PARAMETER_DIMS, &n);
	if (item && n < 64 && (*dims = budget_malloc((n + 1) * sizeof **dims))) {
		for (size_t i = 0; i < n; i++)
			(*dims)[i] = array_element(item, i);
		*ndims = n;
		return 0;
	}
	item = call_array(s->calls->trace, e, PARAMETER_REMAIN_DIMS, &n);
	if (item && parent && parent->dims && n == parent->ndims && (*dims = budget_malloc((n + 1) * sizeof **dims))) {
		uint64_t h = 3;
		int64_t rank = parent->rank;
		for (size_t i = n; i-- > 0;) { /* the last dimension varies fastest */
			int64_t d = parent->dims[i] > 0 ? parent->dims[i] : 1;
			if (array_element(item, i) == 0)
				h = hash_mix(hash_mix(h, i), (uint64_t)(rank % d));
			rank /= d;
		}
		for (size_t i = 0; i < n; i++)
			if (array_element(item, i) != 0)
				(*dims)[(*ndims)++] = parent->dims[i];
		return h;
	}
	return (uint64_t)size;
}

static enum origin origin_of(const struct event *e)
{
	switch ((int)e->schema->mpi->base) {
	case FN_MPI_Intercomm_create:
	case FN_MPI_Comm_accept:
	case FN_MPI_Comm_connect:
		return ORIGIN_HALF;
	case FN_MPI_Intercomm_merge:
		return ORIGIN_MERGED;
	case FN_MPI_Comm_create_group:
	case FN_MPI_Comm_create_from_group:
		return ORIGIN_MEMBERS;
	default:
		return ORIGIN_PARENT;
	}
}

/* Who is in it, no call says: other worlds, and groups that are made of no communicator. */
static bool is_foreign(const struct event *e)
{
	const struct mpi_function *f = e->schema->mpi;
	return f->base == FN_MPI_Intercomm_create_from_groups ||
	       (f->class == MPI_CLASS_PROCESS && f->base != FN_MPI_Comm_accept && f->base != FN_MPI_Comm_connect);
}

/* The two leaders of an intercommunicator make the same call with the same tag in the same communicator, or meet at a
 * port. */
static void comm_meeting(const struct scan *s, const struct event *e, struct own *own)
{
	int64_t port = call_value(e, PARAMETER_PORT), leader = call_value(e, PARAMETER_REMOTE_LEADER);
	own->met = OWN_NONE;
	if (e->schema->mpi->class == MPI_CLASS_PROCESS) {
		own->second = e->schema->mpi->base == FN_MPI_Comm_connect;
		own->meeting = port < 0 ? 0 : hash_mix(31, (uint64_t)port) | 1;
		return;
	}
	own->met = comm_place(s, call_value(e, PARAMETER_PEER_COMM));
	if (leader < 0 || own->met == OWN_NONE || own->met == OWN_SELF)
		return; /* none: both are `-` */
	int64_t self = own->met == OWN_WORLD ? own->home : s->comms->own[own->met].rank;
	own->second = self > leader;
	own->meeting = hash_mix(hash_mix(hash_mix(37, (uint64_t)(own->second ? leader : self)),
	                                 (uint64_t)(own->second ? self : leader)),
	                        (uint64_t)call_value(e, PARAMETER_TAG)) |
	               1;
}

static int comm_make(struct scan *s, const struct event *e)
{
	struct comms *all = s->comms;
	const struct trace *t = s->calls->trace;
	int64_t symbol = call_value(e, PARAMETER_CREATED);
	struct own new = {.parent = comm_place(s, call_value(e, PARAMETER_COMM)),
	                  .stream = s->stream,
	                  .home = stream_rank(t, s->stream),
	                  .number = COMM_UNKNOWN,
	                  .met = OWN_NONE,
	                  .origin = origin_of(e)};
	const struct own *parent = new.parent < all->count ? &all->own[new.parent] : NULL;
	uint64_t *made = comm_made(s, new.parent), ordinal = 0;
	if (made && new.origin != ORIGIN_MEMBERS)
		ordinal = (*made)++;
	if (symbol < 0 || (uint64_t)symbol >= s->rows || s->sizes[symbol] <= 0 || value_is_constant(s->ranks[symbol]) ||
	    is_foreign(e))
		return 0; /* MPI_COMM_NULL, or it is not known who is in it */
	if (new.parent == OWN_NONE && e->schema->at[PARAMETER_COMM] >= 0 && new.origin != ORIGIN_MERGED)
		return 0;
	new.symbol = (uint32_t)symbol;
	new.rank = s->ranks[symbol] + new.home;
	new.size = s->sizes[symbol];
	new.inter = new.origin == ORIGIN_HALF || (new.origin == ORIGIN_PARENT &&parent && parent->inter);
	/* of the groups of an intercommunicator the sizes differ */
	uint64_t color = color_of(s, e, parent, new.inter ? 0 : new.size, &new.dims, &new.ndims);
	if (new.origin == ORIGIN_MEMBERS)
		new.branch = hash_mix(
			e->schema->at[PARAMETER_COMM] < 0 ? 6 : 5,
			(uint64_t)call_value(e, e->schema->at[PARAMETER_COMM] < 0 ? PARAMETER_NAME : PARAMETER_TAG));
	new.branch = hash_mix(hash_mix(new.branch, ordinal),
	                      new.origin == ORIGIN_MERGED || new.origin == ORIGIN_HALF ? (uint64_t) new.origin : color);
	if (new.origin == ORIGIN_HALF)
		comm_meeting(s, e, &new);
	if (!budget_grow(&all->own, all->count, &all->capacity, sizeof *all->own)) {
		budget_free(new.dims);
		return -1;
	}
	all->own[all->count++] = new;
	return 0;
}

int comms_scan(struct comms *c, const struct calls *calls, uint32_t stream, uint64_t left, uint64_t *events,
               struct error *error)
{
	int rv = -1, step = 0;
	const struct trace *t = calls->trace;
	struct scan s = {.comms = c, .calls = calls, .stream = stream, .first = c->count};
	struct walk *w = NULL;
	struct event e;
	size_t n;
	if (walk_begin(&w, t, stream, error) != 0 ||
	    walk_object(t, stream, "@comm", "rank", &s.ranks, &s.rows, error) != 0 ||
	    walk_object(t, stream, "@comm", "size", &s.sizes, &n, error) != 0)
		goto done;
	for (uint64_t before = left; left > 0 && *events > 0 && (step = walk_next(w, &e, error)) == 0; --*events) {
		const struct call *call = call_of(calls, &e);
		bool names = comm_is_named(e.schema), marked;
		uint64_t turns = walk_repeats(w, &marked);
		if (call->kind != CALL_COMM_MAKE && !names) {
			if (turns > 0 && left == before) /* the loop makes none */
				walk_leap(w, turns);
			before = marked ? left : before;
			continue;
		}
		left--;
		before = marked ? left : before;
		if (call_failed(&e))
			continue;
		if (names) {
			struct own *own = comm_find(c, s.first, call_value(&e, PARAMETER_COMM));
			int64_t string = call_value(&e, PARAMETER_NAME);
			if (own && string >= 0 && (uint64_t)string < t->strings.count)
				own->name = (const char *)t->strings.items[string].bytes;
		} else if (comm_make(&s, &e) != 0) {
			error_set(error, "no memory");
			goto done;
		}
	}
	rv = left == 0 || step > 0 ? 0 : *events == 0 ? 1 : -1;
done:
	for (size_t i = s.first; i < c->count; i++) {
		budget_free(c->own[i].dims);
		c->own[i].dims = NULL;
	}
	walk_end(w);
	budget_free(s.ranks);
	budget_free(s.sizes);
	return rv;
}
