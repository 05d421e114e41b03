/* SPDX-License-Identifier: BSD-3-Clause
 * compare_totals - do two traces agree in what does not depend on any order?
 */
#include "cmd/base/compare_totals.h"
#include "cmd/base/sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/value.h"
#include "trace/read/walk.h"

#define TOLERANCE 0.05 /* of collective operations */

/* A column of a function that has no order in some site of the first trace. */
struct spread {
	const struct schema_column *column;
	bool messages, sum, wraps; /* its values are dealt out one by one; they are counts; they are ranks */
	bool coarse; /* ranks whose numbers cannot be compared: of smaller communicators, or in bins of several */
	struct tally a;
	int64_t *limits; /* the greatest values of its bins, ascending */
	uint64_t *got;   /* values of the second trace up to each limit; behind them: those beyond the last */
	size_t limit_count;
	uint64_t sums[2], numbers[2];
	struct named {
		const struct pool_item *name;
		uint64_t count[2];
	} * names;
	size_t name_count;
};

struct function {
	const struct schema *schema;
	uint64_t calls[2];
	struct spread *spreads; /* by column of the schema */
};

struct totals {
	const struct trace *traces[2];
	struct function *functions; /* those of the first trace; then what only the second one has */
	size_t count;
	int64_t *sizes; /* of communicators, by number, in the rank that is looked at */
	size_t size_count;
};

static bool same_function(const struct schema *a, const struct schema *b)
{
	return a->function_length == b->function_length && memcmp(a->function, b->function, a->function_length) == 0;
}

static struct function *totals_function(struct totals *t, const struct schema *s)
{
	for (size_t i = 0; i < t->count; i++)
		if (same_function(t->functions[i].schema, s))
			return &t->functions[i];
	struct function *more = realloc(t->functions, (t->count + 1) * sizeof *more);
	struct spread *spreads = calloc(s->count + 1, sizeof *spreads);

	if (more)
		t->functions = more;
	if (!more || !spreads) {
		free(spreads);
		return NULL;
	}
	more[t->count] = (struct function){s, {0, 0}, spreads};
	return &more[t->count++];
}

/* Is a column one of those that are compared? */
static bool totals_describe(struct spread *x, const struct schema *s, size_t column)
{
	static const enum mpi_parameter others[] = {PARAMETER_DEST, PARAMETER_SOURCE, PARAMETER_TAG, PARAMETER_RECV_TAG,
	                                            PARAMETER_ROOT};
	int k = (int)column;
	bool other = false;

	x->column = &s->column[column];
	x->messages = s->at[PARAMETER_DEST] >= 0 || s->at[PARAMETER_SOURCE] >= 0;
	x->sum = k == s->at[PARAMETER_COUNT] || k == s->at[PARAMETER_RECV_COUNT];
	x->wraps = x->column->kind == 'p';
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		other |= k == s->at[others[i]];
	return s->at[PARAMETER_COMM] >= 0 && (x->sum || other);
}

/* ---- the first trace ---- */

static int64_t wrap(const struct totals *t, int64_t v)
{
	int64_t n = t->traces[0]->size;

	return (v % n + n) % n;
}

static int totals_add_name(struct spread *x, const struct trace *t, int side, int64_t value, uint64_t count)
{
	const struct pool_item *name = &t->strings.items[(uint64_t)value - (uint64_t)VALUE_CONSTANT];

	for (size_t i = 0; i < x->name_count; i++)
		if (x->names[i].name->size == name->size &&
		    memcmp(x->names[i].name->bytes, name->bytes, name->size) == 0) {
			x->names[i].count[side] += count;
			return 0;
		}
	struct named *more = realloc(x->names, (x->name_count + 1) * sizeof *more);

	if (!more)
		return -1;
	x->names = more;
	more[x->name_count] = (struct named){name, {0, 0}};
	more[x->name_count++].count[side] = count;
	return 0;
}

/* A bin, as it is or as what its values are modulo the number of ranks. */
static int bins_add(const struct totals *t, struct spread *x, const struct tally_bin *b)
{
	if (value_is_constant(b->min))
		return totals_add_name(x, t->traces[0], 0, b->min, b->count);
	x->numbers[0] += b->count;
	x->sums[0] += b->sum;
	if (x->wraps && b->min != b->max)
		x->coarse = true;
	if (x->wraps)
		return tally_add(&x->a, wrap(t, b->min), b->count);
	struct tally_bin one = *b;
	struct tally tally = {&one, 1, 1};

	return tally_merge(&x->a, &tally);
}

