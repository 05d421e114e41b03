/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_view - what follows from the sums of an aggregate: columns, order, JSON
 */
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_group.h"
#include "trace/base/number.h"

#define HOUR_NS 3.6e12

const struct aggregate_column_info aggregate_columns[AGGREGATE_COLUMNS] = {
	[COLUMN_TRACES] = {"traces", "traces", "TRACES", UNIT_COUNT, true, true},
	[COLUMN_JOBS] = {"jobs", "jobs", "JOBS", UNIT_COUNT, true, true},
	[COLUMN_HOURS] = {"hours", "node_hours", "HOURS", UNIT_HOURS, true, true},
	[COLUMN_MPI] = {"mpi", "mpi_share", "MPI", UNIT_SHARE, true, false},
	[COLUMN_MPI_HOURS] = {"mpi-hours", "mpi_node_hours", "MPI-H", UNIT_HOURS, true, false},
	[COLUMN_WAIT] = {"wait", "wait_node_hours", "WAIT-H", UNIT_HOURS, true, true},
	[COLUMN_UNENDED] = {"unended", "unended_node_hours", "HUNG-H", UNIT_HOURS, true, true},
	[COLUMN_IDLE] = {"idle", "idle_node_hours", "IDLE-H", UNIT_HOURS, true, false},
	[COLUMN_PARALLEL] = {"parallel", "parallel_efficiency", "PAR", UNIT_SHARE, true, false},
	[COLUMN_BALANCE] = {"balance", "load_balance", "BAL", UNIT_SHARE, true, false},
	[COLUMN_COMMUNICATION] = {"communication", "communication_efficiency", "COM", UNIT_SHARE, true, false},
	[COLUMN_MESSAGES] = {"messages", "messages", "MESSAGES", UNIT_COUNT, true, false},
	[COLUMN_BYTES] = {"bytes", "bytes", "SENT", UNIT_BYTES, true, false},
	[COLUMN_SIZE] = {"size", "message_size", "MEAN", UNIT_MEAN, true, false},
	[COLUMN_SMALL] = {"small", "small_messages", "SMALL", UNIT_COUNT, true, false},
	[COLUMN_SMALL_SHARE] = {"small-share", "small_share", "<1K", UNIT_SHARE, true, false},
	[COLUMN_ONE_SIDED] = {"one-sided", "one_sided_bytes", "ONE-SIDED", UNIT_BYTES, true, false},
	[COLUMN_READ] = {"read", "read_bytes", "READ", UNIT_BYTES, true, false},
	[COLUMN_WRITTEN] = {"written", "written_bytes", "WRITTEN", UNIT_BYTES, true, false},
	[COLUMN_OVERHEAD] = {"overhead", "overhead_node_hours", "TRACER-H", UNIT_HOURS, true, false},
	[COLUMN_OVERHEAD_SHARE] = {"overhead-share", "overhead_share", "TRACER", UNIT_SHARE, true, false},
	[COLUMN_PARTIAL] = {"partial", "partial", "PARTIAL", UNIT_COUNT, true, false},
	[COLUMN_DEGRADED] = {"degraded", "degraded", "DEGRADED", UNIT_COUNT, true, false},
	[COLUMN_COUNTED] = {"counted", "counted_share", "COUNTED", UNIT_SHARE, true, false},
	[COLUMN_UNPLACED] = {"unplaced", "unplaced_share", "UNPLACED", UNIT_SHARE, true, false},
	[COLUMN_EVENTS] = {"events", "events", "EVENTS", UNIT_COUNT, true, false},
	[COLUMN_CALLS] = {"calls", "calls", "CALLS", UNIT_COUNT, false, true},
	[COLUMN_TIME] = {"time", "time_s", "TIME", UNIT_SECONDS, false, true},
	[COLUMN_SHARE] = {"share", "share", "SHARE", UNIT_SHARE, false, true},
	[COLUMN_IMBALANCE] = {"imbalance", "imbalance", "IMBAL", UNIT_RATIO, false, true},
	[COLUMN_CALL_BYTES] = {"passed", "passed_bytes", "PASSED", UNIT_BYTES, false, true},
};

enum aggregate_column aggregate_column(const char *name)
{
	int column = 0;
	while (column < AGGREGATE_COLUMNS && strcmp(aggregate_columns[column].name, name))
		column++;
	return (enum aggregate_column)column;
}

bool aggregate_has(enum aggregate_by by, enum aggregate_column column)
{
	return by >= AGGREGATE_FUNCTION ? aggregate_columns[column].calls : aggregate_columns[column].runs;
}

static double ratio(uint128 part, uint128 whole)
{
	return whole ? (double)part / (double)whole : -1;
}

