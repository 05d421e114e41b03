/* SPDX-License-Identifier: BSD-3-Clause
 * volume - how much the calls of a site pass on
 */
#include "trace/volume.h"

#include <stdlib.h>
#include <string.h>

#include "trace/column.h"
#include "trace/pattern.h"

/* --- functions --- */

static bool begins(const struct schema *s, const char *name)
{
	size_t n = strlen(name);
	return s->function_length >= n && memcmp(s->function, name, n) == 0;
}

/* Is it this one, or the one with large counts? */
static bool is_named(const struct schema *s, const char *name)
{
	size_t n = strlen(name);
	return begins(s, name) && (s->function_length == n || (s->function_length == n + 2 && memcmp(s->function + n, "_c", 2) == 0));
}

enum volume_kind volume_kind(const struct schema *s)
{
	static const struct {
		const char *name;
		enum volume_kind kind;
	} functions[] = {
	        {"MPI_Send", VOLUME_MESSAGE},      {"MPI_Bsend", VOLUME_MESSAGE},     {"MPI_Ssend", VOLUME_MESSAGE},     {"MPI_Rsend", VOLUME_MESSAGE},
	        {"MPI_Isend", VOLUME_MESSAGE},     {"MPI_Ibsend", VOLUME_MESSAGE},    {"MPI_Issend", VOLUME_MESSAGE},    {"MPI_Irsend", VOLUME_MESSAGE},
	        {"MPI_Sendrecv", VOLUME_MESSAGE},  {"MPI_Isendrecv", VOLUME_MESSAGE}, {"MPI_Sendrecv_replace", VOLUME_MESSAGE},
	        {"MPI_Isendrecv_replace", VOLUME_MESSAGE}, {"MPI_Bcast", VOLUME_COLLECTIVE}, {"MPI_Ibcast", VOLUME_COLLECTIVE},
	        {"MPI_Reduce", VOLUME_COLLECTIVE}, {"MPI_Ireduce", VOLUME_COLLECTIVE}, {"MPI_Allreduce", VOLUME_COLLECTIVE},
	        {"MPI_Iallreduce", VOLUME_COLLECTIVE}, {"MPI_Scan", VOLUME_COLLECTIVE}, {"MPI_Iscan", VOLUME_COLLECTIVE},
	        {"MPI_Exscan", VOLUME_COLLECTIVE}, {"MPI_Iexscan", VOLUME_COLLECTIVE}, {"MPI_Gather", VOLUME_COLLECTIVE},
	        {"MPI_Igather", VOLUME_COLLECTIVE}, {"MPI_Gatherv", VOLUME_COLLECTIVE}, {"MPI_Igatherv", VOLUME_COLLECTIVE},
	        {"MPI_Allgather", VOLUME_COLLECTIVE}, {"MPI_Iallgather", VOLUME_COLLECTIVE}, {"MPI_Allgatherv", VOLUME_COLLECTIVE},
	        {"MPI_Iallgatherv", VOLUME_COLLECTIVE}, {"MPI_Alltoall", VOLUME_ALL}, {"MPI_Ialltoall", VOLUME_ALL},
	        {"MPI_Put", VOLUME_ONESIDED},      {"MPI_Rput", VOLUME_ONESIDED},     {"MPI_Get", VOLUME_ONESIDED},      {"MPI_Rget", VOLUME_ONESIDED},
	        {"MPI_Accumulate", VOLUME_ONESIDED}, {"MPI_Raccumulate", VOLUME_ONESIDED},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (is_named(s, functions[i].name))
			return functions[i].kind;
	/* the data of a split pair are at its begin, which has the count */
	if (begins(s, "MPI_File_read") || begins(s, "MPI_File_write") || begins(s, "MPI_File_iread") || begins(s, "MPI_File_iwrite"))
		return VOLUME_FILE;
	return VOLUME_NONE;
}

static int column_number(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == strlen(name) && memcmp(s->column[i].name, name, s->column[i].length) == 0)
			return (int)i;
	return -1;
}

