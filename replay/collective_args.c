/* SPDX-License-Identifier: BSD-3-Clause
 * collective_args - arguments that the calls of a collective operation must agree on, where they have no order
 */
#include "replay/collective_args.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/poll.h"

/* A function of the trace. */
struct collective {
	bool unordered;               /* counts or roots have no order somewhere */
	bool root_drawn, root_given;  /* some ranks have to draw the root; some know it */
	bool root_told;               /* some ranks know who the root is, by what only the root gives */
	bool mixed_types;             /* its data go by several datatypes: equal counts need not be equal sizes */
	int comm, root, only_at_root; /* columns; the last one: what is significant at the root only; -1: nothing is */
	int64_t type;                 /* the only datatype so far, or VALUE_NONE */
	struct tally roots, counts;
	uint64_t each;  /* operations, as far as each rank has had its part in the same number of them */
	uint64_t world; /* operations on MPI_COMM_WORLD, as far as sites have no other communicator */
	/* that there were, by communicator + 1; 0: MPI_COMM_WORLD */
	uint64_t *operations;
	size_t operation_count;
};

struct collective_args {
	const struct trace *trace;
	uint64_t seed;
	struct collective *functions; /* by function */
	int64_t *vectors[ARGS_DRAWN_ARRAYS];
	int used;
};

bool collective_args_must_fit(const struct schema *s)
{
	switch (s->mpi->base) {
	case FN_MPI_Bcast:
	case FN_MPI_Gather:
	case FN_MPI_Gatherv:
	case FN_MPI_Scatter:
	case FN_MPI_Scatterv:
	case FN_MPI_Allgather:
	case FN_MPI_Allgatherv:
	case FN_MPI_Alltoall:
	case FN_MPI_Alltoallv:
	case FN_MPI_Reduce:
	case FN_MPI_Allreduce:
	case FN_MPI_Scan:
	case FN_MPI_Exscan:
	case FN_MPI_Reduce_scatter:
	case FN_MPI_Reduce_scatter_block:
		return true;
	default:
		return false;
	}
}

/* Of gathers, scatters and reductions: the column that tells who is the root. */
static int column_of_root(const struct schema *s)
{
	switch (s->mpi->base) {
	case FN_MPI_Gather:
	case FN_MPI_Gatherv:
		return s->at[PARAMETER_RECV_COUNT];
	case FN_MPI_Scatter:
	case FN_MPI_Scatterv:
		return s->at[PARAMETER_COUNT];
	case FN_MPI_Reduce:
		return schema_column(s, "sendbuf"); /* MPI_IN_PLACE */
	default:
		return -1;
	}
}

static bool is_count(const struct schema *s, size_t i)
{
	return (int)i == s->at[PARAMETER_COUNT] || (int)i == s->at[PARAMETER_RECV_COUNT];
}

/* ---- what all sites of a function have ---- */

/* Without named constants, which stand for counts that are not significant. */
static int add_numbers(struct tally *to, const struct tally *from)
{
	uint32_t constants = tally_constants(from);
	struct tally numbers = {from->bins + constants, from->count - constants, from->count - constants};
	return numbers.count ? tally_merge(to, &numbers) : 0;
}

static void add_types(struct collective *f, const struct trace *t, const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t d = 0; !c->groups[g].lossy && d < c->groups[g].count; d++) {
			int64_t v;
			if (c->groups[g].dict[d].count > 1 || !rankmap_constant(&c->groups[g].dict[d].start, &v) ||
			    !value_is_constant(v))
				f->mixed_types = true;
			else if (trace_is_constant(t, v, CONST_ABSENT) ||
			         trace_is_constant(t, v, CONST_MPI_DATATYPE_NULL) || v == f->type)
				continue;
			else if (f->type != VALUE_NONE)
				f->mixed_types = true;
			else
				f->type = v;
		}
}

/* The value that all visits of all ranks have; false: there are several. */
static bool only_value(const struct trace_column *c, int64_t *v)
{
	return c->count == 1 && c->groups[0].pattern == 0 && !c->groups[0].lossy && !c->groups[0].edits &&
	       rankmap_constant(&c->groups[0].dict[0].start, v);
}

/* May it be MPI_IN_PLACE? */
static bool may_be_in_place(const struct trace_column *c)
{
	int64_t v;
	for (uint32_t g = 0; g < c->count; g++)
		if (c->groups[g].lossy || c->groups[g].pattern || !rankmap_constant(&c->groups[g].dict[0].start, &v) ||
		    v != 0)
			return true;
	return false;
}

