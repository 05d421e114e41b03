/* SPDX-License-Identifier: BSD-3-Clause
 * draw - values of columns that have no order, drawn from what was counted
 */
#include "replay/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/deal.h"

/* A function whose calls fit each other. */
struct fitting {
	bool is, lossy;       /* lossy: counts or roots have no order somewhere */
	bool drawn, given;    /* some ranks have to draw the root; some know it */
	bool tells;           /* some ranks know who the root is, by what only the root gives */
	bool mixed;           /* its data go by several datatypes: equal counts need not be equal sizes */
	int comm, root, only; /* columns; only: what is significant at the root only */
	int64_t type;         /* the only datatype so far, or VALUE_NONE */
	struct tally roots, counts;
	uint64_t each;        /* operations, as far as each rank has had its part in the same number of them */
	uint64_t world;       /* operations on MPI_COMM_WORLD, as far as sites have no other communicator */
	uint64_t *operations; /* that there were, by communicator + 1; 0: MPI_COMM_WORLD */
	size_t operation_count;
};

struct draw {
	const struct trace *trace;
	uint32_t rank;
	uint64_t seed;
	uint64_t *visits; /* by site */
	struct deal *deal;
	struct fitting *fittings; /* by function */
	int64_t *vectors[PLAY_ARRAYS];
	int used;
};

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

static const char *const collectives[] = {
	"bcast",     "gather", "gatherv",   "scatter", "scatterv", "allgather",      "allgatherv",          "alltoall",
	"alltoallv", "reduce", "allreduce", "scan",    "exscan",   "reduce_scatter", "reduce_scatter_block"};

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

/* ---- what can be drawn ---- */

static bool is_output(const struct schema *s, size_t i)
{
	static const char *const names[] = {"indices",
	                                    "index",
	                                    "flag",
	                                    "outcount",
	                                    "statuses.MPI_SOURCE",
	                                    "statuses.MPI_TAG",
	                                    "statuses.count",
	                                    "status.MPI_SOURCE",
	                                    "status.MPI_TAG",
	                                    "status.count",
	                                    "error"};

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (column_is(s, i, names[k]))
			return true;
	return false;
}

static bool possible(const struct schema *s, size_t i)
{
	static const char *const not [] = {"MPI_Put",   "MPI_Get_acc", "MPI_Accu",        "MPI_Rput",
	                                   "MPI_Rget",  "MPI_Raccu",   "MPI_Fetch",       "MPI_Compare",
	                                   "MPI_Win_",  "MPI_Type_",   "MPI_Comm_create", "MPI_Comm_split",
	                                   "MPI_Cart_", "MPI_Group_",  "MPI_Intercomm"};

	if (i == s->count)
		return false; /* which call comes next */
	char kind = s->column[i].kind;

	if (kind == 'r' || kind == 'b' || is_output(s, i))
		return true;
	if (is(s->function, s->function_length, "MPI_Get"))
		return false;
	for (size_t k = 0; k < sizeof not / sizeof *not ; k++)
		if (begins(s, not [k]))
			return false;
	if (s->column[i].vector)
		return collective(s) != NULL;
	return kind == 'i' || kind == 'p' || kind == 'a' ||
	       (kind == 's' && !begins(s, "MPI_File_") && !begins(s, "MPI_Info_"));
}

int draw_possible(const struct trace *t, struct error *error)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *s = trace_schema(t, site);

		for (uint32_t k = 0; k < site->column_count; k++)
			if (deal_group(&site->columns[k]) && !possible(s, k))
				return error_set(error, "it cannot be replayed: %.*s of %.*s (site %u) has no order",
				                 k < s->count ? (int)s->column[k].length : 9,
				                 k < s->count ? s->column[k].name : "successor",
				                 (int)s->function_length, s->function, i);
	}
	return 0;
}

/* ---- begin and end ---- */

