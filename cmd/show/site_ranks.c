/* SPDX-License-Identifier: BSD-3-Clause
 * site_ranks - groups of ranks by how long the calls of a site take in them
 */
#include "cmd/show/site_ranks.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"
#include "trace/model/rankset.h"

#define GROUPS_MOST 16

void site_ranks_list(const struct trace *t, const struct rankmap *m, char out[SITE_RANKS_LIST])
{
	char first_name[STREAM_NAME], last_name[STREAM_NAME], part[2 * STREAM_NAME + 3];
	int64_t unused;
	uint64_t first = 0, last = 0;
	size_t used = 0;
	bool any = rankmap_next(m, &first, &unused), all = any && rankmap_size(m) == rankmap_last(m) - first + 1;
	out[0] = '\0';
	while (any) {
		uint64_t next = last = all ? rankmap_last(m) : first;
		while (next++, budget_step(1) && rankmap_get(m, (uint32_t)next, &unused))
			last = next;
		snprintf(part, sizeof part, "%s%s%s%s", used ? "," : "", stream_name(t, first, first_name),
		         last > first ? "-" : "", last > first ? stream_name(t, last, last_name) : "");
		if (used + strlen(part) + sizeof ",..." > SITE_RANKS_LIST) {
			memcpy(out + used, ",...", sizeof ",...");
			return;
		}
		memcpy(out + used, part, strlen(part) + 1);
		used += strlen(part);
		first = last + 1;
		any = rankmap_next(m, &first, &unused);
	}
}

/* The values of the site's map; 0: it has none, or too many. */
static unsigned values_of(const struct trace_site *s, int64_t values[GROUPS_MOST])
{
	int n = s->means.finished ? rankset_values(&s->means.map, values, GROUPS_MOST) : 0;
	return n > 0 ? (unsigned)n : 0;
}

void site_ranks_print(FILE *out, const struct trace *t, const struct trace_site *s)
{
	int64_t values[GROUPS_MOST];
	unsigned n = values_of(s, values);
	for (unsigned i = 0; i < n; i++) {
		struct rankmap ranks;
		char list[SITE_RANKS_LIST];
		if (rankset_where(&ranks, &s->means.map, values[i]) != 0)
			return;
		site_ranks_list(t, &ranks, list);
		say_to(out, "    about %.3f us a call in %" PRIu64 " ranks: %s\n",
		       means_value(&s->means, histogram_mean(&s->communicate), values[i]) * 1e-3, rankmap_size(&ranks),
		       list);
		rankmap_free(&ranks);
	}
}

json_t *site_ranks_json(const struct trace *t, const struct trace_site *s)
{
	int64_t values[GROUPS_MOST];
	unsigned n = values_of(s, values);
	json_t *all = n ? json_array() : NULL;
	for (unsigned i = 0; i < n; i++) {
		struct rankmap ranks;
		char list[SITE_RANKS_LIST];
		if (rankset_where(&ranks, &s->means.map, values[i]) != 0)
			break;
		site_ranks_list(t, &ranks, list);
		json_array_append_new(all, json_pack("{s:f, s:f, s:I, s:I, s:s}", "mean_ns",
		                                     means_value(&s->means, histogram_mean(&s->communicate), values[i]),
		                                     "step", means_width(s->means.step), "ranks",
		                                     (json_int_t)rankmap_size(&ranks), "first_rank",
		                                     (json_int_t)rankmap_first(&ranks), "list", list));
		rankmap_free(&ranks);
	}
	return all;
}