/* The values of roots, or counts, in a group of ranks. */
static int add_group(struct collective *f, const struct trace_site *site, size_t column,
                     const struct trace_group *group, bool reduces, bool vector)
{
	bool root = (int)column == f->root;
	struct tally *to = root ? &f->roots : &f->counts;
	int64_t value;
	f->root_given |= root && !group->lossy;
	if (!group->lossy) {
		if (group->pattern || vector || !rankmap_constant(&group->dict[0].start, &value) ||
		    value_is_constant(value))
			return 0;
		return tally_add(to, value, rankmap_size(&group->dict[0].start));
	}
	f->unordered = true;
	f->root_drawn |= root;
	f->root_told |= root && f->only_at_root >= 0 && (!reduces || may_be_in_place(&site->columns[f->only_at_root]));
	return add_numbers(to, vector ? &group->lossy->elements : &group->lossy->values);
}

static int collective_add_site(struct collective *f, const struct trace *t, const struct trace_site *site)
{
	const struct schema *s = trace_schema(t, site);
	int64_t comm;
	int rv = 0;
	if (f->comm >= 0 && only_value(&site->columns[f->comm], &comm) &&
	    trace_is_constant(t, comm, CONST_MPI_COMM_WORLD))
		f->world += (uint64_t)rankmap_sum(&site->visits);
	for (size_t i = 0; i < s->count; i++) {
		const struct trace_column *c = &site->columns[i];
		if (s->column[i].kind == 't')
			add_types(f, t, c);
		if ((int)i != f->root && !is_count(s, i))
			continue;
		for (uint32_t g = 0; g < c->count && rv == 0; g++)
			rv = add_group(f, site, i, &c->groups[g], s->mpi->base == FN_MPI_Reduce, s->column[i].vector);
	}
	return rv;
}

int collective_args_create(struct collective_args **out, const struct trace *t, uint64_t seed)
{
	struct collective_args *c = calloc(1, sizeof *c);
	*out = c;
	if (!c || !(c->functions = calloc((size_t)t->function_count + 1, sizeof *c->functions)))
		return -1;
	c->trace = t;
	c->seed = seed;
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;
		c->functions[i] = (struct collective){.comm = s->at[PARAMETER_COMM],
		                                      .root = s->at[PARAMETER_ROOT],
		                                      .only_at_root = column_of_root(s),
		                                      .type = VALUE_NONE};
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		struct collective *f = &c->functions[t->sites[i].function];
		if (collective_args_must_fit(trace_schema(t, &t->sites[i])) &&
		    collective_add_site(f, t, &t->sites[i]) != 0)
			return -1;
		f->each += (uint64_t)rankmap_sum(&t->sites[i].visits);
	}
	for (uint32_t i = 0; i < t->function_count; i++) {
		struct collective *f = &c->functions[i];
		f->root_told |= f->root_drawn && f->root_given;
		f->world /= t->size;
		f->each = f->each / t->size + (f->each < t->size);
	}
	return 0;
}

void collective_args_destroy(struct collective_args *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->functions && i < c->trace->function_count; i++) {
		tally_free(&c->functions[i].roots);
		tally_free(&c->functions[i].counts);
		free(c->functions[i].operations);
	}
	for (int i = 0; i < ARGS_DRAWN_ARRAYS; i++)
		free(c->vectors[i]);
	free(c->functions);
	free(c);
}

/* ---- one operation ---- */

/* A call whose arguments are drawn. */
struct drawn_call {
	struct collective_args *c;
	struct collective *f;
	struct args *a;
	struct event *e;
	uint64_t visit, number; /* of the site; of the operation */
	int size, me;
	bool is_root, by_rank; /* by_rank: counts differ by rank, */
	bool by_pair;          /* by sender and receiver */
};

/* The number of this operation: those on MPI_COMM_WORLD come first, those of other communicators behind them, each
 * counted by itself. */
static uint64_t operation_number(struct collective *f, int64_t comm)
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

/* Value `entry` of `entries` that the operation has: all entries of all operations have the values of the tally, each
 * in its turn. */
static int64_t agreed_value(const struct drawn_call *x, const struct tally *t, uint64_t entries, uint64_t entry)
{
	uint64_t all = x->f->each * entries, total = tally_count(t), what = (uint64_t)(t == &x->f->roots);
	if (all == 0 || total == 0)
		return 0;
	uint64_t place = sampler_permute((x->number * entries + entry) % all, all, sampler_stride(all),
	                                 hash_four(x->c->seed, what, all, total));
	return sampler_at(t, (uint64_t)(((double)place + 0.5) / (double)all * (double)total));
}