/* Without named constants, which stand for counts that are not significant. */
static int add_numbers(struct tally *to, const struct tally *from)
{
	uint32_t constants = tally_constants(from);
	struct tally numbers = {from->bins + constants, from->count - constants, from->count - constants};

	return numbers.count ? tally_merge(to, &numbers) : 0;
}

static bool is_named(const struct trace *t, int64_t v, const char *name)
{
	return value_is_constant(v) &&
	       strcmp((const char *)t->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes, name) == 0;
}

static void add_types(struct fitting *f, const struct trace *t, const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t d = 0; !c->groups[g].lossy && d < c->groups[g].count; d++) {
			int64_t v;

			if (c->groups[g].dict[d].count > 1 || !rankmap_constant(&c->groups[g].dict[d].start, &v) ||
			    !value_is_constant(v))
				f->mixed = true;
			else if (is_named(t, v, "-") || is_named(t, v, "MPI_DATATYPE_NULL") || v == f->type)
				continue;
			else if (f->type != VALUE_NONE)
				f->mixed = true;
			else
				f->type = v;
		}
}

static bool is_world(const struct trace *t, const struct trace_column *c)
{
	int64_t v;

	return c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].lossy &&
	       rankmap_constant(&c->groups[0].dict[0].start, &v) && is_named(t, v, "MPI_COMM_WORLD");
}

static bool reduces(const struct schema *s)
{
	return strcmp(collective(s), "reduce") == 0;
}

/* May it be MPI_IN_PLACE? */
static bool has_places(const struct trace_column *c)
{
	int64_t v;

	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy || c->groups[g].pattern || !rankmap_constant(&c->groups[g].dict[0].start, &v) ||
		    v != 0)
			return true;
	return false;
}

/* Of gathers, scatters and reductions: the column that tells the root. */
static int root_column(const struct schema *s)
{
	const char *kind = collective(s), *name = NULL;

	if (kind && kind[0] == 'g')
		name = strchr(kind, 'v') ? "recvcounts" : "recvcount";
	else if (kind && strcmp(kind, "reduce") == 0)
		name = "sendbuf"; /* MPI_IN_PLACE */
	else if (kind && strncmp(kind, "scatter", 7) == 0)
		name = strchr(kind, 'v') ? "sendcounts" : "sendcount";
	for (size_t i = 0; name && i < s->count; i++)
		if (column_is(s, i, name))
			return (int)i;
	return -1;
}

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
		if (s->column[i].kind == 'c' && f->comm == (int)i && is_world(t, &site->columns[i]))
			f->world += (uint64_t)rankmap_sum(&site->visits);
		if (s->column[i].kind == 't')
			add_types(f, t, &site->columns[i]);
		if (!root && !is_count(s, i))
			continue;
		for (uint32_t g = 0; g < site->columns[i].count && rv == 0; g++) {
			const struct trace_group *group = &site->columns[i].groups[g];
			int64_t value;

			f->given |= root && !group->lossy;
			if (group->lossy) {
				f->lossy = true;
				f->tells |=
					root && f->only >= 0 && (!reduces(s) || has_places(&site->columns[f->only]));
				f->drawn |= root;
				rv = add_numbers(to,
				                 s->column[i].vector ? &group->lossy->elements : &group->lossy->values);
			} else if (group->pattern == 0 && !s->column[i].vector &&
			           rankmap_constant(&group->dict[0].start, &value) && !value_is_constant(value)) {
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
	d->deal = deal_create(t, rank, seed);
	d->fittings = calloc((size_t)t->function_count + 1, sizeof *d->fittings);
	if (!d->visits || !d->deal || !d->fittings)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->function_count; i++)
		d->fittings[i] = (struct fitting){.is = collective(&t->functions[i].schema) != NULL,
		                                  .comm = -1,
		                                  .root = -1,
		                                  .only = root_column(&t->functions[i].schema),
		                                  .type = VALUE_NONE};
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct fitting *f = &d->fittings[t->sites[i].function];

		if (f->is && add_site(f, t, &t->sites[i]) != 0)
			return error_set(error, "no memory");
		f->each += (uint64_t)rankmap_sum(&t->sites[i].visits);
	}
	for (uint32_t i = 0; i < t->function_count; i++) {
		struct fitting *f = &d->fittings[i];

		f->tells |= f->drawn && f->given;
		f->world /= t->size;
		f->each = f->each / t->size + (f->each < t->size);
	}
	return 0;
}

