/* SPDX-License-Identifier: BSD-3-Clause
 * arrangement - which node and socket each rank sits on: as it ran, as Slurm would put it, or any other; and what then
 * goes from node to node
 *
 * Slurm's are those of `srun --distribution`, of 8 ranks on 2 nodes with 2 sockets of 2 cores:
 *
 *     block:block    node 0 0 0 0 1 1 1 1     socket 0 0 1 1 0 0 1 1
 *     block:cyclic   node 0 0 0 0 1 1 1 1     socket 0 1 0 1 0 1 0 1
 *     cyclic:block   node 0 1 0 1 0 1 0 1     socket 0 0 0 0 1 1 1 1
 *     plane=2        node 0 0 1 1 0 0 1 1     socket 0 1 0 1 0 1 0 1 (that of plane is cyclic)
 *
 * How many ranks a node gets does not depend on the distribution: Slurm gives the nodes one task each in turn, until
 * all are given or a node's cores are used up.
 */
#ifndef SPOOR_INSIGHT_ARRANGEMENT_H
#define SPOOR_INSIGHT_ARRANGEMENT_H

#include "insight/peers.h"

/* What there is to sit on. */
struct machine {
	uint32_t nodes, sockets, cores; /* sockets of a node, cores of a socket; sockets 1: not known, or one */
	uint32_t *ranks;                /* by node: how many it has */
};

/* nodes x sockets x cores for `size` ranks. Returns 0, or -1 with error set: there are not enough cores, fewer ranks
 * than nodes, or no memory. The caller frees it in any case. */
int machine_make(struct machine *m, uint32_t size, uint32_t nodes, uint32_t sockets, uint32_t cores,
                 struct error *error);
void machine_free(struct machine *m);
/* Ranks of a node, of `ranks`, that the first sockets take: the node's cores are shared out evenly. At least 1. */
uint32_t machine_socket_room(const struct machine *m, uint32_t ranks);

#define ARRANGEMENT_NAME 32
struct arrangement {
	char name[ARRANGEMENT_NAME]; /* as srun takes it; or what it is */
	uint32_t size;
	uint32_t *node, *socket; /* by rank; sockets are numbered in each node */
};

enum arrangement_way { WAY_BLOCK, WAY_CYCLIC, WAY_PLANE };

/* An arrangement with all ranks on node 0, socket 0. Returns 0, or -1 on no memory. */
int arrangement_make(struct arrangement *a, uint32_t size, const char *name);
void arrangement_free(struct arrangement *a);
int arrangement_copy(struct arrangement *to, const struct arrangement *from, const char *name);
/* Slurm's; plane: the size of WAY_PLANE. Returns 0, or -1 on no memory. The caller frees it in any case. */
int arrangement_slurm(struct arrangement *a, const struct machine *m, uint32_t size, enum arrangement_way nodes,
                      uint32_t plane, enum arrangement_way sockets);
/* Sets the sockets of an arrangement whose nodes are set: ranks of a node sit in their order. Returns as above. */
int arrangement_seat(struct arrangement *a, const struct machine *m, enum arrangement_way sockets);

/* What crosses a border: pairs of ranks that exchange anything, bytes, messages; both directions. */
struct crossing {
	uint64_t bytes, messages, pairs;
};
struct arrangement_cost {
	struct crossing nodes, sockets; /* sockets: of one node */
};
void arrangement_cost(const struct arrangement *a, const struct machine *m, const struct peers *p,
                      struct arrangement_cost *cost);
/* A bound: no arrangement on this machine has less between nodes. A rank has room beside it for as many others as its
 * node holds, and keeps at best those with which it exchanges most. */
void arrangement_bound(const struct machine *m, const struct peers *p, struct crossing *bound);

#endif
