/* SPDX-License-Identifier: BSD-3-Clause
 * summary - a job in a few numbers
 */
#include "trace/summary.h"

#include <stdlib.h>
#include <string.h>

#include "trace/column.h"
#include "trace/pattern.h"

static bool is_named(const struct schema *s, const char *name)
{
	return s->function_length == strlen(name) && memcmp(s->function, name, s->function_length) == 0;
}

static bool begins(const struct schema *s, const char *name)
{
	size_t n = strlen(name);
	return s->function_length >= n && memcmp(s->function, name, n) == 0;
}

static int column_number(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == strlen(name) && memcmp(s->column[i].name, name, s->column[i].length) == 0)
			return (int)i;
	return -1;
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

/* Sum of a group's values over ranks and visits. Returns 0; 1 if it is not known; -1 on no memory. */
static int group_sum(const struct trace *t, const struct trace_site *site, const struct trace_group *g, uint64_t *sum)
{
	struct pattern p = {0};
	uint64_t *counts = NULL, values = 0;
	int rv = -1;
	if (g->lossy)
		return 1;
	if (g->pattern == 0) {
		int64_t value, visits;
		bool same = rankmap_constant(&g->dict[0].start, &value);
		if (same && value_is_constant(value))
			return 1;
		if (same && rankmap_same_ranks(&g->dict[0].start, &site->visits)) {
			*sum += (uint64_t)value * (uint64_t)rankmap_sum(&site->visits);
			return 0;
		}
		for (uint64_t r = 0; rankmap_next(&g->dict[0].start, &r, &value); r++)
			if (!value_is_constant(value) && rankmap_get(&site->visits, (uint32_t)r, &visits))
				*sum += (uint64_t)value * (uint64_t)visits;
		return 0;
	}
	for (uint32_t i = 0; i < g->count; i++)
		values += g->dict[i].count;
	const struct pool_item *item = &t->patterns.items[g->pattern - 1];
	if (values > (UINT64_C(1) << 24))
		return 1;
	counts = malloc((values + 1) * sizeof *counts);
	if (!counts || pattern_parse(&p, item->bytes, item->size) != 0 || count_tokens(&p, counts, values) != 0)
		goto done;
	uint64_t at = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		uint64_t start = (uint64_t)rankmap_sum(&g->dict[i].start), stride = g->dict[i].count > 1 ? (uint64_t)rankmap_sum(&g->dict[i].stride) : 0;
		for (uint64_t k = 0; k < g->dict[i].count; k++)
			*sum += counts[at++] * (start + k * stride);
	}
	rv = 0;
done:
	free(counts);
	pattern_free(&p);
	return rv;
}

static int count_bytes(struct summary *s, const struct trace *t, const struct trace_site *site)
{
	const struct schema *schema = trace_schema(t, site);
	bool exchange = begins(schema, "MPI_Sendrecv") || begins(schema, "MPI_Isendrecv"), replace = exchange && column_number(schema, "sendcount") < 0;
	int count = column_number(schema, exchange && !replace ? "sendcount" : "count"), type = column_number(schema, exchange && !replace ? "sendtype" : "datatype");
	uint64_t visits = (uint64_t)rankmap_sum(&site->visits), sum = 0, size = 0;
	s->messages += visits;
	for (uint32_t g = 0; type >= 0 && g < site->columns[type].count; g++) {
		int64_t value;
		const struct trace_group *group = &site->columns[type].groups[g];
		bool known = group->pattern == 0 && !group->lossy && rankmap_constant(&group->dict[0].start, &value) && value_is_constant(value);
		uint64_t n = known ? type_size((const char *)t->strings.items[(uint64_t)value - (uint64_t)VALUE_CONSTANT].bytes) : 0;
		if (n == 0 || (g > 0 && n != size))
			type = -1;
		size = n;
	}
	if (type < 0 || count < 0 || size == 0) {
		s->unsized += visits;
		return 0;
	}
	for (uint32_t g = 0; g < site->columns[count].count; g++) {
		int rv = group_sum(t, site, &site->columns[count].groups[g], &sum);
		if (rv < 0)
			return -1;
		if (rv > 0) {
			s->unsized += visits;
			return 0;
		}
	}
	s->bytes += sum * size;
	return 0;
}

static bool sends(const struct schema *s)
{
	static const char *const names[] = {"MPI_Send",  "MPI_Bsend",    "MPI_Ssend",    "MPI_Rsend",          "MPI_Isend",
	                                    "MPI_Ibsend", "MPI_Issend",  "MPI_Irsend",   "MPI_Sendrecv",       "MPI_Sendrecv_replace",
	                                    "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Send_c", "MPI_Isend_c"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_named(s, names[i]))
			return true;
	return false;
}

bool summary_waits_for_all(const struct schema *s)
{
	static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter", "MPI_Comm_dup",
	                                    "MPI_Comm_split", "MPI_Comm_create", "MPI_Cart_create", "MPI_Win_fence", "MPI_Win_create",
	                                    "MPI_File_open", "MPI_File_close"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (begins(s, names[i]) && !begins(s, "MPI_Comm_create_errhandler") && !begins(s, "MPI_Comm_create_keyval"))
			return true;
	return false;
}

double summary_imbalance(const struct trace_site *s, uint64_t *ranks)
{
	*ranks = rankmap_size(&s->visits);
	return *ranks && s->communicate.sum ? (double)s->most * (double)*ranks / (double)s->communicate.sum : 0;
}

int summary_make(struct summary *s, const struct trace *t)
{
	*s = (struct summary){
	        .ranks = (uint32_t)rankmap_size(&t->events),
	        .events = (uint64_t)rankmap_sum(&t->events),
	        .lost = (uint64_t)rankmap_sum(&t->lost),
	        .load_balance = -1,
	        .communication_efficiency = -1,
	        .parallel_efficiency = -1,
	};
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *schema = trace_schema(t, site);
		if (!trace_initializes(schema))
			s->mpi_ns += site->communicate.sum;
		for (uint32_t k = 0; k < site->edge_count; k++)
			s->compute_ns += site->edges[k].compute.sum;
		if (sends(schema) && count_bytes(s, t, site) != 0)
			return -1;
	}
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED], *overhead = &t->total[TOTAL_OVERHEAD];
	s->overhead_ns = overhead->sum;
	s->overhead_max_ns = overhead->max;
	s->overhead_max_rank = overhead->max_rank;
	s->run_ns = elapsed->max;
	s->compute_min_ns = compute->min;
	s->compute_max_ns = compute->max;
	s->compute_min_rank = compute->min_rank;
	s->compute_max_rank = compute->max_rank;
	if (compute->count && compute->max && elapsed->max) {
		s->load_balance = (double)compute->sum / (double)compute->count / (double)compute->max;
		s->communication_efficiency = (double)compute->max / (double)elapsed->max;
		s->parallel_efficiency = s->load_balance * s->communication_efficiency;
	}
	return 0;
}
