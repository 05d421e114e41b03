/* SPDX-License-Identifier: BSD-3-Clause
 * comms - the communicators of a job
 */
#include "trace/read/comms.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/host.h"

/* A communicator as one rank knows it. */
struct own {
	uint64_t key;
	uint32_t stream, symbol, number; /* number: of the communicator, once it is known */
	uint32_t home;                   /* the stream's rank */
	int64_t rank, size;              /* the stream's in it */
	uint64_t parent;                 /* its key */
	const char *name;
	/* while the rank is walked */
	uint64_t made; /* how many communicators were made of it */
	int64_t *dims; /* of a cartesian one */
	size_t ndims;
};

struct comms {
	const struct trace *trace;
	struct own *own; /* by stream, symbol; at the end by home, symbol */
	uint32_t count, capacity;
	struct comm *comms;
	uint32_t comm_count;
};

#define KEY_WORLD 1
#define KEY_SELF  2

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

/* The key of the communicator that a value names, and where to count what is made of it. */
static uint64_t comm_key(struct scan *s, int64_t value, uint64_t **made, struct own **own)
{
	*own = NULL;
	*made = NULL;
	if (value_is_constant(value)) {
		bool world = trace_is_constant(s->calls->trace, value, CONST_MPI_COMM_WORLD);
		if (!world && !trace_is_constant(s->calls->trace, value, CONST_MPI_COMM_SELF))
			return 0;
		*made = world ? &s->world_made : &s->self_made;
		return world ? KEY_WORLD : hash_mix(KEY_SELF, s->stream);
	}
	*own = comm_find(s->comms, s->first, value);
	*made = *own ? &(*own)->made : NULL;
	return *own ? (*own)->key : 0;
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

static int comm_make(struct scan *s, const struct event *e)
{
	struct comms *all = s->comms;
	struct own *parent;
	uint64_t *made, key = comm_key(s, call_value(e, PARAMETER_COMM), &made, &parent), ordinal = 0, parent_key = key;
	int64_t symbol = call_value(e, PARAMETER_CREATED);
	enum mpi_number base = e->schema->mpi->base;
	bool group = base == FN_MPI_Comm_create_group,
	     inter = base == FN_MPI_Intercomm_create || base == FN_MPI_Intercomm_create_from_groups;
	if (made && !group)
		ordinal = (*made)++;
	if (symbol < 0 || (uint64_t)symbol >= s->rows || s->sizes[symbol] <= 0 || value_is_constant(s->ranks[symbol]) ||
	    inter)
		return 0; /* MPI_COMM_NULL, or it is not known who is in it */
	int64_t rank = s->ranks[symbol] + stream_rank(s->calls->trace, s->stream), *dims;
	size_t ndims;
	uint64_t color = color_of(s, e, parent, s->sizes[symbol], &dims, &ndims);
	if (group)
		key = hash_mix(hash_mix(key, 5), (uint64_t)call_value(e, PARAMETER_TAG));
	else if (e->schema->at[PARAMETER_COMM] < 0)
		key = hash_mix(6, (uint64_t)call_value(e, PARAMETER_NAME));
	else if (key == 0 && base == FN_MPI_Intercomm_merge)
		key = 8;
	else if (key == 0) {
		budget_free(dims);
		return 0;
	}
	key = hash_mix(hash_mix(hash_mix(key, 9), ordinal), color);
	if (group || e->schema->at[PARAMETER_COMM] < 0 || key == 8) { /* counted by the members alone */
		uint64_t again = 0;
		for (size_t i = s->first; i < all->count; i++)
			again += all->own[i].key == hash_mix(key, again);
		key = hash_mix(key, again);
	}
	if (!budget_grow(&all->own, all->count, &all->capacity, sizeof *all->own)) {
		budget_free(dims);
		return -1;
	}
	all->own[all->count++] = (struct own){.key = key,
	                                      .stream = s->stream,
	                                      .symbol = (uint32_t)symbol,
	                                      .number = COMM_UNKNOWN,
	                                      .home = stream_rank(s->calls->trace, s->stream),
	                                      .rank = rank,
	                                      .size = s->sizes[symbol],
	                                      .parent = parent_key,
	                                      .dims = dims,
	                                      .ndims = ndims};
	return 0;
}

static bool names_comm(const struct schema *s)
{
	return s->mpi->function == FN_MPI_Comm_set_name && s->at[PARAMETER_NAME] >= 0;
}

/* left: calls that make communicators; *events: that may be walked. Returns as comms_make_within. */
static int comms_scan(struct comms *c, const struct calls *calls, uint32_t stream, uint64_t left, uint64_t *events,
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
		bool names = names_comm(e.schema), marked;
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

static struct own **sorted(struct comms *c)
{
	struct own **list = budget_malloc((c->count + 1) * sizeof *list);
	for (size_t i = 0; list && i < c->count; i++)
		list[i] = &c->own[i];
	return list;
}

static int by_key(const void *a, const void *b)
{
	const struct own *x = *(struct own *const *)a, *y = *(struct own *const *)b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->stream != y->stream ? (x->stream < y->stream ? -1 : 1)
	                              : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* All threads of a rank know a communicator by the same number, whichever made it. */
static int comm_by_number(const void *a, const void *b)
{
	const struct own *x = a, *y = b;
	return x->home != y->home ? (x->home < y->home ? -1 : 1) : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Those with one key and size: one communicator, or several if a rank in it comes more than once. */
static int comm_found(struct comms *c, struct own **list, size_t n)
{
	size_t several = 1;
	for (size_t i = 0, k = 0; i < n; i++) {
		k = i > 0 && list[i]->rank == list[i - 1]->rank ? k + 1 : 1;
		several = k > several ? k : several;
	}
	struct comm *comms = budget_realloc(c->comms, (c->comm_count + several) * sizeof *comms);
	if (!comms)
		return -1;
	c->comms = comms;
	for (size_t i = 0; i < several; i++) {
		struct comm *new = &comms[c->comm_count + i];
		*new = (struct comm){.size = (uint32_t)list[0]->size,
		                     .members = budget_malloc((size_t)list[0]->size * sizeof *new->members),
		                     .parent = COMM_UNKNOWN};
		if (!new->members) {
			c->comm_count += (uint32_t)i;
			return -1;
		}
		for (uint32_t k = 0; k < new->size; k++)
			new->members[k] = RANK_UNKNOWN;
	}
	for (size_t i = 0, k = 0; i < n; i++) {
		k = i > 0 && list[i]->rank == list[i - 1]->rank ? k + 1 : 0;
		struct comm *new = &comms[c->comm_count + k];
		if (list[i]->rank < 0 || list[i]->rank >= list[i]->size)
			continue;
		list[i]->number = c->comm_count + (uint32_t)k;
		new->members[list[i]->rank] = stream_rank(c->trace, list[i]->stream);
		if (!new->name)
			new->name = list[i]->name;
	}
	c->comm_count += (uint32_t)several;
	return 0;
}

/* By the lowest rank that made it, and when: the order that people expect. */
static int by_appearance(const void *a, const void *b)
{
	const struct own *x = *(struct own *const *)a, *y = *(struct own *const *)b;
	return x < y ? -1 : x > y;
}

static int number_all(struct comms *c)
{
	int rv = -1;
	struct own **list = sorted(c);
	struct comm *ordered = NULL;
	uint32_t *renamed = NULL;
	if (c->count == 0) {
		budget_free(list);
		return 0;
	}
	if (!list)
		return -1;
	qsort(list, c->count, sizeof *list, by_key);
	for (size_t i = 0, end; i < c->count; i = end) {
		for (end = i + 1; end < c->count && list[end]->key == list[i]->key && list[end]->size == list[i]->size;)
			end++;
		if (list[i]->size > c->trace->size || comm_found(c, &list[i], end - i) != 0)
			goto done;
	}
	ordered = budget_malloc(c->comm_count * sizeof *ordered);
	renamed = budget_malloc(c->comm_count * sizeof *renamed);
	if (!ordered || !renamed)
		goto done;
	memset(renamed, 0xff, c->comm_count * sizeof *renamed);
	renamed[COMM_WORLD] = COMM_WORLD;
	renamed[COMM_SELF] = COMM_SELF;
	qsort(list, c->count, sizeof *list, by_appearance);
	uint32_t next = 2;
	for (size_t i = 0; i < c->count; i++)
		if (list[i]->number != COMM_UNKNOWN && renamed[list[i]->number] == COMM_UNKNOWN)
			renamed[list[i]->number] = next++;
	for (uint32_t i = 0; i < c->comm_count; i++) /* nobody's */
		if (renamed[i] == COMM_UNKNOWN)
			renamed[i] = next++;
	for (uint32_t i = 0; i < c->comm_count; i++)
		ordered[renamed[i]] = c->comms[i];
	memcpy(c->comms, ordered, c->comm_count * sizeof *ordered);
	for (size_t i = 0; i < c->count; i++) {
		struct own *own = &c->own[i];
		if (own->number == COMM_UNKNOWN)
			continue;
		own->number = renamed[own->number];
		if (own->parent == KEY_WORLD)
			c->comms[own->number].parent = COMM_WORLD;
		else
			for (size_t k = i; k-- > 0 && c->own[k].stream == own->stream;)
				if (c->own[k].key == own->parent)
					c->comms[own->number].parent = c->own[k].number;
	}
	rv = 0;
done:
	budget_free(list);
	budget_free(ordered);
	budget_free(renamed);
	return rv;
}

int comms_make(struct comms **out, const struct calls *calls, struct error *error)
{
	return comms_make_within(out, calls, UINT64_MAX, error);
}

int comms_make_within(struct comms **out, const struct calls *calls, uint64_t events, struct error *error)
{
	int rv = 0;
	const struct trace *t = calls->trace;
	struct comms *c = *out = budget_calloc(1, sizeof *c);
	int64_t unused;
	if (!c || !(c->comms = budget_calloc(2, sizeof *c->comms)))
		return error_set(error, "no memory");
	c->trace = t;
	c->comm_count = 2;
	c->comms[COMM_WORLD] =
		(struct comm){.size = t->size, .parent = COMM_UNKNOWN, .name = mpi_constant_name[CONST_MPI_COMM_WORLD]};
	c->comms[COMM_SELF] =
		(struct comm){.size = 1, .parent = COMM_UNKNOWN, .name = mpi_constant_name[CONST_MPI_COMM_SELF]};
	for (uint64_t stream = 0; rankmap_next(&t->events, &stream, &unused); stream++) {
		uint64_t left = 0;
		int64_t visits;
		for (uint32_t i = 0; i < t->site_count; i++) {
			const struct call *call = &calls->items[t->sites[i].function];
			if ((call->kind == CALL_COMM_MAKE || names_comm(call->schema)) &&
			    rankmap_get(&t->sites[i].visits, (uint32_t)stream, &visits))
				left += (uint64_t)visits;
		}
		if (left > 0 && (rv = comms_scan(c, calls, (uint32_t)stream, left, &events, error)) != 0)
			return rv;
	}
	if (number_all(c) != 0)
		return error_set(error, "no memory, or a communicator is larger than MPI_COMM_WORLD");
	if (c->count > 0)
		qsort(c->own, c->count, sizeof *c->own, comm_by_number);
	return 0;
}

void comms_destroy(struct comms *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->comm_count; i++)
		budget_free(c->comms[i].members);
	budget_free(c->comms);
	budget_free(c->own);
	budget_free(c);
}

uint32_t comms_count(const struct comms *c)
{
	return c->comm_count;
}

const struct comm *comms_at(const struct comms *c, uint32_t number)
{
	return &c->comms[number];
}

uint32_t comms_find(const struct comms *c, uint32_t stream, int64_t value)
{
	if (value_is_constant(value))
		return trace_is_constant(c->trace, value, CONST_MPI_COMM_WORLD)  ? COMM_WORLD
		       : trace_is_constant(c->trace, value, CONST_MPI_COMM_SELF) ? COMM_SELF
		                                                                 : COMM_UNKNOWN;
	if (value < 0 || value > UINT32_MAX || c->count == 0)
		return COMM_UNKNOWN;
	const struct own key = {.home = stream_rank(c->trace, stream), .symbol = (uint32_t)value},
			 *own = bsearch(&key, c->own, c->count, sizeof key, comm_by_number);
	return own ? own->number : COMM_UNKNOWN;
}

uint32_t comms_world(const struct comms *c, uint32_t comm, int64_t rank, uint32_t self)
{
	if (comm >= c->comm_count || rank < 0 || rank >= c->comms[comm].size)
		return RANK_UNKNOWN;
	return comm == COMM_WORLD ? (uint32_t)rank : comm == COMM_SELF ? self : c->comms[comm].members[rank];
}

uint32_t comms_local(const struct comms *c, uint32_t comm, uint32_t world)
{
	if (comm >= c->comm_count)
		return RANK_UNKNOWN;
	if (!c->comms[comm].members)
		return comm == COMM_SELF ? 0 : world;
	for (uint32_t i = 0; i < c->comms[comm].size; i++)
		if (c->comms[comm].members[i] == world)
			return i;
	return RANK_UNKNOWN;
}

bool comms_is_world(const struct comms *c, uint32_t comm)
{
	if (comm >= c->comm_count || c->comms[comm].size != c->trace->size)
		return false;
	for (uint32_t i = 0; c->comms[comm].members && i < c->comms[comm].size; i++)
		if (c->comms[comm].members[i] != i)
			return false;
	return comm != COMM_SELF || c->trace->size == 1;
}
