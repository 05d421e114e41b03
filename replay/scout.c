/* SPDX-License-Identifier: BSD-3-Clause
 * scout - looks ahead in a rank's events
 */
#include "replay/scout.h"

#include <stdlib.h>
#include <string.h>

#include "trace/model/value.h"

#define RING    ((size_t)1 << 20)
#define OPEN    (-3) /* in the ring: not known yet */
#define NO_POST UINT64_MAX

enum what { OTHER, POST, INIT, START, COMPLETE, COMPLETE_ALL, COMPLETE_ANY, COMPLETE_SOME, FREE };

/* What to look at in the events of a function: numbers of columns, -1 where there is none. */
struct role {
	enum what what;
	bool failed;
	int source, request, flag, index, status;
};

/* A walk, and which receives are under way where it is. */
struct looker {
	struct walk *walk;
	uint64_t posted;
	struct live {
		uint64_t post; /* number of the receive, or NO_POST */
		bool persistent;
	} * live; /* by request number */
	size_t count;
};

struct scout {
	const struct trace *trace;
	uint32_t rank;
	bool every;
	struct role *roles; /* by function */
	struct looker ahead, far;
	int32_t *ring;
	size_t capacity, limit;
	uint64_t first, end; /* receives in the ring, by number */
};

static const struct {
	const char *name;
	enum what what;
} functions[] = {
	{"MPI_Irecv", POST},
	{"MPI_Irecv_c", POST},
	{"MPI_Recv_init", INIT},
	{"MPI_Recv_init_c", INIT},
	{"MPI_Start", START},
	{"MPI_Startall", START},
	{"MPI_Wait", COMPLETE},
	{"MPI_Test", COMPLETE},
	{"MPI_Waitall", COMPLETE_ALL},
	{"MPI_Testall", COMPLETE_ALL},
	{"MPI_Waitany", COMPLETE_ANY},
	{"MPI_Testany", COMPLETE_ANY},
	{"MPI_Waitsome", COMPLETE_SOME},
	{"MPI_Testsome", COMPLETE_SOME},
	{"MPI_Request_free", FREE},
};

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

static int either(int a, int b)
{
	return a >= 0 ? a : b;
}

static struct role role_of(const struct schema *s)
{
	struct role r = {.what = OTHER};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (is(s->function, s->function_length, functions[i].name))
			r.what = functions[i].what;
	r.failed = column(s, "error") >= 0;
	r.source = column(s, "source");
	r.request = either(column(s, "request"), column(s, "requests"));
	r.flag = column(s, "flag");
	r.index = either(column(s, "index"), column(s, "indices"));
	r.status = either(column(s, "status.MPI_SOURCE"), column(s, "statuses.MPI_SOURCE"));
	if (r.what == OTHER || r.request < 0)
		r.what = OTHER;
	return r;
}

/* Can the source of a site be MPI_ANY_SOURCE? */
static bool any_source(const struct trace *t, const struct trace_site *s, int source)
{
	const struct trace_column *c = &s->columns[source];

	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t d = 0; d < c->groups[g].count; d++)
			for (size_t i = 0; i < c->groups[g].dict[d].start.node_count; i++) {
				const struct rank_node *n = &c->groups[g].dict[d].start.nodes[i];
				int64_t v = n->delta;

				if (n->low == RANK_LEAF && value_is_constant(v) &&
				    (uint64_t)v - (uint64_t)VALUE_CONSTANT < t->strings.count &&
				    strcmp((const char *)t->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes,
				           "MPI_ANY_SOURCE") == 0)
					return true;
			}
	return false;
}

bool scout_needed(const struct trace *t, bool *every)
{
	bool any = false;

	*every = false;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		struct role r = role_of(s);

		if (is(s->function, s->function_length, "MPI_Cancel"))
			*every = true;
		if ((r.what == POST || r.what == INIT) && r.source >= 0 && any_source(t, &t->sites[i], r.source))
			any = true;
	}
	return any || *every;
}

