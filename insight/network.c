/* SPDX-License-Identifier: BSD-3-Clause
 * network - what messages cost on a machine
 */
#include "insight/network.h"

#include <math.h>

#include "trace/base/budget.h"

/* No message takes longer: what a trace, or a platform, says may be any number. */
#define NS_MOST 0x1p61

const struct network network_ideal = {.eager = UINT64_MAX, .computing = 1};

/* When each is free, in ns: by rank, and by node. */
struct ports {
	const struct network *network;
	const struct seats *seats;
	uint64_t *out, *in, *node_out, *node_in;
};

bool network_is_ideal(const struct network *n)
{
	double sum = n->node_gap + n->node_byte;
	for (int i = 0; i < NETWORK_LEVELS; i++)
		sum += n->levels[i].latency + n->levels[i].overhead + n->levels[i].gap + n->levels[i].byte;
	return sum <= 0 && n->eager == UINT64_MAX;
}

enum algorithm network_algorithm(const struct network *n, enum collective c, uint32_t size, uint64_t bytes)
{
	if (network_is_ideal(n))
		return ALGORITHM_IDEAL;
	for (uint32_t i = 0; i < n->rule_count[c]; i++)
		if (bytes <= n->rules[c][i].most)
			return n->rules[c][i].algorithm;
	const enum algorithm usual = algorithm_usual(c, size, bytes);
	/* where all send first, nobody would receive what waits for its receive */
	return c == COLLECTIVE_ALLTOALL && usual == ALGORITHM_LINEAR && bytes > n->eager ? ALGORITHM_PAIRWISE : usual;
}

struct ports *ports_create(const struct network *n, const struct seats *seats)
{
	struct ports *p = budget_calloc(1, sizeof *p);
	if (!p)
		return NULL;
	*p = (struct ports){.network = n, .seats = seats};
	p->out = budget_calloc(2 * (size_t)seats->size + 1, sizeof *p->out);
	p->node_out = budget_calloc(2 * (size_t)seats->nodes + 1, sizeof *p->node_out);
	if (!p->out || !p->node_out) {
		ports_destroy(p);
		return NULL;
	}
	p->in = p->out + seats->size;
	p->node_in = p->node_out + seats->nodes;
	return p;
}

void ports_destroy(struct ports *p)
{
	if (!p)
		return;
	budget_free(p->out);
	budget_free(p->node_out);
	budget_free(p);
}

/* Ranks of whose nodes nothing is known are on different ones. */
static enum seats_distance distance_of(const struct ports *p, uint32_t from, uint32_t to)
{
	enum seats_distance d = seats_distance(p->seats, from, to);
	return d == SEATS_UNKNOWN ? SEATS_FAR : d;
}

const struct network_level *ports_level(const struct ports *p, uint32_t from, uint32_t to)
{
	return &p->network->levels[distance_of(p, from, to)];
}

uint64_t network_ns(double ns)
{
	return ns < NS_MOST ? (uint64_t)llround(fmax(ns, 0)) : (uint64_t)NS_MOST;
}

/* Begins when it is free; then it is busy. Returns when it began. */
static uint64_t take_port(uint64_t *free, uint64_t at, double busy)
{
	uint64_t begin = at > *free ? at : *free;
	*free = begin + network_ns(busy);
	return begin;
}

uint64_t ports_pass(struct ports *p, uint32_t from, uint32_t to, uint64_t bytes, uint64_t at, uint64_t *left)
{
	const struct network *n = p->network;
	const enum seats_distance d = distance_of(p, from, to);
	const struct network_level *l = &n->levels[d];
	const bool far = d == SEATS_FAR && seats_distance(p->seats, from, to) == SEATS_FAR;
	if (from == to)
		return *left = at + network_ns((double)bytes * l->byte);
	const double size = (double)bytes, byte = far && n->node_byte > l->byte ? n->node_byte : l->byte;
	uint64_t begin = take_port(&p->out[from], at, l->gap + size * l->byte);
	if (far)
		begin = take_port(&p->node_out[p->seats->ranks[from].node], begin, n->node_gap + size * n->node_byte);
	*left = begin + network_ns(size * byte);
	begin += network_ns(l->latency);
	if (far)
		begin = take_port(&p->node_in[p->seats->ranks[to].node], begin, n->node_gap + size * n->node_byte);
	begin = take_port(&p->in[to], begin, l->gap + size * l->byte);
	return begin + network_ns(size * byte);
}
