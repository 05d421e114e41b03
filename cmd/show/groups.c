/* SPDX-License-Identifier: BSD-3-Clause
 * groups - `spoor show --classes`: groups of ranks that behave alike
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/show/counter_lines.h"
#include "cmd/base/sink.h"
#include "cmd/show/site_ranks.h"
#include "cmd/show/view.h"
#include "trace/read/rank_groups.h"

#define LINES_MOST 20 /* of groups; what has no room is one more */

static const char *const sign_names[RANK_GROUP_SIGNS] = {"structure", "volume", "time"};

static void list_differences(const struct rank_group *g, char out[40])
{
	out[0] = '\0';
	for (int i = 0; i < RANK_GROUP_SIGNS; i++)
		if (g->differs[i])
			snprintf(out + strlen(out), 40 - strlen(out), "%s%s", out[0] ? "+" : "", sign_names[i]);
	if (!out[0])
		snprintf(out, 40, "-");
}

static json_t *group_json(const struct trace *t, const struct rank_group *g, const char *ranks)
{
	json_t *differs = json_array();
	for (int i = 0; i < RANK_GROUP_SIGNS; i++)
		if (g->differs[i])
			json_array_append_new(differs, json_string(sign_names[i]));
	json_t *group = json_pack("{s:I, s:I, s:s, s:f, s:f, s:o}", "ranks", (json_int_t)g->count, "first_rank",
	                          (json_int_t)rankmap_first(&g->ranks), "list", ranks, "events", g->events,
	                          "compute_ns", g->compute_ns, "differs", differs);
	if (group && g->mpi_ns >= 0)
		json_object_set_new(group, "mpi_ns", json_real(g->mpi_ns));
	if (group && t->counter_count)
		json_object_set_new(group, "counters", counters_numbers_object(t, g->counts));
	return group;
}

static void print_group(const struct trace *t, size_t number, const struct rank_group *g, const char *ranks)
{
	char differs[40], mpi[24] = "?";
	list_differences(g, differs);
	if (g->mpi_ns >= 0)
		snprintf(mpi, sizeof mpi, "%.3f s", g->mpi_ns / 1e9);
	say("%5zu %8" PRIu64 " %10.0f %10.3f s %11s  %-22s %s\n", number, g->count, g->events, g->compute_ns / 1e9, mpi,
	    differs, ranks);
	counters_numbers_line(stdout, t, "      counted ", g->counts);
}

int show_groups(const struct show *s, json_t *json)
{
	struct rank_groups g;
	char ranks[SITE_RANKS_LIST];
	uint64_t rest = 0;
	const size_t most = s->trace->counter_count ? LINES_MOST / 2 : LINES_MOST;
	if (rank_groups_make(&g, s->trace) != 0) {
		rank_groups_free(&g);
		say_to(stderr, "spoor: %s: no memory to compare its ranks, or more steps than --limit allows\n",
		       s->name);
		return -1;
	}
	json_t *list = json ? json_array() : NULL;
	if (!json)
		say("%5s %8s %10s %12s %11s  %-22s %s\n", "GROUP", "RANKS", "EVENTS", "COMPUTATION", "MPI", "OTHER",
		    "WHICH");
	for (size_t i = 0; i < g.count; i++) {
		if (i >= most) {
			rest += g.groups[i].count;
			continue;
		}
		site_ranks_list(s->trace, &g.groups[i].ranks, ranks);
		if (json)
			json_array_append_new(list, group_json(s->trace, &g.groups[i], ranks));
		else
			print_group(s->trace, i + 1, &g.groups[i], ranks);
	}
	if (json) {
		json_object_set_new(json, "classes", list);
		json_object_set_new(json, "groups", json_integer((json_int_t)g.count));
	} else if (rest) {
		say("... %zu more groups, %" PRIu64 " ranks\n", g.count - most, rest);
	}
	rank_groups_free(&g);
	return 0;
}