static int totals_add_sites(struct totals *t, struct error *error)
{
	const struct trace *a = t->traces[0];

	for (uint32_t i = 0; i < a->site_count; i++) {
		const struct trace_site *site = &a->sites[i];
		struct function *f = totals_function(t, trace_schema(a, site));

		if (!f)
			return error_set(error, "no memory");
		f->calls[0] += (uint64_t)rankmap_sum(&site->visits);
		for (size_t k = 0; k < f->schema->count; k++) {
			struct spread *x = &f->spreads[k];

			for (uint32_t g = 0; k < site->column_count && g < site->columns[k].count; g++) {
				const struct trace_lossy *lossy = site->columns[k].groups[g].lossy;
				const struct tally *values = lossy && f->schema->column[k].vector ? &lossy->elements
				                             : lossy                              ? &lossy->values
				                                                                  : NULL;

				if (!lossy)
					continue;
				if (!totals_describe(x, f->schema, k)) {
					x->column = NULL;
					continue;
				}
				for (uint32_t n = 0; n < values->count; n++)
					if (bins_add(t, x, &values->bins[n]) != 0)
						return error_set(error, "no memory");
			}
		}
	}
	return 0;
}

/* ---- events ---- */

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int set_limits(struct spread *x)
{
	x->limits = calloc((size_t)x->a.count + 1, sizeof *x->limits);
	x->got = calloc((size_t)x->a.count + 1, sizeof *x->got);
	if (!x->limits || !x->got)
		return -1;
	for (uint32_t i = 0; i < x->a.count; i++)
		x->limits[i] = x->a.bins[i].max;
	x->limit_count = x->a.count;
	qsort(x->limits, x->limit_count, sizeof *x->limits, ascending);
	return 0;
}

