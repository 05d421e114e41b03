/* SPDX-License-Identifier: BSD-3-Clause
 * unended_lines - of `spoor show`: what killed ranks were doing
 */
#include "cmd/show/unended_lines.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/base/site_names.h"
#include "trace/model/stream.h"
#include "trace/read/hang.h"

#define RANKS_TEXT 96

static void print_unended(const struct trace *t, const struct trace_unended *u, const struct site_names *names,
                          const char *label)
{
	const struct schema *s = trace_schema(t, &t->sites[u->site]);
	char ranks[RANKS_TEXT], at[512];
	uint64_t n = rankmap_size(&u->ranks);
	site_names_text(names, u->site, at, sizeof at);
	printf("%-12s %s%.*s: %" PRIu64 " %s%s (%s), %.3f s together, %.3f to %.3f s each, at %s\n", label,
	       u->call ? "" : "computation after ", (int)s->function_length, s->function, n,
	       stream_threads(t) > 1 ? "thread" : "rank", n == 1 ? "" : "s",
	       hang_ranks(ranks, sizeof ranks, t, &u->ranks), (double)u->sum * 1e-9, (double)u->min * 1e-9,
	       (double)u->max * 1e-9, *at ? at : "-");
}

void unended_print(const struct trace *t)
{
	struct site_names names;
	char verdict[HANG_VERDICT];
	const char *label = "Never ended";
	if (t->unended_count == 0)
		return;
	if (site_names_make(&names, t) == 0) {
		for (int computes = 0; computes < 2; computes++)
			for (uint32_t i = 0; i < t->unended_count; i++)
				if (t->unended[i].call == !computes) {
					print_unended(t, &t->unended[i], &names, label);
					label = "";
				}
		if (*hang_verdict(verdict, t))
			printf("%-12s %s\n", "Verdict", verdict);
		putchar('\n');
	}
	site_names_free(&names);
}

static json_t *unended_one(const struct trace *t, const struct trace_unended *u, const struct site_names *names)
{
	const struct schema *s = trace_schema(t, &t->sites[u->site]);
	char ranks[RANKS_TEXT], at[512];
	site_names_text(names, u->site, at, sizeof at);
	return json_pack("{s:I, s:s%, s:b, s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I}", "site", (json_int_t)u->site,
	                 "function", s->function, s->function_length, "call", (int)u->call, "at", at, "count",
	                 (json_int_t)rankmap_size(&u->ranks), "ranks", hang_ranks(ranks, sizeof ranks, t, &u->ranks),
	                 "sum_ns", (json_int_t)u->sum, "min_ns", (json_int_t)u->min, "min_rank",
	                 (json_int_t)u->min_rank, "max_ns", (json_int_t)u->max, "max_rank", (json_int_t)u->max_rank);
}

void unended_json(const struct trace *t, json_t *json)
{
	struct site_names names;
	char verdict[HANG_VERDICT];
	json_t *list = json_array();
	if (t->unended_count && site_names_make(&names, t) == 0) {
		for (uint32_t i = 0; i < t->unended_count; i++)
			json_array_append_new(list, unended_one(t, &t->unended[i], &names));
		site_names_free(&names);
	}
	json_object_set_new(json, "unended", list);
	if (*hang_verdict(verdict, t))
		json_object_set_new(json, "verdict", json_string(verdict));
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