static int64_t agreed_count(const struct drawn_call *x, int entry)
{
	uint64_t n = (uint64_t)x->size;
	return agreed_value(x, &x->f->counts, x->by_pair ? n * n : x->by_rank ? n : 1, (uint64_t)entry);
}

/* Number `i` of all that there were at a site. */
static int64_t number_at_site(const struct drawn_call *x, size_t column, const struct tally *t, uint64_t i)
{
	uint32_t constants = tally_constants(t);
	struct tally numbers = {t->bins + constants, t->count - constants, t->count - constants};
	uint64_t total = tally_count(&numbers);
	return total ? sampler_at(&numbers, sampler_permute(i % total, total, sampler_stride(total),
	                                                    hash_four(x->c->seed, x->e->site, column, 2)))
	             : 0;
}

/* Makes a column's value an array with room for n; NULL: there is no memory. */
static int64_t *new_vector(struct drawn_call *x, size_t column)
{
	struct collective_args *c = x->c;
	size_t n = (size_t)x->size;
	int64_t *v = c->used < ARGS_DRAWN_ARRAYS ? realloc(c->vectors[c->used], (n + 1) * sizeof *v) : NULL;
	if (!v)
		return NULL;
	c->vectors[c->used] = v;
	x->a->drawn[c->used] = (struct pool_item){(uint8_t *)v, n * sizeof *v};
	x->e->values[column] = ARGS_DRAWN + c->used++;
	return v;
}

/* The root of an operation: who it was is known to a rank that gave what only the root gives. Nobody knows it: one of
 * those that may have been. */
static int64_t agree_on_root(const struct drawn_call *x, MPI_Comm comm, int64_t drawn)
{
	const struct collective *f = x->f;
	int64_t root = x->e->values[f->root], v = f->only_at_root >= 0 ? x->e->values[f->only_at_root] : VALUE_LOSSY;
	bool in_place = f->only_at_root >= 0 && x->e->schema->mpi->base == FN_MPI_Reduce;
	long long own = -1, best = -1, size = x->size;
	MPI_Request request;
	if (root != VALUE_LOSSY)
		own = value_is_constant(root) ? -1 : size + root;
	else if (in_place ? args_is_in_place(x->a, v) : v != VALUE_LOSSY && !value_is_constant(v))
		own = size + x->me;
	else if (v == VALUE_LOSSY || in_place)
		own = (x->me + size - drawn % size - 1 + size) % size;
	if (PMPI_Iallreduce(&own, &best, 1, MPI_LONG_LONG, MPI_MAX, comm, &request) == MPI_SUCCESS)
		poll_wait(&request, MPI_STATUS_IGNORE);
	return best >= size ? best - size : best >= 0 ? (best + drawn % size + 1) % size : drawn;
}

/* What the root gives, at a rank that was not the root: its counts are not known, its type is the other one. */
static void give_as_root(struct drawn_call *x)
{
	const struct schema *s = x->e->schema;
	int64_t *v = x->e->values;
	bool gather = x->f->only_at_root == s->at[PARAMETER_RECV_COUNT];
	int to = s->at[gather ? PARAMETER_RECV_TYPE : PARAMETER_TYPE],
	    from = s->at[gather ? PARAMETER_TYPE : PARAMETER_RECV_TYPE], displs = schema_column(s, "displs");
	if (value_is_constant(v[x->f->only_at_root]))
		v[x->f->only_at_root] = VALUE_LOSSY;
	if (displs >= 0 && value_is_constant(v[displs]))
		v[displs] = VALUE_LOSSY;
	if (to >= 0 && from >= 0 && value_is_constant(v[to]))
		v[to] = v[from];
}

static void fill_root(struct drawn_call *x, MPI_Comm comm)
{
	const struct collective *f = x->f;
	int inter;
	if (f->root < 0)
		return;
	assert(x->size > 0);
	int64_t root = agreed_value(x, &f->roots, 1, 0) % x->size;
	PMPI_Comm_test_inter(comm, &inter);
	if (f->root_told && !inter)
		root = agree_on_root(x, comm, root);
	x->is_root = x->e->values[f->root] == VALUE_LOSSY ? root == x->me : x->e->values[f->root] == x->me;
	if (x->e->values[f->root] != VALUE_LOSSY)
		return;
	x->e->values[f->root] = root;
	if (x->is_root && f->only_at_root >= 0 && x->e->schema->mpi->base != FN_MPI_Reduce)
		give_as_root(x);
}

