/* SPDX-License-Identifier: BSD-3-Clause
 * draw - values of columns that have no order, drawn from what was counted
 */
#include "replay/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column of a site that has no order, in this rank. */
struct source {
	bool looked, lossy;
	const struct tally *values;
	uint64_t total, offset, factor, shift;
};

/* A function whose calls fit each other. */
struct fitting {
	bool is, lossy; /* lossy: counts or roots have no order somewhere */
	int comm, root;
	struct tally roots, counts;
};

struct draw {
	const struct trace *trace;
	uint32_t rank;
	uint64_t seed;
	uint64_t *visits;         /* by site */
	struct source **sources;  /* by site: of each column */
	struct fitting *fittings; /* by function */
	uint64_t *operations;     /* collective ones drawn, by communicator + 1; 0: MPI_COMM_WORLD */
	size_t operation_count;
	int64_t *vectors[PLAY_ARRAYS];
	int used;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return mix(mix(mix(mix(a + 1) ^ (b + 0x9e3779b97f4a7c15u)) + c) ^ (d * 0xda942042e4dd58b5u));
}

static bool is(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

static bool begins(const struct schema *s, const char *prefix)
{
	return s->function_length >= strlen(prefix) && memcmp(s->function, prefix, strlen(prefix)) == 0;
}

static bool column_is(const struct schema *s, size_t i, const char *name)
{
	return is(s->column[i].name, s->column[i].length, name);
}

static const char *const collectives[] = {"bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
                                          "alltoallv", "reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"};

/* MPI_Ialltoallv: "alltoallv". NULL if it is no collective operation whose arguments must fit. */
static const char *collective(const struct schema *s)
{
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
		size_t n = strlen(collectives[i]);
		const char *name = s->function + 4;

		if (s->function_length == n + 5 && name[0] == 'I')
			name++;
		else if (s->function_length != n + 4)
			continue;
		if ((name[0] | 32) == collectives[i][0] && memcmp(name + 1, collectives[i] + 1, n - 1) == 0)
			return collectives[i];
	}
	return NULL;
}

static bool is_count(const struct schema *s, size_t i)
{
	static const char *const names[] = {"count", "sendcount", "recvcount", "sendcounts", "recvcounts"};

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (column_is(s, i, names[k]))
			return true;
	return false;
}

static const struct trace_group *lossy_group(const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy)
			return &c->groups[g];
	return NULL;
}

/* ---- what can be drawn ---- */

static bool is_output(const struct schema *s, size_t i)
{
	static const char *const names[] = {"indices", "index", "flag", "outcount", "statuses.MPI_SOURCE", "statuses.MPI_TAG", "statuses.count",
	                                    "status.MPI_SOURCE", "status.MPI_TAG", "status.count", "error"};

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (column_is(s, i, names[k]))
			return true;
	return false;
}

static bool possible(const struct schema *s, size_t i)
{
	static const char *const not[] = {"MPI_Put", "MPI_Get_acc", "MPI_Accu", "MPI_Rput", "MPI_Rget", "MPI_Raccu", "MPI_Fetch", "MPI_Compare",
	                                  "MPI_Win_", "MPI_Type_", "MPI_Comm_create", "MPI_Comm_split", "MPI_Cart_", "MPI_Group_", "MPI_Intercomm"};

	if (i == s->count)
		return false; /* which call comes next */
	char kind = s->column[i].kind;

	if (kind == 'r' || kind == 'b' || is_output(s, i))
		return true;
	if (is(s->function, s->function_length, "MPI_Get"))
		return false;
	for (size_t k = 0; k < sizeof not / sizeof *not; k++)
		if (begins(s, not[k]))
			return false;
	if (s->column[i].vector)
		return collective(s) != NULL;
	return kind == 'i' || kind == 'p' || (kind == 's' && !begins(s, "MPI_File_") && !begins(s, "MPI_Info_"));
}

int draw_possible(const struct trace *t, struct error *error)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *s = trace_schema(t, site);

		for (uint32_t k = 0; k < site->column_count; k++)
			if (lossy_group(&site->columns[k]) && !possible(s, k))
				return error_set(error, "it cannot be replayed: %.*s of %.*s (site %u) has no order",
				                 k < s->count ? (int)s->column[k].length : 9, k < s->count ? s->column[k].name : "successor",
				                 (int)s->function_length, s->function, i);
	}
	return 0;
}

/* ---- begin and end ---- */

