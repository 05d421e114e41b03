/* SPDX-License-Identifier: BSD-3-Clause
 * partition - divides a graph into parts of given sizes, so that little weight is cut
 *
 *     0 - 1 - 2 - 3   into two parts of two:  0 0 1 1 cuts one edge, 0 1 0 1 three
 *
 * Sizes are exact: two vertices change places, or nothing changes (Kernighan and Lin, "An efficient heuristic procedure
 * for partitioning graphs", Bell System Technical Journal 49, 1970). Where the best exchange of a vertex is looked for,
 * only parts in which it has neighbours are asked (Fiduccia and Mattheyses, "A linear-time heuristic for improving
 * network partitions", DAC 1982). So that the search does not stay where it began, exchanges that make it worse are
 * taken, too, ever more rarely (Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220,
 * 1983). The same graph gives the same parts on all machines with IEEE numbers.
 */
#ifndef SPOOR_INSIGHT_PARTITION_H
#define SPOOR_INSIGHT_PARTITION_H

#include <stdint.h>

/* Undirected: each edge is at both of its ends, with the same weight. Weights are not negative; twice their sum fits
 * into an int64_t. No loops. */
struct graph {
	uint32_t size;
	uint64_t *first; /* by vertex, and one more */
	uint32_t *to;
	int64_t *weight;
};

/* What all edges weigh whose ends are in different parts. */
int64_t partition_cut(const struct graph *g, const uint32_t *part);
/* Improves a division into `parts` (part[v] < parts), and keeps the sizes. work: about so many edges are looked at.
 * The cut is never higher afterwards. Returns 0, or -1 on no memory: then all is as before. */
int partition_improve(const struct graph *g, uint32_t *part, uint32_t parts, uint64_t work);
/* The graph of n of the vertices; weights are as they were. The caller frees it in any case. Returns 0 or -1. */
int graph_induce(struct graph *to, const struct graph *from, const uint32_t *vertices, uint32_t n);
void graph_free(struct graph *g);

#endif