/* What traces lack, and bytes that are in no message. */
static double further_value(const uint128 *sum, enum aggregate_column column)
{
	switch (column) {
	case COLUMN_ONE_SIDED:
		return (double)sum[SUM_ONE_SIDED_BYTES];
	case COLUMN_READ:
		return (double)sum[SUM_READ_BYTES];
	case COLUMN_WRITTEN:
		return (double)sum[SUM_WRITTEN_BYTES];
	case COLUMN_DEGRADED:
		return (double)sum[SUM_DEGRADED];
	case COLUMN_COUNTED:
		return ratio(sum[SUM_LOST], sum[SUM_LOST] + sum[SUM_EVENTS]);
	case COLUMN_UNPLACED:
		return ratio(sum[SUM_UNPLACED_NS], sum[SUM_COMPUTE_NS]);
	default:
		return -1;
	}
}

/* Of calls of a function, or of a site. */
static double call_value(const struct aggregate *a, const uint128 *sum, enum aggregate_column column)
{
	switch (column) {
	case COLUMN_CALLS:
		return (double)sum[SUM_CALLS];
	case COLUMN_TIME:
		return (double)sum[SUM_CALL_NS] * 1e-9;
	case COLUMN_SHARE:
		return ratio(sum[SUM_NODE_CALL_NS], a->total.sum[SUM_NODE_NS]);
	case COLUMN_IMBALANCE:
		return ratio(sum[SUM_CALL_PEAK_NS], sum[SUM_CALL_NS]);
	case COLUMN_CALL_BYTES:
		return (double)sum[SUM_CALL_BYTES];
	default:
		return -1;
	}
}

double aggregate_value(const struct aggregate *a, const struct aggregate_group *g, enum aggregate_column column)
{
	const uint128 *sum = g->sum;
	bool calls = a->by >= AGGREGATE_FUNCTION && g != &a->total;

	if (!(calls ? aggregate_columns[column].calls : aggregate_columns[column].runs))
		return -1;
	switch (column) {
	case COLUMN_TRACES:
		return (double)sum[SUM_TRACES];
	case COLUMN_JOBS:
		return (double)sum[SUM_JOBS];
	case COLUMN_HOURS:
		return (double)sum[calls ? SUM_NODE_CALL_NS : SUM_NODE_NS] / HOUR_NS;
	case COLUMN_MPI:
		return ratio(sum[SUM_NODE_MPI_NS], sum[SUM_NODE_NS]);
	case COLUMN_MPI_HOURS:
		return (double)sum[SUM_NODE_MPI_NS] / HOUR_NS;
	case COLUMN_WAIT:
		return (double)sum[SUM_NODE_WAIT_NS] / HOUR_NS;
	case COLUMN_UNENDED:
		return (double)sum[SUM_NODE_UNENDED_NS] / HOUR_NS;
	case COLUMN_IDLE:
		return (double)sum[SUM_NODE_IDLE_NS] / HOUR_NS;
	case COLUMN_PARALLEL:
		return ratio(sum[SUM_COMPUTED_NS], sum[SUM_RUN_PEAK_NS]);
	case COLUMN_BALANCE:
		return ratio(sum[SUM_COMPUTED_NS], sum[SUM_COMPUTE_PEAK_NS]);
	case COLUMN_COMMUNICATION:
		return ratio(sum[SUM_COMPUTE_PEAK_NS], sum[SUM_RUN_PEAK_NS]);
	case COLUMN_MESSAGES:
		return (double)sum[SUM_MESSAGES];
	case COLUMN_BYTES:
		return (double)sum[SUM_BYTES];
	case COLUMN_SIZE:
		return ratio(sum[SUM_BYTES], sum[SUM_MESSAGES] - sum[SUM_UNSIZED]);
	case COLUMN_SMALL:
		return (double)sum[SUM_SMALL];
	case COLUMN_SMALL_SHARE:
		return ratio(sum[SUM_SMALL], sum[SUM_MESSAGES] - sum[SUM_UNSIZED]);
	case COLUMN_OVERHEAD:
		return (double)sum[SUM_NODE_OVERHEAD_NS] / HOUR_NS;
	case COLUMN_OVERHEAD_SHARE:
		return ratio(sum[SUM_NODE_OVERHEAD_NS], sum[SUM_NODE_NS]);
	case COLUMN_PARTIAL:
		return (double)sum[SUM_PARTIAL];
	case COLUMN_EVENTS:
		return (double)sum[SUM_EVENTS];
	default:
		return calls ? call_value(a, sum, column) : further_value(sum, column);
	}
}

/* --- order --- */

struct order {
	const struct aggregate *a;
	enum aggregate_column column;
	bool reverse;
};