static int add_site(struct fitting *f, const struct trace *t, const struct trace_site *site)
{
	const struct schema *s = trace_schema(t, site);
	int rv = 0;

	for (size_t i = 0; i < s->count && rv == 0; i++) {
		bool root = column_is(s, i, "root");
		struct tally *to = root ? &f->roots : &f->counts;

		if (s->column[i].kind == 'c' && f->comm < 0)
			f->comm = (int)i;
		if (root)
			f->root = (int)i;
		if (!root && !is_count(s, i))
			continue;
		for (uint32_t g = 0; g < site->columns[i].count && rv == 0; g++) {
			const struct trace_group *group = &site->columns[i].groups[g];
			int64_t value;

			if (group->lossy) {
				f->lossy = true;
				rv = tally_merge(to, s->column[i].vector ? &group->lossy->elements : &group->lossy->values);
			} else if (group->pattern == 0 && !s->column[i].vector && rankmap_constant(&group->dict[0].start, &value) &&
			           !value_is_constant(value)) {
				rv = tally_add(to, value, rankmap_size(&group->dict[0].start));
			}
		}
	}
	return rv;
}

int draw_begin(struct draw **out, const struct trace *t, uint32_t rank, uint64_t seed, struct error *error)
{
	struct draw *d = calloc(1, sizeof *d);

	*out = d;
	if (!d)
		return error_set(error, "no memory");
	*d = (struct draw){.trace = t, .rank = rank, .seed = seed};
	d->visits = calloc((size_t)t->site_count + 1, sizeof *d->visits);
	d->sources = calloc((size_t)t->site_count + 1, sizeof *d->sources);
	d->fittings = calloc((size_t)t->function_count + 1, sizeof *d->fittings);
	if (!d->visits || !d->sources || !d->fittings)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->function_count; i++)
		d->fittings[i] = (struct fitting){.is = collective(&t->functions[i].schema) != NULL, .comm = -1, .root = -1};
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct fitting *f = &d->fittings[t->sites[i].function];

		if (f->is && add_site(f, t, &t->sites[i]) != 0)
			return error_set(error, "no memory");
	}
	return 0;
}

void draw_end(struct draw *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->sources && i < d->trace->site_count; i++)
		free(d->sources[i]);
	for (uint32_t i = 0; d->fittings && i < d->trace->function_count; i++) {
		tally_free(&d->fittings[i].roots);
		tally_free(&d->fittings[i].counts);
	}
	for (int i = 0; i < PLAY_ARRAYS; i++)
		free(d->vectors[i]);
	free(d->visits);
	free(d->sources);
	free(d->fittings);
	free(d->operations);
	free(d);
}

/* ---- a value of a tally ---- */

