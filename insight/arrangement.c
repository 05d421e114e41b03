/* SPDX-License-Identifier: BSD-3-Clause
 * arrangement - which node and socket each rank sits on
 */
#include "insight/arrangement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

/* --- the machine --- */

int machine_make(struct machine *m, uint32_t size, uint32_t nodes, uint32_t sockets, uint32_t cores,
                 struct error *error)
{
	uint64_t room = (uint64_t)sockets * cores;
	*m = (struct machine){.nodes = nodes, .sockets = sockets, .cores = cores};
	if (nodes > size)
		return error_set(error, "%" PRIu32 " ranks do not fill %" PRIu32 " nodes: each needs one", size, nodes);
	if (room < size && nodes * room < size)
		return error_set(error,
		                 "%" PRIu32 " ranks do not fit: %" PRIu32 " nodes of %" PRIu32 " x %" PRIu32
		                 " cores have %" PRIu64,
		                 size, nodes, sockets, cores, nodes * room);
	m->ranks = budget_malloc(nodes * sizeof *m->ranks);
	if (!m->ranks)
		return error_set(error, "no memory");
	for (uint32_t n = 0; n < nodes; n++)
		m->ranks[n] = size / nodes + (n < size % nodes);
	return 0;
}

void machine_free(struct machine *m)
{
	budget_free(m->ranks);
	m->ranks = NULL;
}

uint32_t machine_socket_room(const struct machine *m, uint32_t ranks)
{
	uint64_t cores = (uint64_t)m->sockets * m->cores;
	uint32_t each = ranks && cores >= ranks ? (uint32_t)(cores / ranks) : 1;
	uint32_t room = m->cores / each, least = (ranks + m->sockets - 1) / m->sockets;
	return room > least ? room : least ? least : 1;
}

/* --- arrangements --- */

int arrangement_make(struct arrangement *a, uint32_t size, const char *name)
{
	*a = (struct arrangement){.size = size};
	snprintf(a->name, sizeof a->name, "%s", name);
	a->node = budget_calloc((size_t)size + 1, sizeof *a->node);
	a->socket = budget_calloc((size_t)size + 1, sizeof *a->socket);
	return a->node && a->socket ? 0 : -1;
}

void arrangement_free(struct arrangement *a)
{
	budget_free(a->node);
	budget_free(a->socket);
	a->node = a->socket = NULL;
}

int arrangement_copy(struct arrangement *to, const struct arrangement *from, const char *name)
{
	if (arrangement_make(to, from->size, name) != 0)
		return -1;
	memcpy(to->node, from->node, from->size * sizeof *to->node);
	memcpy(to->socket, from->socket, from->size * sizeof *to->socket);
	return 0;
}

/* Groups of `plane` ranks go to the nodes in turn, each as far as it has room. */
static void share_out(struct arrangement *a, const struct machine *m, uint32_t *left, uint32_t plane)
{
	uint32_t rank = 0;
	memcpy(left, m->ranks, m->nodes * sizeof *left);
	while (rank < a->size && budget_step(m->nodes))
		for (uint32_t n = 0; n < m->nodes && rank < a->size; n++)
			for (uint32_t i = 0; i < plane && left[n] && rank < a->size; i++, left[n]--)
				a->node[rank++] = n;
}

int arrangement_seat(struct arrangement *a, const struct machine *m, enum arrangement_way sockets)
{
	uint32_t *taken = budget_calloc(m->nodes, sizeof *taken);
	if (!taken)
		return -1;
	for (uint32_t rank = 0; rank < a->size; rank++) {
		uint32_t n = a->node[rank], i = taken[n]++, room = machine_socket_room(m, m->ranks[n]);
		a->socket[rank] = sockets == WAY_BLOCK ? i / room : i % m->sockets;
	}
	budget_free(taken);
	return 0;
}

static void name_slurm(struct arrangement *a, const struct machine *m, enum arrangement_way nodes, uint32_t plane,
                       enum arrangement_way sockets)
{
	const char *const ways[] = {"block", "cyclic"};
	if (nodes == WAY_PLANE)
		snprintf(a->name, sizeof a->name, "plane=%" PRIu32, plane);
	else
		snprintf(a->name, sizeof a->name, "%s%s%s", ways[nodes], m->sockets > 1 ? ":" : "",
		         m->sockets > 1 ? ways[sockets] : "");
}

int arrangement_slurm(struct arrangement *a, const struct machine *m, uint32_t size, enum arrangement_way nodes,
                      uint32_t plane, enum arrangement_way sockets)
{
	uint32_t *left = budget_malloc(m->nodes * sizeof *left);
	int rv = arrangement_make(a, size, "");
	if (rv == 0 && left) {
		name_slurm(a, m, nodes, plane, sockets);
		share_out(a, m, left, nodes == WAY_BLOCK ? size : nodes == WAY_CYCLIC ? 1 : plane);
		rv = arrangement_seat(a, m, sockets);
	}
	budget_free(left);
	return left ? rv : -1;
}

