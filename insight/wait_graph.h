/* SPDX-License-Identifier: BSD-3-Clause
 * wait_graph - the AND-OR wait-for graph: who can never go on, because those that it waits for never can
 *
 * A node is a process, or a part of what a process waits for. It can go on
 *
 *     WAIT_FOR_ALL   when all nodes that it waits for can: MPI_Waitall, MPI_Barrier; at once if it waits for none
 *     WAIT_FOR_ANY   when one of them can: MPI_Waitany, MPI_ANY_SOURCE; never if it waits for none
 *
 * Parts make other conditions of these two: MPI_Waitall of two receives from any source is a WAIT_FOR_ALL of two
 * WAIT_FOR_ANY. Whoever can go on is taken away, again and again. What remains is stuck: among WAIT_FOR_ALL nodes
 * there is a cycle then, among WAIT_FOR_ANY nodes a knot (Holt 1972; Hilbrich et al., "Distributed wait state
 * tracking for runtime MPI deadlock detection", SC'13). Linear in nodes and edges.
 */
#ifndef SPOOR_INSIGHT_WAIT_GRAPH_H
#define SPOOR_INSIGHT_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_NODE_NONE UINT32_MAX

enum wait_kind { WAIT_FOR_ALL, WAIT_FOR_ANY };

struct wait_graph;

/* NULL on no memory. */
struct wait_graph *wait_graph_create(void);
void wait_graph_destroy(struct wait_graph *g);
/* A node, numbered from 0; WAIT_NODE_NONE on no memory. */
uint32_t wait_graph_add(struct wait_graph *g, enum wait_kind kind);
enum wait_kind wait_graph_kind(const struct wait_graph *g, uint32_t node);
uint32_t wait_graph_count(const struct wait_graph *g);
/* `from` waits for `to`. Both are nodes, or WAIT_NODE_NONE, which is as no memory. Returns 0 or -1. */
int wait_graph_wait(struct wait_graph *g, uint32_t from, uint32_t to);
/* Finds who is stuck; to be called after the last wait_graph_wait. Returns how many nodes are, or -1 on no memory. */
int64_t wait_graph_reduce(struct wait_graph *g);
bool wait_graph_stuck(const struct wait_graph *g, uint32_t node);
/* How many nodes it waits for. */
uint32_t wait_graph_targets(const struct wait_graph *g, uint32_t node);
/* The next node that `from` waits for, in the order in which they were named, of which `at` says how many were seen;
 * WAIT_NODE_NONE: there is none. After wait_graph_reduce. */
uint32_t wait_graph_target(const struct wait_graph *g, uint32_t from, uint32_t *at);
/* A proof: nodes of which each waits for the next one, all stuck, from `from` to one that waits for one of those
 * before it, or for nobody. *cycle: where in the path it closes; the path's length if its last node
 * waits for nobody. Returns its length: 0 if `from` is not stuck, or on no memory. The caller frees *path
 * (budget_free). */
size_t wait_graph_path(const struct wait_graph *g, uint32_t from, uint32_t **path, size_t *cycle);

#endif
