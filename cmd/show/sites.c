/* SPDX-License-Identifier: BSD-3-Clause
 * sites - of `spoor show --sites`: every call site with its call path
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/site_names.h"
#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "cmd/show/columns.h"
#include "cmd/show/load_balance.h"
#include "cmd/show/unended_lines.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"
#include "trace/read/activity.h"

struct placed {
	uint32_t site;
	uint64_t ns; /* of all ranks, with calls that never ended */
};

static int by_site_time(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : (x->site > y->site) - (x->site < y->site);
}

static void place(struct placed *order, const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		order[i] = (struct placed){i, t->sites[i].communicate.sum};
	for (uint32_t i = 0; i < t->unended_count; i++)
		if (t->unended[i].call)
			order[t->unended[i].site].ns += t->unended[i].sum;
	qsort(order, t->site_count, sizeof *order, by_site_time);
}

static json_t *site_json(const struct trace *t, uint32_t site, const struct site_names *names,
                         const struct activity *sum, json_t *frames)
{
	char name[1024];
	json_t *one = balance_json(t, site, frames);
	site_names_text(names, site, name, sizeof name);
	unended_site_json(t, site, one);
	json_object_set_new(one, "name", json_string(name));
	json_object_set_new(one, "columns", columns_json(t, &t->sites[site]));
	json_object_set_new(one, "bytes", json_integer((json_int_t)sum->bytes));
	json_object_set_new(one, "unsized", json_integer((json_int_t)sum->unsized));
	return one;
}

int show_sites(const struct show *s, json_t *json)
{
	int rv = -1;
	const struct trace *t = s->trace;
	json_t *list = json ? json_array() : NULL;
	struct site_names names;
	struct placed *order = malloc(((size_t)t->site_count + 1) * sizeof *order);
	struct site_activity activity;
	bool named = site_names_make(&names, t) == 0;
	if (site_activity_make(&activity, t) != 0 || !named || !order || (json && !list)) {
		say_to(stderr, "spoor: no memory\n");
		goto done;
	}
	place(order, t);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const uint32_t number = order[i].site;
		const struct trace_site *site = &t->sites[number];
		const struct schema *schema = trace_schema(t, site);
		json_t *frames = json ? json_array() : NULL;
		char of[STREAM_NAME];
		if (!json) {
			say("site %u  ", number);
			print_function(stdout, schema);
			say("  %" PRId64 " calls, %" PRIu64 " ranks, %.6f s, max %.3f us on rank %s\n",
			    rankmap_sum(&site->visits), stream_ranks_any(t, &site->visits),
			    (double)site->communicate.sum * 1e-9, (double)site->communicate.max * 1e-3,
			    stream_name(t, site->communicate.max_rank, of));
			unended_site_print(t, number);
			if (activity.sites[number].bytes)
				say("    %" PRIu64 " bytes passed on%s\n", activity.sites[number].bytes,
				    activity.sites[number].unsized ? " at least" : "");
			columns_print_short(t, site);
			balance_site(stdout, t, site);
		}
		for (uint32_t node = site->node; node != 0; node = t->nodes[node].parent) {
			char text[1024];
			frames_text(names.frames, node, text, sizeof text);
			if (json)
				json_array_append_new(frames, json_string(text));
			else
				say("    %s\n", text);
		}
		if (json)
			json_array_append_new(list, site_json(t, number, &names, &activity.sites[number], frames));
	}
	if (json)
		json_object_set(json, "sites", list);
	rv = 0;
done:
	json_decref(list);
	free(order);
	site_activity_free(&activity);
	site_names_free(&names);
	return rv;
}
