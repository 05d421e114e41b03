/* SPDX-License-Identifier: BSD-3-Clause
 * figure - the numbers that spoor shows of runs
 */
#include "insight/figure.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/index.h"
#include "trace/model/unended.h"
#include "trace/read/wait_site.h"

#define SMALL   11 /* size classes of less than 1 KiB */
#define HOUR_NS 3.6e12
/* To be raised where the same line gives another number: a function that it calls has changed. */
#define MADE "8"

const struct figure_name figure_names[FIGURES] = {
#define FIGURE(ID, key, unit, adds, value, meaning) {#key, unit, meaning},
#include "insight/figures.def"
};

static const char lines[] = MADE
#define FIGURE(ID, key, unit, adds, value, ...) #key #adds #value ";"
#define CALL_FIGURE(ID, key, adds, value, ...)  #key #adds #value ";"
#define SUM(ID, value, ...)                     #ID #value ";"
#include "insight/figures.def"
	;

uint32_t figure_version(void)
{
	return (uint32_t)(hash_bytes(lines, sizeof lines) >> 34 | 1 << 29);
}

/* --- of a trace --- */

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void add_clamped(uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

void figure_calls_add(union figure_calls *sum, const union figure_calls *c)
{
	for (int i = 0; i < CALL_FIGURES; i++)
		add_clamped(&sum->number[i], c->number[i]);
}

static union figure_calls calls_at(const struct trace *t, const struct trace_site *site,
                                   const struct activity *activity)
{
	return (union figure_calls){{
#define CALL_FIGURE(ID, key, adds, value, ...) .key = (value),
#include "insight/figures.def"
	}};
}

union figure_calls *figure_calls_make(const struct trace *t, const struct site_activity *activity)
{
	union figure_calls *calls = calloc((size_t)t->site_count + 1, sizeof *calls);
	if (!calls)
		return NULL;
	for (uint32_t i = 0; i < t->site_count; i++)
		calls[i] = calls_at(t, &t->sites[i], &activity->sites[i]);
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].call) {
			union figure_calls *c = &calls[t->unended[i].site];
			add_clamped(&c->unended_ns, t->unended[i].sum);
			add_clamped(&c->wait_ns, t->unended[i].sum);
		}
	return calls;
}

static uint64_t wait_of_sites(const struct trace *t, const struct summary *s, const union figure_calls *calls)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		add_clamped(&sum, calls[i].wait_ns);
	return sum < s->mpi_ns ? sum : s->mpi_ns;
}

/* Older traces have no totals of ranks; nor has one without computation any that ratios could be of. */
static uint64_t known_total(const struct summary *s, uint64_t ns)
{
	return s->parallel_efficiency >= 0 ? ns : 0;
}

static uint64_t peak(const struct trace_total *total, const struct trace *t)
{
	return times(total->max, t->total[TOTAL_COMPUTE].count);
}

/* Bits: 0..2 enum trace_why of any column, 4..6 enum trace_stage. */
static uint64_t degradations(const struct trace *t)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < t->site_count + t->object_count; i++) {
		const struct trace_site *s = i < t->site_count ? &t->sites[i] : &t->objects[i - t->site_count];
		for (uint32_t c = 0; c < s->column_count; c++)
			for (uint32_t g = 0; g < s->columns[c].count; g++)
				bits |= s->columns[c].groups[g].lossy ? s->columns[c].groups[g].lossy->why & WHY_ALL
				                                      : 0;
	}
	for (int i = 0; i < TRACE_STAGES; i++)
		bits |= t->loss.stage[i].ranks ? UINT64_C(16) << i : 0;
	return bits;
}

void figure_make(union figures *f, const struct trace *t, const struct summary *s, const union figure_calls *calls)
{
#define FIGURE(ID, key, unit, adds, value, ...) f->key = (value);
#include "insight/figures.def"
}

/* --- sums --- */

static uint128 nodes_of(uint64_t ns, uint64_t nodes, uint64_t streams)
{
	return streams ? (uint128)ns * (nodes ? nodes : 1) / streams : 0;
}