static int add_value(struct totals *t, struct spread *x, int side, int64_t v)
{
	if (v == VALUE_LOSSY)
		return 0;
	if (value_is_constant(v))
		return totals_add_name(x, t->traces[side], side, v, 1);
	if (side == 0)
		return bins_add(t, x, &(struct tally_bin){v, v, 1, (uint64_t)v});
	x->numbers[1]++;
	x->sums[1] += (uint64_t)v;
	v = x->wraps ? wrap(t, v) : v;
	size_t low = 0, high = x->limit_count; /* the first limit that is not below it */

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->limits[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	x->got[low]++;
	return 0;
}

/* Is the event's communicator as large as MPI_COMM_WORLD? */
static bool in_all(const struct totals *t, int side, const struct event *e)
{
	int comm = e->schema->at[PARAMETER_COMM];

	if (comm < 0)
		return false;
	int64_t v = e->values[comm];

	if (value_is_constant(v))
		return trace_is_constant(t->traces[side], v, CONST_MPI_COMM_WORLD);
	return v >= 0 && (uint64_t)v < t->size_count && t->sizes[v] == t->traces[side]->size;
}

static int add_event(struct totals *t, int side, const struct event *e)
{
	struct function *f = totals_function(t, e->schema);

	for (size_t k = 0; f && k < f->schema->count; k++) {
		struct spread *x = &f->spreads[k];
		size_t column = 0;

		if (!x->column)
			continue;
		while (column < e->schema->count &&
		       (e->schema->column[column].length != x->column->length ||
		        memcmp(e->schema->column[column].name, x->column->name, x->column->length) != 0))
			column++;
		if (column == e->schema->count)
			continue;
		int64_t v = e->values[column];

		x->coarse |= x->wraps && !in_all(t, side, e);
		if (!x->column->vector || value_is_constant(v) || v == VALUE_LOSSY) {
			if (!x->column->vector && add_value(t, x, side, v) != 0)
				return -1;
			continue;
		}
		const struct pool_item *item = event_vector(t->traces[side], e, v);

		for (size_t i = 0; i + sizeof v <= item->size; i += sizeof v) {
			memcpy(&v, item->bytes + i, sizeof v);
			if (add_value(t, x, side, v) != 0)
				return -1;
		}
	}
	return f ? 0 : -1;
}

static int totals_add_events(struct totals *t, int side, struct error *error)
{
	const struct trace *trace = t->traces[side];
	int64_t unused;

	for (uint64_t r = 0; rankmap_next(&trace->events, &r, &unused); r++) {
		struct walk *w = NULL;
		struct event e;
		int rv = walk_object(trace, (uint32_t)r, "@comm", "size", &t->sizes, &t->size_count, error) != 0
		                 ? -1
		                 : walk_begin(&w, trace, (uint32_t)r, error);

		while (rv == 0 && (rv = walk_next(w, &e, error)) == 0)
			if (add_event(t, side, &e) != 0)
				rv = error_set(error, "no memory");
		walk_end(w);
		free(t->sizes);
		t->sizes = NULL;
		if (rv < 0)
			return -1;
	}
	return 0;
}

/* ---- what differs ---- */

static uint64_t far(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The most by which the numbers of values up to a limit differ. */
static uint64_t bins_distance(const struct spread *x)
{
	uint64_t worst = 0, got = 0;

	for (size_t i = 0; i < x->limit_count; i++) {
		uint64_t low = 0, high = 0;

		got += x->got[i];
		if (i + 1 < x->limit_count && x->limits[i + 1] == x->limits[i])
			continue;
		for (uint32_t n = 0; n < x->a.count; n++) {
			low += x->a.bins[n].max <= x->limits[i] ? x->a.bins[n].count : 0;
			high += x->a.bins[n].min <= x->limits[i] ? x->a.bins[n].count : 0;
		}
		uint64_t off = got < low ? low - got : got > high ? got - high : 0;

		worst = off > worst ? off : worst;
	}
	return worst > x->got[x->limit_count] ? worst : x->got[x->limit_count];
}

/* One operation of all ranks may be another one. */
static bool differs(uint32_t ranks, const struct function *f, const struct spread *x, const char *a_name,
                    const char *b_name, FILE *out)
{
	const struct schema *s = f->schema;
	uint64_t most = x->messages ? 0 : (uint64_t)(TOLERANCE * (double)x->numbers[0]) + (ranks > 2 ? ranks : 2),
		 off = far(x->numbers[0], x->numbers[1]);
	bool found = false;

	for (size_t i = 0; i < x->name_count; i++)
		if (far(x->names[i].count[0], x->names[i].count[1]) > most && !found) {
			say_to(out, "%.*s %.*s: %s: %" PRIu64 " times %s, %s: %" PRIu64 "\n", (int)s->function_length,
			       s->function, (int)x->column->length, x->column->name, a_name, x->names[i].count[0],
			       (const char *)x->names[i].name->bytes, b_name, x->names[i].count[1]);
			found = true;
		}
	if (!x->coarse && bins_distance(x) > off)
		off = bins_distance(x);
	if (off > most && !found) {
		say_to(out, "%.*s %.*s: of %" PRIu64 " values %" PRIu64 " are others in the trace that is %s\n",
		       (int)s->function_length, s->function, (int)x->column->length, x->column->name, x->numbers[0],
		       off, b_name);
		found = true;
	}
	/* modulo 2^64 of what is not negative; a thousandth for rounding */
	if (x->sum && !found &&
	    (double)far(x->sums[0], x->sums[1]) > (x->messages ? 0.001 : TOLERANCE) * (double)x->sums[0] + 1) {
		say_to(out, "%.*s %.*s: %s: %" PRIu64 " in all, %s: %" PRIu64 "\n", (int)s->function_length,
		       s->function, (int)x->column->length, x->column->name, a_name, x->sums[0], b_name, x->sums[1]);
		found = true;
	}
	return found;
}

static void totals_free(struct totals *t)
{
	for (size_t i = 0; i < t->count; i++) {
		for (size_t k = 0; k < t->functions[i].schema->count; k++) {
			struct spread *x = &t->functions[i].spreads[k];

			tally_free(&x->a);
			free(x->limits);
			free(x->got);
			free(x->names);
		}
		free(t->functions[i].spreads);
	}
	free(t->functions);
}

int compare_totals(const struct trace *a, const struct trace *b, const char *a_name, const char *b_name, FILE *out,
                   struct compare_result *result, struct error *error)
{
	struct totals t = {.traces = {a, b}};
	int rv = -1;

	*result = (struct compare_result){.ranks = a->size};
	if (totals_add_sites(&t, error) != 0 || totals_add_events(&t, 0, error) != 0)
		goto done;
	for (size_t i = 0; i < t.count; i++)
		for (size_t k = 0; k < t.functions[i].schema->count; k++)
			if (t.functions[i].spreads[k].column && set_limits(&t.functions[i].spreads[k]) != 0) {
				error_set(error, "no memory");
				goto done;
			}
	for (uint32_t i = 0; i < b->site_count; i++) {
		struct function *f = totals_function(&t, trace_schema(b, &b->sites[i]));

		if (!f) {
			error_set(error, "no memory");
			goto done;
		}
		f->calls[1] += (uint64_t)rankmap_sum(&b->sites[i].visits);
	}
	if (totals_add_events(&t, 1, error) != 0)
		goto done;
	rv = 0;
	for (size_t i = 0; i < t.count; i++) {
		const struct function *f = &t.functions[i];
		bool different = f->calls[0] != f->calls[1];

		result->events += f->calls[0];
		if (different)
			say_to(out, "%.*s: %s: %" PRIu64 " calls; %s: %" PRIu64 " calls\n",
			       (int)f->schema->function_length, f->schema->function, a_name, f->calls[0], b_name,
			       f->calls[1]);
		for (size_t k = 0; k < f->schema->count; k++)
			if (f->spreads[k].column) {
				result->columns++;
				different |= differs(a->size, f, &f->spreads[k], a_name, b_name, out);
			}
		result->functions_different += different;
	}
done:
	totals_free(&t);
	return rv;
}
