/* SPDX-License-Identifier: BSD-3-Clause
 * seating - where ranks sat, in words
 */
#include "cmd/show/seating.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/base/sink.h"
#include "trace/base/budget.h"
#include "trace/model/host.h"

#define SHOWN_GROUPS 4  /* that share cores, in the summary */
#define SHOWN_RANKS  64 /* in the object */

const char *const seating_distances[SEATS_DISTANCES] = {
	[SEATS_SOCKET] = "within a socket",
	[SEATS_NODE] = "within a node",
	[SEATS_FAR] = "to another node",
	[SEATS_UNKNOWN] = "it is not known how far",
};

static const char *plural(uint32_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

void seating_text(const struct seats *s, char out[SEATING_TEXT])
{
	char each[64] = "", has[96] = "", cores[96] = "";
	out[0] = '\0';
	if (s->nodes == 0)
		return;
	if (s->nodes > 1 && s->least_a_node == s->most_a_node)
		snprintf(each, sizeof each, ", %u on each", s->most_a_node);
	else if (s->nodes > 1)
		snprintf(each, sizeof each, ", %u to %u on one", s->least_a_node, s->most_a_node);
	if (s->sockets && s->cores)
		snprintf(has, sizeof has, " of %u %s and %u %s", s->sockets, plural(s->sockets, "socket", "sockets"),
		         s->cores, plural(s->cores, "core", "cores"));
	if (s->known && s->cores_least == s->cores_most)
		snprintf(cores, sizeof cores, "; a rank may run on %u %s", s->cores_most,
		         plural(s->cores_most, "core", "cores"));
	else if (s->known)
		snprintf(cores, sizeof cores, "; a rank may run on %u to %u cores", s->cores_least, s->cores_most);
	snprintf(out, SEATING_TEXT, "%u %s on %u %s%s%s%s", s->size, plural(s->size, "rank", "ranks"), s->nodes,
	         plural(s->nodes, "node", "nodes"), has, each, cores);
}

/* "0-3, 7", of the ranks of a node that sit within the CPUs of the group. */
static void put_ranks(const struct seats *s, const struct trace *t, const struct seats_shared *g, char *out,
                      size_t size)
{
	size_t used = 0;
	struct cpu_set cpus;
	uint32_t begin = UINT32_MAX, listed = 0;
	out[0] = '\0';
	for (uint32_t rank = g->rank; rank <= s->size && used + 32 < size && budget_step(1); rank++) {
		bool is = rank < s->size && s->ranks[rank].node == g->node && s->ranks[rank].shares &&
		          placement_cpus(t, rank, &cpus) && cpu_set_within(&cpus, &g->cpus);
		if (is && begin == UINT32_MAX)
			begin = rank;
		if (is || begin == UINT32_MAX)
			continue;
		used += (size_t)snprintf(out + used, size - used, rank - 1 > begin ? "%s%u-%u" : "%s%u",
		                         used ? ", " : "", begin, rank - 1);
		listed += rank - begin;
		begin = UINT32_MAX;
		if (listed >= g->ranks)
			return;
	}
	if (listed < g->ranks)
		snprintf(out + used, size - used, ", ...");
}

void seating_shared_text(const struct seats *s, const struct trace *t, uint32_t i, char out[SEATING_TEXT])
{
	const struct seats_shared *g = &s->shared[i];
	char host[HOST_MAX], ranks[160], cpus[120];
	host_get(t, g->rank, host);
	put_ranks(s, t, g, ranks, sizeof ranks);
	if (cpu_list_format(&g->cpus, cpus, sizeof cpus) < 0)
		snprintf(cpus, sizeof cpus, "...");
	snprintf(out, SEATING_TEXT, "ranks %s share %u %s of node %.64s (CPUs %s)", ranks, g->cores,
	         plural(g->cores, "core", "cores"), host, cpus);
}

void seating_effect_text(const struct seats *s, char out[SEATING_TEXT])
{
	out[0] = '\0';
	if (s->effect >= 1.05)
		snprintf(out, SEATING_TEXT, "their computation took %.2f times as long as that of the other ranks",
		         s->effect);
	else if (s->effect > 0)
		snprintf(out, SEATING_TEXT, "their computation took no longer than that of the other ranks");
}

void seating_print(const struct trace *t)
{
	struct seats s;
	char text[SEATING_TEXT];
	if (rankmap_empty(&t->cpus)) /* a file of a few bytes can be of 2^30 ranks */
		return;
	if (seats_make(&s, t) == 0 && s.known) {
		seating_text(&s, text);
		say("%-12s %s\n", "Placement", text);
		for (uint32_t i = 0; i < s.shared_count && i < SHOWN_GROUPS; i++) {
			seating_shared_text(&s, t, i, text);
			say("%-12s %s\n", "Shared", text);
		}
		if (s.shared_count > SHOWN_GROUPS)
			say("%-12s %u ranks in all, in %u places\n", "Shared", s.sharing, s.shared_count);
		seating_effect_text(&s, text);
		if (*text)
			say("%-12s %s\n", "Shared", text);
	}
	seats_free(&s);
}

static json_t *number_or_null(uint16_t n)
{
	return n == PLACEMENT_NONE ? json_null() : json_integer(n);
}

static json_t *ranks_json(const struct seats *s, const struct trace *t)
{
	json_t *list = json_array();
	char host[HOST_MAX], text[CPU_LIST_TEXT];
	struct cpu_set cpus;
	for (uint32_t rank = 0; rank < s->size && rank < SHOWN_RANKS; rank++) {
		const struct seat *seat = &s->ranks[rank];
		if (seat->node == UINT32_MAX)
			continue;
		host_get(t, rank, host);
		bool known = placement_cpus(t, rank, &cpus) && cpu_list_format(&cpus, text, sizeof text) >= 0;
		json_array_append_new(list, json_pack("{s:i, s:s, s:i, s:o, s:o, s:o, s:b}", "rank", (int)rank, "node",
		                                      host, "local_rank", (int)seat->local, "cpus",
		                                      known ? json_string(text) : json_null(), "socket",
		                                      number_or_null(seat->socket), "numa_node",
		                                      number_or_null(seat->numa), "shares", (int)seat->shares));
	}
	return list;
}

void seating_json(const struct trace *t, json_t *json)
{
	struct seats s;
	char host[HOST_MAX], cpus[CPU_LIST_TEXT], ranks[160];
	if (rankmap_empty(&t->cpus))
		return;
	if (seats_make(&s, t) == 0 && s.nodes) {
		json_t *shared = json_array();
		for (uint32_t i = 0; i < s.shared_count; i++) {
			const struct seats_shared *g = &s.shared[i];
			host_get(t, g->rank, host);
			put_ranks(&s, t, g, ranks, sizeof ranks);
			if (cpu_list_format(&g->cpus, cpus, sizeof cpus) < 0)
				cpus[0] = '\0';
			json_array_append_new(shared, json_pack("{s:s, s:s, s:i, s:i, s:s}", "node", host, "cpus", cpus,
			                                        "cores", (int)g->cores, "count", (int)g->ranks, "ranks",
			                                        ranks));
		}
		json_object_set_new(json, "placement",
		                    json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "nodes",
		                              (int)s.nodes, "ranks_known", (int)s.known, "sockets", (int)s.sockets,
		                              "numa_nodes", (int)s.numas, "cores", (int)s.cores, "least_cores",
		                              (int)s.cores_least, "most_cores", (int)s.cores_most, "ranks",
		                              ranks_json(&s, t), "shared", shared, "shared_effect",
		                              s.effect > 0 ? json_real(s.effect) : json_null()));
	}
	seats_free(&s);
}

void seating_split(const struct seats *s, const struct traffic *m, struct seating_split *split)
{
	*split = (struct seating_split){.all_messages = 0};
	for (size_t i = 0; i < m->count; i++) {
		const struct traffic_cell *c = &m->cells[i];
		enum seats_distance d = seats_distance(s, c->from, c->to);
		split->messages[d] += c->messages + c->one_sided;
		split->bytes[d] += c->bytes + c->one_sided_bytes;
		split->all_messages += c->messages + c->one_sided;
		split->all_bytes += c->bytes + c->one_sided_bytes;
	}
}
