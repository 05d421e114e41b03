/* SPDX-License-Identifier: BSD-3-Clause
 * seats - where the ranks sat
 */
#include "trace/read/seats.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/means.h"
#include "trace/model/stream.h"

#define NO_NODE UINT32_MAX

/* A rank on its way to its node. */
struct rank_host {
	int64_t host, number;
	uint32_t rank;
};

static int by_host(const void *a, const void *b)
{
	const struct rank_host *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* What is known of a rank of the node that is being looked at. */
struct sitter {
	uint32_t rank, count; /* count: of cores */
	struct cpu_set cores, cpus;
};

static int by_count(const void *a, const void *b)
{
	const struct sitter *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	int order = memcmp(&x->cores, &y->cores, sizeof x->cores);
	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The one unit that all CPUs are of; PLACEMENT_NONE: they are of several, or it is not known. */
static uint16_t unit_of(const struct placement_node *node, enum placement_level level, const struct cpu_set *cpus)
{
	uint16_t unit = PLACEMENT_NONE;
	for (uint32_t cpu = cpu_set_next(cpus, 0); cpu < CPU_LIST_MAX; cpu = cpu_set_next(cpus, cpu + 1)) {
		if (node->unit[level][cpu] == PLACEMENT_NONE ||
		    (unit != PLACEMENT_NONE && unit != node->unit[level][cpu]))
			return PLACEMENT_NONE;
		unit = node->unit[level][cpu];
	}
	return unit;
}

static void find_cores(struct sitter *s, const struct placement_node *node)
{
	s->cores = (struct cpu_set){{0}};
	for (uint32_t cpu = cpu_set_next(&s->cpus, 0); cpu < CPU_LIST_MAX; cpu = cpu_set_next(&s->cpus, cpu + 1)) {
		uint16_t core = node->unit[PLACEMENT_CORE][cpu];
		cpu_set_add(&s->cores, core == PLACEMENT_NONE ? cpu : core);
	}
	s->count = cpu_set_count(&s->cores);
}

static int add_shared(struct seats *s, uint32_t node, const struct sitter *who, uint32_t cores)
{
	struct seats_shared *more = budget_realloc(s->shared, (s->shared_count + 1) * sizeof *more);
	if (!more)
		return -1;
	s->shared = more;
	more[s->shared_count++] =
		(struct seats_shared){.node = node, .cores = cores, .rank = who->rank, .cpus = who->cpus};
	return 0;
}

/* The smallest sets of cores first. Those that share already take the cores that they share and no others. */
static int find_shared(struct seats *s, uint32_t node, const struct sitter *who, size_t n)
{
	uint32_t before = s->shared_count;
	for (size_t i = 0; i < n; i++) {
		uint32_t inside = 0, taken = 0;
		if (s->ranks[who[i].rank].shares ||
		    (i > 0 && !memcmp(&who[i].cores, &who[i - 1].cores, sizeof who->cores)))
			continue;
		if (!budget_step(n + s->shared_count - before))
			return -1;
		for (size_t k = 0; k < n && who[k].count <= who[i].count; k++)
			inside += !s->ranks[who[k].rank].shares && cpu_set_within(&who[k].cores, &who[i].cores);
		for (uint32_t k = before; k < s->shared_count; k++)
			taken += cpu_set_within(&s->shared[k].cpus, &who[i].cpus) ? s->shared[k].cores : 0;
		if (inside + taken <= who[i].count)
			continue;
		if (add_shared(s, node, &who[i], who[i].count - taken) != 0)
			return -1;
		struct seats_shared *group = &s->shared[s->shared_count - 1];
		for (size_t k = 0; k < n && who[k].count <= who[i].count; k++) {
			struct seat *seat = &s->ranks[who[k].rank];
			if (seat->shares || !cpu_set_within(&who[k].cores, &who[i].cores))
				continue;
			seat->shares = true;
			group->ranks++;
			s->sharing++;
			if (who[k].rank < group->rank)
				group->rank = who[k].rank;
		}
	}
	return 0;
}

/* The ranks of one node. */
static int seat_node(struct seats *s, const struct trace *t, uint32_t node, const struct rank_host *places, size_t n,
                     struct placement_node *has, int64_t *parsed)
{
	struct sitter *who = budget_malloc(n * sizeof *who);
	size_t known = 0;
	int64_t topology;
	if (!who)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct seat *seat = &s->ranks[places[i].rank];
		*seat = (struct seat){
			.node = node, .local = (uint32_t)i, .socket = PLACEMENT_NONE, .numa = PLACEMENT_NONE};
		if (!placement_cpus(t, places[i].rank, &who[known].cpus))
			continue;
		if (!rankmap_get(&t->topology, places[i].rank, &topology))
			topology = 0;
		/* sets are of CPU_LIST_MAX bits, a text of a node may say as many units */
		if (!budget_step(topology != *parsed ? CPU_LIST_MAX : 64)) {
			budget_free(who);
			return -1;
		}
		if (topology != *parsed)
			placement_parse((const char *)t->strings.items[topology].bytes, has);
		*parsed = topology;
		seat->socket = unit_of(has, PLACEMENT_SOCKET, &who[known].cpus);
		seat->numa = unit_of(has, PLACEMENT_NUMA, &who[known].cpus);
		find_cores(&who[known], has);
		who[known].rank = places[i].rank;
		seat->cores = (uint16_t)who[known].count;
		if (s->known++ == 0) {
			s->sockets = has->count[PLACEMENT_SOCKET];
			s->numas = has->count[PLACEMENT_NUMA];
			s->cores = has->count[PLACEMENT_CORE];
			s->cores_least = s->cores_most = who[known].count;
		}
		s->cores_least = who[known].count < s->cores_least ? who[known].count : s->cores_least;
		s->cores_most = who[known].count > s->cores_most ? who[known].count : s->cores_most;
		known++;
	}
	qsort(who, known, sizeof *who, by_count);
	int rv = find_shared(s, node, who, known);
	budget_free(who);
	return rv;
}

static void find_effect(struct seats *s, const struct trace *t)
{
	const struct trace_total *total = &t->total[TOTAL_COMPUTE];
	double sum[2] = {0, 0};
	uint64_t count[2] = {0, 0};
	uint64_t ns;
	int64_t unused;
	for (uint64_t i = 0; trace_total_known(total) && rankmap_next(&t->events, &i, &unused); i++) {
		if (!trace_total_get(total, (uint32_t)i, &ns))
			continue;
		uint32_t rank = stream_rank(t, (uint32_t)i);
		sum[s->ranks[rank].shares] += (double)ns;
		count[s->ranks[rank].shares]++;
	}
	if (count[0] && count[1] && sum[0] > 0)
		s->effect = sum[1] / (double)count[1] / (sum[0] / (double)count[0]);
}

int seats_make(struct seats *s, const struct trace *t)
{
	size_t n = 0;
	int rv = -1;
	*s = (struct seats){.size = t->size, .ranks = budget_malloc((t->size + (size_t)1) * sizeof *s->ranks)};
	struct rank_host *places = budget_malloc((t->size + (size_t)1) * sizeof *places);
	struct placement_node *has = budget_malloc(sizeof *has);
	int64_t parsed = 0, host;
	if (!s->ranks || !places || !has)
		goto done;
	placement_parse("", has);
	for (uint32_t rank = 0; rank < t->size; rank++) {
		s->ranks[rank] = (struct seat){.node = NO_NODE, .socket = PLACEMENT_NONE, .numa = PLACEMENT_NONE};
		if (!rankmap_get(&t->host, rank, &host))
			continue;
		places[n] = (struct rank_host){.host = host, .number = -1, .rank = rank};
		if (!rankmap_get(&t->host_number, rank, &places[n].number))
			places[n].number = -1;
		n++;
	}
	qsort(places, n, sizeof *places, by_host);
	for (size_t i = 0, all; i < n; i += all) {
		for (all = 1; i + all < n && places[i + all].host == places[i].host &&
		              places[i + all].number == places[i].number;)
			all++;
		if (seat_node(s, t, s->nodes++, &places[i], all, has, &parsed) != 0)
			goto done;
		s->most_a_node = all > s->most_a_node ? (uint32_t)all : s->most_a_node;
		s->least_a_node = i == 0 || all < s->least_a_node ? (uint32_t)all : s->least_a_node;
	}
	find_effect(s, t);
	rv = 0;
done:
	budget_free(places);
	budget_free(has);
	return rv;
}

void seats_free(struct seats *s)
{
	budget_free(s->ranks);
	budget_free(s->shared);
	*s = (struct seats){.size = 0};
}

enum seats_distance seats_distance(const struct seats *s, uint32_t from, uint32_t to)
{
	if (from >= s->size || to >= s->size || s->ranks[from].node == NO_NODE || s->ranks[to].node == NO_NODE)
		return SEATS_UNKNOWN;
	if (s->ranks[from].node != s->ranks[to].node)
		return SEATS_FAR;
	return from == to || (s->ranks[from].socket != PLACEMENT_NONE && s->ranks[from].socket == s->ranks[to].socket)
	               ? SEATS_SOCKET
	               : SEATS_NODE;
}
