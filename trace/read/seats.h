/* SPDX-License-Identifier: BSD-3-Clause
 * seats - where the ranks sat: nodes, sockets, cores; who shared a core; how far messages went
 *
 * A node is a host name; the local rank counts the ranks of a node in the order of their ranks. Ranks *share* cores if
 * more of them may run on nothing but those cores than there are. Where the kernel did not tell of cores, a CPU is one.
 */
#ifndef SPOOR_SEATS_H
#define SPOOR_SEATS_H

#include "trace/model/placement.h"

struct seat {
	uint32_t node, local;  /* of all nodes of the trace; among the ranks of the node */
	uint16_t socket, numa; /* of the node; PLACEMENT_NONE: not known, or several */
	uint16_t cores;        /* that it may run on; 0: not known */
	bool shares;
};

/* Ranks that have fewer cores together than they are. */
struct seats_shared {
	uint32_t node, ranks, cores, rank; /* rank: the lowest of them */
	struct cpu_set cpus;
};

struct seats {
	struct seat *ranks; /* by rank */
	uint32_t size, known;
	uint32_t nodes, most_a_node, least_a_node; /* ranks of a node */
	uint32_t sockets, numas, cores;            /* of the first node that is known; 0: not known */
	uint32_t cores_least, cores_most;          /* of a rank, of those that are known */
	struct seats_shared *shared;
	uint32_t shared_count, sharing; /* groups, ranks */
	/* The mean computation of ranks that share / that of the others; 0: not known, which is so if all share. */
	double effect;
};

/* Of the ranks in the trace. Returns 0, or -1 on no memory; to be freed in any case. */
int seats_make(struct seats *s, const struct trace *t);
void seats_free(struct seats *s);

/* How far a message went. */
enum seats_distance { SEATS_SOCKET, SEATS_NODE, SEATS_FAR, SEATS_UNKNOWN, SEATS_DISTANCES };
/* SEATS_NODE: to another socket, or nobody knows to which. SEATS_UNKNOWN: a rank's node is not known. */
enum seats_distance seats_distance(const struct seats *s, uint32_t from, uint32_t to);

#endif