static int begin(struct scout *s, struct looker *l, struct error *error)
{
	walk_end(l->walk);
	free(l->live);
	*l = (struct looker){NULL, 0, NULL, 0};
	return walk_begin(&l->walk, s->trace, s->rank, error);
}

int scout_begin(struct scout **out, const struct trace *t, uint32_t rank, bool every, size_t ring, struct error *error)
{
	struct scout *s = calloc(1, sizeof *s);

	*out = NULL;
	if (!s || !(s->roles = calloc((size_t)t->function_count + 1, sizeof *s->roles))) {
		free(s);
		return error_set(error, "no memory");
	}
	s->trace = t;
	s->rank = rank;
	s->every = every;
	s->limit = ring ? ring : RING;
	for (uint32_t i = 0; i < t->function_count; i++)
		s->roles[i] = role_of(&t->functions[i].schema);
	if (begin(s, &s->ahead, error) != 0) {
		scout_end(s);
		return -1;
	}
	*out = s;
	return 0;
}

void scout_end(struct scout *s)
{
	if (!s)
		return;
	walk_end(s->ahead.walk);
	walk_end(s->far.walk);
	free(s->ahead.live);
	free(s->far.live);
	free(s->ring);
	free(s->roles);
	free(s);
}

/* ---- what a looker sees ---- */

static struct live *live(struct looker *l, int64_t request)
{
	if (value_is_constant(request) || request < 0 || request > INT32_MAX)
		return NULL;
	if ((uint64_t)request >= l->count) {
		size_t count = (size_t)request * 2 + 16;
		struct live *more = realloc(l->live, count * sizeof *more);

		if (!more)
			return NULL;
		for (size_t i = l->count; i < count; i++)
			more[i] = (struct live){NO_POST, false};
		l->live = more;
		l->count = count;
	}
	return &l->live[request];
}

static void resolve(struct scout *s, struct live *r, int32_t fate)
{
	if (!r || r->post == NO_POST)
		return;
	if (r->post >= s->first && r->post < s->end && s->ring[r->post % s->capacity] == OPEN)
		s->ring[r->post % s->capacity] = fate;
	r->post = NO_POST;
}

static int post(struct scout *s, struct looker *l, struct live *r)
{
	resolve(s, r, SCOUT_UNKNOWN);
	r->post = l->posted++;
	if (l != &s->ahead)
		return 0;
	if (s->end - s->first == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 64;
		int32_t *ring = malloc(capacity * sizeof *ring);

		if (!ring)
			return -1;
		for (uint64_t i = s->first; i < s->end; i++)
			ring[i % capacity] = s->ring[i % s->capacity];
		free(s->ring);
		s->ring = ring;
		s->capacity = capacity;
	}
	s->ring[s->end++ % s->capacity] = OPEN;
	return 0;
}

/* An element of an array value, or the value itself. */
static int64_t item(const struct trace *t, const struct event *e, int column, size_t i, size_t *n)
{
	int64_t v = column >= 0 ? e->values[column] : 0;

	*n = 1;
	if (column < 0 || !e->schema->column[column].vector)
		return v;
	*n = 0;
	if (value_is_constant(v))
		return v;
	const struct pool_item *vector = event_vector(t, e, v);

	*n = vector->size / sizeof v;
	if (i < *n)
		memcpy(&v, vector->bytes + i * sizeof v, sizeof v);
	return v;
}

static bool is_named(const struct trace *t, int64_t v, const char *name)
{
	return value_is_constant(v) &&
	       strcmp((const char *)t->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes, name) == 0;
}

/* Request i of the event was completed, status k belongs to it. */
static void complete(struct scout *s, struct looker *l, const struct role *r, const struct event *e, size_t i, size_t k)
{
	size_t n, m;
	int64_t request = item(s->trace, e, r->request, i, &n), source = item(s->trace, e, r->status, k, &m);

	if (i >= n)
		return;
	struct live *at = live(l, request);

	if (r->failed || k >= m)
		resolve(s, at, SCOUT_UNKNOWN);
	else if (value_is_constant(source))
		resolve(s, at, is_named(s->trace, source, "-") ? SCOUT_NEVER : SCOUT_UNKNOWN);
	else
		resolve(s, at, (int32_t)(source + e->base));
}