static int64_t at_place(const struct tally *t, uint64_t place)
{
	for (uint32_t i = 0; i < t->count; i++) {
		const struct tally_bin *b = &t->bins[i];

		if (place >= b->count) {
			place -= b->count;
			continue;
		}
		if (b->min == b->max || value_is_constant(b->min))
			return b->min;
		/* the mean, such that the sum over all places of the bin is its sum */
		int64_t sum = (int64_t)b->sum, n = (int64_t)b->count, mean = sum / n, rest = sum % n;

		if (rest < 0) {
			mean--;
			rest += n;
		}
		return mean + ((int64_t)place < rest);
	}
	return 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static void look(struct draw *d, struct source *s, uint32_t site, size_t column)
{
	const struct trace_site *at = &d->trace->sites[site];
	const struct trace_group *g = lossy_group(&at->columns[column]);
	int64_t value, before = 0;

	s->looked = true;
	if (!g || !rankmap_get(trace_group_ranks(g), d->rank, &value))
		return;
	s->lossy = true;
	s->values = &g->lossy->values;
	s->total = tally_count(s->values);
	for (uint64_t r = 0; rankmap_next(trace_group_ranks(g), &r, &value) && r < d->rank; r++)
		if (rankmap_get(&at->visits, (uint32_t)r, &value))
			before += value;
	s->offset = (uint64_t)before;
	s->shift = s->total ? hash(d->seed, site, column, 1) % s->total : 0;
	s->factor = (uint64_t)((double)s->total * 0.6180339887498949) | 1;
	while (s->total > 1 && gcd(s->factor % s->total, s->total) != 1)
		s->factor++;
}

static int64_t dealt(const struct source *s, uint64_t visit)
{
	if (s->total == 0)
		return 0;
	uint64_t n = (s->offset + visit) % s->total;

	__extension__ typedef unsigned __int128 wide;
	return at_place(s->values, (uint64_t)(((wide)n * s->factor + s->shift) % s->total));
}

static int64_t drawn(const struct tally *t, uint64_t random)
{
	uint64_t total = tally_count(t);

	return total ? at_place(t, random % total) : 0;
}

/* ---- collective operations ---- */

static uint64_t operation(struct draw *d, int64_t comm)
{
	size_t i = comm >= 0 ? (size_t)comm + 1 : 0;

	if (i >= d->operation_count) {
		size_t count = 2 * i + 16;
		uint64_t *more = realloc(d->operations, count * sizeof *more);

		if (!more)
			return 0;
		memset(more + d->operation_count, 0, (count - d->operation_count) * sizeof *more);
		d->operations = more;
		d->operation_count = count;
	}
	return d->operations[i]++;
}

static int64_t *vector(struct draw *d, struct play *p, struct event *e, size_t column, int n)
{
	if (d->used == PLAY_ARRAYS)
		return NULL;
	int64_t *v = realloc(d->vectors[d->used], ((size_t)n + 1) * sizeof *v);

	if (!v)
		return NULL;
	d->vectors[d->used] = v;
	p->drawn[d->used] = (struct pool_item){(uint8_t *)v, (size_t)n * sizeof *v};
	e->values[column] = PLAY_DRAWN + d->used++;
	return v;
}

static int64_t positive(int64_t v)
{
	return v > 0 ? v : 0;
}

static void fit(struct draw *d, struct play *p, const struct fitting *f, struct event *e)
{
	const struct schema *s = e->schema;
	const char *kind = collective(s);
	struct object *comm = play_object(p, PLAY_COMM, e->values[f->comm]);
	int size = play_peers(comm), me = 0, sides[2];
	bool pairs = strcmp(kind, "alltoallv") == 0, each = strchr(kind, 'v') != NULL || strcmp(kind, "reduce_scatter") == 0;
	uint64_t number = hash(d->seed, operation(d, value_is_constant(e->values[f->comm]) ? -1 : e->values[f->comm]), 0, 0);

	PMPI_Comm_rank(comm->handle, &me);
	if (f->root >= 0 && e->values[f->root] == VALUE_LOSSY)
		e->values[f->root] = positive(drawn(&f->roots, hash(number, 1, 0, 0))) % size;
	for (size_t i = 0; i < s->count; i++) {
		bool send = s->column[i].name[0] == 's';

		if (!is_count(s, i) || (value_is_constant(e->values[i])))
			continue;
		if (!s->column[i].vector) {
			e->values[i] = positive(drawn(&f->counts, hash(number, 2, each ? (uint64_t)me : 0, 0)));
			continue;
		}
		int64_t *v = vector(d, p, e, i, size);

		for (int k = 0; v && k < size; k++) {
			sides[0] = pairs ? (send ? me : k) : k;
			sides[1] = pairs ? (send ? k : me) : 0;
			v[k] = positive(drawn(&f->counts, hash(number, 2, (uint64_t)sides[0], (uint64_t)sides[1])));
		}
	}
	for (size_t i = 0; i < s->count; i++) { /* displacements, one after the other */
		bool send = column_is(s, i, "sdispls") || (column_is(s, i, "displs") && strcmp(kind, "scatterv") == 0);

		if (!s->column[i].vector || value_is_constant(e->values[i]) ||
		    !(send || column_is(s, i, "rdispls") || column_is(s, i, "displs")))
			continue;
		int64_t *v = vector(d, p, e, i, size), at = 0;

		for (size_t c = 0; v && c < s->count; c++)
			if (column_is(s, c, send ? "sendcounts" : "recvcounts") && !value_is_constant(e->values[c])) {
				const uint8_t *counts = play_vector(p, e->values[c])->bytes;

				for (int k = 0; k < size; k++) {
					int64_t count;

					memcpy(&count, counts + (size_t)k * sizeof count, sizeof count);
					v[k] = at;
					at += count;
				}
			}
	}
}

void draw_event(struct draw *d, struct play *p, struct event *e)
{
	const struct trace_site *site = &d->trace->sites[e->site];
	const struct fitting *f = &d->fittings[site->function];
	uint64_t visit = d->visits[e->site]++;

	d->used = 0;
	if (f->is && f->lossy && f->comm >= 0)
		fit(d, p, f, e);
	if (!d->sources[e->site])
		d->sources[e->site] = calloc(site->column_count, sizeof **d->sources);
	for (size_t i = 0; d->sources[e->site] && i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		struct source *s = &d->sources[e->site][i];

		if (e->values[i] != VALUE_LOSSY || c->vector || c->kind == 'r')
			continue;
		if (!s->looked)
			look(d, s, e->site, i);
		if (c->kind == 's') {
			e->values[i] = 0; /* the empty string */
			continue;
		}
		e->values[i] = dealt(s, visit);
		if ((is_count(e->schema, i) || column_is(e->schema, i, "incount")) && !value_is_constant(e->values[i]))
			e->values[i] = positive(e->values[i]);
	}
	for (size_t i = 0; i < e->schema->count; i++) { /* ranks that there are */
		const struct schema_column *c = &e->schema->column[i];
		int k = -1;

		if (c->kind != 'p' || c->vector || !d->sources[e->site] || !d->sources[e->site][i].lossy || value_is_constant(e->values[i]) ||
		    is_output(e->schema, i))
			continue;
		for (size_t m = 0; m < e->schema->count; m++)
			if (e->schema->column[m].kind == 'c' && k < 0)
				k = (int)m;
		int size = k >= 0 ? play_peers(play_object(p, PLAY_COMM, e->values[k])) : 0;

		if (size > 0) {
			int64_t rank = (e->values[i] + e->base) % size;

			e->values[i] = (rank < 0 ? rank + size : rank) - e->base;
		}
	}
}