static uint64_t job_of(const struct aggregate_group *g)
{
	const char *key = g->key;
	uint64_t job = 0;
	number_read(&key, INT64_MAX, &job);
	return job;
}

static int compare_groups(const void *x, const void *y, void *context)
{
	const struct order *o = context;
	const struct aggregate_group *p = *(struct aggregate_group *const *)x, *q = *(struct aggregate_group *const *)y;
	bool by_key = o->column == AGGREGATE_COLUMNS;
	double v = by_key ? 0 : aggregate_value(o->a, p, o->column),
	       w = by_key ? 0 : aggregate_value(o->a, q, o->column);

	if ((v < 0) != (w < 0))
		return v < 0 ? 1 : -1;
	if (v != w && v >= 0)
		return (v < w) != o->reverse ? 1 : -1;
	int key =
		o->a->by == AGGREGATE_JOB ? (job_of(p) > job_of(q)) - (job_of(p) < job_of(q)) : strcmp(p->key, q->key);
	return by_key && o->reverse ? -key : key;
}

/* The numbers by which groups are found are no longer theirs. */
static void number_groups(struct aggregate *a)
{
	index_free(&a->index);
	a->index = (struct index){NULL, 0, 0};
	for (size_t i = 0; i < a->count; i++)
		index_add(&a->index, hash_bytes(a->groups[i]->key, strlen(a->groups[i]->key)), (uint32_t)i);
}

static void sort_groups(struct aggregate *a, enum aggregate_column column, bool reverse)
{
	struct order o = {a, column, reverse};

	if (a->count > 1)
		qsort_r(a->groups, a->count, sizeof(struct aggregate_group *), compare_groups, &o);
}

void aggregate_sort(struct aggregate *a, enum aggregate_column column, bool reverse)
{
	sort_groups(a, column, reverse);
	number_groups(a);
}

void aggregate_drop(struct aggregate *a)
{
	sort_groups(a, a->top.column, a->top.reverse);
	for (; a->count > a->top.count; a->dropped++)
		aggregate_free_group(a->groups[--a->count]);
	number_groups(a);
}

/* --- JSON --- */

static void set_text(json_t *object, const char *key, const char *text)
{
	json_t *value = json_string(text);
	json_object_set_new(object, key,
	                    value ? value : json_string("?")); /* a name that was cut inside of a character */
}

static json_t *value_new(double value, enum aggregate_unit unit)
{
	if (value < 0)
		return json_null();
	return (unit == UNIT_COUNT || unit == UNIT_BYTES) && value < 9e15 ? json_integer((json_int_t)value)
	                                                                  : json_real(value);
}

static json_t *sizes_json(const uint64_t *sizes)
{
	json_t *list = json_array();

	for (int i = 0; i < ACTIVITY_SIZES; i++)
		if (sizes[i])
			json_array_append_new(
				list, json_pack("{s:I, s:I, s:I}", "from", i ? (json_int_t)1 << (i - 1) : 0, "to",
			                        i ? ((json_int_t)1 << i) - 1 : 0, "messages", (json_int_t)sizes[i]));
	return list;
}

json_t *aggregate_json(const struct aggregate *a, const struct aggregate_group *g)
{
	json_t *object = json_object(), *reasons = NULL;
	bool calls = a->by >= AGGREGATE_FUNCTION && g != &a->total;

	if (!object)
		return NULL;
	if (g->function) {
		set_text(object, "function", g->function);
		set_text(object, "frames", g->frames);
		set_text(object, "site", g->key);
	} else if (g != &a->total) {
		set_text(object, aggregate_names[a->by], g->key);
	}
	if (g->example.name) {
		set_text(object, "executable", g->example.exe);
		set_text(object, "user", g->example.user);
		set_text(object, "trace", g->example.name);
	}
	for (int i = 0; i < AGGREGATE_COLUMNS; i++)
		if (calls ? aggregate_columns[i].calls : aggregate_columns[i].runs)
			json_object_set_new(
				object, aggregate_columns[i].json,
				value_new(aggregate_value(a, g, (enum aggregate_column)i), aggregate_columns[i].unit));
	if (!calls) {
		json_object_set_new(object, "unsized", value_new((double)g->sum[SUM_UNSIZED], UNIT_COUNT));
		json_object_set_new(object, "events_lost", value_new((double)g->sum[SUM_LOST], UNIT_COUNT));
		reasons = json_object();
		for (int i = 0; i < AGGREGATE_REASONS; i++)
			if (g->reasons[i])
				json_object_set_new(reasons, aggregate_reasons[i],
				                    json_integer((json_int_t)g->reasons[i]));
		json_object_set_new(object, "partial_reasons", reasons);
	}
	if (g->sizes)
		json_object_set_new(object, "sizes", sizes_json(g->sizes));
	return object;
}