void draw_end(struct draw *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->fittings && i < d->trace->function_count; i++) {
		tally_free(&d->fittings[i].roots);
		tally_free(&d->fittings[i].counts);
		free(d->fittings[i].operations);
	}
	for (int i = 0; i < PLAY_ARRAYS; i++)
		free(d->vectors[i]);
	free(d->visits);
	deal_destroy(d->deal);
	free(d->fittings);
	free(d);
}

/* ---- collective operations ---- */

/* The number of this operation: those on MPI_COMM_WORLD come first, those of other communicators behind them, each
 * counted by itself. */
static uint64_t operation(struct fitting *f, int64_t comm)
{
	size_t i = comm >= 0 ? (size_t)comm + 1 : 0;

	if (i >= f->operation_count) {
		size_t count = 2 * i + 16;
		uint64_t *more = realloc(f->operations, count * sizeof *more);

		if (!more)
			return 0;
		memset(more + f->operation_count, 0, (count - f->operation_count) * sizeof *more);
		f->operations = more;
		f->operation_count = count;
	}
	return f->operations[i]++ + (i ? f->world : 0);
}

/* Value `entry` of `entries` that operation `number` has: all entries of all operations have the values of the tally,
 * each in its turn. */
static int64_t fitted(const struct draw *d, const struct fitting *f, const struct tally *t, uint64_t number,
                      uint64_t entries, uint64_t entry)
{
	uint64_t all = f->each * entries, total = tally_count(t), what = (uint64_t)(t == &f->roots);

	if (all == 0 || total == 0)
		return 0;
	uint64_t place = deal_permute((number * entries + entry) % all, all, deal_factor(all),
	                              deal_hash(d->seed, what, all, total));

	return deal_place(t, (uint64_t)(((double)place + 0.5) / (double)all * (double)total));
}

static int64_t positive(int64_t v)
{
	return v > 0 ? v : 0;
}