/* The columns that say how much: of an MPI_Sendrecv what is sent. */
static void find_columns(const struct schema *s, int *count, int *type)
{
	static const char *const names[][2] = {{"sendcount", "sendtype"}, {"origin_count", "origin_datatype"}, {"count", "datatype"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		*count = column_number(s, names[i][0]);
		*type = column_number(s, names[i][1]);
		if (*count >= 0 && *type >= 0 && !s->column[*count].vector && !s->column[*type].vector)
			return;
	}
	*count = *type = -1;
}

/* Predefined datatypes whose size is the same everywhere that MPI runs. */
static uint64_t type_size(const char *name)
{
	static const struct {
		const char *name;
		uint64_t size;
	} types[] = {
	        {"MPI_CHAR", 1},   {"MPI_SIGNED_CHAR", 1}, {"MPI_UNSIGNED_CHAR", 1}, {"MPI_BYTE", 1},     {"MPI_PACKED", 1},    {"MPI_SHORT", 2},
	        {"MPI_UNSIGNED_SHORT", 2}, {"MPI_INT", 4}, {"MPI_UNSIGNED", 4},      {"MPI_LONG", 8},     {"MPI_UNSIGNED_LONG", 8},
	        {"MPI_LONG_LONG", 8}, {"MPI_LONG_LONG_INT", 8}, {"MPI_UNSIGNED_LONG_LONG", 8}, {"MPI_FLOAT", 4}, {"MPI_DOUBLE", 8},
	        {"MPI_LONG_DOUBLE", 16}, {"MPI_INT8_T", 1}, {"MPI_INT16_T", 2},      {"MPI_INT32_T", 4},  {"MPI_INT64_T", 8},   {"MPI_UINT8_T", 1},
	        {"MPI_UINT16_T", 2}, {"MPI_UINT32_T", 4},  {"MPI_UINT64_T", 8},      {"MPI_AINT", 8},     {"MPI_COUNT", 8},     {"MPI_OFFSET", 8},
	        {"MPI_CHARACTER", 1}, {"MPI_INTEGER", 4},  {"MPI_REAL", 4},          {"MPI_DOUBLE_PRECISION", 8}, {"MPI_COMPLEX", 8},
	        {"MPI_DOUBLE_COMPLEX", 16}, {"MPI_LOGICAL", 4}, {"MPI_INTEGER8", 8}, {"MPI_REAL8", 8},    {"MPI_REAL4", 4},     {"MPI_C_DOUBLE_COMPLEX", 16},
	        {"MPI_C_BOOL", 1}, {"MPI_2INT", 8},        {"MPI_DOUBLE_INT", 12},
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].size;
	return 0;
}

/* The one constant that a column has on all ranks, or NULL. */
static const char *column_constant(const struct trace *t, const struct trace_column *c)
{
	int64_t value, first = 0;
	for (uint32_t g = 0; g < c->count; g++) {
		const struct trace_group *group = &c->groups[g];
		if (group->pattern || group->lossy || !rankmap_constant(&group->dict[0].start, &value) || !value_is_constant(value) || (g > 0 && value != first))
			return NULL;
		first = value;
	}
	return c->count ? (const char *)t->strings.items[(uint64_t)first - (uint64_t)VALUE_CONSTANT].bytes : NULL;
}

/* How many bytes one element is; 0 if that is not known. */
static uint64_t element_size(const struct trace *t, const struct trace_site *site, int type)
{
	uint64_t size = 0;
	for (uint32_t g = 0; g < site->columns[type].count; g++) {
		struct trace_column one = {&site->columns[type].groups[g], 1};
		const char *name = column_constant(t, &one);
		uint64_t n = name ? type_size(name) : 0;
		if (n == 0 || (g > 0 && n != size))
			return 0;
		size = n;
	}
	return size;
}

/* --- values --- */

unsigned volume_class(uint64_t bytes)
{
	unsigned class = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
	return class < VOLUME_SIZES ? class : VOLUME_SIZES - 1;
}

/* Is there work left for so many values? Then it is done. */
static bool afford(struct volume *v, uint64_t ranks, uint64_t values)
{
	if (v->work > VOLUME_WORK || values > VOLUME_WORK || ranks > (VOLUME_WORK - v->work) / (values ? values : 1))
		return false;
	v->work += ranks * values;
	return true;
}

static void count_value(struct volume *v, int64_t value, uint64_t times, uint64_t size)
{
	if (value_is_constant(value))
		return; /* an error variant: the call passed nothing on */
	v->bytes += (uint64_t)value * times * size;
	v->sizes[volume_class(value < 0 ? 0 : (uint64_t)value * size)] += times;
}

/* How often each value of a pattern's dictionary comes, `counts` has room for all. Weights of rules, from the whole down. */
static int count_tokens(const struct pattern *p, uint64_t *counts, uint64_t values)
{
	uint64_t *weights = calloc(p->rule_count, sizeof *weights);
	if (!weights)
		return -1;
	for (uint64_t i = 0; i < values; i++)
		counts[i] = 1; /* each is new once */
	weights[p->rule_count - 1] = 1;
	for (size_t r = p->rule_count; r-- > 0;)
		for (size_t i = p->rules[r].first; i < p->rules[r].end; i++) {
			const struct pattern_symbol *s = &p->symbols[i];
			if (s->rule)
				weights[s->id] += weights[r] * s->exponent;
			else if (s->id != PATTERN_NEW && s->id - 1 < values)
				counts[s->id - 1] += weights[r] * s->exponent;
		}
	free(weights);
	return 0;
}

/* The values of a stretch, value k coming counts[k] times in each rank. */
static void add_stretch(struct volume *v, const struct trace_stretch *d, const uint64_t *counts, uint64_t size)
{
	int64_t start, stride = 0, step;
	uint64_t ranks = rankmap_size(&d->start);
	if (rankmap_constant(&d->start, &start) && (d->count == 1 || rankmap_constant(&d->stride, &stride))) {
		for (uint64_t k = 0; k < d->count; k++)
			count_value(v, (int64_t)((uint64_t)start + k * (uint64_t)stride), counts[k] * ranks, size);
	} else if (afford(v, ranks, d->count)) {
		for (uint64_t r = 0; rankmap_next(&d->start, &r, &start); r++) {
			bool one = d->count == 1 || value_is_constant(start) || !rankmap_get(&d->stride, (uint32_t)r, &step);
			for (uint64_t k = 0; k < d->count; k++)
				count_value(v, one ? start : (int64_t)((uint64_t)start + k * (uint64_t)step), counts[k], size);
		}
	} else {
		uint64_t first = (uint64_t)rankmap_sum(&d->start), slope = d->count > 1 ? (uint64_t)rankmap_sum(&d->stride) : 0;
		for (uint64_t k = 0; k < d->count; k++) {
			uint64_t all = first + k * slope;
			v->bytes += all * counts[k] * size;
			v->sizes[volume_class(all / ranks * size)] += counts[k] * ranks;
		}
	}
}

static int add_pattern(struct volume *v, const struct trace *t, const struct trace_group *g, uint64_t size)
{
	const struct pool_item *item = &t->patterns.items[g->pattern - 1];
	struct pattern p = {0};
	uint64_t values = 0;
	int rv = -1;
	for (uint32_t i = 0; i < g->count; i++)
		values += g->dict[i].count;
	if (!afford(v, 1, values))
		return 1;
	uint64_t *counts = malloc((values + 1) * sizeof *counts);
	if (!counts || pattern_parse(&p, item->bytes, item->size) != 0 || count_tokens(&p, counts, values) != 0)
		goto done;
	uint64_t at = 0;
	for (uint32_t i = 0; i < g->count; at += g->dict[i++].count)
		add_stretch(v, &g->dict[i], counts + at, size);
	rv = 0;
done:
	free(counts);
	pattern_free(&p);
	return rv;
}

/* Which value came when is not known; which came how often is, as far as the tally tells them apart. */
static void add_tally(struct volume *v, const struct tally *tally, uint64_t size)
{
	for (uint32_t i = tally_constants(tally); i < tally->count; i++) {
		const struct tally_bin *b = &tally->bins[i];
		int64_t mean = b->min == b->max ? b->min : (int64_t)(b->sum / b->count);
		v->bytes += b->sum * size;
		v->sizes[volume_class(mean < 0 ? 0 : (uint64_t)mean * size)] += b->count;
	}
}

/* Returns 0, or 1: not known. */
static int add_constant(struct volume *v, const struct trace_site *site, const struct rankmap *values, uint64_t size)
{
	int64_t value, visits;
	if (rankmap_constant(values, &value) && rankmap_same_ranks(values, &site->visits)) {
		count_value(v, value, (uint64_t)rankmap_sum(&site->visits), size);
		return 0;
	}
	uint64_t ranks = rankmap_size(values);
	if (!afford(v, ranks, 1)) {
		if (!rankmap_constant(&site->visits, &visits))
			return 1;
		v->bytes += (uint64_t)rankmap_sum(values) * (uint64_t)visits * size;
		v->sizes[volume_class((uint64_t)rankmap_sum(values) / ranks * size)] += ranks * (uint64_t)visits;
		return 0;
	}
	for (uint64_t r = 0; rankmap_next(values, &r, &value); r++)
		if (rankmap_get(&site->visits, (uint32_t)r, &visits))
			count_value(v, value, (uint64_t)visits, size);
	return 0;
}

/* Returns 0; 1 if it is not known; -1 on no memory. */
static int add_values(struct volume *v, const struct trace *t, const struct trace_site *site, const struct trace_column *column, uint64_t size)
{
	for (uint32_t i = 0; i < column->count; i++) {
		const struct trace_group *g = &column->groups[i];
		int rv = 0;
		if (g->lossy)
			add_tally(v, &g->lossy->values, size);
		else if (g->pattern)
			rv = add_pattern(v, t, g, size);
		else
			rv = add_constant(v, site, &g->dict[0].start, size);
		if (rv)
			return rv;
	}
	return 0;
}

int volume_add(struct volume *v, const struct trace *t, const struct trace_site *site)
{
	const struct schema *schema = trace_schema(t, site);
	enum volume_kind kind = volume_kind(schema);
	uint64_t calls = (uint64_t)rankmap_sum(&site->visits), size = 0;
	struct volume mine = *v;
	int count, type, comm = column_number(schema, "comm"), rv = 1;
	if (kind == VOLUME_NONE)
		return 0;
	find_columns(schema, &count, &type);
	if (count >= 0)
		size = element_size(t, site, type);
	if (kind == VOLUME_ALL) {
		const char *name = comm >= 0 ? column_constant(t, &site->columns[comm]) : NULL;
		size = name && strcmp(name, "MPI_COMM_WORLD") == 0 ? size * t->size : 0;
	}
	v->calls += calls;
	if (size) {
		mine.calls += calls;
		rv = add_values(&mine, t, site, &site->columns[count], size);
	}
	if (rv == 0)
		*v = mine;
	else
		v->unsized += calls;
	v->work = mine.work;
	return rv < 0 ? -1 : 0;
}