/* MPI_IN_PLACE is for the root only, as often as it was; without a root, for all ranks or none. */
static void fill_in_place(struct drawn_call *x, struct sampler *sampler, size_t column)
{
	const struct trace_site *site = &x->c->trace->sites[x->e->site];
	const struct trace_group *g = sampler_group(&site->columns[column]);
	uint64_t roots = (uint64_t)rankmap_sum(&site->visits) / x->c->trace->size + 1, places = 0;
	if (x->f->root < 0) {
		x->e->values[column] = sampler_value(sampler, x->e->site, column, x->visit);
		return;
	}
	for (uint32_t i = 0; g && i < g->lossy->values.count && value_is_constant(g->lossy->values.bins[i].min); i++)
		places += g->lossy->values.bins[i].count;
	x->e->values[column] = x->is_root && places && hash_four(x->c->seed, x->e->site, x->visit, 3) % roots < places
	                               ? x->a->in_place
	                               : 0;
}

static void fill_count(struct drawn_call *x, size_t i)
{
	const struct collective *f = x->f;
	const struct schema *s = x->e->schema;
	int64_t *value = &x->e->values[i];
	/* of different datatypes: each rank has what there was at this site */
	const struct trace_group *g = f->mixed_types ? sampler_group(&x->c->trace->sites[x->e->site].columns[i]) : NULL;
	uint64_t n = (uint64_t)x->size, own = (int)i == f->only_at_root ? x->visit : x->visit * n + (uint64_t)x->me;
	if (g && (int)i != f->only_at_root && f->root >= 0 &&
	    tally_constants(&g->lossy->values)) /* the root has none */
		own = x->visit * (n - 1) + (uint64_t)(x->me - (x->me > x->e->values[f->root]));
	if (!s->column[i].vector) {
		if (!f->mixed_types)
			*value = agreed_count(x, x->by_rank ? x->me : 0);
		else if (g && *value == VALUE_LOSSY)
			*value = number_at_site(x, i, &g->lossy->values, own);
		return;
	}
	if (f->mixed_types && *value != VALUE_LOSSY)
		return;
	bool send = (int)i == s->at[PARAMETER_COUNT];
	int64_t *v = new_vector(x, i);
	for (int k = 0; v && k < x->size; k++)
		v[k] = g             ? number_at_site(x, i, &g->lossy->elements, own * n + (uint64_t)k)
		       : !x->by_pair ? agreed_count(x, k)
		                     : agreed_count(x, send ? x->me * x->size + k : k * x->size + x->me);
}

/* Displacements: one behind the other. */
static void fill_displacements(struct drawn_call *x, const char *name, enum mpi_parameter counts)
{
	const struct schema *s = x->e->schema;
	int i = schema_column(s, name), c = s->at[counts];
	size_t n;
	if (i < 0 || c < 0 || value_is_constant(x->e->values[i]) || value_is_constant(x->e->values[c]))
		return;
	const struct pool_item *item = args_elements(x->a, x->e->values[c], &n);
	int64_t *v = new_vector(x, (size_t)i), at = 0;
	for (int k = 0; v && k < x->size; k++) {
		v[k] = at;
		at += (size_t)k < n ? args_element(item, (size_t)k) : 0;
	}
}

void collective_args_fill(struct collective_args *c, struct args *a, struct event *e, struct sampler *sampler,
                          uint64_t visit)
{
	const struct schema *s = e->schema;
	struct collective *f = &c->functions[c->trace->sites[e->site].function];
	c->used = 0;
	replay_outcome.mixed_types = f->unordered && f->mixed_types;
	if (!f->unordered || f->comm < 0)
		return;
	int64_t number = e->values[f->comm];
	struct object *comm = args_object(a, HANDLE_COMM, number);
	struct drawn_call x = {.c = c, .f = f, .a = a, .e = e, .visit = visit, .size = object_peers(comm)};
	x.number = operation_number(f, value_is_constant(number) ? -1 : number);
	x.by_pair = s->mpi->base == FN_MPI_Alltoallv;
	for (size_t i = 0; i < s->count; i++)
		x.by_rank |= is_count(s, i) && s->column[i].vector;
	PMPI_Comm_rank(HANDLE_OF(MPI_Comm, comm->handle), &x.me);
	fill_root(&x, HANDLE_OF(MPI_Comm, comm->handle));
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].kind == 'b' && e->values[i] == VALUE_LOSSY)
			fill_in_place(&x, sampler, i);
	for (size_t i = 0; i < s->count; i++)
		if (is_count(s, i) && !value_is_constant(e->values[i]))
			fill_count(&x, i);
	fill_displacements(&x, "sdispls", PARAMETER_COUNT);
	fill_displacements(&x, "rdispls", PARAMETER_RECV_COUNT);
	fill_displacements(&x, "displs", s->mpi->base == FN_MPI_Scatterv ? PARAMETER_COUNT : PARAMETER_RECV_COUNT);
}
