/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_view - what follows from the sums of an aggregate: columns, order, JSON
 */
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_group.h"
#include "trace/base/number.h"

bool aggregate_has(enum aggregate_by by, enum figure_column column)
{
	return by >= AGGREGATE_FUNCTION ? figure_columns[column].calls : figure_columns[column].runs;
}

double aggregate_value(const struct aggregate *a, const struct aggregate_group *g, enum figure_column column)
{
	return figure_value(column, g->sum, a->by >= AGGREGATE_FUNCTION && g != &a->total, a->total.sum[SUM_NODE_NS]);
}

/* --- order --- */

struct order {
	const struct aggregate *a;
	enum figure_column column;
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
	bool by_key = o->column == FIGURE_COLUMNS;
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

static void sort_groups(struct aggregate *a, enum figure_column column, bool reverse)
{
	struct order o = {a, column, reverse};

	if (a->count > 1)
		qsort_r(a->groups, a->count, sizeof(struct aggregate_group *), compare_groups, &o);
}

void aggregate_sort(struct aggregate *a, enum figure_column column, bool reverse)
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

static json_t *value_new(double value, enum figure_unit unit)
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

/* How many traces there are of each kind. */
static void set_counts(json_t *object, const struct aggregate_group *g)
{
	json_t *reasons = json_object(), *causes = json_object();
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		if (g->reasons[i])
			json_object_set_new(reasons, aggregate_reasons[i], json_integer((json_int_t)g->reasons[i]));
	for (int i = 0; i < OUTCOMES; i++)
		if (g->causes[i])
			json_object_set_new(causes, outcome_name((enum outcome)i),
			                    json_integer((json_int_t)g->causes[i]));
	json_object_set_new(object, "partial_reasons", reasons);
	json_object_set_new(object, "causes", causes);
}

json_t *aggregate_json(const struct aggregate *a, const struct aggregate_group *g)
{
	json_t *object = json_object();
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
	for (int i = 0; i < FIGURE_COLUMNS; i++)
		if (calls ? figure_columns[i].calls : figure_columns[i].runs)
			json_object_set_new(
				object, figure_columns[i].json,
				value_new(aggregate_value(a, g, (enum figure_column)i), figure_columns[i].unit));
	if (!calls)
		set_counts(object, g);
	if (g->sizes)
		json_object_set_new(object, "sizes", sizes_json(g->sizes));
	return object;
}
