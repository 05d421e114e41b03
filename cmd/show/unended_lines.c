/* SPDX-License-Identifier: BSD-3-Clause
 * unended_lines - of `spoor show`: what killed ranks were doing
 */
#include "cmd/show/unended_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/base/passed_text.h"
#include "cmd/base/sink.h"
#include "cmd/base/site_names.h"
#include "trace/model/stream.h"
#include "insight/hang.h"
#include "insight/verdict.h"

#define RANKS_TEXT  96
#define PASSED_TEXT 256

/* What all ranks of an entry passed, behind a blank; "" if they did not all pass the same. Returns out. */
static const char *passed_by_all(struct passed_text *p, const struct trace_unended *u, char *out, size_t size)
{
	char each[PASSED_TEXT];
	int64_t unused;
	*out = '\0';
	for (uint64_t r = 0; p && rankmap_next(&u->ranks, &r, &unused); r++) {
		snprintf(each, sizeof each, " %s", passed_text_of(p, u, (uint32_t)r));
		if (*out && strcmp(each, out) != 0) {
			*out = '\0';
			break;
		}
		snprintf(out, size, "%s", each);
	}
	if (!strcmp(out, " "))
		*out = '\0';
	return out;
}

static void print_unended(const struct trace *t, const struct trace_unended *u, const struct site_names *names,
                          struct passed_text *passed, const char *label)
{
	char arguments[PASSED_TEXT];
	const struct schema *s = trace_schema(t, &t->sites[u->site]);
	char ranks[RANKS_TEXT], at[512];
	uint64_t n = rankmap_size(&u->ranks);
	site_names_text(names, u->site, at, sizeof at);
	say("%-12s %s%.*s%s: %" PRIu64 " %s%s (%s), %.3f s together, %.3f to %.3f s each, at %s\n", label,
	    u->call ? "" : "computation after ", (int)s->function_length, s->function,
	    passed_by_all(passed, u, arguments, sizeof arguments), n, stream_threads(t) > 1 ? "thread" : "rank",
	    n == 1 ? "" : "s", hang_ranks(ranks, sizeof ranks, t, &u->ranks), (double)u->sum * 1e-9,
	    (double)u->min * 1e-9, (double)u->max * 1e-9, *at ? at : "-");
}

void unended_print(const struct trace *t, uint64_t patience, const struct run_end *end)
{
	struct site_names names;
	char verdict[HANG_VERDICT];
	struct verdict unused;
	const char *label = "Never ended";
	if (t->unended_count == 0)
		return;
	struct passed_text *passed = passed_text_create(t);
	if (site_names_make(&names, t) == 0) {
		for (int computes = 0; computes < 2; computes++)
			for (uint32_t i = 0; i < t->unended_count; i++)
				if (t->unended[i].call == !computes) {
					print_unended(t, &t->unended[i], &names, passed, label);
					label = "";
				}
		if (*hang_verdict(verdict, t, &unused, patience, end))
			say("%-12s %s\n", "Verdict", verdict);
		say("\n");
	}
	passed_text_destroy(passed);
	site_names_free(&names);
}

static json_t *unended_one(const struct trace *t, const struct trace_unended *u, const struct site_names *names,
                           struct passed_text *passed)
{
	char arguments[PASSED_TEXT];
	const struct schema *s = trace_schema(t, &t->sites[u->site]);
	char ranks[RANKS_TEXT], at[512];
	site_names_text(names, u->site, at, sizeof at);
	passed_by_all(passed, u, arguments, sizeof arguments);
	return json_pack("{s:I, s:s%, s:b, s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "site", (json_int_t)u->site,
	                 "function", s->function, s->function_length, "call", (int)u->call, "at", at, "count",
	                 (json_int_t)rankmap_size(&u->ranks), "ranks", hang_ranks(ranks, sizeof ranks, t, &u->ranks),
	                 "sum_ns", (json_int_t)u->sum, "min_ns", (json_int_t)u->min, "min_rank",
	                 (json_int_t)u->min_rank, "max_ns", (json_int_t)u->max, "max_rank", (json_int_t)u->max_rank,
	                 "arguments", passed_text_json(arguments + (*arguments == ' ')));
}

/* The proof: who waits for whom. */
static json_t *hang_json(const struct trace *t, const struct verdict *v, const struct site_names *names)
{
	json_t *steps = json_array();
	for (uint32_t i = 0; i < v->step_count; i++) {
		const struct verdict_step *s = &v->steps[i];
		char rank[STREAM_NAME], other[STREAM_NAME], at[512];
		site_names_text(names, s->site, at, sizeof at);
		json_array_append_new(steps,
		                      json_pack("{s:s, s:s, s:s, s:s?, s:I}", "ranks", stream_name(t, s->stream, rank),
		                                "call", s->call, "at", at, "waits_for",
		                                s->waits_for == UINT32_MAX ? NULL : stream_name(t, s->waits_for, other),
		                                "any_of", (json_int_t)s->any));
	}
	json_t *json = json_pack("{s:s, s:I, s:I, s:o}", "verdict", verdict_name(v->kind), "stuck",
	                         (json_int_t)v->stuck, "length", (json_int_t)v->length, "steps", steps);
	if (v->kind == VERDICT_ENDED)
		json_object_set_new(json, "way", json_string(verdict_way_name(v->way)));
	return json;
}

void unended_json(const struct trace *t, uint64_t patience, const struct run_end *end, json_t *json)
{
	struct site_names names;
	char verdict[HANG_VERDICT];
	struct verdict found;
	json_t *list = json_array();
	struct passed_text *passed = passed_text_create(t);
	bool known = *hang_verdict(verdict, t, &found, patience, end);
	if (t->unended_count && site_names_make(&names, t) == 0) {
		for (uint32_t i = 0; i < t->unended_count; i++)
			json_array_append_new(list, unended_one(t, &t->unended[i], &names, passed));
		if (known)
			json_object_set_new(json, "hang", hang_json(t, &found, &names));
		site_names_free(&names);
	}
	passed_text_destroy(passed);
	json_object_set_new(json, "unended", list);
	if (known)
		json_object_set_new(json, "verdict", json_string(verdict));
}

void unended_site_print(const struct trace *t, uint32_t site)
{
	char ranks[RANKS_TEXT];
	for (uint32_t i = 0; i < t->unended_count; i++) {
		const struct trace_unended *u = &t->unended[i];
		const uint64_t n = rankmap_size(&u->ranks);
		if (u->site == site && u->call)
			say("    %" PRIu64 " %s%s did not come back from it: %s, %.3f s together\n", n,
			    stream_threads(t) > 1 ? "thread" : "rank", n == 1 ? "" : "s",
			    hang_ranks(ranks, sizeof ranks, t, &u->ranks), (double)u->sum * 1e-9);
	}
}

void unended_site_json(const struct trace *t, uint32_t site, json_t *json)
{
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].site == site && t->unended[i].call) {
			json_object_set_new(json, "unended_ns", json_integer((json_int_t)t->unended[i].sum));
			json_object_set_new(json, "unended_ranks",
			                    json_integer((json_int_t)rankmap_size(&t->unended[i].ranks)));
		}
}
