/* SPDX-License-Identifier: BSD-3-Clause
 * counter_lines - of `spoor show`: what was counted, and whether there are all times
 */
#include "cmd/show/counter_lines.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "trace/model/flow_code.h"
#include "trace/model/stream.h"
#include "trace/model/timing.h"

static const char *counter_text(const struct trace *t, uint32_t string)
{
	return (const char *)t->strings.items[string].bytes;
}

void counters_print(FILE *out, const struct trace *t)
{
	for (uint32_t i = 0; i < t->counter_count; i++) {
		const struct trace_counter *c = &t->counters[i];
		say_to(out, "%-12s ", i == 0 ? "Counters" : "");
		say_to(out, "%s", counter_text(t, c->name));
		if (c->missing) {
			say_to(out, ": not, or not all the time, in %" PRIu64 " of %" PRIu64 " ranks: ", c->missing,
			       c->ranks + c->missing);
			say_to(out, "%s", counter_text(t, c->reason));
		}
		say_to(out, "\n");
	}
	uint64_t events = 0;
	unsigned digits = FLOW_EXACT;
	for (uint32_t i = 0; i < t->timing_count; i++) {
		events += t->timing[i].events;
		digits = t->timing[i].digits < digits ? t->timing[i].digits : digits;
	}
	if (t->timing_count == 0)
		return;
	say_to(out, "%-12s of %" PRIu64 " events one by one", "Times", events);
	if (digits != FLOW_EXACT)
		say_to(out, ", at most %.2g %% off", 100 * flow_error(digits));
	for (uint32_t i = 0, cut = 0; i < t->timing_count; i++) {
		char name[STREAM_NAME];
		if (!t->timing[i].cut)
			continue;
		if (++cut <= 4)
			say_to(out, "%s rank %s up to event %" PRIu64, cut == 1 ? "; memory was used up:" : ",",
			       stream_name(t, t->timing[i].rank, name), t->timing[i].events);
		else if (cut == 5)
			say_to(out, ", ...");
	}
	say_to(out, "\n");
}

void counters_json(const struct trace *t, json_t *json)
{
	json_t *counters = json_array(), *ranks = json_array();
	for (uint32_t i = 0; i < t->counter_count; i++) {
		const struct trace_counter *c = &t->counters[i];
		json_t *one = json_pack("{s:s, s:I, s:I}", "name", counter_text(t, c->name), "ranks",
		                        (json_int_t)c->ranks, "ranks_missing", (json_int_t)c->missing);
		if (one && c->reason)
			json_object_set_new(one, "reason", json_string(counter_text(t, c->reason)));
		if (one)
			json_array_append_new(counters, one);
	}
	for (uint32_t i = 0; i < t->timing_count; i++) {
		const struct trace_timing *r = &t->timing[i];
		json_array_append_new(ranks,
		                      json_pack("{s:I, s:I, s:b, s:f, s:I}", "rank", (json_int_t)r->rank, "events",
		                                (json_int_t)r->events, "memory_used_up", r->cut, "error",
		                                flow_error(r->digits), "start_ns", (json_int_t)r->start));
	}
	if (t->counter_count)
		json_object_set(json, "counters", counters);
	if (t->timing_count)
		json_object_set(json, "times", ranks);
	json_decref(counters);
	json_decref(ranks);
}

/* Of two counters, by name: so many of the one for one of the other; 0: they are not both there. */
static double counter_ratio(const struct trace *t, const struct histogram *counts, const char *over, const char *under)
{
	uint64_t a = 0, b = 0;
	for (uint32_t i = 0; i < t->counter_count; i++) {
		if (!strcmp(counter_text(t, t->counters[i].name), over))
			a = counts[i].sum;
		if (!strcmp(counter_text(t, t->counters[i].name), under))
			b = counts[i].sum;
	}
	return a && b ? (double)a / (double)b : 0;
}

static double instructions_per_cycle(const struct trace *t, const struct histogram *counts)
{
	double ipc = counter_ratio(t, counts, "PAPI_TOT_INS", "PAPI_TOT_CYC");
	return ipc > 0 ? ipc : counter_ratio(t, counts, "perf::INSTRUCTIONS", "perf::CYCLES");
}

void counters_line(FILE *out, const struct trace *t, const char *indent, const struct histogram *counts)
{
	const char *before = indent;
	for (uint32_t i = 0; counts && i < t->counter_count; i++) {
		const struct histogram *c = &counts[i];
		if (c->count == 0)
			continue;
		say_to(out, "%s", before);
		say_to(out, "%s", counter_text(t, t->counters[i].name));
		say_to(out, " %" PRIu64 " (mean %.6g, %" PRIu64 " to %" PRIu64 ")", c->sum, histogram_mean(c), c->min,
		       c->max);
		before = ", ";
	}
	if (before == indent)
		return;
	double ipc = instructions_per_cycle(t, counts);
	if (ipc > 0)
		say_to(out, ", %.2f instructions a cycle", ipc);
	say_to(out, "\n");
}

json_t *counters_object(const struct trace *t, const struct histogram *counts)
{
	json_t *all = counts ? json_object() : NULL;
	for (uint32_t i = 0; all && i < t->counter_count; i++) {
		const struct histogram *c = &counts[i];
		json_t *bins = json_array();
		if (c->count == 0) {
			json_decref(bins);
			continue;
		}
		for (uint32_t k = 0; k < c->bin_count; k++)
			json_array_append_new(
				bins, json_pack("{s:I, s:I, s:I, s:f}", "count", (json_int_t)c->bins[k].count, "min",
			                        (json_int_t)c->bins[k].min, "max", (json_int_t)c->bins[k].max, "mean",
			                        histogram_bin_mean(&c->bins[k])));
		json_object_set_new(all, counter_text(t, t->counters[i].name),
		                    json_pack("{s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:o}", "count",
		                              (json_int_t)c->count, "sum", (json_int_t)c->sum, "mean",
		                              histogram_mean(c), "deviation", histogram_deviation(c), "min",
		                              (json_int_t)c->min, "min_rank", (json_int_t)c->min_rank, "max",
		                              (json_int_t)c->max, "max_rank", (json_int_t)c->max_rank, "bins", bins));
	}
	double ipc = all ? instructions_per_cycle(t, counts) : 0;
	if (ipc > 0)
		json_object_set_new(all, "instructions_per_cycle", json_real(ipc));
	return all;
}

void counters_numbers_line(FILE *out, const struct trace *t, const char *indent, const double numbers[TRACE_COUNTERS])
{
	for (uint32_t i = 0; i < t->counter_count; i++) {
		say_to(out, "%s", i ? ", " : indent);
		say_to(out, "%s", counter_text(t, t->counters[i].name));
		say_to(out, " %.6g", numbers[i]);
	}
	if (t->counter_count)
		say_to(out, "\n");
}

json_t *counters_numbers_object(const struct trace *t, const double numbers[TRACE_COUNTERS])
{
	json_t *all = json_object();
	for (uint32_t i = 0; i < t->counter_count; i++)
		json_object_set_new(all, counter_text(t, t->counters[i].name), json_real(numbers[i]));
	return all;
}