/* --- what they cost --- */

/* The same between all pairs: how much of it is between pairs of whom `apart` of `all` are apart. */
static void add_uniform(struct crossing *c, const struct peers *p, double apart, double all)
{
	c->bytes += (uint64_t)((double)p->uniform_bytes * apart / all + 0.5);
	c->messages += (uint64_t)((double)p->uniform_messages * apart / all + 0.5);
}

static double pairs_of(uint64_t n)
{
	return (double)n * (double)(n - 1);
}

/* Pairs, in both orders, of whom both are on one node; of whom both are on one socket. */
static void count_together(const struct arrangement *a, const struct machine *m, double *node, double *socket)
{
	uint64_t seats = (uint64_t)m->nodes * m->sockets;
	uint32_t *taken = budget_calloc(seats, sizeof *taken);
	*node = *socket = 0;
	for (uint32_t n = 0; n < m->nodes; n++)
		*node += m->ranks[n] ? pairs_of(m->ranks[n]) : 0;
	for (uint32_t r = 0; taken && r < a->size; r++)
		taken[(uint64_t)a->node[r] * m->sockets + a->socket[r]]++;
	for (uint64_t i = 0; taken && i < seats; i++)
		*socket += taken[i] ? pairs_of(taken[i]) : 0;
	budget_free(taken);
}

void arrangement_cost(const struct arrangement *a, const struct machine *m, const struct peers *p,
                      struct arrangement_cost *cost)
{
	*cost = (struct arrangement_cost){.nodes.bytes = 0};
	for (uint32_t r = 0; r < p->size; r++)
		for (uint64_t i = p->first[r]; i < p->first[r + 1] && budget_step(1); i++) {
			uint32_t other = p->peer[i];
			struct crossing *c = a->node[r] != a->node[other]       ? &cost->nodes
			                     : a->socket[r] != a->socket[other] ? &cost->sockets
			                                                        : NULL;
			if (r > other || !c)
				continue;
			c->pairs++;
			c->bytes += p->bytes[i];
			c->messages += p->messages[i];
		}
	if (p->uniform_messages && p->size > 1) {
		double all = pairs_of(p->size), node, socket;
		count_together(a, m, &node, &socket);
		add_uniform(&cost->nodes, p, all - node, all);
		add_uniform(&cost->sockets, p, node - socket, all);
	}
}

static int numbers_ascend(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts: what is left of n numbers without the largest `kept`. */
static uint64_t left_of(uint64_t *numbers, uint64_t n, uint64_t kept)
{
	uint64_t sum = 0;
	qsort(numbers, n, sizeof *numbers, numbers_ascend);
	for (uint64_t i = 0; i + kept < n; i++)
		sum += numbers[i];
	return sum;
}

void arrangement_bound(const struct machine *m, const struct peers *p, struct crossing *bound)
{
	uint32_t most = 1;
	uint64_t degree = 0;
	double together = 0;
	*bound = (struct crossing){.bytes = 0};
	for (uint32_t n = 0; n < m->nodes; n++) {
		most = m->ranks[n] > most ? m->ranks[n] : most;
		together += m->ranks[n] ? pairs_of(m->ranks[n]) : 0;
	}
	for (uint32_t r = 0; r < p->size; r++)
		degree = p->first[r + 1] - p->first[r] > degree ? p->first[r + 1] - p->first[r] : degree;
	uint64_t *numbers = budget_malloc((degree + 1) * sizeof *numbers);
	for (uint32_t r = 0; numbers && r < p->size && m->nodes > 1; r++) {
		uint64_t n = p->first[r + 1] - p->first[r], *bytes = &p->bytes[p->first[r]];
		bound->pairs += n > most - 1 ? n - (most - 1) : 0;
		bound->bytes += left_of(memcpy(numbers, bytes, n * sizeof *numbers), n, most - 1);
		bound->messages +=
			left_of(memcpy(numbers, &p->messages[p->first[r]], n * sizeof *numbers), n, most - 1);
	}
	budget_free(numbers);
	/* Each pair was left by both. */
	bound->pairs = (bound->pairs + 1) / 2;
	bound->bytes = (bound->bytes + 1) / 2;
	bound->messages = (bound->messages + 1) / 2;
	if (p->uniform_messages && p->size > 1)
		add_uniform(bound, p, pairs_of(p->size) - together, pairs_of(p->size));
}
