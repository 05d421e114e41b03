/* SPDX-License-Identifier: BSD-3-Clause
 * check - one thing of a good trace is changed at a time: each is noticed
 */
#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/model/value.h"

static struct trace t;

/* Sets a number of the trace to something that is wrong, and back. */
#define WRONG(what, lvalue, value, words)                                                                   \
	do {                                                                                                \
		__typeof__(lvalue) saved_ = (lvalue);                                                       \
		struct error error_ = {""};                                                                 \
		(lvalue) = (value);                                                                         \
		ok(trace_check(&t, &error_) == -1 && strstr(error_.text, words), what ": %s", error_.text); \
		(lvalue) = saved_;                                                                          \
	} while (0)

static struct trace_group *group_with_pattern(struct trace_site *s)
{
	for (uint32_t i = 0; i < s->column_count; i++)
		if (s->columns[i].groups[0].pattern)
			return &s->columns[i].groups[0];
	abort();
}

static int check(void *context)
{
	(void)context;
	return trace_check(&t, NULL);
}

static void test_lossy(void)
{
	struct trace_column *columns = NULL;
	struct trace_lossy *l = NULL;
	for (uint32_t i = 0; i < t.site_count; i++)
		for (uint32_t k = 0; k < t.sites[i].column_count; k++)
			if (t.sites[i].columns[k].groups[0].lossy &&
			    t.sites[i].columns[k].groups[0].lossy->values.count > 1) {
				columns = t.sites[i].columns;
				l = columns[k].groups[0].lossy;
			}
	if (!ok(l != NULL, "a column without order"))
		return;
	WRONG("a reason that there is not", l->why, 8, "damaged");
	struct trace_group first = columns[0].groups[0];
	first.pattern = 0;
	WRONG("first values without a pattern", l->prefix, ((struct trace_column){&first, 1}), "damaged");
	WRONG("a bin of nothing", l->values.bins[0].count, 0, "damaged");
	WRONG("bins in disorder", l->values.bins[1].min, INT64_MIN + (INT64_C(1) << 33), "damaged");
	WRONG("a bin that ends before it begins", l->values.bins[1].max, l->values.bins[1].min - 1, "damaged");
	WRONG("elements in a column of numbers", l->elements, l->values, "damaged");
	WRONG("a next site in another column", l->next_count, 1, "damaged");
}

int main(void)
{
	sample_merged(&t, 4, 0);
	ok(trace_check(&t, NULL) == 0, "a good trace");
	struct trace_site *s = &t.sites[0];
	struct trace_group *g = group_with_pattern(s), *constant = &s->columns[1].groups[0];
	struct trace_stretch *d = &constant->dict[0];
	WRONG("a function that is not there", s->function, t.function_count, "site 0");
	WRONG("a call path that is not there", s->node, t.node_count, "site 0");
	WRONG("no visits", s->visits.root, DIAGRAM_ABSENT, "site 0");
	WRONG("a pattern that is not there", g->pattern, t.patterns.count + 1, "damaged");
	WRONG("a pattern with another number of values", g->pattern, 0, "damaged");
	WRONG("a group of nothing", constant->count, 0, "damaged");
	WRONG("a stretch of nothing", d->count, 0, "damaged");
	WRONG("a value more", d->count, 2, "damaged");
	WRONG("a stretch that is an array, and is none", d->vector, true, "damaged");
	WRONG("an edge to nowhere", s->edges[0].to, t.site_count, "edge to site");
	WRONG("a module without a name", t.modules[0].name, t.strings.count, "module 0");
	WRONG("a module without a build id", t.modules[0].build_id, t.strings.count, "module 0");
	WRONG("a frame that is inside of itself", t.nodes[1].parent, 1, "node 1");
	WRONG("a frame of no module", t.nodes[1].module, t.module_count, "node 1");
	WRONG("no ranks", t.size, 0, "damaged");
	WRONG("a damaged pattern", t.patterns.items[0].size, t.patterns.items[0].size - 1, "pattern 0");
	struct rankmap no_string = {.node_count = 0};
	rankmap_single(&no_string, 0, t.strings.count, true);
	WRONG("a host that is no string", t.host, no_string, "list of ranks");
	WRONG("an event that is no site", t.first, no_string, "list of ranks");
	rankmap_free(&no_string);
	trace_free(&t);

	/* a constant that is no string, where a constant may be: a leaf of a map, an element of a vector */
	sample_merged(&t, 1, 0);
	int64_t value = VALUE_CONSTANT + t.strings.count;
	rankmap_free(&t.sites[0].columns[1].groups[0].dict[0].start);
	rankmap_single(&t.sites[0].columns[1].groups[0].dict[0].start, 0, value, false);
	ok(trace_check(&t, NULL) == -1, "a constant that is no string");
	trace_free(&t);
	sample_merged(&t, 2, 0);
	value = VALUE_CONSTANT + t.strings.count;
	pool_intern(&t.vector_pool, &value, sizeof value);
	ok(trace_check(&t, NULL) == -1, "the same in a vector");
	trace_free(&t);

	sample_merged(&t, 4, SAMPLE_LOSSY);
	ok(trace_check(&t, NULL) == 0, "a good trace with columns without order");
	test_lossy();
	ok(fails_well(check, NULL), "no memory");
	trace_free(&t);
	return tap_end();
}