static int see(struct scout *s, struct looker *l, const struct event *e)
{
	const struct role *r = &s->roles[s->trace->sites[e->site].function];
	size_t n, unused;
	struct live *at;

	if (r->what == OTHER)
		return 0;
	int64_t first = item(s->trace, e, r->request, 0, &n);

	switch (r->what) {
	case POST:
	case INIT:
		if (r->failed || !(s->every || is_named(s->trace, e->values[r->source], "MPI_ANY_SOURCE")) ||
		    !(at = live(l, first)))
			return 0;
		if (r->what == POST)
			return post(s, l, at);
		resolve(s, at, SCOUT_UNKNOWN);
		at->persistent = true;
		return 0;
	case START:
		for (size_t i = 0; i < n; i++) {
			at = live(l, item(s->trace, e, r->request, i, &unused));
			if (!r->failed && at && at->persistent && post(s, l, at) != 0)
				return -1;
		}
		return 0;
	case FREE:
		at = live(l, first);
		resolve(s, at, SCOUT_UNKNOWN);
		if (at)
			at->persistent = false;
		return 0;
	case COMPLETE_ANY:
		if (!r->failed && value_is_constant(e->values[r->index]))
			return 0;
		/* fall through */
	case COMPLETE:
		if (r->flag >= 0 && e->values[r->flag] != 1 && !r->failed)
			return 0;
		complete(s, l, r, e, r->what == COMPLETE || r->failed ? 0 : (size_t)e->values[r->index], 0);
		return 0;
	case COMPLETE_SOME:
		if (!r->failed) {
			int64_t index = item(s->trace, e, r->index, 0, &n);

			for (size_t i = 0; i < n; i++) {
				index = item(s->trace, e, r->index, i, &unused);
				complete(s, l, r, e, (size_t)index, i);
			}
			return 0;
		}
		/* fall through */
	default:
		if (r->flag >= 0 && e->values[r->flag] != 1 && !r->failed)
			return 0;
		for (size_t i = 0; i < n; i++)
			complete(s, l, r, e, i, i);
		return 0;
	}
}

/* One event. Returns 0, 1 at the end, -1 with error set. */
static int step(struct scout *s, struct looker *l, struct error *error)
{
	struct event e;
	int rv = walk_next(l->walk, &e, error);

	if (rv == 0 && see(s, l, &e) != 0)
		return error_set(error, "no memory");
	return rv;
}

/* Looks further than the ring reaches, for the first receive in it. */
static int look_far(struct scout *s, struct error *error)
{
	bool way = s->far.walk && s->far.posted <= s->first;
	int rv = 0;

	for (size_t i = 0; i < s->far.count && !way; i++)
		way = s->far.live[i].post == s->first;
	if (!way && begin(s, &s->far, error) != 0) /* it has passed the end of this one before that was asked for */
		return -1;
	while (rv == 0 && s->ring[s->first % s->capacity] == OPEN)
		rv = step(s, &s->far, error);
	if (rv > 0)
		s->ring[s->first % s->capacity] = SCOUT_UNKNOWN;
	return rv < 0 ? -1 : 0;
}

int scout_next(struct scout *s, int *fate, struct error *error)
{
	int rv = 0;

	while (rv == 0 && (s->first == s->end || s->ring[s->first % s->capacity] == OPEN) &&
	       s->end - s->first < s->limit)
		rv = step(s, &s->ahead, error);
	if (rv < 0)
		return -1;
	if (s->first == s->end)
		return error_set(error, "rank %u: a receive is posted that is not in the trace", s->rank);
	if (rv > 0 && s->ring[s->first % s->capacity] == OPEN)
		s->ring[s->first % s->capacity] = SCOUT_UNKNOWN;
	if (s->ring[s->first % s->capacity] == OPEN && look_far(s, error) != 0)
		return -1;
	*fate = s->ring[s->first++ % s->capacity];
	return 0;
}