/* Number `i` of all that there were at a site. */
static int64_t number_at(const struct draw *d, uint32_t site, size_t column, const struct tally *t, uint64_t i)
{
	uint32_t constants = tally_constants(t);
	struct tally numbers = {t->bins + constants, t->count - constants, t->count - constants};
	uint64_t total = tally_count(&numbers);

	return total ? positive(deal_place(&numbers, deal_permute(i % total, total, deal_factor(total),
	                                                          deal_hash(d->seed, site, column, 2))))
	             : 0;
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

/* The root of an operation: who it was is known to a rank that gave what only the root gives. Nobody knows it: one of
 * those that may have been. */
static int64_t agree_on_root(const struct play *p, const struct fitting *f, const struct event *e, MPI_Comm comm,
                             int me, int size, int64_t fitted)
{
	int64_t v = f->only >= 0 ? e->values[f->only] : VALUE_LOSSY;
	bool in_place = f->only >= 0 && reduces(e->schema);
	long long own = -1, best = -1;
	MPI_Request request;

	if (e->values[f->root] != VALUE_LOSSY)
		own = value_is_constant(e->values[f->root]) ? -1 : size + e->values[f->root];
	else if (in_place ? play_is_place(p, v) : v != VALUE_LOSSY && !value_is_constant(v))
		own = size + me;
	else if (v == VALUE_LOSSY || in_place)
		own = (me + size - fitted % size - 1 + size) % size;
	if (PMPI_Iallreduce(&own, &best, 1, MPI_LONG_LONG, MPI_MAX, comm, &request) == MPI_SUCCESS)
		poll_wait(&request, MPI_STATUS_IGNORE);
	return best >= size ? best - size : best >= 0 ? (best + fitted % size + 1) % size : fitted;
}

/* MPI_IN_PLACE is for the root only, as often as it was. */
static void draw_place(struct draw *d, const struct play *p, const struct fitting *f, struct event *e, size_t column,
                       uint64_t visit, bool root)
{
	const struct trace_site *site = &d->trace->sites[e->site];
	const struct trace_group *g = deal_group(&site->columns[column]);
	uint64_t visits = (uint64_t)rankmap_sum(&site->visits), places = 0;

	for (uint32_t i = 0; g && i < g->lossy->values.count && value_is_constant(g->lossy->values.bins[i].min); i++)
		places += g->lossy->values.bins[i].count;
	if (f->root < 0) { /* all ranks or none */
		e->values[column] = deal_value(d->deal, e->site, column, visit);
		return;
	}
	uint64_t roots = visits / d->trace->size + 1;

	e->values[column] = root && places && deal_hash(d->seed, e->site, visit, 3) % roots < places ? p->in_place : 0;
}

/* What the root gives, at a rank that was not the root. */
static void give(struct event *e, const char *count, const char *type, const char *other)
{
	int to = -1, from = -1;

	for (size_t i = 0; i < e->schema->count; i++) {
		if (column_is(e->schema, i, type))
			to = (int)i;
		if (column_is(e->schema, i, other))
			from = (int)i;
		if ((column_is(e->schema, i, count) || column_is(e->schema, i, "displs")) &&
		    value_is_constant(e->values[i]))
			e->values[i] = VALUE_LOSSY;
	}
	if (to >= 0 && from >= 0 && value_is_constant(e->values[to]))
		e->values[to] = e->values[from];
}

static void fit(struct draw *d, struct play *p, struct fitting *f, struct event *e, uint64_t visit)
{
	const struct schema *s = e->schema;
	const char *kind = collective(s);
	struct object *comm = play_object(p, PLAY_COMM, e->values[f->comm]);
	int size = play_peers(comm), me = 0, inter;
	bool root = false;
	bool pairs = strcmp(kind, "alltoallv") == 0,
	     each = strchr(kind, 'v') != NULL || strcmp(kind, "reduce_scatter") == 0;
	uint64_t n = (uint64_t)size, entries = pairs ? n * n : each ? n : 1;
	uint64_t number = operation(f, value_is_constant(e->values[f->comm]) ? -1 : e->values[f->comm]);

	PMPI_Comm_rank(comm->handle, &me);
	int64_t by = f->root >= 0 ? positive(fitted(d, f, &f->roots, number, 1, 0)) % size : 0;

	PMPI_Comm_test_inter(comm->handle, &inter);
	if (f->tells && !inter)
		by = agree_on_root(p, f, e, comm->handle, me, size, by);
	if (f->root >= 0 && e->values[f->root] == VALUE_LOSSY) {
		e->values[f->root] = by;
		root = by == me;
		if (root && f->only >= 0 && !reduces(s))
			give(e,
			     kind[0] == 'g' ? kind[6] ? "recvcounts" : "recvcount"
			     : kind[7]      ? "sendcounts"
			                    : "sendcount",
			     kind[0] == 'g' ? "recvtype" : "sendtype", kind[0] == 'g' ? "sendtype" : "recvtype");
	} else {
		root = f->root >= 0 && e->values[f->root] == me;
	}
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].kind == 'b' && e->values[i] == VALUE_LOSSY)
			draw_place(d, p, f, e, i, visit, root);
	for (size_t i = 0; i < s->count; i++) {
		bool send = s->column[i].name[0] == 's';

		if (!is_count(s, i) || (value_is_constant(e->values[i])))
			continue;
		/* of different datatypes: each rank has what there was at this site */
		const struct trace_group *g = f->mixed ? deal_group(&d->trace->sites[e->site].columns[i]) : NULL;
		uint64_t mine = (int)i == f->only ? visit : visit * n + (uint64_t)me;

		if (g && (int)i != f->only && f->root >= 0 &&
		    tally_constants(&g->lossy->values)) /* the root has none */
			mine = visit * (n - 1) + (uint64_t)(me - (me > e->values[f->root]));

		if (!s->column[i].vector) {
			if (!f->mixed)
				e->values[i] =
					positive(fitted(d, f, &f->counts, number, entries, each ? (uint64_t)me : 0));
			else if (g && e->values[i] == VALUE_LOSSY)
				e->values[i] = number_at(d, e->site, i, &g->lossy->values, mine);
			continue;
		}
		if (f->mixed && e->values[i] != VALUE_LOSSY)
			continue;
		int64_t *v = vector(d, p, e, i, size);

		for (int k = 0; v && g && k < size; k++)
			v[k] = number_at(d, e->site, i, &g->lossy->elements, mine * n + (uint64_t)k);
		for (int k = 0; v && !g && k < size; k++) /* from one to another */
			v[k] = positive(fitted(d, f, &f->counts, number, entries,
			                       !pairs ? (uint64_t)k
			                       : send ? (uint64_t)me * n + (uint64_t)k
			                              : (uint64_t)k * n + (uint64_t)me));
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
	struct fitting *f = &d->fittings[site->function];
	uint64_t visit = d->visits[e->site]++;
	bool failed = false;

	d->used = 0;
	for (size_t i = 0; i < e->schema->count; i++)
		if (column_is(e->schema, i, "error")) {
			if (e->values[i] == VALUE_LOSSY)
				e->values[i] = deal_value(d->deal, e->site, i, visit);
			failed = value_is_constant(e->values[i]);
		}
	replay_outcome.mixed = f->is && f->lossy && f->mixed && !failed;
	if (f->is && f->lossy && f->comm >= 0 && !failed)
		fit(d, p, f, e, visit);
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];

		if (e->values[i] != VALUE_LOSSY || c->vector || c->kind == 'r')
			continue;
		if (c->kind == 's') {
			e->values[i] = 0; /* the empty string */
			continue;
		}
		e->values[i] = deal_value(d->deal, e->site, i, visit);
		if ((is_count(e->schema, i) || column_is(e->schema, i, "incount")) && !value_is_constant(e->values[i]))
			e->values[i] = positive(e->values[i]);
	}
	for (size_t i = 0; i < e->schema->count; i++) /* a message that was made has its flag */
		for (size_t k = 0; k < e->schema->count && column_is(e->schema, i, "flag"); k++)
			if (e->schema->column[k].kind == 'm' && deal_lossy(d->deal, e->site, i))
				e->values[i] = !value_is_constant(e->values[k]);
	for (size_t i = 0; i < e->schema->count; i++) { /* ranks that there are */
		const struct schema_column *c = &e->schema->column[i];
		int k = -1;

		if (c->kind != 'p' || c->vector || !deal_lossy(d->deal, e->site, i) ||
		    value_is_constant(e->values[i]) || is_output(e->schema, i))
			continue;
		for (size_t m = 0; m < e->schema->count; m++)
			if (e->schema->column[m].kind == 'c' && k < 0)
				k = (int)m;
		int size = k >= 0 ? play_peers(play_object(p, PLAY_COMM, e->values[k])) : 0;

		if (size > 0)
			e->values[i] = deal_rank(e->values[i], e->base, size) - e->base;
	}
}

static bool is_proc_null(const struct draw *d, int64_t v)
{
	return value_is_constant(v) && v != VALUE_LOSSY &&
	       strcmp((const char *)d->trace->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes,
	              "MPI_PROC_NULL") == 0;
}

bool draw_sure(const struct draw *d, const struct event *e)
{
	const struct trace_site *site = &d->trace->sites[e->site];

	for (size_t i = 0; i < e->schema->count; i++) {
		if (!column_is(e->schema, i, "source"))
			continue;
		const struct trace_group *g = deal_group(&site->columns[i]);

		for (uint32_t k = 0; g && k < g->lossy->values.count; k++)
			if (is_proc_null(d, g->lossy->values.bins[k].min))
				return false;
		return !is_proc_null(d, e->values[i]);
	}
	return false;
}