static uint128 in_nodes(uint64_t ns, const union figures *f, const struct figure_run *run)
{
	return nodes_of(ns, run->nodes, f->streams);
}

static uint64_t all_time(const union figures *f, const struct figure_run *run)
{
	return summary_all(f->parts_ns, f->streams, run->wall_ns);
}

static uint64_t idle_time(const union figures *f)
{
	return f->compute_peak_ns > f->computed_ns ? f->compute_peak_ns - f->computed_ns : 0;
}

static uint128 small_messages(const struct figure_run *run)
{
	uint128 sum = 0;
	for (int i = 0; i < SMALL; i++)
		sum += run->sizes[i];
	return sum;
}

void figure_sums(const union figures *f, const struct figure_run *run, uint128 sum[FIGURE_SUMS])
{
#define ADD_NOT(ID, key)
#define ADD_SUM(ID, key)                 sum[SUM_##ID] = f->key;
#define ADD_NODES(ID, key)               sum[SUM_##ID] = f->key, sum[SUM_NODE_##ID] = in_nodes(f->key, f, run);
#define FIGURE(ID, key, unit, adds, ...) ADD_##adds(ID, key)
#define SUM(ID, value, ...)              sum[SUM_##ID] = (uint128)(value);
#include "insight/figures.def"
}

void figure_sums_add_calls(const union figure_calls *c, uint64_t nodes, uint64_t streams, uint128 sum[FIGURE_SUMS])
{
#define ADD_CALLS_SUM(ID, key)          sum[SUM_##ID] += c->key;
#define ADD_CALLS_NODES(ID, key)        sum[SUM_##ID] += c->key, sum[SUM_NODE_##ID] += nodes_of(c->key, nodes, streams);
#define CALL_FIGURE(ID, key, adds, ...) ADD_CALLS_##adds(ID, key)
#include "insight/figures.def"
}

/* --- columns --- */

enum { GROUPS = 1, CALLS = 2, IN_RUNS_TABLE = 4, IN_CALLS_TABLE = 8, OF_RUN = 16, RUNS = GROUPS | OF_RUN };

const struct figure_column_info figure_columns[FIGURE_COLUMNS] = {
#define CONDITION_NEVER        NULL
#define CONDITION_IF(ID, name) #name
#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, metric, meaning) \
	{key,                                                                                 \
	 json,                                                                                \
	 heading,                                                                             \
	 words,                                                                               \
	 unit,                                                                                \
	 ((where)&GROUPS) != 0,                                                               \
	 ((where)&CALLS) != 0,                                                                \
	 ((where)&OF_RUN) != 0,                                                               \
	 ((where)&IN_RUNS_TABLE) != 0,                                                        \
	 ((where)&IN_CALLS_TABLE) != 0,                                                       \
	 CONDITION_##condition,                                                               \
	 metric,                                                                              \
	 meaning},
#include "insight/figures.def"
};

enum figure_column figure_column(const char *name)
{
	int column = 0;
	while (column < FIGURE_COLUMNS && strcmp(figure_columns[column].name, name))
		column++;
	return (enum figure_column)column;
}

static double ratio(uint128 part, uint128 whole)
{
	return whole ? (double)part / (double)whole : -1;
}

double figure_value(enum figure_column column, const uint128 sum[FIGURE_SUMS], bool calls, uint128 all_ns)
{
	if (!(calls ? figure_columns[column].calls : figure_columns[column].runs))
		return -1;
#define count(ID)          (double)sum[ID]
#define hours(ID)          ((double)sum[ID] / HOUR_NS)
#define share(PART, WHOLE) ratio(sum[PART], sum[WHOLE])
	switch (column) {
#define COLUMN(ID, key, json, heading, words, unit, where, value, ...) \
	case COLUMN_##ID:                                              \
		return (value);
#include "insight/figures.def"
	default:
		return -1;
	}
}

void figure_values(const union figures *f, const struct figure_run *run, double value[FIGURE_COLUMNS])
{
	uint128 sum[FIGURE_SUMS];
	figure_sums(f, run, sum);
	sum[SUM_JOBS] = 1;
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		value[i] = figure_value((enum figure_column)i, sum, false, sum[SUM_NODE_NS]);
}
